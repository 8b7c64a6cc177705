//! Sizes of the public types, pinned: none grows unnoticed. A handle that outgrows two cache lines costs every program
//! that keeps many of them.

use std::mem::size_of;

use ysuite::iter::{IntoIter, Iter, TryIter};
use ysuite::mpsc;
use ysuite::pool::{Message, Pool, PoolBox, PoolError};
use ysuite::queue::ypipe::{Reader, Writer};
use ysuite::spsc::{Receiver, Sender};
use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, Spin, TryRecvError, TrySendError};

#[test]
fn ends_do_not_depend_on_the_message() {
    assert_eq!(size_of::<Sender<u64>>(), size_of::<Sender<[u8; 1000]>>());
    assert_eq!(size_of::<Receiver<u64>>(), size_of::<Receiver<()>>());
    assert_eq!(size_of::<mpsc::Sender<u64>>(), size_of::<mpsc::Sender<[u8; 1000]>>());
    assert_eq!(size_of::<mpsc::Receiver<u64>>(), size_of::<mpsc::Receiver<()>>());
    assert_eq!(size_of::<Writer<u64>>(), size_of::<Writer<[u8; 1000]>>());
    assert_eq!(size_of::<Reader<u64>>(), size_of::<Reader<()>>());
}

#[test]
fn sizes_do_not_grow_unnoticed() {
    assert_eq!(size_of::<Sender<u64>>(), 152);
    assert_eq!(size_of::<Receiver<u64>>(), 104);
    assert_eq!(size_of::<mpsc::Sender<u64>>(), 160);
    assert_eq!(size_of::<mpsc::Receiver<u64>>(), 128);
    assert_eq!(size_of::<Writer<u64>>(), 120);
    assert_eq!(size_of::<Reader<u64>>(), 56);
    assert_eq!(size_of::<Iter<'_, Receiver<u64>>>(), 8);
    assert_eq!(size_of::<TryIter<'_, Receiver<u64>>>(), 8);
    assert_eq!(size_of::<IntoIter<Receiver<u64>>>(), size_of::<Receiver<u64>>() + 8);
}

#[test]
fn mpmc_handles_are_a_few_words() {
    assert_eq!(size_of::<ysuite::mpmc::Sender<u64>>(), 40);
    assert_eq!(size_of::<ysuite::mpmc::Receiver<[u8; 1000]>>(), 48);
    assert_eq!(size_of::<ysuite::broadcast::Sender<u64>>(), 16);
    assert_eq!(size_of::<ysuite::broadcast::Receiver<[u8; 1000]>>(), 64);
}

#[test]
fn ends_of_a_oneshot_are_a_word_or_two() {
    assert_eq!(size_of::<ysuite::oneshot::Sender<[u8; 1000]>>(), 8);
    assert_eq!(size_of::<ysuite::oneshot::Receiver<[u8; 1000]>>(), 16);
}

#[test]
fn messages_of_a_pool_are_one_pointer() {
    assert_eq!((size_of::<Message>(), size_of::<Option<Message>>()), (8, 8));
    assert_eq!((size_of::<PoolBox<[u8; 500]>>(), size_of::<Option<PoolBox<u64>>>()), (8, 8));
    assert_eq!(size_of::<Pool>(), 8);
    assert_eq!(size_of::<PoolError>(), 24);
}

#[test]
fn errors_are_as_small_as_what_they_carry() {
    assert_eq!(size_of::<SendError<u64>>(), 8);
    assert_eq!(size_of::<TrySendError<u64>>(), 16);
    assert_eq!(size_of::<SendTimeoutError<u64>>(), 16);
    assert_eq!(size_of::<RecvError>(), 0);
    assert_eq!(size_of::<TryRecvError>(), 1);
    assert_eq!(size_of::<RecvTimeoutError>(), 1);
    assert_eq!(size_of::<mpsc::TooManySenders>(), 0);
    assert_eq!(size_of::<Spin>(), 1);
    // A message with a niche needs no more room for the result than for itself.
    assert_eq!(size_of::<Result<Box<u64>, RecvError>>(), 8);
}

/// A future that sends holds its message once, and some words to wait with. Otherwise each task that might wait is as large as a
/// batch, and so is each copy of the future into a larger one.
#[test]
fn futures_that_send_hold_their_message_once() {
    const MESSAGE: usize = 1024;
    const MOST: usize = MESSAGE + 400;
    fn size<F>(future: F) -> usize {
        size_of_val(&future)
    }
    /// All that can be sent by a task: one message, one with a limit, several.
    macro_rules! sizes {
        ($open:expr) => {{
            #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
            let (mut sender, mut receiver) = $open;
            let message = || [7_u8; MESSAGE];
            let limit = std::future::pending::<()>;
            let mut messages = std::iter::repeat_with(message);
            let sizes = [
                size(sender.send_async(message())),
                size(sender.send_async_until(message(), limit())),
                size(sender.send_batch_async(&mut messages)),
                size(receiver.recv_async()) + MESSAGE,
            ];
            assert!(sizes.iter().all(|&size| size <= MOST), "{}: {sizes:?}", stringify!($open));
        }};
    }
    sizes!(ysuite::spsc::bounded(1));
    sizes!(ysuite::mpsc::bounded(1));
    sizes!(ysuite::mpmc::bounded(1));
    let (sender, _receiver) = ysuite::broadcast::bounded(1);
    let size = size_of_val(&sender.send_async([7_u8; MESSAGE]));
    assert!(size <= MOST, "broadcast: {size}");
    #[cfg(feature = "tokio")]
    {
        let (mut sender, _receiver) = ysuite::spsc::bounded(1);
        let size = size_of_val(&sender.send_timeout_async([7_u8; MESSAGE], std::time::Duration::ZERO));
        assert!(size <= MOST + 300, "with a timer of tokio: {size}");
    }
}
