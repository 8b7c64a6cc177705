//! How many messages fit, what a slow receiver holds up or misses, and where receivers begin.

use std::hash::BuildHasher;

use ysuite::broadcast::{self, RecvError, RecvTimeoutError, TryRecvError};
use ysuite::{SendTimeoutError, TrySendError};

use super::pair;
use crate::support::panics;

/// Claim: A bounded broadcast holds exactly its capacity for the slowest receiver. It gains room when that receiver
/// advances or is dropped.
/// Also: model broadcast::a_full_ring_against_the_slower_of_two_receivers, stress broadcast::few_places.
#[test]
fn a_bounded_channel_holds_exactly_its_capacity_for_the_slowest() {
    for capacity in [1, 2, 3, 5, 8, 100, 1024] {
        let (sender, mut receiver) = broadcast::bounded(capacity);
        let mut quick = receiver.clone();
        assert_eq!((sender.capacity(), receiver.capacity()), (Some(capacity), Some(capacity)));
        for lap in 0..3 {
            for number in 0..capacity {
                assert_eq!((sender.len(), sender.is_full()), (number, false));
                sender.try_send(number).unwrap();
                assert_eq!(quick.try_recv(), Ok(number), "lap {lap}");
            }
            assert!(sender.is_full() && receiver.is_full() && !receiver.is_empty() && !sender.is_empty());
            assert!(quick.is_empty() && !quick.is_full());
            assert!(matches!(sender.try_send(0), Err(TrySendError::Full(0))));
            assert!(matches!(sender.send_timeout(1, std::time::Duration::ZERO), Err(SendTimeoutError::Timeout(1))));
            // One place for one message taken.
            assert_eq!(receiver.try_recv(), Ok(0));
            sender.try_send(capacity).unwrap();
            assert!(sender.try_send(0).is_err());
            assert_eq!(quick.try_recv(), Ok(capacity));
            for number in 1..=capacity {
                assert_eq!(receiver.len(), capacity + 1 - number);
                assert_eq!(receiver.try_recv(), Ok(number));
            }
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            assert!(sender.is_empty());
        }
    }
}

/// Claim: A lossy broadcast keeps exactly its capacity.
#[test]
fn a_lossy_channel_keeps_exactly_its_capacity_for_the_slowest() {
    for capacity in [1, 2, 3, 5, 7, 8, 9, 100, 900, 1024] {
        for too_many in [0, 1, 2, capacity - 1, capacity, 3 * capacity + 1] {
            let (sender, mut receiver) = broadcast::lossy(capacity);
            let mut quick = sender.subscribe();
            let mut first = 0;
            for _ in 0..3 {
                let sent = capacity + too_many;
                for number in first..first + sent {
                    sender.try_send(number).unwrap();
                    assert_eq!(quick.try_recv(), Ok(number));
                }
                assert_eq!((receiver.len(), sender.len()), (capacity, capacity));
                if too_many > 0 {
                    assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(too_many as u64)));
                }
                assert!(receiver.try_iter().eq(first + too_many..first + sent));
                assert_eq!((receiver.try_recv(), receiver.len()), (Err(TryRecvError::Empty), 0));
                first += sent;
            }
            assert_eq!((receiver.missed(), quick.missed()), (3 * too_many as u64, 0));
        }
    }
}

/// Claim: A receiver of a lossy broadcast that was too slow learns how many messages it missed.
#[test]
fn every_way_of_receiving_tells_how_many_were_missed() {
    let (sender, receiver) = broadcast::lossy(2);
    (0..5).for_each(|number| sender.send(number).unwrap());
    let mut receivers: Vec<_> = (0..6).map(|_| receiver.clone()).collect();
    assert_eq!(receivers[0].recv(), Err(RecvError::Lagged(3)));
    assert_eq!(receivers[1].try_recv(), Err(TryRecvError::Lagged(3)));
    let soon = std::time::Duration::from_secs(1);
    assert_eq!(receivers[2].recv_timeout(soon), Err(RecvTimeoutError::Lagged(3)));
    let deadline = std::time::Instant::now() + soon;
    assert_eq!(receivers[3].recv_deadline(deadline), Err(RecvTimeoutError::Lagged(3)));
    assert_eq!(receivers[4].recv_batch(&mut Vec::new(), 10), Err(RecvError::Lagged(3)));
    assert_eq!(receivers[5].try_recv_batch(&mut Vec::new(), 10), Err(TryRecvError::Lagged(3)));
    for mut receiver in receivers {
        assert_eq!((receiver.recv(), receiver.recv(), receiver.missed()), (Ok(3), Ok(4), 3));
    }
    // A clone has missed what its original has missed without knowing; what was reported to that is its own.
    drop(sender);
    assert!(receiver.clone().into_iter().eq(3..5), "iterators pass over what was missed");
    assert!(receiver.clone().try_iter().eq(3..5), "those that do not wait as well");
}

