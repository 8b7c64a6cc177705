//! The confidence of a median: the percentile bootstrap. The measured rounds stand for all possible ones. Samples are
//! drawn from them again and again, with replacement, and 95 % of their medians are in the interval. Pure. The seed
//! comes from the figures: a report that is read from a file says exactly what the run said.
//!
//! Source: B. Efron, "Bootstrap methods: another look at the jackknife" (1979). Cannot detect a difference between two
//! runs of the program, only one between the rounds of one run. With five figures the interval is their range.

use serde::{Deserialize, Serialize};

/// The number of samples. The bounds of the interval then move by a small part of its width from seed to seed.
pub const RESAMPLES: usize = 2_000;

/// The share of the samples in the interval.
pub const CONFIDENCE: f64 = 0.95;

/// The rank of the ordered figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    Median,
    /// A quarter of the figures are below it: disturbances of a machine make figures larger, so they affect this one
    /// least.
    Quarter,
}

impl Rank {
    /// One place among `count`, or the two whose mean it is.
    fn places(self, size: usize) -> (usize, usize) {
        match self {
            Self::Median => ((size - 1) / 2, size / 2),
            Self::Quarter => ((size - 1) / 4, (size - 1) / 4),
        }
    }
}

/// A figure, most often a median, and its interval with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Interval {
    /// The interval of the median of these figures; nothing for no figures.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let sample = Sample::of(figures)?;
        let drawn = sample.drawn(Rank::Median, &mut dice(&[figures]));
        Some(Self::around(sample.at(Rank::Median), drawn))
    }

    /// The interval of the median of `above` divided by the median of `below`. The two are independent.
    pub fn of_quotient(above: &[f64], below: &[f64]) -> Option<Self> {
        Self::quotient(above, below, Rank::Median)
    }

    /// The same of this rank.
    pub fn quotient(above: &[f64], below: &[f64], rank: Rank) -> Option<Self> {
        let (over, under) = (Sample::of(above)?, Sample::of(below)?);
        let mut dice = dice(&[above, below]);
        let (tops, bottoms) = (over.drawn(rank, &mut dice), under.drawn(rank, &mut dice));
        let quotients = tops.into_iter().zip(bottoms).map(|(top, bottom)| top / bottom).collect();
        Some(Self::around(over.at(rank) / under.at(rank), quotients))
    }

    /// The same, of figures that are all divided by this one.
    pub fn over(self, divisor: f64) -> Self {
        Self { low: self.low / divisor, median: self.median / divisor, high: self.high / divisor }
    }

    fn around(median: f64, mut drawn: Vec<f64>) -> Self {
        drawn.sort_by(f64::total_cmp);
        let outside = (drawn.len() as f64 * (1.0 - CONFIDENCE) / 2.0) as usize;
        Self { low: drawn[outside], median, high: drawn[drawn.len() - 1 - outside] }
    }

    /// Half the width, as a share of the median.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }
}

/// Figures in ascending order, at least one.
struct Sample(Vec<f64>);

impl Sample {
    fn of(figures: &[f64]) -> Option<Self> {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(Self(sorted))
    }

    fn at(&self, rank: Rank) -> f64 {
        let Self(sorted) = self;
        let (lower, upper) = rank.places(sorted.len());
        (sorted[lower] + sorted[upper]) / 2.0
    }

    /// The figures of this rank of a sample of the same size. Ranks are drawn, and counted, so that nothing is sorted.
    fn drawn(&self, at: Rank, dice: &mut fastrand::Rng) -> Vec<f64> {
        let Self(sorted) = self;
        let size = sorted.len();
        let (lower, upper) = at.places(size);
        let mut drawn = vec![0u32; size];
        let draw = |_| {
            drawn.fill(0);
            (0..size).for_each(|_| drawn[dice.usize(..size)] += 1);
            (sorted[rank(&drawn, lower)] + sorted[rank(&drawn, upper)]) / 2.0
        };
        (0..RESAMPLES).map(draw).collect()
    }
}

/// The rank of the value at place `at`, from the number of draws of each rank.
fn rank(drawn: &[u32], at: usize) -> usize {
    let mut passed = 0;
    let reached = drawn.iter().position(|&count| {
        passed += count as usize;
        passed > at
    });
    reached.unwrap_or(drawn.len() - 1)
}

/// Seeded from every bit of the figures (FNV-1a): no clock, no address, the same everywhere.
fn dice(samples: &[&[f64]]) -> fastrand::Rng {
    let bytes = samples.iter().flat_map(|figures| {
        let length = (figures.len() as u64).to_le_bytes();
        length.into_iter().chain(figures.iter().flat_map(|figure| figure.to_bits().to_le_bytes()))
    });
    let seed = bytes
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    fastrand::Rng::with_seed(seed)
}

#[cfg(test)]
mod tests;
