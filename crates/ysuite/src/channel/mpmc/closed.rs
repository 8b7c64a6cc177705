//! Waiting for the disconnection: senders that want to know when no message that they send would be received. Any
//! thread.
//!
//! They have a list of their own, so that no message and no room wakes them. The thread that closes the channel
//! notifies all.

use core::time::Duration;

use super::Sender;
use super::shared::UntilClosed;
use crate::channel::future::{Closable, ClosedFuture, UntilReady};
use crate::operation::{self, Readiness};
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
    pub fn closed(&self) -> ClosedFuture<'_, Self> {
        ClosedFuture::new(UntilReady::new(UntilClosed(&self.shared)))
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

impl<T> Closable for Sender<T> {
    type Wait<'a>
        = UntilReady<UntilClosed<'a, T>>
    where
        Self: 'a;
}
