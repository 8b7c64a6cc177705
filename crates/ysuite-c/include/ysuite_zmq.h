/** @file ysuite_zmq.h
 *  Bridges to other programs and machines over ZeroMQ: each is a thread between channels of this program and a socket of the system's
 *  libzmq. The peer is another bridge, or any program that speaks ZeroMQ. Linux; the library must have been built with the feature `zmq`
 *  (`crates/ysuite-c/install --zmq`), which needs libzmq 4.3.3 or later. ysuite_zmq.hpp has the same as classes. Made by cbindgen from the
 *  library's source, and compared with it by its tests: what is written here by hand is lost.
 *
 *  @code{.c}
 *  // A program gives out jobs.
 *  ys_zmq_options options = YS_ZMQ_OPTIONS_INIT;
 *  options.connect = (const char *const[]){ "tcp://10.0.0.7:5555", NULL };
 *  ys_zmq_bridge *bridge;
 *  ys_zmq_tx *tx;
 *  int code = ys_zmq_push_open(&options, &bridge, &tx);
 *  if (code != YS_OK) return fprintf(stderr, "%s: %s\n", ys_error_text(code), ys_zmq_refusal()), 1;
 *  ys_zmq_send(tx, "hello", 5, -1);                                    // waits while there is no room
 *  size_t unsent;
 *  if (ys_zmq_bridge_close(bridge, 5000000000, &unsent) != YS_OK) fprintf(stderr, "%zu have not left\n", unsent);
 *  ys_zmq_tx_free(tx), ys_zmq_bridge_free(bridge);
 *
 *  // Another one does them.
 *  ys_zmq_options options = YS_ZMQ_OPTIONS_INIT;
 *  options.bind = (const char *const[]){ "tcp://0.0.0.0:5555", NULL };
 *  ys_zmq_bridge *bridge;
 *  ys_zmq_rx *rx;
 *  const void *job;
 *  size_t length;
 *  int code = ys_zmq_pull_open(&options, &bridge, &rx);
 *  while (code == YS_OK && (code = ys_zmq_recv(rx, &job, &length, -1)) == YS_OK) work(job, length);
 *  ys_zmq_rx_free(rx), ys_zmq_bridge_free(bridge);
 *  @endcode
 *
 *  | need | bridges | peers |
 *  |---|---|---|
 *  | work for several programs, to each in turn | ys_zmq_push_open(), ys_zmq_pull_open() | PULL, PUSH |
 *  | events for all that subscribe to a topic | ys_zmq_publish_open(), ys_zmq_subscribe_open() | SUB, PUB |
 *  | questions and their answers | ys_zmq_ask_open(), ys_zmq_answer_open() | REP or ROUTER, REQ or DEALER |
 *  | a channel between two programs, with acknowledgements | ys_zmq_duplex_open() | another duplex |
 *
 *  A message is bytes, in one frame; one of several parts is malformed, is dropped, and is counted, unless the option `parts` says that
 *  messages are lists of them. Of publishers the topic is a part of its own before it, or as `joined_by` says. No peer need be there when a bridge is opened; it connects again whenever a connection ends.
 *  What is guaranteed is said in the documentation of the crate ysuite-zmq.
 *
 *  A bridge is a handle of its own beside those that send and receive. Each is used by one thread at a time, and they by different ones: so
 *  a thread may close the bridge while another waits in a receive, which then returns YS_CLOSED. Handles are freed in any order. The
 *  bridge ends with its ys_zmq_bridge, and is closed before to know whether everything has left. In the checked build a handle that
 *  was freed or that two threads use is found out, and so is a forked child that uses a handle of its parent, where no bridge works.
 *  ThreadSanitizer knows nothing of a bridge's thread: run it with TSAN_OPTIONS=ignore_noninstrumented_modules=1.
 *
 *  Times are nanoseconds in an `int64_t`: 0 never waits, less than 0 waits for ever. These handles have no stopper, and enter no set and no
 *  select: their descriptors are for poll and epoll. In C++20 what receives, sends and asks takes a std::stop_token.
 *
 *  @code{.c}
 *  // In an event loop: receive until YS_EMPTY, arm, and sleep if that says so.
 *  struct pollfd event = { .fd = ys_zmq_rx_fd(rx), .events = POLLIN };
 *  for (;;) {
 *    while ((code = ys_zmq_recv(rx, &job, &length, 0)) == YS_OK) work(job, length);
 *    if (code != YS_EMPTY) break;                                      // it has ended
 *    if (ys_zmq_rx_arm(rx) == 1) poll(&event, 1, -1);
 *  }
 *  @endcode
 */

