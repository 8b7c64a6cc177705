/* A work queue between processes: every verb, every end, what becomes of the jobs of the dead, and nothing left over. */
#include "processes.h"

#include <sys/epoll.h>

enum { JOBS = 3000, LARGEST = 100 };

static ys_shm_work *giving(const char *name, size_t credit) {
  ys_shm_work *tx;
  CHECK_IS(ys_shm_work_open(name, LARGEST, credit, NULL, &tx), YS_OK);
  return tx;
}

static ys_shm_work_rx *working(int descriptor) {
  ys_shm_work_rx *rx;
  CHECK_IS(ys_shm_work_rx_open(descriptor, NULL, &rx), YS_OK);
  return rx;
}

/* Where workers say what they have done. */
static unique done_of(const char *name) {
  unique made;
  snprintf(made.name, sizeof made.name, "%.100s-done", name);
  return made;
}

static unsigned received(ys_shm_work_rx *rx) {
  unsigned job = JOBS;
  size_t length;
  CHECK_IS(ys_shm_work_recv(rx, &job, sizeof job, &length), YS_OK);
  CHECK(length == sizeof job && job < JOBS);
  return job;
}

/* ---- the parts of children ---- */

static void child_works(const char *name) {
  const unique done = done_of(name);
  ys_shm_work_rx *rx = working(ys_shm_connect(name, NULL));
  ys_shm_tx *said;
  unsigned job;
  size_t length;
  int code;
  CHECK_IS(ys_shm_tx_open(ys_shm_connect(done.name, NULL), 1024, NULL, &said), YS_OK);
  while ((code = ys_shm_work_recv(rx, &job, sizeof job, &length)) == YS_OK) {
    CHECK_IS(length, sizeof job);
    CHECK_IS(ys_shm_send(said, &job, sizeof job), YS_OK);
    CHECK_IS(ys_shm_work_finish(rx), YS_OK);
  }
  CHECK_IS(code, YS_CLOSED);
  ys_shm_tx_free(said), ys_shm_work_rx_free(rx);
}

static void child_crashes(const char *name) {
  received(working(ys_shm_connect(name, NULL)));
  raise(SIGKILL);
}

static void child_gives_back(const char *name) {
  ys_shm_work_rx *rx = working(ys_shm_connect(name, NULL));
  received(rx);
  CHECK_IS(ys_shm_work_give_back(rx), YS_OK);
  ys_shm_work_rx_free(rx);
}

/* Dies with the jobs that it has given out. */
static void child_gives(const char *name) {
  ys_shm_work *tx = giving(name, 2);
  for (unsigned job = 0; job < 2; job++) CHECK_IS(ys_shm_work_send(tx, &job, sizeof job), YS_OK);
  raise(SIGKILL);
}

static const struct {
  const char *name;
  void (*play)(const char *argument);
} parts[] = {{"works", child_works}, {"crashes", child_crashes}, {"gives back", child_gives_back}, {"gives", child_gives}};

/* ---- two processes ---- */

