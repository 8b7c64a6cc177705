//! A transport with all its drivers, compiled for it alone.

use super::crowd::{Crowd, Work};
use super::traffic::Traffic;
use super::{
    burst, crowd, density, fixed_rate, idle_senders, latency, many, night_watchman, overrun, paced, ping_pong, size,
    sources, throughput, traffic,
};
use crate::alarm::Until;
use crate::error::Fault;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::Parameter;
use crate::stage::Timed;
use crate::transport::tasks::TaskTransport;
use crate::transport::{Ends, Many, Shape, Traits, Transport, Waits};

/// A driver of many threads and of messages of any size.
type BetweenMany = fn(Place, Shape, Parameter, u64) -> Result<Timed, Fault>;

/// A driver of a number of threads and a number of messages.
type OverEnds = fn(Place, usize, u64) -> Result<Timed, Fault>;

/// A transport with its drivers, each compiled for it alone.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub traits: Traits,
    /// With a time limit, if there is one.
    pub ping_pong: fn(Place, u64, Option<Until>) -> Result<Outcome, Fault>,
    pub throughput: fn(Place, u64) -> Result<Timed, Fault>,
    /// The last number is the length of a batch.
    pub batches: fn(Place, u64, usize) -> Result<Timed, Fault>,
    pub latency: fn(Place, u64) -> Result<Outcome, Fault>,
    pub density: fn(Place, u64) -> Result<Outcome, Fault>,
    pub overrun: fn(Place, u64) -> Result<Outcome, Fault>,
    /// The last number is messages per second.
    pub fixed_rate: fn(Place, u64, f64) -> Result<Outcome, Fault>,
    pub traffic: fn(Place, u64, &'static Traffic) -> Result<Outcome, Fault>,
    /// At a fixed rate, with the length of a batch last.
    pub batches_on_time: fn(Place, u64, f64, usize) -> Result<Outcome, Fault>,
    /// The last number is a share of the receiver's own rate.
    pub paced: fn(Place, u64, f64) -> Result<Outcome, Fault>,
    /// The last number is seconds of silence.
    pub night_watchman: fn(Place, u64, f64) -> Result<Outcome, Fault>,
    pub size: fn(Place, Parameter, u64) -> Result<Timed, Fault>,
    /// The first number is the backlog.
    pub burst: fn(Place, u64, u64) -> Result<Outcome, Fault>,
    /// Bytes that each of a number of messages holds while all are in the queue.
    pub held: fn(u64) -> Result<f64, Fault>,
    pub crowd: fn(Place, Crowd, Work, u64) -> Result<Outcome, Fault>,
    /// From many threads to many, where a side can have several.
    pub many: Option<BetweenMany>,
    /// From one thread among a number of idle senders, where there can be several.
    pub idle_senders: Option<OverEnds>,
    /// From one thread through a number of handles, one message at a time and all of them busy, where there can be
    /// several.
    pub sources: Option<OverEnds>,
    pub busy_sources: Option<OverEnds>,
}

/// The drivers of scenarios that a transport can take part in by its traits. A driver that cannot be used is not
/// compiled, and a refusal takes its place.
///
/// The drivers are compiled where this is called: a package of third-party competitors has to be optimised, and so do
/// its dependencies.
pub const fn entry<T: Transport>() -> Entry {
    let alone = T::TRAITS.one_by_one;
    let without_a_bound = alone && !T::TRAITS.bounded && !T::TRAITS.invents;
    let on_time = alone && !T::TRAITS.invents;
    let crowded = alone && (!matches!(T::TRAITS.waits, Waits::Spins) || !T::TRAITS.bounded);
    let none = without_drivers(T::TRAITS);
    Entry {
        ping_pong: ping_pong::counted::<T, usize>,
        throughput: throughput::one_by_one::<T, usize>,
        batches: if T::TRAITS.batches { throughput::in_batches::<T> } else { none.batches },
        latency: if alone { latency::run::<T, usize> } else { none.latency },
        density: if alone { density::run::<T, usize> } else { none.density },
        overrun: if on_time { overrun::run::<T, usize> } else { none.overrun },
        fixed_rate: if on_time { fixed_rate::run::<T, usize> } else { none.fixed_rate },
        traffic: if on_time && !T::TRAITS.few_sizes { traffic::run::<T> } else { none.traffic },
        batches_on_time: match on_time && T::TRAITS.batches {
            true => fixed_rate::in_batches::<T>,
            false => none.batches_on_time,
        },
        paced: if on_time { paced::run::<T, usize> } else { none.paced },
        night_watchman: if on_time { night_watchman::run::<T, usize> } else { none.night_watchman },
        size: match (alone, T::TRAITS.few_sizes) {
            (false, _) => none.size,
            (true, true) => size::run_few::<T>,
            (true, false) => size::run::<T>,
        },
        burst: if without_a_bound { burst::run::<T> } else { none.burst },
        held: if without_a_bound { burst::held::<T> } else { none.held },
        crowd: if crowded { crowd::run::<T> } else { none.crowd },
        ..none
    }
}

/// Only a mistake in a scenario's own choice gets here: a transport without a driver is not able.
fn no_driver<A>() -> Result<A, Fault> {
    Err(Fault::System(std::io::Error::other("this transport takes no part in that")))
}

/// As [`entry`], for a transport that several threads can send by, or receive from.
pub const fn shared<T: Many>() -> Entry {
    // Where one thread receives, only the smallest messages are used.
    let of_any_size = matches!(T::TRAITS.receivers, Ends::Many);
    Entry {
        many: Some(match (of_any_size, T::TRAITS.few_sizes) {
            (false, _) => many::run_smallest::<T>,
            (true, true) => many::run_few::<T>,
            (true, false) => many::run::<T>,
        }),
        idle_senders: Some(idle_senders::run::<T>),
        sources: Some(sources::one_at_a_time::<T>),
        busy_sources: Some(sources::all_busy::<T>),
        ..entry::<T>()
    }
}

/// As [`entry`], for a transport whose handles are in tasks. It takes part in the cases of tasks only; their loops are
/// made where they are used.
pub const fn of_tasks<T: TaskTransport>() -> Entry {
    without_drivers(T::TRAITS)
}

/// Refuses everything.
const fn without_drivers(traits: Traits) -> Entry {
    Entry {
        traits,
        ping_pong: |_, _, _| no_driver(),
        throughput: |_, _| no_driver(),
        batches: |_, _, _| no_driver(),
        latency: |_, _| no_driver(),
        density: |_, _| no_driver(),
        overrun: |_, _| no_driver(),
        fixed_rate: |_, _, _| no_driver(),
        traffic: |_, _, _| no_driver(),
        batches_on_time: |_, _, _, _| no_driver(),
        paced: |_, _, _| no_driver(),
        night_watchman: |_, _, _| no_driver(),
        size: |_, _, _| no_driver(),
        burst: |_, _, _| no_driver(),
        held: |_| no_driver(),
        crowd: |_, _, _, _| no_driver(),
        many: None,
        idle_senders: None,
        sources: None,
        busy_sources: None,
    }
}
