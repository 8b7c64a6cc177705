//! Which signals are up, under the model checker: an id goes from one holder to the next.

use super::super::bits::Bits;
use crate::runner::model;
use crate::sync::{Arc, UnsafeCell};

/// Both if the root holds the ids and if a level below does.
///
/// Claim: The next owner of an id comes after everything that the last owner did.
/// Also: unit signal::models::models_release_against_raise_and_claim,
/// suite signal::pollset_31::raising_after_release_does_nothing.
#[test]
fn the_next_holder_of_an_id_comes_after_all_that_the_last_one_did() {
    for capacity in [1, 3] {
        model(move || {
            let shared = Arc::new((Bits::new(capacity), UnsafeCell::new(0)));
            let id = capacity - 1;
            assert!(shared.0.claim(id));
            let holder = shared.clone();
            let thread = loom::thread::spawn(move || {
                // SAFETY: only the holder touches the cell until it gives the id back; loom checks that.
                holder.1.with_mut(|held| unsafe { *held += 1 });
                holder.0.give_back(id);
            });
            if shared.0.claim(id) {
                // SAFETY: from the claim on only the next holder touches the cell; loom checks that.
                shared.1.with_mut(|held| unsafe { *held += 1 });
            }
            thread.join().unwrap();
        });
    }
}
