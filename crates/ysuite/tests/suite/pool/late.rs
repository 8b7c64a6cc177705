//! Threads that are past their thread-locals: what a destructor takes and gives back, clones and drops.

use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ysuite::pool::{Message, Pool};

use super::{all, guarded, pool_of};

type Act = Box<dyn FnOnce()>;

/// Runs when the thread exits.
struct AtTheEnd(Vec<Act>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|act| act());
    }
}

thread_local! {
    static AT_THE_END: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(Vec::new())) };
}

/// Runs `prepare` in a thread of its own, and what it returns when the pool's thread-locals are gone there.
pub(super) fn late<A: FnOnce() + 'static>(prepare: impl FnOnce() -> A + Send + 'static) {
    thread::spawn(move || {
        // Registered before the pool's own, and so dropped after them.
        AT_THE_END.with_borrow_mut(|end| end.0.reserve(1));
        // A cache of some pool.
        drop(pool_of(1).take(1));
        let act = prepare();
        AT_THE_END.with_borrow_mut(|end| end.0.push(Box::new(act)));
    })
    .join()
    .unwrap();
}

#[test]
fn a_taker_that_sleeps_is_woken_by_a_block_that_is_dropped_past_thread_locals() {
    guarded(|| {
        let pool = pool_of(1);
        let message = pool.take(1);
        let (waits, waiting) = mpsc::channel();
        let taker = pool.clone();
        let taker = thread::spawn(move || {
            waits.send(()).unwrap();
            taker.take(1).len()
        });
        late(move || {
            waiting.recv().unwrap();
            move || {
                // Time to fall asleep.
                thread::sleep(Duration::from_millis(50));
                drop(message);
            }
        });
        assert_eq!(taker.join().unwrap(), 1);
    });
}

#[test]
fn hundreds_of_thousands_of_blocks_dropped_past_thread_locals_are_all_there() {
    guarded(|| {
        let pool = Pool::new(&[(8, 250_000)]).unwrap();
        for _ in 0..2 {
            let messages = all(&pool, 8);
            late(move || move || drop(messages));
            let messages = all(&pool, 8);
            assert_eq!(messages.len(), 250_000);
            // The next that is dropped in the ordinary way finds the depot as it should be.
            drop(messages);
        }
        assert_eq!(pool.stats()[0].freed_elsewhere, 2 * 250_000);
    });
}

/// Each looks for a magazine with room for each block, and the first thread takes the last slot of one.
#[test]
fn threads_that_drop_blocks_past_their_thread_locals_at_once() {
    guarded(|| {
        let pool = Pool::new(&[(8, 4_000)]).unwrap();
        for _ in 0..60 {
            let mut messages = all(&pool, 8);
            assert_eq!(messages.len(), 4_000);
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let share = messages.split_off(messages.len() - 1_000);
                    thread::spawn(move || late(move || move || drop(share)))
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

#[test]
fn past_thread_locals_a_pool_gives_takes_back_and_waits() {
    guarded(|| {
        let pool = Pool::new(&[(8, 3), (100, 40)]).unwrap();
        let (clone, others) = (pool.clone(), pool.clone());
        let holder = thread::spawn(move || {
            let held = all(&others, 8);
            thread::sleep(Duration::from_millis(30));
            held.len()
        });
        assert!(holder.join().unwrap() <= 3);
        late(move || {
            move || {
                let again = clone.clone();
                let small: Vec<Message> = (0..3).map(|_| clone.take(8)).collect();
                assert!(again.try_take(8).is_none());
                assert!(again.take_timeout(8, Duration::from_millis(5)).is_none());
                drop(small);
                assert_eq!(all(&again, 8).len(), 3);
                let large = all(&again, 100);
                assert_eq!(large.len(), 40);
                let boxed = again.try_boxed(7_u64).map_err(|_| "a block").unwrap();
                assert_eq!(boxed.into_inner(), 7);
                drop((again, clone, large));
            }
        });
        assert_eq!([8, 100].map(|len| all(&pool, len).len()), [3, 40]);
        assert!(pool.stats().iter().all(|class| class.in_use == 0));
    });
}

#[test]
fn a_pools_last_handle_and_its_messages_end_past_thread_locals() {
    for handle_first in [true, false] {
        let pool = Pool::new(&[(8, 1_000)]).unwrap();
        let messages = all(&pool, 8);
        late(move || {
            move || {
                if handle_first {
                    drop(pool);
                    drop(messages);
                } else {
                    drop((messages, pool));
                }
            }
        });
    }
}

#[test]
fn a_message_that_ends_with_its_value_past_thread_locals_goes_back() {
    let pool = pool_of(2);
    let clone = pool.clone();
    late(move || {
        let inner = clone.take(3);
        let boxed = clone.boxed((inner, clone.clone()));
        move || drop((boxed, clone))
    });
    assert_eq!(all(&pool, 1).len(), 2);
}
