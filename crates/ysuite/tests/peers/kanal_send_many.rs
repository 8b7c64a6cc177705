//! Suite: kanal tests/sync_test.rs, tests/async_test.rs; upstream 91, carried over here 3, excluded 4.

use crate::common::task_batches;
use crate::ends::MEETING;

carried! {
    async_send_many_0 => task_batches::sent_as_a_batch(Some(MEETING)): Exchange Funnel Pipe;
    async_send_many_1 => task_batches::a_batch_that_is_given_up(1): Exchange Funnel Pipe;
    async_send_many_u => task_batches::sent_as_a_batch(None): Exchange Funnel Pipe;
}
