//! `ysuite::spsc`, the pipe channel: a receiver that sleeps at once, never, or after looking for a while; with a
//! bound; and in batches.
//!
//! ```text
//!   sender thread   send ----> chunks of messages ----> recv   receiver thread
//!                     \-- only if asleep: futex wake -->/
//! ```

use std::io;

use ysuite::channel::Spin;
use ysuite::spsc;

use super::{Closed, Traits, Transport, Waits};

const COMMON: Traits = Traits {
    name: "",
    about: "",
    waits: Waits::LooksThenSleeps,
    one_by_one: true,
    batches: false,
    works_with_epoll: true,
};

/// The default: looks a little, then sleeps.
pub struct Adaptive;
/// Sleeps as soon as nothing is there.
pub struct Sleeping;
/// Never sleeps.
pub struct Spinning;
/// The default, with room for 1,024 messages.
pub struct Bounded;
/// The default, with `send_batch` and `recv_batch`.
pub struct Batched;

pub struct Sender(spsc::Sender<usize>);
pub struct Receiver(spsc::Receiver<usize>);

fn ends(
    (sender, mut receiver): (spsc::Sender<usize>, spsc::Receiver<usize>),
    spin: Option<Spin>,
) -> io::Result<(Sender, Receiver)> {
    if let Some(spin) = spin {
        receiver.set_spin(spin);
    }
    Ok((Sender(sender), Receiver(receiver)))
}

impl Transport for Adaptive {
    const TRAITS: Traits =
        Traits { name: "spsc", about: "ysuite::spsc without a bound, looking a little before it sleeps", ..COMMON };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        ends(spsc::unbounded(), None)
    }
}

impl Transport for Sleeping {
    const TRAITS: Traits = Traits {
        name: "spsc-none",
        about: "ysuite::spsc without a bound, Spin::None: asleep as soon as nothing is there",
        waits: Waits::Sleeps,
        ..COMMON
    };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        ends(spsc::unbounded(), Some(Spin::None))
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
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        ends(spsc::unbounded(), Some(Spin::Forever))
    }
}

impl Transport for Bounded {
    const TRAITS: Traits =
        Traits { name: "spsc-bounded", about: "ysuite::spsc with room for 1,024 messages", ..COMMON };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        ends(spsc::bounded(1024), None)
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }
}

impl super::Receiver for Receiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        self.0.recv().map_err(|_| Closed)
    }
}

pub struct BatchSender(spsc::Sender<usize>);
pub struct BatchReceiver(spsc::Receiver<usize>);

impl Transport for Batched {
    const TRAITS: Traits = Traits {
        name: "spsc-batch",
        about: "ysuite::spsc without a bound, with send_batch and recv_batch",
        one_by_one: false,
        batches: true,
        ..COMMON
    };
    type Sender = BatchSender;
    type Receiver = BatchReceiver;

    fn open() -> io::Result<(BatchSender, BatchReceiver)> {
        let (sender, receiver) = spsc::unbounded();
        Ok((BatchSender(sender), BatchReceiver(receiver)))
    }
}

impl super::Sender for BatchSender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        self.0.send_batch(first..first + count).map(|_| ()).map_err(|_| Closed)
    }
}

impl super::Receiver for BatchReceiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        self.0.recv().map_err(|_| Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<usize>, max: usize) -> Result<(), Closed> {
        self.0.recv_batch(into, max).map(|_| ()).map_err(|_| Closed)
    }
}
