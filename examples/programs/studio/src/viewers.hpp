// The other processes: what viewers tell the studio, and how the studio starts and ends those that it runs itself.
#ifndef STUDIO_VIEWERS_HPP
#define STUDIO_VIEWERS_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <ysuite.hpp>

#include "counters.hpp"

namespace studio {

// What anybody may ask of the studio.
enum class order : std::uint32_t { mute, unmute, next_pattern, stop };

// A message of a viewer. viewer.py writes the same.
struct viewer_state {
  enum kind : std::uint32_t { saw_frame, orders };
  std::uint32_t what;
  std::uint32_t which;        // of an order: which
  std::uint64_t number, seen; // the frame, and how many it has seen
  std::uint64_t missed, bad;  // how many of those before did not come, or were damaged, since it told last
  std::int64_t age_ns;        // from when the frame was drawn to when it was checked
};
static_assert(sizeof(viewer_state) == 48);

// Receives what all viewers say, passes orders and the ages of frames on, and notices who has ended.
class front_desk {
 public:
  // Listens at this name, for ys.Sender of Python and others. Throws if it cannot.
  front_desk(const std::string &name, ys::shared_sender<order> orders, ys::sender<std::int64_t> ages, counters &count);
  // Until it is stopped and no viewer is left, or one does not leave.
  void run(const std::stop_token &stop);

 private:
  void read(const std::string &message);
  void notice();

  ys::shm::funnel states_;
  ys::shared_sender<order> orders_;
  ys::sender<std::int64_t> ages_;
  counters &count_;
};

// A viewer in Python. It is killed, and waited for, when this goes; and when the thread ends that has started it.
class viewer {
 public:
  // Of the studio with this name; gives an order after that number of frames, again and again, if it is not 0. Throws if it cannot be started.
  viewer(const std::string &python, const std::string &script, const std::string &studio, unsigned orders_each);
  viewer(viewer &&other) noexcept;
  viewer &operator=(viewer &&other) noexcept;
  ~viewer() { end(); }

  void signal(int number) const;
  // How it has ended, as waitpid() says; empty: it runs.
  std::optional<int> ended();
  // The same; waits.
  int wait();

 private:
  void end() noexcept;

  pid_t process_ = -1;
};

}  // namespace studio

#endif