/* Each job is finished once, and done at least once, whoever dies. */
static void no_job_is_lost_with_its_worker(void) {
  const unique name = name_of("work"), done = done_of(name.name);
  static unsigned times[JOBS];
  ys_shm_work *tx = giving(name.name, 4);
  ys_shm_funnel *said;
  unsigned job;
  size_t length;
  int code, begun = 0;
  pid_t leaving[4];
  CHECK_IS(ys_shm_funnel_open(done.name, NULL, &said), YS_OK);
  const pid_t children[] = {played("works", name.name), played("works", name.name)};
  for (unsigned next = 0; next < JOBS; next++) {
    if (next % (JOBS / 4) == 0) leaving[begun] = played(begun % 2 ? "gives back" : "crashes", name.name), begun++;
    while ((code = ys_shm_work_send_for(tx, &next, sizeof next, MILLISECOND)) == YS_TIMEOUT || code == YS_OK) {
      while (ys_shm_funnel_try_recv(said, &job, sizeof job, &length, NULL) == YS_OK) times[job]++;
      if (code == YS_OK) break;
    }
    CHECK_IS(code, YS_OK);
  }
  /* Jobs for those that are to leave, also if the others were faster. */
  for (int left = 0; left < begun || code == YS_TIMEOUT;) {
    code = ys_shm_work_settle(tx, MILLISECOND);
    CHECK(code == YS_OK || code == YS_TIMEOUT);
    while (ys_shm_funnel_try_recv(said, &job, sizeof job, &length, NULL) == YS_OK) times[job]++;
    siginfo_t found = {0};
    if (left < begun) CHECK_IS(waitid(P_PID, (id_t)leaving[left], &found, WEXITED | WNOHANG | WNOWAIT), 0);
    if (found.si_pid != 0) ended(leaving[left], left % 2 ? 0 : SIGKILL), left++;
    job = JOBS - 1;
    if (code == YS_OK && left < begun) CHECK_IS(ys_shm_work_send(tx, &job, sizeof job), YS_OK);
  }
  CHECK_IS(ys_shm_work_settle(tx, -1), YS_OK);
  CHECK(ys_shm_work_unfinished(tx) == 0 && ys_shm_work_finished(tx) >= JOBS);
  const long finished = ys_shm_work_finished(tx);
  ys_shm_work_free(tx);
  ended(children[0], 0);
  ended(children[1], 0);
  /* A funnel with a name has no end. */
  while ((code = ys_shm_funnel_try_recv(said, &job, sizeof job, &length, NULL)) == YS_OK) times[job]++;
  CHECK_IS(code, YS_EMPTY);
  long all = 0;
  for (unsigned at = 0; at < JOBS - 1; at++) {
    CHECK_IS(times[at], 1);
    all++;
  }
  CHECK(finished >= all && times[JOBS - 1] >= 1);
  ys_shm_funnel_free(said);
}

static void a_sender_that_crashes_is_reported(void) {
  const unique name = name_of("gives");
  const pid_t child = played("gives", name.name);
  unsigned job;
  size_t length;
  int socket;
  while ((socket = ys_shm_connect(name.name, NULL)) == YS_ESYSTEM) usleep(1000);
  ys_shm_work_rx *rx = working(socket);
  for (unsigned number = 0; number < 2; number++) {
    CHECK_IS(received(rx), number);
    if (number == 0) ended(child, SIGKILL);
    CHECK_IS(ys_shm_work_finish(rx), YS_OK);
  }
  for (int times = 0; times < 2; times++) {
    CHECK_IS(ys_shm_work_recv(rx, &job, sizeof job, &length), YS_DIED);
    CHECK_IS(ys_shm_work_try_recv(rx, &job, sizeof job, &length), YS_DIED);
    CHECK_IS(ys_shm_work_recv_for(rx, &job, sizeof job, &length, LONG_TIME), YS_DIED);
    CHECK(length == 0 && ys_shm_work_rx_arm(rx) == 0);
  }
  CHECK_IS(ys_shm_work_finish(rx), YS_EINVAL);
  ys_shm_work_rx_free(rx);
}

/* It has the worker's handle and the job in it, and frees its copies: the job stays with the parent. */
static void a_forked_child_gives_nothing_back(void) {
  ys_shm_work *tx = giving(NULL, 1);
  ys_shm_work_rx *rx = working(ys_shm_work_seat(tx));
  const unsigned job = 7;
  CHECK_IS(ys_shm_work_send(tx, &job, sizeof job), YS_OK);
  CHECK_IS(received(rx), job);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    ys_shm_work_rx_free(rx), ys_shm_work_free(tx);
    _exit(0);
  }
  ended(child, 0);
  CHECK_IS(ys_shm_work_serve(tx, 0), YS_OK);
  CHECK(ys_shm_work_workers(tx) == 1 && ys_shm_work_unfinished(tx) == 1);
  CHECK_IS(received(rx), job);
  CHECK_IS(ys_shm_work_finish(rx), YS_OK);
  CHECK_IS(ys_shm_work_settle(tx, 0), YS_OK);
  ys_shm_work_rx_free(rx), ys_shm_work_free(tx);
}

/* ---- one process ---- */

