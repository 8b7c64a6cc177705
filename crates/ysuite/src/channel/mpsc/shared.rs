//! What the handles of an mpsc channel share: the lanes, which of them are raised, and how to wake the receiver.
//!
//! `connect`, `ready.raise`, `parker.wake`, `disconnect`, `forget`: senders, any thread, lock-free. The rest: the
//! receiver. A lane is either *active*: the receiver polls it, and its sender does nothing except writing. Or it is
//! *armed*: its passive word holds [`LANE`], and the sender whose publication takes that token raises the lane's id and
//! wakes the receiver. A new lane is armed from the start, so the receiver need not know of it before its first
//! message.
//!
//! While the channel is open only the receiver takes lanes out of their slots. In a rendezvous, where it never polls
//! them, each lane's sender does so on drop. When the receiver closes the channel or is dropped, it shuts it. Then it
//! races with senders that connect at that moment for the lanes in the slots. The thread that swaps a lane out ends it.

use core::marker::PhantomData;
use core::ops::Deref;
// For numbers that only have to differ, so not from `crate::sync`: a model need not explore it.
use core::sync::atomic::{AtomicU64 as Numbers, Ordering as Numbering};
use core::task::Waker;

use super::left::{LeftLanes, PLACES};
use crate::channel::closed::EndWatchers;
use crate::channel::rendezvous::{Outlined, OutlinedDrop, SharedMeetingOf};
use crate::channel::send::LeftLane;
use crate::foreign::Panics;
use crate::passive::Barrier;
use crate::queue::ypipe::{self, AtomicSlot, IdleReader, Shape, SlotClass, UntypedWriter, Writer};
use crate::queue::{FirstInPlace, LaneSet, MOST, SegmentedArray};
use crate::statistics::Meter;
use crate::sync::thread::yield_now;
use crate::sync::{Arc, AtomicU32, AtomicU64, AtomicUsize, MessagesOf, Ordering, fence};
use crate::wait::{Parker, WakeTarget};

/// The token of an armed lane.
pub(super) const LANE: u32 = 1;

/// In the count of senders: the receiver has disconnected, or has closed the channel. It is the sign, so that one
/// comparison checks for both senders and an open channel.
const SHUT: usize = 1 << (usize::BITS - 1);

/// How often a new sender yields to a receiver that is about to free an id, before it fails. It is limited, as the
/// receiver may be a thread that does not run while this one does.
const PATIENCE: usize = 64;

// REUSED: a channel's number in threads' tables is never reused: 64 bits; by construction: a counter that is only added
//     to
/// The next channel's number in the tables of threads.
static NUMBERS: Numbers = Numbers::new(1);

/// The lanes in the first segment of a table, after the first lane, and the maximal number of segments: enough for as
/// many lanes as ids.
const FIRST: usize = if cfg!(ysuite_loom) { crate::queue::WORD } else { 4 };
const SEGMENTS: usize = if cfg!(ysuite_loom) { 2 } else { 16 };
const _: () = assert!(MOST <= SegmentedArray::<u8, FIRST, SEGMENTS>::MOST);
/// The same of the table of senders that may wait, whose elements are larger.
const FIRST_SENDERS: usize = if cfg!(ysuite_loom) { crate::queue::WORD } else { 1 };
const SENDER_SEGMENTS: usize = if cfg!(ysuite_loom) { 2 } else { 18 };
const _: () = assert!(MOST <= SegmentedArray::<u8, FIRST_SENDERS, SENDER_SEGMENTS>::MOST);

