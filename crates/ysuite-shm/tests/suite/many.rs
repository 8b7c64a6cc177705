//! Bytes of any length for many receivers: a broadcast, and a watch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use ysuite_shm::{
    BroadcastError, BroadcastReceiver, Bytes, BytesBroadcastSender, BytesWatchSender, Error, Options, TryRecvError,
    TrySendError, WatchReceiver, Why, connect,
};

fn name(test: &str) -> String {
    format!("test-{}-many-{test}", std::process::id())
}

fn channel(
    options: &Options,
    capacity: usize,
    receivers: usize,
) -> (BytesBroadcastSender, Vec<BroadcastReceiver<Bytes>>) {
    let mut sender = options.broadcast_bytes_without_name(capacity).unwrap();
    let receivers = (0..receivers).map(|_| BroadcastReceiver::from_fd(sender.seat().unwrap()).unwrap()).collect();
    sender.serve();
    (sender, receivers)
}

/// A message that says which it is, of a length that it is known to have.
fn message(number: u32, largest: usize) -> Vec<u8> {
    let length = (number as usize * 7) % (largest - 4) + 4;
    let mut message = number.to_ne_bytes().to_vec();
    message.resize(length, number as u8);
    message
}

/// The number of a message, which is whole.
fn number(of: &Bytes, largest: usize) -> u32 {
    let number = u32::from_ne_bytes(of.0[..4].try_into().unwrap());
    assert_eq!(of.0, message(number, largest));
    number
}

/// Claim: All receivers receive all messages, of every length, in order, each once, whichever side waits; then the end.
#[test]
fn all_receive_all() {
    const MESSAGES: u32 = 20_000;
    for spin in [100, 0] {
        let (mut sender, receivers) = channel(&Options::new(), 300, 3);
        sender.set_spin(spin);
        let largest = sender.largest();
        let receiving: Vec<_> = receivers
            .into_iter()
            .map(|mut receiver| {
                thread::spawn(move || {
                    receiver.set_spin(spin);
                    let (mut next, mut some) = (0, Vec::new());
                    loop {
                        if next % 3 == 0 {
                            match receiver.recv_batch(&mut some, 5) {
                                Ok(count) => assert!(count == some.len() && count > 0),
                                Err(error) => return (next, error),
                            }
                        } else {
                            match receiver.recv() {
                                Ok(message) => some.push(message),
                                Err(error) => return (next, error),
                            }
                        }
                        for message in some.drain(..) {
                            assert_eq!(number(&message, largest), next);
                            next += 1;
                        }
                    }
                })
            })
            .collect();
        (0..MESSAGES / 2).for_each(|number| sender.send(&message(number, largest)));
        let rest = (MESSAGES / 2..MESSAGES).map(|number| message(number, largest));
        assert_eq!(sender.send_batch(rest), MESSAGES as usize / 2);
        drop(sender);
        for receiver in receiving {
            assert_eq!(receiver.join().unwrap(), (MESSAGES, BroadcastError::Ended(Error::Closed)));
        }
    }
}

/// Claim: The bound is exact and counts bytes; a message that could never have room is a panic that leaves the channel whole.
#[test]
fn bytes_bound() {
    let (mut sender, mut receivers) = channel(&Options::new(), 61, 1);
    assert_eq!(sender.largest(), 56);
    assert!(catch_unwind(AssertUnwindSafe(|| sender.try_send(&[0; 57]))).is_err());
    sender.try_send(&[1; 24]).unwrap();
    assert_eq!(sender.try_send(&[2; 25]), Err(TrySendError::Full(())));
    sender.try_send(&[3; 24]).unwrap();
    assert_eq!(sender.try_send(&[]), Err(TrySendError::Full(())));
    assert!(sender.send_timeout(&[], Duration::from_millis(5)).is_err());
    let received = |receivers: &mut Vec<BroadcastReceiver<Bytes>>| receivers[0].try_recv().map(|message| message.0);
    assert_eq!(received(&mut receivers), Ok(vec![1; 24]));
    assert_eq!(received(&mut receivers), Ok(vec![3; 24]));
    assert_eq!(received(&mut receivers), Err(BroadcastError::Empty));
    sender.send(&[4; 56]);
    assert_eq!(received(&mut receivers), Ok(vec![4; 56]));
    // Nobody: all has room.
    drop(receivers);
    sender.serve();
    (0..100).for_each(|_| sender.try_send(&[5; 50]).unwrap());
}

/// Claim: A receiver of a lossy one that is too slow learns how many messages it has lost, and goes on with the newest one.
#[test]
fn a_slow_receiver_of_a_lossy_one_learns_what_it_lost() {
    for sent in 1..100 {
        let (mut sender, mut receivers) = channel(&Options::new().lossy(), 200, 1);
        let receiver = &mut receivers[0];
        (0..sent).for_each(|number| sender.send(&message(number, 60)));
        match receiver.try_recv() {
            Ok(first) => assert_eq!(number(&first, 60), 0),
            Err(error) => {
                assert!(sent > 2 && error == BroadcastError::Lagged(u64::from(sent) - 1), "{error:?} of {sent}");
                assert_eq!(number(&receiver.try_recv().unwrap(), 60), sent - 1);
                assert_eq!(receiver.try_recv(), Err(BroadcastError::Empty));
            }
        }
        sender.send(&message(sent, 60));
        let mut last = None;
        loop {
            match receiver.try_recv() {
                Ok(message) => last = Some(number(&message, 60)),
                Err(BroadcastError::Lagged(_)) => {}
                Err(error) => break assert_eq!(error, BroadcastError::Empty),
            }
        }
        assert_eq!(last, Some(sent));
    }
}

