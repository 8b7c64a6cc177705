//! [`Statistics`]: what has gone through a bridge so far.

use core::sync::atomic::{AtomicU64, Ordering};

/// Counts of one bridge, from its start on; none of them ever falls. Each is right by itself; taken together they may be of
/// slightly different moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Messages of the channel that were handed to libzmq, or taken from it.
    pub messages_out: u64,
    /// As above.
    pub messages_in: u64,
    /// Frames they were in.
    pub frames_out: u64,
    /// As above.
    pub frames_in: u64,
    /// Bytes of those frames.
    pub bytes_out: u64,
    /// As above.
    pub bytes_in: u64,
    /// Messages that a publisher has dropped because a subscriber had no room.
    pub dropped: u64,
    /// Frames that were not what was expected.
    pub malformed: u64,
    /// Messages that were sent once more after a connection had ended.
    pub repeated: u64,
    /// Messages that had come before, and were left out.
    pub duplicates: u64,
}

/// The bridge's thread adds, any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) messages_out: Counter,
    pub(crate) messages_in: Counter,
    pub(crate) frames_out: Counter,
    pub(crate) frames_in: Counter,
    pub(crate) bytes_out: Counter,
    pub(crate) bytes_in: Counter,
    pub(crate) dropped: Counter,
    pub(crate) malformed: Counter,
    pub(crate) repeated: Counter,
    pub(crate) duplicates: Counter,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// By the one thread that adds.
    pub(crate) fn add(&self, more: usize) {
        // ORDERING: Relaxed: a number for its own sake, with one writer.
        self.0.store(self.0.load(Ordering::Relaxed) + more as u64, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: Relaxed, as above.
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(crate) fn read(&self) -> Statistics {
        Statistics {
            messages_out: self.messages_out.get(),
            messages_in: self.messages_in.get(),
            frames_out: self.frames_out.get(),
            frames_in: self.frames_in.get(),
            bytes_out: self.bytes_out.get(),
            bytes_in: self.bytes_in.get(),
            dropped: self.dropped.get(),
            malformed: self.malformed.get(),
            repeated: self.repeated.get(),
            duplicates: self.duplicates.get(),
        }
    }
}
