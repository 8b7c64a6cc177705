//! Messages arrive: all of them, whole, in order, and no more of them at once than there may be.

use std::collections::VecDeque;
use std::thread;

use ysuite::{TryRecvError, TrySendError};

use super::{Kind, Receiving, Sending};
use crate::for_every_shape;
use crate::support::samples::Sample;
use crate::support::{Random, Tally, guarded};

pub(crate) fn messages_arrive_in_order<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    for round in 0..3 {
        let messages = kind.some(5_000);
        for message in 0..messages {
            sender.send(round * 10_000 + message).unwrap();
        }
        for message in 0..messages {
            assert_eq!(receiver.try_recv(), Ok(round * 10_000 + message));
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

/// Claim: Messages of every size and alignment arrive whole, including zero-sized ones and those larger than a stack
/// frame.
pub(crate) fn every_shape_arrives_whole<K: Kind>(kind: K) {
    guarded(move || for_every_shape!(shape_arrives::<K>(kind)));
}

fn shape_arrives<K: Kind, T: Sample>(kind: K) {
    let (mut sender, mut receiver) = kind.pair::<T>();
    // Enough to go round several groups, and several chunks where messages are large.
    let messages = if size_of::<T>() > 4096 { 12 } else { 700 };
    let (mut sent, mut received) = (0, 0);
    let mut random = Random::new(size_of::<T>() as u64);
    let mut batch = Vec::new();
    while received < messages {
        for _ in 0..random.below(40) {
            if sent == messages || sender.try_send(T::make(sent)).is_err() {
                break;
            }
            sent += 1;
        }
        assert_eq!((sender.len(), receiver.len()), (sent - received, sent - received));
        let most = random.below(20);
        if most % 2 == 0 {
            match receiver.try_recv_batch(&mut batch, most) {
                Ok(taken) => assert!(taken == batch.len() && taken <= most),
                Err(_) => assert_eq!(sent, received),
            }
        } else {
            batch.extend((0..most).map_while(|_| receiver.try_recv().ok()));
        }
        for message in batch.drain(..) {
            message.check(received);
            received += 1;
        }
    }
    assert!(receiver.is_empty() && sender.is_empty());
}

/// Claim: The bound of a channel is exact at every capacity, and a received message frees its room at once.
/// Also: model pipe::credits_both_ways, stress pipe::one_place_both_ways.
pub(crate) fn capacity_is_exact<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    assert_eq!((sender.capacity(), receiver.capacity()), (kind.asked(), kind.asked()));
    let Some(capacity) = kind.capacity() else {
        (0..100_000).for_each(|message| sender.try_send(message).unwrap());
        return assert!(!sender.is_full());
    };
    for round in 0..3 {
        for message in 0..capacity {
            assert!(!sender.is_full());
            sender.try_send(message).unwrap();
        }
        assert!(sender.is_full());
        assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)));
        // Room for each message that is taken, at once, at any border between groups.
        for message in 0..capacity {
            assert_eq!(receiver.try_recv(), Ok(message));
            if round == 1 {
                sender.try_send(message).unwrap();
                assert!(sender.is_full());
                assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)));
            }
        }
        if round == 1 {
            assert!((0..capacity).all(|message| receiver.try_recv() == Ok(message)));
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

pub(crate) fn a_full_channel_says_so<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let tally = Tally::of(capacity + 10);
    let (mut sender, receiver) = kind.pair();
    tally.some(capacity).for_each(|message| sender.send(message).unwrap());
    for _ in 0..5 {
        let refused = sender.try_send(tally.next()).unwrap_err();
        assert!(refused.is_full() && !refused.is_disconnected());
        assert_eq!(refused.into_inner().number, tally.made() - 1);
    }
    assert_eq!(tally.ended(), 5);
    drop((sender, receiver));
    tally.assert_all_ended();
}

/// Claim: `len` and `is_empty` are exact on both handles, and stay plausible while the other handle sends or is
/// dropped.
/// Also: suite spsc::bounded_1024::lengths_stay_sane_while_closing, suite spsc::a_receiver_knows_that_there_is_no_room.
pub(crate) fn length_is_exact_on_both_ends<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let mut random = Random::new(8);
    let mut length = 0;
    for step in 0..4_000 {
        assert_eq!((sender.len(), receiver.len()), (length, length), "at step {step}");
        assert_eq!((sender.is_empty(), receiver.is_empty()), (length == 0, length == 0));
        assert_eq!(sender.is_full(), kind.capacity() == Some(length));
        if random.below(2) == 0 {
            length += usize::from(sender.try_send(step).is_ok());
        } else {
            length -= usize::from(receiver.try_recv().is_ok());
        }
    }
    drop(sender);
    assert_eq!((receiver.len(), receiver.is_disconnected()), (length, true));
    assert_eq!(receiver.iter().count(), length);
    assert!(receiver.is_empty());
}

pub(crate) fn a_batch_arrives_in_order<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let messages = kind.some(3_000);
    for _ in 0..3 {
        assert_eq!(sender.send_batch(&mut (0..messages)), Ok(messages));
        let mut received = Vec::new();
        while received.len() < messages {
            receiver.recv_batch(&mut received, usize::MAX).unwrap();
        }
        assert!(received.into_iter().eq(0..messages));
    }
}

