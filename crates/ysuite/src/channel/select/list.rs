//! Waiting for the first of several operations that a program knows only when it runs, of ends of any types.
//!
//! ```
//! use std::time::Duration;
//! use ysuite::select::list::{self, Selectable};
//! use ysuite::{broadcast, mpmc, timer};
//!
//! let (numbers, numbers_in) = mpmc::bounded(8);
//! let (_words, mut words_in) = broadcast::bounded::<String>(8);
//! numbers.send(7)?;
//!
//! let (mut number, mut word) = (list::recv(&numbers_in), list::recv(&mut words_in));
//! let end = timer::after(Duration::from_secs(10));
//! let mut end = list::recv(&end);
//! let mut all: Vec<&mut dyn Selectable> = vec![&mut number, &mut word, &mut end];
//! assert_eq!(list::first(&mut all).wait(), 0);
//! assert_eq!(number.result(), Some(Ok(7)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All that the documentation of [`select`](crate::select()) says of operations applies: exactly one is performed, and
//! the others have changed nothing. The result of that one is kept with it.
//!
//! Allocates nothing. Where the operations are known when the program is compiled, `select` is faster.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::case::{CaseList, Looked};
#[cfg(feature = "mpmc")]
pub use super::ready::{Readable, Reserving, Writable};
use super::receive::{RecvCase, SelectRecv};
use super::run;
use super::send::{Offer, SelectSend, SendCase};
use super::sleeper::SelectWaiter;
use crate::channel::SendError;
#[cfg(feature = "mpmc")]
use crate::channel::mpmc;
#[cfg(feature = "timer")]
use crate::channel::timer::Due;
use crate::foreign::Panics;
use crate::os::Deadline;

/// An operation of a list: what [`recv`] and [`send`] return. No other type has this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operation of a list",
    note = "make one with `select::list::recv(&mut receiver)` or `select::list::send(&mut sender, message)`"
)]
pub trait Selectable {
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn case(&self) -> &dyn CaseList;
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn case_mut(&mut self) -> &mut dyn CaseList;
    /// Whether its case is done. Called for each operation before anything else, so without a way round.
    #[doc(hidden)]
    fn is_performed(&self) -> bool;
    /// Tries its case; as directly.
    #[doc(hidden)]
    fn attempt(&mut self) -> bool;
}

/// A receive, as an operation of a list.
pub struct ListedRecv<E: SelectRecv>(RecvCase<E::Source, ()>);

/// A send of one message, as an operation of a list.
pub struct ListedSend<'a, E: SelectSend>(SendCase<'a, E::Outlet, E::Message, ()>);

/// A receive from `receiver`. It can be performed again when its result has been taken.
pub fn recv<E: SelectRecv>(receiver: E) -> ListedRecv<E> {
    ListedRecv(RecvCase::new(receiver.into_source(), ()))
}

/// A send of `message`. It stays here until it is sent.
pub fn send<'a, E: SelectSend>(sender: E, message: E::Message) -> ListedSend<'a, E> {
    ListedSend(SendCase::new(sender.into_outlet(), Offer::Owned(Some(message)), ()))
}

/// A reservation of room for one message, which is made when its [`Permit`](mpmc::Permit), the result, is there. In a
/// [rendezvous](crate#rendezvous), which never has room, the result is an error at once.
///
/// ```
/// use ysuite::select::list::{self, first};
/// use ysuite::mpmc;
///
/// let (sender, receiver) = mpmc::bounded(1);
/// let (_idle, idle_in) = mpmc::bounded::<u8>(1);
/// let mut work = vec!["first", "last"];
/// let (mut room, mut other) = (list::reserve(&sender), list::recv(&idle_in));
/// if first(&mut [&mut room, &mut other]).wait() == 0 {
///     let permit = room.result().unwrap()?;
///     permit.send(work.pop().unwrap()).unwrap();
/// }
/// assert_eq!(receiver.recv(), Ok("last"));
/// # Ok::<(), ysuite::ReserveError>(())
/// ```
///
/// Where 16,777,215 permits exist already, and there is more room, the wait polls.
#[cfg(feature = "mpmc")]
pub fn reserve<T>(sender: &mpmc::Sender<T>) -> ListedRecv<Reserving<'_, T>> {
    recv(Reserving(sender))
}

