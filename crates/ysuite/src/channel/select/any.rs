//! The case that receives from any receiver of a slice.

use super::case::{CaseList, ChosenList, Looked};
use super::operation::SelectOperation;
use super::receive::SelectRecv;
use super::sleeper::SelectWaiter;
use crate::channel::{Receive, RecvError, error};
use crate::foreign::{Foreign, Lent, Panics};
use crate::os::Deadline;

#[doc(hidden)]
#[allow(private_bounds)]
pub struct AnyCase<'a, E, F>
where
    E: Receive,
    &'a mut E: SelectRecv<Message = E::Message, Error = RecvError>,
{
    /// Until the case registers.
    ends: &'a mut [E],
    /// Once it has: each receiver, with the state of its wait.
    sources: Vec<<&'a mut E as SelectRecv>::Source>,
    place: Option<E::Message>,
    outcome: Option<(usize, Result<(), RecvError>)>,
    /// Its captures are dropped after a message that may panic.
    then: Foreign<Option<F>>,
}

impl<'a, E, F> AnyCase<'a, E, F>
where
    E: Receive,
    &'a mut E: SelectRecv<Message = E::Message, Error = RecvError>,
{
    #[inline]
    pub(super) fn new(ends: &'a mut [E], then: F) -> Self {
        Self { ends, sources: Vec::new(), place: None, outcome: None, then: Foreign::some(then) }
    }

    /// The receiver of an operation. The first one has the highest number, as the first case has: so a biased select
    /// tries the receivers in their order.
    #[inline]
    fn index(&self, operation: usize) -> usize {
        self.ends.len() + self.sources.len() - 1 - operation
    }

    fn note(&mut self, at: usize, outcome: Option<Result<(), RecvError>>) -> bool {
        self.outcome = outcome.map(|outcome| (at, outcome));
        self.outcome.is_some()
    }
}

#[allow(private_interfaces)]
impl<'a, E, F> CaseList for AnyCase<'a, E, F>
where
    E: Receive,
    for<'b> &'b mut E: SelectRecv<Message = E::Message, Error = RecvError>,
{
    #[inline]
    fn len(&self) -> usize {
        self.ends.len() + self.sources.len()
    }

    #[inline]
    fn try_at(&mut self, at: usize) -> bool {
        let at = self.index(at);
        let outcome = match self.ends.get_mut(at) {
            Some(end) => end.into_source().attempt(&mut self.place),
            None => self.sources[at].attempt(&mut self.place),
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
        let at = self.index(at);
        let outcome = self.sources[at].stand(waiter, number, &mut self.place);
        self.note(at, outcome)
    }

    fn look(&mut self, at: usize, waiter: &SelectWaiter) -> Looked {
        let at = self.index(at);
        let (looked, outcome) = self.sources[at].look(waiter, &mut self.place);
        self.note(at, outcome);
        looked
    }

    fn announce(&self) {
        self.sources.iter().for_each(SelectOperation::announce);
    }

    fn met(&mut self, at: usize) {
        let at = self.index(at);
        let outcome = self.sources[at].met(&mut self.place);
        self.note(at, outcome);
    }

    fn leave(&mut self) {
        // As in a select: a waker that panics keeps none of the other cases in its line.
        let mut panics = Panics::none();
        self.sources.iter_mut().for_each(|source| panics.catch(|| source.leave(&mut self.place)));
    }

    fn moves(&mut self) -> u64 {
        let ends = self.ends.iter_mut().map(|end| end.into_source().moves());
        ends.chain(self.sources.iter().map(SelectOperation::moves)).fold(0, u64::wrapping_add)
    }

    fn deadline(&self, limit: Deadline) -> Deadline {
        self.sources.iter().fold(limit, |limit, source| limit.or_sooner(source.due()))
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.outcome.is_some()
    }
}

impl<'a, R, E, F> ChosenList<R> for AnyCase<'a, E, F>
where
    E: Receive,
    for<'b> &'b mut E: SelectRecv<Message = E::Message, Error = RecvError>,
    F: FnOnce(usize, Result<E::Message, RecvError>) -> R,
{
    #[inline]
    fn finish(&mut self, result: &mut Option<R>) {
        if let Some((at, outcome)) = self.outcome {
            *result = Some(self.then.take_out()(at, error::received(outcome, &mut self.place)));
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Waker};

    use super::*;
    use crate::channel::mpmc;

    /// It finds the select at work, and waits: the check of the select must find it.
    #[test]
    fn a_sender_that_comes_when_the_select_is_in_line_is_met_by_its_look() {
        let (sender, receiver) = mpmc::bounded(0);
        let mut receivers = [receiver];
        let mut case = AnyCase::new(&mut receivers, |at: usize, got: Result<u32, RecvError>| (at, got));
        let mut waiter = SelectWaiter::borrow();
        waiter.begin();
        assert!(!case.stand(0, &waiter, 0));
        let mut sending = pin!(sender.send_async(7));
        assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        waiter.ticket.open();
        assert!(matches!(case.look(0, &waiter), Looked::Done));
        case.leave();
        assert!(case.is_done());
        let mut result = None;
        case.finish(&mut result);
        assert_eq!(result, Some((0, Ok(7))));
    }
}
