//! The outcome of a claim over all sessions that can decide it.

use std::ops::Range;

use ybench_measure::record::Session;
use ybench_measure::stats::{DIFFERENCE, Interval, LEAST_ROUNDS, Spread};

use crate::table::{figure, interval};

/// The outcome of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    /// The claim gives a figure, and it is larger here.
    More,
    TooClose,
    TooFewRounds,
}

/// What is about a figure of an article, on another machine years later: this multiple of it, up or down.
pub(super) const ABOUT: f64 = 1.5;

/// All outcomes, with the ratios they were read from.
#[derive(Debug, Default)]
pub(super) struct Cases {
    said: Vec<Said>,
    ratios: Vec<f64>,
}

impl Cases {
    pub(super) fn push(&mut self, said: Said, ratio: f64) {
        self.said.push(said);
        self.ratios.push(ratio);
    }

    /// Whether `above` takes at least `times` as long as `below`. No outcome if either is missing.
    pub(super) fn at_least(&mut self, session: &Session, above: &str, below: &str, times: f64) {
        self.above(session, &session.ratios(above, below), times);
    }

    /// Whether `above` takes about `times` as long as `below`: more than that is not what the claim says, however much
    /// it agrees with its direction.
    pub(super) fn about(&mut self, session: &Session, above: &str, below: &str, times: f64) {
        self.ask(session, above, below, |ratio| match ratio {
            ratio if ratio.low > times * ABOUT => Said::More,
            ratio if ratio.high < times / ABOUT => Said::No,
            ratio if ratio.low >= times / ABOUT && ratio.high <= times * ABOUT => Said::Yes,
            _ => Said::TooClose,
        });
    }

    /// Whether neither takes `times` as long as the other.
    pub(super) fn within(&mut self, session: &Session, one: &str, other: &str, times: f64) {
        self.between(session, &session.ratios(one, other), 1.0 / times..times);
    }

    /// Whether `above` is slower, by more than the difference between two runs of the program.
    pub(super) fn slower(&mut self, session: &Session, above: &str, below: &str) {
        self.ask(session, above, below, |ratio| match ratio {
            ratio if ratio.low > 1.0 + DIFFERENCE => Said::Yes,
            ratio if ratio.high < 1.0 / (1.0 + DIFFERENCE) => Said::No,
            _ => Said::TooClose,
        });
    }

    /// Whether `above` takes no longer than `below`, apart from that difference.
    pub(super) fn no_slower(&mut self, session: &Session, above: &str, below: &str) {
        self.ask(session, above, below, |ratio| match ratio {
            ratio if ratio.high <= 1.0 + DIFFERENCE => Said::Yes,
            ratio if ratio.low > 1.0 + DIFFERENCE => Said::No,
            _ => Said::TooClose,
        });
    }

    /// Whether a figure that was measured in every round is below `most`.
    pub(super) fn below(&mut self, session: &Session, figures: &[f64], most: f64) {
        self.between(session, figures, f64::NEG_INFINITY..most);
    }

    /// Whether it is `least` or more.
    pub(super) fn above(&mut self, session: &Session, figures: &[f64], least: f64) {
        self.between(session, figures, least..f64::INFINITY);
    }

    /// Whether it is in this range.
    pub(super) fn between(&mut self, session: &Session, figures: &[f64], wanted: Range<f64>) {
        self.judge(session, figures, |figure| match figure {
            figure if figure.low >= wanted.start && figure.high < wanted.end => Said::Yes,
            figure if figure.high < wanted.start || figure.low >= wanted.end => Said::No,
            _ => Said::TooClose,
        });
    }

    /// Whether the slowest round took at least `times` as long as the fastest.
    pub(super) fn unsteady(&mut self, session: &Session, name: &str, times: f64) {
        if let Some(spread) = session.density(name) {
            let ratio = spread.max / spread.min;
            self.single(session, ratio, ratio >= times);
        }
    }

    /// One figure of all the rounds together.
    pub(super) fn single(&mut self, session: &Session, figure: f64, holds: bool) {
        let said = match holds {
            _ if session.sound() < LEAST_ROUNDS => Said::TooFewRounds,
            true => Said::Yes,
            false => Said::No,
        };
        self.push(said, figure);
    }

