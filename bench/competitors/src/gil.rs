//! `gil`: its `spsc` ring, polled without end.
//!
//! Two indices on lines of their own, each handle with a copy of the other's. The documentation offers `send` and
//! `recv`, which pause 128 times between two yields, and `try_send` and `try_recv` for loops of one's own. Both are
//! here; the loop of the instrument is that of all other spinners. Batches use `write_buffer` and `read_guard`, as it
//! recommends. It does not detect a dropped peer: in its own loop only the watchdog detects a lost message.

use std::num::NonZeroUsize;
use std::ops::Range;

use ::gil::spsc::{Receiver, Sender, channel};
use ybench_measure::transport::spinning::{Pop, Push, Queue, places};
use ybench_measure::transport::{self, Closed, Message, Traits, Waits};

use crate::end::{End, channels};

pub struct Ring<const SLOTS: usize>;

/// Room for `wanted` messages, if they are not too large for it.
pub(crate) fn room<M>(wanted: usize) -> NonZeroUsize {
    NonZeroUsize::new(places::<M>(wanted)).unwrap_or(NonZeroUsize::MIN)
}

impl<const SLOTS: usize> Queue for Ring<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        65_536 => ["gil-64k", "gil-64k-no-pause"],
        1_024 => ["gil-1k", "gil-1k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        65_536 => [
            "gil's spsc with 65,536 slots, both sides spinning",
            "gil's spsc with 65,536 slots, both sides spinning without a pause between two polls",
        ],
        _ => [
            "gil's spsc with 1,024 slots, both sides spinning",
            "gil's spsc with 1,024 slots, both sides spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits { bounded: true, batches: true, variant: SLOTS == 1_024, ..crate::COMMON };
    type Push<M: Message> = End<Sender<M>>;
    type Pop<M: Message> = End<Receiver<M>>;

    fn open<M: Message>() -> (End<Sender<M>>, End<Receiver<M>>) {
        let (sender, receiver) = channel(room::<M>(SLOTS));
        (End(sender), End(receiver))
    }
}

impl<M: Message> Push<M> for End<Sender<M>> {
    #[inline(always)]
    fn push(&mut self, message: M) -> Result<(), M> {
        self.0.try_send(message)
    }

    #[inline(always)]
    fn push_run(&mut self, numbers: Range<usize>) -> usize {
        let room = self.0.write_buffer();
        let count = room.len().min(numbers.len());
        for (slot, number) in room.iter_mut().zip(numbers) {
            slot.write(M::numbered(number));
        }
        // SAFETY: this number of slots of the buffer has just been written.
        unsafe { self.0.commit(count) };
        count
    }
}

impl<M: Message> Pop<M> for End<Receiver<M>> {
    #[inline(always)]
    fn pop(&mut self) -> Option<M> {
        self.0.try_recv()
    }

    #[inline(always)]
    fn pop_run(&mut self, into: &mut Vec<M>, max: usize) {
        into.extend(self.0.read_guard().take(max));
    }
}

const COMMON: Traits = Traits { waits: Waits::Spins, bounded: true, variant: true, ..crate::COMMON };

channels! {
    OwnLoop: "gil-64k-own-loop", "gil's spsc with 65,536 slots, both sides spinning and yielding in its own loop", {},
        Sender<M>, Receiver<M>, channel(room::<M>(65_536));
}

impl<M: Message> transport::Sender<M> for End<Sender<M>> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message);
        Ok(())
    }
}

impl<M: Message> transport::Receiver<M> for End<Receiver<M>> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        Ok(self.0.recv())
    }
}
