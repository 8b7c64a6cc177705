//! Permits: room that no other sender has, whatever comes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread;

use ysuite::broadcast::{self, Receiver, Sender};
use ysuite::{ReserveError, SendError, SendTimeoutError, TryReserveError, TrySendError};
use ysuite::{mpmc, select};

use crate::support::executor::{Explosive, Task, block_on, poll_once};
use crate::support::{guarded, panics};

#[test]
fn a_permit_is_room_and_its_message_comes_when_it_is_sent() {
    let (sender, mut receiver) = broadcast::bounded(2);
    let mut other = receiver.clone();
    let permit = sender.reserve().unwrap();
    sender.send(1).unwrap();
    assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
    assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
    assert_eq!(receiver.try_recv(), Ok(1), "an unused permit delays no message");
    // The other receiver is behind: there is no room but the permit's.
    assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
    permit.send(2).unwrap();
    assert!(sender.try_reserve_many(1).is_err());
    assert_eq!((receiver.recv(), other.recv(), other.recv()), (Ok(2), Ok(1), Ok(2)));
    assert_eq!(sender.send_batch(3..5), Ok(2));
    assert!(other.try_iter().eq(3..5) && receiver.try_iter().eq(3..5));
}

#[test]
fn all_the_room_can_be_reserved_and_comes_back() {
    let (sender, mut receiver) = broadcast::bounded(3);
    for lap in 0..100 {
        let mut permits = sender.try_reserve_many(3).unwrap();
        assert_eq!(sender.try_reserve_many(1).unwrap_err(), TryReserveError::Full);
        assert!(sender.try_send(0).is_err());
        permits.send(lap).unwrap();
        let second = permits.next().unwrap();
        assert_eq!((permits.len(), permits.size_hint(), permits.is_empty()), (1, (1, Some(1)), false));
        drop(permits);
        sender.try_send(lap + 1).unwrap();
        assert!(sender.try_send(0).is_err());
        second.send(lap + 2).unwrap();
        assert!(receiver.try_iter().eq(lap..lap + 3));
    }
    let mut none = sender.try_reserve_many(0).unwrap();
    assert!(none.is_empty() && none.next().is_none());
    assert_eq!(none.send(7), Err(TrySendError::Full(7)));
    for many in [4, usize::MAX] {
        assert_eq!(sender.try_reserve_many(many).unwrap_err(), TryReserveError::TooMany);
    }
}

/// Claim: Room that a broadcast permit returns wakes the next sender that waits.
/// Also: loom broadcast_permits::room_given_back_against_a_sender_going_to_sleep.
#[test]
fn room_that_is_given_back_wakes_the_next_sender() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let tasks = [(); 2].map(|()| Task::default());
    let permit = sender.reserve().unwrap();
    let mut sending = Box::pin(sender.send_async(1));
    let mut reserving = Box::pin(sender.reserve_async());
    assert!(poll_once(&mut sending, &tasks[0]).is_pending());
    assert!(poll_once(&mut reserving, &tasks[1]).is_pending());
    drop(permit);
    assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
    // It gives up, and the next is woken.
    drop(sending);
    assert_eq!(tasks[1].woken(), 1);
    let Poll::Ready(Ok(permit)) = poll_once(&mut reserving, &tasks[1]) else { panic!("there is room") };
    permit.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn a_reservation_that_is_given_up_holds_nothing() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let task = Task::default();
    sender.send(0).unwrap();
    let mut reserving = Box::pin(sender.reserve_async());
    assert!(poll_once(&mut reserving, &task).is_pending());
    assert_eq!((receiver.recv(), task.woken()), (Ok(0), 1));
    drop(reserving);
    sender.try_send(1).unwrap();
}

