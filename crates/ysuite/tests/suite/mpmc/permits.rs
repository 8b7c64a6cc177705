//! Places that are held for messages to come.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use ysuite::mpmc;
use ysuite::signal::{Wait, YPollset};
use ysuite::{ReserveError, SendError, TryRecvError, TryReserveError, TrySendError};

use crate::support::executor::{AtOnce, Clinging, Explosive, Task, block_on, poll_once};
use crate::support::{Random, Tally, guarded, panics};

#[test]
fn a_permit_is_room_and_its_message_comes_when_it_is_sent() {
    let (sender, receiver) = mpmc::bounded(2);
    let permit = sender.try_reserve().unwrap();
    assert_eq!((sender.len(), sender.is_full(), receiver.try_recv()), (0, false, Err(TryRecvError::Empty)));
    sender.send(1).unwrap();
    assert_eq!((sender.len(), sender.is_full()), (1, true));
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
    // After what has been sent meanwhile.
    permit.send(3).unwrap();
    assert_eq!(sender.try_send(4), Err(TrySendError::Full(4)));
    assert!(receiver.try_iter().eq([1, 3]));
    assert!(sender.try_send(5).is_ok() && !sender.is_full());
}

#[test]
fn a_permit_that_is_dropped_gives_its_place_back() {
    for capacity in [1, 2, 3, 64] {
        let (sender, receiver) = mpmc::bounded(capacity);
        for round in 0..10 {
            let permits = sender.reserve_many(capacity).unwrap();
            assert_eq!((permits.len(), sender.is_full(), sender.len()), (capacity, true, 0));
            assert!(sender.try_send(0).is_err());
            drop(permits);
            (0..capacity).for_each(|number| sender.try_send(number).unwrap());
            assert!(sender.try_reserve().is_err());
            assert_eq!(receiver.try_iter().count(), capacity, "round {round}");
        }
    }
}

/// Claim: Reserved room belongs to its permit alone. The counts of reserved, free and used room are exact in every
/// mixture.
/// Also: model exchange_permits::places_that_are_taken_and_given_back_by_several, stress places::permits_on_both_sides.
#[test]
fn places_are_exact_in_every_mixture() {
    for capacity in [1, 2, 3, 5, 8] {
        let (mut random, mut number) = (Random::new(capacity as u64), 0);
        let (sender, receiver) = mpmc::bounded(capacity);
        let (mut permits, mut queue) = (Vec::new(), std::collections::VecDeque::new());
        for _ in 0..if cfg!(miri) { 200 } else { 20_000 } {
            let room = capacity - permits.len() - queue.len();
            number += 1;
            match random.below(8) {
                0 | 1 => {
                    assert_eq!(sender.try_send(number).is_ok(), room > 0);
                    queue.extend((room > 0).then_some(number));
                }
                2 => permits.extend(sender.try_reserve().inspect_err(|_| assert_eq!(room, 0))),
                3 => {
                    let places = random.below(capacity + 2);
                    let some = sender.try_reserve_many(places);
                    assert_eq!(some.is_ok(), places <= room);
                    permits.extend(some.into_iter().flatten());
                }
                4 if !permits.is_empty() => {
                    permits.swap_remove(random.below(permits.len())).send(number).unwrap();
                    queue.push_back(number);
                }
                5 if !permits.is_empty() => drop(permits.swap_remove(random.below(permits.len()))),
                6 if permits.len() < capacity => {
                    let displaced = sender.force_send(number).unwrap();
                    assert_eq!(displaced, if room == 0 { queue.pop_front() } else { None });
                    queue.push_back(number);
                }
                _ => assert_eq!(receiver.try_recv().ok(), queue.pop_front()),
            }
            assert_eq!((sender.len(), receiver.is_empty()), (queue.len(), queue.is_empty()));
            assert_eq!(sender.is_full(), permits.len() + queue.len() == capacity);
        }
    }
}

