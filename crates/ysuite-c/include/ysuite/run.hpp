/** @file ysuite/run.hpp
 *  Messages side by side, used where they lie.
 */
#ifndef YSUITE_RUN_HPP
#define YSUITE_RUN_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>

#include "annotated.h"
#include "declarations.h"
#include "message.hpp"
#include "status.hpp"
#include "stop_token.hpp"
#include "time.hpp"

namespace ys {

/** Messages of a receiver, side by side in their slots, to be used there. Belongs to the receiver's thread; the receiver must not be
 *  used meanwhile.
 *
 *  When it is destroyed, the visited messages are destroyed, and received: all if its iterator has reached the end; up
 *  to and including the present one if a loop is left early, by `break` or by an exception; of several loops, as far as
 *  any of them has gone. The rest stays in the channel. If no iterator was used, all are, unless done() says how many,
 *  or an exception passes. */
template <class T>
class [[nodiscard]] run {
  using place = detail::in_place<T>;

 public:
  /** Iterates over the messages once, and so records how far. */
  class iterator : detail::at_hand {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T *;
    using reference = T &;

    iterator() noexcept = default;
    T &operator*() const noexcept { return *place::at(static_cast<void *>(at_)); }
    T *operator->() const noexcept { return place::at(static_cast<void *>(at_)); }
    iterator &operator++() noexcept {
      at_ += place::stride;
      // Never back: another iterator may be ahead.
      if (of_->reached_ < at_) of_->reached_ = at_;
      return *this;
    }
    void operator++(int) noexcept { ++*this; }
    friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return a.at_ != b.at_; }

   private:
    friend class run;
    iterator(run *of, unsigned char *at) noexcept : of_(of), at_(at) {}
    run *of_ = nullptr;
    unsigned char *at_ = nullptr;
  };

  /** The result of ys_peek() for this handle, and where the messages are. */
  run(ys_rx *end, std::ptrdiff_t answer, void *first) noexcept : exceptions_(std::uncaught_exceptions()) { set(end, answer, first); }
  run(const run &) = delete;
  run &operator=(const run &) = delete;
  ~run() { finish(); }

  /** How many messages there are. */
  std::size_t size() const noexcept { return size_; }
  /** Whether there is none. */
  bool empty() const noexcept { return size_ == 0; }
  /** Whether there is any. */
  explicit operator bool() const noexcept { return size_ != 0; }
  /** status::ok, or why there is none: status::empty, status::closed. */
  ys::status status() const noexcept { return why_; }

  iterator begin() noexcept {
    // If it was begun before, visited messages stay visited.
    if (reached_ == nullptr) reached_ = first_;
    return iterator(this, first_);
  }
  iterator end() noexcept { return iterator(this, first_ + size_ * place::stride); }

  /** A message, without marking it as visited. */
  T &operator[](std::size_t index) noexcept { return *place::at(first_, index); }
  /** From one message to the next, in bytes. */
  static constexpr std::size_t stride() noexcept { return place::stride; }

  /** This many, at most all, count as visited, independent of the iterator. */
  void done(std::size_t count) noexcept {
    done_ = count < size_ ? count : size_;
    is_told_ = true;
  }

 private:
  template <class, class>
  friend class run_range;

  /* Of a range, for one run after the other: exceptions are asked for once. It takes as long as a run does. */
  explicit run(int exceptions) noexcept : exceptions_(exceptions) {}

  void set(ys_rx *end, std::ptrdiff_t answer, void *first) noexcept {
    end_ = end;
    size_ = answer > 0 ? static_cast<std::size_t>(answer) : 0;
    first_ = answer > 0 ? static_cast<unsigned char *>(first) : nullptr;
    reached_ = nullptr;
    why_ = ys::status::from(answer);
    is_told_ = false;
  }

  std::size_t looked_at() const noexcept {
    if (is_told_) return done_;
    if (reached_ == nullptr) return std::uncaught_exceptions() > exceptions_ ? 0 : size_;
    const std::size_t position = static_cast<std::size_t>(reached_ - first_) / place::stride;
    return position < size_ ? position + 1 : size_;
  }

  void finish() noexcept {
    if (size_ == 0) return;
    const std::size_t count = looked_at();
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (std::size_t index = 0; index < count; ++index) (*this)[index].~T();
    }
    size_ = 0;
    if (count != 0) (void)ys_consume(end_, count);
  }

  ys_rx *end_ = nullptr;
  unsigned char *first_ = nullptr;
  unsigned char *reached_ = nullptr;
  std::size_t size_ = 0;
  std::size_t done_ = 0;
  ys::status why_ = ys::status::empty;
  bool is_told_ = false;
  int exceptions_;
};

namespace detail {

struct waits_for_ever {
  ys::status operator()(ys_rx *end) const noexcept { return ys::status::from(ys_wait(end, for_ever)); }
};

#ifdef YS_HAS_STOP_TOKEN
struct waits_for_stop {
  std::stop_token token;
  ys::status operator()(ys_rx *end) const noexcept {
    return detail::until_stopped(end, token, [end](std::int64_t ns) { return ys::status::from(ys_wait(end, ns)); });
  }
};
#endif

}  // namespace detail

/** All runs that come: of receiver::runs(). Waits for each; stops when the senders are gone and nothing is left, or by a stop token. */
template <class T, class Wait = detail::waits_for_ever>
class [[nodiscard]] run_range {
 public:
  /** The end of a loop. */
  struct sentinel {};

  /** The present run. */
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = run<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = run<T> *;
    using reference = run<T> &;

    run<T> &operator*() const noexcept { return of_->now_; }
    run<T> *operator->() const noexcept { return &of_->now_; }
    iterator &operator++() noexcept {
      of_->now_.finish();
      of_->next();
      return *this;
    }
    void operator++(int) noexcept { ++*this; }
    friend bool operator==(const iterator &a, sentinel) noexcept { return a.is_over(); }
    friend bool operator!=(const iterator &a, sentinel) noexcept { return !a.is_over(); }
    friend bool operator==(sentinel, const iterator &a) noexcept { return a.is_over(); }
    friend bool operator!=(sentinel, const iterator &a) noexcept { return !a.is_over(); }

   private:
    friend class run_range;
    explicit iterator(run_range *of) noexcept : of_(of) {}
    bool is_over() const noexcept { return of_->now_.empty(); }
    run_range *of_;
  };

  explicit run_range(ys_rx *end, Wait wait = {}) noexcept : end_(end), wait_(std::move(wait)) {}
  run_range(const run_range &) = delete;
  run_range &operator=(const run_range &) = delete;

  iterator begin() noexcept {
    // A loop before this one may have been left early.
    now_.finish();
    next();
    return iterator(this);
  }
  sentinel end() const noexcept { return {}; }
  /** Why a loop has ended: status::closed, status::stopped. */
  ys::status status() const noexcept { return now_.status(); }

 private:
  void next() noexcept {
    for (;;) {
      void *first = nullptr;
      const std::ptrdiff_t answer = ys_peek(end_, &first);
      now_.set(end_, answer, first);
      if (answer != YS_EMPTY) return;
      const ys::status waited = wait_(end_);
      if (!waited) {
        now_.set(end_, waited.why(), nullptr);
        return;
      }
    }
  }

  ys_rx *end_;
  Wait wait_;
  run<T> now_{std::uncaught_exceptions()};
};

}  // namespace ys

#endif
