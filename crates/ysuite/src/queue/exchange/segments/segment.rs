//! A segment: some thousand consecutive positions of the queue, and the link to the next segment. Any thread;
//! wait-free.
//!
//! Segments are never freed before their queue is, and each keeps its memory. But a segment that has been read is
//! *reused*: it gets a higher number, and holds other positions. So a thread may come with a stale reference at any
//! time. It detects that by the number: numbers of the segments in use are never used again, so a segment that has the
//! expected number is the right one, or has been that one.

use core::ptr;

use super::layout::{Extent, Flag, SegmentMarks, SegmentMemory};
// The compiler takes a tenth more instructions for a batch where the pointers are not std's.
use crate::sync::StdAtomicPtr as AtomicPtr;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Handed, Ordering};

/// In a number: the segment is about to be linked after another, or to be given up again.
const CANDIDATE: u64 = 1 << 63;
/// The number of a segment that is not in use.
const FREE: u64 = u64::MAX;
/// In a link: there is no segment of the number that follows.
const MISSING: u64 = 1 << 63;
/// Laps of a segment: in turn 1 and 2, never 0, which is what fresh memory reads as.
const LAPS: u8 = 1 + 2;

// REUSED: a segment of an `mpmc`; held by a thread that was preempted with a position of its last use; harmless: its
//     number tells it apart, and a claim fails, as the position it would move has moved on; test:
//     tests/loom/segments.rs: a_late_receiver_in_a_segment_that_is_used_again, src/queue/exchange/segments/tests.rs:
//     a_stale_reference_is_found_out
pub(super) struct Segment {
    /// The number, or one of the marks above.
    number: AtomicU64,
    /// Never change once the segment is in the directory; of the first one, once they are there.
    memory: AtomicPtr<u8>,
    marks: AtomicPtr<Flag>,
    /// What a flag reads when the slot is written, and a mark when it is empty again. Changes between uses only.
    lap: AtomicU8,
    /// Its pages are not in place.
    is_cold: AtomicBool,
    /// The next segment.
    pub(super) next: Link,
    /// One more than the index of the segment below this one on a shelf, or in the list of the spent; 0: none.
    pub(super) below: AtomicU32,
    /// Its index in the directory. Never changes once it is in there.
    index: AtomicU32,
    /// The fields that never change, and the memory, as they were made.
    made: Handed,
}

impl Segment {
    pub(super) fn empty() -> Self {
        Self {
            number: AtomicU64::new(FREE),
            memory: AtomicPtr::new(ptr::null_mut()),
            marks: AtomicPtr::new(ptr::null_mut()),
            lap: AtomicU8::new(1),
            is_cold: AtomicBool::new(true),
            next: Link::to(0),
            below: AtomicU32::new(0),
            index: AtomicU32::new(0),
            made: Handed::default(),
        }
    }

    /// The first segment of a queue: it has its number, and no memory before the first message is written.
    pub(super) fn first() -> Self {
        let segment = Self { number: AtomicU64::new(0), next: Link::to(1), ..Self::empty() };
        segment.made.written();
        segment
    }

    // MUTANT: In a race: two threads make the memory. Killed only by the model `two_first_messages_at_once`.
    /// A writer has found this segment. The first one gets its memory now, where it has none.
    pub(super) fn begin<T>(&self) {
        // ORDERING: Relaxed; `is_begun` acquires.
        if self.memory.load(Ordering::Relaxed).is_null() {
            let memory = SegmentMemory::<T>::allocate(self.extent::<T>());
            // ORDERING: Release pairs with the Acquire in `is_begun`: the memory is full of zeros. Relaxed on failure:
            // nothing is done with what another thread has made before that has acquired it.
            let put =
                self.memory.compare_exchange(ptr::null_mut(), memory.as_raw(), Ordering::Release, Ordering::Relaxed);
            if put.is_err() {
                // SAFETY: allocated above, and no other thread has its address, as the exchange has failed.
                unsafe { memory.free(self.extent::<T>()) };
            }
        }
        self.is_begun::<T>();
    }

