//! What all handles of a broadcast channel share: the ring, and three wait lists: of receivers, of senders that wait
//! for room, and of senders that wait until there is no receiver.
//!
//! Any thread; lock-free. The thread that publishes (a message, room, a disconnection) checks the wait lists concerned,
//! and wakes: for a message every waiting receiver, for room one sender after another.

use crate::channel::reserve::{Holders, Roomy};
use crate::foreign::Panics;
use crate::os::cpus;
use crate::queue::broadcast::{BroadcastRing, Found, ReaderPlace, Seat};
use crate::queue::exchange::{Rejected, Staging, StagingSpace};
use crate::sync::{AtomicUsize, Ordering};
use crate::wait::many::{SharedEnd, notify, notify_each};
use crate::wait::{WaitList, spin_for_a_moment};

/// In this order: seldom used fields are between those that are used for every message.
#[repr(C)]
pub(in crate::channel) struct BroadcastShared<T> {
    pub(super) ring: BroadcastRing<T>,
    /// Senders that wait until there is no receiver, or until they may gather room.
    closing: WaitList,
    receivers: WaitList,
    senders: WaitList,
    sender_count: AtomicUsize,
    holders: Holders,
}

/// Handles that wait, and for what: `W` is [a place](Listener), [room](Speaker) or [that there is no receiver](Leaver).
pub(in crate::channel) struct BroadcastSide<'a, T, W> {
    shared: &'a BroadcastShared<T>,
    what: W,
}

/// A receiver that waits for the message at its position.
pub(super) type Listener<'a, T> = BroadcastSide<'a, T, ReaderPlace<'a>>;

/// The senders that wait for room.
pub(in crate::channel) type Speaker<'a, T> = BroadcastSide<'a, T, AwaitsRoom>;

/// The senders that wait until there is no receiver.
pub(in crate::channel) type Leaver<'a, T> = BroadcastSide<'a, T, AwaitsEnd>;

#[derive(Clone, Copy)]
pub(in crate::channel) struct AwaitsRoom;

#[derive(Clone, Copy)]
pub(in crate::channel) struct AwaitsEnd;

impl<T, W: Copy> Clone for BroadcastSide<'_, T, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, W: Copy> Copy for BroadcastSide<'_, T, W> {}

impl<T> SharedEnd for Listener<'_, T> {
    const FOR_ALL: bool = true;

    fn list(&self) -> &WaitList {
        &self.shared.receivers
    }

    fn is_ready(&self) -> bool {
        self.shared.ring.has_news_for(self.what) || self.shared.ring.is_over(self.what)
    }

    /// A message is for every receiver: each that waits has been notified, and none needs to notify another.
    fn supply(&self) -> usize {
        0
    }
}

impl<T> SharedEnd for Speaker<'_, T> {
    fn list(&self) -> &WaitList {
        &self.shared.senders
    }

    fn is_ready(&self) -> bool {
        self.shared.ring.is_writable()
    }

    fn supply(&self) -> usize {
        self.shared.ring.known_room()
    }
}

impl<T> SharedEnd for Leaver<'_, T> {
    fn list(&self) -> &WaitList {
        &self.shared.closing
    }

    fn is_ready(&self) -> bool {
        self.shared.is_deserted()
    }

    /// All have been notified.
    fn supply(&self) -> usize {
        0
    }
}

impl<T> Roomy for BroadcastShared<T> {
    /// No more than `least`: how much room there is, no sender knows.
    fn hold(&self, least: usize, _: usize) -> Result<usize, Rejected<()>> {
        self.ring.hold(least as u64).map(|()| least)
    }

    fn release(&self, places: usize) {
        self.ring.give_back(places as u64);
        Panics::in_drop(|| self.announce_room());
    }

    fn holders(&self) -> &Holders {
        &self.holders
    }

    fn rare(&self) -> &WaitList {
        &self.closing
    }

    fn is_over(&self) -> bool {
        self.is_deserted()
    }
}

impl<T> BroadcastShared<T> {
    #[track_caller]
    pub(super) fn new(capacity: usize, is_lossy: bool) -> Self {
        Self {
            ring: BroadcastRing::new(capacity, is_lossy),
            closing: WaitList::new(),
            receivers: WaitList::new(),
            senders: WaitList::new(),
            sender_count: AtomicUsize::new(1),
            holders: Holders::new(),
        }
    }

