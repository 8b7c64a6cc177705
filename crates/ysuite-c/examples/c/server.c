/* A server with one loop of epoll, and workers for what takes long. Clients send numbers, 8 bytes each, and get back how many steps each
   takes to 1 (halved where it is even, three times itself and one where it is odd).

   The loop must never wait but in epoll_wait. So jobs go out through an exchange without a bound, from which whichever worker is free
   takes the next; and answers come back through a funnel, in which each worker has a lane of its own, and which is attached to a set:
   the set has a descriptor that is readable while there are answers. A worker that answers while the loop is busy makes no system
   call; only when the loop is about to sleep does the descriptor cost one.

   EPOLLONESHOT leaves a connection alone until its answer has gone: so there are never more jobs than connections, and the exchange needs
   no bound of its own, at which the loop would have to wait. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <ysuite.h>

enum { CLIENTS = 8, QUESTIONS = 200, WORKERS = 2, LISTENER = CLIENTS, ANSWERS };

typedef struct { uint32_t connection; uint64_t number; } job;
YS_DEFINE_EXCHANGE(jobs, job);
typedef struct { uint32_t connection; uint64_t steps; } reply;
YS_DEFINE_FUNNEL(replies, reply);

static uint64_t steps_of(uint64_t number) {
  uint64_t steps = 0;
  for (; number > 1; steps++) number = number % 2 ? 3 * number + 1 : number / 2;
  return steps;
}

static int must(int code, const char *what) {
  if (code >= 0) return code;
  perror(what);
  exit(1);
}

static void must_open(int code, const char *what) {
  if (code == YS_OK) return;
  fprintf(stderr, "%s: %s\n", what, ys_error_text(code));
  exit(1);
}

/* ---- workers ---- */

typedef struct { pthread_t thread; jobs_rx jobs; replies_tx replies; } worker;

static void *work(void *argument) {
  worker *this = argument;
  job next;
  /* Sleeps while there is nothing. Returns when the server has freed its handle, and all jobs are done. */
  while (jobs_recv(this->jobs, &next) == YS_OK) {
    reply done = {next.connection, steps_of(next.number)};
    if (replies_send(this->replies, &done) != YS_OK) break; /* the server is gone */
  }
  jobs_rx_free(this->jobs);
  replies_tx_free(this->replies);
  return NULL;
}

/* ---- the server ---- */

typedef struct { int socket; size_t filled; unsigned char bytes[sizeof(uint64_t)]; } connection;

typedef struct {
  int epoll, listener;
  connection connections[CLIENTS];
  size_t accepted, over, served;
  jobs_tx jobs;
  replies_rx replies;
  ys_set *set;
} server;

static void watch(int epoll, int how, int descriptor, uint32_t events, uint32_t which) {
  struct epoll_event event = {.events = events, .data.u32 = which};
  must(epoll_ctl(epoll, how, descriptor, &event), "epoll_ctl");
}

