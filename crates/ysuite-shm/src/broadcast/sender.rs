//! The sender of a broadcast.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::Spread;
use crate::batch::{Batch, Notify};
use crate::end::{End, Half, deadline};
use crate::home::{Crowd, Party, wait};
use crate::link::{Link, Shared};
use crate::page::{CONSUMED, FROM_NUMBER, NUMBER, PUBLISHED, RING};
use crate::sync::{Ordering, fence};
use crate::{Copied, Error, Message, Options, SendTimeoutError, TrySendError};

/// The sending end of a broadcast, whose receivers, each a [`BroadcastReceiver`](crate::BroadcastReceiver) in a process of
/// its own, receive all messages that are sent while they are there.
///
/// A receiver that is slow holds the sender up; one that dies no longer does. A receiver that is stopped looks alive. With
/// [`lossy`](Options::lossy) nobody holds the sender up: a receiver that is too slow loses the oldest messages.
///
/// Receivers come and go as those of a [`WatchSender`](crate::WatchSender).
///
/// ```
/// use ysuite_shm::{BroadcastReceiver, BroadcastSender, Error};
///
/// let mut sender = BroadcastSender::without_name(100)?;
/// let mut receiver = BroadcastReceiver::<u32>::from_fd(sender.seat()?)?;
/// sender.serve();
/// (0..10).for_each(|message| sender.send(message));
/// drop(sender);
/// assert!(receiver.iter().eq(0..10));
/// # Ok::<_, Error>(())
/// ```
pub struct BroadcastSender<T: Copied> {
    pub(super) writer: <T as Spread>::Writer,
    pub(super) crowd: Crowd<Outbound>,
    capacity: u64,
    /// So far there is room.
    limit: u64,
    is_lossy: bool,
}

/// The sender's end of a lane.
pub(super) struct Outbound {
    end: End,
    /// The position at which the receiver has joined.
    from: u64,
    /// What it has consumed since, as far as is known.
    consumed: u64,
}

impl Half for Outbound {
    #[inline]
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl Party for Outbound {
    type Common = Shared;

    fn link(socket: OwnedFd, shared: &Shared, options: &Options) -> Result<Link, Error> {
        Link::sharing(socket, shared, options)
    }

    fn new(end: End, _: &Shared) -> Self {
        Self { end, from: 0, consumed: 0 }
    }

    /// It joins here.
    fn met(&mut self, shared: &Shared) {
        // ORDERING: Relaxed; this thread has written it.
        self.from = shared.memory.word(PUBLISHED).load(Ordering::Relaxed);
        // ORDERING: Relaxed twice; this thread has written it, and the Release in `say_joined` hands it over.
        let number = shared.memory.word(NUMBER).load(Ordering::Relaxed);
        self.end.link.own.word(FROM_NUMBER).store(number, Ordering::Relaxed);
        self.end.link.say_joined(self.from);
        self.end.published();
    }
}

impl Outbound {
    /// Up to where the receiver has consumed; all, if it is gone, or has lied.
    fn refresh(&mut self, position: u64) -> u64 {
        if self.end.fate().is_some() {
            return position;
        }
        let Some(met) = &self.end.link.met else { return position };
        // ORDERING: Relaxed, as the memory is read-only, and the fence: pairs with the Release in `Inlet::consumed`. What
        // the receiver has read of these slots happens before they are written again.
        let consumed = met.region.word(CONSUMED).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        // Never less than before, and never more than there was.
        if consumed.wrapping_sub(self.consumed) > position - self.from - self.consumed {
            self.end.fail(Error::Broken);
            return position;
        }
        self.consumed = consumed;
        self.from + consumed
    }
}

impl Options {
    /// The sender of a broadcast for `capacity` messages that listens at this name; see [`Listener`](crate::Listener).
    ///
    /// # Errors
    /// As for [`listen`](Self::listen), or a capacity that cannot be.
    pub fn broadcast<T: Message>(&self, name: &str, capacity: usize) -> Result<BroadcastSender<T>, Error> {
        BroadcastSender::new(self, Some(name), capacity)
    }

