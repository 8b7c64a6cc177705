/* Pipes of bytes between processes: every verb, every end, and nothing left over. */
#include "processes.h"

#include <sys/epoll.h>

enum { MESSAGES = 5000, MOST = 300, CAPACITY = 1024 };

/* What the message of a number is. */
static size_t made(unsigned number, unsigned char *to) {
  const size_t length = number % (MOST + 1);
  for (size_t at = 0; at < length; at++) to[at] = (unsigned char)(number + at * 7);
  return length;
}

static ys_shm_tx *connected_tx(const char *name) {
  ys_shm_tx *tx;
  CHECK_IS(ys_shm_tx_open(ys_shm_connect(name, NULL), CAPACITY, NULL, &tx), YS_OK);
  return tx;
}

static ys_shm_rx *connected_rx(const char *name) {
  ys_shm_rx *rx;
  CHECK_IS(ys_shm_rx_open(ys_shm_connect(name, NULL), NULL, &rx), YS_OK);
  return rx;
}

static void sends(ys_shm_tx *tx, unsigned from, unsigned to) {
  unsigned char message[MOST];
  for (unsigned number = from; number < to; number++) CHECK_IS(ys_shm_send(tx, message, made(number, message)), YS_OK);
}

static void receives(ys_shm_rx *rx, unsigned from, unsigned to) {
  unsigned char message[MOST], expected[MOST];
  for (unsigned number = from; number < to; number++) {
    size_t length = 0;
    CHECK_IS(ys_shm_recv(rx, message, sizeof message, &length), YS_OK);
    CHECK_IS(length, made(number, expected));
    CHECK(memcmp(message, expected, length) == 0);
  }
}

/* ---- the parts of children ---- */

static void child_sends(const char *name) {
  ys_shm_tx *tx = connected_tx(name);
  sends(tx, 0, MESSAGES);
  ys_shm_tx_free(tx);
}

static void child_receives(const char *name) {
  ys_shm_rx *rx = connected_rx(name);
  size_t length = 7;
  receives(rx, 0, MESSAGES);
  CHECK_IS(ys_shm_recv(rx, NULL, 0, &length), YS_CLOSED);
  CHECK_IS(length, 0);
  ys_shm_rx_free(rx);
}

static void child_sends_and_crashes(const char *name) {
  sends(connected_tx(name), 0, 3);
  raise(SIGKILL);
}

static void child_receives_and_crashes(const char *name) {
  receives(connected_rx(name), 0, 3);
  raise(SIGKILL);
}

static void child_inherits(const char *descriptor) {
  ys_shm_tx *tx;
  CHECK_IS(fcntl(atoi(descriptor), F_GETFD), 0);
  CHECK_IS(ys_shm_tx_open(atoi(descriptor), CAPACITY, NULL, &tx), YS_OK);
  CHECK_IS(fcntl(atoi(descriptor), F_GETFD), FD_CLOEXEC);
  sends(tx, 0, MESSAGES);
  CHECK_IS(ys_shm_tx_close(tx), YS_OK);
  ys_shm_tx_free(tx);
}

static const struct {
  const char *name;
  void (*play)(const char *argument);
} parts[] = {
    {"sends", child_sends},
    {"receives", child_receives},
    {"sends and crashes", child_sends_and_crashes},
    {"receives and crashes", child_receives_and_crashes},
    {"inherits", child_inherits},
};

/* ---- two processes ---- */

static ys_shm_listener *listening(const char *name) {
  ys_shm_listener *listener;
  CHECK_IS(ys_shm_listener_open(name, NULL, &listener), YS_OK);
  return listener;
}

static ys_shm_rx *accepted_rx(ys_shm_listener *listener) {
  ys_shm_rx *rx;
  CHECK_IS(ys_shm_rx_open(ys_shm_accept(listener, LONG_TIME), NULL, &rx), YS_OK);
  return rx;
}

static ys_shm_tx *accepted_tx(ys_shm_listener *listener) {
  ys_shm_tx *tx;
  CHECK_IS(ys_shm_tx_open(ys_shm_accept(listener, -1), CAPACITY, NULL, &tx), YS_OK);
  return tx;
}

