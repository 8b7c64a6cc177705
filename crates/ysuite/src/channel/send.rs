//! The inner part of a sender: everything that a sender with a queue of its own can do. It is written once for spsc and
//! mpsc.
//!
//! One thread at a time. Each public method of a sender is a line that calls one of these, and says whether it blocks,
//! and what it costs.

use core::mem::ManuallyDrop;
use core::ptr;
use core::task::{Context, Poll, Waker};

use super::closed::EndWatchers;
use super::error::{self, SendError, SendTimeoutError, TrySendError};
use super::pipe::{Hidden, PipeSupply, QueueSend, SendTask};
use super::rendezvous::{MeetingEnd, Party};
use super::task_batch::Sends;
use crate::foreign::{Foreign, Lent, Panics};
use crate::operation;
use crate::os::Deadline;
use crate::passive::{GONE, Passive, STAYS};
use crate::queue::ypipe::{InSlot, UntypedWriter, Writer};
use crate::queue::{RegisterCopy, outline, outline_with};
use crate::signal::{AttachError, Registration};
use crate::statistics::COUNTING;
use crate::wait::one::{self, WaitingEnd};
use crate::wait::{Backoff, WakeTarget};

/// A lane's id, and its writer, which is closed, or open where the lane is unused. It is left in place: a writer is
/// large.
pub(super) type LeftLane = (u32, UntypedWriter);

/// What a sender knows of the channel around its queue.
pub(super) trait SenderLink<T> {
    /// See [`WaitingEnd::CROWDED`].
    const CROWDED: bool = false;
    /// A publication has found `tokens`: wakes the receiver in the ways that they name. True: the receiver slept.
    fn wake(&self, receiver: &Passive, tokens: u32) -> bool;
    /// The sender will never wait again: takes its waker out. Call this before `close`, which may free the lane id for
    /// reuse. The caller drops the waker last, because its drop is user code.
    fn forget(&self) -> Option<Waker>;
    /// The queue has been closed, and the close has found `tokens`: notifies the receiver.
    fn close(&mut self, receiver: &Passive, tokens: u32);
    /// The sender is being dropped, after it has closed its queue, and is in no set any more.
    fn leave(&mut self) {}
    /// The lane that another sender may continue to use after this one is dropped, if there is one.
    fn lane(&self) -> Option<u32> {
        None
    }
    /// The sender has disconnected: leaves this lane, whose writing side is closed, to other senders. The caller must
    /// drop what is there afterwards.
    fn leave_lane(&self, _: &mut Option<LeftLane>) {}
    /// The lane in which no message was ever sent, and that another sender may use as it is. `None`: there is none.
    fn unused_lane(&self) -> Option<u32> {
        None
    }
    /// The sender is being dropped, is in no set any more, and has never sent a message. Leaves the writer of this
    /// lane, which is open, to another sender (true): then call [`uncount`](Self::uncount), and drop what is there.
    /// False: the writer is still there, and no other sender gets it.
    fn leave_unused(&mut self, _: &mut Option<LeftLane>) -> bool {
        false
    }
    /// The sender has left an open writer to another sender: it no longer counts. The receiver is notified if this was
    /// the last sender.
    fn uncount(&mut self) {}
    /// The tasks and threads that wait until the receiver disconnects.
    fn end_watchers(&self) -> &EndWatchers;
    /// How a sender that waits for room can be woken.
    fn target(&self) -> &WakeTarget;
    /// The sender is about to be attached to a set, so it needs a target of its own. False: there is no free target.
    fn prepare(&mut self) -> bool {
        true
    }
}

// THREAD EXIT: send, receive, `write`, `unwrite`, clone, drop and post work as before, with parking on both sides. The
//     thread-locals of channels have markers of their own; `queue` and the hub's handles have none; test:
//     tests/suite/late.rs: ends_of_channels_are_used_past_the_threads_locals
/// The inner part of a sender.
pub(super) struct Sending<T, L: SenderLink<T>> {
    pub(super) end: RegisterCopy<WritingEnd<T, L>>,
    pub(super) backoff: Backoff,
}

/// A sender whose inner part is a [`Sending`]: for what is written once for `spsc` and `mpsc`.
pub(super) trait PipeSender: Sends {
    type Link: SenderLink<Self::Message>;

    fn sending(&mut self) -> &mut Sending<Self::Message, Self::Link>;
}

