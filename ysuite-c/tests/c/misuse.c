/* What must not compile, and what its twin, which does nothing wrong, must: see tests/misuse. */
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

#if CASE == 1 // says: a message has at most 128 bytes
#ifdef WRONG
YS_DEFINE_PIPE(ends, too_large);
#else
YS_DEFINE_PIPE(ends, largest);
#endif
#elif CASE == 2 // says: a message is aligned to at most 16 bytes
#ifdef WRONG
YS_DEFINE_EXCHANGE(ends, too_strict);
#else
YS_DEFINE_EXCHANGE(ends, strict);
#endif
#elif CASE == 3 // says: ncompatible
YS_DEFINE_PIPE(longs, long);
YS_DEFINE_PIPE(doubles, double);
int mixed(longs_tx tx, doubles_tx other, long *message);
int mixed(longs_tx tx, doubles_tx other, long *message) {
#ifdef WRONG
  (void)tx;
  return longs_send(other, message);
#else
  (void)other;
  return longs_send(tx, message);
#endif
}
#elif CASE == 4 // says: incompatible pointer type
YS_DEFINE_FUNNEL(longs, long);
int other(longs_tx tx, long *message, double *wrong);
int other(longs_tx tx, long *message, double *wrong) {
#ifdef WRONG
  (void)message;
  return longs_send(tx, wrong);
#else
  (void)wrong;
  return longs_send(tx, message);
#endif
}
#elif CASE == 5 // says: a message has at most 128 bytes
#ifdef WRONG
YS_DEFINE_FUNNEL(ends, too_large);
#else
YS_DEFINE_FUNNEL(ends, largest);
#endif
#elif CASE == 6 // says: a message is aligned to at most 16 bytes
#ifdef WRONG
YS_DEFINE_FUNNEL(ends, too_strict);
#else
YS_DEFINE_FUNNEL(ends, strict);
#endif
#elif CASE == 7 // says: incompatible pointer type
YS_DEFINE_EXCHANGE(longs, long);
int into(longs_rx rx, long *message, double *wrong);
int into(longs_rx rx, long *message, double *wrong) {
#ifdef WRONG
  (void)message;
  return longs_recv(rx, wrong);
#else
  (void)wrong;
  return longs_recv(rx, message);
#endif
}
#elif CASE == 8 // says: knows windows of version 1 only
/* The header is read once more, by a program that asks for another window. */
#undef YSUITE_INLINE_H
#undef YS_WINDOW_VERSION
#ifdef WRONG
#define YS_WINDOW_VERSION 2
#include <ysuite/inline.h>
#else
#define YSUITE_INLINE_H
#define YS_WINDOW_VERSION 1
#include <ysuite/inline.h>
#endif
#endif
