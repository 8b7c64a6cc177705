/* Shutting down: ys_stop wakes every waiting thread, from any thread; and the recipe of the header's documentation. */
#include "check.h"

#include <errno.h>

YS_DEFINE_PIPE(pipes, uint64_t);
YS_DEFINE_FUNNEL(funnels, uint64_t);
YS_DEFINE_EXCHANGE(exchanges, uint64_t);

static const uint64_t word = 7;

typedef struct waiter {
  ys_tx *tx;
  ys_rx *rx;
  ys_set *set;
  ys_select *select;
  ys_pool *pool;
  /* Written before the stop, by the thread that stops. */
  int told;
  ptrdiff_t answer;
} waiter;

static void *receives(void *arg) {
  waiter *this = (waiter *)arg;
  uint64_t got;
  this->answer = ys_recv(this->rx, &got);
  CHECK_IS(this->told, 1);
  return NULL;
}
static void *receives_for(void *arg) {
  waiter *this = (waiter *)arg;
  uint64_t got;
  this->answer = ys_recv_for(this->rx, &got, 600000 * MILLISECOND);
  CHECK_IS(this->told, 1);
  return NULL;
}
static void *sends(void *arg) {
  waiter *this = (waiter *)arg;
  do this->answer = ys_send(this->tx, &word);
  while (this->answer == YS_OK);
  CHECK_IS(this->told, 1);
  return NULL;
}
static void *waits_for_the_set(void *arg) {
  waiter *this = (waiter *)arg;
  size_t id;
  this->answer = ys_set_wait(this->set, &id, 1, -1);
  CHECK_IS(this->told, 1);
  return NULL;
}
static void *waits_for_the_select(void *arg) {
  waiter *this = (waiter *)arg;
  this->answer = ys_select_wait(this->select, -1);
  CHECK_IS(this->told, 1);
  return NULL;
}
static void *takes(void *arg) {
  waiter *this = (waiter *)arg;
  CHECK(ys_pool_take(this->pool, 8, -1) == NULL);
  this->answer = errno == ECANCELED ? YS_STOPPED : errno;
  CHECK_IS(this->told, 1);
  return NULL;
}

/* Starts the body, lets it get as far as it will, and stops it. */
static void stopped(void *(*body)(void *), waiter *this, ys_stopper *stopper, unsigned pause) {
  this->told = 0;
  const pthread_t thread = started(body, this);
  usleep(pause);
  this->told = 1;
  CHECK_IS(ys_stop(stopper), YS_OK);
  joined(thread);
  CHECK_IS(this->answer, YS_STOPPED);
  CHECK_IS(ys_is_stopped(stopper), 1);
  ys_stopper_free(stopper);
}

static const unsigned pauses[] = {0, 300, 20000};

