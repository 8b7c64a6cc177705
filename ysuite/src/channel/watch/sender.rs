//! The sending end of a watch channel. Any thread, any number at a time.

use core::time::Duration;

use super::shared::WatchShared;
use super::{Receiver, Ref, SendError, impl_watch_api};
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;
use crate::sync::Arc;
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, Spin};

/// A sending end of the [channel](super). Clones are equal; any number of threads may use one or several. When the last
/// sender is dropped the receivers may see the last value, and then learn that there will be no other.
pub struct Sender<T> {
    /// With the last end the value ends, which is user code.
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
    /// Waits for whoever is at the [value](super#the-lock). Then without a system call unless a receiver waits. Where a
    /// receiver is cloning the old value, as an iterator or a stream, it allocates, and that receiver drops the old
    /// value.
    ///
    /// # Errors
    /// Where there is no receiver: the value stays what it was. To change it all the same, use
    /// [`send_replace`](Self::send_replace). Where the last receiver goes at this very moment the value may be
    /// replaced, and seen by nobody but those that [`subscribe`](Self::subscribe) later.
    ///
    /// # Panics
    /// Where a waker panics, or the drop of the old value: the new one is there and everybody has been woken.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.is_disconnected() {
            return Err(SendError(value));
        }
        // The old value goes last, with the lock free: user code, which may use this channel.
        let before = self.shared.put(value);
        drop(Panics::answer_behind(before, || self.shared.announce()));
        Ok(())
    }

    /// Replaces the value, be there receivers or not; wakes all that wait, and returns the value before.
    ///
    /// Waits for whoever is at the [value](super#the-lock), or clones it.
    ///
    /// # Panics
    /// Within the `Clone` of this channel's value, for which it would wait.
    pub fn send_replace(&self, value: T) -> T {
        let before = self.shared.replace(value);
        Panics::answer_behind(before, || self.shared.announce())
    }

    /// Changes the value in its place, be there receivers or not; wakes all that wait.
    ///
    /// Waits for whoever is at the [value](super#the-lock), or clones it. `change` runs while nobody can look at it,
    /// and must not use this channel: to borrow or to send within it waits for ever.
    ///
    /// # Panics
    /// Where `change` does: the value stays as `change` has left it, and counts as changed. Within the `Clone` of this
    /// channel's value, for which it would wait: nothing has changed then.
    pub fn send_modify(&self, change: impl FnOnce(&mut T)) {
        self.shared.modify(|value| {
            change(value);
            true
        });
    }

    /// Looks at the value, and changes it if `change` so decides: then (true) all receivers that wait are woken. Where
    /// `change` answers `false` nobody is told of what it may have done.
    ///
    /// Waits for whoever is at the [value](super#the-lock), or clones it. `change` runs while nobody can look at it,
    /// and must not use this channel: to borrow or to send within it waits for ever.
    ///
    /// # Panics
    /// Where `change` does: the value stays as `change` has left it, and counts as changed. Within the `Clone` of this
    /// channel's value, for which it would wait: nothing has changed then.
    pub fn send_if_modified(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        self.shared.modify(change)
    }

    /// The value, for a look. Waits for a sender that is [at it](super#the-lock).
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.borrow(None).0
    }

    /// Another receiver, which has seen the value that is there now. Wait-free.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        self.shared.add_receiver();
        Receiver::new(self.shared.clone(), self.shared.version())
    }

    /// Whether there is no receiver: [`send`](Self::send) fails, as long as nobody [subscribes](Self::subscribe).
    /// Wait-free.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.receivers() == 0
    }

    /// Waits until there is no receiver. Needs no particular runtime. Cancel-safe. Somebody may have
    /// [subscribed](Self::subscribe) since.
    pub async fn closed(&self) {
        let mut wait = ManyWait::new(self.shared.unwatched(), false);
        while !self.is_disconnected() {
            core::future::poll_fn(|context| wait.poll(context)).await;
        }
    }

    /// Blocks until there is no receiver. Sleeps in the kernel at once. Somebody may have [subscribed](Self::subscribe)
    /// since.
    pub fn wait_closed(&self) {
        self.wait_closed_until(Deadline::Never);
    }

    /// Blocks until there is no receiver (true), but no longer than `timeout` (false). `Duration::MAX` is no limit.
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.wait_closed_until(Deadline::after(timeout))
    }

    // WAITS: until no receiver is left, also in `closed`; ends: that, the deadline; spin: parks at once; it waits for a
    //     receiver that subscribes meanwhile as well; test: tests/suite/watch/waiting.rs:
    //     senders_learn_that_no_receiver_is_left
    // MUTANT: Speed only: the wait that follows checks first as well, and parks at once instead of spinning.
    fn wait_closed_until(&self, deadline: Deadline) -> bool {
        let backoff = SharedBackoff::new();
        // The end of a channel is seldom so near that looking for it would pay.
        backoff.set(Spin::None);
        self.is_disconnected() || ManyWait::new(self.shared.unwatched(), false).block(&backoff, deadline)
    }
}

impl_watch_api!(Sender);

impl<T> Clone for Sender<T> {
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
