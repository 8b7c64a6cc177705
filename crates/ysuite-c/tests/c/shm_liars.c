/* Ends of loans, calls and work queues whose memory is written over, word by word and all the time, so that they lie as no end does.
   Whatever they write, the other end returns the codes that the header has, stays within its bounds, and others have what is theirs. */
#include "processes.h"

#include <stdatomic.h>

/* So long that each job, question and answer has a state of its own, at the front of three lines. */
enum { RING = 4096, LARGEST = 168, STRIDE = 192, MOST_REGIONS = 8 };

/* The memory that an end writes, and others read. */
typedef struct {
  size_t count;
  _Atomic uint64_t *start[MOST_REGIONS];
  size_t words[MOST_REGIONS];
} memory;

/* What this process can write of memory that it shares. */
static memory shared(void) {
  memory found = {0, {NULL}, {0}};
  char line[512], access[8];
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long start, end;
    if (strstr(line, "/memfd:") == NULL || sscanf(line, "%lx-%lx %7s", &start, &end, access) != 3 || strcmp(access, "rw-s") != 0) continue;
    CHECK(found.count < MOST_REGIONS);
    found.words[found.count] = (end - start) / 8;
    found.start[found.count++] = (_Atomic uint64_t *)start;
  }
  fclose(maps);
  return found;
}

/* What has come since. */
static memory since(const memory *before) {
  const memory now = shared();
  memory fresh = {0, {NULL}, {0}};
  for (size_t at = 0; at < now.count; at++) {
    int is_old = 0;
    for (size_t old = 0; old < before->count; old++) is_old |= before->start[old] == now.start[at];
    if (!is_old) fresh.words[fresh.count] = now.words[at], fresh.start[fresh.count++] = now.start[at];
  }
  CHECK(fresh.count > 0);
  return fresh;
}

/* A word of the page, or of the ring behind it: of its first group, or the first one of another. The first is of the table of who
   borrows; of others it is what was read when they met. */
enum { PAGE_WORDS = 10, GROUP_WORDS = 8, WORDS = PAGE_WORDS + GROUP_WORDS + 4 };
static size_t word_of(unsigned number) {
  static const size_t words[PAGE_WORDS] = {0, 128, 256, 384, 392, 512, 640, 648, 768, 776};
  if (number < PAGE_WORDS) return words[number] / 8;
  number -= PAGE_WORDS;
  return RING / 8 + (number < GROUP_WORDS ? number : (number - GROUP_WORDS + 1) * STRIDE / 8);
}

/* The channel has ended by a lie about a word, or may have. */
static int is_end(int code) { return code == YS_BROKEN || code == YS_CLOSED || code == YS_REFUSED_BY_PEER; }

/* One liar and what is tried with it. */
typedef struct {
  /* Honest so far. Its memory. */
  memory (*begin)(void);
  /* Uses the other end once; 1 if the liar was found out. No call waits for longer than a millisecond. */
  int (*use)(void);
  /* Frees all, and checks what others had. */
  void (*end)(void);
} scene;

/* ---- loans ---- */

static ys_shm_loan *loan;
static ys_shm_loan_rx *loan_rx;
static ys_shm_borrowed *held;

static void lends(const char *text) {
  void *to;
  CHECK_IS(ys_shm_loan_try_reserve(loan, LARGEST, &to), YS_OK);
  memcpy(to, text, strlen(text));
  CHECK_IS(ys_shm_loan_commit(loan, strlen(text)), YS_OK);
}

static int loans_begin(memory *of_sender, memory *of_receiver) {
  const memory before = shared();
  CHECK_IS(ys_shm_loan_open(NULL, 3, LARGEST, NULL, &loan), YS_OK);
  const int seat = ys_shm_loan_seat(loan);
  *of_sender = since(&before);
  const memory between = shared();
  CHECK_IS(ys_shm_loan_rx_open(seat, NULL, &loan_rx), YS_OK);
  *of_receiver = since(&between);
  CHECK_IS(ys_shm_loan_serve(loan, 0), YS_OK);
  lends("held"), lends("next");
  CHECK_IS(ys_shm_loan_try_recv(loan_rx, &held), YS_OK);
  return 1;
}

static memory lender_lies(void) {
  memory sender, receiver;
  loans_begin(&sender, &receiver);
  return sender;
}

static memory borrower_lies(void) {
  memory sender, receiver;
  loans_begin(&sender, &receiver);
  return receiver;
}

