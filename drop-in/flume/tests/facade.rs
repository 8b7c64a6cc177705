//! What the original's own tests do not ask: types, texts, allocations, and messages that a select keeps.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use futures_sink::Sink;
use ysuite_flume as flume;
use ysuite_flume::r#async::{RecvFut, RecvStream, SendFut, SendSink};

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
    is_send_and_sync::<(flume::Sender<Cell<u8>>, flume::Receiver<Cell<u8>>, flume::WeakSender<Cell<u8>>)>();
    is_send_and_sync::<(SendFut<'_, u8>, RecvFut<'_, Cell<u8>>, SendSink<'_, u8>, RecvStream<'_, Cell<u8>>)>();
    is_unwind_safe::<(flume::Sender<Cell<u8>>, flume::Receiver<Cell<u8>>)>();
}

#[test]
fn errors_have_the_texts_of_the_original() {
    let texts: [(&dyn std::error::Error, &str, &str); 11] = [
        (&flume::SendError(0), "sending on a closed channel", "SendError(..)"),
        (&flume::TrySendError::Full(0), "sending on a full channel", "Full(..)"),
        (&flume::TrySendError::Disconnected(0), "sending on a closed channel", "Disconnected(..)"),
        (&flume::SendTimeoutError::Timeout(0), "timed out sending on a full channel", "SendTimeoutError(..)"),
        (&flume::SendTimeoutError::Disconnected(0), "sending on a closed channel", "SendTimeoutError(..)"),
        (&flume::RecvError::Disconnected, "receiving on a closed channel", "Disconnected"),
        (&flume::TryRecvError::Empty, "receiving on an empty channel", "Empty"),
        (&flume::TryRecvError::Disconnected, "channel is empty and closed", "Disconnected"),
        (&flume::RecvTimeoutError::Timeout, "timed out waiting on a channel", "Timeout"),
        (&flume::RecvTimeoutError::Disconnected, "channel is empty and closed", "Disconnected"),
        (&flume::select::SelectError::Timeout, "timeout occurred", "Timeout"),
    ];
    for (error, text, debug) in texts {
        assert_eq!((error.to_string().as_str(), format!("{error:?}").as_str()), (text, debug));
    }
}

/// A future that waits, is woken, and ends; and one that is dropped while it waits.
#[test]
fn a_future_allocates_nothing_where_it_waits() {
    let (sender, receiver) = flume::bounded(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut round = |number| {
        let mut receiving = pin!(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut context).is_pending());
        assert!(poll(receiver.recv_async()).is_pending());
        assert_eq!(poll(sender.send_async(number)), Poll::Ready(Ok(())));
        let mut sending = pin!(sender.send_async(number + 1));
        assert!(sending.as_mut().poll(&mut context).is_pending());
        assert!(poll(sender.send_async(0)).is_pending());
        assert_eq!(receiving.poll(&mut context), Poll::Ready(Ok(number)));
        assert_eq!(sending.poll(&mut context), Poll::Ready(Ok(())));
        assert_eq!(receiver.try_recv(), Ok(number + 1));
    };
    // A channel makes the list of those that wait once.
    round(1);
    assert_eq!(allocations(|| (1..100).for_each(round)), 0);
}

/// What owns its handle allocates once, however often it waits; and not where it never does.
#[test]
fn what_owns_its_handle_allocates_once() {
    let (sender, receiver) = flume::bounded(1);
    let mut context = Context::from_waker(Waker::noop());
    assert!(poll(receiver.recv_async()).is_pending());
    assert_eq!(poll(sender.send_async(0)), Poll::Ready(Ok(())));
    assert!(poll(sender.send_async(0)).is_pending());
    assert_eq!(poll(receiver.recv_async()), Poll::Ready(Ok(0)));
    let (mut sink, mut stream) = (sender.clone().into_sink(), receiver.clone().into_stream());
    let mut round = |number| {
        assert!(Pin::new(&mut stream).poll_next(&mut context).is_pending());
        assert_eq!(Pin::new(&mut sink).poll_ready(&mut context), Poll::Ready(Ok(())));
        Pin::new(&mut sink).start_send(number).unwrap();
        assert_eq!(Pin::new(&mut sink).poll_flush(&mut context), Poll::Ready(Ok(())));
        Pin::new(&mut sink).start_send(number + 1).unwrap();
        assert!(Pin::new(&mut sink).poll_flush(&mut context).is_pending());
        assert_eq!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(Some(number)));
        assert_eq!(Pin::new(&mut sink).poll_flush(&mut context), Poll::Ready(Ok(())));
        assert_eq!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(Some(number + 1)));
    };
    assert_eq!(allocations(|| (0..100).for_each(&mut round)), 2);
    let never_waits = || {
        assert_eq!(poll(sender.clone().into_send_async(1)), Poll::Ready(Ok(())));
        assert_eq!(poll(receiver.clone().into_recv_async()), Poll::Ready(Ok(1)));
    };
    assert_eq!(allocations(never_waits), 0);
}

