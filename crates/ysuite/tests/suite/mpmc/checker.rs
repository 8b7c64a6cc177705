//! The checker accepts what is right, and refuses each kind of wrong.
//!
//! Claim: The history checker rejects losses, duplicates, wrong orders, and wrong `Empty` or `Full` results.

use crate::support::linear::{Event, Op, is_linearizable};

/// Operations as (called, returned, what).
fn check(capacity: usize, events: &[(u64, u64, Op)]) -> bool {
    let history: Vec<_> = events
        .iter()
        .map(|(called, returned, op)| Event { called: *called, returned: *returned, op: op.clone() })
        .collect();
    is_linearizable(&history, capacity)
}

use Op::{Closed, Empty, Forced, Full, Over, Received, ReceivedAll, Refused, Sent};

#[test]
fn what_one_thread_does_in_order_is_accepted() {
    assert!(check(2, &[]));
    assert!(check(
        2,
        &[
            (0, 1, Empty),
            (2, 3, Sent(1)),
            (4, 5, Sent(2)),
            (6, 7, Full),
            (8, 9, Received(1)),
            (10, 11, Sent(3)),
            (12, 13, Received(2)),
            (14, 15, Received(3)),
            (16, 17, Empty)
        ]
    ));
    assert!(check(3, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, ReceivedAll(vec![1, 2])), (6, 7, Empty)]));
}

#[test]
fn a_reordered_history_is_refused_unless_the_sends_overlap() {
    let received = [(4, 5, Received(2)), (6, 7, Received(1))];
    assert!(!check(4, &[&[(0, 1, Sent(1)), (2, 3, Sent(2))], &received[..]].concat()));
    assert!(check(4, &[&[(0, 2, Sent(1)), (1, 3, Sent(2))], &received[..]].concat()));
    // Receives that overlap may have had their moments in the other order.
    assert!(check(4, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 7, Received(2)), (5, 6, Received(1))]));
    assert!(!check(4, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, ReceivedAll(vec![2, 1]))]));
    // Something that came between cannot be within what was taken at once.
    assert!(!check(
        4,
        &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Sent(3)), (6, 9, ReceivedAll(vec![1, 3])), (7, 8, Received(2))]
    ));
}

#[test]
fn a_duplicate_is_refused() {
    assert!(!check(4, &[(0, 1, Sent(1)), (2, 3, Received(1)), (4, 5, Received(1))]));
    assert!(!check(4, &[(0, 9, Sent(1)), (1, 5, Received(1)), (2, 6, Received(1))]));
}

#[test]
fn a_loss_is_refused() {
    assert!(!check(4, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Received(2)), (6, 7, Empty)]));
    assert!(!check(4, &[(0, 2, Sent(1)), (1, 3, Sent(2)), (4, 5, Received(2)), (6, 7, Empty)]));
}

#[test]
fn what_was_never_or_not_yet_sent_is_refused() {
    assert!(!check(4, &[(0, 1, Received(1))]));
    assert!(!check(4, &[(0, 1, Received(1)), (2, 3, Sent(1))]));
    assert!(check(4, &[(0, 2, Received(1)), (1, 3, Sent(1))]));
}

#[test]
fn empty_is_refused_while_a_message_is_certainly_there() {
    assert!(!check(4, &[(0, 1, Sent(1)), (2, 3, Empty), (4, 5, Received(1))]));
    assert!(check(4, &[(0, 2, Sent(1)), (1, 3, Empty), (4, 5, Received(1))]));
    // The oldest is still being sent; the one after it is not seen until then.
    assert!(check(4, &[(0, 9, Sent(1)), (1, 2, Sent(2)), (3, 4, Empty), (10, 11, Received(1)), (12, 13, Received(2))]));
    // But not if the one after it turns out to be the oldest.
    assert!(!check(
        4,
        &[(0, 9, Sent(1)), (1, 2, Sent(2)), (3, 4, Empty), (10, 11, Received(2)), (12, 13, Received(1))]
    ));
    // A receiver may have had it and another may have come.
    assert!(check(4, &[(0, 1, Sent(1)), (2, 5, Received(1)), (3, 4, Empty)]));
}

#[test]
fn full_is_refused_while_there_is_certainly_room() {
    assert!(!check(2, &[(0, 1, Sent(1)), (2, 3, Full)]));
    assert!(!check(1, &[(0, 1, Sent(1)), (2, 3, Received(1)), (4, 5, Full)]));
    assert!(check(1, &[(0, 1, Sent(1)), (2, 4, Received(1)), (3, 5, Full)]));
    // The place that is needed is still being emptied, though another one is free.
    assert!(check(2, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 20, Received(1)), (5, 6, Received(2)), (7, 8, Full)]));
    // It is the other one that is still being emptied.
    assert!(!check(2, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Received(1)), (6, 20, Received(2)), (7, 8, Full)]));
    assert!(!check(1, &[(0, 1, Sent(1)), (2, 3, Sent(2))]), "more than it holds");
}

#[test]
fn a_message_makes_way_only_where_there_is_no_room_and_it_is_the_oldest() {
    let full = [(0, 1, Sent(1)), (2, 3, Sent(2))];
    let then = |forced: Op, rest: &[(u64, u64, Op)]| check(2, &[&full[..], &[(4, 5, forced)], rest].concat());
    assert!(then(Forced(3, Some(1)), &[(6, 7, Received(2)), (8, 9, Received(3)), (10, 11, Empty)]));
    assert!(!then(Forced(3, Some(2)), &[]), "not the oldest");
    assert!(!then(Forced(3, None), &[]), "there was no room");
    assert!(!then(Forced(3, Some(1)), &[(6, 7, Received(1))]), "twice");
    assert!(!then(Forced(3, Some(1)), &[(6, 7, Received(3))]), "out of order");
    assert!(!check(2, &[(0, 1, Sent(1)), (2, 3, Forced(2, Some(1)))]), "there was room");
    assert!(check(2, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 7, Received(1)), (5, 6, Forced(3, None))]));
}

#[test]
fn a_close_is_an_end() {
    assert!(check(2, &[(0, 1, Sent(1)), (2, 3, Closed), (4, 5, Refused), (6, 7, Received(1)), (8, 9, Over)]));
    assert!(!check(2, &[(0, 1, Sent(1)), (2, 3, Closed), (4, 5, Over)]), "there is a message");
    assert!(!check(2, &[(0, 1, Closed), (2, 3, Sent(1))]));
    assert!(!check(2, &[(0, 1, Closed), (2, 3, Forced(1, None))]));
    assert!(!check(2, &[(0, 1, Closed), (2, 3, Empty)]));
    assert!(!check(2, &[(0, 1, Refused), (2, 3, Closed)]));
    assert!(!check(1, &[(0, 1, Sent(1)), (2, 3, Closed), (4, 5, Full)]));
    assert!(!check(1, &[(0, 1, Over)]));
    // The message is still being put in.
    assert!(check(2, &[(0, 9, Sent(1)), (1, 2, Closed), (3, 4, Empty), (10, 11, Received(1)), (12, 13, Over)]));
    // One more for a moment, while it is closed.
    let rest = [(10, 11, Received(1)), (12, 13, Received(2)), (14, 15, Over)];
    assert!(check(1, &[&[(0, 1, Sent(1)), (2, 9, Forced(2, None)), (3, 4, Closed)], &rest[..]].concat()));
    assert!(!check(1, &[&[(0, 1, Sent(1)), (2, 3, Forced(2, None)), (4, 5, Closed)], &rest[..]].concat()));
}
