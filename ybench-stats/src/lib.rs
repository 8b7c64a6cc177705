//! Figures from figures: histograms, medians, ratios inside rounds, how sure they are, which rounds to drop, who may be
//! called the winner. Pure: the same figures give the same answer, today and from a file.
//!
//! The speed of a machine drifts, so two absolute figures are never compared: a ratio is formed inside each round,
//! where both were taken within moments, and the median of those ratios is what is reported.

pub mod bootstrap;
pub mod change;
pub mod distribution;
pub mod doubt;
pub mod spread;
pub mod verdict;

pub use self::bootstrap::{Interval, Rank};
pub use self::change::same_state;
pub use self::doubt::{Conditions, STEAL_IS_SEEN_FROM, STEAL_MAY_BE, doubt};
pub use self::spread::{Spread, mean, ratio, ratios};
pub use self::verdict::Verdict;

/// The figures of one contender in every round, in the order of the rounds.
pub type Figures = Vec<Option<f64>>;

/// Fewer rounds than this say nothing about anybody: nothing is called from them.
pub const LEAST_ROUNDS: usize = 5;

/// Whoever is less than 10 % slower than another is not called slower: that much moves from one run of the program to
/// the next on an unchanged machine, which no interval from within one run can know.
pub const DIFFERENCE: f64 = 0.10;

/// "a", "a and b", "a, b and c".
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// "a, b, c and 4 more": as many names as are read.
pub fn few(names: &[&str]) -> String {
    const READ: usize = 4;
    match names.len() {
        all if all <= READ => listed(names),
        all => format!("{} and {} more", names[..READ - 1].join(", "), all - READ + 1),
    }
}
