// Needs C++20 and Asio: handles as I/O objects of one io_context, on this thread alone.
#include "check.hpp"
#include "with_asio.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

// GCC 12 takes what is in an empty std::optional for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace {

using namespace std::chrono_literals;

std::string text(int n) { return std::string(40, 'z') + std::to_string(n); }

template <class Rx>
ys::asio_receiver<Rx> on(asio::io_context &context, Rx rx) {
  return ys::asio_receiver<Rx>(context.get_executor(), std::move(rx));
}

// Receives until the channel ends, one operation after the other.
template <class Rx, class T>
void collect(ys::asio_receiver<Rx> &rx, std::vector<T> &to, ys::status &end) {
  rx.async_recv([&](ys::received<T> message) {
    if (!message) {
      end = message.status();
      return;
    }
    to.push_back(std::move(*message));
    collect(rx, to, end);
  });
}

// Of each kind: what is there, what comes later, and the end.
template <class Channel>
void a_kind(Channel channel) {
  asio::io_context context;
  auto rx = on(context, std::move(channel.rx));
  CHECK(channel.tx.send(text(0)));
  std::vector<std::string> got;
  ys::status end = ys::status::ok;
  collect(rx, got, end);
  // Not by the function that begins it.
  CHECK(got.empty());
  context.poll();
  CHECK(got.size() == 1 && !context.stopped());
  for (int n = 1; n < 50; ++n) {
    CHECK(channel.tx.send(text(n)));
    context.poll();
  }
  CHECK(got.size() == 50 && got[49] == text(49) && end == ys::status::ok);
  CHECK(channel.tx.close());
  context.run();
  CHECK(end == ys::status::closed);
}

void kinds() {
  a_kind(ys::pipe<std::string>());
  a_kind(ys::pipe<std::string>(4));
  a_kind(ys::funnel<std::string>(4));
  a_kind(ys::exchange<std::string>(4));
  a_kind(ys::broadcast<std::string>(4));
  asio::io_context context;
  auto [tx, rx] = ys::oneshot<std::unique_ptr<int>>();
  auto answer = on(context, std::move(rx));
  int got = 0;
  answer.async_recv([&](ys::received<std::unique_ptr<int>> message) { got = **message; });
  context.poll();
  CHECK(got == 0 && tx.send(std::make_unique<int>(7)) && context.run() != 0 && got == 7);
  auto [value, seen] = ys::watch<std::string>("first");
  auto watches = on(context, std::move(seen));
  std::vector<std::string> values;
  ys::status end = ys::status::ok;
  collect(watches, values, end);
  context.restart();
  context.poll();
  CHECK(value.send("second") && value.send("third") && context.poll() != 0 && values.back() == "third");
}

// One message of room: sends and receives wait for each other.
void room() {
  const int many = is_long() ? 200000 : 5000;
  asio::io_context context;
  auto [out, in] = ys::exchange<std::unique_ptr<int>>(1);
  ys::asio_sender tx(context.get_executor(), std::move(out));
  auto rx = on(context, std::move(in));
  std::vector<std::unique_ptr<int>> got;
  ys::status end = ys::status::ok;
  int next = 0;
  struct sends {
    ys::asio_sender<ys::exchange_sender<std::unique_ptr<int>>> &tx;
    int &next;
    int many;
    void operator()(ys::status answer) {
      CHECK(answer);
      if (next == many) return tx.close();
      tx.async_send(std::make_unique<int>(next++), *this);
    }
  };
  sends{tx, next, many}(ys::status::ok);
  collect(rx, got, end);
  context.run();
  CHECK(got.size() == static_cast<std::size_t>(many) && end == ys::status::closed);
  for (int n = 0; n < many; ++n) CHECK(*got[static_cast<std::size_t>(n)] == n);
}

