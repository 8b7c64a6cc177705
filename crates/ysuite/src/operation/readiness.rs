//! Waiting until one of several handles is ready, whatever it does then.

use core::task::{Context, Poll};

use super::Operation;
use crate::os::Deadline;
use crate::wait::SharedBackoff;
use crate::wait::many::{ManyWait, SharedEnd};

/// The operation that is possible when the handle is ready, and changes nothing.
pub(crate) struct Readiness<'a, S: SharedEnd> {
    end: S,
    backoff: &'a SharedBackoff,
    /// Once it waits.
    wait: Option<ManyWait<S>>,
}

impl<'a, S: SharedEnd> Readiness<'a, S> {
    #[inline]
    pub(crate) fn new(end: S, backoff: &'a SharedBackoff) -> Self {
        Self { end, backoff, wait: None }
    }

    /// As [`ManyWait::block_behind`].
    pub(crate) fn block_behind(&mut self, deadline: Deadline, is_crowded: bool, look: impl FnMut() -> bool) -> bool {
        let backoff = self.backoff;
        self.wait().block_behind(backoff, deadline, is_crowded, look)
    }

    fn wait(&mut self) -> &mut ManyWait<S> {
        let end = self.end;
        self.wait.get_or_insert_with(|| ManyWait::new(end, false))
    }
}

impl<S: SharedEnd> Operation for Readiness<'_, S> {
    type Place = ();
    type Outcome = ();
    const OWNS: bool = false;

    #[inline]
    fn attempt(&mut self, (): &mut ()) -> Option<()> {
        self.end.is_ready().then_some(())
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        let backoff = self.backoff;
        self.wait().block(backoff, deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.wait().poll(context)
    }

    fn leave(&mut self) {
        self.wait = None;
    }
}
