//! A transport with all its drivers, compiled for it alone.

use super::crowd::{Crowd, Work};
use super::traffic::Traffic;
use super::{
    burst, crowd, density, fixed_rate, idle_senders, latency, many, night_watchman, overrun, paced, ping_pong, process,
    size, sources, throughput, traffic,
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

/// Makes [`Entry`] and its functions: for each driver its arguments and what it returns, the traits of `T` that it
/// needs, and its function.
macro_rules! drivers {
    ($(
        $(#[$doc:meta])* $driver:ident: ($($argument:ty),+) -> $outcome:ty, if $able:expr => $run:expr;
    )+) => {
        /// A transport with its drivers, each compiled for it alone.
        #[derive(Clone, Copy, Debug)]
        pub struct Entry {
            pub traits: Traits,
            $($(#[$doc])* pub $driver: fn($($argument),+) -> Result<$outcome, Fault>,)+
            /// From many threads to many, where a side can have several.
            pub many: Option<BetweenMany>,
            /// From one thread among a number of idle senders, where there can be several.
            pub idle_senders: Option<OverEnds>,
            /// From one thread through a number of handles, one message at a time and all of them busy, where there
            /// can be several.
            pub sources: Option<OverEnds>,
            pub busy_sources: Option<OverEnds>,
            /// Between processes instead of threads.
            pub processes: Option<process::Drivers>,
        }

        /// The drivers of scenarios that a transport can take part in by its traits. A driver that cannot be used is
        /// not compiled, and a refusal takes its place.
        ///
        /// The drivers are compiled where this is called: a package of third-party competitors has to be optimised,
        /// and so do its dependencies.
        pub const fn entry<T: Transport>() -> Entry {
            let none = without_drivers(T::TRAITS);
            Entry { $($driver: if $able { $run } else { none.$driver },)+ ..none }
        }

        /// Refuses everything.
        pub(super) const fn without_drivers(traits: Traits) -> Entry {
            Entry {
                traits,
                $($driver: |$(_: $argument),+| no_driver(),)+
                many: None,
                idle_senders: None,
                sources: None,
                busy_sources: None,
                processes: None,
            }
        }
    };
}

drivers! {
    /// With a time limit, if there is one.
    ping_pong: (Place, u64, Option<Until>) -> Outcome, if true => ping_pong::counted::<T, usize>;
    throughput: (Place, u64) -> Timed, if true => throughput::one_by_one::<T, usize>;
    /// The last number is the length of a batch.
    batches: (Place, u64, usize) -> Timed, if T::TRAITS.batches => throughput::in_batches::<T>;
    latency: (Place, u64) -> Outcome, if T::TRAITS.one_by_one => latency::run::<T, usize>;
    density: (Place, u64) -> Outcome, if T::TRAITS.one_by_one => density::run::<T, usize>;
    overrun: (Place, u64) -> Outcome, if on_time::<T>() => overrun::run::<T, usize>;
    /// The last number is messages per second.
    fixed_rate: (Place, u64, f64) -> Outcome, if on_time::<T>() => fixed_rate::run::<T, usize>;
    traffic: (Place, u64, &'static Traffic) -> Outcome,
        if on_time::<T>() && !T::TRAITS.few_sizes => traffic::run::<T>;
    /// At a fixed rate, with the length of a batch last.
    batches_on_time: (Place, u64, f64, usize) -> Outcome,
        if on_time::<T>() && T::TRAITS.batches => fixed_rate::in_batches::<T>;
    /// The last number is a share of the receiver's own rate.
    paced: (Place, u64, f64) -> Outcome, if on_time::<T>() => paced::run::<T, usize>;
    /// The last number is seconds of silence.
    night_watchman: (Place, u64, f64) -> Outcome, if on_time::<T>() => night_watchman::run::<T, usize>;
    size: (Place, Parameter, u64) -> Timed, if T::TRAITS.one_by_one =>
        if T::TRAITS.few_sizes { size::run_few::<T> } else { size::run::<T> };
    /// The first number is the backlog.
    burst: (Place, u64, u64) -> Outcome, if without_a_bound::<T>() => burst::run::<T>;
    /// Bytes that each of a number of messages holds while all are in the queue.
    held: (u64) -> f64, if without_a_bound::<T>() => burst::held::<T>;
    crowd: (Place, Crowd, Work, u64) -> Outcome,
        if T::TRAITS.one_by_one && (!matches!(T::TRAITS.waits, Waits::Spins) || !T::TRAITS.bounded) => crowd::run::<T>;
}

const fn on_time<T: Transport>() -> bool {
    T::TRAITS.one_by_one && !T::TRAITS.invents
}

const fn without_a_bound<T: Transport>() -> bool {
    on_time::<T>() && !T::TRAITS.bounded
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
