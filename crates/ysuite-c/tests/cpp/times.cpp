// Durations and moments of every period as the nanoseconds of C: exact, rounded up, and for ever where they do not fit.
#include "check.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace {

using std::chrono::duration;
using ys::detail::for_ever;
using ys::detail::nanoseconds;
using ys::detail::nanoseconds_until;
using ys::detail::no_time;

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max(), lowest = std::numeric_limits<std::int64_t>::min();

template <std::int64_t Num, std::int64_t Den = 1, class Rep = std::int64_t>
constexpr std::int64_t ns(Rep count) {
  return nanoseconds(duration<Rep, std::ratio<Num, Den>>(count));
}

// What can be computed in 64 bits, and what cannot on the way there.
constexpr std::int64_t giga = 1000000000, year = 31556952;
static_assert(ns<1, giga>(7) == 7 && ns<1, giga>(0) == 0 && ns<1, giga>(-7) == 0);
static_assert(ns<1, giga>(highest) == for_ever && ns<1, giga>(highest - 1) == highest - 1 && ns<1, giga>(lowest) == 0);
static_assert(ns<1, 3>(1) == 333333334 && ns<1, 3>(3) == giga && ns<1, 3>(-1) == 0);
static_assert(ns<1, 3>(27000000000) == 9000000000 * giga && ns<1, 3>(27000000001) == 9000000000 * giga + 333333334);
static_assert(ns<1, 3>(30000000000) == for_ever && ns<1, 3>(highest) == for_ever && ns<1, 3>(lowest) == no_time);
static_assert(ns<year>(1) == year * giga && ns<year>(292) == 292 * year * giga && ns<year>(293) == for_ever);
static_assert(ns<year>(highest) == for_ever && ns<year>(-293) == 0 && ns<year>(lowest) == 0);
static_assert(ns<1, 1000000000000>(1) == 1 && ns<1, 1000000000000>(1000) == 1 && ns<1, 1000000000000>(1001) == 2);
static_assert(ns<1, 1000000000000>(highest) == 9223372036854776 && ns<1, 1000000000000>(lowest) == 0);
static_assert(ns<1, 60>(1) == 16666667 && ns<1001, 30000>(3) == 100100000);
// Periods that nanoseconds do not divide by, nor hold.
static_assert(ns<1, highest>(highest) == giga && ns<1, highest>(1) == 1 && ns<highest - 1, highest>(1) == giga);
static_assert(ns<highest>(1) == for_ever && ns<highest, highest - 1>(2) == 2 * giga + 1);
// Other counts than those of 64 bits with a sign.
static_assert(ns<1, 3, std::uint64_t>(std::numeric_limits<std::uint64_t>::max()) == for_ever);
static_assert(ns<1, giga, std::uint64_t>(5) == 5 && ns<1, 3, unsigned char>(255) == 85 * giga && ns<3600, 1, std::int8_t>(-128) == 0);
static_assert(ns<1, 3, double>(1.5) == giga / 2 && ns<1, 1, double>(1e-12) == 1 && ns<1, 1, double>(-1e300) == 0);
static_assert(ns<year, 1, double>(1e300) == for_ever && ns<year, 1, float>(0.5F) == 15778476 * giga);
static_assert(ns<1, 1, double>(0.25) == giga / 4 && ns<1, 1000, float>(2.0F) == 2000000);
static_assert(ns<1, 1, double>(9223372036.0) == 9223372036 * giga && ns<1, 1, double>(9223372037.0) == for_ever);
static_assert(ns<1, 1, double>(std::numeric_limits<double>::infinity()) == for_ever);
static_assert(ns<1, 1, double>(std::numeric_limits<double>::quiet_NaN()) == 0);

/* The same when it runs, so that a sanitizer sees it: the compiler does not know the count. */
template <std::int64_t Num, std::int64_t Den = 1, class Rep = std::int64_t>
std::int64_t run_ns(Rep count) {
  const volatile Rep hidden = count;
  return ns<Num, Den, Rep>(hidden);
}

