/** @file ysuite/broadcast.hpp
 *  The handles of broadcasts and watches, whose receivers get copies. A message that is more than bytes is built in a box that all
 *  receivers share.
 */
#ifndef YSUITE_BROADCAST_HPP
#define YSUITE_BROADCAST_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "exchange.hpp"
#include "message.hpp"
#include "receiver.hpp"

namespace ys {
namespace detail {

/* A message that is copied: by its bytes, or out of its box. */
template <class T>
struct copies {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "ysuite: a message is an object of a type without const, no reference and no array");
  static_assert(std::is_copy_constructible_v<T>, "ysuite: every receiver gets a copy: a message must have a copy constructor; send a std::shared_ptr instead");
  static constexpr bool is_pointer = false;
  static constexpr bool is_boxed = !is_bytes_v<T>;
  static constexpr bool drops = is_boxed;
  static constexpr bool arrives_nothrow = is_bytes_v<T> || std::is_nothrow_copy_constructible_v<T>;
  static_assert(!is_boxed || std::is_nothrow_destructible_v<T>, "ysuite: a message must have a destructor that does not throw");
  static_assert(!is_boxed || std::is_nothrow_move_constructible_v<T>, "ysuite: a message must have a move constructor that does not throw");

  struct box_type {
    std::atomic<std::size_t> owners{1};
    T message;

    template <class... Args>
    explicit box_type(std::in_place_t, Args &&...args) : message(std::forward<Args>(args)...) {}
  };
  using bytes = std::conditional_t<is_boxed, void *, T>;

  static T &inside(box_type &box) noexcept { return box.message; }

  /* Null: there is no memory. What its constructor throws passes. */
  template <class... Args>
  static box_type *box(Args &&...args) {
    return new (std::nothrow) box_type(std::in_place, std::forward<Args>(args)...);
  }

  static T arrived(void *bytes) noexcept(arrives_nothrow) {
    if constexpr (is_boxed) {
      const owner box(boxed(bytes));
      // The last one has it alone.
      if (box->owners.load(std::memory_order_acquire) == 1) return T(std::move(box->message));
      return T(std::as_const(box->message));
    } else {
      return std::move(*std::launder(static_cast<T *>(bytes)));
    }
  }

  static void clone(void *to, const void *from, void *) noexcept {
    boxed(from)->owners.fetch_add(1, std::memory_order_relaxed);
    std::memcpy(to, from, sizeof(void *));
  }
  static void drop(void *slot, void *) noexcept {
    if constexpr (is_boxed) const owner box(boxed(slot));
  }

 private:
  struct leaves {
    void operator()(box_type *box) const noexcept {
      if (box->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box;
    }
  };
  using owner = std::unique_ptr<box_type, leaves>;

  static box_type *boxed(const void *bytes) noexcept { return static_cast<box_type *>(by_bytes<void *>::address(bytes)); }
};

/* What the senders of both share. */
template <class Self, class T, class Receiver>
class copy_sender : public byte_sender<T, copies<T>> {
 public:
  /** Another sender. Throws std::bad_alloc or std::system_error. */
  [[nodiscard]] Self clone() { return made_or_raise<Self>(&::ys_tx_clone, this->raw(), "ys: clone"); }
  /** Another sender, if there can be one. */
  [[nodiscard]] std::optional<Self> try_clone() noexcept { return try_made<Self>(&::ys_tx_clone, this->raw()); }
  /** A receiver of what is sent from now on, also if there is none any more. Throws as clone() does. */
  [[nodiscard]] Receiver subscribe() { return made_or_raise<Receiver>(&::ys_tx_subscribe, this->raw(), "ys: subscribe"); }
  /** A sender for any number of threads. Throws as clone() does. */
  [[nodiscard]] shared_sender<T, copies<T>> share() {
    return made_or_raise<shared_sender<T, copies<T>>>(&::ys_tx_share, this->raw(), "ys: share");
  }

 protected:
  explicit copy_sender(ys_tx *handle) : byte_sender<T, copies<T>>(handle) {}
};

/* What the receivers of both share. */
template <class Self, class T>
class copy_receiver : public byte_receiver<T, copies<T>> {
 public:
  /** Another receiver, which is where this one is. Throws std::bad_alloc or std::system_error. */
  [[nodiscard]] Self clone() { return made_or_raise<Self>(&::ys_rx_clone, this->raw(), "ys: clone"); }
  /** Another receiver, if there can be one. */
  [[nodiscard]] std::optional<Self> try_clone() noexcept { return try_made<Self>(&::ys_rx_clone, this->raw()); }

  /** All that comes: `for (auto message : rx)`. Waits for each; stops with the senders. */
  message_iterator<byte_receiver<T, copies<T>>> begin() noexcept { return message_iterator<byte_receiver<T, copies<T>>>(this); }
  typename message_iterator<byte_receiver<T, copies<T>>>::sentinel end() noexcept { return {}; }

 protected:
  explicit copy_receiver(ys_rx *handle) : byte_receiver<T, copies<T>>(handle) {}
};

}  // namespace detail

/** A receiver of a broadcast: it gets every message. Those that it has lost are counted: try_recv(), recv_for() and recv_until() tell by
 *  status::lagged, once, and the next call goes on; recv() and loops go on by themselves. */
template <class T>
class broadcast_receiver : public detail::copy_receiver<broadcast_receiver<T>, T> {
 public:
  /** Takes over a handle of C, of a broadcast that was opened for messages of this type, by ys::broadcast. */
  explicit broadcast_receiver(ys_rx *handle) : detail::copy_receiver<broadcast_receiver, T>(handle) {}

  /** How many messages it has lost in all. */
  std::size_t missed() const noexcept { return detail::count_of(ys_rx_missed(this->raw())); }
};

/** A sender of a broadcast. */
template <class T>
class broadcast_sender : public detail::copy_sender<broadcast_sender<T>, T, broadcast_receiver<T>> {
 public:
  /** Takes over a handle of C, likewise. */
  explicit broadcast_sender(ys_tx *handle) : detail::copy_sender<broadcast_sender, T, broadcast_receiver<T>>(handle) {}
};

/** A receiver of a watch: recv() and its like wait for a value that it has not seen, and get the newest. */
template <class T>
class watch_receiver : public detail::copy_receiver<watch_receiver<T>, T> {
 public:
  /** Takes over a handle of C, of a watch that was opened for values of this type, by ys::watch. */
  explicit watch_receiver(ys_rx *handle) : detail::copy_receiver<watch_receiver, T>(handle) {}

  /** The newest value, seen or not, which does not count as seen. Empty: the handle was closed or moved from. */
  std::optional<T> get() noexcept(detail::copies<T>::arrives_nothrow) {
    using carried = detail::copies<T>;
    alignas(typename carried::bytes) unsigned char bytes[sizeof(typename carried::bytes)];
    if (ys_watch_get(this->raw(), bytes) != YS_OK) return std::nullopt;
    return std::optional<T>(std::in_place, carried::arrived(bytes));
  }
};

/** A sender of a watch: each send replaces the value, without waiting. */
template <class T>
class watch_sender : public detail::copy_sender<watch_sender<T>, T, watch_receiver<T>> {
 public:
  /** Takes over a handle of C, likewise. */
  explicit watch_sender(ys_tx *handle) : detail::copy_sender<watch_sender, T, watch_receiver<T>>(handle) {}
};

}  // namespace ys

#endif
