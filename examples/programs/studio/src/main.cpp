// studio run NAME                               runs until it is interrupted, or a viewer stops it
// studio tried                                  what viewers may do to it, one after the other; for a test: no matter how long it takes
// studio lived [--seconds N] [--seed N] [--out FOLDER]
//                                               runs with viewers that come, go, stop and are killed at random, and measures
//
// The last two start viewers themselves: --python PATH and --viewer PATH say how. They check what must be so whatever viewers do; the exit
// status is 1 if something is not.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pace.hpp"
#include "record.hpp"
#include "studio.hpp"

using namespace std::chrono_literals;

namespace {

struct asked {
  std::string mode, name, python = STUDIO_PYTHON, viewer = STUDIO_VIEWER, out = ".";
  int seconds = 60;
  unsigned seed = 1;
};

asked read(int count, char **arguments) {
  asked what;
  if (count > 1) what.mode = arguments[1];
  int at = 2;
  if (what.mode == "run" && count > 2) what.name = arguments[at++];
  for (; at + 1 < count; at += 2) {
    const std::string option = arguments[at], value = arguments[at + 1];
    if (option == "--python") what.python = value;
    else if (option == "--viewer") what.viewer = value;
    else if (option == "--out") what.out = value;
    else if (option == "--seconds") what.seconds = std::stoi(value);
    else if (option == "--seed") what.seed = static_cast<unsigned>(std::stoul(value));
    else throw std::invalid_argument("no such option: " + option);
  }
  if (at != count || (what.mode == "run" && what.name.empty())) throw std::invalid_argument("see the head of main.cpp");
  return what;
}

// What must be so.
class verdict {
 public:
  void expect(bool is_so, const std::string &what) {
    std::cout << (is_so ? "ok      " : "FAILED  ") << what << '\n';
    failed_ |= !is_so;
  }
  int code() const { return failed_ ? 1 : 0; }

 private:
  bool failed_ = false;
};

// What this process had before it began.
struct belongings {
  std::size_t descriptors = studio::open_descriptors(), mappings = studio::shared_mappings();
};

std::string text(std::uint64_t number) { return std::to_string(number); }

// Of a studio that was stopped.
void check(const studio::studio &of, verdict &all) {
  const studio::counters &count = of.count();
  all.expect(count.captured.get() > 0 && count.encoded.get() == count.captured.get(),
             "blocks that the card has passed on: " + text(count.captured.get()) + ", of which encoded: " + text(count.encoded.get()));
  all.expect(count.out_of_turn.get() == 0, "blocks out of turn: " + text(count.out_of_turn.get()));
  all.expect(count.damaged.get() == 0, "damaged blocks: " + text(count.damaged.get()));
  all.expect(count.allocations.get() == 0, "calls of the allocator by the callback: " + text(count.allocations.get()));
  all.expect(count.failed.get() == 0, "frames that could not be sent: " + text(count.failed.get()));
  all.expect(count.missed.get() == 0 && count.bad.get() == 0,
             "frames that viewers have checked: " + text(count.shown.get()) + ", missed: " + text(count.missed.get()) +
                 ", damaged: " + text(count.bad.get()));
  all.expect(count.broken.get() == 0, "viewers that have closed: " + text(count.closed.get()) + ", died: " + text(count.died.get()) +
                                          ", ended otherwise: " + text(count.broken.get()));
  std::cout << "        frames sent: " << count.sent.get() << ", left out: " << count.skipped.get() << ", nobody looked: " << count.unwatched.get()
            << "; blocks dropped by the card: " << count.dropped.get() << "; orders: " << count.orders.get() << ", unheard: " << count.unheard.get()
            << "; a block is encoded in " << count.encoded_bytes.get() / std::max<std::uint64_t>(1, count.encoded.get()) << " bytes\n";
}

// Of what is left behind by a studio that is gone.
void check(const belongings &before, const std::string &name, verdict &all) {
  const belongings now;
  all.expect(now.descriptors == before.descriptors, "descriptors before: " + text(before.descriptors) + ", behind: " + text(now.descriptors));
  all.expect(now.mappings == before.mappings, "shared memory before: " + text(before.mappings) + ", behind: " + text(now.mappings));
  all.expect(!studio::is_name_left(name + "-"), "no socket has the name " + name + " any more");
}

int run(const asked &what) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  // Before any thread, which have it from this one.
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  studio::studio now(what.name);
  std::cout << "viewer.py " << what.name << std::endl;
  const timespec while_it_runs{0, 100'000'000};
  while (!now.stopped() && sigtimedwait(&ends, nullptr, &while_it_runs) < 0) continue;
  now.stop();
  verdict all;
  check(now, all);
  return all.code();
}

