//! The search for a message with a handler: which messages are offered, in which order, and where messages without a
//! handler go. The mailbox's thread only.
//!
//! A search offers the urgent messages first, those set aside before the new ones. Then it offers the ordinary ones
//! likewise, and then new ones as they come, an urgent one before each ordinary one. Messages without a handler are set
//! aside, in order. After [`URGENT_TURN`] urgent messages in a row a search offers the ordinary ones first, once.

use core::any::{Any, type_name};
#[cfg(feature = "select")]
use core::task::{Context, Poll};

use super::aside::URGENT_TURN;
use super::envelope::{Envelope, Rank};
use super::mailbox::Mailbox;
use super::receive_error::ReceiveError;
use crate::channel::RecvTimeoutError;
use crate::os::Deadline;

/// The largest number of new messages of one rank passed over before a search turns to the other rank.
const SCAN_BUDGET: u32 = if cfg!(ysuite_loom) { 2 } else { 128 };

/// The number of new messages that a search passes over between two checks of its deadline: a flood of messages without
/// a handler must not prolong it for ever.
const LATE_BUDGET: u32 = 4096;

/// Which messages are being offered. Each stage except the last offers those of one rank: first those set aside, then
/// [`left`](Search::left) new ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    OrdinaryFirst,
    UrgentSecond,
    UrgentFirst,
    /// Only those set aside.
    OrdinarySecond,
    /// New ones of both ranks.
    New,
}

impl Stage {
    fn rank(self) -> Rank {
        if matches!(self, Self::UrgentFirst | Self::UrgentSecond) { Rank::Urgent } else { Rank::Ordinary }
    }
}

/// A search under way. [`offer_next`](Self::offer_next) offers a message, `peek` borrows it, and `accept` takes it.
#[doc(hidden)]
pub struct Search<'a> {
    mailbox: &'a mut Mailbox,
    /// `Passed`: without waiting.
    deadline: Deadline,
    stage: Stage,
    /// The number of new messages that the stage may still offer.
    left: u32,
    /// The index of the offered message among those set aside.
    at: usize,
    /// Whether the message at that index is being offered.
    offered: bool,
    /// The number of new messages passed over, and how many of the last of them were urgent.
    passed: u32,
    passed_urgent: u32,
}

impl<'a> Search<'a> {
    #[inline(always)]
    pub(super) fn new(mailbox: &'a mut Mailbox, deadline: Deadline) -> Self {
        mailbox.inner().is_read_here();
        let stage = Stage::New;
        let mut search = Self { mailbox, deadline, stage, left: 0, at: 0, offered: false, passed: 0, passed_urgent: 0 };
        // MUTANT: Speed only: the stages reach the new messages anyway, urgent ones first.
        if !search.mailbox.aside.is_clear() {
            search.begin_further();
        }
        search
    }

    #[cold]
    #[inline(never)]
    fn begin_further(&mut self) {
        let aside = &mut self.mailbox.aside;
        if let Some((envelope, rank)) = aside.current.take() {
            // A guard has panicked.
            aside.push(envelope, rank);
        }
        self.stage = if aside.in_a_row >= URGENT_TURN { Stage::OrdinaryFirst } else { Stage::UrgentFirst };
        self.left = SCAN_BUDGET;
    }

    // MUTANT: Speed only: `next_further` continues with the new messages as well.
    /// Offers the next message. The message before it had no handler.
    ///
    /// # Errors
    /// If the message before it was a notice; if the time is up; if no message can come any more.
    #[inline(always)]
    pub fn offer_next(&mut self) -> Result<(), ReceiveError> {
        if self.stage != Stage::New || self.mailbox.aside.current.is_some() {
            self.next_further()
        } else {
            self.next_new()
        }
    }

    // MUTANT: Killed only by `unhandled_urgent_messages_do_not_keep_the_others_waiting`.
    #[inline(always)]
    fn next_new(&mut self) -> Result<(), ReceiveError> {
        loop {
            if self.passed_urgent < SCAN_BUDGET {
                if let Some(envelope) = self.mailbox.inbox.take_urgent() {
                    self.offer(envelope, Rank::Urgent);
                    return Ok(());
                }
            }
            if let Some(envelope) = self.mailbox.inbox.take_ordinary() {
                self.offer(envelope, Rank::Ordinary);
                return Ok(());
            }
            if self.passed_urgent < SCAN_BUDGET {
                self.wait()?;
            }
            self.passed_urgent = 0;
        }
    }

