//! A rendezvous with the other operations of a channel: closing it, waiting for its disconnect, weak and shared
//! senders, permits, `force_send`, batches and limits of tasks, timers.

use std::future::{Future, ready};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use super::SHORT;
use crate::support::executor::{Task, block_on, poll_once};
use crate::support::guarded;
use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{RecvError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError};
use ysuite::{mpmc, mpsc, spsc, timer};

macro_rules! closing {
    ($($name:ident: $kind:ident),*) => {
        $(mod $name {
            use super::*;

            #[test]
            #[allow(unused_mut)]
            fn the_receivers_close_sends_a_waiting_sender_its_message_back() {
                guarded(|| {
                    let (mut sender, mut receiver) = $kind::bounded(0);
                    let waiting = thread::spawn(move || {
                        let back = sender.send(7);
                        (back, sender.is_disconnected(), sender.close(), sender.wait_closed_timeout(SHORT))
                    });
                    thread::sleep(SHORT);
                    assert!(receiver.close());
                    assert!(!receiver.close() && receiver.is_disconnected());
                    assert_eq!(waiting.join().unwrap(), (Err(SendError(7)), true, false, true));
                    assert_eq!(receiver.recv(), Err(RecvError));
                    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
                });
            }

            #[test]
            #[allow(unused_mut)]
            fn a_senders_close_ends_a_waiting_receiver() {
                guarded(|| {
                    let (mut sender, mut receiver) = $kind::bounded::<i32>(0);
                    let waiting = thread::spawn(move || (receiver.recv(), receiver.is_disconnected()));
                    thread::sleep(SHORT);
                    assert!(sender.close());
                    assert!(!sender.close() && sender.is_disconnected());
                    assert_eq!(waiting.join().unwrap(), (Err(RecvError), true));
                    assert_eq!(sender.send(1), Err(SendError(1)));
                    assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
                    assert_eq!(sender.send_timeout(3, SHORT), Err(SendTimeoutError::Disconnected(3)));
                    assert_eq!(block_on(sender.send_async(4)), Err(SendError(4)));
                    assert_eq!(sender.send_batch([5, 6]).map_err(|error| error.0[0]), Err(5));
                });
            }

            #[test]
            #[allow(unused_mut)]
            fn closed_waits_for_the_receivers_end() {
                guarded(|| {
                    let (sender, mut receiver) = $kind::bounded::<i32>(0);
                    assert!(!sender.wait_closed_timeout(SHORT));
                    let waiting = thread::spawn(move || {
                        block_on(sender.closed());
                        sender.is_disconnected()
                    });
                    thread::sleep(SHORT);
                    assert!(receiver.close());
                    assert!(waiting.join().unwrap());
                    let (sender, receiver) = $kind::bounded::<i32>(0);
                    let waiting = thread::spawn(move || sender.wait_closed());
                    drop(receiver);
                    waiting.join().unwrap();
                });
            }

            #[test]
            #[allow(unused_mut)]
            fn any_number_of_tasks_is_told_of_the_receivers_end() {
                for closes in [true, false] {
                    let (sender, mut receiver) = $kind::bounded::<i32>(0);
                    let tasks: Vec<_> = (0..130).map(|_| Task::default()).collect();
                    let mut futures: Vec<_> = tasks.iter().map(|_| Box::pin(sender.closed())).collect();
                    for (future, task) in futures.iter_mut().zip(&tasks) {
                        assert!(poll_once(future, task).is_pending());
                    }
                    if closes {
                        receiver.close();
                    } else {
                        drop(receiver);
                    }
                    for (future, task) in futures.iter_mut().zip(&tasks) {
                        assert_eq!((task.woken(), poll_once(future, task)), (1, Poll::Ready(())));
                    }
                }
            }

            #[test]
            #[allow(unused_mut)]
            fn an_attached_end_is_named_when_the_other_closes() {
                guarded(|| {
                    let (mut sender, mut receiver) = $kind::bounded::<i32>(0);
                    let mut set = YPollset::new();
                    set.attach(&mut sender, 3).unwrap();
                    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
                    assert_eq!(set.check().count(), 0);
                    receiver.close();
                    assert!(set.check().eq([3]));
                    assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
                    let (mut sender, mut receiver) = $kind::bounded::<i32>(0);
                    set.attach(&mut receiver, 5).unwrap();
                    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
                    sender.close();
                    assert!(set.check().any(|id| id == 5));
                    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
                });
            }

            /// Claim: A rendezvous has no room to reserve.
            #[test]
            #[allow(unused_mut)]
            fn there_are_no_places_to_reserve() {
                let (mut sender, receiver) = $kind::bounded::<i32>(0);
                assert!(sender.try_reserve().is_err_and(|error| error == TryReserveError::TooMany));
                assert!(sender.reserve().is_err_and(|error| error == ReserveError::TooMany));
                assert!(block_on(sender.reserve_async()).is_err_and(|error| error == ReserveError::TooMany));
                assert!(sender.try_reserve_many(1).is_err_and(|error| error == TryReserveError::TooMany));
                assert!(sender.reserve_many(1).is_err_and(|error| error == ReserveError::TooMany));
                assert!(block_on(sender.reserve_many_async(2)).is_err_and(|error| error == ReserveError::TooMany));
                assert!(sender.reserve_many(0).is_ok());
                assert!(sender.try_reserve_many(0).is_ok());
                drop(receiver);
                assert!(sender.reserve().is_err_and(|error| error == ReserveError::Disconnected));
                assert!(block_on(sender.reserve_async()).is_err_and(|error| error == ReserveError::Disconnected));
                assert!(sender.try_reserve().is_err_and(|error| error == TryReserveError::Disconnected));
                assert!(sender.try_reserve_many(0).is_err_and(|error| error == TryReserveError::Disconnected));
                assert!(sender.reserve_many(0).is_err_and(|error| error == ReserveError::Disconnected));
                assert!(sender.reserve_many(1).is_err_and(|error| error == ReserveError::Disconnected));
            }

            #[test]
            #[allow(unused_mut)]
            fn a_reservation_reports_that_the_receiver_has_closed() {
                let (mut sender, mut receiver) = $kind::bounded::<i32>(0);
                assert!(receiver.close());
                assert!(sender.try_reserve().is_err_and(|error| error == TryReserveError::Disconnected));
                assert!(sender.reserve().is_err_and(|error| error == ReserveError::Disconnected));
                assert!(sender.try_reserve_many(0).is_err_and(|error| error == TryReserveError::Disconnected));
                assert!(sender.reserve_many(2).is_err_and(|error| error == ReserveError::Disconnected));
                assert!(block_on(sender.reserve_async()).is_err_and(|error| error == ReserveError::Disconnected));
            }

            #[test]
            #[allow(unused_mut)]
            fn a_limit_of_any_kind_gives_the_message_back() {
                guarded(|| {
                    let (mut sender, mut receiver) = $kind::bounded(0);
                    assert_eq!(block_on(sender.send_async_until(1, ready(()))), Err(SendTimeoutError::Timeout(1)));
                    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
                    let receiving = thread::spawn(move || {
                        let mut got = Vec::new();
                        while block_on(receiver.recv_batch_async(&mut got, 2)).is_ok() {}
                        got
                    });
                    let never = std::future::pending::<()>();
                    assert_eq!(block_on(sender.send_async_until(2, never)), Ok(()));
                    assert_eq!(block_on(sender.send_batch_async(&mut (3..6))), Ok(3));
                    drop(sender);
                    assert_eq!(receiving.join().unwrap(), [2, 3, 4, 5]);
                });
            }

            #[test]
            #[allow(unused_mut)]
            fn a_timer_and_a_sender_in_one_select() {
                guarded(|| {
                    let (mut sender, mut receiver) = $kind::bounded::<i32>(0);
                    let after = timer::after(Duration::from_millis(1));
                    let mut select = ReadySet::new();
                    let (at_sender, at_timer) = (select.add(&mut sender).unwrap(), select.add_timer(&after).unwrap());
                    loop {
                        match select.wait() {
                            id if id == at_timer => break,
                            id => assert_eq!((id, sender.try_send(1)), (at_sender, Err(TrySendError::Full(1)))),
                        }
                    }
                    assert!(after.try_recv().is_ok());
                    let receiving = thread::spawn(move || receiver.recv());
                    loop {
                        assert_eq!(select.wait(), at_sender);
                        if sender.try_send(2).is_ok() {
                            break;
                        }
                    }
                    assert_eq!(receiving.join().unwrap(), Ok(2));
                });
            }
        })*
    };
}

