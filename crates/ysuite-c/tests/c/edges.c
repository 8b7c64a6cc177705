/* An edge-triggered event loop: the example of the header's documentation, against senders that never pause at the same
 * place. */
#include "check.h"

#include <sys/epoll.h>

YS_DEFINE_PIPE(words, uint64_t);

enum { CHANNELS = 3 };

typedef struct source {
  words_tx tx;
  uint64_t seed, count;
} source;

static void *sends(void *arg) {
  source *this = (source *)arg;
  for (uint64_t n = 0; n < this->count; n++) {
    CHECK_IS(words_send(this->tx, &n), YS_OK);
    random_pause(&this->seed, n % 64 == 0 ? 20000 : 300);
    if (n % 512 == 0) usleep(200);
  }
  words_tx_free(this->tx);
  return NULL;
}

static void all_is_received_by_edges(void) {
  const uint64_t count = is_long() ? 2000000 : 20000;
  ys_set *set;
  source sources[CHANNELS];
  words_rx rx[CHANNELS];
  uint64_t got, received[CHANNELS] = {0};
  pthread_t threads[CHANNELS];
  size_t open = CHANNELS, ids[CHANNELS];
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  CHECK(epoll >= 0);
  CHECK_IS(ys_set_open(CHANNELS, &set), YS_OK);
  CHECK_IS(epoll_ctl(epoll, EPOLL_CTL_ADD, ys_set_fd(set), &event), 0);
  for (size_t i = 0; i < CHANNELS; i++) {
    sources[i] = (source){.seed = i + 1, .count = count};
    CHECK_IS(words_open(0, &sources[i].tx, &rx[i]), YS_OK);
    CHECK_IS(ys_set_attach_rx(set, rx[i].raw, i), YS_OK);
    threads[i] = started(sends, &sources[i]);
  }
  while (open != 0) {
    ptrdiff_t up;
    int ready;
    /* A thread that loses an edge sleeps here for good: the alarm of the test reports it. */
    do ready = epoll_wait(epoll, &event, 1, -1);
    while (ready < 0);
    /* Until it returns YS_EMPTY, which promises the next edge. */
    while ((up = ys_set_wait(set, ids, CHANNELS, 0)) > 0) {
      for (ptrdiff_t at = 0; at < up; at++) {
        const size_t id = ids[at];
        int code = YS_EMPTY;
        /* A few each time, as a loop does that is fair. */
        for (int few = 0; few < 8 && (code = words_try_recv(rx[id], &got)) == YS_OK; few++) CHECK_IS(got, received[id]++);
        if (code == YS_CLOSED) {
          CHECK_IS(ys_set_detach_rx(set, rx[id].raw), YS_OK);
          open--;
        }
      }
    }
    CHECK_IS(up, YS_EMPTY);
  }
  for (size_t i = 0; i < CHANNELS; i++) {
    joined(threads[i]);
    words_rx_free(rx[i]);
    CHECK_IS(received[i], count);
  }
  close(epoll);
  ys_set_free(set);
}

int main(void) {
  RUN(all_is_received_by_edges);
  return 0;
}
