//! Suite: async-channel tests/bounded.rs, tests/unbounded.rs; upstream 41, carried over here 33, excluded 0.

use crate::common::{alone, endings, tasks, waiting, weak};

carried! {
    bounded_smoke => tasks::one_by_one(Some(1)): Funnel Pipe;
    bounded_smoke_blocking => tasks::blocked_and_awaited(Some(1)): Funnel Pipe;
    bounded_capacity => alone::the_bound_is_known(&[Some(1), Some(4), Some(9)]): Funnel Pipe;
    bounded_len_empty_full => alone::empty_and_full(Some(2)): Funnel Pipe;
    bounded_try_recv => waiting::try_recv_says_what_there_is(Some(100)): Funnel Pipe;
    bounded_recv => tasks::recv_waits(Some(100)): Funnel Pipe;
    bounded_try_send => waiting::try_send_says_why: Funnel Pipe;
    bounded_send => tasks::send_waits(1): Funnel Pipe;
    bounded_send_after_close => tasks::after_the_end(Some(100)): Funnel Pipe;
    bounded_recv_after_close => endings::received_after_the_end(Some(100)): Funnel Pipe;
    bounded_len => alone::the_length_follows(Some(1_000)): Funnel Pipe;
    bounded_close_wakes_sender => tasks::a_waiting_sender_is_told(1): Funnel Pipe;
    bounded_close_wakes_receiver => tasks::a_waiting_receiver_is_told(Some(1)): Funnel Pipe;
    bounded_spsc => tasks::a_stream(Some(3), 10_000): Funnel Pipe;
    bounded_mpmc => tasks::all_threads_at_once(Some(3), 4): Funnel;
    bounded_mpmc_stream => tasks::several_streams(Some(3), 4): Exchange Funnel;
    unbounded_smoke => tasks::one_by_one(None): Funnel Pipe;
    unbounded_smoke_blocking => tasks::blocked_and_awaited(None): Funnel Pipe;
    unbounded_capacity => alone::the_bound_is_known(&[None]): Funnel Pipe;
    unbounded_len_empty_full => alone::empty_and_full(None): Funnel Pipe;
    unbounded_try_recv => waiting::try_recv_says_what_there_is(None): Funnel Pipe;
    unbounded_recv => tasks::recv_waits(None): Funnel Pipe;
    unbounded_try_send => alone::never_full(1_000): Funnel Pipe;
    unbounded_send => alone::never_full(1_000): Funnel Pipe;
    unbounded_send_after_close => tasks::after_the_end(None): Funnel Pipe;
    unbounded_recv_after_close => endings::received_after_the_end(None): Funnel Pipe;
    unbounded_len => alone::the_length_follows(None): Funnel Pipe;
    unbounded_close_wakes_receiver => tasks::a_waiting_receiver_is_told(None): Funnel Pipe;
    unbounded_spsc => tasks::a_stream(None, 20_000): Funnel Pipe;
    unbounded_mpmc => tasks::all_threads_at_once(None, 4): Funnel;
    unbounded_mpmc_stream => tasks::several_streams(None, 4): Exchange Funnel;
    bounded_sender_count => weak::senders_are_counted(Some(5)): Funnel;
    unbounded_sender_count => weak::senders_are_counted(None): Funnel;
}
