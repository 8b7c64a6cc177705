//! Senders as sinks. What is fed is a batch: hidden until the sink is flushed, or full.
//!
//! A sender's own `flush` never waits, and is as good as the sink's.
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
                if <$sender>::poll_ready(sender, context).is_pending() {
                    // What is hidden must go out, or it would wait for room that only it takes.
                    sender.flush();
                    return Poll::Pending;
                }
                Poll::Ready(alive(sender.is_disconnected()))
            }

            /// # Panics
            /// Without room, that is, without a `poll_ready` that said so.
            fn start_send(self: Pin<&mut Self>, message: T) -> Result<(), SendError<()>> {
                let sender = self.get_mut();
                assert!(
                    sender.is_disconnected() || !sender.is_full(),
                    "start_send without room: poll_ready comes first"
                );
                sender.write(message).map_err(|_| SendError(()))
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
                let sender = self.get_mut();
                sender.flush();
                Poll::Ready(alive(sender.is_disconnected()))
            }

            fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
                self.poll_flush(context)
            }
        }

        // No message is ever pinned in place.
        impl<T> Unpin for $sender {}
    };
}

fn alive(is_disconnected: bool) -> Result<(), SendError<()>> {
    if is_disconnected { Err(SendError(())) } else { Ok(()) }
}

sink!(spsc::Sender<T>);
sink!(mpsc::Sender<T>);
