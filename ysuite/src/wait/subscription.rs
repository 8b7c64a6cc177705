//! The places a receiver keeps from one call to the next: for the task that last polled it, and for the set it is attached
//! to.
//!
//! What level-triggered means with several receivers: an attached receiver's id is up, or its place is armed, whenever
//! none of its operations is under way. Armed, it is one of those who wait, and is called in its turn: then its id goes
//! up, and stays up until it finds the channel empty. So an id that is up says "look"; the message may be gone to
//! another by then, which costs that look. And an id that is down says "you will be told".
//!
//! Set up through `&mut`; everything else from any thread that shares the receiver.

use core::task::Waker;

use super::many::{SharedEnd, propagate};
use super::slots::Waiter;
use super::waiter_target::WaiterTarget;
use crate::signal::{AttachError, Registration};
use crate::sync::{AtomicBool, Ordering};

/// A receiver's places. Most receivers have none.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// Of the task that polled last.
    task: Option<Subscription>,
    /// Of the set it is attached to.
    attached: Option<Subscription>,
}

/// A place that is kept.
struct Subscription {
    place: Waiter,
    /// Armed, as far as the receiver knows.
    armed: AtomicBool,
    /// Somebody is taking the id down.
    resting: AtomicBool,
}

impl Subscription {
    fn new(side: impl SharedEnd) -> Self {
        Self { place: side.list().register(), armed: AtomicBool::new(false), resting: AtomicBool::new(false) }
    }

    fn arm(&self, side: impl SharedEnd) {
        // ORDERING: Relaxed; true before the place can be called.
        self.armed.store(true, Ordering::Relaxed);
        side.list().arm(&self.place, false);
    }

    /// Not armed any more. True: it has been called since it was.
    fn settle(&self, side: impl SharedEnd) -> bool {
        // ORDERING: AcqRel: one thread answers for a call.
        self.armed.swap(false, Ordering::AcqRel) && !side.list().disarm(&self.place)
    }

    fn bell<'a>(&self, side: &'a impl SharedEnd) -> &'a WaiterTarget {
        side.list().target(&self.place)
    }

    /// Gives the place back. True: it had been called. The waker of its task is to be dropped last: foreign code.
    #[must_use]
    fn leave(&self, side: impl SharedEnd) -> (bool, Option<Waker>) {
        let called = self.settle(side);
        let waker = self.bell(&side).take_waker();
        // The id is free at once; the memory when nobody can be ringing any more.
        self.bell(&side).registration().inspect(|registration| registration.release());
        side.list().unregister(&self.place);
        (called, waker)
    }
}

impl Subscriptions {
    /// Before the receiver waits in another way: that one is to be woken. True: one of the places had been called.
    pub(crate) fn step_back(&self, side: impl SharedEnd) -> bool {
        let mut called = self.task.as_ref().is_some_and(|post| post.settle(side));
        if let Some(post) = &self.attached {
            // ORDERING: Relaxed; only a hint, `settle` decides.
            if post.armed.load(Ordering::Relaxed) {
                called |= post.settle(side);
                post.bell(&side).registration().inspect(|registration| registration.raise());
            }
        }
        called
    }

    /// Has the task woken once there may be something for it.
    pub(crate) fn arm_task(&mut self, side: impl SharedEnd, waker: &Waker) {
        let post = self.task.get_or_insert_with(|| Subscription::new(side));
        post.bell(&side).set_waker(waker);
        post.arm(side);
    }

    /// The task has found something after all. True: it had been called.
    pub(crate) fn settle_task(&self, side: impl SharedEnd) -> bool {
        self.task.as_ref().is_some_and(|post| post.settle(side))
    }

    /// From now on the receiver is attached to the set of this registration. A receiver that is attached already refuses:
    /// it stays where it is, and dropping the registration gives the id back.
    pub(crate) fn attach(&mut self, side: impl SharedEnd, registration: Registration) -> Result<(), AttachError> {
        if self.attached.is_some() {
            return Err(AttachError::AlreadyAttached);
        }
        // The channel may hold messages already. If it does not, the receiver finds that out and takes the id down.
        registration.raise();
        let post = Subscription::new(side);
        post.bell(&side).set_registration(registration);
        self.attached = Some(post);
        Ok(())
    }

    /// Looks at what binds the receiver to a set, if it is in one.
    pub(crate) fn with_registration(&self, side: impl SharedEnd, look: &mut dyn FnMut(&Registration)) {
        self.attached
            .as_ref()
            .and_then(|post| post.bell(&side).registration())
            .inspect(|registration| look(registration));
    }

    /// The receiver leaves the set it is attached to, if it is. What it had been told it passes on.
    pub(crate) fn detach(&mut self, side: impl SharedEnd) -> bool {
        let Some(post) = self.attached.take() else { return false };
        if post.leave(side).0 {
            propagate(side);
        }
        true
    }

    /// What an attached receiver does when it finds nothing: takes its id down, arms, and looks once more. True: something
    /// has come meanwhile.
    pub(crate) fn rest(&self, side: impl SharedEnd) -> bool {
        let Some(post) = &self.attached else { return false };
        let Some(registration) = post.bell(&side).registration() else { return false };
        if !registration.is_up() && side.list().is_armed(&post.place) {
            return false;
        }
        // Another thread that shares the receiver is at it: it raises the id if it finds anything.
        // ORDERING: Acquire pairs with the Release below.
        if post.resting.swap(true, Ordering::Acquire) {
            return false;
        }
        // Down first: whoever publishes after the arming will raise it again.
        registration.lower();
        post.arm(side);
        let found = side.is_ready();
        if found {
            post.settle(side);
            registration.raise();
        }
        // ORDERING: Release: one thread lowers at a time.
        post.resting.store(false, Ordering::Release);
        found
    }

    /// The receiver goes, or was made in vain. What it had been told it passes on.
    pub(crate) fn leave(&mut self, side: impl SharedEnd) {
        let places = [self.task.take(), self.attached.take()];
        let left = places.map(|post| post.map_or((false, None), |post| post.leave(side)));
        if left.iter().any(|(called, _)| *called) {
            propagate(side);
        }
        // Dropped when both places have been left: foreign code.
        drop(left);
    }
}
