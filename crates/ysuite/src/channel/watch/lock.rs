//! The lock of a watch's value: one writer, or any number of readers.
//!
//! Any thread. Blocks: a reader waits while a writer holds the lock, or waits for it; a writer waits while any other
//! thread holds it. A reader whose thread reads already, this value or another, passes a writer that only waits: that
//! writer may be waiting for this very thread. So a thread may read as often as it likes, and no waiting writer comes
//! between its reads. Threads that wait spin for a moment and sleep in the kernel; in no order.
//!
//! Cannot: detect that a writing thread reads itself. It waits for ever.

// The model checker's `thread_local!` takes no `const`.
#![allow(clippy::missing_const_for_thread_local)]

use core::cell::Cell;
use core::marker::PhantomData;

use crate::os::{Deadline, sleep_on, wake};
use crate::sync::{AtomicU32, Ordering, spin_loop, thread_local};

/// A writer holds the lock.
const WRITER: u32 = 1 << 31;
/// A writer waits: new readers must wait.
const WAITING: u32 = 1 << 30;
/// At least one thread sleeps on the word.
const SLEEPS: u32 = 1 << 29;
/// The number of readers.
const READERS: u32 = SLEEPS - 1;
/// Wakes all sleepers: the kernel takes a signed number.
pub(super) const ALL: u32 = i32::MAX as u32;
/// How often a waiting thread polls before it sleeps: about the time that moving a value takes.
const LOOKS: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 100 };

// THREAD EXIT: `READS`: a receiver reads as if its thread held the lock already, so no waiting sender holds it up; by
//     construction: `try_with`
thread_local! {
    /// The number of reads of watched values that this thread holds.
    static READS: Cell<usize> = Cell::new(0);
}

pub(super) struct WatchLock {
    word: AtomicU32,
}

/// A reader holds the lock, on this thread.
pub(super) struct ValueRead<'a> {
    lock: &'a WatchLock,
    /// Counted by its thread.
    thread: PhantomData<*const ()>,
}

// SAFETY: a shared reference gives access to nothing; it is made and dropped on one thread.
unsafe impl Sync for ValueRead<'_> {}

/// A writer holds the lock.
pub(super) struct ValueWrite<'a>(&'a WatchLock);

