//! Every transport there is, by name: the only place that knows them all. Adding one means adding a line here.
//!
//! Transports of other packages are guests: a program that has some welcomes their entries before anything else. From
//! then on they are like those from here, behind which they stand.

use std::sync::OnceLock;

use super::kernel::{packets, pipe, posix_mq, sysv_mq};
use super::spinning::Spinning;
use super::tasks::{self, TaskTransport};
use super::{Ends, Family, Many, Shape, Traits, Transport, Waits};
use super::{
    attached, broadcast, crossbeam, crossbeam_select, empty, exchange, funnel, hub, hub_loaded, in_epoll, mailbox,
    mailbox_types, mutex_condvar, mutex_condvar_any, mutex_eventfd_loop, mutex_spin, oneshot, rtrb, slowed, spsc,
    std_eventfds, std_mpsc,
};
use super::{tcp_stream, tokio_mpsc, unix_stream, ypipe_spin, ypipe_woken};
use crate::alarm::Until;
use crate::error::{Error, Fault};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::Parameter;
use crate::scenario::crowd::{Crowd, Work};
use crate::scenario::traffic::Traffic;
use crate::scenario::{
    burst, crowd, density, fixed_rate, idle_senders, latency, many, night_watchman, overrun, paced, ping_pong, size,
    sources, throughput, traffic,
};
use crate::stage::Timed;
use crate::warnings::Warning;

/// A driver of many threads and of messages of any size.
type BetweenMany = fn(Place, Shape, Parameter, u64) -> Result<Timed, Fault>;

/// A driver of so many ends, and so many messages.
type OverEnds = fn(Place, usize, u64) -> Result<Timed, Fault>;

/// A transport with its drivers, each compiled for it alone.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub traits: Traits,
    /// Where there is an end, no longer than until then.
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
    /// Bytes that each of so many messages holds while all are in the queue.
    pub held: fn(u64) -> Result<f64, Fault>,
    pub crowd: fn(Place, Crowd, Work, u64) -> Result<Outcome, Fault>,
    /// From many threads to many, where there can be several at a side.
    pub many: Option<BetweenMany>,
    /// From one thread beside so many idle senders, where there can be several.
    pub idle_senders: Option<OverEnds>,
    /// From one thread through so many ends, one message at a time and all of them busy, where there can be several.
    pub sources: Option<OverEnds>,
    pub busy_sources: Option<OverEnds>,
}

/// The drivers of scenarios that a transport can take part in by its traits. A driver that nobody could ask for is not
/// compiled: a refusal stands in its place.
///
/// The drivers are compiled where this is called: a package of guests has to be optimised, and whatever it depends on.
pub const fn entry<T: Transport>() -> Entry {
    let alone = T::TRAITS.one_by_one;
    let without_a_bound = alone && !T::TRAITS.bounded && !T::TRAITS.invents;
    let on_time = alone && !T::TRAITS.invents;
    let crowded = alone && (!matches!(T::TRAITS.waits, Waits::Spins) || !T::TRAITS.bounded);
    Entry {
        traits: T::TRAITS,
        ping_pong: ping_pong::counted::<T, usize>,
        throughput: throughput::one_by_one::<T, usize>,
        batches: if T::TRAITS.batches { throughput::in_batches::<T> } else { |_, _, _| no_driver() },
        latency: if alone { latency::run::<T, usize> } else { |_, _| no_driver() },
        density: if alone { density::run::<T, usize> } else { |_, _| no_driver() },
        overrun: if on_time { overrun::run::<T, usize> } else { |_, _| no_driver() },
        fixed_rate: if on_time { fixed_rate::run::<T, usize> } else { |_, _, _| no_driver() },
        traffic: if on_time && !T::TRAITS.few_sizes { traffic::run::<T> } else { |_, _, _| no_driver() },
        batches_on_time: match on_time && T::TRAITS.batches {
            true => fixed_rate::in_batches::<T>,
            false => |_, _, _, _| no_driver(),
        },
        paced: if on_time { paced::run::<T, usize> } else { |_, _, _| no_driver() },
        night_watchman: if on_time { night_watchman::run::<T, usize> } else { |_, _, _| no_driver() },
        size: match (alone, T::TRAITS.few_sizes) {
            (false, _) => |_, _, _| no_driver(),
            (true, true) => size::run_few::<T>,
            (true, false) => size::run::<T>,
        },
        burst: if without_a_bound { burst::run::<T> } else { |_, _, _| no_driver() },
        held: if without_a_bound { burst::held::<T> } else { |_| no_driver() },
        crowd: if crowded { crowd::run::<T> } else { |_, _, _, _| no_driver() },
        many: None,
        idle_senders: None,
        sources: None,
        busy_sources: None,
    }
}

