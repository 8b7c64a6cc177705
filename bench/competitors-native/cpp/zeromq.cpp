// ZeroMQ between threads: `inproc`, a pair of sockets from one to one (PAIR) and from many to one (PUSH to PULL), as the guide
// recommends, in one context for the whole program.
//
// A message is a `zmq_msg_t` of the message's size. The high-water marks are the default: 1,000 messages on each side.
// A socket that finds nothing sleeps at once, in `poll`. PUSH with several PULLs gives each of them a queue of its own,
// in turn, so there is no channel of many receivers here.

#include <cerrno>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include <zmq.h>

#include "loops.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_zeromq {

void *context() {
    static void *const one = [] {
        void *made = zmq_ctx_new();
        // Threads for network sockets, which are not used.
        zmq_ctx_set(made, ZMQ_IO_THREADS, 0);
        // Runs of crowds open many, and closed ones are freed a little later.
        zmq_ctx_set(made, ZMQ_MAX_SOCKETS, 65536);
        return made;
    }();
    return one;
}

struct Socket {
    void *const socket;

    explicit Socket(int kind) : socket(zmq_socket(context(), kind)) {
        if (socket == nullptr) {
            throw std::runtime_error(zmq_strerror(errno));
        }
    }
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;
    // Sent messages stay for the receiver: the linger time is unlimited.
    ~Socket() { zmq_close(socket); }

    void check(int answer) const {
        if (answer != 0) {
            throw std::runtime_error(zmq_strerror(errno));
        }
    }
};

template <class M, int Sends, int Receives> struct Inproc {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = false;

    const std::string address;

    Inproc(std::size_t, std::size_t) : address(next()) {}

    static std::string next() {
        static std::atomic<std::size_t> last{0};
        // ORDERING: relaxed: a number, never used again. Other kinds and sizes count for themselves.
        const std::size_t number = last.fetch_add(1, std::memory_order_relaxed);
        return "inproc://" + std::to_string(Sends) + "/" + std::to_string(sizeof(M)) + "/" + std::to_string(number);
    }

    struct Sender : Socket {
        explicit Sender(Inproc &of) : Socket(Sends) { check(zmq_connect(socket, of.address.c_str())); }

        bool send(const M &content) {
            zmq_msg_t message;
            if (zmq_msg_init_size(&message, sizeof content) != 0) {
                return false;
            }
            std::memcpy(zmq_msg_data(&message), &content, sizeof content);
            while (zmq_msg_send(&message, socket, 0) < 0) {
                if (errno != EINTR) {
                    zmq_msg_close(&message);
                    return false;
                }
            }
            return true;
        }
    };

    struct Receiver : Socket {
        zmq_msg_t message;

        explicit Receiver(Inproc &of) : Socket(Receives) {
            check(zmq_bind(socket, of.address.c_str()));
            check(zmq_msg_init(&message));
        }
        ~Receiver() { zmq_msg_close(&message); }

        bool look(M &content) { return take(content, ZMQ_DONTWAIT); }
        bool receive(M &content) { return take(content, 0); }

        bool take(M &content, int flags) {
            int came;
            do {
                came = zmq_msg_recv(&message, socket, flags);
            } while (came < 0 && errno == EINTR);
            if (came != static_cast<int>(sizeof content)) {
                return false;
            }
            std::memcpy(&content, zmq_msg_data(&message), sizeof content);
            return true;
        }
    };
};

template <class M> using Pair = Inproc<M, ZMQ_PAIR, ZMQ_PAIR>;
template <class M> using Pushed = Inproc<M, ZMQ_PUSH, ZMQ_PULL>;

YBENCH_EXPORT(zmq_pair, Pair)
YBENCH_EXPORT(zmq_push, Pushed)

} // namespace of_zeromq
