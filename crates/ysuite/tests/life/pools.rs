//! Blocks taken and given back by threads that come and go, pools that come and go.

use std::thread;
use std::time::{Duration, Instant};

use crate::life::{Steps, live};
use crate::support::executor::{Task, poll_once};
use ysuite::mpmc;
use ysuite::pool::{Message, Pool, PoolBox};

/// Blocks of the pool's two classes.
const CLASSES: [(usize, usize); 2] = [(64, 64), (1_024, 32)];

#[test]
fn handles_and_blocks() {
    live("pools::handles_and_blocks", Steps::Calls, |life| {
        let stays = Pool::new(&CLASSES).unwrap();
        let mut kept = std::collections::VecDeque::new();
        while life.step() {
            let pool = stays.clone();
            let mut message = pool.take(1 + life.number() as usize % 1_000);
            message.truncate(1);
            kept.push_back(pool.try_take(10).unwrap());
            kept.push_back(pool.take_timeout(1_000, Duration::ZERO).unwrap());
            assert!(pool.take_deadline(65, Instant::now()).is_some());
            let boxed = pool.boxed(life.number());
            drop(pool.try_boxed(boxed.into_inner()).unwrap());
            let raw = message.into_raw();
            // SAFETY: of the call above, and used once.
            drop(unsafe { Message::from_raw(raw) });
            let raw = pool.boxed(life.number()).into_raw();
            // SAFETY: as above.
            assert_eq!(*unsafe { PoolBox::from_raw(raw) }, life.number());
            while kept.len() > 20 {
                kept.pop_front();
            }
        }
        drop(kept);
    });
}

/// Blocks that are all in use: those that wait for one give up, or get one.
#[test]
fn a_pool_that_is_empty() {
    live("pools::a_pool_that_is_empty", Steps::Calls, |life| {
        let pool = Pool::new(&[(64, 4)]).unwrap();
        while life.step() {
            let all: Vec<_> = (0..4).map(|_| pool.take(64)).collect();
            assert!(pool.try_take(1).is_none());
            assert!(pool.take_timeout(1, Duration::ZERO).is_none());
            assert!(pool.take_deadline(1, Instant::now()).is_none());
            assert!(pool.try_boxed(1).is_err());
            drop(all);
        }
    });
}

/// They give up, or get one.
#[test]
fn tasks_that_wait_for_a_block() {
    live("pools::tasks_that_wait_for_a_block", Steps::Calls, |life| {
        let pool = Pool::new(&[(64, 1)]).unwrap();
        let task = Task::default();
        while life.step() {
            let message = pool.take(64);
            let (mut waiting, mut other) = (pool.take_async(1), pool.take_async(2));
            assert!(poll_once(&mut waiting, &task).is_pending() && poll_once(&mut other, &task).is_pending());
            let case = ysuite::select().recv(pool.taking(3), |message| message.unwrap());
            assert!(case.wait_timeout(Duration::ZERO).is_none());
            drop(message);
            drop(waiting);
            assert!(poll_once(&mut other, &task).is_ready());
        }
        assert_eq!(task.held(), 0);
    });
}

#[test]
fn a_pool_for_each_task() {
    live("pools::a_pool_for_each_task", Steps::Few, |life| {
        let (sender, receiver) = mpmc::unbounded();
        while life.step() {
            let classes = [(64, 8)];
            let pool = if life.number() % 2 == 0 { Pool::new(&classes) } else { Pool::zeroed(&classes) }.unwrap();
            // A block that outlives all handles.
            sender.send(pool.take(10)).unwrap();
            drop(pool.boxed(1));
            drop(pool);
            drop(receiver.recv().unwrap());
        }
    });
}

#[test]
fn blocks_in_short_lived_threads() {
    live("pools::blocks_in_short_lived_threads", Steps::Threads, |life| {
        let pool = Pool::new(&CLASSES).unwrap();
        let (sender, receiver) = mpmc::bounded(64);
        while life.step() {
            let (own, out) = (pool.clone(), sender.clone());
            let thread = thread::spawn(move || {
                // Some are given back here, others there.
                let all: Vec<_> = (0..8).map(|_| own.take(64)).collect();
                (0..8).for_each(|_| out.send(own.take(1_024)).unwrap());
                drop(all);
            });
            thread.join().unwrap();
            assert_eq!(receiver.try_iter().count(), 8);
        }
        // None is lost with a thread.
        let all: Vec<_> = (0..64).map(|_| pool.try_take(64).expect("all blocks are free")).collect();
        let large: Vec<_> = (0..32).map(|_| pool.try_take(1_024).expect("all blocks are free")).collect();
        drop((all, large));
    });
}
