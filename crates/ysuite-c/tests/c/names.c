/* Types that are called as the headers call their own: typed channels carry them all the same, at their full size. */
#include <ysuite.h>

#include "check.h"

typedef struct {
  double a[3];
} message;
typedef struct {
  int x;
} answer;
typedef struct {
  char c[5];
} at;
typedef long tx;
typedef int slots;
typedef short n;

YS_DEFINE_PIPE(messages, message);
YS_DEFINE_FUNNEL(answers, answer);
YS_DEFINE_EXCHANGE(ats, at);
YS_DEFINE_PIPE(longs, tx);
YS_DEFINE_PIPE(ints, slots);
YS_DEFINE_PIPE(shorts, n);
YS_DEFINE_PIPE(strings, const char *);

int main(void) {
  messages_tx to;
  messages_rx from;
  strings_tx out;
  strings_rx in;
  const char *word = "word", *got = NULL;
  message sent = {{1, 2, 3}}, received = {{0, 0, 0}};
  CHECK(messages_open(4, &to, &from) == YS_OK);
  CHECK(messages_send(to, &sent) == YS_OK);
  CHECK(messages_recv(from, &received) == YS_OK);
  CHECK(received.a[0] == sent.a[0] && received.a[2] == sent.a[2]);
  CHECK(ys_tx_stride(to.raw) == YS_CLASS(sizeof(message), YS_ALIGNOF(message)));
  messages_tx_free(to);
  messages_rx_free(from);
  CHECK(strings_open(4, &out, &in) == YS_OK);
  CHECK(strings_send(out, &word) == YS_OK);
  CHECK(strings_recv(in, &got) == YS_OK && got == word);
  strings_tx_free(out);
  strings_rx_free(in);
  return 0;
}
