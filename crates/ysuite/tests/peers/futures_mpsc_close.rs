//! Suite: futures-channel tests/mpsc.rs, mpsc-close.rs, mpsc-size_hint.rs, channel.rs; upstream 36, carried over here 6, excluded 1.
//!
//! Closing without a drop, and which handles belong together.

use crate::common::{closing, identity};

carried! {
    mpsc_recv_close_gets_none => closing::while_empty(Some(10)): Exchange Funnel Pipe;
    mpsc_stress_close_receiver => closing::in_the_middle_of_a_stream(None): Exchange Funnel Pipe;
    mpsc_same_receiver => identity::kin_know_each_other(Some(1), Some(1)): Exchange Funnel;
    mpsc_hash_receiver => identity::kin_know_each_other(None, Some(1)): Exchange Funnel;
    close_multiple_senders_disconnect => closing::by_a_sender(Some(1)): Funnel Pipe;
    close_multiple_senders_close_channel => closing::by_a_sender(None): Exchange;
}
