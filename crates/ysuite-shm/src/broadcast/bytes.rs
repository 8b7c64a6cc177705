//! A broadcast of bytes: messages of any length, in one ring of records that all receivers map.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::{BroadcastIn, BroadcastSender};
use crate::batch::Batch;
use crate::end::{End, Half, deadline};
use crate::funnel::Bytes;
use crate::os::Peer;
use crate::page::{BEGUN, FROM_NUMBER, Kind, NEWEST, NUMBER, PUBLISHED, RING};
use crate::pipe::Inlet;
use crate::ring::Look;
use crate::ring::bytes::record_bytes;
use crate::ring::records::{Marks, Reader, Seen};
use crate::sync::Ordering;
use crate::{BroadcastError, Error, Options, SendTimeoutError, TrySendError, Why};

/// A sender does not come round so often while one word is read: one that seems to would keep the receiver here.
const TIMES: u32 = 1_000;

/// The inlet of bytes.
pub(crate) struct BytesIn {
    end: End,
    /// Once it has joined.
    reader: Option<Reader>,
    from: u64,
    is_lossy: bool,
}

fn marks_of(memory: &Peer) -> Marks<'_> {
    Marks { published: memory.word(PUBLISHED), begun: memory.word(BEGUN), newest: memory.word(NEWEST) }
}

impl BytesIn {
    pub(super) fn new(end: End) -> Self {
        Self { end, reader: None, from: 0, is_lossy: false }
    }

    /// The reader, and the sender's words.
    fn parts(&mut self) -> Option<(&mut Reader, Marks<'_>)> {
        let shared = self.end.link.met.as_ref()?.shared.as_ref()?;
        Some((self.reader.as_mut()?, marks_of(shared)))
    }

    /// A lossy one goes on with the newest record; the other was never to be overtaken.
    #[cold]
    fn overtaken(&mut self) -> bool {
        self.is_lossy && self.parts().is_some_and(|(reader, marks)| reader.catch_up(marks))
    }

    fn broken(&mut self) -> BroadcastError {
        BroadcastError::Ended(self.give_up(Error::Broken))
    }
}

impl Half for BytesIn {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl Inlet for BytesIn {
    #[cold]
    fn attach(&mut self) {
        let (Some(met), None) = (&self.end.link.met, self.end.failed()) else { return };
        let Some(shared) = &met.shared else { return };
        let Some(from) = met.joined_at() else { return };
        self.from = from;
        // ORDERING: Relaxed; after the fence in `joined_at`.
        let number = met.region.word(FROM_NUMBER).load(Ordering::Relaxed) as u32;
        let start = shared.start();
        // SAFETY: the region has the size of a ring of this capacity behind its page, as `Link::accept` has checked, and
        // lives as long as `end`.
        self.reader = Some(unsafe { Reader::new(start.add(RING), met.header.capacity, self.from, number) });
        self.is_lossy = met.header.shape.kind == Kind::LossyBytes;
    }

    fn detach(&mut self) {
        self.reader = None;
    }

    fn stand_off(&mut self) -> bool {
        false
    }

    fn look_in(&mut self) -> Look {
        if self.reader.is_none() {
            self.attach();
        }
        for _ in 0..TIMES {
            let Some((reader, marks)) = self.parts() else { return Look::Nothing };
            match reader.look(marks) {
                Seen::Whole(()) => return Look::Something,
                Seen::Nothing => return Look::Nothing,
                Seen::Overtaken if self.overtaken() => {}
                Seen::Overtaken | Seen::Broken => break,
            }
        }
        Look::Broken
    }
}

impl BroadcastIn<Bytes> for BytesIn {
    fn end_ref(&self) -> &End {
        &self.end
    }

    fn take(&mut self) -> Option<Result<Bytes, BroadcastError>> {
        let (reader, marks) = self.parts()?;
        match reader.take(marks) {
            Seen::Whole(Ok(message)) => {
                let consumed = reader.position().wrapping_sub(self.from);
                if !self.is_lossy {
                    self.consumed(consumed);
                }
                Some(Ok(Bytes(message)))
            }
            Seen::Whole(Err(lost)) if self.is_lossy => Some(Err(BroadcastError::Lagged(u64::from(lost)))),
            Seen::Overtaken if self.overtaken() => None,
            _ => Some(Err(self.broken())),
        }
    }

