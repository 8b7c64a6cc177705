//! The verdict of one session on the fastest transport: among all, and among those that can sleep. From the result
//! alone.

use std::fmt;

use ybench_measure::record::{Contestant, Session};
use ybench_measure::stats::Verdict;
use ybench_measure::stats::verdict::Contender;

/// Displays one sentence for all transports, and another one for those that can sleep if it differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub all: Verdict,
    /// If some transports can sleep and some cannot.
    pub sleepers: Option<Verdict>,
}

impl Judgement {
    pub fn of(session: &Session) -> Self {
        let sleeps = |one: &Contestant| one.waits.is_some_and(|waits| waits.sleeps());
        let some = session.transports().any(sleeps) && !session.transports().all(sleeps);
        Self { all: verdict(session, |_| true), sleepers: some.then(|| verdict(session, sleeps)) }
    }
}

/// The verdict on the selected transports of a session.
pub fn verdict(session: &Session, who: impl Fn(&Contestant) -> bool) -> Verdict {
    let transports = session.transports().filter(|one| who(one));
    let contenders: Vec<_> =
        transports.map(|one| Contender { name: &one.name, figures: session.series(&one.name) }).collect();
    Verdict::of(&contenders, session.sound())
}

impl fmt::Display for Judgement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.all)?;
        match &self.sleepers {
            Some(Verdict::Only { name }) => write!(out, "\n{name} is the only one here that can sleep."),
            Some(sleepers) if *sleepers != self.all => write!(out, "\nOf those that can sleep: {sleepers}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::Round;
    use ybench_measure::transport::Waits;

    fn contestant((name, waits, _): &(&str, Waits, f64)) -> Contestant {
        Contestant { name: (*name).to_owned(), waits: Some(*waits), ..Contestant::default() }
    }

    fn judged(those: &[(&str, Waits, f64)]) -> String {
        let mut nanoseconds: std::collections::BTreeMap<_, _> =
            those.iter().map(|(name, _, time)| ((*name).to_owned(), *time)).collect();
        nanoseconds.insert("floor".to_owned(), 10.0);
        let session = Session {
            limit: "floor".to_owned(),
            contenders: those.iter().map(contestant).collect(),
            rounds: vec![Round { nanoseconds, ..Round::default() }; 6],
            ..Session::default()
        };
        Judgement::of(&session).to_string()
    }

    #[test]
    fn those_that_can_sleep_have_a_sentence_of_their_own() {
        let text = judged(&[("a", Waits::Spins, 10.0), ("b", Waits::Sleeps, 20.0), ("c", Waits::Sleeps, 40.0)]);
        let second = "Of those that can sleep: b is the fastest; next is c, 2.00 times slower.";
        assert_eq!(text, format!("a is the fastest; next is b, 2.00 times slower.\n{second}"));
    }

    #[test]
    fn nothing_is_said_twice() {
        let all_sleep = judged(&[("b", Waits::Sleeps, 20.0), ("c", Waits::Sleeps, 40.0)]);
        assert_eq!(all_sleep, "b is the fastest; next is c, 2.00 times slower.");
        let one_sleeps = judged(&[("a", Waits::Spins, 10.0), ("b", Waits::Sleeps, 20.0)]);
        assert!(one_sleeps.ends_with("\nb is the only one here that can sleep."), "{one_sleeps}");
    }
}
