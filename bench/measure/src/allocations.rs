//! Counts of a thread's allocations and of its bytes in use: the system's allocator, with two counts for each thread.
//!
//! Every allocation of this program is counted, including those of competitors. That costs two additions to words of
//! the thread, compared with tens of nanoseconds for an allocation. Memory that comes directly from the kernel is not
//! counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and reallocations of this thread since its start.
pub fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

/// Bytes this thread has allocated, less those it has freed, no matter which thread had allocated them.
pub fn held() -> i64 {
    HELD.with(Cell::get)
}

#[inline(always)]
fn count(bytes: i64) {
    // A thread may still allocate after its thread-locals are gone.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    hold(bytes);
}

#[inline(always)]
fn hold(bytes: i64) {
    // As above.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: every call is passed on to the system's allocator unchanged, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's guarantees are the same.
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
        // The vector twice, two boxes, and the start of a thread: not the hundred of that thread.
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
