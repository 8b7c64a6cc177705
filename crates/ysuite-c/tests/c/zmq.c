/* Bridges: both sides in this program, and libzmq itself as the peer; peers that go and come back, addresses that are refused, a close
 * while another thread waits. */
#include "bridges.h"

#include <poll.h>

enum { MESSAGES = 3000 };

static void sends(ys_zmq_tx *tx, const char *text) { CHECK_IS(ys_zmq_send(tx, text, strlen(text), LONG_TIME), YS_OK); }

static void receives(ys_zmq_rx *rx, const char *text) {
  const void *bytes;
  size_t length;
  CHECK_IS(ys_zmq_recv(rx, &bytes, &length, LONG_TIME), YS_OK);
  CHECK_IS(length, strlen(text));
  CHECK(memcmp(bytes, text, length) == 0);
}

static void is_topic(ys_zmq_rx *rx, const char *text) {
  size_t length;
  const void *bytes = ys_zmq_rx_topic(rx, &length);
  CHECK_IS(length, strlen(text));
  CHECK(length == 0 || memcmp(bytes, text, length) == 0);
}

/* ---- both sides are bridges ---- */

static void *counts_messages(void *arg) {
  ys_zmq_rx *rx = (ys_zmq_rx *)arg;
  const void *bytes;
  size_t length;
  for (uint32_t number = 0; number < MESSAGES; number++) {
    uint32_t found;
    CHECK_IS(ys_zmq_recv(rx, &bytes, &length, -1), YS_OK);
    CHECK_IS(length, sizeof found);
    memcpy(&found, bytes, sizeof found);
    CHECK_IS(found, number);
  }
  return NULL;
}

static void all_that_is_pushed_is_pulled(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(to, 0));
  CHECK(ys_zmq_bridge_address(to, 1) == NULL);
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  const pthread_t counting = started(counts_messages, rx);
  for (uint32_t number = 0; number < MESSAGES; number++) CHECK_IS(ys_zmq_send(tx, &number, sizeof number, -1), YS_OK);
  joined(counting);
  sends(tx, "");
  receives(rx, "");
  is_topic(rx, "");
  CHECK_IS(ys_zmq_publish(tx, "topic", 5, "message", 7, 0), YS_ENOTSUP);
  COMES_TO(from, messages_out, MESSAGES + 1);
  COMES_TO(to, messages_in, MESSAGES + 1);
  COMES_TO(to, bytes_in, 4 * MESSAGES);
  /* Of an older header, and of a newer one. */
  struct {
    ys_zmq_statistics counts;
    uint64_t newer;
  } more = {{0}, 7};
  CHECK_IS(ys_zmq_bridge_statistics(to, &more.counts, sizeof more), YS_OK);
  CHECK(more.counts.messages_in == MESSAGES + 1 && more.newer == 0);
  more.counts.messages_in = 7;
  CHECK_IS(ys_zmq_bridge_statistics(to, &more.counts, 8), YS_OK);
  CHECK(more.counts.messages_out == 0 && more.counts.messages_in == 7);
  ends(from);
  CHECK_IS(ys_zmq_send(tx, "late", 4, 0), YS_CLOSED);
  ends(to);
  ys_zmq_tx_free(tx);
  ys_zmq_rx_free(rx);
}

/* What is received is lent until the next one, however long it is. */
static void long_messages_are_lent(void) {
  enum { LENGTH = 1 << 20 };
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(to, 0));
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  unsigned char *message = malloc(LENGTH);
  CHECK(message != NULL);
  for (size_t at = 0; at < LENGTH; at++) message[at] = (unsigned char)(at * 7 + at / 256);
  CHECK_IS(ys_zmq_send(tx, message, LENGTH, -1), YS_OK);
  const void *bytes, *none;
  size_t length;
  CHECK_IS(ys_zmq_recv(rx, &bytes, &length, LONG_TIME), YS_OK);
  CHECK_IS(length, LENGTH);
  CHECK_IS(ys_zmq_recv(rx, &none, &length, 0), YS_EMPTY);
  CHECK(none == NULL && length == 0);
  CHECK(memcmp(bytes, message, LENGTH) == 0);
  free(message);
  ys_zmq_tx_free(tx), ys_zmq_rx_free(rx);
  ys_zmq_bridge_free(from), ys_zmq_bridge_free(to);
}

