//! The result as it is kept: every round's figures, before any statistics, and the histograms of single messages. All
//! output and all pictures are made from the result alone.
//!
//! The JSON written by `--json` is [`Report`]. [`SCHEMA`] rises when a field changes its meaning or is removed. Later
//! fields have defaults, so that everything since schema 1 can be read.

mod family;
mod waits;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::distribution::Distribution;
use crate::env::Environment;
use crate::error::Error;
use crate::outcome::{Metric, Series};
use crate::stats::change::Measured;
use crate::stats::{self, Interval, STEAL_IS_SEEN_FROM, STEAL_MAY_BE, Spread, WORK_OF_OTHERS_MAY_BE};
use crate::trace::Trace;
use crate::warnings::Warning;

pub use self::family::Family;
pub use self::waits::Waits;

pub const SCHEMA: u32 = 2;

/// The unit of a figure. The figure itself is always nanoseconds per unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    #[default]
    Message,
    Wake,
    Call,
    Operation,
    Kibibyte,
    /// Made, used for one message, dropped.
    Channel,
    /// Of a program, from nothing.
    Build,
}

impl Unit {
    pub fn per(self) -> &'static str {
        match self {
            Self::Message => "ns/msg",
            Self::Wake => "ns/wake",
            Self::Call => "ns/call",
            Self::Operation => "ns/op",
            Self::Kibibyte => "ns/KiB",
            Self::Channel => "ns/channel",
            Self::Build => "ns/build",
        }
    }

    /// One of them, in a sentence about transports.
    pub fn spoken(self) -> &'static str {
        match self {
            Self::Channel => "a channel",
            Self::Build => "a build",
            _ => "a message",
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
    /// The seed of the shuffled order in each round.
    #[serde(default)]
    pub seed: u64,
    /// Interrupted by the user: sessions that had not begun, or had no complete round, are not here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    pub sessions: Vec<Session>,
    /// Sizes and counts, which have no rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Count>,
    /// Verdicts of results that were kept without the sizes and counts they are made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// The most bytes that a transport carries in a message moved by value, where there is a bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
    /// Whether mechanisms work with epoll, tried in this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epoll: Vec<InEpoll>,
    /// The distances between the CPUs, where there are more than two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// The question and the answer, in sentences, where the figures alone do not give it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub warnings: Vec<Warning>,
}

/// One figure, measured several times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    pub name: String,
    pub values: Vec<f64>,
}

/// Two CPUs, and the time of a word from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub first: usize,
    pub second: usize,
    pub nanoseconds: Spread,
}

/// The most that one transport carries between a number of threads, on the machine as it was set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    pub name: String,
    pub senders: usize,
    pub receivers: usize,
    pub bytes: u64,
}

/// The result of putting one transport into epoll alongside sockets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InEpoll {
    pub name: String,
    pub works: bool,
    /// The action, or the call that failed and its error; without a full stop.
    pub how: String,
}

/// One scenario measured in rounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Session {
    pub scenario: String,
    pub about: String,
    /// The parameter of a series that this session belongs to: a rate, a size, a backlog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<Parameter>,
    /// The baseline measured at both ends of every round.
    pub floor: String,
    /// The baseline that all competitors are ranked by.
    pub limit: String,
    pub contenders: Vec<Contestant>,
    /// The groups of competitors to show together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    pub rounds: Vec<Round>,
    /// The reason why there were not more of them. Unknown in results of schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The recorded single messages, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, Details>,
}

/// Competitors of one kind, by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Their common property.
    pub name: String,
    /// Variants of this project's own.
    pub ours: Vec<String>,
    pub competitors: Vec<String>,
}

/// The reason why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Every interval was tight.
    Tight,
    /// Its time was used up.
    Time,
    /// There were the wanted number of rounds, or the maximum.
    Rounds,
    /// By the user.
    Interrupted,
}

