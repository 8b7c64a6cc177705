/* Functions that other threads post to one, which has timers beside them: the recipe of ysuite.h. */
#include "check.h"

#include <stdatomic.h>

typedef struct post {
  void (*call)(void *with);
  void *with;
} post;

YS_DEFINE_EXCHANGE(posts, post);

enum { POSTERS = 4, EACH = 2000, BEATS = 3 };

typedef struct mailbox {
  posts_rx rx;
  /* Of the thread alone. */
  uint64_t sum, beats;
  atomic_int has_beaten, calls;
} mailbox;

static void *serves(void *arg) {
  mailbox *this = (mailbox *)arg;
  ys_select *select;
  ys_timer *timer;
  size_t work, tick;
  CHECK_IS(ys_select_open(2, &select), YS_OK);
  CHECK_IS(ys_timer_every(MILLISECOND, &timer), YS_OK);
  CHECK_IS(ys_select_add_rx(select, this->rx.raw, &work), YS_OK);
  CHECK_IS(ys_select_add_timer(select, timer, &tick), YS_OK);
  for (int code = YS_OK; code != YS_CLOSED;) {
    const ptrdiff_t ready = ys_select_wait(select, -1);
    post next;
    if (ready == (ptrdiff_t)tick) {
      if (ys_timer_wait(timer, 0) == YS_OK && ++this->beats == BEATS) atomic_store(&this->has_beaten, 1);
    } else {
      CHECK_IS(ready, work);
      code = posts_try_recv(this->rx, &next);
      if (code == YS_OK) next.call(next.with);
    }
  }
  ys_select_free(select);
  ys_timer_free(timer);
  posts_rx_free(this->rx);
  return NULL;
}

typedef struct poster {
  mailbox *to;
  const ys_shared *shared;
  uint64_t number;
} poster;

/* On the mailbox's thread: no lock is needed. */
static void adds(void *with) {
  const poster *this = (const poster *)with;
  this->to->sum += this->number;
  atomic_fetch_add(&this->to->calls, 1);
}

/* What is posted may post. */
static void adds_again(void *with) {
  const poster *this = (const poster *)with;
  adds(with);
  CHECK_IS(ys_shared_send_for(this->shared, &(post){adds, with}, 0), YS_OK);
}

static void *posts_many(void *arg) {
  poster *this = (poster *)arg;
  for (int n = 0; n < EACH; n++)
    CHECK_IS(ys_shared_send_for(this->shared, &(post){n % 2 == 0 ? adds : adds_again, this}, -1), YS_OK);
  return NULL;
}

static void what_is_posted_is_called(void) {
  mailbox box = {{NULL}, 0, 0, 0, 0};
  posts_tx tx;
  ys_shared *shared;
  poster posters[POSTERS];
  pthread_t threads[POSTERS];
  /* Without a bound: what is posted from within never waits. */
  CHECK_IS(posts_open(0, &tx, &box.rx), YS_OK);
  CHECK_IS(ys_tx_share(tx.raw, &shared), YS_OK);
  posts_tx_free(tx);
  const pthread_t thread = started(serves, &box);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < POSTERS; i++) {
    posters[i] = (poster){&box, shared, i + 1};
    sum += (i + 1) * (EACH + EACH / 2);
    threads[i] = started(posts_many, &posters[i]);
  }
  for (int i = 0; i < POSTERS; i++) joined(threads[i]);
  while (!atomic_load(&box.has_beaten)) usleep(500);
  /* What posts from within uses the sender, which is freed when all of that has been done. */
  while (atomic_load(&box.calls) < POSTERS * (EACH + EACH / 2)) usleep(500);
  ys_shared_free(shared);
  joined(thread);
  CHECK_IS(box.sum, sum);
  CHECK(box.beats >= BEATS);
}

int main(void) {
  RUN(what_is_posted_is_called);
  return 0;
}