impl WatchLock {
    pub(super) fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    /// Waits for a writer that holds the lock, and for a waiting writer, unless this thread reads already.
    #[inline]
    pub(super) fn read(&self) -> ValueRead<'_> {
        let word = self.look();
        if word >= READERS || !self.enter(word) {
            self.read_slowly();
        }
        ValueRead::begin(self)
    }

    /// `None`: a writer holds the lock. A waiting writer is passed.
    pub(super) fn try_read(&self) -> Option<ValueRead<'_>> {
        let mut word = self.look();
        while word & WRITER == 0 {
            if self.enter(word) {
                return Some(ValueRead::begin(self));
            }
            word = self.look();
        }
        None
    }

    /// Waits until no thread holds the lock.
    #[inline]
    pub(super) fn write(&self) -> ValueWrite<'_> {
        // ORDERING: Acquire pairs with the Release of the threads that leave. Relaxed on failure: it checks again.
        if self.word.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.write_slowly();
        }
        ValueWrite(self)
    }

    fn look(&self) -> u32 {
        // ORDERING: Relaxed; the exchange of what was found decides.
        self.word.load(Ordering::Relaxed)
    }

    /// Adds one reader, if the word is still `word`.
    #[inline]
    fn enter(&self, word: u32) -> bool {
        assert!(word & READERS != READERS, "too many simultaneous reads of a watched value");
        // ORDERING: Acquire pairs with the Release of the last writer. Relaxed on failure: it checks again.
        self.word.compare_exchange(word, word + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn read_slowly(&self) {
        // A thread whose locals are destroyed may read already.
        let in_the_way = if READS.try_with(Cell::get).unwrap_or(1) == 0 { WRITER | WAITING } else { WRITER };
        self.spin(in_the_way);
        loop {
            let word = self.look();
            if word & in_the_way != 0 {
                self.sleep(word);
            } else if self.enter(word) {
                return;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slowly(&self) {
        self.spin(WRITER | READERS);
        loop {
            let word = self.look();
            if word & (WRITER | READERS) != 0 {
                if word & WAITING != 0 {
                    self.sleep(word);
                } else {
                    self.mark(word, WAITING);
                }
                continue;
            }
            // Another waiting writer sets the mark again when it is woken.
            // ORDERING: as in `write`.
            let taken = word & SLEEPS | WRITER;
            if self.word.compare_exchange(word, taken, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Polls for a moment whether the lock is free.
    fn spin(&self, in_the_way: u32) {
        #[cfg_attr(
            ysuite_loom,
            allow(clippy::reversed_empty_ranges, reason = "a model does not poll before it sleeps")
        )]
        for _ in 0..LOOKS {
            if self.look() & in_the_way == 0 {
                return;
            }
            spin_loop();
        }
    }

    /// Puts a mark into the word, if that is still `word`.
    fn mark(&self, word: u32, mark: u32) -> bool {
        // ORDERING: Relaxed twice; the mark says only that a thread waits.
        self.word.compare_exchange(word, word | mark, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Sleeps while the word is `word`, with the mark that a thread sleeps.
    fn sleep(&self, word: u32) {
        if word & SLEEPS != 0 || self.mark(word, SLEEPS) {
            sleep_on(&self.word, word | SLEEPS, Deadline::Never);
        }
    }

    /// Wakes all sleepers. A thread that arrives meanwhile, and finds the mark still there, finds another word when it
    /// tries to sleep.
    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // ORDERING: Relaxed; the woken threads check again.
        self.word.fetch_and(!SLEEPS, Ordering::Relaxed);
        wake(&self.word, ALL);
    }
}

impl<'a> ValueRead<'a> {
    /// The lock counts this reader already.
    fn begin(lock: &'a WatchLock) -> Self {
        let _ = READS.try_with(|reads| reads.set(reads.get() + 1));
        Self { lock, thread: PhantomData }
    }
}

// USER CODE: none (it changes a word, and wakes threads)
impl Drop for ValueRead<'_> {
    #[inline]
    fn drop(&mut self) {
        let _ = READS.try_with(|reads| reads.set(reads.get().saturating_sub(1)));
        // ORDERING: Release pairs with the Acquire of the next writer: this reader has read the value before that
        //     changes it.
        let word = self.lock.word.fetch_sub(1, Ordering::Release) - 1;
        if word & READERS == 0 && word & SLEEPS != 0 {
            self.lock.wake();
        }
    }
}

impl Drop for ValueWrite<'_> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: Release pairs with the Acquire of the threads that come: they find what this writer has left.
        if self.0.word.swap(0, Ordering::Release) & SLEEPS != 0 {
            wake(&self.0.word, ALL);
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;
    use crate::sync::{Arc, thread};

    /// The word that a writer leaves when it waits for readers.
    fn waits(lock: &WatchLock) {
        assert!(lock.mark(lock.look(), WAITING));
    }

    #[test]
    fn a_thread_that_reads_passes_a_writer_that_waits_and_another_does_not() {
        let lock = Arc::new(WatchLock::new());
        let first = lock.read();
        waits(&lock);
        let second = lock.read();
        assert_eq!(lock.look(), 2 | WAITING);
        let other = lock.clone();
        let thread = thread::spawn(move || drop(other.read()));
        // It sleeps there.
        while lock.look() & SLEEPS == 0 {
            std::thread::yield_now();
        }
        drop(first);
        drop(second);
        // As that writer would.
        drop(lock.write());
        thread.join().unwrap();
        assert_eq!(lock.look(), 0);
    }

    #[test]
    fn a_try_passes_a_writer_that_waits_and_waits_for_none_that_writes() {
        let lock = WatchLock::new();
        waits(&lock);
        assert!(lock.try_read().is_some());
        let writing = lock.write();
        assert!(lock.try_read().is_none());
        drop(writing);
        assert!(lock.try_read().is_some());
    }
}