#[test]
fn more_places_than_there_are_is_an_error_and_none_is_none() {
    let (sender, receiver) = mpmc::bounded::<u8>(3);
    assert_eq!(sender.reserve_many(4).unwrap_err(), ReserveError::TooMany);
    assert_eq!(block_on(sender.reserve_many_async(usize::MAX)).unwrap_err(), ReserveError::TooMany);
    assert_eq!(sender.try_reserve_many(4).unwrap_err(), TryReserveError::TooMany);
    assert_eq!(sender.reserve_many(0).unwrap().count(), 0);
    drop(receiver);
    assert_eq!(sender.reserve_many(4).unwrap_err(), ReserveError::Disconnected);
    assert_eq!(sender.try_reserve_many(4).unwrap_err(), TryReserveError::Disconnected);
    assert_eq!(sender.reserve_many(0).unwrap_err(), ReserveError::Disconnected);
    assert_eq!(sender.reserve_many(3).unwrap_err(), ReserveError::Disconnected);
    assert_eq!(ReserveError::TooMany.to_string(), "reserving more room than the channel has");
    assert!(ReserveError::TooMany.is_too_many() && ReserveError::Disconnected.is_disconnected());
}

#[test]
fn permits_send_one_by_one_and_are_given_out_one_by_one() {
    let (sender, receiver) = mpmc::bounded(4);
    let mut permits = sender.reserve_many(3).unwrap();
    permits.send(1).unwrap();
    assert_eq!((permits.len(), permits.is_empty(), receiver.len()), (2, false, 1));
    let apart = permits.next().unwrap();
    permits.send(2).unwrap();
    assert_eq!((permits.len(), permits.is_empty()), (0, true));
    assert_eq!(permits.send(9), Err(TrySendError::Full(9)));
    apart.send(3).unwrap();
    assert!(receiver.try_iter().eq([1, 2, 3]));
    let mut permits = sender.try_reserve_many(4).unwrap();
    drop(receiver);
    assert_eq!(permits.send(4), Err(TrySendError::Disconnected(4)));
    assert_eq!(permits.len(), 3);
}

#[test]
fn a_permit_outlives_the_receivers_and_gives_the_message_back() {
    let tally = Tally::of(3);
    let (sender, receiver) = mpmc::bounded(3);
    let mut permits = sender.reserve_many(2).unwrap();
    let owned = sender.clone().reserve_owned().unwrap();
    drop(receiver);
    assert_eq!(permits.next().unwrap().send(tally.next()).unwrap_err().into_inner().number, 0);
    assert_eq!(owned.send(tally.next()).unwrap_err().into_inner().number, 1);
    drop(permits);
    assert!(sender.try_reserve().is_err());
    tally.assert_all_ended();
}

/// Claim: A close invalidates permits and ends the waits for a permit.
#[test]
fn a_close_ends_permits_and_those_that_wait_for_one() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(1);
        let permit = sender.reserve().unwrap();
        let threads = [0, 1].map(|many| {
            let sender = sender.clone();
            thread::spawn(move || if many == 0 { sender.reserve().is_err() } else { sender.reserve_many(1).is_err() })
        });
        thread::sleep(Duration::from_millis(10));
        receiver.close();
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap()));
        assert_eq!(permit.send(1), Err(SendError(1)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn an_owned_permit_keeps_its_sender() {
    let (sender, receiver) = mpmc::bounded(2);
    let permit = sender.reserve_owned().unwrap();
    assert_eq!((receiver.sender_count(), receiver.try_recv()), (1, Err(TryRecvError::Empty)));
    let sender = thread::spawn(move || permit.send(1).unwrap()).join().unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    let sender = sender.try_reserve_owned().unwrap().release();
    let first = sender.clone().try_reserve_owned().unwrap();
    let second = block_on(sender.clone().reserve_owned_async()).unwrap();
    let Err(TrySendError::Full(sender)) = sender.try_reserve_owned() else { panic!("there is no room") };
    drop(first);
    sender.try_send(2).unwrap();
    drop(sender);
    assert_eq!(receiver.recv(), Ok(2));
    drop(second);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn a_place_given_back_wakes_the_next_sender_that_waits() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(1);
        let permit = sender.reserve().unwrap();
        let second = sender.clone();
        let thread = thread::spawn(move || second.send(1));
        thread::sleep(Duration::from_millis(10));
        drop(permit);
        assert_eq!(thread.join().unwrap(), Ok(()));
        assert_eq!(receiver.recv(), Ok(1));
    });
    let (sender, _receiver) = mpmc::bounded(2);
    let permits = sender.reserve_many(2).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut sending = [1, 2].map(|number| Box::pin(sender.send_async(number)));
    for (future, task) in sending.iter_mut().zip(&tasks) {
        assert!(poll_once(future, task).is_pending());
    }
    drop(permits);
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
}

