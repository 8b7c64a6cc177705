//! Recorded histories of a few threads: each must be one that a plain queue could have had.

use super::histories::histories;
use crate::support::guarded;

#[test]
fn two_by_two_is_linearizable() {
    guarded(|| (0..=4).for_each(|capacity| histories(2, capacity, 500, 8, capacity as u64)));
}

#[test]
fn three_by_three_is_linearizable() {
    guarded(|| (0..=4).for_each(|capacity| histories(3, capacity, 300, 6, 10 + capacity as u64)));
}
