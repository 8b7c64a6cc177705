/** @file ysuite/receiver.hpp
 *  The receiver of spsc and mpsc channels: messages are moved out of their slots, or used there.
 */
#ifndef YSUITE_RECEIVER_HPP
#define YSUITE_RECEIVER_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "end.hpp"
#include "inline.h"
#include "message.hpp"
#include "received.hpp"
#include "run.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {

/** Iterates over the messages of a receiver, until the senders are gone. Each is received, and waited for, when the loop asks for it or
 *  whether there is one, not before: `rx | std::views::take(5)` receives five. It is moved out of the iterator. */
template <class End>
class message_iterator {
  /* The copy of a broadcast's message may throw. */
  static constexpr bool asks_nothrow = noexcept(std::declval<End &>().recv());

 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = typename End::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = value_type *;
  using reference = value_type &&;

  /** The end of a loop. */
  struct sentinel {};

  explicit message_iterator(End *from) noexcept : from_(from) {}
  reference operator*() const noexcept(asks_nothrow) { return std::move(*asked()); }
  pointer operator->() const noexcept(asks_nothrow) { return std::addressof(*asked()); }
  message_iterator &operator++() noexcept(asks_nothrow) {
    asked().reset();
    is_asked_ = false;
    return *this;
  }
  void operator++(int) noexcept(asks_nothrow) { ++*this; }
  friend bool operator==(const message_iterator &a, sentinel) noexcept(asks_nothrow) { return !a.asked().has_value(); }
  friend bool operator!=(const message_iterator &a, sentinel) noexcept(asks_nothrow) { return a.asked().has_value(); }
  friend bool operator==(sentinel, const message_iterator &a) noexcept(asks_nothrow) { return !a.asked().has_value(); }
  friend bool operator!=(sentinel, const message_iterator &a) noexcept(asks_nothrow) { return a.asked().has_value(); }

 private:
  /* The message that is this one's turn; none: it is over. */
  std::optional<value_type> &asked() const noexcept(asks_nothrow) {
    if (!is_asked_) {
      is_asked_ = true;
      if (std::optional<value_type> next = from_->recv()) now_.emplace(std::move(*next));
    }
    return now_;
  }

  End *from_;
  /* Standard views ask through const iterators. */
  mutable std::optional<value_type> now_;
  mutable bool is_asked_ = false;
};

/** The receiver of an spsc or mpsc channel. One thread at a time; moves between threads. Its destruction closes it:
 *  what is left is destroyed, once, here or with the last handle.
 *
 *  While a message is moved or destroyed, its code must not use this handle. Nothing here throws. */
template <class T>
class receiver : public detail::receiving_end {
  using place = detail::in_place<T>;

 public:
  using value_type = T;

  /** Takes over a handle of C, of an spsc or mpsc channel that was opened for messages of this size and alignment. Of
   *  others: throws std::system_error, and the handle stays the caller's; without exceptions, and in the checked build,
   *  ends the process. */
  explicit receiver(ys_rx *handle) : receiving_end(detail::expected(handle, place::size, place::align)) {}

  /** The next message. Waits for it. Empty: nothing is left, and the senders are gone. */
  YS_INLINE_MEMBER_ std::optional<T> recv() noexcept {
#if YS_HAS_INLINE
    unsigned char *slot;
    if (YS_LIKELY(find(slot))) {
      if constexpr (place::is_bytes) {
        /* Bytes become the result last: a result that exists before the slot is given back goes through memory in
           pieces, and a reader waits for them. */
        T message(std::move(*place::at(static_cast<void *>(slot))));
        taken(slot);
        return message;
      } else {
        std::optional<T> message(std::in_place, std::move(*place::at(static_cast<void *>(slot))));
        taken(slot);
        return message;
      }
    }
#endif
    void *const there = wait_by_call();
    if (there == nullptr) return std::nullopt;
    T message(std::move(*place::at(there)));
    place::at(there)->~T();
    return message;
  }

  /** The next message, if there is one: otherwise status::empty or status::closed. Never blocks. */
  YS_INLINE_MEMBER_ received<T> try_recv() noexcept { return take(detail::no_time); }
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
        [](const received<T> &answer) { return answer.status() == status::timeout; });
  }

#ifdef YS_HAS_STOP_TOKEN
  /** The next message. Waits for it until a stop is requested: otherwise status::stopped, status::closed. */
  received<T> recv(const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [this](std::int64_t ns) { return take(ns); });
  }