static int borrows(void) {
  unsigned char bytes[LARGEST + 8];
  ys_shm_borrowed *borrowed;
  const int code = ys_shm_loan_recv_for(loan_rx, &borrowed, 1000);
  if (code == YS_OK) {
    const size_t length = ys_shm_borrowed_length(borrowed);
    CHECK(length <= LARGEST && ys_shm_borrowed_sealed(borrowed) == NULL);
    memset(bytes, 0xaa, sizeof bytes);
    CHECK_IS(ys_shm_borrowed_copy(borrowed, 0, bytes, sizeof bytes), length);
    for (size_t at = length; at < sizeof bytes; at++) CHECK_IS(bytes[at], 0xaa);
    ys_shm_borrowed_free(borrowed);
    return 0;
  }
  CHECK(borrowed == NULL && (code == YS_TIMEOUT || is_end(code)));
  if (code == YS_TIMEOUT) return 0;
  /* For ever. */
  CHECK_IS(ys_shm_loan_recv(loan_rx, &borrowed), code);
  CHECK_IS(ys_shm_loan_try_recv(loan_rx, &borrowed), code);
  CHECK_IS(ys_shm_loan_rx_arm(loan_rx), 0);
  return code == YS_BROKEN;
}

static int lends_again(void) {
  void *to;
  CHECK_IS(ys_shm_loan_serve(loan, 0), YS_OK);
  CHECK(ys_shm_loan_held(loan) + ys_shm_loan_unused(loan) <= 3);
  const int code = ys_shm_loan_reserve_for(loan, LARGEST, &to, 1000);
  if (code == YS_OK) CHECK_IS(ys_shm_loan_commit(loan, LARGEST), YS_OK);
  else CHECK(code == YS_TIMEOUT || is_end(code));
  if (is_end(code)) CHECK(ys_shm_loan_reserve(loan, 1, &to) == code && ys_shm_loan_receivers(loan) == 0);
  return code == YS_BROKEN;
}

static void loans_end(void) {
  /* What it holds is there, within its bounds. */
  char bytes[4];
  CHECK_IS(ys_shm_borrowed_copy(held, 0, bytes, 4), 4);
  ys_shm_borrowed_free(held), ys_shm_loan_rx_free(loan_rx), ys_shm_loan_free(loan);
}

/* ---- calls ---- */

static ys_shm_questions *questions;
static ys_shm_caller *caller, *innocent;
static uint64_t liars_number, calls[3];

static memory calls_begin(int does_caller_lie) {
  ys_shm_question *question;
  uint64_t number;
  const memory before = shared();
  CHECK_IS(ys_shm_questions_open(NULL, LARGEST, NULL, &questions), YS_OK);
  const int seat = ys_shm_questions_seat(questions, &liars_number);
  memory lying = since(&before);
  const memory between = shared();
  CHECK_IS(ys_shm_caller_open(seat, LARGEST, NULL, &caller), YS_OK);
  if (does_caller_lie) lying = since(&between);
  CHECK_IS(ys_shm_caller_open(ys_shm_questions_seat(questions, &number), LARGEST, NULL, &innocent), YS_OK);
  for (int at = 0; at < 3; at++) CHECK_IS(ys_shm_caller_ask(caller, "asked", 5, &calls[at]), YS_OK);
  CHECK_IS(ys_shm_questions_recv(questions, &question, &number), YS_OK);
  CHECK_IS(number, liars_number);
  CHECK_IS(ys_shm_question_answer(question, "answered", 8), YS_OK);
  ys_shm_question_free(question);
  return lying;
}

static memory hearer_lies(void) { return calls_begin(0); }

static memory caller_lies(void) { return calls_begin(1); }

static int hears_of_its_calls(void) {
  unsigned char room[LARGEST + 8];
  uint64_t call;
  size_t length = 0;
  int is_broken = 0;
  for (int at = 0; at < 3; at++) {
    memset(room, 0xaa, sizeof room);
    const int code = ys_shm_caller_recv_for(caller, calls[at], room, LARGEST, &length, 1000);
    for (size_t byte = LARGEST; byte < sizeof room; byte++) CHECK_IS(room[byte], 0xaa);
    CHECK(code == YS_OK || code == YS_TIMEOUT || code == YS_UNANSWERED || code == YS_ERANGE || is_end(code));
    CHECK(length <= LARGEST && (code == YS_OK || length == 0));
    is_broken |= code == YS_BROKEN;
  }
  const int code = ys_shm_caller_try_ask(caller, "again", 5, &call);
  CHECK(code == YS_OK || code == YS_FULL || is_end(code));
  if (code == YS_OK) CHECK_IS(ys_shm_caller_give_up(caller, call), YS_OK);
  if (is_end(code)) CHECK_IS(ys_shm_caller_arm_to_ask(caller), 0);
  return is_broken || code == YS_BROKEN;
}

