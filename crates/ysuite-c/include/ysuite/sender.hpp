/** @file ysuite/sender.hpp
 *  The senders of spsc and mpsc channels: messages are built in their slots.
 */
#ifndef YSUITE_SENDER_HPP
#define YSUITE_SENDER_HPP

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
#include "reservation.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {

/** The sender of an spsc channel, or of an mpsc channel if it is not cloned any more. One thread at a time; moves
 *  between threads. Its destruction closes it: what was sent is still received.
 *
 *  Messages are built where the receiver finds them. An exception of their constructors passes on, with the channel as
 *  it was. While a message is built, moved or destroyed, its code must not use this handle.
 *
 *  A send that is not status::ok has left an lvalue or rvalue that was passed with the caller: it was not moved from, or has been moved
 *  back. Nothing here throws by itself. */
template <class T>
class sender : public detail::sending_end {
  using place = detail::in_place<T>;
  template <class U>
  using if_copyable = std::enable_if_t<std::is_copy_constructible_v<U>>;

 public:
  using value_type = T;

  /** Takes over a handle of C, of an spsc or mpsc channel that was opened for messages of this size and alignment. Of
   *  others: throws std::system_error, and the handle stays the caller's; without exceptions, and in the checked build,
   *  ends the process. */
  explicit sender(ys_tx *handle) : sending_end(detail::expected(handle, place::size, place::align)) {}

  /** Sends, and waits for room if there is none: status::closed if there is no receiver. */
  YS_INLINE_MEMBER_ status send(T &&message) noexcept { return move_in(message, detail::for_ever); }
  template <class U = T, class = if_copyable<U>>
  YS_INLINE_MEMBER_ status send(const T &message) {
    return copy_in(message, detail::for_ever);
  }

  /** Sends, if there is room: status::full. Never blocks. */
  YS_INLINE_MEMBER_ status try_send(T &&message) noexcept { return move_in(message, detail::no_time); }
  template <class U = T, class = if_copyable<U>>
  YS_INLINE_MEMBER_ status try_send(const T &message) {
    return copy_in(message, detail::no_time);
  }

  /** Sends, and waits for room at most so long: status::timeout, or status::full if there was no time at all. */
  template <class Rep, class Period>
  status send_for(T &&message, std::chrono::duration<Rep, Period> time) noexcept {
    return move_in(message, detail::nanoseconds(time));
  }
  template <class Rep, class Period, class U = T, class = if_copyable<U>>
  status send_for(const T &message, std::chrono::duration<Rep, Period> time) {
    return copy_in(message, detail::nanoseconds(time));
  }

  /** Sends, and waits for room until a moment. */
  template <class Clock, class Duration>
  status send_until(T &&message, const std::chrono::time_point<Clock, Duration> &moment) {
    return until(moment, [&](std::int64_t ns) { return move_in(message, ns); });
  }
  template <class Clock, class Duration, class U = T, class = if_copyable<U>>
  status send_until(const T &message, const std::chrono::time_point<Clock, Duration> &moment) {
    return until(moment, [&](std::int64_t ns) { return copy_in(message, ns); });
  }

#ifdef YS_HAS_STOP_TOKEN
  /** Sends, and waits for room until a stop is requested: status::stopped, and the message is the caller's. */
  status send(T &&message, const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [&](std::int64_t ns) { return move_in(message, ns); });
  }
