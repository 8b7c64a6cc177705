//! The close of an mpsc channel and of single senders; weak senders, counts, and the channel of a handle.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Context;
use std::thread;

use ysuite::mpsc;
use ysuite::signal::{AttachError, Signal, Wait, YPollset};
use ysuite::{RecvError, SendError, TryRecvError};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Random, Tally, guarded};

#[test]
fn a_close_cuts_every_lane_however_it_stands() {
    for bound in [None, Some(3)] {
        let tally = Tally::of(10_000);
        let (sender, mut receiver) = bound.map_or_else(mpsc::unbounded, mpsc::bounded);
        let mut senders: Vec<_> = (0..200).map(|_| sender.clone()).collect();
        // Active ones, armed ones, one whose turn it is, ones that have never sent, and one whose sender is gone.
        for round in 0..2 {
            senders.iter_mut().skip(round).step_by(3).for_each(|sender| assert!(sender.send(tally.next()).is_ok()));
            (0..30).for_each(|_| drop(receiver.recv().unwrap()));
        }
        let mut gone = sender.clone();
        assert!(gone.send(tally.next()).is_ok());
        drop(gone);
        let left = tally.made() - tally.ended();
        assert_eq!(receiver.len(), left);
        assert!(receiver.close());
        assert_eq!((receiver.len(), receiver.is_disconnected()), (left, true));
        for sender in &mut senders {
            let SendError(back) = sender.send(tally.next()).unwrap_err();
            drop(back);
            assert!(sender.is_disconnected());
        }
        // Senders made now are of a closed channel.
        let mut late = sender.clone();
        assert!(late.is_disconnected() && late.send(tally.next()).is_err());
        assert_eq!(receiver.iter().count(), left);
        assert_eq!((receiver.try_recv().is_err(), receiver.len()), (true, 0));
        drop((senders, late, sender));
        tally.assert_all_ended();
    }
}

#[test]
fn what_a_closed_mpsc_channel_still_has_is_dropped_with_its_receiver() {
    let tally = Tally::of(1_000);
    let (sender, mut receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..20).map(|_| sender.clone()).collect();
    senders.iter_mut().for_each(|sender| tally.some(20).for_each(|message| sender.send(message).unwrap()));
    (0..70).for_each(|_| drop(receiver.recv().unwrap()));
    receiver.close();
    (0..7).for_each(|_| drop(receiver.recv().unwrap()));
    let refused: Vec<_> = senders.iter_mut().map(|sender| sender.send(tally.next()).unwrap_err()).collect();
    drop(receiver);
    assert_eq!(tally.ended(), 400);
    drop((refused, senders));
    tally.assert_all_ended();
}

#[test]
fn what_an_mpsc_channel_has_shown_is_received_next_though_closed_meanwhile() {
    for lanes in 1..5 {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..lanes).map(|_| sender.clone()).collect();
        for (id, sender) in senders.iter_mut().enumerate() {
            sender.send_batch((0..3).map(|number| (id, number))).unwrap();
        }
        let shown = receiver.peek().copied();
        assert!(shown.is_some() && receiver.close());
        assert_eq!(receiver.peek().copied(), shown);
        assert_eq!(receiver.recv().ok(), shown);
        assert_eq!(receiver.iter().count(), 3 * lanes - 1);
    }
}

#[test]
fn senders_that_come_during_a_close_are_of_a_closed_channel() {
    guarded(|| {
        for round in 0..200 {
            let (sender, mut receiver) = mpsc::unbounded();
            let stop = Arc::new(AtomicBool::new(false));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (sender, stop) = (sender.clone(), stop.clone());
                    thread::spawn(move || {
                        let mut sent = 0;
                        while !stop.load(Ordering::Relaxed) {
                            sent += usize::from(sender.clone().send(()).is_ok());
                        }
                        sent
                    })
                })
                .collect();
            let mut received = 0;
            for _ in 0..round {
                received += usize::from(receiver.try_recv().is_ok());
            }
            receiver.close();
            received += receiver.iter().count();
            stop.store(true, Ordering::Relaxed);
            assert_eq!(received, threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>());
        }
    });
}

/// Claim: Closing or dropping the `mpsc` receiver wakes every sender that waits for room.
/// Also: model closed::an_mpsc_close_against_a_sender_without_room,
/// suite mpsc::endings::a_receiver_that_goes_wakes_every_sender_that_waits.
#[test]
fn a_close_wakes_every_sender_that_waits() {
    guarded(|| {
        for _ in 0..20 {
            let (sender, mut receiver) = mpsc::bounded(1);
            let waiting = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..8)
                .map(|number| {
                    let (mut sender, waiting) = (sender.clone(), waiting.clone());
                    thread::spawn(move || {
                        sender.send(number).unwrap();
                        waiting.fetch_add(1, Ordering::Relaxed);
                        if number % 2 == 0 {
                            assert_eq!(sender.send(100), Err(SendError(100)));
                        } else {
                            assert_eq!(block_on(sender.send_async(100)), Err(SendError(100)));
                        }
                        sender.wait_closed();
                    })
                })
                .collect();
            while waiting.load(Ordering::Relaxed) < 8 {
                thread::yield_now();
            }
            assert!(receiver.close());
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(receiver.iter().sum::<usize>(), 28);
        }
    });
}