/* Its questions are answered, and so are those of the innocent one. */
static int hears_both(void) {
  unsigned char room[LARGEST];
  uint64_t call, number;
  size_t length;
  int why, is_broken = 0, is_answered = 0;
  CHECK_IS(ys_shm_caller_ask(innocent, "hello", 5, &call), YS_OK);
  while (!is_answered) {
    ys_shm_question *question;
    CHECK_IS(ys_shm_questions_recv_for(questions, &question, &number, LONG_TIME), YS_OK);
    CHECK(ys_shm_question_length(question) <= LARGEST);
    memcpy(room, ys_shm_question_bytes(question), ys_shm_question_length(question));
    is_answered = number != liars_number;
    CHECK_IS(ys_shm_question_answer(question, room, ys_shm_question_length(question)), YS_OK);
    ys_shm_question_free(question);
    while (ys_shm_questions_next_ended(questions, &number, &why) == YS_OK) {
      CHECK(number == liars_number && is_end(why));
      is_broken |= why == YS_BROKEN;
    }
  }
  CHECK_IS(ys_shm_caller_recv_for(innocent, call, room, sizeof room, &length, LONG_TIME), YS_OK);
  CHECK(length == 5 && memcmp(room, "hello", 5) == 0);
  return is_broken;
}

static void calls_end(void) { ys_shm_caller_free(caller), ys_shm_caller_free(innocent), ys_shm_questions_free(questions); }

/* ---- work queues ---- */

static ys_shm_work *work;
static ys_shm_work_rx *worker, *honest;
static long sent;

static memory work_begin(int does_worker_lie) {
  char room[LARGEST];
  size_t length;
  const memory before = shared();
  CHECK_IS(ys_shm_work_open(NULL, LARGEST, 3, NULL, &work), YS_OK);
  const int seat = ys_shm_work_seat(work);
  memory lying = since(&before);
  const memory between = shared();
  CHECK_IS(ys_shm_work_rx_open(seat, NULL, &worker), YS_OK);
  if (does_worker_lie) lying = since(&between);
  CHECK_IS(ys_shm_work_serve(work, 0), YS_OK);
  for (sent = 0; sent < 3; sent++) CHECK_IS(ys_shm_work_try_send(work, "a job", 5), YS_OK);
  CHECK_IS(ys_shm_work_recv(worker, room, sizeof room, &length), YS_OK);
  CHECK_IS(ys_shm_work_finish(worker), YS_OK);
  CHECK_IS(ys_shm_work_recv(worker, room, sizeof room, &length), YS_OK);
  CHECK_IS(ys_shm_work_rx_open(ys_shm_work_seat(work), NULL, &honest), YS_OK);
  return lying;
}

static memory giver_lies(void) { return work_begin(0); }

static memory worker_lies(void) { return work_begin(1); }

/* What a worker receives, and whether that has ended. */
static int works(ys_shm_work_rx *rx) {
  unsigned char room[LARGEST + 8];
  size_t length;
  memset(room, 0xaa, sizeof room);
  const int code = ys_shm_work_recv_for(rx, room, LARGEST, &length, 1000);
  for (size_t byte = LARGEST; byte < sizeof room; byte++) CHECK_IS(room[byte], 0xaa);
  CHECK(length <= LARGEST && (code == YS_OK || length == 0));
  if (code == YS_OK) {
    CHECK_IS(ys_shm_work_finish(rx), YS_OK);
    return 0;
  }
  CHECK(code == YS_TIMEOUT || is_end(code));
  if (code == YS_BROKEN) CHECK_IS(ys_shm_work_recv(rx, room, LARGEST, &length), code);
  return code == YS_BROKEN;
}

static int works_for_a_liar(void) { return works(worker); }

/* No job is lost: the honest one does what the liar is not believed to have done. */
static int gives_to_both(void) {
  const int code = ys_shm_work_send_for(work, "a job", 5, 1000);
  CHECK(code == YS_OK || code == YS_TIMEOUT);
  sent += code == YS_OK;
  CHECK_IS(works(honest), 0);
  CHECK_IS(ys_shm_work_serve(work, 0), YS_OK);
  CHECK_IS(ys_shm_work_finished(work) + ys_shm_work_unfinished(work), sent);
  return ys_shm_work_workers(work) < 2;
}

