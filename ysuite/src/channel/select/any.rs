//! The case that receives from any receiver of a slice.

use super::case::{Case, Looked};
use super::receive::{RecvSource, SelectRecv};
use super::sleeper::SelectWaiter;
use crate::channel::{Receive, RecvError};
use crate::foreign::Panics;

#[doc(hidden)]
#[allow(private_bounds)]
pub struct AnyCase<'a, E, F>
where
    E: Receive,
    &'a mut E: SelectRecv<Message = E::Message>,
{
    /// Until the case registers.
    ends: &'a mut [E],
    /// Once it has: each end, with what is known of its wait.
    sources: Vec<<&'a mut E as SelectRecv>::Source>,
    outcome: Option<(usize, Result<E::Message, RecvError>)>,
    then: F,
}

impl<'a, E, F> AnyCase<'a, E, F>
where
    E: Receive,
    &'a mut E: SelectRecv<Message = E::Message>,
{
    #[inline]
    pub(super) fn new(ends: &'a mut [E], then: F) -> Self {
        Self { ends, sources: Vec::new(), outcome: None, then }
    }

    fn note(&mut self, at: usize, outcome: Option<Result<E::Message, RecvError>>) -> bool {
        self.outcome = outcome.map(|outcome| (at, outcome));
        self.outcome.is_some()
    }
}

impl<'a, R, E, F> Case<R> for AnyCase<'a, E, F>
where
    E: Receive,
    for<'b> &'b mut E: SelectRecv<Message = E::Message>,
    F: FnOnce(usize, Result<E::Message, RecvError>) -> R,
{
    #[inline]
    fn len(&self) -> usize {
        self.ends.len() + self.sources.len()
    }

    #[inline]
    fn try_at(&mut self, at: usize) -> bool {
        let outcome = match self.ends.get_mut(at) {
            Some(end) => end.into_source().take(),
            None => self.sources[at].take(),
        };
        match outcome {
            None => false,
            some => self.note(at, some),
        }
    }

    fn stand(&mut self, at: usize, waiter: &SelectWaiter, number: usize) -> bool {
        if self.sources.is_empty() {
            self.sources = core::mem::take(&mut self.ends).iter_mut().map(SelectRecv::into_source).collect();
        }
        let outcome = self.sources[at].stand(waiter, number);
        self.note(at, outcome)
    }

    fn look(&mut self, at: usize, waiter: &SelectWaiter) -> Looked {
        let (looked, outcome) = self.sources[at].look(waiter);
        self.note(at, outcome);
        looked
    }

    fn announce(&self) {
        self.sources.iter().for_each(RecvSource::announce);
    }

    fn met(&mut self, at: usize) {
        let outcome = self.sources[at].met();
        self.note(at, outcome);
    }

    fn leave(&mut self) {
        // As the cases of a select: a waker that panics keeps none of the others in its line.
        let mut panics = Panics::none();
        self.sources.iter_mut().for_each(|source| panics.catch(|| source.leave()));
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.outcome.is_some()
    }

    #[inline]
    fn finish(self) -> Option<R> {
        self.outcome.map(|(at, outcome)| (self.then)(at, outcome))
    }
}
