/* Sets, selects and pools: what raises which id, what takes it down, and the owner of each memory. */
#include "check.h"

#include <errno.h>
#include <poll.h>

YS_DEFINE_PIPE(words, uint64_t);
YS_DEFINE_FUNNEL(lanes, uint64_t);

static const uint64_t word = 9;

static int is_readable(ys_set *set) {
  struct pollfd fd = {.fd = ys_set_fd(set), .events = POLLIN};
  CHECK(fd.fd >= 0);
  return poll(&fd, 1, 0) == 1;
}

static void ids_of_receivers(ys_set *set, int has_descriptor) {
  words_tx tx;
  words_rx rx, none;
  words_tx other;
  uint64_t got;
  size_t ids[4];
  CHECK_IS(words_open(0, &tx, &rx), YS_OK);
  CHECK_IS(words_open(0, &other, &none), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, rx.raw, 4), YS_ERANGE);
  CHECK_IS(ys_set_attach_rx(set, rx.raw, 2), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, rx.raw, 1), YS_EATTACHED);
  CHECK_IS(ys_set_attach_rx(set, none.raw, 2), YS_ETAKEN);
  CHECK_IS(ys_set_detach_rx(set, none.raw), YS_EATTACHED);
  /* Up at first; down once the handle was found empty. */
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(ids[0], 2);
  CHECK_IS(words_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(ys_set_wait(set, ids, 4, 0), YS_EMPTY);
  CHECK_IS(ys_set_wait(set, ids, 4, MILLISECOND), YS_TIMEOUT);
  if (has_descriptor) CHECK(!is_readable(set));
  CHECK_IS(words_send(tx, &word), YS_OK);
  if (has_descriptor) CHECK(is_readable(set));
  CHECK_IS(ys_set_wait(set, ids, 4, 0), 1);
  /* Up until it is found empty. */
  CHECK_IS(words_try_recv(rx, &got), YS_OK);
  CHECK_IS(words_send(tx, &word), YS_OK);
  CHECK_IS(words_send(tx, &word), YS_OK);
  CHECK_IS(ys_set_wait(set, ids, 4, 0), 1);
  CHECK_IS(words_try_recv(rx, &got), YS_OK);
  CHECK_IS(words_try_recv(rx, &got), YS_OK);
  CHECK_IS(words_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(ys_set_wait(set, ids, 4, 0), YS_EMPTY);
  /* The sender's disconnect raises the id as well. */
  words_tx_free(tx);
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(words_try_recv(rx, &got), YS_CLOSED);
  CHECK_IS(ys_set_detach_rx(set, rx.raw), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, none.raw, 2), YS_OK);
  words_rx_free(rx);
  words_rx_free(none);
  words_tx_free(other);
  while (ys_set_wait(set, ids, 4, 0) > 0) continue;
}

static void ids_of_senders(ys_set *set) {
  lanes_tx tx;
  lanes_rx rx;
  uint64_t got;
  size_t ids[4];
  CHECK_IS(lanes_open(1, &tx, &rx), YS_OK);
  CHECK_IS(ys_set_attach_tx(set, tx.raw, 0), YS_OK);
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(ids[0], 0);
  CHECK_IS(lanes_try_send(tx, &word), YS_OK);
  CHECK_IS(lanes_try_send(tx, &word), YS_FULL);
  CHECK_IS(ys_set_wait(set, ids, 4, 0), YS_EMPTY);
  CHECK_IS(lanes_recv(rx, &got), YS_OK);
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(lanes_try_send(tx, &word), YS_OK);
  CHECK_IS(lanes_try_send(tx, &word), YS_FULL);
  lanes_rx_free(rx);
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(lanes_try_send(tx, &word), YS_CLOSED);
  CHECK_IS(ys_set_detach_tx(set, tx.raw), YS_OK);
  lanes_tx_free(tx);
  while (ys_set_wait(set, ids, 4, 0) > 0) continue;
}

static void *raises(void *arg) {
  CHECK_IS(ys_signal((const ys_signaler *)arg, 1), YS_OK);
  return NULL;
}

