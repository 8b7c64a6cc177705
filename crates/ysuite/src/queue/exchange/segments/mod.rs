//! The unbounded queue: positions in segments of some thousand slots, which are made, retired and reused. Any thread;
//! lock-free; only the allocator can make it wait.
//!
//! A position permanently means one segment and one slot there: positions have 63 bits and never wrap. Writers claim
//! the next one by a compare-and-swap of the tail, once they have its segment. So a claim needs nothing that could fail
//! or take long: one move of the message, and a store of the slot's flag. Readers claim positions whose flags say that
//! they are written, by a compare-and-swap of the head, and *mark* the slot when they have read it.
//!
//! Flags and marks are the segment's lap, so no thread ever clears them. The memory of a position belongs to its
//! segment from before the first writer claims it until the last reader has marked its slot. A thread with a stale
//! position may load a flag of a segment that has been reused, or given back. Then its claim fails, because the head
//! has moved on, and the head never returns to that position.
//!
//! Cannot: go past a position whose writer has not finished with it. There a reader finds no message, as in the
//! [`Ring`](super::Ring).
//!
//! Sources: segments of a linked list with an index in each, and the next segment made ahead, are crossbeam's
//! `SegQueue` and Yang and Mellor-Crummey's "A wait-free queue as fast as fetch-and-add" (2016). Segments are reused,
//! and recognised by numbers that never repeat. This replaces reclamation: it is the sequence lock's argument.

mod chain;
mod counts;
mod directory;
mod layout;
#[cfg(all(test, ysuite_loom))]
mod models;
mod segment;

use core::mem;
use core::ptr;

use self::chain::{Chain, Walk};
use self::layout::{Extent, Flag, MessageSlot, Place, SegmentLayout, SegmentMemory};
use self::segment::Segment;
use super::counts::CountedEnds;
use super::ring::Hint;
use super::{Leaving, Staging};
use crate::foreign::{Lent, Panics};
use crate::os;
#[cfg(not(ysuite_loom))]
use crate::queue::Apart;
use crate::queue::FarApart;
#[cfg(not(ysuite_loom))]
use crate::statistics::COUNTING;
use crate::statistics::{Observed, QueueTally};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU64, Ordering, put, spin_loop, window};

// REUSED: position and number of a segment are never reused: 63 bits, which never wrap; by construction
/// A flag in the writers' position: no position can be claimed any more.
const CLOSED: u64 = 1 << 63;
/// How long a thread that has lost a race for a position backs off, in pauses. See the ring's.
const AWAY: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 16 };

/// In this order: what is read for every message, and hardly changes, then what is used once for a segment, and then the
/// positions. So they share no line with the first.
#[repr(C)]
pub(crate) struct Segments<T> {
    /// The same as `CLOSED` in the tail, in a line that readers may load without disturbing writers.
    closed: AtomicBool,
    chain: Chain<T>,
    pub(crate) ends: Observed<SegmentsEnds>,
}

#[cfg(not(ysuite_loom))]
const _: () = {
    let hot = core::mem::offset_of!(Segments<u8>, chain) + Chain::<u8>::RARE;
    // Where they are counted, the positions are elsewhere.
    assert!(COUNTING || core::mem::offset_of!(Segments<u8>, ends) >= hot + size_of::<Apart>());
};

// SAFETY: the queue owns its messages, and sending it sends them: `T: Send` is enough.
unsafe impl<T: Send> Send for Segments<T> {}
// SAFETY: messages are handed over, never shared: only the claimant touches a slot, and the Release stores of flags and
// marks against the Acquire loads of the next claimants order them.
unsafe impl<T: Send> Sync for Segments<T> {}

/// A slot that a writer or reader has claimed, to be filled or emptied at once: readers cannot go past it, and its segment
/// stays.
#[must_use = "a slot that is never used ends the queue"]
pub(crate) struct ClaimedSlot<'a, T> {
    queue: &'a Segments<T>,
    segment: &'a Segment,
    place: Place<T>,
    /// Of a writer: the position that it has claimed.
    tail: u64,
}