// Waits for something that must come. The time is a guard against hanging only.
template <class Condition>
void until(const char *what, Condition is_so) {
  std::cout << "until " << what << std::endl;
  for (const std::int64_t end = studio::now_ns() + 120'000'000'000; !is_so();) {
    if (studio::now_ns() > end) throw std::runtime_error(std::string("does not come: ") + what);
    std::this_thread::sleep_for(2ms);
  }
}

// A viewer has gone through all that can happen to one. The sound goes on meanwhile.
void try_all(studio::studio &now, const asked &what, const std::string &name, verdict &all) {
  const studio::counters &count = now.count();
  const auto start = [&](unsigned orders_each) { return studio::viewer(what.python, what.viewer, name, orders_each); };
  const auto more = [](const studio::counter &of, std::uint64_t by) { return [of = &of, end = of.get() + by] { return of->get() >= end; }; };

  studio::viewer first = start(5);
  until("a viewer sees frames", more(count.shown, 20));
  until("it gives orders", more(count.orders, 2));
  first.signal(SIGKILL);
  until("its death is noticed", more(count.died, 1));
  const int killed = first.wait();
  all.expect(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL, "the first viewer was killed");
  until("the sound goes on", more(count.encoded, 20));

  studio::viewer second = start(0);
  until("another one sees frames", more(count.shown, 20));
  second.signal(SIGSTOP);
  until("it is stopped, and frames are left out", more(count.skipped, 10));
  until("the sound goes on", more(count.encoded, 20));
  second.signal(SIGCONT);
  until("it goes on", more(count.shown, 20));
  second.signal(SIGTERM);
  until("it leaves", more(count.closed, 1));
  all.expect(second.wait() == 0, "the second viewer has left");

  all.expect(static_cast<bool>(now.give(studio::order::mute)), "the order to be silent");
  until("it is silent", more(count.muted, 20));
  all.expect(static_cast<bool>(now.give(studio::order::unmute)), "the order to be loud");
  studio::viewer third = start(0);
  until("a third one sees frames", more(count.shown, 20));
  all.expect(static_cast<bool>(now.give(studio::order::stop)), "the order to stop");
  until("it stops", [&] { return now.stopped(); });
  now.stop();
  all.expect(third.wait() == 0, "the third viewer has seen the end");
}

int tried(const asked &what) {
  const belongings before;
  const std::string name = "studio-" + std::to_string(getpid());
  verdict all;
  {
    studio::studio now(name);
    try_all(now, what, name, all);
    check(now, all);
  }
  check(before, name, all);
  return all.code();
}

// Starts viewers, and does things to them, at random.
class director {
 public:
  director(const asked &what, std::string name) : what_(what), name_(std::move(name)), random_(what.seed) {}

