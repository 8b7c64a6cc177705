//! What a sink needs of its sender, and how senders with a queue of their own provide it. One task at a time.
//!
//! A sink's message is sent in two steps: the first waits for room, and the second cannot wait. So the sink keeps a
//! message for which there may be no room after all, until there is: [`Fed`]. In an spsc queue the room that was found
//! stays, and a fed message goes there at once, hidden. In a rendezvous it waits in line.

use core::task::{Context, Poll, ready};

use super::error::SendError;
#[cfg(any(feature = "broadcast", feature = "mpmc"))]
use super::error::TrySendError;
use super::rendezvous::{InLine, MeetingSide, Party};
use super::send::{SenderLink, Sending};
#[cfg(any(feature = "broadcast", feature = "mpmc"))]
use crate::foreign::{Foreign, Lent};
use crate::wait::one::{self, WaitingEnd};

/// A message that a sink was fed and that is not yet in its channel. Not for use elsewhere.
#[doc(hidden)]
pub struct Fed<T> {
    /// It waits for room.
    pub(super) held: Option<T>,
    /// It waits for a receiver.
    line: Option<InLine<T>>,
    /// The sink's task waits for room, and the sender has its waker.
    pub(super) waits: bool,
    /// Its slot, where the sender has none for its task.
    #[cfg(feature = "broadcast")]
    pub(super) subscriptions: Option<Box<crate::wait::Subscriptions>>,
}

/// What a sink needs of its sender. Not for use elsewhere.
#[doc(hidden)]
pub trait Feed {
    /// The type of the messages.
    type Message;

    /// Ready when another message may be fed: the one before is in the channel.
    fn poll_room(&mut self, fed: &mut Fed<Self::Message>, context: &mut Context<'_>)
    -> Poll<Result<(), SendError<()>>>;

    /// Feeds a message, after `poll_room` was ready.
    fn feed(&mut self, fed: &mut Fed<Self::Message>, message: Self::Message) -> Result<(), SendError<()>>;

    /// Ready when all that was fed is in the channel, and visible.
    fn poll_shown(
        &mut self,
        fed: &mut Fed<Self::Message>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>>;

    /// The sink has been closed, and all that it was fed is in the channel.
    fn finish(&mut self);

    /// The sink is dropped: takes the waiting message back, and stops waiting.
    fn give_up(&mut self, fed: &mut Fed<Self::Message>);
}

impl<S: Feed> Feed for &mut S {
    type Message = S::Message;

    fn poll_room(&mut self, fed: &mut Fed<S::Message>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        (**self).poll_room(fed, context)
    }

    fn feed(&mut self, fed: &mut Fed<S::Message>, message: S::Message) -> Result<(), SendError<()>> {
        (**self).feed(fed, message)
    }

    fn poll_shown(&mut self, fed: &mut Fed<S::Message>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        (**self).poll_shown(fed, context)
    }

    fn finish(&mut self) {
        (**self).finish();
    }

    fn give_up(&mut self, fed: &mut Fed<S::Message>) {
        (**self).give_up(fed);
    }
}

impl<T> Default for Fed<T> {
    fn default() -> Self {
        Self {
            held: None,
            line: None,
            waits: false,
            #[cfg(feature = "broadcast")]
            subscriptions: None,
        }
    }
}

impl<T> Fed<T> {
    /// Hands a message over, or puts it in line.
    pub(super) fn stand(&mut self, party: &Party<'_, T, true>, message: T) -> Result<(), SendError<()>> {
        self.assert_nothing();
        // The message is dropped where no receiver can get it, as a sink has no way to return it.
        self.line = InLine::begin(party, message)?;
        Ok(())
    }

    /// Sends a message by `push`, or keeps it where there is no room.
    #[cfg(any(feature = "broadcast", feature = "mpmc"))]
    pub(super) fn push_or_keep(
        &mut self,
        message: T,
        push: impl FnOnce(&mut Option<T>) -> Result<(), TrySendError<()>>,
    ) -> Result<(), SendError<()>> {
        self.assert_nothing();
        let mut place = Foreign::some(message);
        match push(&mut place) {
            Ok(()) => Ok(()),
            Err(TrySendError::Disconnected(())) => Err(SendError(())),
            Err(TrySendError::Full(())) => {
                place.move_over(&mut self.held);
                Ok(())
            }
        }
    }

    /// Ready when no message waits in line. An error where the one that waited was not received.
    pub(super) fn poll_line(
        &mut self,
        side: MeetingSide<'_>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        if let Some(line) = &self.line {
            ready!(line.poll(side, context));
        }
        Poll::Ready(self.leave(side))
    }

    /// Takes the message out of line.
    pub(super) fn leave(&mut self, side: MeetingSide<'_>) -> Result<(), SendError<()>> {
        self.line.take().map_or(Ok(()), |line| line.end(side))
    }

    /// Before a message is fed.
    fn assert_nothing(&self) {
        assert!(self.held.is_none() && self.line.is_none(), "{NO_ROOM}");
    }
}

/// The text of a panic after wrong use of a sink.
const NO_ROOM: &str = "start_send without room: poll_ready comes first";

/// An error where nothing can be sent any more.
pub(super) fn alive(is_over: bool) -> Result<(), SendError<()>> {
    if is_over { Err(SendError(())) } else { Ok(()) }
}

impl<T, L: SenderLink<T>> Sending<T, L> {
    pub(super) fn poll_room(&mut self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        match self.end.meeting.party() {
            Some(party) => ready!(fed.poll_line(party.side(), context))?,
            None => {
                let polled = self.poll_ready(context);
                fed.waits = polled.is_pending();
                ready!(polled);
            }
        }
        Poll::Ready(alive(self.is_over()))
    }

    pub(super) fn feed(&mut self, fed: &mut Fed<T>, message: T) -> Result<(), SendError<()>> {
        alive(self.is_over())?;
        if let Some(party) = self.end.meeting.party() {
            return fed.stand(&party, message);
        }
        assert!(self.end.is_ready(), "{NO_ROOM}");
        self.write(message).map_err(|_| SendError(()))
    }

    /// Fails when fed messages were dropped because the receiver had disconnected. A receiver that disconnects after it
    /// has received all of them is no failure.
    pub(super) fn poll_shown(
        &mut self,
        fed: &mut Fed<T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        if let Some(party) = self.end.meeting.party() {
            return fed.poll_line(party.side(), context);
        }
        self.flush();
        Poll::Ready(alive(self.end.writer.has_lost()))
    }

    pub(super) fn give_up(&mut self, fed: &mut Fed<T>) {
        match self.end.meeting.party() {
            // The messages that come back are dropped.
            Some(party) => drop(fed.leave(party.side())),
            None if fed.waits => one::forget(&mut *self.end),
            None => {}
        }
    }
}
