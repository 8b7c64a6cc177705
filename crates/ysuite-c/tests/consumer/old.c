/* A program whose header is of another time than the library: its options are shorter, as they were before channels had a `drop`, or its
   window is one the library does not know. Everything must work, by calls. Compiled with the header as it is, and with one whose
   YS_WINDOW_VERSION is a later one. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ysuite.h>

#define MESSAGES 1000

/* Sends and receives, also where the header would do it by itself, on one thread. */
static int goes(const char *which, int (*open)(const ys_options *, ys_tx **, ys_rx **), const ys_options *options) {
  ys_tx *tx = NULL;
  ys_rx *rx = NULL;
  int code = open(options, &tx, &rx);
  if (code != YS_OK) {
    fprintf(stderr, "%s: no channel: %s\n", which, ys_error_text(code));
    return 0;
  }
  int good = 1;
  for (uint64_t number = 0; number < MESSAGES; number++) {
    uint64_t got = MESSAGES, two[2] = {number + 1, number + 2};
    good &= ys_try_send_inline(tx, &number, sizeof number, _Alignof(uint64_t)) == YS_OK && ys_send_batch(tx, two, 2, 0) == 2;
    good &= ys_try_recv_inline(rx, &got, sizeof got, _Alignof(uint64_t)) == YS_OK && got == number;
    good &= ys_recv_batch(rx, two, 2, 0) == 2 && two[0] == number + 1 && two[1] == number + 2;
  }
  uint64_t none;
  good &= ys_try_recv_inline(rx, &none, sizeof none, _Alignof(uint64_t)) == YS_EMPTY;
  ys_tx_free(tx);
  good &= ys_recv(rx, &none) == YS_CLOSED;
  ys_rx_free(rx);
  if (!good) fprintf(stderr, "%s: messages went wrong\n", which);
  return good;
}

static int works(const char *which, const ys_options *options) {
  return goes(which, ys_pipe_open, options) & goes(which, ys_funnel_open, options) & goes(which, ys_exchange_open, options);
}

static void must_not_be_called(void *message, void *context) {
  (void)message;
  *(int *)context = 1;
}

int main(void) {
  int called = 0, good = 1;
  ys_options ours = YS_OPTIONS_INIT;
  ours.size = sizeof(uint64_t);
  ours.capacity = 16;
  good &= works("the options as they are", &ours);

  ys_options shorter = ours;
  shorter.struct_size = offsetof(ys_options, drop);
  /* Nothing beyond the stated size is read. */
  shorter.drop = must_not_be_called;
  shorter.context = &called;
  ys_tx *tx;
  ys_rx *rx;
  uint64_t left = 1;
  good &= works("shorter options", &shorter);
  good &= ys_pipe_open(&shorter, &tx, &rx) == YS_OK && ys_send(tx, &left) == YS_OK;
  ys_rx_free(rx);
  ys_tx_free(tx);
  if (called) fprintf(stderr, "the library has read beyond the options\n");
  good &= !called;

  const uint32_t unknown[] = {0, YS_WINDOW_VERSION + 1, 1000000};
  for (size_t at = 0; at < sizeof unknown / sizeof *unknown; at++) {
    ys_options other = ours;
    other.window = unknown[at];
    good &= works("another window", &other);
  }
  /* Too short to say how large a message is. */
  ys_options none = ours;
  none.struct_size = 4;
  good &= ys_pipe_open(&none, &tx, &rx) == YS_EINVAL;
  printf("window %u here, %u in the library: %s\n", (unsigned)YS_WINDOW_VERSION, (unsigned)ys_window_version(), good ? "works" : "fails");
  return !good;
}
