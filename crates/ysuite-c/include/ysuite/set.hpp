/** @file ysuite/set.hpp
 *  Sets of signals: many handles, or signalers, that one thread waits for; with a descriptor or without.
 */
#ifndef YSUITE_SET_HPP
#define YSUITE_SET_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "end.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {

/** Raises the signals of a set. Any thread, any number of threads at once. */
class signaler {
 public:
  /** Takes over a signaler of C. */
  explicit signaler(ys_signaler *handle) noexcept : handle_(handle) {}

  /** Raises a signal: the thread that waits for the set wakes. status::out_of_range: there is no such id. */
  status signal(std::size_t id) const noexcept { return status::from(ys_signal(handle_.get(), id)); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_signaler *raw() const noexcept { return handle_.get(); }

 private:
  detail::owned<ys_signaler> handle_;
};

/** The ids that were up, ascending; valid until the set is waited for again. */
class id_range {
 public:
  id_range(const std::size_t *first, std::size_t count, ys::status why) noexcept : first_(first), count_(count), why_(why) {}
  /** None, for a reason. */
  id_range(ys::status why) noexcept : id_range(nullptr, 0, why) {}

  const std::size_t *begin() const noexcept { return first_; }
  const std::size_t *end() const noexcept { return first_ + count_; }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  std::size_t operator[](std::size_t index) const noexcept { return first_[index]; }
  explicit operator bool() const noexcept { return count_ != 0; }
  /** status::ok; status::empty or status::timeout if there is none; status::stopped; or an error. */
  ys::status status() const noexcept { return why_; }

 private:
  const std::size_t *first_;
  std::size_t count_;
  ys::status why_;
};

namespace detail {

/* What sets with and without a descriptor share. One thread at a time. */
class signal_set {
 public:
  signal_set(signal_set &&) noexcept = default;
  signal_set &operator=(signal_set &&) noexcept = default;

  /** Has a receiver raise this id when it has something to receive, or is disconnected. status::taken,
   *  status::attached, status::out_of_range, status::unsupported. */
  status attach(receiving_end &end, std::size_t id) noexcept { return status::from(ys_set_attach_rx(raw(), end.raw(), id)); }
  /** Has a sender raise this id when it may go on. */
  status attach(sending_end &end, std::size_t id) noexcept { return status::from(ys_set_attach_tx(raw(), end.raw(), id)); }
  /** Takes a handle out. status::attached: it is not in this set. */
  status detach(receiving_end &end) noexcept { return status::from(ys_set_detach_rx(raw(), end.raw())); }
  status detach(sending_end &end) noexcept { return status::from(ys_set_detach_tx(raw(), end.raw())); }

  /** The ids that are up. Waits until there is one. */
  id_range wait() noexcept { return wait_ns(for_ever); }
  /** The same, at most so long. */
  template <class Rep, class Period>
  id_range wait(std::chrono::duration<Rep, Period> time) noexcept {
    return wait_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  id_range wait_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return wait_ns(ns); },
        [](const id_range &answer) { return answer.status() == status::timeout; });
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  id_range wait(const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [this](std::int64_t ns) { return wait_ns(ns); });
  }
#endif

  /** Another way to raise signals of this set. Throws std::bad_alloc or std::system_error. */
  [[nodiscard]] signaler make_signaler() const {
    ys_signaler *handle = nullptr;
    const int code = ys_set_signaler(raw(), &handle);
    if (code != YS_OK) raise(code, "ys::signaler");
    return signaler(handle);
  }
  [[nodiscard]] std::optional<signaler> try_signaler() const noexcept {
    ys_signaler *handle = nullptr;
    if (ys_set_signaler(raw(), &handle) != YS_OK) return std::nullopt;
    return signaler(handle);
  }

  /** Ends the wait of the thread that waits for this set. Throws std::system_error. Any thread. */
  [[nodiscard]] stopper make_stopper() const { return stopper_or_raise(&::ys_set_stopper, static_cast<const ys_set *>(raw())); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_set *raw() const noexcept { return handle_.get(); }

 protected:
  using opening = int (*)(std::size_t, ys_set **);

  signal_set() noexcept = default;
  ~signal_set() = default;

  int open(opening how, std::size_t ids) noexcept {
    ys_set *handle = nullptr;
    const int code = how(ids, &handle);
    if (code != YS_OK) return code;
    handle_.reset(handle);
    ids_.reset(new (std::nothrow) std::size_t[ids]);
    count_ = ids;
    return ids_ ? YS_OK : YS_ENOMEM;
  }

 private:
  id_range wait_ns(std::int64_t ns) noexcept {
    // All ids fit, so that none waits after those that are up again and again.
    const std::ptrdiff_t answer = ys_set_wait(raw(), ids_.get(), count_, ns);
    const std::size_t count = count_of(answer);
    return id_range(ids_.get(), count, status::from(answer));
  }

  owned<ys_set> handle_;
  std::unique_ptr<std::size_t[]> ids_;
  std::size_t count_ = 0;
};

}  // namespace detail

/** A set with a descriptor, for poll and epoll together with sockets; on Windows with an event. */
class socketpair_set : public detail::signal_set {
 public:
  /** A set of `ids` ids, from 1 to what ys_set_open() allows. Throws std::bad_alloc or std::system_error; without
   *  exceptions, ends the process. */
  explicit socketpair_set(std::size_t ids) {
    const int code = open(&::ys_set_open, ids);
    if (code != YS_OK) detail::raise(code, "ys::socketpair_set");
  }
  /** The same; empty where it cannot be opened. */
  static std::optional<socketpair_set> try_open(std::size_t ids) noexcept {
    std::optional<socketpair_set> set(socketpair_set{});
    if (set->open(&::ys_set_open, ids) != YS_OK) set.reset();
    return set;
  }

  /** A descriptor that is readable while something is up. It stays the set's: never read, written or closed. Negative: none. */
  int fd() const noexcept { return ys_set_fd(raw()); }
#if defined(_WIN32)
  /** The HANDLE of an event that is signalled while something is up. It stays the set's: never set, reset or closed. */
  void *handle() const noexcept { return ys_set_handle(raw()); }
#endif

 private:
  socketpair_set() noexcept = default;
};

/** A set without a descriptor. */
class poll_set : public detail::signal_set {
 public:
  /** A set of `ids` ids, from 1 to what ys_set_open() allows. Throws as socketpair_set does. */
  explicit poll_set(std::size_t ids) {
    const int code = open(&::ys_pollset_open, ids);
    if (code != YS_OK) detail::raise(code, "ys::poll_set");
  }
  /** The same; empty where it cannot be opened. */
  static std::optional<poll_set> try_open(std::size_t ids) noexcept {
    std::optional<poll_set> set(poll_set{});
    if (set->open(&::ys_pollset_open, ids) != YS_OK) set.reset();
    return set;
  }

 private:
  poll_set() noexcept = default;
};

}  // namespace ys

#endif
