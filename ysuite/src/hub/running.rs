//! [`Turn`] and [`Running`]: a turn of the hub and a handler at work, and what becomes of what they had taken in hand if a
//! handler panics. The hub's thread. Both nest: a handler may run its hub.

use super::source::{Source, SourceKey};
use super::{Hub, Timer};

/// Whose handler is running, as that handler sees it.
pub(super) type Current = (Option<Source>, Option<Timer>);

/// While it lives, a turn is under way; within, nobody's handler is running at first.
pub(super) struct Turn<'a> {
    pub(super) hub: &'a mut Hub,
    outer: Current,
    /// The turn around this one is to end.
    is_halted: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(hub: &'a mut Hub) -> Self {
        let outer = core::mem::take(&mut hub.current);
        // Outside of all turns a stop is for `run` alone.
        let is_halted = core::mem::take(&mut hub.halted) && hub.depth != 0;
        hub.depth += 1;
        Self { hub, outer, is_halted }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.hub.depth -= 1;
        self.hub.halted |= self.is_halted;
        self.hub.current = self.outer;
    }
}

/// While it lives, a handler is running; if that panics, what it belongs to is forgotten.
pub(super) struct Running<'a> {
    pub(super) hub: &'a mut Hub,
    this: Current,
    /// Whose handler was running around this one.
    outer: Current,
}

impl<'a> Running<'a> {
    pub(super) fn source(hub: &'a mut Hub, source: Source) -> Self {
        hub.lent += 1;
        Self::new(hub, (Some(source), None))
    }

    pub(super) fn timer(hub: &'a mut Hub, timer: Timer) -> Self {
        Self::new(hub, (None, Some(timer)))
    }

    fn new(hub: &'a mut Hub, this: Current) -> Self {
        let outer = core::mem::replace(&mut hub.current, this);
        Self { hub, this, outer }
    }

    /// The handler has returned.
    pub(super) fn end(mut self) {
        self.leave();
        core::mem::forget(self);
    }

    fn leave(&mut self) {
        self.hub.current = self.outer;
        self.hub.lent -= usize::from(self.this.0.is_some());
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.leave();
        match self.this.0.map(|source| source.0) {
            Some(SourceKey::Receiver(key)) => self.hub.forget_receiver(key),
            Some(SourceKey::Descriptor(key)) => self.hub.forget_descriptor(key),
            None => {}
        }
        self.this.1.map(|timer| self.hub.cancel(timer));
    }
}
