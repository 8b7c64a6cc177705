//! Tasks that wait for a block, and a take as a case of a select.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ysuite::pool::{Message, Pool, TakeFuture};
use ysuite::{select, spsc, timer};

use super::{all, guarded, pool_of};
use crate::support::executor::{Explosive, Task, block_on, cloning, poll_once};
use crate::support::panics;

/// Claim: A task that waits for a block of a pool is woken when one is given back.
#[test]
fn a_task_waits_for_a_block() {
    let pool = pool_of(1);
    assert_eq!(block_on(pool.take_async(3)).len(), 3);
    let message = pool.take(1);
    let task = Task::default();
    let mut taking = pool.take_async(2);
    assert!(poll_once(&mut taking, &task).is_pending() && poll_once(&mut taking, &task).is_pending());
    assert_eq!(task.woken(), 0);
    drop(message);
    assert_eq!(task.woken(), 1);
    let Poll::Ready(message) = poll_once(&mut taking, &task) else { panic!("a block is free") };
    assert_eq!((message.len(), task.held()), (2, 0));
    assert!(pool.try_take(1).is_none());
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(&mut taking, &task))).is_err(), "it has been ready");
}

#[test]
fn another_may_be_quicker_and_the_task_waits_on() {
    let pool = pool_of(1);
    let task = Task::default();
    let message = pool.take(1);
    let mut taking = pool.take_async(1);
    assert!(poll_once(&mut taking, &task).is_pending());
    drop(message);
    let message = pool.take(1);
    assert!(poll_once(&mut taking, &task).is_pending());
    drop(message);
    assert_eq!(task.woken(), 2);
    assert!(poll_once(&mut taking, &task).is_ready());
}

/// Claim: A take of a task that is given up passes its block on.
#[test]
fn a_take_that_is_given_up_passes_its_block_on() {
    let pool = pool_of(1);
    let tasks = [(); 2].map(|()| Task::default());
    let message = pool.take(1);
    let (mut first, mut second) = (pool.take_async(1), pool.take_async(1));
    assert!(poll_once(&mut first, &tasks[0]).is_pending());
    assert!(poll_once(&mut second, &tasks[1]).is_pending());
    drop(message);
    assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
    drop(first);
    assert_eq!((tasks[0].held(), tasks[1].woken()), (0, 1));
    assert!(poll_once(&mut second, &tasks[1]).is_ready());
    drop(second);
    assert_eq!((all(&pool, 1).len(), tasks[1].held()), (1, 0));
}

struct Stored {
    taking: Option<TakeFuture<'static>>,
}

/// A future that is stored, moved, and polled without being pinned.
#[test]
fn a_take_is_kept_in_a_struct() {
    let pool: &'static Pool = Box::leak(Box::new(pool_of(1)));
    let message = pool.take(1);
    let task = Task::default();
    let mut stored = Stored { taking: Some(pool.take_async(1)) };
    assert!(poll_once(stored.taking.as_mut().unwrap(), &task).is_pending());
    assert_eq!(format!("{:?}", stored.taking.as_ref().unwrap()), "TakeFuture { .. }");
    let mut moved = thread::spawn(move || stored).join().unwrap();
    drop(message);
    let Poll::Ready(message) = poll_once(moved.taking.as_mut().unwrap(), &task) else { panic!("a block is free") };
    moved.taking = None;
    drop(message);
}

/// Claim: A waker that panics, or uses the pool, loses no block of the pool.
#[test]
fn a_waker_that_panics_or_uses_the_pool_loses_no_block() {
    let pool = pool_of(1);
    let message = pool.take(1);
    let waker = Explosive::waker();
    let mut taking = pool.take_async(1);
    assert!(Pin::new(&mut taking).poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(panics(|| drop(message)), "this waker panics");
    drop(taking);
    // Where another panic is under way the waker's goes no further.
    let message = pool.take(1);
    let mut taking = pool.take_async(1);
    assert!(Pin::new(&mut taking).poll(&mut Context::from_waker(&waker)).is_pending());
    let text = panics(move || {
        let _message = message;
        panic!("the first");
    });
    assert_eq!(text, "the first");
    drop(taking);
    assert_eq!(all(&pool, 1).len(), 1);

    // A waker's clone takes and gives back blocks of other pools, until this thread's cache for the first is gone.
    let others: Vec<Pool> = (0..200).map(|_| pool_of(1)).collect();
    let own = pool.clone();
    let waker = cloning(move || {
        drop(own.try_take(1));
        others.iter().for_each(|pool| drop(pool.take(1)));
    });
    let message = pool.take(1);
    let mut taking = pool.take_async(1);
    assert!(Pin::new(&mut taking).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(message);
    assert!(Pin::new(&mut taking).poll(&mut Context::from_waker(&waker)).is_ready());
    drop(taking);
    assert_eq!(all(&pool, 1).len(), 1);
}

/// Threads and tasks that take what others give back.
#[test]
fn tasks_and_threads_share_what_there_is() {
    const EACH: usize = if cfg!(miri) { 50 } else { 2_000 };
    guarded(|| {
        let pool = pool_of(2);
        let ways: [fn(&Pool) -> Message; 4] = [
            |pool| pool.take(8),
            |pool| block_on(pool.take_async(8)),
            |pool| loop {
                // Given up now and then.
                let mut taking = pool.take_async(8);
                for _ in 0..3 {
                    if let Poll::Ready(message) = poll_once(&mut taking, &Task::default()) {
                        return message;
                    }
                    thread::yield_now();
                }
            },
            |pool| select().recv(pool.taking(8), |message| message.unwrap()).wait(),
        ];
        let threads = ways.map(|way| {
            let pool = pool.clone();
            thread::spawn(move || {
                for number in 0..EACH {
                    let mut message = way(&pool);
                    message.copy_from_slice(&number.to_ne_bytes());
                    thread::yield_now();
                    assert_eq!(message[..], number.to_ne_bytes());
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(all(&pool, 1).len(), 2);
    });
}

#[test]
fn a_take_is_a_case_beside_a_channel_and_a_timer() {
    guarded(|| {
        let pool = pool_of(1);
        let (mut sender, mut receiver) = spsc::unbounded::<u8>();
        let mut first = |pool: &Pool, limit: &timer::Timer| {
            select()
                .recv(pool.taking(5), |message| format!("{} bytes", message.unwrap().len()))
                .recv(&mut receiver, |number| format!("{}", number.unwrap()))
                .recv(limit, |_| "late".to_owned())
                .biased()
                .wait()
        };
        assert_eq!(first(&pool, &timer::never()), "5 bytes");
        let message = pool.take(1);
        assert_eq!(first(&pool, &timer::after(Duration::from_millis(1))), "late");
        sender.send(7).unwrap();
        assert_eq!(first(&pool, &timer::never()), "7");
        let giving = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2));
            drop(message);
        });
        assert_eq!(first(&pool, &timer::never()), "5 bytes");
        giving.join().unwrap();
        // The select that took another case has taken no block.
        sender.send(8).unwrap();
        let message = pool.take(1);
        assert_eq!(first(&pool, &timer::never()), "8");
        drop(message);
        assert_eq!(all(&pool, 1).len(), 1);
    });
}
