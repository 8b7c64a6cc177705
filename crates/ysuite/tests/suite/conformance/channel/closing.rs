//! A channel that one of its handles closes: what is still received, what comes back, and which side is notified.

use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use ysuite::signal::{Attach, Wait, YPollset};
use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use super::{Batching, Hiding, Peeking, Piping, Receiving, Sending};
use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Counted, Random, Tally, guarded, panics};

/// Numbers of messages, up to what the channel holds: at and around every border.
fn lengths<K: Batching>(kind: K) -> impl Iterator<Item = usize> {
    [0, 1, 2, 6, 7, 8, 14, 15, 100, 112, 113, 2_000, 20_000].into_iter().map(move |messages| kind.some(messages))
}

pub(crate) fn a_closed_channel_gives_what_was_sent_and_then_ends<K: Batching>(kind: K) {
    for messages in lengths(kind) {
        for taken in [0, 1, messages / 2, messages] {
            let (mut sender, mut receiver) = kind.batching();
            (0..messages).for_each(|message| sender.send(message).unwrap());
            let taken = taken.min(messages);
            assert!(receiver.try_iter().take(taken).eq(0..taken));
            assert!(!receiver.is_disconnected());
            assert!(receiver.close());
            assert!(receiver.is_disconnected() && sender.is_disconnected());
            assert_eq!(sender.send(7), Err(SendError(7)));
            for expected in taken..messages {
                assert_eq!((receiver.len(), sender.len()), (messages - expected, messages - expected));
                assert_eq!(receiver.recv(), Ok(expected));
            }
            assert_eq!((receiver.len(), receiver.is_empty(), sender.is_empty()), (0, true, true));
            assert_eq!((receiver.recv(), receiver.try_recv()), (Err(RecvError), Err(TryRecvError::Disconnected)));
        }
    }
}

pub(crate) fn every_way_of_receiving_ends_at_the_cut<K: Batching>(kind: K) {
    for messages in lengths(kind) {
        for way in 0..9 {
            let (mut sender, mut receiver) = kind.batching();
            (0..messages).for_each(|message| sender.send(message).unwrap());
            receiver.close();
            // Beyond the cut, and taken back.
            assert!((0..3).all(|message| sender.send(message).is_err()));
            let received: Vec<usize> = match way {
                0 => receiver.iter().collect(),
                1 => receiver.try_iter().collect(),
                2 => {
                    let mut all = Vec::new();
                    while receiver.recv_batch(&mut all, 10).is_ok() {}
                    all
                }
                3 => {
                    let mut all = Vec::new();
                    let expected = if messages == 0 { Err(TryRecvError::Disconnected) } else { Ok(messages) };
                    assert_eq!(receiver.try_recv_batch(&mut all, usize::MAX), expected);
                    all
                }
                4 => std::iter::from_fn(|| block_on(receiver.recv_async()).ok()).collect(),
                5 => std::iter::from_fn(|| receiver.recv_timeout(Duration::ZERO).ok()).collect(),
                6 => std::iter::from_fn(|| {
                    let next = receiver.peek().copied();
                    assert_eq!(receiver.try_recv().ok(), next);
                    next
                })
                .collect(),
                7 => {
                    let mut all = Vec::new();
                    while !receiver.peek_run().is_empty() {
                        all.extend(receiver.peek_run());
                        let run = receiver.peek_run().len();
                        receiver.consume(run);
                    }
                    all
                }
                _ => {
                    let mut all = Vec::new();
                    while block_on(receiver.recv_batch_async(&mut all, 5)).is_ok() {}
                    all
                }
            };
            assert!(received.into_iter().eq(0..messages), "way {way}, {messages} messages");
            assert_eq!(receiver.recv_timeout(Duration::from_secs(99)), Err(RecvTimeoutError::Disconnected));
            assert!(receiver.peek().is_none() && receiver.peek_run().is_empty() && receiver.iter().next().is_none());
        }
    }
}

