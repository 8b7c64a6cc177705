//! Suite: async-channel tests/bounded.rs, tests/unbounded.rs; upstream 41, carried over here 33, excluded 1.
//!
//! Counts, `force_send` and weak handles are in `async_channel_more.rs`.

use crate::common::{alone, endings, tasks, waiting};

carried! {
    bounded_smoke => tasks::one_by_one(Some(1)): Exchange Funnel Pipe;
    bounded_smoke_blocking => tasks::blocked_and_awaited(Some(1)): Exchange Funnel Pipe;
    bounded_capacity => alone::the_bound_is_known(&[Some(1), Some(4), Some(9)]): Exchange Funnel Pipe;
    bounded_len_empty_full => alone::empty_and_full(Some(2)): Exchange Funnel Pipe;
    bounded_try_recv => waiting::try_recv_says_what_there_is(Some(100)): Exchange Funnel Pipe;
    bounded_recv => tasks::recv_waits(Some(100)): Exchange Funnel Pipe;
    bounded_try_send => waiting::try_send_says_why: Exchange Funnel Pipe;
    bounded_send => tasks::send_waits(1): Exchange Funnel Pipe;
    bounded_send_after_close => tasks::after_the_end(Some(100)): Exchange Funnel Pipe;
    bounded_recv_after_close => endings::received_after_the_end(Some(100)): Exchange Funnel Pipe;
    bounded_len => alone::the_length_follows(Some(1_000)): Exchange Funnel Pipe;
    bounded_close_wakes_sender => tasks::a_waiting_sender_is_told(1): Exchange Funnel Pipe;
    bounded_close_wakes_receiver => tasks::a_waiting_receiver_is_told(Some(1)): Exchange Funnel Pipe;
    bounded_forget_blocked_sender => tasks::a_neglected_sender(2): Exchange;
    bounded_forget_blocked_receiver => tasks::a_neglected_receiver(2): Exchange;
    bounded_spsc => tasks::a_stream(Some(3), 10_000): Exchange Funnel Pipe;
    bounded_mpmc => tasks::all_threads_at_once(Some(3), 4): Exchange Funnel;
    bounded_mpmc_stream => tasks::several_streams(Some(3), 4): Exchange Funnel;
    unbounded_smoke => tasks::one_by_one(None): Exchange Funnel Pipe;
    unbounded_smoke_blocking => tasks::blocked_and_awaited(None): Exchange Funnel Pipe;
    unbounded_capacity => alone::the_bound_is_known(&[None]): Exchange Funnel Pipe;
    unbounded_len_empty_full => alone::empty_and_full(None): Exchange Funnel Pipe;
    unbounded_try_recv => waiting::try_recv_says_what_there_is(None): Exchange Funnel Pipe;
    unbounded_recv => tasks::recv_waits(None): Exchange Funnel Pipe;
    unbounded_try_send => alone::never_full(1_000): Exchange Funnel Pipe;
    unbounded_send => alone::never_full(1_000): Exchange Funnel Pipe;
    unbounded_send_after_close => tasks::after_the_end(None): Exchange Funnel Pipe;
    unbounded_recv_after_close => endings::received_after_the_end(None): Exchange Funnel Pipe;
    unbounded_len => alone::the_length_follows(None): Exchange Funnel Pipe;
    unbounded_close_wakes_receiver => tasks::a_waiting_receiver_is_told(None): Exchange Funnel Pipe;
    unbounded_spsc => tasks::a_stream(None, 20_000): Exchange Funnel Pipe;
    unbounded_mpmc => tasks::all_threads_at_once(None, 4): Exchange Funnel;
    unbounded_mpmc_stream => tasks::several_streams(None, 4): Exchange Funnel;
}
