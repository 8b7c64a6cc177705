//! The receiver of loans.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::borrowed::{Borrowed, Keep, Place};
use super::{IS_SEALED, Ticket, layout, shape, table, tickets};
use crate::end::{End, Half, deadline, ended};
use crate::link::Link;
use crate::os::{self, Own, PAGE};
use crate::page::{CONSUMED, RING};
use crate::pipe::{Inlet, limited, met_within};
use crate::ring::Look;
use crate::ring::typed::Reader;
use crate::{Error, Options, RecvTimeoutError, TryRecvError};

/// The receiving end of loans: it is lent all messages that a [`LoanSender`](crate::LoanSender) sends once it has
/// noticed this receiver, each as a [`Borrowed`], and may hold as many at a time as it likes.
///
/// Messages that it has not received, and those that it holds, are slots that the sender does not have: a receiver that is
/// slow holds the sender up, and by it all others. One that is dropped while it holds some counts as a receiver until it has
/// dropped them.
pub struct LoanReceiver {
    inlet: LoanInlet,
}

struct LoanInlet {
    /// Until it is dropped.
    end: Option<End>,
    table: Arc<Own>,
    /// Once it has joined.
    joined: Option<Joined>,
    /// Somebody was told that it can do no more.
    has_failed: bool,
}

struct Joined {
    reader: Reader<Ticket>,
    keep: Arc<Keep>,
    from: u64,
    slots: usize,
    /// The most bytes of a slot.
    slot: usize,
}

impl Half for LoanInlet {
    #[inline]
    fn end(&mut self) -> &mut End {
        self.end.as_mut().expect("an end that was not dropped")
    }
}

impl Inlet for LoanInlet {
    #[cold]
    fn attach(&mut self) {
        let table = Arc::clone(&self.table);
        let link = &mut self.end().link;
        let Some(sender) = link.ringer() else { return };
        let Some(met) = &mut link.met else { return };
        let Some(from) = met.joined_at() else { return };
        let (slot, slots) = (met.header.shape.size, met.header.capacity);
        let Some(layout) = layout(slot, slots) else { return };
        let Some(pool) = met.shared.take() else { return };
        // SAFETY: the region has the size of a pool of these slots, with its ring behind its page, as `Link::accept` has
        // checked, and lives as long as `keep`.
        let mut reader = unsafe { Reader::new(pool.start().add(RING), tickets(slots)) };
        reader.go_to(from);
        let keep = Keep { pool, table, sender, layout, process: os::process(), parked: Mutex::new(None) };
        self.joined = Some(Joined { reader, keep: Arc::new(keep), from, slots, slot });
    }

    fn detach(&mut self) {
        self.has_failed = true;
    }

    fn stand_off(&mut self) -> bool {
        false
    }

    #[inline]
    fn look_in(&mut self) -> Look {
        if self.has_failed {
            return Look::Nothing;
        }
        if self.joined.is_none() {
            self.attach();
        }
        self.joined.as_mut().map_or(Look::Nothing, |joined| joined.reader.look())
    }
}

impl LoanInlet {
    /// The next message. A look has found its ticket.
    fn take(&mut self) -> Result<Borrowed, Error> {
        let end = self.end.as_mut().expect("an end that was not dropped");
        let joined = self.joined.as_mut().expect("a look has found a message");
        let borrowed = match joined.borrow(&mut end.link) {
            Ok(borrowed) => borrowed,
            Err(error) => return Err(self.give_up(error)),
        };
        joined.reader.advance();
        let consumed = joined.reader.position().wrapping_sub(joined.from);
        table::consume(end.link.own.word(CONSUMED), consumed);
        if let Place::Sealed(_) = borrowed.place {
            // It is given back as soon as it is received.
            joined.keep.wake();
        }
        Ok(borrowed)
    }
}

