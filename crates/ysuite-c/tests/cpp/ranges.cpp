// Runs that are sent: from every kind of range, in part, until a time is up, and back again if there is no receiver.
#include "check.hpp"

#include <array>
#include <chrono>
#include <iterator>
#include <list>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif
// Clang before 16 does not compile views of the GNU library.
#if __cplusplus >= 202002L && (!defined(__clang__) || __clang_major__ >= 16)
#include <ranges>
#define HAS_VIEWS
#endif

namespace {

using namespace std::chrono_literals;

template <class... Numbers>
void are_received(ys::receiver<int> &rx, Numbers... numbers) {
  for (int number : {numbers...}) CHECK(rx.try_recv() == number);
  CHECK(rx.try_recv().status() == ys::status::empty);
}

void every_kind_of_range() {
  auto [tx, rx] = ys::pipe<int>();
  const std::list<int> list{1, 2, 3};
  CHECK(tx.send_range(list).count == 3);
  are_received(rx, 1, 2, 3);
  int array[] = {4, 5};
  CHECK(tx.send_range(array).count == 2 && tx.send_range(array, array + 1).count == 1);
  are_received(rx, 4, 5, 4);
  std::istringstream text("6 7 8");
  CHECK(tx.send_range(std::istream_iterator<int>(text), std::istream_iterator<int>()).count == 3);
  are_received(rx, 6, 7, 8);
  // What is of another type is converted on its way.
  CHECK(tx.send_range(std::array<short, 2>{9, 10}));
  are_received(rx, 9, 10);
  const ys::sent none = tx.send_range(std::vector<int>());
  CHECK(none && none.count == 0);
#if __cplusplus >= 202002L
  CHECK(tx.send_range(std::span<const int>(array)).count == 2);
  are_received(rx, 4, 5);
#endif
}

// As any send: what was hidden is shown, by every form, and a receiver that is gone is no error.
void a_range_of_none_shows_what_was_hidden() {
  auto [tx, rx] = ys::pipe<int>();
  const std::list<int> list;
  int number = 0;
  const auto shows = [&number, &tx = tx, &rx = rx](auto send) {
    CHECK(tx.write(++number) == ys::status::ok && rx.try_recv().status() == ys::status::empty);
    const ys::sent none = send();
    CHECK(none && none.count == 0);
    are_received(rx, number);
  };
  shows([&tx = tx] { return tx.send_range(std::vector<int>()); });
  shows([&tx = tx, &list] { return tx.send_range(list); });
  shows([&tx = tx, &list] { return tx.try_send_range(list); });
  shows([&tx = tx] { return tx.try_send_range(std::vector<int>()); });
  shows([&tx = tx, &list] { return tx.send_range_for(list.begin(), list.end(), 600s); });
  rx.close();
  CHECK(tx.send_range(list) && tx.send_range(std::vector<int>()));
}

/// Goes over numbers once, and is not copied, nor does it say what kind it is. Its step to the next asks for the one
/// before.
class asking {
 public:
  explicit asking(ys::receiver<int> &rx) noexcept : rx_(&rx) {}
  asking(asking &&) noexcept = default;
  asking &operator=(asking &&) noexcept = default;

  int operator*() const noexcept { return number_; }
  asking &operator++() {
    are_received(*rx_, number_++);
    return *this;
  }
  bool operator!=(int last) const noexcept { return number_ != last; }

 private:
  ys::receiver<int> *rx_;
  int number_ = 0;
};

// A single-pass range may be made by the receiver of what was sent before.
void each_is_sent_before_the_next_is_asked_for() {
  for (std::size_t bound : {0u, 1u, 7u, 100u}) {
    auto [tx, rx] = bound == 0 ? ys::pipe<int>() : ys::pipe<int>(bound);
    CHECK(tx.send_range(asking(rx), 300).count == 300);
    CHECK(tx.try_send_range(asking(rx), 300).count == 300);
    CHECK(tx.send_range_for(asking(rx), 300, 600s).count == 300);
    auto gone = std::move(rx);
    gone.close();
    const ys::sent none = tx.send_range(asking(gone), 300);
    CHECK(none.count == 0 && none.why == ys::status::closed);
  }
}

/// A message that counts its channel's messages each time it is made: another number than before is another batch.
class watched {
 public:
  explicit watched(int number) noexcept : number_(number) { look(); }
  watched(watched &&other) noexcept : number_(other.number_) { look(); }
  watched(const watched &other) noexcept : number_(other.number_) { look(); }

