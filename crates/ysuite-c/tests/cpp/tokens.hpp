// Waits that a std::stop_token ends. Empty before C++20.
#ifndef YSUITE_TESTS_TOKENS_HPP
#define YSUITE_TESTS_TOKENS_HPP

#include "check.hpp"

#include <ysuite/stop_token.hpp>

// GCC 12 takes the stop source of a std::jthread for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#ifdef YS_HAS_STOP_TOKEN
#include <atomic>
#include <chrono>
#include <thread>

// `waits(token)` is stopped: before it sleeps, as it falls asleep, and when it has slept for a while. `then(pause)` each time after.
template <class Waits, class Then>
void is_stopped(Waits waits, Then then) {
  using namespace std::chrono_literals;
  for (const auto pause : {0us, 100us, 5000us}) {
    ys::status answer = ys::status::ok;
    std::jthread thread([&](std::stop_token token) { answer = waits(token); });
    std::this_thread::sleep_for(pause);
    thread.request_stop();
    thread.join();
    CHECK(answer == ys::status::stopped);
    then(pause);
  }
}

template <class Waits>
void is_stopped(Waits waits) {
  is_stopped(waits, [](auto) {});
}

// `waits(token)` is stopped so, and by a stop before it, which says nothing to waits without a token or with another: `goes_on()` lets one
// succeed.
template <class Waits, class GoesOn>
void a_wait(Waits waits, GoesOn goes_on) {
  is_stopped(waits, [&](auto pause) {
    std::stop_source source;
    source.request_stop();
    CHECK(waits(source.get_token()) == ys::status::stopped);
    std::atomic<bool> is_over{false};
    ys::status answer = ys::status::stopped;
    std::jthread waits_again([&](std::stop_token token) {
      answer = waits(token);
      is_over = true;
    });
    std::this_thread::sleep_for(pause);
    CHECK(!is_over);
    goes_on();
    waits_again.join();
    CHECK(answer == ys::status::ok);
  });
}
#endif

#endif  // YSUITE_TESTS_TOKENS_HPP
