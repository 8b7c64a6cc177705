//! What all handles of an mpmc channel share: its queue or rendezvous, for receivers and senders each their number and their wait
//! list, and the wait lists for the disconnection and for permits.
//!
//! Any thread; lock-free. The thread that publishes (a message, room, a disconnection) checks the wait list of the
//! handles concerned afterwards, and notifies a waiter there.

use core::mem::MaybeUninit;

use super::flavour::{Flavour, MakeMeeting};
use crate::channel::reserve::Holders;
use crate::foreign::Panics;
use crate::queue::exchange::{Forced, Hint, Rejected, Staging, Unforced};
use crate::statistics::{COUNTING, Meter};
use crate::sync::{Arc, AtomicUsize, Ordering, fence};
use crate::wait::many::{SharedEnd, notify, notify_all, notify_all_of};
use crate::wait::{ListState, WaitList};

/// In this order: after the position of the queue's tail, which is last in the queue, there are fields enough that are
/// seldom used, and after the words that are loaded for every message as well. So nothing is aligned, and a channel is
/// small.
#[repr(C)]
pub(in crate::channel) struct MpmcShared<T> {
    pub(super) flavour: Flavour<T>,
    /// Senders that wait until no message that they send would be received.
    pub(super) closed: WaitList,
    /// The senders that wait until a thread has gathered its cells, or until fewer cells are reserved.
    pub(super) rare: WaitList,
    pub(super) holders: Holders,
    pub(super) readers: Ends,
    pub(super) writers: Ends,
}

/// All receivers, or all senders.
#[repr(C)]
pub(super) struct Ends {
    /// Those of them that wait.
    list: WaitList,
    count: AtomicUsize,
}

impl Ends {
    fn new(meter: Meter) -> Self {
        Self { list: WaitList::metered(meter), count: AtomicUsize::new(1) }
    }

    /// Another handle is made, on the thread that clones one.
    pub(super) fn add(&self) {
        // ORDERING: Relaxed; the calling thread clones a handle that is counted, so the count cannot fall to 0
        //     meanwhile.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    // MUTANT: In a race: an upgrade runs between the count of the last handle and its close. Killed only by the model
    // `an_upgrade_against_the_last_receivers_drop`.
    /// Another handle is made by a thread that may have none, unless all are dropped (false).
    #[inline(always)]
    pub(super) fn add_to_others(&self) -> bool {
        // ORDERING: Relaxed twice; a count that is not 0 at the exchange keeps the last handle from being dropped
        //     before this one. The channel alone hands over what the handles have done.
        let add = |count| (count != 0).then_some(count + 1);
        self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    pub(super) fn count(&self) -> usize {
        // ORDERING: Relaxed; it may be out of date at once, and guards nothing.
        self.count.load(Ordering::Relaxed)
    }
}

/// The handles that wait: with `ROOM` the senders, for room; otherwise the receivers, for messages.
pub(in crate::channel) struct WaitingSide<'a, T, const ROOM: bool>(&'a MpmcShared<T>);

pub(in crate::channel) type Readers<'a, T> = WaitingSide<'a, T, false>;
pub(in crate::channel) type Writers<'a, T> = WaitingSide<'a, T, true>;

impl<T, const ROOM: bool> Clone for WaitingSide<'_, T, ROOM> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROOM: bool> Copy for WaitingSide<'_, T, ROOM> {}

impl<T, const ROOM: bool> SharedEnd for WaitingSide<'_, T, ROOM> {
    fn list(&self) -> &WaitList {
        if let Some(meeting) = self.0.flavour.meeting() {
            return meeting.list(ROOM);
        }
        if ROOM { &self.0.writers.list } else { &self.0.readers.list }
    }

    #[inline(never)]
    fn is_ready(&self) -> bool {
        if let Some(meeting) = self.0.flavour.meeting() {
            return meeting.side::<ROOM>().is_ready();
        }
        let queue = &self.0.flavour;
        // In a closed ring a receiver continues to wait for messages that senders are still writing.
        if ROOM { queue.is_writable() || queue.is_closed() } else { queue.is_readable() || queue.is_over() }
    }

    fn supply(&self) -> usize {
        if let Some(meeting) = self.0.flavour.meeting() {
            return meeting.side::<ROOM>().supply();
        }
        if ROOM { self.0.flavour.room() } else { self.0.flavour.len() }
    }

    // MUTANT: Memory only: when a queue without a bound gives back what a burst has left.
    fn rest(&self) {
        if !ROOM {
            self.0.flavour.calm();
        }
    }
}

