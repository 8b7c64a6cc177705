//! The hub's timers, as those who set them see them.

use core::time::Duration;
use std::time::Instant;

use super::Hub;
use super::posted::Posted;
use super::running::Running;
use super::table::Key;
use super::timers::{Action, Tick, Timer};

impl Hub {
    /// Calls `function` once, when `time` has passed: never earlier, and later by what the hub is doing, or by up to a
    /// millisecond if it sleeps. Zero is the next turn, also inside a handler; where the clock cannot hold the moment, as with `Duration::MAX`, it
    /// is never.
    ///
    /// Time is that of [`Instant`], which no change of the date touches.
    pub fn after(&mut self, time: Duration, function: impl FnOnce(&mut Hub) + Send + 'static) -> Timer {
        self.timers.set(Instant::now().checked_add(time), Action::Once(Posted::new(function)))
    }

    /// As [`after`](Self::after), at a moment. One that is past is the next turn; several that a turn sets for the past
    /// ring in the order in which they were set.
    pub fn at(&mut self, moment: Instant, function: impl FnOnce(&mut Hub) + Send + 'static) -> Timer {
        self.timers.set(Some(moment), Action::Once(Posted::new(function)))
    }

    /// Calls `function` again and again, one `period` after now and at every whole number of periods from there. Moments
    /// that pass while the hub is busy are left out, but for the last. A period of zero is once in every turn, and the hub
    /// never sleeps.
    pub fn every(&mut self, period: Duration, function: impl FnMut(&mut Hub) + Send + 'static) -> Timer {
        self.timers.set(Instant::now().checked_add(period), Action::Every(period, Some(Box::new(function))))
    }

    /// Takes a timer back: it does not ring any more, and its function is dropped. False: it has rung for the last time, or
    /// has been cancelled.
    pub fn cancel(&mut self, timer: Timer) -> bool {
        self.timers.cancel(timer.0).is_some()
    }

    /// A timer that rings again.
    pub(super) fn tick(&mut self, key: Key, mut tick: Tick, next: Option<Instant>) {
        let running = Running::timer(self, Timer(key));
        tick(running.hub);
        running.end();
        drop(self.timers.put_back(key, tick, next));
    }
}
