//! The loops that a transport needs to take part in the cases, compiled for it and for messages of each size.
//!
//! They are many, so they are made where they are used: in the package of the competitors, for these and for our own.

use std::io;
use std::sync::OnceLock;

use super::super::{bounces, burst, fixed_rate, many, night_watchman, ping_pong, throughput};
use super::tasks;
use crate::error::{Error, Fault};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::stage::Timed;
use crate::transport::message::Block;
use crate::transport::tasks::{TaskTransport, ours, tokio_mpsc};
use crate::transport::{Many, Message, Shape, Transport};

/// The bytes of a message, one session each.
pub const BYTES: [u32; 4] = [8, 24, 64, 256];

pub(super) const SIZES: &[Parameter] = &[bytes(BYTES[0]), bytes(BYTES[1]), bytes(BYTES[2]), bytes(BYTES[3])];

const fn bytes(value: u32) -> Parameter {
    Parameter { quantity: Quantity::BytesByValue, value: value as f64 }
}

/// Opens the handles of a number of threads, with their loops.
pub type OpenEnds = fn(Shape) -> Result<many::Ends, Fault>;

/// With messages of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loops {
    pub(super) stream: fn(usize) -> Result<throughput::Stream, Fault>,
    /// The last number is the length of a batch.
    pub(super) batches: fn(usize, usize) -> Result<throughput::Stream, Fault>,
    pub(super) ping_pong: fn(Place, u64) -> Result<Timed, Fault>,
    /// Where no thread spins: among more threads than CPUs a spinner waits for the scheduler.
    pub(super) bounces: bounces::Open,
    /// The last number is messages per second.
    pub(super) fixed_rate: fn(Place, u64, f64) -> Result<Outcome, Fault>,
    /// The last number is seconds of silence.
    pub(super) night_watchman: fn(Place, u64, f64) -> Result<Outcome, Fault>,
    /// The first number is the backlog.
    pub(super) burst: fn(Place, u64, u64) -> Result<Outcome, Fault>,
    pub(super) taken: fn(u64) -> Result<burst::Taken, Fault>,
    /// Where a side can have several threads.
    pub(super) ends: Option<OpenEnds>,
    /// Where the handles are in tasks.
    pub(super) tasks: Option<tasks::Open>,
}

impl Loops {
    /// The drivers of a transport that takes part in nothing.
    const NONE: Self = Self {
        stream: |_| no_driver(),
        batches: |_, _| no_driver(),
        ping_pong: |_, _| no_driver(),
        bounces: |_| Err(takes_no_part()),
        fixed_rate: |_, _, _| no_driver(),
        night_watchman: |_, _, _| no_driver(),
        burst: |_, _, _| no_driver(),
        taken: |_| no_driver(),
        ends: None,
        tasks: None,
    };
}

/// Loops that were compiled elsewhere, in another language, with messages of one size.
#[derive(Clone, Copy, Debug)]
pub struct Brought {
    pub stream: fn(usize) -> Result<throughput::Stream, Fault>,
    /// The last number is the length of a batch.
    pub batches: fn(usize, usize) -> Result<throughput::Stream, Fault>,
    pub ping_pong: fn(Place, u64) -> Result<Timed, Fault>,
    /// Where a side can have several threads.
    pub ends: Option<OpenEnds>,
}

/// The drivers of one transport.
#[derive(Clone, Copy, Debug)]
pub struct Drivers {
    /// The transport's traits.
    pub name: &'static str,
    /// In the order of [`BYTES`].
    sizes: [Loops; 4],
}

impl Drivers {
    /// Both sides of a stream of a number of the smallest messages, one by one, as work to be run.
    pub fn stream(&self, messages: usize) -> Result<throughput::Stream, Fault> {
        (self.sizes[0].stream)(messages)
    }

    /// Streams of a number of the smallest messages from a number of tasks to one, checked and timed. `None` where the
    /// handles are in no tasks.
    pub fn in_tasks(
        &self,
        place: Place,
        workers: usize,
        senders: usize,
        messages: u64,
    ) -> Option<Result<Timed, Fault>> {
        let open = self.sizes[0].tasks?;
        Some(tasks::play(place, workers, senders, messages, open))
    }

    /// The drivers of a transport that is not between threads of this process: the given ones, and nothing else.
    pub const fn brought(name: &'static str, brought: [Brought; 4]) -> Self {
        Self { name, sizes: [Loops::NONE; 4] }.with(brought)
    }

    /// The same, with the given loops, in the order of [`BYTES`], in place of those compiled here.
    pub const fn with(self, brought: [Brought; 4]) -> Self {
        let mut sizes = self.sizes;
        let mut at = 0;
        while at < sizes.len() {
            let Brought { stream, batches, ping_pong, ends } = brought[at];
            sizes[at] = Loops { stream, batches, ping_pong, ends, ..sizes[at] };
            at += 1;
        }
        Self { name: self.name, sizes }
    }

