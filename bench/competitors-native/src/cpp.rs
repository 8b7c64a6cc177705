//! The competitors in C++. Bounded ones have room for 1,024 messages, or 65,536. Spinners have a variant with a pause
//! between two polls and one without, like those in Rust.

use ybench_measure::scenario::Entry;
use ybench_measure::scenario::cells::drivers::{BYTES, Drivers};
use ybench_measure::transport::{Ends, Traits, Waits};

use crate::guest::everybody;

/// By value only up to the size that it is compiled for.
const COMMON: Traits = Traits { most_bytes: |_| BYTES[3] as usize, ..Traits::COMMON };
const SPINS: Traits = Traits { waits: Waits::Spins, ..COMMON };
const SLEEPS: Traits = Traits { waits: Waits::Sleeps, ..COMMON };
const BOUNDED: Traits = Traits { bounded: true, ..SPINS };

/// Each library, and its measurable transports. D's is not among them: features of threads and memory cannot be tried
/// in its process.
pub static LIBRARIES: [(&str, &[&str]); 11] = [
    ("moodycamel readerwriterqueue", &["moodycamel-rw", "moodycamel-rw-blocking", "moodycamel-circular-1k"]),
    ("moodycamel concurrentqueue", &["moodycamel-concurrent", "moodycamel-concurrent-blocking"]),
    ("boost::lockfree::spsc_queue", &["boost-spsc-64k"]),
    ("boost::lockfree::queue", &["boost-queue", "boost-queue-1k"]),
    ("boost::lockfree::spsc_queue, sem_t", &["boost-spsc-semaphore-64k"]),
    ("boost::lockfree::queue, sem_t", &["boost-queue-semaphore", "boost-queue-semaphore-1k"]),
    ("boost::asio::post", &["asio-post"]),
    ("ZeroMQ, inproc", &["zmq-pair", "zmq-push"]),
    ("tbb::concurrent_bounded_queue", &["tbb-queue", "tbb-queue-1k"]),
    ("std::deque, mutex, condition_variable", &["cpp-deque", "cpp-deque-1k"]),
    ("a ring in rigtorp's shape", &["cpp-ring-64k"]),
];

