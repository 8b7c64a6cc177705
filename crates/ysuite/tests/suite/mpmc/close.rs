//! Explicit close, from either side; and senders that wait for the disconnect.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ysuite::mpmc;
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::mpmc::of;
use crate::support::executor::{AtOnce, Clinging, Explosive, Task, block_on, poll_once};
use crate::support::{Random, Tally, guarded, panics};

#[test]
fn after_a_close_what_was_sent_is_received_and_nothing_more_is_sent() {
    for by_sender in [true, false] {
        let (sender, receiver) = mpmc::bounded(3);
        let other = receiver.clone();
        assert_eq!((sender.send(1), sender.send(2)), (Ok(()), Ok(())));
        assert!(if by_sender { sender.close() } else { receiver.close() });
        assert!(!sender.close() && !receiver.close());
        assert!(sender.is_disconnected() && receiver.is_disconnected());
        assert_eq!(sender.send(3), Err(SendError(3)));
        assert_eq!(sender.clone().try_send(3), Err(TrySendError::Disconnected(3)));
        assert_eq!(sender.send_timeout(3, Duration::ZERO), Err(SendTimeoutError::Disconnected(3)));
        assert_eq!(sender.send_batch(3..5), Err(SendError(vec![3, 4])));
        assert_eq!(sender.force_send(3), Err(SendError(3)));
        assert!(sender.try_reserve().is_err() && sender.reserve_many(2).is_err());
        assert_eq!(block_on(sender.send_async(3)), Err(SendError(3)));
        assert_eq!((receiver.len(), receiver.is_empty()), (2, false));
        assert_eq!((receiver.try_recv(), other.recv()), (Ok(1), Ok(2)));
        assert_eq!((receiver.try_recv(), other.recv()), (Err(TryRecvError::Disconnected), Err(RecvError)));
        assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
        assert_eq!(block_on(other.recv_async()), Err(RecvError));
        assert_eq!(receiver.iter().next(), None);
    }
}

#[test]
fn a_full_channel_that_is_closed_is_not_said_to_be_full() {
    let (sender, receiver) = mpmc::bounded(2);
    assert_eq!(sender.send_batch([1, 2]), Ok(2));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert!(receiver.close());
    assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    assert!(receiver.try_iter().eq([1, 2]));
}

#[test]
fn an_end_that_has_come_by_itself_is_not_closed_again() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    drop(receiver);
    assert!(!sender.close());
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    drop(sender);
    assert!(!receiver.close());
}

/// Claim: An `mpmc` close wakes all waiters, in every wake mode.
/// Also: model exchange_close::a_close_against_a_sender_without_room.
#[test]
fn a_close_wakes_senders_and_receivers_that_sleep() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let senders: Vec<_> = (1..4)
            .map(|number| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(number))
            })
            .collect();
        thread::sleep(Duration::from_millis(20));
        assert!(receiver.close());
        let back: Vec<_> = senders.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(back, [Err(SendError(1)), Err(SendError(2)), Err(SendError(3))]);
        assert!(receiver.iter().eq([0]));

        let (sender, receiver) = mpmc::bounded::<u8>(1);
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || receiver.recv())
            })
            .collect();
        thread::sleep(Duration::from_millis(20));
        assert!(sender.close());
        receivers.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Err(RecvError)));
    });
}

#[test]
fn a_close_tells_tasks_and_attached_receivers() {
    let (sender, mut receiver) = mpmc::bounded::<u8>(1);
    let (mut set, tasks) = (YPollset::new(), [Task::default(), Task::default()]);
    let (other, mut polled) = (receiver.clone(), receiver.clone());
    set.attach(&mut receiver, 5).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(set.check().is_empty());
    let mut future = Box::pin(other.recv_async());
    assert!(poll_once(&mut future, &tasks[0]).is_pending());
    assert!(polled.poll_recv(&mut Context::from_waker(&tasks[1].waker())).is_pending());
    assert!(sender.close());
    assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 1));
    assert!(set.check().eq([5]));
    // Level-triggered: it is still so.
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert!(set.check().eq([5]));
    assert_eq!(poll_once(&mut future, &tasks[0]), Poll::Ready(Err(RecvError)));
}