static void ids_raised_by_hand(ys_set *set, int has_descriptor) {
  ys_signaler *signaler, *other;
  size_t ids[4];
  CHECK_IS(ys_set_signaler(set, &signaler), YS_OK);
  CHECK_IS(ys_set_signaler(set, &other), YS_OK);
  CHECK_IS(ys_signal(signaler, 4), YS_ERANGE);
  CHECK_IS(ys_signal(signaler, 3), YS_OK);
  CHECK_IS(ys_signal(other, 0), YS_OK);
  CHECK_IS(ys_signal(other, 3), YS_OK);
  if (has_descriptor) CHECK(is_readable(set));
  CHECK_IS(ys_set_wait(set, ids, 1, -1), 1);
  CHECK_IS(ids[0], 0);
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(ids[0], 3);
  CHECK_IS(ys_set_wait(set, ids, 4, 0), YS_EMPTY);
  const pthread_t thread = started(raises, signaler);
  CHECK_IS(ys_set_wait(set, ids, 4, -1), 1);
  CHECK_IS(ids[0], 1);
  joined(thread);
  ys_signaler_free(signaler);
  ys_signaler_free(other);
}

static void a_set_with_a_descriptor(void) {
  ys_set *set;
  CHECK_IS(ys_set_open(4, &set), YS_OK);
  CHECK(ys_set_fd(set) >= 0);
  ids_of_receivers(set, 1);
  ids_of_senders(set);
  ids_raised_by_hand(set, 1);
  ys_set_free(set);
}

static void a_set_without_a_descriptor(void) {
  ys_set *set;
  CHECK_IS(ys_pollset_open(4, &set), YS_OK);
  CHECK_IS(ys_set_fd(set), YS_ENOTSUP);
  ids_of_receivers(set, 0);
  ids_of_senders(set);
  ids_raised_by_hand(set, 0);
  ys_set_free(set);
}

/* Sets and handles may be freed in any order. */
static void sets_that_go_first(void) {
  ys_set *set;
  ys_signaler *signaler;
  words_tx tx;
  words_rx rx;
  uint64_t got;
  CHECK_IS(ys_pollset_open(1, &set), YS_OK);
  CHECK_IS(ys_set_signaler(set, &signaler), YS_OK);
  CHECK_IS(words_open(0, &tx, &rx), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, rx.raw, 0), YS_OK);
  ys_set_free(set);
  CHECK_IS(ys_signal(signaler, 0), YS_OK);
  CHECK_IS(words_send(tx, &word), YS_OK);
  CHECK_IS(words_recv(rx, &got), YS_OK);
  ys_signaler_free(signaler);
  words_tx_free(tx);
  words_rx_free(rx);
}

