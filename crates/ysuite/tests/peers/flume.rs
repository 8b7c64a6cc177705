//! Suite: flume tests/basic.rs, tests/async.rs, tests/stream.rs; upstream 31, carried over here 28, excluded 0.
//!
//! flume's own tests; those it has from crossbeam-channel (`array.rs`, `list.rs`, `mpsc.rs` ..) are there. `basic_rendezvous` and
//! `basic_select` are in `flume_rendezvous.rs` and `flume_select.rs`.

use crate::common::{alone, crowds, endings, iterating, sinks, tasks, waiting};
use crate::ends::MEETING;

carried! {
    basic_send_recv => crowds::all_then_all(None, 1_000): Funnel Pipe;
    basic_iter => iterating::summed_up: Exchange Funnel Pipe;
    basic_try_iter => iterating::summed_up: Exchange Funnel Pipe;
    basic_iter_threaded => crowds::a_thread_for_each(None, 100, 1): Funnel;
    basic_recv_timeout => waiting::a_wait_that_ran_out_is_forgotten(None): Funnel Pipe;
    basic_recv_deadline => alone::too_late_is_early_enough_where_nothing_waits(None): Funnel Pipe;
    basic_disconnect_tx => endings::received_after_the_end(None): Funnel Pipe;
    basic_disconnect_rx => endings::sent_to_no_receiver(None): Funnel Pipe;
    basic_drain => iterating::drained_again_and_again: Exchange Funnel Pipe;
    basic_try_send => alone::one_too_many(5): Funnel Pipe;
    basic_send_bounded => crowds::a_thread_for_each(Some(5), 50, 200): Funnel;
    basic_hydra => crowds::out_to_many_and_back(16): Funnel;
    basic_robin => crowds::through_a_row(Some(100), 16): Funnel Pipe;
    basic_async => tasks::recv_waits(None): Funnel Pipe;
    basic_send_100_million_no_drop_or_reorder => crowds::a_stream(None, 200_000): Funnel Pipe;
    async_async_recv => tasks::blocked_and_awaited(None): Funnel Pipe;
    async_async_send => tasks::send_waits(1): Funnel Pipe;
    async_async_recv_disconnect => tasks::a_waiting_receiver_is_told(Some(MEETING)): Funnel Pipe;
    async_async_send_disconnect => tasks::a_waiting_sender_is_told(MEETING): Funnel Pipe;
    async_async_send_1_million_no_drop_or_reorder => tasks::a_stream(None, 50_000): Funnel Pipe;
    async_parallel_async_receivers => tasks::streams_and_receives_together(None): Exchange;
    stream_stream_recv => tasks::as_a_stream(None): Exchange Funnel Pipe;
    stream_stream_recv_disconnect => tasks::collected(Some(MEETING), 2): Exchange Funnel Pipe;
    stream_stream_recv_drop_recv => tasks::a_stream_that_is_dropped(Some(10)): Exchange;
    stream_stream_send_1_million_no_drop_or_reorder => tasks::several_streams(None, 4): Exchange Funnel;
    stream_parallel_streams_and_async_recv => tasks::streams_and_receives_together(Some(100)): Exchange;
    stream_stream_no_double_wake => tasks::woken_once(None): Exchange Funnel Pipe;
    stream_stream_forward_issue_55 => sinks::a_stream_into_a_sink(Some(100)): Funnel Pipe;
}
