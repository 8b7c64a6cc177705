//! The builders of publishers and subscribers.

use ysuite::{mpmc, spsc};

use super::build::{Publish, Subscribe, conflated, waiting};
use super::gate::Gate;
use super::incoming::{Incoming, Topics};
use super::outgoing::Outgoing;
use super::publish::{Publishing, WhenFull};
use super::sets::Sets;
use super::source::Source;
use super::started::{Started, start};
use super::subscriptions::Subscriptions;
use crate::error::Error;
use crate::ffi::{Kind, option};
use crate::socket::Socket;
use crate::topic::Topic;
use crate::wire::{FromWire, ToWire};

impl<S: Source<Message: ToWire>> Publish<S> {
    /// As [`Push::pack`](crate::Push::pack). A frame has messages of one topic: of messages with topics of their own, those
    /// that follow one another.
    pub fn pack(mut self, messages: usize) -> Self {
        self.options.pack = messages;
        self
    }

    /// Sets the topic of each message that has none of its own; empty by default.
    pub fn topic(mut self, topic: impl Into<Topic>) -> Self {
        self.topic = topic.into();
        self
    }

    /// Puts the topic, this byte and the message into one part, as some programs expect it: `weather 21`. By default the
    /// topic is a part of its own, before the message. The byte should not be in a topic: a subscriber takes what is
    /// before the first for the topic.
    pub fn joined_by(mut self, separator: u8) -> Self {
        self.places = Topics::Joined(separator);
        self
    }

    /// Sends each message alone, as programs do that have no topics: a subscriber gets those that begin with what it asks for. A
    /// topic of the message itself, or of the bridge, is not sent.
    pub fn without_topic(mut self) -> Self {
        self.places = Topics::Within;
        self
    }

    /// Sets what becomes of messages while a subscriber has no room; [`WhenFull::Drop`] by default.
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// As [`Push::start`](crate::Push::start).
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<Started, Error> {
        let Self { options, mut source, topic, places, when_full } = self;
        options.check()?;
        let sets = Sets::default().source(&mut source)?;
        let prepare = |socket: &Socket| {
            socket.set(option::XPUB_NO_DROP, 1)?;
            // Reports every subscriber that comes and goes, not only the first and the last.
            Ok(socket.set(option::XPUB_VERBOSER, 1)?)
        };
        let outgoing = Outgoing::new(source, options.pack, options.largest).about(topic, places);
        start(&options, Kind::XPub, prepare, sets, Publishing::new(outgoing, when_full))
    }
}

impl<T: FromWire> Subscribe<T> {
    /// As [`Pull::bounded`](crate::Pull::bounded), with the same default. A subscriber that stays full makes its publisher drop messages, or
    /// wait.
    pub fn bounded(mut self, messages: usize) -> Self {
        self.options.bound = Some(messages);
        self
    }

    /// Asks for everything whose topic begins so; may be called more than once. By default it asks for everything.
    /// [`Started::subscribe`] and [`Started::unsubscribe`] change that later.
    pub fn topic(mut self, beginning: impl Into<Topic>) -> Self {
        self.topics.get_or_insert_default().push(beginning.into());
        self
    }

    /// As [`topic`](Self::topic), for each of these; with none of them it asks for nothing yet.
    pub fn topics(mut self, beginnings: impl IntoIterator<Item: Into<Topic>>) -> Self {
        self.topics.get_or_insert_default().extend(beginnings.into_iter().map(Into::into));
        self
    }

    /// Expects the topic, this byte and the message in one part, as [`Publish::joined_by`] sends them. A part without
    /// the byte is malformed.
    pub fn joined_by(mut self, separator: u8) -> Self {
        self.places = Topics::Joined(separator);
        self
    }

    /// Expects messages alone, as [`Publish::without_topic`] sends them, and programs that have no topics: the bridge
    /// asks for how they begin. Where a message is [`Published`](crate::Published) its topic is empty.
    pub fn without_topic(mut self) -> Self {
        self.places = Topics::Within;
        self
    }

    /// As [`Pull::start`](crate::Pull::start).
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<(Started, spsc::Receiver<T>), Error> {
        let (gate, sets, receiver) = waiting(&self.options)?;
        Ok((self.begin(gate, sets)?, receiver))
    }

    /// As [`Pull::start_conflated`](crate::Pull::start_conflated). The publisher drops nothing for this subscriber, and does not wait for it.
    ///
    /// # Errors
    /// As there.
    pub fn start_conflated(self) -> Result<(Started, mpmc::Receiver<T>), Error> {
        let (gate, receiver) = conflated(&self.options)?;
        Ok((self.begin(gate, Sets::default())?, receiver))
    }

    fn begin(self, gate: Gate<T>, sets: Sets) -> Result<Started, Error> {
        let subscriptions = Subscriptions::of(self.topics.unwrap_or_else(|| vec![Topic::default()]));
        let told: Vec<_> = subscriptions.told().cloned().collect();
        let prepare =
            |socket: &Socket| told.iter().try_for_each(|topic| Ok(socket.set_bytes(option::SUBSCRIBE, topic)?));
        let work = Incoming::new(gate).limited(self.options.limits).with_topics(self.places, subscriptions);
        start(&self.options, Kind::Sub, prepare, sets, work)
    }
}
