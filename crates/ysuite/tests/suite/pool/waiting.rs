//! Threads that wait for a block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::pool::Pool;

use super::{all, guarded, pool_of};

/// Claim: An allocation from an exhausted pool waits for a freed block.
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

/// Claim: Each size class of a pool has its own waiters.
/// Also: suite pool::the_smallest_class_with_room_is_chosen_and_no_other_is_borrowed.
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
                // In another order than they were taken; each frees just one waiter.
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
fn all_waiters_get_their_turn() {
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

#[test]
fn all_of_hundreds_of_takers_get_their_block() {
    // Enough waiters for several blocks of the list.
    const TAKERS: usize = 130;
    guarded(|| {
        for blocks in [1, 3, 64, 130] {
            let pool = pool_of(blocks);
            let held = all(&pool, 4);
            let (waiting, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                let takers: Vec<_> = (0..TAKERS)
                    .map(|who| {
                        let (pool, waiting, taken) = (&pool, &waiting, &taken);
                        scope.spawn(move || {
                            waiting.fetch_add(1, Ordering::SeqCst);
                            let message = if who % 2 == 0 {
                                pool.take(4)
                            } else {
                                pool.take_timeout(4, Duration::MAX).expect("there is no limit")
                            };
                            taken.fetch_add(1, Ordering::SeqCst);
                            drop(message);
                        })
                    })
                    .collect();
                while waiting.load(Ordering::SeqCst) < TAKERS {
                    thread::yield_now();
                }
                assert_eq!(taken.load(Ordering::SeqCst), 0);
                drop(held);
                takers.into_iter().for_each(|taker| taker.join().unwrap());
            });
            assert_eq!((taken.load(Ordering::SeqCst), all(&pool, 4).len()), (TAKERS, blocks));
        }
    });
}

#[test]
fn each_of_hundreds_of_blocks_wakes_one_taker() {
    const TAKERS: usize = 130;
    guarded(|| {
        let pool = pool_of(TAKERS);
        let mut held = all(&pool, 4);
        let taken = AtomicUsize::new(0);
        thread::scope(|scope| {
            let takers: Vec<_> = (0..TAKERS)
                .map(|_| {
                    let (pool, taken) = (&pool, &taken);
                    scope.spawn(move || {
                        let message = pool.take(4);
                        taken.fetch_add(1, Ordering::SeqCst);
                        // Kept until all have one: no thread uses what another gives back.
                        message
                    })
                })
                .collect();
            for freed in 1..=TAKERS {
                drop(held.pop());
                while taken.load(Ordering::SeqCst) < freed {
                    thread::yield_now();
                }
                assert_eq!(taken.load(Ordering::SeqCst), freed);
            }
            let messages: Vec<_> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
            assert_eq!((messages.len(), pool.try_take(4).is_none()), (TAKERS, true));
        });
        assert_eq!(all(&pool, 4).len(), TAKERS);
    });
}
