//! The drivers that use a transport while the clock runs. One file per driver, each generic over the transport. It has
//! the scenario's description, the transports that can take part, and the baselines alongside. Adding one means a file,
//! a line in [`all`], and a driver in the registry of transports.
//!
//! Every message is checked. A stream ends with [`END`], so that a message lost at the very end, or one too many, is
//! detected as well.

mod bounces;
pub mod burst;
pub mod carried;
pub mod cells;
pub mod checks;
pub mod claims;
pub mod crowd;
pub mod density;
pub mod entry;
pub mod fixed_rate;
pub mod handles;
pub mod idle_senders;
pub mod latency;
pub mod many;
pub mod neighbours;
pub mod night_watchman;
pub mod overrun;
pub mod paced;
pub mod ping_pong;
pub mod process;
pub mod receivers;
pub mod senders;
pub mod size;
pub mod sources;
mod stamped;
pub mod throughput;
mod timetable;
pub mod traffic;

pub use self::entry::{Entry, entry, of_tasks, shared};
use crate::frame::Frame;
use crate::limits::Probe;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::transport::check::{END, check, check_end, expect, expect_end, fault};
use crate::transport::{Shape, Traits};

/// One measurement of all transports.
pub struct Scenario {
    pub name: &'static str,
    /// One sentence, without its full stop.
    pub about: &'static str,
    /// The parameters, one session each. None: one session.
    pub parameters: &'static [Parameter],
    pub in_quick: Quick,
    /// Both threads share the first CPU.
    pub one_cpu: bool,
    /// The numbers of threads on either side, at one of the parameters. A transport that cannot have them is left out.
    pub shape: fn(Option<Parameter>) -> Shape,
    /// Left out where there is only one CPU.
    pub needs_two_cpus: bool,
    pub able: fn(&Traits) -> bool,
    /// The baseline that ranks, at one of the parameters.
    pub limit: fn(&Frame, Option<Parameter>) -> &'static Probe,
    /// Baselines that are measured as well, as far as they fit the place.
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
    process::ALL[0],
    process::ALL[1],
    process::ALL[2],
    process::ALL[3],
    process::ALL[4],
];

/// Every scenario there is.
pub fn all() -> &'static [&'static Scenario] {
    ALL
}

/// The default length of a batch.
pub const BATCH: usize = 64;

#[cfg(test)]
mod tests;
