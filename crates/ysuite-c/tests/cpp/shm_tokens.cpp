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

// Into memory that is there already.
void into_buffers() {
  auto [tx, rx] = ys::shm::pipe(64);
  const auto sends = [](auto &to) { return [&to] { CHECK(to.send("text")); }; };
  char to[8];
  std::size_t length = 0;
  std::string bytes;
  a_wait([&rx = rx, &bytes](std::stop_token token) { return rx.recv(bytes, token); }, sends(tx));
  CHECK(bytes == "text");
  a_wait([&, &rx = rx](std::stop_token token) { return rx.recv_into(to, sizeof to, length, token); }, sends(tx));
  CHECK(length == 4);

  auto funnel = ys::shm::funnel::without_name();
  ys::shm::sender one(funnel.seat().value().over, 64);
  std::uint64_t sender = 7;
  a_wait([&](std::stop_token token) { return funnel.recv_into(to, sizeof to, length, sender, token); }, sends(one));
  CHECK(length == 4 && sender == 0);

  auto broadcast = ys::shm::broadcast::without_name(64);
  ys::shm::broadcast_receiver hears(broadcast.seat().value());
  broadcast.serve();
  a_wait([&](std::stop_token token) { return hears.recv_into(to, sizeof to, length, token); }, sends(broadcast));
  auto watch = ys::shm::watch::without_name("text", 8);
  ys::shm::watch_receiver looks(watch.seat().value());
  watch.serve();
  CHECK(looks.recv() == "text");
  a_wait([&](std::stop_token token) { return looks.recv_into(to, sizeof to, length, token); }, sends(watch));
}

// A slot, of which there is one, and memory of its own, of which 16 may be on their way.
void loans() {
  auto tx = ys::shm::loan_sender::without_name(1, 64);
  ys::shm::loan_receiver rx(tx.seat().value());
  tx.serve();
  const auto lends = [&](std::stop_token token) {
    auto loan = tx.reserve(8, token);
    return loan ? loan->commit() : loan.status();
  };
  CHECK(lends(std::stop_token()));
  a_wait(lends, [&] { CHECK(rx.recv()); });
  CHECK(tx.reserve(65, std::stop_token()).status() == status::too_long && rx.recv());
  const auto lends_large = [&](std::stop_token token) {
    auto loan = tx.reserve_large(100000, token);
    return loan ? loan->commit() : loan.status();
  };
  for (int n = 0; n < 16; n++) CHECK(lends_large(std::stop_token()));
  a_wait(lends_large, [&] { CHECK(rx.recv()); });
  // One that has gone is noticed, before or after a message that nobody has.
  std::thread leaves([&] {
    std::this_thread::sleep_for(2ms);
    const ys::shm::loan_receiver gone(std::move(rx));
  });
  status lent = status::ok;
  while (lent) lent = lends_large(std::stop_token());
  CHECK(lent == status::closed);
  leaves.join();
}

void calls() {
  ys::shm::options one_call;
  one_call.calls = 1;
  auto rx = ys::shm::questions::without_name(64, one_call);
  ys::shm::caller caller(rx.seat().value().over, 64, one_call);
  CHECK(!rx.try_recv());
  std::uint64_t number = 0;
  const auto asks = [&](std::stop_token token) {
    const auto call = caller.ask("question", token);
    if (call) number = *call;
    return call.status();
  };
  const auto answers = [&] { CHECK(rx.recv().value().answer("answer")); };
  CHECK(asks(std::stop_token()));
  // The answer is received, and its place is free for another question.
  a_wait([&](std::stop_token token) {
    const auto answer = caller.recv(number, token);
    CHECK(!answer || *answer == "answer");
    if (answer) CHECK(asks(token));
    return answer.status();
  }, answers);
  CHECK(caller.recv(number + 1, std::stop_token()).status() == status::out_of_range);
  // A call has the place, of whose end nobody asks: it is given up.
  CHECK(caller.give_up(number));
  a_wait([&](std::stop_token token) {
    const status asked = asks(token);
    if (asked) CHECK(caller.give_up(number));
    return asked;
  }, answers);
  answers();
  CHECK(caller.ask(std::string(65, 'a'), std::stop_token()).status() == status::too_long);

  // One that is stopped gives up: nothing of it is left but the question, of which there is one each time.
  is_stopped([&](std::stop_token token) { return caller.call("question", token).status(); }, [&](auto) {
    if (auto question = rx.try_recv()) CHECK(question->answer("late"));
  });
  std::thread answering([&] {
    while (auto question = rx.recv()) CHECK(question->answer(question->bytes()));
  });
  std::stop_source source;
  CHECK(caller.call("one", source.get_token()) == "one" && caller.call(std::string(64, 'x'), source.get_token()) == std::string(64, 'x'));
  { const ys::shm::caller gone(std::move(caller)); }
  answering.join();
}