    /// For a thread that has found this segment: whether it has memory, which the thread may use from now on.
    pub(super) fn is_begun<T>(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `begin`.
        let memory = SegmentMemory::<T>::from_raw(self.memory.load(Ordering::Acquire));
        if let (Some(memory), 0) = (memory, self.index()) {
            // ORDERING: Relaxed; every thread that finds the segment stores the same, so none finds less than that.
            self.marks.store(memory.marks(self.extent::<T>()).as_raw(), Ordering::Relaxed);
        }
        memory.is_some()
    }

    /// Stores its memory and its index. Only for the thread that is about to put it into the directory.
    pub(super) fn make<T>(&self, index: u32, memory: SegmentMemory<T>) {
        // ORDERING: Relaxed thrice; other threads find the segment by its number, which is stored later, with Release.
        self.index.store(index, Ordering::Relaxed);
        self.memory.store(memory.as_raw(), Ordering::Relaxed);
        self.marks.store(memory.marks(Extent::of::<T>(index as usize)).as_raw(), Ordering::Relaxed);
        self.made.written();
    }

    pub(super) fn index(&self) -> u32 {
        self.made.read();
        // ORDERING: Relaxed; the caller has the segment to itself, or has found it by its number, with Acquire.
        self.index.load(Ordering::Relaxed)
    }

    /// The part of it that has memory.
    pub(super) fn extent<T>(&self) -> Extent {
        Extent::of::<T>(self.index() as usize)
    }

    /// The memory of a segment that has had a number. `T` is the type it was made with.
    #[inline(always)]
    pub(super) fn memory<T>(&self) -> SegmentMemory<T> {
        self.made.read();
        // ORDERING: Relaxed; the caller has the segment to itself, or has found it by its number, with Acquire.
        // SAFETY: `make` has stored memory that is not null.
        unsafe { SegmentMemory::from_raw_unchecked(self.memory.load(Ordering::Relaxed)) }
    }

    /// The marks of a segment that has had a number, as [`memory`](Self::memory).
    #[inline(always)]
    pub(super) fn marks<T>(&self) -> SegmentMarks<T> {
        self.made.read();
        // ORDERING: Relaxed; as in `memory`.
        // SAFETY: `make` has stored them.
        unsafe { SegmentMarks::from_raw(self.marks.load(Ordering::Relaxed)) }
    }

    /// The memory, if the segment has any.
    pub(super) fn memory_if_any<T>(&self) -> Option<SegmentMemory<T>> {
        // ORDERING: Relaxed; only for the last owner of the queue, which has synchronised with all other threads.
        SegmentMemory::from_raw(self.memory.load(Ordering::Relaxed))
    }

    /// Its pages have been given back.
    pub(super) fn cool(&self) {
        // ORDERING: Relaxed; the shelf hands it over, and it only decides whether pages are put in place at once.
        self.is_cold.store(true, Ordering::Relaxed);
    }

    /// Whether its pages have to be put in place: once.
    pub(super) fn warm_up(&self) -> bool {
        // ORDERING: Relaxed twice, as above.
        self.is_cold.load(Ordering::Relaxed) && self.is_cold.swap(false, Ordering::Relaxed)
    }

    /// The lap of a segment whose number has been found.
    #[inline(always)]
    pub(super) fn lap(&self) -> u8 {
        // After the Acquire load of the number, so not older than that. Where it is newer the segment has been retired,
        // and the caller will not succeed in claiming a position of the number it has found.
        // ORDERING: Acquire pairs with the Release in `retire`: a reader that finds a newer lap, and so takes a slot
        // for not written, then finds that the head has moved on. Otherwise it would take the queue for empty.
        self.lap.load(Ordering::Acquire)
    }

    /// Whether this is, or was, the segment of that number.
    #[inline(always)]
    pub(super) fn has(&self, number: u64) -> bool {
        // ORDERING: Acquire pairs with the Release of `confirm`, and so with that of `prepare` and `make`: the memory,
        // the lap and all that was done in the lap before are visible.
        self.number.load(Ordering::Acquire) == number
    }

    /// The number, if it has one.
    pub(super) fn number(&self) -> Option<u64> {
        // ORDERING: Acquire as in `has`.
        Some(self.number.load(Ordering::Acquire)).filter(|number| number & CANDIDATE == 0)
    }

