//! Suite: std tests/sync/mpsc.rs; upstream 54, carried over here 54, excluded 0.
//!
//! `std::sync::mpsc::channel`: without a bound.

use crate::common::{alone, crowds, endings, iterating, waiting};

carried! {
    smoke => alone::one_by_one(None): Exchange Funnel Pipe;
    drop_full => endings::unreceived_messages_are_dropped(None): Exchange Funnel Pipe;
    drop_full_shared => endings::left_behind_after_clones(None): Exchange Funnel;
    smoke_shared => alone::by_a_clone(None): Exchange Funnel;
    smoke_threads => waiting::one_message_each(None): Exchange Funnel Pipe;
    smoke_port_gone => endings::sent_to_no_receiver(None): Exchange Funnel Pipe;
    smoke_shared_port_gone => endings::sent_to_no_receiver(None): Exchange Funnel;
    smoke_shared_port_gone2 => endings::a_clone_made_for_no_receiver(None): Exchange Funnel;
    port_gone_concurrent => endings::sending_until_disconnected(None, 1): Exchange Funnel Pipe;
    port_gone_concurrent_shared => endings::sending_until_disconnected(None, 2): Exchange Funnel;
    smoke_chan_gone => endings::received_after_the_end(None): Exchange Funnel Pipe;
    smoke_chan_gone_shared => endings::all_clones_go(None): Exchange Funnel;
    chan_gone_concurrent => endings::receiving_until_disconnected(None, 1): Exchange Funnel Pipe;
    stress => crowds::a_stream(None, 10_000): Exchange Funnel Pipe;
    stress_shared => crowds::all_threads_at_once(None, 8): Exchange Funnel;
    send_from_outside_runtime => waiting::ready_steady_go(None): Exchange Funnel Pipe;
    recv_from_outside_runtime => crowds::a_stream(None, 40): Exchange Funnel Pipe;
    no_runtime => waiting::question_and_answer(None): Exchange Funnel Pipe;
    oneshot_single_thread_close_port_first => endings::never_used(None, true): Exchange Funnel Pipe;
    oneshot_single_thread_close_chan_first => endings::never_used(None, false): Exchange Funnel Pipe;
    oneshot_single_thread_send_port_close => endings::a_refused_message_is_its_senders(None): Exchange Funnel Pipe;
    oneshot_single_thread_recv_chan_close => endings::a_thread_that_expected_more(None): Exchange Funnel Pipe;
    oneshot_single_thread_send_then_recv => alone::one_box(None): Exchange Funnel Pipe;
    oneshot_single_thread_try_send_open => alone::one_by_one(None): Exchange Funnel Pipe;
    oneshot_single_thread_try_send_closed => endings::sent_to_no_receiver(None): Exchange Funnel Pipe;
    oneshot_single_thread_try_recv_open => alone::one_by_one(None): Exchange Funnel Pipe;
    oneshot_single_thread_try_recv_closed => endings::received_after_the_end(None): Exchange Funnel Pipe;
    oneshot_single_thread_peek_data => alone::nothing_something_the_end(None): Exchange Funnel Pipe;
    oneshot_single_thread_peek_close => alone::nothing_something_the_end(None): Exchange Funnel Pipe;
    oneshot_single_thread_peek_open => alone::nothing_something_the_end(None): Exchange Funnel Pipe;
    oneshot_multi_task_recv_then_send => waiting::sent_while_one_waits(None): Exchange Funnel Pipe;
    oneshot_multi_task_recv_then_close => endings::the_sender_goes_at_any_moment(None): Exchange Funnel Pipe;
    oneshot_multi_thread_close_stress => endings::both_ends_go_at_once(None): Exchange Funnel Pipe;
    oneshot_multi_thread_send_close_stress => endings::the_receiver_goes_at_any_moment(None): Exchange Funnel Pipe;
    oneshot_multi_thread_recv_close_stress => endings::the_sender_goes_at_any_moment(None): Exchange Funnel Pipe;
    oneshot_multi_thread_send_recv_stress => waiting::one_message_each(None): Exchange Funnel Pipe;
    stream_send_recv_stress => crowds::the_receiver_travels(None): Exchange Funnel Pipe;
    oneshot_single_thread_recv_timeout => waiting::a_wait_that_ran_out_is_forgotten(None): Exchange Funnel Pipe;
    stress_recv_timeout_two_threads => waiting::short_limits_on_both_sides(None): Exchange Funnel Pipe;
    recv_timeout_upgrade => waiting::a_clone_that_stays_is_no_end(None): Exchange Funnel;
    stress_recv_timeout_shared => crowds::a_receiver_with_short_limits(None, 20): Exchange Funnel;
    very_long_recv_timeout_wont_panic => waiting::limits_of_nothing_and_of_all_time(None): Exchange Funnel Pipe;
    recv_a_lot => crowds::all_then_all(None, 10_000): Exchange Funnel Pipe;
    shared_recv_timeout => waiting::one_more_after_a_crowd(None): Exchange Funnel;
    shared_chan_stress => crowds::a_thread_for_each(None, 50, 1): Exchange Funnel;
    test_nested_recv_iter => iterating::a_loop_to_the_end(None): Exchange Funnel Pipe;
    test_recv_iter_break => iterating::a_loop_that_is_left(None): Exchange Funnel Pipe;
    test_recv_try_iter => iterating::loops_over_what_is_there(None): Exchange Funnel Pipe;
    test_recv_into_iter_owned => iterating::an_iterator_that_owns(None): Exchange Funnel Pipe;
    test_recv_into_iter_borrowed => iterating::an_iterator_that_borrows(None): Exchange Funnel Pipe;
    try_recv_states => waiting::try_recv_says_what_there_is(None): Exchange Funnel Pipe;
    destroy_upgraded_shared_port_when_sender_still_active => endings::a_clone_sends_to_one_that_sleeps(None): Exchange Funnel;
    issue_32114 => endings::sent_to_no_receiver(None): Exchange Funnel Pipe;
    issue_39364 => waiting::a_clone_that_goes_ends_no_wait(None): Exchange Funnel;
}
