/** @file ysuite_zmq.hpp
 *  Bridges to other programs and machines over ZeroMQ as classes, over ysuite_zmq.h, which has the rules. Linux; the library must have been
 *  built with the feature `zmq`.
 *
 *  @code{.cpp}
 *  // A program gives out jobs.
 *  ys::zmq::options here;
 *  here.connect = {"tcp://10.0.0.7:5555"};
 *  auto [bridge, tx] = ys::zmq::push(here);
 *  if (ys::status sent = tx.send("hello"); !sent) std::cerr << sent.text() << '\n';
 *  if (ys::zmq::left left = bridge.close(5s); !left) std::cerr << left.messages << " have not left\n";
 *
 *  // Another one does them.
 *  ys::zmq::options there;
 *  there.bind = {"tcp://0.0.0.0:5555"};
 *  auto [bridge, rx] = ys::zmq::pull(there);
 *  while (ys::received<std::string> job = rx.recv()) work(*job);
 *  @endcode
 *
 *  A handle is moved, not copied, and freed when it is destroyed. What opens throws std::system_error, and without exceptions ends the
 *  process; what is called try_ never does: it returns a ys::received, which knows why it is empty, and ys::zmq::refusal() says it in full.
 */
#ifndef YSUITE_ZMQ_HPP
#define YSUITE_ZMQ_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ysuite/ends.hpp"
#include "ysuite/received.hpp"
#include "ysuite/status.hpp"
#include "ysuite/time.hpp"
#include "ysuite_zmq.h"

namespace ys {
namespace zmq {
struct options;
}  // namespace zmq

namespace detail {

struct zmq_frees {
  void operator()(ys_zmq_bridge *handle) const noexcept { ys_zmq_bridge_free(handle); }
  void operator()(ys_zmq_tx *handle) const noexcept { ys_zmq_tx_free(handle); }
  void operator()(ys_zmq_rx *handle) const noexcept { ys_zmq_rx_free(handle); }
  void operator()(ys_zmq_asker *handle) const noexcept { ys_zmq_asker_free(handle); }
  void operator()(ys_zmq_questions *handle) const noexcept { ys_zmq_questions_free(handle); }
  void operator()(ys_zmq_question *handle) const noexcept { ys_zmq_question_free(handle); }
};

template <class Handle>
using zmq_handle = end_handle<Handle, zmq_frees>;

/* A list of C. */
class zmq_list {
 public:
  void set(const std::vector<std::string> &texts) {
    for (const std::string &text : texts) texts_.push_back(text.c_str());
    texts_.push_back(nullptr);
  }
  /* Null where none was set. */
  const char *const *raw() const noexcept { return texts_.empty() ? nullptr : texts_.data(); }

 private:
  std::vector<const char *> texts_;
};

inline std::string_view zmq_bytes(const void *bytes, std::size_t length) noexcept {
  return {static_cast<const char *>(bytes), length};
}

/* What `lend(address, length)` lends. */
template <class Lend>
received<std::string_view> zmq_lent(Lend lend) noexcept {
  const void *bytes = nullptr;
  std::size_t length = 0;
  const int code = lend(&bytes, &length);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, detail::zmq_bytes(bytes, length)};
}

/* Parts for C. */
inline std::vector<ys_zmq_part> zmq_parts(const std::vector<std::string_view> &parts) {
  std::vector<ys_zmq_part> all;
  all.reserve(parts.size());
  for (std::string_view part : parts) all.push_back({part.data(), part.size()});
  return all;
}

/* Those that `lend(index, length)` lends. */
template <class Lend>
std::vector<std::string_view> zmq_lent_parts(Lend lend) {
  std::vector<std::string_view> all;
  std::size_t length = 0;
  while (const void *bytes = lend(all.size(), &length)) all.push_back(detail::zmq_bytes(bytes, length));
  return all;
}

/* The same as a copy. */
inline received<std::string> zmq_copy(received<std::string_view> lent) {
  if (!lent) return lent.status();
  return {std::in_place, std::string(*lent)};
}

}  // namespace detail

