//! The end that asks.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use super::{answering, asking};
use crate::end::{self, End, Half, Unfulfilled, deadline, wait};
use crate::link::Link;
use crate::page::{RING, Role};
use crate::pipe::met_within;
use crate::ring::answers::{Found, Places, ended};
use crate::ring::places;
use crate::ring::typed::{Numbered, Writer};
use crate::{CallError, Copied, Error, Message, Options, SendError, SendTimeoutError, TrySendError};

/// The end that asks: its questions, of type `Q` ([`BytesCaller`](crate::BytesCaller): of bytes), are received by a
/// [`Funnel`](crate::Funnel) of [`Question`](crate::Question)s in another process, which answers each by an `A`.
///
/// [`call`](Self::call) asks and waits for the answer. [`ask`](Self::ask) does not wait: so several calls may be under way at
/// once, whose answers come in any order; each has a [`Pending`]. A call ends by its answer; by the receiver that
/// [drops](CallError::Unanswered) the question; or with the channel, behind the answers that were given before.
///
/// Dropping a `Pending` gives its call up. The question is received and answered all the same; until then the call
/// counts against those that [may be](Options::calls) under way. Its answer is dropped.
///
/// A process that asks from several threads has a caller for each.
///
/// ```
/// use ysuite_shm::{CallError, Caller, Error, Funnel, Question};
///
/// let mut funnel = Funnel::<Question<u32, u64>>::without_name()?;
/// let (_, seat) = funnel.seat()?;
/// let answering = std::thread::spawn(move || {
///     while let Ok(question) = funnel.recv() {
///         // Else it is dropped, which tells the caller so.
///         if let Some(answer) = u64::from(*question).checked_pow(3) {
///             question.answer(answer);
///         }
///     }
/// });
/// let mut caller = Caller::<u32, u64>::from_fd(seat)?;
/// let first = caller.ask(3).map_err(|error| error.1)?;
/// assert_eq!(caller.call(2), Ok(8));
/// assert_eq!(caller.call(u32::MAX), Err(CallError::Unanswered));
/// assert_eq!(caller.recv(first), Ok(27));
/// drop(caller);
/// answering.join().unwrap();
/// # Ok::<_, Error>(())
/// ```
pub struct Caller<Q: Copied, A: Copied> {
    pub(super) end: End,
    questions: Writer<Numbered<Q>>,
    /// Since the receiver was met, as long as it is believed.
    answers: Option<Places<A>>,
    /// The last one of each place.
    calls: Vec<Call>,
    /// The place of the last one.
    last: usize,
}

/// What a caller knows of the last call of a place.
struct Call {
    /// Less than there are places: there was none yet.
    number: u64,
    /// The state of the place when it began.
    before: u64,
    /// The place's; as long as somebody has the [`Pending`], that has another one.
    shared: Arc<()>,
}

/// A place that no call has, and its state.
pub(super) struct Free {
    at: usize,
    state: u64,
}

/// A call whose answer is received by [`Caller::recv`]. Dropping it gives the call up.
#[must_use = "a call whose `Pending` is dropped is given up"]
pub struct Pending {
    number: u64,
    shared: Arc<()>,
}

impl Options {
    /// A caller over a socket: of [`connect`](crate::connect), or a [`seat`](crate::Funnel::seat). It says hello at once.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or descriptors, or a [number of calls](Self::calls) that
    /// cannot be.
    pub fn caller<Q: Message, A: Copied>(&self, socket: OwnedFd) -> Result<Caller<Q, A>, Error> {
        Caller::new(self, socket, 0)
    }
}

impl<Q: Message, A: Copied> Caller<Q, A> {
    /// As [`Options::caller`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().caller(socket)
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The receiver has dropped the question, or the channel has ended; then the question may have been received.
    pub fn call(&mut self, question: Q) -> Result<A, CallError> {
        self.call_until(&question, None)
    }

    /// As [`call`](Self::call), for at most `limit`; then it gives up.
    ///
    /// # Errors
    /// There was no answer in all that time, or as there.
    pub fn call_timeout(&mut self, question: Q, limit: Duration) -> Result<A, CallError> {
        self.call_until(&question, deadline(limit))
    }

