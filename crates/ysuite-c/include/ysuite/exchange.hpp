/** @file ysuite/exchange.hpp
 *  The handles of mpmc channels and oneshots. They move bytes: a message that is more than that travels in a box.
 */
#ifndef YSUITE_EXCHANGE_HPP
#define YSUITE_EXCHANGE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "end.hpp"
#include "message.hpp"
#include "received.hpp"
#include "receiver.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {
namespace detail {

/* How messages are sent as bytes. `out(bytes, ns)` sends those of one; what is not sent stays with the caller. */
template <class T, class Wire>
struct byte_sends {
  /* What travels as a pointer gives itself away for it. */
  template <class U>
  static constexpr bool is_copyable = std::is_copy_constructible_v<U> && !as_pointer<U>::value;
  static constexpr bool copies_nothrow = detail::is_bytes_v<T> || std::is_nothrow_copy_constructible_v<T>;
  using box_owner = std::unique_ptr<typename Wire::box_type>;

  template <class Out>
  static ys::status copy(Out out, const T &message, std::int64_t ns) noexcept(copies_nothrow) {
    if constexpr (Wire::is_boxed) {
      return give_box(out, box_owner(Wire::box(message)), ns, nullptr);
    } else {
      return out(std::addressof(message), ns);
    }
  }

  template <class Out>
  static ys::status give(Out out, T &message, std::int64_t ns) noexcept {
    if constexpr (Wire::is_pointer) {
      void *address = as_pointer<T>::release(message);
      const ys::status answer = out(&address, ns);
      if (!answer) {
        T back = as_pointer<T>::adopt(address);
        detail::give_back(message, back);
      }
      return answer;
    } else if constexpr (Wire::is_boxed) {
      return give_box(out, box_owner(Wire::box(std::move(message))), ns, &message);
    } else {
      return out(std::addressof(message), ns);
    }
  }

  template <class Out, class... Args>
  static ys::status emplace(Out out, std::int64_t ns, Args &&...args) {
    if constexpr (Wire::is_boxed) {
      return give_box(out, box_owner(Wire::box(std::forward<Args>(args)...)), ns, nullptr);
    } else if constexpr (std::is_constructible_v<T, Args...>) {
      T message(std::forward<Args>(args)...);
      return give(out, message, ns);
    } else {
      T message{std::forward<Args>(args)...};
      return give(out, message, ns);
    }
  }

 private:
  /* What is not sent goes back to whom it came from, or with its box. */
  template <class Out>
  static ys::status give_box(Out &out, box_owner box, std::int64_t ns, T *from) noexcept {
    if (box == nullptr) return ys::status::no_memory;
    void *address = box.get();
    const ys::status answer = out(&address, ns);
    if (answer) {
      (void)box.release();
    } else if (from != nullptr) {
      detail::give_back(*from, Wire::inside(*box));
    }
    return answer;
  }
};

/* What the senders of mpmc channels, oneshots, broadcasts and watches share. */
template <class T, class Wire = by_bytes<T>>
class byte_sender : public sending_end {
  using sends = byte_sends<T, Wire>;
  template <class U>
  using if_copyable = std::enable_if_t<sends::template is_copyable<U>>;

 public:
  using value_type = T;

  /** Sends, and waits for room if there is none: status::closed if there is no receiver, and the message is the
   *  caller's. status::no_memory: there is none for the box of a message that travels in one. What the copy of a
   *  message throws passes. */
  ys::status send(T &&message) noexcept { return sends::give(out(), message, for_ever); }
  template <class U = T, class = if_copyable<U>>
  ys::status send(const T &message) noexcept(sends::copies_nothrow) {
    return sends::copy(out(), message, for_ever);
  }

  /** Sends, if there is room: status::full. Never blocks. */
  ys::status try_send(T &&message) noexcept { return sends::give(out(), message, no_time); }
  template <class U = T, class = if_copyable<U>>
  ys::status try_send(const T &message) noexcept(sends::copies_nothrow) {
    return sends::copy(out(), message, no_time);
  }

  /** Sends, and waits for room at most so long: status::timeout, or status::full if there was no time at all. */
  template <class Rep, class Period>
  ys::status send_for(T &&message, std::chrono::duration<Rep, Period> time) noexcept {
    return sends::give(out(), message, detail::nanoseconds(time));
  }
  template <class Rep, class Period, class U = T, class = if_copyable<U>>
  ys::status send_for(const T &message, std::chrono::duration<Rep, Period> time) noexcept(sends::copies_nothrow) {
    return sends::copy(out(), message, detail::nanoseconds(time));
  }