/// A wait until `receiver` has a message, or will never have one. Nothing is received: another may take the message
/// first. In a [rendezvous](crate#rendezvous): until a sender waits.
#[cfg(feature = "mpmc")]
pub fn readable<T>(receiver: &mpmc::Receiver<T>) -> ListedRecv<Readable<'_, T>> {
    recv(Readable(receiver))
}

/// A wait until `sender` has room, or will never send. Nothing is sent: another may take the room first. In a
/// [rendezvous](crate#rendezvous): until a receiver waits.
#[cfg(feature = "mpmc")]
pub fn writable<T>(sender: &mpmc::Sender<T>) -> ListedRecv<Writable<'_, T>> {
    recv(Writable(sender))
}

/// A wait until a tick of `timer` is there. It is not received: another may take it first.
#[cfg(feature = "timer")]
pub fn due(timer: &crate::channel::timer::Timer) -> ListedRecv<Due<'_>> {
    recv(Due(timer))
}

impl<E: SelectRecv> ListedRecv<E> {
    /// The result of the receive, if it was performed; once.
    pub fn result(&mut self) -> Option<Result<E::Message, E::Error>> {
        self.0.take_result()
    }
}

impl<E: SelectSend> ListedSend<'_, E> {
    /// The result of the send, if it was performed; once. Without a message the operation is never possible.
    pub fn result(&mut self) -> Option<Result<(), SendError<E::Message>>> {
        self.0.take_result()
    }

    /// The message, if it was not sent, and if the result of the send does not hold it.
    pub fn into_message(mut self) -> Option<E::Message> {
        self.0.take_message()
    }
}

impl<E: SelectRecv> Selectable for ListedRecv<E> {
    #[allow(private_interfaces)]
    fn case(&self) -> &dyn CaseList {
        &self.0
    }

    #[allow(private_interfaces)]
    fn case_mut(&mut self) -> &mut dyn CaseList {
        &mut self.0
    }

    fn is_performed(&self) -> bool {
        self.0.is_done()
    }

    fn attempt(&mut self) -> bool {
        self.0.try_at(0)
    }
}

impl<E: SelectSend> Selectable for ListedSend<'_, E> {
    #[allow(private_interfaces)]
    fn case(&self) -> &dyn CaseList {
        &self.0
    }

    #[allow(private_interfaces)]
    fn case_mut(&mut self) -> &mut dyn CaseList {
        &mut self.0
    }

    fn is_performed(&self) -> bool {
        self.0.is_done()
    }

    fn attempt(&mut self) -> bool {
        self.0.try_at(0)
    }
}

impl<E: SelectRecv> fmt::Debug for ListedRecv<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedRecv").field("is_done", &self.0.is_done()).finish_non_exhaustive()
    }
}

impl<E: SelectSend> fmt::Debug for ListedSend<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedSend").field("is_done", &self.0.is_done()).finish_non_exhaustive()
    }
}

/// The first of these operations that is possible. Each method returns the index of the one that was performed.
///
/// # Panics
/// When one of them has a result that was not taken.
pub fn first<'a, 'b>(operations: &'a mut [&'b mut dyn Selectable]) -> First<'a, 'b> {
    let untaken = operations.iter().position(|operation| operation.is_performed());
    assert!(untaken.is_none(), "the result of an operation was not taken: {untaken:?}");
    First { cases: ListedCases { operations, performed: None }, is_biased: false }
}

/// Operations of which one is performed. Made by [`first`].
#[must_use = "nothing is done before `wait`"]
pub struct First<'a, 'b> {
    cases: ListedCases<'a, 'b>,
    is_biased: bool,
}