/** Bridges to other programs and machines over ZeroMQ. */
namespace zmq {

/** Why the last call of this thread was refused, as ys_zmq_refusal(). Never null. */
inline const char *refusal() noexcept { return ys_zmq_refusal(); }

/** What a publisher does while a subscriber has no room, as ys_zmq_when_full. */
enum class when_full : int { drop = YS_ZMQ_DROP, drop_for_all = YS_ZMQ_DROP_FOR_ALL, wait = YS_ZMQ_WAIT };

/** The addresses and options of a bridge, as ys_zmq_options. */
struct options {
  using duration = std::chrono::nanoseconds;

  std::vector<std::string> bind{};                               /**< addresses to bind */
  std::vector<std::string> connect{};                            /**< addresses to connect to */
  std::optional<std::vector<std::string>> topics{};              /**< what a subscriber asks for; none: everything */
  std::optional<char> joined_by{};                               /**< topic, this and the message are one part */
  bool conflate = false;                                         /**< the newest messages replace the oldest ones */
  std::size_t capacity = 0;                                      /**< messages between program and bridge; 0: 1,000 */
  std::size_t send_mark = 0;                                     /**< messages that libzmq queues to be sent; 0: 1,000 */
  std::size_t receive_mark = 0;                                  /**< the same, that were received */
  std::size_t send_buffer = 0;                                   /**< bytes in the kernel; 0: its choice */
  std::size_t receive_buffer = 0;                                /**< the same, that were received */
  std::size_t largest_frame = 0;                                 /**< the most bytes that are received; 0: 64 MiB */
  duration reconnect_first{};                                    /**< before the first try to connect again; 0: 0.1 s */
  duration reconnect_longest{};                                  /**< up to so long; 0: 5 s */
  duration keep_alive{};                                         /**< ends a connection to a silent machine; 0: never */
  enum when_full when_full = when_full::drop;                    /**< of a publisher */
  bool at_least_once = false;                                    /**< of a duplex: what is not acknowledged is sent again */
  std::size_t unacknowledged = 0;                                /**< how much of that there may be; 0: 65,536 */
  duration timeout{};                                            /**< of what asks, for an answer; 0: 30 s */
  std::size_t retries = 0;                                       /**< how often it is asked again */
  std::size_t unanswered = 0;                                    /**< questions without an answer; 0: 256 */
  std::string secret_key{};                                      /**< of CURVE; empty: no encryption */
  std::string server_key{};                                      /**< the server's public key, of its client */
  std::optional<std::vector<std::string>> client_keys{};         /**< whom a server admits */
  bool parts = false;                                            /**< messages are lists of parts */
  bool without_topic = false;                                    /**< messages come alone, and are asked for by how they begin */
};

}  // namespace zmq

namespace detail {

/* The options of C, as long as those of C++ stay as they are. */
class zmq_options {
 public:
  explicit zmq_options(const zmq::options &how) {
    bind_.set(how.bind);
    connect_.set(how.connect);
    if (how.topics) topics_.set(*how.topics);
    if (how.client_keys) client_keys_.set(*how.client_keys);
    if (how.joined_by) joined_by_[0] = *how.joined_by;
    raw_.conflate = how.conflate ? 1 : 0;
    raw_.bind = bind_.raw();
    raw_.connect = connect_.raw();
    raw_.topics = topics_.raw();
    raw_.joined_by = how.joined_by ? joined_by_ : nullptr;
    raw_.capacity = how.capacity;
    raw_.send_mark = how.send_mark;
    raw_.receive_mark = how.receive_mark;
    raw_.send_buffer = how.send_buffer;
    raw_.receive_buffer = how.receive_buffer;
    raw_.largest_frame = how.largest_frame;
    raw_.reconnect_first = how.reconnect_first.count();
    raw_.reconnect_longest = how.reconnect_longest.count();
    raw_.keep_alive = how.keep_alive.count();
    raw_.when_full = static_cast<int>(how.when_full);
    raw_.at_least_once = how.at_least_once ? 1 : 0;
    raw_.unacknowledged = how.unacknowledged;
    raw_.timeout = how.timeout.count();
    raw_.retries = how.retries;
    raw_.unanswered = how.unanswered;
    raw_.secret_key = how.secret_key.empty() ? nullptr : how.secret_key.c_str();
    raw_.server_key = how.server_key.empty() ? nullptr : how.server_key.c_str();
    raw_.client_keys = client_keys_.raw();
    raw_.parts = how.parts ? 1 : 0;
    raw_.without_topic = how.without_topic ? 1 : 0;
  }
  zmq_options(const zmq_options &) = delete;
  zmq_options &operator=(const zmq_options &) = delete;

