//! The receiver of a broadcast.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::shape;
use crate::end::{End, Half, Unfulfilled, deadline};
use crate::link::Link;
use crate::page::{FROM, Kind, PUBLISHED, RING, Role};
use crate::pipe::Inlet;
use crate::ring::Look;
use crate::ring::typed::{Ahead, Reader};
use crate::sync::{Ordering, fence};
use crate::{BroadcastError, Error, Message, Options};

/// The receiving end of a broadcast: it receives all messages that a [`BroadcastSender`](crate::BroadcastSender) sends from
/// when that has noticed it on.
pub struct BroadcastReceiver<T> {
    inlet: BroadcastInlet<T>,
}

struct BroadcastInlet<T> {
    end: End,
    /// Once it has joined.
    reader: Option<Reader<T>>,
    from: u64,
    is_lossy: bool,
    capacity: u64,
    /// The number of the newest messages that it keeps when it is overtaken: fewer, where it was overtaken again at once.
    keep: u64,
    /// Messages that it has lost, and not said yet.
    lost: u64,
}

impl<T> Half for BroadcastInlet<T> {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl<T: Message> Inlet for BroadcastInlet<T> {
    #[cold]
    fn attach(&mut self) {
        let Some(met) = &self.end.link.met else { return };
        let Some(shared) = &met.shared else { return };
        // ORDERING: Relaxed, as the memory is read-only, and the fence: pairs with the Release in `Outbound::met`.
        let from = met.region.word(FROM).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        if from == 0 {
            return;
        }
        // SAFETY: the region has the size of a ring of this capacity behind its page, as `Link::accept` has checked, and
        // lives as long as `end`.
        let mut reader = unsafe { Reader::new(shared.start().add(RING), met.header.capacity) };
        self.from = from - 1;
        reader.go_to(self.from);
        self.reader = Some(reader);
        self.is_lossy = met.header.shape.kind == Kind::Lossy;
        self.capacity = met.header.capacity as u64;
        self.keep = self.capacity;
    }

    fn stand_off(&mut self) -> bool {
        false
    }

    #[inline]
    fn look_in(&mut self) -> Look {
        if self.lost > 0 {
            return Look::Something;
        }
        if self.reader.is_none() {
            self.attach();
        }
        let Some(reader) = &mut self.reader else { return Look::Nothing };
        if !self.is_lossy {
            return reader.look();
        }
        match reader.look_ahead() {
            Ahead::Message => Look::Something,
            Ahead::Nothing => Look::Nothing,
            Ahead::Overtaken if self.catch_up() => Look::Something,
            _ => Look::Broken,
        }
    }
}

impl<T: Message> BroadcastInlet<T> {
    /// Goes to the oldest message that is still there. False: the sender lies.
    #[cold]
    fn catch_up(&mut self) -> bool {
        let shared = self.end.link.met.as_ref().and_then(|met| met.shared.as_ref());
        let (Some(reader), Some(shared)) = (&mut self.reader, shared) else { return false };
        // ORDERING: Acquire pairs with the Release in `enter`: what was published before the group was entered is counted.
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, as the memory is read-only; the fence pairs with the Release in `BroadcastSender::put`.
        let newest = shared.word(PUBLISHED).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let to = newest.wrapping_sub(self.keep);
        let lost = to.wrapping_sub(reader.position());
        if lost == 0 || lost > u64::MAX / 2 {
            return false;
        }
        reader.go_to(to);
        self.keep /= 2;
        self.lost = lost;
        true
    }