/// The writer of the queue, as a handle that may wait for room.
pub(super) struct WritingEnd<T, L: SenderLink<T>> {
    /// Taken out only in the drop.
    pub(super) writer: ManuallyDrop<Writer<T>>,
    /// The endpoint of a rendezvous. Its queue never has room, so only slow paths check this.
    pub(super) meeting: MeetingEnd<T, true>,
    pub(super) link: L,
}

impl<T, L: SenderLink<T>> WaitingEnd for WritingEnd<T, L> {
    const CROWDED: bool = L::CROWDED;

    fn is_ready(&mut self) -> bool {
        self.writer.has_room() || self.writer.is_over()
    }

    fn passive(&self) -> &Passive {
        self.writer.passive()
    }

    fn target(&self) -> &WakeTarget {
        self.link.target()
    }

    fn prepare(&mut self) -> bool {
        self.link.prepare()
    }
}

/// A queue that is full of this many messages keeps its receiver busy for longer than its sender pauses.
const LONG: usize = 512;

/// Sends the written messages even if the caller's iterator panics.
pub(super) struct FlushOnDrop<'a, T, L: SenderLink<T>>(pub(super) &'a mut Sending<T, L>);

impl<T, L: SenderLink<T>> Drop for FlushOnDrop<'_, T, L> {
    fn drop(&mut self) {
        self.0.flush();
    }
}

impl<T, L: SenderLink<T>> Sending<T, L> {
    pub(super) fn new(writer: Writer<T>, link: L, meeting: MeetingEnd<T, true>) -> Self {
        let end = RegisterCopy::new(WritingEnd { writer: ManuallyDrop::new(writer), meeting, link });
        Self { end, backoff: Backoff::new() }
    }

    // MUTANT: Speed only: when a sender pauses before it polls.
    /// There is no room: pauses, so that the receiver gets ahead, where the queue is long enough to keep it busy meanwhile.
    #[inline(always)]
    pub(super) fn stand_back(&self, deadline: Deadline) {
        if self.end.writer.capacity().is_some_and(|bound| bound >= LONG) {
            self.backoff.stand_back(deadline, self.end.writer.slot_bytes());
        }
    }

