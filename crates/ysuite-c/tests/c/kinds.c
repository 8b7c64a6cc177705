/* Each kind of channel: every way to send and to receive, its results, and the disconnect. */
#include "check.h"

typedef struct pair {
  uint64_t a, b;
} pair;

YS_DEFINE_PIPE(pipes, pair);
YS_DEFINE_FUNNEL(funnels, pair);
YS_DEFINE_EXCHANGE(exchanges, pair);

static const pair one = {1, 10}, two = {2, 20};

/* What every kind with a bound of 2 does, by its functions' common names. */
#define BOUND_OF_TWO(kind)                                                                    \
  static void a_bounded_##kind(void) {                                                        \
    kind##_tx tx;                                                                             \
    kind##_rx rx;                                                                             \
    pair got = {0, 0}, many[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};                            \
    CHECK_IS(kind##_open(2, &tx, &rx), YS_OK);                                                \
    CHECK(ys_tx_channel(tx.raw) != NULL);                                                     \
    CHECK(ys_tx_channel(tx.raw) == ys_rx_channel(rx.raw));                                    \
    CHECK_IS(kind##_try_recv(rx, &got), YS_EMPTY);                                            \
    CHECK_IS(kind##_recv_for(rx, &got, 0), YS_EMPTY);                                         \
    CHECK_IS(kind##_recv_for(rx, &got, MILLISECOND), YS_TIMEOUT);                             \
    CHECK_IS(kind##_recv_batch(rx, many, 4, 0), YS_EMPTY);                                    \
    CHECK_IS(kind##_recv_batch(rx, many, 4, MILLISECOND), YS_TIMEOUT);                        \
    CHECK_IS(kind##_recv_batch(rx, many, 0, 0), 0);                                           \
    CHECK_IS(kind##_recv_batch(rx, NULL, 0, -1), 0);                                          \
    CHECK_IS(kind##_send(tx, &one), YS_OK);                                                   \
    CHECK_IS(kind##_try_send(tx, &two), YS_OK);                                               \
    CHECK_IS(ys_tx_len(tx.raw), 2);                                                           \
    CHECK_IS(ys_rx_len(rx.raw), 2);                                                           \
    CHECK_IS(kind##_try_send(tx, &two), YS_FULL);                                             \
    CHECK_IS(kind##_send_for(tx, &two, 0), YS_FULL);                                          \
    CHECK_IS(kind##_send_for(tx, &two, MILLISECOND), YS_TIMEOUT);                             \
    CHECK_IS(kind##_send_batch(tx, many, 4, 0), YS_FULL);                                     \
    CHECK_IS(kind##_send_batch(tx, many, 4, MILLISECOND), YS_TIMEOUT);                        \
    CHECK_IS(kind##_send_batch(tx, many, 0, 0), 0);                                           \
    CHECK_IS(kind##_recv(rx, &got), YS_OK);                                                   \
    CHECK(got.a == 1 && got.b == 10);                                                         \
    CHECK_IS(kind##_recv_for(rx, &got, -1), YS_OK);                                           \
    CHECK(got.a == 2 && got.b == 20);                                                         \
    for (uint64_t i = 0; i < 4; i++) many[i] = (pair){i, i};                                  \
    CHECK_IS(kind##_send_batch(tx, many, 4, MILLISECOND), 2);                                 \
    CHECK_IS(kind##_recv_batch(rx, many + 2, 2, -1), 2);                                      \
    CHECK(many[2].a == 0 && many[3].a == 1);                                                  \
    CHECK_IS(kind##_send(tx, &one), YS_OK);                                                   \
    CHECK_IS(ys_tx_is_closed(tx.raw), 0);                                                     \
    CHECK_IS(ys_rx_is_closed(rx.raw), 0);                                                     \
    CHECK_IS(ys_tx_wait_closed(tx.raw, 0), YS_TIMEOUT);                                       \
    CHECK_IS(kind##_tx_close(tx), YS_OK);                                                     \
    CHECK_IS(kind##_tx_close(tx), YS_CLOSED);                                                 \
    CHECK_IS(kind##_send(tx, &one), YS_CLOSED);                                               \
    CHECK_IS(kind##_try_send(tx, &one), YS_CLOSED);                                           \
    CHECK_IS(kind##_send_for(tx, &one, -1), YS_CLOSED);                                       \
    CHECK_IS(kind##_send_batch(tx, many, 4, -1), YS_CLOSED);                                  \
    CHECK_IS(kind##_send_batch(tx, many, 0, -1), 0);                                          \
    CHECK_IS(kind##_recv_batch(rx, many, 0, -1), 0);                                          \
    CHECK_IS(ys_rx_is_closed(rx.raw), 1);                                                     \
    CHECK_IS(kind##_recv(rx, &got), YS_OK);                                                   \
    CHECK(got.a == 1);                                                                        \
    CHECK_IS(kind##_recv(rx, &got), YS_CLOSED);                                               \
    CHECK_IS(kind##_try_recv(rx, &got), YS_CLOSED);                                           \
    CHECK_IS(kind##_recv_for(rx, &got, -1), YS_CLOSED);                                       \
    CHECK_IS(kind##_recv_batch(rx, many, 4, -1), YS_CLOSED);                                  \
    CHECK_IS(kind##_recv_batch(rx, many, 0, 0), YS_CLOSED);                                   \
    CHECK_IS(kind##_recv_batch(rx, NULL, 0, -1), YS_CLOSED);                                  \
    kind##_tx_free(tx);                                                                       \
    kind##_rx_free(rx);                                                                       \
                                                                                              \
    CHECK_IS(kind##_open(2, &tx, &rx), YS_OK);                                                \
    CHECK_IS(kind##_send(tx, &one), YS_OK);                                                   \
    CHECK_IS(kind##_rx_close(rx), YS_OK);                                                     \
    CHECK_IS(kind##_rx_close(rx), YS_CLOSED);                                                 \
    CHECK_IS(kind##_send(tx, &two), YS_CLOSED);                                               \
    CHECK_IS(ys_tx_is_closed(tx.raw), 1);                                                     \
    CHECK_IS(ys_tx_wait_closed(tx.raw, -1), YS_OK);                                           \
    CHECK_IS(kind##_recv(rx, &got), YS_OK);                                                   \
    CHECK_IS(kind##_recv(rx, &got), YS_CLOSED);                                               \
    kind##_rx_free(rx);                                                                       \
    CHECK_IS(kind##_try_send(tx, &two), YS_CLOSED);                                           \
    kind##_tx_free(tx);                                                                       \
  }                                                                                           \
  static void a_##kind##_without_a_bound(void) {                                              \
    kind##_tx tx;                                                                             \
    kind##_rx rx;                                                                             \
    pair got;                                                                                 \
    CHECK_IS(kind##_open(0, &tx, &rx), YS_OK);                                                \
    for (uint64_t i = 0; i < 20000; i++) CHECK_IS(kind##_try_send(tx, &(pair){i, ~i}), YS_OK); \
    for (uint64_t i = 0; i < 20000; i++) {                                                    \
      CHECK_IS(kind##_try_recv(rx, &got), YS_OK);                                             \
      CHECK(got.a == i && got.b == ~i);                                                       \
    }                                                                                         \
    CHECK_IS(kind##_try_recv(rx, &got), YS_EMPTY);                                            \
    for (int spin = YS_SPIN_NONE; spin <= YS_SPIN_FOREVER; spin++) {                          \
      CHECK_IS(ys_tx_set_spin(tx.raw, spin), YS_OK);                                          \
      CHECK_IS(ys_rx_set_spin(rx.raw, spin), YS_OK);                                          \
      CHECK_IS(kind##_recv_for(rx, &got, MILLISECOND), YS_TIMEOUT);                           \
    }                                                                                         \
    kind##_rx_free(rx);                                                                       \
    CHECK_IS(kind##_send(tx, &one), YS_CLOSED);                                               \
    kind##_tx_free(tx);                                                                       \
  }

BOUND_OF_TWO(pipes)
BOUND_OF_TWO(funnels)
BOUND_OF_TWO(exchanges)

#define IN_PLACE(kind)                                                              \
  static void messages_of_##kind##_in_their_slots(void) {                           \
    kind##_tx tx;                                                                   \
    kind##_rx rx;                                                                   \
    kind##_slot *slots;                                                             \
    pair *taken, got;                                                               \
    CHECK_IS(kind##_open(3, &tx, &rx), YS_OK);                                      \
    CHECK_IS(kind##_peek(rx, &slots), YS_EMPTY);                                    \
    CHECK_IS(kind##_take(rx, &taken, 0), YS_EMPTY);                                 \
    CHECK_IS(kind##_take(rx, &taken, MILLISECOND), YS_TIMEOUT);                     \
    CHECK_IS(kind##_wait(rx, 0), YS_EMPTY);                                         \
    CHECK_IS(kind##_wait(rx, MILLISECOND), YS_TIMEOUT);                             \
    CHECK_IS(kind##_wait_room(tx, 0), YS_OK);                                       \
    ptrdiff_t room = kind##_reserve(tx, &slots);                                    \
    CHECK(room >= 1 && room <= 3);                                                  \
    slots[0].message = one;                                                         \
    CHECK_IS(kind##_commit(tx, 0), 0);                                              \
    CHECK_IS(kind##_try_recv(rx, &got), YS_EMPTY);                                  \
    uint64_t sent = 0;                                                              \
    while ((room = kind##_reserve(tx, &slots)) > 0) {                               \
      for (ptrdiff_t i = 0; i < room; i++) slots[i].message = (pair){sent++, 5};    \
      CHECK_IS(kind##_commit(tx, (size_t)room), room);                              \
    }                                                                               \
    CHECK_IS(room, YS_FULL);                                                        \
    CHECK_IS(sent, 3);                                                              \
    CHECK_IS(kind##_wait_room(tx, 0), YS_FULL);                                     \
    CHECK_IS(kind##_wait_room(tx, MILLISECOND), YS_TIMEOUT);                        \
    CHECK_IS(kind##_wait(rx, -1), YS_OK);                                           \
    CHECK_IS(kind##_take(rx, &taken, -1), YS_OK);                                   \
    CHECK(taken->a == 0 && taken->b == 5);                                          \
    CHECK(kind##_peek(rx, &slots) >= 1);                                            \
    CHECK_IS(slots[0].message.a, 1);                                                \
    CHECK(kind##_peek(rx, &slots) >= 1);                                            \
    CHECK_IS(slots[0].message.a, 1);                                                \
    CHECK_IS(kind##_consume(rx, 4), YS_EINVAL);                                     \
    CHECK_IS(kind##_consume(rx, 1), YS_OK);                                         \
    CHECK_IS(kind##_recv(rx, &got), YS_OK);                                         \
    CHECK_IS(got.a, 2);                                                             \
    CHECK_IS(kind##_write(tx, &one), YS_OK);                                        \
    CHECK_IS(kind##_try_recv(rx, &got), YS_EMPTY);                                  \
    CHECK_IS(kind##_flush(tx), YS_OK);                                              \
    CHECK_IS(kind##_try_recv(rx, &got), YS_OK);                                     \
    CHECK_IS(kind##_write(tx, &one), YS_OK);                                        \
    CHECK_IS(kind##_send(tx, &two), YS_OK);                                         \
    CHECK_IS(kind##_recv(rx, &got), YS_OK);                                         \
    CHECK_IS(got.a, 1);                                                             \
    CHECK_IS(kind##_recv(rx, &got), YS_OK);                                         \
    CHECK_IS(got.a, 2);                                                             \
    CHECK_IS(kind##_reserve(tx, &slots) >= 1, 1);                                   \
    CHECK_IS(kind##_commit(tx, 1000), YS_EINVAL);                                   \
    /* After the receiver is dropped the messages are the caller's, in their slots. */   \
    slots[0].message = two;                                                         \
    kind##_rx_free(rx);                                                             \
    CHECK_IS(kind##_commit(tx, 1), YS_CLOSED);                                      \
    CHECK_IS(slots[0].message.b, 20);                                               \
    /* A reservation need not see the disconnect; a commit does. */            \
    room = kind##_reserve(tx, &slots);                                              \
    CHECK(room == YS_CLOSED || (room >= 1 && kind##_commit(tx, 1) == YS_CLOSED));   \
    CHECK_IS(kind##_wait_room(tx, -1), YS_CLOSED);                                  \
    CHECK_IS(kind##_flush(tx), YS_CLOSED);                                          \
    kind##_tx_free(tx);                                                             \
  }

IN_PLACE(pipes)
IN_PLACE(funnels)

static void senders_of_a_funnel(void) {
  funnels_tx tx, other, third;
  funnels_rx rx;
  pair got;
  ys_options options = YS_OPTIONS_INIT;
  options.capacity = 1;
  options.senders = 2;
  CHECK_IS(funnels_open_with(options, &tx, &rx), YS_OK);
  CHECK_IS(funnels_tx_clone(tx, &other), YS_OK);
  CHECK(ys_tx_channel(other.raw) == ys_tx_channel(tx.raw));
  CHECK_IS(funnels_tx_clone(tx, &third), YS_ETOOMANY);
  CHECK_IS(funnels_try_send(tx, &one), YS_OK);
  CHECK_IS(funnels_try_send(tx, &one), YS_FULL);
  CHECK_IS(funnels_try_send(other, &two), YS_OK);
  CHECK_IS(ys_rx_len(rx.raw), 2);
  funnels_tx_free(tx);
  uint64_t sum = 0;
  for (int i = 0; i < 2; i++) {
    CHECK_IS(funnels_recv(rx, &got), YS_OK);
    sum += got.a;
  }
  CHECK_IS(sum, 3);
  CHECK_IS(funnels_try_recv(rx, &got), YS_EMPTY);
  funnels_tx_free(other);
  CHECK_IS(funnels_recv(rx, &got), YS_CLOSED);
  funnels_rx_free(rx);
}

static void ends_of_an_exchange(void) {
  exchanges_tx tx, other;
  exchanges_rx rx, another;
  pair got;
  CHECK_IS(exchanges_open(8, &tx, &rx), YS_OK);
  CHECK_IS(exchanges_tx_clone(tx, &other), YS_OK);
  CHECK_IS(exchanges_rx_clone(rx, &another), YS_OK);
  CHECK(ys_rx_channel(another.raw) == ys_tx_channel(tx.raw));
  CHECK_IS(exchanges_send(other, &one), YS_OK);
  CHECK_IS(exchanges_send(tx, &two), YS_OK);
  CHECK_IS(exchanges_recv(another, &got), YS_OK);
  CHECK_IS(got.a, 1);
  exchanges_rx_free(another);
  exchanges_tx_free(tx);
  CHECK_IS(exchanges_recv(rx, &got), YS_OK);
  CHECK_IS(got.a, 2);
  CHECK_IS(exchanges_try_recv(rx, &got), YS_EMPTY);
  exchanges_tx_free(other);
  CHECK_IS(exchanges_recv(rx, &got), YS_CLOSED);
  exchanges_rx_free(rx);
  CHECK_IS(ys_reserve(NULL, NULL), YS_EINVAL);
}

static void what_a_kind_cannot_do(void) {
  exchanges_tx tx;
  exchanges_rx rx;
  ys_options options = YS_OPTIONS_FOR(pair);
  ys_tx *sender, *clone;
  ys_rx *receiver, *copy;
  void *at;
  CHECK_IS(exchanges_open(8, &tx, &rx), YS_OK);
  CHECK_IS(ys_reserve(tx.raw, &at), YS_ENOTSUP);
  CHECK_IS(ys_commit(tx.raw, 0), YS_ENOTSUP);
  CHECK_IS(ys_commit(tx.raw, 1), YS_ENOTSUP);
  CHECK_IS(ys_write(tx.raw, &one), YS_ENOTSUP);
  CHECK_IS(ys_flush(tx.raw), YS_ENOTSUP);
  CHECK_IS(ys_wait_room(tx.raw, 0), YS_ENOTSUP);
  CHECK_IS(ys_peek(rx.raw, &at), YS_ENOTSUP);
  CHECK_IS(ys_consume(rx.raw, 0), YS_ENOTSUP);
  CHECK_IS(ys_consume(rx.raw, 1), YS_ENOTSUP);
  CHECK_IS(ys_take(rx.raw, &at, 0), YS_ENOTSUP);
  CHECK_IS(ys_wait(rx.raw, 0), YS_ENOTSUP);
  exchanges_tx_free(tx);
  exchanges_rx_free(rx);

  CHECK_IS(ys_pipe_open(&options, &sender, &receiver), YS_OK);
  CHECK_IS(ys_tx_clone(sender, &clone), YS_ENOTSUP);
  CHECK(clone == NULL);
  CHECK_IS(ys_rx_clone(receiver, &copy), YS_ENOTSUP);
  CHECK(copy == NULL);
  ys_tx_free(sender);
  ys_rx_free(receiver);
}

static void a_oneshot(void) {
  ys_options options = YS_OPTIONS_FOR(pair);
  ys_tx *tx;
  ys_rx *rx;
  pair got = {0, 0};
  CHECK_IS(ys_oneshot_open(&options, &tx, &rx), YS_OK);
  CHECK_IS(ys_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(ys_wait(rx, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_recv_for(rx, &got, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_send(tx, &two), YS_OK);
  CHECK_IS(ys_send(tx, &two), YS_CLOSED);
  CHECK_IS(ys_wait(rx, -1), YS_OK);
  CHECK_IS(ys_recv(rx, &got), YS_OK);
  CHECK(got.a == 2 && got.b == 20);
  CHECK_IS(ys_recv(rx, &got), YS_CLOSED);
  ys_tx_free(tx);
  ys_rx_free(rx);

  CHECK_IS(ys_oneshot_open(&options, &tx, &rx), YS_OK);
  ys_tx_free(tx);
  CHECK_IS(ys_recv(rx, &got), YS_CLOSED);
  ys_rx_free(rx);

  CHECK_IS(ys_oneshot_open(&options, &tx, &rx), YS_OK);
  ys_rx_free(rx);
  CHECK_IS(ys_tx_wait_closed(tx, -1), YS_OK);
  CHECK_IS(ys_send(tx, &two), YS_CLOSED);
  ys_tx_free(tx);
}

static void what_the_library_says_of_itself(void) {
  CHECK(strcmp(ys_version(), "0.1.0") == 0);
  CHECK(ys_is_checked() == 0 || ys_is_checked() == 1);
  CHECK(ys_window_version() == YS_WINDOW_VERSION || ys_window_version() == 0);
  for (int code = 5; code >= -40; code--) {
    CHECK(ys_error_text(code) != NULL && ys_error_text(code)[0] != 0);
    for (int other = 0; other > code && code >= YS_UNANSWERED; other--)
      CHECK(strcmp(ys_error_text(code), ys_error_text(other)) != 0);
  }
}

int main(void) {
  RUN(a_bounded_pipes);
  RUN(a_bounded_funnels);
  RUN(a_bounded_exchanges);
  RUN(a_pipes_without_a_bound);
  RUN(a_funnels_without_a_bound);
  RUN(a_exchanges_without_a_bound);
  RUN(messages_of_pipes_in_their_slots);
  RUN(messages_of_funnels_in_their_slots);
  RUN(senders_of_a_funnel);
  RUN(ends_of_an_exchange);
  RUN(what_a_kind_cannot_do);
  RUN(a_oneshot);
  RUN(what_the_library_says_of_itself);
  return 0;
}
