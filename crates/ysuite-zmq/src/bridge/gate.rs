//! [`Gate`]: the sender of the channel into which messages come, which waits for room, or replaces the oldest message.
//!
//! The bridge's thread alone has it. Nothing here waits, except for a receiver that was preempted while it takes the
//! oldest message: see `force_send` of `mpmc`.

use std::pin::pin;
use std::task::{Context, Waker};

use ysuite::{SendError, TrySendError};
use ysuite::{mpmc, spsc};

pub(super) enum Gate<T> {
    Waits(spsc::Sender<T>),
    /// With the number of messages that it has replaced since that was asked.
    Newest(mpmc::Sender<T>, usize),
}

impl<T> Gate<T> {
    /// Sends all of them. There is room, and no other sender fills it. Returns how many were taken: fewer where there is
    /// no receiver.
    pub(super) fn send_batch(&mut self, messages: impl Iterator<Item = T>) -> usize {
        match self {
            Self::Waits(sender) => {
                let mut given = 0;
                let sent = sender.send_batch(messages.inspect(|_| given += 1));
                sent.unwrap_or_else(|SendError(back)| given - back.len())
            }
            Self::Newest(..) => messages.filter_map(|message| self.try_send(message).ok()).count(),
        }
    }

    pub(super) fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        match self {
            Self::Waits(sender) => sender.try_send(message),
            Self::Newest(sender, replaced) => match sender.force_send(message) {
                Ok(oldest) => {
                    *replaced += usize::from(oldest.is_some());
                    Ok(())
                }
                Err(SendError(message)) => Err(TrySendError::Disconnected(message)),
            },
        }
    }

    pub(super) fn is_disconnected(&self) -> bool {
        match self {
            Self::Waits(sender) => sender.is_disconnected(),
            Self::Newest(sender, _) => sender.is_disconnected(),
        }
    }

    /// The room there is; nothing where there always is some.
    pub(super) fn room(&self) -> Option<usize> {
        match self {
            Self::Waits(sender) => sender.capacity().map(|capacity| capacity - sender.len()),
            Self::Newest(..) => None,
        }
    }

    /// Whether there is room for this many. If not, the set that the sender is attached to reports when there may be.
    pub(super) fn has_room_for(&mut self, messages: usize) -> bool {
        match self {
            Self::Waits(sender) => sender.try_reserve_many(messages).is_ok(),
            Self::Newest(..) => true,
        }
    }

    /// Sleeps by this function, unless there is no receiver any more; if that happens meanwhile it wakes the waker.
    pub(super) fn asleep(&self, ended: &Waker, sleep: &mut dyn FnMut()) {
        let mut context = Context::from_waker(ended);
        // Until this function returns: a dropped future wakes nothing.
        match self {
            Self::Waits(sender) => {
                let closed = pin!(sender.closed());
                if closed.poll(&mut context).is_pending() {
                    sleep();
                }
            }
            Self::Newest(sender, _) => {
                let closed = pin!(sender.closed());
                if closed.poll(&mut context).is_pending() {
                    sleep();
                }
            }
        }
    }

    /// The number of messages that were replaced since the last call.
    pub(super) fn take_replaced(&mut self) -> usize {
        match self {
            Self::Waits(_) => 0,
            Self::Newest(_, replaced) => core::mem::take(replaced),
        }
    }
}
