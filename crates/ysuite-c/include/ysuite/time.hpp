/** @file ysuite/time.hpp
 *  Durations and moments of std::chrono as the nanoseconds of C.
 */
#ifndef YSUITE_TIME_HPP
#define YSUITE_TIME_HPP

#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ys {
namespace detail {

/* For ever, and no time at all. */
inline constexpr std::int64_t for_ever = -1;
inline constexpr std::int64_t no_time = 0;

/* What does not fit into the nanoseconds of C, which are 292 years, is for ever. */
inline constexpr std::uint64_t most = static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)());

/* How many nanoseconds, at most `most`; and a rest, less than whole. */
struct amount {
  std::uint64_t whole;
  std::uint64_t rest;
};

/* For amounts whose remainders are parts of a nanosecond: all four numbers are below 2^63, so that no sum overflows. */
constexpr amount sum(amount a, amount b, std::uint64_t parts) noexcept {
  const std::uint64_t rest = a.rest + b.rest;
  const std::uint64_t whole = a.whole + b.whole + (rest < parts ? 0 : 1);
  return {whole < most ? whole : most, rest < parts ? rest : rest - parts};
}

constexpr amount product(std::uint64_t count, amount each, std::uint64_t parts) noexcept {
  amount all{0, 0};
  for (; count != 0; count >>= 1) {
    if ((count & 1) != 0) all = detail::sum(all, each, parts);
    each = detail::sum(each, each, parts);
  }
  return all;
}

/* A time without its sign. Of the rest only whether there is one. */
template <class Rep, class Period>
constexpr amount magnitude(std::chrono::duration<Rep, Period> time) noexcept {
  using duration = std::chrono::duration<Rep, Period>;
  const bool is_negative = time < duration::zero();
  if constexpr (std::is_integral_v<Rep> && sizeof(Rep) <= sizeof(std::uint64_t)) {
    // Not by duration_cast, nor by a comparison of two periods, which multiply first.
    constexpr std::uint64_t second = 1000000000, num = duration::period::num, den = duration::period::den;
    constexpr amount tick = detail::product(num, amount{second / den, second % den}, den);
    const auto given = static_cast<std::uint64_t>(time.count());
    const std::uint64_t ticks = is_negative ? 0 - given : given;
    if constexpr (tick.rest != 0) {
      return detail::product(ticks, tick, den);
    } else {
      return {ticks <= most / tick.whole ? ticks * tick.whole : most, 0};
    }
  } else {
    using real = std::conditional_t<std::is_same_v<Rep, long double>, long double, double>;
    constexpr real tick = real(1e9) * static_cast<real>(duration::period::num) / static_cast<real>(duration::period::den);
    constexpr real limit = static_cast<real>(most) / tick;
    const real ticks = is_negative ? -static_cast<real>(time.count()) : static_cast<real>(time.count());
    // Also where it is not a number.
    if (!(ticks < limit)) return {most, 0};
    const auto whole = static_cast<std::uint64_t>(ticks * tick);
    return {whole < most ? whole : most, ticks * tick > static_cast<real>(whole) ? std::uint64_t{1} : 0};
  }
}

/* Not negative, rounded up. */
template <class Rep, class Period>
constexpr std::int64_t nanoseconds(std::chrono::duration<Rep, Period> time) noexcept {
  // Also where a floating duration is not a number.
  if (!(time > std::chrono::duration<Rep, Period>::zero())) return no_time;
  const amount ns = detail::magnitude(time);
  return ns.whole == most ? for_ever : static_cast<std::int64_t>(ns.whole + (ns.rest != 0 ? 1 : 0));
}

/* With its sign, rounded towards later or towards earlier. There are less than `most`. */
template <class Rep, class Period>
std::int64_t signed_nanoseconds(std::chrono::duration<Rep, Period> time, bool is_later) noexcept {
  const bool is_negative = time < std::chrono::duration<Rep, Period>::zero();
  const amount ns = detail::magnitude(time);
  const auto away = static_cast<std::int64_t>(ns.whole + (ns.rest != 0 && is_negative != is_later ? 1 : 0));
  return is_negative ? -away : away;
}

/* What is left until a moment. */
template <class Clock, class Duration>
std::int64_t nanoseconds_until(const std::chrono::time_point<Clock, Duration> &moment) {
  if (moment == (std::chrono::time_point<Clock, Duration>::max)()) return for_ever;
  const auto at = moment.time_since_epoch();
  const auto now_at = Clock::now().time_since_epoch();
  // First as seconds: the ticks of a coarse clock reach farther than nanoseconds.
  using seconds = std::chrono::duration<double>;
  constexpr double limit = 9.2e9;
  const double then = seconds(at).count(), now = seconds(now_at).count();
  const double away = then - now;
  // Also where a floating moment is not a number.
  if (!(away > -limit)) return no_time;
  if (!(away < limit)) return for_ever;
  // In the year 2262 and later: a microsecond is nothing there.
  if (!(then < limit && then > -limit && now < limit && now > -limit)) {
    return away <= 0 ? no_time : static_cast<std::int64_t>(away * 1e9);
  }
  if constexpr (std::is_same_v<decltype(at), decltype(now_at)>) {
    if (at <= now_at) return no_time;
  }
  // Not as a difference of moments: what ticks of both kinds are multiples of may be much finer than a nanosecond.
  const std::int64_t left = detail::signed_nanoseconds(at, true) - detail::signed_nanoseconds(now_at, false);
  return left <= 0 ? no_time : left;
}

/* Calls `attempt(ns)` until it does not return that the time is up, or it is up by the moment's own clock, which may be
 * set. */
template <class Clock, class Duration, class Attempt, class IsTimeout>
auto until(const std::chrono::time_point<Clock, Duration> &moment, Attempt attempt, IsTimeout is_timeout) {
  for (std::int64_t left = detail::nanoseconds_until(moment);;) {
    auto answer = attempt(left);
    if (!is_timeout(answer)) return answer;
    // Otherwise the other clock has gone quicker.
    left = detail::nanoseconds_until(moment);
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
