// Times, their values and results; handles that are closed, or moved-from; sets, select and pools.
#include "check.hpp"

#include <poll.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;
constexpr std::chrono::nanoseconds longest = std::chrono::nanoseconds::max();

void times_of_receivers() {
  auto [tx, rx] = ys::pipe<int>(2);
  CHECK(rx.recv_for(0ns).status() == ys::status::empty);
  CHECK(rx.recv_for(-5s).status() == ys::status::empty);
  CHECK(rx.recv_for(2ms).status() == ys::status::timeout);
  CHECK(rx.recv_for(std::chrono::duration<double>(0.001)).status() == ys::status::timeout);
  CHECK(rx.recv_until(steady_clock::now() + 2ms).status() == ys::status::timeout);
  CHECK(!rx.recv_until(system_clock::now() - 1h));
  // What is no number is no time.
  const std::chrono::duration<double> none(std::numeric_limits<double>::quiet_NaN());
  CHECK(!rx.recv_for(none) && !rx.recv_until(std::chrono::time_point<steady_clock, std::chrono::duration<double>>(none)));
  CHECK(rx.wait(0s) == ys::status::empty && rx.wait(1ms) == ys::status::timeout);
  CHECK(tx.send(1) && tx.send(2));
  CHECK(rx.wait(0s) && rx.wait() && rx.wait(longest));
  CHECK(rx.recv_for(longest) == 1);
  CHECK(rx.recv_until(steady_clock::now() - 1s) == 2);
  tx.close();
  CHECK(rx.recv_for(longest).closed() && rx.wait(longest) == ys::status::closed);
}

void times_of_senders() {
  auto [tx, rx] = ys::funnel<int>(1);
  CHECK(tx.send(1));
  CHECK(tx.try_send(2) == ys::status::full && tx.send_for(2, 0ms) == ys::status::full);
  CHECK(tx.send_for(2, 2ms) == ys::status::timeout);
  CHECK(tx.send_until(2, steady_clock::now() + 2ms) == ys::status::timeout);
  CHECK(tx.wait_room(0ms) == ys::status::full && tx.wait_room(2ms) == ys::status::timeout);
  CHECK(tx.wait_closed(2ms) == ys::status::timeout && tx.size() == 1);
  std::thread later([&rx = rx] {
    std::this_thread::sleep_for(5ms);
    CHECK(rx.recv() == 1);
  });
  CHECK(tx.send_for(2, longest));
  later.join();
  CHECK(rx.recv() == 2 && tx.wait_room());
  std::thread closer([&rx = rx] {
    std::this_thread::sleep_for(5ms);
    CHECK(rx.close() && !rx.close());
  });
  CHECK(tx.wait_closed());
  closer.join();
  CHECK(tx.closed() && tx.send(3) == ys::status::closed && tx.wait_room() == ys::status::closed);
}

void waits_of_exchanges() {
  auto [tx, rx] = ys::exchange<int>(1);
  CHECK(rx.recv_for(2ms).status() == ys::status::timeout && rx.try_recv().status() == ys::status::empty);
  CHECK(tx.send(1) && tx.send_for(2, 2ms) == ys::status::timeout);
  CHECK(rx.recv_until(steady_clock::now()) == 1);
  auto [ask, answer] = ys::oneshot<int>();
  CHECK(answer.recv_for(1ms).status() == ys::status::timeout);
  CHECK(ask.send(5) && answer.recv_for(longest) == 5);
  CHECK(answer.try_recv().closed());
}

void ends_that_were_moved_from() {
  auto [tx, rx] = ys::pipe<std::string>();
  auto to = std::move(tx);
  auto from = std::move(rx);
  CHECK(!tx && !rx && to && from);
  std::string kept = "kept";
  CHECK(tx.send(std::move(kept)) == ys::status::invalid && kept == "kept");
  CHECK(tx.closed() && rx.closed() && !tx.close() && tx.size() == 0);
  CHECK(!rx.recv() && rx.try_recv().status() == ys::status::invalid);
  CHECK(rx.wait() == ys::status::invalid && tx.reserve().status() == ys::status::invalid);
  CHECK(to.send("there") && from.recv() == std::string("there"));
  to = std::move(tx);
  CHECK(!to && from.try_recv().closed());
}

void opening_that_fails() {
  ys_options options = YS_OPTIONS_INIT;
  options.size = 200;
  ys_tx *tx = nullptr;
  ys_rx *rx = nullptr;
  CHECK(ys_pipe_open(&options, &tx, &rx) == YS_EINVAL && tx == nullptr && rx == nullptr);
  CHECK(!ys::socketpair_set::try_open(0) && !ys::selector::try_open(0) && !ys::pool::try_open({}));
#if defined(__cpp_exceptions)
  try {
    ys::poll_set none(0);
    CHECK(false);
  } catch (const std::system_error &error) {
    CHECK(std::strlen(error.what()) > 0);
  }
#endif
}

