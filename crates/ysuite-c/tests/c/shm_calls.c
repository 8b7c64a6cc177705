/* Questions and answers between processes: every verb, every end, who dies, and nothing left over. */
#include "processes.h"

#include <sys/epoll.h>

enum { MESSAGES = 3000, LARGEST = 200 };

static ys_shm_questions *hearing(const char *name) {
  ys_shm_questions *rx;
  CHECK_IS(ys_shm_questions_open(name, LARGEST, NULL, &rx), YS_OK);
  return rx;
}

static ys_shm_caller *asking(int descriptor) {
  ys_shm_caller *caller;
  CHECK_IS(ys_shm_caller_open(descriptor, LARGEST, NULL, &caller), YS_OK);
  return caller;
}

/* A receiver of questions and a caller that it has accepted. */
static ys_shm_caller *pair(ys_shm_questions **rx) {
  uint64_t number, call;
  ys_shm_question *question;
  size_t length;
  *rx = hearing(NULL);
  ys_shm_caller *caller = asking(ys_shm_questions_seat(*rx, &number));
  CHECK_IS(ys_shm_questions_callers(*rx), 1);
  CHECK_IS(ys_shm_questions_try_recv(*rx, &question, NULL), YS_EMPTY);
  CHECK_IS(ys_shm_caller_ask(caller, NULL, 0, &call), YS_OK);
  CHECK_IS(ys_shm_questions_recv(*rx, &question, &number), YS_OK);
  ys_shm_question_free(question);
  CHECK_IS(ys_shm_caller_recv(caller, call, NULL, 0, &length), YS_UNANSWERED);
  return caller;
}

/* The answer to a question: its bytes the other way round. */
static void answers(ys_shm_question *question) {
  unsigned char answer[LARGEST];
  const size_t length = ys_shm_question_length(question);
  const unsigned char *bytes = ys_shm_question_bytes(question);
  for (size_t at = 0; at < length; at++) answer[at] = bytes[length - 1 - at];
  CHECK_IS(ys_shm_question_answer(question, answer, length), YS_OK);
  ys_shm_question_free(question);
}

static size_t made(unsigned number, unsigned char *to) {
  const size_t length = number % (LARGEST + 1);
  for (size_t at = 0; at < length; at++) to[at] = (unsigned char)(number + at * 7);
  return length;
}

static void is_answer(const unsigned char *answer, size_t length, unsigned number) {
  unsigned char question[LARGEST];
  CHECK_IS(length, made(number, question));
  for (size_t at = 0; at < length; at++) CHECK_IS(answer[at], question[length - 1 - at]);
}

/* ---- the parts of children ---- */

/* Calls, one after the other and several at once. */
static void child_asks(const char *name) {
  enum { AT_ONCE = 8 };
  ys_shm_caller *caller = asking(ys_shm_connect(name, NULL));
  unsigned char question[LARGEST], answer[LARGEST];
  uint64_t calls[AT_ONCE];
  size_t length;
  for (unsigned number = 0; number < MESSAGES; number += AT_ONCE) {
    /* The answer where the question was. */
    CHECK_IS(ys_shm_caller_call(caller, question, made(number, question), question, sizeof question, &length, -1), YS_OK);
    is_answer(question, length, number);
    for (unsigned at = 0; at < AT_ONCE; at++) CHECK_IS(ys_shm_caller_ask(caller, question, made(number + at, question), &calls[at]), YS_OK);
    for (unsigned at = AT_ONCE; at-- > 0;) {
      CHECK_IS(ys_shm_caller_recv(caller, calls[at], answer, sizeof answer, &length), YS_OK);
      is_answer(answer, length, number + at);
    }
  }
  ys_shm_caller_free(caller);
}

/* Dies with calls under way. */
static void child_asks_and_crashes(const char *argument) {
  ys_shm_caller *caller = asking(atoi(argument));
  uint64_t call;
  for (int number = 0; number < 3; number++) CHECK_IS(ys_shm_caller_ask(caller, "?", 1, &call), YS_OK);
  raise(SIGKILL);
}

