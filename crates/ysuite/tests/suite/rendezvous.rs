//! The rendezvous, `bounded(0)`: of every kind of channel, in every way of waiting. Models of its handshakes are in
//! `tests/loom/rendezvous.rs`.

mod ended;
mod foreign;
mod told;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::conformance::channel::{Kind, Receiving, Sending};
use crate::support::executor::{Task, block_on, poll_once};
use crate::support::interrupt::Interruptions;
use crate::support::{Random, Tally, guarded};
use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, Spin, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc, spsc};

/// How long a wait is that must time out.
const SHORT: Duration = Duration::from_micros(200);

/// A rendezvous between handles of one kind.
macro_rules! kinds {
    ($($name:ident: $module:ident, $tells_one:literal, |$sender:ident| $another:expr);* $(;)?) => {
        $(#[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Kind for $name {
            type Sender<T: Send + 'static> = $module::Sender<T>;
            type Receiver<T: Send + 'static> = $module::Receiver<T>;
            const TELLS_ONE: bool = $tells_one;
            fn capacity(self) -> Option<usize> {
                Some(0)
            }
            fn pair<T: Send + 'static>(self) -> ($module::Sender<T>, $module::Receiver<T>) {
                $module::bounded(0)
            }
            fn another<T: Send + 'static>($sender: &$module::Sender<T>) -> Option<$module::Sender<T>> {
                $another
            }
        })*
    };
}

kinds!(
    PipeMeeting: spsc, true, |_sender| None;
    FunnelMeeting: mpsc, true, |sender| Some(sender.clone());
    ExchangeMeeting: mpmc, true, |sender| Some(sender.clone());
);

macro_rules! of_every_kind {
    ($($test:ident),* $(,)?) => {
        mod pipe { $(#[test] fn $test() { super::$test(super::PipeMeeting) })* }
        mod funnel { $(#[test] fn $test() { super::$test(super::FunnelMeeting) })* }
        mod exchange { $(#[test] fn $test() { super::$test(super::ExchangeMeeting) })* }
    };
}

of_every_kind!(
    nobody_waits,
    messages_pass_from_hand_to_hand,
    a_send_returns_when_the_message_has_been_received,
    try_send_meets_a_receiver_that_waits,
    try_recv_meets_a_sender_that_waits,
    waits_that_end_in_vain_leave_nothing_behind,
    an_end_that_goes_wakes_the_other,
    batches_are_handed_over_one_by_one,
    tasks_meet_tasks_and_threads,
    a_dropped_future_has_not_sent,
    a_receiving_future_dropped_at_the_handover_gives_the_message_back,
    messages_end_once_whatever_happens,
    streams_in_every_way,
);

fn nobody_waits<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let sizes = (sender.len(), sender.is_empty(), sender.is_full(), sender.capacity(), sender.is_disconnected());
    assert_eq!(sizes, (0, true, true, Some(0), false));
    let sizes = (receiver.len(), receiver.is_empty(), receiver.capacity(), receiver.is_disconnected());
    assert_eq!(sizes, (0, true, Some(0), false));
    let mut batch = Vec::new();
    for _ in 0..3 {
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(sender.send_timeout(2, SHORT), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(sender.send_timeout(2, Duration::ZERO), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(sender.send_deadline(3, Instant::now()), Err(SendTimeoutError::Timeout(3)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.try_recv_batch(&mut batch, 9), Err(TryRecvError::Empty));
        assert_eq!(receiver.try_iter().count(), 0);
    }
    drop(sender);
    assert!(receiver.is_disconnected());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
    assert_eq!(receiver.recv_batch(&mut batch, 9), Err(RecvError));
    assert_eq!(block_on(receiver.recv_async()), Err(RecvError));
    let (mut sender, receiver) = kind.pair();
    drop(receiver);
    assert!(sender.is_disconnected());
    assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
    assert_eq!(sender.send(1), Err(SendError(1)));
    assert_eq!(sender.send_timeout(1, SHORT), Err(SendTimeoutError::Disconnected(1)));
    assert_eq!(block_on(sender.send_async(1)), Err(SendError(1)));
    let SendError(back) = sender.send_batch(&mut (4..9)).unwrap_err();
    assert_eq!(back[..1], [4]);
}

fn messages_pass_from_hand_to_hand<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || (0..1_000).for_each(|number| sender.send(number).unwrap()));
        for expected in 0..1_000 {
            assert_eq!(receiver.recv(), Ok(expected));
        }
        assert_eq!(receiver.recv(), Err(RecvError));
        thread.join().unwrap();
    });
}

/// What the receiver notes before it receives is there when the send returns.
///
/// Claim: A rendezvous `send` returns when a receiver has the message, and not before.
/// Also: model rendezvous::a_send_against_a_receive.
fn a_send_returns_when_the_message_has_been_received<K: Kind>(kind: K) {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let asked = Arc::new(AtomicUsize::new(0));
        let noted = asked.clone();
        let thread = thread::spawn(move || {
            let mut random = Random::new(5);
            for _ in 0..500 {
                random.pause();
                noted.fetch_add(1, SeqCst);
                receiver.recv().unwrap();
            }
        });
        for sent in 1..=500 {
            sender.send(sent).unwrap();
            assert!(asked.load(SeqCst) >= sent);
        }
        thread.join().unwrap();
    });
}

/// Claim: `try_send` succeeds with a waiting receiver, and `try_recv` with a waiting sender. Two `try_` calls never
/// meet.
fn try_send_meets_a_receiver_that_waits<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            (0..100).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
            assert_eq!(receiver.recv(), Err(RecvError));
        });
        for number in 0..100 {
            while let Err(error) = sender.try_send(number) {
                assert!(error.is_full());
                thread::yield_now();
            }
        }
        drop(sender);
        thread.join().unwrap();
    });
}

