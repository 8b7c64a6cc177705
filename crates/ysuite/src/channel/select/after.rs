//! The case that is performed when no operation was possible for some time.

use super::case::{CaseList, ChosenList};
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

#[allow(private_interfaces)]
impl<F> CaseList for AfterCase<F> {
    fn len(&self) -> usize {
        0
    }

    fn deadline(&self, limit: Deadline) -> Deadline {
        limit.or_sooner(self.deadline)
    }

    fn expire(&mut self) -> bool {
        self.is_done = self.deadline.is_over();
        self.is_done
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl<R, F: FnOnce() -> R> ChosenList<R> for AfterCase<F> {
    fn finish(&mut self, result: &mut Option<R>) {
        *result = self.then.take().map(|then| then());
    }
}
