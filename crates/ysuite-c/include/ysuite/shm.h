/** @file ysuite/shm.h
 *  Channels between the processes of one machine, through shared memory. Linux; the library must have been built with the
 *  feature `shm` (`crates/ysuite-c/install --shm`). `#define YS_SHM` before ysuite.h includes this, or include it by itself.
 *  ysuite/shm.hpp has the same as classes. Made by cbindgen from the library's source, and compared with it by its tests: what is
 *  written here by hand is lost.
 *
 *  @code{.c}
 *  // A process.
 *  ys_shm_listener *listener;
 *  ys_shm_rx *rx;
 *  char line[256];
 *  size_t length;
 *  int code = ys_shm_listener_open("lines", NULL, &listener);
 *  if (code != YS_OK) return fprintf(stderr, "%s\n", ys_error_text(code)), 1;
 *  code = ys_shm_rx_open(ys_shm_accept(listener, -1), NULL, &rx);      // waits until the other one is there
 *  while (code == YS_OK && (code = ys_shm_recv(rx, line, sizeof line, &length)) == YS_OK) use(line, length);
 *  if (code == YS_DIED) puts("the other process has crashed");         // YS_CLOSED: it has freed its sender
 *  ys_shm_rx_free(rx), ys_shm_listener_free(listener);
 *
 *  // Another one.
 *  ys_shm_tx *tx;
 *  int code = ys_shm_tx_open(ys_shm_connect("lines", NULL), 65536, NULL, &tx);
 *  if (code == YS_OK) code = ys_shm_send(tx, "hello", 5);              // waits while there is no room
 *  if (code != YS_OK) fprintf(stderr, "%s: %s\n", ys_error_text(code), ys_shm_refusal());
 *  ys_shm_tx_free(tx);
 *  @endcode
 *
 *  A pipe of bytes has one sender and one receiver, and carries messages of any length up to its capacity, in order. Each end
 *  is made of a socket, in either of two ways: one process listens at a name and others connect, ys_shm_listener_open() and
 *  ys_shm_connect(); or a child inherits the descriptor of an end that was not used, ys_shm_tx_into_fd() and
 *  ys_shm_rx_into_fd(). Neither end waits for the other when it is made: a sender fills the channel before anybody is there.
 *
 *  A funnel is the receiver of many senders, ys_shm_funnel_open(): each is the sender of a pipe, and does not know the difference.
 *  The other way round, one sender has many receivers: of a broadcast, ys_shm_broadcast_open(), each receives all messages; of a
 *  watch, ys_shm_watch_open(), the newest value. The sender writes once for all. Of loans, ys_shm_loan_open(), each is lent all messages in
 *  the memory where the sender has filled them: nothing is copied, however long they are, and one that dies holds nothing.
 *
 *  Questions and answers: any number of callers, ys_shm_caller_open(), ask one receiver, ys_shm_questions_open(), which may answer in any
 *  order and by any thread; calls end with it. A work queue, ys_shm_work_open(), gives each job to one of its workers; one that dies gives
 *  back what it has not finished, to another. Of both there is memory for so many messages of the greatest length: what is much longer than
 *  the others is lent.
 *
 *  Handles are used as those of ysuite.h: by one thread at a time; freeing closes; in the checked build a handle that was freed
 *  or that two threads use is found out, and so is a forked child that uses a handle of its parent, whose memory it has not. Of
 *  such a handle a child may only call the function that frees it. These handles have no stopper, and enter no set and no
 *  select: their descriptors are for poll and epoll. In C++20 what waits takes a std::stop_token.
 *
 *  An end that has failed fails in the same way for ever. YS_CLOSED: the other end was freed. YS_DIED: its process has
 *  crashed, was killed, or executed another program. YS_BROKEN: it has written what no end of this library writes. In the
 *  first two cases all that was sent is received before. No peer can make a call crash, wait for ever on a death, or return
 *  what is longer than its buffer. What an end leaves behind is nothing: its memory goes with the last process that has it.
 *
 *  @code{.c}
 *  // In an event loop: receive until YS_EMPTY, arm, and sleep if that says so.
 *  struct epoll_event event = { .events = EPOLLIN };
 *  epoll_ctl(epoll, EPOLL_CTL_ADD, ys_shm_rx_fd(rx), &event);
 *  for (;;) {
 *    while ((code = ys_shm_try_recv(rx, line, sizeof line, &length)) == YS_OK) use(line, length);
 *    if (code != YS_EMPTY) break;                                      // it has ended
 *    if (ys_shm_rx_arm(rx) == 1) epoll_wait(epoll, &event, 1, -1);
 *  }
 *  @endcode
 */

#ifndef YSUITE_SHM_H
#define YSUITE_SHM_H

#include <stddef.h>
#include <stdint.h>
#include "declarations.h"

/** Options that are all defaults. */
#define YS_SHM_OPTIONS_INIT { sizeof(ys_shm_options), 0, 0, NULL, NULL, 0, 0, 0 }

/**
 * A message that this process was lent, in the memory where its sender has filled it. It may outlive its receiver and its
 * sender. One thread at a time; it may move between threads. Freed by ys_shm_borrowed_free, which gives it back.
 */
typedef struct ys_shm_borrowed ys_shm_borrowed;

/**
 * The sender of a broadcast of bytes, whose receivers, each a ys_shm_broadcast_rx in a process of its own, receive all messages
 * that are sent while they are there. One thread at a time; it may move between threads. Freed by ys_shm_broadcast_free.
 */
typedef struct ys_shm_broadcast ys_shm_broadcast;

/**
 * A receiver of a ys_shm_broadcast. One thread at a time; it may move between threads. Freed by ys_shm_broadcast_rx_free.
 */
typedef struct ys_shm_broadcast_rx ys_shm_broadcast_rx;

/**
 * The end that asks: its questions are received by a ys_shm_questions in another process, which answers each. One thread at a time; it
 * may move between threads. Freed by ys_shm_caller_free.
 */
typedef struct ys_shm_caller ys_shm_caller;

/**
 * The receiver of many senders, each of which is a ys_shm_tx in a process of its own. One thread at a time; it may move
 * between threads. Freed by ys_shm_funnel_free.
 */
typedef struct ys_shm_funnel ys_shm_funnel;

/**
 * Listens at a name. One thread at a time; it may move between threads. Freed by ys_shm_listener_free.
 */
typedef struct ys_shm_listener ys_shm_listener;

/**
 * The sender of loans: a pool of slots, which it fills in place, and lends to all its receivers, each a ys_shm_loan_rx in a
 * process of its own. One thread at a time; it may move between threads. Freed by ys_shm_loan_free.
 */
typedef struct ys_shm_loan ys_shm_loan;

/**
 * A receiver of a ys_shm_loan. One thread at a time; it may move between threads. Freed by ys_shm_loan_rx_free.
 */
typedef struct ys_shm_loan_rx ys_shm_loan_rx;

/**
 * A question whose caller waits for its answer. It may be answered at any time, in any order, and outlive its ys_shm_questions. One
 * thread at a time, which need not be that of the ys_shm_questions. Freed by ys_shm_question_free.
 */
typedef struct ys_shm_question ys_shm_question;

/**
 * The receiver of the questions of many callers, each of which is a ys_shm_caller in a process of its own. One thread at a time; it
 * may move between threads. Freed by ys_shm_questions_free.
 */
typedef struct ys_shm_questions ys_shm_questions;

/**
 * The receiver of a pipe of bytes between processes. One thread at a time; it may move between threads. Freed by
 * ys_shm_rx_free.
 */
typedef struct ys_shm_rx ys_shm_rx;

/**
 * The sender of a pipe of bytes between processes. One thread at a time; it may move between threads. Freed by
 * ys_shm_tx_free.
 */
typedef struct ys_shm_tx ys_shm_tx;

/**
 * The sender of a watch of bytes, whose receivers, each a ys_shm_watch_rx in a process of its own, receive the newest value. One
 * thread at a time; it may move between threads. Freed by ys_shm_watch_free.
 */
typedef struct ys_shm_watch ys_shm_watch;

/**
 * A receiver of a ys_shm_watch. One thread at a time; it may move between threads. Freed by ys_shm_watch_rx_free.
 */
typedef struct ys_shm_watch_rx ys_shm_watch_rx;

/**
 * The sender of a work queue, whose workers, each a ys_shm_work_rx in a process of its own, take the jobs. One thread at a time;
 * it may move between threads. Freed by ys_shm_work_free.
 */
