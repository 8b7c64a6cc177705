//! `flume`: `unbounded()` and `bounded(n)` with a blocking `send` and `recv`.
//!
//! A queue behind a lock. A receiver that finds nothing adds itself to a list and parks; the next sender removes it
//! from there. The documentation recommends the two functions as they are, and its default features are compared.

use ::flume::{Receiver, Sender};
use ybench_measure::ends_by_cloning;
use ybench_measure::transport::spinning::places;
use ybench_measure::transport::{Ends, Traits, Waits};

use crate::end::{blocking, channels};

const COMMON: Traits = Traits { waits: Waits::Sleeps, senders: Ends::Many, receivers: Ends::Many, ..crate::COMMON };

channels! {
    Unbounded: "flume-unbounded", "flume without a bound", {}, Sender<M>, Receiver<M>, ::flume::unbounded();
    Bounded: "flume-bounded", "flume with room for 1,024 messages", { bounded: true, },
        Sender<M>, Receiver<M>, ::flume::bounded(1_024);
    Roomy: "flume-64k", "flume with room for 65,536 messages", { bounded: true, variant: true, },
        Sender<M>, Receiver<M>, ::flume::bounded(places::<M>(65_536));
}
ends_by_cloning!(both: Unbounded, Bounded, Roomy);
blocking!(send: Sender<M>; recv: Receiver<M>);