    /// A receiver that waits at its position. Its cursor stays there meanwhile.
    pub(super) fn listener(&self, seat: &Seat) -> Listener<'_, T> {
        BroadcastSide { shared: self, what: self.ring.place(seat) }
    }

    pub(super) fn speaker(&self) -> Speaker<'_, T> {
        BroadcastSide { shared: self, what: AwaitsRoom }
    }

    pub(super) fn leaver(&self) -> Leaver<'_, T> {
        BroadcastSide { shared: self, what: AwaitsEnd }
    }

    /// Whether nothing that is sent would be received.
    pub(super) fn is_deserted(&self) -> bool {
        self.ring.is_closed() || self.ring.readers() == 0
    }

    // MUTANT: Speed only: when a waiting thread yields instead of spinning, and how often it polls.
    /// Whether there are more handles than CPUs, if each has a thread.
    pub(super) fn is_crowded(&self) -> bool {
        self.sender_count() + self.ring.readers() > cpus()
    }

    // USER CODE: wakers, then `Drop` of the displaced messages; so also in `announce_message` and `push_many`. The new
    //     messages are in the ring, the old ones out of it; re-entrance: any operation; panic: all are woken, all are
    //     dropped, then the first panic propagates; test: tests/suite/broadcast/foreign.rs:
    //     the_drop_of_an_old_message_panics_when_the_new_one_is_sent, tests/suite/broadcast/foreign.rs:
    //     one_waker_that_panics_keeps_no_thread_asleep_and_no_message_back
    // MUTANT: Speed only: the slow path checks both lists again and finds no armed slot.
    /// Sends a message if there is room.
    #[inline(always)]
    pub(super) fn push(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        match self.ring.claim_next() {
            Ok(claimed) => claimed.fill_from(place),
            Err(rejected) => {
                self.refused();
                return Err(rejected);
            }
        }
        self.sent(None);
        Ok(())
    }

    /// A send has found no room. Where room is counted, it may have had some for a moment, and other senders none.
    #[cold]
    pub(super) fn refused(&self) {
        if self.ring.is_counted() {
            self.announce_room();
        }
    }

    /// A message was written, and has replaced another one, if any, which is dropped here.
    #[inline(always)]
    pub(super) fn sent(&self, displaced: Option<T>) {
        // Senders also wait for a message of a writer that had been preempted in their cell.
        if self.receivers.published() || self.senders.published() {
            self.announce_message(displaced);
        }
    }

    /// Sends the messages of a batch for which there is room. `None`: there is no receiver, or the channel is closed.
    pub(super) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        let mut space = StagingSpace::new();
        let mut displaced = Staging::new(&mut space);
        let sent = self.ring.push_many(staging, &mut displaced)?;
        let mut panics = Panics::none();
        if sent != 0 {
            panics.catch(|| self.announce_message(None));
        } else {
            panics.catch(|| self.refused());
        }
        while let Some(message) = displaced.next() {
            panics.catch(|| drop(message));
        }
        Some(sent)
    }

    // MUTANT: Speed only: an early exit before a search that finds no armed slot. Killed only by
    // `a_waker_that_panics_before_the_drop_of_an_old_message_is_one_panic`.
    /// A message was written. `displaced`: the message that it has replaced, if any, which is dropped after all are
    /// woken.
    #[cold]
    #[inline(never)]
    fn announce_message(&self, displaced: Option<T>) {
        let mut panics = Panics::none();
        if self.receivers.published() && self.receivers.attend().is_armed() {
            panics.catch(|| notify_each(&self.receivers));
        }
        panics.catch(|| self.announce_room());
        panics.catch(|| drop(displaced));
    }

    // USER CODE: wakers of senders; so also in `take_many` and `Drop` of `Copying`. The reader has moved on, and the
    //     messages that it missed are counted; re-entrance: any operation; panic: the message counts as received, and
    //     is dropped with the call; after a copy that has panicked it is not resumed; test:
    //     tests/suite/broadcast/foreign.rs: a_waker_that_panics_behind_a_message_or_its_copy_is_one_panic,
    //     tests/suite/broadcast/foreign.rs: what_is_missed_is_counted_though_a_waker_panics
    /// Receives the message at a receiver's position, and advances the position. Adds the missed messages to `missed`
    /// before senders are woken, which is user code.
    #[inline(always)]
    pub(super) fn take(&self, seat: &mut Seat, missed: &mut u64) -> Found<T>
    where
        T: Clone,
    {
        self.take_by(seat, missed, BroadcastRing::take)
    }

    /// As [`take`](Self::take), though the message may be too old: see the ring's.
    pub(super) fn take_overdue(&self, seat: &mut Seat, missed: &mut u64) -> Found<T>
    where
        T: Clone,
    {
        self.take_by(seat, missed, BroadcastRing::take_overdue)
    }

    #[inline(always)]
    fn take_by<R>(
        &self,
        seat: &mut Seat,
        missed: &mut u64,
        take: impl FnOnce(&BroadcastRing<T>, &mut Seat) -> Found<R>,
    ) -> Found<R> {
        let copying = Copying(self);
        let found = take(&self.ring, seat);
        core::mem::forget(copying);
        match found {
            Found::Nothing => return found,
            Found::Missed(more) => {
                *missed += more;
                if self.ring.is_evicted(seat) {
                    return Panics::answer_behind(found, || self.tell_eviction());
                }
            }
            Found::Message(_) => {}
        }
        // MUTANT: Speed only: an early exit before a search that finds no armed slot.
        if self.senders.published() {
            return Panics::answer_behind(found, || self.wake_senders());
        }
        found
    }

    /// Receives the messages that are there, at most `most`, and returns their number. Adds the missed messages to
    /// `missed` as [`take`](Self::take) does.
    pub(super) fn take_many(&self, seat: &mut Seat, missed: &mut u64, to: &mut Vec<T>, most: usize) -> Found<usize>
    where
        T: Clone,
    {
        self.take_by(seat, missed, |ring, seat| ring.take_many(seat, to, most))
    }

    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    /// Receivers have advanced, or have been dropped: if senders wait and there is room, wakes them.
    #[inline(always)]
    pub(super) fn announce_room(&self) {
        if self.senders.published() {
            self.wake_senders();
        }
    }

    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    #[cold]
    #[inline(never)]
    fn wake_senders(&self) {
        if self.senders.attend().is_armed() && self.ring.is_writable() {
            notify(&self.senders, self.ring.known_room().max(1));
        }
    }

    /// Evicts the receiver with that id. False: there is none.
    pub(super) fn evict(&self, id: u64) -> bool {
        let is_there = self.ring.evict(id);
        if is_there {
            // It may be at a message at this moment.
            spin_for_a_moment(|| self.ring.is_out(id));
            self.tell_eviction();
        }
        is_there
    }

    /// A receiver has been removed: there may be room now, or no receiver; and it may wait itself.
    #[cold]
    fn tell_eviction(&self) {
        wake_all([&self.receivers, &self.senders, &self.closing]);
    }

    // MUTANT: Notifies senders without a reason: each checks and waits on.
    /// A receiver is dropped.
    pub(super) fn leave(&self, seat: &Seat) {
        if self.ring.leave(seat) {
            wake_all([&self.senders, &self.closing]);
        } else {
            self.announce_room();
        }
    }

    /// Another sender is made, on the thread that clones one.
    pub(super) fn add_sender(&self) {
        // ORDERING: Relaxed; the calling thread clones a handle that is counted, so the count cannot fall to 0
        //     meanwhile.
        self.sender_count.fetch_add(1, Ordering::Relaxed);
    }

    // FINAL: `false`: the count of senders never leaves 0; test: tests/loom/broadcast.rs:
    //     an_upgrade_against_the_last_senders_drop
    /// Another sender is made, unless all of them are dropped (false).
    pub(super) fn add_sender_to_others(&self) -> bool {
        // ORDERING: Relaxed; the count alone decides, by its own order of changes.
        let again = |senders| (senders != 0).then_some(senders + 1);
        self.sender_count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, again).is_ok()
    }

    /// A sender is dropped.
    pub(super) fn remove_sender(&self) {
        // ORDERING: AcqRel: each sender releases what it has sent; the last one acquires that before it closes the
        //     ring.
        if self.sender_count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close();
        }
    }

    pub(super) fn sender_count(&self) -> usize {
        // ORDERING: Relaxed; the number may be out of date at once.
        self.sender_count.load(Ordering::Relaxed)
    }

    /// From now on nothing can be sent. False: that was so before.
    pub(super) fn close(&self) -> bool {
        let is_first = self.ring.close();
        // All are notified in either case: the thread that came first may have been preempted before it could notify
        // them.
        wake_all([&self.receivers, &self.senders, &self.closing]);
        is_first
    }
}

// MUTANT: Speed only: an early exit before a search that finds no armed slot.
/// A disconnection or a close: wakes all that wait, each once.
fn wake_all<const LISTS: usize>(lists: [&WaitList; LISTS]) {
    let mut panics = Panics::none();
    for list in lists {
        if list.attend().is_armed() {
            panics.catch(|| notify_each(list));
        }
    }
}

/// A receiver is at work, and runs user code: where a copy panics, senders that wait for room are notified.
struct Copying<'a, T>(&'a BroadcastShared<T>);

impl<T> Drop for Copying<'_, T> {
    #[cold]
    fn drop(&mut self) {
        self.0.announce_room();
    }
}
