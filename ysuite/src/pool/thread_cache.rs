//! What a thread has at hand: for each class it uses a cache, with one or two magazines.
//!
//! The calling thread only. Taking and giving back within a magazine is wait-free; changing it is the depot's business. A
//! thread keeps the magazine it had before the one in its hand, full or empty, and turns to it first: so one that gives and
//! takes a few blocks to and fro across the edge of a magazine leaves the depot alone.
//!
//! A cache keeps the pool's tables alive, not its blocks: those go with the last message, and the tables when the thread
//! ends or needs the cache for another pool. Threads that are past their thread-locals go to the depot for each block.
//!
//! Whatever can fail or be called back, the allocator, comes before a cache is changed, or after it.

use core::cell::Cell;
use core::ptr;
// Numbers for threads: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicU32;

use super::class::Class;
use super::core::PoolCore;
use super::group::Held;
use super::magazine::{Entry, Magazine};
use crate::sync::{Arc, Ordering};

/// ThreadCaches of a thread, in each of two rows. Classes are dealt out to them in turn; a third class pushes one of two out.
pub(super) const ROW: usize = if cfg!(ysuite_loom) { 2 } else { 32 };
/// How far ahead the memory of a block is fetched. About as many takes as a line needs to come from another CPU.
const AHEAD: usize = 4;
/// The number of no thread: of one that is past its thread-locals.
const NO_THREAD: u32 = 0;

struct ThreadCache {
    /// Whose cache it is, or null.
    class: Cell<*const Class>,
    /// The magazine in hand; there is one whenever there is a class.
    magazine: Cell<*const Magazine>,
    /// All its slots from here on are empty.
    top: Cell<usize>,
    held: Cell<Option<Held>>,
    /// The magazine that was in hand before, and its top: it was full then, or empty.
    other: Cell<Option<(Held, usize)>>,
    /// Keeps the class alive.
    core: Cell<Option<Arc<PoolCore>>>,
}

struct ThreadCaches {
    /// The thread's number; 0 before it has been to a depot.
    thread: Cell<u32>,
    /// Where a class is looked for first.
    front: [ThreadCache; ROW],
    /// Where it sits while another has the cache in front.
    back: [ThreadCache; ROW],
}

#[cfg(not(ysuite_loom))]
std::thread_local! {
    static CACHES: ThreadCaches = const { ThreadCaches::new() };
}
#[cfg(ysuite_loom)]
loom::thread_local! {
    static CACHES: ThreadCaches = ThreadCaches::new();
}

/// Takes a block, and says which thread this is.
#[inline(always)]
pub(super) fn take(class: &Class) -> Option<(Entry, u32)> {
    CACHES
        .try_with(|caches| caches.take(class))
        .unwrap_or_else(|_| class.depot().steal().map(|entry| (entry, NO_THREAD)))
}

/// Gives back a block that thread `taker` had taken. What is returned may be all that keeps the class alive.
#[inline(always)]
pub(super) fn put(class: &Class, entry: Entry, taker: u32) -> Option<Arc<PoolCore>> {
    match CACHES.try_with(|caches| caches.put(class, entry, taker)) {
        Ok(()) => None,
        Err(_) => Some(put_past_locals(class, entry)),
    }
}

