//! A sender that threads share: each thread's own lane, threads that exit and channels that are dropped, user code that
//! re-enters.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use ysuite::mpsc::{self, SharedSender};
use ysuite::{RecvError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::support::{Counted, Tally, guarded, panics};

/// Claim: A shared sender keeps the order of each thread. Each thread has a lane in it, which ends with the thread.
#[test]
fn threads_share_one_sender_and_keep_their_order() {
    for bound in [None, Some(3)] {
        guarded(move || {
            const THREADS: usize = 6;
            const MESSAGES: usize = 3_000;
            let (sender, mut receiver) = bound.map_or_else(mpsc::unbounded, mpsc::bounded);
            let shared = Arc::new(sender.share());
            drop(sender);
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        // Through any clone.
                        let clone = SharedSender::clone(&shared);
                        for message in 0..MESSAGES {
                            if message % 2 == 0 {
                                shared.send((thread, message))
                            } else {
                                clone.send((thread, message))
                            }
                            .unwrap();
                        }
                    })
                })
                .collect();
            drop(shared);
            let mut next = [0; THREADS];
            for (thread, message) in receiver.iter() {
                assert_eq!(next[thread], message);
                next[thread] += 1;
            }
            assert_eq!(next, [MESSAGES; THREADS]);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!((receiver.recv(), receiver.sender_count()), (Err(RecvError), 0));
        });
    }
}

/// Claim: A shared sender counts as one sender. Dropping the last one wakes a waiting receiver.
#[test]
fn a_shared_sender_counts_as_one_however_many_threads_use_it() {
    let (sender, mut receiver) = mpsc::unbounded();
    let shared = sender.share();
    assert_eq!(receiver.sender_count(), 2);
    drop(sender);
    shared.send(1).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| shared.send(2).unwrap());
    });
    let clone = shared.clone();
    assert_eq!((shared.sender_count(), receiver.is_disconnected()), (2, false));
    let mut ordinary = shared.sender().unwrap();
    drop((shared, clone));
    ordinary.send(3).unwrap();
    assert_eq!(ordinary.downgrade().sender_count(), 1);
    drop(ordinary);
    // The lane that this thread still has keeps no thread waiting.
    assert_eq!(receiver.iter().sum::<i32>(), 6);
    assert_eq!((receiver.recv(), receiver.is_disconnected()), (Err(RecvError), true));
}

#[test]
fn the_last_shared_sender_wakes_a_receiver_that_waits() {
    guarded(|| {
        for round in 0..50 {
            let (sender, mut receiver) = mpsc::unbounded::<u8>();
            let shared = sender.share();
            drop(sender);
            let thread = thread::spawn(move || receiver.recv());
            thread::sleep(Duration::from_millis(round / 25));
            if round % 2 == 0 {
                shared.send(1).unwrap();
            }
            drop(shared);
            assert_eq!(thread.join().unwrap().is_ok(), round % 2 == 0);
        }
    });
}

#[test]
fn the_receivers_end_is_every_threads() {
    for closes in [true, false] {
        let tally = Tally::of(10);
        let (sender, mut receiver) = mpsc::unbounded();
        let shared = sender.share();
        assert!(shared.send(tally.next()).is_ok() && !shared.is_disconnected());
        if closes {
            receiver.close();
        } else {
            drop(receiver);
        }
        assert!(shared.is_disconnected());
        for _ in 0..2 {
            assert!(shared.send(tally.next()).is_err());
            assert!(shared.try_send(tally.next()).is_err_and(|error| error.is_disconnected()));
        }
        thread::scope(|scope| {
            scope.spawn(|| assert!(shared.send(tally.next()).is_err()));
        });
        drop((sender, shared));
    }
}

#[test]
fn a_shared_sender_of_a_closed_sender_is_closed() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let mut other = sender.clone();
    sender.close();
    let shared = sender.share();
    assert!(shared.is_disconnected() && shared.clone().is_disconnected());
    assert_eq!(shared.send(1), Err(SendError(1)));
    assert!(shared.sender().is_ok_and(|sender| sender.is_disconnected()));
    assert_eq!(receiver.sender_count(), 1);
    // It does not spoil the table for those of the same channel that are open.
    assert_eq!(other.share().send(2), Ok(()));
    assert_eq!(shared.send(1), Err(SendError(1)));
    assert_eq!(other.share().send(3), Ok(()));
    other.send(4).unwrap();
    drop(other);
    assert_eq!(receiver.iter().sum::<i32>(), 9);
}

