//! What all ends of a watch channel share: the value behind its lock, the version, and for receivers and senders each their
//! number and their wait list.
//!
//! Any thread. The version is a word beside the lock. It is raised while the lock is held for writing, so that whoever holds
//! the lock finds the value and its version together; it is read without the lock, so that waiting is lock-free. The thread
//! that has raised it looks at the receivers' wait list when the lock is free again: without a fence while a stream of
//! changes finds nobody waiting, and without a call to wake anybody.
//!
//! Cannot: say how many values a receiver has missed. Versions are counted, but no promise is made of it.

use crossbeam_utils::CachePadded;

use super::{RecvError, Ref};
use crate::foreign::Panics;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, RwLock, RwLockWriteGuard, fence, window};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify_each};

/// In the state: all senders are gone.
const CLOSED: u64 = 1;
/// In the state: one version more. There are 2^63, so none comes twice.
const VERSION: u64 = 2;
/// What a receiver has seen that was told to take any value for a new one. No version: versions are even.
pub(super) const NOTHING: u64 = u64::MAX;

pub(super) struct WatchShared<T> {
    value: RwLock<T>,
    /// The version of the value, and `CLOSED`.
    state: CachePadded<AtomicU64>,
    /// The receivers that wait for a value.
    waiting: WaitList,
    receivers: AtomicUsize,
    /// The senders that wait until no receiver is left.
    closing: WaitList,
    senders: AtomicUsize,
}

/// A receiver that waits for a value it has not seen, or for the end.
pub(super) struct Unseen<'a, T> {
    shared: &'a WatchShared<T>,
    seen: u64,
}

impl<T> Clone for Unseen<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Unseen<'_, T> {}

impl<T> SharedEnd for Unseen<'_, T> {
    const FOR_ALL: bool = true;

    fn list(&self) -> &WaitList {
        &self.shared.waiting
    }

    fn is_ready(&self) -> bool {
        // A state that is closed equals no version.
        self.shared.state() != self.seen
    }

    /// Nobody passes a notification on: every change notifies all.
    fn supply(&self) -> usize {
        0
    }
}

/// A sender that waits until no receiver is left.
pub(super) struct Unwatched<'a, T>(&'a WatchShared<T>);

impl<T> Clone for Unwatched<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Unwatched<'_, T> {}

impl<T> SharedEnd for Unwatched<'_, T> {
    fn list(&self) -> &WaitList {
        &self.0.closing
    }

    fn is_ready(&self) -> bool {
        self.0.receivers() == 0
    }

    /// Nobody passes a notification on: the last receiver's end notifies all.
    fn supply(&self) -> usize {
        0
    }
}

impl<T> WatchShared<T> {
    pub(super) fn new(initial: T) -> Self {
        Self {
            value: RwLock::new(initial),
            state: CachePadded::new(AtomicU64::new(0)),
            waiting: WaitList::new(),
            receivers: AtomicUsize::new(1),
            closing: WaitList::new(),
            senders: AtomicUsize::new(1),
        }
    }

