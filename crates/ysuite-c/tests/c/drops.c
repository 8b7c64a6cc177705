/* The callback: once for each message that is never received, and for no other, whichever handle is dropped first. */
#include "check.h"

enum { MESSAGES = 1000 };

typedef struct counted {
  uint64_t number;
  void *self; /* where it was written, for what must not be moved */
} counted;

YS_DEFINE_PIPE(pipes, counted);
YS_DEFINE_FUNNEL(funnels, counted);
YS_DEFINE_EXCHANGE(exchanges, counted);

/* How often each message was dropped or received. Atomic, as either side may find it. */
static unsigned char fates[MESSAGES];
static int is_in_place;

static void meet(uint64_t number) {
  CHECK(number < MESSAGES);
  CHECK_IS(__atomic_fetch_add(&fates[number], 1, __ATOMIC_RELAXED), 0);
}

static void drop(void *message, void *context) {
  const counted *m = (const counted *)message;
  CHECK(context == (void *)fates);
  if (is_in_place) CHECK(m->self == message);
  meet(m->number);
}

static ys_options dropping(void) {
  ys_options options = YS_OPTIONS_INIT;
  options.drop = drop;
  options.context = fates;
  return options;
}

static void all_met_once(uint64_t up_to) {
  for (uint64_t number = 0; number < MESSAGES; number++) CHECK_IS(fates[number], number < up_to);
  memset(fates, 0, sizeof fates);
}

