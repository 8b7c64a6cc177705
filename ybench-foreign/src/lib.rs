//! Queues of other languages, as transports of the instrument: guests like those of `ybench-rivals`, each language behind a
//! feature that is off by default, since it needs packages of the system.
//!
//! | file | what lives there |
//! |---|---|
//! | `table` | what a library of C++ gives: functions for messages of one size |
//! | `ends` | its ends as those of a transport, a call for each message |
//! | `loops` | streams, batches and ping-pong in its own language, without such calls |
//! | `cpp` | everybody of C++ |
//! | `d` | `std.concurrency` of D, as a process of its own |
//! | `zeromq` | sockets of libzmq over each of its transports, and the bridges of `ysuite-zmq` on top of them |
//!
//! How each library waits and what its documentation recommends stands at the head of its file in `cpp/` and `d/`. folly's
//! `ProducerConsumerQueue` is not here: Debian 12 has no package of folly. Its ring is that of `cpp/ring.cpp` without the
//! copies of the other end's index.
#![cfg(all(target_os = "linux", any(feature = "cpp", feature = "d", feature = "zeromq")))]

#[cfg(feature = "cpp")]
mod cpp;
#[cfg(feature = "d")]
mod d;
#[cfg(feature = "cpp")]
mod ends;
#[cfg(feature = "cpp")]
mod loops;
#[cfg(feature = "cpp")]
mod table;
#[cfg(all(test, feature = "cpp"))]
mod tests;
#[cfg(feature = "zeromq")]
mod zeromq;

#[cfg(feature = "cpp")]
pub use self::cpp::LIBRARIES;
use ybench_core::scenario::Entry;
use ybench_core::scenario::cells::drivers::Drivers;

/// Everybody there is.
pub fn entries() -> Vec<Entry> {
    [
        #[cfg(feature = "cpp")]
        cpp::entries(),
        #[cfg(feature = "d")]
        vec![d::entry()],
        #[cfg(feature = "zeromq")]
        zeromq::entries(),
    ]
    .concat()
}

/// What everybody does in the cells.
pub fn drivers() -> Vec<Drivers> {
    [
        #[cfg(feature = "cpp")]
        cpp::drivers(),
        #[cfg(feature = "d")]
        vec![d::drivers()],
        #[cfg(feature = "zeromq")]
        zeromq::drivers(),
    ]
    .concat()
}
