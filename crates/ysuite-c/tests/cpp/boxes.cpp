// Exchanges and oneshots of types that are more than their bytes: each is built in a box, moved out of it and destroyed, once.
#include "check.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct large {
  std::array<int, 100> numbers;
};
struct alignas(64) strict {
  int number;
};
static_assert(std::is_trivially_copyable_v<large> && std::is_trivially_destructible_v<strict>);

// A deleter with a state.
struct counting {
  long *deleted;
  void operator()(int *what) const noexcept {
    ++*deleted;
    delete what;
  }
};

template <class T, class Is>
void goes_through(T message, Is is) {
  auto [tx, rx] = ys::exchange<T>(2);
  CHECK(tx.send(std::move(message)));
  auto got = rx.recv();
  CHECK(got && is(*got));
  auto [ask, answer] = ys::oneshot<T>();
  CHECK(ask.send(std::move(*got)));
  got.reset();
  auto last = answer.recv();
  CHECK(last && is(*last));
  CHECK(!answer.recv());
}

void types() {
  const std::string longer(100, 'x');
  goes_through(std::string("in place"), [](const std::string &text) { return text == "in place"; });
  goes_through(longer, [&](const std::string &text) { return text == longer; });
  goes_through(std::vector<int>{1, 2, 3}, [](const std::vector<int> &list) { return list.size() == 3 && list[2] == 3; });
  goes_through(std::make_shared<int>(7), [](const std::shared_ptr<int> &to) { return *to == 7 && to.use_count() == 1; });
  goes_through(std::function<int()>([] { return 8; }), [](const std::function<int()> &call) { return call() == 8; });
  goes_through(std::make_unique<int>(9), [](const std::unique_ptr<int> &to) { return *to == 9; });
  long deleted = 0;
  goes_through(std::unique_ptr<int, counting>(new int(10), counting{&deleted}), [&](const auto &to) { return *to == 10 && deleted == 0; });
  CHECK(deleted == 1);
  large much{};
  much.numbers[99] = 11;
  goes_through(much, [](const large &got) { return got.numbers[99] == 11; });
  auto [tx, rx] = ys::exchange<strict>(2);
  CHECK(tx.send(strict{12}));
  const auto got = rx.recv();
  CHECK(got->number == 12 && reinterpret_cast<std::uintptr_t>(&*got) % 64 == 0);
}

// A send that fails leaves the message with the caller.
void what_is_not_sent_comes_back() {
  tally in;
  {
    auto [tx, rx] = ys::exchange<counted>(1);
    CHECK(tx.emplace(in, 1));
    counted two(in, 2);
    CHECK(tx.try_send(std::move(two)) == ys::status::full && two.number() == 2);
    CHECK(tx.send_for(std::move(two), 1ms) == ys::status::timeout && two.number() == 2);
    CHECK(tx.send_until(std::move(two), std::chrono::steady_clock::now() + 1ms) == ys::status::timeout && two.number() == 2);
    CHECK(tx.try_send(two) == ys::status::full && tx.try_emplace(in, 3) == ys::status::full && two.number() == 2);
    CHECK(in.alive == 2);
    CHECK(rx.recv()->number() == 1 && tx.send(two) && two.number() == 2 && rx.recv()->number() == 2);
    rx.close();
    CHECK(tx.send(std::move(two)) == ys::status::closed && two.number() == 2 && in.alive == 1);
    auto [ask, answer] = ys::oneshot<counted>();
    answer.close();
    CHECK(ask.send(std::move(two)) == ys::status::closed && two.number() == 2);
  }
  CHECK(in.alive == 0);
}

