//! Whether the clocks of two CPUs show the same time. If they do not, a time from a reading on one CPU to a reading on
//! the other is meaningless. One-way times are then refused, with the reason. Round trips still work.
//!
//! ```text
//!   asking CPU      before ---- ask ---->                after        before <= between - offset <= after,
//!                                       between                       whatever delays the messages
//!   replying CPU                              --- reply -->
//! ```
//!
//! Thousands of such exchanges, started from both sides, leave an interval that contains the offset. It is about as
//! wide as a round trip. An offset well below the time of a message cannot be told from zero, and does little harm. Any
//! thread may call. The first call for two CPUs runs a thread on each of them, for some milliseconds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use serde::{Deserialize, Serialize};

use super::{Clock, Source};
use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Gate, duet};

/// The result for two CPUs. Offsets are those of the second relative to the first, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum InStep {
    /// There is only one clock.
    OneCpu,
    /// The offset zero is among those that agree with every exchange.
    Yes { low: f64, high: f64 },
    /// The counter changes its rate with the processor.
    NotInvariant,
    /// Zero is not among them.
    No { low: f64, high: f64 },
    /// No single offset agrees with every exchange: the clocks run at different rates, or one was set meanwhile.
    Drifting { by: f64 },
    /// The exchanges took too long for a result.
    Unproven { low: f64, high: f64 },
    /// The exchanges could not be made.
    Untried { cause: String },
}

impl InStep {
    /// Whether times from one CPU to the other are meaningful, or one sentence with the reason why not.
    pub fn one_way(&self) -> Result<(), String> {
        match self {
            Self::OneCpu | Self::Yes { .. } => Ok(()),
            _ => Err(format!("One-way times cannot be told: {self}.")),
        }
    }
}

/// Without a full stop, so that more text can follow.
impl fmt::Display for InStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneCpu => write!(out, "both threads are on one CPU and read the same clock"),
            Self::Yes { low, high } => {
                write!(out, "the clocks of the two CPUs are in step as far as messages between them can tell, ")?;
                write!(out, "the offset lies between {low:.0} and {high:.0} ns")
            }
            Self::NotInvariant => write!(out, "the processor's counter changes its rate to save power"),
            Self::No { low, high } => {
                write!(out, "the clocks of the two CPUs are out of step, ")?;
                write!(out, "the offset lies between {low:.0} and {high:.0} ns")
            }
            Self::Drifting { by } => {
                write!(out, "the clocks of the two CPUs do not run at the same rate, they moved by at least {by:.0} ns")
            }
            Self::Unproven { low, high } => {
                write!(out, "it cannot be told whether the clocks of the two CPUs are in step, ")?;
                write!(out, "the offset may lie anywhere between {low:.0} and {high:.0} ns")
            }
            Self::Untried { cause } => write!(out, "the clocks of the two CPUs could not be compared, {cause}"),
        }
    }
}

/// Whether one-way times between the CPUs of `place` are meaningful, or the reason why they must be refused. Determined
/// at the first call for a place, which takes some milliseconds.
pub fn one_way(place: Place) -> &'static Result<(), String> {
    &answer(place).one_way
}

/// The result that [`one_way`] uses.
pub fn in_step(place: Place) -> &'static InStep {
    &answer(place).in_step
}

struct Answer {
    in_step: InStep,
    one_way: Result<(), String>,
}

/// One result for each place of this process, kept permanently: there are few places.
fn answer(place: Place) -> &'static Answer {
    static ANSWERS: Mutex<BTreeMap<(usize, usize), &'static Answer>> = Mutex::new(BTreeMap::new());
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    answers.entry((place.first, place.second)).or_insert_with(|| {
        let in_step = found_out(super::get(), place);
        Box::leak(Box::new(Answer { one_way: in_step.one_way(), in_step }))
    })
}

fn found_out(clock: &'static Clock, place: Place) -> InStep {
    if clock.source() != Source::System && Clock::invariant() == Some(false) {
        return InStep::NotInvariant;
    }
    if place.one_cpu() {
        return InStep::OneCpu;
    }
    match offsets(clock, place) {
        Ok(offsets) => offsets.judged(clock),
        Err(Fault::System(cause)) => InStep::Untried { cause: cause.to_string() },
        Err(fault) => InStep::Untried { cause: format!("the exchange {fault}") },
    }
}

/// Readings in ticks: of the asking thread, the replying thread, and the asking thread again.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    before: u64,
    between: u64,
    after: u64,
}

/// Every offset of the replying thread's clock, in ticks, that agrees with the exchanges seen so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offsets {
    low: i64,
    high: i64,
}

/// More than a message takes between the most distant CPUs of one machine, and less than a system call's significant
/// time.
const WIDE_NANOSECONDS: f64 = 2_000.0;

impl Offsets {
    const ANY: Self = Self { low: i64::MIN, high: i64::MAX };