  /** Sends, and waits for room until a moment. */
  template <class Clock, class Duration>
  ys::status send_until(T &&message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return sends::give(out(), message, ns); },
        [](ys::status answer) { return answer == ys::status::timeout; });
  }
  template <class Clock, class Duration, class U = T, class = if_copyable<U>>
  ys::status send_until(const T &message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return sends::copy(out(), message, ns); },
        [](ys::status answer) { return answer == ys::status::timeout; });
  }

#ifdef YS_HAS_STOP_TOKEN
  /** Sends, and waits for room until a stop is requested: status::stopped, and the message is the caller's. */
  ys::status send(T &&message, const std::stop_token &token) {
    return sends::give(out(token), message, for_ever);
  }
#endif

  /** Sends a message that is made of these arguments, in its box if it travels in one. Waits for room. */
  template <class... Args>
  ys::status emplace(Args &&...args) {
    return sends::emplace(out(), for_ever, std::forward<Args>(args)...);
  }
  /** The same, if there is room: status::full, and the message is gone. Never blocks. */
  template <class... Args>
  ys::status try_emplace(Args &&...args) {
    return sends::emplace(out(), no_time, std::forward<Args>(args)...);
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, waiting for room until a stop is requested: status::stopped, and the message is gone. */
  template <class... Args>
  ys::status emplace_or_stop(const std::stop_token &token, Args &&...args) {
    return sends::emplace(out(token), for_ever, std::forward<Args>(args)...);
  }
#endif

 protected:
  explicit byte_sender(ys_tx *handle)
      : sending_end(detail::expected(handle, sizeof(typename Wire::bytes), alignof(typename Wire::bytes))) {}
  byte_sender(byte_sender &&) noexcept = default;
  byte_sender &operator=(byte_sender &&) noexcept = default;
  ~byte_sender() = default;

 private:
  auto out() noexcept {
    return [end = this->raw()](const void *bytes, std::int64_t ns) noexcept { return ys::status::from(ys_send_for(end, bytes, ns)); };
  }
#ifdef YS_HAS_STOP_TOKEN
  auto out(const std::stop_token &token) noexcept {
    return [this, &token](const void *bytes, std::int64_t) noexcept {
      return detail::until_stopped(this->raw(), token, [&](std::int64_t ns) { return out()(bytes, ns); });
    };
  }
#endif
};

/* What their receivers share. */
template <class T, class Wire = by_bytes<T>>
class byte_receiver : public receiving_end {
  using wire = Wire;

 public:
  using value_type = T;

  /** The next message. Waits for it. Empty: nothing is left, and the senders are gone. */
  std::optional<T> recv() noexcept(wire::arrives_nothrow) {
    space at;
    int answer;
    // What a broadcast's receiver has lost is counted by itself.
    while ((answer = ys_recv(this->raw(), &at)) == YS_LAGGED) continue;
    if (answer != YS_OK) return std::nullopt;
    return std::optional<T>(std::in_place, wire::arrived(at.bytes));
  }
  /** The next message, if there is one: otherwise status::empty or status::closed. Never blocks. */
  received<T> try_recv() noexcept(wire::arrives_nothrow) { return take(no_time); }
  /** The next message. Waits for it at most so long: otherwise status::timeout, status::closed, or status::empty if there was no time. */
  template <class Rep, class Period>
  received<T> recv_for(std::chrono::duration<Rep, Period> time) noexcept(wire::arrives_nothrow) {
    return take(detail::nanoseconds(time));
  }
  /** The next message. Waits for it until a moment. */
  template <class Clock, class Duration>
  received<T> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return take(ns); },
        [](const received<T> &answer) { return answer.status() == ys::status::timeout; });
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The next message. Waits for it until a stop is requested: otherwise status::stopped, status::closed. */
  received<T> recv(const std::stop_token &token) {
    return detail::until_stopped(this->raw(), token, [this](std::int64_t ns) { return take(ns); });
  }
#endif

 protected:
  explicit byte_receiver(ys_rx *handle)
      : receiving_end(detail::expected(handle, sizeof(typename wire::bytes), alignof(typename wire::bytes))) {}
  byte_receiver(byte_receiver &&) noexcept = default;
  byte_receiver &operator=(byte_receiver &&) noexcept = default;
  ~byte_receiver() = default;

 private:
  /* Where the bytes of a message arrive. */
  struct space {
    alignas(typename wire::bytes) unsigned char bytes[sizeof(typename wire::bytes)];
  };

  received<T> take(std::int64_t ns) noexcept(wire::arrives_nothrow) {
    space at;
    const int answer = ys_recv_for(this->raw(), &at, ns);
    if (answer != YS_OK) return received<T>(ys::status::from(answer));
    return received<T>(std::in_place, wire::arrived(at.bytes));
  }
};

