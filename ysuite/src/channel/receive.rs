//! The inner part of a receiver, written once for spsc and mpsc: everything that the only reading end of a queue can
//! do.
//!
//! One thread at a time. `impl_receiver_api` gives a channel's receiver its public methods; what blocks, and what it
//! costs, is said at each of them.

use core::task::{Context, Poll, ready};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::first_try::{Attempt, first_try};
use super::rendezvous::MeetingEnd;
use crate::foreign::Panics;
use crate::os::Deadline;
use crate::queue::outline;
use crate::sync::spin_loop;
use crate::wait::many::SharedEnd;
use crate::wait::one::{self, TaskWait, WaitingEnd};
use crate::wait::{Backoff, Spin};

/// What [`Receiving`] needs of a queue's reading end. All wait-free.
pub(super) trait ReadingEnd: WaitingEnd {
    type Message;

    fn take(&mut self) -> Option<Self::Message>;
    fn take_many(&mut self, to: &mut Vec<Self::Message>, most: usize) -> usize;
    fn peek(&mut self) -> Option<&Self::Message>;
    /// The next messages that lie side by side; none only where [`peek`](Self::peek) finds none.
    fn peek_run(&mut self) -> &[Self::Message];
    fn has_message(&mut self) -> bool;
    /// How many messages are published, counting no further than it takes to reach `enough`.
    fn len_up_to(&self, enough: usize) -> usize;
    /// How many messages have been taken; wraps.
    fn position(&self) -> usize;
    /// Whether nothing more will be published.
    fn is_closed(&self) -> bool;
    /// After finding nothing: whether there is a message all the same. Of a queue that its receiver has closed there
    /// may be one, which only this look finds.
    fn has_last(&mut self) -> bool {
        self.has_message()
    }
    /// Closes the queue, which is open: afterwards [`is_closed`](Self::is_closed), and senders get back what they send.
    fn close(&mut self);
    // USER CODE: wakers of tasks that wait until the receiver has disconnected; the rendezvous is closed, or the queue
    //     cut; re-entrance: any operation; panic: the others are woken, then it propagates; test:
    //     tests/suite/rendezvous/ended.rs: closed_waits_for_the_receivers_end
    /// The receiver has closed a rendezvous: tells all who wait for its end. Wakers are user code.
    fn tell_end(&self);
    /// The end of a rendezvous, whose queue is closed from the beginning: so only what finds it closed looks here.
    fn meeting(&self) -> Option<&MeetingEnd<Self::Message, false>>;
    /// The same, to attach it or to poll.
    fn meeting_mut(&mut self) -> Option<&mut MeetingEnd<Self::Message, false>>;
}

/// A reading end, and the memory of how to wait for it.
pub(super) struct Receiving<E> {
    pub(super) end: E,
    pub(super) backoff: RecvBackoff,
}

/// A receiving end's memory of how to wait.
pub(super) struct RecvBackoff {
    backoff: Backoff,
    /// How many messages had been taken at the last wait.
    waited_at: usize,
}

/// This many messages without a wait are a stream. The receiver has then caught up with the sender in a cache line that
/// the sender writes, and every look takes that line away from the sender. So the receiver pauses before it checks
/// again, in which time the sender gets ahead.
const STREAM: usize = 64;
/// Pauses after a stream: a fraction of a microsecond.
const PAUSES: u32 = 16;
/// A batch of this many messages is taken without counting what there is. A larger batch could last as long as senders
/// stream, and an operation that never blocks must end.
const AMPLE: usize = if cfg!(ysuite_loom) { 4 } else { 4096 };

// MUTANT: Speed only: when a receiver that has streamed pauses before it polls again.
impl RecvBackoff {
    pub(super) fn new() -> Self {
        Self { backoff: Backoff::new(), waited_at: 0 }
    }

    pub(super) fn set_spin(&mut self, spin: Spin) {
        self.backoff.spin = spin;
    }

    /// The part that concerns waits in a rendezvous.
    fn meeting(&mut self) -> &mut Backoff {
        &mut self.backoff
    }

    /// Blocks the thread until the end is ready (true) or the deadline has passed (false). `position` is how many
    /// messages have been taken; wraps.
    pub(super) fn wait(&mut self, end: &mut impl WaitingEnd, position: usize, deadline: Deadline) -> bool {
        self.look_away(position);
        one::block(end, &mut self.backoff, deadline)
    }

    /// Whether there was a stream up to this position, and no wait since it began.
    #[inline(always)]
    fn has_streamed(&self, position: usize) -> bool {
        position.wrapping_sub(self.waited_at) >= STREAM
    }