// GROWS: `slots`, `senders`; bound: `MAX_SENDERS`, in segments, each twice the last; full: `TooManySenders`; freed with
//     the channel; the lanes themselves when their senders are dropped; cost: most senders at once; test:
//     tests/allocation/lanes.rs: what_most_senders_at_once_have_taken_is_kept_and_enough_for_as_many_again,
//     tests/suite/mpsc/crowds.rs: too_many_senders_are_a_clear_error
// GROWS: lanes of a mailbox; bound: `MAX_SENDERS`, one of them kept for notices of ends; full: `SendError::Full`, and
//     notices use the one that is kept; freed when its thread has ended and it is empty; cost: active lanes; test:
//     src/mailbox/inner.rs: an_end_is_told_where_there_are_as_many_lanes_as_there_can_be
// REUSED: the id of a lane; held by a sender that has taken a wake mode and not yet raised the id, and the wake target,
//     which the next sender gets; harmless: a raise only makes the receiver poll the lane that has the id now; a waker
//     is taken out before the lane is closed; test: tests/suite/mpsc/endings.rs:
//     a_sender_that_goes_lets_go_of_its_task_and_the_next_one_is_its_own, tests/suite/mpsc/crowds.rs: lanes_are_reused
// REUSED: the id of a lane in a mailbox; held by a sender that raises the id of a lane that has ended; harmless: the
//     receiver polls the new lane, or finds none; test: tests/allocation/mailboxes.rs:
//     threads_that_are_gone_leave_no_lanes
// REUSED: the id of a lane whose sender has closed it and lives; held by that sender; harmless: it forgets the id
//     before it is counted out, and never uses it again; attached to a set afterwards it claims one of its own, and
//     gives that back on drop; test: tests/suite/mpsc/closing.rs:
//     a_closed_senders_place_may_be_anothers_while_it_lives, tests/suite/mpsc/closing.rs:
//     a_closed_sender_that_was_in_a_set_gives_its_place_back
pub(in crate::channel) struct SharedLanes {
    /// The ids of lanes whose senders have raised them: each after a publication has taken the lane's token.
    pub(super) ready: LaneSet,
    /// How the receiver sleeps. Any number of senders wake it, after they have raised an id or when the last one
    /// disconnects. An inbox has one parker for all its queues.
    pub(super) parker: ChannelParker,
    /// The lanes by id.
    slots: FirstInPlace<AtomicSlot, FIRST, SEGMENTS>,
    /// How senders that wait for room are woken, by id of their lane. Without a bound only senders that were attached
    /// to a set have one.
    senders: FirstInPlace<WakeTarget, FIRST_SENDERS, SENDER_SEGMENTS>,
    #[cfg(ysuite_loom)]
    never_waits: WakeTarget,
    /// The number of senders, and [`SHUT`].
    connected: AtomicUsize,
    pub(super) end_watchers: EndWatchers,
    /// The maximal number of simultaneous lanes, and the number that may still be added.
    most: u32,
    spare: AtomicU32,
    /// Of all lanes.
    class: SlotClass,
    /// Whether a bound was requested.
    is_bounded: bool,
    /// Lanes that senders have left, for other senders.
    left: LeftLanes,
    /// The channel's number in the tables of threads, or 0 before it has one.
    number: AtomicU64,
    /// How many messages each lane may have, if that is bounded.
    most_messages: usize,
    pub(super) meter: Meter,
}

impl OutlinedDrop for SharedLanes {
    #[inline(never)]
    unsafe fn drop_outlined(value: *mut Self) {
        // SAFETY: by the caller.
        unsafe { core::ptr::drop_in_place(value) };
    }
}

/// The same, for messages of one type: that of all its lanes.
pub(in crate::channel) struct MpscShared<T> {
    lanes: Outlined<SharedLanes>,
    /// Of a rendezvous: with a bound of 0. It counts its senders itself and none in the lanes, which are closed from
    /// the start.
    pub(super) meeting: Option<SharedMeetingOf<T>>,
    /// The lanes own messages.
    messages: MessagesOf<T>,
}

impl<T> Deref for MpscShared<T> {
    type Target = SharedLanes;

    #[inline]
    fn deref(&self) -> &SharedLanes {
        &self.lanes
    }
}

/// The parker of a channel: in place, as small allocations are dear where there are many channels.
pub(in crate::channel) enum ChannelParker {
    Own(Parker),
    Shared(Arc<Parker>),
}

impl Deref for ChannelParker {
    type Target = Parker;

    fn deref(&self) -> &Parker {
        match self {
            Self::Own(parker) => parker,
            Self::Shared(parker) => parker,
        }
    }
}

