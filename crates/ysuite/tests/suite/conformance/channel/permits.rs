//! Room that is reserved before the message is made, slots that are written in place, and runs that are read in place.

use std::sync::Mutex;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ysuite::{ReserveError, SendError, TryRecvError, TryReserveError, TrySendError};

use super::{Batching, Hiding, Peeking, Piping, Receiving, Sending};
use crate::support::executor::{Task, block_on, cloning, poll_once};
use crate::support::samples::{Aligned64, Bytes, Sample};
use crate::support::{Tally, guarded, panics};

/// Claim: A permit guarantees room. Several permits are reserved together or not at all, and a message can be built in
/// its slot.
pub(crate) fn a_permit_is_room<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    for message in 0..kind.some(50) {
        // Given back again and again.
        drop(sender.try_reserve().unwrap());
        drop(sender.reserve().unwrap());
        drop(block_on(sender.reserve_async()).unwrap());
        assert_eq!((sender.len(), receiver.len()), (message, message));
        sender.try_reserve().unwrap().send(message).unwrap();
    }
    if kind.capacity() == Some(kind.some(50)) {
        assert!(matches!(sender.try_reserve(), Err(TryReserveError::Full)));
    }
    assert!(receiver.try_iter().eq(0..kind.some(50)));
}

pub(crate) fn permits_are_counted<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    let places = kind.some(20);
    for used in [0, 1, places / 2, places] {
        let used = used.min(places);
        let mut permits = sender.try_reserve_many(places).unwrap();
        for left in (places - used..places).rev() {
            permits.send(left).unwrap();
            assert_eq!((permits.len(), permits.is_empty()), (left, left == 0));
        }
        if used == places {
            assert_eq!(permits.send(99), Err(TrySendError::Full(99)));
            assert!(permits.slots().is_empty());
        }
        drop(permits);
        assert!(receiver.try_iter().eq((places - used..places).rev()));
    }
    assert!(sender.try_reserve_many(0).unwrap().is_empty());
}

/// A loop over the slots ends only if there are some as long as there is room, also after the receiver is dropped.
///
/// Claim: Permits expose slots as long as there is room, also in a lane that has sent nothing.
pub(crate) fn there_are_slots_as_long_as_there_are_places<K: Batching>(kind: K) {
    for closes in [true, false] {
        for places in [1, 2, 20, 300].map(|places| kind.some(places)) {
            let (mut sender, mut receiver) = kind.batching();
            let mut permits = sender.reserve_many(places).unwrap();
            if closes {
                receiver.close();
            } else {
                drop(receiver);
            }
            for left in (0..places).rev() {
                let slots = permits.slots();
                assert!((1..=left + 1).contains(&slots.len()), "{} slots of {}", slots.len(), left + 1);
                slots[0].write(String::from("x"));
                // SAFETY: the first slot has just been written.
                assert_eq!(unsafe { permits.commit(1) }, Err(SendError(vec![String::from("x")])));
                assert_eq!(permits.len(), left);
            }
            assert!(permits.slots().is_empty());
        }
    }
}

pub(crate) fn too_many_is_an_error_and_not_a_wait<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    let Some(capacity) = kind.capacity() else {
        // Far more than a chunk holds.
        let places = 1 << (usize::BITS / 2 + 8);
        assert_eq!(sender.try_reserve_many(places).unwrap().len(), places);
        sender.send(1).unwrap();
        return assert_eq!(receiver.recv(), Ok(1));
    };
    let too_many = |answer: Result<(), ReserveError>| assert_eq!(answer, Err(ReserveError::TooMany));
    too_many(sender.reserve_many(capacity + 1).map(drop));
    too_many(block_on(sender.reserve_many_async(capacity + 1)).map(drop));
    assert_eq!(sender.try_reserve_many(usize::MAX).map(drop), Err(TryReserveError::TooMany));
    assert!(sender.try_reserve_many(capacity).is_ok());
    sender.write(1).unwrap();
    assert_eq!(sender.try_reserve_many(capacity).map(drop), Err(TryReserveError::Full));
    sender.flush();
    assert_eq!(receiver.recv(), Ok(1));
    assert!(sender.reserve_many(capacity).is_ok());
    receiver.close();
    assert_eq!(sender.try_reserve_many(1).map(drop), Err(TryReserveError::Disconnected));
}