/* A set's, a select's or a pool's own stop ends waits until there is another. */
static void takes_or_is_stopped(ys_pool *pool, ys_stopper *stopper, int code) {
  CHECK(ys_pool_take_or_stop(pool, 8, -1, stopper) == NULL);
  CHECK_IS(errno, code);
}
static void stopped_for_a_while(void) {
  const ys_pool_class class = {8, 1};
  ys_stopper *first, *same, *next, *all;
  size_t id;
  void *block;
  waiter this = {NULL, NULL, NULL, NULL, NULL, 0, 0};
  for (int has_descriptor = 0; has_descriptor < 2; has_descriptor++) {
    CHECK_IS(has_descriptor ? ys_set_open(2, &this.set) : ys_pollset_open(2, &this.set), YS_OK);
    CHECK_IS(ys_set_wait_stopper(this.set, &same), YS_OK);
    CHECK_IS(ys_set_wait_stopper(this.set, &first), YS_OK);
    stopped(waits_for_the_set, &this, first, 300);
    CHECK_IS(ys_is_stopped(same), 1);
    CHECK_IS(ys_set_wait(this.set, &id, 1, 0), YS_STOPPED);
    CHECK_IS(ys_set_wait_stopper(this.set, &next), YS_OK);
    CHECK_IS(ys_is_stopped(next), 0);
    CHECK_IS(ys_set_wait(this.set, &id, 1, 0), YS_EMPTY);
    CHECK_IS(ys_set_wait(this.set, &id, 1, 1000000), YS_TIMEOUT);
    /* One that was replaced is nobody's. */
    CHECK_IS(ys_stop(same), YS_OK);
    CHECK_IS(ys_set_wait(this.set, &id, 1, 0), YS_EMPTY);
    CHECK_IS(ys_set_stopper(this.set, &all), YS_OK);
    CHECK_IS(ys_stop(all), YS_OK);
    CHECK_IS(ys_is_stopped(next), 1);
    ys_stopper_free(next);
    CHECK_IS(ys_set_wait_stopper(this.set, &next), YS_OK);
    CHECK_IS(ys_set_wait(this.set, &id, 1, -1), YS_STOPPED);
    CHECK_IS(ys_set_wait_stopper(this.set, NULL), YS_EINVAL);
    ys_set_free(this.set);
    CHECK_IS(ys_stop(next), YS_OK);
    ys_stopper_free(next), ys_stopper_free(same), ys_stopper_free(all);
  }
  CHECK_IS(ys_set_wait_stopper(NULL, &next), YS_EINVAL);
  CHECK_IS(ys_select_open(1, &this.select), YS_OK);
  CHECK_IS(ys_select_wait_stopper(this.select, &same), YS_OK);
  CHECK_IS(ys_select_wait_stopper(this.select, &first), YS_OK);
  stopped(waits_for_the_select, &this, first, 300);
  CHECK_IS(ys_select_wait(this.select, 0), YS_STOPPED);
  CHECK_IS(ys_select_wait_stopper(this.select, &next), YS_OK);
  CHECK_IS(ys_select_wait(this.select, 0), YS_EMPTY);
  CHECK_IS(ys_stop(same), YS_OK);
  CHECK_IS(ys_select_wait(this.select, 1000000), YS_TIMEOUT);
  ys_stopper_free(same);
  CHECK_IS(ys_select_wait_stopper(this.select, NULL), YS_EINVAL);
  CHECK_IS(ys_select_wait_stopper(NULL, &same), YS_EINVAL);
  ys_select_free(this.select);
  ys_stopper_free(next);
  CHECK_IS(ys_pool_open(&class, 1, &this.pool), YS_OK);
  CHECK_IS(ys_pool_wait_stopper(this.pool, &first), YS_OK);
  CHECK_IS(ys_pool_wait_stopper(this.pool, &next), YS_OK);
  CHECK((block = ys_pool_take_or_stop(this.pool, 8, -1, first)) != NULL);
  CHECK_IS(ys_stop(first), YS_OK);
  takes_or_is_stopped(this.pool, first, ECANCELED);
  CHECK(ys_pool_take_or_stop(this.pool, 8, 1000000, next) == NULL);
  CHECK_IS(errno, ETIMEDOUT);
  CHECK(ys_pool_take_or_stop(this.pool, 8, 0, NULL) == NULL);
  CHECK_IS(errno, EAGAIN);
  ys_msg_free(block);
  CHECK((block = ys_pool_take_or_stop(this.pool, 8, -1, first)) != NULL);
  CHECK_IS(ys_pool_stopper(this.pool, &all), YS_OK);
  CHECK_IS(ys_stop(all), YS_OK);
  takes_or_is_stopped(this.pool, next, ECANCELED);
  CHECK_IS(ys_pool_wait_stopper(this.pool, NULL), YS_EINVAL);
  CHECK_IS(ys_pool_wait_stopper(NULL, &same), YS_EINVAL);
  ys_msg_free(block);
  ys_pool_free(this.pool);
  ys_stopper_free(first), ys_stopper_free(next), ys_stopper_free(all);
}

typedef int (*opening)(const ys_options *, ys_tx **, ys_rx **);

