//! Suite: std tests/sync/mpsc_sync.rs; upstream 53, carried over here 53, excluded 0.
//!
//! `std::sync::mpsc::sync_channel`: with a bound, or a rendezvous.

use crate::common::{alone, crowds, endings, iterating, waiting};
use crate::ends::MEETING;

carried! {
    smoke => alone::one_by_one(Some(1)): Exchange Funnel Pipe;
    drop_full => endings::unreceived_messages_are_dropped(Some(1)): Exchange Funnel Pipe;
    smoke_shared => alone::by_a_clone(Some(1)): Exchange Funnel;
    recv_timeout => waiting::recv_timeout_says_why(Some(1)): Exchange Funnel Pipe;
    send_timeout => alone::one_too_many(1): Exchange Funnel Pipe;
    smoke_threads => waiting::one_message_each(Some(MEETING)): Exchange Funnel Pipe;
    smoke_port_gone => endings::sent_to_no_receiver(Some(MEETING)): Exchange Funnel Pipe;
    smoke_shared_port_gone2 => endings::a_clone_made_for_no_receiver(Some(MEETING)): Exchange Funnel;
    port_gone_concurrent => endings::sending_until_disconnected(Some(MEETING), 1): Exchange Funnel Pipe;
    port_gone_concurrent_shared => endings::sending_until_disconnected(Some(MEETING), 2): Exchange Funnel;
    smoke_chan_gone => endings::received_after_the_end(Some(MEETING)): Exchange Funnel Pipe;
    smoke_chan_gone_shared => endings::all_clones_go(Some(MEETING)): Exchange Funnel;
    chan_gone_concurrent => endings::receiving_until_disconnected(Some(MEETING), 1): Exchange Funnel Pipe;
    stress => crowds::a_stream(Some(MEETING), 5_000): Exchange Funnel Pipe;
    stress_recv_timeout_two_threads => waiting::limits_of_nothing_and_of_all_time(Some(MEETING)): Exchange Funnel Pipe;
    stress_recv_timeout_shared => crowds::a_receiver_with_short_limits(Some(MEETING), 8): Exchange Funnel;
    stress_shared => crowds::all_threads_at_once(Some(MEETING), 8): Exchange Funnel;
    oneshot_single_thread_close_port_first => endings::never_used(Some(MEETING), true): Exchange Funnel Pipe;
    oneshot_single_thread_close_chan_first => endings::never_used(Some(MEETING), false): Exchange Funnel Pipe;
    oneshot_single_thread_send_port_close => endings::a_refused_message_is_its_senders(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_single_thread_recv_chan_close => endings::a_thread_that_expected_more(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_single_thread_send_then_recv => alone::one_box(Some(1)): Exchange Funnel Pipe;
    oneshot_single_thread_try_send_open => alone::one_too_many(1): Exchange Funnel Pipe;
    oneshot_single_thread_try_send_closed => endings::sent_to_no_receiver(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_single_thread_try_send_closed2 => alone::refused_where_nothing_can_be(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_single_thread_try_recv_open => alone::one_by_one(Some(1)): Exchange Funnel Pipe;
    oneshot_single_thread_try_recv_closed => endings::received_after_the_end(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_single_thread_try_recv_closed_with_data => endings::received_after_the_end(Some(1)): Exchange Funnel Pipe;
    oneshot_single_thread_peek_data => alone::nothing_something_the_end(Some(1)): Exchange Funnel Pipe;
    oneshot_single_thread_peek_close => endings::never_used(Some(MEETING), false): Exchange Funnel Pipe;
    oneshot_single_thread_peek_open => alone::refused_where_nothing_can_be(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_multi_task_recv_then_send => waiting::sent_while_one_waits(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_multi_task_recv_then_close => endings::the_sender_goes_at_any_moment(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_multi_thread_close_stress => endings::both_ends_go_at_once(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_multi_thread_send_close_stress => endings::the_receiver_goes_at_any_moment(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_multi_thread_recv_close_stress => endings::the_sender_goes_at_any_moment(Some(MEETING)): Exchange Funnel Pipe;
    oneshot_multi_thread_send_recv_stress => waiting::sent_while_one_waits(Some(MEETING)): Exchange Funnel Pipe;
    stream_send_recv_stress => crowds::the_receiver_travels(Some(MEETING)): Exchange Funnel Pipe;
    recv_a_lot => crowds::all_then_all(Some(10_000), 10_000): Exchange Funnel Pipe;
    shared_chan_stress => crowds::a_thread_for_each(Some(MEETING), 50, 1): Exchange Funnel;
    test_nested_recv_iter => iterating::a_loop_to_the_end(Some(MEETING)): Exchange Funnel Pipe;
    test_recv_iter_break => iterating::a_loop_that_is_left(Some(MEETING)): Exchange Funnel Pipe;
    try_recv_states => waiting::try_recv_says_what_there_is(Some(1)): Exchange Funnel Pipe;
    destroy_upgraded_shared_port_when_sender_still_active => endings::a_clone_sends_to_one_that_sleeps(Some(MEETING)): Exchange Funnel;
    send1 => waiting::send_waits(MEETING): Exchange Funnel Pipe;
    send2 => endings::a_waiting_sender_is_told(MEETING): Exchange Funnel Pipe;
    send3 => endings::a_waiting_sender_is_told(1): Exchange Funnel Pipe;
    send4 => endings::several_waiting_senders_are_told(MEETING): Exchange Funnel;
    try_send1 => alone::refused_where_nothing_can_be(Some(MEETING)): Exchange Funnel Pipe;
    try_send2 => alone::one_too_many(1): Exchange Funnel Pipe;
    try_send3 => endings::sent_to_no_receiver(Some(1)): Exchange Funnel Pipe;
    issue_15761 => waiting::question_and_answer(Some(3)): Exchange Funnel Pipe;
    drop_unreceived => endings::unreceived_messages_are_dropped(Some(1)): Exchange Funnel Pipe;
}
