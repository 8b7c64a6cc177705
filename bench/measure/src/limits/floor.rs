//! The ping-pong baseline: the shortest time for a single word to reach the other CPU and come back.
//!
//! ```text
//!   two lines:   ping stores A, spins on B | pong spins on A, stores B        one line:   A and B are the same word
//! ```
//!
//! With and without the processor's pause between two polls, whichever is quicker: some processors pause for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, duet};

type Words = [CachePadded<AtomicU64>; 2];

pub fn two_lines(place: Place, messages: u64) -> Result<Timed, Fault> {
    let half = messages.div_ceil(2);
    Ok(bounce::<true>(place, half, [0, 1])?.quicker(bounce::<false>(place, half, [0, 1])?).covering(messages))
}

pub fn one_line(place: Place, messages: u64) -> Result<Timed, Fault> {
    let half = messages.div_ceil(2);
    Ok(bounce::<true>(place, half, [0, 0])?.quicker(bounce::<false>(place, half, [0, 0])?).covering(messages))
}

/// `there` and `back` are the words of the two directions. Ping writes odd numbers, pong the even ones after them, so
/// that one word can serve both.
fn bounce<const PAUSE: bool>(place: Place, messages: u64, [there, back]: [usize; 2]) -> Result<Timed, Fault> {
    let bounces = messages.div_ceil(2);
    let words = Arc::new(Words::default());
    let others = words.clone();
    let ((start, end), ()) = duet(
        place,
        messages,
        move |gate| {
            gate.pass();
            let start = Instant::now();
            for bounce in 0..bounces {
                // ORDERING: Release pairs with the peer's Acquire in `wait_for`, as a transport's publication does.
                words[there].store(2 * bounce + 1, Ordering::Release);
                wait_for::<PAUSE>(&words[back], 2 * bounce + 2);
            }
            (start, Instant::now())
        },
        move |gate| {
            gate.pass();
            for bounce in 0..bounces {
                wait_for::<PAUSE>(&others[there], 2 * bounce + 1);
                // ORDERING: Release pairs with the peer's Acquire in `wait_for`.
                others[back].store(2 * bounce + 2, Ordering::Release);
            }
        },
    )?;
    Ok(Timed::between(start, end, 2 * bounces))
}

#[inline]
fn wait_for<const PAUSE: bool>(word: &AtomicU64, value: u64) {
    // ORDERING: Acquire pairs with the Release stores in `bounce`.
    while word.load(Ordering::Acquire) != value {
        if PAUSE {
            std::hint::spin_loop();
        }
    }
}
