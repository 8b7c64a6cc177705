//! `ysuite::spsc`: a receiver that sleeps at once, never, or after spinning for a while; with a bound; and in batches.
//!
//! ```text
//!   sender thread   send ----> chunks of messages ----> recv   receiver thread
//!                     \-- only if asleep: futex wake -->/
//! ```

use ysuite::Spin;
use ysuite::spsc;

use super::channels::{blocking_in_batches, channels};
use super::{Traits, Waits};

const PLACES: usize = 1024;
/// As many as the rings of competitors have, where they are called `64k`.
const MANY: usize = 65_536;

const COMMON: Traits = Traits { works_with_epoll: true, ..Traits::COMMON };
/// Only for the cases that compare competitors of equal room.
const BOUNDED: Traits = Traits { bounded: true, variant: true, few_sizes: true, most_bytes: |_| 256, ..COMMON };

channels! { of spsc:
    /// The default: spins a little, then sleeps.
    Adaptive: "spsc", "ysuite::spsc without a bound, spinning a little before it sleeps",
        { ..COMMON }, spsc::unbounded();
    /// Sleeps as soon as nothing is ready.
    Sleeping: "spsc-none", "ysuite::spsc without a bound, Spin::None: asleep as soon as nothing is ready",
        { waits: Waits::Sleeps, ..COMMON }, spinning(spsc::unbounded(), Spin::None);
    /// Never sleeps.
    Spinning: "spsc-forever", "ysuite::spsc without a bound, Spin::Forever: never asleep",
        { waits: Waits::Spins, works_with_epoll: false, ..COMMON }, spinning(spsc::unbounded(), Spin::Forever);
    /// The default, with room for 1,024 messages.
    Bounded: "spsc-bounded", "ysuite::spsc with room for 1,024 messages",
        { bounded: true, ..COMMON }, spsc::bounded(PLACES);
    /// Never sleeps, with room for 1,024 messages.
    SpinningBounded: "spsc-bounded-forever",
        "ysuite::spsc with room for 1,024 messages, Spin::Forever: neither side ever asleep",
        { waits: Waits::Spins, works_with_epoll: false, ..BOUNDED }, never_asleep(spsc::bounded(PLACES));
    /// The default, with room for 65,536 messages.
    Roomy: "spsc-64k", "ysuite::spsc with room for 65,536 messages", { ..BOUNDED }, spsc::bounded(MANY);
    /// Never sleeps, with room for 65,536 messages.
    SpinningRoomy: "spsc-64k-forever",
        "ysuite::spsc with room for 65,536 messages, Spin::Forever: neither side ever asleep",
        { waits: Waits::Spins, works_with_epoll: false, ..BOUNDED }, never_asleep(spsc::bounded(MANY));
    /// The default, with `send_batch` and `recv_batch`.
    Batched: "spsc-batch", "ysuite::spsc without a bound, with send_batch and recv_batch",
        { one_by_one: false, batches: true, ..COMMON }, spsc::unbounded();
    /// The same, with room for 1,024 messages.
    BatchedBounded: "spsc-batch-bounded",
        "ysuite::spsc with room for 1,024 messages, with send_batch and recv_batch",
        { one_by_one: false, batches: true, ..BOUNDED }, spsc::bounded(PLACES);
    /// The same, with room for 65,536 messages.
    BatchedRoomy: "spsc-batch-64k",
        "ysuite::spsc with room for 65,536 messages, with send_batch and recv_batch",
        { one_by_one: false, batches: true, ..BOUNDED }, spsc::bounded(MANY);
}
blocking_in_batches!(spsc);

type Pair<M> = (spsc::Sender<M>, spsc::Receiver<M>);

fn spinning<M>((sender, mut receiver): Pair<M>, spin: Spin) -> Pair<M> {
    receiver.set_spin(spin);
    (sender, receiver)
}

fn never_asleep<M>((mut sender, receiver): Pair<M>) -> Pair<M> {
    sender.set_spin(Spin::Forever);
    spinning((sender, receiver), Spin::Forever)
}
