//! How a thread sleeps that waits in several channels at once, as a task would: by a waker that any of them may call.
//!
//! `wake`: any thread, wait-free, one system call if the thread sleeps. The rest: the owner.

// The model checker's `thread_local!` takes no `const`.
#![allow(clippy::missing_const_for_thread_local)]

use core::cell::Cell;
use core::ops::{Deref, DerefMut};
use core::task::Waker;
// A waker needs `std`'s.
use std::sync::Arc;
use std::task::Wake;

use crate::channel::rendezvous::Ticket;
use crate::os::{Deadline, Waited, sleep_on, wake};
use crate::sync::{AtomicU32, Ordering, thread_local};
use crate::wait::Backoff;

/// The thread has not been woken, and does not sleep.
const AWAKE: u32 = 0;
/// It sleeps, or is about to.
const ASLEEP: u32 = 1;
/// It has been woken.
const WOKEN: u32 = 2;

#[derive(Default)]
pub(super) struct Sleeper {
    word: AtomicU32,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING: Release pairs with the Acquire in `is_woken`. What the thread is woken for it finds by checks of
        //     its own.
        if self.word.swap(WOKEN, Ordering::Release) == ASLEEP {
            wake(&self.word, 1);
        }
    }
}

impl Sleeper {
    /// From now on it counts as not woken. The owner checks everywhere afterwards.
    pub(super) fn reset(&self) {
        // ORDERING: Acquire pairs with the Release in `wake_by_ref`: a call that is forgotten here was made for
        //     something, and the checks that follow find it. A store is not enough: those checks could come before it,
        //     and the call in between.
        self.word.swap(AWAKE, Ordering::Acquire);
    }

    pub(super) fn is_woken(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `wake_by_ref`.
        self.word.load(Ordering::Acquire) == WOKEN
    }

    /// Sleeps until it is woken (true), or the deadline has passed.
    pub(super) fn sleep(&self, deadline: Deadline) -> bool {
        // ORDERING: Relaxed on success; `is_woken` acquires. Acquire on failure pairs with the Release in
        //     `wake_by_ref`.
        let armed = self.word.compare_exchange(AWAKE, ASLEEP, Ordering::Relaxed, Ordering::Acquire);
        // MUTANT: A word that cannot be armed means that the thread was woken, which the other half checks.
        while armed.is_ok() && !self.is_woken() {
            if sleep_on(&self.word, ASLEEP, deadline) == Waited::TimedOut {
                return self.is_woken();
            }
        }
        true
    }
}

/// What a thread needs to wait: made the first time, and kept from one select to the next.
pub(in crate::channel) struct SelectWaiter {
    pub(super) sleeper: Arc<Sleeper>,
    /// Calls the sleeper.
    pub(super) waker: Waker,
    /// For the lines in which this select is registered.
    pub(super) ticket: crate::sync::Arc<Ticket>,
    pub(super) backoff: Backoff,
}

// USER CODE: none (the waker is the library's own)
// THREAD EXIT: `KEPT`: `select` in a thread-local's drop makes a waiter for that call; by construction: `try_with`
thread_local! {
    static KEPT: Cell<Option<Box<SelectWaiter>>> = Cell::new(None);
}

impl SelectWaiter {
    fn new() -> Self {
        let sleeper = Arc::new(Sleeper::default());
        let ticket = crate::sync::Arc::new(Ticket::for_task());
        Self { waker: Waker::from(sleeper.clone()), sleeper, ticket, backoff: Backoff::new() }
    }

    /// The thread's own. Another one where that is in use (a message that is dropped, or a waker, has called `select`),
    /// or where the thread's locals are destroyed.
    pub(super) fn borrow() -> Borrowed {
        Borrowed(KEPT.try_with(Cell::take).ok().flatten().or_else(|| Some(Box::new(Self::new()))))
    }

    /// For the next select. A thread that has taken the claim of the last one may not have woken it yet. It keeps that
    /// claim, and would otherwise take the waker of this select out of it. With it would go a wake-up that another
    /// thread owes this select.
    pub(super) fn begin(&mut self) {
        if crate::sync::Arc::get_mut(&mut self.ticket).is_none() {
            self.ticket = crate::sync::Arc::new(Ticket::for_task());
        }
        self.ticket.reset();
    }