#[test]
fn a_receiver_is_told_each_time_that_it_was_too_slow() {
    let (sender, mut receiver) = broadcast::lossy(3);
    for lap in 0..10 {
        sender.send_batch(0..4).unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(1)));
        sender.send_batch(4..6).unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(2)));
        assert!(receiver.try_iter().eq(3..6));
        assert_eq!(receiver.missed(), 3 * (lap + 1));
    }
}

/// Claim: A new subscriber gets the messages sent afterwards. A clone gets those that its original has not received.
/// Also: model broadcast::a_full_ring_against_a_clone.
#[test]
fn a_subscriber_gets_what_comes_after_and_a_clone_what_its_original_has_not_had() {
    for is_lossy in [false, true] {
        let (sender, mut receiver) = pair(is_lossy, 10);
        sender.send_batch(0..4).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let (mut subscribed, mut clone, mut again) = (sender.subscribe(), receiver.clone(), receiver.resubscribe());
        assert_eq!([&subscribed, &clone, &again].map(|receiver| receiver.len()), [0, 3, 0]);
        sender.send_batch(4..6).unwrap();
        assert!(subscribed.try_iter().eq(4..6) && again.try_iter().eq(4..6));
        assert!(clone.try_iter().eq(1..6) && receiver.try_iter().eq(1..6));
        assert_eq!((sender.receiver_count(), receiver.receiver_count(), receiver.sender_count()), (4, 4, 1));
        assert!(clone.same_channel(&subscribed) && !clone.same_channel(&pair(is_lossy, 10).1));
        let other = sender.clone();
        assert!(
            sender == other && sender != pair(is_lossy, 10).0 && receiver == clone && receiver != pair(is_lossy, 10).1
        );
        let hash = std::hash::RandomState::new();
        assert_eq!(hash.hash_one(&sender), hash.hash_one(&other));
        assert!(sender.same_channel(&other) && !sender.same_channel(&pair(is_lossy, 10).0));
        assert_eq!((other.sender_count(), clone.sender_count()), (2, 2));
    }
}

#[test]
fn a_clone_of_a_receiver_that_was_too_slow_was_too_slow_as_well() {
    let (sender, mut receiver) = broadcast::lossy(4);
    sender.send_batch(0..20).unwrap();
    let mut clone = receiver.clone();
    sender.send_batch(20..30).unwrap();
    for receiver in [&mut receiver, &mut clone] {
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(26)));
        assert!(receiver.try_iter().eq(26..30));
    }
}

#[test]
fn a_batch_larger_than_the_capacity_goes_as_there_is_room() {
    let (sender, mut receiver) = broadcast::bounded(5);
    let thread = std::thread::spawn(move || sender.send_batch(0..1_000));
    assert!(receiver.iter().eq(0..1_000));
    assert_eq!(thread.join().unwrap(), Ok(1_000));
    let (sender, mut receiver) = broadcast::lossy(5);
    assert_eq!(sender.send_batch(0..1_000), Ok(1_000));
    assert_eq!(receiver.recv(), Err(RecvError::Lagged(995)));
    let mut last = Vec::new();
    assert_eq!(receiver.recv_batch(&mut last, 3), Ok(3));
    assert_eq!(receiver.try_recv_batch(&mut last, 30), Ok(2));
    assert_eq!(receiver.recv_batch(&mut last, 0), Ok(0));
    assert_eq!(receiver.try_recv_batch(&mut last, 0), Ok(0));
    assert_eq!(last, [995, 996, 997, 998, 999]);
}

/// Claim: More broadcast receivers can come and go than there are cursors.
#[test]
fn more_receivers_than_there_were_cursors_come_and_go() {
    let (sender, receiver) = broadcast::bounded(4);
    for _ in 0..3 {
        let mut receivers: Vec<_> = (0..100).map(|_| receiver.clone()).collect();
        receivers.extend((0..100).map(|_| sender.subscribe()));
        assert_eq!(sender.receiver_count(), 201);
        receivers.truncate(150);
        receivers.extend((0..20).map(|_| sender.subscribe()));
        sender.send(1).unwrap();
        assert!(receivers.iter_mut().all(|receiver| receiver.recv() == Ok(1)));
        assert_eq!(receiver.clone().recv(), Ok(1));
        drop(receivers);
        let mut receiver = receiver.clone();
        assert_eq!((sender.receiver_count(), receiver.try_iter().count()), (2, sender.len()));
    }
}

