//! The operations of a pipe. They borrow its sender or receiver.

use core::marker::PhantomData;
use core::task::{Context, Poll};

use super::flavour::{Choose, Flavoured};
use crate::channel::error::{RecvError, ReserveError, SendError, TryReserveError, TrySendError};
use crate::channel::permit::SeveralPlaces;
use crate::channel::receive::{ReadingEnd, Receiving};
use crate::channel::rendezvous::{Exchange, ExchangePlace, Party};
use crate::channel::send::{FlushOnDrop, SenderLink, Sending};
use crate::channel::task_batch::BatchPlace;
use crate::foreign::{Lent, Panics};
use crate::operation::Operation;
use crate::os::Deadline;
use crate::wait::one;

/// What a sender puts into its queue, or hands over at a rendezvous.
pub(in crate::channel) trait PipeSupply<T, L: SenderLink<T>>: ExchangePlace<T, true> {
    /// Sends all of it. `None`: some is left for which there is no room.
    fn put(&mut self, sending: &mut Sending<T, L>) -> Option<Result<(), SendError<()>>>;
}

/// One message.
impl<T, L: SenderLink<T>> PipeSupply<T, L> for Option<T> {
    fn put(&mut self, sending: &mut Sending<T, L>) -> Option<Result<(), SendError<()>>> {
        match sending.attempt_again(self) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Disconnected(())) => Some(Err(SendError(()))),
            Err(TrySendError::Full(())) => None,
        }
    }
}

/// One message, which is hidden at first.
pub(in crate::channel) struct Hidden<'a, T>(pub(in crate::channel) &'a mut Option<T>);

impl<T, L: SenderLink<T>> PipeSupply<T, L> for Hidden<'_, T> {
    // MUTANT: Speed only: the wait finds the disconnection at its first check or after arming.
    fn put(&mut self, sending: &mut Sending<T, L>) -> Option<Result<(), SendError<()>>> {
        if sending.end.writer.is_over() {
            return Some(Err(SendError(())));
        }
        sending.end.writer.write_from(self.0).then_some(Ok(()))
    }
}

impl<T> ExchangePlace<T, true> for Hidden<'_, T> {
    fn next(&mut self) -> &mut Option<T> {
        self.0
    }
}

/// All that an iterator has. A message is taken from it only where there is room for it, or to be handed over next.
/// Those between two waits are one batch.
pub(in crate::channel) struct OneByOne<'a, T, I> {
    messages: &'a mut I,
    /// The number of messages that have been sent.
    pub(in crate::channel) sent: usize,
    next: Option<T>,
    back: Vec<T>,
}

impl<'a, T, I> OneByOne<'a, T, I> {
    pub(in crate::channel) fn new(messages: &'a mut I) -> Self {
        Self { messages, sent: 0, next: None, back: Vec::new() }
    }

    /// After an error: the messages that the receiver certainly does not get.
    pub(in crate::channel) fn take_back(&mut self) -> Vec<T> {
        self.back.extend(self.next.take());
        core::mem::take(&mut self.back)
    }
}

impl<T, L: SenderLink<T>, I: Iterator<Item = T>> PipeSupply<T, L> for OneByOne<'_, T, I> {
    fn put(&mut self, sending: &mut Sending<T, L>) -> Option<Result<(), SendError<()>>> {
        if sending.end.writer.is_over() {
            return Some(Err(SendError(())));
        }
        let first = sending.end.writer.position();
        let batch = FlushOnDrop(sending);
        let has_more = batch.0.end.writer.fill_room(self.messages);
        let tokens = batch.0.end.writer.publish();
        if let Err(SendError(back)) = batch.0.published(tokens, first) {
            self.back = back;
            return Some(Err(SendError(())));
        }
        self.sent += batch.0.end.writer.position().wrapping_sub(first);
        // Where the iterator reports that it has no more, no room is needed.
        (!has_more || self.messages.size_hint().1 == Some(0)).then_some(Ok(()))
    }
}

impl<T, I: Iterator<Item = T>> ExchangePlace<T, true> for OneByOne<'_, T, I> {
    fn next(&mut self) -> &mut Option<T> {
        &mut self.next
    }

    fn fetch(&mut self, _: &Party<'_, T, true>) -> bool {
        self.next = self.messages.next();
        self.sent += usize::from(self.next.is_some());
        self.next.is_some()
    }
}

/// A send of what is in its place, by a queue.
pub(in crate::channel) struct QueueSend<'a, T, L: SenderLink<T>, P> {
    sending: &'a mut Sending<T, L>,
    /// The task.
    is_registered: bool,
    place: PhantomData<fn(&mut P)>,
}

impl<'a, T, L: SenderLink<T>, P> QueueSend<'a, T, L, P> {
    #[inline]
    pub(in crate::channel) fn new(sending: &'a mut Sending<T, L>) -> Self {
        Self { sending, is_registered: false, place: PhantomData }
    }
}

