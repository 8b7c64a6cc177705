/** @file ysuite/coroutine.hpp
 *  Awaitables for coroutines of any type: a ys::loop resumes them when their handle may go on. C++20; before, this declares nothing.
 *
 *  @code{.cpp}
 *  ys::task echo(ys::loop &loop, ys::receiver<std::string> in, ys::sender<std::string> out) {
 *    while (auto line = co_await loop.recv(in)) {
 *      if (!co_await loop.send(out, std::move(*line))) break;
 *    }
 *  }
 *
 *  ys::loop loop(16);
 *  ys::task task = echo(loop, std::move(in), std::move(out));
 *  loop.run();                                        // until no coroutine waits
 *  @endcode
 *
 *  Within another event loop, wait for fd() to be readable and call poll() then. For Asio there is ysuite_asio.hpp.
 */
#ifndef YSUITE_COROUTINE_HPP
#define YSUITE_COROUTINE_HPP

#if defined(__cpp_impl_coroutine)

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "end.hpp"
#include "received.hpp"
#include "set.hpp"
#include "status.hpp"
#include "time.hpp"

#define YS_HAS_COROUTINES 1

namespace ys {

/** Resumes coroutines on the thread that runs it, when what they wait for may go on. One thread at a time. Handles that are awaited here
 *  are in no other set or selector. */
class loop {
  /* A coroutine that waits for a handle. */
  class waiter {
   public:
    waiter(const waiter &) = delete;
    waiter &operator=(const waiter &) = delete;

   protected:
    explicit waiter(loop *of) noexcept : of_(of) {}
    ~waiter() = default;

    loop *of_;

   private:
    friend class loop;
    /* Whether it has what it waits for, or cannot get it. */
    virtual bool is_done() = 0;
    virtual status enter(socketpair_set &set, std::size_t id) noexcept = 0;
    virtual void leave(socketpair_set &set) noexcept = 0;

    std::coroutine_handle<> then_;
    std::size_t id_ = 0;
    bool is_in_ = false;
  };

  /* `Attempt` tries without waiting, and returns a status or a received. */
  template <class End, class Attempt>
  class [[nodiscard]] handle_awaiter final : waiter {
    using result = decltype(std::declval<Attempt &>()());

   public:
    handle_awaiter(loop *of, End &end, Attempt attempt) : waiter(of), end_(end), attempt_(std::move(attempt)) {}
    ~handle_awaiter() {
      if (this->of_ != nullptr) this->of_->forget(*this);
    }

    bool await_ready() { return is_done(); }
    bool await_suspend(std::coroutine_handle<> then) {
      const status answer = this->of_->enlist(*this, then);
      if (!answer) result_.emplace(answer);
      return static_cast<bool>(answer);
    }
    result await_resume() { return std::move(*result_); }

   private:
    bool is_done() override {
      result_.emplace(attempt_());
      const status::reason why = detail::status_of(*result_).why();
      return why != status::empty && why != status::full;
    }
    status enter(socketpair_set &set, std::size_t id) noexcept override { return set.attach(end_, id); }
    void leave(socketpair_set &set) noexcept override { (void)set.detach(end_); }

    End &end_;
    Attempt attempt_;
    std::optional<result> result_;
  };

  using clock = std::chrono::steady_clock;
  using alarms = std::multimap<clock::time_point, std::coroutine_handle<>>;

  class [[nodiscard]] alarm_awaiter {
   public:
    alarm_awaiter(std::shared_ptr<alarms> among, clock::time_point moment) noexcept : among_(std::move(among)), moment_(moment) {}
    alarm_awaiter(const alarm_awaiter &) = delete;
    alarm_awaiter &operator=(const alarm_awaiter &) = delete;
    ~alarm_awaiter() { leave(); }
    bool await_ready() const noexcept { return clock::now() >= moment_; }
    void await_suspend(std::coroutine_handle<> then) { at_ = among_->emplace(moment_, then); }
    void await_resume() noexcept { leave(); }

