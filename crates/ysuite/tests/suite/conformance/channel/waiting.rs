//! Threads that wait: timeouts, interruptions, spinning, too few CPUs, and what waiting costs.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use ysuite::{RecvTimeoutError, SendTimeoutError, Spin, TryRecvError};

use super::{Kind, Receiving, Sending};
#[cfg(target_os = "linux")]
use crate::support::process;
use crate::support::{Random, Tally, calls, guarded, interrupt::Interruptions};

const SHORT: Duration = Duration::from_micros(200);

pub(crate) fn timeouts_of_an_empty_channel<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    for timeout in [Duration::ZERO, Duration::from_nanos(1), SHORT] {
        assert_eq!(receiver.recv_timeout(timeout), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(Instant::now() + timeout), Err(RecvTimeoutError::Timeout));
        sender.send(1).unwrap();
        assert_eq!(receiver.recv_timeout(timeout), Ok(1));
    }
    drop(sender);
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
}

pub(crate) fn timeouts_of_a_full_channel<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let tally = Tally::of(capacity + 20);
    let (mut sender, mut receiver) = kind.pair();
    tally.some(capacity).for_each(|message| sender.send(message).unwrap());
    for timeout in [Duration::ZERO, Duration::from_nanos(1), SHORT] {
        match sender.send_timeout(tally.next(), timeout) {
            Err(SendTimeoutError::Timeout(message)) => assert_eq!(message.number, tally.made() - 1),
            other => panic!("{other:?}"),
        }
        assert!(sender.send_deadline(tally.next(), Instant::now() + timeout).unwrap_err().is_timeout());
        // Room for exactly one.
        drop(receiver.recv().unwrap());
        sender.send_timeout(tally.next(), timeout).unwrap();
        assert!(sender.try_send(tally.next()).is_err());
    }
    drop((sender, receiver));
    tally.assert_all_ended();
}

/// Claim: A wait with a deadline in the past polls once and times out.
pub(crate) fn deadlines_in_the_past<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let past = Instant::now();
    thread::sleep(Duration::from_millis(1));
    for spin in [Spin::None, Spin::Adaptive, Spin::Forever] {
        receiver.set_spin(spin);
        sender.set_spin(spin);
        assert_eq!(receiver.recv_deadline(past), Err(RecvTimeoutError::Timeout));
        // What is there is received even after it, and sent where there is room.
        sender.send_deadline(5, past).unwrap();
        assert_eq!(receiver.recv_deadline(past), Ok(5));
        let Some(capacity) = kind.capacity() else { continue };
        (0..capacity).for_each(|_| sender.send(5).unwrap());
        assert_eq!(sender.send_deadline(6, past), Err(SendTimeoutError::Timeout(6)));
        assert_eq!(receiver.try_iter().count(), capacity);
    }
}

/// Claim: `Duration::MAX` does not overflow the clock and means no time limit.
pub(crate) fn duration_max_is_for_ever<K: Kind>(kind: K) {
    guarded(move || {
        for timeout in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(i64::MAX as u64)] {
            let (mut sender, mut receiver) = kind.pair();
            let thread = thread::spawn(move || {
                thread::sleep(Duration::from_millis(5));
                (0..kind.some(2_000) + 1).for_each(|message| sender.send_timeout(message, timeout).unwrap());
            });
            assert_eq!(receiver.recv_timeout(timeout), Ok(0));
            thread::sleep(Duration::from_millis(5));
            for message in 1..=kind.some(2_000) {
                assert_eq!(receiver.recv_timeout(timeout), Ok(message));
            }
            thread.join().unwrap();
        }
    });
}

pub(crate) fn a_timed_out_wait_does_not_eat_the_wake<K: Kind>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 3_000;
        let (mut sender, mut receiver) = kind.pair();
        let tally = Tally::of(MESSAGES);
        let messages = tally.some(MESSAGES);
        let thread = thread::spawn(move || {
            let mut random = Random::new(3);
            for message in messages {
                // Half of the waits for room time out as well.
                let mut left = Some(message);
                while let Some(message) = left.take() {
                    let timeout = if random.below(2) == 0 { random.next() % 60 } else { u64::MAX };
                    match sender.send_timeout(message, Duration::from_micros(timeout)) {
                        Ok(()) => {}
                        Err(SendTimeoutError::Timeout(back)) => left = Some(back),
                        Err(SendTimeoutError::Disconnected(_)) => panic!("the receiver is there"),
                    }
                }
                random.pause();
            }
        });
        let mut random = Random::new(4);
        let mut expected = 0;
        while expected < MESSAGES {
            let message = match random.below(3) {
                0 => receiver.recv().ok(),
                _ => receiver.recv_timeout(Duration::from_micros(random.next() % 60)).ok(),
            };
            if let Some(message) = message {
                assert_eq!(message.number, expected);
                expected += 1;
            }
        }
        thread.join().unwrap();
        tally.assert_all_ended();
    });
}

