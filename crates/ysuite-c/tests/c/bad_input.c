/* Nulls, sizes, alignments and counts that cannot be: a code each time, and nothing has happened. */
#include "check.h"

typedef int (*opening)(const ys_options *, ys_tx **, ys_rx **);
static const opening openings[] = {ys_pipe_open, ys_funnel_open, ys_exchange_open, ys_oneshot_open};
enum { KINDS = sizeof openings / sizeof *openings };

static void refused(opening open, ys_options options) {
  ys_tx *tx = (ys_tx *)(uintptr_t)16;
  ys_rx *rx = (ys_rx *)(uintptr_t)16;
  CHECK_IS(open(&options, &tx, &rx), YS_EINVAL);
  CHECK(tx == NULL && rx == NULL);
}

static void options_that_cannot_be(void) {
  for (int kind = 0; kind < KINDS; kind++) {
    const opening open = openings[kind];
    const ys_options good = YS_OPTIONS_FOR(uint64_t);
    ys_options bad;
    ys_tx *tx;
    ys_rx *rx;
    for (size_t size = 0; size < 300; size += size == 0 ? 129 : 37) {
      bad = good;
      bad.size = size;
      refused(open, bad);
    }
    bad = good, bad.size = (size_t)-1;
    refused(open, bad);
    static const size_t aligns[] = {3, 5, 6, 12, 32, 64, 4096, (size_t)-1};
    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
      bad = good, bad.align = aligns[i];
      refused(open, bad);
    }
    bad = good, bad.struct_size = 0;
    refused(open, bad);
    bad = good, bad.struct_size = 4;
    refused(open, bad);
    /* Too short to say how long a message is. */
    bad = good, bad.struct_size = 8;
    refused(open, bad);

    CHECK_IS(open(NULL, &tx, &rx), YS_EINVAL);
    CHECK(tx == NULL && rx == NULL);
    CHECK_IS(open(&good, NULL, &rx), YS_EINVAL);
    CHECK_IS(open(&good, &tx, NULL), YS_EINVAL);
    CHECK_IS(open(NULL, NULL, NULL), YS_EINVAL);
  }
  ys_options senders = YS_OPTIONS_FOR(uint64_t);
  senders.senders = 3;
  for (int kind = 0; kind < KINDS; kind++) refused(openings[kind], senders);
  senders.capacity = 3;
  refused(ys_pipe_open, senders);
  refused(ys_exchange_open, senders);
  ys_options bounded = YS_OPTIONS_FOR(uint64_t);
  bounded.capacity = 1;
  refused(ys_oneshot_open, bounded);
}

/* An older program's options are shorter, a later one's are longer. */
static void options_of_other_headers(void) {
  struct later {
    ys_options known;
    uint64_t unknown[4];
  } later = {YS_OPTIONS_FOR(uint32_t), {1, 2, 3, 4}};
  ys_options older = YS_OPTIONS_FOR(uint32_t);
  ys_tx *tx;
  ys_rx *rx;
  uint32_t number = 5;
  later.known.struct_size = sizeof later;
  CHECK_IS(ys_pipe_open(&later.known, &tx, &rx), YS_OK);
  CHECK_IS(ys_send(tx, &number), YS_OK);
  ys_tx_free(tx);
  ys_rx_free(rx);

  older.struct_size = offsetof(ys_options, capacity);
  older.capacity = (size_t)-1;
  older.senders = 77;
  older.drop = (void (*)(void *, void *))(uintptr_t)8;
  CHECK_IS(ys_pipe_open(&older, &tx, &rx), YS_OK);
  CHECK_IS(ys_send(tx, &number), YS_OK);
  ys_tx_free(tx);
  ys_rx_free(rx);
}