typedef struct ys_shm_work ys_shm_work;

/**
 * A worker of a ys_shm_work. One thread at a time; it may move between threads. Freed by ys_shm_work_rx_free.
 */
typedef struct ys_shm_work_rx ys_shm_work_rx;

/**
 * How an end treats its peer. Begin with YS_SHM_OPTIONS_INIT, which sets the first field, and 0 everywhere else, which is the
 * default. NULL instead of options is all defaults.
 */
typedef struct ys_shm_options {
  /**
   * sizeof(ys_shm_options) of the caller's header. Shorter and longer ones are valid, as of ys_options.
   */
  uint32_t struct_size;
  /**
   * Not 0: the peer may be hostile. The two wake each other by their socket, and take no descriptors but memory. Sleeping
   * costs half as much again. It is enough that one end says so; peers of other users are treated so in any case.
   */
  uint32_t careful;
  /**
   * The most bytes of memory that this end accepts of a peer, which count against the address space only. 0: 64 MiB.
   */
  size_t largest_region;
  /**
   * What the program calls its messages, such as "quote, version 2", in UTF-8. Both ends must use the same. NULL: "".
   */
  const char *messages;
  /**
   * The numbers of the users whose processes may connect to a name, or listen at one. NULL: that of this process alone.
   */
  const uint32_t *users;
  /**
   * How many there are.
   */
  size_t user_count;
  /**
   * For a ys_shm_caller and a ys_shm_questions: how many questions of one caller may be without an answer at a time. Each has
   * memory for as many; of two numbers the smaller one counts. 0: 64.
   */
  size_t calls;
  /**
   * For a ys_shm_work: how many times a job is given out at most, before ys_shm_work_next_failed has it. It counts for a job when a
   * worker gives it back, or goes while it is the first that it has, which it may have begun. 0: as long as workers come.
   */
  size_t attempts;
} ys_shm_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Listens at a name: an abstract one, which vanishes with this process, or a path if it contains a slash. A peer that connects
 * gets a socket, of which either end of a channel is made; this side makes the other.
 *
 * Waits at most a second, for others that bind or free a name in the same folder.
 *
 * @param name the name, in UTF-8
 * @param options who may connect; NULL: the defaults
 * @param listener where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
 */
int ys_shm_listener_open(const char *name, const struct ys_shm_options *options, struct ys_shm_listener **listener);

/**
 * The next process that has connected and is allowed to: a socket for ys_shm_tx_open or ys_shm_rx_open, which takes it over;
 * close it if it is given to neither. Waits for one. A stranger holds nobody up: what it says is not waited for here.
 *
 * @param listener the listener
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return a descriptor; YS_EMPTY (where ns is 0), YS_TIMEOUT: nobody has connected; YS_ESYSTEM with the cause in errno:
 *     no descriptors are left, for example
 */
int ys_shm_accept(struct ys_shm_listener *listener, int64_t ns);

/**
 * The descriptor of the listener, for poll and epoll: readable when somebody has connected. It stays the listener's.
 *
 * @param listener the listener
 * @return the descriptor
 */
int ys_shm_listener_fd(struct ys_shm_listener *listener);

/**
 * Frees a listener, and takes its name away. Those that have connected and were not accepted are disconnected.
 *
 * @param listener the listener, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_listener_free(struct ys_shm_listener *listener);

/**
 * Connects to the process that listens at a name: returns a socket for ys_shm_tx_open or ys_shm_rx_open, which takes it over.
 * Only the handle that is made of it learns whether it was refused. Waits at most a second, if too many wait to be accepted. Any
 * thread.
 *
 * @param name the name, in UTF-8
 * @param options who may listen; NULL: the defaults
 * @return a descriptor; YS_EINVAL; YS_ESYSTEM with the cause in errno: ECONNREFUSED or ENOENT if nobody listens there;
 *     YS_REFUSED_USER, YS_REFUSED_NAME, YS_REFUSED_TIME
 */
int ys_shm_connect(const char *name, const struct ys_shm_options *options);

/**
 * Opens a pipe of bytes: one sender, one receiver, in two processes or in one. Either handle can be given to another process,
 * by ys_shm_tx_into_fd or ys_shm_rx_into_fd, as long as it was not used. Never blocks.
 *
 * @param capacity how many bytes the messages have together; each takes 8 more than it has, rounded up to whole words
 * @param options how the ends treat each other; NULL: the defaults
 * @param tx receives the sender; NULL after an error
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: 8 or fewer, or more than can be; YS_ESYSTEM with the cause in errno: no
 *     memory or no descriptors
 */
int ys_shm_pipe_open(size_t capacity, const struct ys_shm_options *options, struct ys_shm_tx **tx, struct ys_shm_rx **rx);

/**
 * Makes the sender of a pipe of bytes over a socket: of ys_shm_connect, ys_shm_accept or ys_shm_rx_into_fd, or an inherited one.
 * Never blocks: the peer need not be there yet, and until it is, messages are sent as long as there is room.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect and ys_shm_accept return: that error is returned
 * @param capacity how many bytes the messages have together; each takes 8 more than it has, rounded up to whole words
 * @param options how it treats its peer; NULL: the defaults
 * @param tx receives the sender; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: 8 or fewer, or more than can be; YS_REFUSED_PACKET: no such socket;
 *     YS_ESYSTEM with the cause in errno: EBADF, no memory or no descriptors
 */
int ys_shm_tx_open(int fd, size_t capacity, const struct ys_shm_options *options, struct ys_shm_tx **tx);

/**
 * Sends a message, which is copied into the channel; waits while there is no room for it.
 *
 * @param tx the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: longer than ys_shm_tx_largest; or the channel has ended: YS_CLOSED, YS_DIED,
 *     YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_send(struct ys_shm_tx *tx, const void *message, size_t length);

/**
 * Sends a message if there is room for it. Never waits.
 *
 * @param tx the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_FULL; otherwise as ys_shm_send
 */
int ys_shm_try_send(struct ys_shm_tx *tx, const void *message, size_t length);

/**
 * Sends a message; waits for so long at most.
 *
 * @param tx the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @param ns nanoseconds; 0: as ys_shm_try_send; less than 0: for ever
 * @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: there was no room; otherwise as ys_shm_send
 */
int ys_shm_send_for(struct ys_shm_tx *tx, const void *message, size_t length, int64_t ns);

/**
 * The most bytes that a message may have.
 *
 * @param tx the sender
 * @return how many; 0 after an error, with EINVAL in errno
 */
size_t ys_shm_tx_largest(struct ys_shm_tx *tx);

/**
 * Whether the channel has ended: nothing sent now would be received. One system call.
 *
 * @param tx the sender
 * @return 1 or 0, or an error: YS_CLOSED if the handle itself was closed or given away
 */
int ys_shm_tx_is_closed(struct ys_shm_tx *tx);

/**
 * The descriptor of the sender, for poll and epoll, after ys_shm_tx_arm. It stays the sender's: never read, written or closed.
 *
 * @param tx the sender
 * @return the descriptor; YS_CLOSED: the handle was closed or given away
 */
int ys_shm_tx_fd(struct ys_shm_tx *tx);

/**
 * Says that the sender is about to sleep in an event loop: if there is no room for a message of this length, the descriptor
 * becomes readable when there is, or when the channel ends. Some system calls.
 *
 * @param tx the sender
 * @param length how many bytes
 * @return 1: sleep; 0: do not, there is something to be done now; YS_ETOOLONG; YS_CLOSED: the handle was closed or given
 *     away
 */
int ys_shm_tx_arm(struct ys_shm_tx *tx, size_t length);

/**
 * Gives the socket of a sender that was not used away, for ys_shm_tx_open in another process. Only a descriptor without
 * FD_CLOEXEC is inherited: clear it in the child. The handle is as one that was closed.
 *
 * @param tx the sender
 * @return a descriptor, which is the caller's; YS_EINVAL: it was used; YS_CLOSED: it was closed or given away before
 */
int ys_shm_tx_into_fd(struct ys_shm_tx *tx);

/**
 * Closes the sender: what was sent is still received, and then YS_CLOSED. Frees its memory and descriptors; every later
 * call returns YS_CLOSED.
 *
 * @param tx the sender
 * @return YS_OK; YS_CLOSED: it was closed or given away before
 */
int ys_shm_tx_close(struct ys_shm_tx *tx);

