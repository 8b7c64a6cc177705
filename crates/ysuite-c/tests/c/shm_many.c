/* A broadcast and a watch of bytes between processes: every verb, every end, and nothing left over. */
#include "processes.h"

#include <sys/epoll.h>

enum { MESSAGES = 5000, MOST = 200, CAPACITY = 1024 };

/* What the message of a number is: the number, and more of it. */
static size_t made(unsigned number, unsigned char *to) {
  const size_t length = sizeof number + number % (MOST - sizeof number);
  memcpy(to, &number, sizeof number);
  for (size_t at = sizeof number; at < length; at++) to[at] = (unsigned char)(number + at * 7);
  return length;
}

/* The number of a message, which is whole. */
static unsigned number_of(const unsigned char *message, size_t length) {
  unsigned char expected[MOST];
  unsigned number;
  CHECK(length >= sizeof number);
  memcpy(&number, message, sizeof number);
  CHECK_IS(length, made(number, expected));
  CHECK(memcmp(message, expected, length) == 0);
  return number;
}

static ys_shm_broadcast_rx *receiving(int descriptor) {
  ys_shm_broadcast_rx *rx;
  CHECK_IS(ys_shm_broadcast_rx_open(descriptor, NULL, &rx), YS_OK);
  return rx;
}

static ys_shm_watch_rx *watching(int descriptor) {
  ys_shm_watch_rx *rx;
  CHECK_IS(ys_shm_watch_rx_open(descriptor, NULL, &rx), YS_OK);
  return rx;
}

/* ---- the parts of children ---- */

static void child_receives(const char *argument) {
  ys_shm_broadcast_rx *rx = receiving(atoi(argument));
  unsigned char message[MOST];
  size_t length;
  for (unsigned number = 0; number < MESSAGES; number++) {
    CHECK_IS(ys_shm_broadcast_recv(rx, message, sizeof message, &length, NULL), YS_OK);
    CHECK_IS(number_of(message, length), number);
  }
  CHECK_IS(ys_shm_broadcast_recv(rx, message, sizeof message, &length, NULL), YS_CLOSED);
  ys_shm_broadcast_rx_free(rx);
}

static void child_crashes(const char *argument) {
  unsigned char message[MOST];
  size_t length;
  CHECK_IS(ys_shm_broadcast_recv(receiving(atoi(argument)), message, sizeof message, &length, NULL), YS_OK);
  raise(SIGKILL);
}

static void child_watches(const char *name) {
  ys_shm_watch_rx *rx = watching(ys_shm_connect(name, NULL));
  unsigned char value[MOST];
  size_t length;
  unsigned last = 0;
  int code;
  while ((code = ys_shm_watch_recv(rx, value, sizeof value, &length)) == YS_OK) {
    const unsigned number = number_of(value, length);
    CHECK(number > last || number == 0);
    last = number;
  }
  CHECK_IS(code, YS_CLOSED);
  CHECK_IS(last, MESSAGES);
  ys_shm_watch_rx_free(rx);
}

static void child_serves(const char *name) {
  ys_shm_broadcast *tx;
  CHECK_IS(ys_shm_broadcast_open(name, CAPACITY, 0, NULL, &tx), YS_OK);
  CHECK_IS(ys_shm_broadcast_serve(tx, -1), YS_OK);
}

static const struct {
  const char *name;
  void (*play)(const char *argument);
} parts[] = {{"receives", child_receives}, {"crashes", child_crashes}, {"watches", child_watches}, {"serves", child_serves}};

/* ---- two processes ---- */

/* All children that live receive all messages; one that crashes holds nobody up. */
static void all_receive_all(void) {
  ys_shm_broadcast *tx;
  unsigned char message[MOST];
  CHECK_IS(ys_shm_broadcast_open(NULL, CAPACITY, 0, NULL, &tx), YS_OK);
  const pid_t children[] = {played_with("receives", ys_shm_broadcast_seat(tx)), played_with("crashes", ys_shm_broadcast_seat(tx)),
                            played_with("receives", ys_shm_broadcast_seat(tx))};
  while (ys_shm_broadcast_receivers(tx) < 3) CHECK_IS(ys_shm_broadcast_serve(tx, MILLISECOND), YS_OK);
  for (unsigned number = 0; number < MESSAGES; number++) CHECK_IS(ys_shm_broadcast_send(tx, message, made(number, message)), YS_OK);
  ys_shm_broadcast_free(tx);
  ended(children[0], 0);
  ended(children[1], SIGKILL);
  ended(children[2], 0);
}

