//! Suite: tokio tests/sync_watch.rs; upstream 23, carried over here 20, excluded 3.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};

use ysuite::watch::{self, Receiver};
use ysuite::{RecvError, SendError};

use crate::common::tasks::poll;
use crate::support::executor::{Task, block_on};
use crate::tools::both;

carried! {
    single_rx_recv => one_receiver;
    rx_version_underflow => marked_again_and_again;
    rx_mark_changed => marked_as_changed;
    rx_mark_unchanged => marked_as_unchanged;
    multi_rx => two_receivers;
    rx_observes_final_value => the_last_value;
    poll_close => the_last_receiver_goes;
    borrow_and_update => looked_at_and_seen;
    reopened_after_subscribe => open_again;
    send_modify_panic => changed_by_one_that_panics;
    multiple_sender => two_senders;
    receiver_is_notified_when_last_sender_is_dropped => the_last_sender_goes;
    changed_succeeds_on_closed_channel_with_unseen_value => unseen_and_closed;
    changed_errors_on_closed_channel_with_seen_value => seen_and_closed;
    has_changed_errors_on_closed_channel_with_seen_value => seen_and_closed;
    receiver_is_closed_after_all_senders_are_dropped => closed_with_the_last_sender;
    wait_for_errors_on_closed_channel_true_predicate => waited_for_what_is_there;
    receiver_changed_is_cooperative => others_go_on_beside_one_that_is_told_of_the_end;
    receiver_changed_is_cooperative_ok => others_go_on_beside_one_that_is_told_of_changes;
    receiver_wait_for_is_cooperative => others_go_on_beside_one_that_waits_for_what_never_comes;
}

/// Polls a receiver for a change.
fn change<T>(rx: &mut Receiver<T>, task: &Task) -> Poll<Result<(), RecvError>> {
    rx.poll_changed(&mut Context::from_waker(&task.waker()))
}

fn one_receiver() {
    let (tx, mut rx) = watch::channel("one");
    let task = Task::default();
    assert!(poll(pin!(rx.changed_async()), &task).is_pending());
    assert_eq!(*rx.borrow(), "one");
    {
        let mut changed = pin!(rx.changed_async());
        assert!(poll(changed.as_mut(), &task).is_pending());
        tx.send("two").unwrap();
        assert_eq!((task.woken(), poll(changed.as_mut(), &task)), (1, Poll::Ready(Ok(()))));
    }
    assert_eq!(*rx.borrow(), "two");
    {
        let mut changed = pin!(rx.changed_async());
        assert!(poll(changed.as_mut(), &task).is_pending());
        drop(tx);
        assert_eq!((task.woken(), poll(changed.as_mut(), &task)), (2, Poll::Ready(Err(RecvError))));
    }
    assert_eq!(*rx.borrow(), "two");
}

fn marked_again_and_again() {
    let (_tx, mut rx) = watch::channel("one");
    (0..3).for_each(|_| rx.mark_changed());
    assert_eq!((rx.has_changed(), rx.changed(), rx.has_changed()), (Ok(true), Ok(()), Ok(false)));
}

fn marked_as_changed() {
    let (tx, mut rx) = watch::channel("one");
    let mut others: Vec<_> = (0..3).map(|_| rx.clone()).collect();
    let task = Task::default();
    rx.mark_changed();
    assert_eq!((rx.has_changed(), change(&mut rx, &task)), (Ok(true), Poll::Ready(Ok(()))));
    // A clone is another receiver: what it has seen is its own.
    assert_eq!((others[0].has_changed(), change(&mut others[0], &task)), (Ok(false), Poll::Pending));
    others[1].mark_changed();
    assert_eq!((*others[1].borrow(), others[1].has_changed()), ("one", Ok(true)));
    assert_eq!(*others[1].borrow_and_update(), "one");
    assert_eq!(others[1].has_changed(), Ok(false));
    assert!(change(&mut others[1], &task).is_pending());
    tx.send("two").unwrap();
    assert_eq!(*others[2].borrow_and_update(), "two");
    others[2].mark_changed();
    assert_eq!((others[2].has_changed(), *others[2].borrow_and_update()), (Ok(true), "two"));
    assert_eq!(*rx.borrow(), "two");
}

