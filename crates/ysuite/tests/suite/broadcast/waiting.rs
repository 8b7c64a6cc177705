//! Threads and tasks that wait: for messages, for room, for the disconnect.

use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::Spin;
use ysuite::broadcast::{self, RecvError, RecvTimeoutError, TryRecvError};
use ysuite::{SendError, SendTimeoutError, TrySendError};

use super::{Census, pair};
use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{calls, guarded};

const SOON: Duration = Duration::from_millis(2);

#[test]
fn one_message_wakes_every_receiver_that_sleeps() {
    for spin in [Spin::None, Spin::Adaptive] {
        guarded(move || {
            let (sender, receiver) = broadcast::bounded(4);
            let threads: Vec<_> = (0..5)
                .map(|_| {
                    let mut receiver = receiver.clone();
                    receiver.set_spin(spin);
                    thread::spawn(move || assert!(receiver.iter().eq(0..50)))
                })
                .collect();
            drop(receiver);
            for number in 0..50 {
                thread::sleep(Duration::from_micros(300));
                sender.send(number).unwrap();
            }
            drop(sender);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}

#[test]
fn a_wait_for_a_message_ends_in_time() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(2);
        assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(Instant::now() + SOON), Err(RecvTimeoutError::Timeout));
        sender.send_batch([1, 2]).unwrap();
        let past = Instant::now().checked_sub(SOON).unwrap_or_else(Instant::now);
        assert_eq!(receiver.recv_deadline(past), Ok(1), "a message that is there is received");
        assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(2));
        assert_eq!(receiver.recv_deadline(past), Err(RecvTimeoutError::Timeout));
        drop(sender);
        assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
        assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
    });
}

#[test]
fn a_wait_for_room_ends_in_time_and_gives_the_message_back() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(1);
        sender.send(1).unwrap();
        assert_eq!(sender.send_timeout(2, SOON), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(sender.send_deadline(2, Instant::now() + SOON), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(receiver.recv(), Ok(1));
        let past = Instant::now().checked_sub(SOON).unwrap_or_else(Instant::now);
        assert_eq!(sender.send_deadline(3, past), Ok(()), "where there is room it is sent");
        drop(receiver);
        assert_eq!(sender.send_timeout(4, Duration::MAX), Err(SendTimeoutError::Disconnected(4)));
        assert_eq!(sender.try_send(4), Err(TrySendError::Disconnected(4)));
        assert_eq!(sender.send(4), Err(SendError(4)));
    });
}

#[test]
fn a_sender_is_woken_by_whatever_makes_room() {
    // The slowest receiver: moves on, takes a batch, goes, is copied and goes.
    for way in 0..4 {
        for spin in [Spin::None, Spin::Adaptive, Spin::Forever] {
            guarded(move || {
                let (sender, mut receiver) = broadcast::bounded(2);
                sender.set_spin(spin);
                let mut slow = receiver.clone();
                sender.send_batch([1, 2]).unwrap();
                assert!(receiver.try_iter().eq([1, 2]));
                let thread = thread::spawn(move || sender.send(3));
                thread::sleep(SOON);
                match way {
                    0 => assert_eq!(slow.recv(), Ok(1)),
                    1 => assert_eq!(slow.recv_batch(&mut Vec::new(), 9), Ok(2)),
                    2 => drop(slow),
                    _ => {
                        let mut clone = slow.clone();
                        drop(slow);
                        thread::sleep(SOON);
                        assert_eq!(clone.try_recv(), Ok(1));
                        assert_eq!(receiver.recv(), Ok(3));
                        assert!(clone.try_iter().eq([2, 3]));
                    }
                }
                assert_eq!(thread.join().unwrap(), Ok(()));
            });
        }
    }
}