static void values_only_grow(void) {
  const unique name = name_of("grow");
  ys_shm_watch *tx;
  unsigned char value[MOST];
  CHECK_IS(ys_shm_watch_open(name.name, value, made(0, value), MOST, NULL, &tx), YS_OK);
  const pid_t children[] = {played("watches", name.name), played("watches", name.name)};
  while (ys_shm_watch_receivers(tx) < 2) CHECK_IS(ys_shm_watch_serve(tx, MILLISECOND), YS_OK);
  for (unsigned number = 1; number <= MESSAGES; number++) CHECK_IS(ys_shm_watch_send(tx, value, made(number, value)), YS_OK);
  ys_shm_watch_free(tx);
  ended(children[0], 0);
  ended(children[1], 0);
}

/* Who serves for ever hears of those that come all the time. */
static void one_that_serves_hears_of_others(void) {
  const unique name = name_of("serves");
  const pid_t child = played("serves", name.name);
  size_t length;
  int socket;
  while ((socket = ys_shm_connect(name.name, NULL)) == YS_ESYSTEM) usleep(1000);
  ys_shm_watch_rx *rx = watching(socket);
  CHECK_IS(ys_shm_watch_recv(rx, NULL, 0, &length), YS_REFUSED_KIND);
  CHECK_IS(kill(child, SIGKILL), 0);
  ended(child, SIGKILL);
  ys_shm_watch_rx_free(rx);
}

/* ---- one process ---- */

static void a_broadcast_says_why(void) {
  ys_shm_broadcast *tx = NULL;
  char room[64] = {0};
  size_t length = 0;
  uint64_t lost = 9;
  CHECK_IS(ys_shm_broadcast_open(NULL, 64, 0, NULL, &tx), YS_OK);
  ys_shm_broadcast_rx *rx = receiving(ys_shm_broadcast_seat(tx));
  CHECK_IS(ys_shm_broadcast_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_broadcast_receivers(tx), 1);
  CHECK_IS(ys_shm_broadcast_largest(tx), 56);
  CHECK_IS(ys_shm_broadcast_send(tx, room, 57), YS_ETOOLONG);
  CHECK_IS(ys_shm_broadcast_try_send(tx, room, SIZE_MAX), YS_ETOOLONG);
  CHECK_IS(ys_shm_broadcast_arm(tx, 57), YS_ETOOLONG);
  CHECK_IS(ys_shm_broadcast_try_recv(rx, room, sizeof room, &length, &lost), YS_EMPTY);
  CHECK_IS(lost, 0);
  CHECK_IS(ys_shm_broadcast_recv_for(rx, room, sizeof room, &length, NULL, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_broadcast_arm(tx, 56), 0);
  CHECK_IS(ys_shm_broadcast_rx_arm(rx), 1);
  CHECK_IS(ys_shm_broadcast_try_send(tx, room, 56), YS_OK);
  CHECK_IS(ys_shm_broadcast_rx_arm(rx), 0);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, 55, &length, NULL), YS_ETOOLONG);
  CHECK_IS(ys_shm_broadcast_rx_arm(rx), 0);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, 56, &length, NULL), YS_OK);
  CHECK_IS(length, 56);
  CHECK_IS(ys_shm_broadcast_try_send(tx, "too long!", 9), YS_OK);
  CHECK_IS(ys_shm_broadcast_send_for(tx, room, 32, -1), YS_OK);
  CHECK_IS(ys_shm_broadcast_try_send(tx, NULL, 0), YS_FULL);
  CHECK_IS(ys_shm_broadcast_send_for(tx, NULL, 0, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_broadcast_arm(tx, 0), 1);
  CHECK(ys_shm_broadcast_fd(tx) >= 0 && ys_shm_broadcast_rx_fd(rx) >= 0);
  /* What does not fit is the next one again. */
  CHECK_IS(ys_shm_broadcast_recv(rx, room, 8, &length, NULL), YS_ETOOLONG);
  CHECK_IS(length, 9);
  CHECK_IS(ys_shm_broadcast_rx_arm(rx), 0);
  CHECK_IS(ys_shm_broadcast_try_recv(rx, NULL, 0, &length, NULL), YS_ETOOLONG);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, sizeof room, &length, NULL), YS_OK);
  CHECK(length == 9 && memcmp(room, "too long!", 9) == 0);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, sizeof room, &length, NULL), YS_OK);
  CHECK_IS(length, 32);
  CHECK_IS(ys_shm_broadcast_rx_arm(rx), 1);
  /* Bad input. */
  CHECK_IS(ys_shm_broadcast_send(tx, NULL, 1), YS_EINVAL);
  CHECK_IS(ys_shm_broadcast_recv(rx, NULL, 1, &length, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, 1, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_broadcast_receivers(NULL), YS_EINVAL);
  ys_shm_broadcast_free(tx);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, sizeof room, &length, NULL), YS_CLOSED);
  ys_shm_broadcast_rx_free(rx);
  ys_shm_broadcast_free(NULL), ys_shm_broadcast_rx_free(NULL);
  CHECK_IS(ys_shm_broadcast_open(NULL, 8, 0, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK(tx == NULL);
  CHECK_IS(ys_shm_broadcast_open("", 64, 0, NULL, &tx), YS_REFUSED_NAME);
  CHECK_IS(ys_shm_broadcast_open(NULL, 64, 0, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_broadcast_rx_open(-1, NULL, &rx), -1);
}

static void a_lossy_one_says_how_many(void) {
  ys_shm_broadcast *tx;
  char room[16];
  size_t length;
  uint64_t lost;
  CHECK_IS(ys_shm_broadcast_open(NULL, 64, 1, NULL, &tx), YS_OK);
  ys_shm_broadcast_rx *rx = receiving(ys_shm_broadcast_seat(tx));
  CHECK_IS(ys_shm_broadcast_serve(tx, 0), YS_OK);
  for (int number = 0; number < 10; number++) CHECK_IS(ys_shm_broadcast_send(tx, &number, sizeof number), YS_OK);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, sizeof room, &length, &lost), YS_LAGGED);
  CHECK_IS(lost, 9);
  CHECK_IS(ys_shm_broadcast_recv(rx, room, sizeof room, &length, &lost), YS_OK);
  CHECK(lost == 0 && length == sizeof(int) && room[0] == 9);
  ys_shm_broadcast_rx_free(rx);
  ys_shm_broadcast_free(tx);
}

