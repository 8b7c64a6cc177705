//! Suite: async-channel tests/bounded.rs, tests/unbounded.rs; upstream 41, carried over here 7, excluded 1.
//!
//! Counts, weak handles, and sending without room.

use ysuite::mpmc;
use ysuite::{RecvError, SendError};

use crate::common::{identity, weak};
use crate::support::{Counted, Tally};
use crate::tools::both;

carried! {
    bounded_force_send => the_oldest_makes_way;
    bounded_receiver_count => identity::receivers_are_counted(Some(5)): Exchange;
    bounded_sender_count => weak::senders_are_counted(Some(5)): Exchange Funnel;
    bounded_weak => weak_ends_of_both_sides(Some(3));
    unbounded_receiver_count => identity::receivers_are_counted(None): Exchange;
    unbounded_sender_count => weak::senders_are_counted(None): Exchange Funnel;
    unbounded_weak => weak_ends_of_both_sides(None);
}

/// Where there is room it is a send; where there is none the oldest message makes way and comes back.
fn the_oldest_makes_way() {
    let (tx, rx) = mpmc::bounded(1);
    assert_eq!((tx.force_send(7), tx.force_send(8)), (Ok(None), Ok(Some(7))));
    assert_eq!((rx.recv(), tx.force_send(9)), (Ok(8), Ok(None)));
    assert_eq!((tx.force_send(10), rx.recv()), (Ok(Some(9)), Ok(10)));
    // While another receives: each message is received or comes back, in order on either way.
    let tally = Tally::of(3_000);
    let (tx, rx) = mpmc::bounded::<Counted>(4);
    let ((), returned) = both(
        || {
            let mut last = None;
            while let Ok(message) = rx.recv() {
                assert!(last.is_none_or(|last| last < message.number));
                last = Some(message.number);
            }
        },
        || {
            let returned = tally.some(3_000).filter_map(|message| tx.force_send(message).unwrap()).count();
            drop(tx);
            returned
        },
    );
    assert!(returned <= 3_000 - 4);
    tally.assert_all_ended();
    let (tx, rx) = mpmc::bounded(1);
    drop(rx);
    assert_eq!(tx.force_send(1), Err(SendError(1)));
}

fn weak_ends_of_both_sides(bound: Option<usize>) {
    let (tx, rx) = bound.map_or_else(mpmc::unbounded, mpmc::bounded);
    let (weak_tx, weak_rx) = (tx.downgrade(), rx.downgrade());
    weak_tx.upgrade().unwrap().send(3).unwrap();
    assert_eq!(weak_rx.upgrade().unwrap().recv(), Ok(3));
    drop(tx);
    assert_eq!(rx.recv(), Err(RecvError));
    drop(rx);
    assert!(weak_tx.upgrade().is_none() && weak_rx.upgrade().is_none());
}