static void a_child_sends_until_it_closes(void) {
  const unique name = name_of("sends");
  ys_shm_listener *listener = listening(name.name);
  const pid_t child = played("sends", name.name);
  ys_shm_rx *rx = accepted_rx(listener);
  size_t length;
  receives(rx, 0, MESSAGES);
  CHECK_IS(ys_shm_recv(rx, NULL, 0, &length), YS_CLOSED);
  CHECK_IS(ys_shm_recv_for(rx, NULL, 0, &length, -1), YS_CLOSED);
  CHECK_IS(ys_shm_try_recv(rx, NULL, 0, &length), YS_CLOSED);
  ended(child, 0);
  ys_shm_rx_free(rx);
  ys_shm_listener_free(listener);
}

/* By a path: of the socket in the folder nothing is left. */
static void a_child_receives_until_it_is_closed(void) {
  char folder[] = "/tmp/ysuite-shm-XXXXXX";
  char path[64];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/socket", folder);
  ys_shm_listener *listener = listening(path);
  const pid_t child = played("receives", path);
  ys_shm_tx *tx = accepted_tx(listener);
  sends(tx, 0, MESSAGES);
  ys_shm_tx_free(tx);
  ended(child, 0);
  ys_shm_listener_free(listener);
  CHECK_IS(rmdir(folder), 0);
}

static void a_sender_that_crashes_is_reported_behind_its_messages(void) {
  const unique name = name_of("sender-crashes");
  ys_shm_listener *listener = listening(name.name);
  const pid_t child = played("sends and crashes", name.name);
  ys_shm_rx *rx = accepted_rx(listener);
  unsigned char message[MOST];
  size_t length;
  ended(child, SIGKILL);
  receives(rx, 0, 3);
  CHECK_IS(ys_shm_recv(rx, message, sizeof message, &length), YS_DIED);
  CHECK_IS(ys_shm_try_recv(rx, message, sizeof message, &length), YS_DIED);
  CHECK_IS(ys_shm_recv_for(rx, message, sizeof message, &length, LONG_TIME), YS_DIED);
  ys_shm_rx_free(rx);
  ys_shm_listener_free(listener);
}

static void a_receiver_that_crashes_ends_the_wait_for_room(void) {
  const unique name = name_of("receiver-crashes");
  ys_shm_listener *listener = listening(name.name);
  const pid_t child = played("receives and crashes", name.name);
  ys_shm_tx *tx = accepted_tx(listener);
  unsigned char message[MOST];
  unsigned number = 0;
  int code;
  do code = ys_shm_send(tx, message, made(number++, message));
  while (code == YS_OK);
  CHECK_IS(code, YS_DIED);
  CHECK_IS(ys_shm_try_send(tx, message, MOST), YS_DIED);
  CHECK_IS(ys_shm_send_for(tx, message, MOST, LONG_TIME), YS_DIED);
  CHECK_IS(ys_shm_tx_is_closed(tx), 1);
  ended(child, SIGKILL);
  ys_shm_tx_free(tx);
  ys_shm_listener_free(listener);
}

static void a_child_inherits_an_end(void) {
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  char argument[16];
  size_t length;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, &tx, &rx), YS_OK);
  const int descriptor = ys_shm_tx_into_fd(tx);
  CHECK(descriptor >= 0);
  CHECK_IS(ys_shm_tx_into_fd(tx), YS_CLOSED);
  CHECK_IS(ys_shm_send(tx, NULL, 0), YS_CLOSED);
  CHECK_IS(ys_shm_tx_close(tx), YS_CLOSED);
  ys_shm_tx_free(tx);
  CHECK_IS(fcntl(descriptor, F_GETFD), FD_CLOEXEC);
  CHECK_IS(fcntl(descriptor, F_SETFD, 0), 0);
  snprintf(argument, sizeof argument, "%d", descriptor);
  const pid_t child = played("inherits", argument);
  CHECK_IS(close(descriptor), 0);
  receives(rx, 0, MESSAGES);
  /* It stays what it is. */
  CHECK_IS(ys_shm_rx_into_fd(rx), YS_EINVAL);
  CHECK_IS(ys_shm_rx_into_fd(rx), YS_EINVAL);
  CHECK_IS(ys_shm_recv(rx, NULL, 0, &length), YS_CLOSED);
  ended(child, 0);
  ys_shm_rx_free(rx);
}

