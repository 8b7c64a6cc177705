// The lines of C++ that `ybench choose` answers with. It prints what stands between "recipe" and "end"; the tests compile
// all of it where there is a compiler.
#include <chrono>
#include <cstdint>
#include <utility>

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
