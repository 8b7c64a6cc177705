//! What the handles of an mpmc channel do that may have to wait: send and receive, one message or several. One thread or
//! one task for each operation. Reserving is in `reserve.rs`.

use core::marker::PhantomData;
use core::task::{Context, Poll, ready};

use super::shared::{MpmcShared, Readers, Writers};
use super::{Receiver, RecvError, SendError, Sender};
use crate::channel::rendezvous::Lining;
use crate::foreign::{Foreign, Lent, Panics};
use crate::operation::{Operation, step};
use crate::os::Deadline;
use crate::queue::exchange::{Rejected, Staging, StagingSpace};
use crate::wait::SharedBackoff;
use crate::wait::many::{ManyWait, SharedEnd};

/// How an operation waits.
enum MpmcWait<'a, T, S: SharedEnd, const SENDS: bool> {
    /// It does not, as yet.
    None,
    /// In the list of its side.
    Listed(ManyWait<S>),
    /// In a line of the rendezvous.
    InLine(Lining<'a, T, SENDS>),
}

impl<S: SharedEnd, T, const SENDS: bool> MpmcWait<'_, T, S, SENDS> {
    fn is_none_as_yet(&self) -> bool {
        matches!(self, Self::None)
    }

    /// As [`Operation::leave`].
    #[inline]
    fn leave(&mut self) {
        if !self.is_none_as_yet() {
            self.end();
        }
    }

    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        *self = Self::None;
    }

    /// As [`Operation::block`], with the handle's memory of how to wait.
    fn block(&mut self, backoff: &SharedBackoff, deadline: Deadline, begin: impl FnOnce() -> ManyWait<S>) -> bool {
        if let Self::InLine(line) = self {
            let mut memory = backoff.recall();
            let in_time = line.block_by(deadline, &mut memory);
            // MUTANT: Speed only: only what a wait has learned about spinning is lost.
            backoff.keep(memory);
            return in_time;
        }
        self.listed(begin).is_some_and(|wait| wait.block(backoff, deadline))
    }

    fn poll(&mut self, context: &mut Context<'_>, begin: impl FnOnce() -> ManyWait<S>) -> Poll<()> {
        match self {
            Self::InLine(line) => line.poll(context),
            _ => self.listed(begin).map_or(Poll::Ready(()), |wait| wait.poll(context)),
        }
    }

    /// The wait in the list, which begins here. `None`: it waits in line.
    fn listed(&mut self, begin: impl FnOnce() -> ManyWait<S>) -> Option<&mut ManyWait<S>> {
        if self.is_none_as_yet() {
            *self = Self::Listed(begin());
        }
        match self {
            Self::Listed(wait) => Some(wait),
            _ => None,
        }
    }
}

/// What else ends a wait.
pub(in crate::channel) trait MpmcLimit: Copy {
    type Side<S: SharedEnd>: SharedEnd;
    /// The side that is ready then as well.
    fn side<S: SharedEnd>(self, side: S) -> Self::Side<S>;
}

/// Nothing else.
impl MpmcLimit for () {
    type Side<S: SharedEnd> = S;

    fn side<S: SharedEnd>(self, side: S) -> S {
        side
    }
}

/// Where a receiver puts what it receives.
pub(in crate::channel) trait MpmcIntake<T> {
    /// Takes a message, or several, where one is there (true). Not in a rendezvous.
    fn take(&mut self, receiver: &Receiver<T>) -> bool;
    /// As [`Operation::attempt`], in a rendezvous.
    fn meet(&mut self, line: &mut Lining<'_, T, false>) -> Option<Result<(), RecvError>>;
    /// As [`Operation::step`].
    fn step(&mut self, line: &mut Lining<'_, T, false>, context: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        loop {
            ready!(line.poll(context));
            if let Some(outcome) = self.meet(line) {
                return Poll::Ready(outcome);
            }
        }
    }
    /// As [`Operation::withdraw`].
    fn withdraw(&mut self, line: &mut Lining<'_, T, false>) -> Option<Result<(), RecvError>>;
}

impl<T> MpmcIntake<T> for Option<T> {
    #[inline(always)]
    fn take(&mut self, receiver: &Receiver<T>) -> bool {
        receiver.take_to(self)
    }

    fn meet(&mut self, line: &mut Lining<'_, T, false>) -> Option<Result<(), RecvError>> {
        line.attempt(self).map(|outcome| outcome.map_err(RecvError::from))
    }

