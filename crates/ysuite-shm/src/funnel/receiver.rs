//! The receiver of a funnel, as programs see it.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::{Carried, EMPTY, Lanes};
use crate::end::{SHORT, SPIN_CHECK, deadline};
use crate::{Error, Options, RecvTimeoutError, TryRecvError};

/// Looks at lanes that were busy just now before the receiver sleeps.
const SPIN: u32 = 100;

/// The end of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The number of the sender, as [`Funnel::recv_from`] and [`Funnel::seat`] have it.
    pub sender: u64,
    /// Why it has ended. All that it had sent was received before, unless it is [`Broken`](Error::Broken).
    pub error: Error,
}

/// The outcome of [`Funnel::recv_event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<T> {
    /// A message, of the sender with this number.
    Message(u64, T),
    /// A sender has ended.
    Ended(Ended),
}

/// The receiver of many senders, each of which is a [`Sender`](crate::Sender) in a process of its own; of [`Bytes`](crate::Bytes),
/// a [`BytesSender`](crate::BytesSender), and of [`Question`](crate::Question)s, each of which it answers, a
/// [`Caller`](crate::Caller).
///
/// Messages of one sender arrive in order; the senders take turns. Senders come and go: they connect by the funnel's
/// name, or inherit a [`seat`](Self::seat). A sender that dies ends its own lane alone.
///
/// A sender that connects by the name has a second to say hello, which it does when it is used first; after that it is
/// refused: [`Why::ByPeer`](crate::Why::ByPeer). A sender that has nothing to send yet calls
/// [`is_disconnected`](crate::Sender::is_disconnected).
pub struct Funnel<T: Carried> {
    pub(super) lanes: Lanes<T>,
    /// What the program has asked for.
    spin: Option<u32>,
}

impl Options {
    /// A funnel that listens at this name; see [`Listener`](crate::Listener).
    ///
    /// # Errors
    /// As for [`listen`](Self::listen).
    pub fn funnel<T: Carried>(&self, name: &str) -> Result<Funnel<T>, Error> {
        Ok(Funnel { lanes: Lanes::new(self, Some(self.listen(name)?))?, spin: None })
    }

    /// A funnel without a name, for senders that inherit a [`seat`](Funnel::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no descriptors are left, for example.
    pub fn funnel_without_name<T: Carried>(&self) -> Result<Funnel<T>, Error> {
        Ok(Funnel { lanes: Lanes::new(self, None)?, spin: None })
    }
}

