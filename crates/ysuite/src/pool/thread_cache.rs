//! The thread cache: one or two magazines of each class that a thread uses.
//!
//! The calling thread only. Taking and giving back within a magazine is wait-free; changing magazines costs as much as
//! the depot's operations. A thread keeps its previous magazine, full or empty, and switches to that first. So a thread
//! that frees and takes a few blocks in turn at the boundary of a magazine does not use the depot.
//!
//! A cache keeps the pool's tables alive, not its blocks. The blocks are freed with the last message. The tables are
//! freed when the thread exits or needs the cache for another pool. A thread past its thread-locals uses the depot for
//! each block.
//!
//! The allocator, which may fail or use a pool itself, runs before or after a change to a cache, never within. Nor does
//! it run between the choice of a cache and its use: memory that is freed for a cache is [`Displaced`].

use core::cell::Cell;
use core::ptr;
// Numbers for threads: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicU32;

use super::class::Class;
use super::core::PoolCore;
use super::group::Held;
use super::magazine::{Entry, Magazine};
use crate::sync::{Arc, Ordering};

/// Caches in each of a thread's two rows. Classes are assigned to them in turn; of three classes that share one, the
/// least recently used has none.
pub(super) const ROW: usize = if cfg!(ysuite_loom) { 2 } else { 32 };
/// The number of takes by which the memory of a block is prefetched ahead: about the time that a line needs to come
/// from another CPU.
const AHEAD: usize = 4;
/// The number of all threads past their thread-locals.
const NO_THREAD: u32 = 0;

struct ThreadCache {
    /// The class that the cache belongs to, or null.
    class: Cell<*const Class>,
    /// The current magazine; there is one whenever there is a class.
    magazine: Cell<*const Magazine>,
    /// All its slots from this one on are empty.
    top: Cell<usize>,
    held: Cell<Option<Held>>,
    /// The previous magazine, full or empty, and its top.
    previous: Cell<Option<(Held, usize)>>,
    /// Keeps the class alive.
    core: Cell<Option<Arc<PoolCore>>>,
}

// GROWS: caches of a thread; bound: 64, two for each number; full: the older of two leaves; given back at thread exit,
//     when the room is needed, or when its pool has ended; test: src/pool/thread_cache/tests.rs:
//     a_third_class_pushes_out_what_was_used_before_the_others
// REUSED: a class's address; held by thread caches; by construction: a cache keeps its class alive
struct ThreadCaches {
    /// The thread's number; 0 before its first use of a depot.
    thread: Cell<u32>,
    /// The row that is searched first for a class.
    front: [ThreadCache; ROW],
    /// The row that has a class while another has its cache in the front row.
    back: [ThreadCache; ROW],
}

// THREAD EXIT: `CACHES`: `take` and `take_timeout` of an exhausted pool wait as on any thread; test:
//     tests/suite/pool/late.rs: past_thread_locals_a_pool_gives_takes_back_and_waits
// THREAD EXIT: `CACHES`: clone and drop of a handle, also of the last, use no thread-local; test:
//     tests/suite/pool/late.rs: a_pools_last_handle_and_its_messages_end_past_thread_locals
#[cfg(not(ysuite_loom))]
std::thread_local! {
    static CACHES: ThreadCaches = const { ThreadCaches::new() };
}
#[cfg(ysuite_loom)]
loom::thread_local! {
    static CACHES: ThreadCaches = ThreadCaches::new();
}

/// Takes a block; returns it with the number of this thread.
#[inline(always)]
pub(super) fn take(class: &Class) -> Option<(Entry, u32)> {
    CACHES.try_with(|own| own.take(class)).unwrap_or_else(|_| take_past_locals(class).map(|entry| (entry, NO_THREAD)))
}

/// Gives back a block that thread `taker` took. The share that is returned may be the last that keeps the class alive.
#[inline(always)]
pub(super) fn put(class: &Class, entry: Entry, taker: u32) -> Option<Arc<PoolCore>> {
    CACHES.try_with(|own| own.put(class, entry, taker)).unwrap_or_else(|_| Some(put_past_locals(class, entry)))
}

