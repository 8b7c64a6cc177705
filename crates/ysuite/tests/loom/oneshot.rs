//! The oneshot: each handle's last step against every way in which the other may wait, give up waiting, or be dropped.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::oneshot::{self, Receiver, Sender};
use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{RecvError, RecvTimeoutError, TryRecvError};

use crate::{Counted, model};

/// Counts wakes, which no thread waits for.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Bell {
    fn rung(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn poll<T>(receiver: &mut Receiver<T>, bell: &Arc<Bell>) -> Poll<Result<T, RecvError>> {
    let waker = Waker::from(bell.clone());
    Pin::new(receiver).poll(&mut Context::from_waker(&waker))
}

fn counted() -> (Counted, Arc<AtomicUsize>) {
    let ends = Arc::new(AtomicUsize::new(0));
    (Counted(ends.clone()), ends)
}

/// Sends in another thread while `receive` runs.
fn sending(receive: impl Fn(Receiver<Box<u32>>) + Send + Sync + 'static) {
    model(move || {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || drop(sender.send(Box::new(7))));
        receive(receiver);
        thread.join().unwrap();
    });
}

/// Drops the sender in another thread while `receive` runs.
fn hanging_up(receive: impl Fn(Receiver<Box<u32>>) + Send + Sync + 'static) {
    model(move || {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || drop(sender));
        receive(receiver);
        thread.join().unwrap();
    });
}

/// Drops the receiver in another thread while `wait` runs.
fn leaving(wait: impl Fn(Sender<Box<u32>>) + Send + Sync + 'static) {
    model(move || {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || drop(receiver));
        wait(sender);
        thread.join().unwrap();
    });
}

/// Claim: A oneshot send wakes its receiver in every wake mode: thread, time limit, task and set, and several of these
/// at once.
/// Also: suite oneshot::tasks::no_wake_up_is_lost_between_threads_and_tasks, stress oneshot::threads_that_receive.
#[test]
fn a_send_against_a_receiver_going_to_sleep() {
    sending(|receiver| assert_eq!(*receiver.recv().unwrap(), 7));
}

#[test]
fn a_send_against_a_receiver_whose_time_is_up() {
    sending(|mut receiver| {
        let first = receiver.recv_timeout(Duration::from_secs(1));
        match first {
            Ok(message) => assert_eq!(*message, 7),
            Err(error) => {
                assert_eq!(error, RecvTimeoutError::Timeout);
                assert_eq!(*receiver.recv().unwrap(), 7);
            }
        }
    });
}

/// Notices: oneshot#87, a sender uses a waker that its receiver has freed.
#[test]
fn a_send_against_a_receiver_that_gives_up_and_goes() {
    model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let (message, ends) = counted();
        let thread = thread::spawn(move || sender.send(message).is_ok());
        let received = receiver.recv_timeout(Duration::from_secs(1));
        drop(receiver);
        let sent = thread.join().unwrap();
        // What is received was sent; what came too late came back, or went with the receiver.
        assert!(sent || received.is_err());
        drop(received);
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_send_against_a_task() {
    sending(|receiver| assert_eq!(*block_on(receiver).unwrap(), 7));
}

/// Claim: A oneshot receiver can move between tasks and sets while the sender sends.
#[test]
fn a_send_against_a_task_that_hands_its_receiver_to_another() {
    sending(|mut receiver| {
        let (first, second) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
        for bell in [&first, &first, &second] {
            if let Poll::Ready(message) = poll(&mut receiver, bell) {
                assert_eq!(*message.unwrap(), 7);
                return;
            }
        }
        // The task that polled last is woken, however the first one's waker was dropped.
        assert_eq!(*block_on(receiver).unwrap(), 7);
    });
}

/// Claim: Only the task that polled a oneshot last is woken.
/// Also: suite oneshot::tasks::asking_again_keeps_one_waker_of_the_last_task.
#[test]
fn only_the_task_that_polled_last_is_woken() {
    model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let (first, second) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
        assert!(poll(&mut receiver, &first).is_pending());
        let thread = thread::spawn(move || sender.send(7).unwrap());
        let polled = poll(&mut receiver, &second);
        thread.join().unwrap();
        match polled {
            Poll::Ready(message) => assert_eq!(message, Ok(7)),
            Poll::Pending => {
                assert_eq!((first.rung(), second.rung()), (0, 1));
                assert_eq!(receiver.recv(), Ok(7));
            }
        }
        // No waker is left anywhere.
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    });
}