static void an_event_loop_serves_a_child(void) {
  const unique name = name_of("loop");
  ys_shm_listener *listener = listening(name.name);
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = 1};
  CHECK_IS(epoll_ctl(loop, EPOLL_CTL_ADD, ys_shm_listener_fd(listener), &event), 0);
  const pid_t child = played("sends", name.name);
  CHECK_IS(epoll_wait(loop, &event, 1, 60000), 1);
  ys_shm_rx *rx;
  CHECK_IS(ys_shm_rx_open(ys_shm_accept(listener, 0), NULL, &rx), YS_OK);
  ys_shm_listener_free(listener);
  event.data.u32 = 2;
  CHECK_IS(epoll_ctl(loop, EPOLL_CTL_ADD, ys_shm_rx_fd(rx), &event), 0);
  unsigned number = 0;
  int code;
  for (;;) {
    unsigned char message[MOST], expected[MOST];
    size_t length;
    while ((code = ys_shm_try_recv(rx, message, sizeof message, &length)) == YS_OK) {
      CHECK_IS(length, made(number++, expected));
      CHECK(memcmp(message, expected, length) == 0);
    }
    if (code != YS_EMPTY) break;
    if (ys_shm_rx_arm(rx) == 1) CHECK_IS(epoll_wait(loop, &event, 1, 60000), 1);
  }
  CHECK_IS(code, YS_CLOSED);
  CHECK_IS(number, MESSAGES);
  ended(child, 0);
  ys_shm_rx_free(rx);
  close(loop);
}

/* ---- a funnel ---- */

enum { CHILDREN = 3 };

/* Two children connect, of which one crashes, and one inherits a seat. All that they sent comes, each's in order, and then how
   each has ended. */
