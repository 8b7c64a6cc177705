/* A million messages between threads, each checked to come once and in its order, by every way there is. */
#include "check.h"

static uint64_t messages(void) { return is_long() ? 20000000 : 1000000; }

typedef struct wide {
  uint64_t number, twice, rest[6];
} wide;
typedef struct small {
  uint32_t number;
  unsigned char check;
} small;

YS_DEFINE_PIPE(words, uint64_t);
YS_DEFINE_PIPE(wides, wide);
YS_DEFINE_PIPE(smalls, small);
YS_DEFINE_FUNNEL(lanes, wide);
YS_DEFINE_EXCHANGE(marks, uint64_t);

static void *sends_words(void *arg) {
  const words_tx tx = *(words_tx *)arg;
  const uint64_t most = messages();
  for (uint64_t n = 0; n < most; n++) CHECK_IS(words_send(tx, &n), YS_OK);
  words_tx_free(tx);
  return NULL;
}

static void stream_of_words(size_t capacity) {
  words_tx tx;
  words_rx rx;
  uint64_t n, expected = 0;
  CHECK_IS(words_open(capacity, &tx, &rx), YS_OK);
  const pthread_t sender = started(sends_words, &tx);
  while (words_recv(rx, &n) == YS_OK) CHECK_IS(n, expected++);
  CHECK_IS(expected, messages());
  joined(sender);
  words_rx_free(rx);
}

static void words_without_a_bound(void) { stream_of_words(0); }
static void words_with_a_bound(void) { stream_of_words(1000); }
static void words_with_a_bound_of_seven(void) { stream_of_words(7); }

static void *sends_wides(void *arg) {
  const wides_tx tx = *(wides_tx *)arg;
  const uint64_t most = messages() / 2;
  for (uint64_t n = 0; n < most; n++) {
    const wide m = {n, 2 * n, {n, n, n, n, n, ~n}};
    while (wides_try_send(tx, &m) == YS_FULL) CHECK_IS(wides_wait_room(tx, -1), YS_OK);
  }
  wides_tx_free(tx);
  return NULL;
}

/* Slots of a group each, without a mask; tried, not waited for. */
static void wide_messages(void) {
  wides_tx tx;
  wides_rx rx;
  wide m;
  uint64_t expected = 0;
  int answer;
  CHECK_IS(wides_open(500, &tx, &rx), YS_OK);
  const pthread_t sender = started(sends_wides, &tx);
  for (;;) {
    while ((answer = wides_try_recv(rx, &m)) == YS_EMPTY) wides_wait(rx, -1);
    if (answer == YS_CLOSED) break;
    CHECK(m.number == expected && m.twice == 2 * expected && m.rest[4] == expected && m.rest[5] == ~expected);
    expected++;
  }
  CHECK_IS(expected, messages() / 2);
  joined(sender);
  wides_rx_free(rx);
}

static void *sends_in_batches(void *arg) {
  const smalls_tx tx = *(smalls_tx *)arg;
  const uint64_t most = messages();
  small many[33];
  uint64_t state = 88172645463325252u;
  for (uint64_t n = 0; n < most;) {
    size_t count = (size_t)(1 + random_next(&state) % 33);
    if (count > most - n) count = (size_t)(most - n);
    for (size_t i = 0; i < count; i++) many[i] = (small){(uint32_t)(n + i), (unsigned char)((n + i) * 3)};
    CHECK_IS(smalls_send_batch(tx, many, count, -1), count);
    n += count;
  }
  smalls_tx_free(tx);
  return NULL;
}

/* Messages shorter than their slots. */
static void batches(void) {
  smalls_tx tx;
  smalls_rx rx;
  small many[50];
  uint64_t expected = 0;
  ptrdiff_t count;
  CHECK_IS(smalls_open(300, &tx, &rx), YS_OK);
  const pthread_t sender = started(sends_in_batches, &tx);
  while ((count = smalls_recv_batch(rx, many, 50, -1)) > 0)
    for (ptrdiff_t i = 0; i < count; i++, expected++)
      CHECK(many[i].number == (uint32_t)expected && many[i].check == (unsigned char)(expected * 3));
  CHECK_IS(count, YS_CLOSED);
  CHECK_IS(expected, messages());
  joined(sender);
  smalls_rx_free(rx);
}

static void *sends_by_runs(void *arg) {
  const words_tx tx = *(words_tx *)arg;
  const uint64_t most = messages();
  for (uint64_t n = 0; n < most;) {
    words_slot *slots;
    ptrdiff_t room = words_reserve(tx, &slots);
    if (room == YS_FULL) {
      CHECK_IS(words_wait_room(tx, -1), YS_OK);
      continue;
    }
    CHECK(room >= 1);
    if ((uint64_t)room > most - n) room = (ptrdiff_t)(most - n);
    for (ptrdiff_t i = 0; i < room; i++) slots[i].message = n++;
    CHECK_IS(words_commit(tx, (size_t)room), room);
  }
  words_tx_free(tx);
  return NULL;
}

