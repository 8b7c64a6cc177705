//! A sender that pauses for a fixed time after each message, in step with its receiver or slower.
//!
//! ```text
//!   first CPU      send ... pause ... send ... pause ... send     never sooner; a delay is not made up for
//!   second CPU          stamp              stamp              stamp
//! ```
//!
//! The receiver's highest rate is measured by a stream just before, stamped like these messages. At half of that rate
//! nothing queues, and the measured throughput is the sender's own rate. At all of it the least jitter decides whether
//! messages queue.

use super::density::stream;
use super::fixed_rate::rate_of;
use super::stamped::{Now, between, in_step, keep_ranked, now, receive, room};
use super::timetable;
use super::{END, Quick, Scenario, handles, ping_pong};
use crate::clock;
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::duet;
use crate::transport::{Message, Sender, Shape, Transport};

const fn load(value: f64) -> Parameter {
    Parameter { quantity: Quantity::Load, value }
}

/// A sender that is twice as slow as its receiver can be.
pub const SLOWED: Parameter = load(0.5);
/// One that is as quick.
pub const MATCHED: Parameter = load(1.0);

pub static SCENARIO: Scenario = Scenario {
    name: "paced",
    about: "A sender that pauses after each message, at a share of the receiver's own rate: the time one way, median",
    parameters: &[SLOWED, MATCHED],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    // The sender polls the clock until its pause is over.
    needs_two_cpus: true,
    able: timetable::able,
    limit: |frame, _| frame.floor(),
    beside: &[],
    contender,
};

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, load) = (frame.place, parameter.unwrap_or(MATCHED).value);
    let limit = ping_pong::own_limit(entry.traits.waits, place);
    frame.transport(&entry.traits, limit, move |messages| (entry.paced)(place, messages, load))
}

/// The distribution holds exactly `messages` times. A fault where clocks are not in step.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64, load: f64) -> Result<Outcome, Fault> {
    in_step(place)?;
    timed::<T, M>(place, messages, load)
}

fn timed<T: Transport, M: Message>(place: Place, messages: u64, load: f64) -> Result<Outcome, Fault> {
    paced(place, messages, load, handles::open::<T, M>)
}

fn paced<M: Message>(place: Place, messages: u64, load: f64, open: handles::Open<M>) -> Result<Outcome, Fault> {
    let count = messages as usize;
    let free = stream(place, count, now(), open)?.timed.nanoseconds_per_unit();
    let (sender, receiver) = open(count)?;
    let (sent, received, now, pause) = (room(count)?, room(count)?, now(), clock::get().ticks(free / load));
    let (sent, received) = duet(
        place,
        messages,
        move |gate| {
            gate.pass();
            send_in_pace(sender, now, sent, pause)
        },
        move |gate| {
            gate.pass();
            receive(receiver, now, received, &mut || ())
        },
    )?;
    let received = received?;
    let mut outcome = Outcome::default();
    keep_ranked(&mut outcome, Series::Latency, &between(clock::get(), &sent, &received));
    // A delayed sender does not make up for it: the rate is the actual one.
    let rates = [(Metric::RateWanted, &sent), (Metric::RateReached, &received)];
    outcome
        .metrics
        .extend(rates.into_iter().filter_map(|(metric, stamps)| Some((metric, rate_of(clock::get(), stamps)?))));
    Ok(outcome)
}

/// The time at which each message was sent.
#[inline(never)]
fn send_in_pace<M: Message>(sender: impl Sender<M>, now: impl Now, stamps: Vec<u64>, pause: u64) -> Vec<u64> {
    let (mut sender, mut stamps) = (sender, stamps);
    let mut due = now();
    for (number, stamp) in stamps.iter_mut().enumerate() {
        *stamp = now();
        while *stamp < due {
            *stamp = now();
        }
        due = *stamp + pause;
        // The receiver that has disconnected reports the reason.
        if sender.send(M::numbered(number)).is_err() {
            break;
        }
    }
    let _ = sender.send(M::numbered(END));
    stamps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::{FAULTLESS, Faulty, MESSAGES, place, streams_are_checked};

    #[test]
    fn no_message_leaves_before_its_pause_is_over() {
        if place().one_cpu() {
            return;
        }
        let (sender, _receiver) = Faulty::<FAULTLESS>::open::<usize>().unwrap();
        let pause = clock::get().ticks(20_000.0);
        let sent = send_in_pace(sender, now(), vec![0; MESSAGES], pause);
        assert!(sent.windows(2).all(|pair| pair[1] - pair[0] >= pause));
    }

    #[test]
    fn every_message_is_timed_and_both_rates_are_reported() {
        if place().one_cpu() {
            return;
        }
        let outcome = timed::<Faulty<FAULTLESS>, usize>(place(), MESSAGES as u64, 0.5).unwrap();
        assert_eq!(outcome.distributions[&Series::Latency].count(), MESSAGES as u64);
        assert!(outcome.metrics[&Metric::RateWanted] > 0.0 && outcome.metrics[&Metric::RateReached] > 0.0);
    }

    #[test]
    fn whatever_a_transport_does_wrong_is_caught() {
        streams_are_checked!(timed, MESSAGES as u64, 1.0);
    }
}
