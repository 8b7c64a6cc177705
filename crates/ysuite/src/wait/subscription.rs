//! The slots that a handle keeps from one operation to the next: for the task that last polled it, and for the set it
//! is attached to. The handle is one of several: a receiver, which waits for messages, or a sender, which waits for
//! room.
//!
//! What level-triggered means with several handles: an attached handle's id is up, or its slot is armed, whenever none
//! of its operations is in progress. With its slot armed the handle is one of the waiters, and is notified in its turn:
//! then its id goes up, and stays up until the handle finds nothing. So an id that is up says "poll". If another handle
//! has taken the message, or the room, by then, the poll finds nothing. An id that is down says "you will be notified".
//!
//! Where a handle waits by both slots, its task has polled it and has not come back since. A notification that is for
//! one waiter takes one of the slots. The task may have nothing to do with this handle any more. If its slot notified
//! only the task, the set would sleep although something has come. So the slot of an attached handle's task notifies
//! the set as well. A handle that waits as a thread or a future has neither slot armed.
//!
//! Set up through `&mut`; everything else from any thread that shares the handle.

use core::task::Waker;

use super::many::{SharedEnd, propagate};
use super::slots::Waiter;
use super::waiter_target::WaiterTarget;
use crate::block::{Waiting, arm_and_look};
use crate::foreign::Panics;
use crate::signal::{AttachError, Registration, SETS};
use crate::sync::{Arc, AtomicBool, Handed, Ordering};

/// A handle's slots. Most handles have none.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// For the task that polled last.
    task: Option<Subscription>,
    /// For the set that the handle is attached to.
    attached: Option<Subscription>,
    /// What binds it to that set.
    registration: Option<Arc<Registration>>,
}

/// A slot that is kept between operations.
struct Subscription {
    slot: Waiter,
    /// The slot has an arming for which no thread is responsible yet. While it is false, the slot is armed at most
    /// until the thread that has armed it continues.
    armed: AtomicBool,
    /// A thread is taking the id down.
    resting: AtomicBool,
    /// Written by the thread that takes the id down.
    lowering: Handed,
}

impl Subscription {
    /// `registration`: what binds the handle to a set, if it is in one. `beside`: the slot is the task's.
    fn new(end: impl SharedEnd, registration: Option<&Arc<Registration>>, beside: bool) -> Self {
        let subscription = Self {
            slot: end.list().register(),
            armed: AtomicBool::new(false),
            resting: AtomicBool::new(false),
            lowering: Handed::default(),
        };
        if let Some(registration) = registration {
            subscription.target(&end).set_registration(registration.clone(), beside);
        }
        subscription
    }

    /// The slot of a handle's task. What is for all waiters notifies the set by its own slot.
    fn of_task<S: SharedEnd>(end: S, registration: Option<&Arc<Registration>>) -> Self {
        Self::new(end, if S::FOR_ALL { None } else { registration }, true)
    }

    fn arm(&self, end: impl SharedEnd) {
        end.list().arm(&self.slot, false);
        // After the arming: another thread that shares the handle may disarm at any moment. Had it swapped out `true`
        // before the slot was armed, the slot would stay armed with no thread responsible for it, also after the
        // handle's drop. Where the slot has been disarmed by now, this is a surplus `true` and causes one poll in vain.
        // ORDERING: Relaxed; the fence at the end of `WaitList::arm` releases the armed bit with it, to the Acquire in
        // `disarm`. A read-modify-write, as there: so all that is done to this word has one order, for the model
        // checker as well.
        self.armed.swap(true, Ordering::Relaxed);
    }

    /// Disarms the slot. True: it has been notified since it was armed, or another thread has disarmed it meanwhile.
    fn disarm(&self, end: impl SharedEnd) -> bool {
        // MUTANT: At worst another waiter is notified without a reason.
        // ORDERING: Acquire pairs with the fence before the swap in `arm`: of the threads that share the handle, the
        // one that swaps out `true` is responsible for the notification, and finds the slot as the thread that armed
        // has left it.
        self.armed.swap(false, Ordering::Acquire) && !end.list().disarm(&self.slot)
    }

    fn target<'a>(&self, end: &'a impl SharedEnd) -> &'a WaiterTarget {
        end.list().target(&self.slot)
    }

    // MUTANT: At worst another waiter is notified without a reason. In a race: a notification between arming and the
    // check. Killed only by `who_leaves_a_set_frees_its_id_at_once_and_its_slot_behind_its_notifier`.
    /// Gives the slot up. True: it had been notified. The caller drops the task's waker last: its drop is user code.
    #[must_use]
    fn unregister(&self, end: impl SharedEnd) -> (bool, Option<Waker>) {
        let is_notified = self.disarm(end);
        let waker = self.target(&end).task.take();
        // The id is free at once; the memory when no notifier uses the slot any more.
        if let Some(registration) = self.target(&end).registration() {
            registration.release();
        }
        end.list().unregister(&self.slot);
        (is_notified, waker)
    }
}

