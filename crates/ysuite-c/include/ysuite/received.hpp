/** @file ysuite/received.hpp
 *  A message, or why there is none.
 */
#ifndef YSUITE_RECEIVED_HPP
#define YSUITE_RECEIVED_HPP

#include <optional>
#include <type_traits>
#include <utility>

#include "status.hpp"

namespace ys {

/** A std::optional that knows why it is empty: status::empty, status::timeout, or status::closed, when nothing will come any more. */
template <class T>
class [[nodiscard]] received : public std::optional<T> {
 public:
  /** Empty, for a reason. */
  received(ys::status why) noexcept : status_(why) {}
  /** A message. */
  received(std::in_place_t, T &&message) noexcept : std::optional<T>(std::in_place, std::move(message)), status_(status::ok) {}

  /** status::ok if there was a message, or why there was none. Stays when the message is moved out. */
  ys::status status() const noexcept { return status_; }
  /** Whether nothing will come any more. */
  bool closed() const noexcept { return status_ == ys::status::closed; }

 private:
  ys::status status_;
};

namespace detail {

inline ys::status status_of(ys::status answer) noexcept { return answer; }
template <class Answer>
auto status_of(const Answer &answer) noexcept -> decltype(answer.status()) {
  return answer.status();
}

}  // namespace detail
}  // namespace ys

#endif