void durations() {
  CHECK(run_ns<1, 3>(27000000001) == 9000000000 * giga + 333333334);
  CHECK(run_ns<1, 3>(highest) == for_ever && run_ns<1, 3>(lowest) == no_time);
  CHECK(run_ns<year>(293) == for_ever && run_ns<year>(highest) == for_ever && run_ns<year>(lowest) == no_time);
  CHECK(run_ns<1, highest>(highest) == giga && run_ns<highest>(highest) == for_ever);
  CHECK(run_ns<1, 1, double>(std::numeric_limits<double>::max()) == for_ever && run_ns<1, 1, double>(-1e300) == no_time);
  CHECK(run_ns<1, 3, float>(std::numeric_limits<float>::max()) == for_ever && run_ns<1, 3, float>(-1.0F) == no_time);
  CHECK(run_ns<1, 3, long double>(1.5L) == giga / 2);
  // As users meet them.
  auto [tx, rx] = ys::pipe<int>(1);
  CHECK(rx.recv_for(duration<std::int64_t, std::ratio<1, 700>>(1)).status() == ys::status::timeout);
  CHECK(rx.recv_for(duration<std::int64_t, std::ratio<1, 3>>(lowest)).status() == ys::status::empty);
  CHECK(tx.send(1) && rx.recv_for(duration<std::int64_t, std::ratio<1, 3>>(highest)) == 1);
}

/* A stopped clock, with any ticks. */
template <class Duration>
struct standing {
  using duration = Duration;
  using rep = typename Duration::rep;
  using period = typename Duration::period;
  using time_point = std::chrono::time_point<standing>;
  static constexpr bool is_steady = false;
  static inline Duration at{};
  static time_point now() noexcept { return time_point(at); }
};

template <class Duration, class Clock>
std::int64_t until(Duration moment) {
  return nanoseconds_until(std::chrono::time_point<Clock, Duration>(moment));
}

void moments() {
  using precise = duration<std::int64_t, std::nano>;
  using thirds = duration<std::int64_t, std::ratio<1, 3>>;
  using sevenths = duration<std::int64_t, std::ratio<1, 7>>;
  using years = duration<std::int64_t, std::ratio<year>>;
  using clock = standing<precise>;
  // 2026, and 1913: both sides of the epoch.
  for (const std::int64_t second : {std::int64_t{1800000000}, std::int64_t{-1800000000}}) {
    clock::at = precise(second * giga);
    CHECK(until<thirds, clock>(thirds(3 * second + 3)) == giga && until<thirds, clock>(thirds(3 * second + 1)) == 333333334);
    CHECK(until<thirds, clock>(thirds(3 * second)) == no_time && until<thirds, clock>(thirds(3 * second - 1)) == no_time);
    CHECK(until<sevenths, clock>(sevenths(7 * second + 7)) == giga && until<sevenths, clock>(sevenths(7 * second - 1)) == no_time);
    // Never too early: not even by the part of a nanosecond.
    CHECK(until<sevenths, clock>(sevenths(7 * second + 1)) == 142857143);
    CHECK(until<precise, clock>(precise(second * giga + 1)) == 1 && until<precise, clock>(precise(second * giga - 1)) == no_time);
    CHECK(until<thirds, clock>(thirds(highest)) == for_ever && until<thirds, clock>(thirds(highest - 1)) == for_ever);
    CHECK(until<thirds, clock>(thirds(lowest)) == no_time);
    CHECK(until<years, clock>(years(highest - 1)) == for_ever && until<years, clock>(years(lowest)) == no_time);
    CHECK(until<years, clock>(years(200)) == 200 * year * giga - second * giga);
    CHECK(until<duration<double>, clock>(duration<double>(static_cast<double>(second) + 0.5)) == giga / 2);
  }
  // A clock with odd ticks, that is beyond what nanoseconds hold, and one that counts them from long ago.
  using coarse = standing<years>;
  coarse::at = years(2026);
  CHECK(until<years, coarse>(years(2026)) == no_time && until<years, coarse>(years(2025)) == no_time);
  const double rounded = static_cast<double>(until<years, coarse>(years(2027)));
  CHECK(rounded > 31556951e9 && rounded < 31556953e9);
  CHECK(until<thirds, coarse>(thirds(0)) == no_time && until<thirds, coarse>(thirds(highest - 1)) == for_ever);
  coarse::at = years(-300);
  CHECK(until<thirds, coarse>(thirds(-3 * 299 * year)) > 0 && until<thirds, coarse>(thirds(0)) == for_ever);
  using odd = standing<thirds>;
  odd::at = thirds(5400000001);
  CHECK(until<thirds, odd>(thirds(5400000002)) == 333333334);
  CHECK(until<thirds, odd>(thirds(5400000001)) == no_time && until<thirds, odd>(thirds(5400000000)) == no_time);
}

}  // namespace

int main() {
  RUN(durations);
  RUN(moments);
}
