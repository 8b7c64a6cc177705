//! Recorded histories of a few threads: each must be one that a plain queue could have had.

use super::histories::{Large, Script, closing_history, histories};
use crate::support::guarded;

/// Claim: `mpmc` sends and receives are linearizable to a queue, with and without a bound. Only `Empty` and `Full` may
/// be early, while a peer is in the middle of an operation.
/// Also: suite mpmc::many::with_a_bound::a_single_receiver_sees_the_order_in_which_sends_followed_each_other,
/// stress exchange::histories_are_linearizable.
#[test]
fn two_by_two_is_linearizable() {
    guarded(|| {
        for capacity in 0..=4 {
            histories::<u64>(Script { threads: 2, capacity, operations: 8, forces: false }, 500, capacity as u64);
        }
    });
}

#[test]
fn three_by_three_is_linearizable() {
    guarded(|| {
        for capacity in 0..=4 {
            histories::<u64>(Script { threads: 3, capacity, operations: 6, forces: false }, 300, 10 + capacity as u64);
        }
    });
}

#[test]
fn two_by_two_is_linearizable_where_messages_make_way() {
    guarded(|| {
        for capacity in 0..=4 {
            histories::<u64>(Script { threads: 2, capacity, operations: 8, forces: true }, 500, 20 + capacity as u64);
        }
    });
}

#[test]
fn a_channel_that_is_closed_is_linearizable() {
    guarded(|| {
        for seed in 0..if cfg!(miri) { 10 } else { 600 } {
            let capacity = seed as usize % 5;
            closing_history::<u64>(Script { threads: 2, capacity, operations: 6, forces: seed % 8 < 4 }, seed);
        }
    });
}

/// Without a bound, across the ends of segments.
#[test]
fn large_messages_without_a_bound_are_linearizable() {
    guarded(|| {
        for (threads, operations, forces) in [(2, 8, false), (3, 6, true)] {
            histories::<Large>(Script { threads, capacity: 0, operations, forces }, 500, 30 + threads as u64);
        }
        for seed in 0..if cfg!(miri) { 10 } else { 300 } {
            let script = Script { threads: 2, capacity: 0, operations: 6, forces: seed % 2 == 0 };
            closing_history::<Large>(script, 1_000 + seed);
        }
    });
}
