//! Sleeping and waking through a bare futex: what no transport that sleeps can beat.
//!
//! ```text
//!   ping   store A, wake A, wait on B until it changes    |    pong   wait on A until it changes, store B, wake B
//! ```
//!
//! Nobody spins. A wait that finds the word changed already returns at once, as it must.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use rustix::thread::futex::{self, Flags};

use crate::error::Fault;
use crate::neighbours::Neighbours;
use crate::place::Place;
use crate::stage::{Timed, duet};
use crate::stats::Spread;

type Word = CachePadded<AtomicU32>;

pub fn ping_pong(place: Place, messages: u64) -> Result<Timed, Fault> {
    let bounces = messages.div_ceil(2) as u32;
    let words = Arc::new([Word::default(), Word::default()]);
    let others = words.clone();
    let ((start, end), ()) = duet(
        place,
        messages,
        move |gate| {
            gate.pass();
            let [there, back] = &*words;
            let start = Instant::now();
            for bounce in 1..=bounces {
                set_and_wake(there, bounce);
                wait_until(back, bounce);
            }
            (start, Instant::now())
        },
        move |gate| {
            gate.pass();
            let [there, back] = &*others;
            for bounce in 1..=bounces {
                wait_until(there, bounce);
                set_and_wake(back, bounce);
            }
        },
    )?;
    Ok(Timed::between(start, end, 2 * u64::from(bounces)))
}

pub fn ping_pong_on_one_cpu(place: Place, messages: u64) -> Result<Timed, Fault> {
    ping_pong(place.together(), messages)
}

/// With fewer bounces a run may be over before a neighbour has had its turn.
const ENOUGH_FOR_NEIGHBOURS: u64 = 2_000;

pub fn ping_pong_beside_neighbours(place: Place, messages: u64) -> Result<Timed, Fault> {
    let _neighbours = Neighbours::on_every_cpu(place, 1)?;
    ping_pong(place, messages.max(ENOUGH_FOR_NEIGHBOURS))
}

fn set_and_wake(word: &AtomicU32, value: u32) {
    // ORDERING: Release pairs with the Acquire in `wait_until`.
    word.store(value, Ordering::Release);
    // A wake can fail only for its address, which is a reference.
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

fn wait_until(word: &AtomicU32, value: u32) {
    loop {
        // ORDERING: Acquire pairs with the Release in `set_and_wake`.
        let seen = word.load(Ordering::Acquire);
        if seen == value {
            return;
        }
        // Changed already, woken or interrupted: the load above decides.
        let _ = futex::wait(word, Flags::PRIVATE, seen, None);
    }
}

/// How long the thread sleeps before it is woken: long enough for the CPU to have found something else to do.
const IDLE: Duration = Duration::from_micros(200);

/// The median over so many wakes, one way, from before the store to after the wait.
pub fn wake_of_an_idle_thread(place: Place, wakes: u64) -> Result<Timed, Fault> {
    let origin = Instant::now();
    let wakes = wakes.max(1) as u32;
    let word = Arc::new(Word::default());
    let woken_at = Arc::new(CachePadded::new(AtomicU64::new(0)));
    let (others, stamp) = (word.clone(), woken_at.clone());
    let (latencies, ()) = duet(
        place,
        u64::from(wakes),
        move |gate| {
            gate.pass();
            (1..=wakes).map(|wake| wake_once(&word, &woken_at, wake, origin)).collect::<Vec<f64>>()
        },
        move |gate| {
            gate.pass();
            for wake in 1..=wakes {
                wait_until(&others, wake);
                // ORDERING: Release pairs with the Acquire in `wake_once`.
                stamp.store(origin.elapsed().as_nanos() as u64, Ordering::Release);
            }
        },
    )?;
    let median = Spread::of(&latencies).map_or(0.0, |spread| spread.median);
    Ok(Timed { elapsed: Duration::from_nanos((median * f64::from(wakes)) as u64), units: u64::from(wakes) })
}

fn wake_once(word: &AtomicU32, woken_at: &AtomicU64, wake: u32, origin: Instant) -> f64 {
    let rested = Instant::now() + IDLE;
    while Instant::now() < rested {
        std::hint::spin_loop();
    }
    // ORDERING: Relaxed: this thread alone reads the stamp, and the peer's next store comes after the wake below.
    woken_at.store(0, Ordering::Relaxed);
    let sent = origin.elapsed().as_nanos() as u64;
    set_and_wake(word, wake);
    loop {
        // ORDERING: Acquire pairs with the sleeper's Release.
        let received = woken_at.load(Ordering::Acquire);
        if received != 0 {
            return received.saturating_sub(sent) as f64;
        }
        std::hint::spin_loop();
    }
}
