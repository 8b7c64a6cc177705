//! What a thread has at hand: for each class it uses a seat, with a magazine.
//!
//! The calling thread only. Taking and giving back within a magazine is wait-free; changing it is the depot's business.
//! A seat keeps the pool's tables alive, not its blocks: those go with the last message, and the tables when the thread
//! ends or needs the seat for another pool. Threads that are past their thread-locals go to the depot for each block.

use core::cell::Cell;
use core::ptr;
// Numbers for threads: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicU32;

use super::class::Class;
use super::core::Core;
use super::depot::Held;
use super::magazine::{Entry, Magazine};
use crate::sync::{Arc, Ordering};

/// Seats of a thread. Classes are dealt out to them in turn; two classes of one seat push each other out.
pub(super) const SEATS: usize = if cfg!(ysuite_loom) { 2 } else { 32 };
/// How far ahead the memory of a block is fetched. About as many takes as a line needs to come from another CPU.
const AHEAD: usize = 4;
/// The number of no thread: of one that is past its thread-locals.
const NOBODY: u32 = 0;

struct Seat {
    /// Whose seat it is, or null.
    class: Cell<*const Class>,
    /// The magazine in hand; there is one whenever there is a class.
    magazine: Cell<*const Magazine>,
    /// All slots from here on are empty.
    top: Cell<usize>,
    held: Cell<Held>,
    /// Keeps the class alive.
    core: Cell<Option<Arc<Core>>>,
}

struct Seats {
    /// The thread's number; 0 before it has sat down anywhere.
    thread: Cell<u32>,
    seats: [Seat; SEATS],
}

#[cfg(not(ysuite_loom))]
std::thread_local! {
    static HERE: Seats = const { Seats::new() };
}
#[cfg(ysuite_loom)]
loom::thread_local! {
    static HERE: Seats = Seats::new();
}

/// Takes a block, and says which thread this is.
#[inline(always)]
pub(super) fn take(class: &Class) -> Option<(Entry, u32)> {
    HERE.try_with(|seats| seats.take(class)).unwrap_or_else(|_| class.depot().steal().map(|entry| (entry, NOBODY)))
}

/// Gives back a block that thread `taker` had taken. What is returned may be all that keeps the class alive.
#[inline(always)]
pub(super) fn put(class: &Class, entry: Entry, taker: u32) -> Option<Arc<Core>> {
    match HERE.try_with(|seats| seats.put(class, entry, taker)) {
        Ok(()) => None,
        Err(_) => Some(put_past_locals(class, entry)),
    }
}

#[cold]
fn put_past_locals(class: &Class, entry: Entry) -> Arc<Core> {
    // Before the entry can be seen: the pool may end with it.
    let core = class.core();
    let held = class.depot().claim();
    // SAFETY: a magazine lives as long as its depot, which is the class's.
    let magazine = unsafe { &*held.magazine() };
    magazine.count_elsewhere();
    magazine.put(0, entry);
    held.offer();
    class.published();
    core
}

impl Seats {
    const fn new() -> Self {
        Self { thread: Cell::new(NOBODY), seats: [const { Seat::new() }; SEATS] }
    }

    #[inline(always)]
    fn take(&self, class: &Class) -> Option<(Entry, u32)> {
        let seat = &self.seats[class.seat()];
        let taken = if seat.is_of(class) { seat.take(class) } else { None };
        taken.or_else(|| self.take_elsewhere(class)).map(|entry| (entry, self.thread.get()))
    }

    #[cold]
    #[inline(never)]
    fn take_elsewhere(&self, class: &Class) -> Option<Entry> {
        let seat = self.sit(class);
        while let Some(held) = class.depot().adopt() {
            // Its own is empty, or it would not have come here.
            seat.held.get().release();
            seat.hold(held, class.depot().rounds());
            // SAFETY: as in `put`.
            unsafe { &*held.magazine() }.calm();
            let taken = seat.take(class);
            if taken.is_some() {
                return taken;
            }
        }
        class.depot().steal()
    }

    #[inline(always)]
    fn put(&self, class: &Class, entry: Entry, taker: u32) {
        let mut seat = &self.seats[class.seat()];
        if !seat.is_of(class) || seat.top.get() == class.depot().rounds() {
            seat = self.make_room(class);
        }
        let top = seat.top.get();
        // SAFETY: a seat that is a class's has a magazine, and keeps it alive.
        let magazine = unsafe { &*seat.magazine.get() };
        if taker != self.thread.get() {
            magazine.count_elsewhere();
        }
        magazine.put(top, entry);
        seat.top.set(top + 1);
        // From here on the pool may end with what has just been given back; the seat keeps its tables.
        class.published();
    }

    /// A seat for the class, with room in its magazine.
    #[cold]
    #[inline(never)]
    fn make_room(&self, class: &Class) -> &Seat {
        let seat = self.sit(class);
        if seat.top.get() == class.depot().rounds() {
            seat.held.get().offer();
            seat.hold(class.depot().claim(), 0);
        }
        seat
    }

    /// The class's seat.
    fn sit(&self, class: &Class) -> &Seat {
        let seat = &self.seats[class.seat()];
        if !seat.is_of(class) {
            self.introduce();
            seat.leave();
            // Nothing keeps the tables of pools that have ended but threads that do not know it.
            self.seats.iter().filter(|seat| seat.is_in_vain()).for_each(Seat::leave);
            seat.core.set(Some(class.core()));
            seat.class.set(class);
            seat.hold(class.depot().claim(), 0);
        }
        seat
    }

    fn introduce(&self) {
        static THREADS: AtomicU32 = AtomicU32::new(NOBODY + 1);
        if self.thread.get() == NOBODY {
            // ORDERING: Relaxed; only the number matters.
            self.thread.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
    }
}

impl Seat {
    const fn new() -> Self {
        Self {
            class: Cell::new(ptr::null()),
            magazine: Cell::new(ptr::null()),
            top: Cell::new(0),
            held: Cell::new(Held::NONE),
            core: Cell::new(None),
        }
    }

    #[inline(always)]
    fn is_of(&self, class: &Class) -> bool {
        // A seat keeps its class alive: no other has its address.
        ptr::eq(self.class.get(), class)
    }

    #[inline(always)]
    fn take(&self, class: &Class) -> Option<Entry> {
        // SAFETY: a seat that is a class's has a magazine, and keeps it alive.
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
        self.held.set(held);
        self.magazine.set(held.magazine());
        self.top.set(top);
    }

    /// Whether the pool has ended.
    fn is_in_vain(&self) -> bool {
        let core = self.core.take();
        let ended = core.as_ref().is_some_and(|core| core.is_over());
        self.core.set(core);
        ended
    }

    /// Gives the magazine back, and lets the pool go.
    fn leave(&self) {
        if self.class.replace(ptr::null()).is_null() {
            return;
        }
        // SAFETY: as in `take`; `core` is still here.
        let empty = unsafe { &*self.magazine.replace(ptr::null()) }.len() == 0;
        let held = self.held.replace(Held::NONE);
        if empty {
            held.release()
        } else {
            held.offer()
        }
        drop(self.core.take());
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        self.seats.iter().for_each(Seat::leave);
    }
}
