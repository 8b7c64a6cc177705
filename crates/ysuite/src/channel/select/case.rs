//! The operations of one select, as a list of types: each with its handles, its function, and its result once it is
//! performed.
//!
//! One thread. An operation has a number; several may be one case (one for each receiver of a slice).

use super::sleeper::SelectWaiter;
use crate::channel::rendezvous::Met;
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;

/// What a check has found, at one operation that has registered.
pub(in crate::channel) enum Looked {
    Nothing,
    /// The operation is done; the claim is closed.
    Done,
    /// It may be possible. Nothing was done; the claim is open.
    Ready,
    /// The claim has been taken: by one of this select's operations, which may be another.
    Met(Met),
    /// The other handle has disconnected, or is at work. The claim is closed.
    Again,
}

/// One case, or several. They have as many operations as their `len`; `at` is one of these. The defaults are those of cases
/// without an operation, which are never registered. Not for use elsewhere.
#[doc(hidden)]
#[allow(private_interfaces)]
pub trait CaseList {
    fn len(&self) -> usize;
    // MUTANT: Never called: there is no operation.
    /// Performs the operation if it is possible at once (true). An operation that waits in line for a rendezvous is not
    /// tried.
    fn try_at(&mut self, _at: usize) -> bool {
        false
    }
    // MUTANT: Never called: there is no operation.
    /// Waits in line, if it is for a rendezvous and does not yet. True: it has found a counterpart, and the operation
    /// is done. `number`: the operation's, among those of all cases.
    fn stand(&mut self, _at: usize, _: &SelectWaiter, _number: usize) -> bool {
        false
    }
    /// The claim is open: registers the waiter, so that it is woken, and checks.
    fn look(&mut self, _at: usize, _: &SelectWaiter) -> Looked {
        Looked::Nothing
    }
    /// Notifies the handles that want to know that this select waits in line.
    fn announce(&self) {}
    /// This operation has taken the claim, and is thereby done.
    fn met(&mut self, _at: usize) {}
    /// Leaves all lines and lists.
    fn leave(&mut self) {}
    /// A number that has grown wherever an operation has become possible since the last call, and is no longer possible.
    /// So where the number is unchanged, an operation that is not possible now was not possible in between. Of several
    /// cases it is the sum.
    fn moves(&mut self) -> u64 {
        0
    }
    /// When a case is to be performed where no operation is possible: the earliest of `limit` and the deadlines of the
    /// cases.
    fn deadline(&self, limit: Deadline) -> Deadline {
        limit
    }
    /// A deadline has passed: its case is performed (true).
    fn expire(&mut self) -> bool {
        false
    }
    /// Whether a case was performed.
    fn is_done(&self) -> bool;
}

/// Cases, each with a function for its result.
#[doc(hidden)]
pub trait ChosenList<R>: CaseList {
    /// Runs the function with the result of the operation, if one is done.
    fn finish(&mut self, result: &mut Option<R>);
}

/// No operation.
#[doc(hidden)]
#[derive(Debug)]
pub struct NoCase;

/// A case, and all those that were added before it.
#[doc(hidden)]
#[derive(Debug)]
pub struct AndCase<C, L> {
    /// Their drops are user code, as those of the others: messages and functions.
    pub(super) case: Foreign<C>,
    pub(super) others: Foreign<L>,
}

#[allow(private_interfaces)]
impl CaseList for NoCase {
    fn len(&self) -> usize {
        0
    }

    fn is_done(&self) -> bool {
        false
    }
}

impl<R> ChosenList<R> for NoCase {
    fn finish(&mut self, _: &mut Option<R>) {}
}

#[allow(private_interfaces)]
impl<C: CaseList, L: CaseList> CaseList for AndCase<C, L> {
    #[inline]
    fn len(&self) -> usize {
        self.case.len() + self.others.len()
    }

    #[inline]
    fn try_at(&mut self, at: usize) -> bool {
        match at.checked_sub(self.case.len()) {
            None => self.case.try_at(at),
            Some(at) => self.others.try_at(at),
        }
    }

    fn stand(&mut self, at: usize, waiter: &SelectWaiter, number: usize) -> bool {
        match at.checked_sub(self.case.len()) {
            None => self.case.stand(at, waiter, number),
            Some(at) => self.others.stand(at, waiter, number),
        }
    }

    fn look(&mut self, at: usize, waiter: &SelectWaiter) -> Looked {
        match at.checked_sub(self.case.len()) {
            None => self.case.look(at, waiter),
            Some(at) => self.others.look(at, waiter),
        }
    }

    fn announce(&self) {
        self.case.announce();
        self.others.announce();
    }

    fn met(&mut self, at: usize) {
        match at.checked_sub(self.case.len()) {
            None => self.case.met(at),
            Some(at) => self.others.met(at),
        }
    }

    fn leave(&mut self) {
        // An operation that leaves may wake another handle, whose waker is user code: all the others still leave.
        let mut panics = Panics::none();
        panics.catch(|| self.case.leave());
        panics.catch(|| self.others.leave());
    }

    fn moves(&mut self) -> u64 {
        // Each only grows: the sum is the same where all are.
        self.case.moves().wrapping_add(self.others.moves())
    }

    fn deadline(&self, limit: Deadline) -> Deadline {
        self.others.deadline(self.case.deadline(limit))
    }

    fn expire(&mut self) -> bool {
        self.case.expire() || self.others.expire()
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.case.is_done() || self.others.is_done()
    }
}

impl<R, C: ChosenList<R>, L: ChosenList<R>> ChosenList<R> for AndCase<C, L> {
    #[inline]
    fn finish(&mut self, result: &mut Option<R>) {
        if self.case.is_done() {
            self.case.finish(result);
        } else {
            self.others.finish(result);
        }
    }
}
