//! [`Work`]: what one kind of bridge does between its channel and its socket. The engine calls it and sleeps for it.

use std::task::Waker;
use std::time::{Duration, Instant};

use ysuite::signal::YSocketpair;

use super::tools::Tools;
use crate::error::Failure;
use crate::event::Event;
use crate::topic::Topic;

/// Messages moved between two checks of anything else.
pub(super) const AT_ONCE: usize = 256;

/// Between two tries if there was no room and the socket does not report when there is.
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
    // MUTANT: Speed only.
    /// How often the thread offers its CPU to others before it looks again, while it finds nothing. Each look is a system call of
    /// libzmq; in bulk, more messages accumulate between two, and their sender has the CPU meanwhile.
    const YIELDS: u32 = 4;

    /// Moves what can be moved without waiting, about [`AT_ONCE`] messages. Returns how many.
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure>;

    /// When the last step could move nothing.
    fn wanted(&mut self) -> Wanted;

    /// The bridge is about to sleep for that, or is never idle, and calls this now and then. The argument is the set of
    /// the channel from which messages leave.
    fn stand(&mut self, _: Wanted, _: &mut YSocketpair) {}

    /// What has happened to the connections.
    fn noticed(&mut self, _: &Event) {}

    /// Reports what has happened to the connections since the last check.
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

    /// Sleeps by this function. If the sender of the channel into which messages come must notify the bridge, and its
    /// set does not do so alone, that sender wakes the waker.
    fn asleep(&mut self, _: Wanted, _: &Waker, sleep: &mut dyn FnMut()) {
        sleep();
    }

    /// From now on nothing more is taken from the network; what is in the channel still leaves.
    fn close(&mut self, tools: &mut Tools) -> Result<(), Failure>;

    /// Whether nothing is left to be done, once it is closed.
    fn is_done(&mut self) -> bool;

    /// Whether the other side has been sent all that it may wait for, once no work is left here.
    fn has_said_all(&mut self) -> bool {
        true
    }

    /// Drops what has not been handed over, also what is in the channel, and says how many messages that were.
    fn left(&mut self) -> usize;

    /// Whether the other side itself says what it has received, so that nothing need be guessed from what lingers.
    fn is_acknowledged(&self) -> bool {
        false
    }

    /// Whether what libzmq has taken may still reach a peer.
    fn lingers(&self) -> bool {
        true
    }

    /// The current number of subscribers: that this topic reaches, or those of the bridge's own topics.
    fn subscribers(&self, _: Option<&Topic>) -> usize {
        0
    }

    /// Asks for this topic from now on, or does not any more. False: this is no subscriber.
    fn subscribe(&mut self, _: Topic, _asks: bool, _: &Tools) -> Result<bool, Failure> {
        Ok(false)
    }
}