/// No sender has waited for so long that publishers no longer check after a fence.
#[test]
fn a_permits_message_wakes_a_receiver_after_many_that_woke_none() {
    let (sender, receiver) = mpmc::bounded(1);
    for number in 0..1_000 {
        sender.try_reserve().unwrap().send(number).unwrap();
        assert_eq!(receiver.try_recv(), Ok(number));
    }
    let task = Task::default();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut receiving, &task).is_pending());
    sender.try_reserve().unwrap().send(7).unwrap();
    assert_eq!((task.woken(), poll_once(&mut receiving, &task)), (1, Poll::Ready(Ok(7))));
}

#[test]
fn a_future_that_is_dropped_holds_nothing_and_passes_on_what_it_was_told() {
    let (sender, receiver) = mpmc::bounded(2);
    sender.send_batch([1, 2]).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut one = Box::pin(sender.reserve_async());
    let mut many = Box::pin(sender.reserve_many_async(2));
    assert!(poll_once(&mut one, &tasks[0]).is_pending());
    assert!(poll_once(&mut many, &tasks[1]).is_pending());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
    drop(one);
    assert_eq!(tasks[1].woken(), 1);
    // It holds one place now, and waits for the other.
    assert!(poll_once(&mut many, &tasks[1]).is_pending());
    assert!(sender.is_full() && sender.len() == 1);
    drop(many);
    assert!(!sender.is_full());
    assert!(sender.try_reserve().is_ok());
}

#[test]
fn two_that_gather_do_not_wait_for_each_other() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(4);
        sender.send_batch(0..4).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|who| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for _ in 0..if cfg!(miri) { 3 } else { 300 } {
                        let permits = if who % 2 == 0 {
                            sender.reserve_many(3).unwrap()
                        } else {
                            block_on(sender.reserve_many_async(4)).unwrap()
                        };
                        permits.for_each(|permit| permit.send(who).unwrap());
                    }
                })
            })
            .collect();
        drop(sender);
        let received = receiver.iter().count();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(received, 4 + 2 * (3 + 4) * if cfg!(miri) { 3 } else { 300 });
    });
}

#[test]
fn permits_beside_everything_else_lose_nothing() {
    guarded(|| {
        const EACH: usize = if cfg!(miri) { 30 } else { 2_000 };
        for capacity in [1, 2, 3, 8] {
            let tally = Tally::of(4 * EACH);
            let (sender, receiver) = mpmc::bounded(capacity);
            let received = Arc::new(AtomicUsize::new(0));
            let receivers = [0, 1].map(|_| {
                let (receiver, received) = (receiver.clone(), received.clone());
                thread::spawn(move || {
                    for message in &receiver {
                        drop(message);
                        received.fetch_add(1, Ordering::Relaxed);
                        assert!(receiver.len() <= capacity);
                    }
                })
            });
            let senders = [0, 1, 2, 3].map(|who| {
                let (sender, tally) = (sender.clone(), tally.clone());
                thread::spawn(move || {
                    let mut random = Random::new(who);
                    let mut sent = 0;
                    while sent < EACH {
                        match random.below(6) {
                            0 => sender.send(tally.next()).unwrap(),
                            1 => sender.reserve().unwrap().send(tally.next()).unwrap(),
                            2 => block_on(sender.reserve_async()).unwrap().send(tally.next()).unwrap(),
                            3 => {
                                drop(sender.reserve().unwrap());
                                continue;
                            }
                            4 => {
                                let Ok(permit) = sender.try_reserve() else { continue };
                                permit.send(tally.next()).unwrap();
                            }
                            _ => {
                                let places = (1 + random.below(capacity)).min(EACH - sent);
                                sender
                                    .reserve_many(places)
                                    .unwrap()
                                    .for_each(|permit| permit.send(tally.next()).unwrap());
                                sent += places - 1;
                            }
                        }
                        sent += 1;
                    }
                })
            });
            senders.into_iter().for_each(|thread| thread.join().unwrap());
            assert!(sender.try_reserve_many(0).is_ok());
            drop(sender);
            receivers.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(received.load(Ordering::Relaxed), 4 * EACH);
            tally.assert_all_ended();
        }
    });
}

