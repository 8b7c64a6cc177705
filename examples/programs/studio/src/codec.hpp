// A small codec without loss: differences of samples, the small ones in one byte.
#ifndef STUDIO_CODEC_HPP
#define STUDIO_CODEC_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audio.hpp"

namespace studio {

// Into a vector that is used again.
inline void pack(const samples &from, std::vector<std::uint8_t> &to) {
  to.clear();
  std::int32_t last = 0;
  for (const std::int32_t sample : from) {
    const std::int32_t change = sample - last;
    last = sample;
    std::uint32_t bits = static_cast<std::uint32_t>(change) << 1 ^ static_cast<std::uint32_t>(change >> 31);
    for (; bits > 127; bits >>= 7) to.push_back(static_cast<std::uint8_t>(bits | 128));
    to.push_back(static_cast<std::uint8_t>(bits));
  }
}

// False: it is none of pack().
inline bool unpack(const std::vector<std::uint8_t> &from, samples &to) {
  std::size_t at = 0;
  std::int32_t last = 0;
  for (std::int16_t &sample : to) {
    std::uint32_t bits = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == from.size() || shift > 14) return false;
      const std::uint32_t byte = from[at++];
      bits |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    last += static_cast<std::int32_t>(bits >> 1) ^ -static_cast<std::int32_t>(bits & 1);
    sample = static_cast<std::int16_t>(last);
  }
  return at == from.size();
}

}  // namespace studio

#endif
