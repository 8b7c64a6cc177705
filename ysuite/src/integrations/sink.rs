//! Senders as sinks: an adapter, so that `futures`' names and the senders' own do not meet (see
//! `docs/decisions/014-futures-attempt-first-and-sink-adapter.md`). One task at a time; polls are wait-free for a pipe's sender and lock-free for
//! an exchange's.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use futures_sink::Sink;

use crate::channel::{Fed, Feed, SendError};
use crate::foreign::Panics;
use crate::{mpmc, mpsc, spsc};

/// A sender as a `futures_sink::Sink`: `send`, `feed`, `send_all`, `flush` and `close` are those of `SinkExt`, and wait as a
/// task. Made by a sender's `sink`, which borrows it, or `into_sink`.
///
/// ```
/// use futures_util::{SinkExt, StreamExt, stream};
///
/// # let task = async {
/// let (mut sender, receiver) = ysuite::spsc::bounded(4);
/// sender.sink().send(1).await.unwrap();
/// // The sender is at hand again.
/// sender.try_send(2).unwrap();
/// stream::iter([Ok(3), Ok(4)]).forward(sender.into_sink()).await.unwrap();
/// assert_eq!(receiver.collect::<Vec<_>>().await, [1, 2, 3, 4]);
/// # };
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(std::future::Future::poll(std::pin::pin!(task), &mut context).is_ready());
/// ```
///
/// A sender's own `send` is no future, with or without `SinkExt` in scope:
///
/// ```compile_fail,E0277
/// use futures_util::SinkExt;
///
/// async fn tell(mut sender: ysuite::spsc::Sender<u8>) {
///     // `Result` is not a future. Without `.await` it compiles, and blocks all tasks of the thread where there is no room.
///     sender.send(1).await.unwrap();
/// }
/// ```
///
/// ```
/// use futures_util::SinkExt;
///
/// async fn tell(mut sender: ysuite::spsc::Sender<u8>) {
///     sender.send_async(1).await.unwrap();
///     sender.sink().send(2).await.unwrap();
/// }
/// # let (sender, receiver) = ysuite::spsc::unbounded();
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(std::future::Future::poll(std::pin::pin!(tell(sender)), &mut context).is_ready());
/// # assert!(receiver.into_iter().eq([1, 2]));
/// ```
///
/// # What feeding does
///
/// * `spsc`, `mpsc`: a fed message is hidden until the sink is flushed or has no room: what is fed between is a batch.
/// * `mpmc`: it is sent at once, or, where there is no room, kept here until there is, and the sink is not ready meanwhile. So
///   one message more than the bound may be on its way for each sink. Messages of one sink come in their order.
/// * In a [rendezvous](crate::channel#rendezvous) it stands in line at once, and the sink is ready again, and flushed, when a
///   receiver has it.
///
/// # Errors
/// When the receivers are gone or the channel is closed. A message that was fed and cannot be received any more is dropped,
/// and flushing says so: at a pipe's sender as often as it is asked, at an exchange's once. Where the receiver's thread is still
/// dropping older messages of a pipe at that moment, only the next message that is fed is refused. A receiver that goes when it has
/// received all of them is no failure of a flush.
///
/// # Closing
/// Flushes, and ends this sender: a sink that has its sender drops it; one that borrows an `spsc`'s or `mpsc`'s closes it, and
/// one that borrows an `mpmc`'s leaves it as it is, since the channel is not that sender's alone. Afterwards the sink refuses
/// messages.
///
/// # Dropping
/// A sink that is dropped before it was flushed drops the message that waits, if one does. What a pipe's sender hides stays with
/// it. Futures of `SinkExt` are cancel-safe as far as that: a `send` that is dropped may have sent its message, or fed it.
#[must_use = "a sink does nothing unless it is fed"]
pub struct SenderSink<S: Feed> {
    /// `None`: closed.
    sender: Option<S>,
    fed: Fed<S::Message>,
}

macro_rules! sink {
    ($sender:ty) => {
        impl<T> $sender {
            /// This sender as a `futures_sink::Sink`, borrowed.
            pub fn sink(&mut self) -> SenderSink<&mut Self> {
                SenderSink::new(self)
            }

            /// This sender as a `futures_sink::Sink`.
            pub fn into_sink(self) -> SenderSink<Self> {
                SenderSink::new(self)
            }
        }
    };
}

sink!(spsc::Sender<T>);
sink!(mpsc::Sender<T>);
sink!(mpmc::Sender<T>);

impl<S: Feed> SenderSink<S> {
    fn new(sender: S) -> Self {
        Self { sender: Some(sender), fed: Fed::default() }
    }
}

// FINAL: an error of `flush` and `close`: what has been lost stays lost; test: tests/suite/integrations/futures.rs:
//     a_message_that_was_received_was_sent_even_if_the_receiver_is_gone_then
impl<S: Feed> Sink<S::Message> for SenderSink<S> {
    /// Nothing can be received any more.
    type Error = SendError<()>;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        let this = self.get_mut();
        match &mut this.sender {
            Some(sender) => sender.poll_room(&mut this.fed, context),
            None => Poll::Ready(Err(SendError(()))),
        }
    }

    /// # Panics
    /// Without room, that is, without a `poll_ready` that was ready.
    fn start_send(self: Pin<&mut Self>, message: S::Message) -> Result<(), SendError<()>> {
        let this = self.get_mut();
        this.sender.as_mut().ok_or(SendError(()))?.feed(&mut this.fed, message)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        let this = self.get_mut();
        this.sender.as_mut().map_or(Poll::Ready(Ok(())), |sender| sender.poll_shown(&mut this.fed, context))
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        ready!(self.as_mut().poll_flush(context))?;
        if let Some(mut sender) = self.get_mut().sender.take() {
            sender.finish();
        }
        Poll::Ready(Ok(()))
    }
}

// USER CODE: the task's waker, `Drop` of a message that waits, the waker of the next that waits; by `give_up` of
//     `channel/sink.rs` and `channel/mpmc/sink.rs`. The message has left its line, the slot is given up; re-entrance:
//     any operation of another handle; panic: the sender is complete, then it propagates; test:
//     tests/suite/integrations/futures.rs: a_sink_that_goes_takes_what_waits_with_it_and_hands_its_turn_on
impl<S: Feed> Drop for SenderSink<S> {
    fn drop(&mut self) {
        if let Some(sender) = &mut self.sender {
            Panics::in_drop(|| sender.give_up(&mut self.fed));
        }
    }
}

// No message is ever pinned in place.
impl<S: Feed> Unpin for SenderSink<S> {}

impl<S: Feed + fmt::Debug> fmt::Debug for SenderSink<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderSink").field("sender", &self.sender).finish_non_exhaustive()
    }
}
