// Needs C++20: waits that a std::stop_token ends, and coroutines.
#include "check.hpp"
#include "tokens.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>

namespace {

using namespace std::chrono_literals;

#ifdef YS_HAS_STOP_TOKEN
// A receiver sleeps, is stopped alone, and goes on.
template <class Channel, class Make>
void a_receiver(Channel channel, Make make) {
  auto &[tx, rx] = channel;
  std::atomic<int> got{0};
  std::jthread reader([&rx = rx, &got](std::stop_token token) {
    for (;;) {
      auto message = rx.recv(token);
      if (!message) {
        CHECK(message.status() == ys::status::stopped);
        break;
      }
      got.fetch_add(1);
    }
  });
  CHECK(tx.send(make(1)));
  while (got == 0) std::this_thread::sleep_for(100us);
  std::this_thread::sleep_for(1ms);
  reader.request_stop();
  reader.join();
  // The channel is as it was, and later waits are none of that token's business.
  CHECK(rx.recv_for(1ms).status() == ys::status::timeout && tx.send(make(2)) && rx.recv() == make(2));
  std::stop_source source;
  CHECK(tx.send(make(3)));
  source.request_stop();
  // What is there is received all the same.
  CHECK(rx.recv(source.get_token()) == make(3) && rx.recv(source.get_token()).status() == ys::status::stopped);
  // One that can never be stopped.
  CHECK(tx.send(make(4)) && rx.recv(std::stop_token()) == make(4));
  const ys::stopper all = rx.make_stopper();
  std::jthread waits([&rx = rx](std::stop_token token) { CHECK(rx.recv(token).status() == ys::status::stopped); });
  std::this_thread::sleep_for(1ms);
  all.stop();
}

template <class Channel, class Make>
void a_sender(Channel channel, Make make) {
  auto &[tx, rx] = channel;
  std::jthread writer([&tx = tx, make](std::stop_token token) {
    for (int n = 0;; ++n) {
      auto message = make(n);
      if (tx.send(std::move(message), token)) continue;
      CHECK(message == make(n));
      break;
    }
  });
  while (rx.size() == 0) std::this_thread::sleep_for(100us);
  std::this_thread::sleep_for(1ms);
  writer.request_stop();
  writer.join();
  CHECK(tx.try_send(make(1)) == ys::status::full && tx.send_for(make(1), 1ms) == ys::status::timeout);
  CHECK(rx.recv() == make(0));
}

void tokens() {
  const auto number = [](int n) { return n; };
  const auto text = [](int n) { return std::string(40, 'z') + std::to_string(n); };
  a_receiver(ys::pipe<int>(), number);
  a_receiver(ys::pipe<std::string>(4), text);
  a_receiver(ys::funnel<std::string>(), text);
  a_receiver(ys::exchange<std::string>(4), text);
  a_receiver(ys::broadcast<std::string>(4), text);
  a_receiver(ys::watch<std::string>(""), text);
  a_sender(ys::pipe<std::string>(2), text);
  a_sender(ys::funnel<int>(2), number);
  a_sender(ys::exchange<std::string>(2), text);
  a_sender(ys::broadcast<std::string>(2), text);
}

// Messages that are made where they are sent: a stopped one is not sent, and where it is made in its slot, not made.
template <class Channel>
void an_emplaced(Channel channel, bool in_slot) {
  auto &[tx, rx] = channel;
  const std::stop_token never;
  while (tx.try_emplace(3u, 'a')) continue;
  a_wait(
      [&tx = tx](const std::stop_token &token) { return tx.emplace_or_stop(token, 3u, 'b'); },
      [&rx = rx] { CHECK(rx.recv().has_value()); });
  std::stop_source source;
  source.request_stop();
  std::string kept(40, 'k');
  CHECK(tx.emplace_or_stop(source.get_token(), std::move(kept)) == ys::status::stopped && kept.empty() != in_slot);
  CHECK(rx.recv().has_value() && tx.emplace_or_stop(source.get_token(), "room") && tx.try_emplace("none") == ys::status::full);
  CHECK(rx.close() && tx.emplace_or_stop(never, "nobody") == ys::status::closed);
}

void emplaced() {
  an_emplaced(ys::pipe<std::string>(2), true);
  an_emplaced(ys::funnel<std::string>(2), true);
  an_emplaced(ys::exchange<std::string>(2), false);
  an_emplaced(ys::broadcast<std::string>(2), false);
  auto [tx, rx] = ys::exchange<std::string>(2);
  const auto shared = tx.share();
  while (tx.try_send("full")) continue;
  is_stopped([&](const std::stop_token &token) { return shared.emplace_or_stop(token, 3u, 'c'); });
  CHECK(rx.recv() == "full" && shared.emplace_or_stop(std::stop_token(), 3u, 'c'));
}

// Runs, sent and received: what there is room for is sent before the stop, in order, and nothing is lost.
template <class Channel, class Make>
void the_runs(Channel channel, Make make) {
  using message = decltype(make(0));
  auto &[tx, rx] = channel;
  std::vector<message> all;
  for (int n = 0; n < 10; ++n) all.push_back(make(n));
  ys::sent sent{0, ys::status::ok};
  is_stopped([&, &tx = tx](const std::stop_token &token) {
    const std::size_t before = tx.size();
    sent = tx.send_range(all, token);
    CHECK(sent.count == 4 - before);
    return sent.why;
  });
  CHECK(tx.size() == 4);
  std::jthread rest([&, &tx = tx](std::stop_token token) {
    sent = tx.send_range(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()), token);
  });
  int next = 0;
  std::jthread reader([&rx = rx, &next, make](std::stop_token token) {
    auto runs = rx.runs(token);
    for (auto &run : runs) {
      for (auto &text : run) {
        const int n = next++;
        CHECK(text == make(n < 4 ? n : n - 4));
      }
    }
    CHECK(runs.status() == ys::status::stopped);
  });
  rest.join();
  CHECK(sent && sent.count == 10);
  while (tx.size() != 0) std::this_thread::sleep_for(100us);
  reader.request_stop();
  reader.join();
  CHECK(next == 14);
  std::stop_source source;
  source.request_stop();
  CHECK(tx.send(make(1)));
  // What is there is received all the same.
  for (auto &run : rx.runs(source.get_token())) CHECK(run.size() == 1 && run[0] == make(1));
  CHECK(tx.send_range(std::vector<message>(), source.get_token()) && tx.close());
  auto ended = rx.runs(source.get_token());
  for (auto &run : ended) CHECK(run.empty());
  CHECK(ended.status() == ys::status::closed);
}

