//! Those who wait for a block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::pool::Pool;

use super::{all, guarded, pool_of};

#[test]
fn an_exhausted_pool_makes_the_taker_wait() {
    guarded(|| {
        let pool = pool_of(1);
        for number in 0..2_000_u32 {
            let mut message = pool.take(4);
            message.copy_from_slice(&number.to_ne_bytes());
            let thread = (number % 100 == 0).then(|| {
                let other = pool.clone();
                thread::spawn(move || other.take(4)[..].to_vec())
            });
            drop(message);
            if let Some(thread) = thread {
                assert_eq!(thread.join().unwrap(), number.to_ne_bytes());
            }
        }
    });
}

#[test]
fn time_runs_out() {
    let pool = pool_of(2);
    let messages = all(&pool, 1);
    assert!(pool.take_timeout(1, Duration::ZERO).is_none());
    assert!(pool.take_timeout(1, Duration::from_millis(2)).is_none());
    assert!(pool.take_deadline(1, Instant::now()).is_none());
    drop(messages);
    assert!(pool.take_timeout(1, Duration::ZERO).is_some());
    assert!(pool.take_deadline(1, Instant::now()).is_some(), "one that is free is taken even when time is up");
    assert!(pool.take_timeout(1, Duration::MAX).is_some());
    assert_eq!(all(&pool, 1).len(), 2);
}

#[test]
fn each_waits_for_its_own_class() {
    guarded(|| {
        let pool = Pool::new(&[(10, 1), (100, 1), (1_000, 1)]).unwrap();
        for _ in 0..100 {
            let mut held = [10, 100, 1_000].map(|len| Some(pool.take(len)));
            let done = AtomicUsize::new(0);
            thread::scope(|scope| {
                for len in [10, 100, 1_000] {
                    let (pool, done) = (&pool, &done);
                    scope.spawn(move || {
                        let message = pool.take(len);
                        assert_eq!(message.len(), len);
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                }
                // In another order than they were taken; each frees just one of those who wait.
                for (freed, at) in [2, 0, 1].into_iter().enumerate() {
                    assert_eq!(done.load(Ordering::SeqCst), freed);
                    held[at] = None;
                    while done.load(Ordering::SeqCst) == freed {
                        thread::yield_now();
                    }
                }
            });
        }
    });
}

#[test]
fn all_who_wait_get_their_turn() {
    guarded(|| {
        let pool = pool_of(3);
        let rounds = AtomicUsize::new(0);
        thread::scope(|scope| {
            for who in 0..8 {
                let (pool, rounds) = (&pool, &rounds);
                scope.spawn(move || {
                    for round in 0..500 {
                        let message = pool.take(1 + (who + round) % 100);
                        if round % 7 == 0 {
                            thread::yield_now();
                        }
                        drop(message);
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(rounds.load(Ordering::Relaxed), 8 * 500);
        assert_eq!(all(&pool, 1).len(), 3);
    });
}
