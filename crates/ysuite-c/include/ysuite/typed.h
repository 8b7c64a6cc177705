/** @file ysuite/typed.h
 *  Channels of one message type for C: functions whose handles and messages the compiler checks, inline if the channel
 *  has a window.
 *
 *      typedef struct tick { uint64_t when; double price; } tick;
 *      YS_DEFINE_PIPE(ticks, tick);
 *
 *      ticks_tx tx;
 *      ticks_rx rx;
 *      if (ticks_open(1024, &tx, &rx) != YS_OK) ...
 *      ticks_send(tx, &(tick){ now, 1.5 });          // one thread
 *      tick t; while (ticks_recv(rx, &t) == YS_OK) ... // another; stops with the sender
 *      ticks_tx_free(tx);
 *
 *  Every function is the call of the same name, with its blocking, its errors and its return value. Other functions are
 *  called with a handle's member `raw`: `ys_set_attach_rx(set, rx.raw, 3)`. Handles are small and passed by value;
 *  copies are the same handle. `name_tx_from(raw, &tx)` or `name_rx_from(raw, &rx)` converts a pointer: YS_EINVAL, and
 *  a null handle, if its channel has messages of another size.
 *
 *  What differs of a oneshot, a broadcast and a watch is said where they are defined.
 *
 *  | all | spsc, mpsc | mpsc, mpmc | mpmc |
 *  |---|---|---|---|
 *  | open, open_with, tx_from, rx_from, send, try_send, send_for, send_batch, recv, try_recv, recv_for, recv_batch, tx_close, tx_free, rx_close, rx_free | write, flush, reserve, commit, wait_room, peek, consume, take, wait | tx_clone | rx_clone |
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

/* Both handles, closing, batches: what every kind has. */
#define YS_DEFINE_HANDLES_(name, type)                                                                                          \
  YS_CHECK_TYPE_(type);                                                                                                        \
  typedef struct name##_tx {                                                                                                   \
    ys_tx *raw;                                                                                                                \
  } name##_tx;                                                                                                                 \
  typedef struct name##_rx {                                                                                                   \
    ys_rx *raw;                                                                                                                \
  } name##_rx;                                                                                                                 \
  YS_TYPED_ int name##_tx_from(ys_tx *raw_, name##_tx *tx_) {                                                                  \
    const int code_ = tx_ ? ys_tx_expect(raw_, YS_TYPED_SIZES_(type)) : YS_EINVAL;                                             \
    if (tx_) tx_->raw = code_ == YS_OK ? raw_ : NULL;                                                                          \
    return code_;                                                                                                              \
  }                                                                                                                            \
  YS_TYPED_ int name##_rx_from(ys_rx *raw_, name##_rx *rx_) {                                                                  \
    const int code_ = rx_ ? ys_rx_expect(raw_, YS_TYPED_SIZES_(type)) : YS_EINVAL;                                             \
    if (rx_) rx_->raw = code_ == YS_OK ? raw_ : NULL;                                                                          \
    return code_;                                                                                                              \
  }                                                                                                                            \
  YS_TYPED_ ptrdiff_t name##_send_batch(name##_tx tx_, type const *messages_, size_t n_, int64_t ns_) {                        \
    return ys_send_batch(tx_.raw, messages_, n_, ns_);                                                                         \
  }                                                                                                                            \
  YS_TYPED_ ptrdiff_t name##_recv_batch(name##_rx rx_, type *messages_, size_t max_, int64_t ns_) {                            \
    return ys_recv_batch(rx_.raw, messages_, max_, ns_);                                                                       \
  }                                                                                                                            \
  YS_TYPED_ int name##_tx_close(name##_tx tx_) { return ys_tx_close(tx_.raw); }                                                \
  YS_TYPED_ int name##_rx_close(name##_rx rx_) { return ys_rx_close(rx_.raw); }                                                \
  YS_TYPED_ void name##_tx_free(name##_tx tx_) { ys_tx_free(tx_.raw); }                                                        \
  YS_TYPED_ void name##_rx_free(name##_rx rx_) { ys_rx_free(rx_.raw); }

