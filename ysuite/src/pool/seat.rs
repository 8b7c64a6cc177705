//! What a thread has at hand: for each class it uses a seat, with one or two magazines.
//!
//! The calling thread only. Taking and giving back within a magazine is wait-free; changing it is the depot's business. A
//! thread keeps the magazine it had before the one in its hand, full or empty, and turns to it first: so one that gives and
//! takes a few blocks to and fro across the edge of a magazine leaves the depot alone.
//!
//! A seat keeps the pool's tables alive, not its blocks: those go with the last message, and the tables when the thread
//! ends or needs the seat for another pool. Threads that are past their thread-locals go to the depot for each block.
//!
//! Whatever can fail or be called back, the allocator, comes before a seat is changed, or after it.

use core::cell::Cell;
use core::ptr;
// Numbers for threads: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicU32;

use super::class::Class;
use super::core::Core;
use super::group::Held;
use super::magazine::{Entry, Magazine};
use crate::sync::{Arc, Ordering};

/// Seats of a thread, in each of two rows. Classes are dealt out to them in turn; a third class pushes one of two out.
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
    /// All its slots from here on are empty.
    top: Cell<usize>,
    held: Cell<Option<Held>>,
    /// The magazine that was in hand before, and its top: it was full then, or empty.
    other: Cell<Option<(Held, usize)>>,
    /// Keeps the class alive.
    core: Cell<Option<Arc<Core>>>,
}

struct Seats {
    /// The thread's number; 0 before it has been to a depot.
    thread: Cell<u32>,
    /// Where a class is looked for first.
    front: [Seat; SEATS],
    /// Where it sits while another has the seat in front.
    back: [Seat; SEATS],
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

/// All that do so share magazines that have room.
#[cold]
fn put_past_locals(class: &Class, entry: Entry) -> Arc<Core> {
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

impl Seats {
    const fn new() -> Self {
        Self { thread: Cell::new(NOBODY), front: [const { Seat::new() }; SEATS], back: [const { Seat::new() }; SEATS] }
    }

    #[inline(always)]
    fn take(&self, class: &Class) -> Option<(Entry, u32)> {
        let seat = &self.front[class.seat()];
        let taken = if seat.is_of(class) { seat.take(class) } else { None };
        taken.or_else(|| self.take_elsewhere(class)).map(|entry| (entry, self.thread.get()))
    }

    #[cold]
    #[inline(never)]
    fn take_elsewhere(&self, class: &Class) -> Option<Entry> {
        self.introduce();
        if let Some(seat) = self.find(class) {
            let taken = seat.take(class).or_else(|| if seat.turn(false) { seat.take(class) } else { None });
            if taken.is_some() {
                return taken;
            }
        }
        while let Some(held) = class.depot().adopt() {
            held.magazine().calm();
            let seat = self.sit(class, held, held.magazine().left());
            let taken = seat.take(class);
            if taken.is_some() {
                return taken;
            }
        }
        class.depot().steal()
    }

    #[inline(always)]
    fn put(&self, class: &Class, entry: Entry, taker: u32) {
        let mut seat = &self.front[class.seat()];
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
        self.introduce();
        let rounds = class.depot().rounds();
        let Some(seat) = self.find(class) else {
            let (held, top) = class.depot().claim_roomy();
            held.magazine().calm();
            return self.sit(class, held, top);
        };
        if seat.top.get() < rounds || seat.turn(true) {
            return seat;
        }
        self.sit(class, class.depot().claim(), 0)
    }

    /// The class's seat, if it has one: from now on it is in front.
    fn find(&self, class: &Class) -> Option<&Seat> {
        let (seat, back) = (&self.front[class.seat()], &self.back[class.seat()]);
        if !seat.is_of(class) {
            if !back.is_of(class) {
                return None;
            }
            seat.swap(back);
        }
        Some(seat)
    }

    /// The class's seat in front, with this magazine in hand.
    fn sit(&self, class: &Class, held: Held, top: usize) -> &Seat {
        if let Some(seat) = self.find(class) {
            seat.put_aside(class.depot().rounds());
            seat.hold(held, top);
            return seat;
        }
        let core = class.core();
        let seat = &self.front[class.seat()];
        seat.swap(&self.back[class.seat()]);
        // What has not been used for longer leaves.
        let left = seat.leave();
        seat.core.set(Some(core));
        seat.class.set(class);
        seat.hold(held, top);
        drop(left);
        // Nothing keeps the tables of pools that have ended but threads that do not know it.
        self.seats().filter(|seat| seat.is_in_vain()).for_each(|seat| drop(seat.leave()));
        seat
    }

    fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.front.iter().chain(&self.back)
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
            held: Cell::new(None),
            other: Cell::new(None),
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
        self.held.set(Some(held));
        self.magazine.set(held.magazine());
        self.top.set(top);
    }

    /// Turns to the magazine that was in hand before, if that is full, or empty where `empty`.
    fn turn(&self, empty: bool) -> bool {
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
    fn is_in_vain(&self) -> bool {
        let core = self.core.take();
        let ended = core.as_ref().is_some_and(|core| core.is_over());
        self.core.set(core);
        ended
    }

    /// Gives the magazines back, and lets the pool go with what is returned.
    fn leave(&self) -> Option<Arc<Core>> {
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

impl Drop for Seats {
    fn drop(&mut self) {
        self.seats().for_each(|seat| drop(seat.leave()));
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
