//! `ysuite::mpmc` with room for 1,024 messages: handles that spin a little before they sleep, receivers that sleep at
//! once in a futex, or never sleep. The same without a bound, and as a rendezvous.
//!
//! Senders of `mpmc-spin`, `mpmc-futex` and `mpmc-eventfd` (see `in_epoll`) never sleep while there is no room, as in
//! the article on Linux: the three differ only in how a receiver waits.
//!
//! ```text
//!   sender threads   send ----> one ring of 1,024 places, one order ----> recv   receiver threads
//!                    send ----> segments, one order --------------------> recv
//!                    send ----------------- hand to hand ---------------> recv
//! ```

use ysuite::Spin;
use ysuite::mpmc;

use super::channels::{blocking_in_batches, channels};
use super::{Ends, Traits, Waits, ends_by_cloning};

pub(super) const PLACES: usize = 1024;

const COMMON: Traits =
    Traits { works_with_epoll: true, bounded: true, senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };
const UNBOUNDED: Traits = Traits { bounded: false, variant: true, ..COMMON };

channels! { of mpmc:
    /// Spins a little, then sleeps.
    Adaptive: "mpmc", "ysuite::mpmc with room for 1,024 messages, spinning a little before it sleeps",
        { batches: true, ..COMMON }, mpmc::bounded(PLACES);
    /// With room for 65,536 messages, as the rings of competitors that are called `64k`.
    Roomy: "mpmc-64k", "ysuite::mpmc with room for 65,536 messages",
        { batches: true, variant: true, few_sizes: true, most_bytes: |_| 256, ..COMMON }, mpmc::bounded(65_536);
    /// Its receivers sleep at once, in a futex. As it sleeps here it does not work with epoll; attached to a set it would.
    Sleeping: "mpmc-futex",
        "ysuite::mpmc with room for 1,024 messages, its receivers asleep at once in a futex (Spin::None), its senders never",
        { waits: Waits::Sleeps, works_with_epoll: false, variant: true, ..COMMON },
        spinning(mpmc::bounded(PLACES), Spin::None);
    /// Never sleeps.
    Spinning: "mpmc-spin", "ysuite::mpmc with room for 1,024 messages, never sleeping (Spin::Forever)",
        { waits: Waits::Spins, variant: true, ..COMMON }, spinning(mpmc::bounded(PLACES), Spin::Forever);
    /// Without a bound: spins a little, then sleeps.
    Unbounded: "mpmc-unbounded", "ysuite::mpmc without a bound, spinning a little before it sleeps",
        { batches: true, ..UNBOUNDED }, mpmc::unbounded();
    /// Without a bound, and never sleeps.
    SpinningUnbounded: "mpmc-unbounded-spin", "ysuite::mpmc without a bound, never sleeping (Spin::Forever)",
        { waits: Waits::Spins, works_with_epoll: false, few_sizes: true, most_bytes: |_| 256, ..UNBOUNDED },
        spinning(mpmc::unbounded(), Spin::Forever);
    /// Without room: each send waits until a receiver takes its message. One to one: where a side has several handles,
    /// one thread sends and receives a first message by each of them before the clock starts, and would wait for itself.
    Rendezvous: "rendezvous", "ysuite::mpmc with a bound of 0: each send waits until its message is received",
        { senders: Ends::One, receivers: Ends::One, variant: true, ..COMMON }, mpmc::bounded(0);
}
ends_by_cloning!(both: Adaptive, Roomy, Sleeping, Spinning, Unbounded, SpinningUnbounded);
blocking_in_batches!(mpmc);

type Pair<M> = (mpmc::Sender<M>, mpmc::Receiver<M>);

/// Senders that never sleep, and receivers that wait as `spin` says.
fn spinning<M>((sender, receiver): Pair<M>, spin: Spin) -> Pair<M> {
    sender.set_spin(Spin::Forever);
    receiver.set_spin(spin);
    (sender, receiver)
}
