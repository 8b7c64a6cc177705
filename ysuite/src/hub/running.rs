//! [`Running`]: a handler at work, and what becomes of its source if it panics. The hub's thread.

use super::source::{Kind, Source};
use super::{Hub, Timer};

/// While it lives, a handler is running; if that panics, what it belongs to is forgotten.
pub(super) struct Running<'a> {
    pub(super) hub: &'a mut Hub,
    /// Whose handler was running around this one.
    outer: (Option<Source>, Option<Timer>),
}

impl<'a> Running<'a> {
    pub(super) fn new(hub: &'a mut Hub, source: Option<Source>, timer: Option<Timer>) -> Self {
        let outer = core::mem::replace(&mut hub.current, (source, timer));
        Self { hub, outer }
    }

    /// The handler has returned.
    pub(super) fn end(self) {
        self.hub.current = self.outer;
        core::mem::forget(self);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let (source, timer) = core::mem::replace(&mut self.hub.current, self.outer);
        match source.map(|source| source.0) {
            Some(Kind::Receiver(key)) => self.hub.forget_receiver(key),
            Some(Kind::Descriptor(key)) => self.hub.forget_descriptor(key),
            None => {}
        }
        timer.map(|timer| self.hub.cancel(timer));
    }
}
