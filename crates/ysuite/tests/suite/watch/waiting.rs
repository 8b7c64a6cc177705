//! Waiting for a value: as a thread, as a task, for a chosen value, and for the drop of all receivers.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::Spin;
use ysuite::watch;
use ysuite::{RecvError, RecvTimeoutError};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Random, calls, guarded};

/// More than there are slots in a block of the list of those that wait.
const MANY: usize = 150;
/// More than there are slots in 64 blocks.
const THOUSANDS: usize = 5_000;

#[test]
fn one_value_wakes_all_threads_that_wait() {
    guarded(|| {
        let (sender, receiver) = watch::channel(0);
        for round in 1..=3 {
            let threads: Vec<_> = (0..MANY)
                .map(|_| {
                    let mut receiver = receiver.clone();
                    receiver.mark_unchanged();
                    thread::spawn(move || (receiver.changed(), *receiver.borrow()))
                })
                .collect();
            sender.send(round).unwrap();
            assert!(threads.into_iter().all(|thread| thread.join().unwrap() == (Ok(()), round)));
        }
        let threads: Vec<_> = (0..MANY)
            .map(|_| {
                let mut receiver = sender.subscribe();
                thread::spawn(move || receiver.changed())
            })
            .collect();
        drop(sender);
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == Err(RecvError)));
    });
}

#[test]
fn one_value_wakes_each_task_once() {
    let (sender, mut polled) = watch::channel(0);
    let mut receivers: Vec<_> = (0..MANY).map(|_| (sender.subscribe(), Task::default())).collect();
    let task = Task::default();
    for round in 1..4 {
        assert!(polled.poll_changed(&mut Context::from_waker(&task.waker())).is_pending());
        let mut futures: Vec<_> =
            receivers.iter_mut().map(|(receiver, task)| (Box::pin(receiver.changed_async()), &*task)).collect();
        for (future, task) in &mut futures {
            assert!(poll_once(future, task).is_pending());
        }
        sender.send(round).unwrap();
        // Without any that waits meanwhile.
        sender.send(round).unwrap();
        for (future, task) in &mut futures {
            assert_eq!((task.woken(), poll_once(future, task)), (round, Poll::Ready(Ok(()))));
        }
        assert_eq!(task.woken(), round);
        assert_eq!(polled.poll_changed(&mut Context::from_waker(&task.waker())), Poll::Ready(Ok(())));
    }
    assert!(receivers.iter().all(|(receiver, task)| receiver.has_changed() == Ok(false) && task.held() == 0));
    assert!(polled.poll_changed(&mut Context::from_waker(&task.waker())).is_pending());
    drop(sender);
    assert_eq!(task.woken(), 4);
    assert_eq!(polled.poll_changed(&mut Context::from_waker(&task.waker())), Poll::Ready(Err(RecvError)));
}

#[test]
fn a_task_that_has_its_value_by_the_poll_is_not_woken_for_the_next() {
    let (sender, mut receiver) = watch::channel(0);
    let task = Task::default();
    let waker = task.waker();
    let mut context = Context::from_waker(&waker);
    assert!(receiver.poll_changed(&mut context).is_pending());
    // No receiver is notified of this.
    receiver.mark_changed();
    assert_eq!(receiver.poll_changed(&mut context), Poll::Ready(Ok(())));
    sender.send(1).unwrap();
    assert_eq!((task.woken(), receiver.has_changed()), (0, Ok(true)));
}

#[test]
fn a_dropped_future_has_seen_nothing() {
    let (sender, mut receiver) = watch::channel(0);
    let task = Task::default();
    let mut future = Box::pin(receiver.changed_async());
    assert!(poll_once(&mut future, &task).is_pending());
    sender.send(1).unwrap();
    assert_eq!(task.woken(), 1);
    drop(future);
    assert_eq!((task.held(), receiver.has_changed()), (0, Ok(true)));
    assert_eq!(block_on(receiver.changed_async()), Ok(()));
    // What a task polls for no longer does not wake it.
    assert!(receiver.poll_changed(&mut Context::from_waker(&task.waker())).is_pending());
    sender.send(2).unwrap();
    assert_eq!((task.woken(), receiver.changed()), (2, Ok(())));
    sender.send(3).unwrap();
    assert_eq!(task.woken(), 2);
}

/// Values come faster than they are refused. A thread whose time is up asks about the one that is there, and a task lets
/// others have a turn.
#[test]
fn values_that_keep_coming_delay_no_disconnect_and_no_turn() {
    guarded(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    sender.send_modify(|value| *value += 1);
                }
            });
            for _ in 0..3_000 {
                let mut asked = 0;
                let refused = receiver.wait_for_timeout(Duration::ZERO, |_| {
                    asked += 1;
                    false
                });
                assert_eq!(refused.map(drop), Err(RecvTimeoutError::Timeout));
                assert!(asked <= 2, "{asked} values after the end");
                let (mut asked, task) = (0, Task::default());
                let mut waiting = Box::pin(receiver.wait_for_async(|_| {
                    asked += 1;
                    false
                }));
                assert!(poll_once(&mut waiting, &task).is_pending());
                drop(waiting);
                assert!(asked <= 64, "{asked} values in one turn");
            }
            is_over.store(true, Ordering::Relaxed);
        });
    });
}

