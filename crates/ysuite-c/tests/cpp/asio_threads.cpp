// Needs C++20 and Asio: handles as I/O objects, with their peers on other threads, and a context that several threads run.
#include "check.hpp"
#include "with_asio.hpp"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// GCC 12 takes what is in an empty std::optional for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace {

#if defined(ASIO_HAS_CO_AWAIT)
using asio::use_awaitable;

int many() { return is_long() ? 100000 : 3000; }

void run(asio::io_context &context, int threads) {
  std::vector<std::thread> runs;
  for (int n = 0; n < threads; ++n) runs.emplace_back([&context] { context.run(); });
  for (auto &thread : runs) thread.join();
}

asio::awaitable<void> counts(ys::receiver<std::string> in, std::vector<int> &next) {
  ys::asio_receiver rx(co_await asio::this_coro::executor, std::move(in));
  while (auto message = co_await rx.async_recv(use_awaitable)) {
    const auto from = static_cast<std::size_t>((*message)[0] - 'a');
    CHECK(std::stoi(message->substr(1)) == next[from]++);
  }
}

// Threads send to a coroutine, each in its order.
void from_threads() {
  asio::io_context context;
  auto [tx, rx] = ys::funnel<std::string>(4);
  std::vector<int> next(3);
  asio::co_spawn(context, counts(std::move(rx), next), asio::detached);
  std::vector<std::thread> senders;
  for (char name = 'a'; name < 'd'; ++name) {
    senders.emplace_back([tx = tx.clone(), name]() mutable {
      for (int n = 0; n < many(); ++n) CHECK(tx.send(name + std::to_string(n)));
    });
  }
  tx.close();
  run(context, 1);
  for (auto &sender : senders) sender.join();
  CHECK(next == std::vector<int>(3, many()));
}

asio::awaitable<void> passes(ys::exchange_receiver<std::unique_ptr<int>> in, ys::exchange_sender<std::unique_ptr<int>> out) {
  const auto executor = co_await asio::this_coro::executor;
  ys::asio_receiver rx(executor, std::move(in));
  ys::asio_sender tx(executor, std::move(out));
  while (auto message = co_await rx.async_recv(use_awaitable)) {
    if (!co_await tx.async_send(std::move(*message), use_awaitable)) break;
  }
}

// Coroutines on strands of a context that two threads run, between two threads that wait by themselves.
void between_threads() {
  asio::io_context context;
  auto [tx, first] = ys::exchange<std::unique_ptr<int>>(2);
  auto [out, rx] = ys::exchange<std::unique_ptr<int>>(2);
  for (int n = 0; n < 3; ++n) asio::co_spawn(asio::make_strand(context), passes(first.clone(), out.clone()), asio::detached);
  { const auto gone = std::make_pair(std::move(first), std::move(out)); }
  std::thread sender([tx = std::move(tx)]() mutable {
    for (int n = 0; n < many(); ++n) CHECK(tx.send(std::make_unique<int>(n)));
  });
  long sum = 0;
  std::thread receiver([&sum, rx = std::move(rx)]() mutable {
    while (auto message = rx.recv()) sum += **message;
  });
  run(context, 2);
  sender.join(), receiver.join();
  CHECK(sum == static_cast<long>(many()) * (many() - 1) / 2);
}

// A wait is cancelled as a message comes: it is received, or still there.
void races() {
  const int rounds = is_long() ? 20000 : 500;
  asio::io_context context;
  auto [tx, in] = ys::pipe<int>();
  ys::asio_receiver rx(context.get_executor(), std::move(in));
  int received = 0;
  for (int n = 0; n < rounds; ++n) {
    asio::cancellation_signal signal;
    bool is_done = false;
    rx.async_recv(asio::bind_cancellation_slot(signal.slot(), [&](ys::received<int> message) {
      is_done = true;
      if (message) {
        CHECK(*message == received++);
      } else {
        CHECK(message.status() == ys::status::stopped);
      }
    }));
    std::thread sends([&tx = tx, n] { CHECK(tx.send(n)); });
    context.restart();
    context.poll();
    signal.emit(asio::cancellation_type::total);
    context.run();
    CHECK(is_done);
    sends.join();
  }
  while (auto message = rx.handle().try_recv()) CHECK(*message == received++);
  CHECK(received == rounds);
}
#else
void from_threads() {}
void between_threads() {}
void races() {}
#endif

}  // namespace

int main() {
  RUN(from_threads);
  RUN(between_threads);
  RUN(races);
}

WITH_ASIO_END
