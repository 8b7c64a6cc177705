//! A pipe of messages of any length.

use core::fmt;
use core::mem::MaybeUninit;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::bytes_shape;
use super::inlet::{BytesInlet, Inlet};
use super::outlet::Outlet;
use super::receiver::limited;
use crate::end::{End, Unfulfilled, deadline, ended, unsent};
use crate::link::Link;
use crate::page::{PUBLISHED, RING, Role};
use crate::ring::bytes::{Writer, record_bytes};
use crate::{Error, Options, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, Why};

/// The sending end of a [`pipe_bytes`](crate::pipe_bytes). A message is copied once, into the shared memory.
pub struct BytesSender {
    writer: Writer,
    outlet: Outlet,
}

/// The receiving end of a [`pipe_bytes`](crate::pipe_bytes). A message is copied once, out of the shared memory.
pub struct BytesReceiver {
    inlet: BytesInlet,
}

impl Options {
    /// The sender of a pipe of bytes over a socket; see [`sender`](Self::sender) and
    /// [`pipe_bytes`](crate::pipe_bytes()).
    ///
    /// # Errors
    /// As there; a capacity of 8 bytes or fewer is [`Refused`](Error::Refused).
    pub fn bytes_sender(&self, socket: OwnedFd, capacity: usize) -> Result<BytesSender, Error> {
        let capacity = capacity.checked_next_multiple_of(8).ok_or(Error::Refused(Why::Capacity))?;
        let link = Link::new(socket, Role::Sender, bytes_shape(self), capacity, self)?;
        // SAFETY: the region has a ring of this capacity behind its page, and lives as long as the outlet.
        let writer = unsafe { Writer::new(link.own.start().add(RING), capacity) };
        Ok(BytesSender { writer, outlet: Outlet::of_records(link, capacity)? })
    }

    /// The receiver of a pipe of bytes over a socket; see [`receiver`](Self::receiver).
    ///
    /// # Errors
    /// As there.
    pub fn bytes_receiver(&self, socket: OwnedFd) -> Result<BytesReceiver, Error> {
        let link = Link::new(socket, Role::Receiver, bytes_shape(self), 0, self)?;
        Ok(BytesReceiver { inlet: BytesInlet::new(End::new(link)?) })
    }
}

impl BytesSender {
    /// As [`Options::bytes_sender`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd, capacity: usize) -> Result<Self, Error> {
        Options::new().bytes_sender(socket, capacity)
    }

    /// As [`Sender::into_fd`](crate::Sender::into_fd).
    ///
    /// # Errors
    /// The end itself, if it was used.
    pub fn into_fd(mut self) -> Result<OwnedFd, Self> {
        if self.outlet.end.link.has_begun() {
            return Err(self);
        }
        self.outlet.end.link.take_socket().ok_or(self)
    }

    /// Returns the most bytes that a message may have.
    pub fn largest(&self) -> usize {
        self.outlet.capacity() - record_bytes(0) as usize
    }

    fn room(&mut self, message: &[u8], deadline: Option<Instant>) -> Result<(), Unfulfilled> {
        assert!(message.len() <= self.largest(), "a message of more bytes than the channel has");
        let (position, wanted) = (self.writer.position(), record_bytes(message.len()));
        if self.outlet.limit.saturating_sub(position) < wanted {
            self.outlet.room(position, wanted, deadline)?;
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, message: &[u8]) {
        self.writer.write(message, self.outlet.end.link.own.word(PUBLISHED));
        self.outlet.wrote_to(self.writer.position());
        self.outlet.end.published();
    }

    /// Sends a message; waits while there is no room for it.
    ///
    /// # Errors
    /// The channel has ended.
    ///
    /// # Panics
    /// If it is longer than [`largest`](Self::largest).
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError<()>> {
        self.room(message, None).map_err(|unfulfilled| SendError((), ended(unfulfilled)))?;
        self.put(message);
        Ok(())
    }

    /// Sends a message if there is room. Never blocks.
    ///
    /// # Errors
    /// There is no room, or the channel has ended.
    ///
    /// # Panics
    /// If it is longer than [`largest`](Self::largest).
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), TrySendError<()>> {
        assert!(message.len() <= self.largest(), "a message of more bytes than the channel has");
        let (position, wanted) = (self.writer.position(), record_bytes(message.len()));
        if self.outlet.limit.saturating_sub(position) < wanted {
            let room = self.outlet.try_room(position, wanted);
            room.map_err(|error| error.map_or(TrySendError::Full(()), |error| TrySendError::Ended((), error)))?;
        }
        self.put(message);
        Ok(())
    }

    /// As [`send`](Self::send), for at most `limit`.
    ///
    /// # Errors
    /// There was no room for all that time, or the channel has ended.
    ///
    /// # Panics
    /// If it is longer than [`largest`](Self::largest).
    pub fn send_timeout(&mut self, message: &[u8], limit: Duration) -> Result<(), SendTimeoutError<()>> {
        self.room(message, deadline(limit)).map_err(|unfulfilled| unsent((), unfulfilled))?;
        self.put(message);
        Ok(())
    }

    /// As [`send_timeout`](Self::send_timeout), until `deadline`.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn send_deadline(&mut self, message: &[u8], deadline: Instant) -> Result<(), SendTimeoutError<()>> {
        self.send_timeout(message, deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns whether the channel has ended. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.outlet.is_over(self.writer.position())
    }

    /// As [`Sender::into_unread`](crate::Sender::into_unread).
    ///
    /// # Errors
    /// The end itself, if the channel has not ended.
    pub fn into_unread(mut self) -> Result<Vec<Vec<u8>>, Self> {
        match self.outlet.unread_from(self.writer.position()) {
            Some(from) => Ok(self.writer.unread(from)),
            None => Err(self),
        }
    }

    /// As [`Sender::set_spin`](crate::Sender::set_spin).
    pub fn set_spin(&mut self, looks: u32) {
        self.outlet.end.spin = Some(looks);
    }

    /// As [`Sender::arm`](crate::Sender::arm), for room for a message of this length.
    pub fn arm(&mut self, length: usize) -> bool {
        self.outlet.arm(self.writer.position(), record_bytes(length))
    }
}

