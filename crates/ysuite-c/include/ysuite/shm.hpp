/** @file ysuite/shm.hpp
 *  Channels between processes as classes, over ysuite/shm.h, which has the rules. Linux; the library must have been built with the
 *  feature `shm`. `#define YS_SHM` before ysuite.hpp includes this, or include it by itself.
 *
 *  @code{.cpp}
 *  // A process.
 *  ys::shm::listener listener("lines");
 *  ys::shm::receiver rx(listener.accept().value());    // waits until the other one is there
 *  while (ys::received<std::string> line = rx.recv()) use(*line);
 *
 *  // Another one.
 *  ys::shm::sender tx(ys::shm::connect("lines"), 65536);
 *  if (ys::status sent = tx.send("hello"); !sent) std::cerr << sent.text() << '\n';
 *  @endcode
 *
 *  A handle is moved, not copied, and closed when it is destroyed. Constructors, connect() and pipe() throw std::system_error;
 *  without exceptions they end the process. What is called try_ never does: it returns a ys::received, which knows why it is empty.
 */
#ifndef YSUITE_SHM_HPP
#define YSUITE_SHM_HPP

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "received.hpp"
#include "shm.h"
#include "status.hpp"
#include "time.hpp"

namespace ys {
namespace detail {

struct shm_frees {
  void operator()(ys_shm_listener *handle) const noexcept { ys_shm_listener_free(handle); }
  void operator()(ys_shm_tx *handle) const noexcept { ys_shm_tx_free(handle); }
  void operator()(ys_shm_rx *handle) const noexcept { ys_shm_rx_free(handle); }
  void operator()(ys_shm_funnel *handle) const noexcept { ys_shm_funnel_free(handle); }
  void operator()(ys_shm_broadcast *handle) const noexcept { ys_shm_broadcast_free(handle); }
  void operator()(ys_shm_broadcast_rx *handle) const noexcept { ys_shm_broadcast_rx_free(handle); }
  void operator()(ys_shm_watch *handle) const noexcept { ys_shm_watch_free(handle); }
  void operator()(ys_shm_watch_rx *handle) const noexcept { ys_shm_watch_rx_free(handle); }
};

template <class Handle>
using shm_owned = std::unique_ptr<Handle, shm_frees>;

/* What was opened, or an exception. */
template <class T>
T opened(received<T> &&made, const char *what) {
  if (!made) raise(made.status().why(), what);
  return std::move(*made);
}

}  // namespace detail

/** Channels between processes. */
namespace shm {

/** Why the last call of this thread was refused that has returned status::refused or one of those behind it, in full. Never null. */
inline const char *refusal() noexcept { return ys_shm_refusal(); }

/** How an end treats its peer, as ys_shm_options. */
struct options {
  std::string messages{};               /**< what the program calls its messages; both ends use the same */
  std::size_t largest_region = 0;       /**< the most memory that is accepted of a peer; 0: 64 MiB */
  bool careful = false;                 /**< the peer may be hostile */
  std::vector<std::uint32_t> users{};   /**< whose processes may connect or listen; empty: this process's user alone */
  std::size_t calls = 0;                /**< how many questions of a caller may be without an answer; 0: 64 */

  /** The same for C, as long as this stays as it is. */
  ys_shm_options raw() const noexcept {
    ys_shm_options given = YS_SHM_OPTIONS_INIT;
    given.messages = messages.c_str();
    given.largest_region = largest_region;
    given.careful = careful ? 1 : 0;
    given.users = users.empty() ? nullptr : users.data();
    given.user_count = users.size();
    given.calls = calls;
    return given;
  }
};

/** A connection of which no end was made yet: a descriptor, which is closed when this is destroyed. */
class socket {
 public:
  /** Takes over a descriptor: one that was inherited, for example. */
  explicit socket(int descriptor) noexcept : descriptor_(descriptor) {}
  socket(socket &&other) noexcept : descriptor_(other.release()) {}
  socket &operator=(socket &&other) noexcept {
    // First, as it may be this one.
    const int next = other.release();
    close();
    descriptor_ = next;
    return *this;
  }
  ~socket() { close(); }

  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /** The descriptor, which stays this one's. To be inherited, FD_CLOEXEC must be cleared in the child. */
  int fd() const noexcept { return descriptor_; }
  /** Gives the descriptor away. */
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, static_cast<int>(YS_EINVAL)); }

