//! The loops of the sides, compiled for each transport and each size of messages: those that threads have.
//!
//! A handle is never dropped before the process ends, which is when both sides have reported: what libraries still have
//! to deliver is delivered, and a queue is not removed under the other side.

use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::letters::{Job, Report, Role};
use crate::alarm::Until;
use crate::error::Fault;
use crate::scenario::stamped::room;
use crate::scenario::{Entry, bounces, entry, stamped, throughput};
use crate::transport::message::Block;
use crate::transport::process::{Channel, Plain, ProcessTransport, Side};
use crate::transport::{Closed, Receiver, Sender};

/// The bytes of messages that have loops.
pub const BYTES: [usize; 5] = [8, 64, 256, 4_096, 65_536];

/// A side's work, ready to begin.
pub(super) type Work = Box<dyn FnOnce() -> Result<Vec<u64>, Fault>>;

type Prepare = fn(&Job, Vec<Side>) -> Result<Work, Fault>;

/// Of messages of one size.
#[derive(Clone, Copy, Debug)]
struct Loops {
    open: fn() -> io::Result<Channel>,
    stream: Prepare,
}

/// The drivers of a transport between processes.
#[derive(Clone, Copy, Debug)]
pub struct Drivers {
    /// In the order of [`BYTES`].
    sizes: [Loops; BYTES.len()],
    single: Prepare,
}

/// A transport between processes with its drivers.
pub const fn between_processes<T: ProcessTransport>() -> Entry {
    let sizes = [
        loops::<T, usize>(),
        loops::<T, Block<8>>(),
        loops::<T, Block<32>>(),
        loops::<T, Block<512>>(),
        loops::<T, Block<8_192>>(),
    ];
    Entry { processes: Some(Drivers { sizes, single: single::<T> }), ..entry::without_drivers(T::TRAITS) }
}

const fn loops<T: ProcessTransport, M: Plain>() -> Loops {
    Loops { open: T::open::<M>, stream: stream::<T, M> }
}

impl Drivers {
    pub(super) fn open(&self, size: usize) -> io::Result<Channel> {
        (self.sizes[size].open)()
    }

    /// The side's work, with its handles made.
    pub(super) fn prepare(&self, job: &Job, sides: Vec<Side>) -> Result<Work, Fault> {
        let loops = self.sizes.get(job.size).ok_or_else(|| io::Error::other("there is no such size"))?;
        match job.role {
            Role::Pours | Role::Drains => (loops.stream)(job, sides),
            Role::Asks | Role::Answers | Role::Wakes | Role::IsWoken => (self.single)(job, sides),
        }
    }
}

/// A handle that is not dropped.
struct Kept<E>(ManuallyDrop<E>);

impl<E> Kept<E> {
    fn new(end: E) -> Self {
        Self(ManuallyDrop::new(end))
    }
}

impl<M: Plain, S: Sender<M>> Sender<M> for Kept<S> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message)
    }
}

impl<M: Plain, R: Receiver<M>> Receiver<M> for Kept<R> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv()
    }
}

fn only(sides: Vec<Side>) -> Result<Side, Fault> {
    let only: Result<[Side; 1], _> = sides.try_into();
    only.map(|[only]| only).map_err(|_| Fault::System(io::Error::other("a side of one channel is needed")))
}

fn stream<T: ProcessTransport, M: Plain>(job: &Job, sides: Vec<Side>) -> Result<Work, Fault> {
    let (side, messages) = (only(sides)?, job.messages);
    if job.role == Role::Pours {
        let sender = Kept::new(T::sender::<M>(side)?);
        return Ok(Box::new(move || Ok(vec![reading(throughput::pour(sender, messages))])));
    }
    let receiver = Kept::new(T::receiver::<M>(side)?);
    Ok(Box::new(move || Ok(vec![reading(throughput::drain(receiver, messages)?)])))
}

fn single<T: ProcessTransport>(job: &Job, sides: Vec<Side>) -> Result<Work, Fault> {
    match job.role {
        Role::Asks | Role::Answers => bounced::<T>(job, sides),
        _ => woken::<T>(job, sides),
    }
}

/// The first side is of the way there, the second of the way back.
fn bounced<T: ProcessTransport>(job: &Job, sides: Vec<Side>) -> Result<Work, Fault> {
    let sides: Result<[Side; 2], _> = sides.try_into();
    let [there, back] = sides.map_err(|_| io::Error::other("sides of two channels are needed"))?;
    let bounces = job.messages;
    if job.role == Role::Asks {
        // The receiver first: its peer may wait for it.
        let back = Kept::new(T::receiver::<usize>(back)?);
        let asks = bounces::asking(Kept::new(T::sender::<usize>(there)?), back, PhantomData::<fn() -> usize>);
        return Ok(Box::new(move || {
            let (start, timed) = (reading(Instant::now()), asks.counted(bounces, Until::default())?);
            Ok(vec![start, start + timed.elapsed.as_nanos() as u64])
        }));
    }
    let there = Kept::new(T::receiver::<usize>(there)?);
    let answers = bounces::answering(there, Kept::new(T::sender::<usize>(back)?), PhantomData::<fn() -> usize>);
    Ok(Box::new(move || answers.plain().map(|()| Vec::new())))
}

fn woken<T: ProcessTransport>(job: &Job, sides: Vec<Side>) -> Result<Work, Fault> {
    let (side, stamps, silence) = (only(sides)?, room(job.messages)?, job.silence);
    if job.role == Role::Wakes {
        let sender = Kept::new(T::sender::<usize>(side)?);
        return Ok(Box::new(move || Ok(wake_now_and_then(sender, stamps, silence))));
    }
    let receiver = Kept::new(T::receiver::<usize>(side)?);
    Ok(Box::new(move || stamped::receive(receiver, monotonic, stamps, &mut || ())))
}

#[inline(never)]
fn wake_now_and_then<S: Sender<usize>>(sender: S, stamps: Vec<u64>, silence: Duration) -> Vec<u64> {
    let (mut sender, mut stamps) = (sender, stamps);
    for (number, stamp) in stamps.iter_mut().enumerate() {
        thread::sleep(silence);
        *stamp = monotonic();
        // The receiver that has disconnected reports the reason.
        if sender.send(number).is_err() {
            break;
        }
    }
    let _ = sender.send(crate::transport::check::END);
    stamps
}

/// Nanoseconds of the clock that all processes share.
pub(super) fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A moment on that clock.
fn reading(moment: Instant) -> u64 {
    let (now, here) = (monotonic(), Instant::now());
    now.saturating_sub(here.saturating_duration_since(moment).as_nanos() as u64)
}

/// The work between two readings of what its thread has used.
pub(super) fn reported(work: Work) -> Result<Report, Fault> {
    let usage = crate::usage::Usage::of_this_thread();
    let times = work()?;
    let spent = usage.until_now();
    Ok(Report { times, cpu: spent.cpu, switches: spent.switches })
}