    #[inline(always)]
    fn offer(&mut self, envelope: Envelope, rank: Rank) {
        if envelope.is_notice() {
            self.mailbox.note(&envelope);
        }
        self.mailbox.aside.current = Some((envelope, rank));
    }

    #[cold]
    fn wait(&mut self) -> Result<(), ReceiveError> {
        match self.deadline {
            Deadline::Passed => waited(self.mailbox.inbox.rest()),
            deadline => waited(self.mailbox.inbox.wait(deadline)),
        }
    }

    // MUTANT: Speed only: the index only has to be past the messages that are set aside. Killed only by
    // `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
    #[cold]
    #[inline(never)]
    fn next_further(&mut self) -> Result<(), ReceiveError> {
        self.refuse()?;
        while self.stage != Stage::New {
            let rank = self.stage.rank();
            if self.offered_aside().is_some() {
                self.offered = true;
                return Ok(());
            }
            if self.left != 0 {
                self.left -= 1;
                let inbox = &mut self.mailbox.inbox;
                let new = if rank == Rank::Urgent { inbox.take_urgent() } else { inbox.take_ordinary() };
                if let Some(envelope) = new {
                    self.offer(envelope, rank);
                    return Ok(());
                }
            }
            (self.stage, self.left, self.at) = match self.stage {
                Stage::OrdinaryFirst => (Stage::UrgentSecond, SCAN_BUDGET, 0),
                Stage::UrgentFirst => (Stage::OrdinarySecond, 0, 0),
                _ => (Stage::New, 0, 0),
            };
        }
        self.next_new()
    }

    // MUTANT: The index only has to lie past the messages that are set aside.
    /// The offered message has no handler: it stays, or is set aside. A notice becomes an error.
    fn refuse(&mut self) -> Result<(), ReceiveError> {
        let aside = &mut self.mailbox.aside;
        if let Some((envelope, rank)) = aside.current.take() {
            if envelope.is_notice() {
                return Err(unhandled(envelope));
            }
            aside.push(envelope, rank);
            // It is now the last of those set aside: its stage skips it.
            self.at += 1;
            return self.pass(rank);
        }
        if core::mem::take(&mut self.offered) {
            if self.offered_aside().is_some_and(Envelope::is_notice) {
                let queue = &mut self.mailbox.aside.queues[self.stage.rank() as usize];
                return Err(unhandled(queue.remove(self.at).expect("a message has been offered")));
            }
            self.at += 1;
        }
        Ok(())
    }

    // WAITS: a search under a flood of messages of other types; ends: the message, or the deadline at the
    //     next 4,096; no other wait is in it, whatever the spin setting; test: tests/suite/mailbox/order.rs:
    //     a_search_in_a_flood_ends_when_its_deadline_has_passed
    // WAITS: fairness: urgent and ordinary messages take turns in a search, and neither starves; test:
    //     tests/suite/mailbox/order.rs:
    //     after_an_unrequested_ordinary_message_urgent_ones_have_their_turn_again
    // MUTANT: Speed only: how often the clock is read. Killed only by
    // `urgent_messages_cannot_keep_an_ordinary_one_waiting` and
    // `a_search_in_a_flood_ends_when_its_deadline_has_passed`.
    /// A new message was passed over.
    fn pass(&mut self, rank: Rank) -> Result<(), ReceiveError> {
        self.passed_urgent = if rank == Rank::Urgent { self.passed_urgent + 1 } else { 0 };
        self.passed += 1;
        if self.passed < LATE_BUDGET {
            return Ok(());
        }
        self.passed = 0;
        if self.deadline.is_over() { Err(ReceiveError::Timeout) } else { Ok(()) }
    }

    fn offered_aside(&self) -> Option<&Envelope> {
        self.mailbox.aside.queues[self.stage.rank() as usize].get(self.at)
    }

    /// The offered message.
    #[inline(always)]
    fn offered(&self) -> &Envelope {
        match &self.mailbox.aside.current {
            Some((envelope, _)) => envelope,
            None => self.offered_aside().expect("a message has been offered"),
        }
    }

    // USER CODE: patterns and guards of `receive!` (also a user's `PartialEq` in a guard); the offered message is in
    //     the hand, or among those set aside; re-entrance: the mailbox is borrowed; by an address it may send to
    //     itself; panic: the message stays, before all others; test: tests/suite/mailbox/receiving.rs:
    //     a_guard_that_panics_leaves_the_message
    /// The offered message, if it is of this type.
    #[inline(always)]
    pub fn peek<T: Any + Send>(&self) -> Option<&T> {
        self.offered().downcast_ref()
    }

