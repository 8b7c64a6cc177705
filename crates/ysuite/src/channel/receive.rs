//! The inner part of a receiver: everything that the only reader of a queue can do. It is written once for spsc and
//! mpsc.
//!
//! One thread at a time. Each public method of a receiver is a line that calls one of these, and says whether it blocks,
//! and what it costs.

use core::mem::needs_drop;
use core::task::{Context, Poll, ready};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::iter::Receive;
use super::pipe::{IntakeMany, PipeArrival, QueueReceive, ReceiveTask};
use super::rendezvous::{MeetingEnd, Party};
use crate::foreign::{Foreign, Guarded};
use crate::operation;
use crate::os::Deadline;
use crate::queue::outline;
use crate::queue::ypipe::{InSlot, LoosePlace};
use crate::signal::{AttachError, Registration};
use crate::sync::spin_loop;
use crate::wait::one::{self, WaitingEnd};
use crate::wait::{Backoff, SMALL, Spin};

/// What [`Receiving`] needs of a queue's reader. All wait-free.
pub(super) trait ReadingEnd: WaitingEnd {
    type Message;

    /// The next message, which stays in its slot until this is used again.
    #[inline(always)]
    fn take(&mut self) -> Option<InSlot<Self::Message>> {
        self.take_by(|message| message)
    }
    /// As [`take`](Self::take). `out` gets the message before a sender is notified of the room, which runs user code.
    /// Its result either needs no drop, or its drop lets no second panic out while the thread unwinds.
    fn take_by<R>(&mut self, out: impl Copy + FnOnce(InSlot<Self::Message>) -> R) -> Option<R>;
    fn take_many(&mut self, to: &mut Vec<Self::Message>, most: usize) -> usize;
    fn peek(&mut self) -> Option<&Self::Message>;
    /// The next messages that are contiguous in memory; empty only where [`peek`](Self::peek) finds none.
    fn peek_run(&mut self) -> &[Self::Message];
    fn has_message(&mut self) -> bool;
    /// The number of published messages. Stops counting as soon as it reaches `enough`.
    fn len_up_to(&self, enough: usize) -> usize;
    /// The number of messages that have been taken; wraps.
    fn position(&self) -> usize;
    /// The most messages that there can be, of one sender.
    fn bound(&self) -> Option<usize>;
    /// Whether nothing more will be published.
    fn is_closed(&self) -> bool;
    /// After finding nothing: whether there is a message all the same. A queue that its receiver has closed may have
    /// one, which only this check finds.
    fn has_last(&mut self) -> bool {
        self.has_message()
    }
    /// Closes the queue, which is open. Then [`is_closed`](Self::is_closed) is true, and senders get their messages
    /// back.
    fn close(&mut self);
    // USER CODE: wakers of tasks that wait until the receiver has disconnected; the rendezvous is closed, or the queue
    //     cut; re-entrance: any operation; panic: the others are woken, then it propagates; test:
    //     tests/suite/rendezvous/ended.rs: closed_waits_for_the_receivers_end
    /// The receiver has closed a rendezvous: notifies all that wait for its disconnection. Wakers are user code.
    fn tell_end(&self);
}

/// A reader, and its memory of how to wait.
pub(super) struct Receiving<E: ReadingEnd> {
    pub(super) end: E,
    pub(super) backoff: RecvBackoff,
    /// The endpoint of a rendezvous. Its queue is closed from the start, so only code that finds it closed checks this.
    /// Dropped last.
    pub(super) meeting: MeetingEnd<E::Message, false>,
}

/// A receiver whose inner part is a [`Receiving`]: for what is written once for `spsc` and `mpsc`.
pub(super) trait PipeReceiver: Receive {
    type End: ReadingEnd<Message = Self::Message>;

    fn receiving(&mut self) -> &mut Receiving<Self::End>;
}

/// A receiver's memory of how to wait.
pub(super) struct RecvBackoff {
    backoff: Backoff,
    /// The number of messages that had been taken at the last wait; wraps.
    waited_at: u32,
    /// The queue has less room than is filled during a pause: then its sender waits as well.
    is_short: bool,
    /// How often in a row an attempt has paused in vain, up to [`RARELY`]: its next stream is as many times twice as long.
    in_vain: u8,
}

