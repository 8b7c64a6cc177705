/* Questions and answers over bridges: both sides in this program, and libzmq itself as the peer; answers that never come, a close while
 * another thread waits. */
#include "bridges.h"

#include <poll.h>

enum { QUESTIONS = 1000, AT_ONCE = 8 };

typedef struct {
  ys_zmq_bridge *asking, *answering;
  ys_zmq_asker *asker;
  ys_zmq_questions *questions;
} pair;

static pair paired(int64_t timeout) {
  pair made;
  where there;
  ys_zmq_options options = anywhere();
  CHECK_IS(ys_zmq_answer_open(&options, &made.answering, &made.questions), YS_OK);
  options = connecting(&there, ys_zmq_bridge_address(made.answering, 0));
  options.timeout = timeout;
  CHECK_IS(ys_zmq_ask_open(&options, &made.asking, &made.asker), YS_OK);
  return made;
}

static void over(pair *made) {
  ys_zmq_asker_free(made->asker), ys_zmq_questions_free(made->questions);
  ys_zmq_bridge_free(made->asking), ys_zmq_bridge_free(made->answering);
}

static void is_answer(const void *bytes, size_t length, const char *text) {
  CHECK_IS(length, strlen(text));
  CHECK(memcmp(bytes, text, length) == 0);
}

static ys_zmq_question *asked(ys_zmq_questions *questions, const char *text) {
  ys_zmq_question *question;
  size_t length;
  CHECK_IS(ys_zmq_questions_recv(questions, &question, LONG_TIME), YS_OK);
  const void *bytes = ys_zmq_question_bytes(question, &length);
  is_answer(bytes, length, text);
  return question;
}

/* Every question comes back with a mark behind it, those of a handful in the other order. */
static void *answers(void *arg) {
  ys_zmq_questions *questions = (ys_zmq_questions *)arg;
  ys_zmq_question *question;
  char answer[64];
  size_t length;
  int code;
  while ((code = ys_zmq_questions_recv(questions, &question, -1)) == YS_OK) {
    const void *bytes = ys_zmq_question_bytes(question, &length);
    CHECK(length < sizeof answer);
    memcpy(answer, bytes, length);
    answer[length] = '!';
    CHECK_IS(ys_zmq_question_answer(question, answer, length + 1), YS_OK);
    CHECK_IS(ys_zmq_question_answer(question, answer, length + 1), YS_CLOSED);
    CHECK(ys_zmq_question_bytes(question, &length) == NULL);
    CHECK_IS(length, 0);
    ys_zmq_question_free(question);
  }
  CHECK_IS(code, YS_CLOSED);
  return NULL;
}

static void asks_and_is_answered(ys_zmq_asker *asker, int first) {
  char question[16], answer[16];
  const void *bytes;
  size_t length;
  uint64_t calls[AT_ONCE];
  for (int number = first; number < first + QUESTIONS; number += AT_ONCE) {
    snprintf(question, sizeof question, "%d", number);
    snprintf(answer, sizeof answer, "%d!", number);
    CHECK_IS(ys_zmq_asker_call(asker, question, strlen(question), &bytes, &length, -1), YS_OK);
    is_answer(bytes, length, answer);
    for (int at = 0; at < AT_ONCE; at++) {
      snprintf(question, sizeof question, "%d", number + at);
      CHECK_IS(ys_zmq_asker_ask(asker, question, strlen(question), &calls[at], LONG_TIME), YS_OK);
    }
    for (int at = AT_ONCE; at-- > 0;) {
      snprintf(answer, sizeof answer, "%d!", number + at);
      CHECK_IS(ys_zmq_asker_recv(asker, calls[at], &bytes, &length, LONG_TIME), YS_OK);
      is_answer(bytes, length, answer);
      CHECK_IS(ys_zmq_asker_recv(asker, calls[at], &bytes, &length, 0), YS_ERANGE);
    }
  }
}

static void *asks_as_well(void *arg) {
  asks_and_is_answered((ys_zmq_asker *)arg, 100000);
  return NULL;
}

