//! `ysuite::mpsc`: each sender has a lane of its own to the one receiver.
//!
//! ```text
//!   sender threads   send ----> a lane of chunks each ----> recv   receiver thread: the lanes in turn
//! ```

use ysuite::Spin;
use ysuite::mpsc;

use super::channels::{blocking_in_batches, channels};
use super::{Ends, Traits, Waits, ends_by_cloning};

const PLACES: usize = 1024;

const COMMON: Traits = Traits { works_with_epoll: true, senders: Ends::Many, one_order: false, ..Traits::COMMON };
/// Only for the cases that compare competitors of equal room.
const BOUNDED: Traits = Traits { bounded: true, variant: true, few_sizes: true, most_bytes: |_| 256, ..COMMON };

channels! { of mpsc:
    /// The default: spins a little, then sleeps.
    Adaptive: "mpsc", "ysuite::mpsc without a bound", { batches: true, ..COMMON }, mpsc::unbounded();
    /// Sleeps as soon as nothing is ready.
    Sleeping: "mpsc-none", "ysuite::mpsc whose receiver sleeps at once (Spin::None)",
        { waits: Waits::Sleeps, variant: true, ..COMMON }, spinning(mpsc::unbounded(), Spin::None);
    /// Never sleeps.
    Spinning: "mpsc-forever", "ysuite::mpsc whose receiver never sleeps (Spin::Forever)",
        { waits: Waits::Spins, variant: true, ..COMMON }, spinning(mpsc::unbounded(), Spin::Forever);
    /// The default, with room for 1,024 messages of each sender.
    Bounded: "mpsc-bounded", "ysuite::mpsc with room for 1,024 messages of each sender",
        { bounded: true, ..COMMON }, mpsc::bounded(PLACES);
    /// Never sleeps, with room for 1,024 messages of each sender.
    SpinningBounded: "mpsc-bounded-forever",
        "ysuite::mpsc with room for 1,024 messages of each sender, Spin::Forever: neither side ever asleep",
        { waits: Waits::Spins, works_with_epoll: false, ..BOUNDED }, never_asleep(mpsc::bounded(PLACES));
}
ends_by_cloning!(senders: Adaptive, Sleeping, Spinning, Bounded, SpinningBounded);
blocking_in_batches!(mpsc);

type Pair<M> = (mpsc::Sender<M>, mpsc::Receiver<M>);

fn spinning<M>((sender, mut receiver): Pair<M>, spin: Spin) -> Pair<M> {
    receiver.set_spin(spin);
    (sender, receiver)
}

fn never_asleep<M>((mut sender, receiver): Pair<M>) -> Pair<M> {
    sender.set_spin(Spin::Forever);
    spinning((sender, receiver), Spin::Forever)
}
