// The lines of C++ that `ybench choose` answers with. It prints what stands between "recipe" and "end"; the tests compile
// all of it where there is a compiler.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#define YS_SHM
#include <ysuite.hpp>

using message = std::uint64_t;

void spsc() {
  // recipe: spsc
  auto [tx, rx] = ys::pipe<message>();
  // end
}

void spsc_bounded() {
  // recipe: spsc-bounded
  auto [tx, rx] = ys::pipe<message>(1024);
  // end
}

void mpsc() {
  // recipe: mpsc
  auto [tx, rx] = ys::funnel<message>(); // tx.clone() for each thread
  // end
}

void mpsc_bounded() {
  // recipe: mpsc-bounded
  auto [tx, rx] = ys::funnel<message>(1024); // room for each sender; tx.clone() for each thread
  // end
}

void mpmc() {
  // recipe: mpmc
  auto [tx, rx] = ys::exchange<message>(); // clone either for each thread
  // end
}

void mpmc_bounded() {
  // recipe: mpmc-bounded
  auto [tx, rx] = ys::exchange<message>(1024); // clone either for each thread
  // end
}

void epoll() {
  auto [tx, rx] = ys::pipe<message>();
  // recipe: epoll
  ys::socketpair_set set(256); // a descriptor: set.fd() goes into epoll beside the sockets
  if (!set.attach(rx, 0)) return;
  // When it is readable: for each id of this, rx.try_recv() until it is empty.
  auto ids = set.wait(std::chrono::nanoseconds(0));
  // end
}

void pool() {
  // recipe: pool
  ys::pool pool({{65536, 16}}); // 16 blocks, allocated once
  auto block = pool.take(65536); // waits for a free one; fill it, then tx.send(std::move(block))
  // end
}

void shm_pipe(const std::string &name) {
  // recipe: shm-pipe
  ys::shm::listener listener(name); // one process: a name that ends with it, or a path
  ys::shm::receiver rx(listener.accept().value()); // waits for the other one
  ys::shm::sender tx(ys::shm::connect(name), 65536); // the other process; room for this many bytes
  // end
}

void shm_bytes(const std::string &name) {
  // recipe: shm-bytes
  ys::shm::listener listener(name); // one process: a name that ends with it, or a path
  ys::shm::receiver rx(listener.accept().value()); // waits for the other one
  ys::shm::sender tx(ys::shm::connect(name), 65536); // the other process; room for this many bytes
  // end
}

void shm_funnel(const std::string &name) {
  // recipe: shm-funnel
  ys::shm::funnel rx(name); // the receiving process
  ys::shm::sender tx(ys::shm::connect(name), 65536); // each of the others; room for each
  // end
}

void shm_broadcast(const std::string &name) {
  // recipe: shm-broadcast
  ys::shm::broadcast tx(name, 65536); // the sending process
  ys::shm::broadcast_receiver rx(ys::shm::connect(name)); // each of the others
  // end
}

void shm_watch(const std::string &name) {
  // recipe: shm-watch
  ys::shm::watch tx(name, "first", 256); // the sending process: the first value, and the most bytes of one
  ys::shm::watch_receiver rx(ys::shm::connect(name)); // each of the others
  // end
}
