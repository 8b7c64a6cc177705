//! [`Publishing`]: from a channel to whoever has subscribed. Each message goes to all of them, in a frame behind its topic.
//!
//! libzmq's PUB drops without a word what a subscriber has no room for. Here it is an XPUB that refuses instead, so that drops
//! are counted, or waited for; and it tells of subscriptions, so that the first message need not be lost to a slow joiner.

use std::time::Instant;

use ysuite::signal::YSocketpair;

use super::outgoing::Outgoing;
use super::source::Source;
use super::tools::Tools;
use super::work::{AGAIN, AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::wire::ToWire;

/// What a publisher does while a subscriber has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Drops the message for all, and counts it: nobody is slowed down by the slowest.
    #[default]
    Drop,
    /// Waits: the channel fills, and then its senders wait. A subscriber that has stopped stops everybody.
    Wait,
}

pub(super) struct Publishing<S: Source> {
    outgoing: Outgoing<S>,
    topic: Vec<u8>,
    when_full: WhenFull,
    subscriptions: Subscriptions,
    /// There was no room: when it is tried again. A full XPUB says that it has room (libzmq#1597).
    again: Option<Instant>,
}

/// Those that our topic reaches.
#[derive(Default)]
struct Subscriptions {
    frame: Option<Frame>,
    reached: usize,
}

impl<S: Source<Message: ToWire>> Publishing<S> {
    pub(super) fn new(outgoing: Outgoing<S>, topic: Vec<u8>, when_full: WhenFull) -> Self {
        Self { outgoing, topic, when_full, subscriptions: Subscriptions::default(), again: None }
    }
}

impl Subscriptions {
    /// Takes in who has come and who has gone. Answers how many words of that there were.
    fn look(&mut self, tools: &Tools, topic: &[u8]) -> Result<usize, Failure> {
        let frame = self.frame.get_or_insert_with(Frame::empty);
        let mut words = 0;
        while words < AT_ONCE && tools.socket.receive(frame)? {
            words += 1;
            match frame.split_first() {
                Some((1, prefix)) if topic.starts_with(prefix) => self.reached += 1,
                Some((0, prefix)) if topic.starts_with(prefix) => self.reached = self.reached.saturating_sub(1),
                _ => {}
            }
        }
        Ok(words)
    }
}

impl<S: Source<Message: ToWire>> Work for Publishing<S> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        // Whoever waits for subscribers is answered before the bridge sleeps again.
        let mut moved = self.subscriptions.look(tools, &self.topic)?;
        self.again = None;
        while moved < AT_ONCE {
            let messages = self.outgoing.next(tools)?;
            if messages == 0 {
                break;
            }
            // A first part that is taken means that the second will be.
            let went = tools.send(&mut Frame::copied(&self.topic)?, true, 0)?
                && tools.send(&mut self.outgoing.frame, false, messages)?;
            match self.when_full {
                _ if went => {}
                WhenFull::Drop => {
                    tools.counters.dropped.add(messages);
                    self.outgoing.frame.release();
                }
                WhenFull::Wait => {
                    self.again = Some(Instant::now() + AGAIN);
                    break;
                }
            }
            self.outgoing.gone();
            moved += messages;
        }
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        Wanted { receive: true, send: false, until: self.again, ..self.outgoing.wanted() }
    }

    fn stand(&mut self, wanted: Wanted, set: &mut YSocketpair) {
        self.outgoing.stand_in(wanted.source, set);
    }

    fn close(&mut self, tools: &mut Tools) -> Result<(), Failure> {
        self.outgoing.close(tools)
    }

    fn is_done(&mut self) -> bool {
        self.outgoing.is_done()
    }

    fn left(&mut self) -> usize {
        self.outgoing.left()
    }

    fn subscribers(&self) -> usize {
        self.subscriptions.reached
    }
}