    /// Nothing is there at this position: after a stream, lets the sender get ahead.
    fn look_away(&mut self, position: usize) {
        if self.has_streamed(position) && self.backoff.may_spin() {
            (0..PAUSES).for_each(|_| spin_loop());
        }
        self.waited_at = position;
    }
}

impl<E: ReadingEnd> Receiving<E> {
    pub(super) fn new(end: E) -> Self {
        Self { end, backoff: RecvBackoff::new() }
    }

    /// A message, or the error that there will be none, if it is so now. Only looks: an attached receiver keeps its id
    /// up.
    #[inline]
    pub(super) fn take_or_end(&mut self) -> Option<Result<E::Message, RecvError>> {
        match self.end.take() {
            Some(message) => Some(Ok(message)),
            None if !self.end.is_closed() => None,
            // What was published before the end is visible now.
            None => Some(self.take_last()),
        }
    }

    // MUTANT: One more check when the queue is empty.
    /// Whether the sender has disconnected, or the channel is closed.
    pub(super) fn is_disconnected(&self) -> bool {
        self.end.meeting().map_or_else(|| self.end.is_closed(), |meeting| meeting.is_closed())
    }

    // WAITS: for a message, also in `recv_timeout`, `recv_batch`, `iter`; ends: that, the last sender has disconnected,
    //     the deadline; spin: `None` parks at once, `Adaptive` polls, then parks, `Forever` polls for ever, and checks
    //     the deadline; an attached receiver stays armed for its set as well; test:
    //     tests/suite/conformance/channel/waiting.rs: every_way_of_spinning_arrives
    #[inline(always)]
    pub(super) fn recv(&mut self) -> Result<E::Message, RecvError> {
        match self.end.take() {
            Some(message) => Ok(message),
            None => outline(self, Self::recv_slowly),
        }
    }

    #[cold]
    #[inline(never)]
    fn recv_slowly(&mut self) -> Result<E::Message, RecvError> {
        if let Some(meeting) = self.end.meeting() {
            return meeting.party().recv(Deadline::Never, self.backoff.meeting()).map_err(|_| RecvError);
        }
        self.wait(Deadline::Never).map_err(|_| RecvError)?;
        self.end.take().ok_or(RecvError)
    }

    /// Receives; waits for a message until a deadline, which is asked for only where there is none.
    pub(super) fn recv_until(&mut self, deadline: impl FnOnce() -> Deadline) -> Result<E::Message, RecvTimeoutError> {
        if let Some(message) = self.end.take() {
            return Ok(message);
        }
        if let Some(meeting) = self.end.meeting() {
            return meeting.party().recv(deadline(), self.backoff.meeting());
        }
        self.wait(deadline())?;
        self.end.take().ok_or(RecvTimeoutError::Disconnected)
    }

