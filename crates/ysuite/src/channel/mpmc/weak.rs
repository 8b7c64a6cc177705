//! Weak handles: they belong to a channel and do not keep it open. Any thread; lock-free.
//!
//! Each side counts its handles. A weak handle becomes a strong one by one compare-exchange of that count, which never
//! leaves 0. Once the last handle is dropped its side is disconnected for good, whatever that thread has yet to do.

use core::fmt;

use super::shared::{Ends, MpmcShared};
use super::{Receiver, Sender};
use crate::channel::identity::impl_identity;
use crate::sync::Arc;
use crate::wait::SharedBackoff;

/// A sender that does not keep the channel open, and cannot send before it is [upgraded](Self::upgrade). Made by
/// [`Sender::downgrade`].
///
/// For code that sends now and then, and must not keep the receivers waiting for that: when the last [`Sender`] is
/// dropped, the receivers get the disconnection. The channel's memory is kept as long as there is a weak handle. It
/// holds no messages after the receivers have disconnected.
pub struct WeakSender<T> {
    shared: Arc<MpmcShared<T>>,
    backoff: SharedBackoff,
}

/// A receiver that does not keep the channel open, and cannot receive before it is [upgraded](Self::upgrade). Made by
/// [`Receiver::downgrade`].
///
/// When the last [`Receiver`] is dropped, so are the messages, and sending fails. The channel's memory is kept as long
/// as there is a weak handle.
pub struct WeakReceiver<T> {
    shared: Arc<MpmcShared<T>>,
    backoff: SharedBackoff,
}

impl<T> MpmcShared<T> {
    // FINAL: `false`: the count of handles never leaves 0, and the closed bit stays; test:
    //     tests/loom/exchange_close.rs: an_upgrade_against_the_last_senders_drop
    /// Counts another handle of one side, unless all of them are dropped, or the channel is closed (false).
    #[inline(always)]
    fn another(&self, ends: &Ends) -> bool {
        !self.is_disconnected() && ends.add_to_others()
    }
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
        self.shared.another(&self.shared.writers).then(|| Sender::again(self.shared.clone(), self.backoff.again()))
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

impl<T> Receiver<T> {
    /// A weak handle of the same channel, with the same settings.
    #[doc = cost!(mpmc CLONE)]
    #[must_use]
    pub fn downgrade(&self) -> WeakReceiver<T> {
        WeakReceiver { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

impl<T> WeakReceiver<T> {
    /// A receiver of the channel, as a clone of an existing one. `None` where all of them are dropped, or the channel is
    /// closed.
    #[doc = cost!(mpmc UPGRADE)]
    #[must_use]
    pub fn upgrade(&self) -> Option<Receiver<T>> {
        self.shared.another(&self.shared.readers).then(|| Receiver::again(self.shared.clone(), self.backoff.again()))
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T> Clone for WeakReceiver<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

impl<T> fmt::Debug for WeakReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakReceiver { .. }")
    }
}

impl_identity!(WeakReceiver);
