//! Receivers that a sender has evicted: what becomes of those that wait for them, of what they had not had, and of themselves.
//!
//! Claim: An evicted receiver blocks no sender, wakes if it waits, and learns of the eviction and of the messages that
//! it missed. The message that it is copying stays valid.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use ysuite::broadcast::{self, Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError};
use ysuite::signal::{Wait, YPollset};

use crate::support::executor::{Task, block_on, poll_once};

/// Far more than any of this takes.
const GUARD: Duration = Duration::from_secs(60);

fn both(test: fn((Sender<u32>, Receiver<u32>))) {
    test(broadcast::bounded(4));
    test(broadcast::lossy(4));
}

#[test]
fn a_receiver_that_was_evicted_is_told_what_it_misses_and_then_the_end() {
    both(|(sender, mut evicted)| {
        let mut stays = sender.subscribe();
        sender.send(0).unwrap();
        assert_eq!(evicted.recv(), Ok(0));
        (1..4).for_each(|number| sender.send(number).unwrap());
        assert!(!evicted.is_evicted() && sender.evict(evicted.id()));
        assert!(evicted.is_evicted() && !stays.is_evicted());
        assert_eq!((sender.receiver_count(), sender.slowest().map(|lag| lag.id)), (1, Some(stays.id())));
        assert_eq!((evicted.recv(), evicted.missed()), (Err(RecvError::Lagged(3)), 3));
        assert_eq!((evicted.recv(), evicted.len()), (Err(RecvError::Disconnected), 0));
        // What comes later is none of its messages either.
        assert!(stays.try_iter().eq(0..4));
        (4..12).for_each(|number| {
            sender.send(number).unwrap();
            assert_eq!(stays.recv(), Ok(number));
        });
        assert_eq!(evicted.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(evicted.try_recv_batch(&mut Vec::new(), 0), Err(TryRecvError::Disconnected));
        drop(evicted);
        assert_eq!(sender.receiver_count(), 1);
        sender.send(12).unwrap();
        assert_eq!(stays.recv(), Ok(12));
    });
}

#[test]
fn every_way_of_receiving_finds_that_it_was_evicted() {
    type Receive = fn(&mut Receiver<u32>) -> Option<u64>;
    let ways: [Receive; 6] = [
        |receiver| match receiver.recv() {
            Err(RecvError::Lagged(missed)) => Some(missed),
            _ => None,
        },
        |receiver| match receiver.try_recv() {
            Err(TryRecvError::Lagged(missed)) => Some(missed),
            _ => None,
        },
        |receiver| match receiver.recv_timeout(GUARD) {
            Err(RecvTimeoutError::Lagged(missed)) => Some(missed),
            _ => None,
        },
        |receiver| match receiver.recv_batch(&mut Vec::new(), 10) {
            Err(RecvError::Lagged(missed)) => Some(missed),
            _ => None,
        },
        |receiver| match block_on(receiver.recv_async()) {
            Err(RecvError::Lagged(missed)) => Some(missed),
            _ => None,
        },
        // It passes over what it has missed.
        |receiver| receiver.iter().next().map_or(Some(receiver.missed()), |_| None),
    ];
    for receive in ways {
        let (sender, mut evicted) = broadcast::bounded(4);
        let _stays = sender.subscribe();
        (0..3).for_each(|number| sender.send(number).unwrap());
        assert!(sender.evict(evicted.id()));
        assert_eq!(receive(&mut evicted), Some(3));
        assert_eq!(evicted.recv(), Err(RecvError::Disconnected));
    }
}

#[test]
fn an_id_is_evicted_once_and_no_other_is() {
    both(|(sender, receiver)| {
        let (clone, later) = (receiver.clone(), sender.subscribe());
        let id = receiver.id();
        assert!(!sender.evict(0) && !sender.evict(1_000_000));
        assert!(sender.evict(id) && !sender.evict(id));
        drop(receiver);
        assert!(!sender.evict(id));
        assert!(!clone.is_evicted() && !later.is_evicted());
        assert_eq!((sender.receiver_count(), sender.lags().len()), (2, 2));
        // Its place is another's now.
        let next = sender.subscribe();
        assert!(!sender.evict(id) && !next.is_evicted() && sender.evict(next.id()));
    });
}

#[test]
fn a_clone_of_one_that_was_evicted_is_evicted() {
    both(|(sender, mut evicted)| {
        let _stays = sender.subscribe();
        sender.send(0).unwrap();
        assert!(sender.evict(evicted.id()));
        let mut clone = evicted.clone();
        assert_eq!((clone.recv(), clone.recv()), (Err(RecvError::Lagged(1)), Err(RecvError::Disconnected)));
        assert_eq!((evicted.recv(), evicted.recv()), (Err(RecvError::Lagged(1)), Err(RecvError::Disconnected)));
        let mut clone = evicted.clone();
        assert!(clone.is_evicted() && clone.recv() == Err(RecvError::Disconnected));
        assert_eq!(sender.receiver_count(), 1);
        drop((clone, evicted));
        assert_eq!(sender.receiver_count(), 1);
    });
}

#[test]
fn senders_that_wait_for_one_that_was_evicted_go_on() {
    let (sender, stuck) = broadcast::bounded(2);
    let mut stays = sender.subscribe();
    (0..2).for_each(|number| {
        sender.send(number).unwrap();
        assert_eq!(stays.recv(), Ok(number));
    });
    let sending = sender.clone();
    let thread = thread::spawn(move || (2..10).for_each(|number| sending.send(number).unwrap()));
    let task = Task::default();
    let mut waiting = Box::pin(sender.send_async(100));
    assert!(poll_once(&mut waiting, &task).is_pending());
    let slowest = sender.slowest().unwrap();
    assert_eq!((slowest.id, slowest.messages), (stuck.id(), 2));
    assert!(sender.evict(slowest.id));
    let mut got: Vec<_> = (0..8).map(|_| stays.recv_timeout(GUARD).unwrap()).collect();
    assert!(block_on(waiting).is_ok());
    thread.join().unwrap();
    got.extend(stays.try_iter());
    got.retain(|number| *number != 100);
    assert!(got.into_iter().eq(2..10) && stuck.is_evicted());
}

#[test]
fn the_last_receiver_that_is_evicted_leaves_none() {
    both(|(sender, stuck)| {
        (0..4).for_each(|number| sender.send(number).unwrap());
        let (full, closed) = (sender.clone(), sender.clone());
        let waiting = [
            thread::spawn(move || while full.send(4).is_ok() {}),
            thread::spawn(move || assert!(closed.wait_closed_timeout(GUARD))),
        ];
        assert!(!sender.is_disconnected() && sender.evict(stuck.id()));
        assert!(sender.is_disconnected() && sender.send(5).is_err());
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
        let mut next = sender.subscribe();
        sender.send(6).unwrap();
        assert_eq!(next.recv(), Ok(6));
        drop(stuck);
        assert!(!sender.is_disconnected());
    });
}

#[test]
fn a_receiver_that_waits_is_woken_when_it_is_evicted() {
    both(|(sender, receiver)| {
        let _stays = sender.subscribe();
        let ids: Vec<_> = [receiver.id()].into_iter().collect();
        let (mut thread_waits, mut task_waits, mut polled, mut attached) =
            (receiver, sender.subscribe(), sender.subscribe(), sender.subscribe());
        let others = [task_waits.id(), polled.id(), attached.id()];
        let thread = thread::spawn(move || thread_waits.recv());
        let task = Task::default();
        let mut waiting = Box::pin(task_waits.recv_async());
        assert!(poll_once(&mut waiting, &task).is_pending());
        let polling = Task::default();
        let waker = polling.waker();
        let mut context = std::task::Context::from_waker(&waker);
        assert!(polled.poll_recv(&mut context).is_pending());
        let mut set = YPollset::new();
        set.attach(&mut attached, 7).unwrap();
        assert_eq!(attached.try_recv(), Err(TryRecvError::Empty));
        ids.into_iter().chain(others).for_each(|id| assert!(sender.evict(id)));
        assert_eq!(thread.join().unwrap(), Err(RecvError::Disconnected));
        assert!(task.woken() > 0 && polling.woken() > 0);
        assert_eq!(block_on(waiting), Err(RecvError::Disconnected));
        assert!(set.wait().eq([7]));
        assert_eq!(attached.try_recv(), Err(TryRecvError::Disconnected));
    });
}

/// Claim: The disconnection of an evicted receiver is final, whatever is sent later.
#[test]
fn what_is_sent_after_an_evicted_receiver_has_found_its_end_is_none_of_its_messages() {
    type End = fn(&mut Receiver<u32>) -> bool;
    let ends: [End; 7] = [
        |receiver| receiver.recv() == Err(RecvError::Disconnected),
        |receiver| receiver.try_recv() == Err(TryRecvError::Disconnected),
        |receiver| receiver.recv_timeout(GUARD) == Err(RecvTimeoutError::Disconnected),
        |receiver| receiver.recv_batch(&mut Vec::new(), 9) == Err(RecvError::Disconnected),
        |receiver| receiver.try_recv_batch(&mut Vec::new(), 0) == Err(TryRecvError::Disconnected),
        |receiver| receiver.try_recv_batch(&mut Vec::new(), 9) == Err(TryRecvError::Disconnected),
        |receiver| block_on(receiver.recv_async()) == Err(RecvError::Disconnected),
    ];
    for first in ends {
        for (sender, mut evicted) in [broadcast::bounded(4), broadcast::lossy(4)] {
            let mut stays = sender.subscribe();
            assert!(sender.evict(evicted.id()) && first(&mut evicted));
            for number in 0..12 {
                sender.send(number).unwrap();
                assert_eq!(stays.recv(), Ok(number));
                assert!(ends.iter().all(|end| end(&mut evicted)), "after {number}");
            }
            assert_eq!((evicted.missed(), evicted.clone().try_recv()), (0, Err(TryRecvError::Disconnected)));
        }
    }
}

/// A message whose first copy waits until it may go on.
struct Slow {
    number: u32,
    gate: Option<Arc<Gate>>,
}

struct Gate {
    is_first: AtomicBool,
    entered: mpsc::SyncSender<()>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl Clone for Slow {
    fn clone(&self) -> Self {
        if let Some(gate) = self.gate.as_ref().filter(|gate| gate.is_first.swap(false, Ordering::AcqRel)) {
            gate.entered.send(()).unwrap();
            gate.go_on.lock().unwrap().recv_timeout(GUARD).unwrap();
        }
        Self { number: self.number, gate: None }
    }
}

#[test]
fn a_receiver_that_is_copying_keeps_its_message_until_it_has() {
    for is_lossy in [false, true] {
        let (entered, enters) = mpsc::sync_channel(1);
        let (goes, go_on) = mpsc::sync_channel(1);
        let (sender, mut stuck) = if is_lossy { broadcast::lossy(1) } else { broadcast::bounded(1) };
        let mut stays = sender.subscribe();
        let gate = Gate { is_first: AtomicBool::new(true), entered, go_on: Mutex::new(go_on) };
        sender.send(Slow { number: 1, gate: Some(Arc::new(gate)) }).ok().unwrap();
        let id = stuck.id();
        let copying = thread::spawn(move || {
            let mut receive = || stuck.recv().map(|message| message.number);
            let received = (receive(), receive(), receive());
            (received, stuck)
        });
        enters.recv_timeout(GUARD).unwrap();
        assert_eq!(stays.recv().map(|message| message.number), Ok(1));
        assert!(sender.evict(id) && sender.receiver_count() == 2);
        let mut next = 2;
        while sender.try_send(Slow { number: next, gate: None }).is_ok() {
            assert_eq!(stays.recv().map(|message| message.number), Ok(next));
            next += 1;
        }
        // All the cells except that one.
        assert_eq!(next, if is_lossy { 3 } else { 2 });
        let sending = sender.clone();
        let waiting = thread::spawn(move || sending.send(Slow { number: next, gate: None }).is_ok());
        goes.send(()).unwrap();
        assert!(waiting.join().unwrap());
        assert_eq!(stays.recv().map(|message| message.number), Ok(next));
        let ((first, second, third), stuck) = copying.join().unwrap();
        assert_eq!(first, Ok(1));
        // Whether there was another message when it polled.
        assert!(matches!(second, Err(RecvError::Lagged(1..)) | Err(RecvError::Disconnected)), "{second:?}");
        assert_eq!(third, Err(RecvError::Disconnected));
        assert!(stuck.is_evicted());
        // It may count as long as it is kept.
        drop(stuck);
        assert_eq!(sender.receiver_count(), 1);
    }
}
