//! Who the calling thread is: a number for each thread, also for one whose local values are being destroyed. Wait-free.

// The model checker's macro takes no `const`.
#![allow(clippy::missing_const_for_thread_local)]

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::sync::thread_local;

thread_local! {
    // Without a destructor: where the system knows thread-locals itself this is there to the thread's very end.
    static NUMBER: Cell<u64> = Cell::new(0);
}

/// A number that no other thread ever has. 0 where nothing can be known any more: on a system whose thread-locals are
/// emulated, while they are being destroyed.
pub(super) fn this_thread() -> u64 {
    NUMBER.try_with(|number| if number.get() == 0 { begin(number) } else { number.get() }).unwrap_or(0)
}

#[cold]
fn begin(number: &Cell<u64>) -> u64 {
    // Not the façade's: a number that guards nothing.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // ORDERING: Relaxed; numbers only have to differ.
    number.set(NEXT.fetch_add(1, Ordering::Relaxed));
    number.get()
}
