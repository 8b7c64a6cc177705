//! Which waiter is woken: one for each message, none twice, and the next if that one leaves.

use std::task::Poll;
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Receiver};
use ysuite::{RecvTimeoutError, Spin};

use crate::mpmc::of;
use crate::support::executor::{Task, poll_once};
use crate::support::{calls, guarded};

with_and_without_a_bound!(
    a_message_wakes_one_and_each_in_turn,
    a_batch_wakes_as_many_as_it_has_messages,
    a_future_that_is_dropped_wakes_the_next_as_often_as_it_takes,
    a_wake_that_found_nothing_is_not_owed,
    a_wake_that_found_nothing_does_not_end_a_wait,
    a_message_costs_its_sender_one_system_call_however_many_threads_sleep,
    sleeping_threads_wake_each_other_for_a_batch,
    more_waiters_than_one_block_holds,
    waiters_are_woken_in_turn,
);

type Future<'a> = std::pin::Pin<Box<dyn std::future::Future<Output = Result<u32, ysuite::RecvError>> + 'a>>;

/// Tasks that wait for a message each.
fn waiting(receiver: &Receiver<u32>, tasks: usize) -> Vec<(Task, Option<Future<'_>>)> {
    (0..tasks)
        .map(|_| {
            let task = Task::default();
            let mut future: Future<'_> = Box::pin(receiver.recv_async());
            assert!(poll_once(&mut future, &task).is_pending());
            (task, Some(future))
        })
        .collect()
}

