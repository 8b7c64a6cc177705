//! Memory handed over in blocks: the baseline of every transport that moves its messages through memory.
//!
//! ```text
//!   writer   fill block 0, raise flag 0, fill block 1 ...   |   reader   wait for flag 0, sum block 0, lower flag 0 ...
//! ```
//!
//! Four blocks, each flag on a line of its own, numbers counting up. The sum is checked. On one CPU nothing can be
//! handed over while it runs: there one thread fills a block and sums it, again and again.

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, duet, solo};

const BLOCKS: usize = 4;

struct Block<const WORDS: usize> {
    /// Set by the writer: the words are the reader's. Cleared by the reader: they are the writer's again.
    full: CachePadded<AtomicBool>,
    words: CachePadded<UnsafeCell<[u64; WORDS]>>,
}

// SAFETY: `full` says which side owns the words, and each side accesses them only while it owns them.
unsafe impl<const WORDS: usize> Sync for Block<WORDS> {}

pub fn quicker(place: Place, words: u64) -> Result<Timed, Fault> {
    let half = words.div_ceil(2);
    Ok(hand_over::<512>(place, half)?.quicker(hand_over::<8192>(place, half)?).covering(words))
}

/// The cost of a message of `WORDS` words as a part of such blocks: every transport moves all of it from the CPU that
/// writes it to the CPU that reads it.
pub fn messages_of<const WORDS: usize>(place: Place, messages: u64) -> Result<Timed, Fault> {
    let words = WORDS as u64;
    let timed = if place.one_cpu() {
        alone::<WORDS>(place, messages)?
    } else {
        quicker(place, messages.saturating_mul(words))?
    };
    // Both variants handed over whole blocks, which are whole messages or parts that add up to them.
    Ok(Timed { units: timed.units / words, ..timed })
}

/// In a block of the message's own size. It stays in the nearest cache if it fits.
fn alone<const WORDS: usize>(place: Place, messages: u64) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let mut words = vec![0; WORDS];
        let mut sum = 0;
        let start = Instant::now();
        for message in 0..messages {
            count_up(black_box(&mut words), message * WORDS as u64);
            sum = added_up(black_box(&words), sum);
        }
        checked(start, Instant::now(), messages * WORDS as u64, sum)
    })?
}

fn hand_over<const WORDS: usize>(place: Place, words: u64) -> Result<Timed, Fault> {
    let rounds = words.div_ceil(WORDS as u64).max(1);
    let blocks: Arc<[Block<WORDS>]> = (0..BLOCKS)
        .map(|_| Block {
            full: CachePadded::new(AtomicBool::new(false)),
            words: CachePadded::new(UnsafeCell::new([0; WORDS])),
        })
        .collect();
    let others = blocks.clone();
    let (start, (end, sum)) = duet(
        place,
        rounds * WORDS as u64,
        move |gate| {
            gate.pass();
            let start = Instant::now();
            fill(&blocks, rounds);
            start
        },
        move |gate| {
            gate.pass();
            let sum = drain(&others, rounds);
            (Instant::now(), sum)
        },
    )?;
    checked(start, end, rounds * WORDS as u64, sum)
}

/// The sum of all numbers below `count` must have arrived.
fn checked(start: Instant, end: Instant, count: u64, sum: u64) -> Result<Timed, Fault> {
    let due = (u128::from(count) * u128::from(count.saturating_sub(1)) / 2) as u64;
    if sum == due {
        Ok(Timed::between(start, end, count))
    } else {
        Err(Fault::OutOfOrder { expected: due as usize, received: sum as usize })
    }
}

#[inline(always)]
fn count_up(words: &mut [u64], first: u64) {
    for (at, word) in words.iter_mut().enumerate() {
        *word = first + at as u64;
    }
}

#[inline(always)]
fn added_up(words: &[u64], sum: u64) -> u64 {
    words.iter().fold(sum, |sum, &word| sum.wrapping_add(word))
}

fn fill<const WORDS: usize>(blocks: &[Block<WORDS>], rounds: u64) {
    for round in 0..rounds {
        let block = &blocks[round as usize % BLOCKS];
        // ORDERING: Acquire pairs with the reader's Release below: the reader has finished with the words.
        while block.full.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: the flag is clear, so the words are the writer's until it sets the flag.
        let words = unsafe { &mut *block.words.get() };
        count_up(words, round * WORDS as u64);
        // ORDERING: Release pairs with the reader's Acquire: the words are there.
        block.full.store(true, Ordering::Release);
    }
}

fn drain<const WORDS: usize>(blocks: &[Block<WORDS>], rounds: u64) -> u64 {
    let mut sum = 0u64;
    for round in 0..rounds {
        let block = &blocks[round as usize % BLOCKS];
        // ORDERING: Acquire pairs with the writer's Release: the words are there.
        while !block.full.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: the flag is set, so the words are the reader's until it clears the flag.
        let words = unsafe { &*block.words.get() };
        sum = added_up(words, sum);
        // ORDERING: Release pairs with the writer's Acquire: it may overwrite the words.
        block.full.store(false, Ordering::Release);
    }
    sum
}
