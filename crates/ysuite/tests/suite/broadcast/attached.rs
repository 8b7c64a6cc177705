//! Receivers in sets of signals, in a `ReadySet`, in a hub, and as streams.

use std::thread;
use std::time::Duration;

use ysuite::broadcast::{self, TryRecvError};
#[cfg(any(unix, windows))]
use ysuite::signal::YSocketpair;
use ysuite::signal::{AttachError, ReadySet, Wait, YPollset};

use crate::support::guarded;

#[test]
fn an_id_is_up_until_its_receiver_has_found_nothing() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let mut other = receiver.clone();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).unwrap();
    set.attach(&mut other, 5).unwrap();
    assert_eq!(set.attach(&mut other, 6), Err(AttachError::AlreadyAttached));
    assert!(set.check().eq([3, 5]), "up when attached");
    assert_eq!((receiver.try_recv(), other.try_recv()), (Err(TryRecvError::Empty), Err(TryRecvError::Empty)));
    assert!(set.check().is_empty());
    sender.send_batch([1, 2]).unwrap();
    assert!(set.check().eq([3, 5]));
    assert!(receiver.try_iter().eq([1, 2]));
    assert!(set.check().eq([5]));
    assert_eq!(other.try_recv(), Ok(1));
    assert!(set.check().eq([5]), "there is another message");
    assert_eq!(set.detach(&mut other), Some(5));
    assert!(set.check().is_empty() && !other.detach());
    assert_eq!(other.try_recv(), Ok(2));
    // Waiting in another way leaves the id up or the receiver armed.
    sender.send(3).unwrap();
    assert_eq!((receiver.recv(), receiver.recv_timeout(Duration::ZERO).is_err()), (Ok(3), true));
    sender.send(4).unwrap();
    assert!(set.check().eq([3]));
    assert_eq!(receiver.try_recv(), Ok(4));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(sender);
    assert!(set.check().eq([3]));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn a_batch_that_finds_nothing_takes_the_id_down() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let (mut set, mut batch) = (YPollset::new(), Vec::new());
    set.attach(&mut receiver, 3).unwrap();
    for _ in 0..2 {
        assert!(set.check().eq([3]));
        assert_eq!(receiver.try_recv_batch(&mut batch, 9), Err(TryRecvError::Empty));
        assert!(set.check().is_empty());
        sender.send_batch([1, 2]).unwrap();
        assert!(set.check().eq([3]));
        assert_eq!(receiver.try_recv_batch(&mut batch, 9), Ok(2));
    }
    assert_eq!(batch, [1, 2, 1, 2]);
}

#[test]
fn a_receiver_that_was_too_slow_is_told_through_its_set() {
    let (sender, mut receiver) = broadcast::lossy(2);
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    (0..5).for_each(|number| sender.send(number).unwrap());
    assert!(set.wait().eq([0]));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(3)));
    assert!(receiver.try_iter().eq([3, 4]));
    assert!(set.check().is_empty());
}

#[test]
fn every_attached_receiver_gets_every_message() {
    guarded(|| {
        let (sender, receiver) = broadcast::bounded(7);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let mut receiver = receiver.clone();
                thread::spawn(move || {
                    let mut set = YPollset::new();
                    set.attach(&mut receiver, 1).unwrap();
                    let mut next = 0;
                    loop {
                        assert!(set.wait().eq([1]));
                        match receiver.try_recv() {
                            Ok(number) => {
                                assert_eq!(number, next);
                                next += 1;
                            }
                            Err(TryRecvError::Empty) => {}
                            Err(_) => return next,
                        }
                    }
                })
            })
            .collect();
        drop(receiver);
        for number in 0..3_000 {
            sender.send(number).unwrap();
            if number % 100 == 0 {
                thread::sleep(Duration::from_micros(100));
            }
        }
        drop(sender);
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 3_000));
    });
}

#[cfg(any(unix, windows))]
#[test]
fn a_receiver_behind_a_descriptor() {
    guarded(|| {
        let (sender, mut receiver) = broadcast::bounded(4);
        let mut set = YSocketpair::with_capacity(8).unwrap();
        set.attach(&mut receiver, 2).unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let thread = thread::spawn(move || (0..10).for_each(|number| sender.send(number).unwrap()));
        let mut next = 0;
        while next < 10 {
            assert!(set.wait().eq([2]));
            receiver.try_iter().for_each(|number| {
                assert_eq!(number, next);
                next += 1;
            });
        }
        thread.join().unwrap();
    });
}