impl First<'_, '_> {
    /// As [`biased`](crate::select::Selecting::biased): tries them in their order.
    pub fn biased(mut self) -> Self {
        self.is_biased = true;
        self
    }

    /// Performs one of the operations; blocks until one is possible.
    #[doc = cost!(select WAIT)]
    #[doc = cost!(select WAIT_SLEEP)]
    pub fn wait(mut self) -> usize {
        loop {
            if let Some(performed) = self.perform(Deadline::Never) {
                return performed;
            }
        }
    }

    /// As [`wait`](Self::wait), for at most `timeout`: `None` when the timeout has passed. `Duration::MAX` means no
    /// limit.
    #[doc = cost!(select WAIT)]
    #[doc = cost!(select WAIT_SLEEP)]
    pub fn wait_timeout(mut self, timeout: Duration) -> Option<usize> {
        self.perform(Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until `deadline` at most: `None` when the deadline has passed.
    #[doc = cost!(select WAIT)]
    #[doc = cost!(select WAIT_SLEEP)]
    pub fn wait_deadline(mut self, deadline: Instant) -> Option<usize> {
        self.perform(Deadline::At(deadline))
    }

    /// Performs one of the operations if one is possible at once. Never blocks. As
    /// [`try_now`](crate::select::Selecting::try_now).
    #[doc = cost!(select WAIT)]
    pub fn try_now(mut self) -> Option<usize> {
        self.perform(Deadline::Passed)
    }

    fn perform(&mut self, limit: Deadline) -> Option<usize> {
        if !run::choose(&mut self.cases, self.is_biased, limit) {
            return None;
        }
        // One that was met with in a line has not been tried.
        let met = || self.cases.operations.iter().position(|operation| operation.is_performed());
        self.cases.performed.or_else(met)
    }
}

impl fmt::Debug for First<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").field("operations", &self.cases.len()).finish_non_exhaustive()
    }
}

/// Each is one operation. The first one has the highest number, as in a `select`.
struct ListedCases<'a, 'b> {
    operations: &'a mut [&'b mut dyn Selectable],
    /// The index of the one that was tried with success.
    performed: Option<usize>,
}

impl ListedCases<'_, '_> {
    fn index(&self, at: usize) -> usize {
        self.operations.len() - 1 - at
    }

    fn at(&mut self, at: usize) -> &mut dyn CaseList {
        self.operations[self.index(at)].case_mut()
    }
}

impl CaseList for ListedCases<'_, '_> {
    fn len(&self) -> usize {
        self.operations.len()
    }

    fn try_at(&mut self, at: usize) -> bool {
        let index = self.index(at);
        let is_done = self.operations[index].attempt();
        if is_done {
            self.performed = Some(index);
        }
        is_done
    }

    fn stand(&mut self, at: usize, waiter: &SelectWaiter, number: usize) -> bool {
        self.at(at).stand(0, waiter, number)
    }

    fn look(&mut self, at: usize, waiter: &SelectWaiter) -> Looked {
        self.at(at).look(0, waiter)
    }

    fn announce(&self) {
        self.operations.iter().for_each(|operation| operation.case().announce());
    }

    fn met(&mut self, at: usize) {
        self.at(at).met(0);
    }

    fn leave(&mut self) {
        // As in a select: a waker that panics keeps none of the others in its line.
        let mut panics = Panics::none();
        self.operations.iter_mut().for_each(|operation| panics.catch(|| operation.case_mut().leave()));
    }

    fn moves(&mut self) -> u64 {
        self.operations.iter_mut().map(|operation| operation.case_mut().moves()).fold(0, u64::wrapping_add)
    }

    fn deadline(&self, limit: Deadline) -> Deadline {
        self.operations.iter().fold(limit, |limit, operation| operation.case().deadline(limit))
    }

    fn is_done(&self) -> bool {
        self.operations.iter().any(|operation| operation.is_performed())
    }
}