impl<T> ClaimedSlot<'_, T> {
    #[inline]
    pub(crate) fn fill(self, message: T) {
        window();
        let memory = self.segment.memory::<T>();
        memory.prefetch(self.place);
        write(memory.slot(self.place), message);
        self.filled();
    }

    /// As [`fill`](Self::fill), with the message that is in `place`.
    #[inline]
    pub(crate) fn fill_from(self, place: &mut Option<T>) {
        window();
        let memory = self.segment.memory::<T>();
        memory.prefetch(self.place);
        memory.slot(self.place).with_mut(|slot| {
            // SAFETY: as in `write`.
            unsafe { place.move_to(slot.cast::<T>()) };
        });
        self.filled();
    }

    /// As [`fill_from`](Self::fill_from).
    ///
    /// # Safety
    /// As of [`Lent::leave_to`].
    #[inline(always)]
    pub(crate) unsafe fn fill_leaving(self, place: &mut Option<T>) {
        window();
        let memory = self.segment.memory::<T>();
        memory.prefetch(self.place);
        memory.slot(self.place).with_mut(|slot| {
            // SAFETY: as in `write`, and by the caller.
            unsafe { place.leave_to(slot.cast::<T>()) };
        });
        self.filled();
    }

    #[inline(always)]
    fn filled(self) {
        self.queue.filled(self.segment, self.segment.lap(), self.place);
        self.queue.ends.look_now_and_then(self.tail, self.tail + 1);
    }

    #[inline]
    pub(crate) fn take(self) -> T {
        let message = read(self.slot());
        self.emptied();
        message
    }

    /// Where the message is, to be read once. Then the slot is [emptied](Self::emptied).
    #[inline(always)]
    pub(crate) fn slot(&self) -> &MessageSlot<T> {
        self.segment.memory::<T>().slot(self.place)
    }

    /// The message has been read.
    #[inline(always)]
    pub(crate) fn emptied(self) {
        Segments::mark(self.segment, self.segment.lap(), self.place);
        self.queue.pass(self.place);
    }

    /// As [`ClaimedMessage::take_to`](super::ring::ClaimedMessage::take_to).
    #[inline]
    pub(crate) fn take_to(self, place: &mut Option<T>) {
        *place = Some(self.take());
    }
}

/// How far the two sides are. Observers load these words directly.
#[repr(C)]
pub(crate) struct SegmentsEnds {
    /// The position of the next message to be read. Moved by readers.
    head: Frontier,
    between: FarApart,
    /// The position of the next message to be written, and `CLOSED`. Moved by writers.
    tail: Frontier,
    /// Its number is the position of the first message ever.
    tally: QueueTally,
}

/// The position of one side.
struct Frontier {
    position: AtomicU64,
    /// A segment that this side was in lately; null at first. A hint: the number of the segment shows whether it is the
    /// right one.
    segment: AtomicPtr<Segment>,
}

impl Frontier {
    fn new(position: u64) -> Self {
        Self { position: AtomicU64::new(position), segment: AtomicPtr::new(ptr::null_mut()) }
    }

    // MUTANT: Speed only: the search for the segment begins further back in the chain.
    #[inline(always)]
    fn remembered(&self) -> Option<&Segment> {
        // ORDERING: Acquire pairs with the Release in `remember`: the segment has been made.
        // SAFETY: null, or a segment of this queue, which lives as long as the queue.
        unsafe { self.segment.load(Ordering::Acquire).as_ref() }
    }

    // MUTANT: Speed only: the segment is found along the chain.
    /// The segment of that number, if it is the one remembered.
    #[inline(always)]
    fn segment(&self, number: u64) -> Option<&Segment> {
        self.remembered().filter(|segment| segment.has(number))
    }

    // MUTANT: Speed only: the search for the segment begins further back in the chain.
    fn remember(&self, segment: &Segment) {
        // ORDERING: Release pairs with the Acquire in `remembered`.
        self.segment.store(ptr::from_ref(segment).cast_mut(), Ordering::Release);
    }
}

