//! Few messages, each after a silence.

use std::time::Instant;

use super::*;
use crate::scenario::tests::{FAULTLESS, Faulty, MESSAGES, place, streams_are_checked};

#[test]
fn the_distribution_holds_exactly_the_messages_of_the_run_and_each_had_its_silence() {
    for place in [place(), place().together()] {
        for messages in [1, 3] {
            let start = Instant::now();
            let outcome = timed::<Faulty<FAULTLESS>, usize>(place, messages, 2e-3).unwrap();
            // A sleep may be longer than requested, never shorter.
            assert!(start.elapsed() >= Duration::from_millis(2) * messages as u32);
            assert_eq!(outcome.distributions[&Series::Latency].count(), messages);
            assert!(outcome.nanoseconds > 0.0);
        }
    }
}

#[test]
fn a_run_has_three_messages_unless_they_take_seconds() {
    assert_eq!((timetable(0.1).least, timetable(1.0).least), (3, 1));
}

#[test]
fn whatever_a_transport_does_wrong_is_caught() {
    streams_are_checked!(timed, MESSAGES as u64, 1e-5);
}
