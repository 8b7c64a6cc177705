/** @file ysuite.h
 *  @mainpage ysuite for C and C++
 *
 *  Messages between the threads of one process, by channels whose receivers sleep while there is nothing, and whose senders pay for a
 *  wake-up only then. C11 and C++17; ysuite.hpp has the same as classes. Link with `-lysuite`.
 *
 *  @code{.c}
 *  #include <ysuite.h>
 *
 *  typedef struct job { uint64_t number; double weight; } job;
 *  YS_DEFINE_PIPE(jobs, job);                         // jobs_tx, jobs_rx, jobs_send, jobs_recv ...
 *
 *  static void *worker(void *arg) {
 *    jobs_rx rx = *(jobs_rx *)arg;
 *    job j;
 *    while (jobs_recv(rx, &j) == YS_OK) work(&j);     // sleeps while there is none; stops when the sender is gone
 *    jobs_rx_free(rx);
 *    return NULL;
 *  }
 *
 *  int main(void) {
 *    jobs_tx tx;
 *    jobs_rx rx;
 *    pthread_t thread;
 *    int code = jobs_open(1024, &tx, &rx);            // at most 1,024 at a time; 0 is no bound
 *    if (code != YS_OK) return fprintf(stderr, "%s\n", ys_error_text(code)), 1;
 *    pthread_create(&thread, NULL, worker, &rx);
 *    for (uint64_t n = 0; n < 1000000; n++) jobs_send(tx, &(job){ n, 1.0 });
 *    jobs_tx_free(tx);
 *    return pthread_join(thread, NULL);
 *  }
 *  @endcode
 *
 *  @section kinds Kinds of channels
 *
 *  | kind | handles | notes |
 *  |---|---|---|
 *  | spsc: ys_pipe_open() | one sender, one receiver | the fastest; with or without a bound |
 *  | mpsc: ys_funnel_open() | senders by ys_tx_clone(), one receiver | each sender has a lane: its own order, its own bound |
 *  | mpmc: ys_exchange_open() | both by ys_tx_clone() and ys_rx_clone() | one order over all; each message to one receiver |
 *  | oneshot: ys_oneshot_open() | one of each | one message |
 *  | broadcast: ys_broadcast_open(), ys_broadcast_lossy_open() | both by clones and ys_tx_subscribe() | each message to every receiver, as a copy |
 *  | watch: ys_watch_open() | likewise | one value: the newest, as a copy |
 *
 *  Of mpmc, broadcast and watch, ys_tx_share() makes a sender that any number of threads use at once.
 *
 *  @section handles Handles
 *
 *  A `ys_tx` sends, a `ys_rx` receives. A handle serves one thread at a time and may move between threads with the
 *  usual synchronisation. Freeing a handle closes it. What was sent before is still received: a receiver sees YS_CLOSED
 *  when nothing is left and all senders are gone; a sender sees it when there is no receiver any more. A send that does
 *  not return YS_OK leaves the message with the caller; after YS_OK it belongs to the receiver, or the `drop` function,
 *  exactly once.
 *
 *  @section messages Messages
 *
 *  A message is 1 to 128 bytes, aligned to at most 16, moved as bytes. Larger ones are blocks of a pool, ys_pool_open(): pointers that
 *  travel through any channel, taken by one thread and freed by another.
 *
 *  @section ways Ways to send and to receive
 *
 *  | | send | receive |
 *  |---|---|---|
 *  | waits without a time limit | ys_send() | ys_recv() |
 *  | never waits | ys_try_send() | ys_try_recv() |
 *  | waits `ns` nanoseconds | ys_send_for() | ys_recv_for() |
 *  | an array at a time | ys_send_batch() | ys_recv_batch() |
 *  | without a copy, many at a time | ys_reserve(), ys_commit() | ys_peek(), ys_consume() |
 *  | without a copy, one at a time | | ys_take() |
 *  | one now, visible later | ys_write(), ys_flush() | |
 *  | in place of the oldest | ys_force_send() | |
 *  | waits only | ys_wait_room() | ys_wait() |
 *
 *  Times are nanoseconds in an `int64_t`: 0 never waits, less than 0 waits for ever.
 *
 *  @section many Many channels at once
 *
 *  A set, ys_set_open(), has a descriptor for poll, epoll and all that is built on them, or on Windows the HANDLE of an event,
 *  ys_set_handle(), for WaitForMultipleObjects; attached handles raise their number in it. A set of ys_pollset_open() has none.
 *  ys_select_open() waits for the first of several handles and timers (ys_timer_after(), ys_timer_every()), in turn.
 *  ys_hub_open(), of a library that was installed with --hub, is an event loop of one thread: functions that other threads post,
 *  timers and descriptors.
 *
 *  A level-triggered event loop, as with poll and epoll by default, calls ys_set_wait() once with a time of 0 when the
 *  descriptor is readable, and is notified again as long as something is up. An edge-triggered one (EPOLLET) is not: it
 *  goes on until ys_set_wait() returns YS_EMPTY, as with any descriptor until EAGAIN. Only after that is the next edge
 *  promised.
 *
 *  @code{.c}
 *  struct epoll_event event = { .events = EPOLLIN | EPOLLET };
 *  epoll_ctl(epoll, EPOLL_CTL_ADD, ys_set_fd(set), &event);
 *  while (epoll_wait(epoll, &event, 1, -1) >= 0) {
 *    ptrdiff_t up;
 *    while ((up = ys_set_wait(set, ids, IDS, 0)) > 0)   // not once, but until YS_EMPTY
 *      for (ptrdiff_t i = 0; i < up; i++) serve(ids[i]); // tries to receive until YS_EMPTY, or a few times: the id stays up then
 *    if (up == YS_STOPPED) break;
 *  }
 *  @endcode
 *
 *  @section posts Work that is posted to a thread
 *
 *  A mailbox is a channel of functions and what they are called with. Its thread waits for them in a select, beside timers; any thread
 *  posts by a sender of ys_tx_share(). When all senders are freed, what was posted is done, and the thread returns.
 *
 *  @code{.c}
 *  typedef struct post { void (*call)(void *with); void *with; } post;
 *  YS_DEFINE_EXCHANGE(posts, post);
 *
 *  ys_shared_send_for(shared, &(post){ call, with }, -1);  // any thread
 *
 *  ys_select_add_rx(select, rx.raw, &work), ys_select_add_timer(select, timer, &tick);
 *  for (int code = YS_OK; code != YS_CLOSED;) {            // its own thread
 *    post next;
 *    if (ys_select_wait(select, -1) == (ptrdiff_t)tick) {
 *      if (ys_timer_wait(timer, 0) == YS_OK) beat();
 *    } else if ((code = posts_try_recv(rx, &next)) == YS_OK) {
 *      next.call(next.with);
 *    }
 *  }
 *  @endcode
 *
 *  @section shutdown Shutting down
 *
 *  A thread that waits in a call is woken by a message, by room, by a disconnect, and by a *stopper*: ys_rx_stopper(),
 *  ys_tx_stopper(), ys_set_stopper(), ys_select_stopper(), ys_pool_stopper() make one, and ys_stop() may be called by any thread while
 *  others are inside. From then on no call waits there. If it would have to, it returns YS_STOPPED; what can be done
 *  without waiting is done as before, so that nothing that was sent is lost. Closing or freeing a handle that another
 *  thread is using is an error, and does not wake that thread. Closing the *other* side wakes it with YS_CLOSED.
 *  ys_rx_wait_stopper(), ys_tx_wait_stopper(), ys_set_wait_stopper() and ys_select_wait_stopper() end the waits of one handle alone,
 *  until there is another; ys_pool_wait_stopper() and ys_shared_wait_stopper() that of one call.
 *
 *  @code{.c}
 *  // Each thread: returns when there is nothing more to do, and frees its own handles.
 *  while (jobs_recv(rx, &j) == YS_OK) work(&j);  // what is left is done first; then YS_STOPPED, or YS_CLOSED
 *  jobs_rx_free(rx);
 *
 *  // The thread that shuts down, with a stopper of each channel, made before the threads were started:
 *  ys_stop(stopper);             // 1. no thread waits any more
 *  pthread_join(thread, NULL);   // 2. all return
 *  ys_stopper_free(stopper);     // 3. what is left is given to `drop` with the last handle
 *  @endcode
 *
 *  A thread that sends or receives without ever having to wait, as with a peer that never pauses, does not learn of the
 *  stop from its calls: it calls ys_is_stopped(). To let all work be done, close the first channel of the pipeline
 *  instead, or free its senders: YS_CLOSED passes from one stage to the next.
 *
 *  No call is a cancellation point. pthread_cancel() alone wakes no thread: stop, and the thread is cancelled at its
 *  next cancellation point, or, better, returns by itself. Asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) and
 *  longjmp() out of a callback leave the handle half done, and must not be used around any call.
 *
 *  @section errors Errors
 *
 *  Every error is a negative code with a text, ys_error_text(). Counts are not negative, so one return value is either. Bad arguments are
 *  YS_EINVAL and change nothing. Two threads in one handle, and a handle that is used after it was freed, are found
 *  only by the checked build of the library, ys_is_checked(), which opens no window; elsewhere the behaviour is
 *  undefined. A message of a pool that is freed twice ends the process in either build, as long as its block was not
 *  taken again; the checked build also finds writes beyond a block.
 *
 *  The calls of a handle take addresses, and cannot check whether a message of that size is there. Typed channels and
 *  ysuite.hpp know. If a handle comes from elsewhere as a pointer, ys_tx_expect() and ys_rx_expect() check its message
 *  type: the functions `name_tx_from` and `name_rx_from` of a typed channel, and the constructors of ysuite.hpp, call
 *  them.
 *
 *  @section inline_path The inline path
 *
 *  Plain calls are functions of the library. Typed channels, ysuite/typed.h, and the handles of ysuite.hpp send and
 *  receive without a call if a handle of an spsc channel, or an mpsc sender, has a window; see ysuite/inline.h.
 *  `#define YS_NO_INLINE` turns that off; programs and libraries of both sorts, and of older headers, mix freely. If
 *  two translation units of one C++ program compile a member of ysuite.hpp differently, the linker keeps either: each
 *  works with every channel, but which of them runs is then the linker's choice.
 *
 *  @section sanitizers Sanitizers
 *
 *  AddressSanitizer and UndefinedBehaviorSanitizer need nothing. Under ThreadSanitizer the headers say which call happens before which;
 *  see ysuite/annotated.h. Helgrind and DRD do not know atomics: see the page of the library for their suppressions.
 *
 *  @section forks Other limits
 *
 *  Channels connect the threads of one process; in a forked child they are of no use. Those of ysuite/shm.h, which `#define YS_SHM`
 *  includes, connect processes, and the bridges of ysuite_zmq.h programs and machines. No call may come from a signal handler. A
 *  thread that calls needs a stack of 64 KiB at least.
 */
#ifndef YSUITE_H
#define YSUITE_H

#include "ysuite/declarations.h"

#include "ysuite/annotated.h"
#include "ysuite/geometry.h"
#include "ysuite/inline.h"
#include "ysuite/typed.h"

#ifdef YS_SHM
#include "ysuite/shm.h"
#endif

#endif