#[test]
fn wakers_that_panic_lose_no_place() {
    let (sender, receiver) = mpmc::bounded(1);
    let permit = sender.reserve().unwrap();
    let waker = Explosive::waker();
    let mut sending = Box::pin(sender.send_async(1));
    assert!(std::future::Future::poll(sending.as_mut(), &mut Context::from_waker(&waker)).is_pending());
    assert_eq!(panics(|| drop(permit)), "this waker panics");
    drop(sending);
    assert!(!sender.is_full());

    let mut receiving = Box::pin(receiver.recv_async());
    assert!(std::future::Future::poll(receiving.as_mut(), &mut Context::from_waker(&waker)).is_pending());
    let permit = sender.reserve().unwrap();
    assert_eq!(panics(|| assert!(permit.send(2).is_ok())), "this waker panics");
    drop(receiving);
    assert_eq!((receiver.recv(), sender.is_full()), (Ok(2), false));

    let owned = sender.clone().reserve_owned().unwrap();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(std::future::Future::poll(receiving.as_mut(), &mut Context::from_waker(&waker)).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(owned.send(3)))).is_err());
    drop(receiving);
    assert_eq!((receiver.recv(), receiver.sender_count()), (Ok(3), 1));
}

#[test]
fn permits_say_what_they_are() {
    let (sender, _receiver) = mpmc::bounded::<u8>(3);
    assert_eq!(format!("{:?}", sender.reserve().unwrap()), "Permit { .. }");
    assert_eq!(format!("{:?}", sender.reserve_many(2).unwrap()), "Permits { len: 2, .. }");
    assert_eq!(format!("{:?}", sender.clone().reserve_owned().unwrap()), "OwnedPermit { .. }");
    assert_eq!(format!("{:?}", sender.downgrade()), "WeakSender { .. }");
    let mut permits = sender.reserve_many(3).unwrap();
    assert_eq!((permits.len(), permits.by_ref().take(2).count(), permits.size_hint()), (3, 2, (1, Some(1))));
    assert!(permits.next().is_some() && permits.next().is_none() && permits.next().is_none());
}

#[test]
fn a_permit_is_ready_at_once_where_there_is_room() {
    let (sender, _receiver) = mpmc::bounded::<u8>(2);
    let task = Task::default();
    let mut future = Box::pin(sender.reserve_async());
    assert!(matches!(poll_once(&mut future, &task), Poll::Ready(Ok(_))));
    let mut future = Box::pin(sender.reserve_many_async(2));
    assert!(matches!(poll_once(&mut future, &task), Poll::Ready(Ok(permits)) if permits.len() == 2));
}

#[test]
fn one_that_gives_up_gathering_tells_the_next() {
    let (sender, receiver) = mpmc::bounded(2);
    sender.send_batch([1, 2]).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut first = Box::pin(sender.reserve_many_async(2));
    let mut second = Box::pin(sender.reserve_many_async(2));
    assert!(poll_once(&mut first, &tasks[0]).is_pending());
    assert!(poll_once(&mut second, &tasks[1]).is_pending());
    // It holds no place as yet: only the right to gather is given up.
    drop(first);
    assert_eq!(tasks[1].woken(), 1);
    assert!(poll_once(&mut second, &tasks[1]).is_pending());
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    // There is room for all that is wanted: a gathering sender holds up no other.
    let one = poll_once(&mut Box::pin(sender.reserve_many_async(1)), &tasks[0]);
    assert!(matches!(one, Poll::Ready(Ok(permits)) if permits.len() == 1));
    assert!(matches!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(permits)) if permits.len() == 2));
}

