//! The futures that several kinds of channels share: those that own their handle, and those that wait for a disconnection,
//! or for a value. Kept in structs, moved while they wait, dropped in each state, and not polled again.

use std::future::{Future, Pending, pending, ready};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use ysuite::future::{ClosedFuture, OwnedFuture, RecvBatchFuture, ReserveFuture, SendBatchFuture, SendUntilFuture};
use ysuite::watch::{self, WaitForFuture};
use ysuite::{RecvError, SendError, SendTimeoutError, TrySendError, broadcast, mpmc, mpsc, oneshot, spsc};

use crate::support::executor::{Clinging, Explosive, Task, block_on, poll_once};
use crate::support::{Tally, guarded, panics};

/// A task of a server, which has no lifetime.
struct Served {
    sending: Pin<Box<OwnedFuture<mpmc::Sender<u32>>>>,
    receiving: Pin<Box<OwnedFuture<broadcast::Receiver<u32>>>>,
    changing: Pin<Box<OwnedFuture<watch::Receiver<u32>>>>,
}

fn lives_for_ever<F: Future + Send + 'static>(future: F) -> F {
    future
}

#[test]
fn a_future_that_owns_its_handle_returns_it() {
    let (sender, receiver) = mpmc::bounded(1);
    let (all, hears) = broadcast::bounded(1);
    let (shows, sees) = watch::channel(0);
    sender.send(1).unwrap();
    let mut served = Served {
        sending: Box::pin(lives_for_ever(sender.send_owned_async(2))),
        receiving: Box::pin(lives_for_ever(hears.recv_owned_async())),
        changing: Box::pin(lives_for_ever(sees.changed_owned_async())),
    };
    let task = Task::default();
    assert!(poll_once(&mut served.sending, &task).is_pending());
    assert!(poll_once(&mut served.receiving, &task).is_pending());
    assert!(poll_once(&mut served.changing, &task).is_pending());
    assert_eq!((receiver.sender_count(), receiver.recv()), (1, Ok(1)));
    all.send(3).unwrap();
    shows.send(4).unwrap();
    assert_eq!(task.woken(), 3);
    let Poll::Ready((Ok(()), sender)) = poll_once(&mut served.sending, &task) else { panic!("there is room") };
    let Poll::Ready((Ok(3), mut hears)) = poll_once(&mut served.receiving, &task) else { panic!("there is a message") };
    let Poll::Ready((Ok(()), sees)) = poll_once(&mut served.changing, &task) else { panic!("there is a value") };
    drop(served);
    sender.try_send(0).unwrap_err();
    assert_eq!((block_on(receiver.recv_owned_async()).0, *sees.borrow()), (Ok(2), 4));
    block_on(all.send_owned_async(5)).0.unwrap();
    assert_eq!(hears.recv(), Ok(5));
    assert_eq!(hears.recv(), Err(broadcast::RecvError::Disconnected));
    drop(shows);
    assert_eq!(block_on(sees.changed_owned_async()).0, Err(RecvError));
}

#[test]
fn futures_that_own_their_handles_run_on_any_thread() {
    guarded(|| {
        const EACH: u32 = if cfg!(miri) { 20 } else { 2_000 };
        let (sender, receiver) = mpmc::bounded(1);
        let (all, mut hears) = broadcast::bounded(1);
        let sending = [sender.clone(), sender].map(|mut sender| {
            let mut all = all.clone();
            thread::spawn(move || {
                for number in 0..EACH {
                    let (sent, back) = block_on(sender.send_owned_async(number));
                    sender = back;
                    let (heard, back) = block_on(all.send_owned_async(number));
                    all = back;
                    assert!(sent.is_ok() && heard.is_ok());
                }
            })
        });
        drop(all);
        let receiving = thread::spawn(move || {
            let (mut receiver, mut count) = (receiver, 0);
            loop {
                let (received, back) = block_on(receiver.recv_owned_async());
                receiver = back;
                match received {
                    Ok(_) => count += 1,
                    Err(RecvError) => return count,
                }
            }
        });
        let mut heard = 0;
        loop {
            let (received, back) = block_on(hears.recv_owned_async());
            hears = back;
            match received {
                Ok(_) => heard += 1,
                Err(error) => break assert_eq!(error, broadcast::RecvError::Disconnected),
            }
        }
        sending.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((receiving.join().unwrap(), heard), (2 * EACH, 2 * EACH));
    });
}