#ifndef YSUITE_ZMQ_H
#define YSUITE_ZMQ_H

#include <stddef.h>
#include <stdint.h>
#include "ysuite/declarations.h"

/** Options that are all defaults. */
#define YS_ZMQ_OPTIONS_INIT \
  { sizeof(ys_zmq_options), 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0 }

/**
 * What has happened to a bridge.
 */
typedef enum ys_zmq_event {
  /**
   * Something that this header does not know.
   */
  YS_ZMQ_OTHER = 0,
  /**
   * Others can connect to this address.
   */
  YS_ZMQ_LISTENING = 1,
  /**
   * A connection is established, and its handshake has succeeded.
   */
  YS_ZMQ_CONNECTED = 2,
  /**
   * A connection has ended, or was never established.
   */
  YS_ZMQ_DISCONNECTED = 3,
  /**
   * It is tried again.
   */
  YS_ZMQ_RETRYING = 4,
  /**
   * The host of this address is not known.
   */
  YS_ZMQ_UNRESOLVED = 5,
  /**
   * A connection could not be accepted, for want of descriptors most often.
   */
  YS_ZMQ_NOT_ACCEPTED = 6,
  /**
   * The other side does not speak as it must.
   */
  YS_ZMQ_HANDSHAKE_FAILED = 7,
  /**
   * A key was not among those that are admitted.
   */
  YS_ZMQ_REFUSED = 8,
  /**
   * A frame was dropped that is none of ours.
   */
  YS_ZMQ_MALFORMED = 9,
  /**
   * Messages of a duplex were lost with a connection: the text has their number.
   */
  YS_ZMQ_LOST = 10,
  /**
   * A third wanted to take part in a duplex.
   */
  YS_ZMQ_IGNORED = 11,
  /**
   * Another bridge has taken the place of the other side.
   */
  YS_ZMQ_REPLACED = 12,
  /**
   * The bridge has ended, for this reason.
   */
  YS_ZMQ_BROKEN = 13,
} ys_zmq_event;

/**
 * What a publisher does while a subscriber has no room.
 */
typedef enum ys_zmq_when_full {
  /**
   * Drops the message for that subscriber alone.
   */
  YS_ZMQ_DROP = 0,
  /**
   * Drops it for all, and counts that.
   */
  YS_ZMQ_DROP_FOR_ALL = 1,
  /**
   * Waits: one that has stopped stops all.
   */
  YS_ZMQ_WAIT = 2,
} ys_zmq_when_full;

/**
 * Asks by a bridge: of ys_zmq_ask_open. One thread at a time; it may move between threads, and ys_zmq_asker_clone makes one for
 * another thread. Freed by ys_zmq_asker_free.
 */
typedef struct ys_zmq_asker ys_zmq_asker;

/**
 * A bridge at work: one thread of its own between a channel of this program and a socket. One thread at a time uses the handle, and need
 * not be one that sends or receives. Freed by ys_zmq_bridge_free.
 */
typedef struct ys_zmq_bridge ys_zmq_bridge;

/**
 * A question that waits for its answer. It may be answered at any time, in any order, by any thread, one at a time. Freed by
 * ys_zmq_question_free.
 */
typedef struct ys_zmq_question ys_zmq_question;

/**
 * Receives questions by a bridge: of ys_zmq_answer_open. One thread at a time; it may move between threads. Freed by
 * ys_zmq_questions_free.
 */
typedef struct ys_zmq_questions ys_zmq_questions;

/**
 * Receives by a bridge: of ys_zmq_pull_open, ys_zmq_subscribe_open or ys_zmq_duplex_open. One thread at a time; it may move between
 * threads. Freed by ys_zmq_rx_free.
 */
typedef struct ys_zmq_rx ys_zmq_rx;

/**
 * Sends by a bridge: of ys_zmq_push_open, ys_zmq_publish_open or ys_zmq_duplex_open. One thread at a time; it may move between
 * threads. Freed by ys_zmq_tx_free.
 */
typedef struct ys_zmq_tx ys_zmq_tx;

/**
 * Counts of a bridge, from its start on. None of them ever falls.
 */