    fn step(&mut self, line: &mut Lining<'_, T, false>, context: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        line.step(self, context).map_err(RecvError::from)
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, false>) -> Option<Result<(), RecvError>> {
        line.withdraw(self).map(|outcome| outcome.map_err(RecvError::from))
    }
}

/// The messages of one batch.
pub(in crate::channel) struct RecvRun<'a, T> {
    to: &'a mut Vec<T>,
    most: usize,
    pub(in crate::channel) taken: usize,
}

impl<'a, T> RecvRun<'a, T> {
    /// At most `most`, which is not 0.
    pub(in crate::channel) fn new(to: &'a mut Vec<T>, most: usize) -> Self {
        Self { to, most, taken: 0 }
    }

    /// The first message of a rendezvous, and those of other senders that wait there.
    fn met(&mut self, first: T, line: &Lining<'_, T, false>) {
        self.to.push(first);
        self.taken = 1 + line.party().take_more(self.to, self.most - 1);
    }
}

impl<T> MpmcIntake<T> for RecvRun<'_, T> {
    fn take(&mut self, receiver: &Receiver<T>) -> bool {
        self.taken = receiver.take_many(self.to, self.most).unwrap_or(0);
        self.taken != 0
    }

    fn meet(&mut self, line: &mut Lining<'_, T, false>) -> Option<Result<(), RecvError>> {
        let mut first = Foreign::none();
        let outcome = MpmcIntake::meet(&mut *first, line);
        if first.is_some() {
            self.met(first.take_out(), line);
        }
        outcome
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, false>) -> Option<Result<(), RecvError>> {
        let mut first = Foreign::none();
        let outcome = MpmcIntake::withdraw(&mut *first, line);
        if first.is_some() {
            self.met(first.take_out(), line);
        }
        outcome
    }
}

/// A receive of the next message, or of several.
pub(in crate::channel) struct MpmcReceive<'a, T, P, L: MpmcLimit = ()> {
    receiver: &'a Receiver<T>,
    limit: L,
    wait: MpmcWait<'a, T, L::Side<Readers<'a, T>>, false>,
    place: PhantomData<fn(&mut P)>,
}

impl<'a, T, P> MpmcReceive<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(receiver: &'a Receiver<T>) -> Self {
        Self::until(receiver, ())
    }
}

impl<'a, T, P, L: MpmcLimit> MpmcReceive<'a, T, P, L> {
    #[inline(always)]
    pub(in crate::channel) fn until(receiver: &'a Receiver<T>, limit: L) -> Self {
        Self { receiver, limit, wait: MpmcWait::None, place: PhantomData }
    }

    #[inline(always)]
    pub(super) fn receiver(&self) -> &'a Receiver<T> {
        self.receiver
    }
}

impl<T, P: MpmcIntake<T>, L: MpmcLimit> MpmcReceive<'_, T, P, L> {
    /// After it has found nothing in a queue.
    #[cold]
    #[inline(never)]
    fn attempt_further(&mut self, place: &mut P) -> Option<Result<(), RecvError>> {
        if self.wait.is_none_as_yet() {
            if let Some(party) = self.receiver.party() {
                self.wait = MpmcWait::InLine(Lining::new(&party));
            }
        }
        match &mut self.wait {
            MpmcWait::InLine(line) => place.meet(line),
            _ => self.receiver.is_over().then_some(Err(RecvError)),
        }
    }
}

impl<T, P: MpmcIntake<T>, L: MpmcLimit> Operation for MpmcReceive<'_, T, P, L> {
    type Place = P;
    type Outcome = Result<(), RecvError>;
    const OWNS: bool = false;

    #[inline(always)]
    fn attempt(&mut self, place: &mut P) -> Option<Result<(), RecvError>> {
        if place.take(self.receiver) { Some(Ok(())) } else { self.attempt_further(place) }
    }

    // MUTANT: Speed only: when a receiver pauses before it waits.
    #[cold]
    #[inline(never)]
    fn block(&mut self, deadline: Deadline) -> bool {
        let Self { receiver, limit, wait, .. } = self;
        if wait.is_none_as_yet() && deadline.is_over() {
            return receiver.shared.readers().is_ready();
        }
        wait.block(&receiver.backoff, deadline, || {
            receiver.calm(deadline);
            ManyWait::new(limit.side(receiver.shared.readers()), receiver.disarm_all())
        })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { receiver, limit, wait, .. } = self;
        wait.poll(context, || ManyWait::new(limit.side(receiver.shared.readers()), receiver.disarm_all()))
    }

    fn step(&mut self, place: &mut P, context: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        if let MpmcWait::InLine(line) = &mut self.wait {
            return place.step(line, context);
        }
        step(self, place, context)
    }

    fn withdraw(&mut self, place: &mut P) -> Option<Result<(), RecvError>> {
        let MpmcWait::InLine(line) = &mut self.wait else { return None };
        place.withdraw(line)
    }

    #[inline]
    fn leave(&mut self) {
        self.wait.leave();
    }
}

