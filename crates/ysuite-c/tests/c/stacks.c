/* Threads with as little stack as the documentation says: each kind of channel, of the largest messages, a set, a select and a pool. */
#include "check.h"

typedef struct large {
  uint64_t words[16];
} large;

/* A sanitizer's frames are its own affair. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(YS_ANNOTATED)
#define LEAST (1024 * 1024)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAST (1024 * 1024)
#endif
#endif
#ifndef LEAST
#define LEAST (64 * 1024)
#endif

typedef int (*opening)(const ys_options *, ys_tx **, ys_rx **);

static void of_a_kind(opening open, size_t capacity) {
  const large message = {{1, 2, 3}};
  large got[2];
  ys_options options = YS_OPTIONS_FOR(large);
  ys_stopper *stopper;
  ys_set *set;
  ys_tx *tx;
  ys_rx *rx;
  size_t id;
  options.capacity = capacity;
  CHECK_IS(open(&options, &tx, &rx), YS_OK);
  CHECK_IS(ys_set_open(4, &set), YS_OK);
  CHECK_IS(ys_set_attach_rx(set, rx, 3), YS_OK);
  CHECK_IS(ys_send_batch(tx, &message, 1, -1), 1);
  CHECK_IS(ys_set_wait(set, &id, 1, -1), 1);
  CHECK_IS(ys_recv_batch(rx, got, 2, -1), 1);
  CHECK_IS(got[0].words[2], 3);
  CHECK_IS(ys_set_detach_rx(set, rx), YS_OK);
  CHECK(ys_recv_for(rx, got, MILLISECOND) != YS_OK);
  CHECK_IS(ys_rx_stopper(rx, &stopper), YS_OK);
  CHECK_IS(ys_stop(stopper), YS_OK);
  ys_stopper_free(stopper);
  CHECK(ys_recv(rx, got) != YS_OK);
  ys_tx_free(tx);
  ys_rx_free(rx);
  ys_set_free(set);
}

static void *does_everything(void *arg) {
  const ys_pool_class classes[] = {{64, 8}, {4096, 2}};
  ys_select *select;
  ys_pool *pool;
  void *message;
  (void)arg;
  of_a_kind(ys_pipe_open, 0);
  of_a_kind(ys_pipe_open, 4);
  of_a_kind(ys_funnel_open, 0);
  of_a_kind(ys_funnel_open, 4);
  of_a_kind(ys_exchange_open, 0);
  of_a_kind(ys_exchange_open, 4);
  of_a_kind(ys_oneshot_open, 0);
  CHECK_IS(ys_select_open(2, &select), YS_OK);
  CHECK_IS(ys_select_wait(select, MILLISECOND), YS_TIMEOUT);
  ys_select_free(select);
  CHECK_IS(ys_pool_open(classes, 2, &pool), YS_OK);
  CHECK((message = ys_pool_take(pool, 4096, -1)) != NULL);
  ys_msg_free(message);
  CHECK((message = ys_pool_take(pool, 1, MILLISECOND)) != NULL);
  ys_msg_free(message);
  ys_pool_free(pool);
  return NULL;
}

static void a_thread_with_the_least_stack(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK_IS(pthread_attr_init(&attributes), 0);
  CHECK_IS(pthread_attr_setstacksize(&attributes, LEAST), 0);
  CHECK_IS(pthread_create(&thread, &attributes, does_everything, NULL), 0);
  joined(thread);
  CHECK_IS(pthread_attr_destroy(&attributes), 0);
}

int main(void) {
  RUN(a_thread_with_the_least_stack);
  return 0;
}
