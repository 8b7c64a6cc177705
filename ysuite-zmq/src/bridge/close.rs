//! [`Closed`]: what the end of a bridge has achieved.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::signal::YSocketpair;

use super::tools::Tools;
use super::work::Work;
use crate::ffi::option;
use crate::monitor::{Monitor, Seen};

/// How a bridge has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Closed {
    /// Everything was handed to the system's network, or received. Of a duplex: the other side has received everything, and has said so.
    Flushed,
    /// The time was over before that.
    Unsent {
        /// Messages that never left the channel or the bridge.
        messages: usize,
        /// Whether libzmq had frames beside those, which nobody can count: it was still writing when the time was over.
        more: bool,
    },
}

/// A bridge on its way out, in the hands of its thread.
pub(super) struct Ending<W> {
    pub(super) work: W,
    pub(super) tools: Tools,
    pub(super) monitor: Monitor,
    pub(super) channel: YSocketpair,
}

/// Between two looks while the socket has no room: libzmq may tell of room that it does not have.
const PAUSE: Duration = Duration::from_millis(1);

impl<W: Work> Ending<W> {
    /// Moves what is left until that moment, then drops it.
    pub(super) fn by(mut self, until: Instant) -> Closed {
        let sound = self.work.close(&mut self.tools).is_ok();
        while sound && self.work.step(&mut self.tools).is_ok_and(|moved| moved > 0 || !self.at_rest()) {
            if Instant::now() >= until {
                break;
            }
        }
        let messages = self.work.left();
        let more = !self.flushed(until);
        if messages > 0 || more { Closed::Unsent { messages, more } } else { Closed::Flushed }
    }
}