    /// The next message of this type.
    #[inline(always)]
    pub(super) fn find<T: Any + Send>(mut self) -> Result<T, ReceiveError> {
        if let Some(envelope) = self.next_if::<T>()? {
            return Ok(envelope.opened());
        }
        while !self.offered().is::<T>() {
            self.next_further()?;
        }
        Ok(self.accept())
    }

    /// The next message, if it is of this type; otherwise it stays the next.
    #[inline(always)]
    pub(super) fn find_only<T: Any + Send>(mut self) -> Result<T, ReceiveError> {
        if let Some(envelope) = self.next_if::<T>()? {
            return Ok(envelope.opened());
        }
        if self.offered().is::<T>() {
            return Ok(self.accept());
        }
        let found = self.offered().type_name();
        self.refuse()?;
        Err(ReceiveError::Mismatch { expected: type_name::<T>(), found })
    }

    /// The next message, of any type.
    pub(super) fn find_any(mut self) -> Result<Envelope, ReceiveError> {
        self.offer_next()?;
        Ok(self.accept_any())
    }

    // MUTANT: Speed only: `next_further` continues with the new messages as well.
    /// Offers the first message, or takes it at once if it is new and of this type: most are, and are moved once less.
    #[inline(always)]
    fn next_if<T: Any + Send>(&mut self) -> Result<Option<Envelope>, ReceiveError> {
        if self.stage != Stage::New {
            return self.next_further().map(|()| None);
        }
        while self.mailbox.inbox.has_no_urgent() {
            let Some(envelope) = self.mailbox.inbox.take_ordinary() else {
                self.wait()?;
                continue;
            };
            if envelope.is_plainly::<T>() {
                self.mailbox.aside.received(Rank::Ordinary);
                return Ok(Some(envelope));
            }
            self.offer(envelope, Rank::Ordinary);
            return Ok(None);
        }
        self.next_new().map(|()| None)
    }

    /// Takes the offered message, which is of this type.
    #[inline(always)]
    pub fn accept<T: Any + Send>(self) -> T {
        self.take().opened()
    }

    /// Takes the offered message, of any type.
    pub fn accept_any(self) -> Envelope {
        self.take().noticed()
    }

    #[inline(always)]
    fn take(mut self) -> Envelope {
        self.take_offered()
    }

    #[inline(always)]
    fn take_offered(&mut self) -> Envelope {
        match self.mailbox.aside.current.take() {
            Some((envelope, rank)) => {
                // MUTANT: Killed only by `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
                self.mailbox.aside.received(rank);
                envelope
            }
            None => self.take_aside(),
        }
    }

    #[cold]
    fn take_aside(&mut self) -> Envelope {
        let rank = self.stage.rank();
        // MUTANT: Killed only by `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
        self.mailbox.aside.received(rank);
        self.mailbox.aside.remove(rank, self.at)
    }
}

/// For a receive that is one of several operations: of a search that does not wait.
#[cfg(feature = "select")]
impl Search<'_> {
    /// The next message of this type. After `Timeout` the search may continue.
    pub(super) fn find_next<T: Any + Send>(&mut self) -> Result<T, ReceiveError> {
        loop {
            self.offer_next()?;
            if self.offered().is::<T>() {
                return Ok(self.take_offered().opened());
            }
        }
    }

    /// Blocks until there may be a message, or none can come.
    pub(super) fn wait_until(&mut self, deadline: Deadline) -> Result<(), ReceiveError> {
        waited(self.mailbox.inbox.wait(deadline))
    }

    /// Registers the waker until there may be a message, or none can come.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.mailbox.inbox.poll(context)
    }

    pub(super) fn forget_task(&mut self) {
        self.mailbox.inbox.forget_task();
    }

    pub(super) fn moves(&self) -> u64 {
        self.mailbox.inbox.moves()
    }
}

fn waited(outcome: Result<(), RecvTimeoutError>) -> Result<(), ReceiveError> {
    outcome.map_err(|error| match error {
        RecvTimeoutError::Timeout => ReceiveError::Timeout,
        RecvTimeoutError::Disconnected => ReceiveError::Disconnected,
    })
}

/// The error that a notice becomes.
#[cold]
fn unhandled(envelope: Envelope) -> ReceiveError {
    let link = envelope.downcast().map(ReceiveError::LinkTerminated);
    link.or_else(|envelope| envelope.downcast().map(ReceiveError::OwnerTerminated)).expect("a notice")
}