static void runs(void) {
  words_tx tx;
  words_rx rx;
  words_slot *slots;
  uint64_t expected = 0;
  CHECK_IS(words_open(1000, &tx, &rx), YS_OK);
  const pthread_t sender = started(sends_by_runs, &tx);
  while (words_wait(rx, -1) == YS_OK) {
    const ptrdiff_t count = words_peek(rx, &slots);
    CHECK(count >= 1);
    for (ptrdiff_t i = 0; i < count; i++) CHECK_IS(slots[i].message, expected++);
    CHECK_IS(words_consume(rx, (size_t)count), YS_OK);
  }
  CHECK_IS(expected, messages());
  joined(sender);
  words_rx_free(rx);
}

static void *sends_hidden(void *arg) {
  const words_tx tx = *(words_tx *)arg;
  const uint64_t most = messages();
  for (uint64_t n = 0; n < most; n++) {
    CHECK_IS(n % 9 == 8 ? words_send(tx, &n) : words_write(tx, &n), YS_OK);
    if (n % 31 == 0) CHECK_IS(words_flush(tx), YS_OK);
  }
  words_tx_free(tx);
  return NULL;
}

static void hidden_messages_between_others(void) {
  words_tx tx;
  words_rx rx;
  uint64_t n, expected = 0;
  CHECK_IS(words_open(100, &tx, &rx), YS_OK);
  const pthread_t sender = started(sends_hidden, &tx);
  while (words_recv(rx, &n) == YS_OK) CHECK_IS(n, expected++);
  CHECK_IS(expected, messages());
  joined(sender);
  words_rx_free(rx);
}

enum { SENDERS = 3 };

struct lane {
  lanes_tx tx;
  uint64_t name;
};

static void *sends_in_a_lane(void *arg) {
  const struct lane lane = *(struct lane *)arg;
  const uint64_t most = messages() / SENDERS;
  for (uint64_t n = 0; n < most; n++) {
    const wide m = {n, lane.name, {0, 0, 0, 0, 0, n ^ lane.name}};
    CHECK_IS(lanes_send(lane.tx, &m), YS_OK);
  }
  lanes_tx_free(lane.tx);
  return NULL;
}

static void a_funnel_of_three(void) {
  struct lane lane[SENDERS];
  pthread_t sender[SENDERS];
  lanes_rx rx;
  wide m;
  uint64_t next[SENDERS] = {0, 0, 0};
  CHECK_IS(lanes_open(200, &lane[0].tx, &rx), YS_OK);
  for (uint64_t i = 1; i < SENDERS; i++) CHECK_IS(lanes_tx_clone(lane[0].tx, &lane[i].tx), YS_OK);
  for (uint64_t i = 0; i < SENDERS; i++) lane[i].name = i;
  for (uint64_t i = 0; i < SENDERS; i++) sender[i] = started(sends_in_a_lane, &lane[i]);
  while (lanes_recv(rx, &m) == YS_OK) {
    CHECK(m.twice < SENDERS && m.rest[5] == (m.number ^ m.twice));
    CHECK_IS(m.number, next[m.twice]++);
  }
  for (uint64_t i = 0; i < SENDERS; i++) {
    CHECK_IS(next[i], messages() / SENDERS);
    joined(sender[i]);
  }
  lanes_rx_free(rx);
}

struct mark {
  marks_tx tx;
  marks_rx rx;
  uint64_t name, sum, count;
};

static void *sends_marks(void *arg) {
  const struct mark *mark = (const struct mark *)arg;
  const uint64_t most = messages() / 4;
  for (uint64_t n = 0; n < most; n++) {
    const uint64_t word = mark->name << 32 | n;
    CHECK_IS(marks_send(mark->tx, &word), YS_OK);
  }
  marks_tx_free(mark->tx);
  return NULL;
}

static void *receives_marks(void *arg) {
  struct mark *mark = (struct mark *)arg;
  uint64_t word, last[2] = {0, 0};
  while (marks_recv(mark->rx, &word) == YS_OK) {
    const uint64_t number = (word & 0xffffffffu) + 1;
    CHECK(word >> 32 < 2 && number > last[word >> 32]);
    last[word >> 32] = number;
    mark->sum += number;
    mark->count++;
  }
  marks_rx_free(mark->rx);
  return NULL;
}

static void an_exchange_of_two_and_two(void) {
  struct mark out[2], in[2];
  pthread_t thread[4];
  const uint64_t most = messages() / 4;
  memset(out, 0, sizeof out);
  memset(in, 0, sizeof in);
  CHECK_IS(marks_open(100, &out[0].tx, &in[0].rx), YS_OK);
  CHECK_IS(marks_tx_clone(out[0].tx, &out[1].tx), YS_OK);
  CHECK_IS(marks_rx_clone(in[0].rx, &in[1].rx), YS_OK);
  out[1].name = 1;
  for (int i = 0; i < 2; i++) thread[i] = started(sends_marks, &out[i]);
  for (int i = 0; i < 2; i++) thread[2 + i] = started(receives_marks, &in[i]);
  for (int i = 0; i < 4; i++) joined(thread[i]);
  CHECK_IS(in[0].count + in[1].count, 2 * most);
  CHECK_IS(in[0].sum + in[1].sum, most * (most + 1));
}

int main(void) {
  RUN(words_without_a_bound);
  RUN(words_with_a_bound);
  RUN(words_with_a_bound_of_seven);
  RUN(wide_messages);
  RUN(batches);
  RUN(runs);
  RUN(hidden_messages_between_others);
  RUN(a_funnel_of_three);
  RUN(an_exchange_of_two_and_two);
  return 0;
}
