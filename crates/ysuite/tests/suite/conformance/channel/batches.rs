//! Batches on the sending side: hidden until flushed, taken back while hidden, published all at once; and the
//! receiver's peek at what comes next.

use std::task::Context;
use std::thread;
use std::time::Duration;

use ysuite::TryRecvError;

#[allow(unused_imports)] // A kind that does not batch has no use for it.
pub(crate) use super::model::random_batches_agree_with_a_model;
use super::{Batching, Hiding, Peeking, Receiving, Sending};
use crate::support::executor::{Clinging, Task, block_on};
use crate::support::samples::{Aligned4096, Bytes, Sample};
use crate::support::{Random, Tally, guarded, panics};

pub(crate) fn written_messages_are_hidden_until_flushed<K: Batching>(kind: K) {
    for messages in [1, 2, 6, 7, 8, 100, 1_000] {
        let messages = kind.some(messages);
        let (mut sender, mut receiver) = kind.batching();
        for message in 0..messages {
            sender.write(message).unwrap();
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            assert_eq!((sender.len(), receiver.len(), receiver.peek()), (0, 0, None));
            assert!(sender.is_empty() && receiver.is_empty());
        }
        assert!(sender.flush(), "no thread sleeps");
        assert_eq!((sender.len(), receiver.len()), (messages, messages));
        assert!(receiver.try_iter().eq(0..messages));
        assert!(sender.flush(), "nothing to flush");
    }
}

pub(crate) fn unwriting_takes_the_newest_first_and_only_the_hidden<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    assert_eq!(sender.unwrite(), None);
    sender.send(0).unwrap();
    assert_eq!(sender.unwrite(), None, "what was sent cannot be taken back");
    assert_eq!(receiver.recv(), Ok(0));
    let messages = kind.some(30);
    (0..messages).for_each(|message| sender.write(message).unwrap());
    sender.flush();
    assert_eq!(sender.unwrite(), None, "what was flushed cannot be taken back");
    assert!(receiver.try_iter().eq(0..messages));
    (0..messages).for_each(|message| sender.write(message).unwrap());
    for message in (messages / 2..messages).rev() {
        assert_eq!(sender.unwrite(), Some(message));
    }
    sender.flush();
    assert!(receiver.try_iter().eq(0..messages / 2));
    assert_eq!(sender.unwrite(), None);
}

pub(crate) fn unwriting_over_every_border<K: Batching>(kind: K) {
    borders::<K, u64>(kind, 240, &[0, 1, 6, 7, 8, 13, 14, 100, 111, 112, 113, 119, 120, 300, 560, 561, 2_400]);
    borders::<K, Bytes<29>>(kind, 80, &[0, 1, 2, 31, 32, 33, 100, 160]);
    borders::<K, Bytes<1000>>(kind, 70, &[0, 1, 15, 16, 17, 60, 79, 80, 81]);
    borders::<K, Aligned4096>(kind, 20, &[0, 7, 8, 9, 15, 16]);
    borders::<K, ()>(kind, 900, &[0, 1, 55, 56, 57, 895, 896, 897]);
}

/// From each of some starting points, writes up to `most` messages and takes all or some of them back.
fn borders<K: Batching, T: Sample>(kind: K, most: usize, starts: &[usize]) {
    for &start in starts {
        let (mut sender, mut receiver) = kind.batching::<T>();
        for number in 0..start {
            assert!(sender.send(T::make(number)).is_ok());
            if number % 50 > 3 || kind.capacity().is_some() {
                receiver.recv().unwrap();
            }
        }
        while receiver.try_recv().is_ok() {}
        for written in (0..=kind.some(most)).step_by(1 + most / 60) {
            for kept in [0, written / 2, written.saturating_sub(1)] {
                (0..written).for_each(|number| assert!(sender.write(T::make(number)).is_ok()));
                for number in (kept..written).rev() {
                    sender.unwrite().expect("a hidden message").check(number);
                }
                if kept == 0 {
                    assert!(sender.unwrite().is_none());
                    assert!(receiver.try_recv().is_err());
                }
                assert!(sender.flush());
                assert_eq!((receiver.len(), sender.len()), (kept, kept));
                for number in 0..kept {
                    receiver.try_recv().unwrap().check(number);
                }
                assert!(receiver.try_recv().is_err());
            }
        }
    }
}

