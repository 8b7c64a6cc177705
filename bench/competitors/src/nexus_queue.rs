//! `nexus-queue`: its `spsc` and `mpsc` rings.
//!
//! The one-to-one ring has two indices and copies of them in the handles. The many-to-one ring has slots with turn
//! numbers. It cannot wait: the documentation shows a loop with a pause of the CPU, and pins both threads.

use ::nexus_queue::{Full, mpsc, spsc};
use ybench_measure::transport::spinning::{Pop, Push, Queue, Shared, places};
use ybench_measure::transport::{Ends, Message, Shape, Traits, copies};

use crate::end::End;

pub struct Ring<const SLOTS: usize>;
pub struct Mpsc;

impl<const SLOTS: usize> Queue for Ring<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        65_536 => ["nexus-queue-64k", "nexus-queue-64k-no-pause"],
        1_024 => ["nexus-queue-1k", "nexus-queue-1k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        65_536 => [
            "nexus-queue's spsc with 65,536 slots, both sides spinning",
            "nexus-queue's spsc with 65,536 slots, both sides spinning without a pause between two polls",
        ],
        _ => [
            "nexus-queue's spsc with 1,024 slots, both sides spinning",
            "nexus-queue's spsc with 1,024 slots, both sides spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits { bounded: true, variant: SLOTS == 1_024, ..crate::COMMON };
    type Push<M: Message> = End<spsc::Producer<M>>;
    type Pop<M: Message> = End<spsc::Consumer<M>>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let (producer, consumer) = spsc::ring_buffer(places::<M>(SLOTS));
        (End(producer), End(consumer))
    }
}

impl Queue for Mpsc {
    const NAMES: [&'static str; 2] = ["nexus-queue-mpsc-1k", "nexus-queue-mpsc-1k-no-pause"];
    const ABOUT: [&'static str; 2] = [
        "nexus-queue's mpsc with 1,024 slots, all threads spinning",
        "nexus-queue's mpsc with 1,024 slots, all threads spinning without a pause between two polls",
    ];
    const TRAITS: Traits = Traits { bounded: true, senders: Ends::Many, ..crate::COMMON };
    type Push<M: Message> = End<mpsc::Producer<M>>;
    type Pop<M: Message> = End<mpsc::Consumer<M>>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let (producer, consumer) = mpsc::ring_buffer(places::<M>(1_024));
        (End(producer), End(consumer))
    }
}

impl Shared for Mpsc {
    fn open_many<M: Message>(shape: Shape) -> (Vec<Self::Push<M>>, Vec<Self::Pop<M>>) {
        let (producer, consumer) = Self::open::<M>();
        (copies(producer, shape.senders), vec![consumer])
    }
}

macro_rules! pushed {
    ($($producer:ty, $consumer:ty;)+) => { $(
        impl<M: Message> Push<M> for End<$producer> {
            #[inline(always)]
            fn push(&mut self, message: M) -> Result<(), M> {
                self.0.push(message).map_err(|Full(message)| message)
            }
        }

        impl<M: Message> Pop<M> for End<$consumer> {
            #[inline(always)]
            fn pop(&mut self) -> Option<M> {
                self.0.pop()
            }
        }
    )+ };
}
pushed! {
    spsc::Producer<M>, spsc::Consumer<M>;
    mpsc::Producer<M>, mpsc::Consumer<M>;
}
