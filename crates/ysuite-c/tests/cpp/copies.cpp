// Broadcasts and watches, whose receivers get copies; senders that threads share; sends that replace the oldest; timers.
#include "check.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

template <class T, class Make>
void everyone_gets(Make make) {
  auto [tx, rx] = ys::broadcast<T>(4);
  auto other = rx.clone();
  for (int n = 0; n < 3; ++n) CHECK(tx.send(make(n)));
  auto late = tx.subscribe();
  CHECK(tx.emplace(make(3)) && tx.try_send(make(4)) == ys::status::full && tx.send_for(make(4), 1ms) == ys::status::timeout);
  int at = 0;
  for (; at < 4; ++at) CHECK(rx.recv() == make(at) && other.try_recv() == make(at));
  CHECK(late.recv() == make(3) && late.recv_for(1ms).status() == ys::status::timeout);
  auto second = tx.clone();
  CHECK(second.send(make(5)) && rx.missed() == 0);
  tx.close();
  for (auto &&message : late) CHECK(message == make(5));
  CHECK(rx.recv() == make(5) && rx.try_recv().closed() && second.send(make(6)) == ys::status::closed);
}

void broadcasts() {
  everyone_gets<int>([](int n) { return n; });
  everyone_gets<std::string>([](int n) { return std::string(40, 'x') + std::to_string(n); });
  everyone_gets<std::vector<int>>([](int n) { return std::vector<int>{n, n}; });
  const auto shared = std::make_shared<int>(1);
  everyone_gets<std::shared_ptr<int>>([&](int) { return shared; });
  CHECK(shared.use_count() == 1);
}

void losses() {
  auto [tx, rx] = ys::lossy_broadcast<std::string>(4);
  for (int n = 0; n < 10; ++n) CHECK(tx.try_send(std::to_string(n)));
  CHECK(rx.try_recv().status() == ys::status::lagged && rx.missed() == 6);
  CHECK(rx.try_recv() == "6");
  for (int n = 10; n < 20; ++n) CHECK(tx.send(std::to_string(n)));
  // Goes on by itself.
  CHECK(rx.recv() == "16" && rx.missed() == 15);
  CHECK(!ys::try_broadcast<int>(0) && !ys::try_lossy_broadcast<int>(0));
}

void copies_are_destroyed_once() {
  tally in;
  {
    auto [tx, rx] = ys::broadcast<counted>(8);
    auto [last_tx, last_rx] = ys::watch<counted>(counted(in, -2));
    auto other = rx.clone();
    for (int n = 0; n < 100; ++n) {
      CHECK(tx.send(counted(in, n)) && last_tx.send(counted(in, n)));
      CHECK(rx.recv()->number() == n);
      if (n % 3 == 0) CHECK(last_rx.recv()->number() == n);
      if (n % 4 == 3) {
        for (int m = n - 3; m <= n; ++m) CHECK(other.recv()->number() == m);
      }
    }
    CHECK(last_rx.get()->number() == 99);
    // What is not sent comes back.
    { const auto gone = std::move(rx); }
    { const auto gone = std::move(other); }
    counted back(in, 7);
    CHECK(tx.send(std::move(back)) == ys::status::closed && back.number() == 7);
  }
  CHECK(in.alive == 0);
}

void the_newest_value() {
  auto [tx, rx] = ys::watch<std::string>("first");
  CHECK(rx.get() == "first" && rx.try_recv().status() == ys::status::empty && rx.recv_for(1ms).status() == ys::status::timeout);
  CHECK(tx.send("second") && tx.send(std::string("third")));
  CHECK(rx.recv() == "third" && rx.try_recv().status() == ys::status::empty);
  auto other = tx.subscribe();
  auto sharing = tx.share();
  CHECK(other.get() == "third" && sharing.send("fourth"));
  CHECK(rx.recv() == "fourth" && other.recv() == "fourth");
  tx.close();
  CHECK(!rx.closed());
  { const auto gone = std::move(sharing); }
  CHECK(rx.closed() && !rx.recv() && rx.get() == "fourth");
  auto [level, at] = ys::watch<int>(1);
  CHECK(level.send(2) && at.recv() == 2);
}

#if defined(__cpp_exceptions)
struct copies_badly {
  int number;
  bool is_bad;
  copies_badly(int its_number, bool bad) : number(its_number), is_bad(bad) {}
  copies_badly(copies_badly &&) noexcept = default;
  copies_badly(const copies_badly &other) : number(other.number), is_bad(other.is_bad) {
    if (is_bad) throw std::runtime_error("no copy");
  }
};

