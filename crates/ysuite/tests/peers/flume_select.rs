//! Suite: flume tests/basic.rs, tests/async.rs, tests/stream.rs; upstream 31, carried over here 1, excluded 0.

use crate::common::selecting;

carried! {
    basic_select => selecting::woken_by_the_other_side(0);
}
