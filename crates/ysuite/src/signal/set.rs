//! The raised signals (the bits) joined with how the owner sleeps (a futex on the root word, or a descriptor).
//!
//! A [`YPollset`](super::YPollset) and a `YSocketpair` are this one set with two ways to sleep. It is shared by the
//! owner, its signalers and the registrations of attached receivers. `raise` and `lower`: any thread, lock-free
//! (wait-free on a futex), one system call at most per sleep of the owner. `check`: the owner, never blocks (wait-free
//! on a futex, lock-free on a descriptor). `poll`: the owner, blocks.
//!
//! Cannot: have two owners. Nothing breaks in memory if two threads poll, but one wake-up wakes one of them.

use core::time::Duration;

use super::bits::{Bits, Lowered, SLEEPING};
use super::block_for_signals;
#[cfg(any(unix, windows))]
use super::doorbell::Doorbell;
use super::signals::Signals;
use crate::block::{Waiting, block};
use crate::os::{Deadline, Waited, sleep_on, wake};
#[cfg(any(unix, windows))]
use crate::os::{Descriptor, Notifier};

/// How the owner sleeps.
enum Way {
    /// On the root word.
    Futex,
    /// On a descriptor, alone or among others in an event loop.
    #[cfg(any(unix, windows))]
    Doorbell(Box<Doorbell>),
}

// THREAD EXIT: `poll`, `wait`, `attach`, `remove` and `drop` of sets work as ever: they use no thread-local; test:
//     tests/suite/late.rs: sets_are_used_past_the_threads_locals
pub(crate) struct SetCore {
    /// Raised, lowered, taken and given back through the set only, which wakes its owner.
    pub(super) bits: Bits,
    way: Way,
    /// A handle that has told that its other side is gone takes its id down: for a [`ReadySet`](super::ReadySet).
    names_ends_once: bool,
}

impl SetCore {
    /// A set whose owner sleeps on a word. `capacity` has been checked.
    pub(crate) fn on_futex(capacity: usize) -> Self {
        Self { bits: Bits::new(capacity), way: Way::Futex, names_ends_once: false }
    }

    /// As [`on_futex`](Self::on_futex). A handle that has told that its other side is gone is named no more.
    pub(super) fn naming_ends_once(capacity: usize) -> Self {
        Self { names_ends_once: true, ..Self::on_futex(capacity) }
    }

    /// A set whose owner sleeps on a descriptor. `capacity` has been checked.
    #[cfg(any(unix, windows))]
    pub(crate) fn on_descriptor(capacity: usize, notifier: Box<dyn Notifier>) -> Self {
        let way = Way::Doorbell(Box::new(Doorbell::new(notifier)));
        Self { bits: Bits::new(capacity), way, names_ends_once: false }
    }

