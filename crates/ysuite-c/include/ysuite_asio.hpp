/** @file ysuite_asio.hpp
 *  Handles of channels as I/O objects of Asio: waits are completed by an io_context, with any completion token. C++17, and C++20 for
 *  `co_await`. Standalone Asio; `#define YS_BOOST_ASIO` before the first include, in all of a program, for that of Boost.
 *
 *  @code{.cpp}
 *  #include <asio.hpp>
 *  #include <ysuite_asio.hpp>
 *
 *  asio::awaitable<void> echo(ys::receiver<std::string> in, ys::sender<std::string> out) {
 *    const auto executor = co_await asio::this_coro::executor;
 *    ys::asio_receiver rx(executor, std::move(in));
 *    ys::asio_sender tx(executor, std::move(out));
 *    while (auto line = co_await rx.async_recv(asio::use_awaitable)) {
 *      if (!co_await tx.async_send(std::move(*line), asio::use_awaitable)) break;
 *    }
 *  }
 *
 *  asio::io_context context;
 *  asio::co_spawn(context, echo(std::move(in), std::move(out)), asio::detached);
 *  context.run();
 *  @endcode
 *
 *  Results are those of the handles, not error codes: nothing is thrown where a channel is closed.
 */
#ifndef YSUITE_ASIO_HPP
#define YSUITE_ASIO_HPP

#include "ysuite.hpp"

#if defined(YS_BOOST_ASIO)
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#define YS_ASIO_CANCELS_ (BOOST_ASIO_VERSION >= 101900)
#else
#include <asio/any_io_executor.hpp>
#include <asio/compose.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/version.hpp>
#define YS_ASIO_CANCELS_ (ASIO_VERSION >= 101900)
#endif

#include <chrono>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace ys {
namespace detail {

#if defined(YS_BOOST_ASIO)
namespace net = ::boost::asio;
using net_error = ::boost::system::error_code;
#else
namespace net = ::asio;
using net_error = ::asio::error_code;
#endif

/* What an operation and its object share, which may be destroyed before the operation is completed. */
template <class End>
struct asio_state {
  socketpair_set set;
  net::posix::stream_descriptor descriptor;
  End end;

  asio_state(const net::any_io_executor &executor, End &&of) : set(1), descriptor(executor, set.fd()), end(std::move(of)) {
    const ys::status answer = set.attach(end, 0);
    if (answer) return;
    of = std::move(end);
    (void)descriptor.release();
    raise(answer.why(), "ys: a handle for Asio");
  }
  asio_state(const asio_state &) = delete;
  asio_state &operator=(const asio_state &) = delete;
  ~asio_state() { close(); }

  /* Whoever waits is stopped, the handle closed. The descriptor is the set's. */
  void close() noexcept {
    if (!descriptor.is_open()) return;
    (void)descriptor.release();
    const End gone(std::move(end));
  }
};

/* `Attempt` tries without waiting, and returns a status or a received. */
template <class End, class Attempt>
class asio_operation {
 public:
  using result = std::decay_t<decltype(std::declval<Attempt &>()(std::declval<End &>()))>;

  asio_operation(std::shared_ptr<asio_state<End>> state, Attempt attempt) : state_(std::move(state)), attempt_(std::move(attempt)) {}

  template <class Self>
  void operator()(Self &self, net_error error = {}) {
    // What was found when it began.
    if (result_) return self.complete(std::move(*result_));
    const auto state = state_;
#if YS_ASIO_CANCELS_
    // A message is taken and the result is told, or nothing has happened.
    if (!has_waited_) self.reset_cancellation_state(net::enable_total_cancellation());
#endif
    if (error || !state->descriptor.is_open()) result_.emplace(status::stopped);
    while (!result_) {
      auto answer = attempt_(state->end);
      const status::reason why = status_of(answer).why();
      if (why != status::empty && why != status::full) {
        result_.emplace(std::move(answer));
      } else if (is_cancelled(self)) {
        result_.emplace(status::stopped);
      } else if (state->set.wait(std::chrono::nanoseconds(no_time)).empty()) {
        // Only now it is sure that the descriptor tells of what comes later.
        has_waited_ = true;
        return state->descriptor.async_wait(net::posix::stream_descriptor::wait_read, std::move(self));
      }
    }
    if (has_waited_) return self.complete(std::move(*result_));
    // No handler is called by the function that begins.
    net::post(state->descriptor.get_executor(), std::move(self));
  }