static void work_end(void) {
  ys_shm_work_rx_free(worker);
  int code;
  while ((code = ys_shm_work_settle(work, 0)) == YS_TIMEOUT) CHECK_IS(works(honest), 0);
  /* One that is fed by a liar may be out of it too. */
  CHECK(code == YS_OK);
  CHECK_IS(ys_shm_work_finished(work), sent);
  ys_shm_work_free(work), ys_shm_work_rx_free(honest);
}

static void work_of_a_liar_ends(void) { ys_shm_work_rx_free(worker), ys_shm_work_free(work), ys_shm_work_rx_free(honest); }

/* ---- what is tried ---- */

static const scene scenes[] = {
    {lender_lies, borrows, loans_end},   {borrower_lies, lends_again, loans_end}, {hearer_lies, hears_of_its_calls, calls_end},
    {caller_lies, hears_both, calls_end}, {giver_lies, works_for_a_liar, work_of_a_liar_ends}, {worker_lies, gives_to_both, work_end},
};

static void lie_word_by_word(const scene *it) {
  int broken = 0;
  const unsigned step = is_long() ? 1 : 3;
  for (unsigned word = 0; word < WORDS; word++) {
    for (unsigned number = word % step; number < LIES; number += step) {
      memory lying = it->begin();
      for (size_t region = 0; region < lying.count; region++) {
        if (word_of(word) >= lying.words[region]) continue;
        _Atomic uint64_t *at = &lying.start[region][word_of(word)];
        atomic_store_explicit(at, lie(atomic_load_explicit(at, memory_order_relaxed), number), memory_order_relaxed);
      }
      int is_broken = 0;
      for (int times = 0; times < 4; times++) is_broken |= it->use();
      broken += is_broken;
      it->end();
    }
  }
  CHECK(broken > 40);
}

/* Writes anything anywhere in the memory of an end, until it is told to stop. */
typedef struct {
  memory lying;
  uint64_t seed;
  atomic_int is_over;
} scribbler;

static void *scribbling(void *argument) {
  scribbler *it = argument;
  while (!atomic_load(&it->is_over)) {
    const uint64_t random = random_next(&it->seed);
    const size_t region = (size_t)(random >> 4) % it->lying.count, word = word_of((unsigned)(random >> 8) % WORDS);
    if (word < it->lying.words[region])
      atomic_store_explicit(&it->lying.start[region][word], random & 6 ? random >> 40 & 31 : random, memory_order_relaxed);
  }
  return NULL;
}

static void scribble_all_the_time(const scene *it) {
  const unsigned peers = is_long() ? 500 : 8;
  for (unsigned number = 1; number <= peers; number++) {
    scribbler liar = {it->begin(), number * UINT64_C(0x9e3779b97f4a7c15), 0};
    const pthread_t thread = started(scribbling, &liar);
    for (int times = 0; times < 50; times++) it->use();
    atomic_store(&liar.is_over, 1);
    joined(thread);
    it->end();
  }
}

static void a_sender_of_loans_that_lies(void) { lie_word_by_word(&scenes[0]), scribble_all_the_time(&scenes[0]); }
static void a_receiver_of_loans_that_lies(void) { lie_word_by_word(&scenes[1]), scribble_all_the_time(&scenes[1]); }
static void a_receiver_of_questions_that_lies(void) { lie_word_by_word(&scenes[2]), scribble_all_the_time(&scenes[2]); }
static void a_caller_that_lies(void) { lie_word_by_word(&scenes[3]), scribble_all_the_time(&scenes[3]); }
static void a_sender_of_work_that_lies(void) { lie_word_by_word(&scenes[4]), scribble_all_the_time(&scenes[4]); }
static void a_worker_that_lies(void) { lie_word_by_word(&scenes[5]), scribble_all_the_time(&scenes[5]); }

int main(void) {
  RUN_CLEAN(a_sender_of_loans_that_lies);
  RUN_CLEAN(a_receiver_of_loans_that_lies);
  RUN_CLEAN(a_receiver_of_questions_that_lies);
  RUN_CLEAN(a_caller_that_lies);
  RUN_CLEAN(a_sender_of_work_that_lies);
  RUN_CLEAN(a_worker_that_lies);
  return 0;
}
