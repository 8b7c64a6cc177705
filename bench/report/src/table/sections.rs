//! The sessions of a report in reading order: those of one scenario together.

use ybench_measure::record::{Quantity, Report, Session};

/// The sessions of one scenario.
pub struct Section<'a> {
    pub scenario: &'a str,
    pub about: &'a str,
    pub sessions: Vec<&'a Session>,
}

/// In the order of the scenarios' first appearance.
pub fn sections(report: &Report) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for session in &report.sessions {
        match sections.iter_mut().find(|section| section.scenario == session.scenario) {
            Some(section) => section.sessions.push(session),
            None => {
                sections.push(Section { scenario: &session.scenario, about: &session.about, sessions: vec![session] })
            }
        }
    }
    sections
}

impl<'a> Section<'a> {
    /// The sessions that differ in the same quantity, ascending, for each quantity with at least two.
    pub fn sweeps(&self) -> Vec<(Quantity, Vec<(f64, &'a Session)>)> {
        let mut sweeps: Vec<(Quantity, Vec<(f64, &Session)>)> = Vec::new();
        for &session in &self.sessions {
            let Some(parameter) = session.parameter else { continue };
            match sweeps.iter_mut().find(|(quantity, _)| *quantity == parameter.quantity) {
                Some((_, sessions)) => sessions.push((parameter.value, session)),
                None => sweeps.push((parameter.quantity, vec![(parameter.value, session)])),
            }
        }
        sweeps.retain(|(_, sessions)| sessions.len() > 1);
        for (_, sessions) in &mut sweeps {
            sessions.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        sweeps
    }
}