    fn ask(&mut self, session: &Session, above: &str, below: &str, answer: impl Fn(Interval) -> Said) {
        self.judge(session, &session.ratios(above, below), answer);
    }

    /// No outcome without figures; no verdict from too few rounds.
    fn judge(&mut self, session: &Session, figures: &[f64], answer: impl Fn(Interval) -> Said) {
        let Some(interval) = Interval::of(figures) else { return };
        let few = session.sound().min(figures.len()) < LEAST_ROUNDS;
        self.push(if few { Said::TooFewRounds } else { answer(interval) }, interval.median);
    }

    fn count(&self, wanted: Said) -> usize {
        self.said.iter().filter(|said| **said == wanted).count()
    }

    /// "9.15 times (1.30 .. 92.0) in 24 cases".
    pub(super) fn times(&self) -> String {
        match (Spread::of(&self.ratios), self.ratios.len()) {
            (None, _) => "not measured".to_owned(),
            (Some(only), 1) => format!("{} times", figure(only.median)),
            (Some(ratios), cases) => {
                format!("{} times ({}) in {cases} cases", figure(ratios.median), interval(ratios))
            }
        }
    }

    pub(super) fn verdict(&self) -> String {
        let all = self.said.len();
        let [yes, no, more, close, few] =
            [Said::Yes, Said::No, Said::More, Said::TooClose, Said::TooFewRounds].map(|said| self.count(said));
        let mut told = match all {
            0 => "not measured".to_owned(),
            _ if few == all => return "too few rounds to say".to_owned(),
            _ if yes == all => "holds".to_owned(),
            _ if no == all => "does not hold".to_owned(),
            _ if more == all => return "more than the article says".to_owned(),
            _ if close == all => "too close to say".to_owned(),
            _ if yes + no + more == 0 => "unknown".to_owned(),
            _ if yes + no == 0 => format!("more than the article says in {more} of {all}"),
            _ if no == 0 => format!("holds in {yes} of {all}"),
            _ if yes == 0 => format!("does not hold in {no} of {all}"),
            _ => format!("holds in {yes} of {all}, does not in {no}"),
        };
        let more = if yes + no == 0 { 0 } else { more };
        for (count, why) in [(more, "more than the article says"), (close, "too close"), (few, "too few rounds")] {
            if count > 0 && count < all {
                told += &format!(", {why} in {count}");
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::Round;

    fn session(pairs: &[(f64, f64)]) -> Session {
        let round = |(a, b): &(f64, f64)| Round {
            nanoseconds: [("a".to_owned(), *a), ("b".to_owned(), *b)].into(),
            ..Round::default()
        };
        Session { rounds: pairs.iter().map(round).collect(), ..Session::default() }
    }

    fn verdict(ask: impl Fn(&mut Cases)) -> String {
        let mut cases = Cases::default();
        ask(&mut cases);
        cases.verdict()
    }

    #[test]
    fn a_claim_holds_only_where_the_whole_interval_says_so() {
        let (double, near) =
            (session(&[(20.0, 9.0); 5]), session(&[(20.0, 9.0), (10.0, 9.0), (15.0, 8.0), (20.0, 9.0), (15.0, 9.0)]));
        assert_eq!(verdict(|cases| cases.at_least(&double, "a", "b", 2.0)), "holds");
        assert_eq!(verdict(|cases| cases.at_least(&double, "b", "a", 2.0)), "does not hold");
        assert_eq!(verdict(|cases| cases.at_least(&near, "a", "b", 2.0)), "too close to say");
        assert_eq!(verdict(|cases| cases.within(&double, "a", "b", 2.0)), "does not hold");
        assert_eq!(verdict(|cases| cases.within(&double, "b", "a", 3.0)), "holds");
    }

    #[test]
    fn a_figure_of_an_article_is_met_or_not_and_more_is_not_so_much() {
        let times = |times: f64| session(&[(9.0 * times, 9.0); 5]);
        let of = |real: f64| verdict(|cases| cases.about(&times(real), "a", "b", 6.6));
        assert_eq!([of(6.6), of(9.8), of(4.5)], ["holds"; 3]);
        assert_eq!([of(292.0), of(10.0)], ["more than the article says"; 2]);
        assert_eq!(of(4.3), "does not hold");
        let several =
            |all: &[f64]| verdict(|cases| all.iter().for_each(|one| cases.about(&times(*one), "a", "b", 6.6)));
        assert_eq!(several(&[6.6, 292.0]), "holds in 1 of 2, more than the article says in 1");
        let scattered = session(&[(50.0, 9.0), (900.0, 9.0), (50.0, 9.0), (900.0, 9.0), (90.0, 9.0)]);
        assert_eq!(verdict(|cases| cases.about(&scattered, "a", "b", 6.6)), "too close to say");
    }

    #[test]
    fn a_difference_below_a_tenth_is_not_called_slower() {
        let (much, little) = (session(&[(20.0, 9.0); 5]), session(&[(21.0, 20.0); 5]));
        assert_eq!(verdict(|cases| cases.slower(&much, "a", "b")), "holds");
        assert_eq!(verdict(|cases| cases.slower(&much, "b", "a")), "does not hold");
        assert_eq!(verdict(|cases| cases.slower(&little, "a", "b")), "too close to say");
    }

    #[test]
    fn a_figure_below_its_most_needs_rounds_as_well() {
        let rounds = session(&[(20.0, 9.0); 5]);
        assert_eq!(verdict(|cases| cases.below(&rounds, &[20.0; 5], 21.0)), "holds");
        assert_eq!(verdict(|cases| cases.below(&rounds, &[20.0; 5], 20.0)), "does not hold");
        assert_eq!(verdict(|cases| cases.below(&rounds, &[20.0; 4], 21.0)), "too few rounds to say");
        assert_eq!(verdict(|cases| cases.between(&rounds, &[20.0; 5], 20.0..21.0)), "holds");
        assert_eq!(verdict(|cases| cases.between(&rounds, &[20.0; 5], 10.0..20.0)), "does not hold");
        assert_eq!(
            verdict(|cases| cases.between(&rounds, &[9.0, 15.0, 15.0, 15.0, 21.0], 10.0..20.0)),
            "too close to say"
        );
    }

    #[test]
    fn rounds_that_differ_are_unsteady_and_few_of_them_are_nothing() {
        let (steady, unsteady) = ([(20.0, 9.0); 5], [(20.0, 9.0), (20.0, 9.0), (40.0, 9.0), (20.0, 9.0), (20.0, 9.0)]);
        let of = |rounds: &[(f64, f64)]| verdict(|cases| cases.unsteady(&session(rounds), "a", 2.0));
        assert_eq!(of(&steady), "does not hold");
        assert_eq!(of(&unsteady), "holds");
        assert_eq!(of(&unsteady[..4]), "too few rounds to say");
    }

    #[test]
    fn cases_that_disagree_are_counted() {
        let (yes, no, few) = (session(&[(20.0, 9.0); 5]), session(&[(9.0, 9.0); 5]), session(&[(9.0, 9.0); 4]));
        let told =
            verdict(|cases| [&yes, &no, &no, &few].map(|one| cases.at_least(one, "a", "b", 2.0)).into_iter().collect());
        assert_eq!(told, "holds in 1 of 4, does not in 2, too few rounds in 1");
        let near = session(&[(21.0, 20.0); 5]);
        let of = |those: &[&Session]| verdict(|cases| those.iter().for_each(|one| cases.slower(one, "a", "b")));
        assert_eq!(of(&[&yes, &near]), "holds in 1 of 2, too close in 1");
        assert_eq!(of(&[&near, &few]), "unknown, too close in 1, too few rounds in 1");
    }

    #[test]
    fn nothing_and_too_little_say_so() {
        assert_eq!(verdict(|_| ()), "not measured");
        assert_eq!(verdict(|cases| cases.at_least(&session(&[(1.0, 1.0); 5]), "a", "c", 2.0)), "not measured");
        assert_eq!(verdict(|cases| cases.within(&session(&[(9.0, 9.0); 4]), "a", "b", 2.0)), "too few rounds to say");
    }
}