impl BytesReceiver {
    /// As [`Options::bytes_receiver`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().bytes_receiver(socket)
    }

    /// As [`Receiver::into_fd`](crate::Receiver::into_fd).
    ///
    /// # Errors
    /// The end itself, if it was used.
    pub fn into_fd(mut self) -> Result<OwnedFd, Self> {
        if self.inlet.end.link.has_begun() {
            return Err(self);
        }
        self.inlet.end.link.take_socket().ok_or(self)
    }

    fn take(&mut self, to: &mut Vec<u8>) -> Result<usize, Error> {
        self.inlet.take(to).ok_or(Error::Broken)
    }

    /// Receives a message, and appends it to `to`; waits while the channel is empty. Returns its length.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    pub fn recv_into(&mut self, to: &mut Vec<u8>) -> Result<usize, Error> {
        if !self.inlet.look() {
            self.inlet.ready(None).map_err(ended)?;
        }
        self.take(to)
    }

    /// Receives a message; waits while the channel is empty.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    pub fn recv(&mut self) -> Result<Vec<u8>, Error> {
        let mut message = Vec::new();
        self.recv_into(&mut message)?;
        Ok(message)
    }

    /// Receives a message if there is one. Never blocks.
    ///
    /// # Errors
    /// The channel is empty, or also has ended.
    pub fn try_recv(&mut self) -> Result<Vec<u8>, TryRecvError> {
        if !self.inlet.look() {
            self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))?;
        }
        let mut message = Vec::new();
        self.take(&mut message).map_err(TryRecvError::Ended)?;
        Ok(message)
    }

    /// Receives a message into the front of `to`, if there is one and it fits; a longer one stays.
    /// Returns its length in either case: of an empty `to`, that of the next message. Never blocks.
    ///
    /// # Errors
    /// The channel is empty, or also has ended.
    pub fn try_recv_slice(&mut self, to: &mut [MaybeUninit<u8>]) -> Result<usize, TryRecvError> {
        if !self.inlet.look() {
            self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))?;
        }
        self.inlet.take_to(to).ok_or(TryRecvError::Ended(Error::Broken))
    }

    /// As [`try_recv_slice`](Self::try_recv_slice), but waits while the channel is empty.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    pub fn recv_slice(&mut self, to: &mut [MaybeUninit<u8>]) -> Result<usize, Error> {
        if !self.inlet.look() {
            self.inlet.ready(None).map_err(ended)?;
        }
        self.inlet.take_to(to).ok_or(Error::Broken)
    }

    /// As [`recv_slice`](Self::recv_slice), for at most `limit`.
    ///
    /// # Errors
    /// The channel was empty for all that time, or has ended.
    pub fn recv_slice_timeout(
        &mut self,
        to: &mut [MaybeUninit<u8>],
        limit: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        if !self.inlet.look() {
            self.inlet.ready(deadline(limit)).map_err(limited)?;
        }
        self.inlet.take_to(to).ok_or(RecvTimeoutError::Ended(Error::Broken))
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// The channel was empty for all that time, or has ended.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<Vec<u8>, RecvTimeoutError> {
        if !self.inlet.look() {
            self.inlet.ready(deadline(limit)).map_err(limited)?;
        }
        let mut message = Vec::new();
        self.take(&mut message).map_err(RecvTimeoutError::Ended)?;
        Ok(message)
    }

    /// As [`recv_timeout`](Self::recv_timeout), until `deadline`.
    ///
    /// # Errors
    /// As there.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<Vec<u8>, RecvTimeoutError> {
        self.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// Iterates over messages until the channel ends; waits for each.
    pub fn iter(&mut self) -> impl Iterator<Item = Vec<u8>> + '_ {
        core::iter::from_fn(|| self.recv().ok())
    }

    /// As [`Receiver::set_spin`](crate::Receiver::set_spin).
    pub fn set_spin(&mut self, looks: u32) {
        self.inlet.end.spin = Some(looks);
    }

    /// As [`Receiver::arm`](crate::Receiver::arm).
    pub fn arm(&mut self) -> bool {
        self.inlet.arm()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl BytesSender {
    pub(crate) fn link(&self) -> &Link {
        &self.outlet.end.link
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl BytesReceiver {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end.link
    }
}

impl AsFd for BytesSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.outlet.end.as_fd()
    }
}

impl AsFd for BytesReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end.as_fd()
    }
}

impl fmt::Debug for BytesSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesSender").field("capacity", &self.outlet.capacity()).finish_non_exhaustive()
    }
}

impl fmt::Debug for BytesReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesReceiver").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::super::inlet::Inlet;
    use crate::pipe_bytes;

    #[test]
    fn single_messages_are_no_stream_however_long_they_are() {
        let (mut sender, mut receiver) = pipe_bytes(4_096).unwrap();
        for length in [8, 64, 1_024] {
            sender.send(&vec![7; length]).unwrap();
            assert_eq!(receiver.recv().unwrap().len(), length);
            assert!(!receiver.inlet.stand_off(), "{length}");
        }
        for _ in 0..16 {
            sender.send(b"in a row").unwrap();
            receiver.recv().unwrap();
        }
        assert!(receiver.inlet.stand_off() && !receiver.inlet.stand_off());
    }
}