    // MUTANT: Speed only: a message that came during the pause is found by the next attempt.
    /// Blocks until there is a message (`Ok`), or the sender has disconnected, or the time is up.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(&mut self, deadline: Deadline) -> Result<(), RecvTimeoutError> {
        loop {
            if self.end.has_message() {
                return Ok(());
            }
            // Checks again once the queue is closed: what the sender published before it closed is visible then.
            if self.end.is_closed() {
                return if self.end.has_last() { Ok(()) } else { Err(RecvTimeoutError::Disconnected) };
            }
            let position = self.end.position();
            if !self.backoff.wait(&mut self.end, position, deadline) {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    // MUTANT: Speed only: the slow path finds nothing either.
    #[inline]
    pub(super) fn try_recv(&mut self) -> Result<E::Message, TryRecvError> {
        match self.end.take() {
            Some(message) => Ok(message),
            // A few loads and no copy, so that a loop of tries that find nothing is quick as well.
            None if self.is_plainly_empty() => Err(TryRecvError::Empty),
            None => outline(self, Self::try_recv_slowly),
        }
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
        if self.backoff.has_streamed(self.end.position()) {
            self.backoff.look_away(self.end.position());
            if self.end.has_message() {
                return Ok(());
            }
        }
        self.nothing()
    }

    // MUTANT: Speed only: the slow path finds nothing either, with the same answer.
    /// After finding nothing: whether that is all there is to say. Not behind a stream, of an end that may be attached,
    /// or of a queue that is closed.
    #[inline(always)]
    fn is_plainly_empty(&self) -> bool {
        let Self { end, backoff } = self;
        !backoff.has_streamed(end.position()) && !end.target().was_attached() && !end.is_closed()
    }

    // MUTANT: Speed only: whether to check again after the pause.
    #[cold]
    #[inline(never)]
    fn try_recv_slowly(&mut self) -> Result<E::Message, TryRecvError> {
        if self.backoff.has_streamed(self.end.position()) {
            self.backoff.look_away(self.end.position());
            if let Some(message) = self.end.take() {
                return Ok(message);
            }
        }
        match self.nothing() {
            // It is over, or this is a rendezvous.
            Err(TryRecvError::Disconnected) => {
                self.end.meeting().map_or(Err(TryRecvError::Disconnected), |meeting| meeting.party().try_recv())
            }
            Err(TryRecvError::Empty) => Err(TryRecvError::Empty),
            Ok(()) => self.end.take().ok_or(TryRecvError::Disconnected),
        }
    }

    // MUTANT: In a race: a message that came meanwhile has raised the id again, and the next attempt finds it.
    /// After finding nothing: `Ok` if a message has come in the meantime.
    fn nothing(&mut self) -> Result<(), TryRecvError> {
        if one::rest(&mut self.end) || self.end.is_closed() {
            return if outline(self, |receiving| receiving.end.has_last()) {
                Ok(())
            } else {
                Err(TryRecvError::Disconnected)
            };
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
        loop {
            let taken = self.take_batch(to, most);
            if taken != 0 {
                return Ok(taken);
            }
            if let Some(meeting) = self.end.meeting() {
                return meeting.party().recv_batch(to, most, self.backoff.meeting());
            }
            outline(self, |receiving| receiving.wait(Deadline::Never)).map_err(|_| RecvError)?;
        }
    }

    pub(super) fn try_recv_batch(&mut self, to: &mut Vec<E::Message>, most: usize) -> Result<usize, TryRecvError> {
        if most == 0 {
            return Ok(outline(self, Self::take_none)?);
        }
        let taken = self.take_batch(to, most);
        if taken != 0 {
            return Ok(taken);
        }
        if let Err(error) = self.nothing() {
            return self.end.meeting().map_or(Err(error), |meeting| meeting.party().try_recv_batch(to, most));
        }
        Ok(self.take_batch(to, most))
    }

    // MUTANT: One more check when the queue is empty, or one less: the next attempt finds the message.
    /// A batch of none, whose caller has computed that: it never waits, and is told of the end as of any other batch,
    /// so that a loop until the end ends.
    #[cold]
    #[inline(never)]
    pub(super) fn take_none(&mut self) -> Result<usize, RecvError> {
        let is_over = !self.end.has_message()
            && match self.end.meeting() {
                Some(meeting) => meeting.is_closed() && meeting.party().side().supply() == 0,
                None => self.end.is_closed() && !self.end.has_last(),
            };
        if is_over { Err(RecvError) } else { Ok(0) }
    }

    // USER CODE: the allocator, when the caller's vector grows; the messages received so far are in the vector, the
    //     others in the queue; the hot state is a copy that is written back; re-entrance: senders may be active; panic:
    //     nothing is lost, as the length is set before the vector grows; test: tests/allocation/batches.rs:
    //     a_batch_of_two_lanes_ends_while_both_go_on
    // WAITS: never; it ends: beyond 4,096 messages it takes those that are there when it counts them; test:
    //     tests/allocation/batches.rs: a_batch_of_a_pipe_ends_while_its_sender_goes_on
    // MUTANT: A batch may also take what has come since.
    /// Takes what is there, `most` at most. It may take some of what comes meanwhile, but not all of that: it might
    /// never end.
    #[inline(always)]
    pub(super) fn take_batch(&mut self, to: &mut Vec<E::Message>, most: usize) -> usize {
        let taken = self.end.take_many(to, most.min(AMPLE));
        if taken < AMPLE { taken } else { taken + self.take_rest(to, most - taken) }
    }

    /// After an ample batch: takes as many messages as there are now, and none beyond.
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

    // WAITS: a task, for a message or the last sender's drop, also in `recv_async`; it does not spin; test:
    //     tests/suite/conformance/channel/tasks.rs: a_task_polled_once_and_kept_is_woken
    #[inline]
    pub(super) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        ready!(one::poll(&mut self.end, context));
        match self.end.take() {
            Some(message) => Poll::Ready(Ok(message)),
            None => self.poll_over(context),
        }
    }

    /// The queue is closed, and empty except for what only a last look finds: it is over, or this is a rendezvous.
    #[cold]
    #[inline(never)]
    fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        match self.end.meeting_mut() {
            Some(meeting) => meeting.poll_recv(context),
            None => Poll::Ready(self.take_last()),
        }
    }

    // MUTANT: The check has found nothing, so the take finds nothing either.
    /// The queue is closed, and empty except for what only a last look finds.
    #[cold]
    #[inline(never)]
    fn take_last(&mut self) -> Result<E::Message, RecvError> {
        if self.end.has_last() { self.end.take().ok_or(RecvError) } else { Err(RecvError) }
    }

    #[inline(always)]
    pub(super) fn recv_async(&mut self) -> impl Future<Output = Result<E::Message, RecvError>> {
        first_try(self, Self::received)
    }

    async fn received(&mut self) -> Result<E::Message, RecvError> {
        if let Some(message) = self.end.take() {
            return Ok(message);
        }
        if let Some(meeting) = self.end.meeting() {
            return meeting.party().recv_async().await;
        }
        let waiting = TaskWait { owner: self, forget: |receiving| one::forget(&mut receiving.end) };
        let outcome = core::future::poll_fn(|context| waiting.owner.poll_recv(context)).await;
        // The wait is user code at its end; so is the drop of an answer that nobody gets, while unwinding.
        Panics::answer_behind(outcome, || drop(waiting))
    }
}

/// A message that is received.
impl<E: ReadingEnd> Attempt for &mut Receiving<E> {
    type Outcome = Result<E::Message, RecvError>;

