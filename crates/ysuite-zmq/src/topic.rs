//! [`Topic`] and [`Published`]: messages of a publisher that each have a topic.

use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

use crate::error::Failure;
use crate::frame::Frame;
use crate::wire::{Allowance, FromWire, Layout, Malformed, ToWire, Wire};

/// What a message is about: any bytes, most often a text. A subscription is the beginning of topics. Cloned without a
/// copy: a program that publishes much on few topics keeps one of each.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(Option<Arc<[u8]>>);

impl Topic {
    /// The empty one takes no memory.
    fn of(bytes: &[u8]) -> Self {
        Self((!bytes.is_empty()).then(|| bytes.into()))
    }

    /// Returns the topic as a text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self).ok()
    }
}

macro_rules! impl_from {
    ($($from:ty)*) => {$(
        impl From<$from> for Topic {
            fn from(bytes: $from) -> Self {
                Self::of(bytes.as_ref())
            }
        }
    )*};
}

impl_from!(&str &String String &[u8] Vec<u8> &Topic);

impl<const N: usize> From<&[u8; N]> for Topic {
    fn from(bytes: &[u8; N]) -> Self {
        Self::of(bytes)
    }
}

impl Deref for Topic {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl AsRef<[u8]> for Topic {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Borrow<[u8]> for Topic {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl PartialEq<str> for Topic {
    fn eq(&self, other: &str) -> bool {
        self[..] == *other.as_bytes()
    }
}

impl PartialEq<&str> for Topic {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self).fmt(out)
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self), out)
    }
}

/// A message with its topic. A publisher of these has many topics, and a subscriber to these is told the topic of each
/// message. On the wire it is the same as the message of a publisher with one topic: either may talk to either.
///
/// Only `publish` and `subscribe` have topics:
///
/// ```compile_fail
/// let (_jobs, out) = ysuite::spsc::bounded::<ysuite_zmq::Published<u64>>(1);
/// let _ = ysuite_zmq::Bridge::push(out);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Published<T> {
    /// Its topic.
    pub topic: Topic,
    /// The message itself.
    pub message: T,
}

impl<T> Published<T> {
    /// Makes a message with this topic.
    pub fn new(topic: impl Into<Topic>, message: T) -> Self {
        Self { topic: topic.into(), message }
    }

    /// Its topic is told later.
    fn of(message: T) -> Self {
        Self { topic: Topic::default(), message }
    }
}

impl<T: Wire> Wire for Published<T> {
    const LAYOUT: Layout = T::LAYOUT;
    const HAS_TOPIC: bool = true;
}

impl<T: ToWire> ToWire for Published<T> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.message.encode(bytes);
    }

    fn into_frame(self) -> Result<Frame, Failure> {
        self.message.into_frame()
    }

    fn into_parts(self) -> Result<Vec<Frame>, Failure> {
        self.message.into_parts()
    }

    fn topic(&self) -> Option<&Topic> {
        Some(&self.topic)
    }
}

impl<T: FromWire> FromWire for Published<T> {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        T::decode(bytes).map(Self::of)
    }

    fn decode_within(bytes: &[u8], allowance: &mut Allowance) -> Result<Self, Malformed> {
        T::decode_within(bytes, allowance).map(Self::of)
    }

    fn from_frame(frame: Frame) -> Result<Self, Malformed> {
        T::from_frame(frame).map(Self::of)
    }

    fn from_parts(parts: Vec<Frame>) -> Result<Self, Malformed> {
        T::from_parts(parts).map(Self::of)
    }

    fn set_topic(&mut self, topic: &Topic) {
        self.topic = topic.clone();
    }
}
