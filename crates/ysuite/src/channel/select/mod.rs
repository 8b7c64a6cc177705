//! Waiting for the first of several operations, and performing it. [`select`](crate::select()) takes operations on channels, each with a
//! function for its result. [`wait`](Selecting::wait) performs exactly one of them.
//!
//! One thread. Everything is on its stack while an operation is possible at once. What a thread needs to sleep is made
//! once and kept.
//!
//! Cannot: perform two of them. Operations that were not performed have changed nothing.

mod after;
mod any;
mod case;
#[cfg(feature = "mpmc")]
mod exchange;
pub mod list;
mod meet;
#[cfg(all(test, ysuite_loom))]
mod models;
mod operation;
pub(super) mod pipe;
#[cfg(feature = "mpmc")]
mod ready;
mod receive;
mod run;
mod send;
mod sleeper;
pub(crate) mod start;

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::time::Instant;

use self::after::AfterCase;
use self::any::AnyCase;
use self::case::{AndCase, ChosenList};
use self::receive::RecvCase;
use self::send::{Offer, SendCase};
use crate::channel::{Receive, RecvError, SendError};
use crate::foreign::{Foreign, Lent};
use crate::os::Deadline;

pub(crate) use self::operation::OperationSource;
pub use self::receive::SelectRecv;
pub use self::send::SelectSend;

// USER CODE: the chosen function, then (by `Selecting::finish`) `Drop` of the other functions and of
//     messages that were not sent; the operation is done, nothing is registered any more, the thread's waiter is back;
//     re-entrance: anything, `select` too; panic: propagates; a result is dropped with the call; test:
//     tests/suite/select/one_shot.rs: a_function_may_select_again_and_may_panic, tests/suite/select/one_shot.rs:
//     a_result_ends_once_where_the_end_of_another_case_panics
/// Operations of which one is performed. Made by [`select`](crate::select()).
#[must_use = "nothing is done before `wait`"]
pub struct Selecting<L, R> {
    cases: L,
    is_biased: bool,
    result: PhantomData<fn() -> R>,
}

impl<L: ChosenList<R>, R> Selecting<L, R> {
    /// Adds one operation.
    fn and<C>(self, case: C) -> Selecting<AndCase<C, L>, R> {
        let cases = AndCase { case: Foreign::new(case), others: Foreign::new(self.cases) };
        Selecting { cases, is_biased: self.is_biased, result: PhantomData }
    }

    /// Adds a receive from `receiver`. The function gets the message, or an error when the channel is empty and its
    /// senders have disconnected.
    pub fn recv<E, F>(self, receiver: E, then: F) -> Selecting<AndCase<RecvCase<E::Source, F>, L>, R>
    where
        E: SelectRecv,
        F: FnOnce(Result<E::Message, E::Error>) -> R,
    {
        self.and(RecvCase::new(receiver.into_source(), then))
    }

