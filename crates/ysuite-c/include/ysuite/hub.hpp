/** @file ysuite/hub.hpp
 *  The hub: an event loop of one thread, which calls functions that other threads post, timers, and handlers of descriptors. Unix;
 *  in a library that was installed with --hub.
 *
 *  @code{.cpp}
 *  ys::hub hub;
 *  std::thread other([poster = hub.make_poster()]() mutable {
 *    (void)poster.post([](ys::hub_ref here) { here.stop(); });   // runs on the thread that runs the hub
 *  });
 *  hub.every(1s, [] { beat(); });
 *  hub.watch(socket, YS_HUB_READABLE, [](ys::hub_ref here, int fd, std::uint32_t ready) { serve(here, fd); });
 *  (void)hub.run();                                              // until it is stopped, or nothing can come
 *  other.join();
 *  @endcode
 *
 *  Functions are any that can be moved, and are destroyed when they are needed no more. One that throws ends the process.
 */
#ifndef YSUITE_HUB_HPP
#define YSUITE_HUB_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "annotated.h"
#include "declarations.h"
#include "received.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {

class hub_ref;
class poster;

namespace detail {

struct hub_frees {
  void operator()(ys_hub *handle) const noexcept { ys_hub_free(handle); }
  void operator()(ys_hub_poster *handle) const noexcept { ys_hub_poster_free(handle); }
};

/* A function, as a context of C. */
template <class F>
struct hub_box {
  static void call(ys_hub *hub, void *context) noexcept;
  static void serve(ys_hub *hub, int fd, std::uint32_t ready, void *context) noexcept;
  static void drop(void *context) noexcept { delete static_cast<F *>(context); }
};

/* The result of `add(box, a place for a number)`, which takes the box in any case. */
template <class F, class Add>
received<std::uint64_t> hub_number(F &&function, Add add) {
  std::uint64_t number = 0;
  const int code = add(new std::decay_t<F>(std::forward<F>(function)), &number);
  if (code != YS_OK) return status::from(code);
  return {std::in_place, std::move(number)};
}

}  // namespace detail

/** A hub that is somebody else's: what functions get. Valid as long as they run. A function that is destroyed must not use it. */
class hub_ref {
 public:
  explicit hub_ref(ys_hub *hub) noexcept : hub_(hub) {}

  /** Serves all until it is stopped, or there is no poster, no source and no timer left. For a std::stop_token:
   *  `std::stop_callback ends(token, [poster = hub.make_poster()]() mutable { (void)poster.stop(); })`. */
  status run() noexcept { return status::from(ys_hub_run(hub_)); }
  /** One turn; waits while nothing is ready. How many functions were called: 0, if nothing can come. */
  received<std::size_t> run_once() noexcept { return calls(ys_hub_run_once(hub_, detail::for_ever)); }
  /** The same, at most so long. */
  template <class Rep, class Period>
  received<std::size_t> run_once(std::chrono::duration<Rep, Period> time) noexcept {
    return calls(ys_hub_run_once(hub_, detail::nanoseconds(time)));
  }
  /** The same, without waiting, for another event loop that watches fd() and waits no longer than timeout(). */
  received<std::size_t> dispatch() noexcept { return calls(ys_hub_dispatch(hub_)); }
  /** The descriptor for that loop. */
  int fd() const noexcept { return ys_hub_fd(hub_); }
  /** Until the next timer; empty: for ever. */
  std::optional<std::chrono::nanoseconds> timeout() const noexcept {
    std::int64_t ns = -1;
    if (ys_hub_timeout(hub_, &ns) != YS_OK || ns < 0) return std::nullopt;
    return std::chrono::nanoseconds(ns);
  }
  /** Makes run() return when the function that calls this is done, or at once if it is called beforehand. */
  void stop() noexcept { (void)ys_hub_stop(hub_); }

  /** Calls `function(hub_ref)` or `function()` once, in so long. The number of the timer, for cancel(). Throws what allocating and moving
   *  the function throw. */
  template <class Rep, class Period, class F>
  received<std::uint64_t> after(std::chrono::duration<Rep, Period> time, F &&function) {
    using box = detail::hub_box<std::decay_t<F>>;
    return detail::hub_number(std::forward<F>(function), [&](void *context, std::uint64_t *timer) {
      return ys_hub_after(hub_, length(time), box::call, context, box::drop, timer);
    });
  }
  /** The same, again and again, in one period and at each further whole number of them. */
  template <class Rep, class Period, class F>
  received<std::uint64_t> every(std::chrono::duration<Rep, Period> period, F &&function) {
    using box = detail::hub_box<std::decay_t<F>>;
    return detail::hub_number(std::forward<F>(function), [&](void *context, std::uint64_t *timer) {
      return ys_hub_every(hub_, length(period), box::call, context, box::drop, timer);
    });
  }
  /** Cancels a timer. status::out_of_range: it has fired for the last time, or was cancelled. */
  status cancel(std::uint64_t timer) noexcept { return status::from(ys_hub_cancel(hub_, timer)); }