 private:
  void close() noexcept {
    if (descriptor_ >= 0) (void)::close(descriptor_);
  }

  int descriptor_;
};

/** Connects to who listens at a name, as ys_shm_connect(). Empty for the reason that it has. */
inline received<socket> try_connect(const std::string &name, const options &how = {}) noexcept {
  const ys_shm_options given = how.raw();
  const int answer = ys_shm_connect(name.c_str(), &given);
  if (answer < 0) return status::from(answer);
  return {std::in_place, socket(answer)};
}
/** The same. Throws. */
inline socket connect(const std::string &name, const options &how = {}) {
  return detail::opened(shm::try_connect(name, how), "ys::shm::connect");
}

/** Listens at a name. One thread at a time. */
class listener {
 public:
  /** Listens, as ys_shm_listener_open(). Throws. */
  explicit listener(const std::string &name, const options &how = {})
      : listener(detail::opened(try_open(name, how), "ys::shm::listener")) {}
  /** The same; empty for the reason that it has. */
  static received<listener> try_open(const std::string &name, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_listener *handle = nullptr;
    const int code = ys_shm_listener_open(name.c_str(), &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, listener(handle)};
  }
  /** Takes over a listener of C. */
  explicit listener(ys_shm_listener *handle) noexcept : handle_(handle) {}

