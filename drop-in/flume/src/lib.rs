//! The interface of `flume` 0.11 and 0.12 over [`ysuite::mpmc`], for programs that were written for it. Both versions
//! have the same.
//!
//! Each method is one of the end below, from any thread. A future that has to wait allocates once, because its type has
//! a name here and none there. One that finds what it wants at its first poll allocates nothing.
//!
//! Cannot: move the message of a waiting `send_async` into room that a receiver has made. The original's receiver does
//! so, whether or not that future is polled again; here the future is woken, and sends when it is polled.
//!
//! [`Ysuite`] gives the end below, with all that it can do besides.

pub mod r#async;
mod error;
mod iter;
pub mod select;

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use ysuite::mpmc;

pub use ysuite;

pub use self::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use self::iter::{Drain, IntoIter, Iter, TryIter};
pub use self::select::Selector;

/// The sending side of a channel. Clones send to the same channel.
pub struct Sender<T>(mpmc::Sender<T>);

/// The receiving side of a channel. Each message goes to one of its clones.
pub struct Receiver<T>(mpmc::Receiver<T>);

/// A sender that keeps no channel connected.
pub struct WeakSender<T>(mpmc::WeakSender<T>);

/// Makes a channel for at most `cap` messages. With 0 messages go from hand to hand.
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpmc::bounded(cap);
    (Sender(sender), Receiver(receiver))
}

/// Makes a channel without a bound.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpmc::unbounded();
    (Sender(sender), Receiver(receiver))
}

/// The end below: for its descriptor, its batches, its statistics, and whatever else [`ysuite`] has.
pub trait Ysuite {
    /// The end of a [`ysuite::mpmc`].
    type End;
    /// That end.
    fn ysuite(&self) -> &Self::End;
    /// As [`ysuite`](Self::ysuite), for what needs the end alone: to attach it to a set of signals.
    fn ysuite_mut(&mut self) -> &mut Self::End;
}

/// What both sides have. `$count`: of the other side.
macro_rules! impl_end {
    ($end:ident, $count:ident) => {
        impl<T> $end<T> {
            /// Whether the other side has disconnected.
            pub fn is_disconnected(&self) -> bool {
                self.0.$count() == 0
            }

            /// Whether there is no message. Always, with a capacity of 0.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Whether there is no room. Always, with a capacity of 0.
            pub fn is_full(&self) -> bool {
                self.0.is_full()
            }

            /// The number of messages.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// The maximal number of messages, if there is one.
            pub fn capacity(&self) -> Option<usize> {
                self.0.capacity()
            }

            /// The number of senders.
            pub fn sender_count(&self) -> usize {
                self.0.sender_count()
            }

            /// The number of receivers.
            pub fn receiver_count(&self) -> usize {
                self.0.receiver_count()
            }

            /// Whether both belong to the same channel.
            pub fn same_channel(&self, other: &$end<T>) -> bool {
                self.0.same_channel(&other.0)
            }
        }

        impl<T> Ysuite for $end<T> {
            type End = mpmc::$end<T>;

            fn ysuite(&self) -> &mpmc::$end<T> {
                &self.0
            }

            fn ysuite_mut(&mut self) -> &mut mpmc::$end<T> {
                &mut self.0
            }
        }

        impl_common!($end);
    };
}

macro_rules! impl_common {
    ($end:ident) => {
        impl<T> Clone for $end<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($end)).finish()
            }
        }
    };
}

impl_end!(Sender, receiver_count);
impl_end!(Receiver, sender_count);
impl_common!(WeakSender);

impl<T> Sender<T> {
    /// Sends a message if there is room, or in a channel of capacity 0 a receiver that waits.
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        let mut msg = msg;
        loop {
            match self.0.try_send(msg) {
                // A preempted receiver has its hands on the next cell: the original never says that this is full.
                Err(ysuite::TrySendError::Full(back)) if !self.0.is_full() => msg = back,
                sent => return Ok(sent?),
            }
            thread::yield_now();
        }
    }

    /// Sends a message; blocks until there is room, or in a channel of capacity 0 until a receiver has it.
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        Ok(self.0.send(msg)?)
    }

    /// As [`send`](Self::send), until `deadline` at most.
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        Ok(self.0.send_deadline(msg, deadline)?)
    }

    /// As [`send`](Self::send), for at most `dur`.
    pub fn send_timeout(&self, msg: T, dur: Duration) -> Result<(), SendTimeoutError<T>> {
        Ok(self.0.send_timeout(msg, dur)?)
    }

    /// A sender that keeps no channel connected.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(self.0.downgrade())
    }
}

impl<T> WeakSender<T> {
    /// `None` where all senders have been dropped.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender)
    }
}

impl<T> Receiver<T> {
    /// Receives a message if there is one.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        loop {
            match self.0.try_recv() {
                // As in `try_send`, of a preempted sender.
                Err(ysuite::TryRecvError::Empty) if !self.0.is_empty() => thread::yield_now(),
                received => return Ok(received?),
            }
        }
    }

    /// Receives a message; blocks until there is one.
    pub fn recv(&self) -> Result<T, RecvError> {
        Ok(self.0.recv()?)
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        Ok(self.0.recv_deadline(deadline)?)
    }

    /// As [`recv`](Self::recv), for at most `dur`.
    pub fn recv_timeout(&self, dur: Duration) -> Result<T, RecvTimeoutError> {
        Ok(self.0.recv_timeout(dur)?)
    }
}
