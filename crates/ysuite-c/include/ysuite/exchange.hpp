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

/* What the senders of mpmc channels and oneshots share. */
template <class T>
class byte_sender : public sending_end {
  using wire = by_bytes<T>;
  /* What travels as a pointer gives itself away for it. */
  template <class U>
  using if_copyable = std::enable_if_t<std::is_copy_constructible_v<U> && !as_pointer<U>::value>;
  static constexpr bool copies_nothrow = detail::is_bytes_v<T> || std::is_nothrow_copy_constructible_v<T>;

 public:
  using value_type = T;

  /** Sends, and waits for room if there is none: status::closed if there is no receiver, and the message is the
   *  caller's. status::no_memory: there is none for the box of a message that travels in one. What the copy of a
   *  message throws passes. */
  ys::status send(T &&message) noexcept { return give(message, for_ever); }
  template <class U = T, class = if_copyable<U>>
  ys::status send(const T &message) noexcept(copies_nothrow) {
    return copy(message, for_ever);
  }

  /** Sends, if there is room: status::full. Never blocks. */
  ys::status try_send(T &&message) noexcept { return give(message, no_time); }
  template <class U = T, class = if_copyable<U>>
  ys::status try_send(const T &message) noexcept(copies_nothrow) {
    return copy(message, no_time);
  }

  /** Sends, and waits for room at most so long: status::timeout, or status::full if there was no time at all. */
  template <class Rep, class Period>
  ys::status send_for(T &&message, std::chrono::duration<Rep, Period> time) noexcept {
    return give(message, detail::nanoseconds(time));
  }
  template <class Rep, class Period, class U = T, class = if_copyable<U>>
  ys::status send_for(const T &message, std::chrono::duration<Rep, Period> time) noexcept(copies_nothrow) {
    return copy(message, detail::nanoseconds(time));
  }

  /** Sends, and waits for room until a moment. */
  template <class Clock, class Duration>
  ys::status send_until(T &&message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return give(message, ns); },
        [](ys::status answer) { return answer == ys::status::timeout; });
  }
  template <class Clock, class Duration, class U = T, class = if_copyable<U>>
  ys::status send_until(const T &message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return copy(message, ns); },
        [](ys::status answer) { return answer == ys::status::timeout; });
  }

  /** Sends a message that is made of these arguments, in its box if it travels in one. Waits for room. */
  template <class... Args>
  ys::status emplace(Args &&...args) {
    return emplace_in(for_ever, std::forward<Args>(args)...);
  }
  /** The same, if there is room: status::full, and the message is gone. Never blocks. */
  template <class... Args>
  ys::status try_emplace(Args &&...args) {
    return emplace_in(no_time, std::forward<Args>(args)...);
  }

 protected:
  explicit byte_sender(ys_tx *handle)
      : sending_end(detail::expected(handle, sizeof(typename wire::bytes), alignof(typename wire::bytes))) {}
  byte_sender(byte_sender &&) noexcept = default;
  byte_sender &operator=(byte_sender &&) noexcept = default;
  ~byte_sender() = default;

 private:
  ys::status give_bytes(const void *bytes, std::int64_t ns) noexcept { return ys::status::from(ys_send_for(this->raw(), bytes, ns)); }

  ys::status copy(const T &message, std::int64_t ns) noexcept(copies_nothrow) {
    if constexpr (wire::is_boxed) {
      return give_box(std::unique_ptr<T>(wire::box(message)), ns);
    } else {
      return give_bytes(std::addressof(message), ns);
    }
  }

  ys::status give(T &message, std::int64_t ns) noexcept {
    if constexpr (wire::is_pointer) {
      void *address = as_pointer<T>::release(message);
      const ys::status answer = give_bytes(&address, ns);
      if (!answer) {
        T back = as_pointer<T>::adopt(address);
        detail::give_back(message, back);
      }
      return answer;
    } else if constexpr (wire::is_boxed) {
      return give_box(std::unique_ptr<T>(wire::box(std::move(message))), ns, &message);
    } else {
      return copy(message, ns);
    }
  }

  /* What is not sent goes back to whom it came from, or with its box. */
  ys::status give_box(std::unique_ptr<T> box, std::int64_t ns, T *from = nullptr) noexcept {
    if (box == nullptr) return ys::status::no_memory;
    void *address = box.get();
    const ys::status answer = give_bytes(&address, ns);
    if (answer) {
      (void)box.release();
    } else if (from != nullptr && answer != ys::status::panicked) {
      detail::give_back(*from, *box);
    }
    return answer;
  }

  template <class... Args>
  ys::status emplace_in(std::int64_t ns, Args &&...args) {
    if constexpr (wire::is_boxed) {
      return give_box(std::unique_ptr<T>(wire::box(std::forward<Args>(args)...)), ns);
    } else if constexpr (std::is_constructible_v<T, Args...>) {
      T message(std::forward<Args>(args)...);
      return give(message, ns);
    } else {
      T message{std::forward<Args>(args)...};
      return give(message, ns);
    }
  }
};