static void each_answer_reaches_who_has_asked(void) {
  pair made = paired(0);
  ys_zmq_asker *other;
  CHECK_IS(ys_zmq_asker_clone(made.asker, &other), YS_OK);
  const pthread_t answering = started(answers, made.questions), asking = started(asks_as_well, other);
  asks_and_is_answered(made.asker, 0);
  joined(asking);
  COMES_TO(made.asking, messages_in, 2 * (QUESTIONS + QUESTIONS / AT_ONCE));
  COMES_TO(made.answering, messages_out, 2 * (QUESTIONS + QUESTIONS / AT_ONCE));
  ends(made.asking);
  /* Of a connection that has ended it does not know whether all had left. */
  (void)until(made.answering, YS_ZMQ_DISCONNECTED);
  CHECK_IS(ys_zmq_bridge_close(made.answering, LONG_TIME, NULL), YS_UNSENT);
  ys_zmq_bridge_free(made.answering);
  joined(answering);
  ys_zmq_asker_free(made.asker), ys_zmq_asker_free(other), ys_zmq_questions_free(made.questions);
}

static void what_has_no_answer_ends(void) {
  pair made = paired(50 * MILLISECOND);
  const void *bytes;
  size_t length;
  uint64_t call;
  CHECK_IS(ys_zmq_asker_ask(made.asker, "why?", 4, &call, 0), YS_OK);
  CHECK_IS(ys_zmq_asker_recv(made.asker, call, &bytes, &length, 0), YS_EMPTY);
  CHECK_IS(ys_zmq_asker_recv(made.asker, call, &bytes, &length, 1), YS_TIMEOUT);
  ys_zmq_question_free(asked(made.questions, "why?"));
  CHECK_IS(ys_zmq_asker_recv(made.asker, call, &bytes, &length, LONG_TIME), YS_UNANSWERED);
  CHECK(bytes == NULL && length == 0);
  CHECK(strstr(ys_zmq_refusal(), "in time") != NULL);
  CHECK_IS(ys_zmq_asker_recv(made.asker, call, &bytes, &length, LONG_TIME), YS_ERANGE);
  CHECK_IS(ys_zmq_asker_call(made.asker, "why?", 4, &bytes, &length, -1), YS_UNANSWERED);
  CHECK_IS(ys_zmq_asker_call(made.asker, "why?", 4, &bytes, &length, 1), YS_TIMEOUT);
  CHECK_IS(ys_zmq_asker_call(made.asker, "why?", 4, &bytes, &length, 0), YS_EMPTY);
  /* One that is given up. */
  CHECK_IS(ys_zmq_asker_ask(made.asker, "why?", 4, &call, 0), YS_OK);
  CHECK_IS(ys_zmq_asker_give_up(made.asker, call), YS_OK);
  CHECK_IS(ys_zmq_asker_give_up(made.asker, call), YS_ERANGE);
  over(&made);
}

/* A question that is answered after its bridge has ended, and one after its receiver. */
static void questions_outlive_their_receiver(void) {
  pair made = paired(0);
  const void *bytes;
  size_t length;
  uint64_t call, late;
  CHECK_IS(ys_zmq_asker_ask(made.asker, "early?", 6, &call, -1), YS_OK);
  ys_zmq_question *early = asked(made.questions, "early?");
  CHECK_IS(ys_zmq_asker_ask(made.asker, "late?", 5, &late, -1), YS_OK);
  ys_zmq_question *later = asked(made.questions, "late?");
  ys_zmq_questions_free(made.questions);
  CHECK_IS(ys_zmq_question_answer(early, "yes", 3), YS_OK);
  ys_zmq_question_free(early);
  CHECK_IS(ys_zmq_asker_recv(made.asker, call, &bytes, &length, LONG_TIME), YS_OK);
  is_answer(bytes, length, "yes");
  CHECK_IS(ys_zmq_bridge_close(made.answering, 1, NULL), YS_UNSENT);
  CHECK_IS(ys_zmq_question_answer(later, "no", 2), YS_CLOSED);
  ys_zmq_question_free(later);
  /* The only connection has ended. */
  CHECK_IS(ys_zmq_asker_recv(made.asker, late, &bytes, &length, LONG_TIME), YS_DIED);
  CHECK(strstr(ys_zmq_refusal(), "connection") != NULL);
  made.questions = NULL;
  over(&made);
}

