//! What the handles of a broadcast channel do that may have to wait: receive and send. One thread or one task for each operation.

use core::iter::Fuse;
use core::marker::PhantomData;
use core::task::{Context, Poll};
use std::vec;

use super::RecvError;
use super::permit::HeldRoom;
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{BroadcastShared, Listener, Speaker};
use crate::channel::SendError;
#[cfg(feature = "select")]
use crate::channel::select::{OperationSource, SelectRecv, SelectSend};
use crate::channel::task_batch::BatchPlace;
use crate::operation::{Operation, Readiness};
use crate::os::Deadline;
use crate::queue::broadcast::{Found, Seat};
use crate::queue::exchange::{Rejected, Staging, StagingSpace};
use crate::sync::spin_loop;
use crate::wait::many::{ManyWait, SharedEnd};
use crate::wait::{SharedBackoff, Subscriptions};

/// A thread that spins for room checks the receivers' cursors once per this many pauses.
const LOOK_EVERY: u64 = if cfg!(any(ysuite_loom, miri)) { 1 } else { 16 };
/// After this many pauses, room for one message is enough.
const PATIENCE: u64 = if cfg!(any(ysuite_loom, miri)) { 1 } else { 1024 };
/// This many messages without a wait are a stream.
const STREAM: u64 = 16;
/// How long a receiver backs off after a stream, in pauses.
const PAUSES: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 32 };

/// Where a receiver puts what it receives.
pub(super) trait Intake<T> {
    /// As `BroadcastShared::take`.
    fn take(&mut self, shared: &BroadcastShared<T>, seat: &mut Seat, missed: &mut u64) -> Found<()>;
}

impl<T: Clone> Intake<T> for Option<T> {
    #[inline]
    fn take(&mut self, shared: &BroadcastShared<T>, seat: &mut Seat, missed: &mut u64) -> Found<()> {
        shared.take(seat, missed).map(|message| *self = Some(message))
    }
}

/// The messages of one batch.
pub(in crate::channel) struct IntakeBatch<'a, T> {
    pub(super) to: &'a mut Vec<T>,
    pub(super) most: usize,
    pub(super) taken: usize,
}

impl<T> BatchPlace for IntakeBatch<'_, T> {
    fn taken(&self) -> usize {
        self.taken
    }
}

impl<T: Clone> Intake<T> for IntakeBatch<'_, T> {
    fn take(&mut self, shared: &BroadcastShared<T>, seat: &mut Seat, missed: &mut u64) -> Found<()> {
        shared.take_many(seat, missed, self.to, self.most).map(|taken| self.taken = taken)
    }
}

/// A receive of the next message, or of several.
#[doc(hidden)]
pub struct BroadcastReceive<'a, T, P> {
    shared: &'a BroadcastShared<T>,
    seat: &'a mut Seat,
    missed: &'a mut u64,
    waited_at: &'a mut u64,
    backoff: &'a SharedBackoff,
    subscriptions: Option<&'a Subscriptions>,
    /// Once it waits.
    wait: Option<ManyWait<Listener<'a, T>>>,
    place: PhantomData<fn(&mut P)>,
}

impl<'a, T, P> BroadcastReceive<'a, T, P> {
    #[inline]
    pub(super) fn new(receiver: &'a mut Receiver<T>) -> Self {
        let Receiver { shared, seat, missed, waited_at, backoff, subscriptions, .. } = receiver;
        let subscriptions = subscriptions.as_deref();
        Self { shared, seat, missed, waited_at, backoff, subscriptions, wait: None, place: PhantomData }
    }

    // MUTANT: Whatever ended an earlier wait has disarmed its slot; a set whose id stays down is notified of the next
    // message anyway.
    /// The wait of this operation. Before it begins it disarms the slots of the receiver's polling task and its set, so
    /// that only this wait is notified. The receiver's cursor stays where it is until there is a message.
    fn wait(&mut self) -> &mut ManyWait<Listener<'a, T>> {
        let Self { shared, seat, subscriptions, .. } = self;
        self.wait.get_or_insert_with(|| {
            if let Some(subscriptions) = subscriptions {
                subscriptions.disarm_all(shared.listener(seat));
            }
            shared.ring.move_up(seat);
            ManyWait::new(shared.listener(seat), false)
        })
    }
}

