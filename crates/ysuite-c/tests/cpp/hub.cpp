// The hub of C++: functions of other threads, timers, descriptors, and when what they have is destroyed.
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <ysuite/hub.hpp>

namespace {

using namespace std::chrono_literals;
using ys::status;

void posted_by_many() {
  const int many = is_long() ? 20000 : 500;
  tally in;
  long sum = 0;
  {
    ys::hub hub;
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; n++) {
      threads.emplace_back([&, poster = hub.make_poster()]() mutable {
        auto other = poster.clone();
        for (int m = 0; m < many; m++) {
          CHECK((m % 2 ? poster : other).post([&sum, one = counted(in, 1)](ys::hub_ref) { sum += one.number(); }));
        }
      });
    }
    // Until the posters are gone.
    CHECK(hub.run() && sum == 4L * many);
    for (std::thread &thread : threads) thread.join();
  }
  CHECK(in.alive == 0 && in.made > 0);
}

// In their order, inside one another, also those that a function adds, removes and stops.
void timers() {
  ys::hub hub;
  std::vector<int> order;
  int beats = 0;
  CHECK(!hub.timeout() && hub.run_once(0ms).value() == 0 && hub.run());
  CHECK(hub.after(5ms, [&](ys::hub_ref here) {
    order.push_back(2);
    CHECK(here.after(0ms, [&, here]() mutable {
      order.push_back(3);
      here.stop();
    }));
  }));
  CHECK(hub.after(1ms, [&] { order.push_back(1); }));
  const auto never = hub.after(1h, [] { CHECK(false); });
  CHECK(hub.timeout() && hub.run() && order == std::vector<int>({1, 2, 3}));
  CHECK(hub.cancel(*never) && hub.cancel(*never) == status::out_of_range && hub.remove(*never) == status::out_of_range);
  auto beat = std::make_shared<std::uint64_t>(0);
  *beat = hub.every(1ms, [&, beat](ys::hub_ref here) {
    if (++beats == 3) CHECK(here.cancel(*beat));
  }).value();
  CHECK(hub.run() && beats == 3 && beat.use_count() == 1 && !hub.timeout());
  CHECK(ys::hub(std::move(hub)).run() && hub.run() == status::invalid && hub.fd() < 0);
}

// A pipe of the system, and the receivers of a set.
void descriptors() {
  ys::hub hub;
  int ends[2];
  CHECK(pipe(ends) == 0);
  std::string got;
  auto reads = [&](ys::hub_ref here, int fd, std::uint32_t ready) {
    CHECK(fd == ends[0] && (ready & YS_HUB_READABLE) != 0);
    char byte;
    if (read(fd, &byte, 1) == 1) {
      got += byte;
    } else {
      here.stop();
    }
  };
  const auto source = hub.watch(ends[0], YS_HUB_READABLE, reads);
  CHECK(source && hub.watch(ends[0], YS_HUB_READABLE, reads).status() == status::system && errno == EEXIST);
  CHECK(hub.watch(-1, YS_HUB_READABLE, reads).status() == status::system && hub.watch(ends[0], 0, reads).status() == status::invalid);
  CHECK(write(ends[1], "text", 4) == 4 && close(ends[1]) == 0);
  CHECK(hub.run() && got == "text" && hub.rewatch(*source, YS_HUB_READABLE | YS_HUB_WRITABLE));
  CHECK(hub.remove(*source) && hub.rewatch(*source, YS_HUB_READABLE) == status::out_of_range && close(ends[0]) == 0);

  auto [tx, rx] = ys::pipe<std::string>(4);
  ys::socketpair_set set(1);
  CHECK(set.attach(rx, 0));
  int messages = 0;
  CHECK(hub.watch(set.fd(), YS_HUB_READABLE, [&, &rx = rx](ys::hub_ref here, int, std::uint32_t) {
    for (std::size_t id : set.wait(0ms)) {
      CHECK(id == 0);
      for (;;) {
        auto message = rx.try_recv();
        if (message.closed()) here.stop();
        if (!message) break;
        CHECK(*message == std::to_string(messages++));
      }
    }
  }));
  std::thread sends([tx = std::move(tx)]() mutable {
    for (int n = 0; n < 1000; n++) CHECK(tx.send(std::to_string(n)));
  });
  CHECK(hub.run() && messages == 1000);
  sends.join();
}

// Another loop polls its descriptor.
void within_another_loop() {
  ys::hub hub;
  std::atomic<bool> done{false};
  std::thread posts([&, poster = hub.make_poster()]() mutable {
    std::this_thread::sleep_for(1ms);
    CHECK(poster.post([&] { done = true; }));
  });
  CHECK(hub.dispatch());
  while (!done) {
    pollfd at{hub.fd(), POLLIN, 0};
    CHECK(::poll(&at, 1, -1) == 1 && hub.dispatch());
  }
  posts.join();
}

// Each function is destroyed once: called, cancelled, refused, or with the hub; while it is, the hub is not to be had.
void ends() {
  tally in;
  struct uses {
    ys::hub_ref hub;
    int *refused;
    bool is_last = true;
    uses(ys::hub_ref of, int *to) : hub(of), refused(to) {}
    uses(uses &&other) noexcept : hub(other.hub), refused(other.refused), is_last(std::exchange(other.is_last, false)) {}
    ~uses() {
      if (is_last && hub.run_once(0ms).status() == status::busy) ++*refused;
    }
    void operator()() const {}
  };
  int refused = 0;
  std::optional<ys::poster> poster;
  {
    ys::hub hub;
    poster.emplace(hub.make_poster());
    const auto one = [&] { return [it = counted(in, 1)] { CHECK(it.number() == 1); }; };
    CHECK(hub.after(0ms, one()) && hub.after(1h, one()) && hub.every(1h, one()) && poster->post(one()));
    CHECK(hub.cancel(hub.after(1h, one()).value()) && hub.cancel(hub.after(1h, uses(hub, &refused)).value()) && refused == 1);
    CHECK(in.alive == 4 && hub.run_once(1s).value() > 0 && poster->post(one()) && hub.after(0ms, uses(hub, &refused)));
    while (refused == 1) CHECK(hub.run_once(1s));
    // A function runs the hub itself.
    int inner = 0;
    CHECK(hub.after(0ms, [&](ys::hub_ref here) {
      CHECK(here.after(0ms, [&] { ++inner; }));
      while (inner == 0) CHECK(here.run_once(1s));
    }));
    while (inner == 0) CHECK(hub.run_once(1s));
    CHECK(poster->post(one()) && poster->stop() && hub.run() && poster->post(one()));
  }
  CHECK(poster->post([it = counted(in, 1)] { CHECK(false); }) == status::closed && poster->stop() == status::closed);
  poster.reset();
  CHECK(in.alive == 0 && refused == 2);
}

}  // namespace

int main() {
  RUN(posted_by_many);
  RUN(timers);
  RUN(descriptors);
  RUN(within_another_loop);
  RUN(ends);
}