/* Those, and how they are opened. */
#define YS_DEFINE_ENDS_(kind, name, type)                                                                                      \
  YS_DEFINE_HANDLES_(name, type)                                                                                               \
  YS_TYPED_ int name##_open_with(ys_options options_, name##_tx *tx_, name##_rx *rx_) {                                        \
    options_.size = sizeof(type);                                                                                              \
    options_.align = YS_ALIGNOF(type);                                                                                         \
    return ys_##kind##_open(&options_, tx_ ? &tx_->raw : NULL, rx_ ? &rx_->raw : NULL);                                        \
  }                                                                                                                            \
  YS_TYPED_ int name##_open(size_t capacity_, name##_tx *tx_, name##_rx *rx_) {                                                \
    ys_options options_ = YS_OPTIONS_INIT;                                                                                     \
    options_.capacity = capacity_;                                                                                             \
    return name##_open_with(options_, tx_, rx_);                                                                               \
  }

#define YS_DEFINE_SEND_INLINE_(name, type)                                                                                     \
  YS_INLINE int name##_send(name##_tx tx_, type const *message_) {                                                             \
    return ys_send_inline(tx_.raw, message_, YS_TYPED_SIZES_(type));                                                           \
  }                                                                                                                            \
  YS_INLINE int name##_try_send(name##_tx tx_, type const *message_) {                                                         \
    return ys_try_send_inline(tx_.raw, message_, YS_TYPED_SIZES_(type));                                                       \
  }                                                                                                                            \
  YS_INLINE int name##_send_for(name##_tx tx_, type const *message_, int64_t ns_) {                                            \
    return ys_send_for_inline(tx_.raw, message_, YS_TYPED_SIZES_(type), ns_);                                                  \
  }

#define YS_DEFINE_SEND_(name, type)                                                                                            \
  YS_TYPED_ int name##_send(name##_tx tx_, type const *message_) { return ys_send(tx_.raw, message_); }                        \
  YS_TYPED_ int name##_try_send(name##_tx tx_, type const *message_) { return ys_try_send(tx_.raw, message_); }                \
  YS_TYPED_ int name##_send_for(name##_tx tx_, type const *message_, int64_t ns_) { return ys_send_for(tx_.raw, message_, ns_); }

#define YS_DEFINE_RECV_INLINE_(name, type)                                                                                     \
  YS_INLINE int name##_recv(name##_rx rx_, type *message_) {                                                                   \
    return ys_recv_inline(rx_.raw, message_, YS_TYPED_SIZES_(type));                                                           \
  }                                                                                                                            \
  YS_INLINE int name##_try_recv(name##_rx rx_, type *message_) {                                                               \
    return ys_try_recv_inline(rx_.raw, message_, YS_TYPED_SIZES_(type));                                                       \
  }                                                                                                                            \
  YS_INLINE int name##_recv_for(name##_rx rx_, type *message_, int64_t ns_) {                                                  \
    return ys_recv_for_inline(rx_.raw, message_, YS_TYPED_SIZES_(type), ns_);                                                  \
  }

#define YS_DEFINE_RECV_(name, type)                                                                                            \
  YS_TYPED_ int name##_recv(name##_rx rx_, type *message_) { return ys_recv(rx_.raw, message_); }                              \
  YS_TYPED_ int name##_try_recv(name##_rx rx_, type *message_) { return ys_try_recv(rx_.raw, message_); }                      \
  YS_TYPED_ int name##_recv_for(name##_rx rx_, type *message_, int64_t ns_) { return ys_recv_for(rx_.raw, message_, ns_); }

