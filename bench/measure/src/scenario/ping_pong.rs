//! One message bounced between two threads: the worst case, in which no message can share the cost of another.
//!
//! ```text
//!   first CPU      i ----------- there ----------> i      second CPU
//!                  i <---------- back ------------ i      (the next i leaves only when this one has come back)
//! ```
//!
//! A reader that never sleeps and shares its CPU has the message after a whole slice of the scheduler, milliseconds
//! later, and by chance at once. The number of messages in a run is unpredictable, so its runs end after their time.
//!
//! The figure is the time one way: half of the time of a bounce. The context switches of both threads are counted from
//! the gate to the end: a reader that slept for each message has one for each.

use std::time::Duration;

use super::bounces::Open;
use super::crowd::LEAST_TIME;
use super::{Quick, Scenario, bounces};
use crate::alarm::{Alarm, Until};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits::{self, Probe};
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::{Contender, Length, MOST};
use crate::scenario::Entry;
use crate::stage::{FromTheGate, Patience, Timed, boxed_duet, with_patience};
use crate::transport::{Message, Shape, Traits, Transport, Waits};
use crate::usage::Usage;

pub static SCENARIO: Scenario = Scenario {
    name: "ping-pong",
    about: "One message bounced between two threads: the time one way",
    parameters: &[],
    // The quick comparison has `latency` instead, with the median and the spread of single messages.
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    // With one CPU it is the other scenario.
    needs_two_cpus: true,
    able: |traits| traits.one_by_one,
    limit: |frame, _| frame.floor(),
    beside: &[&limits::ONE_LINE_FLOOR, &limits::FUTEX, &limits::EVENTFD, &limits::EPOLL],
    contender,
};

pub static ON_ONE_CPU: Scenario = Scenario {
    name: "one-cpu",
    about: "One message bounced between two threads that share a CPU: the time one way",
    in_quick: Quick::Whole,
    one_cpu: true,
    needs_two_cpus: false,
    able: able_beside_others,
    ..SCENARIO
};

pub fn contender(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let limit = own_limit(entry.traits.waits, place);
    let (frame, most) = if place.one_cpu() { beside_others(entry.traits.waits, frame) } else { (frame, None) };
    frame.transport(&entry.traits, limit, move |messages| bounce(entry, place, messages, most))
}

/// The transports that take part where other threads want the CPU. One that invents its messages needs their number.
pub(super) fn able_beside_others(traits: &Traits) -> bool {
    traits.one_by_one && !traits.invents
}

/// The same frame there, and the time limit of a run. Runs of transports that never sleep have no other end, unless the
/// user fixed the number of messages.
pub(super) fn beside_others(waits: Waits, frame: Frame) -> (Frame, Option<Duration>) {
    if waits.sleeps() {
        return (frame, None);
    }
    let (transports, wanted) = match frame.transports {
        Length::Units(_) => (frame.transports, LEAST_TIME),
        Length::Time(wanted) | Length::TimeAndUnits(wanted, _) => (Length::Units(MOST), wanted.max(LEAST_TIME)),
    };
    (Frame { transports, ..frame }, Some(wanted))
}

/// This number of messages, or as many as the time allows, and at least one there and back.
pub(crate) fn bounce(entry: &Entry, place: Place, messages: u64, most: Option<Duration>) -> Result<Outcome, Fault> {
    // One message each way makes two.
    let bounces = messages.div_ceil(2);
    let Some(most) = most else { return (entry.ping_pong)(place, bounces, None) };
    let alarm = Alarm::after(most)?;
    // The whole number of messages that there might have been.
    let patience = Patience { each: Duration::ZERO, ..Patience::USUAL };
    with_patience(patience, || (entry.ping_pong)(place, bounces, Some(alarm.until())))
}

/// Each competitor also has the baseline of its own kind: a bare futex for transports that sleep at once, eventfd with
/// epoll for those that sleep in poll. Where both threads share a CPU nothing can spin.
pub(super) fn own_limit(waits: Waits, place: Place) -> &'static Probe {
    match waits {
        _ if place.one_cpu() => &limits::FUTEX_ONE_CPU,
        Waits::Spins | Waits::Yields | Waits::LooksThenSleeps => &limits::TWO_LINE_FLOOR,
        // A task takes no part in it.
        Waits::Sleeps | Waits::Suspends => &limits::FUTEX,
        Waits::SleepsInPoll => &limits::EPOLL,
    }
}

/// Bounces `bounces` messages. The units of the result are messages, two for each bounce.
pub fn run<T: Transport, M: Message>(place: Place, bounces: u64) -> Result<Timed, Fault> {
    Ok(bounced(place, bounces, Until::default(), bounces::open::<T, M>)?.0)
}

/// The same with the context switches of both threads, and no longer than until `until`.
pub fn counted<T: Transport, M: Message>(place: Place, bounces: u64, until: Option<Until>) -> Result<Outcome, Fault> {
    with_switches(place, bounces, until.unwrap_or_default(), bounces::open::<T, M>)
}

fn with_switches(place: Place, bounces: u64, until: Until, open: Open) -> Result<Outcome, Fault> {
    let (timed, switches) = bounced(place, bounces, until, open)?;
    let mut outcome = Outcome::from(timed);
    outcome.metrics.extend(switches.map(|count| (Metric::Switches, count as f64 / timed.units.max(1) as f64)));
    Ok(outcome)
}

pub(super) fn bounced(place: Place, bounces: u64, until: Until, open: Open) -> Result<(Timed, Option<u64>), Fault> {
    let (asks, answers) = open(bounces as usize)?;
    let (ping, pong) = boxed_duet(
        place,
        bounces * 2,
        switches_of(Box::new(move || asks.counted(bounces as usize, until))),
        switches_of(Box::new(move || answers.plain())),
    )?;
    let (timed, (pong, answering)) = (ping.0?, pong);
    pong?;
    let switches = ping.1.zip(answering).map(|(asking, answering)| asking + answering);
    Ok((timed, switches))
}

/// The result of the work, and the context switches of its thread, where the system reports them.
fn switches_of<A: 'static>(work: FromTheGate<A>) -> FromTheGate<(A, Option<u64>)> {
    Box::new(move || {
        let usage = Usage::of_this_thread();
        (work(), usage.until_now().switches)
    })
}