#[test]
fn a_bound_is_each_threads_own() {
    let (sender, mut receiver) = mpsc::bounded(1);
    let shared = sender.share();
    assert_eq!((shared.try_send(1), shared.try_send(2)), (Ok(()), Err(TrySendError::Full(2))));
    assert_eq!(shared.send_timeout(3, Duration::ZERO), Err(SendTimeoutError::Timeout(3)));
    assert_eq!(shared.send_deadline(3, std::time::Instant::now()), Err(SendTimeoutError::Timeout(3)));
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!((shared.try_send(4), shared.try_send(5).is_err()), (Ok(()), true)));
    });
    assert_eq!((receiver.len(), shared.capacity()), (2, Some(1)));
    assert_eq!(receiver.try_iter().sum::<i32>(), 5);
    assert_eq!(shared.send_timeout(6, Duration::MAX), Ok(()));
}

#[test]
fn threads_that_end_give_their_lanes_back() {
    // The sender's own lane, and one more.
    let (sender, mut receiver) = mpsc::bounded_for(1, 2);
    let shared = sender.share();
    for round in 0..100 {
        thread::scope(|scope| {
            // Until the thread itself has ended, and not only what it was to do.
            scope.spawn(|| assert_eq!(shared.send(round), Ok(()))).join().unwrap();
        });
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(round), Err(TryRecvError::Empty)));
    }
    // While there is no place, no lane.
    let other = sender.clone();
    assert_eq!(shared.try_send(1), Err(TrySendError::Full(1)));
    assert!(panics(|| shared.send(1).unwrap()).contains("maximal number of senders"));
    drop(other);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((shared.try_send(2), receiver.recv()), (Ok(()), Ok(2)));
}

#[test]
fn a_thread_that_sends_by_thousands_of_shared_senders_keeps_few_lanes() {
    let mut open = Vec::new();
    for number in 0..3_000 {
        let (sender, mut receiver) = mpsc::unbounded();
        let shared = sender.share();
        shared.send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
        if number % 100 == 0 {
            open.push((shared, receiver));
        }
    }
    // In any order, with what had gone in between.
    for (shared, receiver) in open.iter_mut().rev() {
        shared.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    }
}

/// Channels by which this thread has sent unreceived messages: each has a lane that stays.
fn channels_in_use(channels: usize) -> Vec<(SharedSender<u8>, mpsc::Receiver<u8>)> {
    let in_use = |_| {
        let (sender, receiver) = mpsc::unbounded();
        let shared = sender.share();
        shared.send(0).unwrap();
        (shared, receiver)
    };
    (0..channels).map(in_use).collect()
}

#[test]
fn a_lane_goes_when_it_is_empty_and_has_not_been_used_for_long() {
    // A thread that has no lanes yet.
    let thread = thread::spawn(|| {
        // The sender's own lane, and one more.
        let (sender, mut receiver) = mpsc::bounded_for(1, 2);
        let (full_sender, _full_receiver) = mpsc::bounded(1);
        let (shared, full) = (sender.share(), full_sender.share());
        assert_eq!((shared.send(1), receiver.recv(), full.send(1)), (Ok(()), Ok(1), Ok(())));
        // The thread has swept its lanes, and will do so again when their number has doubled.
        let _some = channels_in_use(70);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(sender.try_clone().is_err(), "a lane that was used of late stays");
        let _others = channels_in_use(70);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(sender.try_clone().is_ok(), "one that was not gives its place back");
        assert_eq!(full.try_send(2), Err(TrySendError::Full(2)), "one that is not empty stays");
    });
    thread.join().unwrap();
}

