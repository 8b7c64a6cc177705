#include "studio.hpp"

#include <functional>
#include <utility>

#include "video.hpp"

namespace studio {
namespace {

// A third of a second, which the mixer may be late.
constexpr std::size_t room = 64;
// All that the pipes hold, and what each stage has in hand; twice.
constexpr std::size_t blocks = 2 * (3 * room + 8 + 5);

// Carries orders out, one after the other, whoever gives them.
void conduct(std::stop_source stop, ys::exchange_receiver<order> orders, ys::watch_sender<settings> tell, counters &count) {
  settings now;
  while (const ys::received<order> next = orders.recv(stop.get_token())) {
    count.orders.add();
    switch (*next) {
      case order::mute: now.muted = true; break;
      case order::unmute: now.muted = false; break;
      case order::next_pattern: now.pattern++; break;
      case order::stop: stop.request_stop(); return;
    }
    if (!tell.send(now)) return; // nobody is there any more
  }
}

}  // namespace

studio::studio(const std::string &name, wires to)
    : blocks_{{sizeof(block), blocks}}, orders_(to.orders.tx.share()), lateness_(std::move(to.lateness.rx)), ages_(std::move(to.ages.rx)) {
  auto set = ys::watch(settings{});
  auto loud = ys::watch(levels{});
  // Before any thread: the names are taken, or this throws.
  renderer pictures(name + "-frames", set.rx.clone(), std::move(loud.rx), count_);
  front_desk desk(name + "-states", to.orders.tx.share(), std::move(to.ages.tx), count_);

  threads_.emplace_back(conduct, stop_, std::move(to.orders.rx), std::move(set.tx), std::ref(count_));
  threads_.emplace_back([this, pictures = std::move(pictures)]() mutable { pictures.run(stop_.get_token()); });
  threads_.emplace_back([this, desk = std::move(desk)]() mutable { desk.run(stop_.get_token()); });
  start_sound(std::move(to.lateness.tx), std::move(set.rx), std::move(loud.tx));
}

void studio::start_sound(ys::sender<std::int64_t> lateness, ys::watch_receiver<settings> set, ys::watch_sender<levels> show) {
  auto captured = ys::pipe<audio>(room), decoded = ys::pipe<audio>(8), mixed = ys::pipe<audio>(room), metered = ys::pipe<audio>(room);
  threads_.emplace_back(encode, std::move(metered.rx), std::ref(count_));
  threads_.emplace_back(meter, std::move(mixed.rx), std::move(metered.tx), std::move(show), std::ref(count_));
  threads_.emplace_back(decode, std::ref(blocks_), std::move(decoded.tx));
  threads_.emplace_back(mix, std::move(captured.rx), std::move(decoded.rx), std::move(set), std::move(mixed.tx), std::ref(count_));
  card player(blocks_, std::move(captured.tx), std::move(lateness), count_);
  threads_.emplace_back([this, player = std::move(player)]() mutable { player.run(stop_.get_token()); });
}

void studio::stop() {
  stop_.request_stop();
  threads_.clear();
}

}  // namespace studio