/* What is made of a handle, by one of the functions of C. Throws; without exceptions, ends the process. */
template <class New, class From, class Made>
New made_or_raise(int (*make)(From *, Made **), From *from, const char *what) {
  Made *made = nullptr;
  const int answer = make(from, &made);
  if (answer != YS_OK) raise(answer, what);
  return New(made);
}
template <class New, class From, class Made>
std::optional<New> try_made(int (*make)(From *, Made **), From *from) noexcept {
  Made *made = nullptr;
  if (make(from, &made) != YS_OK) return std::nullopt;
  return New(made);
}

}  // namespace detail

/** A sender that any number of threads use at once, of an exchange, a broadcast or a watch: by their share(). Moved, not copied. */
template <class T, class Wire = detail::by_bytes<T>>
class shared_sender {
  using sends = detail::byte_sends<T, Wire>;
  template <class U>
  using if_copyable = std::enable_if_t<sends::template is_copyable<U>>;

 public:
  using value_type = T;

  /** Takes over a sender of C, whose channel was opened for messages of this type. */
  explicit shared_sender(ys_shared *handle) noexcept : handle_(handle) {}

  /** As those of exchange_sender. Any thread. */
  ys::status send(T &&message) const noexcept { return sends::give(out(), message, detail::for_ever); }
  template <class U = T, class = if_copyable<U>>
  ys::status send(const T &message) const noexcept(sends::copies_nothrow) {
    return sends::copy(out(), message, detail::for_ever);
  }
  ys::status try_send(T &&message) const noexcept { return sends::give(out(), message, detail::no_time); }
  template <class U = T, class = if_copyable<U>>
  ys::status try_send(const T &message) const noexcept(sends::copies_nothrow) {
    return sends::copy(out(), message, detail::no_time);
  }
  template <class Rep, class Period>
  ys::status send_for(T &&message, std::chrono::duration<Rep, Period> time) const noexcept {
    return sends::give(out(), message, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** Sends, and waits for room until a stop is requested: status::stopped, and the message is the caller's. Only this thread's wait
   *  ends. */
  ys::status send(T &&message, const std::stop_token &token) const { return sends::give(out(token), message, detail::for_ever); }
#endif
  template <class... Args>
  ys::status emplace(Args &&...args) const {
    return sends::emplace(out(), detail::for_ever, std::forward<Args>(args)...);
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped, and the message is gone. */
  template <class... Args>
  ys::status emplace_or_stop(const std::stop_token &token, Args &&...args) const {
    return sends::emplace(out(token), detail::for_ever, std::forward<Args>(args)...);
  }
#endif

  /** Whether nothing sent now would be received. Any thread. */
  bool closed() const noexcept { return ys_shared_is_closed(raw()) != 0; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shared *raw() const noexcept { return handle_.get(); }

 private:
  auto out() const noexcept {
    return [end = raw()](const void *bytes, std::int64_t ns) noexcept { return ys::status::from(ys_shared_send_for(end, bytes, ns)); };
  }
#ifdef YS_HAS_STOP_TOKEN
  auto out(const std::stop_token &token) const noexcept {
    return [end = raw(), &token](const void *bytes, std::int64_t) noexcept {
      const ys::status now = ys::status::from(ys_shared_send_for(end, bytes, detail::no_time));
      if (now != ys::status::full) return now;
      if (token.stop_requested()) return ys::status(ys::status::stopped);
      ys_stopper *handle = nullptr;
      const int made = ys_shared_wait_stopper(end, &handle);
      if (made != YS_OK) return ys::status::from(made);
      const stopper ends(handle);
      const std::stop_callback callback(token, [&ends]() noexcept { ends.stop(); });
      return ys::status::from(ys_shared_send_or_stop(end, bytes, detail::for_ever, ends.raw()));
    };
  }
#endif

  detail::owned<ys_shared> handle_;
};

/** The sender of an mpmc channel. clone() makes another. */
template <class T>
class exchange_sender : public detail::byte_sender<T> {
 public:
  /** Takes over a handle of C, of an mpmc channel that was opened for messages of this type. Of others: throws as
   *  ys::sender does. */
  explicit exchange_sender(ys_tx *handle) : detail::byte_sender<T>(handle) {}

  /** Another sender. Throws std::bad_alloc or std::system_error. */
  [[nodiscard]] exchange_sender clone() {
    return detail::made_or_raise<exchange_sender>(&::ys_tx_clone, this->raw(), "ys::exchange_sender::clone");
  }
  /** Another sender, if there can be one. */
  [[nodiscard]] std::optional<exchange_sender> try_clone() noexcept {
    return detail::try_made<exchange_sender>(&::ys_tx_clone, this->raw());
  }
  /** A sender for any number of threads. Throws as clone() does. */
  [[nodiscard]] shared_sender<T> share() {
    return detail::made_or_raise<shared_sender<T>>(&::ys_tx_share, this->raw(), "ys::exchange_sender::share");
  }

  /** Sends, in place of the oldest message if there is no room; that one is destroyed. Does not wait for room. */
  ys::status force_send(T &&message) noexcept { return force(message, nullptr); }
  /** The same; the oldest message is moved to `displaced`, which is empty if there was room. */
  ys::status force_send(T &&message, std::optional<T> &displaced) noexcept { return force(message, &displaced); }

 private:
  ys::status force(T &message, std::optional<T> *displaced) noexcept {
    using wire = detail::by_bytes<T>;
    alignas(typename wire::bytes) unsigned char oldest[sizeof(typename wire::bytes)];
    if (displaced != nullptr) displaced->reset();
    const auto out = [&](const void *bytes, std::int64_t) noexcept {
      const int answer = ys_force_send(this->raw(), bytes, displaced == nullptr ? nullptr : oldest);
      if (answer > 0 && displaced != nullptr) displaced->emplace(wire::arrived(oldest));
      return ys::status::from(answer);
    };
    return detail::byte_sends<T, wire>::give(out, message, detail::no_time);
  }
};

/** The receiver of an mpmc channel: each message goes to one of them. clone() makes another. */
template <class T>
class exchange_receiver : public detail::byte_receiver<T> {
 public:
  /** Takes over a handle of C, of an mpmc channel that was opened for messages of this type. Of others: throws as
   *  ys::sender does. */
  explicit exchange_receiver(ys_rx *handle) : detail::byte_receiver<T>(handle) {}

  /** Another receiver. Throws std::bad_alloc or std::system_error. */
  [[nodiscard]] exchange_receiver clone() {
    return detail::made_or_raise<exchange_receiver>(&::ys_rx_clone, this->raw(), "ys::exchange_receiver::clone");
  }
  /** Another receiver, if there can be one. */
  [[nodiscard]] std::optional<exchange_receiver> try_clone() noexcept {
    return detail::try_made<exchange_receiver>(&::ys_rx_clone, this->raw());
  }

  /** All messages that this one gets: `for (auto message : rx)`. Waits for each; stops with the senders. */
  message_iterator<exchange_receiver> begin() noexcept { return message_iterator<exchange_receiver>(this); }
  typename message_iterator<exchange_receiver>::sentinel end() noexcept { return {}; }
};

/** The sender of a oneshot: the first send is the last. */
template <class T>
class oneshot_sender : public detail::byte_sender<T> {
 public:
  /** Takes over a handle of C, of a oneshot that was opened for messages of this type. Of others: throws as ys::sender
   *  does. */
  explicit oneshot_sender(ys_tx *handle) : detail::byte_sender<T>(handle) {}
};

/** The receiver of a oneshot. */
template <class T>
class oneshot_receiver : public detail::byte_receiver<T> {
 public:
  /** Takes over a handle of C, of a oneshot that was opened for messages of this type. Of others: throws as ys::sender
   *  does. */
  explicit oneshot_receiver(ys_rx *handle) : detail::byte_receiver<T>(handle) {}

  /** Waits until there is the message, without taking it: status::closed if it will not come. */
  ys::status wait() noexcept { return ys::status::from(ys_wait(this->raw(), detail::for_ever)); }
  /** The same, at most so long: status::timeout, or status::empty if there was no time at all. */
  template <class Rep, class Period>
  ys::status wait(std::chrono::duration<Rep, Period> time) noexcept {
    return ys::status::from(ys_wait(this->raw(), detail::nanoseconds(time)));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  ys::status wait(const std::stop_token &token) {
    return detail::until_stopped(this->raw(), token, [this](std::int64_t ns) { return ys::status::from(ys_wait(this->raw(), ns)); });
  }
#endif
};

}  // namespace ys

#endif