/// Each is notified once of what has changed, though it waits again in the same slot while the others are notified.
///
/// Claim: A change that concerns all waiters notifies them in one pass, even if tasks poll during it and wait again.
/// Also: suite mpmc::force::one_that_polls_as_it_is_woken_is_told_once_of_each_change.
#[test]
fn gathering_waiters_may_poll_on_the_spot() {
    let (sender, _receiver) = mpmc::bounded(2);
    let permit = sender.try_reserve().unwrap();
    let task = Task::default();
    let mut gathers = Box::pin(sender.reserve_many_async(2));
    assert!(poll_once(&mut gathers, &task).is_pending());
    let waiting = [(); 3].map(|()| {
        let sender = sender.clone();
        AtOnce::new(async move { drop(sender.reserve_many_async(2).await) })
    });
    assert_eq!(waiting.each_ref().map(|task| task.polls()), [1; 3]);
    // The place is used: none of them gets any further.
    permit.send(7).unwrap();
    let polls = waiting.each_ref().map(|task| task.polls());
    assert!(polls.iter().all(|polls| (1..=3).contains(polls)), "{polls:?}");
    // One of them gathers now, and the others wait on.
    drop(gathers);
    let polls = waiting.each_ref().map(|task| task.polls());
    assert!(polls.iter().all(|polls| *polls <= 6) && polls.iter().sum::<usize>() > 0, "{polls:?}");
}

/// A future that holds two places as soon as they are there, and gives them back.
type Holding = Pin<Box<dyn Future<Output = ()> + Send>>;

fn holding(sender: &mpmc::Sender<u8>) -> Holding {
    let sender = sender.clone();
    Box::pin(async move { drop(sender.reserve_many_async(2).await.unwrap()) })
}

