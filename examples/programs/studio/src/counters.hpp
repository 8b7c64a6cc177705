// What the threads of the studio count.
#ifndef STUDIO_COUNTERS_HPP
#define STUDIO_COUNTERS_HPP

#include <atomic>
#include <cstdint>

namespace studio {

// A number that any thread adds to, and any thread reads. It orders nothing else: what is checked at the end is read after all threads
// were joined.
class counter {
 public:
  void add(std::uint64_t more = 1) noexcept { value_.fetch_add(more, std::memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct counters {
  // Blocks of audio: of the card, those that went on and those that were lost there; behind it.
  counter captured, dropped, muted, encoded, encoded_bytes;
  // What must stay 0: blocks out of turn, with a wrong checksum, or that are not decoded as they were encoded; calls of the allocator by
  // the card's callback.
  counter out_of_turn, damaged, allocations;
  // Frames: sent; left out as no slot was free, or as nobody looked; what sending has failed for another reason.
  counter sent, skipped, unwatched, failed;
  // What viewers say: frames that they have seen; and what must stay 0, those that they have missed or that were damaged.
  counter shown, missed, bad;
  // Viewers that have closed, that have died, and that have ended otherwise, which must stay 0.
  counter closed, died, broken;
  // Orders that were carried out, and that there was no room for.
  counter orders, unheard;
};

}  // namespace studio

#endif