static void receivers_and_senders(void) {
  const opening openings[] = {ys_pipe_open, ys_funnel_open, ys_exchange_open};
  void *(*const bodies[])(void *) = {receives, receives_for, sends};
  for (size_t i = 0; i < 27; i++) {
    ys_options options = YS_OPTIONS_FOR(uint64_t);
    ys_stopper *stopper;
    waiter this = {NULL, NULL, NULL, NULL, NULL, 0, 0};
    options.capacity = 1;
    CHECK_IS(openings[i % 3](&options, &this.tx, &this.rx), YS_OK);
    CHECK_IS(i % 2 ? ys_tx_stopper(this.tx, &stopper) : ys_rx_stopper(this.rx, &stopper), YS_OK);
    stopped(bodies[i / 3 % 3], &this, stopper, pauses[i / 9]);
    ys_tx_free(this.tx);
    ys_rx_free(this.rx);
  }
}

static void sets_selects_and_pools(void) {
  for (size_t i = 0; i < 3; i++) {
    const ys_pool_class class = {8, 1};
    ys_stopper *stopper;
    void *block;
    waiter this = {NULL, NULL, NULL, NULL, NULL, 0, 0};
    for (int has_descriptor = 0; has_descriptor < 2; has_descriptor++) {
      CHECK_IS(has_descriptor ? ys_set_open(2, &this.set) : ys_pollset_open(2, &this.set), YS_OK);
      CHECK_IS(ys_set_stopper(this.set, &stopper), YS_OK);
      stopped(waits_for_the_set, &this, stopper, pauses[i]);
      ys_set_free(this.set);
    }
    CHECK_IS(ys_select_open(2, &this.select), YS_OK);
    CHECK_IS(ys_select_stopper(this.select, &stopper), YS_OK);
    stopped(waits_for_the_select, &this, stopper, pauses[i]);
    ys_select_free(this.select);
    CHECK_IS(ys_pool_open(&class, 1, &this.pool), YS_OK);
    CHECK_IS(ys_pool_stopper(this.pool, &stopper), YS_OK);
    CHECK((block = ys_pool_take(this.pool, 8, 0)) != NULL);
    stopped(takes, &this, stopper, pauses[i]);
    ys_msg_free(block);
    ys_pool_free(this.pool);
  }
}

/* A call that waits is no cancellation point: a thread that is cancelled there is woken by a stop, and is cancelled at the next point. */
static void *is_cancelled(void *arg) {
  waiter *this = (waiter *)arg;
  uint64_t got;
  this->answer = ys_recv(this->rx, &got);
  for (;;) pthread_testcancel(), usleep(1000);
  return NULL;
}

