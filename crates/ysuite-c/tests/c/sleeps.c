/* Stress tests for a lost wake-up: threads that sleep at once, in every way there is, woken by others at random
 * moments. A thread that is not
   woken hangs, and the alarm ends the program. 4,000 rounds of each kind, in which either side may sleep; 1,000,000 where YSUITE_STRESS is
   "long". How often the tests' own thread has slept is printed. */
#include "check.h"

#include <sys/epoll.h>
#include <sys/resource.h>

YS_DEFINE_PIPE(words, uint64_t);
YS_DEFINE_FUNNEL(lanes, uint64_t);
YS_DEFINE_EXCHANGE(marks, uint64_t);

static uint64_t rounds(void) { return is_long() ? 1000000 : 4000; }

/* How often this thread has given its processor up to wait. */
static long waits(void) {
#ifdef RUSAGE_THREAD
  struct rusage usage;
  CHECK_IS(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
#else
  return 0;
#endif
}

#define PING_PONG(kind)                                                                       \
  struct kind##_way {                                                                         \
    kind##_tx tx;                                                                             \
    kind##_rx rx;                                                                             \
  };                                                                                          \
  static void *kind##_answers(void *arg) {                                                    \
    const struct kind##_way *way = (const struct kind##_way *)arg;                            \
    uint64_t word, state = 362436069;                                                         \
    while (kind##_recv(way->rx, &word) == YS_OK) {                                            \
      random_pause(&state, 2000);                                                             \
      word++;                                                                                 \
      CHECK_IS(kind##_send(way->tx, &word), YS_OK);                                           \
    }                                                                                         \
    kind##_tx_free(way->tx);                                                                  \
    return NULL;                                                                              \
  }                                                                                           \
  /* Two receivers that wait for each other: a sleep each, each round. */                     \
  static void kind##_to_and_fro(void) {                                                       \
    struct kind##_way near, far;                                                              \
    uint64_t word = 0, state = 88172645463325252u;                                            \
    const long before = waits();                                                              \
    CHECK_IS(kind##_open(0, &near.tx, &far.rx), YS_OK);                                       \
    CHECK_IS(kind##_open(0, &far.tx, &near.rx), YS_OK);                                       \
    CHECK_IS(ys_rx_set_spin(near.rx.raw, YS_SPIN_NONE), YS_OK);                               \
    CHECK_IS(ys_rx_set_spin(far.rx.raw, YS_SPIN_NONE), YS_OK);                                \
    const pthread_t thread = started(kind##_answers, &far);                                   \
    for (uint64_t round = 0; round < rounds(); round++) {                                 \
      const uint64_t sent = word;                                                             \
      random_pause(&state, 2000);                                                             \
      CHECK_IS(kind##_send(near.tx, &word), YS_OK);                                           \
      CHECK_IS(kind##_recv(near.rx, &word), YS_OK);                                           \
      CHECK_IS(word, sent + 1);                                                               \
    }                                                                                         \
    kind##_tx_free(near.tx);                                                                  \
    CHECK_IS(kind##_recv(near.rx, &word), YS_CLOSED);                                         \
    joined(thread);                                                                           \
    kind##_rx_free(near.rx);                                                                  \
    kind##_rx_free(far.rx);                                                                   \
    printf("    %ld waits here\n", waits() - before);                                         \
  }

PING_PONG(words)
PING_PONG(lanes)
PING_PONG(marks)

#define BOUNDED(kind)                                                                         \
  static void *kind##_fills(void *arg) {                                                      \
    const kind##_tx tx = *(kind##_tx *)arg;                                                   \
    uint64_t state = 362436069;                                                               \
    for (uint64_t n = 0; n < rounds(); n++) {                                                 \
      random_pause(&state, 500);                                                              \
      CHECK_IS(kind##_send(tx, &n), YS_OK);                                                   \
    }                                                                                         \
    kind##_tx_free(tx);                                                                       \
    return NULL;                                                                              \
  }                                                                                           \
  /* A bound of one: either waits for the other at every message. */                          \
  static void kind##_with_a_bound_of_one(void) {                                              \
    kind##_tx tx;                                                                             \
    kind##_rx rx;                                                                             \
    uint64_t word, expected = 0, state = 88172645463325252u;                                  \
    const long before = waits();                                                              \
    CHECK_IS(kind##_open(1, &tx, &rx), YS_OK);                                                \
    CHECK_IS(ys_tx_set_spin(tx.raw, YS_SPIN_NONE), YS_OK);                                    \
    CHECK_IS(ys_rx_set_spin(rx.raw, YS_SPIN_NONE), YS_OK);                                    \
    const pthread_t thread = started(kind##_fills, &tx);                                      \
    while (kind##_recv(rx, &word) == YS_OK) {                                                 \
      CHECK_IS(word, expected++);                                                             \
      random_pause(&state, 500);                                                              \
    }                                                                                         \
    CHECK_IS(expected, rounds());                                                             \
    joined(thread);                                                                           \
    kind##_rx_free(rx);                                                                       \
    printf("    %ld waits here\n", waits() - before);                                         \
  }

BOUNDED(words)
BOUNDED(lanes)
BOUNDED(marks)

/* Waits by time limits that are up now and then: a wake-up and a timeout at the same moment. */
static void limits_that_are_up(void) {
  struct words_way near, far;
  uint64_t word = 0, state = 88172645463325252u, timeouts = 0;
  CHECK_IS(words_open(0, &near.tx, &far.rx), YS_OK);
  CHECK_IS(words_open(0, &far.tx, &near.rx), YS_OK);
  CHECK_IS(ys_rx_set_spin(near.rx.raw, YS_SPIN_NONE), YS_OK);
  CHECK_IS(ys_rx_set_spin(far.rx.raw, YS_SPIN_NONE), YS_OK);
  const pthread_t thread = started(words_answers, &far);
  for (uint64_t round = 0; round < rounds(); round++) {
    int answer;
    CHECK_IS(words_send(near.tx, &word), YS_OK);
    while ((answer = words_recv_for(near.rx, &word, (int64_t)(1 + random_next(&state) % 5000))) == YS_TIMEOUT) timeouts++;
    CHECK_IS(answer, YS_OK);
    CHECK_IS(word, round + 1);
  }
  words_tx_free(near.tx);
  joined(thread);
  words_rx_free(near.rx);
  words_rx_free(far.rx);
  printf("    %llu times up\n", (unsigned long long)timeouts);
}

/* Many ways to one thread: each message of a round comes by the next. */
enum { WAYS = 3 };

struct ways {
  words_tx out[WAYS];
  words_rx back;
};

static void *sends_by_turns(void *arg) {
  struct ways *ways = (struct ways *)arg;
  uint64_t word, state = 362436069;
  for (uint64_t n = 0; n < rounds(); n++) {
    random_pause(&state, 2000);
    CHECK_IS(words_send(ways->out[n % WAYS], &n), YS_OK);
    CHECK_IS(words_recv(ways->back, &word), YS_OK);
    CHECK_IS(word, n);
  }
  for (int i = 0; i < WAYS; i++) words_tx_free(ways->out[i]);
  words_rx_free(ways->back);
  return NULL;
}

static void ways_open(struct ways *ways, words_rx in[WAYS], words_tx *back) {
  for (int i = 0; i < WAYS; i++) CHECK_IS(words_open(0, &ways->out[i], &in[i]), YS_OK);
  CHECK_IS(words_open(0, back, &ways->back), YS_OK);
  CHECK_IS(ys_rx_set_spin(ways->back.raw, YS_SPIN_NONE), YS_OK);
}

/* Takes all there is from one channel, and answers each. */
static int drained(words_rx in, words_tx back, uint64_t *expected) {
  uint64_t word;
  int answer;
  while ((answer = words_try_recv(in, &word)) == YS_OK) {
    CHECK_IS(word, *expected);
    ++*expected;
    CHECK_IS(words_send(back, &word), YS_OK);
  }
  return answer;
}

static void set_loop(int has_descriptor) {
  struct ways ways;
  words_rx in[WAYS];
  words_tx back;
  ys_set *set;
  uint64_t expected = 0;
  int open = WAYS, epoll = -1;
  const long before = waits();
  ways_open(&ways, in, &back);
  CHECK_IS((has_descriptor ? ys_set_open : ys_pollset_open)(WAYS, &set), YS_OK);
  for (size_t i = 0; i < WAYS; i++) CHECK_IS(ys_set_attach_rx(set, in[i].raw, i), YS_OK);
  if (has_descriptor) {
    struct epoll_event event = {.events = EPOLLIN};
    epoll = epoll_create1(0);
    CHECK(epoll >= 0);
    CHECK_IS(epoll_ctl(epoll, EPOLL_CTL_ADD, ys_set_fd(set), &event), 0);
  }
  const pthread_t thread = started(sends_by_turns, &ways);
  while (open != 0) {
    size_t ids[WAYS];
    if (has_descriptor) {
      struct epoll_event event;
      int ready;
      do ready = epoll_wait(epoll, &event, 1, -1);
      while (ready < 0);
      CHECK_IS(ready, 1);
    }
    const ptrdiff_t up = ys_set_wait(set, ids, WAYS, has_descriptor ? 0 : -1);
    CHECK(up > 0 || (has_descriptor && up == YS_EMPTY));
    for (ptrdiff_t i = 0; i < up; i++) {
      CHECK(ids[i] < WAYS);
      if (in[ids[i]].raw != NULL && drained(in[ids[i]], back, &expected) == YS_CLOSED) {
        CHECK_IS(ys_set_detach_rx(set, in[ids[i]].raw), YS_OK);
        words_rx_free(in[ids[i]]);
        in[ids[i]].raw = NULL;
        open--;
      }
    }
  }
  CHECK_IS(expected, rounds());
  joined(thread);
  if (has_descriptor) close(epoll);
  ys_set_free(set);
  words_tx_free(back);
  printf("    %ld waits here\n", waits() - before);
}

static void a_set_with_epoll(void) { set_loop(1); }
static void a_set_without_a_descriptor(void) { set_loop(0); }

static void a_select(void) {
  struct ways ways;
  words_rx in[WAYS];
  words_tx back;
  ys_select *select;
  uint64_t expected = 0;
  size_t ids[WAYS];
  int open = WAYS;
  const long before = waits();
  ways_open(&ways, in, &back);
  CHECK_IS(ys_select_open(WAYS, &select), YS_OK);
  for (int i = 0; i < WAYS; i++) CHECK_IS(ys_select_add_rx(select, in[i].raw, &ids[i]), YS_OK);
  const pthread_t thread = started(sends_by_turns, &ways);
  while (open != 0) {
    const ptrdiff_t id = ys_select_wait(select, -1);
    CHECK(id >= 0);
    for (int i = 0; i < WAYS; i++) {
      if (in[i].raw != NULL && ids[i] == (size_t)id && drained(in[i], back, &expected) == YS_CLOSED) {
        CHECK_IS(ys_select_remove_rx(select, in[i].raw), YS_OK);
        words_rx_free(in[i]);
        in[i].raw = NULL;
        open--;
      }
    }
  }
  CHECK_IS(expected, rounds());
  joined(thread);
  ys_select_free(select);
  words_tx_free(back);
  printf("    %ld waits here\n", waits() - before);
}

static void *receives_slowly(void *arg) {
  const words_rx rx = *(words_rx *)arg;
  uint64_t word, expected = 0, state = 362436069;
  while (words_recv(rx, &word) == YS_OK) {
    CHECK_IS(word, expected++);
    random_pause(&state, 500);
  }
  CHECK_IS(expected, rounds());
  words_rx_free(rx);
  return NULL;
}

/* A sender that is attached waits for room through the set. */
static void a_set_of_senders(void) {
  words_tx tx;
  words_rx rx;
  ys_set *set;
  CHECK_IS(words_open(2, &tx, &rx), YS_OK);
  CHECK_IS(ys_rx_set_spin(rx.raw, YS_SPIN_NONE), YS_OK);
  CHECK_IS(ys_set_open(4, &set), YS_OK);
  CHECK_IS(ys_set_attach_tx(set, tx.raw, 3), YS_OK);
  const pthread_t thread = started(receives_slowly, &rx);
  for (uint64_t n = 0; n < rounds();) {
    size_t id;
    CHECK_IS(ys_set_wait(set, &id, 1, -1), 1);
    CHECK_IS(id, 3);
    while (n < rounds() && words_try_send(tx, &n) == YS_OK) n++;
  }
  words_tx_free(tx);
  joined(thread);
  ys_set_free(set);
}

int main(void) {
  RUN(words_to_and_fro);
  RUN(lanes_to_and_fro);
  RUN(marks_to_and_fro);
  RUN(words_with_a_bound_of_one);
  RUN(lanes_with_a_bound_of_one);
  RUN(marks_with_a_bound_of_one);
  RUN(limits_that_are_up);
  RUN(a_set_with_epoll);
  RUN(a_set_without_a_descriptor);
  RUN(a_select);
  RUN(a_set_of_senders);
  return 0;
}
