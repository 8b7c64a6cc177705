/** @file ysuite/declarations.h
 *  Every type and function of the library. Made by cbindgen from the library's source, and compared with it by its tests: what
 *  is written here by hand is lost. Include ysuite.h.
 */

#ifndef YSUITE_DECLARATIONS_H
#define YSUITE_DECLARATIONS_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of the windows that this header's inline functions know. A library that does not know it opens none.
 */
#define YS_WINDOW_VERSION 2

/**
 * How a call went. All errors are negative and counts are not, so one return value carries either.
 */
typedef enum ys_code {
  /**
   * It went well.
   */
  YS_OK = 0,
  /**
   * The channel is closed: nothing sent will be received, or nothing more will come.
   */
  YS_CLOSED = -1,
  /**
   * There is no room now.
   */
  YS_FULL = -2,
  /**
   * There is no message now.
   */
  YS_EMPTY = -3,
  /**
   * The time was up.
   */
  YS_TIMEOUT = -4,
  /**
   * A null pointer, or a size, an alignment, a count or a set of options that cannot be.
   */
  YS_EINVAL = -5,
  /**
   * There is no memory.
   */
  YS_ENOMEM = -6,
  /**
   * The system refuses; `errno` has the cause.
   */
  YS_ESYSTEM = -7,
  /**
   * The handle is attached already; or, when it is taken out, it is not attached here.
   */
  YS_EATTACHED = -8,
  /**
   * The id belongs to another handle.
   */
  YS_ETAKEN = -9,
  /**
   * The set does not have this id.
   */
  YS_ERANGE = -10,
  /**
   * More senders or handles than allowed, or a message longer than its block.
   */
  YS_ETOOMANY = -11,
  /**
   * This kind of channel or set cannot do that.
   */
  YS_ENOTSUP = -12,
  /**
   * A callback has panicked here, now or before. The handle refuses everything from then on, but can be freed.
   */
  YS_EPANIC = -13,
  /**
   * Only in the checked build: another thread is inside this handle. Of a hub in any: a callback that drops a context may not use it.
   */
  YS_EBUSY = -14,
  /**
   * Only in the checked build: the handle was freed.
   */
  YS_EFREED = -15,
  /**
   * It would have had to wait, and ys_stop has ended that.
   */
  YS_STOPPED = -16,
  /**
   * Messages of a broadcast are lost, because this receiver was too slow: ys_rx_missed. The next call goes on with
   * the oldest that is there, or between processes with the newest.
   */
  YS_LAGGED = -17,
  /**
   * Between processes: the other end's process died, executed another program, or lost its end without a word. All
   * that it had sent was received before.
   */
  YS_DIED = -18,
  /**
   * Between processes: the other end has written into its memory what no end of this library writes. Nothing of it is
   * believed any more.
   */
  YS_BROKEN = -19,
  /**
   * Between processes: a message has more bytes than the buffer has room for, and stays in the channel; or more than
   * the channel has.
   */
  YS_ETOOLONG = -20,
  /**
   * Between processes: there is no connection, for a reason that has no code of its own. For this code and those
   * called YS_REFUSED_, ys_shm_refusal, or of bridges ys_zmq_refusal, has the reason in full; a system call that has
   * failed is YS_ESYSTEM.
   */
  YS_REFUSED = -21,
  /**
   * The kernel is older than Linux 5.1.
   */
  YS_REFUSED_KERNEL = -22,
  /**
   * What the peer has sent as its memory is not a memfd of ordinary pages.
   */
  YS_REFUSED_MEMORY = -23,
  /**
   * The peer's memory lacks a seal.
   */
  YS_REFUSED_SEALS = -24,
  /**
   * The peer's memory has another size than its header says, or than this end accepts.
   */
  YS_REFUSED_SIZE = -25,
  /**
   * The peer's memory has pages that are not there yet.
   */
  YS_REFUSED_HOLES = -26,
  /**
   * The peer speaks another protocol.
   */
  YS_REFUSED_MAGIC = -27,
  /**
   * The peer speaks another version of the protocol.
   */
  YS_REFUSED_VERSION = -28,
  /**
   * The peer is the same end of the channel: both send, or both receive.
   */
  YS_REFUSED_ROLE = -29,
  /**
   * The peer's channel is of another kind.
   */
  YS_REFUSED_KIND = -30,
  /**
   * The peer's messages have another size, alignment or name.
   */
  YS_REFUSED_TYPE = -31,
  /**
   * A capacity is too small or too large, here or at the peer: of messages, bytes, slots, calls or jobs.
   */
  YS_REFUSED_CAPACITY = -32,
  /**
   * The peer has sent a malformed packet, or other descriptors than belong to it; or the descriptor is no socket of this kind.
   */
  YS_REFUSED_PACKET = -33,
  /**
   * A process of this user may not be at the other end.
   */
  YS_REFUSED_USER = -34,
  /**
   * The peer has said nothing for too long; or, for a second, a listener's queue stayed full or the folder of a name locked.
   */
  YS_REFUSED_TIME = -35,
  /**
   * Another program listens at this name.
   */
  YS_REFUSED_IN_USE = -36,
  /**
   * The name cannot be used: it is empty, too long, or a file that is no socket.
   */
  YS_REFUSED_NAME = -37,
  /**
   * The peer has refused this end.
   */
  YS_REFUSED_BY_PEER = -38,
  /**
   * Between processes: the question was dropped without an answer. By a bridge: there was none in time. It is no refusal.
   */
  YS_UNANSWERED = -39,
  /**
   * A bridge was closed before everything had left.
   */
  YS_UNSENT = -40,
} ys_code;

/**
 * What a handle does before it sleeps.
 */
typedef enum ys_spin {
  /**
   * It sleeps at once.
   */
  YS_SPIN_NONE = 0,
  /**
   * It polls for a while, as long as that has paid.
   */
  YS_SPIN_ADAPTIVE = 1,
  /**
   * It never sleeps: for a thread that has a CPU for itself.
   */
  YS_SPIN_FOREVER = 2,
} ys_spin;

/**
 * What a descriptor is watched for, and what it is ready for: bits.
 */
typedef enum ys_hub_ready {
  /**
   * There is something to read, or the end of the input.
   */
  YS_HUB_READABLE = 1,
  /**
   * There is room to write, or the other side is closed.
   */
  YS_HUB_WRITABLE = 2,
  /**
   * The descriptor has failed. Alone: it was closed without being removed, and this call is the last.
   */
  YS_HUB_ERROR = 4,
} ys_hub_ready;

/**
 * One thread's event loop. One thread at a time; it may be opened by one and run by another. Freed by ys_hub_free.
 */
typedef struct ys_hub ys_hub;

/**
 * Posts functions to a hub. One thread at a time; ys_hub_poster_clone makes one for another thread. Freed by
 * ys_hub_poster_free.
 */
typedef struct ys_hub_poster ys_hub_poster;

/**
 * A pool of blocks for messages of any length up to a bound. Any number of threads at once. Freed by ys_pool_free.
 */
typedef struct ys_pool ys_pool;

/**
 * A receiver. One thread at a time; it may move between threads. Freed by ys_rx_free.
 */
typedef struct ys_rx ys_rx;

/**
 * Waits for one of several handles, of any channels: receivers that may have a message, senders that may have
 * room. One thread at a time; it may move between threads. Freed by ys_select_free.
 */
typedef struct ys_select ys_select;

/**
 * A set of signals, which one thread waits for and any thread raises, and to which handles of channels can be
 * attached. One thread at a time; it may move between threads. Freed by ys_set_free.
 */
typedef struct ys_set ys_set;

/**
 * A sender that any number of threads use at once. Freed by ys_shared_free.
 */
typedef struct ys_shared ys_shared;

/**
 * Raises signals of a set. Any number of threads at once. Freed by ys_signaler_free.
 */
typedef struct ys_signaler ys_signaler;