static void a_funnel_hears_how_each_child_ends(void) {
  const unique name = name_of("funnel");
  ys_shm_funnel *funnel;
  uint64_t seat, sender;
  char argument[16];
  unsigned char message[MOST], expected[MOST];
  size_t length;
  int why, closed = 0, died = 0;
  CHECK_IS(ys_shm_funnel_open(name.name, NULL, &funnel), YS_OK);
  CHECK_IS(ys_shm_funnel_senders(funnel), 0);
  CHECK_IS(ys_shm_funnel_try_recv(funnel, message, MOST, &length, &sender), YS_EMPTY);
  CHECK_IS(ys_shm_funnel_recv_for(funnel, message, MOST, &length, &sender, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_funnel_next_ended(funnel, &sender, &why), YS_EMPTY);
  const int descriptor = ys_shm_funnel_seat(funnel, &seat);
  CHECK(descriptor >= 0);
  CHECK_IS(ys_shm_funnel_senders(funnel), 1);
  CHECK_IS(fcntl(descriptor, F_SETFD, 0), 0);
  snprintf(argument, sizeof argument, "%d", descriptor);
  const pid_t children[CHILDREN] = {played("sends", name.name), played("sends and crashes", name.name), played("inherits", argument)};
  CHECK_IS(close(descriptor), 0);
  unsigned next[CHILDREN + 1] = {0};
  struct epoll_event event = {.events = EPOLLIN};
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  CHECK_IS(epoll_ctl(loop, EPOLL_CTL_ADD, ys_shm_funnel_fd(funnel), &event), 0);
  while (closed + died < CHILDREN) {
    int code;
    while ((code = ys_shm_funnel_try_recv(funnel, message, MOST, &length, &sender)) == YS_OK) {
      CHECK(sender <= CHILDREN);
      CHECK_IS(length, made(next[sender]++, expected));
      CHECK(memcmp(message, expected, length) == 0);
    }
    CHECK_IS(code, YS_EMPTY);
    while ((code = ys_shm_funnel_next_ended(funnel, &sender, &why)) == YS_OK) {
      CHECK(why == YS_CLOSED || why == YS_DIED);
      CHECK_IS(next[sender], why == YS_CLOSED ? MESSAGES : 3);
      CHECK(sender != seat || why == YS_CLOSED);
      closed += why == YS_CLOSED, died += why == YS_DIED;
    }
    CHECK_IS(code, YS_EMPTY);
    if (closed + died < CHILDREN && ys_shm_funnel_arm(funnel) == 1) CHECK_IS(epoll_wait(loop, &event, 1, 60000), 1);
  }
  CHECK_IS(died, 1);
  for (int at = 0; at < CHILDREN; at++) ended(children[at], at == 1 ? SIGKILL : 0);
  close(loop);
  ys_shm_funnel_free(funnel);
}

static void a_funnel_without_a_name(void) {
  ys_shm_funnel *funnel = NULL;
  ys_shm_tx *tx;
  uint64_t seat = 0, sender = 9;
  size_t length;
  char room[8];
  int why;
  CHECK_IS(ys_shm_funnel_open(NULL, NULL, &funnel), YS_OK);
  CHECK_IS(ys_shm_tx_open(ys_shm_funnel_seat(funnel, &seat), CAPACITY, NULL, &tx), YS_OK);
  CHECK_IS(ys_shm_send(tx, "too long!", 9), YS_OK);
  /* What does not fit is the next one again, and not waited for. */
  CHECK_IS(ys_shm_funnel_recv(funnel, room, sizeof room, &length, &sender), YS_ETOOLONG);
  CHECK(length == 9 && sender == seat);
  CHECK_IS(ys_shm_funnel_try_recv(funnel, NULL, 0, &length, NULL), YS_ETOOLONG);
  CHECK_IS(ys_shm_funnel_arm(funnel), 0);
  CHECK_IS(ys_shm_send(tx, "short", 5), YS_OK);
  char *bytes = malloc(9);
  CHECK_IS(ys_shm_funnel_recv_for(funnel, bytes, 9, &length, NULL, -1), YS_OK);
  CHECK(length == 9 && memcmp(bytes, "too long!", 9) == 0);
  free(bytes);
  CHECK_IS(ys_shm_funnel_recv(funnel, room, sizeof room, &length, NULL), YS_OK);
  CHECK(length == 5 && memcmp(room, "short", 5) == 0);
  CHECK_IS(ys_shm_funnel_try_recv(funnel, room, sizeof room, &length, NULL), YS_EMPTY);
  CHECK_IS(ys_shm_funnel_arm(funnel), 1);
  ys_shm_tx_free(tx);
  CHECK_IS(ys_shm_funnel_recv(funnel, room, sizeof room, &length, NULL), YS_CLOSED);
  CHECK_IS(length, 0);
  CHECK_IS(ys_shm_funnel_next_ended(funnel, &sender, &why), YS_OK);
  CHECK(sender == seat && why == YS_CLOSED);
  /* Bad input. */
  CHECK_IS(ys_shm_funnel_seat(funnel, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_funnel_next_ended(funnel, NULL, &why), YS_EINVAL);
  CHECK_IS(ys_shm_funnel_next_ended(funnel, &sender, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_funnel_recv(funnel, NULL, 1, &length, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_funnel_recv(funnel, room, 1, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_funnel_senders(NULL), YS_EINVAL);
  ys_shm_funnel_free(funnel);
  ys_shm_funnel_free(NULL);
  CHECK_IS(ys_shm_funnel_open("", NULL, &funnel), YS_REFUSED_NAME);
  CHECK(funnel == NULL);
  CHECK_IS(ys_shm_funnel_open("\xff", NULL, &funnel), YS_EINVAL);
  CHECK_IS(ys_shm_funnel_open(NULL, NULL, NULL), YS_EINVAL);
}

/* A forked child that frees what its parent has takes nothing away. */
static void a_forked_child_frees_its_copies(void) {
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, &tx, &rx), YS_OK);
  sends(tx, 0, 1);
  receives(rx, 0, 1);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    ys_shm_tx_free(tx);
    ys_shm_rx_free(rx);
    _exit(0);
  }
  ended(child, 0);
  CHECK_IS(ys_shm_tx_is_closed(tx), 0);
  sends(tx, 1, 3);
  receives(rx, 1, 3);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
}

/* ---- one process ---- */

static void a_message_that_does_not_fit_stays(void) {
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  char room[8] = {0};
  size_t length = 0;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, &tx, &rx), YS_OK);
  CHECK_IS(ys_shm_send(tx, "too long!", 9), YS_OK);
  CHECK_IS(ys_shm_try_recv(rx, room, sizeof room, &length), YS_ETOOLONG);
  CHECK_IS(length, 9);
  CHECK_IS(ys_shm_recv_for(rx, room, 1, &length, MILLISECOND), YS_ETOOLONG);
  CHECK_IS(length, 9);
  CHECK_IS(ys_shm_recv(rx, NULL, 0, &length), YS_ETOOLONG);
  CHECK_IS(length, 9);
  char *bytes = malloc(length);
  CHECK_IS(ys_shm_recv(rx, bytes, length, &length), YS_OK);
  CHECK(length == 9 && memcmp(bytes, "too long!", 9) == 0);
  free(bytes);
  /* An empty message is one, which fits everywhere. */
  CHECK_IS(ys_shm_send(tx, NULL, 0), YS_OK);
  CHECK_IS(ys_shm_recv(rx, NULL, 0, &length), YS_OK);
  CHECK_IS(length, 0);
  CHECK_IS(ys_shm_try_recv(rx, NULL, 0, &length), YS_EMPTY);
  CHECK_IS(ys_shm_recv_for(rx, NULL, 0, &length, 0), YS_EMPTY);
  CHECK_IS(ys_shm_recv_for(rx, NULL, 0, &length, MILLISECOND), YS_TIMEOUT);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
}

