//! Queues of other languages, and our own from other languages, as transports of the instrument: third-party
//! competitors like those of `ybench-competitors`, each language behind a feature that is off by default, since it needs
//! packages of the system.
//!
//! | file | contents |
//! |---|---|
//! | `table` | the interface of a library in C or C++: functions for messages of one size |
//! | `ends` | its handles as those of a transport, a call for each message |
//! | `loops` | streams, batches and ping-pong in its own language, without such calls |
//! | `guest` | an entry in the registry and drivers for the cases, made of these |
//! | `cpp` | the competitors in C++ |
//! | `native` | our own channels from C and C++, through `ysuite-c` |
//! | `d` | `std.concurrency` of D, as a process of its own |
//! | `message_queue` | the one of boost::interprocess, between processes |
//! | `zeromq` | sockets of libzmq over each of its transports, and the bridges of `ysuite-zmq` on top of them |
//!
//! The head of each file in `cpp/`, `c/` and `d/` describes how the library waits and what its documentation
//! recommends. folly's `ProducerConsumerQueue` is not here: Debian 12 has no package of folly. Its ring is that of
//! `cpp/ring.cpp` without the copies of the other handle's index.
#![cfg(all(
    target_os = "linux",
    any(feature = "cpp", feature = "d", feature = "native", feature = "zeromq", feature = "boost")
))]

#[cfg(feature = "cpp")]
mod cpp;
#[cfg(feature = "d")]
mod d;
#[cfg(any(feature = "cpp", feature = "native"))]
mod ends;
#[cfg(any(feature = "cpp", feature = "native"))]
mod guest;
#[cfg(any(feature = "cpp", feature = "native"))]
mod loops;
#[cfg(feature = "boost")]
mod message_queue;
#[cfg(feature = "native")]
mod native;
#[cfg(any(feature = "cpp", feature = "native"))]
mod table;
#[cfg(all(test, any(feature = "cpp", feature = "native")))]
mod tests;
#[cfg(feature = "zeromq")]
mod zeromq;

#[cfg(feature = "cpp")]
pub use self::cpp::LIBRARIES;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::cells::drivers::Drivers;

/// All of them.
pub fn entries() -> Vec<Entry> {
    [
        #[cfg(feature = "cpp")]
        cpp::entries(),
        #[cfg(feature = "d")]
        vec![d::entry()],
        #[cfg(feature = "native")]
        native::entries(),
        #[cfg(feature = "zeromq")]
        zeromq::entries(),
        #[cfg(feature = "boost")]
        vec![message_queue::entry()],
    ]
    .concat()
}

/// Their drivers in the cases.
pub fn drivers() -> Vec<Drivers> {
    [
        #[cfg(feature = "cpp")]
        cpp::drivers(),
        #[cfg(feature = "d")]
        vec![d::drivers()],
        #[cfg(feature = "native")]
        native::drivers(),
        #[cfg(feature = "zeromq")]
        zeromq::drivers(),
    ]
    .concat()
}
