/* What the tests of bridges use: addresses, what happens to a bridge, and sockets of libzmq itself. */
#ifndef BRIDGES_H
#define BRIDGES_H

#include "check.h"

#include <errno.h>
#include <zmq.h>

#include <ysuite_zmq.h>

#define LONG_TIME (60000 * MILLISECOND)

typedef const char *const texts[];

static inline ys_zmq_options binding(const char *const *addresses) {
  ys_zmq_options options = YS_ZMQ_OPTIONS_INIT;
  options.bind = addresses;
  return options;
}

static inline ys_zmq_options anywhere(void) {
  static const char *const addresses[] = {"tcp://127.0.0.1:*", NULL};
  return binding(addresses);
}

/* A list with the address that a bridge has bound. */
typedef struct {
  char text[128];
  const char *list[2];
} where;

static inline ys_zmq_options connecting(where *to, const char *address) {
  ys_zmq_options options = YS_ZMQ_OPTIONS_INIT;
  CHECK(address != NULL);
  snprintf(to->text, sizeof to->text, "%s", address);
  to->list[0] = to->text;
  to->list[1] = NULL;
  options.connect = to->list;
  return options;
}

/* Waits until this has happened; returns what the bridge says of it. */
static inline const char *until(ys_zmq_bridge *bridge, ys_zmq_event wanted) {
  for (;;) {
    ys_zmq_event event;
    const char *text;
    const int code = ys_zmq_bridge_event(bridge, &event, &text);
    if (code == YS_OK && event == wanted) return text;
    CHECK(code == YS_OK || code == YS_EMPTY);
    if (code == YS_EMPTY) usleep(1000);
  }
}

static inline ys_zmq_statistics counted(ys_zmq_bridge *bridge) {
  ys_zmq_statistics counts;
  CHECK_IS(ys_zmq_bridge_statistics(bridge, &counts, sizeof counts), YS_OK);
  return counts;
}

/* Waits until the bridge has counted so many, and no more: it counts a message after it has handed it over. */
#define COMES_TO(bridge, field, number)                       \
  do {                                                        \
    while (counted(bridge).field < (number)) usleep(1000);    \
    CHECK_IS(counted(bridge).field, number);                  \
  } while (0)

static inline void ends(ys_zmq_bridge *bridge) {
  size_t unsent = 7;
  CHECK_IS(ys_zmq_bridge_close(bridge, LONG_TIME, &unsent), YS_OK);
  CHECK_IS(unsent, 0);
  CHECK_IS(ys_zmq_bridge_close(bridge, 0, &unsent), YS_CLOSED);
  CHECK(ys_zmq_bridge_address(bridge, 0) == NULL);
  ys_zmq_bridge_free(bridge);
}

static inline void *raw_socket(void *context, int kind) {
  void *socket = zmq_socket(context, kind);
  const int linger = 0, guard = 60000;
  CHECK(socket != NULL);
  CHECK_IS(zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger), 0);
  CHECK_IS(zmq_setsockopt(socket, ZMQ_RCVTIMEO, &guard, sizeof guard), 0);
  return socket;
}

static inline void raw_receives(void *socket, const char *text, int more) {
  char found[128];
  int is_more = 0;
  size_t length = sizeof is_more;
  CHECK_IS(zmq_recv(socket, found, sizeof found, 0), (int)strlen(text));
  CHECK(memcmp(found, text, strlen(text)) == 0);
  CHECK_IS(zmq_getsockopt(socket, ZMQ_RCVMORE, &is_more, &length), 0);
  CHECK_IS(is_more, more);
}

static inline void raw_sends(void *socket, const char *text, int flags) {
  CHECK_IS(zmq_send(socket, text, strlen(text), flags), (int)strlen(text));
}

#endif
