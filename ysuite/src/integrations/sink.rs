//! Senders as sinks. Fed messages are a batch: hidden until the sink is flushed, or full.
//!
//! A sender's own `flush` never waits, and may be used instead of the sink's. Flushing fails from the moment at which fed
//! messages were dropped unreceived; a receiver that is gone is no failure by itself, for it may have received them all.
//!
//! One task at a time. Closing a sink flushes it; the channel is closed when the sender is dropped.

use core::pin::Pin;
use core::task::{Context, Poll};

use futures_sink::Sink;

use crate::channel::SendError;
use crate::{mpsc, spsc};

macro_rules! sink {
    ($sender:ty) => {
        /// Fed messages are hidden until the sink is flushed, or has no room.
        impl<T> Sink<T> for $sender {
            /// The receiver is gone.
            type Error = SendError<()>;

            fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
                let sender = self.get_mut();
                <$sender>::poll_ready(sender, context).map(|()| alive(sender.is_disconnected()))
            }

            /// # Panics
            /// Without room, that is, without a `poll_ready` that was ready.
            fn start_send(self: Pin<&mut Self>, message: T) -> Result<(), SendError<()>> {
                let sender = self.get_mut();
                alive(sender.is_disconnected())?;
                assert!(!sender.is_full(), "start_send without room: poll_ready comes first");
                sender.write(message).map_err(|_| SendError(()))
            }

            /// Fails when fed messages were dropped because the receiver was gone. A receiver that goes after it has
            /// received all of them is no failure.
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
                let sender = self.get_mut();
                sender.flush();
                Poll::Ready(alive(sender.has_lost()))
            }

            fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
                self.poll_flush(context)
            }
        }

        // No message is ever pinned in place.
        impl<T> Unpin for $sender {}
    };
}

fn alive(is_over: bool) -> Result<(), SendError<()>> {
    if is_over { Err(SendError(())) } else { Ok(()) }
}

sink!(spsc::Sender<T>);
sink!(mpsc::Sender<T>);
