//! The way back of spent chunks, from reader to writer: a ring of pointers, which the writer makes. Wait-free on both
//! sides.
//!
//! A steady stream never allocates, because its chunks come back this way. Without a bound, the chunks kept are as many
//! as the length of the queue needs, and a *reserve*: the chunks of a backlog are reused while the backlog lasts, and
//! given back to the system while it is drained. A queue with a bound keeps all its chunks: those for which the ring has
//! no room are on a stack, linked by their heads, which is lock-free. One of two chunks has the stack alone: it seldom
//! holds more than one, and takes no other memory.
//!
//! The reserve of a stream begins with nothing, so that what one burst leaves is the chunk in use. It grows by each
//! chunk that the writer allocates after the reader has freed one: so a stream, or the third of several bursts, needs
//! the system no more. The reader gives it up when it goes to sleep and has left no chunk since it last did.
//!
//! Only chunks of one size are worth keeping; that size is small where there may be a thousand queues. A queue of small
//! chunks that becomes long takes *great* ones, so that its growth seldom needs the system; they are kept only while it
//! is long.

use core::ptr;
// Not the model's: only the reader uses it.
use core::sync::atomic::AtomicU32 as ReadersNumber;

use super::chunk::{Chunk, ChunkHeader, Places, Shape};
use crate::os;
use crate::queue::FEW_BYTES;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, Handed, Ordering};

/// Chunks that can be kept in a queue without a bound, however long it is; more, where its reserve may be larger.
const MOST: usize = if cfg!(ysuite_loom) { 2 } else { 128 };
/// Slots of the largest ring: a queue with a bound may have any number of chunks.
const LARGEST: usize = if cfg!(ysuite_loom) { 2 } else { 1024 };
/// The most chunks that are kept while a reader sleeps.
const LASTING: u16 = 15;
/// A queue of at least this many chunks is long.
const LONG: usize = 8;
/// A queue with a bound that has no more chunks than these takes no memory for a ring.
const FEW: usize = 2;

// REUSED: the counts of chunks put into the ring and taken out, which wrap; held by nothing beyond the ring's length;
//     harmless: both are mapped to places in the same way, and a place that is not empty is not used; by construction

// GROWS: spare chunks; bound: 128, or the channel's; full: freed; given back while a backlog is drained; by
//     construction: a ring of fixed length
pub(super) struct ChunkCache {
    /// Of all chunks of the queue.
    pub(super) shape: &'static Shape,
    /// The ring, or null before the writer leaves a chunk that is worth keeping. Made by the writer, which mostly
    /// allocates a chunk then: the reader never does. Where there [is none](Self::is_stack): the newest chunk of a stack.
    ring: AtomicPtr<AtomicPtr<ChunkHeader>>,
    /// The ring's slots as they were made.
    made: Handed,
    /// How many slots the ring has.
    room: u16,
    /// Chunks kept for reuse in a queue without a bound, however short it is, and how many at least and at most. Raised
    /// by the writer, and lowered by the reader; one of two changes at once may be lost.
    reserve: AtomicU16,
    least: u16,
    most_reserve: u16,
    keeps_all: bool,
    /// The reader has freed a chunk that was worth keeping, since it last gave up the reserve. Written by the reader.
    gave_up: AtomicBool,
    /// The number of messages that had been read when the reader last [rested](Self::rest); wraps. The reader's own.
    rested_at: ReadersNumber,
    /// Chunks put into the ring in all, less those that the reader has taken back; wraps. The reader's own.
    given: ReadersNumber,
    /// Chunks that the writer has taken out of the ring in all; wraps. Written by the writer.
    taken: AtomicU32,
    /// Chunks linked to the queue in all; wraps. Written by the writer.
    linked: AtomicU32,
    /// Chunks the reader has left in all; wraps. Written by the reader.
    left: AtomicU32,
}

