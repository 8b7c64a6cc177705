// Reservations: what is built in free slots, sent together or destroyed, and left alone once a reservation has ended.
#include "check.hpp"

#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

void slots_are_built_in_and_sent() {
  tally objects;
  {
    auto [tx, rx] = ys::pipe<counted>(16);
    int sent = 0;
    while (sent < 10) {
      auto slots = tx.reserve();
      CHECK(slots.size() >= 1);
      while (sent < 10 && slots.emplace(objects, sent) != nullptr) sent++;
      const auto built = slots.built();
      CHECK(slots.commit().count == built);
    }
    {
      auto slots = tx.reserve();
      CHECK(slots.emplace(objects, 99) != nullptr && objects.alive == 11);
    }
    CHECK(objects.alive == 10);
    for (int number = 0; number < 10; number++) CHECK(rx.recv()->number() == number);
    CHECK(rx.try_recv().status() == ys::status::empty);
    {
      // A part is sent; the rest of what was built is destroyed.
      auto slots = tx.reserve();
      const std::size_t room = slots.size();
      for (std::size_t index = 0; index < room; index++) CHECK(slots.emplace(objects, static_cast<int>(index)) != nullptr);
      CHECK(slots.emplace(objects, 0) == nullptr && slots.commit(room + 1).why == ys::status::invalid);
      CHECK(slots.commit(1).count == 1 && objects.alive == 1 && slots.size() == 0);
    }
    CHECK(rx.recv()->number() == 0 && rx.try_recv().status() == ys::status::empty);
    CHECK(objects.alive == 0);
    {
      // Built at the addresses, by the caller.
      auto slots = tx.reserve();
      std::size_t count = 0;
      for (void *slot : slots) ::new (slot) counted(objects, static_cast<int>(count++));
      CHECK(count == slots.size() && slots.commit(count));
      for (std::size_t index = 0; index < count; index++) CHECK(rx.recv()->number() == static_cast<int>(index));
    }
    CHECK(objects.alive == 0);
    rx.close();
    // A sender that reserves by the window is notified when it commits.
    if (auto slots = tx.reserve()) {
      CHECK(slots.emplace(objects, 1) != nullptr);
      const ys::sent outcome = slots.commit();
      CHECK(outcome.count == 0 && outcome.why == ys::status::closed);
    }
    CHECK(tx.reserve().status() == ys::status::closed);
  }
  CHECK(objects.alive == 0);
}

/// Runs a test with every kind of sender that reserves.
template <class Test>
void each_kind(Test test) {
  test(ys::pipe<counted>());
  test(ys::pipe<counted>(16));
  test(ys::funnel<counted>());
  test(ys::funnel<counted>(16));
}

// Any operation of the sender ends a reservation: commit() reports that, and what was sent instead is not touched.
void what_has_ended_is_not_sent() {
  each_kind([](auto ends) {
    tally objects;
    {
      auto [tx, rx] = std::move(ends);
      for (int round = 0; round < 100; round++) {
        const long before = objects.alive;
        auto slots = tx.reserve();
        CHECK(slots.emplace(objects, 1) != nullptr);
        CHECK(tx.emplace(objects, round));
        const ys::sent outcome = slots.commit();
        CHECK(outcome.count == 0 && outcome.why == ys::status::invalid);
        // Forgotten, and over.
        CHECK(!slots && slots.size() == 0 && slots.built() == 0 && slots.emplace(objects, 2) == nullptr);
        CHECK(slots.commit() && slots.commit(1).why == ys::status::invalid);
        CHECK(rx.recv()->number() == round);
        CHECK(objects.alive == before + 1);
      }
    }
    CHECK(objects.alive == 100);
  });
}

/// One message, and then a call of `end`; how many messages are received, each whole, and how many objects were
/// forgotten.
template <class Ends, class End>
void ends_by(Ends &ends, int sent, long forgotten, End end) {
  tally objects;
  {
    auto &[tx, rx] = ends;
    {
      auto slots = tx.reserve();
      CHECK(slots.emplace(objects, 99) != nullptr);
      end(tx, objects);
    }
    for (int number = 0; number < sent; number++) CHECK(rx.try_recv()->number() == number);
    CHECK(!rx.try_recv());
  }
  CHECK(objects.alive == forgotten);
}