/// Claim: A lossy sender waits for nobody, and its receivers receive whole messages, in order, or learn how many they lost.
#[test]
fn a_lossy_stream_is_whole() {
    const MESSAGES: u32 = 200_000;
    let (mut sender, receivers) = channel(&Options::new().lossy(), 2_048, 3);
    let receiving: Vec<_> = receivers
        .into_iter()
        .zip([0, 30, 1_000])
        .map(|(mut receiver, spin)| {
            thread::spawn(move || {
                receiver.set_spin(spin);
                let mut next = 0;
                loop {
                    match receiver.recv() {
                        Ok(message) => {
                            assert_eq!(number(&message, 200), next);
                            next += 1;
                        }
                        Err(BroadcastError::Lagged(lost)) => next += lost as u32,
                        Err(error) => return (next, error),
                    }
                }
            })
        })
        .collect();
    (0..MESSAGES).for_each(|number| sender.send(&message(number, 200)));
    drop(sender);
    for receiver in receiving {
        assert_eq!(receiver.join().unwrap(), (MESSAGES, BroadcastError::Ended(Error::Closed)));
    }
}

/// Claim: Who joins in the middle receives what is sent from then on, wherever the ring is, and loses nothing of it unheard.
#[test]
fn who_joins_later_receives_from_there_on() {
    let name = name("later");
    for options in [Options::new(), Options::new().lossy()] {
        let mut sender = options.broadcast_bytes(&name, 200).unwrap();
        for number in 0..50 {
            sender.send(&message(number, 100));
            let mut receiver = BroadcastReceiver::<Bytes>::from_fd(connect(&name).unwrap()).unwrap();
            sender.serve();
            assert_eq!(receiver.try_recv(), Err(BroadcastError::Empty));
            sender.send(&message(number + 1_000, 100));
            assert_eq!(receiver.try_recv().map(|message| self::number(&message, 100)), Ok(number + 1_000));
        }
    }
}

/// Claim: Values of all lengths are whole, and never go back; all receivers receive the last one.
#[test]
fn values_are_whole_and_never_go_back() {
    const VALUES: u32 = 100_000;
    let mut sender = BytesWatchSender::without_name(300, &message(0, 300)).unwrap();
    assert_eq!(sender.largest(), 304);
    let receiving: Vec<_> = [0, 30, 1_000]
        .map(|spin| {
            let seat = sender.seat().unwrap();
            thread::spawn(move || {
                let mut receiver = WatchReceiver::<Bytes>::from_fd(seat).unwrap();
                receiver.set_spin(spin);
                let mut last = 0;
                loop {
                    match receiver.recv() {
                        Ok(value) => {
                            let value = number(&value, 300);
                            assert!(value >= last && value <= VALUES);
                            last = value;
                        }
                        Err(error) => return (last, error, receiver.latest().map(|value| number(&value, 300))),
                    }
                }
            })
        })
        .into();
    (1..=VALUES).for_each(|value| sender.send(&message(value, 300)));
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(&[0; 305]))).is_err());
    drop(sender);
    for receiver in receiving {
        assert_eq!(receiver.join().unwrap(), (VALUES, Error::Closed, Some(VALUES)));
    }
}

/// Claim: A value takes the place of one of another length, down to none.
#[test]
fn values_have_the_lengths_that_they_were_sent_with() {
    let mut sender = BytesWatchSender::without_name(1, &[]).unwrap();
    let mut receiver = WatchReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    assert_eq!(receiver.try_recv(), Ok(Bytes(Vec::new())));
    for length in [8, 0, 1, 7, 3, 0] {
        sender.send(&vec![length as u8; length]);
        assert_eq!(receiver.try_recv(), Ok(Bytes(vec![length as u8; length])));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

#[test]
fn ends_of_other_kinds_are_refused() {
    let (name, other) = (name("refused"), name("refused-watch"));
    let mut sender = BytesBroadcastSender::bind(&name, 64).unwrap();
    let mut typed = BroadcastReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    sender.serve();
    assert_eq!(typed.recv(), Err(BroadcastError::Ended(Error::Refused(Why::Kind))));
    let mut sender = BytesWatchSender::bind(&other, 8, &[]).unwrap();
    let mut typed = WatchReceiver::<u64>::from_fd(connect(&other).unwrap()).unwrap();
    sender.serve();
    assert_eq!(typed.recv(), Err(Error::Refused(Why::Kind)));
    for capacity in [0, 8, usize::MAX, usize::MAX / 2, 1 << 33] {
        assert_eq!(BytesBroadcastSender::without_name(capacity).unwrap_err(), Error::Refused(Why::Capacity));
    }
    for largest in [0, usize::MAX, usize::MAX - 70, usize::MAX / 8] {
        assert_eq!(BytesWatchSender::without_name(largest, &[]).unwrap_err(), Error::Refused(Why::Capacity));
    }
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<BytesBroadcastSender>();
    may_go::<BroadcastReceiver<Bytes>>();
    may_go::<BytesWatchSender>();
    may_go::<WatchReceiver<Bytes>>();
}
