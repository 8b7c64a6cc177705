// moodycamel's queues of one reader and one writer: `ReaderWriterQueue`, which grows by blocks, the same with a semaphore
// (`BlockingReaderWriterQueue`), and `BlockingReaderWriterCircularBuffer`, which has a bound.
//
// The documentation advises to state the likely number of elements at the start; here 65,536, as the rings have.
// Senders use `enqueue`, which allocates when there is no room. The blocking ones spin 1,024 times before they sleep.

#include <cstddef>

#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <readerwriterqueue/readerwriterqueue.h>

#include "loops.hpp"
#include "spinning.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_reader_writer {

constexpr std::size_t likely = 65536;

template <class M> struct Growing {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    moodycamel::ReaderWriterQueue<M> queue{likely};

    Growing(std::size_t, std::size_t) {}

    struct Push {
        Growing &of;

        explicit Push(Growing &growing) : of(growing) {}
        bool push(const M &message) { return of.queue.enqueue(message); }
    };

    struct Pop {
        Growing &of;

        explicit Pop(Growing &growing) : of(growing) {}
        bool pop(M &message) { return of.queue.try_dequeue(message); }
    };
};

template <class M> struct Blocking {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    moodycamel::BlockingReaderWriterQueue<M> queue{likely};

    Blocking(std::size_t, std::size_t) {}

    struct Sender {
        Blocking &of;

        explicit Sender(Blocking &blocking) : of(blocking) {}
        bool send(const M &message) { return of.queue.enqueue(message); }
    };

    struct Receiver {
        Blocking &of;

        explicit Receiver(Blocking &blocking) : of(blocking) {}

        bool receive(M &message) {
            of.queue.wait_dequeue(message);
            return true;
        }
    };
};

template <class M, std::size_t Places> struct Circular {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    moodycamel::BlockingReaderWriterCircularBuffer<M> queue{Places};

    Circular(std::size_t, std::size_t) {}

    struct Sender {
        Circular &of;

        explicit Sender(Circular &circular) : of(circular) {}

        bool send(const M &message) {
            of.queue.wait_enqueue(message);
            return true;
        }
    };

    struct Receiver {
        Circular &of;

        explicit Receiver(Circular &circular) : of(circular) {}

        bool receive(M &message) {
            of.queue.wait_dequeue(message);
            return true;
        }
    };
};

template <class M> using Paused = ybench::Spinning<Growing<M>, true>;
template <class M> using WithoutPause = ybench::Spinning<Growing<M>, false>;
template <class M> using Narrow = Circular<M, 1024>;
template <class M> using Roomy = Circular<M, 65536>;

YBENCH_EXPORT(reader_writer, Paused)
YBENCH_EXPORT(reader_writer_no_pause, WithoutPause)
YBENCH_EXPORT(reader_writer_blocking, Blocking)
YBENCH_EXPORT(circular_1k, Narrow)
YBENCH_EXPORT(circular_64k, Roomy)

} // namespace of_reader_writer
