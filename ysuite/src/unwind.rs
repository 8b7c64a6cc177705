//! What may be used after a panic has been caught: everything that has a queue, a set or a table inside, as in `std`.
//!
//! Foreign code runs only where all of it is consistent: a panic there leaves an end as good as it was. A value that is
//! *in* something is another matter: a box of the pool, or an error, is as safe as what it holds.

use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::channel::{Iter, TryIter};
use crate::{mailbox, mpmc, mpsc, pool, queue, signal, spsc};

/// For types of which there is nothing to be found half done.
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
    [T] mpmc::Sender<T>,
    [T] mpmc::Receiver<T>,
    [T] queue::ypipe::Writer<T>,
    [T] queue::ypipe::Reader<T>,
    [] signal::YPollset,
    [] signal::Signaler,
    [] signal::Registration,
    #[cfg(unix)]
    [] signal::YSocketpair,
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

// They hold nothing but the receiver.
impl<R: RefUnwindSafe> UnwindSafe for Iter<'_, R> {}
impl<R: RefUnwindSafe> UnwindSafe for TryIter<'_, R> {}

// As a `Box`.
impl<T: UnwindSafe> UnwindSafe for pool::PoolBox<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for pool::PoolBox<T> {}
