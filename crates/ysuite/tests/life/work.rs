//! A queue of work, whose producers and workers come and go.

use std::task::Context;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;

use crate::life::{Steps, live};
use crate::support::executor::{Task, block_on, poll_once};
use ysuite::mpmc;

fn work(life: &mut crate::life::Life, (sender, receiver): (mpmc::Sender<u64>, mpmc::Receiver<u64>)) {
    let (weak_sender, weak_receiver) = (sender.downgrade(), receiver.downgrade());
    let mut batch = Vec::with_capacity(8);
    while life.step() {
        let number = life.number();
        let (producer, worker) = (sender.clone(), receiver.clone());
        let (again, other) = (weak_sender.clone().upgrade().unwrap(), weak_receiver.clone().upgrade().unwrap());
        // Four messages of permits and sends, and permits that are given up.
        drop(producer.reserve().unwrap());
        drop(producer.try_reserve_many(2).unwrap());
        producer.try_reserve().unwrap().send(number).unwrap();
        producer.reserve_many(2).unwrap().next().unwrap().send(number).unwrap();
        let permit = again.reserve_owned().unwrap();
        let again = if number % 2 == 0 { permit.send(number).unwrap() } else { permit.release() };
        let again = again.try_reserve_owned().unwrap().release();
        again.send(number).unwrap();
        drop((producer, again));
        let messages = if number % 2 == 0 { 4 } else { 3 };
        match number % 4 {
            0 => assert_eq!(worker.iter().take(messages).count(), messages),
            1 => assert_eq!(other.try_iter().count(), messages),
            2 => {
                assert_eq!(other.recv_batch(&mut batch, 8), Ok(messages));
                batch.clear();
            }
            _ => (0..messages).for_each(|_| assert_eq!(worker.recv_timeout(Duration::ZERO), Ok(number))),
        }
        assert!(other.recv_timeout(Duration::ZERO).is_err());
        assert!(!sender.wait_closed_timeout(Duration::ZERO));
        drop((worker, other));
        assert_eq!((sender.sender_count(), receiver.receiver_count()), (1, 1));
    }
}

#[test]
fn with_a_bound() {
    live("work::with_a_bound", Steps::Calls, |life| work(life, mpmc::bounded(8)));
}

#[test]
fn without_a_bound() {
    live("work::without_a_bound", Steps::Calls, |life| work(life, mpmc::unbounded()));
}

/// The newest always has a place; permits that are held meanwhile.
#[test]
fn forced_sends() {
    live("work::forced_sends", Steps::Calls, |life| {
        let (sender, receiver) = mpmc::bounded(4);
        while life.step() {
            let number = life.number();
            let producer = sender.clone();
            let permit = producer.try_reserve().ok();
            assert!(producer.force_send(number).is_ok());
            drop(permit);
            if number % 8 == 0 {
                assert_eq!(receiver.try_iter().last(), Some(number));
            }
        }
    });
}

/// Tasks that wait for messages, for room and for the disconnect, and are dropped while they wait.
#[test]
fn tasks_that_give_up() {
    live("work::tasks_that_give_up", Steps::Calls, |life| {
        let (sender, receiver) = mpmc::bounded(1);
        let task = Task::default();
        while life.step() {
            let (producer, worker) = (sender.clone(), receiver.clone());
            let mut waiting = Box::pin(worker.recv_async());
            assert!(poll_once(&mut waiting, &task).is_pending());
            drop(waiting);
            let waker = task.waker();
            let mut context = Context::from_waker(&waker);
            let mut stream = worker.clone();
            assert!(stream.poll_recv(&mut context).is_pending() && stream.poll_next_unpin(&mut context).is_pending());
            block_on(producer.send_async(1)).unwrap();
            let mut batch = vec![2, 3].into_iter();
            let mut waiting =
                (Box::pin(producer.send_async(2)), Box::pin(producer.reserve_async()), Box::pin(producer.closed()));
            assert!(poll_once(&mut waiting.0, &task).is_pending());
            assert!(poll_once(&mut waiting.1, &task).is_pending());
            assert!(poll_once(&mut waiting.2, &task).is_pending());
            drop(waiting);
            let mut waiting = (
                Box::pin(producer.send_async_until(2, std::future::pending::<()>())),
                Box::pin(producer.send_batch_async(&mut batch)),
                Box::pin(producer.reserve_many_async(1)),
                Box::pin(producer.clone().reserve_owned_async()),
            );
            assert!(poll_once(&mut waiting.0, &task).is_pending());
            assert!(poll_once(&mut waiting.1, &task).is_pending());
            assert!(poll_once(&mut waiting.2, &task).is_pending());
            assert!(poll_once(&mut waiting.3, &task).is_pending());
            drop(waiting);
            let mut waiting = Box::pin(producer.clone().send_owned_async(2));
            assert!(poll_once(&mut waiting, &task).is_pending());
            drop(waiting);
            assert_eq!(block_on(worker.clone().recv_owned_async()).0, Ok(1));
            assert!(worker.try_recv().is_err());
            block_on(producer.reserve_async()).unwrap().send(4).unwrap();
            let mut batch = Vec::new();
            assert_eq!(block_on(worker.recv_batch_async(&mut batch, 4)), Ok(1));
        }
        drop((sender, receiver));
        assert_eq!(task.held(), 0, "wakers of tasks that have given up");
    });
}

/// More tasks at once than ever again: what they waited in costs those that come later nothing.
#[test]
fn a_crowd_of_tasks_that_has_gone() {
    live("work::a_crowd_of_tasks_that_has_gone", Steps::Calls, |life| {
        let (sender, receiver) = mpmc::bounded(1);
        let task = Task::default();
        // Lists of waiters: 3 KiB for each 64.
        life.may_keep(4_000 / 64 * 4096);
        let crowd = |tasks: u64| {
            let mut waiting: Vec<_> = (0..tasks).map(|_| Box::pin(receiver.recv_async())).collect();
            waiting.iter_mut().for_each(|waiting| assert!(poll_once(waiting, &task).is_pending()));
        };
        let few = |number: u64| {
            let mut waiting = Box::pin(receiver.recv_async());
            assert!(poll_once(&mut waiting, &task).is_pending());
            sender.send(number).unwrap();
            assert!(poll_once(&mut waiting, &task).is_ready());
        };
        while life.step() {
            few(life.number());
            // Between what is counted as the first steps and as the last.
            if life.is_past_the_half_once() {
                crowd(4_000);
            }
        }
    });
}

#[test]
fn workers_and_producers_in_short_lived_threads() {
    live("work::workers_and_producers_in_short_lived_threads", Steps::Threads, |life| {
        let (sender, receiver) = mpmc::bounded(2);
        let (stays, stays_in) = mpmc::unbounded();
        while life.step() {
            let (out, own, back) = (sender.clone(), receiver.clone(), stays.clone());
            let producer = thread::spawn(move || (0..4).for_each(|number| out.send(number).unwrap()));
            let worker = thread::spawn(move || own.iter().take(4).for_each(|number| back.send(number).unwrap()));
            assert_eq!(stays_in.iter().take(4).sum::<u64>(), 6);
            producer.join().unwrap();
            worker.join().unwrap();
        }
    });
}