// Others that have ended keep nobody awake.
void one_of_several_calls() {
  auto rx = ys::shm::questions::without_name(64);
  ys::shm::caller caller(rx.seat().value().over, 64);
  CHECK(!rx.try_recv());
  const std::uint64_t first = caller.ask("first").value(), second = caller.ask("second").value();
  CHECK(rx.recv().value().answer("first"));
  const auto question = rx.recv();
  int tries = 0;
  is_stopped([&](std::stop_token token) {
    tries = 0;
    const auto attempt = [&] {
      tries++;
      return caller.try_recv(second);
    };
    return ys::detail::attempt_until_stopped(caller.fd(), token, attempt, [&] { return caller.arm_to_recv(second) ? 1 : 0; }).status();
  }, [&](auto) { CHECK(tries < 10); });
  CHECK(!caller.arm() && caller.recv(first) == "first" && !caller.arm_to_recv(first));
}

// The stop and the answer at once, again and again: the answer is received, or still there.
void races() {
  const int rounds = is_long() ? 20000 : 500;
  auto rx = ys::shm::questions::without_name(64);
  ys::shm::caller caller(rx.seat().value().over, 64);
  CHECK(!rx.try_recv());
  int stopped = 0;
  for (int n = 0; n < rounds; n++) {
    const std::uint64_t call = caller.ask(std::to_string(n)).value();
    auto question = rx.recv().value();
    std::stop_source source;
    std::jthread stops([&source] { source.request_stop(); });
    std::jthread answers([&question, n] { CHECK(question.answer(std::to_string(n))); });
    auto answer = caller.recv(call, source.get_token());
    if (!answer) {
      CHECK(answer.status() == status::stopped);
      stopped++;
      answer = caller.recv(call);
    }
    CHECK(answer == std::to_string(n));
  }
  std::printf("    %d of %d were stopped\n", stopped, rounds);
}

void jobs() {
  auto tx = ys::shm::work_sender::without_name(64, 1);
  // With nobody there, and nobody to come, there is no wait; with a place for somebody there is.
  int tries = 0;
  const auto sends = [&](std::stop_token token) {
    const auto attempt = [&] {
      tries++;
      return tx.try_send("job");
    };
    return ys::detail::attempt_until_stopped(tx.fd(), token, attempt, [&] { return tx.arm(); });
  };
  CHECK(sends(std::stop_token()) == status::closed && tx.serve(std::stop_token()) == status::closed && tx.settle(std::stop_token()));
  auto seat = tx.seat();
  is_stopped([&](std::stop_token token) { return tx.serve(token); });
  is_stopped(sends);
  CHECK(tries < 20);
  ys::shm::work_receiver rx(std::move(*seat));
  CHECK(tx.send("job", std::stop_token()));
  a_wait([&](std::stop_token token) {
    const status settled = tx.settle(token);
    if (settled) CHECK(tx.send("job"));
    return settled;
  }, [&] { CHECK(rx.recv() == "job" && rx.finish()); });
  // What is given back while it serves is given out again.
  std::jthread serves([&](std::stop_token token) { CHECK(tx.serve(token) == status::stopped); });
  for (int n = 0; n < 10; n++) CHECK(rx.recv() == "job" && rx.give_back());
  CHECK(rx.recv() == "job" && rx.finish());
  serves.request_stop();
  serves.join();
  CHECK(tx.settle(std::stop_token()));
  tries = 0;
  std::thread leaves([&] {
    std::this_thread::sleep_for(2ms);
    const ys::shm::work_receiver gone(std::move(rx));
  });
  CHECK(tx.serve(std::stop_token()) == status::closed);
  leaves.join();
  CHECK(sends(std::stop_token()) == status::closed && tries == 1);
}

// Those that come are accepted.
template <class Sender, class Receiver>
void serves(Sender tx) {
  auto seat = tx.seat();
  is_stopped([&](std::stop_token token) { return tx.serve(token); });
  std::jthread serves([&](std::stop_token token) { CHECK(tx.serve(token) == status::stopped); });
  const Receiver rx(std::move(*seat));
  std::this_thread::sleep_for(2ms);
  serves.request_stop();
  serves.join();
  tx.serve();
  CHECK(tx.receivers() == 1);
}

void who_comes() {
  serves<ys::shm::broadcast, ys::shm::broadcast_receiver>(ys::shm::broadcast::without_name(64));
  serves<ys::shm::watch, ys::shm::watch_receiver>(ys::shm::watch::without_name("text", 8));
  serves<ys::shm::loan_sender, ys::shm::loan_receiver>(ys::shm::loan_sender::without_name(1, 64));
}
#else
void receivers_and_senders() {}
void others() {}
void into_buffers() {}
void loans() {}
void calls() {}
void one_of_several_calls() {}
void races() {}
void jobs() {}
void who_comes() {}
#endif

}  // namespace

int main() {
  alarm(600);
  RUN(receivers_and_senders);
  RUN(others);
  RUN(into_buffers);
  RUN(loans);
  RUN(calls);
  RUN(one_of_several_calls);
  RUN(races);
  RUN(jobs);
  RUN(who_comes);
}
