//! A queue behind a mutex, with a condition variable to sleep on: what everybody writes first.
//!
//! ```text
//!   sender thread   lock, push, unlock ----> VecDeque ----> lock, pop, unlock   receiver thread
//!                     \-- notify_one ------> condvar -----> wait (when empty)
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Closed, Message, Traits, Transport, Waits};

pub struct MutexCondvar;

struct Shared<M> {
    queue: Mutex<Queue<M>>,
    filled: Condvar,
}

struct Queue<M> {
    messages: VecDeque<M>,
    closed: bool,
}

impl<M> Shared<M> {
    fn lock(&self) -> MutexGuard<'_, Queue<M>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Sender<M>(Arc<Shared<M>>);
pub struct Receiver<M>(Arc<Shared<M>>);

impl Transport for MutexCondvar {
    const TRAITS: Traits = Traits {
        name: "mutex-condvar",
        about: "A VecDeque behind a mutex, with a condition variable",
        waits: Waits::Sleeps,
        batches: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M>)> {
        let queue = Mutex::new(Queue { messages: VecDeque::new(), closed: false });
        let shared = Arc::new(Shared { queue, filled: Condvar::new() });
        Ok((Sender(shared.clone()), Receiver(shared)))
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.lock().messages.push_back(message);
        self.0.filled.notify_one();
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        self.0.lock().messages.extend((first..first + count).map(M::numbered));
        self.0.filled.notify_one();
        Ok(())
    }
}

impl<M> Drop for Sender<M> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.filled.notify_one();
    }
}

impl<M> Receiver<M> {
    #[inline(always)]
    fn filled(&self) -> Result<MutexGuard<'_, Queue<M>>, Closed> {
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

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.filled()?.messages.pop_front().ok_or(Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        let mut queue = self.filled()?;
        let count = queue.messages.len().min(max);
        into.extend(queue.messages.drain(..count));
        Ok(())
    }
}
