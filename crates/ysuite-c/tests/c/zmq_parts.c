/* Bridges whose messages are lists of parts: over each pattern, and with libzmq itself as the peer. */
#include "bridges.h"

typedef const void *lends(void *from, size_t at, size_t *length);

static const void *received_part(void *from, size_t at, size_t *length) { return ys_zmq_rx_part((ys_zmq_rx *)from, at, length); }
static const void *answer_part(void *from, size_t at, size_t *length) { return ys_zmq_asker_part((ys_zmq_asker *)from, at, length); }
static const void *question_part(void *from, size_t at, size_t *length) {
  return ys_zmq_question_part((ys_zmq_question *)from, at, length);
}

/* These parts, and none behind them. */
static void has_parts(lends *lend, void *from, texts parts) {
  size_t at, length = 7;
  for (at = 0; parts[at] != NULL; at++) {
    const void *bytes = lend(from, at, &length);
    CHECK(bytes != NULL && length == strlen(parts[at]) && memcmp(bytes, parts[at], length) == 0);
  }
  CHECK(lend(from, at, &length) == NULL && length == 0);
  CHECK(lend(from, SIZE_MAX, &length) == NULL && length == 0);
}

/* Receives a message of these parts, the first of which is lent with it. */
static void receives(ys_zmq_rx *rx, texts parts) {
  const void *bytes;
  size_t length;
  CHECK_IS(ys_zmq_recv(rx, &bytes, &length, LONG_TIME), YS_OK);
  CHECK(length == strlen(parts[0]) && memcmp(bytes, parts[0], length) == 0);
  has_parts(received_part, rx, parts);
}

/* Its thread has ended then: what it had is not taken for leaked. */
static void over(ys_zmq_bridge *bridge) {
  (void)ys_zmq_bridge_close(bridge, LONG_TIME, NULL);
  ys_zmq_bridge_free(bridge);
}

static ys_zmq_part part(const char *text) { return (ys_zmq_part){text, strlen(text)}; }

static ys_zmq_options with_parts(ys_zmq_options options) {
  options.parts = 1;
  return options;
}

static void they_are_pushed_and_published(void) {
  void *context = zmq_ctx_new();
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  const ys_zmq_part three[] = {part("one"), {NULL, 0}, part("three")};
  ys_zmq_options options = with_parts(anywhere());
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  options = with_parts(connecting(&there, ys_zmq_bridge_address(to, 0)));
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  CHECK_IS(ys_zmq_send_parts(tx, three, 3, -1), YS_OK);
  receives(rx, (texts){"one", "", "three", NULL});
  CHECK_IS(ys_zmq_send(tx, "alone", 5, -1), YS_OK);
  receives(rx, (texts){"alone", NULL});
  CHECK_IS(ys_zmq_publish_parts(tx, "topic", 5, three, 3, 0), YS_ENOTSUP);
  ys_zmq_tx_free(tx), over(from);
  void *push = raw_socket(context, ZMQ_PUSH);
  CHECK_IS(zmq_connect(push, there.text), 0);
  raw_sends(push, "raw", ZMQ_SNDMORE), raw_sends(push, "parts", 0);
  receives(rx, (texts){"raw", "parts", NULL});
  COMES_TO(to, messages_in, 3);
  CHECK_IS(counted(to).malformed, 0);
  zmq_close(push), ys_zmq_rx_free(rx), over(to);

  options = with_parts(anywhere());
  CHECK_IS(ys_zmq_publish_open(&options, &from, &tx), YS_OK);
  options = with_parts(connecting(&there, ys_zmq_bridge_address(from, 0)));
  options.conflate = 1;
  CHECK_IS(ys_zmq_subscribe_open(&options, &to, &rx), YS_OK);
  void *sub = raw_socket(context, ZMQ_SUB);
  CHECK_IS(zmq_setsockopt(sub, ZMQ_SUBSCRIBE, "weather", 7), 0);
  CHECK_IS(zmq_connect(sub, there.text), 0);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(from, "weather", 7, 2, LONG_TIME), YS_OK);
  CHECK_IS(ys_zmq_publish_parts(tx, "weather", 7, three, 3, -1), YS_OK);
  receives(rx, (texts){"one", "", "three", NULL});
  size_t length;
  CHECK(memcmp(ys_zmq_rx_topic(rx, &length), "weather", 7) == 0 && length == 7);
  raw_receives(sub, "weather", 1), raw_receives(sub, "one", 1), raw_receives(sub, "", 1), raw_receives(sub, "three", 0);
  zmq_close(sub), ys_zmq_rx_free(rx), ys_zmq_tx_free(tx), over(from), over(to);
  zmq_ctx_term(context);
}

