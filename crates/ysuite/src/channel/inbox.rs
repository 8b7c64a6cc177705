//! The inbox: the receiving part of a mailbox. It has two mpsc channels, for urgent and for ordinary messages. Where
//! there is a bound it also has an mpmc channel for the ordinary ones. There is one parker for all of them.
//!
//! `InboxSender`: any thread; connecting is lock-free, and so is every method that is not documented to wait. `Inbox`:
//! one thread at a time; taking is wait-free in the number of active lanes, and lock-free with an mpmc channel.
//!
//! Each queue does its own arming: the sender of an armed lane raises its id and wakes the parker. The inbox never
//! waits in the mpmc channel's own list. So the sender that has put a message into that channel wakes the parker
//! itself, after the full fence that [`Parker::wake`] executes.
//!
//! Cannot: know the order between lanes, or between urgent and ordinary messages. Notices, which no bound may delay, go
//! through the ordinary mpsc channel. With an mpmc channel each notice waits for the messages that were in that channel
//! before it.

use core::ptr::NonNull;
#[cfg(feature = "select")]
use core::task::{Context, Poll};
use std::time::Duration;

use super::iter::Receive as _;
#[cfg(feature = "select")]
use super::mpmc::MpmcHandle as _;
use super::mpsc::{self, Lanes, MpscShared, TooManySenders};
use super::receive::{ReadingEnd, RecvBackoff};
use super::{RecvTimeoutError, SendTimeoutError, Spin, TrySendError, mpmc};
use crate::os::Deadline;
use crate::passive::Passive;
use crate::queue::ypipe::InSlot;
use crate::signal::{AttachError, Registration};
use crate::statistics::Meter;
use crate::sync::{Arc, AtomicUsize, Ordering, window};
use crate::wait::one::{self, WaitingEnd};
use crate::wait::{Parker, WakeTarget};

// USER CODE: none (only a select polls a mailbox: its sleep flag wakes by a futex, a signal or the waker of a select)
/// The sending part, shared by all senders.
pub(crate) struct InboxSender<T> {
    ordinary: Arc<MpscShared<T>>,
    urgent: Arc<MpscShared<T>>,
    exchange: Option<mpmc::Sender<T>>,
    parker: Arc<Parker>,
    /// The number of holders that may send, by [`enter`](Self::enter) and [`leave`](Self::leave). At 0 the inbox is
    /// closed, until there are some again.
    holders: Arc<AtomicUsize>,
}

impl<T> InboxSender<T> {
    /// A lane for ordinary messages, or for notices where there is a bound.
    pub(crate) fn ordinary(&self) -> Result<mpsc::Sender<T>, TooManySenders> {
        mpsc::Sender::connect(&self.ordinary)
    }

    /// A lane for urgent messages.
    pub(crate) fn urgent(&self) -> Result<mpsc::Sender<T>, TooManySenders> {
        mpsc::Sender::connect(&self.urgent)
    }

    /// Puts an ordinary message into the mpmc channel if there is room. Lock-free.
    ///
    /// # Panics
    /// Without a bound.
    pub(crate) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.exchange().try_send(message).inspect(|()| self.call())
    }

    /// Puts an ordinary message into the mpmc channel; waits until there is room.
    ///
    /// # Panics
    /// Without a bound.
    pub(crate) fn send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.exchange().send(message).inspect(|()| self.call()).map_err(TrySendError::from)
    }

    /// Puts an ordinary message into the mpmc channel; waits for room for at most `timeout`.
    ///
    /// # Panics
    /// Without a bound.
    pub(crate) fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.exchange().send_timeout(message, timeout).inspect(|()| self.call())
    }

    /// Puts an ordinary message into the mpmc channel; where there is no room it replaces the oldest message. Returns
    /// that one.
    ///
    /// # Panics
    /// Without a bound.
    pub(crate) fn force_send(&self, message: T) -> Result<Option<T>, TrySendError<T>> {
        self.exchange().force_send(message).inspect(|_| self.call()).map_err(TrySendError::from)
    }

    /// After a message was put into the mpmc channel: wakes the inbox.
    fn call(&self) {
        window();
        self.parker.wake();
    }

    fn exchange(&self) -> &mpmc::Sender<T> {
        self.exchange.as_ref().expect("an mpmc channel, since there is a bound")
    }

    /// One more holder may send.
    pub(crate) fn enter(&self) {
        // ORDERING: Relaxed; the caller is a holder, which stays counted meanwhile, or the thread of the inbox's owner.
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// One holder fewer may send. The last one wakes the inbox.
    #[inline(never)]
    pub(crate) fn leave(&self) {
        // ORDERING: Release pairs with the Acquire in `is_closed`: an owner that finds no holder sees all that they
        //     have sent. Read-modify-writes continue each other's release sequences.
        if self.holders.fetch_sub(1, Ordering::Release) == 1 {
            self.parker.wake();
        }
    }
}

