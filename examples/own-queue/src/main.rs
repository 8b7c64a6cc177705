//! A queue of one's own in every table of the instrument: here the ring of `crossbeam-queue`, which returns "full" and
//! "empty" and cannot wait. A queue that can wait implements `Transport` instead, with handles that block.
//!
//! `cargo run --release -p own-queue -- run throughput latency`, and every other command of `ybench`.

use std::sync::Arc;

use crossbeam_queue::ArrayQueue;
use ybench_measure::scenario::shared;
use ybench_measure::transport::spinning::{Pop, Push, Queue, Several, Shared, Spinning, places};
use ybench_measure::transport::{Ends, Message, Shape, Traits};

struct Ring;

impl Queue for Ring {
    const NAMES: [&'static str; 2] = ["own-queue", "own-queue-no-pause"];
    const ABOUT: [&'static str; 2] = ["crossbeam-queue, 1,024 places", "the same, without a pause between two polls"];
    const TRAITS: Traits = Traits { bounded: true, senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };
    type Push<M: Message> = End<M>;
    type Pop<M: Message> = End<M>;

    fn open<M: Message>() -> (End<M>, End<M>) {
        let queue = Arc::new(ArrayQueue::new(places::<M>(1_024)));
        (End(queue.clone()), End(queue))
    }
}

impl Shared for Ring {
    fn open_many<M: Message>(shape: Shape) -> Several<Self, M> {
        let (End(queue), _) = Self::open();
        let ends = |count| (0..count).map(|_| End(queue.clone())).collect();
        (ends(shape.senders), ends(shape.receivers))
    }
}

struct End<M>(Arc<ArrayQueue<M>>);

impl<M: Message> Push<M> for End<M> {
    fn push(&mut self, message: M) -> Result<(), M> {
        self.0.push(message)
    }
}

impl<M: Message> Pop<M> for End<M> {
    fn pop(&mut self) -> Option<M> {
        self.0.pop()
    }
}

fn main() -> std::process::ExitCode {
    ybench::program::run(vec![shared::<Spinning<Ring, true>>(), shared::<Spinning<Ring, false>>()], Vec::new())
}
