// Streams between two threads, checked in order; and a stress test for lost wake-ups: a lost one is a wait that never
// ends.
#include "check.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace {

template <class Ends, class Make, class Is>
void stream(Ends ends, std::uint64_t count, Make make, Is is) {
  auto &[tx, rx] = ends;
  std::thread sender([count, make, tx = std::move(tx)]() mutable {
    for (std::uint64_t number = 0; number < count; number++) CHECK(tx.send(make(number)));
  });
  std::uint64_t next = 0;
  while (auto message = rx.recv()) CHECK(is(*message, next++));
  CHECK(next == count);
  sender.join();
}

std::uint64_t many() { return is_long() ? 10000000 : 100000; }

void numbers() {
  const auto same = [](std::uint64_t number) { return number; };
  const auto is = [](std::uint64_t got, std::uint64_t number) { return got == number; };
  stream(ys::pipe<std::uint64_t>(), many(), same, is);
  for (std::size_t capacity : {1u, 7u, 1024u}) stream(ys::pipe<std::uint64_t>(capacity), many() / (capacity == 1 ? 10 : 1), same, is);
  stream(ys::funnel<std::uint64_t>(64), many(), same, is);
  stream(ys::exchange<std::uint64_t>(64), many(), same, is);
}

void words() {
  const auto make = [](std::uint64_t number) { return std::string(number % 40, 'x') + std::to_string(number); };
  const auto is = [make](const std::string &got, std::uint64_t number) { return got == make(number); };
  stream(ys::pipe<std::string>(), many() / 4, make, is);
  stream(ys::pipe<std::string>(32), many() / 4, make, is);
  stream(ys::funnel<std::string>(), many() / 4, make, is);
}

void into_an_object() {
  auto [tx, rx] = ys::pipe<std::string>(16);
  std::thread sender([tx = std::move(tx)]() mutable {
    for (int number = 0; number < 10000; number++) CHECK(tx.send(std::to_string(number)));
  });
  std::string text;
  int next = 0;
  while (rx.recv(text)) CHECK(text == std::to_string(next++));
  CHECK(next == 10000 && rx.try_recv(text) == ys::status::closed);
  sender.join();
}

void runs() {
  auto [tx, rx] = ys::pipe<std::uint64_t>(256);
  std::thread sender([tx = std::move(tx)]() mutable {
    for (std::uint64_t number = 0; number < many();) {
      CHECK(tx.wait_room());
      auto slots = tx.reserve();
      while (number < many() && slots.emplace(number) != nullptr) number++;
      CHECK(slots.commit());
    }
  });
  std::uint64_t next = 0;
  for (auto &run : rx.runs()) {
    for (std::uint64_t number : run) CHECK(number == next++);
  }
  CHECK(next == many());
  sender.join();
}

std::uint64_t sleeps() { return is_long() ? 1000000 : 3000; }

/// A little time, never the same.
void dawdle(std::uint64_t &random) {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  for (std::uint64_t left = random % 400; left != 0; left--) __asm__ volatile("");
}

/// Each message finds a receiver that is about to sleep, or asleep.
template <class Ends>
void receivers_sleep(Ends ends) {
  auto &[tx, rx] = ends;
  CHECK(rx.set_spin(ys::spin::none));
  std::atomic<std::uint64_t> seen{0};
  std::thread sender([&seen, tx = std::move(tx)]() mutable {
    std::uint64_t random = 9;
    for (std::uint64_t number = 0; number < sleeps(); number++) {
      while (seen.load(std::memory_order_acquire) < number) std::this_thread::yield();
      dawdle(random);
      CHECK(tx.send(number));
    }
  });
  while (auto number = rx.recv()) seen.store(*number + 1, std::memory_order_release);
  CHECK(seen.load() == sleeps());
  sender.join();
}

void receivers_that_sleep() {
  receivers_sleep(ys::pipe<std::uint64_t>());
  receivers_sleep(ys::funnel<std::uint64_t>());
  receivers_sleep(ys::exchange<std::uint64_t>(4));
}

/// Each message received finds a sender that is about to sleep, or asleep.
void senders_that_sleep() {
  auto [tx, rx] = ys::pipe<std::uint64_t>(1);
  CHECK(tx.set_spin(ys::spin::none));
  std::atomic<std::uint64_t> sent{0};
  std::thread sender([&sent, tx = std::move(tx)]() mutable {
    for (std::uint64_t number = 0; number < sleeps(); number++) {
      CHECK(tx.send(number));
      sent.store(number + 1, std::memory_order_release);
    }
  });
  std::uint64_t random = 11;
  for (std::uint64_t number = 0; number < sleeps(); number++) {
    while (sent.load(std::memory_order_acquire) < number + 1) std::this_thread::yield();
    dawdle(random);
    CHECK(rx.recv() == number);
  }
  sender.join();
}

}  // namespace

int main() {
  RUN(numbers);
  RUN(words);
  RUN(into_an_object);
  RUN(runs);
  RUN(receivers_that_sleep);
  RUN(senders_that_sleep);
}