    /// As [`call`](Self::call), until `deadline` at most; then it gives up.
    ///
    /// # Errors
    /// There was no answer until then, or as there.
    pub fn call_deadline(&mut self, question: Q, deadline: Instant) -> Result<A, CallError> {
        self.call_until(&question, Some(deadline))
    }

    /// Asks, and goes on; waits while as many calls are under way as [may be](Options::calls), or the receiver has not
    /// accepted this caller yet. A call is under way until it has ended and its `Pending` was received or dropped. A
    /// thread that waits here does not notice when another drops one.
    ///
    /// # Errors
    /// The channel has ended: the question, and why.
    pub fn ask(&mut self, question: Q) -> Result<Pending, SendError<Q>> {
        match self.place(None) {
            Ok(at) => Ok(self.put(at, &question)),
            Err(unfulfilled) => Err(SendError(question, end::ended(unfulfilled))),
        }
    }

    /// As [`ask`](Self::ask), if there is nothing to wait for. Never blocks.
    ///
    /// # Errors
    /// It would have to wait, or the channel has ended: the question.
    pub fn try_ask(&mut self, question: Q) -> Result<Pending, TrySendError<Q>> {
        match self.attempt(Self::free) {
            Ok(at) => Ok(self.put(at, &question)),
            Err(None) => Err(TrySendError::Full(question)),
            Err(Some(error)) => Err(TrySendError::Ended(question, error)),
        }
    }

    /// As [`ask`](Self::ask), for at most `limit`.
    ///
    /// # Errors
    /// It had to wait for all that time, or the channel has ended: the question.
    pub fn ask_timeout(&mut self, question: Q, limit: Duration) -> Result<Pending, SendTimeoutError<Q>> {
        self.ask_until(question, deadline(limit))
    }

    /// As [`ask`](Self::ask), until `deadline` at most.
    ///
    /// # Errors
    /// It had to wait until then, or the channel has ended: the question.
    pub fn ask_deadline(&mut self, question: Q, deadline: Instant) -> Result<Pending, SendTimeoutError<Q>> {
        self.ask_until(question, Some(deadline))
    }

    fn ask_until(&mut self, question: Q, deadline: Option<Instant>) -> Result<Pending, SendTimeoutError<Q>> {
        match self.place(deadline) {
            Ok(at) => Ok(self.put(at, &question)),
            Err(unfulfilled) => Err(end::unsent(question, unfulfilled)),
        }
    }
}

impl<Q: Copied, A: Copied> Caller<Q, A> {
    /// `largest`: the most bytes of a question that is bytes.
    pub(super) fn new(options: &Options, socket: OwnedFd, largest: usize) -> Result<Self, Error> {
        let shape = asking::<Q>(options, largest);
        let link = Link::mutual(socket, Role::Sender, [shape, answering::<A>(options, 0)], options.calls, options)?;
        // SAFETY: the region has a ring of this capacity and shape behind its page, and lives as long as the end.
        let questions = unsafe { Writer::with(link.own.start().add(RING), options.calls, places(&shape)) };
        let mut end = End::new(link)?;
        end.meet(None);
        Ok(Self { end, questions, answers: None, calls: Vec::new(), last: 0 })
    }

    pub(super) fn call_until(&mut self, question: &Q::Written, deadline: Option<Instant>) -> Result<A, CallError> {
        let at = self.place(deadline).map_err(unanswered)?;
        let call = self.put(at, question);
        self.recv_until(&call, deadline).map_err(unanswered)?.ok_or(CallError::Unanswered)
    }

    /// A place for a call, for which it waits.
    pub(super) fn place(&mut self, deadline: Option<Instant>) -> Result<Free, Unfulfilled> {
        self.free().map_or_else(|| wait(self, deadline, Self::free), Ok)
    }

    /// A place that no call has, if the channel has not ended.
    pub(super) fn free(&mut self) -> Option<Free> {
        if self.end.fate().is_some() {
            return None;
        }
        if self.calls.is_empty() {
            self.attach();
        }
        // The last one first: who has one call at a time uses one place. Who has many finds the oldest behind it.
        (self.last..self.calls.len()).chain(0..self.last).find_map(|at| self.free_at(at))
    }