static void selects(void) {
  ys_select *select;
  words_tx tx[3];
  words_rx rx[3];
  size_t id[3];
  uint64_t got;
  CHECK_IS(ys_select_open(3, &select), YS_OK);
  CHECK_IS(ys_select_wait(select, 0), YS_EMPTY);
  CHECK_IS(ys_select_wait(select, MILLISECOND), YS_TIMEOUT);
  for (int i = 0; i < 3; i++) CHECK_IS(words_open(1, &tx[i], &rx[i]), YS_OK);
  CHECK_IS(ys_select_add_rx(select, rx[0].raw, &id[0]), YS_OK);
  CHECK_IS(ys_select_add_rx(select, rx[0].raw, &id[1]), YS_EATTACHED);
  CHECK_IS(ys_select_add_rx(select, rx[1].raw, &id[1]), YS_OK);
  CHECK_IS(ys_select_add_tx(select, tx[2].raw, &id[2]), YS_OK);
  CHECK(id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
  CHECK_IS(ys_select_add_tx(select, tx[1].raw, &id[0]), YS_ETOOMANY);
  /* Each is named at first. */
  for (int named = 0; named != 7;) {
    const ptrdiff_t got_id = ys_select_wait(select, 0);
    CHECK(got_id >= 0);
    for (int i = 0; i < 3; i++) {
      if ((size_t)got_id != id[i]) continue;
      named |= 1 << i;
      if (i < 2) CHECK_IS(words_try_recv(rx[i], &got), YS_EMPTY);
      if (i == 2) while (words_try_send(tx[2], &word) == YS_OK) continue;
    }
  }
  CHECK_IS(ys_select_wait(select, 0), YS_EMPTY);
  CHECK_IS(ys_select_wait(select, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(words_send(tx[1], &word), YS_OK);
  CHECK_IS(ys_select_wait(select, -1), id[1]);
  CHECK_IS(words_try_recv(rx[1], &got), YS_OK);
  CHECK_IS(words_try_recv(rx[1], &got), YS_EMPTY);
  CHECK_IS(words_recv(rx[2], &got), YS_OK);
  CHECK_IS(ys_select_wait(select, -1), id[2]);
  CHECK_IS(ys_select_remove_tx(select, tx[2].raw), YS_OK);
  CHECK_IS(ys_select_remove_tx(select, tx[2].raw), YS_EATTACHED);
  CHECK_IS(ys_select_remove_rx(select, rx[1].raw), YS_OK);
  words_tx_free(tx[0]);
  CHECK_IS(ys_select_wait(select, -1), id[0]);
  CHECK_IS(words_try_recv(rx[0], &got), YS_CLOSED);
  words_rx_free(rx[0]);
  ys_select_free(select);
  for (int i = 1; i < 3; i++) words_tx_free(tx[i]), words_rx_free(rx[i]);
}

static void a_pool(void) {
  const ys_pool_class classes[] = {{64, 2}, {1000, 1}};
  ys_pool *pool;
  unsigned char *m[4];
  CHECK_IS(ys_pool_open(classes, 2, &pool), YS_OK);
  CHECK((m[0] = (unsigned char *)ys_pool_take(pool, 10, 0)) != NULL);
  CHECK_IS((uintptr_t)m[0] % 16, 0);
  CHECK_IS(ys_msg_len(m[0]), 10);
  CHECK_IS(ys_msg_capacity(m[0]), 64);
  memset(m[0], 0xa5, 10);
  CHECK_IS(ys_msg_resize(m[0], 64), YS_OK);
  CHECK_IS(m[0][9], 0xa5);
  CHECK_IS(m[0][10], 0);
  CHECK_IS(ys_msg_resize(m[0], 65), YS_ETOOMANY);
  CHECK_IS(ys_msg_len(m[0]), 64);
  CHECK((m[1] = (unsigned char *)ys_pool_take(pool, 64, -1)) != NULL);
  CHECK((m[2] = (unsigned char *)ys_pool_take(pool, 65, 0)) != NULL);
  CHECK_IS(ys_msg_capacity(m[2]) >= 1000, 1);
  memset(m[2], 0x5a, 65);
  errno = 0;
  CHECK(ys_pool_take(pool, 65, 0) == NULL);
  CHECK_IS(errno, EAGAIN);
  CHECK(ys_pool_take(pool, 65, MILLISECOND) == NULL);
  CHECK_IS(errno, ETIMEDOUT);
  CHECK(ys_pool_take(pool, 1001, -1) == NULL);
  CHECK_IS(errno, EMSGSIZE);
  CHECK_IS(m[0][9], 0xa5);
  ys_msg_free(m[2]);
  CHECK((m[3] = (unsigned char *)ys_pool_take(pool, 500, 0)) != NULL);
  ys_pool_free(pool);
  /* The memory lives until the last message is freed. */
  memset(m[3], 1, 500);
  memset(m[1], 1, 64);
  for (int i = 0; i < 4; i++)
    if (i != 2) ys_msg_free(m[i]);
}

typedef struct parcel {
  void *bytes;
} parcel;
YS_DEFINE_PIPE(parcels, parcel);

static void *fills_parcels(void *arg) {
  const parcels_tx tx = *(parcels_tx *)arg;
  const ys_pool_class classes[] = {{256, 16}};
  ys_pool *pool;
  CHECK_IS(ys_pool_open(classes, 1, &pool), YS_OK);
  for (unsigned n = 0; n < 20000; n++) {
    const parcel p = {ys_pool_take(pool, 1 + n % 256, -1)};
    CHECK(p.bytes != NULL);
    memset(p.bytes, (int)(n % 251), 1 + n % 256);
    CHECK_IS(parcels_send(tx, &p), YS_OK);
  }
  ys_pool_free(pool);
  parcels_tx_free(tx);
  return NULL;
}

/* Taken here, freed there; the pool goes before its messages. */
static void messages_of_a_pool_in_a_pipe(void) {
  parcels_tx tx;
  parcels_rx rx;
  parcel p;
  unsigned n = 0;
  CHECK_IS(parcels_open(0, &tx, &rx), YS_OK);
  const pthread_t thread = started(fills_parcels, &tx);
  for (; parcels_recv(rx, &p) == YS_OK; n++) {
    const unsigned char *bytes = (const unsigned char *)p.bytes;
    CHECK_IS(ys_msg_len(p.bytes), 1 + n % 256);
    for (size_t i = 0; i < 1 + n % 256; i++) CHECK_IS(bytes[i], n % 251);
    ys_msg_free(p.bytes);
  }
  CHECK_IS(n, 20000);
  joined(thread);
  parcels_rx_free(rx);
}

int main(void) {
  RUN(a_set_with_a_descriptor);
  RUN(a_set_without_a_descriptor);
  RUN(sets_that_go_first);
  RUN(selects);
  RUN(a_pool);
  RUN(messages_of_a_pool_in_a_pipe);
  return 0;
}