  int number() const noexcept { return number_; }

  static void look_at(const ys::receiver<watched> *channel) noexcept {
    channel_ = channel;
    shown_ = 0;
    batches_ = 1;
  }
  static std::size_t batches() noexcept { return batches_; }

 private:
  static void look() noexcept;

  static inline const ys::receiver<watched> *channel_ = nullptr;
  static inline std::size_t shown_ = 0;
  static inline std::size_t batches_ = 0;
  int number_;
};

void watched::look() noexcept {
  if (channel_ == nullptr) return;
  const std::size_t now = channel_->size();
  if (now != shown_) batches_++;
  shown_ = now;
}

constexpr int total = 280;

/// In how many batches all messages are sent by `send`.
template <class Send>
std::size_t batches_by(Send send) {
  auto [tx, rx] = ys::pipe<watched>();
  watched::look_at(&rx);
  CHECK(send(tx) == total);
  const std::size_t batches = watched::batches();
  watched::look_at(nullptr);
  for (int number = 0; number < total; number++) CHECK(rx.try_recv()->number() == number);
  CHECK(!rx.try_recv());
  return batches;
}

/// Numbers as a view has them: they are no objects, and so the category is an input iterator's.
template <class Concept>
struct viewed {
  using iterator_concept = Concept;
  using iterator_category = std::input_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = int;

  int operator*() const noexcept { return number; }
  viewed &operator++() noexcept {
    ++number;
    return *this;
  }
  viewed operator++(int) noexcept { return {number++}; }
  friend bool operator==(viewed a, viewed b) noexcept { return a.number == b.number; }
  friend bool operator!=(viewed a, viewed b) noexcept { return a.number != b.number; }

