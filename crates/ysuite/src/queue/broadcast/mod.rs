//! **broadcast**: a ring with many writers. Every reader sees every message, in one total order.
//!
//! Writers claim positions one after another, as in the [mpmc queue](super::exchange). Readers claim nothing: each has
//! a [cursor](cursors) of its own, in a cache line of its own. No reader writes a line that holds messages. So a line
//! of messages goes from the writer to each reader once, and readers never disturb each other.
//!
//! One word, the *limit*, says what a writer must not overwrite: positions below it may be written. Writers scan the
//! readers' cursors only when they have reached the limit. Where readers keep up, that is once per lap.
//!
//! * *Bounded*: the limit follows the slowest reader.
//! * *Lossy*: a writer that reaches the limit pushes the cursors of readers that lag too far. A reader marks its own
//!   cursor as busy before it copies a message, by a compare-exchange that fails where a writer has pushed the cursor.
//!   Writers leave a busy cursor alone. The ring has more cells than its capacity, so that one scan of the cursors
//!   serves many messages.
//!
//! Any thread can *evict* a reader: writers then no longer wait for it. In both kinds readers mark their cursor as busy
//! before they check whether they are being evicted (see [`cursors`]). So no writer overwrites a message that one of
//! them is reading.
//!
//! All operations are lock-free. No thread waits for a preempted thread, and only an eviction makes a system call. The
//! ring never sleeps and never wakes a thread.
//!
//! Cannot: deliver a message before an earlier one that is still being written, nor write to a cell that a busy reader,
//! or an unfinished writer, has held for a whole lap. A reader sees this as an empty ring, and a writer sees it as a
//! full one. Nor drop a message when its last reader has seen it: the message stays in its cell until another takes its
//! place.
//!
//! Sources: the gate of the slowest reader, cached by the writers, is that of the LMAX Disruptor (Thompson, Farley,
//! Barker, Gee and Stewart 2011). The stamps are those of Dmitry Vyukov's bounded MPMC queue.

mod cursors;
#[cfg(all(test, ysuite_loom))]
mod models;
mod ring;
mod room;

pub(crate) use self::ring::{BroadcastRing, Found, ReaderPlace, Seat};