typedef struct ys_zmq_statistics {
  /**
   * Messages that were handed to libzmq.
   */
  uint64_t messages_out;
  /**
   * Messages that were taken from libzmq.
   */
  uint64_t messages_in;
  /**
   * Frames that were handed to libzmq; all parts of a message are one.
   */
  uint64_t frames_out;
  /**
   * Frames that were taken from libzmq.
   */
  uint64_t frames_in;
  /**
   * Their bytes.
   */
  uint64_t bytes_out;
  /**
   * Their bytes.
   */
  uint64_t bytes_in;
  /**
   * Messages that newer ones have replaced, that a subscriber had no room for, or answers that nobody took.
   */
  uint64_t dropped;
  /**
   * Frames that were not what was expected.
   */
  uint64_t malformed;
  /**
   * Messages that a duplex has sent again.
   */
  uint64_t repeated;
  /**
   * Messages and answers that had come before, and were left out.
   */
  uint64_t duplicates;
} ys_zmq_statistics;

/**
 * The addresses and options of a bridge. Begin with YS_ZMQ_OPTIONS_INIT, which sets the first field, and 0 everywhere else, which is
 * the default. Lists end with NULL. What is no option of a kind of bridge has no effect there. Everything is copied.
 */
typedef struct ys_zmq_options {
  /**
   * sizeof(ys_zmq_options) of the caller's header. Shorter and longer ones are valid, as of ys_options.
   */
  uint32_t struct_size;
  /**
   * Of what receives, not 0: a message that finds no room replaces the oldest one. With a capacity of 1 the newest is kept.
   */
  uint32_t conflate;
  /**
   * Addresses to bind: "tcp://0.0.0.0:5555", "ipc:///run/jobs", "inproc://jobs"; a port of `*` is the system's choice.
   */
  const char *const *bind;
  /**
   * Addresses to connect to, now, and again whenever a connection ends. The peer need not be there yet.
   */
  const char *const *connect;
  /**
   * Of a subscriber: the beginnings of the topics that it asks for. NULL: everything. An empty list: nothing as yet.
   */
  const char *const *topics;
  /**
   * Of publishers and subscribers: topic, this one character and the message are in one part, as in "weather 21". NULL: two parts.
   */
  const char *joined_by;
  /**
   * Messages in the channel between the program and the bridge, in each direction. 0: 1,000.
   */
  size_t capacity;
  /**
   * Messages that libzmq queues on this side of a connection to be sent. 0: 1,000.
   */
  size_t send_mark;
  /**
   * The same, that were received. 0: 1,000.
   */
  size_t receive_mark;
  /**
   * Bytes that the kernel buffers on each tcp connection to be sent. 0: its own choice; either both or none.
   */
  size_t send_buffer;
  /**
   * The same, that were received.
   */
  size_t receive_buffer;
  /**
   * The most bytes of a frame that is received. 0: 64 MiB.
   */
  size_t largest_frame;
  /**
   * Nanoseconds before the first try to connect again, which double from then on. 0: 0.1 seconds.
   */
  int64_t reconnect_first;
  /**
   * The longest time between two tries. 0: 5 seconds.
   */
  int64_t reconnect_longest;
  /**
   * Nanoseconds after which a tcp connection to a machine that answers nothing ends. 0: what the system does.
   */
  int64_t keep_alive;
  /**
   * Of a publisher: a ys_zmq_when_full.
   */
  int when_full;
  /**
   * Of a duplex, not 0: what was not acknowledged is sent again over the next connection.
   */
  int at_least_once;
  /**
   * Of such a duplex: how many messages may be unacknowledged. 0: 65,536.
   */
  size_t unacknowledged;
  /**
   * Of what asks: nanoseconds until a question ends without an answer. 0: 30 seconds.
   */
  int64_t timeout;
  /**
   * How often it is asked again then, or when its connection has ended.
   */
  size_t retries;
  /**
   * How many questions may be without an answer at a time. 0: 256.
   */
  size_t unanswered;
  /**
   * This side's secret key of CURVE, 40 characters of Z85; with one of the next two. NULL: no encryption.
   */
  const char *secret_key;
  /**
   * The public key of the server whose client this is.
   */
  const char *server_key;
  /**
   * The public keys of the clients that this server admits: no others.
   */
  const char *const *client_keys;
  /**
   * Not 0: messages are lists of parts, one at least, as ys_zmq_part has it. 0: a message of several parts is malformed. Both sides of a
   * duplex say the same.
   */
  int parts;
  /**
   * Of publishers and subscribers, not 0: a message comes alone, and is asked for by how it begins. Topics are neither sent nor told.
   */
  int without_topic;
} ys_zmq_options;

/**
 * A part of a message: `length` bytes at this address, which is NULL where there are none.
 */
