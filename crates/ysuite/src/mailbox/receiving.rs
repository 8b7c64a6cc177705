//! Receiving one type: by a search, or without one where the message is at hand. The mailbox's thread only.

use core::any::Any;
use core::ptr::NonNull;
use core::time::Duration;
use std::time::Instant;

use super::envelope::{Envelope, Rank};
use super::mailbox::Mailbox;
use super::receive_error::ReceiveError;
use super::search::Search;
use crate::os::Deadline;

impl Mailbox {
    /// Receives the next message of type `T`; waits for one without a time limit. Messages of other types stay for
    /// later, in their order.
    ///
    /// Where there is none it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the kernel.
    #[doc = cost!(mailbox RECEIVE)]
    #[doc = cost!(mailbox RECEIVE_WAIT)]
    ///
    /// # Errors
    /// `LinkTerminated` or `OwnerTerminated` if a mailbox that this one is linked to has ended, or its owner (unless
    /// `T` is that notice). `Disconnected` if there is no such message, no address of this mailbox, and no mailbox that
    /// it owns.
    #[inline]
    pub fn receive<T: Any + Send>(&mut self) -> Result<T, ReceiveError> {
        match self.next_at_once::<T>() {
            // SAFETY: the envelope is this thread's, of this type, and nothing has been done to the inbox since it was
            //     taken.
            Some(place) => Ok(unsafe { Envelope::take_at(place) }),
            None => self.find(),
        }
    }

    #[inline(never)]
    fn find<T: Any + Send>(&mut self) -> Result<T, ReceiveError> {
        Search::new(self, Deadline::Never).find()
    }

    /// As [`receive`](Self::receive), but waits no longer than `timeout`. With zero it does not wait; with
    /// `Duration::MAX` it waits without a time limit. A waiting message is received even when the time is up, unless
    /// 4,096 new messages of other types are before it.
    #[doc = cost!(mailbox RECEIVE)]
    #[doc = cost!(mailbox RECEIVE_WAIT)]
    #[doc = cost!(mailbox RECEIVE_NOW)]
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and `Timeout` when the time is up.
    pub fn receive_timeout<T: Any + Send>(&mut self, timeout: Duration) -> Result<T, ReceiveError> {
        match self.next_at_once::<T>() {
            // SAFETY: the envelope is this thread's, of this type, and nothing has been done to the inbox since it was
            //     taken.
            Some(place) => Ok(unsafe { Envelope::take_at(place) }),
            None => self.search_timeout(timeout).find(),
        }
    }

    /// As [`receive`](Self::receive), but waits until `deadline` at most. A waiting message is received even after it,
    /// as by [`receive_timeout`](Self::receive_timeout).
    #[doc = cost!(mailbox RECEIVE)]
    #[doc = cost!(mailbox RECEIVE_WAIT)]
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and `Timeout` when the deadline has passed.
    pub fn receive_deadline<T: Any + Send>(&mut self, deadline: Instant) -> Result<T, ReceiveError> {
        match self.next_at_once::<T>() {
            // SAFETY: the envelope is this thread's, of this type, and nothing has been done to the inbox since it was
            //     taken.
            Some(place) => Ok(unsafe { Envelope::take_at(place) }),
            None => Search::new(self, Deadline::At(deadline)).find(),
        }
    }

    /// Receives the next message, which must be of type `T`; waits for one without a time limit. Several values that
    /// were sent as a tuple are received as one.
    #[doc = cost!(mailbox RECEIVE)]
    #[doc = cost!(mailbox RECEIVE_WAIT)]
    ///
    /// # Errors
    /// As [`receive`](Self::receive), and `Mismatch` if the next message is of another type. That message stays the
    /// next.
    #[inline]
    pub fn receive_only<T: Any + Send>(&mut self) -> Result<T, ReceiveError> {
        match self.next_at_once::<T>() {
            // SAFETY: the envelope is this thread's, of this type, and nothing has been done to the inbox since it was
            //     taken.
            Some(place) => Ok(unsafe { Envelope::take_at(place) }),
            None => Search::new(self, Deadline::Never).find_only(),
        }
    }

    /// Receives the next message, whatever its type; waits for one without a time limit. So does a
    /// [`receive!`](crate::receive) with nothing but a catch-all: the notice of a link or of the owner is a message here.
    ///
    /// ```
    /// use ysuite::mailbox::Mailbox;
    ///
    /// type Job = Box<dyn FnOnce() -> u32 + Send>;
    ///
    /// let mut mailbox = Mailbox::new();
    /// let job: Job = Box::new(|| 6 * 7);
    /// mailbox.address().send(job).unwrap();
    /// mailbox.address().send("whatever").unwrap();
    /// let job = mailbox.receive_any().unwrap().downcast::<Job>().unwrap();
    /// assert_eq!(job(), 42);
    /// assert!(mailbox.receive_any().unwrap().is::<&str>());
    /// ```
    #[doc = cost!(mailbox RECEIVE)]
    #[doc = cost!(mailbox RECEIVE_WAIT)]
    ///
    /// # Errors
    /// `Disconnected` if there is no message, no address of this mailbox, and no mailbox that it owns.
    pub fn receive_any(&mut self) -> Result<Envelope, ReceiveError> {
        self.search().find_any()
    }

    /// As [`receive_any`](Self::receive_any), but waits no longer than `timeout`. With zero it does not wait; with
    /// `Duration::MAX` it waits without a time limit.
    #[doc = cost!(mailbox RECEIVE)]
    #[doc = cost!(mailbox RECEIVE_WAIT)]
    ///
    /// # Errors
    /// As [`receive_any`](Self::receive_any), and `Timeout` when the time is up.
    pub fn receive_any_timeout(&mut self, timeout: Duration) -> Result<Envelope, ReceiveError> {
        self.search_timeout(timeout).find_any()
    }

    #[doc(hidden)]
    #[inline]
    pub fn search(&mut self) -> Search<'_> {
        Search::new(self, Deadline::Never)
    }

    #[doc(hidden)]
    pub fn search_timeout(&mut self, timeout: Duration) -> Search<'_> {
        Search::new(self, Deadline::after(timeout))
    }

    // MUTANT: Speed only: a fast path of the same search.
    /// The usual result of a search for this type, found at once: nothing is set aside, there is no urgent message, and
    /// the next ordinary one is of this type. That message is still in its lane: the caller, whose it is, moves its value
    /// out before it uses the mailbox again.
    #[inline(always)]
    pub(super) fn next_at_once<T: Any + Send>(&mut self) -> Option<NonNull<Envelope>> {
        if !self.aside.is_clear() {
            return None;
        }
        let place = self.inbox.take_in_place(Envelope::is_plainly::<T>)?;
        self.aside.received(Rank::Ordinary);
        Some(place)
    }
}
