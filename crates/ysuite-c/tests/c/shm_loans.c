/* Loans between processes: every verb, every end, what the dead held, and nothing left over. */
#include "processes.h"

#include <errno.h>
#include <sys/epoll.h>

enum { MESSAGES = 3000, SLOTS = 4, LARGEST = 1000 };

/* Fills a message with what a number makes; how many bytes it has. */
static size_t made(unsigned number, unsigned char *to) {
  const size_t length = sizeof number + number % (LARGEST - sizeof number);
  memcpy(to, &number, sizeof number);
  for (size_t at = sizeof number; at < length; at++) to[at] = (unsigned char)(number + at * 7);
  return length;
}

/* The number of a message, which is whole. */
static unsigned number_of(ys_shm_borrowed *borrowed) {
  unsigned char message[LARGEST], expected[LARGEST];
  unsigned number;
  const size_t length = ys_shm_borrowed_length(borrowed);
  CHECK(length >= sizeof number && length <= LARGEST);
  CHECK_IS(ys_shm_borrowed_copy(borrowed, 0, message, sizeof message), length);
  memcpy(&number, message, sizeof number);
  CHECK_IS(length, made(number, expected));
  CHECK(memcmp(message, expected, length) == 0);
  return number;
}

static ys_shm_loan *lending(size_t slots) {
  ys_shm_loan *tx;
  CHECK_IS(ys_shm_loan_open(NULL, slots, LARGEST, NULL, &tx), YS_OK);
  return tx;
}

static ys_shm_loan_rx *borrowing(int descriptor) {
  ys_shm_loan_rx *rx;
  CHECK_IS(ys_shm_loan_rx_open(descriptor, NULL, &rx), YS_OK);
  return rx;
}

static void lends(ys_shm_loan *tx, unsigned number) {
  void *to;
  CHECK_IS(ys_shm_loan_reserve(tx, LARGEST, &to), YS_OK);
  CHECK_IS(ys_shm_loan_commit(tx, made(number, to)), YS_OK);
}

/* ---- the parts of children ---- */

/* Holds two at a time: gives each back when it has the next. */
static void child_borrows(const char *argument) {
  ys_shm_loan_rx *rx = borrowing(atoi(argument));
  ys_shm_borrowed *last = NULL, *next;
  for (unsigned number = 0; number < MESSAGES; number++) {
    CHECK_IS(ys_shm_loan_recv(rx, &next), YS_OK);
    CHECK_IS(number_of(next), number);
    ys_shm_borrowed_free(last);
    last = next;
  }
  CHECK_IS(ys_shm_loan_recv(rx, &next), YS_CLOSED);
  CHECK(next == NULL);
  ys_shm_loan_rx_free(rx);
  /* It outlives its receiver and its sender. */
  CHECK_IS(number_of(last), MESSAGES - 1);
  ys_shm_borrowed_free(last);
}

/* Dies with all that the pool has. */
static void child_keeps_all(const char *argument) {
  ys_shm_loan_rx *rx = borrowing(atoi(argument));
  ys_shm_borrowed *borrowed;
  for (unsigned number = 0; number < SLOTS; number++) CHECK_IS(ys_shm_loan_recv(rx, &borrowed), YS_OK);
  CHECK_IS(ys_shm_loan_recv(rx, &borrowed), YS_CLOSED);
}

/* Dies with what it has lent. */
static void child_lends(const char *name) {
  ys_shm_loan *tx;
  CHECK_IS(ys_shm_loan_open(name, SLOTS, LARGEST, NULL, &tx), YS_OK);
  while (ys_shm_loan_receivers(tx) < 1) CHECK_IS(ys_shm_loan_serve(tx, MILLISECOND), YS_OK);
  for (unsigned number = 0; number < SLOTS; number++) lends(tx, number);
  raise(SIGKILL);
}

static const struct {
  const char *name;
  void (*play)(const char *argument);
} parts[] = {{"borrows", child_borrows}, {"keeps all", child_keeps_all}, {"lends", child_lends}};

/* ---- two processes ---- */

