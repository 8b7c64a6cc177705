//! A queue behind a mutex without notification: the receiver locks, checks, unlocks, and checks again. What it does
//! between two polls makes three transports: nothing, which is the thread article's fastest design and the one it
//! advises against; yielding; and sleeping for the shortest possible time.
//!
//! ```text
//!   sender thread   lock, push, unlock ----> VecDeque ----> lock, pop, unlock, again and again   receiver thread
//! ```
//!
//! "Never sleeps" is about waiting for a message. The lock is the standard library's, as in the article. A thread that
//! finds it held may sleep in it for a moment. With a receiver that locks without end this happens to the sender.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::mutex_queue::MutexQueue;
use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

/// The receiver's action between two polls.
pub trait Between: Send + 'static {
    /// The properties of the transport.
    const TRAITS: Traits;
    fn looks();
}

const COMMON: Traits = Traits { batches: true, senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };

pub struct Pause;
pub struct Yield;
pub struct Usleep;

impl Between for Pause {
    const TRAITS: Traits = Traits {
        name: "mutex-spin",
        about: "A VecDeque behind a mutex, the receiver polling without end",
        waits: Waits::Spins,
        ..COMMON
    };

    #[inline(always)]
    fn looks() {
        std::hint::spin_loop();
    }
}

impl Between for Yield {
    const TRAITS: Traits = Traits {
        name: "mutex-yield",
        about: "A VecDeque behind a mutex, the receiver yielding between two polls (sched_yield)",
        waits: Waits::Yields,
        variant: true,
        ..COMMON
    };

    #[inline(always)]
    fn looks() {
        std::thread::yield_now();
    }
}

impl Between for Usleep {
    const TRAITS: Traits = Traits {
        name: "mutex-usleep",
        about: "A VecDeque behind a mutex, the receiver asking for a sleep of 1 us between two polls (usleep)",
        waits: Waits::Sleeps,
        variant: true,
        ..COMMON
    };

    #[inline(always)]
    fn looks() {
        std::thread::sleep(Duration::from_micros(1));
    }
}

pub struct Looking<B>(PhantomData<B>);

pub struct Sender<M>(Arc<MutexQueue<M>>);
pub struct Receiver<M, B>(Arc<MutexQueue<M>>, PhantomData<B>);

impl<B: Between> Transport for Looking<B> {
    const TRAITS: Traits = B::TRAITS;
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, B>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M, B>)> {
        let queue = Arc::new(MutexQueue::new());
        Ok((Sender(queue.clone()), Receiver(queue, PhantomData)))
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

ends_by_cloning!(both: Looking<Pause>, Looking<Yield>, Looking<Usleep>);

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

impl<M, B> Clone for Receiver<M, B> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<M: Message, B: Between> super::Receiver<M> for Receiver<M, B> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            let mut queue = self.0.lock();
            match queue.messages.pop_front() {
                Some(message) => return Ok(message),
                None if queue.closed() => return Err(Closed),
                None => drop(queue),
            }
            B::looks();
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
            B::looks();
        }
    }
}
