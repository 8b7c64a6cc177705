/** @file ysuite/annotated.h
 *  Annotations for ThreadSanitizer, and, with `#define YS_HELGRIND` before the first include, for Helgrind of Valgrind.
 *  The library is not instrumented, so under either every call is wrapped: sending and freeing release the channel's
 *  address, receiving acquires it, and likewise in the other direction, from the thread that frees slots to the one
 *  that fills them. A channel's callback is the program's own code, and is checked like the rest of it. Without them
 *  this file declares nothing. Include ysuite.h or ysuite.hpp, which include it.
 */
#ifndef YSUITE_ANNOTATED_H
#define YSUITE_ANNOTATED_H

#include "declarations.h"
#include "geometry.h"

#if defined(YS_HELGRIND)
#define YS_ANNOTATED 1
#elif defined(__SANITIZE_THREAD__)
#define YS_ANNOTATED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define YS_ANNOTATED 1
#endif
#endif

#ifdef YS_ANNOTATED

#ifdef YS_HELGRIND
#include <valgrind/helgrind.h>
#define YS_ACQUIRE_(address) ANNOTATE_HAPPENS_AFTER(address)
#define YS_RELEASE_(address) ANNOTATE_HAPPENS_BEFORE(address)
#define YS_IGNORE_BEGIN_() (void)0
#define YS_IGNORE_END_() (void)0
#else
#ifdef __cplusplus
extern "C" {
#endif
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#ifdef __cplusplus
}
#endif
#define YS_ACQUIRE_(address) __tsan_acquire(address)
#define YS_RELEASE_(address) __tsan_release(address)
#define YS_IGNORE_BEGIN_() (AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__))
#define YS_IGNORE_END_() (AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
#endif

#define YS_ANNOTATION_ static inline __attribute__((unused))

/* The address of a channel represents the way forward, the next one the way back. Signals and pools, whose handles have
   no address in common, share that of a text of the library: that orders more than needed, which hides a few races and
   reports no false ones. Computed as numbers: no handle has a null channel, to which nothing may be added. */
YS_ANNOTATION_ char *ys_annotated_forward_(const void *channel) { return YS_AS_(char *, YS_AS_(uintptr_t, channel)); }
YS_ANNOTATION_ char *ys_annotated_back_(const void *channel) { return YS_AS_(char *, YS_AS_(uintptr_t, channel) + 1); }
YS_ANNOTATION_ char *ys_annotated_common_(void) { return YS_AS_(char *, YS_AS_(uintptr_t, ys_version())); }
YS_ANNOTATION_ void ys_annotated_acquire_(const void *channel, char *at) {
  if (channel) {
    YS_ACQUIRE_(at);
  }
}
YS_ANNOTATION_ void ys_annotated_release_(const void *channel, char *at) {
  if (channel) {
    YS_RELEASE_(at);
  }
}
/* The number of calls that this thread is in, and the channel of the innermost: one of each in a program. */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) __thread int ys_annotated_depth_;
__attribute__((weak)) __thread const void *ys_annotated_channel_;
#ifdef __cplusplus
}
#endif

/* Within a call, what the library copies and allocates is its own affair. Of a channel, or null. What was the innermost before. */
YS_ANNOTATION_ const void *ys_annotated_begin_(const void *channel) {
  const void *outer = ys_annotated_channel_;
  YS_IGNORE_BEGIN_();
  ys_annotated_depth_++;
  ys_annotated_channel_ = channel;
  return outer;
}
YS_ANNOTATION_ void ys_annotated_end_(const void *outer) {
  ys_annotated_channel_ = outer;
  ys_annotated_depth_--;
  YS_IGNORE_END_();
}

/* A callback is the program's own code: it is checked, and sees what was done before its message was sent, or its slot
 * was filled. */
