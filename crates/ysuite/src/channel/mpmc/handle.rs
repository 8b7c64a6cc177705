//! What a sender and a receiver of an mpmc channel have in common. Any thread; progress as of the operations that use it.

use super::shared::{MpmcShared, WaitingSide};
use super::{Receiver, RecvError, SendError, Sender};
use crate::channel::rendezvous::{Closed, Party};
use crate::os::Deadline;
use crate::queue::exchange::Rejected;
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, Subscriptions};

/// A handle: a sender with `SENDS`, otherwise a receiver.
pub(in crate::channel) trait MpmcHandle<T, const SENDS: bool> {
    /// Why an operation will never be possible.
    type Error: From<Closed>;

    /// What this handle shares with all others of its channel.
    fn channel(&self) -> &MpmcShared<T>;
    /// Its slots in the list of its side, if it has any: for a set, and for the task that polled it.
    fn subscriptions(&self) -> Option<&Subscriptions>;
    fn backoff(&self) -> &SharedBackoff;
    /// Before this handle waits as a thread: after a stream it lets the peers get ahead.
    fn calm(&self, deadline: Deadline);
    /// Sends the message that is in `place`, or receives one to it, where that is quick (true). Not in a rendezvous.
    fn at_once(&self, place: &mut Option<T>) -> bool;
    /// After [`at_once`](Self::at_once) was in vain. `None`: it must wait. Not in a rendezvous.
    fn again(&self, place: &mut Option<T>) -> Option<Result<(), Self::Error>>;

    /// Those that wait as this handle does.
    fn side(&self) -> WaitingSide<'_, T, SENDS> {
        self.channel().side()
    }

    /// The endpoint of this handle, if this is a rendezvous.
    fn party(&self) -> Option<Party<'_, T, SENDS>> {
        self.channel().flavour.meeting().map(|meeting| Party::new(meeting, self.subscriptions()))
    }

    /// A wait, as a thread or a future. The handle's own slots are disarmed, so that only this wait is notified. The wait
    /// is responsible for a notification that they had got.
    fn wait(&self) -> ManyWait<WaitingSide<'_, T, SENDS>> {
        ManyWait::new(self.side(), self.disarm_all())
    }

    /// Before this handle waits in another way: disarms its slots. True: one of them had been notified.
    fn disarm_all(&self) -> bool {
        self.subscriptions().is_some_and(|subscriptions| subscriptions.disarm_all(self.side()))
    }

    /// A number that grows with each message that is written or taken. Wait-free.
    fn moves(&self) -> u64 {
        self.channel().flavour.moves()
    }
}

impl<T> MpmcHandle<T, true> for Sender<T> {
    type Error = SendError<()>;

    #[inline]
    fn channel(&self) -> &MpmcShared<T> {
        &self.shared
    }

    #[inline]
    fn subscriptions(&self) -> Option<&Subscriptions> {
        self.subscriptions.as_deref()
    }

    fn backoff(&self) -> &SharedBackoff {
        &self.backoff
    }

    fn calm(&self, deadline: Deadline) {
        if self.hint.is_stream_over() {
            self.backoff.stand_back(deadline);
        }
    }

    #[inline(always)]
    fn at_once(&self, place: &mut Option<T>) -> bool {
        // SAFETY: an operation that waits is attempted with its message, unless that is in line, where no ring is. By the
        //     promise of those who attempt an operation, a place whose message was sent is only dropped.
        unsafe { self.put_at_once(place) }
    }

    fn again(&self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
        of_offer(self.offer(place))
    }
}

impl<T> MpmcHandle<T, false> for Receiver<T> {
    type Error = RecvError;

    #[inline]
    fn channel(&self) -> &MpmcShared<T> {
        &self.shared
    }

    #[inline]
    fn subscriptions(&self) -> Option<&Subscriptions> {
        self.subscriptions.as_deref()
    }

    fn backoff(&self) -> &SharedBackoff {
        &self.backoff
    }

    /// A queue without a bound also gives back what a burst has left.
    fn calm(&self, deadline: Deadline) {
        if self.hint.is_stream_over() {
            self.backoff.stand_back(deadline);
        }
        self.shared.flavour.calm();
    }

    #[inline(always)]
    fn at_once(&self, place: &mut Option<T>) -> bool {
        self.take_to(place)
    }

    fn again(&self, _: &mut Option<T>) -> Option<Result<(), RecvError>> {
        self.is_over().then_some(Err(RecvError))
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