/// A thread that has taken lanes out of their slots ends them: each with its id, and its reader. Most channels have one
/// lane, which takes no memory here.
pub(super) struct LanesTaken {
    first: Option<(usize, IdleReader)>,
    others: Vec<(usize, IdleReader)>,
}

impl LanesTaken {
    fn new() -> Self {
        Self { first: None, others: Vec::new() }
    }

    fn push(&mut self, lane: (usize, IdleReader)) {
        match &self.first {
            None => self.first = Some(lane),
            Some(_) => self.others.push(lane),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(usize, IdleReader)> {
        self.first.iter().chain(&self.others)
    }
}

impl<T> MpscShared<T> {
    /// `most`: the maximal number of simultaneous lanes, where one was requested.
    pub(super) fn new(bound: Option<usize>, most: Option<usize>, parker: ChannelParker, meter: Meter) -> Self {
        let lanes = SharedLanes::new(SlotClass::default(), bound, most, None, parker, meter);
        Self { lanes: Outlined::new(lanes), meeting: None, messages: PhantomData }
    }

    /// As [`new`](Self::new), with the lane of a first sender, whose id is 0, and which is counted. No other thread has
    /// the channel yet, so this needs no barrier and no exchange, each of which would take as long as an allocation.
    pub(super) fn with_first_lane(
        class: SlotClass,
        bound: Option<usize>,
        most: Option<usize>,
        parker: ChannelParker,
        meter: Meter,
        meeting: Option<fn(&Meter) -> SharedMeetingOf<T>>,
    ) -> (Self, Writer<T>) {
        let (lanes, writer) = SharedLanes::with_first_lane(ypipe::shape::<T>(), class, bound, most, parker, meter);
        let meeting = meeting.map(|new| new(&lanes.meter));
        if let Some(meeting) = &meeting {
            meeting.count_sender();
        }
        // SAFETY: all lanes are for messages of this type.
        (Self { lanes: Outlined::new(lanes), meeting, messages: PhantomData }, unsafe { Writer::typed(writer) })
    }

    /// See [`SharedLanes::connect`].
    pub(super) fn connect(&self) -> Option<(Writer<T>, Option<u32>)> {
        // SAFETY: all lanes are for messages of this type.
        self.lanes.connect(ypipe::shape::<T>()).map(|(writer, id)| (unsafe { Writer::typed(writer) }, id))
    }

    /// See [`SharedLanes::orphaned_lane`].
    pub(super) fn orphaned_lane(&self) -> Writer<T> {
        // SAFETY: the lane is for messages of this type.
        unsafe { Writer::typed(self.lanes.orphaned_lane(ypipe::shape::<T>())) }
    }

    /// Whether no message that is sent will be received.
    pub(super) fn is_over(&self) -> bool {
        // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
        // `an_mpsc_close_against_a_new_sender`.
        self.is_shut() || self.meeting.as_ref().is_some_and(|meeting| meeting.is_closed())
    }

    /// Another sender.
    pub(super) fn count(&self) {
        if let Some(meeting) = &self.meeting {
            return meeting.count_sender();
        }
        // ORDERING: Relaxed; a new sender is made from a sender that is counted, or before any other thread has the
        //     channel, or by an inbox, to which the count means nothing. So the count cannot fall to 0 meanwhile.
        self.connected.fetch_add(1, Ordering::Relaxed);
    }

    /// Another sender, if there is one and the channel is not shut (true).
    pub(super) fn count_again(&self) -> bool {
        if let Some(meeting) = &self.meeting {
            return meeting.count_again();
        }
        // ORDERING: Relaxed; the count alone decides, by its own order of changes. No sender goes unnoticed between the
        //     check and the exchange.
        let again = |connected| (connected != 0 && connected & SHUT == 0).then_some(connected + 1);
        self.connected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, again).is_ok()
    }

    /// The number of senders.
    pub(super) fn sender_count(&self) -> usize {
        if let Some(meeting) = &self.meeting {
            return meeting.sender_count();
        }
        // ORDERING: Relaxed; a number for information only.
        self.connected.load(Ordering::Relaxed) & !SHUT
    }

    // MUTANT: Killed only by `the_last_shared_sender_wakes_a_receiver_that_waits` and
    // `weak_senders_do_not_keep_a_channel_open`, and by the model `the_last_senders_end_in_an_active_lane`.
    /// A sender is dropped. True: it was the last, and the receiver waits for that.
    pub(super) fn disconnect(&self) -> bool {
        if let Some(meeting) = &self.meeting {
            // This wakes the receiver itself.
            meeting.uncount_sender();
            return false;
        }
        // ORDERING: Release pairs with the Acquire in `is_disconnected`: a receiver that finds all senders disconnected
        //     sees what this sender has published and raised. Read-modify-writes continue each other's release
        //     sequences.
        self.connected.fetch_sub(1, Ordering::Release) == 1
    }
}

impl SharedLanes {
    /// `first`: the lane of a first sender, whose id is 0, and which is counted.
    fn new(
        class: SlotClass,
        bound: Option<usize>,
        most: Option<usize>,
        first: Option<IdleReader>,
        parker: ChannelParker,
        meter: Meter,
    ) -> Self {
        let (most, is_first) = (most.unwrap_or(MOST).min(MOST), first.is_some());
        Self {
            ready: if is_first { LaneSet::with_first_claimed() } else { LaneSet::new() },
            parker,
            slots: FirstInPlace::new(first.map_or_else(AtomicSlot::empty, AtomicSlot::holding)),
            senders: FirstInPlace::new(WakeTarget::metered(meter.for_room())),
            #[cfg(ysuite_loom)]
            never_waits: WakeTarget::default(),
            connected: AtomicUsize::new(usize::from(is_first && bound != Some(0))),
            end_watchers: EndWatchers::none(),
            most: most as u32,
            spare: AtomicU32::new((most - usize::from(is_first)) as u32),
            class,
            is_bounded: bound.is_some(),
            left: LeftLanes::new(),
            number: AtomicU64::new(0),
            most_messages: bound.unwrap_or(0),
            meter,
        }
    }