/// Claim: The right to reserve several permits is passed on, also when user code panics.
#[test]
fn the_right_to_gather_ends_where_a_wakers_drop_panics() {
    /// A task that polls a future when it is woken: there the waker of that future's own task is dropped, and panics.
    struct Polling(Mutex<Option<Holding>>);
    impl Wake for Polling {
        fn wake(self: Arc<Self>) {
            let Some(mut other) = self.0.lock().unwrap().take() else { return };
            let mut context = Context::from_waker(Waker::noop());
            assert_eq!(panics(|| assert!(other.as_mut().poll(&mut context).is_pending())), "this waker clings");
        }
    }
    let (sender, _receiver) = mpmc::bounded(2);
    let held = sender.reserve().unwrap();
    let [mut gathers, mut waits, mut clings] = [0; 3].map(|_| holding(&sender));
    let (task, polling) = (Task::default(), Arc::new(Polling(Mutex::new(None))));
    assert!(poll_once(&mut gathers, &task).is_pending());
    assert!(waits.as_mut().poll(&mut Context::from_waker(&Waker::from(polling.clone()))).is_pending());
    let waker = Clinging::waker();
    assert!(clings.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    *polling.0.lock().unwrap() = Some(clings);
    drop(gathers);
    assert!(polling.0.lock().unwrap().is_none(), "it was woken");
    assert!(poll_once(&mut waits, &task).is_pending());
    drop(held);
    assert!(poll_once(&mut waits, &task).is_ready());
}

/// It is woken for the only free slot, and wants two: the slot goes to another, which is woken instead.
///
/// Claim: An attached sender that was notified of room passes on the part that it does not use.
#[test]
fn an_attached_sender_that_is_refused_several_places_passes_on_the_one_it_was_told_of() {
    let (sender, receiver) = mpmc::bounded(2);
    (0..2).for_each(|message| sender.send(message).unwrap());
    let (mut attached, mut set) = (sender.clone(), YPollset::new());
    set.attach(&mut attached, 3).unwrap();
    assert_eq!(attached.try_reserve_many(2).unwrap_err(), TryReserveError::Full);
    let task = Task::default();
    let mut waiting = Box::pin(sender.send_async(2));
    assert!(poll_once(&mut waiting, &task).is_pending());
    assert_eq!((receiver.recv(), task.woken(), set.check().next()), (Ok(0), 0, Some(3)));
    assert_eq!(attached.try_reserve_many(2).unwrap_err(), TryReserveError::Full);
    assert_eq!(task.woken(), 1);
    assert!(poll_once(&mut waiting, &task).is_ready());
}

/// One sender gathers. Another is attached, and wants to gather after it: until then all room is the first one's.
fn gathers_behind_another(is_told: bool) {
    let (sender, receiver) = mpmc::bounded(2);
    (0..2).for_each(|message| sender.send(message).unwrap());
    let (mut attached, mut set) = (sender.clone(), YPollset::new());
    set.attach(&mut attached, 3).unwrap();
    assert!(attached.try_send(9).is_err() && set.check().next().is_none());
    let (first, second) = (Task::default(), Task::default());
    let mut gathering = Box::pin(sender.reserve_many_async(2));
    assert!(poll_once(&mut gathering, &first).is_pending());
    if is_told {
        assert_eq!((receiver.recv(), first.woken(), set.check().next()), (Ok(0), 0, Some(3)));
    }
    let mut behind = Box::pin(attached.reserve_many_async(2));
    assert!(poll_once(&mut behind, &second).is_pending());
    if !is_told {
        assert_eq!(receiver.recv(), Ok(0));
    }
    assert_eq!(first.woken(), 1);
    assert!(poll_once(&mut gathering, &first).is_pending());
    assert_eq!((receiver.recv(), first.woken()), (Ok(1), 2));
    let Poll::Ready(Ok(permits)) = poll_once(&mut gathering, &first) else { panic!("there is room for two") };
    drop((permits, gathering));
    assert!(second.woken() > 0);
    assert!(poll_once(&mut behind, &second).is_ready());
}

#[test]
fn an_attached_sender_that_gathers_behind_another_takes_no_turn_of_it() {
    gathers_behind_another(false);
}

#[test]
fn an_attached_sender_that_was_told_and_gathers_behind_another_passes_it_on() {
    gathers_behind_another(true);
}

#[test]
fn an_attached_sender_that_was_told_and_gathers_as_a_thread_behind_another_passes_it_on() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(2);
        (0..2).for_each(|message| sender.send(message).unwrap());
        let (mut attached, mut set) = (sender.clone(), YPollset::new());
        set.attach(&mut attached, 3).unwrap();
        assert!(attached.try_send(9).is_err() && set.check().next().is_none());
        let first = Task::default();
        let mut gathering = Box::pin(sender.reserve_many_async(2));
        assert!(poll_once(&mut gathering, &first).is_pending());
        assert_eq!((receiver.recv(), first.woken(), set.check().next()), (Ok(0), 0, Some(3)));
        let behind = thread::spawn(move || attached.reserve_many(2).map(|permits| permits.len()));
        while first.woken() == 0 {
            thread::yield_now();
        }
        assert!(poll_once(&mut gathering, &first).is_pending());
        assert_eq!((receiver.recv(), first.woken()), (Ok(1), 2));
        assert!(matches!(poll_once(&mut gathering, &first), Poll::Ready(Ok(permits)) if permits.len() == 2));
        drop(gathering);
        assert_eq!(behind.join().unwrap(), Ok(2));
    });
}