/// An attached handle that has found nothing and takes its id down.
struct RestingEnd<'a, S> {
    subscription: &'a Subscription,
    registration: &'a Registration,
    end: S,
    /// The slot was notified between its arming and the poll that found something.
    is_notified: bool,
}

impl<S: SharedEnd> Waiting for RestingEnd<'_, S> {
    type News = ();

    fn look(&mut self) -> Option<()> {
        self.end.is_ready().then_some(())
    }

    fn arm(&mut self) -> bool {
        self.subscription.arm(self.end);
        true
    }

    fn disarm(&mut self) {
        self.is_notified = self.subscription.disarm(self.end);
        self.registration.raise();
    }

    fn sleeps(&self) {
        self.end.list().meter().sleeps();
    }
}

impl Subscriptions {
    // MUTANT: At worst another waiter is notified without a reason. In a race: a notification between arming and the
    // check.
    /// Disarms both slots before the handle waits in another way, so that only that wait is notified. True: one of the
    /// slots had been notified.
    pub(crate) fn disarm_all(&self, end: impl SharedEnd) -> bool {
        let mut is_notified = self.disarm_task(end);
        if let (true, Some(subscription)) = (SETS, &self.attached) {
            // ORDERING: Relaxed; only a hint, the swap in `Subscription::disarm` decides.
            if subscription.armed.load(Ordering::Relaxed) {
                is_notified |= subscription.disarm(end);
                if let Some(registration) = subscription.target(&end).registration() {
                    registration.raise();
                }
            }
        }
        is_notified
    }

    /// Registers the task to be woken once there may be something for it.
    pub(crate) fn arm_task(&mut self, end: impl SharedEnd, waker: &Waker) {
        if self.task.is_none() {
            self.task = Some(Subscription::of_task(end, self.registration.as_ref()));
        }
        let Some(subscription) = &self.task else { return };
        subscription.target(&end).task.register(waker);
        subscription.arm(end);
    }

    /// Disarms the slot of a task that has found something after all. True: its slot had been notified.
    pub(crate) fn disarm_task(&self, end: impl SharedEnd) -> bool {
        self.task.as_ref().is_some_and(|subscription| subscription.disarm(end))
    }

    // USER CODE: the waker of the handle's own task, where that is notified meanwhile, and another waiter's, where a
    //     notification has to be passed on; for `attach` and `detach`. The handle is in its set, or has left it, and
    //     the task's slot is another one; re-entrance: any operation of other handles (this one is borrowed); panic:
    //     propagates out of `attach` or `detach`, which is done; by construction: it comes last; test:
    //     tests/suite/random.rs: random_operations_on_an_mpmc_channel_agree_with_a_model
    // MUTANT: At worst another waiter is notified without a reason. In a race: a notification between arming and the
    // check.
    /// Gives the task a new slot, after the handle has entered a set or left one. The task's old slot may be armed, or
    /// in use by a notifier. The new one notifies the set that the handle is in now. Whatever comes meanwhile notifies
    /// the task by one slot or the other.
    fn exchange_task<S: SharedEnd>(&mut self, end: S) {
        if !SETS || S::FOR_ALL {
            return;
        }
        let Some(old) = self.task.take() else { return };
        let new = Subscription::of_task(end, self.registration.as_ref());
        // ORDERING: Relaxed; this thread alone has the handle.
        let waits = old.armed.load(Ordering::Relaxed);
        if waits {
            // Before the old one is disarmed: there is no moment without an armed slot.
            new.arm(end);
        }
        let (is_notified, waker) = old.unregister(end);
        if is_notified {
            // The task is notified, and polls before it waits again; where this thread has come before the notifier it
            // has the waker. What the new slot has been notified of by now is unknown to the task.
            let mut panics = Panics::none();
            panics.catch(|| give_up(Some(new), None, end));
            if let Some(waker) = waker {
                panics.catch(|| waker.wake());
            }
            return;
        }
        let new = self.task.insert(new);
        let slot = &new.target(&end).task;
        if let Some(waker) = waker {
            slot.put(waker);
        }
        if waits && !end.list().is_armed(&new.slot) {
            // By a notifier that may have come before the waker.
            slot.wake();
        }
    }

    /// Ends the wait of the task. If its slot had been notified, the next waiter is notified.
    #[cfg(feature = "futures")]
    pub(crate) fn forget_task(&mut self, end: impl SharedEnd) {
        let Some(subscription) = self.task.take() else { return };
        give_up(Some(subscription), None, end);
    }

