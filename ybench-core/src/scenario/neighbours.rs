//! One message bounced between two threads on CPUs that others keep busy: on each runs a thread that only computes.
//!
//! ```text
//!   first CPU     i ----- there -----> i      second CPU
//!                 i <---- back ------- i
//!                 computes             computes
//! ```
//!
//! A reader that never sleeps is a greedy neighbour itself: it has its CPU for a slice of the scheduler and then loses it for
//! one, whatever arrives. Messages are quick while both ends have theirs, and else take milliseconds; so its runs end with
//! their time. The figure is the time one way, as in ping-pong.

use super::crowd::LEAST_TIME;
use super::{Quick, Scenario, ping_pong};
use crate::frame::Frame;
use crate::limits;
use crate::neighbours::Neighbours;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::transport::Shape;

pub static SCENARIO: Scenario = Scenario {
    name: "neighbours",
    about: "One message bounced between two threads while another thread on each CPU only computes: the time one way",
    parameters: &[ONE],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: ping_pong::able_beside_others,
    limit: |_, _| &limits::FUTEX_BESIDE_NEIGHBOURS,
    beside: &[],
    contender,
};

const ONE: Parameter = Parameter { quantity: Quantity::Neighbours, value: 1.0 };

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let each = parameter.unwrap_or(ONE).value as usize;
    // In less time a neighbour may not have had its turn once.
    let frame = Frame { transports: frame.transports.at_least(LEAST_TIME, 1), ..frame };
    let (frame, most) = ping_pong::beside_others(entry, frame);
    frame.transport(&entry.traits, &limits::FUTEX_BESIDE_NEIGHBOURS, move |messages| {
        let _neighbours = Neighbours::on_every_cpu(place, each)?;
        ping_pong::bounce(entry, place, messages, most)
    })
}