fn built<K: Batching, T: Sample>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    for number in 0..300 {
        match number % 3 {
            0 => sender.reserve().unwrap().send(T::make(number)).unwrap(),
            1 => sender.reserve().unwrap().send_with(|| T::make(number)).unwrap(),
            _ => {
                let mut permit = sender.try_reserve().unwrap();
                // What is overwritten is forgotten.
                permit.slot().write(T::make(number));
                // SAFETY: a message has just been written into this permit's slot.
                unsafe { permit.commit() }.unwrap();
            }
        }
        if kind.capacity() == Some(1) || number % 2 == 1 || sender.is_full() {
            (0..receiver.len()).for_each(|_| drop(receiver.recv().unwrap()));
        }
    }
    (0..receiver.len()).for_each(|_| drop(receiver.recv().unwrap()));
    sender.reserve().unwrap().send_with(|| T::make(7)).unwrap();
    receiver.recv().unwrap().check(7);
}

pub(crate) fn a_message_is_built_in_its_slot<K: Batching>(kind: K) {
    built::<K, u64>(kind);
    built::<K, ()>(kind);
    built::<K, Bytes<29>>(kind);
    built::<K, Bytes<1000>>(kind);
    built::<K, Box<usize>>(kind);
    built::<K, Aligned64>(kind);
    // A maker that panics sends nothing, and the room is there again.
    let (mut sender, mut receiver) = kind.batching::<u8>();
    assert!(
        panics(|| sender.reserve().unwrap().send_with(|| panic!("made nothing")).unwrap()).contains("made nothing")
    );
    assert!(receiver.try_recv().is_err());
    sender.reserve().unwrap().send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
}

pub(crate) fn slots_are_runs_of_free_places<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    let places = kind.some(100);
    for round in 0..5 {
        let mut permits = sender.reserve_many(places).unwrap();
        let mut next = 0;
        while !permits.is_empty() {
            let slots = permits.slots();
            let count = slots.len().min(round + 1);
            assert!(count != 0);
            for slot in &mut slots[..count] {
                slot.write(next);
                next += 1;
            }
            // SAFETY: the first `count` slots have just been written.
            unsafe { permits.commit(count) }.unwrap();
            assert_eq!(permits.len(), places - next);
        }
        assert_eq!((next, receiver.len()), (places, places));
        assert!(receiver.try_iter().eq(0..places));
    }
}

pub(crate) fn runs_are_shown_and_consumed<K: Batching>(kind: K) {
    let tally = Tally::of(3 * 100);
    let (mut sender, mut receiver) = kind.batching();
    for _ in 0..3 {
        let messages = kind.some(100);
        assert!(receiver.peek_run().is_empty());
        receiver.consume(0);
        let first = tally.made();
        tally.some(messages).for_each(|message| sender.send(message).unwrap());
        let mut next = first;
        while next < first + messages {
            let run = receiver.peek_run();
            assert!(run.iter().map(|message| message.number).eq(next..next + run.len()));
            let some = run.len().div_ceil(2);
            receiver.consume(some);
            next += some;
            assert_eq!((receiver.len(), tally.ended()), (first + messages - next, next));
        }
    }
    assert!(panics(|| receiver.consume(1)).contains("consuming 1 messages of 0"));
}

pub(crate) fn a_permit_of_a_channel_that_closes<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    for way in 0..5 {
        if way == 4 {
            receiver.close();
            break;
        }
        let (mut sender, mut receiver) = kind.batching();
        let mut permit = sender.reserve().unwrap();
        receiver.close();
        let answer = match way {
            0 => permit.send(String::from("x")),
            1 => permit.send_with(|| String::from("x")),
            2 => {
                drop(receiver);
                permit.send_with(|| String::from("x"))
            }
            _ => {
                permit.slot().write(String::from("x"));
                // SAFETY: a message has just been written into this permit's slot.
                unsafe { permit.commit() }
            }
        };
        assert_eq!(answer, Err(SendError(String::from("x"))));
    }
    assert!(matches!(sender.reserve(), Err(ReserveError::Disconnected)));
    assert!(block_on(sender.reserve_async()).is_err() && sender.send(1).is_err());
}

