//! State in the slot: `[lap, value]`, four of them in a cache line. The reader never writes a slot and needs no other
//! word of the writer's; half of the memory is states.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::chunks::{LINE, Position, Shared, begin, prefetch_to_write, state};
use super::contest::{self, Layout};

pub(crate) struct Slot<const PREFETCH: usize>;

pub(crate) struct Writer<const PREFETCH: usize> {
    shared: Arc<Shared>,
    at: Position,
    /// The lap word of the next slot.
    next: *mut u64,
}

pub(crate) struct Reader {
    shared: Arc<Shared>,
    at: Position,
    /// The lap word of the next slot.
    next: *mut u64,
}

// SAFETY: the pointers lead into chunks kept alive by the list, each value of which one handle owns at any time.
unsafe impl<const PREFETCH: usize> Send for Writer<PREFETCH> {}
// SAFETY: as above.
unsafe impl Send for Reader {}

impl<const PREFETCH: usize> Layout for Slot<PREFETCH> {
    type Writer = Writer<PREFETCH>;
    type Reader = Reader;

    fn pair() -> (Writer<PREFETCH>, Reader) {
        let (shared, at) = begin();
        let next = at.first();
        (Writer { shared: shared.clone(), at, next }, Reader { shared, at, next })
    }
}

impl<const PREFETCH: usize> contest::Writer for Writer<PREFETCH> {
    #[inline(always)]
    fn write(&mut self, value: u64) {
        if PREFETCH > 0 && self.next.addr().is_multiple_of(LINE) {
            prefetch_to_write(self.next.wrapping_byte_add(LINE * PREFETCH));
        }
        if self.next == self.at.past() {
            self.at = self.shared.next_to_write(self.at);
            self.next = self.at.first();
        }
        // SAFETY: the second word of a slot is its value, which the writer has not published in this lap.
        unsafe { self.next.wrapping_add(1).write(value) };
        // SAFETY: the first word of a slot is its lap.
        // ORDERING: Release pairs with the Acquire in `read`: the value is there.
        unsafe { state(self.next) }.store(self.at.lap, Ordering::Release);
        self.next = self.next.wrapping_add(2);
        self.shared.look_for_a_sleeper();
    }
}

impl contest::Reader for Reader {
    #[inline(always)]
    fn read(&mut self) -> Option<u64> {
        if self.next == self.at.past() {
            self.at = self.shared.next_to_read(self.at)?;
            self.next = self.at.first();
        }
        // SAFETY: the first word of a slot is its lap.
        // ORDERING: Acquire pairs with the Release in `write`.
        if unsafe { state(self.next) }.load(Ordering::Acquire) != self.at.lap {
            return None;
        }
        // SAFETY: the lap announced this value, and the writer does not use it until the chunk is returned.
        let value = unsafe { self.next.wrapping_add(1).read() };
        self.next = self.next.wrapping_add(2);
        Some(value)
    }
}
