//! Timers: a heap by time, in which each knows its place, so that any can be taken out again. One thread.
//!
//! Setting and cancelling take time in proportion to the logarithm of how many there are, and allocate only as the heap
//! grows. Timers of the same moment come in the order in which they were set.

use core::time::Duration;
use std::time::Instant;

use super::Hub;
use super::posted::Posted;
use super::running::Running;
use super::table::{Key, Table};

/// Children of a node: four lie in one or two cache lines, and make the heap half as deep as two would.
const CHILDREN: usize = 4;

/// A timer's place where it will never ring.
const NEVER: usize = usize::MAX;

/// A timer of a [`Hub`]. Worth nothing once the timer has rung for the last time, or has been cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timer(pub(super) Key);

pub(super) type Tick = Box<dyn FnMut(&mut Hub) + Send>;

/// What a timer does.
pub(super) enum Action {
    Once(Posted),
    /// The function is `None` while it is running.
    Every(Duration, Option<Tick>),
}

/// What is to be done now.
pub(super) enum Due {
    Once(Posted),
    /// And when it rings again.
    Every(Key, Tick, Option<Instant>),
}

struct TimerEntry {
    /// Where in the heap.
    at: usize,
    action: Action,
}

/// In the heap.
#[derive(Clone, Copy)]
struct Node {
    deadline: Instant,
    /// In which order timers of the same moment ring.
    number: u64,
    key: Key,
}

pub(super) struct Timers {
    entries: Table<TimerEntry>,
    heap: Vec<Node>,
    number: u64,
    /// The latest moment that any turn has had for now: what is set from then on is due after it.
    served: Option<Instant>,
}

impl Timers {
    pub(super) const fn new() -> Self {
        Self { entries: Table::new(), heap: Vec::new(), number: 0, served: None }
    }

    /// `None`: a moment beyond the end of the clock.
    pub(super) fn set(&mut self, deadline: Option<Instant>, action: Action) -> Timer {
        let key = self.entries.insert(TimerEntry { at: NEVER, action });
        if let Some(deadline) = deadline {
            // A moment that is past is the first that this turn does not serve.
            let first = self.served.and_then(|served| served.checked_add(Duration::from_nanos(1)));
            self.enter(first.map_or(deadline, |first| deadline.max(first)), key);
        }
        Timer(key)
    }

    fn enter(&mut self, deadline: Instant, key: Key) {
        self.number += 1;
        self.heap.push(Node { deadline, number: self.number, key });
        self.up(self.heap.len() - 1);
    }

    /// Takes a timer out. What it would have done is for the caller to drop.
    pub(super) fn cancel(&mut self, key: Key) -> Option<Action> {
        let entry = self.entries.remove(key)?;
        self.take_out(entry.at);
        Some(entry.action)
    }

    /// When the next one rings.
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.first().map(|node| node.deadline)
    }

    /// The moment up to which a turn that begins serves timers; `None` where there are none. What is set from then on is due
    /// after it.
    pub(super) fn now(&mut self) -> Option<Instant> {
        let now = (!self.is_empty()).then(Instant::now);
        self.served = self.served.max(now);
        now
    }

    /// The first that is due. One that rings again must be [put back](Self::put_back), for the next of its moments after
    /// `now`, or cancelled; until then it is nothing to wait for.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        let &Node { deadline, key, .. } = self.heap.first().filter(|node| node.deadline <= now)?;
        self.take_out(0);
        let entry = self.entries.get_mut(key)?;
        entry.at = NEVER;
        if let Action::Every(period, tick) = &mut entry.action {
            let next = after(deadline, *period, now);
            return tick.take().map(|tick| Due::Every(key, tick, next));
        }
        match self.entries.remove(key)?.action {
            Action::Once(function) => Some(Due::Once(function)),
            Action::Every(..) => None,
        }
    }

    /// The function of a timer that is to ring again; given back where it was cancelled meanwhile.
    pub(super) fn put_back(&mut self, key: Key, tick: Tick, next: Option<Instant>) -> Option<Tick> {
        let Some(TimerEntry { action: Action::Every(_, place), .. }) = self.entries.get_mut(key) else {
            return Some(tick);
        };
        let none = place.replace(tick);
        if let Some(next) = next {
            self.enter(next, key);
        }
        none
    }

    /// Whether none will ever ring.
    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn take_out(&mut self, at: usize) {
        if at == NEVER {
            return;
        }
        self.heap.swap_remove(at);
        if at < self.heap.len() {
            // The one that has come here may belong above or below.
            self.down(at);
            self.up(at);
        }
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.heap[one], &self.heap[other]);
        (one.deadline, one.number) < (other.deadline, other.number)
    }

    fn up(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / CHILDREN) {
            self.heap.swap(at, (at - 1) / CHILDREN);
            self.note(at);
            at = (at - 1) / CHILDREN;
        }
        self.note(at);
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let children = at * CHILDREN + 1..(at * CHILDREN + 1 + CHILDREN).min(self.heap.len());
            let least = children.reduce(|least, child| if self.is_before(child, least) { child } else { least });
            let Some(least) = least.filter(|&least| self.is_before(least, at)) else { break };
            self.heap.swap(at, least);
            self.note(at);
            at = least;
        }
        self.note(at);
    }

    /// Tells the timer at a place of the heap where it is.
    fn note(&mut self, at: usize) {
        if let Some(entry) = self.entries.get_mut(self.heap[at].key) {
            entry.at = at;
        }
    }
}

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

/// The first moment after `now` that is a whole number of periods behind `deadline`.
fn after(deadline: Instant, period: Duration, now: Instant) -> Option<Instant> {
    let next = deadline.checked_add(period)?;
    if next > now {
        return Some(next);
    }
    if period.is_zero() {
        // As soon as there is another moment.
        return now.checked_add(Duration::from_nanos(1));
    }
    let missed = now.saturating_duration_since(next).as_nanos() % period.as_nanos();
    now.checked_add(period)?.checked_sub(Duration::from_nanos(u64::try_from(missed).ok()?))
}