#[test]
fn a_send_against_a_look() {
    sending(|mut receiver| match receiver.try_recv() {
        Ok(message) => assert_eq!(*message, 7),
        Err(error) => assert_eq!(error, TryRecvError::Empty),
    });
}

/// Claim: A oneshot message is received, returned or dropped once, whichever handle is dropped first.
/// Also: suite oneshot::endings::ends_go_in_any_order_on_any_threads,
/// suite oneshot::random::operations_at_random_do_what_a_reference_says.
#[test]
fn a_send_against_the_drop_of_its_receiver() {
    model(|| {
        let (sender, receiver) = oneshot::channel();
        let (message, ends) = counted();
        let thread = thread::spawn(move || drop(sender.send(message)));
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    });
}

/// Claim: The last handle frees the oneshot once, without waiting for the other. No waker is used afterwards.
/// Also: allocation oneshots::whichever_end_goes_last_frees_the_channel.
#[test]
fn a_send_against_the_drop_of_a_receiver_that_a_task_waits_for() {
    model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let (message, ends) = counted();
        let bell = Arc::new(Bell::default());
        assert!(poll(&mut receiver, &bell).is_pending());
        let thread = thread::spawn(move || drop(sender.send(message)));
        drop(receiver);
        thread.join().unwrap();
        assert_eq!((ends.load(Ordering::Relaxed), Arc::strong_count(&bell)), (1, 1));
    });
}

/// Claim: A message sent before a oneshot close is received after it, and nothing is sent later.
/// Also: suite oneshot::endings::what_was_sent_before_the_close_is_received_behind_it,
/// suite oneshot::attached::a_closed_receiver_is_over.
#[test]
fn a_send_against_a_close() {
    model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let (message, ends) = counted();
        let thread = thread::spawn(move || sender.send(message).is_ok());
        let closed = receiver.close();
        assert!(!receiver.close());
        let received = receiver.try_recv();
        assert_eq!(closed, received.is_err());
        assert_ne!(closed, thread.join().unwrap());
        drop(received);
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    });
}

/// Claim: Dropping the oneshot sender wakes a waiting receiver.
/// Also: suite oneshot::attached::a_sender_that_hangs_up_is_news, stress oneshot::threads_that_receive.
#[test]
fn the_senders_end_against_a_receiver_going_to_sleep() {
    hanging_up(|receiver| assert!(receiver.recv().is_err()));
}

#[test]
fn the_senders_end_against_a_task() {
    hanging_up(|receiver| assert!(block_on(receiver).is_err()));
}

#[test]
fn both_ends_go_at_once() {
    hanging_up(drop);
}

#[test]
fn both_ends_go_at_once_while_tasks_wait_for_both() {
    model(|| {
        let (mut sender, mut receiver) = oneshot::channel::<u32>();
        let (first, second) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
        assert!(poll(&mut receiver, &first).is_pending());
        let waker = Waker::from(second.clone());
        assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        let thread = thread::spawn(move || drop(sender));
        drop(receiver);
        thread.join().unwrap();
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    });
}

/// Claim: Dropping the oneshot receiver wakes a sender that waits for that. A sender that stops waiting can still send.
/// Also: stress oneshot::senders_that_wait_for_the_end.
#[test]
fn the_receivers_end_against_a_sender_going_to_sleep() {
    leaving(|mut sender| {
        sender.wait_closed();
        assert_eq!(*sender.send(Box::new(7)).unwrap_err().into_inner(), 7);
    });
}

#[test]
fn the_receivers_end_against_a_sender_whose_time_is_up() {
    leaving(|mut sender| {
        if sender.wait_closed_timeout(Duration::from_secs(1)) {
            assert!(sender.is_disconnected());
        }
    });
}

#[test]
fn the_receivers_end_against_a_task_of_the_sender() {
    leaving(|mut sender| {
        block_on(sender.closed());
        assert!(sender.is_disconnected());
    });
}