#[test]
fn every_message_is_received_or_comes_back_whenever_the_channel_is_closed() {
    guarded(|| {
        let mut random = Random::new(12);
        for round in 0..if cfg!(miri) { 5 } else { 300 } {
            let tally = Tally::of(4_000);
            let (sender, receiver) = mpmc::bounded(1 + round % 5);
            let barrier = Arc::new(Barrier::new(5));
            let senders = [0, 1].map(|_| {
                let (sender, tally, barrier) = (sender.clone(), tally.clone(), barrier.clone());
                thread::spawn(move || {
                    barrier.wait();
                    let mut sent = 0;
                    while sent < 1_000 && sender.send(tally.next()).is_ok() {
                        sent += 1;
                    }
                    sent
                })
            });
            let receivers = [0, 1].map(|_| {
                let (receiver, barrier) = (receiver.clone(), barrier.clone());
                thread::spawn(move || {
                    barrier.wait();
                    receiver.iter().count()
                })
            });
            barrier.wait();
            (0..random.below(3_000)).for_each(|_| std::hint::spin_loop());
            if round % 2 == 0 {
                sender.close()
            } else {
                receiver.close()
            };
            let sent: usize = senders.map(|thread| thread.join().unwrap()).iter().sum();
            let received: usize = receivers.map(|thread| thread.join().unwrap()).iter().sum();
            assert_eq!(sent, received);
            tally.assert_all_ended();
        }
    });
}

#[test]
fn the_messages_of_a_closed_channel_go_with_its_last_receiver() {
    let tally = Tally::of(3);
    let (sender, receiver) = mpmc::bounded(3);
    tally.some(3).for_each(|message| sender.send(message).unwrap());
    sender.close();
    drop(sender);
    assert_eq!(tally.ended(), 0);
    tally.explode(1);
    assert_eq!(panics(|| drop(receiver)), "the end of message 1");
    tally.assert_all_ended();
}

#[test]
fn senders_wait_for_the_end_of_the_receivers() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded::<u8>(1);
        let (second, other) = (sender.clone(), receiver.clone());
        let threads = [
            thread::spawn(move || sender.wait_closed()),
            thread::spawn(move || assert!(second.wait_closed_timeout(Duration::MAX))),
        ];
        drop(other);
        thread::sleep(Duration::from_millis(10));
        assert!(threads.iter().all(|thread| !thread.is_finished()));
        drop(receiver);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_wait_for_the_end_has_a_limit() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    assert!(!sender.wait_closed_timeout(Duration::ZERO));
    assert!(!sender.wait_closed_timeout(Duration::from_millis(1)));
    drop(receiver);
    assert!(sender.wait_closed_timeout(Duration::ZERO));
    sender.wait_closed();
    block_on(sender.closed());
}

#[test]
fn a_task_is_told_of_the_end_and_not_of_messages() {
    let (sender, receiver) = mpmc::bounded(1);
    let task = Task::default();
    let mut closed = pin!(sender.closed());
    let waker = task.waker();
    assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    (0..3).for_each(|number| {
        sender.send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    });
    assert_eq!(task.woken(), 0);
    receiver.close();
    assert_eq!(task.woken(), 1);
    assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
}

#[test]
fn a_task_that_no_longer_waits_for_the_end_leaves_no_waker() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    let task = Task::default();
    for _ in 0..100 {
        let mut closed = Box::pin(sender.closed());
        assert!(poll_once(&mut closed, &task).is_pending());
        assert_eq!(task.held(), 1);
        drop(closed);
        assert_eq!(task.held(), 0);
    }
    drop(receiver);
    assert_eq!(task.woken(), 0);
}

#[test]
fn wakers_that_panic_at_a_close_keep_no_thread_asleep_and_the_channel_closed() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    sender.send(0).unwrap();
    let (explosive, task) = (Explosive::waker(), Task::default());
    let mut sending = [1, 2].map(|number| Box::pin(sender.send_async(number)));
    assert!(sending[0].as_mut().poll(&mut Context::from_waker(&explosive)).is_pending());
    assert!(poll_once(&mut sending[1], &task).is_pending());
    let mut closed = [(); 2].map(|()| Box::pin(sender.closed()));
    assert!(closed[0].as_mut().poll(&mut Context::from_waker(&explosive)).is_pending());
    assert!(poll_once(&mut closed[1], &task).is_pending());
    assert_eq!(panics(|| assert!(receiver.close())), "this waker panics");
    assert_eq!(task.woken(), 2);
    assert!(sender.is_disconnected() && !receiver.close());
    assert_eq!(poll_once(&mut sending[1], &task), Poll::Ready(Err(SendError(2))));
    assert!(poll_once(&mut closed[1], &task).is_ready());
}