/* A message alone, and how it begins. */
static void they_need_no_topic(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  where there;
  size_t length;
  ys_zmq_options options = anywhere();
  options.without_topic = 1;
  CHECK_IS(ys_zmq_publish_open(&options, &from, &tx), YS_OK);
  options = with_parts(connecting(&there, ys_zmq_bridge_address(from, 0)));
  options.without_topic = 1;
  options.topics = (texts){"b", NULL};
  CHECK_IS(ys_zmq_subscribe_open(&options, &to, &rx), YS_OK);
  CHECK_IS(ys_zmq_bridge_wait_subscribers(from, "bc", 2, 1, LONG_TIME), YS_OK);
  CHECK_IS(ys_zmq_send(tx, "ab", 2, -1), YS_OK);
  CHECK_IS(ys_zmq_publish(tx, "not sent", 8, "bc", 2, -1), YS_OK);
  receives(rx, (texts){"bc", NULL});
  (void)ys_zmq_rx_topic(rx, &length);
  CHECK_IS(length, 0);
  ys_zmq_rx_free(rx), ys_zmq_tx_free(tx), over(from), over(to);
}

static void they_go_both_ways(void) {
  ys_zmq_bridge *one, *other;
  ys_zmq_tx *tx, *back;
  ys_zmq_rx *rx, *heard;
  where there;
  const ys_zmq_part two[] = {part("a"), part("b")};
  ys_zmq_options options = with_parts(anywhere());
  CHECK_IS(ys_zmq_duplex_open(&options, &one, &tx, &rx), YS_OK);
  options = with_parts(connecting(&there, ys_zmq_bridge_address(one, 0)));
  CHECK_IS(ys_zmq_duplex_open(&options, &other, &back, &heard), YS_OK);
  CHECK_IS(ys_zmq_send_parts(tx, two, 2, -1), YS_OK);
  CHECK_IS(ys_zmq_send_parts(back, two, 1, -1), YS_OK);
  receives(heard, (texts){"a", "b", NULL});
  receives(rx, (texts){"a", NULL});
  ys_zmq_tx_free(tx), ys_zmq_tx_free(back), ys_zmq_rx_free(rx), ys_zmq_rx_free(heard);
  over(one), over(other);
}

static void they_are_asked_and_answered(void) {
  void *context = zmq_ctx_new();
  ys_zmq_bridge *to, *from;
  ys_zmq_asker *asker;
  ys_zmq_questions *questions;
  ys_zmq_question *question;
  where there;
  uint64_t call;
  const void *bytes;
  size_t length;
  const ys_zmq_part two[] = {part("how"), part("many?")}, three[] = {part("1"), part("2"), part("3")};
  ys_zmq_options options = with_parts(anywhere());
  CHECK_IS(ys_zmq_answer_open(&options, &to, &questions), YS_OK);
  options = with_parts(connecting(&there, ys_zmq_bridge_address(to, 0)));
  CHECK_IS(ys_zmq_ask_open(&options, &from, &asker), YS_OK);
  has_parts(answer_part, asker, (texts){"", NULL});
  CHECK_IS(ys_zmq_asker_ask_parts(asker, two, 2, &call, -1), YS_OK);
  CHECK_IS(ys_zmq_questions_recv(questions, &question, LONG_TIME), YS_OK);
  has_parts(question_part, question, (texts){"how", "many?", NULL});
  CHECK_IS(ys_zmq_question_answer_parts(question, three, 3), YS_OK);
  CHECK_IS(ys_zmq_question_answer_parts(question, three, 3), YS_CLOSED);
  CHECK(ys_zmq_question_part(question, 0, &length) == NULL && length == 0);
  ys_zmq_question_free(question);
  CHECK_IS(ys_zmq_asker_recv(asker, call, &bytes, &length, LONG_TIME), YS_OK);
  CHECK(length == 1 && memcmp(bytes, "1", 1) == 0);
  has_parts(answer_part, asker, (texts){"1", "2", "3", NULL});
  ys_zmq_asker_free(asker), over(from);
  void *req = raw_socket(context, ZMQ_REQ);
  CHECK_IS(zmq_connect(req, there.text), 0);
  raw_sends(req, "raw", ZMQ_SNDMORE), raw_sends(req, "question", 0);
  CHECK_IS(ys_zmq_questions_recv(questions, &question, LONG_TIME), YS_OK);
  has_parts(question_part, question, (texts){"raw", "question", NULL});
  CHECK_IS(ys_zmq_question_answer(question, "!", 1), YS_OK);
  ys_zmq_question_free(question);
  raw_receives(req, "!", 0);
  zmq_close(req), ys_zmq_questions_free(questions), over(to);
  zmq_ctx_term(context);
}

