//! Messages from one process to another: bounced, in a stream, of several sizes, and after a silence.
//!
//! ```text
//!   ybench   conduct     makes the channels, starts both processes, waits for their reports or for their death
//!              |  \
//!   ybench process-side     ybench process-side        the same program, each pinned to its CPU
//!            send  ----------> receive                 the loops of `throughput`, `bounces` and `stamped`
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `conduct` | the process that measures |
//! | `side` | a process that sends or receives |
//! | `loops` | its loops, compiled for each transport and size |
//! | `letters` | what these processes tell each other, beside the messages that are measured |
//!
//! Both sides are processes of their own: one that hangs or dies can be ended, with a message that names it, and no thread
//! of the process that measures waits for it. In the same rounds, a stream has two channels between threads beside it.

mod conduct;
mod letters;
mod loops;
pub mod side;

use std::time::Duration;

use self::conduct::{Run, conducted};
pub use self::loops::{BYTES, Drivers, between_processes};
use super::{Quick, Scenario, carried, ping_pong};
use crate::error::{Error, Fault};
use crate::limits;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::scenario::{Entry, stamped};
use crate::stage::Timed;
use crate::transport::Shape;

/// The hidden command by which the program becomes a side. It says nothing to those who call it by hand.
pub const COMMAND: &str = "process-side";

pub static PING_PONG: Scenario = Scenario {
    name: "process-ping-pong",
    about: "One message bounced between two processes: the time one way",
    parameters: &[],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: true,
    able: |traits| traits.between_processes,
    limit: |frame, _| frame.floor(),
    beside: &[&limits::ONE_LINE_FLOOR, &limits::FUTEX, &limits::EVENTFD],
    contender: |entry, _, frame| {
        let place = frame.place;
        let limit = ping_pong::own_limit(entry.traits.waits, place);
        frame.transport(&entry.traits, limit, move |messages| bounce(entry, place, messages))
    },
};

pub static ON_ONE_CPU: Scenario = Scenario {
    name: "process-one-cpu",
    about: "One message bounced between two processes that share a CPU: the time one way",
    one_cpu: true,
    needs_two_cpus: false,
    able: |traits| traits.between_processes && traits.waits.sleeps(),
    ..PING_PONG
};

/// Between threads, in the same rounds as the streams between processes.
const BETWEEN_THREADS: [&str; 2] = ["spsc", "spsc-bounded"];

pub static STREAM: Scenario = Scenario {
    name: "process-stream",
    about: "Messages of 8 bytes to another process, as fast as it takes them; and to another thread",
    needs_two_cpus: false,
    able: |traits| traits.between_processes || BETWEEN_THREADS.contains(&traits.name),
    limit: |frame, _| frame.stream_limit(),
    beside: &[&limits::HAND_OVER],
    contender: |entry, _, frame| {
        if !entry.traits.between_processes {
            return super::throughput::contender(entry, None, frame);
        }
        let place = frame.place;
        let run = move |messages| stream(entry, place, carried::SMALLEST, messages);
        frame.transport(&entry.traits, frame.stream_limit(), run)
    },
    ..PING_PONG
};

pub static SIZE: Scenario = Scenario {
    name: "process-size",
    about: "Messages of 8 bytes to 64 KiB to another process, as fast as it takes them",
    parameters: &SIZES,
    able: |traits| traits.between_processes,
    limit: carried::limit,
    beside: &[],
    contender: |entry, size, frame| {
        let (place, size) = (frame.place, size.unwrap_or(carried::SMALLEST));
        let run = move |messages| stream(entry, place, size, messages);
        frame.transport(&entry.traits, carried::limit(&frame, Some(size)), run)
    },
    ..STREAM
};

pub static WAKE: Scenario = Scenario {
    name: "process-wake",
    about: "A message to a process that has slept for a millisecond: the time until it has the message, median",
    able: |traits| traits.between_processes && traits.waits.sleeps(),
    limit: |frame, _| if frame.place.one_cpu() { frame.floor() } else { &limits::IDLE_WAKE },
    beside: &[&limits::IDLE_WAKE],
    contender: |entry, _, frame| {
        let place = frame.place;
        let limit = if place.one_cpu() { &limits::FUTEX_ONE_CPU } else { &limits::IDLE_WAKE };
        frame.transport(&entry.traits, limit, move |messages| wake(entry, place, messages))
    },
    ..STREAM
};

/// Long enough for a receiver that spins to be asleep.
pub(super) const SILENCE: Duration = Duration::from_millis(1);

const SIZES: [Parameter; BYTES.len()] = {
    let mut sizes = [carried::SMALLEST; BYTES.len()];
    let mut at = 0;
    while at < sizes.len() {
        sizes[at] = Parameter { quantity: Quantity::BytesByValue, value: BYTES[at] as f64 };
        at += 1;
    }
    sizes
};

/// The place of a size in [`BYTES`].
fn size(parameter: Parameter) -> Option<usize> {
    BYTES.iter().position(|bytes| *bytes as f64 == parameter.value)
}

/// The session of one size.
///
/// # Errors
///
/// Refuses every number of bytes without loops.
pub fn checked(bytes: f64) -> Result<Parameter, Error> {
    let offered = SIZES.iter().find(|size| size.value == bytes).copied();
    let sentence = "A message between processes can have 8, 64, 256, 4096 or 65536 bytes, not";
    offered.ok_or_else(|| Error::Refused(format!("{sentence} {bytes}.")))
}

/// Half of the messages there, half of them back.
pub fn bounce(entry: &Entry, place: Place, messages: u64) -> Result<Outcome, Fault> {
    let bounces = messages.div_ceil(2);
    let [asked, answered] = conducted(entry, &Run::bounces(place, bounces))?;
    let timed = Timed { elapsed: asked.between()?, units: bounces * 2 };
    let mut outcome = Outcome::from(timed);
    let switches = asked.switches.zip(answered.switches).map(|(one, other)| one + other);
    outcome.metrics.extend(switches.map(|count| (Metric::Switches, count as f64 / timed.units as f64)));
    Ok(outcome)
}

/// From the first send to the last receipt.
pub fn stream(entry: &Entry, place: Place, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    let size =
        size(parameter).ok_or_else(|| Fault::System(std::io::Error::other("there are no messages of that size")))?;
    let [sent, received] = conducted(entry, &Run::stream(place, size, messages))?;
    Ok(Timed { elapsed: received.since(&sent)?, units: messages })
}

/// Each message after a silence. Both processes take their times from the one clock of the system.
pub fn wake(entry: &Entry, place: Place, messages: u64) -> Result<Outcome, Fault> {
    let [sent, received] = conducted(entry, &Run::wakes(place, messages, SILENCE))?;
    let times = received.each_since(&sent, messages as usize)?;
    let mut outcome = Outcome::default();
    stamped::keep_ranked(&mut outcome, Series::Latency, &times);
    let per_message = |cpu: Duration| cpu.as_nanos() as f64 / messages.max(1) as f64;
    outcome.metrics.insert(Metric::SenderCpu, per_message(sent.cpu));
    outcome.metrics.insert(Metric::ReceiverCpu, per_message(received.cpu));
    Ok(outcome)
}

/// The scenarios.
pub static ALL: [&Scenario; 5] = [&PING_PONG, &ON_ONE_CPU, &STREAM, &SIZE, &WAKE];
