//! What a kind of channel costs who has many of it: time and bytes for each, what a burst leaves, stack. And, in
//! `compile`, what it costs to compile a library.
//!
//! ```text
//!   ybench  ---- a process for each kind and each round ---->  make 100,000   first message   drop
//!                                                                   |               |           |
//!                                            bytes:        before  idle           after       left
//! ```
//!
//! In one process the allocator would keep what earlier channels have freed, and a channel that reuses it would seem to
//! take nothing. Bytes are counted in two ways. *Allocated* bytes are those asked of the program's allocator: exact, the
//! same at each run. *Resident* bytes are those that the kernel counts: with what the allocator adds and keeps, in whole
//! pages, and with memory that a channel takes from the kernel itself.
//!
//! `channel`, `ours` and `stack` are also compiled into `tools/footprint`, and use nothing else of this package.

pub mod channel;
pub mod compile;
pub mod ours;
pub mod peers;
pub mod stack;
mod weigh;

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Signal, set_parent_process_death_signal};

use self::channel::Channel;
pub use self::weigh::{Bytes, Weight};
use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::memory;
use crate::outcome::{Metric, Outcome};
use crate::place::{Place, pin};
use crate::plan;
use crate::record::{Contestant, Family, Kind as Role, Parameter, Quantity, Unit};
use crate::rounds::{Contender, Length, Plan};
use crate::transport::Waits;

pub const SCENARIO: &str = "footprint";

/// Messages of the burst, unless others are asked for.
pub const BURST: u64 = 200_000;

/// The numbers of channels that can be asked for.
pub const CHANNELS: std::ops::RangeInclusive<u64> = 1..=1_000_000;

/// One kind of channel. Named as the transport that is made of it, where there is one; a bound is smaller here.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    /// One sentence, without its full stop.
    pub about: &'static str,
    pub family: Family,
    /// The library whose cost of compiling is the cost of this kind.
    pub library: &'static str,
    many: fn(u64) -> Result<Weight, Fault>,
    /// None where there can be no burst.
    kept: Option<fn(u64) -> Result<Bytes, Fault>>,
}

/// The kind of a channel of a library.
pub const fn kind<C: Channel>(family: Family, library: &'static str) -> Kind {
    let kept: Option<fn(u64) -> Result<Bytes, Fault>> = if C::UNBOUNDED { Some(weigh::kept::<C>) } else { None };
    Kind { name: C::NAME, about: C::ABOUT, family, library, many: weigh::many::<C>, kept }
}

/// The baseline: a queue of one thread.
const PLAIN: Kind = kind::<peers::Plain>(Family::Std, "std");

fn own() -> Vec<Kind> {
    let ours = [
        kind::<ours::Spsc>,
        kind::<ours::SpscBounded>,
        kind::<ours::Mpsc>,
        kind::<ours::MpscBounded>,
        kind::<ours::MpscShared>,
        kind::<ours::Mpmc>,
        kind::<ours::MpmcUnbounded>,
        kind::<ours::Rendezvous>,
        kind::<ours::Oneshot>,
        kind::<ours::Broadcast>,
        kind::<ours::Watch>,
        kind::<ours::Letterbox>,
    ];
    let tokio = [
        kind::<peers::Tokio>,
        kind::<peers::TokioBounded>,
        kind::<peers::TokioOneshot>,
        kind::<peers::TokioBroadcast>,
        kind::<peers::TokioWatch>,
    ];
    let mut all: Vec<Kind> = ours.map(|kind| kind(Family::Ours, "ysuite")).into();
    all.extend([kind::<peers::Std>, kind::<peers::StdSync>].map(|kind| kind(Family::Std, "std")));
    let crossbeam = [kind::<peers::Crossbeam>, kind::<peers::CrossbeamBounded>];
    all.extend(crossbeam.map(|kind| kind(Family::Crates, "crossbeam-channel")));
    all.extend(tokio.map(|kind| kind(Family::Crates, "tokio")));
    all.push(kind::<peers::OneshotCrate>(Family::Crates, "oneshot"));
    all
}

