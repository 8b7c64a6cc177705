// Bridges as classes: every verb, both sides in this program, and libzmq itself as the peer.
#include "check.hpp"

#include <poll.h>
#include <zmq.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ysuite_zmq.hpp>

namespace {

using namespace std::chrono_literals;
using ys::status;

ys::zmq::options anywhere() {
  ys::zmq::options options;
  options.bind = {"tcp://127.0.0.1:*"};
  return options;
}

ys::zmq::options connecting(const ys::zmq::bridge &to) {
  ys::zmq::options options;
  options.connect = to.addresses();
  CHECK(options.connect.size() == 1);
  return options;
}

void pushed_and_pulled() {
  auto [there, rx] = ys::zmq::pull(anywhere());
  auto [here, tx] = ys::zmq::push(connecting(there));
  std::thread sending([tx = &tx] {
    for (int number = 0; number < 1000; number++) CHECK(tx->send(std::to_string(number)));
  });
  for (int number = 0; number < 1000; number++) {
    const ys::received<std::string> found = rx.recv_for(60s);
    CHECK(found && *found == std::to_string(number));
  }
  sending.join();
  CHECK(rx.try_recv().status() == status::empty);
  CHECK(rx.recv_for(1ms).status() == status::timeout);
  CHECK(rx.recv_until(std::chrono::steady_clock::now() + 1ms).status() == status::timeout);
  CHECK(tx.send_for("a", 60s) && tx.send_until("b", std::chrono::steady_clock::now() + 60s) && tx.send("c\0d", 3));
  CHECK(rx.recv() == "a" && rx.recv() == "b" && rx.recv() == std::string("c\0d", 3));
  CHECK(tx.try_send("lent"));
  const ys::received<std::string_view> lent = rx.lend();
  CHECK(lent && *lent == "lent" && rx.topic().empty());
  CHECK(tx.publish("topic", "message") == status::unsupported);
  // A bridge counts a message after it has handed it over.
  while (here.statistics().messages_out < 1004 || there.statistics().messages_in < 1004) std::this_thread::sleep_for(1ms);
  CHECK(here.statistics().messages_out == 1004 && there.statistics().messages_in == 1004);
  CHECK(here.close(60s));
  const ys::zmq::left again = here.close();
  CHECK(!again && again.why == status::closed && tx.send("late") == status::closed);
  CHECK(there.close());
  CHECK(rx.recv().closed());
}

void published_and_subscribed() {
  auto [there, tx] = ys::zmq::publish(anywhere());
  auto options = connecting(there);
  options.topics = std::vector<std::string>{};
  auto [here, rx] = ys::zmq::subscribe(options);
  CHECK(here.subscribe("weather"));
  CHECK(there.wait_subscribers("weather.snow", 1, 60s));
  CHECK(there.wait_subscribers("sports", 1, 0s) == status::timeout);
  CHECK(tx.publish("sports", "1:0") && tx.try_publish("weather", "21") && tx.publish_for("weather.snow", "deep", 60s));
  CHECK(rx.recv() == "21" && rx.topic() == "weather");
  CHECK(rx.recv() == "deep" && rx.topic() == "weather.snow");
  CHECK(here.unsubscribe("weather"));
  CHECK(there.subscribe("weather") == status::unsupported);
  CHECK(std::string_view(ys::zmq::refusal()).find("subscribe") != std::string_view::npos);
}

void joined_in_one_part() {
  auto options = anywhere();
  options.joined_by = ' ';
  options.when_full = ys::zmq::when_full::wait;
  auto [there, tx] = ys::zmq::publish(options);
  auto with = connecting(there);
  with.joined_by = ' ';
  auto [here, rx] = ys::zmq::subscribe(with);
  CHECK(there.wait_subscribers("", 1, 60s));
  CHECK(tx.publish("weather", "cold and wet"));
  CHECK(rx.recv() == "cold and wet" && rx.topic() == "weather");
}

void two_ways() {
  auto options = anywhere();
  options.at_least_once = true;
  auto [one, tx, rx] = ys::zmq::duplex(options);
  auto [other, back, heard] = ys::zmq::duplex(connecting(one));
  CHECK(tx.send("there") && back.send("back"));
  CHECK(heard.recv() == "there" && rx.recv() == "back");
  CHECK(other.close() && rx.recv().closed());
}

void asked_and_answered() {
  auto [there, questions] = ys::zmq::answer(anywhere());
  auto [here, asker] = ys::zmq::ask(connecting(there));
  std::thread answering([questions = &questions] {
    while (ys::received<ys::zmq::question> question = questions->recv()) {
      CHECK(question->answer(std::string(question->bytes()) + "!"));
    }
  });
  CHECK(asker.call("one") == "one!" && asker.call_for("two", 60s) == "two!");
  ys::received<ys::zmq::asker> other = asker.clone();
  CHECK(other && other->call("three") == "three!");
  const ys::received<std::uint64_t> first = asker.ask("four"), second = asker.ask("five");
  CHECK(first && second && asker.recv(*second) == "five!" && asker.recv(*first) == "four!");
  CHECK(asker.recv(*first).status() == status::out_of_range && asker.give_up(*first) == status::out_of_range);
  CHECK(here.close());
  // Of a connection that has ended it does not know whether all had left.
  const ys::zmq::left left = there.close(60s);
  CHECK(left || left.why == status::unsent);
  answering.join();
  CHECK(asker.call("six").closed() && questions.try_recv().closed());
}

void lists() {
  using views = std::vector<std::string_view>;
  auto options = anywhere();
  options.parts = true;
  auto [there, rx] = ys::zmq::pull(options);
  auto with = connecting(there);
  with.parts = true;
  auto [here, tx] = ys::zmq::push(with);
  CHECK(tx.send_parts({"one", "", "three"}) && rx.lend() && rx.parts() == views({"one", "", "three"}));
  CHECK(tx.send("alone") && rx.recv() == "alone" && rx.parts() == views({"alone"}) && tx.send_parts({}) == status::invalid);
  auto [to, questions] = ys::zmq::answer(options);
  with = connecting(to);
  with.parts = true;
  auto [from, asker] = ys::zmq::ask(with);
  const ys::received<std::uint64_t> call = asker.ask_parts({"how", "many?"});
  ys::received<ys::zmq::question> question = questions.recv();
  CHECK(call && question && question->bytes() == "how" && question->parts() == views({"how", "many?"}));
  CHECK(question->answer_parts({"1", "2"}) && asker.recv(*call) == "1" && asker.parts() == views({"1", "2"}));
}

void an_event_loop() {
  auto [there, rx] = ys::zmq::pull(anywhere());
  auto [here, tx] = ys::zmq::push(connecting(there));
  while (!rx.arm()) CHECK(rx.try_recv().status() == status::empty);
  CHECK(tx.fd() >= 0);
  (void)tx.arm();
  CHECK(tx.send("now"));
  pollfd event{rx.fd(), POLLIN, 0};
  CHECK(poll(&event, 1, 60000) == 1 && rx.try_recv() == "now");
}

void a_raw_socket() {
  void *context = zmq_ctx_new(), *push = zmq_socket(context, ZMQ_PUSH);
  auto [bridge, rx] = ys::zmq::pull(anywhere());
  CHECK(zmq_connect(push, bridge.addresses().front().c_str()) == 0 && zmq_send(push, "raw", 3, 0) == 3);
  CHECK(rx.recv() == "raw");
  ys::received<ys::zmq::event> event = bridge.next_event();
  while (!event || event->what != YS_ZMQ_CONNECTED) {
    CHECK(event || event.status() == status::empty);
    event = bridge.next_event();
  }
  CHECK(event->text.find("tcp://") == 0);
  zmq_close(push);
  zmq_ctx_term(context);
}

void refused() {
  auto options = anywhere();
  options.bind = {"tcp:/127.0.0.1"};
  CHECK(ys::zmq::try_pull(options).status() == status::refused_name);
  CHECK(std::string_view(ys::zmq::refusal()).find("tcp:/127.0.0.1 is no address") == 0);
#if YS_HAS_EXCEPTIONS
  bool thrown = false;
  try {
    (void)ys::zmq::push(ys::zmq::options());
  } catch (const std::system_error &error) {
    thrown = error.code() == std::errc::invalid_argument;
  }
  CHECK(thrown);
#endif
  CHECK(ys::zmq::try_answer(options).status() == status::refused_name);
  CHECK(ys::zmq::try_duplex(options).status() == status::refused_name);
}

void keys() {
  if (zmq_has("curve") == 0) return;
  const auto server = ys::zmq::try_keys(), client = ys::zmq::try_keys();
  CHECK(server && client && server->secret_key.size() == 40 && server->secret_key != client->secret_key);
  auto options = anywhere();
  options.secret_key = server->secret_key;
  options.client_keys = std::vector<std::string>{};
  auto [there, rx] = ys::zmq::pull(options);
  auto with = connecting(there);
  with.secret_key = client->secret_key;
  with.server_key = server->public_key;
  CHECK(there.admit({client->public_key}));
  auto [here, tx] = ys::zmq::push(with);
  CHECK(tx.send("a secret") && rx.recv() == "a secret");
}

void moved() {
  auto [there, rx] = ys::zmq::pull(anywhere());
  ys::zmq::receiver to(std::move(rx));
  CHECK(to && !rx && rx.try_recv().status() == status::invalid && rx.topic().empty());
  ys::zmq::bridge other(std::move(there));
  CHECK(other.addresses().size() == 1 && there.addresses().empty() && there.statistics().messages_in == 0);
  ys_zmq_rx *raw = to.release();
  ys_zmq_rx_free(raw);
}

}  // namespace

int main() {
  RUN(pushed_and_pulled);
  RUN(published_and_subscribed);
  RUN(joined_in_one_part);
  RUN(two_ways);
  RUN(asked_and_answered);
  RUN(lists);
  RUN(an_event_loop);
  RUN(a_raw_socket);
  RUN(refused);
  RUN(keys);
  RUN(moved);
}
