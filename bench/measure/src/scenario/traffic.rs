//! Shapes of traffic: the same number of messages a second, due evenly, at random, in spikes, or as a logger gets them.
//!
//! ```text
//!   even       |   |   |   |   |   |   |   |
//!   random     ||    |  |  |       | ||   |          the gaps of independent events
//!   spikes     |   |   |   |||||           |   |     evenly, then many at once, then nothing until the mean is kept
//!   logger     ||||                ||||              lines, pages and a book at once
//! ```
//!
//! The loops are those of the fixed rate, and so are the times: from the moment at which a message was due, so that a
//! delay counts. All transports get the same traffic.

use std::sync::Arc;

use super::fixed_rate::{self, timetable};
use super::timetable;
use super::{Quick, Scenario, handles};
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::transport::handed::{Blocks, Handed, Run};
use crate::transport::logged;
use crate::transport::{Shape, Transport};

/// One shape.
#[derive(Debug)]
pub struct Traffic {
    /// The name of its scenario.
    pub name: &'static str,
    /// For the head of a column.
    pub short: &'static str,
    about: &'static str,
    /// The times at which the messages are due, in mean distances between two.
    due: fn(usize) -> Vec<f64>,
    /// Messages of several sizes instead of a word each.
    logged: bool,
}

pub static SHAPES: [Traffic; 4] = TABLE;

const TABLE: [Traffic; 4] = [
    Traffic {
        name: "traffic-even",
        short: "even",
        about: "10,000 messages a second, evenly: the time since each was due, median",
        due: |messages| (0..messages).map(|number| number as f64).collect(),
        logged: false,
    },
    Traffic {
        name: "traffic-random",
        short: "at random",
        about: "10,000 messages a second on the average, at random (Poisson): the time since each was due, median",
        due: at_random,
        logged: false,
    },
    Traffic {
        name: "traffic-spikes",
        short: "with spikes",
        about: "10,000 messages a second on the average, of every 250 the last 100 at once: the time since each was due, median",
        due: |messages| {
            (0..messages).map(|number| (number - number % CYCLE + (number % CYCLE).min(EVEN)) as f64).collect()
        },
        logged: false,
    },
    Traffic {
        name: "traffic-logger",
        short: "a logger",
        about: "10,000 messages a second on the average, 16 at once, of 64 bytes, 4 KiB and 64 KiB: the time since each was due, median",
        due: |messages| (0..messages).map(|number| (number - number % logged::BURST) as f64).collect(),
        logged: true,
    },
];

/// The number from spike to spike, and the number of these that are due one by one.
const CYCLE: usize = 250;
const EVEN: usize = 150;

/// Messages per second.
const RATE: f64 = 1e4;

/// The same seed for every transport.
const SEED: u64 = 1;

/// The gaps between independent events are distributed exponentially.
fn at_random(messages: usize) -> Vec<f64> {
    let mut dice = fastrand::Rng::with_seed(SEED);
    let mut due = 0.0;
    let next = |_| {
        let now = due;
        due -= (1.0 - dice.f64()).ln();
        now
    };
    (0..messages).map(next).collect()
}

pub static SCENARIOS: [Scenario; 4] = [scenario::<0>(), scenario::<1>(), scenario::<2>(), scenario::<3>()];

const fn scenario<const AT: usize>() -> Scenario {
    Scenario {
        name: TABLE[AT].name,
        about: TABLE[AT].about,
        parameters: &[],
        in_quick: Quick::No,
        one_cpu: false,
        shape: |_| Shape::ONE_TO_ONE,
        needs_two_cpus: false,
        able: |traits| timetable::able(traits) && !traits.few_sizes,
        limit: |frame, _| timetable::limit(frame),
        beside: &[],
        contender: contender::<AT>,
    }
}

fn contender<const AT: usize>(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let frame = Frame { transports: timetable(RATE).length(frame.transports), ..frame };
    let limit = timetable::own_limit(entry.traits.waits, place);
    frame.transport(&entry.traits, limit, move |messages| (entry.traffic)(place, messages, &SHAPES[AT]))
}

/// The distribution holds exactly `messages` times. A fault where clocks are not in step.
pub fn run<T: Transport>(place: Place, messages: u64, traffic: &'static Traffic) -> Result<Outcome, Fault> {
    shaped(place, messages, traffic, handles::open::<T, usize>, handles::open::<T, Handed>)
}

fn shaped(
    place: Place,
    messages: u64,
    traffic: &Traffic,
    plain: handles::Open<usize>,
    logged: handles::Open<Handed>,
) -> Result<Outcome, Fault> {
    let due: Arc<[f64]> = (traffic.due)(messages as usize).into();
    if !traffic.logged {
        return fixed_rate::due_at(place, RATE, due, plain);
    }
    let _run = Run::of(Blocks::OfALogger);
    fixed_rate::due_at(place, RATE, due, logged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_messages_in_order_and_keeps_the_mean() {
        const MESSAGES: usize = 100_000;
        for traffic in &SHAPES {
            let due = (traffic.due)(MESSAGES);
            assert!(due.len() == MESSAGES && due[0] == 0.0 && due.is_sorted(), "{}", traffic.name);
            let mean = due[MESSAGES - 1] / MESSAGES as f64;
            assert!((0.98..1.02).contains(&mean), "{}: {mean}", traffic.name);
        }
    }

    #[test]
    fn shapes_differ_in_how_many_are_due_at_once() {
        let at_once = |at: usize| {
            let due = (SHAPES[at].due)(1_000);
            due.windows(2).filter(|pair| pair[0] == pair[1]).count()
        };
        let (cycles, bursts) = (1_000 / CYCLE, 1_000_usize.div_ceil(logged::BURST));
        assert_eq!([0, 1, 2, 3].map(at_once), [0, 0, cycles * (CYCLE - EVEN - 1), 1_000 - bursts]);
        // Of exponential gaps, the share 1 - 1/e is shorter than their mean.
        let due = at_random(10_000);
        let short = due.windows(2).filter(|pair| pair[1] - pair[0] < 1.0).count();
        assert!((6_100..6_550).contains(&short), "{short}");
    }
}
