//! The sender of loans.

use core::fmt;
use core::ptr::NonNull;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::lent::{Loan, Place};
use super::pool::{Outbound, Pool};
use super::{IS_SEALED, MOST_SEALED, Ticket, layout, shape, table, tickets};
use crate::end::{Unfulfilled, deadline};
use crate::funnel::Ended;
use crate::home::{Crowd, Home};
use crate::link::Shared;
use crate::os::Draft;
use crate::page::{ASLEEP, RING};
use crate::ring::typed::Writer;
use crate::sync::AtomicU64;
use crate::{Error, LoanError, Options, Why};

/// The sending end of loans: a pool of slots, which it fills in place and lends to all its receivers, each a
/// [`LoanReceiver`](crate::LoanReceiver) in a process of its own.
///
/// A slot is free again when each receiver has received what was in it, and has dropped it, or is gone: one that dies holds
/// nothing. If none is free the pool is *dry*, and [`loan`](Self::loan) waits. So a receiver that is slow or stopped, or keeps
/// what it has, holds the sender up ([`slowest`](Self::slowest) says which); and if receivers keep what they have until the next message comes, there must be a slot
/// more than they keep. A message in a slot costs a few words, however long it is. All receivers can read the whole pool,
/// also what was lent before they came.
///
/// What is longer than a slot can be lent as memory of its own, by [`large`](Self::large).
///
/// Receivers come and go as those of a [`WatchSender`](crate::WatchSender).
///
/// ```
/// use ysuite_shm::{Error, LoanReceiver, LoanSender};
///
/// let mut sender = LoanSender::without_name(4, 1_000_000)?;
/// let mut receiver = LoanReceiver::from_fd(sender.seat()?)?;
/// sender.serve();
/// let mut frame = sender.loan(640 * 480).expect("a receiver is there");
/// frame.fill(7);
/// frame.send()?;
/// let frame = receiver.recv()?;
/// assert_eq!((frame.len(), frame.read::<[u8; 4]>(1_000)), (640 * 480, Some([7; 4])));
/// assert_eq!((sender.free(), sender.held()), (3, 1));
/// drop(frame);
/// assert_eq!(sender.free(), 4);
/// # Ok::<_, Error>(())
/// ```
pub struct LoanSender {
    writer: Writer<Ticket>,
    crowd: Crowd<Outbound>,
    /// Receivers wake it.
    is_armed: bool,
    /// Of the last memory of its own.
    number: u32,
}

impl Options {
    /// The sender of loans that listens at this name, with a pool of `slots` slots of `bytes` bytes; see
    /// [`Listener`](crate::Listener). All memory of the pool is taken at once.
    ///
    /// # Errors
    /// As for [`listen`](Self::listen), or a pool that cannot be: it has 1 to 32,768 slots of at least one byte.
    pub fn loans(&self, name: &str, slots: usize, bytes: usize) -> Result<LoanSender, Error> {
        LoanSender::new(self, Some(name), slots, bytes)
    }

    /// The sender of loans without a name, for receivers that inherit a [`seat`](LoanSender::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, or a pool that cannot be.
    pub fn loans_without_name(&self, slots: usize, bytes: usize) -> Result<LoanSender, Error> {
        LoanSender::new(self, None, slots, bytes)
    }
}

impl LoanSender {
    fn new(options: &Options, name: Option<&str>, slots: usize, slot: usize) -> Result<Self, Error> {
        let layout = layout(slot, slots).ok_or(Error::Refused(Why::Capacity))?;
        let shared = Shared::new(shape(options, slot), slots)?;
        // SAFETY: the region has a ring of this capacity behind its page, and lives as long as the crowd.
        let writer = unsafe { Writer::new(shared.memory.start().add(RING), tickets(slots)) };
        let crowd = Crowd::new(options, name, Pool::new(shared, slot, slots, layout))?;
        Ok(Self { writer, crowd, is_armed: false, number: 0 })
    }

