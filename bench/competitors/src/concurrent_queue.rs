//! `concurrent-queue`: the queue inside `async-channel`, without its way to wait.
//!
//! With a bound it is an array of numbered slots, without one blocks of 31 messages. A thread that loses a race for a
//! slot yields. Full and empty are returned at once, and the documentation leaves the waiting to its users.

use std::sync::Arc;

use ::concurrent_queue::ConcurrentQueue;
use ybench_measure::transport::spinning::{Pop, Push, Queue, Shared, places};
use ybench_measure::transport::{Ends, Message, Shape, Traits, copies};

use crate::end::End;

/// Without a bound if there are no slots.
pub struct Concurrent<const SLOTS: usize>;

pub type Unbounded = Concurrent<0>;

type Shares<M> = End<Arc<ConcurrentQueue<M>>>;

impl<const SLOTS: usize> Queue for Concurrent<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        0 => ["concurrent-queue-unbounded", "concurrent-queue-unbounded-no-pause"],
        1_024 => ["concurrent-queue-1k", "concurrent-queue-1k-no-pause"],
        65_536 => ["concurrent-queue-64k", "concurrent-queue-64k-no-pause"],
        _ => panic!("a new size of queue needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        0 => [
            "concurrent-queue without a bound, all threads spinning",
            "concurrent-queue without a bound, all threads spinning without a pause between two polls",
        ],
        1_024 => [
            "concurrent-queue with 1,024 slots, all threads spinning",
            "concurrent-queue with 1,024 slots, all threads spinning without a pause between two polls",
        ],
        _ => [
            "concurrent-queue with 65,536 slots, all threads spinning",
            "concurrent-queue with 65,536 slots, all threads spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits {
        bounded: SLOTS > 0,
        variant: SLOTS == 65_536,
        senders: Ends::Many,
        receivers: Ends::Many,
        ..crate::COMMON
    };
    type Push<M: Message> = Shares<M>;
    type Pop<M: Message> = Shares<M>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let queue = Arc::new(match SLOTS {
            0 => ConcurrentQueue::unbounded(),
            slots => ConcurrentQueue::bounded(places::<M>(slots)),
        });
        (End(queue.clone()), End(queue))
    }
}

impl<const SLOTS: usize> Shared for Concurrent<SLOTS> {
    fn open_many<M: Message>(shape: Shape) -> (Vec<Self::Push<M>>, Vec<Self::Pop<M>>) {
        let (sender, receiver) = Self::open::<M>();
        (copies(sender, shape.senders), copies(receiver, shape.receivers))
    }
}

impl<M: Message> Push<M> for Shares<M> {
    #[inline(always)]
    fn push(&mut self, message: M) -> Result<(), M> {
        self.0.push(message).map_err(|full| full.into_inner())
    }
}

impl<M: Message> Pop<M> for Shares<M> {
    #[inline(always)]
    fn pop(&mut self) -> Option<M> {
        self.0.pop().ok()
    }
}