   private:
    void leave() noexcept {
      if (at_) among_->erase(*at_);
      at_.reset();
    }

    std::shared_ptr<alarms> among_;
    clock::time_point moment_;
    std::optional<alarms::iterator> at_;
  };

 public:
  /** At most so many handles are waited for at a time. Throws std::bad_alloc or std::system_error. */
  explicit loop(std::size_t handles) : set_(handles), alarms_(std::make_shared<alarms>()), at_(handles) {
    free_.reserve(handles);
    while (handles != 0) free_.push_back(--handles);
  }
  loop(const loop &) = delete;
  loop &operator=(const loop &) = delete;
  /** Coroutines that wait here are not resumed any more. They are destroyed by their owners. */
  ~loop() {
    for (waiter *one : at_) {
      if (one == nullptr) continue;
      remove(*one);
      one->of_ = nullptr;
    }
  }

  /** `co_await loop.recv(rx)`: the next message, as a ys::received. Receivers of every kind. status::attached: the handle is in a set;
   *  status::too_many: no more handles can be waited for. */
  template <class Rx>
  auto recv(Rx &rx) {
    auto attempt = [&rx] { return rx.try_recv(); };
    return handle_awaiter<receiving_end_of, decltype(attempt)>(this, rx, attempt);
  }
  /** `co_await loop.send(tx, message)`: its ys::status. What is not sent is destroyed with the awaitable. Senders of pipes, funnels
   *  and exchanges: others never wait, or cannot: status::unsupported. */
  template <class Tx>
  auto send(Tx &tx, typename Tx::value_type message) {
    auto attempt = [&tx, message = std::move(message)]() mutable { return tx.try_send(std::move(message)); };
    return handle_awaiter<sending_end_of, decltype(attempt)>(this, tx, std::move(attempt));
  }
  /** `co_await loop.sleep_for(10ms)`. */
  template <class Rep, class Period>
  auto sleep_for(std::chrono::duration<Rep, Period> time) {
    const std::int64_t ns = detail::nanoseconds(time);
    const auto now = clock::now();
    const bool is_far = ns < 0 || std::chrono::nanoseconds(ns) > (clock::time_point::max)() - now;
    return alarm_awaiter(alarms_, is_far ? (clock::time_point::max)() : now + std::chrono::nanoseconds(ns));
  }

  /** Resumes coroutines until none waits here: true; or until a stopper ends it: false. What a coroutine lets out passes. */
  bool run() {
    while (waiting() != 0) {
      const std::int64_t ns = alarms_->empty() ? detail::for_ever : detail::nanoseconds_until(alarms_->begin()->first);
      if (step(ns) == status::stopped) return false;
    }
    return true;
  }
#ifdef YS_HAS_STOP_TOKEN
  /** The same; false also once a stop is requested. */
  bool run(const std::stop_token &token) {
    const auto runs = [this] { return run() ? status(status::ok) : status(status::stopped); };
    return waiting() == 0 || detail::while_not_stopped(set_.raw(), token, runs);
  }
#endif
  /** Resumes all that may go on now, without waiting: when fd() is readable, and when next_alarm() has come. Returns how many. */
  std::size_t poll() {
    const std::size_t before = resumed_;
    // Until nothing is up: then an edge-triggered loop is notified of what comes later.
    while (step(detail::no_time) == status::ok) continue;
    return resumed_ - before;
  }
  /** How many coroutines wait here. */
  std::size_t waiting() const noexcept { return at_.size() - free_.size() + alarms_->size(); }
  /** When the first sleep is over. */
  std::optional<clock::time_point> next_alarm() const {
    if (alarms_->empty()) return std::nullopt;
    return alarms_->begin()->first;
  }
  /** Readable when poll() has something to do. It stays the loop's. */
  int fd() const noexcept { return set_.fd(); }
  /** Ends run(), now and from now on. Any thread may stop. */
  [[nodiscard]] stopper make_stopper() const { return set_.make_stopper(); }