typedef struct ys_zmq_part {
  /**
   * The first byte.
   */
  const void *bytes;
  /**
   * How many.
   */
  size_t length;
} ys_zmq_part;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Closes a bridge: what was sent still leaves, within a time; nothing more is taken from the network. A thread that waits in a call of its
 * sender, its receiver, its asker or its questions returns with YS_CLOSED, once nothing is left to receive. Waits for about that
 * time at most, or a second longer where libzmq does not end its socket; every later call returns YS_CLOSED.
 *
 * @param bridge the bridge
 * @param ns nanoseconds; less than 0: as long as it takes
 * @param unsent receives how many messages have not left; NULL: it is not asked for
 * @return YS_OK: everything has left, and is with the system's network, or, of a duplex, with the other side; YS_UNSENT: the time was
 *     over before that, or a connection has ended, with which more may have been lost than was counted; YS_CLOSED: it was closed before
 */
int ys_zmq_bridge_close(struct ys_zmq_bridge *bridge,
                        int64_t ns,
                        size_t *unsent);

/**
 * Frees a bridge. One that was not closed ends by itself, and gives what is in transit a second; nobody waits for that.
 *
 * @param bridge the bridge, which is not to be used any more; NULL: nothing is done
 */
void ys_zmq_bridge_free(struct ys_zmq_bridge *bridge);

/**
 * Returns an address at which others can connect: one for each that was bound, with the port that the system has chosen.
 *
 * @param bridge the bridge
 * @param at its index
 * @return a text, which stays until the bridge is closed or freed; NULL: there are no more
 */
const char *ys_zmq_bridge_address(struct ys_zmq_bridge *bridge, size_t at);

/**
 * Reads the counts of what has gone through a bridge so far.
 *
 * @param bridge the bridge
 * @param statistics receives the counts
 * @param size sizeof(ys_zmq_statistics) of the caller's header
 * @return YS_OK; YS_EINVAL; YS_CLOSED: it was closed
 */
int ys_zmq_bridge_statistics(struct ys_zmq_bridge *bridge, struct ys_zmq_statistics *statistics, size_t size);

/**
 * The next event of a bridge and its connections, from its start on. Never waits. The last 1,024 are kept.
 *
 * @param bridge the bridge
 * @param event receives what has happened
 * @param text receives the address of a text, which stays until the next call of this function for this bridge: the address that it is
 *     about, the number of messages, or the reason; NULL: it is not asked for
 * @return YS_OK; YS_EMPTY: nothing more has happened; YS_EINVAL; YS_CLOSED: it was closed, or has ended and all was told
 */
int ys_zmq_bridge_event(struct ys_zmq_bridge *bridge,
                        enum ys_zmq_event *event,
                        const char **text);

/**
 * Makes a subscriber ask for everything whose topic begins so, too. Waits for a short time at most.
 *
 * @param bridge the bridge, of a subscriber
 * @param beginning its bytes; NULL if there are none: everything
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_ENOTSUP: it is no subscriber; YS_CLOSED: it was closed, or has ended
 */
int ys_zmq_bridge_subscribe(struct ys_zmq_bridge *bridge, const void *beginning, size_t length);

/**
 * Makes a subscriber stop asking for this beginning, unless another one that it asks for reaches the same. Waits for a short
 * time at most.
 *
 * @param bridge the bridge, of a subscriber
 * @param beginning its bytes; NULL if there are none
 * @param length how many
 * @return as ys_zmq_bridge_subscribe; YS_OK also where it was not asked for
 */
int ys_zmq_bridge_unsubscribe(struct ys_zmq_bridge *bridge, const void *beginning, size_t length);

/**
 * Waits until a publisher has this number of subscribers that a topic reaches: what is published before one is there never reaches it. A
 * subscriber that is no bridge counts once for each beginning that reaches.
 *
 * @param bridge the bridge, of a publisher; any other has none
 * @param topic its bytes; NULL if there are none
 * @param length how many
 * @param subscribers how many there must be
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_TIMEOUT: they were not there in time, or the bridge has ended; YS_CLOSED: it was closed
 */
int ys_zmq_bridge_wait_subscribers(struct ys_zmq_bridge *bridge,
                                   const void *topic,
                                   size_t length,
                                   size_t subscribers,
                                   int64_t ns);

/**
 * Makes a server of CURVE admit the clients with these keys, and no others, from now on. Connections that are there stay.
 *
 * @param bridge the bridge, which was opened with client_keys
 * @param client_keys public keys, and NULL after them
 * @return YS_OK; YS_EINVAL: no list, or what is no key; YS_ENOTSUP: it is no such server; YS_CLOSED: it was closed
 */
int ys_zmq_bridge_admit(struct ys_zmq_bridge *bridge, const char *const *client_keys);

