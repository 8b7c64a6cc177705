//! A valid request, and its settings for the runs that are made for it.

use std::path::PathBuf;
use std::time::Duration;

use ybench_measure::frame::Frame;
use ybench_measure::place::Place;
use ybench_measure::rounds::{self, LIKELY_ROUNDS, Length, Plan};
use ybench_measure::scenario::Entry;

use crate::compare::Baseline;

/// With a fixed number of messages the user wants a short run, and baselines need not take longer.
pub const LIMIT_BESIDE_FIXED_MESSAGES: Duration = Duration::from_millis(10);

/// A valid request.
#[derive(Debug)]
pub struct Request {
    pub place: Place,
    /// Those of the place, as the user has given them.
    pub cpus: Option<String>,
    pub rounds: Option<u32>,
    /// The least number of rounds, where the figures decide it.
    pub least_rounds: u32,
    /// Rounds of each session that are measured first and do not count.
    pub warm_up: u32,
    pub entries: Vec<&'static Entry>,
    /// Whether the transports were given by name.
    pub named: bool,
    pub messages: Option<u64>,
    pub seconds: Option<f64>,
    /// The length of a baseline's run if the number of messages is fixed.
    pub limit_beside_fixed_messages: Duration,
    pub json: Option<PathBuf>,
    pub markdown: Option<PathBuf>,
    pub csv: Option<PathBuf>,
    /// Each other transport is compared with these.
    pub against: Vec<String>,
    /// Whether all tables and warnings are printed.
    pub verbose: bool,
    /// Whether nothing but the result is.
    pub quiet: bool,
    pub out: PathBuf,
    /// The time that a message should not exceed, in nanoseconds.
    pub beyond: f64,
    pub baseline: Option<Baseline>,
    /// The file of the baseline that this run becomes.
    pub save_baseline: Option<PathBuf>,
}

impl Request {
    /// The frame of plans with runs of the given length, unless the user has fixed the number of messages.
    pub fn frame(&self, rounds: u32, length: Length) -> Frame {
        let (transports, limits) = match (self.messages, length) {
            (Some(messages), _) => (Length::Units(messages), Length::Time(self.limit_beside_fixed_messages)),
            (None, Length::TimeAndUnits(time, _)) => (length, Length::Time(time)),
            (None, length) => (length, length),
        };
        Frame { place: self.place, rounds, transports, limits, named: self.named }
    }

    /// Whether the figures decide the number of rounds: the user has fixed neither it nor what it depends on.
    fn adapts(&self) -> bool {
        self.rounds.is_none() && (self.messages.is_none() || self.seconds.is_some())
    }

    /// The expected number of rounds of a command with `usual` rounds at a fixed number of messages.
    pub fn likely_rounds(&self, usual: u32) -> u32 {
        self.rounds.unwrap_or(if self.adapts() { LIKELY_ROUNDS } else { usual })
    }

    /// The same, if it is known beforehand.
    pub fn known_rounds(&self, usual: u32) -> Option<u32> {
        (!self.adapts()).then(|| self.likely_rounds(usual))
    }

    /// Lets the figures decide the number of rounds within `seconds`, unless the user has.
    pub fn adapt(&self, plans: &mut [Plan], seconds: f64) {
        if self.adapts() {
            rounds::share(plans, self.least_rounds, seconds);
        }
    }
}
