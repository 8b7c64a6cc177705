//! Figures from figures: medians, ratios inside rounds, which rounds to drop, who may be called the winner. Pure.
//!
//! The speed of a machine drifts, so two absolute figures are never compared: a ratio is formed inside each round,
//! where both were taken within moments, and the median of those ratios is what is reported.

use serde::{Deserialize, Serialize};

/// A median with the smallest and the largest value around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Nothing for no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median =
            if sorted.len().is_multiple_of(2) { (sorted[middle - 1] + sorted[middle]) / 2.0 } else { sorted[middle] };
        Some(Self { median, min, max })
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }
}

/// The spread of `above[i] / below[i]` over the rounds that have both.
pub fn ratio(above: &[Option<f64>], below: &[Option<f64>]) -> Option<Spread> {
    let ratios: Vec<f64> = above.iter().zip(below).filter_map(|(a, b)| Some((*a)? / (*b)?)).collect();
    Spread::of(&ratios)
}

pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// How much two floors may differ, as a share of the smaller one.
pub const FLOOR_MAY_MOVE: f64 = 0.10;

/// How much of the time of the CPUs in use may be stolen by the hypervisor.
pub const STEAL_MAY_BE: f64 = 0.02;

/// Less than this, in seconds, is within the coarse ticks in which the system counts stolen time.
pub const STEAL_IS_SEEN_FROM: f64 = 0.02;

/// What is known about the conditions of one round.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The floor at the beginning and at the end, in nanoseconds per message.
    pub floors: (f64, f64),
    /// Seconds stolen from the CPUs in use, and seconds they had together; nothing where the system does not tell.
    pub stolen: Option<(f64, f64)>,
}

/// Why a round should not count, in words; nothing if it should.
pub fn doubt(conditions: Conditions) -> Option<String> {
    let (before, after) = conditions.floors;
    let moved = (before - after).abs() / before.min(after);
    if moved.is_nan() || moved > FLOOR_MAY_MOVE {
        return Some(format!("the floor moved by {:.0} % ({before:.1} to {after:.1} ns)", moved * 100.0));
    }
    let (stolen, had) = conditions.stolen?;
    let share = stolen / had;
    if stolen >= STEAL_IS_SEEN_FROM && share > STEAL_MAY_BE {
        return Some(format!("the hypervisor took {:.0} % of the time", share * 100.0));
    }
    None
}

/// One contender in a ranking: a name and its ratio to the common limit (smaller is better).
#[derive(Clone, Debug)]
pub struct Ranked<'a> {
    pub name: &'a str,
    pub ratio: Spread,
}

/// A sentence on who is fastest. Whoever's interval overlaps the leader's is too close to call.
pub fn verdict(contenders: &[Ranked<'_>]) -> String {
    let mut ranked = contenders.to_vec();
    ranked.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
    let Some(leader) = ranked.first() else {
        return "Nothing was measured.".to_owned();
    };
    let (tied, behind): (Vec<_>, Vec<_>) = ranked.iter().partition(|one| one.ratio.overlaps(&leader.ratio));
    let tail = match behind.first() {
        Some(next) => {
            format!("; next is {}, {:.2} times slower", next.name, next.ratio.median / leader.ratio.median)
        }
        None => String::new(),
    };
    match tied.as_slice() {
        [only] if behind.is_empty() => format!("{} was the only contender.", only.name),
        [only] => format!("{} is the fastest{tail}.", only.name),
        several => {
            let names: Vec<&str> = several.iter().map(|one| one.name).collect();
            format!("Too close to call between {}{tail}.", listed(&names))
        }
    }
}

/// "a", "a and b", "a, b and c".
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(min: f64, median: f64, max: f64) -> Spread {
        Spread { median, min, max }
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_middles() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(spread(1.0, 2.0, 3.0)));
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]), Some(spread(1.0, 2.5, 4.0)));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn ratios_are_formed_inside_rounds() {
        // The machine was four times slower in the second round: the ratio does not see it.
        let candidate = [Some(20.0), Some(80.0), None, Some(22.0)];
        let limit = [Some(10.0), Some(40.0), Some(10.0), Some(10.0)];
        assert_eq!(ratio(&candidate, &limit), Some(spread(2.0, 2.0, 2.2)));
    }

    #[test]
    fn a_round_whose_floors_agree_counts() {
        assert_eq!(doubt(Conditions { floors: (100.0, 109.0), stolen: Some((0.0, 2.0)) }), None);
        assert_eq!(doubt(Conditions { floors: (109.0, 100.0), stolen: None }), None);
    }

    #[test]
    fn a_round_whose_floor_moved_is_doubted() {
        let doubt = doubt(Conditions { floors: (100.0, 120.0), stolen: None }).unwrap();
        assert_eq!(doubt, "the floor moved by 20 % (100.0 to 120.0 ns)");
    }

    #[test]
    fn a_round_that_was_robbed_is_doubted() {
        let doubt = doubt(Conditions { floors: (100.0, 100.0), stolen: Some((0.1, 2.0)) }).unwrap();
        assert_eq!(doubt, "the hypervisor took 5 % of the time");
    }

    #[test]
    fn a_single_tick_in_a_short_round_is_not_a_robbery() {
        assert_eq!(doubt(Conditions { floors: (100.0, 100.0), stolen: Some((0.01, 0.1)) }), None);
    }

    #[test]
    fn a_floor_that_is_no_number_is_doubted() {
        assert!(doubt(Conditions { floors: (f64::NAN, 100.0), stolen: None }).is_some());
    }

    #[test]
    fn a_clear_winner_is_named_with_its_distance() {
        let text = verdict(&[
            Ranked { name: "slow", ratio: spread(3.0, 4.0, 5.0) },
            Ranked { name: "quick", ratio: spread(1.9, 2.0, 2.1) },
        ]);
        assert_eq!(text, "quick is the fastest; next is slow, 2.00 times slower.");
    }

    #[test]
    fn overlapping_intervals_are_too_close_to_call() {
        let text = verdict(&[
            Ranked { name: "a", ratio: spread(1.0, 2.0, 3.0) },
            Ranked { name: "b", ratio: spread(2.9, 3.5, 4.0) },
            Ranked { name: "c", ratio: spread(3.1, 6.0, 9.0) },
        ]);
        assert_eq!(text, "Too close to call between a and b; next is c, 3.00 times slower.");
    }

    #[test]
    fn one_or_none_is_said() {
        assert_eq!(verdict(&[]), "Nothing was measured.");
        let text = verdict(&[Ranked { name: "a", ratio: spread(1.0, 2.0, 3.0) }]);
        assert_eq!(text, "a was the only contender.");
    }
}
