//! Waiting of handles that many threads use, those of an mpmc channel or a pool: poll, arm a slot of the list, poll
//! again, sleep; and pass a notification on when the wait ends. One wait belongs to one thread or one future.
//!
//! A notified waiter is responsible for the message (or the room) that it was notified of: when its wait ends, however
//! it ends, and more is available, it notifies the next waiter. So a wait that times out, a future that is dropped, and
//! a thread that panics pass their notification on.

use core::task::{Context, Poll, Waker};

use super::backoff::{SharedBackoff, Spin};
use super::list::WaitList;
use super::slots::Waiter;
use crate::block::{Waiting, arm_and_look, block};
use crate::foreign::Panics;
use crate::os::Deadline;
use crate::statistics::COUNTING;
use crate::sync::{Ordering, fence};

/// One of several handles that all wait for the same thing: the receivers or the senders of an mpmc channel, or the
/// takers from a pool.
pub(crate) trait SharedEnd: Copy {
    /// Whether each publication is for every waiter, so that each is notified. Otherwise it is for one waiter, or for
    /// the number that can use it.
    const FOR_ALL: bool = false;
    /// The waiters of this handle's side.
    fn list(&self) -> &WaitList;
    /// Whether waiting is over: something can be done, or nothing ever will be.
    fn is_ready(&self) -> bool;
    /// The number of waiters for which there may be something to do.
    fn supply(&self) -> usize;
    /// A thread is about to sleep.
    fn rest(&self) {}
}

/// One wait of a thread or a future.
pub(crate) struct ManyWait<S: SharedEnd> {
    end: S,
    slot: Option<Waiter>,
    /// Armed, as far as this handle knows.
    armed: bool,
    /// Was notified, and must notify the next waiter if more is available.
    is_notified: bool,
    /// Was notified as a thread, and is counted by [`WaitList::in_flight`].
    in_flight: bool,
}

impl<S: SharedEnd> ManyWait<S> {
    /// `is_notified`: another slot of the same handle has been notified, and this wait is responsible for it.
    pub(crate) fn new(end: S, is_notified: bool) -> Self {
        Self { end, slot: None, armed: false, is_notified, in_flight: false }
    }

    /// What it waits for.
    pub(crate) fn end(&self) -> S {
        self.end
    }

    // WAITS: for a message or room; ends: that, the other side is gone, the deadline; spin: `None` parks at once,
    //     `Adaptive` polls, yields, parks, `Forever` polls for ever; except with `None`, senders and receivers of an
    //     `mpmc` that were in a stream back off for a microsecond or two first; fairness: others of its side are notified in
    //     turn; test: tests/suite/mpmc/waking.rs: waiters_are_woken_in_turn
    // MUTANT: A notification without a reason is harmless. In a race: what comes at the deadline is found by the next
    // call.
    /// Blocks the thread until the handle is ready (true) or the deadline has passed (false).
    #[cold]
    #[inline(never)]
    pub(crate) fn block(&mut self, shared: &SharedBackoff, deadline: Deadline) -> bool {
        let end = self.end;
        self.block_behind(shared, deadline, false, || end.is_ready())
    }

    // MUTANT: Speed only: how long to spin and yield, and what is learned. A waiter without time gets the same answer
    // later. Killed only by `who_is_never_to_sleep_arms_nothing_however_many_wait`, `each_refusal_is_counted_once` and
    // `who_has_found_something_is_told_so_whoever_takes_it_meanwhile`.
    /// As [`block`](Self::block), but for as long as this thread does not sleep it waits until `look` is true; then the
    /// handle was ready. `is_crowded`: there are more handles than CPUs, and this thread yields its CPU instead of
    /// spinning.
    pub(crate) fn block_behind(
        &mut self,
        shared: &SharedBackoff,
        deadline: Deadline,
        is_crowded: bool,
        look: impl FnMut() -> bool,
    ) -> bool {
        let end = self.end;
        if deadline.is_over() {
            return end.is_ready();
        }
        if COUNTING && !end.is_ready() {
            end.list().meter().waits();
        }
        let mut backoff = shared.recall();
        let is_over = if is_crowded && backoff.spin == Spin::Adaptive {
            backoff.give_way(deadline, look)
        } else {
            backoff.spin(deadline, look)
        };
        let is_over = is_over || backoff.yield_now(deadline, || end.is_ready());
        // To arm for no time at all would cost both sides: a barrier here, and a wake-up there.
        if is_over || deadline.is_over() {
            shared.keep(backoff);
            return is_over || end.is_ready();
        }
        end.rest();
        let mut asleep = Asleep { wait: self, waker: None };
        // A wake-up may be in vain: another handle was quicker, or the wake-up was for an earlier wait.
        let ready = block(&mut asleep, |asleep| backoff.time(|| asleep.wait.sleep(deadline)));
        shared.keep(backoff);
        ready.is_some()
    }

