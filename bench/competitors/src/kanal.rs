//! `kanal`: `unbounded()` and `bounded(n)` with a blocking `send` and `recv`.
//!
//! A queue behind a lock of its own, which spins and then sleeps a little. A waiting receiver passes the address of its
//! own memory to the sender. It spins for a while and then parks. The documentation recommends the default features; it
//! calls the other one, the standard library's lock, slower.

use ::kanal::{Receiver, Sender};
use ybench_measure::ends_by_cloning;
use ybench_measure::transport::spinning::places;
use ybench_measure::transport::{Ends, Traits};

use crate::end::{blocking, channels};

const COMMON: Traits = Traits { senders: Ends::Many, receivers: Ends::Many, ..crate::COMMON };

channels! {
    Unbounded: "kanal-unbounded", "kanal without a bound", {}, Sender<M>, Receiver<M>, ::kanal::unbounded();
    Bounded: "kanal-bounded", "kanal with room for 1,024 messages", { bounded: true, },
        Sender<M>, Receiver<M>, ::kanal::bounded(1_024);
    Roomy: "kanal-64k", "kanal with room for 65,536 messages", { bounded: true, variant: true, },
        Sender<M>, Receiver<M>, ::kanal::bounded(places::<M>(65_536));
}
ends_by_cloning!(both: Unbounded, Bounded, Roomy);
blocking!(send: Sender<M>; recv: Receiver<M>);
