//! The common part of two results, transport by transport, with the verdict on each. Made from the results alone.

use ybench_measure::record::{Parameter, Report, Session};
use ybench_measure::stats::Interval;
use ybench_measure::stats::change::{Change, Measured, Others, Threshold, change};

use super::Rename;

/// All rows that can be compared in two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub threshold: Threshold,
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
    pub fn of(old: &Report, new: &Report, renames: &[Rename<'_>], threshold: Threshold) -> Self {
        let mut made = Self { threshold, rows: Vec::new(), only_new: 0, only_old: 0 };
        let busy = old.is_busy() || new.is_busy();
        let mut matched = 0;
        for session in &new.sessions {
            let earlier = old.sessions.iter().find(|earlier| comparable(earlier, session));
            let mut used: Vec<&str> = Vec::new();
            for one in session.transports() {
                let was =
                    renames.iter().find(|(later, _)| *later == one.name).map_or(one.name.as_str(), |(_, was)| was);
                match earlier.and_then(|earlier| row((earlier, was), (session, &one.name), busy, threshold)) {
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
        self.rows.iter().filter(|row| row.change.is_undecided()).count()
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

/// Whether both are of one scenario and parameter, ranked by one baseline.
pub fn comparable(old: &Session, new: &Session) -> bool {
    (&old.scenario, old.parameter, &old.limit) == (&new.scenario, new.parameter, &new.limit)
}

fn row(old: (&Session, &str), new: (&Session, &str), busy: bool, threshold: Threshold) -> Option<Row> {
    old.0.transports().find(|one| one.name == old.1)?;
    let ratio = |(session, name): (&Session, &str)| Some(session.ratio(name, &session.limit)?.median);
    let others = others(old.0, new.0, new.1);
    let same_guard = old.0.floor == new.0.floor;
    let measured = |(session, name): (&Session, &str)| {
        let one = session.measured(name)?;
        // The state of the machine shows in a guard that both have.
        Some(Measured { busy, floor: if same_guard { one.floor } else { one.limit }, ..one })
    };
    let (change, times) = change(&measured(old)?, &measured(new)?, others, threshold)?;
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

/// The changes of the ratios of transports that share no code with this one: all other families.
fn others(old: &Session, new: &Session, name: &str) -> Others {
    let family = new.contestant(name).and_then(|one| one.family);
    let ratio = |session: &Session, name: &str| Some(session.ratio(name, &session.limit)?.median);
    let of_others = new.transports().filter(|one| one.family != family);
    let times: Vec<f64> = of_others.filter_map(|one| Some(ratio(new, &one.name)? / ratio(old, &one.name)?)).collect();
    Others::of(&times)
}

#[cfg(test)]
mod tests;