fn try_recv_meets_a_sender_that_waits<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || (0..100).for_each(|number| sender.send(number).unwrap()));
        let mut received = Vec::new();
        loop {
            match receiver.try_recv() {
                Ok(number) => received.push(number),
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        assert_eq!(received, (0..100).collect::<Vec<_>>());
        thread.join().unwrap();
    });
}

fn waits_that_end_in_vain_leave_nothing_behind<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        for number in 0..200 {
            assert_eq!(sender.send_timeout(number, Duration::from_nanos(1)), Err(SendTimeoutError::Timeout(number)));
            assert_eq!(receiver.recv_timeout(Duration::from_nanos(1)), Err(RecvTimeoutError::Timeout));
        }
        let thread = thread::spawn(move || {
            sender.send(7).unwrap();
            sender
        });
        assert_eq!(receiver.recv(), Ok(7));
        let mut sender = thread.join().unwrap();
        assert!(sender.try_send(8).is_err() && receiver.try_recv().is_err());
    });
}

fn an_end_that_goes_wakes_the_other<K: Kind>(kind: K) {
    guarded(move || {
        for _ in 0..100 {
            let (mut sender, receiver) = kind.pair();
            let thread = thread::spawn(move || assert_eq!(sender.send(1), Err(SendError(1))));
            drop(receiver);
            thread.join().unwrap();
            let (sender, mut receiver) = kind.pair::<u8>();
            let thread = thread::spawn(move || assert_eq!(receiver.recv(), Err(RecvError)));
            drop(sender);
            thread.join().unwrap();
        }
    });
}

fn batches_are_handed_over_one_by_one<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            assert_eq!(sender.send_batch(&mut (0..100)), Ok(100));
            assert_eq!(sender.send_batch(&mut std::iter::empty()), Ok(0));
            sender
        });
        let mut received = Vec::new();
        while received.len() < 100 {
            let before = received.len();
            let some = receiver.recv_batch(&mut received, 7).unwrap();
            assert!((1..=7).contains(&some) && received.len() - before == some);
        }
        assert_eq!(received, (0..100).collect::<Vec<_>>());
        let mut sender = thread.join().unwrap();
        let thread = thread::spawn(move || {
            (0..5).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
        });
        let SendError(back) = sender.send_batch(&mut (0..50)).unwrap_err();
        assert!(back.len() <= 45 && back.first().is_some_and(|&first| first >= 5), "{back:?}");
        thread.join().unwrap();
    });
}