void runs() {
  the_runs(ys::pipe<int>(4), [](int n) { return n; });
  the_runs(ys::pipe<std::string>(4), [](int n) { return std::string(40, 'z') + std::to_string(n); });
  the_runs(ys::funnel<std::string>(4), [](int n) { return std::to_string(n); });
}

// Two threads wait in one sender. One is stopped, and the other waits on.
template <class Channel>
void a_shared_sender(Channel channel) {
  auto &[tx, rx] = channel;
  const auto shared = tx.share();
  CHECK(shared.send("full", std::stop_token()));
  while (tx.try_send("full")) continue;
  ys::status first = ys::status::ok, second = ys::status::full;
  std::jthread stopped([&shared, &first](std::stop_token token) {
    std::string text = "its own";
    first = shared.send(std::move(text), token);
    CHECK(text == "its own");
  });
  std::jthread waits([&shared, &second](std::stop_token token) { second = shared.send("another", token); });
  std::this_thread::sleep_for(2ms);
  stopped.request_stop();
  stopped.join();
  CHECK(first == ys::status::stopped && rx.recv() == "full");
  waits.join();
  CHECK(second == ys::status::ok);
  std::stop_source source;
  source.request_stop();
  CHECK(shared.send("no room", source.get_token()) == ys::status::stopped && rx.recv() == "full");
  CHECK(shared.send("room", source.get_token()));
  std::jthread all([&shared, &second](std::stop_token token) { second = shared.send("no room", token); });
  std::this_thread::sleep_for(1ms);
  tx.make_stopper().stop();
  all.join();
  CHECK(second == ys::status::stopped && shared.send("no room", std::stop_token()) == ys::status::stopped);
  CHECK(rx.close() && shared.send("nobody", std::stop_token()) == ys::status::closed);
}

void shared_senders() {
  a_shared_sender(ys::exchange<std::string>(2));
  a_shared_sender(ys::broadcast<std::string>(2));
}

// The stop and the message at once, again and again: a message is received or still there.
void races() {
  const int rounds = is_long() ? 20000 : 500;
  auto [tx, rx] = ys::exchange<int>();
  int received = 0;
  for (int n = 0; n < rounds; ++n) {
    std::stop_source source;
    std::thread stops([&source] { source.request_stop(); });
    CHECK(tx.send(n));
    while (auto message = rx.recv(source.get_token())) CHECK(*message == received++);
    stops.join();
  }
  while (auto message = rx.try_recv()) CHECK(*message == received++);
  CHECK(received == rounds);
}

