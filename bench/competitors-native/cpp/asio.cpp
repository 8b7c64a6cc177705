// boost::asio: functions posted to an `io_context`, each with its message inside; a receiver runs one of them at a
// time.
//
// Where one thread receives, the context has a concurrency hint of 1, as the documentation recommends. `run_one` takes
// the same way through the scheduler as `run`, which only a function that stops the context would leave, and with it
// all receivers. A thread that finds nothing sleeps at once, on a condition variable.

#include <cstddef>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "loops.hpp"

// Named: for templates that are arguments of templates the compiler forgets that they are local to a file, and those of
// equal names in two files become one.
namespace of_asio {

template <class M> struct Posted {
    using Message = M;
    static constexpr bool batches = false;
    static constexpr bool one_order = true;

    /// The function that this thread runs puts its message here.
    static inline thread_local M *into = nullptr;

    boost::asio::io_context context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};

    Posted(std::size_t, std::size_t receivers) : context(receivers == 1 ? 1 : BOOST_ASIO_CONCURRENCY_HINT_DEFAULT) {}

    struct Sender {
        Posted &of;

        explicit Sender(Posted &posted) : of(posted) {}

        bool send(const M &message) {
            boost::asio::post(of.context, [message] { *into = message; });
            return true;
        }
    };

    struct Receiver {
        Posted &of;

        explicit Receiver(Posted &posted) : of(posted) {}

        bool receive(M &message) {
            into = &message;
            return of.context.run_one() == 1;
        }
    };
};

YBENCH_EXPORT(asio_post, Posted)

} // namespace of_asio
