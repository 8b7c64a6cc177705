//! The receiver of an mpsc channel. One thread at a time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
#[cfg(feature = "hub")]
use core::ptr::NonNull;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::lanes::Lanes;
use super::shared::MpscShared;
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::channel::closed::impl_receiver_end;
use crate::channel::coop::poll_future;
use crate::channel::iter::{IntoIter, Iter, Receive, TryIter};
use crate::channel::observed::impl_observer;
use crate::channel::pipe::ReceiveTask;
use crate::channel::receive::{ReadingEnd as _, Receiving, impl_receiver_api};
use crate::channel::task_batch::impl_receiver_tasks;
use crate::queue::RegisterCopy;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;

/// The receiver of the [channel](super). Its drop drops the messages that are in the channel, and makes sending fail.
/// When the drop of a message panics, the other messages are still dropped, and then the panic continues.
pub struct Receiver<T> {
    inner: RegisterCopy<Receiving<Lanes<T>>>,
    /// As a stream it has returned `None`.
    #[cfg(feature = "stream")]
    has_ended: bool,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<MpscShared<T>>) -> Self {
        Self {
            inner: RegisterCopy::new(Receiving::new(Lanes::new(shared))),
            #[cfg(feature = "stream")]
            has_ended: false,
        }
    }

    /// Takes a message if there is one, of a channel without a bound, and returns its location. Only polls, as `look`
    /// of [`Receive`]. The caller owns the message, and moves it out before this receiver is used again or dropped.
    #[cfg(feature = "hub")]
    #[inline(always)]
    pub(crate) fn take_in_place(&mut self) -> Option<NonNull<T>> {
        let lanes = &mut self.inner.end;
        // MUTANT: One more check finds nothing again, or a message that has come since.
        lanes.take_in_place(|_| true).or_else(|| if lanes.has_message() { lanes.take_in_place(|_| true) } else { None })
    }

    /// The number of messages in the channel. Takes time in proportion to that number (a load for each cache line), and
    /// to the number of senders.
    #[doc = cost!(mpsc LEN)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.end.len_up_to(usize::MAX)
    }

    /// Whether no message is in the channel. May take time in proportion to the number of senders.
    #[doc = cost!(mpsc LEN)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.end.len_up_to(1) == 0
    }

    /// The maximal number of messages of each sender in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.inner.end.shared().bound()
    }

    /// Whether any sender has reached its capacity. Hidden messages do not count. Costs the same as [`len`](Self::len).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| capacity == 0 || self.inner.end.has_full_lane(capacity))
    }

    /// Whether the channel is closed: all senders have disconnected or closed, or this receiver has closed it. There
    /// may still be messages in it.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.inner.is_disconnected()
    }

    /// Gives memory back that this channel keeps for later messages: chunks of active lanes that have been read, and the
    /// room for more active lanes. A lane keeps at most 32 KiB without it; a bounded one keeps what it has. It does not
    /// block, takes time in proportion to the number of active lanes, and what it has given back is taken anew where it
    /// is needed.
    #[doc = cost!(receiver SHRINK)]
    pub fn shrink_to_fit(&mut self) {
        self.inner.end.shrink();
    }

    /// The number of senders, without weak and closed ones. It may be out of date while senders are made and dropped.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.inner.end.shared().sender_count()
    }

    /// The number of lanes that this receiver has visited so far. For tests of the cost of idle senders.
    #[doc(hidden)]
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.inner.end.visits()
    }
}

/// A receive of a task: see [`recv_async`](Receiver::recv_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct RecvFuture<'a, T>(ReceiveTask<'a, Lanes<T>>);

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        poll_future(&mut self.get_mut().0, context)
    }
}

// No message is ever pinned in place.
impl<T> Unpin for RecvFuture<'_, T> {}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}

impl_receiver_api!(mpsc, Receiver);
impl_observer!(Receiver, |receiver| receiver.inner.end.shared().meter);
impl_receiver_end!(mpsc, Receiver);
impl_receiver_tasks!(Receiver);
#[cfg(feature = "select")]
crate::channel::select::pipe::impl_select_recv!(Receiver);
#[cfg(feature = "in-place")]
crate::channel::in_place::impl_recv_in_place!(Receiver);