/// Claim: At a rendezvous, tasks and threads can exchange messages with each other.
/// Also: model rendezvous::tasks_meet.
fn tasks_meet_tasks_and_threads<K: Kind>(kind: K) {
    guarded(move || {
        for (sends, receives) in [(true, true), (true, false), (false, true)] {
            let (mut sender, mut receiver) = kind.pair();
            let thread = thread::spawn(move || {
                for number in 0..300 {
                    if sends { block_on(sender.send_async(number)).unwrap() } else { sender.send(number).unwrap() }
                }
            });
            for expected in 0..300 {
                let received = if receives { block_on(receiver.recv_async()) } else { receiver.recv() };
                assert_eq!(received, Ok(expected));
            }
            thread.join().unwrap();
        }
    });
}

fn a_dropped_future_has_not_sent<K: Kind>(kind: K) {
    let tally = Tally::of(4);
    let (mut sender, mut receiver) = kind.pair();
    for _ in 0..3 {
        let (task, message) = (Task::default(), tally.next());
        let mut future = sender.send_async(message);
        assert!(future.as_mut().poll(&mut Context::from_waker(&task.waker())).is_pending());
        drop(future);
        assert!(matches!(receiver.try_recv(), Err(TryRecvError::Empty)));
    }
    assert_eq!(tally.ended(), 3);
    // Polled again and again, and received in between.
    let mut future = pin!(sender.send_async(tally.next()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending() && future.as_mut().poll(&mut context).is_pending());
    assert!(receiver.try_recv().is_ok());
    assert!(matches!(future.as_mut().poll(&mut context), Poll::Ready(Ok(()))));
}

/// Several receivers: whichever future goes first, the messages come in the order in which they were sent.
#[test]
fn messages_that_are_given_back_come_in_the_order_in_which_they_were_sent() {
    for (order, last) in [([0, 1, 2], 3), ([2, 1, 0], 3), ([1, 2, 0], 3), ([0, 2, 1], 3)] {
        let (sender, receiver) = ysuite::mpmc::bounded(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut futures = [0; 3].map(|_| Some(Box::pin(receiver.recv_async())));
        for (number, future) in futures.iter_mut().flatten().enumerate() {
            assert!(future.as_mut().poll(&mut context).is_pending());
            sender.try_send(number).unwrap();
        }
        order.into_iter().for_each(|index| drop(futures[index].take()));
        // After all of them, though a receiver is in line that has not polled.
        assert_eq!(sender.try_send(last), Err(ysuite::TrySendError::Full(last)));
        let mut received = [0; 3].map(|_| receiver.try_recv());
        assert_eq!(received.each_mut().map(|received| received.unwrap()), [0, 1, 2]);
    }
}

/// The future of one receiver has a message that it has not taken, and the others are disconnected. When the future is
/// dropped the message is received, but by no iterator that has ended.
///
/// Claim: An iterator that has ended stays ended, even if a message is returned to the channel.
#[test]
fn an_iterator_that_has_ended_stays_so_though_a_message_is_given_back() {
    let (sender, receiver) = ysuite::mpmc::bounded(0);
    let mut future = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut future, &Task::default()).is_pending());
    sender.try_send(7).unwrap();
    drop(sender);
    let (mut iter, mut owning) = (receiver.iter(), receiver.clone().into_iter());
    assert_eq!((iter.next(), owning.next()), (None, None));
    drop(future);
    assert_eq!((iter.next(), owning.next()), (None, None));
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(7), Err(RecvError)));
}

fn a_receiving_future_dropped_at_the_handover_gives_the_message_back<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let mut context = Context::from_waker(Waker::noop());
    let mut future = receiver.recv_async();
    assert!(future.as_mut().poll(&mut context).is_pending());
    // The future waits, so this meets it; then it is dropped.
    sender.try_send(1).unwrap();
    drop(future);
    // Two that were given back come in their order.
    let mut future = receiver.recv_async();
    assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
    drop(future);
    let mut future = receiver.recv_async();
    assert!(future.as_mut().poll(&mut context).is_pending());
    sender.try_send(2).unwrap();
    drop(future);
    assert_eq!((receiver.len(), receiver.is_empty()), (0, true));
    // Also after its sender has gone.
    drop(sender);
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(2), Err(RecvError)));
}

