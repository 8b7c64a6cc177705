//! User code in a rendezvous: wakers that panic or re-enter, messages that panic when they are dropped.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use crate::support::executor::{Clinging, Explosive, Task, cloning, poll_once};
use crate::support::{Tally, guarded, panics};
use ysuite::mpmc;
use ysuite::{RecvError, SendError, TryRecvError, TrySendError};

/// A waker that calls a function once.
struct Calls(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        let call = self.0.lock().unwrap().take();
        if let Some(call) = call {
            call();
        }
    }
}

fn calls(call: impl FnOnce() + Send + 'static) -> Waker {
    Waker::from(Arc::new(Calls(Mutex::new(Some(Box::new(call))))))
}

/// Claim: No user code runs while the lock of a rendezvous is held.
#[test]
fn a_waker_may_use_the_channel() {
    let (sender, receiver) = mpmc::bounded(0);
    let again = receiver.clone();
    let waker = calls(move || assert_eq!(again.try_recv(), Err(TryRecvError::Empty)));
    let mut future = pin!(sender.send_async(1));
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(receiver.try_recv(), Ok(1));
}

/// Another receiver waits, so that a lock which is held would be met.
#[test]
fn a_receivers_waker_may_send_to_the_next() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(0);
        let again = sender.clone();
        let waker = calls(move || assert_eq!(again.try_send(2), Ok(())));
        let mut context = Context::from_waker(Waker::noop());
        let mut first = pin!(receiver.recv_async());
        let mut second = pin!(receiver.recv_async());
        assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(first.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
        assert_eq!(second.as_mut().poll(&mut context), Poll::Ready(Ok(2)));
    });
}

#[test]
fn a_waker_that_is_told_of_the_end_may_use_the_channel() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(0);
        let again = sender.clone();
        let waker = calls(move || assert_eq!(again.try_send(2), Err(TrySendError::Disconnected(2))));
        let mut future = pin!(sender.send_async(1));
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(receiver);
        assert_eq!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Err(SendError(1))));
    });
}

#[test]
fn a_sender_that_comes_as_the_waker_is_cloned_is_met_by_that_poll() {
    let (sender, mut first) = mpmc::bounded(0);
    let mut second = first.clone();
    let (again, waiting) = (sender.clone(), Mutex::new(Vec::new()));
    let waker = cloning(move || {
        let sender = again.clone();
        let mut sending = Box::pin(async move { sender.send_async(7).await });
        assert!(poll_once(&mut sending, &Task::default()).is_pending());
        waiting.lock().unwrap().push(sending);
    });
    assert_eq!(first.poll_recv(&mut Context::from_waker(&waker)), Poll::Ready(Ok(7)));
    // That one wants no notification: the next sender notifies one that does.
    let task = Task::default();
    assert!(second.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    let mut sending = pin!(sender.send_async(8));
    assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(task.woken(), 1);
    assert_eq!(second.poll_recv(&mut Context::from_waker(&task.waker())), Poll::Ready(Ok(8)));
}

/// The drop of the last receiver, with a sender in line whose waker panics, and a message whose drop panics as well.
#[test]
fn a_waker_and_a_message_that_was_given_back_are_one_panic() {
    let tally = Tally::of(2);
    let (sender, receiver) = mpmc::bounded(0);
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        sender.try_send(tally.next()).unwrap();
    }
    let mut sending = pin!(sender.send_async(tally.next()));
    assert!(sending.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
    tally.explode(0);
    assert_eq!(panics(|| drop(receiver)), "this waker panics");
    assert_eq!(tally.ended(), 1);
}

/// Where its receiver is all that is left of the channel.
#[test]
fn a_message_that_was_given_back_ends_with_the_channel() {
    let tally = Tally::of(1);
    let (sender, receiver) = mpmc::bounded(0);
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        sender.try_send(tally.next()).unwrap();
    }
    drop(sender);
    assert_eq!(tally.ended(), 0);
    drop(receiver);
    tally.assert_all_ended();
}

#[test]
fn a_waker_that_panics_leaves_the_handover_done() {
    let tally = Tally::of(2);
    let (sender, receiver) = mpmc::bounded(0);
    let waker = calls(|| panic!("as the test wants it"));
    {
        // The receiver has taken the message, and drops it with the call.
        let mut future = pin!(sender.send_async(tally.next()));
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // Two panics are one.
        tally.explode(0);
        assert_eq!(panics(|| drop(receiver.try_recv())), "as the test wants it");
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
    }
    assert_eq!(tally.ended(), 1);
    // The sender has handed the message over.
    let waker = calls(|| panic!("as the test wants it"));
    let mut future = pin!(receiver.recv_async());
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| sender.try_send(tally.next()))).is_err());
    assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(_))));
}

