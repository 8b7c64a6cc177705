//! [`Publishing`]: from a channel to the subscribers. Each message goes to all of them, in a frame after its topic.
//!
//! libzmq's PUB silently drops what a subscriber has no room for. Here it is an XPUB that refuses instead, so that the
//! bridge can count drops, or wait. It also reports subscriptions, so that the first message need not be lost to a slow
//! joiner. A message that is dropped for one subscriber alone is handed over once more, to a socket that drops. From
//! then on libzmq leaves that subscriber out, until it has room again, and refuses nothing because of it. So its next
//! drops are not noticed.

use std::collections::HashMap;
use std::time::Instant;

use ysuite::signal::YSocketpair;

use super::outgoing::Outgoing;
use super::source::Source;
use super::tools::Tools;
use super::work::{AGAIN, AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::ffi::option;
use crate::frame::Frame;
use crate::topic::Topic;
use crate::wire::ToWire;

/// What a publisher does while a subscriber has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Drops the message for each subscriber that has no room, and for no other: the slowest does not slow down the
    /// others, and no subscriber misses what another has no room for. As libzmq's PUB, which does not report how much
    /// it drops: [`dropped`](crate::Statistics::dropped) counts the first message, or frame of them, each time that a
    /// subscriber has run out of room, and not what it misses from then until it has read about half of its mark.
    #[default]
    Drop,
    /// Drops the message for all, and counts it: subscribers that have the same topics receive the same messages. One
    /// that has stopped silences all.
    DropForAll,
    /// Waits: the channel fills, and then its senders wait. A subscriber that has stopped stops all others.
    Wait,
}

pub(super) struct Publishing<S: Source> {
    outgoing: Outgoing<S>,
    when_full: WhenFull,
    subscriptions: Subscriptions,
    /// There was no room: when it is tried again. A full XPUB says that it has room (libzmq#1597).
    again: Option<Instant>,
}

/// Those that our topics reach.
struct Subscriptions {
    frame: Option<Frame>,
    /// Nothing: each message has its own, and any may be one.
    topic: Option<Topic>,
    reached: usize,
    /// All, each with how many have asked for it. As much is in libzmq.
    all: HashMap<Box<[u8]>, usize>,
}

impl<S: Source<Message: ToWire>> Publishing<S> {
    pub(super) fn new(outgoing: Outgoing<S>, when_full: WhenFull) -> Self {
        let topic = outgoing.own_topic().cloned();
        let subscriptions = Subscriptions { frame: None, topic, reached: 0, all: HashMap::new() };
        Self { outgoing, when_full, subscriptions, again: None }
    }
}

impl<S: Source<Message: ToWire>> Publishing<S> {
    /// Hands over the next frame, after its topic. False: a subscriber has no room, and the socket drops nothing.
    fn send(&mut self, tools: &Tools) -> Result<bool, Failure> {
        // MUTANT: libzmq takes all parts of a message or none.
        // A first part that is taken means that the others will be.
        if let Some(topic) = self.outgoing.topic()
            && !tools.send(&mut Frame::copied(topic)?, true, 0)?
        {
            return Ok(false);
        }
        self.outgoing.send(tools)
    }
}

impl Subscriptions {
    /// Reads the subscriptions and unsubscriptions. Returns how many there were.
    fn look(&mut self, tools: &Tools) -> Result<usize, Failure> {
        let mut frame = self.frame.take().unwrap_or_default();
        let mut words = 0;
        while words < AT_ONCE && tools.socket.receive(&mut frame)? {
            words += 1;
            match frame.split_first() {
                Some((1, beginning)) => self.come(beginning),
                Some((0, beginning)) => self.go(beginning),
                _ => {}
            }
        }
        self.frame = Some(frame);
        Ok(words)
    }

    fn come(&mut self, beginning: &[u8]) {
        self.reached += usize::from(self.counts(beginning));
        *self.all.entry(beginning.into()).or_default() += 1;
    }

    fn go(&mut self, beginning: &[u8]) {
        let Some(times) = self.all.get_mut(beginning) else { return };
        *times -= 1;
        if *times == 0 {
            self.all.remove(beginning);
        }
        self.reached -= usize::from(self.counts(beginning));
    }

    fn counts(&self, beginning: &[u8]) -> bool {
        self.topic.as_ref().is_none_or(|topic| topic.starts_with(beginning))
    }

    /// Those that this topic reaches.
    fn reached_by(&self, topic: &[u8]) -> usize {
        (0..=topic.len()).filter_map(|length| self.all.get(&topic[..length])).sum()
    }
}