/// Claim: Receivers of broadcast, watch, oneshot and mailboxes work in sets and `ReadySet` like those of channels.
/// Also: suite watch::attached::the_id_is_up_while_there_is_something_to_see,
/// suite oneshot::attached::the_first_of_many_answers_again_and_again.
#[test]
fn a_select_names_the_one_that_has_something() {
    guarded(|| {
        let (first, mut one) = broadcast::bounded::<u8>(2);
        let (second, mut two) = broadcast::lossy::<u8>(2);
        let mut select = ReadySet::new();
        let ids = [select.add(&mut one).unwrap(), select.add(&mut two).unwrap()];
        assert!(one.try_recv().is_err() && two.try_recv().is_err());
        assert_eq!(select.try_wait(), None);
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            second.send(7).unwrap();
            second
        });
        assert_eq!(select.wait(), ids[1]);
        assert_eq!((two.recv(), two.try_recv().is_err(), select.try_wait()), (Ok(7), true, None));
        drop(thread.join().unwrap());
        assert_eq!(select.wait(), ids[1]);
        assert_eq!(two.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(select.remove(&mut two), Some(ids[1]));
        first.send(1).unwrap();
        assert_eq!(select.wait(), ids[0]);
    });
}

#[cfg(all(feature = "hub", unix))]
#[test]
fn a_hub_serves_a_receiver() {
    use std::sync::{Arc, Mutex};

    use ysuite::hub::Hub;

    guarded(|| {
        let (sender, receiver) = broadcast::bounded(4);
        let mut hub = Hub::new().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = seen.clone();
        hub.receive(receiver, move |hub, message| match message {
            Ok(number) => list.lock().unwrap().push(number),
            Err(_) => hub.stop(),
        })
        .unwrap();
        let thread = thread::spawn(move || (0..100).for_each(|number| sender.send(number).unwrap()));
        hub.run().unwrap();
        thread.join().unwrap();
        assert!(seen.lock().unwrap().iter().copied().eq(0..100));
    });
}

#[cfg(all(feature = "hub", unix))]
#[test]
fn a_hub_serves_a_receiver_beside_a_function_though_it_was_too_slow() {
    use ysuite::hub::Hub;

    let (sender, receiver) = broadcast::lossy(2);
    let mut hub = Hub::new().unwrap();
    let (seen, notes) = std::sync::mpsc::channel();
    hub.receive(receiver, move |_, message| seen.send(message.ok()).unwrap()).unwrap();
    (0..5).for_each(|number| sender.send(number).unwrap());
    // A turn that has called a function does not come to rest, where all are served in any case.
    let handle = hub.handle();
    handle.post(|_| {}).unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 3);
    assert!(notes.try_iter().eq([Some(3), Some(4)]));
}

#[cfg(feature = "futures")]
#[test]
fn a_stream_ends_behind_the_last_message() {
    use futures_util::StreamExt;
    use futures_util::stream::FusedStream;

    use crate::support::executor::block_on;

    guarded(|| {
        let (sender, mut receiver) = broadcast::lossy(4);
        assert!(!receiver.is_terminated());
        let thread = thread::spawn(move || (0..4).for_each(|number| sender.send(number).unwrap()));
        let seen: Vec<_> = block_on((&mut receiver).collect());
        thread.join().unwrap();
        assert_eq!(seen, [0, 1, 2, 3]);
        assert!(receiver.is_terminated());
        let (sender, receiver) = broadcast::lossy(2);
        (0..4).for_each(|number| sender.send(number).unwrap());
        drop(sender);
        assert_eq!(block_on(receiver.collect::<Vec<_>>()), [2, 3], "what was missed is passed over");
    });
}

#[test]
fn a_message_raises_the_ids_of_hundreds_of_receivers() {
    const RECEIVERS: usize = 130;
    let (sender, receiver) = broadcast::bounded(4);
    let (mut receivers, mut set) = (vec![receiver; RECEIVERS], YPollset::with_capacity(RECEIVERS));
    receivers.iter_mut().enumerate().for_each(|(id, receiver)| set.attach(receiver, id).unwrap());
    for message in 0..3 {
        assert!(receivers.iter_mut().all(|receiver| receiver.try_recv() == Err(TryRecvError::Empty)));
        assert!(set.check().is_empty());
        sender.send(message).unwrap();
        // Each takes down its own.
        for (id, receiver) in receivers.iter_mut().enumerate() {
            assert!(set.check().eq(id..RECEIVERS));
            assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(message), Err(TryRecvError::Empty)));
        }
    }
    assert!(set.check().is_empty());
    drop(sender);
    assert!(set.check().eq(0..RECEIVERS));
}