    // MUTANT: Killed only by `a_task_that_finds_something_leaves_nothing_armed`.
    /// Registers the task to be woken once the handle is ready, unless it is ready already.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.disarm_slot(false);
        if self.end.is_ready() {
            return Poll::Ready(());
        }
        self.end.list().meter().waits();
        match arm_and_look(&mut Asleep { wait: self, waker: Some(context.waker()) }) {
            Some(()) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }

    /// Disarms the slot, and notes whether it has been notified.
    fn disarm_slot(&mut self, is_thread: bool) {
        let (true, Some(slot)) = (self.armed, &self.slot) else { return };
        self.armed = false;
        if !self.end.list().disarm(slot) {
            self.is_notified = true;
            self.in_flight = is_thread;
        }
    }

    /// Sleeps until its target is woken (true) or the deadline has passed (false).
    fn sleep(&mut self, deadline: Deadline) -> bool {
        let in_time = self.slot.as_ref().is_none_or(|slot| self.end.list().target(slot).sleep(deadline));
        self.disarm_slot(true);
        in_time
    }
}

/// A wait that is about to sleep: as a thread, or as the task of a waker.
struct Asleep<'a, S: SharedEnd> {
    wait: &'a mut ManyWait<S>,
    waker: Option<&'a Waker>,
}

impl<S: SharedEnd> Waiting for Asleep<'_, S> {
    type News = ();

    /// Polls once: what is available now may be gone at the next poll.
    fn look(&mut self) -> Option<()> {
        self.wait.end.is_ready().then_some(())
    }

    fn arm(&mut self) -> bool {
        let wait = &mut *self.wait;
        let list = wait.end.list();
        if core::mem::take(&mut wait.in_flight) {
            list.arrive();
        }
        let slot = wait.slot.get_or_insert_with(|| list.register());
        match self.waker {
            None => list.target(slot).set_asleep(),
            Some(waker) => list.target(slot).task.register(waker),
        }
        list.arm(slot, self.waker.is_none());
        wait.armed = true;
        true
    }

    // MUTANT: Killed only by `a_thread_that_was_notified_is_on_its_way_until_its_wait_has_ended`.
    fn disarm(&mut self) {
        self.wait.disarm_slot(self.waker.is_none());
    }

    fn sleeps(&self) {
        self.wait.end.list().meter().sleeps();
    }
}

// USER CODE: another waiter's waker, where a notification has to be passed on; `Drop` of this waiter's waker; the slot
//     is given back, the notification passed on; re-entrance: any operation; panic: both are done last, then the first
//     panic propagates; test: tests/suite/mpmc/foreign.rs:
//     a_future_whose_wakers_drop_panics_passes_on_what_it_was_told, tests/suite/mpmc/foreign.rs:
//     a_wait_that_ends_between_two_wakers_that_panic_is_one_panic
impl<S: SharedEnd> Drop for ManyWait<S> {
    // MUTANT: At worst another waiter is notified without a reason. Killed only by
    // `a_wait_that_ends_between_two_wakers_that_panic_is_one_panic` and
    // `a_future_that_is_dropped_wakes_the_next_as_often_as_it_takes`.
    fn drop(&mut self) {
        // Still armed only where a future is dropped, or user code has panicked.
        self.disarm_slot(false);
        let mut waker = None;
        if let Some(slot) = &self.slot {
            let list = self.end.list();
            if self.in_flight {
                list.arrive();
            }
            waker = list.target(slot).task.take();
            list.unregister(slot);
        }
        // Last: user code, each call of which may panic.
        let mut panics = Panics::none();
        if self.is_notified {
            panics.catch(|| propagate(self.end));
        }
        panics.catch(|| drop(waker));
    }
}

// USER CODE: wakers; so also in `notify_all`, `notify_each` and `propagate`. The slot's bit is taken, everything is
//     published; re-entrance: any operation; a task that polls in its waker and waits again is not notified again:
//     there is one pass, or a number; panic: the waiters after it are woken, then the first panic propagates; test:
//     tests/suite/mpmc/foreign.rs: one_waker_that_panics_does_not_keep_those_behind_it_asleep,
//     tests/suite/mpmc/permits.rs: gathering_waiters_may_poll_on_the_spot
// MUTANT: Only which thread wakes the others.
/// Notifies up to `most` waiters, as there is something for that number. Stops after a thread, which notifies the next
/// itself if it leaves anything; a task or an attached receiver may have other things to do.
#[inline(never)]
pub(crate) fn notify(list: &WaitList, most: usize) {
    let mut panics = Panics::none();
    for _ in 0..most {
        let Some(notified) = list.notify_one() else { return };
        // A thread notifies the next waiter itself.
        let is_last = notified.is_thread();
        panics.catch(|| notified.wake(is_last));
        if is_last {
            return;
        }
    }
}

