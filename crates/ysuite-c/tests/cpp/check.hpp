// What all tests in C++ use: checks that print their line, a guard against hanging, objects that are counted.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <ysuite.hpp>

#define CHECK(...)                                                                     \
  do {                                                                                 \
    if (!(__VA_ARGS__)) {                                                              \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__);   \
      std::abort();                                                                    \
    }                                                                                  \
  } while (0)

/* The system's alarm ends a test that hangs. */
#define RUN(test)              \
  do {                         \
    alarm(600);                \
    std::printf("  %s\n", #test); \
    std::fflush(stdout);       \
    test();                    \
  } while (0)

inline bool is_long() {
  const char *stress = std::getenv("YSUITE_STRESS");
  return stress != nullptr && std::strcmp(stress, "long") == 0;
}

/// How many objects there are. A tally outlives them.
struct tally {
  std::atomic<long> alive{0};
  std::atomic<long> made{0};
};

/// An object that knows its own address, and where it is counted. One that was moved from counts as alive until it is destroyed.
class counted {
 public:
  counted(tally &in, int number) noexcept : in_(&in), number_(number), self_(this) { enter(); }
  counted(counted &&other) noexcept : in_(other.in_), number_(std::exchange(other.number_, -1)), self_(this) {
    other.is_whole();
    enter();
  }
  counted(const counted &other) noexcept : in_(other.in_), number_(other.number_), self_(this) {
    other.is_whole();
    enter();
  }
  counted &operator=(counted &&other) noexcept {
    is_whole();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  counted &operator=(const counted &) = delete;
  ~counted() {
    is_whole();
    self_ = nullptr;
    in_->alive.fetch_sub(1);
  }

  /// -1: it was moved from.
  int number() const noexcept {
    is_whole();
    return number_;
  }

 private:
  void enter() noexcept {
    in_->alive.fetch_add(1);
    in_->made.fetch_add(1);
  }
  void is_whole() const noexcept { CHECK(self_ == this); }

  tally *in_;
  int number_;
  const counted *self_;
};