/**
 * Opens a bridge that sends: each message to one of those that pull, in turn. Its peers are PULL sockets. Never waits for them.
 *
 * @param options addresses and options
 * @param bridge receives the bridge; NULL after an error
 * @param tx receives the sender; NULL after an error
 * @return YS_OK; YS_EINVAL: no address, or options that cannot be; YS_REFUSED_NAME: an address that is misspelled, or cannot be used here;
 *     YS_REFUSED_IN_USE: one that another socket has bound; YS_ENOTSUP: this libzmq has no CURVE; YS_ESYSTEM with the cause in errno.
 *     ys_zmq_refusal has the reason in full
 */
int ys_zmq_push_open(const struct ys_zmq_options *options,
                     struct ys_zmq_bridge **bridge,
                     struct ys_zmq_tx **tx);

/**
 * Opens a bridge that receives from those that push. Its peers are PUSH sockets. Never waits for them.
 *
 * @param options addresses and options
 * @param bridge receives the bridge; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return as ys_zmq_push_open
 */
int ys_zmq_pull_open(const struct ys_zmq_options *options, struct ys_zmq_bridge **bridge, struct ys_zmq_rx **rx);

/**
 * Opens a bridge that publishes: each message to all that have subscribed to a beginning of its topic. Its peers are SUB sockets. Never
 * waits for them.
 *
 * @param options addresses and options
 * @param bridge receives the bridge; NULL after an error
 * @param tx receives the sender; NULL after an error
 * @return as ys_zmq_push_open
 */
int ys_zmq_publish_open(const struct ys_zmq_options *options,
                        struct ys_zmq_bridge **bridge,
                        struct ys_zmq_tx **tx);

/**
 * Opens a bridge that receives what is published. Its peers are PUB sockets. Never waits for them.
 *
 * @param options addresses and options, with the topics that are asked for
 * @param bridge receives the bridge; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return as ys_zmq_push_open
 */
int ys_zmq_subscribe_open(const struct ys_zmq_options *options, struct ys_zmq_bridge **bridge, struct ys_zmq_rx **rx);

/**
 * Opens one side of a duplex: what is sent here is received there, in order, acknowledged, and the other way round. Its peer is one other
 * duplex, of this library in any language. One side binds, the other connects to one address. Never waits for it.
 *
 * @param options addresses and options
 * @param bridge receives the bridge; NULL after an error
 * @param tx receives the sender; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return as ys_zmq_push_open
 */
int ys_zmq_duplex_open(const struct ys_zmq_options *options,
                       struct ys_zmq_bridge **bridge,
                       struct ys_zmq_tx **tx,
                       struct ys_zmq_rx **rx);

/**
 * Opens a bridge that asks, and returns each answer to the thread that has asked. Its peers are REP or ROUTER sockets; of several, each is
 * asked in turn. Never waits for them.
 *
 * @param options addresses and options
 * @param bridge receives the bridge; NULL after an error
 * @param asker receives what asks; NULL after an error
 * @return as ys_zmq_push_open
 */
int ys_zmq_ask_open(const struct ys_zmq_options *options,
                    struct ys_zmq_bridge **bridge,
                    struct ys_zmq_asker **asker);

/**
 * Opens a bridge that receives questions, and sends the answers back. Its peers are REQ or DEALER sockets. Never waits for them.
 *
 * @param options addresses and options
 * @param bridge receives the bridge; NULL after an error
 * @param questions receives the receiver of questions; NULL after an error
 * @return as ys_zmq_push_open
 */
int ys_zmq_answer_open(const struct ys_zmq_options *options, struct ys_zmq_bridge **bridge, struct ys_zmq_questions **questions);

/**
 * Makes a pair of keys of CURVE, from the system's random numbers.
 *
 * @param secret_key room for 41 bytes: receives 40 characters of Z85, and a zero
 * @param public_key the same
 * @return YS_OK; YS_EINVAL; YS_ENOTSUP: this libzmq has no CURVE
 */
int ys_zmq_key_pair(char *secret_key, char *public_key);

/**
 * Sends a message: copies it into the channel to the bridge, from where it goes on. Of a publisher, with the empty topic.
 *
 * @param tx the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @param ns nanoseconds to wait while the channel is full; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_FULL (where ns is 0), YS_TIMEOUT: there was no room; YS_CLOSED: the bridge has ended
 */
int ys_zmq_send(struct ys_zmq_tx *tx, const void *message, size_t length, int64_t ns);

/**
 * Publishes a message, as ys_zmq_send, to those that have subscribed to a beginning of its topic.
 *
 * @param tx the sender, of a publisher
 * @param topic its bytes; NULL if there are none
 * @param topic_length how many
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @param ns as of ys_zmq_send
 * @return as ys_zmq_send; YS_ENOTSUP: the bridge is no publisher, and has no topics
 */
