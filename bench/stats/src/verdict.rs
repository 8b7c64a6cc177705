//! The verdict on the fastest. Pure.
//!
//! The leader has the least median time, which is the figure that the tables show. All others are compared with it in
//! the same rounds, because the speed of a machine drifts. A competitor that may be less than 10 % slower shares the
//! lead, and then there is no winner: two runs on an unchanged machine must never name two different ones.
//!
//! Few rounds show a small difference to nobody, and a large one to everybody: if every one of them is far on one side,
//! that is a verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DIFFERENCE, Figures, Interval, LEAST_ROUNDS, Spread, few, ratios};

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
    /// The factor compared with the leader, round by round.
    pub times: Interval,
    /// The quotient of the two median times, which is what a reader of the table computes.
    pub shown: f64,
}

/// One competitor with its figure in every round that counts.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    pub name: &'a str,
    pub figures: Figures,
}

/// What the rounds say about the distance of one competitor from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distance {
    /// Certainly slower, by this factor.
    Behind(Interval),
    /// Certainly less than 10 % apart.
    Close,
    Unsure,
}

impl Distance {
    /// From the ratios of both, one for each round that counts. `sound` is the number of rounds without a warning: if
    /// there is none, all rounds count.
    pub fn of(ratios: &[f64], sound: usize) -> Self {
        let Some(times) = Interval::of(ratios) else { return Self::Unsure };
        if sound.min(ratios.len()) < LEAST_ROUNDS {
            let certain = if sound == 0 { ratios.len() / DOUBTFUL_FOR_ONE } else { sound.min(ratios.len()) };
            let all =
                Spread::of(ratios).map(|range| Interval { low: range.min, median: range.median, high: range.max });
            return all.filter(|range| range.low >= far(certain)).map_or(Self::Unsure, Self::Behind);
        }
        match times {
            times if times.low > 1.0 + DIFFERENCE => Self::Behind(times),
            times if times.high <= 1.0 + DIFFERENCE && times.low >= 1.0 / (1.0 + DIFFERENCE) => Self::Close,
            _ => Self::Unsure,
        }
    }
}

/// Rounds with a warning that are worth one without.
const DOUBTFUL_FOR_ONE: usize = 4;

/// The factor by which every one of so few rounds must be on one side. A single one may be disturbed by a pause of the
/// machine, and four of them hardly all in the same way.
fn far(rounds: usize) -> f64 {
    match rounds {
        0 => f64::INFINITY,
        1 => 10.0,
        2 => 4.0,
        3 => 3.0,
        _ => 2.0,
    }
}

