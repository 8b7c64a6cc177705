//! One message bounced between two threads on CPUs that others keep busy: on each runs a thread that only computes.
//!
//! ```text
//!   first CPU     i ----- there -----> i      second CPU
//!                 i <---- back ------- i
//!                 computes             computes
//! ```
//!
//! Only for transports that sleep: one that spins is a greedy neighbour itself, and waits for its turn at every message.
//! The figure is the time one way, as in ping-pong.

use super::crowd::LEAST_TIME;
use super::{Quick, Scenario};
use crate::frame::Frame;
use crate::limits;
use crate::neighbours::Neighbours;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::transport::Shape;
use crate::transport::registry::Entry;

pub static SCENARIO: Scenario = Scenario {
    name: "neighbours",
    about: "One message bounced between two threads while another thread on each CPU only computes: the time one way",
    parameters: &[ONE],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && traits.waits.sleeps(),
    limit: |_, _| &limits::FUTEX_BESIDE_NEIGHBOURS,
    beside: &[],
    contender,
};

const ONE: Parameter = Parameter { quantity: Quantity::Neighbours, value: 1.0 };

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let each = parameter.unwrap_or(ONE).value as usize;
    let mut contender = frame.transport(entry, &limits::FUTEX_BESIDE_NEIGHBOURS, move |messages: u64| {
        let _neighbours = Neighbours::on_every_cpu(place, each)?;
        // One message each way is what makes two.
        (entry.ping_pong)(place, messages.div_ceil(2))
    });
    // In less time a neighbour may not have had its turn once.
    contender.length = contender.length.at_least(LEAST_TIME, 1);
    contender
}
