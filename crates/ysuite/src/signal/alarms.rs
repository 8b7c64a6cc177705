//! The timers of a [`ReadySet`](super::ReadySet): each has an id of the set, which is up while a tick of it is due.
//!
//! Only the owner of the set uses them. Before each check of the set it raises the ids of the timers that are due,
//! lowers the others, and sleeps no longer than until the next timer is due. So the choice among ids treats timers and
//! receivers alike.
//!
//! Costs a read of the clock for each wait, and a few instructions for each timer; nothing without timers.

use std::time::Instant;

use super::{Attach, AttachError, Registration, Signals, Timer, YPollset};
use crate::os::Deadline;

/// A timer with its id. Dropping it gives the id back.
#[derive(Debug)]
pub(super) struct Alarm {
    pub(super) timer: Timer,
    registration: Option<Registration>,
}

impl Alarm {
    pub(super) fn new(timer: Timer) -> Self {
        Self { timer, registration: None }
    }
}

impl Attach for Alarm {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        // Up when it is due: this id wakes no receiver, so it need not be up at first.
        self.registration = Some(registration);
        Ok(())
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.registration.as_ref().inspect(|registration| look(registration));
    }

    // MUTANT: The result is not used, and the dropped registration gives the id back.
    fn detach(&mut self) -> bool {
        self.registration.take().is_some()
    }
}

#[derive(Debug, Default)]
pub(super) struct Alarms(pub(super) Vec<Alarm>);

impl Alarms {
    // WAITS: as `ReadySet`, and for the next tick; spin: parks at once; fairness: ids of timers and receivers in turn;
    //     test: tests/suite/timer.rs: a_select_ends_at_the_earliest_timer, tests/suite/timer.rs: selects_share_a_timer
    // MUTANT: Speed only: the deadline has passed, so the loop checks once more and returns.
    /// Blocks until something is up, or the deadline has passed: then the result is empty.
    pub(super) fn poll_until(&self, set: &mut YPollset, deadline: Deadline) -> Signals {
        loop {
            // Before the timers: one that is due at the deadline is still seen.
            let is_last = deadline.is_over();
            let next = self.ring();
            let signals = set.poll_until(next.map_or(deadline, |next| deadline.or_sooner(Deadline::At(next))));
            if !signals.is_empty() || is_last || next.is_none() {
                return signals;
            }
        }
    }

    // MUTANT: Speed only: the clock is read without timers.
    /// Raises the ids of timers that are due, and lowers those of the others. Returns when the first of the others is
    /// due.
    #[inline]
    pub(super) fn ring(&self) -> Option<Instant> {
        if self.0.is_empty() { None } else { self.ring_at(Instant::now()) }
    }

    // MUTANT: To raise an id that is up changes nothing. To take it down checks again.
    /// Raises the ids of timers that are due, and lowers those of the others. Returns when the first of the others is
    /// due.
    #[cold]
    fn ring_at(&self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for Alarm { timer, registration } in &self.0 {
            let due = timer.due();
            let is_due = due.is_some_and(|due| due <= now);
            match registration {
                Some(registration) if is_due && !registration.is_up() => registration.raise(),
                // A clone has taken the tick, or the owner of the set has.
                Some(registration) if !is_due && registration.is_up() => registration.lower(),
                _ => {}
            }
            if !is_due {
                next = [next, due].into_iter().flatten().min();
            }
        }
        next
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_ends_with_a_tick_names_it() {
        let (mut set, due) = (YPollset::new(), Instant::now() + core::time::Duration::from_millis(5));
        let mut alarm = Alarm::new(Timer::new(Some(due), None));
        set.attach(&mut alarm, 3).unwrap();
        let signals = Alarms(vec![alarm]).poll_until(&mut set, Deadline::Never);
        assert_eq!(signals.collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_tick_is_due_from_its_very_moment_on() {
        let (mut set, due) = (YPollset::new(), Instant::now());
        let mut alarm = Alarm::new(Timer::new(Some(due), None));
        set.attach(&mut alarm, 3).unwrap();
        let alarms = Alarms(vec![alarm]);
        assert_eq!((alarms.ring_at(due - core::time::Duration::from_micros(1)), set.next_up(0)), (Some(due), None));
        // Due, and no longer among the timers for which a wait has to end.
        assert_eq!((alarms.ring_at(due), set.next_up(0)), (None, Some(3)));
    }
}
