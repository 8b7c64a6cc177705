#include "viewers.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;

namespace studio {

front_desk::front_desk(const std::string &name, ys::shared_sender<order> orders, ys::sender<std::int64_t> ages, counters &count)
    : states_(name), orders_(std::move(orders)), ages_(std::move(ages)), count_(count) {}

void front_desk::run(const std::stop_token &stop) {
  // A channel between processes has no stopper: so this looks up now and then.
  constexpr auto look_up = 50ms;
  for (int patience = 100; patience > 0;) {
    while (const ys::received<ys::shm::message> next = states_.recv_for(look_up)) read(next->bytes);
    notice();
    if (!stop.stop_requested()) continue;
    if (states_.senders() == 0) return;
    patience--;
  }
}

void front_desk::read(const std::string &message) {
  viewer_state state{};
  if (message.size() != sizeof state) {
    count_.bad.add();
    return;
  }
  std::memcpy(&state, message.data(), sizeof state);
  count_.missed.add(state.missed);
  count_.bad.add(state.bad);
  if (state.what == viewer_state::orders) {
    if (!orders_.try_send(static_cast<order>(state.which))) count_.unheard.add();
    return;
  }
  count_.shown.add();
  // If there is no room, nobody draws them.
  (void)ages_.try_send(state.age_ns);
}

void front_desk::notice() {
  while (const ys::received<ys::shm::ended> gone = states_.next_ended()) {
    switch (gone->why.why()) {
      case ys::status::closed: count_.closed.add(); break;
      case ys::status::died: count_.died.add(); break;
      default:
        count_.broken.add();
        std::cerr << "studio: a viewer: " << gone->why.text() << '\n';
    }
  }
}

viewer::viewer(const std::string &python, const std::string &script, const std::string &studio, unsigned orders_each) {
  const std::string each = std::to_string(orders_each);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "a viewer");
  if (process_ > 0) return;
  // The child, in which other threads may have had locks: it calls nothing that needs one. No descriptor of the library is inherited.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(126);
  execlp(python.c_str(), python.c_str(), script.c_str(), studio.c_str(), "--orders-each", each.c_str(), static_cast<char *>(nullptr));
  _exit(127);
}

viewer::viewer(viewer &&other) noexcept : process_(std::exchange(other.process_, -1)) {}

viewer &viewer::operator=(viewer &&other) noexcept {
  const pid_t next = std::exchange(other.process_, -1);
  end();
  process_ = next;
  return *this;
}

void viewer::signal(int number) const {
  if (process_ > 0) (void)kill(process_, number);
}

std::optional<int> viewer::ended() {
  int how = 0;
  if (process_ <= 0 || waitpid(process_, &how, WNOHANG) != process_) return std::nullopt;
  process_ = -1;
  return how;
}

int viewer::wait() {
  int how = -1;
  while (process_ > 0 && waitpid(process_, &how, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
  return how;
}

void viewer::end() noexcept {
  if (process_ <= 0) return;
  (void)kill(process_, SIGKILL);
  (void)wait();
}

}  // namespace studio
