/* A peer that lies: in its hello, in its memory word by word, and all the time from another process. Whatever it writes, the
   calls return the codes that the header has, and nothing behind a buffer is written. */
#include "processes.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* The layout of version 2 of the protocol. */
enum { PAGE = 4096, RING = PAGE, CAPACITY = 128, MAGIC_AT = 0, VERSION_AT = 8, ROLE_AT = 16, SIZE_AT = 24, ALIGN_AT = 32, CAPACITY_AT = 40, BYTES_AT = 48, NAME_AT = 64, FLAGS_AT = 80 };
enum { ASLEEP = 128, FENCED = 256, CONSUMED = 384, CLOSED = 512, PUBLISHED = 640 };
enum { SENDER = 0, RECEIVER = 1, BYTES = 1 };
enum { ALL_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | 0x10 /* F_SEAL_FUTURE_WRITE */ };

/* An end that is not this library's. */
typedef struct {
  int socket, memory, bell;
  size_t bytes;
  _Atomic uint64_t *words;
} liar;

static void put(const liar *it, size_t at, uint64_t value) { atomic_store_explicit(&it->words[at / 8], value, memory_order_relaxed); }

static uint64_t got(const liar *it, size_t at) { return atomic_load_explicit(&it->words[at / 8], memory_order_relaxed); }

/* Honest so far; its memory has these seals. `socket` is what the end that is tried takes over. */
static liar made(int role, int seals, int *socket) {
  liar it;
  int ends[2];
  uint64_t magic;
  CHECK_IS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  *socket = ends[0], it.socket = ends[1];
  it.bytes = role == SENDER ? 2 * PAGE : PAGE;
  it.memory = memfd_create("liar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  CHECK(it.memory >= 0);
  CHECK_IS(posix_fallocate(it.memory, 0, (off_t)it.bytes), 0);
  void *start = mmap(NULL, it.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, it.memory, 0);
  CHECK(start != MAP_FAILED);
  it.words = (_Atomic uint64_t *)start;
  CHECK_IS(fcntl(it.memory, F_ADD_SEALS, seals), 0);
  it.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  memcpy(&magic, "ysshm\0\0\1", 8);
  put(&it, VERSION_AT, UINT64_C(0x20000));
  put(&it, ROLE_AT, (uint64_t)role << 8 | BYTES), put(&it, SIZE_AT, 1), put(&it, ALIGN_AT, 1);
  put(&it, CAPACITY_AT, role == SENDER ? CAPACITY : 0), put(&it, BYTES_AT, it.bytes);
  /* The hash of no name. */
  put(&it, NAME_AT, UINT64_C(0x62b821756295c58d)), put(&it, NAME_AT + 8, UINT64_C(0x6c62272e07bb0142));
  put(&it, FENCED, 1), put(&it, MAGIC_AT, magic);
  return it;
}

static void freed(liar *it) {
  munmap((void *)it->words, it->bytes);
  close(it->memory), close(it->bell);
  if (it->socket >= 0) close(it->socket);
}

/* A packet as a hello has it: what it says, and its flags. */
typedef struct {
  uint64_t words[3];
} packet;

static packet hello_of(uint32_t flags, uint64_t what) {
  packet it;
  memcpy(&it.words[0], "ysshm\0he", 8);
  it.words[1] = UINT64_C(0x20000) << 32 | flags, it.words[2] = what;
  return it;
}

enum { MOST_DESCRIPTORS = 4 };

static void say(int socket, const void *bytes, size_t length, const int *descriptors, size_t count) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
  } control;
  struct iovec part = {(void *)(uintptr_t)bytes, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  memset(&control, 0, sizeof control);
  if (count > 0) {
    control.head.cmsg_level = SOL_SOCKET, control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.head), descriptors, count * sizeof(int));
    message.msg_control = &control, message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  }
  CHECK_IS(sendmsg(socket, &message, MSG_NOSIGNAL), length);
}

static void says_hello(const liar *it) {
  const packet hello = hello_of(0, 0);
  const int descriptors[2] = {it->memory, it->bell};
  say(it->socket, &hello, sizeof hello, descriptors, 2);
}

/* ---- what is tried ---- */