typedef struct ys_annotated_out_ {
  int depth;
  const void *channel;
} ys_annotated_out_;
YS_ANNOTATION_ ys_annotated_out_ ys_annotated_out_begin_(void) {
  ys_annotated_out_ out;
  int at;
  out.depth = ys_annotated_depth_;
  out.channel = ys_annotated_channel_;
  for (at = 0; at < out.depth; at++) YS_IGNORE_END_();
  ys_annotated_depth_ = 0;
  ys_annotated_channel_ = NULL;
  ys_annotated_acquire_(out.channel, ys_annotated_forward_(out.channel));
  ys_annotated_acquire_(out.channel, ys_annotated_back_(out.channel));
  return out;
}
YS_ANNOTATION_ void ys_annotated_out_end_(ys_annotated_out_ out) {
  int at;
  ys_annotated_depth_ = out.depth;
  ys_annotated_channel_ = out.channel;
  for (at = 0; at < out.depth; at++) YS_IGNORE_BEGIN_();
}
YS_ANNOTATION_ void ys_annotated_call_(void (*drop)(void *, void *), void *message, void *context) {
  const ys_annotated_out_ out = ys_annotated_out_begin_();
  drop(message, context);
  ys_annotated_out_end_(out);
}
/* A copy is read where the message is, by any number of threads at once: the sender that replaces it comes after. */
YS_ANNOTATION_ void ys_annotated_copy_(void (*clone)(void *, const void *, void *), void *to, const void *from, void *context) {
  const ys_annotated_out_ out = ys_annotated_out_begin_();
  clone(to, from, context);
  ys_annotated_release_(out.channel, ys_annotated_back_(out.channel));
  ys_annotated_out_end_(out);
}

/* The callbacks that the library gets instead: one of these for each channel that has any, until the program exits. */
typedef struct ys_annotated_drop_ {
  void (*drop)(void *, void *);
  void (*clone)(void *, const void *, void *);
  void *context;
} ys_annotated_drop_;
YS_ANNOTATION_ void ys_annotated_dropped_(void *message, void *pair) {
  const ys_annotated_drop_ *of = YS_TO_(const ys_annotated_drop_ *, pair);
  ys_annotated_call_(of->drop, message, of->context);
}
YS_ANNOTATION_ void ys_annotated_cloned_(void *to, const void *from, void *pair) {
  const ys_annotated_drop_ *of = YS_TO_(const ys_annotated_drop_ *, pair);
  ys_annotated_copy_(of->clone, to, from, of->context);
}
/* The same options with those callbacks. Null: there is no memory. */
YS_ANNOTATION_ const ys_options *ys_annotated_options_(const ys_options *options, ys_options *with) {
  ys_annotated_drop_ *pair;
  if (options == NULL || options->struct_size < sizeof *with || (options->drop == NULL && options->clone == NULL)) return options;
  pair = YS_TO_(ys_annotated_drop_ *, __builtin_malloc(sizeof *pair));
  if (pair == NULL) return NULL;
  pair->drop = options->drop;
  pair->clone = options->clone;
  pair->context = options->context;
  *with = *options;
  with->struct_size = YS_TO_(uint32_t, sizeof *with);
  if (options->drop != NULL) with->drop = ys_annotated_dropped_;
  if (options->clone != NULL) with->clone = ys_annotated_cloned_;
  with->context = pair;
  return with;
}
YS_ANNOTATION_ int ys_annotated_open_(int (*open)(const ys_options *, ys_tx **, ys_rx **), const ys_options *options, ys_tx **tx,
                                      ys_rx **rx) {
  ys_options with;
  const ys_options *const given = ys_annotated_options_(options, &with);
  return given == NULL && options != NULL ? YS_ENOMEM : open(given, tx, rx);
}
YS_ANNOTATION_ int ys_annotated_pipe_open(const ys_options *options, ys_tx **tx, ys_rx **rx) {
  return ys_annotated_open_(ys_pipe_open, options, tx, rx);
}
YS_ANNOTATION_ int ys_annotated_funnel_open(const ys_options *options, ys_tx **tx, ys_rx **rx) {
  return ys_annotated_open_(ys_funnel_open, options, tx, rx);
}
YS_ANNOTATION_ int ys_annotated_exchange_open(const ys_options *options, ys_tx **tx, ys_rx **rx) {
  return ys_annotated_open_(ys_exchange_open, options, tx, rx);
}
YS_ANNOTATION_ int ys_annotated_oneshot_open(const ys_options *options, ys_tx **tx, ys_rx **rx) {
  return ys_annotated_open_(ys_oneshot_open, options, tx, rx);
}

