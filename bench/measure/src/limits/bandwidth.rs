//! The speed of one thread that fills and copies memory, over buffers larger than most caches, all touched before the
//! clock runs.

use std::hint::black_box;
use std::time::Instant;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, solo};

const BYTES: usize = 64 << 20;
const KIBIBYTES: u64 = (BYTES >> 10) as u64;

pub fn memset(place: Place, kibibytes: u64) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let mut target = vec![1u8; BYTES];
        passes(kibibytes, |pass| {
            black_box(&mut target).fill(pass as u8);
        })
    })
}

pub fn memcpy(place: Place, kibibytes: u64) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let source = vec![1u8; BYTES];
        let mut target = vec![2u8; BYTES];
        passes(kibibytes, |_| {
            black_box(&mut target).copy_from_slice(black_box(&source));
        })
    })
}

fn passes(kibibytes: u64, mut once: impl FnMut(u64)) -> Timed {
    let passes = kibibytes.div_ceil(KIBIBYTES).max(1);
    let start = Instant::now();
    for pass in 0..passes {
        once(pass);
    }
    Timed { elapsed: start.elapsed(), units: passes * KIBIBYTES }
}
