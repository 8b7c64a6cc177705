//! Receivers in sets of signals: the id is up while there may be a message, and once nothing more will come.

use std::thread;
use std::time::Duration;

use super::LONG;
use crate::support::executor::{Task, poll_once};
use crate::support::{Random, calls, guarded};
use ysuite::TryRecvError;
use ysuite::oneshot;
use ysuite::signal::{AttachError, ReadySet, Wait, YPollset};

#[test]
fn the_id_is_up_while_there_may_be_a_message() {
    let (sender, mut receiver) = oneshot::channel();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 4).unwrap();
    // At first, and as long as it is not polled.
    assert!(set.check().eq([4]) && set.check().eq([4]));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(set.check().is_empty());
    sender.send(1).unwrap();
    assert!(set.check().eq([4]) && set.check().eq([4]));
    assert_eq!(receiver.try_recv(), Ok(1));
    // It is over: it is named until it leaves.
    assert!(set.check().eq([4]));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert!(set.check().eq([4]));
    assert_eq!((set.detach(&mut receiver), set.detach(&mut receiver)), (Some(4), None));
    assert!(set.check().is_empty());
}

#[test]
fn peeking_rests_as_receiving_does() {
    let (sender, mut receiver) = oneshot::channel();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 4).unwrap();
    assert_eq!(receiver.peek(), None);
    assert!(set.check().is_empty());
    let before = calls();
    assert_eq!((receiver.try_recv(), receiver.peek()), (Err(TryRecvError::Empty), None));
    assert_eq!(calls(), before);
    sender.send(1).unwrap();
    assert_eq!(receiver.peek(), Some(&1));
    assert!(set.check().eq([4]));
}

#[cfg(any(unix, windows))]
#[test]
fn what_is_there_is_seen_and_taken_without_a_system_call_in_a_set_with_a_descriptor() {
    use ysuite::signal::YSocketpair;

    let (sender, mut receiver) = oneshot::channel();
    let mut pair = YSocketpair::new().unwrap();
    pair.attach(&mut receiver, 4).unwrap();
    sender.send(1).unwrap();
    let before = calls();
    for _ in 0..2 {
        // The id stays up.
        assert_eq!(receiver.peek(), Some(&1));
    }
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(calls(), before);
    assert!(pair.check().eq([4]));
}

#[test]
fn a_sender_that_hangs_up_is_news() {
    let (sender, mut receiver) = oneshot::channel::<u8>();
    let mut select = ReadySet::new();
    let id = select.add(&mut receiver).unwrap();
    assert!(receiver.try_recv().unwrap_err().is_empty());
    assert_eq!(select.try_wait(), None);
    drop(sender);
    assert_eq!(select.wait(), id);
    assert!(receiver.try_recv().unwrap_err().is_disconnected());
    assert_eq!((select.remove(&mut receiver), select.try_wait()), (Some(id), None));
}

#[test]
fn a_closed_receiver_is_over() {
    let (sender, mut receiver) = oneshot::channel::<u8>();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 2).unwrap();
    assert!(receiver.try_recv().is_err());
    assert!(receiver.close());
    assert!(set.check().eq([2]));
    assert!(receiver.try_recv().unwrap_err().is_disconnected());
    assert!(sender.send(1).is_err());
    assert_eq!(set.detach(&mut receiver), Some(2));
}

#[test]
fn a_spent_receiver_can_be_attached_and_is_named_at_once() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    let mut set = YPollset::new();
    set.attach(&mut receiver, 2).unwrap();
    assert_eq!(set.attach(&mut receiver, 3), Err(AttachError::AlreadyAttached));
    for _ in 0..2 {
        assert!(receiver.try_recv().unwrap_err().is_disconnected());
        assert!(set.check().eq([2]));
    }
    drop(receiver);
    assert!(set.check().is_empty());
}

#[test]
fn a_receiver_changes_sets_and_leaves_nothing_behind() {
    let (sender, mut receiver) = oneshot::channel();
    let (mut one, mut other) = (YPollset::new(), YPollset::new());
    for _ in 0..3 {
        one.attach(&mut receiver, 1).unwrap();
        assert_eq!(other.attach(&mut receiver, 1), Err(AttachError::AlreadyAttached));
        assert!(receiver.try_recv().is_err() && receiver.detach() && !receiver.detach());
        other.attach(&mut receiver, 1).unwrap();
        assert!(receiver.try_recv().is_err());
        assert_eq!((one.detach(&mut receiver), other.detach(&mut receiver)), (None, Some(1)));
    }
    other.attach(&mut receiver, 7).unwrap();
    assert!(receiver.try_recv().is_err());
    sender.send(1).unwrap();
    assert!(one.check().is_empty() && other.check().eq([7]));
    // With the message in it.
    assert!(receiver.detach());
    one.attach(&mut receiver, 3).unwrap();
    assert!(other.check().is_empty() && one.check().eq([3]));
    assert_eq!(receiver.recv(), Ok(1));
    assert!(one.check().is_empty(), "a receiver that is gone has left its set");
}