/// This many bytes of messages without a wait are a stream. The receiver has then caught up with the sender in a cache
/// line that the sender writes, and every poll takes that line away from the sender. So the receiver pauses before it
/// polls again, and the sender gets ahead in that time.
const STREAM: usize = 1024;
/// A stream has at least and at most this many messages.
const FEWEST: usize = 8;
const MOST: usize = 64;
/// A stream is doubled this many times at most, where attempts pause in vain.
const RARELY: u8 = 8;
/// A queue with room for this many messages is worth a pause.
const ROOMY: usize = 128;
/// Pauses after a stream of small messages: a fraction of a microsecond.
const PAUSES: u32 = 16;
/// A batch of up to this many messages is taken without counting the messages first. A larger batch could last as long
/// as senders stream, and an operation that never blocks must return.
const AMPLE: usize = if cfg!(ysuite_loom) { 4 } else { 4096 };

// MUTANT: Speed only: when a receiver that has streamed pauses before it polls again.
impl RecvBackoff {
    /// `bound`: of the queue.
    pub(super) fn new(bound: Option<usize>) -> Self {
        Self { backoff: Backoff::new(), waited_at: 0, is_short: bound.is_some_and(|bound| bound < ROOMY), in_vain: 0 }
    }

    pub(super) fn set_spin(&mut self, spin: Spin) {
        self.backoff.spin = spin;
    }

    /// The part for waits in a rendezvous.
    pub(super) fn meeting(&mut self) -> &mut Backoff {
        &mut self.backoff
    }

    /// Before a wait or after an attempt that has found nothing: after a stream, pauses so that the sender gets ahead.
    /// `position` is the number of messages that have been taken; wraps. `bytes`: of a message.
    #[inline(always)]
    pub(super) fn look_away(&mut self, position: usize, deadline: Deadline, bytes: usize) {
        if self.has_streamed(position, bytes) {
            self.pause(deadline, bytes);
        }
        self.waited_at = position as u32;
    }

    #[cold]
    #[inline(never)]
    fn pause(&self, deadline: Deadline, bytes: usize) {
        if bytes > SMALL {
            self.backoff.stand_back(deadline, bytes);
        } else if self.backoff.may_spin() {
            (0..PAUSES).for_each(|_| spin_loop());
        }
    }

    /// Blocks the thread until the reader is ready (true) or the deadline has passed (false). After
    /// [`look_away`](Self::look_away).
    pub(super) fn wait(&mut self, end: &mut impl WaitingEnd, deadline: Deadline) -> bool {
        one::block(end, &mut self.backoff, deadline)
    }

    /// Whether there was a stream up to this position, and no wait since it began: one that is worth a pause. Never of a
    /// short queue, whose attempts in vain then stay on their fast path.
    #[inline(always)]
    fn has_streamed(&self, position: usize, bytes: usize) -> bool {
        !self.is_short && (position as u32).wrapping_sub(self.waited_at) >= (stream_of(bytes) << self.in_vain) as u32
    }

    /// Behind the pause of an attempt: what there is now. A sender that does not get ahead in that time sends too seldom, or
    /// waits for an answer.
    fn has_paused(&mut self, messages: usize) {
        self.in_vain = if messages < FEWEST { RARELY.min(self.in_vain + 1) } else { 0 };
    }
}

/// The number of messages of this size that are a stream.
#[inline(always)]
const fn stream_of(bytes: usize) -> usize {
    match STREAM.checked_div(bytes) {
        Some(messages) if messages < FEWEST => FEWEST,
        Some(messages) if messages < MOST => messages,
        _ => MOST,
    }
}

impl<E: ReadingEnd> Receiving<E> {
    pub(super) fn new(end: E, meeting: MeetingEnd<E::Message, false>) -> Self {
        let backoff = RecvBackoff::new(end.bound());
        Self { end, backoff, meeting }
    }

