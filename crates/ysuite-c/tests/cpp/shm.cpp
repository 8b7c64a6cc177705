// Pipes of bytes between processes as classes: every verb, a child that is this program again, and nothing left over.
#include "check.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <string>
#include <vector>

#include <ysuite/shm.hpp>

namespace {

using namespace std::chrono_literals;
using ys::status;

constexpr std::size_t messages = 3000, capacity = 1024;

std::string made(std::size_t number) { return std::string(number % 300, static_cast<char>('a' + number % 26)); }

int descriptors() {
  DIR *folder = opendir("/proc/self/fd");
  CHECK(folder != nullptr);
  int count = 0;
  while (readdir(folder) != nullptr) count++;
  closedir(folder);
  return count;
}

/* Runs a test, after which this process has as many descriptors as before. */
#define RUN_CLEAN(test)                \
  do {                                 \
    const int before = descriptors();  \
    RUN(test);                         \
    CHECK(descriptors() == before);    \
  } while (0)

std::string name_of(const char *test) { return "test-" + std::to_string(getpid()) + "-cpp-" + test; }

/* ---- children ---- */

class child {
 public:
  child(const char *part, const std::string &argument) : process_(fork()) {
    CHECK(process_ >= 0);
    if (process_ == 0) {
      execl("/proc/self/exe", "child", part, argument.c_str(), static_cast<char *>(nullptr));
      _exit(127);
    }
  }
  /* It has ended by itself and found nothing wrong, or by this signal. */
  void ended(int by_signal = 0) {
    int status = 0;
    CHECK(waitpid(process_, &status, 0) == process_);
    CHECK(by_signal == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : WIFSIGNALED(status) && WTERMSIG(status) == by_signal);
  }

