//! Which of two series of times is the quicker, where they share no rounds but were taken right after each other in one
//! run. Pure.
//!
//! By their ranks: how often a time of one lies below a time of the other (Mann and Whitney 1947, with the usual
//! approximation by a normal distribution). So one outlier says no more than that it is the largest, and rounds in doubt
//! count as well as others.

use super::change::{Change, Measured, same_state};
use super::{LEAST_ROUNDS, Spread};

/// One verdict in twenty may be chance.
const SURE: f64 = 1.96;

/// Whether `new` is quicker than `old`, and how many times as long it takes by the medians. A difference by the share
/// `threshold` or less is none. Nothing where either has no times.
pub fn ranked(old: &Measured, new: &Measured, threshold: f64) -> Option<(Change, f64)> {
    let times = Spread::of(&new.times)?.median / Spread::of(&old.times)?.median;
    let verdict = match direction(&old.times, &new.times) {
        _ if old.times.len().min(new.times.len()) < LEAST_ROUNDS => Change::TooFewRounds,
        _ if !same_state(old.floor, new.floor) => Change::OtherState,
        Change::Faster if times < 1.0 / (1.0 + threshold) => Change::Faster,
        Change::Slower if times > 1.0 + threshold => Change::Slower,
        _ => Change::NoneSeen,
    };
    Some((verdict, times))
}

fn direction(old: &[f64], new: &[f64]) -> Change {
    let below = |one: f64, other: f64| f64::from(u8::from(one < other)) + 0.5 * f64::from(u8::from(one == other));
    let quicker: f64 = new.iter().map(|&new| old.iter().map(|&old| below(new, old)).sum::<f64>()).sum();
    let (n, m) = (old.len() as f64, new.len() as f64);
    let beyond = quicker - n * m / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    match (beyond.abs() - 0.5) / deviation {
        sure if sure < SURE => Change::NoneSeen,
        _ if beyond > 0.0 => Change::Faster,
        _ => Change::Slower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::DIFFERENCE;

    fn of(times: &[f64]) -> Measured {
        Measured { ratios: Vec::new(), times: times.to_vec(), floor: 50.0, sound: times.len() }
    }

    fn verdict(old: &[f64], new: &[f64]) -> Change {
        ranked(&of(old), &of(new), DIFFERENCE).unwrap().0
    }

    #[test]
    fn what_lies_apart_is_called_however_far_its_outliers_lie() {
        let (low, high) = ([10.0, 11.0, 12.0, 13.0, 10.5], [20.0, 21.0, 400.0, 23.0, 19.0]);
        assert_eq!(verdict(&high, &low), Change::Faster);
        assert_eq!(verdict(&low, &high), Change::Slower);
        // The tables of the exact test: of 5 and 5, two pairs may lie the other way, and not three.
        assert_eq!(verdict(&[10.0, 11.0, 12.0, 13.0, 20.5], &high), Change::Slower);
        assert_eq!(verdict(&[10.0, 11.0, 12.0, 13.0, 22.0], &[19.0, 20.0, 21.0, 23.0, 30.0]), Change::NoneSeen);
    }

    #[test]
    fn what_is_mixed_or_nearly_the_same_is_not_called() {
        assert_eq!(verdict(&[10.0, 30.0, 20.0, 25.0, 12.0], &[15.0, 22.0, 9.0, 40.0, 13.0]), Change::NoneSeen);
        assert_eq!(verdict(&[10.0; 5], &[10.5; 5]), Change::NoneSeen);
        assert_eq!(verdict(&[10.0; 5], &[10.0; 5]), Change::NoneSeen);
    }

    #[test]
    fn few_rounds_and_another_state_are_said() {
        assert_eq!(verdict(&[1.0; 4], &[2.0; 9]), Change::TooFewRounds);
        let moved = Measured { floor: 100.0, ..of(&[2.0; 5]) };
        assert_eq!(ranked(&of(&[1.0; 5]), &moved, DIFFERENCE).unwrap().0, Change::OtherState);
        assert!(ranked(&of(&[]), &of(&[1.0; 5]), DIFFERENCE).is_none());
    }
}
