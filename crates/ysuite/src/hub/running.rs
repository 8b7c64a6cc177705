//! [`Turn`] and [`Running`]: guards of a turn of the hub and of a running handler, which restore the hub's state if a
//! handler panics. The hub's thread. Both nest: a handler may run its hub.
//!
//! A handler may also replace its own hub by another, which has none of this state: there nothing is restored.

use super::source::{Source, SourceKey};
use super::{Hub, TURN, TimerKey};

/// The source or the timer whose handler is running.
pub(super) type Current = (Option<Source>, Option<TimerKey>);

// USER CODE: a nested turn in a handler that panics; depth, the current handler and the outer stop are restored; panic:
//     the outer turn continues where the handler catches it; test: tests/suite/hub/nested.rs:
//     a_turn_within_that_panics_leaves_the_stop_as_it_was
/// While it lives, a turn is under way. At its beginning no handler is running.
pub(super) struct Turn<'a> {
    pub(super) hub: &'a mut Hub,
    number: u64,
    outer: Current,
    /// Whether the outer turn is to end.
    is_halted: bool,
    /// The kind after the one that the outer turn is serving.
    behind: u8,
}

impl<'a> Turn<'a> {
    pub(super) fn new(hub: &'a mut Hub) -> Self {
        let outer = core::mem::take(&mut hub.current);
        // MUTANT: The flag is not read outside of a turn, and the next turn resets it.
        // Outside of all turns a stop concerns `run` alone.
        let is_halted = core::mem::take(&mut hub.halted) && hub.depth != 0;
        hub.depth += 1;
        Self { number: hub.number, behind: hub.behind, hub, outer, is_halted }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.hub.number != self.number {
            return;
        }
        // MUTANT: Killed only by `a_run_that_a_panic_ends_in_every_turn_does_not_keep_a_descriptor_from_its_own`.
        if std::thread::panicking() {
            // As when a handler stops the hub: a source that panics in every call does not keep the others from their
            // turn.
            self.hub.first = self.hub.behind;
            // The calls that were made before are not counted.
            self.hub.unasked = TURN;
        }
        self.hub.behind = self.behind;
        self.hub.depth -= 1;
        self.hub.halted |= self.is_halted;
        self.hub.current = self.outer;
    }
}

/// While it lives, a handler is running. If the handler panics, its source or timer is removed.
pub(super) struct Running<'a> {
    pub(super) hub: &'a mut Hub,
    number: u64,
    this: Current,
    /// The source or the timer whose handler was running in the outer turn.
    outer: Current,
}

impl<'a> Running<'a> {
    pub(super) fn new(hub: &'a mut Hub, this: Current) -> Self {
        hub.lent += usize::from(this.0.is_some());
        let outer = core::mem::replace(&mut hub.current, this);
        Self { number: hub.number, hub, this, outer }
    }

    /// The handler has returned. False: the hub in this place is another one.
    #[must_use = "a key belongs to the hub that made it"]
    pub(super) fn end(mut self) -> bool {
        let is_same = self.leave();
        core::mem::forget(self);
        is_same
    }

    fn leave(&mut self) -> bool {
        let is_same = self.hub.number == self.number;
        if is_same {
            self.hub.current = self.outer;
            self.hub.lent -= usize::from(self.this.0.is_some());
        }
        is_same
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.leave() {
            return;
        }
        match self.this.0.map(|source| source.0) {
            Some(SourceKey::Receiver(key)) => drop(self.hub.receivers.table.remove(key)),
            Some(SourceKey::Descriptor(key)) => _ = self.hub.remove_descriptor(key),
            None => {}
        }
        self.this.1.map(|timer| self.hub.cancel(timer));
    }
}