#[test]
fn a_value_of_ones_choice() {
    guarded(|| {
        let (sender, mut receiver) = watch::channel(0);
        // The one that is there, seen or not.
        assert_eq!(*receiver.wait_for(|value| *value == 0).unwrap(), 0);
        let refused = receiver.wait_for_timeout(Duration::ZERO, |value| *value == 1).map(|value| *value);
        assert_eq!(refused, Err(RecvTimeoutError::Timeout));
        let refused = receiver.wait_for_deadline(Instant::now(), |value| *value == 1).map(|value| *value);
        assert_eq!(refused, Err(RecvTimeoutError::Timeout));
        let thread = thread::spawn(move || {
            let mut random = Random::new(7);
            for value in 1..=2_000 {
                sender.send(value).unwrap();
                random.pause();
            }
            sender
        });
        let (mut last, mut asked) = (0, 0);
        let value = receiver.wait_for(|value| {
            assert!(*value >= last, "{value} behind {last}");
            (last, asked) = (*value, asked + 1);
            *value >= 1_000
        });
        assert_eq!(*value.unwrap(), last);
        assert!(asked <= 2_001);
        let mut in_task = receiver.clone();
        assert_eq!(*block_on(in_task.wait_for_async(|value| *value == 2_000)).unwrap(), 2_000);
        let value = receiver.wait_for_timeout(Duration::MAX, |value| *value == 2_000).unwrap();
        assert!(*value == 2_000);
        drop(value);
        assert_eq!(receiver.has_changed(), Ok(false), "it counts as seen");
        drop(thread.join().unwrap());
        assert_eq!(block_on(in_task.wait_for_async(|_| false)).map(|value| *value), Err(RecvError));
        assert_eq!(receiver.wait_for(|_| false).map(|value| *value), Err(RecvError));
    });
}

