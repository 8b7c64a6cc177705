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
inline int wait_stopper(ys_set *set, ys_stopper **stopper) noexcept { return ys_set_wait_stopper(set, stopper); }
inline int wait_stopper(ys_select *select, ys_stopper **stopper) noexcept { return ys_select_wait_stopper(select, stopper); }

/* What ends the waits of one call. */
template <class Handle>
class wait_end {
 public:
  explicit wait_end(Handle *of) noexcept : of_(of), code_(wait_stopper(of, &raw_)), ends_(raw_) {}
  wait_end(const wait_end &) = delete;
  wait_end &operator=(const wait_end &) = delete;
  ~wait_end() {
    if (!ends_.stopped()) return;
    // Later waits are none of the token's business.
    ys_stopper *next = nullptr;
    if (wait_stopper(of_, &next) == YS_OK) ys_stopper_free(next);
  }

  int code() const noexcept { return code_; }
  void operator()() const noexcept { ends_.stop(); }

 private:
  Handle *of_;
  ys_stopper *raw_ = nullptr;
  int code_;
  stopper ends_;
};

/* Calls `wait()`, which has to wait, and has the token end its wait, and no other. */
template <class Handle, class Wait>
auto while_not_stopped(Handle *of, const std::stop_token &token, Wait wait) -> decltype(wait()) {
  if (token.stop_requested()) return ys::status(ys::status::stopped);
  const wait_end<Handle> ends(of);
  if (ends.code() != YS_OK) return ys::status::from(ends.code());
  const std::stop_callback callback(token, [&ends]() noexcept { ends(); });
  return wait();
}

/* Calls `attempt(ns)` likewise. What can be done without waiting is done in any case. */
template <class Handle, class Attempt>
auto until_stopped(Handle *of, const std::stop_token &token, Attempt attempt) -> decltype(attempt(no_time)) {
  auto now = attempt(no_time);
  switch (status_of(now).why()) {
    case ys::status::empty:
    case ys::status::full:
    case ys::status::timeout:
    case ys::status::stopped: return while_not_stopped(of, token, [&] { return attempt(for_ever); });
    default: return now;
  }
}

}  // namespace detail
}  // namespace ys

#endif
#endif
