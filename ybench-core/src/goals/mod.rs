//! What the project's own targets are measured by, and what is wanted: for speed and size, each in rounds beside what it
//! is compared to.
//!
//! A target of speed is the median of the ratios formed inside the rounds; counts and sizes are taken several times
//! and given as their median. A miss is a result, not an error.

mod asynchronous;
mod first_of;
mod functions;
mod idle;
mod many;
mod memory;
mod news;
mod once;
mod pool;
mod posted;
mod streaming;
mod targets;
mod timers;

use self::targets::{BATCHES, BOUNCED, ONE_CPU, RATIOS, Ratio, STREAMS};
use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::limits;
use crate::place::Place;
use crate::plan;
use crate::record::{Contestant, Goal, Report};
use crate::registry;
use crate::rounds::{Contender, Plan};
use crate::scenario::Entry;
use crate::scenario::{ping_pong, throughput};
use crate::stage::Timed;
use crate::stats::Spread;
use crate::transport::{exchange, funnel, spsc};

/// The targets of speed, from the rounds of their sessions, and how steady those rounds were.
pub fn judged(report: &Report) -> Vec<Goal> {
    let mut goals: Vec<Goal> = ratios().map(|ratio| of_speed(ratio, report)).collect();
    let exchange = report.session(many::EXCHANGE);
    let spread = |(title, name): &(&str, &str)| {
        goal((*title).to_owned(), exchange.and_then(|session| many::spread(session, name)), many::SPREAD, false)
    };
    goals.extend(many::STEADY.iter().map(spread));
    goals
}

/// Every target of speed.
fn ratios() -> impl Iterator<Item = &'static Ratio> {
    let later = many::RATIOS
        .iter()
        .chain(&pool::RATIOS)
        .chain(&posted::RATIOS)
        .chain(&functions::RATIOS)
        .chain(&asynchronous::RATIOS)
        .chain(&once::RATIOS)
        .chain(&news::RATIOS)
        .chain(&first_of::RATIOS);
    RATIOS.iter().chain(later)
}

/// The transports of these names.
fn those<'a>(names: &'a [&'a str]) -> impl Iterator<Item = &'static Entry> + 'a {
    names.iter().filter_map(|name| registry::named(name))
}

/// So many messages at a place, in a way that is no transport.
type Run = fn(Place, u64) -> Result<Timed, Fault>;

/// Runs that are no transports, in rounds beside the handing over of a line.
fn beside_the_hand_over(session: &str, about: &str, runs: &[(&str, Run)], frame: Frame) -> Plan {
    let mut contenders: Vec<Contender> = runs.iter().map(|&(name, run)| contender(name, run, frame)).collect();
    contenders.push(frame.limit(&limits::HAND_OVER));
    plan::plan(session, about, None, frame, &limits::HAND_OVER, contenders)
}

/// One that is no transport.
fn contender(name: &str, run: Run, frame: Frame) -> Contender {
    let contestant = Contestant { name: name.to_owned(), ..Contestant::default() };
    let place = frame.place;
    Contender { contestant, length: frame.transports, run: Box::new(move |units| run(place, units).map(Into::into)) }
}

/// Everybody whom a target of speed names.
pub fn plans(frame: Frame) -> Vec<Plan> {
    let together = frame.together();
    let mut streams: Vec<Contender> = those(&STREAMS).map(|entry| throughput::contender(entry, None, frame)).collect();
    streams.push(frame.limit(&limits::HAND_OVER));
    for entry in those(&["spsc-batch"]) {
        streams.extend(BATCHES.map(|batch| {
            let mut contender = throughput::batches(entry, batch, frame);
            contender.contestant.name = targets::batch_name(batch);
            contender
        }));
    }
    let mut bounces: Vec<Contender> = those(&BOUNCED).map(|entry| ping_pong::contender(entry, None, frame)).collect();
    bounces.extend([frame.limit(&limits::FUTEX), frame.limit(&limits::EPOLL)]);
    let shared = those(&ONE_CPU).map(|entry| ping_pong::contender(entry, None, together)).collect();

    let plan = |scenario: &str, about: &str, frame, limit, contenders| {
        plan::plan(scenario, about, None, frame, limit, contenders)
    };
    let mut plans = vec![
        plan(targets::STREAMING, "Streams, one by one and in batches", frame, &limits::HAND_OVER, streams),
        plan(targets::BOUNCING, "One message bounced", frame, &limits::TWO_LINE_FLOOR, bounces),
        plan(targets::SHARING, "One message bounced on one CPU", together, &limits::FUTEX_ONE_CPU, shared),
    ];
    plans.extend(many::plans(frame));
    plans.push(pool::plan(frame));
    plans.extend(posted::plans(frame));
    plans.push(functions::plan(frame));
    plans.push(asynchronous::plan(frame));
    plans.push(once::plan(frame));
    plans.push(news::plan(frame));
    plans.push(first_of::plan(frame));
    plans
}

/// One target of speed, from the rounds of its session.
fn of_speed(ratio: &Ratio, report: &Report) -> Goal {
    let session = report.session(ratio.session);
    let measured = session.and_then(|session| ratio.measured(session));
    goal(ratio.name.to_owned(), measured, ratio.target, ratio.at_least)
}

fn goal(name: String, measured: Option<Spread>, target: f64, at_least: bool) -> Goal {
    let met = measured.map(|spread| if at_least { spread.median >= target } else { spread.median <= target });
    Goal { name, measured, target, at_least, met }
}

