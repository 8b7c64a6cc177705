/* Broadcasts and watches: every receiver gets a copy, made by a callback where a message is more than bytes. */
#include "check.h"

#include <stdatomic.h>

YS_DEFINE_BROADCAST(numbers, uint64_t);
YS_DEFINE_WATCH(levels, uint64_t);
YS_DEFINE_ONESHOT(answers, uint64_t);

/* What is counted: each copy owns a number of its own. */
static atomic_long alive;
static atomic_long clones;

static uint64_t *made(uint64_t number) {
  uint64_t *at = malloc(sizeof *at);
  CHECK(at != NULL);
  *at = number;
  atomic_fetch_add(&alive, 1);
  return at;
}
static void unmade(uint64_t *at) {
  free(at);
  atomic_fetch_sub(&alive, 1);
}
static void drop(void *message, void *context) {
  CHECK(context == &alive);
  unmade(*(uint64_t **)message);
}
static void duplicate(void *to, const void *from, void *context) {
  CHECK(context == &alive);
  atomic_fetch_add(&clones, 1);
  *(uint64_t **)to = made(**(uint64_t *const *)from);
}

static ys_options owned(size_t capacity) {
  ys_options options = YS_OPTIONS_FOR(uint64_t *);
  options.capacity = capacity;
  options.drop = drop;
  options.clone = duplicate;
  options.context = &alive;
  return options;
}

