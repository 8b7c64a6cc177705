//! What all handles of a watch channel share: the value with its lock, the version, and for receivers and senders each
//! their number and their wait list.
//!
//! The value is in a share of its own. A receiver that clones it takes another share under the lock, and clones after
//! it: so a `Clone` may use the channel. A sender that finds the value shared puts the new one elsewhere. A sender that
//! changes the value in place, or returns it, waits for the threads that clone it.
//!
//! Any thread. The version is a word next to the lock. It is raised while the lock is held for writing, so a thread
//! that holds the lock finds the value and its version together. It is read without the lock, so that waiting is
//! lock-free. The thread that has raised it checks the receivers' wait list after the lock is free again. It needs no
//! fence while a stream of changes finds no waiter, and makes no system call where there is none to wake.
//!
//! Cannot: return the number of values that a receiver has missed. Versions are counted, but this is no promise.

// The model checker's `thread_local!` takes no `const`.
#![allow(clippy::missing_const_for_thread_local)]

use core::cell::Cell;
use core::ptr::{self, NonNull};

use super::lock::{ALL, ValueRead, ValueWrite, WatchLock};
use super::{RecvError, Ref};
use crate::foreign::Panics;
use crate::os::{Deadline, sleep_on, wake};
use crate::queue::Apart;
use crate::sync::{Arc, AtomicU32, AtomicU64, AtomicUsize, Ordering, UnsafeCell, fence, thread_local, window};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify_each};

/// In the state: all senders have disconnected.
const CLOSED: u64 = 1;
// REUSED: the version of a watched value is never reused: 63 bits; by construction
/// In the state: one version more. There are 2^63, so none is used twice.
const VERSION: u64 = 2;
/// The seen version of a receiver that must treat any value as new. No version equals it: versions are even.
pub(super) const NOTHING: u64 = u64::MAX;

/// In `clones`: a sender waits for the threads that clone the value.
const WANTED: u32 = 1;
/// In `clones`: one thread more has cloned the value. Wraps.
const THROUGH: u32 = 2;

// USER CODE: `Drop` of the value, with the last sender or receiver; nothing else has the channel; re-entrance: may use
//     other channels; panic: propagates; while unwinding it is not resumed; test: tests/suite/watch/foreign.rs:
//     a_value_that_ends_with_the_channel_behind_a_panic_is_no_second_one
/// In this order: seldom used fields are between those that are used for every value.
#[repr(C)]
pub(super) struct WatchShared<T> {
    lock: WatchLock,
    /// Shared with the threads that clone the value, and with no other.
    value: UnsafeCell<Arc<T>>,
    /// Raised by [`THROUGH`] whenever a thread has cloned the value, with [`WANTED`]. Slept on.
    clones: AtomicU32,
    /// The senders that wait until there is no receiver.
    closing: WaitList,
    /// The version of the value, and `CLOSED`.
    state: AtomicU64,
    apart: Apart,
    /// The receivers that wait for a value.
    waiting: WaitList,
    receivers: AtomicUsize,
    senders: AtomicUsize,
}

// SAFETY: the value goes from thread to thread, and the last thread that clones it may drop it: `T: Send`.
unsafe impl<T: Send> Send for WatchShared<T> {}
// SAFETY: as above; and several threads read the value at once: `T: Sync`. It is changed under the lock for writing, by
//     a thread that has found it not shared.
unsafe impl<T: Send + Sync> Sync for WatchShared<T> {}

/// A share of the value, for a thread that clones it.
pub(super) struct Share<'a, T> {
    shared: &'a WatchShared<T>,
    value: Option<Arc<T>>,
    pub(super) version: u64,
}

/// This thread is within the `Clone` of a channel's value. The nested ones are linked.
struct CloningHere {
    channel: *const (),
    outer: *const CloningHere,
}

// THREAD EXIT: `CLONING`, a pointer without a destructor, stays; by construction: `try_with`
thread_local! {
    static CLONING: Cell<*const CloningHere> = Cell::new(ptr::null());
}

/// A receiver that waits for a value it has not seen, or for the disconnection.
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

    /// No waiter passes a notification on: every change notifies all.
    fn supply(&self) -> usize {
        0
    }
}

