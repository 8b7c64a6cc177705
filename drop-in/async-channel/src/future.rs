//! Futures with names, over those below, which have none.
//!
//! A future that has to wait keeps the one below in a box. `Send` and `Sync` follow from the types of the messages, as
//! in the original.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use ysuite::mpmc;

use crate::error::{RecvError, SendError};

type Sent<T> = Result<(), SendError<T>>;
type Waiting<'a, O> = Pin<Box<dyn Future<Output = O> + 'a>>;

/// A wait below. It is `Send` and `Sync` where its end is.
struct Wait<'a, E, O> {
    future: Waiting<'a, O>,
    /// The end that the future borrows.
    _end: &'a E,
}

// SAFETY: the future is one of the `mpmc` end `E`: it has a reference to the end, at most one message, and its place in
// the channel's list of waiters, which the end shares with all threads. Such an end is `Sync` where its messages are
// `Send`; no future here has anything else.
unsafe impl<E: Sync, O> std::marker::Send for Wait<'_, E, O> {}
// SAFETY: by shared reference nothing can be done with it.
unsafe impl<E: Sync, O> Sync for Wait<'_, E, O> {}

impl<'a, E, O> Wait<'a, E, O> {
    fn poll_of(
        wait: &mut Option<Self>,
        end: &'a E,
        begin: impl FnOnce(&'a E) -> Waiting<'a, O>,
        context: &mut Context<'_>,
    ) -> Poll<O> {
        let wait = wait.get_or_insert_with(|| Self { future: begin(end), _end: end });
        wait.future.as_mut().poll(context)
    }
}

macro_rules! impl_future {
    ($future:ident, $text:literal) => {
        impl<T> Unpin for $future<'_, T> {}

        impl<T> fmt::Debug for $future<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }
    };
}

impl_future!(Send, "Send { .. }");
impl_future!(Recv, "Recv { .. }");
impl_future!(Closed, "Closed { .. }");

/// A message that is sent. Made by [`Sender::send`](crate::Sender::send).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Send<'a, T> {
    sender: &'a mpmc::Sender<T>,
    message: Option<T>,
    wait: Option<Wait<'a, mpmc::Sender<T>, Sent<T>>>,
}

/// A message that is received. Made by [`Receiver::recv`](crate::Receiver::recv).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Recv<'a, T> {
    receiver: &'a mpmc::Receiver<T>,
    wait: Option<Wait<'a, mpmc::Receiver<T>, Result<T, RecvError>>>,
}

/// The end of a channel. Made by [`Sender::closed`](crate::Sender::closed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Closed<'a, T> {
    sender: &'a mpmc::Sender<T>,
    wait: Option<Wait<'a, mpmc::Sender<T>, ()>>,
}

impl<'a, T> Send<'a, T> {
    pub(crate) fn new(sender: &'a mpmc::Sender<T>, message: T) -> Self {
        Self { sender, message: Some(message), wait: None }
    }
}

impl<'a, T> Recv<'a, T> {
    pub(crate) fn new(receiver: &'a mpmc::Receiver<T>) -> Self {
        Self { receiver, wait: None }
    }
}

impl<'a, T> Closed<'a, T> {
    pub(crate) fn new(sender: &'a mpmc::Sender<T>) -> Self {
        Self { sender, wait: None }
    }
}

impl<T> Future for Send<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(message) = this.message.take() {
            match this.sender.try_send(message) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(ysuite::TrySendError::Disconnected(message)) => {
                    return Poll::Ready(Err(SendError(message)));
                }
                Err(ysuite::TrySendError::Full(message)) => {
                    let sender = this.sender;
                    let future =
                        Box::pin(async move { sender.send_async(message).await.map_err(|back| SendError(back.0)) });
                    this.wait = Some(Wait { future, _end: sender });
                }
            }
        }
        let wait = this.wait.as_mut().expect("polled after it was ready");
        wait.future.as_mut().poll(context)
    }
}

fn received<T>(receiver: &mpmc::Receiver<T>) -> Waiting<'_, Result<T, RecvError>> {
    Box::pin(async move { receiver.recv_async().await.map_err(|_| RecvError) })
}

impl<T> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.wait.is_none() {
            match this.receiver.try_recv() {
                Ok(message) => return Poll::Ready(Ok(message)),
                Err(ysuite::TryRecvError::Disconnected) => return Poll::Ready(Err(RecvError)),
                Err(ysuite::TryRecvError::Empty) => {}
            }
        }
        Wait::poll_of(&mut this.wait, this.receiver, received, context)
    }
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.wait.is_none() && this.sender.is_disconnected() {
            return Poll::Ready(());
        }
        Wait::poll_of(&mut this.wait, this.sender, |sender| Box::pin(sender.closed()), context)
    }
}
