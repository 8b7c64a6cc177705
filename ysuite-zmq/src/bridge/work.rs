//! [`Work`]: what one kind of bridge does between its channel and its socket. The engine calls it and sleeps for it.

use std::task::Waker;
use std::time::{Duration, Instant};

use ysuite::signal::YSocketpair;

use super::tools::Tools;
use crate::error::Failure;
use crate::event::Event;

/// Messages moved between two looks at anything else.
pub(super) const AT_ONCE: usize = 256;

/// Between two tries where there was no room and the socket does not tell when there is.
pub(super) const AGAIN: Duration = Duration::from_millis(1);

/// What may wake a bridge that could move nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The channel from which messages leave has one.
    pub(super) source: bool,
    /// The channel into which messages come has room.
    pub(super) sink: bool,
    /// The socket has something.
    pub(super) receive: bool,
    /// The socket has room.
    pub(super) send: bool,
    /// Or this moment has come.
    pub(super) until: Option<Instant>,
}

/// In the hands of the bridge's thread.
pub(super) trait Work: Send + 'static {
    /// Moves what can be moved without waiting, about so many messages as [`AT_ONCE`]. Answers how many that were.
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure>;

    /// When the last step could move nothing.
    fn wanted(&mut self) -> Wanted;

    /// The bridge is about to sleep for that, or is never idle, and is asked now and then. The set of the channel from
    /// which messages leave is given.
    fn stand(&mut self, _: Wanted, _: &mut YSocketpair) {}

    /// What has happened to the connections.
    fn noticed(&mut self, _: &Event) {}

    /// Tells of what has happened to the connections since the last look.
    fn listen(&mut self, tools: &mut Tools) -> Result<(), Failure> {
        while let Some(event) = tools.hear()? {
            self.noticed(&event);
            tools.tell(event);
        }
        Ok(())
    }

    /// Says what was kept back while there was something to move: the bridge is about to sleep.
    fn rest(&mut self, _: &mut Tools) -> Result<(), Failure> {
        Ok(())
    }

    /// Sleeps by this function. Where the end of the channel into which messages come has to be told, and its set does not tell
    /// it alone, that end wakes the waker.
    fn asleep(&mut self, _: Wanted, _: &Waker, sleep: &mut dyn FnMut()) {
        sleep();
    }

    /// From now on nothing more is taken from the network; what is in the channel still leaves.
    fn close(&mut self, tools: &mut Tools) -> Result<(), Failure>;

    /// Whether nothing is left to be done, once it is closed.
    fn is_done(&mut self) -> bool;

    /// Whether the other side has been told all that it may wait for, once nothing is left to be done here.
    fn has_said_all(&mut self) -> bool {
        true
    }

    /// Drops what has not been handed over, also what is in the channel, and says how many messages that were.
    fn left(&mut self) -> usize;

    /// Whether the other side itself says what it has received, so that nothing need be guessed from what lingers.
    fn is_acknowledged(&self) -> bool {
        false
    }

    /// Whether what libzmq has taken may still reach somebody.
    fn lingers(&self) -> bool {
        true
    }

    /// So many subscribers are there now.
    fn subscribers(&self) -> usize {
        0
    }
}
