//! Waiting for the first of several operations, and doing it: [`select`] takes operations on channels, with what is to
//! be done with each one's result; [`wait`](Selecting::wait) does exactly one of them.
//!
//! One thread. Everything is on its stack while something can be done at once; what a thread needs to sleep is made
//! once and kept.
//!
//! Cannot: do two of them. Operations that were not done have changed nothing.

mod after;
mod any;
mod case;
mod exchange;
mod meet;
#[cfg(all(test, ysuite_loom))]
mod models;
pub(super) mod pipe;
mod receive;
mod run;
mod send;
mod sleeper;

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::time::Instant;

use self::after::AfterCase;
use self::any::AnyCase;
use self::case::{AndCase, CaseList, NoCase};
use self::receive::RecvCase;
use self::send::{Offer, SendCase};
use crate::channel::{Receive, RecvError, SendError};
use crate::foreign::Foreign;
use crate::os::Deadline;

pub use self::receive::SelectRecv;
pub use self::send::SelectSend;

/// Operations of which one is to be done: the first that can be. Add them, each with a function for its result, and
/// wait.
///
/// ```
/// use std::time::Duration;
/// use ysuite::{mpmc, spsc};
///
/// let (mut numbers, mut numbers_in) = spsc::unbounded();
/// let (words, words_in) = mpmc::bounded(8);
/// numbers.send(7)?;
///
/// let heard = ysuite::select()
///     .recv(&mut numbers_in, |number| format!("{}", number.unwrap()))
///     .recv(&words_in, |word: Result<String, _>| word.unwrap())
///     .after(Duration::from_secs(1), || "nothing".to_owned())
///     .wait();
/// assert_eq!(heard, "7");
/// # words.send(String::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// * All operations are tried first, beginning at a random one and in a random order of theirs, without registering
///   anywhere: nothing is allocated then, and no system call is made but to wake a thread of the other side. Only where
///   none can be done does the thread register with all of them and sleep.
/// * Exactly one is done. The others have changed nothing: no message is taken, and a message that was to be sent is
///   dropped when the function has run, or, given by [`send_from`](Selecting::send_from), is where it was.
/// * An operation whose other side is gone can be done: its function gets the error.
/// * Receivers and senders that one thread uses are borrowed mutably; those of an `mpmc` by shared reference, and may
///   be used by others meanwhile, and appear in several operations. An end that is attached to a set stays attached.
/// * In a rendezvous (`bounded(0)`) a select that sleeps waits as `send` and `recv` do, in all its operations at once:
///   also for another select that faces it. It never meets itself.
/// * Without any operation, or with [`send_from`](Selecting::send_from) empty places only, nothing can ever be done:
///   [`wait`](Selecting::wait) never returns, the others say `None`.
/// * The functions run when everything is over: they may use `select` again, and may panic.
///
/// For a loop over many receivers that stay the same a [`Select`](crate::signal::Select) is quicker when it sleeps: it
/// stays registered.
#[must_use = "nothing is done before `wait`"]
pub fn select<R>() -> Selecting<NoCase, R> {
    Selecting { cases: NoCase, result: PhantomData }
}

// USER CODE: the chosen function, then (by `finish` of `channel/select/case.rs`) `Drop` of the other functions and of
//     messages that were not sent; the operation is done, nothing is registered any more, the thread's waiter is back;
//     re-entrance: anything, `select` too; panic: propagates; a result is dropped with the call; test:
//     tests/suite/select/one_shot.rs: a_function_may_select_again_and_may_panic, tests/suite/select/one_shot.rs:
//     a_result_ends_once_where_the_end_of_another_case_panics
/// Operations of which one is to be done. Made by [`select`].
#[must_use = "nothing is done before `wait`"]
pub struct Selecting<L, R> {
    cases: L,
    result: PhantomData<fn() -> R>,
}

impl<L: CaseList<R>, R> Selecting<L, R> {
    /// One operation more.
    fn and<C>(self, case: C) -> Selecting<AndCase<C, L>, R> {
        Selecting { cases: AndCase { case: Foreign::new(case), others: Foreign::new(self.cases) }, result: PhantomData }
    }

