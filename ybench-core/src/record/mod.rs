//! What was measured, as it is kept: every round's figures, before any statistics, and the histograms of single
//! messages. Everything that is printed or drawn is made from this alone.
//!
//! The JSON written by `--json` is [`Report`]; [`SCHEMA`] rises when a field changes its meaning or goes away. Fields
//! that came later have defaults, so that everything since schema 1 can be read.

mod family;
mod waits;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::distribution::Distribution;
use crate::env::Environment;
use crate::outcome::{Metric, Series};
use crate::stats::change::Measured;
use crate::stats::{self, Interval, STEAL_IS_SEEN_FROM, STEAL_MAY_BE, Spread};
use crate::trace::Trace;
use crate::warnings::Warning;

pub use self::family::Family;
pub use self::waits::Waits;

pub const SCHEMA: u32 = 2;

/// What one unit of a figure is; the figure itself is always nanoseconds for one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    #[default]
    Message,
    Wake,
    Call,
    Operation,
    Kibibyte,
}

impl Unit {
    pub fn per(self) -> &'static str {
        match self {
            Self::Message => "ns/msg",
            Self::Wake => "ns/wake",
            Self::Call => "ns/call",
            Self::Operation => "ns/op",
            Self::Kibibyte => "ns/KiB",
        }
    }
}

/// One run of the program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub schema: u32,
    pub command: String,
    /// Seconds since 1970.
    pub started: u64,
    pub environment: Environment,
    /// The CPU of the sending and of the receiving thread.
    pub cpus: [usize; 2],
    /// The clock that single messages were timed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<clock::Facts>,
    /// Where the dice that shuffle the order in each round began.
    #[serde(default)]
    pub seed: u64,
    /// Stopped by the user: what had not begun, or had no complete round, is not here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    pub sessions: Vec<Session>,
    /// Sizes and counts, which have no rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Count>,
    /// Verdicts, of results that were kept before the sizes and counts they are made from were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// The most bytes that a transport carries in a message moved itself, where there is a bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
    /// Whether mechanisms can stand in epoll, tried in this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epoll: Vec<InEpoll>,
    /// How far the CPUs are from each other, where there are more than two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// What was asked for and the answer, in sentences, where that is not told by the figures alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub warnings: Vec<Warning>,
}

/// One figure, taken several times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    pub name: String,
    pub values: Vec<f64>,
}

/// Two CPUs, and what a word takes from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub first: usize,
    pub second: usize,
    pub nanoseconds: Spread,
}

/// What one transport carries at most between so many threads, as the machine was set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    pub name: String,
    pub senders: usize,
    pub receivers: usize,
    pub bytes: u64,
}

/// What came of putting one transport into epoll beside sockets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InEpoll {
    pub name: String,
    pub works: bool,
    /// What was done, or which call failed and how; without a full stop.
    pub how: String,
}

/// One scenario measured in rounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Session {
    pub scenario: String,
    pub about: String,
    /// What this session is one of a row of, if it is: a rate, a size, a backlog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<Parameter>,
    /// The limit measured at both ends of every round.
    pub floor: String,
    /// The limit that all contenders are ranked by.
    pub limit: String,
    pub contenders: Vec<Contestant>,
    /// Who is to be seen beside whom, where like stands beside like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    pub rounds: Vec<Round>,
    /// Why there were not more of them; unknown in results of schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// What was recorded of single messages, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, Details>,
}

/// Contenders of one kind, by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// Forms of this project's own.
    pub ours: Vec<String>,
    pub rivals: Vec<String>,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Every interval was tight.
    Tight,
    /// The time for it was used up.
    Time,
    /// There were as many rounds as wanted, or as many as there may be.
    Rounds,
    /// By the user.
    Interrupted,
}