impl ChunkCache {
    /// For a queue that never has more than `most` chunks, or for one without a bound, which keeps `least` chunks
    /// however short it is, and up to `reserve` where it turns out to need them. Memory is allocated only when the
    /// writer [leaves](Self::leaves) a chunk that is worth keeping.
    pub(super) fn new(shape: &'static Shape, most: Option<usize>, least: u16, reserve: u16) -> Self {
        Self {
            shape,
            ring: AtomicPtr::new(ptr::null_mut()),
            made: Handed::default(),
            room: most.unwrap_or(MOST.max(usize::from(reserve))).min(LARGEST) as u16,
            reserve: AtomicU16::new(least),
            least,
            most_reserve: reserve,
            keeps_all: most.is_some(),
            gave_up: AtomicBool::new(false),
            rested_at: ReadersNumber::new(0),
            given: ReadersNumber::new(0),
            taken: AtomicU32::new(0),
            linked: AtomicU32::new(0),
            left: AtomicU32::new(0),
        }
    }

    /// How many chunks the ring can keep.
    pub(super) fn room(&self) -> usize {
        self.room as usize
    }

    /// Whether all chunks that are kept are on a stack.
    #[inline]
    fn is_stack(&self) -> bool {
        self.keeps_all && self.room() <= FEW
    }

    /// How many chunks the reader has put into the ring, less those that it has taken back.
    fn given(&self) -> u32 {
        // ORDERING: Relaxed; the reader's own.
        self.given.load(Ordering::Relaxed)
    }

    fn set_given(&self, given: u32) {
        // ORDERING: Relaxed; the reader's own.
        self.given.store(given, Ordering::Relaxed);
    }

    /// The slot of the ring for the chunk of this number, if there is a ring.
    fn place(&self, count: u32) -> Option<&AtomicPtr<ChunkHeader>> {
        self.slot(count as usize % self.room())
    }

    /// The newest chunk of the stack: of one that has the stack alone, or after the last slot of a ring, if there is one,
    /// of the chunks that a queue with a bound keeps beyond it. Each leads to the one before by the field `previous` of
    /// its head. Only the reader adds one, and only the writer takes one.
    fn beyond(&self) -> Option<&AtomicPtr<ChunkHeader>> {
        if self.is_stack() {
            // SAFETY: the word is a pointer in either use, and a cache without a ring has this one only.
            return Some(unsafe { &*(&raw const self.ring).cast() });
        }
        self.slot(self.room())
    }

    fn slot(&self, index: usize) -> Option<&AtomicPtr<ChunkHeader>> {
        if self.is_stack() {
            return None;
        }
        // ORDERING: Acquire pairs with the Release in `make`: the slots are initialised. The reader leaves a chunk only
        // after the link to the next one, and finds the ring that was made before that link.
        let ring = self.ring.load(Ordering::Acquire);
        // MUTANT: Killed only by `as_many_chunks_are_kept_as_the_queue_is_long_and_a_reserve`.
        if ring.is_null() {
            return None;
        }
        self.made.read();
        // SAFETY: a ring has `room` slots and one more, and lives as long as `self`.
        Some(unsafe { &*ring.add(index) })
    }

    /// The writer, or the thread that makes the queue.
    #[cold]
    fn make(&self) {
        let ring: Box<[AtomicPtr<ChunkHeader>]> = (0..=self.room()).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        self.made.written();
        // ORDERING: Release pairs with the Acquire in `place`: the slots are initialised.
        self.ring.store(Box::into_raw(ring).cast(), Ordering::Release);
    }

    /// Reader: has left a chunk for good. A chunk of the size worth keeping, `groups`, is kept for the writer. A
    /// smaller one is freed, and so is a greater one unless the queue is long. Where more chunks are kept than the
    /// queue is long, one more is freed, and also with each great chunk that is freed.
    pub(super) fn give(&self, chunk: Chunk, groups: usize) {
        // ORDERING: Relaxed twice; only the reader writes `left`, and the writer uses it only to decide, in `is_long`,
        // how much it allocates.
        let left = self.left.load(Ordering::Relaxed).wrapping_add(1);
        self.left.store(left, Ordering::Relaxed);
        // ORDERING: Relaxed thrice; the writer's counters and the reserve decide only how many chunks are kept.
        let kept = self.given().wrapping_sub(self.taken.load(Ordering::Relaxed)) as usize;
        let ahead = self.linked.load(Ordering::Relaxed).wrapping_sub(left) as usize;
        let reserve = usize::from(self.reserve.load(Ordering::Relaxed));
        let enough = if self.keeps_all { usize::MAX } else { ahead.max(reserve) };
        let too_great = chunk.groups() > groups && ahead <= usize::from(self.most_reserve);
        if kept >= enough || chunk.groups() < groups || too_great {
            if chunk.groups() == groups {
                // ORDERING: Relaxed; a hint for the writer.
                self.gave_up.store(true, Ordering::Relaxed);
            }
            self.free(Some(chunk));
            if kept > enough || too_great && kept != 0 {
                self.free(self.take_back());
            }
        } else {
            self.put(chunk);
        }
        // ORDERING: Relaxed; only the reader sets it.
        if ahead == 0 && self.gave_up.load(Ordering::Relaxed) {
            os::settle(false);
        }
    }