impl<T> Segments<T> {
    /// # Panics
    /// Where a message is too large for the address space.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let _ = SegmentLayout::<T>::layout(Extent::Whole);
        let ends = SegmentsEnds {
            head: Frontier::new(SegmentLayout::<T>::START),
            between: FarApart::new(),
            tail: Frontier::new(SegmentLayout::<T>::START),
            tally: QueueTally::new(SegmentLayout::<T>::START),
        };
        Self { closed: AtomicBool::new(false), chain: Chain::new(), ends: Observed::new(ends) }
    }

    // MUTANT: Speed only: the search for the segment begins further back in the chain.
    /// The segment that is written now. `None`: the tail has moved on to another.
    #[cold]
    #[inline(never)]
    fn find_to_write(&self, number: u64) -> Option<&Segment> {
        loop {
            match self.chain.find(self.ends.tail.remembered(), number) {
                Walk::Found(segment) => {
                    segment.begin::<T>();
                    window();
                    self.ends.tail.remember(segment);
                    return Some(segment);
                }
                Walk::End(link, missing) => {
                    assert!(self.chain.extend(link, missing), "a channel with too many messages");
                }
                Walk::Past => return None,
            }
        }
    }

    // MUTANT: Speed only: the search for the segment begins further back in the chain.
    /// The segment that is read now. `None`: there is none yet, so the queue is empty, or the head has moved on to
    /// another.
    #[cold]
    #[inline(never)]
    fn find_to_read(&self, number: u64) -> Option<&Segment> {
        if !self.chain.has_begun() {
            return None;
        }
        match self.chain.find(self.ends.head.remembered(), number) {
            Walk::Found(segment) => {
                window();
                self.ends.head.remember(segment);
                Some(segment)
            }
            Walk::End(..) | Walk::Past => None,
        }
    }

    #[inline(always)]
    fn segment_to_write(&self, number: u64) -> Option<&Segment> {
        self.ends.tail.segment(number).or_else(|| self.find_to_write(number))
    }

    #[inline(always)]
    fn segment_to_read(&self, number: u64) -> Option<&Segment> {
        self.ends.head.segment(number).or_else(|| self.find_to_read(number))
    }

    // USER CODE: the allocator: for a segment here, and in `pop_many` for the caller's vector; nothing is claimed yet;
    //     re-entrance: other threads may make the same segment, then one of the two is kept for later; panic: the
    //     message is dropped with the call, or nothing was taken; by construction: a claim is made when all that it
    //     needs is there
    // MUTANT: In a race: the loser of a race goes on as if it had won. Killed only by the model
    // `two_senders_need_the_next_segment`.
    /// Claims the slot after all others, which the caller fills at once. `None`: the queue is closed. Allocates where a
    /// segment is needed and none is kept.
    ///
    /// # Panics
    /// If there are too many segments; nothing has been claimed then.
    #[inline]
    pub(crate) fn claim_next(&self) -> Option<ClaimedSlot<'_, T>> {
        // ORDERING: Acquire, here and of the exchange's failure, pairs with the Release of `close`: a sender that is
        // refused sees what came before. A thread that finds a position needs nothing: the exchange and the segment's
        // number decide.
        let mut tail = self.ends.tail.position.load(Ordering::Acquire);
        loop {
            if tail & CLOSED != 0 {
                self.tell_closed();
                return None;
            }
            let place = Place::<T>::of(tail);
            let Some(segment) = self.segment_to_write(place.number) else {
                // ORDERING: Acquire as above.
                tail = self.ends.tail.position.load(Ordering::Acquire);
                continue;
            };
            window();
            let next = tail + 1;
            // ORDERING: Relaxed on success; a read-modify-write has one winner. What the last reader of the slot did is
            // ordered by the segment's number. Where the exchange succeeds the tail was the same all the time, so the
            // segment found is the one that has this number.
            match self.ends.tail.position.compare_exchange_weak(tail, next, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => {
                    window();
                    return Some(ClaimedSlot { queue: self, segment, place, tail });
                }
                Err(found) => {
                    look_away();
                    tail = found;
                }
            }
        }
    }

    /// Writes the message that is in `place` after all others. False, with the message in its place: the queue is
    /// closed. As [`claim_next`](Self::claim_next).
    pub(crate) fn push_from(&self, place: &mut Option<T>) -> bool {
        match self.claim_next() {
            Some(claimed) => {
                claimed.fill_from(place);
                true
            }
            None => false,
        }
    }

    /// Puts a message into a claimed slot. `lap`: the segment's, which stays while a slot of it is claimed.
    #[cfg(all(test, not(ysuite_loom)))]
    fn fill(&self, segment: &Segment, lap: u8, place: Place<T>, message: T) {
        write(segment.memory::<T>().slot(place), message);
        self.filled(segment, lap, place);
    }

    // MUTANT: Speed only: who makes the next segment.
    /// A message was put into a claimed slot.
    #[inline(always)]
    fn filled(&self, segment: &Segment, lap: u8, place: Place<T>) {
        // ORDERING: Release pairs with the Acquire load of the flag in `pop` and `written`: the message is written.
        segment.memory::<T>().flag(place).store(lap, Ordering::Release);
        if place.begins_half() {
            self.go_ahead(segment, place.number, place.is_first());
        }
    }

    /// Gives back the memory that is kept for later messages.
    pub(crate) fn shrink(&self) {
        self.chain.shrink();
    }

    /// A reader is about to sleep: see [`Chain::calm`].
    #[inline]
    pub(crate) fn calm(&self) {
        // ORDERING: Relaxed; as in `Chain::calm`.
        self.chain.calm(self.ends.head.position.load(Ordering::Relaxed));
    }

    // MUTANT: Speed only: populating pages is a hint.
    /// Half a segment begins, and its first message has been published. At the first half the segment's pages are put in
    /// place, as it will soon be full; except of a queue's second segment, which may be one that has few messages ever.
    /// At the second half the next segment is made. If that fails, the thread that needs it will find out: here a message
    /// has been published, and its receiver is still to be woken.
    #[cold]
    #[inline(never)]
    fn go_ahead(&self, segment: &Segment, number: u64, is_first: bool) {
        if !is_first || SegmentLayout::<T>::HALF == 0 {
            self.chain.extend_behind(segment, number);
        }
        if is_first && number > 1 && segment.warm_up() {
            // SAFETY: it is not the first segment, so a whole one.
            unsafe { segment.memory::<T>().populate() };
        }
    }

    /// Claims the oldest message, if it is written. The caller takes it at once. `hint`: of a handle of this queue, which
    /// learns by it whether it is in a stream.
    #[inline(always)]
    pub(crate) fn claim_oldest(&self, hint: &Hint) -> Option<ClaimedSlot<'_, T>> {
        self.pop_by(|segment, place, next| {
            hint.keep(next);
            ClaimedSlot { queue: self, segment, place, tail: 0 }
        })
    }

    // MUTANT: In a race: the segment is retired during the search. Killed only by the model
    // `a_reader_whose_segment_is_retired_meanwhile_takes_what_is_behind_it`.
    /// Claims the oldest message, if it is written, and empties its slot by `empty`, which also marks it; see
    /// [`empty`](Self::empty).
    #[inline(always)]
    fn pop_by<'a, R>(&'a self, empty: impl FnOnce(&'a Segment, Place<T>, u64) -> R) -> Option<R> {
        // ORDERING: Acquire, here and of the exchange's failure: the load of the flag does not come before this one.
        let mut head = self.ends.head.position.load(Ordering::Acquire);
        loop {
            let place = Place::<T>::of(head);
            if let Some(segment) = self.segment_to_read(place.number) {
                // ORDERING: Acquire pairs with the Release store in `fill`: the message is visible. And the second load
                // of the head does not come before this one.
                if segment.memory::<T>().flag(place).load(Ordering::Acquire) == segment.lap() {
                    window();
                    let next = head + 1;
                    // ORDERING: Release on success pairs with the Acquire loads of the head: a thread that finds this
                    // message gone sees what this thread has seen sent. A read-modify-write has one winner, which has
                    // acquired the message by its flag. Where it succeeds the head was the same all the time, so the
                    // flag was that of this position.
                    match self.ends.head.position.compare_exchange_weak(
                        head,
                        next,
                        Ordering::Release,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => {
                            return Some(empty(segment, place, next));
                        }
                        Err(found) => {
                            look_away();
                            head = found;
                        }
                    }
                    continue;
                }
            }
            window();
            // ORDERING: Acquire as above.
            let now = self.ends.head.position.load(Ordering::Acquire);
            if now == head {
                // While the head was here the message was not.
                return None;
            }
            head = now;
        }
    }

    /// Takes the message out of a claimed slot, and marks it. `lap`: the segment's.
    #[cfg(all(test, not(ysuite_loom)))]
    fn empty(segment: &Segment, lap: u8, place: Place<T>) -> T {
        let message = read(segment.memory::<T>().slot(place));
        Self::mark(segment, lap, place);
        message
    }

    /// The message has been read out of a claimed slot: marks it. `lap`: the segment's.
    #[inline(always)]
    fn mark(segment: &Segment, lap: u8, place: Place<T>) {
        let memory = segment.memory::<T>();
        window();
        if os::may_mark_lines() {
            // SAFETY: the message was read, and the slot is this thread's until it is marked.
            unsafe { memory.mark_lines(place, 1) };
        }
        // ORDERING: Release pairs with the Acquire loads in `Chain::is_emptied`: the message was read before the
        // segment is used again.
        segment.marks::<T>().get(place).store(lap, Ordering::Release);
    }

    // MUTANT: Speed only: every reader checks for segments to retire.
    /// For a thread that has emptied a slot, which may be the last of its segment.
    #[inline(always)]
    fn pass(&self, place: Place<T>) {
        if place.index() + 1 == SegmentLayout::<T>::ALL {
            self.retire();
        }
    }

    /// For a thread that has emptied the last slot of a segment.
    #[cold]
    #[inline(never)]
    fn retire(&self) {
        os::marks_lines();
        self.chain.retire(|| {
            // ORDERING: Relaxed; what was read by this thread, or by one that has left a request, is seen by coherence.
            // A tail that is stale keeps fewer segments warm.
            let read = Place::<T>::of(self.ends.head.position.load(Ordering::Relaxed)).number;
            (read, Place::<T>::of(self.tail_position()).number)
        });
    }

    // MUTANT: In a race: the loser of a race goes on as if it had won. Killed only by the model
    // `two_batches_at_once_lie_one_behind_the_other`.
    /// Writes those of the staged messages for which one segment has room, with one claim. Returns how many it has
    /// written; `None` where the queue is closed.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        loop {
            // ORDERING: Acquire as in `push`.
            let tail = self.ends.tail.position.load(Ordering::Acquire);
            if tail & CLOSED != 0 {
                self.tell_closed();
                return None;
            }
            let place = Place::<T>::of(tail);
            let Some(segment) = self.segment_to_write(place.number) else { continue };
            let slots = staging.len().min(place.left());
            let next = tail + slots as u64;
            window();
            // ORDERING: Relaxed on success as in `push`. Relaxed on failure; the next load acquires.
            if self.ends.tail.position.compare_exchange(tail, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                look_away();
                continue;
            }
            self.fill_all(segment, place, staging.take(slots));
            self.ends.look_now_and_then(tail, next);
            return Some(slots);
        }
    }

    // MUTANT: Speed only: prefetches, and who makes the next segment.
    /// Puts staged messages into claimed slots of a segment, from a place on, one group after another.
    #[inline]
    fn fill_all(&self, segment: &Segment, mut at: Place<T>, mut messages: Leaving<T>) {
        let (memory, lap) = (segment.memory::<T>(), segment.lap());
        while messages.len() != 0 {
            let slots = at.run(messages.len());
            memory.prefetch(at);
            if slots == SegmentLayout::<T>::SLOTS {
                // Of a constant length, so the compiler copies it by a few wide moves.
                Self::fill_in_group(memory, lap, at, SegmentLayout::<T>::SLOTS, &mut messages);
            } else {
                Self::fill_in_group(memory, lap, at, slots, &mut messages);
            }
            if at.begins_half() {
                self.go_ahead(segment, at.number, at.is_first());
            }
            at = at.behind(slots);
        }
    }

    /// As [`fill_all`](Self::fill_all), slots that are in one group.
    #[inline(always)]
    fn fill_in_group(memory: SegmentMemory<T>, lap: u8, at: Place<T>, slots: usize, messages: &mut Leaving<T>) {
        move_in(memory.slots(at, slots), messages);
        // ORDERING: Release as in `filled`.
        memory.flags(at, slots).iter().for_each(|flag| flag.store(lap, Ordering::Release));
    }

    // MUTANT: In a race: the loser of a race goes on as if it had won; otherwise only the size of the next attempt.
    // Killed only by the model `a_batch_over_the_end_of_a_segment_against_a_receiver`.
    /// Takes out the oldest messages that are written, at most `most`, and appends them to `to`. It uses one claim, so
    /// that the messages are consecutive, also if they are in several segments. Returns how many it has taken.
    pub(crate) fn pop_many(&self, to: &mut Vec<T>, mut most: usize) -> usize {
        loop {
            // ORDERING: Acquire as in `pop`.
            let head = self.ends.head.position.load(Ordering::Acquire);
            let place = Place::<T>::of(head);
            let found = self.segment_to_read(place.number);
            let mut slots = found.map_or(0, |segment| Self::written(segment, place, most));
            let (Some(segment), 1..) = (found, slots) else {
                // ORDERING: Relaxed; it only compares, after loads that have acquired.
                if self.ends.head.position.load(Ordering::Relaxed) == head {
                    return 0;
                }
                continue;
            };
            if slots == place.left() {
                // No more than there are now: senders may be as fast as this scan, which would then never end.
                let there = usize::try_from(self.tail_position() - head).unwrap_or(usize::MAX);
                slots += self.written_behind(segment, place.number, most.min(there).saturating_sub(slots));
            }
            // Before the claim: once a message is claimed it must be taken out, and an allocation may panic.
            to.reserve(slots);
            window();
            let next = head + slots as u64;
            // ORDERING: Release on success as in `pop`. Relaxed on failure; the next load acquires.
            if self.ends.head.position.compare_exchange(head, next, Ordering::Release, Ordering::Relaxed).is_err() {
                look_away();
                // Others take messages meanwhile: a scan of many takes longer than a check of one, and would always
                // lose.
                most = (slots / 2).max(1);
                continue;
            }
            if slots < place.left() {
                Self::empty_run(segment, place, slots, to);
            } else {
                self.empty_over_ends(segment, place, slots, to);
            }
            return slots;
        }
    }

    // MUTANT: A run of no messages ends the loop.
    /// The number of slots of a segment that are written, from a place on; at most `most`.
    fn written(segment: &Segment, place: Place<T>, most: usize) -> usize {
        let (memory, lap) = (segment.memory::<T>(), segment.lap());
        let (mut at, most) = (place, most.min(place.left()));
        let mut slots = 0;
        // ORDERING: Acquire pairs with the Release store in `filled` and `fill_all`: the messages are visible.
        let is_written = |flag: &Flag| flag.load(Ordering::Acquire) == lap;
        while slots < most {
            let flags = memory.flags(at, most - slots);
            // A whole group is checked by straight code, without a branch for each flag.
            let is_whole = flags.len() == SegmentLayout::<T>::SLOTS
                && flags[..SegmentLayout::<T>::SLOTS].iter().fold(true, |all, flag| all & is_written(flag));
            let run = if is_whole {
                SegmentLayout::<T>::SLOTS
            } else {
                flags.iter().take_while(|flag| is_written(flag)).count()
            };
            slots += run;
            if run < flags.len() {
                break;
            }
            at = at.behind(run);
        }
        slots
    }

    // MUTANT: A run of no messages ends the loop.
    /// The number of slots that are written in the segments after that of `number`, from the first on; at most `most`.
    #[cold]
    #[inline(never)]
    fn written_behind<'a>(&'a self, mut segment: &'a Segment, mut number: u64, most: usize) -> usize {
        let mut slots = 0;
        while slots < most {
            number += 1;
            // Where the head has moved on meanwhile this may be any segment, and the claim that follows fails.
            let Walk::Found(behind) = self.chain.find(Some(segment), number) else { break };
            segment = behind;
            let run = Self::written(segment, Place::first(number), most - slots);
            slots += run;
            if run < SegmentLayout::<T>::ALL {
                break;
            }
        }
        slots
    }

    /// Takes the messages out of `slots` claimed slots of a segment, from a place on, and marks them.
    fn empty_run(segment: &Segment, place: Place<T>, mut slots: usize, to: &mut Vec<T>) {
        // There is room, as `pop_many` has reserved it: once more here, for `move_out`.
        to.reserve(slots);
        let lap = segment.lap();
        let mut at = place;
        while slots != 0 {
            let run = at.run(slots);
            if run == SegmentLayout::<T>::SLOTS {
                // Of a constant length, so straight code.
                Self::empty_in_group(segment, lap, at, SegmentLayout::<T>::SLOTS, to);
            } else {
                Self::empty_in_group(segment, lap, at, run, to);
            }
            slots -= run;
            at = at.behind(run);
        }
    }

    /// As [`empty_run`](Self::empty_run), of slots that are in one group.
    #[inline(always)]
    fn empty_in_group(segment: &Segment, lap: u8, place: Place<T>, slots: usize, to: &mut Vec<T>) {
        let memory = segment.memory::<T>();
        move_out(memory.slots(place, slots), to);
        window();
        if os::may_mark_lines() {
            // SAFETY: as in `mark`.
            unsafe { memory.mark_lines(place, slots) };
        }
        // ORDERING: Release as in `mark`.
        segment.marks::<T>().run(place, slots).iter().for_each(|mark| mark.store(lap, Ordering::Release));
    }

    /// The same where the slots go to the end of their segment, or beyond it.
    #[cold]
    #[inline(never)]
    fn empty_over_ends<'a>(&'a self, mut segment: &'a Segment, mut place: Place<T>, mut slots: usize, to: &mut Vec<T>) {
        loop {
            let run = slots.min(place.left());
            slots -= run;
            // While a slot of this segment is claimed, its link leads to the next one, wherever the other readers are.
            let behind = (slots != 0).then(|| match self.chain.find(Some(segment), place.number + 1) {
                Walk::Found(behind) => behind,
                Walk::End(..) | Walk::Past => unreachable!("a slot that is claimed has a segment"),
            });
            Self::empty_run(segment, place, run, to);
            // MUTANT: Speed only: one more check for segments to retire.
            if run == place.left() {
                self.retire();
            }
            let Some(behind) = behind else { return };
            (segment, place) = (behind, Place::first(place.number + 1));
        }
    }

    /// Whether the oldest message can be taken.
    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        // ORDERING: Acquire as in `pop`.
        let head = self.ends.head.position.load(Ordering::Acquire);
        let place = Place::<T>::of(head);
        // ORDERING: Acquire pairs with the Release store in `fill`: a thread that passes a notification on checks, and
        // then counts what it has found. And the load of the head does not come before this one.
        let is_written = |segment: &Segment| segment.memory().flag(place).load(Ordering::Acquire) == segment.lap();
        // MUTANT: In a race: the segment is retired during the search. Killed only by the model
        // `a_queue_whose_segment_is_retired_meanwhile_can_be_read`. Where the head has moved on, that counts as
        // readable, and the caller polls again.
        // ORDERING: Relaxed; it only compares, after loads that have acquired.
        self.segment_to_read(place.number).is_some_and(is_written)
            || self.ends.head.position.load(Ordering::Relaxed) != head
    }

    /// The position of the next message to be written.
    #[inline]
    fn tail_position(&self) -> u64 {
        // ORDERING: Relaxed; claims of writers release nothing. What a head that was acquired before implies is seen by
        // coherence.
        self.ends.tail.position.load(Ordering::Relaxed) & !CLOSED
    }

    /// The number of messages in the queue: claimed by a writer, and not yet by a reader.
    pub(crate) fn len(&self) -> usize {
        // ORDERING: Acquire on the first load keeps the load of the tail after it: the difference may be too large, but
        // not negative.
        let head = self.ends.head.position.load(Ordering::Acquire);
        usize::try_from(self.tail_position() - head).unwrap_or(usize::MAX)
    }

    /// Whether no message is in the queue, nor claimed by a writer.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position of the next message to be written.
    pub(crate) fn place(&self) -> u64 {
        self.tail_position()
    }

    /// A number that grows with each claim. While it stays the same, a message that can be taken stays, and so does
    /// room.
    pub(crate) fn moves(&self) -> u64 {
        // ORDERING: Acquire keeps the caller's further loads after this one, as in `place`.
        self.ends.head.position.load(Ordering::Acquire).wrapping_add(self.place())
    }

    // MUTANT: Never called: only a mailbox with a bound calls it, and it uses a ring.
    /// Whether readers have reached a position. Once true it stays true: positions only grow.
    pub(crate) fn has_reached(&self, place: u64) -> bool {
        // ORDERING: Acquire keeps the caller's further loads after this one.
        self.ends.head.position.load(Ordering::Acquire) >= place
    }

    /// Closes the queue: no writer can claim a position any more. What has been claimed will still be published. True:
    /// this call has closed the queue.
    pub(crate) fn close(&self) -> bool {
        // MUTANT: Speed only: a queue that is known to be closed is closed once more, to no effect.
        if self.is_closed() {
            return false;
        }
        // ORDERING: AcqRel; each thread that finds the flag, also another one that closes, sees what came before. Every
        // writer's claim exchanges this word, so none follows.
        let before = self.ends.tail.position.fetch_or(CLOSED, Ordering::AcqRel);
        window();
        self.tell_closed();
        before & CLOSED == 0
    }

    /// Sets the flag that says the tail is closed. A writer that finds the tail closed calls this before it returns, in
    /// case the closer has been preempted: a thread that learns of that writer's error finds the queue closed.
    #[cold]
    fn tell_closed(&self) {
        // ORDERING: Release pairs with the Acquire of `is_closed`: a thread that sees it sees all that this thread has
        // done or seen before, the flag in the tail included.
        self.closed.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `tell_closed`: the flag in the tail is visible as well.
        self.closed.load(Ordering::Acquire)
    }

    // USER CODE: messages' `Drop`; the message has left the queue, and its slot is marked; re-entrance: any operation;
    //     panic: the others are dropped, and the memory is given back; test: tests/suite/mpmc/unbounded.rs:
    //     a_long_queue_is_dropped_with_the_last_receiver_or_with_the_channel
    /// Drops every message that is written, in its slot: a stack may be too small for it. If a message's drop panics,
    /// the others are still dropped.
    #[inline(never)]
    pub(crate) fn drain(&self) {
        let mut panics = Panics::none();
        // The message is claimed before it is dropped: a panic in its drop cannot make the queue drop it again.
        let mut drop_one = || {
            self.pop_by(|segment, place, _| {
                Self::drop_in_slot(segment, segment.lap(), place, &mut panics);
                self.pass(place);
            })
        };
        while drop_one().is_some() {}
    }

    /// Drops the message of a claimed slot in place, and marks the slot. `lap`: the segment's.
    fn drop_in_slot(segment: &Segment, lap: u8, place: Place<T>, panics: &mut Panics) {
        segment.memory::<T>().slot(place).with_mut(|place| {
            // SAFETY: the slot is written, and the calling thread has claimed it: it drops the message once, and no
            // other thread touches it before the mark says that it is empty.
            panics.catch(|| unsafe { (*place).assume_init_drop() });
        });
        window();
        // ORDERING: Release as in `empty`: the message was dropped before the segment is used again.
        segment.marks::<T>().get(place).store(lap, Ordering::Release);
    }
}