closing!(pipe: spsc, funnel: mpsc, exchange: mpmc);

#[test]
fn a_weak_mpsc_sender_keeps_no_receiver_waiting() {
    let (sender, mut receiver) = mpsc::bounded::<i32>(0);
    let weak = sender.downgrade();
    let other = weak.upgrade().unwrap();
    assert_eq!((weak.sender_count(), receiver.sender_count()), (2, 2));
    drop((sender, other));
    assert_eq!(receiver.recv(), Err(RecvError));
    assert!(weak.upgrade().is_none());
    let (sender, mut receiver) = mpsc::bounded::<i32>(0);
    receiver.close();
    assert!(sender.downgrade().upgrade().is_none());
}

#[test]
fn a_weak_mpmc_handle_is_upgraded_while_the_channel_is_open() {
    let (sender, receiver) = mpmc::bounded::<i32>(0);
    let (weak, weak_receiver) = (sender.downgrade(), receiver.downgrade());
    assert!(weak.upgrade().is_some() && weak_receiver.upgrade().is_some());
    assert!(sender.close());
    assert!(weak.upgrade().is_none() && weak_receiver.upgrade().is_none());
}

#[test]
fn one_mpsc_sender_closes_and_the_others_go_on() {
    guarded(|| {
        let (mut sender, mut receiver) = mpsc::bounded(0);
        let mut other = sender.clone();
        assert!(sender.close());
        assert!(sender.clone().is_disconnected());
        assert_eq!((sender.send(1), sender.sender_count()), (Err(SendError(1)), 1));
        let sending = thread::spawn(move || other.send(2));
        assert_eq!((receiver.recv(), sending.join().unwrap()), (Ok(2), Ok(())));
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

#[test]
fn each_mpsc_sender_is_counted_off_once() {
    let (sender, receiver) = mpsc::bounded::<i32>(0);
    let mut senders = vec![sender.clone(), sender.clone(), sender];
    for left in (0..3).rev() {
        drop(senders.pop());
        assert_eq!((receiver.sender_count(), receiver.is_disconnected()), (left, left == 0));
    }
}

/// The others keep the channel open, so nothing else notifies the task.
#[test]
fn an_mpsc_sender_that_closes_notifies_its_task_and_has_no_room() {
    let (mut sender, receiver) = mpsc::bounded::<i32>(0);
    let (other, task) = (sender.clone(), Task::default());
    assert!(sender.poll_ready(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(sender.close());
    assert_eq!(task.woken(), 1);
    assert!(sender.poll_ready(&mut Context::from_waker(&task.waker())).is_ready());
    assert!(sender.try_reserve().is_err_and(|error| error == TryReserveError::Disconnected));
    assert!(sender.reserve_many(0).is_err_and(|error| error == ReserveError::Disconnected));
    assert!(!receiver.is_disconnected() && !other.is_disconnected());
}

#[test]
fn threads_share_an_mpsc_sender() {
    guarded(|| {
        let (sender, mut receiver) = mpsc::bounded(0);
        let shared = Arc::new(sender.share());
        drop(sender);
        let sending: Vec<_> = (0..4)
            .map(|number| {
                let shared = shared.clone();
                thread::spawn(move || shared.send(number))
            })
            .collect();
        let mut got: Vec<_> = (0..4).map(|_| receiver.recv().unwrap()).collect();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 3]);
        sending.into_iter().for_each(|sent| sent.join().unwrap().unwrap());
        drop(shared);
        assert_eq!(receiver.recv(), Err(RecvError));
        receiver.close();
    });
}

#[test]
fn a_shared_mpsc_sender_is_disconnected_by_the_receiver_alone() {
    for closes in [true, false] {
        let (sender, mut receiver) = mpsc::bounded(0);
        let shared = sender.share();
        drop(sender);
        assert!(!shared.is_disconnected(), "another sender has gone");
        if closes {
            assert!(receiver.close());
        } else {
            drop(receiver);
        }
        assert!(shared.is_disconnected());
        assert_eq!(shared.send(1), Err(SendError(1)));
    }
}

/// Claim: `force_send` at a rendezvous returns its message if no receiver waits.
#[test]
fn a_forced_message_without_a_waiter_comes_back() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(0);
        assert_eq!(sender.force_send(1), Ok(Some(1)));
        let mut receiving = pin!(receiver.recv_async());
        let mut context = Context::from_waker(Waker::noop());
        assert!(receiving.as_mut().poll(&mut context).is_pending());
        assert_eq!(sender.force_send(2), Ok(None));
        assert_eq!(receiving.as_mut().poll(&mut context), Poll::Ready(Ok(2)));
        sender.close();
        assert_eq!(sender.force_send(3), Err(SendError(3)));
    });
}

