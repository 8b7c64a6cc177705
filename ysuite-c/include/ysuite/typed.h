/** @file ysuite/typed.h
 *  Channels of one message type for C: functions whose ends and messages the compiler checks, inline where the channel has a window.
 *
 *      typedef struct tick { uint64_t when; double price; } tick;
 *      YS_DEFINE_PIPE(ticks, tick);
 *
 *      ticks_tx tx;
 *      ticks_rx rx;
 *      if (ticks_open(1024, &tx, &rx) != YS_OK) ...
 *      ticks_send(tx, &(tick){ now, 1.5 });          // one thread
 *      tick t; while (ticks_recv(rx, &t) == YS_OK) ... // another; ends with the sender
 *      ticks_tx_free(tx);
 *
 *  Every function is the call of the same name, with its blocking, its errors and its return value. What is not here is called with an
 *  end's member `raw`: `ys_set_attach_rx(set, rx.raw, 3)`. Ends are small and passed by value; copies are the same end.
 *
 *  | all | pipe, funnel | funnel, exchange | exchange |
 *  |---|---|---|---|
 *  | open, open_with, send, try_send, send_for, send_batch, recv, try_recv, recv_for, recv_batch, tx_close, tx_free, rx_close, rx_free | write, flush, reserve, commit, wait_room, peek, consume, take, wait | tx_clone | rx_clone |
 */
#ifndef YSUITE_TYPED_H
#define YSUITE_TYPED_H

#include "inline.h"

#ifdef __cplusplus
/* Messages of C are moved as bytes. */
#define YS_CHECK_BYTES_(type)                                                                                                  \
  YS_STATIC_ASSERT(__is_trivially_copyable(type), "messages are moved as bytes: this type has constructors, use ysuite.hpp")
#else
#define YS_CHECK_BYTES_(type) YS_STATIC_ASSERT(1, "")
#endif

#define YS_CHECK_TYPE_(type)                                                                                                   \
  YS_STATIC_ASSERT(sizeof(type) <= YS_LARGEST, "a message has at most 128 bytes: send larger ones as messages of a pool");     \
  YS_STATIC_ASSERT(YS_ALIGNOF(type) <= YS_STRICTEST, "a message is aligned to at most 16 bytes: align it within a pool's");    \
  YS_CHECK_BYTES_(type)

#define YS_TYPED_ static inline __attribute__((unused))
#define YS_TYPED_SIZES_(type) sizeof(type), YS_ALIGNOF(type)

/* Both ends, opening, closing, batches: what every kind has. */
#define YS_DEFINE_ENDS_(kind, name, type)                                                                                      \
  YS_CHECK_TYPE_(type);                                                                                                        \
  typedef struct name##_tx {                                                                                                   \
    ys_tx *raw;                                                                                                                \
  } name##_tx;                                                                                                                 \
  typedef struct name##_rx {                                                                                                   \
    ys_rx *raw;                                                                                                                \
  } name##_rx;                                                                                                                 \
  YS_TYPED_ int name##_open_with(ys_options options, name##_tx *tx, name##_rx *rx) {                                           \
    options.size = sizeof(type);                                                                                               \
    options.align = YS_ALIGNOF(type);                                                                                          \
    return ys_##kind##_open(&options, tx ? &tx->raw : NULL, rx ? &rx->raw : NULL);                                             \
  }                                                                                                                            \
  YS_TYPED_ int name##_open(size_t capacity, name##_tx *tx, name##_rx *rx) {                                                   \
    ys_options options = YS_OPTIONS_INIT;                                                                                      \
    options.capacity = capacity;                                                                                               \
    return name##_open_with(options, tx, rx);                                                                                  \
  }                                                                                                                            \
  YS_TYPED_ ptrdiff_t name##_send_batch(name##_tx tx, const type *messages, size_t n, int64_t ns) {                            \
    return ys_send_batch(tx.raw, messages, n, ns);                                                                             \
  }                                                                                                                            \
  YS_TYPED_ ptrdiff_t name##_recv_batch(name##_rx rx, type *messages, size_t max, int64_t ns) {                                \
    return ys_recv_batch(rx.raw, messages, max, ns);                                                                           \
  }                                                                                                                            \
  YS_TYPED_ int name##_tx_close(name##_tx tx) { return ys_tx_close(tx.raw); }                                                  \
  YS_TYPED_ int name##_rx_close(name##_rx rx) { return ys_rx_close(rx.raw); }                                                  \
  YS_TYPED_ void name##_tx_free(name##_tx tx) { ys_tx_free(tx.raw); }                                                          \
  YS_TYPED_ void name##_rx_free(name##_rx rx) { ys_rx_free(rx.raw); }

