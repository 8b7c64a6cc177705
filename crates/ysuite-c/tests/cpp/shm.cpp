// Channels between processes as classes: every verb, a child that is this program again, and nothing left over.
#include "check.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
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

/* Longer than its question, but to none. */
std::string answer_to(std::string_view question) { return question.empty() ? std::string() : std::string(question) + std::string(9999, '!'); }

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
  } else if (part == "borrows all") {
    ys::shm::loan_receiver rx(ys::shm::connect(argument));
    std::size_t number = 0;
    for (ys::received<ys::shm::borrowed> message = rx.recv(); message; message = rx.recv()) CHECK(message->str() == made(number++));
    CHECK(number == messages && rx.recv().closed());
  } else if (part == "keeps one") {
    ys::shm::loan_receiver rx{ys::shm::socket(std::stoi(argument))};
    ys::shm::borrowed kept = rx.recv().value();
    raise(SIGKILL);
  } else if (part == "asks") {
    ys::shm::caller caller(ys::shm::connect(argument), 300);
    for (std::size_t number = 0; number < messages; number++) CHECK(caller.call(made(number)).value() == answer_to(made(number)));
    CHECK(caller.call("").value().empty() && caller.call(std::string(305, 'a')).status() == status::too_long);
  } else if (part == "answers one") {
    ys::shm::questions rx(argument, 300);
    ys::shm::question first = rx.recv().value(), second = rx.recv().value();
    CHECK(first.answer("the only one"));
    raise(SIGKILL);
  } else if (part == "works") {
    ys::shm::work_receiver rx(ys::shm::connect(argument));
    while (ys::received<std::string> job = rx.recv()) CHECK(job->size() < 300 && rx.finish());
    CHECK(rx.recv().closed());
  } else if (part == "works and crashes") {
    ys::shm::work_receiver rx{ys::shm::socket(std::stoi(argument))};
    CHECK(rx.recv() == "the last");
    raise(SIGKILL);
  } else {
    CHECK(false);
  }
}

