// The loops in which a clock runs, for any queue, compiled with it: no message crosses from one language into the
// other. They do the same as `scenario::throughput`, `many` and `ping_pong` of the instrument in Rust.
//
// A channel is a type `Channel` with
//
//   Channel::Message                        one of `Message<Words>`
//   Channel(senders, receivers)             may throw where it cannot run
//   Channel::Sender(channel)                bool send(const Message &)      false: no receiver is left
//   Channel::Receiver(channel)              bool receive(Message &)         false: no sender is left
//
// With `Channel::batches` a sender has `bool send_batch(first, count)` too, and a receiver `size_t
// receive_batch(Message *, most)`, which waits for the first of them; or `receive_runs(look)`, which passes every
// message in place, until `look` returns false or no sender is left. Without `Channel::one_order` a receiver has `bool
// look(Message &)`, which never waits.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "message.hpp"
#include "table.hpp"

namespace ybench {

/// One handle, which keeps the channel.
template <class Channel, class End> struct Held {
    // The handle is dropped first.
    std::shared_ptr<Channel> channel;
    End end;

    explicit Held(const std::shared_ptr<Channel> &of) : channel(of), end(*of) {}
};

/// Whether a receiver passes messages in place.
template <class Receiver, class Message, class = void> struct HasRuns : std::false_type {};
template <class Receiver, class Message>
struct HasRuns<Receiver, Message, std::void_t<decltype(std::declval<Receiver &>().receive_runs(std::declval<bool (*)(const Message &)>()))>>
    : std::true_type {};

template <class Channel> struct Loops {
    using Message = typename Channel::Message;
    using Sender = typename Channel::Sender;
    using Receiver = typename Channel::Receiver;
    using HeldSender = Held<Channel, Sender>;
    using HeldReceiver = Held<Channel, Receiver>;

    /// The most messages that a receiver of batches takes at once: they stay in its nearest cache.
    static constexpr std::size_t taken_at_once = 512;

    static Sender &sender(void *end) { return static_cast<HeldSender *>(end)->end; }
    static Receiver &receiver(void *end) { return static_cast<HeldReceiver *>(end)->end; }

    static bool open(std::size_t senders, std::size_t receivers, void **all_senders, void **all_receivers) {
        try {
            const auto channel = std::make_shared<Channel>(senders, receivers);
            // Receivers first: there are sockets that must be bound before others connect to them.
            for (std::size_t at = 0; at < receivers; at++) {
                all_receivers[at] = new HeldReceiver(channel);
            }
            for (std::size_t at = 0; at < senders; at++) {
                all_senders[at] = new HeldSender(channel);
            }
            return true;
        } catch (const std::exception &) {
            // Handles that were made already stay: the program reports it and continues without this one.
            return false;
        }
    }

    static void drop_sender(void *end) { delete static_cast<HeldSender *>(end); }
    static void drop_receiver(void *end) { delete static_cast<HeldReceiver *>(end); }

    static bool send(void *end, const void *bytes) {
        Message message;
        std::memcpy(&message, bytes, sizeof message);
        return sender(end).send(message);
    }

    static bool receive(void *end, void *bytes) {
        Message message;
        if (!receiver(end).receive(message)) {
            return false;
        }
        std::memcpy(bytes, &message, sizeof message);
        return true;
    }

    static bool pour(void *end, std::size_t first, std::size_t count) {
        Sender &out = sender(end);
        for (std::size_t number = first; number != first + count; number++) {
            if (!out.send(Message::numbered(number))) {
                return false;
            }
        }
        return true;
    }

    static bool finish(void *end) { return sender(end).send(Message::numbered(end_of_stream)); }

    static Verdict drain(void *end, std::size_t count) {
        Receiver &in = receiver(end);
        for (std::size_t expected = 0; expected < count; expected++) {
            Message message;
            if (!in.receive(message)) {
                return {nobody_sends, expected, 0};
            }
            if (message.number() != expected) {
                return {wrong_number, expected, message.number()};
            }
        }
        return {kept, 0, 0};
    }

    static Verdict expect_end(void *end) {
        Message message;
        if (receiver(end).receive(message) && message.number() != end_of_stream) {
            return {one_too_many, 0, message.number()};
        }
        return {kept, 0, 0};
    }

    static bool pour_batches(void *end, std::size_t count, std::size_t batch) {
        Sender &out = sender(end);
        for (std::size_t first = 0; first < count; first += batch) {
            const std::size_t length = batch < count - first ? batch : count - first;
            if (!out.send_batch(first, length)) {
                return false;
            }
        }
        return true;
    }

    static Verdict drain_batches(void *end, std::size_t count, bool *ended) {
        Receiver &in = receiver(end);
        const auto taken = std::make_unique<Message[]>(taken_at_once);
        *ended = false;
        std::size_t expected = 0;
        while (expected < count) {
            const std::size_t came = in.receive_batch(taken.get(), taken_at_once);
            if (came == 0) {
                return {nobody_sends, expected, 0};
            }
            // The end may come in the same batch as the last messages.
            const std::size_t due = came < count - expected ? came : count - expected;
            for (std::size_t at = 0; at < due; at++) {
                if (taken[at].number() != expected + at) {
                    return {wrong_number, expected + at, taken[at].number()};
                }
            }
            expected += due;
            if (came > due) {
                *ended = taken[due].number() == end_of_stream;
                return {*ended ? kept : one_too_many, expected, taken[due].number()};
            }
        }
        return {kept, 0, 0};
    }

    static Verdict drain_runs(void *end, std::size_t count, bool *ended) {
        *ended = false;
        std::size_t expected = 0;
        Verdict verdict{kept, 0, 0};
        receiver(end).receive_runs([&](const Message &message) {
            const std::size_t number = message.number();
            if (number != expected) {
                verdict = {wrong_number, expected, number};
                return false;
            }
            return ++expected < count;
        });
        if (verdict.word == kept && expected < count) {
            verdict = {nobody_sends, expected, 0};
        }
        return verdict;
    }

    /// The number of bits of a message's number within its sender's sequence.
    static constexpr unsigned row_bits = 40;

    static bool check(Rows &rows, std::size_t number, Verdict &verdict) {
        const std::size_t from = number >> row_bits;
        const std::size_t message = number & ((std::size_t{1} << row_bits) - 1);
        if (from >= rows.senders) {
            verdict = {one_too_many, 0, number};
            return false;
        }
        Row &row = rows.rows[from];
        if (message < row.next || (rows.alone && message > row.next)) {
            verdict = {wrong_number, from << row_bits | row.next, number};
            return false;
        }
        row = {message + 1, row.count + 1, row.sum + message};
        return true;
    }

    static Verdict drain_rows(void *end, Rows *rows) {
        Receiver &in = receiver(end);
        // A variable of its own: the loop need not check whether a message overwrote the pointer's target.
        Rows seen = *rows;
        Verdict verdict{kept, 0, 0};
        while (seen.ends > 0) {
            Message message;
            if (!in.receive(message)) {
                return {nobody_sends, seen.rows[0].next, 0};
            }
            const std::size_t number = message.number();
            if (number == end_of_stream) {
                seen.ends--;
            } else if (!check(seen, number, verdict)) {
                return verdict;
            }
        }
        if constexpr (!Channel::one_order) {
            if (!seen.alone) {
                rest(end, seen, verdict);
            }
        }
        *rows = seen;
        return verdict;
    }

    /// Without one order of all messages, an end may overtake messages that other senders have sent before it.
    /// Everything is in the queue by then. A receiver with its own end takes all that it finds. One that finds another
    /// receiver's end puts it back and leaves the rest to that one.
    static void rest(void *end, Rows &rows, Verdict &verdict) {
        auto *held = static_cast<HeldReceiver *>(end);
        Message message;
        while (verdict.word == kept && held->end.look(message)) {
            if (message.number() == end_of_stream) {
                Sender back(*held->channel);
                back.send(message);
                return;
            }
            check(rows, message.number(), verdict);
        }
    }

    static Verdict serve(void *there, void *back, std::size_t bounces) {
        Sender &out = sender(there);
        Receiver &in = receiver(back);
        for (std::size_t number = 0; number < bounces; number++) {
            // A peer that is dropped is reported on the way back.
            out.send(Message::numbered(number));
            Message message;
            const bool came = in.receive(message);
            if (!came || message.number() != number) {
                out.send(Message::numbered(end_of_stream));
                return {came ? wrong_number : nobody_sends, number, came ? message.number() : 0};
            }
        }
        return {kept, 0, 0};
    }

    static Verdict answer(void *there, void *back) {
        Receiver &in = receiver(there);
        Sender &out = sender(back);
        for (std::size_t expected = 0;; expected++) {
            Message message;
            if (!in.receive(message)) {
                out.send(Message::numbered(end_of_stream));
                return {nobody_sends, expected, 0};
            }
            if (message.number() != expected) {
                out.send(Message::numbered(end_of_stream));
                // The other thread has the right number, and detects an early end itself.
                return {message.number() == end_of_stream ? kept : wrong_number, expected, message.number()};
            }
            if (!out.send(message)) {
                return {kept, 0, 0};
            }
        }
    }

    static constexpr Table table() {
        Table table{sizeof(Message), open,        drop_sender, drop_receiver, send,    receive,    pour,  finish,
                    drain,           expect_end,  nullptr,     nullptr,       drain_rows, serve,   answer};
        if constexpr (Channel::batches) {
            table.pour_batches = pour_batches;
            if constexpr (HasRuns<Receiver, Message>::value) {
                table.drain_batches = drain_runs;
            } else {
                table.drain_batches = drain_batches;
            }
        }
        return table;
    }
};

/// A placeholder for a channel that has no room for such messages: it is never opened.
template <class M> struct TooLong {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    TooLong(std::size_t, std::size_t) { throw std::length_error("such messages are too long for it"); }

    struct Sender {
        explicit Sender(TooLong &) {}
        bool send(const M &) { return false; }
    };

    struct Receiver {
        explicit Receiver(TooLong &) {}
        bool receive(M &) { return false; }
    };
};

/// For messages of 8, 24, 64 and 256 bytes; the last by another.
template <template <class> class Channel, template <class> class Longest = Channel> const Table *tables() {
    static constexpr Table all[] = {
        Loops<Channel<Message<1>>>::table(),
        Loops<Channel<Message<3>>>::table(),
        Loops<Channel<Message<8>>>::table(),
        Loops<Longest<Message<32>>>::table(),
    };
    return all;
}

} // namespace ybench

/// The instrument's function for the channel.
#define YBENCH_EXPORT(name, Channel)                                                                                              \
    extern "C" const ybench::Table *ybench_native_##name() { return ybench::tables<Channel>(); }

/// The same for one that takes no messages of 256 bytes.
#define YBENCH_EXPORT_SHORT(name, Channel)                                                                                        \
    extern "C" const ybench::Table *ybench_native_##name() { return ybench::tables<Channel, ybench::TooLong>(); }
