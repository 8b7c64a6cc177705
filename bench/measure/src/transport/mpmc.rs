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

use std::io;

use ysuite::channel::Spin;
use ysuite::mpmc;

use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

/// Spins a little, then sleeps.
pub struct Adaptive;
/// Its receivers sleep at once, in a futex.
pub struct Sleeping;
/// Never sleeps.
pub struct Spinning;
/// Without a bound: spins a little, then sleeps.
pub struct Unbounded;
/// Without a bound, and never sleeps.
pub struct SpinningUnbounded;
/// Without room: each send waits until a receiver takes its message. One to one: where a side has several handles, one
/// thread sends and receives a first message by each of them before the clock starts, and would wait for itself.
pub struct Rendezvous;

pub(super) const PLACES: usize = 1024;

pub(super) const COMMON: Traits =
    Traits { works_with_epoll: true, bounded: true, senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };

type Pair<M> = (mpmc::Sender<M>, mpmc::Receiver<M>);

/// Senders that never sleep, and receivers that wait as `spin` says.
fn spinning<M>((sender, receiver): Pair<M>, spin: Spin) -> Pair<M> {
    sender.set_spin(Spin::Forever);
    receiver.set_spin(spin);
    (sender, receiver)
}

impl Transport for Adaptive {
    const TRAITS: Traits = Traits {
        name: "mpmc",
        about: "ysuite::mpmc with room for 1,024 messages, spinning a little before it sleeps",
        batches: true,
        ..COMMON
    };
    type Sender<M: Message> = mpmc::Sender<M>;
    type Receiver<M: Message> = mpmc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(mpmc::bounded(PLACES))
    }
}

impl Transport for Sleeping {
    const TRAITS: Traits = Traits {
        name: "mpmc-futex",
        about: "ysuite::mpmc with room for 1,024 messages, its receivers asleep at once in a futex (Spin::None), its senders never",
        waits: Waits::Sleeps,
        // As it sleeps here. Attached to a set it would work.
        works_with_epoll: false,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpmc::Sender<M>;
    type Receiver<M: Message> = mpmc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(spinning(mpmc::bounded(PLACES), Spin::None))
    }
}

impl Transport for Spinning {
    const TRAITS: Traits = Traits {
        name: "mpmc-spin",
        about: "ysuite::mpmc with room for 1,024 messages, never sleeping (Spin::Forever)",
        waits: Waits::Spins,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpmc::Sender<M>;
    type Receiver<M: Message> = mpmc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(spinning(mpmc::bounded(PLACES), Spin::Forever))
    }
}

impl Transport for Unbounded {
    const TRAITS: Traits = Traits {
        name: "mpmc-unbounded",
        about: "ysuite::mpmc without a bound, spinning a little before it sleeps",
        batches: true,
        bounded: false,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpmc::Sender<M>;
    type Receiver<M: Message> = mpmc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(mpmc::unbounded())
    }
}

impl Transport for SpinningUnbounded {
    const TRAITS: Traits = Traits {
        name: "mpmc-unbounded-spin",
        about: "ysuite::mpmc without a bound, never sleeping (Spin::Forever)",
        waits: Waits::Spins,
        bounded: false,
        variant: true,
        few_sizes: true,
        most_bytes: |_| 256,
        works_with_epoll: false,
        ..COMMON
    };
    type Sender<M: Message> = mpmc::Sender<M>;
    type Receiver<M: Message> = mpmc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(spinning(mpmc::unbounded(), Spin::Forever))
    }
}

impl Transport for Rendezvous {
    const TRAITS: Traits = Traits {
        name: "rendezvous",
        about: "ysuite::mpmc with a bound of 0: each send waits until its message is received",
        senders: Ends::One,
        receivers: Ends::One,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpmc::Sender<M>;
    type Receiver<M: Message> = mpmc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(mpmc::bounded(0))
    }
}

ends_by_cloning!(both: Adaptive, Sleeping, Spinning, Unbounded, SpinningUnbounded);

impl<M: Message> super::Sender<M> for mpmc::Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        mpmc::Sender::send(self, message).map_err(|_| Closed)
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        let messages = (first..first + count).map(M::numbered);
        mpmc::Sender::send_batch(self, messages).map(|_| ()).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for mpmc::Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        mpmc::Receiver::recv(self).map_err(|_| Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        mpmc::Receiver::recv_batch(self, into, max).map(|_| ()).map_err(|_| Closed)
    }
}
