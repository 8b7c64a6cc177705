//! The unbounded mpmc queue under the model checker: segments that are linked, retired and used again, against threads
//! that come late. Segments have two slots here.
//!
//! A slot that two threads have at once shows as a race on it; a lost message as an assertion, or as a deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::future::block_on;
use loom::thread;
use ysuite::TryRecvError;
use ysuite::mpmc::{self, Receiver, Sender};

use crate::{Counted, model_up_to};

fn send_some(sender: Sender<u32>, messages: std::ops::Range<u32>) -> thread::JoinHandle<()> {
    thread::spawn(move || messages.for_each(|message| sender.send(message).unwrap()))
}

/// Sends and receives across the ends of some segments, so that there is one to be used again, and no fence is
/// promised.
fn warm_up(sender: &Sender<u32>, receiver: &Receiver<u32>, messages: u32) {
    for message in 0..messages {
        sender.send(message).unwrap();
        assert_eq!(receiver.recv(), Ok(message));
    }
}

/// The first segment, and then the second, are each needed by both at once.
///
/// Claim: When several senders of an unbounded `mpmc` channel need the next segment at once, one segment is linked.
/// Also: unit queue::exchange::segments::chain::models::who_comes_too_late_to_extend_the_chain_puts_its_segment_back,
/// unit queue::exchange::segments::tests::many_threads_and_small_segments.
#[test]
fn two_senders_need_the_next_segment() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::unbounded();
        let threads = [send_some(sender.clone(), 0..2), send_some(sender, 10..12)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let all: Vec<u32> = receiver.iter().collect();
        assert_eq!(all.len(), 4);
        for from in [0, 10] {
            assert!(all.iter().copied().filter(|message| message / 10 == from / 10).eq(from..from + 2));
        }
    });
}

/// Claim: Receivers follow the senders into the next segment.
#[test]
fn a_receiver_follows_two_senders_into_the_next_segment() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::unbounded();
        let threads = [send_some(sender.clone(), 0..2), send_some(sender, 10..11)];
        let mut sum = 0;
        while let Ok(message) = receiver.recv() {
            sum += message;
        }
        assert_eq!(sum, 11);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// The other receiver reads a segment, or has claimed a slot there, while this thread takes the rest, and sends enough
/// messages that segments are used again.
fn a_late_receiver(prepared: u32, more: u32) {
    let (sender, receiver) = mpmc::unbounded();
    warm_up(&sender, &receiver, prepared);
    sender.send(100).unwrap();
    let other = receiver.clone();
    let late = thread::spawn(move || match other.try_recv() {
        Ok(message) => vec![message],
        Err(error) => {
            assert_eq!(error, TryRecvError::Empty);
            vec![]
        }
    });
    let mut mine = Vec::new();
    for message in 101..101 + more {
        sender.send(message).unwrap();
        mine.extend(receiver.try_recv().ok());
    }
    let theirs = late.join().unwrap();
    drop(sender);
    mine.extend(receiver.iter());
    assert!(mine.is_sorted(), "{mine:?}");
    mine.extend(theirs);
    mine.sort_unstable();
    assert!(mine.iter().copied().eq(100..101 + more), "{mine:?}");
}

#[test]
fn a_late_receiver_in_the_first_segment() {
    model_up_to(3, || a_late_receiver(0, 4));
}

#[test]
fn a_late_receiver_at_the_end_of_a_segment() {
    model_up_to(3, || a_late_receiver(1, 5));
}

/// Claim: A segment is reused only after all its messages were read. A thread with a stale position or segment claims
/// nothing.
/// Also: unit queue::exchange::segments::models::a_reader_whose_segment_is_retired_meanwhile_takes_what_is_behind_it,
/// unit queue::exchange::segments::chain::models::a_walk_through_a_segment_that_is_used_again_begins_anew.
#[test]
fn a_late_receiver_in_a_segment_that_is_used_again() {
    model_up_to(2, || a_late_receiver(4, 5));
}

/// The other sender has a position, or a segment, of long ago.
#[test]
fn a_late_sender() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::unbounded();
        warm_up(&sender, &receiver, 2);
        let late = send_some(sender.clone(), 100..101);
        let mut mine = Vec::new();
        for message in 0..4 {
            sender.send(message).unwrap();
            mine.extend(receiver.try_recv().ok());
        }
        late.join().unwrap();
        drop(sender);
        mine.extend(receiver.iter());
        mine.sort_unstable();
        assert_eq!(mine, [0, 1, 2, 3, 100]);
    });
}

