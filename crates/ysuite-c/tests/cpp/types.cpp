// Messages of many types, through every kind of channel: built in their slots, moved out of them, used in place.
#include "check.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

struct alignas(16) aligned {
  double value[4];
};

struct largest {
  std::array<std::uint64_t, 16> words;
};

std::string word(int number) {
  // Short ones point into themselves.
  return std::string(number % 2 == 0 ? 5u : 50u, static_cast<char>('a' + number % 26));
}

template <class Ends>
void strings_go_through(Ends ends) {
  auto &[tx, rx] = ends;
  for (int number = 0; number < 300; number++) CHECK(tx.send(word(number)));
  const std::string kept = word(300);
  CHECK(tx.send(kept) && kept == word(300));
  CHECK(tx.emplace(3u, 'x'));
  for (int number = 0; number < 301; number++) {
    std::optional<std::string> text = rx.recv();
    CHECK(text.has_value() && *text == word(number));
  }
  CHECK(rx.recv() == std::string("xxx"));
  CHECK(rx.try_recv().status() == ys::status::empty);
  CHECK(tx.send(word(1)));
  tx.close();
  CHECK(rx.recv() == word(1));
  CHECK(!rx.recv() && rx.try_recv().closed());
}

void strings() {
  strings_go_through(ys::pipe<std::string>());
  strings_go_through(ys::pipe<std::string>(400));
  strings_go_through(ys::funnel<std::string>());
}

void containers_and_pointers() {
  auto [tx, rx] = ys::pipe<std::vector<int>>(4);
  CHECK(tx.send({1, 2, 3}));
  CHECK(rx.recv()->size() == 3);
  auto [out, in] = ys::funnel<std::unique_ptr<int>>();
  CHECK(out.send(std::make_unique<int>(7)));
  CHECK(**in.recv() == 7);
  CHECK(out.send(std::make_unique<int>(8)));
}

void aligned_and_large() {
  auto [tx, rx] = ys::pipe<aligned>(3);
  CHECK(tx.send({{1, 2, 3, 4}}));
  CHECK(rx.recv()->value[3] == 4);
  auto [out, in] = ys::pipe<largest>();
  for (std::uint64_t number = 0; number < 100; number++) {
    largest message{};
    message.words.fill(number);
    CHECK(out.send(message));
  }
  std::uint64_t next = 0;
  for (auto message = in.try_recv(); message; message = in.try_recv()) {
    for (std::uint64_t got : message->words) CHECK(got == next);
    next++;
  }
  CHECK(next == 100);
}

/// Points into itself, as strictly aligned and as large as messages may be.
struct alignas(16) rooted {
  std::uint64_t words[14];
  rooted *self;

  explicit rooted(std::uint64_t number) noexcept : words{number}, self(this) { words[13] = number; }
  rooted(rooted &&other) noexcept : rooted(other.number()) {}
  rooted &operator=(rooted &&other) noexcept {
    words[0] = words[13] = other.number();
    return *this;
  }
  ~rooted() { CHECK(number() == words[13]); }

  std::uint64_t number() const noexcept {
    CHECK(self == this && reinterpret_cast<std::uintptr_t>(this) % 16 == 0);
    return words[0];
  }
};
static_assert(sizeof(rooted) == 128 && alignof(rooted) == 16);

template <class Ends>
void rooted_go_through(Ends ends) {
  auto &[tx, rx] = ends;
  std::uint64_t next = 0;
  for (std::uint64_t round = 0; round < 60; round++) {
    rooted third(3 * round + 2);
    CHECK(tx.emplace(3 * round) && tx.send(rooted(3 * round + 1)) && tx.send(std::move(third)));
    CHECK(rx.recv()->number() == next++);
    rooted into(0);
    CHECK(rx.try_recv(into) && into.number() == next++);
    // The previous value is assigned to.
    if (round % 2 == 0) CHECK(rx.recv_for(into, std::chrono::seconds(60)) && into.number() == next++);
    if (round % 2 == 1) {
      auto run = rx.try_run();
      CHECK(run.size() == 1);
      for (auto &message : run) CHECK(message.number() == next++);
    }
    CHECK(rx.recv_for(into, std::chrono::milliseconds(0)) == ys::status::empty);
  }
  CHECK(tx.emplace(7u));
  tx.close();
}

