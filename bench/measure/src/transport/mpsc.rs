//! `ysuite::mpsc`: each sender has a lane of its own to the one receiver.
//!
//! ```text
//!   sender threads   send ----> a lane of chunks each ----> recv   receiver thread: the lanes in turn
//! ```

use std::io;

use ysuite::channel::Spin;
use ysuite::mpsc;

use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

/// The default: spins a little, then sleeps.
pub struct Adaptive;
/// Sleeps as soon as nothing is ready.
pub struct Sleeping;
/// Never sleeps.
pub struct Spinning;
/// The default, with room for 1,024 messages of each sender.
pub struct Bounded;
/// Never sleeps, with room for 1,024 messages of each sender.
pub struct SpinningBounded;

const COMMON: Traits = Traits { works_with_epoll: true, senders: Ends::Many, one_order: false, ..Traits::COMMON };

impl Transport for Adaptive {
    const TRAITS: Traits = Traits { name: "mpsc", about: "ysuite::mpsc without a bound", batches: true, ..COMMON };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(mpsc::unbounded())
    }
}

impl Transport for Sleeping {
    const TRAITS: Traits = Traits {
        name: "mpsc-none",
        about: "ysuite::mpsc whose receiver sleeps at once (Spin::None)",
        waits: Waits::Sleeps,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(spinning(mpsc::unbounded(), Spin::None))
    }
}

impl Transport for Spinning {
    const TRAITS: Traits = Traits {
        name: "mpsc-forever",
        about: "ysuite::mpsc whose receiver never sleeps (Spin::Forever)",
        waits: Waits::Spins,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(spinning(mpsc::unbounded(), Spin::Forever))
    }
}

impl Transport for Bounded {
    const TRAITS: Traits = Traits {
        name: "mpsc-bounded",
        about: "ysuite::mpsc with room for 1,024 messages of each sender",
        bounded: true,
        ..COMMON
    };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        Ok(mpsc::bounded(1024))
    }
}

impl Transport for SpinningBounded {
    const TRAITS: Traits = Traits {
        name: "mpsc-bounded-forever",
        about: "ysuite::mpsc with room for 1,024 messages of each sender, Spin::Forever: neither side ever asleep",
        waits: Waits::Spins,
        bounded: true,
        variant: true,
        few_sizes: true,
        most_bytes: |_| 256,
        works_with_epoll: false,
        ..COMMON
    };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<Pair<M>> {
        let (mut sender, receiver) = mpsc::bounded(1024);
        sender.set_spin(Spin::Forever);
        Ok(spinning((sender, receiver), Spin::Forever))
    }
}

type Pair<M> = (mpsc::Sender<M>, mpsc::Receiver<M>);

fn spinning<M>((sender, mut receiver): Pair<M>, spin: Spin) -> Pair<M> {
    receiver.set_spin(spin);
    (sender, receiver)
}

ends_by_cloning!(senders: Adaptive, Sleeping, Spinning, Bounded, SpinningBounded);

impl<M: Message> super::Sender<M> for mpsc::Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        mpsc::Sender::send(self, message).map_err(|_| Closed)
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        let messages = (first..first + count).map(M::numbered);
        mpsc::Sender::send_batch(self, messages).map(|_| ()).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for mpsc::Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        mpsc::Receiver::recv(self).map_err(|_| Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        mpsc::Receiver::recv_batch(self, into, max).map(|_| ()).map_err(|_| Closed)
    }
}
