//! What the handles of an mpmc channel do that may have to wait: send and receive, one message or several. One thread or
//! one task for each operation. Reserving is in `reserve.rs`.

use core::marker::PhantomData;
use core::task::{Context, Poll, ready};

use super::handle::{MpmcHandle, of_offer};
use super::shared::{MpmcShared, WaitingSide};
use super::{Receiver, RecvError, SendError, Sender};
use crate::channel::rendezvous::{Exchanged, Lining};
use crate::channel::task_batch::BatchPlace;
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

/// What a handle sends, or where it puts what it receives.
pub(in crate::channel) trait MpmcPlace<T, H: MpmcHandle<T, SENDS>, const SENDS: bool> {
    /// Sends all of it, or receives a message or several, where that is quick (true). Not in a rendezvous.
    fn at_once(&mut self, handle: &H) -> bool;
    /// After [`at_once`](Self::at_once) was in vain. `None`: it must wait. Not in a rendezvous.
    fn again(&mut self, handle: &H) -> Option<Result<(), H::Error>>;
    /// As [`Operation::attempt`], in a rendezvous.
    fn meet(&mut self, line: &mut Lining<'_, T, SENDS>) -> Option<Exchanged>;
    /// As [`Operation::step`].
    fn step(&mut self, line: &mut Lining<'_, T, SENDS>, context: &mut Context<'_>) -> Poll<Exchanged> {
        loop {
            ready!(line.poll(context));
            if let Some(outcome) = self.meet(line) {
                return Poll::Ready(outcome);
            }
        }
    }
    /// As [`Operation::withdraw`].
    fn withdraw(&mut self, line: &mut Lining<'_, T, SENDS>) -> Option<Exchanged>;
}

/// One message.
impl<T> MpmcPlace<T, Receiver<T>, false> for Option<T> {
    #[inline(always)]
    fn at_once(&mut self, receiver: &Receiver<T>) -> bool {
        receiver.take_to(self)
    }

    fn again(&mut self, receiver: &Receiver<T>) -> Option<Result<(), RecvError>> {
        receiver.is_over().then_some(Err(RecvError))
    }

    fn meet(&mut self, line: &mut Lining<'_, T, false>) -> Option<Exchanged> {
        line.attempt(self)
    }

    fn step(&mut self, line: &mut Lining<'_, T, false>, context: &mut Context<'_>) -> Poll<Exchanged> {
        line.step(self, context)
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, false>) -> Option<Exchanged> {
        line.withdraw(self)
    }
}

/// One message.
impl<T> MpmcPlace<T, Sender<T>, true> for Option<T> {
    #[inline(always)]
    fn at_once(&mut self, sender: &Sender<T>) -> bool {
        // SAFETY: an operation that waits is attempted with its message, unless that is in line, where no ring is. By the
        //     promise of those who attempt an operation, a place whose message was sent is only dropped.
        unsafe { sender.put_at_once(self) }
    }

    fn again(&mut self, sender: &Sender<T>) -> Option<Result<(), SendError<()>>> {
        of_offer(sender.offer(self))
    }

    fn meet(&mut self, line: &mut Lining<'_, T, true>) -> Option<Exchanged> {
        line.attempt(self)
    }

    fn step(&mut self, line: &mut Lining<'_, T, true>, context: &mut Context<'_>) -> Poll<Exchanged> {
        line.step(self, context)
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, true>) -> Option<Exchanged> {
        line.withdraw(self)
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

    /// Takes the first message of a rendezvous in, if there is one, and those of other senders that wait there.
    fn met(&mut self, first: &mut Option<T>, line: &Lining<'_, T, false>) {
        if first.is_some() {
            self.to.push(first.take_out());
            self.taken = 1 + line.party().take_more(self.to, self.most - 1);
        }
    }
}

impl<T> BatchPlace for RecvRun<'_, T> {
    fn taken(&self) -> usize {
        self.taken
    }
}

impl<T> MpmcPlace<T, Receiver<T>, false> for RecvRun<'_, T> {
    fn at_once(&mut self, receiver: &Receiver<T>) -> bool {
        self.taken = receiver.take_many(self.to, self.most).unwrap_or(0);
        self.taken != 0
    }

    fn again(&mut self, receiver: &Receiver<T>) -> Option<Result<(), RecvError>> {
        receiver.is_over().then_some(Err(RecvError))
    }

    fn meet(&mut self, line: &mut Lining<'_, T, false>) -> Option<Exchanged> {
        let mut first = Foreign::none();
        let outcome = line.attempt(&mut first);
        self.met(&mut first, line);
        outcome
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, false>) -> Option<Exchanged> {
        let mut first = Foreign::none();
        let outcome = line.withdraw(&mut first);
        self.met(&mut first, line);
        outcome
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

    /// Sends all of it. `Full`: some is left for which there is no room. Not in a rendezvous.
    fn push(&mut self, sender: &Sender<T>) -> Result<(), Rejected<()>> {
        if sender.subscriptions.is_some() {
            sender.passing_on(|shared| self.push_to(shared))
        } else {
            self.push_to(&sender.shared)
        }
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

impl<T> MpmcPlace<T, Sender<T>, true> for SendRun<'_, T> {
    fn at_once(&mut self, sender: &Sender<T>) -> bool {
        !self.meets && self.push(sender).is_ok()
    }

    fn again(&mut self, sender: &Sender<T>) -> Option<Result<(), SendError<()>>> {
        of_offer(self.push(sender))
    }

    /// One by one.
    fn meet(&mut self, line: &mut Lining<'_, T, true>) -> Option<Exchanged> {
        loop {
            if !core::mem::replace(&mut self.meets, true) {
                *self.next = self.staging.take(1).next();
                if self.next.is_none() {
                    self.meets = false;
                    return Some(Ok(()));
                }
            }
            match line.attempt(&mut self.next)? {
                Ok(()) => self.sent += 1,
                closed => return Some(closed),
            }
            self.meets = false;
            line.renew();
        }
    }

    fn withdraw(&mut self, line: &mut Lining<'_, T, true>) -> Option<Exchanged> {
        line.withdraw(&mut self.next)
    }
}

/// A send or a receive, of one message or of several.
pub(in crate::channel) struct MpmcOperation<'a, T, H, P, L: MpmcLimit, const SENDS: bool> {
    handle: &'a H,
    limit: L,
    wait: MpmcWait<'a, T, L::Side<WaitingSide<'a, T, SENDS>>, SENDS>,
    place: PhantomData<fn(&mut P)>,
}

pub(in crate::channel) type MpmcReceive<'a, T, P, L = ()> = MpmcOperation<'a, T, Receiver<T>, P, L, false>;
pub(in crate::channel) type MpmcSend<'a, T, P, L = ()> = MpmcOperation<'a, T, Sender<T>, P, L, true>;

impl<'a, T, H, P, const SENDS: bool> MpmcOperation<'a, T, H, P, (), SENDS> {
    #[inline(always)]
    pub(super) fn new(handle: &'a H) -> Self {
        Self::until(handle, ())
    }
}

impl<'a, T, H, P, L: MpmcLimit, const SENDS: bool> MpmcOperation<'a, T, H, P, L, SENDS> {
    #[inline(always)]
    pub(in crate::channel) fn until(handle: &'a H, limit: L) -> Self {
        Self { handle, limit, wait: MpmcWait::None, place: PhantomData }
    }

    #[inline(always)]
    pub(super) fn handle(&self) -> &'a H {
        self.handle
    }
}

impl<T, H, P, L: MpmcLimit, const SENDS: bool> MpmcOperation<'_, T, H, P, L, SENDS>
where
    H: MpmcHandle<T, SENDS>,
    P: MpmcPlace<T, H, SENDS>,
{
    /// After it has found nothing, or no room, in a queue.
    #[cold]
    #[inline(never)]
    fn attempt_further(&mut self, place: &mut P) -> Option<Result<(), H::Error>> {
        if self.wait.is_none_as_yet() {
            if let Some(party) = self.handle.parts().party() {
                self.wait = MpmcWait::InLine(Lining::new(&party));
            }
        }
        match &mut self.wait {
            MpmcWait::InLine(line) => Some(place.meet(line)?.map_err(H::Error::from)),
            _ => place.again(self.handle),
        }
    }
}

impl<T, H, P, L: MpmcLimit, const SENDS: bool> Operation for MpmcOperation<'_, T, H, P, L, SENDS>
where
    H: MpmcHandle<T, SENDS>,
    P: MpmcPlace<T, H, SENDS>,
{
    type Place = P;
    type Outcome = Result<(), H::Error>;
    const OWNS: bool = false;

    #[inline(always)]
    fn attempt(&mut self, place: &mut P) -> Option<Result<(), H::Error>> {
        if place.at_once(self.handle) { Some(Ok(())) } else { self.attempt_further(place) }
    }

    // MUTANT: Speed only: when a handle pauses before it waits.
    #[cold]
    #[inline(never)]
    fn block(&mut self, deadline: Deadline) -> bool {
        let Self { handle, limit, wait, .. } = self;
        let parts = handle.parts();
        if wait.is_none_as_yet() && deadline.is_over() {
            return parts.side().is_ready();
        }
        wait.block(parts.backoff, deadline, || {
            parts.stand_back(deadline);
            ManyWait::new(limit.side(parts.side()), parts.disarm_all())
        })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { handle, limit, wait, .. } = self;
        wait.poll(context, || {
            let parts = handle.parts();
            ManyWait::new(limit.side(parts.side()), parts.disarm_all())
        })
    }

    fn step(&mut self, place: &mut P, context: &mut Context<'_>) -> Poll<Result<(), H::Error>> {
        if let MpmcWait::InLine(line) = &mut self.wait {
            return place.step(line, context).map_err(H::Error::from);
        }
        step(self, place, context)
    }

    fn withdraw(&mut self, place: &mut P) -> Option<Result<(), H::Error>> {
        let MpmcWait::InLine(line) = &mut self.wait else { return None };
        Some(place.withdraw(line)?.map_err(H::Error::from))
    }

    #[inline]
    fn leave(&mut self) {
        self.wait.leave();
    }
}
