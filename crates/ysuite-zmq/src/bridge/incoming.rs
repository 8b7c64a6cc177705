//! [`Incoming`]: from a socket to a channel. While the channel is full nothing is taken from the socket: its mark fills, then the
//! sender's, then the sender waits.

use super::gate::Gate;
use super::sink::Sink;
use super::subscriptions::Subscriptions;
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::topic::Topic;
use crate::wire::{FromWire, Layout, Limits, Malformed, Parts};

/// Where the topic of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topics {
    None,
    /// The first part.
    Part,
    /// The beginning of the first part, before this byte.
    Joined(u8),
    /// The beginning of the message itself, of any length.
    Within,
}

impl Topics {
    /// What is between a topic and a message in the same part.
    pub(super) fn separator(self) -> Option<u8> {
        match self {
            Self::Joined(separator) => Some(separator),
            _ => None,
        }
    }

    /// The topic at the beginning of a part, and how many bytes of it are not the message's.
    fn head(self, part: &[u8]) -> Result<(usize, &[u8]), Malformed> {
        let Some(separator) = self.separator() else { return Ok((0, &[])) };
        let length = part.iter().position(|&byte| byte == separator).ok_or(Malformed::Content)?;
        Ok((length + 1, &part[..length]))
    }
}

pub(super) struct Incoming<T> {
    sink: Sink<T>,
    topics: Topics,
    subscriptions: Subscriptions,
    limits: Limits,
    closing: bool,
}

impl<T: FromWire> Incoming<T> {
    pub(super) fn new(gate: Gate<T>) -> Self {
        let (topics, subscriptions) = (Topics::None, Subscriptions::default());
        Self { sink: Sink::new(gate), topics, subscriptions, limits: Limits::default(), closing: false }
    }

    /// Its messages are about these.
    pub(super) fn with_topics(mut self, topics: Topics, subscriptions: Subscriptions) -> Self {
        (self.topics, self.subscriptions) = (topics, subscriptions);
        self
    }

    pub(super) fn limited(mut self, limits: Limits) -> Self {
        self.sink.limit(limits);
        self.limits = limits;
        self
    }

    /// Takes a message of the socket apart. False: there was none.
    fn received(&mut self, tools: &mut Tools) -> Result<bool, Failure> {
        let is_list = T::LAYOUT == Layout::Parts;
        let (mut list, mut topic, mut bytes) = (Parts::within(self.limits), None, 0);
        let mut expects_topic = self.topics == Topics::Part;
        let parts = tools.receive(|part| {
            if core::mem::take(&mut expects_topic) {
                topic = T::HAS_TOPIC.then(|| Topic::from(&part[..]));
            } else if is_list {
                bytes += part.len();
                list.push(part);
            }
        })?;
        if parts == 0 {
            return Ok(false);
        }
        bytes += tools.frame.len();
        let taken = match parts - usize::from(self.topics == Topics::Part) {
            0 => Err(Malformed::Parts),
            _ if is_list => list.whole(&mut tools.frame).and_then(|list| self.take_list(list, topic)),
            1 => self.take(&mut tools.frame, topic),
            _ => Err(Malformed::Parts),
        };
        match taken {
            Ok((head, messages)) => tools.received(bytes - head, messages),
            Err(malformed) => tools.refuse(malformed),
        }
        // MUTANT: Memory only: a frame is freed later.
        tools.frame.release();
        Ok(true)
    }

    /// Takes the messages of a frame. Returns how many of its bytes are its topic, and how many messages it has.
    fn take(&mut self, frame: &mut Frame, topic: Option<Topic>) -> Result<(usize, usize), Malformed> {
        let (head, joined) = self.topics.head(frame)?;
        let topic = topic.or_else(|| T::HAS_TOPIC.then(|| Topic::from(joined)));
        let messages = self.sink.take(frame, head, 0, None)?;
        self.sink.set_topic(topic.as_ref(), messages);
        Ok((head, messages))
    }