/// What a sender puts into the channel.
pub(in crate::channel) trait MpmcSupply<T> {
    /// As [`push`](Self::push), where it is quick (true). Not in a rendezvous.
    fn push_at_once(&mut self, sender: &Sender<T>) -> bool;
    /// Sends all of it. `Full`: some is left for which there is no room. Not in a rendezvous.
    fn push(&mut self, sender: &Sender<T>) -> Result<(), Rejected<()>>;
    /// As [`Operation::attempt`], in a rendezvous.
    fn meet(&mut self, line: &mut Lining<'_, T, true>) -> Option<Result<(), SendError<()>>>;
    /// As [`Operation::step`].
    fn step(&mut self, line: &mut Lining<'_, T, true>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        loop {
            ready!(line.poll(context));
            if let Some(outcome) = self.meet(line) {
                return Poll::Ready(outcome);
            }
        }
    }
    /// As [`Operation::withdraw`].
    fn withdraw(&mut self, line: &mut Lining<'_, T, true>) -> Option<Result<(), SendError<()>>>;
}

impl<T> MpmcSupply<T> for Option<T> {
    #[inline(always)]
    fn push_at_once(&mut self, sender: &Sender<T>) -> bool {
        // SAFETY: an operation that waits is attempted with its message, unless that is in line, where no ring is. By the
        //     promise of those who attempt an operation, a place whose message was sent is only dropped.
        unsafe { sender.put_at_once(self) }
    }

    fn push(&mut self, sender: &Sender<T>) -> Result<(), Rejected<()>> {
        sender.offer(self)
    }

    fn meet(&mut self, line: &mut Lining<'_, T, true>) -> Option<Result<(), SendError<()>>> {
        line.attempt(self).map(|outcome| outcome.map_err(SendError::from))
    }

    fn step(&mut self, line: &mut Lining<'_, T, true>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        line.step(self, context).map_err(SendError::from)
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, true>) -> Option<Result<(), SendError<()>>> {
        line.withdraw(self).map(|outcome| outcome.map_err(SendError::from))
    }
}

/// Sends the staged messages, as far as there is room, even if the caller's iterator panics.
pub(in crate::channel) struct SendRun<'a, T> {
    pub(super) staging: Staging<'a, T>,
    sender: &'a Sender<T>,
    /// In a rendezvous, the message that is to be handed over next, unless it is in line.
    next: Foreign<Option<T>>,
    /// There is such a message.
    meets: bool,
    /// The number of messages that it has sent.
    pub(super) sent: usize,
}

impl<'a, T> SendRun<'a, T> {
    pub(super) fn new(space: &'a mut StagingSpace, sender: &'a Sender<T>) -> Self {
        Self { staging: Staging::new(space), sender, next: Foreign::none(), meets: false, sent: 0 }
    }

    /// The messages that were not sent.
    pub(super) fn rest(&mut self) -> Vec<T> {
        Option::take(&mut *self.next).into_iter().chain(self.staging.take(usize::MAX)).collect()
    }

    fn push_to(&mut self, shared: &MpmcShared<T>) -> Result<(), Rejected<()>> {
        while self.staging.len() != 0 {
            match shared.push_many(&mut self.staging) {
                None => return Err(Rejected::Closed(())),
                Some(0) => return Err(Rejected::Full(())),
                Some(some) => self.sent += some,
            }
        }
        Ok(())
    }
}

// USER CODE: as of `passing_on`; what was sent is sent; re-entrance: any operation; panic: propagates; the rest is
//     dropped; by construction: `Owed`
impl<T> Drop for SendRun<'_, T> {
    // MUTANT: An empty batch claims nothing. A notification without room is harmless.
    fn drop(&mut self) {
        if self.staging.len() != 0 {
            // User code, and a queue that can hold no more.
            Panics::in_drop(|| _ = self.push(self.sender));
        }
    }
}