fn marked_as_unchanged() {
    let (tx, mut rx) = watch::channel("one");
    let mut other = rx.clone();
    rx.mark_changed();
    assert_eq!(rx.has_changed(), Ok(true));
    rx.mark_unchanged();
    assert_eq!(rx.has_changed(), Ok(false));
    assert!(change(&mut rx, &Task::default()).is_pending());
    tx.send("two").unwrap();
    assert_eq!(other.has_changed(), Ok(true));
    other.mark_unchanged();
    assert_eq!((other.has_changed(), *other.borrow_and_update()), (Ok(false), "two"));
}

fn two_receivers() {
    let (tx, mut rx) = watch::channel("one");
    let mut other = rx.clone();
    let (task, others) = (Task::default(), Task::default());
    let mut kept = pin!(other.changed_async());
    assert!(poll(kept.as_mut(), &others).is_pending());
    for (value, woken) in [("two", 1), ("three", 2)] {
        assert!(change(&mut rx, &task).is_pending());
        tx.send(value).unwrap();
        assert_eq!((task.woken(), change(&mut rx, &task), *rx.borrow()), (woken, Poll::Ready(Ok(())), value));
    }
    // The other has read neither: it is woken once, and both are one change.
    assert!(others.woken() >= 1);
    assert_eq!(poll(kept.as_mut(), &others), Poll::Ready(Ok(())));
}

fn the_last_value() {
    let (tx, mut rx) = watch::channel("one");
    drop(tx);
    assert_eq!((rx.changed(), *rx.borrow()), (Err(RecvError), "one"));
    let (tx, mut rx) = watch::channel("one");
    tx.send("two").unwrap();
    assert_eq!((rx.changed(), *rx.borrow()), (Ok(()), "two"));
    let task = Task::default();
    assert!(change(&mut rx, &task).is_pending());
    tx.send("three").unwrap();
    drop(tx);
    assert!(task.woken() >= 1);
    assert_eq!((change(&mut rx, &task), *rx.borrow()), (Poll::Ready(Ok(())), "three"));
    assert_eq!((change(&mut rx, &task), *rx.borrow()), (Poll::Ready(Err(RecvError)), "three"));
}

fn the_last_receiver_goes() {
    let (tx, rx) = watch::channel("one");
    let task = Task::default();
    {
        let mut closed = pin!(tx.closed());
        assert!(poll(closed.as_mut(), &task).is_pending());
        drop(rx);
        assert_eq!((task.woken(), poll(closed.as_mut(), &task)), (1, Poll::Ready(())));
    }
    assert_eq!(tx.send("two"), Err(SendError("two")));
}

fn looked_at_and_seen() {
    let (tx, mut rx) = watch::channel("one");
    let task = Task::default();
    assert_eq!(rx.has_changed(), Ok(false));
    tx.send("two").unwrap();
    assert_eq!((rx.has_changed(), change(&mut rx, &task)), (Ok(true), Poll::Ready(Ok(()))));
    assert_eq!((change(&mut rx, &task), rx.has_changed()), (Poll::Pending, Ok(false)));
    tx.send("three").unwrap();
    assert_eq!((rx.has_changed(), *rx.borrow_and_update()), (Ok(true), "three"));
    assert_eq!((change(&mut rx, &task), rx.has_changed()), (Poll::Pending, Ok(false)));
    drop(tx);
    assert_eq!(*rx.borrow_and_update(), "three");
    assert_eq!((change(&mut rx, &task), rx.has_changed()), (Poll::Ready(Err(RecvError)), Err(RecvError)));
}

fn open_again() {
    let (tx, rx) = watch::channel("one");
    assert!(!tx.is_disconnected());
    drop(rx);
    assert!(tx.is_disconnected());
    let rx = tx.subscribe();
    assert!(!tx.is_disconnected());
    tx.send("two").unwrap();
    assert_eq!(*rx.borrow(), "two");
}

