//! How many rounds there are: so many, or until every interval is tight.

use std::time::Duration;

use crate::record::{Session, Stopped};
use crate::stats::LEAST_ROUNDS;

use super::Plan;

/// An interval is tight when half its width is at most 5 % of the median.
pub const TIGHT: f64 = 0.05;

/// More rounds than this tell nothing new about one run of the program.
pub const MOST_ROUNDS: u32 = 100;

/// What the length of a run is chosen for where the number of rounds is left to the figures.
pub const LIKELY_ROUNDS: u32 = 15;

/// So many times its budget a session may take while it has too few rounds beyond doubt for any verdict.
const PATIENCE: f64 = 1.3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounds {
    /// Whatever they show.
    Exactly(u32),
    /// Until so many are beyond doubt, but never more than `most`.
    Sound { wanted: u32, most: u32 },
    /// At least `least` rounds beyond doubt, if time allows; then until the ratio of every transport to the limit that
    /// ranks has a tight interval, or there were `most` rounds, or the next one would not end within the budget, a little
    /// longer while fewer than `least` are beyond doubt. There are always `least` rounds, good or bad.
    UntilTight { least: u32, most: u32, budget: Duration },
}

impl Rounds {
    /// Within so much time, the warm-up included.
    pub fn within(budget: Duration) -> Self {
        Self::UntilTight { least: LEAST_ROUNDS as u32, most: MOST_ROUNDS, budget }
    }

    /// How many to expect: no promise.
    pub fn likely(self) -> u32 {
        match self {
            Self::Exactly(rounds) | Self::Sound { wanted: rounds, .. } => rounds,
            Self::UntilTight { least, most, .. } => LIKELY_ROUNDS.clamp(least, most.max(least)),
        }
    }

    /// Why the session ends with the rounds it has, `spent` after its beginning; nothing if there must be another one.
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

/// Lets the figures decide how many rounds each plan has, within so many seconds for all of them together.
pub fn share(plans: &mut [Plan], seconds: f64) {
    let runs = |plan: &Plan| plan.contenders.len() as f64 + 2.0;
    let all: f64 = plans.iter().map(runs).sum();
    for plan in plans {
        plan.rounds = Rounds::within(Duration::from_secs_f64(seconds * runs(plan) / all));
    }
}