/// Senders that wait for the disconnection of the receivers, or for the close of the channel.
pub(in crate::channel) struct UntilClosed<'a, T>(pub(super) &'a MpmcShared<T>);

impl<T> Clone for UntilClosed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for UntilClosed<'_, T> {}

impl<T> SharedEnd for UntilClosed<'_, T> {
    fn list(&self) -> &WaitList {
        &self.0.closed
    }

    fn is_ready(&self) -> bool {
        self.0.is_disconnected()
    }

    fn supply(&self) -> usize {
        // All are notified; none passes a notification on.
        0
    }
}

impl<T> MpmcShared<T> {
    /// A capacity of `None` is no bound. `meeting` makes a rendezvous, whose capacity is 0.
    ///
    /// Part by part, at its place: made elsewhere and copied, its words are loaded in larger pieces than they were stored
    /// in, for which the processor waits. That took a fifth of the life of a channel that is made and dropped.
    #[track_caller]
    pub(super) fn new(capacity: Option<usize>, meeting: Option<MakeMeeting<T>>) -> Arc<Self> {
        #[cfg(not(ysuite_loom))]
        {
            let shared = Arc::new(MaybeUninit::uninit());
            // SAFETY: it is new: nothing else uses it. All of it is made before it is shared.
            unsafe {
                Self::make(&mut *Arc::as_ptr(&shared).cast_mut(), capacity, meeting);
                shared.assume_init()
            }
        }
        #[cfg(ysuite_loom)]
        {
            let mut shared = MaybeUninit::uninit();
            Self::make(&mut shared, capacity, meeting);
            // SAFETY: as above.
            Arc::new(unsafe { shared.assume_init() })
        }
    }

    // MUTANT: Statistics only. Killed only by `a_rendezvous_counts_its_meetings` and
    // `a_message_that_makes_way_is_taken_out`.
    #[inline(always)]
    #[track_caller]
    fn make(place: &mut MaybeUninit<Self>, capacity: Option<usize>, meeting: Option<MakeMeeting<T>>) {
        let place = place.as_mut_ptr();
        let meter = Meter::new();
        // SAFETY: each is a field of a place that is this call's alone, and is written once. Only the first may panic, and
        //     nothing is there then.
        unsafe {
            (&raw mut (*place).flavour).write(Flavour::new(capacity, meeting, &meter));
            (*place).flavour.join(&meter);
            (&raw mut (*place).closed).write(WaitList::new());
            (&raw mut (*place).rare).write(WaitList::new());
            (&raw mut (*place).holders).write(Holders::new());
            (&raw mut (*place).writers).write(Ends::new(meter.for_room()));
            (&raw mut (*place).readers).write(Ends::new(meter));
        }
    }

    /// Counts the events of the channel.
    pub(super) fn meter(&self) -> &Meter {
        self.readers.list.meter()
    }

    // MUTANT: Statistics only. Killed only by `permits_are_counted_when_they_send` and
    // `the_mark_of_a_full_mpmc_channel_is_its_bound`.
    /// A sender has found no room, and does not wait.
    pub(super) fn refuse(&self) {
        self.meter().refused();
        self.flavour.sample();
    }

    /// Whether one side is disconnected, or the channel is closed.
    #[inline]
    pub(super) fn is_disconnected(&self) -> bool {
        self.flavour.is_closed()
    }

