/** @file ysuite/inline.h
 *  The inline path: sends and receives that need no call as long as a handle's window shows where to write or read.
 *
 *  The window is the first thing at the address of a handle. The library opens it if the options have asked for the
 *  version of this header, and shuts it if it cannot keep its rules: at a change of layout, in the checked build, if
 *  the kernel lacks what the path relies on. Then each of these functions is the call of the same name, and costs one
 *  comparison more.
 *
 *  These functions take the size and the alignment that the channel was opened with, as constants: they are compiled into the copy.
 *  Others would write outside the slot. YS_DEFINE_PIPE and its like, of ysuite/typed.h, and the handles of ysuite.hpp
 *  pass the right ones.
 *
 *  `#define YS_NO_INLINE` before the first include makes all of them calls, and has no window asked for.
 */
#ifndef YSUITE_INLINE_H
#define YSUITE_INLINE_H

#include "declarations.h"

#include "annotated.h"
#include "geometry.h"

#ifndef YS_WINDOW_VERSION
/** The version of windows that this header knows. */
#define YS_WINDOW_VERSION 2u
#endif

#if YS_WINDOW_VERSION != 2
#error "ysuite/inline.h knows windows of version 2 only"
#endif

#if defined(YS_NO_INLINE) || defined(YS_ANNOTATED)
/** What options ask for: the version of this header, or no window. */
#define YS_WINDOW 0u
#define YS_HAS_INLINE 0
#else
#define YS_WINDOW YS_WINDOW_VERSION
/** Whether the inline path is compiled in. */
#define YS_HAS_INLINE 1
#endif

/* Inlined without optimisation too: the copy's size is a constant in any case. */
#define YS_INLINE static inline __attribute__((always_inline, unused))

/* The same for members of classes: without it some compilers at -O2 leave a send to be called, and its message to memory. */
#define YS_INLINE_MEMBER_ [[gnu::always_inline]]

#define YS_LIKELY(condition) __builtin_expect(!!(condition), 1)

/** The members of options that say how long they are and which window they ask for. */
#define YS_OPTIONS_HEAD_ YS_TO_(uint32_t, sizeof(ys_options)), YS_WINDOW

/** Options without a size: set `size`, and what else is not 0. */
#define YS_OPTIONS_INIT                                                                                                        \
  { YS_OPTIONS_HEAD_, 0, 0, 0, 0, NULL, NULL, NULL }

/** Options for messages of a type, without a bound. */
#define YS_OPTIONS_FOR(type)                                                                                                   \
  { YS_OPTIONS_HEAD_, sizeof(type), YS_ALIGNOF(type), 0, 0, NULL, NULL, NULL }

/* A word of a message of any type. */
typedef size_t __attribute__((may_alias)) ys_word_;

/* Copies a message into its slot or out of it. A short one goes by words: what the caller has just written member by member then comes
   from registers, or from a store as wide as the load. A wider load would wait until all those stores have left the processor. */
YS_INLINE void ys_copy_(void *to, const void *from, size_t size, size_t align) {
  if (size % sizeof(ys_word_) == 0 && size <= 4 * sizeof(ys_word_) && align >= sizeof(ys_word_)) {
    ys_word_ *out = YS_TO_(ys_word_ *, to);
    const ys_word_ *in = YS_TO_(const ys_word_ *, from);
    out[0] = in[0];
    if (size > sizeof(ys_word_)) out[1] = in[1];
    if (size > 2 * sizeof(ys_word_)) out[2] = in[2];
    if (size > 3 * sizeof(ys_word_)) out[3] = in[3];
  } else {
    __builtin_memcpy(to, from, size);
  }
}

#if YS_HAS_INLINE

YS_STATIC_ASSERT(sizeof(size_t) == sizeof(void *), "A state is an address and a lap.");

/* A group's beginning, from any byte in it. */
YS_INLINE unsigned char *ys_group_of_(unsigned char *at, size_t size, size_t align) {
  return at - (YS_AS_(uintptr_t, at) & (YS_GROUP_STRIDE(size, align) - 1));
}

/* Finds the slot of the next message; 0: only a call can. A step into the next group is written to `stop`, which the window takes over
   together with `next`. */
