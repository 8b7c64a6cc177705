//! **watch**: one value, of which every receiver sees the newest.
//!
//! Any number of senders replace or change the value, and any number of receivers read it. Every change raises a
//! version. By it each receiver learns that there is a value that it has not seen. It never sees values that were
//! replaced between two of its reads: memory is one value, however slow a receiver is.
//!
//! ```
//! use ysuite::watch;
//!
//! let (sender, mut receiver) = watch::channel("starting");
//! let thread = std::thread::spawn(move || {
//!     // Waits for a value that it has not seen, then reads the newest.
//!     while receiver.changed().is_ok() {
//!         println!("now {}", *receiver.borrow_and_update());
//!     }
//! });
//! sender.send("running")?;
//! sender.send("stopping")?;
//! drop(sender);
//! thread.join().unwrap();
//! # Ok::<(), ysuite::SendError<&str>>(())
//! ```
//!
//! # When to use it
//!
//! For a state that others follow: a configuration, a level, progress, "stop now". A change wakes *all* receivers that
//! wait for one, and makes no call where no receiver waits.
//!
//! # When not to use it
//!
//! * Where every message counts: a receiver sees the newest value only. Take [`spsc`](crate::spsc),
//!   [`mpsc`](crate::mpsc) or [`mpmc`](crate::mpmc).
//! * For a value that a real-time thread must see in bounded time: a read waits while a sender is changing the value.
//!
//! # Cost
//!
//! The first time that 1, 65, 129 .. handles of one side wait at once, 3 KiB are allocated.
//!
//! # The lock
//!
//! The value is protected by a reader-writer lock. A [`Ref`] holds it for reading. The closure of
//! [`send_modify`](Sender::send_modify) runs while it is held for writing. [`send`](Sender::send) holds it while the
//! new value is moved in. So a borrow waits for a sender that holds the lock, even if it is preempted, and a sender
//! waits for every [`Ref`]. Keep a `Ref` for moments only.
//!
//! A thread that holds a [`Ref`] may borrow again, this value or that of another channel. It waits for a sender that
//! holds the lock, and for no sender that waits in turn, which may be waiting for this thread. It must not send into
//! the channel of that [`Ref`]: that waits for ever, for the thread's own `Ref`. The same holds for a closure of
//! [`wait_for`](Receiver::wait_for), which reads the value. A closure of [`send_modify`](Sender::send_modify) must not
//! use the channel at all.
//!
//! Three operations never access the lock: the check for a new value ([`has_changed`](Receiver::has_changed)), waiting
//! for one ([`changed`](Receiver::changed) in all its forms), and being woken. They are lock-free, and wait-free where
//! there is a new value.
//!
//! # User code
//!
//! A replaced value is dropped when the new one is there, the lock is free and every waiter has been woken. So its
//! `Drop` may use the channel, and may panic. Iterators, streams and the hub [clone](Clone) the value while the lock is
//! free. So its `Clone` may use the channel as well, with three exceptions: [`send_replace`](Sender::send_replace),
//! [`send_modify`](Sender::send_modify) and [`send_if_modified`](Sender::send_if_modified) wait for threads that clone
//! the value, and panic where they would wait for themselves. [`send`](Sender::send) does not wait for them: it
//! allocates then, and the last of them drops the old value. A closure of [`send_modify`](Sender::send_modify) that
//! panics counts as a change of the value: the receivers are notified, and then the panic continues. The lock is never
//! poisoned. Where a waker panics all others are woken first.
//!
//! # Attached receivers
//!
//! A receiver can be attached to a set ([`YPollset::attach`](crate::signal::YPollset::attach), or a
//! [`ReadySet`](crate::signal::ReadySet)). Its id is up while there is a value that this receiver has not seen, and from
//! the moment when all senders have disconnected. It is up at first.
//! [`borrow_and_update`](Receiver::borrow_and_update), [`changed`](Receiver::changed), and a
//! [`has_changed`](Receiver::has_changed) that returns `false` take it down. A sender may check for waiters after its
//! value has been seen, and then raise the id once without need.
//!
//! # Futures
//!
//! A future that is *forgotten* (`mem::forget`) while it waits keeps its slot in the list of waiters as long as the
//! channel exists.
//!
//! Source: the interface is that of `tokio::sync::watch`.

mod lock;
#[cfg(all(test, ysuite_loom))]
mod models;
mod operations;
mod receiver;
mod sender;
mod shared;
mod values;

use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

pub use self::receiver::{ChangedFuture, Receiver, WaitForFuture};
pub use self::sender::Sender;
use super::error::{RecvError, RecvTimeoutError, SendError};

use self::lock::ValueRead;
use self::shared::WatchShared;
use crate::sync::Arc;

/// Makes a channel that holds `initial`, with one sender and one receiver. The receiver has seen that value:
/// [`changed`](Receiver::changed) waits for the next. Allocates twice, and 3 KiB the first time that 1, 65, 129 ..
/// receivers wait at once.
#[must_use]
pub fn channel<T>(initial: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(WatchShared::new(initial));
    (Sender::new(shared.clone()), Receiver::new(shared, 0))
}

/// The borrowed value. Senders [wait](self#the-lock) until this is dropped.
///
/// It is not `Send`, as a lock's guard is not. So a task that may move between threads must drop it before it awaits
/// anything. `tokio::select!` keeps what a branch returns while a handler runs: with
/// [`wait_for_async`](Receiver::wait_for_async) as a branch and an `await` in a handler, the task is not `Send`. There
/// use [`changed_async`](Receiver::changed_async), and borrow in the handler.
pub struct Ref<'a, T> {
    value: NonNull<T>,
    has_changed: bool,
    reading: ValueRead<'a>,
}

// SAFETY: a shared one gives access to the value, as `&T` does.
unsafe impl<T: Sync> Sync for Ref<'_, T> {}

impl<T> Ref<'_, T> {
    /// Whether the receiver that lent this had not seen the value before. Always false where a sender lent it.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        let _ = &self.reading;
        // SAFETY: no sender changes the value while this is there, as it reads.
        unsafe { self.value.as_ref() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