static ALL: OnceLock<Vec<Kind>> = OnceLock::new();

/// Adds the kinds of other packages. Once, and before the first look-up; later calls do nothing.
pub fn offer(more: Vec<Kind>) {
    let _ = ALL.set(own().into_iter().chain(more).collect());
}

/// All kinds, without the baseline.
pub fn all() -> &'static [Kind] {
    ALL.get_or_init(own)
}

/// The kind of that name.
pub fn named(name: &str) -> Option<&'static Kind> {
    all().iter().find(|kind| kind.name == name)
}

/// The kinds of these names; without names, all.
///
/// # Errors
///
/// Refuses an unknown name.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Kind>, Error> {
    if let Some(name) = names.iter().find(|name| named(name).is_none()) {
        let known: Vec<&str> = all().iter().map(|kind| kind.name).collect();
        return Err(Error::Refused(format!(
            "There is no kind of channel called '{name}'; there are {}.",
            known.join(", ")
        )));
    }
    Ok(all().iter().filter(|kind| names.is_empty() || names.iter().any(|name| name == kind.name)).collect())
}

/// # Errors
///
/// Refuses a number of channels that cannot be measured.
pub fn check(channels: u64) -> Result<(), Error> {
    if CHANNELS.contains(&channels) {
        return Ok(());
    }
    Err(Error::Refused(format!("--channels takes 1 to 1,000,000 channels, not {channels}.")))
}

/// Many channels of each of these kinds, and what `burst` messages leave in one.
pub fn plan(kinds: &[&'static Kind], channels: u64, burst: Option<u64>, frame: Frame) -> Plan {
    let parameter = Parameter { quantity: Quantity::Channels, value: channels as f64 };
    let about = "Many channels, each made, used for one message and dropped by one thread";
    let mut contenders = vec![contender(&PLAIN, Role::Limit, channels, burst, frame.place)];
    contenders.extend(kinds.iter().map(|kind| contender(kind, Role::Transport, channels, burst, frame.place)));
    Plan { limit: PLAIN.name, ..plan::plan(SCENARIO, about, Some(parameter), frame, frame.floor(), contenders) }
}

fn contender(kind: &'static Kind, role: Role, channels: u64, burst: Option<u64>, place: Place) -> Contender {
    let contestant = Contestant {
        name: kind.name.to_owned(),
        kind: role,
        unit: Unit::Channel,
        // All of them can: that is what a channel is for.
        waits: (role == Role::Transport).then_some(Waits::Sleeps),
        family: Some(kind.family),
        explained: kind.about.to_owned(),
        ..Contestant::default()
    };
    let run = move |channels| {
        let mut outcome = Outcome::from(in_a_fresh_process(kind, place, Measured::Many(channels), weight)?);
        if let Some(burst) = burst.filter(|_| kind.kept.is_some()) {
            let kept = in_a_fresh_process(kind, place, Measured::Burst(burst), |figures| bytes(figures, 0))?;
            let metrics = [(Metric::AllocatedKept, kept.allocated), (Metric::ResidentKept, kept.resident)];
            outcome.metrics.extend(metrics);
        }
        Ok(outcome)
    };
    Contender { contestant, length: Length::Units(channels), run: Box::new(run) }
}

impl From<Weight> for Outcome {
    fn from(weight: Weight) -> Self {
        let Weight { make, first, drop, idle, after, left, stack } = weight;
        let metrics = [
            (Metric::Make, make),
            (Metric::FirstMessage, first),
            (Metric::Drop, drop),
            (Metric::AllocatedIdle, idle.allocated),
            (Metric::AllocatedAfter, after.allocated),
            (Metric::AllocatedLeft, left.allocated),
            (Metric::ResidentIdle, idle.resident),
            (Metric::ResidentAfter, after.resident),
            (Metric::ResidentLeft, left.resident),
        ];
        let metrics = metrics.into_iter().chain(stack.map(|bytes| (Metric::StackBytes, bytes))).collect();
        Self { nanoseconds: make + first + drop, metrics, ..Self::default() }
    }
}

/// What one process measures.
#[derive(Clone, Copy, Debug)]
pub enum Measured {
    /// This number of channels, and the stack of a large message.
    Many(u64),
    /// What this number of messages leave in a channel.
    Burst(u64),
}

/// What `ybench weigh` does: measures in this process and returns the figures as a line.
///
/// # Errors
///
/// Refuses an unknown name, and a burst where there can be none.
pub fn weighed(name: &str, measured: Measured, place: Place) -> Result<String, Error> {
    let refuse = || Error::Refused(format!("There is no such measurement of a kind of channel called '{name}'."));
    let kind = std::iter::once(&PLAIN).chain(all()).find(|kind| kind.name == name).ok_or_else(refuse)?;
    let kept = kind.kept.ok_or_else(refuse);
    // This does not outlive the program that has started it.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let figures = pin(place.first).and_then(|()| match measured {
        Measured::Many(channels) => Ok(of_weight(&(kind.many)(channels)?)),
        Measured::Burst(messages) => kept.as_ref().map_or(Ok(Vec::new()), |kept| Ok(of_bytes(kept(messages)?).into())),
    });
    let figures = figures.map_err(|fault| Error::Broken { contender: name.to_owned(), fault })?;
    if figures.is_empty() {
        return Err(refuse());
    }
    Ok(figures.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
}