/**
 * Ends the waits of a channel, a set, a select or a pool. Any number of threads at once. Freed by ys_stopper_free.
 */
typedef struct ys_stopper ys_stopper;

/**
 * A moment, or one after the other. Any number of threads at once. Freed by ys_timer_free.
 */
typedef struct ys_timer ys_timer;

/**
 * A sender. One thread at a time; it may move between threads. Freed by ys_tx_free.
 */
typedef struct ys_tx ys_tx;

/**
 * What a channel is to be like. Begin with YS_OPTIONS_INIT, which sets the first two fields, and 0 everywhere else.
 */
typedef struct ys_options {
  /**
   * sizeof(ys_options) of the caller's header. An older, shorter one is valid: what it does not have counts as 0. A newer one
   * is valid too: what this library does not know is ignored.
   */
  uint32_t struct_size;
  /**
   * YS_WINDOW_VERSION of the caller's header, or 0: there is to be no inline path. One that is unknown to the library is as 0.
   */
  uint32_t window;
  /**
   * How many bytes a message has: 1 to 128. A larger message goes by its address, for example one of a ys_pool.
   */
  size_t size;
  /**
   * What messages are aligned to, in bytes: a power of two, at most 16. 0 is 8.
   */
  size_t align;
  /**
   * How many messages can be in the channel; in an mpsc channel, of each sender. 0: no bound. More than PTRDIFF_MAX,
   * as a number less than 0 becomes, is YS_EINVAL.
   */
  size_t capacity;
  /**
   * Only in a bounded mpsc channel: how many senders there can be at a time. 0: no limit. More than 262,080 is YS_EINVAL.
   */
  size_t senders;
  /**
   * Called once for each message that is never received, on the thread that finds it, with its address and the
   * context. In an spsc or mpsc channel that is the slot in which it was written; mpmc channels and oneshots move
   * messages. May be NULL.
   *
   * It must not use the handle whose call has led to it; it may use others. An exception of C++ that leaves it ends
   * the process. A panic of Rust that leaves it is caught: the call returns YS_EPANIC, as do all later ones with
   * that handle. Whether a message that such a call was given is in the channel, has been dropped, or neither, is
   * not known: it must not be used any more.
   */
  void (*drop)(void *message, void *context);
  /**
   * For the callbacks. Must stay valid until all handles of the channel are freed; any thread may use it.
   */
  void *context;
  /**
   * In a broadcast and a watch, whose receivers get copies: called to make one, with room for it, the address of the
   * message and the context; on any thread, also on several at once for one message. NULL: its bytes are copied, and
   * `drop` must be NULL too. It must not use handles of this channel; otherwise as `drop`.
   */
  void (*clone)(void *to, const void *from, void *context);
} ys_options;

/**
 * One size of a pool's blocks.
 */
typedef struct ys_pool_class {
  /**
   * How many bytes each has.
   */
  size_t bytes;
  /**
   * How many there are.
   */
  size_t blocks;
} ys_pool_class;

/**
 * The structure at the address of a ys_tx. For the inline functions of the header only, which know when it may be
 * used and how.
 */
typedef struct ys_tx_window {
  /**
   * The slot of the next message.
   */
  uint8_t *next;
  /**
   * One past the last slot of its group that may be written. Where it is next, and the next group is not open, call.
   */
  uint8_t *stop;
  /**
   * One past the last group that may be entered whole; NULL: none.
   */
  uint8_t *end;
  /**
   * What is added to the address of the newest message to make the state of its group.
   */
  size_t lap;
  /**
   * Not 0: call ys_tx_answer after publishing.
   */
  const uint32_t *asleep;
} ys_tx_window;

/**
 * The structure at the address of a ys_rx. For the inline functions of the header only, which know when it may be
 * used and how.
 */
typedef struct ys_rx_window {
  /**
   * The slot of the next message.
   */
  uint8_t *next;
  /**
   * One past the last slot of its group that is known to be published. If it equals next, check the group, or call.
   */
  uint8_t *known;
  /**
   * One past the last group of the chunk; NULL: this is shut, call.
   */
  uint8_t *end;
  /**
   * What is subtracted from the state of a group to make the address of its newest message.
   */
  size_t lap;
  /**
   * How many messages were received; wraps. Stored with release after a message has left its slot.
   */
  size_t *taken;
  /**
   * Not 0: call ys_rx_credit after taking.
   */
  const uint32_t *asleep;
  /**
   * Not 0: before the next group is entered, write a byte in each line of the one that was read, which gives its line back to
   * the sender as one that was written.
   */
  size_t marks;
} ys_rx_window;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What a code means, in a few words. Never NULL; static, so never to be freed. A count is a success, and an unknown code says
 * that it is unknown. Any thread.
 */
const char *ys_error_text(int code);

/**
 * The version of the library, as "0.1.0". Static, so never to be freed.
 */
const char *ys_version(void);

/**
 * 1: this is the checked build, which finds misuse of handles and has no inline path. 0: it is not.
 */
int ys_is_checked(void);

/**
 * The version of the windows that this library opens: `YS_WINDOW_VERSION` of its own header. 0: it opens none,
 * because this is the checked build, or the environment variable YSUITE_WINDOW was 0 when the library first read
 * it.
 */
uint32_t ys_window_version(void);

/**
 * Ends all waits of what the stopper is for, now and from now on. A waiting thread is woken, and its call returns
 * YS_STOPPED. A call that would have to wait returns that at once, and so does one that may not wait, in place of
 * YS_EMPTY, YS_FULL or YS_TIMEOUT. What can be done without waiting is done as before: messages that are there are
 * received, and sent if there is room. Handles in sets and selects are reported. It cannot be undone.
 *
 * Any thread, any number of times; it does not wait for those that it wakes. One system call for each thread that
 * sleeps. A thread that gets YS_STOPPED sees what was done before. Not from a signal handler. Without effect if
 * all handles are gone.
 *
 * @param stopper the stopper
 * @return YS_OK; YS_EINVAL: NULL
 */
int ys_stop(const struct ys_stopper *stopper);

/**
 * Whether ys_stop was called for what the stopper is for. Any thread; wait-free.
 *
 * @param stopper the stopper
 * @return 1 or 0, or an error
 */
int ys_is_stopped(const struct ys_stopper *stopper);

/**
 * Frees a stopper. Stops nothing.
 *
 * @param stopper the stopper, which is not to be used any more; NULL: nothing is done
 */
void ys_stopper_free(struct ys_stopper *stopper);

/**
 * Opens an spsc channel: one sender, one receiver, in order. The fastest channel, and the default choice.
 *
 * Allocates; if memory runs out later, while messages queue up without a bound, the process ends. Never blocks.
 * Both handles must be freed, in any order, by ys_tx_free and ys_rx_free.
 *
 * @param options what it is to be like; senders must be 0
 * @param tx receives the sender; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
 */
