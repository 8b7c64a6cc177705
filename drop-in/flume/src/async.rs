//! Futures, streams and sinks, over the futures below.
//!
//! One that borrows its handle allocates nothing. One that owns it allocates once: where it first waits, it moves the
//! handle to where the future below can borrow it, whatever happens to itself.

use std::fmt;
use std::future::Future;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::future::FusedFuture;
use futures_core::stream::{FusedStream, Stream};
use futures_sink::Sink;
use ysuite::mpmc;

use crate::{Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError};

/// A handle of the future's own, or of its maker.
enum Handle<'a, E> {
    Owned(E),
    /// One of its own, which may be lent to what this future keeps.
    Kept(Arc<E>),
    Ref(&'a E),
}

impl<'a, E: Clone> Handle<'a, E> {
    /// # Safety
    /// What borrows the result is dropped before this is.
    unsafe fn lend(&mut self) -> &'a E {
        if let Self::Owned(handle) = self {
            // A clone, as there is nothing else to put in its place.
            *self = Self::Kept(Arc::new(handle.clone()));
        }
        match self {
            Self::Ref(handle) => handle,
            // SAFETY: it stays where it is until this is dropped: nothing replaces what is kept.
            Self::Kept(handle) => unsafe { &*Arc::as_ptr(handle) },
            Self::Owned(_) => unreachable!("it is kept"),
        }
    }

    /// Whether an attempt is worthwhile before the handle is lent, which would allocate.
    fn is_unlent(&self) -> bool {
        matches!(self, Self::Owned(_))
    }
}

impl<E> std::ops::Deref for Handle<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        match self {
            Self::Owned(handle) => handle,
            Self::Kept(handle) => handle,
            Self::Ref(handle) => handle,
        }
    }
}

impl<E: Clone> Clone for Handle<'_, E> {
    fn clone(&self) -> Self {
        match self {
            Self::Ref(handle) => Self::Ref(handle),
            _ => Self::Owned(E::clone(self)),
        }
    }
}

/// What may borrow the handle beside it. It may be an argument of a function that drops it, and the handle with it: what a
/// reference in an argument borrows must not end before the function does. So no reference is seen here.
struct Borrowing<F>(MaybeUninit<F>);

impl<F> Borrowing<F> {
    fn new(future: F) -> Self {
        Self(MaybeUninit::new(future))
    }

    fn get(&mut self) -> &mut F {
        // SAFETY: made with one, which stays until the drop.
        unsafe { self.0.assume_init_mut() }
    }
}

impl<F> Drop for Borrowing<F> {
    fn drop(&mut self) {
        // SAFETY: as in `get`; nothing uses it afterwards.
        unsafe { self.0.assume_init_drop() };
    }
}

enum Sending<'a, T> {
    New(T),
    Begun(Borrowing<mpmc::SendFuture<'a, T>>),
    Done,
}

/// A message that is sent. Made by [`Sender::send_async`].
#[must_use = "futures/streams/sinks do nothing unless you `.await` or poll them"]
pub struct SendFut<'a, T> {
    /// Before the sender, which it may borrow.
    state: Sending<'a, T>,
    sender: Handle<'a, Sender<T>>,
}

/// A sender as a sink. Made by [`Sender::sink`].
pub struct SendSink<'a, T>(SendFut<'a, T>);

/// A message that is received. Made by [`Receiver::recv_async`].
#[must_use = "futures/streams/sinks do nothing unless you `.await` or poll them"]
pub struct RecvFut<'a, T> {
    /// Before the receiver, which it may borrow.
    wait: Option<Borrowing<mpmc::RecvFuture<'a, T>>>,
    receiver: Handle<'a, Receiver<T>>,
}

/// The messages one by one. Made by [`Receiver::stream`].
pub struct RecvStream<'a, T>(RecvFut<'a, T>);

impl<T> Unpin for SendFut<'_, T> {}
impl<T> Unpin for SendSink<'_, T> {}

impl<T> Sender<T> {
    /// Sends a message; the task waits until there is room.
    pub fn send_async(&self, item: T) -> SendFut<'_, T> {
        SendFut { state: Sending::Begun(Borrowing::new(self.0.send_async(item))), sender: Handle::Ref(self) }
    }

    /// As [`send_async`](Self::send_async), with the sender.
    pub fn into_send_async<'a>(self, item: T) -> SendFut<'a, T> {
        SendFut { state: Sending::New(item), sender: Handle::Owned(self) }
    }

    /// As a sink.
    pub fn sink(&self) -> SendSink<'_, T> {
        SendSink(SendFut { state: Sending::Done, sender: Handle::Ref(self) })
    }

    /// As a sink, with the sender.
    pub fn into_sink<'a>(self) -> SendSink<'a, T> {
        SendSink(SendFut { state: Sending::Done, sender: Handle::Owned(self) })
    }
}

impl<T> Receiver<T> {
    /// Receives a message; the task waits until there is one.
    pub fn recv_async(&self) -> RecvFut<'_, T> {
        RecvFut { wait: None, receiver: Handle::Ref(self) }
    }

    /// As [`recv_async`](Self::recv_async), with the receiver.
    pub fn into_recv_async<'a>(self) -> RecvFut<'a, T> {
        RecvFut { wait: None, receiver: Handle::Owned(self) }
    }

    /// The messages one by one.
    pub fn stream(&self) -> RecvStream<'_, T> {
        RecvStream(self.recv_async())
    }

    /// As [`stream`](Self::stream), with the receiver.
    pub fn into_stream<'a>(self) -> RecvStream<'a, T> {
        RecvStream(self.into_recv_async())
    }
}