#define KIND(kind)                                                                                         \
  static void kind##_that_end(void) {                                                                      \
    kind##_tx tx;                                                                                          \
    kind##_rx rx;                                                                                          \
    counted m = {0, NULL};                                                                                 \
    is_in_place = 0;                                                                                       \
    for (int order = 0; order < 4; order++) {                                                              \
      CHECK_IS(kind##_open_with(dropping(), &tx, &rx), YS_OK);                                             \
      for (m.number = 0; m.number < 700; m.number++) CHECK_IS(kind##_send(tx, &m), YS_OK);                 \
      for (int i = 0; i < 150; i++) {                                                                      \
        CHECK_IS(kind##_recv(rx, &m), YS_OK);                                                              \
        meet(m.number);                                                                                    \
      }                                                                                                    \
      if (order == 1) kind##_rx_free(rx), kind##_tx_free(tx);                                              \
      if (order == 0) kind##_tx_free(tx), kind##_rx_free(rx);                                              \
      if (order == 2) { /* a message that is refused is not dropped */                                     \
        kind##_rx_free(rx);                                                                                \
        CHECK_IS(kind##_send(tx, &m), YS_CLOSED);                                                          \
        CHECK_IS(kind##_try_send(tx, &m), YS_CLOSED);                                                      \
        CHECK_IS(kind##_send_batch(tx, &m, 1, 0), YS_CLOSED);                                              \
        kind##_tx_free(tx);                                                                                \
      }                                                                                                    \
      if (order == 3) { /* closed, and received completely */                                              \
        kind##_rx_close(rx);                                                                               \
        CHECK_IS(kind##_send(tx, &m), YS_CLOSED);                                                          \
        while (kind##_recv(rx, &m) == YS_OK) meet(m.number);                                               \
        kind##_tx_free(tx);                                                                                \
        kind##_rx_free(rx);                                                                                \
      }                                                                                                    \
      all_met_once(700);                                                                                   \
    }                                                                                                      \
  }                                                                                                        \
  static void *kind##_sends(void *arg) {                                                                   \
    const kind##_tx tx = *(kind##_tx *)arg;                                                                \
    counted m = {0, NULL};                                                                                 \
    while (m.number < MESSAGES && kind##_send(tx, &m) == YS_OK) m.number++;                                \
    kind##_tx_free(tx);                                                                                    \
    return (void *)(uintptr_t)m.number;                                                                    \
  }                                                                                                        \
  /* The receiver is dropped somewhere in the stream: what was sent is received or dropped. */                   \
  static void kind##_whose_ends_race(void) {                                                               \
    const int rounds = is_long() ? 20000 : 500;                                                            \
    uint64_t state = 88172645463325252u;                                                                   \
    is_in_place = 0;                                                                                       \
    for (int round = 0; round < rounds; round++) {                                                         \
      kind##_tx tx;                                                                                        \
      kind##_rx rx;                                                                                        \
      counted m;                                                                                           \
      void *sent;                                                                                          \
      ys_options options = dropping();                                                                     \
      options.capacity = round % 3 == 0 ? 0 : (size_t)(1 + round % 40);                                    \
      CHECK_IS(kind##_open_with(options, &tx, &rx), YS_OK);                                                \
      const pthread_t sender = started(kind##_sends, &tx);                                                 \
      for (uint64_t n = random_next(&state) % 200; n != 0 && kind##_recv(rx, &m) == YS_OK; n--) meet(m.number); \
      if (round % 2 == 0) kind##_rx_close(rx);                                                             \
      if (round % 4 == 0)                                                                                  \
        while (kind##_recv(rx, &m) == YS_OK) meet(m.number);                                               \
      kind##_rx_free(rx);                                                                                  \
      CHECK_IS(pthread_join(sender, &sent), 0);                                                            \
      all_met_once((uint64_t)(uintptr_t)sent);                                                             \
    }                                                                                                      \
  }

KIND(pipes)
KIND(funnels)
KIND(exchanges)

/* Messages with their own address in them are dropped there. */
#define IN_PLACE(kind)                                                                    \
  static void kind##_drop_where_messages_lie(void) {                                      \
    for (int order = 0; order < 2; order++) {                                             \
      kind##_tx tx;                                                                       \
      kind##_rx rx;                                                                       \
      kind##_slot *slots;                                                                 \
      uint64_t sent = 0, received = 0;                                                    \
      is_in_place = 1;                                                                    \
      CHECK_IS(kind##_open_with(dropping(), &tx, &rx), YS_OK);                            \
      while (sent < 900) {                                                                \
        ptrdiff_t room = kind##_reserve(tx, &slots);                                      \
        CHECK(room >= 1);                                                                 \
        if (room > 5) room = 5;                                                           \
        for (ptrdiff_t i = 0; i < room; i++) {                                            \
          slots[i].message.number = sent++;                                               \
          slots[i].message.self = &slots[i].message;                                      \
        }                                                                                 \
        CHECK_IS(kind##_commit(tx, (size_t)room), room);                                  \
      }                                                                                   \
      while (received < 300) {                                                            \
        ptrdiff_t run = kind##_peek(rx, &slots);                                          \
        CHECK(run >= 1);                                                                  \
        if (run > 3) run = 3;                                                             \
        for (ptrdiff_t i = 0; i < run; i++, received++) {                                 \
          CHECK(slots[i].message.self == (void *)&slots[i].message);                      \
          meet(slots[i].message.number);                                                  \
        }                                                                                 \
        CHECK_IS(kind##_consume(rx, (size_t)run), YS_OK);                                 \
      }                                                                                   \
      counted *taken;                                                                     \
      CHECK_IS(kind##_take(rx, &taken, 0), YS_OK);                                        \
      CHECK(taken->self == (void *)taken);                                                \
      meet(taken->number);                                                                \
      if (order == 0) kind##_rx_free(rx), kind##_tx_free(tx);                             \
      if (order == 1) kind##_tx_free(tx), kind##_rx_free(rx);                             \
      all_met_once(sent);                                                                 \
    }                                                                                     \
  }

IN_PLACE(pipes)
IN_PLACE(funnels)

static void what_was_hidden_is_dropped(void) {
  pipes_tx tx;
  pipes_rx rx;
  counted m = {0, NULL};
  is_in_place = 0;
  CHECK_IS(pipes_open_with(dropping(), &tx, &rx), YS_OK);
  for (m.number = 0; m.number < 50; m.number++) CHECK_IS(pipes_write(tx, &m), YS_OK);
  pipes_rx_free(rx);
  CHECK_IS(pipes_flush(tx), YS_CLOSED);
  all_met_once(50);
  pipes_tx_free(tx);
  all_met_once(0);

  /* Freeing sends what is hidden. */
  CHECK_IS(pipes_open_with(dropping(), &tx, &rx), YS_OK);
  for (m.number = 0; m.number < 50; m.number++) CHECK_IS(pipes_write(tx, &m), YS_OK);
  pipes_tx_free(tx);
  for (int i = 0; i < 20; i++) {
    CHECK_IS(pipes_recv(rx, &m), YS_OK);
    meet(m.number);
  }
  pipes_rx_free(rx);
  all_met_once(50);
}

static void oneshots(void) {
  ys_options options = dropping();
  counted m = {0, NULL};
  ys_tx *tx;
  ys_rx *rx;
  options.size = sizeof m;
  for (int order = 0; order < 3; order++) {
    CHECK_IS(ys_oneshot_open(&options, &tx, &rx), YS_OK);
    CHECK_IS(ys_send(tx, &m), YS_OK);
    if (order == 0) {
      CHECK_IS(ys_recv(rx, &m), YS_OK);
      meet(m.number);
    }
    if (order == 1) ys_tx_free(tx), ys_rx_free(rx);
    if (order != 1) ys_rx_free(rx), ys_tx_free(tx);
    all_met_once(1);
  }
}

int main(void) {
  RUN(pipes_that_end);
  RUN(funnels_that_end);
  RUN(exchanges_that_end);
  RUN(pipes_drop_where_messages_lie);
  RUN(funnels_drop_where_messages_lie);
  RUN(what_was_hidden_is_dropped);
  RUN(oneshots);
  RUN(pipes_whose_ends_race);
  RUN(funnels_whose_ends_race);
  RUN(exchanges_whose_ends_race);
  return 0;
}