// Operations that wait are ended: all, one, or by the end of the object. None of them takes a message.
void ends() {
  asio::io_context context;
  auto [tx, in] = ys::pipe<std::string>(1);
  std::optional rx(on(context, std::move(in)));
  std::vector<std::string> got;
  ys::status end = ys::status::ok;
  collect(*rx, got, end);
  context.poll();
  rx->cancel();
  context.run();
  CHECK(end == ys::status::stopped && got.empty());
  // What is there at once is received by an operation that is ended.
  asio::cancellation_signal signal;
  int received = 0;
  const auto once = [&](ys::received<std::string> message) {
    end = message.status();
    received += message.has_value() ? 1 : 0;
  };
  for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total}) {
    end = ys::status::ok;
    rx->async_recv(asio::bind_cancellation_slot(signal.slot(), once));
    context.restart();
    context.poll();
    CHECK(end == ys::status::ok);
    signal.emit(type);
    context.run();
    CHECK(end == ys::status::stopped && received == 0);
  }
  CHECK(tx.send("there"));
  rx->async_recv(asio::bind_cancellation_slot(signal.slot(), once));
  signal.emit(asio::cancellation_type::terminal);
  context.restart();
  context.run();
  CHECK(end == ys::status::ok && received == 1);
  // A stop of the channel.
  collect(*rx, got, end);
  context.restart();
  context.poll();
  rx->handle().make_stopper().stop();
  context.run();
  CHECK(end == ys::status::stopped);

  auto [out, last] = ys::exchange<std::string>(1);
  std::optional sender(ys::asio_sender(context.get_executor(), std::move(out)));
  CHECK(sender->handle().send("there"));
  ys::status answer = ys::status::ok;
  const auto told = [&](ys::status why) { answer = why; };
  sender->async_send("too many", told);
  context.restart();
  context.poll();
  CHECK(answer == ys::status::ok);
  sender.reset();
  context.run();
  CHECK(answer == ys::status::stopped && last.recv() == "there" && last.try_recv().closed());
  // Of an object that has ended before its operation began to wait.
  rx.emplace(on(context, ys::pipe<std::string>().rx));
  collect(*rx, got, end);
  rx.reset();
  context.restart();
  context.run();
  CHECK(end == ys::status::closed || end == ys::status::stopped);
}

// The peer is gone, before and while a sender waits.
void a_receiver_that_is_gone() {
  asio::io_context context;
  auto channel = ys::pipe<std::string>(1);
  std::optional in(std::move(channel.rx));
  ys::asio_sender tx(context.get_executor(), std::move(channel.tx));
  std::vector<ys::status::reason> answers;
  const auto told = [&](ys::status why) { answers.push_back(why.why()); };
  tx.async_send(text(1), told);
  tx.async_send(text(2), told);
  context.poll();
  CHECK(answers.size() == 1);
  in.reset();
  context.run();
  tx.async_send(text(3), told);
  context.restart();
  context.run();
  CHECK(answers == std::vector<ys::status::reason>({ys::status::ok, ys::status::closed, ys::status::closed}));
}

// A handle that is in a set already stays the caller's, and the descriptor that was opened is closed once.
void refused() {
  asio::io_context context;
  auto [tx, rx] = ys::exchange<std::string>(4);
  ys::poll_set set(1);
  CHECK(set.attach(rx, 0) && tx.send("text"));
  try {
    const ys::asio_receiver refuses(context.get_executor(), std::move(rx));
    CHECK(false);
  } catch (const std::system_error &error) {
    CHECK(error.code() == std::error_code(ys::status::attached, ys::category()));
  }
  CHECK(set.detach(rx) && rx.recv() == "text");
  auto receives = on(context, std::move(rx));
  int got = 0;
  receives.async_recv([&](ys::received<std::string> message) { got += message == "late" ? 1 : 0; });
  context.poll();
  CHECK(tx.send("late") && context.run() != 0 && got == 1);
}

// The context goes while operations wait, or are about to tell: handlers and messages are destroyed.
void a_context_that_goes() {
  tally handlers, messages;
  auto [tx, in] = ys::exchange<counted>(1);
  {
    std::optional<asio::io_context> context(std::in_place);
    auto rx = std::make_shared<ys::asio_receiver<ys::exchange_receiver<counted>>>(context->get_executor(), in.clone());
    auto sender = std::make_shared<ys::asio_sender<ys::exchange_sender<counted>>>(context->get_executor(), tx.clone());
    // The handler has the object, as a coroutine has its variables.
    const auto takes = [&](auto object) {
      return [held = std::make_shared<counted>(handlers, 1), object](auto &&) { CHECK(false); };
    };
    auto idle = std::make_shared<ys::asio_receiver<ys::exchange_receiver<counted>>>(context->get_executor(), in.clone());
    rx->async_recv(takes(rx));
    idle->async_recv(takes(idle));
    context->poll();
    sender->async_send(counted(messages, 1), takes(sender));
    sender->async_send(counted(messages, 2), takes(sender));
    sender->async_send(counted(messages, 3), takes(sender));
    CHECK(handlers.alive >= 5 && messages.alive >= 3);
    rx.reset(), sender.reset(), idle.reset();
    context.reset();
    CHECK(handlers.alive == 0);
  }
  while (in.try_recv()) continue;
  CHECK(messages.alive == 0 && messages.made > 3);
}