/**
 * Frees a sender, and closes it. Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param tx the sender, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_tx_free(struct ys_shm_tx *tx);

/**
 * Makes the receiver of a pipe of bytes over a socket: of ys_shm_connect, ys_shm_accept or ys_shm_tx_into_fd, or an inherited
 * one. Never blocks: the peer need not be there yet.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect and ys_shm_accept return: that error is returned
 * @param options how it treats its peer; NULL: the defaults
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
 *     descriptors
 */
int ys_shm_rx_open(int fd, const struct ys_shm_options *options, struct ys_shm_rx **rx);

/**
 * Receives a message, which is copied out of the channel; waits while there is none.
 *
 * A message that does not fit stays whole in the channel, and `length` says how much room it needs. With a room of 0 this
 * waits for a message, and returns its length.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the message does not fit, and stays; or the channel is empty and has ended:
 *     YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_recv(struct ys_shm_rx *rx, void *to, size_t room, size_t *length);

/**
 * Receives a message if there is one. Never waits.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_recv
 */
int ys_shm_try_recv(struct ys_shm_rx *rx, void *to, size_t room, size_t *length);

/**
 * Receives a message; waits for so long at most.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
 * @param ns nanoseconds; 0: as ys_shm_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_recv
 */
int ys_shm_recv_for(struct ys_shm_rx *rx, void *to, size_t room, size_t *length, int64_t ns);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_shm_rx_arm. It stays the receiver's: never read, written or
 * closed.
 *
 * @param rx the receiver
 * @return the descriptor; YS_CLOSED: the handle was closed or given away
 */
int ys_shm_rx_fd(struct ys_shm_rx *rx);

/**
 * Says that the receiver is about to sleep in an event loop: if there is no message, the descriptor becomes readable when
 * there is, or when the channel ends. Some system calls.
 *
 * @param rx the receiver
 * @return 1: sleep; 0: do not, there is something to be done now; YS_CLOSED: the handle was closed or given away
 */
int ys_shm_rx_arm(struct ys_shm_rx *rx);

/**
 * Gives the socket of a receiver that was not used away, for ys_shm_rx_open in another process. Only a descriptor without
 * FD_CLOEXEC is inherited: clear it in the child. The handle is as one that was closed.
 *
 * @param rx the receiver
 * @return a descriptor, which is the caller's; YS_EINVAL: it was used; YS_CLOSED: it was closed or given away before
 */
int ys_shm_rx_into_fd(struct ys_shm_rx *rx);

/**
 * Closes the receiver: nothing is received any more, and the sender is told. Frees its memory and descriptors; every later
 * call returns YS_CLOSED.
 *
 * @param rx the receiver
 * @return YS_OK; YS_CLOSED: it was closed or given away before
 */
int ys_shm_rx_close(struct ys_shm_rx *rx);

/**
 * Frees a receiver, and closes it. Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param rx the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_rx_free(struct ys_shm_rx *rx);

/**
 * Opens a funnel: a receiver of many senders, which connect by its name, by ys_shm_connect, or inherit a
 * ys_shm_funnel_seat. Messages of one sender arrive in order; the senders take turns. They come and go; one that dies ends its own
 * lane alone. Accepting them is part of receiving.
 *
 * Who connects by the name has a second to say hello, which a sender does when it is used first; after that it is sent away:
 * YS_REFUSED_BY_PEER. One that has nothing to send yet calls ys_shm_tx_is_closed.
 *
 * @param name the name, as of ys_shm_listener_open; NULL: none
 * @param options how it treats its peers, and who may connect; NULL: the defaults
 * @param funnel where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
 */
int ys_shm_funnel_open(const char *name,
                       const struct ys_shm_options *options,
                       struct ys_shm_funnel **funnel);

/**
 * A place for one more sender: a socket for ys_shm_tx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC is
 * inherited: clear it in the child.
 *
 * @param funnel the funnel
 * @param sender receives the number of that sender
 * @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_funnel_seat(struct ys_shm_funnel *funnel, uint64_t *sender);

/**
 * Receives a message of any sender, as ys_shm_recv; waits while there is none.
 *
 * @param funnel the funnel
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
 * @param sender receives the number of its sender; NULL: it is not asked for
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the message does not fit, and is the next one again; YS_CLOSED: all senders of a
 *     funnel without a name are gone
 */
int ys_shm_funnel_recv(struct ys_shm_funnel *funnel, void *to, size_t room, size_t *length, uint64_t *sender);

/**
 * Receives a message if there is one. Never waits. If there is none it asks the kernel once for more.
 *
 * @param funnel the funnel
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
 * @param sender receives the number of its sender; NULL: it is not asked for
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_funnel_recv
 */
int ys_shm_funnel_try_recv(struct ys_shm_funnel *funnel, void *to, size_t room, size_t *length, uint64_t *sender);

/**
 * Receives a message; waits for so long at most.
 *
 * @param funnel the funnel
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
 * @param sender receives the number of its sender; NULL: it is not asked for
 * @param ns nanoseconds; 0: as ys_shm_funnel_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_funnel_recv
 */
int ys_shm_funnel_recv_for(struct ys_shm_funnel *funnel, void *to, size_t room, size_t *length, uint64_t *sender, int64_t ns);

/**
 * Finds the next sender that has ended since this was called last, in order. All that it had sent was received before, unless
 * it is YS_BROKEN. The last few hundred are remembered. Receiving is what notices an end. Never waits.
 *
 * @param funnel the funnel
 * @param sender receives its number
 * @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
 * @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
 */
int ys_shm_funnel_next_ended(struct ys_shm_funnel *funnel, uint64_t *sender, int *why);

/**
 * How many senders there are, with those that have connected and have not said yet what they are.
 *
 * @param funnel the funnel
 * @return how many, or an error
 */
ptrdiff_t ys_shm_funnel_senders(struct ys_shm_funnel *funnel);

/**
 * The descriptor of the funnel, for poll and epoll, after ys_shm_funnel_arm. It stays the funnel's: never read, written or
 * closed.
 *
 * @param funnel the funnel
 * @return the descriptor
 */
int ys_shm_funnel_fd(struct ys_shm_funnel *funnel);

/**
 * Says that the funnel is about to sleep in an event loop, which has received until YS_EMPTY and then asked for senders that
 * have ended: if there is no message, the descriptor becomes readable when there is, or when a sender comes or goes. Some system
 * calls.
 *
 * @param funnel the funnel
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_funnel_arm(struct ys_shm_funnel *funnel);

/**
 * Frees a funnel, and takes its name away. Its senders are told that it is closed. Also in a forked child, for a handle of its
 * parent: there it closes descriptors only.
 *
 * @param funnel the funnel, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_funnel_free(struct ys_shm_funnel *funnel);

/**
 * Opens the sender of a broadcast, whose receivers connect by its name, by ys_shm_connect, or inherit a ys_shm_broadcast_seat.
 * They come and go; one that is slow holds the sender up, one that dies no longer does, and one that is stopped looks alive.
 *
 * @param name the name, as of ys_shm_listener_open; NULL: none
 * @param capacity how many bytes the messages have together; each takes 8 more than it has, rounded up to whole words
 * @param lossy not 0: nobody holds the sender up; a receiver that is too slow goes on with the newest message, after
 *     YS_LAGGED
 * @param options how it treats its peers, and who may connect; NULL: the defaults
 * @param broadcast where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: 8 or fewer, or more than can be; YS_REFUSED_IN_USE, YS_REFUSED_NAME,
 *     YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
 */
int ys_shm_broadcast_open(const char *name,
                          size_t capacity,
                          int lossy,
                          const struct ys_shm_options *options,
                          struct ys_shm_broadcast **broadcast);

/**
 * A place for one more receiver: a socket for ys_shm_broadcast_rx_open, for a child to inherit. Only a descriptor without
 * FD_CLOEXEC is inherited: clear it in the child. Until it is used each message costs a system call.
 *
 * @param broadcast the sender
 * @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_broadcast_seat(struct ys_shm_broadcast *broadcast);

/**
 * Sends a message to all receivers, or to none if there are none; waits while one of them has no room, unless it is lossy.
 *
 * @param broadcast the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: longer than ys_shm_broadcast_largest
 */
int ys_shm_broadcast_send(struct ys_shm_broadcast *broadcast, const void *message, size_t length);

/**
 * Sends a message if all receivers have room. Never waits.
 *
 * @param broadcast the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_FULL; otherwise as ys_shm_broadcast_send
 */
int ys_shm_broadcast_try_send(struct ys_shm_broadcast *broadcast, const void *message, size_t length);