/// Both empty a segment, and either may be the one that retires it while the other has not finished.
///
/// Claim: Either of two receivers that empty segments may retire them, including those that the other one has left.
/// Also: unit queue::exchange::segments::tests::a_slow_reader_keeps_one_segment.
#[test]
fn two_receivers_empty_the_same_segments() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::unbounded();
        sender.send_batch(0..4).unwrap();
        let other = receiver.clone();
        let thread = thread::spawn(move || (other.recv().unwrap(), other.recv().unwrap()));
        let mine = (receiver.recv().unwrap(), receiver.recv().unwrap());
        // Into segments that have been emptied, if both receivers have finished.
        (0..4).for_each(|message| sender.send(message).unwrap());
        let theirs = thread.join().unwrap();
        assert!(mine.0 < mine.1 && theirs.0 < theirs.1);
        assert_eq!(mine.0 + mine.1 + theirs.0 + theirs.1, 6);
        assert!(receiver.try_iter().eq(0..4));
    });
}

#[test]
fn a_batch_against_a_receiver_of_batches() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::unbounded();
        let thread = thread::spawn(move || assert_eq!(sender.send_batch(0..5), Ok(5)));
        let mut received = Vec::new();
        while receiver.recv_batch(&mut received, 3).is_ok() {}
        thread.join().unwrap();
        assert_eq!(received, [0, 1, 2, 3, 4]);
    });
}

/// Messages taken with one claim are consecutive, even across two segments, or three.
fn batches_of_one_piece(messages: u32, mine: usize, theirs: usize, more: u32) {
    let (sender, receiver) = mpmc::unbounded();
    sender.send_batch(0..messages).unwrap();
    let other = receiver.clone();
    let take = move |receiver: Receiver<u32>, most| {
        let mut taken = Vec::new();
        receiver.try_recv_batch(&mut taken, most).unwrap();
        assert!(taken.windows(2).all(|pair| pair[1] == pair[0] + 1), "{taken:?}");
        taken
    };
    let thread = thread::spawn(move || take(other, theirs));
    let mut all = take(receiver.clone(), mine);
    // Into segments that have been emptied, if both receivers have finished.
    (messages..messages + more).for_each(|message| sender.send(message).unwrap());
    all.extend(thread.join().unwrap());
    all.extend(receiver.try_iter());
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..messages + more), "{all:?}");
}

/// Claim: Batches cross segment borders, and the messages of one claim lie together.
/// Also: unit queue::exchange::segments::models::two_batches_at_once_lie_one_behind_the_other,
/// unit queue::exchange::segments::tests::batches_go_over_the_ends_of_segments.
#[test]
fn a_batch_over_the_end_of_a_segment_against_a_receiver() {
    model_up_to(1, || batches_of_one_piece(4, 3, 1, 0));
}

#[test]
fn batches_over_the_ends_of_segments() {
    model_up_to(1, || batches_of_one_piece(6, 4, 4, 3));
}

#[test]
fn publishing_against_two_receivers_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::unbounded();
        let alive = sender.clone();
        let other = receiver.clone();
        let other = thread::spawn(move || other.recv().unwrap());
        let thread = send_some(sender, 1..4);
        let mine = receiver.recv().unwrap() + receiver.recv().unwrap();
        assert_eq!(mine + other.join().unwrap(), 6);
        thread.join().unwrap();
        drop(alive);
    });
}

#[test]
fn the_free_barrier_against_a_receiver_going_to_sleep() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::unbounded();
        let alive = sender.clone();
        let thread = send_some(sender, 0..3);
        (0..3).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
        thread.join().unwrap();
        drop(alive);
    });
}

#[test]
fn a_task_is_woken() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::unbounded();
        let thread = send_some(sender, 1..4);
        block_on(async {
            for expected in 1..4 {
                assert_eq!(receiver.recv_async().await, Ok(expected));
            }
            assert!(receiver.recv_async().await.is_err());
        });
        thread.join().unwrap();
    });
}

/// A receiver that never waits is disconnected, and has everything then.
#[test]
fn the_last_senders_end_is_seen_behind_what_another_has_sent() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::unbounded();
        warm_up(&sender, &receiver, 1);
        let other = sender.clone();
        let threads = [send_some(other, 1..3), thread::spawn(move || drop(sender))];
        let mut received = Vec::new();
        loop {
            match receiver.try_recv() {
                Ok(message) => received.push(message),
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        assert_eq!(received, [1, 2]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A sender has claimed a slot, and has not written it, when the last receiver closes the channel and drops what is there.
///
/// Notices: crossbeam#1187, the fix of a leaked first block frees it twice.
#[test]
fn the_last_receivers_end_against_sending() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::unbounded();
        let sending: Vec<_> = [1, 2]
            .map(|messages| {
                let (sender, ended) = (sender.clone(), ended.clone());
                thread::spawn(move || {
                    for _ in 0..messages {
                        drop(sender.send(Counted(ended.clone())));
                    }
                })
            })
            .into();
        drop(receiver);
        sending.into_iter().for_each(|thread| thread.join().unwrap());
        // No message is stranded in the channel while a sender is alive.
        assert_eq!(ended.load(Ordering::Relaxed), 3);
        assert!(sender.send(Counted(ended.clone())).is_err());
    });
}
