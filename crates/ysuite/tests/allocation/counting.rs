//! The allocator: counts the allocations of each thread, and what it holds, so that "allocates nothing" and "is small" can
//! be tested; and notifies a thread on request when something is allocated, grows, or is freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// Receives the new size of a growing allocation.
pub(crate) type Growth = Box<dyn FnMut(usize)>;

thread_local! {
    static GROWTH: RefCell<Option<Growth>> = const { RefCell::new(None) };
}

thread_local! {
    static NEXT_ALLOCATION: Cell<Option<fn()>> = const { Cell::new(None) };
    static NEXT_FREE: Cell<Option<fn()>> = const { Cell::new(None) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and reallocations of this thread so far.
pub(crate) fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

/// Bytes this thread has allocated, less those it has freed.
pub(crate) fn held() -> i64 {
    HELD.with(Cell::get)
}

/// From now on `growth` is called for each growing allocation of this thread, except while it is being called.
pub(crate) fn tell_of_growth(growth: Option<Growth>) {
    GROWTH.with(|place| *place.borrow_mut() = growth);
}

/// `act` is called before the next allocation of this thread, by the allocator. It must not panic.
pub(crate) fn at_the_next_allocation(act: fn()) {
    NEXT_ALLOCATION.with(|place| place.set(Some(act)));
}

/// `act` is called after the next free of this thread, by the allocator.
pub(crate) fn at_the_next_free(act: fn()) {
    NEXT_FREE.with(|place| place.set(Some(act)));
}

/// Whether the allocator has called what was to be called.
pub(crate) fn has_been_called() -> bool {
    NEXT_FREE.with(Cell::take).is_none()
}

fn tell(bytes: usize) {
    let growth =
        GROWTH.try_with(|place| place.try_borrow_mut().ok().and_then(|mut growth| growth.take())).ok().flatten();
    if let Some(mut growth) = growth {
        growth(bytes);
        tell_of_growth(Some(growth));
    }
}

fn count() {
    // A thread that is past its thread-locals may still allocate.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

fn hold(bytes: i64) {
    // As above.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: everything is passed on to the system's allocator unchanged; counting allocates nothing, and the functions
// that are called for an allocation, for growth, or for a free, may allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size() as i64);
        if let Ok(Some(act)) = NEXT_ALLOCATION.try_with(Cell::take) {
            act();
        }
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) };
        if let Ok(Some(act)) = NEXT_FREE.try_with(Cell::take) {
            act();
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        hold(size as i64 - layout.size() as i64);
        tell(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
