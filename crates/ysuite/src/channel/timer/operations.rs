//! The operation of a timer. Any thread.

#[cfg(feature = "select")]
use core::convert::Infallible;
use core::task::{Context, Poll};
use std::time::Instant;

use super::{RecvError, Timer};
#[cfg(feature = "select")]
use crate::channel::select::{OperationSource, SelectRecv};
use crate::operation::Operation;
use crate::os::{Deadline, sleep_on};
use crate::sync::AtomicU32;

/// The next tick is received.
#[doc(hidden)]
#[derive(Debug)]
pub struct TimerTick<'a>(pub(super) &'a Timer);

impl Operation for TimerTick<'_> {
    type Place = Option<Instant>;
    type Outcome = Result<(), RecvError>;

    fn attempt(&mut self, place: &mut Option<Instant>) -> Option<Result<(), RecvError>> {
        *place = self.0.take(Instant::now());
        place.map(|_| Ok(()))
    }

    // WAITS: for the next tick or the deadline, parked, without a spin setting; of several that wait for the same timer
    //     one gets the tick; test: tests/suite/timer.rs: clones_share_the_ticks
    fn block(&mut self, deadline: Deadline) -> bool {
        // No thread wakes this one: the word never changes. Another may take the tick: then this one waits for the next.
        sleep_on(&AtomicU32::new(0), 0, deadline.or_before(self.0.due()));
        true
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        if self.0.is_full() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn leave(&mut self) {}

    fn due(&self) -> Deadline {
        Deadline::Never.or_before(self.0.due())
    }

    fn moves(&self) -> u64 {
        self.0.moves()
    }
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a> SelectRecv for &'a Timer {
    type Message = Instant;
    type Error = RecvError;
    type Source = OperationSource<TimerTick<'a>>;

    fn into_source(self) -> Self::Source {
        OperationSource(TimerTick(self))
    }
}

/// The next tick is there, and not received. Made by [`due`](crate::select::list::due).
#[cfg(feature = "select")]
#[derive(Debug)]
pub struct Due<'a>(pub(in crate::channel) &'a Timer);

// MUTANT: Only a select uses it, which neither blocks in one operation nor has this one leave anything.
#[cfg(feature = "select")]
impl Operation for Due<'_> {
    type Place = Option<()>;
    type Outcome = Result<(), Infallible>;

    fn attempt(&mut self, place: &mut Option<()>) -> Option<Result<(), Infallible>> {
        *place = self.0.is_full().then_some(());
        place.map(Ok)
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        TimerTick(self.0).block(deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        TimerTick(self.0).poll(context)
    }

    fn leave(&mut self) {}

    fn due(&self) -> Deadline {
        TimerTick(self.0).due()
    }

    fn moves(&self) -> u64 {
        self.0.moves()
    }
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a> SelectRecv for Due<'a> {
    type Message = ();
    type Error = Infallible;
    type Source = OperationSource<Self>;

    fn into_source(self) -> Self::Source {
        OperationSource(self)
    }
}