    /// As [`Options::loans`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str, slots: usize, bytes: usize) -> Result<Self, Error> {
        Options::new().loans(name, slots, bytes)
    }

    /// As [`Options::loans_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name(slots: usize, bytes: usize) -> Result<Self, Error> {
        Options::new().loans_without_name(slots, bytes)
    }

    /// Makes a place for one more receiver: a socket for [`LoanReceiver::from_fd`](crate::LoanReceiver::from_fd), for a
    /// child to inherit. Until that is used, each message costs a system call.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.numbered_seat().map(|(_, seat)| seat)
    }

    /// As [`seat`](Self::seat), with the receiver's number, by which [`slowest`](Self::slowest) and
    /// [`next_ended`](Self::next_ended) name it.
    ///
    /// # Errors
    /// As there.
    pub fn numbered_seat(&mut self) -> Result<(u64, OwnedFd), Error> {
        self.crowd.home.seat()
    }

    /// Returns the next receiver that has ended since the last time, in order. The last few hundred are remembered. What
    /// sends, waits or serves notices an end.
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.crowd.home.ended.pop_front()
    }

    /// Returns the receiver that keeps the most from this end, by its number, and how much: the messages that it has not
    /// received, and the slots that it holds. `None`: none keeps anything. Looks at all receivers. Never blocks.
    ///
    /// One that is stopped keeps the pool dry for all. It cannot be sent away from here, as it could read a slot while that
    /// is filled anew. But it keeps nothing any more when its process is killed, which a program can do that knows it.
    pub fn slowest(&mut self) -> Option<(u64, usize)> {
        self.refresh();
        let Home { active, lanes, .. } = &self.crowd.home;
        let kept = active.iter().filter_map(|at| lanes[*at].as_ref()).map(|lane| (lane.number, lane.party.kept));
        kept.filter(|(_, kept)| *kept > 0).max_by_key(|(_, kept)| *kept)
    }

    /// A free slot for a message of this length, to be filled and [sent](Loan::send); waits while the pool is dry.
    ///
    /// # Errors
    /// [`Ended`](LoanError::Ended): no receiver is there, and none can come. With a new [`seat`](Self::seat) it goes on.
    ///
    /// # Panics
    /// If `length` is more than [`largest`](Self::largest).
    pub fn loan(&mut self, length: usize) -> Result<Loan<'_>, LoanError> {
        self.loan_until(length, None)
    }

    /// As [`loan`](Self::loan), if a slot is free. Never blocks.
    ///
    /// # Errors
    /// As there, or the pool is [`Dry`](LoanError::Dry).
    ///
    /// # Panics
    /// As there.
    pub fn try_loan(&mut self, length: usize) -> Result<Loan<'_>, LoanError> {
        self.assert_fits(length);
        self.try_ready(Self::has_slot)?;
        Ok(self.lend(length))
    }

    /// As [`loan`](Self::loan), for at most `limit`.
    ///
    /// # Errors
    /// As there, or the pool was [`Dry`](LoanError::Dry) for all that time.
    ///
    /// # Panics
    /// As there.
    pub fn loan_timeout(&mut self, length: usize, limit: Duration) -> Result<Loan<'_>, LoanError> {
        self.loan_until(length, deadline(limit))
    }

    /// As [`loan_timeout`](Self::loan_timeout), until `deadline`.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn loan_deadline(&mut self, length: usize, deadline: Instant) -> Result<Loan<'_>, LoanError> {
        self.loan_until(length, Some(deadline))
    }

    /// Memory of its own for a message of this length, all zero, to be filled and [sent](Loan::send). It is sealed then, so
    /// that its receivers may have [a slice](crate::Borrowed::as_slice) of it; each of them maps it, if it is not
    /// [too large](Options::largest_region). It takes some twenty system calls and all its pages anew, and pays from about a
    /// megabyte on. Waits while 16 of them have not been received by all.
    ///
    /// # Errors
    /// As for [`loan`](Self::loan); or the memory is [`Refused`](Error::Refused).
    pub fn large(&mut self, length: usize) -> Result<Loan<'_>, LoanError> {
        self.ready(None, Self::has_way)?;
        self.draft(length).map_err(LoanError::Ended)
    }

    /// As [`large`](Self::large), without waiting.
    ///
    /// # Errors
    /// As there; [`Dry`](LoanError::Dry): 16 have not been received by all.
    pub fn try_large(&mut self, length: usize) -> Result<Loan<'_>, LoanError> {
        self.try_ready(Self::has_way)?;
        self.draft(length).map_err(LoanError::Ended)
    }

    /// As [`large`](Self::large), for at most `limit`.
    ///
    /// # Errors
    /// As there; [`Dry`](LoanError::Dry): 16 had not been received by all until then.
    pub fn large_timeout(&mut self, length: usize, limit: Duration) -> Result<Loan<'_>, LoanError> {
        self.ready(deadline(limit), Self::has_way)?;
        self.draft(length).map_err(LoanError::Ended)
    }

    pub(crate) fn assert_fits(&self, length: usize) {
        assert!(length <= self.largest(), "a message of more bytes than a slot has");
    }

    fn loan_until(&mut self, length: usize, deadline: Option<Instant>) -> Result<Loan<'_>, LoanError> {
        self.assert_fits(length);
        self.ready(deadline, Self::has_slot)?;
        Ok(self.lend(length))
    }

    /// A slot, one of which is free.
    pub(crate) fn lend(&mut self, length: usize) -> Loan<'_> {
        let pool = &mut self.crowd.home.common;
        let slot = pool.first_free().expect("a look has found a slot");
        pool.set_free(slot, false);
        Loan { sender: self, place: Place::Slot(slot), length }
    }

    /// Memory of its own, which may be on its way.
    pub(crate) fn draft(&mut self, length: usize) -> Result<Loan<'_>, Error> {
        let draft = Draft::new(length)?;
        Ok(Loan { sender: self, place: Place::Draft(draft), length })
    }

    /// Reads what receivers have consumed, and what they hold.
    #[cold]
    #[inline(never)]
    fn refresh(&mut self) {
        let Home { active, lanes, common: pool, .. } = &mut self.crowd.home;
        pool.held.fill(0);
        let mut least = pool.position;
        for at in active.iter() {
            if let Some(lane) = &mut lanes[*at] {
                least = least.min(lane.party.look(pool));
            }
        }
        pool.settle(least);
    }

    /// Whether a slot is free.
    pub(crate) fn has_slot(&mut self) -> bool {
        let pool = &self.crowd.home.common;
        if pool.first_free().is_some() && !pool.is_warm() {
            return true;
        }
        self.refresh();
        self.crowd.home.common.first_free().is_some()
    }

    /// Whether one more message in memory of its own may be on its way.
    pub(crate) fn has_way(&mut self) -> bool {
        if self.crowd.home.common.large.len() == MOST_SEALED {
            self.refresh();
        }
        self.crowd.home.common.large.len() < MOST_SEALED
    }

    /// Why the last receiver has gone, if none is there and none can come.
    fn end_of_all(&self) -> Option<Error> {
        let home = &self.crowd.home;
        home.is_over().then(|| home.ended.back().map_or(Error::Closed, |ended| ended.error))
    }

    fn asleep(&self) -> &AtomicU64 {
        self.crowd.home.common.shared.memory.word(ASLEEP)
    }

    fn disarm(&mut self) {
        if core::mem::take(&mut self.is_armed) {
            table::wait_no_more(self.asleep());
        }
    }

    /// Whether it is as `look` wants it, and somebody is there.
    pub(crate) fn try_ready(&mut self, look: fn(&mut Self) -> bool) -> Result<(), LoanError> {
        let is_ready = look(self) || {
            self.crowd.serve(Some(Duration::ZERO));
            look(self)
        };
        match self.end_of_all() {
            Some(error) => Err(LoanError::Ended(error)),
            None if is_ready => {
                self.disarm();
                Ok(())
            }
            None => Err(LoanError::Dry),
        }
    }

    fn ready(&mut self, deadline: Option<Instant>, look: fn(&mut Self) -> bool) -> Result<(), LoanError> {
        match self.try_ready(look) {
            Err(LoanError::Dry) => {}
            other => return other,
        }
        self.wait(deadline, look).map_err(|unfulfilled| match unfulfilled {
            Unfulfilled::Timeout => LoanError::Dry,
            Unfulfilled::Ended(error) => LoanError::Ended(error),
        })
    }

    // WAITS: for what `look` finds, or the deadline; it looks, says that it sleeps, looks again, and sleeps.
    // A look meets nobody, as that of a pipe: who comes later is met by `serve`, behind the sleep.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, deadline: Option<Instant>, look: fn(&mut Self) -> bool) -> Result<(), Unfulfilled> {
        loop {
            for _ in 0..self.crowd.looks() {
                if look(self) {
                    return Ok(());
                }
                core::hint::spin_loop();
            }
            self.is_armed = true;
            table::wait_for(self.asleep());
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let found = look(self);
            let over = self.end_of_all();
            let is_late = left == Some(Duration::ZERO);
            if !found && over.is_none() && !is_late {
                self.crowd.serve(left);
            }
            self.disarm();
            match over {
                Some(error) => return Err(Unfulfilled::Ended(error)),
                None if found => return Ok(()),
                None if is_late => return Err(Unfulfilled::Timeout),
                None => {}
            }
        }
    }

    fn publish(&mut self, ticket: Ticket) {
        self.writer.write(&ticket);
        self.crowd.home.common.position = self.writer.position();
        self.crowd.published();
    }

    /// Lends this slot to all receivers.
    pub(super) fn send_slot(&mut self, slot: usize, length: usize) {
        let pool = &mut self.crowd.home.common;
        pool.published[slot] = pool.position + 1;
        self.publish([slot as u64, length as u64]);
    }

    /// Passes memory of its own on to all receivers.
    pub(super) fn send_draft(&mut self, draft: Draft, length: usize) -> Result<(), Error> {
        let memfd = draft.seal()?;
        self.number = self.number.wrapping_add(1);
        let (number, mut outcome) = (self.number, Ok(()));
        self.crowd.each_end(|end| match end.link.send_sealed(number, memfd.as_fd()) {
            Ok(()) => {}
            Err(Error::Broken) => drop(end.fail(Error::Broken)),
            Err(error) => outcome = Err(error),
        });
        outcome?;
        let pool = &mut self.crowd.home.common;
        pool.large.push_back(pool.position + 1);
        self.publish([IS_SEALED | u64::from(number), length as u64]);
        Ok(())
    }

    /// The address of a slot.
    pub(super) fn slot(&self, slot: usize) -> NonNull<u8> {
        let pool = &self.crowd.home.common;
        // SAFETY: one of the slots of the pool.
        unsafe { pool.shared.memory.start().add(pool.layout.0 + slot * pool.layout.1) }
    }

    /// A slot that was not sent is free again.
    pub(super) fn take_back(&mut self, slot: usize) {
        self.crowd.home.common.set_free(slot, true);
    }

    /// Returns how many slots are free, as receivers say it now. Looks at all receivers. Never blocks.
    pub fn free(&mut self) -> usize {
        self.refresh();
        self.crowd.home.common.free.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns how many slots receivers hold now, at least one each. Those that are neither free nor held have not been
    /// received by some. Looks at all receivers. Never blocks.
    pub fn held(&mut self) -> usize {
        self.refresh();
        self.crowd.home.common.held.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns how many slots there are.
    pub fn capacity(&self) -> usize {
        self.crowd.home.common.published.len()
    }

    /// Returns the most bytes that a slot has.
    pub fn largest(&self) -> usize {
        self.crowd.home.common.slot
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
    /// and this end has noticed it, in [`serve`](Self::serve), a loan or a send.
    pub fn receivers(&self) -> usize {
        self.crowd.joined()
    }

    /// Sets how many times this end looks for a free slot before it sleeps; 0: it sleeps at once. A time limit is
    /// checked only after them.
    pub fn set_spin(&mut self, looks: u32) {
        self.crowd.spin = Some(looks);
    }

    /// As [`arm`](Self::arm), for a sender that waits for receivers, and not for a slot.
    pub fn arm_to_serve(&mut self) -> bool {
        self.crowd.arm()
    }

    /// For an event loop: if no slot is free, the [descriptor](AsFd::as_fd) becomes readable when one may be, or when a
    /// receiver comes or goes. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.arm_until(Self::has_slot)
    }

    /// As [`arm`](Self::arm), for a message in [memory of its own](Self::large).
    pub fn arm_large(&mut self) -> bool {
        self.arm_until(Self::has_way)
    }

    fn arm_until(&mut self, look: fn(&mut Self) -> bool) -> bool {
        let are_all = self.crowd.arm();
        self.is_armed = true;
        table::wait_for(self.asleep());
        !look(self) && are_all && self.end_of_all().is_none()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl LoanSender {
    /// What its receivers read.
    pub(crate) fn memory(&self) -> &crate::os::Own {
        &self.crowd.home.common.shared.memory
    }

    /// Sends memory that need not be sealed, and publishes nothing.
    pub(crate) fn send_lie(&mut self, number: u32, memfd: BorrowedFd<'_>) {
        self.crowd.each_end(|end| end.link.send_sealed(number, memfd).unwrap());
    }

    /// Its page for the receiver at this place.
    pub(crate) fn crowd_page(&self, at: usize) -> &crate::os::Own {
        &self.crowd.home.lanes[at].as_ref().expect("a receiver").party.end.link.own
    }

    /// Publishes what no sender does.
    pub(crate) fn publish_lie(&mut self, ticket: Ticket) {
        self.publish(ticket);
    }
}

impl AsFd for LoanSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.crowd.home.poller.as_fd()
    }
}

impl fmt::Debug for LoanSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanSender").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
