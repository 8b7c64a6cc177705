//! Each transport as a competitor of a case: the scenarios' own ways of running, with the offered drivers.

use std::cell::OnceCell;
use std::time::Duration;

use super::super::crowd::Crowd;
use super::super::{burst as bursts, carried, crowd as crowds, fixed_rate as rates, many, night_watchman as watches};
use super::super::{ping_pong as bounces, throughput, timetable};
use super::asked;
use super::drivers::{self, Loops};
use super::tasks as task;
use crate::frame::Frame;
use crate::limits;
use crate::memory;
use crate::outcome::Metric;
use crate::record::Parameter;
use crate::rounds::{Contender, Length};
use crate::scenario::Entry;
use crate::transport::Shape;

/// Messages a second.
pub(super) const RATE: f64 = 1e4;

/// This number makes a p99.9 that is not the slowest of all.
const ON_TIME_AT_LEAST: u64 = 2_000;

/// Seconds.
const SILENCE: f64 = 1e-2;

/// The hypervisor's share of time is in one or two of them, and not in the median of this number.
const SILENCES_AT_LEAST: u64 = 10;

const BACKLOG: u64 = bursts::ENOUGH_FOR_MEMORY;

/// Threads of the crowd, all together.
const CROWD: usize = 16;

fn loops(entry: &Entry, parameter: Option<Parameter>) -> Loops {
    let Some(drivers) = drivers::of(entry.traits.name) else {
        unreachable!("{} was chosen without drivers", entry.traits.name)
    };
    drivers.at(parameter)
}

fn bytes(parameter: Option<Parameter>) -> Parameter {
    parameter.unwrap_or(carried::SMALLEST)
}

/// Unless the user gave a fixed number of messages.
fn no_fewer_than(least: u64, wanted: Length) -> Length {
    match wanted {
        Length::Units(messages) => Length::Units(messages),
        other => other.at_least(Duration::ZERO, least),
    }
}

pub(super) fn stream(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, open) = (frame.place, loops(entry, parameter).stream);
    frame.transport(&entry.traits, carried::limit(&frame, parameter), move |messages| {
        let stream = &mut |messages| throughput::timed(place, messages, open(messages as usize)?);
        carried::in_streams(bytes(parameter), messages, stream)
    })
}

pub(super) fn batches<const LENGTH: usize>(
    entry: &'static Entry,
    parameter: Option<Parameter>,
    frame: Frame,
) -> Contender {
    let (place, open) = (frame.place, loops(entry, parameter).batches);
    let mut contender = frame.transport(&entry.traits, carried::limit(&frame, parameter), move |messages| {
        let stream = &mut |messages| throughput::timed(place, messages, open(messages as usize, LENGTH)?);
        carried::in_streams(bytes(parameter), messages, stream)
    });
    contender.contestant.batch = Some(LENGTH);
    contender
}

pub(super) fn between<const SENDERS: usize, const RECEIVERS: usize>(
    entry: &'static Entry,
    parameter: Option<Parameter>,
    frame: Frame,
) -> Contender {
    let shape = Shape::new(SENDERS, RECEIVERS);
    let Some(open) = loops(entry, parameter).ends else { unreachable!("{} was chosen for {shape}", entry.traits.name) };
    let place = frame.place;
    let mut contender = frame.transport(&entry.traits, carried::limit(&frame, parameter), move |messages| {
        let stream = &mut |messages| many::play(place, shape, open(shape)?, messages);
        carried::in_streams(bytes(parameter), messages, stream)
    });
    contender.contestant.cpus = many::beyond_the_place(place, shape);
    if shape.threads() > place.shared_by(shape.threads()).len() {
        // In less than some slices of the scheduler the threads would run one after the other.
        contender.length = contender.length.at_least(crowds::LEAST_TIME, 0);
    }
    contender
}

pub(super) fn tasks<const SENDERS: usize, const WORKERS: usize>(
    entry: &'static Entry,
    parameter: Option<Parameter>,
    frame: Frame,
) -> Contender {
    let name = entry.traits.name;
    let Some(open) = loops(entry, parameter).tasks else { unreachable!("{name} was chosen for tasks") };
    let place = frame.place;
    frame.transport(&entry.traits, task::limit(&frame, parameter, WORKERS), move |messages| {
        let stream = &mut |messages| task::play(place, WORKERS, SENDERS, messages, open);
        carried::in_streams(bytes(parameter), messages, stream)
    })
}

pub(super) fn ping_pong(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, run) = (frame.place, loops(entry, parameter).ping_pong);
    let limit = bounces::own_limit(entry.traits.waits, place);
    // One message each way makes two.
    frame.transport(&entry.traits, limit, move |messages: u64| run(place, messages.div_ceil(2)))
}

pub(super) fn crowd(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, open) = (frame.place, loops(entry, parameter).stream);
    let crowd = Crowd::of(CROWD / place.cpus().len());
    let contender = frame.transport(&entry.traits, &limits::EVERY_CPU, move |messages| {
        let stream = &mut |messages| crowds::stream(place, crowd, messages, open);
        carried::in_streams(bytes(parameter), messages, stream)
    });
    crowds::lasting(contender, crowds::LEAST_UNITS)
}

pub(super) fn crowd_ping_pong(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, open) = (frame.place, loops(entry, parameter).bounces);
    let crowd = Crowd::of(CROWD / place.cpus().len());
    let run = move |bounces| crowds::bounce(place, crowd, bounces, open);
    crowds::lasting(frame.transport(&entry.traits, &limits::FUTEX_ONE_CPU, run), crowds::LEAST_BOUNCES)
}

pub(super) fn night_watchman(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, run) = (frame.place, loops(entry, parameter).night_watchman);
    let wanted = no_fewer_than(SILENCES_AT_LEAST, frame.transports);
    let frame = Frame { transports: watches::timetable(SILENCE).length(wanted), ..frame };
    frame.transport(&entry.traits, timetable::own_limit(entry.traits.waits, place), move |messages| {
        run(place, messages, SILENCE)
    })
}

pub(super) fn fixed_rate(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, run) = (frame.place, loops(entry, parameter).fixed_rate);
    let wanted = no_fewer_than(ON_TIME_AT_LEAST, frame.transports);
    let frame = Frame { transports: rates::timetable(RATE).length(wanted), ..frame };
    frame.transport(&entry.traits, timetable::own_limit(entry.traits.waits, place), move |messages| {
        run(place, messages, RATE)
    })
}

pub(super) fn burst(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, run, name) = (frame.place, loops(entry, parameter).burst, entry.traits.name);
    let taken = OnceCell::new();
    let mut contender = frame.transport(&entry.traits, &limits::ONE_THREAD, move |messages| {
        let mut outcome = run(place, BACKLOG, messages)?;
        let ask = || memory::taken_in_a_fresh_process(name, bytes(parameter).value as u64, BACKLOG);
        if let Some((held, left)) = *taken.get_or_init(ask) {
            outcome.metrics.extend([(Metric::BytesHeld, held), (Metric::BytesLeft, left)]);
        }
        Ok(outcome)
    });
    // A request for fewer messages than a burst has still runs one burst: a smaller one would not be this burst.
    contender.length = contender.length.at_least(Duration::ZERO, BACKLOG);
    contender
}

pub(super) fn asked(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let (place, open) = (frame.place, loops(entry, parameter).stream);
    frame.transport(&entry.traits, carried::limit(&frame, parameter), move |messages| {
        asked::of_a_stream(place, messages.min(carried::most(bytes(parameter))), open)
    })
}
