//! Messages of a pipe: order, room, batches, waiting.

use std::thread;
use std::time::{Duration, Instant};

use ysuite_shm::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use ysuite_shm::{
    Error, Message, Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, TrySendError, pipe,
};

use crate::LONG;

#[test]
fn one_thread_sends_and_receives() {
    let (mut sender, mut receiver) = pipe::<u64>(8).unwrap();
    for message in 0..100 {
        sender.send(message).unwrap();
        assert_eq!(receiver.recv(), Ok(message));
    }
}

fn goes_round<T: Message + PartialEq + std::fmt::Debug + Copy>(make: impl Fn(u64) -> T) {
    for capacity in [1, 2, 3, 7, 8, 64] {
        let (mut sender, mut receiver) = pipe::<T>(capacity).unwrap();
        let mut next = 0;
        for round in 0..200_u64 {
            let many = (round as usize % (capacity + 1)) as u64;
            for message in next..next + many {
                sender.try_send(make(message)).unwrap();
            }
            for message in next..next + many {
                assert_eq!(receiver.try_recv().unwrap(), make(message));
            }
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            next += many;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(32))]
struct Aligned([u64; 4]);

/// Claim: A message of any size and alignment goes through whole, and in order, also round the ring's end.
#[test]
fn messages_of_all_sizes_go_round() {
    goes_round(|number| number);
    goes_round(|number| number as u8);
    goes_round(|number| [number as u8; 3]);
    goes_round(|number| [number as u16; 7]);
    goes_round(|number| [number; 3]);
    goes_round(|number| [number; 7]);
    goes_round(|number| [number; 9]);
    goes_round(|number| [number; 16]);
    goes_round(|number| [number; 21]);
    goes_round(|number| [number; 512]);
    goes_round(|number| [number as u8; 65]);
    goes_round(|number| u128::from(number) << 60);
    goes_round(|number| Aligned([number; 4]));
    goes_round(|_| ());
}

/// Claim: A channel has room for exactly its capacity.
#[test]
fn a_channel_holds_exactly_its_capacity() {
    for capacity in 1..40 {
        let (mut sender, mut receiver) = pipe::<u64>(capacity).unwrap();
        for lap in 0..5 {
            (0..capacity as u64).for_each(|message| sender.try_send(message).unwrap());
            assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)), "{capacity} {lap}");
            (0..capacity as u64).for_each(|message| assert_eq!(receiver.try_recv(), Ok(message)));
        }
    }
}

fn streams(messages: u64, capacity: usize, spin: u32) {
    let (mut sender, mut receiver) = pipe::<u64>(capacity).unwrap();
    sender.set_spin(spin);
    receiver.set_spin(spin);
    let reading = thread::spawn(move || {
        (0..messages).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        assert_eq!(receiver.recv(), Err(Error::Closed));
    });
    (0..messages).for_each(|message| sender.send(message).unwrap());
    drop(sender);
    reading.join().unwrap();
}

/// Claim: No message is lost or doubled, and nobody sleeps for ever, however often both ends sleep.
#[test]
fn a_stream_arrives_in_order() {
    streams(200_000, 1000, 100);
    streams(20_000, 3, 0);
    streams(5_000, 1, 0);
}

#[test]
fn a_ping_pong_sleeps_and_wakes() {
    let (mut there, mut from_here) = pipe::<u64>(4).unwrap();
    let (mut back, mut from_there) = pipe::<u64>(4).unwrap();
    let answering = thread::spawn(move || {
        from_here.set_spin(0);
        while let Ok(message) = from_here.recv() {
            back.send(message + 1).unwrap();
        }
    });
    from_there.set_spin(0);
    for message in 0..5_000 {
        there.send(message).unwrap();
        assert_eq!(from_there.recv(), Ok(message + 1));
    }
    drop(there);
    answering.join().unwrap();
}

#[test]
fn waits_end_with_their_time() {
    let (mut sender, mut receiver) = pipe::<u64>(1).unwrap();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(5)), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
    sender.send(1).unwrap();
    assert_eq!(sender.send_timeout(2, Duration::from_millis(5)), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(sender.send_deadline(2, Instant::now()), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(receiver.recv_timeout(LONG), Ok(1));
    sender.send_timeout(2, LONG).unwrap();
    assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(2));
}

#[test]
fn batches_go_through_a_small_channel() {
    let (mut sender, mut receiver) = pipe::<u64>(10).unwrap();
    let sending = thread::spawn(move || assert_eq!(sender.send_batch(0..10_000), Ok(10_000)));
    let mut all = Vec::new();
    while receiver.recv_batch(&mut all, 7).is_ok() {}
    assert!(all.iter().copied().eq(0..10_000));
    sending.join().unwrap();
}

#[test]
fn a_batch_that_nobody_takes_comes_back() {
    let (mut sender, receiver) = pipe::<u64>(3).unwrap();
    drop(receiver);
    let error = sender.send_batch(0..5).unwrap_err();
    assert_eq!((error.0, error.1), ((0..5).collect(), Error::Closed));
}

/// Claim: An iterator that panics within a batch leaves what it has given: a receiver that sleeps is woken for it.
#[test]
fn a_batch_that_panics_wakes_the_receiver() {
    let (mut sender, mut receiver) = pipe::<u64>(100).unwrap();
    receiver.set_spin(0);
    sender.send(0).unwrap();
    assert_eq!(receiver.recv(), Ok(0));
    let (at_rest, rests) = std::sync::mpsc::channel();
    let waiting = thread::spawn(move || {
        at_rest.send(()).unwrap();
        (0..3).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        at_rest.send(()).unwrap();
    });
    rests.recv().unwrap();
    let batch = (0..4).inspect(|message| {
        // Long enough for the receiver to fall asleep.
        thread::sleep(Duration::from_millis(20));
        assert!(*message < 3, "no more");
    });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sender.send_batch(batch))).is_err());
    rests.recv_timeout(LONG).expect("it is woken");
    waiting.join().unwrap();
}

#[test]
fn iterators_end() {
    let (mut sender, mut receiver) = pipe::<u64>(10).unwrap();
    sender.send_batch(0..6).unwrap();
    assert!(receiver.try_iter().take(2).eq(0..2));
    let waiting = thread::spawn(move || receiver.iter().take(2).chain(None).collect::<Vec<_>>());
    assert_eq!(waiting.join().unwrap(), [2, 3]);
    let (mut sender, receiver) = pipe::<u64>(10).unwrap();
    sender.send_batch(0..3).unwrap();
    drop(sender);
    assert!(receiver.into_iter().eq(0..3));
}

#[test]
fn what_is_peeked_stays() {
    let (mut sender, mut receiver) = pipe::<u64>(10).unwrap();
    assert_eq!(receiver.peek(), None);
    assert!(!receiver.consume());
    sender.send_batch(5..7).unwrap();
    assert_eq!((receiver.peek(), receiver.peek()), (Some(5), Some(5)));
    assert!(receiver.consume());
    assert_eq!(receiver.recv(), Ok(6));
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<Sender<u64>>();
    may_go::<Receiver<u64>>();
}