/// Sends when it is dropped.
struct Late(&'static SharedSender<u32>, u32);

impl Drop for Late {
    fn drop(&mut self) {
        self.0.send(self.1).unwrap();
    }
}

thread_local! {
    static LATE: RefCell<Vec<Late>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn thread_locals_that_are_destroyed_may_send() {
    static SHARED: OnceLock<SharedSender<u32>> = OnceLock::new();
    let (sender, mut receiver) = mpsc::unbounded();
    let shared = SHARED.get_or_init(|| sender.share());
    for first in [true, false] {
        thread::spawn(move || {
            // The table of lanes is made before or after, and so destroyed after or before.
            if first {
                shared.send(0).unwrap();
            }
            LATE.with(|late| late.borrow_mut().extend((1..5).map(|number| Late(shared, number))));
            shared.send(0).unwrap();
        })
        .join()
        .unwrap();
        assert_eq!(receiver.try_iter().sum::<u32>(), 10);
    }
}

#[test]
fn a_waker_may_send_from_within_a_send() {
    struct Echo(SharedSender<u32>);
    impl Wake for Echo {
        fn wake(self: Arc<Self>) {
            self.0.send(2).unwrap();
        }
    }
    let (sender, mut receiver) = mpsc::unbounded();
    let shared = sender.share();
    let waker = Waker::from(Arc::new(Echo(shared.clone())));
    assert!(receiver.poll_recv(&mut Context::from_waker(&waker)).is_pending());
    shared.send(1).unwrap();
    let mut received: Vec<_> = receiver.try_iter().collect();
    received.sort_unstable();
    assert_eq!(received, [1, 2]);
}

#[test]
fn a_message_that_is_dropped_at_the_end_may_send() {
    struct Again(SharedSender<Again>);
    impl Drop for Again {
        fn drop(&mut self) {
            assert!(self.0.sender_count() > 0);
            // There is no receiver: it comes back, and must not send in its turn.
            if let Ok(sender) = self.0.sender() {
                assert!(sender.is_disconnected());
            }
        }
    }
    let (sender, receiver) = mpsc::unbounded();
    let shared = sender.share();
    (0..3).for_each(|_| assert!(shared.send(Again(shared.clone())).is_ok()));
    drop(receiver);
    assert!(shared.send(Again(shared.clone())).is_err());
}

/// It ends before the panic that says why: two panics at once would end the process.
#[test]
fn a_message_for_which_there_is_no_lane_may_panic_as_it_is_dropped() {
    let (sender, _receiver) = mpsc::bounded_for(1, 1);
    let (shared, tally) = (sender.share(), Tally::of(3));
    for way in 0..3 {
        tally.explode(way);
        let text = panics(|| match way {
            0 => drop(shared.send(tally.next())),
            1 => drop(shared.send_timeout(tally.next(), Duration::MAX)),
            _ => drop(shared.send_deadline(tally.next(), std::time::Instant::now())),
        });
        assert_eq!(text, format!("the end of message {way}"));
    }
    tally.assert_all_ended();
}

/// What was left in a lane may be dropped by the lane, after a message that comes back.
#[test]
fn a_refused_message_ends_with_a_lane_whose_messages_panic() {
    struct Last(Option<(SharedSender<Last>, Tally)>, #[allow(dead_code)] Counted);
    impl Drop for Last {
        fn drop(&mut self) {
            let Some((shared, tally)) = self.0.take() else { return };
            assert_eq!(panics(|| drop(shared.send(Last(None, tally.next())))), "the end of message 1");
        }
    }
    for is_recent in [true, false] {
        let tally = Tally::of(3);
        // The one that comes back after the first panic is a second.
        tally.explode_all(1..3);
        let ((sender, receiver), (other, _other_in)) = (mpsc::bounded(1), mpsc::unbounded());
        let (shared, other) = (sender.share(), other.share());
        // The lane of this thread is after that of the other thread, and full.
        thread::scope(|scope| {
            let first = Last(Some((shared.clone(), tally.clone())), tally.next());
            scope.spawn(|| assert!(shared.send(first).is_ok())).join().unwrap();
        });
        assert!(shared.send(Last(None, tally.next())).is_ok());
        if !is_recent {
            other.send(()).unwrap();
        }
        drop(receiver);
        tally.assert_all_ended();
        assert_eq!(tally.made(), 3);
    }
}