/* One part is what every bridge has; several are refused where they are not asked for, and nothing is lost by that. */
static void without_the_option_there_is_one(void) {
  ys_zmq_bridge *to, *from;
  ys_zmq_tx *tx;
  ys_zmq_rx *rx;
  ys_zmq_asker *asker;
  ys_zmq_questions *questions;
  ys_zmq_question *question;
  where there;
  uint64_t call;
  const void *bytes;
  size_t length;
  const ys_zmq_part two[] = {part("a"), part("b")}, none = {NULL, 1};
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_pull_open(&options, &to, &rx), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(to, 0));
  CHECK_IS(ys_zmq_push_open(&options, &from, &tx), YS_OK);
  CHECK_IS(ys_zmq_send_parts(tx, two, 2, -1), YS_ENOTSUP);
  CHECK_IS(ys_zmq_send_parts(tx, two, 0, -1), YS_EINVAL);
  CHECK_IS(ys_zmq_send_parts(tx, NULL, 1, -1), YS_EINVAL);
  CHECK_IS(ys_zmq_send_parts(tx, &none, 1, -1), YS_EINVAL);
  CHECK_IS(ys_zmq_send_parts(tx, two, 1, -1), YS_OK);
  receives(rx, (texts){"a", NULL});
  CHECK(ys_zmq_rx_part(rx, 0, NULL) == NULL && ys_zmq_rx_part(NULL, 0, &length) == NULL);
  ys_zmq_tx_free(tx), ys_zmq_rx_free(rx), over(from), over(to);

  options = anywhere();
  CHECK_IS(ys_zmq_answer_open(&options, &to, &questions), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(to, 0));
  CHECK_IS(ys_zmq_ask_open(&options, &from, &asker), YS_OK);
  CHECK_IS(ys_zmq_asker_ask_parts(asker, two, 2, &call, -1), YS_ENOTSUP);
  CHECK_IS(ys_zmq_asker_ask_parts(asker, two, 2, NULL, -1), YS_EINVAL);
  CHECK_IS(ys_zmq_asker_ask_parts(asker, two, 1, &call, -1), YS_OK);
  CHECK_IS(ys_zmq_questions_recv(questions, &question, LONG_TIME), YS_OK);
  CHECK_IS(ys_zmq_question_answer_parts(question, two, 2), YS_ENOTSUP);
  has_parts(question_part, question, (texts){"a", NULL});
  CHECK_IS(ys_zmq_question_answer_parts(question, two, 1), YS_OK);
  ys_zmq_question_free(question);
  CHECK_IS(ys_zmq_asker_recv(asker, call, &bytes, &length, LONG_TIME), YS_OK);
  has_parts(answer_part, asker, (texts){"a", NULL});
  ys_zmq_asker_free(asker), ys_zmq_questions_free(questions), over(from), over(to);
}

int main(void) {
  RUN(they_are_pushed_and_published);
  RUN(they_need_no_topic);
  RUN(they_go_both_ways);
  RUN(they_are_asked_and_answered);
  RUN(without_the_option_there_is_one);
  return 0;
}