/// The receiving part.
pub(crate) struct Inbox<T> {
    queues: Queues<T>,
    backoff: RecvBackoff,
}

struct Queues<T> {
    urgent: Lanes<T>,
    ordinary: Lanes<T>,
    /// Where there is a bound: the mpmc channel for ordinary messages. `ordinary` then holds only notices.
    bounded: Option<Bounded<T>>,
    parker: Arc<Parker>,
    holders: Arc<AtomicUsize>,
}

/// The mpmc channel, and a notice that waits for the messages that were in it before the notice.
struct Bounded<T> {
    exchange: mpmc::Receiver<T>,
    /// The notice, and the position that the mpmc channel must reach before it is due.
    notice: Option<(T, u64)>,
}

impl<T> Bounded<T> {
    // MUTANT: Speed only: the lanes themselves find that there is no notice.
    /// Fetches the next notice, if there is none yet.
    fn fetch(&mut self, notices: &mut Lanes<T>) {
        if self.notice.is_none() && !notices.is_quiet() {
            // The position is read after the notice was taken: messages that the notice's sender had put into the mpmc
            // channel before are before that position.
            self.notice = notices.take().map(|notice| (notice.take(), self.exchange.place()));
        }
    }

    fn is_due(&self) -> bool {
        self.notice.as_ref().is_some_and(|(_, position)| self.exchange.has_reached(*position))
    }

    fn take(&mut self, notices: &mut Lanes<T>) -> Option<T> {
        self.fetch(notices);
        if self.is_due() {
            return self.notice.take().map(|(notice, _)| notice);
        }
        self.exchange.try_recv().ok()
    }

    fn has_message(&mut self, notices: &mut Lanes<T>) -> bool {
        self.fetch(notices);
        self.is_due() || self.exchange.has_message()
    }
}

impl<T> Queues<T> {
    // MUTANT: Speed only: urgent lanes stay active for longer, or a message raises its lane again. The next check
    // finds it.
    /// Urgent messages are rare. After them their lanes are armed, so that the check for the next costs only a few
    /// loads.
    #[cold]
    #[inline(never)]
    fn take_urgent_slowly(&mut self) -> Option<T> {
        loop {
            let message = self.urgent.take();
            if message.is_some() || !self.urgent.arm_all() {
                return message.map(InSlot::take);
            }
        }
    }

    // MUTANT: At worst it reports a message that is not there: the take that follows checks the lane.
    fn has_message(&mut self) -> bool {
        let ordinary = match &mut self.bounded {
            None => self.ordinary.has_message(),
            Some(bounded) => bounded.has_message(&mut self.ordinary),
        };
        ordinary || !self.urgent.is_quiet() && self.urgent.has_message()
    }

    /// Whether a notice waits for messages that were put into the mpmc channel before it. The sender that completes
    /// such a message wakes the inbox.
    fn holds_notice(&self) -> bool {
        self.bounded.as_ref().is_some_and(|bounded| bounded.notice.is_some())
    }

    fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `leave`: what the holders have sent is visible.
        self.holders.load(Ordering::Acquire) == 0
    }
}

impl<T> WaitingEnd for Queues<T> {
    fn is_ready(&mut self) -> bool {
        self.has_message() || self.is_closed()
    }

    fn passive(&self) -> &Passive {
        &self.parker.word
    }

    fn target(&self) -> &WakeTarget {
        &self.parker.target
    }

    // MUTANT: Speed only: `arm_further` arms each lane instead, and checks it after its barrier.
    fn arm(&mut self, tokens: u32) {
        self.arm_all();
        window();
        self.parker.word.arm(tokens);
    }

