//! `yring`: a ring whose handles publish and fetch in batches.
//!
//! Messages are visible when they are flushed, and their places are free when they are released; the user calls both.
//! It cannot wait. For single messages the documentation has `push_and_flush` and `prefetch_and_pop`, for batches the
//! calls inside these.

use std::ops::Range;

use ::yring::{Consumer, Producer, spsc};
use ybench_measure::transport::spinning::{Pop, Push, Queue, places};
use ybench_measure::transport::{Message, Traits};

use crate::end::End;

pub struct Ring<const SLOTS: usize>;

impl<const SLOTS: usize> Queue for Ring<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        65_536 => ["yring-64k", "yring-64k-no-pause"],
        1_024 => ["yring-1k", "yring-1k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        65_536 => [
            "yring with 65,536 slots, both sides spinning",
            "yring with 65,536 slots, both sides spinning without a pause between two polls",
        ],
        _ => [
            "yring with 1,024 slots, both sides spinning",
            "yring with 1,024 slots, both sides spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits { bounded: true, batches: true, variant: SLOTS == 1_024, ..crate::COMMON };
    type Push<M: Message> = End<Producer<M>>;
    type Pop<M: Message> = End<Consumer<M>>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let (producer, consumer) = spsc(places::<M>(SLOTS));
        (End(producer), End(consumer))
    }
}

impl<M: Message> Push<M> for End<Producer<M>> {
    #[inline(always)]
    fn push(&mut self, message: M) -> Result<(), M> {
        self.0.push_and_flush(message)
    }

    #[inline(always)]
    fn push_run(&mut self, numbers: Range<usize>) -> usize {
        let wanted = numbers.len();
        let pushed = numbers.map(M::numbered).position(|message| self.0.push(message).is_err()).unwrap_or(wanted);
        self.0.flush();
        pushed
    }
}

impl<M: Message> Pop<M> for End<Consumer<M>> {
    #[inline(always)]
    fn pop(&mut self) -> Option<M> {
        self.0.prefetch_and_pop()
    }

    #[inline(always)]
    fn pop_run(&mut self, into: &mut Vec<M>, max: usize) {
        self.0.prefetch();
        if self.0.pop_into(into, max) > 0 {
            self.0.release();
        }
    }
}