/// All that do so share magazines that have room.
#[cold]
fn put_past_locals(class: &Class, entry: Entry) -> Arc<PoolCore> {
    // Before the entry can be seen: the pool may end with it.
    let core = class.core();
    if class.is_closed() {
        // Nobody takes any more, so the depot need not have it before it is gathered.
        core.gathered(1);
        return core;
    }
    let (held, top) = class.depot().claim_roomy();
    held.magazine().count_elsewhere();
    held.magazine().put(top, entry);
    held.offer(top + 1, class.depot().rounds());
    class.published();
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

    #[inline(always)]
    fn take(&self, class: &Class) -> Option<(Entry, u32)> {
        let cache = &self.front[class.index_in_row()];
        let taken = if cache.belongs_to(class) { cache.take(class) } else { None };
        taken.or_else(|| self.take_elsewhere(class)).map(|entry| (entry, self.thread.get()))
    }

    #[cold]
    #[inline(never)]
    fn take_elsewhere(&self, class: &Class) -> Option<Entry> {
        self.assign_number();
        if let Some(cache) = self.find(class) {
            let taken = cache.take(class).or_else(|| if cache.switch(false) { cache.take(class) } else { None });
            if taken.is_some() {
                return taken;
            }
        }
        while let Some(held) = class.depot().adopt() {
            held.magazine().calm();
            let cache = self.install(class, held, held.magazine().left());
            let taken = cache.take(class);
            if taken.is_some() {
                return taken;
            }
        }
        class.depot().steal()
    }

    #[inline(always)]
    fn put(&self, class: &Class, entry: Entry, taker: u32) {
        let mut cache = &self.front[class.index_in_row()];
        if !cache.belongs_to(class) || cache.top.get() == class.depot().rounds() {
            cache = self.make_room(class);
        }
        let top = cache.top.get();
        // SAFETY: a cache that is a class's has a magazine, and keeps it alive.
        let magazine = unsafe { &*cache.magazine.get() };
        if taker != self.thread.get() {
            magazine.count_elsewhere();
        }
        magazine.put(top, entry);
        cache.top.set(top + 1);
        // From here on the pool may end with what has just been given back; the cache keeps its tables.
        class.published();
    }

    /// A cache for the class, with room in its magazine.
    #[cold]
    #[inline(never)]
    fn make_room(&self, class: &Class) -> &ThreadCache {
        self.assign_number();
        let rounds = class.depot().rounds();
        let Some(cache) = self.find(class) else {
            let (held, top) = class.depot().claim_roomy();
            held.magazine().calm();
            return self.install(class, held, top);
        };
        if cache.top.get() < rounds || cache.switch(true) {
            return cache;
        }
        self.install(class, class.depot().claim(), 0)
    }

    /// The class's cache, if it has one: from now on it is in front.
    fn find(&self, class: &Class) -> Option<&ThreadCache> {
        let (cache, back) = (&self.front[class.index_in_row()], &self.back[class.index_in_row()]);
        if !cache.belongs_to(class) {
            if !back.belongs_to(class) {
                return None;
            }
            cache.swap(back);
        }
        Some(cache)
    }

    /// The class's cache in front, with this magazine in hand.
    fn install(&self, class: &Class, held: Held, top: usize) -> &ThreadCache {
        if let Some(cache) = self.find(class) {
            cache.put_aside(class.depot().rounds());
            cache.hold(held, top);
            return cache;
        }
        let core = class.core();
        let cache = &self.front[class.index_in_row()];
        cache.swap(&self.back[class.index_in_row()]);
        // What has not been used for longer leaves.
        let left = cache.flush();
        cache.core.set(Some(core));
        cache.class.set(class);
        cache.hold(held, top);
        drop(left);
        // Nothing keeps the tables of pools that have ended but threads that do not know it.
        self.caches().filter(|cache| cache.is_stale()).for_each(|cache| drop(cache.flush()));
        cache
    }

    fn caches(&self) -> impl Iterator<Item = &ThreadCache> {
        self.front.iter().chain(&self.back)
    }

    fn assign_number(&self) {
        static THREADS: AtomicU32 = AtomicU32::new(NO_THREAD + 1);
        if self.thread.get() == NO_THREAD {
            // ORDERING: Relaxed; only the number matters.
            self.thread.set(THREADS.fetch_add(1, Ordering::Relaxed));
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
            other: Cell::new(None),
            core: Cell::new(None),
        }
    }

    #[inline(always)]
    fn belongs_to(&self, class: &Class) -> bool {
        // A cache keeps its class alive: no other has its address.
        ptr::eq(self.class.get(), class)
    }

    #[inline(always)]
    fn take(&self, class: &Class) -> Option<Entry> {
        // SAFETY: a cache that is a class's has a magazine, and keeps it alive.
        let magazine = unsafe { &*self.magazine.get() };
        let mut top = self.top.get();
        while top > 0 {
            top -= 1;
            if let Some(entry) = magazine.take(top) {
                self.top.set(top);
                if let Some(next) = top.checked_sub(AHEAD).and_then(|at| magazine.peek(at)) {
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

    /// Turns to the magazine that was in hand before, if that is full, or empty where `empty`.
    fn switch(&self, empty: bool) -> bool {
        match (self.held.get(), self.other.get()) {
            (Some(held), Some((other, top))) if (top == 0) == empty => {
                self.other.set(Some((held, self.top.get())));
                self.hold(other, top);
                true
            }
            _ => false,
        }
    }

    /// Puts aside the magazine in hand, for another; gives that to the depot that was put aside before.
    fn put_aside(&self, rounds: usize) {
        let aside = self.held.take().map(|held| (held, self.top.get()));
        if let Some((held, top)) = self.other.replace(aside) {
            give(held, top, rounds);
        }
    }

    fn swap(&self, other: &Self) {
        self.class.swap(&other.class);
        self.magazine.swap(&other.magazine);
        self.top.swap(&other.top);
        self.held.swap(&other.held);
        self.other.swap(&other.other);
        self.core.swap(&other.core);
    }

    /// Whether the pool has ended.
    fn is_stale(&self) -> bool {
        let core = self.core.take();
        let ended = core.as_ref().is_some_and(|core| core.is_over());
        self.core.set(core);
        ended
    }

    /// Gives the magazines back, and lets the pool go with what is returned.
    fn flush(&self) -> Option<Arc<PoolCore>> {
        let class = self.class.replace(ptr::null());
        // SAFETY: `core`, which is still here, keeps the class alive.
        let rounds = unsafe { class.as_ref() }?.depot().rounds();
        self.magazine.set(ptr::null());
        let other = self.other.take().map(|(held, _)| held);
        // Others may have taken what this thread believes to be in.
        self.held.take().into_iter().chain(other).for_each(|held| give(held, held.magazine().top(), rounds));
        self.core.take()
    }
}

/// Gives a magazine to the depot: with its blocks, or to be claimed by others.
fn give(held: Held, top: usize, rounds: usize) {
    if top == 0 { held.release() } else { held.offer(top, rounds) }
}

impl Drop for ThreadCaches {
    fn drop(&mut self) {
        self.caches().for_each(|cache| drop(cache.flush()));
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