static void no_end(void) {
  uint64_t word = 0;
  void *at;
  ys_tx *tx;
  ys_rx *rx;
  CHECK_IS(ys_send(NULL, &word), YS_EINVAL);
  CHECK_IS(ys_try_send(NULL, &word), YS_EINVAL);
  CHECK_IS(ys_send_for(NULL, &word, -1), YS_EINVAL);
  CHECK_IS(ys_send_batch(NULL, &word, 1, -1), YS_EINVAL);
  CHECK_IS(ys_write(NULL, &word), YS_EINVAL);
  CHECK_IS(ys_flush(NULL), YS_EINVAL);
  CHECK_IS(ys_reserve(NULL, &at), YS_EINVAL);
  CHECK_IS(ys_commit(NULL, 1), YS_EINVAL);
  CHECK_IS(ys_wait_room(NULL, -1), YS_EINVAL);
  CHECK_IS(ys_tx_clone(NULL, &tx), YS_EINVAL);
  CHECK_IS(ys_tx_close(NULL), YS_EINVAL);
  CHECK_IS(ys_tx_wait_closed(NULL, -1), YS_EINVAL);
  CHECK_IS(ys_tx_is_closed(NULL), YS_EINVAL);
  CHECK_IS(ys_tx_len(NULL), YS_EINVAL);
  CHECK_IS(ys_tx_set_spin(NULL, YS_SPIN_NONE), YS_EINVAL);
  CHECK_IS(ys_tx_stride(NULL), 0);
  CHECK(ys_tx_channel(NULL) == NULL);
  CHECK_IS(ys_tx_answer(NULL), YS_EINVAL);
  CHECK_IS(ys_tx_discard(NULL, NULL), YS_EINVAL);
  ys_tx_free(NULL);
  CHECK_IS(ys_recv(NULL, &word), YS_EINVAL);
  CHECK_IS(ys_try_recv(NULL, &word), YS_EINVAL);
  CHECK_IS(ys_recv_for(NULL, &word, -1), YS_EINVAL);
  CHECK_IS(ys_recv_batch(NULL, &word, 1, -1), YS_EINVAL);
  CHECK_IS(ys_peek(NULL, &at), YS_EINVAL);
  CHECK_IS(ys_consume(NULL, 1), YS_EINVAL);
  CHECK_IS(ys_take(NULL, &at, -1), YS_EINVAL);
  CHECK_IS(ys_wait(NULL, -1), YS_EINVAL);
  CHECK_IS(ys_rx_clone(NULL, &rx), YS_EINVAL);
  CHECK_IS(ys_rx_close(NULL), YS_EINVAL);
  CHECK_IS(ys_rx_is_closed(NULL), YS_EINVAL);
  CHECK_IS(ys_rx_len(NULL), YS_EINVAL);
  CHECK_IS(ys_rx_set_spin(NULL, YS_SPIN_NONE), YS_EINVAL);
  CHECK_IS(ys_rx_stride(NULL), 0);
  CHECK(ys_rx_channel(NULL) == NULL);
  ys_rx_credit(NULL);
  ys_rx_free(NULL);
  CHECK_IS(ys_send_inline(NULL, &word, sizeof word, _Alignof(uint64_t)), YS_EINVAL);
  CHECK_IS(ys_try_send_inline(NULL, &word, sizeof word, _Alignof(uint64_t)), YS_EINVAL);
  CHECK_IS(ys_send_for_inline(NULL, &word, sizeof word, _Alignof(uint64_t), -1), YS_EINVAL);
  CHECK_IS(ys_recv_inline(NULL, &word, sizeof word, _Alignof(uint64_t)), YS_EINVAL);
  CHECK_IS(ys_try_recv_inline(NULL, &word, sizeof word, _Alignof(uint64_t)), YS_EINVAL);
  CHECK_IS(ys_recv_for_inline(NULL, &word, sizeof word, _Alignof(uint64_t), -1), YS_EINVAL);
}

YS_DEFINE_PIPE(words, uint64_t);
YS_DEFINE_FUNNEL(lanes, uint64_t);

static void no_message(void) {
  for (int kind = 0; kind < KINDS; kind++) {
    ys_options options = YS_OPTIONS_FOR(uint64_t);
    ys_tx *tx;
    ys_rx *rx;
    uint64_t word = 3;
    CHECK_IS(openings[kind](&options, &tx, &rx), YS_OK);
    CHECK_IS(ys_send(tx, NULL), YS_EINVAL);
    CHECK_IS(ys_try_send(tx, NULL), YS_EINVAL);
    CHECK_IS(ys_send_for(tx, NULL, 0), YS_EINVAL);
    CHECK_IS(ys_send_batch(tx, NULL, 1, 0), YS_EINVAL);
    CHECK_IS(ys_send_inline(tx, NULL, sizeof word, _Alignof(uint64_t)), YS_EINVAL);
    CHECK_IS(ys_recv(rx, NULL), YS_EINVAL);
    CHECK_IS(ys_try_recv(rx, NULL), YS_EINVAL);
    CHECK_IS(ys_recv_for(rx, NULL, 0), YS_EINVAL);
    CHECK_IS(ys_recv_batch(rx, NULL, 1, 0), YS_EINVAL);
    CHECK_IS(ys_recv_inline(rx, NULL, sizeof word, _Alignof(uint64_t)), YS_EINVAL);
    CHECK_IS(ys_tx_clone(tx, NULL), YS_EINVAL);
    CHECK_IS(ys_rx_clone(rx, NULL), YS_EINVAL);
    CHECK_IS(ys_tx_set_spin(tx, 3) == YS_OK, 0);
    CHECK_IS(ys_rx_set_spin(rx, -1) == YS_OK, 0);
    /* All that was in vain: the channel is as it was. */
    CHECK_IS(ys_try_recv(rx, &word), YS_EMPTY);
    CHECK_IS(ys_send(tx, &word), YS_OK);
    word = 0;
    CHECK_IS(ys_recv(rx, &word), YS_OK);
    CHECK_IS(word, 3);
    ys_tx_free(tx);
    ys_rx_free(rx);
  }

  words_tx tx;
  words_rx rx;
  CHECK_IS(words_open(1, NULL, &rx), YS_EINVAL);
  CHECK_IS(words_open(1, &tx, NULL), YS_EINVAL);
  CHECK_IS(words_open(4, &tx, &rx), YS_OK);
  CHECK_IS(words_write(tx, NULL), YS_EINVAL);
  CHECK_IS(words_reserve(tx, NULL), YS_EINVAL);
  CHECK_IS(words_peek(rx, NULL), YS_EINVAL);
  CHECK_IS(words_take(rx, NULL, 0), YS_EINVAL);
  /* Nothing was reserved, nothing was shown. */
  CHECK_IS(words_commit(tx, 1), YS_EINVAL);
  CHECK_IS(words_consume(rx, 1), YS_EINVAL);
  CHECK_IS(words_commit(tx, (size_t)-1), YS_EINVAL);
  CHECK_IS(words_consume(rx, (size_t)-1), YS_EINVAL);
  CHECK_IS(ys_send_batch(tx.raw, &rx, (size_t)-1, 0), YS_EINVAL);
  CHECK_IS(ys_recv_batch(rx.raw, &tx, (size_t)-1, 0) < 0, 1);
  /* A reservation ends with the next call for the handle. */
  words_slot *slots;
  uint64_t word = 1;
  CHECK(words_reserve(tx, &slots) >= 1);
  CHECK_IS(words_send(tx, &word), YS_OK);
  CHECK_IS(words_commit(tx, 1), YS_EINVAL);
  words_tx_free(tx);
  words_rx_free(rx);

  lanes_tx lane, *no_lane = NULL;
  lanes_rx end;
  CHECK_IS(lanes_open(1, &lane, &end), YS_OK);
  CHECK_IS(lanes_tx_clone(lane, no_lane), YS_EINVAL);
  lanes_tx_free(lane);
  lanes_rx_free(end);
}

