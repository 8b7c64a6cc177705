//! The shared part of the drivers that time single messages: room for the stamps, the loop of a receiver that takes one
//! for each message, and the evaluation of the stamps after the clock has stopped.
//!
//! A stamp is one reading of the clock, kept as it was read. No loop here or in those drivers does anything else with
//! it.

use std::io;
use std::sync::OnceLock;

use super::{check, expect_end};
use crate::clock::{self, Clock};
use crate::distribution::Distribution;
use crate::error::Fault;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::trace::Trace;
use crate::transport::{Message, Receiver};

/// Reads the clock. Each loop has a type of its own, so that a reading is the instruction and not a call.
pub(super) trait Now: Fn() -> u64 + Copy + Send + 'static {}

impl<F: Fn() -> u64 + Copy + Send + 'static> Now for F {}

/// The clock of this program, made ready beforehand.
pub(super) fn now() -> impl Now {
    let clock = clock::get();
    move || clock.read()
}

/// A fault where a time on one of the two CPUs may not be subtracted from a time on the other.
pub(super) fn in_step(place: Place) -> Result<(), Fault> {
    clock::one_way(place).as_ref().copied().map_err(|reason| refusal(reason))
}

/// Leaves a competitor out, and ends nothing. The sentence becomes part of another one.
fn refusal(reason: &str) -> Fault {
    Fault::System(io::Error::other(reason.trim_end_matches('.')))
}

/// Room for `stamps` stamps. All of it is written to, so that no page of it is missing when the clock runs.
pub(super) fn room(stamps: usize) -> Result<Vec<u64>, Fault> {
    let mut room = Vec::new();
    room.try_reserve_exact(stamps).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    room.resize(stamps, u64::MAX);
    Ok(room)
}

/// Receives one message per stamp, takes each stamp after the receipt, and checks the messages and that nothing
/// follows. `at_end` is called between the last message and the end of the stream, through a pointer, so that all
/// drivers have the same loop.
#[inline(never)]
pub(super) fn receive<M: Message>(
    receiver: impl Receiver<M>,
    now: impl Now,
    stamps: Vec<u64>,
    at_end: &mut dyn FnMut(),
) -> Result<Vec<u64>, Fault> {
    let (mut receiver, mut stamps) = (receiver, stamps);
    for (expected, stamp) in stamps.iter_mut().enumerate() {
        let received = receiver.recv();
        *stamp = now();
        check(received, expected)?;
    }
    at_end();
    expect_end(&mut receiver)?;
    Ok(stamps)
}

/// Nanoseconds from each stamp to its partner.
pub(super) fn between(clock: &Clock, from: &[u64], to: &[u64]) -> Vec<f64> {
    from.iter().zip(to).map(|(&from, &to)| clock.nanoseconds(from, to)).collect()
}

/// Nanoseconds from each stamp to the next one.
pub(super) fn steps(clock: &Clock, stamps: &[u64]) -> Vec<f64> {
    stamps.windows(2).map(|pair| clock.nanoseconds(pair[0], pair[1])).collect()
}

/// Keeps a series, whole as a distribution and thinned as a trace.
pub(super) fn keep(outcome: &mut Outcome, series: Series, times: &[f64]) {
    outcome.distributions.insert(series, times.iter().copied().collect());
    outcome.traces.insert(series, Trace::of(times));
}

/// Keeps the series that ranks.
pub(super) fn keep_ranked(outcome: &mut Outcome, series: Series, times: &[f64]) {
    let ranked: Distribution = times.iter().copied().collect();
    rank_by(outcome, &ranked);
    outcome.distributions.insert(series, ranked);
    outcome.traces.insert(series, Trace::of(times));
}

/// The median of the run ranks. It and the other figures can be compared round by round.
pub(super) fn rank_by(outcome: &mut Outcome, ranked: &Distribution) {
    static STEP: OnceLock<f64> = OnceLock::new();
    let step = *STEP.get_or_init(|| clock::get().resolution());
    outcome.nanoseconds = ranked.median_within_steps(step);
    outcome.metrics.extend([
        (Metric::Median, outcome.nanoseconds),
        (Metric::Mean, ranked.mean()),
        (Metric::P90, ranked.quantile(0.9)),
        (Metric::P99, ranked.quantile(0.99)),
        (Metric::P999, ranked.quantile(0.999)),
        (Metric::Maximum, ranked.most()),
        (Metric::Deviation, ranked.standard_deviation()),
        (Metric::SlowOfThousand, ranked.slow_of_thousand()),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_does_not_exist_is_a_fault_and_no_abort() {
        assert!(matches!(room(usize::MAX / 8), Err(Fault::System(_))));
        assert_eq!(room(3).unwrap(), [u64::MAX; 3]);
    }

    #[test]
    fn clocks_out_of_step_leave_a_competitor_out_with_the_reason() {
        let fault = refusal("One-way times cannot be told: the clocks are out of step.");
        assert!(matches!(fault, Fault::System(_)));
        assert_eq!(fault.to_string(), "could not run: One-way times cannot be told: the clocks are out of step");
    }

    #[test]
    fn a_series_is_kept_whole_and_its_slowest_message_stays_in_the_trace() {
        let mut times: Vec<f64> = (0..50_000).map(|n| 100.0 + f64::from(n % 7)).collect();
        times[31_234] = 1e6;
        let mut outcome = Outcome::default();
        keep_ranked(&mut outcome, Series::Latency, &times);
        assert_eq!(outcome.distributions[&Series::Latency].count(), 50_000);
        assert!(outcome.traces[&Series::Latency].points.contains(&(31_234, 1e6)));
        assert!(outcome.metrics[&Metric::Maximum] >= 999_000.0 && outcome.metrics[&Metric::P999] < 107.0);
        assert_eq!(outcome.nanoseconds, outcome.metrics[&Metric::Median]);
    }
}