/// In a ring of more cells than can be counted: while the largest number is held, others still send, and displace the
/// oldest message; a sender that wants one more waits for one less, though there is room.
///
/// Claim: With the largest countable number of permits reserved, other senders can still send.
#[test]
#[cfg_attr(miri, ignore = "16 million cells")]
fn beside_as_many_places_as_can_be_counted_there_is_room_for_messages() {
    const MOST: usize = 16_777_215;
    let (sender, receiver) = mpmc::bounded(MOST + 3);
    assert_eq!(sender.reserve_many(MOST + 1).unwrap_err(), ReserveError::TooMany);
    let mut permits = sender.reserve_many(MOST).unwrap();
    assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
    let (one, several) = (Task::default(), Task::default());
    let mut reserving = Box::pin(sender.reserve_async());
    let mut gathering = Box::pin(sender.reserve_many_async(2));
    assert!(poll_once(&mut reserving, &one).is_pending() && poll_once(&mut gathering, &several).is_pending());
    assert!((0..3).all(|number| sender.try_send(number).is_ok()));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!((sender.force_send(3), receiver.recv()), (Ok(Some(0)), Ok(1)));
    assert_eq!((one.woken(), several.woken(), sender.is_full()), (0, 0, false));
    // Room alone is not what they wait for. A message and a dropped permit notify one of them of what they do wait for.
    permits.next().unwrap().send(4).unwrap();
    assert!(one.woken() != 0 && several.woken() != 0);
    let permit = match poll_once(&mut reserving, &one) {
        Poll::Ready(reserved) => reserved.unwrap(),
        Poll::Pending => panic!("a place can be counted"),
    };
    assert!(poll_once(&mut gathering, &several).is_pending());
    let before = several.woken();
    drop(permit);
    assert_ne!(several.woken(), before);
    assert!(poll_once(&mut gathering, &several).is_pending());
    drop(permits);
    assert!(matches!(poll_once(&mut gathering, &several), Poll::Ready(Ok(permits)) if permits.len() == 2));
    assert!(receiver.try_iter().eq([2, 3, 4]));
}

/// All places are held, and one of them is used: there is no room before that message has been received.
#[test]
fn a_waiter_for_room_is_not_notified_of_a_used_permit() {
    let (sender, receiver) = mpmc::bounded(1);
    let permit = sender.reserve().unwrap();
    let task = Task::default();
    let mut reserving = Box::pin(sender.reserve_async());
    assert!(poll_once(&mut reserving, &task).is_pending());
    permit.send(1).unwrap();
    assert_eq!(task.woken(), 0);
    assert_eq!((receiver.recv(), task.woken()), (Ok(1), 1));
    assert!(matches!(poll_once(&mut reserving, &task), Poll::Ready(Ok(_))));
}

#[test]
fn waiters_for_room_are_woken_in_turn() {
    // Enough waiters for several blocks of the list.
    const SENDERS: usize = 130;
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(0).unwrap();
    let begin = |task: &Task| {
        let mut future = Box::pin(sender.reserve_async());
        assert!(poll_once(&mut future, task).is_pending());
        future
    };
    let tasks: Vec<_> = (0..SENDERS).map(|_| Task::default()).collect();
    let mut futures: Vec<_> = tasks.iter().map(begin).collect();
    let woken = || tasks.iter().map(Task::woken).collect::<Vec<_>>();
    for round in 1..=3 {
        for _ in 0..SENDERS {
            let before = woken();
            assert_eq!(receiver.try_recv(), Ok(0));
            let at = (0..SENDERS).find(|&at| tasks[at].woken() != before[at]).expect("no sender was woken");
            let Poll::Ready(Ok(permit)) = poll_once(&mut futures[at], &tasks[at]) else { panic!("there is a place") };
            permit.send(0).unwrap();
            // Waits again, after the others.
            futures[at] = begin(&tasks[at]);
        }
        assert_eq!(woken(), [round; SENDERS]);
    }
}

#[test]
fn all_gathering_waiters_finally_have_their_room() {
    // One of them gathers, and the others fill several blocks of the list of those that wait to.
    const SENDERS: usize = 130;
    let (sender, receiver) = mpmc::bounded(4);
    sender.send_batch([0; 4]).unwrap();
    let begin = |_| (Task::default(), 0, Some(Box::pin(sender.reserve_many_async(3))));
    let mut waiting: Vec<_> = (0..SENDERS).map(begin).collect();
    for (task, _, future) in &mut waiting {
        assert!(future.as_mut().is_some_and(|future| poll_once(future, task).is_pending()));
    }
    let mut received = 0;
    while receiver.try_recv().is_ok() {
        received += 1;
        // Only the notified ones go on.
        while let Some((task, told, future)) = waiting.iter_mut().find(|(task, told, _)| task.woken() != *told) {
            *told = task.woken();
            let Some(gathering) = future else { continue };
            if let Poll::Ready(permits) = poll_once(gathering, task) {
                permits.unwrap().for_each(|permit| permit.send(0).unwrap());
                *future = None;
            }
        }
    }
    assert_eq!(waiting.iter().filter(|(.., future)| future.is_some()).count(), 0, "some wait despite free room");
    assert_eq!(received, 4 + SENDERS * 3);
}