/// The parameter by which sessions of the same scenario differ.
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
    /// Messages per second, as a share of the receiver's capacity.
    Load,
    /// Bytes in a message that is moved by value.
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
    /// Threads that only use the CPU, on each CPU.
    Neighbours,
    /// Threads that send.
    Senders,
    /// Senders that have sent once and are silent since, in addition to the one that sends.
    IdleSenders,
    /// Threads that receive.
    Receivers,
    /// Channels that one thread serves.
    Sources,
    /// Channels that exist at the same time.
    Channels,
}

/// The recorded single messages of one competitor.
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

/// A competitor, and the length of its run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Contestant {
    /// Unique within its session.
    pub name: String,
    pub kind: Kind,
    pub unit: Unit,
    pub units_per_run: u64,
    /// The baseline of its own kind: of sleeping, of spinning, of descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The CPUs that its threads share, where these are more than the two of the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<usize>,
    /// The origin of a transport.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Its description, in a sentence without its full stop.
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
    /// Taken by the hypervisor from the CPUs in use. Absent where the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_seconds: Option<f64>,
    /// Used by other programs on these CPUs. Absent in older results, and where the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_of_others: Option<f64>,
    /// The number of those CPUs: those of the place, and those that more threads share. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<usize>,
    /// The reason why this round does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// Nanoseconds per unit, by name.
    pub nanoseconds: BTreeMap<String, f64>,
    /// All other figures counted or measured in this round, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, BTreeMap<Metric, f64>>,
}

/// A target of the project and the figure measured for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goal {
    pub name: String,
    pub measured: Option<Spread>,
    pub target: f64,
    /// Whether the target is a lower bound; otherwise it is an upper bound.
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
    /// Whether the hypervisor took a larger share of the CPUs in use, over all rounds, than is allowed for a single
    /// round.
    pub fn stolen_time(&self) -> Option<Warning> {
        let (stolen, had) = self.taken(|round| round.stolen_seconds);
        (stolen >= STEAL_IS_SEEN_FROM && stolen > STEAL_MAY_BE * had)
            .then(|| Warning::TimeStolen { share: stolen / had })
    }

    /// The same of other programs.
    pub fn work_of_others(&self) -> Option<Warning> {
        let (taken, had) = self.taken(|round| round.seconds_of_others);
        (taken > WORK_OF_OTHERS_MAY_BE * had).then(|| Warning::WorkOfOthers { share: taken / had })
    }

    /// Seconds that others took from the CPUs in use, and the seconds that these had, in the rounds that know both.
    fn taken(&self, by: impl Fn(&Round) -> Option<f64>) -> (f64, f64) {
        let place = if self.cpus[0] == self.cpus[1] { 1 } else { 2 };
        let rounds = self.sessions.iter().flat_map(|session| &session.rounds);
        let had = |round: &Round| round.seconds * round.cpus.unwrap_or(place) as f64;
        let told = rounds.filter_map(|round| Some((by(round)?, had(round))));
        told.fold((0.0, 0.0), |(taken, had), round| (taken + round.0, had + round.1))
    }

    /// The competitors that broke their word, each with the scenario in which it did and a sentence about it.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.warnings.iter().filter_map(|warning| match warning {
            Warning::TakenOut { scenario, name, sentence } => Some((&name[..], &scenario[..], &sentence[..])),
            _ => None,
        })
    }

    /// Whether a competitor of this name failed validation.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken().any(|(broken, ..)| broken == name)
    }

    /// # Errors
    ///
    /// If a competitor failed validation.
    pub fn honest(&self) -> Result<(), Error> {
        let mut names: Vec<&str> = self.broken().map(|(name, ..)| name).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(());
        }
        Err(Error::BrokeTheirWord(format!("In no table, because it failed validation: {}.", stats::listed(&names))))
    }

    /// Competitors that broke their word leave every table, and are the first thing that the warnings tell. A figure of
    /// a queue that loses messages elsewhere says nothing.
    pub fn leave_out_the_broken(&mut self) {
        self.warnings.sort_by_key(|warning| !warning.is_of_a_broken_word());
        let broken: Vec<String> = self.broken().map(|(name, ..)| name.to_owned()).collect();
        if broken.is_empty() {
            return;
        }
        self.sessions.iter_mut().for_each(|session| session.keep_only(|name| !broken.iter().any(|one| one == name)));
    }

    /// Whether the CPUs had other work in this run or just before it.
    pub fn is_busy(&self) -> bool {
        self.warnings.iter().any(Warning::is_of_a_busy_machine)
    }
}