impl<T, P: Intake<T>> Operation for BroadcastReceive<'_, T, P> {
    type Place = P;
    type Outcome = Result<(), RecvError>;
    const OWNS: bool = false;

    #[inline]
    fn attempt(&mut self, place: &mut P) -> Option<Result<(), RecvError>> {
        match place.take(self.shared, self.seat, self.missed) {
            Found::Message(()) => Some(Ok(())),
            Found::Missed(missed) => Some(Err(RecvError::Lagged(missed))),
            Found::Nothing if self.shared.ring.is_at_end(self.seat) => Some(Err(RecvError::Disconnected)),
            Found::Nothing => None,
        }
    }

    // WAITS: for a message, also as a task; ends: that, the last sender has disconnected, the deadline; spin: `None`
    //     parks at once, `Adaptive` polls, yields, parks, `Forever` polls for ever; each message notifies all waiters;
    //     test: tests/suite/broadcast/waiting.rs: one_message_wakes_every_receiver_that_sleeps
    // MUTANT: Speed only: when a receiver pauses before it waits.
    fn block(&mut self, deadline: Deadline) -> bool {
        let is_crowded = self.shared.is_crowded();
        // After a stream, this lets the senders get ahead: this receiver has caught up with them in the cache line that
        // they write.
        if !is_crowded && self.seat.position() - *self.waited_at >= STREAM && self.backoff.recall().may_spin() {
            (0..PAUSES).for_each(|_| spin_loop());
        }
        *self.waited_at = self.seat.position();
        let backoff = self.backoff;
        let wait = self.wait();
        let listener = wait.end();
        wait.block_behind(backoff, deadline, is_crowded, || listener.is_ready())
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.wait().poll(context)
    }

    fn leave(&mut self) {
        self.wait = None;
    }
}

/// What a sender puts into the ring.
pub(super) trait Supply<T> {
    /// Sends all of it. `Full`: some is left for which there is no room.
    fn push(&mut self, shared: &BroadcastShared<T>) -> Result<(), Rejected<()>>;
}

impl<T> Supply<T> for Option<T> {
    #[inline]
    fn push(&mut self, shared: &BroadcastShared<T>) -> Result<(), Rejected<()>> {
        shared.push(self)
    }
}

/// Sends the staged messages, as far as there is room, even if the caller's iterator panics.
pub(super) struct StagedRun<'a, T> {
    pub(super) staging: Staging<'a, T>,
    shared: &'a BroadcastShared<T>,
    /// The number of messages that it has sent.
    pub(super) sent: usize,
}

impl<'a, T> StagedRun<'a, T> {
    pub(super) fn new(space: &'a mut StagingSpace, shared: &'a BroadcastShared<T>) -> Self {
        Self { staging: Staging::new(space), shared, sent: 0 }
    }
}

// USER CODE: wakers of receivers; what was written is in the ring; re-entrance: receivers may be active; panic: all
//     others are woken; test: tests/suite/broadcast/foreign.rs:
//     an_iterator_that_panics_has_sent_what_it_had_given_as_far_as_there_was_room
impl<T> Drop for StagedRun<'_, T> {
    // MUTANT: An empty batch claims and sends nothing.
    fn drop(&mut self) {
        _ = self.push(self.shared);
    }
}

impl<T> Supply<T> for StagedRun<'_, T> {
    fn push(&mut self, shared: &BroadcastShared<T>) -> Result<(), Rejected<()>> {
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

/// Room for a message: the operation reserves it.
impl<T> Supply<T> for HeldRoom<'_, T> {
    fn push(&mut self, _: &BroadcastShared<T>) -> Result<(), Rejected<()>> {
        self.add(1)
    }
}

/// Messages of an iterator, of which each operation takes and sends those for which there is room.
pub(super) struct BatchParts<'a, T, I: Iterator<Item = T>> {
    /// The iterator is not called again after it has ended: it may return messages once more.
    messages: Fuse<&'a mut I>,
    /// Of the current part: another sender was quicker.
    rest: vec::IntoIter<T>,
    /// The number of messages that have been sent.
    pub(super) sent: usize,
    /// The iterator has ended.
    pub(super) is_over: bool,
}

impl<'a, T, I: Iterator<Item = T>> BatchParts<'a, T, I> {
    pub(super) fn new(messages: &'a mut I) -> Self {
        Self { messages: messages.fuse(), rest: Vec::new().into_iter(), sent: 0, is_over: false }
    }