/// The queries of the channel that every one of these types has.
macro_rules! impl_queries {
    ($of:ident, |$this:ident| $end:expr) => {
        impl<T> $of<'_, T> {
            /// Whether the other side has disconnected.
            pub fn is_disconnected(&self) -> bool {
                let $this = self;
                $end.is_disconnected()
            }

            /// Whether there is no message.
            pub fn is_empty(&self) -> bool {
                let $this = self;
                $end.is_empty()
            }

            /// Whether there is no room.
            pub fn is_full(&self) -> bool {
                let $this = self;
                $end.is_full()
            }

            /// The number of messages.
            pub fn len(&self) -> usize {
                let $this = self;
                $end.len()
            }

            /// The maximal number of messages, if there is one.
            pub fn capacity(&self) -> Option<usize> {
                let $this = self;
                $end.capacity()
            }
        }

        impl<T> fmt::Debug for $of<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($of)).finish()
            }
        }
    };
}

impl_queries!(SendFut, |this| this.sender);
impl_queries!(SendSink, |this| this.0.sender);
impl_queries!(RecvFut, |this| this.receiver);
impl_queries!(RecvStream, |this| this.0.receiver);

impl<'a, T> SendFut<'a, T> {
    /// Sends a message that has not been tried yet, or begins to. `None`: there is none.
    fn begun(&mut self) -> Option<Result<&mut mpmc::SendFuture<'a, T>, TrySendError<T>>> {
        if let Sending::New(_) = self.state {
            let Sending::New(mut message) = mem::replace(&mut self.state, Sending::Done) else { unreachable!() };
            if self.sender.is_unlent() {
                match self.sender.try_send(message) {
                    Ok(()) => return None,
                    Err(TrySendError::Full(back)) => message = back,
                    disconnected => return disconnected.err().map(Err),
                }
            }
            // SAFETY: the state is dropped before the sender.
            let sender = unsafe { self.sender.lend() };
            self.state = Sending::Begun(Borrowing::new(sender.0.send_async(message)));
        }
        match &mut self.state {
            Sending::Begun(sending) => Some(Ok(sending.get())),
            _ => None,
        }
    }
}

impl<T> Future for SendFut<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = match self.begun() {
            None => return Poll::Ready(Ok(())),
            Some(Err(error)) => return Poll::Ready(Err(SendError(error.into_inner()))),
            Some(Ok(sending)) => Pin::new(sending).poll(context),
        };
        if polled.is_ready() {
            self.state = Sending::Done;
        }
        polled.map_err(SendError::from)
    }
}

impl<T> FusedFuture for SendFut<'_, T> {
    fn is_terminated(&self) -> bool {
        matches!(self.state, Sending::Done) || self.sender.is_disconnected()
    }
}

impl<T> SendSink<'_, T> {
    /// The sender.
    pub fn sender(&self) -> &Sender<T> {
        &self.0.sender
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender().same_channel(other.sender())
    }
}

impl<T> Sink<T> for SendSink<'_, T> {
    type Error = SendError<T>;

    fn poll_ready(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Pin::new(&mut self.0).poll(context)
    }

    fn start_send(mut self: Pin<&mut Self>, item: T) -> Result<(), Self::Error> {
        self.0.state = Sending::New(item);
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Pin::new(&mut self.0).poll(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Clone for SendSink<'_, T> {
    fn clone(&self) -> Self {
        Self(SendFut { state: Sending::Done, sender: self.0.sender.clone() })
    }
}

impl<T> Future for RecvFut<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.receiver.is_unlent() {
            match this.receiver.try_recv() {
                Ok(message) => return Poll::Ready(Ok(message)),
                Err(TryRecvError::Disconnected) => return Poll::Ready(Err(RecvError::Disconnected)),
                Err(TryRecvError::Empty) => {}
            }
        }
        // SAFETY: the wait is dropped before the receiver.
        let wait = this.wait.get_or_insert_with(|| Borrowing::new(unsafe { this.receiver.lend() }.0.recv_async()));
        let polled = Pin::new(wait.get()).poll(context);
        if polled.is_ready() {
            this.wait = None;
        }
        polled.map_err(RecvError::from)
    }
}

impl<T> FusedFuture for RecvFut<'_, T> {
    fn is_terminated(&self) -> bool {
        self.receiver.is_disconnected() && self.receiver.is_empty()
    }
}

impl<T> RecvStream<'_, T> {
    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.0.receiver.same_channel(&other.0.receiver)
    }
}

impl<T> Clone for RecvStream<'_, T> {
    fn clone(&self) -> Self {
        Self(RecvFut { wait: None, receiver: self.0.receiver.clone() })
    }
}

impl<T> Stream for RecvStream<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(context).map(Result::ok)
    }
}

impl<T> FusedStream for RecvStream<'_, T> {
    fn is_terminated(&self) -> bool {
        self.0.is_terminated()
    }
}