YS_INLINE int ys_tx_slot_(const ys_tx_window *window, unsigned char **slot, unsigned char **stop, size_t size, size_t align) {
  size_t ahead;
  *slot = YS_TO_(unsigned char *, window->next);
  if (!YS_LIKELY(*slot != window->stop)) {
    const uintptr_t group = YS_AS_(uintptr_t, *slot) + (YS_GROUP_STRIDE(size, align) - YS_GROUP_END(size, align));
    if (group >= YS_AS_(uintptr_t, window->end)) return 0;
    *slot = YS_AS_(unsigned char *, group + YS_GROUP_FIRST(size, align));
    /* Where a window is known to be shut, some compilers follow the null of it to here, where it never comes, and warn of that address. */
    __asm__("" : "+r"(*slot));
    *stop = YS_AS_(unsigned char *, group + YS_GROUP_END(size, align));
    /* Not more than eight lines: the processor follows more by itself. */
    for (ahead = 0; ahead != YS_GROUP_STRIDE(size, align) && ahead != 512; ahead += 64)
      __builtin_prefetch(YS_AS_(const void *, group + 2 * YS_GROUP_STRIDE(size, align) + ahead), 1);
  }
  return 1;
}

/* Publishes the message at `at`. YS_CLOSED: it is the caller's again, in its slot, until the next call. */
YS_INLINE int ys_tx_publish_(ys_tx *tx, ys_tx_window *window, unsigned char *at, size_t size, size_t align) {
  void *state = ys_group_of_(at, size, align);
  const uint32_t *asleep = YS_TO_(const uint32_t *, window->asleep);
  const size_t lap = window->lap;
  window->next = at + YS_CLASS(size, align);
  /* ORDERING: Release pairs with the receiver's Acquire of the state: the message is written. */
  __atomic_store_n(YS_TO_(size_t *, state), YS_AS_(size_t, at) + lap, __ATOMIC_RELEASE);
  /* The receiver writes `asleep`, has every thread pass a barrier, and checks the state once more: so the order of this
     store and the next load must be the compiler's, and need not be the processor's. */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __asm__ volatile("" : : : "memory");
  /* ORDERING: Relaxed, by the fence above. */
  if (YS_LIKELY(__atomic_load_n(asleep, __ATOMIC_RELAXED) == 0)) return YS_OK;
  return ys_tx_answer(tx);
}

/* Finds the next message; 0: a call is needed. The window has not changed then. */
YS_INLINE int ys_rx_slot_(ys_rx_window *window, unsigned char **slot, size_t size, size_t align) {
  unsigned char *at = YS_TO_(unsigned char *, window->next);
  if (!YS_LIKELY(at != window->known)) {
    const size_t stride = YS_GROUP_STRIDE(size, align);
    unsigned char *group;
    unsigned char *spent = NULL;
    void *state;
    size_t ahead;
    size_t line;
    if (window->end == NULL) return 0;
    /* At the end of a group, or in a group that is not known yet. */
    group = ys_group_of_(at - 1, size, align);
    if (at == group + YS_GROUP_END(size, align)) {
      spent = group;
      group += stride;
      if (group == window->end) return 0;
      at = group + YS_GROUP_FIRST(size, align);
    }
    state = group;
    /* ORDERING: Acquire pairs with the sender's Release: messages up to that slot are written. */
    ahead = __atomic_load_n(YS_TO_(const size_t *, state), __ATOMIC_ACQUIRE) - window->lap - YS_AS_(size_t, at);
    if (YS_TO_(ptrdiff_t, ahead) < 0) return 0;
    /* The lines of a group that has been read go back to the sender as lines that were written, where that is the faster way: its
       slots are empty. */
    if (spent != NULL && window->marks != 0)
      for (line = YS_GROUP_FIRST(size, align); line < YS_GROUP_END(size, align); line += 64)
        *YS_TO_(volatile unsigned char *, spent + line) = 0;
    window->known = at + ahead + YS_CLASS(size, align);
  }
  *slot = at;
  return 1;
}

