//! The search for a message with a handler: which messages are offered, in which order, and where messages without a
//! handler go. The mailbox's thread only.
//!
//! A search offers the urgent messages first, those set aside before the new ones. Then it offers the ordinary ones
//! likewise, and then new ones as they come, an urgent one before each ordinary one. Messages without a handler are set
//! aside, in order. After [`URGENT_TURN`] urgent messages in a row a search offers the ordinary ones first, once.

use std::collections::VecDeque;

use core::any::{Any, type_name};
use core::ptr::NonNull;

use super::Mailbox;
use super::envelope::Envelope;
use super::error::ReceiveError;
use super::outbox::Rank;
use crate::channel::RecvTimeoutError;
use crate::foreign::Panics;
use crate::os::Deadline;

/// The largest number of urgent messages received in a row while an ordinary one with a handler waits.
pub const URGENT_TURN: u32 = if cfg!(ysuite_loom) { 2 } else { 32 };

/// The largest number of new messages of one rank passed over before a search turns to the other rank.
const SCAN_BUDGET: u32 = if cfg!(ysuite_loom) { 2 } else { 128 };

/// Room for this number of messages that were set aside is kept.
const KEPT_ROOM: usize = 64;

/// The number of new messages that a search passes over between two checks of its deadline: a flood of messages without
/// a handler must not prolong it for ever.
const LATE_BUDGET: u32 = 4096;

// GROWS: messages that were set aside; bound: memory; each goes when it is received, and room that three quarters of are
//     empty; cost: each search begins at the first; test: tests/suite/mailbox/bounds.rs:
//     what_is_set_aside_leaves_room_for_what_is_asked_for, tests/allocation/mailboxes.rs:
//     what_was_set_aside_leaves_no_room_behind
/// Messages that were offered, and had no handler.
#[derive(Default)]
pub(super) struct Aside {
    /// By rank.
    queues: [VecDeque<Envelope>; 2],
    /// The number of urgent messages received since the last ordinary one.
    in_a_row: u32,
    /// The message that is being offered, if it is new. Here, and not in the search, so that it survives a guard's
    /// panic.
    current: Option<(Envelope, Rank)>,
}

// USER CODE: `Drop` of messages that were set aside; each is out of its queue; re-entrance: may send anywhere; panic:
//     the others are dropped; test: tests/suite/mailbox/relations.rs:
//     many_messages_that_panic_at_an_end_are_one_panic_and_no_loss
impl Drop for Aside {
    // MUTANT: The message is dropped at the end of the function anyway. Killed only by
    // `many_messages_that_panic_at_an_end_are_one_panic_and_no_loss`.
    /// Drops every message, even if some panic.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        let current = self.current.take();
        panics.catch(|| drop(current));
        for envelope in self.queues.iter_mut().flat_map(|queue| queue.drain(..)) {
            panics.catch(|| drop(envelope));
        }
    }
}

impl Aside {
    pub(super) fn push(&mut self, envelope: Envelope, rank: Rank) {
        // A message that was offered to a guard that has panicked comes first.
        if let Some((before, rank)) = self.current.take() {
            self.queues[rank as usize].push_back(before);
        }
        self.queues[rank as usize].push_back(envelope);
    }

    /// Takes out the message at that index, which has been offered. Most of the room that is no longer needed is given
    /// back: at most once for as many messages as it was for.
    fn remove(&mut self, rank: Rank, at: usize) -> Envelope {
        let queue = &mut self.queues[rank as usize];
        let envelope = queue.remove(at).expect("a message has been offered");
        if queue.capacity() > KEPT_ROOM && queue.len() < queue.capacity() / 4 {
            queue.shrink_to((2 * queue.len()).max(KEPT_ROOM));
        }
        envelope
    }

    // MUTANT: Killed only by `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
    /// A message has found its handler.
    #[inline(always)]
    fn received(&mut self, rank: Rank) {
        self.in_a_row = if rank == Rank::Urgent { self.in_a_row.saturating_add(1) } else { 0 };
    }

    // MUTANT: Speed only: the stages reach the new messages anyway, urgent ones first. Killed only by
    // `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
    /// Whether the next receive begins with new messages, urgent ones first.
    #[inline(always)]
    fn is_clear(&self) -> bool {
        self.len() == 0 && self.in_a_row < URGENT_TURN
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        // MUTANT: Killed only by `a_guard_that_panics_leaves_the_message`.
        self.queues[0].len() + self.queues[1].len() + usize::from(self.current.is_some())
    }
}

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
        let inbox = &mut self.mailbox.inbox;
        let waited = match self.deadline {
            Deadline::Passed => inbox.rest(),
            deadline => inbox.wait(deadline),
        };
        waited.map_err(|error| match error {
            RecvTimeoutError::Timeout => ReceiveError::Timeout,
            RecvTimeoutError::Disconnected => ReceiveError::Disconnected,
        })
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

impl Mailbox {
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

/// The error that a notice becomes.
#[cold]
fn unhandled(envelope: Envelope) -> ReceiveError {
    let link = envelope.downcast().map(ReceiveError::LinkTerminated);
    link.or_else(|envelope| envelope.downcast().map(ReceiveError::OwnerTerminated)).expect("a notice")
}
