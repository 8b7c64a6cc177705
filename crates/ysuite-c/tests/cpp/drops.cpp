// Every object is destroyed once, whichever handle is dropped first, and whatever throws.
#include "check.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

template <class Open>
void whichever_end_goes_first(Open open) {
  for (int order = 0; order < 5; order++) {
    tally objects;
    {
      auto [tx, rx] = open();
      for (int number = 0; number < 500; number++) CHECK(tx.emplace(objects, number));
      for (int number = 0; number < 50; number++) CHECK(rx.recv()->number() == number);
      CHECK(objects.alive == 450);
      switch (order) {
        case 0: {
          auto gone = std::move(tx);
          break;
        }
        case 1: {
          auto gone = std::move(rx);
          break;
        }
        case 2:
          rx.close();
          break;
        case 3:
          tx.close();
          break;
        default:
          break;
      }
      if (order == 1) CHECK(objects.alive == 0);
      if (order == 1 || order == 2) {
        // What comes back is whole.
        counted kept(objects, 7);
        CHECK(tx.send(std::move(kept)) == ys::status::closed && kept.number() == 7);
        CHECK(tx.emplace(objects, 8) == ys::status::closed);
        CHECK(tx.try_emplace(objects, 8) == ys::status::closed);
      }
      if (order == 2 || order == 3) CHECK(rx.recv()->number() == 50);
    }
    CHECK(objects.alive == 0);
  }
}

void pipes() {
  whichever_end_goes_first([] { return ys::pipe<counted>(); });
  whichever_end_goes_first([] { return ys::pipe<counted>(500); });
}

void funnels() {
  whichever_end_goes_first([] { return ys::funnel<counted>(); });
}

void both_race() {
  for (int round = 0; round < 300; round++) {
    tally objects;
    {
      auto [tx, rx] = round % 3 == 0 ? ys::pipe<counted>(8) : ys::pipe<counted>();
      std::thread sender([&objects, tx = std::move(tx)]() mutable {
        for (int number = 0; number < 200; number++) {
          counted message(objects, number);
          if (!tx.send(std::move(message))) {
            CHECK(message.number() == number);
            return;
          }
        }
      });
      std::thread receiver([round, rx = std::move(rx)]() mutable {
        for (int number = 0; number < round % 150; number++) {
          auto message = rx.recv();
          if (!message) return;
          CHECK(message->number() == number);
        }
        if (round % 2 == 0) rx.close();
      });
      sender.join();
      receiver.join();
    }
    CHECK(objects.alive == 0);
  }
}

void a_funnel_of_threads_whose_receiver_goes() {
  for (int round = 0; round < 50; round++) {
    tally objects;
    {
      auto [tx, rx] = ys::funnel<counted>();
      std::vector<std::thread> senders;
      for (int index = 0; index < 3; index++) {
        senders.emplace_back([&objects, tx = tx.clone()]() mutable {
          for (int number = 0; number < 200 && tx.emplace(objects, number); number++) {
          }
        });
      }
      for (int number = 0; number < round; number++) CHECK(rx.recv().has_value());
      { auto gone = std::move(rx); }
      for (auto &sender : senders) sender.join();
    }
    CHECK(objects.alive == 0);
  }
}

template <class Open>
void owners(Open open) {
  for (int order = 0; order < 3; order++) {
    tally objects;
    {
      auto [tx, rx] = open();
      for (int number = 0; number < 100; number++) CHECK(tx.send(std::make_unique<counted>(objects, number)));
      CHECK((*rx.recv())->number() == 0);
      CHECK(objects.alive == 99);
      if (order == 1) {
        auto gone = std::move(rx);
      } else if (order == 2) {
        auto gone = std::move(tx);
      }
    }
    CHECK(objects.alive == 0 && objects.made == 100);
  }
}

/// What travels as a pointer is destroyed once too.
void owners_in_exchanges_and_oneshots() {
  owners([] { return ys::exchange<std::unique_ptr<counted>>(); });
  owners([] { return ys::exchange<std::unique_ptr<counted>>(128); });
  for (int round = 0; round < 300; round++) {
    tally objects;
    {
      auto [tx, rx] = ys::oneshot<std::unique_ptr<counted>>();
      std::thread sender([&objects, round, tx = std::move(tx)]() mutable {
        auto message = std::make_unique<counted>(objects, round);
        // A sender that could not send still has it.
        if (!tx.send(std::move(message))) CHECK(message->number() == round);
      });
      if (round % 3 == 0) {
        auto message = rx.recv();
        CHECK((*message)->number() == round);
      } else {
        auto gone = std::move(rx);
      }
      sender.join();
    }
    CHECK(objects.alive == 0 && objects.made == 1);
  }
}

