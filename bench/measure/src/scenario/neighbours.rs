//! Single messages at fixed intervals, between two threads on busy CPUs: each CPU also runs a thread that only
//! computes.
//!
//! ```text
//!   first CPU      sleep ... stamp, send ---> stamp ... sleep ... stamp, send ---> stamp      second CPU
//!                  computes                                                        computes
//! ```
//!
//! A reader that never sleeps is a greedy neighbour itself: it has its CPU for a slice of the scheduler and then loses
//! it for one, whatever arrives. Most bounced messages fall into its own slices, as the next is sent only after the
//! last has arrived, so their mean is too good. Here messages are sent at independent times, by a sender that sleeps
//! between them, and each is timed one way. The 90th percentile ranks. A spinner that shares its CPU is late in far
//! more than a tenth of them, and its median is random. Of transports that sleep a few in 100 wait for a slice as well,
//! and the 99th percentile would show only its length.

use super::timetable::{self, Timetable};
use super::{Quick, Scenario};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::neighbours::Neighbours;
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::transport::Shape;

pub static SCENARIO: Scenario = Scenario {
    name: "busy-neighbours",
    about: "A message every half millisecond, while another thread on each CPU only computes: the time one way, 90th percentile",
    parameters: &[ONE],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: timetable::able,
    limit: |_, _| &limits::WAKE_BESIDE_NEIGHBOURS,
    beside: &[],
    contender,
};

const ONE: Parameter = Parameter { quantity: Quantity::Neighbours, value: 1.0 };

/// Several in each slice of a scheduler, and enough of them for a 90th percentile.
const TIMETABLE: Timetable = Timetable { interval: 5e-4, least: 100, longest: 0.1 };

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let each = parameter.unwrap_or(ONE).value as usize;
    let frame = Frame { transports: TIMETABLE.length(frame.transports), ..frame };
    frame.transport(&entry.traits, &limits::WAKE_BESIDE_NEIGHBOURS, move |messages| run(entry, place, each, messages))
}

fn run(entry: &Entry, place: Place, each: usize, messages: u64) -> Result<Outcome, Fault> {
    let _neighbours = Neighbours::on_every_cpu(place, each)?;
    let mut outcome = (entry.night_watchman)(place, messages, TIMETABLE.interval)?;
    if let Some(&p90) = outcome.metrics.get(&Metric::P90) {
        outcome.nanoseconds = p90;
    }
    Ok(outcome)
}