    fn narrow(&mut self, exchange: Exchange) {
        self.low = self.low.max(exchange.between.wrapping_sub(exchange.after).cast_signed());
        self.high = self.high.min(exchange.between.wrapping_sub(exchange.before).cast_signed());
    }

    /// The offsets that agree with both, where `other` was measured from the other CPU.
    fn and_asked_from_the_other_side(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.high.checked_neg().unwrap_or(i64::MAX)),
            high: self.high.min(other.low.checked_neg().unwrap_or(i64::MAX)),
        }
    }

    fn width(self) -> u64 {
        // A low bound above the high one is as narrow as possible.
        self.high.saturating_sub(self.low).max(0).cast_unsigned()
    }

    fn judged(self, clock: &Clock) -> InStep {
        let nanoseconds = |ticks: i64| clock.nanoseconds(0, ticks.cast_unsigned());
        let (low, high) = (nanoseconds(self.low), nanoseconds(self.high));
        if self.low > self.high {
            InStep::Drifting { by: low - high }
        } else if self.low > 0 || self.high < 0 {
            InStep::No { low, high }
        } else if self.width() > clock.ticks(WIDE_NANOSECONDS) {
            InStep::Unproven { low, high }
        } else {
            InStep::Yes { low, high }
        }
    }
}

/// Both sides ask: a difference between the two directions then shows in both bounds of the interval.
fn offsets(clock: &'static Clock, place: Place) -> Result<Offsets, Fault> {
    let swapped = Place { first: place.second, second: place.first };
    let asked = exchanged(clock, place)?;
    Ok(asked.and_asked_from_the_other_side(exchanged(clock, swapped)?))
}

const EXCHANGES: u64 = 2_000;
/// On a busy machine the two threads may never run at the same time.
const LONGEST: Duration = Duration::from_millis(20);
/// The limit if there is still no result by then.
const LONGEST_IF_WIDE: Duration = Duration::from_secs(2);
const END: u64 = u64::MAX;

/// One line for each direction; each is written by one thread only.
#[derive(Default)]
struct Lines {
    /// The number of the question: written by the asking thread.
    ask: CachePadded<AtomicU64>,
    /// The replying thread's reading and the number of the question.
    answer: CachePadded<(AtomicU64, AtomicU64)>,
}

/// Questions from the first CPU of `place` to the second.
fn exchanged(clock: &'static Clock, place: Place) -> Result<Offsets, Fault> {
    let lines = Arc::new(Lines::default());
    let same = lines.clone();
    let ask = move |gate: &Gate| {
        gate.pass();
        ask(clock, &lines)
    };
    let answer = move |gate: &Gate| {
        gate.pass();
        answer_all(clock, &same);
    };
    Ok(duet(place, EXCHANGES, ask, answer)?.0)
}

fn ask(clock: &Clock, lines: &Lines) -> Offsets {
    let wide = clock.ticks(WIDE_NANOSECONDS);
    let start = Instant::now();
    let mut offsets = Offsets::ANY;
    let mut number = 0;
    loop {
        let longest = if offsets.width() > wide { LONGEST_IF_WIDE } else { LONGEST };
        let enough = number >= EXCHANGES && offsets.width() <= wide;
        if enough || (number > 0 && start.elapsed() > longest) {
            break;
        }
        number += 1;
        let before = clock.read();
        // ORDERING: Release pairs with the Acquire in `answer_all`. The reading above is taken before this is seen.
        lines.ask.store(number, Ordering::Release);
        // ORDERING: Acquire pairs with the Release in `answer_all`, for the reading below.
        until(|| lines.answer.1.load(Ordering::Acquire) == number);
        let after = clock.read();
        // ORDERING: Relaxed: the Acquire above brought it.
        let between = lines.answer.0.load(Ordering::Relaxed);
        offsets.narrow(Exchange { before, between, after });
    }
    // ORDERING: Release pairs with the Acquire in `answer_all`; it carries no other data.
    lines.ask.store(END, Ordering::Release);
    offsets
}

fn answer_all(clock: &Clock, lines: &Lines) {
    let mut answered = 0;
    loop {
        let mut number = answered;
        until(|| {
            // ORDERING: Acquire pairs with the Release in `ask`: the reading below is taken after it.
            number = lines.ask.load(Ordering::Acquire);
            number != answered
        });
        if number == END {
            return;
        }
        let between = clock.read();
        // ORDERING: Relaxed: published by the store below.
        lines.answer.0.store(between, Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `ask`, which then finds the reading.
        lines.answer.1.store(number, Ordering::Release);
        answered = number;
    }
}

/// Spins. On a busy machine the other thread may be preempted whenever this one runs. A thread that has polled for
/// longer than any message takes sleeps for a moment, which changes the turns of both on their CPUs.
fn until(mut done: impl FnMut() -> bool) {
    let mut looks = 0u32;
    while !done() {
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(1 << 14) {
            std::thread::sleep(Duration::from_micros(50));
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests;