  void step(studio::studio &now) {
    reap();
    for (guest &one : guests_) {
      if (one.wakes_ns == 0 || studio::now_ns() < one.wakes_ns) continue;
      one.wakes_ns = 0;
      one.process.signal(SIGCONT);
    }
    if (studio::now_ns() < next_ns_) return;
    next_ns_ = studio::now_ns() + milliseconds(200, 1'500);
    act(now);
  }
  // All leave, and are waited for.
  void finish() {
    for (guest &one : guests_) {
      one.process.signal(SIGTERM);
      one.process.signal(SIGCONT);
      if (one.fate == fates::stays) one.fate = fates::leaves;
      judge(one, one.process.wait());
    }
    guests_.clear();
  }

  std::size_t viewers() const { return guests_.size(); }
  std::size_t strange() const { return strange_; }
  std::string text() const {
    return "viewers started: " + ::text(started_) + ", killed: " + ::text(killed_) + ", stopped for a while: " + ::text(stopped_) +
           ", asked to leave: " + ::text(left_);
  }

 private:
  enum class fates { stays, leaves, killed };
  struct guest {
    studio::viewer process;
    fates fate = fates::stays;
    std::int64_t wakes_ns = 0;
  };

  unsigned any(unsigned least, unsigned most) { return std::uniform_int_distribution<unsigned>(least, most)(random_); }
  std::int64_t milliseconds(unsigned least, unsigned most) { return std::int64_t{any(least, most)} * 1'000'000; }

  void act(studio::studio &now) {
    const unsigned roll = any(0, 99);
    if (guests_.empty() || (guests_.size() < 3 && roll < 35)) {
      guests_.push_back({studio::viewer(what_.python, what_.viewer, name_, 50)});
      started_++;
      return;
    }
    if (roll >= 90) {
      // If it has too many already, it counts them.
      (void)now.give(static_cast<studio::order>(any(0, 2)));
      return;
    }
    guest &one = guests_[any(0, static_cast<unsigned>(guests_.size() - 1))];
    if (one.fate != fates::stays) return;
    if (roll < 55) {
      one.fate = fates::killed;
      one.process.signal(SIGKILL);
      killed_++;
    } else if (roll < 75) {
      one.wakes_ns = studio::now_ns() + milliseconds(200, 2'500);
      one.process.signal(SIGSTOP);
      stopped_++;
    } else {
      one.fate = fates::leaves;
      one.process.signal(SIGTERM);
      left_++;
    }
  }

  void reap() {
    for (auto one = guests_.begin(); one != guests_.end();) {
      const std::optional<int> how = one->process.ended();
      if (how) judge(*one, *how);
      one = how ? guests_.erase(one) : one + 1;
    }
  }

  void judge(const guest &one, int how) {
    const bool by_signal = WIFSIGNALED(how), regular = WIFEXITED(how) && WEXITSTATUS(how) == 0;
    // Who is asked to leave while Python starts ends by the signal.
    const bool as_told = one.fate == fates::killed   ? by_signal && WTERMSIG(how) == SIGKILL
                         : one.fate == fates::leaves ? regular || (by_signal && WTERMSIG(how) == SIGTERM)
                                                     : false;
    if (as_told) return;
    strange_++;
    std::cerr << "a viewer has ended: " << (by_signal ? "by the signal " : "with the status ") << (by_signal ? WTERMSIG(how) : WEXITSTATUS(how)) << '\n';
  }

  const asked &what_;
  std::string name_;
  std::mt19937 random_;
  std::int64_t next_ns_ = 0;
  std::vector<guest> guests_;
  std::size_t started_ = 0, killed_ = 0, stopped_ = 0, left_ = 0, strange_ = 0;
};

// The greatest value of the second and the last third.
void check_growth(const std::vector<studio::row> &rows, double studio::row::*value, double margin, const std::string &what, verdict &all) {
  const auto greatest = [&](std::size_t third) {
    double most = 0;
    for (std::size_t at = rows.size() * third / 3; at < rows.size() * (third + 1) / 3; at++) most = std::max(most, rows[at].*value);
    return most;
  };
  const double second = greatest(1), last = greatest(2);
  all.expect(last <= second + margin, what + ", at most, in the second third: " + std::to_string(second) + ", in the last: " + std::to_string(last) +
                                          ", which may be more by " + std::to_string(margin));
}

void write(const std::vector<studio::row> &rows, const std::string &folder) {
  std::filesystem::create_directories(folder);
  std::ofstream csv(folder + "/studio.csv"), svg(folder + "/studio.svg");
  studio::write_csv(rows, csv);
  studio::write_svg(rows, svg);
  studio::write_table(rows, 12, std::cout);
  if (!csv.flush() || !svg.flush()) throw std::runtime_error("cannot write to " + folder);
}

int lived(const asked &what) {
  const belongings before;
  const std::string name = "studio-" + std::to_string(getpid());
  verdict all;
  {
    studio::studio now(name);
    director viewers(what, name);
    studio::recorder record(now);
    studio::pace clock(20ms);
    for (int step = 1; step <= what.seconds * 50; step++) {
      (void)clock.wait();
      viewers.step(now);
      if (step % 50 == 0) record.take(viewers.viewers());
    }
    viewers.finish();
    now.stop();
    write(record.rows(), what.out);
    all.expect(viewers.strange() == 0, viewers.text() + ", ended otherwise: " + text(viewers.strange()));
    check(now, all);
    // At first everything grows; and descriptors of a viewer more are no leak, for which see below.
    if (what.seconds >= 60) {
      check_growth(record.rows(), &studio::row::resident, 2, "MiB of memory", all);
      check_growth(record.rows(), &studio::row::descriptors, 12, "descriptors", all);
    }
  }
  check(before, name, all);
  return all.code();
}

}  // namespace

int main(int count, char **arguments) {
  try {
    const asked what = read(count, arguments);
    if (what.mode == "run") return run(what);
    if (what.mode == "tried") return tried(what);
    if (what.mode == "lived") return lived(what);
    throw std::invalid_argument("studio run NAME, studio tried, or studio lived");
  } catch (const std::exception &error) {
    std::cerr << "studio: " << error.what() << '\n';
    return 2;
  }
}
