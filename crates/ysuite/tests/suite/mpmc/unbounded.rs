//! What only an unbounded mpmc channel does: it is never full, and gets long.

use std::thread;

use ysuite::mpmc;
use ysuite::{ReserveError, TryReserveError};
use ysuite::{TryRecvError, TrySendError};

use crate::support::executor::block_on;
use crate::support::samples::Sample;
use crate::support::{Random, Tally, guarded, panics};

#[test]
fn it_has_no_capacity_and_is_never_full() {
    let (sender, receiver) = mpmc::unbounded();
    assert_eq!((sender.capacity(), receiver.capacity(), sender.len()), (None, None, 0));
    for number in 0..100_000 {
        assert_eq!((sender.try_send(number), sender.is_full()), (Ok(()), false));
    }
    assert_eq!((receiver.len(), receiver.is_empty()), (100_000, false));
    assert_eq!(format!("{sender:?}"), "Sender { len: 100000, capacity: None }");
    assert!(receiver.try_iter().eq(0..100_000));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(receiver);
    assert_eq!((sender.try_send(1), sender.is_full()), (Err(TrySendError::Disconnected(1)), false));
}

#[test]
fn no_place_is_to_be_had_where_nothing_would_be_received() {
    for is_closed in [true, false] {
        let (sender, receiver) = mpmc::unbounded::<u8>();
        assert!(sender.try_reserve_many(1_000).is_ok_and(|permits| permits.len() == 1_000));
        let receiver = is_closed.then_some(receiver);
        assert!(receiver.as_ref().is_none_or(|receiver| receiver.close()));
        assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Disconnected);
        assert_eq!(sender.try_reserve_many(2).unwrap_err(), TryReserveError::Disconnected);
        assert_eq!(sender.reserve().unwrap_err(), ReserveError::Disconnected);
        assert_eq!(sender.reserve_many(2).unwrap_err(), ReserveError::Disconnected);
        assert_eq!(block_on(sender.reserve_async()).unwrap_err(), ReserveError::Disconnected);
        assert_eq!(block_on(sender.reserve_many_async(2)).unwrap_err(), ReserveError::Disconnected);
    }
}

/// From nothing to many segments and back, in batches of all lengths and one by one.
fn grows_and_shrinks<T: Sample>(most: usize) {
    let (sender, receiver) = mpmc::unbounded::<T>();
    let mut random = Random::new(most as u64);
    let (mut sent, mut received, mut batch) = (0, 0, Vec::new());
    for round in 0..40 {
        let target = if round % 4 == 3 { 0 } else { random.below(most) };
        while sent - received < target {
            if random.below(2) == 0 {
                let length = random.below(200);
                assert!(sender.send_batch((sent..sent + length).map(T::make)).is_ok_and(|number| number == length));
                sent += length;
            } else {
                assert!(sender.try_send(T::make(sent)).is_ok());
                sent += 1;
            }
        }
        assert_eq!((sender.len(), receiver.len()), (sent - received, sent - received));
        while sent - received > target {
            let left = sent - received;
            if random.below(2) == 0 {
                // All that was requested and is there, in however many segments.
                let asked = random.below(300) + 1;
                assert_eq!(receiver.try_recv_batch(&mut batch, asked), Ok(asked.min(left)));
                batch.drain(..).for_each(|message| {
                    message.check(received);
                    received += 1;
                });
            } else {
                receiver.try_recv().unwrap_or_else(|_| panic!("it is there")).check(received);
                received += 1;
            }
        }
    }
    (0..sent - received)
        .for_each(|left| receiver.recv().unwrap_or_else(|_| panic!("it is there")).check(received + left));
    assert!(receiver.is_empty());
}

#[test]
fn messages_of_every_shape_over_many_segments() {
    guarded(|| crate::for_every_shape!(grows_and_shrinks(200)));
    guarded(|| grows_and_shrinks::<u64>(50_000));
}

#[test]
fn a_long_queue_is_dropped_with_the_last_receiver_or_with_the_channel() {
    const MANY: usize = 30_000;
    for receiver_first in [true, false] {
        let tally = Tally::of(MANY);
        let (sender, receiver) = mpmc::unbounded();
        tally.some(MANY).for_each(|message| sender.send(message).unwrap());
        tally.explode(MANY / 2);
        if receiver_first {
            assert_eq!(panics(|| drop(receiver)), format!("the end of message {}", MANY / 2));
            tally.assert_all_ended();
            drop(sender);
        } else {
            drop(sender);
            assert_eq!(panics(|| drop(receiver)), format!("the end of message {}", MANY / 2));
            tally.assert_all_ended();
        }
    }
}

#[test]
fn an_iterator_that_panics_has_sent_what_it_gave() {
    let tally = Tally::of(20);
    let (sender, receiver) = mpmc::unbounded();
    let source = tally.clone();
    let messages = (0..).map(move |index| {
        assert!(index < 8, "the iterator panics");
        source.next()
    });
    assert_eq!(panics(|| drop(sender.send_batch(messages))), "the iterator panics");
    assert!(receiver.try_iter().map(|message| message.number).eq(0..8));
    tally.assert_all_ended();
}

/// Segments have some hundred slots for these: now and then one ends in the middle of a batch.
#[test]
fn an_iterator_that_panics_has_sent_what_it_gave_beyond_a_segments_end() {
    let (sender, receiver) = mpmc::unbounded();
    for round in 0..200 {
        let most = 4 + round % 7;
        let messages = (0..).map(|number| {
            assert!(number < most, "the iterator panics");
            [number; 32]
        });
        assert_eq!(panics(|| drop(sender.send_batch(messages))), "the iterator panics");
        assert!(receiver.try_iter().map(|message| message[0]).eq(0..most));
    }
}

/// Messages so large that segments have one or two, between threads: they come and go all the time.
#[test]
fn threads_share_messages_that_fill_segments() {
    guarded(|| {
        const EACH: u64 = 500;
        let (sender, receiver) = mpmc::unbounded::<[u64; 4_000]>();
        let senders: Vec<_> = (0..2)
            .map(|who| {
                let sender = sender.clone();
                thread::spawn(move || (0..EACH).for_each(|number| sender.send([who * EACH + number; 4_000]).unwrap()))
            })
            .collect();
        drop(sender);
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || {
                    let mut last = [None, None];
                    receiver.iter().fold(0, |sum, message| {
                        assert!(message.iter().all(|word| *word == message[0]), "torn");
                        let seen = &mut last[(message[0] / EACH) as usize];
                        assert!(seen.is_none_or(|before| before < message[0]), "out of order");
                        *seen = Some(message[0]);
                        sum + message[0]
                    })
                })
            })
            .collect();
        senders.into_iter().for_each(|thread| thread.join().unwrap());
        let sum: u64 = receivers.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 2 * EACH * (2 * EACH - 1) / 2);
    });
}
