//! The allocator: counts the bytes that the whole process holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Bytes allocated by all threads, less those that are freed.
static HELD: AtomicI64 = AtomicI64::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that are allocated now. Exact while no other thread allocates.
pub(crate) fn held() -> i64 {
    // ORDERING: Relaxed; a count, whose other threads have been joined, or wait.
    HELD.load(Ordering::Relaxed)
}

fn hold(bytes: i64) {
    // ORDERING: Relaxed; as above.
    HELD.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: everything is passed on to the system's allocator unchanged, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size() as i64);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        hold(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
