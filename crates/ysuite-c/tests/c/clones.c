/* Senders that come and go: a clone for each message, for as long as a program runs, alongside a sender that stays.
 * None is refused, unless
   the channel is for few senders; every message arrives once and in its sender's order, and memory does not grow. */
#include "check.h"

#include <sched.h>
#if defined(__linux__)
#include <malloc.h>
#endif

/* What a sanitizer keeps of what was freed is none of the library's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(YS_ANNOTATED)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* Clones of one channel, and of one between threads. The first are more than an mpsc channel can have senders at once.
 * */
static uint32_t many(void) { return is_long() ? 3000000 : IS_SANITIZED ? 30000 : 300000; }
static uint32_t some(void) { return many() / 3; }

/* Messages of either sender that may be on their way at once, between threads. */
enum { UNDER_WAY = 256 };

/* What is in use after the first tenth of the clones may grow by this much: a leak of a few bytes for each clone would
 * be more. */
enum { GROWS_BY = 1 << 20 };

typedef struct note {
  uint32_t sender, number; /* the sender that stays is number 0 */
} note;

typedef int (*opening)(const ys_options *, ys_tx **, ys_rx **);

/* Bytes that the program has in use: 0 where that is not known. */
static uint64_t in_use(void) {
#if IS_SANITIZED
  return 0;
#elif defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 33))
  const struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
#elif defined(__linux__)
  unsigned long all, resident = 0;
  FILE *pages = fopen("/proc/self/statm", "r");
  CHECK(pages != NULL);
  CHECK_IS(fscanf(pages, "%lu %lu", &all, &resident), 2);
  CHECK_IS(fclose(pages), 0);
  return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
#else
  return 0;
#endif
}

/* What is in use now, against what was before, where that is known already. */
static uint64_t flat(uint64_t before) {
  const uint64_t used = in_use();
  if (before != 0 && used > before + GROWS_BY) {
    fprintf(stderr, "%llu bytes are in use, and were %llu after the first tenth of the clones\n", (unsigned long long)used,
            (unsigned long long)before);
    abort();
  }
  return before != 0 ? before : used;
}

/* Each message is received when the next one has been sent: the receiver always finds another, and never polls in vain.
 * */
static void in_step(opening open, size_t capacity) {
  enum { AHEAD = 4, EACH = 1000 };
  ys_options options = YS_OPTIONS_FOR(note);
  ys_tx *tx, *clone;
  ys_rx *rx;
  note m, staying = {0, 0};
  uint64_t before = 0;
  uint32_t cloned = 0, taken = 0, taken_of_staying = 0;
  unsigned char *is_taken = (unsigned char *)calloc((size_t)many() + 1, 1);
  CHECK(is_taken != NULL);
  options.capacity = capacity;
  CHECK_IS(open(&options, &tx, &rx), YS_OK);
  for (uint32_t sender = 1; sender <= many() || taken != cloned || taken_of_staying != staying.number; sender++) {
    if (sender <= many() && sender % EACH == 0) {
      /* However many have come since the last one, it was received. */
      CHECK_IS(taken_of_staying, staying.number);
      CHECK_IS(ys_try_send(tx, &staying), YS_OK);
      staying.number++;
    } else if (sender <= many()) {
      const note one = {sender, 0};
      CHECK_IS(ys_tx_clone(tx, &clone), YS_OK);
      CHECK_IS(ys_try_send(clone, &one), YS_OK);
      ys_tx_free(clone);
      cloned++;
    }
    if (sender <= AHEAD) continue;
    CHECK_IS(ys_try_recv(rx, &m), YS_OK);
    if (m.sender == 0) {
      CHECK_IS(m.number, taken_of_staying++);
    } else {
      CHECK(m.sender <= many() && !is_taken[m.sender]);
      is_taken[m.sender] = 1;
      taken++;
    }
    if (sender == many() / 10 || sender == many()) before = flat(before);
  }
  CHECK_IS(ys_try_recv(rx, &m), YS_EMPTY);
  ys_tx_free(tx);
  CHECK_IS(ys_try_recv(rx, &m), YS_CLOSED);
  ys_rx_free(rx);
  free(is_taken);
}

/* A channel with its threads: what was received of the sender that stays, and of all others. */
struct course {
  ys_tx *staying;
  ys_rx *rx;
  uint32_t clones, *next;
  uint64_t taken_of_staying, taken_of_others;
};

static uint64_t now(const uint64_t *count) { return __atomic_load_n(count, __ATOMIC_ACQUIRE); }