#[test]
fn a_refused_owned_permit_gives_the_sender_back() {
    let (sender, receiver) = mpmc::bounded::<i32>(0);
    let Err(TrySendError::Full(sender)) = sender.try_reserve_owned() else { panic!("there is no place") };
    let Err(TrySendError::Full(sender)) = sender.reserve_owned() else { panic!("there is no place") };
    let Err(TrySendError::Full(sender)) = block_on(sender.reserve_owned_async()) else { panic!("there is no place") };
    drop(receiver);
    assert!(matches!(sender.reserve_owned(), Err(TrySendError::Disconnected(_))));
}

#[test]
fn an_attached_sender_that_reserves_in_vain_takes_its_id_down() {
    let (mut sender, mut receiver) = spsc::bounded(2);
    let (exchange, queue) = mpmc::bounded(1);
    let mut exchange = exchange;
    let mut set = YPollset::new();
    set.attach(&mut sender, 1).unwrap();
    set.attach(&mut exchange, 2).unwrap();
    sender.send_batch([1, 2]).unwrap();
    exchange.send(1).unwrap();
    assert!(sender.try_reserve().is_err_and(|error| error.is_full()));
    assert!(exchange.try_reserve().is_err_and(|error| error.is_full()));
    assert_eq!(set.check().count(), 0);
    assert_eq!((receiver.recv(), queue.recv()), (Ok(1), Ok(1)));
    assert!(set.check().eq([1, 2]));
    sender.try_reserve().unwrap().send(3).unwrap();
    exchange.try_reserve().unwrap().send(3).unwrap();
}