pub(crate) fn a_send_publishes_what_was_written<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    let messages = kind.some(100);
    for way in 0..4 {
        (0..messages - 1).for_each(|message| sender.write(message).unwrap());
        let last = messages - 1;
        match way {
            0 => sender.send(last).unwrap(),
            1 => sender.try_send(last).unwrap(),
            2 => assert_eq!(sender.send_batch(&mut std::iter::once(last)), Ok(1)),
            _ => block_on(sender.send_async(last)).unwrap(),
        }
        assert!(receiver.try_iter().eq(0..messages));
    }
    // A batch of nothing publishes as well.
    (0..messages).for_each(|message| sender.write(message).unwrap());
    assert_eq!(sender.send_batch(&mut std::iter::empty()), Ok(0));
    assert!(receiver.try_iter().eq(0..messages));
}

pub(crate) fn a_sender_that_goes_publishes_what_was_written<K: Batching>(kind: K) {
    for messages in [1, 7, 8, 500] {
        let messages = kind.some(messages);
        let tally = Tally::of(messages);
        let (mut sender, mut receiver) = kind.batching();
        tally.some(messages).for_each(|message| sender.write(message).unwrap());
        drop(sender);
        assert_eq!((receiver.len(), tally.ended()), (messages, 0));
        assert!(receiver.iter().map(|message| message.number).eq(0..messages));
        tally.assert_all_ended();
    }
}

/// Claim: Hidden messages count against the bound. A full batch is published before its sender waits for room.
/// Also: stress pipe::batches_on_both_sides.
pub(crate) fn hidden_messages_count_against_the_bound<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let (mut sender, mut receiver) = kind.batching();
    for round in 0..3 {
        (0..capacity).for_each(|message| sender.write(message).unwrap());
        assert!(sender.is_full());
        assert_eq!((sender.len(), receiver.len()), (0, 0));
        assert!(sender.try_send(9).unwrap_err().is_full());
        assert_eq!(receiver.len(), 0, "a message that is refused publishes nothing");
        assert!(sender.send_timeout(9, Duration::ZERO).unwrap_err().is_timeout());
        // Before a sender waits it shows what it has hidden.
        assert_eq!((sender.len(), receiver.len()), (capacity, capacity));
        assert!(receiver.try_iter().eq(0..capacity));
        if round == 1 {
            sender.write(0).unwrap();
            assert_eq!(sender.unwrite(), Some(0));
        }
        assert!(!sender.is_full());
    }
}

pub(crate) fn flush_says_false_exactly_when_the_receiver_had_armed<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    let task = Task::default();
    for round in 0..200 {
        assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
        assert!(sender.flush(), "an empty flush says nothing");
        for message in 0..kind.some(round % 20) {
            sender.write(message).unwrap();
        }
        if kind.some(round % 20) == 0 {
            sender.write(0).unwrap();
        }
        assert_eq!(task.woken(), round, "writing wakes no task");
        assert!(!sender.flush(), "the receiver sleeps");
        assert_eq!(task.woken(), round + 1);
        while receiver.try_recv().is_ok() {}
        // Many flushes without a sleeper, so that the handshake changes its barrier in some rounds.
        for _ in 0..round {
            sender.write(1).unwrap();
            assert!(sender.flush(), "the receiver is awake");
            assert_eq!(receiver.try_recv(), Ok(1));
        }
    }
    drop(receiver);
    sender.write(1).unwrap();
    assert!(sender.flush(), "a receiver that is gone is not asleep");
}

pub(crate) fn hidden_messages_whose_receiver_is_gone<K: Batching>(kind: K) {
    for messages in [1, 7, 300] {
        let messages = kind.some(messages);
        for way in 0..4 {
            let tally = Tally::of(messages + 1);
            let (mut sender, receiver) = kind.batching();
            tally.some(messages).for_each(|message| sender.write(message).unwrap());
            drop(receiver);
            assert_eq!(tally.ended(), 0, "hidden messages are still the sender's");
            match way {
                0 => assert!(sender.flush()),
                1 => assert_eq!(sender.unwrite().unwrap().number, messages - 1),
                2 => {
                    // The batch is dropped; the message itself comes back, unless it was the first to find no room.
                    assert_eq!(sender.send(tally.next()).unwrap_err().into_inner().number, messages);
                    tally.assert_all_ended();
                }
                _ => {}
            }
            drop(sender);
            tally.assert_all_ended();
        }
    }
}

