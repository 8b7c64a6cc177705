//! The sessions of one shape in a result: ways of carrying a message by its sizes. The result decides which ways there
//! are.

use ybench_measure::record::{Parameter, Quantity, Report, Session};
use ybench_measure::scenario::{Scenario, carried, many, size};
use ybench_measure::stats::Spread;
use ybench_measure::transport::Shape;

/// The article's three tables.
pub(super) const SCENARIOS: [&Scenario; 3] = [&size::SCENARIO, &many::TWO_BY_TWO, &many::THREE_BY_THREE];

pub(super) struct Matrix<'a> {
    pub(super) shape: Shape,
    sessions: Vec<(Parameter, &'a Session)>,
}

impl<'a> Matrix<'a> {
    fn of(report: &'a Report, scenario: &Scenario) -> Self {
        let sessions = report.sessions.iter().filter(|session| session.scenario == scenario.name);
        Self {
            shape: (scenario.shape)(None),
            sessions: sessions.filter_map(|session| Some((session.parameter?, session))).collect(),
        }
    }

    /// The measured ones.
    pub(super) fn all(report: &'a Report) -> Vec<Self> {
        let all = SCENARIOS.iter().map(|scenario| Self::of(report, scenario));
        all.filter(|matrix| !matrix.sessions.is_empty()).collect()
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = &'a Session> {
        self.sessions.iter().map(|(_, session)| *session)
    }

    pub(super) fn ways(&self) -> Vec<Quantity> {
        let mut ways: Vec<Quantity> = Vec::new();
        for (parameter, _) in &self.sessions {
            if !ways.contains(&parameter.quantity) {
                ways.push(parameter.quantity);
            }
        }
        ways
    }

    /// Bytes, ascending.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let mut sizes: Vec<f64> = self.sessions.iter().map(|(parameter, _)| parameter.value).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        sizes
    }

    pub(super) fn at(&self, way: Quantity, bytes: f64) -> Option<&'a Session> {
        let wanted = Parameter { quantity: way, value: bytes };
        self.sessions.iter().find(|(parameter, _)| *parameter == wanted).map(|(_, session)| *session)
    }

    /// The number of CPUs that its threads share.
    pub(super) fn cpus(&self, report: &Report) -> usize {
        let place = if report.cpus[0] == report.cpus[1] { 1 } else { report.cpus.len() };
        self.sessions().map(|session| session.shared_cpus().len()).max().unwrap_or(0).max(place)
    }

    /// The session that moves one word only: what the article calls passing pointers.
    pub(super) fn words(&self) -> Option<&'a Session> {
        self.at(carried::SMALLEST.quantity, carried::SMALLEST.value)
    }
}

/// "by value", "by pointer".
pub(super) fn way(quantity: Quantity) -> &'static str {
    quantity.in_words().rsplit(", ").next().unwrap_or_default()
}

/// "8 B", "64 KiB".
pub(super) fn bytes(bytes: f64) -> String {
    Quantity::BytesByValue.short(bytes)
}

/// Converts an amount per nanoseconds to a rate per second. The fastest round becomes the maximum.
pub(super) fn rate(of: f64, nanoseconds: Spread) -> Spread {
    Spread { median: of / nanoseconds.median, min: of / nanoseconds.max, max: of / nanoseconds.min }
}