/// A sender that waits until there is no receiver.
pub(in crate::channel) struct Unwatched<'a, T>(&'a WatchShared<T>);

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

    /// No waiter passes a notification on: the last receiver's disconnection notifies all.
    fn supply(&self) -> usize {
        0
    }
}

impl<T> WatchShared<T> {
    pub(super) fn new(initial: T) -> Self {
        Self {
            lock: WatchLock::new(),
            value: UnsafeCell::new(Arc::new(initial)),
            clones: AtomicU32::new(0),
            closing: WaitList::new(),
            state: AtomicU64::new(0),
            apart: Apart::new(),
            waiting: WaitList::new(),
            receivers: AtomicUsize::new(1),
            senders: AtomicUsize::new(1),
        }
    }

    /// The wait of a receiver that has seen the version `seen`.
    pub(super) fn unseen(&self, seen: u64) -> Unseen<'_, T> {
        Unseen { shared: self, seen }
    }

    /// A sender's wait for the disconnection of all receivers.
    pub(super) fn unwatched(&self) -> Unwatched<'_, T> {
        Unwatched(self)
    }

    fn state(&self) -> u64 {
        // ORDERING: Acquire pairs with the Release of `publish` and `remove_sender`: what the sender did before is
        //     visible.
        self.state.load(Ordering::Acquire)
    }

    /// The version now.
    pub(super) fn version(&self) -> u64 {
        self.state() & !CLOSED
    }

    /// Whether all senders have disconnected. The version is final then.
    pub(super) fn is_closed(&self) -> bool {
        self.state() & CLOSED != 0
    }

    /// The version, where a receiver has not seen it.
    ///
    /// # Errors
    /// Where the receiver has seen it, and all senders have disconnected.
    pub(super) fn news(&self, seen: u64) -> Result<Option<u64>, RecvError> {
        // One check: the last value was published before the disconnection.
        match self.state() {
            state if state & !CLOSED != seen => Ok(Some(state & !CLOSED)),
            state if state & CLOSED != 0 => Err(RecvError),
            _ => Ok(None),
        }
    }

    // WAITS: for the lock, also in `replace` and `modify`; ends: a sender has moved its value in or run its closure,
    //     receivers have dropped their `Ref`; no spin setting; fairness: a sender that waits goes before later
    //     receivers; test: tests/suite/watch.rs: changes_of_several_senders_are_all_there
    /// Lends the value, and returns its version.
    pub(super) fn borrow(&self, seen: Option<u64>) -> (Ref<'_, T>, u64) {
        let reading = self.lock.read();
        // No sender changes it while the lock is held.
        let version = self.version();
        let value = self.value(&reading);
        (Ref { value, has_changed: seen.is_some_and(|seen| seen != version), reading }, version)
    }

    /// The location of the value, as long as it is read.
    fn value(&self, _: &ValueRead<'_>) -> NonNull<T> {
        // SAFETY: a reader excludes all writers.
        self.value.with(|place| NonNull::from(unsafe { &**place }))
    }

    /// A share of the value, to be cloned. Waits for a sender that holds the lock.
    pub(super) fn share(&self) -> Share<'_, T> {
        self.share_of(&self.lock.read())
    }

    /// As [`share`](Self::share). `None`: a sender holds the lock.
    pub(super) fn try_share(&self) -> Option<Share<'_, T>> {
        Some(self.share_of(&self.lock.try_read()?))
    }

    fn share_of(&self, _: &ValueRead<'_>) -> Share<'_, T> {
        // SAFETY: as in `value`.
        let value = self.value.with(|place| unsafe { (*place).clone() });
        Share { shared: self, value: Some(value), version: self.version() }
    }

    /// Holds the lock, with the value of this thread alone: waits until no thread clones it.
    ///
    /// # Panics
    /// When called within the `Clone` of this very value, because it would wait for that.
    fn write_alone(&self) -> ValueWrite<'_> {
        loop {
            let clones = {
                let writing = self.lock.write();
                if self.is_alone(&writing) {
                    return writing;
                }
                // ORDERING: Acquire pairs with the Release in the drop of a `Share`: where that has raised the word
                //     before, the check after this finds the share given up. Otherwise it finds the mark, and wakes.
                let clones = self.clones.fetch_or(WANTED, Ordering::Acquire) | WANTED;
                // No thread takes another share of this value while the lock is held.
                if self.is_alone(&writing) {
                    return writing;
                }
                clones
            };
            assert!(!self.is_cloned_here(), "the Clone of a watch's value replaces or changes that value");
            // With the lock free, in case the `Clone` uses this channel.
            sleep_on(&self.clones, clones, Deadline::Never);
        }
    }

    /// Whether no thread clones the value.
    fn is_alone(&self, _: &ValueWrite<'_>) -> bool {
        // SAFETY: a writer excludes all others.
        self.value.with_mut(|place| unsafe { Arc::get_mut(&mut *place) }.is_some())
    }

    /// Whether this thread is within the `Clone` of a value of this channel.
    fn is_cloned_here(&self) -> bool {
        let mut at = CLONING.try_with(Cell::get).unwrap_or(ptr::null());
        // SAFETY: each is a local of a call that this thread is within, and removes itself when that returns.
        while let Some(here) = unsafe { at.as_ref() } {
            if ptr::eq(here.channel, ptr::from_ref(self).cast()) {
                return true;
            }
            at = here.outer;
        }
        false
    }

    /// The value, which only this thread owns.
    fn own<R>(&self, _: &ValueWrite<'_>, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: a writer excludes all others, and no thread takes the value out of its place.
        let value = self.value.with_mut(|place| unsafe { Arc::get_mut(&mut *place) }.map(NonNull::from));
        let mut value = value.expect("no thread shares the value");
        // SAFETY: as above; shares are made under the lock alone.
        act(unsafe { value.as_mut() })
    }

    /// The value has changed. The caller holds the lock for writing, and announces the version when the lock is free.
    fn publish(&self) {
        // ORDERING: Relaxed; only a thread that holds the lock changes the version, and no disconnection is marked
        //     while there is a sender.
        let version = self.state.load(Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire of `state`.
        self.state.store(version + VERSION, Ordering::Release);
    }

    /// Replaces the value, and returns the old one. Notifies no receiver.
    ///
    /// # Panics
    /// As [`write_alone`](Self::write_alone).
    pub(super) fn replace(&self, value: T) -> T {
        let writing = self.write_alone();
        let before = self.own(&writing, |place| core::mem::replace(place, value));
        self.publish();
        before
    }

    /// Replaces the value, and returns the old one, unless that is shared: then the threads that clone it drop it.
    /// Notifies no receiver.
    pub(super) fn put(&self, value: T) -> Option<T> {
        let writing = self.lock.write();
        if self.is_alone(&writing) {
            let before = self.own(&writing, |place| core::mem::replace(place, value));
            self.publish();
            return Some(before);
        }
        let value = Arc::new(value);
        // SAFETY: a writer excludes all others.
        let shared = self.value.with_mut(|place| core::mem::replace(unsafe { &mut *place }, value));
        self.publish();
        drop(writing);
        // After the lock: it may be the last share meanwhile.
        drop(shared);
        None
    }

    // USER CODE: the closure of `send_modify` and `send_if_modified`; the lock is held for writing; re-entrance: must
    //     not use the channel, as that would wait for ever; panic: the value counts as changed: the version is raised,
    //     the lock freed and not poisoned, receivers are woken, then it propagates; test: tests/suite/watch/foreign.rs:
    //     a_closure_that_panics_has_changed_the_value
    /// Has `change` change the value. Notifies the receivers where `change` returns true, or panics.
    pub(super) fn modify(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        let mut panics = Panics::none();
        // Where `change` panics it may have changed the value before.
        let mut has_changed = true;
        {
            let writing = self.write_alone();
            // Caught here, so that the version is raised before any thread can borrow.
            panics.catch(|| has_changed = self.own(&writing, change));
            if has_changed {
                self.publish();
            }
        }
        if has_changed {
            panics.catch(|| self.announce());
        }
        has_changed
    }

    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    /// A new version is there: wakes all receivers that wait.
    pub(super) fn announce(&self) {
        window();
        if self.waiting.published() && self.waiting.attend().is_armed() {
            notify_each(&self.waiting);
        }
    }

    pub(super) fn senders(&self) -> usize {
        // ORDERING: Relaxed; a number for information only.
        self.senders.load(Ordering::Relaxed)
    }

    pub(super) fn receivers(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `remove_receiver`: where there is none, what they did is visible.
        self.receivers.load(Ordering::Acquire)
    }

    /// Another sender is made, on the thread that clones one.
    pub(super) fn add_sender(&self) {
        // ORDERING: Relaxed; the calling thread clones a sender that is counted, so the count cannot fall to 0
        //     meanwhile.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Another receiver is made. The count may have been 0.
    pub(super) fn add_receiver(&self) {
        // ORDERING: Relaxed; a sender that finds the count at 0 meanwhile has checked before this receiver existed.
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    // MUTANT: In a race: a thread parks while the last handle of the other side is dropped. Killed only by the model
    // `the_last_senders_end_against_a_thread_going_to_sleep`.
    /// A sender is dropped.
    pub(super) fn remove_sender(&self) {
        // ORDERING: AcqRel: each sender releases what it has published; the last one acquires that before it closes.
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            // ORDERING: Release pairs with the Acquire of `state`: a thread that finds it closed finds the last
            //     version.
            self.state.fetch_or(CLOSED, Ordering::Release);
            // ORDERING: pairs with the fence in `WaitList::arm`: either a receiver sees that the channel is closed, or
            //     its armed bit is found here.
            fence(Ordering::SeqCst);
            notify_each(&self.waiting);
        }
    }

    // MUTANT: In a race: a thread parks while the last handle of the other side is dropped. Killed only by the model
    // `the_last_receivers_end_against_senders_going_to_sleep`.
    /// A receiver is dropped.
    pub(super) fn remove_receiver(&self) {
        // ORDERING: Release pairs with the Acquire of `receivers`.
        if self.receivers.fetch_sub(1, Ordering::Release) == 1 {
            // ORDERING: pairs with the fence in `WaitList::arm`: either a sender sees that no receiver is left, or its
            //     armed bit is found here.
            fence(Ordering::SeqCst);
            notify_each(&self.closing);
        }
    }
}

impl<T: Clone> Share<'_, T> {
    // USER CODE: the value's `Clone`, for iterators, streams and the hub (`clone_share` of
    //     `channel/watch/receiver.rs`); the lock is free, the value shared, and it does not count as seen; re-entrance:
    //     may borrow and send; to replace or change the value panics, as it would wait for itself; panic: the share is
    //     given up, and the value can be received again; test: tests/suite/watch/values.rs:
    //     a_clone_that_panics_has_seen_nothing, tests/suite/watch/foreign.rs: a_clone_may_send,
    //     tests/suite/watch/foreign.rs: a_clone_that_replaces_or_changes_its_own_value_panics
    /// Clones the value. No lock is held meanwhile.
    pub(super) fn cloned(&self) -> T {
        struct Within(CloningHere);
        impl Drop for Within {
            fn drop(&mut self) {
                let _ = CLONING.try_with(|cloning| cloning.set(self.0.outer));
            }
        }
        let channel = ptr::from_ref(self.shared).cast();
        let within = Within(CloningHere { channel, outer: CLONING.try_with(Cell::get).unwrap_or(ptr::null()) });
        let _ = CLONING.try_with(|cloning| cloning.set(&within.0));
        T::clone(self.value.as_ref().expect("there until it is dropped"))
    }
}

// USER CODE: `Drop` of a value that was replaced while it was cloned; the clone is made and counts as seen, the lock is
//     free; re-entrance: any operation; panic: senders that wait for the share are notified, then it propagates, and
//     the clone is dropped; test: tests/suite/watch/foreign.rs:
//     a_value_that_is_being_cloned_is_replaced_at_once_and_changed_behind_that
impl<T> Drop for Share<'_, T> {
    fn drop(&mut self) {
        let mut panics = Panics::none();
        // The last share of a value that was replaced: user code.
        panics.catch(|| drop(self.value.take()));
        // ORDERING: Release pairs with the Acquire in `write_alone`: the share was given up before.
        let before = self.shared.clones.fetch_add(THROUGH, Ordering::Release);
        if before & WANTED != 0 {
            // ORDERING: Relaxed; the woken threads check again, and set the mark again.
            self.shared.clones.fetch_and(!WANTED, Ordering::Relaxed);
            wake(&self.shared.clones, ALL);
        }
    }
}
