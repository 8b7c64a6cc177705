// Shutting down, and handles of C that are taken over.
#include "check.hpp"

#include <chrono>
#include <memory>
#include <system_error>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

template <class Wait>
void is_stopped(const ys::stopper &stopper, Wait wait) {
  ys::status answer = ys::status::ok;
  std::thread thread([&] { answer = wait(); });
  std::this_thread::sleep_for(5ms);
  CHECK(!stopper.stopped());
  stopper.stop();
  thread.join();
  CHECK(answer == ys::status::stopped && stopper.stopped() && wait() == ys::status::stopped);
}

void ends() {
  auto [tx, rx] = ys::pipe<std::string>(1);
  is_stopped(rx.make_stopper(), [&rx = rx] { return rx.recv_for(10min).status(); });
  // What can be done at once is done as before.
  CHECK(tx.send("there") && tx.send("there") == ys::status::stopped && rx.recv() == std::string("there"));
  CHECK(!rx.recv() && rx.try_recv().status() == ys::status::stopped && !rx.try_recv().closed());
  auto [to, from] = ys::exchange<std::unique_ptr<int>>(1);
  CHECK(to.send(std::make_unique<int>(1)));
  auto kept = std::make_unique<int>(2);
  is_stopped(to.make_stopper(), [&to = to, &kept] { return to.send(std::move(kept)); });
  CHECK(kept && *kept == 2 && **from.recv() == 1);
  auto [ask, answer] = ys::oneshot<int>();
  is_stopped(*ask.try_stopper(), [&answer = answer] { return answer.wait(); });
  CHECK(!ys::sender<int>(nullptr).try_stopper());
}

void loops_end() {
  auto [tx, rx] = ys::funnel<int>(64);
  std::vector<std::thread> threads;
  std::atomic<int> sent{0};
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([tx = tx.clone(), &sent]() mutable {
      while (tx.send(1)) ++sent;
    });
  }
  const ys::stopper stopper = rx.make_stopper();
  int received = 0;
  for (auto &run : rx.runs()) {
    received += static_cast<int>(run.size());
    if (received > 1000) break;
  }
  stopper.stop();
  for (auto &thread : threads) thread.join();
  // All that was sent is there, and then the loop stops.
  for (int message : rx) received += message;
  CHECK(received == sent);
  auto run = rx.try_run();
  CHECK(run.status() == ys::status::stopped);
}

void others() {
  ys::socketpair_set set(2);
  is_stopped(set.make_stopper(), [&set] { return set.wait().status(); });
  ys::selector selector(2);
  is_stopped(selector.make_stopper(), [&selector] { return selector.wait().status(); });
  ys::pool pool{{64, 1}};
  auto block = pool.take(64);
  const ys::stopper stopper = pool.make_stopper();
  std::thread thread([&pool] { CHECK(!pool.take(64)); });
  std::this_thread::sleep_for(5ms);
  stopper.stop();
  thread.join();
  CHECK(!pool.take(64));
}

struct pair_of_numbers {
  double a, b;
};

void ends_of_other_messages() {
  auto [tx, rx] = ys::pipe<pair_of_numbers>();
  ys_rx *const raw = rx.release();
  CHECK(ys_rx_message_size(raw) == sizeof(pair_of_numbers) && ys_rx_message_align(raw) == alignof(pair_of_numbers));
#if defined(__cpp_exceptions)
  if (ys_is_checked() == 0) {
    bool is_refused = false;
    try {
      const ys::receiver<int> wrong(raw);
    } catch (const std::system_error &error) {
      is_refused = error.code() == std::errc::invalid_argument;
    }
    CHECK(is_refused);
    try {
      const ys::exchange_receiver<std::unique_ptr<int>> wrong(raw);
      CHECK(false);
    } catch (const std::system_error &) {
    }
  }
#endif
  // It was not taken.
  ys::receiver<pair_of_numbers> right(raw);
  CHECK(tx.send({1, 2}) && right.recv()->b == 2);
}

void a_bound_that_is_none() {
  const int less = -1;
  CHECK(!ys::try_pipe<int>(static_cast<std::size_t>(less)));
#if defined(__cpp_exceptions)
  try {
    (void)ys::pipe<int>(static_cast<std::size_t>(less));
    CHECK(false);
  } catch (const std::system_error &error) {
    CHECK(error.code() == std::errc::invalid_argument);
  }
#endif
}

}  // namespace

int main() {
  RUN(ends);
  RUN(loops_end);
  RUN(others);
  RUN(ends_of_other_messages);
  RUN(a_bound_that_is_none);
}