static void a_watch_says_why(void) {
  ys_shm_watch *tx = NULL;
  char room[64];
  size_t length;
  CHECK_IS(ys_shm_watch_open(NULL, "first", 5, 16, NULL, &tx), YS_OK);
  ys_shm_watch_rx *rx = watching(ys_shm_watch_seat(tx));
  CHECK_IS(ys_shm_watch_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_watch_receivers(tx), 1);
  CHECK_IS(ys_shm_watch_recv(rx, room, sizeof room, &length), YS_OK);
  CHECK(length == 5 && memcmp(room, "first", 5) == 0);
  CHECK_IS(ys_shm_watch_try_recv(rx, room, sizeof room, &length), YS_EMPTY);
  CHECK_IS(ys_shm_watch_recv_for(rx, room, sizeof room, &length, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_watch_rx_arm(rx), 1);
  CHECK_IS(ys_shm_watch_send(tx, room, 16), YS_OK);
  CHECK_IS(ys_shm_watch_rx_arm(rx), 0);
  CHECK_IS(ys_shm_watch_recv(rx, room, sizeof room, &length), YS_OK);
  CHECK_IS(length, 16);
  CHECK_IS(ys_shm_watch_send(tx, "a longer one", 12), YS_OK);
  /* What does not fit may still be received, until it is replaced. */
  CHECK_IS(ys_shm_watch_recv(rx, room, 5, &length), YS_ETOOLONG);
  CHECK_IS(length, 12);
  CHECK_IS(ys_shm_watch_rx_arm(rx), 0);
  CHECK_IS(ys_shm_watch_try_recv(rx, room, 5, &length), YS_ETOOLONG);
  CHECK_IS(ys_shm_watch_recv(rx, room, 12, &length), YS_OK);
  CHECK(length == 12 && memcmp(room, "a longer one", 12) == 0);
  CHECK_IS(ys_shm_watch_send(tx, "longer again", 12), YS_OK);
  CHECK_IS(ys_shm_watch_try_recv(rx, room, 5, &length), YS_ETOOLONG);
  CHECK_IS(ys_shm_watch_send(tx, "new", 3), YS_OK);
  CHECK_IS(ys_shm_watch_recv(rx, room, 5, &length), YS_OK);
  CHECK(length == 3 && memcmp(room, "new", 3) == 0);
  CHECK_IS(ys_shm_watch_send(tx, NULL, 0), YS_OK);
  CHECK_IS(ys_shm_watch_recv(rx, NULL, 0, &length), YS_OK);
  CHECK_IS(ys_shm_watch_send(tx, room, 17), YS_ETOOLONG);
  CHECK_IS(ys_shm_watch_send(tx, NULL, 1), YS_EINVAL);
  CHECK(ys_shm_watch_arm(tx) == 1 && ys_shm_watch_fd(tx) >= 0 && ys_shm_watch_rx_fd(rx) >= 0);
  ys_shm_watch_free(tx);
  CHECK_IS(ys_shm_watch_recv(rx, room, sizeof room, &length), YS_CLOSED);
  ys_shm_watch_rx_free(rx);
  ys_shm_watch_free(NULL), ys_shm_watch_rx_free(NULL);
  CHECK_IS(ys_shm_watch_open(NULL, "as long.", 8, 8, NULL, &tx), YS_OK);
  ys_shm_watch_free(tx);
  CHECK_IS(ys_shm_watch_open(NULL, "too long", 8, 7, NULL, &tx), YS_ETOOLONG);
  CHECK_IS(ys_shm_watch_open(NULL, NULL, 0, 0, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK(tx == NULL);
  CHECK_IS(ys_shm_watch_open(NULL, NULL, 1, 8, NULL, &tx), YS_EINVAL);
}

/* One that reads the other kind is refused, and says so. */
static void kinds_are_told_apart(void) {
  const unique name = name_of("kinds");
  ys_shm_watch *tx;
  size_t length;
  CHECK_IS(ys_shm_watch_open(name.name, NULL, 0, 8, NULL, &tx), YS_OK);
  ys_shm_broadcast_rx *rx = receiving(ys_shm_connect(name.name, NULL));
  CHECK_IS(ys_shm_watch_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_broadcast_recv(rx, NULL, 0, &length, NULL), YS_REFUSED_KIND);
  ys_shm_broadcast_rx_free(rx);
  ys_shm_watch_free(tx);
}

/* Receivers in an event loop, of which none is looked at twice for nothing. */
static void an_event_loop_receives(void) {
  ys_shm_broadcast *tx;
  struct epoll_event event = {.events = EPOLLIN};
  unsigned char message[MOST];
  size_t length;
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  CHECK_IS(ys_shm_broadcast_open(NULL, CAPACITY, 0, NULL, &tx), YS_OK);
  ys_shm_broadcast_rx *rx = receiving(ys_shm_broadcast_seat(tx));
  CHECK_IS(ys_shm_broadcast_serve(tx, 0), YS_OK);
  CHECK_IS(epoll_ctl(loop, EPOLL_CTL_ADD, ys_shm_broadcast_rx_fd(rx), &event), 0);
  for (unsigned number = 0; number < 100; number++) {
    CHECK_IS(ys_shm_broadcast_try_recv(rx, message, MOST, &length, NULL), YS_EMPTY);
    CHECK_IS(ys_shm_broadcast_rx_arm(rx), 1);
    CHECK_IS(epoll_wait(loop, &event, 1, 0), 0);
    CHECK_IS(ys_shm_broadcast_send(tx, message, made(number, message)), YS_OK);
    CHECK_IS(epoll_wait(loop, &event, 1, 60000), 1);
    CHECK_IS(ys_shm_broadcast_try_recv(rx, message, MOST, &length, NULL), YS_OK);
    CHECK_IS(number_of(message, length), number);
  }
  ys_shm_broadcast_free(tx);
  ys_shm_broadcast_rx_free(rx);
  close(loop);
}

int main(int count, char **arguments) {
  alarm(600);
  for (size_t part = 0; count == 3 && part < sizeof parts / sizeof *parts; part++) {
    if (strcmp(arguments[1], parts[part].name) == 0) return parts[part].play(arguments[2]), 0;
  }
  CHECK_IS(count, 1);
  RUN_CLEAN(all_receive_all);
  RUN_CLEAN(values_only_grow);
  RUN_CLEAN(one_that_serves_hears_of_others);
  RUN_CLEAN(a_broadcast_says_why);
  RUN_CLEAN(a_lossy_one_says_how_many);
  RUN_CLEAN(a_watch_says_why);
  RUN_CLEAN(kinds_are_told_apart);
  RUN_CLEAN(an_event_loop_receives);
  return 0;
}