    /// A receiver's wait that has seen so much.
    pub(super) fn unseen(&self, seen: u64) -> Unseen<'_, T> {
        Unseen { shared: self, seen }
    }

    /// A sender's wait for the end of all receivers.
    pub(super) fn unwatched(&self) -> Unwatched<'_, T> {
        Unwatched(self)
    }

    fn state(&self) -> u64 {
        // ORDERING: Acquire pairs with the Release of `publish` and `remove_sender`: what the sender did before is visible.
        self.state.load(Ordering::Acquire)
    }

    /// The version now.
    pub(super) fn version(&self) -> u64 {
        self.state() & !CLOSED
    }

    /// Whether all senders are gone. The version is final then.
    pub(super) fn is_closed(&self) -> bool {
        self.state() & CLOSED != 0
    }

    /// The version, where a receiver has not seen it.
    ///
    /// # Errors
    /// Where the receiver has seen it, and all senders are gone.
    pub(super) fn news(&self, seen: u64) -> Result<Option<u64>, RecvError> {
        // One look: the last value was published before the end.
        match self.state() {
            state if state & !CLOSED != seen => Ok(Some(state & !CLOSED)),
            state if state & CLOSED != 0 => Err(RecvError),
            _ => Ok(None),
        }
    }

    /// Lends the value, and tells its version.
    pub(super) fn borrow(&self, seen: Option<u64>) -> (Ref<'_, T>, u64) {
        // No closure panics while the lock is held for writing, see `modify`. And where one did, its value would still be one.
        let value = self.value.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        // No sender changes it while the lock is held.
        let version = self.version();
        (Ref { value, has_changed: seen.is_some_and(|seen| seen != version) }, version)
    }

    fn write(&self) -> RwLockWriteGuard<'_, T> {
        // As in `borrow`.
        self.value.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The value has changed. The caller holds the lock for writing, and announces the version when the lock is free.
    fn publish(&self) {
        // ORDERING: Relaxed; only a thread that holds the lock changes the version, and no end is marked while a sender lives.
        let version = self.state.load(Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire of `state`.
        self.state.store(version + VERSION, Ordering::Release);
    }

    /// Replaces the value, and returns the one before. It is announced to nobody.
    pub(super) fn replace(&self, value: T) -> T {
        let mut place = self.write();
        let before = core::mem::replace(&mut *place, value);
        self.publish();
        before
    }

    /// Has `change` change the value, and announces it where `change` says that it did (true), or panics.
    pub(super) fn modify(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        let mut panics = Panics::none();
        // Where `change` panics it may have changed the value before.
        let mut has_changed = true;
        {
            let mut place = self.write();
            // Caught here, so that the lock is not poisoned and the version is raised before anybody can borrow.
            panics.catch(|| has_changed = change(&mut place));
            if has_changed {
                self.publish();
            }
        }
        if has_changed {
            panics.catch(|| self.announce());
        }
        has_changed
    }

    /// A new version is there: wakes all receivers that wait.
    pub(super) fn announce(&self) {
        window();
        if self.waiting.published() && self.waiting.attend().is_armed() {
            notify_each(&self.waiting);
        }
    }

    pub(super) fn senders(&self) -> usize {
        // ORDERING: Relaxed; only a number to show.
        self.senders.load(Ordering::Relaxed)
    }

    pub(super) fn receivers(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `remove_receiver`: where none is left, what they did is visible.
        self.receivers.load(Ordering::Acquire)
    }

    /// Another sender is made, on the thread that clones one.
    pub(super) fn add_sender(&self) {
        // ORDERING: Relaxed; the calling thread clones a sender that is counted, so the count cannot fall to 0 meanwhile.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Another receiver is made. The count may have been 0.
    pub(super) fn add_receiver(&self) {
        // ORDERING: Relaxed; a sender that finds the count at 0 meanwhile was asked before this receiver was there.
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender goes.
    pub(super) fn remove_sender(&self) {
        // ORDERING: AcqRel: each sender releases what it has published; the last one acquires that before it closes.
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            // ORDERING: Release pairs with the Acquire of `state`: who finds it closed finds the last version.
            self.state.fetch_or(CLOSED, Ordering::Release);
            // ORDERING: pairs with the fence in `WaitList::arm`: either a receiver sees that the channel is closed, or its
            // armed bit is found here.
            fence(Ordering::SeqCst);
            notify_each(&self.waiting);
        }
    }

    /// A receiver goes.
    pub(super) fn remove_receiver(&self) {
        // ORDERING: Release pairs with the Acquire of `receivers`.
        if self.receivers.fetch_sub(1, Ordering::Release) == 1 {
            // ORDERING: pairs with the fence in `WaitList::arm`: either a sender sees that no receiver is left, or its armed
            // bit is found here.
            fence(Ordering::SeqCst);
            notify_each(&self.closing);
        }
    }
}
