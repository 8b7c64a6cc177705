#include "audio.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <vector>

#include "adler32.hpp"
#include "codec.hpp"
#include "pace.hpp"

namespace {
thread_local std::uint64_t allocator_calls = 0;
}

// Counts for each thread, for the callback's promise.
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

namespace studio {
namespace {

constexpr double rate = 48'000;

std::uint32_t sum(const samples &sound) noexcept { return adler32(sound.data(), sizeof sound); }

// A block is what the stage before has made of it.
void expect_whole(audio &now, counters &count) noexcept {
  if (sum(now->sound) != now->checksum) count.damaged.add();
}

// How strong one frequency is, by Goertzel's algorithm: one bin of a Fourier transform.
float strength(const samples &sound, double frequency) noexcept {
  const double turn = 2 * std::cos(2 * std::numbers::pi * frequency / rate);
  double before = 0, last = 0;
  for (const std::int16_t sample : sound) {
    const double next = sample / 32768.0 + turn * last - before;
    before = std::exchange(last, next);
  }
  const double power = last * last + before * before - turn * last * before;
  return static_cast<float>(std::min(1.0, std::sqrt(std::max(0.0, power)) * 2 / static_cast<double>(sound.size())));
}

}  // namespace

card::card(ys::pool &blocks, ys::sender<audio> out, ys::sender<std::int64_t> lateness, counters &count)
    : blocks_(blocks), out_(std::move(out)), lateness_(std::move(lateness)), count_(count) {
  for (std::size_t at = 0; at < wave_.size(); at++) {
    wave_[at] = static_cast<std::int16_t>(20'000 * std::sin(2 * std::numbers::pi * static_cast<double>(at) / static_cast<double>(wave_.size())));
  }
}

void card::run(const std::stop_token &stop) {
  pace clock(block_period);
  const std::uint64_t before = allocator_calls;
  bool goes_on = true;
  while (goes_on && !stop.stop_requested()) {
    // What is late is told to whom it may concern; if there is no room, that one does not look.
    (void)lateness_.try_send(clock.wait());
    goes_on = callback();
  }
  count_.allocations.add(allocator_calls - before);
}

bool card::callback() {
  audio now(blocks_.try_take(sizeof(block)));
  if (!now) {
    count_.dropped.add();
    return true;
  }
  for (std::int16_t &sample : now->sound) sample = wave_[(phase_ += 9) % wave_.size()];
  now->number = next_;
  now->muted = false;
  now->checksum = sum(now->sound);
  const ys::status sent = out_.try_send(std::move(now));
  if (sent == ys::status::closed) return false;
  if (!sent) {
    // It is still here, and goes back to the pool.
    count_.dropped.add();
    return true;
  }
  next_++;
  count_.captured.add();
  return true;
}

void decode(ys::pool &blocks, ys::sender<audio> out) {
  constexpr std::array<double, 8> notes{262, 294, 330, 349, 392, 440, 494, 523};
  std::vector<std::vector<std::uint8_t>> piece;
  double angle = 0;
  for (const double note : notes) {
    samples sound{};
    for (std::int16_t &sample : sound) {
      sample = static_cast<std::int16_t>(9'000 * std::sin(angle));
      angle = std::fmod(angle + 2 * std::numbers::pi * note / rate, 2 * std::numbers::pi);
    }
    pack(sound, piece.emplace_back());
  }
  for (std::size_t at = 0;; at = (at + 1) % piece.size()) {
    audio now(blocks.take(sizeof(block)));
    if (!now || !unpack(piece[at], now->sound)) return;
    now->checksum = sum(now->sound);
    if (!out.send(std::move(now))) return;
  }
}

void mix(ys::receiver<audio> voice, ys::receiver<audio> music, ys::watch_receiver<settings> set, ys::sender<audio> out, counters &count) {
  settings as = set.get().value_or(settings{});
  for (audio &&now : voice) {
    if (const ys::received<settings> changed = set.try_recv()) as = *changed;
    expect_whole(now, count);
    std::optional<audio> with = music.recv();
    if (!with) return;
    expect_whole(*with, count);
    for (std::size_t at = 0; at < block_samples; at++) {
      now->sound[at] = as.muted ? std::int16_t{0} : static_cast<std::int16_t>(now->sound[at] / 2 + (*with)->sound[at] / 2);
    }
    now->muted = as.muted;
    now->checksum = sum(now->sound);
    if (as.muted) count.muted.add();
    if (!out.send(std::move(now))) return;
  }
}

void meter(ys::receiver<audio> in, ys::sender<audio> out, ys::watch_sender<levels> show, counters &count) {
  constexpr std::array<double, bands> frequencies{200, 400, 800, 1'600};
  for (audio &&now : in) {
    expect_whole(now, count);
    levels loud;
    const auto [least, most] = std::minmax_element(now->sound.begin(), now->sound.end());
    loud.peak = static_cast<float>(std::max(-int{*least}, int{*most})) / 32768.0F;
    for (std::size_t at = 0; at < bands; at++) loud.band[at] = strength(now->sound, frequencies[at]);
    // If nobody draws it any more, the sound goes on.
    (void)show.send(loud);
    if (!out.send(std::move(now))) return;
  }
}

void encode(ys::receiver<audio> in, counters &count) {
  std::vector<std::uint8_t> packed;
  packed.reserve(3 * block_samples);
  samples back{};
  std::uint64_t expected = 0;
  for (audio &&now : in) {
    expect_whole(now, count);
    if (now->number != expected++) count.out_of_turn.add();
    pack(now->sound, packed);
    if (!unpack(packed, back) || back != now->sound) count.damaged.add();
    count.encoded_bytes.add(packed.size());
    count.encoded.add();
  }
}

}  // namespace studio
