//! Handles that tasks wait for.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::executor::{Task, block_on, cloning, poll_once};
use crate::support::{Random, guarded};
use ysuite::RecvError;
use ysuite::oneshot;

#[test]
fn a_receiver_is_a_future_of_its_message() {
    let (sender, receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert_eq!(block_on(receiver), Ok(1));
    let (sender, receiver) = oneshot::channel::<u8>();
    drop(sender);
    assert_eq!(block_on(receiver), Err(RecvError));
}

#[test]
fn a_borrowed_receiver_is_a_future_that_may_be_given_up() {
    let (sender, mut receiver) = oneshot::channel();
    let task = Task::default();
    assert!(poll_once(&mut &mut receiver, &task).is_pending());
    sender.send(1).unwrap();
    assert_eq!((task.woken(), task.held()), (1, 0));
    assert_eq!(block_on(&mut receiver), Ok(1));
    // Ready for ever.
    assert_eq!((block_on(&mut receiver), block_on(receiver)), (Err(RecvError), Err(RecvError)));
}

#[test]
fn asking_again_keeps_one_waker_of_the_last_task() {
    let (sender, mut receiver) = oneshot::channel();
    let (first, second) = (Task::default(), Task::default());
    for _ in 0..10 {
        assert!(poll_once(&mut receiver, &first).is_pending());
        assert_eq!(first.held(), 1);
    }
    assert!(poll_once(&mut receiver, &second).is_pending());
    assert_eq!((first.held(), second.held()), (0, 1));
    sender.send(5).unwrap();
    assert_eq!((first.woken(), second.woken(), second.held()), (0, 1, 0));
    assert_eq!(poll_once(&mut receiver, &first), Poll::Ready(Ok(5)));
}

#[test]
fn an_equivalent_waker_is_not_cloned_again() {
    let (mut sender, mut receiver) = oneshot::channel::<u8>();
    let task = Task::default();
    let waker = task.waker();
    let mut context = Context::from_waker(&waker);
    for _ in 0..10 {
        assert!(Pin::new(&mut receiver).poll(&mut context).is_pending());
        assert!(sender.poll_closed(&mut context).is_pending());
        assert_eq!(task.held(), 3, "ours, and one for each end");
    }
    drop((sender, receiver));
    assert_eq!(task.held(), 1);
    // Not even to be dropped again.
    let (mut sender, mut receiver) = oneshot::channel::<u8>();
    let clones = Arc::new(AtomicUsize::new(0));
    let counted = clones.clone();
    let waker = cloning(move || _ = counted.fetch_add(1, Ordering::Relaxed));
    let mut context = Context::from_waker(&waker);
    for _ in 0..10 {
        assert!(Pin::new(&mut receiver).poll(&mut context).is_pending());
        assert!(sender.poll_closed(&mut context).is_pending());
        assert_eq!(clones.load(Ordering::Relaxed), 2, "one for each end");
    }
}

#[test]
fn a_task_waits_for_one_answer_after_the_other() {
    fn ask<T: Copy>(answer: T) {
        let task = Task::default();
        for answers in 1..=100 {
            // As a rule in the memory of the one before, where that one's waker has been.
            let (sender, mut receiver) = oneshot::channel();
            assert!(poll_once(&mut receiver, &task).is_pending());
            assert_eq!(task.held(), 1);
            assert!(sender.send(answer).is_ok());
            assert_eq!((task.woken(), task.held()), (answers, 0));
            assert!(receiver.recv().is_ok());
        }
    }
    ask(1_u64);
    ask([1_u64; 4]);
    ask([1_u64; 8]);
}

#[test]
fn a_receiver_lets_go_of_its_task() {
    let (sender, mut receiver) = oneshot::channel::<u8>();
    let task = Task::default();
    assert!(poll_once(&mut receiver, &task).is_pending());
    drop(receiver);
    assert_eq!((task.held(), task.woken()), (0, 0));
    assert!(sender.is_disconnected());
}

#[test]
fn a_thread_waits_beside_a_task() {
    guarded(|| {
        let (sender, mut receiver) = oneshot::channel();
        let task = Task::default();
        assert!(poll_once(&mut receiver, &task).is_pending());
        let thread = thread::spawn(move || receiver.recv());
        sender.send(8).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(8));
        assert_eq!((task.woken(), task.held()), (1, 0));
    });
}

#[test]
fn a_sender_knows_when_its_receiver_is_gone() {
    let (mut sender, receiver) = oneshot::channel::<u8>();
    let task = Task::default();
    let mut closed = Box::pin(sender.closed());
    assert!(poll_once(&mut closed, &task).is_pending());
    assert!(poll_once(&mut closed, &task).is_pending());
    drop(receiver);
    assert_eq!((task.woken(), task.held()), (1, 0));
    assert!(poll_once(&mut closed, &task).is_ready());
    drop(closed);
    // At once from now on.
    block_on(sender.closed());
}

#[test]
fn a_wait_for_the_end_that_is_given_up_leaves_nothing_behind() {
    let (mut sender, receiver) = oneshot::channel();
    let (first, second) = (Task::default(), Task::default());
    let mut closed = Box::pin(sender.closed());
    assert!(poll_once(&mut closed, &first).is_pending());
    assert!(poll_once(&mut closed, &second).is_pending());
    assert_eq!((first.held(), second.held()), (0, 1));
    drop(closed);
    assert_eq!(second.held(), 0);
    sender.send(6).unwrap();
    assert_eq!((receiver.recv(), first.woken() + second.woken()), (Ok(6), 0));
}

