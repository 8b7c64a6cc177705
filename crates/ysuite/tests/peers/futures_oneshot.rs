//! Suite: futures-channel tests/oneshot.rs; upstream 8, carried over here 8, excluded 0.

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use ysuite::RecvError;
use ysuite::oneshot;

use crate::common::once::{self, poll_closed};
use crate::support::executor::{Task, block_on, poll_once};
use crate::tools::both;

carried! {
    smoke_poll => polled_for_the_end;
    cancel_notifies => once::waiting_for_the_receivers_end;
    cancel_lots => once::waiting_for_the_receivers_end;
    cancel_after_sender_drop_doesnt_notify => a_sender_that_is_gone_is_told_nothing;
    close => closed_without_a_drop;
    close_wakes => closing_wakes;
    is_canceled => once::the_receiver_goes;
    cancel_sends => once::closed_while_sent_to;
}

fn polled_for_the_end() {
    let (mut tx, rx) = oneshot::channel::<u32>();
    let task = Task::default();
    assert_eq!([poll_closed(&mut tx, &task), poll_closed(&mut tx, &task)], [Poll::Pending; 2]);
    drop(rx);
    assert_eq!([poll_closed(&mut tx, &task), poll_closed(&mut tx, &task)], [Poll::Ready(()); 2]);
}

fn a_sender_that_is_gone_is_told_nothing() {
    struct Never;
    impl Wake for Never {
        fn wake(self: Arc<Self>) {
            panic!("its sender is gone");
        }
    }
    let (mut tx, rx) = oneshot::channel::<u32>();
    let waker = Waker::from(Arc::new(Never));
    assert!(tx.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    drop(tx);
    drop(rx);
}

fn closed_without_a_drop() {
    let (mut tx, mut rx) = oneshot::channel::<u32>();
    assert!(rx.close());
    assert_eq!(poll_once(&mut rx, &Task::default()), Poll::Ready(Err(RecvError)));
    assert!(poll_closed(&mut tx, &Task::default()).is_ready());
}

fn closing_wakes() {
    let (mut tx, mut rx) = oneshot::channel::<u32>();
    let (done, is_done) = std::sync::mpsc::channel();
    both(
        move || {
            rx.close();
            // It stays until the other side has been notified.
            is_done.recv().unwrap();
        },
        move || {
            block_on(tx.closed());
            done.send(()).unwrap();
        },
    );
}