    /// Reader: is about to sleep, and has read `position` messages in all. Gives chunks that are kept back to the system,
    /// except for a [few](LASTING); and these too, if there were [few messages](FEW_BYTES) since it was last here: then the
    /// queue is one of few messages now, and not a stream that comes by portions, which needs its chunks again. A queue with
    /// a bound, and one that always has a reserve, keeps them. What the system has kept of those that were given up before
    /// is given back at once.
    #[inline]
    pub(super) fn rest(&self, position: usize) {
        if self.keeps_all {
            return;
        }
        // ORDERING: Relaxed, here and below; `rested_at` is the reader's own, and the others only decide how much is kept.
        let gave_up = self.gave_up.load(Ordering::Relaxed);
        let read = (position as u32).wrapping_sub(self.rested_at.load(Ordering::Relaxed));
        self.rested_at.store(position as u32, Ordering::Relaxed);
        let are_few = (read as usize).saturating_mul(self.shape.step()) < FEW_BYTES;
        let most = if are_few { self.least } else { self.least.max(LASTING) };
        // Or the writer has raised the reserve while the reader gave it up.
        if self.reserve.load(Ordering::Relaxed) > most || are_few && gave_up {
            self.keep(most);
        }
        if gave_up {
            os::settle(true);
        }
    }

    /// Reader: gives the chunks that are kept back to the system, in a queue without a bound.
    pub(super) fn shrink(&self) {
        if !self.keeps_all {
            self.keep(self.least);
            os::settle(true);
        }
    }

    /// Reader: keeps at most this many chunks from now on. Where these are no more than it always keeps, it gives all back that
    /// it has now.
    #[cold]
    #[inline(never)]
    fn keep(&self, most: u16) {
        // ORDERING: Relaxed throughout; they only decide how much is kept.
        self.reserve.store(most, Ordering::Relaxed);
        let kept = |most: u16| self.given().wrapping_sub(self.taken.load(Ordering::Relaxed)) > u32::from(most);
        if most <= self.least {
            self.gave_up.store(false, Ordering::Relaxed);
        }
        while most <= self.least || kept(most) {
            let Some(chunk) = self.take_back() else { return };
            self.free(Some(chunk));
        }
    }

    /// The thread that makes the queue: puts a chunk into the ring, and makes that first.
    pub(super) fn put_first(&self, chunk: Chunk) {
        if !self.is_stack() && self.place(0).is_none() {
            self.make();
        }
        self.put(chunk);
    }

    /// Reader: puts a chunk into the ring. Where there is no room, a queue with a bound keeps it beyond, and another
    /// frees it.
    fn put(&self, chunk: Chunk) {
        let given = self.given();
        // ORDERING: Relaxed; an empty slot hands nothing over, and the store below comes after the swap that emptied it
        // in the order of changes of this word.
        let Some(place) = self.place(given).filter(|place| place.load(Ordering::Relaxed).is_null()) else {
            return match self.beyond() {
                Some(beyond) if self.keeps_all => Self::put_beyond(beyond, chunk),
                _ => self.free(Some(chunk)),
            };
        };
        // ORDERING: Release pairs with the swap in `take`: the writer reuses the chunk only after the reader has read
        // it.
        place.store(chunk.as_raw(), Ordering::Release);
        self.set_given(given.wrapping_add(1));
    }