/* What this receiver says in every way of receiving, again and again; it is the same. */
static void fails_for_ever(ys_shm_rx *rx, int code) {
  char room[64];
  size_t length = 7;
  for (int times = 0; times < 2; times++) {
    CHECK_IS(ys_shm_try_recv(rx, room, sizeof room, &length), code);
    CHECK_IS(length, 0);
    CHECK_IS(ys_shm_recv(rx, room, sizeof room, &length), code);
    CHECK_IS(ys_shm_recv_for(rx, NULL, 0, &length, LONG_TIME), code);
    CHECK_IS(ys_shm_rx_arm(rx), 0);
  }
  CHECK(code > YS_REFUSED || strlen(ys_shm_refusal()) > 0);
  CHECK(strlen(ys_error_text(code)) > 0);
}

/* Of a sender, which fills its channel before it hears of anybody. */
static void sends_no_more(ys_shm_tx *tx, int code) {
  char message[8] = {0};
  int said;
  while ((said = ys_shm_send_for(tx, message, sizeof message, LONG_TIME)) == YS_OK) {}
  CHECK_IS(said, code);
  CHECK_IS(ys_shm_try_send(tx, message, 1), code);
  CHECK_IS(ys_shm_send(tx, message, 1), code);
  CHECK_IS(ys_shm_tx_is_closed(tx), 1);
  CHECK_IS(ys_shm_tx_arm(tx, 1), 0);
}

static ys_shm_rx *receiver(int socket) {
  ys_shm_rx *rx;
  CHECK_IS(ys_shm_rx_open(socket, NULL, &rx), YS_OK);
  return rx;
}

static ys_shm_tx *sender(int socket) {
  ys_shm_tx *tx;
  CHECK_IS(ys_shm_tx_open(socket, CAPACITY, NULL, &tx), YS_OK);
  return tx;
}

/* The end that is tried, the other one of the liar's, ends with this code. */
static void is_answered(liar *it, int socket, int role, int code) {
  if (role == SENDER) {
    ys_shm_rx *rx = receiver(socket);
    fails_for_ever(rx, code);
    ys_shm_rx_free(rx);
  } else {
    ys_shm_tx *tx = sender(socket);
    sends_no_more(tx, code);
    ys_shm_tx_free(tx);
  }
  freed(it);
}

static void an_honest_one_is_believed(void) {
  int socket;
  char room[16];
  size_t length;
  liar it = made(SENDER, ALL_SEALS, &socket);
  ys_shm_rx *rx = receiver(socket);
  says_hello(&it);
  put(&it, RING, 5);
  memcpy((char *)(uintptr_t)it.words + RING + 8, "hello", 5);
  put(&it, PUBLISHED, 16);
  CHECK_IS(ys_shm_recv(rx, room, sizeof room, &length), YS_OK);
  CHECK(length == 5 && memcmp(room, "hello", 5) == 0);
  put(&it, CLOSED, 1);
  fails_for_ever(rx, YS_CLOSED);
  ys_shm_rx_free(rx), freed(&it);

  it = made(RECEIVER, ALL_SEALS, &socket);
  ys_shm_tx *tx = sender(socket);
  says_hello(&it);
  for (unsigned number = 0; number < 100; number++) {
    CHECK_IS(ys_shm_try_send(tx, "hello", 5), YS_OK);
    put(&it, CONSUMED, (number + 1) * 16);
  }
  close(it.socket), it.socket = -1;
  sends_no_more(tx, YS_DIED);
  ys_shm_tx_free(tx), freed(&it);
}

/* Which descriptors go with a packet. */
enum { NONE = -1, MEMORY = -2, BELL = -3, PIPE = -4 };

/* A packet, and what the end is told that gets it instead of a hello. */
typedef struct {
  packet says;
  size_t length;
  int descriptors[MOST_DESCRIPTORS];
  int code;
} answer;

static answer answer_of(const packet *says, size_t length, const int *descriptors, int code) {
  answer it = {*says, length, {NONE, NONE, NONE, NONE}, code};
  for (int at = 0; at < MOST_DESCRIPTORS && descriptors[at] != NONE; at++) it.descriptors[at] = descriptors[at];
  return it;
}