/// What sessions of the same scenario differ in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    pub quantity: Quantity,
    pub value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Messages per second.
    Rate,
    /// Messages per second, as a share of what the receiver can take.
    Load,
    /// Bytes in a message that is moved itself.
    BytesByValue,
    /// Bytes in a message that is handed over by its address.
    BytesByPointer,
    /// Bytes in a block of a pool that is handed over by its address.
    BytesByPool,
    /// Messages in the queue.
    Backlog,
    /// Seconds without a message.
    Silence,
    /// Threads for each CPU.
    ThreadsPerCpu,
    /// The same, each of them kept on its CPU.
    KeptThreadsPerCpu,
    /// Threads that do nothing but take the CPU, on each CPU.
    Neighbours,
    /// Threads that send.
    Senders,
    /// Senders that have sent once and are silent since, beside the one that sends.
    IdleSenders,
    /// Threads that receive.
    Receivers,
    /// Channels that one thread serves.
    Sources,
}

/// What was recorded of one contender's single messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Details {
    /// Over all the rounds that count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub distributions: BTreeMap<Series, Distribution>,
    /// Of the last round that counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<Series, Trace>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    #[default]
    Transport,
    Limit,
}

/// Who took part, and with how much per run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Contestant {
    /// Unique within its session.
    pub name: String,
    pub kind: Kind,
    pub unit: Unit,
    pub units_per_run: u64,
    /// The limit of its own kind: of sleeping, of spinning, of descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The CPUs that its threads share, where these are more than the two of the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<usize>,
    /// Where a transport comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What it is, in a sentence without its full stop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explained: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    /// Names in the order in which they ran.
    pub order: Vec<String>,
    pub floor_before: f64,
    pub floor_after: f64,
    pub seconds: f64,
    /// Taken by the hypervisor from the CPUs in use; absent where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_seconds: Option<f64>,
    /// How many CPUs that was: those of the place, and those that more threads share. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<usize>,
    /// Why this round does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// Nanoseconds per unit, by name.
    pub nanoseconds: BTreeMap<String, f64>,
    /// Whatever else was counted or taken in this round, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, BTreeMap<Metric, f64>>,
}

/// A target of the project and what was measured against it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goal {
    pub name: String,
    pub measured: Option<Spread>,
    pub target: f64,
    /// Whether the target is a least value; otherwise it is a most.
    pub at_least: bool,
    pub met: Option<bool>,
}

impl Report {
    /// The first session of a scenario: the only one, if it has no parameter.
    pub fn session(&self, scenario: &str) -> Option<&Session> {
        self.sessions.iter().find(|session| session.scenario == scenario)
    }
}

impl Report {
    /// Whether the hypervisor took more of the CPUs in use, over all rounds, than a single round may lose.
    pub fn stolen_time(&self) -> Option<Warning> {
        let place = if self.cpus[0] == self.cpus[1] { 1 } else { 2 };
        let rounds = self.sessions.iter().flat_map(|session| &session.rounds);
        let had = |round: &Round| round.seconds * round.cpus.unwrap_or(place) as f64;
        let told = rounds.filter_map(|round| Some((round.stolen_seconds?, had(round))));
        let (stolen, had) = told.fold((0.0, 0.0), |(stolen, had), round| (stolen + round.0, had + round.1));
        (stolen >= STEAL_IS_SEEN_FROM && stolen > STEAL_MAY_BE * had)
            .then(|| Warning::TimeStolen { share: stolen / had })
    }
}

impl Session {
    /// The rounds that count: those not dropped, or all of them if none was left.
    pub fn counted(&self) -> impl Iterator<Item = &Round> {
        let all = self.rounds.iter().all(|round| round.dropped.is_some());
        self.rounds.iter().filter(move |round| all || round.dropped.is_none())
    }

    /// How many rounds are beyond doubt.
    pub fn sound(&self) -> usize {
        self.rounds.iter().filter(|round| round.dropped.is_none()).count()
    }

    pub fn contestant(&self, name: &str) -> Option<&Contestant> {
        self.contenders.iter().find(|contestant| contestant.name == name)
    }

    pub fn transports(&self) -> impl Iterator<Item = &Contestant> {
        self.contenders.iter().filter(|contestant| contestant.kind == Kind::Transport)
    }

