//! Suite: crossbeam-channel tests/same_channel.rs; upstream 7, carried over here 6, excluded 0.

use ysuite::timer::{after, tick};

use crate::common::{identity, timers};

carried! {
    after_same_channel => timers::clones_are_equal(after);
    array_same_channel => identity::kin_know_each_other(Some(1), Some(1)): Funnel;
    list_same_channel => identity::kin_know_each_other(None, None): Funnel;
    tick_same_channel => timers::clones_are_equal(tick);
    zero_same_channel => identity::kin_know_each_other(Some(0), Some(0)): Funnel;
    different_flavors_same_channel => identity::kin_know_each_other(Some(0), None): Funnel;
}
