//! Suite: tokio tests/sync_mpsc.rs; upstream 107, carried over here 6, excluded 3.
//!
//! Batches of tasks, and their time limits.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use ysuite::mpsc;

use crate::common::task_batches;
use crate::common::tasks::poll;
use crate::support::executor::Task;

carried! {
    async_send_recv_many_with_buffer => task_batches::received_in_batches(Some(2)): Exchange Funnel Pipe;
    send_recv_many_unbounded => task_batches::memory_is_used_again(None): Exchange Funnel Pipe;
    send_recv_many_bounded_capacity => task_batches::no_more_than_asked_for(Some(100)): Exchange Funnel Pipe;
    send_recv_many_unbounded_capacity => task_batches::no_more_than_asked_for(None): Exchange Funnel Pipe;
    recv_timeout => task_batches::sent_with_a_limit(5): Exchange Funnel Pipe;
    recv_timeout_panic => a_limit_that_is_not_needed;
}

/// Outside a runtime tokio's own panics. Here no timer is made where there is room.
fn a_limit_that_is_not_needed() {
    let (mut tx, mut rx) = mpsc::bounded(5);
    let sent = poll(pin!(tx.send_timeout_async(10, Duration::from_secs(1))), &Task::default());
    assert_eq!((sent, rx.recv()), (Poll::Ready(Ok(())), Ok(10)));
}
