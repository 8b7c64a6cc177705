//! The rendezvous under the model checker: a send against a receive, each in a way that may leave, and handles that
//! only want a notification against those that wait.
//!
//! A message that is lost or received twice shows as a wrong count; a wake-up that is lost shows as a deadlock.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{mpmc, mpsc, spsc};

use crate::{Counted, model_up_to};

const LONG: Duration = Duration::from_secs(1);

#[test]
fn a_send_against_a_receive() {
    model_up_to(3, || {
        let (mut sender, mut receiver) = spsc::bounded(0);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Both may time out; what was sent has been received, and what was not comes back.
///
/// Claim: A registration at a rendezvous is claimed once or withdrawn by its owner. A wait without success leaves
/// nothing registered and returns its message.
/// Also: unit channel::rendezvous::line::tests::anybody_may_leave_and_places_are_used_again,
/// suite rendezvous::funnel::waits_that_end_in_vain_leave_nothing_behind.
#[test]
fn a_send_against_a_receive_where_each_may_time_out() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(0);
        let message = Counted(ended.clone());
        let thread = thread::spawn(move || {
            let outcome = sender.send_timeout(message, LONG);
            (outcome.is_ok(), sender)
        });
        let received = receiver.recv_timeout(LONG).is_ok();
        let (sent, sender) = thread.join().unwrap();
        assert_eq!((sent, ended.load(Ordering::Relaxed)), (received, 1));
        drop(sender);
    });
}

#[test]
fn a_receiver_whose_time_is_up_against_a_sender_that_stays() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(0);
        let thread = thread::spawn(move || sender.send(1).unwrap());
        let other = receiver.clone();
        let leaving = thread::spawn(move || other.recv_timeout(LONG).is_ok());
        if !leaving.join().unwrap() {
            assert_eq!(receiver.recv(), Ok(1));
        }
        thread.join().unwrap();
    });
}

/// The message is with the one receiver or with the other.
///
/// Claim: If a receiving future is dropped during the handover, the message goes to the next receiver.
/// Also: suite rendezvous::exchange::a_receiving_future_dropped_at_the_handover_gives_the_message_back,
/// suite asynchronous::a_stream_of_a_rendezvous_is_not_terminated_before_what_was_given_back.
#[test]
fn a_dropped_future_against_a_handover() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(0);
        let message = Counted(ended.clone());
        let thread = thread::spawn(move || sender.try_send(message).is_ok());
        let mut received = {
            let mut future = pin!(receiver.recv_async());
            matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(_)))
        };
        let sent = thread.join().unwrap();
        received |= receiver.try_recv().is_ok();
        assert_eq!(received, sent);
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

/// Claim: A sending future that is dropped has either sent its message or takes it along.
/// Also: suite rendezvous::pipe::a_dropped_future_has_not_sent.
#[test]
fn a_dropped_sending_future_against_a_receive() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(0);
        let message = Counted(ended.clone());
        let thread = thread::spawn(move || receiver.try_recv().is_ok());
        {
            let mut future = pin!(sender.send_async(message));
            let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn tasks_meet() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = mpsc::bounded(0);
        let thread = thread::spawn(move || block_on(async { sender.send_async(1).await.unwrap() }));
        assert_eq!(block_on(receiver.recv_async()), Ok(1));
        thread.join().unwrap();
        assert!(receiver.recv().is_err());
    });
}

/// Claim: Dropping the last handle of one side of a rendezvous wakes all waiters of the other side and returns their
/// messages.
/// Also: suite rendezvous::funnel::an_end_that_goes_wakes_the_other.
#[test]
fn the_receivers_end_against_a_sender_that_waits() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, receiver) = spsc::bounded(0);
        let message = Counted(ended.clone());
        let thread = thread::spawn(move || assert!(sender.send(message).is_err()));
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn the_senders_end_against_a_receiver_that_waits() {
    model_up_to(3, || {
        let (sender, mut receiver) = mpsc::bounded::<u8>(0);
        let thread = thread::spawn(move || drop(sender));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Claim: Attached, watched and polled handles of a rendezvous are notified of a waiting peer.
/// Also: suite rendezvous::told::exchange::a_task_that_polls_is_told.
#[test]
fn an_attached_receiver_against_a_sender_that_waits() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(0);
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        let received = loop {
            set.wait();
            if let Ok(message) = receiver.try_recv() {
                break message;
            }
        };
        assert_eq!(received, 1);
        thread.join().unwrap();
    });
}

#[test]
fn an_attached_sender_against_a_receiver_that_waits() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(0);
        let mut set = YPollset::new();
        set.attach(&mut sender, 1).unwrap();
        let thread = thread::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
        loop {
            set.wait();
            if sender.try_send(1).is_ok() {
                break;
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_watcher_against_a_sender_that_waits() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(0);
        let mut select = ReadySet::new();
        select.add_shared(&receiver).unwrap();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        loop {
            select.wait();
            if receiver.try_recv().is_ok() {
                break;
            }
        }
        drop(thread.join().unwrap());
    });
}

/// The receiver closes while a sender comes, or waits in line: its message comes back, once.
///
/// Claim: Closing either side of a rendezvous wakes the waiters and returns their messages.
/// Also: suite rendezvous::ended::pipe::the_receivers_close_sends_a_waiting_sender_its_message_back.
#[test]
fn a_close_against_a_sender_in_line() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, mut receiver) = spsc::bounded(0);
        let message = Counted(ended.clone());
        let thread = thread::spawn(move || sender.send(message).is_err());
        assert!(receiver.close());
        assert!(receiver.try_recv().is_err());
        assert!(thread.join().unwrap());
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

/// The only sender closes, or is dropped, while the receiver comes, or waits in line.
#[test]
fn a_senders_end_against_a_receiver_in_line() {
    for closes in [false, true] {
        model_up_to(3, move || {
            let (mut sender, mut receiver) = spsc::bounded::<u8>(0);
            let thread = thread::spawn(move || {
                // True: this call has closed it.
                assert!(!closes || sender.close());
            });
            assert!(receiver.recv().is_err());
            thread.join().unwrap();
        });
    }
}

/// One sender of two is dropped: the rendezvous goes on. With the other it is disconnected, for a receiver that waits
/// as a task.
#[test]
fn the_last_senders_end_against_a_task_in_line() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded::<u8>(0);
        let other = sender.clone();
        let threads = [sender, other].map(|sender| thread::spawn(move || drop(sender)));
        assert!(block_on(receiver.recv_async()).is_err());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Each dropped sender frees its lane, which the receiver's drop may be about to take out.
#[test]
fn mpsc_senders_that_come_and_go_against_the_receivers_drop() {
    model_up_to(2, || {
        let (mut sender, receiver) = mpsc::bounded(0);
        let thread = thread::spawn(move || {
            drop(sender.clone());
            let mut clone = sender.clone();
            sender.close();
            clone.try_send(1).is_err()
        });
        drop(receiver);
        assert!(thread.join().unwrap(), "there is no waiter");
    });
}
