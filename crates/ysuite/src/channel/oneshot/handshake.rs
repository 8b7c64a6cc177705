//! [`Handshake`]: the word in which both sides of a oneshot channel say what they have done and how they wait. It is
//! also the word that a waiting thread sleeps on.
//!
//! Each side *ends* once, that is, it disconnects, by one read-modify-write: the sender with [`SENT`] or [`HUNG_UP`],
//! the receiver with [`LEFT`]. Until the other side has ended, a side may *mark* that it waits for that. Marks are
//! added and taken back only while the other side has not ended. So the step by which a side ends finds all marks that
//! there will ever be. If it finds some, it *calls*, that is, notifies: it takes out what the marks promise, wakes, and
//! takes the marks away. **Marks in the word after the end of the side they wait for mean that a call is in progress.**
//! Neither side waits for a call to return: a side that is through while the other one calls leaves the memory to the
//! caller.
//!
//! The table says which side owns each part.
//!
//! | the word | message | receiver's callee | sender's waker | frees the memory |
//! |---|---|---|---|---|
//! | neither side has ended | sender | receiver (1) | sender (1) | – |
//! | `SENT` or `HUNG_UP` | receiver | receiver | receiver | the receiver, when it is through |
//! | the same, and a receiver's mark | receiver | sender, which calls | receiver | undecided (2) |
//! | the same, and `LEFT` | none left | sender | none left | the sender, after its call |
//! | `LEFT` | sender | none left | sender | the sender, when it is through |
//! | the same, and a sender's mark | sender | none left | receiver, which calls | undecided (3) |
//! | the same, and `HUNG_UP` | none left | none left | receiver | the receiver, after its call |
//!
//! 1. Marked [`RECEIVER_ARMED`] or [`SENDER_ARMED`], it is lent out: neither side writes to it.
//! 2. A receiver that is through adds `LEFT`, if the mark is still there.
//! 3. A sender that is through adds `HUNG_UP`.
//!
//! A sender whose [`SENT`] finds [`LEFT`] takes its message back; then it is through, as in the last rows.
//!
//! Both sides, any thread. Every operation is wait-free, with two exceptions that are lock-free, since both sides mark
//! in one word: taking a mark back, and the drop of a receiver, which takes its marks back. [`wait_for_sender`] and
//! [`wait_for_receiver`] block.
//!
//! Cannot: begin anew. All of the word's changes are read-modify-writes, so each continues the release sequence of
//! those before it: a thread that acquires the word sees what every earlier step has released.

use core::cell::Cell;

use crate::block::{self, Waiting};
use crate::os::{Deadline, Waited, sleep_on, wake};
use crate::sync::{AtomicU32, Ordering, window};
use crate::wait::Backoff;

/// The sender has ended, and its message is there, or has been taken since.
pub(super) const SENT: u32 = 1 << 0;
/// The sender has ended without a message, or has taken its message back.
pub(super) const HUNG_UP: u32 = 1 << 1;
/// The receiver has ended.
pub(super) const LEFT: u32 = 1 << 2;
/// The receiver's thread sleeps on this word until the sender has ended.
pub(super) const RECEIVER_SLEEPS: u32 = 1 << 3;
/// The receiver's callee is there for the sender to call.
pub(super) const RECEIVER_ARMED: u32 = 1 << 4;
/// The sender's thread sleeps on this word until the receiver has ended.
pub(super) const SENDER_SLEEPS: u32 = 1 << 5;
/// The sender's waker is there for the receiver to call.
pub(super) const SENDER_ARMED: u32 = 1 << 6;

/// How the sender ends: there is nothing to wait for any more.
pub(super) const OVER: u32 = SENT | HUNG_UP;
/// How the receiver waits.
pub(super) const RECEIVER_MARKS: u32 = RECEIVER_SLEEPS | RECEIVER_ARMED;
/// How the sender waits.
pub(super) const SENDER_MARKS: u32 = SENDER_SLEEPS | SENDER_ARMED;

pub(in crate::channel) struct Handshake(AtomicU32);

impl Handshake {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The current word.
    #[inline]
    pub(super) fn look(&self) -> u32 {
        // ORDERING: Acquire pairs with the Release side of `end` and of `called`: a side that finds that the other one
        //     has ended sees its message. A side that finds no mark either sees all that it did, and may free the
        //     memory.
        self.0.load(Ordering::Acquire)
    }