/// Claim: A future that owns its handle drops it in every state, and its message once, and passes on what it was notified of.
#[test]
fn a_future_that_is_dropped_drops_its_handle_and_its_message() {
    let tally = Tally::of(4);
    let (sender, receiver) = mpmc::bounded(1);
    let sender_count = || receiver.sender_count();
    drop(sender.clone().send_owned_async(tally.next()));
    assert_eq!((sender_count(), receiver.len()), (1, 0), "never polled");
    let mut ready = Box::pin(sender.clone().send_owned_async(tally.next()));
    let sent = poll_once(&mut ready, &Task::default());
    assert!(matches!(&sent, Poll::Ready((Ok(()), _))) && sender_count() == 2);
    drop(sent);
    assert_eq!(sender_count(), 1, "it has been returned");
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(ready))).is_err(), "it is not polled again");
    let tasks = [Task::default(), Task::default()];
    let mut waiting = [(); 2].map(|()| Box::pin(sender.clone().send_owned_async(tally.next())));
    assert!(waiting.iter_mut().zip(&tasks).all(|(waiting, task)| poll_once(waiting, task).is_pending()));
    drop(receiver.recv());
    assert_eq!(tasks.each_ref().map(Task::woken), [1, 0]);
    let [first, mut second] = waiting;
    drop(first);
    assert_eq!((tasks.each_ref().map(Task::woken), sender_count()), ([1, 1], 2));
    assert!(matches!(poll_once(&mut second, &tasks[1]), Poll::Ready((Ok(()), _))));
    drop((receiver, second, sender));
    tally.assert_all_ended();
    assert_eq!(tasks.each_ref().map(Task::held), [0, 0], "no waker is kept");
}

#[test]
fn a_reservation_that_owns_its_sender_returns_it_with_an_error() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    let mut reserving = Box::pin(lives_for_ever(sender.clone().reserve_owned_async()));
    let Poll::Ready(Ok(permit)) = poll_once(&mut reserving, &Task::default()) else { panic!("there is room") };
    let (task, mut waits) = (Task::default(), Box::pin(sender.clone().reserve_owned_async()));
    assert!(poll_once(&mut waits, &task).is_pending());
    assert_eq!(receiver.sender_count(), 3);
    drop(permit);
    assert_eq!((task.woken(), receiver.sender_count()), (1, 2));
    drop(waits);
    assert_eq!(receiver.sender_count(), 1);
    assert!(!sender.is_full(), "a reservation that is dropped holds nothing");
    receiver.close();
    assert!(matches!(block_on(sender.reserve_owned_async()), Err(TrySendError::Disconnected(_))));
}

/// A message whose copy panics.
struct Uncopied;

impl Clone for Uncopied {
    fn clone(&self) -> Self {
        panic!("this copy panics");
    }
}

#[test]
fn what_panics_in_a_future_leaves_its_handle_to_be_dropped() {
    let (all, hears) = broadcast::bounded(2);
    let other = hears.clone();
    all.send(Uncopied).unwrap();
    let mut receiving = Box::pin(hears.recv_owned_async());
    assert_eq!(panics(|| drop(poll_once(&mut receiving, &Task::default()))), "this copy panics");
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(&mut receiving, &Task::default()).is_ready())).is_err());
    assert_eq!(all.receiver_count(), 2);
    drop(receiving);
    assert_eq!(all.receiver_count(), 1);
    drop(other);

    // A waker that panics when it is dropped, with the future.
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(1).unwrap();
    let mut sending = Box::pin(sender.clone().send_owned_async(2));
    let waker = Clinging::waker();
    assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert_eq!(panics(|| drop(sending)), "this waker clings");
    assert_eq!((receiver.sender_count(), receiver.recv()), (1, Ok(1)));
    // Another's waker, which panics as it is notified by the last sender that is dropped.
    let mut receiving = Box::pin(receiver.recv_async());
    let waker = Explosive::waker();
    assert!(receiving.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(panics(|| drop(sender.send_owned_async(3))), "this waker panics");
    assert_eq!(block_on(receiving), Err(RecvError));
}

/// Each kind has its own; a task keeps one beside its work, without a box and without a pin.
#[test]
fn a_wait_for_the_disconnection_may_be_moved_and_stays_ready() {
    fn ends<'a, F: Future<Output = ()> + Unpin + 'a>(closed: F, end: impl FnOnce()) {
        let (task, mut kept) = (Task::default(), vec![closed]);
        assert!(poll_once(&mut kept[0], &task).is_pending());
        kept.reserve(100);
        assert!(poll_once(&mut kept[0], &task).is_pending());
        end();
        assert!(task.woken() > 0);
        let mut moved = Box::new(kept.remove(0));
        assert!(poll_once(&mut moved, &task).is_ready() && poll_once(&mut moved, &task).is_ready());
        drop(moved);
        assert_eq!(task.held(), 0, "no waker is kept");
    }
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    let closed: ClosedFuture<'_, mpmc::Sender<u8>> = sender.closed();
    assert!(format!("{closed:?}").starts_with("ClosedFuture"));
    ends(closed, || drop(receiver));
    let (sender, receiver) = broadcast::bounded::<u8>(1);
    ends(sender.closed(), || drop(receiver));
    let (sender, receiver) = watch::channel(1_u8);
    ends(sender.closed(), || drop(receiver));
    let (mut sender, receiver) = oneshot::channel::<u8>();
    ends(sender.closed(), || drop(receiver));
    assert_eq!(sender.send(1), Err(SendError(1)));
}

