//! `ringbuf`: a `HeapRb` split in two, which its documentation recommends for most cases.
//!
//! A ring with two indices. Each handle keeps a copy of the other's and reads the true one when there seems to be no
//! progress. It cannot wait. Batches use `push_iter` and `pop_slice_uninit`, each with one publication. `pop_iter` has
//! one for each message, and the documentation advises against it there.

use std::ops::Range;

use ::ringbuf::traits::{Consumer, Producer, Split};
use ::ringbuf::{HeapCons, HeapProd, HeapRb};
use ybench_measure::transport::spinning::{Pop, Push, Queue, places};
use ybench_measure::transport::{Message, Traits};

use crate::end::End;

pub struct Ring<const SLOTS: usize>;

impl<const SLOTS: usize> Queue for Ring<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        65_536 => ["ringbuf-64k", "ringbuf-64k-no-pause"],
        1_024 => ["ringbuf-1k", "ringbuf-1k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        65_536 => [
            "ringbuf with 65,536 slots, both sides spinning",
            "ringbuf with 65,536 slots, both sides spinning without a pause between two polls",
        ],
        _ => [
            "ringbuf with 1,024 slots, both sides spinning",
            "ringbuf with 1,024 slots, both sides spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits { bounded: true, batches: true, variant: SLOTS == 1_024, ..crate::COMMON };
    type Push<M: Message> = End<HeapProd<M>>;
    type Pop<M: Message> = End<HeapCons<M>>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let (producer, consumer) = HeapRb::new(places::<M>(SLOTS)).split();
        (End(producer), End(consumer))
    }
}

impl<M: Message> Push<M> for End<HeapProd<M>> {
    #[inline(always)]
    fn push(&mut self, message: M) -> Result<(), M> {
        self.0.try_push(message)
    }

    #[inline(always)]
    fn push_run(&mut self, numbers: Range<usize>) -> usize {
        self.0.push_iter(numbers.map(M::numbered))
    }
}

impl<M: Message> Pop<M> for End<HeapCons<M>> {
    #[inline(always)]
    fn pop(&mut self) -> Option<M> {
        self.0.try_pop()
    }

    #[inline(always)]
    fn pop_run(&mut self, into: &mut Vec<M>, max: usize) {
        into.reserve(max);
        let taken = self.0.pop_slice_uninit(&mut into.spare_capacity_mut()[..max]);
        // SAFETY: this number of messages has just been moved to the end of the vector, within its capacity.
        unsafe { into.set_len(into.len() + taken) };
    }
}
