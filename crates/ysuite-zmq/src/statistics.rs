//! [`Statistics`]: what has gone through a bridge so far.

use core::sync::atomic::{AtomicU64, Ordering};

/// Counts of one bridge, from its start on; none of them ever falls. Each is right by itself; taken together they may be of
/// slightly different moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Messages that were handed to libzmq. They are counted after that: the other side may have one a moment before. Each counts as
    /// often as it was handed over: those that a duplex sends once more count again. One that is published counts once, however many
    /// subscribers it goes to, also where there is none. What libzmq throws away with a connection counts all the same.
    pub messages_out: u64,
    /// Messages that were taken from libzmq, whole and for the first time, in frames that were not malformed. They are in the channel
    /// then, or wait for room in it, or were dropped because its receiver was.
    pub messages_in: u64,
    /// Frames that were handed to libzmq, where all parts of a message are one: those of `messages_out`, and a duplex's hellos, answers and end markers,
    /// which carry none.
    pub frames_out: u64,
    /// Frames that carried the messages of `messages_in`, no others.
    pub frames_in: u64,
    /// Bytes of the frames of `frames_out`, with topics and with the headers of a duplex; not what libzmq and the network put around
    /// them. Each is counted once, as `messages_out` has it.
    pub bytes_out: u64,
    /// Bytes of the frames of `frames_in`, with the headers of a duplex; without topics.
    pub bytes_in: u64,
    /// Messages that newer ones have replaced in a [conflated](crate::Pull::start_conflated) channel, or that a publisher has
    /// dropped because a subscriber had no room. Exact with
    /// [`WhenFull::DropForAll`](crate::WhenFull::DropForAll); with [`WhenFull::Drop`](crate::WhenFull::Drop) those of each time
    /// that a subscriber ran out of room which it missed first, and no more: these count in `messages_out` as well.
    pub dropped: u64,
    /// Frames that were not what was expected.
    pub malformed: u64,
    /// Messages that a duplex with [`at_least_once`](crate::Duplex::at_least_once) had handed over and not seen
    /// acknowledged when the two sides had to agree again from where to go on: after a connection had ended, and after
    /// a second without an answer. They are sent once more, in the same frames, except those that are acknowledged
    /// before their turn. Each counts again every time. What goes to another bridge, in the place of one that is gone,
    /// is no repetition.
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
