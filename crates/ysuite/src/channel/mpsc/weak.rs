//! A weak sender: knows an mpsc channel, and does not keep it open. Any thread; wait-free except for `upgrade`, which
//! is lock-free.

use core::fmt;

use super::Sender;
use super::shared::MpscShared;
use crate::sync::Arc;

/// Knows a [channel](super), and can make a sender for it while the channel has others. Has no lane, and sends nothing
/// itself. Made by [`Sender::downgrade`].
///
/// It keeps the channel's tables of lanes in memory, but does not keep the channel open.
pub struct WeakSender<T> {
    shared: Arc<MpscShared<T>>,
}

impl<T> WeakSender<T> {
    pub(super) fn new(shared: &Arc<MpscShared<T>>) -> Self {
        Self { shared: shared.clone() }
    }

    // USER CODE: the receiver's waker, where all other senders have disconnected; re-entrance: any operation; panic:
    //     propagates; test: tests/suite/mpsc/shared.rs: the_last_shared_sender_wakes_a_receiver_that_waits
    // MUTANT: In a race: the other senders are dropped during an upgrade that finds no lane. Killed only by the model
    // `an_upgrade_that_finds_no_lane_against_the_last_senders_end`.
    /// A sender, with a lane of its own.
    ///
    /// `None` for ever after all senders have disconnected, and after the receiver has disconnected or has closed the
    /// channel. `None` for now where the channel has the maximal number of lanes.
    #[doc = cost!(mpsc CLONE)]
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        if !self.shared.count_again() {
            return None;
        }
        let sender = Sender::counted(&self.shared).ok();
        if sender.is_none() && self.shared.disconnect() {
            // All other senders have been dropped meanwhile.
            self.shared.parker.wake();
        }
        sender
    }

    /// The number of senders, without weak ones. It may be out of date while senders are made and dropped.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.sender_count()
    }
}

impl<T> Clone for WeakSender<T> {
    /// Another weak sender of the same channel.
    #[doc = cost!(mpsc SHARE)]
    fn clone(&self) -> Self {
        Self::new(&self.shared)
    }
}

impl<T> WeakSender<T> {
    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self.channel_address() == other.channel_address()
    }

    fn channel_address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }
}

/// By the channel: clones are equal.
impl<T> PartialEq for WeakSender<T> {
    fn eq(&self, other: &Self) -> bool {
        self.same_channel(other)
    }
}

impl<T> Eq for WeakSender<T> {}

impl<T> core::hash::Hash for WeakSender<T> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.channel_address().hash(state);
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").field("sender_count", &self.sender_count()).finish()
    }
}