static void is_refused(const answer *it_says, int role) {
  int socket, ends[2], descriptors[MOST_DESCRIPTORS];
  size_t count = 0;
  char byte, bytes[100] = {0};
  liar it = made(role, ALL_SEALS, &socket);
  CHECK_IS(pipe2(ends, O_CLOEXEC), 0);
  for (; count < MOST_DESCRIPTORS && it_says->descriptors[count] != NONE; count++) {
    const int which = it_says->descriptors[count];
    descriptors[count] = which == MEMORY ? it.memory : which == BELL ? it.bell : ends[1];
  }
  memcpy(bytes, &it_says->says, sizeof it_says->says);
  say(it.socket, bytes, it_says->length, descriptors, count);
  is_answered(&it, socket, role, it_says->code);
  /* Nobody has kept the end that was sent. */
  close(ends[1]);
  CHECK_IS(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

/* A packet that is none, or has not what belongs to it. */
static void lies_in_a_hello_are_refused(void) {
  static const int right[] = {MEMORY, BELL, NONE}, none[] = {NONE}, memory[] = {MEMORY, NONE};
  static const int many[] = {MEMORY, BELL, BELL, BELL}, file[] = {MEMORY, PIPE, NONE}, third[] = {MEMORY, BELL, PIPE, NONE};
  static const int swapped[] = {BELL, MEMORY, NONE}, no_memory[] = {PIPE, BELL, NONE}, two[] = {MEMORY, MEMORY, BELL, NONE};
  const packet hello = hello_of(0, 0), careful = hello_of(1, 0), flag = hello_of(4, 0), shared = hello_of(2, 0);
  const packet closes = hello_of(0, 1), refuses = hello_of(0, 2 | UINT64_C(4) << 32), unknown = hello_of(0, 77);
  packet version = hello, magic = hello;
  version.words[1] = UINT64_C(0x30000) << 32, magic.words[0]++;
  const answer answers[] = {
      answer_of(&hello, 7, right, YS_REFUSED_MAGIC),       answer_of(&hello, 16, right, YS_REFUSED_PACKET),
      answer_of(&hello, 100, right, YS_REFUSED_PACKET),    answer_of(&magic, 24, right, YS_REFUSED_MAGIC),
      answer_of(&version, 24, right, YS_REFUSED_VERSION),  answer_of(&flag, 24, right, YS_REFUSED_PACKET),
      answer_of(&unknown, 24, right, YS_REFUSED_PACKET),   answer_of(&hello, 24, none, YS_REFUSED_PACKET),
      answer_of(&hello, 24, memory, YS_REFUSED_PACKET),    answer_of(&hello, 24, many, YS_REFUSED_PACKET),
      answer_of(&hello, 24, file, YS_REFUSED_PACKET),      answer_of(&hello, 24, third, YS_REFUSED_PACKET),
      answer_of(&hello, 24, swapped, YS_REFUSED_MEMORY),   answer_of(&hello, 24, no_memory, YS_REFUSED_MEMORY),
      answer_of(&careful, 24, right, YS_REFUSED_PACKET),   answer_of(&shared, 24, two, YS_REFUSED_PACKET),
      answer_of(&refuses, 24, none, YS_REFUSED_BY_PEER),   answer_of(&closes, 24, none, YS_CLOSED),
  };
  for (int role = SENDER; role <= RECEIVER; role++) {
    for (size_t at = 0; at < sizeof answers / sizeof *answers; at++) is_refused(&answers[at], role);
    /* It says nothing, and goes. */
    int socket;
    liar it = made(role, ALL_SEALS, &socket);
    close(it.socket), it.socket = -1;
    is_answered(&it, socket, role, YS_DIED);
  }
}

static void headers_are_checked(int role) {
  const struct {
    size_t at;
    uint64_t value;
    int code;
  } cases[] = {
      {MAGIC_AT, 5, YS_REFUSED_MAGIC},
      {VERSION_AT, 0x90000, YS_REFUSED_VERSION},
      /* Of the same end as the one that is tried. */
      {ROLE_AT, (uint64_t)(role == SENDER ? RECEIVER : SENDER) << 8 | BYTES, YS_REFUSED_ROLE},
      {ROLE_AT, 0x400, YS_REFUSED_KIND},
      {ROLE_AT, 7, YS_REFUSED_KIND},
      {SIZE_AT, 2, YS_REFUSED_TYPE},
      {ALIGN_AT, 8, YS_REFUSED_TYPE},
      {NAME_AT, 1, YS_REFUSED_TYPE},
      {FLAGS_AT, 2, YS_REFUSED_VERSION},
      {BYTES_AT, 3 * PAGE, YS_REFUSED_SIZE},
  };
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    int socket;
    liar it = made(role, ALL_SEALS, &socket);
    put(&it, cases[at].at, cases[at].value);
    says_hello(&it);
    is_answered(&it, socket, role, cases[at].code);
  }
}

static void memory_in_a_hello_is_checked(void) {
  int socket;
  liar it;
  for (int role = SENDER; role <= RECEIVER; role++) {
    headers_are_checked(role);
    for (int seal = F_SEAL_SEAL; seal <= 0x10; seal <<= 1) {
      if ((ALL_SEALS & seal) == 0) continue;
      it = made(role, ALL_SEALS & ~seal, &socket);
      says_hello(&it);
      is_answered(&it, socket, role, YS_REFUSED_SEALS);
    }
    /* Pages that are not there. */
    it = made(role, 0, &socket);
    CHECK_IS(fallocate(it.memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(it.bytes - PAGE), PAGE), 0);
    CHECK_IS(fcntl(it.memory, F_ADD_SEALS, ALL_SEALS), 0);
    says_hello(&it);
    is_answered(&it, socket, role, YS_REFUSED_HOLES);
  }
  /* The last one could be, of another size. */
  static const uint64_t capacities[] = {0, 7, 8, 129, UINT64_MAX, UINT64_C(1) << 61};
  for (size_t at = 0; at < sizeof capacities / sizeof *capacities; at++) {
    it = made(SENDER, ALL_SEALS, &socket);
    put(&it, CAPACITY_AT, capacities[at]);
    says_hello(&it);
    is_answered(&it, socket, SENDER, capacities[at] == UINT64_C(1) << 61 ? YS_REFUSED_SIZE : YS_REFUSED_CAPACITY);
  }
}

/* Receives into rooms of all sizes: within them, and no more than a ring full. */
static int receives_within(ys_shm_rx *rx, size_t room) {
  unsigned char to[CAPACITY + 16];
  size_t length, all = 0;
  int code;
  do {
    memset(to, 0xaa, sizeof to);
    code = ys_shm_try_recv(rx, to, room, &length);
    for (size_t at = room; at < sizeof to; at++) CHECK_IS(to[at], 0xaa);
    CHECK(code != YS_ETOOLONG || (length > room && length <= CAPACITY));
    CHECK(code != YS_OK || length <= room);
    CHECK(code == YS_OK || code == YS_ETOOLONG || length == 0);
    all += length + 8;
  } while (code == YS_OK && all <= CAPACITY + 8);
  CHECK(code != YS_OK);
  return code;
}

static void a_sender_that_lies_word_by_word(void) {
  static const size_t words[] = {ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED, RING, RING + 8, RING + 16, RING + CAPACITY - 8};
  int broken = 0;
  for (size_t at = 0; at < sizeof words / sizeof *words; at++) {
    for (unsigned number = 0; number < LIES; number++) {
      int socket;
      liar it = made(SENDER, ALL_SEALS, &socket);
      ys_shm_rx *rx = receiver(socket);
      says_hello(&it);
      put(&it, RING, 5), put(&it, RING + 16, 9), put(&it, PUBLISHED, 40);
      put(&it, words[at], lie(got(&it, words[at]), number));
      const int code = receives_within(rx, number % (CAPACITY + 1));
      if (code == YS_BROKEN) {
        broken++;
        /* Whatever it writes now. */
        put(&it, RING, 5), put(&it, RING + 16, 9), put(&it, PUBLISHED, 40);
        fails_for_ever(rx, YS_BROKEN);
      } else {
        CHECK(code == YS_EMPTY || code == YS_ETOOLONG || (words[at] == CLOSED && (code == YS_CLOSED || code == YS_REFUSED_BY_PEER)));
      }
      ys_shm_rx_free(rx), freed(&it);
    }
  }
  CHECK(broken > 200);
}

static void a_receiver_that_lies_word_by_word(void) {
  static const size_t words[] = {ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED};
  int broken = 0;
  for (size_t at = 0; at < sizeof words / sizeof *words; at++) {
    for (unsigned number = 0; number < LIES; number++) {
      int socket, code;
      unsigned sent = 0;
      liar it = made(RECEIVER, ALL_SEALS, &socket);
      ys_shm_tx *tx = sender(socket);
      says_hello(&it);
      while (ys_shm_try_send(tx, "8 bytes.", 8) == YS_OK) {}
      put(&it, CONSUMED, 64);
      put(&it, words[at], lie(got(&it, words[at]), number));
      while ((code = ys_shm_try_send(tx, "8 bytes.", 8)) == YS_OK) sent++;
      CHECK(sent <= CAPACITY / 16);
      if (code == YS_BROKEN) {
        broken++;
        put(&it, CONSUMED, 64);
        sends_no_more(tx, YS_BROKEN);
      } else {
        CHECK(code == YS_FULL || (words[at] == CLOSED && (code == YS_CLOSED || code == YS_REFUSED_BY_PEER)));
      }
      ys_shm_tx_free(tx), freed(&it);
    }
  }
  CHECK(broken > 70);
}

/* A lane whose sender lies ends, says why, and takes nothing with it. */
static void a_liar_among_the_senders_of_a_funnel(void) {
  ys_shm_funnel *funnel;
  uint64_t innocent, liars, sender_of;
  char room[64];
  size_t length;
  int why, socket;
  CHECK_IS(ys_shm_funnel_open(NULL, NULL, &funnel), YS_OK);
  ys_shm_tx *tx;
  CHECK_IS(ys_shm_tx_open(ys_shm_funnel_seat(funnel, &innocent), CAPACITY, NULL, &tx), YS_OK);
  for (unsigned number = 0; number < LIES; number++) {
    liar it = made(SENDER, ALL_SEALS, &socket);
    close(socket), close(it.socket);
    it.socket = ys_shm_funnel_seat(funnel, &liars);
    says_hello(&it);
    put(&it, RING, 200), put(&it, PUBLISHED, lie(40, number));
    CHECK_IS(ys_shm_send(tx, "hello", 5), YS_OK);
    CHECK_IS(ys_shm_funnel_recv(funnel, room, sizeof room, &length, &sender_of), YS_OK);
    CHECK(sender_of == innocent && length == 5 && memcmp(room, "hello", 5) == 0);
    CHECK_IS(ys_shm_funnel_try_recv(funnel, room, sizeof room, &length, &sender_of), YS_EMPTY);
    /* One that says that it has published nothing has not lied yet. */
    if (got(&it, PUBLISHED) == 0) close(it.socket), it.socket = -1;
    struct pollfd ready = {.fd = ys_shm_funnel_fd(funnel), .events = POLLIN};
    while (ys_shm_funnel_next_ended(funnel, &sender_of, &why) != YS_OK) {
      if (ys_shm_funnel_arm(funnel) == 1) CHECK_IS(poll(&ready, 1, 60000), 1);
      CHECK_IS(ys_shm_funnel_try_recv(funnel, room, sizeof room, &length, NULL), YS_EMPTY);
    }
    CHECK(sender_of == liars && why == (it.socket < 0 ? YS_DIED : YS_BROKEN));
    freed(&it);
  }
  CHECK_IS(ys_shm_funnel_senders(funnel), 1);
  ys_shm_tx_free(tx);
  ys_shm_funnel_free(funnel);
}

/* A process that writes anything anywhere in its memory, until it is killed. */
static pid_t scribbling(const liar *it, uint64_t seed) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (;;) {
      const uint64_t random = random_next(&seed);
      static const size_t words[] = {ASLEEP, FENCED, CONSUMED, PUBLISHED};
      const size_t at = random & 1 ? words[random >> 8 & 3] : RING + (random >> 8) % (CAPACITY / 8) * 8;
      if (at < it->bytes) put(it, at, random & 6 ? random >> 40 & 31 : random);
    }
  }
  return child;
}

