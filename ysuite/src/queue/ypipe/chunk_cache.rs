//! The way back of spent chunks, from reader to writer: a ring of pointers. Wait-free on both sides.
//!
//! A steady stream never allocates, because its chunks come back this way. Without a bound, as many chunks are kept as
//! the queue is long, and a small reserve: the chunks of a backlog are reused while the backlog lasts, and given back
//! to the system while it is drained. A queue with a bound keeps all its chunks.
//!
//! Only chunks of one size are worth keeping; that size is small where there may be a thousand queues. A queue of small
//! chunks that gets long takes *great* ones, so that its growth asks the system seldom; they are kept only while it is
//! long.

use core::ptr;

use super::chunk::{Chunk, ChunkHeader};
use crate::sync::{AtomicPtr, AtomicU32, AtomicUsize, Handed, Ordering};

/// Chunks that can be kept in a queue without a bound, however long it is.
const MOST: usize = if cfg!(ysuite_loom) { 2 } else { 128 };
/// A queue of at least this many chunks is long.
const LONG: usize = 8;

pub(super) struct ChunkCache<T> {
    /// The ring, or null before the first chunk comes back. Made by the reader.
    ring: AtomicPtr<AtomicPtr<ChunkHeader<T>>>,
    /// The ring's slots as they were made.
    made: Handed,
    /// How many slots the ring has.
    room: u32,
    /// Chunks kept for reuse in a queue without a bound, however short it is.
    reserve: u8,
    keeps_all: bool,
    /// Chunks taken out of the ring in all. Written by the writer.
    taken: AtomicUsize,
    /// Chunks linked to the queue in all; wraps. Written by the writer.
    linked: AtomicU32,
    /// Chunks the reader has left in all; wraps. Written by the reader.
    left: AtomicU32,
}

impl<T> ChunkCache<T> {
    /// For a queue that never has more than `most` chunks, or for one without a bound, which keeps `reserve` chunks however
    /// short it is. Memory is allocated only once the first chunk comes back.
    pub(super) fn new(most: Option<usize>, reserve: u8) -> Self {
        Self {
            ring: AtomicPtr::new(ptr::null_mut()),
            made: Handed::default(),
            room: most.unwrap_or(MOST) as u32,
            reserve,
            keeps_all: most.is_some(),
            taken: AtomicUsize::new(0),
            linked: AtomicU32::new(0),
            left: AtomicU32::new(0),
        }
    }

    /// How many chunks can be kept.
    pub(super) fn room(&self) -> usize {
        self.room as usize
    }

    /// A slot of the ring, if there is a ring.
    fn place(&self, count: usize) -> Option<&AtomicPtr<ChunkHeader<T>>> {
        // ORDERING: Acquire pairs with the Release in `make`: the slots are initialised.
        let ring = self.ring.load(Ordering::Acquire);
        if ring.is_null() {
            return None;
        }
        self.made.read();
        // SAFETY: a ring has `room` slots, and lives as long as `self`.
        Some(unsafe { &*ring.add(count % self.room()) })
    }

    #[cold]
    fn make(&self) {
        let ring: Box<[AtomicPtr<ChunkHeader<T>>]> =
            (0..self.room()).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        self.made.written();
        // ORDERING: Release pairs with the Acquire in `place`: the slots are initialised.
        self.ring.store(Box::into_raw(ring).cast(), Ordering::Release);
    }

    /// Reader: has left a chunk for good. A chunk of the size worth keeping, `groups`, is kept for the writer. A
    /// smaller one is freed, and so is a greater one unless the queue is long. Where more chunks are kept than the
    /// queue is long, one more is freed, and also with each great chunk that is freed.
    ///
    /// `given`, here and below, is the reader's own: chunks put into the ring in all, less those taken back.
    pub(super) fn give(&self, given: &mut usize, chunk: Chunk<T>, groups: usize) {
        // ORDERING: Relaxed twice; only the reader writes `left`, and the writer uses it only to decide, in `is_long`,
        // how much it allocates.
        let left = self.left.load(Ordering::Relaxed).wrapping_add(1);
        self.left.store(left, Ordering::Relaxed);
        // ORDERING: Relaxed twice; the writer's two counters decide only how many chunks are kept.
        let kept = given.wrapping_sub(self.taken.load(Ordering::Relaxed));
        let ahead = self.linked.load(Ordering::Relaxed).wrapping_sub(left) as usize;
        let reserve = usize::from(self.reserve);
        let enough = if self.keeps_all { self.room() } else { ahead.max(reserve) };
        let too_great = chunk.groups() > groups && ahead <= reserve;
        if kept >= enough || chunk.groups() < groups || too_great {
            free(Some(chunk));
            if kept > enough || too_great && kept != 0 {
                free(self.take_back(given));
            }
        } else {
            self.put(given, chunk);
        }
    }

