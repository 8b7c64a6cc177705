// One library's interface to the instrument for messages of one size: functions that hide its types. `src/table.rs` has
// the same, field by field.
#pragma once

#include <cstddef>

namespace ybench {

enum Word : std::size_t { kept = 0, wrong_number = 1, nobody_sends = 2, one_too_many = 3 };

/// Whether every message was received. If not, the expected and the received one.
struct Verdict {
    std::size_t word;
    std::size_t expected;
    std::size_t received;
};

/// The messages that one receiver has seen from one sender.
struct Row {
    /// The least number that may come.
    std::size_t next;
    std::size_t count;
    std::size_t sum;
};

/// The messages that one receiver has seen from all senders.
struct Rows {
    Row *rows;
    std::size_t senders;
    /// No number may be left out.
    bool alone;
    /// Ends of streams that are still to come.
    std::size_t ends;
};

struct Table {
    /// The bytes of a message.
    std::size_t bytes;
    /// Makes the given numbers of handles. False: it cannot run here.
    bool (*open)(std::size_t senders, std::size_t receivers, void **all_senders, void **all_receivers);
    void (*drop_sender)(void *sender);
    void (*drop_receiver)(void *receiver);
    /// One message. False: the peer is dropped.
    bool (*send)(void *sender, const void *message);
    bool (*receive)(void *receiver, void *message);
    /// A number of messages counting up from the first, one by one.
    bool (*pour)(void *sender, std::size_t first, std::size_t count);
    /// The end of a stream.
    bool (*finish)(void *sender);
    /// A number of messages counting up from 0, one by one.
    Verdict (*drain)(void *receiver, std::size_t count);
    /// Only the end may come.
    Verdict (*expect_end)(void *receiver);
    /// A number at a time; null where it has no batches.
    bool (*pour_batches)(void *sender, std::size_t count, std::size_t batch);
    /// Whether the end came in the same batch as the last messages.
    Verdict (*drain_batches)(void *receiver, std::size_t count, bool *ended);
    Verdict (*drain_rows)(void *receiver, Rows *rows);
    /// Sends each message and waits until it is back.
    Verdict (*serve)(void *sender, void *receiver, std::size_t bounces);
    /// Sends everything back, until the end.
    Verdict (*answer)(void *receiver, void *sender);
};

} // namespace ybench