 private:
  template <class Self>
  static bool is_cancelled([[maybe_unused]] Self &self) noexcept {
#if YS_ASIO_CANCELS_
    return self.get_cancellation_state().cancelled() != net::cancellation_type::none;
#else
    return false;
#endif
  }

  std::shared_ptr<asio_state<End>> state_;
  Attempt attempt_;
  std::optional<result> result_;
  bool has_waited_ = false;
};

/* What both kinds of objects share. */
template <class End>
class asio_end {
 public:
  using executor_type = net::any_io_executor;

  asio_end(asio_end &&) noexcept = default;
  asio_end &operator=(asio_end &&other) noexcept {
    if (this != &other) {
      close();
      state_ = std::move(other.state_);
    }
    return *this;
  }

  executor_type get_executor() noexcept { return state_->descriptor.get_executor(); }
  /** The handle, for calls that do not wait, and clone(). It stays this object's. */
  End &handle() noexcept { return state_->end; }
  /** Ends all operations that wait here, with status::stopped. Later ones wait as before. */
  void cancel() noexcept {
    detail::net_error ignored;
    state_->descriptor.cancel(ignored);
  }
  /** Closes the handle, and ends all operations that wait here, with status::stopped. Destruction does the same. */
  void close() noexcept {
    if (state_ != nullptr) state_->close();
  }

 protected:
  asio_end(const executor_type &executor, End &&end) : state_(std::make_shared<asio_state<End>>(executor, std::move(end))) {}
  ~asio_end() { close(); }

  /* Whoever waits learns it from the executor of its handler, or else of this. */
  template <class Token, class Attempt>
  auto begin(Token &&token, Attempt attempt) {
    using operation = asio_operation<End, Attempt>;
    return net::async_compose<Token, void(typename operation::result)>(operation(state_, std::move(attempt)), token, state_->descriptor);
  }

 private:
  std::shared_ptr<asio_state<End>> state_;
};

}  // namespace detail

/** A receiver of any kind, as an I/O object. It has a descriptor of its own. As with a socket: one thread at a time, or one strand;
 *  it is gone before its context is. A context that goes while operations wait destroys their handlers. */
template <class Rx>
class asio_receiver : public detail::asio_end<Rx> {
 public:
  /** Takes the handle. Throws std::bad_alloc or std::system_error; status::attached: the handle is in a set, and stays the caller's. */
  asio_receiver(const detail::net::any_io_executor &executor, Rx &&rx) : detail::asio_end<Rx>(executor, std::move(rx)) {}

  /** The next message: `void(ys::received<T>)`. Waits for it: status::closed if none will come; status::stopped, without a message, by
   *  cancel(), close() or the handler's cancellation slot (of all types). Several may wait at a time: each message goes to one. */
  template <class Token>
  auto async_recv(Token &&token) {
    return this->begin(std::forward<Token>(token), [](Rx &rx) { return rx.try_recv(); });
  }
};

/** A sender of a pipe, a funnel or an exchange, as an I/O object; those of other kinds do not wait for room. Otherwise as asio_receiver. */
template <class Tx>
class asio_sender : public detail::asio_end<Tx> {
 public:
  /** Takes the handle. Throws as asio_receiver does; status::unsupported: the sender of a oneshot. */
  asio_sender(const detail::net::any_io_executor &executor, Tx &&tx) : detail::asio_end<Tx>(executor, std::move(tx)) {}

  /** Sends, and waits for room: `void(ys::status)`. status::closed, status::stopped as there; what is not sent is destroyed. */
  template <class Token>
  auto async_send(typename Tx::value_type message, Token &&token) {
    return this->begin(std::forward<Token>(token), [message = std::move(message)](Tx &tx) mutable { return tx.try_send(std::move(message)); });
  }
};

}  // namespace ys

#endif
