//! Cases without a message: room for one, and the readiness of an end.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ysuite::ReserveError;
use ysuite::select::list::{self, first};
use ysuite::{mpmc, timer};

use crate::support::guarded;

const SHORT: Duration = Duration::from_micros(200);

#[test]
fn room_is_reserved_before_there_is_a_message() {
    let (sender, receiver) = mpmc::bounded(1);
    let (_idle, idle_in) = mpmc::bounded::<u8>(1);
    sender.send(1).unwrap();
    let (mut room, mut other) = (list::reserve(&sender), list::recv(&idle_in));
    assert_eq!(first(&mut [&mut room, &mut other]).try_now(), None);
    assert_eq!(first(&mut [&mut room, &mut other]).wait_timeout(SHORT), None);
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(first(&mut [&mut room, &mut other]).wait(), 0);
    let permit = room.result().unwrap().unwrap();
    assert!(sender.try_send(2).is_err(), "the room is taken");
    permit.send(3).unwrap();
    assert_eq!(receiver.recv(), Ok(3));
    // What is not used is returned, also where nobody takes the result.
    assert_eq!(first(&mut [&mut room, &mut other]).wait(), 0);
    drop(room);
    assert_eq!(sender.try_send(4), Ok(()));
    drop(receiver);
    let mut room = list::reserve(&sender);
    assert_eq!(first(&mut [&mut room, &mut other]).wait(), 0);
    assert_eq!(room.result().unwrap().unwrap_err(), ReserveError::Disconnected);
}

#[test]
fn a_rendezvous_never_has_room_to_reserve() {
    let (sender, receiver) = mpmc::bounded::<u8>(0);
    let mut room = list::reserve(&sender);
    assert_eq!(first(&mut [&mut room]).try_now(), Some(0));
    assert_eq!(room.result().unwrap().unwrap_err(), ReserveError::TooMany);
    drop(receiver);
    assert_eq!(first(&mut [&mut room]).try_now(), Some(0));
    assert_eq!(room.result().unwrap().unwrap_err(), ReserveError::Disconnected);
}

/// Several threads send by what they have reserved, in a channel that is always full.
#[test]
fn many_reserve_and_all_messages_arrive() {
    guarded(|| {
        const EACH: u64 = 2_000;
        for capacity in [1, 3] {
            let (sender, receiver) = mpmc::bounded(capacity);
            let (never, never_in) = mpmc::bounded::<u8>(1);
            let sum: u64 = thread::scope(|scope| {
                for _ in 0..3 {
                    let (sender, never_in) = (sender.clone(), never_in.clone());
                    scope.spawn(move || {
                        for number in 0..EACH {
                            let (mut room, mut other) = (list::reserve(&sender), list::recv(&never_in));
                            assert_eq!(first(&mut [&mut other, &mut room]).wait(), 1);
                            room.result().unwrap().unwrap().send(number).unwrap();
                        }
                    });
                }
                drop(sender);
                receiver.iter().sum()
            });
            assert_eq!(sum, 3 * EACH * (EACH - 1) / 2);
            drop(never);
        }
    });
}

#[test]
fn an_end_is_ready_and_nothing_is_taken() {
    let (sender, receiver) = mpmc::bounded(1);
    let (mut readable, mut writable) = (list::readable(&receiver), list::writable(&sender));
    assert_eq!(first(&mut [&mut readable]).wait_timeout(SHORT), None);
    assert_eq!(first(&mut [&mut readable, &mut writable]).wait(), 1);
    assert_eq!(writable.result(), Some(Ok(())));
    sender.send(Arc::new(7)).unwrap();
    for _ in 0..3 {
        assert_eq!(first(&mut [&mut writable, &mut readable]).wait(), 1);
        assert_eq!((readable.result(), receiver.len()), (Some(Ok(())), 1));
    }
    assert_eq!(first(&mut [&mut writable]).wait_timeout(SHORT), None);
    assert!(sender.close());
    assert_eq!(first(&mut [&mut writable]).wait(), 0);
    assert_eq!(receiver.recv().as_deref(), Ok(&7));
    assert_eq!(first(&mut [&mut readable]).wait(), 0);
    assert_eq!(readable.result(), Some(Ok(())));
}

#[test]
fn an_end_of_a_rendezvous_is_ready_while_a_peer_waits() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(0);
        let (mut readable, mut writable) = (list::readable(&receiver), list::writable(&sender));
        assert_eq!(first(&mut [&mut readable, &mut writable]).wait_timeout(SHORT), None);
        thread::scope(|scope| {
            scope.spawn(|| sender.send(7).unwrap());
            assert_eq!(first(&mut [&mut readable]).wait(), 0);
            assert_eq!(receiver.try_recv(), Ok(7));
            scope.spawn(|| assert_eq!(receiver.recv(), Ok(8)));
            assert_eq!(first(&mut [&mut writable]).wait(), 0);
            assert_eq!(sender.try_send(8), Ok(()));
        });
        assert_eq!((readable.result(), writable.result()), (Some(Ok(())), Some(Ok(()))));
        assert_eq!(first(&mut [&mut readable, &mut writable]).wait_timeout(SHORT), None);
        assert!(receiver.close());
        assert_eq!(first(&mut [&mut writable]).wait(), 0);
        assert_eq!(first(&mut [&mut readable]).wait(), 0);
    });
}

/// One thread only waits until there is something, and another takes it: neither keeps the other asleep.
#[test]
fn who_only_looks_keeps_no_notification() {
    guarded(|| {
        const MESSAGES: u32 = 1_000;
        let (sender, receiver) = mpmc::bounded(1);
        let (looking, taking) = (receiver.clone(), receiver);
        thread::scope(|scope| {
            scope.spawn(move || {
                while !looking.is_disconnected() {
                    let mut readable = list::readable(&looking);
                    first(&mut [&mut readable]).wait();
                    thread::yield_now();
                }
            });
            scope.spawn(move || assert!(taking.iter().eq(0..MESSAGES)));
            (0..MESSAGES).for_each(|number| sender.send(number).unwrap());
            drop(sender);
        });
    });
}

#[test]
fn a_tick_is_due_until_it_is_received() {
    guarded(|| {
        let beats = timer::tick(SHORT);
        let (_sender, receiver) = mpmc::bounded::<u8>(1);
        for _ in 0..20 {
            let (mut due, mut readable) = (list::due(&beats), list::readable(&receiver));
            assert_eq!(first(&mut [&mut readable, &mut due]).wait(), 1);
            assert_eq!((due.result(), beats.len()), (Some(Ok(())), 1));
            assert!(beats.try_recv().is_ok());
        }
        let never = timer::never();
        assert_eq!(first(&mut [&mut list::due(&never)]).wait_timeout(SHORT), None);
    });
}