impl<T> MpmcSupply<T> for SendRun<'_, T> {
    fn push_at_once(&mut self, sender: &Sender<T>) -> bool {
        !self.meets && self.push(sender).is_ok()
    }

    fn push(&mut self, sender: &Sender<T>) -> Result<(), Rejected<()>> {
        if sender.subscriptions.is_some() {
            sender.passing_on(|shared| self.push_to(shared))
        } else {
            self.push_to(&sender.shared)
        }
    }

    /// One by one.
    fn meet(&mut self, line: &mut Lining<'_, T, true>) -> Option<Result<(), SendError<()>>> {
        loop {
            if !core::mem::replace(&mut self.meets, true) {
                *self.next = self.staging.take(1).next();
                if self.next.is_none() {
                    self.meets = false;
                    return Some(Ok(()));
                }
            }
            match MpmcSupply::meet(&mut *self.next, line)? {
                Ok(()) => self.sent += 1,
                closed => return Some(closed),
            }
            self.meets = false;
            line.renew();
        }
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, true>) -> Option<Result<(), SendError<()>>> {
        MpmcSupply::withdraw(&mut *self.next, line)
    }
}

/// A send of a message, or of several.
pub(in crate::channel) struct MpmcSend<'a, T, P, L: MpmcLimit = ()> {
    sender: &'a Sender<T>,
    limit: L,
    wait: MpmcWait<'a, T, L::Side<Writers<'a, T>>, true>,
    place: PhantomData<fn(&mut P)>,
}

impl<'a, T, P> MpmcSend<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(sender: &'a Sender<T>) -> Self {
        Self::until(sender, ())
    }
}

impl<'a, T, P, L: MpmcLimit> MpmcSend<'a, T, P, L> {
    #[inline(always)]
    pub(in crate::channel) fn until(sender: &'a Sender<T>, limit: L) -> Self {
        Self { sender, limit, wait: MpmcWait::None, place: PhantomData }
    }
}

impl<T, P: MpmcSupply<T>, L: MpmcLimit> MpmcSend<'_, T, P, L> {
    /// After it has found no room in a queue.
    #[cold]
    #[inline(never)]
    fn attempt_further(&mut self, place: &mut P) -> Option<Result<(), SendError<()>>> {
        if self.wait.is_none_as_yet() {
            if let Some(party) = self.sender.party() {
                self.wait = MpmcWait::InLine(Lining::new(&party));
            }
        }
        if let MpmcWait::InLine(line) = &mut self.wait {
            return place.meet(line);
        }
        match place.push(self.sender) {
            Ok(()) => Some(Ok(())),
            Err(Rejected::Closed(())) => Some(Err(SendError(()))),
            Err(Rejected::Full(())) => None,
        }
    }
}

impl<T, P: MpmcSupply<T>, L: MpmcLimit> Operation for MpmcSend<'_, T, P, L> {
    type Place = P;
    type Outcome = Result<(), SendError<()>>;
    const OWNS: bool = false;

    #[inline(always)]
    fn attempt(&mut self, place: &mut P) -> Option<Result<(), SendError<()>>> {
        if place.push_at_once(self.sender) { Some(Ok(())) } else { self.attempt_further(place) }
    }

    // MUTANT: Speed only: when a sender pauses before it waits.
    #[cold]
    #[inline(never)]
    fn block(&mut self, deadline: Deadline) -> bool {
        let Self { sender, limit, wait, .. } = self;
        if wait.is_none_as_yet() && deadline.is_over() {
            return sender.shared.writers().is_ready();
        }
        wait.block(&sender.backoff, deadline, || {
            sender.calm(deadline);
            ManyWait::new(limit.side(sender.shared.writers()), sender.disarm_all())
        })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { sender, limit, wait, .. } = self;
        wait.poll(context, || ManyWait::new(limit.side(sender.shared.writers()), sender.disarm_all()))
    }

    fn step(&mut self, place: &mut P, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        if let MpmcWait::InLine(line) = &mut self.wait {
            return place.step(line, context);
        }
        step(self, place, context)
    }

    fn withdraw(&mut self, place: &mut P) -> Option<Result<(), SendError<()>>> {
        let MpmcWait::InLine(line) = &mut self.wait else { return None };
        place.withdraw(line)
    }

    #[inline]
    fn leave(&mut self) {
        self.wait.leave();
    }
}
