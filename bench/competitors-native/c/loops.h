/* The loops in which a clock runs, as a program in C has them: typed channels of ysuite.h, whose functions are compiled
   into the loop where the channel has a window. They do exactly what cpp/loops.hpp does. Included once for each size, with

     CHANNEL      the name of the typed channel
     DEFINE       the macro of ysuite.h that defines it
     BYTES        the bytes of a message
     CLONES_TX, CLONES_RX, HAS_RUNS    0 or 1: the abilities of this kind of channel

   The instrument's pointer is the handle itself. */

#define JOIN_NAMES(left, right) left##_##right
#define JOINED(left, right) JOIN_NAMES(left, right)
/* A name of the typed channel. */
#define OF(what) JOINED(CHANNEL, what)
/* A name of this size's loops. */
#define LOOP(what) JOINED(JOINED(loop, CHANNEL), what)
#define MESSAGE OF(message)
#define WORDS (BYTES / sizeof(size_t))

typedef struct MESSAGE {
    size_t words[WORDS];
} MESSAGE;

DEFINE(CHANNEL, MESSAGE);

static inline MESSAGE LOOP(numbered)(size_t number) {
    MESSAGE message;
    ybench_write_number(message.words, WORDS, number);
    return message;
}

static inline size_t LOOP(number)(const MESSAGE *message) { return ybench_number(message->words, WORDS); }

/* With room for `room` messages; 0: without a bound. */
static bool LOOP(open)(size_t room, int spin, size_t senders, size_t receivers, void **all_senders, void **all_receivers) {
    OF(tx) tx;
    OF(rx) rx;
    if (OF(open)(room, &tx, &rx) != YS_OK) {
        return false;
    }
    if (ys_tx_set_spin(tx.raw, spin) != YS_OK || ys_rx_set_spin(rx.raw, spin) != YS_OK) {
        return false;
    }
    all_senders[0] = tx.raw;
    all_receivers[0] = rx.raw;
#if CLONES_TX
    for (size_t at = 1; at < senders; at++) {
        OF(tx) other;
        if (OF(tx_clone)(tx, &other) != YS_OK) {
            /* Handles that were made already stay: the program reports it and continues without this one. */
            return false;
        }
        all_senders[at] = other.raw;
    }
#endif
#if CLONES_RX
    for (size_t at = 1; at < receivers; at++) {
        OF(rx) other;
        if (OF(rx_clone)(rx, &other) != YS_OK) {
            return false;
        }
        all_receivers[at] = other.raw;
    }
#endif
    return (CLONES_TX || senders == 1) && (CLONES_RX || receivers == 1);
}

static bool LOOP(send)(void *end, const void *bytes) {
    const OF(tx) tx = {end};
    MESSAGE message;
    memcpy(&message, bytes, sizeof message);
    return OF(send)(tx, &message) == YS_OK;
}

static bool LOOP(receive)(void *end, void *bytes) {
    const OF(rx) rx = {end};
    MESSAGE message;
    if (OF(recv)(rx, &message) != YS_OK) {
        return false;
    }
    memcpy(bytes, &message, sizeof message);
    return true;
}

static bool LOOP(pour)(void *end, size_t first, size_t count) {
    const OF(tx) tx = {end};
    for (size_t number = first; number != first + count; number++) {
        const MESSAGE message = LOOP(numbered)(number);
        if (OF(send)(tx, &message) != YS_OK) {
            return false;
        }
    }
    return true;
}

static bool LOOP(finish)(void *end) { return LOOP(pour)(end, YBENCH_END_OF_STREAM, 1); }

static Verdict LOOP(drain)(void *end, size_t count) {
    const OF(rx) rx = {end};
    for (size_t expected = 0; expected < count; expected++) {
        MESSAGE message;
        if (OF(recv)(rx, &message) != YS_OK) {
            return (Verdict){NOBODY_SENDS, expected, 0};
        }
        const size_t number = LOOP(number)(&message);
        if (number != expected) {
            return (Verdict){WRONG_NUMBER, expected, number};
        }
    }
    return (Verdict){KEPT, 0, 0};
}

static Verdict LOOP(expect_end)(void *end) {
    const OF(rx) rx = {end};
    MESSAGE message;
    if (OF(recv)(rx, &message) == YS_OK && LOOP(number)(&message) != YBENCH_END_OF_STREAM) {
        return (Verdict){ONE_TOO_MANY, 0, LOOP(number)(&message)};
    }
    return (Verdict){KEPT, 0, 0};
}

#if HAS_RUNS

/* Messages are made in their slots, as many at a time as there are adjacent slots. */
static bool LOOP(send_run)(OF(tx) tx, size_t first, size_t count) {
    while (count > 0) {
        OF(slot) *slots;
        const ptrdiff_t room = OF(reserve)(tx, &slots);
        if (room == YS_FULL) {
            if (OF(wait_room)(tx, -1) != YS_OK) {
                return false;
            }
            continue;
        }
        if (room < 0) {
            return false;
        }
        const size_t length = (size_t)room < count ? (size_t)room : count;
        for (size_t at = 0; at < length; at++) {
            slots[at].message = LOOP(numbered)(first + at);
        }
        if (OF(commit)(tx, length) != (ptrdiff_t)length) {
            return false;
        }
        first += length;
        count -= length;
    }
    return true;
}

