// A server with one loop of epoll, and a pool of threads for long work. Clients send lines of words, and get each line
// back with its words sorted.
//
// The loop must wait in epoll_wait only. So jobs go out through an unbounded mpmc channel, and any free thread takes
// the next one. (It moves bytes, so a job in it is owned by a std::unique_ptr.) Answers come back through an mpsc
// channel, which is attached to a set with a descriptor: that is readable while there are answers. A thread that
// answers while the loop is busy makes no system call.
//
// EPOLLONESHOT disables a connection until its answer was sent: so there are never more jobs than connections, and the
// mpmc channel needs no bound, at which the loop would have to wait.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <ysuite.hpp>

constexpr std::size_t clients = 8, questions = 200, workers = 2;

int must(int answer, const char *what) {
  if (answer < 0) throw std::system_error(errno, std::generic_category(), what);
  return answer;
}

class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor &operator=(descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int operator*() const { return number_; }

 private:
  int number_;
};

struct job {
  std::uint32_t connection;
  std::vector<std::string> words;
};

struct answer {
  std::uint32_t connection;
  std::string line;
};

std::string sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  std::string line;
  for (const std::string &word : words) line += line.empty() ? word : ' ' + word;
  return line + '\n';
}

// A thread of the pool: sleeps while there is nothing, returns when the server has closed and all jobs are done.
void work(ys::exchange_receiver<std::unique_ptr<job>> jobs, ys::funnel_sender<answer> answers) {
  for (std::unique_ptr<job> next : jobs)
    if (!answers.send(answer{next->connection, sorted(std::move(next->words))})) return; // the server is gone
}

class server {
 public:
  server(descriptor listener, ys::exchange_sender<std::unique_ptr<job>> jobs, ys::receiver<answer> answers)
      : epoll_(must(epoll_create1(EPOLL_CLOEXEC), "epoll")),
        listener_(std::move(listener)),
        jobs_(std::move(jobs)),
        answers_(std::move(answers)),
        set_(1) {
    if (const ys::status attached = set_.attach(answers_, 0); !attached) throw std::runtime_error(attached.text());
    watch(EPOLL_CTL_ADD, *listener_, EPOLLIN, of_listener);
    watch(EPOLL_CTL_ADD, set_.fd(), EPOLLIN, of_answers);
  }
  ~server() { (void)set_.detach(answers_); }

  // Until this many clients have come and gone. Returns how many lines were answered.
  std::size_t serve(std::size_t how_many) {
    while (over_ < how_many) {
      std::array<epoll_event, 16> events;
      const int count = epoll_wait(*epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int at = 0; at < count; at++) {
        const std::uint32_t which = events[static_cast<std::size_t>(at)].data.u32;
        if (which == of_listener)
          accept_all();
        else if (which == of_answers)
          send_answers();
        else
          read(which);
      }
    }
    return served_;
  }

 private:
  struct connection {
    descriptor socket;
    std::string unread;
  };
  static constexpr std::uint32_t of_listener = UINT32_MAX, of_answers = UINT32_MAX - 1;

  void watch(int how, int number, std::uint32_t events, std::uint32_t which) {
    epoll_event event{};
    event.events = events;
    event.data.u32 = which;
    must(epoll_ctl(*epoll_, how, number, &event), "epoll_ctl");
  }

  void accept_all() {
    int socket;
    while ((socket = accept4(*listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
      connections_.push_back(connection{descriptor(socket), {}});
      watch(EPOLL_CTL_ADD, socket, EPOLLIN | EPOLLONESHOT, static_cast<std::uint32_t>(connections_.size() - 1));
    }
  }

  void read(std::uint32_t which) {
    connection &from = connections_[which];
    std::array<char, 256> bytes;
    const ssize_t count = recv(*from.socket, bytes.data(), bytes.size(), 0);
    if (count == 0 || (count < 0 && errno != EAGAIN)) {
      from.socket = descriptor(-1);
      over_++;
      return;
    }
    if (count > 0) from.unread.append(bytes.data(), static_cast<std::size_t>(count));
    go_on(which);
  }

  // Gives the next line to the pool, or waits for the rest of it.
  void go_on(std::uint32_t which) {
    connection &from = connections_[which];
    const std::size_t end = from.unread.find('\n');
    if (end == std::string::npos) {
      watch(EPOLL_CTL_MOD, *from.socket, EPOLLIN | EPOLLONESHOT, which);
      return;
    }
    std::istringstream line(from.unread.substr(0, end));
    from.unread.erase(0, end + 1);
    auto next = std::make_unique<job>(job{which, {std::istream_iterator<std::string>(line), {}}});
    if (const ys::status sent = jobs_.try_send(std::move(next)); !sent) throw std::runtime_error(sent.text());
  }

  // A channel's id stays up, and the descriptor readable, until the channel has been found empty.
  void send_answers() {
    (void)set_.wait(std::chrono::seconds(0));
    while (std::optional<answer> next = answers_.try_recv()) {
      const int socket = *connections_[next->connection].socket;
      // There is room for these few bytes, unless a client sends on without reading: then it gets no more answers.
      const ssize_t count = send(socket, next->line.data(), next->line.size(), MSG_NOSIGNAL);
      if (count != static_cast<ssize_t>(next->line.size())) shutdown(socket, SHUT_RDWR);
      served_++;
      go_on(next->connection);
    }
  }

  descriptor epoll_, listener_;
  ys::exchange_sender<std::unique_ptr<job>> jobs_;
  ys::receiver<answer> answers_;
  ys::socketpair_set set_;
  std::vector<connection> connections_;
  std::size_t over_ = 0, served_ = 0;
};

// Sends questions, and compares. Returns how many answers were right.
std::size_t ask(sockaddr_in address, std::size_t name) {
  const descriptor link(must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  must(connect(*link, reinterpret_cast<sockaddr *>(&address), sizeof address), "connect");
  std::size_t right = 0;
  for (std::size_t number = 0; number < questions; number++) {
    const std::vector<std::string> words{"words", "of", "client", std::to_string(name), "and", "question", std::to_string(number)};
    std::string line, back;
    for (const std::string &word : words) line += word + ' ';
    line.back() = '\n';
    if (send(*link, line.data(), line.size(), MSG_NOSIGNAL) < 0) break;
    char byte = 0;
    while (byte != '\n' && recv(*link, &byte, 1, 0) == 1) back += byte;
    if (back == sorted(words)) right++;
  }
  return right;
}

int main() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  descriptor listener(must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
  must(bind(*listener, reinterpret_cast<sockaddr *>(&address), length), "bind");
  must(listen(*listener, clients), "listen");
  must(getsockname(*listener, reinterpret_cast<sockaddr *>(&address), &length), "getsockname");

  std::vector<std::thread> pool, asking;
  std::vector<std::size_t> right(clients, 0);
  std::size_t served = 0;
  {
    auto [send_jobs, jobs] = ys::exchange<std::unique_ptr<job>>();
    auto [send_answers, answers] = ys::funnel<answer>(clients);
    for (std::size_t at = 0; at < workers; at++) pool.emplace_back(work, jobs.clone(), send_answers.clone());
    for (std::size_t at = 0; at < clients; at++) asking.emplace_back([at, &right, address] { right[at] = ask(address, at); });
    served = server(std::move(listener), std::move(send_jobs), std::move(answers)).serve(clients);
  }
  for (std::thread &one : asking) one.join();
  for (std::thread &one : pool) one.join();
  std::size_t all = 0;
  for (std::size_t count : right) all += count;
  std::cout << served << " lines answered, " << all << " of them rightly\n";
  return served == clients * questions && all == clients * questions ? 0 : 1;
}