    /// How many messages each lane may have; `None` without a bound.
    pub(super) fn bound(&self) -> Option<usize> {
        self.is_bounded.then_some(self.most_messages)
    }

    fn with_first_lane(
        shape: &'static Shape,
        class: SlotClass,
        bound: Option<usize>,
        most: Option<usize>,
        parker: ChannelParker,
        meter: Meter,
    ) -> (Self, UntypedWriter) {
        let (writer, idle) = ypipe::lane(shape.of_class(class), bound, LANE, &meter);
        (Self::new(class, bound, most, Some(idle), parker, meter), writer)
    }

    // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
    // `an_mpsc_close_against_a_new_sender`.
    /// The lane of a dropped sender that has sent nothing, and its id. Or a new lane. Or, where no lane is free, the
    /// lane of any dropped sender. Where the channel is shut there is no id, and the writer finds its queue without a
    /// reader. `None`: too many senders.
    fn connect(&self, shape: &'static Shape) -> Option<(UntypedWriter, Option<u32>)> {
        if self.is_shut() {
            return Some((self.orphaned_lane(shape), None));
        }
        if let Some(lane) = self.take_unused() {
            return Some(lane);
        }
        match self.claim() {
            Some(id) => Some(self.new_lane(shape, id)),
            None => self.connect_further(shape),
        }
    }

    /// An unused lane goes from one sender to the next as if that were the same. So what the receiver does meanwhile
    /// does not matter: a lane that was in its slot when the channel was shut is ended there.
    #[inline]
    fn take_unused(&self) -> Option<(UntypedWriter, Option<u32>)> {
        self.left.take_unused().map(|(id, writer)| (writer, Some(id)))
    }

    // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
    // `an_mpsc_close_against_a_new_sender`.
    /// No lane is free: continues with the lane of a dropped sender.
    #[cold]
    fn connect_further(&self, shape: &'static Shape) -> Option<(UntypedWriter, Option<u32>)> {
        let mut has_ended = false;
        for _ in 0..PATIENCE {
            if let Some((id, mut writer)) = self.left.take() {
                if writer.reopen() {
                    return Some((writer, Some(id)));
                }
                has_ended = true;
            }
            if self.is_shut() {
                return Some((self.orphaned_lane(shape), None));
            }
            if let Some(lane) = self.take_unused() {
                return Some(lane);
            }
            if let Some(id) = self.claim() {
                return Some(self.new_lane(shape, id));
            }
            if !has_ended {
                break;
            }
            // The receiver has ended a lane that was left here, and is about to free its id: a few instructions.
            yield_now();
        }
        None
    }

    // MUTANT: Memory only, and a race of a new sender with the close. Killed only by the model
    // `an_mpsc_close_against_a_new_sender`.
    fn new_lane(&self, shape: &'static Shape, id: usize) -> (UntypedWriter, Option<u32>) {
        let (writer, idle) = ypipe::lane(shape.of_class(self.class), self.bound(), LANE, &self.meter);
        if self.is_bounded {
            self.make_target(id as u32);
        }
        let slot = self.slots.get_or_make(id, AtomicSlot::empty);
        slot.put(idle);
        // ORDERING: pairs with the fence in `shut`: either the receiver finds the lane in this slot, or the check below
        //     finds the channel shut.
        fence(Ordering::SeqCst);
        if self.is_shut() {
            if let Some(idle) = slot.take() {
                idle.go().pass();
            }
        }
        (writer, Some(id as u32))
    }

    // MUTANT: Lanes never outnumber ids, so a claim always finds one.
    /// An id for a new lane, or for a sender without one.
    pub(super) fn claim(&self) -> Option<usize> {
        // ORDERING: Relaxed; a count, which guards no data.
        self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spare| spare.checked_sub(1)).ok()?;
        let id = self.ready.claim();
        if id.is_none() {
            self.unclaim();
        }
        id
    }