static void *waits_for_an_answer(void *arg) {
  const void *bytes;
  size_t length;
  CHECK_IS(ys_zmq_asker_call((ys_zmq_asker *)arg, "anybody?", 8, &bytes, &length, -1), YS_CLOSED);
  return NULL;
}

static void *waits_for_a_question(void *arg) {
  ys_zmq_question *question;
  CHECK_IS(ys_zmq_questions_recv((ys_zmq_questions *)arg, &question, -1), YS_CLOSED);
  CHECK(question == NULL);
  return NULL;
}

static void a_close_wakes_who_waits(void) {
  pair made = paired(0);
  const pthread_t asking = started(waits_for_an_answer, made.asker);
  ys_zmq_question *question = asked(made.questions, "anybody?");
  const pthread_t answering = started(waits_for_a_question, made.questions);
  CHECK_IS(ys_zmq_bridge_close(made.asking, 1, NULL), YS_UNSENT);
  joined(asking);
  ys_zmq_question_free(question);
  CHECK_IS(ys_zmq_bridge_close(made.answering, LONG_TIME, NULL), YS_OK);
  joined(answering);
  uint64_t call;
  CHECK_IS(ys_zmq_asker_ask(made.asker, "?", 1, &call, -1), YS_CLOSED);
  CHECK_IS(ys_zmq_asker_ask(made.asker, "?", 1, &call, 0), YS_CLOSED);
  CHECK_IS(ys_zmq_asker_ask(made.asker, "?", 1, &call, MILLISECOND), YS_CLOSED);
  CHECK_IS(call, 0);
  over(&made);
}

/* As many are without an answer as may be, and as many more wait as there is room for. */
static void there_is_a_bound(void) {
  ys_zmq_bridge *bridge;
  ys_zmq_asker *asker;
  uint64_t call;
  where there;
  int code;
  ys_zmq_options options = connecting(&there, "ipc:///nonexistent/nobody");
  options.unanswered = 1;
  CHECK_IS(ys_zmq_ask_open(&options, &bridge, &asker), YS_OK);
  while ((code = ys_zmq_asker_ask(asker, "?", 1, &call, 0)) == YS_OK) continue;
  CHECK_IS(code, YS_FULL);
  while ((code = ys_zmq_asker_ask(asker, "?", 1, &call, 20 * MILLISECOND)) == YS_OK) continue;
  CHECK_IS(code, YS_TIMEOUT);
  ys_zmq_bridge_free(bridge), ys_zmq_asker_free(asker);
}

static void an_event_loop_sleeps_on_the_descriptor(void) {
  pair made = paired(0);
  ys_zmq_question *question;
  uint64_t call;
  struct pollfd event = {.fd = ys_zmq_questions_fd(made.questions), .events = POLLIN};
  do CHECK_IS(ys_zmq_questions_recv(made.questions, &question, 0), YS_EMPTY);
  while (ys_zmq_questions_arm(made.questions) != 1);
  CHECK_IS(poll(&event, 1, 0), 0);
  CHECK_IS(ys_zmq_asker_ask(made.asker, "?", 1, &call, -1), YS_OK);
  CHECK_IS(poll(&event, 1, 60000), 1);
  CHECK_IS(ys_zmq_questions_arm(made.questions), 0);
  ys_zmq_question_free(asked(made.questions, "?"));
  over(&made);
}

