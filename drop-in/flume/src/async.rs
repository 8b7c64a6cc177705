//! Futures, streams and sinks.
//!
//! Each begins with a try. One that has to wait keeps the future of the end below in a box. One that owns its end
//! clones it for that time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::future::FusedFuture;
use futures_core::stream::{FusedStream, Stream};
use futures_sink::Sink;

use crate::{Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError};

/// An end of the future's own, or of its maker.
enum OwnedOrRef<'a, E> {
    Owned(E),
    Ref(&'a E),
}

impl<E> std::ops::Deref for OwnedOrRef<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        match self {
            Self::Owned(end) => end,
            Self::Ref(end) => end,
        }
    }
}

impl<E: Clone> Clone for OwnedOrRef<'_, E> {
    fn clone(&self) -> Self {
        match self {
            Self::Owned(end) => Self::Owned(end.clone()),
            Self::Ref(end) => Self::Ref(end),
        }
    }
}

/// A wait below, of an end `E`. It is `Send` and `Sync` where that is.
struct Wait<'a, E, O> {
    future: Pin<Box<dyn Future<Output = O> + 'a>>,
    of: std::marker::PhantomData<fn() -> E>,
}

// SAFETY: the future is one of an end `E` of ysuite's: it has the end or a reference to it, at most one message, and its
// place in the channel's list of waiters, which the end shares with all threads. An end is `Sync`, and `Send`, where its
// messages are `Send`; no future here has anything else.
unsafe impl<E: Sync + Send, O> Send for Wait<'_, E, O> {}
// SAFETY: by shared reference nothing can be done with it.
unsafe impl<E: Sync + Send, O> Sync for Wait<'_, E, O> {}

impl<'a, E, O> Wait<'a, E, O> {
    fn new(future: impl Future<Output = O> + 'a) -> Self {
        Self { future: Box::pin(future), of: std::marker::PhantomData }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<O> {
        self.future.as_mut().poll(context)
    }
}

enum Sending<'a, T> {
    New(T),
    Waiting(Wait<'a, Sender<T>, Result<(), SendError<T>>>),
    Done,
}

/// A message that is sent. Made by [`Sender::send_async`].
#[must_use = "futures/streams/sinks do nothing unless you `.await` or poll them"]
pub struct SendFut<'a, T> {
    sender: OwnedOrRef<'a, Sender<T>>,
    state: Sending<'a, T>,
}

/// A sender as a sink. Made by [`Sender::sink`].
pub struct SendSink<'a, T>(SendFut<'a, T>);

/// A message that is received. Made by [`Receiver::recv_async`].
#[must_use = "futures/streams/sinks do nothing unless you `.await` or poll them"]
pub struct RecvFut<'a, T> {
    receiver: OwnedOrRef<'a, Receiver<T>>,
    wait: Option<Wait<'a, Receiver<T>, Result<T, RecvError>>>,
}

/// The messages one by one. Made by [`Receiver::stream`].
pub struct RecvStream<'a, T>(RecvFut<'a, T>);

impl<T> Unpin for SendFut<'_, T> {}
impl<T> Unpin for SendSink<'_, T> {}

impl<T> Sender<T> {
    /// Sends a message; the task waits until there is room.
    pub fn send_async(&self, item: T) -> SendFut<'_, T> {
        SendFut { sender: OwnedOrRef::Ref(self), state: Sending::New(item) }
    }

    /// As [`send_async`](Self::send_async), with the sender.
    pub fn into_send_async<'a>(self, item: T) -> SendFut<'a, T> {
        SendFut { sender: OwnedOrRef::Owned(self), state: Sending::New(item) }
    }

    /// As a sink.
    pub fn sink(&self) -> SendSink<'_, T> {
        SendSink(SendFut { sender: OwnedOrRef::Ref(self), state: Sending::Done })
    }

    /// As a sink, with the sender.
    pub fn into_sink<'a>(self) -> SendSink<'a, T> {
        SendSink(SendFut { sender: OwnedOrRef::Owned(self), state: Sending::Done })
    }
}

impl<T> Receiver<T> {
    /// Receives a message; the task waits until there is one.
    pub fn recv_async(&self) -> RecvFut<'_, T> {
        RecvFut { receiver: OwnedOrRef::Ref(self), wait: None }
    }

    /// As [`recv_async`](Self::recv_async), with the receiver.
    pub fn into_recv_async<'a>(self) -> RecvFut<'a, T> {
        RecvFut { receiver: OwnedOrRef::Owned(self), wait: None }
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

impl<'a, T> Future for SendFut<'a, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if matches!(this.state, Sending::New(_)) {
            let Sending::New(message) = std::mem::replace(&mut this.state, Sending::Done) else { unreachable!() };
            match this.sender.try_send(message) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(TrySendError::Disconnected(message)) => return Poll::Ready(Err(SendError(message))),
                Err(TrySendError::Full(message)) => {
                    let sender = this.sender.clone();
                    let sending = async move { Ok(sender.0.send_async(message).await?) };
                    this.state = Sending::Waiting(Wait::new(sending));
                }
            }
        }
        let Sending::Waiting(wait) = &mut this.state else { return Poll::Ready(Ok(())) };
        let polled = wait.poll(context);
        if polled.is_ready() {
            this.state = Sending::Done;
        }
        polled
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
        Self(SendFut { sender: self.0.sender.clone(), state: Sending::Done })
    }
}

impl<'a, T> Future for RecvFut<'a, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.wait.is_none() {
            match this.receiver.try_recv() {
                Ok(message) => return Poll::Ready(Ok(message)),
                Err(TryRecvError::Disconnected) => return Poll::Ready(Err(RecvError::Disconnected)),
                Err(TryRecvError::Empty) => {}
            }
        }
        let receiver = &this.receiver;
        let wait = this.wait.get_or_insert_with(|| {
            let receiver = receiver.clone();
            Wait::new(async move { Ok(receiver.0.recv_async().await?) })
        });
        let polled = wait.poll(context);
        if polled.is_ready() {
            this.wait = None;
        }
        polled
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
        Self(RecvFut { receiver: self.0.receiver.clone(), wait: None })
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