static void peers_that_scribble_all_the_time(void) {
  const unsigned peers = is_long() ? 2000 : 40;
  for (unsigned number = 1; number <= peers; number++) {
    int socket;
    char room[64], message[24] = {0};
    size_t length;
    liar it = made(number % 2 ? SENDER : RECEIVER, ALL_SEALS, &socket);
    says_hello(&it);
    const pid_t child = scribbling(&it, number * UINT64_C(0x9e3779b97f4a7c15));
    ys_shm_rx *rx = NULL;
    ys_shm_tx *tx = NULL;
    if (number % 2) rx = receiver(socket);
    else tx = sender(socket);
    int code = YS_OK;
    for (unsigned times = 0; times < 200 && code != YS_BROKEN; times++) {
      code = rx != NULL ? ys_shm_recv_for(rx, room, times % 65, &length, MILLISECOND) : ys_shm_send_for(tx, message, times % 25, MILLISECOND);
      CHECK(code == YS_OK || code == YS_TIMEOUT || code == YS_EMPTY || code == YS_FULL || code == YS_ETOOLONG || code == YS_BROKEN);
    }
    CHECK_IS(kill(child, SIGKILL), 0);
    ended(child, SIGKILL);
    ys_shm_rx_free(rx), ys_shm_tx_free(tx), freed(&it);
  }
}

int main(void) {
  RUN_CLEAN(an_honest_one_is_believed);
  RUN_CLEAN(lies_in_a_hello_are_refused);
  RUN_CLEAN(memory_in_a_hello_is_checked);
  RUN_CLEAN(a_sender_that_lies_word_by_word);
  RUN_CLEAN(a_receiver_that_lies_word_by_word);
  RUN_CLEAN(a_liar_among_the_senders_of_a_funnel);
  RUN_CLEAN(peers_that_scribble_all_the_time);
  return 0;
}
