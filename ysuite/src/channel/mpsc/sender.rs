//! The sending end of an mpsc channel. One thread at a time.

use core::fmt;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

use super::shared::{LANE, MpscShared};
use super::weak::WeakSender;
use super::{MAX_SENDERS, Permit, Permits, ReserveError, SendError, SendTimeoutError, TryReserveError, TrySendError};
use crate::channel::closed::{EndWatchers, impl_sender_end};
use crate::channel::identity::impl_identity;
use crate::channel::permit::{Reserve, impl_sender_permits, one_place, one_place_now};
use crate::channel::send::{SenderLink, Sending, impl_sender_api};
use crate::passive::Passive;
use crate::sync::{Arc, window};
use crate::wait::WakeTarget;

/// A sending end of the [channel](super), with a lane of its own. Dropping it publishes what was hidden; the receiver gets
/// all that was sent, and when the last sender is gone it learns that nothing more will come.
pub struct Sender<T> {
    inner: Sending<T, SenderLane<T>>,
}

/// What a sender knows of its lane beside the queue.
struct SenderLane<T> {
    shared: Arc<MpscShared<T>>,
    /// None where the channel was shut when the sender connected, and once this sender is closed.
    id: Option<u32>,
}

impl<T> SenderLane<T> {
    /// A publication has found these tokens: raises the lane's id if the lane was armed (true).
    fn raise(&self, tokens: u32) -> bool {
        let armed = self.id.filter(|_| tokens & LANE != 0);
        armed.inspect(|&id| self.shared.ready.raise(id as usize)).is_some()
    }
}

impl<T> SenderLink for SenderLane<T> {
    const CROWDED: bool = true;

    fn wake(&self, _: &Passive, tokens: u32) -> bool {
        let was_armed = self.raise(tokens);
        window();
        was_armed && self.shared.parker.wake()
    }

    fn forget(&self) -> Option<Waker> {
        self.id.and_then(|id| self.shared.forget(id))
    }

    fn close(&mut self, _: &Passive, tokens: u32) {
        let was_armed = self.raise(tokens);
        // The receiver may give the id to another lane from now on.
        self.id = None;
        // This sender is counted off before it wakes the receiver, which may panic: a waker is foreign code.
        if self.shared.disconnect() || was_armed {
            self.shared.parker.wake();
        }
    }

    fn end_watchers(&self) -> &EndWatchers {
        &self.shared.end_watchers
    }

    fn target(&self) -> &WakeTarget {
        self.shared.sender(self.id)
    }
}

impl<T> Sender<T> {
    pub(in crate::channel) fn connect(shared: &Arc<MpscShared<T>>) -> Result<Self, TooManySenders> {
        let sender = Self::counted(shared)?;
        shared.count();
        Ok(sender)
    }

    /// A sender that is counted already.
    pub(super) fn counted(shared: &Arc<MpscShared<T>>) -> Result<Self, TooManySenders> {
        let (writer, id) = shared.connect().ok_or(TooManySenders)?;
        Ok(Self { inner: Sending::new(writer, SenderLane { shared: shared.clone(), id }) })
    }

    /// Another sender, with a lane of its own. Lock-free; allocates the lane, and a slot for it where there have never been
    /// this many senders at once: see [how much memory](super#how-many-senders) that is, and that it is kept.
    ///
    /// # Errors
    /// When there are [`MAX_SENDERS`] already.
    pub fn try_clone(&self) -> Result<Self, TooManySenders> {
        let shared = &self.inner.end.link.shared;
        if !self.inner.end.writer.has_ended() {
            return Self::connect(shared);
        }
        // This sender is counted no more, so its clone must not be.
        let mut writer = shared.orphaned_lane();
        writer.close();
        Ok(Self { inner: Sending::new(writer, SenderLane { shared: shared.clone(), id: None }) })
    }

    /// A weak sender, which knows the channel and does not keep it open. Wait-free.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.inner.end.link.shared)
    }

    /// How many senders the channel has, weak and closed ones not counted. While others come and go it may be out of date.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.inner.end.link.shared.sender_count()
    }
}

impl<T> Clone for Sender<T> {
    /// Another sender, with a lane of its own. Messages that this sender has hidden stay hidden in its lane. Lock-free;
    /// allocates the lane, and a slot for it where there have never been this many senders at once: see
    /// [how much memory](super#how-many-senders) that is, and that it is kept.
    ///
    /// # Panics
    /// When there are [`MAX_SENDERS`] already; [`try_clone`](Sender::try_clone) returns an error instead.
    fn clone(&self) -> Self {
        self.try_clone().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A channel has [`MAX_SENDERS`] already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySenders;

impl fmt::Display for TooManySenders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a channel cannot have more than {MAX_SENDERS} senders at a time")
    }
}

impl std::error::Error for TooManySenders {}

impl_sender_api!(Sender);
impl_identity!(Sender, |sender| &sender.inner.end.link.shared);
impl_sender_permits!(Sender);
impl_sender_end!(
    Sender,
    /// Ends this sender's part of the channel as dropping it does: publishes what was hidden; the receiver gets all that was
    /// sent, and when all senders are closed or gone it learns that nothing more will come. Afterwards sending fails here, and
    /// by clones made later. Other senders go on: no sender can take from another what its lane has room for; only the
    /// receiver can close the whole channel. True: this sender could send until now. False: it was closed before, or the
    /// receiver is gone or has closed.
    ///
    /// Wait-free, but for the wake-up of the receiver.
    ///
    /// # Panics
    /// Where the receiver's waker panics, or, after the receiver's end, a hidden message as it is dropped. This sender is
    /// closed then.
);