    /// The CPUs that its threads share beyond the two of the report; nothing where these are all.
    pub fn shared_cpus(&self) -> &[usize] {
        let all = self.contenders.iter().map(|contestant| &contestant.cpus[..]);
        all.max_by_key(|cpus| cpus.len()).unwrap_or_default()
    }

    /// One contender's figure in every round that counts.
    pub fn series(&self, name: &str) -> Vec<Option<f64>> {
        self.counted().map(|round| round.nanoseconds.get(name).copied()).collect()
    }

    /// Nanoseconds per unit over the rounds that count.
    pub fn density(&self, name: &str) -> Option<Spread> {
        Spread::of(&self.figures(name))
    }

    /// The average that the articles give.
    pub fn mean(&self, name: &str) -> Option<f64> {
        stats::mean(&self.figures(name))
    }

    /// One contender's figures in the rounds that count and have it.
    pub fn figures(&self, name: &str) -> Vec<f64> {
        self.series(name).into_iter().flatten().collect()
    }

    /// One of a contender's other figures over the rounds that count.
    pub fn metric(&self, name: &str, metric: Metric) -> Option<Spread> {
        Spread::of(&self.metrics(name, metric))
    }

    /// One of a contender's other figures in the rounds that count and have it.
    pub fn metrics(&self, name: &str, metric: Metric) -> Vec<f64> {
        self.counted().filter_map(|round| round.metrics.get(name)?.get(&metric).copied()).collect()
    }

    /// The times of a contender's single messages, over all the rounds that count.
    pub fn distribution(&self, name: &str, series: Series) -> Option<&Distribution> {
        self.details.get(name)?.distributions.get(&series)
    }

    pub fn trace(&self, name: &str, series: Series) -> Option<&Trace> {
        self.details.get(name)?.traces.get(&series)
    }

    /// The spread of the per-round ratios of two contenders.
    pub fn ratio(&self, above: &str, below: &str) -> Option<Spread> {
        stats::ratio(&self.series(above), &self.series(below))
    }

    /// The ratios of two contenders, one for each round that counts.
    pub fn ratios(&self, above: &str, below: &str) -> Vec<f64> {
        stats::ratios(&self.series(above), &self.series(below))
    }

    /// What this session has to say about a contender beside another session.
    pub fn measured(&self, name: &str) -> Option<Measured> {
        Some(Measured {
            ratios: self.ratios(name, &self.limit),
            times: self.figures(name),
            floor: self.density(&self.floor)?.median,
            limit: self.density(&self.limit).or_else(|| self.density(&self.floor))?.median,
            sound: self.sound(),
        })
    }

    /// Between what the median of those ratios lies.
    pub fn interval(&self, above: &str, below: &str) -> Option<Interval> {
        Interval::of(&self.ratios(above, below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_doubted_over_all_rounds_together() {
        let on = |cpus: Option<usize>, stolen: [Option<f64>; 3]| {
            let round = |stolen_seconds| Round { seconds: 1.0, stolen_seconds, cpus, ..Round::default() };
            let session = Session { rounds: stolen.map(round).to_vec(), ..Session::default() };
            Report {
                environment: Environment { allowed_cpus: vec![0, 1], ..Environment::default() },
                cpus: [0, 1],
                sessions: vec![session],
                ..Report::default()
            }
        };
        let report = |stolen| on(None, stolen);
        assert_eq!(report([None; 3]).stolen_time(), None);
        assert_eq!(report([Some(0.1), Some(0.0), Some(0.0)]).stolen_time(), None);
        let stolen = report([Some(0.3), Some(0.1), None]).stolen_time();
        assert_eq!(stolen, Some(Warning::TimeStolen { share: 0.1 }));
        // Twice as much from four times as many CPUs.
        let stolen = on(Some(8), [Some(0.6), Some(0.2), None]).stolen_time();
        assert_eq!(stolen, Some(Warning::TimeStolen { share: 0.05 }));
    }
}
