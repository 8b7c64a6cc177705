//! What is done with a transport while the clock runs. One file per driver, each generic over the transport, and in
//! it what the scenario asks, who can take part, and beside which limits. Adding one means a file, a line in [`all`],
//! and a driver in the registry of transports.
//!
//! Every message is checked. A stream ends with [`END`], so that a message lost at the very end, or one too many,
//! is noticed as well.

pub mod burst;
pub mod carried;
pub mod cells;
pub mod crowd;
pub mod density;
pub mod fixed_rate;
pub mod idle_senders;
pub mod latency;
pub mod many;
pub mod neighbours;
pub mod night_watchman;
pub mod overrun;
pub mod paced;
pub mod ping_pong;
pub mod receivers;
pub mod senders;
pub mod size;
pub mod sources;
mod stamped;
pub mod throughput;
mod timetable;
pub mod traffic;

use crate::error::Fault;
use crate::frame::Frame;
use crate::limits::Probe;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::transport::registry::Entry;
use crate::transport::{Closed, Message, Receiver, Shape, Traits};

/// One question to all transports.
pub struct Scenario {
    pub name: &'static str,
    /// One sentence, without its full stop.
    pub about: &'static str,
    /// What it is measured at, one session each; none: one session.
    pub parameters: &'static [Parameter],
    pub in_quick: Quick,
    /// Both threads share the first CPU.
    pub one_cpu: bool,
    /// How many ends there are at either side, at one of the parameters; whoever cannot have so many is left out.
    pub shape: fn(Option<Parameter>) -> Shape,
    /// Left out where there is only one CPU.
    pub needs_two_cpus: bool,
    pub able: fn(&Traits) -> bool,
    /// The limit that ranks, at one of the parameters.
    pub limit: fn(&Frame, Option<Parameter>) -> &'static Probe,
    /// Limits that are measured as well, as far as they fit the place.
    pub beside: &'static [&'static Probe],
    pub contender: fn(&'static Entry, Option<Parameter>, Frame) -> Contender,
}

/// Its part in the comparison without a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quick {
    No,
    Whole,
    At(Parameter),
}

static ALL: &[&Scenario] = &[
    &latency::SCENARIO,
    &ping_pong::SCENARIO,
    &throughput::SCENARIO,
    &throughput::IN_BATCHES,
    &ping_pong::ON_ONE_CPU,
    &density::SCENARIO,
    &overrun::SCENARIO,
    &fixed_rate::SCENARIO,
    &traffic::SCENARIOS[0],
    &traffic::SCENARIOS[1],
    &traffic::SCENARIOS[2],
    &traffic::SCENARIOS[3],
    &paced::SCENARIO,
    &night_watchman::SCENARIO,
    &burst::SCENARIO,
    &crowd::SCENARIO,
    &crowd::BOUNCED,
    &neighbours::SCENARIO,
    &size::SCENARIO,
    &many::TWO_BY_TWO,
    &many::THREE_BY_THREE,
    &many::EIGHT_BY_EIGHT,
    &senders::SCENARIO,
    &idle_senders::SCENARIO,
    &receivers::SCENARIO,
    &sources::ONE_AT_A_TIME,
    &sources::ALL_BUSY,
];

/// Every scenario there is.
pub fn all() -> &'static [&'static Scenario] {
    ALL
}

/// The length of a batch where nothing else is said.
pub const BATCH: usize = 64;

/// What comes after the last message. No counter reaches it.
pub const END: usize = usize::MAX;

/// The fault behind something that came where `expected` was due.
#[cold]
fn fault(expected: usize, received: Result<usize, Closed>) -> Fault {
    match received {
        Ok(END) => Fault::Lost { expected },
        Ok(received) => Fault::OutOfOrder { expected, received },
        Err(Closed) => Fault::Disconnected { expected },
    }
}

/// The next message must be `expected`.
#[inline(always)]
fn expect<M: Message>(receiver: &mut impl Receiver<M>, expected: usize) -> Result<(), Fault> {
    check(receiver.recv(), expected)
}

/// What has been received must be `expected`.
#[inline(always)]
pub(crate) fn check<M: Message>(received: Result<M, Closed>, expected: usize) -> Result<(), Fault> {
    match received {
        Ok(message) if message.number() == expected => Ok(()),
        other => Err(fault(expected, other.map(|message| message.number()))),
    }
}

/// The stream must end here.
fn expect_end<M: Message>(receiver: &mut impl Receiver<M>) -> Result<(), Fault> {
    check_end(receiver.recv())
}

/// What has been received must be the end.
pub(crate) fn check_end<M: Message>(received: Result<M, Closed>) -> Result<(), Fault> {
    match received.map(|message| message.number()) {
        Ok(END) | Err(Closed) => Ok(()),
        Ok(received) => Err(Fault::TooMany { received }),
    }
}

#[cfg(test)]
mod tests;
