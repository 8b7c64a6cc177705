/** @file ysuite/stopper.hpp
 *  Ends the waits of other threads, for a shutdown.
 */
#ifndef YSUITE_STOPPER_HPP
#define YSUITE_STOPPER_HPP

#include <cstddef>
#include <memory>
#include <optional>

#include "annotated.h"
#include "declarations.h"
#include "status.hpp"

namespace ys {

/** Ends the waits of a channel, a set, a selector or a pool: made by their make_stopper(). Any thread, any number of threads at once; it
 *  may outlive what it is for. Moved, not copied. */
class stopper {
 public:
  /** Takes over a stopper of C. */
  explicit stopper(ys_stopper *handle) noexcept : handle_(handle) {}

  /** From now on no thread waits there: a waiting one is woken, and its call returns status::stopped, and so does every
   *  call that finds nothing, or no room. What can be done without waiting is done as before. It cannot be undone. A
   *  second call is harmless. */
  void stop() const noexcept { (void)ys_stop(raw()); }
  /** Whether it was stopped. */
  bool stopped() const noexcept { return ys_is_stopped(raw()) > 0; }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_stopper *raw() const noexcept { return handle_.get(); }

 private:
  struct frees {
    void operator()(ys_stopper *handle) const noexcept { ys_stopper_free(handle); }
  };
  std::unique_ptr<ys_stopper, frees> handle_;
};

namespace detail {

/* A stopper by one of the functions that make them. Throws; without exceptions, ends the process. */
template <class Handle>
stopper stopper_or_raise(int (*make)(const Handle *, ys_stopper **), const Handle *of) {
  ys_stopper *handle = nullptr;
  const int code = make(of, &handle);
  if (code != YS_OK) raise(code, "ys::stopper");
  return stopper(handle);
}

template <class Handle>
std::optional<stopper> try_stopper(int (*make)(const Handle *, ys_stopper **), const Handle *of) noexcept {
  ys_stopper *handle = nullptr;
  if (make(of, &handle) != YS_OK) return std::nullopt;
  return stopper(handle);
}

/* The handle, if its channel has such messages, or null. Otherwise throws, and it stays the caller's; without
   exceptions, and in the checked build, ends the process. */
inline ys_tx *expected(ys_tx *end, std::size_t size, std::size_t align) {
  if (end != nullptr && ys_tx_expect(end, size, align) != YS_OK) raise(YS_EINVAL, "ys: a handle of other messages");
  return end;
}
inline ys_rx *expected(ys_rx *end, std::size_t size, std::size_t align) {
  if (end != nullptr && ys_rx_expect(end, size, align) != YS_OK) raise(YS_EINVAL, "ys: a handle of other messages");
  return end;
}

}  // namespace detail
}  // namespace ys

#endif