/* Answers the first question, and dies with the next two. */
static void child_answers_and_crashes(const char *name) {
  ys_shm_questions *rx = hearing(name);
  ys_shm_question *questions[3];
  for (int number = 0; number < 3; number++) CHECK_IS(ys_shm_questions_recv(rx, &questions[number], NULL), YS_OK);
  answers(questions[0]);
  raise(SIGKILL);
}

static const struct {
  const char *name;
  void (*play)(const char *argument);
} parts[] = {{"asks", child_asks}, {"asks and crashes", child_asks_and_crashes}, {"answers and crashes", child_answers_and_crashes}};

/* ---- two processes ---- */

static void all_calls_are_answered(void) {
  const unique name = name_of("calls");
  ys_shm_questions *rx = hearing(name.name);
  ys_shm_question *question, *later = NULL;
  uint64_t caller;
  int why, over = 0;
  const pid_t children[] = {played("asks", name.name), played("asks", name.name)};
  while (over < 2) {
    const int code = ys_shm_questions_recv_for(rx, &question, &caller, MILLISECOND);
    /* Every second one behind its successor, if there is one. */
    if (later != NULL) answers(later), later = NULL;
    else if (code == YS_OK) later = question, question = NULL;
    if (code == YS_OK && question != NULL) answers(question);
    else CHECK(code == YS_OK || code == YS_TIMEOUT);
    while (ys_shm_questions_next_ended(rx, &caller, &why) == YS_OK) {
      CHECK_IS(why, YS_CLOSED);
      over++;
    }
  }
  CHECK(later == NULL);
  ys_shm_questions_free(rx);
  ended(children[0], 0);
  ended(children[1], 0);
}

/* What it had asked is received, and answered to nobody. */
static void a_caller_that_crashes_is_reported(void) {
  ys_shm_questions *rx = hearing(NULL);
  ys_shm_question *questions[3], *none;
  uint64_t seat, by;
  int why;
  const int descriptor = ys_shm_questions_seat(rx, &seat);
  const pid_t child = played_with("asks and crashes", descriptor);
  for (int number = 0; number < 3; number++) {
    CHECK_IS(ys_shm_questions_recv(rx, &questions[number], &by), YS_OK);
    CHECK(by == seat && ys_shm_question_length(questions[number]) == 1);
    CHECK(memcmp(ys_shm_question_bytes(questions[number]), "?", 1) == 0);
  }
  CHECK_IS(ys_shm_questions_recv(rx, &none, NULL), YS_CLOSED);
  CHECK(none == NULL);
  CHECK_IS(ys_shm_questions_next_ended(rx, &by, &why), YS_OK);
  CHECK(by == seat && why == YS_DIED);
  CHECK_IS(ys_shm_questions_next_ended(rx, &by, &why), YS_EMPTY);
  CHECK_IS(ys_shm_questions_callers(rx), 0);
  answers(questions[1]);
  ys_shm_questions_free(rx);
  answers(questions[0]);
  ys_shm_question_free(questions[2]);
  ended(child, SIGKILL);
}

/* The answer that it has given is received; the other calls end. */
static void pending_calls_end_with_who_answers(void) {
  const unique name = name_of("dies");
  const pid_t child = played("answers and crashes", name.name);
  uint64_t calls[4];
  char room[8];
  size_t length;
  int socket;
  while ((socket = ys_shm_connect(name.name, NULL)) == YS_ESYSTEM) usleep(1000);
  ys_shm_caller *caller = asking(socket);
  for (int number = 0; number < 3; number++) CHECK_IS(ys_shm_caller_ask(caller, "ab", 2, &calls[number]), YS_OK);
  CHECK_IS(ys_shm_caller_recv(caller, calls[1], room, sizeof room, &length), YS_DIED);
  CHECK_IS(length, 0);
  CHECK_IS(ys_shm_caller_recv(caller, calls[0], room, sizeof room, &length), YS_OK);
  CHECK(length == 2 && memcmp(room, "ba", 2) == 0);
  CHECK_IS(ys_shm_caller_arm(caller), 0);
  CHECK_IS(ys_shm_caller_try_recv(caller, calls[2], room, sizeof room, &length), YS_DIED);
  CHECK_IS(ys_shm_caller_recv_for(caller, calls[2], room, sizeof room, &length, LONG_TIME), YS_ERANGE);
  CHECK_IS(ys_shm_caller_ask(caller, "ab", 2, &calls[3]), YS_DIED);
  CHECK_IS(calls[3], 0);
  CHECK_IS(ys_shm_caller_try_ask(caller, "ab", 2, &calls[3]), YS_DIED);
  CHECK_IS(ys_shm_caller_ask_for(caller, "ab", 2, &calls[3], LONG_TIME), YS_DIED);
  CHECK_IS(ys_shm_caller_call(caller, "ab", 2, room, sizeof room, &length, -1), YS_DIED);
  CHECK_IS(ys_shm_caller_is_closed(caller), 1);
  ended(child, SIGKILL);
  ys_shm_caller_free(caller);
}