YS_ANNOTATION_ int ys_annotated_broadcast_open(const ys_options *options, ys_tx **tx, ys_rx **rx) {
  return ys_annotated_open_(ys_broadcast_open, options, tx, rx);
}
YS_ANNOTATION_ int ys_annotated_broadcast_lossy_open(const ys_options *options, ys_tx **tx, ys_rx **rx) {
  return ys_annotated_open_(ys_broadcast_lossy_open, options, tx, rx);
}
YS_ANNOTATION_ int ys_annotated_watch_open(const ys_options *options, const void *first, ys_tx **tx, ys_rx **rx) {
  ys_options with;
  const ys_options *const given = ys_annotated_options_(options, &with);
  int answer;
  const void *outer;
  if (given == NULL && options != NULL) return YS_ENOMEM;
  outer = ys_annotated_begin_(NULL);
  answer = ys_watch_open(given, first, tx, rx);
  ys_annotated_end_(outer);
  return answer;
}

/* A call of a sender: the receiver sees what was done before; what receivers did with slots is seen from here on. */
#define YS_ANNOTATE_TX_(result, name, parameters, end, arguments)                                                              \
  YS_ANNOTATION_ result ys_annotated_##name parameters {                                                                       \
    const void *channel = ys_tx_channel(end);                                                                                  \
    const void *outer;                                                                                                         \
    result answer;                                                                                                             \
    ys_annotated_release_(channel, ys_annotated_forward_(channel));                                                            \
    ys_annotated_acquire_(channel, ys_annotated_back_(channel));                                                               \
    outer = ys_annotated_begin_(channel);                                                                                      \
    answer = ys_##name arguments;                                                                                              \
    ys_annotated_end_(outer);                                                                                                  \
    if (answer != YS_FULL && answer != YS_TIMEOUT) ys_annotated_acquire_(channel, ys_annotated_back_(channel));                \
    if (answer == YS_STOPPED) ys_annotated_acquire_(ys_version(), ys_annotated_common_());                                     \
    return answer;                                                                                                             \
  }
/* A call of a receiver: the next sender sees what was done with messages and slots; what senders did is seen from here
 * on. */
#define YS_ANNOTATE_RX_(result, name, parameters, end, arguments)                                                              \
  YS_ANNOTATION_ result ys_annotated_##name parameters {                                                                       \
    const void *channel = ys_rx_channel(end);                                                                                  \
    const void *outer;                                                                                                         \
    result answer;                                                                                                             \
    ys_annotated_release_(channel, ys_annotated_back_(channel));                                                               \
    outer = ys_annotated_begin_(channel);                                                                                      \
    answer = ys_##name arguments;                                                                                              \
    ys_annotated_end_(outer);                                                                                                  \
    if (answer != YS_EMPTY && answer != YS_TIMEOUT) ys_annotated_acquire_(channel, ys_annotated_forward_(channel));            \
    if (answer == YS_STOPPED) ys_annotated_acquire_(ys_version(), ys_annotated_common_());                                     \
    return answer;                                                                                                             \
  }

