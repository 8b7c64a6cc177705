//! The claims of an article and the verdicts of this machine: every claim with the figure it is read from and a
//! verdict, all made from the result.
//!
//! An article does not say which of its figures each claim is drawn from; `here` says how it is read in this program.

use ybench_measure::record::Session;

use super::cases::Cases;
use crate::table::Part;

const HEADING: &str = "What the article concluded, and what this machine says";

pub(super) use crate::table::Claim as Conclusion;

/// All claims of an article, one below the other.
pub(super) fn parts(all: impl IntoIterator<Item = Conclusion>) -> Vec<Part> {
    std::iter::once(Part::Heading(HEADING.to_owned())).chain(all.into_iter().map(Part::Claim)).collect()
}

/// A claim about the ratio of two transports' times, checked by one question to each session that can decide it.
pub(super) struct Ratio<'a> {
    pub(super) claim: &'static str,
    /// The comparison, and its threshold if the article gives no number.
    pub(super) read: &'static str,
    pub(super) above: &'a str,
    pub(super) below: &'a str,
}

impl Ratio<'_> {
    /// The first takes at least `times` as long as the second.
    pub(super) fn at_least(self, times: f64, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, |cases, session, above, below| cases.at_least(session, above, below, times))
    }

    /// The first takes about `times` as long as the second.
    pub(super) fn about(self, times: f64, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, |cases, session, above, below| cases.about(session, above, below, times))
    }

    /// The first is slower.
    pub(super) fn slower(self, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, Cases::slower)
    }

    /// Neither takes `times` as long as the other.
    pub(super) fn within(self, times: f64, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, |cases, session, above, below| cases.within(session, above, below, times))
    }

    fn conclude(self, sessions: &[Option<&Session>], ask: impl Fn(&mut Cases, &Session, &str, &str)) -> Conclusion {
        let mut cases = Cases::default();
        sessions.iter().flatten().for_each(|session| ask(&mut cases, session, self.above, self.below));
        Conclusion { claim: self.claim, here: format!("{}: {}", self.read, cases.times()), verdict: cases.verdict() }
    }
}