impl<T: Carried> Funnel<T> {
    /// As [`Options::funnel`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str) -> Result<Self, Error> {
        Options::new().funnel(name)
    }

    /// As [`Options::funnel_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name() -> Result<Self, Error> {
        Options::new().funnel_without_name()
    }

    /// Makes a place for one more sender: a socket for [`Sender::from_fd`](crate::Sender::from_fd), for a child to
    /// inherit, and the number of that sender.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left.
    pub fn seat(&mut self) -> Result<(u64, OwnedFd), Error> {
        self.lanes.home.seat()
    }

    /// Receives a message of any sender; waits while there is none.
    ///
    /// # Errors
    /// [`Closed`](Error::Closed): all senders of a funnel without a name are gone, or it has never had one.
    #[inline]
    pub fn recv(&mut self) -> Result<T, Error> {
        self.recv_from().map(|(_, message)| message)
    }

    /// As [`recv`](Self::recv), with the number of the sender.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn recv_from(&mut self) -> Result<(u64, T), Error> {
        match self.lanes.take() {
            Some(found) => Ok(found),
            None => self.wait(None, false).map_err(unlimited).and_then(|found| found.ok_or(Error::Closed)),
        }
    }

    /// Receives a message or learns of the end of a sender, whichever is there; waits while there is neither. What a
    /// sender had sent comes before its end.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    pub fn recv_event(&mut self) -> Result<Event<T>, Error> {
        if let Some(ended) = self.next_ended() {
            return Ok(Event::Ended(ended));
        }
        let found = match self.lanes.take() {
            Some(found) => Some(found),
            None => self.wait(None, true).map_err(unlimited)?,
        };
        match found {
            Some((sender, message)) => Ok(Event::Message(sender, message)),
            None => self.next_ended().map(Event::Ended).ok_or(Error::Closed),
        }
    }

    /// Receives a message if there is one. Never blocks. If there is none it asks the kernel once for more.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.try_recv_from().map(|(_, message)| message)
    }

    /// As [`try_recv`](Self::try_recv), with the number of the sender.
    ///
    /// # Errors
    /// As there.
    pub fn try_recv_from(&mut self) -> Result<(u64, T), TryRecvError> {
        if let Some(found) = self.lanes.take() {
            return Ok(found);
        }
        self.lanes.ask(Some(Duration::ZERO));
        match self.lanes.take() {
            Some(found) => Ok(found),
            None if self.lanes.home.is_over() => Err(TryRecvError::Ended(Error::Closed)),
            None => Err(TryRecvError::Empty),
        }
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// There was none for all that time, or as there.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_from_timeout(limit).map(|(_, message)| message)
    }

    /// As [`recv_timeout`](Self::recv_timeout), with the number of the sender.
    ///
    /// # Errors
    /// As there.
    pub fn recv_from_timeout(&mut self, limit: Duration) -> Result<(u64, T), RecvTimeoutError> {
        self.recv_until(deadline(limit))
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// There was none until then, or as there.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline)).map(|(_, message)| message)
    }

    fn recv_until(&mut self, until: Option<Instant>) -> Result<(u64, T), RecvTimeoutError> {
        let found = match self.lanes.take() {
            Some(found) => Some(found),
            None => self.wait(until, false)?,
        };
        found.ok_or(RecvTimeoutError::Timeout)
    }

    /// Receives at least one message and at most `most`, of those that are there, and appends them to `to`; waits while
    /// there is none. Returns their number.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    pub fn recv_batch(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, Error> {
        if most == 0 {
            return Ok(0);
        }
        to.push(self.recv()?);
        let mut taken = 1;
        while taken < most {
            let Some((_, message)) = self.lanes.take() else { break };
            to.push(message);
            taken += 1;
        }
        Ok(taken)
    }

    // WAITS: for a message of any sender, or the end of all; it looks, parks all lanes, which looks again, and sleeps.
    /// `Ok(None)`: a sender has ended, and the caller wants to know.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, until: Option<Instant>, for_ends: bool) -> Result<Option<(u64, T)>, RecvTimeoutError> {
        loop {
            let spin = self.spin.unwrap_or_else(|| if self.lanes.home.share_processor() { 0 } else { SPIN });
            for look in 1..=spin.max(1) {
                if let Some(found) = self.lanes.take() {
                    return Ok(Some(found));
                }
                let has_ended = for_ends && !self.lanes.home.ended.is_empty();
                let is_late = look % SPIN_CHECK == 0 && until.is_some_and(|until| until <= Instant::now());
                if has_ended || is_late || self.lanes.home.active.is_empty() {
                    break;
                }
                core::hint::spin_loop();
            }
            let is_parked = self.lanes.park_all();
            if let Some(found) = if is_parked { None } else { self.lanes.take() } {
                return Ok(Some(found));
            }
            if for_ends && !self.lanes.home.ended.is_empty() {
                return Ok(None);
            }
            if self.lanes.home.is_over() {
                return Err(RecvTimeoutError::Ended(Error::Closed));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(RecvTimeoutError::Timeout);
            }
            let short = (!is_parked).then_some(SHORT);
            self.lanes.ask([left, self.lanes.home.longest(), short].into_iter().flatten().min());
        }
    }

    /// Iterates over messages until the funnel ends; waits for each.
    pub fn iter(&mut self) -> impl Iterator<Item = T> + '_ {
        core::iter::from_fn(|| self.recv().ok())
    }

    /// Iterates over the messages that are there.
    pub fn try_iter(&mut self) -> impl Iterator<Item = T> + '_ {
        core::iter::from_fn(|| self.try_recv().ok())
    }

    /// Returns the next sender that has ended since the last time, in order. The last few hundred are remembered.
    /// Receiving is what notices an end.
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.lanes.home.ended.pop_front()
    }

    /// Returns how many senders there are, with those that have not said hello yet.
    pub fn senders(&self) -> usize {
        self.lanes.home.peers()
    }

    /// Sets how many times the receiver looks at busy lanes before it sleeps; 0: it sleeps at once.
    pub fn set_spin(&mut self, looks: u32) {
        self.spin = Some(looks);
        // A lane that was parked before would be looked at no more.
        self.lanes.empty = looks.max(EMPTY);
    }

    /// For an event loop: if there is no message, the [descriptor](AsFd::as_fd) becomes readable when there is one, or
    /// when a sender comes or goes. False: there is something to be done now; also where all senders of a funnel without a
    /// name are gone.
    pub fn arm(&mut self) -> bool {
        let are_all = self.lanes.ask(Some(Duration::ZERO));
        // An event loop is not told when a pause is over.
        let listens = self.lanes.home.listen_again();
        self.lanes.park_all() && are_all && listens && !self.lanes.home.is_over()
    }
}

/// The reason of a wait that had no deadline.
fn unlimited(error: RecvTimeoutError) -> Error {
    match error {
        RecvTimeoutError::Ended(error) => error,
        RecvTimeoutError::Timeout => Error::Closed,
    }
}

impl<T: Carried> AsFd for Funnel<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.lanes.home.poller.as_fd()
    }
}

impl<T: Carried> fmt::Debug for Funnel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Funnel").finish_non_exhaustive()
    }
}