YS_ANNOTATE_TX_(int, send, (ys_tx * tx, const void *message), tx, (tx, message))
YS_ANNOTATE_TX_(int, try_send, (ys_tx * tx, const void *message), tx, (tx, message))
YS_ANNOTATE_TX_(int, send_for, (ys_tx * tx, const void *message, int64_t ns), tx, (tx, message, ns))
YS_ANNOTATE_TX_(ptrdiff_t, send_batch, (ys_tx * tx, const void *messages, size_t n, int64_t ns), tx, (tx, messages, n, ns))
YS_ANNOTATE_TX_(int, force_send, (ys_tx * tx, const void *message, void *displaced), tx, (tx, message, displaced))
YS_ANNOTATE_TX_(int, write, (ys_tx * tx, const void *message), tx, (tx, message))
YS_ANNOTATE_TX_(int, flush, (ys_tx * tx), tx, (tx))
YS_ANNOTATE_TX_(ptrdiff_t, reserve, (ys_tx * tx, void **at), tx, (tx, at))
YS_ANNOTATE_TX_(ptrdiff_t, commit, (ys_tx * tx, size_t n), tx, (tx, n))
YS_ANNOTATE_TX_(int, wait_room, (ys_tx * tx, int64_t ns), tx, (tx, ns))
YS_ANNOTATE_TX_(int, tx_close, (ys_tx * tx), tx, (tx))
YS_ANNOTATE_TX_(int, tx_wait_closed, (ys_tx * tx, int64_t ns), tx, (tx, ns))
YS_ANNOTATE_TX_(int, tx_is_closed, (const ys_tx *tx), tx, (tx))
YS_ANNOTATE_RX_(int, recv, (ys_rx * rx, void *message), rx, (rx, message))
YS_ANNOTATE_RX_(int, try_recv, (ys_rx * rx, void *message), rx, (rx, message))
YS_ANNOTATE_RX_(int, recv_for, (ys_rx * rx, void *message, int64_t ns), rx, (rx, message, ns))
YS_ANNOTATE_RX_(ptrdiff_t, recv_batch, (ys_rx * rx, void *messages, size_t max, int64_t ns), rx, (rx, messages, max, ns))
YS_ANNOTATE_RX_(int, watch_get, (ys_rx * rx, void *message), rx, (rx, message))
YS_ANNOTATE_RX_(ptrdiff_t, peek, (ys_rx * rx, void **at), rx, (rx, at))
YS_ANNOTATE_RX_(int, consume, (ys_rx * rx, size_t n), rx, (rx, n))
YS_ANNOTATE_RX_(int, take, (ys_rx * rx, void **at, int64_t ns), rx, (rx, at, ns))
YS_ANNOTATE_RX_(int, wait, (ys_rx * rx, int64_t ns), rx, (rx, ns))
YS_ANNOTATE_RX_(int, rx_close, (ys_rx * rx), rx, (rx))
YS_ANNOTATE_RX_(int, rx_is_closed, (const ys_rx *rx), rx, (rx))

/* Senders of many threads. */
YS_ANNOTATION_ int ys_annotated_shared_send_for(const ys_shared *shared, const void *message, int64_t ns) {
  const void *channel = ys_shared_channel(shared);
  const void *outer;
  int answer;
  ys_annotated_release_(channel, ys_annotated_forward_(channel));
  ys_annotated_acquire_(channel, ys_annotated_back_(channel));
  outer = ys_annotated_begin_(channel);
  answer = ys_shared_send_for(shared, message, ns);
  ys_annotated_end_(outer);
  if (answer != YS_FULL && answer != YS_TIMEOUT) ys_annotated_acquire_(channel, ys_annotated_back_(channel));
  if (answer == YS_STOPPED) ys_annotated_acquire_(ys_version(), ys_annotated_common_());
  return answer;
}
YS_ANNOTATION_ void ys_annotated_shared_free(ys_shared *shared) {
  const void *channel = ys_shared_channel(shared);
  const void *outer;
  ys_annotated_release_(channel, ys_annotated_forward_(channel));
  ys_annotated_acquire_(channel, ys_annotated_back_(channel));
  outer = ys_annotated_begin_(channel);
  ys_shared_free(shared);
  ys_annotated_end_(outer);
}

/* Freeing may find messages of others, and drop them. */
YS_ANNOTATION_ void ys_annotated_tx_free(ys_tx *tx) {
  const void *channel = ys_tx_channel(tx);
  const void *outer;
  ys_annotated_release_(channel, ys_annotated_forward_(channel));
  ys_annotated_acquire_(channel, ys_annotated_back_(channel));
  outer = ys_annotated_begin_(channel);
  ys_tx_free(tx);
  ys_annotated_end_(outer);
}
YS_ANNOTATION_ void ys_annotated_rx_free(ys_rx *rx) {
  const void *channel = ys_rx_channel(rx);
  const void *outer;
  ys_annotated_release_(channel, ys_annotated_back_(channel));
  ys_annotated_acquire_(channel, ys_annotated_forward_(channel));
  outer = ys_annotated_begin_(channel);
  ys_rx_free(rx);
  ys_annotated_end_(outer);
}