// The same where it is destroyed: nothing that was sent since is.
void what_has_ended_is_not_destroyed() {
  each_kind([](auto ends) {
    for (int round = 0; round < 30; round++) {
      ends_by(ends, 1, 1, [](auto &tx, tally &objects) { CHECK(tx.emplace(objects, 0)); });
      ends_by(ends, 2, 1, [](auto &tx, tally &objects) {
        std::vector<counted> many;
        for (int number = 0; number < 2; number++) many.emplace_back(objects, number);
        CHECK(tx.send_range(many.begin(), many.end()).count == 2);
      });
      ends_by(ends, 1, 1, [](auto &tx, tally &objects) {
        auto others = tx.reserve();
        CHECK(others.emplace(objects, 0) != nullptr && others.commit().count == 1);
      });
      ends_by(ends, 0, 1, [](auto &tx, tally &) { CHECK(tx.wait_room()); });
      // Destroyed by their owner: two reservations of the same slots, and no double destruction.
      ends_by(ends, 0, 1, [](auto &tx, tally &objects) {
        auto others = tx.reserve();
        CHECK(others.emplace(objects, 0) != nullptr);
      });
      // Nor is anything destroyed that the other has had, whether it has destroyed that itself or built nothing at all.
      ends_by(ends, 0, 1, [](auto &tx, tally &objects) {
        auto others = tx.reserve();
        counted *const built = ::new (others[0]) counted(objects, 0);
        built->~counted();
      });
      ends_by(ends, 0, 1, [](auto &tx, tally &) { CHECK(tx.reserve()); });
      // A query does not end it.
      ends_by(ends, 0, 0, [](auto &tx, tally &) { CHECK(!tx.closed() && tx.size() == 0 && tx); });
      ends_by(ends, 0, 0, [](auto &tx, tally &) {
        auto elsewhere = std::move(tx);
        tx = std::move(elsewhere);
      });
    }
    ends_by(ends, 0, 1, [](auto &tx, tally &) { CHECK(tx.close()); });
  });
}

// A channel knows the newest reservation only: of two of the same slots, the first to commit sends what is there.
void of_two_the_first_to_commit_counts() {
  each_kind([](auto ends) {
    tally objects;
    {
      auto [tx, rx] = std::move(ends);
      for (int round = 0; round < 30; round++) {
        auto older = tx.reserve();
        CHECK(older.emplace(objects, 1) != nullptr);
        auto newer = tx.reserve();
        CHECK(newer.emplace(objects, 2) != nullptr);
        auto &first = round % 2 == 0 ? older : newer;
        auto &second = round % 2 == 0 ? newer : older;
        CHECK(first.commit().count == 1 && second.commit().why == ys::status::invalid);
        CHECK(rx.recv()->number() == 2 && rx.try_recv().status() == ys::status::empty);
        // Nothing is invalid in what is not there.
        CHECK(first.commit() && second.commit());
      }
    }
    CHECK(objects.alive == 30);
  });
}

// Nor does it matter whether there is a receiver.
void what_nobody_will_receive_is_destroyed() {
  each_kind([](auto ends) {
    tally objects;
    auto [tx, rx] = std::move(ends);
    {
      auto slots = tx.reserve();
      CHECK(slots.emplace(objects, 1) != nullptr && slots.emplace(objects, 2) != nullptr);
      rx.close();
    }
    CHECK(objects.alive == 0);
  });
}

#if defined(__cpp_exceptions)

struct failing {
  counted inner;
  failing(tally &objects, bool fails) : inner(objects, 0) {
    if (fails) throw std::runtime_error("made badly");
  }
  failing(failing &&) noexcept = default;
};

template <class Send>
void fails(Send send) {
  try {
    send();
    CHECK(false);
  } catch (const std::runtime_error &) {
  }
}

// A constructor that throws in a slot leaves nothing there, even if something had been built in it before.
void what_was_built_over_is_not_destroyed() {
  tally objects;
  {
    auto [tx, rx] = ys::pipe<failing>(4);
    for (int round = 0; round < 20; round++) {
      {
        auto slots = tx.reserve();
        CHECK(slots.emplace(objects, false) != nullptr);
        fails([&tx = tx, &objects] { (void)tx.emplace(objects, true); });
      }
      {
        auto slots = tx.reserve();
        CHECK(slots.emplace(objects, false) != nullptr);
        if (slots.size() > 1) fails([&slots, &objects] { (void)slots.emplace(objects, true); });
        CHECK(slots.commit().count == 1 && rx.recv());
      }
    }
  }
  CHECK(objects.alive == 20);
}

#endif

}  // namespace

int main() {
  RUN(slots_are_built_in_and_sent);
  RUN(what_has_ended_is_not_sent);
  RUN(what_has_ended_is_not_destroyed);
  RUN(of_two_the_first_to_commit_counts);
  RUN(what_nobody_will_receive_is_destroyed);
#if defined(__cpp_exceptions)
  RUN(what_was_built_over_is_not_destroyed);
#endif
}
