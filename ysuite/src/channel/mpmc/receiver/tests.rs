//! A notified receiver notifies the next, even where foreign code panics before it has done so.
//!
//! One notification stands for two messages where the first was late: its sender stopped between claiming its cell and
//! filling it, and the receiver that was notified of the second found nothing. No test can stop a sender there, so these
//! tests put messages into the ring, and notify, by themselves.

use core::pin::pin;
use core::task::{Context, Poll, RawWakerVTable, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Wake;

use super::super::{Receiver, bounded};
use super::Hint;
use super::SharedEnd;
use crate::signal::AttachShared;
use crate::testing::Woken;
use crate::wait::many::notify;

struct Explosive;

impl Wake for Explosive {
    fn wake(self: Arc<Self>) {
        panic!("this waker panics");
    }
}

/// Puts messages in without notifying any receiver.
fn put(receiver: &Receiver<u32>, messages: u32) {
    (0..messages).for_each(|message| assert!(receiver.shared.ring.push_bounded(&Hint::new(), message).is_ok()));
}

#[test]
fn a_notified_receiver_notifies_the_next_where_a_senders_waker_panics() {
    let (sender, mut first) = bounded(2);
    let second = first.clone();
    let (notified, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    assert!(first.poll_recv(&mut Context::from_waker(&notified.clone().into())).is_pending());
    let mut waiting = pin!(second.recv_async());
    let waker = next.clone().into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    put(&first, 2);
    notify(first.shared.readers().list(), 1);
    assert_eq!((notified.times(), next.times()), (1, 0));
    let mut sending = pin!(sender.send_async(2));
    assert!(sending.as_mut().poll(&mut Context::from_waker(&Arc::new(Explosive).into())).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| first.try_recv())).is_err());
    assert_eq!(next.times(), 1, "there is a message left, and the next receiver was not notified");
    assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
}

/// A waker that cannot be cloned: a message comes while it is tried.
static TABLE: RawWakerVTable = RawWakerVTable::new(
    |receiver| {
        // SAFETY: the test makes the waker from a receiver that outlives it.
        put(unsafe { &*receiver.cast() }, 1);
        panic!("this waker is the only one");
    },
    |_| (),
    |_| (),
    |_| (),
);

#[test]
fn a_notified_receiver_notifies_the_next_where_its_wakers_clone_panics() {
    let (sender, mut first) = bounded(2);
    let second = first.clone();
    let (notified, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    assert!(first.poll_recv(&mut Context::from_waker(&notified.clone().into())).is_pending());
    let mut waiting = pin!(second.recv_async());
    let waker = next.clone().into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    notify(first.shared.readers().list(), 1);
    assert_eq!((notified.times(), next.times()), (1, 0));
    // SAFETY: the waker owns nothing, the receiver it points to outlives it, and the functions of its table may run on any
    // thread.
    let only = unsafe { Waker::new((&raw const second).cast(), &TABLE) };
    let panic = catch_unwind(AssertUnwindSafe(|| first.poll_recv(&mut Context::from_waker(&only)).is_ready()));
    assert!(panic.is_err());
    assert_eq!(next.times(), 1, "there is a message, and the next receiver was not notified");
    assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(0)));
    drop(sender);
}

/// Whoever takes by the id that a select has named is not in the list, and owes nobody anything.
#[test]
fn a_select_that_names_one_of_several_messages_notifies_the_next() {
    let (_sender, first) = bounded(4);
    let (second, next) = (first.clone(), Arc::new(Woken::default()));
    let watcher = AttachShared::watcher(&first);
    let mut waiting = pin!(second.recv_async());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&next.clone().into())).is_pending());
    put(&first, 1);
    assert!(watcher.is_ready());
    assert_eq!(next.times(), 0, "there is one, for whom the select names");
    put(&first, 1);
    assert!(watcher.is_ready());
    assert_eq!(next.times(), 1);
}
