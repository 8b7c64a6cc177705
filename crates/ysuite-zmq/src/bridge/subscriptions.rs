//! [`Subscriptions`]: what a subscriber asks for. Publishers are told only what no shorter beginning covers: a publisher
//! counts the beginnings that reach a topic, and takes each for a subscriber.
//!
//! In the hands of the thread that has the socket. Each change takes time for the length of the topic, and for the topics
//! that begin with it.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::error::Failure;
use crate::ffi::option;
use crate::socket::Socket;
use crate::topic::Topic;

#[derive(Default)]
pub(super) struct Subscriptions(BTreeSet<Topic>);

impl Subscriptions {
    /// Asks for what begins with one of these.
    pub(super) fn of(topics: impl IntoIterator<Item = Topic>) -> Self {
        Self(topics.into_iter().collect())
    }

    /// What publishers are told.
    pub(super) fn told(&self) -> impl Iterator<Item = &Topic> {
        self.0.iter().filter(|topic| !self.is_covered(topic))
    }

    /// From now on asks for what begins so, too.
    pub(super) fn add(&mut self, topic: Topic, socket: &Socket) -> Result<(), Failure> {
        if self.is_covered(&topic) || self.0.contains(&topic) {
            self.0.insert(topic);
            return Ok(());
        }
        socket.set_bytes(option::SUBSCRIBE, &topic)?;
        // Those were asked for that are covered from now on.
        self.below(&topic).try_for_each(|other| socket.set_bytes(option::UNSUBSCRIBE, other))?;
        self.0.insert(topic);
        Ok(())
    }

    /// From now on does not ask for what begins so, unless another beginning reaches it.
    pub(super) fn remove(&mut self, topic: &Topic, socket: &Socket) -> Result<(), Failure> {
        if !self.0.remove(topic) || self.is_covered(topic) {
            return Ok(());
        }
        // First what is asked for still: nothing of that is missed meanwhile.
        self.below(topic).try_for_each(|other| socket.set_bytes(option::SUBSCRIBE, other))?;
        socket.set_bytes(option::UNSUBSCRIBE, topic)
    }

    /// Whether a shorter beginning reaches all that this does.
    fn is_covered(&self, topic: &[u8]) -> bool {
        (0..topic.len()).any(|length| self.0.contains(&topic[..length]))
    }

    /// The topics that begin with this one, each unless another of them covers it. This one is not in the set.
    fn below<'a>(&'a self, topic: &'a Topic) -> impl Iterator<Item = &'a Topic> {
        let beyond = (Bound::Excluded(&topic[..]), Bound::Unbounded);
        let mut last: Option<&Topic> = None;
        let begun = self.0.range::<[u8], _>(beyond).take_while(move |other| other.starts_with(topic));
        // In order: those that one covers come right after it.
        begun.filter(move |other| {
            let is_covered = last.is_some_and(|last| other.starts_with(last));
            if !is_covered {
                last = Some(other);
            }
            !is_covered
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::ffi::Kind;
    use crate::frame::Frame;

    /// What a publisher has been told: beginnings, each with whether it is asked for.
    struct Told(Subscriptions, Socket, Socket);

    impl Told {
        fn new() -> Self {
            let context = Context::of_the_process().unwrap();
            let [publisher, subscriber] = [Kind::XPub, Kind::Sub].map(|kind| Socket::new(&context, kind).unwrap());
            let name = Context::fresh_name("told");
            publisher.bind(&name).unwrap();
            subscriber.connect(&name).unwrap();
            publisher.set(option::XPUB_VERBOSER, 1).unwrap();
            Self(Subscriptions::default(), subscriber, publisher)
        }

        fn all(&self) -> Vec<String> {
            let (mut frame, mut all) = (Frame::empty(), Vec::new());
            while self.2.receive(&mut frame).unwrap() {
                let sign = if frame[0] == 1 { "+" } else { "-" };
                all.push(format!("{sign}{}", core::str::from_utf8(&frame[1..]).unwrap()));
            }
            all
        }

        fn add(&mut self, topic: &str) -> Vec<String> {
            self.0.add(topic.into(), &self.1).unwrap();
            self.all()
        }

        fn remove(&mut self, topic: &str) -> Vec<String> {
            self.0.remove(&topic.into(), &self.1).unwrap();
            self.all()
        }
    }

    #[test]
    fn publishers_are_told_of_what_nothing_covers() {
        let of = |topics: &[&str]| Subscriptions::of(topics.iter().copied().map(Topic::from));
        let told = |topics| of(topics).told().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(told(&["b", "a.c", "a", "a.b", "b"]), ["a", "b"]);
        assert_eq!(told(&["b", "", "a"]), [""]);
        assert_eq!(told(&[]), [""; 0]);
        let mut told = Told::new();
        assert_eq!(told.add("weather.rain"), ["+weather.rain"]);
        assert_eq!(told.add("weather.rain"), [""; 0]);
        assert_eq!(told.add("weather.rain.today"), [""; 0]);
        assert_eq!(told.add("sports"), ["+sports"]);
        assert_eq!(told.add("weather.snow"), ["+weather.snow"]);
        assert_eq!(told.add("weather"), ["+weather", "-weather.rain", "-weather.snow"]);
        assert_eq!(told.add("weather.hail"), [""; 0]);
        assert_eq!(told.remove("weather.rain"), [""; 0]);
        assert_eq!(told.remove("weather.sun"), [""; 0]);
        assert_eq!(told.remove("weather"), ["+weather.hail", "+weather.rain.today", "+weather.snow", "-weather"]);
        assert_eq!(told.add(""), ["+", "-sports", "-weather.hail", "-weather.rain.today", "-weather.snow"]);
        assert_eq!(told.remove("sports"), [""; 0]);
        assert_eq!(told.remove(""), ["+weather.hail", "+weather.rain.today", "+weather.snow", "-"]);
    }
}
