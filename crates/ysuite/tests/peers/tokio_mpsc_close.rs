//! Suite: tokio tests/sync_mpsc.rs; upstream 107, carried over here 14, excluded 3.
//!
//! What closes without a drop.

use crate::common::closing;

carried! {
    recv_many_with_non_empty_buffer_bounded_rx_closed_and_idle => closing::while_empty(Some(1)): Exchange Funnel Pipe;
    recv_many_with_non_empty_buffer_unbounded_rx_closed_and_idle => closing::while_empty(None): Exchange Funnel Pipe;
    recv_close_gets_none_idle => closing::while_empty(Some(10)): Exchange Funnel Pipe;
    try_recv_after_receiver_close => closing::while_empty(Some(5)): Exchange Funnel Pipe;
    test_rx_is_closed_when_calling_close_with_sender => closing::while_empty(Some(10)): Exchange Funnel Pipe;
    test_rx_is_closed_when_there_are_messages_and_close_is_called => closing::behind_messages(Some(10)): Exchange Funnel Pipe;
    test_rx_len_when_close_is_called => closing::the_length_stays(Some(100)): Exchange Funnel Pipe;
    test_rx_len_when_close_is_called_before_dropping_sender => closing::the_length_stays(Some(10)): Exchange Funnel Pipe;
    test_rx_len_when_close_is_called_after_dropping_sender => closing::the_length_stays(Some(10)): Exchange Funnel Pipe;
    test_rx_unbounded_is_closed_when_calling_close_with_sender => closing::while_empty(None): Exchange Funnel Pipe;
    test_rx_unbounded_is_closed_when_there_are_messages_and_close_is_called => closing::behind_messages(None): Exchange Funnel Pipe;
    test_rx_unbounded_len_when_close_is_called => closing::the_length_stays(None): Exchange Funnel Pipe;
    test_rx_unbounded_len_when_close_is_called_before_dropping_sender => closing::the_length_stays(None): Exchange Funnel Pipe;
    test_rx_unbounded_len_when_close_is_called_after_dropping_sender => closing::the_length_stays(None): Exchange Funnel Pipe;
}