    /// Ends the calling side by a bit that is not in the word yet; returns the word before. This may have been the last
    /// access: see the table.
    #[inline]
    pub(super) fn end(&self, bit: u32) -> u32 {
        // An addition, since this returns the word before by one instruction; an "or" needs a loop on x86.
        // ORDERING: Release pairs with the Acquire in `look` and of the other side's read-modify-writes: the message,
        //     and all that this side did. Acquire pairs with the Release side of the other side's marks (what they
        //     promise), and of its `end` or `called`: where this side has to free the memory, the other is through with
        //     it.
        self.0.fetch_add(bit, Ordering::AcqRel)
    }

    /// Changes the word, unless the other side has ended, which `ended` says: then returns the word as an error.
    /// Otherwise returns the word before the change.
    fn change(&self, ended: u32, change: impl Fn(u32) -> u32) -> Result<u32, u32> {
        let mut word = self.look();
        while word & ended == 0 {
            window();
            // ORDERING: on success Release pairs with the Acquire in `end`: what a mark promises, or all that a dropped
            //     receiver did. Acquire pairs with the Release side of the other side's marks: what they promise. On
            //     failure Acquire, as in `look`.
            match self.0.compare_exchange_weak(word, change(word), Ordering::AcqRel, Ordering::Acquire) {
                Ok(before) => return Ok(before),
                Err(now) => word = now,
            }
        }
        Err(word)
    }

    /// Marks that the calling side waits, in a way in which it is not marked yet. False: the other side has ended
    /// (`ended`).
    #[inline]
    pub(super) fn mark(&self, mark: u32, ended: u32) -> bool {
        // ORDERING: Release pairs with the Acquire in `end` and `leave` of the other side: what the mark promises.
        //     Acquire pairs with the Release of that side's last step, where it has ended: its message, and all that it
        //     did.
        let before = self.0.fetch_add(mark, Ordering::AcqRel);
        if before & ended == 0 {
            return true;
        }
        // The other side has not found this mark, so it leaves it alone. If it calls, because of another mark, it
        // checks the word only for this side's end.
        // ORDERING: Relaxed; so no thread has read the mark.
        self.0.fetch_sub(mark, Ordering::Relaxed);
        false
    }

    /// Takes one's own mark back. False: the other side has ended (`ended`), and owns what the mark promised.
    pub(super) fn unmark(&self, mark: u32, ended: u32) -> bool {
        self.change(ended, |word| word & !mark).is_ok()
    }

    /// Ends the receiver, and takes its marks back by the same step, unless the sender has ended: then returns the word
    /// as an error. This may have been the last access: see the table. Returns the word before.
    pub(super) fn leave(&self) -> Result<u32, u32> {
        self.change(OVER, |word| word & !RECEIVER_MARKS | LEFT)
    }

    /// Wakes the thread that sleeps here.
    pub(super) fn wake(&self) {
        wake(&self.0, 1);
    }

    /// Wakes the threads that sleep here, without a reason, as if they had taken their marks back themselves. Any
    /// thread, while neither side can release the memory.
    #[cfg(feature = "in-place")]
    pub(in crate::channel) fn interrupt(&self) {
        for (mark, ended) in [(RECEIVER_SLEEPS, OVER), (SENDER_SLEEPS, LEFT)] {
            // Where the other side has ended it wakes the sleeper.
            let _ = self.unmark(mark, ended);
        }
        wake(&self.0, 2);
    }

    /// The call is over: takes away the marks it found; returns the word before. This may have been the last access:
    /// see the table.
    pub(super) fn called(&self, marks: u32) -> u32 {
        window();
        // ORDERING: Release pairs with the Acquire in `look` and `end` of the side that was called, which may free the
        //     memory then. Acquire pairs with the Release of its `end`, where it has left the memory to this one.
        self.0.fetch_sub(marks, Ordering::AcqRel)
    }
}