void sets_with_a_descriptor() {
  ys::socketpair_set set(8);
  auto [tx, rx] = ys::pipe<int>();
  CHECK(set.attach(rx, 3) && set.attach(rx, 4) == ys::status::attached);
  ys::signaler signaler = set.make_signaler();
  // Up at first: there may be messages already.
  CHECK(rx.try_recv().status() == ys::status::empty);
  CHECK(set.wait(0s).empty());
  pollfd descriptor{set.fd(), POLLIN, 0};
  CHECK(::poll(&descriptor, 1, 0) == 0);
  std::thread thread([&tx = tx, &signaler] {
    CHECK(tx.send(1));
    CHECK(signaler.signal(5) && signaler.signal(8) == ys::status::out_of_range);
  });
  CHECK(::poll(&descriptor, 1, 60000) == 1);
  thread.join();
  auto up = set.wait();
  CHECK(up.size() == 2 && up[0] == 3 && up[1] == 5);
  CHECK(rx.try_recv() == 1 && !rx.try_recv() && set.wait(0s).empty());
  CHECK(set.detach(rx) && set.detach(rx) == ys::status::attached);
}

void sets_without() {
  ys::poll_set set(2);
  auto [tx, rx] = ys::funnel<int>(1);
  CHECK(set.attach(tx, 0) && set.attach(rx, 1));
  CHECK(tx.send(1) && tx.try_send(2) == ys::status::full);
  auto up = set.wait(60s);
  CHECK(up.size() == 1 && up[0] == 1);
  CHECK(rx.recv() == 1 && rx.try_recv().status() == ys::status::empty);
  up = set.wait(60s);
  CHECK(up.size() == 1 && up[0] == 0);
}

void first_of_several() {
  ys::selector select(4);
  auto [a, first] = ys::pipe<int>();
  auto [b, second] = ys::exchange<int>(4);
  const auto one = select.add(first), two = select.add(second);
  CHECK(one && two && select.add(first).status() == ys::status::attached);
  while (auto id = select.wait(0s)) {
    if (*id == *one) CHECK(!first.try_recv());
    if (*id == *two) CHECK(!second.try_recv());
  }
  CHECK(select.wait(2ms).status() == ys::status::timeout);
  std::thread thread([&b = b] { CHECK(b.send(7)); });
  CHECK(select.wait(60s) == *two && second.try_recv() == 7);
  thread.join();
  CHECK(select.remove(first) && select.remove(first) == ys::status::attached);
}

void pools() {
  ys::pool pool{{64, 2}, {1000, 1}};
  auto [tx, rx] = ys::pipe<ys::pool_message>(4);
  auto message = pool.take(10, 0s);
  CHECK(message && message.size() == 10 && message.capacity() == 64);
  std::memcpy(message.data(), "0123456789", 10);
  CHECK(tx.send(std::move(message)) && !message);
  CHECK(pool.take(64, 0s) && !pool.take(2000, 0s));
  auto kept = pool.take(64, 0s);
  CHECK(!pool.take(64, 2ms));
  auto got = rx.recv();
  CHECK(got && std::memcmp(got->data(), "0123456789", 10) == 0 && got->resize(20) && got->size() == 20);
  CHECK(reinterpret_cast<std::uintptr_t>(got->data()) % 16 == 0);
  got.reset();
  CHECK(pool.take(64, 60s));
  // A message that is assigned to gives its block back; one that is assigned to itself keeps it.
  auto first = pool.take(64, 60s);
  CHECK(first && !pool.try_take(64));
  auto &same = first;
  first = std::move(same);
  CHECK(first && !pool.try_take(64));
  first = pool.take(1000);
  CHECK(first.capacity() == 1000 && pool.try_take(64) && !pool.try_take(1000));
  first = ys::pool_message();
  CHECK(!first && pool.try_take(1000));
}

}  // namespace

// Of a clock with hours for ticks, which lie beyond the nanoseconds of the year 2262.
void a_distant_moment() {
  using hours = std::chrono::hours;
  using moment = std::chrono::time_point<std::chrono::system_clock, hours>;
  for (const int distant : {2600000, 3000000, 2000000000}) {
    auto [tx, rx] = ys::pipe<int>(1);
    std::thread later([sender = std::move(tx)]() mutable {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      CHECK(sender.send(7));
    });
    CHECK(rx.recv_until(moment(hours(distant))) == 7);
    later.join();
  }
  auto [tx, rx] = ys::pipe<int>(1);
  CHECK(!rx.recv_until(moment(hours(-2000000000))));
  CHECK(tx.send(7));
}

int main() {
  RUN(times_of_receivers);
  RUN(a_distant_moment);
  RUN(times_of_senders);
  RUN(waits_of_exchanges);
  RUN(ends_that_were_moved_from);
  RUN(opening_that_fails);
  RUN(sets_with_a_descriptor);
  RUN(sets_without);
  RUN(first_of_several);
  RUN(pools);
}