int ys_zmq_publish(struct ys_zmq_tx *tx, const void *topic, size_t topic_length, const void *message, size_t length, int64_t ns);

/**
 * Sends a message of several parts, as ys_zmq_send: it arrives as a whole. The bridge was opened with `parts`.
 *
 * @param tx the sender
 * @param parts the parts, which are copied
 * @param count how many, at least 1
 * @param ns as of ys_zmq_send
 * @return as ys_zmq_send; YS_ENOTSUP: messages have one part here
 */
int ys_zmq_send_parts(struct ys_zmq_tx *tx, const struct ys_zmq_part *parts, size_t count, int64_t ns);

/**
 * Publishes a message of several parts, as ys_zmq_publish. The topic is none of them.
 *
 * @param tx the sender, of a publisher
 * @param topic its bytes; NULL if there are none
 * @param topic_length how many
 * @param parts the parts, which are copied
 * @param count how many, at least 1
 * @param ns as of ys_zmq_send
 * @return as ys_zmq_publish; YS_ENOTSUP also: messages have one part here
 */
int ys_zmq_publish_parts(struct ys_zmq_tx *tx,
                         const void *topic,
                         size_t topic_length,
                         const struct ys_zmq_part *parts,
                         size_t count,
                         int64_t ns);

/**
 * The descriptor of the sender, for poll and epoll, after ys_zmq_tx_arm. It stays the sender's: never read, written or closed.
 *
 * @param tx the sender
 * @return the descriptor; YS_ESYSTEM with the cause in errno: there are no descriptors
 */
int ys_zmq_tx_fd(struct ys_zmq_tx *tx);

/**
 * Says that an event loop, which has sent until YS_FULL, is about to sleep: the descriptor becomes readable when there is room, or
 * the bridge has ended.
 *
 * @param tx the sender
 * @return 1: sleep; 0: do not, there may be something to be done now; or an error, as of ys_zmq_tx_fd
 */
int ys_zmq_tx_arm(struct ys_zmq_tx *tx);

/**
 * Frees a sender. What was sent still leaves, as long as the bridge is there; the receiver of the other side of a duplex sees
 * YS_CLOSED after it.
 *
 * @param tx the sender, which is not to be used any more; NULL: nothing is done
 */
void ys_zmq_tx_free(struct ys_zmq_tx *tx);

/**
 * Receives a message. Nothing is copied: its bytes are lent until the next call of this function for this receiver. Of several parts these
 * are the first; ys_zmq_rx_part has the others.
 *
 * @param rx the receiver
 * @param message receives the address of its first byte; NULL after an error
 * @param length receives how many bytes it has; 0 after an error
 * @param ns nanoseconds to wait while there is none; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; YS_CLOSED: nothing more will come, as the bridge was
 *     closed or has ended, or, of a duplex, the other side's sender was freed
 */
int ys_zmq_recv(struct ys_zmq_rx *rx,
                const void **message,
                size_t *length,
                int64_t ns);

/**
 * A part of the message that was received last, lent as that is. Of a bridge that was opened without `parts` there is one only.
 *
 * @param rx the receiver
 * @param at its index; 0: that which ys_zmq_recv has lent
 * @param length receives how many bytes it has; 0 where there is none
 * @return the address of its first byte; NULL: there are no more parts, or with EINVAL in errno: an error
 */
const void *ys_zmq_rx_part(struct ys_zmq_rx *rx, size_t at, size_t *length);

/**
 * The topic of the message that was received last, lent as that is.
 *
 * @param rx the receiver
 * @param length receives how many bytes it has: 0 of what is no subscriber
 * @return the address of its first byte; NULL after an error, with EINVAL in errno
 */
const void *ys_zmq_rx_topic(struct ys_zmq_rx *rx, size_t *length);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_zmq_rx_arm. It stays the receiver's: never read, written or closed.
 *
 * @param rx the receiver
 * @return the descriptor; YS_ESYSTEM with the cause in errno: there are no descriptors
 */
int ys_zmq_rx_fd(struct ys_zmq_rx *rx);

/**
 * Says that an event loop, which has received until YS_EMPTY, is about to sleep: the descriptor becomes readable when there is a
 * message, or nothing more will come.
 *
 * @param rx the receiver
 * @return 1: sleep; 0: do not, there may be something to be done now; or an error, as of ys_zmq_rx_fd
 */
int ys_zmq_rx_arm(struct ys_zmq_rx *rx);

