//! [`Handshake`]: the word in which both ends of a oneshot channel say what they have done and how they wait. It is
//! also the word that a waiting thread sleeps on.
//!
//! Each end *ends* once, by one read-modify-write: the sender with [`SENT`] or [`HUNG_UP`], the receiver with [`LEFT`].
//! Until the other has ended, an end may *mark* that it waits for that. Marks are added and taken back only while the
//! other has not ended; so the step by which an end ends finds all marks that there will ever be. If it finds some, it
//! *calls*: it takes out what the marks promise, wakes, and takes the marks away. **Marks in the word after the end
//! they wait for mean that a call is under way.** Nobody waits for a call to end: whoever is through while the other
//! calls leaves the memory to the caller.
//!
//! | the word | message | receiver's callee | sender's waker | frees the memory |
//! |---|---|---|---|---|
//! | neither has ended | the sender's | the receiver's; marked [`RECEIVER_ARMED`]: lent out, nobody writes | the
//! sender's; marked [`SENDER_ARMED`]: lent out | – |
//! | `SENT` or `HUNG_UP` | the receiver's | the receiver's | the receiver's | the receiver, when it is through |
//! | the same, and a receiver's mark | the receiver's | the sender's, which calls | the receiver's | undecided: a
//! receiver that is through adds `LEFT`, if the mark is still there |
//! | the same, and `LEFT` | none left | the sender's | none left | the sender, behind its call |
//! | `LEFT` | the sender's | none left | the sender's | the sender, when it is through |
//! | the same, and a sender's mark | the sender's | none left | the receiver's, which calls | undecided: a sender that
//! is through adds `HUNG_UP` |
//! | the same, and `HUNG_UP` | none left | none left | the receiver's | the receiver, behind its call |
//!
//! A sender whose [`SENT`] finds [`LEFT`] takes its message back; then it is through, as in the last rows.
//!
//! Both ends, any thread. Every operation is wait-free, except for taking a mark back, and for a receiver's leaving,
//! which takes its marks back: those are lock-free, since both ends mark in one word. [`wait_for_sender`] and
//! [`wait_for_receiver`] block.
//!
//! Cannot: begin anew. All of the word's changes are read-modify-writes, so each continues the release sequence of
//! those before it: who acquires the word sees what every earlier step has released.

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

/// What the sender ends with: nothing is to be waited for any more.
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

    /// The word as it stands.
    #[inline]
    pub(super) fn look(&self) -> u32 {
        // ORDERING: Acquire pairs with the Release side of `end` and of `called`: who finds that the other handle has
        //     ended sees its message; who finds no mark either sees all that it did, and may free the memory.
        self.0.load(Ordering::Acquire)
    }

    /// Ends the calling end by a bit that is not in the word yet; returns the word before. This may have been the last
    /// access: see the table.
    #[inline]
    pub(super) fn end(&self, bit: u32) -> u32 {
        // An addition, since this returns the word before by one instruction; an "or" needs a loop on x86.
        // ORDERING: Release pairs with the Acquire in `look` and of the other handle's read-modify-writes: the message,
        //     and all that this end did. Acquire pairs with the Release side of the other handle's marks (what they
        //     promise), and of its `end` or `called`: where this end has to free the memory, the other is through with
        //     it.
        self.0.fetch_add(bit, Ordering::AcqRel)
    }

    /// Changes the word, unless the other handle has ended, which `ended` says: then returns the word as an error.
    /// Otherwise returns the word before the change.
    fn change(&self, ended: u32, change: impl Fn(u32) -> u32) -> Result<u32, u32> {
        let mut word = self.look();
        while word & ended == 0 {
            window();
            // ORDERING: on success Release pairs with the Acquire in `end`: what a mark promises, or all that a
            //     receiver did that leaves. Acquire pairs with the Release side of the other handle's marks: what they
            //     promise. On failure Acquire, as in `look`.
            match self.0.compare_exchange_weak(word, change(word), Ordering::AcqRel, Ordering::Acquire) {
                Ok(before) => return Ok(before),
                Err(now) => word = now,
            }
        }
        Err(word)
    }

    /// Marks that the calling end waits, in a way in which it is not marked yet. False: the other handle has ended
    /// (`ended`).
    #[inline]
    pub(super) fn mark(&self, mark: u32, ended: u32) -> bool {
        // ORDERING: Release pairs with the Acquire in `end` and `leave` of the other handle: what the mark promises.
        //     Acquire pairs with the Release of that end's last step, where it has ended: its message, and all that it
        //     did.
        let before = self.0.fetch_add(mark, Ordering::AcqRel);
        if before & ended == 0 {
            return true;
        }
        // The other handle has not found this mark, so it leaves it alone; if it calls, because of another, it looks
        // for nothing in the word but this end's end.
        // ORDERING: Relaxed; so the mark was read by nobody.
        self.0.fetch_sub(mark, Ordering::Relaxed);
        false
    }

    /// Takes one's own mark back. False: the other handle has ended (`ended`), and owns what the mark promised.
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

    /// Wakes the threads that sleep here, for nothing, as if they had taken their marks back themselves. Any thread,
    /// while neither of the two can let go of the memory.
    #[cfg(feature = "in-place")]
    pub(in crate::channel) fn interrupt(&self) {
        for (mark, ended) in [(RECEIVER_SLEEPS, OVER), (SENDER_SLEEPS, LEFT)] {
            // Where the other handle has ended it wakes the sleeper.
            let _ = self.unmark(mark, ended);
        }
        wake(&self.0, 2);
    }

    /// The call is over: takes away the marks it found; returns the word before. This may have been the last access:
    /// see the table.
    pub(super) fn called(&self, marks: u32) -> u32 {
        window();
        // ORDERING: Release pairs with the Acquire in `look` and `end` of the end that was called, which may free the
        // memory then. Acquire pairs with the Release of its `end`, where it has left the memory to this one.
        self.0.fetch_sub(marks, Ordering::AcqRel)
    }
}