/* All children that live read all messages where they are. */
static void all_borrow_all(void) {
  ys_shm_loan *tx = lending(SLOTS);
  const pid_t children[] = {played_with("borrows", ys_shm_loan_seat(tx)), played_with("borrows", ys_shm_loan_seat(tx))};
  while (ys_shm_loan_receivers(tx) < 2) CHECK_IS(ys_shm_loan_serve(tx, MILLISECOND), YS_OK);
  for (unsigned number = 0; number < MESSAGES; number++) lends(tx, number);
  ys_shm_loan_free(tx);
  ended(children[0], 0);
  ended(children[1], 0);
}

/* What a receiver held that was killed is the sender's again, which waits for it. */
static void the_dead_hold_nothing(void) {
  ys_shm_loan *tx = lending(SLOTS);
  void *to;
  const pid_t child = played_with("keeps all", ys_shm_loan_seat(tx));
  while (ys_shm_loan_receivers(tx) < 1) CHECK_IS(ys_shm_loan_serve(tx, MILLISECOND), YS_OK);
  for (unsigned number = 0; number < SLOTS; number++) lends(tx, number);
  while (ys_shm_loan_held(tx) < SLOTS) CHECK_IS(ys_shm_loan_serve(tx, MILLISECOND), YS_OK);
  CHECK_IS(ys_shm_loan_unused(tx), 0);
  CHECK_IS(ys_shm_loan_try_reserve(tx, 1, &to), YS_FULL);
  CHECK(to == NULL);
  ys_shm_loan_rx *rx = borrowing(ys_shm_loan_seat(tx));
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(kill(child, SIGKILL), 0);
  CHECK_IS(ys_shm_loan_reserve(tx, 1, &to), YS_OK);
  CHECK_IS(ys_shm_loan_held(tx), 0);
  CHECK_IS(ys_shm_loan_unused(tx), SLOTS);
  CHECK_IS(ys_shm_loan_receivers(tx), 1);
  ended(child, SIGKILL);
  ys_shm_loan_rx_free(rx);
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_loan_reserve_for(tx, 1, &to, LONG_TIME), YS_CLOSED);
  ys_shm_loan_free(tx);
}

/* What a dead sender had lent is there, also behind its death. */
static void a_sender_that_crashes_is_reported(void) {
  const unique name = name_of("lends");
  const pid_t child = played("lends", name.name);
  ys_shm_borrowed *borrowed[SLOTS], *none;
  int socket;
  while ((socket = ys_shm_connect(name.name, NULL)) == YS_ESYSTEM) usleep(1000);
  ys_shm_loan_rx *rx = borrowing(socket);
  for (unsigned number = 0; number < SLOTS; number++) CHECK_IS(ys_shm_loan_recv_for(rx, &borrowed[number], LONG_TIME), YS_OK);
  CHECK_IS(ys_shm_loan_recv(rx, &none), YS_DIED);
  CHECK_IS(ys_shm_loan_try_recv(rx, &none), YS_DIED);
  CHECK_IS(ys_shm_loan_recv_for(rx, &none, LONG_TIME), YS_DIED);
  CHECK(none == NULL && ys_shm_loan_rx_arm(rx) == 0);
  ended(child, SIGKILL);
  ys_shm_loan_rx_free(rx);
  for (unsigned number = 0; number < SLOTS; number++) {
    CHECK_IS(number_of(borrowed[number]), number);
    ys_shm_borrowed_free(borrowed[number]);
  }
}

/* ---- one process ---- */

