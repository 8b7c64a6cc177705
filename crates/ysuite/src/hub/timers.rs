//! Timers: a heap by time, and the methods of [`Hub`] for them. Each timer has its index in the heap, so that any timer
//! can be taken out. One thread.
//!
//! Setting and cancelling take time in proportion to the logarithm of the number of timers, and allocate only as the
//! heap grows. Timers of the same moment fire in the order in which they were set.

use core::time::Duration;
use std::time::Instant;

use super::Hub;
use super::posted::Posted;
use super::running::Running;
use super::table::{Key, Table};
use crate::foreign::Foreign;

/// Children of a node: four fit in one or two cache lines, and make the heap half as deep as two would.
const CHILDREN: usize = 4;

/// A timer's index while it is not in the heap.
const NEVER: usize = usize::MAX;

/// Room for this number of timers is kept.
const KEPT_ROOM: usize = 64;

/// The key of a timer of a [`Hub`]. Finds nothing after the timer has fired for the last time, or was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerKey(pub(super) Key);

type Tick = Foreign<Box<dyn FnMut(&mut Hub) + Send>>;

/// The action of a timer.
enum Action {
    Once(Posted),
    /// The function is `None` while it is running.
    Every(Duration, Option<Tick>),
}

pub(super) struct TimerEntry {
    /// The index in the heap.
    at: usize,
    action: Action,
}

/// A node of the heap.
#[derive(Clone, Copy)]
struct Node {
    /// The number orders timers of the same moment.
    moment: (Instant, u64),
    key: Key,
}

// GROWS: the heap; bound: timers that will fire; taken out when cancelled, and room that three quarters of are empty;
//     cost: logarithm of its size; test: tests/suite/hub/timers.rs: thousands_of_timers_set_and_cancelled_at_random,
//     tests/allocation/hubs.rs: timers_that_were_cancelled_leave_no_room_behind
#[derive(Default)]
pub(super) struct Timers {
    pub(super) entries: Table<TimerEntry>,
    heap: Vec<Node>,
    number: u64,
    /// The latest `now` of any turn: timers that are set afterwards are due after it.
    served: Option<Instant>,
}

impl Timers {
    /// Sets a timer. `None`: a moment beyond the end of the clock.
    fn set(&mut self, deadline: Option<Instant>, action: Action) -> TimerKey {
        let key = self.entries.insert(TimerEntry { at: NEVER, action });
        if let Some(deadline) = deadline {
            // At least the first moment that this turn does not serve.
            let first = self.served.and_then(|served| served.checked_add(Duration::from_nanos(1)));
            self.enter(first.map_or(deadline, |first| deadline.max(first)), key);
        }
        TimerKey(key)
    }

    fn enter(&mut self, deadline: Instant, key: Key) {
        // MUTANT: Numbers of timers only have to grow.
        self.number += 1;
        self.heap.push(Node { moment: (deadline, self.number), key });
        self.up(self.heap.len() - 1);
    }

    /// The moment at which the next timer fires.
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.first().map(|node| node.moment.0)
    }

    /// The moment up to which a turn that begins now serves timers; `None` without timers. Timers that are set
    /// afterwards are due after it.
    pub(super) fn now(&mut self) -> Option<Instant> {
        let now = (!self.is_empty()).then(Instant::now);
        self.served = self.served.max(now);
        now
    }

    /// Whether no timer will ever fire.
    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn take_out(&mut self, at: usize) {
        if at == NEVER {
            return;
        }
        self.heap.swap_remove(at);
        if self.heap.capacity() > KEPT_ROOM && self.heap.len() < self.heap.capacity() / 4 {
            self.heap.shrink_to((2 * self.heap.len()).max(KEPT_ROOM));
        }
        if at < self.heap.len() {
            // The node that was moved here may belong above or below.
            self.down(at);
            self.up(at);
        }
    }

    // MUTANT: No two entries are equal: a number follows the time.
    fn up(&mut self, mut at: usize) {
        while at > 0 && self.heap[at].moment < self.heap[(at - 1) / CHILDREN].moment {
            self.heap.swap(at, (at - 1) / CHILDREN);
            self.note(at);
            at = (at - 1) / CHILDREN;
        }
        self.note(at);
    }

    // MUTANT: No two entries are equal. One more child is compared, and the heap stays a heap.
    fn down(&mut self, mut at: usize) {
        loop {
            let children = at * CHILDREN + 1..(at * CHILDREN + 1 + CHILDREN).min(self.heap.len());
            let least = children.min_by_key(|&child| self.heap[child].moment);
            let Some(least) = least.filter(|&least| self.heap[least].moment < self.heap[at].moment) else { break };
            self.heap.swap(at, least);
            self.note(at);
            at = least;
        }
        self.note(at);
    }

    /// Stores the index of a node in its timer.
    fn note(&mut self, at: usize) {
        if let Some(entry) = self.entries.get_mut(self.heap[at].key) {
            entry.at = at;
        }
    }
}

impl Hub {
    /// Calls `function` once, when `time` has passed. The call is never early. It is late by the handler that is
    /// running, or by up to a millisecond if the hub sleeps. Zero is the next turn, also inside a handler. If the clock
    /// cannot hold the moment, as with `Duration::MAX`, the timer never fires. Never blocks.
    ///
    /// Time is that of [`Instant`]: changes of the date do not affect it.
    #[doc = cost!(hub AFTER)]
    pub fn after(&mut self, time: Duration, function: impl FnOnce(&mut Hub) + Send + 'static) -> TimerKey {
        self.timers.set(Instant::now().checked_add(time), Action::Once(Posted::new(function)))
    }

