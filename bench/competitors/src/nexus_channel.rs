//! `nexus-channel`: a ring of `nexus-queue` whose handles can park.
//!
//! A thread that has to wait yields eight times, then says that it parks, checks once more, and parks. The peer reads
//! that word after each message. Eight is the default number, and the documentation opens it with 1,024 places. Nothing
//! in its source orders the message before the read of that word, so a wake-up can be lost now and then, and both sides
//! sleep: the watchdog detects this. With 64 places it has been seen in ping-pong.

use ::nexus_channel::{Receiver, Sender};
use ybench_measure::transport::Traits;
use ybench_measure::transport::spinning::places;

use crate::end::{blocking, channels};

const COMMON: Traits = Traits { bounded: true, ..crate::COMMON };

channels! {
    Bounded: "nexus-channel-1k", "nexus-channel with room for 1,024 messages", {},
        Sender<M>, Receiver<M>, ::nexus_channel::channel(1_024);
    Roomy: "nexus-channel-64k", "nexus-channel with room for 65,536 messages", { variant: true, },
        Sender<M>, Receiver<M>, ::nexus_channel::channel(places::<M>(65_536));
    Narrow: "nexus-channel-64", "nexus-channel with room for 64 messages", { variant: true, },
        Sender<M>, Receiver<M>, ::nexus_channel::channel(64);
}
blocking!(send: Sender<M>; recv: Receiver<M>);
