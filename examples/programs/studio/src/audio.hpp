// The way of the sound. Each stage is a thread, which ends when its receiver has nothing more, and ends the next one by that:
//
//   card ---pipe---> mixer ---pipe---> meter ---pipe---> encoder
//                      ^
//   decoder ---pipe----+
//
// A block is a message of a pool: what goes through the pipes is a pointer, and the memory goes back to the pool where it is dropped.
#ifndef STUDIO_AUDIO_HPP
#define STUDIO_AUDIO_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <ysuite.hpp>

#include "counters.hpp"

namespace studio {

constexpr std::size_t block_samples = 240, bands = 4;
constexpr std::chrono::milliseconds block_period{5}; // at 48,000 samples in a second
using samples = std::array<std::int16_t, block_samples>;

struct block {
  std::uint64_t number;   // of the blocks that the card has passed on
  std::uint32_t checksum; // of its samples, by the stage that had it last
  bool muted;
  samples sound;
};

// A T in a message of a pool; or none, where the pool had no memory.
template <class T>
class pooled {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16, "a message is bytes, aligned to 16");

 public:
  explicit pooled(ys::pool_message memory) noexcept : memory_(std::move(memory)) {
    if (memory_) ::new (static_cast<void *>(memory_.data())) T;
  }
  explicit operator bool() const noexcept { return static_cast<bool>(memory_); }
  T *operator->() noexcept { return std::launder(reinterpret_cast<T *>(memory_.data())); }

 private:
  ys::pool_message memory_;
};
using audio = pooled<block>;

// What is set while the studio runs; all who need it have a receiver.
struct settings {
  bool muted = false;
  std::uint32_t pattern = 0;
};

// How loud the newest block is, 0 to 1: at all, and at some frequencies.
struct levels {
  float peak = 0;
  std::array<float, bands> band{};
};

// A real-time thread with the callback of a sound card, which never waits, and neither allocates nor frees.
class card {
 public:
  card(ys::pool &blocks, ys::sender<audio> out, ys::sender<std::int64_t> lateness, counters &count);
  // Calls back until it is stopped.
  void run(const std::stop_token &stop);

 private:
  // False: nobody receives any more.
  bool callback();

  ys::pool &blocks_;
  ys::sender<audio> out_;
  ys::sender<std::int64_t> lateness_;
  counters &count_;
  std::array<std::int16_t, 1024> wave_;
  std::size_t phase_ = 0;
  std::uint64_t next_ = 0;
};

// Decodes a piece of music again and again, as fast as it is played.
void decode(ys::pool &blocks, ys::sender<audio> out);
void mix(ys::receiver<audio> voice, ys::receiver<audio> music, ys::watch_receiver<settings> set, ys::sender<audio> out, counters &count);
void meter(ys::receiver<audio> in, ys::sender<audio> out, ys::watch_sender<levels> show, counters &count);
// Where every block must arrive, once and in order.
void encode(ys::receiver<audio> in, counters &count);

}  // namespace studio

#endif
