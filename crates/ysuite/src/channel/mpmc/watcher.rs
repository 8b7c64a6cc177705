//! What a select keeps for handles that it was given by shared reference. The owner of the select; any thread notifies.
//!
//! A watcher is in the wait list, in place of a handle, and is not counted as one: the channel disconnects as if the
//! watcher did not exist. A publisher that has counted one of the two sides down to 0 notifies the watchers of both.

use core::ptr;

use super::shared::MpmcShared;
use super::{Receiver, Sender};
use crate::signal::{AttachError, AttachShared, Registration, SharedWatcher};
use crate::sync::Arc;
use crate::wait::Subscriptions;
use crate::wait::many::{Owed, SharedEnd, notify};

/// Waits as a sender with `ROOM`, otherwise as a receiver.
struct MpmcWatcher<T, const ROOM: bool> {
    shared: Arc<MpmcShared<T>>,
    subscriptions: Subscriptions,
}

impl<T, const ROOM: bool> MpmcWatcher<T, ROOM> {
    fn new(shared: &Arc<MpmcShared<T>>) -> Self {
        Self { shared: shared.clone(), subscriptions: Subscriptions::default() }
    }
}

impl<T: Send, const ROOM: bool> SharedWatcher for MpmcWatcher<T, ROOM> {
    fn attach(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.subscriptions.attach(self.shared.side::<ROOM>(), registration)
    }

    // USER CODE: the waker of another handle's task, where a select picks this handle of several that are ready, also
    //     in `pass_on`; nothing has changed; re-entrance: any operation, and the select; panic: propagates out of the
    //     select, which checks again; test: src/channel/mpmc/receiver/tests.rs:
    //     a_select_that_names_one_of_several_messages_notifies_the_next
    fn is_ready(&self) -> bool {
        let side = self.shared.side::<ROOM>();
        if side.is_ready() {
            pass_on(side);
            return true;
        }
        self.subscriptions.rest(side)
    }

    fn side(&self) -> (*const (), bool) {
        (Arc::as_ptr(&self.shared).cast(), ROOM)
    }
}

// MUTANT: Speed only: an early exit. `notify` finds no armed slot.
/// The select names this handle, whose owner takes one thing by it. That handle is not in the list, and passes nothing
/// on: so a waiter that sleeps there is notified now if there is more.
fn pass_on(side: impl SharedEnd) {
    let list = side.list();
    if list.word().is_armed() {
        notify(list, side.supply().saturating_sub(1).saturating_sub(list.in_flight()));
    }
}

// USER CODE: the waker of another handle's task, where the watcher passes its notification on; called by `remove` of
//     `signal/shared.rs`. The watcher is out of the select's table, its id free; re-entrance: any operation, and
//     the select; panic: propagates; when a select is dropped, all its watchers pass their notifications on; test:
//     tests/suite/select/senders.rs: a_watcher_that_goes_passes_on_what_it_was_told, tests/suite/select/senders.rs:
//     watchers_that_go_all_pass_on_what_they_were_told_though_wakers_panic
impl<T, const ROOM: bool> Drop for MpmcWatcher<T, ROOM> {
    fn drop(&mut self) {
        self.subscriptions.unregister(self.shared.side::<ROOM>());
    }
}

macro_rules! shared {
    ($end:ident, $room:literal) => {
        impl<T: Send> AttachShared for $end<T> {
            fn watcher<'a>(&self) -> Box<dyn SharedWatcher + 'a>
            where
                Self: 'a,
            {
                Box::new(MpmcWatcher::<T, $room>::new(self.shared()))
            }

            fn side(&self) -> (*const (), bool) {
                (ptr::from_ref(&**self.shared()).cast(), $room)
            }

            fn give_way(&self) {
                let is_notified = self.disarm_all();
                // The select checks for itself: another handle must get the notification that this one had got.
                drop(Owed { end: self.shared().side::<$room>(), is_notified });
            }
        }
    };
}

shared!(Receiver, false);
shared!(Sender, true);
