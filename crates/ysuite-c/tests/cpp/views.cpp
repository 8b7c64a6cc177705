// Needs C++20: receivers as ranges of the standard library's views.
#include "check.hpp"

#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

namespace {

template <class Rx>
inline constexpr bool is_range_v = std::ranges::input_range<Rx> && std::ranges::viewable_range<Rx &>;

static_assert(is_range_v<ys::receiver<int>> && is_range_v<ys::receiver<std::string>> && is_range_v<ys::receiver<std::unique_ptr<int>>>);
static_assert(is_range_v<ys::exchange_receiver<int>> && is_range_v<ys::exchange_receiver<std::unique_ptr<int>>>);
static_assert(std::is_same_v<std::ranges::range_reference_t<ys::receiver<std::string>>, std::string &&>);

// Older versions of clang do not understand the views of libstdc++, of any range.
#if !defined(__clang__) || __clang_major__ >= 16
template <class Channel, class Make>
void takes_as_many_as_it_says(Channel channel, Make make) {
  auto &[tx, rx] = channel;
  for (int n = 0; n < 5; ++n) CHECK(tx.send(make(n)));
  // There is no sixth: one that asked for it would wait for ever.
  int at = 0;
  for (auto &&message : rx | std::views::take(5)) CHECK(message == make(at++));
  CHECK(at == 5 && rx.size() == 0);
  for (int n = 0; n < 9; ++n) CHECK(tx.send(make(n)));
  for (auto &&message : rx | std::views::take(4)) CHECK(message == make(at++ - 5));
  // None but those is gone.
  CHECK(at == 9 && rx.size() == 5 && rx.recv() == make(4));
  for (auto &&message : rx | std::views::drop(2) | std::views::take(1)) CHECK(message == make(7));
  CHECK(rx.size() == 1);
  tx.close();
  at = 0;
  for (auto &&message : rx | std::views::take(100)) at += message == make(8) ? 1 : 100;
  CHECK(at == 1);
}

void take() {
  const auto number = [](int n) { return n; };
  const auto text = [](int n) { return std::string(30, 'x') + std::to_string(n); };
  takes_as_many_as_it_says(ys::pipe<int>(16), number);
  takes_as_many_as_it_says(ys::pipe<std::string>(), text);
  takes_as_many_as_it_says(ys::funnel<std::string>(16), text);
  takes_as_many_as_it_says(ys::exchange<int>(16), number);
  takes_as_many_as_it_says(ys::exchange<std::string>(), text);
}

void other_views() {
  auto [tx, rx] = ys::pipe<std::unique_ptr<int>>();
  std::thread sender([tx = std::move(tx)]() mutable {
    for (int n = 0; n < 1000; ++n) CHECK(tx.send(std::make_unique<int>(n)));
  });
  long sum = 0;
  auto odd = rx | std::views::transform([](std::unique_ptr<int> &&message) { return *std::move(message); }) |
             std::views::filter([](int number) { return number % 2 != 0; });
  for (const int number : odd) sum += number;
  CHECK(sum == 250000);
  sender.join();
  CHECK(!rx.recv());
}

// The view owns the receiver.
void an_owner() {
  auto [tx, rx] = ys::exchange<std::string>();
  for (int n = 0; n < 3; ++n) CHECK(tx.send("text"));
  {
    auto view = std::move(rx) | std::views::take(2);
    CHECK(std::ranges::distance(view) == 2 && !tx.closed());
  }
  CHECK(tx.closed());
}

#else
void take() {}
void other_views() {}
void an_owner() {}
#endif

void algorithms() {
  auto [tx, rx] = ys::pipe<std::string>();
  for (int n = 0; n < 10; ++n) CHECK(tx.send(std::to_string(n)));
  tx.close();
  const auto found = std::ranges::find(rx, "4");
  CHECK(found != rx.end() && *found == "4" && rx.size() == 5);
  std::vector<std::string> rest;
  std::ranges::move(rx, std::back_inserter(rest));
  CHECK(rest.size() == 5 && rest.front() == "5" && rest.back() == "9");
}

}  // namespace

int main() {
  RUN(take);
  RUN(other_views);
  RUN(an_owner);
  RUN(algorithms);
}
