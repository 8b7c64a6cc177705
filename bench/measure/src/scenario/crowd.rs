//! Many more threads than CPUs: pairs of threads, each with a channel of its own, all at work at the same time.
//!
//! ```text
//!   thread 0   0 1 2 3 ... --------> 0 1 2 3 ...   thread 1      no thread is pinned to one CPU: all of them may run
//!   thread 2   0 1 2 3 ... --------> 0 1 2 3 ...   thread 3      on every CPU of the place, as the scheduler decides
//!   ...
//! ```
//!
//! In streams the figure is the time from the first send of all to the last receipt of all, for one of all the
//! messages. A receiver that spins takes part. It finishes, because the scheduler preempts it in the end, and the cost
//! of that is measured. Where the sender spins as well, as on a full ring, one ring of messages moves each time the
//! scheduler has run all threads, thousands of times slower than all others: such transports are left out.
//!
//! Messages that stream through a crowd wait in queues, as long as these are: the time of single messages shows the
//! room and not the transfer. So single messages are timed where each sender sends its next message only after the
//! reply. The figure is half of the round trip, and one thread takes its stamps. The slowest show wake-ups while all
//! CPUs are busy. Spinning transports are left out: their messages would take slices of the scheduler.
//!
//! Left to the scheduler, threads that wake each other may run on the same CPU or on different ones. For comparison,
//! the same is run with each thread pinned to one CPU, the two of a pair on different ones.
//!
//! A run lasts for many slices of the scheduler, and each pair sends enough to need several. In less time the threads
//! would simply run one after the other. That is too long for the comparison without a command.

use std::time::{Duration, Instant};

use super::bounces::{self, RoundTrips};
use super::stamped::{between, in_step, rank_by, room};
use super::throughput::{self, Stream};
use super::{Quick, Scenario};
use crate::clock;
use crate::distribution::Distribution;
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::{Contender, Length};
use crate::scenario::Entry;
use crate::stage::{FromTheGate, Part, Span, Timed, ensemble};
use crate::transport::{Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "crowd",
    about: "Streams between pairs of threads, many more threads than CPUs: all of the time for one of all the messages",
    parameters: &[threads_per_cpu(2.0), EIGHT, threads_per_cpu(64.0), kept_threads_per_cpu(8.0)],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && (traits.waits.sleeps() || !traits.bounded),
    // The CPUs together cannot do more than each of them alone as sender and receiver of a ypipe, without waiting.
    limit: |_, _| &limits::EVERY_CPU,
    beside: &[&limits::ONE_THREAD],
    contender: |entry, parameter, frame| contender(entry, Work::Streams, parameter, frame),
};

pub static BOUNCED: Scenario = Scenario {
    name: "crowd-latency",
    about: "One message bounced between each of many pairs of threads, many more threads than CPUs: half of the round trip",
    parameters: &[
        threads_per_cpu(2.0),
        EIGHT,
        threads_per_cpu(64.0),
        kept_threads_per_cpu(2.0),
        kept_threads_per_cpu(8.0),
        kept_threads_per_cpu(64.0),
    ],
    able: |traits| traits.one_by_one && traits.waits.sleeps(),
    limit: |_, _| &limits::FUTEX_ONE_CPU,
    beside: &[],
    contender: |entry, parameter, frame| contender(entry, Work::Bounces, parameter, frame),
    ..SCENARIO
};

const EIGHT: Parameter = threads_per_cpu(8.0);

const fn threads_per_cpu(threads: f64) -> Parameter {
    Parameter { quantity: Quantity::ThreadsPerCpu, value: threads }
}

const fn kept_threads_per_cpu(threads: f64) -> Parameter {
    Parameter { quantity: Quantity::KeptThreadsPerCpu, value: threads }
}

/// The work of each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Streams,
    Bounces,
}

/// The number of threads, and the choice of their CPUs.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    pub threads_per_cpu: usize,
    /// Each thread is pinned to its CPU; otherwise the scheduler decides.
    pub kept: bool,
}

impl Crowd {
    /// The scheduler decides.
    pub fn of(threads_per_cpu: usize) -> Self {
        Self { threads_per_cpu, kept: false }
    }

    /// The number of channels, each between two threads.
    fn pairs(self, place: Place) -> usize {
        (self.threads_per_cpu * place.cpus().len() / 2).max(1)
    }

    /// The CPUs that one of the two threads of a pair may use.
    fn cpus(self, place: Place, pair: usize, side: usize) -> Vec<usize> {
        let cpus = place.cpus();
        if self.kept { vec![cpus[(pair + side) % cpus.len()]] } else { cpus }
    }

    /// Every pair does the work that `pair` opens for it. Returns the results of both sides, pair by pair. Every pair
    /// ends by itself, whatever happens in another one.
    fn works<A: Send + 'static>(
        self,
        place: Place,
        units: u64,
        pair: impl Fn() -> Result<[Side<A>; 2], Fault>,
    ) -> Result<Vec<A>, Fault> {
        let mut parts = Vec::with_capacity(2 * self.pairs(place));
        for number in 0..self.pairs(place) {
            for (side, work) in pair()?.into_iter().enumerate() {
                parts.push(Part::new(&self.cpus(place, number, side), move |gate| {
                    gate.pass();
                    work()
                }));
            }
        }
        ensemble(units, parts)?.into_iter().collect()
    }
}

