//! The oneshot: every way of waiting for one message, its drops in every order, and what user code may do to it.

mod attached;
mod endings;
mod foreign;
mod random;
mod tasks;

use std::task::Context;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::executor::{Task, poll_once};
use crate::support::{Random, calls, guarded};
use ysuite::oneshot;
use ysuite::{RecvError, RecvTimeoutError, TryRecvError};

/// A limit that only a lost wake-up meets.
const LONG: Duration = Duration::from_secs(100);

#[test]
fn one_message_of_any_kind() {
    let (sender, receiver) = oneshot::channel();
    sender.send(()).unwrap();
    assert_eq!(receiver.recv(), Ok(()));
    let (sender, receiver) = oneshot::channel();
    sender.send([7_u8; 10_000]).unwrap();
    assert!(receiver.recv().is_ok_and(|message| message == [7; 10_000]));
    let (sender, receiver) = oneshot::channel();
    sender.send(String::from("text")).unwrap();
    assert_eq!(receiver.recv().as_deref(), Ok("text"));
    #[repr(align(128))]
    #[derive(Debug, PartialEq)]
    struct Aligned(u8);
    let (sender, mut receiver) = oneshot::channel();
    sender.send(Aligned(3)).unwrap();
    let at: *const Aligned = receiver.peek().unwrap();
    assert_eq!((at.addr() % 128, receiver.recv()), (0, Ok(Aligned(3))));
}

/// Claim: Receiving a oneshot message that is there makes no system call.
#[test]
fn a_message_that_is_there_is_taken_without_a_system_call_in_every_way() {
    let before = calls();
    for way in 0..4 {
        let (sender, mut receiver) = oneshot::channel();
        assert!(receiver.is_empty() && !receiver.is_disconnected() && !sender.is_disconnected());
        assert_eq!((receiver.try_recv(), receiver.peek()), (Err(TryRecvError::Empty), None));
        sender.send(way).unwrap();
        assert!(!receiver.is_empty() && receiver.is_disconnected());
        assert_eq!(receiver.peek(), Some(&way));
        let received = match way {
            0 => receiver.recv().ok(),
            1 => receiver.try_recv().ok(),
            2 => receiver.recv_timeout(Duration::ZERO).ok(),
            // Even after the deadline.
            _ => receiver.recv_deadline(Instant::now()).ok(),
        };
        assert_eq!(received, Some(way));
    }
    let (sender, mut receiver) = oneshot::channel::<u8>();
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
    drop(sender);
    assert_eq!(calls(), before);
}

#[test]
fn ends_go_without_a_system_call_where_no_thread_sleeps() {
    let before = calls();
    for case in 0..8 {
        let (mut sender, mut receiver) = oneshot::channel::<u8>();
        let (receiving, closing) = (Task::default(), Task::default());
        if case & 1 != 0 {
            assert!(poll_once(&mut receiver, &receiving).is_pending());
        }
        if case & 2 != 0 {
            assert!(sender.poll_closed(&mut Context::from_waker(&closing.waker())).is_pending());
        }
        if case & 4 != 0 {
            assert!(receiver.close());
        }
        drop(receiver);
        assert_eq!(closing.woken(), usize::from(case & 2 != 0));
        assert!(sender.is_disconnected());
    }
    assert_eq!(calls(), before);
}

/// Claim: A oneshot receiver whose message was taken reports that from then on.
/// Also: suite oneshot::tasks::a_spent_receiver_is_a_fused_future.
#[test]
fn a_spent_receiver_says_so_for_ever() {
    for sent in [false, true] {
        let (sender, mut receiver) = oneshot::channel();
        if sent {
            sender.send(1).unwrap();
            assert_eq!(receiver.try_recv(), Ok(1));
        } else {
            drop(sender);
        }
        for _ in 0..2 {
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
            assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
            assert!(receiver.is_empty() && receiver.is_disconnected() && receiver.peek().is_none());
            assert!(!receiver.close());
        }
        assert_eq!(receiver.recv(), Err(RecvError));
    }
}

#[test]
fn a_thread_waits_in_every_way() {
    guarded(|| {
        let mut random = Random::new(5);
        for round in 0..3_000_u32 {
            let (sender, mut receiver) = oneshot::channel();
            let thread = thread::spawn(move || {
                let received = match round % 4 {
                    0 => receiver.recv().ok(),
                    1 => receiver.recv_timeout(LONG).ok(),
                    2 => receiver.recv_deadline(Instant::now() + LONG).ok(),
                    // Gives up now and then.
                    _ => loop {
                        match receiver.recv_timeout(Duration::from_micros(10)) {
                            Ok(message) => break Some(message),
                            Err(error) if error.is_timeout() => {}
                            Err(_) => break None,
                        }
                    },
                };
                assert_eq!(received, (round % 5 != 0).then_some(round));
            });
            random.pause();
            // One sender in five goes without a message.
            if round % 5 == 0 {
                drop(sender)
            } else {
                sender.send(round).unwrap()
            }
            thread.join().unwrap();
        }
    });
}

#[test]
fn questions_and_answers_between_two_threads() {
    guarded(|| {
        const QUESTIONS: u64 = 20_000;
        let (mut questions, mut asked) = ysuite::spsc::bounded::<(u64, oneshot::Sender<u64>)>(4);
        let thread = thread::spawn(move || {
            let mut random = Random::new(1);
            for (question, answer) in asked.iter() {
                random.pause();
                answer.send(question * 2).unwrap();
            }
        });
        let mut random = Random::new(2);
        for question in 0..QUESTIONS {
            let (sender, receiver) = oneshot::channel();
            questions.send((question, sender)).unwrap();
            random.pause();
            assert_eq!(receiver.recv(), Ok(question * 2));
        }
        drop(questions);
        thread.join().unwrap();
    });
}

#[test]
fn a_sender_waits_for_its_receiver_to_go() {
    guarded(|| {
        let mut random = Random::new(9);
        for round in 0..2_000 {
            let (mut sender, mut receiver) = oneshot::channel::<u32>();
            assert!(!sender.wait_closed_timeout(Duration::ZERO));
            let thread = thread::spawn(move || {
                match round % 3 {
                    0 => sender.wait_closed(),
                    1 => assert!(sender.wait_closed_timeout(LONG)),
                    _ => while !sender.wait_closed_timeout(Duration::from_micros(10)) {},
                }
                assert!(sender.is_disconnected());
                // At once, and for ever.
                sender.wait_closed();
                assert_eq!(sender.send(4).unwrap_err().into_inner(), 4);
            });
            random.pause();
            if round % 2 == 0 {
                assert!(receiver.close() && !receiver.close() && receiver.is_disconnected());
            }
            drop(receiver);
            thread.join().unwrap();
        }
    });
}