// USER CODE: as of `put` and of the caller's iterator; and the receiver's waker, where it waits; what is not sent is in
//     the place; re-entrance and panic: as of `send_slowly` in `channel/send.rs`
impl<T, L: SenderLink<T>, P: PipeSupply<T, L>> Operation for QueueSend<'_, T, L, P> {
    type Place = P;
    type Outcome = Result<(), SendError<()>>;
    const OWNS: bool = false;

    fn attempt(&mut self, place: &mut P) -> Option<Result<(), SendError<()>>> {
        place.put(self.sending)
    }

    // WAITS: for room, also in `write` and `send_batch`; ends: that, the receiver has disconnected, the deadline; spin:
    //     as `recv`; a sender of an `mpsc` yields twice under `Adaptive`; it flushes first, so no receiver waits for
    //     hidden messages; test: tests/suite/conformance/channel/batches.rs: a_full_batch_flushes_itself_and_waits
    fn block(&mut self, deadline: Deadline) -> bool {
        let (sending, mut in_time) = (&mut *self.sending, true);
        // The waker that the flush wakes is user code.
        Panics::in_drop(|| {
            // Hidden messages must be published before this waits, or two such handles would wait for each other.
            sending.flush();
            // After a disconnection there is no wait: without a bound the sleep flag is not even allocated for it.
            sending.stand_back(deadline);
            in_time = sending.end.writer.is_over() || one::block(&mut *sending.end, &mut sending.backoff, deadline);
        });
        in_time
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.is_registered = true;
        self.sending.poll_queue(context)
    }

    fn leave(&mut self) {
        if self.is_registered {
            one::forget(&mut *self.sending.end);
        }
    }
}

/// A send of what is in its place, by a task.
pub(in crate::channel) type PipeSend<'a, T, L, P> = Flavoured<&'a mut Sending<T, L>, P>;

impl<'a, T, L: SenderLink<T>, P: PipeSupply<T, L>> Choose<P> for &'a mut Sending<T, L> {
    type Outcome = Result<(), SendError<()>>;
    type Queue = QueueSend<'a, T, L, P>;
    type Meeting = Exchange<'a, T, P, SendError<()>, true>;

    fn choose(self) -> PipeSend<'a, T, L, P> {
        match self.flavour() {
            Ok(party) => Flavoured::Meeting(Exchange::new(&party)),
            Err(sending) => Flavoured::Queue(QueueSend::new(sending)),
        }
    }
}

/// Room for several messages at once. Never waits at a rendezvous, which has none.
pub(in crate::channel) struct PipeReserve<'a, T, L: SenderLink<T>> {
    sending: &'a mut Sending<T, L>,
    places: usize,
    is_registered: bool,
}

impl<'a, T, L: SenderLink<T>> PipeReserve<'a, T, L> {
    pub(in crate::channel) fn new(sending: &'a mut Sending<T, L>, places: usize) -> Self {
        Self { sending, places, is_registered: false }
    }

    /// Of a task that may be registered.
    pub(super) fn again(sending: &'a mut Sending<T, L>, places: usize) -> Self {
        Self { sending, places, is_registered: true }
    }
}

impl<T, L: SenderLink<T>> Operation for PipeReserve<'_, T, L> {
    type Place = ();
    type Outcome = Result<(), ReserveError>;
    const OWNS: bool = false;

    fn attempt(&mut self, (): &mut ()) -> Option<Result<(), ReserveError>> {
        match self.sending.look_for(self.places) {
            Ok(()) => Some(Ok(())),
            Err(TryReserveError::TooMany) => Some(Err(ReserveError::TooMany)),
            Err(TryReserveError::Disconnected) => Some(Err(ReserveError::Disconnected)),
            Err(TryReserveError::Full) => None,
        }
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        // Hidden messages must be published before this waits, or two such handles would wait for each other.
        self.sending.flush();
        let Sending { end, backoff, .. } = &mut *self.sending;
        one::block(&mut SeveralPlaces { end, places: self.places }, backoff, deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.is_registered = true;
        // As above.
        self.sending.flush();
        one::poll(&mut SeveralPlaces { end: &mut self.sending.end, places: self.places }, context)
    }

    fn leave(&mut self) {
        if self.is_registered {
            one::forget(&mut *self.sending.end);
        }
    }
}

/// Where a receiver puts what it receives.
pub(in crate::channel) trait PipeIntake<E: ReadingEnd>: ExchangePlace<E::Message, false> {
    /// Takes what is there. `None`: nothing, and there may be something later.
    fn take(&mut self, receiving: &mut Receiving<E>) -> Option<Result<(), RecvError>>;
}

/// One message.
impl<T, E: ReadingEnd<Message = T>> PipeIntake<E> for Option<T> {
    fn take(&mut self, receiving: &mut Receiving<E>) -> Option<Result<(), RecvError>> {
        receiving.take_or_end(self)
    }
}

/// The messages that are there, at least one and at most `most`.
pub(in crate::channel) struct IntakeMany<'a, T> {
    pub(in crate::channel) to: &'a mut Vec<T>,
    pub(in crate::channel) most: usize,
    pub(in crate::channel) taken: usize,
    first: Option<T>,
}

