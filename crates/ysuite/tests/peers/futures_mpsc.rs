//! Suite: futures-channel tests/mpsc.rs, mpsc-close.rs, mpsc-size_hint.rs, channel.rs; upstream 36, carried over here 29, excluded 1.
//!
//! Senders as sinks, receivers as streams. Closing without a drop, and whether two handles belong together, is in
//! `futures_mpsc_close.rs`.

use crate::common::{alone, crowds, endings, sinks, tasks};
use crate::ends::Kind;
use crate::tools::both;

carried! {
    mpsc_send_recv => sinks::sent_one_by_one(Some(16), 1): Funnel Pipe;
    mpsc_send_recv_no_buffer => sinks::ready_and_not_ready: Funnel Pipe;
    mpsc_send_shared_recv => sinks::by_a_clone(Some(16)): Funnel;
    mpsc_send_recv_threads => sinks::sent_one_by_one(Some(16), 40): Funnel Pipe;
    mpsc_send_recv_threads_no_capacity => sinks::sent_one_by_one(Some(1), 40): Funnel Pipe;
    mpsc_tx_close_gets_none => tasks::after_the_end(Some(10)): Funnel Pipe;
    mpsc_stress_shared_unbounded => tasks::collected(None, 8): Funnel Pipe;
    mpsc_stress_shared_bounded_hard => tasks::collected(Some(1), 8): Funnel Pipe;
    mpsc_stress_receiver_multi_task_bounded_hard => sinks::a_receiver_behind_a_lock(Some(1)): Funnel Pipe;
    mpsc_stress_drop_sender => a_short_stream_many_times: Funnel Pipe;
    mpsc_stress_poll_ready => sinks::ready_means_room: Funnel Pipe;
    mpsc_try_send_1 => trying_until_it_works: Funnel Pipe;
    mpsc_try_send_2 => tasks::send_waits(1): Funnel Pipe;
    mpsc_try_send_fail => alone::one_too_many(1): Funnel Pipe;
    mpsc_try_send_recv => alone::filled_again_and_again(2): Funnel Pipe;
    mpsc_send_backpressure => sinks::woken_for_room(false): Funnel Pipe;
    mpsc_send_backpressure_multi_senders => sinks::woken_for_room(true): Funnel;
    mpsc_unbounded_len => alone::the_length_follows(None): Funnel Pipe;
    close_smoke => sinks::until_the_receiver_goes(Some(1)): Funnel Pipe;
    close_single_receiver_drop_closes_channel_and_drains => endings::unreceived_messages_are_dropped(Some(1)): Funnel Pipe;
    close_unbounded_try_next_after_none => alone::nothing_something_the_end(None): Funnel Pipe;
    close_bounded_try_next_after_none => alone::nothing_something_the_end(Some(17)): Funnel Pipe;
    size_hint_unbounded_size_hint => tasks::how_much_is_to_come(None): Exchange Funnel Pipe;
    size_hint_channel_size_hint => tasks::how_much_is_to_come(Some(10)): Exchange Funnel Pipe;
    channel_sequence => sinks::a_sequence(Some(1)): Funnel Pipe;
    channel_drop_sender => endings::never_used(Some(1), false): Funnel Pipe;
    channel_drop_rx => endings::sent_to_no_receiver(Some(1)): Funnel Pipe;
    channel_drop_order => endings::a_refused_message_is_its_senders(Some(1)): Funnel Pipe;
    close_stress_try_send_as_receiver_closes => endings::the_receiver_goes_at_any_moment(Some(10)): Funnel Pipe;
}

/// A sender of three messages that goes at once, over and over: all three come.
fn a_short_stream_many_times(kind: Kind) {
    for _ in 0..300 {
        crowds::a_stream(kind, Some(1), 3);
    }
}

/// One thread asks for room until there is some, message by message.
fn trying_until_it_works(kind: Kind) {
    const MESSAGES: usize = 1_000;
    let (mut tx, mut rx) = kind.open(Some(1));
    both(
        move || {
            for message in 0..MESSAGES {
                while tx.try_send(message).is_err() {
                    std::thread::yield_now();
                }
            }
        },
        || assert!(rx.iter().eq(0..MESSAGES)),
    );
}
