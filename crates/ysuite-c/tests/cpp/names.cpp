// Functions of the user, whose names are those of the header's own, are not mistaken for them: neither those next to a
// clock, nor those next to the type of a duration's count.
#include "check.hpp"

#include <chrono>
#include <ratio>

namespace theirs {

/* Counts the ticks of a duration. */
struct ticks {
  double count = 0;
  constexpr ticks() noexcept = default;
  constexpr explicit ticks(double of) noexcept : count(of) {}
  constexpr explicit operator double() const noexcept { return count; }
  constexpr ticks operator-() const noexcept { return ticks(-count); }
  friend constexpr bool operator<(ticks a, ticks b) noexcept { return a.count < b.count; }
};

/* Their own clock, in standard ticks. */
struct clock {
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point(std::chrono::steady_clock::now().time_since_epoch()); }
};

// More specialised than any function of the header.
template <class Duration, class Attempt, class IsTimeout>
void until(const std::chrono::time_point<clock, Duration> &, Attempt, IsTimeout) = delete;
template <class Duration>
void nanoseconds_until(const std::chrono::time_point<clock, Duration> &) = delete;
template <class Period>
void nanoseconds(std::chrono::duration<ticks, Period>) = delete;
template <class Period>
void signed_nanoseconds(std::chrono::duration<ticks, Period>, bool) = delete;
template <class Period>
void magnitude(std::chrono::duration<ticks, Period>) = delete;

}  // namespace theirs

namespace {

constexpr std::chrono::duration<theirs::ticks, std::milli> soon(theirs::ticks(1.5));

theirs::clock::time_point a_moment() { return theirs::clock::now() + std::chrono::milliseconds(2); }

template <class Ends>
void ends_wait(Ends ends) {
  auto &[tx, rx] = ends;
  int one = 1;
  CHECK(tx.wait_closed(soon) == ys::status::timeout);
  CHECK(rx.recv_for(soon).status() == ys::status::timeout && rx.recv_until(a_moment()).status() == ys::status::timeout);
  CHECK(tx.send_for(1, soon) && tx.send_for(one, soon) == ys::status::timeout);
  CHECK(tx.send_until(1, a_moment()) == ys::status::timeout && tx.send_until(one, a_moment()) == ys::status::timeout);
  CHECK(rx.recv_until(a_moment()) == 1);
}

void channels() {
  ends_wait(ys::pipe<int>(1));
  ends_wait(ys::funnel<int>(1));
  ends_wait(ys::exchange<int>(1));
  auto [tx, rx] = ys::pipe<int>(1);
  int into = 0;
  CHECK(rx.wait(soon) == ys::status::timeout && rx.recv_for(into, soon) == ys::status::timeout);
  CHECK(tx.wait_room(soon) && tx.emplace_for(soon, 1) && tx.wait_room(soon) == ys::status::timeout);
  CHECK(tx.send_range_for(&into, &into + 1, soon).why == ys::status::timeout);
  auto [ask, answer] = ys::oneshot<int>();
  CHECK(answer.wait(soon) == ys::status::timeout && ask.send(1));
}

void others() {
  ys::poll_set set(1);
  CHECK(set.wait(soon).status() == ys::status::timeout && set.wait_until(a_moment()).status() == ys::status::timeout);
  ys::selector select(1);
  CHECK(select.wait(soon).status() == ys::status::timeout && select.wait_until(a_moment()).status() == ys::status::timeout);
  ys::pool pool{{64, 1}};
  const auto all = pool.take(64);
  CHECK(!pool.take(64, soon));
}

}  // namespace

int main() {
  RUN(channels);
  RUN(others);
}