    fn is_all_armed(&self) -> bool {
        self.urgent.is_all_armed() && (self.holds_notice() || self.ordinary.is_all_armed())
    }

    fn arm_all(&mut self) -> bool {
        let urgent = self.urgent.arm_all();
        // Notices after one that waits for the mpmc channel wait with it: there is no need to poll them.
        let ordinary = !self.holds_notice() && self.ordinary.arm_all();
        urgent || ordinary
    }
}

impl<T> Inbox<T> {
    /// An inbox with room for `bound` ordinary messages. `None`: without a bound.
    ///
    /// # Panics
    /// When the bound is 0, or there is no memory for it.
    pub(crate) fn new(bound: Option<usize>) -> (InboxSender<T>, Self) {
        let (parker, holders) = (Arc::new(Parker::new(Meter::default())), Arc::new(AtomicUsize::new(0)));
        let (urgent, urgent_lanes) = mpsc::shared(&parker);
        let (ordinary, ordinary_lanes) = mpsc::shared(&parker);
        assert!(bound != Some(0), "an inbox needs a capacity of at least 1");
        let (exchange, receiver) = bound.map(mpmc::bounded).unzip();
        let bounded = receiver.map(|exchange| Bounded { exchange, notice: None });
        let sender = InboxSender { ordinary, urgent, exchange, parker: parker.clone(), holders: holders.clone() };
        let queues = Queues { urgent: urgent_lanes, ordinary: ordinary_lanes, bounded, parker, holders };
        (sender, Self { queues, backoff: RecvBackoff::new(None) })
    }

    // MUTANT: Speed only: the slow path checks the urgent lanes itself.
    /// Whether there is no urgent message. A few loads.
    #[inline(always)]
    pub(crate) fn has_no_urgent(&self) -> bool {
        self.queues.urgent.is_quiet()
    }

    // MUTANT: Speed only: the search that follows takes the same message. Killed only by
    // `an_ordinary_message_begins_the_urgent_ones_turn_anew_however_it_is_received`.
    /// Takes the next ordinary message, if it `is_wanted` and can be had at once: where there is no bound and no urgent
    /// message, and the current lane has one. Returns its location: the caller moves it out before this inbox is used
    /// again.
    #[inline(always)]
    pub(crate) fn take_in_place(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<NonNull<T>> {
        if self.queues.bounded.is_some() || !self.has_no_urgent() {
            return None;
        }
        self.queues.ordinary.take_in_place(is_wanted)
    }

    // MUTANT: Speed only: the slow path checks the urgent lanes itself.
    /// The next urgent message, if there is one.
    #[inline(always)]
    pub(crate) fn take_urgent(&mut self) -> Option<T> {
        if self.has_no_urgent() { None } else { self.queues.take_urgent_slowly() }
    }

    /// The next ordinary message, if there is one.
    #[inline(always)]
    pub(crate) fn take_ordinary(&mut self) -> Option<T> {
        match &mut self.queues.bounded {
            None => self.queues.ordinary.take().map(InSlot::take),
            Some(bounded) => bounded.take(&mut self.queues.ordinary),
        }
    }

    // WAITS: for a message of any type or rank; ends: a lane's sender, a sender that has filled a cell of the bounded
    //     queue, the last holder, the deadline; spin: as `block` of `wait/one.rs`; it polls urgent and ordinary lanes
    //     and the bounded queue, all of them. A notice that waits for earlier messages of the bounded queue is woken by
    //     the sender that finishes the last of these; test: tests/loom/slow_sender.rs:
    //     a_slow_sender_against_a_mailbox_that_sleeps_twice, tests/loom/slow_sender.rs:
    //     a_slow_urgent_sender_against_a_mailbox_that_sleeps_twice
    // WAITS: `Mailbox::receive`, `receive_timeout`, `receive_only`, `receive!`; spin: `None` parks at once, `Adaptive`
    //     polls first, `Forever` never parks; fairness: every search takes both ranks: urgent messages yield after
    //     32 received, or 128 passed over; the deadline is checked after each 4,096 passed over; test:
    //     tests/suite/mailbox.rs: without_looking_before_sleeping
    /// After finding nothing: blocks until there may be a message, or there is no holder to send one, or the deadline
    /// has passed.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait(&mut self, deadline: Deadline) -> Result<(), RecvTimeoutError> {
        self.over()?;
        let position = self.queues.ordinary.position();
        self.backoff.look_away(position, deadline, size_of::<T>());
        if self.backoff.wait(&mut self.queues, deadline) { self.over() } else { Err(RecvTimeoutError::Timeout) }
    }

