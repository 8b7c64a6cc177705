/* A real-time thread, as in audio: a callback that must fill its frames in time, whatever other threads do. It takes
   its parameters from one channel and puts its measurements into another. It never waits, allocates, frees, or calls
   the kernel. Both are checked: allocations are counted, and the kernel ends the program if the thread makes any call
   except for its clock. settings_try_recv and meters_try_send are inline: while there is something, or room, they are
   some loads and stores. Only waking a reader that sleeps in meters_recv would cost the callback a system call. So the
   reader of the meters polls now and then, as a display does for each of its pictures, and never sleeps there. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <ysuite.h>

#define FRAMES 64
#define SETTINGS 20

/* What the callback receives. */
typedef struct { unsigned number; float left, right; } setting;
YS_DEFINE_PIPE(settings, setting);

/* What the callback reports: which setting it has played, and how loud that was. */
typedef struct { unsigned setting; float left, right; } meter;
YS_DEFINE_PIPE(meters, meter);

typedef struct {
  settings_rx settings;
  meters_tx meters;
  size_t blocks, unseen, allocations;
} card;

/* The allocator, counted for each thread. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void __libc_free(void *);
static _Thread_local size_t allocations;
void *malloc(size_t size) { return allocations++, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return allocations++, __libc_calloc(count, size); }
void free(void *memory) { allocations++, __libc_free(memory); }

/* Plays the newest setting. Returns 0 once there will be no more. */
static int callback(card *this, setting *now, float (*output)[2]) {
  int code;
  while ((code = settings_try_recv(this->settings, now)) == YS_OK) {}
  meter seen = {now->number, 0, 0};
  for (int at = 0; at < FRAMES; at++) {
    float wave = at < FRAMES / 2 ? 1 : -1;
    output[at][0] = wave * now->left;
    output[at][1] = wave * now->right;
    seen.left = fmaxf(seen.left, fabsf(output[at][0]));
    seen.right = fmaxf(seen.right, fabsf(output[at][1]));
  }
  /* A display that is late misses this one and sees the next. */
  if (meters_try_send(this->meters, &seen) != YS_OK) this->unseen++;
  this->blocks++;
  return code != YS_CLOSED;
}

/* From here on the calling thread may wait for its clock, and exit. Returns whether the kernel does that for us. */
static int forbid_the_kernel(void) {
  struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Represents the sound card and its driver, which call back for each block. */
static void *run_card(void *argument) {
  card *this = argument;
  if (!forbid_the_kernel()) fputs("no filter of system calls here: they are not checked\n", stderr);
  struct timespec period = {0, 300000};
  setting now = {0, 0, 0};
  float output[FRAMES][2];
  size_t before = allocations;
  while (callback(this, &now, output)) clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
  this->allocations = allocations - before;
  /* Not by `return`: that has the kernel take the stack. */
  syscall(SYS_exit, 0);
  return NULL;
}

static void must(int code, const char *what) {
  if (code == YS_OK) return;
  fprintf(stderr, "%s: %s\n", what, ys_error_text(code));
  exit(1);
}

int main(void) {
  card card = {0};
  settings_tx settings;
  meters_rx meters;
  must(settings_open(4, &settings, &card.settings), "a channel of settings");
  must(meters_open(64, &card.meters, &meters), "a channel of meters");
  /* The first send of a process registers it with the kernel. So the setting to begin with, silence, is sent before the card plays. */
  setting silence = {0, 0, 0};
  must(settings_send(settings, &silence), "room for a setting");
  pthread_t thread;
  must(pthread_create(&thread, NULL, run_card, &card), "a thread");

  size_t seen = 0, wrong = 0;
  for (unsigned number = 1; number <= SETTINGS; number++) {
    setting next = {number, 1.0f / (float)number, 0.5f / (float)number};
    must(settings_send(settings, &next), "the callback listens");
    for (unsigned newest = 0; newest != number;) {
      meter pictures[16];
      ptrdiff_t count = meters_recv_batch(meters, pictures, 16, 0);
      if (count <= 0) usleep(1000); /* until the next picture */
      for (ptrdiff_t at = 0; at < count; at++, seen++) {
        newest = pictures[at].setting;
        /* What is played is all of the new setting, or all of the one before. */
        if (newest == number) wrong += pictures[at].left != next.left || pictures[at].right != next.right;
        else wrong += newest != number - 1;
      }
    }
  }
  /* The player finds the channel closed, once it is empty, and exits. */
  settings_tx_free(settings);
  pthread_join(thread, NULL);
  meter rest;
  while (meters_try_recv(meters, &rest) == YS_OK) seen++;
  settings_rx_free(card.settings);
  meters_tx_free(card.meters);
  meters_rx_free(meters);
  printf("%d settings heard in %zu blocks, of which %zu were not shown\n", SETTINGS, card.blocks, card.unseen);
  return card.allocations || wrong || seen + card.unseen != card.blocks;
}