#[test]
fn several_senders_that_wait_are_all_served() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(1);
        let mut other = receiver.clone();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let sender = sender.clone();
                thread::spawn(move || (0..200).for_each(|_| sender.send(1).unwrap()))
            })
            .collect();
        drop(sender);
        let counting = thread::spawn(move || other.iter().sum::<u32>());
        assert_eq!(receiver.iter().sum::<u32>(), 800);
        assert_eq!(counting.join().unwrap(), 800);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_task_is_woken_once_for_what_it_waits_for() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let (mut other, mut polled) = (receiver.clone(), receiver.clone());
    let tasks = [Task::default(), Task::default(), Task::default()];
    let mut future = Box::pin(receiver.recv_async());
    let mut second = Box::pin(other.recv_async());
    assert!(poll_once(&mut future, &tasks[0]).is_pending() && poll_once(&mut second, &tasks[1]).is_pending());
    assert!(poll_once(&mut future, &tasks[0]).is_pending(), "polled again for nothing");
    assert!(polled.poll_recv(&mut Context::from_waker(&tasks[2].waker())).is_pending());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!([0, 1, 2].map(|task: usize| tasks[task].woken()), [1; 3]);
    assert_eq!(poll_once(&mut future, &tasks[0]), Poll::Ready(Ok(1)));
    assert_eq!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(1)));
    assert_eq!(polled.poll_recv(&mut Context::from_waker(&tasks[2].waker())), Poll::Ready(Ok(1)));
    drop((future, second));
    assert_eq!((receiver.try_recv(), other.try_recv(), polled.try_recv()), (Ok(2), Ok(2), Ok(2)));
    // The newest task only.
    let context = |task: usize| tasks[task].waker();
    assert!(polled.poll_recv(&mut Context::from_waker(&context(0))).is_pending());
    assert!(polled.poll_recv(&mut Context::from_waker(&context(1))).is_pending());
    drop(sender);
    assert_eq!([0, 1, 2].map(|task: usize| tasks[task].woken()), [1, 2, 1]);
    assert_eq!(polled.poll_recv(&mut Context::from_waker(&context(1))), Poll::Ready(Err(RecvError::Disconnected)));
    drop(polled);
    assert_eq!([0, 1, 2].map(|task: usize| tasks[task].held()), [0; 3], "wakers are left");
}

#[test]
fn a_future_that_is_dropped_has_taken_nothing() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let task = Task::default();
    let mut future = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut future, &task).is_pending());
    sender.send(1).unwrap();
    drop(future);
    assert_eq!((receiver.try_recv(), task.held()), (Ok(1), 0));
    let mut future = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut future, &task).is_pending());
    drop(future);
    assert_eq!(task.held(), 0);
}

#[test]
fn a_task_that_sends_waits_for_the_slowest() {
    let census = Census::default();
    let (sender, mut receiver) = broadcast::bounded(1);
    let mut slow = receiver.clone();
    sender.send(census.message(0)).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut first = Box::pin(sender.send_async(census.message(1)));
    let mut second = Box::pin(sender.send_async(census.message(2)));
    assert!(poll_once(&mut first, &tasks[0]).is_pending() && poll_once(&mut second, &tasks[1]).is_pending());
    drop(receiver.recv());
    assert_eq!(tasks[0].woken() + tasks[1].woken(), 0, "the slowest has not moved");
    drop(slow.recv());
    assert_eq!(tasks[0].woken() + tasks[1].woken(), 1);
    // The notified one is dropped without sending, and notifies the other.
    if tasks[0].woken() == 1 {
        drop(first);
        assert!(poll_once(&mut second, &tasks[1]).is_ready());
        drop(second);
    } else {
        drop(second);
        assert!(poll_once(&mut first, &tasks[0]).is_ready());
        drop(first);
    }
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
    drop((sender, receiver, slow));
    assert_eq!(census.alive(), 0);
}

#[test]
fn a_batch_tells_as_many_senders_as_it_has_made_room_for() {
    let (sender, mut receiver) = broadcast::bounded(1);
    sender.send(0).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut first = Box::pin(sender.send_async(1));
    let mut second = Box::pin(sender.send_async(2));
    assert!(poll_once(&mut first, &tasks[0]).is_pending() && poll_once(&mut second, &tasks[1]).is_pending());
    assert_eq!(receiver.try_recv_batch(&mut Vec::new(), 9), Ok(1));
    assert_eq!(tasks[0].woken() + tasks[1].woken(), 1);
}

#[test]
fn a_receiver_that_joins_tells_of_the_room_that_is_there() {
    // For a moment its cell may have been beyond the bound, and a sender may have come just then.
    let (sender, mut receiver) = broadcast::bounded(1);
    sender.send(0).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut first = Box::pin(sender.send_async(1));
    let mut second = Box::pin(sender.send_async(2));
    assert!(poll_once(&mut first, &tasks[0]).is_pending() && poll_once(&mut second, &tasks[1]).is_pending());
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(tasks[0].woken() + tasks[1].woken(), 1, "one has the room");
    let _joined = sender.subscribe();
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
}