/// It borrows a handle that it has itself, and is moved while it waits.
#[test]
fn what_owns_its_handle_may_be_moved_and_keeps_its_channel_connected() {
    let (sender, receiver) = flume::bounded(1);
    let mut context = Context::from_waker(Waker::noop());
    let message = Arc::new(7);
    let mut receiving = vec![receiver.into_recv_async()];
    assert!(Pin::new(&mut receiving[0]).poll(&mut context).is_pending());
    assert!(!sender.is_disconnected() && sender.receiver_count() == 1);
    sender.send(message.clone()).unwrap();
    let mut sending = vec![sender.into_send_async(message.clone())];
    assert!(Pin::new(&mut sending[0]).poll(&mut context).is_pending());
    receiving.reserve(100);
    sending.reserve(100);
    let (mut receiving, mut sending) = (Box::new(receiving.remove(0)), Box::new(sending.remove(0)));
    assert_eq!(Pin::new(&mut *receiving).poll(&mut context), Poll::Ready(Ok(message.clone())));
    assert_eq!(Arc::strong_count(&message), 2);
    assert_eq!(Pin::new(&mut *sending).poll(&mut context), Poll::Ready(Ok(())));
    assert!(!receiving.is_disconnected());
    drop(sending);
    assert!(receiving.is_disconnected());
    assert_eq!(Pin::new(&mut *receiving).poll(&mut context), Poll::Ready(Ok(message.clone())));
    drop(receiving);
    assert_eq!(Arc::strong_count(&message), 1);
}

#[test]
fn a_selector_performs_one_and_drops_what_it_has_not_sent() {
    let (sender, receiver) = flume::bounded(1);
    let (other, other_in) = flume::unbounded();
    let message = Arc::new(7);
    sender.send(message.clone()).unwrap();
    other.send(3).unwrap();
    let chosen = flume::Selector::new()
        .send(&sender, message.clone(), |_| unreachable!("there is no room"))
        .recv(&other_in, |got| got.unwrap())
        .wait();
    assert_eq!((chosen, Arc::strong_count(&message)), (3, 2));
    let late = flume::Selector::new().recv(&other_in, |_| ()).wait_timeout(Duration::from_millis(1));
    assert_eq!(late, Err(flume::select::SelectError::Timeout));
    drop(receiver);
    assert_eq!(Arc::strong_count(&message), 1);
    let back = flume::Selector::new().send(&sender, message.clone(), |sent| sent.unwrap_err().into_inner()).wait();
    assert_eq!(back, message);
}

/// Only with `eventual-fairness` a random one of those that are possible; else the first that was added.
#[test]
fn a_selector_without_fairness_takes_the_first() {
    let (_sender, silent) = flume::unbounded::<u32>();
    let (first, first_in) = flume::unbounded();
    let (second, second_in) = flume::unbounded();
    (0..100).for_each(|_| first.send(1).unwrap());
    (0..100).for_each(|_| second.send(2).unwrap());
    let got: Vec<u32> = (0..100)
        .map(|_| {
            let all = flume::Selector::new().recv(&silent, Result::unwrap);
            all.recv(&first_in, Result::unwrap).recv(&second_in, Result::unwrap).wait()
        })
        .collect();
    assert_eq!(got.iter().all(|number| *number == 1), !cfg!(feature = "eventual-fairness"));
}

#[test]
fn a_sink_and_a_stream_of_their_own() {
    let (sender, receiver) = flume::bounded(1);
    let (mut sink, mut stream) = (sender.into_sink(), receiver.into_stream());
    let mut context = Context::from_waker(Waker::noop());
    for number in 0..3 {
        assert_eq!(Pin::new(&mut sink).poll_ready(&mut context), Poll::Ready(Ok(())));
        Pin::new(&mut sink).start_send(number).unwrap();
        let flushed = Pin::new(&mut sink).poll_flush(&mut context);
        assert_eq!(flushed.is_ready(), number == 0);
        if number > 0 {
            assert_eq!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(Some(number - 1)));
            assert_eq!(Pin::new(&mut sink).poll_flush(&mut context), Poll::Ready(Ok(())));
        }
    }
    drop(sink);
    assert_eq!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(Some(2)));
    assert_eq!(Pin::new(&mut stream).poll_next(&mut context), Poll::Ready(None));
}