    pub(super) fn at(&self, parameter: Option<Parameter>) -> Loops {
        let at = SIZES.iter().position(|size| Some(*size) == parameter).unwrap_or(0);
        self.sizes[at]
    }
}

/// The drivers of a transport between two threads.
pub const fn between_two<T: Transport>() -> Drivers {
    let sizes = [loops::<T, usize>(), loops::<T, Block<3>>(), loops::<T, Block<8>>(), loops::<T, Block<32>>()];
    Drivers { name: T::TRAITS.name, sizes }
}

/// The drivers of a transport between any threads.
pub const fn between_many<T: Many>() -> Drivers {
    let Drivers { name, sizes: [first, second, third, fourth] } = between_two::<T>();
    let sizes = [
        Loops { ends: Some(many::ends::<T, usize>), ..first },
        Loops { ends: Some(many::ends::<T, Block<3>>), ..second },
        Loops { ends: Some(many::ends::<T, Block<8>>), ..third },
        Loops { ends: Some(many::ends::<T, Block<32>>), ..fourth },
    ];
    Drivers { name, sizes }
}

const fn loops<T: Transport, M: Message>() -> Loops {
    let traits = &T::TRAITS;
    let (alone, sleeps) = (traits.one_by_one, traits.waits.sleeps());
    Loops {
        stream: if alone { throughput::ends::<T, M> } else { |_| no_driver() },
        batches: if traits.batches { throughput::ends_of_batches::<T, M> } else { |_, _| no_driver() },
        ping_pong: if alone { ping_pong::run::<T, M> } else { |_, _| no_driver() },
        bounces: if alone && sleeps { bounces::open::<T, M> } else { |_| Err(takes_no_part()) },
        fixed_rate: if alone { fixed_rate::run::<T, M> } else { |_, _, _| no_driver() },
        night_watchman: if alone { night_watchman::run::<T, M> } else { |_, _, _| no_driver() },
        burst: if alone && !traits.bounded { burst::of::<T, M> } else { |_, _, _| no_driver() },
        taken: if alone && !traits.bounded { burst::taken::<T, M> } else { |_| no_driver() },
        ends: None,
        tasks: None,
    }
}

/// The drivers of a transport between tasks.
pub const fn between_tasks<T: TaskTransport>() -> Drivers {
    let sizes =
        [in_tasks::<T, usize>(), in_tasks::<T, Block<3>>(), in_tasks::<T, Block<8>>(), in_tasks::<T, Block<32>>()];
    Drivers { name: T::TRAITS.name, sizes }
}

/// The drivers of our own transports between tasks, and of tokio's. Compiled where this is called.
#[inline]
pub fn own_between_tasks() -> Vec<Drivers> {
    vec![
        between_tasks::<ours::Spsc>(),
        between_tasks::<ours::SpscBounded>(),
        between_tasks::<ours::Mpsc>(),
        between_tasks::<ours::MpscBounded>(),
        between_tasks::<ours::Mpmc>(),
        between_tasks::<ours::MpmcUnbounded>(),
        between_tasks::<tokio_mpsc::Unbounded>(),
        between_tasks::<tokio_mpsc::Bounded>(),
    ]
}

const fn in_tasks<T: TaskTransport, M: Message>() -> Loops {
    Loops { tasks: Some(tasks::open::<T, M>), ..Loops::NONE }
}

/// Only a mistake in a case's own choice gets here: a transport without a driver is not able.
fn no_driver<A>() -> Result<A, Fault> {
    Err(Fault::System(takes_no_part()))
}

fn takes_no_part() -> io::Error {
    io::Error::other("this transport takes no part in that")
}

static OFFERED: OnceLock<Vec<Drivers>> = OnceLock::new();

/// Adds the drivers of all competitors that are compared. Once, before the first look-up.
///
/// # Errors
///
/// Refuses two of one name, and those that come too late.
pub fn offer(drivers: Vec<Drivers>) -> Result<(), Error> {
    let twice = |one: &&Drivers| drivers.iter().filter(|other| other.name == one.name).count() > 1;
    if let Some(one) = drivers.iter().find(twice) {
        return Err(Error::Refused(format!("There are drivers for '{}' twice.", one.name)));
    }
    OFFERED.set(drivers).map_err(|_| Error::Refused("Drivers can be offered only once.".to_owned()))
}

/// All that were offered.
pub fn offered() -> &'static [Drivers] {
    OFFERED.get().map_or(&[], Vec::as_slice)
}

/// The memory of a burst of a number of messages of that size in the transport of that name. `None` if it has no
/// drivers.
pub fn taken(name: &str, bytes: u64, backlog: u64) -> Option<Result<burst::Taken, Fault>> {
    let size = SIZES.iter().find(|size| size.value == bytes as f64)?;
    Some((of(name)?.at(Some(*size)).taken)(backlog))
}

pub(super) fn of(name: &str) -> Option<&'static Drivers> {
    offered().iter().find(|drivers| drivers.name == name)
}