/// Notifies each armed waiter once, after a change that concerns all of them, such as a disconnect. A waker that panics
/// does not keep the others asleep.
pub(crate) fn notify_all(list: &WaitList) {
    notify_all_of(&[list]);
}

/// As [`notify_all`], of several lists.
#[inline(never)]
pub(crate) fn notify_all_of(lists: &[&WaitList]) {
    // MUTANT: In a race: a thread closes the channel while a sender is in the middle and a receiver parks. Killed only
    // by the model `a_close_against_a_sender_in_the_middle_and_a_receiver_going_to_sleep`.
    // ORDERING: pairs with the fence in `WaitList::arm`: either a waiter's poll sees what has changed, or its armed bit
    // is found here. One fence is enough for all lists: nothing that the waiters wait for changes behind it.
    fence(Ordering::SeqCst);
    if lists.iter().any(|list| list.has_slots()) {
        notify_each_of(lists);
    }
}

/// Notifies each armed waiter of several lists once.
#[cold]
#[inline(never)]
fn notify_each_of(lists: &[&WaitList]) {
    let mut panics = Panics::none();
    for list in lists {
        panics.catch(|| notify_each(list));
    }
}

// USER CODE: wakers, called by `channel/watch/shared.rs`; the slot's bit is taken, the version is raised, the lock is
//     free; re-entrance: any operation; a task that waits again in its slot is notified of the next value; panic: all
//     others are woken, then the first panic propagates; test: tests/suite/watch/foreign.rs:
//     a_waker_that_panics_keeps_no_thread_asleep, tests/suite/watch/foreign.rs:
//     the_last_receivers_end_wakes_senders_behind_a_waker_that_panics
/// Notifies each armed waiter once: there is something for every one. A waker that panics does not keep the others
/// asleep. The caller has checked the list's word, by [`WaitList::attend`], or has published after a fence.
///
/// It does so in one pass: a task may poll inside its waker and wait again in the same slot. If this repeated while one
/// is armed, waiters that find nothing for themselves would be notified without end.
#[inline(never)]
pub(crate) fn notify_each(list: &WaitList) {
    let mut panics = Panics::none();
    list.notify_each(&mut |notified| panics.catch(|| notified.wake(notified.is_thread())));
}

// MUTANT: Speed only: an early exit before a search that finds no armed slot. A notification without a reason is
// harmless.
/// For a notified waiter that has taken what it wanted, or unregisters: if more is available than the threads in flight
/// will take, notifies the next waiter.
#[inline(never)]
pub(crate) fn propagate(end: impl SharedEnd) {
    let list = end.list();
    if list.word().is_armed() && end.is_ready() {
        match end.supply() {
            // It was notified of something that concerns all: each is notified once, as no number ends this.
            usize::MAX => notify_each(list),
            supply => notify(list, supply.saturating_sub(list.in_flight())),
        }
    }
}

/// The notification that a handle is responsible for while user code runs. Passed on when dropped, so also while
/// unwinding.
pub(crate) struct Owed<S: SharedEnd> {
    pub(crate) end: S,
    pub(crate) is_notified: bool,
}

impl<S: SharedEnd> Drop for Owed<S> {
    fn drop(&mut self) {
        // MUTANT: At worst another waiter is notified without a reason.
        if self.is_notified {
            propagate(self.end);
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::cell::Cell;
    use std::thread;

    use super::*;
    use crate::sync::AtomicBool;

    #[derive(Clone, Copy)]
    struct End<'a>(&'a WaitList);

    impl SharedEnd for End<'_> {
        fn list(&self) -> &WaitList {
            self.0
        }

        fn is_ready(&self) -> bool {
            false
        }

        fn supply(&self) -> usize {
            0
        }
    }

    #[test]
    fn a_wait_leaves_the_list_as_it_was() {
        let list = WaitList::new();
        let mut wait = ManyWait::new(End(&list), false);
        Asleep { wait: &mut wait, waker: None }.arm();
        wait.disarm_slot(true);
        assert!(!wait.is_notified && !wait.in_flight, "no notification has been sent");
        for _ in 0..2 {
            // The second time it has been notified in vain: it has arrived, and waits again.
            Asleep { wait: &mut wait, waker: None }.arm();
            assert_eq!(list.in_flight(), 0);
            drop(list.notify_one());
            wait.disarm_slot(true);
            assert_eq!((list.in_flight(), wait.is_notified), (1, true));
        }
        drop(wait);
        assert_eq!((list.in_flight(), list.register().index), (0, 0));
    }

