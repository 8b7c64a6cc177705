//! Waiting for the end: senders that want to know when nothing they send would be received. Any thread.
//!
//! They have a list of their own, so that no message and no room wakes them; the thread that ends the channel tells all.

use core::time::Duration;

use super::Sender;
use super::shared::UntilClosed;
use crate::os::Deadline;
use crate::wait::many::ManyWait;

impl<T> Sender<T> {
    /// Waits until all receivers are gone, or the channel is closed. Spins for a while, as a send without room does, and
    /// sleeps in the kernel.
    pub fn wait_closed(&self) {
        self.block_until_closed(Deadline::Never);
    }

    /// Waits until all receivers are gone, or the channel is closed (true), but no longer than `timeout` (false).
    /// `Duration::MAX` is no limit.
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.block_until_closed(Deadline::after(timeout))
    }

    /// Waits until all receivers are gone, or the channel is closed. Needs no particular runtime. Cancel-safe: there is
    /// nothing to lose.
    pub async fn closed(&self) {
        let mut wait = ManyWait::new(UntilClosed(&self.shared), false);
        while !self.shared.is_disconnected() {
            core::future::poll_fn(|context| wait.poll(context)).await;
        }
    }

    fn block_until_closed(&self, deadline: Deadline) -> bool {
        let mut wait = ManyWait::new(UntilClosed(&self.shared), false);
        while !self.shared.is_disconnected() {
            if !wait.block(&self.backoff, deadline) {
                return self.shared.is_disconnected();
            }
        }
        true
    }
}
