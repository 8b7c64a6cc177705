//! The distance between CPUs: a word bounced between every two of them.

use crate::error::Fault;
use crate::place::Place;
use crate::record::Pair;
use crate::stats::Spread;

use super::TWO_LINE_FLOOR;

/// More CPUs than this have too many pairs for the time.
const MOST: usize = 24;

const RUNS: usize = 3;
const MESSAGES: u64 = 4_000;

/// Every two of the first few of these CPUs, in ascending order.
pub fn pairs(cpus: &[usize]) -> Result<Vec<Pair>, Fault> {
    let some = &cpus[..cpus.len().min(MOST)];
    let mut pairs = Vec::new();
    for (at, &first) in some.iter().enumerate() {
        for &second in &some[at + 1..] {
            let mut times = Vec::new();
            for _ in 0..RUNS {
                times.push((TWO_LINE_FLOOR.run)(Place { first, second }, MESSAGES)?.nanoseconds_per_unit());
            }
            pairs.extend(Spread::of(&times).map(|nanoseconds| Pair { first, second, nanoseconds }));
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place;

    #[test]
    fn every_two_are_measured_once() {
        let cpus = place::allowed();
        let some = &cpus[..cpus.len().min(3)];
        let pairs = pairs(some).unwrap();
        assert_eq!(pairs.len(), some.len() * (some.len() - 1) / 2);
        assert!(pairs.iter().all(|pair| pair.first < pair.second && pair.nanoseconds.min > 0.0));
    }
}