static void both_ends_say_why(void) {
  ys_shm_work *tx = giving(NULL, 1);
  char room[LARGEST + 8] = {0};
  size_t length;
  ys_shm_work_rx *rx = working(ys_shm_work_seat(tx));
  CHECK_IS(ys_shm_work_workers(tx), 1);
  CHECK_IS(ys_shm_work_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_work_settle(tx, 0), YS_OK);
  CHECK_IS(ys_shm_work_send(tx, room, LARGEST + 5), YS_ETOOLONG);
  CHECK_IS(ys_shm_work_try_send(tx, room, SIZE_MAX), YS_ETOOLONG);
  CHECK_IS(ys_shm_work_send(tx, NULL, 1), YS_EINVAL);
  CHECK_IS(ys_shm_work_try_recv(rx, room, sizeof room, &length), YS_EMPTY);
  CHECK_IS(ys_shm_work_recv_for(rx, room, sizeof room, &length, 0), YS_EMPTY);
  CHECK_IS(ys_shm_work_recv_for(rx, room, sizeof room, &length, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_work_finish(rx), YS_EINVAL);
  CHECK_IS(ys_shm_work_give_back(rx), YS_EINVAL);
  CHECK_IS(ys_shm_work_rx_arm(rx), 1);
  CHECK_IS(ys_shm_work_arm(tx), 0);
  CHECK_IS(ys_shm_work_try_send(tx, "a job", 5), YS_OK);
  CHECK_IS(ys_shm_work_try_send(tx, NULL, 0), YS_FULL);
  CHECK_IS(ys_shm_work_send_for(tx, NULL, 0, 0), YS_FULL);
  CHECK_IS(ys_shm_work_send_for(tx, NULL, 0, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_work_settle(tx, 0), YS_TIMEOUT);
  CHECK_IS(ys_shm_work_settle(tx, MILLISECOND), YS_TIMEOUT);
  CHECK_IS(ys_shm_work_arm(tx), 1);
  CHECK_IS(ys_shm_work_arm_to_settle(tx), 1);
  CHECK(ys_shm_work_unfinished(tx) == 1 && ys_shm_work_finished(tx) == 0);
  CHECK(ys_shm_work_fd(tx) >= 0 && ys_shm_work_rx_fd(rx) >= 0 && ys_shm_work_fd(tx) != ys_shm_work_rx_fd(rx));
  /* What does not fit is the next one again, and not in the hand. */
  CHECK_IS(ys_shm_work_recv(rx, room, 4, &length), YS_ETOOLONG);
  CHECK_IS(length, 5);
  CHECK_IS(ys_shm_work_finish(rx), YS_EINVAL);
  CHECK_IS(ys_shm_work_rx_arm(rx), 0);
  /* And so is what was received and not finished. */
  for (int times = 0; times < 3; times++) {
    CHECK_IS(ys_shm_work_recv(rx, room, sizeof room, &length), YS_OK);
    CHECK(length == 5 && memcmp(room, "a job", 5) == 0);
    if (times > 0) continue;
    CHECK_IS(ys_shm_work_give_back(rx), YS_OK);
    CHECK_IS(ys_shm_work_try_recv(rx, room, sizeof room, &length), YS_EMPTY);
    CHECK_IS(ys_shm_work_serve(tx, 0), YS_OK);
  }
  CHECK(ys_shm_work_unfinished(tx) == 1 && ys_shm_work_finished(tx) == 0);
  CHECK_IS(ys_shm_work_finish(rx), YS_OK);
  CHECK_IS(ys_shm_work_finish(rx), YS_EINVAL);
  CHECK_IS(ys_shm_work_arm_to_settle(tx), 0);
  CHECK_IS(ys_shm_work_settle(tx, -1), YS_OK);
  CHECK(ys_shm_work_unfinished(tx) == 0 && ys_shm_work_finished(tx) == 1);
  /* Bad input. */
  CHECK_IS(ys_shm_work_recv(rx, NULL, 1, &length), YS_EINVAL);
  CHECK_IS(ys_shm_work_recv(rx, room, 1, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_work_workers(NULL), YS_EINVAL);
  /* An empty one. */
  CHECK_IS(ys_shm_work_send_for(tx, NULL, 0, LONG_TIME), YS_OK);
  CHECK_IS(ys_shm_work_recv_for(rx, NULL, 0, &length, LONG_TIME), YS_OK);
  CHECK_IS(length, 0);
  ys_shm_work_rx_free(rx), ys_shm_work_rx_free(NULL);
  CHECK_IS(ys_shm_work_settle(tx, 0), YS_CLOSED);
  CHECK_IS(ys_shm_work_settle(tx, -1), YS_CLOSED);
  CHECK_IS(ys_shm_work_settle(tx, LONG_TIME), YS_CLOSED);
  CHECK_IS(ys_shm_work_serve(tx, -1), YS_OK);
  CHECK_IS(ys_shm_work_send(tx, NULL, 0), YS_CLOSED);
  CHECK_IS(ys_shm_work_try_send(tx, NULL, 0), YS_CLOSED);
  CHECK_IS(ys_shm_work_send_for(tx, NULL, 0, LONG_TIME), YS_CLOSED);
  CHECK(ys_shm_work_unfinished(tx) == 1 && ys_shm_work_workers(tx) == 0);
  /* The next worker has it, of which the kernel alone knows yet. */
  rx = working(ys_shm_work_seat(tx));
  CHECK_IS(ys_shm_work_settle(tx, 0), YS_TIMEOUT);
  CHECK_IS(ys_shm_work_try_recv(rx, NULL, 0, &length), YS_OK);
  ys_shm_work_free(tx), ys_shm_work_free(NULL);
  /* Behind its sender's end too. */
  CHECK_IS(ys_shm_work_finish(rx), YS_OK);
  CHECK_IS(ys_shm_work_recv(rx, NULL, 0, &length), YS_CLOSED);
  ys_shm_work_rx_free(rx);
}

static void what_cannot_be_opened_is_said(void) {
  const unique name = name_of("refused");
  ys_shm_work *tx, *second;
  ys_shm_work_rx *rx;
  size_t length;
  CHECK_IS(ys_shm_work_open(name.name, 8, 0, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_work_open(name.name, 8, 65, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_work_open(name.name, 0, 1, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK_IS(ys_shm_work_open(NULL, SIZE_MAX, 1, NULL, &tx), YS_REFUSED_CAPACITY);
  CHECK(tx == NULL && strlen(ys_shm_refusal()) > 0);
  CHECK_IS(ys_shm_work_open(name.name, 8, 1, NULL, NULL), YS_EINVAL);
  CHECK_IS(ys_shm_work_open(name.name, 8, 64, NULL, &tx), YS_OK);
  CHECK_IS(ys_shm_work_open(name.name, 8, 64, NULL, &second), YS_REFUSED_IN_USE);
  ys_shm_options other = YS_SHM_OPTIONS_INIT;
  other.messages = "others";
  CHECK_IS(ys_shm_work_rx_open(-1, NULL, &rx), -1);
  CHECK_IS(ys_shm_work_rx_open(ys_shm_connect(name.name, NULL), &other, &rx), YS_OK);
  CHECK_IS(ys_shm_work_serve(tx, 0), YS_OK);
  CHECK_IS(ys_shm_work_recv(rx, NULL, 0, &length), YS_REFUSED_TYPE);
  ys_shm_work_rx_free(rx), ys_shm_work_free(tx);
}

/* As long as the sender says, also if no two are alike; each is received as often as its worker wants. */
static void jobs_of_any_length(void) {
  enum { LONG = 300000 };
  static char job[LONG], room[LONG];
  ys_shm_work *tx;
  ys_shm_work_rx *rx;
  size_t length;
  CHECK_IS(ys_shm_work_open(NULL, LONG, 2, NULL, &tx), YS_OK);
  CHECK_IS(ys_shm_work_rx_open(ys_shm_work_seat(tx), NULL, &rx), YS_OK);
  for (size_t at = 0; at < LONG; at++) job[at] = (char)(at * 31 >> 3);
  for (size_t size = LONG; size > 0; size /= 3) {
    CHECK_IS(ys_shm_work_send(tx, job, size), YS_OK);
    CHECK_IS(ys_shm_work_try_send(tx, NULL, 0), YS_OK);
    CHECK_IS(ys_shm_work_recv(rx, room, size - 1, &length), YS_ETOOLONG);
    CHECK_IS(length, size);
    for (int times = 0; times < 2; times++) {
      CHECK_IS(ys_shm_work_recv(rx, room, size, &length), YS_OK);
      CHECK(length == size && memcmp(room, job, size) == 0);
    }
    /* Room for less, with the job in hand. */
    CHECK_IS(ys_shm_work_try_recv(rx, NULL, 0, &length), YS_ETOOLONG);
    CHECK_IS(ys_shm_work_finish(rx), YS_OK);
    CHECK_IS(ys_shm_work_recv(rx, NULL, 0, &length), YS_OK);
    CHECK_IS(ys_shm_work_finish(rx), YS_OK);
    CHECK_IS(ys_shm_work_settle(tx, 0), YS_OK);
  }
  CHECK_IS(ys_shm_work_send(tx, job, LONG + 1), YS_ETOOLONG);
  ys_shm_work_free(tx), ys_shm_work_rx_free(rx);
}

/* Both ends in an event loop, of which none is looked at twice for nothing. */
static void an_event_loop_gives_and_works(void) {
  struct epoll_event event = {.events = EPOLLIN}, found;
  ys_shm_work *tx = giving(NULL, 1);
  size_t length;
  ys_shm_work_rx *rx = working(ys_shm_work_seat(tx));
  const int loop = epoll_create1(EPOLL_CLOEXEC), senders = epoll_create1(EPOLL_CLOEXEC);
  CHECK_IS(ys_shm_work_serve(tx, 0), YS_OK);
  CHECK_IS(epoll_ctl(loop, EPOLL_CTL_ADD, ys_shm_work_rx_fd(rx), &event), 0);
  CHECK_IS(epoll_ctl(senders, EPOLL_CTL_ADD, ys_shm_work_fd(tx), &event), 0);
  for (unsigned number = 0; number < 100; number++) {
    unsigned job = JOBS;
    CHECK_IS(ys_shm_work_try_recv(rx, &job, sizeof job, &length), YS_EMPTY);
    CHECK_IS(ys_shm_work_rx_arm(rx), 1);
    CHECK_IS(epoll_wait(loop, &found, 1, 0), 0);
    CHECK_IS(ys_shm_work_try_send(tx, &number, sizeof number), YS_OK);
    CHECK_IS(epoll_wait(loop, &found, 1, 60000), 1);
    CHECK_IS(ys_shm_work_try_recv(rx, &job, sizeof job, &length), YS_OK);
    CHECK_IS(job, number);
    CHECK_IS(number % 2 ? ys_shm_work_arm(tx) : ys_shm_work_arm_to_settle(tx), 1);
    CHECK_IS(ys_shm_work_finish(rx), YS_OK);
    CHECK_IS(epoll_wait(senders, &found, 1, 60000), 1);
    CHECK_IS(ys_shm_work_settle(tx, 0), YS_OK);
    CHECK_IS(ys_shm_work_finished(tx), number + 1);
  }
  ys_shm_work_free(tx), ys_shm_work_rx_free(rx);
  close(loop), close(senders);
}

int main(int count, char **arguments) {
  alarm(600);
  for (size_t part = 0; count == 3 && part < sizeof parts / sizeof *parts; part++) {
    if (strcmp(arguments[1], parts[part].name) == 0) return parts[part].play(arguments[2]), 0;
  }
  CHECK_IS(count, 1);
  RUN_CLEAN(no_job_is_lost_with_its_worker);
  RUN_CLEAN(a_sender_that_crashes_is_reported);
  RUN_CLEAN(a_forked_child_gives_nothing_back);
  RUN_CLEAN(both_ends_say_why);
  RUN_CLEAN(what_cannot_be_opened_is_said);
  RUN_CLEAN(jobs_of_any_length);
  RUN_CLEAN(an_event_loop_gives_and_works);
  return 0;
}