#[test]
fn tasks_on_both_sides() {
    guarded(|| {
        let (sender, receiver) = broadcast::bounded(3);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let mut receiver = receiver.clone();
                thread::spawn(move || {
                    block_on(async {
                        for number in 0..2_000 {
                            assert_eq!(receiver.recv_async().await, Ok(number));
                        }
                        assert_eq!(receiver.recv_async().await, Err(RecvError::Disconnected));
                    });
                })
            })
            .collect();
        drop(receiver);
        block_on(async {
            for number in 0..2_000 {
                sender.send_async(number).await.unwrap();
            }
        });
        drop(sender);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_task_is_told_what_it_missed() {
    let (sender, mut receiver) = broadcast::lossy(1);
    (0..3).for_each(|number| sender.send(number).unwrap());
    assert_eq!(block_on(receiver.recv_async()), Err(RecvError::Lagged(2)));
    assert_eq!(block_on(receiver.recv_async()), Ok(2));
    assert_eq!(receiver.missed(), 2);
}

#[test]
fn a_sender_waits_for_the_disconnect() {
    guarded(|| {
        let (sender, receiver) = broadcast::bounded::<u8>(1);
        let other = receiver.clone();
        let task = Task::default();
        let mut future = Box::pin(sender.closed());
        assert!(poll_once(&mut future, &task).is_pending());
        assert!(!sender.wait_closed_timeout(SOON) && !sender.is_disconnected());
        let second = sender.clone();
        let thread = thread::spawn(move || {
            second.wait_closed();
            second.is_disconnected()
        });
        thread::sleep(SOON);
        drop(receiver);
        assert_eq!(task.woken(), 0);
        drop(other);
        assert_eq!(task.woken(), 1);
        assert!(poll_once(&mut future, &task).is_ready());
        assert!(thread.join().unwrap(), "it has waited for the disconnect");
        assert!(sender.wait_closed_timeout(Duration::ZERO) && sender.is_disconnected());
        // Another listens: all begins anew.
        let mut receiver = sender.subscribe();
        assert!(!sender.wait_closed_timeout(Duration::ZERO) && !sender.is_disconnected());
        sender.send(1).unwrap();
        assert!(receiver.close());
        assert!(sender.wait_closed_timeout(Duration::ZERO));
    });
}

#[test]
fn a_wait_without_time_looks_once_and_does_not_call_the_kernel() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(1);
        for _ in 0..200 {
            let before = calls();
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(calls(), before);
        }
        sender.send(1).unwrap();
        for _ in 0..200 {
            let before = calls();
            assert!(sender.send_timeout(2, Duration::ZERO).is_err());
            assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
            assert_eq!(calls(), before);
        }
    });
}

/// Claim: A broadcast stream makes no system call.
#[test]
fn a_stream_makes_no_system_call() {
    for is_lossy in [false, true] {
        let (sender, mut receiver) = pair(is_lossy, 64);
        let mut other = receiver.clone();
        let before = calls();
        for number in 0..10_000 {
            sender.send(number).unwrap();
            assert_eq!((receiver.recv(), other.recv()), (Ok(number), Ok(number)));
        }
        assert_eq!(calls(), before);
    }
}

#[test]
fn a_future_takes_the_place_of_the_task_that_polled() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let tasks = [Task::default(), Task::default()];
    assert!(receiver.poll_recv(&mut Context::from_waker(&tasks[0].waker())).is_pending());
    let mut future = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut future, &tasks[1]).is_pending());
    sender.send(1).unwrap();
    assert_eq!(tasks.each_ref().map(Task::woken), [0, 1]);
    assert_eq!(poll_once(&mut future, &tasks[1]), Poll::Ready(Ok(1)));
}

#[test]
fn a_sender_that_spins_is_content_with_room_for_one_in_the_end() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(8);
        sender.set_spin(Spin::Forever);
        sender.send_batch(0..8).unwrap();
        let thread = thread::spawn(move || {
            sender.send(8).unwrap();
            sender
        });
        thread::sleep(SOON);
        assert_eq!(receiver.recv(), Ok(0));
        drop(thread.join().unwrap());
        assert!(receiver.iter().eq(1..9));
    });
}

#[test]
fn a_spinning_wait_makes_no_system_call() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(1);
        sender.set_spin(Spin::Forever);
        receiver.set_spin(Spin::Forever);
        let before = calls();
        assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        sender.send(1).unwrap();
        assert_eq!(sender.send_timeout(2, SOON), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(calls(), before);
    });
}

