//! The suite of every signaler, its half with threads: sleeping, waking, timeouts that race with signals.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::signal::{Signal, Wait};

use super::signal::{Kind, list};
use crate::support::interrupt::Interruptions;
use crate::support::{Random, calls, guarded};

pub(crate) fn duration_max_is_for_ever_and_ends_with_a_signal<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        for timeout in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(i64::MAX as u64)] {
            let signaler = signaler.clone();
            let other = thread::spawn(move || {
                thread::sleep(Duration::from_millis(5));
                signaler.signal(kind.capacity() - 1);
            });
            assert_eq!(list(set.wait_timeout(timeout)), [kind.capacity() - 1]);
            other.join().unwrap();
        }
    });
}

pub(crate) fn a_sleeper_is_woken<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        let ids = kind.corners();
        let expected = ids.clone();
        let raiser = thread::spawn(move || {
            let mut random = Random::new(7);
            for id in ids {
                thread::sleep(Duration::from_micros(random.next() % 1500));
                signaler.signal(id);
            }
        });
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            let signals = set.wait();
            assert!(!signals.is_empty(), "a poll came back with nothing");
            seen.extend(signals);
        }
        assert_eq!(seen, expected);
        raiser.join().unwrap();
    });
}

pub(crate) fn ping_pong_loses_no_signal<K: Kind>(kind: K) {
    guarded(move || {
        let ((mut ping, to_ping), (mut pong, to_pong)) = (kind.pair(), kind.pair());
        const ROUNDS: usize = 5_000;
        let id = move |round: usize| round.wrapping_mul(7919) % kind.capacity();
        let echo = thread::spawn(move || {
            let mut random = Random::new(1);
            for round in 0..ROUNDS {
                assert_eq!(list(ping.wait()), [id(round)]);
                random.pause();
                to_pong.signal(id(round));
            }
        });
        let mut random = Random::new(2);
        for round in 0..ROUNDS {
            random.pause();
            to_ping.signal(id(round));
            assert_eq!(list(pong.wait()), [id(round)]);
        }
        echo.join().unwrap();
    });
}

pub(crate) fn time_out_racing_a_signal_loses_nothing<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        let answered = Arc::new(AtomicU64::new(0));
        const ROUNDS: u64 = 1_000;
        let raiser = thread::spawn({
            let answered = Arc::clone(&answered);
            move || {
                let mut random = Random::new(3);
                for round in 0..ROUNDS {
                    (0..random.below(3_000)).for_each(|_| std::hint::spin_loop());
                    signaler.signal(0);
                    while answered.load(Ordering::Acquire) == round {
                        thread::yield_now();
                    }
                }
            }
        });
        let (mut random, mut found) = (Random::new(4), 0);
        while found < ROUNDS {
            let signals = set.wait_timeout(Duration::from_nanos(random.next() % 60_000));
            if !signals.is_empty() {
                assert_eq!(list(signals), [0]);
                found += 1;
                answered.store(found, Ordering::Release);
            }
        }
        raiser.join().unwrap();
        assert!(set.check().is_empty());
    });
}

pub(crate) fn many_threads_and_every_id_is_seen_once<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        const THREADS: usize = 4;
        // Every id of the small sets, a spread of the large ones.
        let step = (kind.capacity() / 4_096).max(1);
        let ids: Vec<usize> = (0..kind.capacity()).step_by(step).collect();
        let raisers: Vec<_> = (0..THREADS)
            .map(|raiser| {
                // Neighbours belong to different threads, so every word is fought for.
                let mine: Vec<_> = ids.iter().copied().skip(raiser).step_by(THREADS).collect();
                let signaler = signaler.clone();
                thread::spawn(move || {
                    let mut random = Random::new(raiser as u64);
                    for id in mine {
                        signaler.signal(id);
                        if random.below(16) == 0 {
                            random.pause();
                        }
                    }
                })
            })
            .collect();
        let mut seen = BTreeSet::new();
        while seen.len() < ids.len() {
            let mut last = None;
            for id in set.wait() {
                assert!(last < Some(id), "not ascending");
                last = Some(id);
                assert!(seen.insert(id), "id {id} was raised once and seen twice");
            }
        }
        assert!(seen.into_iter().eq(ids));
        raisers.into_iter().for_each(|raiser| raiser.join().unwrap());
        assert!(set.check().is_empty());
    });
}

pub(crate) fn a_signal_brings_its_past<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        let past = Arc::new(AtomicU64::new(0));
        const LAST: u64 = 20_000;
        let raiser = thread::spawn({
            let past = Arc::clone(&past);
            move || {
                for now in 1..=LAST {
                    // Relaxed: only the signal orders it.
                    past.store(now, Ordering::Relaxed);
                    signaler.signal(kind.capacity() - 1);
                }
            }
        });
        // The last value comes with the last signal; a signal lost or without its past leaves us waiting for ever.
        while past.load(Ordering::Relaxed) != LAST {
            set.wait();
        }
        raiser.join().unwrap();
    });
}

/// Claim: A raise makes at most one system call for each sleep of the owner.
/// Also: suite signal::descriptors::eventfd_256::one_write_and_one_read_per_wake_up.
pub(crate) fn one_wake_up_per_sleep<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        let stop = Arc::new(AtomicBool::new(false));
        let raiser = thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let before = calls();
                while !stop.load(Ordering::Relaxed) {
                    signaler.signal(0);
                }
                let made = calls() - before;
                // So that the owner does not wait for a signal that never comes.
                signaler.signal(0);
                made
            }
        });
        let before = calls();
        const LOOKS: u64 = 2_000;
        for _ in 0..LOOKS {
            set.wait();
        }
        let slept = calls() - before;
        stop.store(true, Ordering::Relaxed);
        let woke = raiser.join().unwrap();
        // Every wake-up belongs to a sleep, or to a ring that was read: calls of the owner, both of them.
        assert!(woke <= slept + 2, "{woke} wake-ups for {slept} sleeps");
    });
}

pub(crate) fn a_set_moves_between_threads<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        for _ in 0..20 {
            signaler.signal(0);
            set = thread::spawn(move || {
                assert_eq!(list(set.wait()), [0]);
                set
            })
            .join()
            .unwrap();
        }
        assert!(set.check().is_empty());
    });
}

/// Claim: A Unix signal handler does not end a poll.
/// Notices: libzmq#4488, a call interrupted by a signal handler has done a part of its work and is repeated.
pub(crate) fn signal_handlers_do_not_end_a_poll<K: Kind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        let interruptions = Interruptions::new();
        let sleeper = thread::spawn(move || (list(set.wait()), list(set.wait_timeout(Duration::MAX))));
        interruptions.pester(&sleeper, 50);
        signaler.signal(0);
        interruptions.pester(&sleeper, 50);
        signaler.signal(kind.capacity() - 1);
        // Both may have come before the first poll.
        if kind.capacity() > 1 {
            signaler.signal(1);
        }
        let mut last = 0;
        while !sleeper.is_finished() {
            signaler.signal(last);
            last = (last + 1) % kind.capacity();
            thread::sleep(Duration::from_millis(1));
        }
        let (first, second) = sleeper.join().unwrap();
        assert_eq!(first[0], 0, "a handler ended the poll");
        assert!(!second.is_empty(), "a handler ended the poll");
        assert!(interruptions.count() > 0);
    });
}