    /// Attaches the handle to the set of this registration. A handle that is attached already refuses: it stays where
    /// it is, and dropping the registration gives the id back.
    pub(crate) fn attach(&mut self, end: impl SharedEnd, registration: Registration) -> Result<(), AttachError> {
        if self.attached.is_some() {
            return Err(AttachError::AlreadyAttached);
        }
        if !SETS {
            return Ok(());
        }
        // There may be messages, or room, already. If there are none, the handle finds that out and takes the id down.
        registration.raise();
        let registration = self.registration.insert(Arc::new(registration));
        self.attached = Some(Subscription::new(end, Some(registration), false));
        self.exchange_task(end);
        Ok(())
    }

    /// Runs `look` on the registration that binds the handle to a set, if it is in one.
    pub(crate) fn with_registration(&self, end: impl SharedEnd, look: &mut dyn FnMut(&Registration)) {
        if let Some(subscription) = &self.attached {
            if let Some(registration) = subscription.target(&end).registration() {
                look(registration);
            }
        }
    }

    /// Takes the handle out of the set that it is attached to. True: it was in one. If it had been notified, it
    /// notifies the next waiter.
    pub(crate) fn detach(&mut self, end: impl SharedEnd) -> bool {
        if !SETS {
            return false;
        }
        let Some(subscription) = self.attached.take() else { return false };
        self.registration = None;
        let mut panics = Panics::none();
        // MUTANT: At worst another waiter is notified without a reason.
        if subscription.unregister(end).0 {
            panics.catch(|| propagate(end));
        }
        panics.catch(|| self.exchange_task(end));
        true
    }

    // WAITS: one of several attached handles; ends: its id is raised; it does not spin; it passes a notification on
    //     when it leaves; test: tests/suite/mpmc/foreign.rs: a_receiver_whose_wakers_drop_panics_leaves_both_its_places
    // MUTANT: At worst another waiter is notified without a reason. In a race: a notification between arming and the
    // check. Killed only by `a_receiver_in_a_set_sleeps_when_it_takes_its_id_down`,
    // `one_thread_at_a_time_takes_the_id_down` and `what_an_end_is_told_as_it_comes_to_rest_is_passed_on`.
    /// For an attached handle that finds nothing: takes its id down, arms, and polls once more. True: a message has
    /// come meanwhile, or room, or the channel has been closed. If the slot was notified in between, the notification
    /// may have been for more than the poll has found: then the next waiter is notified.
    #[inline(never)]
    pub(crate) fn rest(&self, end: impl SharedEnd) -> bool {
        if !SETS {
            return false;
        }
        let Some(subscription) = &self.attached else { return false };
        let Some(registration) = subscription.target(&end).registration() else { return false };
        if !registration.is_up() && end.list().is_armed(&subscription.slot) {
            return false;
        }
        // Where another thread that shares the handle is here already, that thread raises the id if it finds anything.
        // ORDERING: Acquire pairs with the Release below, by which the last thread has left.
        if subscription.resting.swap(true, Ordering::Acquire) {
            return false;
        }
        subscription.lowering.written();
        // Down before the arming: a thread that publishes after the arming raises the id again.
        registration.lower();
        let mut resting = RestingEnd { subscription, registration, end, is_notified: false };
        let found = arm_and_look(&mut resting).is_some();
        let is_notified = resting.is_notified;
        // ORDERING: Release pairs with the Acquire swap above: this thread has taken the id down, and has armed. So one
        // arming comes after the other, whatever a compiler makes of the swap in `Subscription::arm`, whose result is
        // unused: the last `true` is that of the last arming.
        subscription.resting.store(false, Ordering::Release);
        if is_notified {
            // Last: a waker is user code.
            propagate(end);
        }
        found
    }

    /// Wakes the task that polled this handle last: something has changed for this handle alone. A waker is user code.
    pub(crate) fn wake_task(&self, end: impl SharedEnd) {
        if let Some(subscription) = &self.task {
            subscription.target(&end).task.wake();
        }
    }

    /// Gives up the slots of a handle that is dropped. If one of them had been notified, it notifies the next waiter.
    pub(crate) fn unregister(&mut self, end: impl SharedEnd) {
        self.registration = None;
        give_up(self.task.take(), self.attached.take(), end);
    }
}

