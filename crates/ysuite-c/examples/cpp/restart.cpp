/* A worker process that crashes, and is started again. It sends each result through a pipe of shared memory: what it
   had sent before the crash is received, and then the kernel's word that it has died, at once and without a heartbeat.
   The next worker goes on behind the last result. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#define YS_SHM
#include <ysuite.hpp>

namespace {

constexpr int jobs = 10, crashes_after = 4;
constexpr std::size_t capacity = 4096;

std::string result_of(int job) { return "job " + std::to_string(job) + " is " + std::to_string(job * job); }

/* The worker: restart DESCRIPTOR FIRST-JOB */
int work(int descriptor, int job) {
  ys::shm::sender results(ys::shm::socket(descriptor), capacity);
  for (int done = 0; job < jobs; job++, done++) {
    if (done == crashes_after) raise(SIGKILL);
    if (!results.send(result_of(job))) return 1;
  }
  return 0;
}

struct worker {
  pid_t process;
  ys::shm::receiver results;
};

worker start(int job) {
  auto [tx, rx] = ys::shm::pipe(capacity);
  // The end was not used: another process can make one of its descriptor.
  const ys::shm::socket inherited = tx.into_socket().value();
  const std::string descriptor = std::to_string(inherited.fd()), first = std::to_string(job);
  const pid_t process = fork();
  if (process == 0) {
    fcntl(inherited.fd(), F_SETFD, 0); // inherited by the program that is executed
    execl("/proc/self/exe", "restart", descriptor.c_str(), first.c_str(), static_cast<char *>(nullptr));
    _exit(127);
  }
  return {process, std::move(rx)};
}

}  // namespace

int main(int count, char **arguments) {
  if (count == 3) return work(std::stoi(arguments[1]), std::stoi(arguments[2]));
  int job = 0, workers = 0;
  ys::status why = ys::status::died;
  while (why == ys::status::died) {
    worker now = start(job);
    if (now.process < 0) return std::perror("a worker"), 1;
    std::string result;
    while (why = now.results.recv(result), why) {
      std::printf("%s\n", result.c_str());
      if (result != result_of(job++)) return 1;
    }
    workers++;
    if (why == ys::status::died) std::printf("worker %d has crashed before job %d\n", workers, job);
    else if (why != ys::status::closed) std::fprintf(stderr, "%s %s\n", why.text(), ys::shm::refusal());
    waitpid(now.process, nullptr, 0);
  }
  std::printf("%d jobs, %d workers\n", job, workers);
  return job != jobs || workers != (jobs + crashes_after - 1) / crashes_after;
}
