//! A queue behind a mutex, with a condition variable to sleep on: the usual first implementation, and the thread
//! article's balanced design.
//!
//! ```text
//!   sender thread   lock, push, unlock ----> VecDeque ----> lock, pop, unlock   receiver thread
//!                     \-- notify_one ------> condvar -----> wait (when empty)
//! ```
//!
//! Rust's `notify_one` makes a system call even without a waiter. The C++ one of the article first checks for a waiter.
//! So there are two: one that notifies at every message, as most programs do, and one whose receiver says under the
//! lock that it is going to sleep, and only then is notified: the article's "if it suspects that the partner may be
//! sleeping".

use std::sync::{Arc, Condvar, MutexGuard, PoisonError};

use super::channels::channels;
use super::mutex_queue::{MutexQueue, Queue};
use super::{Closed, Ends, Message, Traits, Waits, ends_by_cloning};

struct Shared<M> {
    queue: MutexQueue<M>,
    filled: Condvar,
}

pub struct Sender<M, const ALWAYS: bool>(Arc<Shared<M>>);
pub struct Receiver<M>(Arc<Shared<M>>);

pub(super) const COMMON: Traits =
    Traits { waits: Waits::Sleeps, batches: true, senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };

pub(super) fn ends<M, const ALWAYS: bool>() -> (Sender<M, ALWAYS>, Receiver<M>) {
    let shared = Arc::new(Shared { queue: MutexQueue::new(), filled: Condvar::new() });
    (Sender(shared.clone()), Receiver(shared))
}

channels! {
    /// Notifies at every message.
    Always: "mutex-condvar", "A VecDeque behind a mutex, with a condition variable notified at every message",
        { ..COMMON }, Sender<M, true>, Receiver<M>, ends();
    /// Notifies a receiver only after it has said that it sleeps.
    IfAsleep: "mutex-condvar-asleep",
        "A VecDeque behind a mutex, with a condition variable notified only when the receiver has gone to sleep",
        { ..COMMON }, Sender<M, false>, Receiver<M>, ends();
}
ends_by_cloning!(both: Always, IfAsleep);

impl<M, const ALWAYS: bool> Sender<M, ALWAYS> {
    /// Changes the queue, then wakes the thread that waits for the change.
    #[inline(always)]
    pub(super) fn change(&self, change: impl FnOnce(&mut Queue<M>)) {
        let mut queue = self.0.queue.lock();
        change(&mut queue);
        let asleep = queue.asleep;
        let all = queue.closed();
        queue.asleep = if all { 0 } else { asleep.saturating_sub(1) };
        drop(queue);
        match (all, ALWAYS || asleep > 0) {
            (true, _) => self.0.filled.notify_all(),
            (false, true) => self.0.filled.notify_one(),
            (false, false) => {}
        }
    }
}

impl<M: Message, const ALWAYS: bool> super::Sender<M> for Sender<M, ALWAYS> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.change(|queue| queue.messages.push_back(message));
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        self.change(|queue| queue.messages.extend((first..first + count).map(M::numbered)));
        Ok(())
    }
}

impl<M, const ALWAYS: bool> Clone for Sender<M, ALWAYS> {
    fn clone(&self) -> Self {
        self.0.queue.lock().come();
        Self(self.0.clone())
    }
}

impl<M, const ALWAYS: bool> Drop for Sender<M, ALWAYS> {
    fn drop(&mut self) {
        self.change(Queue::go);
    }
}

impl<M> Clone for Receiver<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Receiver<M> {
    #[inline(always)]
    pub(super) fn filled(&self) -> Result<MutexGuard<'_, Queue<M>>, Closed> {
        let mut queue = self.0.queue.lock();
        while queue.messages.is_empty() {
            if queue.closed() {
                return Err(Closed);
            }
            // Said again after each wake-up: the notifying thread clears it.
            queue.asleep += 1;
            queue = self.0.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(queue)
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.filled()?.messages.pop_front().ok_or(Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        self.filled()?.take(into, max);
        Ok(())
    }
}
