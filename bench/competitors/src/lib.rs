//! Third-party channels and queues, as transports of the instrument. A program adds them with
//! [`registry::welcome`](ybench_measure::registry::welcome). A queue of one's own is measured in the same way: a type that
//! implements [`Transport`](ybench_measure::transport::Transport), or [`Queue`](ybench_measure::transport::spinning::Queue)
//! where it cannot wait, and an entry made of it.
//!
//! One file for each crate. Its head describes how the crate waits, what its documentation recommends, and the reasons
//! for its use here. Each has a variant without a bound, one with 1,024 places and one with 65,536, as far as the crate
//! has them. Spinners have two of each, with a pause between two polls and without.
//!
//! `tasks` has those that tasks can wait on, as transports between tasks. `rapidfire` and `tachyonix` have no blocking
//! functions, and are only there. Feature `facades` adds those of `drop-in/`.
//! `ysuite` does not depend on this crate.
#![cfg(target_os = "linux")]

pub mod async_channel;
pub mod concurrent_queue;
pub mod crossfire;
pub mod disruptor;
pub mod drivers;
pub mod end;
#[cfg(feature = "facades")]
pub mod facades;
pub mod fanring;
pub mod features;
pub mod flume;
pub mod footprint;
pub mod gil;
pub mod gil_many;
pub mod gil_parking;
pub mod kanal;
pub mod nexus_channel;
pub mod nexus_queue;
#[cfg(test)]
mod order;
pub mod ringbuf;
pub mod tasks;
pub mod thingbuf;
pub mod yring;

use ybench_measure::scenario::Entry;
use ybench_measure::scenario::cells::drivers::Drivers;
use ybench_measure::transport::Traits;
use ybench_measure::transport::spinning::Spinning;

/// For struct update: the properties that all competitors share. Their loops are compiled for the messages of `ybench
/// competitors` and for no larger ones: those would be a third of the build.
pub(crate) const COMMON: Traits = Traits { most_bytes: |_| 256, few_sizes: true, ..Traits::COMMON };

/// Lists of all competitors: of their entries in the registry, and of their drivers for `ybench competitors`. `entry` makes
/// one with a single sending and a single receiving thread, `shared` the others.
macro_rules! everybody {
    ($($made:ident::<$transport:ty>(),)+) => {
        /// All of them: first those that can sleep.
        pub fn entries() -> Vec<Entry> {
            use ybench_measure::scenario::{entry, shared};
            // Constants: code that their conditions exclude is not compiled.
            let mut all = vec![$(const { $made::<$transport>() }),+];
            all.extend(tasks::entries());
            #[cfg(feature = "facades")]
            all.extend(facades::entries().into_iter().chain(tasks::facades::entries()));
            all
        }

        /// Whether each of them delivers in one order of all messages.
        #[cfg(test)]
        fn orders() -> Vec<order::Tried> {
            use order::{of_one as entry, of_several as shared};
            vec![$($made::<$transport>()),+]
        }

        /// Those of them that are no variant of another, for the measurements of [`ybench_measure::scenario::cells`].
        fn of_competitors() -> Vec<Drivers> {
            use crate::drivers::{of_many as shared, of_two as entry};
            [$(const { $made::<$transport>() }),+].into_iter().flatten().collect()
        }
    };
}

everybody! {
        shared::<flume::Unbounded>(),
        shared::<flume::Bounded>(),
        shared::<flume::Roomy>(),
        shared::<kanal::Unbounded>(),
        shared::<kanal::Bounded>(),
        shared::<kanal::Roomy>(),
        shared::<async_channel::Unbounded>(),
        shared::<async_channel::Bounded>(),
        shared::<async_channel::Roomy>(),
        entry::<crossfire::SpscUnbounded>(),
        entry::<crossfire::SpscBounded>(),
        entry::<crossfire::SpscRoomy>(),
        shared::<crossfire::MpscUnbounded>(),
        shared::<crossfire::MpscBounded>(),
        shared::<crossfire::MpmcUnbounded>(),
        shared::<crossfire::MpmcBounded>(),
        shared::<crossfire::MpmcRoomy>(),
        shared::<fanring::Mpsc>(),
        shared::<fanring::MpscRoomy>(),
        entry::<nexus_channel::Bounded>(),
        entry::<nexus_channel::Roomy>(),
        entry::<nexus_channel::Narrow>(),
        shared::<thingbuf::Bounded>(),
        shared::<thingbuf::Roomy>(),
        entry::<gil_parking::Roomy>(),
        entry::<gil_parking::Bounded>(),
        shared::<gil_parking::Sharded>(),
        entry::<Spinning<gil::Ring<65_536>, true>>(),
        entry::<Spinning<gil::Ring<65_536>, false>>(),
        entry::<Spinning<gil::Ring<1_024>, true>>(),
        entry::<Spinning<gil::Ring<1_024>, false>>(),
        entry::<gil::OwnLoop>(),
        shared::<Spinning<gil_many::Mpsc, true>>(),
        shared::<Spinning<gil_many::Mpsc, false>>(),
        shared::<Spinning<gil_many::Mpmc<1_024>, true>>(),
        shared::<Spinning<gil_many::Mpmc<1_024>, false>>(),
        shared::<Spinning<gil_many::Mpmc<65_536>, true>>(),
        shared::<Spinning<gil_many::Mpmc<65_536>, false>>(),
        entry::<Spinning<ringbuf::Ring<65_536>, true>>(),
        entry::<Spinning<ringbuf::Ring<65_536>, false>>(),
        entry::<Spinning<ringbuf::Ring<1_024>, true>>(),
        entry::<Spinning<ringbuf::Ring<1_024>, false>>(),
        entry::<Spinning<nexus_queue::Ring<65_536>, true>>(),
        entry::<Spinning<nexus_queue::Ring<65_536>, false>>(),
        entry::<Spinning<nexus_queue::Ring<1_024>, true>>(),
        entry::<Spinning<nexus_queue::Ring<1_024>, false>>(),
        shared::<Spinning<nexus_queue::Mpsc, true>>(),
        shared::<Spinning<nexus_queue::Mpsc, false>>(),
        entry::<Spinning<yring::Ring<65_536>, true>>(),
        entry::<Spinning<yring::Ring<65_536>, false>>(),
        entry::<Spinning<yring::Ring<1_024>, true>>(),
        entry::<Spinning<yring::Ring<1_024>, false>>(),
        shared::<Spinning<concurrent_queue::Unbounded, true>>(),
        shared::<Spinning<concurrent_queue::Unbounded, false>>(),
        shared::<Spinning<concurrent_queue::Concurrent<1_024>, true>>(),
        shared::<Spinning<concurrent_queue::Concurrent<1_024>, false>>(),
        shared::<Spinning<concurrent_queue::Concurrent<65_536>, true>>(),
        shared::<Spinning<concurrent_queue::Concurrent<65_536>, false>>(),
        entry::<Spinning<disruptor::Single<65_536>, true>>(),
        entry::<Spinning<disruptor::Single<65_536>, false>>(),
        entry::<Spinning<disruptor::Single<1_024>, true>>(),
        entry::<Spinning<disruptor::Single<1_024>, false>>(),
        shared::<Spinning<disruptor::Several, true>>(),
        shared::<Spinning<disruptor::Several, false>>(),
}