  const ys_zmq_options *raw() const noexcept { return &raw_; }

 private:
  zmq_list bind_, connect_, topics_, client_keys_;
  char joined_by_[2] = {0, 0};
  ys_zmq_options raw_ = YS_ZMQ_OPTIONS_INIT;
};

}  // namespace detail

namespace zmq {

/** What had not left when a bridge was closed. True if everything had. */
struct [[nodiscard]] left {
  status why;           /**< ok, status::unsent, or status::closed: it was closed before */
  std::size_t messages; /**< how many, as far as they can be counted */

  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/** What has happened to a bridge, and the address or the reason. */
struct event {
  ys_zmq_event what;
  std::string text;
};

/** A bridge at work, which ends with this handle. One thread at a time, which need not be one that sends or receives. */
class bridge : public detail::zmq_handle<ys_zmq_bridge> {
 public:
  /** Takes over a bridge of C. */
  explicit bridge(ys_zmq_bridge *handle) noexcept : end_handle(handle) {}

  /** Closes, as ys_zmq_bridge_close(): what was sent still leaves. A thread that waits in a handle of it returns. Takes no stop token: a
   *  bridge that closes cannot be opened again, and who cannot wait gives it a time, or destroys it. */
  left close() noexcept { return close_ns(detail::for_ever); }
  /** The same, at most so long. */
  template <class Rep, class Period>
  left close(std::chrono::duration<Rep, Period> time) noexcept {
    return close_ns(detail::nanoseconds(time));
  }

  /** Where others can connect, with the ports that the system has chosen. */
  std::vector<std::string> addresses() const {
    std::vector<std::string> all;
    while (const char *address = ys_zmq_bridge_address(raw(), all.size())) all.emplace_back(address);
    return all;
  }
  /** What has gone through it so far; all zero once it was closed. */
  ys_zmq_statistics statistics() const noexcept {
    ys_zmq_statistics found{};
    (void)ys_zmq_bridge_statistics(raw(), &found, sizeof found);
    return found;
  }
  /** The next event. Never waits: status::empty. */
  received<event> next_event() {
    ys_zmq_event what;
    const char *text = nullptr;
    const int code = ys_zmq_bridge_event(raw(), &what, &text);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, event{what, text}};
  }

  /** From now on a subscriber also asks for what begins so. */
  status subscribe(std::string_view beginning) noexcept {
    return status::from(ys_zmq_bridge_subscribe(raw(), beginning.data(), beginning.size()));
  }
  /** From now on it does not. */
  status unsubscribe(std::string_view beginning) noexcept {
    return status::from(ys_zmq_bridge_unsubscribe(raw(), beginning.data(), beginning.size()));
  }
  /** Waits until a publisher has this number of subscribers that the topic reaches: status::timeout. Takes no stop token, as the bridge's
   *  thread counts them; whoever has one waits a short time, again and again. */
  template <class Rep, class Period>
  status wait_subscribers(std::string_view topic, std::size_t subscribers, std::chrono::duration<Rep, Period> time) noexcept {
    return status::from(
        ys_zmq_bridge_wait_subscribers(raw(), topic.data(), topic.size(), subscribers, detail::nanoseconds(time)));
  }
  /** From now on a server of CURVE admits the clients with these public keys, and no others. */
  status admit(const std::vector<std::string> &client_keys) {
    detail::zmq_list keys;
    keys.set(client_keys);
    return status::from(ys_zmq_bridge_admit(raw(), keys.raw()));
  }

