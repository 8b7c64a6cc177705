/* As race.c, within a callback: it is the program's code, and what is wrong in it must be reported. What came before the send it sees. */
#include "check.h"

#include <stdatomic.h>

YS_DEFINE_PIPE(addresses, int *);

static atomic_int is_dropped;
static int shared = 1;

static void drops(void *message, void *context) {
  int **address = (int **)message;
  CHECK(context == &shared);
  CHECK(**address == 1);
  /* The thread that writes there as well is not synchronised. */
  shared = 2;
  atomic_store_explicit(&is_dropped, 1, memory_order_relaxed);
}

static void *frees(void *arg) {
  addresses_rx_free(*(addresses_rx *)arg);
  return NULL;
}

static void a_callback_writes_to_what_is_shared(void) {
  int *address = &shared;
  addresses_tx tx;
  addresses_rx rx;
  ys_options options = YS_OPTIONS_INIT;
  options.drop = drops;
  options.context = &shared;
  CHECK_IS(addresses_open_with(options, &tx, &rx), YS_OK);
  CHECK_IS(addresses_send(tx, &address), YS_OK);
  const pthread_t thread = started(frees, &rx);
  while (atomic_load_explicit(&is_dropped, memory_order_relaxed) == 0) usleep(100);
  shared = 3;
  joined(thread);
  addresses_tx_free(tx);
}

int main(void) {
  RUN(a_callback_writes_to_what_is_shared);
  return 0;
}