static void a_full_channel_says_so(void) {
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  char bytes[56] = {0};
  size_t length;
  CHECK_IS(ys_shm_pipe_open(64, NULL, &tx, &rx), YS_OK);
  CHECK_IS(ys_shm_tx_largest(tx), 56);
  CHECK_IS(ys_shm_send(tx, bytes, 57), YS_ETOOLONG);
  CHECK_IS(ys_shm_try_send(tx, bytes, SIZE_MAX), YS_ETOOLONG);
  CHECK_IS(ys_shm_tx_arm(tx, 57), YS_ETOOLONG);
  CHECK_IS(ys_shm_tx_arm(tx, 56), 0);
  CHECK_IS(ys_shm_send(tx, bytes, 56), YS_OK);
  CHECK_IS(ys_shm_try_send(tx, bytes, 0), YS_FULL);
  CHECK_IS(ys_shm_send_for(tx, bytes, 0, 0), YS_FULL);
  CHECK_IS(ys_shm_send_for(tx, bytes, 0, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_tx_arm(tx, 0), 1);
  CHECK(ys_shm_tx_fd(tx) >= 0);
  CHECK_IS(ys_shm_recv(rx, bytes, sizeof bytes, &length), YS_OK);
  CHECK_IS(ys_shm_tx_arm(tx, 0), 0);
  CHECK_IS(ys_shm_tx_is_closed(tx), 0);
  CHECK_IS(ys_shm_rx_close(rx), YS_OK);
  CHECK_IS(ys_shm_tx_is_closed(tx), 1);
  CHECK_IS(ys_shm_send(tx, bytes, 1), YS_CLOSED);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
}

static void a_handle_that_was_closed_says_so(void) {
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  size_t length = 1;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, &tx, &rx), YS_OK);
  CHECK_IS(ys_shm_send(tx, "a", 1), YS_OK);
  CHECK_IS(ys_shm_tx_close(tx), YS_OK);
  CHECK_IS(ys_shm_tx_close(tx), YS_CLOSED);
  CHECK_IS(ys_shm_try_send(tx, "a", 1), YS_CLOSED);
  CHECK_IS(ys_shm_tx_fd(tx), YS_CLOSED);
  CHECK_IS(ys_shm_tx_arm(tx, 1), YS_CLOSED);
  CHECK_IS(ys_shm_tx_is_closed(tx), YS_CLOSED);
  CHECK_IS(ys_shm_tx_largest(tx), 0);
  char byte = 0;
  CHECK_IS(ys_shm_recv(rx, &byte, 1, &length), YS_OK);
  CHECK(byte == 'a' && length == 1);
  CHECK_IS(ys_shm_rx_close(rx), YS_OK);
  CHECK_IS(ys_shm_rx_close(rx), YS_CLOSED);
  CHECK_IS(ys_shm_recv(rx, &byte, 1, &length), YS_CLOSED);
  CHECK_IS(ys_shm_rx_fd(rx), YS_CLOSED);
  CHECK_IS(ys_shm_rx_arm(rx), YS_CLOSED);
  CHECK_IS(ys_shm_rx_into_fd(rx), YS_CLOSED);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
}

