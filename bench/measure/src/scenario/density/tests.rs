//! Stamped streams, and the evaluation of their stamps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::scenario::tests::{FAULTLESS, Faulty, MESSAGES, place, streams_are_checked};

#[test]
fn every_distribution_holds_exactly_the_messages_of_the_run() {
    for place in [place(), place().together()] {
        for messages in [1, MESSAGES as u64] {
            let outcome = run::<Faulty<FAULTLESS>, usize>(place, messages).unwrap();
            for series in [Series::SendDensity, Series::ReceiveDensity] {
                assert_eq!(outcome.distributions[&series].count(), messages, "{series:?}");
                assert_eq!(outcome.traces[&series].of, messages, "{series:?}");
            }
            assert!(outcome.metrics[&Metric::Distortion] > -1.0);
        }
    }
}

#[test]
fn every_reading_of_the_clock_is_a_stamp() {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed: each reading is a number of its own, whatever the order.
    let now = || READINGS.fetch_add(1, Ordering::Relaxed);
    let stream = stream(place(), MESSAGES, now, handles::open::<Faulty<FAULTLESS>, usize>).unwrap();
    let mut all = [stream.sent, stream.received].concat();
    all.sort_unstable();
    // One for each message on either side, and one before the first of each.
    assert_eq!(all, (0..2 * (MESSAGES as u64 + 1)).collect::<Vec<_>>());
}

#[test]
fn batches_are_counted_from_the_gaps_between_receipts() {
    let ticks = |nanoseconds: u32| clock::get().ticks(f64::from(nanoseconds));
    // Three gaps of 3 us, each followed by four quick receipts.
    let receipts = (0..15).map(|at| if at % 5 == 0 { 3_000 } else { 300 });
    let ends = receipts.scan(0, |end, receipt| {
        *end += receipt;
        Some(*end)
    });
    let received = [0].into_iter().chain(ends).map(ticks).collect();
    let timed = |nanoseconds| Timed { elapsed: Duration::from_nanos(nanoseconds), units: 15 };
    let stream = Stream { sent: vec![0; 16], received, timed: timed(15_000) };
    let outcome = outcome(&stream, timed(12_000), BATCH_GAP);
    assert_eq!(outcome.metrics[&Metric::Batches], 3.0);
    assert_eq!(outcome.metrics[&Metric::MeanBatch], 5.0);
    assert!((outcome.metrics[&Metric::Distortion] - 0.25).abs() < 1e-9);
    assert_eq!(outcome.nanoseconds, 1_000.0);
}

#[test]
fn a_batch_is_what_was_there_when_the_receiver_asked() {
    // Three are sent while the receiver sleeps, two more while it receives those, then one that it waits for.
    let sent = vec![0, 10, 20, 30, 40, 50, 90];
    let received = vec![0, 35, 36, 37, 60, 61, 95];
    let stream = Stream { sent, received, timed: Timed { elapsed: Duration::from_nanos(100), units: 6 } };
    // The first, the fourth, which came after 37, and the last were waited for.
    assert_eq!(stream.mean_ready(), 2.0);
    assert_eq!(stream.most_under_way(), 3);
}

#[test]
fn whatever_a_transport_does_wrong_is_caught() {
    streams_are_checked!(run, MESSAGES as u64);
}