fn changed_by_one_that_panics() {
    let (tx, mut rx) = watch::channel("one");
    tx.send_modify(|value| *value = "two");
    assert_eq!(*rx.borrow_and_update(), "two");
    let panic = catch_unwind(AssertUnwindSafe(|| tx.send_modify(|_| panic!("in the middle of a change"))));
    assert!(panic.is_err());
    // The value is usable, and so is the channel.
    assert_eq!(*rx.borrow_and_update(), "two");
    tx.send_modify(|value| *value = "three");
    assert_eq!((rx.changed(), *rx.borrow()), (Ok(()), "three"));
}

fn two_senders() {
    let (tx, mut rx) = watch::channel(0);
    let another = tx.clone();
    let task = Task::default();
    for (sender, value) in [(&tx, 1), (&another, 2)] {
        assert!(change(&mut rx, &task).is_pending());
        sender.send(value).unwrap();
        assert_eq!((task.woken(), change(&mut rx, &task), *rx.borrow()), (value, Poll::Ready(Ok(())), value));
    }
}

fn the_last_sender_goes() {
    let (tx, mut rx) = watch::channel(0);
    let another = tx.clone();
    let task = Task::default();
    assert!(change(&mut rx, &task).is_pending());
    drop(tx);
    assert_eq!(task.woken(), 0);
    drop(another);
    assert_eq!((task.woken(), change(&mut rx, &task)), (1, Poll::Ready(Err(RecvError))));
}

fn unseen_and_closed() {
    let (tx, mut rx) = watch::channel("A");
    tx.send("B").unwrap();
    drop(tx);
    assert_eq!(block_on(rx.changed_async()), Ok(()));
    assert_eq!(block_on(rx.changed_async()), Err(RecvError));
}

fn seen_and_closed() {
    let (tx, mut rx) = watch::channel("A");
    both(|| drop(tx), || assert_eq!(rx.changed(), Err(RecvError)));
    assert_eq!((block_on(rx.changed_async()), rx.has_changed()), (Err(RecvError), Err(RecvError)));
}

fn closed_with_the_last_sender() {
    let (tx, rx) = watch::channel("A");
    let another = tx.clone();
    assert!(!rx.is_disconnected());
    drop(tx);
    assert!(!rx.is_disconnected());
    drop(another);
    assert!(rx.is_disconnected());
}

fn waited_for_what_is_there() {
    let (tx, mut rx) = watch::channel("A");
    tx.send("B").unwrap();
    drop(tx);
    assert_eq!(*block_on(rx.wait_for_async(|_| true)).unwrap(), "B");
    assert!(block_on(rx.wait_for_async(|_| false)).is_err());
}

/// A future that never ends, and always can go on, lets a yielding future in the same task go on as well.
fn others_go_on_beside(endless: impl Future<Output = Infallible>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut endless, mut other) = (pin!(endless), pin!(tokio::task::yield_now()));
        poll_fn(|context| {
            assert!(endless.as_mut().poll(context).is_pending());
            other.as_mut().poll(context)
        })
        .await;
    });
}

fn others_go_on_beside_one_that_is_told_of_the_end() {
    let (tx, mut rx) = watch::channel(());
    drop(tx);
    others_go_on_beside(async {
        loop {
            assert_eq!(rx.changed_async().await, Err(RecvError));
        }
    });
}

fn others_go_on_beside_one_that_is_told_of_changes() {
    let (tx, mut rx) = watch::channel(());
    others_go_on_beside(async {
        loop {
            tx.send(()).unwrap();
            assert_eq!(rx.changed_async().await, Ok(()));
        }
    });
}

fn others_go_on_beside_one_that_waits_for_what_never_comes() {
    let (tx, mut rx) = watch::channel(0);
    drop(tx);
    others_go_on_beside(async {
        loop {
            assert!(rx.wait_for_async(|&value| value == 1).await.is_err());
        }
    });
}
