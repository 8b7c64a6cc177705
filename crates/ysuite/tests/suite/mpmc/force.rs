//! Sending in the oldest message's place.

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::mpmc;
use ysuite::{SendError, TryRecvError, TrySendError};

use crate::support::executor::{AtOnce, Explosive, Task, poll_once};
use crate::support::{Tally, guarded, panics};

/// Claim: `force_send` replaces the oldest message only if there is no room, and returns that message once.
/// Also: model exchange_force::a_force_against_a_receiver, stress places::force_beside_plain_sends.
#[test]
fn where_there_is_no_room_the_oldest_makes_way() {
    for capacity in (1..10).chain([63, 64, 65]) {
        let (sender, receiver) = mpmc::bounded(capacity);
        for number in 0..capacity {
            assert_eq!(sender.force_send(number), Ok(None));
        }
        for number in capacity..5 * capacity {
            assert_eq!(sender.force_send(number), Ok(Some(number - capacity)));
            assert_eq!((sender.len(), sender.is_full()), (capacity, true));
            assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        }
        assert_eq!(receiver.recv(), Ok(4 * capacity));
        assert_eq!(sender.force_send(5 * capacity), Ok(None));
        assert!(receiver.try_iter().eq(4 * capacity + 1..=5 * capacity));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

#[test]
fn a_channel_without_receivers_refuses_and_loses_nothing() {
    let tally = Tally::of(3);
    let (sender, receiver) = mpmc::bounded(1);
    assert!(sender.force_send(tally.next()).is_ok_and(|displaced| displaced.is_none()));
    receiver.close();
    assert_eq!(sender.force_send(tally.next()).unwrap_err().into_inner().number, 1);
    assert_eq!((receiver.len(), receiver.recv().unwrap().number), (1, 0));
    drop(receiver);
    assert_eq!(sender.force_send(tally.next()).unwrap_err().into_inner().number, 2);
    tally.assert_all_ended();
}

#[test]
fn beside_places_that_are_held_the_oldest_makes_way() {
    for capacity in [2, 3, 4, 7] {
        for held in 1..capacity {
            let (sender, receiver) = mpmc::bounded(capacity);
            let mut permits = sender.reserve_many(held).unwrap();
            let room = capacity - held;
            (0..room).for_each(|number| assert_eq!(sender.force_send(number), Ok(None)));
            for number in room..3 * room {
                assert_eq!(sender.force_send(number), Ok(Some(number - room)));
                assert_eq!((sender.len(), sender.is_full()), (room, true));
            }
            // Their places are still there.
            permits.next().unwrap().send(100).unwrap();
            assert_eq!(sender.force_send(101), Ok(Some(2 * room)));
            permits.by_ref().for_each(|permit| permit.send(102).unwrap());
            assert_eq!((sender.len(), sender.try_send(0)), (capacity, Err(TrySendError::Full(0))));
            let expected = (2 * room + 1..3 * room).chain([100, 101]).chain(std::iter::repeat_n(102, held - 1));
            assert!(receiver.try_iter().eq(expected), "capacity {capacity}, held {held}");
        }
    }
}

#[test]
fn where_all_places_are_held_it_waits_for_a_permits_end() {
    guarded(|| {
        for dropped in [true, false] {
            let (sender, receiver) = mpmc::bounded(1);
            let permit = sender.reserve().unwrap();
            let second = sender.clone();
            let thread = thread::spawn(move || second.force_send(2));
            thread::sleep(Duration::from_millis(10));
            assert!(!thread.is_finished());
            if dropped {
                drop(permit);
            } else {
                permit.send(1).unwrap();
            }
            assert_eq!(thread.join().unwrap(), Ok((!dropped).then_some(1)));
            assert_eq!(receiver.recv(), Ok(2));
        }
        let (sender, receiver) = mpmc::bounded(1);
        let permit = sender.reserve().unwrap();
        let second = sender.clone();
        let thread = thread::spawn(move || second.force_send(2));
        receiver.close();
        assert_eq!(thread.join().unwrap(), Err(SendError(2)));
        drop(permit);
    });
}

/// Nothing is lost, nothing comes twice, and what one thread sends is received or displaced in its order.
#[test]
fn many_that_force_beside_many_that_receive() {
    guarded(|| {
        const EACH: usize = if cfg!(miri) { 50 } else { 20_000 };
        for (capacity, permits) in [(1, false), (2, true), (3, false), (8, true)] {
            let (sender, receiver) = mpmc::bounded(capacity);
            let is_over = AtomicBool::new(false);
            let (sender, receiver, is_over) = (&sender, &receiver, &is_over);
            let mut seen = thread::scope(|scope| {
                let senders = [0, 1, 2].map(|who| {
                    scope.spawn(move || {
                        let mut displaced = Vec::new();
                        for number in 0..EACH {
                            if permits && who == 0 {
                                if let Ok(permit) = sender.try_reserve() {
                                    permit.send((who, number)).unwrap();
                                    continue;
                                }
                            }
                            displaced.extend(sender.force_send((who, number)).unwrap());
                        }
                        displaced
                    })
                });
                let receivers = [0, 1].map(|_| {
                    scope.spawn(move || {
                        let mut received = Vec::new();
                        loop {
                            let was_over = is_over.load(Ordering::SeqCst);
                            let before = received.len();
                            received.extend(receiver.try_iter());
                            if was_over && received.len() == before {
                                return received;
                            }
                            thread::yield_now();
                        }
                    })
                });
                let displaced = senders.map(|thread| thread.join().unwrap());
                is_over.store(true, Ordering::SeqCst);
                let received = receivers.map(|thread| thread.join().unwrap());
                for list in displaced.iter().chain(&received) {
                    for who in 0..3 {
                        assert!(list.iter().filter(|message| message.0 == who).is_sorted());
                    }
                }
                [displaced.concat(), received.concat()].concat()
            });
            seen.sort_unstable();
            assert!(seen.into_iter().eq((0..3).flat_map(|who| (0..EACH).map(move |number| (who, number)))));
        }
    });
}

#[test]
fn every_message_ends_once_whenever_the_channel_is_closed() {
    guarded(|| {
        for round in 0..if cfg!(miri) { 5 } else { 500 } {
            let tally = Tally::of(2_000);
            let (sender, receiver) = mpmc::bounded(1 + round % 3);
            let threads = [0, 1].map(|_| {
                let (sender, tally) = (sender.clone(), tally.clone());
                thread::spawn(move || {
                    let mut sent = 0_usize;
                    for message in tally.some(500) {
                        match sender.force_send(message) {
                            Ok(displaced) => sent = sent + 1 - usize::from(displaced.is_some()),
                            Err(SendError(_)) => break,
                        }
                    }
                    sent as isize
                })
            });
            (0..round * 7 % 1_000).for_each(|_| std::hint::spin_loop());
            let mut received = receiver.try_iter().take(round % 50).count();
            sender.close();
            let sent: isize = threads.map(|thread| thread.join().unwrap()).iter().sum();
            received += receiver.iter().count();
            assert_eq!(sent, received as isize);
            tally.assert_all_ended();
        }
    });
}

#[test]
fn a_receiver_that_sleeps_is_woken_and_a_sender_that_waits_is_not() {
    let (sender, receiver) = mpmc::bounded(1);
    let task = Task::default();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut receiving, &task).is_pending());
    assert_eq!(sender.force_send(1), Ok(None));
    assert_eq!(task.woken(), 1);
    let waiting = Task::default();
    let mut sending = Box::pin(sender.send_async(2));
    assert!(poll_once(&mut sending, &waiting).is_pending());
    assert_eq!(sender.force_send(3), Ok(Some(1)));
    assert_eq!(waiting.woken(), 0);
    assert_eq!(poll_once(&mut receiving, &task), Poll::Ready(Ok(3)));
    assert_eq!(waiting.woken(), 1);
}

