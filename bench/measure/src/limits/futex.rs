//! Sleeping and waking through a bare futex: the baseline of every transport that sleeps.
//!
//! ```text
//!   ping   store A, wake A, wait on B until it changes    |    pong   wait on A until it changes, store B, wake B
//! ```
//!
//! No thread spins. A wait that finds the word changed already returns at once, as it must.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use rustix::thread::futex::{self, Flags};

use crate::distribution::Distribution;
use crate::error::Fault;
use crate::neighbours::Neighbours;
use crate::place::Place;
use crate::stage::{Timed, duet};

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
                wait_past(back, bounce - 1);
            }
            (start, Instant::now())
        },
        move |gate| {
            gate.pass();
            let [there, back] = &*others;
            for bounce in 1..=bounces {
                wait_past(there, bounce - 1);
                set_and_wake(back, bounce);
            }
        },
    )?;
    Ok(Timed::between(start, end, 2 * u64::from(bounces)))
}

pub fn ping_pong_on_one_cpu(place: Place, messages: u64) -> Result<Timed, Fault> {
    ping_pong(place.together(), messages)
}

fn set_and_wake(word: &AtomicU32, value: u32) {
    // ORDERING: Release pairs with the Acquire in `wait_past`.
    word.store(value, Ordering::Release);
    // A wake can fail only for its address, which is a reference.
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

/// Waits until the word is no longer `before`. Returns its new value, and whether the thread slept meanwhile.
fn wait_past(word: &AtomicU32, before: u32) -> (u32, bool) {
    let mut slept = false;
    loop {
        // ORDERING: Acquire pairs with the Release in `set_and_wake`.
        let seen = word.load(Ordering::Acquire);
        if seen != before {
            return (seen, slept);
        }
        // Changed already, woken or interrupted: the load above decides. Only a woken thread has slept.
        slept |= futex::wait(word, Flags::PRIVATE, before, None).is_ok();
    }
}

/// The time that the thread sleeps before it is woken: long enough for the CPU to have started other work.
const IDLE: Duration = Duration::from_micros(200);

/// The waking thread's wait between two wakes, and between two polls of the other thread's state.
#[derive(Clone, Copy)]
struct Pace {
    rest: fn(),
    look: fn(),
}

/// The median over `wakes` wakes.
pub fn wake_of_an_idle_thread(place: Place, wakes: u64) -> Result<Timed, Fault> {
    let rest = || {
        let rested = Instant::now() + IDLE;
        while Instant::now() < rested {
            std::hint::spin_loop();
        }
    };
    wakes_of_a_sleeper(place, wakes, Pace { rest, look: std::hint::spin_loop }, 0.5)
}

/// Fewer have no 90th percentile.
const ENOUGH_FOR_A_TAIL: u64 = 100;

/// The 90th percentile over `wakes` wakes. The waking thread sleeps too: one that spins would be preempted for whole
/// slices.
pub fn wake_beside_neighbours(place: Place, wakes: u64) -> Result<Timed, Fault> {
    let _neighbours = Neighbours::on_every_cpu(place, 1)?;
    let sleep = || thread::sleep(IDLE);
    wakes_of_a_sleeper(place, wakes.max(ENOUGH_FOR_A_TAIL), Pace { rest: sleep, look: sleep }, 0.9)
}

/// Values in place of the time: that the woken thread does not run yet, or that it had not been asleep.
const NOT_YET: u64 = 0;
const WAS_AWAKE: u64 = u64::MAX;

/// The last wake.
const END: u32 = u32::MAX;

/// The time that this share of the wakes did not exceed, one way, from before the store to after the wait. Of `wakes`
/// wakes that found their thread asleep. A wake that came too soon, while another thread had the CPU, woke no thread
/// and does not count.
fn wakes_of_a_sleeper(place: Place, wakes: u64, pace: Pace, share: f64) -> Result<Timed, Fault> {
    let origin = Instant::now();
    let wakes = wakes.max(1);
    let word = Arc::new(Word::default());
    let woken_at = Arc::new(CachePadded::new(AtomicU64::new(NOT_YET)));
    let (others, stamp) = (word.clone(), woken_at.clone());
    let (times, ()) = duet(
        place,
        wakes,
        move |gate| {
            gate.pass();
            let all = (1..END).filter_map(|wake| wake_once(&word, &woken_at, wake, origin, pace));
            let times: Distribution = all.take(wakes as usize).collect();
            set_and_wake(&word, END);
            times
        },
        move |gate| {
            gate.pass();
            let (mut wake, mut slept) = wait_past(&others, 0);
            while wake != END {
                let time = if slept { origin.elapsed().as_nanos() as u64 } else { WAS_AWAKE };
                // ORDERING: Release pairs with the Acquire in `wake_once`.
                stamp.store(time, Ordering::Release);
                (wake, slept) = wait_past(&others, wake);
            }
        },
    )?;
    let units = wakes as f64;
    Ok(Timed { elapsed: Duration::from_nanos((times.quantile(share) * units) as u64), units: wakes })
}

/// Nothing if it found the thread awake.
fn wake_once(word: &AtomicU32, woken_at: &AtomicU64, wake: u32, origin: Instant, pace: Pace) -> Option<f64> {
    (pace.rest)();
    // ORDERING: Relaxed: only this thread reads the stamp, and the peer's next store comes after the wake below.
    woken_at.store(NOT_YET, Ordering::Relaxed);
    let sent = origin.elapsed().as_nanos() as u64;
    set_and_wake(word, wake);
    loop {
        // ORDERING: Acquire pairs with the sleeper's Release.
        match woken_at.load(Ordering::Acquire) {
            NOT_YET => (pace.look)(),
            WAS_AWAKE => return None,
            received => return Some(received.saturating_sub(sent) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_has_changed_already_puts_no_thread_to_sleep() {
        let word = Word::default();
        set_and_wake(&word, 1);
        assert_eq!(wait_past(&word, 0), (1, false));
    }

    #[test]
    fn a_woken_thread_has_slept() {
        let place = Place::choose(None).unwrap();
        let pace = Pace { rest: || thread::sleep(IDLE), look: || thread::sleep(IDLE) };
        for place in [place, place.together()] {
            // A wake that found no thread asleep is repeated.
            let timed = wakes_of_a_sleeper(place, 5, pace, 0.99).unwrap();
            assert!(timed.units == 5 && timed.elapsed > Duration::ZERO);
        }
    }
}
