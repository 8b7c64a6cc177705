//! The interface of `async-channel` 2 over [`ysuite::mpmc`], for programs that were written for it.
//!
//! Each method is one of the end below, from any thread. No future allocates.
//!
//! Cannot: run without `std`.
//!
//! [`Ysuite`] gives the end below, with all that it can do besides.

mod error;
mod future;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use ysuite::mpmc;

pub use ysuite;

pub use self::error::{RecvError, SendError, TryRecvError, TrySendError};
pub use self::future::{Closed, Recv, Send};

/// The sending side. When the last is dropped the channel is closed.
pub struct Sender<T>(mpmc::Sender<T>);

/// The receiving side, and a stream. When the last is dropped the channel is closed.
pub struct Receiver<T>(mpmc::Receiver<T>);

/// A sender that keeps no channel open.
pub struct WeakSender<T>(mpmc::WeakSender<T>);

/// A receiver that keeps no channel open.
pub struct WeakReceiver<T>(mpmc::WeakReceiver<T>);

/// Makes a channel for at most `cap` messages.
///
/// # Panics
/// When `cap` is 0.
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    assert!(cap > 0, "capacity cannot be zero");
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

/// What both sides have.
macro_rules! impl_end {
    ($end:ident, $weak:ident, $text:literal, $weak_text:literal) => {
        impl<T> $end<T> {
            /// Closes the channel. True: it was open.
            pub fn close(&self) -> bool {
                self.0.close()
            }

            /// Whether the channel is closed.
            pub fn is_closed(&self) -> bool {
                self.0.is_disconnected() || self.0.sender_count() == 0 || self.0.receiver_count() == 0
            }

            /// Whether there is no message.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Whether there is no room.
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

            /// The number of receivers.
            pub fn receiver_count(&self) -> usize {
                self.0.receiver_count()
            }

            /// The number of senders.
            pub fn sender_count(&self) -> usize {
                self.0.sender_count()
            }

            /// A handle that keeps no channel open.
            pub fn downgrade(&self) -> $weak<T> {
                $weak(self.0.downgrade())
            }

            /// Whether both belong to the same channel.
            pub fn same_channel(&self, other: &$end<T>) -> bool {
                self.0.same_channel(&other.0)
            }
        }

        impl<T> $weak<T> {
            /// `None` where the channel is closed.
            pub fn upgrade(&self) -> Option<$end<T>> {
                self.0.upgrade().map($end).filter(|end| !end.is_closed())
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

        impl_common!($end, $text);
        impl_common!($weak, $weak_text);
    };
}

macro_rules! impl_common {
    ($end:ident, $text:literal) => {
        impl<T> Clone for $end<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }
    };
}

impl_end!(Sender, WeakSender, "Sender { .. }", "WeakSender { .. }");
impl_end!(Receiver, WeakReceiver, "Receiver { .. }", "WeakReceiver { .. }");

impl<T> Sender<T> {
    /// Sends a message if there is room.
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

    /// Sends a message; the task waits until there is room.
    pub fn send(&self, msg: T) -> Send<'_, T> {
        Send::new(self.0.send_async(msg))
    }

    /// Waits until the channel is closed.
    pub fn closed(&self) -> Closed<'_, T> {
        Closed::new(self.0.closed())
    }

    /// Sends a message; blocks until there is room.
    pub fn send_blocking(&self, msg: T) -> Result<(), SendError<T>> {
        self.0.send(msg).map_err(|error| SendError(error.0))
    }

    /// Sends a message; where there is no room it replaces the oldest, which is returned.
    pub fn force_send(&self, msg: T) -> Result<Option<T>, SendError<T>> {
        self.0.force_send(msg).map_err(|error| SendError(error.0))
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

    /// Receives a message; the task waits until there is one.
    pub fn recv(&self) -> Recv<'_, T> {
        Recv::new(self.0.recv_async())
    }

    /// Receives a message; blocks until there is one.
    pub fn recv_blocking(&self) -> Result<T, RecvError> {
        self.0.recv().map_err(|_| RecvError)
    }
}

impl<T> Stream for Receiver<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(context).map(Result::ok)
    }
}

impl<T> FusedStream for Receiver<T> {
    fn is_terminated(&self) -> bool {
        self.is_closed() && self.is_empty()
    }
}