static void topics_reach_those_that_ask_for_them(void) {
  ys_zmq_bridge *from, *here, *all;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx, *everything;
  where there;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_publish_open(&options, &from, &tx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(from, 0));
  CHECK_IS(ys_zmq_subscribe_open(&options, &all, &everything), YS_OK);
  options.topics = (texts){"weather", "sports", NULL};
  CHECK_IS(ys_zmq_subscribe_open(&options, &here, &rx), YS_OK);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(from, "weather.snow", 12, 2, LONG_TIME), YS_OK);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(from, "stocks", 6, 2, 0), YS_TIMEOUT);
  CHECK_IS(ys_zmq_publish(tx, "stocks", 6, "up", 2, -1), YS_OK);
  CHECK_IS(ys_zmq_publish(tx, "weather.snow", 12, "deep", 4, -1), YS_OK);
  receives(everything, "up"), is_topic(everything, "stocks");
  receives(everything, "deep");
  receives(rx, "deep"), is_topic(rx, "weather.snow");
  CHECK_IS(ys_zmq_bridge_subscribe(here, "stocks", 6), YS_OK);
  CHECK_IS(ys_zmq_bridge_unsubscribe(here, "weather", 7), YS_OK);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(from, "stocks", 6, 2, LONG_TIME), YS_OK);
  /* What is asked for was asked for in this order. */
  while (ys_zmq_bridge_wait_subscribers(from, "weather", 7, 2, 0) == YS_OK) usleep(1000);
  CHECK_IS(ys_zmq_publish(tx, "weather", 7, "fog", 3, -1), YS_OK);
  CHECK_IS(ys_zmq_publish(tx, "stocks", 6, "down", 4, -1), YS_OK);
  receives(rx, "down"), is_topic(rx, "stocks");
  CHECK_IS(ys_zmq_bridge_subscribe(from, "stocks", 6), YS_ENOTSUP);
  CHECK(strstr(ys_zmq_refusal(), "does not subscribe") != NULL);
  ys_zmq_tx_free(tx), ys_zmq_rx_free(rx), ys_zmq_rx_free(everything);
  ends(from), ends(here), ends(all);
}

/* With one place the newest message takes that of the one before. */
static void the_newest_is_kept(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  ys_zmq_options options = anywhere();
  options.conflate = 1;
  options.capacity = 1;
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(to, 0));
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  for (char text[] = "0"; text[0] <= '9'; text[0]++) sends(tx, text);
  while (counted(to).messages_in < 10 || counted(to).dropped < 9) usleep(1000);
  receives(rx, "9");
  CHECK_IS(ys_zmq_recv(rx, &(const void *){NULL}, &(size_t){0}, 0), YS_EMPTY);
  ys_zmq_tx_free(tx), ys_zmq_rx_free(rx);
  ends(from), ends(to);
}

