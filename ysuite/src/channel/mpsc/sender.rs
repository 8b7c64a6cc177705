//! The sending end of an mpsc channel. One thread at a time.

use core::fmt;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

use super::shared::{LANE, MpscShared};
use super::{MAX_SENDERS, SendError, SendTimeoutError, TrySendError};
use crate::channel::rendezvous::MeetingEnd;
use crate::channel::send::{SenderLink, Sending, impl_sender_api};
use crate::passive::Passive;
use crate::signal::{Attach, AttachError, Registration};
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
    /// None where the receiver was gone when the sender connected.
    id: Option<u32>,
    /// The end of a rendezvous.
    meeting: Option<Box<MeetingEnd<T, true>>>,
}

impl<T> SenderLane<T> {
    /// A publication has found these tokens: raises the lane's id if the lane was armed (true).
    fn raise(&self, tokens: u32) -> bool {
        let armed = self.id.filter(|_| tokens & LANE != 0);
        armed.inspect(|&id| self.shared.ready.raise(id as usize)).is_some()
    }
}

impl<T> SenderLink<T> for SenderLane<T> {
    const CROWDED: bool = true;

    fn wake(&self, _: &Passive, tokens: u32) -> bool {
        let was_armed = self.raise(tokens);
        window();
        was_armed && self.shared.parker.wake()
    }

    fn forget(&self) -> Option<Waker> {
        self.id.and_then(|id| self.shared.forget(id))
    }

    fn close(&self, _: &Passive, tokens: u32) {
        let was_armed = self.raise(tokens);
        // This sender is counted off before it wakes the receiver, which may panic: a waker is foreign code.
        if self.shared.disconnect() || was_armed {
            self.shared.parker.wake();
        }
    }

    fn target(&self) -> &WakeTarget {
        self.shared.sender(self.id)
    }

    fn meeting(&self) -> Option<&MeetingEnd<T, true>> {
        self.meeting.as_deref()
    }

    fn meeting_mut(&mut self) -> Option<&mut MeetingEnd<T, true>> {
        self.meeting.as_deref_mut()
    }

    fn leave_meeting(&mut self) -> Option<Box<MeetingEnd<T, true>>> {
        self.meeting.take()
    }

    /// A sender that never waits has no target as yet. One that connected after the receiver was gone has not even an id.
    fn prepare(&mut self) -> bool {
        self.id = self.id.or_else(|| self.shared.claim());
        self.id.is_some_and(|id| {
            self.shared.make_target(id);
            true
        })
    }
}

impl<T> Sender<T> {
    pub(in crate::channel) fn connect(shared: &Arc<MpscShared<T>>) -> Result<Self, TooManySenders> {
        let (writer, id) = shared.connect().ok_or(TooManySenders)?;
        let meeting = shared.meeting.as_ref().map(MeetingEnd::sender);
        Ok(Self { inner: Sending::new(writer, SenderLane { shared: shared.clone(), id, meeting }) })
    }

    /// Another sender, with a lane of its own. Lock-free; allocates the lane, and a slot for it where there have never been
    /// this many senders at once: see [how much memory](super#how-many-senders) that is, and that it is kept.
    ///
    /// # Errors
    /// When there are [`MAX_SENDERS`] already.
    pub fn try_clone(&self) -> Result<Self, TooManySenders> {
        Self::connect(&self.inner.end.link.shared)
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
crate::channel::select::pipe::impl_select_send!(Sender);