    /// The descriptor of a set that has one.
    #[cfg(any(unix, windows))]
    pub(crate) fn descriptor(&self) -> Option<Descriptor<'_>> {
        match &self.way {
            Way::Futex => None,
            Way::Doorbell(doorbell) => Some(doorbell.notifier.descriptor()),
        }
    }

    /// Whether `id` is up. Any thread.
    pub(super) fn is_up(&self, id: usize) -> bool {
        self.bits.is_up(id)
    }

    /// Whether an id goes down once its handle has told that the other side is gone.
    pub(super) fn names_ends_once(&self) -> bool {
        self.names_ends_once
    }

    /// Another receiver may claim `id` from now on.
    pub(super) fn give_back(&self, id: usize) {
        self.bits.give_back(id);
    }

    /// Puts `id` up and wakes the owner if it sleeps. Any thread.
    pub(crate) fn raise(&self, id: usize) {
        self.wake(self.bits.raise(id));
    }

    /// Takes `id` down. Any thread. What was published before a raise that this undoes is visible afterwards.
    pub(crate) fn lower(&self, id: usize) {
        match self.bits.lower(id) {
            Lowered::Rest => {}
            Lowered::Empty => self.quiet(),
            Lowered::RaisedAgain(before) => self.wake(before),
        }
    }

    // MUTANT: Speed only: a signaler with a futex checks again. Killed only by the models
    // `models_doorbell_rings_for_what_a_take_puts_back` and `models_doorbell_notifies_an_edge_triggered_loop`.
    /// Returns the signals that are up now. The owner only; never blocks.
    ///
    /// After the take, a descriptor is made readable exactly if something is still up. An empty result is a promise:
    /// the next raise makes the descriptor readable *anew*. So an edge-triggered event loop that polls until it finds
    /// nothing misses no signal. Without the promise, a raise between the take and the agreement would leave the
    /// descriptor readable, and that loop has been notified of it already.
    #[inline(never)]
    pub(crate) fn check(&self) -> Signals {
        loop {
            let signals = self.bits.take();
            if matches!(self.way, Way::Futex) {
                return signals;
            }
            if !self.bits.any() {
                self.quiet();
                return signals;
            }
            // Usually the descriptor is readable already. It is not if another thread's `lower` has made it unreadable
            // while the take was putting a summary back.
            self.wake(0);
            if !signals.is_empty() {
                return signals;
            }
        }
    }

    // WAITS: for a raise (`YPollset`, `ReadySet`) or the deadline; spin: parks at once; every poll that finds nothing
    //     arms again; fairness: all ids at each poll; `ReadySet` names them in turn, the first at random; test:
    //     tests/suite/select.rs: every_handle_has_a_turn, tests/suite/select.rs:
    //     a_select_that_is_made_anew_each_time_starves_no_handle
    // WAITS: for the descriptor (`YSocketpair`); spin: parks at once; all ids at each poll; a preempted raiser that has
    //     announced its ring keeps the descriptor unreadable until it continues; test:
    //     tests/suite/conformance/descriptor.rs: an_event_loop_misses_nothing
    /// Blocks until something is up, or the time-out has passed: then the result is empty. The owner only.
    pub(crate) fn poll(&self, timeout: Option<Duration>) -> Signals {
        let signals = self.check();
        if signals.is_empty() {
            return block_for_signals(&mut &*self, timeout, |set, deadline| set.sleep(deadline));
        }
        signals
    }

    // MUTANT: Speed only: the wait itself does not park after the deadline.
    /// Blocks until something is up, or the deadline has passed: then the result is empty. The owner only.
    pub(crate) fn poll_until(&self, deadline: Deadline) -> Signals {
        let signals = self.check();
        if !signals.is_empty() || matches!(deadline, Deadline::Passed) {
            return signals;
        }
        block(&mut &*self, |set| set.sleep(deadline)).unwrap_or_default()
    }

    /// Sleeps unless something is up; may return without reason. False: the deadline has passed.
    fn sleep(&self, deadline: Deadline) -> bool {
        match &self.way {
            Way::Futex => {
                let waited = sleep_on(&self.bits.root, SLEEPING, deadline);
                self.bits.disarm();
                waited == Waited::Look
            }
            #[cfg(any(unix, windows))]
            Way::Doorbell(doorbell) => doorbell.notifier.wait(deadline),
        }
    }

    /// An id was raised, and the root held `before`: wakes the owner if it sleeps.
    #[inline(never)]
    fn wake(&self, before: u32) {
        match &self.way {
            // The root held nothing but SLEEPING: of the raises since the owner armed, only the first wakes.
            Way::Futex if before == SLEEPING => wake(&self.bits.root, 1),
            Way::Futex => {}
            #[cfg(any(unix, windows))]
            Way::Doorbell(doorbell) => doorbell.ring(),
        }
    }

    /// The last bit was taken down: makes the descriptor unreadable.
    #[inline(never)]
    fn quiet(&self) {
        #[cfg(any(unix, windows))]
        if let Way::Doorbell(doorbell) = &self.way {
            doorbell.quiet(|| self.bits.any());
        }
    }

    // MUTANT: Killed only by `a_set_that_is_gone_stays_silent_in_epoll`.
    /// The owner is dropped; signalers and receivers may stay.
    #[cfg(any(unix, windows))]
    pub(crate) fn abandon(&self) {
        if let Way::Doorbell(doorbell) = &self.way {
            doorbell.abandon();
        }
    }
}

/// The owner of a set, waiting.
impl Waiting for &SetCore {
    type News = Signals;

    fn look(&mut self) -> Option<Signals> {
        Some(self.check()).filter(|signals| !signals.is_empty())
    }

    // MUTANT: Speed only: one system call: the park ends at once and the check finds the signal.
    /// The root word is armed only if it is empty. A descriptor need not be armed: it stays readable while a
    /// signal is up.
    fn arm(&mut self) -> bool {
        matches!(self.way, Way::Futex) && !self.bits.arm()
    }

    /// The bits that kept the root from being armed may have been summaries of ids that are down again: tries once
    /// more.
    fn arm_further(&mut self) -> bool {
        self.arm()
    }

    /// Nothing to do: a check is made only if the root was not armed.
    fn disarm(&mut self) {}
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    /// Another thread takes an id down, and has not come to the summary yet.
    #[test]
    fn a_summary_of_nothing_does_not_keep_the_owner_from_sleeping() {
        let set = SetCore::on_futex(32);
        let mut owner = &set;
        // ORDERING: Relaxed here and to the end; one thread.
        set.bits.root.store(1, Ordering::Relaxed);
        assert!(owner.arm(), "something seems to be up");
        assert!(owner.look().is_none());
        assert!(!owner.arm_further());
        assert_eq!(set.bits.root.load(Ordering::Relaxed), SLEEPING);
        set.bits.disarm();
        // Something seems to be up again, after the check.
        set.bits.root.store(1, Ordering::Relaxed);
        assert!(owner.arm_further());
    }
}
