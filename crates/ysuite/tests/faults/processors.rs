//! Threads and the CPUs they may use: changed while they run, one CPU for all, and a crowd of threads there. And
//! priorities that are mixed, as far as they are permitted.
//!
//! Claim: Changing CPUs, 64 threads on one CPU, and mixed real-time and nice priorities lose no message.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, Pid, gettid, sched_setaffinity};
use ysuite::{mpmc, mpsc, spsc};

use super::flows::FAMILY;
use super::messages;
use super::support::process::{alone, cpus, pin};
use super::support::{Random, guarded};

fn set(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    set
}

/// Each thread of every flow is sent from CPU to CPU, all of them to the same, and back to all, while it is at it.
#[test]
fn affinity_changes_under_way() {
    static THREADS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
    if !alone("processors::affinity_changes_under_way") {
        return;
    }
    let (cpus, mut random) = (cpus(), Random::new(5));
    for make in FAMILY {
        THREADS.lock().unwrap().clear();
        let mut hops = 0;
        make(messages(2_000)).run(
            |_| THREADS.lock().unwrap().push(gettid()),
            |_| {
                let one = cpus[random.below(cpus.len())];
                for &thread in THREADS.lock().unwrap().iter() {
                    let to = match random.below(4) {
                        0 => set(&cpus),
                        1 => set(&[cpus[random.below(cpus.len())]]),
                        _ => set(&[one]),
                    };
                    // A thread that has ended has no CPU.
                    hops += u32::from(sched_setaffinity(Some(thread), &to).is_ok());
                }
                thread::sleep(Duration::from_micros(300));
            },
        );
        assert!(hops > 0, "no thread was moved");
    }
}

/// All threads of each flow on one CPU.
#[test]
fn every_flow_on_one_cpu() {
    if alone("processors::every_flow_on_one_cpu") {
        pin(&cpus()[..1]);
        FAMILY.iter().for_each(|make| make(messages(300)).run(|_| {}, |_| thread::sleep(Duration::from_millis(1))));
    }
}

/// One thread has both handles.
#[test]
fn one_thread_on_one_cpu() {
    guarded(|| {
        pin(&cpus()[..1]);
        let (mut pipe, mut pipe_in) = spsc::bounded(7);
        let (mut lane, mut funnel_in) = mpsc::bounded(7);
        let (exchange, exchange_in) = mpmc::bounded(7);
        for number in 0..messages(2_000) {
            pipe.send(number).unwrap();
            lane.send(number).unwrap();
            exchange.send(number).unwrap();
            assert_eq!((pipe_in.recv(), funnel_in.recv(), exchange_in.recv()), (Ok(number), Ok(number), Ok(number)));
        }
    });
}

/// 64 threads on one CPU: 32 send, and 32 receive what one of them each sends, or what any does.
#[test]
fn sixty_four_threads_on_one_cpu() {
    guarded(|| {
        pin(&cpus()[..1]);
        let (sender, receiver) = mpmc::bounded(3);
        let (lane, mut funnel) = mpsc::bounded(3);
        let messages = messages(60);
        thread::scope(|scope| {
            for who in 0..32_u64 {
                let (sender, receiver, mut lane) = (sender.clone(), receiver.clone(), lane.clone());
                scope.spawn(move || (0..messages).for_each(|number| sender.send(who << 32 | number).unwrap()));
                scope.spawn(move || receiver.iter().for_each(|message| lane.send(message).unwrap()));
            }
            drop((sender, receiver, lane));
            let mut all: Vec<u64> = funnel.iter().collect();
            all.sort_unstable();
            let sent = (0..32).flat_map(|who| (0..messages).map(move |number| who << 32 | number));
            assert!(all.into_iter().eq(sent), "not every message has arrived once");
        });
    });
}

const FIFO: i32 = 1;
/// Whether this thread may be what the machine's owner alone may have it be.
fn become_real_time(priority: i32) -> bool {
    schedule(FIFO, priority)
}

fn schedule(policy: i32, priority: i32) -> bool {
    unsafe extern "C" {
        fn sched_setscheduler(thread: i32, policy: i32, priority: *const i32) -> i32;
    }
    // SAFETY: the structure has the priority alone; the thread is this one.
    unsafe { sched_setscheduler(0, policy, &raw const priority) == 0 }
}

/// Runs this as a real-time thread; `None` where that is not permitted.
#[cfg(target_arch = "x86_64")]
pub(crate) fn in_real_time<R>(act: impl FnOnce() -> R) -> Option<R> {
    const OTHER: i32 = 0;
    become_real_time(1).then(|| {
        let result = act();
        assert!(schedule(OTHER, 0));
        result
    })
}

/// Each second thread of every flow is real-time, or as nice as can be, and all are on one CPU: a thread that spins for
/// a peer keeps it from the CPU, and must yield. If real time is not permitted, only niceness is used.
#[test]
fn priorities_are_mixed_on_one_cpu() {
    if !alone("processors::priorities_are_mixed_on_one_cpu") {
        return;
    }
    static REAL_TIME: AtomicI32 = AtomicI32::new(0);
    for turn in 0..2 {
        for make in FAMILY {
            make(messages(100)).run(
                move |number| {
                    pin(&cpus()[..1]);
                    if number % 2 == turn {
                        REAL_TIME.fetch_add(i32::from(become_real_time(1 + number as i32)), Ordering::Relaxed);
                    } else {
                        setpriority_process(Some(gettid()), 19).expect("every process may be nice");
                    }
                },
                |_| thread::sleep(Duration::from_millis(1)),
            );
        }
    }
    println!("{} threads were real-time", REAL_TIME.load(Ordering::Relaxed));
}
