// The usual first implementation: a `std::deque` behind a `std::mutex`, with a `std::condition_variable` for the
// receivers and, with a bound, another for the senders. A thread that has changed something notifies one other, after
// it has released the lock: a thread that is woken into a locked mutex would sleep again.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

#include "loops.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_deque {

/// Without a bound where there are no places.
template <class M, std::size_t Places> struct Deque {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    std::mutex mutex;
    std::condition_variable filled;
    std::condition_variable emptied;
    std::deque<M> messages;

    Deque(std::size_t, std::size_t) {}

    struct Sender {
        Deque &deque;

        explicit Sender(Deque &of) : deque(of) {}

        bool send(const M &message) {
            {
                std::unique_lock<std::mutex> lock(deque.mutex);
                if constexpr (Places > 0) {
                    deque.emptied.wait(lock, [this] { return deque.messages.size() < Places; });
                }
                deque.messages.push_back(message);
            }
            deque.filled.notify_one();
            return true;
        }
    };

    struct Receiver {
        Deque &deque;

        explicit Receiver(Deque &of) : deque(of) {}

        bool receive(M &message) {
            {
                std::unique_lock<std::mutex> lock(deque.mutex);
                deque.filled.wait(lock, [this] { return !deque.messages.empty(); });
                message = deque.messages.front();
                deque.messages.pop_front();
            }
            if constexpr (Places > 0) {
                deque.emptied.notify_one();
            }
            return true;
        }
    };
};

template <class M> using Unbounded = Deque<M, 0>;
template <class M> using Bounded = Deque<M, 1024>;

YBENCH_EXPORT(deque, Unbounded)
YBENCH_EXPORT(deque_1k, Bounded)

} // namespace of_deque
