//! Streams from an increasing number of active threads to one: whether a message costs more the more threads send.
//!
//! ```text
//!   sender 0      0.0 0.1 0.2 ... \
//!   sender 1      1.0 1.1 1.2 ...  >----> 0.0 1.0 1.1 0.1 ...   one receiver
//!   sender 1,023  ...             /
//! ```
//!
//! The streams, and the check of every message, are those of `many`. With many more threads than CPUs, each sender
//! sends as much as fits its part of a slice of the scheduler. The measurement is then of a crowd of threads that come
//! and go, not of one whose threads all run at once. Transports that never sleep are left out: they would take the CPU
//! from the threads they wait for.

use std::time::Duration;

use super::{Quick, Scenario, many};
use crate::error::Error;
use crate::frame::Frame;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::rehearse;
use crate::transport::{Ends, Shape};

pub static SCENARIO: Scenario = Scenario {
    name: "senders",
    about: "Streams from 1 to 1,024 threads to one, through one transport: all of the time for one of all the messages",
    parameters: &[
        senders(1),
        senders(2),
        senders(4),
        senders(8),
        senders(16),
        senders(32),
        senders(64),
        senders(128),
        senders(256),
        senders(512),
        senders(1_024),
    ],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |parameter| Shape::new(parameter.map_or(1, |senders| senders.value as usize), 1),
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && traits.senders == Ends::Many && traits.waits.sleeps(),
    limit: |frame, _| frame.stream_limit(),
    beside: &[],
    contender: |entry, parameter, frame| contender(entry, (SCENARIO.shape)(parameter), frame),
};

const fn senders(count: u32) -> Parameter {
    Parameter { quantity: Quantity::Senders, value: count as f64 }
}

/// With many threads, their start and end are part of the timed run: a run has room for both.
const FOR_EACH: Duration = Duration::from_micros(100);

/// Fewer messages of a sender than this are over before the next thread has started.
const EACH: u64 = 64;

/// Whether the number of threads that the largest of these parameters needs can exist at once.
///
/// # Errors
///
/// Refuses a number that this machine has no room for.
pub fn room_for(parameters: impl IntoIterator<Item = Parameter>) -> Result<(), Error> {
    let threads = |parameter: Parameter| match parameter.quantity {
        Quantity::Senders | Quantity::Receivers => parameter.value as usize + 1,
        _ => 0,
    };
    rehearse(parameters.into_iter().map(threads).max().unwrap_or(0))
}

pub fn contender(entry: &'static Entry, shape: Shape, frame: Frame) -> Contender {
    let mut contender = many::between(entry, shape, None, frame.stream_limit(), frame);
    if shape.threads() > frame.place.shared_by(shape.threads()).len() {
        let threads = shape.threads() as u32;
        contender.length = contender.length.at_least(FOR_EACH * threads, EACH * u64::from(threads));
    }
    contender
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_senders_as_the_parameter_says() {
        let shapes: Vec<Shape> = SCENARIO.parameters.iter().map(|&one| (SCENARIO.shape)(Some(one))).collect();
        assert_eq!((shapes[0], shapes[10]), (Shape::ONE_TO_ONE, Shape::new(1_024, 1)));
        assert!(shapes.windows(2).all(|pair| pair[1].senders == 2 * pair[0].senders));
    }
}
