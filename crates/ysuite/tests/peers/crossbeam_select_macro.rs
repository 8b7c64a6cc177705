//! Suite: crossbeam-channel tests/select_macro.rs; upstream 59, carried over here 46, excluded 0.
//!
//! What is about the macro's syntax has nothing to be carried over to: there is a builder here.

use crate::common::{choosing, facing, selecting};

carried! {
    smoke1 => selecting::the_one_with_a_message(2);
    smoke2 => selecting::the_one_with_a_message(5);
    disconnected => selecting::one_whose_sender_is_gone;
    default => selecting::without_waiting;
    timeout => selecting::the_time_runs_out;
    default_when_disconnected => selecting::an_end_is_found(1);
    default_only => selecting::the_time_runs_out;
    unblocks => selecting::woken_by_the_other_side(1);
    both_ready => selecting::a_receive_and_a_send;
    loop_try => selecting::others_only_ask;
    cloning1 => choosing::a_clone_that_goes(Some(4), true): Exchange Funnel;
    cloning2 => choosing::a_clone_that_goes(Some(4), false): Exchange Funnel;
    preflight1 => selecting::as_a_receive;
    preflight2 => selecting::as_a_receive;
    preflight3 => selecting::an_end_is_found(0);
    duplicate_operations => selecting::the_same_twice;
    nesting => selecting::one_in_another;
    stress_recv => selecting::here_and_there(1);
    stress_send => selecting::sends_that_are_selected;
    stress_mixed => selecting::mixed;
    stress_timeout_two_threads => selecting::short_limits_on_both_sides(1);
    send_recv_same_channel => selecting::both_ends_of_a_channel;
    matching => facing::every_thread_finds_a_partner(20);
    matching_with_leftover => facing::every_thread_finds_a_partner(21);
    channel_through_channel => facing::channels_through_channels(2);
    linearizable_default => facing::always_something_before_the_default(5_000);
    linearizable_timeout => facing::always_something(2);
    fairness1 => facing::receives_have_their_turns;
    fairness2 => facing::three_channels_face_to_face;
    fairness_recv => facing::receives_have_their_turns;
    fairness_send => facing::sends_have_their_turns;
    infer_types => selecting::a_value_of_any_type;
    default_syntax => selecting::the_time_runs_out;
    handles_on_heap => selecting::a_value_of_any_type;
    once_blocks => selecting::a_value_of_any_type;
    parse_nesting => selecting::one_in_another;
    evaluate => selecting::a_value_of_any_type;
    result_types => selecting::as_a_receive;
    try_recv => selecting::as_a_receive;
    recv => selecting::as_a_receive;
    recv_timeout => selecting::as_a_receive;
    try_send => selecting::as_a_send(1);
    send => selecting::as_a_send(0);
    send_timeout => selecting::what_was_not_sent;
    disconnect_wakes_sender => selecting::as_a_send(2);
    disconnect_wakes_receiver => selecting::as_a_receive;
}