#[test]
fn a_task_waits_for_its_work_and_for_the_end() {
    // What tokio's users write: whichever comes first.
    guarded(|| {
        for abandoned in [false, true] {
            let (work, worked) = oneshot::channel::<u32>();
            let (mut answer, mut asking) = oneshot::channel::<u32>();
            let worker = thread::spawn(move || {
                block_on(async move {
                    let mut worked = worked;
                    let done = {
                        let mut closed = Box::pin(answer.closed());
                        poll_fn(|context| match Pin::new(&mut worked).poll(context) {
                            Poll::Ready(done) => Poll::Ready(done.ok()),
                            Poll::Pending => closed.as_mut().poll(context).map(|()| None),
                        })
                        .await
                    };
                    done.map(|done| answer.send(done).is_ok())
                })
            });
            thread::yield_now();
            if abandoned {
                asking.close();
                assert_eq!(worker.join().unwrap(), None);
                assert!(work.is_disconnected());
            } else {
                work.send(3).unwrap();
                assert_eq!(asking.recv(), Ok(3));
                assert_eq!(worker.join().unwrap(), Some(true));
            }
        }
    });
}

#[test]
fn no_wake_up_is_lost_between_threads_and_tasks() {
    guarded(|| {
        for round in 0..5_000_u64 {
            let (sender, receiver) = oneshot::channel();
            let thread = thread::spawn(move || {
                Random::new(round + 1).pause();
                sender.send(round).unwrap();
            });
            assert_eq!(block_on(receiver), Ok(round));
            thread.join().unwrap();
        }
    });
}

#[test]
fn futures_are_send() {
    fn crosses<T: Send>(future: T) -> T {
        future
    }
    let (mut sender, receiver) = oneshot::channel::<std::cell::Cell<u8>>();
    drop(crosses(sender.closed()));
    drop(crosses(receiver));
}

/// Polls the receiver it has, whenever it is woken.
struct Poller {
    receiver: std::sync::Mutex<Option<oneshot::Receiver<u8>>>,
    received: AtomicUsize,
}

impl Wake for Poller {
    fn wake(self: Arc<Self>) {
        let receiver = self.receiver.lock().unwrap().take();
        let Some(mut receiver) = receiver else { return };
        let waker = Waker::from(self.clone());
        match Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(message) => self.received.store(message.unwrap().into(), Ordering::Relaxed),
            Poll::Pending => panic!("woken for nothing"),
        }
    }
}

#[test]
fn a_waker_may_receive_while_it_is_woken() {
    let (sender, mut receiver) = oneshot::channel();
    let poller = Arc::new(Poller { receiver: std::sync::Mutex::new(None), received: AtomicUsize::new(0) });
    let waker = Waker::from(poller.clone());
    assert!(Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker)).is_pending());
    *poller.receiver.lock().unwrap() = Some(receiver);
    // The channel is freed in the middle of this call, by the waker.
    sender.send(9).unwrap();
    assert_eq!(poller.received.load(Ordering::Relaxed), 9);
}

#[cfg(feature = "stream")]
#[test]
fn a_spent_receiver_is_a_fused_future() {
    use futures_core::FusedFuture;

    let (sender, mut receiver) = oneshot::channel();
    assert!(!receiver.is_terminated());
    sender.send(1).unwrap();
    assert!(!receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(receiver.is_terminated());
}

#[cfg(feature = "stream")]
#[test]
fn a_closed_receiver_is_not_terminated_before_it_has_told_so() {
    use futures_core::FusedFuture;
    use ysuite::{RecvTimeoutError, TryRecvError};

    for way in 0..5 {
        let (sender, mut receiver) = oneshot::channel::<u8>();
        assert!(receiver.close() && !receiver.close());
        assert!(!receiver.is_terminated() && receiver.is_disconnected() && receiver.is_empty());
        assert_eq!(receiver.peek(), None, "a look that tells nothing");
        assert!(!receiver.is_terminated());
        for _ in 0..2 {
            match way {
                0 => assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected)),
                1 => assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected)),
                2 => assert_eq!(block_on(&mut receiver), Err(RecvError)),
                3 => assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Disconnected)),
                // Dropped untold; the sender goes before it, and after it.
                _ => break,
            }
            assert!(receiver.is_terminated());
        }
        if way % 2 == 0 {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            assert!(sender.send(1).is_err());
        }
    }
}

/// `select!` never polls what is terminated; with nothing else left it panics.
#[cfg(feature = "stream")]
#[test]
fn select_of_futures_is_told_the_end() {
    use futures_util::{future, select_biased};

    let (sender, mut receiver) = oneshot::channel::<u8>();
    receiver.close();
    let mut other = future::pending::<()>();
    let told = async {
        select_biased! {
            () = other => unreachable!("it never is ready"),
            told = receiver => told,
        }
    };
    assert_eq!(block_on(told), Err(RecvError));
    drop(sender);
    let told = async {
        select_biased! {
            _ = receiver => unreachable!("told before"),
            complete => "all are over",
        }
    };
    assert_eq!(block_on(told), "all are over");
}
