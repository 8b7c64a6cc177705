/* A logger whose callers never wait: each thread has a lane of its own in an mpsc channel, and one thread writes. A
   line is a block of a pool, written in place and handed over as one pointer; no thread allocates. When the lane
   or the pool has no room, because the disk is slow, a line is lost, and counted: the next one that gets through says
   how many there were before it. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <ysuite.h>

enum { THREADS = 4, LANE = 64, LINES = 200, LONGEST = 120 };

/* ---- the logger: what a program would have of it ---- */

/* The address of its first character. */
typedef char *line;
YS_DEFINE_FUNNEL(lines, line);

/* Of one thread. */
typedef struct { lines_tx lane; ys_pool *pool; size_t lost, lost_in_all; } logger;

static void logger_write(logger *this, const char *format, ...) {
  line text = ys_pool_take(this->pool, LONGEST, 0);
  if (!text) {
    this->lost++;
    return;
  }
  int before = this->lost ? snprintf(text, LONGEST, "(%zu lines lost) ", this->lost) : 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + before, (size_t)(LONGEST - before), format, arguments);
  va_end(arguments);
  /* What is not sent is still ours. */
  if (lines_try_send(this->lane, &text) != YS_OK) {
    ys_msg_free(text);
    this->lost++;
    return;
  }
  this->lost_in_all += this->lost;
  this->lost = 0;
}

/* Lines that were sent when the writer has gone already. */
static void free_line(void *message, void *context) {
  (void)context;
  ys_msg_free(*(line *)message);
}

typedef struct { lines_rx lines; FILE *file; size_t written; } writer;

static void *write_lines(void *argument) {
  writer *this = argument;
  line lines[32];
  ptrdiff_t count;
  /* Sleeps while there is nothing; returns when no lane is left and all is written. */
  while ((count = lines_recv_batch(this->lines, lines, 32, -1)) > 0) {
    for (ptrdiff_t at = 0; at < count; at++) {
      fputs(lines[at], this->file);
      fputc('\n', this->file);
      ys_msg_free(lines[at]);
    }
    fflush(this->file);
    this->written += (size_t)count;
  }
  return NULL;
}

/* ---- a program that uses it ---- */

static void must(int code, const char *what) {
  if (code == YS_OK) return;
  fprintf(stderr, "%s: %s\n", what, ys_error_text(code));
  exit(1);
}

typedef struct { pthread_t thread; logger log; pthread_barrier_t *full, *writing; int number; } program;

static void *run(void *argument) {
  program *this = argument;
  for (int number = 0; number < LINES; number++) logger_write(&this->log, "thread %d, line %d", this->number, number);
  pthread_barrier_wait(this->full);
  /* Now a thread writes, and has caught up. */
  pthread_barrier_wait(this->writing);
  logger_write(&this->log, "thread %d, goodbye", this->number);
  lines_tx_free(this->log.lane);
  return NULL;
}

int main(void) {
  ys_options options = YS_OPTIONS_INIT;
  /* Twice the room of the lanes: here it is the lanes that are full. */
  ys_pool_class blocks = {LONGEST, 2 * THREADS * (LANE + 1)};
  ys_pool *pool;
  lines_tx first;
  writer writer = {.file = tmpfile()};
  if (!writer.file) {
    perror("a file");
    return 1;
  }
  options.capacity = LANE;
  options.drop = free_line;
  must(ys_pool_open(&blocks, 1, &pool), "a pool");
  must(lines_open_with(options, &first, &writer.lines), "an mpsc channel");

  pthread_barrier_t full, writing;
  pthread_barrier_init(&full, NULL, THREADS + 1);
  pthread_barrier_init(&writing, NULL, THREADS + 1);
  program programs[THREADS];
  for (int at = 0; at < THREADS; at++) {
    programs[at] = (program){.log = {.pool = pool}, .full = &full, .writing = &writing, .number = at};
    must(lines_tx_clone(first, &programs[at].log.lane), "a lane");
    must(pthread_create(&programs[at].thread, NULL, run, &programs[at]), "a thread");
  }
  lines_tx_free(first);

  /* The disk is so slow that nothing is written while they log: each lane keeps what it has room for. */
  pthread_barrier_wait(&full);
  pthread_t thread;
  must(pthread_create(&thread, NULL, write_lines, &writer), "a writer");
  for (int at = 0; at < THREADS; at++)
    while (ys_tx_len(programs[at].log.lane.raw) > 0) sched_yield();
  pthread_barrier_wait(&writing);
  for (int at = 0; at < THREADS; at++) pthread_join(programs[at].thread, NULL);
  pthread_join(thread, NULL);
  lines_rx_free(writer.lines);
  ys_pool_free(pool);

  /* Of each thread: its first lines, in order, up to the room; then how many were lost. */
  int next[THREADS] = {0}, wrong = 0;
  size_t lost = 0;
  char text[LONGEST + 1];
  rewind(writer.file);
  while (fgets(text, sizeof text, writer.file)) {
    int of, number;
    size_t lines_lost;
    if (sscanf(text, "thread %d, line %d", &of, &number) == 2) wrong += number != next[of]++;
    else if (sscanf(text, "(%zu lines lost) thread %d, goodbye", &lines_lost, &of) == 2) lost += lines_lost;
    else wrong++;
  }
  fclose(writer.file);
  printf("%zu lines written, %zu lost\n", writer.written, lost);
  for (int at = 0; at < THREADS; at++) wrong += next[at] != LANE || programs[at].log.lost_in_all != LINES - LANE;
  return wrong || lost != THREADS * (LINES - LANE) || writer.written != THREADS * (LANE + 1);
}
