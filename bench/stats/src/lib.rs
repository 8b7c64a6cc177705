//! Figures from figures: histograms, medians, ratios inside rounds, their confidence, the rounds to drop, the winner.
//! Pure: the same figures give the same result, in the run and from a file.
//!
//! The speed of a machine drifts, so two absolute figures are never compared. A ratio is formed inside each round,
//! where both were measured within moments, and the median of those ratios is reported.

pub mod bootstrap;
pub mod change;
pub mod distribution;
pub mod doubt;
pub mod spread;
pub mod verdict;

pub use self::bootstrap::{Interval, Rank};
pub use self::change::same_state;
pub use self::doubt::{Conditions, STEAL_IS_SEEN_FROM, STEAL_MAY_BE, WORK_OF_OTHERS_MAY_BE, doubt};
pub use self::spread::{Spread, mean, ratio, ratios};
pub use self::verdict::{Distance, Verdict, factor};

/// The figures of one competitor in every round, in the order of the rounds.
pub type Figures = Vec<Option<f64>>;

/// Fewer rounds than this give no verdict.
pub const LEAST_ROUNDS: usize = 5;

/// A competitor that is less than 10 % slower than another is not called slower. That much changes from one run of the
/// program to the next on an unchanged machine, and no interval from within one run shows it.
pub const DIFFERENCE: f64 = 0.10;

/// "a", "a and b", "a, b and c".
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// "a, b, c and 4 more": as many names as a reader can take in.
pub fn few(names: &[&str]) -> String {
    const READ: usize = 4;
    match names.len() {
        all if all <= READ => listed(names),
        all => format!("{} and {} more", names[..READ - 1].join(", "), all - READ + 1),
    }
}
