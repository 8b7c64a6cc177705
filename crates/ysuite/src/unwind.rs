//! Which types may be used after a caught panic: all that have a queue, a set or a table inside, as in `std`.
//!
//! The library calls user code only where its own state is consistent, so a panic there leaves a handle usable. A type
//! that *is* its value, such as a box of the pool or an error, is as safe as the value.

use std::panic::{RefUnwindSafe, UnwindSafe};

#[cfg(feature = "futures")]
use crate::channel::Feed;
use crate::channel::{Iter, Permit, Permits, Reserve, TryIter};
#[cfg(feature = "futures")]
use crate::integrations::SenderSink;
use crate::{broadcast, mailbox, mpmc, mpsc, oneshot, pool, queue, signal, spsc, watch};

/// For types whose state is consistent whenever user code runs.
macro_rules! whole {
    ($($(#[$only:meta])* [$($generics:tt)*] $type:ty),* $(,)?) => {$(
        $(#[$only])*
        impl<$($generics)*> UnwindSafe for $type {}
        $(#[$only])*
        impl<$($generics)*> RefUnwindSafe for $type {}
    )*};
}

whole!(
    [T] spsc::Sender<T>,
    [T] spsc::Receiver<T>,
    [T] mpsc::Sender<T>,
    [T] mpsc::Receiver<T>,
    [T] mpsc::WeakSender<T>,
    [T: 'static] mpsc::SharedSender<T>,
    [T] mpmc::Sender<T>,
    [T] mpmc::Receiver<T>,
    [T] oneshot::Sender<T>,
    [T] oneshot::Receiver<T>,
    [T] watch::Sender<T>,
    [T] watch::Receiver<T>,
    [T] broadcast::Sender<T>,
    [T] broadcast::Receiver<T>,
    [T] mpmc::WeakSender<T>,
    [T] mpmc::WeakReceiver<T>,
    ['a, T] mpmc::Permit<'a, T>,
    ['a, T] mpmc::Permits<'a, T>,
    [T] mpmc::OwnedPermit<T>,
    [T] queue::ypipe::Writer<T>,
    [T] queue::ypipe::Reader<T>,
    [] signal::YPollset,
    ['a] signal::Select<'a>,
    [] signal::Signaler,
    [] signal::Registration,
    #[cfg(unix)]
    [] signal::YSocketpair,
    #[cfg(feature = "statistics")]
    [] crate::statistics::Observer,
    [] pool::Pool,
    [] pool::Message,
    [] mailbox::Mailbox,
    [] mailbox::Address,
    #[cfg(all(feature = "hub", unix))]
    [] crate::hub::Hub,
    #[cfg(all(feature = "hub", unix))]
    [] crate::hub::Handle,
    #[cfg(all(feature = "tokio", unix))]
    [] crate::integrations::tokio::AsyncSocketpair,
);

// They have nothing but the receiver.
impl<R: RefUnwindSafe> UnwindSafe for Iter<'_, R> {}
impl<R: RefUnwindSafe> UnwindSafe for TryIter<'_, R> {}

// They have nothing but the sender.
impl<S: Reserve + RefUnwindSafe> UnwindSafe for Permit<'_, S> {}
impl<S: Reserve + RefUnwindSafe> UnwindSafe for Permits<'_, S> {}

// They have only the sender, and a message on its way, which no other code sees.
#[cfg(feature = "futures")]
impl<S: Feed + RefUnwindSafe> UnwindSafe for SenderSink<S> {}
#[cfg(feature = "futures")]
impl<S: Feed + RefUnwindSafe> RefUnwindSafe for SenderSink<S> {}

// As a `Box`.
impl<T: UnwindSafe> UnwindSafe for pool::PoolBox<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for pool::PoolBox<T> {}