    #[inline(always)]
    fn attempt(self) -> Result<Self::Outcome, Self> {
        match self.end.take() {
            Some(message) => Ok(Ok(message)),
            None => Err(self),
        }
    }
}

/// Gives a channel's receiver its public methods. `$receiver` has a field `inner: Receiving<_>` with messages `T`.
macro_rules! impl_receiver_api {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// Receives a message; waits for one as long as it takes.
            ///
            /// Wait-free while messages are there, and then without a system call but to wake a sender that waits for
            /// room and, without a bound, to give a backlog's chunks back. Otherwise spins for a while (see
            /// [`set_spin`](Self::set_spin)) and sleeps in the kernel.
            ///
            /// # Errors
            /// When the channel is empty, and its senders are gone or it is closed.
            #[inline(always)]
            pub fn recv(&mut self) -> Result<T, RecvError> {
                self.inner.recv()
            }

            /// Receives a message if there is one. Wait-free; on an unattached receiver without a fence, and with the
            /// system calls of [`recv`](Self::recv) alone. An attached receiver that finds nothing takes its id down
            /// (at most two system calls, then none until it is raised again).
            ///
            /// A try that finds nothing after 64 messages or more pauses for a fraction of a microsecond, and checks
            /// again: in that time the sender gets ahead, which makes a stream quicker. Not with `Spin::None`.
            ///
            /// # Errors
            /// When the channel is empty, and when it is empty and its senders are gone or it is closed.
            #[inline]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.inner.try_recv()
            }