/* A part that inherits a connection. */
child inherits(const char *part, ys::shm::socket inherited) {
  CHECK(fcntl(inherited.fd(), F_SETFD, 0) == 0);
  return child(part, std::to_string(inherited.fd()));
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

void loans_reach_all() {
  const std::string name = name_of("loans");
  ys::shm::loan_sender tx(name, 4, 300);
  child one("borrows all", name), other("borrows all", name);
  while (tx.receivers() < 2) tx.serve_for(1ms);
  for (std::size_t number = 0; number < messages; number++) {
    ys::shm::loan loan = tx.reserve(300).value();
    memcpy(loan.data(), made(number).data(), made(number).size());
    CHECK(loan.size() == 300 && loan.commit(301) == status::too_long && loan.commit(made(number).size()));
    CHECK(loan.commit() == status::invalid);
  }
  tx = ys::shm::loan_sender::without_name(1, 300);
  one.ended();
  other.ended();
  child dying = inherits("keeps one", tx.seat().value());
  while (tx.receivers() < 1) tx.serve_for(1ms);
  CHECK(tx.largest() == 300 && tx.reserve(301).status() == status::too_long && tx.reserve(1).value().commit());
  // It is not given back, but the dead hold nothing.
  CHECK(tx.reserve_for(1, 60s).status() == status::died || tx.unused() == 1);
  CHECK(tx.held() == 0);
  dying.ended(SIGKILL);
}

void loans_in_one_process() {
  ys::shm::loan_sender tx = ys::shm::loan_sender::without_name(1, 64);
  ys::shm::loan_receiver rx(tx.seat().value());
  tx.serve();
  CHECK(rx.try_recv().status() == status::empty && rx.recv_for(1ms).status() == status::timeout && rx.arm() && rx.fd() >= 0);
  ys::shm::loan loan = tx.try_reserve(12).value();
  const std::uint32_t words[] = {1, 2, 3};
  memcpy(loan.data(), words, sizeof words);
  CHECK(loan.commit() && tx.try_reserve(1).status() == status::full && tx.reserve_for(1, 1ms).status() == status::timeout);
  CHECK(tx.unused() == 0 && tx.arm() && tx.fd() >= 0 && !tx.arm_large());
  ys::shm::borrowed borrowed = rx.recv_until(std::chrono::steady_clock::now() + 60s).value();
  CHECK(borrowed.size() == 12 && borrowed.read<std::uint32_t>(8) == 3u && !borrowed.read<std::uint32_t>(9));
  char byte = 0;
  CHECK(borrowed.copy(4, &byte, 1) == 1 && byte == 2 && borrowed.sealed().data() == nullptr && tx.held() == 1);
  CHECK(memcmp(borrowed.untrusted(), words, sizeof words) == 0);
  ys::shm::loan large = tx.reserve_large(100000).value();
  memset(large.data(), 'l', large.size());
  CHECK(large.commit(99999) && tx.try_reserve_large(1).value().commit() && tx.reserve_large_for(1, 1ms));
  CHECK(rx.recv().value().sealed() == std::string(99999, 'l'));
  borrowed = rx.recv().value();
  CHECK(tx.unused() == 1 && borrowed.sealed().size() == 1);
  tx = ys::shm::loan_sender::without_name(1, 1);
  CHECK(rx.recv().closed() && ys::shm::loan_sender::try_open("a/b/c/none", 1, 1).status() == status::system);
  CHECK(ys::shm::loan_receiver::try_open(ys::shm::socket(-1)).status() == status::closed);
}

void calls_are_answered() {
  const std::string name = name_of("calls"), dies = name_of("dies");
  {
    ys::shm::questions rx(name, 10300);
    child one("asks", name), other("asks", name);
    int over = 0;
    while (over < 2) {
      if (ys::received<ys::shm::question> question = rx.recv_for(1ms)) {
        CHECK(question->answer(answer_to(question->bytes())) && question->answer("") == status::closed);
      }
      while (ys::received<ys::shm::ended> ended = rx.next_ended()) {
        CHECK(ended->why == status::closed);
        over++;
      }
    }
    one.ended();
    other.ended();
  }
  child dying("answers one", dies);
  ys::received<ys::shm::socket> over = ys::shm::try_connect(dies);
  for (; !over; over = ys::shm::try_connect(dies)) usleep(1000);
  ys::shm::caller caller(std::move(*over), 300);
  const std::uint64_t first = caller.ask("first").value(), second = caller.ask("second").value();
  CHECK(caller.recv(second).status() == status::died && caller.recv(first).value() == "the only one");
  CHECK(caller.closed() && caller.ask("third").status() == status::died && caller.call("fourth").status() == status::died);
  dying.ended(SIGKILL);
}

void calls_in_one_process() {
  ys::shm::options few;
  few.calls = 1;
  ys::shm::questions rx = ys::shm::questions::without_name(8, few);
  ys::shm::seat seat = rx.seat().value();
  ys::shm::caller caller(std::move(seat.over), 8);
  CHECK(rx.callers() == 1 && !rx.try_recv() && rx.recv_for(1ms).status() == status::timeout && !rx.next_ended() && rx.fd() >= 0);
  const std::uint64_t call = caller.ask_for("one", 60s).value();
  CHECK(caller.try_ask("two").status() == status::full && caller.ask_for("two", 1ms).status() == status::timeout);
  CHECK(caller.ask(std::string(9, 'a')).status() == status::too_long && caller.arm_to_ask() && caller.arm() && caller.fd() >= 0);
  CHECK(caller.try_recv(call).status() == status::empty && caller.recv_for(call, 1ms).status() == status::timeout);
  {
    ys::shm::question question = rx.recv().value();
    CHECK(question.bytes() == "one" && question.caller() == seat.sender && question.answer(std::string(9, 'a')) == status::too_long);
  }
  CHECK(!caller.arm() && caller.recv(call).status() == status::unanswered && caller.recv(call).status() == status::out_of_range);
  const std::uint64_t given_up = caller.try_ask("two").value();
  CHECK(caller.give_up(given_up) && caller.give_up(given_up) == status::out_of_range && !caller.closed());
  CHECK(caller.call_for("three", 1ms).status() == status::timeout && rx.arm() == false);
  rx = ys::shm::questions::without_name(8);
  CHECK(caller.closed() && caller.call("four").closed() && rx.recv().closed());
  CHECK(ys::shm::questions::try_open("", 8).status() == status::refused_name);
}

void work_is_done() {
  const std::string name = name_of("work");
  ys::shm::work_sender tx(name, 300, 4);
  child one("works", name), other("works", name);
  // Else one may do all the work before the other has connected.
  while (tx.workers() < 2) tx.serve_for(1ms);
  for (std::size_t number = 0; number < messages; number++) CHECK(tx.send(made(number)));
  CHECK(tx.settle() && tx.finished() == messages && tx.unfinished() == 0);
  tx = ys::shm::work_sender::without_name(300, 1);
  one.ended();
  other.ended();
  CHECK(tx.send("none") == status::closed && tx.workers() == 0);
  child dying = inherits("works and crashes", tx.seat().value());
  CHECK(tx.send("the last"));
  dying.ended(SIGKILL);
  CHECK(tx.settle() == status::closed && tx.unfinished() == 1);
  ys::shm::work_receiver rx(tx.seat().value());
  tx.serve();
  CHECK(!rx.arm() && rx.fd() >= 0 && rx.try_recv() == "the last" && rx.give_back() && rx.finish() == status::invalid);
  CHECK(rx.try_recv().status() == status::empty && rx.arm());
  tx.serve();
  CHECK(rx.recv_for(60s) == "the last" && rx.recv() == "the last" && tx.try_send("b") == status::full);
  CHECK(tx.send_for("b", 1ms) == status::timeout && tx.settle_for(1ms) == status::timeout && tx.arm() && tx.arm_to_settle() && tx.fd() >= 0);
  CHECK(rx.finish() && tx.settle_for(60s) && tx.finished() == 1 && tx.send("b", 1) && tx.workers() == 1);
  tx = ys::shm::work_sender::without_name(8, 1);
  CHECK(rx.recv() == "b" && rx.finish() && rx.recv().closed());
  CHECK(ys::shm::work_sender::try_open(name, 8, 65).status() == status::refused_capacity);
}

// One that does not go on is named.
void the_slowest_receiver() {
  ys::shm::loan_sender tx = ys::shm::loan_sender::without_name(2, 64);
  ys::shm::seat first = tx.numbered_seat().value(), second = tx.numbered_seat().value();
  ys::shm::loan_receiver quick(std::move(first.over));
  {
    const ys::shm::loan_receiver stopped(std::move(second.over));
    tx.serve();
    CHECK(tx.slowest().status() == status::empty && tx.next_ended().status() == status::empty);
    CHECK(tx.reserve(8)->commit() && quick.recv() && tx.slowest() == second.sender && ys_shm_loan_slowest(tx.raw(), nullptr) == 1);
  }
  tx.serve();
  CHECK(tx.slowest().status() == status::empty && tx.next_ended()->sender == second.sender);
  CHECK(ys_shm_loan_next_ended(tx.raw(), nullptr, nullptr) == YS_EINVAL && ys_shm_loan_numbered_seat(tx.raw(), nullptr) == YS_EINVAL);
}

// One that no worker finishes is put aside, and the workers that have gone are named.
void failed_jobs() {
  ys::shm::options twice;
  twice.attempts = 2;
  ys::shm::work_sender tx = ys::shm::work_sender::without_name(64, 2, twice);
  ys::shm::seat first = tx.numbered_seat().value(), second = tx.numbered_seat().value();
  {
    ys::shm::work_receiver rx(std::move(first.over));
    CHECK(tx.send("a job that nobody finishes") && tx.send("another") && rx.recv());
  }
  CHECK(tx.settle_for(1ms) == status::timeout && !tx.next_failed());
  ys::shm::work_receiver rx(std::move(second.over));
  // It has both, the one that has failed once first.
  CHECK(tx.settle_for(1ms) == status::timeout && rx.recv() == "a job that nobody finishes" && rx.give_back());
  CHECK(rx.recv_for(60s) == "another" && rx.finish() && tx.settle());
  char to[64];
  std::size_t length = 0;
  CHECK(ys_shm_work_next_failed(tx.raw(), to, 3, &length) == YS_ETOOLONG && length == 26);
  CHECK(tx.next_failed() == "a job that nobody finishes" && tx.next_failed().status() == status::empty && tx.unfinished() == 0);
  const auto gone = tx.next_ended();
  CHECK(gone && gone->sender == first.sender && gone->why == status::closed && tx.next_ended().status() == status::empty);
  CHECK(ys_shm_work_next_ended(tx.raw(), nullptr, nullptr) == YS_EINVAL && ys_shm_work_numbered_seat(tx.raw(), nullptr) == YS_EINVAL);
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
  RUN_CLEAN(loans_reach_all);
  RUN_CLEAN(loans_in_one_process);
  RUN_CLEAN(calls_are_answered);
  RUN_CLEAN(calls_in_one_process);
  RUN_CLEAN(work_is_done);
  RUN_CLEAN(failed_jobs);
  RUN_CLEAN(the_slowest_receiver);
}
