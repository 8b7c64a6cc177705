/** @file ysuite/time.hpp
 *  Durations and moments of std::chrono as the nanoseconds of C.
 */
#ifndef YSUITE_TIME_HPP
#define YSUITE_TIME_HPP

#include <chrono>
#include <cstdint>

namespace ys {
namespace detail {

/* For ever, and no time at all. */
inline constexpr std::int64_t for_ever = -1;
inline constexpr std::int64_t no_time = 0;

/* Not negative, rounded up; what does not fit in 292 years is for ever. */
template <class Rep, class Period>
constexpr std::int64_t nanoseconds(std::chrono::duration<Rep, Period> time) noexcept {
  using duration = std::chrono::duration<Rep, Period>;
  // Also where a floating duration is not a number.
  if (!(time > duration::zero())) return no_time;
  const double approximate = std::chrono::duration<double, std::nano>(time).count();
  if (!(approximate < 9.2e18)) return for_ever;
  return static_cast<std::int64_t>(std::chrono::ceil<std::chrono::duration<std::int64_t, std::nano>>(time).count());
}

/* What is left until a moment. */
template <class Clock, class Duration>
std::int64_t nanoseconds_until(const std::chrono::time_point<Clock, Duration> &moment) {
  if (moment == (std::chrono::time_point<Clock, Duration>::max)()) return for_ever;
  const auto now = Clock::now();
  // First as seconds: the ticks of a coarse clock reach farther than nanoseconds, in which both would be compared.
  using seconds = std::chrono::duration<double>;
  constexpr double most = 9.2e9;
  const double then = seconds(moment.time_since_epoch()).count();
  const double away = then - seconds(now.time_since_epoch()).count();
  // Also where a floating moment is not a number.
  if (!(away > -most)) return no_time;
  if (!(away < most)) return for_ever;
  // In the year 2262 and later: a microsecond is nothing there.
  if (then >= most || then <= -most) return away <= 0 ? no_time : static_cast<std::int64_t>(away * 1e9);
  return moment <= now ? no_time : nanoseconds(moment - now);
}

/* Calls `attempt(ns)` until it does not answer that the time is up, or it is up by the moment's own clock, which may be set. */
template <class Clock, class Duration, class Attempt, class IsTimeout>
auto until(const std::chrono::time_point<Clock, Duration> &moment, Attempt attempt, IsTimeout is_timeout) {
  for (std::int64_t left = nanoseconds_until(moment);;) {
    auto answer = attempt(left);
    if (!is_timeout(answer)) return answer;
    // Otherwise the other clock has gone quicker.
    left = nanoseconds_until(moment);
    if (left == no_time) return answer;
  }
}

/* One limit for many waits. */
class limit {
 public:
  explicit limit(std::int64_t ns) noexcept : ns_(ns) {}

  /* What is left, counted from the first time that this is asked. */
  std::int64_t left() noexcept {
    if (ns_ <= 0) return ns_;
    const auto now = std::chrono::steady_clock::now();
    if (!is_running_) {
      is_running_ = true;
      begin_ = now;
      return ns_;
    }
    const std::int64_t gone = std::chrono::duration_cast<std::chrono::nanoseconds>(now - begin_).count();
    return gone < ns_ ? ns_ - gone : no_time;
  }

 private:
  std::int64_t ns_;
  bool is_running_ = false;
  std::chrono::steady_clock::time_point begin_{};
};

}  // namespace detail
}  // namespace ys

#endif
