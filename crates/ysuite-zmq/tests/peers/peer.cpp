// A peer of the matrix in main.rs, by cppzmq: peer TYPE ADDRESS FIRST COUNT. An address that begins with "bind:" is bound.
#include <zmq.hpp>
#include <zmq_addon.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using parts = std::vector<zmq::message_t>;

void say(const std::string &line) { std::cout << line << std::endl; }

/// A message's text, without what follows it.
std::string word(const zmq::message_t &part) {
  const std::string text = part.to_string();
  return text.substr(0, text.find(' '));
}

parts receive(zmq::socket_t &socket) {
  parts message;
  if (!zmq::recv_multipart(socket, std::back_inserter(message))) std::abort();
  return message;
}

void send(zmq::socket_t &socket, const std::vector<std::string> &texts) {
  parts message;
  for (const std::string &text : texts) message.emplace_back(text.data(), text.size());
  if (!zmq::send_multipart(socket, message)) std::abort();
}

/// Until the input ends.
void wait() {
  std::string line;
  while (std::getline(std::cin, line)) continue;
}

void pull(zmq::socket_t &socket) {
  for (parts message = receive(socket); word(message[0]) != "end"; message = receive(socket))
    say(word(message[0]) + ' ' + std::to_string(message.size()));
}

void sub(zmq::socket_t &socket) {
  for (parts message = receive(socket); word(message.at(1)) != "end"; message = receive(socket))
    say(message[0].to_string() + ' ' + word(message[1]));
}

void push(zmq::socket_t &socket, long first, long count) {
  for (long number = first; number < first + count; ++number) {
    std::vector<std::string> texts{std::to_string(number)};
    if (number % 2 != 0) texts.push_back("more");
    send(socket, texts);
  }
  wait();
}

/// Says hello until it is told that it is heard.
void pub(zmq::socket_t &socket, long first, long count) {
  std::atomic<bool> is_heard{false};
  std::thread listener([&] {
    std::string line;
    std::getline(std::cin, line);
    is_heard = true;
  });
  while (!is_heard) {
    send(socket, {"b", "hello " + std::to_string(first)});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  listener.join();
  for (long number = first; number < first + count; ++number)
    for (const char *topic : {"a", "b"}) send(socket, {topic, std::to_string(number)});
  wait();
}

void answer(zmq::socket_t &socket) {
  for (std::string question; question != "end";) {
    parts message = receive(socket);
    question = message.back().to_string();
    const std::string said = question + '!';
    message.back().rebuild(said.data(), said.size());
    if (!zmq::send_multipart(socket, message)) std::abort();
    if (question != "end") say(question);
  }
}

void req(zmq::socket_t &socket, long first, long count) {
  for (long number = first; number < first + count; ++number) {
    send(socket, {std::to_string(number)});
    say(receive(socket).at(0).to_string());
  }
}

/// A hundred are asked at once.
void dealer(zmq::socket_t &socket, long first, long count) {
  const auto hear = [&] { say(receive(socket).at(1).to_string()); };
  for (long number = first; number < first + count; ++number) {
    send(socket, {"", std::to_string(number)});
    if (number >= first + 100) hear();
  }
  for (long left = count < 100 ? count : 100; left > 0; --left) hear();
}

zmq::socket_type type(const std::string &role) {
  if (role == "pull") return zmq::socket_type::pull;
  if (role == "sub") return zmq::socket_type::sub;
  if (role == "push") return zmq::socket_type::push;
  if (role == "pub") return zmq::socket_type::pub;
  if (role == "rep") return zmq::socket_type::rep;
  if (role == "router") return zmq::socket_type::router;
  if (role == "req") return zmq::socket_type::req;
  return zmq::socket_type::dealer;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const std::string role = argv[1], address = argv[2];
  const long first = std::stol(argv[3]), count = std::stol(argv[4]);
  int major, minor, patch;
  zmq_version(&major, &minor, &patch);
  say("cppzmq " + std::to_string(CPPZMQ_VERSION_MAJOR) + '.' + std::to_string(CPPZMQ_VERSION_MINOR) + '.' +
      std::to_string(CPPZMQ_VERSION_PATCH) + ", libzmq " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
      std::to_string(patch));
  zmq::context_t context;
  zmq::socket_t socket(context, type(role));
  socket.set(zmq::sockopt::linger, role == "sub" || role == "pub" ? 0 : 10000);
  if (role == "sub") socket.set(zmq::sockopt::subscribe, "b");
  if (role == "pub") socket.set(zmq::sockopt::sndhwm, 0);
  if (address.rfind("bind:", 0) == 0) {
    socket.bind(address.substr(5));
  } else {
    socket.connect(address);
  }
  say("ready");
  if (role == "pull") pull(socket);
  if (role == "sub") sub(socket);
  if (role == "push") push(socket, first, count);
  if (role == "pub") pub(socket, first, count);
  if (role == "rep" || role == "router") answer(socket);
  if (role == "req") req(socket, first, count);
  if (role == "dealer") dealer(socket, first, count);
}
