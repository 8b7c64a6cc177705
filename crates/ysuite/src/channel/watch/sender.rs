//! The sender of a watch channel. Any thread, any number at a time.

use core::fmt;
use core::time::Duration;

use super::shared::{Unwatched, WatchShared};
use super::{Receiver, Ref, SendError};
use crate::channel::future::{Closable, ClosedFuture, UntilReady};
use crate::channel::identity::impl_identity;
use crate::foreign::{Foreign, Panics};
use crate::operation::{self, Readiness};
use crate::os::Deadline;
use crate::sync::Arc;
use crate::wait::{SharedBackoff, Spin};

/// A sender of the [channel](super). Clones are equal; any number of threads may use one or several. When the last
/// sender is dropped the receivers may see the last value, and then get the disconnection.
#[doc = cost!(watch DROP)]
pub struct Sender<T> {
    /// With the last handle the value is dropped, which is user code.
    shared: Foreign<Arc<WatchShared<T>>>,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<WatchShared<T>>) -> Self {
        Self { shared: Foreign::new(shared) }
    }

    // USER CODE: wakers, then `Drop` of the old value; so also in `Drop`. The new value is there, the lock is free, all
    //     receivers are notified; re-entrance: any operation; panic: the first propagates when the others are done;
    //     test: tests/suite/watch/foreign.rs: a_value_whose_end_panics_is_replaced_and_told_of_all_the_same,
    //     tests/suite/watch/foreign.rs: a_value_may_come_back_at_its_end
    // MUTANT: Speed only: the wait that follows checks first as well.
    /// Replaces the value; wakes all receivers that wait. The old value is dropped afterwards.
    ///
    /// Waits for a thread that holds the [lock](super#the-lock). Where a receiver is cloning the old value, as an
    /// iterator or a stream, this allocates, and that receiver drops the old value.
    #[doc = cost!(watch SEND)]
    ///
    /// # Errors
    /// When there is no receiver: the value stays unchanged. To change it all the same, use
    /// [`send_replace`](Self::send_replace). Where the last receiver disconnects at this moment the value may be
    /// replaced. Then only receivers that [`subscribe`](Self::subscribe) later see it.
    ///
    /// # Panics
    /// When a waker panics, or the drop of the old value. The new value is there and every waiter has been woken then.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.is_disconnected() {
            return Err(SendError(value));
        }
        // The old value is dropped last, with the lock free: user code, which may use this channel.
        let before = self.shared.put(value);
        drop(Panics::answer_behind(before, || self.shared.announce()));
        Ok(())
    }

    /// Replaces the value, with or without receivers. Wakes all that wait, and returns the old value.
    ///
    /// Waits for a thread that holds the [lock](super#the-lock), or that clones the value.
    #[doc = cost!(watch SEND)]
    ///
    /// # Panics
    /// When it is called within the `Clone` of this channel's value, because it would wait for that.
    pub fn send_replace(&self, value: T) -> T {
        let before = self.shared.replace(value);
        Panics::answer_behind(before, || self.shared.announce())
    }

    /// Changes the value in its place, with or without receivers. Wakes all that wait.
    ///
    /// Waits for a thread that holds the [lock](super#the-lock), or that clones the value. `change` runs while no other
    /// thread can read the value. It must not use this channel: to borrow or to send within it waits for ever.
    #[doc = cost!(watch SEND)]
    ///
    /// # Panics
    /// When `change` panics: the value stays as `change` has left it, and counts as changed. When it is called within
    /// the `Clone` of this channel's value, because it would wait for that: nothing has changed then.
    pub fn send_modify(&self, change: impl FnOnce(&mut T)) {
        self.shared.modify(|value| {
            change(value);
            true
        });
    }

    /// Calls `change` with the value. Where `change` returns `true`, all receivers that wait are woken. Where it
    /// returns `false`, no receiver is notified of a change that it may have made.
    ///
    /// Waits for a thread that holds the [lock](super#the-lock), or that clones the value. `change` runs while no other
    /// thread can read the value. It must not use this channel: to borrow or to send within it waits for ever.
    #[doc = cost!(watch SEND)]
    ///
    /// # Panics
    /// When `change` panics: the value stays as `change` has left it, and counts as changed. When it is called within
    /// the `Clone` of this channel's value, because it would wait for that: nothing has changed then.
    pub fn send_if_modified(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        self.shared.modify(change)
    }

    /// Borrows the value. Waits for a sender that [holds the lock](super#the-lock).
    #[doc = cost!(watch BORROW)]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.borrow(None).0
    }

    /// Makes another receiver, which has seen the current value.
    #[doc = cost!(watch SUBSCRIBE)]
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        self.shared.add_receiver();
        Receiver::new(self.shared.clone(), self.shared.version())
    }

    /// Whether there is no receiver. Then [`send`](Self::send) fails until a receiver [subscribes](Self::subscribe).
    /// Wait-free.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.receivers() == 0
    }

    /// Waits until there is no receiver. Needs no particular runtime. A receiver may have [subscribed](Self::subscribe)
    /// since.
    #[doc = cost!(watch CHANGED_TASK)]
    pub fn closed(&self) -> ClosedFuture<'_, Self> {
        ClosedFuture::new(UntilReady::new(self.shared.unwatched()))
    }

    /// Blocks until there is no receiver. Sleeps in the kernel at once. A receiver may have
    /// [subscribed](Self::subscribe) since.
    #[doc = cost!(watch WAIT_CLOSED)]
    pub fn wait_closed(&self) {
        self.wait_closed_until(Deadline::Never);
    }

    /// Blocks until there is no receiver (true), for at most `timeout` (false). `Duration::MAX` means no limit.
    #[doc = cost!(watch WAIT_CLOSED)]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.wait_closed_until(Deadline::after(timeout))
    }

    // WAITS: until no receiver is left, also in `closed`; ends: that, the deadline; spin: parks at once; it waits for a
    //     receiver that subscribes meanwhile as well; test: tests/suite/watch/waiting.rs:
    //     senders_learn_that_no_receiver_is_left
    // MUTANT: Speed only: the wait that follows checks first as well, and parks at once instead of spinning.
    fn wait_closed_until(&self, deadline: Deadline) -> bool {
        let backoff = SharedBackoff::new();
        // The disconnection is seldom so near that polling for it would pay.
        backoff.set(Spin::None);
        operation::block(Readiness::new(self.shared.unwatched(), &backoff), &mut (), deadline).is_some()
    }
}

impl<T> Closable for Sender<T> {
    type Wait<'a>
        = UntilReady<Unwatched<'a, T>>
    where
        Self: 'a;
}

impl<T> Sender<T> {
    /// The number of senders. May be out of date at once. Wait-free.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.senders()
    }

    /// The number of receivers. May be out of date at once. Wait-free.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers()
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

impl_identity!(Sender);

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("senders", &self.sender_count())
            .field("receivers", &self.receiver_count())
            .finish_non_exhaustive()
    }
}

impl<T> Clone for Sender<T> {
    /// Another sender of the same channel.
    #[doc = cost!(watch SUBSCRIBE)]
    fn clone(&self) -> Self {
        self.shared.add_sender();
        Self::new(self.shared.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.remove_sender();
    }
}
