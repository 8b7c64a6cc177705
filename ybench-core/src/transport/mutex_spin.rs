//! A queue behind a mutex whose receiver never sleeps for a message: it locks, looks, unlocks, and looks again. The
//! thread article's fastest design, and the one it advises against.
//!
//! ```text
//!   sender thread   lock, push, unlock ----> VecDeque ----> lock, pop, unlock, again and again   receiver thread
//! ```
//!
//! "Never sleeps" is said of waiting for a message. The lock is the standard library's, as in the article, and whoever
//! finds it held may sleep in it for a moment; with a receiver that locks without end this happens to the sender.

use std::io;
use std::sync::Arc;

use super::mutex_queue::MutexQueue;
use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

pub struct MutexSpin;

pub struct Sender<M>(Arc<MutexQueue<M>>);
pub struct Receiver<M>(Arc<MutexQueue<M>>);

impl Transport for MutexSpin {
    const TRAITS: Traits = Traits {
        name: "mutex-spin",
        about: "A VecDeque behind a mutex, the receiver looking without end",
        waits: Waits::Spins,
        batches: true,
        senders: Ends::Many,
        receivers: Ends::Many,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M>)> {
        let queue = Arc::new(MutexQueue::new());
        Ok((Sender(queue.clone()), Receiver(queue)))
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.lock().messages.push_back(message);
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        self.0.lock().messages.extend((first..first + count).map(M::numbered));
        Ok(())
    }
}

ends_by_cloning!(both: MutexSpin);

impl<M> Clone for Sender<M> {
    fn clone(&self) -> Self {
        self.0.lock().come();
        Self(self.0.clone())
    }
}

impl<M> Drop for Sender<M> {
    fn drop(&mut self) {
        self.0.lock().go();
    }
}

impl<M> Clone for Receiver<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            let mut queue = self.0.lock();
            match queue.messages.pop_front() {
                Some(message) => return Ok(message),
                None if queue.closed() => return Err(Closed),
                None => drop(queue),
            }
            std::hint::spin_loop();
        }
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        let before = into.len();
        loop {
            let mut queue = self.0.lock();
            queue.take(into, max);
            match into.len() > before {
                true => return Ok(()),
                false if queue.closed() => return Err(Closed),
                false => drop(queue),
            }
            std::hint::spin_loop();
        }
    }
}
