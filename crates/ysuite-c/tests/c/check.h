/* What all tests in C use: checks that print their line, threads, a guard against hanging, pseudo-random numbers. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ysuite.h>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
      abort();                                                                     \
    }                                                                              \
  } while (0)

#define CHECK_IS(answer, expected)                                                                                       \
  do {                                                                                                                   \
    const long long answer_ = (long long)(answer), expected_ = (long long)(expected);                                    \
    if (answer_ != expected_) {                                                                                          \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #answer, answer_, expected_);                 \
      abort();                                                                                                           \
    }                                                                                                                    \
  } while (0)

/* The system's alarm ends a test that hangs. */
#define RUN(test)         \
  do {                    \
    alarm(600);           \
    printf("  %s\n", #test); \
    fflush(stdout);       \
    test();               \
  } while (0)

static inline int is_long(void) {
  const char *stress = getenv("YSUITE_STRESS");
  return stress != NULL && strcmp(stress, "long") == 0;
}

static inline pthread_t started(void *(*body)(void *), void *arg) {
  pthread_t thread;
  CHECK_IS(pthread_create(&thread, NULL, body, arg), 0);
  return thread;
}

static inline void joined(pthread_t thread) { CHECK_IS(pthread_join(thread, NULL), 0); }

/* Whether a thread can be cancelled here. Not under AddressSanitizer of clang: what unwinds the thread leaves the poison of its frames on the
 * stack, on which the sanitizer then ends the thread, and there it reports a write of its own (AsanThread::Destroy). */
static inline int can_cancel(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return 0;
#endif
#endif
  return 1;
}

static inline uint64_t random_next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Lets the other thread get up to a little further than it was. */
static inline void random_pause(uint64_t *state, unsigned most) {
  for (unsigned n = (unsigned)(random_next(state) % most); n != 0; n--) __asm__ volatile("" : : : "memory");
}

/* Whether the library of this run opens windows for this program. */
static inline int has_windows(void) { return YS_HAS_INLINE && ys_window_version() == YS_WINDOW_VERSION; }

static inline int is_open_tx(ys_tx *tx) {
  void *handle = tx;
  return ((ys_tx_window *)handle)->next != NULL;
}
static inline int is_open_rx(ys_rx *rx) {
  void *handle = rx;
  return ((ys_rx_window *)handle)->end != NULL;
}

#define MILLISECOND INT64_C(1000000)

#endif
