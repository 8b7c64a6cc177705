//! The receiving end of an mpsc channel. One thread at a time.

#[cfg(feature = "hub")]
use core::ptr::NonNull;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::lanes::Lanes;
use super::shared::MpscShared;
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::channel::closed::impl_receiver_end;
use crate::channel::iter::{IntoIter, Iter, Receive, TryIter};
use crate::channel::observed::impl_observer;
use crate::channel::receive::{ReadingEnd as _, Receiving, impl_receiver_api};
use crate::channel::task_batch::impl_receiver_tasks;
use crate::queue::RegisterCopy;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;

/// The receiving end of the [channel](super). Dropping it drops the messages that are in the channel, and makes sending
/// fail. Should a message panic as it is dropped, the others are dropped all the same, and then the panic goes on.
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

    /// Takes a message if there is one, of a channel without a bound, and returns where it lies. Only looks, as `look`
    /// of [`Receive`]. The message is the caller's, who moves it out before this receiver is used again, or dropped.
    #[cfg(feature = "hub")]
    #[inline(always)]
    pub(crate) fn take_in_place(&mut self) -> Option<NonNull<T>> {
        let lanes = &mut self.inner.end;
        // MUTANT: One more check finds nothing again, or a message that has come since.
        lanes.take_in_place(|_| true).or_else(|| if lanes.has_message() { lanes.take_in_place(|_| true) } else { None })
    }

    /// How many messages are in the channel. Takes time in proportion to that number (a load for each cache line), and
    /// to the number of senders.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.end.len_up_to(usize::MAX)
    }

    /// Whether no message is in the channel. May take time in proportion to the number of senders.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.end.len_up_to(1) == 0
    }

    /// How many messages of each sender can be in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.inner.end.shared().bound
    }

    /// Whether any sender has as many messages in the channel as it can have, hidden ones not counted. Costs what
    /// [`len`](Self::len) costs.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| capacity == 0 || self.inner.end.has_full_lane(capacity))
    }

    /// Whether the channel is closed: all senders have disconnected or closed, or this receiver has closed it. Messages
    /// may still be here.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.inner.is_disconnected()
    }

    /// How many senders the channel has, weak and closed ones not counted. While others come and go it may be out of
    /// date.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.inner.end.shared().sender_count()
    }

    /// How many lanes this receiver has visited so far. For tests of what idle senders cost.
    #[doc(hidden)]
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.inner.end.visits()
    }
}

impl_receiver_api!(Receiver);
impl_observer!(Receiver, |receiver| receiver.inner.end.shared().meter);
impl_receiver_end!(Receiver);
impl_receiver_tasks!(Receiver);
crate::channel::select::pipe::impl_select_recv!(Receiver);
#[cfg(feature = "in-place")]
crate::channel::in_place::impl_recv_in_place!(Receiver);