void what_is_never_received_is_destroyed_once() {
  tally in;
  for (const std::size_t left : {0u, 1u, 63u, 64u, 200u}) {
    auto [tx, rx] = ys::exchange<counted>();
    for (std::size_t n = 0; n < 200; ++n) CHECK(tx.send(counted(in, static_cast<int>(n))));
    for (std::size_t n = 0; n < 200 - left; ++n) CHECK(rx.recv()->number() == static_cast<int>(n));
    CHECK(in.alive == static_cast<long>(left));
  }
  CHECK(in.alive == 0);
  {
    auto [ask, answer] = ys::oneshot<counted>();
    CHECK(ask.emplace(in, 1) && in.alive == 1);
  }
  CHECK(in.alive == 0);
  // A box is freed, though what is in it has no destructor: leaks are looked for by AddressSanitizer.
  auto [tx, rx] = ys::exchange<large>();
  CHECK(tx.send(large{}) && tx.send(large{}) && rx.recv());
}

#if defined(__cpp_exceptions)
struct copies_badly {
  std::string text;
  explicit copies_badly(const char *what) : text(what) {}
  copies_badly(copies_badly &&) noexcept = default;
  copies_badly(const copies_badly &other) : text(other.text) {
    if (text == "bad") throw std::runtime_error("no copy");
  }
};

void what_a_copy_throws_passes() {
  auto [tx, rx] = ys::exchange<copies_badly>(4);
  const copies_badly good("good"), bad("bad");
  static_assert(!noexcept(tx.send(good)) && noexcept(tx.send(std::declval<copies_badly>())));
  for (int n = 0; n < 3; ++n) {
    try {
      (void)tx.send(bad);
      CHECK(false);
    } catch (const std::runtime_error &) {
    }
  }
  CHECK(tx.send(good) && tx.emplace("made") && rx.size() == 2);
  CHECK(rx.recv()->text == "good" && rx.recv()->text == "made");
}
#else
void what_a_copy_throws_passes() {}
#endif

// Many threads on both sides, and ends that go while others send.
void between_threads() {
  const int each = is_long() ? 200000 : 4000;
  tally in;
  auto [tx, rx] = ys::exchange<std::pair<std::string, counted>>(32);
  std::atomic<long> got{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([from = rx.clone(), &got]() mutable {
      for (auto message : from) {
        CHECK(message.first == std::to_string(message.second.number()));
        got.fetch_add(1);
      }
    });
    threads.emplace_back([to = tx.clone(), each, &in]() mutable {
      for (int n = 0; n < each; ++n) CHECK(to.send({std::to_string(n), counted(in, n)}));
    });
  }
  { const auto gone = std::move(tx); }
  { const auto gone = std::move(rx); }
  for (std::thread &thread : threads) thread.join();
  CHECK(got == 2L * each && in.alive == 0);
}

void selected() {
  auto [words_tx, words] = ys::exchange<std::string>(4);
  auto [lists_tx, lists] = ys::oneshot<std::vector<std::string>>();
  ys::selector select(2);
  const std::size_t word = *select.add(words), list = *select.add(lists);
  CHECK(word != list);
  std::thread sender([to = std::move(words_tx), ask = std::move(lists_tx)]() mutable {
    for (int n = 0; n < 100; ++n) CHECK(to.send(std::string(40, 'w')));
    CHECK(ask.send({"a", "list"}));
  });
  int count = 0;
  bool has_list = false, is_over = false;
  while (!has_list || !is_over) {
    const std::size_t ready = *select.wait();
    if (ready == word) {
      auto got = words.try_recv();
      if (got) CHECK(got->size() == 40 && ++count <= 100);
      is_over = is_over || got.closed();
      if (got.closed()) CHECK(select.remove(words));
    } else if (auto got = lists.try_recv()) {
      has_list = got->at(1) == "list";
      CHECK(select.remove(lists));
    }
  }
  CHECK(count == 100);
  sender.join();
}

}  // namespace

int main() {
  RUN(types);
  RUN(what_is_not_sent_comes_back);
  RUN(what_is_never_received_is_destroyed_once);
  RUN(what_a_copy_throws_passes);
  RUN(between_threads);
  RUN(selected);
}
