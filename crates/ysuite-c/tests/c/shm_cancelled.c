/* A thread that is cancelled while it waits for another process. */
#include "processes.h"

/* A call that waits is no cancellation point: the thread is cancelled at the next one behind it. */
static void *is_cancelled(void *arg) {
  ys_shm_rx *rx = (ys_shm_rx *)arg;
  char byte = 0;
  size_t length;
  CHECK_IS(ys_shm_recv(rx, &byte, 1, &length), YS_OK);
  CHECK(byte == 'a');
  for (;;) pthread_testcancel(), usleep(1000);
  return NULL;
}

static void *is_cancelled_as_it_accepts(void *arg) {
  CHECK_IS(ys_shm_accept((ys_shm_listener *)arg, 20 * MILLISECOND), YS_TIMEOUT);
  for (;;) pthread_testcancel(), usleep(1000);
  return NULL;
}

static void a_wait_is_no_cancellation_point(void) {
  if (!can_cancel()) return;
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  void *result;
  CHECK_IS(ys_shm_pipe_open(64, NULL, &tx, &rx), YS_OK);
  const unique name = name_of("cancelled");
  ys_shm_listener *listener;
  CHECK_IS(ys_shm_listener_open(name.name, NULL, &listener), YS_OK);
  const pthread_t receiving = started(is_cancelled, rx), accepting = started(is_cancelled_as_it_accepts, listener);
  usleep(5000);
  CHECK_IS(pthread_cancel(receiving), 0);
  CHECK_IS(pthread_cancel(accepting), 0);
  usleep(5000);
  CHECK_IS(ys_shm_send(tx, "a", 1), YS_OK);
  CHECK_IS(pthread_join(receiving, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
  CHECK_IS(pthread_join(accepting, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
  ys_shm_listener_free(listener);
}

int main(void) {
  RUN_CLEAN(a_wait_is_no_cancellation_point);
  return 0;
}
