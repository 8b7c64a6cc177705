//! Suite: crossbeam-channel tests/list.rs; upstream 26, carried over here 24, excluded 0.
//!
//! The channel without a bound.

use crate::common::{alone, choosing, crowds, endings, iterating, waiting};

carried! {
    smoke => alone::one_by_one(None): Funnel Pipe;
    capacity => alone::the_bound_is_known(&[None]): Funnel Pipe;
    len_empty_full => alone::empty_and_full(None): Funnel Pipe;
    try_recv => waiting::try_recv_says_what_there_is(None): Funnel Pipe;
    recv => waiting::recv_waits(None): Funnel Pipe;
    recv_timeout => waiting::recv_timeout_says_why(None): Funnel Pipe;
    recv_timeout_nonempty_expired => alone::too_late_is_early_enough_where_nothing_waits(None): Funnel Pipe;
    try_send => alone::never_full(1_000): Funnel Pipe;
    send => alone::never_full(3_000): Funnel Pipe;
    send_timeout => alone::never_full(2_000): Funnel Pipe;
    send_after_disconnect => endings::sent_to_no_receiver(None): Funnel Pipe;
    recv_after_disconnect => endings::received_after_the_end(None): Funnel Pipe;
    len => alone::the_length_follows(None): Funnel Pipe;
    disconnect_wakes_receiver => endings::a_waiting_receiver_is_told(None): Funnel Pipe;
    spsc => crowds::a_stream(None, 50_000): Funnel Pipe;
    mpmc => crowds::all_threads_at_once(None, 4): Funnel;
    stress_oneshot => crowds::many_short_lives(None): Funnel Pipe;
    stress_iter => iterating::iterating_under_a_stream(None): Exchange Funnel Pipe;
    stress_timeout_two_threads => waiting::short_limits_on_both_sides(None): Funnel Pipe;
    drops => endings::each_is_dropped_once(None): Funnel Pipe;
    fairness => choosing::each_has_its_turn(&[None, None]): Exchange Funnel Pipe;
    fairness_duplicates => choosing::clones_have_their_turns(None, 5): Exchange;
    channel_through_channel => endings::channels_through_channels(None): Funnel Pipe;
    stack_overflow => large::larger_than_the_stack: Funnel Pipe;
}

/// Messages of which a thread's stack could not hold as many as the channel does: blocks are made where they stay.
mod large {
    use crate::ends::Kind;
    use crate::tools::both;

    pub(super) fn larger_than_the_stack(kind: Kind) {
        // 32 KiB each, 3.1 MiB in all. The sender has a stack of 3 MiB, because without optimisation each function on the way
        // into the channel has several copies.
        type Large = [u64; 4 << 10];
        const MESSAGES: usize = 100;
        let stream = move || {
            for bound in [None, Some(MESSAGES)] {
                let (mut tx, mut rx) = kind.open::<Large>(bound);
                let fill = || (0..MESSAGES).for_each(|_| tx.send([7; 4 << 10]).unwrap());
                let count = || assert_eq!(rx.iter().take(MESSAGES).filter(|message| message[9] == 7).count(), MESSAGES);
                both(count, fill);
            }
        };
        std::thread::Builder::new().stack_size(3 << 20).spawn(stream).unwrap().join().unwrap();
    }
}