template <class Set>
void a_set(Set set) {
  const ys::signaler signaler = set.make_signaler();
  const auto waits = [&](const std::stop_token &token) {
    const auto up = set.wait(token);
    CHECK(up.empty() || (up.size() == 1 && up[0] == 1));
    return up.status();
  };
  a_wait(waits, [&] { CHECK(signaler.signal(1)); });
  // The other stop has the last word.
  CHECK(set.wait(1ms).status() == ys::status::timeout);
  set.make_stopper().stop();
  CHECK(waits(std::stop_token()) == ys::status::stopped && set.wait().status() == ys::status::stopped);
}

void other_waits() {
  a_set(ys::socketpair_set(2));
  a_set(ys::poll_set(2));

  auto [tx, rx] = ys::pipe<int>(1);
  {
    ys::selector selector(2);
    CHECK(selector.add(rx));
    const auto waits = [&, &rx = rx](const std::stop_token &token) {
      for (;;) {
        const auto ready = selector.wait(token);
        // At first, and again until nothing is found.
        if (!ready || rx.try_recv()) return ready.status();
      }
    };
    a_wait(waits, [&tx = tx] { CHECK(tx.send(1)); });
    CHECK(!rx.try_recv() && selector.wait(1ms).status() == ys::status::timeout);
    selector.make_stopper().stop();
    CHECK(waits(std::stop_token()) == ys::status::stopped && selector.wait().status() == ys::status::stopped);
    CHECK(selector.remove(rx));
  }
  a_wait([&rx = rx](const std::stop_token &token) {
    const ys::status answer = rx.wait(token);
    if (answer) CHECK(rx.recv() == 1);
    return answer;
  }, [&tx = tx] { CHECK(tx.send(1)); });
  CHECK(tx.send(1));
  a_wait([&tx = tx](const std::stop_token &token) {
    const ys::status answer = tx.wait_room(token);
    if (answer) CHECK(tx.send(1));
    return answer;
  }, [&rx = rx] { CHECK(rx.recv() == 1); });

  ys::pool pool{{64, 1}};
  auto block = pool.take(64);
  a_wait([&](const std::stop_token &token) {
    auto taken = pool.take(64, token);
    if (!taken) {
      CHECK(errno == ECANCELED);
      return ys::status::stopped;
    }
    block = std::move(taken);
    return ys::status::ok;
  }, [&] { const auto given_back = std::move(block); });
  CHECK(!pool.take(65, std::stop_token()) && errno == EMSGSIZE);
}

// Waits that end once.
void last_waits() {
  std::stop_source source;
  auto [tx, rx] = ys::exchange<std::string>(4);
  auto [ask, answer] = ys::oneshot<std::string>();
  const auto never = ys::timer::after(1h), at_once = ys::timer::after(0ms), soon = ys::timer::after(2ms);
  CHECK(at_once.wait(source.get_token()) && soon.wait(source.get_token()));
  std::thread stops([&source] {
    std::this_thread::sleep_for(2ms);
    source.request_stop();
  });
  CHECK(tx.wait_closed(source.get_token()) == ys::status::stopped && answer.wait(source.get_token()) == ys::status::stopped);
  CHECK(never.wait(source.get_token()) == ys::status::stopped);
  stops.join();
  // Without what they wait for they would be stopped.
  CHECK(ask.send("answer") && answer.wait(source.get_token()) && rx.close() && tx.wait_closed(source.get_token()));
  std::stop_source other;
  std::thread sleeps([&] { CHECK(never.wait(other.get_token()) == ys::status::stopped); });
  std::this_thread::sleep_for(1ms);
  other.request_stop();
  sleeps.join();
}
#else
void tokens() {}
void emplaced() {}
void runs() {}
void shared_senders() {}
void races() {}
void other_waits() {}
void last_waits() {}
#endif

#ifdef YS_HAS_COROUTINES
ys::task doubles(ys::loop &loop, ys::receiver<std::string> in, ys::exchange_sender<std::string> out) {
  while (auto text = co_await loop.recv(in)) {
    if (!co_await loop.send(out, *text + *text)) break;
  }
}
ys::task collects(ys::loop &loop, ys::exchange_receiver<std::string> in, std::vector<std::string> &to) {
  for (;;) {
    auto text = co_await loop.recv(in);
    if (text.closed()) co_return;
    to.push_back(std::move(*text));
  }
}
ys::task sleeps(ys::loop &loop, std::vector<int> &order, int number, std::chrono::milliseconds time) {
  co_await loop.sleep_for(time);
  order.push_back(number);
}
ys::task awaits(ys::loop &loop, std::vector<int> &order) {
  co_await loop.sleep_for(0ms);
  co_await sleeps(loop, order, 1, 3ms);
  co_await sleeps(loop, order, 2, 1ms);
  order.push_back(3);
}

