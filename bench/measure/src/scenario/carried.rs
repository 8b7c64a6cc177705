//! The messages of a run: their bytes, moved by value or handed over by their address.
//!
//! The sender writes and the receiver reads every word of every message, so all ways do the same work and have the same
//! baseline: this amount of memory handed over.

use std::io;
use std::ops::Range;

use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::limits::{self, Probe};
use crate::record::{Parameter, Quantity};
use crate::stage::Timed;
use crate::transport::handed::{Blocks, Run};
use crate::transport::{Shape, Traits};

/// Whether messages by value can be larger than the smallest. Every transport is compiled for each size, so that is left to
/// a feature.
pub const ALL_SIZES: bool = cfg!(feature = "sizes");

/// The command that has them.
pub const WITH_ALL_SIZES: &str = "cargo run --release -p ybench --features sizes";

/// Every size that has a driver here, every way.
pub const PARAMETERS: &[Parameter] = if ALL_SIZES { EVERY } else { WITHOUT_SIZES };

const WITHOUT_SIZES: &[Parameter] = {
    let (mut some, mut at) = ([SMALLEST; EVERY.len() + 1 - BY_VALUE], 1);
    while at < some.len() {
        some[at] = EVERY[BY_VALUE + at - 1];
        at += 1;
    }
    &{ some }
};

/// The number of sizes by value, which come first.
const BY_VALUE: usize = 8;

/// Every size that has a driver with the feature, every way.
pub const EVERY: &[Parameter] = &[
    by_value(8),
    by_value(64),
    by_value(512),
    by_value(1_024),
    by_value(2_048),
    by_value(4_096),
    by_value(16_384),
    by_value(65_536),
    by_pointer(8),
    by_pointer(64),
    by_pointer(512),
    by_pointer(1_024),
    by_pointer(2_048),
    by_pointer(4_096),
    by_pointer(16_384),
    by_pointer(65_536),
    by_pool(8),
    by_pool(64),
    by_pool(512),
    by_pool(1_024),
    by_pool(2_048),
    by_pool(4_096),
    by_pool(16_384),
    by_pool(65_536),
];

/// The default is the smallest.
pub const SMALLEST: Parameter = by_value(8);

const fn by_value(bytes: u32) -> Parameter {
    Parameter { quantity: Quantity::BytesByValue, value: bytes as f64 }
}

const fn by_pointer(bytes: u32) -> Parameter {
    Parameter { quantity: Quantity::BytesByPointer, value: bytes as f64 }
}

const fn by_pool(bytes: u32) -> Parameter {
    Parameter { quantity: Quantity::BytesByPool, value: bytes as f64 }
}

/// The sessions of one size, one for each way.
///
/// # Errors
///
/// Refuses every number of bytes without a driver.
pub fn checked(bytes: f64) -> Result<Vec<Parameter>, Error> {
    let offered: Vec<_> = PARAMETERS.iter().filter(|parameter| parameter.value == bytes).copied().collect();
    if offered.is_empty() {
        let sentence = "A message can have 8, 64, 512, 1024, 2048, 4096, 16384 or 65536 bytes, not";
        return Err(Error::Refused(format!("{sentence} {bytes}.")));
    }
    Ok(offered)
}

/// Whether a transport can carry such messages between the threads of `shape`, on the machine as it is set up now.
pub fn fits(traits: &Traits, shape: Shape, parameter: Option<Parameter>) -> bool {
    let moved = match parameter {
        Some(Parameter { quantity: Quantity::BytesByPointer | Quantity::BytesByPool, .. }) if traits.few_sizes => {
            return false;
        }
        Some(Parameter { quantity: Quantity::BytesByValue, value }) => value as usize,
        // A word: the number itself, or an address.
        _ => size_of::<usize>(),
    };
    moved <= (traits.most_bytes)(shape)
}

pub fn limit(frame: &Frame, parameter: Option<Parameter>) -> &'static Probe {
    match parameter.unwrap_or(SMALLEST).value as u64 {
        24 => &limits::BYTES_24,
        64 => &limits::BYTES_64,
        256 => &limits::BYTES_256,
        512 => &limits::BYTES_512,
        1_024 => &limits::BYTES_1K,
        2_048 => &limits::BYTES_2K,
        4_096 => &limits::BYTES_4K,
        16_384 => &limits::BYTES_16K,
        65_536 => &limits::BYTES_64K,
        _ => frame.stream_limit(),
    }
}

/// Functions for each kind of message, so that the code that runs a stream need not be compiled for every kind.
#[derive(Clone, Copy, Debug)]
pub struct Kinds<A: 'static> {
    /// With the bytes of each.
    pub by_value: &'static [(usize, A)],
    /// Where there are such messages.
    pub handed: Option<A>,
}

