//! The three stamps of a message, and the transports that fail validation.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::scenario::tests::{FAULTLESS, Faulty, GOES_AWAY, MESSAGES, REPEATS, REPEATS_THE_LAST, place};

fn places() -> [Place; 2] {
    [place(), place().together()]
}

fn fault<const HOW: usize>(place: Place) -> Fault {
    run::<Faulty<HOW>, usize>(place, MESSAGES as u64).unwrap_err()
}

#[test]
fn every_distribution_holds_exactly_the_messages_of_the_run() {
    for place in places() {
        for messages in [1, MESSAGES] {
            let stamps =
                exchange(place, messages, bounces::open::<Faulty<FAULTLESS>, usize>(messages).unwrap()).unwrap();
            let (outcome, messages) = (outcome(&stamps, true), messages as u64);
            for series in [Series::RoundTrip, Series::Latency] {
                assert_eq!(outcome.distributions[&series].count(), messages, "{series:?}");
            }
            let shown: Vec<_> = outcome.traces.keys().collect();
            assert_eq!(shown, [&Series::Latency]);
            assert_eq!(outcome.traces[&Series::Latency].of, messages);
            assert_eq!(outcome.nanoseconds, outcome.metrics[&Metric::Median]);
        }
    }
}

#[test]
fn without_clocks_in_step_half_of_the_round_trip_ranks_and_it_is_said() {
    let ticks = |nanoseconds| 1_000_000 + clock::get().ticks(nanoseconds);
    // The clock of the other side is far behind.
    let stamps = Stamps { sent: vec![ticks(0.0); 5], received: vec![1; 5], answered: vec![ticks(8_000.0); 5] };
    let outcome = outcome(&stamps, false);
    assert!((outcome.nanoseconds / 4_000.0 - 1.0).abs() < 0.01, "{}", outcome.nanoseconds);
    assert_eq!(outcome.metrics[&Metric::Halved], 1.0);
    assert_eq!(outcome.distributions.keys().collect::<Vec<_>>(), [&Series::RoundTrip]);
    assert_eq!(outcome.traces.keys().collect::<Vec<_>>(), [&Series::RoundTrip]);
}

#[test]
fn times_one_way_are_not_taken_where_nothing_is_carried() {
    let outcome = run::<Empty, usize>(place(), MESSAGES as u64).unwrap();
    assert!(outcome.metrics.contains_key(&Metric::Halved) && outcome.nanoseconds > 0.0);
}

#[test]
fn every_reading_of_the_clock_is_a_stamp() {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed: each reading is a number of its own, whatever the order.
    let now = || READINGS.fetch_add(1, Ordering::Relaxed);
    let stamps = exchange(place(), MESSAGES, bounces::with_clock::<Empty, usize, _>(MESSAGES, now).unwrap()).unwrap();
    let mut all = [stamps.sent, stamps.received, stamps.answered].concat();
    all.sort_unstable();
    assert_eq!(all, (0..3 * MESSAGES as u64).collect::<Vec<_>>());
}

#[test]
fn the_stamps_of_a_message_are_taken_in_their_order() {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed: a later reading is later because of the message between the two, handed over by the channel.
    let now = || READINGS.fetch_add(1, Ordering::Relaxed);
    for place in places() {
        let stamps =
            exchange(place, MESSAGES, bounces::with_clock::<Faulty<FAULTLESS>, usize, _>(MESSAGES, now).unwrap())
                .unwrap();
        for at in 0..MESSAGES {
            let (sent, received, answered) = (stamps.sent[at], stamps.received[at], stamps.answered[at]);
            assert_eq!((received, answered), (sent + 1, sent + 2));
        }
    }
}

#[test]
fn the_overhead_is_that_of_transports_which_carry_nothing() {
    assert!(overhead(place()).unwrap() > 0.0);
}

#[test]
fn a_repetition_is_caught() {
    for place in places() {
        let fault = fault::<REPEATS>(place);
        assert!(matches!(fault, Fault::OutOfOrder { .. } | Fault::Lost { .. }), "{fault:?}");
    }
}

#[test]
fn a_message_too_many_is_caught() {
    for place in places() {
        let fault = fault::<REPEATS_THE_LAST>(place);
        assert!(matches!(fault, Fault::TooMany { received: 99 }), "{fault:?}");
    }
}

#[test]
fn a_sender_that_goes_away_is_caught() {
    for place in places() {
        let fault = fault::<GOES_AWAY>(place);
        assert!(matches!(fault, Fault::Disconnected { expected: 50 }), "{fault:?}");
    }
}
