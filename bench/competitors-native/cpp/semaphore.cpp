// boost::lockfree, made to sleep as a user of it does: a POSIX semaphore counts the messages, and with a bound another
// one counts the room.
//
// Its documentation has no waiting; a semaphore in addition to a queue is the usual way to make threads sleep. A sender
// takes a place, pushes and posts; a receiver waits and pops. A thread that finds the semaphore at 0 sleeps at once.
// glibc's posts and waits make no system call while no thread sleeps. Batches take as many places as there are at once,
// push them by one call, and post for each message: a POSIX semaphore has no post for several.

#include <cerrno>
#include <cstddef>
#include <stdexcept>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <semaphore.h>

#include "loops.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_semaphore {

class Semaphore {
    sem_t counter;

  public:
    explicit Semaphore(unsigned count) {
        if (sem_init(&counter, 0, count) != 0) {
            throw std::runtime_error("no semaphore");
        }
    }
    Semaphore(const Semaphore &) = delete;
    Semaphore &operator=(const Semaphore &) = delete;
    ~Semaphore() { sem_destroy(&counter); }

    void wait() {
        // Interrupted by a signal.
        while (sem_wait(&counter) != 0 && errno == EINTR) {
        }
    }

    /// Waits for one, and takes the available ones up to a maximum.
    std::size_t wait_for(std::size_t most) {
        wait();
        std::size_t taken = 1;
        while (taken < most && sem_trywait(&counter) == 0) {
            taken++;
        }
        return taken;
    }

    void post() { sem_post(&counter); }

    void post(std::size_t count) {
        while (count-- > 0) {
            post();
        }
    }
};

template <class M, std::size_t Places> struct Ring {
    using Message = M;
    static constexpr bool batches = true;
    static constexpr bool one_order = true;

    boost::lockfree::spsc_queue<M> queue{Places};
    Semaphore filled{0};
    Semaphore room{Places};

    Ring(std::size_t, std::size_t) {}

    struct Sender {
        /// Longer ones are pushed in parts.
        static constexpr std::size_t longest = 256;

        Ring &of;
        M made[longest];

        explicit Sender(Ring &ring) : of(ring) {}

        bool send(const M &message) {
            of.room.wait();
            of.queue.push(message);
            of.filled.post();
            return true;
        }

        bool send_batch(std::size_t first, std::size_t count) {
            while (count > 0) {
                const std::size_t length = of.room.wait_for(count < longest ? count : longest);
                for (std::size_t at = 0; at < length; at++) {
                    made[at] = M::numbered(first + at);
                }
                of.queue.push(made, length);
                of.filled.post(length);
                first += length;
                count -= length;
            }
            return true;
        }
    };

    struct Receiver {
        Ring &of;

        explicit Receiver(Ring &ring) : of(ring) {}

        bool receive(M &message) {
            of.filled.wait();
            const bool came = of.queue.pop(message);
            of.room.post();
            return came;
        }

        std::size_t receive_batch(M *into, std::size_t most) {
            const std::size_t length = of.queue.pop(into, of.filled.wait_for(most));
            of.room.post(length);
            return length;
        }
    };
};

/// With a bound where there are places.
template <class M, std::size_t Places> struct Linked {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    boost::lockfree::queue<M> queue{Places > 0 ? Places : 65536};
    Semaphore filled{0};
    Semaphore room{Places};

    Linked(std::size_t, std::size_t) {}

    struct Sender {
        Linked &of;

        explicit Sender(Linked &linked) : of(linked) {}

        bool send(const M &message) {
            if constexpr (Places > 0) {
                of.room.wait();
            }
            of.queue.push(message);
            of.filled.post();
            return true;
        }
    };

    struct Receiver {
        Linked &of;

        explicit Receiver(Linked &linked) : of(linked) {}

        bool receive(M &message) {
            of.filled.wait();
            // A receiver that has decremented it finds a message: of two that pop at the same time, one polls again.
            while (!of.queue.pop(message)) {
            }
            if constexpr (Places > 0) {
                of.room.post();
            }
            return true;
        }
    };
};

template <class M> using RingRoomy = Ring<M, 65536>;
template <class M> using RingNarrow = Ring<M, 1024>;
template <class M> using LinkedUnbounded = Linked<M, 0>;
template <class M> using LinkedBounded = Linked<M, 1024>;

YBENCH_EXPORT(boost_spsc_semaphore_64k, RingRoomy)
YBENCH_EXPORT(boost_spsc_semaphore_1k, RingNarrow)
YBENCH_EXPORT(boost_queue_semaphore, LinkedUnbounded)
YBENCH_EXPORT(boost_queue_semaphore_1k, LinkedBounded)

} // namespace of_semaphore