    /// There is one lane less.
    fn unclaim(&self) {
        // ORDERING: Relaxed; a count, which guards no data.
        self.spare.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether lanes have become few, so that a dropped sender leaves its lane to others.
    #[inline]
    pub(super) fn keeps_lanes(&self) -> bool {
        // ORDERING: Relaxed; a hint, which guards no data.
        self.most as usize <= PLACES || self.spare.load(Ordering::Relaxed) <= self.most / 2
    }

    // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
    // `an_mpsc_close_against_a_new_sender`.
    /// A dropped sender, which had this lane, leaves its writer to others. The caller must drop what is in `lane`
    /// afterwards.
    pub(super) fn leave_lane(&self, lane: &mut Option<LeftLane>) {
        // Where it cannot be left it may have messages to take back.
        if self.may_leave(lane) {
            self.left.leave(lane);
        }
    }

    /// Whether the receiver may still find a lane.
    fn may_leave(&self, lane: &Option<LeftLane>) -> bool {
        let Some((_, writer)) = lane else { return false };
        !self.is_shut() && !writer.reader_passive().is_gone() && !writer.reader_passive().is_cut()
    }

    // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
    // `an_mpsc_close_against_a_new_sender`.
    /// A dropped sender that has sent nothing leaves its writer, which is open, to the next sender (true): the caller
    /// must drop what is in `lane` then. False: the writer is still there, and no other sender gets it.
    pub(super) fn leave_unused(&self, lane: &mut Option<LeftLane>) -> bool {
        if !self.may_leave(lane) {
            return false;
        }
        self.left.leave_unused(lane);
        lane.as_ref().is_none_or(|(_, back)| back.has_ended())
    }

    // MUTANT: Numbers only have to differ. The exchange that follows finds an existing number.
    /// The channel's number in the tables of threads. It is unique among all channels.
    #[inline]
    pub(super) fn number(&self) -> u64 {
        // ORDERING: Relaxed throughout; numbers guard no data.
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            return number;
        }
        let fresh = NUMBERS.fetch_add(1, Numbering::Relaxed);
        match self.number.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(number) => number,
        }
    }

    // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
    // `an_mpsc_close_against_a_new_sender`.
    /// A lane into which nothing can be sent: it has no reader and never had one.
    fn orphaned_lane(&self, shape: &'static Shape) -> UntypedWriter {
        let (writer, idle) = ypipe::lane(shape.of_class(self.class), self.bound(), 0, &Meter::default());
        idle.go().pass();
        writer
    }

    /// Whether the receiver has disconnected or has closed the channel.
    #[inline]
    pub(super) fn is_shut(&self) -> bool {
        // ORDERING: Relaxed; nothing of the receiver's is accessed because of it. Where it must not be missed, fences
        //     in `connect` and `shut` order it.
        self.connected.load(Ordering::Relaxed) & SHUT != 0
    }

    /// Whether all senders have disconnected, or the channel is shut.
    #[inline]
    pub(super) fn is_disconnected(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `disconnect`: what the senders have published and raised is
        //     visible.
        self.connected.load(Ordering::Acquire) as isize <= 0
    }

    /// How the sender of lane `id` is woken.
    #[inline]
    pub(super) fn sender(&self, id: Option<u32>) -> &WakeTarget {
        id.and_then(|id| self.senders.get(id as usize)).unwrap_or_else(|| self.never_waits())
    }

    /// The target of all senders that never wait: those without a bound, and those that connect after the receiver has
    /// disconnected. Nothing is ever registered there, so all channels have the same.
    #[inline]
    fn never_waits(&self) -> &WakeTarget {
        #[cfg(not(ysuite_loom))]
        {
            static NEVER_WAITS: WakeTarget = WakeTarget::unused();
            &NEVER_WAITS
        }
        #[cfg(ysuite_loom)]
        &self.never_waits
    }

    /// From now on the sender with this id has a target of its own.
    pub(super) fn make_target(&self, id: u32) {
        self.senders.get_or_make(id as usize, || WakeTarget::metered(self.meter.for_room()));
    }

    /// The sender of lane `id` is dropped: takes its waker out. The caller drops the waker last: its drop is user code.
    #[inline]
    pub(super) fn forget(&self, id: u32) -> Option<Waker> {
        self.senders.get(id as usize).and_then(|sender| sender.task.take())
    }

    /// Receiver: accesses lane `id`.
    ///
    /// # Safety
    /// Only the receiver may call this, before it shuts the channel, and `look` must not finish the lane.
    pub(super) unsafe fn look<R>(&self, id: usize, look: impl FnOnce(&IdleReader) -> R) -> Option<R> {
        // SAFETY: before the channel is shut only the receiver takes lanes out, in `finish`; by the contract neither is
        //     done now. In a rendezvous their senders take them out, and there this is never called: no lane is raised.
        self.slots.get(id).and_then(|slot| unsafe { slot.look(look) })
    }

    /// Receiver: lane `id` is closed and empty, and its reader is idle. Frees its memory and its id. In a rendezvous
    /// the sender of the lane does this on drop. No lane is raised there, so the receiver polls none before it shuts
    /// the channel.
    pub(super) fn finish(&self, id: usize) {
        drop(self.slots.get(id).and_then(AtomicSlot::take));
        self.give_back(id);
    }

    /// Frees an id that has no lane, or no longer has one. Called by the owner of the id.
    pub(super) fn give_back(&self, id: usize) {
        self.ready.release(id);
        // MUTANT: Lanes never outnumber ids, so a claim always finds one.
        self.unclaim();
    }

    // MUTANT: Counts past the requested limit; callers use only the limit.
    /// Receiver: the number of messages in lanes that are raised and not active. Stops counting as soon as it reaches
    /// `enough`. Other lanes have no messages. `is_active` returns whether the lane of an id is active.
    ///
    /// # Safety
    /// Only the receiver may call this, and before it shuts the channel.
    pub(super) unsafe fn len_up_to(&self, enough: usize, is_active: &dyn Fn(usize) -> bool) -> usize {
        let mut length = 0;
        self.ready.visit(&mut |id| {
            if !is_active(id) && length < enough {
                // SAFETY: by the caller the channel is not shut. So only the receiver takes lanes out, and it alone
                // wakes their readers; this is the receiver, and it does neither here.
                length += unsafe { self.look(id, |idle| idle.len_up_to(enough)) }.unwrap_or(0);
            }
            length < enough
        });
        length
    }

    /// Receiver: whether any lane that is raised and not active has `bound` messages.
    ///
    /// # Safety
    /// As [`len_up_to`](Self::len_up_to).
    pub(super) unsafe fn has_full_lane(&self, bound: usize, is_active: &dyn Fn(usize) -> bool) -> bool {
        let mut is_any_full = false;
        self.ready.visit(&mut |id| {
            // SAFETY: by the caller the channel is not shut. So only the receiver takes lanes out, and it alone wakes
            // their readers; this is the receiver, and it does neither here.
            let is_full = || unsafe { self.look(id, |idle| idle.len_up_to(bound) >= bound) } == Some(true);
            is_any_full = !is_active(id) && is_full();
            !is_any_full
        });
        is_any_full
    }

    /// Receiver: from now on no sender connects. Takes all lanes out of their slots, and the caller ends them.
    pub(super) fn shut(&self) -> LanesTaken {
        // ORDERING: Relaxed; the fence below orders it against `connect`.
        self.connected.fetch_or(SHUT, Ordering::Relaxed);
        // MUTANT: In a race: a sender connects while the receiver closes. Killed only by the model
        // `an_mpsc_close_against_a_new_sender`.
        // ORDERING: pairs with the fence in `connect`: either the new sender finds the channel shut, or the check below
        //     finds its lane.
        fence(Ordering::SeqCst);
        let mut lanes = LanesTaken::new();
        for (id, slot) in self.slots.iter() {
            if let Some(idle) = slot.take() {
                lanes.push((id, idle));
            }
        }
        lanes
    }

    // MUTANT: A wake without a mode does nothing. Killed only by `tasks_wait_for_the_receivers_end`.
    /// Receiver: has ended these lanes, in which nothing can be sent any more. Wakes the senders that wait for room,
    /// and all that wait for the disconnection. Where a waker panics, the others are woken before the panic continues.
    pub(super) fn tell(&self, lanes: &LanesTaken) {
        // All tokens are taken before the first waker, which is user code.
        let mut waiting = Vec::new();
        for (id, idle) in lanes.iter() {
            let tokens = idle.released();
            if tokens != 0 {
                waiting.push((*id, idle, tokens));
            }
        }
        let mut panics = Panics::none();
        for (id, idle, tokens) in waiting {
            panics.catch(|| self.sender(Some(id as u32)).wake(idle.writer_passive(), tokens));
        }
        panics.catch(|| self.end_watchers.tell());
    }

    // USER CODE: the waker of each waiting sender's task, then messages' `Drop`, lane by lane; all lanes have left
    //     before the first waker; re-entrance: may use senders, and connect; panic: continues with all others, then
    //     propagates; test: tests/suite/mpsc/endings.rs: a_waker_that_panics_does_not_keep_the_others_from_being_woken,
    //     tests/suite/mpsc/endings.rs: a_panicking_drop_in_one_lane_leaves_the_others_in_order
    /// Receiver: is dropped, after all readers are idle. From now on every send fails. Wakes all that wait for room or
    /// for this, and drops all messages. Where a waker or a message panics, all others are woken or dropped before the
    /// panic continues.
    pub(super) fn abandon(&self) {
        let lanes = self.shut();
        let mut barrier = Barrier::none();
        for (_, idle) in lanes.iter() {
            barrier = barrier.and(idle.go());
        }
        barrier.pass();
        let mut panics = Panics::none();
        panics.catch(|| self.tell(&lanes));
        loop {
            let mut lane = self.left.take_unused();
            if lane.is_none() {
                lane = self.left.take();
            }
            if lane.is_none() {
                break;
            }
            panics.catch(|| lane = None);
        }
        // The messages last: no panic of theirs may keep a sender asleep.
        for (_, idle) in lanes.iter() {
            panics.catch(|| idle.dispose());
        }
    }
}