void rooted_messages() {
  rooted_go_through(ys::pipe<rooted>());
  rooted_go_through(ys::pipe<rooted>(5));
  rooted_go_through(ys::funnel<rooted>());
  rooted_go_through(ys::funnel<rooted>(5));
}

void addresses_are_kept() {
  tally objects;
  {
    auto [tx, rx] = ys::pipe<counted>();
    auto [out, in] = ys::funnel<counted>(1000);
    auto other = out.clone();
    for (int number = 0; number < 100; number++) {
      CHECK(tx.emplace(objects, number) && tx.send(counted(objects, number)));
      CHECK(out.emplace(objects, number) && other.send(counted(objects, number)));
    }
    for (int number = 0; number < 50; number++) {
      CHECK(rx.recv()->number() == number && rx.recv()->number() == number);
      CHECK(in.recv().has_value());
    }
  }
  CHECK(objects.alive == 0 && objects.made > 400);
}

void exchange_and_oneshot() {
  auto [tx, rx] = ys::exchange<std::unique_ptr<int>>(8);
  auto more = tx.clone();
  auto others = rx.clone();
  CHECK(tx.send(std::make_unique<int>(1)) && more.send(std::make_unique<int>(2)));
  CHECK(**rx.recv() + **others.recv() == 3);
  CHECK(tx.send(std::make_unique<int>(3)));
  auto [ask, answer] = ys::oneshot<std::unique_ptr<std::string>>();
  std::thread thread([&ask = ask] { CHECK(ask.send(std::make_unique<std::string>("yes"))); });
  CHECK(**answer.recv() == "yes");
  thread.join();
  auto [unused, unheard] = ys::oneshot<int>();
  unused.close();
  CHECK(!unheard.recv());
}

void bytes_through_exchange_and_oneshot() {
  auto [tx, rx] = ys::exchange<largest>(4);
  auto [aligned_tx, aligned_rx] = ys::exchange<aligned>();
  for (std::uint64_t number = 0; number < 50; number++) {
    largest message{};
    message.words.fill(number);
    CHECK(tx.send(message) && aligned_tx.send({{1, 2, 3, static_cast<double>(number)}}));
    CHECK(rx.recv()->words == message.words && aligned_rx.recv()->value[3] == static_cast<double>(number));
  }
  auto [ask, answer] = ys::oneshot<largest>();
  largest message{};
  message.words.fill(9);
  CHECK(ask.send(message) && answer.recv()->words == message.words);
}

void in_place() {
  tally objects;
  auto [tx, rx] = ys::pipe<counted>();
  for (int number = 0; number < 500; number++) CHECK(tx.emplace(objects, number));
  tx.close();
  int next = 0;
  for (auto &run : rx.runs()) {
    for (auto &message : run) CHECK(message.number() == next++);
  }
  CHECK(next == 500 && objects.alive == 0);
}

void in_place_left_early() {
  tally objects;
  auto [tx, rx] = ys::pipe<counted>();
  for (int number = 0; number < 20; number++) CHECK(tx.emplace(objects, number));
  for (auto &run : rx.runs()) {
    for (auto &message : run) {
      if (message.number() == 1) break;
    }
    break;
  }
  // Visited messages are received; the rest is there.
  CHECK(rx.recv()->number() == 2);
  CHECK(objects.alive == 17);
#if defined(__cpp_exceptions)
  try {
    for (auto &run : rx.runs()) {
      for (auto &message : run) {
        if (message.number() == 4) throw message.number();
      }
    }
    CHECK(false);
  } catch (int number) {
    CHECK(number == 4);
  }
  CHECK(rx.recv()->number() == 5);
  CHECK(objects.alive == 14);
#endif
}

// Visited messages stay visited, whichever iterator reads again, and however far.
void a_run_twice() {
  tally objects;
  auto [tx, rx] = ys::pipe<counted>();
  for (int number = 0; number < 20; number++) CHECK(tx.emplace(objects, number));
  {
    auto run = rx.try_run();
    CHECK(run.size() >= 2);
    for (auto &message : run) {
      if (message.number() == 1) break;
    }
    CHECK(run.begin()->number() == 0);
  }
  CHECK(rx.recv()->number() == 2);
  CHECK(objects.alive == 17);
  {
    auto run = rx.try_run();
    for (auto &message : run) CHECK(message.number() >= 3);
    CHECK(run.begin() != run.end());
  }
  const long alive = objects.alive;
  CHECK(alive < 17 && rx.recv()->number() == 20 - alive);

  auto [out, in] = ys::pipe<int>();
  for (int number = 0; number < 20; number++) CHECK(out.send(number));
  {
    auto run = in.try_run();
    CHECK(run.size() >= 4);
    auto ahead = run.begin();
    ++(++(++ahead));
    auto behind = run.begin();
    CHECK(*ahead == 3 && *++behind == 1);
  }
  CHECK(in.recv() == 4);
}