impl<S: Source<Message: ToWire>> Work for Publishing<S> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        // A thread that waits for subscribers gets its result before the bridge sleeps again.
        let mut moved = self.subscriptions.look(tools)?;
        self.again = None;
        while moved < AT_ONCE {
            let messages = self.outgoing.next(tools)?;
            if messages == 0 {
                break;
            }
            let went = self.send(tools)?;
            match self.when_full {
                _ if went => {}
                WhenFull::Drop => {
                    tools.counters.dropped.add(messages);
                    tools.socket.set(option::XPUB_NO_DROP, 0)?;
                    let sent = self.send(tools);
                    tools.socket.set(option::XPUB_NO_DROP, 1)?;
                    sent?;
                }
                WhenFull::DropForAll => {
                    tools.counters.dropped.add(messages);
                    self.outgoing.release();
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

    fn subscribers(&self, topic: Option<&Topic>) -> usize {
        topic.map_or(self.subscriptions.reached, |topic| self.subscriptions.reached_by(topic))
    }
}

#[cfg(test)]
mod tests {
    use ysuite::spsc;

    use super::super::incoming::Topics;
    use super::super::outgoing::tests::{Shared, leaves_and_comes_back, tools};
    use super::*;
    use crate::context::Context;
    use crate::ffi::Kind;
    use crate::socket::Socket;

    fn publishing(when_full: WhenFull) -> (Publishing<spsc::Receiver<u64>>, spsc::Sender<u64>, Tools, String) {
        let (jobs, out) = spsc::unbounded::<u64>();
        let (tools, address) = tools(Kind::XPub, |socket| {
            socket.set(option::XPUB_NO_DROP, 1).unwrap();
            socket.set(option::XPUB_VERBOSER, 1).unwrap();
            socket.set(option::SEND_MARK, 1).unwrap();
        });
        let outgoing = Outgoing::new(out, 1, 1 << 20).about("weather.rain".into(), Topics::Part);
        (Publishing::new(outgoing, when_full), jobs, tools, address)
    }

    fn subscriber(address: &str, topic: &str) -> Socket {
        let socket = Socket::new(&Context::of_the_process().unwrap(), Kind::Sub).unwrap();
        socket.set(option::RECEIVE_MARK, 1).unwrap();
        socket.set_bytes(option::SUBSCRIBE, topic.as_bytes()).unwrap();
        socket.connect(address).unwrap();
        socket
    }

    /// Steps until a subscriber has come or gone.
    fn step(publishing: &mut Publishing<spsc::Receiver<u64>>, tools: &mut Tools) {
        while publishing.step(tools).unwrap() == 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn those_that_the_topic_reaches_are_counted() {
        let (mut publishing, _jobs, mut tools, address) = publishing(WhenFull::Drop);
        let mut there = Vec::new();
        for (topic, reached) in [("weather", 1), ("sports", 1), ("weather.rain", 2), ("weather.snow", 2)] {
            there.push(subscriber(&address, topic));
            step(&mut publishing, &mut tools);
            assert_eq!(publishing.subscribers(None), reached, "{topic}");
        }
        for reached in [2, 1, 1, 0] {
            drop(there.pop());
            step(&mut publishing, &mut tools);
            assert_eq!(publishing.subscribers(None), reached);
        }
    }

    #[test]
    fn so_much_is_published_at_once() {
        let (mut publishing, mut jobs, mut tools, _) = publishing(WhenFull::Drop);
        jobs.send_batch(0..300).unwrap();
        assert_eq!([(); 3].map(|()| publishing.step(&mut tools).unwrap()), [AT_ONCE, 300 - AT_ONCE, 0]);
    }

    /// A full socket does not report when it has room.
    #[test]
    fn one_that_waits_for_a_subscriber_looks_again_soon() {
        let (mut publishing, mut jobs, mut tools, address) = publishing(WhenFull::Wait);
        let subscriber = subscriber(&address, "");
        step(&mut publishing, &mut tools);
        let free = Wanted { source: true, receive: true, ..Wanted::default() };
        assert_eq!(publishing.wanted(), free);
        jobs.send_batch(0..20).unwrap();
        let (mut frame, mut came) = (Frame::empty(), 0);
        while came < 20 {
            publishing.step(&mut tools).unwrap();
            let wanted = publishing.wanted();
            if tools.counters.read().messages_out < 20 {
                assert!(wanted.until.is_some() && !wanted.source && wanted.receive && !wanted.send);
            } else {
                assert_eq!(wanted, free);
            }
            // A topic, and a message.
            while subscriber.receive(&mut frame).unwrap() {
                came += u64::from(!frame.more());
            }
        }
        assert_eq!((came, tools.counters.read().dropped), (20, 0));
    }

    #[test]
    fn one_that_wants_nothing_is_detached() {
        let publishing = |outgoing| Publishing::new(outgoing, WhenFull::Drop);
        leaves_and_comes_back(Shared::new(Kind::XPub, publishing));
    }
}