// THREAD EXIT: `try_take` and `try_boxed` take a block out of a magazine of the depot, or steal one; no thread number;
//     test: tests/suite/pool/late.rs: past_thread_locals_a_pool_gives_takes_back_and_waits
// MUTANT: Speed only: the owner of a magazine continues to swap.
/// Past the thread-locals: out of a magazine of the depot, which is given back. To steal from it would leave it there
/// empty, and offered as full.
#[cold]
fn take_past_locals(class: &Class) -> Option<Entry> {
    let from_adopted = |held: Held| {
        held.magazine().calm();
        let cache = ThreadCache::new();
        cache.hold(held, held.magazine().left());
        let taken = cache.take(class);
        give(held, cache.top.get(), class.depot.rounds);
        taken
    };
    while let Some(held) = class.depot.adopt() {
        if let Some(entry) = from_adopted(held) {
            return Some(entry);
        }
    }
    class.depot.steal()
}

// THREAD EXIT: the drop of a message or box shares a magazine that has room, and wakes a thread that waits; so does
//     that of a box whose value has a message and a handle, nested; test: tests/suite/pool/late.rs:
//     a_taker_that_sleeps_is_woken_by_a_block_that_is_dropped_past_thread_locals, tests/suite/pool/late.rs:
//     hundreds_of_thousands_of_blocks_dropped_past_thread_locals_are_all_there, tests/suite/pool/late.rs:
//     a_message_that_ends_with_its_value_past_thread_locals_goes_back
// MUTANT: Speed only: the normal path back ends in `announce`, which finds the class closed.
/// Past the thread-locals: such threads share magazines with room.
#[cold]
fn put_past_locals(class: &Class, entry: Entry) -> Arc<PoolCore> {
    // Before other threads can see the entry: it may be the pool's last block.
    let core = class.core();
    if class.is_closed() {
        // No thread takes blocks any more: gathered without the depot.
        core.gathered(1);
        return core;
    }
    let (held, top) = class.depot.claim_roomy();
    held.magazine().count_elsewhere();
    held.magazine().put(top, entry);
    held.offer(top + 1, class.depot.rounds);
    drop(class.published());
    core
}

impl ThreadCaches {
    const fn new() -> Self {
        Self {
            thread: Cell::new(NO_THREAD),
            front: [const { ThreadCache::new() }; ROW],
            back: [const { ThreadCache::new() }; ROW],
        }
    }

    // MUTANT: Speed only: the slow path finds the same cache.
    #[inline(always)]
    fn take(&self, class: &Class) -> Option<(Entry, u32)> {
        let cache = &self.front[class.index_in_row];
        let taken = if cache.belongs_to(class) { cache.take(class) } else { None };
        taken.or_else(|| self.take_elsewhere(class)).map(|entry| (entry, self.thread.get()))
    }

    // MUTANT: Speed only: one more check of an empty magazine; the owner goes on to swap.
    #[cold]
    #[inline(never)]
    fn take_elsewhere(&self, class: &Class) -> Option<Entry> {
        self.assign_number();
        if let Some(cache) = self.find(class) {
            let mut own = cache.take(class);
            if own.is_none() && cache.switch(false) {
                own = cache.take(class);
            }
            if own.is_some() {
                return own;
            }
        }
        while let Some(held) = class.depot.adopt() {
            held.magazine().calm();
            let (cache, _displaced) = self.install(class, held, held.magazine().left());
            let adopted = cache.take(class);
            if adopted.is_some() {
                return adopted;
            }
        }
        class.depot.steal()
    }

    // MUTANT: Speed only: the slow path finds the same cache and its room.
    #[inline(always)]
    fn put(&self, class: &Class, entry: Entry, taker: u32) -> Option<Arc<PoolCore>> {
        let cache = &self.front[class.index_in_row];
        if cache.belongs_to(class) && cache.top.get() != class.depot.rounds {
            return self.put_into(cache, class, entry, taker);
        }
        Some(self.put_elsewhere(class, entry, taker))
    }

    #[cold]
    #[inline(never)]
    fn put_elsewhere(&self, class: &Class, entry: Entry, taker: u32) -> Arc<PoolCore> {
        // This block may be the pool's last, and the sweep after it may take the tables from this cache. They stay
        // until the class is no longer borrowed.
        let core = class.core();
        let (cache, _displaced) = self.make_room(class);
        drop(self.put_into(cache, class, entry, taker));
        core
    }