/* Messages are read in place. */
static Verdict LOOP(drain_batches)(void *end, size_t count, bool *ended) {
    const OF(rx) rx = {end};
    *ended = false;
    size_t expected = 0;
    while (expected < count) {
        OF(slot) *slots;
        const ptrdiff_t came = OF(peek)(rx, &slots);
        if (came == YS_EMPTY && OF(wait)(rx, -1) == YS_OK) {
            continue;
        }
        if (came < 0) {
            return (Verdict){NOBODY_SENDS, expected, 0};
        }
        /* The end may come after the last messages. */
        const size_t due = (size_t)came < count - expected ? (size_t)came : count - expected;
        for (size_t at = 0; at < due; at++) {
            const size_t number = LOOP(number)(&slots[at].message);
            if (number != expected + at) {
                return (Verdict){WRONG_NUMBER, expected + at, number};
            }
        }
        expected += due;
        OF(consume)(rx, due);
    }
    return (Verdict){KEPT, 0, 0};
}

#else

/* An array is made and sent. */
static bool LOOP(send_run)(OF(tx) tx, size_t first, size_t count) {
    enum { LONGEST = 256 };
    MESSAGE made[LONGEST];
    while (count > 0) {
        const size_t length = count < LONGEST ? count : LONGEST;
        for (size_t at = 0; at < length; at++) {
            made[at] = LOOP(numbered)(first + at);
        }
        if (OF(send_batch)(tx, made, length, -1) != (ptrdiff_t)length) {
            return false;
        }
        first += length;
        count -= length;
    }
    return true;
}

static Verdict LOOP(drain_batches)(void *end, size_t count, bool *ended) {
    /* A batch stays in the nearest cache. */
    enum { TAKEN_AT_ONCE = 512 };
    const OF(rx) rx = {end};
    MESSAGE taken[TAKEN_AT_ONCE];
    *ended = false;
    size_t expected = 0;
    while (expected < count) {
        const ptrdiff_t came = OF(recv_batch)(rx, taken, TAKEN_AT_ONCE, -1);
        if (came < 0) {
            return (Verdict){NOBODY_SENDS, expected, 0};
        }
        /* The end may come in the same batch as the last messages. */
        const size_t due = (size_t)came < count - expected ? (size_t)came : count - expected;
        for (size_t at = 0; at < due; at++) {
            const size_t number = LOOP(number)(&taken[at]);
            if (number != expected + at) {
                return (Verdict){WRONG_NUMBER, expected + at, number};
            }
        }
        expected += due;
        if ((size_t)came > due) {
            const size_t number = LOOP(number)(&taken[due]);
            *ended = number == YBENCH_END_OF_STREAM;
            return (Verdict){*ended ? KEPT : ONE_TOO_MANY, expected, number};
        }
    }
    return (Verdict){KEPT, 0, 0};
}

#endif

static bool LOOP(pour_batches)(void *end, size_t count, size_t batch) {
    const OF(tx) tx = {end};
    for (size_t first = 0; first < count; first += batch) {
        if (!LOOP(send_run)(tx, first, batch < count - first ? batch : count - first)) {
            return false;
        }
    }
    return true;
}

static Verdict LOOP(drain_rows)(void *end, Rows *rows) {
    const OF(rx) rx = {end};
    /* A variable of its own: the loop need not check whether a message overwrote the pointer's target. */
    Rows seen = *rows;
    Verdict verdict = {KEPT, 0, 0};
    while (seen.ends > 0) {
        MESSAGE message;
        if (OF(recv)(rx, &message) != YS_OK) {
            return (Verdict){NOBODY_SENDS, seen.rows[0].next, 0};
        }
        const size_t number = LOOP(number)(&message);
        if (number == YBENCH_END_OF_STREAM) {
            seen.ends--;
        } else if (!ybench_check(&seen, number, &verdict)) {
            return verdict;
        }
    }
    *rows = seen;
    return verdict;
}

static Verdict LOOP(serve)(void *there, void *back, size_t bounces) {
    const OF(rx) rx = {back};
    for (size_t number = 0; number < bounces; number++) {
        /* A peer that is dropped is reported on the way back. */
        LOOP(pour)(there, number, 1);
        MESSAGE message;
        const bool came = OF(recv)(rx, &message) == YS_OK;
        if (!came || LOOP(number)(&message) != number) {
            LOOP(finish)(there);
            return (Verdict){came ? WRONG_NUMBER : NOBODY_SENDS, number, came ? LOOP(number)(&message) : 0};
        }
    }
    return (Verdict){KEPT, 0, 0};
}

static Verdict LOOP(answer)(void *there, void *back) {
    const OF(rx) rx = {there};
    const OF(tx) tx = {back};
    for (size_t expected = 0;; expected++) {
        MESSAGE message;
        if (OF(recv)(rx, &message) != YS_OK) {
            LOOP(finish)(back);
            return (Verdict){NOBODY_SENDS, expected, 0};
        }
        const size_t number = LOOP(number)(&message);
        if (number != expected) {
            LOOP(finish)(back);
            /* The other thread has the right number, and detects an early end itself. */
            return (Verdict){number == YBENCH_END_OF_STREAM ? KEPT : WRONG_NUMBER, expected, number};
        }
        if (OF(send)(tx, &message) != YS_OK) {
            return (Verdict){KEPT, 0, 0};
        }
    }
}

#undef WORDS
#undef MESSAGE
#undef LOOP
#undef OF
#undef JOINED
#undef JOIN_NAMES