#[test]
fn one_message_wakes_every_task_however_many_wait() {
    // Enough waiters for several blocks of the list.
    const RECEIVERS: usize = 130;
    let (sender, receiver) = broadcast::bounded(4);
    let mut receivers: Vec<_> = (0..RECEIVERS).map(|_| (receiver.clone(), Task::default())).collect();
    drop(receiver);
    for round in 1..=3 {
        for (receiver, task) in &mut receivers {
            assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
        }
        sender.send(round).unwrap();
        for (receiver, task) in &mut receivers {
            assert_eq!((task.woken(), receiver.try_recv()), (round, Ok(round)));
        }
    }
}

#[test]
fn thousands_of_receivers_get_each_message_and_some_leave_between() {
    // More than there are slots in 64 blocks of the list, and cursors in nine segments.
    const RECEIVERS: usize = 4_100;
    let (sender, receiver) = broadcast::bounded(2);
    let mut receivers: Vec<_> = (0..RECEIVERS).map(|_| (receiver.clone(), Task::default())).collect();
    drop(receiver);
    let pending = |receivers: &mut Vec<(broadcast::Receiver<usize>, Task)>| {
        for (receiver, task) in receivers {
            assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
        }
    };
    pending(&mut receivers);
    sender.send_batch([1, 2]).unwrap();
    assert!(receivers.iter().all(|(_, task)| task.woken() == 1));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    // All but one make room, and that is none; then it leaves.
    for (receiver, _) in &mut receivers[..RECEIVERS - 1] {
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(2)));
    }
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    receivers.truncate(RECEIVERS - 1);
    assert_eq!(sender.try_send(3), Ok(()));
    receivers.iter_mut().for_each(|(receiver, _)| assert_eq!(receiver.try_recv(), Ok(3)));
    pending(&mut receivers);
    // Some leave while they wait, in every block of the list, and others have their places.
    let mut number = 0;
    receivers.retain(|_| {
        number += 1;
        number % 40 != 0
    });
    let mut late: Vec<_> = (0..100).map(|_| (sender.subscribe(), Task::default())).collect();
    pending(&mut late);
    assert_eq!((receivers.len(), sender.receiver_count()), (RECEIVERS - 103, RECEIVERS - 3));
    sender.send(4).unwrap();
    for (receiver, task) in receivers.iter_mut().chain(&mut late) {
        assert!(task.woken() >= 1 && receiver.try_recv() == Ok(4));
    }
    assert!(receivers.iter().all(|(_, task)| task.woken() == 2) && late.iter().all(|(_, task)| task.woken() == 1));
}

#[test]
fn any_number_of_senders_waits_for_room_and_for_the_end() {
    const SENDERS: usize = 130;
    let (sender, mut receiver) = broadcast::bounded(1);
    sender.send(usize::MAX).unwrap();
    let begin = |number| (Task::default(), Some(Box::pin(sender.send_async(number))));
    let mut sending: Vec<_> = (0..SENDERS).map(begin).collect();
    let mut closed: Vec<_> = (0..SENDERS).map(|_| (Task::default(), Box::pin(sender.closed()))).collect();
    for (task, future) in &mut sending {
        assert!(poll_once(future.as_mut().unwrap(), task).is_pending());
    }
    for (task, future) in &mut closed {
        assert!(poll_once(future, task).is_pending());
    }
    let mut received = Vec::new();
    for _ in 0..SENDERS / 2 {
        received.push(receiver.try_recv().unwrap());
        // One has the room; only one that was notified may poll.
        let told = sending.iter_mut().find(|(task, future)| task.woken() > 0 && future.is_some());
        let (task, future) = told.expect("no sender was notified of room");
        assert_eq!(poll_once(future.as_mut().unwrap(), task), Poll::Ready(Ok(())));
        *future = None;
    }
    received.sort_unstable();
    received.dedup();
    assert_eq!(received.len(), SENDERS / 2);
    assert!(closed.iter().all(|(task, _)| task.woken() == 0));
    drop(receiver);
    for (task, future) in &mut closed {
        assert_eq!((task.woken(), poll_once(future, task)), (1, Poll::Ready(())));
    }
    for (number, (task, future)) in sending.iter_mut().enumerate() {
        let Some(future) = future else { continue };
        assert!(task.woken() > 0);
        assert_eq!(poll_once(future, task), Poll::Ready(Err(SendError(number))));
    }
}