pub(crate) fn batches_of_no_messages<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair::<u8>();
    let mut to = Vec::new();
    assert_eq!(sender.send_batch(&mut std::iter::empty()), Ok(0));
    assert_eq!(receiver.recv_batch(&mut to, 0), Ok(0), "waiting for no messages is over at once");
    assert_eq!(receiver.try_recv_batch(&mut to, 0), Ok(0));
    assert_eq!(receiver.try_recv_batch(&mut to, 1), Err(TryRecvError::Empty));
    drop(sender);
    assert_eq!(receiver.try_recv_batch(&mut to, 1), Err(TryRecvError::Disconnected));
    assert!(receiver.recv_batch(&mut to, 1).is_err() && to.is_empty());
}

pub(crate) fn batch_receives_append_and_keep_to_their_limit<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let messages = kind.some(100);
    sender.send_batch(&mut (0..messages)).unwrap();
    let mut to = vec![usize::MAX];
    for limit in [1, 2, 3, 50, usize::MAX] {
        let (before, left) = (to.len(), receiver.len());
        match receiver.try_recv_batch(&mut to, limit) {
            Ok(taken) => assert_eq!((taken, to.len()), (left.min(limit), before + taken)),
            Err(error) => assert_eq!((error, left), (TryRecvError::Empty, 0)),
        }
    }
    assert!(to[1..].iter().copied().eq(0..messages));
    assert_eq!(to[0], usize::MAX);
}

/// Around what an spsc receiver takes at once without counting what there is, and far beyond it.
pub(crate) fn great_batches_arrive_whole<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    for messages in [4_095, 4_096, 4_097, 10_000].map(|messages| kind.some(messages)) {
        for most in [4_095, 4_096, 4_097, 8_192, usize::MAX] {
            assert_eq!(sender.send_batch(&mut (0..messages)), Ok(messages));
            let mut received = Vec::new();
            while received.len() < messages {
                let left = messages - received.len();
                let taken = receiver.recv_batch(&mut received, most);
                assert_eq!(taken, Ok(left.min(most)), "of {left} messages");
            }
            assert_eq!(receiver.try_recv_batch(&mut received, most), Err(TryRecvError::Empty));
            assert!(received.into_iter().eq(0..messages));
        }
    }
}

pub(crate) fn iterators_end_where_they_should<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let messages = kind.some(10);
    (0..messages).for_each(|message| sender.send(message).unwrap());
    assert!(receiver.try_iter().eq(0..messages), "ends where the channel is empty");
    assert_eq!(receiver.try_iter().next(), None);
    (0..messages).for_each(|message| sender.send(message).unwrap());
    assert_eq!(receiver.iter().next(), Some(0));
    drop(sender);
    assert!(receiver.iter().eq(1..messages), "ends where the sender is gone");
    assert_eq!(receiver.iter().next(), None);
    assert_eq!(receiver.try_iter().next(), None);

    let (mut sender, receiver) = kind.pair();
    (0..messages).for_each(|message| sender.send(message).unwrap());
    drop(sender);
    assert!(receiver.into_iter().eq(0..messages));
}

/// Claim: An `spsc` channel delivers every message once, in the order of sending.
/// Also: model pipe::send_against_a_receiver_going_to_sleep, stress pipe::blocking_receives.
pub(crate) fn a_stream_crosses_threads_in_order<K: Kind>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 30_000;
        let tally = Tally::of(MESSAGES);
        let (mut sender, receiver) = kind.pair();
        let messages = tally.some(MESSAGES);
        let thread = thread::spawn(move || messages.for_each(|message| sender.send(message).unwrap()));
        for (expected, message) in receiver.into_iter().enumerate() {
            assert_eq!(message.number, expected);
        }
        thread.join().unwrap();
        assert_eq!(tally.made(), MESSAGES);
        tally.assert_all_ended();
    });
}

pub(crate) fn batches_cross_threads_in_order<K: Kind>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 30_000;
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            let (mut random, mut sent) = (Random::new(1), 0);
            while sent < MESSAGES {
                let end = (sent + random.below(200)).min(MESSAGES);
                assert_eq!(sender.send_batch(&mut (sent..end)).unwrap(), end - sent);
                sent = end;
                random.pause();
            }
        });
        let (mut random, mut expected, mut batch) = (Random::new(2), 0, Vec::new());
        while let Ok(taken) = receiver.recv_batch(&mut batch, 1 + random.below(100)) {
            assert_eq!(taken, batch.len());
            assert!(batch.drain(..).eq(expected..expected + taken));
            expected += taken;
            random.pause();
        }
        assert_eq!(expected, MESSAGES);
        thread.join().unwrap();
    });
}

/// Claim: Both handles of a channel can move between threads.
/// Also: suite spsc::ends_cross_threads_and_may_be_shared.
pub(crate) fn ends_may_move_between_threads<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        for round in 0..20 {
            let sending = thread::spawn(move || {
                (0..100).for_each(|message| sender.send(round * 100 + message).unwrap());
                sender
            });
            let receiving = thread::spawn(move || {
                (0..100).for_each(|message| assert_eq!(receiver.recv(), Ok(round * 100 + message)));
                receiver
            });
            (sender, receiver) = (sending.join().unwrap(), receiving.join().unwrap());
        }
    });
}

pub(crate) fn sending_and_receiving_within_one_message_of_each_other<K: Kind>(kind: K) {
    // Neither side is ever more than a few messages from the other, at every position of every group and chunk.
    let (mut sender, mut receiver) = kind.pair();
    let mut waiting = VecDeque::new();
    let mut random = Random::new(77);
    for message in 0..20_000_u64 {
        sender.send(message).unwrap();
        waiting.push_back(message);
        while waiting.len() > kind.some(3).min(1 + random.below(3)) || kind.capacity() == Some(waiting.len()) {
            assert_eq!(receiver.try_recv().ok(), waiting.pop_front());
        }
    }
    assert!(receiver.try_iter().eq(waiting));
}