#[test]
fn the_set_may_be_gone() {
    let (sender, mut receiver) = oneshot::channel();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    assert!(receiver.try_recv().is_err());
    drop(set);
    sender.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn a_task_waits_beside_a_set_and_goes_on_when_the_receiver_leaves_it() {
    for (attach_first, detach) in [(true, true), (true, false), (false, true), (false, false)] {
        let (sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        let task = Task::default();
        if attach_first {
            set.attach(&mut receiver, 1).unwrap();
            assert!(receiver.try_recv().is_err());
        }
        assert!(poll_once(&mut receiver, &task).is_pending());
        if !attach_first {
            set.attach(&mut receiver, 1).unwrap();
            assert!(receiver.try_recv().is_err());
        }
        assert_eq!(task.held(), 1);
        if detach {
            assert!(receiver.detach());
            assert_eq!(task.held(), 1);
        }
        sender.send(1).unwrap();
        assert_eq!((task.woken(), task.held()), (1, 0));
        assert_eq!(set.check().count(), usize::from(!detach));
        assert_eq!(receiver.recv(), Ok(1));
    }
}

#[test]
fn a_thread_waits_for_an_attached_receiver() {
    guarded(|| {
        let (sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        assert!(receiver.try_recv().is_err());
        assert!(receiver.recv_timeout(Duration::from_micros(10)).unwrap_err().is_timeout());
        let thread = thread::spawn(move || (receiver.recv_timeout(LONG), receiver));
        sender.send(1).unwrap();
        let (received, _receiver) = thread.join().unwrap();
        assert_eq!(received, Ok(1));
        assert!(set.wait().eq([1]));
    });
}

#[test]
fn the_first_of_many_answers_again_and_again() {
    guarded(|| {
        const ANSWERS: usize = 24;
        for round in 0..100 {
            let mut select = ReadySet::with_capacity(64);
            let mut random = Random::new(round);
            let (mut receivers, mut threads) = (Vec::new(), Vec::new());
            for number in 0..ANSWERS {
                let (sender, mut receiver) = oneshot::channel();
                receivers.push((select.add(&mut receiver).unwrap(), receiver));
                let mut pauses = Random::new(round * 100 + number as u64);
                threads.push(thread::spawn(move || {
                    pauses.pause();
                    if number % 6 == 0 { drop(sender) } else { sender.send(number).unwrap() }
                }));
            }
            let mut sum = 0;
            while !receivers.is_empty() {
                let named = select.wait();
                let Some(at) = receivers.iter().position(|(id, _)| *id == named) else { continue };
                match receivers[at].1.try_recv() {
                    Ok(message) => sum += message,
                    Err(TryRecvError::Empty) => continue,
                    Err(TryRecvError::Disconnected) => {}
                }
                let (id, mut receiver) = receivers.swap_remove(at);
                // One way or the other.
                if random.below(2) == 0 {
                    assert_eq!(select.remove(&mut receiver), Some(id));
                }
            }
            assert_eq!(sum, (0..ANSWERS).filter(|number| number % 6 != 0).sum());
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

#[cfg(any(unix, windows))]
#[test]
fn a_descriptor_tells_of_an_answer() {
    use ysuite::signal::YSocketpair;

    guarded(|| {
        for round in 0..500 {
            let (sender, mut receiver) = oneshot::channel();
            let mut pair = YSocketpair::new().unwrap();
            pair.attach(&mut receiver, 200).unwrap();
            let thread = thread::spawn(move || {
                Random::new(round + 1).pause();
                sender.send(round).unwrap();
            });
            let received = loop {
                match receiver.try_recv() {
                    Ok(received) => break received,
                    Err(_) => assert!(pair.wait().eq([200])),
                }
            };
            assert_eq!(received, round);
            thread.join().unwrap();
        }
    });
}

#[cfg(all(feature = "hub", unix))]
#[test]
fn a_hub_serves_an_answer_and_then_its_end() {
    use std::sync::{Arc, Mutex};

    use ysuite::RecvError;
    use ysuite::hub::Hub;

    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (sender, receiver) = oneshot::channel();
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        hub.receive(receiver, move |hub, message: Result<u8, RecvError>| {
            seen.lock().unwrap().push(message);
            if message.is_err() {
                hub.stop();
            }
        })
        .unwrap();
        let thread = thread::spawn(move || sender.send(5).unwrap());
        hub.run().unwrap();
        thread.join().unwrap();
        assert_eq!(*log.lock().unwrap(), [Ok(5), Err(RecvError)]);
    });
}

/// Also in a turn with other work, when the hub only checks, and takes no id down.
#[cfg(all(feature = "hub", unix))]
#[test]
fn a_hub_with_other_work_serves_an_answer_in_the_same_turn() {
    use std::sync::{Arc, Mutex};

    use ysuite::RecvError;
    use ysuite::hub::Hub;

    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (sender, receiver) = oneshot::channel();
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        hub.receive(receiver, move |_, message: Result<u8, RecvError>| seen.lock().unwrap().push(message)).unwrap();
        sender.send(5).unwrap();
        let handle = hub.handle();
        handle.post(|_| ()).unwrap();
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 2);
        assert_eq!(*log.lock().unwrap(), [Ok(5)]);
    });
}

/// It has only checked, and has not reported the disconnect.
#[cfg(all(feature = "hub", feature = "stream", unix))]
#[test]
fn a_receiver_that_a_hub_gives_back_has_its_end_to_tell() {
    use futures_core::FusedFuture;
    use ysuite::RecvError;
    use ysuite::hub::Hub;
    use ysuite::oneshot::Receiver;

    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (sender, receiver) = oneshot::channel();
        let source = hub.receive(receiver, |_, _: Result<u8, RecvError>| panic!("told too early")).unwrap();
        drop(sender);
        let handle = hub.handle();
        handle.post(|_| ()).unwrap();
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
        let mut receiver = hub.take::<Receiver<u8>>(source).unwrap();
        assert!(!receiver.is_terminated());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert!(receiver.is_terminated());
    });
}
