//! The queue of the classic blocking designs: a `VecDeque` behind a `std::sync::Mutex`. `mutex_condvar`, `mutex_spin`
//! and `mutex_eventfd_loop` define how its receivers wait for a message.
//!
//! The lock itself may put either thread to sleep: it spins a little, then waits in a futex for the holder to unlock.
//! The mutex of the standard library does so, here as in C++, and it is part of the cost of these designs.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct MutexQueue<M>(Mutex<Queue<M>>);

/// The data under the lock.
pub(super) struct Queue<M> {
    pub(super) messages: VecDeque<M>,
    /// The number of senders left.
    senders: usize,
    /// The number of receivers that sleep or are about to, and have not been notified yet.
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