/* A thread that waits for a signal sees what was done before it was raised. */
YS_ANNOTATION_ int ys_annotated_signal(const ys_signaler *signaler, size_t id) {
  YS_RELEASE_(ys_annotated_common_());
  return ys_signal(signaler, id);
}
YS_ANNOTATION_ ptrdiff_t ys_annotated_set_wait(ys_set *set, size_t *ids, size_t max, int64_t ns) {
  const void *outer;
  ptrdiff_t answer;
  outer = ys_annotated_begin_(NULL);
  answer = ys_set_wait(set, ids, max, ns);
  ys_annotated_end_(outer);
  YS_ACQUIRE_(ys_annotated_common_());
  return answer;
}

/* A thread that is stopped sees what was done before. */
YS_ANNOTATION_ int ys_annotated_stop(const ys_stopper *stopper) {
  const void *outer;
  int answer;
  YS_RELEASE_(ys_annotated_common_());
  outer = ys_annotated_begin_(NULL);
  answer = ys_stop(stopper);
  ys_annotated_end_(outer);
  return answer;
}
YS_ANNOTATION_ int ys_annotated_is_stopped(const ys_stopper *stopper) {
  const int answer = ys_is_stopped(stopper);
  if (answer > 0) ys_annotated_acquire_(ys_version(), ys_annotated_common_());
  return answer;
}
YS_ANNOTATION_ void ys_annotated_stopper_free(ys_stopper *stopper) {
  const void *outer;
  outer = ys_annotated_begin_(NULL);
  ys_stopper_free(stopper);
  ys_annotated_end_(outer);
}
YS_ANNOTATION_ ptrdiff_t ys_annotated_select_wait(ys_select *select, int64_t ns) {
  const void *outer;
  ptrdiff_t answer;
  outer = ys_annotated_begin_(NULL);
  answer = ys_select_wait(select, ns);
  ys_annotated_end_(outer);
  YS_ACQUIRE_(ys_annotated_common_());
  return answer;
}

/* A thread that takes a block of a pool may write where another has read. */
YS_ANNOTATION_ void *ys_annotated_pool_take(ys_pool *pool, size_t len, int64_t ns) {
  const void *outer;
  void *message;
  outer = ys_annotated_begin_(NULL);
  message = ys_pool_take(pool, len, ns);
  ys_annotated_end_(outer);
  YS_ACQUIRE_(ys_annotated_common_());
  return message;
}
YS_ANNOTATION_ void *ys_annotated_pool_take_or_stop(ys_pool *pool, size_t len, int64_t ns, const ys_stopper *stopper) {
  const void *outer;
  void *message;
  outer = ys_annotated_begin_(NULL);
  message = ys_pool_take_or_stop(pool, len, ns, stopper);
  ys_annotated_end_(outer);
  YS_ACQUIRE_(ys_annotated_common_());
  return message;
}
YS_ANNOTATION_ void ys_annotated_msg_free(void *message) {
  const void *outer;
  YS_RELEASE_(ys_annotated_common_());
  outer = ys_annotated_begin_(NULL);
  ys_msg_free(message);
  ys_annotated_end_(outer);
}
YS_ANNOTATION_ void ys_annotated_pool_free(ys_pool *pool) {
  const void *outer;
  YS_ACQUIRE_(ys_annotated_common_());
  outer = ys_annotated_begin_(NULL);
  ys_pool_free(pool);
  ys_annotated_end_(outer);
}

/* What a hub calls is the program's own code as well, and sees what was done before it was posted. In place of its context the hub gets one
   of these, which is freed with it. */