pub(crate) fn sends_after_the_close_give_the_message_back<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    receiver.close();
    assert_eq!(sender.send(1), Err(SendError(1)));
    assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    assert_eq!(sender.send_timeout(3, Duration::ZERO), Err(SendTimeoutError::Disconnected(3)));
    assert_eq!(block_on(sender.send_async(4)), Err(SendError(4)));
    // Those that were taken from the iterator come back, in order; a bound keeps some in the iterator.
    let mut batch = 5..30;
    let SendError(back) = sender.send_batch(&mut batch).unwrap_err();
    assert!(!back.is_empty() && back.iter().copied().eq(5..5 + back.len()));
    assert!(sender.try_reserve().is_err_and(|error| error.is_disconnected()));
    assert!(sender.reserve().is_err() && sender.reserve_many(1).is_err_and(|error| error.is_disconnected()));
    // Many times: nothing piles up.
    (0..3_000).for_each(|message| assert_eq!(sender.send(message), Err(SendError(message))));
    assert_eq!((sender.len(), receiver.len(), receiver.recv()), (0, 0, Err(RecvError)));
}

pub(crate) fn hidden_messages_at_the_close<K: Batching>(kind: K) {
    for hidden in [1, 2, 7, 8, 30, 500].map(|hidden| kind.some(hidden)) {
        let tally = Tally::of(hidden * 2);
        let (mut sender, mut receiver) = kind.batching();
        tally.some(hidden).for_each(|message| sender.write(message).unwrap());
        receiver.close();
        // They are the sender's: taken back one by one, or dropped by a flush.
        assert_eq!(sender.unwrite().unwrap().number, hidden - 1);
        assert!(sender.flush());
        assert_eq!((tally.ended(), receiver.len(), sender.len()), (hidden, 0, 0));
        assert!(sender.unwrite().is_none() && receiver.try_recv().is_err());
        // Or they go with the sender; and what the next send finds is its own message.
        let (mut sender, mut receiver) = kind.batching();
        tally.some(hidden - 1).for_each(|message| sender.write(message).unwrap());
        receiver.close();
        let SendError(back) = sender.send(tally.next()).unwrap_err();
        assert_eq!((back.number, tally.ended()), (2 * hidden - 1, 2 * hidden - 1));
        drop((back, sender));
        assert!(receiver.recv().is_err());
        tally.assert_all_ended();
    }
    let tally = Tally::of(3);
    let (mut sender, mut receiver) = kind.batching();
    assert!(sender.write(tally.next()).is_ok());
    receiver.close();
    drop(sender);
    assert!(receiver.recv().is_err());
    tally.assert_all_ended();
}

pub(crate) fn a_receiver_that_closes_and_goes_drops_what_is_left<K: Batching>(kind: K) {
    for messages in lengths(kind) {
        let tally = Tally::of(messages + 2);
        let (mut sender, mut receiver) = kind.batching();
        tally.some(messages).for_each(|message| sender.send(message).unwrap());
        receiver.close();
        drop(receiver.try_recv());
        let back = sender.send(tally.next());
        drop(receiver);
        assert_eq!(tally.ended(), messages);
        drop(back);
        assert!(sender.send(tally.next()).is_err());
        drop(sender);
        tally.assert_all_ended();
    }
}

pub(crate) fn closing_again_is_nothing<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    sender.send(1).unwrap();
    assert!(receiver.close() && !receiver.close() && !sender.close() && !sender.close());
    assert_eq!((receiver.recv(), receiver.recv(), receiver.close()), (Ok(1), Err(RecvError), false));
    let (mut sender, mut receiver) = kind.batching();
    sender.send(1).unwrap();
    assert!(sender.close() && !sender.close() && !receiver.close());
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Err(RecvError)));
    let (mut sender, receiver) = kind.batching::<u8>();
    drop(receiver);
    assert!(!sender.close() && sender.send(1).is_err());
    let (sender, mut receiver) = kind.batching::<u8>();
    drop(sender);
    assert!(!receiver.close());
}

