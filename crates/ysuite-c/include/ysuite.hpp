/** @file ysuite.hpp
 *  Channels between threads as classes: C++17 and later, header-only over ysuite.h, with and without exceptions. Link with `-lysuite`.
 *
 *  @code{.cpp}
 *  #include <ysuite.hpp>
 *
 *  int main() {
 *    auto [tx, rx] = ys::pipe<std::string>(1024);        // at most 1,024 at a time; ys::pipe<std::string>() has no bound
 *    std::thread reader([rx = std::move(rx)]() mutable {
 *      while (std::optional<std::string> line = rx.recv())  // sleeps while there is none; stops with the sender
 *        std::puts(line->c_str());
 *    });
 *    if (!tx.send("hello")) std::puts("no receiver");
 *    tx.close();
 *    reader.join();
 *  }
 *  @endcode
 *
 *  | | handles | messages |
 *  |---|---|---|
 *  | ys::pipe | ys::sender, ys::receiver | built and destroyed in their slots: any type of up to 128 bytes that moves without throwing |
 *  | ys::funnel | ys::funnel_sender (many), ys::receiver | likewise |
 *  | ys::exchange | ys::exchange_sender, ys::exchange_receiver (many of both) | any type that moves without throwing; what is not trivially copyable travels as a pointer, in a box if it is none |
 *  | ys::oneshot | ys::oneshot_sender, ys::oneshot_receiver | likewise, one |
 *  | ys::broadcast, ys::lossy_broadcast | ys::broadcast_sender, ys::broadcast_receiver (many of both) | any type that is copied: each receiver gets every message |
 *  | ys::watch | ys::watch_sender, ys::watch_receiver (many of both) | likewise: one value, the newest |
 *
 *  Handles are moved, not copied. A moved-from handle returns status::invalid. Destroying a handle closes it: what was
 *  sent is still received; what will never be received is destroyed, once.
 *
 *  Sends return a ys::status, true for success. A send that fails leaves the message with the caller. Receives return a
 *  std::optional, or a ys::received, which knows why it is empty; recv(T &) assigns to a message that is there already.
 *  Only opening, clone() and make_signaler() throw, and what a message's own constructor throws in send(const T &),
 *  emplace(), send_range() passes. Without exceptions those end the process; try_pipe(), try_clone(), try_open() and
 *  the like never do.
 *
 *  In place, many at a time:
 *  @code{.cpp}
 *  for (auto &run : rx.runs())        // waits; stops with the senders
 *    for (auto &message : run)        // destroyed and received when the run's turn is over
 *      use(message);
 *
 *  auto slots = tx.reserve();         // those that are free now; if none, tx.wait_room() waits
 *  while (slots.built() < slots.size())
 *    slots.emplace(next());           // built in its slot, not sent yet
 *  if (!slots.commit())               // all at once; what is not received is destroyed
 *    return;
 *  @endcode
 *
 *  Times are any std::chrono::duration: negative is none, the largest is for ever; `_until` takes a time_point.
 *
 *  C++20: receivers are ranges (`rx | std::views::take(5)`), waits take a std::stop_token, and ys::loop has
 *  awaitables for coroutines. For Asio: ysuite_asio.hpp.
 *
 *  In addition: share() of senders, for many threads; ys::timer; ys::socketpair_set, with a descriptor for epoll, ys::poll_set, ys::signaler, ys::selector, ys::pool and
 *  ys::pool_message; ys::hub, an event loop; and ys::stopper, with which any thread ends the waits of others. Shutdown: ysuite.h.
 *
 *  Between processes: ysuite/shm.hpp, which `#define YS_SHM` includes. Between programs and machines: ysuite_zmq.hpp.
 *
 *  What is const is for one thread at a time as well, unless it says any thread.
 */
#ifndef YSUITE_HPP
#define YSUITE_HPP

#if __cplusplus < 201703L
#error "ysuite.hpp needs C++17"
#endif

#include "ysuite.h"

#include "ysuite/broadcast.hpp"
#include "ysuite/coroutine.hpp"
#include "ysuite/end.hpp"
#include "ysuite/exchange.hpp"
#ifndef _WIN32
#include "ysuite/hub.hpp"
#endif
#include "ysuite/message.hpp"
#include "ysuite/open.hpp"
#include "ysuite/pool.hpp"
#include "ysuite/received.hpp"
#include "ysuite/receiver.hpp"
#include "ysuite/reservation.hpp"
#include "ysuite/run.hpp"
#include "ysuite/select.hpp"
#include "ysuite/sender.hpp"
#include "ysuite/set.hpp"
#include "ysuite/status.hpp"
#include "ysuite/stop_token.hpp"
#include "ysuite/stopper.hpp"
#include "ysuite/time.hpp"
#include "ysuite/timer.hpp"

#ifdef YS_SHM
#include "ysuite/shm.hpp"
#endif

#endif