typedef struct ys_annotated_hub_ {
  void (*function)(ys_hub *, void *);
  void (*handler)(ys_hub *, int, uint32_t, void *);
  void (*drop)(void *);
  void *context;
} ys_annotated_hub_;
YS_ANNOTATION_ void ys_annotated_hub_called_(ys_hub *hub, void *context) {
  const ys_annotated_hub_ *of = YS_TO_(const ys_annotated_hub_ *, context);
  const ys_annotated_out_ out = ys_annotated_out_begin_();
  of->function(hub, of->context);
  ys_annotated_out_end_(out);
}
YS_ANNOTATION_ void ys_annotated_hub_served_(ys_hub *hub, int fd, uint32_t ready, void *context) {
  const ys_annotated_hub_ *of = YS_TO_(const ys_annotated_hub_ *, context);
  const ys_annotated_out_ out = ys_annotated_out_begin_();
  of->handler(hub, fd, ready, of->context);
  ys_annotated_out_end_(out);
}
YS_ANNOTATION_ void ys_annotated_hub_dropped_(void *context) {
  ys_annotated_hub_ *of = YS_TO_(ys_annotated_hub_ *, context);
  if (of->drop != NULL) {
    const ys_annotated_out_ out = ys_annotated_out_begin_();
    of->drop(of->context);
    ys_annotated_out_end_(out);
  }
  __builtin_free(of);
}
/* Null: there is no memory, and the context was dropped. */
YS_ANNOTATION_ void *ys_annotated_hub_context_(void (*function)(ys_hub *, void *), void (*handler)(ys_hub *, int, uint32_t, void *),
                                               void *context, void (*drop)(void *)) {
  ys_annotated_hub_ *of = YS_TO_(ys_annotated_hub_ *, __builtin_malloc(sizeof *of));
  if (of == NULL) {
    if (drop != NULL) drop(context);
    return NULL;
  }
  of->function = function;
  of->handler = handler;
  of->drop = drop;
  of->context = context;
  return of;
}
#define YS_ANNOTATE_HUB_(result, name, parameters, arguments) \
  YS_ANNOTATION_ result ys_annotated_hub_##name parameters {  \
    const void *outer;                                        \
    result answer;                                            \
    YS_RELEASE_(ys_annotated_common_());                      \
    outer = ys_annotated_begin_(ys_version());                \
    answer = ys_hub_##name arguments;                         \
    ys_annotated_end_(outer);                                 \
    YS_ACQUIRE_(ys_annotated_common_());                      \
    return answer;                                            \
  }
#define YS_ANNOTATE_HUB_FREE_(name, type)                   \
  YS_ANNOTATION_ void ys_annotated_hub_##name(type *end) {  \
    const void *outer;                                      \
    YS_RELEASE_(ys_annotated_common_());                    \
    outer = ys_annotated_begin_(ys_version());              \
    ys_hub_##name(end);                                     \
    ys_annotated_end_(outer);                               \
  }
/* What takes a context: `of`. */
#define YS_ANNOTATE_HUB_WITH_(name, parameters, context_of, arguments)                                              \
  YS_ANNOTATION_ int ys_annotated_hub_##name parameters {                                                           \
    const void *outer;                                                                                              \
    int answer;                                                                                                     \
    void *of = ys_annotated_hub_context_ context_of;                                                                \
    if (of == NULL) return YS_ENOMEM;                                                                               \
    YS_RELEASE_(ys_annotated_common_());                                                                            \
    outer = ys_annotated_begin_(ys_version());                                                                      \
    answer = ys_hub_##name arguments;                                                                               \
    ys_annotated_end_(outer);                                                                                       \
    return answer;                                                                                                  \
  }
