/* What must not compile, and what its twin, which does nothing wrong, must: see tests/misuse. Case 0 is all of them. */
#include <ysuite.h>

typedef struct {
  char bytes[128];
} largest;
typedef struct {
  char bytes[129];
} too_large;
typedef struct {
  _Alignas(16) char bytes[16];
} strict;
typedef struct {
  _Alignas(32) char bytes[32];
} too_strict;

#if CASE == 1 || CASE == 0 // says: a message has at most 128 bytes
#ifdef WRONG
YS_DEFINE_PIPE(ends_1, too_large);
#else
YS_DEFINE_PIPE(ends_1, largest);
#endif
#endif

#if CASE == 2 || CASE == 0 // says: a message is aligned to at most 16 bytes
#ifdef WRONG
YS_DEFINE_EXCHANGE(ends_2, too_strict);
#else
YS_DEFINE_EXCHANGE(ends_2, strict);
#endif
#endif

#if CASE == 3 || CASE == 0 // says: ncompatible
YS_DEFINE_PIPE(longs_3, long);
YS_DEFINE_PIPE(doubles, double);
int mixed(longs_3_tx tx, doubles_tx other, long *message);
int mixed(longs_3_tx tx, doubles_tx other, long *message) {
#ifdef WRONG
  (void)tx;
  return longs_3_send(other, message);
#else
  (void)other;
  return longs_3_send(tx, message);
#endif
}
#endif

#if CASE == 4 || CASE == 0 // says: incompatible pointer type
YS_DEFINE_FUNNEL(longs_4, long);
int other(longs_4_tx tx, long *message, double *wrong);
int other(longs_4_tx tx, long *message, double *wrong) {
#ifdef WRONG
  (void)message;
  return longs_4_send(tx, wrong);
#else
  (void)wrong;
  return longs_4_send(tx, message);
#endif
}
#endif

#if CASE == 5 || CASE == 0 // says: a message has at most 128 bytes
#ifdef WRONG
YS_DEFINE_FUNNEL(ends_5, too_large);
#else
YS_DEFINE_FUNNEL(ends_5, largest);
#endif
#endif

#if CASE == 6 || CASE == 0 // says: a message is aligned to at most 16 bytes
#ifdef WRONG
YS_DEFINE_FUNNEL(ends_6, too_strict);
#else
YS_DEFINE_FUNNEL(ends_6, strict);
#endif
#endif

#if CASE == 7 || CASE == 0 // says: incompatible pointer type
YS_DEFINE_EXCHANGE(longs_7, long);
int into(longs_7_rx rx, long *message, double *wrong);
int into(longs_7_rx rx, long *message, double *wrong) {
#ifdef WRONG
  (void)message;
  return longs_7_recv(rx, wrong);
#else
  (void)wrong;
  return longs_7_recv(rx, message);
#endif
}
#endif

#if CASE == 8 || CASE == 0 // says: knows windows of version 2 only
/* The header is read once more, by a program that asks for another window. */
#undef YSUITE_INLINE_H
#undef YS_WINDOW_VERSION
#ifdef WRONG
#define YS_WINDOW_VERSION 3
#include <ysuite/inline.h>
#else
#define YSUITE_INLINE_H
#define YS_WINDOW_VERSION 2
#include <ysuite/inline.h>
#endif
#endif
