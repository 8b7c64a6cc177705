/* The hub of C: what it calls, in what order, and what it refuses. */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <ysuite.h>

static int called, dropped;

static void calls(ys_hub *hub, void *context) {
  called += *(int *)context;
  if (called == 111) CHECK(ys_hub_stop(hub) == YS_OK);
}

static void drops(void *context) {
  CHECK(context != NULL);
  dropped++;
}

static void *posts(void *poster) {
  static int hundred = 100;
  CHECK(ys_hub_post(poster, calls, &hundred, drops) == YS_OK);
  ys_hub_poster_free(poster);
  return NULL;
}

static void functions(void) {
  ys_hub *hub;
  ys_hub_poster *poster, *other;
  pthread_t thread;
  int one = 1, ten = 10;
  uint64_t timer = 7, beat;
  int64_t ns = 0;
  CHECK(ys_hub_open(NULL) == YS_EINVAL && ys_hub_open(&hub) == YS_OK && ys_hub_fd(hub) >= 0);
  CHECK(ys_hub_timeout(hub, &ns) == YS_OK && ns == -1 && ys_hub_timeout(hub, NULL) == YS_EINVAL);
  CHECK(ys_hub_run_once(hub, -1) == 0 && ys_hub_dispatch(hub) == 0 && ys_hub_run(hub) == YS_OK);
  CHECK(ys_hub_poster_open(hub, &poster) == YS_OK && ys_hub_poster_clone(poster, &other) == YS_OK);
  CHECK(pthread_create(&thread, NULL, posts, other) == 0);
  CHECK(ys_hub_after(hub, 1000000, calls, &one, drops, &timer) == YS_OK && timer != 0);
  CHECK(ys_hub_every(hub, 1000000000000, calls, &one, drops, &beat) == YS_OK && beat != timer);
  CHECK(ys_hub_timeout(hub, &ns) == YS_OK && ns >= 0 && ys_hub_post(poster, calls, &ten, drops) == YS_OK);
  CHECK(ys_hub_run(hub) == YS_OK && called == 111 && pthread_join(thread, NULL) == 0 && dropped == 3);
  CHECK(ys_hub_cancel(hub, timer) == YS_ERANGE && ys_hub_cancel(hub, beat) == YS_OK && dropped == 4);
  /* Refused, and dropped all the same. */
  CHECK(ys_hub_after(hub, -1, calls, &one, drops, &timer) == YS_EINVAL && dropped == 5);
  CHECK(ys_hub_every(hub, 1, NULL, &one, drops, NULL) == YS_EINVAL && ys_hub_post(poster, NULL, &one, drops) == YS_EINVAL);
  CHECK(ys_hub_after(NULL, 1, calls, &one, drops, &timer) == YS_EINVAL && timer == 0 && dropped == 8);
  CHECK(ys_hub_post(poster, calls, &one, NULL) == YS_OK && ys_hub_post(poster, calls, &one, drops) == YS_OK);
  ys_hub_free(hub);
  CHECK(ys_hub_post(poster, calls, &one, drops) == YS_CLOSED && ys_hub_post_stop(poster) == YS_CLOSED);
  ys_hub_poster_free(poster);
  CHECK(called == 111 && dropped == 10);
  ys_hub_poster_free(NULL);
  ys_hub_free(NULL);
}

static uint64_t source;

static void reads(ys_hub *hub, int fd, uint32_t ready, void *context) {
  char byte;
  CHECK(ready == YS_HUB_READABLE && read(fd, &byte, 1) == 1 && byte == *(char *)context);
  CHECK(ys_hub_remove(hub, source) == YS_OK && ys_hub_remove(hub, source) == YS_ERANGE);
}

static void descriptors(void) {
  ys_hub *hub;
  int ends[2];
  char byte = 'x';
  dropped = 0;
  CHECK(ys_hub_open(&hub) == YS_OK && pipe(ends) == 0);
  CHECK(ys_hub_watch(hub, ends[0], YS_HUB_WRITABLE, reads, &byte, drops, &source) == YS_OK);
  CHECK(ys_hub_rewatch(hub, source, 4) == YS_EINVAL && ys_hub_rewatch(hub, source, YS_HUB_READABLE) == YS_OK);
  CHECK(ys_hub_watch(hub, ends[0], YS_HUB_READABLE, reads, &byte, drops, NULL) == YS_ESYSTEM && errno == EEXIST && dropped == 1);
  CHECK(write(ends[1], &byte, 1) == 1 && ys_hub_run(hub) == YS_OK && dropped == 2);
  close(ends[0]), close(ends[1]);
  ys_hub_free(hub);
}

int main(void) {
  RUN(functions);
  RUN(descriptors);
  return 0;
}