/**
 * Sends a message; waits for so long at most.
 *
 * @param broadcast the sender
 * @param message its bytes; NULL if there are none
 * @param length how many
 * @param ns nanoseconds; 0: as ys_shm_broadcast_try_send; less than 0: for ever
 * @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: there was no room; otherwise as ys_shm_broadcast_send
 */
int ys_shm_broadcast_send_for(struct ys_shm_broadcast *broadcast, const void *message, size_t length, int64_t ns);

/**
 * The most bytes that a message may have.
 *
 * @param broadcast the sender
 * @return how many; 0 after an error, with EINVAL in errno
 */
size_t ys_shm_broadcast_largest(struct ys_shm_broadcast *broadcast);

/**
 * Accepts receivers that have come, and notices those that have gone, for all of this time: what a sender without news does
 * instead of sleeping. Sending does so now and then.
 *
 * @param broadcast the sender
 * @param ns nanoseconds; 0: what there is now; less than 0: for ever
 * @return YS_OK
 */
int ys_shm_broadcast_serve(struct ys_shm_broadcast *broadcast, int64_t ns);

/**
 * How many receivers have joined: what is sent now is for all of them. One joins when it has said hello, and this end has
 * noticed it.
 *
 * @param broadcast the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_broadcast_receivers(struct ys_shm_broadcast *broadcast);

/**
 * The descriptor of the sender, for poll and epoll, after ys_shm_broadcast_arm. It stays the sender's: never read, written or
 * closed.
 *
 * @param broadcast the sender
 * @return the descriptor
 */
int ys_shm_broadcast_fd(struct ys_shm_broadcast *broadcast);

/**
 * Says that the sender is about to sleep in an event loop: if there is no room for a message of this length, the descriptor
 * becomes readable when there may be, or when a receiver comes or goes. Some system calls.
 *
 * @param broadcast the sender
 * @param length how many bytes
 * @return 1: sleep; 0: do not, there is something to be done now; YS_ETOOLONG
 */
int ys_shm_broadcast_arm(struct ys_shm_broadcast *broadcast, size_t length);

/**
 * As ys_shm_broadcast_arm, for a sender that waits for receivers, and not for room.
 *
 * @param broadcast the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_broadcast_arm_to_serve(struct ys_shm_broadcast *broadcast);

/**
 * Frees a sender, and takes its name away. Its receivers receive what was sent, and then YS_CLOSED. Also in a forked child,
 * for a handle of its parent: there it closes descriptors only.
 *
 * @param broadcast the sender, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_broadcast_free(struct ys_shm_broadcast *broadcast);

/**
 * Makes a receiver of a broadcast, lossy or not, over a socket: of ys_shm_connect or ys_shm_broadcast_seat. It says hello at
 * once, and receives from when the sender has noticed that on. Never blocks.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect returns: that error is returned
 * @param options how it treats its peer; NULL: the defaults
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
 *     descriptors
 */
int ys_shm_broadcast_rx_open(int fd, const struct ys_shm_options *options, struct ys_shm_broadcast_rx **rx);

/**
 * Receives a message, which is copied out of the memory that all receivers read; waits while there is none.
 *
 * A message that does not fit is the next one again, and `length` says how much room it needs.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @param lost receives how many messages are lost, after YS_LAGGED, and otherwise 0; NULL: it is not asked for
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the message does not fit, and is the next one again; YS_LAGGED: messages of a lossy
 *     broadcast are lost, and the next call goes on; or there is none, and the channel has ended: YS_CLOSED, YS_DIED,
 *     YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_broadcast_recv(struct ys_shm_broadcast_rx *rx, void *to, size_t room, size_t *length, uint64_t *lost);

/**
 * Receives a message if there is one. Never waits.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @param lost receives how many messages are lost, after YS_LAGGED, and otherwise 0; NULL: it is not asked for
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_broadcast_recv
 */
int ys_shm_broadcast_try_recv(struct ys_shm_broadcast_rx *rx, void *to, size_t room, size_t *length, uint64_t *lost);

/**
 * Receives a message; waits for so long at most.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @param lost receives how many messages are lost, after YS_LAGGED, and otherwise 0; NULL: it is not asked for
 * @param ns nanoseconds; 0: as ys_shm_broadcast_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_broadcast_recv
 */
int ys_shm_broadcast_recv_for(struct ys_shm_broadcast_rx *rx, void *to, size_t room, size_t *length, uint64_t *lost, int64_t ns);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_shm_broadcast_rx_arm. It stays the receiver's: never read,
 * written or closed.
 *
 * @param rx the receiver
 * @return the descriptor
 */
int ys_shm_broadcast_rx_fd(struct ys_shm_broadcast_rx *rx);

/**
 * Says that the receiver is about to sleep in an event loop: if there is no message, the descriptor becomes readable when there
 * is, or when the channel ends. Some system calls.
 *
 * @param rx the receiver
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_broadcast_rx_arm(struct ys_shm_broadcast_rx *rx);

/**
 * Frees a receiver: it no longer holds the sender up. Also in a forked child, for a handle of its parent: there it closes
 * descriptors only.
 *
 * @param rx the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_broadcast_rx_free(struct ys_shm_broadcast_rx *rx);

/**
 * Opens the sender of a watch, whose receivers connect by its name, by ys_shm_connect, or inherit a ys_shm_watch_seat. They come
 * and go, and none of them holds the sender up.
 *
 * @param name the name, as of ys_shm_listener_open; NULL: none
 * @param value the bytes of the first value; NULL if there are none
 * @param length how many
 * @param largest the most bytes of a value; the memory is that of 8 of these or more
 * @param options how it treats its peers, and who may connect; NULL: the defaults
 * @param watch where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the first value is longer than `largest`; YS_REFUSED_CAPACITY: 0, or more than can
 *     be; YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
 */
int ys_shm_watch_open(const char *name,
                      const void *value,
                      size_t length,
                      size_t largest,
                      const struct ys_shm_options *options,
                      struct ys_shm_watch **watch);

/**
 * A place for one more receiver: a socket for ys_shm_watch_rx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC
 * is inherited: clear it in the child. Until it is used each value costs a system call.
 *
 * @param watch the sender
 * @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_watch_seat(struct ys_shm_watch *watch);

/**
 * Replaces the value, whether there are receivers or not. Never waits. Those that sleep are woken.
 *
 * @param watch the sender
 * @param value its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG
 */
int ys_shm_watch_send(struct ys_shm_watch *watch, const void *value, size_t length);

/**
 * As ys_shm_broadcast_serve.
 *
 * @param watch the sender
 * @param ns nanoseconds; 0: what there is now; less than 0: for ever
 * @return YS_OK
 */
int ys_shm_watch_serve(struct ys_shm_watch *watch, int64_t ns);

/**
 * How many receivers have joined: the newest value, and all later ones, are for them.
 *
 * @param watch the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_watch_receivers(struct ys_shm_watch *watch);

/**
 * The descriptor of the sender, for poll and epoll, after ys_shm_watch_arm. It stays the sender's: never read, written or
 * closed.
 *
 * @param watch the sender
 * @return the descriptor
 */
int ys_shm_watch_fd(struct ys_shm_watch *watch);

/**
 * For an event loop: serves; then the descriptor becomes readable when a receiver comes or goes. Some system calls.
 *
 * @param watch the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_watch_arm(struct ys_shm_watch *watch);

/**
 * Frees a sender, and takes its name away. Its receivers receive the last value, and then YS_CLOSED. Also in a forked child,
 * for a handle of its parent: there it closes descriptors only.
 *
 * @param watch the sender, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_watch_free(struct ys_shm_watch *watch);

/**
 * Makes a receiver of a watch over a socket: of ys_shm_connect or ys_shm_watch_seat. It says hello at once. Never blocks.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect returns: that error is returned
 * @param options how it treats its peer; NULL: the defaults
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
 *     descriptors
 */
int ys_shm_watch_rx_open(int fd, const struct ys_shm_options *options, struct ys_shm_watch_rx **rx);

/**
 * Receives the newest value; waits until there is one that it has not received. None that was replaced before is received.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the value does not fit, and may still be received; or there is none, and the channel
 *     has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_watch_recv(struct ys_shm_watch_rx *rx, void *to, size_t room, size_t *length);

/**
 * Receives the newest value if it was not received. Never waits.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_watch_recv
 */
int ys_shm_watch_try_recv(struct ys_shm_watch_rx *rx, void *to, size_t room, size_t *length);

