//! Waiting for the disconnection: senders that want to know when no message that they send would be received. Any
//! thread.
//!
//! They have a list of their own, so that no message and no room wakes them. The thread that closes the channel
//! notifies all.

use core::time::Duration;

use super::Sender;
use super::shared::UntilClosed;
use crate::os::Deadline;
use crate::wait::many::{ManyWait, SharedEnd};

impl<T> Sender<T> {
    // WAITS: until the receivers have disconnected or the channel is closed, also in `closed`; ends: that, the
    //     deadline; spin: as `wait/many.rs`; test: tests/suite/mpmc/close.rs: senders_wait_for_the_end_of_the_receivers
    /// Waits until all receivers have disconnected, or the channel is closed. Spins for a while, as a send without room
    /// does, and then sleeps in the kernel.
    #[doc = cost!(mpmc WAIT_CLOSED)]
    pub fn wait_closed(&self) {
        self.block_until_closed(Deadline::Never);
    }

    /// Waits until all receivers have disconnected, or the channel is closed (true), for at most `timeout` (false).
    /// `Duration::MAX` means no limit.
    #[doc = cost!(mpmc WAIT_CLOSED)]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.block_until_closed(Deadline::after(timeout))
    }

    /// Waits until all receivers have disconnected, or the channel is closed. Needs no particular runtime.
    #[doc = cost!(mpmc CLOSED)]
    pub async fn closed(&self) {
        let mut wait = ManyWait::new(UntilClosed(&self.shared), false);
        while !self.shared.is_disconnected() {
            core::future::poll_fn(|context| wait.poll(context)).await;
        }
    }

    fn block_until_closed(&self, deadline: Deadline) -> bool {
        self.wait_closed_by(|end| end, deadline, || false)
    }

    /// As the others, with a wait that also ends, as at its deadline, when `is_stopped`: then what `side` makes is
    /// ready.
    pub(in crate::channel) fn wait_closed_by<'a, S: SharedEnd>(
        &'a self,
        side: impl FnOnce(UntilClosed<'a, T>) -> S,
        deadline: Deadline,
        is_stopped: impl Fn() -> bool,
    ) -> bool {
        let mut wait = ManyWait::new(side(UntilClosed(&self.shared)), false);
        while !self.shared.is_disconnected() {
            // MUTANT: A wait that ends before its deadline has found the disconnection, which is final.
            if is_stopped() || !wait.block(&self.backoff, deadline) {
                return self.shared.is_disconnected();
            }
        }
        true
    }
}
