//! Suite: kanal tests/sync_test.rs, tests/async_test.rs; upstream 91, carried over here 10, excluded 4.
//!
//! What closes without a drop. There closing drops what is in the channel; here that is received first.

use crate::common::closing;

carried! {
    sync_recv_from_closed_channel => closing::under_a_waiting_receiver(Some(1)): Exchange Funnel Pipe;
    sync_send_to_closed_channel => closing::while_empty(Some(1)): Exchange Funnel Pipe;
    sync_drop_test_in_queue => closing::each_message_ends_once(10): Exchange Funnel Pipe;
    sync_drop_test_send_to_closed => closing::each_message_ends_once(1): Exchange Funnel Pipe;
    sync_drop_test_in_signal => closing::under_waiting_senders(1, false): Exchange Funnel Pipe;
    async_recv_from_closed_channel => closing::by_a_sender(Some(1)): Exchange Funnel Pipe;
    async_send_to_closed_channel => closing::while_empty(Some(1)): Exchange Funnel Pipe;
    async_drop_test_in_queue => closing::each_message_ends_once(10): Exchange Funnel Pipe;
    async_drop_test_send_to_closed => closing::each_message_ends_once(2): Exchange Funnel Pipe;
    async_drop_test_in_signal => closing::under_waiting_senders(1, true): Exchange Funnel Pipe;
}
