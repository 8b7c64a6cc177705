//! `ysuite::spsc`: a receiver that sleeps at once, never, or after spinning for a while; with a bound; and in batches.
//!
//! ```text
//!   sender thread   send ----> chunks of messages ----> recv   receiver thread
//!                     \-- only if asleep: futex wake -->/
//! ```

use std::io;

use ysuite::channel::Spin;
use ysuite::spsc;

use super::{Closed, Message, Traits, Transport, Waits};

/// The default: spins a little, then sleeps.
pub struct Adaptive;
/// Sleeps as soon as nothing is ready.
pub struct Sleeping;
/// Never sleeps.
pub struct Spinning;
/// The default, with room for 1,024 messages.
pub struct Bounded;
/// Never sleeps, with room for 1,024 messages.
pub struct SpinningBounded;
/// The default, with `send_batch` and `recv_batch`.
pub struct Batched;
/// The same, with room for 1,024 messages.
pub struct BatchedBounded;

const COMMON: Traits = Traits { works_with_epoll: true, ..Traits::COMMON };
/// Only for the cases that compare competitors of equal room.
const BOUNDED: Traits = Traits { bounded: true, variant: true, few_sizes: true, most_bytes: |_| 256, ..COMMON };

type Ends<M> = (spsc::Sender<M>, spsc::Receiver<M>);

fn spinning<M>((sender, mut receiver): Ends<M>, spin: Spin) -> Ends<M> {
    receiver.set_spin(spin);
    (sender, receiver)
}

impl Transport for Adaptive {
    const TRAITS: Traits =
        Traits { name: "spsc", about: "ysuite::spsc without a bound, spinning a little before it sleeps", ..COMMON };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        Ok(spsc::unbounded())
    }
}

impl Transport for Sleeping {
    const TRAITS: Traits = Traits {
        name: "spsc-none",
        about: "ysuite::spsc without a bound, Spin::None: asleep as soon as nothing is ready",
        waits: Waits::Sleeps,
        ..COMMON
    };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        Ok(spinning(spsc::unbounded(), Spin::None))
    }
}

impl Transport for Spinning {
    const TRAITS: Traits = Traits {
        name: "spsc-forever",
        about: "ysuite::spsc without a bound, Spin::Forever: never asleep",
        waits: Waits::Spins,
        works_with_epoll: false,
        ..COMMON
    };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        Ok(spinning(spsc::unbounded(), Spin::Forever))
    }
}

impl Transport for Bounded {
    const TRAITS: Traits =
        Traits { name: "spsc-bounded", about: "ysuite::spsc with room for 1,024 messages", bounded: true, ..COMMON };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        Ok(spsc::bounded(1024))
    }
}

impl Transport for SpinningBounded {
    const TRAITS: Traits = Traits {
        name: "spsc-bounded-forever",
        about: "ysuite::spsc with room for 1,024 messages, Spin::Forever: neither side ever asleep",
        waits: Waits::Spins,
        works_with_epoll: false,
        ..BOUNDED
    };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        let (mut sender, receiver) = spsc::bounded(1024);
        sender.set_spin(Spin::Forever);
        Ok(spinning((sender, receiver), Spin::Forever))
    }
}

impl Transport for Batched {
    const TRAITS: Traits = Traits {
        name: "spsc-batch",
        about: "ysuite::spsc without a bound, with send_batch and recv_batch",
        one_by_one: false,
        batches: true,
        ..COMMON
    };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        Ok(spsc::unbounded())
    }
}

impl Transport for BatchedBounded {
    const TRAITS: Traits = Traits {
        name: "spsc-batch-bounded",
        about: "ysuite::spsc with room for 1,024 messages, with send_batch and recv_batch",
        one_by_one: false,
        batches: true,
        ..BOUNDED
    };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Ends<M>> {
        Ok(spsc::bounded(1024))
    }
}

impl<M: Message> super::Sender<M> for spsc::Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        spsc::Sender::send(self, message).map_err(|_| Closed)
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        let messages = (first..first + count).map(M::numbered);
        spsc::Sender::send_batch(self, messages).map(|_| ()).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for spsc::Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        spsc::Receiver::recv(self).map_err(|_| Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        spsc::Receiver::recv_batch(self, into, max).map(|_| ()).map_err(|_| Closed)
    }
}