/**
 * Receives the newest value; waits for so long at most.
 *
 * @param rx the receiver
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @param ns nanoseconds; 0: as ys_shm_watch_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_watch_recv
 */
int ys_shm_watch_recv_for(struct ys_shm_watch_rx *rx, void *to, size_t room, size_t *length, int64_t ns);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_shm_watch_rx_arm. It stays the receiver's: never read, written
 * or closed.
 *
 * @param rx the receiver
 * @return the descriptor
 */
int ys_shm_watch_rx_fd(struct ys_shm_watch_rx *rx);

/**
 * Says that the receiver is about to sleep in an event loop: if there is no new value, the descriptor becomes readable when
 * there is, or when the channel ends. Some system calls.
 *
 * @param rx the receiver
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_watch_rx_arm(struct ys_shm_watch_rx *rx);

/**
 * Frees a receiver. Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param rx the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_watch_rx_free(struct ys_shm_watch_rx *rx);

/**
 * Opens the sender of loans, with a pool of slots, whose receivers connect by its name, by ys_shm_connect, or inherit a
 * ys_shm_loan_seat. A slot is free again when each receiver has received what was in it, and has given it back, or is gone: one
 * that dies holds nothing. A receiver that is slow or stopped, or keeps what it has, holds the sender up. All receivers can read
 * the whole pool, also what was lent before they came.
 *
 * @param name the name, as of ys_shm_listener_open; NULL: none
 * @param slots how many slots there are, 1 to 32768; all their memory is taken at once
 * @param largest the most bytes of a message in a slot
 * @param options how it treats its peers, and who may connect; NULL: the defaults
 * @param loan where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY, YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the
 *     cause in errno
 */
int ys_shm_loan_open(const char *name,
                     size_t slots,
                     size_t largest,
                     const struct ys_shm_options *options,
                     struct ys_shm_loan **loan);

/**
 * A place for one more receiver: a socket for ys_shm_loan_rx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC
 * is inherited: clear it in the child. Until it is used each message costs a system call.
 *
 * @param loan the sender
 * @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_loan_seat(struct ys_shm_loan *loan);

/**
 * Gives the caller a free slot to write a message into; waits while the pool has none. The slot has the bytes of an earlier
 * message, and is aligned to 64. It belongs to the caller until ys_shm_loan_commit sends it; any other call for this sender but
 * ys_shm_loan_fd and ys_shm_loan_largest gives it back unsent.
 *
 * @param loan the sender
 * @param length how many bytes the message has at most
 * @param to receives the address of the slot; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: longer than ys_shm_loan_largest; or no receiver is there, and none can come: why the
 *     last one has gone, YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_loan_reserve(struct ys_shm_loan *loan, size_t length, void **to);

/**
 * Gives the caller a slot if one is free. Never waits.
 *
 * @param loan the sender
 * @param length how many bytes the message has at most
 * @param to receives the address of the slot; NULL after an error
 * @return YS_OK; YS_FULL: no slot is free; otherwise as ys_shm_loan_reserve
 */
int ys_shm_loan_try_reserve(struct ys_shm_loan *loan, size_t length, void **to);

/**
 * Gives the caller a slot; waits for so long at most.
 *
 * @param loan the sender
 * @param length how many bytes the message has at most
 * @param to receives the address of the slot; NULL after an error
 * @param ns nanoseconds; 0: as ys_shm_loan_try_reserve; less than 0: for ever
 * @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: no slot was free; otherwise as ys_shm_loan_reserve
 */
int ys_shm_loan_reserve_for(struct ys_shm_loan *loan, size_t length, void **to, int64_t ns);

/**
 * Gives the caller memory of its own for a message of any length, all zero; otherwise as ys_shm_loan_reserve_for. Nobody can
 * write it once it is sent, so that receivers need not copy it: ys_shm_borrowed_sealed. It takes some twenty system calls, and pays
 * from about a megabyte on. Waits while 16 such messages have not been received by all.
 *
 * @param loan the sender
 * @param length how many bytes the message has at most
 * @param to receives the address of the memory; NULL after an error
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: 16 were on their way; YS_ESYSTEM with the cause in errno: no memory; otherwise
 *     as ys_shm_loan_reserve
 */
int ys_shm_loan_reserve_large(struct ys_shm_loan *loan,
                              size_t length,
                              void **to,
                              int64_t ns);

/**
 * Sends the message that was reserved last to all receivers that have joined; to nobody, if there are none. Never waits. From then on
 * the caller must not touch its memory.
 *
 * @param loan the sender
 * @param length how many bytes it has
 * @return YS_OK; YS_EINVAL: nothing is reserved; YS_ETOOLONG: more bytes than were reserved, which stay so; YS_ESYSTEM with the
 *     cause in errno: the system has not passed on memory of its own, and nobody has it
 */
int ys_shm_loan_commit(struct ys_shm_loan *loan,
                       size_t length);

/**
 * The most bytes that a slot has.
 *
 * @param loan the sender
 * @return how many; 0 after an error, with EINVAL in errno
 */
size_t ys_shm_loan_largest(struct ys_shm_loan *loan);

/**
 * How many slots nobody has now. Looks at all receivers. Never waits.
 *
 * @param loan the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_loan_unused(struct ys_shm_loan *loan);

/**
 * How many slots receivers hold now. Those that are neither unused nor held have not been received by some. Never waits.
 *
 * @param loan the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_loan_held(struct ys_shm_loan *loan);

/**
 * As ys_shm_broadcast_serve.
 *
 * @param loan the sender
 * @param ns nanoseconds; 0: what there is now; less than 0: for ever
 * @return YS_OK
 */
int ys_shm_loan_serve(struct ys_shm_loan *loan, int64_t ns);

/**
 * How many receivers have joined: what is sent now is for all of them. One joins when it has said hello, and this end has
 * noticed it.
 *
 * @param loan the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_loan_receivers(struct ys_shm_loan *loan);

/**
 * The descriptor of the sender, for poll and epoll, after ys_shm_loan_arm. It stays the sender's: never read, written or closed.
 *
 * @param loan the sender
 * @return the descriptor
 */
int ys_shm_loan_fd(struct ys_shm_loan *loan);

/**
 * As ys_shm_loan_seat, with the receiver's number, by which ys_shm_loan_slowest and ys_shm_loan_next_ended name it.
 *
 * @param loan the sender
 * @param receiver receives the number of that receiver
 * @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_loan_numbered_seat(struct ys_shm_loan *loan, uint64_t *receiver);

/**
 * Finds the receiver that keeps the most from the sender: messages that it has not received, and slots that it holds. One that is stopped
 * keeps the pool dry for all, until its process is gone, which a program can end that knows it. Looks at all receivers. Never waits.
 *
 * @param loan the sender
 * @param receiver receives its number; NULL: it is not asked for
 * @return how much that is; 0: no receiver keeps anything; or an error
 */
ptrdiff_t ys_shm_loan_slowest(struct ys_shm_loan *loan,
                              uint64_t *receiver);

/**
 * Finds the next receiver that has ended since this was called last, in order. The last few hundred are remembered. What sends, waits or
 * serves notices an end. Never waits.
 *
 * @param loan the sender
 * @param receiver receives its number
 * @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
 * @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
 */
int ys_shm_loan_next_ended(struct ys_shm_loan *loan,
                           uint64_t *receiver,
                           int *why);

/**
 * Says that the sender is about to sleep in an event loop: if no slot is free, the descriptor becomes readable when one may be, or
 * when a receiver comes or goes. Some system calls.
 *
 * @param loan the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_loan_arm(struct ys_shm_loan *loan);

/**
 * As ys_shm_loan_arm, for ys_shm_loan_reserve_large.
 *
 * @param loan the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_loan_arm_large(struct ys_shm_loan *loan);

/**
 * As ys_shm_loan_arm, for a sender that waits for receivers, and not for a slot.
 *
 * @param loan the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_loan_arm_to_serve(struct ys_shm_loan *loan);

/**
 * Frees a sender, and takes its name away. Its receivers receive what was sent, and then YS_CLOSED; what they have borrowed stays.
 * Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param loan the sender, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_loan_free(struct ys_shm_loan *loan);

/**
 * Makes a receiver of loans over a socket: of ys_shm_connect or ys_shm_loan_seat. It says hello at once, and receives from when the
 * sender has noticed that on. A pool of more bytes than the options allow is refused. Never blocks.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect returns: that error is returned
 * @param options how it treats its peer; NULL: the defaults
 * @param rx receives the receiver; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
 *     descriptors
 */
