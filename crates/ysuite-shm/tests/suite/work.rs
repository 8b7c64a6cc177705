//! A work queue: each job for one worker, again for another until it is finished.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite_shm::{
    Error, Options, Receiver, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError, Why, WorkReceiver,
    WorkSender, connect,
};

use crate::LONG;

fn name(test: &str) -> String {
    format!("test-{}-work-{test}", std::process::id())
}

fn queue(credit: usize, workers: usize) -> (WorkSender<u64>, Vec<WorkReceiver<u64>>) {
    let mut sender = WorkSender::without_name(credit).unwrap();
    let workers = (0..workers).map(|_| WorkReceiver::from_fd(sender.seat().unwrap()).unwrap()).collect();
    sender.serve();
    (sender, workers)
}

/// What a worker has in hand, if there is something; it is finished.
fn work(worker: &mut WorkReceiver<u64>) -> Option<u64> {
    let job = worker.try_recv().ok()?;
    let number = *job;
    job.finish();
    Some(number)
}

fn is_readable(end: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// Claim: Each job goes to one worker and is finished once, with every credit, whichever side waits.
#[test]
fn jobs_are_shared() {
    for (credit, jobs, spin) in [(1, 3_000, 100), (1, 1_000, 0), (5, 20_000, 0), (64, 50_000, 100)] {
        let (mut sender, workers) = queue(credit, 3);
        sender.set_spin(spin);
        let working: Vec<_> = workers
            .into_iter()
            .map(|mut worker| {
                thread::spawn(move || {
                    worker.set_spin(spin);
                    let mut done = Vec::new();
                    loop {
                        match worker.recv() {
                            Ok(job) => {
                                done.push(*job);
                                job.finish();
                            }
                            Err(error) => return (done, error),
                        }
                    }
                })
            })
            .collect();
        (0..jobs).for_each(|job| sender.send(job).unwrap());
        sender.settle().unwrap();
        assert_eq!((sender.finished(), sender.unfinished()), (jobs, 0));
        drop(sender);
        let mut done = Vec::new();
        for worker in working {
            let (some, error) = worker.join().unwrap();
            assert!(some.is_sorted(), "in order");
            assert_eq!(error, Error::Closed);
            done.extend(some);
        }
        done.sort_unstable();
        assert!(done.into_iter().eq(0..jobs), "each once");
    }
}

/// Claim: The credit is exact: a worker has at most as many jobs as that, and one more for each that it finishes.
#[test]
fn the_credit_is_exact() {
    for credit in [1, 2, 7, 8, 63, 64] {
        let (mut sender, mut workers) = queue(credit, 1);
        let mut next = 0;
        let mut done = 0;
        for round in 0..200 {
            while sender.try_send(next).is_ok() {
                next += 1;
            }
            assert_eq!(sender.unfinished(), credit, "{round}");
            assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
            for _ in 0..1 + round % credit {
                assert_eq!(work(&mut workers[0]), Some(done));
                done += 1;
            }
        }
        assert_eq!(sender.send_timeout(next, LONG), Ok(()));
        while sender.try_send(next).is_ok() {}
        assert_eq!(sender.send_timeout(1, Duration::from_millis(3)), Err(SendTimeoutError::Timeout(1)));
        assert_eq!(sender.send_deadline(1, Instant::now()), Err(SendTimeoutError::Timeout(1)));
        assert_eq!(sender.settle_timeout(Duration::from_millis(1)), Ok(false));
    }
    for credit in [0, 65, usize::MAX] {
        assert_eq!(WorkSender::<u64>::without_name(credit).unwrap_err(), Error::Refused(Why::Capacity));
    }
}

/// Claim: A worker that never finishes holds up the jobs that it has, and no other.
#[test]
fn a_slow_worker_holds_up_no_other() {
    for credit in [1, 4] {
        let (mut sender, mut workers) = queue(credit, 2);
        sender.set_spin(0);
        let mut slow = workers.pop().unwrap();
        let mut quick = workers.pop().unwrap();
        quick.set_spin(0);
        let working = thread::spawn(move || {
            let mut done = 0;
            while let Ok(job) = quick.recv() {
                job.finish();
                done += 1;
            }
            done
        });
        (0..2_000).for_each(|job| sender.send(job).unwrap());
        while sender.unfinished() > credit {
            sender.serve_timeout(Duration::from_millis(1));
        }
        assert_eq!(sender.finished(), 2_000 - credit as u64);
        let job = slow.recv().unwrap();
        job.finish();
        drop(slow);
        sender.settle().unwrap();
        assert_eq!(sender.finished(), 2_000);
        drop(sender);
        assert_eq!(working.join().unwrap(), 1_999);
    }
}

/// Claim: A job goes to the worker that has the fewest.
#[test]
fn the_freest_worker_is_next() {
    let (mut sender, mut workers) = queue(8, 3);
    (0..6).for_each(|job| sender.try_send(job).unwrap());
    // Each has two, and one finishes both.
    let done = [work(&mut workers[1]), work(&mut workers[1])].map(Option::unwrap);
    assert_eq!(work(&mut workers[1]), None);
    sender.try_send(6).unwrap();
    sender.try_send(7).unwrap();
    assert_eq!([work(&mut workers[1]), work(&mut workers[1])], [Some(6), Some(7)]);
    assert_eq!(done[1] - done[0], 3, "in turn");
}

/// Claim: A wait without time meets the workers that have come.
#[test]
fn who_has_no_time_meets_who_has_come() {
    let name = name("no-time");
    let arrived = || {
        let sender = WorkSender::<u64>::bind(&name, 4).unwrap();
        let worker = WorkReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
        (sender, worker)
    };
    let (mut sender, _worker) = arrived();
    sender.serve_timeout(Duration::ZERO);
    assert_eq!(sender.workers(), 1);
    drop(sender);
    let (mut sender, mut worker) = arrived();
    assert_eq!(sender.send_timeout(7, Duration::ZERO), Ok(()));
    assert_eq!(work(&mut worker), Some(7));
    assert_eq!(sender.settle_timeout(Duration::ZERO), Ok(true));
}

/// Claim: A job that is dropped unfinished is given out before any new job, and to the same worker if no other is there.
#[test]
fn what_is_given_back_comes_before_new_jobs() {
    let (mut sender, mut workers) = queue(64, 1);
    (0..200).for_each(|job| {
        // Each fourth is given back once: so its bits are, in the end, those of all places.
        sender.send(job).unwrap();
        let in_hand = workers[0].recv().unwrap();
        assert_eq!(*in_hand, job);
        if job % 4 == 0 {
            drop(in_hand);
            sender.serve();
            assert_eq!(work(&mut workers[0]), Some(job), "before a new one");
        } else {
            in_hand.finish();
        }
    });
    sender.settle().unwrap();
    assert_eq!(sender.finished(), 200);
}

/// Claim: As free as another, a worker does not get again what it has given back.
#[test]
fn what_is_given_back_goes_to_another() {
    for first in [0, 1] {
        let (mut sender, mut workers) = queue(2, 2);
        (0..2).for_each(|job| sender.send(job).unwrap());
        let job = workers[first].recv().unwrap();
        let number = *job;
        drop(job);
        work(&mut workers[1 - first]).unwrap();
        sender.serve();
        assert_eq!((work(&mut workers[first]), work(&mut workers[1 - first])), (None, Some(number)));
    }
}

/// A job that each worker gives back, or goes with, is put aside after as many times as it may be given out. Those that
/// wait behind it are not to blame, and are done.
///
/// Claim: A job that has failed as often as it may is given out no more, and others are finished.
#[test]
fn a_job_that_no_worker_survives_is_put_aside() {
    let mut sender = Options::new().attempts(3).work_without_name::<u64>(4).unwrap();
    let come = |sender: &mut WorkSender<u64>| {
        let (number, seat) = sender.numbered_seat().unwrap();
        let worker = WorkReceiver::<u64>::from_fd(seat).unwrap();
        sender.serve();
        (number, worker)
    };
    // With a job in hand, which its end gives back, and no drop of the job.
    let goes = |mut worker: WorkReceiver<u64>, job: u64| {
        let in_hand = worker.recv().unwrap();
        assert_eq!(*in_hand, job);
        core::mem::forget(in_hand);
    };
    let (first, mut worker) = come(&mut sender);
    (0..4).for_each(|job| sender.try_send(job).unwrap());
    drop(worker.recv().unwrap());
    for job in 1..4 {
        assert_eq!(work(&mut worker), Some(job));
    }
    sender.serve();
    goes(worker, 0);
    let (second, worker) = come(&mut sender);
    sender.serve();
    assert_eq!((sender.next_failed(), sender.unfinished()), (None, 1));
    goes(worker, 0);
    let (_, mut worker) = come(&mut sender);
    assert_eq!((sender.next_failed(), sender.next_failed()), (Some(0), None));
    assert_eq!((sender.finished(), sender.unfinished(), sender.settle()), (3, 0, Ok(())));
    assert_eq!(work(&mut worker), None);
    let ended: Vec<_> = core::iter::from_fn(|| sender.next_ended()).map(|ended| ended.sender).collect();
    assert_eq!(ended, [first, second]);
    // The first that it has may be to blame, and no other.
    (10..14).for_each(|job| sender.try_send(job).unwrap());
    for job in [10, 10] {
        goes(worker, job);
        worker = come(&mut sender).1;
        sender.serve();
    }
    let mut done: Vec<_> = core::iter::from_fn(|| work(&mut worker)).collect();
    done.sort_unstable();
    assert_eq!((done, sender.next_failed()), (vec![10, 11, 12, 13], None));
}

/// Claim: What was given back waits for room, and nothing new is taken before.
#[test]
fn what_is_given_back_waits_for_room() {
    let (mut sender, mut workers) = queue(4, 2);
    (0..8).for_each(|job| sender.try_send(job).unwrap());
    let [mut one, mut other] = [workers.pop().unwrap(), workers.pop().unwrap()];
    let mut jobs = HashSet::new();
    for _ in 0..4 {
        jobs.insert(*one.recv().unwrap());
    }
    drop(one);
    assert_eq!(sender.try_send(8), Err(TrySendError::Full(8)));
    assert_eq!((sender.workers(), sender.unfinished(), sender.finished()), (1, 8, 0));
    for job in 8..20 {
        while sender.try_send(job).is_err() {
            work(&mut other).map(|job| jobs.insert(job)).unwrap();
        }
    }
    while !sender.settle_timeout(Duration::ZERO).unwrap() {
        work(&mut other).map(|job| jobs.insert(job)).unwrap();
    }
    assert_eq!((jobs.len(), sender.finished()), (20, 20));
}

/// Claim: Jobs that a worker had in hand, or had not looked at, are those of others when it goes, or its thread unwinds.
#[test]
fn a_worker_that_goes_gives_back() {
    let (mut sender, mut workers) = queue(3, 2);
    let mut last = workers.pop().unwrap();
    let mut clumsy = workers.pop().unwrap();
    (0..6).for_each(|job| sender.try_send(job).unwrap());
    let working = thread::spawn(move || {
        clumsy.recv().unwrap().finish();
        let job = clumsy.recv().unwrap();
        assert_eq!(*job, u64::MAX, "it fails over this one");
    });
    assert!(working.join().is_err());
    let working = thread::spawn(move || {
        let mut done = Vec::new();
        while let Ok(job) = last.recv() {
            done.push(*job);
            job.finish();
        }
        done
    });
    sender.settle().unwrap();
    assert_eq!(sender.finished(), 6);
    drop(sender);
    let mut done = working.join().unwrap();
    done.sort_unstable();
    done.dedup();
    assert_eq!(done.len(), 5);
}

/// Claim: A job that is forgotten is received again, by the same worker.
#[test]
fn a_forgotten_job_comes_again() {
    let (mut sender, mut workers) = queue(2, 1);
    sender.send(1).unwrap();
    core::mem::forget(workers[0].recv().unwrap());
    assert_eq!(work(&mut workers[0]), Some(1));
    assert_eq!(workers[0].try_recv().unwrap_err(), TryRecvError::Empty);
    assert_eq!(workers[0].recv_timeout(Duration::from_millis(1)).unwrap_err(), RecvTimeoutError::Timeout);
    assert_eq!(workers[0].recv_deadline(Instant::now()).unwrap_err(), RecvTimeoutError::Timeout);
    sender.settle().unwrap();
}

/// Claim: A sender without workers waits for one that may come; one that none can join says so, returns the job, keeps what
/// was given back, and goes on with a new seat.
#[test]
fn without_workers() {
    let name = name("without");
    let mut sender = WorkSender::<u64>::bind(&name, 2).unwrap();
    assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
    assert_eq!(sender.send_timeout(0, Duration::from_millis(1)), Err(SendTimeoutError::Timeout(0)));
    sender.settle().unwrap();
    let sending = thread::spawn(move || sender.send(7).map(|()| sender));
    let mut worker = WorkReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    assert_eq!(worker.meet_timeout(LONG), Ok(true));
    assert_eq!(*worker.recv().unwrap(), 7);
    drop(sending.join().unwrap().unwrap());

    let (mut sender, workers) = queue(2, 1);
    (0..2).for_each(|job| sender.try_send(job).unwrap());
    drop(workers);
    assert_eq!(sender.send(2).unwrap_err().into_inner(), 2);
    assert_eq!(sender.try_send(2), Err(TrySendError::Ended(2, Error::Closed)));
    assert_eq!(sender.settle(), Err(Error::Closed));
    assert_eq!((sender.unfinished(), sender.workers()), (2, 0));
    let mut worker = WorkReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    assert_eq!([work(&mut worker), work(&mut worker)], [Some(0), Some(1)]);
    sender.settle().unwrap();
}

/// Claim: Workers that come and go under load, in the middle of jobs as well, lose none and double none that was not given
/// back.
#[test]
fn workers_come_and_go_under_load() {
    const JOBS: u64 = 20_000;
    let name = name("load");
    let mut sender = WorkSender::<u64>::bind(&name, 4).unwrap();
    let begun: Arc<Vec<AtomicU32>> = Arc::new((0..JOBS).map(|_| AtomicU32::new(0)).collect());
    let given_back = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let (name, begun, given_back) = (name.clone(), Arc::clone(&begun), Arc::clone(&given_back));
            thread::spawn(move || {
                let mut round = 0_u64;
                // Until nobody listens any more.
                while let Ok(socket) = connect(&name) {
                    let Ok(mut worker) = WorkReceiver::<u64>::from_fd(socket) else { break };
                    worker.set_spin([0, 50][round as usize % 2]);
                    for turn in 0..round % 40 {
                        let Ok(job) = worker.recv() else { break };
                        // ORDERING: Relaxed; counts.
                        begun[*job as usize].fetch_add(1, Ordering::Relaxed);
                        if (turn + number) % 7 == 6 {
                            given_back.fetch_add(1, Ordering::Relaxed);
                        } else {
                            job.finish();
                        }
                    }
                    round += 1;
                }
            })
        })
        .collect();
    (0..JOBS).for_each(|job| sender.send(job).unwrap());
    sender.settle().unwrap();
    assert_eq!(sender.finished(), JOBS);
    drop(sender);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    // ORDERING: Relaxed; as above, and the threads were joined.
    let times: u64 = begun.iter().map(|times| u64::from(times.load(Ordering::Relaxed))).sum();
    assert!(begun.iter().all(|times| times.load(Ordering::Relaxed) > 0), "none is lost");
    assert_eq!(times, JOBS + given_back.load(Ordering::Relaxed), "none is begun again without a reason");
}

