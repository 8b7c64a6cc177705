/** @file ysuite/stop_token.hpp
 *  Waits that end when a std::stop_token says so. C++20, where the standard library has them; otherwise this declares nothing.
 */
#ifndef YSUITE_STOP_TOKEN_HPP
#define YSUITE_STOP_TOKEN_HPP

#include <cstdint>

#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif

#if defined(__cpp_lib_jthread)
#define YS_HAS_STOP_TOKEN 1

#include <optional>
#include <stop_token>

#include "received.hpp"
#include "status.hpp"
#include "stopper.hpp"
#include "time.hpp"

namespace ys {
namespace detail {

inline int wait_stopper(ys_tx *end, ys_stopper **stopper) noexcept { return ys_tx_wait_stopper(end, stopper); }
inline int wait_stopper(ys_rx *end, ys_stopper **stopper) noexcept { return ys_rx_wait_stopper(end, stopper); }

/* Calls `attempt(ns)`, and has the token end its wait, and no other. What can be done without waiting is done in any case. */
template <class Handle, class Attempt>
auto until_stopped(Handle *end, const std::stop_token &token, Attempt attempt) -> decltype(attempt(no_time)) {
  auto now = attempt(no_time);
  const ys::status::reason why = status_of(now).why();
  if (why != ys::status::empty && why != ys::status::full && why != ys::status::stopped) return now;
  if (token.stop_requested()) return ys::status(ys::status::stopped);
  ys_stopper *handle = nullptr;
  const int code = wait_stopper(end, &handle);
  if (code != YS_OK) return ys::status::from(code);
  const stopper ends(handle);
  auto answer = [&] {
    const std::stop_callback callback(token, [&ends]() noexcept { ends.stop(); });
    return attempt(for_ever);
  }();
  if (ends.stopped()) {
    // Later waits are none of the token's business.
    ys_stopper *next = nullptr;
    if (wait_stopper(end, &next) == YS_OK) ys_stopper_free(next);
  }
  return answer;
}

}  // namespace detail
}  // namespace ys

#endif
#endif
