/* What the tests between processes use: children that are this program again, and a count of what is left over. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <ysuite/shm.h>

/* Starts this program as a child that plays a part. */
static inline pid_t played(const char *part, const char *argument) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    execl("/proc/self/exe", "child", part, argument, (char *)NULL);
    _exit(127);
  }
  return child;
}

/* A descriptor as an argument of a child that inherits it. */
static inline pid_t played_with(const char *part, int descriptor) {
  char argument[16];
  CHECK(descriptor >= 0);
  CHECK_IS(fcntl(descriptor, F_SETFD, 0), 0);
  snprintf(argument, sizeof argument, "%d", descriptor);
  const pid_t child = played(part, argument);
  CHECK_IS(close(descriptor), 0);
  return child;
}

/* The child has ended by itself, and found nothing wrong; or was killed by this signal. */
static inline void ended(pid_t child, int by_signal) {
  int status = 0;
  CHECK_IS(waitpid(child, &status, 0), child);
  if (by_signal != 0) {
    CHECK(WIFSIGNALED(status));
    CHECK_IS(WTERMSIG(status), by_signal);
  } else {
    CHECK(WIFEXITED(status));
    CHECK_IS(WEXITSTATUS(status), 0);
  }
}

/* How many files are in a folder. */
static inline int files_in(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  CHECK(folder != NULL);
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

/* Runs a test, after which this process has as many descriptors as before. */
#define RUN_CLEAN(test)                               \
  do {                                                \
    const int descriptors_ = files_in("/proc/self/fd"); \
    RUN(test);                                        \
    CHECK_IS(files_in("/proc/self/fd"), descriptors_);  \
  } while (0)

/* A name that no other run of this program has, abstract or in a folder of its own. */
typedef struct {
  char name[128];
} unique;
static inline unique name_of(const char *test) {
  unique made;
  snprintf(made.name, sizeof made.name, "test-%d-%s", (int)getpid(), test);
  return made;
}

/* The lies about a word: near what is true, bit flips, and rubbish. */
enum { LIES = 18 + 64 + 6 };
static inline uint64_t lie(uint64_t honest, unsigned number) {
  static const uint64_t rubbish[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, UINT64_C(1) << 63, UINT64_C(1) << 32};
  if (number < 18) return honest + number - 9;
  return number < 82 ? honest ^ UINT64_C(1) << (number - 18) : rubbish[number - 82];
}

#define LONG_TIME (60000 * MILLISECOND)

#endif
