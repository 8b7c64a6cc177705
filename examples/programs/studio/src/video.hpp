// The pictures: drawn in memory that is lent to all viewers, who read them where they were drawn. No viewer holds the studio up: as long
// as they have all slots among them, frames are left out.
#ifndef STUDIO_VIDEO_HPP
#define STUDIO_VIDEO_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <ysuite.hpp>

#include "audio.hpp"
#include "counters.hpp"

namespace studio {

constexpr std::uint32_t width = 640, height = 360;
constexpr std::chrono::milliseconds frame_period{40};
constexpr std::size_t slots = 6;

// How a frame begins. viewer.py reads the same.
struct frame_head {
  char magic[8];
  std::uint64_t number;   // of the frames that were sent: a viewer misses none
  std::int64_t drawn_ns;  // when, by CLOCK_MONOTONIC
  std::uint32_t width, height, pattern;
  std::uint32_t checksum; // Adler-32 of the pixels
  std::uint64_t skipped;  // how many frames were left out before this one
  std::uint64_t unused[2];
};
static_assert(sizeof(frame_head) == 64, "pixels are aligned as the slot is");

constexpr std::size_t pixels_bytes = std::size_t{width} * height * 4, frame_bytes = sizeof(frame_head) + pixels_bytes;

class renderer {
 public:
  // Listens at this name, for ys.LoanReceiver of Python and others. Throws if it cannot.
  renderer(const std::string &name, ys::watch_receiver<settings> set, ys::watch_receiver<levels> loud, counters &count);
  // Draws until it is stopped; then the viewers learn that it is over.
  void run(const std::stop_token &stop);

 private:
  void frame();

  ys::shm::loan_sender frames_;
  ys::watch_receiver<settings> set_;
  ys::watch_receiver<levels> loud_;
  counters &count_;
  settings as_{};
  std::uint64_t next_ = 0;
};

}  // namespace studio

#endif
