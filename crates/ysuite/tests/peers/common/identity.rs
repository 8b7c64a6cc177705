//! Handles that belong together, and how many there are.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use ysuite::{mpmc, mpsc};

use crate::ends::{Bound, Kind, Rx, Tx};

fn hash(end: &impl Hash) -> u64 {
    let mut state = DefaultHasher::new();
    end.hash(&mut state);
    state.finish()
}

/// Handles of one channel are equal, have the same hash, and report that; those of another are not.
fn two_of_a_kind<E: Clone + Eq + Hash + Debug>(one: &E, another: &E, same: fn(&E, &E) -> bool) {
    let clone = one.clone();
    assert!(same(one, one) && same(one, &clone) && same(&clone, one));
    assert!(!same(one, another) && !same(another, &clone));
    assert!(*one == clone && one != another);
    assert_eq!(hash(one), hash(&clone));
}

/// Senders and receivers know their count, for each side that can be cloned.
pub(crate) fn kin_know_each_other(kind: Kind, bound: Bound, another: Bound) {
    let ends = (kind.open::<usize>(bound), kind.open::<usize>(another));
    match ends {
        ((Tx::Exchange(tx), Rx::Exchange(rx)), (Tx::Exchange(other_tx), Rx::Exchange(other_rx))) => {
            two_of_a_kind(&tx, &other_tx, mpmc::Sender::same_channel);
            two_of_a_kind(&rx, &other_rx, mpmc::Receiver::same_channel);
        }
        ((Tx::Funnel(tx), _), (Tx::Funnel(other), _)) => two_of_a_kind(&tx, &other, mpsc::Sender::same_channel),
        _ => panic!("handles that cannot be cloned have no count"),
    }
}
