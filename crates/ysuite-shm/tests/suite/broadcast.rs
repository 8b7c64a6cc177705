//! A broadcast: all messages for all receivers, bounded by the slowest, or lossy.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite_shm::{
    BroadcastError, BroadcastReceiver, BroadcastSender, Error, Options, SendTimeoutError, TrySendError, Why, connect,
};

use crate::LONG;

const CAPACITY: usize = 8;

fn name(test: &str) -> String {
    format!("test-{}-broadcast-{test}", std::process::id())
}

fn lossy() -> Options {
    Options::new().lossy()
}

fn channel(options: &Options, receivers: usize) -> (BroadcastSender<u64>, Vec<BroadcastReceiver<u64>>) {
    let mut sender = options.broadcast_without_name(CAPACITY).unwrap();
    let receivers =
        (0..receivers).map(|_| BroadcastReceiver::from_fd(sender.seat().unwrap()).unwrap()).collect::<Vec<_>>();
    sender.serve();
    (sender, receivers)
}

fn is_readable(end: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// Claim: All receivers receive all messages, in order, each once, whichever side waits; then the end.
#[test]
fn all_receive_all() {
    for (messages, spin) in [(50_000, 100), (5_000, 0)] {
        let (mut sender, receivers) = channel(&Options::new(), 3);
        sender.set_spin(spin);
        let receiving: Vec<_> = receivers
            .into_iter()
            .map(|mut receiver| {
                thread::spawn(move || {
                    receiver.set_spin(spin);
                    assert!((0..messages).all(|message| receiver.recv() == Ok(message)));
                    receiver.recv()
                })
            })
            .collect();
        (0..messages).for_each(|message| sender.send(message));
        drop(sender);
        for receiver in receiving {
            assert_eq!(receiver.join().unwrap(), Err(BroadcastError::Ended(Error::Closed)));
        }
    }
}

/// Claim: The bound is exact, and is that of the slowest receiver, wherever it has joined; one that is gone does not count.
#[test]
fn the_slowest_receiver_bounds() {
    for first in 0..20 {
        let (mut sender, _) = channel(&Options::new(), 0);
        (0..first).for_each(|message| sender.try_send(message).unwrap());
        let mut slow = BroadcastReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
        let mut fast = BroadcastReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
        sender.serve();
        for message in first..first + CAPACITY as u64 {
            sender.try_send(message).unwrap();
            assert_eq!(fast.try_recv(), Ok(message));
        }
        let next = first + CAPACITY as u64;
        assert_eq!(sender.try_send(next), Err(TrySendError::Full(next)));
        assert_eq!(sender.send_timeout(next, Duration::from_millis(3)), Err(SendTimeoutError::Timeout(next)));
        assert_eq!(sender.send_deadline(next, Instant::now()), Err(SendTimeoutError::Timeout(next)));
        assert_eq!(slow.try_recv(), Ok(first));
        sender.try_send(next).unwrap();
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        drop(slow);
        for message in next + 1..next + 30 {
            assert_eq!(fast.try_recv(), Ok(message - 1));
            sender.try_send(message).unwrap();
        }
        sender.serve();
        assert_eq!(sender.receivers(), 1);
    }
}

/// Claim: A sender that waits is woken by room and by the end of the receiver it waits for.
#[test]
fn a_sender_that_waits_is_woken() {
    for round in 0..40 {
        let (mut sender, mut receivers) = channel(&Options::new(), 2);
        sender.set_spin(0);
        (0..CAPACITY as u64).for_each(|message| sender.send(message));
        let mut fast = receivers.pop().unwrap();
        assert!((0..CAPACITY as u64).all(|message| fast.recv() == Ok(message)));
        let mut slow = receivers.pop().unwrap();
        let waiting = thread::spawn(move || {
            sender.send(8);
            sender.receivers()
        });
        thread::sleep(Duration::from_micros(30 * round));
        if round % 2 == 0 {
            assert_eq!(slow.recv(), Ok(0));
        } else {
            drop(slow);
        }
        waiting.join().unwrap();
        assert_eq!(fast.recv(), Ok(8));
    }
}

/// Claim: A receiver that comes while the sender sleeps for another one is met then, and neither is slept through.
#[test]
fn a_receiver_comes_while_the_sender_sleeps() {
    let name = name("sleeps");
    let mut sender = BroadcastSender::bind(&name, CAPACITY).unwrap();
    sender.set_spin(0);
    let mut slow = BroadcastReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    sender.serve();
    (0..CAPACITY as u64).for_each(|message| sender.send(message));
    let sending = thread::spawn(move || (8..40).for_each(|message| sender.send(message)));
    let mut late = BroadcastReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    assert_eq!(late.meet_timeout(LONG), Ok(true));
    late.set_spin(0);
    let receiving = thread::spawn(move || late.iter().collect::<Vec<_>>());
    slow.set_spin(0);
    assert!(slow.iter().eq(0..40));
    assert!(receiving.join().unwrap().into_iter().eq(8..40));
    sending.join().unwrap();
}

/// Claim: A receiver of a lossy broadcast that is too slow learns how many messages it has lost, and goes on with the oldest
/// one that is left; what it loses and what it receives are all.
#[test]
fn a_slow_receiver_of_a_lossy_one_learns_what_it_lost() {
    for sent in 0..100 {
        let (mut sender, mut receivers) = channel(&lossy(), 2);
        let mut receiver = receivers.pop().unwrap();
        (0..sent).for_each(|message| sender.send(message));
        let mut next = 0;
        loop {
            match receiver.try_recv() {
                Ok(message) => {
                    assert_eq!(message, next, "of {sent}");
                    next += 1;
                }
                Err(BroadcastError::Lagged(lost)) => {
                    assert_eq!((next, lost), (0, sent - CAPACITY as u64), "all that has room is left");
                    next = lost;
                }
                Err(BroadcastError::Empty) => break,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(next, sent);
    }
}

/// Claim: A receiver counts from when on it receives, and not before: neither a place without one, nor one that was not noticed.
#[test]
fn who_counts_receives() {
    let name = name("counts");
    let mut sender = BroadcastSender::<u64>::bind(&name, 8).unwrap();
    let (seat, socket) = (sender.seat().unwrap(), connect(&name).unwrap());
    sender.serve();
    sender.send(0);
    assert_eq!(sender.receivers(), 0);
    let mut receivers = [seat, socket].map(|socket| BroadcastReceiver::<u64>::from_fd(socket).unwrap());
    assert_eq!(sender.receivers(), 0);
    sender.serve();
    assert_eq!(sender.receivers(), 2);
    sender.send(1);
    receivers.iter_mut().for_each(|receiver| assert_eq!(receiver.try_recv(), Ok(1)));
}

/// Claim: Batches go to all receivers, whole and in order, also where they are longer than the channel and all wait.
#[test]
fn batches_go_to_all() {
    const MESSAGES: u64 = 50_000;
    for spin in [100, 0] {
        let (mut sender, receivers) = channel(&Options::new(), 3);
        sender.set_spin(spin);
        let receiving: Vec<_> = (1..)
            .zip(receivers)
            .map(|(most, mut receiver)| {
                thread::spawn(move || {
                    receiver.set_spin(spin);
                    let (mut next, mut batch) = (0, Vec::new());
                    assert_eq!(receiver.recv_batch(&mut batch, 0), Ok(0));
                    let end = loop {
                        match receiver.recv_batch(&mut batch, most * 3) {
                            Ok(received) => assert!(received == batch.len() && (1..=most * 3).contains(&received)),
                            Err(error) => break error,
                        }
                        batch.drain(..).for_each(|message| {
                            assert_eq!(message, next);
                            next += 1;
                        });
                    };
                    (next, end)
                })
            })
            .collect();
        let mut next = 0;
        while next < MESSAGES {
            let end = MESSAGES.min(next + next % 100 + 1);
            assert_eq!(sender.send_batch(next..end), (end - next) as usize);
            next = end;
        }
        drop(sender);
        for receiver in receiving {
            assert_eq!(receiver.join().unwrap(), (MESSAGES, BroadcastError::Ended(Error::Closed)));
        }
    }
}

/// Claim: A receiver that waits is woken for what was sent of a batch whose iterator panics.
#[test]
fn an_iterator_that_panics_leaves_what_it_gave() {
    for is_lossy in [false, true] {
        let options = if is_lossy { lossy() } else { Options::new() };
        let (mut sender, mut receivers) = channel(&options, 1);
        let mut receiver = receivers.pop().unwrap();
        receiver.set_spin(0);
        let receiving = thread::spawn(move || {
            let first = [receiver.recv_timeout(LONG), receiver.recv_timeout(LONG)];
            (first, receiver.try_recv())
        });
        let given = std::panic::AssertUnwindSafe(|| sender.send_batch((0..).inspect(|next| assert!(*next < 2))));
        assert!(std::panic::catch_unwind(given).is_err());
        assert_eq!(receiving.join().unwrap(), ([Ok(0), Ok(1)], Err(BroadcastError::Empty)));
    }
}

/// Claim: A batch of a lossy one ends in front of what was lost, which the next call says.
#[test]
fn a_batch_ends_in_front_of_a_loss() {
    let (mut sender, mut receivers) = channel(&lossy(), 1);
    let mut receiver = receivers.pop().unwrap();
    let mut batch = Vec::new();
    assert_eq!(receiver.try_recv_batch(&mut batch, 10), Err(BroadcastError::Empty));
    sender.send_batch(0..5);
    assert_eq!(receiver.try_recv_batch(&mut batch, 3), Ok(3));
    sender.send_batch(5..100);
    let lost = 100 - CAPACITY as u64 - 3;
    assert_eq!(receiver.recv_batch(&mut batch, 10), Err(BroadcastError::Lagged(lost)));
    assert_eq!(receiver.recv_batch(&mut batch, 0), Ok(0));
    assert_eq!(receiver.recv_batch(&mut batch, 100), Ok(CAPACITY));
    assert_eq!(receiver.try_recv_batch(&mut batch, 100), Err(BroadcastError::Empty));
    drop(sender);
    assert_eq!(receiver.recv_batch(&mut batch, 1), Err(BroadcastError::Ended(Error::Closed)));
    assert_eq!(batch, (0..3).chain(100 - CAPACITY as u64..100).collect::<Vec<_>>());
}

/// Claim: The batches of a lossy stream have whole messages, in order, and count what is lost between them.
#[test]
fn a_lossy_stream_of_batches_is_whole() {
    let (mut sender, mut receivers) = channel(&lossy(), 1);
    let mut receiver = receivers.pop().unwrap();
    let receiving = thread::spawn(move || {
        let (mut next, mut batch, mut batches) = (0, Vec::new(), 0);
        loop {
            match receiver.recv_batch(&mut batch, 5) {
                Ok(_) => batches += 1,
                Err(BroadcastError::Lagged(lost)) => next += lost,
                Err(error) => return (next, error, batches),
            }
            batch.drain(..).for_each(|message| {
                assert_eq!(message, next);
                next += 1;
            });
        }
    });
    const MESSAGES: u64 = 300_000;
    (0..MESSAGES / 20).for_each(|batch| assert_eq!(sender.send_batch(batch * 20..batch * 20 + 20), 20));
    drop(sender);
    let (next, error, batches) = receiving.join().unwrap();
    assert_eq!((next, error), (MESSAGES, BroadcastError::Ended(Error::Closed)));
    assert!(batches > 0);
}

/// Claim: A lossy sender waits for nobody, and its receivers receive whole messages, in order, or learn how many they lost.
#[test]
fn a_lossy_stream_is_whole() {
    lossy_stream::<5>();
    // One of a line has its state at the front of eight lines.
    lossy_stream::<8>();
}

fn lossy_stream<const WORDS: usize>() {
    let mut sender = lossy().broadcast_without_name::<[u64; WORDS]>(64).unwrap();
    let receiving: Vec<_> = (0..3)
        .map(|number| {
            let seat = sender.seat().unwrap();
            thread::spawn(move || {
                let mut receiver = BroadcastReceiver::<[u64; WORDS]>::from_fd(seat).unwrap();
                receiver.set_spin([0, 30, 1_000][number]);
                let mut next = None;
                loop {
                    match receiver.recv() {
                        Ok(message) => {
                            assert!(message.iter().all(|word| *word == message[0]), "{message:?}");
                            assert!(next.is_none_or(|next| next == message[0]), "{next:?} {message:?}");
                            next = Some(message[0] + 1);
                        }
                        Err(BroadcastError::Lagged(lost)) => next = next.map(|next| next + lost),
                        Err(error) => return (next, error),
                    }
                }
            })
        })
        .collect();
    while sender.receivers() < 3 {
        sender.serve();
    }
    (0..200_000).for_each(|message| sender.send([message; WORDS]));
    drop(sender);
    for receiver in receiving {
        let (next, error) = receiver.join().unwrap();
        assert_eq!(error, BroadcastError::Ended(Error::Closed));
        assert!(next.is_none_or(|next| next == 200_000), "{next:?}");
    }
}

/// Claim: Receivers that come and go in a stream receive all that is sent while they are there, and hold nobody up after.
#[test]
fn receivers_come_and_go_under_load() {
    let name = name("load");
    let mut sender = BroadcastSender::<u64>::bind(&name, 100).unwrap();
    let left = Arc::new(AtomicU32::new(0));
    let visitors: Vec<_> = (0..3)
        .map(|number| {
            let (name, left) = (name.clone(), Arc::clone(&left));
            thread::spawn(move || {
                for round in 0..40 {
                    let mut receiver = BroadcastReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
                    receiver.set_spin([0, 50][round % 2]);
                    let mut next = None;
                    for _ in 0..round * number {
                        let message = receiver.recv_timeout(LONG).unwrap();
                        assert!(next.is_none_or(|next| message == next), "{next:?} {message}");
                        next = Some(message + 1);
                    }
                }
                // ORDERING: Relaxed; counts.
                left.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    let mut message = 0;
    // ORDERING: Relaxed; as above.
    while left.load(Ordering::Relaxed) < 3 {
        sender.send(message);
        message += 1;
    }
    visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
    while sender.receivers() > 0 {
        sender.serve_timeout(Duration::from_millis(1));
    }
}

/// Claim: A receiver that was armed becomes readable for the next message and for the end, a sender for room, for a
/// receiver that comes, and for one that goes.
#[test]
fn descriptors_tell() {
    let (mut sender, mut receivers) = channel(&Options::new(), 1);
    let mut receiver = receivers.pop().unwrap();
    for message in 0..200 {
        while !receiver.arm() {
            assert_eq!(receiver.try_recv(), Err(BroadcastError::Empty));
        }
        assert!(!is_readable(&receiver, Duration::ZERO), "{message}");
        sender.send(message);
        assert!(is_readable(&receiver, LONG));
        assert_eq!(receiver.try_recv(), Ok(message));
    }
    let mut sent = 200;
    for message in 200..300 {
        while sender.try_send(sent).is_ok() {
            sent += 1;
        }
        while !sender.arm() {}
        assert!(!is_readable(&sender, Duration::ZERO));
        assert_eq!(receiver.try_recv(), Ok(message));
        assert!(is_readable(&sender, LONG));
    }
    while sender.try_send(sent).is_ok() {
        sent += 1;
    }
    while !sender.arm() {}
    drop(receiver);
    assert!(is_readable(&sender, LONG));
    sender.try_send(sent).unwrap();
    sender.serve();
    assert_eq!(sender.receivers(), 0);
}

/// Claim: What was sent is received behind the end of the sender; who sleeps is woken by it.
#[test]
fn messages_are_received_behind_the_end() {
    for options in [Options::new(), lossy(), Options::new().careful()] {
        let (mut sender, mut receivers) = channel(&options, 2);
        let [mut slow, mut asleep] = [receivers.pop().unwrap(), receivers.pop().unwrap()];
        asleep.set_spin(0);
        let sleeping = thread::spawn(move || asleep.iter().sum::<u64>());
        (0..5).for_each(|message| sender.send(message));
        thread::sleep(Duration::from_millis(1));
        drop(sender);
        assert!(slow.iter().eq(0..5));
        assert_eq!(slow.try_recv(), Err(BroadcastError::Ended(Error::Closed)));
        assert!(slow.is_disconnected() && !slow.arm());
        assert_eq!(sleeping.join().unwrap(), 10);
    }
}

#[test]
fn ends_of_other_kinds_are_refused() {
    let (name, other) = (name("refused"), name("refused-watch"));
    let mut sender = BroadcastSender::<u64>::bind(&name, 4).unwrap();
    let mut watch = ysuite_shm::WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    let mut narrow = BroadcastReceiver::<u32>::from_fd(connect(&name).unwrap()).unwrap();
    sender.serve();
    assert_eq!(watch.recv(), Err(Error::Refused(Why::Kind)));
    assert_eq!(narrow.recv(), Err(BroadcastError::Ended(Error::Refused(Why::Type))));
    let mut sender = ysuite_shm::WatchSender::bind(&other, 0_u64).unwrap();
    let mut receiver = BroadcastReceiver::<u64>::from_fd(connect(&other).unwrap()).unwrap();
    sender.serve();
    assert_eq!(receiver.recv(), Err(BroadcastError::Ended(Error::Refused(Why::Kind))));
    assert_eq!(BroadcastSender::<u64>::without_name(0).unwrap_err(), Error::Refused(Why::Capacity));
    assert_eq!(BroadcastSender::<u64>::without_name(usize::MAX).unwrap_err(), Error::Refused(Why::Capacity));
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<BroadcastSender<u64>>();
    may_go::<BroadcastReceiver<u64>>();
}
