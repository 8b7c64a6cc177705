/* A sender that many threads share, a send that replaces the oldest, stops of one handle's waits, and timers. */
#include "check.h"

#include <stdatomic.h>

YS_DEFINE_PIPE(pipes, uint64_t);
YS_DEFINE_FUNNEL(funnels, uint64_t);
YS_DEFINE_EXCHANGE(exchanges, uint64_t);
YS_DEFINE_ONESHOT(answers, uint64_t);
YS_DEFINE_BROADCAST(numbers, uint64_t);
YS_DEFINE_WATCH(levels, uint64_t);

enum { THREADS = 4 };

static uint64_t each(void) { return is_long() ? 200000 : 2000; }

static void *sends(void *arg) {
  const ys_shared *shared = arg;
  for (uint64_t n = 0; n < each(); n++) CHECK_IS(ys_shared_send_for(shared, &n, -1), YS_OK);
  return NULL;
}

static void a_shared_sender(void) {
  exchanges_tx tx;
  exchanges_rx rx;
  ys_shared *shared;
  pthread_t threads[THREADS];
  uint64_t got, count = 0, sum = 0;
  CHECK_IS(exchanges_open(16, &tx, &rx), YS_OK);
  CHECK_IS(ys_tx_share(tx.raw, &shared), YS_OK);
  CHECK(ys_shared_channel(shared) == ys_rx_channel(rx.raw));
  exchanges_tx_free(tx);
  for (int n = 0; n < THREADS; n++) threads[n] = started(sends, shared);
  for (; count < THREADS * each(); count++) {
    CHECK_IS(exchanges_recv(rx, &got), YS_OK);
    sum += got;
  }
  CHECK_IS(sum, THREADS * (each() * (each() - 1) / 2));
  for (int n = 0; n < THREADS; n++) joined(threads[n]);
  CHECK_IS(exchanges_recv_for(rx, &got, MILLISECOND), YS_TIMEOUT);
  for (int n = 0; n < 16; n++) CHECK_IS(ys_shared_send_for(shared, &got, 0), YS_OK);
  CHECK_IS(ys_shared_send_for(shared, &got, 0), YS_FULL);
  CHECK_IS(ys_shared_send_for(shared, &got, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shared_send_for(shared, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_shared_send_for(NULL, &got, 0), YS_EINVAL);
  CHECK_IS(ys_shared_is_closed(shared), 0);
  exchanges_rx_free(rx);
  CHECK_IS(ys_shared_is_closed(shared), 1);
  CHECK_IS(ys_shared_send_for(shared, &got, -1), YS_CLOSED);
  ys_shared_free(shared);
  ys_shared_free(NULL);
}

static void *sends_until_stopped(void *arg) {
  uint64_t n = 0;
  int code;
  while ((code = ys_shared_send_for(arg, &n, -1)) == YS_OK) continue;
  CHECK_IS(code, YS_STOPPED);
  return NULL;
}

static void which_are_shared(void) {
  pipes_tx pipe;
  pipes_rx pipe_rx;
  answers_tx ask;
  answers_rx answer;
  numbers_tx tx;
  numbers_rx rx;
  levels_tx level;
  levels_rx at;
  ys_shared *shared[2];
  ys_stopper *stopper;
  pthread_t threads[THREADS];
  uint64_t got;
  CHECK_IS(pipes_open(4, &pipe, &pipe_rx), YS_OK);
  CHECK_IS(answers_open(&ask, &answer), YS_OK);
  CHECK_IS(ys_tx_share(pipe.raw, &shared[0]), YS_ENOTSUP);
  CHECK_IS(ys_tx_share(ask.raw, &shared[0]), YS_ENOTSUP);
  CHECK(shared[0] == NULL);
  CHECK_IS(numbers_open(8, &tx, &rx), YS_OK);
  CHECK_IS(levels_open(&(uint64_t){0}, &level, &at), YS_OK);
  CHECK_IS(ys_tx_share(tx.raw, &shared[0]), YS_OK);
  CHECK_IS(ys_tx_share(level.raw, &shared[1]), YS_OK);
  CHECK_IS(ys_shared_send_for(shared[1], &(uint64_t){3}, 0), YS_OK);
  CHECK(levels_recv(at, &got) == YS_OK && got == 3);
  CHECK_IS(ys_rx_stopper(rx.raw, &stopper), YS_OK);
  for (int n = 0; n < THREADS; n++) threads[n] = started(sends_until_stopped, shared[0]);
  usleep(2000);
  CHECK_IS(ys_stop(stopper), YS_OK);
  for (int n = 0; n < THREADS; n++) joined(threads[n]);
  ys_stopper_free(stopper);
  ys_shared_free(shared[0]);
  ys_shared_free(shared[1]);
  pipes_tx_free(pipe);
  pipes_rx_free(pipe_rx);
  answers_tx_free(ask);
  answers_rx_free(answer);
  numbers_tx_free(tx);
  numbers_rx_free(rx);
  levels_tx_free(level);
  levels_rx_free(at);
}

static atomic_long dropped;
static void drop(void *message, void *context) {
  (void)context;
  CHECK(*(uint64_t *)message < 100);
  atomic_fetch_add(&dropped, 1);
}

static void the_oldest_is_replaced(void) {
  ys_tx *tx;
  ys_rx *rx;
  uint64_t got = 0;
  ys_options options = YS_OPTIONS_FOR(uint64_t);
  options.capacity = 3;
  options.drop = drop;
  CHECK_IS(ys_exchange_open(&options, &tx, &rx), YS_OK);
  for (uint64_t n = 0; n < 3; n++) CHECK_IS(ys_force_send(tx, &n, &got), YS_OK);
  CHECK_IS(ys_force_send(tx, &(uint64_t){3}, &got), 1);
  CHECK_IS(got, 0);
  CHECK_IS(atomic_load(&dropped), 0);
  CHECK_IS(ys_force_send(tx, &(uint64_t){4}, NULL), 1);
  CHECK_IS(atomic_load(&dropped), 1);
  CHECK_IS(ys_force_send(tx, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_force_send(NULL, &got, NULL), YS_EINVAL);
  for (uint64_t n = 2; n < 5; n++) CHECK(ys_recv(rx, &got) == YS_OK && got == n);
  ys_rx_free(rx);
  CHECK_IS(ys_force_send(tx, &got, NULL), YS_CLOSED);
  CHECK_IS(atomic_load(&dropped), 1);
  ys_tx_free(tx);
}

/* One handle's wait is stopped, and no other's; it waits anew with another stopper. */
typedef struct waiting {
  ys_rx *rx;
  atomic_int stage;
} waiting;
static void *waits_twice(void *arg) {
  waiting *at = arg;
  ys_stopper *second;
  uint64_t got = 0;
  atomic_store(&at->stage, 1);
  CHECK_IS(ys_recv(at->rx, &got), YS_STOPPED);
  CHECK_IS(ys_recv(at->rx, &got), YS_STOPPED);
  CHECK_IS(ys_rx_wait_stopper(at->rx, &second), YS_OK);
  CHECK_IS(ys_is_stopped(second), 0);
  atomic_store(&at->stage, 2);
  CHECK_IS(ys_recv(at->rx, &got), YS_OK);
  CHECK_IS(got, 9);
  atomic_store(&at->stage, 3);
  CHECK_IS(ys_recv(at->rx, &got), YS_STOPPED);
  CHECK_IS(ys_is_stopped(second), 1);
  ys_stopper_free(second);
  return NULL;
}
static void reaches(waiting *at, int stage) {
  while (atomic_load(&at->stage) < stage) usleep(100);
  usleep(1000);
}
/* What its sender is; the handle's own stop first, then a message, then that of the channel. */
static void is_stopped_alone(ys_tx *tx, ys_rx *rx) {
  waiting at = {rx, 0};
  ys_stopper *first, *all;
  pthread_t thread;
  CHECK_IS(ys_rx_wait_stopper(rx, &first), YS_OK);
  CHECK_IS(ys_tx_stopper(tx, &all), YS_OK);
  thread = started(waits_twice, &at);
  reaches(&at, 1);
  CHECK_IS(ys_stop(first), YS_OK);
  CHECK_IS(ys_is_stopped(all), 0);
  reaches(&at, 2);
  CHECK_IS(ys_send(tx, &(uint64_t){9}), YS_OK);
  reaches(&at, 3);
  CHECK_IS(ys_stop(all), YS_OK);
  joined(thread);
  ys_stopper_free(first);
  ys_stopper_free(all);
  ys_tx_free(tx);
  ys_rx_free(rx);
}
static void one_handle_is_stopped(void) {
  pipes_tx pipe;
  pipes_rx pipe_rx;
  funnels_tx funnel;
  funnels_rx funnel_rx;
  exchanges_tx exchange;
  exchanges_rx exchange_rx;
  numbers_tx tx;
  numbers_rx rx;
  levels_tx level;
  levels_rx at;
  ys_stopper *stopper;
  uint64_t got;
  CHECK_IS(pipes_open(0, &pipe, &pipe_rx), YS_OK);
  is_stopped_alone(pipe.raw, pipe_rx.raw);
  CHECK_IS(funnels_open(4, &funnel, &funnel_rx), YS_OK);
  is_stopped_alone(funnel.raw, funnel_rx.raw);
  CHECK_IS(exchanges_open(4, &exchange, &exchange_rx), YS_OK);
  is_stopped_alone(exchange.raw, exchange_rx.raw);
  CHECK_IS(numbers_open(4, &tx, &rx), YS_OK);
  is_stopped_alone(tx.raw, rx.raw);
  CHECK_IS(levels_open(&(uint64_t){0}, &level, &at), YS_OK);
  is_stopped_alone(level.raw, at.raw);
  /* A sender's. The handle outlives its stopper, and a stopper the handle. */
  CHECK_IS(exchanges_open(1, &exchange, &exchange_rx), YS_OK);
  CHECK_IS(ys_tx_wait_stopper(exchange.raw, &stopper), YS_OK);
  CHECK_IS(exchanges_send(exchange, &(uint64_t){1}), YS_OK);
  CHECK_IS(ys_stop(stopper), YS_OK);
  CHECK_IS(exchanges_send(exchange, &(uint64_t){2}), YS_STOPPED);
  CHECK_IS(exchanges_recv(exchange_rx, &got), YS_OK);
  CHECK_IS(exchanges_recv_for(exchange_rx, &got, 0), YS_EMPTY);
  ys_stopper_free(stopper);
  CHECK_IS(ys_tx_wait_stopper(exchange.raw, &stopper), YS_OK);
  exchanges_tx_free(exchange);
  exchanges_rx_free(exchange_rx);
  CHECK_IS(ys_stop(stopper), YS_OK);
  ys_stopper_free(stopper);
  /* Of a channel that was stopped before. */
  CHECK_IS(pipes_open(0, &pipe, &pipe_rx), YS_OK);
  CHECK_IS(ys_rx_stopper(pipe_rx.raw, &stopper), YS_OK);
  CHECK_IS(ys_stop(stopper), YS_OK);
  ys_stopper_free(stopper);
  CHECK_IS(ys_rx_wait_stopper(pipe_rx.raw, &stopper), YS_OK);
  CHECK_IS(ys_is_stopped(stopper), 1);
  CHECK_IS(pipes_recv(pipe_rx, &got), YS_STOPPED);
  ys_stopper_free(stopper);
  CHECK_IS(ys_rx_wait_stopper(pipe_rx.raw, NULL), YS_EINVAL);
  CHECK_IS(ys_rx_wait_stopper(NULL, &stopper), YS_EINVAL);
  pipes_tx_free(pipe);
  pipes_rx_free(pipe_rx);
}

static void timers(void) {
  ys_timer *once, *beats, *never;
  ys_select *select;
  pipes_tx tx;
  pipes_rx rx;
  size_t message, beat, end, again;
  int count = 0;
  CHECK_IS(ys_timer_after(-1, &once), YS_EINVAL);
  CHECK_IS(ys_timer_after(0, NULL), YS_EINVAL);
  CHECK_IS(ys_timer_after(2 * MILLISECOND, &once), YS_OK);
  CHECK_IS(ys_timer_wait(once, -1), YS_OK);
  CHECK_IS(ys_timer_wait(once, 0), YS_EMPTY);
  CHECK_IS(ys_timer_wait(once, MILLISECOND), YS_TIMEOUT);
  ys_timer_free(once);
  CHECK_IS(ys_timer_after(INT64_MAX, &never), YS_OK);
  CHECK_IS(ys_timer_wait(never, 0), YS_EMPTY);
  CHECK_IS(ys_timer_after(30 * MILLISECOND, &once), YS_OK);
  CHECK_IS(ys_timer_every(MILLISECOND, &beats), YS_OK);
  CHECK_IS(pipes_open(0, &tx, &rx), YS_OK);
  CHECK_IS(ys_select_open(3, &select), YS_OK);
  CHECK_IS(ys_select_add_rx(select, rx.raw, &message), YS_OK);
  CHECK_IS(ys_select_add_timer(select, beats, &beat), YS_OK);
  CHECK_IS(ys_select_add_timer(select, once, &end), YS_OK);
  CHECK_IS(ys_select_add_timer(select, never, &again), YS_ETOOMANY);
  CHECK_IS(ys_select_add_timer(select, NULL, &again), YS_EINVAL);
  for (;;) {
    const ptrdiff_t id = ys_select_wait(select, -1);
    uint64_t got;
    if (id == (ptrdiff_t)message) CHECK_IS(pipes_try_recv(rx, &got), YS_EMPTY);
    if (id == (ptrdiff_t)beat) count += ys_timer_wait(beats, 0) == YS_OK;
    if (id == (ptrdiff_t)end) break;
  }
  CHECK(count >= 1 && count <= 30);
  CHECK_IS(ys_timer_wait(once, 0), YS_OK);
  CHECK_IS(ys_select_remove_timer(select, once), YS_OK);
  CHECK_IS(ys_select_remove_timer(select, once), YS_EATTACHED);
  ys_timer_free(beats);
  ys_timer_free(once);
  ys_timer_free(never);
  ys_timer_free(NULL);
  ys_select_free(select);
  pipes_tx_free(tx);
  pipes_rx_free(rx);
}

int main(void) {
  RUN(a_shared_sender);
  RUN(which_are_shared);
  RUN(the_oldest_is_replaced);
  RUN(one_handle_is_stopped);
  RUN(timers);
}