    /// This sender at a rendezvous (`Ok`), or with its queue.
    pub(super) fn flavour(&mut self) -> Result<Party<'_, T, true>, &mut Self> {
        if self.end.meeting.0.is_none() {
            return Err(self);
        }
        Ok(self.end.meeting.party().expect("looked just now"))
    }

    // MUTANT: Waits find the disconnection after arming. Killed only by
    // `the_receivers_close_sends_a_waiting_sender_its_message_back`.
    /// Whether nothing can be sent any more: the receiver has disconnected or has closed the channel, or this sender
    /// has been closed.
    pub(super) fn is_over(&self) -> bool {
        self.end.writer.is_over() || self.end.meeting.is_closed()
    }

    #[inline(always)]
    pub(super) fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        if !self.end.writer.may_send_here() {
            return outline_with(self, message, Self::send_further);
        }
        // SAFETY: `may_send_here` has just returned true.
        let tokens = unsafe {
            ptr::write(self.end.writer.slot_here(), message);
            self.end.writer.sent_here()
        };
        if tokens == 0 { Ok(()) } else { outline(self, |sender| sender.sent(tokens)) }
    }

    #[cold]
    #[inline(never)]
    fn send_further(&mut self, message: T) -> Result<(), SendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.send_place(&mut place);
        error::of_send(outcome, &mut place)
    }

    // More than the compiler inlines by itself, because of its slow paths.
    #[inline(always)]
    pub(super) fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        if !self.end.writer.may_send_here() {
            return outline_with(self, message, Self::try_further);
        }
        // SAFETY: `may_send_here` has just returned true.
        let tokens = unsafe {
            ptr::write(self.end.writer.slot_here(), message);
            self.end.writer.sent_here()
        };
        if tokens == 0 { Ok(()) } else { outline(self, |sender| sender.tried(tokens)) }
    }

    // MUTANT: The refusal only counts, and nothing is counted in this build.
    #[cold]
    #[inline(never)]
    fn try_further(&mut self, message: T) -> Result<(), TrySendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.try_send_place(&mut place);
        error::of_try_send(outcome, &mut place)
    }

    /// As [`try_send`](Self::try_send), with the message that is in `place`. After an error it is still there.
    #[inline(always)]
    pub(super) fn try_send_place(&mut self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        let outcome = self.attempt(place);
        if COUNTING && outcome == Err(TrySendError::Full(())) {
            self.refuse();
        }
        outcome
    }

    /// As [`try_send_place`](Self::try_send_place), for a caller that waits where there is no room. So the statistics do
    /// not count the channel as full here.
    #[inline]
    pub(super) fn attempt(&mut self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        match self.end.writer.send_from(place) {
            Some(0) => Ok(()),
            Some(tokens) => Ok(self.sent_from_place(tokens, place)?),
            None => self.refused(place),
        }
    }

    /// As [`attempt`](Self::attempt), after a wait. Room that a receiver's drop has made does not count: its messages
    /// are dropped after it has disconnected. So a sender that finds that room also finds the disconnection.
    pub(super) fn attempt_again(&mut self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        if self.is_over() {
            // From now on each send reports it.
            self.end.writer.forget_room();
            return Err(TrySendError::Disconnected(()));
        }
        self.attempt(place)
    }

    // MUTANT: Nothing is hidden in a rendezvous: the first message comes back either way.
    /// There is no room, and the sender does not wait. A rendezvous never has room.
    pub(super) fn refuse(&self) {
        if self.end.meeting.0.is_none() {
            self.end.link.target().meter().refused();
        }
    }

    // MUTANT: Speed only: one more attempt, or one less: room that came meanwhile has raised the id again.
    /// There is no room, or the receiver has disconnected. An attached sender takes its id down, and checks once more.
    #[cold]
    #[inline(never)]
    fn refused(&mut self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        if let Some(party) = self.end.meeting.party() {
            return party.try_send(place);
        }
        if !self.end.writer.is_over() && one::registration(&*self.end).is_some() {
            let mut found = false;
            // Hidden messages may take the room that the set is to report. The waker that the flush wakes is user code.
            Panics::in_drop(|| {
                self.flush();
                found = one::rest(&mut *self.end);
            });
            if found {
                match self.end.writer.send_from(place) {
                    Some(0) => return Ok(()),
                    Some(tokens) => return Ok(self.sent_from_place(tokens, place)?),
                    None => {}
                }
            }
        }
        if !self.end.writer.is_over() {
            return Err(TrySendError::Full(()));
        }
        one::registration(&*self.end).inspect(|registration| registration.tell_end());
        Err(TrySendError::Disconnected(()))
    }

    // MUTANT: A wait for room finds the disconnection after arming.
    /// Sends the message that is in `place`, or reports that the receiver has disconnected, with the message in its
    /// place. `None`: neither, or there is no message.
    #[inline]
    pub(super) fn give(&mut self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
        place.as_ref()?;
        // In this order: see `attempt_again`.
        if self.end.writer.is_over() {
            self.end.writer.forget_room();
            return Some(Err(SendError(())));
        }
        if self.end.writer.has_room() { Some(self.send_place(place)) } else { None }
    }

    /// Sends the message that is in `place`; waits for room. After an error it is still there.
    #[inline(always)]
    pub(super) fn send_place(&mut self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        match self.end.writer.send_from(place) {
            Some(0) => Ok(()),
            Some(tokens) => self.sent_from_place(tokens, place),
            None => self.send_slowly(place, Deadline::Never).map_err(|_| SendError(())),
        }
    }

    /// Attaches the sender to the registration's set.
    pub(super) fn attach(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.end.meeting.attach(registration).unwrap_or_else(|given| one::attach(&mut *self.end, given))
    }

    /// Takes the sender out of its set. False: it was in none.
    pub(super) fn detach(&mut self) -> bool {
        self.end.meeting.detach().unwrap_or_else(|| one::detach(&mut *self.end))
    }

    /// Calls `look` with the registration, if the sender is attached.
    pub(super) fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        if !self.end.meeting.with_registration(look) {
            one::registration(&*self.end).into_iter().for_each(look);
        }
    }

    /// Sends; waits for room until a deadline. `deadline` is called only where there is no room.
    pub(super) fn send_until(
        &mut self,
        message: T,
        deadline: impl FnOnce() -> Deadline,
    ) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.send_place_until(&mut place, deadline);
        error::of_send_timeout(outcome, &mut place)
    }

    /// As [`send_until`](Self::send_until), with the message that is in `place`.
    pub(super) fn send_place_until(
        &mut self,
        place: &mut Option<T>,
        deadline: impl FnOnce() -> Deadline,
    ) -> Result<(), SendTimeoutError<()>> {
        match self.attempt(place) {
            Err(TrySendError::Full(())) => self.send_slowly(place, deadline()),
            Err(TrySendError::Disconnected(())) => Err(SendTimeoutError::Disconnected(())),
            Ok(()) => Ok(()),
        }
    }

    #[inline(always)]
    pub(super) fn send_async(&mut self, message: T) -> SendTask<'_, T, L> {
        SendTask::new(self, message)
    }

    /// Sends the message that is in `place`, where there is room: what a task does at first.
    #[inline(always)]
    pub(super) fn send_first(&mut self, place: &mut Option<T>) -> Option<Result<(), SendError<T>>> {
        let tokens = if self.end.writer.may_send_here() {
            // SAFETY: `may_send_here` has just returned true. An operation is attempted first once, so its message is
            //     there.
            unsafe {
                place.leave_to(self.end.writer.slot_here());
                self.end.writer.sent_here()
            }
        } else {
            outline(self, |sending| sending.end.writer.send_from(place))?
        };
        Some(if tokens == 0 { Ok(()) } else { self.sent(tokens) })
    }

    pub(super) fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.end.meeting.poll_ready(context).unwrap_or_else(|| self.poll_queue(context))
    }

    // WAITS: a task, for room, also in `send_async`; it does not spin, and flushes first; test:
    //     tests/suite/conformance/channel/batches.rs: poll_ready_shows_what_is_hidden_before_it_waits
    /// Ready when there is room in the queue.
    pub(super) fn poll_queue(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.end.is_ready() {
            // Hidden messages must be published before this waits. They may take the room that this waits for, and two
            // such handles would wait for each other.
            self.flush();
        }
        one::poll(&mut *self.end, context)
    }

    #[inline(always)]
    pub(super) fn write(&mut self, message: T) -> Result<(), SendError<T>> {
        if !self.end.writer.has_room() {
            return outline_with(self, message, Self::write_slowly);
        }
        // SAFETY: `has_room` has just returned true.
        unsafe {
            ptr::write(self.end.writer.slot_here(), message);
            self.end.writer.written_here();
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn write_slowly(&mut self, message: T) -> Result<(), SendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.write_place(&mut place);
        error::of_send(outcome, &mut place)
    }

    fn write_place(&mut self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        self.send_slowly(&mut Hidden(place), Deadline::Never).map_err(|_| SendError(()))
    }

    // MUTANT: Speed only: what was sent is counted again, and a wake without a mode does nothing.
    #[inline]
    pub(super) fn flush(&mut self) -> bool {
        let tokens = self.end.writer.publish();
        tokens == 0 || outline(self, |sender| sender.flushed(tokens))
    }

    // USER CODE: `Drop` of messages that no receiver will get, in `answered` too; they are published and taken out
    //     again, one by one; re-entrance: may use this channel's other handles; a concurrent disposal leaves the work
    //     to the active one; panic: the others are dropped, then it propagates; test:
    //     tests/suite/conformance/channel/batches.rs: a_panicking_drop_while_the_sender_disposes
    /// A batch has been published, and the receiver sleeps, has closed the channel or has disconnected.
    #[cold]
    #[inline(never)]
    fn flushed(&mut self, tokens: u32) -> bool {
        if tokens & STAYS == 0 {
            self.end.writer.count();
            let mut has_slept = false;
            // Also a batch that a panic of the iterator cuts short.
            Panics::in_drop(|| has_slept = self.wake(tokens));
            return !has_slept;
        }
        let from = self.end.writer.position();
        self.end.writer.reclaim(tokens, from, &mut drop);
        true
    }

    // USER CODE: `Drop` of the iterator, after an error that gives messages back; so also in `send_batch` of `mpmc`,
    //     `broadcast` and a rendezvous. What was sent is published, what comes back is a local's; re-entrance: the
    //     channel may be used; panic: what would have come back is dropped with the call; test:
    //     tests/suite/disposing.rs: batches_end_behind_a_waker_that_panics, tests/suite/batches.rs: a_pipe
    // USER CODE: the caller's iterator; the items it has returned are written, hidden; re-entrance: cannot reach this
    //     sender, which is borrowed; panic: the items it has returned are published, then it propagates; test:
    //     tests/suite/conformance/channel/panics.rs: iterator_that_panics_in_send_batch
    #[inline]
    pub(super) fn send_batch(&mut self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        // The iterator's drop is user code. So is the drop of a result that no caller gets, while unwinding.
        let mut messages = Foreign::new(messages.into_iter());
        let mut back = Vec::new();
        match self.send_all(&mut *messages, &mut back) {
            Some(sent) => {
                drop(messages);
                Ok(sent)
            }
            None => Panics::answer_behind(Err(SendError(back)), || drop(messages)),
        }
    }

    /// `None`: not all were sent, and those that were not are in `back`, which is empty before. In a place of their own:
    /// in one with the number they would be moved with it, and a move that is wider than the store of the number waits
    /// for that store, for as long as a dozen messages take.
    ///
    /// Where the receiver has already disconnected, the messages for which there would be room come back at once.
    /// Otherwise a thread that drops the messages of the receiver would have to drop this batch as well, and the next.
    /// What is hidden already is published to be dropped.
    #[inline]
    fn send_all(&mut self, messages: &mut impl Iterator<Item = T>, back: &mut Vec<T>) -> Option<usize> {
        let start = self.end.writer.position();
        let (mut first, mut handed) = (start, 0);
        if self.end.writer.is_orphaned() && self.takes_no_more() {
            return outline(self, |sender| sender.unsent(messages)).map_err(|SendError(unsent)| *back = unsent).ok();
        }
        let batch = FlushOnDrop(self);
        let mut rest = Foreign::none();
        while batch.0.end.writer.fill(messages, &mut rest) {
            let tokens = batch.0.end.writer.publish();
            // The waker that this wakes is user code.
            let mut published = Ok(());
            Panics::in_drop(|| published = batch.0.published(tokens, first));
            if let Err(SendError(unsent)) = published {
                *back = unsent;
                back.push(rest.take_out());
                return None;
            }
            first = batch.0.end.writer.position();
            if outline(batch.0, |sender| sender.write_place(&mut rest)).is_err() {
                back.push(rest.take_out());
                return None;
            }
            // At a rendezvous nothing is hidden.
            handed += usize::from(batch.0.end.writer.hidden() == 0);
        }
        let sent = batch.0.end.writer.position().wrapping_sub(start);
        let tokens = batch.0.end.writer.publish();
        if let Err(SendError(unsent)) = batch.0.published(tokens, first) {
            *back = unsent;
            return None;
        }
        Some(sent + handed)
    }

    /// The part of a batch for which there would be room, at least one message.
    #[cold]
    #[inline(never)]
    fn unsent(&self, messages: &mut impl Iterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        let most = self.end.writer.capacity().map_or(usize::MAX, |capacity| capacity.max(1));
        let (mut back, mut panics) = (Vec::new(), Panics::none());
        // User code. So is the drop of messages that no caller gets, while unwinding.
        panics.catch(|| back.extend(messages.take(most)));
        let back = panics.answer(back);
        if back.is_empty() { Ok(0) } else { Err(SendError(back)) }
    }

    /// Without a receiver: whether no hidden message would have to be published.
    #[cold]
    #[inline(never)]
    fn takes_no_more(&self) -> bool {
        self.end.writer.hidden() == 0
    }

    /// A batch that began at position `from` has been published. If the receiver has disconnected, the error returns
    /// the messages of the batch that can still be taken back.
    #[inline]
    pub(super) fn published(&mut self, tokens: u32, from: usize) -> Result<(), SendError<Vec<T>>> {
        if tokens == 0 {
            return Ok(());
        }
        let back = outline(self, |sender| sender.batch_answered(tokens, from));
        if back.is_empty() { Ok(()) } else { Err(SendError(back)) }
    }

    #[cold]
    #[inline(never)]
    fn batch_answered(&mut self, tokens: u32, from: usize) -> Vec<T> {
        // Its drop is user code, where a panic keeps the caller from getting it.
        let mut back = Foreign::new(Vec::new());
        self.answered(tokens, from, &mut |message| back.push(message.take()));
        back.into_inner()
    }

    // MUTANT: Speed only: without a close there is nothing to take back, and the next send checks for room anew.
    /// The messages from position `from` on have been published, and the receiver sleeps, has closed the channel or has
    /// disconnected. `back` gets the messages that can still be taken back.
    #[cold]
    #[inline(never)]
    fn answered(&mut self, tokens: u32, from: usize, back: &mut dyn FnMut(InSlot<T>)) {
        if tokens & STAYS == 0 {
            self.end.writer.count();
            Panics::in_drop(|| _ = self.wake(tokens));
            return;
        }
        // What was sent before is dropped: user code.
        let mut panics = Panics::none();
        panics.catch(|| self.end.writer.reclaim(tokens, from, back));
        // Another thread may be dropping what was sent. Then nothing comes back, and the next send must find the
        // disconnection.
        self.end.writer.forget_room();
    }

    // MUTANT: A hidden message is dropped one line later instead.
    /// One message has been published, and the receiver sleeps, has closed the channel or has disconnected.
    #[cold]
    #[inline(never)]
    fn sent(&mut self, tokens: u32) -> Result<(), SendError<T>> {
        // No `Vec`: a send that fails allocates nothing.
        let mut place = Foreign::none();
        let outcome = self.sent_from_place(tokens, &mut place);
        error::of_send(outcome, &mut place)
    }

    #[cold]
    #[inline(never)]
    fn tried(&mut self, tokens: u32) -> Result<(), TrySendError<T>> {
        let mut place = Foreign::none();
        let outcome = self.sent_from_place(tokens, &mut place);
        error::of_try_send(outcome.map_err(|_| TrySendError::Disconnected(())), &mut place)
    }

    /// As [`sent`](Self::sent), for the message that was in `place`: after an error it is there again.
    #[cold]
    #[inline(never)]
    fn sent_from_place(&mut self, tokens: u32, place: &mut Option<T>) -> Result<(), SendError<()>> {
        let from = self.end.writer.position().wrapping_sub(1);
        self.answered(tokens, from, &mut |message| message.take_to(place));
        if place.is_none() { Ok(()) } else { Err(SendError(())) }
    }

    // USER CODE: the receiver's waker, and `Clone` of the waker of the sender's task; here, in `write_slowly`,
    //     `refused`, `send_all` and `send_async`, and in `send_async` of `mpmc` and of `broadcast`.
    //     The message that has no room is a local's or the future's; re-entrance: any operation; panic: the message is
    //     dropped as one more piece; test: tests/suite/disposing.rs: to_a_pipe_behind_a_waker_that_panics
    #[cold]
    #[inline(never)]
    fn send_slowly<P>(&mut self, place: &mut P, deadline: Deadline) -> Result<(), SendTimeoutError<()>>
    where
        P: PipeSupply<T, L>,
    {
        match self.end.meeting.party() {
            Some(party) => party.send(place.next(), deadline, &mut self.backoff),
            None => error::of_limited(operation::block_behind(QueueSend::new(self), place, deadline)),
        }
    }

    // MUTANT: After a wait in time there is room, which no other sender can take, or a disconnection.
    /// Sends; waits for room by `wait`, which returns whether there is time left. Not in a rendezvous.
    #[inline]
    pub(super) fn send_by_waiting(
        &mut self,
        place: &mut Option<T>,
        mut wait: impl FnMut(&mut Self) -> bool,
    ) -> Result<(), SendTimeoutError<()>> {
        loop {
            let mut in_time = true;
            // The waker that this wakes is user code.
            Panics::in_drop(|| {
                // Hidden messages must be published before this waits, or two such handles would wait for each other.
                self.flush();
                // After a disconnection there is no wait: without a bound the sleep flag is not even allocated for it.
                in_time = self.end.writer.is_over() || wait(self);
            });
            match self.attempt_again(place) {
                Err(TrySendError::Full(())) if in_time => {}
                Err(TrySendError::Full(())) => return Err(SendTimeoutError::Timeout(())),
                Err(TrySendError::Disconnected(())) => return Err(SendTimeoutError::Disconnected(())),
                Ok(()) => return Ok(()),
            }
        }
    }

    /// A publication has found `tokens`: wakes the receiver. True: it slept.
    fn wake(&self, tokens: u32) -> bool {
        self.end.link.wake(self.end.writer.reader_passive(), tokens)
    }
}

