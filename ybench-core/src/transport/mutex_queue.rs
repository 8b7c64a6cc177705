//! The queue of the classic blocking designs: a `VecDeque` behind a `std::sync::Mutex`. How its receivers wait for a
//! message is the business of `mutex_condvar`, `mutex_spin` and `mutex_eventfd_loop`.
//!
//! The lock itself may put either thread to sleep: it looks a little, then waits in a futex for the holder to unlock.
//! That is what the mutex of the standard library does, here as in C++, and part of what these designs cost.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct MutexQueue<M>(Mutex<Queue<M>>);

/// What the lock guards.
pub(super) struct Queue<M> {
    pub(super) messages: VecDeque<M>,
    /// How many senders there are still.
    senders: usize,
    /// How many receivers are about to sleep, or asleep, and will not yet be woken by anybody.
    pub(super) asleep: usize,
}

impl<M> MutexQueue<M> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Queue { messages: VecDeque::new(), senders: 1, asleep: 0 }))
    }

    #[inline(always)]
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Queue<M> {
    pub(super) fn closed(&self) -> bool {
        self.senders == 0
    }

    pub(super) fn come(&mut self) {
        self.senders += 1;
    }

    pub(super) fn go(&mut self) {
        self.senders -= 1;
    }

    /// Moves the first messages, `max` at most, to the end of `into`.
    pub(super) fn take(&mut self, into: &mut Vec<M>, max: usize) {
        let count = self.messages.len().min(max);
        into.extend(self.messages.drain(..count));
    }
}
