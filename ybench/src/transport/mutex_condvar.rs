//! A queue behind a mutex, with a condition variable to sleep on: what everybody writes first.
//!
//! ```text
//!   sender thread   lock, push, unlock ----> VecDeque ----> lock, pop, unlock   receiver thread
//!                     \-- notify_one ------> condvar -----> wait (when empty)
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Closed, Traits, Transport, Waits};

pub struct MutexCondvar;

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<usize>,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Sender(Arc<Shared>);
pub struct Receiver(Arc<Shared>);

impl Transport for MutexCondvar {
    const TRAITS: Traits = Traits {
        name: "mutex-condvar",
        about: "A VecDeque behind a mutex, with a condition variable",
        waits: Waits::Sleeps,
        one_by_one: true,
        batches: true,
        works_with_epoll: false,
    };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        let shared = Arc::new(Shared::default());
        Ok((Sender(shared.clone()), Receiver(shared)))
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.0.lock().messages.push_back(message);
        self.0.filled.notify_one();
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        self.0.lock().messages.extend(first..first + count);
        self.0.filled.notify_one();
        Ok(())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.filled.notify_one();
    }
}

impl Receiver {
    #[inline(always)]
    fn filled(&self) -> Result<MutexGuard<'_, Queue>, Closed> {
        let mut queue = self.0.lock();
        while queue.messages.is_empty() {
            if queue.closed {
                return Err(Closed);
            }
            queue = self.0.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(queue)
    }
}

impl super::Receiver for Receiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        self.filled()?.messages.pop_front().ok_or(Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<usize>, max: usize) -> Result<(), Closed> {
        let mut queue = self.filled()?;
        let count = queue.messages.len().min(max);
        into.extend(queue.messages.drain(..count));
        Ok(())
    }
}
