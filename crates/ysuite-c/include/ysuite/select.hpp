/** @file ysuite/select.hpp
 *  The first of several handles that is ready.
 */
#ifndef YSUITE_SELECT_HPP
#define YSUITE_SELECT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "end.hpp"
#include "received.hpp"
#include "status.hpp"
#include "time.hpp"
#include "timer.hpp"

namespace ys {

/** Waits for the first of several handles that is ready: that has something to receive, or room, or is disconnected.
 *  Each in its turn. One thread at a time. */
class selector {
 public:
  /** For at most this many handles. Throws std::bad_alloc or std::system_error; without exceptions, ends the process.
   *  */
  explicit selector(std::size_t ends) {
    const int code = open(ends);
    if (code != YS_OK) detail::raise(code, "ys::selector");
  }
  /** The same; empty where it cannot be opened. */
  static std::optional<selector> try_open(std::size_t ends) noexcept {
    std::optional<selector> opened(selector{});
    if (opened->open(ends) != YS_OK) opened.reset();
    return opened;
  }

  /** Adds a handle; returns the id that wait() reports. */
  received<std::size_t> add(detail::receiving_end &end) noexcept {
    std::size_t id = 0;
    const int code = ys_select_add_rx(raw(), end.raw(), &id);
    return added(code, id);
  }
  received<std::size_t> add(detail::sending_end &end) noexcept {
    std::size_t id = 0;
    const int code = ys_select_add_tx(raw(), end.raw(), &id);
    return added(code, id);
  }
  /** Adds a timer, which wait() reports while a tick is due: it is taken by the timer's wait(). */
  received<std::size_t> add(const timer &clock) noexcept {
    std::size_t id = 0;
    const int code = ys_select_add_timer(raw(), clock.raw(), &id);
    return added(code, id);
  }
  /** Takes a timer out. */
  status remove(const timer &clock) noexcept { return status::from(ys_select_remove_timer(raw(), clock.raw())); }
  /** Takes a handle out. */
  status remove(detail::receiving_end &end) noexcept { return status::from(ys_select_remove_rx(raw(), end.raw())); }
  status remove(detail::sending_end &end) noexcept { return status::from(ys_select_remove_tx(raw(), end.raw())); }

  /** A handle that is ready now. Waits until there is one. Each is reported at first, ready or not, and again until try_recv() finds nothing
   *  in it, or try_send() no room. */
  received<std::size_t> wait() noexcept { return wait_ns(detail::for_ever); }
  /** The same, at most so long: otherwise status::timeout, or status::empty if there was no time at all. */
  template <class Rep, class Period>
  received<std::size_t> wait(std::chrono::duration<Rep, Period> time) noexcept {
    return wait_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<std::size_t> wait_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return wait_ns(ns); },
        [](const received<std::size_t> &answer) { return answer.status() == status::timeout; });
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  received<std::size_t> wait(const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [this](std::int64_t ns) { return wait_ns(ns); });
  }
#endif

  /** Ends the wait of the thread that waits here. Throws std::system_error. Any thread. */
  [[nodiscard]] stopper make_stopper() const {
    return detail::stopper_or_raise(&::ys_select_stopper, static_cast<const ys_select *>(raw()));
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_select *raw() const noexcept { return handle_.get(); }

 private:
  selector() noexcept = default;

  int open(std::size_t ends) noexcept {
    ys_select *handle = nullptr;
    const int code = ys_select_open(ends, &handle);
    handle_.reset(handle);
    return code;
  }

  static received<std::size_t> added(int code, std::size_t id) noexcept {
    if (code != YS_OK) return received<std::size_t>(status::from(code));
    return received<std::size_t>(std::in_place, std::move(id));
  }

  received<std::size_t> wait_ns(std::int64_t ns) noexcept {
    const std::ptrdiff_t answer = ys_select_wait(raw(), ns);
    if (answer < 0) return received<std::size_t>(status::from(answer));
    return received<std::size_t>(std::in_place, static_cast<std::size_t>(answer));
  }

  detail::owned<ys_select> handle_;
};

#ifdef YS_HAS_STOP_TOKEN
inline status timer::wait(const std::stop_token &token) const {
  status answer = wait(std::chrono::nanoseconds(detail::no_time));
  if (answer != status::empty) return answer;
  auto waits = selector::try_open(1);
  if (!waits) return status::no_memory;
  const status added = waits->add(*this).status();
  if (!added) return added;
  while (answer == status::empty) {
    const status due = waits->wait(token).status();
    if (!due) return due;
    // Another thread may have taken it.
    answer = wait(std::chrono::nanoseconds(detail::no_time));
  }
  return answer;
}
#endif

}  // namespace ys

#endif