    fn take_some(&mut self, to: &mut Vec<Bytes>, most: usize) -> Option<Result<usize, BroadcastError>> {
        let first = match self.take()? {
            Ok(message) => message,
            Err(error) => return Some(Err(error)),
        };
        to.push(first);
        let mut taken = 1;
        // What stops it is found by the next call again.
        while taken < most && self.reader.as_ref().is_some_and(Reader::has_more) {
            match self.take() {
                Some(Ok(message)) => to.push(message),
                _ => break,
            }
            taken += 1;
        }
        Some(Ok(taken))
    }
}

/// The sending end of a broadcast of bytes: messages of any length, which together have room in its capacity, as those of a
/// [`BytesSender`](crate::BytesSender). Its receivers are [`BroadcastReceiver`](crate::BroadcastReceiver)s of
/// [`Bytes`]. It is as a [`BroadcastSender`] in all else, but a receiver of a [`lossy`](Options::lossy) one that was too slow
/// goes on with the newest message.
///
/// ```
/// use ysuite_shm::{BroadcastReceiver, Bytes, BytesBroadcastSender, Error};
///
/// let mut sender = BytesBroadcastSender::without_name(4_096)?;
/// let mut receiver = BroadcastReceiver::<Bytes>::from_fd(sender.seat()?)?;
/// sender.serve();
/// sender.send(b"for all");
/// drop(sender);
/// assert!(receiver.iter().eq([Bytes(b"for all".into())]));
/// # Ok::<_, Error>(())
/// ```
pub struct BytesBroadcastSender(BroadcastSender<Bytes>);

impl Options {
    /// The sender of a broadcast of bytes that listens at this name; see [`Listener`](crate::Listener). `capacity` is rounded
    /// up to whole words, and a message takes 8 bytes more than it has.
    ///
    /// # Errors
    /// As for [`listen`](Self::listen), or a capacity that cannot be, such as 8 bytes or fewer.
    pub fn broadcast_bytes(&self, name: &str, capacity: usize) -> Result<BytesBroadcastSender, Error> {
        BytesBroadcastSender::new(self, Some(name), capacity)
    }

    /// The same without a name, for receivers that inherit a [`seat`](BytesBroadcastSender::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, or a capacity that cannot be.
    pub fn broadcast_bytes_without_name(&self, capacity: usize) -> Result<BytesBroadcastSender, Error> {
        BytesBroadcastSender::new(self, None, capacity)
    }
}

impl BytesBroadcastSender {
    fn new(options: &Options, name: Option<&str>, capacity: usize) -> Result<Self, Error> {
        let capacity = capacity.checked_next_multiple_of(8).ok_or(Error::Refused(Why::Capacity))?;
        Ok(Self(BroadcastSender::new(options, name, capacity)?))
    }

    /// As [`Options::broadcast_bytes`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str, capacity: usize) -> Result<Self, Error> {
        Options::new().broadcast_bytes(name, capacity)
    }

