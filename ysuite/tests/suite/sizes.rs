//! Sizes of the public types, pinned: none grows unnoticed. An end that outgrows two cache lines costs every program
//! that keeps many of them.

use std::mem::size_of;

use ysuite::channel::{
    IntoIter, Iter, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Spin, TryIter, TryRecvError, TrySendError,
};
use ysuite::mpsc;
use ysuite::pool::{Message, Pool, PoolBox, PoolError};
use ysuite::queue::ypipe::{Reader, Writer};
use ysuite::spsc::{Receiver, Sender};

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
    assert_eq!(size_of::<Sender<u64>>(), 160);
    assert_eq!(size_of::<Receiver<u64>>(), 120);
    assert_eq!(size_of::<mpsc::Sender<u64>>(), 176);
    assert_eq!(size_of::<mpsc::Receiver<u64>>(), 144);
    assert_eq!(size_of::<Writer<u64>>(), 120);
    assert_eq!(size_of::<Reader<u64>>(), 64);
    assert_eq!(size_of::<Iter<'_, Receiver<u64>>>(), 8);
    assert_eq!(size_of::<TryIter<'_, Receiver<u64>>>(), 8);
    assert_eq!(size_of::<IntoIter<Receiver<u64>>>(), size_of::<Receiver<u64>>() + 8);
}

#[test]
fn ends_of_an_exchange_are_a_few_words() {
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
    // A message with a niche needs no more room for the answer than for itself.
    assert_eq!(size_of::<Result<Box<u64>, RecvError>>(), 8);
}