static void each_side_of_a_duplex_knows_of_the_other(void) {
  ys_zmq_bridge *one, *other;
  ys_zmq_tx *tx, *back;
  ys_zmq_rx *rx, *heard;
  where there;
  ys_zmq_options options = anywhere();
  options.at_least_once = 1;
  CHECK_IS(ys_zmq_duplex_open(&options, &one, &tx, &rx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(one, 0));
  CHECK_IS(ys_zmq_duplex_open(&options, &other, &back, &heard), YS_OK);
  sends(tx, "hello"), receives(heard, "hello");
  sends(back, "hello yourself"), receives(rx, "hello yourself");
  sends(tx, "the last word");
  ys_zmq_tx_free(tx);
  receives(heard, "the last word");
  CHECK_IS(ys_zmq_recv(heard, &(const void *){NULL}, &(size_t){0}, LONG_TIME), YS_CLOSED);
  ys_zmq_tx_free(back);
  CHECK_IS(ys_zmq_recv(rx, &(const void *){NULL}, &(size_t){0}, LONG_TIME), YS_CLOSED);
  ends(other), ends(one);
  ys_zmq_rx_free(rx), ys_zmq_rx_free(heard);
}

/* ---- time, and who waits ---- */

static void *waits_for_a_message(void *arg) {
  const void *bytes;
  size_t length;
  CHECK_IS(ys_zmq_recv((ys_zmq_rx *)arg, &bytes, &length, -1), YS_CLOSED);
  return NULL;
}

static void *waits_for_room(void *arg) {
  int code;
  while ((code = ys_zmq_send((ys_zmq_tx *)arg, "more", 4, -1)) == YS_OK) continue;
  CHECK_IS(code, YS_CLOSED);
  return NULL;
}

static void a_close_wakes_who_waits(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  size_t unsent = 0;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  const pthread_t receiving = started(waits_for_a_message, rx);
  usleep(5000);
  ends(to);
  joined(receiving);
  /* Nobody is there to take what is sent. */
  options = connecting(&there, "ipc:///nonexistent/nobody");
  options.capacity = 4;
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  const pthread_t sending = started(waits_for_room, tx);
  usleep(5000);
  CHECK_IS(ys_zmq_bridge_close(from, 1, &unsent), YS_UNSENT);
  CHECK(unsent >= 4);
  joined(sending);
  ys_zmq_tx_free(tx), ys_zmq_rx_free(rx), ys_zmq_bridge_free(from);
}

static void times_end(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  const void *bytes;
  size_t length;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  CHECK_IS(ys_zmq_recv(rx, &bytes, &length, 0), YS_EMPTY);
  CHECK_IS(ys_zmq_recv(rx, &bytes, &length, MILLISECOND), YS_TIMEOUT);
  options = connecting(&there, "ipc:///nonexistent/nobody");
  options.capacity = 4;
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  int code;
  while ((code = ys_zmq_send(tx, "x", 1, 0)) == YS_OK) continue;
  CHECK_IS(code, YS_FULL);
  while ((code = ys_zmq_send(tx, "x", 1, MILLISECOND)) == YS_OK) continue;
  CHECK_IS(code, YS_TIMEOUT);
  ys_zmq_bridge_free(from), ys_zmq_tx_free(tx);
  ys_zmq_bridge_free(to), ys_zmq_rx_free(rx);
}

static void *sends_later(void *arg) {
  for (int number = 0; number < 100; number++) {
    usleep(100);
    sends((ys_zmq_tx *)arg, "later");
  }
  return NULL;
}

static void an_event_loop_sleeps_on_the_descriptor(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  const void *bytes;
  size_t length;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(to, 0));
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  struct pollfd event = {.fd = ys_zmq_rx_fd(rx), .events = POLLIN};
  CHECK(event.fd >= 0);
  CHECK_IS(ys_zmq_rx_fd(rx), event.fd);
  const pthread_t sending = started(sends_later, tx);
  int code, found = 0;
  while (found < 100) {
    while ((code = ys_zmq_recv(rx, &bytes, &length, 0)) == YS_OK) found++;
    CHECK_IS(code, YS_EMPTY);
    if (found < 100 && ys_zmq_rx_arm(rx) == 1) CHECK_IS(poll(&event, 1, 60000), 1);
  }
  joined(sending);
  /* A receive that waits is none the worse for it. */
  sends(tx, "and more"), receives(rx, "and more");
  /* The end is an event as well. */
  while (ys_zmq_rx_arm(rx) != 1) CHECK_IS(ys_zmq_recv(rx, &bytes, &length, 0), YS_EMPTY);
  CHECK_IS(poll(&event, 1, 0), 0);
  ends(to);
  CHECK_IS(poll(&event, 1, 60000), 1);
  CHECK_IS(ys_zmq_recv(rx, &bytes, &length, 0), YS_CLOSED);
  ys_zmq_rx_free(rx), ys_zmq_tx_free(tx), ys_zmq_bridge_free(from);
}

static void an_event_loop_sleeps_for_room(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  ys_zmq_options options = anywhere();
  options.capacity = 4;
  where there;
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  struct pollfd event = {.fd = ys_zmq_tx_fd(tx), .events = POLLIN};
  do {
    while (ys_zmq_send(tx, "x", 1, 0) == YS_OK) continue;
    /* The bridge takes some before it finds nobody. */
  } while (ys_zmq_tx_arm(tx) != 1 || poll(&event, 1, 100) != 0);
  options = connecting(&there, ys_zmq_bridge_address(from, 0));
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  CHECK_IS(poll(&event, 1, 60000), 1);
  CHECK_IS(ys_zmq_send(tx, "x", 1, LONG_TIME), YS_OK);
  ys_zmq_rx_free(rx), ys_zmq_tx_free(tx), ys_zmq_bridge_free(from), ys_zmq_bridge_free(to);
}

/* ---- libzmq itself is the peer ---- */