/// Both sides without pauses, with messages that are counted.
///
/// Claim: Each rendezvous message is received, returned or dropped once, whatever happens.
/// Also: suite rendezvous::foreign::a_forgotten_future_leaves_its_message.
fn messages_end_once_whatever_happens<K: Kind>(kind: K) {
    guarded(move || {
        for seed in 0..20 {
            const MESSAGES: usize = 500;
            let tally = Tally::of(MESSAGES);
            let (mut sender, mut receiver) = kind.pair();
            let mut made: Vec<_> = tally.some(MESSAGES).collect();
            let thread = thread::spawn(move || {
                let (mut random, mut sent) = (Random::new(seed), 0);
                while let Some(message) = made.pop() {
                    let outcome = match random.below(4) {
                        0 => sender.try_send(message).is_ok(),
                        1 => sender.send_timeout(message, Duration::from_micros(random.next() % 30)).is_ok(),
                        2 => block_on(impatient(sender.send_async(message), random.below(4)))
                            .is_some_and(|sent| sent.is_ok()),
                        _ => sender.send_timeout(message, SHORT).is_ok(),
                    };
                    sent += usize::from(outcome);
                }
                sent
            });
            let (mut random, mut received) = (Random::new(seed + 100), 0);
            loop {
                let outcome = match random.below(4) {
                    0 => receiver.try_recv().map_err(|error| error.is_disconnected()),
                    1 => receiver
                        .recv_timeout(Duration::from_micros(random.next() % 30))
                        .map_err(|error| error.is_disconnected()),
                    2 => match block_on(impatient(receiver.recv_async(), random.below(4))) {
                        Some(outcome) => outcome.map_err(|_| true),
                        None => Err(false),
                    },
                    _ => receiver.recv_timeout(SHORT).map_err(|error| error.is_disconnected()),
                };
                match outcome {
                    Ok(_) => received += 1,
                    Err(true) => break,
                    Err(false) => {}
                }
            }
            let sent = thread.join().unwrap();
            // A future that was dropped may have been met by then.
            assert!(received >= sent, "{received} received, {sent} sent");
            drop(receiver);
            tally.assert_all_ended();
        }
    });
}

/// The future's result, if it has one within this many polls; otherwise it is dropped.
async fn impatient<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let (mut future, mut left) = (pin!(future), polls);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

/// Several senders, where there may be several; each in all ways, the receiver too.
fn streams_in_every_way<K: Kind>(kind: K) {
    guarded(move || {
        const EACH: usize = 2_000;
        let (sender, mut receiver) = kind.pair();
        let senders: Vec<_> = K::another(&sender).into_iter().chain([sender]).collect();
        let threads: Vec<_> = senders
            .into_iter()
            .enumerate()
            .map(|(index, mut sender)| {
                thread::spawn(move || {
                    let mut random = Random::new(index as u64);
                    for number in 0..EACH {
                        let mut message = (index, number);
                        match random.below(5) {
                            0 => sender.send_timeout(message, Duration::MAX).unwrap(),
                            1 => block_on(sender.send_async(message)).unwrap(),
                            2 => drop(sender.send_batch(&mut std::iter::once(message)).unwrap()),
                            3 => loop {
                                match sender.send_timeout(message, Duration::from_micros(5)) {
                                    Ok(()) => break,
                                    Err(error) => message = error.into_inner(),
                                }
                            },
                            _ => sender.send(message).unwrap(),
                        }
                    }
                })
            })
            .collect();
        let (mut next, mut random, mut batch) = (vec![0; threads.len()], Random::new(9), Vec::new());
        loop {
            let end = match random.below(4) {
                0 => receiver.recv_batch(&mut batch, 3).is_err(),
                1 => block_on(receiver.recv_async()).map(|message| batch.push(message)).is_err(),
                2 => match receiver.recv_timeout(Duration::from_micros(5)) {
                    Ok(message) => {
                        batch.push(message);
                        false
                    }
                    Err(error) => error.is_disconnected(),
                },
                _ => receiver.recv().map(|message| batch.push(message)).is_err(),
            };
            for (index, number) in batch.drain(..) {
                assert_eq!(number, next[index]);
                next[index] += 1;
            }
            if end {
                break;
            }
        }
        assert!(next.iter().all(|&next| next == EACH));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Claim: In a rendezvous of many senders and receivers each message has one receiver.
/// Also: stress rendezvous::one_meets_one.
#[test]
fn many_meet_many_and_each_message_has_one_receiver() {
    guarded(|| {
        const EACH: usize = 1_000;
        let (sender, receiver) = mpmc::bounded(0);
        let senders: Vec<_> = (0..4)
            .map(|index| {
                let sender = sender.clone();
                thread::spawn(move || (0..EACH).for_each(|number| sender.send(index * EACH + number).unwrap()))
            })
            .collect();
        drop(sender);
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || receiver.iter().collect::<Vec<_>>())
            })
            .collect();
        drop(receiver);
        senders.into_iter().for_each(|thread| thread.join().unwrap());
        let mut all: Vec<_> = receivers.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..4 * EACH).collect::<Vec<_>>());
    });
}