    /// The sender of a broadcast without a name, for receivers that inherit a [`seat`](BroadcastSender::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, or a capacity that cannot be.
    pub fn broadcast_without_name<T: Message>(&self, capacity: usize) -> Result<BroadcastSender<T>, Error> {
        BroadcastSender::new(self, None, capacity)
    }
}

impl<T: Copied> BroadcastSender<T> {
    pub(super) fn new(options: &Options, name: Option<&str>, capacity: usize) -> Result<Self, Error> {
        let is_lossy = options.is_lossy;
        let shared = Shared::new(<T as Spread>::shape(options, is_lossy), capacity)?;
        // SAFETY: the region has a ring of this capacity behind its page, and lives as long as the crowd.
        let writer = unsafe { T::writer(shared.memory.start().add(RING), capacity) };
        let crowd = Crowd::new(options, name, shared)?;
        Ok(Self { writer, crowd, capacity: capacity as u64, limit: 0, is_lossy })
    }

    /// Makes a place for one more receiver: a socket for
    /// [`BroadcastReceiver::from_fd`](crate::BroadcastReceiver::from_fd), for a child to inherit. Until that is used,
    /// each message costs a system call.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.crowd.home.seat().map(|(_, seat)| seat)
    }

    #[inline]
    pub(super) fn has_room(&mut self, wanted: u64) -> bool {
        self.is_lossy || self.limit - T::position(&self.writer) >= wanted || self.refresh() >= wanted
    }

    /// The same, for a call that never blocks: it takes notice of who comes and goes first.
    #[inline]
    pub(super) fn has_room_now(&mut self, wanted: u64) -> bool {
        self.has_room(wanted) || {
            self.crowd.serve(Some(Duration::ZERO));
            self.refresh() >= wanted
        }
    }

    /// Reads how much all receivers have consumed; the room.
    #[cold]
    #[inline(never)]
    fn refresh(&mut self) -> u64 {
        let position = T::position(&self.writer);
        let mut least = position;
        for at in &self.crowd.home.active {
            if let Some(lane) = &mut self.crowd.home.lanes[*at] {
                least = least.min(lane.party.refresh(position));
            }
        }
        self.limit = least + self.capacity;
        self.limit - position
    }

    /// Waits for room in all receivers. False: there is none until then.
    pub(super) fn room(&mut self, wanted: u64, deadline: Option<Instant>) -> bool {
        let look = |sender: &mut Self| (sender.refresh() >= wanted).then_some(());
        wait(self, |sender| &mut sender.crowd, deadline, look).is_ok()
    }

    /// Before the next message of a batch: room for it, for which it waits.
    #[inline(always)]
    pub(super) fn room_in(batch: &mut Batch<'_, Self>, wanted: u64) {
        if !batch.sender.has_room(wanted) {
            batch.notify();
            // Without a time it always finds some.
            batch.sender.room(wanted, None);
        }
    }

    /// As [`WatchSender::serve`](crate::WatchSender::serve).
    pub fn serve(&mut self) {
        self.crowd.serve(Some(Duration::ZERO));
    }

    /// As [`WatchSender::serve_timeout`](crate::WatchSender::serve_timeout).
    pub fn serve_timeout(&mut self, limit: Duration) {
        self.crowd.serve_until(deadline(limit));
    }

    /// Returns how many receivers have joined: what is sent now is for all of them. One joins when it has said hello,
    /// and this end has noticed it, in [`serve`](Self::serve) or a send.
    pub fn receivers(&self) -> usize {
        self.crowd.joined()
    }

    /// Returns how many messages have room.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Sets how many times this end looks for room before it sleeps; 0: it sleeps at once. A time limit is checked only
    /// after them.
    pub fn set_spin(&mut self, looks: u32) {
        self.crowd.spin = Some(looks);
    }

