//! Taking a block, as an operation: of a thread or of a task. One thread at a time for each operation.

use core::cell::Cell;
use core::convert::Infallible;
use core::task::{Context, Poll};

use super::class::{Class, Spare, Taker};
use super::magazine::Entry;
use super::message::Message;
use super::thread_cache;
use crate::foreign::Panics;
use crate::operation::Operation;
use crate::os::Deadline;
use crate::wait::Subscriptions;
use crate::wait::many::{ManyWait, propagate};

/// A message of a pool is taken. Also ends, without one, once `is_stopped`.
#[doc(hidden)]
pub struct PoolTake<'a, S> {
    class: &'a Class,
    len: usize,
    is_stopped: S,
    /// A block that a wait has taken: one that is only seen may be gone before it is taken.
    found: Cell<Option<(Entry, u32)>>,
    /// Of its task.
    slot: Subscriptions,
    /// The slot has been notified, and another waiter is to be if there are more blocks.
    is_notified: bool,
}

impl<'a, S: Fn() -> bool> PoolTake<'a, S> {
    pub(super) fn new(class: &'a Class, len: usize, is_stopped: S) -> Self {
        let (found, slot) = (Cell::new(None), Subscriptions::default());
        Self { class, len, is_stopped, found, slot, is_notified: false }
    }
}

/// Nothing but a block ends the wait.
pub(super) fn never() -> bool {
    false
}

impl<S: Fn() -> bool> Operation for PoolTake<'_, S> {
    type Place = Option<Message>;
    /// Without an error.
    type Outcome = Result<(), Infallible>;

    fn attempt(&mut self, place: &mut Option<Message>) -> Option<Result<(), Infallible>> {
        match self.found.take().or_else(|| thread_cache::take(self.class)) {
            Some(taken) => *place = Some(Message(self.class.issue(taken, self.len))),
            None if (self.is_stopped)() => {}
            None => return None,
        }
        Some(Ok(()))
    }

    // WAITS: `take` and `boxed`, also as a task; ends: a block of the class is given back, or the deadline; spin:
    //     `Adaptive` only, as a pool has no setting; fairness: a thread that comes later may be quicker; test:
    //     tests/suite/pool/waiting.rs: all_waiters_get_their_turn
    fn block(&mut self, deadline: Deadline) -> bool {
        let taker = Taker { class: self.class, found: &self.found, is_stopped: &self.is_stopped };
        // Its drop, after it was notified, notifies the next thread if there are more blocks.
        ManyWait::new(taker, false).block(&self.class.backoff, deadline)
    }

    // USER CODE: `Clone` of the waker, `Drop` of the one it replaces; the slot is not armed; re-entrance: any operation;
    //     panic: propagates; the wait ends: `leave`
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let taker = Taker { class: self.class, found: &self.found, is_stopped: &self.is_stopped };
        self.is_notified |= self.slot.disarm_task(taker);
        if taker.has_ended() {
            return Poll::Ready(());
        }
        self.slot.arm_task(taker, context.waker());
        self.is_notified = false;
        if !taker.has_ended() {
            return Poll::Pending;
        }
        self.is_notified = self.slot.disarm_task(taker);
        Poll::Ready(())
    }

    // USER CODE: `Drop` of the task's waker, and wakers of others that wait for a block; the slot is given up, and a
    //     block that was found is in the pool; re-entrance: any operation; panic: the others are woken; test:
    //     tests/suite/pool/tasks.rs: a_take_that_is_given_up_passes_its_block_on
    fn leave(&mut self) {
        let (spare, mut panics) = (Spare(self.class), Panics::none());
        panics.catch(|| self.slot.unregister(spare));
        if core::mem::take(&mut self.is_notified) {
            panics.catch(|| propagate(spare));
        }
        if let Some((entry, taker)) = self.found.take() {
            panics.catch(|| drop(thread_cache::put(self.class, entry, taker)));
        }
    }
}
