//! The cost of a full fence and of a read-modify-write, on a private line and on one that the other thread writes as
//! well.
//!
//! ```text
//!   private     one thread: operation, operation ...
//!   contended   both threads: operation, operation ... on the same line, one of them timed
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, duet, solo};

pub fn fence_private(place: Place, operations: u64) -> Result<Timed, Fault> {
    private(place, operations, store_and_fence)
}

pub fn fence_contended(place: Place, operations: u64) -> Result<Timed, Fault> {
    contended(place, operations, store_and_fence)
}

pub fn addition_private(place: Place, operations: u64) -> Result<Timed, Fault> {
    private(place, operations, add)
}

pub fn addition_contended(place: Place, operations: u64) -> Result<Timed, Fault> {
    contended(place, operations, add)
}

#[inline]
fn store_and_fence(word: &AtomicU64, value: u64) {
    // ORDERING: Relaxed, then the measured fence; it pairs with nothing.
    word.store(value, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

#[inline]
fn add(word: &AtomicU64, value: u64) {
    // ORDERING: Relaxed: the operation itself is measured, its result is not used.
    word.fetch_add(value, Ordering::Relaxed);
}

fn private(place: Place, operations: u64, operation: impl Fn(&AtomicU64, u64) + Send) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let word = CachePadded::new(AtomicU64::new(0));
        // The compiler must not see that no other thread has this word.
        let word = std::hint::black_box(&word);
        let start = Instant::now();
        for value in 0..operations {
            operation(word, value);
        }
        Timed { elapsed: start.elapsed(), units: operations }
    })
}

fn contended(
    place: Place,
    operations: u64,
    operation: impl Fn(&AtomicU64, u64) + Copy + Send + 'static,
) -> Result<Timed, Fault> {
    let word = Arc::new(CachePadded::new(AtomicU64::new(0)));
    let stop = Arc::new(CachePadded::new(AtomicBool::new(false)));
    let (others, stopped) = (word.clone(), stop.clone());
    let (timed, ()) = duet(
        place,
        operations,
        move |gate| {
            gate.pass();
            let start = Instant::now();
            for value in 0..operations {
                operation(&word, value);
            }
            let elapsed = start.elapsed();
            // ORDERING: Relaxed: the flag carries no other data.
            stop.store(true, Ordering::Relaxed);
            Timed { elapsed, units: operations }
        },
        move |gate| {
            gate.pass();
            // ORDERING: Relaxed: as above.
            while !stopped.load(Ordering::Relaxed) {
                operation(&others, 1);
            }
        },
    )?;
    Ok(timed)
}
