//! `std.concurrency` of D. Its runtime brings a collector that stops all threads of its process, so each run is a
//! process of its own: `d/concurrency.d`, which pins its threads to the same CPUs and prints two readings of the clock
//! that is also ours.
//!
//! It has streams and ping-pong. Measurements of threads, memory or system calls in this process would not cover it.
//! The program is part of this one, and runs from memory.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Output};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::thread::{CpuSet, sched_getaffinity};
use rustix::time::{ClockId, clock_gettime};
use ybench_measure::error::Fault;
use ybench_measure::place::Place;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::cells::drivers::{BYTES, Brought, Drivers};
use ybench_measure::scenario::throughput::Stream;
use ybench_measure::stage::Timed;
use ybench_measure::transport::{Ends, Traits, Waits};

static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/concurrency"));

const TRAITS: Traits = Traits {
    name: "d-concurrency",
    about: "std.concurrency of D, in a process of its own",
    waits: Waits::Sleeps,
    // By the types here: in D any number of threads can send to one.
    senders: Ends::One,
    most_bytes: |_| BYTES[3] as usize,
    apart: true,
    ..Traits::COMMON
};

pub(crate) fn entry() -> Entry {
    Entry {
        traits: TRAITS,
        ping_pong: |place, bounces, _| Ok(ping_pong::<0>(place, bounces)?.into()),
        throughput: |place, messages| timed(Asked { what: STREAM, size: 0, messages, cpus: both(place) }),
        batches: |_, _, _| elsewhere(),
        latency: |_, _| elsewhere(),
        density: |_, _| elsewhere(),
        overrun: |_, _| elsewhere(),
        fixed_rate: |_, _, _| elsewhere(),
        traffic: |_, _, _| elsewhere(),
        batches_on_time: |_, _, _, _| elsewhere(),
        paced: |_, _, _| elsewhere(),
        night_watchman: |_, _, _| elsewhere(),
        size: |_, _, _| elsewhere(),
        burst: |_, _, _| elsewhere(),
        held: |_| elsewhere(),
        crowd: |_, _, _, _| elsewhere(),
        many: None,
        idle_senders: None,
        sources: None,
        busy_sources: None,
        processes: None,
    }
}

pub(crate) fn drivers() -> Drivers {
    Drivers::brought(TRAITS.name, [brought::<0>(), brought::<1>(), brought::<2>(), brought::<3>()])
}

const fn brought<const SIZE: usize>() -> Brought {
    Brought { stream: stream::<SIZE>, batches: |_, _| elsewhere(), ping_pong: ping_pong::<SIZE>, ends: None }
}

fn elsewhere<A>() -> Result<A, Fault> {
    Err(Fault::System(io::Error::other("its threads are those of another process; it has streams and ping-pong only")))
}

const STREAM: &str = "stream";
const PING_PONG: &str = "ping-pong";

/// One run.
struct Asked {
    what: &'static str,
    /// One of [`BYTES`], by its place there.
    size: usize,
    messages: u64,
    cpus: [usize; 2],
}

fn both(place: Place) -> [usize; 2] {
    [place.first, place.second]
}

fn timed(asked: Asked) -> Result<Timed, Fault> {
    let units = asked.messages;
    let [start, end] = run(&asked)?;
    Ok(Timed { elapsed: end.saturating_sub(start), units })
}

/// Bounces a number of messages. The units of the result are messages, two for each bounce.
fn ping_pong<const SIZE: usize>(place: Place, bounces: u64) -> Result<Timed, Fault> {
    timed(Asked { what: PING_PONG, size: SIZE, messages: bounces * 2, cpus: both(place) })
}

/// Both threads are here only to report their CPU, and to wait.
fn stream<const SIZE: usize>(messages: usize) -> Result<Stream, Fault> {
    let (here, first) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    let pour = move || {
        // A thread without a listener has failed, and reports that itself.
        let _ = here.send(own_cpu());
        begins.recv().unwrap_or_else(|_| Instant::now())
    };
    let drain = move || {
        let first = first.recv().map_err(|_| Fault::Disconnected { expected: 0 })?;
        let asked = Asked { what: STREAM, size: SIZE, messages: messages as u64, cpus: [first?, own_cpu()?] };
        let [start, end] = run(&asked)?;
        let began = instant(start);
        let _ = begun.send(began);
        Ok(began + end.saturating_sub(start))
    };
    Ok((Box::new(pour), Box::new(drain)))
}

