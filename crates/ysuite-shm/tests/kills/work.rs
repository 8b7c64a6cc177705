//! The cases of a work queue: each job that was sent is finished once, whichever worker dies over it and wherever; a job is
//! begun twice only if a worker has died, or has given it back, with it in hand; and what a sender has given out is
//! received behind its death.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_shm::{Error, Options, WorkReceiver, WorkSender, connect};

use crate::cases::{MESSAGES, Outcome, Part, Peer};
#[cfg(target_arch = "x86_64")]
use crate::injected::{Failure, in_a_crowd};
use crate::kinds::trades::Trade;
use crate::process::{Child, Point, Shared, here};
use crate::watch::{connected, name};

/// Fewer than are sent.
const CREDIT: usize = 3;

fn bind<T: Trade>(name: &str) -> Result<T::Sender, Error> {
    T::work(&Options::new(), Some(name), CREDIT)
}

fn join<T: Trade>(name: &str, is_over: &AtomicBool) -> Option<WorkReceiver<T::Carried>> {
    connected(name, is_over).and_then(|socket| WorkReceiver::from_fd(socket).ok())
}

/// Does jobs until the end, each at once: which, and why it ended.
fn working<T: Trade>(mut worker: WorkReceiver<T::Carried>) -> (Vec<u64>, Error) {
    let mut done = Vec::new();
    loop {
        match worker.recv() {
            Ok(job) => {
                done.push(T::number(&job));
                job.finish();
            }
            Err(error) => return (done, error),
        }
    }
}

fn sender_of_part<T: Trade>(name: &str, part: Part, joined: &Shared, sent: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut sender = bind::<T>(name).unwrap();
    T::set_spin(&mut sender, 0);
    while part != Part::Hello && joined.get() == 0 {
        T::serve(&mut sender, Duration::from_millis(1));
    }
    T::serve(&mut sender, Duration::ZERO);
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for job in 0..MESSAGES {
        T::send(&mut sender, job).unwrap();
        sent.set(job + 1);
    }
    T::settle(&mut sender).unwrap();
    assert_eq!(T::counts(&sender).0, MESSAGES);
    part.leave(sender);
}

pub(crate) fn sender_dies<T: Trade>(part: Part, point: Point) -> Outcome {
    let (name, sent, joined) = (name(), Shared::new(), Arc::new(Shared::new()));
    let child = Child::traced(|| sender_of_part::<T>(&name, part, &joined, &sent));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let reader = thread::spawn(move || {
        let mut worker = join::<T>(&name, &over)?;
        worker.set_spin(if let Part::Messages(Peer::Spins) = part { u32::MAX } else { 0 });
        joined.set(1);
        Some(working::<T>(worker))
    });
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    let Some((done, error)) = reader.join().unwrap() else { return Outcome { reached, lost: 0, doubled: 0 } };
    assert!(error == Error::Died || part == Part::Drop && error == Error::Closed, "{error:?}");
    assert!(done.iter().copied().eq(0..done.len() as u64), "{done:?}");
    let (done, sent) = (done.len() as u64, sent.get());
    Outcome { reached, lost: sent.saturating_sub(done), doubled: done.saturating_sub(sent + 1) }
}

/// One word for each job that a worker of [`MESSAGES`] has begun, and does not give back: its number and 1.
type Begun = [Shared; MESSAGES as usize];

fn worker_of_part<T: Trade>(name: &str, part: Part, begun: &Begun) {
    if part == Part::Hello {
        here();
    }
    let mut worker = join::<T>(name, &AtomicBool::new(false)).unwrap();
    worker.set_spin(0);
    let first = worker.recv().unwrap();
    begun[0].set(T::number(&first) + 1);
    first.finish();
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for (turn, begun) in begun.iter().enumerate().skip(1) {
        let job = worker.recv().unwrap();
        // Else it is given back.
        if turn % 3 > 0 {
            begun.set(T::number(&job) + 1);
            job.finish();
        }
    }
    part.leave(worker);
}

