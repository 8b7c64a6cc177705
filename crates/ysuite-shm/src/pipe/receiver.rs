//! The receiver of a pipe of messages, and its iterators.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::inlet::{Inlet, TypedInlet};
use super::typed_shape;
use crate::end::{End, Unfulfilled, deadline, ended};
use crate::link::Link;
use crate::page::Role;
use crate::{Error, Message, Options, RecvTimeoutError, TryRecvError};

/// The receiving end of a [`pipe`](crate::pipe()).
///
/// A message is consumed when it is received. If this process dies before it has dealt with a message, that message is
/// lost; with [`peek`](Self::peek) and [`consume`](Self::consume) it comes again instead.
pub struct Receiver<T> {
    inlet: TypedInlet<T>,
}

impl Options {
    /// The receiver of a pipe over a socket: one that was inherited, or of [`connect`](crate::connect) or a
    /// [`Listener`](crate::Listener).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or no descriptors.
    pub fn receiver<T: Message>(&self, socket: OwnedFd) -> Result<Receiver<T>, Error> {
        let link = Link::new(socket, Role::Receiver, typed_shape::<T>(self), 0, self)?;
        Ok(Receiver { inlet: TypedInlet::new(End::new(link)?) })
    }
}

impl<T: Message> Receiver<T> {
    /// As [`Options::receiver`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().receiver(socket)
    }

    /// The descriptor of an end that was not used yet, to be inherited by another process.
    ///
    /// # Errors
    /// The end itself, if it was used.
    pub fn into_fd(mut self) -> Result<OwnedFd, Self> {
        if self.inlet.end.link.has_begun() {
            return Err(self);
        }
        self.inlet.end.link.take_socket().ok_or(self)
    }

    /// Receives a message; waits while the channel is empty.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    #[inline]
    pub fn recv(&mut self) -> Result<T, Error> {
        if !self.inlet.look() {
            self.inlet.ready(None).map_err(ended)?;
        }
        Ok(self.inlet.take())
    }

    /// Receives a message if there is one. Never blocks.
    ///
    /// # Errors
    /// The channel is empty, or also has ended.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if !self.inlet.look() {
            self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))?;
        }
        Ok(self.inlet.take())
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// The channel was empty for all that time, or has ended.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(deadline(limit))
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// The channel was empty until then, or has ended.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        if !self.inlet.look() {
            self.inlet.ready(deadline).map_err(limited)?;
        }
        Ok(self.inlet.take())
    }

    /// Receives at least one message and at most `most`, of those that are there, and appends them to `to`; waits while
    /// the channel is empty. Returns their number.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    pub fn recv_batch(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, Error> {
        if most == 0 {
            return Ok(0);
        }
        match self.inlet.take_some(to, most) {
            0 => {
                self.inlet.ready(None).map_err(ended)?;
                Ok(self.inlet.take_some(to, most))
            }
            taken => Ok(taken),
        }
    }

    /// As [`recv_batch`](Self::recv_batch), without waiting.
    ///
    /// # Errors
    /// The channel is empty, or also has ended.
    pub fn try_recv_batch(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, TryRecvError> {
        if most > 0 && !self.inlet.look() {
            self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))?;
        }
        Ok(self.inlet.take_some(to, most))
    }

    /// Returns a copy of the next message, if there is one, which stays in the channel: if this process dies now, the
    /// sender gets it back.
    pub fn peek(&mut self) -> Option<T> {
        (self.inlet.look() || self.inlet.try_ready().is_ok()).then(|| self.inlet.peek())
    }

    /// Consumes the message that [`peek`](Self::peek) has returned; false if there is none.
    pub fn consume(&mut self) -> bool {
        let is_there = self.inlet.look();
        if is_there {
            self.inlet.take();
        }
        is_there
    }

    /// Iterates over messages until the channel ends; waits for each.
    pub fn iter(&mut self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Iterates over the messages that are there.
    pub fn try_iter(&mut self) -> TryIter<'_, T> {
        TryIter(self)
    }

    /// Returns whether the sender is gone; messages may still be there. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.inlet.end.is_over()
    }

    /// Waits until the sender is there, for at most `limit`; returns whether it is.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        super::met_within(&mut self.inlet, limit)
    }

    /// Sets how many times this end looks at an empty channel before it sleeps; 0: it sleeps at once, `u32::MAX`: it
    /// never does. By default 100, or 0 where both processes run on one processor.
    pub fn set_spin(&mut self, looks: u32) {
        self.inlet.end.spin = Some(looks);
    }

    /// For an event loop: if there is no message, the [descriptor](AsFd::as_fd) becomes readable when there is, or when
    /// the channel ends. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.inlet.arm()
    }
}

pub(crate) fn limited(unfulfilled: Unfulfilled) -> RecvTimeoutError {
    match unfulfilled {
        Unfulfilled::Timeout => RecvTimeoutError::Timeout,
        Unfulfilled::Ended(error) => RecvTimeoutError::Ended(error),
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T> Receiver<T> {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end.link
    }
}

impl<T> AsFd for Receiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end.as_fd()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// The iterator of [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a mut Receiver<T>);

/// The iterator of [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a mut Receiver<T>);

/// The iterator of [`Receiver::into_iter`](IntoIterator::into_iter).
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T: Message> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T: Message> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T: Message> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T: Message> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<'a, T: Message> IntoIterator for &'a mut Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        Iter(self)
    }
}