    /// The messages that were taken from the iterator and not sent.
    pub(super) fn take_back(&mut self) -> Vec<T> {
        self.rest.by_ref().collect()
    }
}

impl<T, I: Iterator<Item = T>> Supply<T> for BatchParts<'_, T, I> {
    fn push(&mut self, shared: &BroadcastShared<T>) -> Result<(), Rejected<()>> {
        let mut space = StagingSpace::new();
        let mut run = StagedRun::new(&mut space, shared);
        if self.rest.len() != 0 {
            run.staging.fill(&mut self.rest, usize::MAX);
        } else if self.messages.size_hint().1 == Some(0) {
            self.is_over = true;
        } else if shared.is_deserted() {
            return Err(Rejected::Closed(()));
        } else if !shared.ring.is_writable() {
            return Err(Rejected::Full(()));
        } else {
            run.staging.fill(&mut self.messages, shared.ring.known_room().max(1));
            self.is_over = run.staging.len() == 0;
        }
        let outcome = run.push(shared);
        self.sent += run.sent;
        self.rest = run.staging.take(usize::MAX).chain(&mut self.rest).collect::<Vec<_>>().into_iter();
        outcome
    }
}

/// A send of a message, or of several.
#[doc(hidden)]
pub struct BroadcastSend<'a, T, P> {
    shared: &'a BroadcastShared<T>,
    room: Readiness<'a, Speaker<'a, T>>,
    place: PhantomData<fn(&mut P)>,
}

impl<'a, T, P> BroadcastSend<'a, T, P> {
    #[inline]
    pub(super) fn new(sender: &'a Sender<T>) -> Self {
        let Sender { shared, backoff } = sender;
        Self { shared, room: Readiness::new(shared.speaker(), backoff), place: PhantomData }
    }
}

impl<T, P: Supply<T>> Operation for BroadcastSend<'_, T, P> {
    type Place = P;
    type Outcome = Result<(), SendError<()>>;
    const OWNS: bool = false;

    #[inline]
    fn attempt(&mut self, place: &mut P) -> Option<Result<(), SendError<()>>> {
        match place.push(self.shared) {
            Ok(()) => Some(Ok(())),
            Err(Rejected::Closed(())) => Some(Err(SendError(()))),
            Err(Rejected::Full(())) => None,
        }
    }

    // WAITS: for room, also as a task; ends: the slowest receiver advances or is dropped, a copy or another send that is
    //     in the way finishes, the deadline; spin: `None` parks at once, `Adaptive` polls until there is room for
    //     several, then yields, parks, `Forever` polls for ever, and after a while accepts room for one; fairness: others
    //     of its side are notified in turn; test: tests/suite/broadcast/waiting.rs:
    //     a_sender_is_woken_by_whatever_makes_room
    // MUTANT: Speed only: how often a spinning sender polls for room, and when room for one message is enough.
    /// While it spins it waits for room for several messages, and polls seldom: each poll takes the cache lines of the
    /// receivers' cursors from them.
    #[cold]
    #[inline(never)]
    fn block(&mut self, deadline: Deadline) -> bool {
        let ring = &self.shared.ring;
        let enough = ring.capacity().div_ceil(4);
        let is_crowded = self.shared.is_crowded();
        let every = if is_crowded { 1 } else { LOOK_EVERY };
        let mut calls = 0_u64;
        self.room.block_behind(deadline, is_crowded, || {
            calls += 1;
            calls % every == 0 && if calls < PATIENCE { ring.has_room_for(enough) } else { ring.is_writable() }
        })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.room.poll(context)
    }

    fn leave(&mut self) {
        self.room.leave();
    }

    /// Other senders take room. A receiver that subscribes takes the possibility away that there is none.
    fn moves(&self) -> u64 {
        self.shared.ring.moves()
    }
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a, T: Clone> SelectRecv for &'a mut Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = OperationSource<BroadcastReceive<'a, T, Option<T>>>;

    #[inline]
    fn into_source(self) -> Self::Source {
        OperationSource(BroadcastReceive::new(self))
    }
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a, T> SelectSend for &'a Sender<T> {
    type Message = T;
    type Outlet = OperationSource<BroadcastSend<'a, T, Option<T>>>;

    #[inline]
    fn into_outlet(self) -> Self::Outlet {
        OperationSource(BroadcastSend::new(self))
    }
}
