//! Chance: numbers without a pattern that a loop could fall in step with. They choose where to begin among handles that
//! are all ready.
//!
//! Each thread has a sequence of its own: wait-free, a few instructions, and no cache line is shared. Guards nothing;
//! not for secrets.
//!
//! Source: SplitMix64 (Steele, Lea, Flood 2014).

use core::cell::Cell;
// Not `crate::sync`'s: no part of any handshake that a model would explore.
use core::sync::atomic::{AtomicU64, Ordering};

/// The golden ratio's fraction: multiples of it are spread evenly.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

// THREAD EXIT: `PLACE`, a number: a thread without its thread-locals begins again each time; by construction:
//     `try_with`
std::thread_local! {
    /// Where this thread's sequence is; 0 before it has begun.
    static PLACE: Cell<u64> = const { Cell::new(0) };
}

// MUTANT: Models only, or another constant of the random sequence.
/// Another number each time. Any thread; wait-free.
#[inline]
pub(crate) fn chance() -> u64 {
    // A model must do the same each time.
    if cfg!(ysuite_loom) {
        return 0;
    }
    // A thread whose locals are gone takes the beginning of another sequence each time.
    PLACE
        .try_with(|place| {
            let before = if place.get() == 0 { begin() } else { place.get() };
            let now = before.wrapping_add(STEP);
            place.set(now);
            mix(now)
        })
        .unwrap_or_else(|_| mix(begin()))
}

// MUTANT: Other sequences of random numbers serve as well.
/// The beginning of another sequence.
#[cold]
fn begin() -> u64 {
    static SEQUENCES: AtomicU64 = AtomicU64::new(1);
    // ORDERING: Relaxed; the count guards nothing but itself.
    mix(SEQUENCES.fetch_add(1, Ordering::Relaxed).wrapping_mul(STEP)) | 1
}

#[inline]
fn mix(number: u64) -> u64 {
    // MUTANT: Another random number serves as well.
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

/// A number below `bound`, each with the same probability, except for one part in 2^32.
#[inline]
pub(crate) fn chance_below(bound: usize) -> usize {
    // MUTANT: Differs for at most one number of 2^64.
    ((u128::from(chance()) * bound as u128) >> 64) as usize
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_source() {
        // The first number of a SplitMix64 that begins at 0.
        assert_eq!(mix(STEP), 0xE220_A839_7B1D_CDAF);
        PLACE.with(|place| place.set(STEP));
        assert_eq!([chance(), chance()], [0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }

    #[test]
    fn each_thread_has_a_sequence_of_its_own() {
        let of_a_thread = || thread::spawn(|| [chance(), chance()]).join().unwrap();
        assert_ne!(of_a_thread(), of_a_thread());
    }
}
