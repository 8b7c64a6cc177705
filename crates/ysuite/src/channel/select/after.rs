//! The case that is performed when no operation was possible for some time.

use super::case::{Case, ChosenCase, Looked};
use super::sleeper::SelectWaiter;
use crate::os::Deadline;

#[doc(hidden)]
#[derive(Debug)]
pub struct AfterCase<F> {
    deadline: Deadline,
    is_done: bool,
    then: Option<F>,
}

impl<F> AfterCase<F> {
    pub(super) fn new(deadline: Deadline, then: F) -> Self {
        Self { deadline, is_done: false, then: Some(then) }
    }
}

impl<F> Case for AfterCase<F> {
    fn len(&self) -> usize {
        0
    }

    // MUTANT: Never called: the case has no operation.
    fn try_at(&mut self, _: usize) -> bool {
        false
    }

    fn look(&mut self, _: usize, _: &SelectWaiter) -> Looked {
        Looked::Nothing
    }

    fn leave(&mut self) {}

    fn moves(&mut self) -> u64 {
        0
    }

    fn deadline(&self) -> Deadline {
        self.deadline
    }

    fn expire(&mut self) -> bool {
        self.is_done = self.deadline.is_over();
        self.is_done
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl<R, F: FnOnce() -> R> ChosenCase<R> for AfterCase<F> {
    fn finish(&mut self, result: &mut Option<R>) {
        *result = self.then.take().map(|then| then());
    }
}