/// It may have been notified of room while the oldest message blocked that, and have found none.
#[test]
fn a_sender_that_waits_beside_a_permit_is_told_when_the_oldest_message_has_left_its_cell() {
    let (sender, receiver) = mpmc::bounded(2);
    sender.send(0).unwrap();
    let permit = sender.reserve().unwrap();
    let task = Task::default();
    let mut waiting = Box::pin(sender.send_async(1));
    assert!(poll_once(&mut waiting, &task).is_pending());
    assert_eq!((sender.force_send(2), task.woken()), (Ok(Some(0)), 1));
    // No receiver has made room meanwhile.
    assert!(poll_once(&mut waiting, &task).is_pending());
    drop(permit);
    assert_eq!((task.woken(), poll_once(&mut waiting, &task)), (2, Poll::Ready(Ok(()))));
    assert!(receiver.try_iter().eq([2, 1]));
}

#[test]
fn a_waker_that_panics_leaves_the_message_sent_and_the_displaced_dropped() {
    let tally = Tally::of(3);
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(tally.next()).unwrap();
    // A receiver that waits despite a message: it was notified of one that another has taken.
    let mut receiving = Box::pin(receiver.recv_async());
    drop(receiver.recv().unwrap());
    let waker = Explosive::waker();
    assert!(std::future::Future::poll(receiving.as_mut(), &mut Context::from_waker(&waker)).is_pending());
    assert_eq!(panics(|| drop(sender.force_send(tally.next()))), "this waker panics");
    assert_eq!((tally.ended(), receiver.len()), (1, 1));
    assert_eq!(sender.force_send(tally.next()).unwrap().unwrap().number, 1);
    drop(receiving);
    drop(receiver);
    tally.assert_all_ended();
}

#[test]
fn one_that_polls_as_it_is_woken_is_told_once_of_each_change() {
    for forces in [false, true] {
        guarded(move || {
            let gathering = |sender: &mpmc::Sender<u8>| {
                let sender = sender.clone();
                Box::pin(async move { drop(sender.reserve_many_async(2).await) })
            };
            let (sender, receiver) = mpmc::bounded(2);
            let held = sender.reserve_many(2).unwrap();
            let (mut gathers, task) = (gathering(&sender), Task::default());
            assert!(poll_once(&mut gathers, &task).is_pending());
            let polling = AtOnce::new(gathering(&sender));
            thread::scope(|scope| {
                let forced = forces.then(|| {
                    scope.spawn(|| {
                        sender.set_spin(Spin::None);
                        sender.force_send(1)
                    })
                });
                // Should it not sleep by then, it finds room at once.
                thread::sleep(Duration::from_millis(if forces { 20 } else { 0 }));
                drop(held);
                if let Some(forced) = forced {
                    assert_eq!(forced.join().unwrap(), Ok(None));
                    assert_eq!(receiver.recv(), Ok(1));
                }
            });
            // Once to begin with, once for the room, and once more by the one that was notified as well.
            let polls = polling.polls();
            assert!(polls == 2 || forces && polls <= 3, "{polls} polls");
            polling.stop();
        });
    }
}