/// Claim: A closed `mpsc` sender is subtracted from the sender count once.
/// Also: suite rendezvous::ended::one_mpsc_sender_closes_and_the_others_go_on.
#[test]
fn a_sender_that_closes_is_counted_off_once_and_stays_closed() {
    let (mut one, mut receiver) = mpsc::unbounded();
    let mut two = one.clone();
    one.send(1).unwrap();
    assert!(one.close() && !one.close());
    assert_eq!((one.sender_count(), receiver.sender_count()), (1, 1));
    // A clone of a closed sender is closed, and not counted.
    let mut clone = one.clone();
    assert!(clone.is_disconnected() && clone.send(2).is_err() && !clone.close());
    drop((one, clone));
    assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    // Its lane is another's now.
    let mut three = two.clone();
    three.send(3).unwrap();
    assert_eq!((receiver.recv(), two.sender_count()), (Ok(3), 2));
    two.close();
    drop(three);
    assert_eq!((receiver.recv(), receiver.sender_count()), (Err(RecvError), 0));
    let mut last = two.clone();
    assert!(last.send(4).is_err());
    assert_eq!(receiver.recv(), Err(RecvError), "disconnected is for ever");
}

#[test]
fn a_closed_senders_place_may_be_anothers_while_it_lives() {
    let (sender, mut receiver) = mpsc::bounded(1);
    for round in 0..100 {
        let mut closed = sender.clone();
        closed.send(round).unwrap();
        closed.close();
        assert_eq!(receiver.recv(), Ok(round));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let (mut next, task) = (sender.clone(), Task::default());
        next.send(round).unwrap();
        let mut future = Box::pin(next.send_async(round + 1));
        assert!(poll_once(&mut future, &task).is_pending());
        // Nothing that the closed one does concerns the one that has its lane.
        assert!(closed.send(0).is_err() && closed.is_disconnected());
        drop(closed);
        assert_eq!((task.woken(), task.held()), (0, 1));
        assert_eq!((receiver.recv(), task.woken()), (Ok(round), 1));
        assert!(poll_once(&mut future, &task).is_ready());
        drop(future);
        assert_eq!(receiver.recv(), Ok(round + 1));
    }
}

/// Claim: A weak sender does not keep a channel open. It upgrades while a sender exists, and never afterwards.
/// Also: model weak::an_upgrade_against_the_last_senders_end.
#[test]
fn weak_senders_do_not_keep_a_channel_open() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let weak = sender.downgrade();
    assert_eq!((weak.sender_count(), receiver.sender_count()), (1, 1));
    let mut other = weak.upgrade().expect("there is a sender");
    assert_eq!(weak.clone().sender_count(), 2);
    sender.send(1).unwrap();
    drop(sender);
    other.send(2).unwrap();
    let another = weak.upgrade().expect("there is still one");
    drop((other, another));
    assert!(weak.upgrade().is_none() && weak.sender_count() == 0);
    let mut received: Vec<_> = receiver.iter().collect();
    received.sort_unstable();
    assert_eq!((received, receiver.recv()), (vec![1, 2], Err(RecvError)));
    // Nor a closed one.
    let (sender, mut receiver) = mpsc::unbounded::<u8>();
    let weak = sender.downgrade();
    receiver.close();
    assert!(weak.upgrade().is_none());
    let (sender, receiver) = mpsc::unbounded::<u8>();
    let weak = sender.downgrade();
    drop(receiver);
    assert!(weak.upgrade().is_none() && weak.sender_count() == 1);
    let (sender, mut receiver) = mpsc::bounded_for::<u8>(1, 1);
    let (weak, task) = (sender.downgrade(), Task::default());
    assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(weak.upgrade().is_none(), "there is no room for a lane");
    assert_eq!((receiver.sender_count(), task.woken()), (1, 0));
}

#[test]
fn hundreds_of_weak_senders_are_all_of_the_channel() {
    const SENDERS: usize = 300;
    let (sender, mut receiver) = mpsc::unbounded();
    let weak: Vec<_> = (0..SENDERS).map(|_| sender.downgrade()).collect();
    let mut senders: Vec<_> = weak.iter().map(|weak| weak.upgrade().expect("there is a sender")).collect();
    drop(sender);
    assert_eq!((weak[0].sender_count(), receiver.sender_count()), (SENDERS, SENDERS));
    (0..).zip(&mut senders).for_each(|(number, sender)| sender.send(number).unwrap());
    drop(senders);
    assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    let mut received: Vec<_> = receiver.iter().collect();
    received.sort_unstable();
    assert!(received.into_iter().eq(0..SENDERS));
}

