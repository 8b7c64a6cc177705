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
 *  As of C there are also funnels, broadcasts, watches, loans, callers and their questions, and work queues.
 *
 *  In C++20 whatever waits takes a std::stop_token. Whoever has a ys::stopper waits with a time and looks in between, or polls fd()
 *  together with a descriptor of the program's own.
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
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ends.hpp"
#include "received.hpp"
#include "shm.h"
#include "status.hpp"
#include "time.hpp"

namespace ys {
namespace shm {
class socket;
}  // namespace shm

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
  void operator()(ys_shm_loan *handle) const noexcept { ys_shm_loan_free(handle); }
  void operator()(ys_shm_loan_rx *handle) const noexcept { ys_shm_loan_rx_free(handle); }
  void operator()(ys_shm_borrowed *handle) const noexcept { ys_shm_borrowed_free(handle); }
  void operator()(ys_shm_caller *handle) const noexcept { ys_shm_caller_free(handle); }
  void operator()(ys_shm_questions *handle) const noexcept { ys_shm_questions_free(handle); }
  void operator()(ys_shm_question *handle) const noexcept { ys_shm_question_free(handle); }
  void operator()(ys_shm_work *handle) const noexcept { ys_shm_work_free(handle); }
  void operator()(ys_shm_work_rx *handle) const noexcept { ys_shm_work_rx_free(handle); }
};

inline std::size_t shm_count(std::ptrdiff_t answer) noexcept { return answer > 0 ? static_cast<std::size_t>(answer) : 0; }

/* What has a handle of C. */
template <class Handle>
using shm_handle = end_handle<Handle, shm_frees>;

/* An end of a channel, which has a descriptor. */
template <class Handle, int (*Fd)(Handle *)>
class shm_end : public shm_handle<Handle> {
 public:
  /** The descriptor for an event loop, after arming. Negative: none. */
  int fd() const noexcept { return Fd(this->raw()); }

 protected:
  using shm_handle<Handle>::shm_handle;
};

/* A message of `into(buffer, room, length)`, which says how long one is that does not fit, and keeps it. */
template <class Into>
received<std::string> shm_string(Into into) {
  std::string found;
  std::size_t length = 0;
  status answer = into(nullptr, std::size_t{0}, length);
  // A value that was replaced meanwhile may be longer again.
  while (answer == status::too_long) {
    found.resize(length);
    answer = into(&found[0], found.size(), length);
  }
  if (!answer) return answer;
  found.resize(length);
  return {std::in_place, std::move(found)};
}