/// Sends jobs until it is over, and waits until all are finished; how many, and those that a worker beside has done.
fn sending<T: Trade>(name: &str, spin: u32, is_over: Arc<AtomicBool>) -> thread::JoinHandle<(u64, Vec<u64>)> {
    let mut sender = bind::<T>(name).unwrap();
    T::set_spin(&mut sender, spin);
    thread::spawn(move || {
        let mut innocent = WorkReceiver::from_fd(T::seat(&mut sender)).unwrap();
        innocent.set_spin(spin);
        let beside = thread::spawn(move || working::<T>(innocent));
        let mut sent = 0;
        // ORDERING: Relaxed; a test.
        while !is_over.load(Ordering::Relaxed) {
            // For ever, but for a worker that is there.
            T::send(&mut sender, sent).unwrap();
            sent += 1;
            thread::sleep(Duration::from_micros(20));
        }
        // For ever, but for a death that is noticed.
        T::settle(&mut sender).unwrap();
        let (finished, unfinished, _) = T::counts(&sender);
        assert_eq!((finished, unfinished), (sent, 0));
        while T::counts(&sender).2 > 1 {
            T::serve(&mut sender, Duration::from_millis(1));
        }
        drop(sender);
        let (done, error) = beside.join().unwrap();
        assert_eq!(error, Error::Closed);
        (sent, done)
    })
}

pub(crate) fn worker_dies<T: Trade>(part: Part, point: Point) -> Outcome {
    let (name, begun): (_, Begun) = (name(), core::array::from_fn(|_| Shared::new()));
    let child = Child::traced(|| worker_of_part::<T>(&name, part, &begun));
    let is_over = Arc::new(AtomicBool::new(false));
    let spin = if part == Part::Messages(Peer::Spins) { 1_000 } else { 0 };
    let writer = sending::<T>(&name, spin, Arc::clone(&is_over));
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    let (sent, done) = writer.join().unwrap();
    let mut times = vec![0_u64; sent as usize];
    let by_the_dead = begun.iter().map(Shared::get).filter(|job| *job > 0).map(|job| job - 1);
    done.into_iter().chain(by_the_dead).for_each(|job| times[job as usize] += 1);
    let lost = times.iter().filter(|times| **times == 0).count() as u64;
    // The one that the dead worker had in hand.
    let doubled = times.iter().map(|times| times.saturating_sub(1)).sum::<u64>().saturating_sub(1);
    Outcome { reached, lost, doubled }
}

#[cfg(target_arch = "x86_64")]
fn send_all<T: Trade>(name: &str, done: &Shared) -> Result<(), Error> {
    let mut sender = bind::<T>(name)?;
    T::set_spin(&mut sender, 0);
    // A worker that was refused comes again.
    let mut job = 0;
    while done.get() < MESSAGES {
        job += u64::from(T::try_send(&mut sender, job));
        T::serve(&mut sender, Duration::from_micros(100));
    }
    T::settle(&mut sender)?;
    assert_eq!(T::counts(&sender).0, job);
    Ok(())
}

/// A sender of which this call fails with this one of its errors: each worker that comes has its jobs, or is refused.
#[cfg(target_arch = "x86_64")]
pub(crate) fn sender_fails<T: Trade>(call: u64, error: usize) -> Failure {
    let (name, done) = (name(), Arc::new(Shared::new()));
    let count = Arc::clone(&done);
    let beside = |is_over: Arc<AtomicBool>| {
        let name = name.clone();
        thread::spawn(move || {
            while let Some(mut worker) = join::<T>(&name, &is_over) {
                worker.set_spin(0);
                while let Ok(job) = worker.recv() {
                    job.finish();
                    count.set(count.get() + 1);
                }
            }
        })
    };
    in_a_crowd(|| send_all::<T>(&name, &done), beside, call, error)
}

#[cfg(target_arch = "x86_64")]
fn work_all<T: Trade>(name: &str) -> Result<(), Error> {
    let mut worker = WorkReceiver::<T::Carried>::from_fd(connect(name)?)?;
    worker.set_spin(0);
    (0..MESSAGES).try_for_each(|_| worker.recv().map(|job| job.finish()))
}

