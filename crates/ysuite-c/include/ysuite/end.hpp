/** @file ysuite/end.hpp
 *  What all handles of channels share: they own the handle of C, are moved, close, and have queries.
 */
#ifndef YSUITE_END_HPP
#define YSUITE_END_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "annotated.h"
#include "declarations.h"
#include "status.hpp"
#include "stop_token.hpp"
#include "stopper.hpp"
#include "time.hpp"

namespace ys {

/** What a waiting handle does before it sleeps. */
enum class spin : int {
  none = YS_SPIN_NONE,         /**< sleeps at once */
  adaptive = YS_SPIN_ADAPTIVE, /**< polls for a while, if that has helped lately */
  forever = YS_SPIN_FOREVER    /**< never sleeps */
};

namespace detail {

/* Frees every kind of handle. Called by name, so that annotations are seen. */
struct frees {
  void operator()(ys_tx *handle) const noexcept { ys_tx_free(handle); }
  void operator()(ys_rx *handle) const noexcept { ys_rx_free(handle); }
  void operator()(ys_set *handle) const noexcept { ys_set_free(handle); }
  void operator()(ys_signaler *handle) const noexcept { ys_signaler_free(handle); }
  void operator()(ys_select *handle) const noexcept { ys_select_free(handle); }
  void operator()(ys_pool *handle) const noexcept { ys_pool_free(handle); }
  void operator()(ys_shared *handle) const noexcept { ys_shared_free(handle); }
  void operator()(ys_timer *handle) const noexcept { ys_timer_free(handle); }
};

template <class Handle>
using owned = std::unique_ptr<Handle, frees>;

inline std::size_t count_of(std::ptrdiff_t answer) noexcept { return answer > 0 ? static_cast<std::size_t>(answer) : 0; }

/* A sender. One thread at a time, also for const members, unless their comment says any thread. Moved from, it is null,
 * and every call with null is status::invalid. */
class sending_end {
 public:
  sending_end(sending_end &&) noexcept = default;
  sending_end &operator=(sending_end &&) noexcept = default;

  /** Whether this has a handle: it was not moved from. */
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** The handle of C, for calls that are not here; this keeps it. */
  ys_tx *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_tx_free(). */
  [[nodiscard]] ys_tx *release() noexcept { return handle_.release(); }

  /** Closes: the receivers get what was sent, and then learn that it is over, once the last sender is closed or gone. Destruction does the
   *  same; but this closes an exchange or a broadcast for all its senders. False: it was closed before. */
  bool close() noexcept { return ys_tx_close(raw()) == YS_OK; }
  /** Whether nothing sent now would be received. True of a moved-from handle. */
  bool closed() const noexcept { return ys_tx_is_closed(raw()) != 0; }
  /** Waits until nothing sent would be received. */
  ys::status wait_closed() noexcept { return status::from(ys_tx_wait_closed(raw(), for_ever)); }
  /** The same, at most so long: status::timeout. */
  template <class Rep, class Period>
  ys::status wait_closed(std::chrono::duration<Rep, Period> time) noexcept {
    return status::from(ys_tx_wait_closed(raw(), detail::nanoseconds(time)));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: status::stopped. */
  ys::status wait_closed(const std::stop_token &token) {
    return detail::until_stopped(raw(), token, [this](std::int64_t ns) { return ys::status::from(ys_tx_wait_closed(raw(), ns)); });
  }
#endif
  /** How many messages are in the channel; of an mpsc channel, in this sender's lane; of a oneshot or a watch, 0. May be out of
   *  date when it is read. */
  std::size_t size() const noexcept { return count_of(ys_tx_len(raw())); }
  /** Sets what this handle does before it sleeps; no effect in a broadcast. status::unsupported of a oneshot or a watch. */
  ys::status set_spin(spin how) noexcept { return status::from(ys_tx_set_spin(raw(), static_cast<int>(how))); }
  /** Ends the waits of all handles of this channel, on any thread. Throws std::system_error. Any thread. */
  [[nodiscard]] stopper make_stopper() const { return stopper_or_raise(&::ys_tx_stopper, static_cast<const ys_tx *>(raw())); }
  /** The same; empty if there is no handle. */
  [[nodiscard]] std::optional<stopper> try_stopper() const noexcept {
    return detail::try_stopper(&::ys_tx_stopper, static_cast<const ys_tx *>(raw()));
  }

 protected:
  explicit sending_end(ys_tx *handle) noexcept : handle_(handle) {}
  ~sending_end() = default;

 private:
  owned<ys_tx> handle_;
};

/* A receiver, likewise. */
class receiving_end {
 public:
  receiving_end(receiving_end &&) noexcept = default;
  receiving_end &operator=(receiving_end &&) noexcept = default;

  /** Whether this has a handle: it was not moved from. */
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** The handle of C, for calls that are not here; this keeps it. */
  ys_rx *raw() const noexcept { return handle_.get(); }
  /** Gives the handle of C away, to be freed by ys_rx_free(). */
  [[nodiscard]] ys_rx *release() noexcept { return handle_.release(); }

  /** Closes the channel, for all its receivers: senders are disconnected; what was sent is still received. Of a watch it closes this
   *  receiver alone. To give up one of several receivers, destroy it. False: it was closed before. */
  bool close() noexcept { return ys_rx_close(raw()) == YS_OK; }
  /** Whether nothing will come besides what is there. True of a moved-from handle. */
  bool closed() const noexcept { return ys_rx_is_closed(raw()) != 0; }
  /** How many messages are there. May be out of date when it is read. */
  std::size_t size() const noexcept { return count_of(ys_rx_len(raw())); }
  /** Sets what this handle does before it sleeps; no effect in a broadcast or a watch. status::unsupported of a oneshot. */
  ys::status set_spin(spin how) noexcept { return status::from(ys_rx_set_spin(raw(), static_cast<int>(how))); }
  /** Ends the waits of all handles of this channel, on any thread. Throws std::system_error. Any thread. */
  [[nodiscard]] stopper make_stopper() const { return stopper_or_raise(&::ys_rx_stopper, static_cast<const ys_rx *>(raw())); }
  /** The same; empty if there is no handle. */
  [[nodiscard]] std::optional<stopper> try_stopper() const noexcept {
    return detail::try_stopper(&::ys_rx_stopper, static_cast<const ys_rx *>(raw()));
  }

 protected:
  explicit receiving_end(ys_rx *handle) noexcept : handle_(handle) {}
  ~receiving_end() = default;

 private:
  owned<ys_rx> handle_;
};

}  // namespace detail
}  // namespace ys

#endif
