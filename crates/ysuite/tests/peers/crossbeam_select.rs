//! Suite: crossbeam-channel tests/select.rs; upstream 32, carried over here 30, excluded 0.

use crate::common::{choosing, facing, selecting};
use crate::ends::MEETING;

carried! {
    smoke1 => selecting::the_one_with_a_message(2);
    smoke2 => selecting::the_one_with_a_message(5);
    disconnected => selecting::one_whose_sender_is_gone;
    default => selecting::without_waiting;
    timeout => selecting::the_time_runs_out;
    default_when_disconnected => selecting::an_end_is_found(0);
    default_only => selecting::the_time_runs_out;
    unblocks => selecting::woken_whatever_the_kind(Some(MEETING)): Exchange Funnel Pipe;
    both_ready => selecting::a_receive_and_a_send;
    loop_try => selecting::others_only_ask;
    cloning1 => choosing::a_clone_that_goes(None, true): Exchange Funnel;
    cloning2 => choosing::a_clone_that_goes(None, false): Exchange Funnel;
    preflight1 => selecting::as_a_receive;
    preflight2 => selecting::as_a_receive;
    preflight3 => selecting::an_end_is_found(1);
    duplicate_operations => selecting::the_same_twice;
    nesting => selecting::one_in_another;
    stress_recv => selecting::streams_by_selects(Some(5)): Exchange Funnel Pipe;
    stress_send => selecting::sends_that_are_selected;
    stress_mixed => selecting::mixed;
    stress_timeout_two_threads => selecting::short_limits_on_both_sides(2);
    send_recv_same_channel => selecting::both_ends_of_a_channel;
    matching => facing::every_thread_finds_a_partner(44);
    matching_with_leftover => facing::every_thread_finds_a_partner(55);
    channel_through_channel => facing::channels_through_channels(0);
    linearizable_try => facing::always_something_at_once(5_000);
    linearizable_timeout => facing::always_something(100);
    fairness1 => facing::receives_have_their_turns;
    fairness2 => facing::three_channels_face_to_face;
    reuse => choosing::made_once(Some(5), 4): Exchange Funnel Pipe;
}