/// The functions of all kinds: `kinds!(M => function::<M>)`.
macro_rules! kinds {
    ($function:ident :: < $transport:ty >) => {
        $crate::scenario::carried::Kinds {
            by_value: &[
                (8, $function::<$transport, usize>),
                #[cfg(feature = "sizes")]
                (64, $function::<$transport, Block<8>>),
                #[cfg(feature = "sizes")]
                (512, $function::<$transport, Block<64>>),
                #[cfg(feature = "sizes")]
                (1_024, $function::<$transport, Block<128>>),
                #[cfg(feature = "sizes")]
                (2_048, $function::<$transport, Block<256>>),
                #[cfg(feature = "sizes")]
                (4_096, $function::<$transport, Block<512>>),
                #[cfg(feature = "sizes")]
                (16_384, $function::<$transport, Block<2_048>>),
                #[cfg(feature = "sizes")]
                (65_536, $function::<$transport, Block<8_192>>),
            ],
            handed: Some($function::<$transport, Handed>),
        }
    };
    // For transports that have [few sizes](Traits::few_sizes).
    (few $function:ident :: < $transport:ty >) => {
        $crate::scenario::carried::Kinds {
            by_value: &[
                (8, $function::<$transport, usize>),
                #[cfg(feature = "sizes")]
                (64, $function::<$transport, Block<8>>),
            ],
            handed: None,
        }
    };
}
pub(super) use kinds;

impl<A: Copy> Kinds<A> {
    /// The run with the messages of the parameter.
    pub fn drive(&self, parameter: Parameter, run: &mut dyn FnMut(A) -> Result<Timed, Fault>) -> Result<Timed, Fault> {
        let (bytes, words) = (parameter.value as usize, parameter.value as usize / size_of::<usize>());
        let (kind, blocks) = match parameter.quantity {
            Quantity::BytesByValue => (self.by_value.iter().find(|kind| kind.0 == bytes).map(|kind| kind.1), None),
            Quantity::BytesByPointer if words > 0 => (self.handed, Some(Blocks::Allocated(words))),
            Quantity::BytesByPool if words > 0 => (self.handed, Some(Blocks::Pooled(words))),
            _ => (None, None),
        };
        let unknown = || Fault::System(io::Error::other(format!("there are no messages of {parameter:?}")));
        let kind = kind.ok_or_else(unknown)?;
        let _run = blocks.map(Run::of);
        run(kind)
    }
}

/// The most that one stream may leave in a queue without a bound, if its receiver is delayed.
const MOST_BYTES: u64 = 256 << 20;

/// One run as several streams in sequence. None of them can fill a queue without a bound with more than 256 MiB.
pub fn in_streams(
    parameter: Parameter,
    messages: u64,
    stream: &mut dyn FnMut(u64) -> Result<Timed, Fault>,
) -> Result<Timed, Fault> {
    let mut all = Timed { elapsed: std::time::Duration::ZERO, units: 0 };
    for messages in lengths(parameter.value as u64, messages) {
        let timed = stream(messages)?;
        all = Timed { elapsed: all.elapsed + timed.elapsed, units: all.units + timed.units };
    }
    Ok(all)
}

/// The most messages in one stream.
pub(super) fn most(parameter: Parameter) -> u64 {
    MOST_BYTES / parameter.value as u64
}

/// The lengths of the streams that make a run of `messages` messages.
fn lengths(bytes: u64, messages: u64) -> impl Iterator<Item = u64> {
    let most = MOST_BYTES / bytes;
    let rest = messages % most;
    let whole: Range<u64> = 0..messages / most;
    whole.map(move |_| most).chain((rest > 0).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stream_can_hold_more_than_its_share_of_memory() {
        for parameter in PARAMETERS {
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
            let due = format!("A message can have 8, 64, 512, 1024, 2048, 4096, 16384 or 65536 bytes, not {bytes}.");
            assert_eq!(error.to_string(), due);
        }
    }

    #[test]
    fn every_size_is_offered_every_way() {
        for bytes in PARAMETERS.iter().map(|parameter| parameter.value) {
            let ways: Vec<_> = checked(bytes).unwrap().iter().map(|one| one.quantity).collect();
            let by_value = (ALL_SIZES || bytes == SMALLEST.value).then_some(Quantity::BytesByValue);
            let due: Vec<_> = by_value.into_iter().chain([Quantity::BytesByPointer, Quantity::BytesByPool]).collect();
            assert_eq!(ways, due);
        }
    }

    #[test]
    fn what_is_too_long_for_a_transport_can_go_by_its_address() {
        let traits = Traits { most_bytes: |shape| 4_096 / shape.senders, ..Traits::COMMON };
        let fits = |shape, parameter| fits(&traits, shape, Some(parameter));
        assert!(fits(Shape::ONE_TO_ONE, by_value(4_096)) && !fits(Shape::square(2), by_value(4_096)));
        assert!(fits(Shape::square(2), by_pointer(65_536)) && fits(Shape::square(2), by_pool(65_536)));
        let few = Traits { most_bytes: |_| 256, few_sizes: true, ..Traits::COMMON };
        let fits_few = |parameter| super::fits(&few, Shape::ONE_TO_ONE, Some(parameter));
        assert!(fits_few(by_value(64)) && fits_few(by_value(256)) && !fits_few(by_value(512)));
        assert!(!fits_few(by_pointer(64)) && !fits_few(by_pool(64)));
        let rate = Parameter { quantity: Quantity::Rate, value: 1e6 };
        assert!(fits(Shape::square(2), rate) && super::fits(&traits, Shape::square(2), None));
    }
}