// A pipeline with another thread at its beginning: each stage waits, for messages and for room.
void a_pipeline() {
  const int many = is_long() ? 100000 : 3000;
  auto [tx, first] = ys::pipe<std::string>(2);
  auto [out, last] = ys::exchange<std::string>(1);
  std::vector<std::string> got;
  ys::loop loop(2);
  const ys::task stage = doubles(loop, std::move(first), std::move(out)), end = collects(loop, std::move(last), got);
  CHECK(loop.waiting() == 2);
  std::thread sender([tx = std::move(tx), many]() mutable {
    for (int n = 0; n < many; ++n) CHECK(tx.send(std::to_string(n)));
  });
  CHECK(loop.run() && stage.done() && end.done() && loop.waiting() == 0);
  sender.join();
  CHECK(got.size() == static_cast<std::size_t>(many) && got[12] == "1212");
}

void sleepers() {
  ys::loop loop(1);
  std::vector<int> order;
  const ys::task late = sleeps(loop, order, 2, 6ms), early = sleeps(loop, order, 1, 2ms);
  CHECK(loop.run() && order == std::vector<int>({1, 2}));
  order.clear();
  const ys::task all = awaits(loop, order);
  CHECK(loop.run() && all.done() && order == std::vector<int>({1, 2, 3}));
}

// Another event loop polls the descriptor.
void within_another_loop() {
  auto [tx, rx] = ys::exchange<std::string>(4);
  std::vector<std::string> got;
  ys::loop loop(4);
  const ys::task end = collects(loop, std::move(rx), got);
  CHECK(loop.poll() == 0);
  std::thread sender([tx = std::move(tx)]() mutable {
    for (int n = 0; n < 100; ++n) CHECK(tx.send("text"));
  });
  while (!end.done()) {
    pollfd at{loop.fd(), POLLIN, 0};
    CHECK(::poll(&at, 1, -1) == 1);
    (void)loop.poll();
  }
  sender.join();
  CHECK(got.size() == 100 && loop.waiting() == 0);
}

// A coroutine that waits is destroyed; a loop goes before its coroutines; too many wait; a stopper.
void ends() {
  auto [tx, rx] = ys::exchange<std::string>(4);
  auto [tx2, rx2] = ys::exchange<std::string>(4);
  std::vector<std::string> got;
  std::vector<int> order;
  {
    ys::loop loop(1);
    {
      const ys::task waits = collects(loop, rx.clone(), got), asleep = sleeps(loop, order, 1, 1h);
      CHECK(loop.waiting() == 2 && loop.next_alarm());
    }
    CHECK(loop.waiting() == 0 && loop.run());
    auto full = [](ys::loop &on, ys::exchange_receiver<std::string> &in, ys::status &why) -> ys::task {
      auto message = co_await on.recv(in);
      why = message.status();
    };
    ys::status first = ys::status::ok, second = ys::status::ok;
    ys::task one = full(loop, rx, first);
    const ys::task two = full(loop, rx2, second);
    CHECK(two.done() && second == ys::status::too_many && !one.done());
    CHECK(tx.send("text") && loop.run() && one.done() && first == ys::status::ok);
    one = full(loop, rx, first);
    const ys::stopper stopper = loop.make_stopper();
    std::thread stops([&stopper] { stopper.stop(); });
    CHECK(!loop.run() && !one.done());
    stops.join();
#ifdef YS_HAS_STOP_TOKEN
    ys::loop another(1);
    std::vector<int> slept;
    const ys::task sleeper = sleeps(another, slept, 1, 1h), short_one = sleeps(another, slept, 2, 1ms);
    std::stop_source source;
    std::thread ends([&source] {
      std::this_thread::sleep_for(3ms);
      source.request_stop();
    });
    CHECK(!another.run(source.get_token()) && !another.run(source.get_token()));
    ends.join();
    while (!short_one.done()) another.poll();
    CHECK(another.waiting() == 1 && slept == std::vector<int>({2}));
#endif
  }
  // Nothing is left attached.
  ys::poll_set set(1);
  CHECK(set.attach(rx, 0) && tx.send("text") && rx.recv() == "text");
  auto loop = std::make_unique<ys::loop>(2);
  const ys::task waits = collects(*loop, std::move(rx2), got), asleep = sleeps(*loop, order, 1, 1h);
  loop.reset();
  CHECK(tx2.send("not received") && !waits.done() && got.empty() && order.empty());
}
#else
void a_pipeline() {}
void sleepers() {}
void within_another_loop() {}
void ends() {}
#endif

}  // namespace

int main() {
  RUN(tokens);
  RUN(emplaced);
  RUN(runs);
  RUN(shared_senders);
  RUN(races);
  RUN(other_waits);
  RUN(last_waits);
  RUN(a_pipeline);
  RUN(sleepers);
  RUN(within_another_loop);
  RUN(ends);
}
