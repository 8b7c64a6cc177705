//! What the original's own tests do not ask: types, texts and allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use ysuite_async_channel as channel;
use ysuite_async_channel::Ysuite;

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it is the system's, and a count.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn ends_and_futures_are_shared_where_their_messages_can_be_sent() {
    fn is_send_and_sync<T: Send + Sync>() {}
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_send_and_sync::<(channel::Sender<Cell<u8>>, channel::Receiver<Cell<u8>>)>();
    is_send_and_sync::<(channel::WeakSender<Cell<u8>>, channel::WeakReceiver<Cell<u8>>)>();
    is_send_and_sync::<(channel::Send<'_, u8>, channel::Recv<'_, Cell<u8>>, channel::Closed<'_, Cell<u8>>)>();
    is_unwind_safe::<(channel::Sender<Cell<u8>>, channel::Receiver<Cell<u8>>)>();
}

#[test]
fn errors_have_the_texts_of_the_original() {
    let texts: [(&dyn std::error::Error, &str, &str); 6] = [
        (&channel::SendError(0), "sending into a closed channel", "SendError(..)"),
        (&channel::TrySendError::Full(0), "sending into a full channel", "Full(..)"),
        (&channel::TrySendError::Closed(0), "sending into a closed channel", "Closed(..)"),
        (&channel::RecvError, "receiving from an empty and closed channel", "RecvError"),
        (&channel::TryRecvError::Empty, "receiving from an empty channel", "Empty"),
        (&channel::TryRecvError::Closed, "receiving from an empty and closed channel", "Closed"),
    ];
    for (error, text, debug) in texts {
        assert_eq!((error.to_string().as_str(), format!("{error:?}").as_str()), (text, debug));
    }
}

/// A future that waits, is woken, and ends; and one that is dropped while it waits.
#[test]
fn a_future_allocates_nothing_where_it_waits() {
    let (sender, receiver) = channel::bounded(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut round = |number| {
        let mut receiving = pin!(receiver.recv());
        assert!(receiving.as_mut().poll(&mut context).is_pending());
        assert!(poll(receiver.recv()).is_pending());
        assert_eq!(poll(sender.send(number)), Poll::Ready(Ok(())));
        let mut sending = pin!(sender.send(number + 1));
        assert!(sending.as_mut().poll(&mut context).is_pending());
        assert!(poll(sender.send(0)).is_pending());
        assert_eq!(receiving.poll(&mut context), Poll::Ready(Ok(number)));
        assert_eq!(sending.poll(&mut context), Poll::Ready(Ok(())));
        assert_eq!(receiver.try_recv(), Ok(number + 1));
        assert!(poll(sender.closed()).is_pending());
    };
    // A channel makes the list of those that wait once.
    round(1);
    assert_eq!(allocations(|| (1..100).for_each(round)), 0);
}

#[test]
fn a_message_that_waits_is_sent_once_and_comes_back() {
    let (sender, receiver) = channel::bounded(1);
    assert_eq!(poll(sender.send(1)), Poll::Ready(Ok(())));
    let (mut second, mut closed) = (pin!(sender.send(2)), pin!(sender.closed()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(second.as_mut().poll(&mut context).is_pending() && closed.as_mut().poll(&mut context).is_pending());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(second.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    let mut third = pin!(sender.send(3));
    assert!(third.as_mut().poll(&mut context).is_pending());
    drop(receiver);
    assert_eq!(third.as_mut().poll(&mut context), Poll::Ready(Err(channel::SendError(3))));
    assert!(closed.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_stream_ends_with_its_channel() {
    let (sender, receiver) = channel::unbounded();
    let mut receiver = pin!(receiver);
    let mut context = Context::from_waker(Waker::noop());
    assert!(receiver.as_mut().poll_next(&mut context).is_pending());
    sender.ysuite().send_batch([1, 2]).unwrap();
    drop(sender);
    assert!(!receiver.is_terminated());
    for expected in [Some(1), Some(2), None] {
        assert_eq!(receiver.as_mut().poll_next(&mut context), Poll::Ready(expected));
    }
    assert!(receiver.is_terminated());
}

#[test]
#[should_panic(expected = "capacity cannot be zero")]
fn there_is_no_channel_of_capacity_0() {
    drop(channel::bounded::<u8>(0));
}