#[test]
fn thousands_of_places_are_held_at_once() {
    const PLACES: usize = 10_000;
    let (sender, receiver) = mpmc::bounded(PLACES);
    for round in 0..2 {
        let permits = sender.try_reserve_many(PLACES).unwrap();
        assert_eq!((permits.len(), sender.try_reserve().is_err()), (PLACES, true));
        permits.zip(0..).for_each(|(permit, number)| permit.send(number).unwrap());
        assert!(receiver.try_iter().eq(0..PLACES), "in round {round}");
    }
}

/// After many permits without a waiter, senders no longer check for waiters for room.
#[test]
fn behind_many_permits_a_receiver_that_waits_is_told_of_the_next_ones_message() {
    let (sender, receiver) = mpmc::bounded(1);
    for number in 0..200 {
        sender.reserve().unwrap().send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    }
    let task = Task::default();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut receiving, &task).is_pending());
    sender.reserve().unwrap().send(200).unwrap();
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut receiving, &task), Poll::Ready(Ok(200)));
}

/// The one that has the right may be a future that is not polled any more.
#[test]
fn a_gathering_waiter_sees_the_close_though_another_keeps_the_right() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded::<u8>(2);
        let permit = sender.reserve().unwrap();
        let (one, other) = (Task::default(), Task::default());
        let mut gathers = Box::pin(sender.reserve_many_async(2));
        let mut waits = Box::pin(sender.reserve_many_async(2));
        assert!(poll_once(&mut gathers, &one).is_pending() && poll_once(&mut waits, &other).is_pending());
        let blocked = sender.clone();
        let thread = thread::spawn(move || blocked.reserve_many(2).map(drop));
        thread::sleep(Duration::from_millis(10));
        receiver.close();
        assert_eq!(thread.join().unwrap(), Err(ReserveError::Disconnected));
        assert!(other.woken() > 0);
        assert!(matches!(poll_once(&mut waits, &other), Poll::Ready(Err(ReserveError::Disconnected))));
        drop((gathers, permit));
    });
}

#[test]
fn a_sender_with_enough_room_does_not_wait_for_one_that_gathers() {
    guarded(|| {
        let (sender, _receiver) = mpmc::bounded::<u8>(3);
        let permit = sender.reserve().unwrap();
        let task = Task::default();
        let mut gathers = Box::pin(sender.reserve_many_async(3));
        assert!(poll_once(&mut gathers, &task).is_pending());
        drop(permit);
        for places in [1, 0] {
            assert_eq!(sender.reserve_many(places).unwrap().len(), places);
        }
        assert!(matches!(poll_once(&mut gathers, &task), Poll::Ready(Ok(permits)) if permits.len() == 3));
    });
}

/// It wakes the next that waits to gather.
#[test]
fn a_gathering_whose_end_panics_gives_its_places_back() {
    guarded(|| {
        for is_task in [true, false] {
            let (sender, receiver) = mpmc::bounded::<u8>(2);
            sender.send(0).unwrap();
            let (task, second) = (Task::default(), sender.clone());
            let mut gathers = Box::pin(sender.reserve_many_async(2));
            let thread = (!is_task).then(|| thread::spawn(move || drop(second.reserve_many(2))));
            assert!(!is_task || poll_once(&mut gathers, &task).is_pending());
            // Until it holds the one place that there is.
            while !sender.is_full() {
                thread::yield_now();
            }
            let mut waits = Box::pin(sender.reserve_many_async(2));
            assert!(waits.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
            assert_eq!(receiver.recv(), Ok(0));
            match thread {
                Some(thread) => assert!(thread.join().is_err(), "the waker panics there"),
                None => assert_eq!(panics(|| drop(poll_once(&mut gathers, &task))), "this waker panics"),
            }
            drop((gathers, waits));
            assert!(sender.try_reserve_many(2).is_ok(), "places are lost");
        }
    });
}