/// Claim: A worker that was armed becomes readable for a job and for the end; a sender for room, for the last finished job,
/// for a worker that comes, and for one that goes.
#[test]
fn descriptors_tell() {
    let (mut sender, mut workers) = queue(2, 1);
    let mut worker = workers.pop().unwrap();
    for job in 0..100 {
        while !worker.arm() {
            assert_eq!(worker.try_recv().unwrap_err(), TryRecvError::Empty);
        }
        assert!(!is_readable(&worker, Duration::ZERO), "{job}");
        sender.send(job).unwrap();
        assert!(is_readable(&worker, LONG));
        while !sender.arm_to_settle() {}
        assert!(!is_readable(&sender, Duration::ZERO), "{job}");
        assert_eq!(work(&mut worker), Some(job));
        assert!(is_readable(&sender, LONG));
        assert!(!sender.arm_to_settle() && !sender.arm(), "there is room, and nothing to settle");
    }
    for job in 100..200 {
        while sender.try_send(job).is_ok() {}
        while !sender.arm() {}
        assert!(!is_readable(&sender, Duration::ZERO));
        work(&mut worker).unwrap();
        assert!(is_readable(&sender, LONG));
    }
    while sender.try_send(0).is_ok() {}
    while !sender.arm() {}
    let mut another = WorkReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    assert!(is_readable(&sender, LONG));
    while sender.try_send(0).is_ok() {}
    assert_eq!(sender.unfinished(), 4);
    while !sender.arm() {}
    drop(worker);
    assert!(is_readable(&sender, LONG));
    while !sender.settle_timeout(Duration::ZERO).unwrap() {
        work(&mut another);
    }
    while !another.arm() {}
    drop(sender);
    assert!(is_readable(&another, LONG));
    assert!(another.is_disconnected());
}