int ys_shm_loan_rx_open(int fd,
                        const struct ys_shm_options *options,
                        struct ys_shm_loan_rx **rx);

/**
 * Receives a message, in the memory where its sender has filled it; waits while there is none. Any number may be borrowed at a
 * time; each is a slot that the sender does not have.
 *
 * @param rx the receiver
 * @param borrowed receives the message; NULL after an error
 * @return YS_OK; YS_EINVAL; or there is none, and the channel has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED
 *     and the codes behind it, also of memory of its own that is larger than the options allow
 */
int ys_shm_loan_recv(struct ys_shm_loan_rx *rx, struct ys_shm_borrowed **borrowed);

/**
 * Receives a message if there is one. Never waits.
 *
 * @param rx the receiver
 * @param borrowed receives the message; NULL after an error
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_loan_recv
 */
int ys_shm_loan_try_recv(struct ys_shm_loan_rx *rx, struct ys_shm_borrowed **borrowed);

/**
 * Receives a message; waits for so long at most.
 *
 * @param rx the receiver
 * @param borrowed receives the message; NULL after an error
 * @param ns nanoseconds; 0: as ys_shm_loan_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_loan_recv
 */
int ys_shm_loan_recv_for(struct ys_shm_loan_rx *rx, struct ys_shm_borrowed **borrowed, int64_t ns);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_shm_loan_rx_arm. It stays the receiver's: never read, written or
 * closed.
 *
 * @param rx the receiver
 * @return the descriptor
 */
int ys_shm_loan_rx_fd(struct ys_shm_loan_rx *rx);

/**
 * Says that the receiver is about to sleep in an event loop: if there is no message, the descriptor becomes readable when there
 * is, or when the channel ends. Some system calls.
 *
 * @param rx the receiver
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_loan_rx_arm(struct ys_shm_loan_rx *rx);

/**
 * Frees a receiver. What it has borrowed stays, and counts as a receiver's until it is freed. Also in a forked child, for a handle of
 * its parent: there it closes descriptors only.
 *
 * @param rx the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_loan_rx_free(struct ys_shm_loan_rx *rx);

/**
 * How many bytes a message has.
 *
 * @param borrowed the message
 * @return how many; 0 after an error, with EINVAL in errno
 */
size_t ys_shm_borrowed_length(struct ys_shm_borrowed *borrowed);

/**
 * Copies bytes of a message to a buffer, as many as there are and have room, within its bounds whatever its sender does meanwhile.
 * What a program checks must be its copy.
 *
 * @param borrowed the message
 * @param at how many bytes from its start
 * @param to where the bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @return how many were copied, or an error: YS_EINVAL
 */
ptrdiff_t ys_shm_borrowed_copy(struct ys_shm_borrowed *borrowed,
                               size_t at,
                               void *to,
                               size_t room);

/**
 * The bytes of a message that nobody can write any more: of ys_shm_loan_reserve_large. They stay until it is freed.
 *
 * @param borrowed the message
 * @return the address of its first byte; NULL if its sender could still write it, and after an error
 */
const void *ys_shm_borrowed_sealed(struct ys_shm_borrowed *borrowed);

/**
 * The bytes of any message where they are, aligned to 64, for who trusts the sender: it keeps off what it has lent, but a hostile
 * one could write them at any time, so that of two reads each may find something else. For reading only. They stay until the
 * message is freed.
 *
 * @param borrowed the message
 * @return the address of its first byte; NULL after an error
 */
const void *ys_shm_borrowed_untrusted(struct ys_shm_borrowed *borrowed);

/**
 * Gives a message back, and frees its handle: its sender, if it waits for a slot, is woken. Never waits. Also in a forked child, for a
 * handle of its parent: there it gives nothing back.
 *
 * @param borrowed the message, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_borrowed_free(struct ys_shm_borrowed *borrowed);

/**
 * Makes a caller over a socket: of ys_shm_connect or ys_shm_questions_seat. It says hello at once. Never blocks.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect returns: that error is returned
 * @param largest the most bytes of a question, rounded up to 8; there is memory for as many of these as calls may be under way,
 *     which the other end accepts by its `largest_region`. How long an answer may be that end says
 * @param options how it treats its peer, and how many calls may be under way; NULL: the defaults
 * @param caller receives the caller; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest`, or a number of calls, that cannot be, such as 0; YS_REFUSED_PACKET: no
 *     such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no descriptors
 */
int ys_shm_caller_open(int fd,
                       size_t largest,
                       const struct ys_shm_options *options,
                       struct ys_shm_caller **caller);

/**
 * Asks, and waits for the answer, for so long at most; then it gives up.
 *
 * An answer that does not fit stays, and `answered` says how much room it needs: it is that of the call number 0, for
 * ys_shm_caller_recv, until the next ys_shm_caller_call. With a room of 0 this waits for an answer, and returns its length.
 *
 * @param caller the caller
 * @param question its bytes; NULL if there are none
 * @param length how many
 * @param to where the bytes of the answer are put, which may be where the question is; NULL if there is no room
 * @param room how many bytes there is room for
 * @param answered receives how many bytes the answer has; 0 after any other error than YS_ETOOLONG
 * @param ns nanoseconds; less than 0: for ever
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the answer, or, if `answered` is 0, the question, which is not sent; YS_EMPTY (where ns is
 *     0), YS_TIMEOUT: there was no answer; YS_UNANSWERED: the question was dropped; or the channel has ended, and the question may have
 *     been received: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_caller_call(struct ys_shm_caller *caller,
                       const void *question,
                       size_t length,
                       void *to,
                       size_t room,
                       size_t *answered,
                       int64_t ns);

/**
 * Asks, and goes on; waits while as many calls are under way as may be, or the other end has not accepted this caller yet. Several may
 * be under way at once, whose answers come in any order. A call is under way until its answer was received or it was given up.
 *
 * @param caller the caller
 * @param question its bytes; NULL if there are none
 * @param length how many
 * @param call receives the number of the call; 0 after an error
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG; or the channel has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the
 *     codes behind it
 */
int ys_shm_caller_ask(struct ys_shm_caller *caller,
                      const void *question,
                      size_t length,
                      uint64_t *call);

/**
 * Asks if there is nothing to wait for. Never waits.
 *
 * @param caller the caller
 * @param question its bytes; NULL if there are none
 * @param length how many
 * @param call receives the number of the call; 0 after an error
 * @return YS_OK; YS_FULL; otherwise as ys_shm_caller_ask
 */
int ys_shm_caller_try_ask(struct ys_shm_caller *caller, const void *question, size_t length, uint64_t *call);

/**
 * Asks; waits for so long at most.
 *
 * @param caller the caller
 * @param question its bytes; NULL if there are none
 * @param length how many
 * @param call receives the number of the call; 0 after an error
 * @param ns nanoseconds; 0: as ys_shm_caller_try_ask; less than 0: for ever
 * @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: it had to wait; otherwise as ys_shm_caller_ask
 */
int ys_shm_caller_ask_for(struct ys_shm_caller *caller, const void *question, size_t length, uint64_t *call, int64_t ns);

/**
 * Receives the answer of a call; waits until it is there. Then the call is over, as it is after any error but YS_ETOOLONG,
 * YS_EMPTY and YS_TIMEOUT. Answers that were given before the channel has ended are received.
 *
 * @param caller the caller
 * @param call the number of the call; 0: that of the last ys_shm_caller_call, whose answer did not fit
 * @param to where the bytes of the answer are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EINVAL; YS_ERANGE: no call of this caller that is not over has this number; YS_ETOOLONG: the answer does not fit, and
 *     stays; YS_UNANSWERED: the question was dropped; or the channel has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or
 *     YS_REFUSED and the codes behind it
 */
int ys_shm_caller_recv(struct ys_shm_caller *caller,
                       uint64_t call,
                       void *to,
                       size_t room,
                       size_t *length);

/**
 * Receives the answer of a call if it is there. Never waits.
 *
 * @param caller the caller
 * @param call the number of the call
 * @param to where the bytes of the answer are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EMPTY: the call goes on; otherwise as ys_shm_caller_recv
 */
int ys_shm_caller_try_recv(struct ys_shm_caller *caller, uint64_t call, void *to, size_t room, size_t *length);

