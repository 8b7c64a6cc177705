/** @file ysuite/reservation.hpp
 *  Free slots that messages are built in before they are sent together.
 */
#ifndef YSUITE_RESERVATION_HPP
#define YSUITE_RESERVATION_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "annotated.h"
#include "declarations.h"
#include "message.hpp"
#include "status.hpp"

namespace ys {

/** Free slots side by side, of sender::reserve(): a range of addresses, each room for one message. Belongs to its
 *  sender's thread. The sender must not go before it.
 *
 *  Either build messages by emplace() and send them by commit(), or build them at the addresses of the range, from the
 *  first on without a gap, and send them by commit(n). What emplace() has built is destroyed where it is not sent.
 *
 *  It ends with commit(), and with any other operation of the sender: another send, another reserve(), close(). Its
 *  slots may have other messages from then on, and must not be touched, also by emplace(). What was built before is
 *  forgotten: neither sent nor destroyed. commit() is status::invalid then, unless the sender has reserved again: it
 *  knows its newest reservation only, and treats an older one as that. Of two reservations of the same slots, the first
 *  to commit sends what is there, the first to be destroyed destroys what it has built itself, and both may have ended
 *  by that. If anything was sent in between, the older one must not be committed. Queries end nothing: size(),
 *  closed(), raw(), and a move of the sender. */
template <class T>
class [[nodiscard]] reservation {
  using place = detail::in_place<T>;

 public:
  /** Goes over the addresses of the slots. */
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = void *;
    using difference_type = std::ptrdiff_t;
    using pointer = void *const *;
    using reference = void *;

    iterator() noexcept = default;
    void *operator*() const noexcept { return at_; }
    iterator &operator++() noexcept {
      at_ += place::stride;
      return *this;
    }
    iterator operator++(int) noexcept {
      const iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return a.at_ != b.at_; }

   private:
    friend class reservation;
    explicit iterator(unsigned char *at) noexcept : at_(at) {}
    unsigned char *at_ = nullptr;
  };

  /** The result of ys_reserve() for this handle, and where the slots are. */
  reservation(ys_tx *end, std::ptrdiff_t answer, void *first) noexcept
      : end_(end), answer_(answer), first_(answer > 0 ? static_cast<unsigned char *>(first) : nullptr) {}
  reservation(const reservation &) = delete;
  reservation &operator=(const reservation &) = delete;
  ~reservation() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      // If it has ended the slots have what was sent since. One without a message ends as well: its slots may have been
      // built in, and another's message in them is gone.
      if (answer_ > 0 && ys_tx_discard(end_, first_) == YS_OK) destroy(0, built_);
    }
  }

  /** How many slots there are. */
  std::size_t size() const noexcept { return answer_ > 0 ? static_cast<std::size_t>(answer_) : 0; }
  /** Whether there is any. */
  explicit operator bool() const noexcept { return answer_ > 0; }
  /** Why there is none: status::full, status::closed. */
  ys::status status() const noexcept { return status::from(answer_); }

  /** The address of a slot. */
  void *operator[](std::size_t index) const noexcept { return first_ + index * place::stride; }
  iterator begin() const noexcept { return iterator(first_); }
  iterator end() const noexcept { return iterator(first_ == nullptr ? nullptr : first_ + size() * place::stride); }

  /** Builds a message in the next slot; null if there is none left. What a constructor throws passes, and the slot stays free. */
  template <class... Args>
  T *emplace(Args &&...args) {
    if (built_ == size()) return nullptr;
    T *message = place::build((*this)[built_], std::forward<Args>(args)...);
    ++built_;
    return message;
  }

  /** How many were built by emplace(). */
  std::size_t built() const noexcept { return built_; }

  /** Sends what was built by emplace(). Never blocks. What was not sent, because the receiver is gone, is destroyed:
   *  status::closed. status::invalid: the reservation had ended, and nothing happens, but that it is forgotten what was
   *  built. Where nothing was built: status::ok, and nothing happens, also where it had ended. */
  sent commit() noexcept { return commit(built_); }

  /** Sends the first `count` slots, each with a message now, built by emplace() or by the caller.
   *  Likewise. More than size(): status::invalid, and nothing happens. */
  sent commit(std::size_t count) noexcept {
    if (count > size()) return {0, ys::status::invalid};
    if (count == 0) return {0, ys::status::ok};
    const std::ptrdiff_t answer = ys_commit(end_, count);
    const std::size_t done = answer > 0 ? static_cast<std::size_t>(answer) : 0;
    if (detail::is_given_back(answer)) destroy(done, count > built_ ? count : built_);
    built_ = 0;
    answer_ = 0;
    if (done == count) return {done, ys::status::ok};
    return {done, detail::why(answer, ys::status::closed)};
  }

 private:
  void destroy([[maybe_unused]] std::size_t from, [[maybe_unused]] std::size_t to) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (; from < to; ++from) place::at(first_, from)->~T();
    }
  }

  ys_tx *end_;
  std::ptrdiff_t answer_;
  unsigned char *first_;
  std::size_t built_ = 0;
};

}  // namespace ys

#endif