    /// The same, of a message that is a list.
    fn take_list(&mut self, mut list: Vec<Frame>, topic: Option<Topic>) -> Result<(usize, usize), Malformed> {
        let (head, joined) = self.topics.head(&list[0])?;
        let topic = topic.or_else(|| T::HAS_TOPIC.then(|| Topic::from(joined)));
        if head > 0 {
            list[0] = Frame::copied(&list[0][head..]).map_err(|_| Malformed::Memory)?;
        }
        let messages = self.sink.take_list(list)?;
        self.sink.set_topic(topic.as_ref(), messages);
        Ok((head, messages))
    }
}

impl<T: FromWire> Work for Incoming<T> {
    // MUTANT: Speed only: how many frames are delivered between two polls.
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        // The first frame is delivered at once, those after it in growing batches.
        let (mut moved, mut together) = (0, 1);
        while self.sink.deliver(&mut moved) && moved < AT_ONCE && !self.closing {
            let (mut frames, room) = (0, self.sink.room().unwrap_or(usize::MAX));
            // One at least: where the channel is full its first message waits here, and asks for room. Beyond the room no more than
            // that frame is taken.
            while frames < together && (frames == 0 || self.sink.held() < room) && self.received(tools)? {
                frames += 1;
            }
            if frames == 0 {
                break;
            }
            // Also for a malformed frame: a peer that sends such frames without end does not keep the bridge from
            // everything else.
            moved += frames;
            // Frames without a message in them fill no room: of those there may be more rounds than a number has doublings.
            together = (together * 2).min(AT_ONCE);
        }
        tools.counters.dropped.add(self.sink.take_replaced());
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        let (full, ended) = (self.sink.is_blocked(), self.sink.has_ended());
        Wanted { sink: full && !ended, receive: !full && !ended, ..Wanted::default() }
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.closing = true;
        Ok(())
    }

    fn is_done(&mut self) -> bool {
        !self.sink.is_blocked()
    }

    fn left(&mut self) -> usize {
        self.sink.left()
    }

    fn subscribe(&mut self, topic: Topic, asks: bool, tools: &Tools) -> Result<bool, Failure> {
        if self.topics != Topics::None {
            match asks {
                true => self.subscriptions.add(topic, &tools.socket)?,
                false => self.subscriptions.remove(&topic, &tools.socket)?,
            }
        }
        Ok(self.topics != Topics::None)
    }

    // MUTANT: Speed only: asked only of a bridge that has given nothing to libzmq, and costs one check in each turn.
    /// A subscription, which libzmq would keep for a publisher that is gone.
    fn lingers(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ysuite::spsc;

    use super::*;
    use crate::context::Context;
    use crate::event::{self, Event};
    use crate::ffi::{Kind, option};
    use crate::socket::Socket;
    use crate::statistics::Counters;

    /// Stepped by hand, with a peer that sends to it.
    struct Stepped {
        incoming: Incoming<u64>,
        tools: Tools,
        received: spsc::Receiver<u64>,
        events: ysuite::mpmc::Receiver<Event>,
        from: Socket,
    }

    impl Stepped {
        fn new(kind: Kind, room: Option<usize>) -> Self {
            let context = Context::of_the_process().unwrap();
            let with_topic = kind == Kind::Sub;
            let [socket, from] = [kind, if with_topic { Kind::XPub } else { Kind::Push }]
                .map(|kind| Socket::new(&context, kind).unwrap());
            let address = Context::fresh_name("incoming");
            from.bind(&address).unwrap();
            if with_topic {
                socket.set_bytes(option::SUBSCRIBE, b"").unwrap();
            }
            socket.connect(&address).unwrap();
            // Its subscription.
            assert_eq!(from.receive(&mut Frame::empty()).is_ok_and(|there| there), with_topic);
            let (sender, received) = room.map_or_else(spsc::unbounded, spsc::bounded);
            let (told, events) = event::channel();
            let tools = Tools::new(socket, Arc::new(Counters::default()), told).unwrap();
            let topics = if with_topic { Topics::Part } else { Topics::None };
            let incoming = Incoming::new(Gate::Waits(sender)).with_topics(topics, Subscriptions::default());
            Self { incoming, tools, received, events, from }
        }

        fn send(&self, parts: &[&[u8]]) {
            for (at, part) in parts.iter().enumerate() {
                self.from.send(&mut Frame::copied(part).unwrap(), at + 1 < parts.len()).unwrap();
            }
        }

        fn step(&mut self) -> usize {
            self.incoming.step(&mut self.tools).unwrap()
        }

        fn all(&mut self) -> Vec<u64> {
            self.received.try_iter().collect()
        }
    }

    #[test]
    fn a_frame_comes_in_as_many_parts_as_it_should() {
        let record = &7u64.to_le_bytes()[..];
        let (pulled, subscribed): ([&[u8]; 1], [&[u8]; 2]) = ([record], [b"topic", record]);
        let cases = [(Kind::Pull, &pulled[..], &[b"more", record][..]), (Kind::Sub, &subscribed[..], &[record][..])];
        for (kind, good, bad) in cases {
            let mut side = Stepped::new(kind, None);
            side.send(bad);
            side.send(&[&[b"more" as &[u8]], good].concat());
            side.step();
            assert_eq!(side.all(), []);
            let malformed = Event::Malformed(Malformed::Parts);
            assert_eq!(side.events.try_iter().collect::<Vec<_>>(), [malformed.clone(), malformed]);
            side.send(good);
            side.step();
            assert_eq!(side.all(), [7]);
        }
    }

    #[test]
    fn nothing_more_is_taken_once_it_closes() {
        let mut side = Stepped::new(Kind::Pull, None);
        side.incoming.close(&mut side.tools).unwrap();
        side.send(&[&7u64.to_le_bytes()]);
        assert_eq!((side.step(), side.all(), side.incoming.is_done()), (0, vec![], true));
    }

    /// A peer that sends malformed frames without end does not keep the bridge from everything else.
    #[test]
    fn so_much_is_taken_at_once() {
        let mut side = Stepped::new(Kind::Pull, None);
        (0..1_000).for_each(|_| side.send(&[b"none"]));
        assert!(side.step() >= AT_ONCE);
        assert!(side.tools.counters.read().malformed < 1_000);
    }

    /// Frames with nothing of ours in them fill no room, so that more of them come than a number has doublings.
    ///
    /// Claim: A full channel of a bridge accepts any number of malformed frames.
    #[test]
    fn one_that_is_full_takes_any_number_of_malformed_frames() {
        let mut side = Stepped::new(Kind::Pull, Some(1));
        side.send(&[&7u64.to_le_bytes()]);
        assert_eq!(side.step(), 2);
        (0..200).for_each(|_| side.send(&[b"none"]));
        while side.tools.counters.read().malformed < 200 {
            side.step();
        }
        assert_eq!(side.all(), [7]);
    }

    /// One frame beyond the room, which asks for more of it.
    #[test]
    fn one_that_is_full_wants_room_and_nothing_else() {
        let mut side = Stepped::new(Kind::Pull, Some(1));
        assert_eq!(side.incoming.wanted(), Wanted { receive: true, ..Wanted::default() });
        (0..4u64).for_each(|number| side.send(&[&number.to_le_bytes()]));
        side.step();
        assert_eq!(side.incoming.wanted(), Wanted { sink: true, ..Wanted::default() });
        assert!(!side.incoming.is_done());
        assert_eq!((side.tools.counters.read().messages_in, side.all()), (2, vec![0]));
        side.step();
        assert_eq!((side.tools.counters.read().messages_in, side.all()), (3, vec![1]));
        // There is no receiver: nothing is wanted, and what was taken is left.
        drop(core::mem::replace(&mut side.received, spsc::bounded(1).1));
        assert_eq!(side.incoming.wanted(), Wanted::default());
        assert_eq!(side.incoming.left(), 1);
        assert_eq!(side.incoming.wanted(), Wanted::default());
    }
}