#[test]
fn a_permit_does_not_keep_a_channel_open() {
    for is_closed in [false, true] {
        let (sender, receiver) = broadcast::bounded(4);
        let (one, mut several) = (sender.reserve().unwrap(), sender.try_reserve_many(2).unwrap());
        let owned = sender.clone().reserve_owned().unwrap();
        if is_closed {
            assert!(sender.close())
        } else {
            drop(receiver)
        }
        assert_eq!(one.send(1), Err(SendError(1)));
        assert_eq!((several.send(2), several.len()), (Err(TrySendError::Disconnected(2)), 2));
        assert_eq!((owned.send(3).unwrap_err(), sender.sender_count()), (SendError(3), 1));
        assert_eq!(sender.reserve().unwrap_err(), ReserveError::Disconnected);
        assert_eq!(block_on(sender.reserve_async()).unwrap_err(), ReserveError::Disconnected);
        for many in [0, 1, 5] {
            assert_eq!(sender.try_reserve_many(many).unwrap_err(), TryReserveError::Disconnected);
        }
        assert!(matches!(sender.clone().try_reserve_owned(), Err(TrySendError::Disconnected(_))));
        assert!(matches!(block_on(sender.clone().reserve_owned_async()), Err(TrySendError::Disconnected(_))));
        drop(several);
        // A missing receiver is not final, and all the room is there.
        let mut late = sender.subscribe();
        assert_eq!(sender.try_reserve_many(4).is_ok(), !is_closed);
        assert_eq!(sender.try_send(4).is_ok(), !is_closed);
        assert_eq!(late.try_recv().is_ok(), !is_closed);
    }
}

#[test]
fn an_owned_permit_returns_its_sender() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let permit = block_on(sender.reserve_owned_async()).unwrap();
    let sender = permit.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    let sender = sender.try_reserve_owned().unwrap().release();
    let permit = sender.reserve_owned().unwrap();
    assert_eq!((receiver.sender_count(), receiver.is_disconnected()), (1, false));
    drop(permit);
    assert!(receiver.is_disconnected());
}

#[test]
fn a_lossy_channel_always_has_room() {
    let (sender, mut receiver) = broadcast::lossy(2);
    let permits: Vec<_> = (0..100).map(|_| sender.reserve().unwrap()).collect();
    for number in 0..10 {
        sender.try_send(number).unwrap();
    }
    permits.into_iter().zip(10..20).for_each(|(permit, number)| permit.send(number).unwrap());
    assert_eq!(receiver.recv(), Err(broadcast::RecvError::Lagged(18)));
    assert!(receiver.try_iter().eq(18..20));
}

/// Claim: A waker that panics loses no room of a broadcast permit.
#[test]
fn wakers_that_panic_lose_no_room() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let waker = Explosive::waker();
    let mut context = Context::from_waker(&waker);
    let permit = sender.reserve().unwrap();
    let mut sending = Box::pin(sender.send_async(1));
    assert!(Future::poll(sending.as_mut(), &mut context).is_pending());
    assert_eq!(panics(|| drop(permit)), "this waker panics");
    drop(sending);
    let permit = sender.try_reserve().unwrap();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(Future::poll(receiving.as_mut(), &mut context).is_pending());
    assert_eq!(panics(|| assert!(permit.send(2).is_ok())), "this waker panics");
    drop(receiving);
    assert_eq!((sender.try_reserve().unwrap_err(), receiver.recv()), (TryReserveError::Full, Ok(2)));

    let owned = sender.clone().reserve_owned().unwrap();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(Future::poll(receiving.as_mut(), &mut context).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(owned.send(3)))).is_err());
    drop(receiving);
    assert_eq!((receiver.recv(), receiver.sender_count()), (Ok(3), 1));
    assert!(sender.try_reserve_many(1).is_ok() && sender.try_reserve_many(2).is_err());
}

#[test]
fn permits_say_what_they_are() {
    let (sender, _receiver) = broadcast::bounded::<u8>(3);
    assert_eq!(format!("{:?}", sender.reserve().unwrap()), "Permit { .. }");
    assert_eq!(format!("{:?}", sender.try_reserve_many(2).unwrap()), "Permits { len: 2, .. }");
    assert_eq!(format!("{:?}", sender.clone().reserve_owned().unwrap()), "OwnedPermit { .. }");
}

/// While all room is reserved nobody can send, in any way; a select then finds the room that comes back.
#[test]
fn room_is_taken_for_every_way_of_sending() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(2);
        let permits = sender.try_reserve_many(2).unwrap();
        let limit = std::time::Duration::from_millis(1);
        assert_eq!(sender.send_timeout(1, limit), Err(SendTimeoutError::Timeout(1)));
        assert_eq!(block_on(sender.send_async_until(1, async {})), Err(SendTimeoutError::Timeout(1)));
        let sent = |sender: &Sender<i32>| select().send(sender, 2, |sent| sent.is_ok()).wait_timeout(limit);
        assert_eq!(sent(&sender), None);
        drop(permits);
        assert_eq!(sent(&sender), Some(true));
        assert_eq!(receiver.recv(), Ok(2));
    });
}