#define YS_DEFINE_SEND_INLINE_(name, type)                                                                                     \
  YS_INLINE int name##_send(name##_tx tx, const type *message) {                                                               \
    return ys_send_inline(tx.raw, message, YS_TYPED_SIZES_(type));                                                             \
  }                                                                                                                            \
  YS_INLINE int name##_try_send(name##_tx tx, const type *message) {                                                           \
    return ys_try_send_inline(tx.raw, message, YS_TYPED_SIZES_(type));                                                         \
  }                                                                                                                            \
  YS_INLINE int name##_send_for(name##_tx tx, const type *message, int64_t ns) {                                               \
    return ys_send_for_inline(tx.raw, message, YS_TYPED_SIZES_(type), ns);                                                     \
  }

#define YS_DEFINE_SEND_(name, type)                                                                                            \
  YS_TYPED_ int name##_send(name##_tx tx, const type *message) { return ys_send(tx.raw, message); }                            \
  YS_TYPED_ int name##_try_send(name##_tx tx, const type *message) { return ys_try_send(tx.raw, message); }                    \
  YS_TYPED_ int name##_send_for(name##_tx tx, const type *message, int64_t ns) { return ys_send_for(tx.raw, message, ns); }

#define YS_DEFINE_RECV_INLINE_(name, type)                                                                                     \
  YS_INLINE int name##_recv(name##_rx rx, type *message) {                                                                     \
    return ys_recv_inline(rx.raw, message, YS_TYPED_SIZES_(type));                                                             \
  }                                                                                                                            \
  YS_INLINE int name##_try_recv(name##_rx rx, type *message) {                                                                 \
    return ys_try_recv_inline(rx.raw, message, YS_TYPED_SIZES_(type));                                                         \
  }                                                                                                                            \
  YS_INLINE int name##_recv_for(name##_rx rx, type *message, int64_t ns) {                                                     \
    return ys_recv_for_inline(rx.raw, message, YS_TYPED_SIZES_(type), ns);                                                     \
  }

#define YS_DEFINE_RECV_(name, type)                                                                                            \
  YS_TYPED_ int name##_recv(name##_rx rx, type *message) { return ys_recv(rx.raw, message); }                                  \
  YS_TYPED_ int name##_try_recv(name##_rx rx, type *message) { return ys_try_recv(rx.raw, message); }                          \
  YS_TYPED_ int name##_recv_for(name##_rx rx, type *message, int64_t ns) { return ys_recv_for(rx.raw, message, ns); }

