//! Suite: crossbeam-channel tests/zero.rs; upstream 22, carried over here 2, excluded 0.

use crate::common::facing;

carried! {
    fairness => facing::face_to_face;
    fairness_duplicates => facing::several_threads_in_selects;
}