 private:
  left close_ns(std::int64_t ns) noexcept {
    std::size_t messages = 0;
    const int code = ys_zmq_bridge_close(raw(), ns, &messages);
    return {status::from(code), messages};
  }
};

/** Sends by a bridge. One thread at a time. */
class sender : public detail::zmq_handle<ys_zmq_tx>, public detail::end_sends<sender> {
 public:
  /** Takes over a sender of C. */
  explicit sender(ys_zmq_tx *handle) noexcept : end_handle(handle) {}

  /** Publishes a message to those that have subscribed to a beginning of its topic; waits while there is no room. */
  status publish(std::string_view topic, std::string_view message) noexcept {
    return publish_ns(topic, message, detail::for_ever);
  }
  /** The same, without waiting: status::full. */
  status try_publish(std::string_view topic, std::string_view message) noexcept {
    return publish_ns(topic, message, detail::no_time);
  }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  status publish_for(std::string_view topic, std::string_view message, std::chrono::duration<Rep, Period> time) noexcept {
    return publish_ns(topic, message, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  status publish(std::string_view topic, std::string_view message, const std::stop_token &token) {
    return send_until_stopped(token, message.size(), [&] { return try_publish(topic, message); });
  }
#endif

  /** Sends a message of several parts, where options::parts says so: it arrives as a whole. Waits `ns` nanoseconds for room. */
  status send_parts(const std::vector<std::string_view> &parts, std::int64_t ns = -1) { return publish_parts({}, parts, ns); }
  /** Publishes one. The topic is none of the parts. */
  status publish_parts(std::string_view topic, const std::vector<std::string_view> &parts, std::int64_t ns = -1) {
    const std::vector<ys_zmq_part> all = detail::zmq_parts(parts);
    return status::from(ys_zmq_publish_parts(raw(), topic.data(), topic.size(), all.data(), all.size(), ns));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** Both of these, until a stop is requested: status::stopped. They take a descriptor while they wait. */
  status send_parts(const std::vector<std::string_view> &parts, const std::stop_token &token) { return publish_parts({}, parts, token); }
  status publish_parts(std::string_view topic, const std::vector<std::string_view> &parts, const std::stop_token &token) {
    const std::vector<ys_zmq_part> all = detail::zmq_parts(parts);
    return send_until_stopped(token, 0, [&] {
      return status::from(ys_zmq_publish_parts(raw(), topic.data(), topic.size(), all.data(), all.size(), detail::no_time));
    });
  }
#endif

  /** The descriptor for an event loop, after arming. Negative: none. */
  int fd() const noexcept { return ys_zmq_tx_fd(raw()); }
  /** For an event loop that has found status::full, before it sleeps: fd() becomes readable when there is room. False: there may be
   *  something to be done now. */
  bool arm() noexcept { return ys_zmq_tx_arm(raw()) > 0; }

 private:
  friend class detail::end_sends<sender>;
  status send_ns(std::string_view message, std::int64_t ns) noexcept {
    return status::from(ys_zmq_send(raw(), message.data(), message.size(), ns));
  }
  status publish_ns(std::string_view topic, std::string_view message, std::int64_t ns) noexcept {
    return status::from(ys_zmq_publish(raw(), topic.data(), topic.size(), message.data(), message.size(), ns));
  }
};

/** Receives by a bridge. One thread at a time. */
class receiver : public detail::zmq_handle<ys_zmq_rx>, public detail::end_receives<receiver, std::string> {
 public:
  /** Takes over a receiver of C. */
  explicit receiver(ys_zmq_rx *handle) noexcept : end_handle(handle) {}

  /** Receives a message without a copy: it is lent until the next call that receives. Waits `ns` nanoseconds, as ys_zmq_recv(). */
  received<std::string_view> lend(std::int64_t ns = -1) noexcept {
    return detail::zmq_lent([&](const void **bytes, std::size_t *length) { return ys_zmq_recv(raw(), bytes, length, ns); });
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. Takes a descriptor while it waits. */
  received<std::string_view> lend(const std::stop_token &token) {
    return recv_until_stopped(token, [this] { return lend(detail::no_time); });
  }
#endif
  /** The parts of the last message, lent as well: what was received was the first. */
  std::vector<std::string_view> parts() {
    return detail::zmq_lent_parts([this](std::size_t at, std::size_t *length) { return ys_zmq_rx_part(raw(), at, length); });
  }
  /** The topic of the last message, lent as well. */
  std::string_view topic() noexcept {
    std::size_t length = 0;
    const void *bytes = ys_zmq_rx_topic(raw(), &length);
    return detail::zmq_bytes(bytes, length);
  }

  /** The descriptor for an event loop, after arming. Negative: none. */
  int fd() const noexcept { return ys_zmq_rx_fd(raw()); }
  /** For an event loop that has found status::empty, before it sleeps: fd() becomes readable when there is a message. False: there may be
   *  something to be done now. */
  bool arm() noexcept { return ys_zmq_rx_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<receiver, std::string>;
  received<std::string> recv_ns(std::int64_t ns) { return detail::zmq_copy(lend(ns)); }
};

/** Asks by a bridge. One thread at a time; clone() makes one for another thread. */
class asker : public detail::zmq_handle<ys_zmq_asker> {
 public:
  /** Takes over an asker of C. */
  explicit asker(ys_zmq_asker *handle) noexcept : end_handle(handle) {}

  /** Asks, and waits for the answer, as long as the bridge's time for it. */
  received<std::string> call(std::string_view question) { return call_ns(question, detail::for_ever); }
  /** The same, at most so long: status::timeout; then it gives up. */
  template <class Rep, class Period>
  received<std::string> call_for(std::string_view question, std::chrono::duration<Rep, Period> time) {
    return call_ns(question, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped; then it gives up. Takes a descriptor while it waits. */
  received<std::string> call(std::string_view question, const std::stop_token &token) {
    return detail::call_until_stopped([&] { return ask(question, token); }, [&](std::uint64_t number) { return recv(number, token); },
                                      [this](std::uint64_t number) { return give_up(number); });
  }
#endif

  /** Asks, and goes on; waits `ns` nanoseconds while as many questions are without an answer as may be. Returns the number of the
   *  question. */
  received<std::uint64_t> ask(std::string_view question, std::int64_t ns = -1) noexcept {
    std::uint64_t number = 0;
    const int code = ys_zmq_asker_ask(raw(), question.data(), question.size(), &number, ns);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, std::move(number)};
  }
  /** Asks a question of several parts, where options::parts says so. */
  received<std::uint64_t> ask_parts(const std::vector<std::string_view> &parts, std::int64_t ns = -1) {
    const std::vector<ys_zmq_part> all = detail::zmq_parts(parts);
    std::uint64_t number = 0;
    const int code = ys_zmq_asker_ask_parts(raw(), all.data(), all.size(), &number, ns);
    if (code != YS_OK) return status::from(code);
    return {std::in_place, std::move(number)};
  }
#ifdef YS_HAS_STOP_TOKEN
  /** Both of these, until a stop is requested: status::stopped, and they have not asked. They take a descriptor while they wait. */
  received<std::uint64_t> ask(std::string_view question, const std::stop_token &token) {
    return ask_until_stopped(token, [&] { return ask(question, detail::no_time); });
  }
  received<std::uint64_t> ask_parts(const std::vector<std::string_view> &parts, const std::stop_token &token) {
    return ask_until_stopped(token, [&] { return ask_parts(parts, detail::no_time); });
  }
#endif
  /** The parts of the last answer, lent until the next one: what was received was the first. */
  std::vector<std::string_view> parts() {
    return detail::zmq_lent_parts([this](std::size_t at, std::size_t *length) { return ys_zmq_asker_part(raw(), at, length); });
  }
  /** The answer to a question; waits `ns` nanoseconds for it. status::empty and status::timeout: the question goes on. */
  received<std::string> recv(std::uint64_t question, std::int64_t ns = -1) {
    return detail::zmq_copy(detail::zmq_lent([&](const void **bytes, std::size_t *length) {
      return ys_zmq_asker_recv(raw(), question, bytes, length, ns);
    }));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped, and the question goes on. Takes a descriptor while it waits. */
  received<std::string> recv(std::uint64_t question, const std::stop_token &token) {
    return detail::attempt_until_stopped(fd(), token, [&] { return recv(question, detail::no_time); },
                                         [&] { return ys_zmq_asker_arm(raw(), question); });
  }
#endif
  /** Gives a question up. */
  status give_up(std::uint64_t question) noexcept { return status::from(ys_zmq_asker_give_up(raw(), question)); }
  /** Another asker of the same bridge. */
  received<asker> clone() noexcept {
    return detail::opened_by<asker, ys_zmq_asker>([&](ys_zmq_asker **to) { return ys_zmq_asker_clone(raw(), to); });
  }

  /** The descriptor for an event loop, after arming. Negative: none. */
  int fd() const noexcept { return ys_zmq_asker_fd(raw()); }
  /** For an event loop that has found status::empty, before it sleeps: fd() becomes readable when this question has an answer, or will
   *  have none. False: there may be something to be done now. */
  bool arm(std::uint64_t question) noexcept { return ys_zmq_asker_arm(raw(), question) > 0; }
  /** The same, for who has found status::full, and waits until it may ask. */
  bool arm_to_ask() noexcept { return ys_zmq_asker_arm_to_ask(raw()) > 0; }

 private:
#ifdef YS_HAS_STOP_TOKEN
  template <class Attempt>
  received<std::uint64_t> ask_until_stopped(const std::stop_token &token, Attempt attempt) {
    return detail::attempt_until_stopped(fd(), token, attempt, [this] { return ys_zmq_asker_arm_to_ask(raw()); });
  }
#endif
  received<std::string> call_ns(std::string_view question, std::int64_t ns) {
    return detail::zmq_copy(detail::zmq_lent([&](const void **bytes, std::size_t *length) {
      return ys_zmq_asker_call(raw(), question.data(), question.size(), bytes, length, ns);
    }));
  }
};

/** A question that waits for its answer. */
class question : public detail::zmq_handle<ys_zmq_question> {
 public:
  /** Takes over a question of C. */
  explicit question(ys_zmq_question *handle) noexcept : end_handle(handle) {}

  /** What is asked, until it is answered. */
  std::string_view bytes() const noexcept {
    std::size_t length = 0;
    const void *first = ys_zmq_question_bytes(raw(), &length);
    return detail::zmq_bytes(first, length);
  }
  /** Its parts, until it is answered: bytes() is the first. */
  std::vector<std::string_view> parts() const {
    return detail::zmq_lent_parts([this](std::size_t at, std::size_t *length) { return ys_zmq_question_part(raw(), at, length); });
  }
  /** Answers with several parts, where options::parts says so. Never waits. */
  status answer_parts(const std::vector<std::string_view> &parts) {
    const std::vector<ys_zmq_part> all = detail::zmq_parts(parts);
    return status::from(ys_zmq_question_answer_parts(raw(), all.data(), all.size()));
  }
  /** Answers. Never waits. */
  status answer(std::string_view answer) noexcept {
    return status::from(ys_zmq_question_answer(raw(), answer.data(), answer.size()));
  }
};

/** Receives questions by a bridge. One thread at a time. */
class questions : public detail::zmq_handle<ys_zmq_questions>, public detail::end_receives<questions, question> {
 public:
  /** Takes over a receiver of C. */
  explicit questions(ys_zmq_questions *handle) noexcept : end_handle(handle) {}

  /** The descriptor for an event loop, after arming. Negative: none. */
  int fd() const noexcept { return ys_zmq_questions_fd(raw()); }
  /** For an event loop that has found status::empty, before it sleeps: fd() becomes readable when there is a question. False: there may be
   *  something to be done now. */
  bool arm() noexcept { return ys_zmq_questions_arm(raw()) > 0; }

 private:
  friend class detail::end_receives<questions, question>;
  received<question> recv_ns(std::int64_t ns) noexcept {
    return detail::opened_by<question, ys_zmq_question>(
        [&](ys_zmq_question **to) { return ys_zmq_questions_recv(raw(), to, ns); });
  }
};

/** What was opened: of what sends. */
struct sending {
  zmq::bridge bridge;
  sender tx;
};
/** Of what receives. */
struct receiving {
  zmq::bridge bridge;
  receiver rx;
};
/** Of a duplex. */
struct both_ways {
  zmq::bridge bridge;
  sender tx;
  receiver rx;
};
/** Of what asks. */
struct asking {
  zmq::bridge bridge;
  zmq::asker asker;
};
/** Of what answers. */
struct answering {
  zmq::bridge bridge;
  zmq::questions questions;
};

}  // namespace zmq

namespace detail {

/* What a function of C opens, as a pair of classes. */
template <class Pair, class End, class Handle>
received<Pair> zmq_opened(int (*open)(const ys_zmq_options *, ys_zmq_bridge **, Handle **), const zmq::options &how) {
  const zmq_options given(how);
  ys_zmq_bridge *bridge = nullptr;
  Handle *end = nullptr;
  const int code = open(given.raw(), &bridge, &end);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, Pair{zmq::bridge(bridge), End(end)}};
}

}  // namespace detail

namespace zmq {

/** Opens a bridge that sends, each message to one of those that pull. Empty for the reason that it has. */
inline received<sending> try_push(const options &how) {
  return detail::zmq_opened<sending, sender>(ys_zmq_push_open, how);
}
/** The same. Throws. */
inline sending push(const options &how) { return detail::opened(zmq::try_push(how), "ys::zmq::push"); }

/** Opens a bridge that receives from those that push. Empty for the reason that it has. */
inline received<receiving> try_pull(const options &how) {
  return detail::zmq_opened<receiving, receiver>(ys_zmq_pull_open, how);
}
/** The same. Throws. */
inline receiving pull(const options &how) { return detail::opened(zmq::try_pull(how), "ys::zmq::pull"); }

/** Opens a bridge that publishes. Empty for the reason that it has. */
inline received<sending> try_publish(const options &how) {
  return detail::zmq_opened<sending, sender>(ys_zmq_publish_open, how);
}
/** The same. Throws. */
inline sending publish(const options &how) { return detail::opened(zmq::try_publish(how), "ys::zmq::publish"); }

/** Opens a bridge that receives what is published. Empty for the reason that it has. */
inline received<receiving> try_subscribe(const options &how) {
  return detail::zmq_opened<receiving, receiver>(ys_zmq_subscribe_open, how);
}
/** The same. Throws. */
inline receiving subscribe(const options &how) { return detail::opened(zmq::try_subscribe(how), "ys::zmq::subscribe"); }

/** Opens one side of a duplex. Empty for the reason that it has. */
inline received<both_ways> try_duplex(const options &how) {
  const detail::zmq_options given(how);
  ys_zmq_bridge *bridge = nullptr;
  ys_zmq_tx *tx = nullptr;
  ys_zmq_rx *rx = nullptr;
  const int code = ys_zmq_duplex_open(given.raw(), &bridge, &tx, &rx);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, both_ways{zmq::bridge(bridge), sender(tx), receiver(rx)}};
}
/** The same. Throws. */
inline both_ways duplex(const options &how) { return detail::opened(zmq::try_duplex(how), "ys::zmq::duplex"); }

/** Opens a bridge that asks. Empty for the reason that it has. */
inline received<asking> try_ask(const options &how) { return detail::zmq_opened<asking, asker>(ys_zmq_ask_open, how); }
/** The same. Throws. */
inline asking ask(const options &how) { return detail::opened(zmq::try_ask(how), "ys::zmq::ask"); }

/** Opens a bridge that receives questions and sends the answers back. Empty for the reason that it has. */
inline received<answering> try_answer(const options &how) {
  return detail::zmq_opened<answering, questions>(ys_zmq_answer_open, how);
}
/** The same. Throws. */
inline answering answer(const options &how) { return detail::opened(zmq::try_answer(how), "ys::zmq::answer"); }

/** A pair of keys of CURVE. */
struct key_pair {
  std::string secret_key;
  std::string public_key;
};

/** Makes a new pair of keys. Empty for the reason that it has. */
inline received<key_pair> try_keys() {
  char secret_key[41], public_key[41];
  const int code = ys_zmq_key_pair(secret_key, public_key);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, key_pair{secret_key, public_key}};
}

}  // namespace zmq
}  // namespace ys

#endif
