//! The bytes and the times of one kind of channel, measured in this process. `ybench` starts a process for each, in which
//! nothing else allocates or frees memory: see [`super`].

use std::io;
use std::time::Instant;

use super::channel::{Channel, Large, Letter};
use super::stack;
use crate::allocations::held;
use crate::error::Fault;
use crate::memory::anonymous;

/// Channels that have had a burst and are kept, beside the first: what the allocator keeps of its burst serves all others.
const AFTER_A_BURST: usize = 4;

/// Made, used and dropped before anything is measured, so that the code and what each thread has once are in memory.
const BEFOREHAND: u64 = 64;

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
    pub stack: f64,
}

pub(super) fn many<C: Channel>(channels: u64) -> Result<Weight, Fault> {
    let channels = channels as usize;
    beforehand::<C>()?;
    let each = |since: Instant| since.elapsed().as_nanos() as f64 / channels as f64;
    let before = Bytes::now()?;

    let start = Instant::now();
    let mut all: Vec<C::Ends<u64>> = Vec::with_capacity(channels);
    for _ in 0..channels {
        all.push(C::make());
    }
    let make = each(start);
    let idle = Bytes::now()?.since(before, channels);

    let start = Instant::now();
    for (number, ends) in all.iter_mut().enumerate() {
        exchange::<C, u64>(ends, number as u64)?;
    }
    let first = each(start);
    let after = Bytes::now()?.since(before, channels);

    let start = Instant::now();
    drop(all);
    let drop = each(start);
    let left = Bytes::now()?.since(before, channels);
    // A thread leaves memory behind, which the channels would then use.
    let stack = stack::used(one_large::<C>)? as f64;
    Ok(Weight { make, first, drop, idle, after, left, stack })
}

/// What each channel keeps when a burst of this number of messages was sent and received.
pub(super) fn kept<C: Channel>(burst: u64) -> Result<Bytes, Fault> {
    beforehand::<C>()?;
    let _first = after_a_burst::<C>(burst)?;
    let before = Bytes::now()?;
    let mut all = Vec::with_capacity(AFTER_A_BURST);
    for _ in 0..AFTER_A_BURST {
        all.push(after_a_burst::<C>(burst)?);
    }
    Ok(Bytes::now()?.since(before, AFTER_A_BURST))
}

fn after_a_burst<C: Channel>(burst: u64) -> Result<C::Ends<u64>, Fault> {
    let mut ends = C::make::<u64>();
    for number in 0..burst {
        if !C::send(&mut ends, number) {
            return Err(Fault::Disconnected { expected: number as usize });
        }
    }
    for number in 0..burst {
        check(number, C::receive(&mut ends))?;
    }
    Ok(ends)
}

fn beforehand<C: Channel>() -> Result<(), Fault> {
    for number in 0..BEFOREHAND {
        exchange::<C, u64>(&mut C::make(), number)?;
    }
    Bytes::now()?;
    Ok(())
}

fn exchange<C: Channel, M: Letter>(ends: &mut C::Ends<M>, number: u64) -> Result<(), Fault> {
    check(number, C::exchange(ends, M::numbered(number)))
}

fn check<M: Letter>(expected: u64, received: Option<M>) -> Result<(), Fault> {
    let expected = expected as usize;
    match received.map(|message| message.number() as usize) {
        Some(received) if received == expected => Ok(()),
        Some(received) => Err(Fault::OutOfOrder { expected, received }),
        None => Err(Fault::Lost { expected }),
    }
}

/// A panic here is an error of [`stack::used`].
fn one_large<C: Channel>() {
    let received = C::exchange(&mut C::make(), Large::numbered(1)).map(|message| message.number());
    assert_eq!(received, Some(1), "the message was lost");
}