    /// For an event loop that has nothing to send: as [`WatchSender::arm`](crate::WatchSender::arm).
    pub fn arm_to_serve(&mut self) -> bool {
        self.crowd.arm()
    }

    /// Arms all lanes. False: there is room for `wanted`, or something else to be done now.
    pub(super) fn arm_until(&mut self, wanted: u64) -> bool {
        let is_armed = self.crowd.arm_all();
        !self.is_lossy && self.refresh() < wanted && is_armed
    }
}

impl<T: Message> BroadcastSender<T> {
    /// As [`Options::broadcast`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str, capacity: usize) -> Result<Self, Error> {
        Options::new().broadcast(name, capacity)
    }

    /// As [`Options::broadcast_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name(capacity: usize) -> Result<Self, Error> {
        Options::new().broadcast_without_name(capacity)
    }

    /// Sends a message to all receivers, or to none if there are none. Waits while one of them has no room, unless it is
    /// lossy.
    pub fn send(&mut self, message: T) {
        // Without a time it always finds room.
        let _ = self.send_until(message, None);
    }

    /// Sends a message if all receivers have room. Never blocks.
    ///
    /// # Errors
    /// [`Full`](TrySendError::Full): the message.
    pub fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        if !self.has_room_now(1) {
            return Err(TrySendError::Full(message));
        }
        self.put(&message);
        Ok(())
    }

    /// As [`send`](Self::send), for at most `limit`.
    ///
    /// # Errors
    /// [`Timeout`](SendTimeoutError::Timeout): the message.
    pub fn send_timeout(&mut self, message: T, limit: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, deadline(limit))
    }

    /// As [`send`](Self::send), until `deadline` at most.
    ///
    /// # Errors
    /// As for [`send_timeout`](Self::send_timeout).
    pub fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(&mut self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        if !self.has_room(1) && !self.room(1, deadline) {
            return Err(SendTimeoutError::Timeout(message));
        }
        self.put(&message);
        Ok(())
    }

    #[inline]
    fn put(&mut self, message: &T) {
        self.write(message);
        self.crowd.published();
    }

    /// Publishes a message, and wakes nobody.
    #[inline]
    fn write(&mut self, message: &T) {
        if self.is_lossy {
            self.writer.write_over(message);
        } else {
            self.writer.write(message);
        }
        let published = self.crowd.home.common.memory.word(PUBLISHED);
        // ORDERING: Release pairs with the fence in `TypedIn::catch_up`: what was published up to here is in the ring.
        published.store(self.writer.position(), Ordering::Release);
    }

    // USER CODE: `messages`, between two messages, each of which is in the channel; a panic leaves those that were sent.
    /// Sends all messages to all receivers; waits while one of them has no room, unless it is lossy. Receivers are
    /// woken once for many. Returns how many were sent.
    pub fn send_batch(&mut self, messages: impl IntoIterator<Item = T>) -> usize {
        let mut batch = Batch::new(self);
        let mut sent = 0;
        for message in messages {
            Self::room_in(&mut batch, 1);
            batch.sender.write(&message);
            batch.wrote();
            sent += 1;
        }
        sent
    }

    /// For an event loop: if there is no room, the [descriptor](AsFd::as_fd) becomes readable when there may be, or when a
    /// receiver comes or goes. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.arm_until(1)
    }
}

impl<T: Copied> Notify for BroadcastSender<T> {
    #[inline(always)]
    fn notify(&mut self) {
        self.crowd.published();
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T: Copied> BroadcastSender<T> {
    /// What its receivers read.
    pub(crate) fn memory(&self) -> &crate::os::Own {
        &self.crowd.home.common.memory
    }

    /// Its page for the receiver at this place.
    pub(crate) fn crowd_page(&self, at: usize) -> &crate::os::Own {
        &self.crowd.home.lanes[at].as_ref().expect("a receiver").party.end.link.own
    }
}

impl<T: Copied> AsFd for BroadcastSender<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.crowd.home.poller.as_fd()
    }
}

impl<T: Copied> fmt::Debug for BroadcastSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastSender").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
