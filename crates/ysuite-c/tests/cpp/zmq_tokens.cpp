// Needs C++20: waits at bridges that a std::stop_token ends.
#include "check.hpp"
#include "tokens.hpp"

#include <string>
#include <thread>

#include <ysuite_zmq.hpp>

namespace {

#ifdef YS_HAS_STOP_TOKEN
using ys::status;

ys::zmq::options anywhere() {
  ys::zmq::options options;
  options.bind = {"tcp://127.0.0.1:*"};
  options.capacity = 4;
  return options;
}

ys::zmq::options connecting(const ys::zmq::bridge &to) {
  ys::zmq::options options;
  options.connect = to.addresses();
  return options;
}

void what_waits_is_stopped() {
  auto [there, rx] = ys::zmq::pull(anywhere());
  is_stopped([&rx = rx](std::stop_token token) { return rx.recv(token).status(); });
  auto [here, tx] = ys::zmq::push(connecting(there));
  std::stop_source source;
  source.request_stop();
  CHECK(tx.send("text", source.get_token()) && rx.recv(std::stop_token()) == "text");
  CHECK(rx.recv(source.get_token()).status() == status::stopped);
  auto [nobody, full] = ys::zmq::push(anywhere());
  // It is full at the end.
  is_stopped([&full = full](std::stop_token token) {
    status sent = status::ok;
    while (sent) sent = full.send("text", token);
    return sent;
  });
  auto [asked, questions] = ys::zmq::answer(anywhere());
  is_stopped([&questions = questions](std::stop_token token) { return questions.recv(token).status(); });
  std::thread closes([&asked = asked] { CHECK(asked.close()); });
  CHECK(questions.recv(std::stop_token()).closed());
  closes.join();
}
#else
void what_waits_is_stopped() {}
#endif

}  // namespace

int main() { RUN(what_waits_is_stopped); }