#[test]
fn the_receivers_end_against_a_task_that_gives_up_and_sends() {
    model(|| {
        let (mut sender, receiver) = oneshot::channel();
        let (message, ends) = counted();
        let thread = thread::spawn(move || drop(receiver));
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(bell.clone());
        // Polled twice, the second time by another waker of the same task, and then given up.
        for _ in 0..2 {
            let _ = sender.poll_closed(&mut Context::from_waker(&waker));
        }
        drop(waker);
        drop(sender.send(message));
        thread.join().unwrap();
        assert_eq!((ends.load(Ordering::Relaxed), Arc::strong_count(&bell)), (1, 1));
    });
}

#[test]
fn a_send_by_a_sender_that_waits_against_a_receiver_that_waits() {
    model(|| {
        let (mut sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || {
            let mut closed = Box::pin(sender.closed());
            let bell = Waker::from(Arc::new(Bell::default()));
            assert!(closed.as_mut().poll(&mut Context::from_waker(&bell)).is_pending());
            drop(closed);
            sender.send(7).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(7));
        thread.join().unwrap();
    });
}

/// Waits in a set until the receiver is over.
fn wait_in(set: &mut YPollset, receiver: &mut Receiver<Box<u32>>) -> Option<Box<u32>> {
    loop {
        match receiver.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => assert!(set.wait().eq([1])),
        }
    }
}

#[test]
fn a_send_against_an_attached_receiver_that_rests() {
    sending(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        assert_eq!(wait_in(&mut set, &mut receiver).as_deref(), Some(&7));
        // It is over, and is named until it leaves the set.
        assert!(set.check().eq([1]));
        assert_eq!(set.detach(&mut receiver), Some(1));
    });
}

#[test]
fn the_senders_end_against_an_attached_receiver_that_rests() {
    hanging_up(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        assert_eq!(wait_in(&mut set, &mut receiver), None);
    });
}

#[test]
fn a_send_against_a_receiver_that_leaves_its_set() {
    sending(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 0).unwrap();
        assert!(receiver.detach());
        // A raise that was under way may come now.
        assert!(set.check().all(|id| id == 0));
        assert_eq!(*receiver.recv().unwrap(), 7);
    });
}

#[test]
fn a_send_against_a_receiver_that_changes_sets() {
    sending(|mut receiver| {
        let (mut one, mut other) = (ReadySet::new(), YPollset::new());
        one.add(&mut receiver).unwrap();
        assert!(receiver.try_recv().is_err() || receiver.is_disconnected());
        one.remove(&mut receiver).unwrap();
        other.attach(&mut receiver, 1).unwrap();
        if !receiver.is_disconnected() || !receiver.is_empty() {
            wait_in(&mut other, &mut receiver);
        }
    });
}

#[test]
fn a_send_against_an_attached_receiver_that_a_thread_waits_for() {
    sending(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        if receiver.try_recv().is_err() {
            assert_eq!(receiver.recv_timeout(Duration::MAX).as_deref(), Ok(&7));
        }
        assert!(set.check().eq([1]));
    });
}

#[test]
fn a_send_against_a_task_whose_receiver_joins_a_set() {
    sending(|mut receiver| {
        let mut set = YPollset::new();
        let attached = &mut false;
        let message = block_on(poll_fn(|context| {
            let polled = Pin::new(&mut receiver).poll(context);
            if polled.is_pending() && !core::mem::replace(attached, true) {
                // After the poll: the task must be woken all the same.
                set.attach(&mut receiver, 1).unwrap();
            }
            polled
        }));
        assert_eq!(*message.unwrap(), 7);
    });
}

#[test]
fn a_send_against_a_task_whose_receiver_leaves_a_set() {
    sending(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        let message = block_on(poll_fn(|context| {
            let polled = Pin::new(&mut receiver).poll(context);
            if polled.is_pending() {
                set.detach(&mut receiver);
            }
            polled
        }));
        assert_eq!(*message.unwrap(), 7);
    });
}

#[test]
fn a_send_against_the_drop_of_an_attached_receiver() {
    model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let (message, ends) = counted();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        let thread = thread::spawn(move || drop(sender.send(message)));
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(ends.load(Ordering::Relaxed), 1);
    });
}