static void raw_sockets_are_peers(void) {
  void *context = zmq_ctx_new();
  ys_zmq_bridge *bridge;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_push_open(&options, &bridge, &tx), YS_OK);
  void *pull = raw_socket(context, ZMQ_PULL);
  CHECK_IS(zmq_connect(pull, ys_zmq_bridge_address(bridge, 0)), 0);
  sends(tx, "a job"), raw_receives(pull, "a job", 0);
  zmq_close(pull), ys_zmq_tx_free(tx), ys_zmq_bridge_free(bridge);

  CHECK_IS(ys_zmq_pull_open(&options, &bridge, &rx), YS_OK);
  void *push = raw_socket(context, ZMQ_PUSH);
  CHECK_IS(zmq_connect(push, ys_zmq_bridge_address(bridge, 0)), 0);
  /* One of several parts is dropped, and counted. */
  raw_sends(push, "one", ZMQ_SNDMORE), raw_sends(push, "two", 0), raw_sends(push, "another job", 0);
  receives(rx, "another job");
  COMES_TO(bridge, malformed, 1);
  CHECK(strcmp(until(bridge, YS_ZMQ_MALFORMED), "Parts") == 0);
  zmq_close(push), ys_zmq_rx_free(rx), ys_zmq_bridge_free(bridge);

  CHECK_IS(ys_zmq_publish_open(&options, &bridge, &tx), YS_OK);
  void *sub = raw_socket(context, ZMQ_SUB);
  CHECK_IS(zmq_setsockopt(sub, ZMQ_SUBSCRIBE, "weather", 7), 0);
  CHECK_IS(zmq_connect(sub, ys_zmq_bridge_address(bridge, 0)), 0);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(bridge, "weather", 7, 1, LONG_TIME), YS_OK);
  CHECK_IS(ys_zmq_publish(tx, "sports", 6, "1:0", 3, -1), YS_OK);
  CHECK_IS(ys_zmq_publish(tx, "weather", 7, "21", 2, -1), YS_OK);
  raw_receives(sub, "weather", 1), raw_receives(sub, "21", 0);
  zmq_close(sub), ys_zmq_tx_free(tx), ys_zmq_bridge_free(bridge);

  /* Topic and message in one part. */
  options.joined_by = " ";
  CHECK_IS(ys_zmq_publish_open(&options, &bridge, &tx), YS_OK);
  sub = raw_socket(context, ZMQ_SUB);
  CHECK_IS(zmq_setsockopt(sub, ZMQ_SUBSCRIBE, "", 0), 0);
  CHECK_IS(zmq_connect(sub, ys_zmq_bridge_address(bridge, 0)), 0);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(bridge, "weather", 7, 1, LONG_TIME), YS_OK);
  CHECK_IS(ys_zmq_publish(tx, "weather", 7, "21", 2, -1), YS_OK);
  raw_receives(sub, "weather 21", 0);
  zmq_close(sub), ys_zmq_tx_free(tx), ys_zmq_bridge_free(bridge);

  void *pub = raw_socket(context, ZMQ_XPUB);
  CHECK_IS(zmq_bind(pub, "tcp://127.0.0.1:*"), 0);
  char bound[128];
  size_t length = sizeof bound;
  CHECK_IS(zmq_getsockopt(pub, ZMQ_LAST_ENDPOINT, bound, &length), 0);
  where there;
  options = connecting(&there, bound);
  options.joined_by = " ";
  CHECK_IS(ys_zmq_subscribe_open(&options, &bridge, &rx), YS_OK);
  raw_receives(pub, "\1", 0);
  raw_sends(pub, "weather 22", 0);
  receives(rx, "22"), is_topic(rx, "weather");
  zmq_close(pub), ys_zmq_rx_free(rx), ys_zmq_bridge_free(bridge);
  zmq_ctx_term(context);
}