pub(crate) fn a_sender_that_closes_has_said_all<K: Batching>(kind: K) {
    for messages in lengths(kind) {
        let tally = Tally::of(messages + 5);
        let (mut sender, mut receiver) = kind.batching();
        tally.some(messages).for_each(|message| sender.write(message).unwrap());
        assert!(receiver.try_recv().is_err());
        assert!(sender.close());
        assert!(sender.is_disconnected() && receiver.is_disconnected());
        assert_eq!(receiver.len(), messages);
        let length = sender.len();
        assert!(
            sender.send(tally.next()).is_err() && sender.try_send(tally.next()).is_err_and(|e| e.is_disconnected())
        );
        assert!(sender.write(tally.next()).is_err() && block_on(sender.send_async(tally.next())).is_err());
        assert!(sender.send_batch(&mut tally.some(1)).is_err_and(|error| error.0.len() == 1));
        assert!(sender.unwrite().is_none() && sender.flush() && sender.wait_closed_timeout(Duration::MAX));
        assert_eq!((sender.len(), receiver.iter().count()), (length, messages));
        drop(sender);
        assert!(receiver.recv().is_err());
        tally.assert_all_ended();
    }
}

pub(crate) fn close_wakes_a_sender_that_waits_for_room<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    guarded(move || {
        for round in 0..20 {
            let (mut sender, mut receiver) = kind.batching();
            (0..capacity).for_each(|message| sender.send(message).unwrap());
            let thread = thread::spawn(move || match round % 4 {
                0 => sender.send(capacity).is_err(),
                1 => sender.send_timeout(capacity, Duration::MAX).is_err_and(|error| error.is_disconnected()),
                2 => sender.write(capacity).is_err(),
                _ => sender.reserve_many(capacity.min(2)).is_err_and(|error| error.is_disconnected()),
            });
            thread::sleep(Duration::from_millis(round / 4));
            assert!(receiver.close());
            assert!(thread.join().unwrap());
            assert!(receiver.iter().eq(0..capacity));
        }
    });
}

pub(crate) fn close_wakes_a_task_that_waits_for_room<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let (mut sender, mut receiver) = kind.batching();
    (0..capacity).for_each(|message| sender.send(message).unwrap());
    let task = Task::default();
    let mut future = sender.send_async(capacity);
    assert!(poll_once(&mut future, &task).is_pending());
    receiver.close();
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Err(SendError(capacity))));
    drop(future);
    assert_eq!(task.held(), 0);
    assert!(receiver.iter().eq(0..capacity));
}

/// How many messages a race has at most.
const TALLIED: usize = 1_000_000;

/// Sends in every way, until a send is refused. What came back is returned as well; what was sent must be received.
fn send_until_refused<S: Piping<Counted>>(sender: &mut S, tally: &Tally, round: usize) -> usize {
    let mut sent = 0;
    loop {
        // The closing thread may have been preempted for so long that the tally would be too small.
        while tally.made() > TALLIED - 10 && !sender.is_disconnected() {
            thread::yield_now();
        }
        let (message, mut taken) = (tally.next(), 0);
        let refused = match (round + sent) % 5 {
            0 => sender.send(message).is_err(),
            1 => match sender.try_send(message) {
                Ok(()) => false,
                Err(TrySendError::Full(_)) => continue,
                Err(TrySendError::Disconnected(_)) => true,
            },
            2 => {
                // Together or not at all.
                if sender.write(message).is_err() {
                    true
                } else {
                    sender.send(tally.next()).map(|()| sent += 1).is_err()
                }
            }
            3 => match sender.reserve() {
                Ok(permit) => permit.send_with(|| message).is_err(),
                Err(_) => true,
            },
            _ => match sender.send_batch(&mut tally.some(3).inspect(|_| taken += 1)) {
                Ok(3) => {
                    sent += 2;
                    false
                }
                Ok(_) => unreachable!("not the whole batch"),
                // With a bound a batch goes in pieces.
                Err(SendError(back)) => {
                    sent += taken - back.len();
                    return sent;
                }
            },
        };
        if refused {
            return sent;
        }
        sent += 1;
    }
}