/// The work of one thread of a pair.
type Side<A> = FromTheGate<Result<A, Fault>>;

fn contender(entry: &'static Entry, work: Work, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, at) = (frame.place, parameter.unwrap_or(EIGHT));
    let crowd = Crowd { threads_per_cpu: at.value as usize, kept: at.quantity == Quantity::KeptThreadsPerCpu };
    let (limit, least) = match work {
        Work::Streams => (&limits::EVERY_CPU, LEAST_UNITS),
        Work::Bounces => (&limits::FUTEX_ONE_CPU, LEAST_BOUNCES),
    };
    lasting(frame.transport(&entry.traits, limit, move |units| (entry.crowd)(place, crowd, work, units)), least)
}

/// Long enough for a crowd, if the length of a run is a time.
pub(super) fn lasting(mut contender: Contender, least: u64) -> Contender {
    if let Length::Time(_) | Length::TimeAndUnits(..) = contender.length {
        contender.length = contender.length.at_least(LEAST_TIME, least);
    }
    contender
}

/// The time that schedulers give a thread: a few milliseconds.
pub(super) const LEAST_TIME: Duration = Duration::from_millis(100);

/// A spinner's first few messages take as long as all slices together, and would look like a run of the right length.
pub(super) const LEAST_UNITS: u64 = 100_000;

/// The same, of the round trips of all pairs together.
pub(super) const LEAST_BOUNCES: u64 = 8_000;

/// A number of messages or bounces, divided among the pairs, rounded up to the same number for each.
pub fn run<T: Transport>(place: Place, crowd: Crowd, work: Work, units: u64) -> Result<Outcome, Fault> {
    match work {
        Work::Streams => Ok(stream(place, crowd, units, throughput::ends::<T, usize>)?.into()),
        Work::Bounces => bounce(place, crowd, units, bounces::open::<T, usize>),
    }
}

/// Streams opened by `open`.
pub(super) fn stream(
    place: Place,
    crowd: Crowd,
    messages: u64,
    open: fn(usize) -> Result<Stream, Fault>,
) -> Result<Timed, Fault> {
    let each = messages.div_ceil(crowd.pairs(place) as u64) as usize;
    let spans = crowd.works(place, messages, || {
        let (pour, drain) = open(each)?;
        let pouring = move || {
            let start = pour();
            Ok(Span { start, end: start, units: 0 })
        };
        let draining = move || {
            let start = Instant::now();
            Ok(Span { start, end: drain()?, units: each as u64 })
        };
        Ok([Box::new(pouring) as Side<Span>, Box::new(draining)])
    })?;
    Ok(Span::over(&spans))
}

/// Bounces opened by `open`. A fault where the clocks of the CPUs are not in step, as the thread that reads them may go
/// from one to the other.
pub(super) fn bounce(place: Place, crowd: Crowd, bounces: u64, open: bounces::Open) -> Result<Outcome, Fault> {
    in_step(place)?;
    let each = bounces.div_ceil(crowd.pairs(place) as u64) as usize;
    let stamps = crowd.works(place, 2 * bounces, || {
        let (sent, answered) = (room(each)?, room(each)?);
        let (asks, answers) = open(each)?;
        let asking: Side<RoundTrips> = Box::new(move || asks.stamped(sent, answered));
        Ok([asking, Box::new(move || answers.plain().map(|()| RoundTrips::default()))])
    })?;
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
    use super::*;
    use crate::transport::spsc;

    fn place() -> Place {
        Place::choose(None).unwrap()
    }

    #[test]
    fn there_are_as_many_threads_as_the_parameter_says() {
        let (two, one) = (Place { first: 0, second: 1 }, Place { first: 0, second: 0 });
        let pairs = |threads, place| Crowd::of(threads).pairs(place);
        assert_eq!((pairs(2, two), pairs(8, two), pairs(2, one), pairs(8, one)), (2, 8, 1, 4));
        assert_eq!(pairs(1, one), 1);
    }

    #[test]
    fn a_pinned_thread_has_one_cpu_and_its_partner_another() {
        let place = Place { first: 3, second: 5 };
        let cpus = |kept, pair, side| Crowd { threads_per_cpu: 4, kept }.cpus(place, pair, side);
        assert_eq!([cpus(true, 0, 0), cpus(true, 0, 1), cpus(true, 1, 0), cpus(true, 1, 1)], [[3], [5], [5], [3]]);
        assert_eq!([cpus(false, 0, 0), cpus(false, 1, 1)], [[3, 5], [3, 5]]);
    }

    #[test]
    fn every_pair_streams_the_same_number() {
        let pairs = Crowd::of(8).pairs(place()) as u64;
        for kept in [false, true] {
            let crowd = Crowd { threads_per_cpu: 8, kept };
            let timed = stream(place(), crowd, 10 * pairs - 1, throughput::ends::<spsc::Adaptive, usize>).unwrap();
            assert_eq!(timed.units, 10 * pairs);
        }
    }
}