/* ---- one process ---- */

static void a_caller_says_why(void) {
  ys_shm_questions *rx;
  ys_shm_question *question;
  ys_shm_caller *caller = pair(&rx);
  char room[LARGEST + 1] = {0};
  uint64_t call, other;
  size_t length = 1;
  CHECK_IS(ys_shm_caller_is_closed(caller), 0);
  CHECK_IS(ys_shm_caller_ask(caller, room, LARGEST + 1, &call), YS_ETOOLONG);
  CHECK_IS(call, 0);
  CHECK_IS(ys_shm_caller_call(caller, room, LARGEST + 1, room, 1, &length, -1), YS_ETOOLONG);
  CHECK_IS(length, 0);
  CHECK_IS(ys_shm_caller_try_ask(caller, room, SIZE_MAX, &call), YS_ETOOLONG);
  CHECK_IS(ys_shm_caller_ask(caller, NULL, 1, &call), YS_EINVAL);
  CHECK_IS(ys_shm_caller_ask(caller, room, 1, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_caller_call(caller, NULL, 1, room, 1, &length, -1), YS_EINVAL);
  CHECK_IS(ys_shm_caller_call(caller, room, 1, NULL, 1, &length, -1), YS_EINVAL);
  CHECK_IS(ys_shm_caller_call(caller, room, 1, room, 1, NULL, -1), YS_EINVAL);
  CHECK_IS(ys_shm_caller_recv(caller, 0, room, 1, &length), YS_ERANGE);
  CHECK_IS(ys_shm_caller_recv(caller, 77, room, 1, &length), YS_ERANGE);
  CHECK_IS(ys_shm_caller_give_up(caller, 77), YS_ERANGE);
  CHECK_IS(ys_shm_caller_call(caller, "a", 1, room, 1, &length, 0), YS_EMPTY);
  CHECK_IS(ys_shm_caller_call(caller, "b", 1, room, 1, &length, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_caller_try_ask(caller, "called", 6, &call), YS_OK);
  CHECK_IS(ys_shm_caller_ask_for(caller, "given up", 8, &other, LONG_TIME), YS_OK);
  CHECK(call != 0 && other != 0 && call != other);
  CHECK_IS(ys_shm_caller_try_recv(caller, call, room, sizeof room, &length), YS_EMPTY);
  CHECK_IS(ys_shm_caller_recv_for(caller, call, room, sizeof room, &length, 0), YS_EMPTY);
  CHECK_IS(ys_shm_caller_recv_for(caller, call, room, sizeof room, &length, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_caller_recv(caller, call, NULL, 1, &length), YS_EINVAL);
  CHECK_IS(ys_shm_caller_recv(caller, call, room, 1, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_caller_arm(caller), 1);
  CHECK_IS(ys_shm_caller_give_up(caller, other), YS_OK);
  CHECK_IS(ys_shm_caller_give_up(caller, other), YS_ERANGE);
  CHECK_IS(ys_shm_caller_recv(caller, other, room, 1, &length), YS_ERANGE);
  static const char *const asked[] = {"a", "b", "called", "given up"};
  for (int number = 0; number < 4; number++) {
    CHECK_IS(ys_shm_questions_try_recv(rx, &question, NULL), YS_OK);
    CHECK(ys_shm_question_length(question) == strlen(asked[number]));
    CHECK(memcmp(ys_shm_question_bytes(question), asked[number], strlen(asked[number])) == 0);
    answers(question);
  }
  CHECK_IS(ys_shm_caller_arm(caller), 0);
  /* An answer that does not fit stays. */
  CHECK_IS(ys_shm_caller_recv(caller, call, room, 5, &length), YS_ETOOLONG);
  CHECK_IS(length, 6);
  CHECK_IS(ys_shm_caller_arm(caller), 0);
  CHECK_IS(ys_shm_caller_try_recv(caller, call, NULL, 0, &length), YS_ETOOLONG);
  CHECK_IS(ys_shm_caller_recv_for(caller, call, room, 6, &length, MILLISECOND), YS_OK);
  CHECK(length == 6 && memcmp(room, "dellac", 6) == 0);
  CHECK_IS(ys_shm_caller_recv(caller, call, room, 6, &length), YS_ERANGE);
  CHECK_IS(ys_shm_caller_arm(caller), 1);
  CHECK(ys_shm_caller_fd(caller) >= 0 && ys_shm_questions_fd(rx) >= 0 && ys_shm_caller_fd(caller) != ys_shm_questions_fd(rx));
  ys_shm_questions_free(rx);
  CHECK_IS(ys_shm_caller_call(caller, NULL, 0, room, 1, &length, -1), YS_CLOSED);
  ys_shm_caller_free(caller), ys_shm_caller_free(NULL), ys_shm_questions_free(NULL);
  CHECK_IS(ys_shm_caller_is_closed(NULL), YS_EINVAL);
}

static void as_many_calls_as_may_be(void) {
  ys_shm_options few = YS_SHM_OPTIONS_INIT;
  ys_shm_questions *rx;
  ys_shm_caller *caller;
  ys_shm_question *question;
  const unique name = name_of("few");
  uint64_t calls[3];
  size_t length;
  few.calls = 2;
  CHECK_IS(ys_shm_questions_open(name.name, 8, &few, &rx), YS_OK);
  CHECK_IS(ys_shm_caller_open(ys_shm_connect(name.name, NULL), 8, NULL, &caller), YS_OK);
  CHECK_IS(ys_shm_caller_try_ask(caller, NULL, 0, &calls[0]), YS_FULL);
  CHECK_IS(ys_shm_caller_ask_for(caller, NULL, 0, &calls[0], MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_caller_arm_to_ask(caller), 1);
  CHECK_IS(ys_shm_questions_try_recv(rx, &question, NULL), YS_EMPTY);
  CHECK_IS(ys_shm_caller_ask(caller, NULL, 0, &calls[0]), YS_OK);
  CHECK_IS(ys_shm_caller_arm_to_ask(caller), 0);
  CHECK_IS(ys_shm_caller_ask(caller, NULL, 0, &calls[1]), YS_OK);
  CHECK_IS(ys_shm_caller_try_ask(caller, NULL, 0, &calls[2]), YS_FULL);
  CHECK_IS(ys_shm_caller_ask_for(caller, NULL, 0, &calls[2], MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_caller_arm_to_ask(caller), 1);
  CHECK_IS(ys_shm_questions_recv(rx, &question, NULL), YS_OK);
  CHECK_IS(ys_shm_question_answer(question, NULL, 0), YS_OK);
  ys_shm_question_free(question);
  /* It is under way until it was received. */
  CHECK_IS(ys_shm_caller_try_ask(caller, NULL, 0, &calls[2]), YS_FULL);
  CHECK_IS(ys_shm_caller_recv(caller, calls[0], NULL, 0, &length), YS_OK);
  CHECK_IS(ys_shm_caller_try_ask(caller, NULL, 0, &calls[2]), YS_OK);
  ys_shm_caller_free(caller), ys_shm_questions_free(rx);
}

static void a_question_is_answered_once(void) {
  ys_shm_questions *rx;
  ys_shm_question *question, *dropped;
  ys_shm_caller *caller = pair(&rx);
  uint64_t first, second;
  char room[LARGEST + 1] = {0};
  size_t length;
  int why;
  question = (ys_shm_question *)(uintptr_t)16, first = 16;
  CHECK_IS(ys_shm_questions_recv(NULL, &question, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_caller_ask(NULL, NULL, 0, &first), YS_EINVAL);
  CHECK(question == NULL && first == 0);
  CHECK_IS(ys_shm_questions_recv(rx, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_questions_seat(rx, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_questions_next_ended(rx, NULL, &why), YS_EINVAL);
  CHECK_IS(ys_shm_questions_next_ended(rx, &first, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_questions_recv_for(rx, &question, NULL, 0), YS_EMPTY);
  CHECK_IS(ys_shm_questions_recv_for(rx, &question, NULL, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_caller_ask(caller, "one", 3, &first), YS_OK);
  CHECK_IS(ys_shm_caller_ask(caller, "two", 3, &second), YS_OK);
  CHECK_IS(ys_shm_questions_arm(rx), 0);
  CHECK_IS(ys_shm_questions_recv(rx, &question, NULL), YS_OK);
  CHECK_IS(ys_shm_questions_recv_for(rx, &dropped, NULL, LONG_TIME), YS_OK);
  CHECK_IS(ys_shm_questions_arm(rx), 1);
  ys_shm_question_free(dropped);
  CHECK_IS(ys_shm_caller_recv(caller, second, room, sizeof room, &length), YS_UNANSWERED);
  CHECK(length == 0 && strlen(ys_error_text(YS_UNANSWERED)) > 0);
  CHECK_IS(ys_shm_question_answer(question, room, LARGEST + 1), YS_ETOOLONG);
  CHECK_IS(ys_shm_question_answer(question, NULL, 1), YS_EINVAL);
  CHECK(memcmp(ys_shm_question_bytes(question), "one", 3) == 0);
  CHECK_IS(ys_shm_question_answer(question, room, LARGEST), YS_OK);
  CHECK_IS(ys_shm_question_answer(question, "b", 1), YS_CLOSED);
  errno = 0;
  CHECK(ys_shm_question_bytes(question) == NULL && errno == EINVAL && ys_shm_question_length(question) == 0);
  ys_shm_question_free(question), ys_shm_question_free(NULL);
  CHECK_IS(ys_shm_caller_recv(caller, first, room, sizeof room, &length), YS_OK);
  CHECK_IS(length, LARGEST);
  CHECK_IS(ys_shm_question_answer(NULL, NULL, 0), YS_EINVAL);
  ys_shm_caller_free(caller), ys_shm_questions_free(rx);
}

static void what_cannot_be_opened_is_said(void) {
  const unique name = name_of("refused");
  ys_shm_options none = YS_SHM_OPTIONS_INIT;
  ys_shm_questions *rx, *second;
  ys_shm_question *question;
  ys_shm_caller *caller;
  uint64_t by, call;
  int why;
  CHECK_IS(ys_shm_questions_open(name.name, 0, NULL, &rx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_questions_open(NULL, SIZE_MAX, NULL, &rx), YS_REFUSED_CAPACITY);
  CHECK(rx == NULL && strlen(ys_shm_refusal()) > 0);
  CHECK_IS(ys_shm_questions_open(name.name, 8, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_questions_open(name.name, 8, NULL, &rx), YS_OK);
  CHECK_IS(ys_shm_questions_open(name.name, 8, NULL, &second), YS_REFUSED_IN_USE);
  CHECK_IS(ys_shm_caller_open(-1, 8, NULL, &caller), -1);
  CHECK_IS(ys_shm_caller_open(ys_shm_connect(name.name, NULL), SIZE_MAX, NULL, &caller), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_caller_open(ys_shm_connect(name.name, NULL), 0, NULL, &caller), YS_REFUSED_CAPACITY);
  none.calls = SIZE_MAX;
  CHECK_IS(ys_shm_caller_open(ys_shm_connect(name.name, NULL), 8, &none, &caller), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_questions_open(NULL, 8, &none, &second), YS_REFUSED_CAPACITY);
  /* Of other messages. */
  none.calls = 0, none.messages = "others";
  CHECK_IS(ys_shm_caller_open(ys_shm_connect(name.name, NULL), 8, &none, &caller), YS_OK);
  CHECK_IS(ys_shm_questions_try_recv(rx, &question, NULL), YS_EMPTY);
  CHECK_IS(ys_shm_caller_ask(caller, NULL, 0, &call), YS_REFUSED_TYPE);
  ys_shm_caller_free(caller);
  CHECK_IS(ys_shm_questions_try_recv(rx, &question, NULL), YS_EMPTY);
  int refused = 0;
  while (ys_shm_questions_next_ended(rx, &by, &why) == YS_OK) refused += why == YS_REFUSED_TYPE || why == YS_REFUSED_BY_PEER;
  CHECK(refused > 0);
  ys_shm_questions_free(rx);
}

typedef struct {
  ys_shm_questions *rx;
  size_t length;
  uint64_t seat;
} longing;

/* Answers a question by so many bytes. */
static void *answering_at_length(void *argument) {
  const longing *it = argument;
  ys_shm_question *question;
  uint64_t by = UINT64_MAX;
  CHECK_IS(ys_shm_questions_recv(it->rx, &question, &by), YS_OK);
  CHECK(by == it->seat);
  const unsigned char *bytes = ys_shm_question_bytes(question);
  const size_t asked = ys_shm_question_length(question);
  unsigned char *answer = malloc(it->length);
  for (size_t at = 0; at < it->length; at++) answer[at] = (unsigned char)(bytes[at % asked] + 1);
  CHECK_IS(ys_shm_question_answer(question, answer, it->length), YS_OK);
  free(answer);
  ys_shm_question_free(question);
  return NULL;
}

/* Each end says how long what it writes may be. An answer that a call has no room for is received by the number 0. */
static void what_is_longer_than_its_room_stays(void) {
  enum { QUESTION = 100000, ANSWER = 300000 };
  static unsigned char question[QUESTION], room[ANSWER];
  ys_shm_options few = YS_SHM_OPTIONS_INIT;
  longing it = {NULL, ANSWER, 0};
  ys_shm_caller *caller;
  size_t length;
  few.calls = 2;
  for (size_t at = 0; at < QUESTION; at++) question[at] = (unsigned char)(at * 31 >> 3);
  CHECK_IS(ys_shm_questions_open(NULL, ANSWER, &few, &it.rx), YS_OK);
  CHECK_IS(ys_shm_caller_open(ys_shm_questions_seat(it.rx, &it.seat), QUESTION, &few, &caller), YS_OK);
  for (int times = 0; times < 3; times++, it.length /= 3) {
    const pthread_t thread = started(answering_at_length, &it);
    CHECK_IS(ys_shm_caller_call(caller, question, QUESTION, room, times == 0 ? 0 : it.length - 1, &length, -1), YS_ETOOLONG);
    joined(thread);
    CHECK_IS(length, it.length);
    CHECK_IS(ys_shm_caller_arm(caller), 0);
    CHECK_IS(ys_shm_caller_recv(caller, 0, NULL, 0, &length), YS_ETOOLONG);
    if (times == 1) continue; /* The next call lets go of it. */
    CHECK_IS(ys_shm_caller_try_recv(caller, 0, room, sizeof room, &length), YS_OK);
    CHECK_IS(length, it.length);
    for (size_t at = 0; at < length; at++) CHECK_IS(room[at], (unsigned char)(question[at % QUESTION] + 1));
    CHECK_IS(ys_shm_caller_recv(caller, 0, room, sizeof room, &length), YS_ERANGE);
  }
  const pthread_t thread = started(answering_at_length, &it);
  CHECK_IS(ys_shm_caller_call(caller, question, QUESTION, NULL, 0, &length, -1), YS_ETOOLONG);
  joined(thread);
  /* Whatever becomes of it. */
  CHECK_IS(ys_shm_caller_call(caller, question, QUESTION + 1, NULL, 0, &length, -1), YS_ETOOLONG);
  CHECK_IS(length, 0);
  CHECK_IS(ys_shm_caller_give_up(caller, 0), YS_ERANGE);
  ys_shm_caller_free(caller), ys_shm_questions_free(it.rx);
}

/* Both ends in an event loop, of which none is looked at twice for nothing. */
static void an_event_loop_asks_and_answers(void) {
  struct epoll_event event = {.events = EPOLLIN}, found;
  ys_shm_questions *rx;
  ys_shm_question *question;
  ys_shm_caller *caller = pair(&rx);
  unsigned char room[LARGEST];
  uint64_t call, by;
  size_t length;
  int why;
  const int callers = epoll_create1(EPOLL_CLOEXEC), hearers = epoll_create1(EPOLL_CLOEXEC);
  CHECK_IS(epoll_ctl(callers, EPOLL_CTL_ADD, ys_shm_caller_fd(caller), &event), 0);
  CHECK_IS(epoll_ctl(hearers, EPOLL_CTL_ADD, ys_shm_questions_fd(rx), &event), 0);
  for (unsigned number = 0; number < 100; number++) {
    CHECK_IS(ys_shm_questions_try_recv(rx, &question, NULL), YS_EMPTY);
    CHECK_IS(ys_shm_questions_next_ended(rx, &by, &why), YS_EMPTY);
    CHECK_IS(ys_shm_questions_arm(rx), 1);
    CHECK_IS(ys_shm_caller_ask(caller, room, made(number, room), &call), YS_OK);
    CHECK_IS(epoll_wait(hearers, &found, 1, 60000), 1);
    CHECK_IS(ys_shm_questions_try_recv(rx, &question, NULL), YS_OK);
    CHECK_IS(ys_shm_caller_try_recv(caller, call, room, sizeof room, &length), YS_EMPTY);
    CHECK_IS(ys_shm_caller_arm(caller), 1);
    CHECK_IS(epoll_wait(callers, &found, 1, 0), 0);
    answers(question);
    CHECK_IS(epoll_wait(callers, &found, 1, 60000), 1);
    CHECK_IS(ys_shm_caller_try_recv(caller, call, room, sizeof room, &length), YS_OK);
    is_answer(room, length, number);
  }
  ys_shm_caller_free(caller), ys_shm_questions_free(rx);
  close(callers), close(hearers);
}

static void *answering(void *question) {
  answers(question);
  return NULL;
}

/* Threads that answer the questions that one has received. */
static void other_threads_answer(void) {
  enum { THREADS = 4, TIMES = 50 };
  ys_shm_questions *rx;
  ys_shm_caller *caller = pair(&rx);
  for (unsigned times = 0; times < TIMES; times++) {
    uint64_t calls[THREADS];
    pthread_t threads[THREADS];
    ys_shm_question *question;
    unsigned char room[LARGEST];
    size_t length;
    for (unsigned at = 0; at < THREADS; at++) CHECK_IS(ys_shm_caller_ask(caller, room, made(times + at, room), &calls[at]), YS_OK);
    for (unsigned at = 0; at < THREADS; at++) {
      CHECK_IS(ys_shm_questions_recv(rx, &question, NULL), YS_OK);
      threads[at] = started(answering, question);
    }
    for (unsigned at = 0; at < THREADS; at++) {
      CHECK_IS(ys_shm_caller_recv(caller, calls[at], room, sizeof room, &length), YS_OK);
      is_answer(room, length, times + at);
      joined(threads[at]);
    }
  }
  ys_shm_caller_free(caller), ys_shm_questions_free(rx);
}

int main(int count, char **arguments) {
  alarm(600);
  for (size_t part = 0; count == 3 && part < sizeof parts / sizeof *parts; part++) {
    if (strcmp(arguments[1], parts[part].name) == 0) return parts[part].play(arguments[2]), 0;
  }
  CHECK_IS(count, 1);
  RUN_CLEAN(all_calls_are_answered);
  RUN_CLEAN(a_caller_that_crashes_is_reported);
  RUN_CLEAN(pending_calls_end_with_who_answers);
  RUN_CLEAN(a_caller_says_why);
  RUN_CLEAN(as_many_calls_as_may_be);
  RUN_CLEAN(a_question_is_answered_once);
  RUN_CLEAN(what_cannot_be_opened_is_said);
  RUN_CLEAN(what_is_longer_than_its_room_stays);
  RUN_CLEAN(an_event_loop_asks_and_answers);
  RUN_CLEAN(other_threads_answer);
  return 0;
}