impl<'a, T> IntakeMany<'a, T> {
    pub(in crate::channel) fn new(to: &'a mut Vec<T>, most: usize) -> Self {
        Self { to, most, taken: 0, first: None }
    }
}

impl<T> BatchPlace for IntakeMany<'_, T> {
    fn taken(&self) -> usize {
        self.taken
    }
}

impl<T, E: ReadingEnd<Message = T>> PipeIntake<E> for IntakeMany<'_, T> {
    fn take(&mut self, receiving: &mut Receiving<E>) -> Option<Result<(), RecvError>> {
        self.taken = receiving.take_batch(self.to, self.most);
        if self.taken != 0 {
            return Some(Ok(()));
        }
        // What was published before the close is visible then.
        if !receiving.end.is_closed() {
            return None;
        }
        self.taken = if receiving.end.has_last() { receiving.take_batch(self.to, self.most) } else { 0 };
        Some(if self.taken == 0 { Err(RecvError) } else { Ok(()) })
    }
}

impl<T> ExchangePlace<T, false> for IntakeMany<'_, T> {
    fn next(&mut self) -> &mut Option<T> {
        &mut self.first
    }

    fn fetch(&mut self, party: &Party<'_, T, false>) -> bool {
        self.to.push(self.first.take_out());
        self.taken = 1 + party.take_more(self.to, self.most - 1);
        false
    }
}

/// A receive into its place, by a queue.
pub(in crate::channel) struct QueueReceive<'a, E: ReadingEnd, P> {
    receiving: &'a mut Receiving<E>,
    /// The task.
    is_registered: bool,
    place: PhantomData<fn(&mut P)>,
}

impl<'a, E: ReadingEnd, P> QueueReceive<'a, E, P> {
    #[inline]
    pub(in crate::channel) fn new(receiving: &'a mut Receiving<E>) -> Self {
        Self { receiving, is_registered: false, place: PhantomData }
    }
}

impl<E: ReadingEnd, P: PipeIntake<E>> Operation for QueueReceive<'_, E, P> {
    type Place = P;
    type Outcome = Result<(), RecvError>;
    const OWNS: bool = false;

    fn attempt(&mut self, place: &mut P) -> Option<Result<(), RecvError>> {
        place.take(self.receiving)
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.receiving.block(deadline)
    }

    // WAITS: a task, for a message or the last sender's drop, also in `poll_recv`; it does not spin; test:
    //     tests/suite/conformance/channel/tasks.rs: a_task_polled_once_and_kept_is_woken
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.is_registered = true;
        one::poll(&mut self.receiving.end, context)
    }

    #[inline(always)]
    fn leave(&mut self) {
        if self.is_registered {
            one::forget(&mut self.receiving.end);
        }
    }
}

/// A receive into its place, by a task.
pub(in crate::channel) type PipeReceive<'a, E, P> = Flavoured<&'a mut Receiving<E>, P>;

impl<'a, E: ReadingEnd, P: PipeIntake<E>> Choose<P> for &'a mut Receiving<E> {
    type Outcome = Result<(), RecvError>;
    type Queue = QueueReceive<'a, E, P>;
    type Meeting = Exchange<'a, E::Message, P, RecvError, false>;

    fn choose(self) -> PipeReceive<'a, E, P> {
        match self.flavour() {
            Ok(party) => Flavoured::Meeting(Exchange::new(&party)),
            Err(receiving) => Flavoured::Queue(QueueReceive::new(receiving)),
        }
    }
}

/// There is a message in the queue, which stays there: no other handle takes it. Not at a rendezvous.
pub(in crate::channel) struct PipeArrival<'a, E: ReadingEnd> {
    receiving: &'a mut Receiving<E>,
    /// The last wait has found something, or there was none.
    has_found: bool,
}

impl<'a, E: ReadingEnd> PipeArrival<'a, E> {
    pub(in crate::channel) fn new(receiving: &'a mut Receiving<E>) -> Self {
        Self { receiving, has_found: true }
    }
}

impl<E: ReadingEnd> Operation for PipeArrival<'_, E> {
    type Place = ();
    type Outcome = Result<(), RecvError>;
    const OWNS: bool = false;

    #[inline(always)]
    fn attempt(&mut self, (): &mut ()) -> Option<Result<(), RecvError>> {
        // MUTANT: Speed only: the wait itself has looked at its deadline.
        if !self.has_found {
            return None;
        }
        let end = &mut self.receiving.end;
        if end.has_message() {
            return Some(Ok(()));
        }
        if !end.is_closed() {
            return None;
        }
        // Once more: what the sender published before it closed the queue is visible now.
        Some(if end.has_last() { Ok(()) } else { Err(RecvError) })
    }

    #[inline(always)]
    fn block(&mut self, deadline: Deadline) -> bool {
        self.has_found = self.receiving.block(deadline);
        self.has_found
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        one::poll(&mut self.receiving.end, context)
    }

    // MUTANT: Only threads wait by this operation: nothing is registered.
    #[inline(always)]
    fn leave(&mut self) {}
}