static void a_sender_says_why(void) {
  ys_shm_loan *tx = lending(2);
  ys_shm_borrowed *one, *other;
  void *to, *again;
  ys_shm_loan_rx *rx = borrowing(ys_shm_loan_seat(tx));
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_loan_receivers(tx), 1);
  CHECK_IS(ys_shm_loan_largest(tx), LARGEST);
  CHECK_IS(ys_shm_loan_unused(tx), 2);
  CHECK_IS(ys_shm_loan_commit(tx, 0), YS_EINVAL);
  CHECK_IS(ys_shm_loan_reserve(tx, LARGEST + 1, &to), YS_ETOOLONG);
  CHECK(to == NULL);
  CHECK_IS(ys_shm_loan_try_reserve(tx, SIZE_MAX, &to), YS_ETOOLONG);
  CHECK_IS(ys_shm_loan_reserve(tx, 1, NULL), YS_EINVAL);
  one = (ys_shm_borrowed *)(uintptr_t)16, to = &again;
  CHECK_IS(ys_shm_loan_recv(NULL, &one), YS_EINVAL);
  CHECK_IS(ys_shm_loan_reserve(NULL, 1, &to), YS_EINVAL);
  CHECK(one == NULL && to == NULL);
  /* What was reserved goes back by the next call. */
  CHECK_IS(ys_shm_loan_try_reserve(tx, 5, &to), YS_OK);
  CHECK((uintptr_t)to % 64 == 0);
  CHECK_IS(ys_shm_loan_unused(tx), 2);
  CHECK_IS(ys_shm_loan_commit(tx, 5), YS_EINVAL);
  CHECK_IS(ys_shm_loan_reserve(tx, 5, &to), YS_OK);
  CHECK_IS(ys_shm_loan_reserve_for(tx, 5, &again, LONG_TIME), YS_OK);
  CHECK(to == again);
  CHECK(ys_shm_loan_fd(tx) >= 0 && ys_shm_loan_largest(tx) == LARGEST);
  memcpy(to, "hello", 5);
  CHECK_IS(ys_shm_loan_commit(tx, 6), YS_ETOOLONG);
  CHECK_IS(ys_shm_loan_commit(tx, 4), YS_OK);
  CHECK_IS(ys_shm_loan_commit(tx, 4), YS_EINVAL);
  CHECK_IS(ys_shm_loan_reserve(tx, 0, &to), YS_OK);
  CHECK_IS(ys_shm_loan_commit(tx, 0), YS_OK);
  CHECK_IS(ys_shm_loan_try_reserve(tx, 1, &to), YS_FULL);
  CHECK_IS(ys_shm_loan_reserve_for(tx, 1, &to, 0), YS_FULL);
  CHECK_IS(ys_shm_loan_reserve_for(tx, 1, &to, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_loan_arm(tx), 1);
  CHECK_IS(ys_shm_loan_recv(rx, &one), YS_OK);
  CHECK_IS(ys_shm_loan_try_recv(rx, &other), YS_OK);
  CHECK(ys_shm_borrowed_length(one) == 4 && ys_shm_borrowed_length(other) == 0);
  CHECK(memcmp(ys_shm_borrowed_untrusted(one), "hell", 4) == 0 && ys_shm_borrowed_sealed(one) == NULL);
  CHECK_IS(ys_shm_loan_held(tx), 2);
  ys_shm_borrowed_free(other);
  CHECK_IS(ys_shm_loan_held(tx), 1);
  CHECK_IS(ys_shm_loan_unused(tx), 1);
  CHECK_IS(ys_shm_loan_arm(tx), 0);
  /* It counts as a receiver, as long as it holds something. */
  ys_shm_loan_rx_free(rx);
  CHECK_IS(ys_shm_loan_held(tx), 1);
  ys_shm_loan_free(tx);
  CHECK(memcmp(ys_shm_borrowed_untrusted(one), "hell", 4) == 0);
  ys_shm_borrowed_free(one);
}

static void what_is_borrowed_is_copied_within_its_bounds(void) {
  ys_shm_loan *tx = lending(1);
  ys_shm_borrowed *borrowed;
  char room[8];
  void *to;
  ys_shm_loan_rx *rx = borrowing(ys_shm_loan_seat(tx));
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_loan_reserve(tx, 8, &to), YS_OK);
  memcpy(to, "01234567", 8);
  CHECK_IS(ys_shm_loan_commit(tx, 6), YS_OK);
  CHECK_IS(ys_shm_loan_recv(rx, &borrowed), YS_OK);
  const struct {
    size_t at, room, copied;
  } cases[] = {{0, 8, 6}, {0, 6, 6}, {0, 3, 3}, {2, 8, 4}, {5, 1, 1}, {6, 8, 0}, {7, 8, 0}, {SIZE_MAX, 8, 0}, {1, 0, 0}};
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    memset(room, 'x', sizeof room);
    CHECK_IS(ys_shm_borrowed_copy(borrowed, cases[at].at, room, cases[at].room), cases[at].copied);
    for (size_t byte = 0; byte < 8; byte++) {
      CHECK_IS(room[byte], byte < cases[at].copied ? (char)('0' + cases[at].at + byte) : 'x');
    }
  }
  CHECK_IS(ys_shm_borrowed_copy(borrowed, 0, NULL, 1), YS_EINVAL);
  CHECK_IS(ys_shm_borrowed_copy(borrowed, 0, NULL, 0), 0);
  CHECK_IS(ys_shm_borrowed_copy(NULL, 0, room, 1), YS_EINVAL);
  errno = 0;
  CHECK(ys_shm_borrowed_length(NULL) == 0 && errno == EINVAL);
  CHECK(ys_shm_borrowed_sealed(NULL) == NULL && ys_shm_borrowed_untrusted(NULL) == NULL);
  ys_shm_borrowed_free(borrowed), ys_shm_borrowed_free(NULL);
  ys_shm_loan_rx_free(rx), ys_shm_loan_rx_free(NULL);
  ys_shm_loan_free(tx), ys_shm_loan_free(NULL);
}

