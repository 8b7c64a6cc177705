//! The bytes and the times of one kind of channel, measured in this process. `ybench` starts a process for each, in which
//! nothing else allocates or frees memory: see [`super`].

use std::io;
use std::time::Instant;

#[cfg(feature = "sizes")]
use super::channel::Large;
use super::channel::{Channel, Letter};
use super::stack;
use crate::allocations::held;
use crate::error::Fault;
use crate::memory::anonymous;

/// Channels that have had a burst and are kept, beside the first: what the allocator keeps of its burst serves all others.
const AFTER_A_BURST: usize = 4;

/// Made, used and dropped before anything is measured, so that the code and what each thread has once are in memory.
const BEFOREHAND: usize = 64;

/// Bytes asked of the allocator and not yet freed, and bytes in memory that belong to no file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bytes {
    pub allocated: f64,
    pub resident: f64,
}

impl Bytes {
    fn now() -> io::Result<Self> {
        let allocated = held() as f64;
        Ok(Self { allocated, resident: anonymous()? })
    }

    /// What has been added since, for each of a number of channels.
    fn since(self, before: Self, channels: usize) -> Self {
        let each = |now: f64, then: f64| (now - then) / channels as f64;
        Self { allocated: each(self.allocated, before.allocated), resident: each(self.resident, before.resident) }
    }
}

/// Of many channels, for each. Times in nanoseconds; the bytes have both handles in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    pub make: f64,
    pub first: f64,
    pub drop: f64,
    pub idle: Bytes,
    pub after: Bytes,
    pub left: Bytes,
    /// Bytes of stack that one message of [`super::channel::LARGE`] bytes needs: channel made, message sent and received.
    /// Only with the feature `sizes`.
    pub stack: Option<f64>,
}

pub(super) fn many<C: Channel>(channels: u64) -> Result<Weight, Fault> {
    beforehand::<C>()?;
    // A kind of channel is compiled for that message alone.
    #[cfg(feature = "sizes")]
    let one_large: Option<fn()> = Some(one_large::<C>);
    #[cfg(not(feature = "sizes"))]
    let one_large = None;
    weighed(&mut All::<C>(Vec::new()), channels as usize, one_large)
}

/// The channels of one kind, through a pointer: only these loops are compiled for each kind, and one call is made for each
/// loop.
trait Channels {
    fn make(&mut self, channels: usize);
    /// Sends and receives a message in each.
    fn use_each(&mut self) -> Result<(), Fault>;
    fn drop_all(&mut self);
}

struct All<C: Channel>(Vec<C::Ends<usize>>);

impl<C: Channel> Channels for All<C> {
    fn make(&mut self, channels: usize) {
        self.0 = Vec::with_capacity(channels);
        for _ in 0..channels {
            self.0.push(C::make());
        }
    }

    fn use_each(&mut self) -> Result<(), Fault> {
        for (number, ends) in self.0.iter_mut().enumerate() {
            exchange::<C, usize>(ends, number)?;
        }
        Ok(())
    }

    fn drop_all(&mut self) {
        self.0 = Vec::new();
    }
}

fn weighed(all: &mut dyn Channels, channels: usize, one_large: Option<fn()>) -> Result<Weight, Fault> {
    let each = |since: Instant| since.elapsed().as_nanos() as f64 / channels as f64;
    let before = Bytes::now()?;

    let start = Instant::now();
    all.make(channels);
    let make = each(start);
    let idle = Bytes::now()?.since(before, channels);

    let start = Instant::now();
    all.use_each()?;
    let first = each(start);
    let after = Bytes::now()?.since(before, channels);

    let start = Instant::now();
    all.drop_all();
    let drop = each(start);
    let left = Bytes::now()?.since(before, channels);
    // A thread leaves memory behind, which the channels would then use.
    let stack = one_large.map(stack::used).transpose()?.map(|bytes| bytes as f64);
    Ok(Weight { make, first, drop, idle, after, left, stack })
}

/// What each channel keeps when a burst of this number of messages was sent and received.
pub(super) fn kept<C: Channel>(burst: u64) -> Result<Bytes, Fault> {
    beforehand::<C>()?;
    kept_by(&|| Ok(Box::new(after_a_burst::<C>(burst as usize)?)))
}

/// A channel that is only kept.
trait Kept {}

impl<E> Kept for E {}

fn kept_by(after_a_burst: &dyn Fn() -> Result<Box<dyn Kept>, Fault>) -> Result<Bytes, Fault> {
    let _first = after_a_burst()?;
    // The pointers are not counted.
    let mut all = Vec::with_capacity(AFTER_A_BURST);
    let before = Bytes::now()?;
    for _ in 0..AFTER_A_BURST {
        all.push(after_a_burst()?);
    }
    Ok(Bytes::now()?.since(before, AFTER_A_BURST))
}

fn after_a_burst<C: Channel>(burst: usize) -> Result<C::Ends<usize>, Fault> {
    let mut ends = C::make::<usize>();
    for number in 0..burst {
        if !C::send(&mut ends, number) {
            return Err(Fault::Disconnected { expected: number });
        }
    }
    for number in 0..burst {
        check(number, C::receive(&mut ends))?;
    }
    Ok(ends)
}

fn beforehand<C: Channel>() -> Result<(), Fault> {
    for number in 0..BEFOREHAND {
        exchange::<C, usize>(&mut C::make(), number)?;
    }
    Bytes::now()?;
    Ok(())
}

fn exchange<C: Channel, M: Letter>(ends: &mut C::Ends<M>, number: usize) -> Result<(), Fault> {
    check(number, C::exchange(ends, M::numbered(number)))
}

fn check<M: Letter>(expected: usize, received: Option<M>) -> Result<(), Fault> {
    match received.map(|message| message.number()) {
        Some(received) if received == expected => Ok(()),
        Some(received) => Err(Fault::OutOfOrder { expected, received }),
        None => Err(Fault::Lost { expected }),
    }
}

/// A panic here is an error of [`stack::used`].
#[cfg(feature = "sizes")]
fn one_large<C: Channel>() {
    let received = C::exchange(&mut C::make(), Large::numbered(1)).map(|message| message.number());
    assert_eq!(received, Some(1), "the message was lost");
}