// USER CODE: another waiter's waker, where a notification has to be passed on; `Drop` of the wakers; both slots are
//     given back; re-entrance: any operation; panic: all are done last, then the first panic propagates; test:
//     tests/suite/mpmc/foreign.rs: a_receiver_whose_wakers_drop_panics_leaves_both_its_places
// MUTANT: At worst another waiter is notified without a reason. In a race: a notification between arming and the
// check. Killed only by `a_receiver_that_goes_between_two_wakers_that_panic_is_one_panic`.
/// Gives slots up. If one of them had been notified, the next waiter is notified. All user code comes last: the wakers
/// of other waiters, and the drop of this handle's own, each of which may panic.
fn give_up(first: Option<Subscription>, second: Option<Subscription>, end: impl SharedEnd) {
    let given_up = |slot: Option<Subscription>| match slot {
        Some(subscription) => subscription.unregister(end),
        None => (false, None),
    };
    let (first, second) = (given_up(first), given_up(second));
    let mut panics = Panics::none();
    if first.0 | second.0 {
        panics.catch(|| propagate(end));
    }
    panics.catch(|| drop(first.1));
    panics.catch(|| drop(second.1));
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::cell::Cell;
    use std::sync::Arc;

    use super::super::WaitList;
    use super::super::many::notify;
    use super::*;
    use crate::signal::{Attach, Wait, YPollset};
    use crate::tests::Woken;

    /// A handle as it checks whether waiting is over.
    #[derive(Clone, Copy)]
    struct Looking<'a>(&'a WaitList, &'a dyn Fn() -> bool);

    impl SharedEnd for Looking<'_> {
        fn list(&self) -> &WaitList {
            self.0
        }

        fn is_ready(&self) -> bool {
            (self.1)()
        }

        fn supply(&self) -> usize {
            1
        }
    }

    /// A handle that can be in a set. It finds nothing until a test says otherwise.
    struct Owner<'a> {
        list: &'a WaitList,
        subscriptions: Subscriptions,
    }

    impl<'a> Owner<'a> {
        fn new(list: &'a WaitList) -> Self {
            Self { list, subscriptions: Subscriptions::default() }
        }

        fn rest(&self, look: &dyn Fn() -> bool) -> bool {
            self.subscriptions.rest(Looking(self.list, look))
        }
    }

    impl Drop for Owner<'_> {
        fn drop(&mut self) {
            self.subscriptions.unregister(Looking(self.list, &|| false));
        }
    }

    impl Attach for Owner<'_> {
        fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
            self.subscriptions.attach(Looking(self.list, &|| false), registration)
        }

        fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
            self.subscriptions.with_registration(Looking(self.list, &|| false), look);
        }

        fn detach(&mut self) -> bool {
            self.subscriptions.detach(Looking(self.list, &|| false))
        }
    }

    #[test]
    fn who_leaves_a_set_frees_its_id_at_once_and_its_slot_behind_its_notifier() {
        let (list, mut set) = (WaitList::new(), YPollset::new());
        let (mut one, mut next) = (Owner::new(&list), Owner::new(&list));
        set.attach(&mut one, 3).unwrap();
        assert!(!one.rest(&|| false));
        let notified = list.notify_one().unwrap();
        assert_eq!(set.detach(&mut one), Some(3));
        // The notifier is about to raise the id, which is free nevertheless.
        assert_eq!(set.attach(&mut next, 3), Ok(()));
        drop(notified);
        let slot = list.register();
        assert_eq!(slot.index, 0, "a slot is lost");
        assert!(list.target(&slot).registration().is_none(), "it has kept its last owner's registration");
    }

    #[test]
    fn one_thread_at_a_time_takes_the_id_down() {
        let (list, mut set) = (WaitList::new(), YPollset::new());
        let mut owner = Owner::new(&list);
        set.attach(&mut owner, 3).unwrap();
        let look = || {
            // As other threads would meanwhile: one notifies, and one that shares the handle finds nothing.
            notify(&list, 1);
            assert!(!owner.rest(&|| false));
            false
        };
        assert!(!owner.rest(&look));
        assert!(set.check().eq([3]), "the second thread leaves the id alone");
    }

    #[test]
    fn what_an_end_is_told_as_it_comes_to_rest_is_passed_on() {
        let (list, mut set) = (WaitList::new(), YPollset::new());
        let mut owner = Owner::new(&list);
        set.attach(&mut owner, 3).unwrap();
        let (other, task) = (list.register(), Arc::new(Woken::default()));
        list.target(&other).task.register(&task.clone().into());
        list.arm(&other, false);
        let is_told = Cell::new(false);
        let look = || {
            // Of two messages: the handle finds both, and was notified of one of them.
            if !is_told.replace(true) {
                notify(&list, 1);
                assert_eq!(task.times(), 0, "the handle itself is notified");
            }
            true
        };
        assert!(owner.rest(&look));
        assert_eq!(task.times(), 1);
        assert!(set.check().eq([3]));
    }
}