impl Session {
    /// Leaves no trace of the others.
    pub fn keep_only(&mut self, stays: impl Fn(&str) -> bool) {
        self.contenders.retain(|contender| stays(&contender.name));
        self.details.retain(|name, _| stays(name));
        for group in &mut self.groups {
            group.ours.retain(|name| stays(name));
            group.competitors.retain(|name| stays(name));
        }
        for round in &mut self.rounds {
            round.order.retain(|name| stays(name));
            round.nanoseconds.retain(|name, _| stays(name));
            round.metrics.retain(|name, _| stays(name));
        }
    }

    /// The rounds that count: those not dropped, or all of them if none was left.
    pub fn counted(&self) -> impl Iterator<Item = &Round> {
        let all = self.rounds.iter().all(|round| round.dropped.is_some());
        self.rounds.iter().filter(move |round| all || round.dropped.is_none())
    }

    /// The number of rounds without a warning.
    pub fn sound(&self) -> usize {
        self.rounds.iter().filter(|round| round.dropped.is_none()).count()
    }

    pub fn contestant(&self, name: &str) -> Option<&Contestant> {
        self.contenders.iter().find(|contestant| contestant.name == name)
    }

    pub fn transports(&self) -> impl Iterator<Item = &Contestant> {
        self.contenders.iter().filter(|contestant| contestant.kind == Kind::Transport)
    }

    /// The unit of its transports: they all have the same.
    pub fn unit(&self) -> Unit {
        self.transports().next().map_or(Unit::Message, |one| one.unit)
    }

    /// The CPUs that its threads share in addition to the two of the report. Empty where these are all.
    pub fn shared_cpus(&self) -> &[usize] {
        let all = self.contenders.iter().map(|contestant| &contestant.cpus[..]);
        all.max_by_key(|cpus| cpus.len()).unwrap_or_default()
    }

    /// One competitor's figure in every round that counts.
    pub fn series(&self, name: &str) -> Vec<Option<f64>> {
        self.counted().map(|round| round.nanoseconds.get(name).copied()).collect()
    }

    /// Nanoseconds per unit over the rounds that count.
    pub fn density(&self, name: &str) -> Option<Spread> {
        Spread::of(&self.figures(name))
    }

    /// The average as the articles state it.
    pub fn mean(&self, name: &str) -> Option<f64> {
        stats::mean(&self.figures(name))
    }

    /// One competitor's figures in the rounds that count and have it.
    pub fn figures(&self, name: &str) -> Vec<f64> {
        self.series(name).into_iter().flatten().collect()
    }

    /// One of a competitor's other figures over the rounds that count.
    pub fn metric(&self, name: &str, metric: Metric) -> Option<Spread> {
        Spread::of(&self.metrics(name, metric))
    }

    /// One of a competitor's other figures in the rounds that count and have it.
    pub fn metrics(&self, name: &str, metric: Metric) -> Vec<f64> {
        self.counted().filter_map(|round| round.metrics.get(name)?.get(&metric).copied()).collect()
    }

    /// The times of a competitor's single messages, over all the rounds that count.
    pub fn distribution(&self, name: &str, series: Series) -> Option<&Distribution> {
        self.details.get(name)?.distributions.get(&series)
    }

