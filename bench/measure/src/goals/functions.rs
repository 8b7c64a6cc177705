//! Functions posted one by one by a thread, and run on arrival: by a hub, and by a loop written plainly.
//!
//! ```text
//!   first CPU    post(move || it is number 0), post(... 1), post(... 2) ----> the loop: calls each    second CPU
//! ```
//!
//! Unlike in the transports of the same names, no message is passed on to a receiver: each function checks that it runs
//! in its turn.

use std::cell::Cell;
use std::time::Instant;

use ysuite::hub::Hub;

use super::targets::{Ratio, least_of};
use super::{Run, beside_the_hand_over};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Plan;
use crate::stage::{Timed, duet_from_the_gate};
use crate::transport::Closed;
use crate::transport::mutex_eventfd_loop::Loop;

const SESSION: &str = "targets: functions, run where they arrive";
const HUB: &str = "hub, functions";
const PLAIN: &str = "mutex-eventfd-loop, functions";

pub(super) static RATIOS: [Ratio; 1] = [least_of(
    "hub, posted functions: times faster than a loop with mutex, eventfd and epoll",
    SESSION,
    &[PLAIN],
    HUB,
    5.0,
)];

/// All competitors of the session.
pub fn contenders() -> [(&'static str, Run); 2] {
    [(HUB, by_a_hub), (PLAIN, by_a_plain_loop)]
}

pub(super) fn plan(frame: Frame) -> Plan {
    beside_the_hand_over(SESSION, "Functions posted one by one by a thread, run by another", &contenders(), frame)
}

/// The functions that have been run.
#[derive(Default)]
struct Tally {
    due: Cell<usize>,
    /// The first that ran out of turn, and the one that was due.
    astray: Cell<Option<(usize, usize)>>,
    over: Cell<bool>,
}

impl Tally {
    #[inline(always)]
    fn run(&self, number: usize) {
        let due = self.due.get();
        if number != due && self.astray.get().is_none() {
            self.astray.set(Some((due, number)));
        }
        self.due.set(due + 1);
    }

    /// Whether all `messages` functions were run, each in its turn.
    fn check(&self, messages: usize) -> Result<(), Fault> {
        match (self.astray.get(), self.due.get()) {
            (Some((expected, received)), _) => Err(Fault::OutOfOrder { expected, received }),
            (None, run) if run < messages => Err(Fault::Lost { expected: run }),
            (None, run) if run > messages => Err(Fault::TooMany { received: messages }),
            (None, _) => Ok(()),
        }
    }
}

thread_local! {
    /// A copy for the thread that runs the hub. The plain loop passes one to its functions.
    static TALLY: Tally = const { Tally { due: Cell::new(0), astray: Cell::new(None), over: Cell::new(false) } };
}

fn by_a_hub(place: Place, messages: u64) -> Result<Timed, Fault> {
    let mut hub = Hub::new()?;
    let handle = hub.handle();
    let posting = move || {
        let start = Instant::now();
        for number in 0..messages as usize {
            if handle.post(move |_| TALLY.with(|tally| tally.run(number))).is_err() {
                break;
            }
        }
        let _ = handle.stop();
        start
    };
    let running = move || {
        hub.run()?;
        let end = Instant::now();
        TALLY.with(|tally| tally.check(messages as usize)).map(|()| end)
    };
    let (start, end) = duet_from_the_gate(place, messages, posting, running)?;
    Ok(Timed::between(start, end?, messages))
}

fn by_a_plain_loop(place: Place, messages: u64) -> Result<Timed, Fault> {
    let (poster, mut plain) = Loop::new(Tally::default())?;
    let posting = move || {
        let start = Instant::now();
        for number in 0..messages as usize {
            poster.post(move |tally: &mut Tally| tally.run(number));
        }
        poster.post(|tally| tally.over.set(true));
        start
    };
    let running = move || {
        while !plain.lent.over.get() {
            plain.turn().map_err(|Closed| Fault::Disconnected { expected: plain.lent.due.get() })?;
        }
        let end = Instant::now();
        plain.lent.check(messages as usize).map(|()| end)
    };
    let (start, end) = duet_from_the_gate(place, messages, posting, running)?;
    Ok(Timed::between(start, end?, messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_missing_is_noticed() {
        let after = |numbers: &[usize], messages| {
            let tally = Tally::default();
            numbers.iter().for_each(|&number| tally.run(number));
            tally.check(messages)
        };
        assert!(after(&[0, 1, 2], 3).is_ok());
        assert!(matches!(after(&[0, 2], 2), Err(Fault::OutOfOrder { expected: 1, received: 2 })));
        assert!(matches!(after(&[0, 1], 3), Err(Fault::Lost { expected: 2 })));
        assert!(matches!(after(&[0, 1, 2], 2), Err(Fault::TooMany { received: 2 })));
    }
}
