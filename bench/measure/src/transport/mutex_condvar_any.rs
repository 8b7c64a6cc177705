//! A queue of `Box<dyn Any + Send>` behind a mutex, with a condition variable to sleep on: messages of any type to one
//! thread, as a program without a mailbox has them.
//!
//! ```text
//!   sender thread   box ----> the queue of `mutex_condvar` ----> downcast, out of the box   receiver thread
//! ```

use std::any::Any;
use std::marker::PhantomData;

use super::channels::channels;
use super::mutex_condvar::{self, ends};
use super::{Closed, Message, Traits, ends_by_cloning};

type Boxed = Box<dyn Any + Send>;

pub struct Sender<M, const ALWAYS: bool>(mutex_condvar::Sender<Boxed, ALWAYS>, PhantomData<fn(M)>);
pub struct Receiver<M>(mutex_condvar::Receiver<Boxed>, PhantomData<fn() -> M>);

const COMMON: Traits = Traits { batches: false, variant: true, ..mutex_condvar::COMMON };

channels! {
    /// Notifies at every message.
    Always: "mutex-condvar-any",
        "Box<dyn Any> in a VecDeque behind a mutex, a condition variable notified at every message",
        { ..COMMON }, Sender<M, true>, Receiver<M>, boxed(ends());
    /// Notifies a receiver only after it has said that it sleeps.
    IfAsleep: "condvar-any-asleep",
        "Box<dyn Any> in a VecDeque behind a mutex, a condition variable notified only if the receiver sleeps",
        { ..COMMON }, Sender<M, false>, Receiver<M>, boxed(ends());
}
ends_by_cloning!(both: Always, IfAsleep);

fn boxed<M, const ALWAYS: bool>(
    (sender, receiver): (mutex_condvar::Sender<Boxed, ALWAYS>, mutex_condvar::Receiver<Boxed>),
) -> (Sender<M, ALWAYS>, Receiver<M>) {
    (Sender(sender, PhantomData), Receiver(receiver, PhantomData))
}

impl<M, const ALWAYS: bool> Clone for Sender<M, ALWAYS> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<M> Clone for Receiver<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<M: Message, const ALWAYS: bool> super::Sender<M> for Sender<M, ALWAYS> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        // Before the lock, which is held no longer than for any other message.
        let message: Boxed = Box::new(message);
        self.0.change(|queue| queue.messages.push_back(message));
        Ok(())
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let message = self.0.filled()?.messages.pop_front().ok_or(Closed)?;
        // Nothing else was sent. A message of another type would be a lost message, and is detected as such.
        message.downcast().map(|message| *message).map_err(|_| Closed)
    }
}
