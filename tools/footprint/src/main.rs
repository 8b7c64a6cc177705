//! What each kind of channel costs, in figures that are the same at each run: `ci/steps/footprint` compares them with
//! `costs.txt`. Times and resident bytes are for `ybench footprint`, whose kinds of channels and painter of stacks these are.
//!
//! One thread makes some channels, sends a message through each and receives it, and drops them. What it has of the
//! allocator, and what the process has mapped, is read in between. Prints a row for each kind.
//!
//! Cannot: tell a large block of the allocator, which it maps, from memory that a channel maps itself. No channel here has
//! such a block before a burst.
#![allow(unreachable_pub)] // The modules are those of `ybench-measure`, where they are public.

use std::fs;
use std::io;

#[path = "../../../bench/measure/src/allocations.rs"]
mod allocations;
#[path = "../../../bench/measure/src/footprint/channel.rs"]
#[allow(dead_code)] // Some of it is for other libraries' channels.
mod channel;
#[path = "../../../bench/measure/src/footprint/ours.rs"]
mod ours;
#[path = "../../../bench/measure/src/footprint/stack.rs"]
mod stack;

use allocations::{allocations, held};
use channel::{Channel, LARGE, Large, Letter};

/// As many as the tables of a thread have room for when they have grown evenly.
const CHANNELS: usize = 64;

/// As in `ybench footprint`.
const BURST: usize = 200_000;

fn main() -> io::Result<()> {
    row::<ours::Spsc>()?;
    row::<ours::SpscBounded>()?;
    row::<ours::Mpsc>()?;
    row::<ours::MpscBounded>()?;
    row::<ours::MpscShared>()?;
    row::<ours::Mpmc>()?;
    row::<ours::MpmcUnbounded>()?;
    row::<ours::Rendezvous>()?;
    row::<ours::Oneshot>()?;
    row::<ours::Broadcast>()?;
    row::<ours::Watch>()?;
    row::<ours::Letterbox>()
}

/// Name, bytes idle and after one message, allocations of both together, bytes when dropped, bytes kept after a burst, and the
/// stack of a large message. Bytes are allocated and mapped ones together.
fn row<C: Channel>() -> io::Result<()> {
    for number in 0..2 * CHANNELS {
        exchange::<C, usize>(&mut C::make(), number);
    }
    bytes()?;
    let (before, counted) = (bytes()?, allocations());
    let mut all: Vec<C::Ends<usize>> = Vec::with_capacity(CHANNELS);
    all.extend((0..CHANNELS).map(|_| C::make()));
    // The reading itself allocates, and frees what it had.
    let reading = allocations();
    let idle = bytes()?;
    let reading = allocations() - reading;
    all.iter_mut().zip(0..).for_each(|(ends, number)| exchange::<C, usize>(ends, number));
    // The vector is one allocation.
    let counted = allocations() - counted - reading - 1;
    let after = bytes()?;
    drop(all);
    let left = bytes()?;
    let each = |bytes: i64| (bytes - before) as f64 / CHANNELS as f64;
    let kept = if C::UNBOUNDED { after_a_burst::<C>()?.to_string() } else { String::new() };
    println!(
        "{} | {:.1} | {:.1} | {:.1} | {:.1} | {kept} | {:.2}",
        C::NAME,
        each(idle),
        each(after),
        counted as f64 / CHANNELS as f64,
        each(left),
        stack::used(one_large::<C>)? as f64 / LARGE as f64
    );
    Ok(())
}

fn exchange<C: Channel, M: Letter>(ends: &mut C::Ends<M>, number: usize) {
    let received = C::exchange(ends, M::numbered(number)).map(|message| message.number());
    assert_eq!(received, Some(number), "{}", C::NAME);
}

fn one_large<C: Channel>() {
    exchange::<C, Large>(&mut C::make(), 1);
}

fn after_a_burst<C: Channel>() -> io::Result<i64> {
    let before = bytes()?;
    let mut ends = C::make::<usize>();
    assert!((0..BURST).all(|number| C::send(&mut ends, number)), "{}", C::NAME);
    assert!((0..BURST).all(|number| C::receive(&mut ends) == Some(number)), "{}", C::NAME);
    Ok(bytes()? - before)
}

/// Bytes that this thread has of the allocator, and bytes that the process has mapped otherwise.
fn bytes() -> io::Result<i64> {
    let held = held();
    let maps = fs::read_to_string("/proc/self/maps")?;
    Ok(held + maps.lines().filter_map(anonymous).sum::<i64>())
}

/// The bytes of a line of the kernel's, if they belong to no file, no heap and no stack.
fn anonymous(line: &str) -> Option<i64> {
    let mut words = line.split_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    // Offset, device, and a file's number, which is 0; a name would come after these.
    if !rights.starts_with("rw") || words.nth(2)? != "0" || words.next().is_some() {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    Some(i64::from_str_radix(to, 16).ok()? - i64::from_str_radix(from, 16).ok()?)
}
