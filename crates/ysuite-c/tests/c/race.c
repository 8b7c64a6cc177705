/* A mistake that ThreadSanitizer must see through the channel's annotations: what was sent is written to afterwards. Expected to be
   reported; run by `--sanitizer thread` only. Of two accesses at the very same time that sanitizer may see neither, so that one comes
   after the other, of which nothing tells it. */
#include "check.h"

#include <stdatomic.h>

YS_DEFINE_PIPE(addresses, int *);

static atomic_int is_written;

static void *reads(void *arg) {
  const addresses_rx rx = *(addresses_rx *)arg;
  int *there;
  CHECK_IS(addresses_recv(rx, &there), YS_OK);
  /* Relaxed: a thread that reads it need not see what came before. */
  while (atomic_load_explicit(&is_written, memory_order_relaxed) == 0) usleep(100);
  CHECK(*there == 2);
  return NULL;
}

static void what_was_sent_is_written_to(void) {
  static int shared = 1;
  int *address = &shared;
  addresses_tx tx;
  addresses_rx rx;
  CHECK_IS(addresses_open(0, &tx, &rx), YS_OK);
  const pthread_t thread = started(reads, &rx);
  CHECK_IS(addresses_send(tx, &address), YS_OK);
  shared = 2;
  atomic_store_explicit(&is_written, 1, memory_order_relaxed);
  joined(thread);
  addresses_tx_free(tx);
  addresses_rx_free(rx);
}

int main(void) {
  RUN(what_was_sent_is_written_to);
  return 0;
}
