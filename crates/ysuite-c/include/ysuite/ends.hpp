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
#include "stop_token.hpp"
#include "time.hpp"

#ifdef YS_HAS_STOP_TOKEN
#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#endif

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

#ifdef YS_HAS_STOP_TOKEN
/* Waits for a descriptor of an end, and for a stop. */
class stop_wait {
 public:
  explicit stop_wait(const std::stop_token &token) : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(token, raises{stop_.raw}) {}

  /* Until there may be something to be done, or a stop is requested. */
  status until_readable(int end) {
    if (stop_.raw < 0) return status::system;
    pollfd at[] = {{end, POLLIN, 0}, {stop_.raw, POLLIN, 0}};
    return ::poll(at, 2, -1) >= 0 || errno == EINTR ? status::ok : status::system;
  }

 private:
  struct raises {
    int to;
    void operator()() const noexcept {
      // A counter of 1 is not full.
      if (to >= 0) (void)::eventfd_write(to, 1);
    }
  };
  struct descriptor {
    int raw;
    explicit descriptor(int made) noexcept : raw(made) {}
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    ~descriptor() {
      if (raw >= 0) (void)::close(raw);
    }
  };

  /* Closed when no callback runs any more. */
  descriptor stop_;
  std::stop_callback<raises> callback_;
};

/* Whether a call that waits for nothing would have had to. */
template <class Answer>
bool has_to_wait(const Answer &answer) noexcept {
  const ys::status found = status_of(answer);
  return found == ys::status::empty || found == ys::status::full || found == ys::status::timeout;
}

/* Calls `attempt()`, which waits for nothing, until it has succeeded or a stop is requested; `arm()` says whether to sleep until the
 * descriptor is readable: if it is more than 0, and less than 0 is an error. What can be done without waiting is done in any case. */
template <class Attempt, class Arm>
auto attempt_until_stopped(int end, const std::stop_token &token, Attempt attempt, Arm arm) -> decltype(attempt()) {
  auto now = attempt();
  if (!detail::has_to_wait(now)) return now;
  if (end < 0) return ys::status::from(end);
  stop_wait wait(token);
  for (;;) {
    auto next = attempt();
    if (!detail::has_to_wait(next)) return next;
    if (token.stop_requested()) return ys::status(ys::status::stopped);
    const int armed = arm();
    // Or it would be asked again and again.
    if (armed < 0) return ys::status::from(armed);
    if (armed == 0) continue;
    const ys::status slept = wait.until_readable(end);
    if (!slept) return slept;
  }
}

/* `ask()` is the number of a call, or why there is none. Its answer by `answer(number)`, unless either is stopped or fails: then
 * `give_up(number)`, as nobody else knows the number. */
template <class Ask, class Answer, class GiveUp>
auto call_until_stopped(Ask ask, Answer answer, GiveUp give_up) -> decltype(answer(std::uint64_t{0})) {
  const auto call = ask();
  if (!call) return call.status();
  struct ends {
    std::uint64_t call;
    GiveUp &give_up;
    // Also where allocating an answer throws. Nothing is done for a call that is over.
    ~ends() { (void)give_up(call); }
  } const at_last{*call, give_up};
  return answer(*call);
}
#endif

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
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  received<Message> recv(const std::stop_token &token) {
    return recv_until_stopped(token, [this] { return try_recv(); });
  }

 protected:
  /* What else receives: `attempt()`, which waits for nothing. */
  template <class Attempt>
  auto recv_until_stopped(const std::stop_token &token, Attempt attempt) -> decltype(attempt()) {
    return detail::attempt_until_stopped(self().fd(), token, attempt, [this] { return self().arm(); });
  }
#endif

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
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  status send(std::string_view message, const std::stop_token &token) {
    return send_until_stopped(token, message.size(), [&] { return try_send(message); });
  }

 protected:
  /* What else sends so many bytes: `attempt()`, which waits for nothing. */
  template <class Attempt>
  status send_until_stopped(const std::stop_token &token, std::size_t length, Attempt attempt) {
    return detail::attempt_until_stopped(self().fd(), token, attempt, [&] { return arms(self(), length, 0); });
  }
#endif

 private:
#ifdef YS_HAS_STOP_TOKEN
  /* Some need to know for how much room they wait. */
  template <class End>
  static auto arms(End &end, std::size_t length, int) noexcept -> decltype(end.arm(length)) {
    return end.arm(length);
  }
  template <class End>
  static bool arms(End &end, std::size_t, long) noexcept {
    return end.arm();
  }
#endif
  static std::string_view bytes(const void *message, std::size_t length) noexcept {
    return {static_cast<const char *>(message), length};
  }
  Self &self() noexcept { return static_cast<Self &>(*this); }
};

}  // namespace detail
}  // namespace ys

#endif