    /// The owner of a free segment makes it ready to be linked as the segment of that number.
    pub(super) fn prepare(&self, number: u64) {
        // ORDERING: Release pairs with the Acquire load of the link in `Chain::find`: for a thread that finds this link
        // the segment's last number is past, and it will not find that again.
        self.next.0.store(MISSING | (number + 1), Ordering::Release);
        // ORDERING: Release pairs with the Acquire in `confirm`: a thread that finds the number finds this lap.
        self.number.store(CANDIDATE | number, Ordering::Release);
    }

    /// Confirms the number of a segment that was found by a link that leads to that number: from now on it has it.
    pub(super) fn confirm(&self, number: u64) {
        // ORDERING: Release pairs with the Acquire in `has` and `number`: a thread that finds the number finds the link
        // that leads here. This read-modify-write hands over what `prepare` released in any case, and the caller has
        // acquired it by the link: so no Acquire, and Relaxed on failure. Fails where another thread has confirmed it
        // already, or where it has been reused since: no segment is prepared for a number that it has had.
        let _ = self.number.compare_exchange(CANDIDATE | number, number, Ordering::Release, Ordering::Relaxed);
    }

    /// For the owner: gives up a segment that it had prepared, and could not link.
    pub(super) fn withdraw(&self) {
        // ORDERING: Release pairs with the Acquire in `has` and `number`.
        self.number.store(FREE, Ordering::Release);
    }

    /// The one thread that retires segments takes this one out of use: all its slots are empty, and no thread will
    /// claim one. From now on that thread owns it.
    pub(super) fn retire(&self) {
        self.withdraw();
        // MUTANT: Laps alternate between 1 and 3: any two numbers except 0 do.
        // ORDERING: Release pairs with the Acquire in `lap`: a thread that finds the other lap finds that the head has
        // moved on.
        self.lap.store(LAPS - self.lap(), Ordering::Release);
    }
}

/// A link to the next segment, or to the oldest. Set once for each use of the segment that has it.
///
/// While there is no segment, the link holds the number of the missing one. So a thread that has loaded it in an
/// earlier use cannot set it in a later one.
pub(super) struct Link(AtomicU64);

/// Where a link leads.
#[derive(Clone, Copy)]
pub(super) enum Behind {
    /// The segment of this index.
    Segment(u32),
    /// No segment yet; it will have this number.
    Missing(u64),
}

impl Link {
    /// A link to the segment of this index.
    pub(super) fn at(index: u32) -> Self {
        Self(AtomicU64::new(u64::from(index)))
    }

    /// A link to a segment that does not exist yet.
    pub(super) fn to(number: u64) -> Self {
        Self(AtomicU64::new(MISSING | number))
    }

    pub(super) fn load(&self) -> Behind {
        // ORDERING: Acquire pairs with the Release in `set` and `prepare`: the segment is made and prepared; and the
        // caller's further load of the number of the segment that has the link does not come before this one.
        let word = self.0.load(Ordering::Acquire);
        if word & MISSING != 0 { Behind::Missing(word & !MISSING) } else { Behind::Segment(word as u32) }
    }

    /// Whether the next segment, of this number, is still missing.
    pub(super) fn is_missing(&self, number: u64) -> bool {
        // ORDERING: Relaxed; what the caller has acquired with a segment comes before this, and one word has one order.
        self.0.load(Ordering::Relaxed) == MISSING | number
    }

    /// Sets the link that was found missing. False: another thread has been quicker.
    pub(super) fn set(&self, missing: u64, segment: &Segment) -> bool {
        // ORDERING: Release pairs with the Acquire in `load`, and the read-modify-write continues the release sequence
        // of `prepare`, so that a thread that finds the new link finds also what came before that. The caller has
        // acquired what it exchanges, in `load`. Relaxed on failure: the caller checks again.
        self.0
            .compare_exchange(MISSING | missing, u64::from(segment.index()), Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Moves the link to the next segment. Only for the thread that retires segments, and only for the link to the
    /// oldest.
    pub(super) fn advance(&self, index: u32) {
        // ORDERING: Release pairs with the Acquire in `load`: the segment has its number.
        self.0.store(u64::from(index), Ordering::Release);
    }
}
