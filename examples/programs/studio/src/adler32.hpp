// The checksum of blocks and frames, which Python has as zlib.adler32.
#ifndef STUDIO_ADLER32_HPP
#define STUDIO_ADLER32_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace studio {

inline std::uint32_t adler32(const void *bytes, std::size_t length) noexcept {
  const auto *at = static_cast<const unsigned char *>(bytes);
  std::uint32_t a = 1, b = 0;
  while (length != 0) {
    // As many as b has bits for.
    const std::size_t piece = std::min<std::size_t>(length, 5552);
    for (std::size_t n = 0; n < piece; n++) {
      a += at[n];
      b += a;
    }
    a %= 65521;
    b %= 65521;
    at += piece;
    length -= piece;
  }
  return b << 16 | a;
}

}  // namespace studio

#endif
