//! Validation of a transport before it is timed: for the tests of this package and of those with third-party
//! competitors.
//!
//! Each function runs the drivers that a transport can take part in with few messages, all of which are checked. It
//! returns a failure in words.

use std::time::Duration;

use super::Entry;
use crate::clock;
use crate::distribution::Distribution;
use crate::error::Fault;
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::scenario::crowd::{Crowd, Work};
use crate::scenario::{
    Scenario, burst, carried, crowd, fixed_rate, latency, overrun, ping_pong, process, size, throughput, traffic,
};
use crate::transport::{Ends, Shape, Waits};

type Checked = Result<(), String>;

/// The checks of every transport, one after the other.
pub fn all(entry: &Entry, place: Place) -> Checked {
    in_order(entry, place)?;
    large_messages(entry, place)?;
    on_one_cpu(entry, place.together())?;
    between_many(entry, place)
}

fn named<T>(entry: &Entry, what: &str, ran: Result<T, Fault>) -> Result<T, String> {
    ran.map_err(|fault| format!("{}, {what}: {fault}", entry.traits.name))
}

fn able(entry: &Entry, scenario: &Scenario) -> bool {
    (scenario.able)(&entry.traits)
}

/// Every message arrives, once and in order, from one to one.
pub fn in_order(entry: &Entry, place: Place) -> Checked {
    if entry.traits.waits == Waits::Suspends || entry.traits.between_processes {
        // Its loops are elsewhere, and their tests with them.
        return Ok(());
    }
    named(entry, "ping-pong", (entry.ping_pong)(place, 20, None))?;
    named(entry, "throughput", (entry.throughput)(place, 5_000))?;
    if able(entry, &throughput::IN_BATCHES) {
        named(entry, "batches", (entry.batches)(place, 5_001, 64))?;
    }
    if able(entry, &crowd::SCENARIO) {
        named(entry, "crowd", (entry.crowd)(place, Crowd::of(8), Work::Streams, 2_000))?;
    }
    if able(entry, &burst::SCENARIO) {
        named(entry, "burst", (entry.burst)(place, 1_000, 2_500))?;
    }
    let recorded = |what, ran: Result<Outcome, Fault>| {
        let outcome = named(entry, what, ran)?;
        match !outcome.distributions.is_empty() && outcome.nanoseconds.is_finite() {
            true => Ok(()),
            false => Err(format!("{}, {what}: nothing was recorded", entry.traits.name)),
        }
    };
    if able(entry, &latency::SCENARIO) {
        recorded("latency", (entry.latency)(place, 20))?;
        recorded("density", (entry.density)(place, 5_000))?;
    }
    // On other machines they refuse.
    let one_way = clock::one_way(place).is_ok();
    if one_way && able(entry, &crowd::BOUNCED) {
        let crowd = Crowd { threads_per_cpu: 4, kept: true };
        named(entry, "crowd-latency", (entry.crowd)(place, crowd, Work::Bounces, 40))?;
    }
    if one_way && able(entry, &overrun::SCENARIO) {
        recorded("overrun", (entry.overrun)(place, 5_000))?;
    }
    if one_way && able(entry, &fixed_rate::SCENARIO) {
        recorded("fixed-rate", (entry.fixed_rate)(place, 20, 1e5))?;
        if able(entry, &traffic::SCENARIOS[0]) {
            for shape in &traffic::SHAPES {
                recorded(shape.name, (entry.traffic)(place, 40, shape))?;
            }
        }
        recorded("night-watchman", (entry.night_watchman)(place, 2, 1e-3))?;
    }
    Ok(())
}

/// Messages of 64 KiB arrive as well, by value and by pointer.
pub fn large_messages(entry: &Entry, place: Place) -> Checked {
    if !able(entry, &size::SCENARIO) {
        return Ok(());
    }
    for parameter in carried::checked(65_536.0).map_err(|refused| refused.to_string())? {
        if !carried::fits(&entry.traits, Shape::ONE_TO_ONE, Some(parameter)) {
            continue;
        }
        // More than any buffer of the kernel holds.
        let timed = named(entry, "64 KiB", (entry.size)(place, parameter, 100))?;
        if timed.units != 100 {
            return Err(format!("{}, {parameter:?}: {} of 100 messages", entry.traits.name, timed.units));
        }
    }
    Ok(())
}