 private:
  using receiving_end_of = detail::receiving_end;
  using sending_end_of = detail::sending_end;

  status enlist(waiter &one, std::coroutine_handle<> then) {
    if (free_.empty()) return status::too_many;
    const std::size_t id = free_.back();
    // Its id is up at first: what has come since the attempt is not missed.
    const status answer = one.enter(set_, id);
    if (!answer) return answer;
    free_.pop_back();
    one.then_ = then;
    one.id_ = id;
    one.is_in_ = true;
    at_[id] = &one;
    return status::ok;
  }
  void remove(waiter &one) noexcept {
    one.leave(set_);
    one.is_in_ = false;
    at_[one.id_] = nullptr;
    free_.push_back(one.id_);
  }
  void forget(waiter &one) noexcept {
    if (one.is_in_) remove(one);
  }

  status step(std::int64_t ns) {
    const auto ready = ns < 0 ? set_.wait() : set_.wait(std::chrono::nanoseconds(ns));
    bool is_some = false;
    // Coroutines that are resumed may wait for something else by the same id: that is tried once too often, then.
    for (const std::size_t id : ready) {
      waiter *const one = at_[id];
      if (one == nullptr || !one->is_done()) continue;
      const std::coroutine_handle<> then = one->then_;
      remove(*one);
      is_some = true;
      ++resumed_;
      then.resume();
    }
    while (!alarms_->empty() && alarms_->begin()->first <= clock::now()) {
      const std::coroutine_handle<> then = alarms_->begin()->second;
      is_some = true;
      ++resumed_;
      // It takes itself out.
      then.resume();
    }
    if (ready.status() == status::stopped) return status::stopped;
    return is_some || !ready.empty() ? status::ok : status::empty;
  }

  socketpair_set set_;
  /* Shared with those that sleep, which may be destroyed after this. */
  std::shared_ptr<alarms> alarms_;
  std::vector<waiter *> at_;
  std::vector<std::size_t> free_;
  std::size_t resumed_ = 0;
};

/** A coroutine without a result. It starts at once. At its end its frame is destroyed, with the handles that it was given; or with this,
 *  while it waits. `co_await task` waits for its end, and passes on what it has thrown. */
class [[nodiscard]] task {
  /* What outlives the frame. */
  struct state {
    std::coroutine_handle<> frame;
    std::coroutine_handle<> then;
    std::exception_ptr thrown;
  };

 public:
  struct promise_type {
    std::shared_ptr<state> of = std::make_shared<state>();

    task get_return_object() noexcept {
      of->frame = std::coroutine_handle<promise_type>::from_promise(*this);
      return task(of);
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    auto final_suspend() const noexcept {
      struct last {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
          const std::shared_ptr<state> left = std::move(self.promise().of);
          left->frame = nullptr;
          self.destroy();
          return left->then ? left->then : std::noop_coroutine();
        }
        void await_resume() const noexcept {}
      };
      return last{};
    }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { of->thrown = std::current_exception(); }
  };

  task(task &&) noexcept = default;
  task &operator=(task &&other) noexcept {
    if (this != &other) {
      destroy();
      of_ = std::move(other.of_);
    }
    return *this;
  }
  ~task() { destroy(); }

  /** Whether it has ended, or there is none. */
  bool done() const noexcept { return of_ == nullptr || !of_->frame; }
  /** Throws what it has thrown, if it has ended by that. */
  void get() const {
    if (done() && of_ != nullptr && of_->thrown) std::rethrow_exception(of_->thrown);
  }

  bool await_ready() const noexcept { return done(); }
  void await_suspend(std::coroutine_handle<> then) const noexcept { of_->then = then; }
  void await_resume() const { get(); }

 private:
  explicit task(std::shared_ptr<state> of) noexcept : of_(std::move(of)) {}
  void destroy() noexcept {
    if (!done()) std::exchange(of_->frame, nullptr).destroy();
  }

  std::shared_ptr<state> of_;
};

}  // namespace ys

#endif
#endif