/// Claim: If the receiver is dropped during a publication, either side may drop the remaining messages. One thread does
/// so at a time, and it checks again for new ones.
/// Also: model pipe::the_receivers_end_against_sending.
pub(crate) fn a_panicking_drop_while_the_sender_disposes<K: Batching>(kind: K) {
    let messages = kind.some(50);
    for explosive in [0, messages / 2, messages - 1] {
        let tally = Tally::of(messages + 1);
        let (mut sender, receiver) = kind.batching();
        tally.some(messages).for_each(|message| sender.write(message).unwrap());
        drop(receiver);
        tally.explode(explosive);
        // The call that drops them panics, takes the rest along, and nothing else is wrong.
        panics(|| assert!(sender.flush()));
        tally.assert_all_ended();
        assert!(sender.send(tally.next()).is_err());
        drop(sender);
        tally.assert_all_ended();
    }
}

pub(crate) fn poll_ready_shows_what_is_hidden_before_it_waits<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let (mut sender, mut receiver) = kind.batching();
    let task = Task::default();
    let waker = task.waker();
    let mut context = Context::from_waker(&waker);
    if capacity > 1 {
        sender.write(0).unwrap();
        assert!(sender.poll_ready(&mut context).is_ready());
        assert!(receiver.is_empty(), "there was room");
    }
    (usize::from(capacity > 1)..capacity).for_each(|message| sender.write(message).unwrap());
    assert!(sender.poll_ready(&mut context).is_pending());
    assert_eq!(receiver.len(), capacity, "or it would wait for room that only it takes");
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(task.woken(), 1);
    assert!(sender.poll_ready(&mut context).is_ready());
}

pub(crate) fn a_waker_that_panics_when_it_is_dropped_loses_no_end<K: Batching>(kind: K) {
    let clinging = |poll: &mut dyn FnMut(&mut Context<'_>) -> bool| {
        let waker = Clinging::waker();
        assert!(poll(&mut Context::from_waker(&waker)));
    };
    if let Some(capacity) = kind.capacity() {
        let tally = Tally::of(capacity);
        let (mut sender, mut receiver) = kind.batching();
        tally.some(capacity).for_each(|message| sender.send(message).unwrap());
        clinging(&mut |context| sender.poll_ready(context).is_pending());
        assert_eq!(panics(|| drop(sender)), "this waker clings");
        assert_eq!(receiver.try_iter().count(), capacity);
        assert_eq!(receiver.try_recv().map(drop), Err(TryRecvError::Disconnected));
        tally.assert_all_ended();
    }
    let tally = Tally::of(3);
    let (mut sender, mut receiver) = kind.batching();
    clinging(&mut |context| receiver.poll_recv(context).is_pending());
    sender.write(tally.next()).unwrap();
    assert_eq!(panics(|| drop(receiver)), "this waker clings");
    assert!(sender.is_disconnected());
    sender.flush();
    assert_eq!(tally.ended(), 1);
    assert!(sender.send(tally.next()).is_err());
    // A future that is dropped leaves the receiver as good as it was.
    let (mut sender, mut receiver) = kind.batching();
    let mut future = receiver.recv_async();
    clinging(&mut |context| future.as_mut().poll(context).is_pending());
    assert_eq!(panics(|| drop(future)), "this waker clings");
    sender.send(tally.next()).unwrap();
    assert_eq!(receiver.recv().unwrap().number, 2);
    drop(sender);
    assert!(receiver.recv().is_err());
}

/// Claim: A batch does not deadlock at a full ring: its hidden messages are published before the sender waits.
pub(crate) fn a_full_batch_flushes_itself_and_waits<K: Batching>(kind: K) {
    guarded(move || {
        let messages = kind.some(2_000) * 3 + 1;
        let (mut sender, receiver) = kind.batching();
        let thread = thread::spawn(move || {
            // Without a bound all of it is hidden until the last; with one no receiver would ever make room for it.
            (0..messages).for_each(|message| sender.write(message).unwrap());
        });
        assert!(receiver.into_iter().eq(0..messages));
        thread.join().unwrap();
    });
}