/* The message at `at` has left its slot. */
YS_INLINE void ys_rx_taken_(ys_rx *rx, ys_rx_window *window, unsigned char *at, size_t size, size_t align) {
  size_t *taken = YS_TO_(size_t *, window->taken);
  const uint32_t *asleep = YS_TO_(const uint32_t *, window->asleep);
  window->next = at + YS_CLASS(size, align);
  /* ORDERING: Release pairs with the sender's Acquire when it checks for room: the slot has been read. This thread
   * alone writes it. */
  __atomic_store_n(taken, __atomic_load_n(taken, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
  /* As when a message is published, with the sides exchanged. */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __asm__ volatile("" : : : "memory");
  /* ORDERING: Relaxed, by the fence above. */
  if (!YS_LIKELY(__atomic_load_n(asleep, __ATOMIC_RELAXED) == 0)) ys_rx_credit(rx);
}

/* Sends by the window; 1: a call is needed. */
YS_INLINE int ys_tx_by_window_(ys_tx *tx, const void *message, size_t size, size_t align) {
  void *handle = tx;
  ys_tx_window *window = YS_TO_(ys_tx_window *, handle);
  unsigned char *at;
  if (!YS_LIKELY(tx != NULL && message != NULL)) return 1;
  if (!YS_LIKELY(ys_tx_slot_(window, &at, YS_TO_(unsigned char **, &window->stop), size, align))) return 1;
  ys_copy_(__builtin_assume_aligned(at, 8), message, size, align);
  return ys_tx_publish_(tx, window, at, size, align);
}

/* Receives by the window; 1: a call is needed. */
YS_INLINE int ys_rx_by_window_(ys_rx *rx, void *message, size_t size, size_t align) {
  void *handle = rx;
  ys_rx_window *window = YS_TO_(ys_rx_window *, handle);
  unsigned char *at;
  if (!YS_LIKELY(rx != NULL && message != NULL)) return 1;
  if (!YS_LIKELY(ys_rx_slot_(window, &at, size, align))) return 1;
  ys_copy_(message, __builtin_assume_aligned(at, 8), size, align);
  ys_rx_taken_(rx, window, at, size, align);
  return YS_OK;
}

#else

YS_INLINE int ys_tx_by_window_(ys_tx *tx, const void *message, size_t size, size_t align) {
  (void)tx, (void)message, (void)size, (void)align;
  return 1;
}

YS_INLINE int ys_rx_by_window_(ys_rx *rx, void *message, size_t size, size_t align) {
  (void)rx, (void)message, (void)size, (void)align;
  return 1;
}

#endif

/** ys_send() without a call if the window allows, for an spsc or mpsc sender. Waits for room as that does.
 *  @param size, align constants: those of the channel
 *  @return YS_OK; YS_CLOSED: the message is the caller's; other errors of ys_send() */
YS_INLINE int ys_send_inline(ys_tx *tx, const void *message, size_t size, size_t align) {
  const int answer = ys_tx_by_window_(tx, message, size, align);
  return YS_LIKELY(answer <= 0) ? answer : ys_send(tx, message);
}

/** ys_try_send() without a call where the window allows. Never blocks.
 *  @return YS_OK; YS_FULL, YS_CLOSED: the message is the caller's */
YS_INLINE int ys_try_send_inline(ys_tx *tx, const void *message, size_t size, size_t align) {
  const int answer = ys_tx_by_window_(tx, message, size, align);
  return YS_LIKELY(answer <= 0) ? answer : ys_try_send(tx, message);
}

/** ys_send_for() without a call where the window allows. Waits at most `ns` nanoseconds; 0 never waits, less than 0 is for ever.
 *  @return YS_OK; YS_FULL, YS_TIMEOUT, YS_CLOSED: the message is the caller's */
YS_INLINE int ys_send_for_inline(ys_tx *tx, const void *message, size_t size, size_t align, int64_t ns) {
  const int answer = ys_tx_by_window_(tx, message, size, align);
  return YS_LIKELY(answer <= 0) ? answer : ys_send_for(tx, message, ns);
}

/** ys_recv() without a call if the window allows, for an spsc receiver. Waits for a message as that does.
 *  @param size, align constants: those of the channel
 *  @return YS_OK; YS_CLOSED: nothing is left and nothing will come */
YS_INLINE int ys_recv_inline(ys_rx *rx, void *message, size_t size, size_t align) {
  const int answer = ys_rx_by_window_(rx, message, size, align);
  return YS_LIKELY(answer <= 0) ? answer : ys_recv(rx, message);
}

/** ys_try_recv() without a call where the window allows. Never blocks.
 *  @return YS_OK, YS_EMPTY, YS_CLOSED */
YS_INLINE int ys_try_recv_inline(ys_rx *rx, void *message, size_t size, size_t align) {
  const int answer = ys_rx_by_window_(rx, message, size, align);
  return YS_LIKELY(answer <= 0) ? answer : ys_try_recv(rx, message);
}

/** ys_recv_for() without a call where the window allows. Waits at most `ns` nanoseconds; 0 never waits, less than 0 is for ever.
 *  @return YS_OK; YS_EMPTY, YS_TIMEOUT, YS_CLOSED */
YS_INLINE int ys_recv_for_inline(ys_rx *rx, void *message, size_t size, size_t align, int64_t ns) {
  const int answer = ys_rx_by_window_(rx, message, size, align);
  return YS_LIKELY(answer <= 0) ? answer : ys_recv_for(rx, message, ns);
}

#endif