static void a_peer_goes_and_comes_back(void) {
  void *context = zmq_ctx_new();
  ys_zmq_bridge *bridge;
  ys_zmq_tx *tx;
  char bound[128];
  size_t length = sizeof bound;
  void *pull = raw_socket(context, ZMQ_PULL);
  CHECK_IS(zmq_bind(pull, "tcp://127.0.0.1:*"), 0);
  CHECK_IS(zmq_getsockopt(pull, ZMQ_LAST_ENDPOINT, bound, &length), 0);
  where there;
  ys_zmq_options options = connecting(&there, bound);
  options.reconnect_first = options.reconnect_longest = 10 * MILLISECOND;
  CHECK_IS(ys_zmq_push_open(&options, &bridge, &tx), YS_OK);
  (void)until(bridge, YS_ZMQ_CONNECTED);
  for (int time = 0; time < 3; time++) {
    sends(tx, "before"), raw_receives(pull, "before", 0);
    zmq_close(pull);
    CHECK(strcmp(until(bridge, YS_ZMQ_DISCONNECTED), bound) == 0);
    /* Waits in the channel, not in a connection that is gone. */
    sends(tx, "meanwhile");
    pull = raw_socket(context, ZMQ_PULL);
    while (zmq_bind(pull, bound) != 0) {
      CHECK_IS(zmq_errno(), EADDRINUSE);
      usleep(1000);
    }
    (void)until(bridge, YS_ZMQ_CONNECTED);
    raw_receives(pull, "meanwhile", 0);
  }
  ys_zmq_tx_free(tx), ys_zmq_bridge_free(bridge);
  zmq_close(pull), zmq_ctx_term(context);
}

/* ---- what is refused, and who ---- */

#define REFUSED(expected, why)                                                   \
  do {                                                                           \
    ys_zmq_bridge *none_ = (ys_zmq_bridge *)&options;                              \
    ys_zmq_rx *neither_ = (ys_zmq_rx *)&options;                                   \
    CHECK_IS(ys_zmq_pull_open(&options, &none_, &neither_), expected);             \
    CHECK(none_ == NULL && neither_ == NULL);                                     \
    if (strstr(ys_zmq_refusal(), why) == NULL) {                                  \
      fprintf(stderr, "%s:%d: said: %s\n", __FILE__, __LINE__, ys_zmq_refusal()); \
      abort();                                                                   \
    }                                                                            \
  } while (0)

static void what_cannot_be_is_refused_with_a_sentence(void) {
  ys_zmq_options options = YS_ZMQ_OPTIONS_INIT;
  REFUSED(YS_EINVAL, "a bridge needs an address");
  options.bind = (texts){NULL};
  REFUSED(YS_EINVAL, "a bridge needs an address");
  options.bind = (texts){"tcp:/127.0.0.1:5555", NULL};
  REFUSED(YS_REFUSED_NAME, "tcp:/127.0.0.1:5555 is no address that can be used here");
  options.bind = (texts){"tcp://127.0.0.1:99999", NULL};
  REFUSED(YS_REFUSED_NAME, "tcp://127.0.0.1:99999");
  options.bind = (texts){"\xff", NULL};
  REFUSED(YS_EINVAL, "UTF-8");
  ys_zmq_bridge *there;
  ys_zmq_rx *rx;
  options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &there, &rx), YS_OK);
  options.bind = (texts){ys_zmq_bridge_address(there, 0), NULL};
  REFUSED(YS_REFUSED_IN_USE, "is in use");
  ys_zmq_rx_free(rx), ys_zmq_bridge_free(there);
  options = anywhere();
  options.timeout = -1;
  REFUSED(YS_EINVAL, "negative");
  options = anywhere();
  options.send_buffer = 4096;
  REFUSED(YS_EINVAL, "both");
  options = anywhere();
  options.joined_by = ", ";
  REFUSED(YS_EINVAL, "one character");
  options = anywhere();
  options.when_full = 3;
  REFUSED(YS_EINVAL, "no room");
  options = anywhere();
  options.secret_key = "short";
  REFUSED(YS_EINVAL, "either the server's key");
  options.server_key = "short";
  REFUSED(YS_EINVAL, "40 characters");
  options = anywhere();
  options.struct_size = 0;
  REFUSED(YS_EINVAL, "no size");
  CHECK_IS(ys_zmq_pull_open(NULL, &there, &rx), YS_EINVAL);
  options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, NULL, &rx), YS_EINVAL);
  CHECK_IS(ys_zmq_pull_open(&options, &there, NULL), YS_EINVAL);
  ys_zmq_tx *tx;
  CHECK_IS(ys_zmq_duplex_open(&options, &there, &tx, NULL), YS_EINVAL);
  CHECK_IS(ys_zmq_duplex_open(&options, &there, NULL, &rx), YS_EINVAL);
  CHECK_IS(ys_zmq_duplex_open(&options, NULL, &tx, &rx), YS_EINVAL);
  CHECK(there == NULL && tx == NULL && rx == NULL);
  options.connect = options.bind;
  CHECK_IS(ys_zmq_duplex_open(&options, &there, &tx, &rx), YS_REFUSED_NAME);
  options.connect = (texts){"tcp://127.0.0.1:1", NULL};
  CHECK_IS(ys_zmq_duplex_open(&options, &there, &tx, &rx), YS_EINVAL);
  CHECK(strstr(ys_zmq_refusal(), "one other") != NULL);
}