// THREAD EXIT: `BACKOFF` has no destructor, so it stays; where thread-locals are emulated, a oneshot's receive that
//     waits learns nothing; test: tests/suite/late.rs: ends_of_channels_are_used_past_the_threads_locals
std::thread_local! {
    /// What this thread knows of whether spinning pays. A oneshot waits once, so it has no memory of its own; but a
    /// thread that waits for one reply usually waits for many.
    static BACKOFF: Cell<Backoff> = const { Cell::new(Backoff::new()) };
}

// WAITS: for the sender, or (in `wait_for_receiver`) for the receiver's disconnection; ends: the other handle's step,
//     the deadline; spin: as long as that has paid on this thread, then it parks; in the latter case it does not spin;
//     test: tests/loom/oneshot.rs: a_send_against_a_receiver_going_to_sleep, tests/loom/oneshot.rs:
//     the_receivers_end_against_a_sender_going_to_sleep
// MUTANT: Speed only: arming reads and modifies the same word and finds the disconnection again.
/// The receiver: polls for a while, as long as that has paid on this thread, and then blocks until the sender has ended
/// or the deadline has passed.
#[cold]
#[inline(never)]
pub(super) fn wait_for_sender(handshake: &Handshake, deadline: Deadline, is_stopped: impl Fn() -> bool) {
    // A thread whose locals are destroyed learns nothing more.
    let mut backoff = BACKOFF.try_with(Cell::get).unwrap_or(Backoff::new());
    let is_over = || handshake.look() & OVER != 0 || is_stopped();
    if !backoff.spin(deadline, is_over) {
        let wait = HandshakeWait { handshake, mark: RECEIVER_SLEEPS, ended: OVER, is_stopped: &is_stopped };
        block_until(wait, |wait| backoff.time(|| wait.sleep(deadline)));
    }
    let _ = BACKOFF.try_with(|memory| memory.set(backoff));
}

/// The sender: blocks until the receiver has ended (true) or the deadline has passed (false). Does not poll first: this
/// wait is not urgent.
#[cold]
#[inline(never)]
pub(super) fn wait_for_receiver(handshake: &Handshake, deadline: Deadline, is_stopped: impl Fn() -> bool) -> bool {
    let wait = HandshakeWait { handshake, mark: SENDER_SLEEPS, ended: LEFT, is_stopped: &is_stopped };
    block_until(wait, |wait| wait.sleep(deadline))
}

fn block_until<'a>(mut wait: HandshakeWait<'a>, sleep: impl FnMut(&mut HandshakeWait<'a>) -> bool) -> bool {
    block::block(&mut wait, sleep).is_some()
}

/// A thread that waits for the other side to end.
struct HandshakeWait<'a> {
    handshake: &'a Handshake,
    /// The calling side's mark for this way of waiting.
    mark: u32,
    /// How the other side ends.
    ended: u32,
    /// Whether the wait is over, as at its deadline. The thread that sets this has interrupted the handshake, or does
    /// so.
    is_stopped: &'a dyn Fn() -> bool,
}

impl Waiting for HandshakeWait<'_> {
    type News = ();

    fn look(&mut self) -> Option<()> {
        (self.handshake.look() & self.ended != 0).then_some(())
    }

    // MUTANT: Speed only: one more check of the word, which arming repeats.
    /// The mark is set by a read-modify-write of the very word that reports the end.
    fn arm(&mut self) -> bool {
        !self.handshake.mark(self.mark, self.ended)
    }

    /// Nothing to do: a check is made only where the mark was refused.
    fn disarm(&mut self) {}
}

impl HandshakeWait<'_> {
    // MUTANT: In a race: the word changes between the check and the park. Killed only by the model
    // `a_send_by_a_sender_that_waits_against_a_receiver_that_waits`.
    /// Sleeps until the other side has ended (true) or the deadline has passed (false); then the mark is gone. Where
    /// the other side has ended the mark is left to it.
    fn sleep(&self, deadline: Deadline) -> bool {
        loop {
            // In addition to this mark, the other side may have marks of its own, which change.
            let word = self.handshake.look();
            if word & self.ended != 0 {
                return true;
            }
            // After the mark: a thread that interrupts this changes the word, so the second check finds it.
            if (self.is_stopped)() {
                return !self.handshake.unmark(self.mark, self.ended);
            }
            window();
            if sleep_on(&self.handshake.0, word, deadline) == Waited::TimedOut {
                return !self.handshake.unmark(self.mark, self.ended);
            }
        }
    }
}
