//! What a sender and a receiver of an mpmc channel have in common. Any thread; progress as of the operations that use it.

use super::shared::{MpmcShared, WaitingSide};
use super::{Receiver, RecvError, SendError, Sender};
use crate::channel::rendezvous::{Closed, Party};
use crate::os::Deadline;
use crate::queue::exchange::{Hint, Rejected};
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, Subscriptions};

/// A handle: a sender with `SENDS`, otherwise a receiver.
pub(in crate::channel) trait MpmcHandle<T, const SENDS: bool> {
    /// Why an operation will never be possible.
    type Error: From<Closed>;

    /// All else is of the parts: what is generic calls few functions of this trait, as each is one for the compiler.
    fn parts(&self) -> MpmcParts<'_, T, SENDS>;
}

impl<T> MpmcHandle<T, true> for Sender<T> {
    type Error = SendError<()>;

    #[inline]
    fn parts(&self) -> MpmcParts<'_, T, true> {
        let Self { shared, backoff, hint, subscriptions } = self;
        MpmcParts { shared, backoff, hint, subscriptions: subscriptions.as_deref() }
    }
}

impl<T> MpmcHandle<T, false> for Receiver<T> {
    type Error = RecvError;

    #[inline]
    fn parts(&self) -> MpmcParts<'_, T, false> {
        let Self { shared, backoff, hint, subscriptions, .. } = self;
        MpmcParts { shared, backoff, hint, subscriptions: subscriptions.as_deref() }
    }
}

/// What a handle consists of.
pub(in crate::channel) struct MpmcParts<'a, T, const SENDS: bool> {
    shared: &'a MpmcShared<T>,
    pub(super) backoff: &'a SharedBackoff,
    hint: &'a Hint,
    /// Its slots in the list of its side, if it has any: for a set, and for the task that polled it.
    subscriptions: Option<&'a Subscriptions>,
}

impl<'a, T, const SENDS: bool> MpmcParts<'a, T, SENDS> {
    /// Those that wait as this handle does.
    #[inline]
    pub(in crate::channel) fn side(&self) -> WaitingSide<'a, T, SENDS> {
        self.shared.side()
    }

    /// The endpoint of this handle, if this is a rendezvous.
    pub(in crate::channel) fn party(&self) -> Option<Party<'a, T, SENDS>> {
        self.shared.flavour.meeting().map(|meeting| Party::new(meeting, self.subscriptions))
    }

    /// A wait, as a thread or a future. The handle's own slots are disarmed, so that only this wait is notified. The wait
    /// is responsible for a notification that they had got.
    pub(in crate::channel) fn wait(&self) -> ManyWait<WaitingSide<'a, T, SENDS>> {
        ManyWait::new(self.side(), self.disarm_all())
    }

    /// Before this handle waits in another way: disarms its slots. True: one of them had been notified.
    pub(super) fn disarm_all(&self) -> bool {
        self.subscriptions.is_some_and(|subscriptions| subscriptions.disarm_all(self.side()))
    }

    /// A number that grows with each message that is written or taken. Wait-free.
    #[cfg(feature = "select")]
    pub(in crate::channel) fn moves(&self) -> u64 {
        self.shared.flavour.moves()
    }

    /// Before this handle waits as a thread: after a stream it lets the peers get ahead.
    pub(super) fn stand_back(&self, deadline: Deadline) {
        if self.hint.is_stream_over() {
            self.backoff.stand_back(deadline, size_of::<T>());
        }
    }
}

/// The outcome of a send that has come so far. `None`: it must wait.
pub(super) fn of_offer(offered: Result<(), Rejected<()>>) -> Option<Result<(), SendError<()>>> {
    match offered {
        Ok(()) => Some(Ok(())),
        Err(Rejected::Closed(())) => Some(Err(SendError(()))),
        Err(Rejected::Full(())) => None,
    }
}