/**
 * Frees a receiver, and the message that it has lent. The bridge takes no more from the network then.
 *
 * @param rx the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_zmq_rx_free(struct ys_zmq_rx *rx);

/**
 * Asks, and waits for the answer, for so long at most; then it gives up. The answer is lent until the next call of this function or
 * ys_zmq_asker_recv for this asker.
 *
 * @param asker the asker
 * @param question its bytes; NULL if there are none
 * @param length how many
 * @param answer receives the address of the first byte of the answer; NULL after an error
 * @param answered receives how many bytes it has; 0 after an error
 * @param ns nanoseconds; less than 0: as long as the bridge's own time for an answer
 * @return YS_OK; YS_EINVAL; YS_FULL, YS_EMPTY (where ns is 0), YS_TIMEOUT: there was no answer within `ns`; YS_UNANSWERED: there was
 *     none in the bridge's time; YS_DIED: the connection has ended before one came, and the question may have been received; YS_BROKEN:
 *     the answer has several parts; YS_CLOSED: the bridge has ended
 */
int ys_zmq_asker_call(struct ys_zmq_asker *asker,
                      const void *question,
                      size_t length,
                      const void **answer,
                      size_t *answered,
                      int64_t ns);

/**
 * Asks, and goes on. Several questions may be under way at once, whose answers come in any order.
 *
 * @param asker the asker
 * @param question its bytes; NULL if there are none
 * @param length how many
 * @param call receives the number of the question, from 1 on; 0 after an error
 * @param ns nanoseconds to wait while as many questions are without an answer as the bridge allows; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_FULL (where ns is 0), YS_TIMEOUT: it had to wait; YS_CLOSED: the bridge has ended
 */
int ys_zmq_asker_ask(struct ys_zmq_asker *asker,
                     const void *question,
                     size_t length,
                     uint64_t *call,
                     int64_t ns);

/**
 * Asks a question of several parts, as ys_zmq_asker_ask. The bridge was opened with `parts`.
 *
 * @param asker the asker
 * @param parts the parts, which are copied
 * @param count how many, at least 1
 * @param call as of ys_zmq_asker_ask
 * @param ns as of ys_zmq_asker_ask
 * @return as ys_zmq_asker_ask; YS_ENOTSUP: questions have one part here
 */
int ys_zmq_asker_ask_parts(struct ys_zmq_asker *asker, const struct ys_zmq_part *parts, size_t count, uint64_t *call, int64_t ns);

/**
 * A part of the answer that was received last, lent as that is.
 *
 * @param asker the asker
 * @param at its index; 0: that which was lent
 * @param length receives how many bytes it has; 0 where there is none
 * @return the address of its first byte; NULL: there are no more parts, or with EINVAL in errno: an error
 */
const void *ys_zmq_asker_part(struct ys_zmq_asker *asker, size_t at, size_t *length);

/**
 * Receives the answer of a question that was asked by this asker; lent as of ys_zmq_asker_call. Then the question is over, as it is
 * after any error but YS_EMPTY and YS_TIMEOUT.
 *
 * @param asker the asker
 * @param call the number of the question
 * @param answer receives the address of the first byte of the answer; NULL after an error
 * @param length receives how many bytes it has; 0 after an error
 * @param ns nanoseconds; 0: never waits; less than 0: as long as the bridge's own time for an answer
 * @return YS_ERANGE: no question of this asker that is not over has this number; YS_EMPTY (where ns is 0), YS_TIMEOUT: the question goes
 *     on; otherwise as ys_zmq_asker_call
 */
int ys_zmq_asker_recv(struct ys_zmq_asker *asker,
                      uint64_t call,
                      const void **answer,
                      size_t *length,
                      int64_t ns);

/**
 * Gives a question up. If it was not sent yet it will not be. Never waits.
 *
 * @param asker the asker
 * @param call the number of the question
 * @return YS_OK; YS_ERANGE: no question of this asker that is not over has this number
 */
int ys_zmq_asker_give_up(struct ys_zmq_asker *asker, uint64_t call);

/**
 * The descriptor of the asker, for poll and epoll, after ys_zmq_asker_arm. It stays the asker's: never read, written or closed.
 *
 * @param asker the asker
 * @return the descriptor; YS_ESYSTEM with the cause in errno: none is left
 */
int ys_zmq_asker_fd(struct ys_zmq_asker *asker);

/**
 * Says that the asker is about to sleep in an event loop, which has found YS_EMPTY for this question: the descriptor becomes readable
 * when it has an answer, or will have none. Who waits for several questions calls this for each, and where it says 0 tries all of them
 * again.
 *
 * @param asker the asker
 * @param call the number of the question
 * @return 1: sleep; 0: do not, there is something to be done now; YS_ERANGE: no question of this asker that is not over has this number;
 *     YS_ESYSTEM with the cause in errno: no descriptor is left
 */