    /// Adds a receive from any of `receivers`. The function also gets the index of that receiver. Each counts as an
    /// operation of its own. Allocates where the thread must sleep.
    pub fn recv_any<'a, E, F>(self, receivers: &'a mut [E], then: F) -> Selecting<AndCase<AnyCase<'a, E, F>, L>, R>
    where
        E: Receive,
        for<'b> &'b mut E: SelectRecv<Message = E::Message, Error = RecvError>,
        F: FnOnce(usize, Result<E::Message, RecvError>) -> R,
    {
        self.and(AnyCase::new(receivers, then))
    }

    /// Adds a send of `message`. The function gets an error with the message when the receivers have disconnected.
    /// Where another operation is performed, or the timeout has passed, the message is dropped.
    // The type is the list of the cases.
    #[allow(clippy::type_complexity)]
    pub fn send<'a, E, F>(
        self,
        sender: E,
        message: E::Message,
        then: F,
    ) -> Selecting<AndCase<SendCase<'a, E::Outlet, E::Message, F>, L>, R>
    where
        E: SelectSend,
        F: FnOnce(Result<(), SendError<E::Message>>) -> R,
    {
        self.and(SendCase::new(sender.into_outlet(), Offer::Owned(Some(message)), then))
    }

    /// Adds a send of the message that is in `place`. Where another operation is performed, or the timeout has passed,
    /// it stays there. Without a message this operation is never possible.
    // The type is the list of the cases.
    #[allow(clippy::type_complexity)]
    pub fn send_from<'a, E, F>(
        self,
        sender: E,
        place: &'a mut Option<E::Message>,
        then: F,
    ) -> Selecting<AndCase<SendCase<'a, E::Outlet, E::Message, F>, L>, R>
    where
        E: SelectSend,
        F: FnOnce(Result<(), SendError<E::Message>>) -> R,
    {
        self.and(SendCase::new(sender.into_outlet(), Offer::Lent(place), then))
    }

    /// Adds a timeout: performed when no operation was possible for this long. `Duration::MAX` means no limit. The time
    /// counts from now.
    pub fn after<F: FnOnce() -> R>(self, timeout: Duration, then: F) -> Selecting<AndCase<AfterCase<F>, L>, R> {
        self.and(AfterCase::new(Deadline::after(timeout), then))
    }

    /// Adds a deadline: performed when no operation was possible until `moment`.
    pub fn deadline<F: FnOnce() -> R>(self, moment: Instant, then: F) -> Selecting<AndCase<AfterCase<F>, L>, R> {
        self.and(AfterCase::new(Deadline::At(moment), then))
    }

    /// Tries the operations in the order in which they were added, instead of a random one: where several are possible,
    /// the first of them is performed. One that is always possible keeps those after it from ever being performed.
    ///
    /// ```
    /// let (mut urgent, mut urgent_in) = ysuite::spsc::unbounded();
    /// let (mut usual, mut usual_in) = ysuite::spsc::unbounded();
    /// usual.send("usual")?;
    /// urgent.send("urgent")?;
    /// let first = ysuite::select().recv(&mut urgent_in, |word| word).recv(&mut usual_in, |word| word).biased().wait();
    /// assert_eq!(first, Ok("urgent"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn biased(mut self) -> Self {
        self.is_biased = true;
        self
    }

    /// Performs one of the operations, and returns the result of its function; blocks until one is possible.
    #[doc = cost!(select WAIT)]
    #[doc = cost!(select WAIT_SLEEP)]
    pub fn wait(mut self) -> R {
        // MUTANT: A wait without a limit ends only with a completed operation or an expired case.
        while !run::choose(&mut self.cases, self.is_biased, Deadline::Never) {}
        let mut result = Foreign::none();
        self.finish(&mut result);
        result.take_out()
    }

    /// Runs the function of the operation that was performed, if one was. Then the drops of the operations that were not
    /// performed, which are user code. So is the drop of a result that no caller gets, while unwinding.
    fn finish(mut self, result: &mut Option<R>) {
        self.cases.finish(result);
    }

    // MUTANT: A list of cases of which none is done finishes without a result.
    /// Performs one of the operations, if one is possible until `limit`.
    #[inline]
    fn perform(mut self, limit: Deadline) -> Option<R> {
        let mut result = Foreign::none();
        if run::choose(&mut self.cases, self.is_biased, limit) {
            self.finish(&mut result);
        } else {
            drop(self);
        }
        result.take()
    }

    /// As [`wait`](Self::wait), for at most `timeout`: `None` when the timeout has passed. `Duration::MAX` means no
    /// limit.
    #[doc = cost!(select WAIT)]
    #[doc = cost!(select WAIT_SLEEP)]
    pub fn wait_timeout(self, timeout: Duration) -> Option<R> {
        self.perform(Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until `deadline` at most: `None` when the deadline has passed.
    #[doc = cost!(select WAIT)]
    #[doc = cost!(select WAIT_SLEEP)]
    pub fn wait_deadline(self, deadline: Instant) -> Option<R> {
        self.perform(Deadline::At(deadline))
    }

    /// Performs one of the operations if one is possible at once. Never blocks. Lock-free: where none was possible it
    /// checks again as long as other threads have sent or received by one of these channels meanwhile.
    ///
    /// `None` means that there was a moment in which none was possible, taking into account all that other threads did
    /// before and after it. So where at each moment one of the operations is possible, one is performed, even if it is
    /// a different one each time. Three cases are judged for each operation by itself: a message after one that is
    /// [still being written](crate::mpmc#preempted-peers), the peer in a rendezvous that waits by a `select` and is at
    /// work itself, and room that one thread [returns](crate::mpmc::Permit) and another takes at once.
    #[doc = cost!(select WAIT)]
    pub fn try_now(self) -> Option<R> {
        self.perform(Deadline::Passed)
    }
}

impl<L: ChosenList<R>, R> fmt::Debug for Selecting<L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selecting").field("operations", &self.cases.len()).finish_non_exhaustive()
    }
}