    /// This receiver at a rendezvous (`Ok`), or with its queue.
    pub(super) fn flavour(&mut self) -> Result<Party<'_, E::Message, false>, &mut Self> {
        match self {
            Self { meeting: MeetingEnd(Some(end)), .. } => Ok(MeetingEnd::party_of(end)),
            _ => Err(self),
        }
    }

    /// Takes a message to `place`, or returns the error that there will be none. `None`: neither yet. Only polls: an
    /// attached receiver keeps its id up.
    #[inline(always)]
    pub(super) fn take_or_end(&mut self, place: &mut Option<E::Message>) -> Option<Result<(), RecvError>> {
        let found = match self.end.take() {
            Some(message) => message,
            None if !self.end.is_closed() => return None,
            // What was published before the close is visible now.
            None => match self.take_last() {
                Ok(message) => message,
                Err(error) => return Some(Err(error)),
            },
        };
        found.take_to(place);
        Some(Ok(()))
    }

    // MUTANT: One more check when the queue is empty.
    /// Whether the sender has disconnected, or the channel is closed.
    pub(super) fn is_disconnected(&self) -> bool {
        self.end.is_closed() && self.meeting.is_over()
    }

    /// The next message as what a receive returns, or what `otherwise` makes where there is none; for code that is compiled
    /// into every loop. `otherwise` gets a place for a message that comes from elsewhere.
    ///
    /// The message is read at one place, whichever way it came. If a slow path returned it, it would be copied to where that
    /// path writes its result, and the caller would read the copy before the processor has finished it: with loads of other
    /// widths than the stores that is a stall of some forty cycles for each message.
    #[inline(always)]
    fn take_or<R>(
        &mut self,
        otherwise: impl FnOnce(&mut Self, &mut LoosePlace<E::Message>) -> Result<InSlot<E::Message>, R>,
    ) -> Result<E::Message, R> {
        let mut loose = LoosePlace::new();
        if const { size_of::<E::Message>() <= 16 && !needs_drop::<E::Message>() } {
            // It fits into registers, out of its slot before the sender's word is loaded: that takes a register less.
            return match self.end.take_by(InSlot::take) {
                Some(message) => Ok(message),
                None => otherwise(self, &mut loose).map(InSlot::take),
            };
        }
        let found = match self.end.take() {
            Some(message) => message,
            None => otherwise(self, &mut loose)?,
        };
        Ok(found.take())
    }

    // WAITS: for a message, also in `recv_timeout`, `recv_batch`, `iter`; ends: that, the last sender has disconnected,
    //     the deadline; spin: `None` parks at once, `Adaptive` polls, then parks, `Forever` polls for ever, and checks
    //     the deadline; an attached receiver stays armed for its set as well; test:
    //     tests/suite/conformance/channel/waiting.rs: every_way_of_spinning_arrives
    #[inline(always)]
    pub(super) fn recv(&mut self) -> Result<E::Message, RecvError> {
        self.take_or(|receiving, loose| outline(receiving, |receiving| receiving.recv_slowly(loose)))
    }

    #[cold]
    #[inline(never)]
    fn recv_slowly(&mut self, loose: &mut LoosePlace<E::Message>) -> Result<InSlot<E::Message>, RecvError> {
        self.find_until(Deadline::Never, loose).map_err(|_| RecvError)
    }

    /// Receives; waits for a message until a deadline. `deadline` is called only where there is no message.
    pub(super) fn recv_until(&mut self, deadline: impl FnOnce() -> Deadline) -> Result<E::Message, RecvTimeoutError> {
        self.take_or(|receiving, loose| receiving.find_until(deadline(), loose))
    }

    /// There is no message: waits for one until a deadline. That of a rendezvous is in the loose place.
    #[inline(always)]
    fn find_until(
        &mut self,
        deadline: Deadline,
        loose: &mut LoosePlace<E::Message>,
    ) -> Result<InSlot<E::Message>, RecvTimeoutError> {
        if let Some(party) = self.meeting.party() {
            let mut place = Guarded(loose.empty());
            party.recv(&mut place, deadline, self.backoff.meeting())?;
            place.keep();
            // SAFETY: there is a message. The callers take it before they use the place again.
            return Ok(unsafe { loose.filled() });
        }
        self.wait(deadline)?;
        self.end.take().ok_or(RecvTimeoutError::Disconnected)
    }

    /// The next message, for code that is compiled into every loop.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Result<E::Message, RecvError> {
        match self.end.take() {
            Some(message) => Ok(message.take()),
            None => Err(RecvError),
        }
    }

    // MUTANT: Speed only: a message that came during the pause is found by the next attempt.
    /// Blocks until there is a message (`Ok`), the sender has disconnected, or the deadline has passed.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(&mut self, deadline: Deadline) -> Result<(), RecvTimeoutError> {
        of_limited(operation::block_behind(PipeArrival::new(self), &mut (), deadline))
    }

    /// Blocks the thread until the queue is ready (true) or the deadline has passed (false).
    #[inline(always)]
    pub(super) fn block(&mut self, deadline: Deadline) -> bool {
        self.backoff.look_away(self.end.position(), deadline, size_of::<E::Message>());
        self.backoff.wait(&mut self.end, deadline)
    }

    // MUTANT: Speed only: the slow path finds nothing either.
    #[inline(always)]
    pub(super) fn try_recv(&mut self) -> Result<E::Message, TryRecvError> {
        self.take_or(|receiving, loose| {
            // A few loads and no copy, so that a loop of failing attempts is quick as well.
            if receiving.is_plainly_empty() {
                Err(TryRecvError::Empty)
            } else {
                outline(receiving, |receiving| receiving.try_recv_slowly(loose))
            }
        })
    }

    // MUTANT: Speed only: the slow path finds nothing either.
    /// As [`try_recv`](Self::try_recv), after it has found nothing: `Ok` if there is a message all the same.
    #[cfg(feature = "in-place")]
    pub(super) fn find(&mut self) -> Result<(), TryRecvError> {
        if self.is_plainly_empty() { Err(TryRecvError::Empty) } else { outline(self, Self::find_slowly) }
    }

    // MUTANT: Speed only: whether to check again after the pause. The next attempt finds what came meanwhile.
    #[cfg(feature = "in-place")]
    #[cold]
    #[inline(never)]
    fn find_slowly(&mut self) -> Result<(), TryRecvError> {
        if self.backoff.has_streamed(self.end.position(), size_of::<E::Message>()) {
            self.look_away();
            if self.end.has_message() {
                return Ok(());
            }
        }
        self.nothing()
    }

    // MUTANT: Speed only: when to pause.
    /// An attempt has found nothing after a stream: pauses, so that the sender gets ahead.
    fn look_away(&mut self) {
        self.backoff.look_away(self.end.position(), Deadline::Never, size_of::<E::Message>());
        self.backoff.has_paused(self.end.len_up_to(FEWEST));
    }

    // MUTANT: Speed only: the slow path finds nothing either, with the same result.
    /// After finding nothing: whether the queue is simply empty. False after a stream, for a receiver that may be
    /// attached, and for a queue that is closed.
    #[inline(always)]
    fn is_plainly_empty(&self) -> bool {
        let Self { end, backoff, .. } = self;
        !backoff.has_streamed(end.position(), size_of::<E::Message>())
            && !end.target().was_attached()
            && !end.is_closed()
    }

    // MUTANT: Speed only: whether to check again after the pause.
    #[cold]
    #[inline(never)]
    fn try_recv_slowly(&mut self, loose: &mut LoosePlace<E::Message>) -> Result<InSlot<E::Message>, TryRecvError> {
        if self.backoff.has_streamed(self.end.position(), size_of::<E::Message>()) {
            self.look_away();
            if let Some(message) = self.end.take() {
                return Ok(message);
            }
        }
        match self.nothing() {
            // It is disconnected, or this is a rendezvous.
            Err(TryRecvError::Disconnected) => {
                let mut place = Guarded(loose.empty());
                self.meeting.try_recv_into(&mut *place)?;
                place.keep();
                // SAFETY: as in `find_until`.
                Ok(unsafe { loose.filled() })
            }
            Err(TryRecvError::Empty) => Err(TryRecvError::Empty),
            Ok(()) => self.end.take().ok_or(TryRecvError::Disconnected),
        }
    }

    // MUTANT: In a race: a message that came meanwhile has raised the id again, and the next attempt finds it.
    /// After finding nothing: `Ok` if a message has arrived in the meantime.
    fn nothing(&mut self) -> Result<(), TryRecvError> {
        if one::rest(&mut self.end) || self.end.is_closed() {
            if outline(self, |receiving| receiving.end.has_last()) {
                return Ok(());
            }
            // No end of a rendezvous, which is attached elsewhere.
            one::registration(&self.end).inspect(|registration| registration.tell_end());
            return Err(TryRecvError::Disconnected);
        }
        Err(TryRecvError::Empty)
    }

    // USER CODE: the allocator, for the caller's `Vec`; messages in it are counted as taken; re-entrance: none; panic:
    //     a `Vec` that cannot grow aborts, or panics beyond `isize::MAX` bytes, and nothing is lost; by construction:
    //     `ReadCursor::take_many` sets the length before it reserves
    pub(super) fn recv_batch(&mut self, to: &mut Vec<E::Message>, most: usize) -> Result<usize, RecvError> {
        if most == 0 {
            return outline(self, Self::take_none);
        }
        let taken = self.take_batch(to, most);
        if taken != 0 { Ok(taken) } else { outline(self, |receiving| receiving.recv_batch_slowly(to, most)) }
    }

    #[cold]
    #[inline(never)]
    fn recv_batch_slowly(&mut self, to: &mut Vec<E::Message>, most: usize) -> Result<usize, RecvError> {
        let mut batch = Foreign::new(IntakeMany::new(to, most));
        match self.meeting.party() {
            Some(party) => party.recv_into(&mut *batch, self.backoff.meeting())?,
            None => operation::perform_behind(QueueReceive::new(self), &mut *batch)?,
        }
        Ok(batch.taken)
    }

    pub(super) fn try_recv_batch(&mut self, to: &mut Vec<E::Message>, most: usize) -> Result<usize, TryRecvError> {
        if most == 0 {
            return Ok(outline(self, Self::take_none)?);
        }
        let taken = self.take_batch(to, most);
        if taken != 0 {
            return Ok(taken);
        }
        match self.nothing() {
            Ok(()) => Ok(self.take_batch(to, most)),
            // It is disconnected, or this is a rendezvous.
            Err(TryRecvError::Disconnected) => {
                let mut batch = Foreign::new(IntakeMany::new(to, most));
                self.meeting.try_recv_into(&mut *batch)?;
                Ok(batch.taken)
            }
            Err(TryRecvError::Empty) => Err(TryRecvError::Empty),
        }
    }

    // MUTANT: One more check when the queue is empty, or one less: the next attempt finds the message.
    /// A batch of 0 messages, where the caller has computed `max`. It never waits, but it reports the disconnection as
    /// any other batch does, so that a loop until the disconnection ends.
    #[cold]
    #[inline(never)]
    pub(super) fn take_none(&mut self) -> Result<usize, RecvError> {
        let is_over = !self.end.has_message() && self.is_disconnected() && !self.end.has_last();
        if is_over && self.meeting.given_back() == 0 { Err(RecvError) } else { Ok(0) }
    }

    // USER CODE: the allocator, when the caller's vector grows; the messages received so far are in the vector, the
    //     others in the queue; the hot state is a copy that is written back; re-entrance: senders may be active; panic:
    //     nothing is lost, as the length is set before the vector grows; test: tests/allocation/batches.rs:
    //     a_batch_of_two_lanes_ends_while_both_go_on
    // WAITS: never; it ends: beyond 4,096 messages it takes those that are there when it counts them; test:
    //     tests/allocation/batches.rs: a_batch_of_a_pipe_ends_while_its_sender_goes_on
    // MUTANT: A batch may also take what has come since.
    /// Takes the messages that are there, at most `most`. It may take some of the messages that arrive meanwhile, but
    /// not all of them, or it might never return.
    #[inline(always)]
    pub(super) fn take_batch(&mut self, to: &mut Vec<E::Message>, most: usize) -> usize {
        let taken = self.end.take_many(to, most.min(AMPLE));
        if taken < AMPLE { taken } else { taken + self.take_rest(to, most - taken) }
    }

    /// After an ample batch: takes the messages that are there now, and no more.
    #[cold]
    #[inline(never)]
    fn take_rest(&mut self, to: &mut Vec<E::Message>, most: usize) -> usize {
        let there = self.end.len_up_to(most).min(most);
        self.end.take_many(to, there)
    }

    // MUTANT: One more check when the queue is empty, or one less: the next attempt finds the message.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<&E::Message> {
        if !self.end.has_message() && !outline(self, Self::has_come_meanwhile) {
            return None;
        }
        self.end.peek()
    }

    // MUTANT: In a race: a message that came meanwhile has raised the id again, and the next attempt finds it.
    /// After finding nothing: whether there is a message all the same.
    #[cold]
    #[inline(never)]
    fn has_come_meanwhile(&mut self) -> bool {
        (one::rest(&mut self.end) || self.end.is_closed()) && self.end.has_last()
    }

    // MUTANT: When a peek finds nothing, the run of known messages is empty.
    pub(super) fn peek_run(&mut self) -> &[E::Message] {
        if self.peek().is_none() {
            return &[];
        }
        self.end.peek_run()
    }

    // USER CODE: messages' `Drop`; each is out of the queue; re-entrance: none (`&mut`); panic: the messages after it
    //     stay in the queue; test: tests/suite/conformance/channel/permits.rs: runs_are_shown_and_consumed
    #[inline]
    pub(super) fn consume(&mut self, messages: usize) {
        let known = self.end.peek_run().len();
        assert!(messages <= known, "consuming {messages} messages of {known} that were shown");
        // Each is taken before it is dropped: its drop may panic, and the rest stays where it is.
        (0..messages).for_each(|_| drop(self.end.take()));
    }

    #[inline]
    pub(super) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        ready!(one::poll(&mut self.end, context));
        match self.end.take() {
            Some(message) => Poll::Ready(Ok(message.take())),
            None => self.poll_over(context),
        }
    }

    /// The queue is closed, and empty except for what only a last check finds: it is disconnected, or this is a
    /// rendezvous.
    #[cold]
    #[inline(never)]
    fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        let met = self.meeting.poll_recv(context);
        met.unwrap_or_else(|| Poll::Ready(self.take_last().map(InSlot::take)))
    }

    // MUTANT: The check has found nothing, so the take finds nothing either.
    /// The queue is closed, and empty except for what only a last check finds.
    #[cold]
    #[inline(never)]
    fn take_last(&mut self) -> Result<InSlot<E::Message>, RecvError> {
        if self.end.has_last() { self.end.take().ok_or(RecvError) } else { Err(RecvError) }
    }

    /// Attaches the receiver to the registration's set.
    pub(super) fn attach(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.meeting.attach(registration).unwrap_or_else(|given| one::attach(&mut self.end, given))
    }

    /// Takes the receiver out of its set. False: it was in none.
    pub(super) fn detach(&mut self) -> bool {
        self.meeting.detach().unwrap_or_else(|| one::detach(&mut self.end))
    }

    /// Calls `look` with the registration, if the receiver is attached.
    pub(super) fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        if !self.meeting.with_registration(look) {
            one::registration(&self.end).into_iter().for_each(look);
        }
    }

    #[inline(always)]
    pub(super) fn recv_async(&mut self) -> ReceiveTask<'_, E> {
        ReceiveTask::new(self)
    }
}