/// The futures can go to any thread, though what is borrowed cannot.
#[test]
fn futures_are_send() {
    fn is_send<F: Future + Send>(future: F) -> F {
        future
    }
    let (sender, mut receiver) = watch::channel(String::new());
    assert_eq!(block_on(is_send(receiver.wait_for_async(String::is_empty))).unwrap().len(), 0);
    let mut closed = pin!(is_send(sender.closed()));
    let task = Task::default();
    assert!(closed.as_mut().poll(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(poll_once(&mut Box::pin(is_send(receiver.changed_async())), &task).is_pending());
}

#[test]
fn streams_of_changes_reach_threads_and_tasks() {
    guarded(|| {
        const LAST: usize = 5_000;
        let (sender, mut receiver) = watch::channel(0);
        let (mut in_task, mut choosing) = (receiver.clone(), receiver.clone());
        let threads = [
            thread::spawn(move || {
                let mut seen = 0;
                while receiver.changed().is_ok() {
                    seen = *receiver.borrow_and_update();
                }
                seen
            }),
            thread::spawn(move || {
                block_on(async move {
                    let mut seen = 0;
                    while in_task.changed_async().await.is_ok() {
                        seen = *in_task.borrow_and_update();
                    }
                    seen
                })
            }),
            thread::spawn(move || {
                let mut random = Random::new(9);
                loop {
                    // The timeout and the value race.
                    match choosing.changed_timeout(Duration::from_nanos(random.below(5_000) as u64)) {
                        Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return *choosing.borrow(),
                    }
                }
            }),
        ];
        let mut random = Random::new(8);
        for value in 1..=LAST {
            sender.send(value).unwrap();
            random.pause();
        }
        drop(sender);
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [LAST; 3]);
    });
}

#[test]
fn senders_learn_that_no_receiver_is_left() {
    guarded(|| {
        let (sender, receiver) = watch::channel(0);
        let second = receiver.clone();
        assert!(!sender.wait_closed_timeout(Duration::ZERO));
        assert!(!sender.wait_closed_timeout(Duration::from_nanos(1)));
        let begun = Arc::new(Barrier::new(4));
        let waiting: Vec<_> = (0..3)
            .map(|way| {
                let (sender, begun) = (sender.clone(), begun.clone());
                thread::spawn(move || {
                    begun.wait();
                    match way {
                        0 => sender.wait_closed(),
                        1 => assert!(sender.wait_closed_timeout(Duration::MAX)),
                        _ => block_on(sender.closed()),
                    }
                    assert!(sender.is_disconnected(), "way {way}");
                })
            })
            .collect();
        begun.wait();
        // They go to sleep.
        thread::sleep(Duration::from_millis(5));
        let task = Task::default();
        let mut closed = Box::pin(sender.closed());
        assert!(poll_once(&mut closed, &task).is_pending());
        drop(receiver);
        assert_eq!((task.woken(), sender.is_disconnected()), (0, false));
        drop(second);
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(task.woken(), 1);
        // A receiver comes before the task polls: then it goes on waiting.
        let third = sender.subscribe();
        assert!(poll_once(&mut closed, &task).is_pending());
        drop(third);
        assert_eq!((task.woken(), poll_once(&mut closed, &task)), (2, Poll::Ready(())));
        drop(closed);
        assert!(sender.wait_closed_timeout(Duration::ZERO) && task.held() == 0);
        sender.wait_closed();
    });
}

#[test]
fn every_way_of_sending_wakes_a_waiter() {
    let (sender, mut receiver) = watch::channel(0);
    let task = Task::default();
    let ways: [fn(&watch::Sender<i32>); 4] = [
        |sender| sender.send(1).unwrap(),
        |sender| _ = sender.send_replace(2),
        |sender| sender.send_modify(|value| *value += 1),
        |sender| assert!(sender.send_if_modified(|value| *value == 3)),
    ];
    for (woken, way) in (1..).zip(ways) {
        let mut future = Box::pin(receiver.changed_async());
        assert!(poll_once(&mut future, &task).is_pending());
        way(&sender);
        assert_eq!((task.woken(), poll_once(&mut future, &task)), (woken, Poll::Ready(Ok(()))));
    }
}

#[test]
fn a_spinning_wait_makes_no_system_call() {
    let (_sender, mut receiver) = watch::channel(0);
    receiver.set_spin(Spin::Forever);
    let before = calls();
    assert_eq!(receiver.changed_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
    assert_eq!(calls(), before);
}

#[test]
fn thousands_of_tasks_are_told_of_a_value_and_of_the_end() {
    let (sender, receiver) = watch::channel(0);
    let mut receivers: Vec<_> = (0..THOUSANDS).map(|_| (receiver.clone(), Task::default())).collect();
    drop(receiver);
    let pending = |receivers: &mut Vec<(watch::Receiver<usize>, Task)>| {
        for (receiver, task) in receivers {
            assert!(receiver.poll_changed(&mut Context::from_waker(&task.waker())).is_pending());
        }
    };
    pending(&mut receivers);
    sender.send(1).unwrap();
    assert!(receivers.iter().all(|(receiver, task)| task.woken() == 1 && receiver.has_changed() == Ok(true)));
    receivers.iter_mut().for_each(|(receiver, _)| receiver.mark_unchanged());
    pending(&mut receivers);
    // Every third leaves while it waits.
    let mut number = 0;
    receivers.retain(|_| {
        number += 1;
        number % 3 != 0
    });
    assert_eq!((receivers.len(), sender.receiver_count()), (3_334, 3_334));
    sender.send(2).unwrap();
    assert!(receivers.iter().all(|(receiver, task)| task.woken() == 2 && *receiver.borrow() == 2));
    receivers.iter_mut().for_each(|(receiver, _)| receiver.mark_unchanged());
    pending(&mut receivers);
    drop(sender);
    assert!(receivers.iter().all(|(receiver, task)| task.woken() == 3 && receiver.has_changed().is_err()));
}

#[test]
fn any_number_of_senders_waits_for_the_end_of_all_receivers() {
    let (sender, receiver) = watch::channel(0);
    let mut receivers = vec![receiver; MANY];
    let tasks: Vec<_> = (0..MANY).map(|_| Task::default()).collect();
    let mut futures: Vec<_> = tasks.iter().map(|_| Box::pin(sender.closed())).collect();
    for (future, task) in futures.iter_mut().zip(&tasks) {
        assert!(poll_once(future, task).is_pending());
    }
    receivers.truncate(1);
    assert!(tasks.iter().all(|task| task.woken() == 0));
    receivers.clear();
    for (future, task) in futures.iter_mut().zip(&tasks) {
        assert_eq!((task.woken(), poll_once(future, task)), (1, Poll::Ready(())));
    }
}

/// A future that is stored and moved, dropped while it waits, and polled once too often.
#[test]
fn a_wait_for_a_value_is_kept_in_a_struct() {
    struct Stored<'a> {
        changed: Option<watch::ChangedFuture<'a, u8>>,
    }
    let (sender, mut receiver) = watch::channel(0);
    let task = Task::default();
    let mut stored = Stored { changed: Some(receiver.changed_async()) };
    assert!(poll_once(stored.changed.as_mut().unwrap(), &task).is_pending());
    assert_eq!(format!("{:?}", stored.changed.as_ref().unwrap()), "ChangedFuture { .. }");
    let mut moved = stored;
    sender.send(1).unwrap();
    assert_eq!((task.woken(), poll_once(moved.changed.as_mut().unwrap(), &task)), (1, Poll::Ready(Ok(()))));
    let again = std::panic::AssertUnwindSafe(|| poll_once(moved.changed.as_mut().unwrap(), &task));
    assert!(std::panic::catch_unwind(again).is_err());
    drop(moved);
    let mut waiting = receiver.changed_async();
    assert!(poll_once(&mut waiting, &task).is_pending());
    drop(waiting);
    assert_eq!(task.held(), 0);
    drop(sender);
    assert_eq!(poll_once(&mut receiver.changed_async(), &task), Poll::Ready(Err(RecvError)));
}
