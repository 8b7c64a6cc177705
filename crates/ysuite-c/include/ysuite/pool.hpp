/** @file ysuite/pool.hpp
 *  Blocks of memory as messages: taken by one thread, passed on as a pointer, freed by another.
 */
#ifndef YSUITE_POOL_HPP
#define YSUITE_POOL_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "end.hpp"
#include "message.hpp"
#include "status.hpp"
#include "time.hpp"

namespace ys {

/** A block of a pool, aligned to 16: bytes that can be read, written and passed on. It is a pointer, so it may be a message of every kind
 *  of channel. Destruction gives the block back, from any thread. Empty after it was moved from. What is trivially copyable, and aligned
 *  to 16 at most, may be built in it by a placement new at data(), and found again by its receiver:
 *  `std::launder(reinterpret_cast<T *>(message.data()))`. */
class pool_message {
 public:
  using value_type = std::byte;
  using iterator = std::byte *;
  using const_iterator = const std::byte *;

  pool_message() noexcept = default;
  pool_message(pool_message &&other) noexcept : at_(other.release()) {}
  pool_message &operator=(pool_message &&other) noexcept {
    // First, as it may be this one.
    void *const next = other.release();
    ys_msg_free(std::exchange(at_, next));
    return *this;
  }
  ~pool_message() { ys_msg_free(at_); }

  /** Takes over what release() or ys_pool_take() has given; null is an empty one. */
  [[nodiscard]] static pool_message adopt(void *message) noexcept {
    pool_message owner;
    owner.at_ = message;
    return owner;
  }
  /** Gives the block away, to be adopted, or freed by ys_msg_free(). */
  [[nodiscard]] void *release() noexcept { return std::exchange(at_, nullptr); }

  /** Whether there is a block. */
  explicit operator bool() const noexcept { return at_ != nullptr; }
  std::byte *data() noexcept { return static_cast<std::byte *>(at_); }
  const std::byte *data() const noexcept { return static_cast<const std::byte *>(at_); }
  /** Its length, in bytes. */
  std::size_t size() const noexcept { return at_ == nullptr ? 0 : ys_msg_len(at_); }
  bool empty() const noexcept { return size() == 0; }
  /** How long it can be made, in bytes. */
  std::size_t capacity() const noexcept { return at_ == nullptr ? 0 : ys_msg_capacity(at_); }
  /** Makes it longer or shorter; bytes stay. status::too_many or status::invalid: longer than its block. */
  status resize(std::size_t length) noexcept { return status::from(ys_msg_resize(at_, length)); }

  std::byte *begin() noexcept { return data(); }
  std::byte *end() noexcept { return data() + size(); }
  const std::byte *begin() const noexcept { return data(); }
  const std::byte *end() const noexcept { return data() + size(); }
  std::byte &operator[](std::size_t index) noexcept { return data()[index]; }
  const std::byte &operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  void *at_ = nullptr;
};

/** Pool messages travel as pointers. */
template <>
struct as_pointer<pool_message> {
  static constexpr bool value = true;
  static void *release(pool_message &from) noexcept { return from.release(); }
  static pool_message adopt(void *address) noexcept { return pool_message::adopt(address); }
};

/** Blocks of memory of a few sizes, made once. Any thread, any number of threads at once. May go before its messages do. */
class pool {
 public:
  /** Blocks as pairs of size and number: `ys::pool pool{{64, 1000}, {4096, 100}};` Throws std::bad_alloc or
   *  std::system_error; without exceptions, ends the process. */
  pool(std::initializer_list<ys_pool_class> classes) : pool(classes.begin(), classes.size()) {}
  pool(const ys_pool_class *classes, std::size_t count) {
    const int code = open(classes, count);
    if (code != YS_OK) detail::raise(code, "ys::pool");
  }
  /** The same; empty where it cannot be opened. */
  static std::optional<pool> try_open(const ys_pool_class *classes, std::size_t count) noexcept {
    std::optional<pool> opened(pool{});
    if (opened->open(classes, count) != YS_OK) opened.reset();
    return opened;
  }
  static std::optional<pool> try_open(std::initializer_list<ys_pool_class> classes) noexcept {
    return try_open(classes.begin(), classes.size());
  }

  /** A message of this many bytes, of the smallest blocks that are long enough. Waits until one is free. Empty: longer
   *  than the largest. */
  [[nodiscard]] pool_message take(std::size_t length) noexcept { return take_ns(length, detail::for_ever); }
  /** The same, if one is free now: otherwise empty. Never blocks. */
  [[nodiscard]] pool_message try_take(std::size_t length) noexcept { return take_ns(length, detail::no_time); }
  /** The same, at most so long: otherwise empty. */
  template <class Rep, class Period>
  [[nodiscard]] pool_message take(std::size_t length, std::chrono::duration<Rep, Period> time) noexcept {
    return take_ns(length, detail::nanoseconds(time));
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same, until a stop is requested: empty, with ECANCELED in errno. */
  [[nodiscard]] pool_message take(std::size_t length, const std::stop_token &token) {
    if (pool_message now = try_take(length)) return now;
    ys_stopper *handle = nullptr;
    if (ys_pool_wait_stopper(raw(), &handle) != YS_OK) return pool_message::adopt(nullptr);
    const stopper ends(handle);
    const std::stop_callback callback(token, [&ends]() noexcept { ends.stop(); });
    return pool_message::adopt(ys_pool_take_or_stop(raw(), length, detail::for_ever, ends.raw()));
  }
#endif

  /** Ends the waits of all threads that wait for a block. Throws std::system_error. Any thread. */
  [[nodiscard]] stopper make_stopper() const {
    return detail::stopper_or_raise(&::ys_pool_stopper, static_cast<const ys_pool *>(raw()));
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  ys_pool *raw() const noexcept { return handle_.get(); }

 private:
  pool() noexcept = default;

  int open(const ys_pool_class *classes, std::size_t count) noexcept {
    ys_pool *handle = nullptr;
    const int code = ys_pool_open(classes, count, &handle);
    handle_.reset(handle);
    return code;
  }

  pool_message take_ns(std::size_t length, std::int64_t ns) noexcept {
    return pool_message::adopt(ys_pool_take(handle_.get(), length, ns));
  }

  detail::owned<ys_pool> handle_;
};

}  // namespace ys

#endif
