/* A user's program: a thread sends numbers through an spsc channel, and this one adds them up. Exits with 0 when all is
 * as it should be;
   its one argument is the version that the library should have. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <ysuite.h>

#define MESSAGES 10000

static void *send_numbers(void *end) {
  ys_tx *tx = end;
  for (uint64_t number = 1; number <= MESSAGES; number++)
    if (ys_send(tx, &number) != YS_OK) return "a number was not sent";
  ys_tx_free(tx);
  return NULL;
}

int main(int arguments, char **argument) {
  if (arguments != 2 || strcmp(ys_version(), argument[1]) != 0) {
    fprintf(stderr, "the library is of version %s\n", ys_version());
    return 1;
  }
  ys_options options = YS_OPTIONS_INIT;
  options.size = sizeof(uint64_t);
  options.capacity = 64;
  ys_tx *tx;
  ys_rx *rx;
  int code = ys_pipe_open(&options, &tx, &rx);
  if (code != YS_OK) {
    fprintf(stderr, "no channel: %s\n", ys_error_text(code));
    return 1;
  }
  pthread_t sender;
  if (pthread_create(&sender, NULL, send_numbers, tx) != 0) return 1;
  uint64_t number, count = 0, sum = 0;
  while ((code = ys_recv(rx, &number)) == YS_OK) {
    count++;
    sum += number;
  }
  void *fault;
  if (pthread_join(sender, &fault) != 0 || fault != NULL) return 1;
  ys_rx_free(rx);
  printf("%" PRIu64 " messages, then: %s\n", count, ys_error_text(code));
  return code == YS_CLOSED && count == MESSAGES && sum == (uint64_t)MESSAGES * (MESSAGES + 1) / 2 ? 0 : 1;
}