/* Slots lie YS_CLASS apart, so an array of slots is one of this union, not of the message. */
#define YS_DEFINE_IN_PLACE_(name, type)                                                                                        \
  typedef union name##_slot {                                                                                                  \
    type message;                                                                                                              \
    unsigned char slot_[YS_CLASS(sizeof(type), YS_ALIGNOF(type))];                                                             \
  } name##_slot;                                                                                                               \
  YS_TYPED_ int name##_write(name##_tx tx, const type *message) { return ys_write(tx.raw, message); }                          \
  YS_TYPED_ int name##_flush(name##_tx tx) { return ys_flush(tx.raw); }                                                        \
  YS_TYPED_ ptrdiff_t name##_reserve(name##_tx tx, name##_slot **slots) {                                                      \
    void *at = NULL;                                                                                                           \
    const ptrdiff_t answer = ys_reserve(tx.raw, slots ? &at : NULL);                                                           \
    if (slots) *slots = (name##_slot *)at;                                                                                     \
    return answer;                                                                                                             \
  }                                                                                                                            \
  YS_TYPED_ ptrdiff_t name##_commit(name##_tx tx, size_t n) { return ys_commit(tx.raw, n); }                                   \
  YS_TYPED_ int name##_wait_room(name##_tx tx, int64_t ns) { return ys_wait_room(tx.raw, ns); }                                \
  YS_TYPED_ ptrdiff_t name##_peek(name##_rx rx, name##_slot **slots) {                                                         \
    void *at = NULL;                                                                                                           \
    const ptrdiff_t answer = ys_peek(rx.raw, slots ? &at : NULL);                                                              \
    if (slots) *slots = (name##_slot *)at;                                                                                     \
    return answer;                                                                                                             \
  }                                                                                                                            \
  YS_TYPED_ int name##_consume(name##_rx rx, size_t n) { return ys_consume(rx.raw, n); }                                       \
  YS_TYPED_ int name##_take(name##_rx rx, type **message, int64_t ns) {                                                        \
    void *at = NULL;                                                                                                           \
    const int answer = ys_take(rx.raw, message ? &at : NULL, ns);                                                              \
    if (message) *message = (type *)at;                                                                                        \
    return answer;                                                                                                             \
  }                                                                                                                            \
  YS_TYPED_ int name##_wait(name##_rx rx, int64_t ns) { return ys_wait(rx.raw, ns); }

#define YS_DEFINE_TX_CLONE_(name)                                                                                              \
  YS_TYPED_ int name##_tx_clone(name##_tx tx, name##_tx *clone) { return ys_tx_clone(tx.raw, clone ? &clone->raw : NULL); }
#define YS_DEFINE_RX_CLONE_(name)                                                                                              \
  YS_TYPED_ int name##_rx_clone(name##_rx rx, name##_rx *clone) { return ys_rx_clone(rx.raw, clone ? &clone->raw : NULL); }

/* A definition ends with the user's semicolon. */
#define YS_DEFINED_(name) struct name##_defined_

/** Defines a pipe, one sender and one receiver: `name_tx`, `name_rx`, `name_slot` and their functions. A name of a type, at file scope. */
#define YS_DEFINE_PIPE(name, type)                                                                                             \
  YS_DEFINE_ENDS_(pipe, name, type)                                                                                            \
  YS_DEFINE_SEND_INLINE_(name, type)                                                                                           \
  YS_DEFINE_RECV_INLINE_(name, type)                                                                                           \
  YS_DEFINE_IN_PLACE_(name, type)                                                                                              \
  YS_DEFINED_(name)

/** Defines a funnel, many senders and one receiver: as a pipe, with `name_tx_clone`. */
#define YS_DEFINE_FUNNEL(name, type)                                                                                           \
  YS_DEFINE_ENDS_(funnel, name, type)                                                                                          \
  YS_DEFINE_SEND_INLINE_(name, type)                                                                                           \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_DEFINE_IN_PLACE_(name, type)                                                                                              \
  YS_DEFINE_TX_CLONE_(name)                                                                                                    \
  YS_DEFINED_(name)

/** Defines an exchange, many of both: `name_tx`, `name_rx`, their functions, `name_tx_clone` and `name_rx_clone`. */
#define YS_DEFINE_EXCHANGE(name, type)                                                                                         \
  YS_DEFINE_ENDS_(exchange, name, type)                                                                                        \
  YS_DEFINE_SEND_(name, type)                                                                                                  \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_DEFINE_TX_CLONE_(name)                                                                                                    \
  YS_DEFINE_RX_CLONE_(name)                                                                                                    \
  YS_DEFINED_(name)

#endif
