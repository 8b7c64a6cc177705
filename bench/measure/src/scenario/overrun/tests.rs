//! Latencies of a stream.

use super::*;
use crate::outcome::Metric;
use crate::scenario::tests::{FAULTLESS, Faulty, MESSAGES, place, streams_are_checked};

#[test]
fn the_distribution_holds_exactly_the_messages_of_the_run() {
    for place in [place(), place().together()] {
        for messages in [1, MESSAGES as u64] {
            let outcome = timed::<Faulty<FAULTLESS>, usize>(place, messages).unwrap();
            assert_eq!(outcome.distributions[&Series::Latency].count(), messages);
            assert_eq!(outcome.traces[&Series::Latency].of, messages);
            // A median within the clock's steps may be beyond the only time by a part of a step.
            assert!(outcome.metrics[&Metric::Maximum] + clock::get().resolution() >= outcome.nanoseconds);
            assert!((0.0..=messages as f64).contains(&outcome.metrics[&Metric::MostUnderWay]));
            assert!(outcome.metrics[&Metric::TotalOverCount] > 0.0);
        }
    }
}

#[test]
fn whatever_a_transport_does_wrong_is_caught() {
    streams_are_checked!(timed, MESSAGES as u64);
}

#[test]
fn a_latency_that_grows_evenly_is_finally_nearly_twice_that_of_the_middle() {
    let evenly: Vec<f64> = (0..1_000).map(f64::from).collect();
    assert!((1.8..2.0).contains(&growth(&evenly).unwrap()));
    assert_eq!(growth(&[7.0; 1_000]), Some(1.0));
    assert_eq!(growth(&[]), None);
}
