//! A queue without a bound whose sender is quicker than its receiver: every message waits for all those before it.
//!
//! ```text
//!   first CPU      stamp 0 stamp 1 stamp 2 ... ---> a queue that grows ---> stamp 0      stamp 1      ...   second CPU
//! ```
//!
//! From each message's send to its receipt, drawn over its number. The stream is that of `density`. The times grow with
//! the number of messages, so every transport sends the same number, in any time.

use super::density::{Stream, stream};
use super::stamped::{between, in_step, keep_ranked, now};
use super::{Quick, Scenario, handles, throughput};
use crate::clock;
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::{Contender, Length};
use crate::scenario::Entry;
use crate::stats::Spread;
use crate::transport::{Message, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "overrun",
    about: "The growing latency of a queue whose sender is quicker than its receiver",
    in_quick: Quick::No,
    able: |traits| traits.one_by_one && !traits.bounded && !traits.invents,
    // The message waits where it might have arrived at once: the ratio shows how much longer.
    limit: |frame, _| frame.floor(),
    beside: &[],
    contender,
    ..throughput::SCENARIO
};

/// The same with transports that have a bound: their senders wait, and the latency no longer grows.
pub static WITH_BOUNDS: Scenario = Scenario { able: |traits| traits.one_by_one && !traits.invents, ..SCENARIO };

/// The number in the article on nanoseconds.
pub const MESSAGES: u64 = 1_000_000;

fn contender(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let transports = match frame.transports {
        Length::Units(messages) => Length::Units(messages),
        Length::Time(_) | Length::TimeAndUnits(..) => Length::Units(MESSAGES),
    };
    let frame = Frame { transports, ..frame };
    frame.transport(&entry.traits, frame.floor(), move |messages| (entry.overrun)(place, messages))
}

/// The distribution holds exactly `messages` times. The median ranks. A fault where clocks are not in step.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64) -> Result<Outcome, Fault> {
    in_step(place)?;
    timed::<T, M>(place, messages)
}

fn timed<T: Transport, M: Message>(place: Place, messages: u64) -> Result<Outcome, Fault> {
    overrun(place, messages, handles::open::<T, M>)
}

fn overrun<M: Message>(place: Place, messages: u64, open: handles::Open<M>) -> Result<Outcome, Fault> {
    Ok(outcome(&stream(place, messages as usize, now(), open)?))
}

fn outcome(stream: &Stream) -> Outcome {
    let mut outcome = Outcome::default();
    // A message's send begins at the end of the previous one.
    let latencies = between(clock::get(), &stream.sent, &stream.received[1..]);
    keep_ranked(&mut outcome, Series::Latency, &latencies);
    outcome.metrics.extend(growth(&latencies).map(|times| (Metric::Growth, times)));
    outcome.metrics.insert(Metric::MostUnderWay, stream.most_under_way() as f64);
    outcome.metrics.insert(Metric::TotalOverCount, stream.timed.nanoseconds_per_unit());
    outcome
}

/// How many times longer a message waits at the end than in the middle: the medians of a tenth of them.
fn growth(times: &[f64]) -> Option<f64> {
    let tenth = times.len() / 10;
    let middle = |from: usize| Some(Spread::of(times.get(from..from + tenth)?)?.median);
    Some(middle(times.len() - tenth)? / middle(times.len() / 2 - tenth / 2)?)
}

#[cfg(test)]
mod tests;
