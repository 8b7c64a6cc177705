//! The search for a message that somebody has a handler for: which messages are offered, in which order, and what becomes
//! of those that match nothing. The mailbox's thread alone.
//!
//! Offered are first the urgent messages, those that were set aside before the new ones, then the ordinary ones likewise,
//! and new ones as they come, an urgent one before each ordinary one. What matches nothing is set aside, in order. After
//! [`URGENT_TURN`] urgent messages in a row the ordinary ones come first, once.

use std::collections::VecDeque;
use std::time::Duration;

use core::any::Any;

use super::Mailbox;
use super::envelope::Envelope;
use super::error::ReceiveError;
use super::outbox::Rank;
use super::relations::{LinkTerminated, OwnerTerminated};
use crate::channel::RecvTimeoutError;
use crate::foreign::Panics;
use crate::os::Deadline;

/// So many urgent messages are received in a row at most while an ordinary one waits that would be received as well.
pub const URGENT_TURN: u32 = if cfg!(ysuite_loom) { 2 } else { 32 };

/// So many new messages of one kind are looked at, and passed over, before those of the other have their turn.
const LOOK: u32 = if cfg!(ysuite_loom) { 2 } else { 128 };

/// When the time is up, so many new messages are looked at, at most: a flood of those that nobody asks for must not hold
/// up a search for ever.
const LATE: u32 = 4096;

/// Messages that have been offered, and matched nothing.
#[derive(Default)]
pub(super) struct Aside {
    pub(super) urgent: VecDeque<Envelope>,
    pub(super) ordinary: VecDeque<Envelope>,
    /// How many urgent messages have been received since the last ordinary one.
    in_a_row: u32,
    /// The one that is being offered, if it is new. Here, and not in the search, so that a handler's panic leaves it.
    hand: Option<Envelope>,
    /// Whether that is an urgent one.
    urgent_hand: bool,
}

impl Drop for Aside {
    /// All of it, whatever panics.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        let hand = self.hand.take();
        panics.catch(|| drop(hand));
        for envelope in self.urgent.drain(..).chain(self.ordinary.drain(..)) {
            panics.catch(|| drop(envelope));
        }
    }
}

impl Aside {
    /// What is being offered, if it is new.
    fn take_hand(&mut self) -> Option<(Envelope, Rank)> {
        let rank = if self.urgent_hand { Rank::Urgent } else { Rank::Ordinary };
        self.hand.take().map(|envelope| (envelope, rank))
    }

    fn of(&mut self, rank: Rank) -> &mut VecDeque<Envelope> {
        if rank == Rank::Urgent { &mut self.urgent } else { &mut self.ordinary }
    }

    /// A message has found its handler.
    #[inline(always)]
    fn received(&mut self, urgent: bool) {
        self.in_a_row = if urgent { self.in_a_row.saturating_add(1) } else { 0 };
    }

    pub(super) fn len(&self) -> usize {
        self.urgent.len() + self.ordinary.len() + usize::from(self.hand.is_some())
    }
}

/// How long to search.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// Without waiting.
    Now,
    By(Deadline),
}

impl Until {
    pub(super) fn after(timeout: Duration) -> Self {
        if timeout.is_zero() {
            return Self::Now;
        }
        Self::By(Deadline::after(timeout))
    }
}

/// Which messages are being offered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Ordinary ones, out of turn: those set aside, and so many new ones.
    Turn(u32),
    AsideUrgent,
    NewUrgent,
    AsideOrdinary,
    New,
}

/// A search under way. What [`offer_next`](Self::offer_next) has offered is looked at with `peek` and taken with `accept`.
#[doc(hidden)]
pub struct Search<'a> {
    mailbox: &'a mut Mailbox,
    until: Until,
    stage: Stage,
    /// The place of the offered message among those set aside.
    at: usize,
    /// Whether the message at that place has been offered.
    offered: bool,
    /// Whether the ordinary ones that were set aside have been offered out of turn.
    turn: bool,
    /// How many new messages have been passed over, and how many of them were urgent and in a row.
    passed: u32,
    passed_urgent: u32,
}

impl<'a> Search<'a> {
    #[inline(always)]
    pub(super) fn new(mailbox: &'a mut Mailbox, until: Until) -> Self {
        mailbox.post().is_read_here();
        let stage = Stage::New;
        let mut search =
            Self { mailbox, until, stage, at: 0, offered: false, turn: false, passed: 0, passed_urgent: 0 };
        let aside = &search.mailbox.aside;
        if aside.len() != 0 || aside.in_a_row >= URGENT_TURN {
            search.begin_further();
        }
        search
    }

