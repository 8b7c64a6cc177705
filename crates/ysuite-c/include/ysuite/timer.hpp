/** @file ysuite/timer.hpp
 *  Timers: moments that are waited for as messages are.
 */
#ifndef YSUITE_TIMER_HPP
#define YSUITE_TIMER_HPP

#include <chrono>
#include <cstdint>
#include <limits>

#include "end.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {

/** A moment, or one after the other; alone, or in a ys::selector. Any thread, any number at once: each tick goes to one of them. A tick
 *  that is not taken waits; more are skipped. */
class timer {
 public:
  /** One tick, in so long. Throws std::bad_alloc or std::system_error; without exceptions, ends the process. */
  template <class Rep, class Period>
  [[nodiscard]] static timer after(std::chrono::duration<Rep, Period> time) {
    return timer(&::ys_timer_after, detail::nanoseconds(time));
  }
  /** A tick in one period, and at every whole number of periods from now. Throws likewise. */
  template <class Rep, class Period>
  [[nodiscard]] static timer every(std::chrono::duration<Rep, Period> period) {
    return timer(&::ys_timer_every, detail::nanoseconds(period));
  }

  /** Waits for a tick, and takes it: for ever, if there will be none. */
  ys::status wait() const noexcept { return status::from(ys_timer_wait(raw(), detail::for_ever)); }
  /** The same, at most so long: status::timeout, or status::empty if there was no time at all. */
  template <class Rep, class Period>
  ys::status wait(std::chrono::duration<Rep, Period> time) const noexcept {
    return status::from(ys_timer_wait(raw(), detail::nanoseconds(time)));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Allocates, if it has to wait. Defined with ys::selector. */
  ys::status wait(const std::stop_token &token) const;
#endif

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_timer *raw() const noexcept { return handle_.get(); }

 private:
  timer(int (*open)(std::int64_t, ys_timer **), std::int64_t ns) {
    ys_timer *handle = nullptr;
    const int code = open(ns < 0 ? (std::numeric_limits<std::int64_t>::max)() : ns, &handle);
    if (code != YS_OK) detail::raise(code, "ys::timer");
    handle_.reset(handle);
  }

  detail::owned<ys_timer> handle_;
};

}  // namespace ys

#endif
