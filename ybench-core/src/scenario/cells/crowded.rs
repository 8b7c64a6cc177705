//! One message at a time in a crowd: many pairs of threads on a few CPUs, each of which sends its next message only when the
//! answer is back, and every round trip is timed.
//!
//! ```text
//!   thread 0   stamp i, ask -------> answer   thread 1      no thread is kept on one CPU: whoever is woken may have to
//!              stamp    <-----------/                       wait until another one sleeps
//!   thread 2   ...
//! ```
//!
//! What streams through a crowd waits in queues, and for as long as these are: the time of its single messages tells the room,
//! not the way. Here nobody has anything in a queue but one message, so the slowest tell how wake-ups fare when all CPUs are
//! busy. Both stamps are taken by one thread. Who spins is left out: its messages would take slices of the scheduler.

use super::super::latency::{Bounces, RoundTrips};
use super::super::stamped::{between, in_step, rank_by};
use crate::clock;
use crate::distribution::Distribution;
use crate::error::Fault;
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::stage::{Part, ensemble};

/// Bounces so many messages, divided among the pairs, rounded up to the same number for each. A fault where the clocks of the
/// CPUs are not in step, as the thread that reads them may go from one to the other.
pub(super) fn play(
    place: Place,
    pairs: usize,
    bounces: u64,
    open: fn(usize) -> Result<Bounces, Fault>,
) -> Result<Outcome, Fault> {
    in_step(place)?;
    let cpus = place.cpus();
    let each = bounces.div_ceil(pairs as u64) as usize;
    let mut parts = Vec::with_capacity(2 * pairs);
    for _ in 0..pairs {
        let (ask, answer) = open(each)?;
        parts.push(Part::new(&cpus, move |gate| {
            gate.pass();
            ask()
        }));
        parts.push(Part::new(&cpus, move |gate| {
            gate.pass();
            answer().map(|()| RoundTrips::default())
        }));
    }
    let stamps = ensemble(2 * bounces, parts)?.into_iter().collect::<Result<Vec<_>, Fault>>()?;
    let clock = clock::get();
    let round_trips = stamps.iter().flat_map(|(sent, answered)| between(clock, sent, answered));
    let halves: Distribution = round_trips.map(|time| time / 2.0).collect();
    let mut outcome = Outcome::default();
    rank_by(&mut outcome, &halves);
    outcome.metrics.insert(Metric::Halved, 1.0);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::super::latency::ends;
    use super::*;
    use crate::transport::{spsc, std_mpsc};

    #[test]
    fn every_pair_is_timed_and_the_slowest_are_told() {
        let place = Place::choose(None).unwrap();
        if in_step(place).is_err() {
            return;
        }
        for open in [ends::<spsc::Adaptive, usize>, ends::<std_mpsc::Channel, usize>] {
            let outcome = play(place, 4, 401, open).unwrap();
            let of = |metric| outcome.metrics[&metric];
            assert!(outcome.nanoseconds > 0.0 && outcome.nanoseconds == of(Metric::Median));
            assert!(of(Metric::Median) <= of(Metric::P99) && of(Metric::P99) <= of(Metric::P999));
            assert!(of(Metric::P999) <= of(Metric::Maximum));
        }
    }
}