int ys_zmq_asker_arm(struct ys_zmq_asker *asker,
                     uint64_t call);

/**
 * As ys_zmq_asker_arm, for who has found YS_FULL, and waits until it may ask.
 *
 * @param asker the asker
 * @return 1: sleep; 0: do not, there is something to be done now; YS_ESYSTEM with the cause in errno: no descriptor is left
 */
int ys_zmq_asker_arm_to_ask(struct ys_zmq_asker *asker);

/**
 * Makes another asker of the same bridge, without the questions of this one.
 *
 * @param asker the asker
 * @param to receives the other; NULL after an error
 * @return YS_OK; YS_EINVAL
 */
int ys_zmq_asker_clone(struct ys_zmq_asker *asker, struct ys_zmq_asker **to);

/**
 * Frees an asker, and gives up its questions.
 *
 * @param asker the asker, which is not to be used any more; NULL: nothing is done
 */
void ys_zmq_asker_free(struct ys_zmq_asker *asker);

/**
 * Receives a question.
 *
 * @param questions the receiver
 * @param question receives the question; NULL after an error
 * @param ns nanoseconds to wait while there is none; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; YS_CLOSED: the bridge was closed or has ended
 */
int ys_zmq_questions_recv(struct ys_zmq_questions *questions, struct ys_zmq_question **question, int64_t ns);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_zmq_questions_arm. It stays the receiver's: never read, written or
 * closed.
 *
 * @param questions the receiver
 * @return the descriptor; YS_ESYSTEM with the cause in errno: there are no descriptors
 */
int ys_zmq_questions_fd(struct ys_zmq_questions *questions);

/**
 * Says that an event loop, which has received until YS_EMPTY, is about to sleep: the descriptor becomes readable when there is a
 * question, or the bridge has ended.
 *
 * @param questions the receiver
 * @return 1: sleep; 0: do not, there may be something to be done now; or an error, as of ys_zmq_questions_fd
 */
int ys_zmq_questions_arm(struct ys_zmq_questions *questions);

/**
 * Frees the receiver of questions. The bridge takes no more from the network then; questions that were received can still be answered.
 *
 * @param questions the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_zmq_questions_free(struct ys_zmq_questions *questions);

/**
 * The bytes of a question, which stay until it is answered or freed. Of several parts these are the first.
 *
 * @param question the question
 * @param length receives how many; 0 after an error
 * @return the address of the first; NULL after an error, with EINVAL in errno: it was answered
 */
const void *ys_zmq_question_bytes(struct ys_zmq_question *question, size_t *length);

/**
 * A part of a question, which stays until it is answered or freed. Of a bridge that was opened without `parts` there is one only.
 *
 * @param question the question
 * @param at its index
 * @param length receives how many bytes it has; 0 where there is none
 * @return the address of its first byte; NULL: there are no more parts, or with EINVAL in errno: it was answered
 */
const void *ys_zmq_question_part(struct ys_zmq_question *question, size_t at, size_t *length);

/**
 * Answers a question. Never waits. If the one that asks is gone, or has given up, the answer reaches nobody.
 *
 * @param question the question, which is freed afterwards
 * @param answer its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_CLOSED: it was answered before, or the bridge has ended
 */
int ys_zmq_question_answer(struct ys_zmq_question *question, const void *answer, size_t length);

/**
 * Answers a question with several parts, as ys_zmq_question_answer. The bridge was opened with `parts`.
 *
 * @param question the question, which is freed afterwards
 * @param parts the parts, which are copied
 * @param count how many, at least 1
 * @return as ys_zmq_question_answer; YS_ENOTSUP: answers have one part here
 */
int ys_zmq_question_answer_parts(struct ys_zmq_question *question, const struct ys_zmq_part *parts, size_t count);

/**
 * Frees a question. If it was not answered the one that asks is not told: its time runs out there.
 *
 * @param question the question, which is not to be used any more; NULL: nothing is done
 */
void ys_zmq_question_free(struct ys_zmq_question *question);

/**
 * Why the last call of this thread was refused that has opened a bridge or changed one, or has returned YS_DIED, YS_BROKEN or
 * YS_UNANSWERED, in full. Any thread.
 *
 * @return a text, which stays until this thread is refused again, or ends; empty if it was never refused; not to be
 *     freed
 */
const char *ys_zmq_refusal(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* YSUITE_ZMQ_H */