    /// Into the class's cache, which has room.
    #[inline(always)]
    fn put_into(&self, cache: &ThreadCache, class: &Class, entry: Entry, taker: u32) -> Option<Arc<PoolCore>> {
        let top = cache.top.get();
        // SAFETY: a cache that belongs to a class has a magazine, and its share of the pool keeps that alive.
        let magazine = unsafe { &*cache.magazine.get() };
        if taker != self.thread.get() {
            magazine.count_elsewhere();
        }
        magazine.put(top, entry);
        cache.top.set(top + 1);
        // From here on the pool's memory may be freed with the block just given back; the cache keeps its tables alive.
        class.published()
    }

    // MUTANT: Speed only: the owner of a magazine continues to swap.
    /// A cache for the class, with room in its magazine.
    fn make_room(&self, class: &Class) -> (&ThreadCache, Displaced<'_>) {
        self.assign_number();
        let rounds = class.depot.rounds;
        let Some(cache) = self.find(class) else {
            let (held, top) = class.depot.claim_roomy();
            held.magazine().calm();
            return self.install(class, held, top);
        };
        if cache.top.get() < rounds || cache.switch(true) {
            return (cache, Displaced { caches: None, share: None });
        }
        let held = class.depot.claim();
        held.magazine().calm();
        self.install(class, held, 0)
    }

    // MUTANT: Speed only: a class in the back row gives its magazine to the depot and claims another.
    /// Finds the class's cache, if it has one, which is in one of the rows; moves it to the front row.
    fn find(&self, class: &Class) -> Option<&ThreadCache> {
        let (cache, back) = (&self.front[class.index_in_row], &self.back[class.index_in_row]);
        if back.belongs_to(class) {
            cache.swap(back);
        }
        cache.belongs_to(class).then_some(cache)
    }

    // USER CODE: the allocator, by the last share of another pool's tables, and in `Drop` of `ThreadCaches`; the cache
    //     is complete, and the request done, before the share is dropped; re-entrance and panic: as of `Bank::extend`;
    //     test: src/pool/thread_cache/tests.rs: the_tables_of_a_pool_that_has_ended_go_when_the_thread_uses_another,
    //     tests/allocation/pools.rs: an_allocator_that_takes_blocks_as_it_frees_leaves_each_block_with_one_owner
    /// Makes this the current magazine of the class's cache in the front row.
    fn install(&self, class: &Class, held: Held, top: usize) -> (&ThreadCache, Displaced<'_>) {
        if let Some(cache) = self.find(class) {
            cache.put_aside(class.depot.rounds);
            cache.hold(held, top);
            return (cache, Displaced { caches: None, share: None });
        }
        let core = class.core();
        let cache = &self.front[class.index_in_row];
        cache.swap(&self.back[class.index_in_row]);
        // Of the two earlier classes, the less recently used one.
        let share = cache.flush();
        cache.core.set(Some(core));
        cache.class.set(class);
        cache.hold(held, top);
        (cache, Displaced { caches: Some(self), share })
    }

    /// Flushes all caches for which this is true.
    fn flush(&self, which: fn(&ThreadCache) -> bool) {
        for row in [&self.front, &self.back] {
            for cache in row {
                if which(cache) {
                    drop(cache.flush());
                }
            }
        }
    }

    // REUSED: a thread number, which wraps after 2^32; held by headers of blocks that are out; by construction: only a
    //     statistic depends on it
    fn assign_number(&self) {
        static THREADS: AtomicU32 = AtomicU32::new(NO_THREAD + 1);
        if self.thread.get() == NO_THREAD {
            // MUTANT: Numbers of threads only have to differ.
            // ORDERING: Relaxed; guards nothing, and pairs with nothing: the numbers only have to differ.
            self.thread.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
    }
}

/// The share that a class has lost with its cache. It is dropped after the new cache has been used: with the last share
/// of a pool's tables the allocator runs, and if that uses a pool the caches may belong to other classes afterwards.
struct Displaced<'a> {
    /// The caches, if one has changed its class.
    caches: Option<&'a ThreadCaches>,
    share: Option<Arc<PoolCore>>,
}