    pub fn trace(&self, name: &str, series: Series) -> Option<&Trace> {
        self.details.get(name)?.traces.get(&series)
    }

    /// The spread of the per-round ratios of two competitors.
    pub fn ratio(&self, above: &str, below: &str) -> Option<Spread> {
        stats::ratio(&self.series(above), &self.series(below))
    }

    /// The ratios of two competitors, one for each round that counts.
    pub fn ratios(&self, above: &str, below: &str) -> Vec<f64> {
        stats::ratios(&self.series(above), &self.series(below))
    }

    /// The comparison of a competitor in this session with another session.
    pub fn measured(&self, name: &str) -> Option<Measured> {
        Some(Measured {
            ratios: self.ratios(name, &self.limit),
            times: self.figures(name),
            floor: self.density(&self.floor)?.median,
            limit: self.density(&self.limit).or_else(|| self.density(&self.floor))?.median,
            sound: self.sound(),
            busy: false,
        })
    }

    /// The interval of the median of those ratios.
    pub fn interval(&self, above: &str, below: &str) -> Option<Interval> {
        Interval::of(&self.ratios(above, below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_word_is_the_first_warning_and_its_competitor_is_in_no_session() {
        let named = |name: &str| Contestant { name: name.into(), ..Contestant::default() };
        let nanoseconds = ["liar", "honest"].map(|name| (name.to_owned(), 1.0)).into();
        let session = Session {
            contenders: vec![named("liar"), named("honest")],
            rounds: vec![Round { order: vec!["liar".into(), "honest".into()], nanoseconds, ..Round::default() }],
            details: [("liar".to_owned(), Details::default())].into(),
            ..Session::default()
        };
        let taken_out = |scenario: &str| Warning::TakenOut {
            scenario: scenario.into(),
            name: "liar".into(),
            sentence: "lost a message".into(),
        };
        let mut report = Report {
            sessions: vec![session.clone(), session.clone()],
            warnings: vec![Warning::OneCpu, taken_out("latency")],
            ..Report::default()
        };
        report.leave_out_the_broken();
        assert_eq!(report.warnings, [taken_out("latency"), Warning::OneCpu]);
        assert_eq!(report.broken().collect::<Vec<_>>(), [("liar", "latency", "lost a message")]);
        let error = report.honest().unwrap_err();
        assert_eq!(
            (error.exit_status(), &error.to_string()[..]),
            (1, "In no table, because it failed validation: liar.")
        );
        assert!(report.is_broken("liar") && !report.is_broken("honest") && !report.is_busy());
        for session in &report.sessions {
            assert!(session.contestant("liar").is_none() && session.details.is_empty());
            assert_eq!(session.series("honest"), [Some(1.0)]);
            assert_eq!(
                (session.series("liar"), &session.rounds[0].order[..]),
                (vec![None], &["honest".to_owned()][..])
            );
        }
    }

    #[test]
    fn work_of_others_over_all_rounds_makes_a_machine_busy() {
        let busy = |seconds_of_others| {
            let round = Round { seconds: 1.0, cpus: Some(2), seconds_of_others, ..Round::default() };
            let sessions = vec![Session { rounds: vec![round; 3], ..Session::default() }];
            Report { sessions, ..Report::default() }.work_of_others()
        };
        assert_eq!([busy(None), busy(Some(0.1)), busy(Some(-0.5))], [None, None, None]);
        let warning = busy(Some(1.0)).unwrap();
        assert_eq!(warning.to_string(), "Other programs were on the CPUs in use for 50 % of the time.");
        assert!(Report { warnings: vec![warning], ..Report::default() }.is_busy());
    }

    #[test]
    fn stolen_time_is_warned_of_over_all_rounds_together() {
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
        // Twice the time from four times the CPUs.
        let stolen = on(Some(8), [Some(0.6), Some(0.2), None]).stolen_time();
        assert_eq!(stolen, Some(Warning::TimeStolen { share: 0.05 }));
    }
}