    /// A handle that is ready after a number of polls in vain.
    #[derive(Clone, Copy)]
    struct Soon<'a> {
        list: &'a WaitList,
        in_vain: &'a Cell<u32>,
        may_arm: bool,
    }

    impl SharedEnd for Soon<'_> {
        fn list(&self) -> &WaitList {
            self.list
        }

        fn is_ready(&self) -> bool {
            assert!(self.may_arm || !self.list.word().is_armed(), "it is about to sleep");
            let left = self.in_vain.get();
            self.in_vain.set(left.saturating_sub(1));
            left == 0
        }

        fn supply(&self) -> usize {
            0
        }
    }

    #[test]
    fn who_is_never_to_sleep_arms_nothing_however_many_wait() {
        let (list, in_vain, shared) = (WaitList::new(), Cell::new(0), SharedBackoff::new());
        shared.set(Spin::Forever);
        for is_crowded in [false, true] {
            in_vain.set(1_000);
            let end = Soon { list: &list, in_vain: &in_vain, may_arm: false };
            let mut wait = ManyWait::new(end, false);
            assert!(wait.block_behind(&shared, Deadline::Never, is_crowded, || end.is_ready()));
            assert!(wait.slot.is_none());
        }
    }

    /// At its first poll, at the one after the arming, and when it is polled again.
    #[test]
    fn a_task_that_finds_something_leaves_nothing_armed() {
        for in_vain in 0..3 {
            let (list, in_vain) = (WaitList::new(), Cell::new(in_vain));
            let mut wait = ManyWait::new(Soon { list: &list, in_vain: &in_vain, may_arm: true }, false);
            let mut context = Context::from_waker(Waker::noop());
            let is_first = in_vain.get() < 2;
            assert_eq!(wait.poll(&mut context).is_ready(), is_first);
            assert_eq!(list.word().is_armed(), !is_first);
            assert!(wait.poll(&mut context).is_ready() && !list.word().is_armed());
        }
    }

    /// By a poll after the arming, or by a sleep.
    #[test]
    fn a_thread_that_was_notified_is_on_its_way_until_its_wait_has_ended() {
        for sleeps in [false, true] {
            let list = WaitList::new();
            let mut wait = ManyWait::new(End(&list), false);
            let mut asleep = Asleep { wait: &mut wait, waker: None };
            asleep.arm();
            list.notify_one().unwrap().wake(true);
            if sleeps {
                assert!(asleep.wait.sleep(Deadline::Never));
            } else {
                asleep.disarm();
            }
            assert_eq!((wait.is_notified, wait.in_flight, list.in_flight()), (true, true, 1));
            drop(wait);
            assert_eq!(list.in_flight(), 0);
        }
    }

    /// A handle that is ready once something has come.
    #[derive(Clone, Copy)]
    struct Late<'a>(&'a WaitList, &'a AtomicBool);

    impl SharedEnd for Late<'_> {
        fn list(&self) -> &WaitList {
            self.0
        }

        fn is_ready(&self) -> bool {
            // ORDERING: Acquire pairs with the Release by which it comes.
            self.1.load(Ordering::Acquire)
        }

        fn supply(&self) -> usize {
            usize::from(self.is_ready())
        }
    }

    #[test]
    fn a_thread_that_is_woken_in_vain_sleeps_on() {
        let (list, has_come) = (WaitList::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut wait = ManyWait::new(Late(&list, &has_come), false);
                wait.block(&SharedBackoff::new(), Deadline::Never)
            });
            for _ in 0..3 {
                let notified = loop {
                    if let Some(notified) = list.notify_one() {
                        break notified;
                    }
                    assert!(!waiting.is_finished(), "its wait has no limit, and nothing has come");
                    thread::yield_now();
                };
                notified.wake(true);
            }
            // ORDERING: Release pairs with the Acquire in `is_ready`.
            has_come.store(true, Ordering::Release);
            notify_all(&list);
            assert!(waiting.join().unwrap(), "it was notified of what has come");
        });
    }

    /// Another thread may have taken all that it found while it spun: this does not end its time.
    #[test]
    fn who_has_found_something_is_told_so_whoever_takes_it_meanwhile() {
        let (list, in_vain, shared) = (WaitList::new(), Cell::new(0), SharedBackoff::new());
        shared.set(Spin::Forever);
        let mut wait = ManyWait::new(Soon { list: &list, in_vain: &in_vain, may_arm: false }, false);
        let look = || {
            in_vain.set(1);
            true
        };
        assert!(wait.block_behind(&shared, Deadline::Never, false, look));
    }
}