/// The outcome of a receive that had a deadline (`None`: it has passed).
fn of_limited(outcome: Option<Result<(), RecvError>>) -> Result<(), RecvTimeoutError> {
    match outcome {
        Some(Ok(())) => Ok(()),
        Some(Err(RecvError)) => Err(RecvTimeoutError::Disconnected),
        None => Err(RecvTimeoutError::Timeout),
    }
}

/// Gives a receiver what iterators, streams and the hub need. `$by => $iter`: a borrowed receiver, and its iterator.
/// `$certain`: the maximal number of the present messages that this receiver certainly gets. `$look` and `$has_message`
/// are evaluated with the receiver as `$this`. A macro, as iterators and streams are foreign traits: they cannot be
/// implemented once for all receivers.
macro_rules! impl_receiver_traits {
    (
        $receiver:ident, $by:ty => $iter:ty, $(#[$size:meta])* certain: $certain:expr,
        |$this:ident| look: $look:expr, has_message: $has_message:expr $(,)?
    ) => {
        impl<T> Receive for $receiver<T> {
            type Message = T;

            #[inline]
            fn next_waiting(&mut self) -> Option<T> {
                self.recv().ok()
            }

            #[inline]
            fn look(&mut self) -> Option<T> {
                let $this = self;
                $look
            }

            fn has_message(&mut self) -> bool {
                let $this = self;
                $has_message
            }

            #[inline]
            fn try_next(&mut self) -> Result<T, TryRecvError> {
                self.try_recv()
            }
        }

        impl<T> IntoIterator for $receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<Self>;

            fn into_iter(self) -> IntoIter<Self> {
                IntoIter::new(self)
            }
        }

        impl<'a, T> IntoIterator for $by {
            type Item = T;
            type IntoIter = $iter;

            fn into_iter(self) -> $iter {
                self.iter()
            }
        }

        #[cfg(feature = "stream")]
        impl<T> futures_core::Stream for $receiver<T> {
            type Item = T;

            fn poll_next(self: core::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
                let receiver = self.get_mut();
                if receiver.has_ended {
                    return Poll::Ready(None);
                }
                let message = core::task::ready!(receiver.poll_recv(context)).ok();
                receiver.has_ended = message.is_none();
                Poll::Ready(message)
            }

            $(#[$size])*
            fn size_hint(&self) -> (usize, Option<usize>) {
                // Before the count, which then includes all that was sent before the last sender disconnected.
                let is_over = self.is_disconnected();
                let there = self.len();
                (there.min($certain), is_over.then(|| there + self.given_back()))
            }
        }

        /// Terminated after this stream has returned `None`, and not before. `futures::select!` skips a terminated
        /// stream, so a task that waits there for the end must first get the `None`. An error of another method is not
        /// that `None`.
        #[cfg(feature = "stream")]
        impl<T> futures_core::FusedStream for $receiver<T> {
            fn is_terminated(&self) -> bool {
                self.has_ended
            }
        }

        // No message is ever pinned in place.
        impl<T> Unpin for $receiver<T> {}
    };
}