#[inline(always)]
fn write<T>(slot: &MessageSlot<T>, message: T) {
    // SAFETY: the slot is empty, and the calling thread has claimed it: no other thread touches it before the flag says
    // that it is written.
    unsafe { put(slot, message) };
}

/// Moves as many of the messages into slots of one group.
#[inline(always)]
fn move_in<T>(slots: &[MessageSlot<T>], messages: &mut Leaving<T>) {
    // SAFETY: as in `write`, and by the caller there are that many messages. The slots are contiguous like an array, except
    // in a model, where each is an object.
    unsafe {
        if cfg!(ysuite_loom) {
            slots.iter().for_each(|slot| slot.with_mut(|slot| messages.move_to(slot.cast::<T>(), 1)));
        } else {
            messages.move_to(slots.as_ptr().cast::<T>().cast_mut(), slots.len());
        }
    }
}

/// Moves the messages out of claimed slots of one group to the end of `to`, which has room for them.
#[inline(always)]
fn move_out<T>(slots: &[MessageSlot<T>], to: &mut Vec<T>) {
    if cfg!(ysuite_loom) {
        return to.extend(slots.iter().map(read));
    }
    debug_assert!(to.capacity() - to.len() >= slots.len());
    // SAFETY: as in `read`, each once; the slots are contiguous like an array, and the vector has room.
    unsafe {
        let end = to.as_mut_ptr().add(to.len());
        end.copy_from_nonoverlapping(slots.as_ptr().cast::<T>(), slots.len());
        to.set_len(to.len() + slots.len());
    }
}

#[inline(always)]
fn read<T>(slot: &MessageSlot<T>) -> T {
    slot.with(|place| {
        // SAFETY: the slot is written, and the calling thread has claimed it: it reads the message once, and no other
        // thread touches it before the mark says that it is empty.
        unsafe { (*place).assume_init_read() }
    })
}

// MUTANT: A back-off after a lost race.
/// Backs off after a lost race for a position.
#[cold]
fn look_away() {
    (0..AWAY).for_each(|_| spin_loop());
}

impl<T> Drop for Segments<T> {
    fn drop(&mut self) {
        // The memory goes with the chain, also where a message's drop panics.
        if mem::needs_drop::<T>() {
            self.drain();
        }
    }
}

/// By value, for tests.
#[cfg(test)]
impl<T> Segments<T> {
    pub(crate) fn push(&self, message: T) -> Result<(), T> {
        let mut place = Some(message);
        if self.push_from(&mut place) { Ok(()) } else { Err(place.take_out()) }
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.claim_oldest(&Hint::new()).map(ClaimedSlot::take)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