    /// Reader: keeps a chunk beyond the ring.
    fn put_beyond(beyond: &AtomicPtr<ChunkHeader>, chunk: Chunk) {
        // ORDERING: Relaxed; the exchange hands over what is there.
        let mut newest = beyond.load(Ordering::Relaxed);
        loop {
            chunk.header().previous.set(newest);
            // ORDERING: Release pairs with the Acquire in `take_beyond`: the reader has read the chunk, and the link is
            // set. What is further down is in the release sequence that this continues.
            match beyond.compare_exchange(newest, chunk.as_raw(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => newest = now,
            }
        }
    }

    /// Writer: takes the newest chunk that is kept beyond the ring, if there is one. As no other thread takes any, a
    /// chunk that is the newest again has been so all the time.
    fn take_beyond(&self) -> Option<Chunk> {
        let beyond = self.beyond()?;
        // ORDERING: Acquire, here and on failure, pairs with the Release in `put_beyond`.
        let mut newest = beyond.load(Ordering::Acquire);
        loop {
            let chunk = Chunk::from_raw(newest)?;
            let rest = chunk.header().previous.get();
            // ORDERING: Relaxed on success; the load has acquired the chunk, and this continues the release sequences
            // of those below.
            match beyond.compare_exchange(newest, rest, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => return Some(chunk),
                Err(now) => newest = now,
            }
        }
    }

    /// Reader: takes the newest chunk out of the ring again, unless the writer has taken it before.
    fn take_back(&self) -> Option<Chunk> {
        let newest = self.given().wrapping_sub(1);
        // ORDERING: Relaxed; the read-modify-writes here and in `take` decide which of the two handles gets the chunk,
        // and this one has put it there itself.
        let chunk = Chunk::from_raw(self.place(newest)?.swap(ptr::null_mut(), Ordering::Relaxed))?;
        self.set_given(newest);
        Some(chunk)
    }

    /// Writer: is about to link a chunk after this one, and the reader may give it back then. Makes the ring where it
    /// will be worth keeping: of at least `groups` groups. A queue of few messages has only smaller ones.
    pub(super) fn leaves(&self, chunk: Chunk, groups: usize) {
        if chunk.groups() >= groups && !self.is_stack() && self.place(0).is_none() {
            self.make();
        }
    }

    /// Writer: allocates a chunk of the size worth keeping. If the reader has freed one before, it keeps one more from
    /// now on.
    pub(super) fn allocates(&self) {
        // ORDERING: Relaxed thrice; these only decide how many chunks are kept. A change by the reader that is lost
        // between the load and the store is made again when it next [rests](Self::rest).
        if self.gave_up.load(Ordering::Relaxed) {
            let reserve = self.reserve.load(Ordering::Relaxed);
            self.reserve.store(reserve.saturating_add(1).min(self.most_reserve), Ordering::Relaxed);
        }
    }

    /// Writer: takes a spent chunk if there is one.
    pub(super) fn take(&self) -> Option<Chunk> {
        // ORDERING: Relaxed; only the writer writes `taken`.
        let taken = self.taken.load(Ordering::Relaxed);
        let Some(place) = self.place(taken) else { return self.take_beyond() };
        // ORDERING: Acquire pairs with the Release store in `put`: the reader has left the chunk.
        let Some(chunk) = Chunk::from_raw(place.swap(ptr::null_mut(), Ordering::Acquire)) else {
            return self.take_beyond();
        };
        // ORDERING: Relaxed; the reader uses `taken` only to decide, in `give`, how many chunks are kept.
        self.taken.store(taken.wrapping_add(1), Ordering::Relaxed);
        Some(chunk)
    }

    /// Writer: whether the queue is so long that great chunks are worth their memory.
    pub(super) fn is_long(&self) -> bool {
        if self.keeps_all {
            return false;
        }
        // ORDERING: Relaxed twice; the two counters decide only how much is allocated at once.
        self.linked.load(Ordering::Relaxed).wrapping_sub(self.left.load(Ordering::Relaxed)) as usize >= LONG
    }

    /// Frees a chunk that has left the queue and the ring.
    fn free(&self, chunk: Option<Chunk>) {
        if let Some(chunk) = chunk {
            // SAFETY: the reader has left the chunk, and the writer had left it before. It is not in the ring, so no
            // thread can get it from there. All chunks of the queue have this shape.
            unsafe { chunk.free(self.shape) };
        }
    }

    /// Writer: has linked another chunk to the queue.
    pub(super) fn linked(&self) {
        // ORDERING: Relaxed twice; only the writer writes `linked`, and the reader uses it only to decide, in `give`,
        // how many chunks are kept.
        self.linked.store(self.linked.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

// USER CODE: none (it frees chunks, which hold no messages)
impl Drop for ChunkCache {
    // MUTANT: Killed only by `chunks_whose_messages_are_taken_back_are_used_again_and_given_back`.
    fn drop(&mut self) {
        // ORDERING: Relaxed; `&mut self`: the thread that drops this has synchronised with both handles.
        let ring = self.ring.load(Ordering::Relaxed);
        if ring.is_null() {
            return;
        }
        while let Some(chunk) = self.take_beyond() {
            self.free(Some(chunk));
        }
        if self.is_stack() {
            return;
        }
        // SAFETY: `make` boxed the ring with this length, and `&mut self` excludes both handles.
        let ring = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(ring, self.room() + 1)) };
        for place in &ring[..self.room()] {
            // ORDERING: Relaxed; `&mut self`: the thread that drops this has synchronised with both handles.
            self.free(Chunk::from_raw(place.load(Ordering::Relaxed)));
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{ChunkCache, FEW_BYTES, LARGEST, LASTING, LONG};
    use crate::queue::ypipe::chunk::{Chunk, Geometry, Places, Shape};
    use crate::sync::Ordering;

    /// Groups of a chunk that is worth keeping, of one that is smaller, and of a great one.
    const WORTH: usize = 2;
    const SMALL: usize = 1;
    const GREAT: usize = 3;

    const RESERVE: u16 = 3;

    const SHAPE: &Shape = Geometry::<u64>::SHAPE;

    fn chunk(groups: usize) -> Chunk {
        Chunk::allocate(SHAPE, groups, Geometry::<u64>::LAP)
    }

    /// A cache whose writer has left a chunk that is worth keeping.
    fn with_ring(most: Option<usize>) -> ChunkCache {
        let (cache, first) = (ChunkCache::new(SHAPE, most, RESERVE, RESERVE), chunk(WORTH));
        cache.leaves(first, WORTH);
        cache.free(Some(first));
        cache
    }

    #[test]
    fn a_cache_that_will_keep_nothing_takes_no_memory() {
        let (cache, small) = (ChunkCache::new(SHAPE, None, RESERVE, RESERVE), chunk(SMALL));
        cache.leaves(small, WORTH);
        assert!(cache.place(0).is_none() && cache.take().is_none());
        cache.give(small, WORTH);
    }

    /// A reader leaves these chunks, of `left` groups each, when all of them and the next one have been linked. Returns
    /// how many are kept after each, and which are kept at last, as the writer takes them.
    fn kept(most: Option<usize>, left: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let cache = with_ring(most);
        assert!(cache.take().is_none());
        left.iter().for_each(|_| cache.linked());
        let (mut counts, mut groups) = (Vec::new(), Vec::new());
        for &each in left {
            cache.give(chunk(each), WORTH);
            counts.push(cache.given() as usize);
        }
        while let Some(taken) = cache.take() {
            groups.push(taken.groups());
            cache.free(Some(taken));
        }
        (counts, groups)
    }

    #[test]
    fn as_many_chunks_are_kept_as_the_queue_is_long_and_a_reserve() {
        assert_eq!(kept(None, &[WORTH; 10]), (vec![1, 2, 3, 4, 5, 4, 3, 3, 3, 3], vec![WORTH; 3]));
    }

    #[test]
    fn a_reserve_grows_with_each_chunk_that_is_missed_and_goes_when_few_messages_come() {
        let cache = ChunkCache::new(SHAPE, None, 0, 2);
        let first = chunk(WORTH);
        cache.leaves(first, WORTH);
        cache.free(Some(first));
        // The reader is as far as the writer, and leaves a chunk.
        let leave = || {
            cache.linked();
            cache.give(chunk(WORTH), WORTH);
            cache.given()
        };
        cache.allocates();
        assert_eq!(leave(), 0, "nothing is missed yet");
        for kept in [1, 2, 2] {
            cache.allocates();
            assert_eq!((leave(), leave()), (kept, kept));
        }
        // Portions of a stream, though each is shorter than a chunk, and the position wraps.
        let portion = FEW_BYTES / SHAPE.step();
        let position = u32::MAX as usize - portion;
        for portions in 1..=3 {
            cache.rest(position.wrapping_add(portions * portion));
            assert_eq!(cache.given(), 2);
        }
        let position = position.wrapping_add(4 * portion - 1);
        cache.rest(position);
        assert_eq!((cache.given(), leave()), (0, 0));
        // The writer has found a chunk missing before the reader gave the reserve up, and raises it after that.
        cache.rest(position);
        cache.gave_up.store(false, Ordering::Relaxed);
        cache.reserve.store(2, Ordering::Relaxed);
        assert_eq!((leave(), leave()), (1, 2));
        cache.rest(position);
        assert_eq!((cache.given(), leave()), (0, 0));
    }

    /// Claim: While a reader sleeps after many messages, a few chunks are kept.
    #[test]
    fn of_a_large_reserve_a_few_chunks_are_kept_for_a_reader_that_sleeps() {
        let cache = ChunkCache::new(SHAPE, None, 0, 40);
        let first = chunk(WORTH);
        cache.leaves(first, WORTH);
        cache.free(Some(first));
        cache.gave_up.store(true, Ordering::Relaxed);
        for _ in 0..40 {
            cache.allocates();
            cache.linked();
            cache.give(chunk(WORTH), WORTH);
        }
        assert_eq!(cache.given(), 40);
        for _ in 0..2 {
            cache.rest(cache.rested_at.load(Ordering::Relaxed) as usize + FEW_BYTES);
            assert_eq!(cache.given(), u32::from(LASTING));
        }
        // The reserve is as large: one more is not kept.
        cache.linked();
        cache.give(chunk(WORTH), WORTH);
        assert_eq!(cache.given(), u32::from(LASTING));
        cache.rest(cache.rested_at.load(Ordering::Relaxed) as usize);
        assert_eq!(cache.given(), 0);
    }

    #[test]
    fn a_great_chunk_is_kept_while_the_queue_is_long_and_a_small_one_never() {
        let left = [WORTH, WORTH, GREAT, GREAT, SMALL, GREAT, SMALL];
        assert_eq!(kept(None, &left), (vec![1, 2, 3, 2, 2, 1, 1], vec![WORTH]));
    }

    #[test]
    fn a_queue_with_a_bound_keeps_all_its_chunks() {
        assert_eq!(kept(Some(8), &[WORTH; 8]), (vec![1, 2, 3, 4, 5, 6, 7, 8], vec![WORTH; 8]));
    }

    #[test]
    fn chunks_for_which_the_ring_has_no_room_are_kept_beyond_it() {
        let cache = with_ring(Some(usize::MAX));
        assert!(cache.take().is_none());
        let chunks = LARGEST + 3;
        (0..chunks).for_each(|_| cache.give(chunk(WORTH), WORTH));
        assert_eq!(cache.given() as usize, LARGEST);
        let mut taken: Vec<_> = core::iter::from_fn(|| cache.take()).collect();
        taken.sort_unstable_by_key(|chunk| chunk.as_raw());
        taken.dedup_by_key(|chunk| chunk.as_raw());
        assert_eq!(taken.len(), chunks);
        // All go with the cache.
        taken.into_iter().for_each(|spent| cache.give(spent, WORTH));
        drop(cache);
    }

    /// As they come back, in whatever order; and what is kept at last goes with the cache.
    #[test]
    fn two_chunks_are_kept_without_a_ring() {
        let cache = with_ring(Some(2));
        assert!(cache.ring.load(Ordering::Relaxed).is_null() && cache.take().is_none());
        let (one, two) = (chunk(WORTH), chunk(WORTH));
        cache.give(one, WORTH);
        assert!(cache.take().is_some_and(|taken| taken.as_raw() == one.as_raw()) && cache.take().is_none());
        cache.give(one, WORTH);
        cache.give(two, WORTH);
        let taken = [cache.take(), cache.take()].map(|taken| taken.map(Chunk::as_raw));
        assert_eq!(taken, [Some(two.as_raw()), Some(one.as_raw())]);
        assert!(cache.take().is_none());
        cache.give(two, WORTH);
        cache.give(one, WORTH);
        drop(cache);
    }

    #[test]
    fn a_queue_of_many_chunks_is_long_unless_it_has_a_bound() {
        for (most, is_long) in [(None, true), (Some(100), false)] {
            let cache = with_ring(most);
            (1..LONG).for_each(|_| cache.linked());
            assert!(!cache.is_long());
            cache.linked();
            assert_eq!(cache.is_long(), is_long);
            cache.give(chunk(WORTH), WORTH);
            assert!(!cache.is_long());
        }
    }
}