impl<T, L: SenderLink<T>> WritingEnd<T, L> {
    // MUTANT: In a race: the receiver is dropped while this thread updates its word. Killed only by
    // `a_sender_that_closes_is_counted_off_once_and_stays_closed` and `a_closed_sender_leaves_its_set`, and by the
    // model `a_sender_that_closes_and_is_kept_against_a_receiver_that_goes`.
    /// Publishes what is hidden, closes the queue and notifies the receiver. Only the first call does anything.
    pub(super) fn end(&mut self) {
        if self.writer.has_ended() {
            return;
        }
        // Leaves its set before its lane may become another sender's.
        self.detach();
        let waker = self.link.forget();
        let tokens = self.writer.close();
        // The receiver's waker, the messages, and the sender's waker last: user code.
        let mut panics = Panics::none();
        panics.catch(|| self.link.close(self.writer.reader_passive(), tokens));
        if tokens & GONE != 0 {
            // A receiver that was dropped at this moment has not found its own mark, because this thread held it.
            let from = self.writer.position();
            panics.catch(|| self.writer.reclaim(GONE, from, &mut drop));
        }
        panics.catch(|| drop(waker));
    }

    /// The lane in which no message was ever sent, and that another sender may use.
    fn unused_lane(&self) -> Option<u32> {
        // Positions wrap, so this also checks that nothing hidden must be published.
        let writer = &self.writer;
        self.link.unused_lane().filter(|_| writer.position() == 0 && writer.hidden() == 0 && !writer.has_ended())
    }

