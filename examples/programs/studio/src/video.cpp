#include "video.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "adler32.hpp"
#include "pace.hpp"

namespace studio {
namespace {

using pixel = std::uint32_t; // blue, green, red, and how opaque: as a word, opacity comes first

constexpr pixel color(std::uint32_t red, std::uint32_t green, std::uint32_t blue) noexcept {
  return 0xFF00'0000U | (red & 255) << 16 | (green & 255) << 8 | (blue & 255);
}

pixel picture(std::uint32_t pattern, std::uint32_t x, std::uint32_t y, std::uint32_t time) noexcept {
  switch (pattern % 4) {
    case 0: return color(x + time, y, time);
    case 1: return ((x + time) / 40 + y / 40) % 2 == 0 ? color(240, 240, 240) : color(20, 20, 60);
    case 2: return color(((x + time) / 80) * 60, ((x + time) / 80) * 90, ((x + time) / 80) * 150);
    default: return color(x ^ y, (x + time) ^ y, x ^ (y + time));
  }
}

void draw(pixel *pixels, std::uint64_t number, std::uint32_t pattern, const levels &loud) noexcept {
  const auto time = static_cast<std::uint32_t>(number);
  for (std::uint32_t y = 0; y < height; y++) {
    for (std::uint32_t x = 0; x < width; x++) pixels[y * width + x] = picture(pattern, x, y, time);
  }
  // The meter: a bar for each band, below.
  for (std::uint32_t bar = 0; bar < bands; bar++) {
    const auto length = static_cast<std::uint32_t>(std::clamp(loud.band[bar], 0.0F, 1.0F) * static_cast<float>(width));
    for (std::uint32_t y = height - 40 + bar * 10; y < height - 32 + bar * 10; y++) {
      std::fill_n(pixels + y * width, length, color(40, 220, 40));
    }
  }
}

}  // namespace

renderer::renderer(const std::string &name, ys::watch_receiver<settings> set, ys::watch_receiver<levels> loud, counters &count)
    : frames_(name, slots, frame_bytes), set_(std::move(set)), loud_(std::move(loud)), count_(count) {}

void renderer::run(const std::stop_token &stop) {
  for (pace clock(frame_period); !stop.stop_requested();) {
    (void)clock.wait();
    frame();
  }
}

void renderer::frame() {
  if (const ys::received<settings> changed = set_.try_recv()) as_ = *changed;
  frames_.serve();
  if (frames_.receivers() == 0) {
    count_.unwatched.add();
    return;
  }
  // From here to commit() nothing else is asked of frames_: that would give the slot back.
  ys::received<ys::shm::loan> slot = frames_.try_reserve(frame_bytes);
  if (!slot) {
    (slot.status() == ys::status::full ? count_.skipped : count_.failed).add();
    return;
  }
  auto *head = ::new (slot->data()) frame_head{};
  auto *pixels = static_cast<pixel *>(static_cast<void *>(static_cast<std::byte *>(slot->data()) + sizeof(frame_head)));
  draw(pixels, next_, as_.pattern, loud_.get().value_or(levels{}));
  std::memcpy(head->magic, "studio-1", sizeof head->magic);
  head->number = next_;
  head->width = width;
  head->height = height;
  head->pattern = as_.pattern;
  head->checksum = adler32(pixels, pixels_bytes);
  head->skipped = count_.skipped.get();
  head->drawn_ns = now_ns();
  if (!slot->commit()) {
    count_.failed.add();
    return;
  }
  next_++;
  count_.sent.add();
}

}  // namespace studio
