//! A stream from one thread to an increasing number of threads: whether a message costs more the more threads wait for
//! it.
//!
//! ```text
//!                             / 0 3 ...   receiver 0
//!   one sender  0 1 2 3 ... -<  1 ...     receiver 1       each message reaches one of them, in the order of its coming
//!                             \ 2 4 ...   receiver 2
//! ```
//!
//! The stream, and the check of every message, are those of `many`. Transports that never sleep are left out: they
//! would take the CPU from the threads they wait for.

use super::{Quick, Scenario, senders};
use crate::record::{Parameter, Quantity};
use crate::transport::{Ends, Shape};

pub static SCENARIO: Scenario = Scenario {
    name: "receivers",
    about: "A stream from one thread to 1 to 64 of them, each message to one, through one transport",
    parameters: &[receivers(1), receivers(2), receivers(4), receivers(8), receivers(16), receivers(32), receivers(64)],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |parameter| Shape::new(1, parameter.map_or(1, |receivers| receivers.value as usize)),
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && traits.receivers == Ends::Many && traits.waits.sleeps(),
    limit: |frame, _| frame.stream_limit(),
    beside: &[],
    contender: |entry, parameter, frame| senders::contender(entry, (SCENARIO.shape)(parameter), frame),
};

const fn receivers(count: u32) -> Parameter {
    Parameter { quantity: Quantity::Receivers, value: count as f64 }
}
