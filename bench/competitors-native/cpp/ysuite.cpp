// spsc, mpsc and mpmc of ysuite from C++, by ysuite.hpp. Only the room is chosen: a default channel spins a little
// before it sleeps. Messages of spsc and mpsc are built in their slots; batches are built in reserved slots, and read
// in place. mpmc moves bytes by calls; its batches are arrays, by the calls of C.

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <ysuite.hpp>

#include "loops.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_ysuite {

/// Handles that are taken one after the other.
template <class End> class Ends {
    std::vector<End> ends;

  public:
    explicit Ends(End &&first) { ends.push_back(std::move(first)); }

    /// The given number in total.
    Ends clones(std::size_t count) && {
        while (ends.size() < count) {
            ends.push_back(ends.front().clone());
        }
        return std::move(*this);
    }

    End take() {
        End end = std::move(ends.back());
        ends.pop_back();
        return end;
    }
};

/// The form of a message: for 8 bytes the number itself, as in the rows in Rust. (gcc 12 moves a structure of 8 bytes
/// through memory in an optional, three times as slowly as a number.)
template <std::size_t Words> const ybench::Message<Words> &content(const ybench::Message<Words> &message) { return message; }
inline std::size_t content(const ybench::Message<1> &message) { return message.word; }

template <class M> using Content = std::decay_t<decltype(content(std::declval<M>()))>;

/// Sends messages from a first number on, made in their slots.
template <class M> bool send_run(ys::sender<Content<M>> &tx, std::size_t first, std::size_t count) {
    while (count > 0) {
        ys::reservation<Content<M>> slots = tx.reserve();
        if (!slots) {
            if (slots.status() != ys::status::full || !tx.wait_room()) {
                return false;
            }
            continue;
        }
        for (; count > 0 && slots.emplace(content(M::numbered(first))) != nullptr; count--) {
            first++;
        }
        if (!slots.commit()) {
            return false;
        }
    }
    return true;
}

/// The receiver of spsc or mpsc.
template <class M> struct Slots {
    ys::receiver<Content<M>> rx;

    bool receive(M &message) {
        std::optional<Content<M>> next = rx.recv();
        if (!next) {
            return false;
        }
        message = M{*next};
        return true;
    }

    template <class Look> void receive_runs(Look look) {
        for (ys::run<Content<M>> &run : rx.runs()) {
            for (const Content<M> &message : run) {
                if (!look(M{message})) {
                    return;
                }
            }
        }
    }
};

/// Without a bound where there is no room.
template <class M, std::size_t Room> struct Spsc {
    using Message = M;
    static constexpr bool batches = true;
    static constexpr bool one_order = true;

    ys::pipe_channel<Content<M>> ends = open();

    Spsc(std::size_t, std::size_t) {}

    static ys::pipe_channel<Content<M>> open() {
        if constexpr (Room > 0) {
            return ys::pipe<Content<M>>(Room);
        } else {
            return ys::pipe<Content<M>>();
        }
    }

    struct Sender {
        ys::sender<Content<M>> tx;

        explicit Sender(Spsc &of) : tx(std::move(of.ends.tx)) {}
        bool send(const M &message) { return bool(tx.send(content(message))); }
        bool send_batch(std::size_t first, std::size_t count) { return send_run<M>(tx, first, count); }
    };

    struct Receiver : Slots<M> {
        explicit Receiver(Spsc &of) : Slots<M>{std::move(of.ends.rx)} {}
    };
};

/// The same, asleep as soon as nothing is ready.
template <class M> struct Sleeping : Spsc<M, 0> {
    using Spsc<M, 0>::Spsc;

    struct Receiver : Slots<M> {
        explicit Receiver(Sleeping &of) : Slots<M>{std::move(of.ends.rx)} { (void)this->rx.set_spin(ys::spin::none); }
    };
};