fn add_up(mut receiver: Receiver<u64>) -> thread::JoinHandle<(u64, u64)> {
    thread::spawn(move || receiver.iter().fold((0, 0), |(count, sum), number| (count + 1, sum + number)))
}

/// Threads that send in every way, with permits that are used, dropped and passed on, to receivers of different speed.
#[test]
fn permits_beside_everything_else_lose_nothing() {
    const EACH: u64 = if cfg!(miri) { 30 } else { 3_000 };
    guarded(|| {
        for capacity in [1, 2, 3, 8] {
            let (sender, receiver) = broadcast::bounded(capacity);
            let receivers = [add_up(receiver.clone()), add_up(receiver)];
            let (owned, handed) = mpmc::bounded::<broadcast::OwnedPermit<u64>>(1);
            let sum = Arc::new(AtomicU64::new(0));
            let send = |way: fn(&Sender<u64>, u64)| {
                let (sender, sum) = (sender.clone(), sum.clone());
                thread::spawn(move || {
                    (0..EACH).for_each(|number| {
                        way(&sender, number);
                        sum.fetch_add(number, Ordering::Relaxed);
                    });
                })
            };
            let senders = [
                send(|sender, number| sender.send(number).unwrap()),
                send(|sender, number| {
                    drop(sender.try_reserve());
                    sender.reserve().unwrap().send(number).unwrap();
                }),
                send(|sender, number| block_on(sender.reserve_async()).unwrap().send(number).unwrap()),
                send(|sender, number| assert_eq!(sender.send_batch([number]), Ok(1))),
            ];
            let (giving, adding) = (sender.clone(), sum.clone());
            let passing = thread::spawn(move || {
                (0..EACH).for_each(|_| assert!(owned.send(giving.clone().reserve_owned().unwrap()).is_ok()));
            });
            let using = thread::spawn(move || {
                for (permit, number) in handed.into_iter().zip(0..) {
                    drop(permit.send(number).unwrap());
                    adding.fetch_add(number, Ordering::Relaxed);
                }
            });
            drop(sender);
            senders.into_iter().chain([passing, using]).for_each(|thread| thread.join().unwrap());
            for receiver in receivers {
                assert_eq!(receiver.join().unwrap(), (5 * EACH, sum.load(Ordering::Relaxed)));
            }
        }
    });
}

#[test]
fn more_room_than_there_can_be_is_an_error_and_none_is_none() {
    let (sender, receiver) = broadcast::bounded::<u8>(3);
    assert_eq!(sender.reserve_many(4).unwrap_err(), ReserveError::TooMany);
    assert_eq!(block_on(sender.reserve_many_async(usize::MAX)).unwrap_err(), ReserveError::TooMany);
    assert_eq!((sender.reserve_many(0).unwrap().count(), sender.reserve_many(3).unwrap().len()), (0, 3));
    drop(receiver);
    for places in [0, 3, 4] {
        assert_eq!(sender.reserve_many(places).unwrap_err(), ReserveError::Disconnected);
        assert_eq!(block_on(sender.reserve_many_async(places)).unwrap_err(), ReserveError::Disconnected);
    }
    let (sender, mut receiver) = broadcast::lossy(2);
    sender.reserve_many(2).unwrap().zip(0..).for_each(|(permit, number)| permit.send(number).unwrap());
    assert!(receiver.try_iter().eq(0..2));
}

/// Claim: A sender of a broadcast channel that gathers room has it for certain, beside senders of single messages.
#[test]
fn who_gathers_room_gets_it_beside_other_senders() {
    let (sender, mut receiver) = broadcast::bounded(2);
    sender.send_batch([1, 2]).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut one = sender.reserve_async();
    let mut many = sender.reserve_many_async(2);
    assert!(poll_once(&mut one, &tasks[0]).is_pending() && poll_once(&mut many, &tasks[1]).is_pending());
    assert_eq!((receiver.recv(), tasks[0].woken(), tasks[1].woken()), (Ok(1), 1, 0));
    drop(one);
    assert_eq!(tasks[1].woken(), 1);
    // It holds room for one now, and waits for the rest; it may be moved.
    let mut many = Box::new(many);
    assert!(poll_once(&mut many, &tasks[1]).is_pending() && sender.try_send(0).is_err());
    assert_eq!((receiver.recv(), tasks[1].woken()), (Ok(2), 2));
    assert!(matches!(poll_once(&mut many, &tasks[1]), Poll::Ready(Ok(permits)) if permits.len() == 2));
    // What is held goes back with the future.
    sender.send(3).unwrap();
    let mut again = sender.reserve_many_async(2);
    assert!(poll_once(&mut again, &tasks[1]).is_pending() && sender.try_send(0).is_err());
    drop(again);
    sender.try_send(4).unwrap();
    assert!(receiver.try_iter().eq(3..5));
    assert_eq!(tasks[1].held(), 0);
}