#endif

  /** Sends a message that is built in its slot from these arguments, once there is room. If there is no receiver, it is
   *  not built, or built and destroyed. */
  template <class... Args>
  YS_INLINE_MEMBER_ status emplace(Args &&...args) noexcept(place::template builds_nothrow<Args...>()) {
    return emplace_in(detail::for_ever, std::forward<Args>(args)...);
  }
  /** The same, if there is room: status::full, and the arguments are untouched. Never blocks. */
  template <class... Args>
  YS_INLINE_MEMBER_ status try_emplace(Args &&...args) noexcept(place::template builds_nothrow<Args...>()) {
    return emplace_in(detail::no_time, std::forward<Args>(args)...);
  }
  /** The same, waiting for room at most so long: status::timeout, and the arguments are untouched. */
  template <class Rep, class Period, class... Args>
  status emplace_for(std::chrono::duration<Rep, Period> time, Args &&...args) noexcept(place::template builds_nothrow<Args...>()) {
    return emplace_in(detail::nanoseconds(time), std::forward<Args>(args)...);
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, waiting for room until a stop is requested: status::stopped, and the arguments are untouched. */
  template <class... Args>
  status emplace_or_stop(const std::stop_token &token, Args &&...args) {
    return detail::until_stopped(raw(), token, [&](std::int64_t ns) { return emplace_in(ns, std::forward<Args>(args)...); });
  }
#endif

  /** Sends a run, in pieces that fit the room, and waits for more. Copies, or moves with std::make_move_iterator; then
   *  what was not sent is moved back if the iterators are multipass. If building one throws, those before it are sent.
   *  With single-pass iterators that are not those of a ys::run, each message is sent before the next one is read,
   *  which may block. An empty run only publishes what was hidden: status::ok, also if there is no receiver. */
  template <class It, class End>
  sent send_range(It first, End last) {
    return range_in(std::move(first), std::move(last), detail::for_ever);
  }
  /** Sends a container, a span or an array. */
  template <class Range>
  sent send_range(Range &&range) {
    return whole_range_in(range, detail::for_ever);
  }
  /** Sends as much of a run as there is room for now. Never blocks by itself; the step of an iterator that passes once
   *  may, and has taken the next element already where there is no room for it. Of a ys::run, run::done() with the
   *  count leaves that one in its channel. */
  template <class It, class End>
  sent try_send_range(It first, End last) {
    return range_in(std::move(first), std::move(last), detail::no_time);
  }
  template <class Range>
  sent try_send_range(Range &&range) {
    return whole_range_in(range, detail::no_time);
  }
  /** Sends a run, at most so long. */
  template <class It, class End, class Rep, class Period>
  sent send_range_for(It first, End last, std::chrono::duration<Rep, Period> time) {
    return range_in(std::move(first), std::move(last), detail::nanoseconds(time));
  }

#ifdef YS_HAS_STOP_TOKEN
  /** Sends a run, until a stop is requested: status::stopped. What there is room for is sent in any case. */
  template <class It, class End>
  sent send_range(It first, End last, const std::stop_token &token) {
    return range_in(std::move(first), std::move(last), token);
  }
  template <class Range>
  sent send_range(Range &&range, const std::stop_token &token) {
    return whole_range_in(range, token);
  }
#endif

  /** Free slots to build messages in; see reservation. Never blocks; wait_room() does. */
  reservation<T> reserve() noexcept {
    void *first = nullptr;
    const std::ptrdiff_t answer = ys_reserve(raw(), &first);
    return reservation<T>(raw(), answer, first);
  }
  /** Waits until there is room, without sending. */
  status wait_room() noexcept { return status::from(ys_wait_room(raw(), detail::for_ever)); }
  /** The same, at most so long: status::timeout, or status::full if there was no time at all. */
  template <class Rep, class Period>
  status wait_room(std::chrono::duration<Rep, Period> time) noexcept {
    return status::from(ys_wait_room(raw(), detail::nanoseconds(time)));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  status wait_room(const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [this](std::int64_t ns) { return status::from(ys_wait_room(raw(), ns)); });
  }
#endif

  /** Writes a message that is hidden until the next flush() or send. Waits for room, and flushes before it does. */
  template <class U = T>
  status write(const T &message) noexcept {
    static_assert(std::is_same_v<U, T> && place::is_bytes, "ysuite: what is hidden is written as bytes: a message must be trivially copyable; use reserve() instead");
    return status::from(ys_write(raw(), std::addressof(message)));
  }
  /** Shows what is hidden. status::closed: it has been dropped. */
  status flush() noexcept { return status::from(ys_flush(raw())); }

 private:
  /* A message that is being built. Where its constructor throws, a reservation of the same slot ends: what was in it is
     there no more. */
  struct attempt {
    ys_tx *end;
    void *slot;

    attempt(ys_tx *at, void *in) noexcept : end(at), slot(in) {}
    attempt(const attempt &) = delete;
    attempt &operator=(const attempt &) = delete;
    ~attempt() {
      if (slot != nullptr) (void)ys_tx_discard(end, slot);
    }
  };

  /* What follows is compiled into the caller: left to themselves, some compilers hand the functions below over in memory, which takes
     several times as long as all the rest.

     Builds a message in the next slot and sends it. `build(slot)` builds; if nobody will receive, `undo(message)` saves what it can
     before the message is destroyed. `call()` does it all where the window does not allow it. */
  template <class Build, class Undo, class Call>
  YS_INLINE_MEMBER_ status put(Build build, Undo undo, Call call) noexcept(noexcept(build(nullptr))) {
#if YS_HAS_INLINE
    ys_tx *const end = raw();
    if (YS_LIKELY(end != nullptr)) {
      auto *window = static_cast<ys_tx_window *>(static_cast<void *>(end));
      unsigned char *slot;
      if constexpr (noexcept(build(nullptr))) {
        if (!YS_LIKELY(ys_tx_slot_(window, &slot, &window->stop, place::size, place::align))) return call(build, undo);
        build(slot);
      } else {
        // A step that ends in an exception has not happened.
        unsigned char *stop = window->stop;
        if (!YS_LIKELY(ys_tx_slot_(window, &slot, &stop, place::size, place::align))) return call(build, undo);
        attempt here{end, slot};
        build(slot);
        here.slot = nullptr;
        window->stop = stop;
      }
      const int answer = ys_tx_publish_(end, window, slot, place::size, place::align);
      if (YS_LIKELY(answer == YS_OK)) return status::ok;
      if (answer == YS_CLOSED) take_back(slot, undo);
      return status::from(answer);
    }
#endif
    return call(build, undo);
  }

  template <class Build, class Undo>
  [[gnu::noinline]] status put_by_call(std::int64_t ns, Build &build, Undo &undo) noexcept(noexcept(build(nullptr))) {
    for (;;) {
      void *slot = nullptr;
      const std::ptrdiff_t room = ys_reserve(raw(), &slot);
      if (room > 0) {
        attempt here{raw(), slot};
        build(slot);
        here.slot = nullptr;
        const std::ptrdiff_t answer = ys_commit(raw(), 1);
        if (answer == 1) return status::ok;
        if (detail::is_given_back(answer)) take_back(slot, undo);
        return detail::why(answer, status::closed);
      }
      if (room != YS_FULL || ns == detail::no_time) return detail::why(room, status::full);
      // No other sender takes the room that this finds.
      const int answer = ys_wait_room(raw(), ns);
      if (answer != YS_OK) return status::from(answer);
    }
  }

  /* One call where the message may be copied by it. */
  template <class Build, class Undo>
  status call_with(const T &message, std::int64_t ns, Build &build, Undo &undo) noexcept(noexcept(build(nullptr))) {
    if constexpr (place::is_bytes) {
      return status::from(ys_send_for(raw(), std::addressof(message), ns));
    } else {
      return put_by_call(ns, build, undo);
    }
  }

  template <class Undo>
  static void take_back(void *slot, Undo &undo) noexcept {
    T *message = place::at(slot);
    undo(*message);
    message->~T();
  }

  YS_INLINE_MEMBER_ status move_in(T &message, std::int64_t ns) noexcept {
    return put([&message](void *slot) noexcept { place::move_in(slot, message); },
               [&message](T &back) noexcept { detail::give_back(message, back); },
               [this, &message, ns](auto &build, auto &undo) noexcept { return this->call_with(message, ns, build, undo); });
  }

  template <class U>
  YS_INLINE_MEMBER_ status copy_in(const U &message, std::int64_t ns) noexcept(std::is_nothrow_copy_constructible_v<U>) {
    return put([&message](void *slot) noexcept(std::is_nothrow_copy_constructible_v<T>) { place::copy_in(slot, message); },
               [](T &) noexcept {},
               [this, &message, ns](auto &build, auto &undo) { return this->call_with(message, ns, build, undo); });
  }

  template <class... Args>
  YS_INLINE_MEMBER_ status emplace_in(std::int64_t ns, Args &&...args) noexcept(place::template builds_nothrow<Args...>()) {
    return put(
        [&](void *slot) noexcept(place::template builds_nothrow<Args...>()) { place::build(slot, std::forward<Args>(args)...); },
        [](T &) noexcept {}, [this, ns](auto &build, auto &undo) { return this->put_by_call(ns, build, undo); });
  }

  template <class Clock, class Duration, class Attempt>
  static status until(const std::chrono::time_point<Clock, Duration> &moment, Attempt attempt) {
    return detail::until(moment, attempt, [](status answer) { return answer == status::timeout; });
  }

  /* Messages built in slots that are not sent yet. If the next one throws, they are. */
  struct building {
    ys_tx *end;
    unsigned char *first;
    std::size_t count = 0;
    bool is_done = false;

    building(ys_tx *to, void *at) noexcept : end(to), first(static_cast<unsigned char *>(at)) {}
    building(const building &) = delete;
    building &operator=(const building &) = delete;
    ~building() {
      if (is_done) return;
      if (count == 0) {
        (void)ys_tx_discard(end, first);
      } else {
        const std::ptrdiff_t answer = ys_commit(end, count);
        if (detail::is_given_back(answer)) destroy_from(detail::count_of(answer));
      }
    }
    template <class Message>
    void build(Message &&message) {
      place::build(first + count * place::stride, std::forward<Message>(message));
      ++count;
    }
    std::ptrdiff_t commit() noexcept {
      is_done = true;
      return ys_commit(end, count);
    }
    void destroy_from(std::size_t index) noexcept {
      for (; index < count; ++index) place::at(first, index)->~T();
    }
  };

  template <class It, class End>
  sent range_in(It first, End last, std::int64_t ns) {
    if constexpr (place::is_bytes && std::is_pointer_v<It> && std::is_same_v<It, End>) {
      if constexpr (std::is_same_v<std::remove_cv_t<std::remove_pointer_t<It>>, T>) {
        return bytes_in(first, static_cast<std::size_t>(last - first), ns);
      }
    }
    detail::limit limit(ns);
    return pieces_in(std::move(first), std::move(last), [&]() -> status {
      if (ns == detail::no_time) return status::full;
      const int answer = ys_wait_room(raw(), limit.left());
      return answer == YS_FULL ? status(status::timeout) : status::from(answer);
    });
  }

#ifdef YS_HAS_STOP_TOKEN
  template <class It, class End>
  sent range_in(It first, End last, const std::stop_token &token) {
    return pieces_in(std::move(first), std::move(last), [&] { return wait_room(token); });
  }
#endif

  /* Where there is no room, `wait()` says whether there is some now. */
  template <class It, class End, class Wait>
  sent pieces_in(It first, End last, Wait wait) {
    std::size_t total = 0;
    while (first != last) {
      void *at = nullptr;
      const std::ptrdiff_t room = ys_reserve(raw(), &at);
      if (room <= 0) {
        const status waited = room == YS_FULL ? wait() : detail::why(room, status::full);
        if (!waited) return {total, waited};
        continue;
      }
      building run(raw(), at);
      [[maybe_unused]] auto begin = beginning(first);
      if constexpr (detail::is_at_hand_v<It>) {
        for (; run.count < static_cast<std::size_t>(room) && first != last; ++first) run.build(*first);
      } else {
        // The step to the next one may take as long as making it takes.
        run.build(*first);
      }
      const std::ptrdiff_t answer = run.commit();
      const std::size_t done = detail::count_of(answer);
      total += done;
      if (done < run.count) {
        if (detail::is_given_back(answer)) {
          if constexpr (gives_back<It>()) {
            std::advance(begin, static_cast<std::ptrdiff_t>(done));
            for (std::size_t index = done; index < run.count; ++index, ++begin) {
              detail::give_back(*begin.base(), *place::at(run.first, index));
            }
          }
          run.destroy_from(done);
        }
        return {total, detail::why(answer, status::closed)};
      }
      if constexpr (!detail::is_at_hand_v<It>) ++first;
    }
    // As any send, it shows what is hidden, though it has none.
    if (total == 0) (void)flush();
    return {total, status::ok};
  }

  /* Where a run begins, if what is moved out of it may have to go back. */
  template <class It>
  static auto beginning([[maybe_unused]] const It &first) {
    if constexpr (gives_back<It>()) {
      return first;
    } else {
      return nullptr;
    }
  }

  /* Whether what was moved out of a run can be moved back into it. */
  template <class It>
  static constexpr bool gives_back() noexcept {
    if constexpr (detail::is_move_iterator<It>::value) {
      using base = typename detail::is_move_iterator<It>::base;
      return detail::is_forward_v<base> && std::is_same_v<decltype(*std::declval<base &>()), T &>;
    } else {
      return false;
    }
  }

  /* An array is copied by one call, or by several until the close of a channel is seen. */
  sent bytes_in(const T *first, std::size_t count, std::int64_t ns) noexcept {
    const std::ptrdiff_t answer = ys_send_batch(raw(), first, count, ns);
    const std::size_t done = detail::count_of(answer);
    if (done == count) return {done, status::ok};
    if (answer < 0) return {0, status::from(answer)};
    if (closed()) return {done, status::closed};
    if (ns == detail::for_ever) return {done, status::stopped};
    return {done, ns == detail::no_time ? status::full : status::timeout};
  }

  template <class Range, class Limit>
  sent whole_range_in(Range &range, const Limit &limit) {
    using std::begin;
    using std::end;
    if constexpr (has_data<Range>()) {
      return range_in(std::data(range), std::data(range) + std::size(range), limit);
    } else {
      return range_in(begin(range), end(range), limit);
    }
  }

  template <class Range>
  static constexpr bool has_data() noexcept {
    return has_data_of(static_cast<Range *>(nullptr));
  }
  template <class Range>
  static constexpr auto has_data_of(Range *range) noexcept -> decltype(std::data(*range), std::size(*range), true) {
    return std::is_same_v<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(*range))>>, T>;
  }
  static constexpr bool has_data_of(...) noexcept { return false; }
};

/** The sender of an mpsc channel: clone() makes another, with a lane of its own. Converts to a sender. */
template <class T>
class funnel_sender : public sender<T> {
 public:
  /** Takes over a handle of C, of an mpsc channel. */
  explicit funnel_sender(ys_tx *handle) : sender<T>(handle) {}

  /** Another sender. Throws std::bad_alloc, or std::system_error with status::too_many or status::closed. */
  [[nodiscard]] funnel_sender clone() {
    ys_tx *other = nullptr;
    const int answer = ys_tx_clone(this->raw(), &other);
    if (answer != YS_OK) detail::raise(answer, "ys::funnel_sender::clone");
    return funnel_sender(other);
  }
  /** Another sender, if there can be one. */
  [[nodiscard]] std::optional<funnel_sender> try_clone() noexcept {
    ys_tx *other = nullptr;
    if (ys_tx_clone(this->raw(), &other) != YS_OK) return std::nullopt;
    return funnel_sender(other);
  }
};

}  // namespace ys

#endif
