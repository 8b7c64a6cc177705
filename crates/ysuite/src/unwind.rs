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
use crate::{queue, signal};

/// For types whose state is consistent whenever user code runs.
macro_rules! whole {
    ($($(#[$only:meta])* [$($generics:tt)*] $type:ty),* $(,)?) => {$(
        $(#[$only])*
        impl<$($generics)*> UnwindSafe for $type {}
        $(#[$only])*
        impl<$($generics)*> RefUnwindSafe for $type {}
    )*};
}

#[cfg(feature = "spsc")]
whole!(
    [T] crate::spsc::Sender<T>,
    [T] crate::spsc::Receiver<T>,
    ['a, T] crate::spsc::SendFuture<'a, T>,
    ['a, T] crate::spsc::RecvFuture<'a, T>,
    ['a, T] crate::future::ClosedFuture<'a, crate::spsc::Sender<T>>,
    ['a, T, P] crate::future::ReserveFuture<'a, crate::spsc::Sender<T>, P>,
    ['a, T, F: UnwindSafe] crate::future::SendUntilFuture<'a, crate::spsc::Sender<T>, F>,
);
#[cfg(feature = "mpsc")]
whole!(
    [T] crate::mpsc::Sender<T>,
    [T] crate::mpsc::Receiver<T>,
    [T] crate::mpsc::WeakSender<T>,
    [T: 'static] crate::mpsc::SharedSender<T>,
    ['a, T] crate::mpsc::SendFuture<'a, T>,
    ['a, T] crate::mpsc::RecvFuture<'a, T>,
    ['a, T] crate::future::ClosedFuture<'a, crate::mpsc::Sender<T>>,
    ['a, T, P] crate::future::ReserveFuture<'a, crate::mpsc::Sender<T>, P>,
    ['a, T, F: UnwindSafe] crate::future::SendUntilFuture<'a, crate::mpsc::Sender<T>, F>,
);
#[cfg(feature = "mpmc")]
whole!(
    [T] crate::mpmc::Sender<T>,
    [T] crate::mpmc::Receiver<T>,
    [T] crate::mpmc::WeakSender<T>,
    [T] crate::mpmc::WeakReceiver<T>,
    ['a, T] crate::mpmc::Permit<'a, T>,
    ['a, T] crate::mpmc::Permits<'a, T>,
    [T] crate::mpmc::OwnedPermit<T>,
    ['a, T] crate::mpmc::SendFuture<'a, T>,
    ['a, T] crate::future::ClosedFuture<'a, crate::mpmc::Sender<T>>,
    ['a, T, P] crate::future::ReserveFuture<'a, crate::mpmc::Sender<T>, P>,
    ['a, T, F: UnwindSafe] crate::future::SendUntilFuture<'a, crate::mpmc::Sender<T>, F>,
    ['a, T] crate::mpmc::RecvFuture<'a, T>,
);
#[cfg(feature = "oneshot")]
whole!(
    [T] crate::oneshot::Sender<T>,
    [T] crate::oneshot::Receiver<T>,
    ['a, T] crate::future::ClosedFuture<'a, crate::oneshot::Sender<T>>,
);
#[cfg(feature = "watch")]
whole!(
    [T] crate::watch::Sender<T>,
    [T] crate::watch::Receiver<T>,
    ['a, T] crate::watch::ChangedFuture<'a, T>,
    ['a, T, F: UnwindSafe] crate::watch::WaitForFuture<'a, T, F>,
    ['a, T] crate::future::ClosedFuture<'a, crate::watch::Sender<T>>,
);
whole!([H: crate::future::Owning] crate::future::OwnedFuture<H>);
#[cfg(feature = "broadcast")]
whole!(
    [T] crate::broadcast::Sender<T>,
    [T] crate::broadcast::WeakSender<T>,
    [T] crate::broadcast::Receiver<T>,
    ['a, T] crate::broadcast::Permit<'a, T>,
    ['a, T] crate::broadcast::Permits<'a, T>,
    [T] crate::broadcast::OwnedPermit<T>,
    ['a, T] crate::broadcast::SendFuture<'a, T>,
    ['a, T] crate::future::ClosedFuture<'a, crate::broadcast::Sender<T>>,
    ['a, T, P] crate::future::ReserveFuture<'a, crate::broadcast::Sender<T>, P>,
    ['a, T, F: UnwindSafe] crate::future::SendUntilFuture<'a, crate::broadcast::Sender<T>, F>,
    ['a, T: Clone] crate::broadcast::RecvFuture<'a, T>,
);
#[cfg(feature = "pool")]
whole!([] crate::pool::Pool, [] crate::pool::Message, ['a] crate::pool::TakeFuture<'a>);
#[cfg(feature = "mailbox")]
whole!([] crate::mailbox::Mailbox, [] crate::mailbox::Address);
whole!(
    [T] queue::ypipe::Writer<T>,
    [T] queue::ypipe::Reader<T>,
    #[cfg(feature = "signal")]
    [] signal::YPollset,
    #[cfg(feature = "signal")]
    ['a] signal::ReadySet<'a>,
    #[cfg(feature = "signal")]
    [] signal::Signaler,
    [] signal::Registration,
    #[cfg(all(feature = "signal", any(unix, windows)))]
    [] signal::YSocketpair,
    #[cfg(feature = "statistics")]
    [] crate::statistics::Observer,
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
#[cfg(feature = "pool")]
impl<T: UnwindSafe> UnwindSafe for crate::pool::PoolBox<T> {}
#[cfg(feature = "pool")]
impl<T: RefUnwindSafe> RefUnwindSafe for crate::pool::PoolBox<T> {}