/// A lane for each sender.
template <class M, std::size_t Room> struct Mpsc {
    using Message = M;
    static constexpr bool batches = true;
    // One thread receives: no end overtakes messages that it has not seen.
    static constexpr bool one_order = true;

    Ends<ys::funnel_sender<Content<M>>> senders;
    ys::receiver<Content<M>> rx;

    Mpsc(std::size_t count, std::size_t) : Mpsc(open(), count) {}
    Mpsc(ys::funnel_channel<Content<M>> ends, std::size_t count)
        : senders(Ends<ys::funnel_sender<Content<M>>>(std::move(ends.tx)).clones(count)), rx(std::move(ends.rx)) {}

    static ys::funnel_channel<Content<M>> open() {
        if constexpr (Room > 0) {
            return ys::funnel<Content<M>>(Room);
        } else {
            return ys::funnel<Content<M>>();
        }
    }

    struct Sender {
        ys::funnel_sender<Content<M>> tx;

        explicit Sender(Mpsc &of) : tx(of.senders.take()) {}
        bool send(const M &message) { return bool(tx.send(content(message))); }
        bool send_batch(std::size_t first, std::size_t count) { return send_run<M>(tx, first, count); }
    };

    struct Receiver : Slots<M> {
        explicit Receiver(Mpsc &of) : Slots<M>{std::move(of.rx)} {}
    };
};

template <class M, std::size_t Room> struct Mpmc {
    using Message = M;
    static constexpr bool batches = true;
    static constexpr bool one_order = true;

    Ends<ys::exchange_sender<M>> senders;
    Ends<ys::exchange_receiver<M>> receivers;

    Mpmc(std::size_t senders, std::size_t receivers) : Mpmc(open(), senders, receivers) {}
    Mpmc(ys::exchange_channel<M> ends, std::size_t count, std::size_t receiving)
        : senders(Ends<ys::exchange_sender<M>>(std::move(ends.tx)).clones(count)),
          receivers(Ends<ys::exchange_receiver<M>>(std::move(ends.rx)).clones(receiving)) {}

    static ys::exchange_channel<M> open() {
        if constexpr (Room > 0) {
            return ys::exchange<M>(Room);
        } else {
            return ys::exchange<M>();
        }
    }

    struct Sender {
        /// Longer ones are sent in parts.
        static constexpr std::size_t longest = 256;

        ys::exchange_sender<M> tx;

        explicit Sender(Mpmc &of) : tx(of.senders.take()) {}
        bool send(const M &message) { return bool(tx.send(message)); }

        bool send_batch(std::size_t first, std::size_t count) {
            M made[longest];
            while (count > 0) {
                const std::size_t length = count < longest ? count : longest;
                for (std::size_t at = 0; at < length; at++) {
                    made[at] = M::numbered(first + at);
                }
                if (ys_send_batch(tx.raw(), made, length, -1) != static_cast<std::ptrdiff_t>(length)) {
                    return false;
                }
                first += length;
                count -= length;
            }
            return true;
        }
    };

    struct Receiver {
        ys::exchange_receiver<M> rx;

        explicit Receiver(Mpmc &of) : rx(of.receivers.take()) {}

        bool receive(M &message) {
            std::optional<M> next = rx.recv();
            if (!next) {
                return false;
            }
            message = *next;
            return true;
        }

        std::size_t receive_batch(M *into, std::size_t most) {
            const std::ptrdiff_t came = ys_recv_batch(rx.raw(), into, most, -1);
            return came > 0 ? static_cast<std::size_t>(came) : 0;
        }
    };
};

template <class M> using SpscUnbounded = Spsc<M, 0>;
template <class M> using SpscBounded = Spsc<M, 1024>;
template <class M> using MpscUnbounded = Mpsc<M, 0>;
template <class M> using MpscBounded = Mpsc<M, 1024>;
template <class M> using MpmcUnbounded = Mpmc<M, 0>;
template <class M> using MpmcBounded = Mpmc<M, 1024>;

// A message has 128 bytes at most.
YBENCH_EXPORT_SHORT(ysuite_cpp_spsc, SpscUnbounded)
YBENCH_EXPORT_SHORT(ysuite_cpp_spsc_1k, SpscBounded)
YBENCH_EXPORT_SHORT(ysuite_cpp_spsc_none, Sleeping)
YBENCH_EXPORT_SHORT(ysuite_cpp_mpsc, MpscUnbounded)
YBENCH_EXPORT_SHORT(ysuite_cpp_mpsc_1k, MpscBounded)
YBENCH_EXPORT_SHORT(ysuite_cpp_mpmc, MpmcUnbounded)
YBENCH_EXPORT_SHORT(ysuite_cpp_mpmc_1k, MpmcBounded)

} // namespace of_ysuite
