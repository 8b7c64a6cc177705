//! Line groups, cursor and stop: the memory of `line`, but each handle holds the next value's address and the address
//! at which it must check again, so that an ordinary step is one comparison.
//!
//! The state is the lap plus the byte offset just after the newest value.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::chunks::{LINE, Position, Shared, begin, prefetch_to_write, state};
use super::contest::{self, Layout};

pub(crate) struct LineStop<const PREFETCH: usize>;

pub(crate) struct Writer<const PREFETCH: usize> {
    shared: Arc<Shared>,
    at: Position,
    /// The next value's place, unless it is `stop`.
    next: *mut u64,
    /// The end of the line.
    stop: *mut u64,
}

pub(crate) struct Reader {
    shared: Arc<Shared>,
    at: Position,
    /// The next value's place, unless it is `stop`.
    next: *mut u64,
    /// Just after the last value that has been announced.
    stop: *mut u64,
}

// SAFETY: the pointers lead into chunks kept alive by the list, each word of which one handle owns at any time.
unsafe impl<const PREFETCH: usize> Send for Writer<PREFETCH> {}
// SAFETY: as above.
unsafe impl Send for Reader {}

impl<const PREFETCH: usize> Layout for LineStop<PREFETCH> {
    type Writer = Writer<PREFETCH>;
    type Reader = Reader;

    fn pair() -> (Writer<PREFETCH>, Reader) {
        let (shared, at) = begin();
        let next = at.first().wrapping_add(1);
        let stop = at.first().wrapping_byte_add(LINE);
        (Writer { shared: shared.clone(), at, next, stop }, Reader { shared, at, next, stop: next })
    }
}

impl<const PREFETCH: usize> Writer<PREFETCH> {
    /// To the next line, and to the next chunk if this was its last line.
    #[inline(always)]
    fn next_line(&mut self) {
        let mut line = self.next;
        if PREFETCH > 0 {
            prefetch_to_write(line.wrapping_byte_add(LINE * PREFETCH));
        }
        if line == self.at.past() {
            self.at = self.shared.next_to_write(self.at);
            line = self.at.first();
        }
        self.next = line.wrapping_add(1);
        self.stop = line.wrapping_byte_add(LINE);
    }
}

impl<const PREFETCH: usize> contest::Writer for Writer<PREFETCH> {
    #[inline(always)]
    fn write(&mut self, value: u64) {
        if self.next == self.stop {
            self.next_line();
        }
        let at = self.next;
        let offset = at.addr() % LINE;
        // SAFETY: `at` is a value of the writer's chunk that it has not published in this lap.
        unsafe { at.write(value) };
        // SAFETY: the first word of a line is its state.
        // ORDERING: Release pairs with the Acquire in `look`: the value is there.
        unsafe { state(at.wrapping_byte_sub(offset)) }.store(self.at.lap + offset as u64 + 8, Ordering::Release);
        self.next = at.wrapping_add(1);
        self.shared.look_for_a_sleeper();
    }
}

impl Reader {
    /// Moves on to the next possible value, and reads how many there are.
    #[inline(always)]
    fn look(&mut self) -> Option<()> {
        if self.next.addr().is_multiple_of(LINE) {
            if self.next == self.at.past() {
                self.at = self.shared.next_to_read(self.at)?;
                self.next = self.at.first();
            }
            self.next = self.next.wrapping_add(1);
            self.stop = self.next;
        }
        let offset = self.next.addr() % LINE;
        let line = self.next.wrapping_byte_sub(offset);
        // SAFETY: the first word of a line is its state.
        // ORDERING: Acquire pairs with the Release in `write`.
        let announced = unsafe { state(line) }.load(Ordering::Acquire);
        if announced <= self.at.lap + offset as u64 {
            return None;
        }
        self.stop = line.wrapping_byte_add((announced - self.at.lap) as usize);
        Some(())
    }
}

impl contest::Reader for Reader {
    #[inline(always)]
    fn read(&mut self) -> Option<u64> {
        if self.next == self.stop {
            self.look()?;
        }
        // SAFETY: the state announced this value, and the writer does not use it until the chunk is returned.
        let value = unsafe { self.next.read() };
        self.next = self.next.wrapping_add(1);
        Some(value)
    }
}