/**
 * Receives the answer of a call; waits for so long at most.
 *
 * @param caller the caller
 * @param call the number of the call
 * @param to where the bytes of the answer are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @param ns nanoseconds; 0: as ys_shm_caller_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: the call goes on; otherwise as ys_shm_caller_recv
 */
int ys_shm_caller_recv_for(struct ys_shm_caller *caller, uint64_t call, void *to, size_t room, size_t *length, int64_t ns);

/**
 * Gives a call up. The question is received and answered all the same; until then it counts against those that may be under
 * way. Never waits.
 *
 * @param caller the caller
 * @param call the number of the call
 * @return YS_OK; YS_ERANGE: no call of this caller that is not over has this number
 */
int ys_shm_caller_give_up(struct ys_shm_caller *caller, uint64_t call);

/**
 * Whether the channel has ended: no question that is asked now would be received. One system call.
 *
 * @param caller the caller
 * @return 1 or 0, or an error
 */
int ys_shm_caller_is_closed(struct ys_shm_caller *caller);

/**
 * The descriptor of the caller, for poll and epoll, after ys_shm_caller_arm. It stays the caller's: never read, written or closed.
 *
 * @param caller the caller
 * @return the descriptor
 */
int ys_shm_caller_fd(struct ys_shm_caller *caller);

/**
 * Says that the caller is about to sleep in an event loop: if none of its calls has ended, the descriptor becomes readable when
 * one has, or when the channel ends. Some system calls, and a look at each call.
 *
 * @param caller the caller
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_caller_arm(struct ys_shm_caller *caller);

/**
 * As ys_shm_caller_arm, for who waits for one call: others may have ended, and not be received yet.
 *
 * @param caller the caller
 * @param call the number of the call
 * @return 1: sleep; 0: do not, there is something to be done now; YS_ERANGE: no call of this caller that is not over has this number
 */
int ys_shm_caller_arm_to_recv(struct ys_shm_caller *caller,
                              uint64_t call);

/**
 * As ys_shm_caller_arm, for who waits until it may ask.
 *
 * @param caller the caller
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_caller_arm_to_ask(struct ys_shm_caller *caller);

/**
 * Frees a caller, and gives up its calls. Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param caller the caller, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_caller_free(struct ys_shm_caller *caller);

/**
 * Opens the receiver of the questions of many callers, which connect by its name, by ys_shm_connect, or inherit a
 * ys_shm_questions_seat. They come and go as the senders of a ys_shm_funnel.
 *
 * @param name the name, as of ys_shm_listener_open; NULL: none
 * @param largest the most bytes of an answer, rounded up to 8; there is memory for as many of these as each caller may have calls
 *     under way, which that accepts by its `largest_region`. How long a question may be each caller says
 * @param options how it treats its peers, who may connect, and how many questions of one may be without an answer; NULL: the
 *     defaults
 * @param questions where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest`, or a number of calls, that cannot be, such as 0; YS_REFUSED_IN_USE,
 *     YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
 */
int ys_shm_questions_open(const char *name,
                          size_t largest,
                          const struct ys_shm_options *options,
                          struct ys_shm_questions **questions);

/**
 * A place for one more caller: a socket for ys_shm_caller_open, for a child to inherit. Only a descriptor without FD_CLOEXEC is
 * inherited: clear it in the child.
 *
 * @param questions the receiver
 * @param caller receives the number of that caller
 * @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_questions_seat(struct ys_shm_questions *questions, uint64_t *caller);

/**
 * Receives a question of any caller; waits while there is none.
 *
 * @param questions the receiver
 * @param question receives the question; NULL after an error
 * @param caller receives the number of its caller; NULL: it is not asked for
 * @return YS_OK; YS_EINVAL; YS_CLOSED: all callers of a receiver without a name are gone
 */
int ys_shm_questions_recv(struct ys_shm_questions *questions, struct ys_shm_question **question, uint64_t *caller);

/**
 * Receives a question if there is one. Never waits. If there is none it asks the kernel once for more.
 *
 * @param questions the receiver
 * @param question receives the question; NULL after an error
 * @param caller receives the number of its caller; NULL: it is not asked for
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_questions_recv
 */
int ys_shm_questions_try_recv(struct ys_shm_questions *questions, struct ys_shm_question **question, uint64_t *caller);

/**
 * Receives a question; waits for so long at most.
 *
 * @param questions the receiver
 * @param question receives the question; NULL after an error
 * @param caller receives the number of its caller; NULL: it is not asked for
 * @param ns nanoseconds; 0: as ys_shm_questions_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_questions_recv
 */
int ys_shm_questions_recv_for(struct ys_shm_questions *questions,
                              struct ys_shm_question **question,
                              uint64_t *caller,
                              int64_t ns);

/**
 * The next caller that has ended since this was asked last, in order, as ys_shm_funnel_next_ended.
 *
 * @param questions the receiver
 * @param caller receives its number
 * @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
 * @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
 */
int ys_shm_questions_next_ended(struct ys_shm_questions *questions, uint64_t *caller, int *why);

/**
 * How many callers there are, with those that have connected and have not said yet what they are.
 *
 * @param questions the receiver
 * @return how many, or an error
 */
ptrdiff_t ys_shm_questions_callers(struct ys_shm_questions *questions);

/**
 * The descriptor of the receiver, for poll and epoll, after ys_shm_questions_arm. It stays the receiver's: never read, written or
 * closed.
 *
 * @param questions the receiver
 * @return the descriptor
 */
int ys_shm_questions_fd(struct ys_shm_questions *questions);

/**
 * Says that the receiver is about to sleep in an event loop, which has received until YS_EMPTY and then asked for callers that have
 * ended: if there is no question, the descriptor becomes readable when there is, or when a caller comes or goes. Some system
 * calls.
 *
 * @param questions the receiver
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_questions_arm(struct ys_shm_questions *questions);

/**
 * Frees a receiver, and takes its name away. Its callers are told that it is closed; questions that were received can be answered no more.
 * Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param questions the receiver, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_questions_free(struct ys_shm_questions *questions);

/**
 * How many bytes a question has.
 *
 * @param question the question
 * @return how many; 0 after an error, with EINVAL in errno
 */
size_t ys_shm_question_length(struct ys_shm_question *question);

/**
 * The bytes of a question: a copy of this process's own, which stays until it is answered or freed.
 *
 * @param question the question
 * @return the address of its first byte; NULL after an error: it was answered
 */
const void *ys_shm_question_bytes(struct ys_shm_question *question);

/**
 * Answers a question; the caller, if it waits, is woken. If that has given up, or is gone, or the receiver of questions was freed, the
 * answer reaches nobody. Never waits, but for other answers to this caller that are given just now.
 *
 * @param question the question, which is freed afterwards
 * @param answer its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: it is not answered yet; YS_CLOSED: it was answered before
 */
int ys_shm_question_answer(struct ys_shm_question *question,
                           const void *answer,
                           size_t length);

/**
 * Frees a question. If it was not answered its caller is told so: YS_UNANSWERED. Also in a forked child, for a handle of its
 * parent: there it tells nobody.
 *
 * @param question the question, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_question_free(struct ys_shm_question *question);

/**
 * Opens the sender of a work queue, whose workers connect by its name, by ys_shm_connect, or inherit a ys_shm_work_seat. Each job
 * goes to one of them, the one that has the fewest. A worker has at most `credit` jobs at a time, of which it works on one.
 *
 * A job is finished once, unless the sender ends before, and given out at least once: once more for each worker that gives it
 * back, or that dies, leaves or breaks the protocol while it has it. The first one that such a worker had may have been done. So
 * a job must be such that it may be done again; the option `attempts` limits how often. What was given back is given out before any new job, by every call that sends
 * or waits.
 *
 * @param name the name, as of ys_shm_listener_open; NULL: none
 * @param largest the most bytes of a job, rounded up to 8; there is memory for `credit` of these for each worker, which that accepts
 *     by its `largest_region`
 * @param credit the most jobs that a worker has, 1 to 64
 * @param options how it treats its peers, and who may connect; NULL: the defaults
 * @param work where it is put; NULL is put there after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest` or `credit` that cannot be, such as 0; YS_REFUSED_IN_USE,
 *     YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
 */
int ys_shm_work_open(const char *name,
                     size_t largest,
                     size_t credit,
                     const struct ys_shm_options *options,
                     struct ys_shm_work **work);

