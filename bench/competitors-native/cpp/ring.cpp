// A ring of our own in the form of Erik Rigtorp's well-known queue: two indices on lines of their own, each handle with
// a copy of the other's index on its own line, which it renews when there seems to be no room, or no message. One slot
// more than messages, so that full and empty differ; wraps by comparison, not by a mask.
//
// One thread may push and one may pop; both are wait-free. Cannot wait.

#include <atomic>
#include <cstddef>
#include <memory>

#include "loops.hpp"
#include "spinning.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_ring {

/// Two lines: the processor fetches them in pairs.
constexpr std::size_t apart = 128;

template <class M, std::size_t Places> struct Ring {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;
    static constexpr std::size_t slots = Places + 1;

    const std::unique_ptr<M[]> messages{new M[slots]};
    alignas(apart) std::atomic<std::size_t> written{0};
    alignas(apart) std::size_t read_as_seen = 0;
    alignas(apart) std::atomic<std::size_t> read{0};
    alignas(apart) std::size_t written_as_seen = 0;

    Ring(std::size_t, std::size_t) {}

    static std::size_t behind(std::size_t at) { return at + 1 == slots ? 0 : at + 1; }

    struct Push {
        Ring &ring;

        explicit Push(Ring &of) : ring(of) {}

        bool push(const M &message) {
            // ORDERING: relaxed: only this handle writes it.
            const std::size_t at = ring.written.load(std::memory_order_relaxed);
            const std::size_t next = behind(at);
            if (next == ring.read_as_seen) {
                // ORDERING: acquire pairs with the release in `pop`: the slot's content has been read.
                ring.read_as_seen = ring.read.load(std::memory_order_acquire);
                if (next == ring.read_as_seen) {
                    return false;
                }
            }
            ring.messages[at] = message;
            // ORDERING: release pairs with the acquire in `pop`: the message is there.
            ring.written.store(next, std::memory_order_release);
            return true;
        }
    };

    struct Pop {
        Ring &ring;

        explicit Pop(Ring &of) : ring(of) {}

        bool pop(M &message) {
            // ORDERING: relaxed: only this handle writes it.
            const std::size_t at = ring.read.load(std::memory_order_relaxed);
            if (at == ring.written_as_seen) {
                // ORDERING: acquire pairs with the release in `push`.
                ring.written_as_seen = ring.written.load(std::memory_order_acquire);
                if (at == ring.written_as_seen) {
                    return false;
                }
            }
            message = ring.messages[at];
            // ORDERING: release pairs with the acquire in `push`.
            ring.read.store(behind(at), std::memory_order_release);
            return true;
        }
    };
};

template <class M> using Roomy = ybench::Spinning<Ring<M, 65536>, true>;
template <class M> using RoomyWithoutPause = ybench::Spinning<Ring<M, 65536>, false>;
template <class M> using Narrow = ybench::Spinning<Ring<M, 1024>, true>;
template <class M> using NarrowWithoutPause = ybench::Spinning<Ring<M, 1024>, false>;

YBENCH_EXPORT(ring_64k, Roomy)
YBENCH_EXPORT(ring_64k_no_pause, RoomyWithoutPause)
YBENCH_EXPORT(ring_1k, Narrow)
YBENCH_EXPORT(ring_1k_no_pause, NarrowWithoutPause)

} // namespace of_ring
