//! A ring with two indices: the writer publishes by its tail, the reader frees by its head, each keeps the last value
//! it has seen of the other's. As small as such a ring can be, with the check for a sleeper.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};

use crossbeam_utils::CachePadded;

use super::chunks::prefetch_to_write;
use super::contest::{self, Layout};

pub(crate) struct Index<const SLOTS: usize, const PREFETCH: usize>;

struct Ring {
    slots: Box<[UnsafeCell<u64>]>,
    /// Values read so far. Written by the reader.
    head: CachePadded<AtomicUsize>,
    /// Values written so far. Written by the writer.
    tail: CachePadded<AtomicUsize>,
    asleep: CachePadded<AtomicU32>,
}

// SAFETY: a slot belongs to the writer before its publication and to the reader from then on until it is freed.
unsafe impl Sync for Ring {}

pub(crate) struct Writer<const SLOTS: usize, const PREFETCH: usize> {
    ring: Arc<Ring>,
    tail: usize,
    head_seen: usize,
}

pub(crate) struct Reader<const SLOTS: usize> {
    ring: Arc<Ring>,
    head: usize,
    tail_seen: usize,
}

impl<const SLOTS: usize, const PREFETCH: usize> Layout for Index<SLOTS, PREFETCH> {
    type Writer = Writer<SLOTS, PREFETCH>;
    type Reader = Reader<SLOTS>;

    fn pair() -> (Self::Writer, Self::Reader) {
        const { assert!(SLOTS.is_power_of_two()) };
        let ring = Arc::new(Ring {
            slots: (0..SLOTS).map(|_| UnsafeCell::new(0)).collect(),
            head: CachePadded::default(),
            tail: CachePadded::default(),
            asleep: CachePadded::default(),
        });
        (Writer { ring: ring.clone(), tail: 0, head_seen: 0 }, Reader { ring, head: 0, tail_seen: 0 })
    }
}

impl<const SLOTS: usize, const PREFETCH: usize> contest::Writer for Writer<SLOTS, PREFETCH> {
    #[inline(always)]
    fn write(&mut self, value: u64) {
        let ring = &*self.ring;
        while self.tail - self.head_seen == SLOTS {
            // ORDERING: Acquire pairs with the Release in `read`: the slots up to there are free.
            self.head_seen = ring.head.load(Ordering::Acquire);
            if self.tail - self.head_seen == SLOTS {
                std::hint::spin_loop();
            }
        }
        if PREFETCH > 0 && self.tail.is_multiple_of(8) {
            prefetch_to_write(ring.slots[(self.tail + 8 * PREFETCH) % SLOTS].get());
        }
        // SAFETY: the slot is free: fewer than SLOTS values are between head and tail.
        unsafe { *ring.slots.get_unchecked(self.tail % SLOTS).get() = value };
        self.tail += 1;
        // ORDERING: Release pairs with the Acquire in `read`: the value is there.
        ring.tail.store(self.tail, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        // ORDERING: Relaxed: a sleeper makes every writer pass a barrier before it checks for the last time.
        if ring.asleep.load(Ordering::Relaxed) != 0 {
            std::hint::black_box(());
        }
    }
}

impl<const SLOTS: usize> contest::Reader for Reader<SLOTS> {
    #[inline(always)]
    fn read(&mut self) -> Option<u64> {
        let ring = &*self.ring;
        if self.head == self.tail_seen {
            // ORDERING: Acquire pairs with the Release in `write`: the values up to there are there.
            self.tail_seen = ring.tail.load(Ordering::Acquire);
            if self.head == self.tail_seen {
                return None;
            }
        }
        // SAFETY: the value has been published and is not freed yet.
        let value = unsafe { *ring.slots.get_unchecked(self.head % SLOTS).get() };
        self.head += 1;
        // ORDERING: Release pairs with the Acquire in `write`: the slot is free.
        ring.head.store(self.head, Ordering::Release);
        Some(value)
    }
}
