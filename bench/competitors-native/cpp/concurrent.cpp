// moodycamel's `ConcurrentQueue` and `BlockingConcurrentQueue`, of many threads on both sides, without a bound.
//
// Each producer has a queue of its own inside, so there is no order of all messages. The documentation recommends a
// token for each producer and each consumer, and operations in bulk: both are used. An iterator makes the messages of a
// bulk in place. The blocking one spins 10,000 times before it sleeps.

#include <cstddef>
#include <iterator>

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>

#include "loops.hpp"
#include "spinning.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_concurrent {

/// Messages that are made when they are read.
template <class M> struct Numbers {
    using iterator_category = std::input_iterator_tag;
    using value_type = M;
    using difference_type = std::ptrdiff_t;
    using pointer = const M *;
    using reference = M;

    std::size_t number;

    M operator*() const { return M::numbered(number); }

    Numbers &operator++() {
        number++;
        return *this;
    }

    Numbers operator++(int) { return {number++}; }
};

template <class M> struct Concurrent {
    using Message = M;
    static constexpr bool batches = true;
    static constexpr bool one_order = false;

    moodycamel::ConcurrentQueue<M> queue;

    Concurrent(std::size_t, std::size_t) {}

    struct Push {
        Concurrent &of;
        moodycamel::ProducerToken token;

        explicit Push(Concurrent &concurrent) : of(concurrent), token(concurrent.queue) {}
        bool push(const M &message) { return of.queue.enqueue(token, message); }

        std::size_t push_run(std::size_t first, std::size_t count) {
            return of.queue.enqueue_bulk(token, Numbers<M>{first}, count) ? count : 0;
        }
    };

    struct Pop {
        Concurrent &of;
        moodycamel::ConsumerToken token;

        explicit Pop(Concurrent &concurrent) : of(concurrent), token(concurrent.queue) {}
        bool pop(M &message) { return of.queue.try_dequeue(token, message); }
        std::size_t pop_run(M *into, std::size_t most) { return of.queue.try_dequeue_bulk(token, into, most); }
        // Exact once nobody enqueues. `try_dequeue` is documented to fail now and then while others dequeue.
        bool drained() const { return of.queue.size_approx() == 0; }
    };
};

template <class M> struct Blocking {
    using Message = M;
    static constexpr bool batches = true;
    static constexpr bool one_order = false;

    moodycamel::BlockingConcurrentQueue<M> queue;

    Blocking(std::size_t, std::size_t) {}

    struct Sender {
        Blocking &of;
        moodycamel::ProducerToken token;

        explicit Sender(Blocking &blocking) : of(blocking), token(blocking.queue) {}
        bool send(const M &message) { return of.queue.enqueue(token, message); }

        bool send_batch(std::size_t first, std::size_t count) {
            return of.queue.enqueue_bulk(token, Numbers<M>{first}, count);
        }
    };

    struct Receiver {
        Blocking &of;
        moodycamel::ConsumerToken token;

        explicit Receiver(Blocking &blocking) : of(blocking), token(blocking.queue) {}

        bool look(M &message) { return of.queue.try_dequeue(token, message); }

        bool receive(M &message) {
            of.queue.wait_dequeue(token, message);
            return true;
        }

        std::size_t receive_batch(M *into, std::size_t most) { return of.queue.wait_dequeue_bulk(token, into, most); }
    };
};

template <class M> using Paused = ybench::Spinning<Concurrent<M>, true>;
template <class M> using WithoutPause = ybench::Spinning<Concurrent<M>, false>;

YBENCH_EXPORT(concurrent, Paused)
YBENCH_EXPORT(concurrent_no_pause, WithoutPause)
YBENCH_EXPORT(concurrent_blocking, Blocking)

} // namespace of_concurrent
