//! Attached to a set: the id is up while there is a value that the receiver has not seen.

use std::thread;
use std::time::Duration;

use ysuite::signal::{AttachError, ReadySet, Wait, YPollset};
use ysuite::spsc;
use ysuite::watch;
use ysuite::{RecvError, RecvTimeoutError};

use crate::support::executor::block_on;
use crate::support::{Random, calls, guarded};

#[test]
fn the_id_is_up_while_there_is_something_to_see() {
    let (sender, mut receiver) = watch::channel(0);
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).unwrap();
    assert!(set.check().eq([3]), "up at first");
    assert_eq!(receiver.has_changed(), Ok(false));
    assert!(set.check().is_empty());
    for (value, look) in (1..).zip([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]) {
        sender.send(value).unwrap();
        sender.send(value).unwrap();
        // Level-triggered: reads that do not count as seen leave it up.
        assert!(set.check().eq([3]) && *receiver.borrow() == value && receiver.has_changed() == Ok(true));
        assert!(set.wait().eq([3]));
        match look {
            0 => receiver.changed().unwrap(),
            1 => receiver.mark_unchanged(),
            2 => assert_eq!(*receiver.wait_for(|there| *there == value).unwrap(), value),
            3 => assert_eq!(*block_on(receiver.wait_for_async(|there| *there == value)).unwrap(), value),
            _ => assert_eq!(*receiver.borrow_and_update(), value),
        }
        assert!(set.check().is_empty(), "way {look}");
        assert_eq!(receiver.changed_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        assert!(set.wait_timeout(Duration::from_nanos(1)).is_empty());
    }
    receiver.mark_changed();
    assert!(set.check().eq([3]));
    assert_eq!((receiver.changed(), set.check().is_empty()), (Ok(()), true));
    drop(sender);
    assert!(set.check().eq([3]) && receiver.has_changed() == Err(RecvError) && receiver.changed() == Err(RecvError));
    assert!(set.check().eq([3]), "the end stays");
    assert_eq!((set.detach(&mut receiver), set.check().is_empty(), receiver.detach()), (Some(3), true, false));
}

#[test]
fn attached_once_and_moved() {
    let (sender, mut receiver) = watch::channel(0);
    let (mut first, mut second) = (YPollset::new(), YPollset::new());
    first.attach(&mut receiver, 0).unwrap();
    assert_eq!(second.attach(&mut receiver, 0), Err(AttachError::AlreadyAttached));
    assert_eq!(receiver.has_changed(), Ok(false));
    // A clone is in no set, and takes nothing from the one that is.
    let mut clone = receiver.clone();
    assert!(!clone.detach());
    sender.send(1).unwrap();
    clone.mark_unchanged();
    assert!(first.check().eq([0]) && receiver.detach() && first.check().is_empty());
    second.attach(&mut receiver, 5).unwrap();
    assert!(second.check().eq([5]));
    receiver.mark_unchanged();
    sender.send(2).unwrap();
    assert!(second.check().eq([5]) && first.check().is_empty());
    drop(receiver);
    assert!(second.check().is_empty());
    second.attach(&mut clone, 5).unwrap();
}

#[test]
fn other_ways_of_waiting_leave_the_id_right() {
    guarded(|| {
        let (sender, mut receiver) = watch::channel(0);
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        for round in 1..200 {
            let sender = sender.clone();
            let thread = thread::spawn(move || sender.send(round).unwrap());
            receiver.changed().unwrap();
            assert_eq!(*receiver.borrow(), round);
            thread.join().unwrap();
            // A sender that checks for waiters when the value has been seen already raises the id spuriously, once.
            assert_eq!((receiver.has_changed(), set.check().len()), (Ok(false), 0));
        }
    });
}

#[test]
fn a_receiver_that_rests_costs_no_calls() {
    let (sender, mut receiver) = watch::channel(0);
    let mut set = YPollset::new();
    set.attach(&mut receiver, 1).unwrap();
    assert_eq!(receiver.has_changed(), Ok(false));
    let before = calls();
    for value in 0..100 {
        assert_eq!(receiver.has_changed(), Ok(false));
        sender.send(value).unwrap();
        assert_eq!((set.check().len(), *receiver.borrow_and_update()), (1, value));
    }
    // Fences are promised while the receiver waits, and no thread sleeps.
    assert_eq!(calls(), before);
}

#[test]
fn a_stream_of_changes_beside_a_pipe() {
    guarded(|| {
        const LAST: usize = 3_000;
        let (sender, mut settings) = watch::channel(0);
        let (mut pipe, mut numbers) = spsc::unbounded();
        let threads = [
            thread::spawn(move || {
                let mut random = Random::new(3);
                for value in 1..=LAST {
                    sender.send(value).unwrap();
                    random.pause();
                }
            }),
            thread::spawn(move || {
                let mut random = Random::new(4);
                for number in 0..LAST {
                    pipe.send(number).unwrap();
                    random.pause();
                }
            }),
        ];
        let mut select = ReadySet::new();
        let (changed, number) = (select.add(&mut settings).unwrap(), select.add(&mut numbers).unwrap());
        let (mut seen, mut next, mut over) = (0, 0, 0);
        while over < 2 {
            match select.wait() {
                id if id == changed => {
                    let value = *settings.borrow_and_update();
                    assert!(value >= seen);
                    seen = value;
                    if settings.has_changed().is_err() {
                        assert_eq!(select.remove(&mut settings), Some(changed));
                        over += 1;
                    }
                }
                id => {
                    assert_eq!(id, number);
                    for number in numbers.try_iter() {
                        assert_eq!(number, next);
                        next += 1;
                    }
                    if numbers.is_disconnected() && numbers.is_empty() {
                        assert_eq!(select.remove(&mut numbers), Some(number));
                        over += 1;
                    }
                }
            }
        }
        assert_eq!((seen, next), (LAST, LAST));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_value_raises_the_ids_of_hundreds_of_receivers() {
    const RECEIVERS: usize = 130;
    let (sender, receiver) = watch::channel(0);
    let (mut receivers, mut set) = (vec![receiver; RECEIVERS], YPollset::with_capacity(RECEIVERS));
    receivers.iter_mut().enumerate().for_each(|(id, receiver)| set.attach(receiver, id).unwrap());
    for value in 1..=3 {
        assert!(receivers.iter().all(|receiver| receiver.has_changed() == Ok(false)) && set.check().is_empty());
        sender.send(value).unwrap();
        assert!(set.check().eq(0..RECEIVERS));
        // Each takes down its own.
        for (id, receiver) in receivers.iter_mut().enumerate() {
            assert_eq!((receiver.changed(), receiver.has_changed()), (Ok(()), Ok(false)));
            assert!(set.check().eq(id + 1..RECEIVERS));
        }
    }
    assert!(set.check().is_empty());
    drop(sender);
    assert!(set.check().eq(0..RECEIVERS));
}
