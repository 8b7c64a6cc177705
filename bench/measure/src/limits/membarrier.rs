//! `membarrier(2)`, the cost of the sleeping side of an asymmetric barrier: alone, with a sleeping peer, and with a
//! running peer, which it interrupts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use rustix::thread::futex::{self, Flags};
use rustix::thread::{MembarrierCommand, membarrier};

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, duet, solo};

/// Registers the process (once is enough, more is harmless), then times `barriers` barriers.
fn barriers(calls: u64) -> Result<Timed, Fault> {
    membarrier(MembarrierCommand::RegisterPrivateExpedited)?;
    let start = Instant::now();
    for _ in 0..calls {
        membarrier(MembarrierCommand::PrivateExpedited)?;
    }
    Ok(Timed { elapsed: start.elapsed(), units: calls })
}

pub fn alone(place: Place, calls: u64) -> Result<Timed, Fault> {
    solo(place.first, move || barriers(calls))?
}

pub fn peer_running(place: Place, calls: u64) -> Result<Timed, Fault> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let (timed, ()) = duet(
        place,
        calls,
        move |gate| {
            gate.pass();
            let timed = barriers(calls);
            // ORDERING: Relaxed: the flag carries no other data.
            stop.store(true, Ordering::Relaxed);
            timed
        },
        move |gate| {
            gate.pass();
            // ORDERING: Relaxed: as above.
            while !stopped.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        },
    )?;
    timed
}

pub fn peer_asleep(place: Place, calls: u64) -> Result<Timed, Fault> {
    let stop = Arc::new(AtomicU32::new(0));
    let stopped = stop.clone();
    let (timed, ()) = duet(
        place,
        calls,
        move |gate| {
            gate.pass();
            let timed = barriers(calls);
            // ORDERING: Relaxed: the word carries no other data; the kernel orders the wake after it.
            stop.store(1, Ordering::Relaxed);
            let _ = futex::wake(&stop, Flags::PRIVATE, 1);
            timed
        },
        move |gate| {
            gate.pass();
            // ORDERING: Relaxed: as above.
            while stopped.load(Ordering::Relaxed) == 0 {
                let _ = futex::wait(&stopped, Flags::PRIVATE, 0, None);
            }
        },
    )?;
    timed
}
