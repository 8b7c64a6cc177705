/* A worker process that crashes, and is started again. It sends each result through a pipe of shared memory: what it
   had sent before the crash is received, and then the kernel's word that it has died, at once and without a heartbeat.
   The next worker goes on behind the last result. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define YS_SHM
#include <ysuite.h>

enum { JOBS = 10, CRASHES_AFTER = 4, CAPACITY = 4096 };

static void must(int code, const char *what) {
  if (code == YS_OK) return;
  fprintf(stderr, "%s: %s %s\n", what, ys_error_text(code), ys_shm_refusal());
  exit(1);
}

/* ---- the worker: restart DESCRIPTOR FIRST-JOB ---- */

static int work(int descriptor, int job) {
  ys_shm_tx *results;
  must(ys_shm_tx_open(descriptor, CAPACITY, NULL, &results), "the worker's end");
  for (int done = 0; job < JOBS; job++, done++) {
    char result[64];
    if (done == CRASHES_AFTER) raise(SIGKILL);
    int length = snprintf(result, sizeof result, "job %d is %d", job, job * job);
    must(ys_shm_send(results, result, (size_t)length), "a result");
  }
  ys_shm_tx_free(results);
  return 0;
}

/* ---- the supervisor ---- */

/* Starts a worker, and returns the receiver of its results. */
static ys_shm_rx *start(const char *program, int job, pid_t *worker) {
  ys_shm_tx *tx;
  ys_shm_rx *rx;
  must(ys_shm_pipe_open(CAPACITY, NULL, &tx, &rx), "a pipe");
  /* The end was not used: another process can make one of its descriptor. */
  int descriptor = ys_shm_tx_into_fd(tx);
  ys_shm_tx_free(tx);
  char number[16], first[16];
  snprintf(number, sizeof number, "%d", descriptor);
  snprintf(first, sizeof first, "%d", job);
  *worker = fork();
  if (*worker == 0) {
    fcntl(descriptor, F_SETFD, 0); /* inherited by the program that is executed */
    execl(program, program, number, first, (char *)NULL);
    _exit(127);
  }
  close(descriptor);
  if (*worker < 0) {
    perror("a worker");
    exit(1);
  }
  return rx;
}

int main(int count, char **arguments) {
  if (count == 3) return work(atoi(arguments[1]), atoi(arguments[2]));
  int job = 0, workers = 0, code;
  do {
    pid_t worker;
    ys_shm_rx *results = start("/proc/self/exe", job, &worker);
    char result[64], expected[64];
    size_t length;
    while ((code = ys_shm_recv(results, result, sizeof result, &length)) == YS_OK) {
      printf("%.*s\n", (int)length, result);
      int wanted = snprintf(expected, sizeof expected, "job %d is %d", job, job * job);
      if (length != (size_t)wanted || memcmp(result, expected, length) != 0) return 1;
      job++;
    }
    workers++;
    if (code == YS_DIED) printf("worker %d has crashed before job %d\n", workers, job);
    else if (code != YS_CLOSED) must(code, "results");
    ys_shm_rx_free(results);
    waitpid(worker, NULL, 0);
  } while (code == YS_DIED);
  printf("%d jobs, %d workers\n", job, workers);
  return job != JOBS || workers != (JOBS + CRASHES_AFTER - 1) / CRASHES_AFTER;
}