#if defined(ASIO_HAS_CO_AWAIT)
using asio::use_awaitable;

asio::awaitable<void> doubles(ys::receiver<std::string> in, ys::exchange_sender<std::string> out) {
  const auto executor = co_await asio::this_coro::executor;
  ys::asio_receiver rx(executor, std::move(in));
  ys::asio_sender tx(executor, std::move(out));
  while (auto line = co_await rx.async_recv(use_awaitable)) {
    if (!co_await tx.async_send(*line + *line, use_awaitable)) break;
  }
}
asio::awaitable<void> collects(ys::exchange_receiver<std::string> in, std::vector<std::string> &to, int &ended) {
  ys::asio_receiver rx(co_await asio::this_coro::executor, std::move(in));
  while (auto line = co_await rx.async_recv(use_awaitable)) to.push_back(std::move(*line));
  ++ended;
}
asio::awaitable<void> produces(ys::sender<std::string> out, int many) {
  ys::asio_sender tx(co_await asio::this_coro::executor, std::move(out));
  for (int n = 0; n < many; ++n) CHECK(co_await tx.async_send(std::to_string(n), use_awaitable));
}

// Stages that wait, for messages and for room; several at the end.
void a_pipeline() {
  const int many = is_long() ? 100000 : 3000;
  asio::io_context context;
  auto [tx, first] = ys::pipe<std::string>(2);
  auto [out, last] = ys::exchange<std::string>(1);
  std::vector<std::string> got[3];
  int ended = 0;
  for (auto &to : got) asio::co_spawn(context, collects(last.clone(), to, ended), asio::detached);
  asio::co_spawn(context, doubles(std::move(first), std::move(out)), asio::detached);
  asio::co_spawn(context, produces(std::move(tx), many), asio::detached);
  context.run();
  CHECK(ended == 3 && got[0].size() + got[1].size() + got[2].size() == static_cast<std::size_t>(many));
}

// Several coroutines wait for one object, and one of them for a time as well.
void a_time() {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context context;
  auto [tx, in] = ys::pipe<std::string>();
  auto rx = on(context, std::move(in));
  int timeouts = 0, received = 0;
  const auto within = [&](std::chrono::milliseconds time) -> asio::awaitable<void> {
    asio::steady_timer timer(context, time);
    const auto first = co_await (rx.async_recv(use_awaitable) || timer.async_wait(use_awaitable));
    first.index() == 0 ? ++received : ++timeouts;
  };
  asio::co_spawn(context, within(1ms), asio::detached);
  context.run();
  CHECK(timeouts == 1 && received == 0);
  asio::co_spawn(context, within(1h), asio::detached);
  asio::co_spawn(context, within(1h), asio::detached);
  context.restart();
  context.poll();
  CHECK(tx.send("one") && context.poll() != 0 && received == 1 && tx.send("two"));
  context.run();
  CHECK(timeouts == 1 && received == 2);
}

// Coroutines that wait go with their context, and the handles in them: the peers learn it.
void coroutines_that_go() {
  auto [tx, first] = ys::pipe<std::string>(2);
  auto [out, last] = ys::exchange<std::string>(1);
  std::vector<std::string> got;
  int ended = 0;
  {
    asio::io_context context;
    asio::co_spawn(context, doubles(std::move(first), out.clone()), asio::detached);
    asio::co_spawn(context, collects(last.clone(), got, ended), asio::detached);
    context.poll();
    CHECK(tx.send("ab") && context.poll() != 0 && got == std::vector<std::string>({"abab"}));
    // One has been told, and does not go on any more.
    CHECK(out.send("told"));
  }
  CHECK(tx.send("lost") == ys::status::closed && ended == 0 && !out.closed());
}
#else
void a_pipeline() {}
void a_time() {}
void coroutines_that_go() {}
#endif

}  // namespace

int main() {
  RUN(kinds);
  RUN(room);
  RUN(ends);
  RUN(a_receiver_that_is_gone);
  RUN(refused);
  RUN(a_context_that_goes);
  RUN(a_pipeline);
  RUN(a_time);
  RUN(coroutines_that_go);
}

WITH_ASIO_END
