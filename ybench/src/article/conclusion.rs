//! What an article claims, and what this machine says: every claim with the figure it is read from here and a verdict, all
//! of them made from the record.
//!
//! An article does not say from which of its figures each claim was drawn; how it is read here stands with it.

use ybench_core::record::Session;

use super::cases::Cases;
use crate::table::Part;

const HEADING: &str = "What the article concluded, and what this machine says";

pub(super) use crate::table::Claim as Conclusion;

/// All of an article's, one below the other.
pub(super) fn parts(all: impl IntoIterator<Item = Conclusion>) -> Vec<Part> {
    std::iter::once(Part::Heading(HEADING.to_owned())).chain(all.into_iter().map(Part::Claim)).collect()
}

/// A claim about the times that one transport takes for another's, read by one question to each session that can answer.
pub(super) struct Ratio<'a> {
    pub(super) claim: &'static str,
    /// What is compared and, where the article gives no number, how it is read.
    pub(super) read: &'static str,
    pub(super) above: &'a str,
    pub(super) below: &'a str,
}

impl Ratio<'_> {
    /// The first takes at least so many times as long as the second.
    pub(super) fn at_least(self, times: f64, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, |cases, session, above, below| cases.at_least(session, above, below, times))
    }

    /// The first is slower.
    pub(super) fn slower(self, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, Cases::slower)
    }

    /// Neither takes so many times as long as the other.
    pub(super) fn within(self, times: f64, sessions: &[Option<&Session>]) -> Conclusion {
        self.conclude(sessions, |cases, session, above, below| cases.within(session, above, below, times))
    }

    fn conclude(self, sessions: &[Option<&Session>], ask: impl Fn(&mut Cases, &Session, &str, &str)) -> Conclusion {
        let mut cases = Cases::default();
        sessions.iter().flatten().for_each(|session| ask(&mut cases, session, self.above, self.below));
        Conclusion { claim: self.claim, here: format!("{}: {}", self.read, cases.times()), verdict: cases.verdict() }
    }
}