static void who_is_refused_is_told_why(void) {
  const unique name = name_of("refused");
  ys_shm_listener *listener = listening(name.name), *other;
  CHECK_IS(ys_shm_listener_open(name.name, NULL, &other), YS_REFUSED_IN_USE);
  CHECK(other == NULL && ys_shm_refusal()[0] != '\0');
  CHECK_IS(ys_shm_listener_open("", NULL, &other), YS_REFUSED_NAME);
  CHECK_IS(ys_shm_accept(listener, 0), YS_EMPTY);
  CHECK_IS(ys_shm_accept(listener, MILLISECOND), YS_TIMEOUT);

  /* Both send, or call their messages differently. */
  ys_shm_options quotes = YS_SHM_OPTIONS_INIT, prices = YS_SHM_OPTIONS_INIT;
  quotes.messages = "quotes", prices.messages = "prices";
  ys_shm_tx *tx, *second;
  ys_shm_rx *rx;
  char byte;
  size_t length;
  CHECK_IS(ys_shm_tx_open(ys_shm_connect(name.name, NULL), CAPACITY, NULL, &tx), YS_OK);
  CHECK_IS(ys_shm_tx_open(ys_shm_accept(listener, -1), CAPACITY, NULL, &second), YS_OK);
  while (ys_shm_tx_is_closed(tx) == 0) CHECK(ys_shm_tx_is_closed(second) >= 0);
  CHECK_IS(ys_shm_send(tx, "a", 1), YS_REFUSED_ROLE);
  ys_shm_tx_free(tx);
  ys_shm_tx_free(second);
  CHECK_IS(ys_shm_tx_open(ys_shm_connect(name.name, NULL), CAPACITY, &quotes, &tx), YS_OK);
  CHECK_IS(ys_shm_rx_open(ys_shm_accept(listener, -1), &prices, &rx), YS_OK);
  CHECK_IS(ys_shm_send(tx, "a", 1), YS_OK);
  CHECK_IS(ys_shm_recv(rx, &byte, 1, &length), YS_REFUSED_TYPE);
  while (ys_shm_tx_is_closed(tx) == 0) {}
  const int code = ys_shm_send(tx, "a", 1);
  CHECK(code == YS_REFUSED_TYPE || code == YS_REFUSED_BY_PEER);
  CHECK(strstr(ys_shm_refusal(), "type") != NULL);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);

  /* Another user than this one may connect, or listen. */
  const uint32_t strangers[] = {(uint32_t)getuid() + 1};
  ys_shm_options options = YS_SHM_OPTIONS_INIT;
  options.users = strangers, options.user_count = 1;
  CHECK_IS(ys_shm_connect(name.name, &options), YS_REFUSED_USER);
  ys_shm_listener_free(listener);
  errno = 0;
  CHECK_IS(ys_shm_connect(name.name, NULL), YS_ESYSTEM);
  CHECK_IS(errno, ECONNREFUSED);
}