static void cancelled_and_stopped(void) {
  if (!can_cancel()) return;
  ys_options options = YS_OPTIONS_FOR(uint64_t);
  waiter this = {NULL, NULL, NULL, NULL, NULL, 0, 0};
  ys_stopper *stopper;
  void *result;
  CHECK_IS(ys_pipe_open(&options, &this.tx, &this.rx), YS_OK);
  CHECK_IS(ys_rx_stopper(this.rx, &stopper), YS_OK);
  const pthread_t thread = started(is_cancelled, &this);
  usleep(5000);
  CHECK_IS(pthread_cancel(thread), 0);
  usleep(5000);
  CHECK_IS(ys_stop(stopper), YS_OK);
  CHECK_IS(pthread_join(thread, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
  CHECK_IS(this.answer, YS_STOPPED);
  ys_stopper_free(stopper);
  ys_tx_free(this.tx);
  ys_rx_free(this.rx);
}

/* The recipe: workers return by themselves, each frees its own handles, and nothing that was sent before is lost. */
enum { WORKERS = 4 };

typedef struct worker {
  exchanges_rx jobs;
  funnels_tx results;
  uint64_t done;
} worker;

static void *works(void *arg) {
  worker *this = (worker *)arg;
  uint64_t job;
  int code;
  while ((code = exchanges_recv(this->jobs, &job)) == YS_OK) {
    this->done++;
    /* Stopped while no thread makes room any more: the job is done all the same. */
    if (funnels_send(this->results, &job) != YS_OK) break;
  }
  exchanges_rx_free(this->jobs);
  funnels_tx_free(this->results);
  return NULL;
}

static void a_pool_of_workers_shuts_down(void) {
  exchanges_tx jobs;
  exchanges_rx jobs_rx;
  funnels_tx results;
  funnels_rx results_rx;
  ys_stopper *stop_jobs, *stop_results;
  worker workers[WORKERS];
  pthread_t threads[WORKERS];
  uint64_t got, received = 0, done = 0;
  CHECK_IS(exchanges_open(64, &jobs, &jobs_rx), YS_OK);
  CHECK_IS(funnels_open(2, &results, &results_rx), YS_OK);
  CHECK_IS(ys_tx_stopper(jobs.raw, &stop_jobs), YS_OK);
  CHECK_IS(ys_rx_stopper(results_rx.raw, &stop_results), YS_OK);
  for (int i = 0; i < WORKERS; i++) {
    workers[i].done = 0;
    CHECK_IS(exchanges_rx_clone(jobs_rx, &workers[i].jobs), YS_OK);
    CHECK_IS(funnels_tx_clone(results, &workers[i].results), YS_OK);
    threads[i] = started(works, &workers[i]);
  }
  for (uint64_t n = 0; n < 40; n++) CHECK_IS(exchanges_send(jobs, &n), YS_OK);
  for (; received < 20; received++) CHECK_IS(funnels_recv(results_rx, &got), YS_OK);
  /* 1: no thread waits any more. 2: join. 3: what is left is received, or dropped with the last handles. */
  CHECK_IS(ys_stop(stop_jobs), YS_OK);
  CHECK_IS(ys_stop(stop_results), YS_OK);
  for (int i = 0; i < WORKERS; i++) joined(threads[i]), done += workers[i].done;
  funnels_tx_free(results);
  while (funnels_recv(results_rx, &got) == YS_OK) received++;
  CHECK(received <= done && done <= 40);
  ys_stopper_free(stop_jobs);
  ys_stopper_free(stop_results);
  exchanges_tx_free(jobs);
  exchanges_rx_free(jobs_rx);
  funnels_rx_free(results_rx);
}

/* Inline calls too: they are calls where they would wait. */
static void *reads(void *arg) {
  const pipes_rx *rx = (const pipes_rx *)arg;
  uint64_t got, n = 0;
  while (pipes_recv(*rx, &got) == YS_OK) CHECK_IS(got, n++);
  CHECK_IS(pipes_recv(*rx, &got), YS_STOPPED);
  return (void *)(uintptr_t)n;
}

static void a_stream_is_received_and_then_the_stop(void) {
  pipes_tx tx;
  pipes_rx rx;
  ys_stopper *stopper;
  void *received;
  CHECK_IS(pipes_open(256, &tx, &rx), YS_OK);
  CHECK_IS(ys_tx_stopper(tx.raw, &stopper), YS_OK);
  const pthread_t thread = started(reads, &rx);
  for (uint64_t n = 0; n < 10000; n++) CHECK_IS(pipes_send(tx, &n), YS_OK);
  CHECK_IS(ys_stop(stopper), YS_OK);
  CHECK_IS(pthread_join(thread, &received), 0);
  CHECK_IS((uintptr_t)received, 10000);
  ys_stopper_free(stopper);
  pipes_tx_free(tx);
  pipes_rx_free(rx);
}

int main(void) {
  RUN(receivers_and_senders);
  RUN(sets_selects_and_pools);
  RUN(stopped_for_a_while);
  RUN(cancelled_and_stopped);
  RUN(a_pool_of_workers_shuts_down);
  RUN(a_stream_is_received_and_then_the_stop);
  return 0;
}