    /// Calls `function` once, at `moment`, as [`after`](Self::after) does. A moment in the past is the next turn.
    /// Several timers that a turn sets for the past fire in the order in which they were set.
    #[doc = cost!(hub AFTER)]
    pub fn at(&mut self, moment: Instant, function: impl FnOnce(&mut Hub) + Send + 'static) -> TimerKey {
        // Moments in the past become one moment, so that these timers fire in their order. Outside of turns that is the
        // order of the moments.
        let moment = if self.depth == 0 { moment } else { moment.max(Instant::now()) };
        self.timers.set(Some(moment), Action::Once(Posted::new(function)))
    }

    /// Calls `function` repeatedly, first one `period` from now and then at each further whole number of periods. Of
    /// the moments that pass while the hub is busy only the last counts. With a period of zero it is called once in
    /// every turn, and the hub never sleeps.
    #[doc = cost!(hub EVERY)]
    pub fn every(&mut self, period: Duration, function: impl FnMut(&mut Hub) + Send + 'static) -> TimerKey {
        self.timers
            .set(Instant::now().checked_add(period), Action::Every(period, Some(Foreign::new(Box::new(function)))))
    }

    // USER CODE: `Drop` of a timer's function, in `ring` too; it is out of table and heap; re-entrance: none (the hub
    //     is borrowed); panic: nothing is left of it; test: tests/suite/hub/panics.rs:
    //     timers_and_functions_that_panic_at_their_ends
    /// Cancels a timer: it does not fire any more, and its function is dropped. Returns false if it has fired for the
    /// last time, or was cancelled before.
    #[doc = cost!(hub CANCEL)]
    pub fn cancel(&mut self, timer: TimerKey) -> bool {
        let Some(entry) = self.timers.entries.remove(timer.0) else { return false };
        self.timers.take_out(entry.at);
        // Last: user code, which may panic.
        drop(entry);
        true
    }

    // USER CODE: the function of a timer that fires once; the timer is out of table and heap; re-entrance: may do
    //     anything with the hub, also run it; panic: the timer is gone; test: tests/suite/hub/timers.rs:
    //     a_timer_that_panics_takes_only_itself_down
    // USER CODE: the function of a timer that repeats; it is in the table, out of the heap, and nothing waits for it;
    //     re-entrance: may cancel itself, may run the hub; panic: `Running` cancels it, then the function is dropped;
    //     test: tests/suite/hub/timers.rs: a_timer_that_panics_takes_only_itself_down
    /// Calls the function of the first timer that is due. A repeating timer is put back for its next moment after
    /// `now`, unless it was cancelled meanwhile; until then the hub does not wait for it. False: none is due.
    pub(super) fn ring(&mut self, now: Instant) -> bool {
        let timers = &mut self.timers;
        let Some(&Node { moment: (deadline, _), key }) = timers.heap.first() else { return false };
        if deadline > now {
            return false;
        }
        timers.take_out(0);
        let Some(entry) = timers.entries.get_mut(key) else { return false };
        entry.at = NEVER;
        let Action::Every(period, tick) = &mut entry.action else {
            if let Some(TimerEntry { action: Action::Once(function), .. }) = timers.entries.remove(key) {
                function.run(self);
            }
            return true;
        };
        let next = after(deadline, *period, now);
        let Some(mut tick) = tick.take() else { return false };
        let running = Running::new(self, (None, Some(TimerKey(key))));
        (*tick)(running.hub);
        if !running.end() {
            return true;
        }
        if let Some(TimerEntry { action: Action::Every(_, place), .. }) = self.timers.entries.get_mut(key) {
            *place = Some(tick);
            if let Some(next) = next {
                self.timers.enter(next, key);
            }
        }
        true
    }
}

/// The first moment after `now` that is `deadline` plus a whole number of periods.
fn after(deadline: Instant, period: Duration, now: Instant) -> Option<Instant> {
    let next = deadline.checked_add(period)?;
    if next > now {
        return Some(next);
    }
    if period.is_zero() {
        // The next moment of the clock.
        return now.checked_add(Duration::from_nanos(1));
    }
    let missed = now.saturating_duration_since(next).as_nanos() % period.as_nanos();
    now.checked_add(period)?.checked_sub(Duration::from_nanos(u64::try_from(missed).ok()?))
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;

    /// Claim: A repeating timer is set to a time after now, in whole periods.
    #[test]
    fn the_next_moment_lies_behind_now_and_whole_periods_behind_the_last() {
        let (due, period) = (Instant::now(), Duration::from_nanos(10));
        let next = |late: u64| {
            let next = after(due, period, due + Duration::from_nanos(late)).expect("a near moment");
            next.duration_since(due).as_nanos()
        };
        // The next moment is that one while it is still to come. At that nanosecond, and later, the moments that have
        // passed are left out.
        assert_eq!([0, 9, 10, 11, 19, 20, 21].map(next), [10, 10, 20, 20, 20, 30, 30]);
    }

    #[test]
    fn what_a_turn_sets_is_due_behind_what_it_serves_though_the_clock_stands_still() {
        let (mut timers, begun) = (Timers::default(), Instant::now());
        let set = |timers: &mut Timers, moment| {
            timers.set(Some(moment), Action::Once(Posted::new(|_: &mut Hub| ())));
        };
        set(&mut timers, begun);
        let now = timers.now().expect("there is a timer");
        timers.take_out(0);
        set(&mut timers, now);
        set(&mut timers, begun);
        assert!(timers.next() > Some(now));
    }

    #[test]
    fn without_a_period_the_next_moment_is_the_next_of_the_clock() {
        let due = Instant::now();
        let late = due + Duration::from_secs(1);
        assert_eq!(after(due, Duration::ZERO, late), Some(late + Duration::from_nanos(1)));
        assert_eq!(after(due, Duration::MAX, late), None);
    }
}
