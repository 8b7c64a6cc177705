/* The inline path: every class of sizes, both sides, mixed with calls at random; open where it should be, and shut
 * elsewhere. */
#include "check.h"

enum { STEPS = 60000 };

/* Fills a message with its number, so that no byte of it can be another's. */
static void fill(unsigned char *bytes, size_t size, uint64_t number) {
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(number * 31 + i * 7 + (number >> 8));
}

static int is_filled(const unsigned char *bytes, size_t size, uint64_t number) {
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != (unsigned char)(number * 31 + i * 7 + (number >> 8))) return 0;
  return 1;
}

/* One thread is both sides, so that every step has one correct result. What is in the channel is `sent - received`. */
#define DEFINE_TEST(SIZE, ALIGN)                                                                                       \
  typedef struct m##SIZE##_##ALIGN {                                                                                   \
    _Alignas(ALIGN) unsigned char bytes[SIZE];                                                                         \
  } m##SIZE##_##ALIGN;                                                                                                 \
  YS_DEFINE_PIPE(pipe##SIZE##_##ALIGN, m##SIZE##_##ALIGN);                                                             \
  static void walk##SIZE##_##ALIGN(size_t capacity, uint64_t state) {                                                  \
    pipe##SIZE##_##ALIGN##_tx tx;                                                                                      \
    pipe##SIZE##_##ALIGN##_rx rx;                                                                                      \
    m##SIZE##_##ALIGN message, many[5];                                                                                \
    uint64_t sent = 0, received = 0;                                                                                   \
    CHECK_IS(sizeof message, SIZE);                                                                                    \
    CHECK_IS(pipe##SIZE##_##ALIGN##_open(capacity, &tx, &rx), YS_OK);                                                  \
    CHECK_IS(is_open_tx(tx.raw), has_windows());                                                                       \
    for (int step = 0; step < STEPS; step++) {                                                                         \
      const uint64_t dice = random_next(&state) % 32;                                                                  \
      const int has_room = capacity == 0 || sent - received < capacity;                                                \
      /* Long strides forwards and back, so that groups and chunks fill and empty. */                                  \
      const int forwards = (step / 700) % 2 == 0;                                                                      \
      if (forwards ? dice < 20 : dice < 8) {                                                                           \
        fill(message.bytes, SIZE, sent);                                                                               \
        if (dice % 4 != 0 && has_room)                                                                                 \
          CHECK_IS(pipe##SIZE##_##ALIGN##_send(tx, &message), YS_OK);                                                  \
        else                                                                                                           \
          CHECK_IS(pipe##SIZE##_##ALIGN##_try_send(tx, &message), has_room ? YS_OK : YS_FULL);                         \
        sent += (uint64_t)has_room;                                                                                    \
      } else if (dice < 28) {                                                                                          \
        const int answer = dice % 4 != 0 && sent != received ? pipe##SIZE##_##ALIGN##_recv(rx, &message)               \
                                                             : pipe##SIZE##_##ALIGN##_try_recv(rx, &message);          \
        CHECK_IS(answer, sent != received ? YS_OK : YS_EMPTY);                                                         \
        if (answer == YS_OK) CHECK(is_filled(message.bytes, SIZE, received++));                                        \
      } else if (dice == 28) {                                                                                         \
        pipe##SIZE##_##ALIGN##_slot *slots;                                                                            \
        ptrdiff_t room = pipe##SIZE##_##ALIGN##_reserve(tx, &slots);                                                   \
        CHECK(has_room ? room >= 1 : room == YS_FULL);                                                                 \
        if (room > 3) room = 3;                                                                                        \
        for (ptrdiff_t i = 0; i < room; i++) {                                                                         \
          CHECK_IS((uintptr_t)&slots[i] % YS_SLOT_ALIGN(ALIGN), 0);                                                    \
          fill(slots[i].message.bytes, SIZE, sent + (uint64_t)i);                                                      \
        }                                                                                                              \
        if (room > 0) {                                                                                                \
          CHECK_IS(pipe##SIZE##_##ALIGN##_commit(tx, (size_t)room), room);                                             \
          sent += (uint64_t)room;                                                                                      \
        }                                                                                                              \
      } else if (dice == 29) {                                                                                         \
        pipe##SIZE##_##ALIGN##_slot *slots;                                                                            \
        ptrdiff_t run = pipe##SIZE##_##ALIGN##_peek(rx, &slots);                                                       \
        CHECK(sent != received ? run >= 1 : run == YS_EMPTY);                                                          \
        if (run > 3) run = 3;                                                                                          \
        for (ptrdiff_t i = 0; i < run; i++)                                                                            \
          CHECK(is_filled(slots[i].message.bytes, SIZE, received + (uint64_t)i));                                      \
        if (run > 0) {                                                                                                 \
          CHECK_IS(pipe##SIZE##_##ALIGN##_consume(rx, (size_t)run), YS_OK);                                            \
          received += (uint64_t)run;                                                                                   \
        }                                                                                                              \
      } else if (dice == 30) {                                                                                         \
        const uint64_t room = capacity == 0 ? 5 : capacity - (sent - received);                                        \
        const ptrdiff_t fits = (ptrdiff_t)(room < 5 ? room : 5);                                                       \
        for (uint64_t i = 0; i < 5; i++) fill(many[i].bytes, SIZE, sent + i);                                          \
        CHECK_IS(pipe##SIZE##_##ALIGN##_send_batch(tx, many, 5, 0), fits != 0 ? fits : YS_FULL);                       \
        sent += (uint64_t)fits;                                                                                        \
      } else {                                                                                                         \
        const ptrdiff_t got = pipe##SIZE##_##ALIGN##_recv_batch(rx, many, 5, 0);                                       \
        CHECK(sent != received ? got >= 1 && got <= 5 : got == YS_EMPTY);                                              \
        for (ptrdiff_t i = 0; i < got; i++) CHECK(is_filled(many[i].bytes, SIZE, received++));                         \
      }                                                                                                                \
      CHECK(sent - received <= (capacity != 0 ? capacity : STEPS * 5));                                                \
    }                                                                                                                  \
    CHECK_IS(ys_rx_len(rx.raw), sent - received);                                                                      \
    pipe##SIZE##_##ALIGN##_tx_free(tx);                                                                                \
    while (pipe##SIZE##_##ALIGN##_recv(rx, &message) == YS_OK) CHECK(is_filled(message.bytes, SIZE, received++));      \
    CHECK_IS(received, sent);                                                                                          \
    CHECK_IS(pipe##SIZE##_##ALIGN##_try_recv(rx, &message), YS_CLOSED);                                                \
    pipe##SIZE##_##ALIGN##_rx_free(rx);                                                                                \
  }                                                                                                                    \
  static void messages_of_##SIZE##_at_##ALIGN(void) {                                                                  \
    walk##SIZE##_##ALIGN(0, 88172645463325252u + SIZE);                                                                \
    walk##SIZE##_##ALIGN(1, 88172645463325252u + SIZE);                                                                \
    walk##SIZE##_##ALIGN(100, 88172645463325252u + SIZE);                                                              \
    walk##SIZE##_##ALIGN(5000, 88172645463325252u + SIZE);                                                             \
  }

#define SIZES(of)                                                                                                        \
  of(1, 1) of(2, 2) of(3, 1) of(4, 4) of(5, 1) of(8, 8) of(12, 4) of(16, 8) of(17, 1) of(24, 8) of(31, 1) of(32, 8)      \
  of(40, 8) of(48, 8) of(56, 8) of(64, 8) of(80, 8) of(96, 8) of(100, 4) of(128, 8) of(16, 16) of(32, 16) of(48, 16)     \
  of(64, 16) of(80, 16) of(96, 16) of(112, 16) of(128, 16)

SIZES(DEFINE_TEST)

YS_DEFINE_PIPE(words, uint64_t);
YS_DEFINE_FUNNEL(many, uint64_t);
YS_DEFINE_EXCHANGE(both, uint64_t);

/* Shut where a call must be made each time, and open again afterwards. */
static void windows_are_open_only_where_they_may_be(void) {
  words_tx tx;
  words_rx rx;
  uint64_t word = 7;
  CHECK_IS(words_open(0, &tx, &rx), YS_OK);
  CHECK_IS(is_open_tx(tx.raw), has_windows());
  CHECK_IS(words_write(tx, &word), YS_OK);
  CHECK(!is_open_tx(tx.raw));
  CHECK_IS(words_try_recv(rx, &word), YS_EMPTY);
  CHECK_IS(is_open_rx(rx.raw), has_windows());
  CHECK_IS(words_flush(tx), YS_OK);
  CHECK_IS(is_open_tx(tx.raw), has_windows());
  CHECK_IS(words_recv(rx, &word), YS_OK);
  words_tx_close(tx);
  CHECK(!is_open_tx(tx.raw));
  CHECK_IS(words_send(tx, &word), YS_CLOSED);
  words_tx_free(tx);
  words_rx_free(rx);

  many_tx first;
  many_rx end;
  CHECK_IS(many_open(0, &first, &end), YS_OK);
  CHECK_IS(many_send(first, &word), YS_OK);
  CHECK_IS(is_open_tx(first.raw), has_windows());
  CHECK(!is_open_rx(end.raw));
  many_tx_free(first);
  many_rx_free(end);

  both_tx out;
  both_rx in;
  CHECK_IS(both_open(4, &out, &in), YS_OK);
  CHECK(!is_open_tx(out.raw) && !is_open_rx(in.raw));
  both_tx_free(out);
  both_rx_free(in);
}

static void versions_that_are_not_known_are_shut(void) {
  ys_options options = YS_OPTIONS_FOR(uint64_t);
  ys_tx *tx;
  ys_rx *rx;
  for (uint32_t version = 0; version < 4; version++) {
    uint64_t word = version;
    options.window = version;
    CHECK_IS(ys_pipe_open(&options, &tx, &rx), YS_OK);
    CHECK_IS(ys_send_inline(tx, &word, sizeof word, _Alignof(uint64_t)), YS_OK);
    if (version != YS_WINDOW_VERSION) CHECK(!is_open_tx(tx) && !is_open_rx(rx));
    word = 99;
    CHECK_IS(ys_recv_inline(rx, &word, sizeof word, _Alignof(uint64_t)), YS_OK);
    CHECK_IS(word, version);
    ys_tx_free(tx);
    ys_rx_free(rx);
  }
}

/* The receiver is gone: the next inline send reports it, and the message is the caller's. */
static void whoever_sends_inline_learns_of_the_end(void) {
  words_tx tx;
  words_rx rx;
  uint64_t word = 1;
  CHECK_IS(words_open(0, &tx, &rx), YS_OK);
  CHECK_IS(words_send(tx, &word), YS_OK);
  words_rx_free(rx);
  CHECK_IS(words_send(tx, &word), YS_CLOSED);
  CHECK_IS(words_try_send(tx, &word), YS_CLOSED);
  CHECK_IS(words_send_for(tx, &word, MILLISECOND), YS_CLOSED);
  words_tx_free(tx);
}

#define RUN_TEST(SIZE, ALIGN) RUN(messages_of_##SIZE##_at_##ALIGN);

int main(void) {
  SIZES(RUN_TEST)
  RUN(windows_are_open_only_where_they_may_be);
  RUN(versions_that_are_not_known_are_shut);
  RUN(whoever_sends_inline_learns_of_the_end);
  return 0;
}