/// Claim: Waiters at a rendezvous are served in order.
#[test]
fn waiters_are_served_in_turn() {
    let (sender, receiver) = mpmc::bounded(0);
    let mut context = Context::from_waker(Waker::noop());
    for waiters in [5, 130] {
        let mut futures: Vec<_> = (0..waiters).map(|number| Box::pin(sender.send_async(number))).collect();
        futures.iter_mut().for_each(|future| assert!(future.as_mut().poll(&mut context).is_pending()));
        drop(futures.remove(2));
        assert!(receiver.try_iter().eq((0..waiters).filter(|&number| number != 2)));
        assert!(futures.iter_mut().all(|future| future.as_mut().poll(&mut context).is_ready()));
        let mut futures: Vec<_> = (0..waiters).map(|_| Box::pin(receiver.recv_async())).collect();
        futures.iter_mut().for_each(|future| assert!(future.as_mut().poll(&mut context).is_pending()));
        (0..waiters).for_each(|number| sender.try_send(number).unwrap());
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        for (expected, future) in futures.iter_mut().enumerate() {
            assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(expected)));
        }
    }
}

#[test]
fn what_is_written_is_handed_over_at_once() {
    guarded(|| {
        let (mut sender, mut receiver) = spsc::bounded(0);
        let thread = thread::spawn(move || {
            sender.write(1).unwrap();
            assert_eq!((sender.unwrite(), sender.flush()), (None, true));
            sender.write(2).unwrap();
            assert_eq!(sender.write(3), Err(SendError(3)));
        });
        assert_eq!(receiver.peek(), None);
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        drop(receiver);
        thread.join().unwrap();
    });
}

#[test]
fn mpsc_senders_come_and_go() {
    guarded(|| {
        let (sender, mut receiver) = mpsc::bounded(0);
        let threads: Vec<_> = (0..20)
            .map(|number| {
                let mut sender = sender.clone();
                thread::spawn(move || sender.send(number).unwrap())
            })
            .collect();
        drop(sender);
        let mut all: Vec<_> = receiver.iter().collect();
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        assert!(receiver.is_disconnected());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        // A sender that connects after the receiver has gone.
        let (sender, receiver) = mpsc::bounded(0);
        drop(receiver);
        let mut late = sender.clone();
        assert!(late.is_disconnected());
        assert_eq!(late.send(1), Err(SendError(1)));
    });
}

#[test]
fn a_signal_ends_no_wait_in_line() {
    guarded(|| {
        let interruptions = Interruptions::new();
        let (mut sender, mut receiver) = spsc::bounded(0);
        let thread = thread::spawn(move || {
            receiver.set_spin(Spin::None);
            receiver.recv()
        });
        interruptions.pester(&thread, 30);
        assert_eq!((sender.send(7), thread.join().unwrap()), (Ok(()), Ok(7)));
        let (mut sender, mut receiver) = spsc::bounded(0);
        let thread = thread::spawn(move || {
            sender.set_spin(Spin::None);
            sender.send(8)
        });
        interruptions.pester(&thread, 30);
        assert_eq!((receiver.recv(), thread.join().unwrap()), (Ok(8), Ok(())));
        assert!(interruptions.count() > 0, "nothing was interrupted");
    });
}