/* Slots lie YS_CLASS apart, so an array of slots is one of this union, not of the message. */
#define YS_DEFINE_IN_PLACE_(name, type)                                                                                        \
  typedef type name##_in_slot_;                                                                                                \
  typedef union name##_slot {                                                                                                  \
    name##_in_slot_ message;                                                                                                   \
    unsigned char slot_[YS_CLASS(sizeof(name##_in_slot_), YS_ALIGNOF(name##_in_slot_))];                                       \
  } name##_slot;                                                                                                               \
  YS_TYPED_ int name##_write(name##_tx tx_, type const *message_) { return ys_write(tx_.raw, message_); }                      \
  YS_TYPED_ int name##_flush(name##_tx tx_) { return ys_flush(tx_.raw); }                                                      \
  YS_TYPED_ ptrdiff_t name##_reserve(name##_tx tx_, name##_slot **slots_) {                                                    \
    void *at_ = NULL;                                                                                                          \
    const ptrdiff_t answer_ = ys_reserve(tx_.raw, slots_ ? &at_ : NULL);                                                       \
    if (slots_) *slots_ = YS_TO_(name##_slot *, at_);                                                                          \
    return answer_;                                                                                                            \
  }                                                                                                                            \
  YS_TYPED_ ptrdiff_t name##_commit(name##_tx tx_, size_t n_) { return ys_commit(tx_.raw, n_); }                               \
  YS_TYPED_ int name##_wait_room(name##_tx tx_, int64_t ns_) { return ys_wait_room(tx_.raw, ns_); }                            \
  YS_TYPED_ ptrdiff_t name##_peek(name##_rx rx_, name##_slot **slots_) {                                                       \
    void *at_ = NULL;                                                                                                          \
    const ptrdiff_t answer_ = ys_peek(rx_.raw, slots_ ? &at_ : NULL);                                                          \
    if (slots_) *slots_ = YS_TO_(name##_slot *, at_);                                                                          \
    return answer_;                                                                                                            \
  }                                                                                                                            \
  YS_TYPED_ int name##_consume(name##_rx rx_, size_t n_) { return ys_consume(rx_.raw, n_); }                                   \
  YS_TYPED_ int name##_take(name##_rx rx_, type **message_, int64_t ns_) {                                                     \
    void *at_ = NULL;                                                                                                          \
    const int answer_ = ys_take(rx_.raw, message_ ? &at_ : NULL, ns_);                                                         \
    if (message_) *message_ = YS_TO_(type *, at_);                                                                             \
    return answer_;                                                                                                            \
  }                                                                                                                            \
  YS_TYPED_ int name##_wait(name##_rx rx_, int64_t ns_) { return ys_wait(rx_.raw, ns_); }

#define YS_DEFINE_TX_CLONE_(name)                                                                                              \
  YS_TYPED_ int name##_tx_clone(name##_tx tx_, name##_tx *clone_) { return ys_tx_clone(tx_.raw, clone_ ? &clone_->raw : NULL); }
#define YS_DEFINE_RX_CLONE_(name)                                                                                              \
  YS_TYPED_ int name##_rx_clone(name##_rx rx_, name##_rx *clone_) { return ys_rx_clone(rx_.raw, clone_ ? &clone_->raw : NULL); }

/* A definition ends with the user's semicolon. */
#define YS_DEFINED_(name) struct name##_defined_

/** Defines an spsc channel, one sender and one receiver: `name_tx`, `name_rx`, `name_slot` and their functions. A name
 *  of a type, at file scope. */
#define YS_DEFINE_PIPE(name, type)                                                                                             \
  YS_DEFINE_ENDS_(pipe, name, type)                                                                                            \
  YS_DEFINE_SEND_INLINE_(name, type)                                                                                           \
  YS_DEFINE_RECV_INLINE_(name, type)                                                                                           \
  YS_DEFINE_IN_PLACE_(name, type)                                                                                              \
  YS_DEFINED_(name)

/** Defines an mpsc channel, many senders and one receiver: as above, with `name_tx_clone`. */
#define YS_DEFINE_FUNNEL(name, type)                                                                                           \
  YS_DEFINE_ENDS_(funnel, name, type)                                                                                          \
  YS_DEFINE_SEND_INLINE_(name, type)                                                                                           \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_DEFINE_IN_PLACE_(name, type)                                                                                              \
  YS_DEFINE_TX_CLONE_(name)                                                                                                    \
  YS_DEFINED_(name)

/** Defines an mpmc channel, many of both: `name_tx`, `name_rx`, their functions, `name_tx_clone` and `name_rx_clone`.
 *  */
#define YS_DEFINE_EXCHANGE(name, type)                                                                                         \
  YS_DEFINE_ENDS_(exchange, name, type)                                                                                        \
  YS_DEFINE_SEND_(name, type)                                                                                                  \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_DEFINE_TX_CLONE_(name)                                                                                                    \
  YS_DEFINE_RX_CLONE_(name)                                                                                                    \
  YS_DEFINED_(name)

/** Defines a oneshot, for one message: `name_open(&tx, &rx)`, `name_send`, `name_recv`, `name_try_recv`, `name_recv_for`, `name_wait`. */
#define YS_DEFINE_ONESHOT(name, type)                                                                                          \
  YS_DEFINE_HANDLES_(name, type)                                                                                               \
  YS_TYPED_ int name##_open_with(ys_options options_, name##_tx *tx_, name##_rx *rx_) {                                        \
    options_.size = sizeof(type);                                                                                              \
    options_.align = YS_ALIGNOF(type);                                                                                         \
    return ys_oneshot_open(&options_, tx_ ? &tx_->raw : NULL, rx_ ? &rx_->raw : NULL);                                         \
  }                                                                                                                            \
  YS_TYPED_ int name##_open(name##_tx *tx_, name##_rx *rx_) {                                                                  \
    const ys_options options_ = YS_OPTIONS_INIT;                                                                               \
    return name##_open_with(options_, tx_, rx_);                                                                               \
  }                                                                                                                            \
  YS_TYPED_ int name##_send(name##_tx tx_, type const *message_) { return ys_send(tx_.raw, message_); }                        \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_TYPED_ int name##_wait(name##_rx rx_, int64_t ns_) { return ys_wait(rx_.raw, ns_); }                                      \
  YS_DEFINED_(name)

