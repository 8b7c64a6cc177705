//! Line groups, one cursor: `[state, value x 7]` in each cache line. The address itself gives the place in the line.
//!
//! The state is the lap plus the byte offset of the newest value. The reader loads it once for all the values it
//! announces, and line and state travel together.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::chunks::{LINE, Position, Shared, begin, prefetch_to_write, state};
use super::contest::{self, Layout};

pub(crate) struct Line<const PREFETCH: usize>;

pub(crate) struct Writer<const PREFETCH: usize> {
    shared: Arc<Shared>,
    at: Position,
    /// The word before the next value: a state word, or the newest value.
    cursor: *mut u64,
}

pub(crate) struct Reader {
    shared: Arc<Shared>,
    at: Position,
    /// The word before the next value.
    cursor: *mut u64,
    /// The value of `cursor` after everything announced has been read.
    end: *mut u64,
}

// SAFETY: the pointers lead into chunks kept alive by the list, each word of which one handle owns at any time.
unsafe impl<const PREFETCH: usize> Send for Writer<PREFETCH> {}
// SAFETY: as above.
unsafe impl Send for Reader {}

impl<const PREFETCH: usize> Layout for Line<PREFETCH> {
    type Writer = Writer<PREFETCH>;
    type Reader = Reader;

    fn pair() -> (Writer<PREFETCH>, Reader) {
        let (shared, at) = begin();
        let cursor = at.first();
        (Writer { shared: shared.clone(), at, cursor }, Reader { shared, at, cursor, end: cursor })
    }
}

#[inline(always)]
fn offset(at: *mut u64) -> usize {
    at.addr() % LINE
}

/// The last value of a line is followed by the state word of the next.
#[inline(always)]
fn settled(cursor: *mut u64) -> *mut u64 {
    if offset(cursor) == LINE - 8 { cursor.wrapping_add(1) } else { cursor }
}

impl<const PREFETCH: usize> contest::Writer for Writer<PREFETCH> {
    #[inline(always)]
    fn write(&mut self, value: u64) {
        let mut before = self.cursor;
        if offset(before) == 0 {
            if PREFETCH > 0 {
                prefetch_to_write(before.wrapping_byte_add(LINE * PREFETCH));
            }
            if before == self.at.past() {
                self.at = self.shared.next_to_write(self.at);
                before = self.at.first();
            }
        }
        let at = before.wrapping_add(1);
        let line = at.wrapping_byte_sub(offset(at));
        // SAFETY: `at` is a value of the writer's chunk that it has not published in this lap.
        unsafe { at.write(value) };
        // SAFETY: the first word of a line is its state.
        // ORDERING: Release pairs with the Acquire in `read`: the value is there.
        unsafe { state(line) }.store(self.at.lap + offset(at) as u64, Ordering::Release);
        self.cursor = settled(at);
        self.shared.look_for_a_sleeper();
    }
}

impl contest::Reader for Reader {
    #[inline(always)]
    fn read(&mut self) -> Option<u64> {
        let mut before = self.cursor;
        if before == self.end {
            if before == self.at.past() {
                self.at = self.shared.next_to_read(self.at)?;
                before = self.at.first();
                self.cursor = before;
                self.end = before;
            }
            let line = before.wrapping_byte_sub(offset(before));
            // SAFETY: the first word of a line is its state.
            // ORDERING: Acquire pairs with the Release in `write`.
            let announced = unsafe { state(line) }.load(Ordering::Acquire);
            if announced <= self.at.lap + offset(before) as u64 {
                return None;
            }
            self.end = settled(line.wrapping_byte_add((announced - self.at.lap) as usize));
        }
        let at = before.wrapping_add(1);
        // SAFETY: the state announced this value, and the writer does not use it until the chunk is returned.
        let value = unsafe { at.read() };
        self.cursor = settled(at);
        Some(value)
    }
}
