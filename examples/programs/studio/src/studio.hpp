// The studio: which channel leads where.
#ifndef STUDIO_STUDIO_HPP
#define STUDIO_STUDIO_HPP

#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>
#include <ysuite.hpp>

#include "audio.hpp"
#include "counters.hpp"
#include "viewers.hpp"

namespace studio {

class studio {
 public:
  // Viewers find it by this name. Throws if it is taken, or there is no memory.
  explicit studio(const std::string &name) : studio(name, wires{}) {}
  studio(const studio &) = delete;
  studio &operator=(const studio &) = delete;
  ~studio() { stop(); }

  // Never waits. status::full: it has many orders already. Any thread.
  ys::status give(order what) const noexcept { return orders_.try_send(what); }
  // Whether somebody has stopped it. Any thread.
  bool stopped() const noexcept { return stop_.stop_requested(); }
  // Stops it: what the card has passed on is encoded first. Returns when all of its threads have ended.
  void stop();

  const counters &count() const noexcept { return count_; }
  // How late the callback was, and how old frames were, in nanoseconds: for one thread, which may look or not.
  ys::receiver<std::int64_t> &lateness() noexcept { return lateness_; }
  ys::receiver<std::int64_t> &ages() noexcept { return ages_; }

 private:
  // The channels whose other end the studio keeps.
  struct wires {
    ys::exchange_channel<order> orders = ys::exchange<order>(64);
    ys::pipe_channel<std::int64_t> lateness = ys::pipe<std::int64_t>(4096), ages = ys::pipe<std::int64_t>(4096);
  };
  studio(const std::string &name, wires to);
  void start_sound(ys::sender<std::int64_t> lateness, ys::watch_receiver<settings> set, ys::watch_sender<levels> show);

  counters count_;
  std::stop_source stop_;
  ys::pool blocks_;
  ys::shared_sender<order> orders_;
  ys::receiver<std::int64_t> lateness_, ages_;
  // The last: they are joined before anything goes that they use.
  std::vector<std::jthread> threads_;
};

}  // namespace studio

#endif