YS_ANNOTATE_HUB_(int, run, (ys_hub * hub), (hub))
YS_ANNOTATE_HUB_(ptrdiff_t, run_once, (ys_hub * hub, int64_t ns), (hub, ns))
YS_ANNOTATE_HUB_(ptrdiff_t, dispatch, (ys_hub * hub), (hub))
YS_ANNOTATE_HUB_(int, cancel, (ys_hub * hub, uint64_t timer), (hub, timer))
YS_ANNOTATE_HUB_(int, remove, (ys_hub * hub, uint64_t source), (hub, source))
YS_ANNOTATE_HUB_(int, poster_open, (ys_hub * hub, ys_hub_poster **poster), (hub, poster))
YS_ANNOTATE_HUB_(int, poster_clone, (ys_hub_poster * poster, ys_hub_poster **other), (poster, other))
YS_ANNOTATE_HUB_(int, post_stop, (ys_hub_poster * poster), (poster))
YS_ANNOTATE_HUB_FREE_(free, ys_hub)
YS_ANNOTATE_HUB_FREE_(poster_free, ys_hub_poster)
YS_ANNOTATE_HUB_WITH_(after,
                      (ys_hub * hub, int64_t ns, void (*function)(ys_hub *, void *), void *context, void (*drop)(void *), uint64_t *timer),
                      (function, NULL, context, drop),
                      (hub, ns, function == NULL ? NULL : ys_annotated_hub_called_, of, ys_annotated_hub_dropped_, timer))
YS_ANNOTATE_HUB_WITH_(every,
                      (ys_hub * hub, int64_t ns, void (*function)(ys_hub *, void *), void *context, void (*drop)(void *), uint64_t *timer),
                      (function, NULL, context, drop),
                      (hub, ns, function == NULL ? NULL : ys_annotated_hub_called_, of, ys_annotated_hub_dropped_, timer))
YS_ANNOTATE_HUB_WITH_(watch,
                      (ys_hub * hub, int fd, uint32_t wanted, void (*handler)(ys_hub *, int, uint32_t, void *), void *context,
                       void (*drop)(void *), uint64_t *source),
                      (NULL, handler, context, drop),
                      (hub, fd, wanted, handler == NULL ? NULL : ys_annotated_hub_served_, of, ys_annotated_hub_dropped_, source))
YS_ANNOTATE_HUB_WITH_(post, (ys_hub_poster * poster, void (*function)(ys_hub *, void *), void *context, void (*drop)(void *)),
                      (function, NULL, context, drop),
                      (poster, function == NULL ? NULL : ys_annotated_hub_called_, of, ys_annotated_hub_dropped_))

#undef YS_ANNOTATE_HUB_
#undef YS_ANNOTATE_HUB_FREE_
#undef YS_ANNOTATE_HUB_WITH_
#undef YS_ANNOTATE_TX_
#undef YS_ANNOTATE_RX_
#undef YS_ANNOTATION_
#undef YS_ACQUIRE_
#undef YS_RELEASE_
#undef YS_IGNORE_BEGIN_
#undef YS_IGNORE_END_