void a_range_of_runs_twice() {
  tally objects;
  auto [tx, rx] = ys::pipe<counted>();
  for (int number = 0; number < 20; number++) CHECK(tx.emplace(objects, number));
  tx.close();
  auto runs = rx.runs();
  int next = 0;
  for (auto &run : runs) {
    for (auto &message : run) {
      CHECK(message.number() == next++);
      if (next == 7) break;
    }
    break;
  }
  // Visited messages do not come again.
  for (auto &run : runs) {
    for (auto &message : run) CHECK(message.number() == next++);
  }
  CHECK(next == 20 && objects.alive == 0);
}

void ranges() {
  auto [tx, rx] = ys::pipe<std::string>();
  std::vector<std::string> words;
  for (int number = 0; number < 100; number++) words.push_back(word(number));
  CHECK(tx.send_range(words).count == 100);
  CHECK(tx.send_range(std::make_move_iterator(words.begin()), std::make_move_iterator(words.end())).count == 100);
  const std::vector<int> numbers{1, 2, 3, 4, 5};
  auto [out, in] = ys::pipe<int>(3);
  const ys::sent some = out.try_send_range(numbers);
  CHECK(some.count == 3 && some.why == ys::status::full);
  tx.close();
  int next = 0;
  for (const std::string &text : rx) CHECK(text == word(next++ % 100));
  CHECK(next == 200 && in.recv() == 1);
}

}  // namespace

// Trivially copyable, and no copy of it travels, but the pointer that it becomes.
struct ticket {
  std::uint16_t number;
};

namespace ys {
template <>
struct as_pointer<ticket> {
  static constexpr bool value = true;
  static void *release(ticket &from) noexcept {
    const std::uintptr_t number = std::exchange(from.number, std::uint16_t{0});
    return reinterpret_cast<void *>(number);
  }
  static ticket adopt(void *address) noexcept { return {static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(address))}; }
};
}  // namespace ys

template <class Tx, class Message, class = void>
struct is_sent : std::false_type {};
template <class Tx, class Message>
struct is_sent<Tx, Message, std::void_t<decltype(std::declval<Tx &>().try_send(std::declval<Message>()))>> : std::true_type {};
static_assert(is_sent<ys::exchange_sender<ticket>, ticket>::value && !is_sent<ys::exchange_sender<ticket>, ticket &>::value);
static_assert(is_sent<ys::oneshot_sender<int>, int>::value && is_sent<ys::oneshot_sender<int>, int &>::value);

void what_travels_as_a_pointer_is_given_away() {
  auto [tx, rx] = ys::exchange<ticket>(1);
  ticket one{1000}, two{2000};
  CHECK(tx.send(std::move(one)) && one.number == 0);
  CHECK(tx.try_send(std::move(two)) == ys::status::full && two.number == 2000);
  CHECK(rx.recv()->number == 1000);
}

// Copied by bytes only.
struct moves_only {
  int number;
  explicit moves_only(int its_number) noexcept : number(its_number) {}
  moves_only(moves_only &&) = default;
  moves_only &operator=(moves_only &&) = default;
};
static_assert(std::is_trivially_copyable_v<moves_only> && !std::is_copy_constructible_v<moves_only>);

// Neither is assigned to: what comes back is constructed again, where it was.
struct constant {
  const int number;
  const int &named;
  std::unique_ptr<int> owned;
};
struct constant_bytes {
  const int number;
  const int *const named;
};
static_assert(!std::is_move_assignable_v<constant> && !std::is_move_assignable_v<constant_bytes>);
static_assert(std::is_trivially_copyable_v<constant_bytes>);

void is_whole(const constant &message, int number, const int &named) {
  CHECK(message.number == number && &message.named == &named && message.owned && *message.owned == number);
}
void is_whole(const constant_bytes &message, int number, const int &named) {
  CHECK(message.number == number && message.named == &named);
}

