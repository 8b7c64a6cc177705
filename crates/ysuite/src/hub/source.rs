//! [`Source`]: a receiver or a descriptor of a hub, and its removal; [`Refused`]: one that the hub did not accept.

use core::any::Any;
use core::fmt;
use std::io;

use super::Hub;
use super::table::Key;

/// The key of a receiver or a descriptor in a [`Hub`]. Finds nothing after it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source(pub(super) SourceKey);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SourceKey {
    Receiver(Key),
    Descriptor(Key),
}

/// The hub has not accepted a receiver or a descriptor. Contains the error and the source.
pub struct Refused<S> {
    /// The reason.
    pub error: io::Error,
    /// The source that the call had as its argument.
    pub source: S,
}

impl<S> fmt::Debug for Refused<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<S> fmt::Display for Refused<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<S> std::error::Error for Refused<S> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl<S> From<Refused<S>> for io::Error {
    fn from(refused: Refused<S>) -> Self {
        refused.error
    }
}

impl Hub {
    /// Removes a receiver or a descriptor, and drops it with its handler; inside that handler, when it returns. The
    /// handler is not called again. Returns false if it was removed before. Never blocks.
    #[doc = cost!(hub REMOVE)]
    pub fn remove(&mut self, source: Source) -> bool {
        match source.0 {
            SourceKey::Receiver(key) => self.remove_receiver(key),
            SourceKey::Descriptor(key) => self.remove_descriptor(key),
        }
    }

    /// Removes as [`remove`](Self::remove) does, but returns the source: a receiver with its messages, free to be
    /// attached elsewhere, or a descriptor. Returns `None`, and changes nothing, if it was removed before, is not an
    /// `S`, or its handler is running.
    #[doc = cost!(hub REMOVE)]
    pub fn take<S: 'static>(&mut self, source: Source) -> Option<S> {
        let taken: Box<dyn Any> = match source.0 {
            SourceKey::Receiver(key) => self.take_receiver(key, core::any::TypeId::of::<S>())?,
            SourceKey::Descriptor(key) => self.take_descriptor(key, core::any::TypeId::of::<S>())?,
        };
        taken.downcast().ok().map(|source| *source)
    }
}
