//! A stream of messages of 8 bytes to 64 KiB, moved themselves or handed over by their address.
//!
//! ```text
//!   by value     fill it, [##########] -----> [##########]   read it      second CPU
//!   by pointer   allocate it, fill it, * ---> *   read it, free it
//! ```
//!
//! The stream is that of `throughput`, and every word of every message is written by the sender and read by the
//! receiver, so both ways do the same work and have the same limit: so much memory handed over. A long run is made of
//! several streams, none of which can fill an unbounded queue with more than 256 MiB.

use std::io;

use super::{Quick, Scenario, throughput};
use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::limits::{self, Probe};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::stage::Timed;
use crate::transport::message::{Block, Parcel};
use crate::transport::registry::Entry;
use crate::transport::{Message, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "size",
    about: "Messages of 8 bytes to 64 KiB one by one, moved themselves or handed over by their address",
    parameters: &[
        by_value(8),
        by_value(64),
        by_value(512),
        by_value(4_096),
        by_value(65_536),
        by_pointer(8),
        by_pointer(64),
        by_pointer(512),
        by_pointer(4_096),
        by_pointer(65_536),
    ],
    in_quick: Quick::No,
    one_cpu: false,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one,
    limit,
    beside: &[],
    contender,
};

const fn by_value(bytes: u32) -> Parameter {
    Parameter { quantity: Quantity::BytesByValue, value: bytes as f64 }
}

const fn by_pointer(bytes: u32) -> Parameter {
    Parameter { quantity: Quantity::BytesByPointer, value: bytes as f64 }
}

/// The two sessions of one size, by value and by pointer.
///
/// # Errors
///
/// Refuses every number of bytes that there is no driver for.
pub fn checked(bytes: f64) -> Result<[Parameter; 2], Error> {
    let offered = SCENARIO.parameters.iter().filter(|parameter| parameter.value == bytes);
    match offered.copied().collect::<Vec<_>>().try_into() {
        Ok(both) => Ok(both),
        Err(_) => Err(Error::Refused(format!("A message can have 8, 64, 512, 4096 or 65536 bytes, not {bytes}."))),
    }
}

/// What is not said is the smallest.
fn or_smallest(parameter: Option<Parameter>) -> Parameter {
    parameter.unwrap_or(by_value(8))
}

fn limit(frame: &Frame, parameter: Option<Parameter>) -> &'static Probe {
    match or_smallest(parameter).value as u64 {
        64 => &limits::BYTES_64,
        512 => &limits::BYTES_512,
        4_096 => &limits::BYTES_4K,
        65_536 => &limits::BYTES_64K,
        _ => frame.stream_limit(),
    }
}

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| (entry.size)(place, or_smallest(parameter), messages);
    frame.transport(entry, limit(&frame, parameter), run)
}

pub fn run<T: Transport>(place: Place, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    let by_pointer = parameter.quantity == Quantity::BytesByPointer;
    match parameter.value as u64 {
        8 => either_way::<T, 1>(by_pointer, place, messages),
        64 => either_way::<T, 8>(by_pointer, place, messages),
        512 => either_way::<T, 64>(by_pointer, place, messages),
        4_096 => either_way::<T, 512>(by_pointer, place, messages),
        65_536 => either_way::<T, 8_192>(by_pointer, place, messages),
        bytes => Err(Fault::System(io::Error::other(format!("there are no messages of {bytes} bytes")))),
    }
}

fn either_way<T: Transport, const WORDS: usize>(by_pointer: bool, place: Place, messages: u64) -> Result<Timed, Fault> {
    let bytes = size_of::<Block<WORDS>>() as u64;
    if by_pointer {
        streams::<T, Parcel<WORDS>>(place, bytes, messages)
    } else {
        streams::<T, Block<WORDS>>(place, bytes, messages)
    }
}

fn streams<T: Transport, M: Message>(place: Place, bytes: u64, messages: u64) -> Result<Timed, Fault> {
    let mut all = Timed { elapsed: std::time::Duration::ZERO, units: 0 };
    for messages in lengths(bytes, messages) {
        let timed = throughput::one_by_one::<T, M>(place, messages)?;
        all = Timed { elapsed: all.elapsed + timed.elapsed, units: all.units + timed.units };
    }
    Ok(all)
}

/// What one stream may leave in a queue without a bound, if its receiver is held up.
const MOST_BYTES: u64 = 256 << 20;

/// The lengths of the streams that make a run of so many messages.
fn lengths(bytes: u64, messages: u64) -> impl Iterator<Item = u64> {
    let most = MOST_BYTES / bytes;
    let rest = messages % most;
    let whole = (0..messages / most).map(move |_| most);
    whole.chain((rest > 0).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stream_can_hold_more_than_its_share_of_memory() {
        for parameter in SCENARIO.parameters {
            let bytes = parameter.value as u64;
            for messages in [1, 1_000, 4_096, 4_097, 32_000_000] {
                assert_eq!(lengths(bytes, messages).sum::<u64>(), messages);
                assert!(lengths(bytes, messages).all(|length| length > 0 && length * bytes <= MOST_BYTES));
            }
        }
        assert_eq!(lengths(65_536, 10_000).collect::<Vec<_>>(), [4_096, 4_096, 1_808]);
    }

    #[test]
    fn a_size_without_a_driver_is_refused_with_those_that_have_one() {
        for bytes in [0.0, 9.0, 64.5, 1_073_741_824.0, f64::NAN] {
            let error = checked(bytes).unwrap_err();
            assert_eq!(error.exit_status(), 2);
            let due = format!("A message can have 8, 64, 512, 4096 or 65536 bytes, not {bytes}.");
            assert_eq!(error.to_string(), due);
        }
    }

    #[test]
    fn every_size_is_offered_both_ways_and_has_a_driver() {
        let place = Place::choose(None).unwrap();
        for bytes in SCENARIO.parameters.iter().map(|parameter| parameter.value) {
            let both = checked(bytes).unwrap();
            assert_eq!(both.map(|one| one.quantity), [Quantity::BytesByValue, Quantity::BytesByPointer]);
            for parameter in both {
                let timed = run::<crate::transport::spsc::Adaptive>(place, parameter, 10).unwrap();
                assert_eq!(timed.units, 10);
            }
        }
    }
}
