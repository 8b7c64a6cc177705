//! Suite: tokio tests/sync_mpsc.rs; upstream 107, carried over here 48, excluded 3.
//!
//! Permits are in `tokio_mpsc_permits.rs`, what closes without a drop in `tokio_mpsc_close.rs`, batches of tasks and time limits
//! of tasks in `tokio_mpsc_tasks.rs`.

use crate::common::{alone, endings, tasks};

carried! {
    send_recv_stream_with_buffer => tasks::as_a_stream(Some(16)): Exchange Funnel Pipe;
    async_send_recv_with_buffer => tasks::recv_waits(Some(16)): Exchange Funnel Pipe;
    send_recv_unbounded => tasks::one_by_one(None): Exchange Funnel Pipe;
    async_send_recv_unbounded => tasks::recv_waits(None): Exchange Funnel Pipe;
    send_recv_stream_unbounded => tasks::as_a_stream(None): Exchange Funnel Pipe;
    no_t_bounds_buffer => alone::messages_that_can_do_nothing(Some(100)): Exchange Funnel Pipe;
    no_t_bounds_unbounded => alone::messages_that_can_do_nothing(None): Exchange Funnel Pipe;
    tx_close_gets_none => tasks::after_the_end(Some(10)): Exchange Funnel Pipe;
    try_send_fail => alone::one_too_many(1): Exchange Funnel Pipe;
    try_send_fail_with_try_recv => alone::filled_again_and_again(1): Exchange Funnel Pipe;
    unconsumed_messages_are_dropped => endings::unreceived_messages_are_dropped(Some(100)): Exchange Funnel Pipe;
    blocking_recv => tasks::blocked_and_awaited(Some(1)): Exchange Funnel Pipe;
    blocking_send => tasks::blocked_and_awaited(Some(2)): Exchange Funnel Pipe;
    try_recv_bounded => alone::filled_again_and_again(5): Exchange Funnel Pipe;
    try_recv_unbounded => alone::so_many_and_the_end(None): Exchange Funnel Pipe;
    try_recv_close_while_empty_bounded => alone::so_many_and_the_end(Some(5)): Exchange Funnel Pipe;
    try_recv_close_while_empty_unbounded => alone::nothing_something_the_end(None): Exchange Funnel Pipe;
    test_rx_is_closed_when_dropping_all_senders => alone::the_receiver_knows(Some(10), 0): Exchange Funnel Pipe;
    test_rx_is_not_closed_when_there_are_senders => alone::the_receiver_knows(Some(10), 0): Exchange Funnel Pipe;
    test_rx_is_not_closed_when_there_are_senders_and_buffer_filled => alone::the_receiver_knows(Some(10), 10): Exchange Funnel Pipe;
    test_rx_is_closed_when_there_are_no_senders_and_there_are_messages => alone::the_receiver_knows(Some(10), 10): Exchange Funnel Pipe;
    test_rx_is_empty_when_no_messages_were_sent => alone::empty_and_full(Some(10)): Exchange Funnel Pipe;
    test_rx_is_not_empty_when_there_are_messages_in_the_buffer => alone::empty_and_full(Some(10)): Exchange Funnel Pipe;
    test_rx_is_not_empty_when_the_buffer_is_full => alone::empty_and_full(Some(10)): Exchange Funnel Pipe;
    test_rx_is_not_empty_when_all_but_one_messages_are_consumed => alone::the_length_while_emptied(Some(10), 10, false): Exchange Funnel Pipe;
    test_rx_is_empty_when_all_messages_are_consumed => alone::the_length_while_emptied(Some(10), 10, false): Exchange Funnel Pipe;
    test_rx_is_empty_all_senders_are_dropped_and_messages_consumed => alone::the_length_while_emptied(Some(10), 10, true): Exchange Funnel Pipe;
    test_rx_len_on_empty_channel => alone::the_length_while_emptied(Some(100), 0, false): Exchange Funnel Pipe;
    test_rx_len_on_empty_channel_without_senders => alone::the_length_while_emptied(Some(100), 0, true): Exchange Funnel Pipe;
    test_rx_len_on_filled_channel => alone::the_receiver_knows(Some(100), 100): Exchange Funnel Pipe;
    test_rx_len_on_filled_channel_without_senders => alone::the_receiver_knows(Some(100), 100): Exchange Funnel Pipe;
    test_rx_len_when_consuming_all_messages => alone::the_length_while_emptied(Some(100), 100, false): Exchange Funnel Pipe;
    test_rx_unbounded_is_closed_when_dropping_all_senders => alone::the_receiver_knows(None, 0): Exchange Funnel Pipe;
    test_rx_unbounded_is_not_closed_when_there_are_senders => alone::the_receiver_knows(None, 0): Exchange Funnel Pipe;
    test_rx_unbounded_is_closed_when_there_are_no_senders_and_there_are_messages => alone::the_receiver_knows(None, 10): Exchange Funnel Pipe;
    test_rx_unbounded_is_empty_when_no_messages_were_sent => alone::empty_and_full(None): Exchange Funnel Pipe;
    test_rx_unbounded_is_not_empty_when_there_are_messages_in_the_buffer => alone::empty_and_full(None): Exchange Funnel Pipe;
    test_rx_unbounded_is_not_empty_when_all_but_one_messages_are_consumed => alone::the_length_while_emptied(None, 10, false): Exchange Funnel Pipe;
    test_rx_unbounded_is_empty_when_all_messages_are_consumed => alone::the_length_while_emptied(None, 10, false): Exchange Funnel Pipe;
    test_rx_unbounded_is_empty_all_senders_are_dropped_and_messages_consumed => alone::the_length_while_emptied(None, 10, true): Exchange Funnel Pipe;
    test_rx_unbounded_len_on_empty_channel => alone::the_length_while_emptied(None, 0, false): Exchange Funnel Pipe;
    test_rx_unbounded_len_on_empty_channel_without_senders => alone::the_length_while_emptied(None, 0, true): Exchange Funnel Pipe;
    test_rx_unbounded_len_with_multiple_messages => alone::the_receiver_knows(None, 100): Exchange Funnel Pipe;
    test_rx_unbounded_len_with_multiple_messages_and_dropped_senders => alone::the_receiver_knows(None, 100): Exchange Funnel Pipe;
    test_rx_unbounded_len_when_consuming_all_messages => alone::the_length_while_emptied(None, 100, false): Exchange Funnel Pipe;
    test_is_empty_32_msgs => alone::the_length_while_emptied(None, 33, false): Exchange Funnel Pipe;
    drop_all_elements_during_panic => endings::a_drop_that_panics_takes_no_other_with_it(None): Exchange Funnel Pipe;
    release_waker_on_rx_drop => tasks::a_receiver_lets_go_of_its_task(Some(1)): Exchange Funnel Pipe;
}
