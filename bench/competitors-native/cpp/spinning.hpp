// Queues that cannot wait, made into channels: a thread that finds one full or empty polls again, without end. The loop
// is that of `transport::spinning` of the instrument: with a pause of the CPU between two polls or without one, and
// every 256 polls a check whether a peer is left.
//
// A queue is a type with `Message`, `batches`, `one_order`, a constructor of (senders, receivers), and
//
//   Queue::Push(queue)      bool push(const Message &)      false: full
//                           size_t push_run(first, count)   with batches: how many there was room for
//   Queue::Pop(queue)       bool pop(Message &)             false: empty, or another thread is taking a message
//                           size_t pop_run(Message *, most)
//                           bool drained()                  where `pop` may fail although there are messages
#pragma once

#include <atomic>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ybench {

inline void pause_the_cpu() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    // As `std::hint::spin_loop` there.
    __asm__ volatile("isb" ::: "memory");
#endif
}

/// Counts failed polls.
template <bool Pause> class Looks {
    unsigned looks = 0;

  public:
    /// Whether to check for the peer.
    bool next() {
        if constexpr (Pause) {
            pause_the_cpu();
        }
        return ++looks % 256 == 0;
    }
};

template <class Queue, bool Pause> struct Spinning {
    using Message = typename Queue::Message;
    static constexpr bool batches = Queue::batches;
    static constexpr bool one_order = Queue::one_order;

    Queue queue;
    // Both are written at the beginning and at the end only.
    std::atomic<std::size_t> senders{0};
    std::atomic<std::size_t> receivers{0};

    Spinning(std::size_t senders, std::size_t receivers) : queue(senders, receivers) {}

    /// One handle's sign of life.
    struct Alive {
        std::atomic<std::size_t> &count;

        // ORDERING: relaxed: threads that could check begin later.
        explicit Alive(std::atomic<std::size_t> &of) : count(of) { count.fetch_add(1, std::memory_order_relaxed); }
        Alive(const Alive &) = delete;
        Alive &operator=(const Alive &) = delete;
        // ORDERING: release pairs with the acquire in `gone`: all earlier actions of this handle come before.
        ~Alive() { count.fetch_sub(1, std::memory_order_release); }
    };

    // ORDERING: acquire pairs with the release of the last peer that was dropped.
    static bool gone(const std::atomic<std::size_t> &peers) { return peers.load(std::memory_order_acquire) == 0; }

    struct Sender {
        const std::atomic<std::size_t> &peers;
        Alive alive;
        typename Queue::Push end;

        explicit Sender(Spinning &channel) : peers(channel.receivers), alive(channel.senders), end(channel.queue) {}

        bool send(const Message &message) {
            Looks<Pause> looks;
            while (!end.push(message)) {
                if (looks.next() && gone(peers)) {
                    return false;
                }
            }
            return true;
        }

        bool send_batch(std::size_t first, std::size_t count) {
            Looks<Pause> looks;
            for (;;) {
                const std::size_t pushed = end.push_run(first, count);
                first += pushed;
                count -= pushed;
                if (count == 0) {
                    return true;
                }
                if (looks.next() && gone(peers)) {
                    return false;
                }
            }
        }
    };

    struct Receiver {
        const std::atomic<std::size_t> &peers;
        Alive alive;
        typename Queue::Pop end;

        explicit Receiver(Spinning &channel) : peers(channel.senders), alive(channel.receivers), end(channel.queue) {}

        bool look(Message &message) { return end.pop(message); }

        bool receive(Message &message) {
            Looks<Pause> looks;
            while (!end.pop(message)) {
                if (looks.next() && gone(peers)) {
                    return last([&] { return end.pop(message); });
                }
            }
            return true;
        }

        /// Polls when no sender is left: the last messages may have come between two polls, and a queue of many receivers may
        /// have looked empty only because another one was at it.
        template <class Poll> auto last(Poll poll) {
            auto popped = poll();
            while (!popped && !drained(end)) {
                pause_the_cpu();
                popped = poll();
            }
            return popped;
        }

        template <class End> static auto drained(const End &end) -> decltype(end.drained()) { return end.drained(); }
        template <class... Ends> static bool drained(const Ends &...) { return true; }

        std::size_t receive_batch(Message *into, std::size_t most) {
            Looks<Pause> looks;
            for (;;) {
                const std::size_t popped = end.pop_run(into, most);
                if (popped > 0) {
                    return popped;
                }
                if (looks.next() && gone(peers)) {
                    return last([&] { return end.pop_run(into, most); });
                }
            }
        }
    };
};

} // namespace ybench
