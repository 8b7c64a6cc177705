//! A message that comes after a long silence, when the receiver is in no cache and the scheduler has other work.
//!
//! ```text
//!   first CPU      sleep ........ stamp, send ---> stamp ... sleep ........ stamp, send ---> stamp      second CPU
//! ```
//!
//! Both threads sleep, the sender as well: it does not keep the machine awake for the receiver. The time is one way,
//! from before the send.

use std::thread;
use std::time::Duration;

use super::stamped::{Now, between, in_step, keep_ranked, now, receive, room};
use super::timetable::{self, Timetable};
use super::{END, Quick, Scenario, handles};
use crate::clock;
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Outcome, Series};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::duet_from_the_gate;
use crate::transport::{Message, Sender, Shape, Transport};

const fn silence(value: f64) -> Parameter {
    Parameter { quantity: Quantity::Silence, value }
}

/// The silence of the comparison without a command.
pub const DEFAULT: Parameter = silence(1e-2);

pub static SCENARIO: Scenario = Scenario {
    name: "night-watchman",
    about: "One message after a long silence: the time one way, median",
    parameters: &[silence(1e-3), DEFAULT, silence(1e-1), silence(1.0)],
    in_quick: Quick::At(DEFAULT),
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: timetable::able,
    limit: |frame, _| timetable::limit(frame),
    beside: &[],
    contender,
};

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let silence = parameter.unwrap_or(DEFAULT).value;
    let frame = Frame { transports: timetable(silence).length(frame.transports), ..frame };
    let limit = timetable::own_limit(entry.traits.waits, place);
    frame.transport(&entry.traits, limit, move |messages| (entry.night_watchman)(place, messages, silence))
}

/// Few messages in a run: the rounds add up.
pub(super) fn timetable(silence: f64) -> Timetable {
    Timetable { interval: silence, least: if silence < 1.0 { 3 } else { 1 }, longest: 0.1 }
}

/// The distribution holds exactly `messages` times; `silence` is in seconds. A fault where clocks are not in step.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64, silence: f64) -> Result<Outcome, Fault> {
    in_step(place)?;
    timed::<T, M>(place, messages, silence)
}

fn timed<T: Transport, M: Message>(place: Place, messages: u64, silence: f64) -> Result<Outcome, Fault> {
    watched(place, messages, silence, handles::open::<T, M>)
}

fn watched<M: Message>(place: Place, messages: u64, silence: f64, open: handles::Open<M>) -> Result<Outcome, Fault> {
    let (sender, receiver) = open(messages as usize)?;
    let (sent, received) = (room(messages as usize)?, room(messages as usize)?);
    let now = now();
    let (sent, received) = duet_from_the_gate(
        place,
        timetable(silence).work(messages),
        move || wake_now_and_then(sender, now, sent, Duration::from_secs_f64(silence)),
        move || receive(receiver, now, received, &mut || ()),
    )?;
    Ok(outcome(&sent, &received?))
}

fn outcome(sent: &[u64], received: &[u64]) -> Outcome {
    let latencies = between(clock::get(), sent, received);
    let mut outcome = Outcome::default();
    keep_ranked(&mut outcome, Series::Latency, &latencies);
    outcome
}

#[inline(never)]
fn wake_now_and_then<M: Message>(
    sender: impl Sender<M>,
    now: impl Now,
    stamps: Vec<u64>,
    silence: Duration,
) -> Vec<u64> {
    let (mut sender, mut stamps) = (sender, stamps);
    for (number, stamp) in stamps.iter_mut().enumerate() {
        thread::sleep(silence);
        *stamp = now();
        // The receiver that has disconnected reports the reason.
        if sender.send(M::numbered(number)).is_err() {
            break;
        }
    }
    let _ = sender.send(M::numbered(END));
    stamps
}

#[cfg(test)]
mod tests;
