// The clock of a card or a display: moments at a fixed distance.
#ifndef STUDIO_PACE_HPP
#define STUDIO_PACE_HPP

#include <time.h>

#include <chrono>
#include <cstdint>

namespace studio {

// Of CLOCK_MONOTONIC, which all processes of the machine have in common.
inline std::int64_t now_ns() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class pace {
 public:
  explicit pace(std::chrono::nanoseconds period) noexcept : period_(period.count()), next_(now_ns()) {}

  // Sleeps until the next moment. How many nanoseconds later it is. Moments that are past already come at once.
  std::int64_t wait() noexcept {
    next_ += period_;
    timespec moment{};
    moment.tv_sec = static_cast<time_t>(next_ / 1'000'000'000);
    moment.tv_nsec = static_cast<long>(next_ % 1'000'000'000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) != 0) continue;
    return now_ns() - next_;
  }

 private:
  std::int64_t period_, next_;
};

}  // namespace studio

#endif
