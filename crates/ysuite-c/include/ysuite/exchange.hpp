/** @file ysuite/exchange.hpp
 *  The handles of mpmc channels and oneshots: messages are moved as bytes.
 */
#ifndef YSUITE_EXCHANGE_HPP
#define YSUITE_EXCHANGE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  using if_bytes = std::enable_if_t<std::is_trivially_copyable_v<U> && !as_pointer<U>::value>;

 public:
  using value_type = T;

  /** Sends, and waits for room if there is none: status::closed if there is no receiver, and the message is the
   *  caller's. */
  ys::status send(T &&message) noexcept { return give(message, for_ever); }
  template <class U = T, class = if_bytes<U>>
  ys::status send(const T &message) noexcept {
    return copy(message, for_ever);
  }

  /** Sends, if there is room: status::full. Never blocks. */
  ys::status try_send(T &&message) noexcept { return give(message, no_time); }
  template <class U = T, class = if_bytes<U>>
  ys::status try_send(const T &message) noexcept {
    return copy(message, no_time);
  }

  /** Sends, and waits for room at most so long: status::timeout, or status::full if there was no time at all. */
  template <class Rep, class Period>
  ys::status send_for(T &&message, std::chrono::duration<Rep, Period> time) noexcept {
    return give(message, detail::nanoseconds(time));
  }
  template <class Rep, class Period, class U = T, class = if_bytes<U>>
  ys::status send_for(const T &message, std::chrono::duration<Rep, Period> time) noexcept {
    return copy(message, detail::nanoseconds(time));
  }

  /** Sends, and waits for room until a moment. */
  template <class Clock, class Duration>
  ys::status send_until(T &&message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return give(message, ns); },
        [](ys::status answer) { return answer == ys::status::timeout; });
  }
  template <class Clock, class Duration, class U = T, class = if_bytes<U>>
  ys::status send_until(const T &message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return copy(message, ns); },
        [](ys::status answer) { return answer == ys::status::timeout; });
  }

 protected:
  explicit byte_sender(ys_tx *handle)
      : sending_end(detail::expected(handle, sizeof(typename wire::bytes), alignof(typename wire::bytes))) {}
  byte_sender(byte_sender &&) noexcept = default;
  byte_sender &operator=(byte_sender &&) noexcept = default;
  ~byte_sender() = default;

 private:
  ys::status copy(const T &message, std::int64_t ns) noexcept {
    return ys::status::from(ys_send_for(this->raw(), std::addressof(message), ns));
  }

  ys::status give(T &message, std::int64_t ns) noexcept {
    if constexpr (wire::is_pointer) {
      void *address = as_pointer<T>::release(message);
      const ys::status answer = ys::status::from(ys_send_for(this->raw(), &address, ns));
      if (!answer) give_back_pointer(message, address);
      return answer;
    } else {
      return copy(message, ns);
    }
  }

  static void give_back_pointer(T &message, void *address) noexcept {
    T back = as_pointer<T>::adopt(address);
    detail::give_back(message, back);
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
    return std::optional<T>(std::in_place, at.message());
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

    T message() noexcept {
      if constexpr (wire::is_pointer) {
        void *address;
        std::memcpy(&address, bytes, sizeof(address));
        return as_pointer<T>::adopt(address);
      } else {
        return std::move(*std::launder(reinterpret_cast<T *>(bytes)));
      }
    }
  };

  received<T> take(std::int64_t ns) noexcept {
    space at;
    const int answer = ys_recv_for(this->raw(), &at, ns);
    if (answer != YS_OK) return received<T>(ys::status::from(answer));
    return received<T>(std::in_place, at.message());
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