/* Calls by name are annotated ones from here on; the functions' addresses are the library's own. */
#define ys_pipe_open(...) ys_annotated_pipe_open(__VA_ARGS__)
#define ys_funnel_open(...) ys_annotated_funnel_open(__VA_ARGS__)
#define ys_exchange_open(...) ys_annotated_exchange_open(__VA_ARGS__)
#define ys_oneshot_open(...) ys_annotated_oneshot_open(__VA_ARGS__)
#define ys_broadcast_open(...) ys_annotated_broadcast_open(__VA_ARGS__)
#define ys_broadcast_lossy_open(...) ys_annotated_broadcast_lossy_open(__VA_ARGS__)
#define ys_watch_open(...) ys_annotated_watch_open(__VA_ARGS__)
#define ys_force_send(...) ys_annotated_force_send(__VA_ARGS__)
#define ys_watch_get(...) ys_annotated_watch_get(__VA_ARGS__)
#define ys_shared_send_for(...) ys_annotated_shared_send_for(__VA_ARGS__)
#define ys_shared_free(...) ys_annotated_shared_free(__VA_ARGS__)
#define ys_send(...) ys_annotated_send(__VA_ARGS__)
#define ys_try_send(...) ys_annotated_try_send(__VA_ARGS__)
#define ys_send_for(...) ys_annotated_send_for(__VA_ARGS__)
#define ys_send_batch(...) ys_annotated_send_batch(__VA_ARGS__)
#define ys_write(...) ys_annotated_write(__VA_ARGS__)
#define ys_flush(...) ys_annotated_flush(__VA_ARGS__)
#define ys_reserve(...) ys_annotated_reserve(__VA_ARGS__)
#define ys_commit(...) ys_annotated_commit(__VA_ARGS__)
#define ys_wait_room(...) ys_annotated_wait_room(__VA_ARGS__)
#define ys_tx_close(...) ys_annotated_tx_close(__VA_ARGS__)
#define ys_tx_wait_closed(...) ys_annotated_tx_wait_closed(__VA_ARGS__)
#define ys_tx_is_closed(...) ys_annotated_tx_is_closed(__VA_ARGS__)
#define ys_tx_free(...) ys_annotated_tx_free(__VA_ARGS__)
#define ys_recv(...) ys_annotated_recv(__VA_ARGS__)
#define ys_try_recv(...) ys_annotated_try_recv(__VA_ARGS__)
#define ys_recv_for(...) ys_annotated_recv_for(__VA_ARGS__)
#define ys_recv_batch(...) ys_annotated_recv_batch(__VA_ARGS__)
#define ys_peek(...) ys_annotated_peek(__VA_ARGS__)
#define ys_consume(...) ys_annotated_consume(__VA_ARGS__)
#define ys_take(...) ys_annotated_take(__VA_ARGS__)
#define ys_wait(...) ys_annotated_wait(__VA_ARGS__)
#define ys_rx_close(...) ys_annotated_rx_close(__VA_ARGS__)
#define ys_rx_is_closed(...) ys_annotated_rx_is_closed(__VA_ARGS__)
#define ys_rx_free(...) ys_annotated_rx_free(__VA_ARGS__)
#define ys_signal(...) ys_annotated_signal(__VA_ARGS__)
#define ys_set_wait(...) ys_annotated_set_wait(__VA_ARGS__)
#define ys_stop(...) ys_annotated_stop(__VA_ARGS__)
#define ys_is_stopped(...) ys_annotated_is_stopped(__VA_ARGS__)
#define ys_stopper_free(...) ys_annotated_stopper_free(__VA_ARGS__)
#define ys_select_wait(...) ys_annotated_select_wait(__VA_ARGS__)
#define ys_pool_take(...) ys_annotated_pool_take(__VA_ARGS__)
#define ys_pool_take_or_stop(...) ys_annotated_pool_take_or_stop(__VA_ARGS__)
#define ys_msg_free(...) ys_annotated_msg_free(__VA_ARGS__)
#define ys_pool_free(...) ys_annotated_pool_free(__VA_ARGS__)
#define ys_hub_run(...) ys_annotated_hub_run(__VA_ARGS__)
#define ys_hub_run_once(...) ys_annotated_hub_run_once(__VA_ARGS__)
#define ys_hub_dispatch(...) ys_annotated_hub_dispatch(__VA_ARGS__)
#define ys_hub_cancel(...) ys_annotated_hub_cancel(__VA_ARGS__)
#define ys_hub_remove(...) ys_annotated_hub_remove(__VA_ARGS__)
#define ys_hub_poster_open(...) ys_annotated_hub_poster_open(__VA_ARGS__)
#define ys_hub_poster_clone(...) ys_annotated_hub_poster_clone(__VA_ARGS__)
#define ys_hub_post_stop(...) ys_annotated_hub_post_stop(__VA_ARGS__)
#define ys_hub_free(...) ys_annotated_hub_free(__VA_ARGS__)
#define ys_hub_poster_free(...) ys_annotated_hub_poster_free(__VA_ARGS__)
#define ys_hub_after(...) ys_annotated_hub_after(__VA_ARGS__)
#define ys_hub_every(...) ys_annotated_hub_every(__VA_ARGS__)
#define ys_hub_watch(...) ys_annotated_hub_watch(__VA_ARGS__)
#define ys_hub_post(...) ys_annotated_hub_post(__VA_ARGS__)

#endif
#endif