#[test]
fn upgrades_racing_with_the_last_drop_lose_nothing() {
    guarded(|| {
        let mut random = Random::new(5);
        for _ in 0..500 {
            let (mut sender, mut receiver) = mpsc::unbounded();
            let weak = sender.downgrade();
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let weak = weak.clone();
                    thread::spawn(move || weak.upgrade().map(|mut sender| sender.send(1).unwrap()).map_or(0, |()| 1))
                })
                .collect();
            random.pause();
            sender.send(1).unwrap();
            drop(sender);
            let received: usize = receiver.iter().sum();
            assert_eq!(received, 1 + threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>());
            assert!(weak.upgrade().is_none());
        }
    });
}

#[test]
// A sender is the same key whatever is in its channel.
#[allow(clippy::mutable_key_type)]
fn ends_are_equal_by_their_channel() {
    let (one, _receiver) = mpsc::unbounded::<u8>();
    let (other, _other) = mpsc::bounded::<u8>(1);
    let clone = one.clone();
    assert!(one == clone && one.same_channel(&clone) && one != other);
    assert!(one.downgrade() == clone.downgrade() && one.downgrade() != other.downgrade());
    assert!(one.share() == clone.share() && !one.share().same_channel(&other.share()));
    let senders = HashSet::from([one, clone, other]);
    assert_eq!(senders.len(), 2);
}

#[test]
fn a_closed_sender_for_which_there_is_no_place_is_refused_by_a_set() {
    let (mut sender, _receiver) = mpsc::bounded_for::<u8>(1, 1);
    assert!(sender.close());
    let mut set = YPollset::new();
    set.signaler().signal(3);
    assert_eq!(set.attach(&mut sender, 3), Err(AttachError::IdTaken { id: 3 }));
    assert!(set.check().eq([3]), "raised by hand, and not taken down");
    assert!(set.check().is_empty());
    // The id is free.
    let (_other, mut receiver) = mpsc::unbounded::<u8>();
    set.attach(&mut receiver, 3).unwrap();
}

/// Claim: A closed sender frees its lane, also if it was attached to a set after it closed.
#[test]
fn a_closed_sender_that_was_in_a_set_gives_its_place_back() {
    let (sender, mut receiver) = mpsc::bounded_for::<u8>(1, 2);
    let mut set = YPollset::new();
    for _ in 0..3 {
        let mut other = sender.try_clone().unwrap();
        assert!(other.close());
        // The receiver polls, and the closed sender's lane is gone.
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        // In the set it has a place again, as long as it lives, and one only.
        set.attach(&mut other, 0).unwrap();
        assert!(set.check().eq([0]) && sender.try_clone().is_err());
        assert!(!other.close() && other.detach());
        set.attach(&mut other, 0).unwrap();
        drop(other);
        assert!(set.check().is_empty());
    }
    assert!(sender.try_clone().is_ok());
}

#[test]
fn a_closed_sender_that_was_in_a_set_gives_back_no_place_of_others() {
    let (sender, mut receiver) = mpsc::unbounded();
    let mut closed = sender.clone();
    assert!(closed.close());
    // The receiver polls, and the closed sender's lane is gone. In the set it has an id again, before those of the
    // others.
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let mut set = YPollset::new();
    set.attach(&mut closed, 0).unwrap();
    let mut others: Vec<_> = (0..4).map(|_| sender.clone()).collect();
    others.iter_mut().for_each(|other| other.send(1).unwrap());
    drop(closed);
    // The next sender has a lane to itself.
    let mut next = sender.clone();
    next.send(1).unwrap();
    others.iter_mut().for_each(|other| other.send(1).unwrap());
    assert_eq!(receiver.try_iter().count(), 9);
}

#[test]
fn a_sender_of_a_closed_channel_that_was_in_a_set_gives_its_place_back() {
    let (sender, mut receiver) = mpsc::bounded_for::<u8>(1, 2);
    receiver.close();
    let mut set = YPollset::new();
    for round in 0..6 {
        // It connects after the close, and has no lane.
        let mut late = sender.try_clone().unwrap();
        set.attach(&mut late, 0).unwrap();
        assert!(set.check().eq([0]));
        let mut another = sender.try_clone().unwrap();
        assert_eq!(set.attach(&mut another, 1), Err(AttachError::IdTaken { id: 1 }), "both places are in use");
        if round % 2 == 0 {
            late.close();
        }
        drop(late);
        assert!(set.check().is_empty());
    }
}