everybody! {
    Deque: shared, ybench_native_deque, "cpp-deque", "std::deque behind std::mutex and std::condition_variable (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of SLEEPS;
    DequeBounded: shared, ybench_native_deque_1k, "cpp-deque-1k",
        "std::deque behind std::mutex and std::condition_variable, with room for 1,024 messages (C++)",
        { senders: Ends::Many, receivers: Ends::Many, bounded: true, } of SLEEPS;
    ReaderWriterBlocking: entry, ybench_native_reader_writer_blocking, "moodycamel-rw-blocking",
        "moodycamel::BlockingReaderWriterQueue (C++)", {} of COMMON;
    Circular: entry, ybench_native_circular_1k, "moodycamel-circular-1k",
        "moodycamel::BlockingReaderWriterCircularBuffer with room for 1,024 messages (C++)", { bounded: true, } of COMMON;
    CircularRoomy: entry, ybench_native_circular_64k, "moodycamel-circular-64k",
        "moodycamel::BlockingReaderWriterCircularBuffer with room for 65,536 messages (C++)",
        { bounded: true, variant: true, } of COMMON;
    ConcurrentBlocking: shared, ybench_native_concurrent_blocking, "moodycamel-concurrent-blocking",
        "moodycamel::BlockingConcurrentQueue, with tokens (C++)",
        { senders: Ends::Many, receivers: Ends::Many, one_order: false, batches: true, } of COMMON;
    Posted: shared, ybench_native_asio_post, "asio-post", "boost::asio::post to an io_context that the receiver runs (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of SLEEPS;
    ZmqPair: entry, ybench_native_zmq_pair, "zmq-pair", "ZeroMQ's inproc, PAIR to PAIR (C++)", { bounded: true, } of SLEEPS;
    ZmqPush: shared, ybench_native_zmq_push, "zmq-push", "ZeroMQ's inproc, PUSH to PULL (C++)",
        { senders: Ends::Many, one_order: false, bounded: true, } of SLEEPS;
    Tbb: shared, ybench_native_tbb, "tbb-queue", "tbb::concurrent_bounded_queue as it is made, without a bound (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of SLEEPS;
    TbbBounded: shared, ybench_native_tbb_1k, "tbb-queue-1k",
        "tbb::concurrent_bounded_queue with room for 1,024 messages (C++)",
        { senders: Ends::Many, receivers: Ends::Many, bounded: true, } of SLEEPS;
    BoostRingSemaphore: entry, ybench_native_boost_spsc_semaphore_64k, "boost-spsc-semaphore-64k",
        "boost::lockfree::spsc_queue with 65,536 slots and two semaphores of POSIX (C++)",
        { batches: true, bounded: true, } of SLEEPS;
    BoostRingSemaphoreNarrow: entry, ybench_native_boost_spsc_semaphore_1k, "boost-spsc-semaphore-1k",
        "boost::lockfree::spsc_queue with 1,024 slots and two semaphores of POSIX (C++)",
        { batches: true, bounded: true, variant: true, } of SLEEPS;
    BoostQueueSemaphore: shared, ybench_native_boost_queue_semaphore, "boost-queue-semaphore",
        "boost::lockfree::queue without a bound and a semaphore of POSIX (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of SLEEPS;
    BoostQueueSemaphoreBounded: shared, ybench_native_boost_queue_semaphore_1k, "boost-queue-semaphore-1k",
        "boost::lockfree::queue with two semaphores of POSIX, room for 1,024 messages (C++)",
        { senders: Ends::Many, receivers: Ends::Many, bounded: true, variant: true, } of SLEEPS;
    Ring: entry, ybench_native_ring_64k, "cpp-ring-64k",
        "a ring in the shape of rigtorp's with 65,536 slots, both sides spinning (C++)", {} of BOUNDED;
    RingWithoutPause: entry, ybench_native_ring_64k_no_pause, "cpp-ring-64k-no-pause",
        "a ring in the shape of rigtorp's with 65,536 slots, both sides spinning without a pause between two polls (C++)",
        { variant: true, } of BOUNDED;
    RingNarrow: entry, ybench_native_ring_1k, "cpp-ring-1k",
        "a ring in the shape of rigtorp's with 1,024 slots, both sides spinning (C++)", { variant: true, } of BOUNDED;
    RingNarrowWithoutPause: entry, ybench_native_ring_1k_no_pause, "cpp-ring-1k-no-pause",
        "a ring in the shape of rigtorp's with 1,024 slots, both sides spinning without a pause between two polls (C++)",
        { variant: true, } of BOUNDED;
    BoostRing: entry, ybench_native_boost_spsc_64k, "boost-spsc-64k",
        "boost::lockfree::spsc_queue with 65,536 slots, both sides spinning (C++)", { batches: true, } of BOUNDED;
    BoostRingWithoutPause: entry, ybench_native_boost_spsc_64k_no_pause, "boost-spsc-64k-no-pause",
        "boost::lockfree::spsc_queue with 65,536 slots, both sides spinning without a pause between two polls (C++)",
        { batches: true, variant: true, } of BOUNDED;
    BoostRingNarrow: entry, ybench_native_boost_spsc_1k, "boost-spsc-1k",
        "boost::lockfree::spsc_queue with 1,024 slots, both sides spinning (C++)",
        { batches: true, variant: true, } of BOUNDED;
    BoostRingNarrowWithoutPause: entry, ybench_native_boost_spsc_1k_no_pause, "boost-spsc-1k-no-pause",
        "boost::lockfree::spsc_queue with 1,024 slots, both sides spinning without a pause between two polls (C++)",
        { batches: true, variant: true, } of BOUNDED;
    BoostQueue: shared, ybench_native_boost_queue, "boost-queue",
        "boost::lockfree::queue without a bound, receivers spinning (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of SPINS;
    BoostQueueWithoutPause: shared, ybench_native_boost_queue_no_pause, "boost-queue-no-pause",
        "boost::lockfree::queue without a bound, receivers spinning without a pause between two polls (C++)",
        { senders: Ends::Many, receivers: Ends::Many, variant: true, } of SPINS;
    BoostQueueBounded: shared, ybench_native_boost_queue_1k, "boost-queue-1k",
        "boost::lockfree::queue with room for 1,024 messages, both sides spinning (C++)",
        { senders: Ends::Many, receivers: Ends::Many, variant: true, } of BOUNDED;
    BoostQueueBoundedWithoutPause: shared, ybench_native_boost_queue_1k_no_pause, "boost-queue-1k-no-pause",
        "boost::lockfree::queue with room for 1,024 messages, both sides spinning without a pause between two polls (C++)",
        { senders: Ends::Many, receivers: Ends::Many, variant: true, } of BOUNDED;
    ReaderWriter: entry, ybench_native_reader_writer, "moodycamel-rw",
        "moodycamel::ReaderWriterQueue without a bound, the receiver spinning (C++)", {} of SPINS;
    ReaderWriterWithoutPause: entry, ybench_native_reader_writer_no_pause, "moodycamel-rw-no-pause",
        "moodycamel::ReaderWriterQueue without a bound, the receiver spinning without a pause between two polls (C++)",
        { variant: true, } of SPINS;
    Concurrent: shared, ybench_native_concurrent, "moodycamel-concurrent",
        "moodycamel::ConcurrentQueue, with tokens, receivers spinning (C++)",
        { senders: Ends::Many, receivers: Ends::Many, one_order: false, batches: true, } of SPINS;
    ConcurrentWithoutPause: shared, ybench_native_concurrent_no_pause, "moodycamel-concurrent-no-pause",
        "moodycamel::ConcurrentQueue, with tokens, receivers spinning without a pause between two polls (C++)",
        { senders: Ends::Many, receivers: Ends::Many, one_order: false, batches: true, variant: true, } of SPINS;
}

pub(crate) fn entries() -> Vec<Entry> {
    let mut all = listed();
    all.push(by_calls::entry());
    all
}

pub(crate) fn drivers() -> Vec<Drivers> {
    let mut all = driven();
    all.push(by_calls::drivers());
    all
}

/// The cost of a call for each message: the ring once more, by calls from loops in Rust.
mod by_calls {
    use ybench_measure::scenario::cells::drivers::{self, Drivers};
    use ybench_measure::scenario::{self, Entry};
    use ybench_measure::transport::Traits;

    use super::{BOUNDED, ybench_native_ring_64k};
    use crate::ends::{Foreign, Guest};
    use crate::table::Tables;

    struct Called;

    impl Foreign for Called {
        const TRAITS: Traits = Traits {
            name: "cpp-ring-64k-by-calls",
            about: "cpp-ring-64k, each message by a call from Rust: the cost of such a call (C++)",
            variant: true,
            ..BOUNDED
        };
        const TABLES: Tables = ybench_native_ring_64k;
    }

    pub(super) const fn entry() -> Entry {
        scenario::entry::<Guest<Called>>()
    }

    pub(super) const fn drivers() -> Drivers {
        drivers::between_two::<Guest<Called>>()
    }
}
