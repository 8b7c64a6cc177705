// A real-time thread, as in audio: a callback that must fill its frames in time, whatever other threads do. It receives
// sounds that other threads have made, and reports how loud it is. It never waits, and neither allocates nor frees,
// which is counted here. (The same example in C has the kernel check that it makes no system calls either.)
//
// A sound that is replaced must be freed, and not by the callback: it goes back to its maker. So the callback first
// takes a slot for the old sound, and only then the new one: it always has room for the old sound.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>
#include <ysuite.hpp>

using namespace std::chrono_literals;
using block = std::array<float, 64>;

thread_local std::size_t allocator_calls = 0;
void *operator new(std::size_t size) {
  allocator_calls++;
  if (void *memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept {
  allocator_calls++;
  std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept { operator delete(memory); }

struct sound {
  float gain;
  std::vector<float> wave;
};
using owned_sound = std::unique_ptr<sound>;

class player {
 public:
  player(owned_sound first, ys::receiver<owned_sound> sounds, ys::sender<owned_sound> spent, ys::sender<float> peaks)
      : now_(std::move(first)), sounds_(std::move(sounds)), spent_(std::move(spent)), peaks_(std::move(peaks)) {}

  // Fills a block. False once there will be no more sounds.
  bool callback(block &output) {
    bool goes_on = true;
    if (auto room = spent_.reserve()) {
      if (auto next = sounds_.try_recv()) {
        room.emplace(std::exchange(now_, std::move(*next)));
        (void)room.commit();
      } else {
        goes_on = !next.closed();
      }
    }
    float peak = 0;
    for (float &frame : output) {
      frame = now_->gain * now_->wave[position_++ % now_->wave.size()];
      peak = std::max(peak, std::abs(frame));
    }
    blocks_++;
    // A display that is late misses this one and sees the next.
    if (!peaks_.try_send(peak)) unseen_++;
    return goes_on;
  }

  std::size_t blocks() const { return blocks_; }
  std::size_t unseen() const { return unseen_; }

 private:
  owned_sound now_;
  ys::receiver<owned_sound> sounds_;
  ys::sender<owned_sound> spent_;
  ys::sender<float> peaks_;
  std::size_t position_ = 0, blocks_ = 0, unseen_ = 0;
};

int main() {
  constexpr int sounds = 20;
  auto [send_sound, sounds_in] = ys::pipe<owned_sound>(4);
  auto [spent_out, spent] = ys::pipe<owned_sound>(4);
  auto [peaks_out, peaks] = ys::pipe<float>(64);
  auto silence = std::make_unique<sound>(sound{0.0F, {1.0F}});
  player card(std::move(silence), std::move(sounds_in), std::move(spent_out), std::move(peaks_out));

  std::size_t calls = 0;
  std::thread thread([&card, &calls] {
    block output{};
    const std::size_t before = allocator_calls;
    while (card.callback(output)) std::this_thread::sleep_for(300us); // the card's clock
    calls = allocator_calls - before;
  });

  std::size_t seen = 0, freed = 0;
  float newest = 0;
  // A display draws now and then. It never sleeps in a channel of the callback: the callback would have to wake it, by
  // a system call.
  auto draw = [&, &peaks = peaks, &spent = spent] {
    for (float peak : peaks.try_run()) {
      newest = peak;
      seen++;
    }
    while (spent.try_recv()) freed++;
  };
  for (int number = 1; number <= sounds; number++) {
    const float gain = 1.0F / static_cast<float>(number);
    if (!send_sound.send(std::make_unique<sound>(sound{gain, {1.0F, -1.0F}}))) return 1;
    while (newest != gain) {
      draw();
      std::this_thread::sleep_for(1ms);
    }
  }
  send_sound.close();
  thread.join();
  while (peaks.size() != 0) draw();
  draw();
  std::cout << card.blocks() << " blocks, " << card.unseen() << " not shown, " << freed << " sounds freed here, " << calls
            << " calls of the allocator there\n";
  // The last is the player's still.
  return calls == 0 && freed == sounds && seen + card.unseen() == card.blocks() ? 0 : 1;
}