            /// Receives a message; waits no longer than `timeout`. `Duration::MAX` is no limit.
            ///
            /// # Errors
            /// When the time is up, and when the channel is empty and its senders are gone or it is closed.
            pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
                self.inner.recv_until(|| $crate::os::Deadline::after(timeout))
            }

            /// Receives a message; waits no longer than until `deadline`. A message that is there is received even
            /// after the deadline.
            ///
            /// # Errors
            /// When the time is up, and when the channel is empty and its senders are gone or it is closed.
            pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
                self.inner.recv_until(|| $crate::os::Deadline::At(deadline))
            }

            /// Appends messages to `to`: waits for the first, then takes what is there, `max` at most. Returns how many
            /// (at least 1, unless `max` is 0: then it does not wait). Allocates only in `to`.
            ///
            /// # Errors
            /// When the channel is empty, and its senders are gone or it is closed; also where `max` is 0.
            #[inline]
            pub fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
                self.inner.recv_batch(to, max)
            }

            /// Appends the messages that are there to `to`, `max` at most, and returns how many. Never blocks.
            ///
            /// # Errors
            /// When the channel is empty, and when it is empty and its senders are gone or it is closed. Where `max` is
            /// 0 only the latter.
            pub fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
                self.inner.try_recv_batch(to, max)
            }

            /// The next message where it lies, if there is one. Never blocks; costs what
            /// [`try_recv`](Self::try_recv) costs.
            #[inline]
            pub fn peek(&mut self) -> Option<&T> {
                self.inner.peek()
            }

            /// The next messages where they lie, as many of them as lie side by side: at least one if there is one.
            /// Never blocks; costs what [`try_recv`](Self::try_recv) costs.
            pub fn peek_run(&mut self) -> &[T] {
                self.inner.peek_run()
            }

            /// Receives and drops the first messages of those that [`peek_run`](Self::peek_run) has shown last.
            /// Wait-free, except for the wake-up of a sender.
            ///
            /// # Panics
            /// Where `messages` is more than it would show now without looking for more, and where a message panics as
            /// it is dropped: those behind it are still there then.
            #[inline]
            pub fn consume(&mut self, messages: usize) {
                self.inner.consume(messages);
            }

            /// Receives a message, or has the task woken when there may be one.
            ///
            /// Wait-free. Only the task that polled last is woken. Its waker is kept until it is woken, another task
            /// polls, or this receiver is dropped.
            ///
            /// # Errors
            /// When the channel is empty, and its senders are gone or it is closed.
            #[inline]
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
                $crate::channel::coop::poll_within_budget(context, |context| self.inner.poll_recv(context))
            }

            /// Receives a message; the task waits for one as long as it takes. Needs no particular runtime.
            ///
            /// Cancel-safe: a future dropped before it is ready has taken nothing.
            ///
            /// # Errors
            /// When the channel is empty, and its senders are gone or it is closed.
            #[inline]
            pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> {
                $crate::channel::coop::within_budget(self.inner.recv_async())
            }

            /// How many messages of a rendezvous that is over are there all the same: see
            /// [`crate::channel#rendezvous`].
            #[cfg(feature = "stream")]
            fn given_back(&self) -> usize {
                self.inner.end.meeting().map_or(0, |meeting| meeting.given_back())
            }

            /// The messages, one by one; waits for each, and ends when the senders are gone or the channel is closed.
            pub fn iter(&mut self) -> Iter<'_, Self> {
                Iter(self)
            }

            /// The messages that are there, one by one; never waits.
            pub fn try_iter(&mut self) -> TryIter<'_, Self> {
                TryIter(self)
            }

            /// What to do before sleeping, from the next wait on. The default is
            /// [`Spin::Adaptive`](crate::channel::Spin::Adaptive).
            pub fn set_spin(&mut self, spin: $crate::channel::Spin) {
                self.inner.backoff.set_spin(spin);
            }

            /// Takes this receiver out of the set it is attached to: its id is down, and free. False: it was in none.
            /// Its messages stay, and it can be attached again, to any set. Wait-free except for the descriptor of the
            /// set (one system call at most).
            ///
            /// A sender that was about to raise the id may still do so once: its next owner must take that for a
            /// spurious signal.
            pub fn detach(&mut self) -> bool {
                match self.inner.end.meeting_mut() {
                    Some(meeting) => meeting.detach(),
                    None => $crate::wait::one::detach(&mut self.inner.end),
                }
            }
        }

        impl<T> Attach for $receiver<T> {
            fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
                match self.inner.end.meeting_mut() {
                    Some(meeting) => meeting.attach(registration),
                    None => $crate::wait::one::attach(&mut self.inner.end, registration),
                }
            }

            fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
                match self.inner.end.meeting() {
                    Some(meeting) => meeting.with_registration(look),
                    None => drop($crate::wait::one::registration(&self.inner.end).inspect(|&found| look(found))),
                }
            }

            fn detach(&mut self) -> bool {
                $receiver::detach(self)
            }
        }

        impl<T> core::fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("Receiver").field("capacity", &self.capacity()).finish_non_exhaustive()
            }
        }

        $crate::channel::receive::impl_receiver_traits!(
            $receiver, &'a mut $receiver<T> => Iter<'a, $receiver<T>>,
            /// At least the messages that are there, and exactly those once the sender has disconnected. Costs what
            /// [`len`](Self::len) costs.
            certain: usize::MAX,
            |receiver| look: receiver.inner.end.take(), has_message: receiver.inner.end.has_last(),
        );
    };
}

/// Gives a receiver what iterators, streams and the hub need. `$by => $iter`: a borrowed receiver, and how that is
/// iterated. `$certain`: how many of the messages that are there this receiver gets for certain, at most. `$look` and
/// `$has_message` answer for `$this`, the receiver.
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
                // Before the count, which then includes all that was sent before the last sender went.
                let is_over = self.is_disconnected();
                let there = self.len();
                (there.min($certain), is_over.then(|| there + self.given_back()))
            }
        }

        /// Terminated once this stream has returned `None`, and not before: `futures::select!` passes over a stream
        /// that is terminated, and whoever waits there for the end must be told of it. An error of another method is
        /// not that `None`.
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

pub(super) use {impl_receiver_api, impl_receiver_traits};