    pub(in crate::channel) fn readers(&self) -> Readers<'_, T> {
        WaitingSide(self)
    }

    /// One side or the other.
    pub(super) fn side<const ROOM: bool>(&self) -> WaitingSide<'_, T, ROOM> {
        WaitingSide(self)
    }

    pub(in crate::channel) fn writers(&self) -> Writers<'_, T> {
        WaitingSide(self)
    }

    /// Sends the message that is in `place` if there is room, and none is reserved (true). Otherwise it stays there, for
    /// [`offer`](Self::offer).
    #[inline]
    pub(super) fn push(&self, hint: &Hint, place: &mut Option<T>) -> bool {
        match self.flavour.claim_next(hint) {
            Some(claimed) => {
                claimed.fill_from(place);
                self.published(1);
                true
            }
            None => self.push_unbounded(place),
        }
    }

    /// As [`push`](Self::push), without a bound. With one the message stays in its place.
    #[inline]
    pub(super) fn push_unbounded(&self, place: &mut Option<T>) -> bool {
        let is_sent = self.flavour.push_unbounded(place);
        if is_sent {
            self.published(1);
        }
        is_sent
    }

    /// Sends the message that is in `place` if there is room.
    #[inline(never)]
    pub(super) fn offer(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        self.flavour.offer_from(place)?;
        self.published(1);
        Ok(())
    }

    // USER CODE: a receiver's waker, then `Drop` of the displaced message; the message is in the ring; re-entrance: any
    //     operation; panic: the displaced message is dropped, then the first panic propagates; test:
    //     tests/suite/mpmc/force.rs: a_waker_that_panics_leaves_the_message_sent_and_the_displaced_dropped
    /// Sends the message that is in `place`; where there is no room it replaces the oldest message, which is there then.
    pub(super) fn force(&self, place: &mut Option<T>) -> Result<(), Unforced> {
        let Forced { has_freed } = self.flavour.force(place)?;
        // User code: where a waker panics, the caller drops the displaced message.
        let mut panics = Panics::none();
        panics.catch(|| self.published(1));
        if has_freed {
            panics.catch(|| self.freed(1));
        }
        Ok(())
    }

    // MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
    /// After messages were published: wakes the receivers that wait for them.
    #[inline(always)]
    pub(super) fn published(&self, messages: usize) {
        if self.readers.list.published() {
            self.announce_messages(messages);
        }
    }

    // MUTANT: Speed only: an early exit. Each part of `announce_used` checks for itself.
    /// After a publication: whether [`published`](Self::published) has more to do than a check.
    #[inline(always)]
    pub(super) fn published_any(&self) -> bool {
        self.readers.list.published()
    }

    /// The receivers that wait, for a thread that has executed the fence of [`WaitList::attend`].
    pub(super) fn attended(&self) -> ListState {
        self.readers.list.attended()
    }

    // MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
    /// After room was made: wakes the senders that wait for it.
    #[inline(always)]
    pub(super) fn freed(&self, cells: usize) {
        if self.writers.list.published() {
            self.announce_room(cells);
        }
    }

    /// Sends the messages of a batch for which there is room. `None`: all receivers have disconnected.
    pub(super) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        let sent = self.flavour.push_many(staging)?;
        // MUTANT: Notifying of no message notifies no receiver.
        if sent != 0 {
            self.published(sent);
        }
        Some(sent)
    }

    /// Receives a message to `place`, which is empty, if there is one (true).
    #[inline(always)]
    pub(super) fn pop(&self, hint: &Hint, place: &mut Option<T>) -> bool {
        let Some(has_bound) = self.flavour.pop_at_once(hint, place) else { return false };
        if has_bound {
            self.popped();
        }
        true
    }

    // MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
    /// A message has been taken, of a queue with a bound, and a sender may wait for its room. A waker is user code; while
    /// unwinding, its panic goes no further.
    #[inline(always)]
    pub(super) fn popped(&self) {
        if self.writers.list.published() && self.is_room_awaited() {
            Panics::in_drop(|| notify(&self.writers.list, 1));
        }
    }

    /// Whether a message that has been taken may have left room that a sender waits for. Then call
    /// [`popped`](Self::popped).
    #[inline(always)]
    pub(super) fn popped_any(&self) -> bool {
        self.writers.list.published()
    }

    /// Receives the messages that are there, at most `most`. `None`: there is none.
    pub(super) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> Option<usize> {
        let taken = Some(self.flavour.pop_many(to, most)).filter(|&taken| taken != 0)?;
        self.freed(taken);
        Some(taken)
    }

    // MUTANT: In a race: a sender claims its cell before the close and fills it afterwards. Killed only by the models
    // `a_close_against_a_sender_in_the_middle_and_two_receivers_going_to_sleep` and
    // `the_last_receivers_end_against_sending`.
    #[cold]
    #[inline(never)]
    fn announce_messages(&self, messages: usize) {
        self.announce(self.readers.list.attend(), messages);
    }

    /// As [`announce_messages`](Self::announce_messages), where the list has been attended to.
    #[inline]
    pub(super) fn announce(&self, word: ListState, messages: usize) {
        if word.is_gone() {
            // The cells were claimed before the last receiver disconnected, and filled after that receiver had drained
            // the ring.
            self.flavour.drain();
        } else if word.is_armed() {
            if self.flavour.is_closed() {
                // The cells were claimed before the channel was closed. All receivers that wait do so for such cells,
                // and those that get no message must learn that there will be none. A receiver that has armed since the
                // close, and has checked before these cells were filled, is found with the close that it had seen:
                // `attend`.
                notify_all(&self.readers.list);
            } else {
                notify(&self.readers.list, messages);
            }
        }
    }

    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    #[cold]
    #[inline(never)]
    fn announce_room(&self, cells: usize) {
        if self.is_room_awaited() {
            notify(&self.writers.list, cells);
        }
    }

    // MUTANT: As of `announce_room`.
    #[cold]
    #[inline(never)]
    fn is_room_awaited(&self) -> bool {
        self.writers.list.attend().is_armed()
    }

    // USER CODE: wakers of both sides, of tasks that wait for the close, and of those that wait for permits; the ring
    //     is closed; re-entrance: any operation; panic: all others are woken, the channel is closed; test:
    //     tests/suite/mpmc/close.rs: wakers_that_panic_at_a_close_keep_no_thread_asleep_and_the_channel_closed
    /// Closes the channel: nothing more can be sent, and receivers get what was sent before. False: it had been closed.
    /// All are notified in either case: the thread that came first may have been preempted before it could notify them.
    pub(super) fn close(&self) -> bool {
        let mut is_first = false;
        match self.flavour.meeting() {
            Some(meeting) => {
                let mut panics = Panics::none();
                panics.catch(|| is_first = meeting.close());
                panics.catch(|| notify_all_of(&[&self.closed]));
            }
            None => {
                is_first = self.flavour.close();
                notify_all_of(&[&self.readers.list, &self.writers.list, &self.closed, &self.rare]);
            }
        }
        is_first
    }

    /// Wakes all that wait, without a reason.
    #[cfg(feature = "in-place")]
    pub(in crate::channel) fn wake_all(&self) {
        notify_all_of(&[&self.readers.list, &self.writers.list, &self.closed]);
    }

    // MUTANT: Killed only by `a_watcher_of_room_is_told_of_the_last_senders_end` and
    // `a_stream_of_a_rendezvous_is_not_terminated_before_what_was_given_back`.
    /// A sender is dropped.
    #[inline(never)]
    pub(super) fn remove_writer(this: &Arc<Self>) {
        // ORDERING: AcqRel: each sender releases what it has sent; the last one acquires that before it closes the
        //     ring.
        if !Self::is_alone(this) && this.writers.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            match this.flavour.meeting() {
                // It notifies those in its own lists, which are all.
                Some(meeting) => meeting.senders_are_gone(),
                None => {
                    this.flavour.close();
                    // No sender waits any more, but a select may watch for room.
                    notify_all_of(&[&this.readers.list, &this.writers.list]);
                }
            }
        }
    }

    // MUTANT: Speed only, where it is false: the long way ends the same.
    /// Whether a handle that is dropped is all that is left of the channel: then nobody waits for an end, and the messages
    /// end with the queue. Not for a channel whose numbers an observer may read later, or where a forgotten future has left
    /// something behind.
    fn is_alone(this: &Arc<Self>) -> bool {
        // The count is exact: another handle could only be made of this one, and what this one was made of had counted it
        // before.
        if COUNTING || Arc::strong_count(this) != 1 {
            return false;
        }
        // ORDERING: pairs with the Release by which each of the others has left the count: what it did in a rendezvous is
        //     seen below.
        fence(Ordering::Acquire);
        this.flavour.meeting().is_none_or(|meeting| meeting.is_empty())
    }

    // USER CODE: wakers as at a close, then messages' `Drop`; the receivers are counted out; re-entrance: any
    //     operation; panic: all are woken, all messages are dropped; test: tests/suite/mpmc/close.rs:
    //     the_last_receiver_tells_those_that_wait_for_the_end_whatever_panics
    // MUTANT: Killed only by `messages_given_back_end_with_the_last_receiver_also_where_one_panics` and
    // `an_observer_keeps_no_channel_open_and_no_message_alive`, and by the model
    // `the_last_receivers_end_against_sending`.
    /// A receiver is dropped.
    #[inline(never)]
    pub(super) fn remove_reader(this: &Arc<Self>) {
        // ORDERING: AcqRel: the last receiver counts what all have taken, by the head that they have moved. Every
        //     sender's message is either seen by the drain, or its sender finds the receivers disconnected: the
        //     barriers in `WaitList::go` and `WaitList::attend` alone ensure that.
        if !Self::is_alone(this) && this.readers.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            this.lose_readers();
        }
    }

    /// There is no receiver any more.
    fn lose_readers(&self) {
        let mut panics = Panics::none();
        // All receivers as well: none of them waits any more, but a select may watch for messages.
        panics.catch(|| {
            self.close();
        });
        if let Some(meeting) = self.flavour.meeting() {
            panics.catch(|| meeting.receivers_are_gone());
        }
        self.flavour.leave();
        // A sender that has claimed its cell is either seen by the drain, or finds GONE and drains the ring itself.
        self.readers.list.go();
        panics.catch(|| self.flavour.drain());
    }
}