    /// As [`Options::broadcast_bytes_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name(capacity: usize) -> Result<Self, Error> {
        Options::new().broadcast_bytes_without_name(capacity)
    }

    /// As [`BroadcastSender::seat`].
    ///
    /// # Errors
    /// As there.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.0.seat()
    }

    /// Returns the most bytes that a message may have.
    pub fn largest(&self) -> usize {
        self.0.capacity() - record_bytes(0) as usize
    }

    fn wanted(&self, message: &[u8]) -> u64 {
        assert!(message.len() <= self.largest(), "a message of more bytes than the channel has");
        record_bytes(message.len())
    }

    fn write(&mut self, message: &[u8]) {
        self.0.write_bytes(message);
        self.0.crowd.published();
    }

    /// Sends a message to all receivers, or to none if there are none. Waits while one of them has no room, unless it is
    /// lossy.
    ///
    /// # Panics
    /// If it is longer than [`largest`](Self::largest).
    pub fn send(&mut self, message: &[u8]) {
        // Without a time it always finds room.
        let _ = self.send_until(message, None);
    }

    /// Sends a message if all receivers have room. Never blocks.
    ///
    /// # Errors
    /// [`Full`](TrySendError::Full).
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), TrySendError<()>> {
        let wanted = self.wanted(message);
        if !self.0.has_room_now(wanted) {
            return Err(TrySendError::Full(()));
        }
        self.write(message);
        Ok(())
    }

    /// As [`send`](Self::send), for at most `limit`.
    ///
    /// # Errors
    /// [`Timeout`](SendTimeoutError::Timeout).
    ///
    /// # Panics
    /// As there.
    pub fn send_timeout(&mut self, message: &[u8], limit: Duration) -> Result<(), SendTimeoutError<()>> {
        self.send_until(message, deadline(limit))
    }

    /// As [`send`](Self::send), until `deadline` at most.
    ///
    /// # Errors
    /// As for [`send_timeout`](Self::send_timeout).
    ///
    /// # Panics
    /// As there.
    pub fn send_deadline(&mut self, message: &[u8], deadline: Instant) -> Result<(), SendTimeoutError<()>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(&mut self, message: &[u8], deadline: Option<Instant>) -> Result<(), SendTimeoutError<()>> {
        let wanted = self.wanted(message);
        if !self.0.has_room(wanted) && !self.0.room(wanted, deadline) {
            return Err(SendTimeoutError::Timeout(()));
        }
        self.write(message);
        Ok(())
    }

    // USER CODE: `messages`, between two messages, each of which is in the channel; a panic leaves those that were sent.
    /// As [`BroadcastSender::send_batch`].
    ///
    /// # Panics
    /// As [`send`](Self::send), behind the messages before.
    pub fn send_batch(&mut self, messages: impl IntoIterator<Item = impl AsRef<[u8]>>) -> usize {
        let largest = self.largest();
        let mut batch = Batch::new(&mut self.0);
        let mut sent = 0;
        for message in messages {
            let message = message.as_ref();
            assert!(message.len() <= largest, "a message of more bytes than the channel has");
            BroadcastSender::room_in(&mut batch, record_bytes(message.len()));
            batch.sender.write_bytes(message);
            batch.wrote();
            sent += 1;
        }
        sent
    }

    /// As [`BroadcastSender::serve`].
    pub fn serve(&mut self) {
        self.0.serve();
    }

    /// As [`BroadcastSender::serve_timeout`].
    pub fn serve_timeout(&mut self, limit: Duration) {
        self.0.serve_timeout(limit);
    }

    /// As [`BroadcastSender::receivers`].
    pub fn receivers(&self) -> usize {
        self.0.receivers()
    }

    /// As [`BroadcastSender::set_spin`].
    pub fn set_spin(&mut self, looks: u32) {
        self.0.set_spin(looks);
    }

    /// As [`BroadcastSender::arm`], for room for a message of this length.
    pub fn arm(&mut self, length: usize) -> bool {
        self.0.arm_until(record_bytes(length))
    }

    /// As [`BroadcastSender::arm_to_serve`].
    pub fn arm_to_serve(&mut self) -> bool {
        self.0.arm_to_serve()
    }
}

impl BroadcastSender<Bytes> {
    /// Publishes a message, and wakes nobody.
    fn write_bytes(&mut self, message: &[u8]) {
        let memory = &self.crowd.home.common.memory;
        let marks = Marks { published: memory.word(PUBLISHED), begun: memory.word(BEGUN), newest: memory.word(NEWEST) };
        self.writer.write(message, marks);
        // ORDERING: Relaxed; this thread alone reads it, where a receiver joins.
        memory.word(NUMBER).store(u64::from(self.writer.number()), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl BytesBroadcastSender {
    /// What its receivers read.
    pub(crate) fn memory(&self) -> &crate::os::Own {
        self.0.memory()
    }

    /// Its page for the receiver at this place.
    pub(crate) fn crowd_page(&self, at: usize) -> &crate::os::Own {
        self.0.crowd_page(at)
    }
}

impl AsFd for BytesBroadcastSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl fmt::Debug for BytesBroadcastSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesBroadcastSender").field("capacity", &self.0.capacity()).finish_non_exhaustive()
    }
}