/// The first CPU that this thread may use.
fn own_cpu() -> Result<usize, Fault> {
    let cpus = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu));
    first.ok_or_else(|| Fault::System(io::Error::other("a thread without a CPU")))
}

/// A reading of the monotonic clock, as a moment here.
fn instant(reading: Duration) -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    let now = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
    let moment = Instant::now();
    moment.checked_sub(now.saturating_sub(reading)).unwrap_or(moment)
}

/// The times of the first send and of the last receipt.
fn run(asked: &Asked) -> Result<[Duration; 2], Fault> {
    let [first, second] = asked.cpus.map(|cpu| cpu.to_string());
    let (bytes, messages) = (BYTES[asked.size].to_string(), asked.messages.to_string());
    let mut command = Command::new(format!("/proc/self/fd/{}", program()?.as_raw_fd()));
    let output = command.args([asked.what, &bytes, &messages, &first, &second]).output()?;
    told(&output)
}

/// The output of the process.
fn told(output: &Output) -> Result<[Duration; 2], Fault> {
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_whitespace();
    let (word, numbers) = (words.next(), words.map(str::parse::<u64>).collect::<Result<Vec<_>, _>>());
    match (word, numbers.as_deref()) {
        (Some("kept"), Ok(&[start, end])) => Ok([Duration::from_nanos(start), Duration::from_nanos(end)]),
        (Some("wrong"), Ok(&[expected, received])) if received == u64::MAX => {
            Err(Fault::Lost { expected: expected as usize })
        }
        (Some("wrong"), Ok(&[expected, received])) => {
            Err(Fault::OutOfOrder { expected: expected as usize, received: received as usize })
        }
        _ => Err(Fault::OfGuest(format!("ended with {} and said \"{}\"", output.status, said.trim()))),
    }
}

fn program() -> io::Result<&'static OwnedFd> {
    static WRITTEN: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let written = WRITTEN.get_or_init(|| write().ok());
    written.as_ref().ok_or_else(|| io::Error::other("there is no memory for the program in D"))
}

fn write() -> io::Result<OwnedFd> {
    let file = memfd_create("ybench-concurrency", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    file.write_all(PROGRAM)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_sent_arrives_at_every_size_both_ways() {
        let place = Place::choose(None).unwrap();
        for size in 0..BYTES.len() {
            for what in [STREAM, PING_PONG] {
                let timed = timed(Asked { what, size, messages: 2_000, cpus: both(place) }).unwrap();
                assert!(timed.units == 2_000 && timed.elapsed > Duration::ZERO, "{what} {size}");
            }
        }
    }

    #[test]
    fn its_stream_is_timed_by_the_same_clock() {
        let before = Instant::now();
        let place = Place::choose(None).unwrap();
        let timed = ybench_measure::scenario::throughput::timed(place, 5_000, stream::<1>(5_000).unwrap()).unwrap();
        assert!(timed.elapsed > Duration::ZERO && timed.elapsed < before.elapsed());
    }

    fn said(text: &str) -> Result<[Duration; 2], Fault> {
        let status = Command::new("false").status().unwrap();
        told(&Output { status, stdout: text.as_bytes().to_vec(), stderr: Vec::new() })
    }

    #[test]
    fn a_process_that_fails_validation_is_detected() {
        assert!(matches!(said("kept 1000 3000\n"), Ok([start, end]) if (end - start).as_nanos() == 2_000));
        assert!(matches!(said("wrong 7 9"), Err(Fault::OutOfOrder { expected: 7, received: 9 })));
        assert!(matches!(said("wrong 7 18446744073709551615"), Err(Fault::Lost { expected: 7 })));
        for nothing in ["", "kept", "kept 1", "kept x 2", "wrong 1"] {
            assert!(matches!(said(nothing), Err(Fault::OfGuest(_))), "{nothing}");
        }
    }
}