    /// Leaves the writer of an unused lane as it is to another sender (true), if the channel can keep it.
    #[inline(never)]
    fn leave_unused(&mut self, lane: u32, panics: &mut Panics) -> bool {
        // Before the lane may become another sender's.
        let waker = self.link.forget();
        // SAFETY: this writer is being dropped. Either it is not used any more, or it is put back.
        let writer = unsafe { ManuallyDrop::take(&mut self.writer) };
        let mut left = ManuallyDrop::new(Some((lane, writer.into_untyped())));
        let is_left = self.link.leave_unused(&mut left);
        if is_left {
            panics.catch(|| self.link.uncount());
            // SAFETY: here alone.
            panics.catch(|| unsafe { ManuallyDrop::drop(&mut left) });
        } else if let Some((_, writer)) = left.take() {
            // SAFETY: it is the writer from above.
            self.writer = ManuallyDrop::new(unsafe { Writer::typed(writer) });
        }
        // MUTANT: The waker is dropped at the end of the function anyway.
        // The receiver's waker, and the sender's waker last: user code.
        panics.catch(|| drop(waker));
        is_left
    }

    // MUTANT: Killed only by `a_closed_sender_leaves_its_set`.
    /// Leaves the set that the sender is attached to, if it is.
    fn detach(&mut self) {
        // SAFETY: this is the sender, borrowed mutably, so no registration of it is in use.
        unsafe { self.link.target().detach() };
    }
}

