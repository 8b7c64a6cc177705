// oneTBB's `concurrent_bounded_queue`: many threads on both sides, in one order, with the blocking `push` and `pop`.
//
// By default it has room for more messages than fit into memory; `set_capacity` sets a bound. A thread that finds
// nothing sleeps at once.

#include <cstddef>

#include <oneapi/tbb/concurrent_queue.h>

#include "loops.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_tbb {

/// Without a bound where there are no places.
template <class M, std::ptrdiff_t Places> struct Queue {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    oneapi::tbb::concurrent_bounded_queue<M> queue;

    Queue(std::size_t, std::size_t) {
        if constexpr (Places > 0) {
            queue.set_capacity(Places);
        }
    }

    struct Sender {
        Queue &of;

        explicit Sender(Queue &queue) : of(queue) {}

        bool send(const M &message) {
            of.queue.push(message);
            return true;
        }
    };

    struct Receiver {
        Queue &of;

        explicit Receiver(Queue &queue) : of(queue) {}

        bool receive(M &message) {
            // The compiler sees a way through `pop` on which nothing is written, which no blocking pop takes.
            __asm__("" : "=m"(message));
            of.queue.pop(message);
            return true;
        }
    };
};

template <class M> using Unbounded = Queue<M, 0>;
template <class M> using Bounded = Queue<M, 1024>;

YBENCH_EXPORT(tbb, Unbounded)
YBENCH_EXPORT(tbb_1k, Bounded)

} // namespace of_tbb
