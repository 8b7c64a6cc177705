//! The permits of the sender of an spsc channel. One thread at a time.

use super::{Permit, Permits, ReserveError, SendError, Sender, TryReserveError};
use crate::channel::future::ReserveFuture;
use crate::channel::permit::Reserve;
use crate::channel::pipe::PipeReserving;

impl<T> Sender<T> {
    /// Waits until there is room for one message. The permit then sends it without waiting. Hidden messages are
    /// flushed where there is no room.
    #[doc = cost!(sender RESERVE)]
    #[doc = cost!(sender RESERVE_WAIT)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel. `TooMany` in a
    /// [rendezvous](crate#rendezvous), which never has room.
    #[inline]
    pub fn reserve(&mut self) -> Result<Permit<'_, Self>, ReserveError> {
        self.inner.reserve(1)?;
        Ok(Permit::new(self))
    }

    /// A permit for one message, if there is room. An attached sender that finds no room takes its id down, as
    /// [`try_send`](Self::try_send) does.
    #[doc = cost!(sender RESERVE)]
    ///
    /// # Errors
    /// When there is no room, and when the receiver has disconnected or has closed the channel. `TooMany` in a
    /// [rendezvous](crate#rendezvous), which never has room.
    pub fn try_reserve(&mut self) -> Result<Permit<'_, Self>, TryReserveError> {
        self.inner.try_reserve(1)?;
        Ok(Permit::new(self))
    }

    /// As [`reserve`](Self::reserve), as a task. Needs no particular runtime.
    #[doc = cost!(sender RESERVE_TASK)]
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_async(&mut self) -> ReserveFuture<'_, Self, Permit<'_, Self>> {
        ReserveFuture(PipeReserving::new(self, 1, |sender, _| Permit::new(sender)))
    }

    /// Waits until there is room for `places` messages at once. Each message that is received meanwhile may
    /// wake this thread for a check. Hidden messages are flushed where there is not enough room.
    #[doc = cost!(sender RESERVE)]
    #[doc = cost!(sender RESERVE_WAIT)]
    ///
    /// # Errors
    /// When there can never be that much room, and when the receiver has disconnected or has closed the
    /// channel.
    pub fn reserve_many(&mut self, places: usize) -> Result<Permits<'_, Self>, ReserveError> {
        self.inner.reserve(places)?;
        Ok(Permits::new(self, places))
    }

    /// Permits for `places` messages, if there is room for all of them. An attached sender that finds too
    /// little room takes its id down, until there may be enough.
    #[doc = cost!(sender RESERVE)]
    ///
    /// # Errors
    /// When there is too little room now, when there can never be that much, and when the receiver has
    /// disconnected or has closed the channel.
    pub fn try_reserve_many(&mut self, places: usize) -> Result<Permits<'_, Self>, TryReserveError> {
        self.inner.try_reserve(places)?;
        Ok(Permits::new(self, places))
    }

    /// As [`reserve_many`](Self::reserve_many), as a task. Needs no particular runtime.
    #[doc = cost!(sender RESERVE_TASK)]
    ///
    /// # Errors
    /// When there can never be that much room, and when the receiver has disconnected or has closed the
    /// channel.
    pub fn reserve_many_async(&mut self, places: usize) -> ReserveFuture<'_, Self, Permits<'_, Self>> {
        ReserveFuture(PipeReserving::new(self, places, Permits::new))
    }
}

impl<T> Reserve for Sender<T> {
    type Message = T;

    #[inline]
    fn send_reserved(&mut self, message: T) -> Result<(), SendError<T>> {
        self.inner.send(message)
    }

    #[inline]
    fn free_slots(&mut self, most: usize) -> &mut [core::mem::MaybeUninit<T>] {
        self.inner.end.writer.free_slots(most)
    }

    #[inline]
    unsafe fn send_slots(&mut self, count: usize) -> Result<(), SendError<Vec<T>>> {
        // SAFETY: by the caller.
        unsafe { self.inner.send_slots(count) }
    }
}
