/* The loops of binding.h for messages of one size. Included once for each, with CHANNEL and BYTES. */

#define JOIN_NAMES(left, right) left##_##right
#define JOINED(left, right) JOIN_NAMES(left, right)
#define OF(what) JOINED(CHANNEL, what)
#define LOOP(what) JOINED(JOINED(binding, CHANNEL), what)
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

static bool LOOP(open)(bool window, ys_tx **tx, ys_rx **rx) {
    ys_options options = YS_OPTIONS_FOR(MESSAGE);
    if (!window) {
        options.window = 0;
    }
    return ys_pipe_open(&options, tx, rx) == YS_OK;
}

static bool LOOP(inlined)(ys_tx *sending, ys_rx *receiving, size_t count, size_t burst, size_t batch) {
    const OF(tx) tx = {sending};
    const OF(rx) rx = {receiving};
    size_t wrong = 0;
    (void)batch;
    for (size_t first = 0; first < count; first += burst) {
        for (size_t at = 0; at < burst; at++) {
            const MESSAGE message = LOOP(numbered)(first + at);
            wrong |= OF(send)(tx, &message) != YS_OK;
        }
        for (size_t at = 0; at < burst; at++) {
            MESSAGE message;
            if (OF(recv)(rx, &message) != YS_OK) {
                return false;
            }
            wrong |= ybench_number(message.words, WORDS) ^ (first + at);
        }
    }
    return wrong == 0;
}

static bool LOOP(calls)(ys_tx *tx, ys_rx *rx, size_t count, size_t burst, size_t batch) {
    size_t wrong = 0;
    (void)batch;
    for (size_t first = 0; first < count; first += burst) {
        for (size_t at = 0; at < burst; at++) {
            const MESSAGE message = LOOP(numbered)(first + at);
            wrong |= ys_send(tx, &message) != YS_OK;
        }
        for (size_t at = 0; at < burst; at++) {
            MESSAGE message;
            if (ys_recv(rx, &message) != YS_OK) {
                return false;
            }
            wrong |= ybench_number(message.words, WORDS) ^ (first + at);
        }
    }
    return wrong == 0;
}

static bool LOOP(runs)(ys_tx *sending, ys_rx *receiving, size_t count, size_t burst, size_t batch) {
    const OF(tx) tx = {sending};
    const OF(rx) rx = {receiving};
    size_t wrong = 0;
    (void)batch;
    for (size_t first = 0; first < count; first += burst) {
        for (size_t sent = 0; sent < burst;) {
            OF(slot) *slots;
            const ptrdiff_t room = OF(reserve)(tx, &slots);
            if (room <= 0) {
                return false;
            }
            const size_t length = (size_t)room < burst - sent ? (size_t)room : burst - sent;
            for (size_t at = 0; at < length; at++) {
                slots[at].message = LOOP(numbered)(first + sent + at);
            }
            wrong |= OF(commit)(tx, length) != (ptrdiff_t)length;
            sent += length;
        }
        for (size_t received = 0; received < burst;) {
            OF(slot) *slots;
            const ptrdiff_t came = OF(peek)(rx, &slots);
            if (came <= 0) {
                return false;
            }
            for (size_t at = 0; at < (size_t)came; at++) {
                wrong |= ybench_number(slots[at].message.words, WORDS) ^ (first + received + at);
            }
            wrong |= OF(consume)(rx, (size_t)came) != YS_OK;
            received += (size_t)came;
        }
    }
    return wrong == 0;
}

static bool LOOP(batches)(ys_tx *sending, ys_rx *receiving, size_t count, size_t burst, size_t batch) {
    enum { LONGEST = 64 };
    const OF(tx) tx = {sending};
    const OF(rx) rx = {receiving};
    MESSAGE messages[LONGEST];
    size_t wrong = 0;
    if (batch > LONGEST) {
        return false;
    }
    for (size_t first = 0; first < count; first += burst) {
        for (size_t sent = 0; sent < burst; sent += batch) {
            for (size_t at = 0; at < batch; at++) {
                messages[at] = LOOP(numbered)(first + sent + at);
            }
            wrong |= OF(send_batch)(tx, messages, batch, -1) != (ptrdiff_t)batch;
        }
        for (size_t received = 0; received < burst;) {
            const ptrdiff_t came = OF(recv_batch)(rx, messages, batch, -1);
            if (came <= 0) {
                return false;
            }
            for (size_t at = 0; at < (size_t)came; at++) {
                wrong |= ybench_number(messages[at].words, WORDS) ^ (first + received + at);
            }
            received += (size_t)came;
        }
    }
    return wrong == 0;
}

#undef WORDS
#undef MESSAGE
#undef LOOP
#undef OF
#undef JOINED
#undef JOIN_NAMES