static void raw_sockets_are_peers(void) {
  void *context = zmq_ctx_new();
  const void *bytes;
  size_t length;
  where there;
  ys_zmq_bridge *bridge;
  ys_zmq_asker *asker;
  ys_zmq_questions *questions;
  uint64_t call;
  char bound[128];
  length = sizeof bound;
  void *rep = raw_socket(context, ZMQ_REP);
  CHECK_IS(zmq_bind(rep, "tcp://127.0.0.1:*"), 0);
  CHECK_IS(zmq_getsockopt(rep, ZMQ_LAST_ENDPOINT, bound, &length), 0);
  ys_zmq_options options = connecting(&there, bound);
  CHECK_IS(ys_zmq_ask_open(&options, &bridge, &asker), YS_OK);
  CHECK_IS(ys_zmq_asker_ask(asker, "how many?", 9, &call, -1), YS_OK);
  raw_receives(rep, "how many?", 0), raw_sends(rep, "three", 0);
  CHECK_IS(ys_zmq_asker_recv(asker, call, &bytes, &length, LONG_TIME), YS_OK);
  is_answer(bytes, length, "three");
  CHECK_IS(ys_zmq_asker_ask(asker, "and?", 4, &call, -1), YS_OK);
  raw_receives(rep, "and?", 0), raw_sends(rep, "in", ZMQ_SNDMORE), raw_sends(rep, "parts", 0);
  CHECK_IS(ys_zmq_asker_recv(asker, call, &bytes, &length, LONG_TIME), YS_BROKEN);
  CHECK(strstr(ys_zmq_refusal(), "malformed") != NULL);
  /* It goes with a question, and comes back. */
  CHECK_IS(ys_zmq_asker_ask(asker, "still there?", 12, &call, -1), YS_OK);
  raw_receives(rep, "still there?", 0);
  zmq_close(rep);
  CHECK_IS(ys_zmq_asker_recv(asker, call, &bytes, &length, LONG_TIME), YS_DIED);
  rep = raw_socket(context, ZMQ_REP);
  while (zmq_bind(rep, bound) != 0) {
    CHECK_IS(zmq_errno(), EADDRINUSE);
    usleep(1000);
  }
  CHECK_IS(ys_zmq_asker_ask(asker, "again?", 6, &call, -1), YS_OK);
  raw_receives(rep, "again?", 0), raw_sends(rep, "yes", 0);
  CHECK_IS(ys_zmq_asker_recv(asker, call, &bytes, &length, LONG_TIME), YS_OK);
  is_answer(bytes, length, "yes");
  zmq_close(rep), ys_zmq_asker_free(asker), ys_zmq_bridge_free(bridge);

  options = anywhere();
  CHECK_IS(ys_zmq_answer_open(&options, &bridge, &questions), YS_OK);
  void *req = raw_socket(context, ZMQ_REQ);
  CHECK_IS(zmq_connect(req, ys_zmq_bridge_address(bridge, 0)), 0);
  raw_sends(req, "and you?", 0);
  ys_zmq_question *question = asked(questions, "and you?");
  CHECK_IS(ys_zmq_question_answer(question, NULL, 0), YS_OK);
  ys_zmq_question_free(question);
  raw_receives(req, "", 0);
  zmq_close(req), ys_zmq_questions_free(questions), ys_zmq_bridge_free(bridge);
  zmq_ctx_term(context);
}

static void null_pointers_are_refused(void) {
  pair made = paired(0);
  const void *bytes;
  size_t length;
  CHECK_IS(ys_zmq_asker_ask(made.asker, "?", 1, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_asker_ask(made.asker, NULL, 1, &(uint64_t){0}, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_asker_call(made.asker, "?", 1, NULL, &length, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_asker_call(made.asker, "?", 1, &bytes, NULL, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_asker_recv(made.asker, 1, NULL, &length, 0), YS_EINVAL);
  CHECK_IS(ys_zmq_asker_clone(made.asker, NULL), YS_EINVAL);
  CHECK_IS(ys_zmq_questions_recv(made.questions, NULL, 0), YS_EINVAL);
  CHECK(ys_zmq_question_bytes(NULL, &length) == NULL);
  CHECK_IS(ys_zmq_question_answer(NULL, "!", 1), YS_EINVAL);
  ys_zmq_asker_free(NULL), ys_zmq_questions_free(NULL), ys_zmq_question_free(NULL);
  over(&made);
}

int main(void) {
  RUN(each_answer_reaches_who_has_asked);
  RUN(what_has_no_answer_ends);
  RUN(questions_outlive_their_receiver);
  RUN(a_close_wakes_who_waits);
  RUN(there_is_a_bound);
  RUN(an_event_loop_sleeps_on_the_descriptor);
  RUN(raw_sockets_are_peers);
  RUN(null_pointers_are_refused);
  return 0;
}
