//! Blocks allocated by one thread and freed by another, at the same time: the pool, and the system's allocator.
//!
//! ```text
//!   first CPU    take, write a word, send ----> spsc, 1,024 places ----> receive, give back    second CPU
//! ```
//!
//! Both times include the transfer between the threads: it makes the ratio smaller than that of the blocks alone.

use std::time::Instant;

use ysuite::pool::Pool;
use ysuite::spsc;

use super::targets::{Ratio, least_of};
use super::{Run, beside_the_hand_over};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Plan;
use crate::stage::{Timed, duet};

const SESSION: &str = "targets: blocks of memory";
const POOL: &str = "pool";
const ALLOCATOR: &str = "system allocator";

pub(super) static RATIOS: [Ratio; 1] = [least_of(
    "512 bytes taken here and given back there: the pool is times faster than the system allocator",
    SESSION,
    &[ALLOCATOR],
    POOL,
    5.0,
)];

/// All competitors of the session.
pub fn contenders() -> [(&'static str, Run); 2] {
    [(POOL, by_pool), (ALLOCATOR, by_allocator)]
}

pub(super) fn plan(frame: Frame) -> Plan {
    beside_the_hand_over(SESSION, "Blocks taken by one thread and given back by another", &contenders(), frame)
}

/// Blocks that can be in flight.
const PLACES: usize = 1_024;

/// Bytes of each.
const BYTES: usize = 512;

fn by_pool(place: Place, blocks: u64) -> Result<Timed, Fault> {
    let pool = Pool::new(&[(BYTES, 2 * PLACES)]).map_err(std::io::Error::other)?;
    handed_over(place, blocks, move |number| {
        let mut block = pool.take(BYTES);
        block[0] = number as u8;
        block
    })
}

fn by_allocator(place: Place, blocks: u64) -> Result<Timed, Fault> {
    handed_over(place, blocks, |number| {
        // Of the right size, and not initialised, like a block of a pool.
        let mut block: Vec<u8> = Vec::with_capacity(BYTES);
        block.push(number as u8);
        block
    })
}

fn handed_over<B: AsRef<[u8]> + Send + 'static>(
    place: Place,
    blocks: u64,
    mut take: impl FnMut(usize) -> B + Send + 'static,
) -> Result<Timed, Fault> {
    let (mut sender, mut receiver) = spsc::bounded(PLACES);
    let blocks = blocks as usize;
    let (start, end) = duet(
        place,
        blocks as u64,
        move |gate| {
            gate.pass();
            let start = Instant::now();
            for number in 0..blocks {
                // The other thread ends early only if it has found a fault.
                if sender.send(take(number)).is_err() {
                    break;
                }
            }
            start
        },
        move |gate| {
            gate.pass();
            for number in 0..blocks {
                let Ok(block) = receiver.recv() else { return Err(Fault::Disconnected { expected: number }) };
                let (expected, received) = (number & 0xff, usize::from(block.as_ref()[0]));
                if received != expected {
                    return Err(Fault::OutOfOrder { expected, received });
                }
            }
            Ok(Instant::now())
        },
    )?;
    Ok(Timed::between(start, end?, blocks as u64))
}