/// Claim: Two full channels in opposite directions do not deadlock.
/// Also: suite spsc::bounded_1::two_channels_both_ways_do_not_wait_for_each_other.
pub(crate) fn both_full_rings_do_not_wait_for_each_other<K: Batching>(kind: K) {
    guarded(move || {
        // Each side fills its channel with hidden messages and then waits: for room in every way there is, while the
        // other does the same and then reads. A waiting side must have published what it wrote.
        let Some(capacity) = kind.capacity() else { return };
        for way in 0..4 {
            let (there, from_there) = kind.batching();
            let (back, from_back) = kind.batching();
            let run = move |mut sender: K::Hiding<usize>, mut receiver: K::Peeking<usize>| {
                move || {
                    (0..capacity).for_each(|message| sender.write(message).unwrap());
                    let reader = thread::spawn(move || {
                        (0..=capacity).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
                    });
                    match way {
                        0 => sender.send(capacity).unwrap(),
                        1 => sender.write(capacity).unwrap(),
                        2 => block_on(sender.send_async(capacity)).unwrap(),
                        _ => sender.send_timeout(capacity, Duration::MAX).unwrap(),
                    }
                    sender.flush();
                    reader.join().unwrap();
                }
            };
            let thread = thread::spawn(run(there, from_back));
            run(back, from_there)();
            thread.join().unwrap();
        }
    });
}

pub(crate) fn a_batch_is_seen_whole<K: Batching>(kind: K) {
    guarded(move || {
        const BATCHES: usize = 2_000;
        let (mut sender, mut receiver) = kind.batching();
        let thread = thread::spawn(move || {
            let mut random = Random::new(1);
            for _ in 0..BATCHES {
                let size = 1 + random.below(kind.some(60));
                // Room for all of it, or it would be shown in pieces.
                while kind.capacity().is_some_and(|capacity| capacity - sender.len() < size) {
                    thread::yield_now();
                }
                (0..size).for_each(|index| sender.write((index, size)).unwrap());
                sender.flush();
                random.pause();
            }
        });
        for _ in 0..BATCHES {
            let (first, size) = receiver.recv().unwrap();
            assert_eq!(first, 0);
            assert!(receiver.len() >= size - 1, "only a part of the batch can be seen");
            for index in 1..size {
                assert_eq!(receiver.peek(), Some(&(index, size)));
                assert_eq!(receiver.try_recv(), Ok((index, size)));
            }
        }
        thread.join().unwrap();
    });
}

/// Claim: `peek` shows the next messages in place. Consuming them frees room.
/// Also: suite spsc::bounded_7::runs_are_shown_and_consumed.
pub(crate) fn peek_shows_what_is_received_next<K: Batching>(kind: K) {
    let tally = Tally::of(200);
    let (mut sender, mut receiver) = kind.batching();
    assert!(receiver.peek().is_none());
    for number in 0..100 {
        sender.send(tally.next()).unwrap();
        for _ in 0..2 {
            assert_eq!(receiver.peek().unwrap().number, number);
        }
        assert_eq!((receiver.len(), tally.ended()), (1, number), "a peek takes nothing");
        assert_eq!(receiver.try_recv().unwrap().number, number);
        assert!(receiver.peek().is_none());
    }
    // A message that has been peeked and not taken is dropped with the receiver, once; and survives the sender.
    sender.send(tally.next()).unwrap();
    assert_eq!(receiver.peek().unwrap().number, 100);
    drop(sender);
    assert_eq!(receiver.peek().unwrap().number, 100);
    drop(receiver);
    tally.assert_all_ended();
}

pub(crate) fn unwriting_between_flushes_across_threads<K: Batching>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 20_000;
        let tally = Tally::of(MESSAGES * 4);
        let (mut sender, receiver) = kind.batching();
        let source = tally.clone();
        let thread = thread::spawn(move || {
            let (mut random, mut next) = (Random::new(11), 0);
            while next < MESSAGES {
                for _ in 0..random.below(24) {
                    // What has no room waits for it, and shows what was hidden.
                    sender.write((next, source.next())).unwrap();
                    next += 1;
                }
                for _ in 0..random.below(12) {
                    let Some((number, _)) = sender.unwrite() else { break };
                    next -= 1;
                    assert_eq!(number, next);
                }
                if random.below(3) == 0 {
                    sender.flush();
                    random.pause();
                }
            }
            next
        });
        let mut expected = 0;
        for (number, _) in receiver {
            assert_eq!(number, expected);
            expected += 1;
        }
        assert_eq!(expected, thread.join().unwrap());
        tally.assert_all_ended();
    });
}
