//! Is a history of a bounded queue *linearizable*: can each operation be given one moment between its call and its
//! return, so that a plain queue, called in that order, would have returned the same?
//!
//! The search is Wing and Gong's, with a memory of the states in which it has failed (Lowe's). Meant for short histories;
//! long runs are cut into them where all threads are idle and the queue has been emptied.
//!
//! Two results are wider than a plain queue's, as the mpmc channel documents them. "Empty" is also right while the
//! oldest message is still being sent, and "full" while the message whose slot is needed is still being received: that
//! is, if that operation had not returned when this one was called. A third applies while the queue is being closed: a
//! displaced message may still be received together with the new one, so that there is one more for a moment.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

/// The call, and its result. Messages are distinguished by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Sent(u64),
    Full,
    /// Sent in any case; what made way for it.
    Forced(u64, Option<u64>),
    /// Not sent, because the queue is closed.
    Refused,
    Closed,
    Received(u64),
    /// Several at once, with nothing in between.
    ReceivedAll(Vec<u64>),
    Empty,
    /// Nothing is there, and nothing will come.
    Over,
}

/// An operation, and the moments of its call and its return.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) called: u64,
    pub(crate) returned: u64,
    pub(crate) op: Op,
}

/// The clock that all threads of a history read: it only counts.
#[derive(Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// Does something, and notes when. `None`: there is nothing to note.
    pub(crate) fn record(&self, history: &mut Vec<Event>, operation: impl FnOnce() -> Option<Op>) {
        let called = self.tick();
        if let Some(op) = operation() {
            history.push(Event { called, returned: self.tick(), op });
        }
    }
}

/// The most operations a history may have.
pub(crate) const MOST: usize = 128;

/// What a plain queue is after some of the operations.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// The operations that have had their moment.
    done: u128,
    /// What is in the queue, and which operation sent it.
    queue: VecDeque<(u64, usize)>,
    /// Which operations received the last messages, as many as there may be in the queue; the newest last.
    takers: VecDeque<usize>,
    sent: usize,
    is_closed: bool,
}

/// Whether the history of a queue that was empty at first, and holds at most `capacity` messages, is linearizable.
pub(crate) fn is_linearizable(history: &[Event], capacity: usize) -> bool {
    assert!(history.len() <= MOST, "too long a history for one search: {}", history.len());
    let first = State { done: 0, queue: VecDeque::new(), takers: VecDeque::new(), sent: 0, is_closed: false };
    let mut failed = HashSet::new();
    search(history, capacity, first, &mut failed)
}

fn search(history: &[Event], capacity: usize, state: State, failed: &mut HashSet<State>) -> bool {
    let left = |index: &usize| state.done & (1 << index) == 0;
    // An operation that was not called before another one returned comes after it.
    let Some(horizon) = (0..history.len()).filter(left).map(|index| history[index].returned).min() else {
        return true;
    };
    for index in (0..history.len()).filter(left) {
        if history[index].called > horizon {
            continue;
        }
        let Some(next) = step(history, capacity, &state, index) else { continue };
        if !failed.contains(&next) && search(history, capacity, next, failed) {
            return true;
        }
    }
    failed.insert(state);
    false
}

/// The state after operation `index`, if a plain queue would have returned the same.
fn step(history: &[Event], capacity: usize, state: &State, index: usize) -> Option<State> {
    let Event { called, op, .. } = &history[index];
    let mut next = state.clone();
    next.done |= 1 << index;
    match op {
        Op::Sent(number) => {
            if state.queue.len() >= capacity {
                return None;
            }
            next.send(*number, index)?;
        }
        Op::Forced(number, displaced) => {
            let is_full = state.queue.len() >= capacity;
            match displaced {
                Some(displaced) if is_full => next.receive(*displaced, index, capacity)?,
                None if !is_full || is_closed_meanwhile(history, index) => {}
                _ => return None,
            }
            next.send(*number, index)?;
        }
        Op::Refused if !state.is_closed => return None,
        Op::Refused => {}
        Op::Closed if state.is_closed => return None,
        Op::Closed => next.is_closed = true,
        Op::Over if !state.is_closed || !state.queue.is_empty() => return None,
        Op::Over => {}
        Op::Received(number) => next.receive(*number, index, capacity)?,
        Op::ReceivedAll(numbers) => {
            for number in numbers {
                next.receive(*number, index, capacity)?;
            }
        }
        Op::Empty => {
            let under_way = |&(_, sender): &(u64, usize)| history[sender].returned > *called;
            if !state.queue.front().map_or(!state.is_closed, under_way) {
                return None;
            }
        }
        Op::Full if state.is_closed => return None,
        Op::Full if state.queue.len() >= capacity => {}
        Op::Full => {
            // The message that had the next place, one capacity ago.
            let taker = (state.sent >= capacity)
                .then(|| state.takers.get(state.takers.len().wrapping_sub(capacity - state.queue.len())));
            let under_way = taker.flatten().is_some_and(|&taker| history[taker].returned > *called);
            if !under_way {
                return None;
            }
        }
    }
    Some(next)
}

/// Whether the queue was being closed at some moment of an operation.
fn is_closed_meanwhile(history: &[Event], index: usize) -> bool {
    let Event { called, returned, .. } = history[index];
    history.iter().any(|event| event.op == Op::Closed && event.called < returned && event.returned > called)
}

impl State {
    fn send(&mut self, number: u64, index: usize) -> Option<()> {
        if self.is_closed {
            return None;
        }
        self.queue.push_back((number, index));
        self.sent += 1;
        Some(())
    }

    fn receive(&mut self, number: u64, index: usize, capacity: usize) -> Option<()> {
        if self.queue.pop_front()?.0 != number {
            return None;
        }
        self.takers.push_back(index);
        if self.takers.len() > capacity {
            self.takers.pop_front();
        }
        Some(())
    }
}