    /// Sleeps until it is woken (true), or the deadline has passed.
    pub(super) fn sleep(&mut self, deadline: Deadline) -> bool {
        let Self { sleeper, backoff, .. } = self;
        // MUTANT: Speed only: a thread that was woken while it spun finds that when it parks.
        backoff.spin(deadline, || sleeper.is_woken()) || backoff.time(|| sleeper.sleep(deadline))
    }
}

/// The thread's waiter, which is put back on drop.
pub(super) struct Borrowed(Option<Box<SelectWaiter>>);

impl Deref for Borrowed {
    type Target = SelectWaiter;

    fn deref(&self) -> &SelectWaiter {
        self.0.as_ref().expect("there until it is dropped")
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut SelectWaiter {
        self.0.as_mut().expect("there until it is dropped")
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let used = self.0.take();
        // One that a nested select has put there meanwhile is dropped.
        let _ = KEPT.try_with(|kept| kept.set(used));
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::channel::mpmc;
    use crate::channel::select::operation::SelectOperation;
    use crate::channel::select::receive::SelectRecv;
    use crate::os::calls;
    use crate::sync::Arc;
    use crate::wait::Spin;

    #[test]
    fn a_ticket_that_a_late_peer_has_is_not_used_again() {
        let mut waiter = SelectWaiter::borrow();
        waiter.begin();
        let late = waiter.ticket.clone();
        waiter.begin();
        assert!(!Arc::ptr_eq(&late, &waiter.ticket));
        let place = Arc::as_ptr(&waiter.ticket);
        waiter.begin();
        assert_eq!(Arc::as_ptr(&waiter.ticket), place);
    }

    /// Closed as at the start, until it is opened.
    #[test]
    fn a_ticket_that_was_taken_is_closed_in_the_next_wait() {
        let mut waiter = SelectWaiter::borrow();
        waiter.begin();
        let place = Arc::as_ptr(&waiter.ticket);
        let (sender, receiver) = mpmc::bounded(0);
        let mut source = receiver.into_source();
        let mut message = None;
        assert!(source.stand(&waiter, 0, &mut message).is_none());
        waiter.ticket.open();
        sender.try_send(7).unwrap();
        assert_eq!((source.met(&mut message), message), (Some(Ok(())), Some(7)));
        assert!(waiter.ticket.met().is_some());
        waiter.begin();
        assert_eq!((Arc::as_ptr(&waiter.ticket), waiter.ticket.met()), (place, None));
    }

    #[test]
    fn a_sleep_says_whether_it_was_ended_by_a_call() {
        let mut waiter = SelectWaiter::new();
        // So that it takes no other path.
        waiter.backoff.spin = Spin::None;
        waiter.waker.wake_by_ref();
        assert!(waiter.sleep(Deadline::Never));
        waiter.sleeper.reset();
        assert!(!waiter.sleep(Deadline::after(Duration::from_micros(200))));
    }

    /// A kernel wakes a thread for a signal, or for no reason.
    #[test]
    fn a_sleep_that_is_disturbed_goes_on() {
        let sleeper = Arc::new(Sleeper::default());
        let sleeping = sleeper.clone();
        let thread = std::thread::spawn(move || sleeping.sleep(Deadline::Never));
        // ORDERING: Relaxed; what the thread says is only that it is about to sleep.
        while sleeper.word.load(Ordering::Relaxed) != ASLEEP {
            std::thread::yield_now();
        }
        for _ in 0..1_000 {
            wake(&sleeper.word, 1);
            std::thread::yield_now();
        }
        sleeper.wake_by_ref();
        assert!(thread.join().unwrap());
    }

    #[test]
    fn to_call_a_thread_that_does_not_sleep_takes_no_system_call() {
        let sleeper = Arc::new(Sleeper::default());
        let before = calls();
        (0..3).for_each(|_| sleeper.wake_by_ref());
        assert!(sleeper.is_woken());
        assert_eq!(calls(), before);
    }
}