/// Only a mistake in a scenario's own choice gets here: whoever has no driver is not able.
fn no_driver<A>() -> Result<A, Fault> {
    Err(Fault::System(std::io::Error::other("this transport takes no part in that")))
}

/// As [`entry`], for a transport that several threads can send by, or receive from.
pub const fn shared<T: Many>() -> Entry {
    // Where one thread receives, only the smallest messages are ever asked for.
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

/// As [`entry`], for a transport whose ends are in tasks. It takes part in the cells of tasks and in nothing else; their loops
/// are made where they are wanted.
pub const fn of_tasks<T: TaskTransport>() -> Entry {
    Entry {
        traits: T::TRAITS,
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

/// Those from here, by where they come from; they are shown in this order.
static OWN: &[(Family, &[Entry])] = &[
    (
        Family::Ours,
        &[
            entry::<spsc::Adaptive>(),
            entry::<spsc::Sleeping>(),
            entry::<spsc::Spinning>(),
            entry::<spsc::Bounded>(),
            entry::<spsc::SpinningBounded>(),
            entry::<spsc::Batched>(),
            entry::<spsc::BatchedBounded>(),
            entry::<in_epoll::Spsc>(),
            shared::<funnel::Adaptive>(),
            shared::<funnel::Sleeping>(),
            shared::<funnel::Spinning>(),
            shared::<funnel::Bounded>(),
            shared::<funnel::SpinningBounded>(),
            shared::<in_epoll::Funnel>(),
            shared::<exchange::Adaptive>(),
            shared::<exchange::Sleeping>(),
            shared::<exchange::Spinning>(),
            shared::<exchange::Unbounded>(),
            shared::<exchange::SpinningUnbounded>(),
            entry::<exchange::Rendezvous>(),
            shared::<in_epoll::Exchange>(),
            shared::<broadcast::Bounded>(),
            shared::<mailbox::Adaptive>(),
            shared::<mailbox::Sleeping>(),
            shared::<mailbox::Bounded>(),
            entry::<mailbox_types::Types>(),
            shared::<hub::Adaptive>(),
            shared::<hub::Sleeping>(),
            entry::<hub_loaded::Loaded>(),
            entry::<hub::Spsc>(),
            shared::<attached::InPollset>(),
            shared::<attached::InEpoll>(),
            entry::<ypipe_woken::BySemaphore>(),
            entry::<ypipe_woken::ByPollset>(),
            entry::<ypipe_woken::BySocketpair>(),
            entry::<ypipe_spin::YpipeSpin>(),
            of_tasks::<tasks::ours::Spsc>(),
            of_tasks::<tasks::ours::SpscBounded>(),
            of_tasks::<tasks::ours::Funnel>(),
            of_tasks::<tasks::ours::FunnelBounded>(),
            of_tasks::<tasks::ours::Exchange>(),
            of_tasks::<tasks::ours::ExchangeUnbounded>(),
            entry::<empty::Empty>(),
            entry::<slowed::Slowed>(),
        ],
    ),
    (
        Family::Std,
        &[shared::<std_mpsc::Channel>(), shared::<std_mpsc::SyncChannel>(), shared::<std_eventfds::Eventfds>()],
    ),
    (
        Family::Crates,
        &[
            entry::<oneshot::Oneshot>(),
            shared::<crossbeam::Unbounded>(),
            shared::<crossbeam::Bounded>(),
            shared::<crossbeam_select::Selected>(),
            shared::<tokio_mpsc::Unbounded>(),
            shared::<tokio_mpsc::Bounded>(),
            entry::<Spinning<rtrb::Ring<65_536>, true>>(),
            entry::<Spinning<rtrb::Ring<65_536>, false>>(),
            entry::<Spinning<rtrb::Ring<1_024>, true>>(),
            entry::<Spinning<rtrb::Ring<1_024>, false>>(),
            of_tasks::<tasks::tokio_mpsc::Unbounded>(),
            of_tasks::<tasks::tokio_mpsc::Bounded>(),
        ],
    ),
    (
        Family::Kernel,
        &[
            shared::<unix_stream::Waitall>(),
            entry::<unix_stream::Polled>(),
            shared::<packets::Datagrams>(),
            shared::<packets::Seqpackets>(),
            shared::<pipe::Pipe>(),
            shared::<posix_mq::PosixMq>(),
            shared::<sysv_mq::SysvMq>(),
            entry::<tcp_stream::TcpLoopback>(),
        ],
    ),
    (
        Family::Mutex,
        &[
            shared::<mutex_condvar::Always>(),
            shared::<mutex_condvar::IfAsleep>(),
            shared::<mutex_condvar_any::Always>(),
            shared::<mutex_condvar_any::IfAsleep>(),
            shared::<mutex_eventfd_loop::Plain>(),
            shared::<mutex_spin::Looking<mutex_spin::Pause>>(),
            shared::<mutex_spin::Looking<mutex_spin::Yield>>(),
            shared::<mutex_spin::Looking<mutex_spin::Usleep>>(),
        ],
    ),
];

/// Those from here, then the guests. Settled by the first look.
static ALL: OnceLock<Vec<Entry>> = OnceLock::new();

fn own() -> Vec<Entry> {
    let of = |&(family, entries): &(Family, &'static [Entry])| {
        entries.iter().map(move |entry| Entry { traits: Traits { family, ..entry.traits }, ..*entry })
    };
    OWN.iter().flat_map(of).collect()
}

/// Adds the transports of other packages, made by [`entry`] and [`shared`]. Once, and before anybody has looked.
///
/// # Errors
///
/// Refuses a name that is taken, and guests that come too late.
pub fn welcome(guests: Vec<Entry>) -> Result<(), Error> {
    let mut all = own();
    for mut guest in guests {
        guest.traits.guest = true;
        let name = guest.traits.name;
        if all.iter().any(|entry| entry.traits.name == name) {
            return Err(Error::Refused(format!("There is a transport called '{name}' already.")));
        }
        all.push(guest);
    }
    let late = || Error::Refused("Transports can be added only once, and before the first is looked up.".to_owned());
    ALL.set(all).map_err(|_| late())
}

pub fn all() -> &'static [Entry] {
    ALL.get_or_init(own)
}

/// Those that this machine has.
pub fn here() -> impl Iterator<Item = &'static Entry> {
    all().iter().filter(|entry| (entry.traits.available)().is_ok())
}

/// The entry of that name. For names written in the instrument itself, which a test looks up one by one.
pub fn named(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.traits.name == name)
}