static void oneshots(void) {
  answers_tx tx;
  answers_rx rx;
  uint64_t got = 0;
  CHECK_IS(answers_open(&tx, &rx), YS_OK);
  CHECK_IS(answers_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(answers_wait(rx, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(answers_send(tx, &(uint64_t){7}), YS_OK);
  CHECK_IS(answers_send(tx, &(uint64_t){8}), YS_CLOSED);
  CHECK_IS(answers_wait(rx, -1), YS_OK);
  CHECK_IS(answers_recv(rx, &got), YS_OK);
  CHECK_IS(got, 7);
  CHECK_IS(answers_recv_for(rx, &got, -1), YS_CLOSED);
  answers_tx_free(tx);
  answers_rx_free(rx);
}

static void options_that_cannot_be(void) {
  ys_tx *tx;
  ys_rx *rx;
  uint64_t first = 0;
  ys_options options = owned(4);
  options.clone = NULL;
  CHECK_IS(ys_broadcast_open(&options, &tx, &rx), YS_EINVAL);
  CHECK_IS(ys_broadcast_lossy_open(&options, &tx, &rx), YS_EINVAL);
  options.capacity = 0;
  CHECK_IS(ys_watch_open(&options, &first, &tx, &rx), YS_EINVAL);
  options = owned(0);
  CHECK_IS(ys_broadcast_open(&options, &tx, &rx), YS_EINVAL);
  CHECK_IS(ys_watch_open(&options, NULL, &tx, &rx), YS_EINVAL);
  options.capacity = SIZE_MAX / 2;
  CHECK(ys_broadcast_open(&options, &tx, &rx) < 0 && tx == NULL && rx == NULL);
  options.capacity = 1;
  CHECK_IS(ys_watch_open(&options, &first, &tx, &rx), YS_EINVAL);
}

static void everyone_gets_everything(void) {
  numbers_tx tx, second;
  numbers_rx rx, other, late;
  uint64_t got = 0, many[8];
  CHECK_IS(numbers_open(4, &tx, &rx), YS_OK);
  CHECK_IS(numbers_rx_clone(rx, &other), YS_OK);
  CHECK_IS(numbers_tx_clone(tx, &second), YS_OK);
  CHECK_IS(numbers_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(numbers_recv_for(rx, &got, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(numbers_recv_batch(rx, many, 8, MILLISECOND), YS_TIMEOUT);
  for (uint64_t n = 0; n < 4; n++) CHECK_IS(numbers_send(n % 2 ? tx : second, &n), YS_OK);
  CHECK_IS(numbers_try_send(tx, &got), YS_FULL);
  CHECK_IS(numbers_send_for(tx, &got, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(numbers_send_batch(tx, many, 4, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(numbers_recv_batch(rx, many, 3, -1), 3);
  CHECK(many[0] == 0 && many[2] == 2);
  /* The slowest counts. */
  CHECK_IS(numbers_try_send(tx, &got), YS_FULL);
  CHECK_IS(numbers_subscribe(tx, &late), YS_OK);
  CHECK_IS(numbers_recv_batch(other, many, 8, -1), 4);
  CHECK_IS(numbers_send_batch(tx, (uint64_t[]){4, 5, 6, 7}, 4, 0), 3);
  CHECK_IS(numbers_recv_batch(late, many, 8, -1), 3);
  CHECK(many[0] == 4 && many[2] == 6);
  CHECK_IS(ys_rx_missed(rx.raw), 0);
  CHECK_IS(ys_wait(rx.raw, 0), YS_ENOTSUP);
  CHECK_IS(ys_force_send(tx.raw, &got, NULL), YS_ENOTSUP);
  numbers_tx_free(tx);
  CHECK_IS(ys_rx_is_closed(rx.raw), 0);
  numbers_tx_free(second);
  for (uint64_t n = 3; n < 7; n++) CHECK(numbers_recv(rx, &got) == YS_OK && got == n);
  CHECK_IS(numbers_recv(rx, &got), YS_CLOSED);
  CHECK_IS(numbers_recv_batch(rx, many, 8, -1), YS_CLOSED);
  CHECK_IS(numbers_recv_batch(rx, many, 0, -1), YS_CLOSED);
  numbers_rx_free(rx);
  numbers_rx_free(other);
  numbers_rx_free(late);
}

static void a_slow_receiver_loses(void) {
  numbers_tx tx;
  numbers_rx rx;
  uint64_t got = 0, many[16];
  CHECK_IS(numbers_open_lossy(4, &tx, &rx), YS_OK);
  for (uint64_t n = 0; n < 10; n++) CHECK_IS(numbers_try_send(tx, &n), YS_OK);
  CHECK_IS(numbers_recv(rx, &got), YS_LAGGED);
  CHECK_IS(ys_rx_missed(rx.raw), 6);
  CHECK(strcmp(ys_error_text(YS_LAGGED), ys_error_text(-1000)) != 0);
  CHECK_IS(numbers_recv_batch(rx, many, 16, 0), 4);
  CHECK(many[0] == 6 && many[3] == 9);
  CHECK_IS(numbers_try_recv(rx, &got), YS_EMPTY);
  numbers_tx_free(tx);
  numbers_rx_free(rx);
}

static void copies_are_dropped_once(void) {
  for (int way = 0; way < 2; way++) {
    ys_tx *tx;
    ys_rx *rx, *other;
    uint64_t *message;
    ys_options options = owned(4);
    CHECK_IS(way ? ys_broadcast_open(&options, &tx, &rx) : ys_broadcast_lossy_open(&options, &tx, &rx), YS_OK);
    CHECK_IS(ys_rx_clone(rx, &other), YS_OK);
    atomic_store(&clones, 0);
    for (uint64_t n = 0; n < 100; n++) {
      message = made(n);
      CHECK_IS(ys_send(tx, &message), YS_OK);
      CHECK(ys_recv(rx, &message) == YS_OK && *message == n);
      unmade(message);
      if (n % 2) {
        CHECK(ys_recv(other, &message) == YS_OK && *message == n - 1);
        unmade(message);
        CHECK(ys_recv(other, &message) == YS_OK && *message == n);
        unmade(message);
      }
    }
    CHECK(atomic_load(&clones) >= 100);
    for (uint64_t n = 0; n < 4; n++) {
      message = made(n);
      CHECK_IS(ys_send(tx, &message), YS_OK);
    }
    if (way) {
      message = made(5);
      CHECK_IS(ys_try_send(tx, &message), YS_FULL);
      CHECK_IS(ys_send_for(tx, &message, MILLISECOND), YS_TIMEOUT);
      CHECK_IS(*message, 5);
      unmade(message);
    }
    ys_rx_free(rx);
    ys_rx_free(other);
    message = made(6);
    CHECK_IS(ys_send(tx, &message), YS_CLOSED);
    CHECK_IS(*message, 6);
    unmade(message);
    ys_tx_free(tx);
    CHECK_IS(atomic_load(&alive), 0);
  }
}

static void the_newest_value(void) {
  levels_tx tx;
  levels_rx rx, other;
  uint64_t got = 0;
  CHECK_IS(levels_open(&(uint64_t){1}, &tx, &rx), YS_OK);
  CHECK_IS(levels_get(rx, &got), YS_OK);
  CHECK_IS(got, 1);
  CHECK_IS(levels_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(levels_recv_for(rx, &got, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(levels_rx_clone(rx, &other), YS_OK);
  for (uint64_t n = 2; n < 100; n++) CHECK_IS(levels_send(tx, &n), YS_OK);
  CHECK(levels_recv(rx, &got) == YS_OK && got == 99);
  CHECK_IS(levels_try_recv(rx, &got), YS_EMPTY);
  CHECK(levels_recv_for(other, &got, -1) == YS_OK && got == 99);
  levels_rx_free(other);
  CHECK_IS(levels_subscribe(tx, &other), YS_OK);
  CHECK_IS(levels_try_recv(other, &got), YS_EMPTY);
  CHECK(levels_get(other, &got) == YS_OK && got == 99);
  CHECK_IS(levels_send(tx, &(uint64_t){100}), YS_OK);
  CHECK_IS(levels_tx_close(tx), YS_OK);
  CHECK_IS(levels_send(tx, &(uint64_t){101}), YS_CLOSED);
  levels_tx_free(tx);
  CHECK(levels_recv(rx, &got) == YS_OK && got == 100);
  CHECK_IS(levels_recv(rx, &got), YS_CLOSED);
  CHECK(levels_get(rx, &got) == YS_OK && got == 100);
  levels_rx_free(rx);
  levels_rx_free(other);
}

static void values_are_dropped_once(void) {
  ys_tx *tx;
  ys_rx *rx;
  uint64_t *value = made(0);
  const ys_options options = owned(0);
  CHECK_IS(ys_watch_open(&options, &value, &tx, &rx), YS_OK);
  for (uint64_t n = 1; n < 50; n++) {
    value = made(n);
    CHECK_IS(ys_send(tx, &value), YS_OK);
    if (n % 3 == 0) {
      CHECK(ys_recv(rx, &value) == YS_OK && *value == n);
      unmade(value);
    }
  }
  CHECK(ys_watch_get(rx, &value) == YS_OK && *value == 49);
  unmade(value);
  CHECK_IS(atomic_load(&alive), 1);
  ys_rx_free(rx);
  value = made(50);
  CHECK_IS(ys_send(tx, &value), YS_CLOSED);
  unmade(value);
  ys_tx_free(tx);
  CHECK_IS(atomic_load(&alive), 0);
}

/* Threads that sleep: each gets all, or the last. */
static uint64_t many_times(void) { return is_long() ? 200000 : 3000; }

static void *sums(void *arg) {
  numbers_rx rx = *(numbers_rx *)arg;
  uint64_t got, next = 0;
  while (numbers_recv(rx, &got) == YS_OK) CHECK_IS(got, next++);
  CHECK_IS(next, many_times());
  numbers_rx_free(rx);
  return NULL;
}
static void *follows(void *arg) {
  levels_rx rx = *(levels_rx *)arg;
  uint64_t got = 0, last = 0;
  while (levels_recv(rx, &got) == YS_OK) {
    CHECK(got > last);
    last = got;
  }
  CHECK_IS(last, many_times());
  levels_rx_free(rx);
  return NULL;
}
static void between_threads(void) {
  numbers_tx tx;
  numbers_rx rx[2];
  levels_tx level;
  levels_rx at[2];
  pthread_t threads[4];
  CHECK_IS(numbers_open(8, &tx, &rx[0]), YS_OK);
  CHECK_IS(numbers_rx_clone(rx[0], &rx[1]), YS_OK);
  CHECK_IS(levels_open(&(uint64_t){0}, &level, &at[0]), YS_OK);
  CHECK_IS(levels_rx_clone(at[0], &at[1]), YS_OK);
  for (int n = 0; n < 2; n++) {
    threads[n] = started(sums, &rx[n]);
    threads[2 + n] = started(follows, &at[n]);
  }
  for (uint64_t n = 0; n < many_times(); n++) {
    CHECK_IS(numbers_send(tx, &n), YS_OK);
    CHECK_IS(levels_send(level, &(uint64_t){n + 1}), YS_OK);
  }
  numbers_tx_free(tx);
  levels_tx_free(level);
  for (int n = 0; n < 4; n++) joined(threads[n]);
}

/* All of their waits end by a stopper. */
static void *receives_until_stopped(void *rx) {
  uint64_t got;
  CHECK_IS(ys_recv(rx, &got), YS_STOPPED);
  CHECK_IS(ys_recv_for(rx, &got, 0), YS_STOPPED);
  return NULL;
}
static void *sends_until_stopped(void *tx) {
  uint64_t message = 1;
  int code;
  while ((code = ys_send(tx, &message)) == YS_OK) continue;
  CHECK_IS(code, YS_STOPPED);
  CHECK_IS(ys_tx_wait_closed(tx, -1), YS_STOPPED);
  return NULL;
}
static void stops(void) {
  numbers_tx tx;
  numbers_rx rx, idle;
  levels_tx level;
  levels_rx at;
  ys_stopper *stopper[2];
  pthread_t threads[3];
  CHECK_IS(numbers_open(2, &tx, &idle), YS_OK);
  CHECK_IS(levels_open(&(uint64_t){0}, &level, &at), YS_OK);
  CHECK_IS(ys_tx_stopper(tx.raw, &stopper[0]), YS_OK);
  CHECK_IS(ys_rx_stopper(at.raw, &stopper[1]), YS_OK);
  threads[0] = started(sends_until_stopped, tx.raw);
  threads[1] = started(receives_until_stopped, at.raw);
  usleep(3000);
  CHECK_IS(ys_stop(stopper[0]), YS_OK);
  CHECK_IS(ys_stop(stopper[1]), YS_OK);
  joined(threads[0]);
  joined(threads[1]);
  CHECK_IS(numbers_subscribe(tx, &rx), YS_OK);
  threads[2] = started(receives_until_stopped, rx.raw);
  joined(threads[2]);
  ys_stopper_free(stopper[0]);
  ys_stopper_free(stopper[1]);
  numbers_tx_free(tx);
  numbers_rx_free(rx);
  numbers_rx_free(idle);
  levels_tx_free(level);
  levels_rx_free(at);
}

static void in_sets(void) {
  numbers_tx tx;
  numbers_rx rx;
  levels_tx level;
  levels_rx at;
  ys_set *set;
  uint64_t got;
  size_t ids[4];
  CHECK_IS(numbers_open(4, &tx, &rx), YS_OK);
  CHECK_IS(levels_open(&(uint64_t){0}, &level, &at), YS_OK);
  CHECK_IS(ys_pollset_open(8, &set), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, rx.raw, 3), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, at.raw, 5), YS_OK);
  CHECK_IS(ys_set_attach_tx(set, tx.raw, 6), YS_ENOTSUP);
  CHECK_IS(numbers_try_recv(rx, &got), YS_EMPTY);
  CHECK_IS(levels_try_recv(at, &got), YS_EMPTY);
  CHECK_IS(ys_set_wait(set, ids, 4, 0), YS_EMPTY);
  CHECK_IS(numbers_send(tx, &(uint64_t){1}), YS_OK);
  CHECK(ys_set_wait(set, ids, 4, -1) == 1 && ids[0] == 3);
  CHECK_IS(levels_send(level, &(uint64_t){1}), YS_OK);
  CHECK(ys_set_wait(set, ids, 4, -1) == 2 && ids[1] == 5);
  numbers_tx_free(tx);
  numbers_rx_free(rx);
  levels_tx_free(level);
  levels_rx_free(at);
  ys_set_free(set);
}

int main(void) {
  RUN(oneshots);
  RUN(options_that_cannot_be);
  RUN(everyone_gets_everything);
  RUN(a_slow_receiver_loses);
  RUN(copies_are_dropped_once);
  RUN(the_newest_value);
  RUN(values_are_dropped_once);
  RUN(between_threads);
  RUN(stops);
  RUN(in_sets);
}