fn race<K: Batching>(kind: K, rounds: usize, then_drop: bool) {
    guarded(move || {
        let mut random = Random::new(11);
        for round in 0..rounds {
            let tally = Tally::of(TALLIED);
            let (mut sender, mut receiver) = kind.batching();
            let start = Arc::new(Barrier::new(2));
            let (at_start, tallied) = (start.clone(), tally.clone());
            let thread = thread::spawn(move || {
                at_start.wait();
                let sent = send_until_refused(&mut sender, &tallied, round);
                assert!(sender.is_disconnected() && sender.send(tallied.next()).is_err());
                (sender, sent)
            });
            start.wait();
            let mut received = 0;
            for _ in 0..random.below(40) {
                received += usize::from(receiver.try_recv().is_ok());
                random.pause();
            }
            assert!(receiver.close());
            if then_drop {
                drop(receiver);
                let (sender, _) = thread.join().unwrap();
                tally.assert_all_ended();
                drop(sender);
            } else {
                received += receiver.iter().count();
                let (sender, sent) = thread.join().unwrap();
                // With a bound some of a divided batch, or of what was hidden, may have been received besides.
                assert!(received >= sent && received <= sent + 3, "{received} received, {sent} sent");
                tally.assert_all_ended();
                drop((sender, receiver));
            }
            tally.assert_all_ended();
        }
    });
}

pub(crate) fn close_racing_with_every_send<K: Batching>(kind: K) {
    race(kind, 50, false);
}

pub(crate) fn close_and_drop_racing_with_every_send<K: Batching>(kind: K) {
    race(kind, 50, true);
}

/// The sender goes, with chunks full of messages that come back to it, while the receiver may still read how far they
/// reach. Only a sanitizer sees more here than the count.
pub(crate) fn the_senders_end_beyond_the_cut_racing_with_the_close<K: Batching>(kind: K) {
    guarded(move || {
        for round in 0..50 {
            // A few large messages fill a chunk.
            let (mut sender, mut receiver) = kind.batching::<[usize; 32]>();
            let mut sent = kind.some(14);
            (0..sent).for_each(|number| sender.send([number; 32]).unwrap());
            let thread = thread::spawn(move || {
                if round % 2 == 0 {
                    while sender.send([sent; 32]).is_ok() {
                        sent += 1;
                    }
                }
                // Beyond the cut, unless it is decided after these.
                let written = (sent..sent + 600).take_while(|number| sender.write([*number; 32]).is_ok()).count();
                drop(sender);
                (sent, written)
            });
            receiver.close();
            let received: Vec<_> = receiver.into_iter().collect();
            let (sent, written) = thread.join().unwrap();
            assert!(received.iter().enumerate().all(|(index, message)| *message == [index; 32]));
            assert!((sent..=sent + written).contains(&received.len()), "{} of {sent}", received.len());
        }
    });
}

pub(crate) fn the_senders_close_racing_with_receiving<K: Batching>(kind: K) {
    guarded(move || {
        for round in 0..200 {
            let (mut sender, mut receiver) = kind.batching();
            let thread = thread::spawn(move || {
                let messages = round % 40;
                (0..messages).for_each(|message| sender.send(message).unwrap());
                assert!(sender.close());
                (sender, messages)
            });
            let received = receiver.iter().count();
            assert_eq!(received, thread.join().unwrap().1);
        }
    });
}

pub(crate) fn waiting_for_the_receivers_end<K: Batching>(kind: K) {
    guarded(move || {
        for round in 0..20 {
            let (mut sender, mut receiver) = kind.batching::<usize>();
            assert!(!sender.wait_closed_timeout(Duration::ZERO));
            assert!(!sender.wait_closed_timeout(Duration::from_micros(10)));
            sender.send(1).unwrap();
            let thread = thread::spawn(move || {
                sender.wait_closed();
                assert!(sender.is_disconnected() && sender.wait_closed_timeout(Duration::ZERO));
                sender.wait_closed();
            });
            thread::sleep(Duration::from_millis(round / 5));
            // Messages that are received are no disconnect.
            assert_eq!(receiver.recv(), Ok(1));
            if round % 2 == 0 {
                receiver.close();
            } else {
                drop(receiver);
            }
            thread.join().unwrap();
        }
    });
}

