//! `rtrb`: a ring with two indices and no way to sleep, both sides spinning. Its documentation leaves the waiting to
//! its users, and recommends chunks for batches.
//!
//! ```text
//!   sender thread   push, push, push ... ----> ring ----> pop, pop, pop ...   receiver thread
//! ```

use std::ops::Range;

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use super::spinning::{Pop, Push, Queue, places};
use super::{Message, Traits};

pub struct Ring<const SLOTS: usize>;

impl<const SLOTS: usize> Queue for Ring<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        65_536 => ["rtrb-64k", "rtrb-64k-no-pause"],
        1_024 => ["rtrb-1k", "rtrb-1k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        65_536 => [
            "rtrb with 65,536 slots, both sides spinning",
            "rtrb with 65,536 slots, both sides spinning without a pause between two polls",
        ],
        _ => [
            "rtrb with 1,024 slots, both sides spinning",
            "rtrb with 1,024 slots, both sides spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits { batches: true, bounded: true, variant: SLOTS == 1_024, ..Traits::COMMON };
    type Push<M: Message> = Producer<M>;
    type Pop<M: Message> = Consumer<M>;

    fn open<M: Message>() -> (Producer<M>, Consumer<M>) {
        RingBuffer::new(places::<M>(SLOTS))
    }
}

impl<M: Message> Push<M> for Producer<M> {
    #[inline(always)]
    fn push(&mut self, message: M) -> Result<(), M> {
        Producer::push(self, message).map_err(|PushError::Full(message)| message)
    }

    #[inline(always)]
    fn push_run(&mut self, numbers: Range<usize>) -> usize {
        let room = self.slots().min(numbers.len());
        self.write_chunk_uninit(room).map_or(0, |chunk| chunk.fill_from_iter(numbers.map(M::numbered)))
    }
}

impl<M: Message> Pop<M> for Consumer<M> {
    #[inline(always)]
    fn pop(&mut self) -> Option<M> {
        Consumer::pop(self).ok()
    }

    #[inline(always)]
    fn pop_run(&mut self, into: &mut Vec<M>, max: usize) {
        let there = self.slots().min(max);
        if let Ok(chunk) = self.read_chunk(there) {
            into.extend(chunk);
        }
    }
}
