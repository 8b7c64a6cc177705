//! Weak senders: they belong to a channel and do not keep it open. Any thread; lock-free.

use core::fmt;

use super::sender::Sender;
use super::shared::BroadcastShared;
use crate::channel::identity::impl_identity;
use crate::sync::Arc;
use crate::wait::SharedBackoff;

/// A sender that does not keep the channel open, and cannot send before it is [upgraded](Self::upgrade). Made by
/// [`Sender::downgrade`]. The channel's memory, with the messages in it, is kept as long as there is a weak handle.
pub struct WeakSender<T> {
    shared: Arc<BroadcastShared<T>>,
    backoff: SharedBackoff,
}

impl<T> Sender<T> {
    /// A weak handle of the same channel, with the same settings.
    #[doc = cost!(mpmc CLONE)]
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

impl<T> WeakSender<T> {
    /// A sender of the channel, as a clone of an existing one. `None` where all of them are dropped, or the channel is
    /// closed.
    #[doc = cost!(mpmc UPGRADE)]
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let is_counted = !self.shared.ring.is_closed() && self.shared.add_sender_to_others();
        is_counted.then(|| Sender { shared: self.shared.clone(), backoff: self.backoff.again() })
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakSender { .. }")
    }
}

impl_identity!(WeakSender);