impl Verdict {
    /// `sound` is the number of rounds without a warning.
    pub fn of(contenders: &[Contender<'_>], sound: usize) -> Self {
        let median =
            |one: &Contender<'_>| Some(Spread::of(&one.figures.iter().flatten().copied().collect::<Vec<_>>())?.median);
        let mut ranked: Vec<(&Contender<'_>, f64)> =
            contenders.iter().filter_map(|one| Some((one, median(one)?))).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        let ((leader, least), others) = match ranked.as_slice() {
            [] => return Self::Nothing,
            [(only, _)] => return Self::Only { name: only.name.to_owned() },
            [leader, others @ ..] => (leader, others),
        };
        let mut names = vec![leader.name.to_owned()];
        let (mut unsure, mut behind) = (Vec::new(), Vec::new());
        for (other, median) in others {
            let name = other.name.to_owned();
            match Distance::of(&ratios(&other.figures, &leader.figures), sound) {
                Distance::Behind(times) => behind.push(Behind { name, times, shown: median / least }),
                Distance::Close => names.push(name),
                Distance::Unsure => {
                    names.push(name.clone());
                    unsure.push(name);
                }
            }
        }
        // In the order of the table.
        let next = behind.into_iter().next();
        match next {
            None if sound < LEAST_ROUNDS => Self::TooFewRounds { rounds: sound },
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

    /// Those of them that may as well be behind.
    pub fn unsure(&self) -> &[String] {
        if let Self::TooClose { unsure, .. } = self { unsure } else { &[] }
    }
}

/// A factor between two median times that a table shows, and between the same two round by round, if it is another one.
pub fn factor(shown: f64, times: Interval, written: impl Fn(f64) -> String) -> String {
    let apart = shown / times.median;
    match apart.max(1.0 / apart) {
        near if near <= 1.0 + DIFFERENCE => written(shown),
        _ => format!("{} ({} round by round)", written(shown), written(times.median)),
    }
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
        let factor = factor(self.shown, self.times, |times| format!("{times:.2}"));
        write!(out, "next is {}, {factor} times slower", self.name)
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
        let contenders: Vec<_> = times.iter().map(|(name, time)| contender(name, *time, &weather, &mut dice)).collect();
        Verdict::of(&contenders, sound)
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
        let steady = |name, time: f64| of(name, &[time; 6]);
        let scattered = of("x", &[20.0, 90.0, 20.0, 90.0, 60.0, 60.0]);
        let judged = |contenders: &[Contender<'_>]| Verdict::of(contenders, 6);
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

    fn of<'a>(name: &'a str, times: &[f64]) -> Contender<'a> {
        Contender { name, figures: times.iter().copied().map(Some).collect() }
    }

    #[test]
    fn few_rounds_give_no_winner_unless_every_one_is_far_on_one_side() {
        let verdict = judged(&[("a", 20.0), ("b", 30.0)], 3, LEAST_ROUNDS - 1);
        assert_eq!(verdict, Verdict::TooFewRounds { rounds: 4 });
        assert_eq!(verdict.to_string(), "Too few rounds to call: 4 without a warning, where 5 are needed.");
        assert_eq!(verdict.leaders(), [""; 0]);
        // As far as is needed for one, two, three and four rounds, and a little less.
        for (rounds, far) in [(1, 10.0), (2, 4.0), (3, 3.0), (4, 2.0)] {
            let judged =
                |times: f64| Verdict::of(&[of("a", &vec![10.0; rounds]), of("b", &vec![10.0 * times; rounds])], rounds);
            assert_eq!(judged(far).leaders(), ["a"], "{rounds}");
            assert_eq!(judged(far * 0.99), Verdict::TooFewRounds { rounds });
        }
        // One round on the other side, and nothing is said.
        let mixed = [of("a", &[10.0; 4]), of("b", &[200.0, 200.0, 200.0, 9.0])];
        assert_eq!(Verdict::of(&mixed, 4), Verdict::TooFewRounds { rounds: 4 });
        // Those that are far are named although others are near.
        let verdict = Verdict::of(&[of("a", &[10.0; 3]), of("b", &[11.0; 3]), of("c", &[90.0; 3])], 3);
        assert_eq!(verdict.to_string(), "a cannot be told from b; next is c, 9.00 times slower.");
    }

    #[test]
    fn rounds_with_a_warning_are_worth_a_quarter_each() {
        let judged = |rounds: usize, times: f64| {
            Verdict::of(&[of("a", &vec![10.0; rounds]), of("b", &vec![10.0 * times; rounds])], 0)
        };
        assert_eq!(judged(3, 1_000.0), Verdict::TooFewRounds { rounds: 0 });
        assert_eq!(judged(4, 9.0), Verdict::TooFewRounds { rounds: 0 });
        assert_eq!(judged(4, 10.0).leaders(), ["a"]);
        assert_eq!(judged(16, 2.0).leaders(), ["a"]);
    }

    #[test]
    fn the_leader_has_the_least_time_shown_and_the_factor_is_that_of_the_table() {
        // Round by round "b" takes 1.5 times as long; the medians are 10 and 60.
        let (a, b) = ([10.0, 10.0, 10.0, 50.0, 90.0], [60.0, 15.0, 15.0, 75.0, 135.0]);
        let verdict = Verdict::of(&[of("b", &b), of("a", &a)], 5);
        assert_eq!(verdict.to_string(), "a is the fastest; next is b, 6.00 (1.50 round by round) times slower.");
        assert_eq!(factor(4.2, Interval { low: 3.0, median: 4.0, high: 5.0 }, |times| format!("{times:.1}")), "4.2");
    }

    #[test]
    fn one_or_none_is_said() {
        assert_eq!(judged(&[], 1, ROUNDS).to_string(), "Nothing was measured.");
        assert_eq!(judged(&[("a", 20.0)], 1, 1).to_string(), "a was the only competitor.");
    }
}