#define YS_DEFINE_SUBSCRIBE_(name)                                                                                             \
  YS_TYPED_ int name##_subscribe(name##_tx tx_, name##_rx *rx_) { return ys_tx_subscribe(tx_.raw, rx_ ? &rx_->raw : NULL); }

/** Defines a broadcast, many of both, each message for every receiver: as an exchange, with `name_subscribe`, and
 *  `name_open_lossy` for one whose receivers may lose messages. */
#define YS_DEFINE_BROADCAST(name, type)                                                                                        \
  YS_DEFINE_ENDS_(broadcast, name, type)                                                                                       \
  YS_TYPED_ int name##_open_lossy(size_t capacity_, name##_tx *tx_, name##_rx *rx_) {                                          \
    ys_options options_ = YS_OPTIONS_INIT;                                                                                     \
    options_.capacity = capacity_;                                                                                             \
    options_.size = sizeof(type);                                                                                              \
    options_.align = YS_ALIGNOF(type);                                                                                         \
    return ys_broadcast_lossy_open(&options_, tx_ ? &tx_->raw : NULL, rx_ ? &rx_->raw : NULL);                                 \
  }                                                                                                                            \
  YS_DEFINE_SEND_(name, type)                                                                                                  \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_DEFINE_TX_CLONE_(name)                                                                                                    \
  YS_DEFINE_RX_CLONE_(name)                                                                                                    \
  YS_DEFINE_SUBSCRIBE_(name)                                                                                                   \
  YS_DEFINED_(name)

/** Defines a watch, one value, many of both: `name_open(&first, &tx, &rx)`, `name_send`, `name_recv`, `name_get`, `name_subscribe` ... */
#define YS_DEFINE_WATCH(name, type)                                                                                            \
  YS_DEFINE_HANDLES_(name, type)                                                                                               \
  YS_TYPED_ int name##_open_with(ys_options options_, type const *first_, name##_tx *tx_, name##_rx *rx_) {                    \
    options_.size = sizeof(type);                                                                                              \
    options_.align = YS_ALIGNOF(type);                                                                                         \
    return ys_watch_open(&options_, first_, tx_ ? &tx_->raw : NULL, rx_ ? &rx_->raw : NULL);                                   \
  }                                                                                                                            \
  YS_TYPED_ int name##_open(type const *first_, name##_tx *tx_, name##_rx *rx_) {                                              \
    const ys_options options_ = YS_OPTIONS_INIT;                                                                               \
    return name##_open_with(options_, first_, tx_, rx_);                                                                       \
  }                                                                                                                            \
  YS_TYPED_ int name##_send(name##_tx tx_, type const *message_) { return ys_send(tx_.raw, message_); }                        \
  YS_DEFINE_RECV_(name, type)                                                                                                  \
  YS_TYPED_ int name##_get(name##_rx rx_, type *message_) { return ys_watch_get(rx_.raw, message_); }                          \
  YS_DEFINE_TX_CLONE_(name)                                                                                                    \
  YS_DEFINE_RX_CLONE_(name)                                                                                                    \
  YS_DEFINE_SUBSCRIBE_(name)                                                                                                   \
  YS_DEFINED_(name)

#endif
