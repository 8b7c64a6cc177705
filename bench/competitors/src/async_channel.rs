//! `async-channel` between plain threads: `send_blocking` and `recv_blocking`, its documented functions for that.
//!
//! A `concurrent-queue` and three events. A thread that has to wait registers with an event, checks once more, and
//! parks.

use ::async_channel::{Receiver, Sender};
use ybench_measure::ends_by_cloning;
use ybench_measure::transport::spinning::places;
use ybench_measure::transport::{self, Closed, Ends, Message, Traits, Waits};

use crate::end::{End, channels};

const COMMON: Traits = Traits { waits: Waits::Sleeps, senders: Ends::Many, receivers: Ends::Many, ..crate::COMMON };

channels! {
    Unbounded: "async-channel-unbounded", "async-channel without a bound, by its blocking functions", {},
        Sender<M>, Receiver<M>, ::async_channel::unbounded();
    Bounded: "async-channel-bounded", "async-channel with room for 1,024 messages, by its blocking functions",
        { bounded: true, }, Sender<M>, Receiver<M>, ::async_channel::bounded(1_024);
    Roomy: "async-channel-64k", "async-channel with room for 65,536 messages, by its blocking functions",
        { bounded: true, variant: true, }, Sender<M>, Receiver<M>, ::async_channel::bounded(places::<M>(65_536));
}
ends_by_cloning!(both: Unbounded, Bounded, Roomy);

impl<M: Message> transport::Sender<M> for End<Sender<M>> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send_blocking(message).map_err(|_| Closed)
    }
}

impl<M: Message> transport::Receiver<M> for End<Receiver<M>> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv_blocking().map_err(|_| Closed)
    }
}
