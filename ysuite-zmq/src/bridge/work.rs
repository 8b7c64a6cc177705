//! [`Work`]: what one kind of bridge does between its channel and its socket. The engine calls it and sleeps for it.

use std::time::Instant;

use super::tools::Tools;
use crate::error::Failure;
use crate::socket::Ready;

/// Messages moved between two looks at anything else.
pub(super) const AT_ONCE: usize = 256;

/// In the hands of the bridge's thread.
pub(super) trait Work: Send + 'static {
    /// Moves what can be moved without waiting, about so many messages as [`AT_ONCE`]. Answers how many messages or frames that
    /// were.
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure>;

    /// What of the socket it waits for, when nothing could be moved.
    fn waits_for(&self) -> Ready;

    /// When it wants to be called again though nothing happens.
    fn next_call(&self) -> Option<Instant> {
        None
    }

    /// Whether all has been handed over that was taken from the channel, and nobody can put in more, or wants more out.
    fn is_over(&self) -> bool;

    /// Nothing more is taken from the network; what is in the channel still leaves.
    fn close(&mut self, tools: &mut Tools) -> Result<(), Failure>;

    /// Messages that have not been handed over: those in the channel too, which are dropped by this.
    fn left(&mut self) -> usize;

    /// Whether the other side is known to have everything.
    fn confirmed(&self) -> bool {
        false
    }

    /// So many subscribers are there now.
    fn subscribers(&self) -> usize {
        0
    }
}