void an_end_that_is_assigned_to_closes() {
  tally objects;
  {
    auto [tx, rx] = ys::pipe<counted>();
    auto [other, from] = ys::pipe<counted>();
    CHECK(tx.emplace(objects, 1) && other.emplace(objects, 2));
    rx = std::move(from);
    CHECK(objects.alive == 1 && tx.emplace(objects, 3) == ys::status::closed);
    tx = std::move(other);
    CHECK(rx.recv()->number() == 2 && tx.emplace(objects, 4) && rx.recv()->number() == 4);
  }
  CHECK(objects.alive == 0);
}

#if defined(__cpp_exceptions)

/// Throws where it is configured to.
struct fragile {
  counted inner;
  fragile(tally &objects, int number) : inner(objects, number) {
    if (number % 3 == 2) throw std::runtime_error("made badly");
  }
  fragile(fragile &&) noexcept = default;
  fragile(const fragile &other) : inner(other.inner) {
    if (inner.number() % 5 == 4) throw std::runtime_error("copied badly");
  }
};

void constructors_that_throw() {
  tally objects;
  {
    auto [tx, rx] = ys::pipe<fragile>(64);
    int thrown = 0;
    for (int number = 0; number < 60; number++) {
      try {
        CHECK(tx.emplace(objects, number));
      } catch (const std::runtime_error &) {
        thrown++;
      }
    }
    CHECK(thrown == 20);
    // A copy that fails has not been sent.
    const fragile bad(objects, 9 + 10), good(objects, 10);
    try {
      CHECK(tx.send(bad));
      CHECK(false);
    } catch (const std::runtime_error &) {
    }
    CHECK(tx.send(good));
    for (int number = 0; number < 60; number++) {
      if (number % 3 != 2) CHECK(rx.recv()->inner.number() == number);
    }
    CHECK(rx.recv()->inner.number() == 10);
    CHECK(rx.try_recv().status() == ys::status::empty);
    // Those before one that fails are sent.
    std::vector<int> plain{0, 1, 3, 4};
    std::vector<fragile> many;
    many.reserve(4);
    for (int number : plain) many.emplace_back(objects, number);
    try {
      (void)tx.send_range(many);
      CHECK(false);
    } catch (const std::runtime_error &) {
    }
    CHECK(rx.recv()->inner.number() == 0 && rx.recv()->inner.number() == 1 && rx.recv()->inner.number() == 3);
    CHECK(rx.try_recv().status() == ys::status::empty);
    // In a reservation the others stay as they are.
    auto slots = tx.reserve();
    CHECK(slots.emplace(objects, 0) != nullptr);
    if (slots.size() > 1) {
      try {
        (void)slots.emplace(objects, 2);
        CHECK(false);
      } catch (const std::runtime_error &) {
      }
    }
    CHECK(slots.commit().count == 1);
    CHECK(rx.recv()->inner.number() == 0);
    CHECK(tx.emplace(objects, 0));
  }
  CHECK(objects.alive == 0);
}

#endif

void what_is_not_sent_stays() {
  auto [tx, rx] = ys::pipe<std::string>(1);
  std::string first(40, 'a'), second(40, 'b');
  CHECK(tx.send(std::move(first)));
  CHECK(tx.try_send(std::move(second)) == ys::status::full && second == std::string(40, 'b'));
  CHECK(tx.send_for(std::move(second), std::chrono::milliseconds(1)) == ys::status::timeout && second.size() == 40);
  rx.close();
  CHECK(tx.send(std::move(second)) == ys::status::closed && second == std::string(40, 'b'));
  auto [out, in] = ys::exchange<std::unique_ptr<int>>(1);
  auto one = std::make_unique<int>(1), two = std::make_unique<int>(2);
  CHECK(out.send(std::move(one)));
  CHECK(out.try_send(std::move(two)) == ys::status::full && *two == 2);
  in.close();
  CHECK(out.send(std::move(two)) == ys::status::closed && *two == 2);
}

// What is handed over may be the base of something larger, whose rest stays whose it was. Without virtual functions, for it cannot be
// assigned.
struct base {
  const int number;
  explicit base(int given) : number{given} {}
  base(base &&) noexcept = default;
};

struct larger : base {
  std::string text = std::string(100, 'x');
  using base::base;
};

void what_comes_back_to_a_base_leaves_the_rest_alone() {
  for (bool is_bounded : {false, true}) {
    auto [tx, rx] = is_bounded ? ys::pipe<base>(4) : ys::pipe<base>();
    { auto gone = std::move(rx); }
    larger object(7);
    CHECK(tx.send(std::move(object)) == ys::status::closed);
    CHECK(tx.try_send(std::move(object)) == ys::status::closed);
    CHECK(object.number == 7 && object.text == std::string(100, 'x'));
  }
}

}  // namespace

int main() {
  RUN(pipes);
  RUN(funnels);
  RUN(both_race);
  RUN(a_funnel_of_threads_whose_receiver_goes);
  RUN(owners_in_exchanges_and_oneshots);
  RUN(an_end_that_is_assigned_to_closes);
#if defined(__cpp_exceptions)
  RUN(constructors_that_throw);
#endif
  RUN(what_is_not_sent_stays);
  RUN(what_comes_back_to_a_base_leaves_the_rest_alone);
}
