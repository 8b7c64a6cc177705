//! Senders as sinks. What is fed is a batch: hidden until the sink is flushed, or full.
//!
//! A sender's own `flush` never waits, and is as good as the sink's. Flushing fails where fed messages have been dropped
//! unreceived, from then on; that the receiver is gone is no failure by itself, for it may have had them all.
//!
//! One task at a time. Closing a sink flushes it; the channel is closed when the sender is dropped.

use core::pin::Pin;
use core::task::{Context, Poll};

use futures_sink::Sink;

use crate::channel::SendError;
use crate::{mpsc, spsc};

macro_rules! sink {
    ($sender:ty) => {
        /// What is fed is hidden until the sink is flushed, or has no room.
        impl<T> Sink<T> for $sender {
            /// The receiver is gone.
            type Error = SendError<()>;

            fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
                let sender = self.get_mut();
                <$sender>::poll_ready(sender, context).map(|()| alive(sender.is_disconnected()))
            }

            /// # Panics
            /// Without room, that is, without a `poll_ready` that said so.
            fn start_send(self: Pin<&mut Self>, message: T) -> Result<(), SendError<()>> {
                let sender = self.get_mut();
                alive(sender.is_disconnected())?;
                assert!(!sender.is_full(), "start_send without room: poll_ready comes first");
                sender.write(message).map_err(|_| SendError(()))
            }

            /// Fails where messages that were fed have been dropped, since the receiver was gone. One that goes with
            /// all of them, or after them, is no failure of theirs.
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
