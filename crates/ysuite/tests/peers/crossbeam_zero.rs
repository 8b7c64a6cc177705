//! Suite: crossbeam-channel tests/zero.rs; upstream 22, carried over here 19, excluded 0.
//!
//! The rendezvous. Selects that face each other are in `crossbeam_zero_select.rs`.

use crate::common::{alone, crowds, endings, iterating, meetings, waiting};

carried! {
    smoke => alone::refused_where_nothing_can_be(Some(0)): Funnel Pipe;
    capacity => alone::the_bound_is_known(&[Some(0)]): Funnel Pipe;
    len_empty_full => meetings::always_empty_always_full: Funnel Pipe;
    try_recv => meetings::one_asks_the_other_waits: Funnel Pipe;
    recv => waiting::recv_waits(Some(0)): Funnel Pipe;
    recv_timeout => waiting::recv_timeout_says_why(Some(0)): Funnel Pipe;
    try_send => meetings::one_asks_the_other_waits: Funnel Pipe;
    send => waiting::send_waits(0): Funnel Pipe;
    send_timeout => waiting::send_timeout_says_why(0): Funnel Pipe;
    len => meetings::nothing_lies_in_between: Funnel Pipe;
    disconnect_wakes_sender => endings::a_waiting_sender_is_told(0): Funnel Pipe;
    disconnect_wakes_receiver => endings::a_waiting_receiver_is_told(Some(0)): Funnel Pipe;
    spsc => crowds::a_stream(Some(0), 5_000): Funnel Pipe;
    mpmc => crowds::all_threads_at_once(Some(0), 4): Funnel;
    stress_oneshot => crowds::many_short_lives(Some(0)): Funnel Pipe;
    stress_iter => iterating::loops_over_what_is_there(Some(0)): Exchange Funnel Pipe;
    stress_timeout_two_threads => waiting::short_limits_on_both_sides(Some(0)): Funnel Pipe;
    drops => endings::each_is_dropped_once(Some(0)): Funnel Pipe;
    channel_through_channel => endings::channels_through_channels(Some(0)): Funnel Pipe;
}