/// Claim: A broadcast refuses impossible capacities.
#[test]
fn capacities_that_cannot_be_are_refused() {
    for is_lossy in [false, true] {
        assert!(panics(|| drop(pair::<u8>(is_lossy, 0))).contains("at least 1"));
        // The bytes of the last can be counted, and are more than an allocation may have.
        for huge in [usize::MAX, usize::MAX / 2 + 2, 1 << (usize::BITS - 2), 1 << (usize::BITS - 5)] {
            assert!(panics(|| drop(pair::<u8>(is_lossy, huge))).contains("does not fit into memory"));
        }
    }
}

/// Claim: Broadcast messages may have any size and alignment.
#[test]
fn messages_of_any_size_and_alignment() {
    #[derive(Clone, Debug, PartialEq)]
    #[repr(align(128))]
    struct Aligned(u8);
    let (sender, mut receiver) = broadcast::lossy(3);
    let mut other = receiver.clone();
    sender.send_batch((0..3).map(Aligned)).unwrap();
    assert!(receiver.try_iter().eq((0..3).map(Aligned)) && other.try_iter().eq((0..3).map(Aligned)));
    let (sender, mut receiver) = broadcast::bounded(2);
    assert_eq!(sender.send_batch([(), ()]), Ok(2));
    assert!(sender.try_send(()).is_err());
    assert_eq!(receiver.try_iter().count(), 2);
    let (sender, mut receiver) = broadcast::bounded(70);
    let mut other = receiver.clone();
    sender.send_batch((0..70).map(|number| [number; 500])).unwrap();
    assert!(receiver.try_iter().eq((0..70).map(|number| [number; 500])));
    assert_eq!(other.try_iter().count(), 70);
}

/// One that is kept somewhere and never asked holds up the senders: they can say which it is.
#[test]
fn the_receiver_that_holds_the_senders_up_is_named() {
    let (sender, mut first) = broadcast::bounded(3);
    let kept = sender.subscribe();
    let mut clone = first.clone();
    assert!(first.id() != kept.id() && first.id() != clone.id() && kept.id() != clone.id());
    for number in 0..3 {
        sender.send(number).unwrap();
        assert_eq!((first.recv(), sender.slowest().unwrap().messages), (Ok(number), number + 1));
    }
    assert_eq!(clone.recv(), Ok(0));
    assert!(sender.try_send(3).is_err());
    let lags: Vec<_> = sender.lags().iter().map(|lag| (lag.id, lag.messages)).collect();
    assert_eq!(lags, [(kept.id(), 3), (clone.id(), 2), (first.id(), 0)]);
    assert_eq!(sender.slowest().map(|lag| lag.id), Some(kept.id()));
    // Its owner ends it.
    let before = kept.id();
    drop(kept);
    sender.send(3).unwrap();
    assert_eq!((sender.slowest().unwrap().id, sender.lags().len()), (clone.id(), 2));
    assert!(sender.subscribe().id() > before, "no number comes twice");
    drop((first, clone));
    assert_eq!((sender.slowest(), sender.lags()), (None, Vec::new()));
}

/// Receivers that wait move to where others were; they keep their identity, and get all that is sent.
#[test]
fn a_receiver_among_thousands_that_go_keeps_its_identity() {
    const CROWD: usize = 1_000;
    for is_lossy in [false, true] {
        let (sender, first) = if is_lossy { broadcast::lossy(4) } else { broadcast::bounded(4) };
        let mut crowd: Vec<_> = (0..CROWD).map(|_| sender.subscribe()).collect();
        let (mut last, id) = (crowd.pop().unwrap(), sender.receiver_count() as u64);
        drop((crowd, first));
        assert_eq!((last.id(), sender.receiver_count()), (id, 1));
        for number in 0..100 {
            assert!(last.recv_timeout(std::time::Duration::from_nanos(1)).is_err());
            sender.send(number).unwrap();
            assert_eq!((last.recv(), last.id()), (Ok(number), id));
        }
        assert_eq!(sender.lags().len(), 1);
    }
}
