//! What a select keeps for handles that it was given by shared reference. The owner of the select; any thread notifies.
//!
//! A watcher is in the wait list, in place of a handle, and is not counted as one: the channel disconnects as if the
//! watcher did not exist. A publisher that has counted one of the two sides down to 0 notifies the watchers of both.

use super::handle::MpmcHandle;
use super::shared::MpmcShared;
use super::{Receiver, Sender};
use crate::signal::{AttachError, AttachShared, Prospect, Registration, SharedWatcher};
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
    fn prospect(&self) -> Prospect {
        let (side, queue) = (self.shared.side::<ROOM>(), &self.shared.flavour);
        let is_ready = match queue.meeting() {
            Some(meeting) if meeting.is_closed() => return Prospect::End,
            Some(meeting) => meeting.side::<ROOM>().is_ready(),
            None if ROOM && queue.is_closed() => return Prospect::End,
            None if ROOM => queue.is_writable(),
            // Where there is a message it is not asked for the end.
            None if queue.is_readable() => true,
            None if queue.is_over() => return Prospect::End,
            None => false,
        };
        if is_ready {
            pass_on(side);
            return Prospect::Something;
        }
        if self.subscriptions.rest(side) { Prospect::Something } else { Prospect::Nothing }
    }

    fn tell_end(&self) {
        self.subscriptions.with_registration(self.shared.side::<ROOM>(), &mut |registration| registration.tell_end());
    }

    fn side(&self) -> (*const (), bool) {
        identity(&self.shared, ROOM)
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

/// Which side of which channel.
fn identity<T>(shared: &Arc<MpmcShared<T>>, room: bool) -> (*const (), bool) {
    (Arc::as_ptr(shared).cast(), room)
}

// USER CODE: the waker of another handle's task; the handle has left its slots; re-entrance: any operation; panic:
//     propagates; by construction: `Owed`
/// The select checks for itself: another handle must get the notification that this one had got.
fn give_way(side: impl SharedEnd, is_notified: bool) {
    drop(Owed { end: side, is_notified });
}

impl<T: Send> AttachShared for Receiver<T> {
    fn watcher<'a>(&self) -> Box<dyn SharedWatcher + 'a>
    where
        Self: 'a,
    {
        Box::new(MpmcWatcher::<T, false>::new(&self.shared))
    }

    fn side(&self) -> (*const (), bool) {
        identity(&self.shared, false)
    }

    fn give_way(&self) {
        give_way(self.shared.readers(), self.parts().disarm_all());
    }
}

impl<T: Send> AttachShared for Sender<T> {
    fn watcher<'a>(&self) -> Box<dyn SharedWatcher + 'a>
    where
        Self: 'a,
    {
        Box::new(MpmcWatcher::<T, true>::new(&self.shared))
    }

    fn side(&self) -> (*const (), bool) {
        identity(&self.shared, true)
    }

    fn give_way(&self) {
        give_way(self.shared.writers(), self.parts().disarm_all());
    }
}