pub(crate) fn tasks_wait_for_the_receivers_end<K: Batching>(kind: K) {
    // A few, and enough waiters for several blocks of the list.
    for (closes, waiting) in [(true, 2), (false, 2), (true, 130), (false, 130)] {
        let (mut sender, mut receiver) = kind.batching();
        (0..kind.some(5)).for_each(|message| sender.send(message).unwrap());
        let tasks: Vec<_> = (0..=waiting).map(|_| Task::default()).collect();
        let woken = || tasks.iter().map(Task::woken).collect::<Vec<_>>();
        let mut futures: Vec<_> = tasks.iter().map(|_| sender.closed()).collect();
        for (future, task) in futures.iter_mut().zip(&tasks) {
            assert!(poll_once(future, task).is_pending());
        }
        // A dropped future leaves nothing; a receiver that only receives wakes no sender.
        drop(futures.pop());
        assert_eq!(tasks[waiting].held(), 0);
        assert_eq!(receiver.try_iter().count(), kind.some(5));
        assert_eq!(woken(), vec![0; waiting + 1]);
        if closes {
            receiver.close();
        } else {
            drop(receiver);
        }
        assert_eq!((&woken()[..waiting], tasks[waiting].woken()), (&vec![1; waiting][..], 0));
        for (future, task) in futures.iter_mut().zip(&tasks) {
            assert!(poll_once(future, task).is_ready());
        }
        drop(futures);
        block_on(sender.closed());
        assert!(tasks.iter().all(|task| task.held() == 0));
    }
}

pub(crate) fn an_attached_receiver_that_closes_is_up<K: Batching>(kind: K)
where
    K::Peeking<usize>: Attach,
{
    let (mut sender, mut receiver) = kind.batching();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 5).unwrap();
    assert!(receiver.try_recv().is_err() && set.check().is_empty());
    sender.send(1_usize).unwrap();
    assert!(set.check().eq([5]));
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    assert!(set.check().is_empty());
    receiver.close();
    assert!(set.check().eq([5]), "the disconnect raises the id");
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert!(sender.send(2).is_err() && receiver.peek().is_none());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

/// Claim: After a close, the reader follows nothing beyond the cut, also in another chunk and where lap counts wrap.
/// Also: unit queue::ypipe::wrapping::a_cut_holds_where_laps_wrap.
pub(crate) fn a_closed_channel_across_chunks<K: Batching>(kind: K) {
    // The cut within a chunk, at its end and after it; what the sender has taken back is further on.
    for messages in (0..260).map(|messages| kind.some(messages)) {
        let (mut sender, mut receiver) = kind.batching();
        (0..messages).for_each(|message| sender.send([message; 60]).unwrap());
        receiver.close();
        let SendError(back) = sender.send_batch(&mut (0..40).map(|number| [number; 60])).unwrap_err();
        assert!(back.iter().zip(0..).all(|(back, number)| *back == [number; 60]));
        for expected in 0..messages {
            assert_eq!(receiver.try_recv().unwrap(), [expected; 60]);
        }
        assert!(sender.send([0; 60]).is_err() && receiver.try_recv().is_err_and(|error| error.is_disconnected()));
    }
}

pub(crate) fn panicking_drops_at_the_cut<K: Batching>(kind: K) {
    let messages = kind.some(30);
    // Those beyond the cut: dropped by a flush.
    let tally = Tally::of(messages);
    let (mut sender, mut receiver) = kind.batching();
    tally.some(messages).for_each(|message| sender.write(message).unwrap());
    receiver.close();
    tally.explode(messages / 2);
    assert!(panics(|| assert!(sender.flush())).contains(&format!("message {}", messages / 2)));
    tally.assert_all_ended();
    assert!(receiver.recv().is_err());
    // Those below it: dropped with the receiver.
    let tally = Tally::of(messages + 1);
    let (mut sender, mut receiver) = kind.batching();
    tally.some(messages).for_each(|message| sender.send(message).unwrap());
    receiver.close();
    tally.explode(messages / 2);
    assert!(panics(|| drop(receiver)).contains(&format!("message {}", messages / 2)));
    assert!(sender.send(tally.next()).is_err());
    tally.assert_all_ended();
    // The sender's own close, of hidden messages that will not be received.
    let tally = Tally::of(messages);
    let (mut sender, mut receiver) = kind.batching();
    tally.some(messages).for_each(|message| sender.write(message).unwrap());
    receiver.close();
    tally.explode(0);
    assert!(panics(|| assert!(sender.close())).contains("message 0"));
    assert!(!sender.close());
    tally.assert_all_ended();
}
