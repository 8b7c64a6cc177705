//! Suite: crossbeam-channel tests/zero.rs; upstream 22, carried over here 2, excluded 1.

use crate::common::selecting;

carried! {
    fairness => selecting::face_to_face;
    fairness_duplicates => selecting::several_threads_in_selects;
}