#endif

  /** Moves the next message into `message`, from its slot. Waits for it: status::closed if none will come. The fastest
   *  of all forms: a std::optional must be made and checked as well. */
  YS_INLINE_MEMBER_ ys::status recv(T &message) noexcept { return take_into(message, detail::for_ever); }
  /** The same, if there is one: otherwise status::empty or status::closed. Never blocks. */
  YS_INLINE_MEMBER_ ys::status try_recv(T &message) noexcept { return take_into(message, detail::no_time); }
  /** The same. Waits for it at most so long: otherwise status::timeout, status::closed, or status::empty if there was no time. */
  template <class Rep, class Period>
  ys::status recv_for(T &message, std::chrono::duration<Rep, Period> time) noexcept {
    return take_into(message, detail::nanoseconds(time));
  }

  /** Waits until there is a message, without taking it: status::closed if none will come. */
  ys::status wait() noexcept { return status::from(ys_wait(raw(), detail::for_ever)); }
  /** The same, at most so long: status::timeout, or status::empty if there was no time at all. */
  template <class Rep, class Period>
  ys::status wait(std::chrono::duration<Rep, Period> time) noexcept {
    return status::from(ys_wait(raw(), detail::nanoseconds(time)));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  ys::status wait(const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [this](std::int64_t ns) { return ys::status::from(ys_wait(raw(), ns)); });
  }
#endif

  /** The messages that lie side by side now, to be used in place; see run. Never blocks. */
  run<T> try_run() noexcept {
    void *first = nullptr;
    const std::ptrdiff_t answer = ys_peek(raw(), &first);
    return run<T>(raw(), answer, first);
  }
  /** All runs that come: `for (auto &run : rx.runs()) for (auto &message : run)`. Waits for each; stops with the
   *  senders. */
  run_range<T> runs() noexcept { return run_range<T>(raw()); }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested while there is none: run_range::status() says so. */
  run_range<T, detail::waits_for_stop> runs(std::stop_token token) noexcept {
    return run_range<T, detail::waits_for_stop>(raw(), {std::move(token)});
  }
#endif

  /** All messages that come: `for (auto message : rx)`, `rx | std::views::take(5)`. Waits for each; stops with the
   *  senders. With a stop token: `while (auto message = rx.recv(token))`, which says why it has ended. */
  message_iterator<receiver> begin() noexcept { return message_iterator<receiver>(this); }
  typename message_iterator<receiver>::sentinel end() noexcept { return {}; }

 private:
#if YS_HAS_INLINE
  YS_INLINE_MEMBER_ bool find(unsigned char *&slot) noexcept {
    ys_rx *const end = raw();
    if (!YS_LIKELY(end != nullptr)) return false;
    return ys_rx_slot_(static_cast<ys_rx_window *>(static_cast<void *>(end)), &slot, place::size, place::align) != 0;
  }

  /* The message there was moved out. */
  YS_INLINE_MEMBER_ void taken(unsigned char *slot) noexcept {
    place::at(static_cast<void *>(slot))->~T();
    ys_rx *const end = raw();
    ys_rx_taken_(end, static_cast<ys_rx_window *>(static_cast<void *>(end)), slot, place::size, place::align);
  }
#endif

  YS_INLINE_MEMBER_ ys::status take_into(T &message, std::int64_t ns) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "ysuite: what is received into another message is assigned by a move, which must not throw");
#if YS_HAS_INLINE
    unsigned char *slot;
    if (YS_LIKELY(find(slot))) {
      message = std::move(*place::at(static_cast<void *>(slot)));
      taken(slot);
      return status::ok;
    }
#endif
    void *there = nullptr;
    const int answer = ys_take(raw(), &there, ns);
    if (answer != YS_OK) return status::from(answer);
    message = std::move(*place::at(there));
    place::at(there)->~T();
    return status::ok;
  }

  YS_INLINE_MEMBER_ received<T> take(std::int64_t ns) noexcept {
#if YS_HAS_INLINE
    unsigned char *slot;
    if (YS_LIKELY(find(slot))) {
      received<T> message(std::in_place, std::move(*place::at(static_cast<void *>(slot))));
      taken(slot);
      return message;
    }
#endif
    return take_by_call(ns);
  }

  /* Where the next message is, to be moved out; null: none will come. No std::optional, which would come back in registers, and go from
     there into memory and out of it again, together with that of the window. */
  [[gnu::noinline]] void *wait_by_call() noexcept {
    void *slot = nullptr;
    return ys_take(raw(), &slot, detail::for_ever) == YS_OK ? slot : nullptr;
  }

  [[gnu::noinline]] received<T> take_by_call(std::int64_t ns) noexcept {
    void *slot = nullptr;
    const int answer = ys_take(raw(), &slot, ns);
    if (answer != YS_OK) return received<T>(status::from(answer));
    T *message = place::at(slot);
    received<T> out(std::in_place, std::move(*message));
    message->~T();
    return out;
  }
};

}  // namespace ys

#endif