// USER CODE: the waker of the receiver's task, then `Drop` of the sender's own waker; the queue is closed, the count of
//     senders lowered, the id raised; re-entrance: may use the receiver; panic: propagates; the receiver is notified;
//     test: tests/suite/conformance/channel/batches.rs: a_waker_that_panics_when_it_is_dropped_loses_no_end,
//     tests/suite/conformance/channel/tasks.rs: a_waker_that_panics_loses_nothing
impl<T, L: SenderLink<T>> Drop for WritingEnd<T, L> {
    // MUTANT: Killed only by `a_closed_sender_that_was_in_a_set_gives_its_place_back`.
    fn drop(&mut self) {
        // A sender may have been attached after it was closed.
        self.detach();
        let mut panics = Panics::none();
        if self.unused_lane().is_some_and(|lane| self.leave_unused(lane, &mut panics)) {
            return;
        }
        // No lane, where this sender was closed before, or where it never sent a message.
        let lane = self.link.lane().filter(|_| self.writer.position() != 0);
        panics.catch(|| self.end());
        // What the sender was given for a set, after it was closed.
        self.link.leave();
        // SAFETY: this writer is being dropped, and is not used any more.
        let writer = unsafe { ManuallyDrop::take(&mut self.writer) };
        let mut left = ManuallyDrop::new(Some((lane.unwrap_or_default(), writer.into_untyped())));
        if lane.is_some() {
            self.link.leave_lane(&mut left);
        }
        // SAFETY: here alone.
        panics.catch(|| unsafe { ManuallyDrop::drop(&mut left) });
    }
}
