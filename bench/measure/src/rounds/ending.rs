//! The number of rounds: fixed, or until every interval is tight.

use std::time::Duration;

use crate::record::{Session, Stopped};
use crate::stats::LEAST_ROUNDS;

use super::Plan;

/// An interval is tight when half its width is at most this share of the median: two runs of the program then show a
/// change of 10 %.
pub const TIGHT: f64 = 0.02;

/// More rounds than this add nothing new about one run of the program.
pub const MOST_ROUNDS: u32 = 100;

/// The number of rounds that sets the length of a run if the figures determine the number of rounds.
pub const LIKELY_ROUNDS: u32 = 25;

/// A session may take this multiple of its budget while it has too few rounds without a warning for any verdict.
const PATIENCE: f64 = 1.3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounds {
    /// Whatever their figures.
    Exactly(u32),
    /// Until this number are without a warning, but never more than `most`.
    Sound { wanted: u32, most: u32 },
    /// At least `least` rounds without a warning, if time allows. Then until the ratio of every transport to the
    /// ranking baseline has a tight interval, or there were `most` rounds, or the next round would not end within the
    /// budget. The budget is a little longer while fewer than `least` are without a warning. There are always `least`
    /// rounds, with or without warnings.
    UntilTight { least: u32, most: u32, budget: Duration },
}

impl Rounds {
    /// The time limit, including the warm-up.
    pub fn within(budget: Duration) -> Self {
        Self::UntilTight { least: LEAST_ROUNDS as u32, most: MOST_ROUNDS, budget }
    }

    /// The time that it takes, if that was fixed and not the number of rounds.
    pub fn budget(self) -> Option<Duration> {
        if let Self::UntilTight { budget, .. } = self { Some(budget) } else { None }
    }

    /// The number to expect, without a guarantee.
    pub fn likely(self) -> u32 {
        match self {
            Self::Exactly(rounds) | Self::Sound { wanted: rounds, .. } => rounds,
            Self::UntilTight { least, most, .. } => LIKELY_ROUNDS.clamp(least, most.max(least)),
        }
    }

    /// The reason why the session ends with its rounds, `spent` after its beginning. Nothing if there must be another
    /// one.
    pub(super) fn ended(self, session: &Session, spent: Duration) -> Option<Stopped> {
        let had = session.rounds.len() as u32;
        match self {
            Self::Exactly(rounds) => (had >= rounds).then_some(Stopped::Rounds),
            Self::Sound { wanted, most } => {
                (session.sound() as u32 >= wanted || had >= most).then_some(Stopped::Rounds)
            }
            Self::UntilTight { least, .. } if had < least => None,
            Self::UntilTight { least, most, budget } => {
                let next = session.rounds.last().map_or(0.0, |round| round.seconds);
                let enough = session.sound() as u32 >= least;
                let budget = if enough { budget } else { budget.mul_f64(PATIENCE) };
                if enough && tight(session) {
                    Some(Stopped::Tight)
                } else if had >= most {
                    Some(Stopped::Rounds)
                } else {
                    (spent.as_secs_f64() + next > budget.as_secs_f64()).then_some(Stopped::Time)
                }
            }
        }
    }
}

fn tight(session: &Session) -> bool {
    session.transports().all(|one| {
        let interval = session.interval(&one.name, &session.limit);
        interval.is_some_and(|interval| interval.half_width() <= TIGHT)
    })
}

/// Lets the figures determine the number of rounds of each plan, at least `least`, within `seconds` for all of them
/// together.
pub fn share(plans: &mut [Plan], least: u32, seconds: f64) {
    let runs = |plan: &Plan| plan.contenders.len() as f64 + 2.0;
    let all: f64 = plans.iter().map(runs).sum();
    for plan in plans {
        let budget = Duration::from_secs_f64(seconds * runs(plan) / all);
        plan.rounds = Rounds::UntilTight { least, most: MOST_ROUNDS.max(least), budget };
    }
}
