//! How often a thread has asked for memory, and how much of it is its own: the system's allocator, with two counts for each
//! thread beside it.
//!
//! Every allocation of this program is counted, also those of whatever is compared; that costs two additions to words of
//! the thread's own, where an allocation takes tens of nanoseconds. Memory that the kernel gives directly is not seen.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and reallocations of this thread so far.
pub fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

/// Bytes this thread has allocated, less those it has freed, whoever had allocated them.
pub fn held() -> i64 {
    HELD.with(Cell::get)
}

#[inline(always)]
fn count(bytes: i64) {
    // A thread that is past its thread-locals may still allocate.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    hold(bytes);
}

#[inline(always)]
fn hold(bytes: i64) {
    // As above.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: everything is passed on to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_counts_its_own() {
        let before = allocations();
        let mut kept = vec![Box::new(1)];
        std::thread::spawn(|| (0..100).map(Box::new).collect::<Vec<_>>()).join().unwrap();
        kept.push(Box::new(2));
        let counted = allocations() - before;
        // The vector twice, two boxes, and what it takes to start a thread: not the hundred of that thread.
        assert!((4..50).contains(&counted), "{counted}");
    }

    #[test]
    fn what_is_freed_is_held_no_longer() {
        let before = held();
        let bytes = vec![0u8; 10_000];
        assert_eq!(held() - before, 10_000);
        drop(bytes);
        assert_eq!(held(), before);
    }
}