#[test]
fn one_waker_that_panics_does_not_keep_the_others_asleep() {
    let woken = Arc::new(Mutex::new(0));
    let (sender, receiver) = mpmc::bounded(0);
    let mut futures: Vec<_> = (0..3).map(|number| Box::pin(sender.send_async(number))).collect();
    for (number, future) in futures.iter_mut().enumerate() {
        let woken = woken.clone();
        let waker = calls(move || {
            *woken.lock().unwrap() += 1;
            assert_ne!(number, 0, "as the test wants it");
        });
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    assert_eq!(*woken.lock().unwrap(), 3);
    for future in &mut futures {
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Err(_))));
    }
}

#[test]
fn messages_given_back_end_with_the_last_receiver_also_where_one_panics() {
    let tally = Tally::of(3);
    let (sender, receiver) = mpmc::bounded(0);
    for number in 0..3 {
        let mut future = pin!(receiver.recv_async());
        let waiting = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if number == 0 {
            assert!(waiting.is_pending());
            sender.try_send(tally.next()).unwrap();
        } else {
            // What was given back comes first; it is given back again.
            assert!(matches!(waiting, Poll::Ready(Ok(_))));
            break;
        }
    }
    let mut futures: Vec<_> = (0..2).map(|_| Box::pin(receiver.recv_async())).collect();
    let mut context = Context::from_waker(Waker::noop());
    futures.iter_mut().for_each(|future| assert!(future.as_mut().poll(&mut context).is_pending()));
    tally.explode(1);
    (0..2).for_each(|_| sender.try_send(tally.next()).unwrap());
    drop(futures);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    tally.assert_all_ended();
    assert!(sender.is_disconnected());
}

/// Claim: A leaked future loses no message of others.
/// Also: suite oneshot::endings::a_leaked_future_leaves_its_waker_to_the_last_handle.
#[test]
fn a_forgotten_future_leaves_its_message() {
    let (sender, receiver) = mpmc::bounded(0);
    let mut future = Box::pin({
        let sender = sender.clone();
        async move { sender.send_async(5).await }
    });
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    std::mem::forget(future);
    assert_eq!(receiver.try_recv(), Ok(5));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_ne!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    let _: Result<u8, RecvError> = Err(RecvError);
}

/// Its last act is to notify the next of those that only want a notification.
///
/// Claim: No message leaks when a waker panics while a result is returned.
#[test]
fn a_receiver_whose_passing_on_panics_leaks_no_message() {
    let tally = Tally::of(2);
    let (sender, mut first) = mpmc::bounded(0);
    let (mut second, mut third) = (first.clone(), first.clone());
    let mut context = Context::from_waker(Waker::noop());
    assert!(first.poll_recv(&mut context).is_pending());
    assert!(second.poll_recv(&mut context).is_pending());
    assert!(third.poll_recv(&mut Context::from_waker(&Explosive::waker())).is_pending());
    let mut sending = [(); 2].map(|()| Box::pin(sender.send_async(tally.next())));
    sending.iter_mut().for_each(|future| assert!(future.as_mut().poll(&mut context).is_pending()));
    assert!(catch_unwind(AssertUnwindSafe(|| first.poll_recv(&mut context))).is_err());
    assert_eq!(tally.ended(), 1);
    drop((sending, first, second, third));
    tally.assert_all_ended();
}

/// A future that waits in line is dropped by a panic, and its waker panics as it is dropped.
#[test]
fn a_waker_that_clings_to_a_place_in_line_is_no_second_panic() {
    let (sender, receiver) = mpmc::bounded(0);
    let text = panics(|| {
        let mut sending = Box::pin(sender.send_async(5));
        assert!(sending.as_mut().poll(&mut Context::from_waker(&Clinging::waker())).is_pending());
        panic!("a sender's");
    });
    assert_eq!(text, "a sender's");
    let text = panics(|| {
        let mut receiving = Box::pin(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(&Clinging::waker())).is_pending());
        panic!("a receiver's");
    });
    assert_eq!(text, "a receiver's");
    assert_eq!((sender.try_send(6).is_err(), receiver.try_recv()), (true, Err(TryRecvError::Empty)));
}
