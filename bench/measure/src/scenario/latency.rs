//! One message at a time, the next only after the reply, and each of them timed.
//!
//! ```text
//!   first CPU      stamp i ----------- there ----------> stamp i          second CPU
//!                          <---------- back -----------        stamp i    (the reply is back)
//! ```
//!
//! One way is from the first stamp to the second, on two CPUs, whose clocks must be in step; the round trip is from the
//! first to the third, on one. The median one way ranks, or half of the median round trip where the clocks disagree.

use super::bounces::{self, Bounces, Open};
use super::stamped::{between, in_step, keep, keep_ranked, rank_by, room};
use super::{Quick, Scenario, ping_pong};
use crate::clock;
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::boxed_duet;
use crate::stats::{self, Spread};
use crate::transport::empty::Empty;
use crate::transport::{Message, Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "latency",
    about: "One message at a time, the next only after the reply: the time one way, median of single messages",
    parameters: &[],
    in_quick: Quick::Whole,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    contender,
    ..ping_pong::SCENARIO
};

fn contender(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let limit = ping_pong::own_limit(entry.traits.waits, place);
    frame.transport(&entry.traits, limit, move |messages| (entry.latency)(place, messages))
}

/// Every distribution holds exactly `messages` times.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64) -> Result<Outcome, Fault> {
    timed(place, messages, bounces::open::<T, M>, !T::TRAITS.invents)
}

fn timed(place: Place, messages: u64, open: Open, carried: bool) -> Result<Outcome, Fault> {
    let one_way = carried && in_step(place).is_ok();
    let messages = messages as usize;
    Ok(outcome(&exchange(place, messages, open(messages)?)?, one_way))
}

/// Nanoseconds of every round trip that the instrument itself takes, measured where nothing is carried. It is compared
/// with the cost of one reading of the clock, and measured like that: the median over the means of short batches. A
/// tick of the clock is too long for the median of single times.
pub fn overhead(place: Place) -> Result<f64, Fault> {
    const MESSAGES: usize = 64_000;
    const BATCH: usize = 64;
    let stamps = exchange(place, MESSAGES, bounces::open::<Empty, usize>(MESSAGES)?)?;
    let round_trips = between(clock::get(), &stamps.sent, &stamps.answered);
    let means: Vec<f64> = round_trips.chunks_exact(BATCH).filter_map(stats::mean).collect();
    Ok(Spread::of(&means).map_or(0.0, |spread| spread.median))
}

/// Three readings of the clock for each message.
struct Stamps {
    /// Before the send.
    sent: Vec<u64>,
    /// After the receipt, on the other side.
    received: Vec<u64>,
    /// After the receipt of the reply.
    answered: Vec<u64>,
}

fn outcome(stamps: &Stamps, one_way: bool) -> Outcome {
    let clock = clock::get();
    let mut outcome = Outcome::default();
    let round_trips = between(clock, &stamps.sent, &stamps.answered);
    keep(&mut outcome, Series::RoundTrip, &round_trips);
    if one_way {
        // The graph shows the ranking series.
        outcome.traces.clear();
        let times = between(clock, &stamps.sent, &stamps.received);
        keep_ranked(&mut outcome, Series::Latency, &times);
    } else {
        let halves = round_trips.iter().map(|time| time / 2.0).collect();
        rank_by(&mut outcome, &halves);
        outcome.metrics.insert(Metric::Halved, 1.0);
    }
    outcome
}

fn exchange(place: Place, messages: usize, (asks, answers): Bounces) -> Result<Stamps, Fault> {
    let (sent, received, answered) = (room(messages)?, room(messages)?, room(messages)?);
    let (asked, received) = boxed_duet(
        place,
        2 * messages as u64,
        Box::new(move || asks.stamped(sent, answered)),
        Box::new(move || answers.stamped(received)),
    )?;
    match (asked, received) {
        (Ok((sent, answered)), Ok(received)) => Ok(Stamps { sent, received, answered }),
        // A thread that only saw the other stop reports less than the other.
        (Err(Fault::Lost { .. } | Fault::Disconnected { .. }), Err(fault)) | (Err(fault), _) | (_, Err(fault)) => {
            Err(fault)
        }
    }
}

#[cfg(test)]
mod tests;
