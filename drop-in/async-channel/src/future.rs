//! Futures with names, over those below. None allocates.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use ysuite::mpmc;

use crate::error::{RecvError, SendError};

/// A message that is sent. Made by [`Sender::send`](crate::Sender::send).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Send<'a, T>(mpmc::SendFuture<'a, T>);

/// A message that is received. Made by [`Receiver::recv`](crate::Receiver::recv).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Recv<'a, T>(mpmc::RecvFuture<'a, T>);

/// The close of a channel. Made by [`Sender::closed`](crate::Sender::closed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Closed<'a, T>(ysuite::future::ClosedFuture<'a, mpmc::Sender<T>>);

macro_rules! impl_future {
    ($future:ident, $below:ty, $text:literal, $output:ty, $of:expr) => {
        impl<'a, T> $future<'a, T> {
            pub(crate) fn new(below: $below) -> Self {
                Self(below)
            }
        }

        impl<T> Future for $future<'_, T> {
            type Output = $output;

            #[inline]
            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<$output> {
                Pin::new(&mut self.0).poll(context).map($of)
            }
        }

        impl<T> fmt::Debug for $future<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }
    };
}

impl_future!(Send, mpmc::SendFuture<'a, T>, "Send { .. }", Result<(), SendError<T>>, |sent| {
    sent.map_err(|error| SendError(error.0))
});
impl_future!(Recv, mpmc::RecvFuture<'a, T>, "Recv { .. }", Result<T, RecvError>, |received| received.map_err(|_| RecvError));
impl_future!(Closed, ysuite::future::ClosedFuture<'a, mpmc::Sender<T>>, "Closed { .. }", (), |()| ());