/// The transports whose names were asked for, in the order of the registry; if none were, all but the hidden ones.
///
/// # Errors
///
/// Refuses names that there are not, and a choice that this machine has none of. Of others, those that it does not have
/// are left out of each plan, with a warning.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Entry>, Error> {
    for name in names {
        if named(name).is_none() {
            return Err(Error::Refused(format!(
                "There is no transport called '{name}'; `ybench list` names them all."
            )));
        }
    }
    let wanted = |entry: &&Entry| match names {
        [] => !entry.traits.hidden,
        names => names.iter().any(|name| name == entry.traits.name),
    };
    let chosen: Vec<&Entry> = all().iter().filter(wanted).collect();
    let missing: Vec<Warning> = chosen.iter().filter_map(|entry| unavailable(entry)).collect();
    match missing.first() {
        Some(warning) if missing.len() == chosen.len() => Err(Error::Refused(warning.to_string())),
        _ => Ok(chosen),
    }
}

/// Why this machine does not have it.
pub fn unavailable(entry: &Entry) -> Option<Warning> {
    let cause = (entry.traits.available)().err()?;
    Some(Warning::Unavailable { name: entry.traits.name.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::checks;

    #[test]
    fn every_name_is_there_once() {
        for entry in all() {
            let same = all().iter().filter(|other| other.traits.name == entry.traits.name).count();
            assert_eq!(same, 1, "{}", entry.traits.name);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_in_one_sentence() {
        let error = chosen(&["carrier-pigeon".into()]).err().unwrap();
        assert_eq!(error.exit_status(), 2);
        assert_eq!(error.to_string(), "There is no transport called 'carrier-pigeon'; `ybench list` names them all.");
    }

    #[test]
    fn a_choice_keeps_the_order_of_the_registry() {
        let chosen = chosen(&["rtrb-64k".into(), "spsc".into()]).unwrap();
        let names: Vec<_> = chosen.iter().map(|entry| entry.traits.name).collect();
        assert_eq!(names, ["spsc", "rtrb-64k"]);
    }

    fn everybody(check: fn(&Entry, Place) -> Result<(), String>, place: Place) {
        here().for_each(|entry| check(entry, place).unwrap());
    }

    #[test]
    fn every_transport_delivers_everything_in_order() {
        everybody(checks::in_order, Place::choose(None).unwrap());
    }

    #[test]
    fn every_transport_carries_64_kib_by_value_and_by_pointer() {
        everybody(checks::large_messages, Place::choose(None).unwrap());
    }

    #[test]
    fn everybody_delivers_on_one_cpu() {
        everybody(checks::on_one_cpu, Place::choose(None).unwrap().together());
    }

    #[test]
    fn everybody_who_can_delivers_everything_between_many() {
        everybody(checks::between_many, Place::choose(None).unwrap());
    }
}
