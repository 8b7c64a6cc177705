//! Channels in asynchronous code, without any runtime: what one task, or several on one thread, can do with them. What
//! every channel does for a single future is in the conformance suite.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Random, calls, guarded};
use ysuite::spsc;

/// The tasks of one thread, run when they are woken and in that order.
#[derive(Default)]
struct Executor {
    ready: Arc<Mutex<VecDeque<usize>>>,
    tasks: Vec<Option<Pin<Box<dyn Future<Output = ()>>>>>,
}

struct Turn {
    ready: Arc<Mutex<VecDeque<usize>>>,
    task: usize,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.ready.lock().unwrap().push_back(self.task);
    }
}

impl Executor {
    fn spawn(&mut self, future: impl Future<Output = ()> + 'static) {
        self.ready.lock().unwrap().push_back(self.tasks.len());
        self.tasks.push(Some(Box::pin(future)));
    }

    /// Runs until no task is ready. Returns how many have not finished: those wait for a peer that will never come.
    fn run(&mut self) -> usize {
        loop {
            let next = self.ready.lock().unwrap().pop_front();
            let Some(task) = next else { return self.tasks.iter().flatten().count() };
            let waker = Waker::from(Arc::new(Turn { ready: self.ready.clone(), task }));
            let Some(future) = &mut self.tasks[task] else { continue };
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.tasks[task] = None;
            }
        }
    }
}

#[test]
fn tasks_of_one_thread_pass_messages_on() {
    // A chain of tasks, each receiving from the one before; a lost wake-up leaves some of them waiting.
    for capacity in [1, 2, 50] {
        let mut executor = Executor::default();
        let (mut first, mut receiver) = spsc::bounded(capacity);
        executor.spawn(async move {
            for message in 0..500 {
                first.send_async(message).await.unwrap();
            }
        });
        for _ in 0..10 {
            let (mut next, behind) = spsc::bounded(capacity);
            let mut before = std::mem::replace(&mut receiver, behind);
            executor.spawn(async move {
                while let Ok(message) = before.recv_async().await {
                    next.send_async(message + 1).await.unwrap();
                }
            });
        }
        let sum = Arc::new(Mutex::new(0));
        let total = sum.clone();
        executor.spawn(async move {
            for expected in 10..510 {
                let message = receiver.recv_async().await.unwrap();
                assert_eq!(message, expected);
                *total.lock().unwrap() += message;
            }
            assert!(receiver.recv_async().await.is_err());
        });
        assert_eq!(executor.run(), 0, "tasks wait for each other");
        assert_eq!(*sum.lock().unwrap(), (10..510).sum::<i32>());
    }
}

#[test]
fn one_task_waits_for_two_receivers() {
    guarded(|| {
        const MESSAGES: usize = 5_000;
        let mut receivers = Vec::new();
        let mut threads = Vec::new();
        for seed in 0..2 {
            let (mut sender, receiver) = spsc::unbounded();
            receivers.push((receiver, 0, false));
            threads.push(thread::spawn(move || {
                let mut random = Random::new(seed);
                for message in 0..MESSAGES {
                    sender.send(message).unwrap();
                    random.pause();
                }
            }));
        }
        block_on(poll_fn(|context| {
            for (receiver, expected, over) in &mut receivers {
                while !*over {
                    match receiver.poll_recv(context) {
                        Poll::Pending => break,
                        Poll::Ready(Err(_)) => *over = true,
                        Poll::Ready(Ok(message)) => {
                            assert_eq!(message, *expected);
                            *expected += 1;
                        }
                    }
                }
            }
            if receivers.iter().all(|(.., over)| *over) { Poll::Ready(()) } else { Poll::Pending }
        }));
        assert!(receivers.iter().all(|(_, received, _)| *received == MESSAGES));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn asking_again_keeps_one_waker() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let task = Task::default();
    let waker = task.waker();
    for _ in 0..100 {
        assert!(receiver.poll_recv(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(task.held(), 2, "ours, and the channel's");
    }
    let other = Task::default();
    assert!(receiver.poll_recv(&mut Context::from_waker(&other.waker())).is_pending());
    assert_eq!((task.held(), other.held()), (1, 1), "the waker that was replaced is dropped");
    sender.send(1).unwrap();
    assert_eq!((task.woken(), other.woken(), other.held()), (0, 1, 0));
}

#[test]
fn a_message_that_comes_before_the_second_poll_wakes_no_task_later() {
    // The token of an earlier poll must not make a later message wake a task that has long got its own.
    let (mut sender, mut receiver) = spsc::unbounded();
    let task = Task::default();
    assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    sender.send(1).unwrap();
    assert_eq!(task.woken(), 1);
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&task.waker())), Poll::Ready(Ok(1)));
    sender.send(2).unwrap();
    assert_eq!(task.woken(), 1);
    // Nor a task whose future has been dropped meanwhile.
    assert_eq!(poll_once(&mut Box::pin(receiver.recv_async()), &task), Poll::Ready(Ok(2)));
    assert!(poll_once(&mut Box::pin(receiver.recv_async()), &task).is_pending());
    sender.send(3).unwrap();
    assert_eq!((task.woken(), receiver.try_recv()), (1, Ok(3)));
}

#[test]
fn hidden_messages_go_out_before_a_task_waits_for_room() {
    let (mut sender, mut receiver) = spsc::bounded(3);
    for message in 0..3 {
        sender.write(message).unwrap();
    }
    let task = Task::default();
    let mut future = Box::pin(sender.send_async(3));
    assert!(poll_once(&mut future, &task).is_pending());
    assert_eq!(receiver.len(), 3, "or two such handles would wait for each other");
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(())));
    drop(future);
    assert!(receiver.try_iter().eq(1..4));
}