/// The targets that are not ratios of times. Measured before anything else is: what has been freed by others and kept by
/// the allocator would hide what is taken.
pub fn sizes_and_counts(place: Place, messages: Option<u64>, rounds: u32) -> Result<Vec<Goal>, Error> {
    let broken = |fault| Error::Broken { contender: "spsc".to_owned(), fault };
    let times = rounds.min(3);
    let queued = messages.unwrap_or(memory::MESSAGES);
    let (mut each, mut left, mut of_many, mut left_of_many) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..times {
        let taken = memory::queued_and_drained(memory::of_a_pipe, queued).map_err(broken)?;
        each.push(taken.bytes_per_message);
        left.push(taken.mebibytes_left);
        let taken = memory::queued_and_drained(memory::of_an_exchange, queued).map_err(broken)?;
        of_many.push(taken.bytes_per_message);
        left_of_many.push(taken.mebibytes_left);
    }
    let (mut calls, mut share) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let idle = idle::measured(place).map_err(broken)?;
        calls.push(idle.calls);
        share.push(idle.cpu_share * 100.0);
    }
    let mut goals = streams(place, messages, times)?;
    let (mut bytes, mut microseconds) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let idle = many::idle_sender();
        bytes.push(idle.bytes);
        microseconds.push(idle.microseconds);
    }
    goals.extend([
        most("bytes for each of 10,000,000 queued 8-byte messages", &each, 17.0),
        most("MiB still resident when they are drained", &left, 1.0),
        most("bytes for each of 10,000,000 queued in an exchange without a bound", &of_many, 10.0),
        most("MiB still resident when that is drained", &left_of_many, 1.0),
        most("system calls of an idle receiver in 200 ms", &calls, 0.0),
        most("CPU time of an idle receiver in 200 ms, percent", &share, 0.1),
        most("bytes of a sender of a funnel that sends nothing", &bytes, 512.0),
        most("us to make a sender of a funnel", &microseconds, 2.0),
    ]);
    goals.extend(hub(times)?);
    Ok(goals)
}

/// What a hub asks of the system, and what its timers cost.
fn hub(times: u32) -> Result<[Goal; 3], Error> {
    let broken = |fault| Error::Broken { contender: "hub".to_owned(), fault };
    let (mut calls, mut set, mut cancelled) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..times {
        calls.push(idle::of_a_hub().map_err(broken)?);
        let costs = timers::set_and_cancelled().map_err(broken)?;
        set.push(costs.set);
        cancelled.push(costs.cancelled);
    }
    Ok([
        most("system calls of an idle hub in 200 ms, beside the one in which it sleeps", &calls, 0.0),
        most("us to set one of 10,000 timers of a hub", &set, 1.0),
        most("us to cancel one of 10,000 timers of a hub", &cancelled, 1.0),
    ])
}

/// What streams ask of the system.
fn streams(place: Place, messages: Option<u64>, times: u32) -> Result<Vec<Goal>, Error> {
    type Counts = fn(Place, u64) -> Result<streaming::PerMillion, Fault>;
    let channels: [(&str, Counts); 3] = [
        ("spsc", streaming::counted::<spsc::Adaptive>),
        ("funnel", streaming::counted::<funnel::Adaptive>),
        ("exchange", streaming::counted::<exchange::Adaptive>),
    ];
    let messages = messages.unwrap_or(streaming::MESSAGES);
    let mut goals = Vec::new();
    for (name, counted) in channels {
        let (mut calls, mut allocations) = (Vec::new(), Vec::new());
        for _ in 0..times {
            let counts =
                counted(place, messages).map_err(|fault| Error::Broken { contender: name.to_owned(), fault })?;
            calls.push(counts.calls);
            allocations.push(counts.allocations);
        }
        goals.push(most(&format!("{name}: system calls per million messages while it streams"), &calls, 100.0));
        goals.push(most(&format!("{name}: allocations per million messages while it streams"), &allocations, 100.0));
    }
    Ok(goals)
}

fn most(name: &str, values: &[f64], target: f64) -> Goal {
    goal(name.to_owned(), Spread::of(values), target, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Length;

    /// Whether each run gets all of so many messages through, on two CPUs and on one.
    pub(super) fn assert_all_run(runs: &[(&str, Run)], messages: u64) {
        let place = Place::choose(None).unwrap();
        for place in [place, place.together()] {
            for (name, run) in runs {
                assert_eq!(run(place, messages).unwrap_or_else(|fault| panic!("{name} {fault}")).units, messages);
            }
        }
    }

    #[test]
    fn every_name_of_a_target_is_measured_in_its_session() {
        let place = Place { first: 0, second: 1 };
        let plans =
            plans(Frame { place, rounds: 1, transports: Length::Units(1), limits: Length::Units(1), named: false });
        for ratio in ratios() {
            let plan = plans.iter().find(|plan| plan.scenario == ratio.session).unwrap();
            let measured: Vec<&str> =
                plan.contenders.iter().chain([&plan.floor]).map(|one| one.contestant.name.as_str()).collect();
            for name in ratio.names() {
                assert!(measured.contains(&name), "{}: {name}", ratio.name);
            }
        }
    }

    #[test]
    fn a_goal_is_met_on_its_own_side_of_the_target() {
        let spread = Spread::of(&[1.0, 2.0, 3.0]);
        assert_eq!(goal("a".into(), spread, 2.0, true).met, Some(true));
        assert_eq!(goal("a".into(), spread, 2.1, true).met, Some(false));
        assert_eq!(goal("a".into(), spread, 2.0, false).met, Some(true));
        assert_eq!(goal("a".into(), spread, 1.9, false).met, Some(false));
        assert_eq!(goal("a".into(), None, 1.0, false).met, None);
    }
}
