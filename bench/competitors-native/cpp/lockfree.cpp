// boost::lockfree: `spsc_queue`, a ring of one thread on each side, and `queue`, linked nodes of many threads.
//
// The documentation shows both with `push` and `pop` in loops that poll again. The ring has its room from the start.
// The linked queue has nodes for 65,536 messages from the start and allocates more when it has to (`push`), or refuses
// (`bounded_push`). Batches use the ring's `push` and `pop` of several, each with one publication.

#include <cstddef>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "loops.hpp"
#include "spinning.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_lockfree {

template <class M, std::size_t Places> struct Ring {
    using Message = M;
    static constexpr bool batches = true;
    static constexpr bool one_order = true;

    boost::lockfree::spsc_queue<M> queue{Places};

    Ring(std::size_t, std::size_t) {}

    struct Push {
        /// Longer ones are pushed in parts.
        static constexpr std::size_t longest = 256;

        Ring &of;
        M made[longest];

        explicit Push(Ring &ring) : of(ring) {}
        bool push(const M &message) { return of.queue.push(message); }

        std::size_t push_run(std::size_t first, std::size_t count) {
            // It cannot report how many would fit before they are made.
            const std::size_t length = count < longest ? count : longest;
            for (std::size_t at = 0; at < length; at++) {
                made[at] = M::numbered(first + at);
            }
            return of.queue.push(made, length);
        }
    };

    struct Pop {
        Ring &of;

        explicit Pop(Ring &ring) : of(ring) {}
        bool pop(M &message) { return of.queue.pop(message); }
        std::size_t pop_run(M *into, std::size_t most) { return of.queue.pop(into, most); }
    };
};

/// With a bound where there are places.
template <class M, std::size_t Places> struct Linked {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    boost::lockfree::queue<M> queue{Places > 0 ? Places : 65536};

    Linked(std::size_t, std::size_t) {}

    struct Push {
        Linked &of;

        explicit Push(Linked &linked) : of(linked) {}

        bool push(const M &message) {
            if constexpr (Places > 0) {
                return of.queue.bounded_push(message);
            } else {
                return of.queue.push(message);
            }
        }
    };

    struct Pop {
        Linked &of;

        explicit Pop(Linked &linked) : of(linked) {}
        bool pop(M &message) { return of.queue.pop(message); }
    };
};

template <class M> using RingRoomy = ybench::Spinning<Ring<M, 65536>, true>;
template <class M> using RingRoomyWithoutPause = ybench::Spinning<Ring<M, 65536>, false>;
template <class M> using RingNarrow = ybench::Spinning<Ring<M, 1024>, true>;
template <class M> using RingNarrowWithoutPause = ybench::Spinning<Ring<M, 1024>, false>;
template <class M> using Unbounded = ybench::Spinning<Linked<M, 0>, true>;
template <class M> using UnboundedWithoutPause = ybench::Spinning<Linked<M, 0>, false>;
template <class M> using Bounded = ybench::Spinning<Linked<M, 1024>, true>;
template <class M> using BoundedWithoutPause = ybench::Spinning<Linked<M, 1024>, false>;

YBENCH_EXPORT(boost_spsc_64k, RingRoomy)
YBENCH_EXPORT(boost_spsc_64k_no_pause, RingRoomyWithoutPause)
YBENCH_EXPORT(boost_spsc_1k, RingNarrow)
YBENCH_EXPORT(boost_spsc_1k_no_pause, RingNarrowWithoutPause)
YBENCH_EXPORT(boost_queue, Unbounded)
YBENCH_EXPORT(boost_queue_no_pause, UnboundedWithoutPause)
YBENCH_EXPORT(boost_queue_1k, Bounded)
YBENCH_EXPORT(boost_queue_1k_no_pause, BoundedWithoutPause)

} // namespace of_lockfree