impl Joined {
    /// What the next ticket is for. A ticket that no sender writes is an error.
    fn borrow(&self, link: &mut Link) -> Result<Borrowed, Error> {
        let [what, length] = self.reader.peek();
        let length = usize::try_from(length).map_err(|_| Error::Broken)?;
        if what & IS_SEALED != 0 {
            let sealed = link.take_sealed(u32::try_from(what ^ IS_SEALED).map_err(|_| Error::Broken)?)?;
            let is_within = length <= sealed.bytes().len();
            return if is_within { Ok(Borrowed { place: Place::Sealed(sealed), length }) } else { Err(Error::Broken) };
        }
        let slot = usize::try_from(what).ok().filter(|slot| *slot < self.slots && length <= self.slot);
        let slot = slot.ok_or(Error::Broken)?;
        let (at, bit) = table::place(slot);
        if !table::hold(self.keep.table.word(at), bit) {
            return Err(Error::Broken);
        }
        Ok(Borrowed { place: Place::Slot(Arc::clone(&self.keep), slot), length })
    }
}

impl Drop for LoanInlet {
    fn drop(&mut self) {
        let (Some(joined), Some(end)) = (self.joined.take(), self.end.take()) else { return };
        if !end.is_forked() {
            table::consume(end.link.own.word(CONSUMED), u64::MAX);
            joined.keep.wake();
        }
        joined.keep.park(end);
    }
}

impl Options {
    /// The receiver of loans over a socket: of [`connect`](crate::connect), or a [`seat`](crate::LoanSender::seat). It says
    /// hello at once. A pool of more bytes than [`largest_region`](Self::largest_region) is refused.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or no descriptors.
    pub fn loan_receiver(&self, socket: OwnedFd) -> Result<LoanReceiver, Error> {
        let table = Arc::new(Own::new(PAGE)?);
        let mut end = End::new(Link::borrowing(socket, shape(self, 0), Arc::clone(&table), self)?)?;
        end.meet(None);
        Ok(LoanReceiver { inlet: LoanInlet { end: Some(end), table, joined: None, has_failed: false } })
    }
}

impl LoanReceiver {
    /// As [`Options::loan_receiver`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().loan_receiver(socket)
    }

    /// Receives a message; waits while there is none.
    ///
    /// # Errors
    /// There is none, and the sender is gone. A [`large`](crate::LoanSender::large) one that cannot be mapped, for want of
    /// memory or as it is [too large](Options::largest_region), is [`Refused`](Error::Refused), and so is all behind it.
    pub fn recv(&mut self) -> Result<Borrowed, Error> {
        if !self.inlet.look() {
            self.inlet.ready(None).map_err(ended)?;
        }
        self.inlet.take()
    }

    /// Receives a message if there is one. Never blocks.
    ///
    /// # Errors
    /// There is none, or as for [`recv`](Self::recv).
    pub fn try_recv(&mut self) -> Result<Borrowed, TryRecvError> {
        if !self.inlet.look() {
            self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))?;
        }
        self.inlet.take().map_err(TryRecvError::Ended)
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// There was none for all that time, or as there.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<Borrowed, RecvTimeoutError> {
        self.recv_until(deadline(limit))
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// There was none until then, or as there.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<Borrowed, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<Borrowed, RecvTimeoutError> {
        if !self.inlet.look() {
            self.inlet.ready(deadline).map_err(limited)?;
        }
        self.inlet.take().map_err(RecvTimeoutError::Ended)
    }

    /// Iterates over messages until the channel ends; waits for each.
    pub fn iter(&mut self) -> impl Iterator<Item = Borrowed> + '_ {
        core::iter::from_fn(|| self.recv().ok())
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
        met_within(&mut self.inlet, limit)
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
impl LoanReceiver {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end.as_ref().expect("an end that was not dropped").link
    }

    pub(crate) fn table(&self) -> &Own {
        &self.inlet.table
    }
}

impl AsFd for LoanReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end.as_ref().expect("an end that was not dropped").as_fd()
    }
}

impl fmt::Debug for LoanReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanReceiver").finish_non_exhaustive()
    }
}
