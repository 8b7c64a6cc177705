/** @file ysuite/open.hpp
 *  Channels are opened: ys::pipe, ys::funnel, ys::exchange, ys::oneshot.
 */
#ifndef YSUITE_OPEN_HPP
#define YSUITE_OPEN_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "broadcast.hpp"
#include "exchange.hpp"
#include "inline.h"
#include "message.hpp"
#include "receiver.hpp"
#include "sender.hpp"
#include "status.hpp"

namespace ys {

/** Both handles of a new channel: `auto [tx, rx] = ys::pipe<T>(1024);` */
template <class Tx, class Rx>
struct channel {
  Tx tx; /**< sends */
  Rx rx; /**< receives */
};

template <class T>
using pipe_channel = channel<sender<T>, receiver<T>>;
template <class T>
using funnel_channel = channel<funnel_sender<T>, receiver<T>>;
template <class T>
using exchange_channel = channel<exchange_sender<T>, exchange_receiver<T>>;
template <class T>
using oneshot_channel = channel<oneshot_sender<T>, oneshot_receiver<T>>;
template <class T>
using broadcast_channel = channel<broadcast_sender<T>, broadcast_receiver<T>>;
template <class T>
using watch_channel = channel<watch_sender<T>, watch_receiver<T>>;

namespace detail {

/* Messages that are never received, on any thread. */
template <class Carried>
void dropped(void *slot, void *context) noexcept {
#ifdef YS_ANNOTATED
  ys_annotated_call_(&Carried::drop, slot, context);
#else
  Carried::drop(slot, context);
#endif
}

/* Messages of which every receiver gets a copy. */
template <class Carried>
void duplicated(void *to, const void *from, void *) noexcept {
#ifdef YS_ANNOTATED
  ys_annotated_copy_(&Carried::clone, to, from, nullptr);
#else
  Carried::clone(to, from, nullptr);
#endif
}

/* Options for what channels of T carry. */
template <class Carried, class Bytes>
ys_options options_of(std::size_t capacity, std::size_t senders) noexcept {
  ys_options options = YS_OPTIONS_INIT;
  options.size = sizeof(Bytes);
  options.align = alignof(Bytes);
  options.capacity = capacity;
  options.senders = senders;
  if constexpr (Carried::drops) options.drop = &dropped<Carried>;
  return options;
}
template <class T>
ys_options options_of_copies(std::size_t capacity) noexcept {
  ys_options options = options_of<copies<T>, typename copies<T>::bytes>(capacity, 0);
  if constexpr (copies<T>::is_boxed) options.clone = &duplicated<copies<T>>;
  return options;
}

template <class T>
struct built : in_place<T> {
  static constexpr bool drops = !std::is_trivially_destructible_v<T>;
};
using opening = int (*)(const ys_options *, ys_tx **, ys_rx **);

template <class Channel>
std::optional<Channel> try_open(opening open, const ys_options &options, int &code) noexcept {
  ys_tx *tx = nullptr;
  ys_rx *rx = nullptr;
  code = open(&options, &tx, &rx);
  if (code != YS_OK) return std::nullopt;
  using tx_end = decltype(Channel::tx);
  using rx_end = decltype(Channel::rx);
  return std::optional<Channel>(Channel{tx_end(tx), rx_end(rx)});
}

template <class Channel>
std::optional<Channel> try_open(opening open, const ys_options &options) noexcept {
  int code = YS_OK;
  return try_open<Channel>(open, options, code);
}

template <class Channel>
Channel open_or_raise(opening open, const ys_options &options, const char *what) {
  int code = YS_OK;
  std::optional<Channel> channel = try_open<Channel>(open, options, code);
  if (!channel) raise(code, what);
  return std::move(*channel);
}

/* A bound that is given is one: 0 would be none. What was less than 0 is refused by the library. */
inline void demand_bound(std::size_t capacity, const char *what) {
  if (capacity == 0) raise(YS_EINVAL, what);
}

}  // namespace detail

/** An spsc channel that holds at most `capacity` messages: one sender, one receiver. Throws std::bad_alloc, or
 *  std::system_error; without exceptions, ends the process. T: up to 128 bytes, aligned to 16 at most, a move
 *  constructor that does not throw. */
template <class T>
pipe_channel<T> pipe(std::size_t capacity) {
  detail::demand_bound(capacity, "ys::pipe");
  return detail::open_or_raise<pipe_channel<T>>(&::ys_pipe_open, detail::options_of<detail::built<T>, T>(capacity, 0), "ys::pipe");
}
/** An unbounded spsc channel: sends do not wait. */
template <class T>
pipe_channel<T> pipe() {
  return detail::open_or_raise<pipe_channel<T>>(&::ys_pipe_open, detail::options_of<detail::built<T>, T>(0, 0), "ys::pipe");
}
/** The same; empty where it cannot be opened. */
template <class T>
std::optional<pipe_channel<T>> try_pipe(std::size_t capacity) noexcept {
  if (capacity == 0) return std::nullopt;
  return detail::try_open<pipe_channel<T>>(&::ys_pipe_open, detail::options_of<detail::built<T>, T>(capacity, 0));
}
template <class T>
std::optional<pipe_channel<T>> try_pipe() noexcept {
  return detail::try_open<pipe_channel<T>>(&::ys_pipe_open, detail::options_of<detail::built<T>, T>(0, 0));
}

/** An mpsc channel: senders by clone(), each with a lane that holds at most `capacity` messages; one receiver.
 *  `senders`: the most at a time; 0 is no limit. Throws as pipe() does; T as there. */
template <class T>
funnel_channel<T> funnel(std::size_t capacity, std::size_t senders = 0) {
  detail::demand_bound(capacity, "ys::funnel");
  return detail::open_or_raise<funnel_channel<T>>(&::ys_funnel_open, detail::options_of<detail::built<T>, T>(capacity, senders),
                                                  "ys::funnel");
}
/** An unbounded mpsc channel. */
template <class T>
funnel_channel<T> funnel() {
  return detail::open_or_raise<funnel_channel<T>>(&::ys_funnel_open, detail::options_of<detail::built<T>, T>(0, 0), "ys::funnel");
}
/** The same; empty where it cannot be opened. */
template <class T>
std::optional<funnel_channel<T>> try_funnel(std::size_t capacity, std::size_t senders = 0) noexcept {
  if (capacity == 0) return std::nullopt;
  return detail::try_open<funnel_channel<T>>(&::ys_funnel_open, detail::options_of<detail::built<T>, T>(capacity, senders));
}
template <class T>
std::optional<funnel_channel<T>> try_funnel() noexcept {
  return detail::try_open<funnel_channel<T>>(&::ys_funnel_open, detail::options_of<detail::built<T>, T>(0, 0));
}

/** An mpmc channel that holds at most `capacity` messages: senders and receivers by clone(); one order over all. T:
 *  any type whose move constructor does not throw. What is trivially copyable and fits travels as its bytes, a std::unique_ptr with an
 *  empty deleter and what as_pointer knows as a pointer; any other message is built in a box, an allocation for each.
 *  Throws as pipe() does. */
template <class T>
exchange_channel<T> exchange(std::size_t capacity) {
  detail::demand_bound(capacity, "ys::exchange");
  using bytes = typename detail::by_bytes<T>::bytes;
  return detail::open_or_raise<exchange_channel<T>>(&::ys_exchange_open, detail::options_of<detail::by_bytes<T>, bytes>(capacity, 0),
                                                    "ys::exchange");
}
/** An unbounded mpmc channel. */
template <class T>
exchange_channel<T> exchange() {
  using bytes = typename detail::by_bytes<T>::bytes;
  return detail::open_or_raise<exchange_channel<T>>(&::ys_exchange_open, detail::options_of<detail::by_bytes<T>, bytes>(0, 0),
                                                    "ys::exchange");
}
/** The same; empty where it cannot be opened. */
template <class T>
std::optional<exchange_channel<T>> try_exchange(std::size_t capacity) noexcept {
  if (capacity == 0) return std::nullopt;
  using bytes = typename detail::by_bytes<T>::bytes;
  return detail::try_open<exchange_channel<T>>(&::ys_exchange_open, detail::options_of<detail::by_bytes<T>, bytes>(capacity, 0));
}
template <class T>
std::optional<exchange_channel<T>> try_exchange() noexcept {
  using bytes = typename detail::by_bytes<T>::bytes;
  return detail::try_open<exchange_channel<T>>(&::ys_exchange_open, detail::options_of<detail::by_bytes<T>, bytes>(0, 0));
}

/** A oneshot: one message, for one allocation. T as of exchange(). Throws as pipe() does. */
template <class T>
oneshot_channel<T> oneshot() {
  using bytes = typename detail::by_bytes<T>::bytes;
  return detail::open_or_raise<oneshot_channel<T>>(&::ys_oneshot_open, detail::options_of<detail::by_bytes<T>, bytes>(0, 0), "ys::oneshot");
}
/** The same; empty where it cannot be opened. */
template <class T>
std::optional<oneshot_channel<T>> try_oneshot() noexcept {
  using bytes = typename detail::by_bytes<T>::bytes;
  return detail::try_open<oneshot_channel<T>>(&::ys_oneshot_open, detail::options_of<detail::by_bytes<T>, bytes>(0, 0));
}

/** A broadcast: senders and receivers by clone() and subscribe(); every receiver gets every message, as a copy. Senders wait for the
 *  receiver that is farthest behind, at most `capacity` messages. T: what can be copied. What is not trivially copyable
 *  is built in a box that all receivers share; each copies it from there. Throws as pipe() does. */
template <class T>
broadcast_channel<T> broadcast(std::size_t capacity) {
  return detail::open_or_raise<broadcast_channel<T>>(&::ys_broadcast_open, detail::options_of_copies<T>(capacity), "ys::broadcast");
}
/** The same; empty where it cannot be opened. */
template <class T>
std::optional<broadcast_channel<T>> try_broadcast(std::size_t capacity) noexcept {
  return detail::try_open<broadcast_channel<T>>(&::ys_broadcast_open, detail::options_of_copies<T>(capacity));
}
/** A broadcast whose senders never wait: a receiver that is more than `capacity` behind loses the oldest messages. */
template <class T>
broadcast_channel<T> lossy_broadcast(std::size_t capacity) {
  return detail::open_or_raise<broadcast_channel<T>>(&::ys_broadcast_lossy_open, detail::options_of_copies<T>(capacity),
                                                     "ys::lossy_broadcast");
}
/** The same; empty where it cannot be opened. */
template <class T>
std::optional<broadcast_channel<T>> try_lossy_broadcast(std::size_t capacity) noexcept {
  return detail::try_open<broadcast_channel<T>>(&::ys_broadcast_lossy_open, detail::options_of_copies<T>(capacity));
}

/** A watch: one value, of which every receiver gets the newest, as a copy. T as of broadcast(). The first value counts as seen. Throws as
 *  pipe() does, and what the copy of a value throws passes. */
template <class T>
watch_channel<T> watch(T first) {
  using wire = detail::copies<T>;
  ys_tx *tx = nullptr;
  ys_rx *rx = nullptr;
  const ys_options options = detail::options_of_copies<T>(0);
  int code;
  if constexpr (wire::is_boxed) {
    void *box = wire::box(std::move(first));
    code = box == nullptr ? YS_ENOMEM : ys_watch_open(&options, &box, &tx, &rx);
    if (box != nullptr && code != YS_OK) wire::drop(&box, nullptr);
  } else {
    code = ys_watch_open(&options, std::addressof(first), &tx, &rx);
  }
  if (code != YS_OK) detail::raise(code, "ys::watch");
  return watch_channel<T>{watch_sender<T>(tx), watch_receiver<T>(rx)};
}

}  // namespace ys

#endif
