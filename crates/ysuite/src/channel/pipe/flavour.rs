//! Whether a pipe is a queue or a rendezvous: an operation of a task becomes one of either at its first wait. So a task
//! that finds room, or a message, does not ask. One task at a time.

use core::task::{Context, Poll};

use crate::operation::{Operation, step};
use crate::os::Deadline;

/// A borrowed handle, which has an operation on places `P` in either flavour.
pub(in crate::channel) trait Choose<P>: Sized {
    type Outcome;
    type Queue: Operation<Place = P, Outcome = Self::Outcome>;
    type Meeting: Operation<Place = P, Outcome = Self::Outcome>;

    fn choose(self) -> Flavoured<Self, P>;
}

/// An operation that is one of a queue or one of a rendezvous.
pub(in crate::channel) enum Flavoured<H: Choose<P>, P> {
    /// Not yet chosen: of this handle.
    Either(H),
    Queue(H::Queue),
    Meeting(H::Meeting),
    /// It is being chosen.
    Neither,
}

impl<H: Choose<P>, P> Flavoured<H, P> {
    #[inline(always)]
    pub(in crate::channel) fn new(handle: H) -> Self {
        Self::Either(handle)
    }

    /// The handle, before the first wait.
    #[inline(always)]
    pub(super) fn handle(&mut self) -> Option<&mut H> {
        match self {
            Self::Either(handle) => Some(handle),
            _ => None,
        }
    }

    /// At the first wait.
    #[inline(always)]
    fn chosen(&mut self) -> &mut Self {
        if matches!(self, Self::Either(_)) {
            self.choose();
        }
        self
    }

    #[inline(never)]
    fn choose(&mut self) {
        if let Self::Either(handle) = core::mem::replace(self, Self::Neither) {
            *self = handle.choose();
        }
    }
}

// USER CODE: as of the operation
impl<H: Choose<P>, P> Operation for Flavoured<H, P> {
    type Place = P;
    type Outcome = H::Outcome;
    const OWNS: bool = false;

    fn attempt(&mut self, place: &mut P) -> Option<H::Outcome> {
        match self {
            Self::Queue(queue) => queue.attempt(place),
            Self::Meeting(meeting) => meeting.attempt(place),
            Self::Either(_) | Self::Neither => None,
        }
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        match self.chosen() {
            Self::Queue(queue) => queue.block(deadline),
            Self::Meeting(meeting) => meeting.block(deadline),
            Self::Either(_) | Self::Neither => true,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.chosen() {
            Self::Queue(queue) => queue.poll(context),
            Self::Meeting(meeting) => meeting.poll(context),
            Self::Either(_) | Self::Neither => Poll::Ready(()),
        }
    }

    fn step(&mut self, place: &mut P, context: &mut Context<'_>) -> Poll<H::Outcome> {
        match self.chosen() {
            Self::Meeting(meeting) => meeting.step(place, context),
            _ => step(self, place, context),
        }
    }

    fn withdraw(&mut self, place: &mut P) -> Option<H::Outcome> {
        match self {
            Self::Meeting(meeting) => meeting.withdraw(place),
            _ => None,
        }
    }

    #[inline(always)]
    fn leave(&mut self) {
        match self {
            Self::Queue(queue) => queue.leave(),
            Self::Meeting(meeting) => meeting.leave(),
            Self::Either(_) | Self::Neither => {}
        }
    }
}