 private:
  pid_t process_;
};

void plays(const std::string &part, const std::string &argument) {
  if (part == "sends") {
    ys::shm::sender tx(ys::shm::connect(argument), capacity);
    for (std::size_t number = 0; number < messages; number++) CHECK(tx.send(made(number)));
  } else if (part == "crashes") {
    ys::shm::sender tx(ys::shm::socket(std::stoi(argument)), capacity);
    CHECK(tx.send("the last"));
    raise(SIGKILL);
  } else if (part == "receives all") {
    ys::shm::broadcast_receiver rx(ys::shm::connect(argument));
    for (std::size_t number = 0; number < messages; number++) CHECK(rx.recv().value() == made(number));
    CHECK(rx.recv().closed());
  } else {
    CHECK(false);
  }
}

/* ---- tests ---- */

void a_child_sends_until_it_closes() {
  const std::string name = name_of("sends");
  ys::shm::listener listener(name);
  CHECK(ys::shm::listener::try_open(name).status() == status::refused_in_use);
  CHECK(listener.try_accept().status() == status::empty && listener.accept_for(1ms).status() == status::timeout);
  child sending("sends", name);
  ys::shm::receiver rx(listener.accept_for(60s).value());
  std::size_t number = 0;
  std::vector<unsigned char> bytes;
  for (; number < messages / 2; number++) CHECK(rx.recv(bytes) && std::string(bytes.begin(), bytes.end()) == made(number));
  ys::received<std::string> message = rx.recv();
  for (; message; message = rx.recv()) CHECK(*message == made(number++));
  CHECK(number == messages && message.closed() && rx.recv(bytes) == status::closed);
  sending.ended();
}

void a_child_that_crashes_is_reported() {
  auto [tx, rx] = ys::shm::pipe(capacity);
  ys::shm::socket inherited = tx.into_socket().value();
  CHECK(tx.closed() && tx.into_socket().status() == status::closed && fcntl(inherited.fd(), F_SETFD, 0) == 0);
  child crashing("crashes", std::to_string(inherited.fd()));
  inherited = ys::shm::socket(-1);
  CHECK(!inherited && rx.recv() == "the last");
  CHECK(rx.recv().status() == status::died && rx.try_recv().status() == status::died && !rx.recv_for(60s));
  crashing.ended(SIGKILL);
}

void in_one_process() {
  auto [tx, rx] = ys::shm::pipe(64);
  CHECK(tx.largest() == 56 && tx.send(std::string(57, 'a')) == status::too_long);
  CHECK(tx.send(std::string(40, 'a')) && tx.try_send("abcdefghi") == status::full);
  CHECK(tx.send_for("abcdefghi", 1ms) == status::timeout);
  CHECK(tx.send_until("abcdefghi", std::chrono::steady_clock::now() + 1ms) == status::timeout);
  CHECK(tx.arm(9) && tx.fd() >= 0);
  char room[8];
  std::size_t length = 0;
  CHECK(rx.recv_into(room, sizeof room, length) == status::too_long && length == 40);
  CHECK(!rx.arm() && rx.recv() == std::string(40, 'a') && rx.arm() && rx.fd() >= 0);
  CHECK(!tx.arm(9) && tx.send("", 0) && rx.try_recv() == "");
  std::string kept = "kept";
  CHECK(rx.try_recv(kept) == status::empty && kept == "kept" && rx.try_recv().status() == status::empty);
  CHECK(rx.recv_for(1ms).status() == status::timeout);
  CHECK(rx.recv_until(std::chrono::system_clock::now() + 1ms).status() == status::timeout);
  CHECK(!tx.closed() && rx.close() && !rx.close() && tx.closed() && tx.send("a") == status::closed);
  ys::shm::sender moved = std::move(tx);
  CHECK(moved && !tx && tx.send("a") == status::invalid && tx.closed() && moved.close());
}

void who_is_refused_is_told_why() {
  const std::string name = name_of("refused");
  CHECK(ys::shm::try_connect(name).status() == status::system);
  CHECK(ys::shm::try_pipe(0).status() == status::refused_capacity && *ys::shm::refusal() != 0);
  ys::shm::options strangers;
  strangers.users = {static_cast<std::uint32_t>(getuid()) + 1};
  ys::shm::listener listener(name);
  CHECK(ys::shm::try_connect(name, strangers).status() == status::refused_user);
  ys::shm::options quotes, prices;
  quotes.messages = "quotes", prices.messages = "prices";
  ys::shm::sender tx(ys::shm::connect(name), capacity, quotes);
  // The one that was turned away by itself came first, and has gone.
  ys::shm::socket gone = listener.accept().value();
  ys::shm::receiver rx(listener.accept().value(), prices);
  CHECK(tx.send("a") && rx.recv().status() == status::refused_type);
  CHECK(ys::shm::receiver::try_open(ys::shm::socket(-1)).status() == status::closed);
#if YS_HAS_EXCEPTIONS
  try {
    ys::shm::listener again(name);
    CHECK(false);
  } catch (const std::system_error &error) {
    CHECK(error.code().value() == YS_REFUSED_IN_USE && error.code().category() == ys::category());
  }
#endif
}

void a_funnel_hears_how_each_child_ends() {
  const std::string name = name_of("funnel");
  ys::shm::funnel funnel(name);
  CHECK(!funnel.try_recv() && funnel.recv_for(1ms).status() == status::timeout && !funnel.next_ended());
  ys::shm::seat seat = funnel.seat().value();
  CHECK(funnel.senders() == 1 && fcntl(seat.over.fd(), F_SETFD, 0) == 0);
  child sending("sends", name), crashing("crashes", std::to_string(seat.over.fd()));
  seat.over = ys::shm::socket(-1);
  std::size_t number = 0, last = 0;
  for (std::size_t count = 0; count < messages + 1; count++) {
    ys::shm::message message = funnel.recv().value();
    if (message.sender == seat.sender) CHECK(message.bytes == "the last" && last++ == 0);
    else CHECK(message.bytes == made(number++));
  }
  int closed = 0, died = 0;
  while (closed + died < 2) {
    CHECK(funnel.try_recv().status() == status::empty);
    while (ys::received<ys::shm::ended> ended = funnel.next_ended()) {
      CHECK(ended->why == (ended->sender == seat.sender ? status::died : status::closed));
      ended->why == status::died ? died++ : closed++;
    }
    if (closed + died < 2 && funnel.arm()) {
      pollfd descriptor{funnel.fd(), POLLIN, 0};
      CHECK(poll(&descriptor, 1, 60000) == 1);
    }
  }
  CHECK(closed == 1 && died == 1 && funnel.senders() == 0);
  sending.ended();
  crashing.ended(SIGKILL);
  ys::shm::funnel other = ys::shm::funnel::without_name();
  CHECK(other.recv().closed() && other.recv_until(std::chrono::steady_clock::now() + 60s).closed());
  CHECK(ys::shm::funnel::try_open(name).status() == status::refused_in_use);
}

void a_broadcast_reaches_all() {
  const std::string name = name_of("broadcast");
  ys::shm::broadcast tx(name, capacity);
  child one("receives all", name), other("receives all", name);
  while (tx.receivers() < 2) tx.serve_for(1ms);
  for (std::size_t number = 0; number < messages; number++) CHECK(tx.send(made(number)));
  tx = ys::shm::broadcast::without_name(64, ys::shm::broadcast::kind::lossy);
  one.ended();
  other.ended();
  ys::shm::broadcast_receiver rx(tx.seat().value());
  tx.serve();
  CHECK(tx.receivers() == 1 && tx.largest() == 56 && tx.send(std::string(57, 'a')) == status::too_long);
  CHECK(rx.try_recv().status() == status::empty && rx.recv_for(1ms).status() == status::timeout && rx.arm() && rx.fd() >= 0);
  for (const char *message : {"one", "two", "three", "four", "five"}) CHECK(tx.try_send(message));
  CHECK(rx.recv().status() == status::lagged && rx.lost() == 4 && rx.recv().value() == "five" && rx.lost() == 0);
  CHECK(ys::shm::broadcast::try_open("", 64).status() == status::refused_name);
  tx = ys::shm::broadcast::without_name(64);
  CHECK(rx.recv().closed());
}

void a_watch_has_the_newest_value() {
  const std::string name = name_of("watch");
  ys::shm::watch tx(name, "first", 100);
  ys::shm::watch_receiver rx(ys::shm::connect(name));
  tx.serve();
  CHECK(tx.receivers() == 1 && rx.recv().value() == "first" && rx.try_recv().status() == status::empty);
  for (std::size_t length = 0; length < 50; length++) CHECK(tx.send(std::string(length, 'v')));
  CHECK(rx.recv_until(std::chrono::steady_clock::now() + 60s).value() == std::string(49, 'v'));
  CHECK(tx.send(std::string(105, 'v')) == status::too_long && tx.arm() && tx.fd() >= 0);
  CHECK(ys::shm::watch::try_open(name, "", 8).status() == status::refused_in_use);
  tx = ys::shm::watch::without_name("", 1);
  CHECK(rx.recv().closed());
}

}  // namespace

int main(int count, char **arguments) {
  alarm(600);
  if (count == 3) return plays(arguments[1], arguments[2]), 0;
  RUN_CLEAN(in_one_process);
  RUN_CLEAN(who_is_refused_is_told_why);
  RUN_CLEAN(a_child_sends_until_it_closes);
  RUN_CLEAN(a_child_that_crashes_is_reported);
  RUN_CLEAN(a_funnel_hears_how_each_child_ends);
  RUN_CLEAN(a_broadcast_reaches_all);
  RUN_CLEAN(a_watch_has_the_newest_value);
}