int ys_pipe_open(const struct ys_options *options, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Opens an mpsc channel: many senders, one receiver. Each sender has a lane of its own. Its messages keep their
 * order there. ys_tx_clone makes another sender.
 *
 * Allocates; if memory runs out later, while messages queue up for the first time, the process ends. Never blocks.
 *
 * @param options what it is to be like; capacity is of each sender, senders without a capacity must be 0
 * @param tx receives the first sender; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
 */
int ys_funnel_open(const struct ys_options *options, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Opens an mpmc channel: many senders, many receivers, one order. Each message goes to exactly one receiver.
 * ys_tx_clone and ys_rx_clone make more handles. Messages are moved as bytes, so a message must not hold its own
 * address.
 *
 * Allocates: with a capacity, room for all messages at once. Never blocks.
 *
 * @param options what it is to be like; senders must be 0
 * @param tx receives the first sender; NULL after an error
 * @param rx receives the first receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
 */
int ys_exchange_open(const struct ys_options *options, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Opens a oneshot: one message, once, such as a reply. The message is moved as bytes, so it must not hold its own
 * address.
 *
 * Allocates. Never blocks.
 *
 * @param options what it is to be like; capacity and senders must be 0
 * @param tx receives the sender; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be
 */
int ys_oneshot_open(const struct ys_options *options, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Opens a broadcast: many senders, many receivers, one order; every receiver gets every message, as a copy. See
 * `clone` in ys_options. Receivers by ys_rx_clone and ys_tx_subscribe. A sender waits for the slowest receiver.
 *
 * Allocates room for all messages at once. Never blocks.
 *
 * @param options what it is to be like; capacity must not be 0, senders must be 0; with drop, clone
 * @param tx receives the first sender; NULL after an error
 * @param rx receives the first receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
 */
int ys_broadcast_open(const struct ys_options *options, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Opens a broadcast whose senders do not wait: a receiver that is more than the capacity behind loses the oldest
 * messages. Its next receive returns YS_LAGGED, once, and then goes on. Otherwise as ys_broadcast_open.
 *
 * @param options what it is to be like; capacity must not be 0, senders must be 0; with drop, clone
 * @param tx receives the first sender; NULL after an error
 * @param rx receives the first receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
 */
int ys_broadcast_lossy_open(const struct ys_options *options, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Opens a watch: one value, of which every receiver gets the newest, as a copy, once for each change. See `clone` in
 * ys_options. Sending replaces the value, and never waits for a receiver. Receivers by ys_rx_clone and ys_tx_subscribe;
 * ys_watch_get copies the value at any time. Closing a handle does not close the others.
 *
 * Allocates. Never blocks.
 *
 * @param options what it is to be like; capacity and senders must be 0; with drop, clone
 * @param value the address of the first value, which is copied: after YS_OK it is the channel's. It counts as seen
 * @param tx receives the first sender; NULL after an error
 * @param rx receives the first receiver; NULL after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be
 */
int ys_watch_open(const struct ys_options *options, const void *value, struct ys_tx **tx, struct ys_rx **rx);

/**
 * Sends a message, visible at once, together with what was hidden. Without a bound it never waits; with a bound it
 * waits for room without a time limit. Wait-free if there is room (mpmc: lock-free), and then without a system
 * call unless the receiver sleeps.
 *
 * @param tx the sender
 * @param message the address of the message, which is copied
 * @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_CLOSED: there is no
 * receiver any more
 */
int ys_send(struct ys_tx *tx, const void *message);

/**
 * Sends a message if there is room, as ys_send_for with a time of 0. Never blocks.
 *
 * In an mpmc channel a receiver that is preempted in the middle of a receive keeps its slot until it goes on:
 * there may be no room though the channel has fewer messages than its bound.
 *
 * @param tx the sender
 * @param message the address of the message, which is copied
 * @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL, YS_CLOSED
 */
int ys_try_send(struct ys_tx *tx, const void *message);

/**
 * Sends a message; waits for room no longer than ns nanoseconds.
 *
 * @param tx the sender. One that is attached to a set and finds no room at a time of 0 takes its id down
 * @param message the address of the message, which is copied
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL (where ns is 0), YS_TIMEOUT,
 *     YS_CLOSED
 */
int ys_send_for(struct ys_tx *tx, const void *message, int64_t ns);

/**
 * Sends many messages, published together, or, if a bound leaves no room, in several pieces with a wait in
 * between. An mpmc channel publishes them in their order, one after the other or a few dozen at a time.
 *
 * @param tx the sender
 * @param messages where they are, each one message size after the last: an array of the caller's type
 * @param n how many; 0 only shows what was hidden
 * @param ns nanoseconds for all of it; 0: never waits; less than 0: for ever
 * @return how many were sent. Fewer than n: the time was up, or the channel has closed; the others are still the caller's. None:
 *     YS_FULL (where ns is 0), YS_TIMEOUT, YS_CLOSED. 0 where n is 0, also where the channel has closed
 */
ptrdiff_t ys_send_batch(struct ys_tx *tx, const void *messages, size_t n, int64_t ns);

/**
 * Puts a message into the channel, hidden until ys_flush, or any send. If a bound leaves no room, what is hidden
 * is sent, and this waits for room. If there is room it does not notice that the receiver is gone. spsc and mpsc
 * only.
 *
 * @param tx the sender
 * @param message the address of the message, which is copied
 * @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_CLOSED, YS_ENOTSUP
 */
int ys_write(struct ys_tx *tx, const void *message);

/**
 * Publishes what is hidden at once. Never blocks. spsc and mpsc only.
 *
 * @param tx the sender
 * @return YS_OK; YS_CLOSED: there is no receiver any more, and what was hidden has been dropped; YS_ENOTSUP
 */
int ys_flush(struct ys_tx *tx);

/**
 * Gives the caller the next free slots that are side by side, ys_tx_stride apart, to write messages into. They
 * belong to the caller until the next call for this sender except ys_commit and the read-only ones: ys_tx_len,
 * ys_tx_is_closed, ys_tx_stride, ys_tx_channel. The caller destroys a message that was made in a slot and is not
 * committed. Never blocks. spsc and mpsc only.
 *
 * @param tx the sender. One that is attached to a set and finds no room takes its id down
 * @param at where the address of the first slot is put
 * @return how many slots, at least 1, also if the receiver has just gone: ys_commit reports that; YS_FULL, YS_CLOSED,
 *     YS_ENOTSUP
 */
ptrdiff_t ys_reserve(struct ys_tx *tx, void **at);

/**
 * Sends the messages that the caller has made in the first n reserved slots, published together, with what was
 * hidden. Ends the reservation. Never blocks. spsc and mpsc only.
 *
 * @param tx the sender
 * @param n how many; 0 only shows what was hidden
 * @return how many were sent. Fewer than n: the channel has closed, and the messages from there on are the caller's
 *     again, in their slots, until the next call for this sender. None: YS_CLOSED. 0 if n is 0, also if the channel
 *     has closed. More than are reserved, as after the reservation: YS_EINVAL, and a valid one stays.
 *     YS_ENOTSUP, for any n
 */
ptrdiff_t ys_commit(struct ys_tx *tx, size_t n);

/**
 * Waits until there is room for a message. What is hidden is sent before it waits. spsc and mpsc only.
 *
 * @param tx the sender
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: there is room; YS_FULL (where ns is 0), YS_TIMEOUT, YS_CLOSED, YS_ENOTSUP
 */
int ys_wait_room(struct ys_tx *tx, int64_t ns);

/**
 * Sends a message, and replaces the oldest if there is no room. Does not wait for room; yields while another thread is
 * in the middle of that message. mpmc only.
 *
 * @param tx the sender
 * @param message the address of the message, which is copied
 * @param displaced where the oldest message is moved to; NULL: it is dropped
 * @return YS_OK: nothing was replaced; 1: a message was, and is the caller's at `displaced`; any other code: the message
 * is still the caller's. YS_CLOSED, YS_ENOTSUP
 */
int ys_force_send(struct ys_tx *tx, const void *message, void *displaced);

/**
 * Makes a receiver that gets what is sent from now on. Allocates. broadcast and watch only, also where there is no
 * receiver any more.
 *
 * @param tx the sender
 * @param rx receives the new handle; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_CLOSED: the sender of a watch was closed; YS_ENOTSUP
 */
int ys_tx_subscribe(struct ys_tx *tx, struct ys_rx **rx);

/**
 * Makes a stopper for the waits of this handle alone, as ys_rx_wait_stopper.
 *
 * @param tx the sender
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_tx_wait_stopper(struct ys_tx *tx, struct ys_stopper **stopper);

/**
 * Makes another sender of the same channel. Allocates. Not spsc, nor a oneshot. A clone of a closed sender is closed.
 *
 * @param tx the sender
 * @param other receives the new handle; NULL after an error
 * @return YS_OK; YS_ETOOMANY: an mpsc channel has its largest number of senders. One that ys_tx_close has closed counts,
 *     freed or not, until the receiver has taken its last message and has checked once more. One that is freed without
 *     that does not count; but if the receiver is preempted at that moment a clone may be refused as well; YS_ENOTSUP
 */
int ys_tx_clone(struct ys_tx *tx, struct ys_tx **other);

/**
 * Ends this sender's part of the channel, as freeing it does: what was hidden is sent, receivers get all that was
 * sent, and are notified that nothing more will come when the last sender is closed or gone. It closes an mpmc channel
 * or a broadcast for all its senders. The sender must still be freed. Never blocks.
 *
 * @param tx the sender
 * @return YS_OK; YS_CLOSED: it was closed before, or there is no receiver any more
 */
int ys_tx_close(struct ys_tx *tx);

/**
 * Waits until nothing that this sender sends would be received: the receivers are gone, or the channel or this
 * sender is closed.
 *
 * @param tx the sender
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: it is so; YS_TIMEOUT: it is not so yet
 */
int ys_tx_wait_closed(struct ys_tx *tx, int64_t ns);

/**
 * Whether nothing that this sender sends would be received. Never blocks.
 *
 * @param tx the sender
 * @return 1 or 0, or an error
 */
int ys_tx_is_closed(const struct ys_tx *tx);

/**
 * Returns how many messages are in the channel, hidden ones not counted; in an mpsc channel, those of this sender. Never
 * blocks; takes time in proportion to that number.
 *
 * @param tx the sender
 * @return how many; YS_ENOTSUP: the sender of a oneshot or a watch does not know
 */
ptrdiff_t ys_tx_len(const struct ys_tx *tx);

/**
 * Sets what this sender does before it sleeps when there is no room, from the next wait on. No effect in a broadcast, whose
 * senders never spin.
 *
 * @param tx the sender
 * @param spin a ys_spin: YS_SPIN_NONE, YS_SPIN_ADAPTIVE (the default) or YS_SPIN_FOREVER
 * @return YS_OK; YS_EINVAL: no such way; YS_ENOTSUP: a oneshot or a watch
 */
int ys_tx_set_spin(struct ys_tx *tx, int spin);

/**
 * How far apart the channel's slots are, in bytes: the size of the class of its messages. Any thread.
 *
 * @param tx the sender
 * @return bytes; 0 with EINVAL in errno: no handle
 */
size_t ys_tx_stride(const struct ys_tx *tx);

/**
 * How many bytes a message of the channel has: what was given when it was opened. Any thread.
 *
 * @param tx the sender
 * @return bytes; 0 with EINVAL in errno: no handle
 */
size_t ys_tx_message_size(const struct ys_tx *tx);

/**
 * What messages of the channel are aligned to: what was given when it was opened, or 8 for 0. Any thread.
 *
 * @param tx the sender
 * @return bytes; 0 with EINVAL in errno: no handle
 */
size_t ys_tx_message_align(const struct ys_tx *tx);

/**
 * Whether the channel has messages of this size, in slots of this alignment. The calls of a handle take addresses,
 * and know no types: if a handle comes from elsewhere, as a pointer, this checks its message type. Any thread.
 *
 * @param tx the sender
 * @param size how many bytes a message of the caller's has
 * @param align what it is aligned to
 * @return YS_OK; YS_EINVAL: another size, or slots that are aligned to less; or no handle. The checked build
 *     ends the process there, with a sentence that has both
 */
int ys_tx_expect(const struct ys_tx *tx, size_t size, size_t align);

/**
 * Makes a stopper for the channel, by which any thread ends the waits of all its handles: see ys_stop. Allocates.
 * Any thread.
 *
 * @param tx a sender of the channel
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_tx_stopper(const struct ys_tx *tx, struct ys_stopper **stopper);

/**
 * An address that all handles of the channel share, and no other channel has. For comparison only. Any thread.
 *
 * @param tx the sender
 * @return the address; NULL with EINVAL in errno: no handle
 */
const void *ys_tx_channel(const struct ys_tx *tx);

/**
 * Closes the sender, as ys_tx_close, and frees it. An mpmc channel or a broadcast stays open while it has another sender.
 *
 * @param tx the handle, which must not be used any more; NULL: nothing is done
 */
void ys_tx_free(struct ys_tx *tx);

/**
 * For the inline functions of the header only: after a publication that has found the word of the window not 0.
 *
 * @param tx the sender
 * @return YS_OK; YS_CLOSED: the newest message is the caller's again, in its slot, until the next call for this sender;
 *     YS_EINVAL: this sender has no window
 */
int ys_tx_answer(struct ys_tx *tx);

/**
 * For the classes of the header only: ends a reservation without sending anything, unless it has ended before.
 *
 * @param tx the sender
 * @param at where the reservation's first slot is
 * @return YS_OK: the messages that were made in its slots are the caller's to destroy, until the next call for this
 *     handle; YS_EINVAL: it had ended, and its slots may have what was sent since
 */
int ys_tx_discard(struct ys_tx *tx, const void *at);

/**
 * Receives a message; waits for one without a time limit. Wait-free while messages are there (mpmc: lock-free),
 * and then without a system call. Otherwise polls for a while, as ys_rx_set_spin says, and sleeps.
 *
 * @param rx the receiver
 * @param message where the message is put, which is the caller's from then on
 * @return YS_OK; YS_CLOSED: there is none, and none will come; YS_LAGGED: a receiver of a broadcast has lost messages
 */
int ys_recv(struct ys_rx *rx, void *message);

/**
 * Receives a message if there is one, as ys_recv_for with a time of 0. Never blocks.
 *
 * @param rx the receiver
 * @param message where the message is put, which is the caller's from then on
 * @return YS_OK; YS_EMPTY; YS_CLOSED: there is none, and none will come
 */
int ys_try_recv(struct ys_rx *rx, void *message);

/**
 * Receives a message; waits for one no longer than ns nanoseconds.
 *
 * @param rx the receiver. One that is attached to a set and finds nothing at a time of 0 takes its id down
 * @param message where the message is put, which is the caller's from then on
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT; YS_CLOSED: there is none, and none will come
 */
int ys_recv_for(struct ys_rx *rx, void *message, int64_t ns);

/**
 * Receives many messages: waits for the first, then takes what is there.
 *
 * @param rx the receiver
 * @param messages where they are put, each one message size after the last: an array of the caller's type
 * @param max how many at most. 0 receives nothing and never waits: a loop over a computed number
 *     sees YS_CLOSED all the same. What ys_peek has shown stays so then
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return how many, at least 1 unless max is 0; YS_EMPTY (where ns is 0), YS_TIMEOUT, neither where max is 0; YS_CLOSED: there is
 *     none, and none will come, also where max is 0
 */
ptrdiff_t ys_recv_batch(struct ys_rx *rx, void *messages, size_t max, int64_t ns);

/**
 * Shows the next messages in place: those that are side by side, ys_rx_stride apart. They stay in the channel,
 * until ys_consume takes them out or any other call for this receiver receives them. Never blocks. spsc and mpsc
 * only.
 *
 * @param rx the receiver. One that is attached to a set and finds nothing takes its id down
 * @param at where the address of the first message is put
 * @return how many, at least 1; YS_EMPTY; YS_CLOSED: there is none, and none will come; YS_ENOTSUP
 */
ptrdiff_t ys_peek(struct ys_rx *rx, void **at);

/**
 * Takes the first n messages of those that ys_peek has shown out of the channel: the caller has moved them out or destroyed them,
 * and their slots are free. The callback is not called for them. What was shown after them can still be consumed.
 * Never blocks. spsc and mpsc only.
 *
 * @param rx the receiver
 * @param n how many
 * @return YS_OK; YS_EINVAL: more than are shown, and nothing has changed; YS_ENOTSUP
 */
int ys_consume(struct ys_rx *rx, size_t n);

/**
 * Receives one message in place: it belongs to the caller, which moves it out or destroys it before the next call
 * for this receiver. spsc and mpsc only.
 *
 * @param rx the receiver. One that is attached to a set and finds nothing at a time of 0 takes its id down
 * @param at where the address of the message is put
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT; YS_CLOSED: there is none, and none will come; YS_ENOTSUP
 */
int ys_take(struct ys_rx *rx, void **at, int64_t ns);

/**
 * Waits until there is a message, without taking it. spsc, mpsc and oneshot only.
 *
 * @param rx the receiver
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: there is one; YS_EMPTY (where ns is 0), YS_TIMEOUT; YS_CLOSED: there is none, and none will come; YS_ENOTSUP
 */
int ys_wait(struct ys_rx *rx, int64_t ns);

/**
 * Makes another receiver of the same channel, of a broadcast with the same messages to come. Allocates. mpmc, broadcast
 * and watch only.
 *
 * @param rx the receiver
 * @param other receives the new handle; NULL after an error
 * @return YS_OK; YS_ENOTSUP
 */
int ys_rx_clone(struct ys_rx *rx, struct ys_rx **other);

/**
 * Closes the channel: from now on sends fail, and senders that wait for room are woken and keep their messages. What was sent
 * before is still received; then receiving returns YS_CLOSED. Freeing the receiver would drop it instead. Of a watch it
 * closes this receiver only. The receiver must still be freed. Never blocks.
 *
 * @param rx the receiver
 * @return YS_OK; YS_CLOSED: it was closed before, or all senders are gone
 */
int ys_rx_close(struct ys_rx *rx);

/**
 * Whether nothing more will be sent. Messages may still be there. Never blocks.
 *
 * @param rx the receiver
 * @return 1 or 0, or an error
 */
int ys_rx_is_closed(const struct ys_rx *rx);

/**
 * How many messages are in the channel. Never blocks; takes time in proportion to that number, and in an mpsc
 * channel to that of its senders.
 *
 * @param rx the receiver
 * @return how many, or an error
 */
ptrdiff_t ys_rx_len(const struct ys_rx *rx);

/**
 * Sets what this receiver does before it sleeps when there is no message, from the next wait on. No effect in a broadcast or a
 * watch, whose receivers never spin.
 *
 * @param rx the receiver
 * @param spin a ys_spin: YS_SPIN_NONE, YS_SPIN_ADAPTIVE (the default) or YS_SPIN_FOREVER
 * @return YS_OK; YS_EINVAL: no such way; YS_ENOTSUP: a oneshot
 */
int ys_rx_set_spin(struct ys_rx *rx, int spin);

/**
 * How far apart the channel's slots are, in bytes: the size of the class of its messages. Any thread.
 *
 * @param rx the receiver
 * @return bytes; 0 with EINVAL in errno: no handle
 */
size_t ys_rx_stride(const struct ys_rx *rx);

/**
 * How many bytes a message of the channel has: what was given when it was opened. Any thread.
 *
 * @param rx the receiver
 * @return bytes; 0 with EINVAL in errno: no handle
 */
size_t ys_rx_message_size(const struct ys_rx *rx);

/**
 * What messages of the channel are aligned to: what was given when it was opened, or 8 for 0. Any thread.
 *
 * @param rx the receiver
 * @return bytes; 0 with EINVAL in errno: no handle
 */
size_t ys_rx_message_align(const struct ys_rx *rx);

/**
 * Whether the channel has messages of this size, in slots of this alignment. The calls of a handle take addresses,
 * and know no types: if a handle comes from elsewhere, as a pointer, this checks its message type. Any thread.
 *
 * @param rx the receiver
 * @param size how many bytes a message of the caller's has
 * @param align what it is aligned to
 * @return YS_OK; YS_EINVAL: another size, or slots that are aligned to less; or no handle. The checked build
 *     ends the process there, with a sentence that has both
 */
int ys_rx_expect(const struct ys_rx *rx, size_t size, size_t align);

/**
 * Makes a stopper for the channel, by which any thread ends the waits of all its handles: see ys_stop. Allocates.
 * Any thread.
 *
 * @param rx a receiver of the channel
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_rx_stopper(const struct ys_rx *rx, struct ys_stopper **stopper);

/**
 * Makes a stopper for the waits of this handle alone, from now on: see ys_stop. To wait anew after it was stopped, make
 * another, which replaces it. The handle's own thread calls this; any thread may use the stopper. Allocates.
 *
 * @param rx the receiver
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_rx_wait_stopper(struct ys_rx *rx, struct ys_stopper **stopper);

/**
 * How many messages this receiver of a broadcast has lost in all, because it was too slow. Never blocks.
 *
 * @param rx the receiver
 * @return how many; YS_ENOTSUP: not a broadcast's
 */
ptrdiff_t ys_rx_missed(const struct ys_rx *rx);

/**
 * Copies the newest value of a watch, seen or not, also after the senders are gone. It does not count as seen. Waits
 * for a sender that is changing it.
 *
 * @param rx the receiver
 * @param message where the value is put
 * @return YS_OK; YS_CLOSED: this receiver was closed; YS_ENOTSUP: not a watch's
 */
int ys_watch_get(struct ys_rx *rx, void *message);

/**
 * An address that all handles of the channel share, and no other channel has. For comparison only. Any thread.
 *
 * @param rx the receiver
 * @return the address; NULL with EINVAL in errno: no handle
 */
const void *ys_rx_channel(const struct ys_rx *rx);

/**
 * Frees the receiver. With the last receiver the channel is closed: sends fail, and messages that are still there
 * are dropped, by the channel's callback.
 *
 * @param rx the handle, which must not be used any more; NULL: nothing is done
 */
void ys_rx_free(struct ys_rx *rx);

/**
 * For the inline functions of the header only: after takes that have found the word of the window not 0.
 *
 * @param rx the receiver
 */
void ys_rx_credit(struct ys_rx *rx);

/**
 * Makes a sender that any number of threads may use at once, of the same channel. It counts as a sender until it is
 * freed. Allocates. mpmc, broadcast and watch only: the senders of spsc and mpsc have queues of their own.
 *
 * @param tx the sender
 * @param shared where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer; YS_ENOTSUP
 */
int ys_tx_share(struct ys_tx *tx, struct ys_shared **shared);

/**
 * Sends a message, as ys_send_for does. Any thread.
 *
 * @param shared the sender
 * @param message the address of the message, which is copied
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL (where ns is 0), YS_TIMEOUT,
 *     YS_CLOSED, YS_STOPPED
 */
int ys_shared_send_for(const struct ys_shared *shared, const void *message, int64_t ns);

/**
 * As ys_shared_send_for, and the wait also ends by a stopper of ys_shared_wait_stopper: that of this call, not those of other threads.
 *
 * @param shared the sender
 * @param message the address of the message, which is copied
 * @param ns nanoseconds
 * @param stopper the stopper, made for a sender of this channel
 * @return as ys_shared_send_for; YS_STOPPED also if ys_stop was called for the stopper, and there is no room; YS_EINVAL: another stopper
 */
int ys_shared_send_or_stop(const struct ys_shared *shared,
                           const void *message,
                           int64_t ns,
                           const struct ys_stopper *stopper);

/**
 * Makes a stopper for those waits that it is given to, by ys_shared_send_or_stop: see ys_stop. Allocates. Any thread.
 *
 * @param shared the sender
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_shared_wait_stopper(const struct ys_shared *shared, struct ys_stopper **stopper);

/**
 * Whether nothing that is sent would be received. Never blocks. Any thread.
 *
 * @param shared the sender
 * @return 1 or 0, or an error
 */
int ys_shared_is_closed(const struct ys_shared *shared);

/**
 * An address that all handles of the channel share, and no other channel has. For comparison only. Any thread.
 *
 * @param shared the sender
 * @return the address; NULL with EINVAL in errno: no handle
 */
const void *ys_shared_channel(const struct ys_shared *shared);

/**
 * Frees the sender, which no thread uses any more. The channel stays open while it has another.
 *
 * @param shared the handle, which must not be used any more; NULL: nothing is done
 */
void ys_shared_free(struct ys_shared *shared);

/**
 * Opens a timer with one tick. Allocates.
 *
 * @param ns nanoseconds from now, at least 0
 * @param timer where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or less than 0
 */
int ys_timer_after(int64_t ns, struct ys_timer **timer);

/**
 * Opens a timer with a tick one period from now, and at every whole number of periods from there. At most one tick
 * waits to be taken: those that are missed are skipped. Allocates.
 *
 * @param ns nanoseconds of a period, at least 0, which is as 1
 * @param timer where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer, or less than 0
 */
int ys_timer_every(int64_t ns, struct ys_timer **timer);

/**
 * Waits for a tick, and takes it. Any thread. After the only tick of ys_timer_after there is none any more: a wait for ever
 * does not return.
 *
 * @param timer the timer
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: a tick was due, and is taken; YS_EMPTY (where ns is 0), YS_TIMEOUT
 */
int ys_timer_wait(const struct ys_timer *timer, int64_t ns);

/**
 * Frees a timer. One that is in a select stays there until the select is freed.
 *
 * @param timer the timer, which is not to be used any more; NULL: nothing is done
 */
void ys_timer_free(struct ys_timer *timer);

/**
 * Opens a set with a descriptor, which is readable while something is up: for poll, epoll and every event loop. On Windows with
 * an event, which is signalled then: see ys_set_handle.
 *
 * @param ids how many signals: 1 to 262144, numbered from 0
 * @param set where the set is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_ESYSTEM with the cause in errno, on Windows in GetLastError: there is no descriptor left, or it is
 *     forbidden; YS_ENOTSUP: not on this system
 */
int ys_set_open(size_t ids, struct ys_set **set);

/**
 * Opens a set without a descriptor: quicker to sleep on, for a thread that waits for nothing else.
 *
 * @param ids how many signals: 1 to 262144, numbered from 0
 * @param set where the set is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL
 */
int ys_pollset_open(size_t ids, struct ys_set **set);

/**
 * The descriptor of the set. Wait for it to be readable, and call ys_set_wait with a time of 0 then; do not read or close it. It
 * may, rarely, be readable with nothing up. Take it out of the event loop before the set is freed.
 *
 * @param set the set
 * @return the descriptor; YS_ENOTSUP: the set has none
 */
int ys_set_fd(const struct ys_set *set);

#if defined(_WIN32)
/**
 * The HANDLE of the set's event, for WaitForMultipleObjects and event loops that wait for handles; only on Windows. It is reset by
 * hand, by the set alone: a wait for it takes nothing away. When it is signalled, call ys_set_wait with a time of 0; do not set,
 * reset or close it. It may, rarely, be signalled with nothing up.
 *
 * @param set the set
 * @return the handle; NULL: the set has none, or with EINVAL in errno there is no set
 */
void *ys_set_handle(const struct ys_set *set);
#endif

/**
 * Attaches a receiver: the id is up while it may have a message, and once nothing more will come. It is up at
 * first. It goes down when ys_try_recv, ys_peek, or ys_take or ys_recv_batch with a time of 0 finds nothing.
 *
 * Freeing the handle frees the id. Freeing the set leaves its handles attached to a set that is gone: to attach
 * them elsewhere, detach them before.
 *
 * @param set the set
 * @param rx the handle, which no other thread is using
 * @param id the id
 * @return YS_OK; YS_EATTACHED: the handle is in a set already; YS_ETAKEN: the id belongs to another handle; YS_ERANGE
 */
int ys_set_attach_rx(struct ys_set *set, struct ys_rx *rx, size_t id);

/**
 * Attaches a sender: the id is up while it may have room, and once there is no receiver any more. It is up at
 * first. It goes down when ys_try_send or ys_reserve finds no room. Otherwise as ys_set_attach_rx.
 *
 * @param set the set
 * @param tx the handle, which no other thread is using
 * @param id the id
 * @return YS_OK; YS_EATTACHED: the handle is in a set already; YS_ETAKEN: the id belongs to another handle; YS_ERANGE;
 *     YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
 */
int ys_set_attach_tx(struct ys_set *set, struct ys_tx *tx, size_t id);

/**
 * Takes a receiver out of the set: its id is down, and free. The id may be reported once more, spuriously, if a
 * sender was about to raise it.
 *
 * @param set the set
 * @param rx the handle, which no other thread is using
 * @return YS_OK; YS_EATTACHED: it is not in this set
 */
int ys_set_detach_rx(struct ys_set *set, struct ys_rx *rx);

/**
 * Takes a sender out of the set, as ys_set_detach_rx.
 *
 * @param set the set
 * @param tx the handle, which no other thread is using
 * @return YS_OK; YS_EATTACHED: it is not in this set; YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
 */
int ys_set_detach_tx(struct ys_set *set, struct ys_tx *tx);

/**
 * Waits until something is up. Ids raised by a signaler are taken by that; ids of attached handles are reported
 * each time, until the handle finds nothing, or no room.
 *
 * An edge-triggered event loop (EPOLLET) calls this with a time of 0 until it returns YS_EMPTY, and serves the
 * reported ids, before it waits again: only after YS_EMPTY is the next edge promised. A level-triggered one may
 * call it once.
 *
 * @param set the set
 * @param ids where the ids that are up are put, ascending
 * @param max how many at most, at least 1. What is up beyond that stays up, and has its turn: the next call begins after
 *     the last id of this one, and comes back to the smallest when it has reported the largest
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return how many ids, at least 1; YS_EMPTY (where ns is 0), YS_TIMEOUT: nothing is up; YS_STOPPED: nothing is up, and ys_stop was
 *     called for the set or its waits
 */
ptrdiff_t ys_set_wait(struct ys_set *set,
                      size_t *ids,
                      size_t max,
                      int64_t ns);

/**
 * Makes a stopper for the set, by which any thread ends the wait for it: see ys_stop. Allocates. Any thread.
 *
 * @param set the set
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_set_stopper(const struct ys_set *set, struct ys_stopper **stopper);

/**
 * Makes a stopper for the waits from now on: see ys_stop. To wait anew after it was stopped, make another, which replaces it. The
 * thread that waits for the set calls this; any thread may use the stopper. Allocates.
 *
 * @param set the set
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_set_wait_stopper(struct ys_set *set, struct ys_stopper **stopper);

/**
 * Makes a signaler for the set. Allocates.
 *
 * @param set the set
 * @param signaler where it is put; NULL is put there after an error
 * @return YS_OK
 */
int ys_set_signaler(const struct ys_set *set, struct ys_signaler **signaler);

/**
 * Raises a signal, and wakes the thread that waits for the set, if it sleeps. Any thread, any number of them at once. Wait-free, at
 * most one system call. Without effect once the set is gone.
 *
 * @param signaler a signaler of the set
 * @param id the id
 * @return YS_OK; YS_ERANGE
 */
int ys_signal(const struct ys_signaler *signaler,
              size_t id);

/**
 * Frees a signaler.
 *
 * @param signaler the signaler, which is not to be used any more; NULL: nothing is done
 */
void ys_signaler_free(struct ys_signaler *signaler);

/**
 * Frees a set. Its descriptor is closed when its signalers and the channels attached to it are gone as well.
 *
 * @param set the set, which is not to be used any more; NULL: nothing is done
 */
void ys_set_free(struct ys_set *set);

/**
 * Opens a select.
 *
 * @param ends for how many handles at a time: 1 to 262144
 * @param select where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL
 */
int ys_select_open(size_t ends, struct ys_select **select);

/**
 * Waits for a receiver as well: until it may have a message, or nothing more will come.
 *
 * @param select the select
 * @param rx the handle, which no other thread is using. Freeing it takes it out
 * @param id receives the id by which it will be reported
 * @return YS_OK; YS_EATTACHED: the handle is in a select or a set already; YS_ETOOMANY: the select is full
 */
int ys_select_add_rx(struct ys_select *select, struct ys_rx *rx, size_t *id);

/**
 * Waits for a sender as well: until it may have room, or there is no receiver any more.
 *
 * @param select the select
 * @param tx the handle, which no other thread is using. Freeing it takes it out
 * @param id receives the id by which it will be reported
 * @return YS_OK; YS_EATTACHED: the handle is in a select or a set already; YS_ETOOMANY: the select is full;
 *     YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
 */
int ys_select_add_tx(struct ys_select *select, struct ys_tx *tx, size_t *id);

/**
 * Waits for this receiver no longer. Its id is free, and may be reported once more, spuriously.
 *
 * @param select the select
 * @param rx the handle, which no other thread is using
 * @return YS_OK; YS_EATTACHED: it is not in this select
 */
int ys_select_remove_rx(struct ys_select *select, struct ys_rx *rx);

/**
 * Waits for this sender no longer. Its id is free, and may be reported once more, spuriously.
 *
 * @param select the select
 * @param tx the handle, which no other thread is using
 * @return YS_OK; YS_EATTACHED: it is not in this select; YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
 */
int ys_select_remove_tx(struct ys_select *select, struct ys_tx *tx);

/**
 * Waits for a timer as well: until a tick is due, which ys_timer_wait takes.
 *
 * @param select the select
 * @param timer the timer, which the select keeps as long as it waits for it
 * @param id receives the id by which it will be reported
 * @return YS_OK, also if it is in the select already: it then has another id as well; YS_ETOOMANY: the select is full
 */
int ys_select_add_timer(struct ys_select *select, const struct ys_timer *timer, size_t *id);

/**
 * Waits for this timer no longer. Its id is free.
 *
 * @param select the select
 * @param timer the timer
 * @return YS_OK; YS_EATTACHED: it is not in this select
 */
int ys_select_remove_timer(struct ys_select *select, const struct ys_timer *timer);

/**
 * Waits for a handle that is ready. Each is reported in its turn, and again until ys_try_recv finds nothing, or
 * ys_try_send no room; every handle is reported at first. Without any handle it waits until the time is up.
 *
 * @param select the select
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return the id of the handle; YS_EMPTY (if ns is 0), YS_TIMEOUT; YS_STOPPED: no handle is ready, and ys_stop was
 * called for the select or its waits
 */
ptrdiff_t ys_select_wait(struct ys_select *select, int64_t ns);

/**
 * Makes a stopper for the select, by which any thread ends the wait of the waiting thread: see ys_stop. Allocates.
 * Any thread.
 *
 * @param select the select
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_select_stopper(const struct ys_select *select, struct ys_stopper **stopper);

/**
 * Makes a stopper for the waits from now on: see ys_stop. To wait anew after it was stopped, make another, which replaces it. The
 * thread that waits here calls this; any thread may use the stopper. Allocates.
 *
 * @param select the select
 * @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_select_wait_stopper(struct ys_select *select, struct ys_stopper **stopper);

/**
 * Frees a select. Handles that are still in it stay attached to it: to attach them elsewhere, remove them before.
 *
 * @param select the select, which is not to be used any more; NULL: nothing is done
 */
void ys_select_free(struct ys_select *select);

/**
 * Opens a pool. Allocates all its memory. A message begins with what its block last held, or zeros.
 *
 * @param classes its sizes, each with bytes and blocks of at least 1, no two of the same bytes. Blocks of less than 64 bytes are
 *     made 64, together with all such
 * @param n how many classes, at least 1
 * @param pool where the pool is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_ENOMEM
 */
int ys_pool_open(const struct ys_pool_class *classes, size_t n, struct ys_pool **pool);

/**
 * Takes a message out of the pool: a block of the smallest class that has the room. Waits for one where none is free. Lock-free
 * where one is. Any number of threads at once.
 *
 * @param pool the pool
 * @param len how many bytes the message has, at most those of the largest class
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return the address of its first byte, aligned to 16, to be freed by ys_msg_free on any thread. NULL with the cause in errno:
 *     EAGAIN (where ns is 0) or ETIMEDOUT, as YS_EMPTY and YS_TIMEOUT elsewhere: no block is free; ECANCELED, as YS_STOPPED: likewise,
 *     and ys_stop was called for the pool; EMSGSIZE: it is too long; EINVAL: no pool
 */
void *ys_pool_take(struct ys_pool *pool,
                   size_t len,
                   int64_t ns);

/**
 * As ys_pool_take, and the wait also ends by a stopper of ys_pool_wait_stopper: that of this call, not those of others.
 *
 * @param pool the pool
 * @param len how many bytes
 * @param ns nanoseconds
 * @param stopper the stopper; NULL: none
 * @return as ys_pool_take; ECANCELED in errno also if ys_stop was called for the stopper, and no block is free
 */
void *ys_pool_take_or_stop(struct ys_pool *pool, size_t len, int64_t ns, const struct ys_stopper *stopper);

/**
 * How many bytes a pool's message has. Wait-free.
 *
 * @param message the message
 * @return bytes; 0 with EINVAL in errno: NULL
 */
size_t ys_msg_len(const void *message);

/**
 * How many bytes a pool's message can have: those of its block. Wait-free.
 *
 * @param message the message
 * @return bytes; 0 with EINVAL in errno: NULL
 */
size_t ys_msg_capacity(const void *message);

/**
 * Changes how many bytes a pool's message has. It stays where it is; bytes that are new are 0.
 *
 * @param message the message
 * @param len how many bytes, at most ys_msg_capacity
 * @return YS_OK; YS_EINVAL: NULL; YS_ETOOMANY: its block is smaller, and nothing has changed
 */
int ys_msg_resize(void *message, size_t len);

/**
 * Gives a message back to its pool, and wakes a thread that waits for it. Any thread; never blocks. The callback of a channel
 * whose messages are addresses of messages may call it.
 *
 * A message that was freed before ends the process with a sentence, as long as the block was not taken again and
 * its pool exists: a word in front of each block shows it, which ys_msg_len, ys_msg_capacity and ys_msg_resize
 * check as well. The checked build also finds an address that is no message of a pool, and writes after the block.
 *
 * @param message the message, which is not to be used any more; NULL: nothing is done
 */
void ys_msg_free(void *message);

/**
 * Makes a stopper for the pool, by which any thread ends the waits for a block: see ys_stop. Allocates. Any
 * thread.
 *
 * @param pool the pool
 * @param stopper where it is put, to be freed by ys_stopper_free; the pool's memory lives as long. NULL is put there after an
 *     error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_pool_stopper(const struct ys_pool *pool, struct ys_stopper **stopper);

/**
 * Makes a stopper for those waits that it is given to, by ys_pool_take_or_stop: see ys_stop. Allocates. Any thread.
 *
 * @param pool the pool
 * @param stopper where it is put, to be freed by ys_stopper_free; the pool's memory lives as long. NULL is put there after an
 *     error
 * @return YS_OK; YS_EINVAL: a null pointer
 */
int ys_pool_wait_stopper(const struct ys_pool *pool, struct ys_stopper **stopper);

/**
 * Frees a pool. Its memory lives until the last of its messages is freed.
 *
 * @param pool the pool, which is not to be used any more; NULL: nothing is done
 */
void ys_pool_free(struct ys_pool *pool);

/**
 * Opens a hub: an event loop of one thread, which calls functions that other threads post, timers, and handlers of descriptors; one at a
 * time, and on the thread that runs it. Unix. Allocates.
 *
 * All functions get the hub, and may call whatever is for it: add and remove sources and timers, also their own, stop it, and run it. They
 * must not free it, must not block, and must not throw. With each the program gives a context, and a function that drops it: that is called
 * exactly once, when the context is needed no more; before the call returns, if that returns an error. It may be called on any thread that
 * uses the hub or a poster, and must not throw, nor use the hub, which returns YS_EBUSY there.
 *
 * In a turn the hub calls at most 128 posted functions, at most 128 timers that are due, and each descriptor's handler once: no source
 * delays another for longer. With nothing to do it spins for a while, and sleeps in one system call.
 *
 * Receivers of channels come to a hub by a set: ys_set_attach_rx, and ys_hub_watch with ys_set_fd.
 *
 * @param hub where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_ESYSTEM with the cause in errno: no descriptors are left
 */
int ys_hub_open(struct ys_hub **hub);

/**
 * Serves all sources until ys_hub_stop, or until there is no poster, no source and no timer left. Blocks. May be called again afterwards.
 * Inside the handler of a descriptor it is one turn, and does not block.
 *
 * @param hub the hub
 * @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ESYSTEM with the cause in errno
 */
int ys_hub_run(struct ys_hub *hub);

/**
 * Serves what is ready in one turn. If nothing is, waits for so long at most, and serves what is ready then.
 *
 * @param hub the hub
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return how many functions and handlers were called, or an error as of ys_hub_run. 0 where ns is less than 0: there is no poster, no
 *     source and no timer left
 */
ptrdiff_t ys_hub_run_once(struct ys_hub *hub,
                          int64_t ns);

/**
 * Runs one turn, without waiting: for another event loop that watches ys_hub_fd, waits no longer than ys_hub_timeout, and calls this
 * whenever that wait ends.
 *
 * @param hub the hub
 * @return as ys_hub_run_once
 */
ptrdiff_t ys_hub_dispatch(struct ys_hub *hub);

/**
 * The descriptor of a hub, for poll and epoll, level-triggered: readable when there is something for ys_hub_dispatch, timers aside. It stays
 * the hub's: never read, written or closed.
 *
 * @param hub the hub
 * @return the descriptor, or an error
 */
int ys_hub_fd(struct ys_hub *hub);

/**
 * How long another event loop may wait for ys_hub_fd: until the next timer.
 *
 * @param hub the hub
 * @param ns receives nanoseconds; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_EBUSY
 */
int ys_hub_timeout(struct ys_hub *hub, int64_t *ns);

/**
 * Makes ys_hub_run return when the function that calls this is done, or at once if it is called beforehand. Nothing is lost: the rest is
 * served when the hub is run again.
 *
 * @param hub the hub
 * @return YS_OK; YS_EINVAL; YS_EBUSY
 */
int ys_hub_stop(struct ys_hub *hub);

/**
 * Calls a function once, when this time has passed; never early, and up to a millisecond late if the hub sleeps.
 *
 * @param hub the hub
 * @param ns nanoseconds from now, at least 0: the next turn
 * @param function what is called
 * @param context what it is called with
 * @param drop called with the context, when it is needed no more; NULL: nothing is
 * @param timer receives its number, for ys_hub_cancel; 0 after an error; NULL: it is not asked for
 * @return YS_OK; YS_EINVAL; YS_EBUSY.
 */
int ys_hub_after(struct ys_hub *hub,
                 int64_t ns,
                 void (*function)(struct ys_hub *hub, void *context),
                 void *context,
                 void (*drop)(void *context),
                 uint64_t *timer);

/**
 * Calls a function again and again: a period from now, and at each further whole number of periods. Of the moments that pass while the hub
 * is busy only the last one counts.
 *
 * @param hub the hub
 * @param ns nanoseconds of a period, at least 0: in every turn, and the hub never sleeps
 * @param function what is called
 * @param context what it is called with
 * @param drop called with the context, when it is needed no more; NULL: nothing is
 * @param timer receives its number, for ys_hub_cancel; 0 after an error; NULL: it is not asked for
 * @return YS_OK; YS_EINVAL; YS_EBUSY.
 */
int ys_hub_every(struct ys_hub *hub,
                 int64_t ns,
                 void (*function)(struct ys_hub *hub, void *context),
                 void *context,
                 void (*drop)(void *context),
                 uint64_t *timer);

/**
 * Cancels a timer: its function is not called any more, and its context is dropped; inside that function, when it returns.
 *
 * @param hub the hub
 * @param timer its number
 * @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ERANGE: it has fired for the last time, or was cancelled
 */
int ys_hub_cancel(struct ys_hub *hub, uint64_t timer);

/**
 * Watches a descriptor that does not block: a socket, a pipe, or that of a ys_set. The handler is called once in a turn as long as it is
 * ready: level-triggered. It stays the program's, which removes it before it closes it.
 *
 * @param hub the hub
 * @param fd the descriptor
 * @param wanted YS_HUB_READABLE, YS_HUB_WRITABLE or both
 * @param handler called with what the descriptor is ready for, bits of ys_hub_ready; that may, rarely, be wrong
 * @param context what it is called with
 * @param drop called with the context, when it is needed no more; NULL: nothing is
 * @param source receives its number, for ys_hub_remove; 0 after an error; NULL: it is not asked for
 * @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ESYSTEM with the cause in errno: EBADF, EEXIST: it is watched already, EPERM: a file on a disk.
 *    
 */
int ys_hub_watch(struct ys_hub *hub,
                 int fd,
                 uint32_t wanted,
                 void (*handler)(struct ys_hub *hub, int fd, uint32_t ready, void *context),
                 void *context,
                 void (*drop)(void *context),
                 uint64_t *source);

/**
 * Watches a descriptor for something else from now on.
 *
 * @param hub the hub
 * @param source its number
 * @param wanted YS_HUB_READABLE, YS_HUB_WRITABLE or both
 * @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ERANGE: it was removed, or is closed; YS_ESYSTEM with the cause in errno
 */
int ys_hub_rewatch(struct ys_hub *hub, uint64_t source, uint32_t wanted);

/**
 * Watches a descriptor no more: its handler is not called again, and its context is dropped; inside that handler, when it returns.
 *
 * @param hub the hub
 * @param source its number
 * @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ERANGE: it was removed
 */
int ys_hub_remove(struct ys_hub *hub,
                  uint64_t source);

/**
 * Frees a hub, and drops the contexts of all that it has, also of functions that were posted. Not inside one of its functions.
 *
 * @param hub the hub, which is not to be used any more; NULL: nothing is done
 */
void ys_hub_free(struct ys_hub *hub);

/**
 * Makes what another thread posts by. As long as it is there ys_hub_run goes on. Allocates.
 *
 * @param hub the hub
 * @param poster where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_EBUSY
 */
int ys_hub_poster_open(struct ys_hub *hub, struct ys_hub_poster **poster);

/**
 * Makes another poster of the same hub, for another thread. Allocates.
 *
 * @param poster the poster
 * @param other where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL
 */
int ys_hub_poster_clone(struct ys_hub_poster *poster, struct ys_hub_poster **other);

/**
 * Posts a function: the hub's thread calls it, behind all that this poster has posted before. Never blocks. A hub that is stopped or not
 * run keeps it until it is run again.
 *
 * @param poster the poster
 * @param function what is called
 * @param context what it is called with
 * @param drop called with the context, when it is needed no more; NULL: nothing is
 * @return YS_OK; YS_EINVAL; YS_CLOSED: the hub was freed
 */
int ys_hub_post(struct ys_hub_poster *poster,
                void (*function)(struct ys_hub *hub, void *context),
                void *context,
                void (*drop)(void *context));

/**
 * Makes the hub stop, as ys_hub_stop, behind all that this poster has posted before. Never blocks.
 *
 * @param poster the poster
 * @return YS_OK; YS_EINVAL; YS_CLOSED: the hub was freed
 */
int ys_hub_post_stop(struct ys_hub_poster *poster);

/**
 * Frees a poster. What it has posted is called all the same.
 *
 * @param poster the poster, which is not to be used any more; NULL: nothing is done
 */
void ys_hub_poster_free(struct ys_hub_poster *poster);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* YSUITE_DECLARATIONS_H */