/// A transport that sleeps does all of it on one CPU, which `place` has for both threads, and every transport bounces a
/// message.
pub fn on_one_cpu(entry: &Entry, place: Place) -> Checked {
    if able(entry, &ping_pong::ON_ONE_CPU) {
        const SHORT: Duration = Duration::from_millis(10);
        named(entry, "ping-pong on one CPU", ping_pong::bounce(entry, place, 20, Some(SHORT)))?;
    }
    if !entry.traits.waits.sleeps() || !entry.traits.one_by_one {
        return Ok(());
    }
    named(entry, "crowd on one CPU", (entry.crowd)(place, Crowd::of(8), Work::Streams, 400))?;
    let parameter = carried::checked(4_096.0).map_err(|refused| refused.to_string())?[0];
    if carried::fits(&entry.traits, Shape::ONE_TO_ONE, Some(parameter)) {
        named(entry, "4 KiB on one CPU", (entry.size)(place, parameter, 100))?;
    }
    if able(entry, &burst::SCENARIO) {
        named(entry, "burst on one CPU", (entry.burst)(place, 100, 300))?;
    }
    Ok(())
}

/// Every message arrives between many threads, where the traits allow: once and in the order of each sender.
pub fn between_many(entry: &Entry, place: Place) -> Checked {
    let traits = &entry.traits;
    for shape in [Shape::ONE_TO_ONE, Shape::new(5, 1), Shape::square(3), Shape::new(1, 4)] {
        let Some(many) = entry.many.filter(|_| shape.fits(traits.senders, traits.receivers)) else { continue };
        let mut asked = vec![carried::SMALLEST];
        // Where one thread receives, only the smallest messages are used.
        if traits.receivers == Ends::Many {
            for bytes in [64.0, 4_096.0] {
                asked.extend(carried::checked(bytes).map_err(|refused| refused.to_string())?);
            }
        }
        asked.retain(|parameter| carried::fits(traits, shape, Some(*parameter)));
        for parameter in asked {
            let timed = named(entry, &format!("{shape} {parameter:?}"), many(place, shape, parameter, 601))?;
            let each = 601_u64.div_ceil(shape.senders as u64);
            if timed.units != each * shape.senders as u64 {
                return Err(format!("{}, {shape}: {} messages", traits.name, timed.units));
            }
        }
    }
    Ok(())
}

/// Every message arrives in another process, once and in order, at every size.
pub fn between_processes(entry: &Entry, place: Place) -> Checked {
    named(entry, "between processes, ping-pong", process::bounce(entry, place, 200))?;
    for &parameter in process::SIZE.parameters {
        if !carried::fits(&entry.traits, Shape::ONE_TO_ONE, Some(parameter)) {
            continue;
        }
        // Several times what any of them has room for, or more than any buffer of the kernel holds.
        let messages = if parameter.value < 4_096.0 { 20_000 } else { 100 };
        let what = format!("between processes, {parameter:?}");
        let timed = named(entry, &what, process::stream(entry, place, parameter, messages))?;
        if timed.units != messages || timed.elapsed.is_zero() {
            return Err(format!("{}, {what}: {timed:?}", entry.traits.name));
        }
    }
    if able(entry, &process::WAKE) {
        let outcome = named(entry, "between processes, wake", process::wake(entry, place, 20))?;
        let count = outcome.distributions.values().map(Distribution::count).sum::<u64>();
        if count != 20 {
            return Err(format!("{}: {count} of 20 messages were timed", entry.traits.name));
        }
    }
    Ok(())
}

/// A receiving process that sleeps leaves its CPU free between two messages, and one that spins uses it.
pub fn waits_between_processes(entry: &Entry, place: Place) -> Checked {
    const MESSAGES: u64 = 100;
    if place.one_cpu() {
        return Ok(());
    }
    let share = || -> Result<f64, String> {
        let outcome = named(entry, "between processes, wake", process::wake(entry, place, MESSAGES))?;
        Ok(outcome.metrics[&Metric::ReceiverCpu] / process::SILENCE.as_nanos() as f64)
    };
    // Other threads may use its CPU: one that spins gets a part of it only, and still more than one that sleeps uses.
    let right = |share: f64| if entry.traits.waits.sleeps() { share < 0.5 } else { share > 0.15 };
    for _ in 0..20 {
        if right(share()?) {
            return Ok(());
        }
    }
    Err(format!("{} does not wait as it says", entry.traits.name))
}
