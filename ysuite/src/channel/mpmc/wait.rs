//! Waiting in an exchange: look, arm a place in the roster, look again, sleep; and what is owed when the wait ends.
//!
//! One that has been called answers for the message (or the room) it was called for: when its wait ends, however it ends,
//! and more can be had, it wakes the next. So a wait that times out, a future that is dropped, and a thread that panics
//! pass on what they were told.

use core::task::{Context, Poll};
use std::time::Instant;

use super::bell::Bell;
use super::core::{Side, pass_on};
use super::patience::Patience;
use crate::os::{Native, Platform, Waited};
use crate::queue::exchange::Place;

/// One wait of a thread or a future.
pub(crate) struct Wait<S: Side> {
    side: S,
    place: Option<Place<Bell>>,
    /// Armed, as far as this end knows.
    armed: bool,
    /// Was called, and owes the others a look.
    called: bool,
    /// Was called as a thread, and is counted as coming.
    coming: bool,
}

impl<S: Side> Wait<S> {
    /// `called`: on behalf of another place, which has been left.
    pub(crate) fn new(side: S, called: bool) -> Self {
        Self { side, place: None, armed: false, called, coming: false }
    }

    /// Blocks the thread until the side is ready (true) or the deadline has passed (false).
    #[cold]
    #[inline(never)]
    pub(crate) fn block(&mut self, patience: &Patience, deadline: Option<Instant>) -> bool {
        let side = self.side;
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return side.is_ready();
        }
        let mut spinner = patience.recall();
        if spinner.look(deadline, || side.is_ready()) || spinner.give_way(deadline, || side.is_ready()) {
            patience.keep(spinner);
            return true;
        }
        loop {
            self.arm(true, Bell::set_asleep);
            if side.is_ready() {
                self.settle(true);
                patience.keep(spinner);
                return true;
            }
            let start = spinner.is_curious().then(Instant::now);
            let in_time = self.sleep(deadline);
            self.settle(true);
            // One that ends because its time is up says nothing of how long they take.
            if let (true, Some(start)) = (in_time, start) {
                spinner.slept(start.elapsed());
            }
            // Looked at once: what is there now may be gone the next time.
            let ready = side.is_ready();
            if ready || !in_time {
                patience.keep(spinner);
                return ready;
            }
            // Somebody was quicker; or the bell was rung for an earlier wait.
        }
    }

    /// Registers the task to be woken once the side is ready, unless it is ready already.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.settle(false);
        if self.side.is_ready() {
            return Poll::Ready(());
        }
        self.arm(false, |bell| bell.set_waker(context.waker()));
        if self.side.is_ready() {
            self.settle(false);
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn arm(&mut self, is_thread: bool, prepare: impl FnOnce(&Bell)) {
        let roster = self.side.roster();
        if core::mem::take(&mut self.coming) {
            roster.come();
        }
        let place = self.place.get_or_insert_with(|| roster.sit());
        prepare(roster.payload(place));
        roster.arm(place, is_thread);
        self.armed = true;
    }

    /// Not armed any more: either nobody has called, or somebody has.
    fn settle(&mut self, is_thread: bool) {
        let (true, Some(place)) = (self.armed, &self.place) else { return };
        self.armed = false;
        if !self.side.roster().disarm(place) {
            self.called = true;
            self.coming = is_thread;
        }
    }

    /// Sleeps until the bell is rung (true) or the deadline has passed (false).
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        let Some(place) = &self.place else { return true };
        let (word, asleep) = self.side.roster().payload(place).asleep();
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) || Native::wait(word, asleep, left) == Waited::TimedOut {
                return false;
            }
            // ORDERING: Relaxed; what the ringing stands for is acquired with the place's bit.
            if word.load(crate::sync::Ordering::Relaxed) != asleep {
                return true;
            }
        }
    }
}

impl<S: Side> Drop for Wait<S> {
    fn drop(&mut self) {
        // Armed only where a future is dropped, or foreign code has panicked.
        self.settle(false);
        let mut waker = None;
        if let Some(place) = &self.place {
            let roster = self.side.roster();
            if self.coming {
                roster.come();
            }
            waker = roster.payload(place).take_waker();
            roster.leave(place);
        }
        if self.called {
            pass_on(self.side);
        }
        // Last: foreign code, which may panic.
        drop(waker);
    }
}
