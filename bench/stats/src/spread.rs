//! Medians with their range, and ratios formed inside rounds. Pure.

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
}

/// `above[i] / below[i]` for the rounds that have both.
pub fn ratios(above: &[Option<f64>], below: &[Option<f64>]) -> Vec<f64> {
    above.iter().zip(below).filter_map(|(a, b)| Some((*a)? / (*b)?)).collect()
}

/// The spread of those.
pub fn ratio(above: &[Option<f64>], below: &[Option<f64>]) -> Option<Spread> {
    Spread::of(&ratios(above, below))
}

pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
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
        // The machine was four times slower in the second round: the ratio is unaffected.
        let candidate = [Some(20.0), Some(80.0), None, Some(22.0)];
        let limit = [Some(10.0), Some(40.0), Some(10.0), Some(10.0)];
        assert_eq!(ratio(&candidate, &limit), Some(spread(2.0, 2.0, 2.2)));
    }
}