static void sets_selects_and_pools(void) {
  ys_set *set = NULL;
  ys_select *select = NULL;
  ys_pool *pool = NULL;
  ys_signaler *signaler = NULL;
  size_t id;
  const ys_pool_class none = {0, 0}, some = {64, 4};
  CHECK_IS(ys_set_open(0, &set), YS_EINVAL);
  CHECK_IS(ys_set_open((size_t)-1, &set), YS_EINVAL);
  CHECK_IS(ys_set_open(1, NULL), YS_EINVAL);
  CHECK_IS(ys_pollset_open(0, &set), YS_EINVAL);
  CHECK_IS(ys_pollset_open((size_t)-1, &set), YS_EINVAL);
  CHECK_IS(ys_pollset_open(1, NULL), YS_EINVAL);
  CHECK_IS(ys_set_fd(NULL), YS_EINVAL);
  CHECK_IS(ys_set_wait(NULL, &id, 1, 0), YS_EINVAL);
  CHECK_IS(ys_set_signaler(NULL, &signaler), YS_EINVAL);
  CHECK_IS(ys_signal(NULL, 0), YS_EINVAL);
  CHECK_IS(ys_set_attach_rx(NULL, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_set_attach_tx(NULL, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_set_detach_rx(NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_set_detach_tx(NULL, NULL), YS_EINVAL);
  size_t ids[4];
  CHECK_IS(ys_pollset_open(4, &set), YS_OK);
  /* All that there are. */
  CHECK_IS(ys_set_wait(set, ids, (size_t)-1, 0), YS_EMPTY);
  ys_set_free(set);
  set = NULL;
  ys_signaler_free(NULL);
  ys_set_free(NULL);

  CHECK_IS(ys_pollset_open(2, &set), YS_OK);
  CHECK_IS(ys_set_wait(set, NULL, 1, 0), YS_EINVAL);
  CHECK_IS(ys_set_wait(set, &id, 0, 0), YS_EINVAL);
  CHECK_IS(ys_set_attach_rx(set, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_set_attach_tx(set, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_set_signaler(set, NULL), YS_EINVAL);
  ys_set_free(set);

  CHECK_IS(ys_select_open(0, &select), YS_EINVAL);
  CHECK_IS(ys_select_open(1, NULL), YS_EINVAL);
  CHECK_IS(ys_select_wait(NULL, 0), YS_EINVAL);
  CHECK_IS(ys_select_add_rx(NULL, NULL, &id), YS_EINVAL);
  CHECK_IS(ys_select_add_tx(NULL, NULL, &id), YS_EINVAL);
  CHECK_IS(ys_select_remove_rx(NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_select_remove_tx(NULL, NULL), YS_EINVAL);
  ys_select_free(NULL);

  CHECK_IS(ys_pool_open(NULL, 1, &pool), YS_EINVAL);
  CHECK_IS(ys_pool_open(&some, 0, &pool), YS_EINVAL);
  CHECK_IS(ys_pool_open(&none, 1, &pool), YS_EINVAL);
  CHECK_IS(ys_pool_open(&some, 1, NULL), YS_EINVAL);
  CHECK(ys_pool_take(NULL, 1, 0) == NULL);
  CHECK_IS(ys_msg_len(NULL), 0);
  CHECK_IS(ys_msg_capacity(NULL), 0);
  CHECK_IS(ys_msg_resize(NULL, 1), YS_EINVAL);
  ys_msg_free(NULL);
  ys_pool_free(NULL);
}

int main(void) {
  RUN(options_that_cannot_be);
  RUN(options_of_other_headers);
  RUN(no_end);
  RUN(no_message);
  RUN(sets_selects_and_pools);
  return 0;
}