  int number = 0;
};

// Existing elements are sent many at a time, from any container; those that are made later, one by one.
void what_is_at_hand_is_sent_in_batches() {
  constexpr std::size_t few = total / 2;
  std::vector<watched> messages;
  for (int number = 0; number < total; number++) messages.emplace_back(number);
  CHECK(batches_by([&](auto &tx) { return tx.send_range(messages).count; }) <= few);
  const auto first = std::make_move_iterator(messages.begin());
  const auto last = std::make_move_iterator(messages.end());
  CHECK(batches_by([&](auto &tx) { return tx.send_range(first, last).count; }) <= few);

  CHECK(batches_by([](auto &tx) {
          using at = viewed<std::forward_iterator_tag>;
          return tx.send_range(at{0}, at{total}).count;
        }) <= few);
  CHECK(batches_by([](auto &tx) {
          using at = viewed<std::random_access_iterator_tag>;
          return tx.send_range(at{0}, at{total}).count;
        }) <= few);
  CHECK(batches_by([](auto &tx) {
          using at = viewed<std::input_iterator_tag>;
          return tx.send_range(at{0}, at{total}).count;
        }) == total);

  auto [from, in] = ys::pipe<watched>();
  for (int number = 0; number < total; number++) CHECK(from.emplace(number));
  from.close();
  CHECK(batches_by([&in = in](auto &tx) {
          std::size_t count = 0;
          for (auto &run : in.runs()) count += tx.send_range(run).count;
          return count;
        }) <= few);

#if defined(HAS_VIEWS)
  CHECK(batches_by([](auto &tx) { return tx.send_range(std::views::iota(0, total)).count; }) <= few);
  const auto made = std::views::transform(std::views::iota(0, total), [](int number) { return watched(number); });
  CHECK(batches_by([&](auto &tx) { return tx.send_range(made).count; }) <= few);
#endif
}

// If there is no room for a run, the step after the last that was sent has read one more.
void what_a_run_has_more_stays_in_its_channel() {
  for (int is_told = 0; is_told < 2; is_told++) {
    auto [from, in] = ys::pipe<int>();
    auto [tx, rx] = ys::pipe<int>(3);
    for (int number = 0; number < 20; number++) CHECK(from.send(number));
    {
      auto run = in.try_run();
      CHECK(run.size() >= 4);
      const ys::sent some = tx.try_send_range(run);
      CHECK(some.count == 3 && some.why == ys::status::full);
      if (is_told) run.done(some.count);
    }
    CHECK(in.recv() == (is_told ? 3 : 4));
    are_received(rx, 0, 1, 2);
  }
}

void from_one_channel_into_another() {
  auto [from, in] = ys::pipe<std::unique_ptr<int>>();
  auto [out, to] = ys::funnel<std::unique_ptr<int>>(40);
  std::thread between([&in = in, &out = out] { CHECK(out.send_range(in).count == 500); });
  for (int number = 0; number < 500; number++) {
    // Nothing is held back until there is more.
    CHECK(from.send(std::make_unique<int>(number)));
    CHECK(**to.recv() == number);
  }
  from.close();
  between.join();
}

void as_much_as_there_is_room_for() {
  auto [tx, rx] = ys::pipe<std::string>(3);
  const std::vector<std::string> words{"a", "b", "c", "d", "e"};
  ys::sent some = tx.try_send_range(words);
  CHECK(!some && some.count == 3 && some.why == ys::status::full);
  some = tx.try_send_range(words.begin() + 3, words.end());
  CHECK(some.count == 0 && some.why == ys::status::full);
  some = tx.send_range_for(words.begin() + 3, words.end(), 2ms);
  CHECK(some.count == 0 && some.why == ys::status::timeout);
  std::thread later([&rx = rx] {
    for (char letter = 'a'; letter <= 'e'; letter++) CHECK(rx.recv() == std::string(1, letter));
  });
  CHECK(tx.send_range(words.begin() + 3, words.end()).count == 2);
  later.join();

  auto [out, in] = ys::funnel<int>(3);
  const std::vector<int> numbers{1, 2, 3, 4, 5};
  some = out.try_send_range(numbers);
  CHECK(some.count == 3 && some.why == ys::status::full);
  some = out.send_range_for(numbers.data() + 3, numbers.data() + 5, 2ms);
  CHECK(some.count == 0 && some.why == ys::status::timeout);
  are_received(in, 1, 2, 3);
}

// Elements that were moved into slots that will never be received are moved back to where they were.
void back_again() {
  for (int is_gone = 0; is_gone < 2; is_gone++) {
    auto [tx, rx] = ys::pipe<std::unique_ptr<int>>();
    std::vector<std::unique_ptr<int>> owners;
    for (int number = 0; number < 20; number++) owners.push_back(std::make_unique<int>(number));
    if (is_gone) {
      auto gone = std::move(rx);
    } else {
      rx.close();
    }
    const ys::sent outcome = tx.send_range(std::make_move_iterator(owners.begin()), std::make_move_iterator(owners.end()));
    CHECK(outcome.count == 0 && outcome.why == ys::status::closed);
    int next = 0;
    for (const auto &owner : owners) CHECK(owner && *owner == next++);
  }
}

// The receiver goes somewhere in the run: the first ones are sent, the others are the sender's, none is both.
void whole_or_back_while_the_receiver_goes() {
  for (int round = 0; round < (is_long() ? 20000 : 300); round++) {
    tally objects;
    {
      auto [tx, rx] = round % 2 == 0 ? ys::pipe<counted>(16) : ys::pipe<counted>();
      std::thread sender([&objects, tx = std::move(tx)]() mutable {
        std::vector<counted> many;
        many.reserve(300);
        for (int number = 0; number < 300; number++) many.emplace_back(objects, number);
        const ys::sent outcome = tx.send_range(std::make_move_iterator(many.begin()), std::make_move_iterator(many.end()));
        CHECK(outcome ? outcome.count == 300 : outcome.why == ys::status::closed);
        for (std::size_t index = 0; index < 300; index++) {
          CHECK(many[index].number() == (index < outcome.count ? -1 : static_cast<int>(index)));
        }
      });
      for (int number = 0; number < round % 250; number++) {
        const auto message = rx.recv();
        CHECK(message && message->number() == number);
      }
      { auto gone = std::move(rx); }
      sender.join();
    }
    CHECK(objects.alive == 0);
  }
}

}  // namespace

int main() {
  RUN(every_kind_of_range);
  RUN(a_range_of_none_shows_what_was_hidden);
  RUN(each_is_sent_before_the_next_is_asked_for);
  RUN(what_is_at_hand_is_sent_in_batches);
  RUN(what_a_run_has_more_stays_in_its_channel);
  RUN(from_one_channel_into_another);
  RUN(as_much_as_there_is_room_for);
  RUN(back_again);
  RUN(whole_or_back_while_the_receiver_goes);
}
