//! Suite: crossbeam-channel tests/array.rs; upstream 27, carried over here 25, excluded 0.
//!
//! The bounded channel.

use crate::common::{alone, choosing, crowds, endings, iterating, waiting};

carried! {
    smoke => alone::one_by_one(Some(1)): Funnel Pipe;
    capacity => alone::the_bound_is_known(&[Some(1), Some(2), Some(3), Some(9)]): Funnel Pipe;
    len_empty_full => alone::empty_and_full(Some(2)): Funnel Pipe;
    try_recv => waiting::try_recv_says_what_there_is(Some(100)): Funnel Pipe;
    recv => waiting::recv_waits(Some(100)): Funnel Pipe;
    recv_timeout => waiting::recv_timeout_says_why(Some(100)): Funnel Pipe;
    try_send => waiting::try_send_says_why: Funnel Pipe;
    send => waiting::send_waits(1): Funnel Pipe;
    send_timeout => waiting::send_timeout_says_why(2): Funnel Pipe;
    send_timeout_nonfull_expired => alone::too_late_is_early_enough_where_nothing_waits(Some(1)): Funnel Pipe;
    send_after_disconnect => endings::sent_to_no_receiver(Some(100)): Funnel Pipe;
    recv_after_disconnect => endings::received_after_the_end(Some(100)): Funnel Pipe;
    len => alone::the_length_follows(Some(1_000)): Funnel Pipe;
    disconnect_wakes_sender => endings::a_waiting_sender_is_told(1): Funnel Pipe;
    disconnect_wakes_receiver => endings::a_waiting_receiver_is_told(Some(1)): Funnel Pipe;
    spsc => crowds::a_stream(Some(3), 20_000): Funnel Pipe;
    mpmc => crowds::all_threads_at_once(Some(3), 4): Funnel;
    stress_oneshot => crowds::many_short_lives(Some(1)): Funnel Pipe;
    stress_iter => iterating::loops_over_what_is_there(Some(1)): Exchange Funnel Pipe;
    stress_timeout_two_threads => waiting::short_limits_on_both_sides(Some(2)): Funnel Pipe;
    drops => endings::each_is_dropped_once(Some(50)): Funnel Pipe;
    fairness => choosing::each_has_its_turn(&[Some(2_000), Some(2_000)]): Exchange Funnel Pipe;
    fairness_duplicates => choosing::clones_have_their_turns(Some(2_000), 5): Exchange;
    channel_through_channel => endings::channels_through_channels(Some(1)): Funnel Pipe;
    panic_on_drop => endings::a_drop_that_panics_takes_no_other_with_it(Some(3)): Funnel Pipe;
}
