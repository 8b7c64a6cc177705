//! Many more threads than CPUs: pairs of threads, each with a channel of its own, all streaming at the same time.
//!
//! ```text
//!   thread 0   0 1 2 3 ... --------> 0 1 2 3 ...   thread 1      no thread is kept on one CPU: all of them may run
//!   thread 2   0 1 2 3 ... --------> 0 1 2 3 ...   thread 3      on every CPU of the place, as the scheduler likes
//!   ...
//! ```
//!
//! The figure is the time from the first send of all to the last receipt of all, for one of all the messages. A receiver
//! that spins takes part: it finishes, because the scheduler takes the CPU from it in the end, and what that costs is the
//! question. Where the sender spins as well, as on a full ring, one ring of messages moves each time the scheduler has
//! been round all threads, thousands of times slower than everybody else: such transports are left out.
//!
//! A run lasts for many slices of the scheduler, and each pair sends so much that it needs several: in less time the
//! threads would simply run one after the other. That is too long for the comparison without a command.

use std::time::{Duration, Instant};

use super::throughput::{Stream, ends};
use super::{Quick, Scenario};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::{Contender, Length};
use crate::stage::{Part, Span, Timed, ensemble};
use crate::transport::registry::Entry;
use crate::transport::{Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "crowd",
    about: "Streams between pairs of threads, many more threads than CPUs: all of the time for one of all the messages",
    parameters: &[threads_per_cpu(2.0), EIGHT],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && (traits.waits.sleeps() || !traits.bounded),
    // The CPUs together cannot do more than each of them alone at both ends of a pipe, never waiting for anybody.
    limit: |_, _| &limits::EVERY_CPU,
    beside: &[&limits::ONE_THREAD],
    contender,
};

const EIGHT: Parameter = threads_per_cpu(8.0);

const fn threads_per_cpu(threads: f64) -> Parameter {
    Parameter { quantity: Quantity::ThreadsPerCpu, value: threads }
}

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let threads = parameter.unwrap_or(EIGHT).value as usize;
    let run = move |messages| (entry.crowd)(place, threads, messages);
    let mut contender = frame.transport(entry, &limits::EVERY_CPU, run);
    if let Length::Time(_) | Length::TimeAndUnits(..) = contender.length {
        contender.length = contender.length.at_least(LEAST_TIME, LEAST_UNITS);
    }
    contender
}

/// Schedulers give a thread a few milliseconds at a time.
pub(super) const LEAST_TIME: Duration = Duration::from_millis(100);

/// A spinner's first few messages take as long as all slices together, and would pass for a run of the right length.
pub(super) const LEAST_UNITS: u64 = 100_000;

/// Streams `messages`, divided among as many pairs as make `threads_per_cpu`, rounded up to the same number for each.
pub fn run<T: Transport>(place: Place, threads_per_cpu: usize, messages: u64) -> Result<Timed, Fault> {
    play(place, threads_per_cpu, messages, ends::<T, usize>)
}

/// The same with streams that are opened so.
pub(super) fn play(
    place: Place,
    threads_per_cpu: usize,
    messages: u64,
    open: fn(usize) -> Result<Stream, Fault>,
) -> Result<Timed, Fault> {
    let cpus = place.cpus();
    let pairs = pairs(threads_per_cpu, cpus.len());
    let each = messages.div_ceil(pairs as u64) as usize;
    let mut parts = Vec::with_capacity(2 * pairs);
    for _ in 0..pairs {
        let (pour, drain) = open(each)?;
        parts.push(Part::new(&cpus, move |gate| {
            gate.pass();
            let start = pour();
            Ok(Span { start, end: start, units: 0 })
        }));
        parts.push(Part::new(&cpus, move |gate| {
            gate.pass();
            let start = Instant::now();
            Ok(Span { start, end: drain()?, units: each as u64 })
        }));
    }
    // Every pair ends by itself, whatever happens in another one.
    let spans = ensemble(messages, parts)?.into_iter().collect::<Result<Vec<_>, Fault>>()?;
    Ok(Span::over(&spans))
}

/// So many channels, each between two threads.
pub(super) fn pairs(threads_per_cpu: usize, cpus: usize) -> usize {
    (threads_per_cpu * cpus / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::registry;

    #[test]
    fn there_are_as_many_threads_as_the_parameter_says() {
        assert_eq!((pairs(2, 2), pairs(8, 2), pairs(2, 1), pairs(8, 1)), (2, 8, 1, 4));
        assert_eq!(pairs(1, 1), 1);
    }

    #[test]
    fn two_spinning_ends_are_left_out_and_one_is_not() {
        let able = |name| (SCENARIO.able)(&registry::named(name).unwrap().traits);
        assert!(!able("rtrb-1k") && !able("rtrb-64k"));
        assert!(able("mutex-spin") && able("spsc-forever") && able("spsc-bounded") && able("unix-stream"));
    }

    #[test]
    fn every_pair_streams_the_same_number() {
        let place = Place::choose(None).unwrap();
        let pairs = pairs(8, place.cpus().len()) as u64;
        let timed = run::<crate::transport::spsc::Adaptive>(place, 8, 10 * pairs - 1).unwrap();
        assert_eq!(timed.units, 10 * pairs);
    }
}