#[test]
fn one_that_gives_up_gathering_notifies_the_next() {
    let (sender, mut receiver) = broadcast::bounded(2);
    sender.send_batch([1, 2]).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut first = sender.reserve_many_async(2);
    let mut second = sender.reserve_many_async(2);
    assert!(poll_once(&mut first, &tasks[0]).is_pending() && poll_once(&mut second, &tasks[1]).is_pending());
    // It holds no room as yet: only the right to gather is given up.
    drop(first);
    assert_eq!(tasks[1].woken(), 1);
    assert!(poll_once(&mut second, &tasks[1]).is_pending());
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    // There is room for all that is wanted: a sender that gathers holds up no other.
    assert!(matches!(poll_once(&mut sender.reserve_many_async(1), &tasks[0]), Poll::Ready(Ok(_))));
    assert!(matches!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(permits)) if permits.len() == 2));
}

/// The one that has the right may be a future that is not polled any more.
#[test]
fn the_disconnection_ends_every_wait_for_the_right_to_gather() {
    type End = fn(&Sender<u8>, Receiver<u8>);
    guarded(|| {
        let ways: [End; 3] = [
            |_, receiver| drop(receiver),
            |_, mut receiver| assert!(receiver.close()),
            |sender, receiver| assert!(sender.evict(receiver.id())),
        ];
        for end in ways {
            let (sender, receiver) = broadcast::bounded(2);
            let permit = sender.reserve().unwrap();
            let (one, other) = (Task::default(), Task::default());
            let (mut gathers, mut waits) = (sender.reserve_many_async(2), sender.reserve_many_async(2));
            assert!(poll_once(&mut gathers, &one).is_pending() && poll_once(&mut waits, &other).is_pending());
            let blocked = sender.clone();
            let thread = thread::spawn(move || blocked.reserve_many(2).map(drop));
            thread::sleep(std::time::Duration::from_millis(10));
            end(&sender, receiver);
            assert_eq!(thread.join().unwrap(), Err(ReserveError::Disconnected));
            assert!(other.woken() > 0);
            assert!(matches!(poll_once(&mut waits, &other), Poll::Ready(Err(ReserveError::Disconnected))));
            drop((gathers, permit));
        }
    });
}

#[test]
fn two_that_gather_do_not_wait_for_each_other() {
    const EACH: usize = if cfg!(miri) { 3 } else { 300 };
    guarded(|| {
        let (sender, receiver) = broadcast::bounded(4);
        let receivers = [add_up(receiver.clone()), add_up(receiver)];
        let threads = [0, 1, 2, 3].map(|who| {
            let sender = sender.clone();
            thread::spawn(move || {
                for _ in 0..EACH {
                    let permits = match who {
                        0 | 1 => sender.reserve_many(3).unwrap(),
                        2 => block_on(sender.reserve_many_async(4)).unwrap(),
                        _ => {
                            sender.send(1).unwrap();
                            continue;
                        }
                    };
                    permits.for_each(|permit| permit.send(1).unwrap());
                }
            })
        });
        drop(sender);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let sent = (EACH * (3 + 3 + 4 + 1)) as u64;
        receivers.into_iter().for_each(|receiver| assert_eq!(receiver.join().unwrap(), (sent, sent)));
    });
}

/// Claim: A panic of a waker takes neither room nor the right to gather it.
#[test]
fn the_right_to_gather_ends_where_a_waker_panics() {
    let (sender, mut receiver) = broadcast::bounded(2);
    sender.send_batch([1, 2]).unwrap();
    let waker = Explosive::waker();
    let mut first = Box::pin(sender.reserve_many_async(2));
    let mut second = Box::pin(sender.reserve_many_async(2));
    assert!(poll_once(&mut first, &Task::default()).is_pending());
    assert!(Future::poll(second.as_mut(), &mut Context::from_waker(&waker)).is_pending());
    assert_eq!(panics(|| drop(first)), "this waker panics");
    drop(second);
    assert!(receiver.try_iter().eq(1..3));
    assert_eq!(sender.reserve_many(2).unwrap().len(), 2);
}
