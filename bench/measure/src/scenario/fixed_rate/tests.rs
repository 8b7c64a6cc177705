//! The timetable is kept whatever the transport does, and lateness is counted.

use super::*;
use crate::scenario::tests::{FAULTLESS, Faulty, MESSAGES, place, streams_are_checked};
use crate::transport::std_mpsc::Channel;
use crate::transport::{Closed, Traits};

/// Messages per second.
const RATE: f64 = 1e4;
const STALL: Duration = Duration::from_millis(20);

/// A channel whose sender stops once, at message 50.
struct Stalling;

struct StallingSender<M: Message>(<Channel as Transport>::Sender<M>);

impl Transport for Stalling {
    const TRAITS: Traits = Traits { name: "stalling", about: "A channel that stalls once", ..Traits::COMMON };
    type Sender<M: Message> = StallingSender<M>;
    type Receiver<M: Message> = <Channel as Transport>::Receiver<M>;

    fn open<M: Message>() -> io::Result<(StallingSender<M>, Self::Receiver<M>)> {
        let (sender, receiver) = Channel::open()?;
        Ok((StallingSender(sender), receiver))
    }
}

impl<M: Message> Sender<M> for StallingSender<M> {
    fn send(&mut self, message: M) -> Result<(), Closed> {
        if message.number() == 50 {
            thread::sleep(STALL);
        }
        Sender::send(&mut self.0, message)
    }
}

#[test]
fn a_stall_makes_all_messages_late_that_were_due_meanwhile() {
    for place in [place(), place().together()] {
        let outcome = timed::<Stalling, usize>(place, 500, RATE).unwrap();
        let latencies = &outcome.distributions[&Series::Latency];
        assert_eq!(latencies.count(), 500);
        // Due in the first 15 of the 20 ms: each of them waited for more than 5 ms, and none of that was ever a send.
        let late = latencies.beyond(5e6);
        assert!(late >= (RATE * 0.015) as u64, "{late}");
        assert!(outcome.metrics[&Metric::Maximum] >= 0.999 * STALL.as_nanos() as f64);
        let drawn = outcome.traces[&Series::Latency].points.iter().map(|point| point.1).fold(0.0, f64::max);
        assert!(drawn >= STALL.as_nanos() as f64, "the slowest is drawn: {drawn}");
    }
}

#[test]
fn the_distribution_holds_exactly_the_messages_of_the_run() {
    for place in [place(), place().together()] {
        for messages in [1, MESSAGES as u64] {
            let outcome = timed::<Faulty<FAULTLESS>, usize>(place, messages, RATE).unwrap();
            assert_eq!(outcome.distributions[&Series::Latency].count(), messages);
            assert_eq!(outcome.metrics[&Metric::RateWanted], RATE);
            assert_eq!(outcome.metrics.contains_key(&Metric::RateReached), messages > 1);
            for metric in [Metric::SenderCpu, Metric::ReceiverCpu] {
                assert!(outcome.metrics[&metric] > 0.0, "{metric:?}");
            }
        }
    }
}

#[test]
fn a_message_of_a_batch_waits_for_those_that_follow() {
    const BATCH: usize = 10;
    let all = in_batches::<Faulty<FAULTLESS>>(place(), MESSAGES as u64, RATE, BATCH).unwrap();
    let latencies = &all.distributions[&Series::Latency];
    assert_eq!(latencies.count(), MESSAGES as u64);
    // The first of each batch is due nine intervals before the last.
    let waited = (BATCH - 1) as f64 * 1e9 / RATE;
    assert!(latencies.beyond(waited * 0.999) >= (MESSAGES / BATCH) as u64);
    // The last batch may be a part of one.
    let uneven = in_batches::<Faulty<FAULTLESS>>(place(), MESSAGES as u64, RATE, 64).unwrap();
    assert_eq!(uneven.distributions[&Series::Latency].count(), MESSAGES as u64);
}

#[test]
fn no_message_leaves_before_it_is_due() {
    let outcome = timed::<Faulty<FAULTLESS>, usize>(place(), MESSAGES as u64, RATE).unwrap();
    assert!(outcome.distributions[&Series::Latency].least() > 0.0);
    let pace = Pace::of(RATE, place());
    let step = |number| pace.clock.nanoseconds(pace.due(0, number), pace.due(0, number + 1));
    for number in [0, 1_000_000] {
        assert!((step(number) / 1e5 - 1.0).abs() < 1e-4, "{}", step(number));
    }
}

#[test]
fn the_rate_reached_is_that_of_the_receipts() {
    let clock = clock::get();
    let stamps: Vec<u64> = (0..11).map(|n| clock.ticks(1e9 + f64::from(n) * 2e3)).collect();
    let rate = rate_of(clock, &stamps).unwrap();
    assert!((rate / 5e5 - 1.0).abs() < 1e-3, "{rate}");
    assert_eq!(rate_of(clock, &stamps[..1]), None);
    assert_eq!(rate_of(clock, &[]), None);
}

#[test]
fn whatever_a_transport_does_wrong_is_caught() {
    streams_are_checked!(timed, MESSAGES as u64, RATE);
}
