//! The receiver of a broadcast.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::{BroadcastIn, Spread};
use crate::end::{End, Half, Unfulfilled, deadline};
use crate::link::Link;
use crate::page::Role;
use crate::pipe::Inlet;
use crate::{BroadcastError, Copied, Error, Options};

/// Attempts to read a message before a call that never blocks gives up.
const ATTEMPTS: u32 = 100;

/// The receiving end of a broadcast: it receives all messages that a [`BroadcastSender`](crate::BroadcastSender) sends
/// once it has noticed this receiver.
pub struct BroadcastReceiver<T: Copied> {
    inlet: <T as Spread>::Inlet,
}

impl Options {
    /// The receiver of a broadcast, lossy or not, over a socket: of [`connect`](crate::connect), or a
    /// [`seat`](crate::BroadcastSender::seat). It says hello at once.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or no descriptors.
    pub fn broadcast_receiver<T: Copied>(&self, socket: OwnedFd) -> Result<BroadcastReceiver<T>, Error> {
        let link = Link::new(socket, Role::Receiver, <T as Spread>::shape(self, false), 0, self)?;
        let mut end = End::new(link)?;
        end.meet(None);
        Ok(BroadcastReceiver { inlet: <T as Spread>::inlet(end) })
    }
}

impl<T: Copied> BroadcastReceiver<T> {
    /// As [`Options::broadcast_receiver`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().broadcast_receiver(socket)
    }

    /// Receives a message; waits while there is none.
    ///
    /// # Errors
    /// This receiver has [lost](BroadcastError::Lagged) messages, and goes on with the next call; or there is no
    /// message, and the sender is gone.
    #[inline]
    pub fn recv(&mut self) -> Result<T, BroadcastError> {
        self.recv_until(None)
    }

    /// Receives a message if there is one. Never blocks.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv), or there is [none](BroadcastError::Empty).
    pub fn try_recv(&mut self) -> Result<T, BroadcastError> {
        for _ in 0..ATTEMPTS {
            self.look_now()?;
            if let Some(taken) = self.inlet.take() {
                return taken;
            }
        }
        Err(BroadcastError::Empty)
    }

    #[inline]
    fn look_now(&mut self) -> Result<(), BroadcastError> {
        if self.inlet.look() {
            return Ok(());
        }
        self.inlet.try_ready().map_err(|error| error.map_or(BroadcastError::Empty, BroadcastError::Ended))
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// As there, or there was [none](BroadcastError::Empty) for all that time.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<T, BroadcastError> {
        self.recv_until(deadline(limit))
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// As for [`recv_timeout`](Self::recv_timeout).
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, BroadcastError> {
        self.recv_until(Some(deadline))
    }

    #[inline]
    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, BroadcastError> {
        self.until(deadline, BroadcastIn::take)
    }

    /// What `take` takes, when a look has found something.
    #[inline]
    fn until<R>(
        &mut self,
        deadline: Option<Instant>,
        mut take: impl FnMut(&mut <T as Spread>::Inlet) -> Option<Result<R, BroadcastError>>,
    ) -> Result<R, BroadcastError> {
        loop {
            self.look_until(deadline)?;
            if let Some(taken) = take(&mut self.inlet) {
                return taken;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(BroadcastError::Empty);
            }
        }
    }

    #[inline]
    fn look_until(&mut self, deadline: Option<Instant>) -> Result<(), BroadcastError> {
        if self.inlet.look() {
            return Ok(());
        }
        self.inlet.ready(deadline).map_err(|unfulfilled| match unfulfilled {
            Unfulfilled::Timeout => BroadcastError::Empty,
            Unfulfilled::Ended(error) => BroadcastError::Ended(error),
        })
    }

    /// Receives at least one message and at most `most`, of those that are there, and appends them to `to`; waits while
    /// there is none. Returns their number. Ends in front of messages that were lost.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    pub fn recv_batch(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, BroadcastError> {
        if most == 0 {
            return Ok(0);
        }
        self.until(None, |inlet| inlet.take_some(to, most))
    }

    /// As [`recv_batch`](Self::recv_batch), without waiting.
    ///
    /// # Errors
    /// As for [`try_recv`](Self::try_recv).
    pub fn try_recv_batch(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, BroadcastError> {
        if most == 0 {
            return Ok(0);
        }
        self.look_now()?;
        self.inlet.take_some(to, most).unwrap_or(Err(BroadcastError::Empty))
    }

    /// Iterates over messages until the sender is gone; waits for each, and passes over those that are lost.
    pub fn iter(&mut self) -> impl Iterator<Item = T> + '_ {
        core::iter::from_fn(|| {
            loop {
                match self.recv() {
                    Ok(message) => return Some(message),
                    Err(BroadcastError::Lagged(_)) => {}
                    Err(_) => return None,
                }
            }
        })
    }

    /// Returns whether the sender is gone; messages may still be there. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.inlet.end().is_over()
    }

    /// Waits until the sender is there, for at most `limit`; returns whether it is.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        crate::pipe::met_within(&mut self.inlet, limit)
    }

    /// Sets how many times this end looks for a message before it sleeps; 0: it sleeps at once, `u32::MAX`: it never
    /// does.
    pub fn set_spin(&mut self, looks: u32) {
        self.inlet.end().spin = Some(looks);
    }

    /// For an event loop: if there is no message, the [descriptor](AsFd::as_fd) becomes readable when there is one, or
    /// when the sender is gone. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.inlet.arm()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T: Copied> BroadcastReceiver<T> {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end_ref().link
    }
}

impl<T: Copied> AsFd for BroadcastReceiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end_ref().as_fd()
    }
}

impl<T: Copied> fmt::Debug for BroadcastReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastReceiver").finish_non_exhaustive()
    }
}
