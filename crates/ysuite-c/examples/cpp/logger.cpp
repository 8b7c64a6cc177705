// A logger whose callers never wait: each thread has a lane of its own in an mpsc channel of strings, and one thread
// writes. When a lane is full, because the disk is slow, a line is lost, and counted: the next one that gets through
// says how many there were before it.
//
// The writer reads lines where they lie. It gathers them while they come, and flushes when nothing has come for a moment.
#include <chrono>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <ysuite.hpp>

using namespace std::chrono_literals;

constexpr std::size_t threads = 4, lane = 64, lines = 200;

// What a thread has to log with. A copy for another thread is a lane of its own.
class logger {
 public:
  explicit logger(ys::funnel_sender<std::string> lane) : lane_(std::move(lane)) {}
  logger for_another_thread() { return logger(lane_.clone()); }

  void log(std::string line) {
    if (lost_ != 0) line = "(" + std::to_string(lost_) + " lines lost) " + line;
    if (lane_.try_send(std::move(line)))
      lost_ = 0;
    else
      lost_++;
  }
  // How many of its lines are still unread.
  std::size_t waiting() const { return lane_.size(); }

 private:
  ys::funnel_sender<std::string> lane_;
  std::size_t lost_ = 0;
};

// Returns when no logger is left and all is written. Returns how many times it has flushed.
std::size_t write(ys::receiver<std::string> from, std::ostream &file) {
  std::size_t flushes = 0;
  while (from.wait()) { // sleeps while there is nothing
    do {
      for (std::string &line : from.try_run()) file << line << '\n';
    } while (from.wait(2ms));
    file.flush();
    flushes++;
  }
  return flushes;
}

int main() {
  auto [first_lane, lines_in] = ys::funnel<std::string>(lane);
  std::vector<logger> loggers;
  {
    logger first(std::move(first_lane));
    for (std::size_t at = 0; at < threads; at++) loggers.push_back(first.for_another_thread());
  }
  auto each = [&loggers](auto what) {
    std::vector<std::thread> all;
    for (std::size_t at = 0; at < threads; at++) all.emplace_back([&loggers, at, what] { what(loggers[at], std::to_string(at)); });
    for (std::thread &one : all) one.join();
  };

  // The disk is so slow that nothing is written while they log: each lane keeps what it has room for.
  each([](logger &log, const std::string &name) {
    for (std::size_t number = 0; number < lines; number++) log.log(name + " has served request " + std::to_string(number));
  });
  std::ostringstream file;
  std::size_t flushes = 0;
  std::thread writer([&file, &flushes, from = std::move(lines_in)]() mutable { flushes = write(std::move(from), file); });
  // Now a thread writes, and has caught up.
  for (const logger &one : loggers)
    while (one.waiting() != 0) std::this_thread::yield();
  each([](logger &log, const std::string &name) { log.log(name + " says goodbye"); });
  loggers.clear();
  writer.join();

  // Of each thread: its first lines, in order, up to the room; then how many were lost.
  std::istringstream text(file.str());
  std::vector<std::size_t> next(threads, 0);
  std::size_t goodbyes = 0, wrong = 0;
  const std::string lost = "(" + std::to_string(lines - lane) + " lines lost) ";
  for (std::string line; std::getline(text, line);) {
    if (line.compare(0, lost.size(), lost) == 0) {
      goodbyes++;
      continue;
    }
    const std::size_t of = static_cast<std::size_t>(line[0] - '0');
    if (of >= threads || line != std::to_string(of) + " has served request " + std::to_string(next[of]++)) wrong++;
  }
  for (std::size_t count : next)
    if (count != lane) wrong++;
  std::cout << threads * lane + goodbyes << " lines written, flushed " << flushes << " times, " << threads * (lines - lane) << " lost\n";
  return wrong == 0 && goodbyes == threads && flushes > 0 ? 0 : 1;
}
