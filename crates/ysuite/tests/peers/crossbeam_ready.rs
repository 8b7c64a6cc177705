//! Suite: crossbeam-channel tests/ready.rs; upstream 24, carried over here 14, excluded 0.
//!
//! Which of several can go on, without taking anything. Those that send are in `crossbeam_ready_sends.rs`.

use crate::common::choosing;
use crate::ends::MEETING;

carried! {
    smoke1 => choosing::the_one_with_a_message(None, 2): Exchange Funnel Pipe;
    smoke2 => choosing::the_one_with_a_message(None, 5): Exchange Funnel Pipe;
    disconnected => choosing::one_whose_sender_is_gone(None): Exchange Funnel Pipe;
    default => choosing::without_waiting(None): Exchange Funnel Pipe;
    timeout => choosing::the_time_runs_out(None): Exchange Funnel Pipe;
    default_only => choosing::of_nothing: Exchange;
    cloning1 => choosing::a_clone_that_goes(None, true): Exchange Funnel;
    cloning2 => choosing::a_clone_that_goes(None, false): Exchange Funnel;
    preflight1 => choosing::there_before(Some(3)): Exchange Funnel Pipe;
    preflight2 => choosing::there_before(Some(1)): Exchange Funnel Pipe;
    preflight3 => choosing::there_before(None): Exchange Funnel Pipe;
    stress_recv => choosing::here_and_there(Some(5)): Exchange Funnel Pipe;
    stress_timeout_two_threads => choosing::short_limits(Some(2)): Exchange Funnel Pipe;
    unblocks => choosing::woken_by_a_message(Some(MEETING)): Exchange Funnel Pipe;
}