/**
 * A place for one more worker: a socket for ys_shm_work_rx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC is
 * inherited: clear it in the child. Until it is used each job costs a system call.
 *
 * @param work the sender
 * @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_work_seat(struct ys_shm_work *work);

/**
 * As ys_shm_work_seat, with the worker's number, by which ys_shm_work_next_ended names it.
 *
 * @param work the sender
 * @param worker receives the number of that worker
 * @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
 */
int ys_shm_work_numbered_seat(struct ys_shm_work *work, uint64_t *worker);

/**
 * Finds the next worker that has ended since this was called last, in order. The last few hundred are remembered. What sends or waits
 * notices an end. Never waits.
 *
 * @param work the sender
 * @param worker receives its number
 * @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
 * @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
 */
int ys_shm_work_next_ended(struct ys_shm_work *work,
                           uint64_t *worker,
                           int *why);

/**
 * Takes the next job that was given out as many times as the option `attempts` allows, and was not finished. Nobody gets it any more, and
 * it does not count as unfinished. Never waits.
 *
 * @param work the sender
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EINVAL; YS_EMPTY: none has failed; YS_ETOOLONG: it does not fit, and is the next one again
 */
int ys_shm_work_next_failed(struct ys_shm_work *work,
                            void *to,
                            size_t room,
                            size_t *length);

/**
 * Gives out a job; waits while no worker may have one more, or none is there.
 *
 * @param work the sender
 * @param job its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG; YS_CLOSED: no worker is there, and none can come
 */
int ys_shm_work_send(struct ys_shm_work *work, const void *job, size_t length);

/**
 * Gives out a job if a worker may have one more. Never waits.
 *
 * @param work the sender
 * @param job its bytes; NULL if there are none
 * @param length how many
 * @return YS_OK; YS_FULL; otherwise as ys_shm_work_send
 */
int ys_shm_work_try_send(struct ys_shm_work *work, const void *job, size_t length);

/**
 * Gives out a job; waits for so long at most.
 *
 * @param work the sender
 * @param job its bytes; NULL if there are none
 * @param length how many
 * @param ns nanoseconds; 0: as ys_shm_work_try_send; less than 0: for ever
 * @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: no worker could have it; otherwise as ys_shm_work_send
 */
int ys_shm_work_send_for(struct ys_shm_work *work, const void *job, size_t length, int64_t ns);

/**
 * Waits until all jobs that were sent are finished, or have failed. What workers give back meanwhile, it gives to others.
 *
 * @param work the sender
 * @param ns nanoseconds; 0: never waits; less than 0: for ever
 * @return YS_OK: all are; YS_TIMEOUT: some are not; YS_CLOSED: some are not, no worker is there, and none can come
 */
int ys_shm_work_settle(struct ys_shm_work *work, int64_t ns);

/**
 * Accepts workers that have come, notices those that have gone, and gives out what was given back, for all of this time: what a
 * sender without new jobs does instead of sleeping. It returns before, if no worker is there and none can come.
 *
 * @param work the sender
 * @param ns nanoseconds; 0: what there is now; less than 0: for ever
 * @return YS_OK
 */
int ys_shm_work_serve(struct ys_shm_work *work, int64_t ns);

/**
 * How many jobs workers have finished, as far as was noticed. Each is counted once.
 *
 * @param work the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_work_finished(struct ys_shm_work *work);

/**
 * How many jobs that were sent are not finished, as far as was noticed.
 *
 * @param work the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_work_unfinished(struct ys_shm_work *work);

/**
 * How many workers there are, with those that have connected and have not said yet what they are.
 *
 * @param work the sender
 * @return how many, or an error
 */
ptrdiff_t ys_shm_work_workers(struct ys_shm_work *work);

/**
 * The descriptor of the sender, for poll and epoll, after ys_shm_work_arm. It stays the sender's: never read, written or closed.
 *
 * @param work the sender
 * @return the descriptor
 */
int ys_shm_work_fd(struct ys_shm_work *work);

/**
 * Says that the sender is about to sleep in an event loop: if no worker may have one more job, the descriptor becomes readable when
 * one may, or when a worker comes or goes. Some system calls.
 *
 * @param work the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_work_arm(struct ys_shm_work *work);

/**
 * As ys_shm_work_arm, for a sender that has no job to send, and waits until ys_shm_work_settle returns YS_OK at once.
 *
 * @param work the sender
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_work_arm_to_settle(struct ys_shm_work *work);

/**
 * As ys_shm_work_arm, for a sender that has no job to send, and waits for workers and for what they give back, as ys_shm_work_serve does.
 *
 * @param work the sender
 * @return 1: sleep; 0: do not, there is something to be done now; YS_CLOSED: no worker is there, and none can come
 */
int ys_shm_work_arm_to_serve(struct ys_shm_work *work);

/**
 * Frees a sender, and takes its name away. Its workers receive the jobs that they were given, and then YS_CLOSED; nobody gets those
 * that they give back. Also in a forked child, for a handle of its parent: there it closes descriptors only.
 *
 * @param work the sender, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_work_free(struct ys_shm_work *work);

/**
 * Makes a worker over a socket: of ys_shm_connect or ys_shm_work_seat. It says hello at once, and may be given jobs from then on.
 * Never blocks.
 *
 * @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
 *     0, as ys_shm_connect returns: that error is returned
 * @param options how it treats its peer; NULL: the defaults
 * @param rx receives the worker; NULL after an error
 * @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
 *     descriptors
 */
int ys_shm_work_rx_open(int fd, const struct ys_shm_options *options, struct ys_shm_work_rx **rx);

/**
 * Receives a job; waits while there is none. Who has done it says so by ys_shm_work_finish; until then, or ys_shm_work_give_back,
 * it is the next one again. A worker that is freed, or whose process dies, gives back what it has not finished.
 *
 * @param rx the worker
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EINVAL; YS_ETOOLONG: the job does not fit, and is the next one again; or there is none, and the channel has
 *     ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
 */
int ys_shm_work_recv(struct ys_shm_work_rx *rx, void *to, size_t room, size_t *length);

/**
 * Receives a job if there is one. Never waits.
 *
 * @param rx the worker
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @return YS_OK; YS_EMPTY; otherwise as ys_shm_work_recv
 */
int ys_shm_work_try_recv(struct ys_shm_work_rx *rx, void *to, size_t room, size_t *length);

/**
 * Receives a job; waits for so long at most.
 *
 * @param rx the worker
 * @param to where its bytes are put; NULL if there is no room
 * @param room how many bytes there is room for
 * @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
 * @param ns nanoseconds; 0: as ys_shm_work_try_recv; less than 0: for ever
 * @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_work_recv
 */
int ys_shm_work_recv_for(struct ys_shm_work_rx *rx, void *to, size_t room, size_t *length, int64_t ns);

/**
 * Says that the job that was received is done: nobody does it again. Never waits.
 *
 * @param rx the worker
 * @return YS_OK; YS_EINVAL: no job was received since the last one was finished or given back
 */
int ys_shm_work_finish(struct ys_shm_work_rx *rx);

/**
 * Gives the job that was received back, undone: the sender gives it to another worker, or to this one if no other is as free. Never
 * waits.
 *
 * @param rx the worker
 * @return as ys_shm_work_finish
 */
int ys_shm_work_give_back(struct ys_shm_work_rx *rx);

/**
 * The descriptor of the worker, for poll and epoll, after ys_shm_work_rx_arm. It stays the worker's: never read, written or closed.
 *
 * @param rx the worker
 * @return the descriptor
 */
int ys_shm_work_rx_fd(struct ys_shm_work_rx *rx);

/**
 * Says that the worker is about to sleep in an event loop: if there is no job, the descriptor becomes readable when there is, or when
 * the channel ends. Some system calls.
 *
 * @param rx the worker
 * @return 1: sleep; 0: do not, there is something to be done now
 */
int ys_shm_work_rx_arm(struct ys_shm_work_rx *rx);

/**
 * Frees a worker: what it has not finished is given to others. Also in a forked child, for a handle of its parent: there it closes
 * descriptors only.
 *
 * @param rx the worker, which is not to be used any more; NULL: nothing is done
 */
void ys_shm_work_rx_free(struct ys_shm_work_rx *rx);

/**
 * Why the last call of this thread was refused that has returned YS_REFUSED or one of the codes behind it, in full: after
 * YS_REFUSED_BY_PEER with what the peer has said, after YS_REFUSED_USER with the number of the user. Any thread.
 *
 * @return a text, which stays until this thread is refused again, or ends; empty if it was never refused; not to be
 *     freed
 */
const char *ys_shm_refusal(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* YSUITE_SHM_H */
