//! The array under the model checker.
//!
//! Claim: The array of lanes grows without moving. When two threads make the same part, one of them wins.

use loom::thread;

use super::SegmentedArray;
use crate::runner::model;
use crate::sync::{Arc, AtomicU32, Ordering};

#[test]
fn an_element_that_is_come_across_has_been_made() {
    model(|| {
        let array = Arc::new(SegmentedArray::<AtomicU32, 1>::new());
        let other = array.clone();
        let thread = thread::spawn(move || {
            other.iter().for_each(|(_, element)| assert_eq!(element.load(Ordering::Relaxed), 7));
        });
        array.get_or_make(0, || AtomicU32::new(7));
        thread.join().unwrap();
    });
}
