//! A stream of messages of 8 bytes to 64 KiB, moved by value or handed over by their address.
//!
//! ```text
//!   by value     fill it, [##########] -----> [##########]   read it      second CPU
//!   by pointer   allocate it, fill it, * ---> *   read it, free it
//!   from a pool  take it, fill it,     * ---> *   read it, free it
//! ```
//!
//! The stream is that of `throughput`.

use super::carried::{self, Kinds, kinds};
use super::throughput::{self, Stream, ends};
use super::{Quick, Scenario};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::Timed;
#[cfg(feature = "sizes")]
use crate::transport::message::Block;
use crate::transport::message::Handed;
use crate::transport::{Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "size",
    about: "Messages of 8 bytes to 64 KiB one by one, moved by value or handed over by their address",
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
    frame.transport(&entry.traits, carried::limit(&frame, parameter), run)
}

/// Opens a stream of a number of messages.
type Open = fn(usize) -> Result<Stream, Fault>;

pub fn run<T: Transport>(place: Place, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    streams(&const { kinds!(ends::<T>) }, place, parameter, messages)
}

/// The same for transports that have few sizes.
pub fn run_few<T: Transport>(place: Place, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    streams(&const { kinds!(few ends::<T>) }, place, parameter, messages)
}

fn streams(kinds: &Kinds<Open>, place: Place, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    kinds.drive(parameter, &mut |open| {
        let stream = &mut |messages| throughput::timed(place, messages, open(messages as usize)?);
        carried::in_streams(parameter, messages, stream)
    })
}
