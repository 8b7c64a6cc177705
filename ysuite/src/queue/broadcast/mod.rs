//! **broadcast**: a ring of many writers whose every message every reader sees, in one total order.
//!
//! Writers claim positions one after another, as in the [exchange](super::exchange). Readers claim nothing: each has a
//! [cursor](cursors) of its own, in a cache line of its own, and no reader writes a line that holds messages. So a line of
//! messages goes from the writer to each reader once, and readers never disturb each other.
//!
//! What a writer must not overwrite is said by one word, the *limit*: positions below it may be written. Writers look at the
//! readers' cursors only when they have come to the limit, which is once for each lap where readers keep up.
//!
//! * *Bounded*: the limit follows the slowest reader.
//! * *Lossy*: a writer that comes to the limit pushes the cursors of readers that are too far behind. A reader marks its own
//!   cursor as busy before it copies a message, by a compare-exchange that fails where a writer has pushed it. Writers leave
//!   a busy cursor alone. The ring has more cells than its capacity, so that one look at the cursors serves many messages.
//!
//! A reader can be *evicted*, by any thread: writers do not wait for it any more. In both kinds readers mark their cursor as busy
//! before they look whether they were asked to go (see [`cursors`]), so nothing is written over that one of them is reading.
//!
//! All operations are lock-free, no thread waits for a thread that has been preempted, and none but an eviction makes a system call. The
//! ring never sleeps and never wakes a thread.
//!
//! Cannot: give out a message that lies behind one that is still being written, nor write to a cell that a busy reader, or
//! an unfinished writer, has had for a whole lap. For a reader this is the same as an empty ring, for a writer the same as a
//! full one. Nor forget a message when its last reader has seen it: it lies in its cell until another takes its place.
//!
//! Sources: the gate of a slowest reader, cached by the writers, is that of the LMAX Disruptor (Thompson, Farley, Barker,
//! Gee and Stewart 2011); the stamps are those of Dmitry Vyukov's bounded MPMC queue.

mod cursors;
#[cfg(all(test, ysuite_loom))]
mod models;
mod ring;

pub(crate) use self::ring::{BroadcastRing, Found, ReaderPlace, Seat};