/// Claim: A late or spurious wake-up is harmless.
/// Also: model slow_sender::a_slow_sender_against_a_thread_that_sleeps_twice.
/// Notices: liburcu#feb97797, a futex wakes spuriously and a count falls below zero.
pub(crate) fn a_spurious_futex_wake_is_harmless<K: Kind>(kind: K) {
    guarded(move || {
        let interruptions = Interruptions::new();
        let (mut sender, mut receiver) = kind.pair();
        let (done, received) = mpsc::channel();
        let thread = thread::spawn(move || {
            for timeout in [None, Some(Duration::MAX), None] {
                let message = match timeout {
                    None => receiver.recv().ok(),
                    Some(timeout) => receiver.recv_timeout(timeout).ok(),
                };
                done.send(message.unwrap()).unwrap();
            }
            receiver
        });
        for message in 0..3 {
            interruptions.pester(&thread, 30);
            assert!(received.try_recv().is_err(), "received something that was not sent");
            sender.send(message).unwrap();
            assert_eq!(received.recv(), Ok(message));
        }
        assert!(interruptions.count() > 0, "nothing was interrupted");
        let mut receiver = thread.join().unwrap();
        let Some(capacity) = kind.capacity() else { return };
        (0..capacity).for_each(|_| sender.send(1).unwrap());
        let thread = thread::spawn(move || {
            sender.send(2).unwrap();
            sender.send_timeout(3, Duration::MAX).unwrap();
        });
        interruptions.pester(&thread, 30);
        assert_eq!(receiver.len(), capacity);
        assert_eq!(receiver.recv(), Ok(1));
        interruptions.pester(&thread, 30);
        assert!(receiver.iter().eq([1].into_iter().cycle().take(capacity - 1).chain([2, 3])));
        thread.join().unwrap();
    });
}

/// Sends `messages` numbers to another thread, which replies to each `window` of them over a second channel.
fn back_and_forth<K: Kind>(kind: K, messages: usize, window: usize, spins: [Spin; 2]) {
    let (mut sender, mut receiver) = kind.pair();
    let (mut answering, mut answers) = kind.pair();
    sender.set_spin(spins[0]);
    answers.set_spin(spins[0]);
    receiver.set_spin(spins[1]);
    answering.set_spin(spins[1]);
    let thread = thread::spawn(move || {
        for (expected, message) in receiver.into_iter().enumerate() {
            assert_eq!(message, expected);
            if (message + 1) % window == 0 {
                answering.send(message).unwrap();
            }
        }
    });
    for message in 0..messages {
        sender.send(message).unwrap();
        if (message + 1) % window == 0 {
            assert_eq!(answers.recv(), Ok(message));
        }
    }
    drop(sender);
    thread.join().unwrap();
}

/// Claim: Every way of spinning receives all messages.
pub(crate) fn every_way_of_spinning_arrives<K: Kind>(kind: K) {
    guarded(move || {
        let ways = [Spin::None, Spin::Adaptive, Spin::Forever];
        for one in ways {
            for other in ways {
                // Threads that spin for ever and share a CPU need a time slice for each message.
                let rare = if one == Spin::Forever || other == Spin::Forever { 10 } else { 1 };
                back_and_forth(kind, 300 / rare, 1, [one, other]);
                back_and_forth(kind, 1_000 / rare, 100, [one, other]);
            }
        }
    });
}

pub(crate) fn a_spinning_wait_makes_no_system_call<K: Kind>(kind: K) {
    const SOON: Duration = Duration::from_millis(2);
    let (mut sender, mut receiver) = kind.pair();
    receiver.set_spin(Spin::Forever);
    sender.set_spin(Spin::Forever);
    let before = calls();
    assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!(calls(), before);
    let Some(capacity) = kind.capacity() else { return };
    (0..capacity).for_each(|message| sender.send(message).unwrap());
    let before = calls();
    assert_eq!(sender.send_timeout(capacity, SOON), Err(SendTimeoutError::Timeout(capacity)));
    assert_eq!(calls(), before);
}

/// Notices: crossbeam#821, two threads bound to one CPU do not make progress.
#[cfg(target_os = "linux")]
pub(crate) fn both_threads_on_one_cpu_finish<K: Kind>(kind: K) {
    guarded(move || {
        process::pin(&process::cpus()[..1]);
        for spin in [Spin::None, Spin::Adaptive] {
            back_and_forth(kind, 3_000, 1, [spin; 2]);
            back_and_forth(kind, 20_000, 1_000, [spin; 2]);
        }
    });
}