/* How many descriptors a pipe has whose ends have met. */
static int descriptors_of(const ys_shm_options *options) {
  const int before = files_in("/proc/self/fd");
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, options, &tx, &rx), YS_OK);
  sends(tx, 0, 3);
  receives(rx, 0, 3);
  CHECK_IS(ys_shm_tx_is_closed(tx), 0);
  const int used = files_in("/proc/self/fd") - before;
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
  return used;
}

static void options_reach_the_ends(void) {
  ys_shm_options careful = YS_SHM_OPTIONS_INIT, small = YS_SHM_OPTIONS_INIT, plain = YS_SHM_OPTIONS_INIT;
  careful.careful = 1, small.largest_region = 65536;
  /* The bells. */
  CHECK(descriptors_of(&careful) < descriptors_of(&plain));
  CHECK_IS(descriptors_of(NULL), descriptors_of(&plain));
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  char byte;
  size_t length;
  CHECK_IS(ys_shm_pipe_open(1 << 20, &small, &tx, &rx), YS_OK);
  CHECK_IS(ys_shm_send(tx, "a", 1), YS_OK);
  CHECK_IS(ys_shm_recv(rx, &byte, 1, &length), YS_REFUSED_SIZE);
  CHECK(strstr(ys_shm_refusal(), "size") != NULL);
  /* Its hello had been taken. */
  CHECK_IS(ys_shm_tx_is_closed(tx), 1);
  CHECK_IS(ys_shm_send(tx, "a", 1), YS_REFUSED_BY_PEER);
  CHECK(strstr(ys_shm_refusal(), "size") != NULL);
  ys_shm_rx_free(rx);
  ys_shm_tx_free(tx);
}

