//! The sender of a pipe of messages.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::outlet::Outlet;
use super::typed_shape;
use crate::batch::{Batch, Notify};
use crate::end::{deadline, ended, unsent};
use crate::link::Link;
use crate::page::{RING, Role};
use crate::ring::typed::Writer;
use crate::{Error, Message, Options, SendError, SendTimeoutError, TrySendError};

/// The sending end of a [`pipe`](crate::pipe()).
///
/// Until its peer is there, it fills its ring. That the receiver is gone is noticed when the ring is full, or by
/// [`is_disconnected`](Self::is_disconnected): what was sent until then comes back by
/// [`into_unread`](Self::into_unread).
pub struct Sender<T> {
    writer: Writer<T>,
    outlet: Outlet,
}

impl Options {
    /// The sender of a pipe for `capacity` messages over a socket: one that was inherited, or of
    /// [`connect`](crate::connect) or a [`Listener`](crate::Listener).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or descriptors, or a capacity that cannot be.
    pub fn sender<T: Message>(&self, socket: OwnedFd, capacity: usize) -> Result<Sender<T>, Error> {
        let link = Link::new(socket, Role::Sender, typed_shape::<T>(self), capacity, self)?;
        // SAFETY: the region has a ring of this capacity behind its page, and lives as long as the outlet.
        let writer = unsafe { Writer::new(link.own.start().add(RING), capacity) };
        Ok(Sender { writer, outlet: Outlet::new(link, capacity)? })
    }
}

impl<T: Message> Sender<T> {
    /// As [`Options::sender`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd, capacity: usize) -> Result<Self, Error> {
        Options::new().sender(socket, capacity)
    }

    /// The descriptor of an end that was not used yet, to be inherited by another process.
    ///
    /// # Errors
    /// The end itself, if it was used.
    pub fn into_fd(mut self) -> Result<OwnedFd, Self> {
        if self.outlet.end.link.has_begun() {
            return Err(self);
        }
        self.outlet.end.link.take_socket().ok_or(self)
    }

    /// Sends a message; waits while the channel is full.
    ///
    /// # Errors
    /// The channel has ended: the message, and why.
    #[inline]
    pub fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        if self.writer.position() == self.outlet.limit {
            if let Err(unfulfilled) = self.outlet.room(self.writer.position(), 1, None) {
                return Err(SendError(message, ended(unfulfilled)));
            }
        }
        self.put(&message);
        Ok(())
    }

    /// Sends a message if there is room. Never blocks.
    ///
    /// # Errors
    /// The channel is full or has ended: the message.
    #[inline]
    pub fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        if self.writer.position() == self.outlet.limit {
            match self.outlet.try_room(self.writer.position(), 1) {
                Ok(()) => {}
                Err(None) => return Err(TrySendError::Full(message)),
                Err(Some(error)) => return Err(TrySendError::Ended(message, error)),
            }
        }
        self.put(&message);
        Ok(())
    }

    /// As [`send`](Self::send), for at most `limit`.
    ///
    /// # Errors
    /// The channel was full for all that time, or has ended: the message.
    pub fn send_timeout(&mut self, message: T, limit: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, deadline(limit))
    }

    /// As [`send`](Self::send), until `deadline` at most.
    ///
    /// # Errors
    /// The channel was full until then, or has ended: the message.
    pub fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(&mut self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        if self.writer.position() == self.outlet.limit {
            if let Err(unfulfilled) = self.outlet.room(self.writer.position(), 1, deadline) {
                return Err(unsent(message, unfulfilled));
            }
        }
        self.put(&message);
        Ok(())
    }

    #[inline(always)]
    fn put(&mut self, message: &T) {
        self.writer.write(message);
        self.outlet.end.published();
    }

    // USER CODE: `messages`, between two messages, each of which is in the channel; a panic leaves those that were sent.
    /// Sends all messages; waits while the channel is full. The receiver is woken once for many. Returns how many were
    /// sent.
    ///
    /// # Errors
    /// The channel has ended: those that were not sent, and why.
    pub fn send_batch(&mut self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        let mut batch = Batch::new(self);
        let mut sent = 0;
        let mut messages = messages.into_iter();
        while let Some(message) = messages.next() {
            let position = batch.sender.writer.position();
            if position == batch.sender.outlet.limit {
                batch.notify();
                if let Err(unfulfilled) = batch.sender.outlet.room(position, 1, None) {
                    let unsent = core::iter::once(message).chain(messages).collect();
                    return Err(SendError(unsent, ended(unfulfilled)));
                }
            }
            batch.sender.writer.write(&message);
            batch.wrote();
            sent += 1;
        }
        Ok(sent)
    }

    /// Returns whether the channel has ended. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.outlet.is_over(self.writer.position())
    }

    /// Waits until the receiver is there, for at most `limit`; returns whether it is.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        super::met_within(&mut self.outlet, limit)
    }

    /// Returns the messages that a receiver that is gone has not consumed, in order, for the next receiver. The one
    /// that it had received, but not dealt with, is among them only if it had looked at it by
    /// [`peek`](crate::Receiver::peek). All of them, if the channel was refused: a receiver that had heard of this end
    /// may have received some.
    ///
    /// # Errors
    /// The end itself, if the channel has not ended.
    pub fn into_unread(mut self) -> Result<Vec<T>, Self> {
        match self.outlet.unread_from(self.writer.position()) {
            Some(from) => Ok(self.writer.unread(from)),
            None => Err(self),
        }
    }

    /// Returns how many messages have room.
    pub fn capacity(&self) -> usize {
        self.outlet.capacity()
    }

    /// Sets how many times this end looks at a full channel before it sleeps; 0: it sleeps at once, `u32::MAX`: it
    /// never does. By default 100, or 0 where both processes run on one processor.
    pub fn set_spin(&mut self, looks: u32) {
        self.outlet.end.spin = Some(looks);
    }

    /// For an event loop: if there is no room, the [descriptor](AsFd::as_fd) becomes readable when there is, or when the
    /// channel ends. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.outlet.arm(self.writer.position(), 1)
    }
}

impl<T: Message> Notify for Sender<T> {
    #[inline(always)]
    fn notify(&mut self) {
        self.outlet.end.published();
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T> Sender<T> {
    pub(crate) fn link(&self) -> &Link {
        &self.outlet.end.link
    }
}

impl<T> AsFd for Sender<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.outlet.end.as_fd()
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("capacity", &self.outlet.capacity()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