    // MUTANT: Speed only: a message that came while the id was taken down raises it again, and the next call finds it.
    /// After finding nothing: `Ok` if a message has arrived meanwhile. An attached inbox takes its id down.
    #[cold]
    #[inline(never)]
    pub(crate) fn rest(&mut self) -> Result<(), RecvTimeoutError> {
        self.over()?;
        if one::rest(&mut self.queues) { self.over() } else { Err(RecvTimeoutError::Timeout) }
    }

    /// An error where the inbox is closed and has no more messages.
    fn over(&mut self) -> Result<(), RecvTimeoutError> {
        if self.queues.is_closed() && !self.queues.has_message() {
            return Err(RecvTimeoutError::Disconnected);
        }
        Ok(())
    }

    pub(crate) fn set_spin(&mut self, spin: Spin) {
        self.backoff.set_spin(spin);
    }

    /// Registers the waker of a select until there may be a message, or there is no holder to send one.
    #[cfg(feature = "select")]
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        one::poll(&mut self.queues, context)
    }

    /// The select waits no longer.
    #[cfg(feature = "select")]
    pub(crate) fn forget_task(&mut self) {
        one::forget(&mut self.queues);
    }

    /// A number that grows with each message of a bounded queue, from which a sender may take the oldest.
    #[cfg(feature = "select")]
    pub(crate) fn moves(&self) -> u64 {
        self.queues.bounded.as_ref().map_or(0, |bounded| bounded.exchange.parts().moves())
    }

    pub(crate) fn attach(&mut self, registration: Registration) -> Result<(), AttachError> {
        one::attach(&mut self.queues, registration)
    }

    pub(crate) fn registration(&self) -> Option<&Registration> {
        one::registration(&self.queues)
    }

    pub(crate) fn detach(&mut self) -> bool {
        one::detach(&mut self.queues)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_armed_that_are_found_empty_and_the_others_are_to_be_looked_at() {
        for is_urgent in [true, false] {
            let (sender, mut inbox) = Inbox::new(None);
            let mut lane = if is_urgent { sender.urgent() } else { sender.ordinary() }.unwrap();
            (0..2).for_each(|number| lane.send(number).unwrap());
            for number in 0..2 {
                let taken = if is_urgent { inbox.take_urgent() } else { inbox.take_ordinary() };
                assert_eq!(taken, Some(number));
                assert!(!inbox.queues.is_all_armed());
                assert_eq!(inbox.queues.arm_all(), number == 0);
            }
            assert!(inbox.queues.is_all_armed() && !inbox.queues.has_message());
        }
    }

    #[test]
    fn a_look_finds_a_notice_beside_a_bound() {
        let (sender, mut inbox) = Inbox::new(Some(2));
        let mut notices = sender.ordinary().unwrap();
        for number in 0..3 {
            assert!(!inbox.queues.has_message());
            notices.send(number).unwrap();
            assert!(inbox.queues.has_message());
            assert_eq!(inbox.take_ordinary(), Some(number));
        }
    }

    /// Nor does the inbox check them again and again instead of sleeping.
    #[test]
    fn notices_behind_one_that_waits_for_a_message_need_not_be_armed() {
        let (sender, mut inbox) = Inbox::new(Some(2));
        let mut notices = sender.ordinary().unwrap();
        (1..3).for_each(|number| notices.send(number).unwrap());
        let queues = &mut inbox.queues;
        assert!(queues.has_message());
        // No test can stop a sender between claiming its cell and filling it. For the notice it is as if there were
        // one.
        let waiting = queues.bounded.as_mut().and_then(|bounded| bounded.notice.as_mut());
        waiting.expect("it was fetched").1 += 1;
        assert!(!queues.has_message());
        assert!(!queues.arm_all() && queues.is_all_armed());
        sender.try_send(0).unwrap();
        assert!(inbox.queues.has_message());
        (0..3).for_each(|number| assert_eq!(inbox.take_ordinary(), Some(number)));
        assert!(!inbox.queues.has_message());
    }
}
