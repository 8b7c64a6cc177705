//! A descriptor that is kept in agreement with a set of bits: readable while something is up, and written to once.
//! `ring` and `quiet`: any thread, lock-free, at most two system calls each (more only if signal handlers interrupt
//! them). The owner waits for the notifier itself.
//!
//! The state is PENDING from before a notification is written until after it has been read back. So the descriptor
//! contains at most one notification, no thread writes to a descriptor that is readable already, and a check of an idle
//! set is one load. If several threads find the set empty at once, only one of them can read the notification back.
//!
//! The descriptor belongs to the process that made it. A forked child shares the descriptor and has a copy of the
//! state: what the child did to the descriptor would happen to its parent, whose state would not show it. So the child
//! does nothing. Windows has no such children.
//!
//! Cannot: take back a notification that is announced but not yet written. It comes, the owner checks once without
//! result, and that check reads it back.

#[cfg(unix)]
use crate::os::Home;
use crate::os::Notifier;
use crate::sync::{AtomicU32, CachePadded, Ordering};

/// A notification is in the descriptor, or about to be written by the thread that set this, or just taken by the thread
/// that will clear this.
const PENDING: u32 = 1;
/// The owner is gone: no thread notifies any more. Never cleared.
const ABANDONED: u32 = 2;

pub(super) struct Doorbell {
    /// Notified and cleared here only, and waited for by the owner.
    pub(super) notifier: Box<dyn Notifier>,
    /// The process that the notifier belongs to.
    #[cfg(unix)]
    home: Home,
    state: CachePadded<AtomicU32>,
}

impl Doorbell {
    #[inline(never)]
    pub(super) fn new(notifier: Box<dyn Notifier>) -> Self {
        Self {
            notifier,
            #[cfg(unix)]
            home: Home::here(),
            state: CachePadded::new(AtomicU32::new(0)),
        }
    }

    /// Whether this process made it, and is not a forked child of that one.
    fn is_ours(&self) -> bool {
        #[cfg(unix)]
        return self.home.is_here();
        #[cfg(not(unix))]
        true
    }

    // MUTANT: In a race: a notification is written while the owner is dropped. Killed only by the model
    // `models_doorbell_abandoned_against_raise`.
    /// Makes the descriptor readable unless it is. Call after the bits were set.
    pub(super) fn ring(&self) {
        // ORDERING: Release pairs with the Acquire of `quiet`. Either `quiet` comes later and its second check sees the
        // bits of this thread, or this comes later, finds the state cleared, and notifies. Both are read-modify-writes
        // of one word: no third case. Acquire pairs with the Release of `quiet`: this thread writes to the descriptor
        // after the read that cleared it.
        if self.state.fetch_or(PENDING, Ordering::AcqRel) != 0 || !self.is_ours() {
            return;
        }
        self.notifier.notify();
        // ORDERING: a read-modify-write of the same word as the one in `abandon`: either `abandon` comes later,
        // acquires this and reads the notification back, or this sees ABANDONED.
        if self.state.fetch_or(0, Ordering::AcqRel) & ABANDONED != 0 {
            self.notifier.clear();
        }
    }

    /// Makes the descriptor unreadable if it is. Call after the last bit was taken down.
    pub(super) fn quiet(&self, anything_up: impl FnOnce() -> bool) {
        // ORDERING: Relaxed: only a hint. If it is out of date, a readable descriptor makes the owner check once more;
        // if it is early, `clear` finds nothing.
        if self.state.load(Ordering::Relaxed) != PENDING || !self.is_ours() || !self.notifier.clear() {
            return;
        }
        // Only one thread can have taken the notification, so only this thread clears the state.
        // ORDERING: Acquire pairs with the Release of `ring`: the check below sees the bits of the threads that have
        // relied on this notification. Release pairs with the Acquire of `ring`: the next notification is written after
        // this one was read.
        self.state.fetch_and(!PENDING, Ordering::AcqRel);
        if anything_up() {
            self.ring();
        }
    }

    // MUTANT: Killed only by `a_set_that_is_gone_stays_silent_in_epoll` and
    // `a_set_is_made_by_one_system_call_and_goes_without_a_read_where_nothing_is_up`, and by the model
    // `models_doorbell_abandoned_against_raise`.
    /// The owner is dropped: from now on the descriptor stays unreadable.
    pub(super) fn abandon(&self) {
        // ORDERING: a read-modify-write of the same word as those of `ring`. Acquire pairs with their Release: where
        // this finds a notification that was written, it reads it back. Release pairs with their Acquire: a thread
        // whose second read-modify-write comes later sees ABANDONED, and reads its own notification back.
        if self.state.fetch_or(ABANDONED, Ordering::AcqRel) & PENDING != 0 && self.is_ours() {
            self.notifier.clear();
        }
    }
}

#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests {
    use super::*;
    #[cfg(windows)]
    use crate::os::WakeupEvent;
    #[cfg(unix)]
    use crate::os::WakeupFd;

    fn bell() -> Doorbell {
        #[cfg(unix)]
        let notifier = WakeupFd::socketpair();
        #[cfg(windows)]
        let notifier = WakeupEvent::new();
        Doorbell::new(Box::new(notifier.unwrap()))
    }

    #[test]
    fn a_notification_that_is_still_to_be_written_stays_announced() {
        let bell = bell();
        // A thread is between the two steps of `ring`. ORDERING: Relaxed; one thread.
        bell.state.store(PENDING, Ordering::Relaxed);
        bell.quiet(|| false);
        // ORDERING: Relaxed; one thread.
        assert_eq!(bell.state.load(Ordering::Relaxed), PENDING);
    }

    #[test]
    fn what_comes_up_while_a_notification_is_read_back_notifies_anew() {
        let bell = bell();
        bell.ring();
        bell.quiet(|| true);
        assert!(bell.notifier.clear(), "something is up, and the descriptor is not readable");
    }
}
