// Runs that are sent: from every kind of range, in part, until a time is up, and back again where nobody receives.
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

/// Goes over numbers once, and is not copied, nor does it say what kind it is. Its step to the next asks for the one before.
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

// What passes once may be made by whoever gets what was sent before.
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

// What was moved into slots that nobody will see is moved back to where it was.
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
  RUN(each_is_sent_before_the_next_is_asked_for);
  RUN(from_one_channel_into_another);
  RUN(as_much_as_there_is_room_for);
  RUN(back_again);
  RUN(whole_or_back_while_the_receiver_goes);
}
