//! A stream of messages of 8 bytes to 64 KiB, moved themselves or handed over by their address.
//!
//! ```text
//!   by value     fill it, [##########] -----> [##########]   read it      second CPU
//!   by pointer   allocate it, fill it, * ---> *   read it, free it
//!   from a pool  take it, fill it,     * ---> *   read it, give it back
//! ```
//!
//! The stream is that of `throughput`.

use super::carried::{self, Drive};
use super::{Quick, Scenario, throughput};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::stage::Timed;
use crate::transport::registry::Entry;
use crate::transport::{Message, Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "size",
    about: "Messages of 8 bytes to 64 KiB one by one, moved themselves or handed over by their address",
    parameters: carried::PARAMETERS,
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one,
    limit: carried::limit,
    beside: &[],
    contender,
};

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| (entry.size)(place, parameter.unwrap_or(carried::SMALLEST), messages);
    frame.transport(entry, carried::limit(&frame, parameter), run)
}

struct Streams<T> {
    place: Place,
    parameter: Parameter,
    messages: u64,
    transport: std::marker::PhantomData<T>,
}

impl<T: Transport> Drive for Streams<T> {
    fn with<M: Message>(self) -> Result<Timed, Fault> {
        let stream = |messages| throughput::one_by_one::<T, M>(self.place, messages);
        carried::in_streams(self.parameter, self.messages, stream)
    }
}

pub fn run<T: Transport>(place: Place, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    let transport = std::marker::PhantomData::<T>;
    carried::drive(parameter, Streams { place, parameter, messages, transport })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_driver_every_way() {
        let place = Place::choose(None).unwrap();
        for &parameter in SCENARIO.parameters {
            let timed = run::<crate::transport::spsc::Adaptive>(place, parameter, 10).unwrap();
            assert_eq!(timed.units, 10);
        }
    }
}
