//! The slots a receiver keeps from one call to the next: for the task that last polled it, and for the set it is attached
//! to.
//!
//! What level-triggered means with several receivers: an attached receiver's id is up, or its slot is armed, whenever
//! none of its operations is under way. Armed, it is one of those who wait, and is called in its turn: then its id goes
//! up, and stays up until it finds the channel empty. So an id that is up says "look"; the message may be gone to
//! another by then, which costs that look. And an id that is down says "you will be told".
//!
//! Set up through `&mut`; everything else from any thread that shares the receiver.

use core::task::Waker;

use super::many::{SharedEnd, propagate};
use super::slots::Waiter;
use super::waiter_target::WaiterTarget;
use crate::block::{Waiting, arm_and_look};
use crate::signal::Registration;
use crate::sync::{AtomicBool, Ordering};

/// A receiver's slots. Most receivers have none.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// Of the task that polled last.
    task: Option<Subscription>,
    /// Of the set it is attached to.
    attached: Option<Subscription>,
}

/// A slot that is kept.
struct Subscription {
    slot: Waiter,
    /// Armed, as far as the receiver knows.
    armed: AtomicBool,
    /// Somebody is taking the id down.
    resting: AtomicBool,
}

impl Subscription {
    fn new(end: impl SharedEnd) -> Self {
        Self { slot: end.list().register(), armed: AtomicBool::new(false), resting: AtomicBool::new(false) }
    }

    fn arm(&self, end: impl SharedEnd) {
        // ORDERING: Relaxed; true before the slot can be called.
        self.armed.store(true, Ordering::Relaxed);
        end.list().arm(&self.slot, false);
    }

    /// Not armed any more. True: it has been called since it was.
    fn disarm(&self, end: impl SharedEnd) -> bool {
        // ORDERING: AcqRel: one thread answers for a call.
        self.armed.swap(false, Ordering::AcqRel) && !end.list().disarm(&self.slot)
    }

    fn target<'a>(&self, end: &'a impl SharedEnd) -> &'a WaiterTarget {
        end.list().target(&self.slot)
    }

    /// Gives the slot back. True: it had been called. The waker of its task is to be dropped last: foreign code.
    #[must_use]
    fn unregister(&self, end: impl SharedEnd) -> (bool, Option<Waker>) {
        let is_notified = self.disarm(end);
        let waker = self.target(&end).take_waker();
        // The id is free at once; the memory when nobody can be ringing any more.
        self.target(&end).registration().inspect(|registration| registration.release());
        end.list().unregister(&self.slot);
        (is_notified, waker)
    }
}

/// An attached receiver that is about to rest.
struct RestingReceiver<'a, S> {
    subscription: &'a Subscription,
    registration: &'a Registration,
    end: S,
}

impl<S: SharedEnd> Waiting for RestingReceiver<'_, S> {
    type News = ();

    fn look(&mut self) -> Option<()> {
        self.end.is_ready().then_some(())
    }

    fn arm(&mut self) -> bool {
        self.subscription.arm(self.end);
        true
    }

    fn disarm(&mut self) {
        self.subscription.disarm(self.end);
        self.registration.raise();
    }
}

impl Subscriptions {
    /// Before the receiver waits in another way: that one is to be woken. True: one of the slots had been called.
    pub(crate) fn disarm_all(&self, end: impl SharedEnd) -> bool {
        let mut is_notified = self.task.as_ref().is_some_and(|subscription| subscription.disarm(end));
        if let Some(subscription) = &self.attached {
            // ORDERING: Relaxed; only a hint, `disarm` decides.
            if subscription.armed.load(Ordering::Relaxed) {
                is_notified |= subscription.disarm(end);
                subscription.target(&end).registration().inspect(|registration| registration.raise());
            }
        }
        is_notified
    }

    /// Has the task woken once there may be something for it.
    pub(crate) fn arm_task(&mut self, end: impl SharedEnd, waker: &Waker) {
        let subscription = self.task.get_or_insert_with(|| Subscription::new(end));
        subscription.target(&end).set_waker(waker);
        subscription.arm(end);
    }

    /// The task has found something after all. True: it had been called.
    pub(crate) fn disarm_task(&self, end: impl SharedEnd) -> bool {
        self.task.as_ref().is_some_and(|subscription| subscription.disarm(end))
    }

    /// From now on the receiver is attached to this set, and to no other.
    pub(crate) fn attach(&mut self, end: impl SharedEnd, registration: Registration) {
        // There may be messages already: told once too often is told.
        registration.raise();
        let subscription = Subscription::new(end);
        subscription.target(&end).set_registration(registration);
        if let Some(old) = self.attached.replace(subscription) {
            if old.unregister(end).0 {
                propagate(end);
            }
        }
    }

    /// Looks at what binds the receiver to a set, if it is in one.
    pub(crate) fn with_registration(&self, end: impl SharedEnd, look: &mut dyn FnMut(&Registration)) {
        self.attached
            .as_ref()
            .and_then(|subscription| subscription.target(&end).registration())
            .inspect(|registration| look(registration));
    }

    /// The receiver leaves the set it is attached to, if it is. What it had been told it passes on.
    pub(crate) fn detach(&mut self, end: impl SharedEnd) -> bool {
        let Some(subscription) = self.attached.take() else { return false };
        if subscription.unregister(end).0 {
            propagate(end);
        }
        true
    }

    /// What an attached receiver does when it finds nothing: takes its id down, arms, and looks once more. True: something
    /// has come meanwhile.
    pub(crate) fn rest(&self, end: impl SharedEnd) -> bool {
        let Some(subscription) = &self.attached else { return false };
        let Some(registration) = subscription.target(&end).registration() else { return false };
        if !registration.is_up() && end.list().is_armed(&subscription.slot) {
            return false;
        }
        // Another thread that shares the receiver is at it: it raises the id if it finds anything.
        // ORDERING: Acquire pairs with the Release below.
        if subscription.resting.swap(true, Ordering::Acquire) {
            return false;
        }
        // Down first: a sender that publishes after the arming raises it again.
        registration.lower();
        let found = arm_and_look(&mut RestingReceiver { subscription: subscription, registration, end }).is_some();
        // ORDERING: Release: one thread lowers at a time.
        subscription.resting.store(false, Ordering::Release);
        found
    }

    /// The receiver goes, or was made in vain. What it had been told it passes on.
    pub(crate) fn unregister(&mut self, end: impl SharedEnd) {
        let slots = [self.task.take(), self.attached.take()];
        let left =
            slots.map(|subscription| subscription.map_or((false, None), |subscription| subscription.unregister(end)));
        if left.iter().any(|(is_notified, _)| *is_notified) {
            propagate(end);
        }
        // Dropped when both slots have been left: foreign code.
        drop(left);
    }
}
