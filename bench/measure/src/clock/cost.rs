//! The cost of reading a clock, by each way to read one: the article's table of overheads, and more. One thread calls
//! it, which should stay on its CPU. It takes a few milliseconds.
//!
//! A batch is `READINGS` readings between two of this program's own clock, without the cost of those two. All ways take
//! turns, so that a change of the processor's speed affects all of them.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use super::Clock;
#[cfg(target_arch = "x86_64")]
use super::counter;
use crate::stats::Spread;

/// One way to read a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    /// Nanoseconds of one reading, over the batches. Absent where this processor cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nanoseconds: Option<Spread>,
    /// The reason why there is no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
}

pub const GETTIMEOFDAY: &str = "gettimeofday";
pub const RDTSC: &str = "rdtsc";
pub const OURS: &str = "ybench";

/// Short enough that most batches are not interrupted.
const READINGS: u32 = 64;
const FEW_BATCHES: usize = 101;
const MANY_BATCHES: usize = 1_001;

/// Nanoseconds per reading in a batch.
type Batch = fn(&Clock, f64) -> f64;

struct Way {
    name: &'static str,
    batch: Result<Batch, &'static str>,
}

/// Nanoseconds of one reading of this clock. Two readings in direct sequence are this far apart.
pub(super) fn of_a_reading(clock: &Clock) -> f64 {
    let figures: Vec<f64> = (0..FEW_BATCHES).map(|_| batch(clock, between_two(clock), || clock.read())).collect();
    // There are figures, so there is a median.
    Spread::of(&figures).map_or(0.0, |spread| spread.median)
}

/// Every way that this machine has.
pub(super) fn table(clock: &Clock) -> Vec<Row> {
    let ways = ways();
    let mut figures = vec![Vec::with_capacity(MANY_BATCHES); ways.len()];
    for _ in 0..MANY_BATCHES {
        let own = between_two(clock);
        for (way, figures) in ways.iter().zip(&mut figures) {
            figures.extend(way.batch.map(|batch| batch(clock, own)).ok());
        }
    }
    let row = |(way, figures): (Way, Vec<f64>)| Row {
        name: way.name.to_owned(),
        nanoseconds: Spread::of(&figures),
        absent: way.batch.err().map(str::to_owned),
    };
    ways.into_iter().zip(figures).map(row).collect()
}

fn ways() -> Vec<Way> {
    let way = |name, batch| Way { name, batch: Ok(batch) };
    let mut ways = vec![
        way(GETTIMEOFDAY, |clock, own| batch(clock, own, gettimeofday)),
        way("clock_gettime(CLOCK_MONOTONIC)", |clock, own| batch(clock, own, clock_gettime)),
        way("std::time::Instant", |clock, own| batch(clock, own, std::time::Instant::now)),
    ];
    ways.extend(instructions());
    ways.push(way("quanta", |clock, own| batch(clock, own, || clock.source.raw())));
    ways.push(way(OURS, |clock, own| batch(clock, own, || clock.read())));
    ways
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> [Way; 4] {
    let way = |name, batch| Way { name, batch: Ok(batch) };
    let rdtscp = |clock: &_, own| batch(clock, own, counter::with_processor);
    let has_rdtscp = counter::has_rdtscp();
    [
        way(RDTSC, |clock, own| batch(clock, own, counter::plain)),
        Way { name: RDTSCP, batch: has_rdtscp.then_some(rdtscp as Batch).ok_or(NOT_AN_INSTRUCTION) },
        way(LFENCE_RDTSC, |clock, own| batch(clock, own, counter::ordered)),
        way(LFENCE_RDTSC_LFENCE, |clock, own| batch(clock, own, counter::enclosed)),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> [Way; 4] {
    [RDTSC, RDTSCP, LFENCE_RDTSC, LFENCE_RDTSC_LFENCE].map(|name| Way { name, batch: Err(NOT_AN_INSTRUCTION) })
}

const RDTSCP: &str = "rdtscp";
const LFENCE_RDTSC: &str = "lfence; rdtsc";
const LFENCE_RDTSC_LFENCE: &str = "lfence; rdtsc; lfence";
const NOT_AN_INSTRUCTION: &str = "not an instruction of this processor";

#[inline(always)]
fn batch<T>(clock: &Clock, own: f64, read: impl Fn() -> T) -> f64 {
    let from = clock.read();
    for _ in 0..READINGS {
        black_box(read());
    }
    let to = clock.read();
    ((clock.nanoseconds(from, to) - own) / f64::from(READINGS)).max(0.0)
}

/// Nanoseconds between two readings with nothing between them, at best: the excess of every batch.
fn between_two(clock: &Clock) -> f64 {
    let apart = (0..8).map(|_| {
        let from = clock.read();
        clock.nanoseconds(from, clock.read())
    });
    apart.fold(f64::INFINITY, f64::min).max(0.0)
}

fn gettimeofday() -> i64 {
    let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the result is written to a local variable, and the time zone is null.
    unsafe { libc::gettimeofday(&raw mut now, std::ptr::null_mut()) };
    now.tv_usec
}

fn clock_gettime() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result is written to a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn every_way_has_a_figure_or_a_reason() {
        let rows = table(clock::get());
        assert_eq!(rows.len(), 9);
        for row in &rows {
            assert_eq!(row.nanoseconds.is_some(), row.absent.is_none(), "{row:?}");
        }
        for name in [GETTIMEOFDAY, RDTSC, OURS] {
            assert!(rows.iter().any(|row| row.name == name), "{name}");
        }
    }

    #[test]
    fn a_reading_takes_time() {
        assert!(of_a_reading(clock::get()) > 0.0);
    }
}