    /// Reader, or the thread that makes the queue: puts a chunk into the ring. Frees it where there is no room.
    pub(super) fn put(&self, given: &mut usize, chunk: Chunk<T>) {
        if self.place(0).is_none() {
            self.make();
        }
        // ORDERING: Relaxed; an empty slot hands nothing over, and the store below comes behind the swap that emptied it in the order
        // of changes of this word.
        let Some(place) = self.place(*given).filter(|place| place.load(Ordering::Relaxed).is_null()) else {
            return free(Some(chunk));
        };
        // ORDERING: Release pairs with the swap in `take`: the writer reuses the chunk only after the reader has read
        // it.
        place.store(chunk.as_raw(), Ordering::Release);
        *given = given.wrapping_add(1);
    }

    /// Reader: takes the newest chunk out of the ring again, unless the writer has taken it before.
    fn take_back(&self, given: &mut usize) -> Option<Chunk<T>> {
        let newest = given.wrapping_sub(1);
        // ORDERING: Relaxed; the read-modify-writes here and in `take` decide which of the two ends gets the chunk, and this one
        // has put it there itself.
        let chunk = Chunk::from_raw(self.place(newest)?.swap(ptr::null_mut(), Ordering::Relaxed))?;
        *given = newest;
        Some(chunk)
    }

    /// Writer: takes a spent chunk if there is one.
    pub(super) fn take(&self) -> Option<Chunk<T>> {
        // ORDERING: Relaxed; only the writer writes `taken`.
        let taken = self.taken.load(Ordering::Relaxed);
        // ORDERING: Acquire pairs with the Release store in `put`: the reader has left the chunk.
        let chunk = Chunk::from_raw(self.place(taken)?.swap(ptr::null_mut(), Ordering::Acquire))?;
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

    /// Writer: has linked another chunk to the queue.
    pub(super) fn linked(&self) {
        // ORDERING: Relaxed twice; only the writer writes `linked`, and the reader uses it only to decide, in `give`,
        // how many chunks are kept.
        self.linked.store(self.linked.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

/// Frees a chunk that has left the queue and the ring.
fn free<T>(chunk: Option<Chunk<T>>) {
    if let Some(chunk) = chunk {
        // SAFETY: the reader has left the chunk, and the writer had left it before. It is not in the ring, so no thread
        // can get it from there.
        unsafe { chunk.free() };
    }
}

impl<T> Drop for ChunkCache<T> {
    fn drop(&mut self) {
        // ORDERING: Relaxed; `&mut self`: the thread that drops this has synchronised with both ends.
        let ring = self.ring.load(Ordering::Relaxed);
        if ring.is_null() {
            return;
        }
        // SAFETY: `make` boxed the ring with this length, and `&mut self` excludes both ends.
        let ring = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(ring, self.room())) };
        for place in &ring {
            // ORDERING: Relaxed; `&mut self`: the thread that drops this has synchronised with both ends.
            free(Chunk::from_raw(place.load(Ordering::Relaxed)));
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{ChunkCache, LONG, free};
    use crate::queue::ypipe::chunk::{Chunk, Geometry};

    /// Groups of a chunk that is worth keeping, of one that is smaller, and of a great one.
    const WORTH: usize = 2;
    const SMALL: usize = 1;
    const GREAT: usize = 3;

    const RESERVE: u8 = 3;

    fn chunk(groups: usize) -> Chunk<u64> {
        Chunk::allocate(groups, Geometry::<u64>::LAP)
    }

    /// A reader leaves these chunks, of so many groups each, when all of them and the one behind have been linked. How many are kept
    /// after each; and which are at last, as the writer takes them.
    fn kept(most: Option<usize>, left: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let cache = ChunkCache::new(most, RESERVE);
        left.iter().for_each(|_| cache.linked());
        let (mut given, mut counts, mut groups) = (0, Vec::new(), Vec::new());
        for &each in left {
            cache.give(&mut given, chunk(each), WORTH);
            counts.push(given);
        }
        while let Some(taken) = cache.take() {
            groups.push(taken.groups());
            free(Some(taken));
        }
        (counts, groups)
    }

    #[test]
    fn as_many_chunks_are_kept_as_the_queue_is_long_and_a_reserve() {
        assert_eq!(kept(None, &[WORTH; 10]), (vec![1, 2, 3, 4, 5, 4, 3, 3, 3, 3], vec![WORTH; 3]));
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
    fn a_queue_of_many_chunks_is_long_unless_it_has_a_bound() {
        for (most, is_long) in [(None, true), (Some(100), false)] {
            let cache = ChunkCache::new(most, RESERVE);
            (1..LONG).for_each(|_| cache.linked());
            assert!(!cache.is_long());
            cache.linked();
            assert_eq!(cache.is_long(), is_long);
            cache.give(&mut 0, chunk(WORTH), WORTH);
            assert!(!cache.is_long());
        }
    }
}