/* Memory of its own, which takes no slot, and which its receivers read without a copy. */
static void a_large_one_is_sealed(void) {
  enum { LARGE = 3 << 20, MOST = 16 };
  ys_shm_loan *tx = lending(1);
  ys_shm_borrowed *borrowed;
  void *to;
  ys_shm_loan_rx *rx = borrowing(ys_shm_loan_seat(tx));
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_loan_reserve_large(tx, LARGE, &to, -1), YS_OK);
  CHECK(((char *)to)[0] == 0 && ((char *)to)[LARGE - 1] == 0);
  memset(to, 'a', LARGE);
  CHECK_IS(ys_shm_loan_commit(tx, LARGE + 1), YS_ETOOLONG);
  CHECK_IS(ys_shm_loan_commit(tx, LARGE - 1), YS_OK);
  CHECK_IS(ys_shm_loan_unused(tx), 1);
  CHECK_IS(ys_shm_loan_recv(rx, &borrowed), YS_OK);
  ys_shm_loan_free(tx), ys_shm_loan_rx_free(rx);
  const char *bytes = ys_shm_borrowed_sealed(borrowed);
  CHECK_IS(ys_shm_borrowed_length(borrowed), LARGE - 1);
  CHECK(bytes != NULL && bytes == ys_shm_borrowed_untrusted(borrowed));
  for (size_t at = 0; at < LARGE - 1; at++) CHECK_IS(bytes[at], 'a');
  ys_shm_borrowed_free(borrowed);
  /* As many as there may be. */
  tx = lending(1);
  rx = borrowing(ys_shm_loan_seat(tx));
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  for (int number = 0; number < MOST; number++) {
    CHECK_IS(ys_shm_loan_arm_large(tx), 0);
    CHECK_IS(ys_shm_loan_reserve_large(tx, 1, &to, 0), YS_OK);
    CHECK_IS(ys_shm_loan_commit(tx, 1), YS_OK);
  }
  CHECK_IS(ys_shm_loan_reserve_large(tx, 1, &to, 0), YS_FULL);
  CHECK_IS(ys_shm_loan_reserve_large(tx, 1, &to, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_loan_arm_large(tx), 1);
  CHECK_IS(ys_shm_loan_arm(tx), 0);
  CHECK_IS(ys_shm_loan_recv(rx, &borrowed), YS_OK);
  ys_shm_borrowed_free(borrowed);
  CHECK_IS(ys_shm_loan_reserve_large(tx, 1, &to, 0), YS_OK);
  ys_shm_loan_rx_free(rx), ys_shm_loan_free(tx);
}

