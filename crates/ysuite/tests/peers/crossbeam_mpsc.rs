//! Suite: crossbeam-channel tests/mpsc.rs; upstream 127, carried over here 6, excluded 0.
//!
//! The `select!` that `std` had once, by a `ReadySet`.

use crate::common::choosing;
use crate::ends::MEETING;

carried! {
    select_closed => choosing::an_end_is_found(None): Exchange;
    select_both_ready => choosing::made_once(None, 2): Exchange;
    select_stress => choosing::here_and_there(None): Exchange;
    select_cloning3 => choosing::woken_by_a_message(None): Exchange;
    select_stream_data_waiting => choosing::short_limits(None): Exchange;
    select_sync3 => choosing::here_and_there(Some(MEETING)): Exchange;
}