/* What the receivers of mpmc channels and oneshots share. */
template <class T>
class byte_receiver : public receiving_end {
  using wire = by_bytes<T>;

 public:
  using value_type = T;

  /** The next message. Waits for it. Empty: nothing is left, and the senders are gone. */
  std::optional<T> recv() noexcept {
    space at;
    if (ys_recv(this->raw(), &at) != YS_OK) return std::nullopt;
    return std::optional<T>(std::in_place, wire::arrived(at.bytes));
  }
  /** The next message, if there is one: otherwise status::empty or status::closed. Never blocks. */
  received<T> try_recv() noexcept { return take(no_time); }
  /** The next message. Waits for it at most so long: otherwise status::timeout, status::closed, or status::empty if there was no time. */
  template <class Rep, class Period>
  received<T> recv_for(std::chrono::duration<Rep, Period> time) noexcept {
    return take(detail::nanoseconds(time));
  }
  /** The next message. Waits for it until a moment. */
  template <class Clock, class Duration>
  received<T> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return take(ns); },
        [](const received<T> &answer) { return answer.status() == ys::status::timeout; });
  }

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

  received<T> take(std::int64_t ns) noexcept {
    space at;
    const int answer = ys_recv_for(this->raw(), &at, ns);
    if (answer != YS_OK) return received<T>(ys::status::from(answer));
    return received<T>(std::in_place, wire::arrived(at.bytes));
  }
};

}  // namespace detail

/** The sender of an mpmc channel. clone() makes another. */
template <class T>
class exchange_sender : public detail::byte_sender<T> {
 public:
  /** Takes over a handle of C, of an mpmc channel that was opened for messages of this type. Of others: throws as
   *  ys::sender does. */
  explicit exchange_sender(ys_tx *handle) : detail::byte_sender<T>(handle) {}

  /** Another sender. Throws std::bad_alloc or std::system_error. */
  [[nodiscard]] exchange_sender clone() {
    ys_tx *other = nullptr;
    const int answer = ys_tx_clone(this->raw(), &other);
    if (answer != YS_OK) detail::raise(answer, "ys::exchange_sender::clone");
    return exchange_sender(other);
  }
  /** Another sender, if there can be one. */
  [[nodiscard]] std::optional<exchange_sender> try_clone() noexcept {
    ys_tx *other = nullptr;
    if (ys_tx_clone(this->raw(), &other) != YS_OK) return std::nullopt;
    return exchange_sender(other);
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
    ys_rx *other = nullptr;
    const int answer = ys_rx_clone(this->raw(), &other);
    if (answer != YS_OK) detail::raise(answer, "ys::exchange_receiver::clone");
    return exchange_receiver(other);
  }
  /** Another receiver, if there can be one. */
  [[nodiscard]] std::optional<exchange_receiver> try_clone() noexcept {
    ys_rx *other = nullptr;
    if (ys_rx_clone(this->raw(), &other) != YS_OK) return std::nullopt;
    return exchange_receiver(other);
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
};

}  // namespace ys

#endif