fn woken(tasks: &[(Task, Option<Future<'_>>)]) -> Vec<usize> {
    tasks.iter().map(|(task, _)| task.woken()).collect()
}

/// Claim: One message wakes one waiter, in order.
fn a_message_wakes_one_and_each_in_turn(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let mut tasks = waiting(&receiver, 4);
    for sent in 1..=4 {
        sender.send(0).unwrap();
        assert_eq!(woken(&tasks).iter().sum::<usize>(), sent);
    }
    // All are awake now.
    sender.send(0).unwrap();
    assert_eq!(woken(&tasks), [1; 4]);
    for (task, future) in &mut tasks {
        assert_eq!(poll_once(future.as_mut().unwrap(), task), Poll::Ready(Ok(0)));
    }
    assert_eq!(receiver.len(), 1);
}

/// Claim: A batch wakes one waiter for each of its messages.
fn a_batch_wakes_as_many_as_it_has_messages(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let tasks = waiting(&receiver, 5);
    assert_eq!(sender.send_batch(0..3), Ok(3));
    assert_eq!(woken(&tasks).iter().sum::<usize>(), 3);
}

fn a_future_that_is_dropped_wakes_the_next_as_often_as_it_takes(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let mut tasks = waiting(&receiver, 6);
    sender.send(7).unwrap();
    while !tasks.is_empty() {
        let told: Vec<_> = (0..tasks.len()).filter(|&at| tasks[at].0.woken() == 1).collect();
        assert_eq!((told.len(), woken(&tasks).iter().sum::<usize>()), (1, 1), "one of the remaining ones was notified");
        assert_eq!(receiver.len(), 1);
        tasks.remove(told[0]);
    }
    assert_eq!(receiver.try_recv(), Ok(7));
}

/// Claim: A wake-up that found nothing need not be passed on.
fn a_wake_that_found_nothing_is_not_owed(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let mut tasks = waiting(&receiver, 3);
    sender.send(7).unwrap();
    // Another receiver was quicker.
    assert_eq!(receiver.try_recv(), Ok(7));
    let at = woken(&tasks).iter().position(|&woken| woken == 1).unwrap();
    let (task, future) = &mut tasks[at];
    assert!(poll_once(future.as_mut().unwrap(), task).is_pending());
    tasks[at].1 = None;
    assert_eq!(woken(&tasks).iter().sum::<usize>(), 1, "woken for nothing");
    // And those that are left get what comes next.
    sender.send(8).unwrap();
    assert_eq!(woken(&tasks).iter().sum::<usize>(), 2);
}

fn a_wake_that_found_nothing_does_not_end_a_wait(bounded: bool) {
    guarded(move || {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
        receiver.set_spin(Spin::None);
        let sleeper = receiver.clone();
        let thread = thread::spawn(move || {
            loop {
                if let Err(error) = sleeper.recv_timeout(Duration::from_secs(3_600)) {
                    return error;
                }
            }
        });
        for number in 0..100 {
            // Time to fall asleep.
            thread::sleep(Duration::from_millis(1));
            sender.send(number).unwrap();
            // As a rule this thread is quicker.
            let _ = receiver.try_recv();
        }
        drop(sender);
        assert_eq!(thread.join().unwrap(), RecvTimeoutError::Disconnected);
    });
}

#[test]
fn room_wakes_one_sender_and_one_that_leaves_wakes_the_next() {
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(0).unwrap();
    let mut tasks: Vec<_> = (1..4)
        .map(|number| {
            let task = Task::default();
            let mut future = Box::pin(sender.send_async(number));
            assert!(poll_once(&mut future, &task).is_pending());
            (task, Some(future))
        })
        .collect();
    let woken = |tasks: &[(Task, _)]| tasks.iter().map(|(task, _)| task.woken()).sum::<usize>();
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(woken(&tasks), 1);
    let at = tasks.iter().position(|(task, _)| task.woken() == 1).unwrap();
    tasks[at].1 = None;
    assert_eq!(woken(&tasks), 2, "the room was forgotten with the future");
}

/// Claim: A message costs its sender at most one system call, however many threads sleep.
fn a_message_costs_its_sender_one_system_call_however_many_threads_sleep(bounded: bool) {
    guarded(move || {
        const SLEEPERS: usize = 6;
        let (sender, receiver) = of(if bounded { 64 } else { 0 });
        receiver.set_spin(Spin::None);
        let threads: Vec<_> = (0..SLEEPERS)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || {
                    let before = calls();
                    let received = receiver.recv().is_ok();
                    (received, calls() - before)
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(50));
        for _ in 0..SLEEPERS {
            let before = calls();
            sender.send(0).unwrap();
            assert!(calls() - before <= 1, "a message wakes one");
            thread::sleep(Duration::from_millis(2));
        }
        for thread in threads {
            let (received, calls) = thread.join().unwrap();
            assert!(received);
            // To sleep, to request the barrier, and a few for wake-ups whose message another receiver took.
            assert!(calls <= 8 || cfg!(ysuite_portable), "{calls} system calls for one message");
        }
    });
}

/// A batch wakes one thread; that one wakes the next, until nothing is left to take.
fn sleeping_threads_wake_each_other_for_a_batch(bounded: bool) {
    guarded(move || {
        let (sender, receiver) = of(if bounded { 64 } else { 0 });
        let threads: Vec<_> = (0..5)
            .map(|_| {
                let receiver = receiver.clone();
                // Takes one, and does not come back.
                thread::spawn(move || receiver.recv().unwrap())
            })
            .collect();
        thread::sleep(Duration::from_millis(20));
        let before = calls();
        assert_eq!(sender.send_batch(0..5), Ok(5));
        assert!(calls() - before <= 5);
        let mut received: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        received.sort_unstable();
        assert_eq!(received, [0, 1, 2, 3, 4]);
    });
}

fn more_waiters_than_one_block_holds(bounded: bool) {
    let (sender, receiver) = of(if bounded { 300 } else { 0 });
    let mut tasks = waiting(&receiver, 200);
    (0..200).for_each(|number| sender.send(number).unwrap());
    assert_eq!(woken(&tasks), [1; 200]);
    for (number, (task, future)) in tasks.iter_mut().enumerate() {
        assert_eq!(poll_once(future.as_mut().unwrap(), task), Poll::Ready(Ok(number as u32)));
    }
    // Their slots are free again, and there is no waiter.
    drop(tasks);
    let tasks = waiting(&receiver, 3);
    sender.send(1).unwrap();
    assert_eq!(woken(&tasks).iter().sum::<usize>(), 1);
}

/// No waiter waits for ever while others are woken again and again.
fn waiters_are_woken_in_turn(bounded: bool) {
    // Enough waiters for one block of the list, and for several.
    for waiters in [5, 64, 130] {
        let (sender, receiver) = of(if bounded { 1 } else { 0 });
        let mut tasks = waiting(&receiver, waiters);
        for round in 1..=10 {
            for _ in 0..waiters {
                let before = woken(&tasks);
                sender.send(0).unwrap();
                let at = (0..waiters).find(|&at| tasks[at].0.woken() != before[at]).expect("no sender was woken");
                let (task, future) = &mut tasks[at];
                assert_eq!(poll_once(future.as_mut().unwrap(), task), Poll::Ready(Ok(0)));
                // Waits again, after the others.
                *future = Some(Box::pin(receiver.recv_async()));
                assert!(poll_once(future.as_mut().unwrap(), task).is_pending());
            }
            assert_eq!(woken(&tasks), vec![round; waiters]);
        }
    }
}

#[test]
fn a_batch_that_is_taken_wakes_as_many_senders_as_it_makes_room_for() {
    let (sender, receiver) = mpmc::bounded(3);
    assert_eq!(sender.send_batch(0..3), Ok(3));
    let tasks = [0; 4].map(|_| Task::default());
    let mut futures = [0; 4].map(|_| Box::pin(sender.send_async(9)));
    for (future, task) in futures.iter_mut().zip(&tasks) {
        assert!(poll_once(future, task).is_pending());
    }
    let mut batch = Vec::new();
    assert_eq!(receiver.try_recv_batch(&mut batch, 2), Ok(2));
    let told: Vec<_> = (0..4).filter(|&at| tasks[at].woken() == 1).collect();
    assert_eq!((told.len(), batch), (2, vec![0, 1]));
    for at in told {
        assert_eq!(poll_once(&mut futures[at], &tasks[at]), Poll::Ready(Ok(())));
    }
    assert!(receiver.try_iter().eq([2, 9, 9]));
}

#[test]
fn senders_that_wait_are_woken_in_turn() {
    // Enough waiters for several blocks of the list.
    const SENDERS: usize = 130;
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(0).unwrap();
    let begin = |task: &Task| {
        let mut future = Box::pin(sender.send_async(0));
        assert!(poll_once(&mut future, task).is_pending());
        future
    };
    let tasks: Vec<_> = (0..SENDERS).map(|_| Task::default()).collect();
    let mut futures: Vec<_> = tasks.iter().map(begin).collect();
    let woken = || tasks.iter().map(Task::woken).collect::<Vec<_>>();
    for round in 1..=5 {
        for _ in 0..SENDERS {
            let before = woken();
            assert_eq!(receiver.try_recv(), Ok(0));
            let at = (0..SENDERS).find(|&at| tasks[at].woken() != before[at]).expect("no sender was woken");
            assert_eq!(poll_once(&mut futures[at], &tasks[at]), Poll::Ready(Ok(())));
            // Waits again, after the others.
            futures[at] = begin(&tasks[at]);
        }
        assert_eq!(woken(), [round; SENDERS]);
    }
}