#[test]
fn a_waker_may_use_the_channel() {
    // Waking runs user code in the middle of a send; it may poll the same channel.
    struct Peeker(Mutex<Option<spsc::Receiver<u8>>>, Mutex<Vec<u8>>);
    impl Wake for Peeker {
        fn wake(self: Arc<Self>) {
            if let Some(receiver) = &mut *self.0.lock().unwrap() {
                self.1.lock().unwrap().extend(receiver.try_iter());
                let waker = Waker::from(self.clone());
                assert!(receiver.poll_recv(&mut Context::from_waker(&waker)).is_pending());
            }
        }
    }
    let (mut sender, mut receiver) = spsc::unbounded();
    let peeker = Arc::new(Peeker(Mutex::new(None), Mutex::new(Vec::new())));
    let waker = Waker::from(peeker.clone());
    assert!(receiver.poll_recv(&mut Context::from_waker(&waker)).is_pending());
    *peeker.0.lock().unwrap() = Some(receiver);
    for message in 0..10 {
        sender.send(message).unwrap();
    }
    assert_eq!(*peeker.1.lock().unwrap(), (0..10).collect::<Vec<_>>());
    let receiver = peeker.0.lock().unwrap().take();
    drop(receiver);
    assert!(sender.send(11).is_err());
}

#[test]
fn futures_are_send() {
    fn crosses<T: Send>(future: T) -> T {
        future
    }
    let (mut sender, mut receiver) = spsc::bounded(1);
    assert!(block_on(crosses(sender.send_async(String::from("sent")))).is_ok());
    assert_eq!(block_on(crosses(receiver.recv_async())).unwrap(), "sent");
}

#[cfg(feature = "stream")]
mod stream {
    use futures_core::{FusedStream, Stream};

    use super::*;