#[test]
fn a_wait_for_the_disconnection_that_is_dropped_leaves_nothing() {
    let (sender, _receiver) = broadcast::bounded::<u8>(1);
    let (mut answers, _asks) = oneshot::channel::<u8>();
    let task = Task::default();
    for _ in 0..3 {
        drop(sender.closed());
        drop(answers.closed());
        assert!(
            poll_once(&mut sender.closed(), &task).is_pending() && poll_once(&mut answers.closed(), &task).is_pending()
        );
        assert_eq!(task.held(), 0);
    }
}

#[test]
fn a_wait_for_a_value_may_be_moved_and_sees_what_it_refuses() {
    let (sender, mut receiver) = watch::channel(0);
    let task = Task::default();
    let mut first: WaitForFuture<'_, u32, _> = receiver.wait_for_async(|value| *value == 2);
    assert!(format!("{first:?}").starts_with("WaitForFuture") && poll_once(&mut first, &task).is_pending());
    let mut moved = Box::new(first);
    sender.send(1).unwrap();
    assert_eq!(task.woken(), 1);
    assert!(poll_once(&mut moved, &task).is_pending());
    drop(moved);
    assert_eq!((task.held(), receiver.has_changed()), (0, Ok(false)), "what was refused counts as seen");
    let mut second = receiver.wait_for_async(|value| *value == 2);
    assert!(poll_once(&mut second, &task).is_pending());
    sender.send(2).unwrap();
    let Poll::Ready(Ok(value)) = poll_once(&mut second, &task) else { panic!("it is accepted") };
    assert_eq!(*value, 2);
    drop(value);
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(&mut second, &task).is_ready())).is_err());
    drop(second);
    assert_eq!(receiver.has_changed(), Ok(false));
    let mut third = pin!(receiver.wait_for_async(|value| *value == 3));
    assert!(poll_once(&mut third, &task).is_pending());
    drop(sender);
    assert!(matches!(poll_once(&mut third, &task), Poll::Ready(Err(RecvError))));
}

/// What the predicate has is dropped once, before the value is returned, or with the future.
#[test]
fn a_predicate_is_dropped_with_the_wait() {
    let (sender, mut receiver) = watch::channel(0);
    let shared = Arc::new(());
    let waits = |receiver: &mut watch::Receiver<u32>, most| {
        let share = shared.clone();
        let mut waiting = receiver.wait_for_async(move |value| *value < most && Arc::strong_count(&share) > 0);
        let is_ready = poll_once(&mut waiting, &Task::default()).is_ready();
        (is_ready, Arc::strong_count(&shared))
    };
    assert_eq!((waits(&mut receiver, 1), waits(&mut receiver, 0)), ((true, 1), (false, 2)));
    assert_eq!(Arc::strong_count(&shared), 1);
    drop(sender);
}

