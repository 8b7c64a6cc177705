//! Waiting for the disconnection: senders that want to know when no message that they send would be received. Any
//! thread.
//!
//! They have a list of their own, so that no message and no room wakes them. The thread that closes the channel
//! notifies all.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use super::Sender;
use super::shared::UntilClosed;
use crate::foreign::Foreign;
use crate::operation::{self, Readiness, Task};
use crate::os::Deadline;
use crate::wait::many::SharedEnd;

impl<T> Sender<T> {
    // WAITS: until the receivers have disconnected or the channel is closed, also in `closed`; ends: that, the
    //     deadline; spin: as `wait/many.rs`; test: tests/suite/mpmc/close.rs: senders_wait_for_the_end_of_the_receivers
    /// Waits until all receivers have disconnected, or the channel is closed. Spins for a while, as a send without room
    /// does, and then sleeps in the kernel.
    #[doc = cost!(mpmc WAIT_CLOSED)]
    pub fn wait_closed(&self) {
        self.wait_closed_by(|end| end, Deadline::Never);
    }

    /// Waits until all receivers have disconnected, or the channel is closed (true), for at most `timeout` (false).
    /// `Duration::MAX` means no limit.
    #[doc = cost!(mpmc WAIT_CLOSED)]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.wait_closed_by(|end| end, Deadline::after(timeout))
    }

    /// Waits until all receivers have disconnected, or the channel is closed. Needs no particular runtime.
    #[doc = cost!(mpmc CLOSED)]
    pub fn closed(&self) -> ClosedFuture<'_, T> {
        ClosedFuture(Task::new(Readiness::new(UntilClosed(&self.shared), &self.backoff), Foreign::new(())))
    }

    /// As the others, with a wait that ends where what `side` makes is ready.
    pub(in crate::channel) fn wait_closed_by<'a, S: SharedEnd>(
        &'a self,
        side: impl FnOnce(UntilClosed<'a, T>) -> S,
        deadline: Deadline,
    ) -> bool {
        let closed = Readiness::new(side(UntilClosed(&self.shared)), &self.backoff);
        _ = operation::block(closed, &mut (), deadline);
        self.shared.is_disconnected()
    }
}

/// A wait of a task for the disconnection: see [`closed`](Sender::closed).
#[must_use = "futures do nothing unless they are polled"]
pub struct ClosedFuture<'a, T>(Task<Readiness<'a, UntilClosed<'a, T>>>);

impl<T> Future for ClosedFuture<'_, T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().0).poll(context)
    }
}

impl<T> fmt::Debug for ClosedFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosedFuture").finish_non_exhaustive()
    }
}