    /// Or: receive from `receiver`. The function gets the message; an error when the channel is empty and its senders
    /// are gone.
    pub fn recv<E, F>(self, receiver: E, then: F) -> Selecting<AndCase<RecvCase<E::Source, F>, L>, R>
    where
        E: SelectRecv,
        F: FnOnce(Result<E::Message, RecvError>) -> R,
    {
        self.and(RecvCase::new(receiver.into_source(), then))
    }

    /// Or: receive from any of `receivers`. The function gets the number of that receiver as well. Each counts as an
    /// operation of its own. Allocates where the thread must sleep.
    pub fn recv_any<'a, E, F>(self, receivers: &'a mut [E], then: F) -> Selecting<AndCase<AnyCase<'a, E, F>, L>, R>
    where
        E: Receive,
        for<'b> &'b mut E: SelectRecv<Message = E::Message>,
        F: FnOnce(usize, Result<E::Message, RecvError>) -> R,
    {
        self.and(AnyCase::new(receivers, then))
    }

    /// Or: send `message`. The function gets an error with the message when the receivers are gone. Where another
    /// operation is done, or the time is up, the message is dropped.
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

    /// Or: send the message that is in `place`. Where another operation is done, or the time is up, it stays there.
    /// Without a message this operation is never done.
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

    /// Or: nothing could be done for so long. `Duration::MAX` is no limit. The time counts from now.
    pub fn after<F: FnOnce() -> R>(self, timeout: Duration, then: F) -> Selecting<AndCase<AfterCase<F>, L>, R> {
        self.and(AfterCase::new(Deadline::after(timeout), then))
    }

    /// Or: nothing could be done until `moment`.
    pub fn deadline<F: FnOnce() -> R>(self, moment: Instant, then: F) -> Selecting<AndCase<AfterCase<F>, L>, R> {
        self.and(AfterCase::new(Deadline::At(moment), then))
    }

    /// Does one of the operations, and returns what its function returns; blocks until one can be done.
    pub fn wait(mut self) -> R {
        loop {
            // MUTANT: A wait without a limit ends only with a completed operation or an expired case.
            if run::choose(&mut self.cases, Deadline::Never) {
                match self.cases.finish() {
                    Some(result) => return result,
                    None => unreachable!("an operation that was done has a result"),
                }
            }
        }
    }

    // MUTANT: A list of cases of which none is done finishes without a result.
    /// As [`wait`](Self::wait), but no longer than `timeout`: `None` when the time is up. `Duration::MAX` is no limit.
    pub fn wait_timeout(mut self, timeout: Duration) -> Option<R> {
        if run::choose(&mut self.cases, Deadline::after(timeout)) { self.cases.finish() } else { None }
    }

    // MUTANT: A list of cases of which none is done finishes without a result.
    /// As [`wait`](Self::wait), but no longer than until `deadline`: `None` when the time is up.
    pub fn wait_deadline(mut self, deadline: Instant) -> Option<R> {
        if run::choose(&mut self.cases, Deadline::At(deadline)) { self.cases.finish() } else { None }
    }

    /// Does one of the operations if one can be done at once. Never blocks; lock-free: where none could be done it
    /// checks again as long as other threads have sent or received by one of these channels meanwhile.
    ///
    /// `None` says that there was a moment in which none could be done, by whatever other threads did before and behind
    /// it. So where at each moment one of the operations can be done, one is, though it be another each time. Three
    /// things stay what they are for each operation by itself: a message behind one that is [still being put
    /// in](crate::mpmc#preempted-peers), the peer in a rendezvous that waits by a `select` and is at work itself, and a
    /// place that one thread [gives back](crate::mpmc::Permit) and another takes at once.
    pub fn try_now(mut self) -> Option<R> {
        if run::choose(&mut self.cases, Deadline::Passed) { self.cases.finish() } else { None }
    }
}

impl<L: CaseList<R>, R> fmt::Debug for Selecting<L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selecting").field("operations", &self.cases.len()).finish_non_exhaustive()
    }
}