#[test]
fn who_only_serves_sleeps_until_there_is_something_to_serve() {
    let mut sender = WorkSender::<u64>::without_name(1).unwrap();
    assert!(sender.is_disconnected() && !sender.arm_to_serve());
    let seat = sender.seat().unwrap();
    while !sender.arm_to_serve() {}
    assert!(!sender.is_disconnected() && !is_readable(&sender, Duration::ZERO));
    let mut worker = WorkReceiver::<u64>::from_fd(seat).unwrap();
    assert!(is_readable(&sender, LONG), "a worker has come");
    sender.send(7).unwrap();
    while !sender.arm_to_serve() {}
    drop(worker.recv().unwrap());
    assert!(is_readable(&sender, LONG), "a job was given back");
    sender.serve();
    assert_eq!(work(&mut worker), Some(7));
    drop(worker);
    while !sender.is_disconnected() {
        assert!(!sender.arm_to_serve() || is_readable(&sender, LONG));
    }
    assert!(!sender.arm_to_serve());
}

/// Claim: What was given out is still received behind the end of the sender; who sleeps is woken by it.
#[test]
fn jobs_are_received_behind_the_end() {
    for options in [Options::new(), Options::new().careful()] {
        let mut sender = options.work_without_name::<u64>(8).unwrap();
        let [mut slow, mut asleep] =
            core::array::from_fn(|_| options.work_receiver::<u64>(sender.seat().unwrap()).unwrap());
        asleep.set_spin(0);
        let sleeping = thread::spawn(move || core::iter::from_fn(|| asleep.recv().ok().map(|job| *job)).sum::<u64>());
        sender.serve();
        (0..8).for_each(|job| sender.send(job).unwrap());
        thread::sleep(Duration::from_millis(1));
        drop(sender);
        let sum: u64 = core::iter::from_fn(|| work(&mut slow)).sum();
        assert_eq!(slow.try_recv().unwrap_err(), TryRecvError::Ended(Error::Closed));
        assert!(slow.is_disconnected() && !slow.arm());
        // What the other one gives back is given to the first before the end, or to nobody.
        assert!(sum + sleeping.join().unwrap() >= 28);
    }
}

#[test]
fn ends_of_other_kinds_are_refused() {
    let name = name("refused");
    let mut sender = WorkSender::<u64>::bind(&name, 4).unwrap();
    let mut pipe = Receiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    let mut narrow = WorkReceiver::<u32>::from_fd(connect(&name).unwrap()).unwrap();
    assert_eq!(pipe.try_recv(), Err(TryRecvError::Empty));
    sender.serve();
    assert_eq!(pipe.recv(), Err(Error::Refused(Why::Kind)));
    assert_eq!(narrow.recv().unwrap_err(), Error::Refused(Why::Type));
    assert_eq!(sender.workers(), 0);
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<WorkSender<u64>>();
    may_go::<WorkReceiver<u64>>();
}