#[test]
fn the_last_receiver_tells_those_that_wait_for_the_end_whatever_panics() {
    let tally = Tally::of(1);
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(tally.next()).unwrap();
    tally.explode(0);
    let (task, clinging) = (Task::default(), Clinging::waker());
    let mut closed = [(); 2].map(|()| Box::pin(sender.closed()));
    assert!(closed[0].as_mut().poll(&mut Context::from_waker(&clinging)).is_pending());
    assert!(poll_once(&mut closed[1], &task).is_pending());
    drop(clinging);
    panics(|| drop(receiver));
    assert_eq!(task.woken(), 1);
    tally.assert_all_ended();
    assert!(poll_once(&mut closed[1], &task).is_ready());
}

/// However many there are: each finishes within its own wake-up, and none within another's, for which a stack would not
/// have room.
#[test]
fn tasks_that_poll_on_the_spot_are_told_of_the_end_one_behind_the_other() {
    const TASKS: usize = 2_000;
    guarded(|| {
        for drops in [false, true] {
            let (sender, receiver) = mpmc::bounded(1);
            sender.send(0).unwrap();
            let tasks: Vec<_> = (0..TASKS)
                .map(|number| {
                    let sender = sender.clone();
                    AtOnce::new(async move {
                        if number % 2 == 0 {
                            sender.closed().await;
                        } else {
                            let _ = sender.send_async(0).await;
                        }
                    })
                })
                .collect();
            if drops {
                drop(receiver);
            } else {
                receiver.close();
            }
            let left = tasks.iter().filter(|task| task.stop()).count();
            assert_eq!((left, AtOnce::deepest()), (0, 1));
        }
    });
}

/// Each kind of wait has a list of its own, and each list more waiters than one block has.
fn a_disconnect_notifies_all_waiters_however_many(bounded: bool, ended: &str) {
    const EACH: usize = 130;
    let (sender, receiver) = of(if bounded { 2 } else { 0 });
    let tasks: Vec<Vec<_>> = (0..4).map(|_| (0..EACH).map(|_| Task::default()).collect()).collect();
    let mut closed: Vec<_> = (0..EACH).map(|_| Box::pin(sender.closed())).collect();
    let mut sending: Vec<_> = (0..EACH).map(|_| Box::pin(sender.send_async(9))).collect();
    let mut one: Vec<_> = (0..EACH).map(|_| Box::pin(sender.reserve_async())).collect();
    let mut several: Vec<_> = (0..EACH).map(|_| Box::pin(sender.reserve_many_async(2))).collect();
    macro_rules! pending {
        ($futures:ident, $tasks:expr) => {
            for (future, task) in $futures.iter_mut().zip(&tasks[$tasks]) {
                assert!(poll_once(future, task).is_pending());
            }
        };
    }
    macro_rules! told {
        ($futures:ident, $tasks:expr, $end:pat) => {
            for (future, task) in $futures.iter_mut().zip(&tasks[$tasks]) {
                assert_eq!(task.woken(), 1);
                assert!(matches!(poll_once(future, task), Poll::Ready($end)));
            }
        };
    }
    pending!(closed, 0);
    if bounded {
        sender.send_batch([1, 2]).unwrap();
        pending!(sending, 1);
        pending!(one, 2);
        pending!(several, 3);
    }
    match ended {
        "closed" => assert!(receiver.close()),
        _ => drop(receiver),
    }
    told!(closed, 0, ());
    if bounded {
        told!(sending, 1, Err(SendError(9)));
        told!(one, 2, Err(_));
        told!(several, 3, Err(_));
    }
    drop((closed, sending, one, several));
    assert!(tasks.iter().flatten().all(|task| task.held() == 0));
}

#[test]
fn an_end_tells_all_senders_however_many_wait() {
    for bounded in [true, false] {
        ["closed", "gone"].into_iter().for_each(|ended| a_disconnect_notifies_all_waiters_however_many(bounded, ended));
    }
}

#[test]
fn an_end_tells_all_receivers_however_many_wait() {
    for (bounded, closes) in [(true, true), (true, false), (false, true), (false, false)] {
        let (sender, receiver) = of::<u8>(if bounded { 2 } else { 0 });
        let tasks: Vec<_> = (0..130).map(|_| Task::default()).collect();
        let mut futures: Vec<_> = tasks.iter().map(|_| Box::pin(receiver.recv_async())).collect();
        for (future, task) in futures.iter_mut().zip(&tasks) {
            assert!(poll_once(future, task).is_pending());
        }
        if closes {
            assert!(sender.close());
        } else {
            drop(sender);
        }
        for (future, task) in futures.iter_mut().zip(&tasks) {
            assert_eq!((task.woken(), poll_once(future, task)), (1, Poll::Ready(Err(RecvError))));
        }
    }
}