    /// What a look has found, and what is behind it: up to `most` messages, and up to a loss. The sender hears of them at once.
    fn take_some(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, BroadcastError> {
        if self.is_lossy || self.lost > 0 {
            return self.take_some_whole(to, most);
        }
        let mut taken = 0;
        while taken < most && self.look() {
            let reader = self.reader.as_mut().expect("a look has found a message");
            to.push(reader.peek());
            reader.advance();
            taken += 1;
        }
        let consumed = self.reader.as_ref().map_or(0, |reader| reader.position().wrapping_sub(self.from));
        self.consumed(consumed);
        Ok(taken)
    }

    /// The same of a lossy one, whose sender may never pause: no more than have room. What stops it is the result of the next
    /// call.
    fn take_some_whole(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, BroadcastError> {
        to.push(self.take()?);
        let mut taken = 1;
        while taken < most.min(self.capacity as usize) && self.look() && self.lost == 0 {
            match self.take() {
                Ok(message) => to.push(message),
                Err(BroadcastError::Lagged(lost)) => {
                    self.lost = lost;
                    break;
                }
                Err(_) => break,
            }
            taken += 1;
        }
        Ok(taken)
    }

    /// What a look has found.
    #[inline]
    fn take(&mut self) -> Result<T, BroadcastError> {
        if self.lost > 0 {
            return Err(BroadcastError::Lagged(core::mem::take(&mut self.lost)));
        }
        let reader = self.reader.as_mut().expect("a look has found a message");
        if !self.is_lossy {
            let message = reader.peek();
            reader.advance();
            let consumed = reader.position().wrapping_sub(self.from);
            self.consumed(consumed);
            return Ok(message);
        }
        match reader.peek_whole() {
            Some(message) => {
                reader.advance();
                self.keep = self.capacity;
                Ok(message)
            }
            None if self.catch_up() => Err(BroadcastError::Lagged(core::mem::take(&mut self.lost))),
            None => Err(BroadcastError::Ended(self.end.fail(Error::Broken))),
        }
    }
}

impl Options {
    /// The receiver of a broadcast, lossy or not, over a socket: of [`connect`](crate::connect), or a
    /// [`seat`](crate::BroadcastSender::seat). It says hello at once.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or no descriptors.
    pub fn broadcast_receiver<T: Message>(&self, socket: OwnedFd) -> Result<BroadcastReceiver<T>, Error> {
        let link = Link::new(socket, Role::Receiver, shape::<T>(self, Kind::Broadcast), 0, self)?;
        let mut end = End::new(link)?;
        end.meet(None);
        let (reader, from, is_lossy) = (None, 0, false);
        Ok(BroadcastReceiver { inlet: BroadcastInlet { end, reader, from, is_lossy, capacity: 0, keep: 0, lost: 0 } })
    }
}

impl<T: Message> BroadcastReceiver<T> {
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
    /// It has [lost](BroadcastError::Lagged) messages, and goes on with the next call; or there is none, and the sender is
    /// gone.
    #[inline]
    pub fn recv(&mut self) -> Result<T, BroadcastError> {
        self.recv_until(None)
    }

    /// Receives a message if there is one. Never blocks.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv), or there is [none](BroadcastError::Empty).
    pub fn try_recv(&mut self) -> Result<T, BroadcastError> {
        self.look_now()?;
        self.inlet.take()
    }

    #[inline]
    fn look_now(&mut self) -> Result<(), BroadcastError> {
        if self.inlet.look() {
            return Ok(());
        }
        self.inlet.try_ready().map_err(|error| error.map_or(BroadcastError::Empty, BroadcastError::Ended))
    }

    /// As [`recv`](Self::recv), for at most this long.
    ///
    /// # Errors
    /// As there, or there was [none](BroadcastError::Empty) for all that time.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<T, BroadcastError> {
        self.recv_until(deadline(limit))
    }

    /// As [`recv`](Self::recv), until then at most.
    ///
    /// # Errors
    /// As for [`recv_timeout`](Self::recv_timeout).
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, BroadcastError> {
        self.recv_until(Some(deadline))
    }

    #[inline]
    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, BroadcastError> {
        self.look_until(deadline)?;
        self.inlet.take()
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

    /// Receives at least one message and at most `most`, of those that are there, and appends them to `to`; waits while there
    /// is none. How many. Ends in front of messages that were lost.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    pub fn recv_batch(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, BroadcastError> {
        if most == 0 {
            return Ok(0);
        }
        self.look_until(None)?;
        self.inlet.take_some(to, most)
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
        self.inlet.take_some(to, most)
    }

    /// Messages, until the sender is gone; waits for each, and passes over those that are lost.
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

    /// Whether the sender is gone; messages may still be there. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.inlet.end.is_over()
    }

    /// Waits until the sender is there, for at most this long; whether it is.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        crate::pipe::met_within(&mut self.inlet, limit)
    }

    /// How many times it looks for a message before it sleeps; 0: it sleeps at once, `u32::MAX`: it never does.
    pub fn set_spin(&mut self, looks: u32) {
        self.inlet.end.spin = Some(looks);
    }

    /// For an event loop: if there is no message, the [descriptor](AsFd::as_fd) becomes readable when there is one, or
    /// when the sender is gone. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.inlet.arm()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T> BroadcastReceiver<T> {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end.link
    }
}

impl<T> AsFd for BroadcastReceiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end.as_fd()
    }
}

impl<T> fmt::Debug for BroadcastReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastReceiver").finish_non_exhaustive()
    }
}
