//! Senders as sinks: an adapter, so that the names of `futures` and of the senders do not conflict (see
//! `docs/decisions/014-futures-attempt-first-and-sink-adapter.md`). One task at a time. Polls are wait-free for a
//! sender of an `spsc` or `mpsc`, and lock-free for a sender of an `mpmc` or `broadcast`.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use futures_sink::Sink;

use crate::channel::{Fed, Feed, SendError};
use crate::foreign::Panics;

/// A sender as a `futures_sink::Sink`: `send`, `feed`, `send_all`, `flush` and `close` are those of `SinkExt`, and wait
/// as a task. A sender's `sink`, which borrows it, or `into_sink` makes one.
///
/// ```
/// use futures_util::{SinkExt, StreamExt, stream};
///
/// # let task = async {
/// let (mut sender, receiver) = ysuite::spsc::bounded(4);
/// sender.sink().send(1).await.unwrap();
/// // The sender is available again.
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
/// async fn send_to(mut sender: ysuite::spsc::Sender<u8>) {
///     // `Result` is no future. Without `.await` it compiles, and blocks all tasks of the thread if there is no room.
///     sender.send(1).await.unwrap();
/// }
/// ```
///
/// ```
/// use futures_util::SinkExt;
///
/// async fn send_to(mut sender: ysuite::spsc::Sender<u8>) {
///     sender.send_async(1).await.unwrap();
///     sender.sink().send(2).await.unwrap();
/// }
/// # let (sender, receiver) = ysuite::spsc::unbounded();
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(std::future::Future::poll(std::pin::pin!(send_to(sender)), &mut context).is_ready());
/// # assert!(receiver.into_iter().eq([1, 2]));
/// ```
///
/// # Feeding
///
/// * `spsc`, `mpsc`: a fed message is hidden until the sink is flushed or has no room: the messages fed in between are
///   a batch.
/// * `mpmc`, `broadcast`: a fed message is sent at once. If there is no room, the sink keeps it until there is, and is not ready
///   meanwhile. So each sink may hold one message more than the bound. Messages of one sink arrive in their order.
/// * In a [rendezvous](crate#rendezvous) a fed message is registered at once. The sink is ready again, and
///   flushed, when a receiver has the message.
///
/// # Errors
/// If the receivers are gone or the channel is closed. A message that was fed and cannot be received any more is
/// dropped, and flushing returns the error: for a sender of an `spsc` or `mpsc` at each call, for a sender of an `mpmc`
/// or `broadcast` once. If the thread of an `spsc` or `mpsc` receiver is still dropping older messages at that moment, only the next
/// message that is fed is refused. If a receiver is dropped after it has received all messages, a flush does not fail.
///
/// # Closing
/// Flushes, and drops or closes this sender. A sink that owns its sender drops it. A sink that borrows a sender of an
/// `spsc` or `mpsc` closes it. A sink that borrows a sender of an `mpmc` or `broadcast` leaves it as it is, since the channel may have
/// other senders. Afterwards the sink refuses messages.
///
/// # Dropping
/// A sink that is dropped before it was flushed drops its waiting message, if there is one. Messages that a sender of
/// an `spsc` or `mpsc` hides stay with it. To that extent futures of `SinkExt` are cancel-safe: a `send` that is
/// dropped may have sent its message, or fed it.
#[must_use = "a sink does nothing unless it is fed"]
pub struct SenderSink<S: Feed> {
    /// `None`: closed.
    sender: Option<S>,
    fed: Fed<S::Message>,
}

macro_rules! sink {
    ($sender:ty) => {
        impl<T> $sender {
            /// Returns this sender as a `futures_sink::Sink`, borrowed.
            #[doc = cost!(sender SINK)]
            pub fn sink(&mut self) -> SenderSink<&mut Self> {
                SenderSink::new(self)
            }

            /// Returns this sender as a `futures_sink::Sink`.
            #[doc = cost!(sender SINK)]
            pub fn into_sink(self) -> SenderSink<Self> {
                SenderSink::new(self)
            }
        }
    };
}

#[cfg(feature = "spsc")]
sink!(crate::spsc::Sender<T>);
#[cfg(feature = "mpsc")]
sink!(crate::mpsc::Sender<T>);
#[cfg(feature = "mpmc")]
sink!(crate::mpmc::Sender<T>);
#[cfg(feature = "broadcast")]
sink!(crate::broadcast::Sender<T>);

impl<S: Feed> SenderSink<S> {
    fn new(sender: S) -> Self {
        Self { sender: Some(sender), fed: Fed::default() }
    }
}

// FINAL: an error of `flush` and `close`: what has been lost stays lost; test: tests/suite/integrations/futures.rs:
//     a_message_that_was_received_was_sent_even_if_the_receiver_is_gone_then
impl<S: Feed> Sink<S::Message> for SenderSink<S> {
    /// The channel is disconnected: nothing can be received any more.
    type Error = SendError<()>;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        let this = self.get_mut();
        match &mut this.sender {
            Some(sender) => sender.poll_room(&mut this.fed, context),
            None => Poll::Ready(Err(SendError(()))),
        }
    }

    /// # Panics
    /// If there is no room: without a `poll_ready` that was ready.
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