#[test]
fn an_attached_sender_that_reserves_in_vain_shows_what_is_hidden_and_no_other_does() {
    let (mut sender, mut receiver) = spsc::bounded(2);
    let mut set = YPollset::new();
    set.attach(&mut sender, 1).unwrap();
    sender.write(1).unwrap();
    assert!(sender.try_reserve().is_ok());
    assert!(sender.try_reserve_many(3).is_err_and(|error| error == TryReserveError::TooMany));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(set.check().eq([1]));
    // It takes the room that the set is to report.
    assert!(sender.try_reserve_many(2).is_err_and(|error| error.is_full()));
    assert_eq!(set.check().count(), 0);
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(set.check().eq([1]));
    assert!(sender.try_reserve_many(2).is_ok());
}

#[test]
fn a_closed_sender_leaves_its_set() {
    let (sender, _receiver) = mpsc::bounded::<i32>(1);
    let mut set = YPollset::new();
    for _ in 0..3 {
        let mut other = sender.clone();
        set.attach(&mut other, 1).unwrap();
        assert!(other.close());
        // Its place is another's, and so is its id.
        let mut next = sender.clone();
        set.attach(&mut next, 1).unwrap();
        set.attach(&mut other, 2).unwrap();
        assert_eq!(other.try_send(1), Err(TrySendError::Disconnected(1)));
        drop((other, next));
        assert_eq!(set.check().count(), 0);
    }
}

#[test]
fn a_batch_takes_from_those_that_wait_and_no_more_than_was_asked_for() {
    for way in 0..3 {
        let (sender, receiver) = mpmc::bounded(0);
        let (task, mut batch) = (Task::default(), Vec::new());
        let mut sending: Vec<_> = (0..4).map(|number| Box::pin(sender.send_async(number))).collect();
        assert!(sending.iter_mut().all(|future| poll_once(future, &task).is_pending()));
        let mut take = |most| match way {
            0 => receiver.recv_batch(&mut batch, most).unwrap(),
            1 => block_on(receiver.recv_batch_async(&mut batch, most)).unwrap(),
            _ => receiver.try_recv_batch(&mut batch, most).unwrap(),
        };
        assert_eq!([take(0), take(3), take(9)], [0, 3, 1]);
        assert!(batch.into_iter().eq(0..4));
        assert!(sending.iter_mut().all(|future| poll_once(future, &task).is_ready()));
    }
}

/// In whatever order the futures are dropped, also where some of the messages are received in between.
///
/// Claim: Messages given back at a rendezvous are received in the order in which they were handed over.
#[test]
fn messages_of_a_crowd_that_goes_stay_in_order() {
    const CROWD: usize = 1000;
    let (sender, receiver) = mpmc::bounded(0);
    let mut crowd: Vec<_> = (0..CROWD).map(|_| Some(Box::pin(receiver.recv_async()))).collect();
    let mut context = Context::from_waker(Waker::noop());
    for future in &mut crowd {
        assert!(future.as_mut().unwrap().as_mut().poll(&mut context).is_pending());
    }
    (0..CROWD).for_each(|number| sender.try_send(number).unwrap());
    // Every number once, as 617 and 1000 have no divisor in common.
    let order: Vec<_> = (0..CROWD).map(|step| step * 617 % CROWD).collect();
    let (one, other) = order.split_at(CROWD / 2);
    let mut here = Vec::new();
    let mut received = 0;
    for (part, taken) in [(one, 100), (other, CROWD - 100)] {
        for &number in part {
            crowd[number] = None;
            here.push(number);
        }
        here.sort_unstable();
        for expected in here.drain(..taken) {
            assert_eq!(receiver.try_recv(), Ok(expected));
            received += 1;
        }
    }
    assert_eq!((received, receiver.try_recv()), (CROWD, Err(TryRecvError::Empty)));
}