// The message is received: the next one comes after.
void what_a_copy_throws_passes() {
  auto [tx, rx] = ys::broadcast<copies_badly>(8);
  auto other = rx.clone();
  for (int n = 0; n < 4; ++n) CHECK(tx.emplace(n, n == 1));
  int thrown = 0;
  for (int n = 0; n < 4; ++n) {
    try {
      CHECK(rx.recv()->number == n);
    } catch (const std::runtime_error &) {
      ++thrown;
      CHECK(n == 1);
    }
  }
  CHECK(thrown == 1 && other.recv()->number == 0);
}
#else
void what_a_copy_throws_passes() {}
#endif

void between_threads() {
  const int many = is_long() ? 100000 : 2000;
  auto [tx, rx] = ys::broadcast<std::string>(8);
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([from = rx.clone(), many]() mutable {
      int next = 0;
      for (auto message : from) CHECK(message == std::to_string(next++));
      CHECK(next == many);
    });
  }
  { const auto gone = std::move(rx); }
  for (int n = 0; n < many; ++n) CHECK(tx.send(std::to_string(n)));
  tx.close();
  for (std::thread &thread : threads) thread.join();
}

void a_shared_sender() {
  const int each = is_long() ? 100000 : 2000;
  tally in;
  auto [tx, rx] = ys::exchange<counted>(16);
  {
    const auto shared = tx.share();
    { const auto gone = std::move(tx); }
    std::vector<std::thread> threads;
    for (int number = 0; number < 3; ++number) {
      threads.emplace_back([&shared, &in, each] {
        for (int n = 0; n < each; ++n) CHECK(n % 2 == 0 ? shared.send(counted(in, n)) : shared.emplace(in, n));
      });
    }
    for (int n = 0; n < 3 * each; ++n) CHECK(rx.recv());
    for (std::thread &thread : threads) thread.join();
    CHECK(!shared.closed() && rx.size() == 0);
    for (int n = 0; n < 16; ++n) CHECK(shared.try_send(counted(in, n)));
    counted more(in, 17);
    CHECK(shared.try_send(std::move(more)) == ys::status::full && shared.send_for(std::move(more), 1ms) == ys::status::timeout);
    CHECK(more.number() == 17 && shared.try_send(more) == ys::status::full);
  }
  CHECK(rx.closed() && in.alive == 16);
  { const auto gone = std::move(rx); }
  CHECK(in.alive == 0);
}

template <class T, class Make>
void replaces(Make make) {
  auto [tx, rx] = ys::exchange<T>(2);
  std::optional<T> displaced;
  CHECK(tx.force_send(make(0)) && tx.force_send(make(1), displaced) && !displaced);
  CHECK(tx.force_send(make(2), displaced) && displaced && *displaced == make(0));
  CHECK(tx.force_send(make(3)));
  CHECK(rx.recv() == make(2) && tx.force_send(make(4), displaced) && !displaced);
  rx.close();
  T last = make(5);
  CHECK(tx.force_send(std::move(last)) == ys::status::closed && last == make(5));
}

void the_oldest_is_replaced() {
  replaces<int>([](int n) { return n; });
  replaces<std::string>([](int n) { return std::string(50, 'y') + std::to_string(n); });
}

void timers() {
  const auto end = ys::timer::after(20ms), beats = ys::timer::every(std::chrono::duration<double, std::milli>(1));
  const auto never = ys::timer::after(std::chrono::hours::max());
  CHECK(never.wait(0s) == ys::status::empty && never.wait(1ms) == ys::status::timeout && beats.wait());
  auto [tx, rx] = ys::pipe<int>();
  CHECK(tx.send(1));
  ys::selector select(4);
  const std::size_t over = *select.add(end), beat = *select.add(beats), message = *select.add(rx);
  CHECK(select.add(never));
  int got = 0, count = 0;
  for (std::size_t id; (id = *select.wait()) != over;) {
    if (id == beat && beats.wait(0s)) ++count;
    if (id == message && rx.try_recv()) ++got;
  }
  CHECK(got == 1 && count <= 20 && end.wait());
  CHECK(select.remove(end) && select.remove(end) == ys::status::attached);
}

}  // namespace

int main() {
  RUN(broadcasts);
  RUN(losses);
  RUN(copies_are_destroyed_once);
  RUN(the_newest_value);
  RUN(what_a_copy_throws_passes);
  RUN(between_threads);
  RUN(a_shared_sender);
  RUN(the_oldest_is_replaced);
  RUN(timers);
}