    /// This place, if no call has it.
    fn free_at(&mut self, at: usize) -> Option<Free> {
        let call = &self.calls[at];
        // There was none yet.
        if call.number == at as u64 {
            return Some(Free { at, state: 0 });
        }
        // Somebody may receive the answer.
        if Arc::strong_count(&call.shared) > 1 {
            return None;
        }
        let number = call.number;
        self.look_at(at).map(|is_answered| Free { at, state: ended(number, is_answered) })
    }

    #[cold]
    fn attach(&mut self) {
        if let Some(met) = &self.end.link.met {
            let (most, size) = (self.end.link.capacity.min(met.header.capacity), met.header.shape.size);
            // SAFETY: the region has the size of as many places behind its page, or more, as `Link::accept` has checked, and
            // lives as long as `end`.
            self.answers = Some(unsafe { Places::new(met.region.start().add(RING), most, size) });
            self.calls = (0..most as u64).map(|number| Call { number, before: 0, shared: Arc::new(()) }).collect();
        }
    }

    /// Asks, by a call in this place.
    pub(super) fn put(&mut self, Free { at, state }: Free, message: &Q::Written) -> Pending {
        let places = self.calls.len() as u64;
        let call = &mut self.calls[at];
        call.number += places;
        call.before = state;
        self.last = at;
        let (number, shared) = (call.number, Arc::clone(&call.shared));
        self.questions.write_numbered(number, message);
        self.end.published();
        Pending { number, shared }
    }

    /// Receives the answer of a call; waits until it is there.
    ///
    /// # Errors
    /// The receiver has dropped the question, or the channel has ended.
    ///
    /// # Panics
    /// If the call is another caller's.
    pub fn recv(&mut self, call: Pending) -> Result<A, CallError> {
        let outcome = self.recv_until(&call, None);
        outcome.map_err(unanswered)?.ok_or(CallError::Unanswered)
    }

    /// Receives the answer of a call, if it is there. Never blocks.
    ///
    /// # Errors
    /// There is no answer yet: the call. Or there will be none.
    ///
    /// # Panics
    /// As for [`recv`](Self::recv).
    pub fn try_recv(&mut self, call: Pending) -> Result<A, CallError<Pending>> {
        match self.try_outcome(&call) {
            Ok(outcome) => outcome.ok_or(CallError::Unanswered),
            Err(None) => Err(CallError::NotYet(call)),
            Err(Some(error)) => Err(CallError::Ended(error)),
        }
    }

