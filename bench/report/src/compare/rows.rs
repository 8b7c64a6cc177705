//! The common part of two results, transport by transport, with the verdict on each. Made from the results alone.

use ybench_measure::record::{Parameter, Report, Session};
use ybench_measure::stats::change::{Change, change};
use ybench_measure::stats::{Interval, Spread};

use super::Rename;

/// All rows that can be compared in two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// A change by at most this share does not count.
    pub threshold: f64,
    pub rows: Vec<Row>,
    /// Transports of the new result that the old one does not have in the same session.
    pub only_new: usize,
    /// Transports of the old result without a counterpart.
    pub only_old: usize,
}

/// One transport in one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub scenario: String,
    pub parameter: Option<Parameter>,
    pub name: String,
    /// Its name in the old result, if that differs.
    pub old_name: Option<String>,
    /// The median ratios to the baseline.
    pub old: f64,
    pub new: f64,
    /// The new ratio divided by the old one.
    pub times: Interval,
    pub change: Change,
}

impl Comparison {
    pub fn of(old: &Report, new: &Report, renames: &[Rename<'_>], threshold: f64) -> Self {
        let mut made = Self { threshold, rows: Vec::new(), only_new: 0, only_old: 0 };
        let mut matched = 0;
        for session in &new.sessions {
            let earlier = old.sessions.iter().find(|earlier| comparable(earlier, session));
            let mut used: Vec<&str> = Vec::new();
            for one in session.transports() {
                let was =
                    renames.iter().find(|(later, _)| *later == one.name).map_or(one.name.as_str(), |(_, was)| was);
                match earlier.and_then(|earlier| row((earlier, was), (session, &one.name), threshold)) {
                    Some(row) => {
                        made.rows.push(row);
                        used.push(was);
                    }
                    None => made.only_new += 1,
                }
            }
            used.sort_unstable();
            used.dedup();
            matched += used.len();
        }
        let all: usize = old.sessions.iter().map(|session| session.transports().count()).sum();
        made.only_old = all.saturating_sub(matched);
        made
    }

    pub fn count(&self, change: Change) -> usize {
        self.rows.iter().filter(|row| row.change == change).count()
    }

    /// The number of inconclusive rows.
    pub fn undecided(&self) -> usize {
        [Change::Unclear, Change::TooFewRounds, Change::OtherState].map(|change| self.count(change)).iter().sum()
    }

    /// The slower transports, each once.
    pub fn slower(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.change == Change::Slower) {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        names
    }
}

fn comparable(old: &Session, new: &Session) -> bool {
    (&old.scenario, old.parameter, &old.limit, &old.floor) == (&new.scenario, new.parameter, &new.limit, &new.floor)
}

fn row(old: (&Session, &str), new: (&Session, &str), threshold: f64) -> Option<Row> {
    old.0.transports().find(|one| one.name == old.1)?;
    let ratio = |(session, name): (&Session, &str)| Some(session.ratio(name, &session.limit)?.median);
    let others = others(old.0, new.0, new.1);
    let (change, times) = change(&old.0.measured(old.1)?, &new.0.measured(new.1)?, others, threshold)?;
    Some(Row {
        scenario: new.0.scenario.clone(),
        parameter: new.0.parameter,
        name: new.1.to_owned(),
        old_name: (old.1 != new.1).then(|| old.1.to_owned()),
        old: ratio(old)?,
        new: ratio(new)?,
        times,
        change,
    })
}

/// Fewer other transports say nothing about the machine.
const ENOUGH_OTHERS: usize = 5;

/// The change of the ratios of transports that share no code with this one: the median over all other families.
fn others(old: &Session, new: &Session, name: &str) -> f64 {
    let family = new.contestant(name).and_then(|one| one.family);
    let ratio = |session: &Session, name: &str| Some(session.ratio(name, &session.limit)?.median);
    let of_others = new.transports().filter(|one| one.family != family);
    let times: Vec<f64> = of_others.filter_map(|one| Some(ratio(new, &one.name)? / ratio(old, &one.name)?)).collect();
    Spread::of(&times).filter(|_| times.len() >= ENOUGH_OTHERS).map_or(1.0, |spread| spread.median)
}

#[cfg(test)]
mod tests;
