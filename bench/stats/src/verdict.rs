//! The verdict on the fastest. Pure.
//!
//! The leader has the least median ratio to the baseline. All others are compared with the leader itself, in the same
//! rounds, because a move of the baseline alone would blur both. A competitor that may be less than 10 % slower shares
//! the lead, and then there is no winner: two runs on an unchanged machine must never name two different ones.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DIFFERENCE, Figures, Interval, LEAST_ROUNDS, Spread, few, ratio, ratios};

/// The verdict on one group of competitors. Displays as one sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// No competitor was measured.
    Nothing,
    /// There was no other competitor to compare it with.
    Only { name: String },
    /// Too few rounds count for a verdict.
    TooFewRounds { rounds: usize },
    /// All others are certainly slower.
    Winner { name: String, next: Behind },
    /// These are less than 10 % apart or cannot be told apart. The leader comes first. For those that are `unsure` the
    /// case is open, because their figures scatter.
    TooClose { names: Vec<String>, unsure: Vec<String>, next: Option<Behind> },
}

/// The best of those that are certainly slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Behind {
    pub name: String,
    /// The factor compared with the leader.
    pub times: Interval,
}

/// One competitor with its figure in every round that counts.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    pub name: &'a str,
    pub figures: Figures,
}

impl Verdict {
    /// `limit` has the figures that rank, in the same rounds. `sound` is the number of rounds without a warning.
    pub fn of(contenders: &[Contender<'_>], limit: &[Option<f64>], sound: usize) -> Self {
        let measured = contenders.iter().filter_map(|one| Some((one, ratio(&one.figures, limit)?)));
        let mut ranked: Vec<(&Contender<'_>, Spread)> = measured.collect();
        ranked.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
        let (leader, others) = match ranked.as_slice() {
            [] => return Self::Nothing,
            [(only, _)] => return Self::Only { name: only.name.to_owned() },
            _ if sound < LEAST_ROUNDS => return Self::TooFewRounds { rounds: sound },
            [(leader, _), others @ ..] => (leader, others),
        };
        let mut names = vec![leader.name.to_owned()];
        let (mut unsure, mut behind) = (Vec::new(), Vec::new());
        for (other, _) in others {
            match distance(other, leader) {
                Some(times) if times.low > 1.0 + DIFFERENCE => {
                    behind.push(Behind { name: other.name.to_owned(), times })
                }
                times => {
                    names.push(other.name.to_owned());
                    if !times.is_some_and(close) {
                        unsure.push(other.name.to_owned());
                    }
                }
            }
        }
        let next = behind.into_iter().min_by(|a, b| a.times.median.total_cmp(&b.times.median));
        match next {
            Some(next) if names.len() == 1 => Self::Winner { name: names.remove(0), next },
            next => Self::TooClose { names, unsure, next },
        }
    }

    /// The names of those in the lead: one, several that are too close to call, or none.
    pub fn leaders(&self) -> &[String] {
        match self {
            Self::Only { name } | Self::Winner { name, .. } => std::slice::from_ref(name),
            Self::TooClose { names, .. } => names,
            Self::Nothing | Self::TooFewRounds { .. } => &[],
        }
    }
}

/// Whether the whole interval is within the difference that is not called.
fn close(times: Interval) -> bool {
    times.high <= 1.0 + DIFFERENCE && times.low >= 1.0 / (1.0 + DIFFERENCE)
}

fn distance(other: &Contender<'_>, leader: &Contender<'_>) -> Option<Interval> {
    let ratios = ratios(&other.figures, &leader.figures);
    if ratios.len() < LEAST_ROUNDS { None } else { Interval::of(&ratios) }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(out, "Nothing was measured."),
            Self::Only { name } => write!(out, "{name} was the only competitor."),
            Self::TooFewRounds { rounds: 0 } => write!(out, "Too few rounds to call: none without a warning."),
            Self::TooFewRounds { rounds } => {
                write!(out, "Too few rounds to call: {rounds} without a warning, where {LEAST_ROUNDS} are needed.")
            }
            Self::Winner { name, next } => write!(out, "{name} is the fastest; {next}."),
            Self::TooClose { names, unsure, next } => {
                let names = names.iter().map(String::as_str);
                let tied: Vec<&str> = names.filter(|name| !unsure.iter().any(|other| other == name)).collect();
                let unsure: Vec<&str> = unsure.iter().map(String::as_str).collect();
                match (tied.as_slice(), unsure.is_empty()) {
                    ([leader], false) => write!(out, "{leader} cannot be told from {}", few(&unsure))?,
                    (_, true) => write!(out, "{} tied: {}", tied.len(), few(&tied))?,
                    (_, false) => {
                        write!(out, "{} tied: {}; not to be told from them: {}", tied.len(), few(&tied), few(&unsure))?;
                    }
                }
                next.iter().try_for_each(|next| write!(out, "; {next}"))?;
                write!(out, ".")
            }
        }
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "next is {}, {:.2} times slower", self.name, self.times.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: usize = 9;

    /// The speed of the machine in each round, which all figures share.
    fn weather(dice: &mut fastrand::Rng) -> Vec<f64> {
        (0..ROUNDS).map(|_| 1.0 + 3.0 * dice.f64()).collect()
    }

    fn contender<'a>(name: &'a str, time: f64, weather: &[f64], dice: &mut fastrand::Rng) -> Contender<'a> {
        let figures = weather.iter().map(|speed| Some(time * speed * (1.0 + 0.04 * (dice.f64() - 0.5)))).collect();
        Contender { name, figures }
    }

    fn judged(times: &[(&str, f64)], seed: u64, sound: usize) -> Verdict {
        let mut dice = fastrand::Rng::with_seed(seed);
        let weather = weather(&mut dice);
        let limit = contender("limit", 10.0, &weather, &mut dice).figures;
        let contenders: Vec<_> = times.iter().map(|(name, time)| contender(name, *time, &weather, &mut dice)).collect();
        Verdict::of(&contenders, &limit, sound)
    }

    #[test]
    fn a_clear_winner_is_named_with_its_distance() {
        let verdict = judged(&[("slow", 40.0), ("quick", 20.0)], 1, ROUNDS);
        assert_eq!(verdict.leaders(), ["quick"]);
        let text = verdict.to_string();
        assert!(text.starts_with("quick is the fastest; next is slow, ") && text.ends_with(" times slower."), "{text}");
        let Verdict::Winner { next, .. } = verdict else { panic!("{verdict:?}") };
        assert!(next.times.low <= 2.0 && 2.0 <= next.times.high, "{next:?}");
    }

    #[test]
    fn a_small_difference_is_not_called_however_sure_it_is() {
        let verdict = judged(&[("a", 20.0), ("b", 21.0), ("c", 60.0)], 2, ROUNDS);
        assert_eq!(verdict.leaders(), ["a", "b"]);
        assert!(verdict.to_string().starts_with("2 tied: a and b; next is c, "), "{verdict}");
    }

    #[test]
    fn a_competitor_that_scatters_is_not_tied() {
        let figures = |times: &[f64]| times.iter().copied().map(Some).collect::<Figures>();
        let steady = |name, time| Contender { name, figures: figures(&[time; 6]) };
        let scattered = Contender { name: "x", figures: figures(&[20.0, 90.0, 20.0, 90.0, 60.0, 60.0]) };
        let judged = |contenders: &[Contender<'_>]| Verdict::of(contenders, &figures(&[10.0; 6]), 6);
        let verdict = judged(&[steady("a", 20.0), scattered.clone(), steady("c", 90.0)]);
        assert_eq!(verdict.to_string(), "a cannot be told from x; next is c, 4.50 times slower.");
        assert_eq!(verdict.leaders(), ["a", "x"]);
        let verdict = judged(&[steady("a", 20.0), steady("b", 21.0), scattered]);
        assert_eq!(verdict.to_string(), "2 tied: a and b; not to be told from them: x.");
        assert_eq!(judged(&[steady("a", 20.0), steady("b", 21.0)]).to_string(), "2 tied: a and b.");
    }

    #[test]
    fn two_runs_never_name_two_winners() {
        // At exactly 10 % chance decides between the winner and none, never between two winners.
        for hundredths in [0, 2, 5, 10, 15, 20] {
            let mut winners: Vec<String> = Vec::new();
            for seed in 0..100 {
                let other = 20.0 * (1.0 + f64::from(hundredths) / 100.0);
                if let Verdict::Winner { name, .. } = judged(&[("a", 20.0), ("b", other)], seed, ROUNDS) {
                    winners.push(name);
                }
            }
            winners.sort_unstable();
            winners.dedup();
            assert!(winners.len() <= 1, "{hundredths} %: {winners:?}");
            assert!(hundredths == 10 || winners.is_empty() == (hundredths < 10), "{hundredths} %: {winners:?}");
        }
    }

    #[test]
    fn a_baseline_that_jumps_does_not_blur_the_competitors() {
        let mut dice = fastrand::Rng::with_seed(4);
        let still = vec![1.0; ROUNDS];
        let contenders = [contender("a", 20.0, &still, &mut dice), contender("b", 28.0, &still, &mut dice)];
        let limit: Figures = (0..ROUNDS).map(|_| Some(5.0 + 10.0 * dice.f64())).collect();
        assert_eq!(Verdict::of(&contenders, &limit, ROUNDS).leaders(), ["a"]);
    }

    #[test]
    fn few_rounds_give_no_winner() {
        let verdict = judged(&[("a", 20.0), ("b", 200.0)], 3, LEAST_ROUNDS - 1);
        assert_eq!(verdict, Verdict::TooFewRounds { rounds: 4 });
        assert_eq!(verdict.to_string(), "Too few rounds to call: 4 without a warning, where 5 are needed.");
        assert_eq!(verdict.leaders(), [""; 0]);
    }

    #[test]
    fn one_or_none_is_said() {
        assert_eq!(judged(&[], 1, ROUNDS).to_string(), "Nothing was measured.");
        assert_eq!(judged(&[("a", 20.0)], 1, 1).to_string(), "a was the only competitor.");
    }
}
