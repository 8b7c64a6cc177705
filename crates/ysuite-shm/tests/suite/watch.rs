//! A watch: the newest value, for receivers that come, go, sleep and die.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite_shm::{
    Error, Funnel, Options, RecvTimeoutError, Sender, TryRecvError, WatchReceiver, WatchSender, Why, connect,
};

use crate::LONG;

fn name(test: &str) -> String {
    format!("test-{}-watch-{test}", std::process::id())
}

fn channel(value: u64) -> (WatchSender<u64>, WatchReceiver<u64>) {
    let mut sender = WatchSender::without_name(value).unwrap();
    let receiver = WatchReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    (sender, receiver)
}

fn is_readable(end: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// Claim: A receiver receives the newest value, once, and none that was replaced before.
#[test]
fn the_newest_value_is_received_once() {
    let (mut sender, mut receiver) = channel(1);
    assert_eq!(receiver.latest(), Some(1));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((receiver.has_changed(), receiver.latest()), (Ok(false), Some(1)));
    for round in 1..1_000 {
        (0..round % 150).for_each(|value| sender.send(value));
        sender.send(1_000 + round);
        assert_eq!((receiver.has_changed(), receiver.latest()), (Ok(true), Some(1_000 + round)));
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(1_000 + round), Err(TryRecvError::Empty)));
    }
}

/// Claim: Values of all sizes are whole, however often they are replaced meanwhile, and never older than the last one; all
/// receivers receive the last one.
#[test]
fn values_are_whole_and_never_go_back() {
    fn run<const WORDS: usize>(values: u64) {
        let mut sender = WatchSender::without_name([0_u64; WORDS]).unwrap();
        let receivers: Vec<_> = (0..3)
            .map(|number| {
                let seat = sender.seat().unwrap();
                thread::spawn(move || {
                    let mut receiver = WatchReceiver::<[u64; WORDS]>::from_fd(seat).unwrap();
                    receiver.set_spin([0, 30, 1_000][number]);
                    let mut last = 0;
                    loop {
                        match receiver.recv() {
                            Ok(value) => {
                                assert!(value.iter().all(|word| *word == value[0]), "{value:?}");
                                assert!(value[0] >= last && value[0] <= values);
                                last = value[0];
                            }
                            Err(error) => return (last, error, receiver.latest().map(|value| value[0])),
                        }
                    }
                })
            })
            .collect();
        (1..=values).for_each(|value| sender.send([value; WORDS]));
        drop(sender);
        for receiver in receivers {
            assert_eq!(receiver.join().unwrap(), (values, Error::Closed, Some(values)));
        }
    }
    run::<1>(100_000);
    run::<9>(30_000);
    run::<600>(3_000);
    run::<20_000>(200);
}

/// Claim: No value is slept through, by none of several receivers.
#[test]
fn receivers_that_sleep_are_woken() {
    let name = name("sleeps");
    let mut sender = WatchSender::bind(&name, 0_u64).unwrap();
    let mut answers = Funnel::<u64>::without_name().unwrap();
    let receivers: Vec<_> = (0..4)
        .map(|_| {
            let (_, seat) = answers.seat().unwrap();
            let name = name.clone();
            thread::spawn(move || {
                let mut receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
                receiver.set_spin(0);
                let mut answer = Sender::<u64>::from_fd(seat, 4).unwrap();
                receiver.iter().for_each(|value| answer.send(value).unwrap());
                receiver.recv()
            })
        })
        .collect();
    let mut answered = 0;
    while answered < 4 {
        sender.serve_timeout(Duration::from_millis(1));
        answered += answers.try_iter().count();
    }
    for value in 1..2_000 {
        sender.send(value);
        (0..4).for_each(|_| assert_eq!(answers.recv_timeout(LONG), Ok(value)));
    }
    drop(sender);
    receivers.into_iter().for_each(|receiver| assert_eq!(receiver.join().unwrap(), Err(Error::Closed)));
}

/// Claim: Receivers that come and go in a stream each receive the newest value, and are forgotten.
#[test]
fn receivers_come_and_go_under_load() {
    let name = name("load");
    let mut sender = WatchSender::bind(&name, 0_u64).unwrap();
    let left = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let visitors: Vec<_> = (0..3)
        .map(|number| {
            let (name, left) = (name.clone(), Arc::clone(&left));
            thread::spawn(move || {
                for round in 0..40 {
                    let mut receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
                    receiver.set_spin([0, 50][round % 2]);
                    let mut last = 0;
                    for _ in 0..round * number {
                        let value = receiver.recv_timeout(LONG).unwrap();
                        assert!(value > last || last == 0);
                        last = value;
                    }
                }
                // ORDERING: Relaxed; counts.
                left.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    let mut value = 0;
    // ORDERING: Relaxed; as above.
    while left.load(Ordering::Relaxed) < 3 {
        value += 1;
        sender.send(value);
    }
    visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
    while sender.receivers() > 0 {
        sender.serve_timeout(Duration::from_millis(1));
    }
}

#[test]
fn waits_end_with_their_time() {
    let (mut sender, mut receiver) = channel(7);
    assert_eq!(receiver.recv_timeout(LONG), Ok(7));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(3)), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
    sender.send(8);
    assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(8));
}

/// Claim: The last value is received behind the end of the sender, then the end, for good; a sleeper is woken by it.
#[test]
fn the_last_value_is_received_behind_the_end() {
    let (mut sender, mut receiver) = channel(1);
    sender.send(2);
    drop(sender);
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(2), Err(Error::Closed)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Ended(Error::Closed)));
    assert_eq!((receiver.has_changed(), receiver.latest()), (Err(Error::Closed), Some(2)));
    assert!(receiver.is_disconnected() && !receiver.arm());
    for round in 0..30 {
        let (sender, mut receiver) = channel(1);
        receiver.set_spin(0);
        assert_eq!(receiver.recv(), Ok(1));
        let waiting = thread::spawn(move || receiver.recv());
        thread::sleep(Duration::from_micros(30 * round));
        drop(sender);
        assert_eq!(waiting.join().unwrap(), Err(Error::Closed));
    }
}

