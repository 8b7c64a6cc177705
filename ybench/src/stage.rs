//! Two threads, each kept on its CPU, starting together. The caller waits for both.
//!
//! The gate spins, so that neither thread is still waking up when the clock starts. On one CPU it gives way instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::Fault;
use crate::place::{Place, pin};

/// How long something took, and how many of its units that was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    pub elapsed: Duration,
    pub units: u64,
}

impl Timed {
    pub fn between(start: Instant, end: Instant, units: u64) -> Self {
        Self { elapsed: end.saturating_duration_since(start), units }
    }

    pub fn nanoseconds_per_unit(self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.units.max(1) as f64
    }

    /// The quicker of two, by time per unit.
    pub fn quicker(self, other: Self) -> Self {
        if other.nanoseconds_per_unit() < self.nanoseconds_per_unit() { other } else { self }
    }

    /// The same speed over at least so many units: for a probe that split its work between two variants.
    pub fn covering(self, units: u64) -> Self {
        let times = units.div_ceil(self.units.max(1)).max(1);
        Self { elapsed: self.elapsed * times.try_into().unwrap_or(u32::MAX), units: self.units * times }
    }
}

/// Opens when both threads have come.
pub struct Gate {
    missing: AtomicUsize,
}

impl Gate {
    fn new() -> Self {
        Self { missing: AtomicUsize::new(2) }
    }

    pub fn pass(&self) {
        // ORDERING: AcqRel: whatever a thread did before its arrival is seen by whoever saw the arrival (the load below).
        self.missing.fetch_sub(1, Ordering::AcqRel);
        let mut looks = 0u32;
        // ORDERING: Acquire pairs with the fetch_sub of the other thread.
        while self.missing.load(Ordering::Acquire) != 0 {
            looks = looks.wrapping_add(1);
            // The other thread may need this very CPU to arrive.
            if looks.is_multiple_of(1024) {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// How long a run of so many units may take before it is given up: many times what the slowest transport needs. What
/// loses a message is found in the first, short runs.
fn patience(units: u64) -> Duration {
    Duration::from_secs(60)
        .saturating_add(Duration::from_micros(500).saturating_mul(units.try_into().unwrap_or(u32::MAX)))
}

/// Runs `first` and `second` on the two CPUs of `place` and returns what both returned. Each must pass the gate once.
///
/// A panic in either continues in the caller. Two threads that wait for a message that was lost are left behind, and
/// the answer is [`Fault::Stuck`]; `units` says how much work there is, and so how long to wait for it.
pub fn duet<A, B>(
    place: Place,
    units: u64,
    first: impl FnOnce(&Gate) -> A + Send + 'static,
    second: impl FnOnce(&Gate) -> B + Send + 'static,
) -> Result<(A, B), Fault>
where
    A: Send + 'static,
    B: Send + 'static,
{
    let gate = Arc::new(Gate::new());
    let (done, finished) = mpsc::channel();
    let first = play(place.first, gate.clone(), done.clone(), first)?;
    let second = play(place.second, gate, done, second)?;
    let start = Instant::now();
    let patience = patience(units);
    for _ in 0..2 {
        match finished.recv_timeout(patience.saturating_sub(start.elapsed())) {
            Err(RecvTimeoutError::Timeout) => return Err(Fault::Stuck),
            // Both are past their work, one of them by a panic: joining tells.
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
        }
    }
    let first = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let second = second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok((first, second))
}

fn play<A: Send + 'static>(
    cpu: usize,
    gate: Arc<Gate>,
    done: mpsc::Sender<()>,
    part: impl FnOnce(&Gate) -> A + Send + 'static,
) -> Result<JoinHandle<Result<A, Fault>>, Fault> {
    let thread = thread::Builder::new().spawn(move || {
        // A thread that cannot be pinned plays its part all the same: its partner is waiting at the gate.
        let pinned = pin(cpu);
        let value = part(&gate);
        let _ = done.send(());
        pinned.map(|()| value)
    })?;
    Ok(thread)
}

/// Runs `only` on one CPU, in a thread of its own.
pub fn solo<A: Send>(cpu: usize, only: impl FnOnce() -> A + Send) -> Result<A, Fault> {
    thread::scope(|scope| {
        let only = scope.spawn(move || pin(cpu).map(|()| only()));
        only.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_run_and_answer() {
        let place = Place::choose(None).unwrap();
        for place in [place, place.together()] {
            let (a, b) = duet(
                place,
                1,
                |gate| {
                    gate.pass();
                    1
                },
                |gate| {
                    gate.pass();
                    "two"
                },
            )
            .unwrap();
            assert_eq!((a, b), (1, "two"));
        }
    }

    #[test]
    fn the_quicker_is_chosen_per_unit() {
        let slow = Timed { elapsed: Duration::from_nanos(100), units: 10 };
        let quick = Timed { elapsed: Duration::from_nanos(200), units: 100 };
        assert_eq!(slow.quicker(quick), quick);
        assert_eq!(quick.quicker(slow), quick);
    }
}
