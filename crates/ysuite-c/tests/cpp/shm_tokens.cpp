// Needs C++20: waits for another process that a std::stop_token ends.
#include "check.hpp"
#include "tokens.hpp"

#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include <ysuite/shm.hpp>

namespace {

#ifdef YS_HAS_STOP_TOKEN
using namespace std::chrono_literals;
using ys::status;

// `waits(token)` is stopped while it sleeps and before; `goes_on()` lets the next wait succeed.
template <class Waits, class GoesOn>
void a_wait(Waits waits, GoesOn goes_on) {
  is_stopped(waits, [&](auto pause) {
    std::stop_source source;
    source.request_stop();
    CHECK(waits(source.get_token()) == status::stopped);
    status answer = status::full;
    std::jthread waits_again([&](std::stop_token token) { answer = waits(token); });
    std::this_thread::sleep_for(pause);
    goes_on();
    waits_again.join();
    CHECK(answer == status::ok);
  });
}

void receivers_and_senders() {
  auto [tx, rx] = ys::shm::pipe(64);
  a_wait([&rx = rx](std::stop_token token) {
    const auto message = rx.recv(token);
    CHECK(!message || *message == "text");
    return message.status();
  }, [&tx = tx] { CHECK(tx.send("text")); });
  // What is there is received all the same, and a message that fits is sent.
  std::stop_source source;
  source.request_stop();
  CHECK(tx.send("text", source.get_token()) && rx.recv(source.get_token()) == "text");
  const std::string large(tx.largest(), 'x');
  CHECK(tx.send(large));
  a_wait([&tx = tx, &large](std::stop_token token) { return tx.send(large, token); }, [&rx = rx, &large] { CHECK(rx.recv() == large); });
  CHECK(rx.recv() == large);
  // One that has gone is noticed.
  std::thread closes([&tx = tx] {
    std::this_thread::sleep_for(2ms);
    tx.close();
  });
  CHECK(rx.recv(std::stop_token()).closed());
  closes.join();
  CHECK(tx.send("text", std::stop_token()) == status::closed);
}

void others() {
  const std::string name = "test-" + std::to_string(getpid()) + "-tokens";
  ys::shm::listener listener(name);
  a_wait([&listener](std::stop_token token) { return listener.accept(token).status(); },
         [&name] { CHECK(ys::shm::try_connect(name)); });
  auto funnel = ys::shm::funnel::without_name();
  ys::shm::sender tx(funnel.seat().value().over, 64);
  CHECK(tx.send("first") && funnel.recv(std::stop_token())->bytes == "first");
  a_wait([&funnel](std::stop_token token) { return funnel.recv(token).status(); }, [&tx] { CHECK(tx.send("text")); });
}
#else
void receivers_and_senders() {}
void others() {}
#endif

}  // namespace

int main() {
  alarm(600);
  RUN(receivers_and_senders);
  RUN(others);
}
