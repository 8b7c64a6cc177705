// Messages that are more than bytes, a `std::string` of 32 bytes and a `std::unique_ptr`, through our channels as C++ has
// them and through the queues of C++, measured by examples/objects.
//
// Every message is made by its sender and destroyed by its receiver. Receivers get as many each, so that no queue must
// be able to close. Sends and receives wait by the queue's own means; where it has none, the thread polls, and yields its
// CPU from time to time. boost::lockfree takes nothing but bytes: there, a message travels as a pointer to itself.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>
#include <oneapi/tbb/concurrent_queue.h>
#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <readerwriterqueue/readerwriterqueue.h>
#include <ysuite.hpp>

#include "spinning.hpp"

namespace of_objects {

/// A message that carries a number.
template <class M> struct Object;

template <> struct Object<std::string> {
    static std::string made(std::uint64_t number) {
        std::string text(32, '.');
        std::memcpy(text.data(), &number, sizeof number);
        return text;
    }

    static std::uint64_t number(const std::string &text) {
        std::uint64_t number = 0;
        std::memcpy(&number, text.data(), sizeof number);
        return text.size() == 32 ? number : UINT64_MAX;
    }
};

template <> struct Object<std::unique_ptr<std::uint64_t>> {
    static std::unique_ptr<std::uint64_t> made(std::uint64_t number) { return std::make_unique<std::uint64_t>(number); }
    static std::uint64_t number(const std::unique_ptr<std::uint64_t> &message) { return message ? *message : UINT64_MAX; }
};

/// Tries until it succeeds.
template <class Attempt> void polled(Attempt attempt) {
    for (unsigned looks = 1; !attempt(); looks++) {
        ybench::pause_the_cpu();
        if (looks % 64 == 0) {
            std::this_thread::yield();
        }
    }
}

/// In place of the tokens that moodycamel's documentation recommends.
struct NoToken {
    template <class Queue> explicit NoToken(Queue &) {}
};

/// A queue of others, by its `Way`.
template <class M, class Way> struct Other {
    typename Way::Queue queue;

    explicit Other(std::size_t places) : queue(Way::places(places)) { Way::prepare(queue, places); }

    struct Sender {
        typename Way::Queue *queue;
        typename Way::Producer token;
        void send(M &&message) { Way::push(*queue, token, std::move(message)); }
    };

    struct Receiver {
        typename Way::Queue *queue;
        typename Way::Consumer token;
        void receive(M &message) { Way::pop(*queue, token, message); }
    };

    Sender sender() { return {&queue, typename Way::Producer(queue)}; }
    Receiver receiver() { return {&queue, typename Way::Consumer(queue)}; }
};

/// What most have in common.
struct Plain {
    using Producer = NoToken;
    using Consumer = NoToken;
    static std::size_t places(std::size_t places) { return places == 0 ? 65536 : places; }
    template <class Queue> static void prepare(Queue &, std::size_t) {}
};

/// Those of moodycamel that grow, with the room that they have by default in the beginning.
template <std::size_t Places> struct Growing : Plain {
    static std::size_t places(std::size_t) { return Places; }
};

template <class M> struct Concurrent : Growing<192> {
    using Queue = moodycamel::ConcurrentQueue<M>;
    using Producer = moodycamel::ProducerToken;
    using Consumer = moodycamel::ConsumerToken;
    static void push(Queue &queue, Producer &token, M &&message) { queue.enqueue(token, std::move(message)); }
    static void pop(Queue &queue, Consumer &token, M &message) {
        polled([&] { return queue.try_dequeue(token, message); });
    }
};

template <class M> struct Blocking : Growing<192> {
    using Queue = moodycamel::BlockingConcurrentQueue<M>;
    using Producer = moodycamel::ProducerToken;
    using Consumer = moodycamel::ConsumerToken;
    static void push(Queue &queue, Producer &token, M &&message) { queue.enqueue(token, std::move(message)); }
    static void pop(Queue &queue, Consumer &token, M &message) { queue.wait_dequeue(token, message); }
};

template <class M> struct ReaderWriter : Growing<15> {
    using Queue = moodycamel::ReaderWriterQueue<M>;
    static void push(Queue &queue, NoToken, M &&message) { queue.enqueue(std::move(message)); }
    static void pop(Queue &queue, NoToken, M &message) {
        polled([&] { return queue.try_dequeue(message); });
    }
};

template <class M> struct BlockingReaderWriter : Growing<15> {
    using Queue = moodycamel::BlockingReaderWriterQueue<M>;
    static void push(Queue &queue, NoToken, M &&message) { queue.enqueue(std::move(message)); }
    static void pop(Queue &queue, NoToken, M &message) { queue.wait_dequeue(message); }
};

template <class M> struct Circular : Plain {
    using Queue = moodycamel::BlockingReaderWriterCircularBuffer<M>;
    static void push(Queue &queue, NoToken, M &&message) { queue.wait_enqueue(std::move(message)); }
    static void pop(Queue &queue, NoToken, M &message) { queue.wait_dequeue(message); }
};

/// oneTBB's constructors take no room, but an allocator.
template <class M> struct Tbb : Plain {
    using Queue = oneapi::tbb::concurrent_queue<M>;
    static typename Queue::allocator_type places(std::size_t) { return {}; }
    static void push(Queue &queue, NoToken, M &&message) { queue.push(std::move(message)); }
    static void pop(Queue &queue, NoToken, M &message) {
        polled([&] { return queue.try_pop(message); });
    }
};

template <class M> struct TbbBounded : Plain {
    using Queue = oneapi::tbb::concurrent_bounded_queue<M>;
    static typename Queue::allocator_type places(std::size_t) { return {}; }
    static void prepare(Queue &queue, std::size_t places) {
        if (places != 0) {
            queue.set_capacity(static_cast<std::ptrdiff_t>(places));
        }
    }
    static void push(Queue &queue, NoToken, M &&message) { queue.push(std::move(message)); }
    static void pop(Queue &queue, NoToken, M &message) { queue.pop(message); }
};

/// A message as a pointer: what points already is let go, the rest goes into a box.
template <class M> struct Pointed {
    using Pointer = M *;
    static Pointer out(M &&message) { return new M(std::move(message)); }
    static M in(Pointer pointer) {
        const std::unique_ptr<M> box(pointer);
        return std::move(*box);
    }
};

template <class T> struct Pointed<std::unique_ptr<T>> {
    using Pointer = T *;
    static Pointer out(std::unique_ptr<T> &&message) { return message.release(); }
    static std::unique_ptr<T> in(Pointer pointer) { return std::unique_ptr<T>(pointer); }
};

template <class M, class Of> struct Lockfree : Plain {
    using Queue = Of;
    static void push(Queue &queue, NoToken, M &&message) {
        const auto pointer = Pointed<M>::out(std::move(message));
        polled([&] { return queue.push(pointer); });
    }
    static void pop(Queue &queue, NoToken, M &message) {
        typename Pointed<M>::Pointer pointer = nullptr;
        polled([&] { return queue.pop(pointer); });
        message = Pointed<M>::in(pointer);
    }
};

template <class M> using Linked = Lockfree<M, boost::lockfree::queue<typename Pointed<M>::Pointer>>;
template <class M> using Ring = Lockfree<M, boost::lockfree::spsc_queue<typename Pointed<M>::Pointer>>;

/// The linked queue with a bound.
template <class M> struct LinkedBounded : Linked<M> {
    using Queue = typename Linked<M>::Queue;
    static void push(Queue &queue, NoToken, M &&message) {
        const auto pointer = Pointed<M>::out(std::move(message));
        polled([&] { return queue.bounded_push(pointer); });
    }
};

/// Ours.
template <class Channel, bool Clones> struct Ours {
    using Tx = decltype(Channel::tx);
    using Rx = decltype(Channel::rx);
    Channel channel;

    struct Sender {
        Tx tx;
        template <class M> void send(M &&message) { (void)tx.send(std::move(message)); }
    };

    struct Receiver {
        Rx rx;
        template <class M> void receive(M &message) {
            if constexpr (Clones) {
                if (auto next = rx.recv()) {
                    message = std::move(*next);
                }
            } else {
                (void)rx.recv(message);
            }
        }
    };
};

template <class M> struct Pipe : Ours<ys::pipe_channel<M>, false> {
    using Base = Ours<ys::pipe_channel<M>, false>;
    explicit Pipe(std::size_t places) : Base{places == 0 ? ys::pipe<M>() : ys::pipe<M>(places)} {}
    typename Base::Sender sender() { return {std::move(this->channel.tx)}; }
    typename Base::Receiver receiver() { return {std::move(this->channel.rx)}; }
};

template <class M> struct Funnel : Ours<ys::funnel_channel<M>, false> {
    using Base = Ours<ys::funnel_channel<M>, false>;
    explicit Funnel(std::size_t places) : Base{places == 0 ? ys::funnel<M>() : ys::funnel<M>(places)} {}
    typename Base::Sender sender() { return {this->channel.tx.clone()}; }
    typename Base::Receiver receiver() { return {std::move(this->channel.rx)}; }
};

template <class M> struct Exchange : Ours<ys::exchange_channel<M>, true> {
    using Base = Ours<ys::exchange_channel<M>, true>;
    explicit Exchange(std::size_t places) : Base{places == 0 ? ys::exchange<M>() : ys::exchange<M>(places)} {}
    typename Base::Sender sender() { return {this->channel.tx.clone()}; }
    typename Base::Receiver receiver() { return {this->channel.rx.clone()}; }
};

/// Nanoseconds a message, from when all threads are there until they have ended; negative: some were lost or came twice.
template <class M, class Queue>
double timed(std::size_t senders, std::size_t receivers, std::size_t places, std::size_t messages) {
    Queue queue(places);
    std::atomic<std::size_t> here{0};
    std::atomic<std::uint64_t> sum{0};
    const std::size_t threads = senders + receivers, total = messages - messages % (senders * receivers);
    const auto meets = [&here, threads] {
        here.fetch_add(1);
        while (here.load() != threads + 1) {
            std::this_thread::yield();
        }
    };
    std::vector<std::thread> all;
    for (std::size_t at = 0; at < senders; at++) {
        all.emplace_back([&meets, at, each = total / senders, end = queue.sender()]() mutable {
            meets();
            for (std::size_t number = at * each; number < (at + 1) * each; number++) {
                end.send(Object<M>::made(number));
            }
        });
    }
    for (std::size_t at = 0; at < receivers; at++) {
        all.emplace_back([&meets, &sum, each = total / receivers, end = queue.receiver()]() mutable {
            meets();
            std::uint64_t own = 0;
            for (std::size_t number = 0; number < each; number++) {
                M message{};
                end.receive(message);
                own += Object<M>::number(message);
            }
            sum.fetch_add(own);
        });
    }
    while (here.load() != threads) {
        std::this_thread::yield();
    }
    const auto start = std::chrono::steady_clock::now();
    here.fetch_add(1);
    for (std::thread &thread : all) {
        thread.join();
    }
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    const std::uint64_t right = static_cast<std::uint64_t>(total) * (total - 1) / 2;
    return sum.load() == right ? time.count() / static_cast<double>(total) : -1.0;
}

/// As in examples/objects, field by field.
struct Row {
    const char *pattern;
    const char *message;
    const char *queue;
    /// 0: there is no bound.
    std::size_t places;
    double (*timed)(std::size_t senders, std::size_t receivers, std::size_t places, std::size_t messages);
};

constexpr std::size_t PLACES = 1024;

/// Of each pattern and bound, ours first.
template <class M> void add(std::vector<Row> &rows, const char *message) {
    const auto many = [&rows, message](const char *pattern, const char *ours, auto timed_ours) {
        rows.push_back({pattern, message, ours, 0, timed_ours});
        rows.push_back({pattern, message, "moodycamel::ConcurrentQueue", 0, timed<M, Other<M, Concurrent<M>>>});
        rows.push_back({pattern, message, "moodycamel::BlockingConcurrentQueue", 0, timed<M, Other<M, Blocking<M>>>});
        rows.push_back({pattern, message, "tbb::concurrent_queue", 0, timed<M, Other<M, Tbb<M>>>});
        rows.push_back({pattern, message, "tbb::concurrent_bounded_queue", 0, timed<M, Other<M, TbbBounded<M>>>});
        rows.push_back({pattern, message, "boost::lockfree::queue", 0, timed<M, Other<M, Linked<M>>>});
        rows.push_back({pattern, message, ours, PLACES, timed_ours});
        rows.push_back({pattern, message, "tbb::concurrent_bounded_queue", PLACES, timed<M, Other<M, TbbBounded<M>>>});
        rows.push_back({pattern, message, "boost::lockfree::queue", PLACES, timed<M, Other<M, LinkedBounded<M>>>});
    };
    many("exchange", "ys::exchange", timed<M, Exchange<M>>);
    many("funnel", "ys::funnel", timed<M, Funnel<M>>);
    many("pipe", "ys::pipe", timed<M, Pipe<M>>);
    rows.push_back({"pipe", message, "moodycamel::ReaderWriterQueue", 0, timed<M, Other<M, ReaderWriter<M>>>});
    rows.push_back({"pipe", message, "moodycamel::BlockingReaderWriterQueue", 0, timed<M, Other<M, BlockingReaderWriter<M>>>});
    rows.push_back({"pipe", message, "moodycamel::BlockingReaderWriterCircularBuffer", PLACES, timed<M, Other<M, Circular<M>>>});
    rows.push_back({"pipe", message, "boost::lockfree::spsc_queue", PLACES, timed<M, Other<M, Ring<M>>>});
}

} // namespace of_objects

extern "C" const of_objects::Row *ybench_objects(std::size_t *count) {
    static const std::vector<of_objects::Row> all = [] {
        std::vector<of_objects::Row> rows;
        of_objects::add<std::string>(rows, "std::string of 32 bytes");
        of_objects::add<std::unique_ptr<std::uint64_t>>(rows, "std::unique_ptr");
        return rows;
    }();
    *count = all.size();
    return all.data();
}