static void accept_clients(server *this) {
  int socket;
  while ((socket = accept4(this->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    if (this->accepted == CLIENTS) {
      close(socket); /* one too many */
      continue;
    }
    this->connections[this->accepted] = (connection){.socket = socket};
    watch(this->epoll, EPOLL_CTL_ADD, socket, EPOLLIN | EPOLLONESHOT, (uint32_t)this->accepted++);
  }
}

static void read_question(server *this, uint32_t which) {
  connection *from = &this->connections[which];
  ssize_t count = recv(from->socket, from->bytes + from->filled, sizeof from->bytes - from->filled, 0);
  if (count == 0 || (count < 0 && errno != EAGAIN)) {
    close(from->socket);
    this->over++;
    return;
  }
  if (count > 0) from->filled += (size_t)count;
  if (from->filled < sizeof from->bytes) {
    watch(this->epoll, EPOLL_CTL_MOD, from->socket, EPOLLIN | EPOLLONESHOT, which);
    return;
  }
  job next = {which, 0};
  memcpy(&next.number, from->bytes, sizeof next.number);
  from->filled = 0;
  must_open(jobs_try_send(this->jobs, &next), "workers are there");
}

/* A channel's id stays up, and the descriptor readable, until the channel has been found empty. */
static void send_answers(server *this) {
  size_t id;
  reply next;
  ys_set_wait(this->set, &id, 1, 0);
  while (replies_try_recv(this->replies, &next) == YS_OK) {
    int socket = this->connections[next.connection].socket;
    /* There is room for these few bytes, unless a client sends on without reading: then it gets no more answers. */
    if (send(socket, &next.steps, sizeof next.steps, MSG_NOSIGNAL) != sizeof next.steps) shutdown(socket, SHUT_RDWR);
    this->served++;
    watch(this->epoll, EPOLL_CTL_MOD, socket, EPOLLIN | EPOLLONESHOT, next.connection);
  }
}

static void serve(server *this) {
  this->epoll = must(epoll_create1(EPOLL_CLOEXEC), "epoll");
  watch(this->epoll, EPOLL_CTL_ADD, this->listener, EPOLLIN, LISTENER);
  watch(this->epoll, EPOLL_CTL_ADD, ys_set_fd(this->set), EPOLLIN, ANSWERS);
  while (this->over < CLIENTS) {
    struct epoll_event events[16];
    int count = epoll_wait(this->epoll, events, 16, -1);
    for (int at = 0; at < count; at++) {
      uint32_t which = events[at].data.u32;
      if (which == LISTENER) accept_clients(this);
      else if (which == ANSWERS) send_answers(this);
      else read_question(this, which);
    }
  }
  close(this->epoll);
}

/* ---- clients ---- */

typedef struct { pthread_t thread; struct sockaddr_in server; uint64_t first; size_t right; } client;

static void *ask(void *argument) {
  client *this = argument;
  int link = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  must(connect(link, (struct sockaddr *)&this->server, sizeof this->server), "connect");
  for (uint64_t number = this->first; number < this->first + QUESTIONS; number++) {
    uint64_t steps = UINT64_MAX;
    if (send(link, &number, sizeof number, MSG_NOSIGNAL) != sizeof number) break;
    if (recv(link, &steps, sizeof steps, MSG_WAITALL) != sizeof steps) break;
    this->right += steps == steps_of(number);
  }
  close(link);
  return NULL;
}

int main(void) {
  server server = {0};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  server.listener = must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  must(bind(server.listener, (struct sockaddr *)&address, length), "bind");
  must(listen(server.listener, CLIENTS), "listen");
  must(getsockname(server.listener, (struct sockaddr *)&address, &length), "getsockname");

  jobs_rx jobs;
  replies_tx replies;
  must_open(jobs_open(0, &server.jobs, &jobs), "an mpmc channel of jobs");
  must_open(replies_open(CLIENTS, &replies, &server.replies), "an mpsc channel of replies");
  must_open(ys_set_open(1, &server.set), "a set");
  must_open(ys_set_attach_rx(server.set, server.replies.raw, 0), "replies in the set");

  worker workers[WORKERS];
  for (int at = 0; at < WORKERS; at++) {
    must_open(jobs_rx_clone(jobs, &workers[at].jobs), "jobs for a worker");
    must_open(replies_tx_clone(replies, &workers[at].replies), "a lane for a worker");
    must_open(pthread_create(&workers[at].thread, NULL, work, &workers[at]), "a worker");
  }
  jobs_rx_free(jobs);
  replies_tx_free(replies);
  client clients[CLIENTS];
  for (int at = 0; at < CLIENTS; at++) {
    clients[at] = (client){.server = address, .first = 1000 * (uint64_t)at + 1};
    must_open(pthread_create(&clients[at].thread, NULL, ask, &clients[at]), "a client");
  }

  serve(&server);
  jobs_tx_free(server.jobs);
  size_t right = 0;
  for (int at = 0; at < WORKERS; at++) pthread_join(workers[at].thread, NULL);
  for (int at = 0; at < CLIENTS; at++) {
    pthread_join(clients[at].thread, NULL);
    right += clients[at].right;
  }
  ys_set_detach_rx(server.set, server.replies.raw);
  replies_rx_free(server.replies);
  ys_set_free(server.set);
  close(server.listener);
  printf("%zu questions answered, %zu of them rightly\n", server.served, right);
  return server.served != CLIENTS * QUESTIONS || right != CLIENTS * QUESTIONS;
}