/// Sends as long as there is room and a receiver, and gets the others back.
template <class Ends, class Make>
void constants_go_through(Ends ends, Make make) {
  using namespace std::chrono_literals;
  const int named = 0;
  auto &[tx, rx] = ends;
  for (int round = 0; round < 50; round++) {
    CHECK(tx.send(make(1, named)) && tx.send_for(make(2, named), 60s));
    auto third = make(3, named);
    CHECK(tx.try_send(std::move(third)) == ys::status::full);
    is_whole(third, 3, named);
    CHECK(tx.send_for(std::move(third), 1us) == ys::status::timeout);
    is_whole(third, 3, named);
    is_whole(*rx.recv(), 1, named);
    CHECK(tx.try_send(std::move(third)));
    is_whole(*rx.try_recv(), 2, named);
    is_whole(*rx.recv_for(60s), 3, named);
    CHECK(rx.recv_until(std::chrono::steady_clock::now()).status() != ys::status::ok);
  }
  CHECK(tx.send(make(4, named)));
  for (auto &&message : rx) {
    is_whole(message, 4, named);
    rx.close();
  }
  for (int round = 0; round < 3; round++) {
    auto back = make(5, named);
    CHECK(tx.send(std::move(back)) == ys::status::closed);
    is_whole(back, 5, named);
    CHECK(tx.try_send(std::move(back)) == ys::status::closed);
    is_whole(back, 5, named);
  }
}

/// A run that is used in place, and one that comes back.
template <class Ends, class Make>
void runs_of_constants_go_through(Ends ends, Make make) {
  const int named = 0;
  auto &[tx, rx] = ends;
  using message = decltype(make(0, named));
  std::vector<message> many;
  many.reserve(20);
  for (int number = 0; number < 20; number++) many.push_back(make(number, named));
  CHECK(tx.send_range(std::make_move_iterator(many.begin()), std::make_move_iterator(many.begin() + 10)).count == 10);
  int next = 0;
  while (next < 10) {
    auto run = rx.try_run();
    for (auto &inside : run) is_whole(inside, next++, named);
  }
  if (auto slots = tx.reserve()) CHECK(slots.emplace(make(10, named)) != nullptr && slots.commit().count == 1);
  is_whole(*rx.recv(), 10, named);
  rx.close();
  for (int round = 0; round < 3; round++) {
    const auto first = std::make_move_iterator(many.begin() + 11);
    CHECK(tx.send_range(first, std::make_move_iterator(many.end())).why == ys::status::closed);
    for (int number = 11; number < 20; number++) is_whole(many[static_cast<std::size_t>(number)], number, named);
  }
}

void constant_members() {
  const auto owners = [](int number, const int &named) { return constant{number, named, std::make_unique<int>(number)}; };
  const auto bytes = [](int number, const int &named) { return constant_bytes{number, &named}; };
  constants_go_through(ys::pipe<constant>(2), owners);
  constants_go_through(ys::pipe<constant_bytes>(2), bytes);
  constants_go_through(ys::funnel<constant>(2), owners);
  constants_go_through(ys::exchange<constant_bytes>(2), bytes);
  runs_of_constants_go_through(ys::pipe<constant>(), owners);
  runs_of_constants_go_through(ys::funnel<constant>(16), owners);
  runs_of_constants_go_through(ys::pipe<constant_bytes>(16), bytes);
  auto [tx, rx] = ys::oneshot<constant_bytes>();
  CHECK(tx.send(constant_bytes{6, nullptr}) && rx.recv()->number == 6);
}

void bytes_that_only_move() {
  auto [tx, rx] = ys::exchange<moves_only>(2);
  CHECK(tx.send(moves_only(3)) && rx.recv()->number == 3);
  auto [once, answer] = ys::oneshot<moves_only>();
  CHECK(once.send(moves_only(4)) && answer.recv()->number == 4);
  auto [pipe_tx, pipe_rx] = ys::pipe<moves_only>(2);
  CHECK(pipe_tx.send(moves_only(5)) && pipe_rx.recv()->number == 5);
}

int main() {
  RUN(strings);
  RUN(containers_and_pointers);
  RUN(aligned_and_large);
  RUN(rooted_messages);
  RUN(addresses_are_kept);
  RUN(exchange_and_oneshot);
  RUN(bytes_through_exchange_and_oneshot);
  RUN(what_travels_as_a_pointer_is_given_away);
  RUN(bytes_that_only_move);
  RUN(constant_members);
  RUN(in_place);
  RUN(in_place_left_early);
  RUN(a_run_twice);
  RUN(a_range_of_runs_twice);
  RUN(ranges);
}
