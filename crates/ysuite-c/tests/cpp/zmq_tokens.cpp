// Needs C++20: waits at bridges that a std::stop_token ends.
#include "check.hpp"
#include "tokens.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <ysuite_zmq.hpp>

namespace {

#ifdef YS_HAS_STOP_TOKEN
using namespace std::chrono_literals;
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

void lent_and_published() {
  auto options = anywhere();
  options.parts = true;
  auto [there, rx] = ys::zmq::pull(options);
  is_stopped([&rx = rx](std::stop_token token) { return rx.lend(token).status(); });
  auto with = connecting(there);
  with.parts = true;
  auto [here, tx] = ys::zmq::push(with);
  std::stop_source source;
  source.request_stop();
  CHECK(tx.send_parts({"one", "two"}, source.get_token()) && rx.lend(std::stop_token()) == "one" && rx.parts().size() == 2);
  auto [nobody, full] = ys::zmq::push(options);
  is_stopped([&full = full](std::stop_token token) {
    status sent = status::ok;
    while (sent) sent = full.send_parts({"one", "two"}, token);
    return sent;
  });
  // A subscriber that receives nothing.
  auto waits = anywhere();
  waits.when_full = ys::zmq::when_full::wait;
  waits.send_mark = 1;
  auto [publisher, out] = ys::zmq::publish(waits);
  auto slow = connecting(publisher);
  slow.receive_mark = 1;
  auto [subscriber, in] = ys::zmq::subscribe(slow);
  CHECK(publisher.wait_subscribers("topic", 1, 60s));
  const std::string large(1 << 20, 'x');
  is_stopped([&, &out = out](std::stop_token token) {
    status sent = status::ok;
    while (sent) sent = out.publish("topic", large, token);
    return sent;
  });
}

void questions_and_answers() {
  auto [there, questions] = ys::zmq::answer(anywhere());
  auto with = connecting(there);
  with.unanswered = 1;
  auto [here, asker] = ys::zmq::ask(with);
  CHECK(asker.fd() >= 0 && asker.recv(1, std::stop_token()).status() == status::out_of_range && !asker.arm(1));
  const std::uint64_t first = asker.ask("first", std::stop_token()).value();
  is_stopped([&, &asker = asker](std::stop_token token) { return asker.recv(first, token).status(); });
  std::thread waits([&, &asker = asker] { CHECK(asker.recv(first, std::stop_token()) == "answer"); });
  std::this_thread::sleep_for(2ms);
  CHECK(questions.recv().value().answer("answer"));
  waits.join();

  // As many as may be have no answer, and as many as have room wait to be asked.
  std::vector<std::uint64_t> calls;
  std::jthread asks([&, &asker = asker](std::stop_token token) {
    while (auto call = asker.ask("another", token)) calls.push_back(*call);
  });
  ys::received<ys::zmq::question> held = questions.recv();
  std::this_thread::sleep_for(20ms);
  asks.request_stop();
  asks.join();
  CHECK(!calls.empty());
  std::uint64_t last = 0;
  std::jthread has_room([&, &asker = asker](std::stop_token token) { last = asker.ask("the last", token).value(); });
  std::this_thread::sleep_for(2ms);
  CHECK(held->answer("answer"));
  has_room.join();
  for (const std::uint64_t call : calls) {
    if (call != calls.front()) CHECK(questions.recv().value().answer("answer"));
    CHECK(asker.recv(call, std::stop_token()) == "answer");
  }
  CHECK(asker.give_up(last));

  // A call that is stopped is given up.
  is_stopped([&asker = asker](std::stop_token token) { return asker.call("nobody answers", token).status(); });
  std::thread answering([&questions = questions] {
    while (auto question = questions.recv()) (void)question->answer(std::string(question->bytes()) + "!");
  });
  std::stop_source source;
  CHECK(asker.call("one", source.get_token()) == "one!");
  // Any number of questions at once, in any order: an event loop.
  const std::uint64_t one = asker.ask("one", std::stop_token()).value(), two = asker.ask("two", std::stop_token()).value();
  CHECK(asker.recv(two, source.get_token()) == "two!" && asker.recv(one, source.get_token()) == "one!");
  CHECK(here.close());
  CHECK(asker.call("none", std::stop_token()).closed() && !asker.arm_to_ask());
  (void)there.close(60s);
  answering.join();
}

// The stop and the answer at once, again and again: the answer is received, or still there.
void races() {
  const int rounds = is_long() ? 10000 : 300;
  auto [there, questions] = ys::zmq::answer(anywhere());
  auto [here, asker] = ys::zmq::ask(connecting(there));
  int stopped = 0;
  for (int n = 0; n < rounds; n++) {
    const std::uint64_t call = asker.ask(std::to_string(n)).value();
    auto question = questions.recv().value();
    std::stop_source source;
    std::jthread stops([&source, n] {
      std::this_thread::sleep_for(std::chrono::microseconds(n % 100));
      source.request_stop();
    });
    std::jthread answers([&question, n] { CHECK(question.answer(std::to_string(n))); });
    auto answer = asker.recv(call, source.get_token());
    if (!answer) {
      CHECK(answer.status() == status::stopped);
      stopped++;
      answer = asker.recv(call);
    }
    CHECK(answer == std::to_string(n));
  }
  std::printf("    %d of %d were stopped\n", stopped, rounds);
}
#else
void what_waits_is_stopped() {}
void lent_and_published() {}
void questions_and_answers() {}
void races() {}
#endif

}  // namespace

int main() {
  RUN(what_waits_is_stopped);
  RUN(lent_and_published);
  RUN(questions_and_answers);
  RUN(races);
}