static void bad_input_is_refused(void) {
  ys_shm_options options = YS_SHM_OPTIONS_INIT;
  ys_shm_listener *listener = (ys_shm_listener *)(uintptr_t)16;
  ys_shm_tx *tx = (ys_shm_tx *)(uintptr_t)16;
  ys_shm_rx *rx = (ys_shm_rx *)(uintptr_t)16;
  size_t length;
  char byte;
  CHECK_IS(ys_shm_listener_open(NULL, NULL, &listener), YS_EINVAL);
  CHECK(listener == NULL);
  CHECK_IS(ys_shm_listener_open("a", NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_listener_open("\xff", NULL, &listener), YS_EINVAL);
  CHECK_IS(ys_shm_connect(NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_accept(NULL, 0), YS_EINVAL);
  CHECK_IS(ys_shm_listener_fd(NULL), YS_EINVAL);
  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, NULL, &rx), YS_EINVAL);
  CHECK(rx == NULL);
  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, &tx, NULL), YS_EINVAL);
  CHECK(tx == NULL);
  CHECK_IS(ys_shm_pipe_open(0, NULL, &tx, &rx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_pipe_open(SIZE_MAX, NULL, &tx, &rx), YS_REFUSED_CAPACITY);
  options.struct_size = 3;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, &options, &tx, &rx), YS_EINVAL);
  options.struct_size = sizeof options.struct_size;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, &options, &tx, &rx), YS_OK);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
  /* What a shorter one does not have counts as 0. */
  options.struct_size = offsetof(ys_shm_options, users);
  options.user_count = 1;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, &options, &tx, &rx), YS_OK);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
  options.struct_size = sizeof options;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, &options, &tx, &rx), YS_EINVAL);
  CHECK(tx == NULL && rx == NULL);
  const uint32_t user = getuid();
  ys_shm_options too_many = YS_SHM_OPTIONS_INIT;
  too_many.users = &user, too_many.user_count = SIZE_MAX / 4;
  CHECK_IS(ys_shm_pipe_open(CAPACITY, &too_many, &tx, &rx), YS_EINVAL);

  /* A descriptor is taken over in any case; the error of who has none is handed on. */
  int ends[2];
  CHECK_IS(ys_shm_rx_open(YS_REFUSED_NAME, NULL, &rx), YS_REFUSED_NAME);
  CHECK_IS(ys_shm_tx_open(YS_TIMEOUT, CAPACITY, NULL, &tx), YS_TIMEOUT);
  CHECK_IS(ys_shm_tx_open(YS_TIMEOUT, CAPACITY, NULL, NULL), YS_EINVAL);
  errno = ECONNREFUSED;
  CHECK_IS(ys_shm_rx_open(YS_ESYSTEM, NULL, &rx), YS_ESYSTEM);
  CHECK_IS(errno, ECONNREFUSED);
  CHECK_IS(pipe(ends), 0);
  CHECK_IS(ys_shm_rx_open(ends[0], &options, &rx), YS_EINVAL);
  CHECK_IS(ys_shm_tx_open(ends[1], CAPACITY, NULL, NULL), YS_EINVAL);
  CHECK_IS(fcntl(ends[0], F_GETFD), -1);
  CHECK_IS(fcntl(ends[1], F_GETFD), -1);
  errno = 0;
  CHECK_IS(ys_shm_rx_open(ends[0], NULL, &rx), YS_ESYSTEM);
  CHECK_IS(errno, EBADF);
  CHECK_IS(pipe(ends), 0);
  CHECK(ys_shm_rx_open(ends[0], NULL, &rx) < 0 && rx == NULL);
  CHECK(ys_shm_tx_open(ends[1], CAPACITY, NULL, &tx) < 0 && tx == NULL);
  /* Also the one with the number 0. */
  const int input = dup(0);
  CHECK_IS(pipe(ends), 0);
  if (ends[0] != 0) CHECK(dup2(ends[0], 0) == 0 && close(ends[0]) == 0);
  CHECK(ys_shm_rx_open(0, NULL, &rx) < 0 && rx == NULL);
  CHECK_IS(fcntl(0, F_GETFD), -1);
  close(ends[1]);
  if (input >= 0) CHECK(dup2(input, 0) == 0 && close(input) == 0);

  CHECK_IS(ys_shm_pipe_open(CAPACITY, NULL, &tx, &rx), YS_OK);
  CHECK_IS(ys_shm_send(tx, NULL, 1), YS_EINVAL);
  CHECK_IS(ys_shm_recv(rx, NULL, 1, &length), YS_EINVAL);
  CHECK_IS(ys_shm_recv(rx, &byte, 1, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_send(NULL, "a", 1), YS_EINVAL);
  CHECK_IS(ys_shm_recv(NULL, &byte, 1, &length), YS_EINVAL);
  CHECK_IS(ys_shm_try_recv(rx, &byte, 1, &length), YS_EMPTY);
  ys_shm_tx_free(tx);
  ys_shm_rx_free(rx);
  ys_shm_tx_free(NULL);
  ys_shm_rx_free(NULL);
  ys_shm_listener_free(NULL);
}

int main(int count, char **arguments) {
  alarm(600);
  for (size_t part = 0; count == 3 && part < sizeof parts / sizeof *parts; part++) {
    if (strcmp(arguments[1], parts[part].name) == 0) return parts[part].play(arguments[2]), 0;
  }
  CHECK_IS(count, 1);
  RUN_CLEAN(a_message_that_does_not_fit_stays);
  RUN_CLEAN(a_full_channel_says_so);
  RUN_CLEAN(a_handle_that_was_closed_says_so);
  RUN_CLEAN(who_is_refused_is_told_why);
  RUN_CLEAN(options_reach_the_ends);
  RUN_CLEAN(bad_input_is_refused);
  RUN_CLEAN(a_child_sends_until_it_closes);
  RUN_CLEAN(a_child_receives_until_it_is_closed);
  RUN_CLEAN(a_sender_that_crashes_is_reported_behind_its_messages);
  RUN_CLEAN(a_receiver_that_crashes_ends_the_wait_for_room);
  RUN_CLEAN(a_child_inherits_an_end);
  RUN_CLEAN(an_event_loop_serves_a_child);
  RUN_CLEAN(a_forked_child_frees_its_copies);
  RUN_CLEAN(a_funnel_without_a_name);
  RUN_CLEAN(a_funnel_hears_how_each_child_ends);
  return 0;
}