// THREAD EXIT: `BACKOFF` has no destructor, so it stays; where thread-locals are emulated, a oneshot's receive that
//     waits learns nothing; test: tests/suite/late.rs: ends_of_channels_are_used_past_the_threads_locals
std::thread_local! {
    /// What this thread knows of whether spinning pays. A oneshot waits once, so it has no memory of its own; but a
    /// thread that asks for answers asks for many.
    static BACKOFF: Cell<Backoff> = const { Cell::new(Backoff::new()) };
}

// WAITS: for the sender, or (in `wait_for_receiver`) for the receiver to go; ends: the other handle's step, the
//     deadline; spin: as long as that has paid on this thread, then it parks; for the receiver to go it does not spin;
//     test: tests/loom/oneshot.rs: a_send_against_a_receiver_going_to_sleep, tests/loom/oneshot.rs:
//     the_receivers_end_against_a_sender_going_to_sleep
// MUTANT: Speed only: arming reads and modifies the same word and finds the disconnection again.
/// Looks for a while as long as that has paid on this thread, and then blocks until the sender has ended or the
/// deadline has passed. The receiver.
#[cold]
#[inline(never)]
pub(super) fn wait_for_sender(handshake: &Handshake, deadline: Deadline, is_stopped: impl Fn() -> bool) {
    // A thread whose locals are gone learns nothing more.
    let mut backoff = BACKOFF.try_with(Cell::get).unwrap_or(Backoff::new());
    let is_over = || handshake.look() & OVER != 0 || is_stopped();
    if !backoff.spin(deadline, is_over) {
        let wait = HandshakeWait { handshake, mark: RECEIVER_SLEEPS, ended: OVER, is_stopped: &is_stopped };
        block_until(wait, |wait| backoff.time(|| wait.sleep(deadline)));
    }
    let _ = BACKOFF.try_with(|memory| memory.set(backoff));
}

/// Blocks until the receiver has ended (true) or the deadline has passed (false). The sender. Does not look first: who
/// waits for that has time.
#[cold]
#[inline(never)]
pub(super) fn wait_for_receiver(handshake: &Handshake, deadline: Deadline, is_stopped: impl Fn() -> bool) -> bool {
    let wait = HandshakeWait { handshake, mark: SENDER_SLEEPS, ended: LEFT, is_stopped: &is_stopped };
    block_until(wait, |wait| wait.sleep(deadline))
}

fn block_until<'a>(mut wait: HandshakeWait<'a>, sleep: impl FnMut(&mut HandshakeWait<'a>) -> bool) -> bool {
    block::block(&mut wait, sleep).is_some()
}

/// A thread that waits for the other handle to end.
struct HandshakeWait<'a> {
    handshake: &'a Handshake,
    /// The calling end's mark for this way of waiting.
    mark: u32,
    /// What the other handle ends with.
    ended: u32,
    /// Whether the wait is over as if its time were up. Who says so has interrupted the handshake, or does so.
    is_stopped: &'a dyn Fn() -> bool,
}

impl Waiting for HandshakeWait<'_> {
    type News = ();

    fn look(&mut self) -> Option<()> {
        (self.handshake.look() & self.ended != 0).then_some(())
    }

    // MUTANT: Speed only: one more check of the word, which arming repeats.
    /// The mark is set by a read-modify-write of the very word that holds the news.
    fn arm(&mut self) -> bool {
        !self.handshake.mark(self.mark, self.ended)
    }

    /// Nothing to do: a look is taken only where the mark was refused.
    fn disarm(&mut self) {}
}

impl HandshakeWait<'_> {
    // MUTANT: In a race: the word changes between the check and the park. Killed only by the model
    // `a_send_by_a_sender_that_waits_against_a_receiver_that_waits`.
    /// Sleeps until the other handle has ended (true) or the deadline has passed (false); then the mark is gone. Where
    /// the other has ended the mark is left to it.
    fn sleep(&self, deadline: Deadline) -> bool {
        loop {
            // Beside the mark, the other handle may have marks of its own, which come and go.
            let word = self.handshake.look();
            if word & self.ended != 0 {
                return true;
            }
            // Behind the mark: whoever interrupts this changes the word, by which the second look is not missed.
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