/// Claim: A receiver that was armed and has found nothing becomes readable for the next value and for the end; a sender for
/// receivers that come and go.
#[test]
fn descriptors_tell() {
    let name = name("tell");
    let mut sender = WatchSender::bind(&name, 0_u64).unwrap();
    assert!(sender.arm() && !is_readable(&sender, Duration::ZERO));
    let mut receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    assert!(is_readable(&sender, LONG));
    while !sender.arm() {}
    assert_eq!((sender.receivers(), receiver.recv()), (1, Ok(0)));
    for value in 1..200 {
        while !receiver.arm() {
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
        assert!(!is_readable(&receiver, Duration::ZERO), "{value}");
        sender.send(value);
        assert!(is_readable(&receiver, LONG));
        assert_eq!(receiver.try_recv(), Ok(value));
    }
    while !sender.arm() {}
    drop(receiver);
    assert!(is_readable(&sender, LONG));
    sender.serve();
    assert_eq!(sender.receivers(), 0);
    let mut receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    sender.serve();
    assert_eq!(receiver.recv(), Ok(199));
    assert!(receiver.arm());
    drop(sender);
    assert!(is_readable(&receiver, LONG));
}

/// Claim: A receiver sleeps through no value that is sent before the sender has heard of it.
#[test]
fn a_receiver_that_was_not_met_is_woken() {
    for _ in 0..50 {
        let mut sender = WatchSender::without_name(0_u64).unwrap();
        let seat = sender.seat().unwrap();
        let has_first = Arc::new(AtomicBool::new(false));
        let has = Arc::clone(&has_first);
        let receiving = thread::spawn(move || {
            let mut receiver = WatchReceiver::<u64>::from_fd(seat).unwrap();
            receiver.set_spin(0);
            assert_eq!(receiver.recv(), Ok(0));
            // ORDERING: Relaxed; nothing else is handed over.
            has.store(true, Ordering::Relaxed);
            receiver.recv_timeout(LONG)
        });
        // ORDERING: Relaxed; as above.
        while !has_first.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        // The only call, and the last.
        sender.send(1);
        assert_eq!(receiving.join().unwrap(), Ok(1));
    }
}

/// Claim: A closure that panics over a stranger keeps no receiver asleep.
#[test]
fn a_panic_over_a_stranger_wakes_the_receivers() {
    let name = name("panic");
    let are_bad = Arc::new(AtomicBool::new(false));
    let bad = Arc::clone(&are_bad);
    // ORDERING: Relaxed; one thread.
    let options = Options::new().allow(move |_| if bad.load(Ordering::Relaxed) { panic!("no") } else { true });
    let mut sender = options.watch(&name, 0_u64).unwrap();
    let mut receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    sender.serve();
    assert_eq!(receiver.recv(), Ok(0));
    let seat = sender.seat().unwrap();
    // ORDERING: Relaxed; as above.
    are_bad.store(true, Ordering::Relaxed);
    let _stranger = connect(&name).unwrap();
    assert!(receiver.arm());
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sender.send(1)));
    assert!(outcome.is_err());
    assert!(is_readable(&receiver, LONG));
    assert_eq!(receiver.try_recv(), Ok(1));
    drop(seat);
}

#[test]
fn ends_of_other_kinds_and_types_are_refused() {
    let name = name("refused");
    let mut sender = WatchSender::bind(&name, 0_u64).unwrap();
    let mut other = WatchReceiver::<u32>::from_fd(connect(&name).unwrap()).unwrap();
    let mut pipe = ysuite_shm::Receiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    sender.serve();
    assert_eq!(other.recv(), Err(Error::Refused(Why::Type)));
    assert_eq!(pipe.recv(), Err(Error::Refused(Why::Kind)));
    assert_eq!(other.latest(), None);
    sender.serve();
    assert_eq!(sender.receivers(), 0);
    let (mut there, seat) = ysuite_shm::pipe::<u64>(4).unwrap();
    let mut watch = WatchReceiver::<u64>::from_fd(seat.into_fd().unwrap()).unwrap();
    assert_eq!(there.send(1).unwrap_err().1, Error::Refused(Why::Kind));
    assert_eq!(watch.recv(), Err(Error::Refused(Why::Kind)));
}

#[test]
fn careful_ends_wake_each_other() {
    let mut sender = Options::new().careful().watch_without_name(0_u64).unwrap();
    let mut receiver = WatchReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    receiver.set_spin(0);
    let (mut answer, mut answers) = ysuite_shm::pipe::<u64>(4).unwrap();
    let receiving = thread::spawn(move || receiver.iter().for_each(|value| answer.send(value).unwrap()));
    for value in 0..500 {
        sender.send(value);
        while answers.recv_timeout(LONG) != Ok(value) {}
    }
    drop(sender);
    receiving.join().unwrap();
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<WatchSender<u64>>();
    may_go::<WatchReceiver<u64>>();
}