    /// The outcome of a call, if it has ended. `None`: without an answer. `Err(None)`: it has not.
    pub(crate) fn try_outcome(&mut self, call: &Pending) -> Result<Option<A>, Option<Error>> {
        let is_answered = self.attempt(|caller| caller.look(call))?;
        self.outcome(call, is_answered).map_err(Some)
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// There was no answer in all that time: the call. Or as there.
    ///
    /// # Panics
    /// As there.
    pub fn recv_timeout(&mut self, call: Pending, limit: Duration) -> Result<A, CallError<Pending>> {
        self.recv_within(call, deadline(limit))
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// As for [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Panics
    /// As there.
    pub fn recv_deadline(&mut self, call: Pending, deadline: Instant) -> Result<A, CallError<Pending>> {
        self.recv_within(call, Some(deadline))
    }

    fn recv_within(&mut self, call: Pending, deadline: Option<Instant>) -> Result<A, CallError<Pending>> {
        match self.recv_until(&call, deadline) {
            Ok(outcome) => outcome.ok_or(CallError::Unanswered),
            Err(Unfulfilled::Timeout) => Err(CallError::NotYet(call)),
            Err(Unfulfilled::Ended(error)) => Err(CallError::Ended(error)),
        }
    }

    /// The outcome of a call, for which it waits.
    fn recv_until(&mut self, call: &Pending, deadline: Option<Instant>) -> Result<Option<A>, Unfulfilled> {
        let found = self.look(call);
        let is_answered = found.map_or_else(|| wait(self, deadline, |caller| caller.look(call)), Ok)?;
        self.outcome(call, is_answered).map_err(Unfulfilled::Ended)
    }

    /// Whether a call has ended, and by an answer.
    #[inline]
    fn look(&mut self, call: &Pending) -> Option<bool> {
        let at = (call.number % self.calls.len().max(1) as u64) as usize;
        let is_own = self.calls.get(at).is_some_and(|own| Arc::ptr_eq(&own.shared, &call.shared));
        assert!(is_own, "a call of another caller");
        self.look_at(at)
    }

    /// As [`look`](Self::look), of the call that has this place.
    #[inline]
    fn look_at(&mut self, at: usize) -> Option<bool> {
        let call = &self.calls[at];
        match self.answers.as_ref()?.look(call.number, call.before) {
            Found::Answer => Some(true),
            Found::Dropped => Some(false),
            Found::Nothing => None,
            Found::Broken => {
                self.broken();
                None
            }
        }
    }

    /// Nothing of the receiver is believed any more.
    #[cold]
    fn broken(&mut self) -> Error {
        self.answers = None;
        self.end.fail(Error::Broken)
    }

    /// The outcome of a call that has ended.
    fn outcome(&mut self, call: &Pending, is_answered: bool) -> Result<Option<A>, Error> {
        let Some(answers) = self.answers.as_ref().filter(|_| is_answered) else { return Ok(None) };
        answers.get(call.number).map(Some).ok_or_else(|| self.broken())
    }

    /// What `look` finds, without waiting. `Err(None)`: nothing yet.
    #[inline]
    pub(super) fn attempt<R>(&mut self, mut look: impl FnMut(&mut Self) -> Option<R>) -> Result<R, Option<Error>> {
        if let Some(found) = look(self) {
            return Ok(found);
        }
        self.end.meet(None);
        self.end.check_at_times();
        // Before the look: what was published before the end is found by it.
        let fate = self.end.fate();
        if let Some(found) = look(self) {
            return Ok(found);
        }
        // Not what it is now: the receiver may have answered behind the look, and ended.
        Err(fate.or(self.end.failed()).map(|error| self.end.fail(error)))
    }

    /// Returns whether the receiver is gone; answers may still be there. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.end.is_over()
    }

    /// Waits until the receiver has accepted this caller, for at most `limit`; returns whether it has.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        met_within(self, limit)
    }

    /// Sets how many times this end looks for an answer before it sleeps; 0: it sleeps at once, `u32::MAX`: it never
    /// does.
    pub fn set_spin(&mut self, looks: u32) {
        self.end.spin = Some(looks);
    }

    // USER CODE: `calls`, behind the arming; a panic leaves an end that is woken without a reason.
    /// For an event loop: if none of these calls has ended, the [descriptor](AsFd::as_fd) becomes readable when one has, or
    /// when the channel ends. False: there is something to be done now.
    ///
    /// # Panics
    /// As for [`recv`](Self::recv).
    pub fn arm<'a>(&mut self, calls: impl IntoIterator<Item = &'a Pending>) -> bool {
        let is_armed = self.end.arm_for_loop();
        !calls.into_iter().any(|call| self.look(call).is_some()) && self.end.fate().is_none() && is_armed
    }

    /// As [`arm`](Self::arm), for a caller that waits until it may [ask](Self::try_ask).
    pub fn arm_to_ask(&mut self) -> bool {
        let is_armed = self.end.arm_for_loop();
        self.free().is_none() && self.end.fate().is_none() && is_armed
    }
}

fn unanswered(unfulfilled: Unfulfilled) -> CallError {
    match unfulfilled {
        Unfulfilled::Timeout => CallError::NotYet(()),
        Unfulfilled::Ended(error) => CallError::Ended(error),
    }
}

impl<Q: Copied, A: Copied> Half for Caller<Q, A> {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<Q: Copied, A: Copied> Caller<Q, A> {
    pub(crate) fn link(&self) -> &Link {
        &self.end.link
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<Q: Copied, A: Copied> Caller<Q, A> {
    /// Asks as no honest caller does.
    pub(crate) fn ask_without_place(&mut self, message: &Q::Written) {
        self.questions.write_numbered(u64::MAX, message);
        self.end.published();
    }
}

impl<Q: Copied, A: Copied> AsFd for Caller<Q, A> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl<Q: Copied, A: Copied> fmt::Debug for Caller<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}