  /** The next one that has connected. Waits for it. */
  received<socket> accept() noexcept { return accept_ns(detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<socket> try_accept() noexcept { return accept_ns(detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<socket> accept_for(std::chrono::duration<Rep, Period> time) noexcept {
    return accept_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<socket> accept_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return accept_ns(ns); },
        [](const received<socket> &answer) { return answer.status() == status::timeout; });
  }

  /** A descriptor that is readable when somebody has connected. Negative: none. */
  int fd() const noexcept { return ys_shm_listener_fd(raw()); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_listener *raw() const noexcept { return handle_.get(); }

 private:
  received<socket> accept_ns(std::int64_t ns) noexcept {
    const int answer = ys_shm_accept(raw(), ns);
    if (answer < 0) return status::from(answer);
    return {std::in_place, socket(answer)};
  }

  detail::shm_owned<ys_shm_listener> handle_;
};

/** The sender of a pipe of bytes. One thread at a time. */
class sender {
 public:
  /** The sender over a connection, as ys_shm_tx_open(). Throws. */
  sender(socket over, std::size_t capacity, const options &how = {})
      : sender(detail::opened(try_open(std::move(over), capacity, how), "ys::shm::sender")) {}
  /** The same; empty for the reason that it has. */
  static received<sender> try_open(socket over, std::size_t capacity, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_tx *handle = nullptr;
    const int code = ys_shm_tx_open(over.release(), capacity, &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, sender(handle)};
  }
  /** Takes over a sender of C. */
  explicit sender(ys_shm_tx *handle) noexcept : handle_(handle) {}

  /** Sends a message; waits while there is no room. */
  status send(std::string_view message) noexcept { return send_ns(message, detail::for_ever); }
  status send(const void *message, std::size_t length) noexcept { return send(bytes(message, length)); }
  /** The same, without waiting: status::full. */
  status try_send(std::string_view message) noexcept { return send_ns(message, detail::no_time); }
  status try_send(const void *message, std::size_t length) noexcept { return try_send(bytes(message, length)); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  status send_for(std::string_view message, std::chrono::duration<Rep, Period> time) noexcept {
    return send_ns(message, detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  status send_until(std::string_view message, const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [&](std::int64_t ns) { return send_ns(message, ns); },
        [](status answer) { return answer == status::timeout; });
  }

  /** The most bytes that a message may have. */
  std::size_t largest() const noexcept { return ys_shm_tx_largest(raw()); }
  /** Whether nothing sent now would be received. True of a moved-from handle. One system call. */
  bool closed() const noexcept { return ys_shm_tx_is_closed(raw()) != 0; }
  /** For an event loop, before it sleeps: fd() becomes readable when there is room for this length. False: there is something to be
   *  done now. */
  bool arm(std::size_t length) noexcept { return ys_shm_tx_arm(raw(), length) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_tx_fd(raw()); }
  /** The connection of an end that was not used, for another process. status::invalid: it was used. */
  received<socket> into_socket() noexcept {
    const int answer = ys_shm_tx_into_fd(raw());
    if (answer < 0) return status::from(answer);
    return {std::in_place, socket(answer)};
  }
  /** Closes: what was sent is still received. Destruction does the same. False: it was closed before. */
  bool close() noexcept { return ys_shm_tx_close(raw()) == YS_OK; }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_tx *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_tx_free(). */
  [[nodiscard]] ys_shm_tx *release() noexcept { return handle_.release(); }

 private:
  static std::string_view bytes(const void *message, std::size_t length) noexcept {
    return {static_cast<const char *>(message), length};
  }
  status send_ns(std::string_view message, std::int64_t ns) noexcept {
    return status::from(ys_shm_send_for(raw(), message.data(), message.size(), ns));
  }

  detail::shm_owned<ys_shm_tx> handle_;
};

/** The receiver of a pipe of bytes. One thread at a time. */
class receiver {
 public:
  /** The receiver over a connection, as ys_shm_rx_open(). Throws. */
  explicit receiver(socket over, const options &how = {})
      : receiver(detail::opened(try_open(std::move(over), how), "ys::shm::receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_rx *handle = nullptr;
    const int code = ys_shm_rx_open(over.release(), &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, receiver(handle)};
  }
  /** Takes over a receiver of C. */
  explicit receiver(ys_shm_rx *handle) noexcept : handle_(handle) {}

  /** Receives a message; waits while there is none. What allocating throws passes, and the message stays. */
  received<std::string> recv() { return recv_ns(detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<std::string> try_recv() { return recv_ns(detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<std::string> recv_for(std::chrono::duration<Rep, Period> time) {
    return recv_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<std::string> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return recv_ns(ns); },
        [](const received<std::string> &answer) { return answer.status() == status::timeout; });
  }
  /** Receives into a string that is there already, or a vector of bytes: it gets the length of the message, and its memory is used
   *  again. Without a message it keeps what it had. Waits while there is none. */
  template <class Bytes>
  status recv(Bytes &to) {
    return into(to, detail::for_ever);
  }
  /** The same, without waiting: status::empty. */
  template <class Bytes>
  status try_recv(Bytes &to) {
    return into(to, detail::no_time);
  }
  /** Receives into a buffer of this room, at most so many nanoseconds, as ys_shm_recv_for(). status::too_long: the message stays, and
   *  `length` is what it needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_recv_for(raw(), to, room, &length, ns));
  }

  /** For an event loop, before it sleeps: fd() becomes readable when there is a message. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_rx_arm(raw()) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_rx_fd(raw()); }
  /** The connection of an end that was not used, for another process. status::invalid: it was used. */
  received<socket> into_socket() noexcept {
    const int answer = ys_shm_rx_into_fd(raw());
    if (answer < 0) return status::from(answer);
    return {std::in_place, socket(answer)};
  }
  /** Closes: nothing more is received, and the sender is told. Destruction does the same. False: it was closed before. */
  bool close() noexcept { return ys_shm_rx_close(raw()) == YS_OK; }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_rx *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_rx_free(). */
  [[nodiscard]] ys_shm_rx *release() noexcept { return handle_.release(); }

 private:
  received<std::string> recv_ns(std::int64_t ns) {
    std::string message;
    const status answer = into(message, ns);
    if (!answer) return answer;
    return {std::in_place, std::move(message)};
  }

  template <class Bytes>
  status into(Bytes &to, std::int64_t ns) {
    static_assert(sizeof(*to.data()) == 1, "ys: a message between processes is bytes");
    std::size_t length = 0;
    // None that fits is longer than what is there; a longer one says how long it is, and stays.
    status answer = recv_into(to.data(), to.size(), length, ns);
    if (answer == status::too_long) {
      const std::size_t before = to.size();
      to.resize(length);
      answer = recv_into(to.data(), to.size(), length, ns);
      if (!answer) length = before;
    } else if (!answer) {
      return answer;
    }
    to.resize(length);
    return answer;
  }

  detail::shm_owned<ys_shm_rx> handle_;
};

/** Both ends of a pipe. */
struct pipe_channel {
  sender tx;
  receiver rx;
};

/** Opens a pipe of bytes, as ys_shm_pipe_open(). Empty for the reason that it has. */
inline received<pipe_channel> try_pipe(std::size_t capacity, const options &how = {}) noexcept {
  const ys_shm_options given = how.raw();
  ys_shm_tx *tx = nullptr;
  ys_shm_rx *rx = nullptr;
  const int code = ys_shm_pipe_open(capacity, &given, &tx, &rx);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, pipe_channel{sender(tx), receiver(rx)}};
}
/** The same. Throws. */
inline pipe_channel pipe(std::size_t capacity, const options &how = {}) {
  return detail::opened(shm::try_pipe(capacity, how), "ys::shm::pipe");
}

/** A message of a funnel. */
struct message {
  std::uint64_t sender; /**< the number of its sender */
  std::string bytes;
};

/** A sender of a funnel that has ended. */
struct ended {
  std::uint64_t sender; /**< its number */
  status why;           /**< status::closed, status::died, status::broken, or why it was refused */
};

/** A place for one more sender of a funnel. */
struct seat {
  std::uint64_t sender; /**< the number of that sender */
  socket over;          /**< for the sender, in a child that inherits it */
};

/** The receiver of many senders, each of which is a ys::shm::sender in a process of its own. One thread at a time. */
class funnel {
 public:
  /** A funnel that listens at a name, as ys_shm_funnel_open(). Throws. */
  explicit funnel(const std::string &name, const options &how = {})
      : funnel(detail::opened(try_open(name, how), "ys::shm::funnel")) {}
  /** The same; empty for the reason that it has. */
  static received<funnel> try_open(const std::string &name, const options &how = {}) noexcept { return open(name.c_str(), how); }
  /** A funnel without a name, for senders that inherit a seat. Throws. */
  static funnel without_name(const options &how = {}) {
    return detail::opened(open(nullptr, how), "ys::shm::funnel");
  }
  /** The same; empty for the reason that it has. */
  static received<funnel> try_without_name(const options &how = {}) noexcept { return open(nullptr, how); }
  /** Takes over a funnel of C. */
  explicit funnel(ys_shm_funnel *handle) noexcept : handle_(handle) {}

  /** A place for one more sender. */
  received<shm::seat> seat() noexcept {
    std::uint64_t sender = 0;
    const int answer = ys_shm_funnel_seat(raw(), &sender);
    if (answer < 0) return status::from(answer);
    return {std::in_place, shm::seat{sender, socket(answer)}};
  }

  /** Receives a message of any sender; waits while there is none. What allocating throws passes, and the message stays. */
  received<message> recv() { return recv_ns(detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<message> try_recv() { return recv_ns(detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<message> recv_for(std::chrono::duration<Rep, Period> time) {
    return recv_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<message> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return recv_ns(ns); },
        [](const received<message> &answer) { return answer.status() == status::timeout; });
  }
  /** Receives into a buffer of this room, at most so many nanoseconds, as ys_shm_funnel_recv_for(). status::too_long: the message
   *  stays, and `length` is what it needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::uint64_t &sender, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_funnel_recv_for(raw(), to, room, &length, &sender, ns));
  }

  /** The next sender that has ended, behind what it had sent. status::empty: none has. */
  received<ended> next_ended() noexcept {
    std::uint64_t sender = 0;
    int why = 0;
    const int code = ys_shm_funnel_next_ended(raw(), &sender, &why);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, ended{sender, status::from(why)}};
  }
  /** How many senders there are. */
  std::size_t senders() const noexcept {
    const std::ptrdiff_t answer = ys_shm_funnel_senders(raw());
    return answer > 0 ? static_cast<std::size_t>(answer) : 0;
  }

  /** For an event loop, before it sleeps, behind next_ended(): fd() becomes readable when there is a message, or a sender comes or
   *  goes. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_funnel_arm(raw()) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_funnel_fd(raw()); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_funnel *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_funnel_free(). */
  [[nodiscard]] ys_shm_funnel *release() noexcept { return handle_.release(); }

 private:
  static received<funnel> open(const char *name, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_funnel *handle = nullptr;
    const int code = ys_shm_funnel_open(name, &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, funnel(handle)};
  }

  received<message> recv_ns(std::int64_t ns) {
    message found{};
    std::size_t length = 0;
    status answer = recv_into(nullptr, 0, length, found.sender, ns);
    if (answer == status::too_long) {
      found.bytes.resize(length);
      answer = recv_into(found.bytes.data(), length, length, found.sender, ns);
    }
    if (!answer) return answer;
    return {std::in_place, std::move(found)};
  }

  detail::shm_owned<ys_shm_funnel> handle_;
};

/** The sender of a broadcast of bytes, whose receivers, each a ys::shm::broadcast_receiver, receive all messages that are sent while
 *  they are there. One thread at a time. */
class broadcast {
 public:
  /** Whether a receiver that is slow holds the sender up, or loses messages. */
  enum class kind { bounded, lossy };

  /** The sender, which listens at a name, as ys_shm_broadcast_open(). Throws. */
  broadcast(const std::string &name, std::size_t capacity, kind which = kind::bounded, const options &how = {})
      : broadcast(detail::opened(try_open(name, capacity, which, how), "ys::shm::broadcast")) {}
  /** The same; empty for the reason that it has. */
  static received<broadcast> try_open(const std::string &name, std::size_t capacity, kind which = kind::bounded,
                                      const options &how = {}) noexcept {
    return open(name.c_str(), capacity, which, how);
  }
  /** The sender without a name, for receivers that inherit a seat. Throws. */
  static broadcast without_name(std::size_t capacity, kind which = kind::bounded, const options &how = {}) {
    return detail::opened(open(nullptr, capacity, which, how), "ys::shm::broadcast");
  }
  /** Takes over a sender of C. */
  explicit broadcast(ys_shm_broadcast *handle) noexcept : handle_(handle) {}

  /** A place for one more receiver: a connection for a child to inherit. */
  received<socket> seat() noexcept {
    const int answer = ys_shm_broadcast_seat(raw());
    if (answer < 0) return status::from(answer);
    return {std::in_place, socket(answer)};
  }
  /** Accepts receivers that have come, and notices those that have gone. Sending does so now and then. */
  void serve() noexcept { (void)ys_shm_broadcast_serve(raw(), detail::no_time); }
  /** The same, for all of this time. */
  template <class Rep, class Period>
  void serve_for(std::chrono::duration<Rep, Period> time) noexcept {
    (void)ys_shm_broadcast_serve(raw(), detail::nanoseconds(time));
  }
  /** How many receivers have joined: what is sent now is for all of them. */
  std::size_t receivers() const noexcept {
    const std::ptrdiff_t answer = ys_shm_broadcast_receivers(raw());
    return answer > 0 ? static_cast<std::size_t>(answer) : 0;
  }

  /** Sends a message to all receivers; waits while one of them has no room, unless it is lossy. */
  status send(std::string_view message) noexcept { return send_ns(message, detail::for_ever); }
  /** The same, without waiting: status::full. */
  status try_send(std::string_view message) noexcept { return send_ns(message, detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  status send_for(std::string_view message, std::chrono::duration<Rep, Period> time) noexcept {
    return send_ns(message, detail::nanoseconds(time));
  }
  /** The most bytes that a message may have. */
  std::size_t largest() const noexcept { return ys_shm_broadcast_largest(raw()); }

  /** For an event loop, before it sleeps: fd() becomes readable when there may be room for this length, or a receiver comes or goes.
   *  False: there is something to be done now. */
  bool arm(std::size_t length) noexcept { return ys_shm_broadcast_arm(raw(), length) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_broadcast_fd(raw()); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_broadcast *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_broadcast_free(). */
  [[nodiscard]] ys_shm_broadcast *release() noexcept { return handle_.release(); }

 private:
  static received<broadcast> open(const char *name, std::size_t capacity, kind which, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_broadcast *handle = nullptr;
    const int code = ys_shm_broadcast_open(name, capacity, which == kind::lossy ? 1 : 0, &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, broadcast(handle)};
  }
  status send_ns(std::string_view message, std::int64_t ns) noexcept {
    return status::from(ys_shm_broadcast_send_for(raw(), message.data(), message.size(), ns));
  }

  detail::shm_owned<ys_shm_broadcast> handle_;
};

/** A receiver of a ys::shm::broadcast. One thread at a time. */
class broadcast_receiver {
 public:
  /** The receiver over a connection, as ys_shm_broadcast_rx_open(). Throws. */
  explicit broadcast_receiver(socket over, const options &how = {})
      : broadcast_receiver(detail::opened(try_open(std::move(over), how), "ys::shm::broadcast_receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<broadcast_receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_broadcast_rx *handle = nullptr;
    const int code = ys_shm_broadcast_rx_open(over.release(), &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, broadcast_receiver(handle)};
  }
  /** Takes over a receiver of C. */
  explicit broadcast_receiver(ys_shm_broadcast_rx *handle) noexcept : handle_(handle) {}

  /** Receives a message; waits while there is none. What allocating throws passes, and
   *  the message stays. status::lagged: messages of a lossy broadcast are lost, as many as
   *  lost() says, and the next call goes on. */
  received<std::string> recv() { return recv_ns(detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<std::string> try_recv() { return recv_ns(detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<std::string> recv_for(std::chrono::duration<Rep, Period> time) {
    return recv_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<std::string> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return recv_ns(ns); },
        [](const received<std::string> &answer) { return answer.status() == status::timeout; });
  }
  /** Receives into a buffer of this room, at most so many nanoseconds. status::too_long: the message stays, and `length` is what it
   *  needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_broadcast_recv_for(raw(), to, room, &length, &lost_, ns));
  }

  /** How many messages were lost, after status::lagged. */
  std::uint64_t lost() const noexcept { return lost_; }

  /** For an event loop, before it sleeps: fd() becomes readable when there is a message. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_broadcast_rx_arm(raw()) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_broadcast_rx_fd(raw()); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_broadcast_rx *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_broadcast_rx_free(). */
  [[nodiscard]] ys_shm_broadcast_rx *release() noexcept { return handle_.release(); }

 private:
  received<std::string> recv_ns(std::int64_t ns) {
    std::string found;
    std::size_t length = 0;
    status answer = recv_into(nullptr, 0, length, ns);
    // A value that was replaced meanwhile may be longer again.
    while (answer == status::too_long) {
      found.resize(length);
      answer = recv_into(found.data(), found.size(), length, ns);
    }
    if (!answer) return answer;
    found.resize(length);
    return {std::in_place, std::move(found)};
  }

  detail::shm_owned<ys_shm_broadcast_rx> handle_;
  std::uint64_t lost_ = 0;
};

/** The sender of a watch of bytes, whose receivers, each a ys::shm::watch_receiver, receive the newest value. One thread at a time. */
class watch {
 public:
  /** The sender, which listens at a name, and its first value; values have at most `largest` bytes. As ys_shm_watch_open(). Throws. */
  watch(const std::string &name, std::string_view value, std::size_t largest, const options &how = {})
      : watch(detail::opened(try_open(name, value, largest, how), "ys::shm::watch")) {}
  /** The same; empty for the reason that it has. */
  static received<watch> try_open(const std::string &name, std::string_view value, std::size_t largest, const options &how = {}) noexcept {
    return open(name.c_str(), value, largest, how);
  }
  /** The sender without a name, for receivers that inherit a seat. Throws. */
  static watch without_name(std::string_view value, std::size_t largest, const options &how = {}) {
    return detail::opened(open(nullptr, value, largest, how), "ys::shm::watch");
  }
  /** Takes over a sender of C. */
  explicit watch(ys_shm_watch *handle) noexcept : handle_(handle) {}

  /** A place for one more receiver: a connection for a child to inherit. */
  received<socket> seat() noexcept {
    const int answer = ys_shm_watch_seat(raw());
    if (answer < 0) return status::from(answer);
    return {std::in_place, socket(answer)};
  }
  /** Accepts receivers that have come, and notices those that have gone. Sending does so now and then. */
  void serve() noexcept { (void)ys_shm_watch_serve(raw(), detail::no_time); }
  /** The same, for all of this time. */
  template <class Rep, class Period>
  void serve_for(std::chrono::duration<Rep, Period> time) noexcept {
    (void)ys_shm_watch_serve(raw(), detail::nanoseconds(time));
  }
  /** How many receivers have joined: what is sent now is for all of them. */
  std::size_t receivers() const noexcept {
    const std::ptrdiff_t answer = ys_shm_watch_receivers(raw());
    return answer > 0 ? static_cast<std::size_t>(answer) : 0;
  }

  /** Replaces the value. Never waits. status::too_long: longer than `largest`. */
  status send(std::string_view value) noexcept { return status::from(ys_shm_watch_send(raw(), value.data(), value.size())); }

  /** For an event loop: serves; then fd() becomes readable when a receiver comes or goes. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_watch_arm(raw()) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_watch_fd(raw()); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_watch *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_watch_free(). */
  [[nodiscard]] ys_shm_watch *release() noexcept { return handle_.release(); }

 private:
  static received<watch> open(const char *name, std::string_view value, std::size_t largest, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_watch *handle = nullptr;
    const int code = ys_shm_watch_open(name, value.data(), value.size(), largest, &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, watch(handle)};
  }

  detail::shm_owned<ys_shm_watch> handle_;
};

/** A receiver of a ys::shm::watch: of the newest value, and of none that was replaced before. One thread at a time. */
class watch_receiver {
 public:
  /** The receiver over a connection, as ys_shm_watch_rx_open(). Throws. */
  explicit watch_receiver(socket over, const options &how = {})
      : watch_receiver(detail::opened(try_open(std::move(over), how), "ys::shm::watch_receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<watch_receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    ys_shm_watch_rx *handle = nullptr;
    const int code = ys_shm_watch_rx_open(over.release(), &given, &handle);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, watch_receiver(handle)};
  }
  /** Takes over a receiver of C. */
  explicit watch_receiver(ys_shm_watch_rx *handle) noexcept : handle_(handle) {}

  /** Receives the newest value; waits until there is one that it has not received. What allocating throws passes, and
   *  the value stays. */
  received<std::string> recv() { return recv_ns(detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<std::string> try_recv() { return recv_ns(detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<std::string> recv_for(std::chrono::duration<Rep, Period> time) {
    return recv_ns(detail::nanoseconds(time));
  }
  /** The same, until a moment. */
  template <class Clock, class Duration>
  received<std::string> recv_until(const std::chrono::time_point<Clock, Duration> &moment) {
    return detail::until(
        moment, [this](std::int64_t ns) { return recv_ns(ns); },
        [](const received<std::string> &answer) { return answer.status() == status::timeout; });
  }
  /** Receives into a buffer of this room, at most so many nanoseconds. status::too_long: the value stays, and `length` is what it
   *  needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_watch_recv_for(raw(), to, room, &length, ns));
  }

  /** For an event loop, before it sleeps: fd() becomes readable when there is a new value. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_watch_rx_arm(raw()) > 0; }
  /** The descriptor for that. Negative: none. */
  int fd() const noexcept { return ys_shm_watch_rx_fd(raw()); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_shm_watch_rx *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_shm_watch_rx_free(). */
  [[nodiscard]] ys_shm_watch_rx *release() noexcept { return handle_.release(); }

 private:
  received<std::string> recv_ns(std::int64_t ns) {
    std::string found;
    std::size_t length = 0;
    status answer = recv_into(nullptr, 0, length, ns);
    // A value that was replaced meanwhile may be longer again.
    while (answer == status::too_long) {
      found.resize(length);
      answer = recv_into(found.data(), found.size(), length, ns);
    }
    if (!answer) return answer;
    found.resize(length);
    return {std::in_place, std::move(found)};
  }

  detail::shm_owned<ys_shm_watch_rx> handle_;
};

}  // namespace shm
}  // namespace ys

#endif
