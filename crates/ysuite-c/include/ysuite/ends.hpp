/** @file ysuite/ends.hpp
 *  What handles of channels between processes and of bridges have in common.
 */
#ifndef YSUITE_ENDS_HPP
#define YSUITE_ENDS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "received.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {
namespace detail {

/* What was opened, or an exception. */
template <class T>
T opened(received<T> &&made, const char *what) {
  if (!made) raise(made.status().why(), what);
  return std::move(*made);
}

/* What `open(address of a handle)` makes. */
template <class End, class Handle, class Open>
received<End> opened_by(Open open) noexcept {
  Handle *handle = nullptr;
  const int code = open(&handle);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, End(handle)};
}

/* What has a handle of C. Moved from, it has none, and every call is status::invalid. */
template <class Handle, class Frees>
class end_handle {
 public:
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  Handle *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by its function of C. */
  [[nodiscard]] Handle *release() noexcept { return handle_.release(); }

 protected:
  explicit end_handle(Handle *handle) noexcept : handle_(handle) {}

 private:
  std::unique_ptr<Handle, Frees> handle_;
};

/* What receives by `Self::recv_ns`. */
template <class Self, class Message>
class end_receives {
 public:
  /** Receives a message; waits while there is none. What allocating throws passes, and the message stays. */
  received<Message> recv() { return self().recv_ns(detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<Message> try_recv() { return self().recv_ns(detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<Message> recv_for(std::chrono::duration<Rep, Period> time) {
    return self().recv_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<Message> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return self().recv_ns(ns); },
        [](const received<Message> &answer) { return answer.status() == status::timeout; });
  }

 private:
  Self &self() noexcept { return static_cast<Self &>(*this); }
};

/* What sends by `Self::send_ns`. */
template <class Self>
class end_sends {
 public:
  /** Sends a message; waits while there is no room. */
  status send(std::string_view message) noexcept { return self().send_ns(message, detail::for_ever); }
  status send(const void *message, std::size_t length) noexcept { return send(bytes(message, length)); }
  /** The same, without waiting: status::full. */
  status try_send(std::string_view message) noexcept { return self().send_ns(message, detail::no_time); }
  status try_send(const void *message, std::size_t length) noexcept { return try_send(bytes(message, length)); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  status send_for(std::string_view message, std::chrono::duration<Rep, Period> time) noexcept {
    return self().send_ns(message, detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  status send_until(std::string_view message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return self().send_ns(message, ns); },
        [](status answer) { return answer == status::timeout; });
  }

 private:
  static std::string_view bytes(const void *message, std::size_t length) noexcept {
    return {static_cast<const char *>(message), length};
  }
  Self &self() noexcept { return static_cast<Self &>(*this); }
};

}  // namespace detail
}  // namespace ys

#endif