/// As [`sender_fails`], of a worker.
#[cfg(target_arch = "x86_64")]
pub(crate) fn worker_fails<T: Trade>(call: u64, error: usize) -> Failure {
    let name = name();
    let beside = |is_over| {
        let writer = sending::<T>(&name, 0, is_over);
        thread::spawn(move || _ = writer.join().unwrap())
    };
    in_a_crowd(|| work_all::<T>(&name), beside, call, error)
}

/// A sender and workers that are awake make no system call for each job.
pub(crate) fn jobs_without_calls<T: Trade>() {
    const STREAM: u64 = 4_000;
    let (name, joined) = (name(), Shared::new());
    let child = Child::traced(|| {
        let mut sender = T::work(&Options::new(), Some(&name), 64).unwrap();
        // It never sleeps over room, however loaded the machine.
        T::set_spin(&mut sender, u32::MAX);
        while joined.get() == 0 {
            T::serve(&mut sender, Duration::ZERO);
        }
        T::serve(&mut sender, Duration::ZERO);
        here();
        (0..STREAM).for_each(|job| T::send(&mut sender, job).unwrap());
        here();
    });
    let mut worker = join::<T>(&name, &AtomicBool::new(false)).unwrap();
    worker.set_spin(u32::MAX);
    joined.set(1);
    let reader = thread::spawn(move || working::<T>(worker));
    let calls = child.stopped().tap_kill(Child::count_calls);
    // One in a millisecond, to see who comes.
    assert!(calls < STREAM / 10, "{calls}");
    let (done, error) = reader.join().unwrap();
    assert!(done.into_iter().eq(0..STREAM));
    assert_eq!(error, Error::Died);
}

/// Numbers that need not be good, only different.
fn below(seed: &mut u64, most: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 20) % most
}

/// Workers that are killed at any time, and others that come, do all jobs: each is finished once, and begun once, and once
/// more for each death at most.
pub(crate) fn random_kills<T: Trade>() {
    const JOBS: usize = 2_000;
    let begun: Vec<Shared> = (0..JOBS).map(|_| Shared::new()).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    let mut sender = T::work(&Options::new(), None, CREDIT).unwrap();
    let hire = |sender: &mut T::Sender, spin| {
        let seat = T::seat(sender);
        Child::run(|| {
            let mut worker = WorkReceiver::<T::Carried>::from_fd(seat).unwrap();
            worker.set_spin(spin);
            while let Ok(job) = worker.recv() {
                let begun = &begun[T::number(&job) as usize];
                begun.set(begun.get() + 1);
                // So that it is killed over a job more often than between two.
                (0..3_000).for_each(|_| core::hint::spin_loop());
                job.finish();
            }
        })
    };
    let mut workers: Vec<_> = (0..3).map(|_| hire(&mut sender, 0)).collect();
    let mut kills = 0;
    for job in 0..JOBS as u64 {
        T::send(&mut sender, job).unwrap();
        if below(&mut seed, 20) == 0 {
            (0..below(&mut seed, 3_000)).for_each(|_| core::hint::spin_loop());
            workers.swap_remove(below(&mut seed, 3) as usize).kill();
            kills += 1;
            workers.push(hire(&mut sender, [0, 100][job as usize % 2]));
        }
    }
    T::settle(&mut sender).unwrap();
    let (finished, unfinished, _) = T::counts(&sender);
    assert_eq!((finished, unfinished), (JOBS as u64, 0));
    drop(sender);
    workers.into_iter().for_each(Child::join);
    let times: Vec<u64> = begun.iter().map(Shared::get).collect();
    assert!(times.iter().all(|times| *times > 0), "none is lost");
    let again = times.iter().sum::<u64>() - JOBS as u64;
    assert!(kills > 50 && again <= kills, "{again} begun again by {kills} kills");
    println!("{kills} workers killed, {again} jobs begun again");
}

/// A forked child that drops its copy of a job gives nothing back, and does no harm.
pub(crate) fn forked_job() {
    let mut sender = WorkSender::<u64>::without_name(1).unwrap();
    let mut worker = WorkReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    sender.send(7).unwrap();
    let mut job = Some(worker.recv().unwrap());
    let child = Child::run(|| drop(job.take()));
    child.join();
    job.take().unwrap().finish();
    sender.settle().unwrap();
    assert_eq!(sender.finished(), 1);
}