/* The end of a channel whose peers come and go, each by a seat of its own. */
template <class Handle, int (*Fd)(Handle *), int (*Seat)(Handle *), int (*Serve)(Handle *, std::int64_t), int (*ArmToServe)(Handle *)>
class shm_home : public shm_end<Handle, Fd> {
 public:
  /** A place for one more peer: a connection for a child to inherit. */
  received<shm::socket> seat() noexcept;
  /** Accepts peers that have come, and notices those that have gone. Sending does so now and then. */
  void serve() noexcept { (void)Serve(this->raw(), detail::no_time); }
  /** The same, for all of this time. */
  template <class Rep, class Period>
  void serve_for(std::chrono::duration<Rep, Period> time) noexcept {
    (void)Serve(this->raw(), detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. Of a work queue also status::closed: no
   *  worker is there, and none can come. */
  status serve(const std::stop_token &token) {
    const auto attempt = [this] {
      const status served = status::from(Serve(this->raw(), detail::no_time));
      return served ? status(status::empty) : served;
    };
    return detail::attempt_until_stopped(this->fd(), token, attempt, [this] { return ArmToServe(this->raw()); });
  }
#endif

 protected:
  using shm_end<Handle, Fd>::shm_end;
};

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
  std::size_t attempts = 0;             /**< how many times a job is given out at most; 0: as long as workers come */

  /** The same for C, as long as this stays as it is. */
  ys_shm_options raw() const noexcept {
    ys_shm_options given = YS_SHM_OPTIONS_INIT;
    given.messages = messages.c_str();
    given.largest_region = largest_region;
    given.careful = careful ? 1 : 0;
    given.users = users.empty() ? nullptr : users.data();
    given.user_count = users.size();
    given.calls = calls;
    given.attempts = attempts;
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

}  // namespace shm

namespace detail {

/* A descriptor of C, or why there is none. */
inline received<shm::socket> shm_socket(int answer) noexcept {
  if (answer < 0) return status::from(answer);
  return {std::in_place, shm::socket(answer)};
}

template <class Handle, int (*Fd)(Handle *), int (*Seat)(Handle *), int (*Serve)(Handle *, std::int64_t), int (*ArmToServe)(Handle *)>
received<shm::socket> shm_home<Handle, Fd, Seat, Serve, ArmToServe>::seat() noexcept {
  return detail::shm_socket(Seat(this->raw()));
}

}  // namespace detail

namespace shm {

/** Connects to who listens at a name, as ys_shm_connect(). Empty for the reason that it has. */
inline received<socket> try_connect(const std::string &name, const options &how = {}) noexcept {
  const ys_shm_options given = how.raw();
  return detail::shm_socket(ys_shm_connect(name.c_str(), &given));
}
/** The same. Throws. */
inline socket connect(const std::string &name, const options &how = {}) {
  return detail::opened(shm::try_connect(name, how), "ys::shm::connect");
}

/** Listens at a name. One thread at a time. */
class listener : public detail::shm_end<ys_shm_listener, ys_shm_listener_fd> {
 public:
  /** Listens, as ys_shm_listener_open(). Throws. */
  explicit listener(const std::string &name, const options &how = {})
      : listener(detail::opened(try_open(name, how), "ys::shm::listener")) {}
  /** The same; empty for the reason that it has. */
  static received<listener> try_open(const std::string &name, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<listener, ys_shm_listener>(
        [&](ys_shm_listener **handle) { return ys_shm_listener_open(name.c_str(), &given, handle); });
  }
  /** Takes over a listener of C. */
  explicit listener(ys_shm_listener *handle) noexcept : shm_end(handle) {}

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
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  received<socket> accept(const std::stop_token &token) {
    return detail::attempt_until_stopped(fd(), token, [this] { return try_accept(); }, [] { return true; });
  }
#endif

 private:
  received<socket> accept_ns(std::int64_t ns) noexcept {
    return detail::shm_socket(ys_shm_accept(raw(), ns));
  }
};

/** The sender of a pipe of bytes. One thread at a time. */
class sender : public detail::shm_end<ys_shm_tx, ys_shm_tx_fd>,
               public detail::end_sends<sender> {
 public:
  /** The sender over a connection, as ys_shm_tx_open(). Throws. */
  sender(socket over, std::size_t capacity, const options &how = {})
      : sender(detail::opened(try_open(std::move(over), capacity, how), "ys::shm::sender")) {}
  /** The same; empty for the reason that it has. */
  static received<sender> try_open(socket over, std::size_t capacity, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<sender, ys_shm_tx>(
        [&](ys_shm_tx **handle) { return ys_shm_tx_open(over.release(), capacity, &given, handle); });
  }
  /** Takes over a sender of C. */
  explicit sender(ys_shm_tx *handle) noexcept : shm_end(handle) {}

  /** The most bytes that a message may have. */
  std::size_t largest() const noexcept { return ys_shm_tx_largest(raw()); }
  /** Whether nothing sent now would be received. True of a moved-from handle. One system call. */
  bool closed() const noexcept { return ys_shm_tx_is_closed(raw()) != 0; }
  /** For an event loop, before it sleeps: fd() becomes readable when there is room for this length. False: there is something to be
   *  done now. */
  bool arm(std::size_t length) noexcept { return ys_shm_tx_arm(raw(), length) > 0; }
  /** The connection of an end that was not used, for another process. status::invalid: it was used. */
  received<socket> into_socket() noexcept { return detail::shm_socket(ys_shm_tx_into_fd(raw())); }
  /** Closes: what was sent is still received. Destruction does the same. False: it was closed before. */
  bool close() noexcept { return ys_shm_tx_close(raw()) == YS_OK; }

 private:
  friend class detail::end_sends<sender>;
  status send_ns(std::string_view message, std::int64_t ns) noexcept {
    return status::from(ys_shm_send_for(raw(), message.data(), message.size(), ns));
  }
};

/** The receiver of a pipe of bytes. One thread at a time. */
class receiver : public detail::shm_end<ys_shm_rx, ys_shm_rx_fd>,
                 public detail::end_receives<receiver, std::string> {
 public:
  /** The receiver over a connection, as ys_shm_rx_open(). Throws. */
  explicit receiver(socket over, const options &how = {})
      : receiver(detail::opened(try_open(std::move(over), how), "ys::shm::receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<receiver, ys_shm_rx>(
        [&](ys_shm_rx **handle) { return ys_shm_rx_open(over.release(), &given, handle); });
  }
  /** Takes over a receiver of C. */
  explicit receiver(ys_shm_rx *handle) noexcept : shm_end(handle) {}

  using end_receives::recv;
  using end_receives::try_recv;
  /** Receives into a string that is there already, or a vector of bytes: it gets the length of the message, and its memory is used
   *  again. Without a message it keeps what it had. Waits while there is none. */
  template <class Bytes, class = decltype(std::declval<Bytes &>().data())>
  status recv(Bytes &to) {
    return into(to, detail::for_ever);
  }
  /** The same, without waiting: status::empty. */
  template <class Bytes>
  status try_recv(Bytes &to) {
    return into(to, detail::no_time);
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  template <class Bytes, class = decltype(std::declval<Bytes &>().data())>
  status recv(Bytes &to, const std::stop_token &token) {
    return recv_until_stopped(token, [&] { return try_recv(to); });
  }
#endif
  /** Receives into a buffer of this room, at most so many nanoseconds, as ys_shm_recv_for(). status::too_long: the message stays, and
   *  `length` is what it needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_recv_for(raw(), to, room, &length, ns));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  status recv_into(void *to, std::size_t room, std::size_t &length, const std::stop_token &token) {
    return recv_until_stopped(token, [&] { return recv_into(to, room, length, detail::no_time); });
  }
#endif

  /** For an event loop, before it sleeps: fd() becomes readable when there is a message. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_rx_arm(raw()) > 0; }
  /** The connection of an end that was not used, for another process. status::invalid: it was used. */
  received<socket> into_socket() noexcept { return detail::shm_socket(ys_shm_rx_into_fd(raw())); }
  /** Closes: nothing more is received, and the sender is told. Destruction does the same. False: it was closed before. */
  bool close() noexcept { return ys_shm_rx_close(raw()) == YS_OK; }

 private:
  friend class detail::end_receives<receiver, std::string>;
  received<std::string> recv_ns(std::int64_t ns) {
    return detail::shm_string([&](void *to, std::size_t room, std::size_t &length) { return recv_into(to, room, length, ns); });
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

/** A sender of a funnel, or a caller, that has ended. */
struct ended {
  std::uint64_t sender; /**< its number */
  status why;           /**< status::closed, status::died, status::broken, or why it was refused */
};

/** A place for one more sender of a funnel, or one more caller. */
struct seat {
  std::uint64_t sender; /**< the number of that one */
  socket over;          /**< for it, in a child that inherits it */
};

}  // namespace shm

namespace detail {

template <auto Seat, class Handle>
received<shm::seat> shm_seat(Handle *handle) noexcept {
  std::uint64_t number = 0;
  const int answer = Seat(handle, &number);
  if (answer < 0) return status::from(answer);
  return {std::in_place, shm::seat{number, shm::socket(answer)}};
}

template <auto NextEnded, class Handle>
received<shm::ended> shm_next_ended(Handle *handle) noexcept {
  std::uint64_t number = 0;
  int why = 0;
  const int code = NextEnded(handle, &number, &why);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, shm::ended{number, status::from(why)}};
}

}  // namespace detail

namespace shm {

/** The receiver of many senders, each of which is a ys::shm::sender in a process of its own. One thread at a time. Who connects by the name
 *  has a second to say hello, which a sender does when it is used first; after that it is sent away: status::refused_by_peer. One that has
 *  nothing to send yet asks closed(). */
class funnel : public detail::shm_end<ys_shm_funnel, ys_shm_funnel_fd>,
               public detail::end_receives<funnel, message> {
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
  explicit funnel(ys_shm_funnel *handle) noexcept : shm_end(handle) {}

  /** A place for one more sender. */
  received<shm::seat> seat() noexcept { return detail::shm_seat<ys_shm_funnel_seat>(raw()); }

  /** Receives into a buffer of this room, at most so many nanoseconds, as ys_shm_funnel_recv_for(). status::too_long: the message
   *  stays, and `length` is what it needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::uint64_t &sender, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_funnel_recv_for(raw(), to, room, &length, &sender, ns));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::uint64_t &sender, const std::stop_token &token) {
    return recv_until_stopped(token, [&] { return recv_into(to, room, length, sender, detail::no_time); });
  }
#endif

  /** The next sender that has ended, behind what it had sent. status::empty: none has. */
  received<ended> next_ended() noexcept { return detail::shm_next_ended<ys_shm_funnel_next_ended>(raw()); }
  /** How many senders there are. */
  std::size_t senders() const noexcept { return detail::shm_count(ys_shm_funnel_senders(raw())); }

  /** For an event loop, before it sleeps, behind next_ended(): fd() becomes readable when there is a message, or a sender comes or
   *  goes. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_funnel_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<funnel, message>;
  static received<funnel> open(const char *name, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<funnel, ys_shm_funnel>(
        [&](ys_shm_funnel **handle) { return ys_shm_funnel_open(name, &given, handle); });
  }

  received<message> recv_ns(std::int64_t ns) {
    std::uint64_t sender = 0;
    auto found = detail::shm_string(
        [&](void *to, std::size_t room, std::size_t &length) { return recv_into(to, room, length, sender, ns); });
    if (!found) return found.status();
    return {std::in_place, message{sender, std::move(*found)}};
  }
};

/** The sender of a broadcast of bytes, whose receivers, each a ys::shm::broadcast_receiver, receive all messages that are sent while
 *  they are there. One thread at a time. */
class broadcast : public detail::shm_home<ys_shm_broadcast, ys_shm_broadcast_fd, ys_shm_broadcast_seat, ys_shm_broadcast_serve,
                                          ys_shm_broadcast_arm_to_serve>,
                  public detail::end_sends<broadcast> {
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
  explicit broadcast(ys_shm_broadcast *handle) noexcept : shm_home(handle) {}

  /** How many receivers have joined: what is sent now is for all of them. */
  std::size_t receivers() const noexcept { return detail::shm_count(ys_shm_broadcast_receivers(raw())); }

  /** The most bytes that a message may have. */
  std::size_t largest() const noexcept { return ys_shm_broadcast_largest(raw()); }

  /** For an event loop, before it sleeps: fd() becomes readable when there may be room for this length, or a receiver comes or goes.
   *  False: there is something to be done now. */
  bool arm(std::size_t length) noexcept { return ys_shm_broadcast_arm(raw(), length) > 0; }

 private:
  friend class detail::end_sends<broadcast>;
  static received<broadcast> open(const char *name, std::size_t capacity, kind which, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<broadcast, ys_shm_broadcast>(
        [&](ys_shm_broadcast **handle) { return ys_shm_broadcast_open(name, capacity, which == kind::lossy ? 1 : 0, &given, handle); });
  }
  status send_ns(std::string_view message, std::int64_t ns) noexcept {
    return status::from(ys_shm_broadcast_send_for(raw(), message.data(), message.size(), ns));
  }
};

/** A receiver of a ys::shm::broadcast. One thread at a time. What receives is status::lagged where messages of a lossy broadcast are
 *  lost, as many as lost() says; the next call goes on. */
class broadcast_receiver : public detail::shm_end<ys_shm_broadcast_rx, ys_shm_broadcast_rx_fd>,
                           public detail::end_receives<broadcast_receiver, std::string> {
 public:
  /** The receiver over a connection, as ys_shm_broadcast_rx_open(). Throws. */
  explicit broadcast_receiver(socket over, const options &how = {})
      : broadcast_receiver(detail::opened(try_open(std::move(over), how), "ys::shm::broadcast_receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<broadcast_receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<broadcast_receiver, ys_shm_broadcast_rx>(
        [&](ys_shm_broadcast_rx **handle) { return ys_shm_broadcast_rx_open(over.release(), &given, handle); });
  }
  /** Takes over a receiver of C. */
  explicit broadcast_receiver(ys_shm_broadcast_rx *handle) noexcept : shm_end(handle) {}

  /** Receives into a buffer of this room, at most so many nanoseconds. status::too_long: the message stays, and `length` is what it
   *  needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_broadcast_recv_for(raw(), to, room, &length, &lost_, ns));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  status recv_into(void *to, std::size_t room, std::size_t &length, const std::stop_token &token) {
    return recv_until_stopped(token, [&] { return recv_into(to, room, length, detail::no_time); });
  }
#endif

  /** How many messages were lost, after status::lagged. */
  std::uint64_t lost() const noexcept { return lost_; }

  /** For an event loop, before it sleeps: fd() becomes readable when there is a message. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_broadcast_rx_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<broadcast_receiver, std::string>;
  received<std::string> recv_ns(std::int64_t ns) {
    return detail::shm_string([&](void *to, std::size_t room, std::size_t &length) { return recv_into(to, room, length, ns); });
  }

  std::uint64_t lost_ = 0;
};

/** The sender of a watch of bytes, whose receivers, each a ys::shm::watch_receiver, receive the newest value. One thread at a time. */
class watch
    : public detail::shm_home<ys_shm_watch, ys_shm_watch_fd, ys_shm_watch_seat, ys_shm_watch_serve, ys_shm_watch_arm> {
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
  explicit watch(ys_shm_watch *handle) noexcept : shm_home(handle) {}

  /** How many receivers have joined: what is sent now is for all of them. */
  std::size_t receivers() const noexcept { return detail::shm_count(ys_shm_watch_receivers(raw())); }

  /** Replaces the value. Never waits. status::too_long: longer than `largest`. */
  status send(std::string_view value) noexcept { return status::from(ys_shm_watch_send(raw(), value.data(), value.size())); }

  /** For an event loop: serves; then fd() becomes readable when a receiver comes or goes. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_watch_arm(raw()) > 0; }

 private:
  static received<watch> open(const char *name, std::string_view value, std::size_t largest, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<watch, ys_shm_watch>(
        [&](ys_shm_watch **handle) { return ys_shm_watch_open(name, value.data(), value.size(), largest, &given, handle); });
  }
};

/** A receiver of a ys::shm::watch: of the newest value, and of none that was replaced before. One thread at a time. */
class watch_receiver : public detail::shm_end<ys_shm_watch_rx, ys_shm_watch_rx_fd>,
                       public detail::end_receives<watch_receiver, std::string> {
 public:
  /** The receiver over a connection, as ys_shm_watch_rx_open(). Throws. */
  explicit watch_receiver(socket over, const options &how = {})
      : watch_receiver(detail::opened(try_open(std::move(over), how), "ys::shm::watch_receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<watch_receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<watch_receiver, ys_shm_watch_rx>(
        [&](ys_shm_watch_rx **handle) { return ys_shm_watch_rx_open(over.release(), &given, handle); });
  }
  /** Takes over a receiver of C. */
  explicit watch_receiver(ys_shm_watch_rx *handle) noexcept : shm_end(handle) {}

  /** Receives into a buffer of this room, at most so many nanoseconds. status::too_long: the value stays, and `length` is what it
   *  needs. */
  status recv_into(void *to, std::size_t room, std::size_t &length, std::int64_t ns = -1) noexcept {
    return status::from(ys_shm_watch_recv_for(raw(), to, room, &length, ns));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  status recv_into(void *to, std::size_t room, std::size_t &length, const std::stop_token &token) {
    return recv_until_stopped(token, [&] { return recv_into(to, room, length, detail::no_time); });
  }
#endif

  /** For an event loop, before it sleeps: fd() becomes readable when there is a new value. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_watch_rx_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<watch_receiver, std::string>;
  received<std::string> recv_ns(std::int64_t ns) {
    return detail::shm_string([&](void *to, std::size_t room, std::size_t &length) { return recv_into(to, room, length, ns); });
  }
};

/** A message that its sender fills: of loan_sender::reserve(). It is its sender's, and ends by commit() and by any other call for that but
 *  fd() and largest(): then it is given back, and its memory must not be touched. */
class [[nodiscard]] loan {
 public:
  /** What ys_shm_loan_reserve() has given. */
  loan(ys_shm_loan *from, void *at, std::size_t length) noexcept : from_(from), at_(at), length_(length) {}

  /** Where it is, aligned to 64. */
  void *data() const noexcept { return at_; }
  /** How many bytes it has. */
  std::size_t size() const noexcept { return length_; }
  /** Sends it to all receivers that have joined. Never waits. status::invalid: it has ended before. */
  status commit() noexcept { return commit(length_); }
  /** The same, of its first bytes. status::too_long: it has fewer. */
  status commit(std::size_t length) noexcept { return status::from(ys_shm_loan_commit(from_, length)); }

 private:
  ys_shm_loan *from_;
  void *at_;
  std::size_t length_;
};

/** The sender of loans, whose receivers, each a ys::shm::loan_receiver, read its messages where it has filled them. One thread at a time.
 *  None of them misses a message: one that is slow or stopped, or keeps what it has, keeps slots from all, until it goes on, or is gone. A
 *  sender that must not wait asks try_reserve(), and leaves out what is status::full. */
class loan_sender
    : public detail::shm_home<ys_shm_loan, ys_shm_loan_fd, ys_shm_loan_seat, ys_shm_loan_serve, ys_shm_loan_arm_to_serve> {
 public:
  /** The sender, which listens at a name, with a pool of slots of this number of bytes, as ys_shm_loan_open(). Throws. */
  loan_sender(const std::string &name, std::size_t slots, std::size_t largest, const options &how = {})
      : loan_sender(detail::opened(try_open(name, slots, largest, how), "ys::shm::loan_sender")) {}
  /** The same; empty for the reason that it has. */
  static received<loan_sender> try_open(const std::string &name, std::size_t slots, std::size_t largest, const options &how = {}) noexcept {
    return open(name.c_str(), slots, largest, how);
  }
  /** The sender without a name, for receivers that inherit a seat. Throws. */
  static loan_sender without_name(std::size_t slots, std::size_t largest, const options &how = {}) {
    return detail::opened(open(nullptr, slots, largest, how), "ys::shm::loan_sender");
  }
  /** Takes over a sender of C. */
  explicit loan_sender(ys_shm_loan *handle) noexcept : shm_home(handle) {}

  /** A free slot to be filled; waits while the pool has none. */
  received<loan> reserve(std::size_t length) noexcept { return slot(length, detail::for_ever); }
  /** The same, without waiting: status::full. */
  received<loan> try_reserve(std::size_t length) noexcept { return slot(length, detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<loan> reserve_for(std::size_t length, std::chrono::duration<Rep, Period> time) noexcept {
    return slot(length, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  received<loan> reserve(std::size_t length, const std::stop_token &token) {
    return detail::attempt_until_stopped(fd(), token, [&] { return try_reserve(length); }, [this] { return arm(); });
  }
#endif
  /** Memory of its own, as ys_shm_loan_reserve_large(), which nobody can write once it is sent; waits while 16 are on their way. */
  received<loan> reserve_large(std::size_t length) noexcept { return large(length, detail::for_ever); }
  /** The same, without waiting: status::full. */
  received<loan> try_reserve_large(std::size_t length) noexcept { return large(length, detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<loan> reserve_large_for(std::size_t length, std::chrono::duration<Rep, Period> time) noexcept {
    return large(length, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  received<loan> reserve_large(std::size_t length, const std::stop_token &token) {
    return detail::attempt_until_stopped(fd(), token, [&] { return try_reserve_large(length); }, [this] { return arm_large(); });
  }
#endif

  /** The most bytes that a slot has. */
  std::size_t largest() const noexcept { return ys_shm_loan_largest(raw()); }
  /** How many slots nobody has now. */
  std::size_t unused() noexcept { return detail::shm_count(ys_shm_loan_unused(raw())); }
  /** How many slots receivers hold now. */
  std::size_t held() noexcept { return detail::shm_count(ys_shm_loan_held(raw())); }
  /** As seat(), with the receiver's number. */
  received<shm::seat> numbered_seat() noexcept { return detail::shm_seat<ys_shm_loan_numbered_seat>(raw()); }
  /** The number of the receiver that keeps the most from the sender, as ys_shm_loan_slowest(). status::empty: none keeps anything. */
  received<std::uint64_t> slowest() noexcept {
    std::uint64_t number = 0;
    const std::ptrdiff_t kept = ys_shm_loan_slowest(raw(), &number);
    if (kept <= 0) return detail::why(kept, status::empty);
    return {std::in_place, std::move(number)};
  }
  /** The next receiver that has ended. status::empty: none has. */
  received<ended> next_ended() noexcept { return detail::shm_next_ended<ys_shm_loan_next_ended>(raw()); }
  /** How many receivers have joined: what is sent now is for all of them. */
  std::size_t receivers() noexcept { return detail::shm_count(ys_shm_loan_receivers(raw())); }

  /** For an event loop, before it sleeps: fd() becomes readable when a slot may be free, or a receiver comes or goes. False: there is
   *  something to be done now. */
  bool arm() noexcept { return ys_shm_loan_arm(raw()) > 0; }
  /** The same, for reserve_large(). */
  bool arm_large() noexcept { return ys_shm_loan_arm_large(raw()) > 0; }

 private:
  static received<loan_sender> open(const char *name, std::size_t slots, std::size_t largest, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<loan_sender, ys_shm_loan>(
        [&](ys_shm_loan **handle) { return ys_shm_loan_open(name, slots, largest, &given, handle); });
  }
  received<loan> slot(std::size_t length, std::int64_t ns) noexcept {
    void *at = nullptr;
    const int code = ys_shm_loan_reserve_for(raw(), length, &at, ns);
    return reserved(code, at, length);
  }
  received<loan> large(std::size_t length, std::int64_t ns) noexcept {
    void *at = nullptr;
    const int code = ys_shm_loan_reserve_large(raw(), length, &at, ns);
    return reserved(code, at, length);
  }
  received<loan> reserved(int code, void *at, std::size_t length) noexcept {
    if (code != YS_OK) return status::from(code);
    return {std::in_place, loan(raw(), at, length)};
  }
};

/** A message that this process was lent, in the memory where its sender has filled it. It may outlive its receiver and its sender, and is
 *  given back when it is destroyed. One thread at a time. */
class borrowed : public detail::shm_handle<ys_shm_borrowed> {
 public:
  /** Takes over a message of C. */
  explicit borrowed(ys_shm_borrowed *handle) noexcept : end_handle(handle) {}

  /** How many bytes it has. */
  std::size_t size() const noexcept { return ys_shm_borrowed_length(raw()); }
  /** Copies the bytes from `at` on, as many as there are and have room; how many. */
  std::size_t copy(std::size_t at, void *to, std::size_t room) const noexcept {
    return detail::shm_count(ys_shm_borrowed_copy(raw(), at, to, room));
  }
  /** A copy of the value at this number of bytes from the start. Empty: it ends before. */
  template <class T>
  std::optional<T> read(std::size_t at) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>, "ys: any bytes of a peer would be a value of this type");
    alignas(T) unsigned char bytes[sizeof(T)];
    if (copy(at, bytes, sizeof bytes) != sizeof bytes) return std::nullopt;
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  /** A copy of all its bytes. */
  std::string str() const {
    std::string bytes(size(), '\0');
    bytes.resize(copy(0, &bytes[0], bytes.size()));
    return bytes;
  }
  /** The bytes themselves, of loan_sender::reserve_large(), which nobody can write any more; else without an address. */
  std::string_view sealed() const noexcept {
    const void *bytes = ys_shm_borrowed_sealed(raw());
    return {static_cast<const char *>(bytes), bytes == nullptr ? 0 : size()};
  }
  /** Where the bytes are, which a hostile sender could write at any time, as ys_shm_borrowed_untrusted(). */
  const void *untrusted() const noexcept { return ys_shm_borrowed_untrusted(raw()); }
};

/** A receiver of a ys::shm::loan_sender. One thread at a time. */
class loan_receiver : public detail::shm_end<ys_shm_loan_rx, ys_shm_loan_rx_fd>,
                      public detail::end_receives<loan_receiver, borrowed> {
 public:
  /** The receiver over a connection, as ys_shm_loan_rx_open(). Throws. */
  explicit loan_receiver(socket over, const options &how = {})
      : loan_receiver(detail::opened(try_open(std::move(over), how), "ys::shm::loan_receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<loan_receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<loan_receiver, ys_shm_loan_rx>(
        [&](ys_shm_loan_rx **handle) { return ys_shm_loan_rx_open(over.release(), &given, handle); });
  }
  /** Takes over a receiver of C. */
  explicit loan_receiver(ys_shm_loan_rx *handle) noexcept : shm_end(handle) {}

  /** For an event loop, before it sleeps: fd() becomes readable when there is a message. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_loan_rx_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<loan_receiver, borrowed>;
  received<borrowed> recv_ns(std::int64_t ns) noexcept {
    return detail::opened_by<borrowed, ys_shm_borrowed>(
        [&](ys_shm_borrowed **handle) { return ys_shm_loan_recv_for(raw(), handle, ns); });
  }
};

/** The end that asks: its questions are received by a ys::shm::questions in another process. One thread at a time. */
class caller : public detail::shm_end<ys_shm_caller, ys_shm_caller_fd> {
 public:
  /** The caller over a connection, whose questions have at most this number of bytes, as ys_shm_caller_open(). Throws. */
  caller(socket over, std::size_t largest, const options &how = {})
      : caller(detail::opened(try_open(std::move(over), largest, how), "ys::shm::caller")) {}
  /** The same; empty for the reason that it has. */
  static received<caller> try_open(socket over, std::size_t largest, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<caller, ys_shm_caller>(
        [&](ys_shm_caller **handle) { return ys_shm_caller_open(over.release(), largest, &given, handle); });
  }
  /** Takes over a caller of C. */
  explicit caller(ys_shm_caller *handle) noexcept : shm_end(handle) {}

  /** Asks, and waits for the answer. status::unanswered: the question was dropped. status::too_long: it is not sent. What allocating
   *  throws passes, and the answer is that of the call number 0 until the next call(). */
  received<std::string> call(std::string_view question) { return call_ns(question, detail::for_ever); }
  /** The same, at most so long: status::timeout. Then it gives up. */
  template <class Rep, class Period>
  received<std::string> call_for(std::string_view question, std::chrono::duration<Rep, Period> time) {
    return call_ns(question, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Then it gives up, as it does where allocating the answer throws. Takes a
   *  descriptor while it waits. */
  received<std::string> call(std::string_view question, const std::stop_token &token) {
    return detail::call_until_stopped([&] { return ask(question, token); }, [&](std::uint64_t number) { return recv(number, token); },
                                      [this](std::uint64_t number) { return give_up(number); });
  }
#endif
  /** Asks, and goes on: the number of the call. Waits while as many are under way as may be. */
  received<std::uint64_t> ask(std::string_view question) noexcept { return ask_ns(question, detail::for_ever); }
  /** The same, without waiting: status::full. */
  received<std::uint64_t> try_ask(std::string_view question) noexcept { return ask_ns(question, detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<std::uint64_t> ask_for(std::string_view question, std::chrono::duration<Rep, Period> time) noexcept {
    return ask_ns(question, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped, and it has not asked. Takes a descriptor while it waits. */
  received<std::uint64_t> ask(std::string_view question, const std::stop_token &token) {
    return detail::attempt_until_stopped(fd(), token, [&] { return try_ask(question); }, [this] { return arm_to_ask(); });
  }
#endif
  /** The answer of a call; waits until it is there. What allocating throws passes, and the answer stays. status::unanswered: the question
   *  was dropped. status::out_of_range: no such call is under way. */
  received<std::string> recv(std::uint64_t call) { return recv_ns(call, detail::for_ever); }
  /** The same, without waiting: status::empty. */
  received<std::string> try_recv(std::uint64_t call) { return recv_ns(call, detail::no_time); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  received<std::string> recv_for(std::uint64_t call, std::chrono::duration<Rep, Period> time) {
    return recv_ns(call, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped, and the call goes on. Takes a descriptor while it waits. */
  received<std::string> recv(std::uint64_t call, const std::stop_token &token) {
    return detail::attempt_until_stopped(
        fd(), token, [&] { return try_recv(call); }, [&] { return ys_shm_caller_arm_to_recv(raw(), call); });
  }
#endif
  /** Gives a call up. status::out_of_range: no such call is under way. */
  status give_up(std::uint64_t call) noexcept { return status::from(ys_shm_caller_give_up(raw(), call)); }

  /** Whether no question that is asked now would be received. True of a moved-from handle. One system call. */
  bool closed() noexcept { return ys_shm_caller_is_closed(raw()) != 0; }
  /** For an event loop, before it sleeps: fd() becomes readable when a call has ended. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_caller_arm(raw()) > 0; }
  /** The same, for who waits for this call alone. */
  bool arm_to_recv(std::uint64_t call) noexcept { return ys_shm_caller_arm_to_recv(raw(), call) > 0; }
  /** The same, for who waits until it may ask. */
  bool arm_to_ask() noexcept { return ys_shm_caller_arm_to_ask(raw()) > 0; }

 private:
  received<std::string> call_ns(std::string_view question, std::int64_t ns) {
    // There is no room for any answer but an empty one: so it stays, and says how long it is.
    std::size_t length = 0;
    int code = ys_shm_caller_call(raw(), question.data(), question.size(), nullptr, 0, &length, ns);
    std::string answer(length, '\0');
    if (length > 0) code = ys_shm_caller_try_recv(raw(), 0, &answer[0], length, &length);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, std::move(answer)};
  }
  received<std::uint64_t> ask_ns(std::string_view question, std::int64_t ns) noexcept {
    std::uint64_t call = 0;
    const int code = ys_shm_caller_ask_for(raw(), question.data(), question.size(), &call, ns);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, std::move(call)};
  }
  received<std::string> recv_ns(std::uint64_t call, std::int64_t ns) {
    return detail::shm_string([&](void *to, std::size_t room, std::size_t &length) {
      return status::from(ys_shm_caller_recv_for(raw(), call, to, room, &length, ns));
    });
  }
};

/** A question whose caller waits for its answer. One that is destroyed without tells its caller so. One thread at a time, which need not be
 *  that of its ys::shm::questions. */
class question : public detail::shm_handle<ys_shm_question> {
 public:
  /** Takes over a question of C. */
  explicit question(ys_shm_question *handle, std::uint64_t caller = 0) noexcept : end_handle(handle), caller_(caller) {}

  /** Its bytes, which stay until it is answered. */
  std::string_view bytes() const noexcept {
    return {static_cast<const char *>(ys_shm_question_bytes(raw())), ys_shm_question_length(raw())};
  }
  /** The number of its caller. */
  std::uint64_t caller() const noexcept { return caller_; }
  /** Answers it. status::too_long: it is not answered yet. status::closed: it was answered before. */
  status answer(std::string_view bytes) noexcept { return status::from(ys_shm_question_answer(raw(), bytes.data(), bytes.size())); }

 private:
  std::uint64_t caller_;
};

/** The receiver of the questions of many callers, each of which is a ys::shm::caller in a process of its own. One thread at a time. */
class questions : public detail::shm_end<ys_shm_questions, ys_shm_questions_fd>,
                  public detail::end_receives<questions, question> {
 public:
  /** The receiver, which listens at a name, which gives answers of at most so many bytes, as ys_shm_questions_open(). Throws. */
  questions(const std::string &name, std::size_t largest, const options &how = {})
      : questions(detail::opened(try_open(name, largest, how), "ys::shm::questions")) {}
  /** The same; empty for the reason that it has. */
  static received<questions> try_open(const std::string &name, std::size_t largest, const options &how = {}) noexcept {
    return open(name.c_str(), largest, how);
  }
  /** The receiver without a name, for callers that inherit a seat. Throws. */
  static questions without_name(std::size_t largest, const options &how = {}) {
    return detail::opened(open(nullptr, largest, how), "ys::shm::questions");
  }
  /** Takes over a receiver of C. */
  explicit questions(ys_shm_questions *handle) noexcept : shm_end(handle) {}

  /** A place for one more caller. */
  received<shm::seat> seat() noexcept { return detail::shm_seat<ys_shm_questions_seat>(raw()); }
  /** The next caller that has ended. status::empty: none has. */
  received<ended> next_ended() noexcept { return detail::shm_next_ended<ys_shm_questions_next_ended>(raw()); }
  /** How many callers there are. */
  std::size_t callers() noexcept { return detail::shm_count(ys_shm_questions_callers(raw())); }
  /** For an event loop, before it sleeps, behind next_ended(): fd() becomes readable when there is a question, or a caller comes or goes.
   *  False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_questions_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<questions, question>;
  static received<questions> open(const char *name, std::size_t largest, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<questions, ys_shm_questions>(
        [&](ys_shm_questions **handle) { return ys_shm_questions_open(name, largest, &given, handle); });
  }
  received<question> recv_ns(std::int64_t ns) noexcept {
    ys_shm_question *handle = nullptr;
    std::uint64_t caller = 0;
    const int code = ys_shm_questions_recv_for(raw(), &handle, &caller, ns);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, question(handle, caller)};
  }
};

/** The sender of a work queue, whose workers, each a ys::shm::work_receiver, take the jobs. One thread at a time. */
class work_sender : public detail::shm_home<ys_shm_work, ys_shm_work_fd, ys_shm_work_seat, ys_shm_work_serve, ys_shm_work_arm_to_serve>,
                    public detail::end_sends<work_sender> {
 public:
  /** The sender, which listens at a name, of jobs of at most so many bytes, as ys_shm_work_open(). Throws. */
  work_sender(const std::string &name, std::size_t largest, std::size_t credit, const options &how = {})
      : work_sender(detail::opened(try_open(name, largest, credit, how), "ys::shm::work_sender")) {}
  /** The same; empty for the reason that it has. */
  static received<work_sender> try_open(const std::string &name, std::size_t largest, std::size_t credit, const options &how = {}) noexcept {
    return open(name.c_str(), largest, credit, how);
  }
  /** The sender without a name, for workers that inherit a seat. Throws. */
  static work_sender without_name(std::size_t largest, std::size_t credit, const options &how = {}) {
    return detail::opened(open(nullptr, largest, credit, how), "ys::shm::work_sender");
  }
  /** Takes over a sender of C. */
  explicit work_sender(ys_shm_work *handle) noexcept : shm_home(handle) {}

  /** As seat(), with the worker's number. */
  received<shm::seat> numbered_seat() noexcept { return detail::shm_seat<ys_shm_work_numbered_seat>(raw()); }
  /** The next worker that has ended. status::empty: none has. */
  received<ended> next_ended() noexcept { return detail::shm_next_ended<ys_shm_work_next_ended>(raw()); }
  /** The next job that was given out as many times as options::attempts allows, and was not finished. status::empty: none was. */
  received<std::string> next_failed() {
    return detail::shm_string([&](void *to, std::size_t room, std::size_t &length) {
      return status::from(ys_shm_work_next_failed(raw(), to, room, &length));
    });
  }

  /** Waits until all jobs are finished, or have failed. status::closed: some are not, and no worker is there or can come. */
  status settle() noexcept { return status::from(ys_shm_work_settle(raw(), detail::for_ever)); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  status settle_for(std::chrono::duration<Rep, Period> time) noexcept {
    return status::from(ys_shm_work_settle(raw(), detail::nanoseconds(time)));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  status settle(const std::stop_token &token) {
    const auto attempt = [this] { return status::from(ys_shm_work_settle(raw(), detail::no_time)); };
    return detail::attempt_until_stopped(fd(), token, attempt, [this] { return arm_to_settle(); });
  }
#endif
  /** How many jobs workers have finished, as far as was noticed. */
  std::size_t finished() const noexcept { return detail::shm_count(ys_shm_work_finished(raw())); }
  /** How many jobs that were sent are not finished. */
  std::size_t unfinished() const noexcept { return detail::shm_count(ys_shm_work_unfinished(raw())); }
  /** How many workers there are. */
  std::size_t workers() const noexcept { return detail::shm_count(ys_shm_work_workers(raw())); }

  /** For an event loop, before it sleeps: fd() becomes readable when a worker may have one more job, or comes or goes. False: there is
   *  something to be done now. */
  bool arm() noexcept { return ys_shm_work_arm(raw()) > 0; }
  /** The same, for who waits until all jobs are finished. */
  bool arm_to_settle() noexcept { return ys_shm_work_arm_to_settle(raw()) > 0; }

 private:
  friend class detail::end_sends<work_sender>;
  static received<work_sender> open(const char *name, std::size_t largest, std::size_t credit, const options &how) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<work_sender, ys_shm_work>(
        [&](ys_shm_work **handle) { return ys_shm_work_open(name, largest, credit, &given, handle); });
  }
  status send_ns(std::string_view job, std::int64_t ns) noexcept {
    return status::from(ys_shm_work_send_for(raw(), job.data(), job.size(), ns));
  }
};

/** A worker of a ys::shm::work_sender. What it has received is the next job again, until it is finished or given back. One thread at a
 *  time. */
class work_receiver : public detail::shm_end<ys_shm_work_rx, ys_shm_work_rx_fd>,
                      public detail::end_receives<work_receiver, std::string> {
 public:
  /** The worker over a connection, as ys_shm_work_rx_open(). Throws. */
  explicit work_receiver(socket over, const options &how = {})
      : work_receiver(detail::opened(try_open(std::move(over), how), "ys::shm::work_receiver")) {}
  /** The same; empty for the reason that it has. */
  static received<work_receiver> try_open(socket over, const options &how = {}) noexcept {
    const ys_shm_options given = how.raw();
    return detail::opened_by<work_receiver, ys_shm_work_rx>(
        [&](ys_shm_work_rx **handle) { return ys_shm_work_rx_open(over.release(), &given, handle); });
  }
  /** Takes over a worker of C. */
  explicit work_receiver(ys_shm_work_rx *handle) noexcept : shm_end(handle) {}

  /** The job that was received is done. status::invalid: none was, since the last one was finished or given back. */
  status finish() noexcept { return status::from(ys_shm_work_finish(raw())); }
  /** Gives the job that was received back, undone, for another worker. */
  status give_back() noexcept { return status::from(ys_shm_work_give_back(raw())); }

  /** For an event loop, before it sleeps: fd() becomes readable when there is a job. False: there is something to be done now. */
  bool arm() noexcept { return ys_shm_work_rx_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<work_receiver, std::string>;
  received<std::string> recv_ns(std::int64_t ns) {
    return detail::shm_string([&](void *to, std::size_t room, std::size_t &length) {
      return status::from(ys_shm_work_recv_for(raw(), to, room, &length, ns));
    });
  }
};

}  // namespace shm
}  // namespace ys

#endif