  /** Calls `handler(hub_ref, int fd, std::uint32_t ready)` once in a turn, as long as the descriptor is ready, bits of ys_hub_ready. That of
   *  a ys::socketpair_set brings the receivers that are attached to it. The number of the source, for remove(). */
  template <class F>
  received<std::uint64_t> watch(int fd, std::uint32_t wanted, F &&handler) {
    using box = detail::hub_box<std::decay_t<F>>;
    return detail::hub_number(std::forward<F>(handler), [&](void *context, std::uint64_t *source) {
      return ys_hub_watch(hub_, fd, wanted, box::serve, context, box::drop, source);
    });
  }
  /** Watches a descriptor for something else. */
  status rewatch(std::uint64_t source, std::uint32_t wanted) noexcept { return status::from(ys_hub_rewatch(hub_, source, wanted)); }
  /** Watches a descriptor no more; before it is closed. status::out_of_range: it was removed. */
  status remove(std::uint64_t source) noexcept { return status::from(ys_hub_remove(hub_, source)); }

  /** What another thread posts by; as long as it is there run() goes on. Throws. */
  poster make_poster();

  ys_hub *raw() const noexcept { return hub_; }

 private:
  friend class hub;

  static received<std::size_t> calls(std::ptrdiff_t answer) noexcept {
    if (answer < 0) return status::from(answer);
    return {std::in_place, static_cast<std::size_t>(answer)};
  }
  template <class Rep, class Period>
  static std::int64_t length(std::chrono::duration<Rep, Period> time) noexcept {
    const std::int64_t ns = detail::nanoseconds(time);
    return ns < 0 ? (std::numeric_limits<std::int64_t>::max)() : ns;
  }

  ys_hub *hub_;
};

/** Posts functions to a hub. One thread at a time; clone() makes one for another thread. */
class poster {
 public:
  /** Takes over a poster of C. */
  explicit poster(ys_hub_poster *handle) noexcept : handle_(handle) {}

  /** The hub's thread calls `function(hub_ref)` or `function()`, behind all that this has posted before; without that, it is destroyed.
   *  status::closed: the hub is gone. Never blocks. */
  template <class F>
  status post(F &&function) {
    using box = detail::hub_box<std::decay_t<F>>;
    void *const context = new std::decay_t<F>(std::forward<F>(function));
    return status::from(ys_hub_post(handle_.get(), box::call, context, box::drop));
  }
  /** Makes the hub stop, behind all that this has posted before. */
  status stop() noexcept { return status::from(ys_hub_post_stop(handle_.get())); }
  /** Another one of the same hub. Throws. */
  poster clone() {
    ys_hub_poster *other = nullptr;
    const int code = ys_hub_poster_clone(handle_.get(), &other);
    if (code != YS_OK) detail::raise(code, "ys::poster");
    return poster(other);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_hub_poster *raw() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<ys_hub_poster, detail::hub_frees> handle_;
};

/** A hub. One thread at a time, and the functions that it calls. Not destroyed inside one of them. */
class hub : public hub_ref {
 public:
  /** Throws std::system_error: no descriptors are left; without exceptions, ends the process. */
  hub() : hub_ref(opened()), handle_(hub_) {}
  hub(hub &&other) noexcept : hub_ref(std::exchange(other.hub_, nullptr)), handle_(std::move(other.handle_)) {}
  hub &operator=(hub &&other) noexcept {
    handle_ = std::move(other.handle_);
    hub_ = handle_.get();
    other.hub_ = other.handle_.get();
    return *this;
  }

 private:
  static ys_hub *opened() {
    ys_hub *handle = nullptr;
    const int code = ys_hub_open(&handle);
    if (code != YS_OK) detail::raise(code, "ys::hub");
    return handle;
  }

  std::unique_ptr<ys_hub, detail::hub_frees> handle_;
};

inline poster hub_ref::make_poster() {
  ys_hub_poster *handle = nullptr;
  const int code = ys_hub_poster_open(hub_, &handle);
  if (code != YS_OK) detail::raise(code, "ys::poster");
  return poster(handle);
}

template <class F>
void detail::hub_box<F>::call(ys_hub *hub, void *context) noexcept {
  F &function = *static_cast<F *>(context);
  if constexpr (std::is_invocable_v<F &, hub_ref>) {
    (void)function(hub_ref(hub));
  } else {
    (void)function();
  }
}

template <class F>
void detail::hub_box<F>::serve(ys_hub *hub, int fd, std::uint32_t ready, void *context) noexcept {
  (void)(*static_cast<F *>(context))(hub_ref(hub), fd, ready);
}

}  // namespace ys

#endif