/// Claim: A thread or a task that waits for room for several messages wakes when the last of that room is free.
pub(crate) fn waiting_for_many_places<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    guarded(move || {
        for round in 0..20 {
            let (mut sender, mut receiver) = kind.batching();
            (0..capacity).for_each(|message| sender.send(message).unwrap());
            let thread = thread::spawn(move || {
                let mut permits = sender.reserve_many(capacity).unwrap();
                (0..capacity).for_each(|message| permits.send(message).unwrap());
            });
            thread::sleep(Duration::from_millis(round / 8));
            assert!((0..capacity).all(|expected| receiver.recv() == Ok(expected)));
            assert!((0..capacity).all(|expected| receiver.recv() == Ok(expected)));
            thread.join().unwrap();
        }
    });
}

pub(crate) fn a_task_waits_for_many_places<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let places = capacity.min(3);
    let (mut sender, mut receiver) = kind.batching();
    (0..capacity).for_each(|message| sender.send(message).unwrap());
    let task = Task::default();
    let mut future = sender.reserve_many_async(places);
    assert!(poll_once(&mut future, &task).is_pending());
    for taken in 1..=places {
        assert_eq!(receiver.recv(), Ok(taken - 1));
        assert_eq!(task.woken(), taken, "each may be the last one needed");
        if taken < places {
            assert!(poll_once(&mut future, &task).is_pending());
        }
    }
    let Poll::Ready(Ok(permits)) = poll_once(&mut future, &task) else { panic!("there is room") };
    assert_eq!(permits.len(), places);
    drop((permits, future));
    assert_eq!(task.held(), 0);
    assert!(receiver.try_iter().eq(places..capacity));
}

pub(crate) fn what_is_hidden_is_sent_along<K: Batching>(kind: K) {
    if kind.capacity().is_some_and(|capacity| capacity < 2) {
        return;
    }
    let (mut sender, mut receiver) = kind.batching();
    for first in [0, 2, 4, 6, 8, 10] {
        sender.write(first).unwrap();
        let permit = sender.reserve().unwrap();
        permit.send_with(|| first + 1).unwrap();
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(first), Ok(first + 1)));
    }
}

pub(crate) fn a_commit_of_nothing_sends_nothing<K: Batching>(kind: K) {
    if kind.capacity() == Some(1) {
        return;
    }
    let (mut sender, mut receiver) = kind.batching();
    sender.write(1).unwrap();
    let mut permits = sender.reserve_many(1).unwrap();
    // SAFETY: none of the slots is sent.
    assert_eq!(unsafe { permits.commit(0) }, Ok(()));
    assert_eq!(permits.len(), 1);
    drop(permits);
    assert_eq!((receiver.try_recv(), sender.unwrite()), (Err(TryRecvError::Empty), Some(1)));
}

pub(crate) fn a_try_to_reserve_shows_nothing_that_is_hidden<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    sender.write(1).unwrap();
    assert_eq!(sender.try_reserve().is_ok(), kind.capacity() != Some(1));
    if let Some(capacity) = kind.capacity() {
        assert_eq!(sender.try_reserve_many(capacity).map(drop), Err(TryReserveError::Full));
    }
    assert_eq!((receiver.try_recv(), sender.unwrite()), (Err(TryRecvError::Empty), Some(1)));
}

/// Otherwise two such handles would wait for each other.
pub(crate) fn a_wait_for_places_shows_what_is_hidden<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    guarded(move || {
        for as_task in [true, false] {
            let (mut sender, mut receiver) = kind.batching();
            (0..capacity).for_each(|message| sender.write(message).unwrap());
            if as_task {
                assert!(poll_once(&mut sender.reserve_async(), &Task::default()).is_pending());
                assert_eq!(receiver.try_recv(), Ok(0));
            } else {
                let thread = thread::spawn(move || {
                    drop(sender.reserve().unwrap());
                });
                assert_eq!(receiver.recv(), Ok(0));
                thread.join().unwrap();
            }
        }
    });
}

pub(crate) fn room_that_comes_as_the_waker_is_cloned_is_found_by_that_poll<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let (mut sender, receiver) = kind.batching();
    (0..capacity).for_each(|message| sender.send(message).unwrap());
    let receiver = Mutex::new(receiver);
    let waker = cloning(move || _ = receiver.lock().unwrap().try_recv());
    let mut future = sender.reserve_async();
    assert!(matches!(future.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(_))));
}