static void null_pointers_are_refused(void) {
  const void *bytes;
  size_t length;
  CHECK_IS(ys_zmq_send(NULL, "x", 1, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_recv(NULL, &bytes, &length, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_bridge_close(NULL, 0, NULL), YS_EINVAL);
  CHECK_IS(ys_zmq_key_pair(NULL, NULL), YS_EINVAL);
  ys_zmq_bridge *bridge;
  ys_zmq_rx *rx;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &bridge, &rx), YS_OK);
  CHECK_IS(ys_zmq_recv(rx, NULL, &length, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_recv(rx, &bytes, NULL, 0), YS_EINVAL);
  CHECK(ys_zmq_rx_topic(rx, NULL) == NULL);
  CHECK_IS(ys_zmq_bridge_event(bridge, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_zmq_bridge_statistics(bridge, NULL, 8), YS_EINVAL);
  CHECK_IS(ys_zmq_bridge_subscribe(bridge, NULL, 1), YS_EINVAL);
  CHECK_IS(ys_zmq_bridge_admit(bridge, NULL), YS_EINVAL);
  ys_zmq_bridge_free(bridge), ys_zmq_rx_free(rx);
  ys_zmq_bridge_free(NULL), ys_zmq_tx_free(NULL), ys_zmq_rx_free(NULL);
}

static void keys_keep_strangers_out(void) {
  if (!zmq_has("curve")) return;
  char server[2][41], client[2][41], stranger[2][41];
  CHECK_IS(ys_zmq_key_pair(server[0], server[1]), YS_OK);
  CHECK_IS(ys_zmq_key_pair(client[0], client[1]), YS_OK);
  CHECK_IS(ys_zmq_key_pair(stranger[0], stranger[1]), YS_OK);
  CHECK_IS(strlen(server[0]), 40);
  ys_zmq_bridge *bridge, *ours, *theirs;
  ys_zmq_rx *rx;
  ys_zmq_tx *tx, *other;
  ys_zmq_options options = anywhere();
  options.secret_key = server[0];
  options.client_keys = (texts){client[1], NULL};
  CHECK_IS(ys_zmq_pull_open(&options, &bridge, &rx), YS_OK);
  where there;
  options = connecting(&there, ys_zmq_bridge_address(bridge, 0));
  options.server_key = server[1];
  options.secret_key = stranger[0];
  CHECK_IS(ys_zmq_push_open(&options, &theirs, &other), YS_OK);
  (void)until(theirs, YS_ZMQ_REFUSED);
  options.secret_key = client[0];
  CHECK_IS(ys_zmq_push_open(&options, &ours, &tx), YS_OK);
  sends(tx, "a secret"), receives(rx, "a secret");
  CHECK_IS(ys_zmq_bridge_admit(bridge, (texts){"none", NULL}), YS_EINVAL);
  CHECK_IS(ys_zmq_bridge_admit(ours, (texts){client[1], NULL}), YS_ENOTSUP);
  CHECK_IS(ys_zmq_bridge_admit(bridge, (texts){stranger[1], NULL}), YS_OK);
  sends(other, "me too"), receives(rx, "me too");
  ys_zmq_tx_free(tx), ys_zmq_tx_free(other), ys_zmq_rx_free(rx);
  ys_zmq_bridge_free(ours), ys_zmq_bridge_free(theirs), ys_zmq_bridge_free(bridge);
}

int main(void) {
  RUN(all_that_is_pushed_is_pulled);
  RUN(long_messages_are_lent);
  RUN(topics_reach_those_that_ask_for_them);
  RUN(the_newest_is_kept);
  RUN(each_side_of_a_duplex_knows_of_the_other);
  RUN(a_close_wakes_who_waits);
  RUN(times_end);
  RUN(an_event_loop_sleeps_on_the_descriptor);
  RUN(an_event_loop_sleeps_for_room);
  RUN(raw_sockets_are_peers);
  RUN(a_peer_goes_and_comes_back);
  RUN(what_cannot_be_is_refused_with_a_sentence);
  RUN(null_pointers_are_refused);
  RUN(keys_keep_strangers_out);
  return 0;
}