/* Most send one message, and some several, which have an order. */
static uint32_t messages_of(uint32_t sender) { return sender % 100 == 1 ? 3 : 1; }

static void *receives(void *arg) {
  struct course *course = (struct course *)arg;
  note m;
  int code;
  while ((code = ys_recv(course->rx, &m)) == YS_OK) {
    CHECK(m.sender <= course->clones);
    CHECK_IS(m.number, course->next[m.sender]++);
    __atomic_fetch_add(m.sender == 0 ? &course->taken_of_staying : &course->taken_of_others, 1, __ATOMIC_RELEASE);
  }
  CHECK_IS(code, YS_CLOSED);
  return NULL;
}

static void *stays(void *arg) {
  const struct course *course = (const struct course *)arg;
  for (note m = {0, 0}; m.number < course->clones / 3; m.number++) {
    while (m.number - now(&course->taken_of_staying) >= UNDER_WAY) sched_yield();
    CHECK_IS(ys_send(course->staying, &m), YS_OK);
  }
  return NULL;
}

/* Half of the clones are closed before they are freed, where `is_closed_before`. In a channel for few senders one that was closed
   counts until the receiver has been there: a clone may be refused, but not for ever. Elsewhere nothing but a bound makes the clones wait
   for the receiver, and so that it is not far behind they wait here. */
static void come_and_go(opening open, size_t capacity, size_t senders, int is_closed_before, uint32_t clones) {
  ys_options options = YS_OPTIONS_FOR(note);
  struct course course = {NULL, NULL, clones, NULL, 0, 0};
  ys_tx *tx, *clone;
  uint64_t sent = 0, before = 0;
  options.capacity = capacity;
  options.senders = senders;
  CHECK_IS(open(&options, &tx, &course.rx), YS_OK);
  CHECK_IS(ys_tx_clone(tx, &course.staying), YS_OK);
  course.next = (uint32_t *)calloc((size_t)clones + 1, sizeof *course.next);
  CHECK(course.next != NULL);
  const pthread_t receiver = started(receives, &course), staying = started(stays, &course);
  for (note m = {1, 0}; m.sender <= clones; m.sender++) {
    while (sent - now(&course.taken_of_others) >= UNDER_WAY) sched_yield();
    int answer;
    while ((answer = ys_tx_clone(tx, &clone)) == YS_ETOOMANY && senders != 0) sched_yield();
    CHECK_IS(answer, YS_OK);
    for (m.number = 0; m.number < messages_of(m.sender); m.number++, sent++) CHECK_IS(ys_send(clone, &m), YS_OK);
    if (is_closed_before && m.sender % 2 == 0) CHECK_IS(ys_tx_close(clone), YS_OK);
    ys_tx_free(clone);
    if (m.sender != clones / 10 && m.sender != clones) continue;
    while (now(&course.taken_of_others) != sent) sched_yield();
    before = flat(before);
  }
  joined(staying);
  ys_tx_free(course.staying);
  ys_tx_free(tx);
  joined(receiver);
  CHECK_IS(course.next[0], clones / 3);
  for (uint32_t sender = 1; sender <= clones; sender++) CHECK_IS(course.next[sender], messages_of(sender));
  ys_rx_free(course.rx);
  free(course.next);
}

static void clones_of_a_funnel(void) { in_step(ys_funnel_open, 0); }
static void clones_of_a_funnel_with_a_bound(void) { in_step(ys_funnel_open, 4); }
static void clones_of_an_exchange(void) { in_step(ys_exchange_open, 0); }
static void clones_of_an_exchange_with_a_bound(void) { in_step(ys_exchange_open, 16); }
static void clones_of_a_funnel_between_threads(void) { come_and_go(ys_funnel_open, 0, 0, 1, some()); }
static void clones_of_a_funnel_for_three_between_threads(void) { come_and_go(ys_funnel_open, 4, 3, 1, some()); }
static void clones_of_an_exchange_between_threads(void) { come_and_go(ys_exchange_open, 4, 0, 0, some()); }

int main(void) {
  RUN(clones_of_a_funnel);
  RUN(clones_of_a_funnel_with_a_bound);
  RUN(clones_of_an_exchange);
  RUN(clones_of_an_exchange_with_a_bound);
  RUN(clones_of_a_funnel_between_threads);
  RUN(clones_of_a_funnel_for_three_between_threads);
  RUN(clones_of_an_exchange_between_threads);
  return 0;
}