pub(super) use impl_receiver_traits;

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Deadline, FEWEST, ROOMY, RecvBackoff, stream_of};

    #[test]
    fn large_messages_are_a_stream_sooner() {
        assert_eq!([0, 8, 16, 64, 256, 8000].map(stream_of), [64, 64, 64, 16, 8, 8]);
        let mut backoff = RecvBackoff::new(None);
        backoff.look_away(20, Deadline::Passed, 64);
        assert_eq!([35, 36].map(|position| backoff.has_streamed(position, 64)), [false, true]);
    }

    #[test]
    fn no_stream_of_a_short_queue_is_worth_a_pause() {
        let streamed = |bound| RecvBackoff::new(Some(bound)).has_streamed(1 << 20, 8);
        assert_eq!([1, ROOMY - 1, ROOMY].map(streamed), [false, false, true]);
    }

    /// Claim: A receiver that polls for answers pauses ever more rarely.
    #[test]
    fn a_pause_that_no_sender_uses_becomes_rare() {
        let mut backoff = RecvBackoff::new(None);
        for stream in [16, 32, 64] {
            assert_eq!([stream - 1, stream].map(|position| backoff.has_streamed(position, 64)), [false, true]);
            backoff.has_paused(FEWEST - 1);
        }
        (0..20).for_each(|_| backoff.has_paused(0));
        assert_eq!([4095, 4096].map(|position| backoff.has_streamed(position, 64)), [false, true]);
        backoff.has_paused(FEWEST);
        assert!(backoff.has_streamed(16, 64));
    }
}