    /// Claim: A receiver as a stream ends with its senders, after the last message.
    #[test]
    fn a_receiver_is_a_stream_that_ends_with_its_sender() {
        guarded(|| {
            let (mut sender, mut receiver) = spsc::bounded(4);
            let thread = thread::spawn(move || (0..1_000).for_each(|message| sender.send(message).unwrap()));
            block_on(async {
                for expected in 0..1_000 {
                    let next = poll_fn(|context| Pin::new(&mut receiver).poll_next(context)).await;
                    assert_eq!(next, Some(expected));
                }
                for _ in 0..2 {
                    assert_eq!(poll_fn(|context| Pin::new(&mut receiver).poll_next(context)).await, None);
                }
            });
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_stream_says_how_much_there_is_and_how_much_there_will_be() {
        let (mut sender, mut receiver) = spsc::unbounded();
        assert_eq!(receiver.size_hint(), (0, None));
        sender.send_batch(0..100).unwrap();
        sender.write(100).unwrap();
        assert_eq!(receiver.size_hint(), (100, None));
        assert_eq!(receiver.recv(), Ok(0));
        drop(sender);
        assert_eq!(receiver.size_hint(), (100, Some(100)));
        assert_eq!(receiver.try_iter().count(), 100);
        assert_eq!(receiver.size_hint(), (0, Some(0)));
        // Every lane of an mpsc channel counts.
        let (mut sender, receiver) = ysuite::mpsc::bounded(3);
        let mut other = sender.clone();
        (0..3).for_each(|message| sender.send(message).unwrap());
        other.send(3).unwrap();
        drop(other);
        assert_eq!(receiver.size_hint(), (4, None));
        drop(sender);
        assert_eq!(receiver.size_hint(), (4, Some(4)));
    }

    #[test]
    fn a_stream_is_terminated_when_it_has_said_so() {
        macro_rules! check {
            ($($kind:ident),*) => {$({
                let (sender, mut receiver) = ysuite::$kind::bounded(2);
                // One kind of sender is borrowed for it, the other not.
                #[allow(unused_mut)]
                let mut sender = sender;
                sender.send(1).unwrap();
                assert!(!receiver.is_terminated());
                drop(sender);
                assert!(!receiver.is_terminated(), "there is a message");
                assert_eq!(block_on(poll_fn(|context| Pin::new(&mut receiver).poll_next(context))), Some(1));
                assert!(!receiver.is_terminated(), "the disconnect was not reported yet");
                assert_eq!(block_on(poll_fn(|context| Pin::new(&mut receiver).poll_next(context))), None);
                assert!(receiver.is_terminated());
            })*};
        }
        check!(spsc, mpsc, mpmc);
    }

    #[test]
    fn an_empty_stream_is_pending_and_wakes() {
        let (mut sender, mut receiver) = spsc::unbounded();
        let task = Task::default();
        let waker = task.waker();
        let mut context = Context::from_waker(&waker);
        assert_eq!(Pin::new(&mut receiver).poll_next(&mut context), Poll::Pending);
        sender.send(1).unwrap();
        assert_eq!(task.woken(), 1);
        assert_eq!(Pin::new(&mut receiver).poll_next(&mut context), Poll::Ready(Some(1)));
    }
}

/// For each kind of channel, with the names `sender` and `receiver`.
macro_rules! for_each_kind {
    ($capacity:expr, |$sender:ident, $receiver:ident| $body:block) => {
        for_each_kind!(spsc, $capacity, |$sender, $receiver| $body);
        for_each_kind!(mpsc, $capacity, |$sender, $receiver| $body);
        for_each_kind!(mpmc, $capacity, |$sender, $receiver| $body);
    };
    ($kind:ident, $capacity:expr, |$sender:ident, $receiver:ident| $body:block) => {{
        #[allow(unused_mut)]
        let (mut $sender, mut $receiver) = ysuite::$kind::bounded($capacity);
        $body
    }};
}

#[test]
fn a_batch_behind_a_close_is_what_was_sent_before() {
    for_each_kind!(8, |sender, receiver| {
        (0..5).for_each(|number| sender.send(number).unwrap());
        assert!(receiver.close());
        let mut got = Vec::new();
        assert_eq!(block_on(receiver.recv_batch_async(&mut got, 3)), Ok(3));
        assert_eq!(block_on(receiver.recv_batch_async(&mut got, 9)), Ok(2));
        assert!(block_on(receiver.recv_batch_async(&mut got, 9)).is_err());
        assert_eq!((got, sender.send(6).is_err()), (vec![0, 1, 2, 3, 4], true));
    });
}

/// A future that was given a message and is dropped gives it back: there is something left to receive.
#[cfg(feature = "stream")]
#[test]
fn a_stream_of_a_rendezvous_is_not_terminated_before_what_was_given_back() {
    use futures_core::{FusedStream, Stream};

    for closes in [false, true] {
        for_each_kind!(0, |sender, receiver| {
            let mut receiving = Box::pin(receiver.recv_async());
            assert!(poll_once(&mut receiving, &Task::default()).is_pending());
            sender.try_send(1).unwrap();
            drop(receiving);
            assert!(!receiver.is_terminated());
            if closes {
                assert!(receiver.close());
            } else {
                drop(sender);
            }
            assert!(receiver.is_disconnected() && receiver.is_empty());
            assert!(!receiver.is_terminated() && receiver.size_hint().1 == Some(1));
            assert_eq!(block_on(poll_fn(|context| Pin::new(&mut receiver).poll_next(context))), Some(1));
            assert!(!receiver.is_terminated() && receiver.size_hint().1 == Some(0));
            assert_eq!(block_on(poll_fn(|context| Pin::new(&mut receiver).poll_next(context))), None);
            assert!(receiver.is_terminated());
        });
    }
}

/// The message of a sender that waits in line goes back to it.
#[cfg(feature = "stream")]
#[test]
fn a_stream_of_a_rendezvous_that_is_closed_beside_a_sender_in_line_is_terminated() {
    use futures_core::{FusedStream, Stream};

    for_each_kind!(0, |sender, receiver| {
        let mut sending = Box::pin(sender.send_async(1));
        assert!(poll_once(&mut sending, &Task::default()).is_pending());
        assert!(receiver.close());
        assert_eq!(receiver.size_hint(), (0, Some(0)));
        assert_eq!(block_on(poll_fn(|context| Pin::new(&mut receiver).poll_next(context))), None);
        assert!(receiver.is_terminated());
        assert!(poll_once(&mut sending, &Task::default()).is_ready());
    });
}

#[test]
fn a_task_is_woken_without_a_system_call() {
    let (mut sender, mut receiver) = spsc::unbounded();
    for number in 0..100 {
        let task = Task::default();
        let mut future = Box::pin(receiver.recv_async());
        assert!(poll_once(&mut future, &task).is_pending());
        let before = calls();
        sender.send(number).unwrap();
        assert_eq!((task.woken(), calls()), (1, before));
        assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(number)));
    }
}