fn in_a_fresh_process<T>(
    kind: &Kind,
    place: Place,
    measured: Measured,
    read: fn(&[f64]) -> Option<T>,
) -> Result<T, Fault> {
    let program = memory::program().ok_or_else(|| io::Error::other("no program can be started"))?;
    let (what, number) = match measured {
        Measured::Many(channels) => ("many", channels),
        Measured::Burst(messages) => ("burst", messages),
    };
    let arguments = ["weigh", kind.name, what, &number.to_string(), "--cpus", &place.first.to_string()];
    // In a group of its own: Ctrl-C ends the session after this run, and not the run. It may come before the process has
    // that group, and end it: then the run begins anew.
    let output = loop {
        let output = Command::new(program).args(arguments).process_group(0).output()?;
        if output.status.signal() != Some(Signal::INT.as_raw()) {
            break output;
        }
    };
    let fault = |sentence: String| match kind.family {
        // Ends the run.
        Family::Ours => Fault::System(io::Error::other(sentence)),
        // Is taken out, and the others go on.
        _ => Fault::OfGuest(sentence),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.trim().trim_end_matches('.').lines().last().map_or(String::new(), |why| format!(": {why}"));
        return Err(fault(format!("failed in its own process ({}){why}", output.status)));
    }
    let line = String::from_utf8_lossy(&output.stdout);
    let figures: Option<Vec<f64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    figures.and_then(|figures| read(&figures)).ok_or_else(|| fault(format!("printed no figures: {line}")))
}

fn of_weight(weight: &Weight) -> Vec<f64> {
    let Weight { make, first, drop, idle, after, left, stack } = *weight;
    let (idle, after, left) = (of_bytes(idle), of_bytes(after), of_bytes(left));
    [[make, first, drop].as_slice(), &idle, &after, &left, stack.as_slice()].concat()
}

fn weight(figures: &[f64]) -> Option<Weight> {
    let [make, first, drop] = *figures.get(..3)? else { return None };
    Some(Weight {
        make,
        first,
        drop,
        idle: bytes(figures, 3)?,
        after: bytes(figures, 5)?,
        left: bytes(figures, 7)?,
        stack: figures.get(9).copied(),
    })
}

fn of_bytes(bytes: Bytes) -> [f64; 2] {
    [bytes.allocated, bytes.resident]
}

/// The two figures from `at` on.
fn bytes(figures: &[f64], at: usize) -> Option<Bytes> {
    Some(Bytes { allocated: *figures.get(at)?, resident: *figures.get(at + 1)? })
}

#[cfg(test)]
mod tests;
