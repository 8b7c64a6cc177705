//! The queue of the classic blocking designs: a `VecDeque` behind a `std::sync::Mutex`. How its receiver waits for a
//! message is the business of `mutex_condvar` and `mutex_spin`.
//!
//! The lock itself may put either thread to sleep: it looks a little, then waits in a futex for the holder to unlock.
//! That is what the mutex of the standard library does, here as in C++, and part of what these designs cost.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct MutexQueue<M>(Mutex<Queue<M>>);

/// What the lock guards.
pub(super) struct Queue<M> {
    pub(super) messages: VecDeque<M>,
    /// Set by a sender that goes away.
    pub(super) closed: bool,
    /// Set by a receiver that is about to sleep, and taken by whoever is going to wake it.
    pub(super) asleep: bool,
}

impl<M> MutexQueue<M> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Queue { messages: VecDeque::new(), closed: false, asleep: false }))
    }

    #[inline(always)]
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Queue<M> {
    /// Moves the first messages, `max` at most, to the end of `into`.
    pub(super) fn take(&mut self, into: &mut Vec<M>, max: usize) {
        let count = self.messages.len().min(max);
        into.extend(self.messages.drain(..count));
    }
}
