//! What a receiver that was told of a message owes the others, when foreign code panics before it has passed that on.
//!
//! One call stands for two messages where the first was late: its sender stopped between claiming its place and filling it,
//! and whoever was called for the second found nothing. No test can stop a sender there, so these put messages into the
//! ring, and call, by themselves.

use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, RawWakerVTable, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Wake;

use super::super::{Receiver, bounded};
use super::SharedEnd;
use crate::wait::many::notify;

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct Explosive;

impl Wake for Explosive {
    fn wake(self: Arc<Self>) {
        panic!("this waker panics");
    }
}

/// Puts messages in, silently.
fn put(receiver: &Receiver<u32>, messages: u32) {
    (0..messages).for_each(|message| assert!(receiver.shared.ring.push(message).is_ok()));
}

#[test]
fn one_that_was_told_tells_the_next_where_a_senders_waker_panics() {
    let (sender, mut first) = bounded(2);
    let second = first.clone();
    let (told, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    assert!(first.poll_recv(&mut Context::from_waker(&told.clone().into())).is_pending());
    let mut waiting = pin!(second.recv_async());
    let waker = next.clone().into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    put(&first, 2);
    notify(first.shared.readers().list(), 1);
    assert_eq!((told.times(), next.times()), (1, 0));
    let mut sending = pin!(sender.send_async(2));
    assert!(sending.as_mut().poll(&mut Context::from_waker(&Arc::new(Explosive).into())).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| first.try_recv())).is_err());
    assert_eq!(next.times(), 1, "there is a message left, and nobody else was told");
    assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
}

/// A waker that cannot be cloned: a message comes while it is tried.
static TABLE: RawWakerVTable = RawWakerVTable::new(
    |receiver| {
        // SAFETY: the test makes it of a receiver that outlives it.
        put(unsafe { &*receiver.cast() }, 1);
        panic!("this waker is the only one");
    },
    |_| (),
    |_| (),
    |_| (),
);

#[test]
fn one_that_was_told_tells_the_next_where_its_wakers_clone_panics() {
    let (sender, mut first) = bounded(2);
    let second = first.clone();
    let (told, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    assert!(first.poll_recv(&mut Context::from_waker(&told.clone().into())).is_pending());
    let mut waiting = pin!(second.recv_async());
    let waker = next.clone().into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    notify(first.shared.readers().list(), 1);
    assert_eq!((told.times(), next.times()), (1, 0));
    // SAFETY: nothing is owned, and the receiver outlives it.
    let only = unsafe { Waker::new((&raw const second).cast(), &TABLE) };
    let panic = catch_unwind(AssertUnwindSafe(|| first.poll_recv(&mut Context::from_waker(&only)).is_ready()));
    assert!(panic.is_err());
    assert_eq!(next.times(), 1, "there is a message, and nobody else was told");
    assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(0)));
    drop(sender);
}