static void what_cannot_be_opened_is_said(void) {
  const unique name = name_of("kinds");
  ys_shm_loan *tx, *second;
  ys_shm_loan_rx *rx;
  ys_shm_borrowed *borrowed;
  size_t length;
  CHECK_IS(ys_shm_loan_open(name.name, 1, 1, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_loan_open(name.name, 0, 1, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_loan_open(name.name, 1, 0, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_loan_open(name.name, 32769, 1, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK(tx == NULL);
  CHECK_IS(ys_shm_loan_open("", 1, 1, NULL, &tx), YS_REFUSED_NAME);
  CHECK_IS(ys_shm_loan_open(name.name, 1, 1, NULL, &tx), YS_OK);
  CHECK_IS(ys_shm_loan_open(name.name, 1, 1, NULL, &second), YS_REFUSED_IN_USE);
  CHECK_IS(ys_shm_loan_rx_open(-1, NULL, &rx), -1);
  CHECK_IS(ys_shm_loan_receivers(NULL), YS_EINVAL);
  /* Of another kind. */
  ys_shm_watch_rx *watching;
  CHECK_IS(ys_shm_watch_rx_open(ys_shm_connect(name.name, NULL), NULL, &watching), YS_OK);
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_watch_recv(watching, NULL, 0, &length), YS_REFUSED_KIND);
  /* A pool that is too large for it. */
  ys_shm_options small = YS_SHM_OPTIONS_INIT;
  small.largest_region = 4096;
  CHECK_IS(ys_shm_loan_rx_open(ys_shm_connect(name.name, NULL), &small, &rx), YS_OK);
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_loan_recv(rx, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_loan_recv(rx, &borrowed), YS_REFUSED_SIZE);
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK(borrowed == NULL && ys_shm_loan_receivers(tx) == 0);
  ys_shm_watch_rx_free(watching), ys_shm_loan_rx_free(rx), ys_shm_loan_free(tx);
}

/* Both ends in an event loop, of which none is looked at twice for nothing. */
static void an_event_loop_lends_and_borrows(void) {
  struct epoll_event event = {.events = EPOLLIN}, found;
  ys_shm_borrowed *borrowed;
  void *to;
  const int loop = epoll_create1(EPOLL_CLOEXEC), senders = epoll_create1(EPOLL_CLOEXEC);
  ys_shm_loan *tx = lending(1);
  ys_shm_loan_rx *rx = borrowing(ys_shm_loan_seat(tx));
  CHECK_IS(ys_shm_loan_serve(tx, 0), YS_OK);
  CHECK_IS(epoll_ctl(loop, EPOLL_CTL_ADD, ys_shm_loan_rx_fd(rx), &event), 0);
  CHECK_IS(epoll_ctl(senders, EPOLL_CTL_ADD, ys_shm_loan_fd(tx), &event), 0);
  for (unsigned number = 0; number < 100; number++) {
    CHECK_IS(ys_shm_loan_try_recv(rx, &borrowed), YS_EMPTY);
    CHECK_IS(ys_shm_loan_recv_for(rx, &borrowed, number % 10 ? 0 : 1), number % 10 ? YS_EMPTY : YS_TIMEOUT);
    CHECK_IS(ys_shm_loan_rx_arm(rx), 1);
    CHECK_IS(epoll_wait(loop, &found, 1, 0), 0);
    lends(tx, number);
    CHECK_IS(epoll_wait(loop, &found, 1, 60000), 1);
    CHECK_IS(ys_shm_loan_try_recv(rx, &borrowed), YS_OK);
    CHECK_IS(number_of(borrowed), number);
    CHECK_IS(ys_shm_loan_try_reserve(tx, 1, &to), YS_FULL);
    CHECK_IS(ys_shm_loan_arm(tx), 1);
    ys_shm_borrowed_free(borrowed);
    CHECK_IS(epoll_wait(senders, &found, 1, 60000), 1);
    CHECK_IS(ys_shm_loan_try_reserve(tx, 1, &to), YS_OK);
  }
  ys_shm_loan_free(tx), ys_shm_loan_rx_free(rx);
  close(loop), close(senders);
}

int main(int count, char **arguments) {
  alarm(600);
  for (size_t part = 0; count == 3 && part < sizeof parts / sizeof *parts; part++) {
    if (strcmp(arguments[1], parts[part].name) == 0) return parts[part].play(arguments[2]), 0;
  }
  CHECK_IS(count, 1);
  RUN_CLEAN(all_borrow_all);
  RUN_CLEAN(the_dead_hold_nothing);
  RUN_CLEAN(a_sender_that_crashes_is_reported);
  RUN_CLEAN(a_sender_says_why);
  RUN_CLEAN(what_is_borrowed_is_copied_within_its_bounds);
  RUN_CLEAN(a_large_one_is_sealed);
  RUN_CLEAN(what_cannot_be_opened_is_said);
  RUN_CLEAN(an_event_loop_lends_and_borrows);
  return 0;
}