/// Notices: kanal#11, kanal#12, more threads than CPUs hang.
#[cfg(target_os = "linux")]
pub(crate) fn more_threads_than_cpus_finish<K: Kind>(kind: K) {
    guarded(move || {
        let cpus = process::cpus();
        process::pin(&cpus[..cpus.len().min(2)]);
        let pairs: Vec<_> = (0..8)
            .map(|_| {
                thread::spawn(move || {
                    back_and_forth(kind, 500, 1, [Spin::Adaptive; 2]);
                    back_and_forth(kind, 4_000, 500, [Spin::Adaptive; 2]);
                })
            })
            .collect();
        pairs.into_iter().for_each(|pair| pair.join().unwrap());
    });
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn both_threads_on_one_cpu_finish<K: Kind>(kind: K) {
    // Threads cannot be bound to a CPU here; many of them meet on each all the same.
    more_threads_than_cpus_finish(kind);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn more_threads_than_cpus_finish<K: Kind>(kind: K) {
    guarded(move || {
        let pairs: Vec<_> =
            (0..32).map(|_| thread::spawn(move || back_and_forth(kind, 500, 1, [Spin::Adaptive; 2]))).collect();
        pairs.into_iter().for_each(|pair| pair.join().unwrap());
    });
}

pub(crate) fn looking_at_an_empty_channel_makes_no_system_call<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair::<u64>();
    let mut to = Vec::new();
    // At first, and after messages.
    for _ in 0..2 {
        let before = calls();
        for _ in 0..1_000 {
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(receiver.try_recv_batch(&mut to, 5), Err(TryRecvError::Empty));
            assert_eq!(receiver.try_iter().next(), None);
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            assert!(receiver.is_empty() && receiver.len() == 0 && !receiver.is_disconnected());
        }
        assert_eq!(calls(), before);
        let messages = kind.some(1_000) as u64;
        (0..messages).for_each(|message| sender.send(message).unwrap());
        assert!(receiver.try_iter().eq(0..messages));
    }
}

/// Claim: A stream makes no system calls except those that park and wake.
/// Also: suite ypipe::small_pipes_make_no_system_call.
pub(crate) fn a_stream_makes_next_to_no_system_calls<K: Kind>(kind: K) {
    guarded(move || {
        let messages = if kind.capacity().is_some_and(|capacity| capacity < 100) { 200 } else { 100_000 };
        let calls = stream(kind, messages, Spin::Forever, 0);
        // No thread sleeps, and none is woken; a queue that grows may ask the kernel for memory now and then.
        assert!(calls == 0 || kind.capacity().is_none() && calls < messages as u64 / 1_000, "{calls} system calls");
        // The slower side hardly ever sleeps. A full channel's sender does; and if windows are widened, the sender may
        // be the slower side.
        if kind.capacity().is_none() && !cfg!(ysuite_delay) {
            let messages = 200_000;
            let calls = stream(kind, messages, Spin::Adaptive, 40);
            assert!(calls < messages as u64 / 1_000, "{calls} system calls");
        }
    });
}

/// Sends this many messages to a slow receiver; returns the system calls both have made.
fn stream<K: Kind>(kind: K, messages: usize, spin: Spin, dawdle: usize) -> u64 {
    let (mut sender, mut receiver) = kind.pair();
    sender.set_spin(spin);
    receiver.set_spin(spin);
    let thread = thread::spawn(move || {
        let before = calls();
        (0..messages).for_each(|message| sender.send(message).unwrap());
        (calls() - before, sender)
    });
    let before = calls();
    for expected in 0..messages {
        assert_eq!(receiver.recv(), Ok(expected));
        (0..dawdle).for_each(|_| std::hint::spin_loop());
    }
    calls() - before + thread.join().unwrap().0
}

/// Claim: A sleeping receiver uses no CPU time until it is woken.
pub(crate) fn an_idle_receiver_costs_nothing<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            let before = Cost::now();
            assert_eq!(receiver.recv(), Ok(1));
            Cost::now().since(&before)
        });
        thread::sleep(Duration::from_millis(200));
        sender.send(1).unwrap();
        let cost = thread.join().unwrap();
        // Others may want its CPU: then it yields sixteen times at most.
        assert!(cost.calls <= 3 + 16, "{cost:?}");
        // For one poll, a sleep, and the thread's own overhead; not a poll every millisecond.
        assert!(cost.sleeps <= 20, "{cost:?}");
        assert!(cost.ticks <= 10, "a receiver that waits used more than half of a CPU's time: {cost:?}");
    });
}

#[derive(Debug)]
struct Cost {
    calls: u64,
    sleeps: u64,
    ticks: u64,
}

impl Cost {
    #[cfg(target_os = "linux")]
    fn now() -> Self {
        Self { calls: calls(), sleeps: process::sleeps(), ticks: process::ticks() }
    }

    #[cfg(not(target_os = "linux"))]
    fn now() -> Self {
        Self { calls: calls(), sleeps: 0, ticks: 0 }
    }

    fn since(self, before: &Self) -> Self {
        Self { calls: self.calls - before.calls, sleeps: self.sleeps - before.sleeps, ticks: self.ticks - before.ticks }
    }
}

pub(crate) fn two_channels_both_ways_do_not_wait_for_each_other<K: Kind>(kind: K) {
    guarded(move || {
        let (there, from_there) = kind.pair();
        let (back, from_back) = kind.pair();
        let run = |mut sender: K::Sender<usize>, mut receiver: K::Receiver<usize>| {
            move || {
                let window = kind.some(20);
                for round in 0..500 {
                    (0..window).for_each(|message| sender.send(round * window + message).unwrap());
                    for message in 0..window {
                        assert_eq!(receiver.recv(), Ok(round * window + message));
                    }
                }
            }
        };
        let thread = thread::spawn(run(there, from_back));
        run(back, from_there)();
        thread.join().unwrap();
    });
}