/// Without a box and without a pin. Each is moved while it waits.
#[test]
fn limits_batches_and_reservations_are_kept_in_a_struct_of_every_kind() {
    macro_rules! kept {
        ($kind:ident, $permit:ty) => {{
            #[derive(Default)]
            struct Kept<'a> {
                until: Option<SendUntilFuture<'a, $kind::Sender<u32>, Pending<()>>>,
                batch: Option<SendBatchFuture<'a, $kind::Sender<u32>, Range<u32>>>,
                received: Option<RecvBatchFuture<'a, $kind::Receiver<u32>>>,
                reserving: Option<ReserveFuture<'a, $kind::Sender<u32>, $permit>>,
            }
            #[allow(unused_mut, reason = "handles of some kinds are shared")]
            let (mut sender, mut receiver) = $kind::bounded(1);
            let task = Task::default();
            while sender.try_send(0).is_ok() {}
            {
                let mut kept = Kept { until: Some(sender.send_async_until(1, pending())), ..Kept::default() };
                assert!(poll_once(kept.until.as_mut().unwrap(), &task).is_pending());
                let mut moved = Box::new(kept);
                assert_eq!((receiver.recv(), task.woken()), (Ok(0), 1));
                let until = moved.until.as_mut().unwrap();
                assert_eq!(poll_once(&mut *until, &task), Poll::Ready(Ok(())));
                assert!(panics(|| _ = poll_once(until, &task)).contains("is not polled when it has been ready"));
            }
            assert_eq!(block_on(sender.send_async_until(2, ready(()))), Err(SendTimeoutError::Timeout(2)));
            {
                let mut messages = 2..4;
                let mut kept = Kept { batch: Some(sender.send_batch_async(&mut messages)), ..Kept::default() };
                assert!(poll_once(kept.batch.as_mut().unwrap(), &task).is_pending());
                let mut moved = Box::new(kept);
                let (last, sent) = loop {
                    let last = receiver.recv().unwrap();
                    if let Poll::Ready(sent) = poll_once(moved.batch.as_mut().unwrap(), &task) {
                        break (last, sent);
                    }
                };
                assert!(last <= 2);
                assert_eq!((sent, receiver.try_iter().last()), (Ok(2), Some(3)));
            }
            let mut to = Vec::new();
            {
                assert_eq!(block_on(receiver.recv_batch_async(&mut to, 0)), Ok(0));
                let mut kept = Kept { received: Some(receiver.recv_batch_async(&mut to, 9)), ..Kept::default() };
                assert!(poll_once(kept.received.as_mut().unwrap(), &task).is_pending());
                let mut moved = Box::new(kept);
                sender.send(4).unwrap();
                assert_eq!(poll_once(moved.received.as_mut().unwrap(), &task), Poll::Ready(Ok(1)));
            }
            assert_eq!(to, [4]);
            while sender.try_send(0).is_ok() {}
            {
                let mut kept = Kept { reserving: Some(sender.reserve_async()), ..Kept::default() };
                assert!(poll_once(kept.reserving.as_mut().unwrap(), &task).is_pending());
                let mut moved = Box::new(kept);
                let before = task.woken();
                assert_eq!((receiver.recv(), task.woken()), (Ok(0), before + 1));
                let Poll::Ready(Ok(permit)) = poll_once(moved.reserving.as_mut().unwrap(), &task) else {
                    panic!("there is room")
                };
                let sent = permit.send(5);
                sent.unwrap();
            }
            assert_eq!(receiver.try_iter().last(), Some(5));
            assert_eq!(task.held(), 0, "no waker is kept");
        }};
    }
    kept!(spsc, ysuite::Permit<'a, spsc::Sender<u32>>);
    kept!(mpsc, ysuite::Permit<'a, mpsc::Sender<u32>>);
    kept!(mpmc, mpmc::Permit<'a, u32>);
    kept!(broadcast, broadcast::Permit<'a, u32>);
}

/// A waiting reservation of a sender of one thread keeps no waker, and the sender goes on.
#[test]
fn a_reservation_of_a_pipe_that_is_dropped_waits_no_longer() {
    let (mut sender, mut receiver) = spsc::bounded(1);
    let task = Task::default();
    sender.send(1).unwrap();
    {
        let mut reserving = sender.reserve_many_async(1);
        assert!(poll_once(&mut reserving, &task).is_pending());
        assert_eq!(task.held(), 1);
    }
    assert_eq!((task.held(), receiver.recv(), task.woken()), (0, Ok(1), 0));
    sender.try_send(2).unwrap();
}

#[test]
fn a_future_that_owns_an_end_of_a_pipe_returns_it() {
    macro_rules! owned {
        ($kind:ident) => {{
            let (sender, receiver) = $kind::bounded(1);
            let task = Task::default();
            let mut receiving = Box::pin(lives_for_ever(receiver.recv_owned_async()));
            assert!(poll_once(&mut receiving, &task).is_pending());
            let (sent, sender) = block_on(sender.send_owned_async(1));
            assert_eq!((sent, task.woken()), (Ok(()), 1));
            let Poll::Ready((Ok(1), receiver)) = poll_once(&mut receiving, &task) else { panic!("there is a message") };
            let (_, sender) = block_on(sender.send_owned_async(2));
            let mut sending: Pin<Box<OwnedFuture<$kind::Sender<u8>>>> = Box::pin(sender.send_owned_async(3));
            assert!(poll_once(&mut sending, &task).is_pending());
            drop(sending);
            let (received, receiver) = block_on(receiver.recv_owned_async());
            assert_eq!((received, block_on(receiver.recv_owned_async()).0), (Ok(2), Err(RecvError)));
        }};
    }
    owned!(spsc);
    owned!(mpsc);
}

#[test]
fn a_weak_sender_of_a_broadcast_keeps_no_receiver_waiting() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let weak = sender.downgrade();
    assert!(weak.same_channel(&weak.clone()) && weak == sender.downgrade());
    let other = weak.upgrade().unwrap();
    assert_eq!((sender.sender_count(), other.same_channel(&sender)), (2, true));
    drop(sender);
    other.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    drop(other);
    assert_eq!(receiver.recv(), Err(broadcast::RecvError::Disconnected));
    assert!(weak.upgrade().is_none());
    let (sender, _receiver) = broadcast::bounded::<u8>(1);
    let weak = sender.downgrade();
    sender.close();
    assert!(weak.upgrade().is_none());
    assert!(format!("{weak:?}").starts_with("WeakSender"));
}