impl Drop for Displaced<'_> {
    fn drop(&mut self) {
        // MUTANT: The field is dropped right after this function.
        drop(self.share.take());
        // Only caches keep the tables of a pool that has been freed alive.
        if let Some(own) = self.caches {
            own.flush(ThreadCache::is_stale);
        }
    }
}

impl ThreadCache {
    const fn new() -> Self {
        Self {
            class: Cell::new(ptr::null()),
            magazine: Cell::new(ptr::null()),
            top: Cell::new(0),
            held: Cell::new(None),
            previous: Cell::new(None),
            core: Cell::new(None),
        }
    }

    #[inline(always)]
    fn belongs_to(&self, class: &Class) -> bool {
        // A cache keeps its class alive, so no other class has its address.
        ptr::eq(self.class.get(), class)
    }

    #[inline(always)]
    fn take(&self, class: &Class) -> Option<Entry> {
        // SAFETY: a cache that belongs to a class has a magazine, and its share of the pool keeps that alive.
        let magazine = unsafe { &*self.magazine.get() };
        let mut top = self.top.get();
        while top > 0 {
            top -= 1;
            if let Some(entry) = magazine.take(top) {
                self.top.set(top);
                if let Some(next) = top.checked_sub(AHEAD).and_then(|at| magazine.peek(at)) {
                    // MUTANT: A prefetch, which is a hint.
                    class.fetch(next);
                }
                return Some(entry);
            }
        }
        self.top.set(0);
        None
    }

    fn hold(&self, held: Held, top: usize) {
        self.held.set(Some(held));
        self.magazine.set(held.magazine());
        self.top.set(top);
    }

    // MUTANT: Speed only: an empty magazine goes to the depot and another is claimed.
    /// Swaps the current magazine and the previous one, if that has blocks, or is empty if `empty`.
    fn switch(&self, empty: bool) -> bool {
        match (self.held.get(), self.previous.get()) {
            (Some(held), Some((previous, top))) if (top == 0) == empty => {
                self.previous.set(Some((held, self.top.get())));
                self.hold(previous, top);
                true
            }
            _ => false,
        }
    }

    /// Makes the current magazine the previous one, and gives the previous one to the depot.
    fn put_aside(&self, rounds: usize) {
        let aside = self.held.take().map(|held| (held, self.top.get()));
        if let Some((held, top)) = self.previous.replace(aside) {
            give(held, top, rounds);
        }
    }

    fn swap(&self, other: &Self) {
        self.class.swap(&other.class);
        self.magazine.swap(&other.magazine);
        self.top.swap(&other.top);
        self.held.swap(&other.held);
        self.previous.swap(&other.previous);
        self.core.swap(&other.core);
    }

    /// Whether the memory of the cache's pool has been freed.
    #[inline(never)]
    fn is_stale(&self) -> bool {
        let core = self.core.take();
        let ended = core.as_ref().is_some_and(|core| core.is_over());
        self.core.set(core);
        ended
    }

    /// Gives the magazines to the depot; returns the cache's share of the pool.
    #[inline(never)]
    fn flush(&self) -> Option<Arc<PoolCore>> {
        let class = self.class.replace(ptr::null());
        // SAFETY: null, or a class that the cache's share of the pool, which is still in `core`, keeps alive.
        let rounds = unsafe { class.as_ref() }?.depot.rounds;
        // MUTANT: A cache without a class is never asked for its magazine.
        self.magazine.set(ptr::null());
        // Computed anew: other threads may have stolen from them.
        let give_up = |held: Held| give(held, held.magazine().top(), rounds);
        if let Some(held) = self.held.take() {
            give_up(held);
        }
        if let Some((held, _)) = self.previous.take() {
            give_up(held);
        }
        self.core.take()
    }
}

// MUTANT: Speed only: an empty magazine goes to the depot and another is claimed.
/// Gives a magazine to the depot: offers it with its blocks, or releases it.
fn give(held: Held, top: usize, rounds: usize) {
    if top == 0 { held.release() } else { held.offer(top, rounds) }
}

// THREAD EXIT: all magazines are given back; tables are freed after that; test: src/pool/thread_cache/tests.rs:
//     a_thread_that_ends_gives_back_its_empty_magazines
impl Drop for ThreadCaches {
    fn drop(&mut self) {
        self.flush(|_| true);
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