    #[cold]
    #[inline(never)]
    fn begin_further(&mut self) {
        let aside = &mut self.mailbox.aside;
        if let Some((envelope, rank)) = aside.take_hand() {
            // A handler's guard has panicked.
            aside.of(rank).push_back(envelope);
        }
        self.turn = aside.in_a_row >= URGENT_TURN;
        self.stage = if self.turn { Stage::Turn(LOOK) } else { Stage::AsideUrgent };
    }

    /// Offers the next message. The one before it has matched nothing.
    ///
    /// # Errors
    /// When the message before it was a notice; when the time is up; when nothing more can come.
    #[inline(always)]
    pub fn offer_next(&mut self) -> Result<(), ReceiveError> {
        if self.stage != Stage::New || self.mailbox.aside.hand.is_some() {
            return self.next_further();
        }
        self.next_new()
    }

    #[inline(always)]
    fn next_new(&mut self) -> Result<(), ReceiveError> {
        loop {
            if self.passed_urgent < LOOK {
                if let Some(envelope) = self.mailbox.inbox.take_urgent() {
                    self.offer(envelope, Rank::Urgent);
                    return Ok(());
                }
            }
            if let Some(envelope) = self.mailbox.inbox.take_ordinary() {
                self.offer(envelope, Rank::Ordinary);
                return Ok(());
            }
            if self.passed_urgent < LOOK {
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
        self.mailbox.aside.hand = Some(envelope);
        self.mailbox.aside.urgent_hand = rank == Rank::Urgent;
    }

    #[cold]
    fn wait(&mut self) -> Result<(), ReceiveError> {
        let inbox = &mut self.mailbox.inbox;
        let waited = match self.until {
            Until::By(deadline) => inbox.wait(deadline),
            Until::Now => inbox.rest(),
        };
        waited.map_err(|error| match error {
            RecvTimeoutError::Timeout => ReceiveError::Timeout,
            RecvTimeoutError::Disconnected => ReceiveError::Disconnected,
        })
    }

    #[cold]
    #[inline(never)]
    fn next_further(&mut self) -> Result<(), ReceiveError> {
        self.refuse()?;
        loop {
            let aside = &mut self.mailbox.aside;
            let (queue, next) = match self.stage {
                Stage::Turn(looks) => {
                    if self.at < aside.ordinary.len() {
                        self.offered = true;
                        return Ok(());
                    }
                    if looks != 0 {
                        self.stage = Stage::Turn(looks - 1);
                        if let Some(envelope) = self.mailbox.inbox.take_ordinary() {
                            self.offer(envelope, Rank::Ordinary);
                            return Ok(());
                        }
                    }
                    (0, Stage::AsideUrgent)
                }
                Stage::AsideUrgent => (aside.urgent.len(), Stage::NewUrgent),
                Stage::NewUrgent if self.passed_urgent >= LOOK => (0, Stage::AsideOrdinary),
                Stage::NewUrgent => {
                    if let Some(envelope) = self.mailbox.inbox.take_urgent() {
                        self.offer(envelope, Rank::Urgent);
                        return Ok(());
                    }
                    (0, Stage::AsideOrdinary)
                }
                // Out of turn they have been offered already.
                Stage::AsideOrdinary => (if self.turn { 0 } else { aside.ordinary.len() }, Stage::New),
                Stage::New => return self.next_new(),
            };
            if self.at < queue {
                self.offered = true;
                return Ok(());
            }
            (self.stage, self.at) = (next, 0);
        }
    }

    /// What was offered last matches nothing: it stays, or is set aside; a notice must not be passed over.
    fn refuse(&mut self) -> Result<(), ReceiveError> {
        let aside = &mut self.mailbox.aside;
        if let Some((envelope, rank)) = aside.take_hand() {
            if envelope.is_notice() {
                return Err(unhandled(envelope));
            }
            aside.of(rank).push_back(envelope);
            // In the turn it stands now where it need not be offered again.
            self.at += usize::from(matches!(self.stage, Stage::Turn(_)));
            self.pass(rank)?;
        } else if core::mem::take(&mut self.offered) {
            if self.offered_aside().is_some_and(Envelope::is_notice) {
                let (queue, at) = (self.rank(), self.at);
                if let Some(envelope) = self.mailbox.aside.of(queue).remove(at) {
                    return Err(unhandled(envelope));
                }
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A new message has been passed over.
    fn pass(&mut self, rank: Rank) -> Result<(), ReceiveError> {
        self.passed_urgent = if rank == Rank::Urgent { self.passed_urgent + 1 } else { 0 };
        self.passed += 1;
        if self.passed < LATE {
            return Ok(());
        }
        self.passed = 0;
        match self.until {
            Until::Now => Err(ReceiveError::Timeout),
            Until::By(deadline) if deadline.is_over() => Err(ReceiveError::Timeout),
            Until::By(_) => Ok(()),
        }
    }

    /// Of a message that was set aside.
    fn rank(&self) -> Rank {
        if self.stage == Stage::AsideUrgent { Rank::Urgent } else { Rank::Ordinary }
    }

    fn offered_aside(&self) -> Option<&Envelope> {
        let aside = &self.mailbox.aside;
        let queue = if self.rank() == Rank::Urgent { &aside.urgent } else { &aside.ordinary };
        queue.get(self.at)
    }

    /// The offered message.
    #[inline(always)]
    fn offered(&self) -> &Envelope {
        match &self.mailbox.aside.hand {
            Some(envelope) => envelope,
            None => self.offered_aside().expect("a message has been offered"),
        }
    }

    /// The offered message, if it is of this type.
    #[inline(always)]
    pub fn peek<T: Any + Send>(&self) -> Option<&T> {
        self.offered().downcast_ref()
    }

    #[inline(always)]
    pub(super) fn is<T: Any + Send>(&self) -> bool {
        self.offered().is::<T>()
    }

    /// The next message of this type.
    #[inline(always)]
    pub(super) fn find<T: Any + Send>(mut self) -> Result<T, ReceiveError> {
        if let Some(value) = self.next_if()? {
            return Ok(value);
        }
        while !self.is::<T>() {
            self.next_further()?;
        }
        Ok(self.accept())
    }

    /// Offers the first message, or takes it at once, if it is new and of this type. Most are, and it saves them a stop
    /// on their way.
    #[inline(always)]
    pub(super) fn next_if<T: Any + Send>(&mut self) -> Result<Option<T>, ReceiveError> {
        if self.stage != Stage::New {
            return self.next_further().map(|()| None);
        }
        while self.mailbox.inbox.has_no_urgent() {
            let Some(envelope) = self.mailbox.inbox.take_ordinary() else {
                self.wait()?;
                continue;
            };
            return match envelope.open() {
                Ok(value) => {
                    self.mailbox.aside.received(false);
                    Ok(Some(value))
                }
                Err(envelope) => {
                    self.offer(envelope, Rank::Ordinary);
                    Ok(None)
                }
            };
        }
        self.next_new().map(|()| None)
    }

    pub(super) fn type_name(&self) -> &'static str {
        self.offered().type_name()
    }

    /// Takes the offered message, which is of this type.
    #[inline(always)]
    pub fn accept<T: Any + Send>(self) -> T {
        match self.take().downcast() {
            Ok(value) => value,
            Err(envelope) => unreachable!("{envelope:?} was looked at before"),
        }
    }

    /// Takes the offered message, of whatever type.
    pub fn accept_any(self) -> Envelope {
        self.take().noticed()
    }

    #[inline(always)]
    fn take(mut self) -> Envelope {
        match self.mailbox.aside.hand.take() {
            Some(envelope) => {
                self.mailbox.aside.received(self.mailbox.aside.urgent_hand);
                envelope
            }
            None => self.take_aside(),
        }
    }

    #[cold]
    fn take_aside(&mut self) -> Envelope {
        let (rank, at) = (self.rank(), self.at);
        self.mailbox.aside.received(rank == Rank::Urgent);
        self.mailbox.aside.of(rank).remove(at).expect("a message has been offered")
    }

    /// Leaves the offered message where it is, at the head.
    pub(super) fn leave(mut self) -> Option<ReceiveError> {
        self.refuse().err()
    }
}

/// The error that a notice becomes.
#[cold]
fn unhandled(envelope: Envelope) -> ReceiveError {
    match envelope.downcast::<LinkTerminated>() {
        Ok(end) => ReceiveError::LinkTerminated(end),
        Err(envelope) => match envelope.downcast::<OwnerTerminated>() {
            Ok(end) => ReceiveError::OwnerTerminated(end),
            Err(envelope) => unreachable!("{envelope:?} is no notice"),
        },
    }
}
