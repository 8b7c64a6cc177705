/** @file ysuite/status.hpp
 *  How a call has ended: ys::status, and what is thrown where opening fails.
 */
#ifndef YSUITE_STATUS_HPP
#define YSUITE_STATUS_HPP

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

#include "annotated.h"
#include "declarations.h"

#if defined(__cpp_exceptions)
#define YS_HAS_EXCEPTIONS 1
#else
#define YS_HAS_EXCEPTIONS 0
#endif

namespace ys {

/** How a call has ended. True is success; nothing but the reasons below makes it false. */
class [[nodiscard]] status {
 public:
  /** The reasons: the codes of C. */
  enum reason : int {
    ok = YS_OK,                  /**< done */
    closed = YS_CLOSED,          /**< the other side is gone, and nothing is left to receive */
    full = YS_FULL,              /**< there is no room now */
    empty = YS_EMPTY,            /**< there is no message now */
    timeout = YS_TIMEOUT,        /**< the time is up */
    invalid = YS_EINVAL,         /**< an argument out of range, or a moved-from handle */
    no_memory = YS_ENOMEM,       /**< there is no memory */
    system = YS_ESYSTEM,         /**< errno has the cause */
    attached = YS_EATTACHED,     /**< attached already, or not attached here */
    taken = YS_ETAKEN,           /**< the id is another's */
    out_of_range = YS_ERANGE,    /**< there is no such id */
    too_many = YS_ETOOMANY,      /**< the largest number of senders, or longer than the pool's largest block */
    unsupported = YS_ENOTSUP,    /**< this kind cannot do it */
    panicked = YS_EPANIC,        /**< a callback has failed; the handle refuses from then on */
    busy = YS_EBUSY,             /**< checked build: two threads in one handle */
    freed = YS_EFREED,           /**< checked build: the handle was freed */
    stopped = YS_STOPPED,        /**< it would have had to wait, and a ys::stopper or a std::stop_token has ended that */
    lagged = YS_LAGGED,          /**< messages of a broadcast were lost: the receiver was too slow */
    died = YS_DIED,              /**< between processes: the other end's process has died */
    broken = YS_BROKEN,          /**< between processes: the other end has broken the protocol */
    too_long = YS_ETOOLONG,      /**< between processes: longer than the buffer or the channel */
    refused = YS_REFUSED,        /**< there is no connection; this and the following say why: ys::shm::refusal() */
    refused_kernel = YS_REFUSED_KERNEL,     /**< the kernel is older than Linux 5.1 */
    refused_memory = YS_REFUSED_MEMORY,     /**< the peer's memory is not a memfd of ordinary pages */
    refused_seals = YS_REFUSED_SEALS,       /**< the peer's memory lacks a seal */
    refused_size = YS_REFUSED_SIZE,         /**< the peer's memory has a wrong size */
    refused_holes = YS_REFUSED_HOLES,       /**< the peer's memory has holes */
    refused_magic = YS_REFUSED_MAGIC,       /**< the peer speaks another protocol */
    refused_version = YS_REFUSED_VERSION,   /**< the peer speaks another version of the protocol */
    refused_role = YS_REFUSED_ROLE,         /**< the peer is the same end of the channel */
    refused_kind = YS_REFUSED_KIND,         /**< the peer's channel is of another kind */
    refused_type = YS_REFUSED_TYPE,         /**< the peer's messages are of another type */
    refused_capacity = YS_REFUSED_CAPACITY, /**< a capacity is too small or too large, here or at the peer */
    refused_packet = YS_REFUSED_PACKET,     /**< the peer's packet is malformed, or the descriptor is no such socket */
    refused_user = YS_REFUSED_USER,         /**< this user may not be at the other end */
    refused_time = YS_REFUSED_TIME,         /**< the peer, or a listener, or the lock of a name took too long */
    refused_in_use = YS_REFUSED_IN_USE,     /**< another program listens at this name */
    refused_name = YS_REFUSED_NAME,         /**< the name is not usable */
    refused_by_peer = YS_REFUSED_BY_PEER,   /**< the peer has refused this end */
    unanswered = YS_UNANSWERED,             /**< the question was dropped without an answer; of a bridge: there was none in time */
    unsent = YS_UNSENT                      /**< a bridge was closed before everything had left */
  };

  constexpr status(reason why) noexcept : reason_(why) {}

  /** The status of a return value of C; all that are not negative are success. */
  static constexpr status from(std::ptrdiff_t code) noexcept { return code >= 0 ? ok : static_cast<reason>(code); }

  /** Whether it was done. */
  constexpr explicit operator bool() const noexcept { return reason_ == ok; }
  /** Why it was not; for `switch`. */
  constexpr reason why() const noexcept { return reason_; }
  /** A sentence for people; never null. */
  const char *text() const noexcept { return ::ys_error_text(reason_); }

  friend constexpr bool operator==(status a, status b) noexcept { return a.reason_ == b.reason_; }
  friend constexpr bool operator!=(status a, status b) noexcept { return a.reason_ != b.reason_; }

 private:
  reason reason_;
};

/** How much of a run was sent, and why no more. True if all of it was. */
struct [[nodiscard]] sent {
  std::size_t count; /**< how many were sent: the first ones */
  status why;        /**< ok, or what kept the others */

  constexpr explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

namespace detail {

/* The meaning of a result that is no success: its code, or if it has none, this. */
constexpr status why(std::ptrdiff_t answer, status::reason otherwise) noexcept {
  return answer < 0 ? status::from(answer) : status(otherwise);
}

/* Whether messages that ys_commit() has not sent are the caller's again. After an error their slots may have others. */
constexpr bool is_given_back(std::ptrdiff_t answer) noexcept { return answer >= 0 || answer == YS_CLOSED; }

class error_category final : public std::error_category {
 public:
  const char *name() const noexcept override { return "ysuite"; }
  std::string message(int code) const override { return ::ys_error_text(code); }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (code) {
      case YS_EINVAL:
      case YS_ERANGE: return std::errc::invalid_argument;
      case YS_ENOTSUP: return std::errc::not_supported;
      case YS_EBUSY: return std::errc::device_or_resource_busy;
      case YS_STOPPED: return std::errc::operation_canceled;
      default: return std::error_condition(code, *this);
    }
  }
};

}  // namespace detail

/** The category of errors that opening throws, besides those of the system. Its values are status::reason. */
inline const std::error_category &category() noexcept {
  static const detail::error_category only;
  return only;
}

namespace detail {

/* Throws the error of a failed opening; without exceptions, prints it and ends the process, as the standard library
 * does. */
[[noreturn]] inline void raise(int code, const char *what) {
#if YS_HAS_EXCEPTIONS
  if (code == YS_ENOMEM) throw std::bad_alloc();
  if (code == YS_ESYSTEM) throw std::system_error(errno, std::generic_category(), what);
  throw std::system_error(code, category(), what);
#else
  std::fprintf(stderr, "%s: %s\n", what, ::ys_error_text(code));
  std::abort();
#endif
}

}  // namespace detail
}  // namespace ys

#endif
