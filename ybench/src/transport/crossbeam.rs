//! `crossbeam-channel`: `unbounded()` and `bounded(1024)`, both with a blocking `recv`.
//!
//! ```text
//!   sender thread   send ----> blocks of slots, or a ring of 1,024 ----> recv   receiver thread
//! ```

use std::io;

use super::{Closed, Traits, Transport, Waits};

pub struct Unbounded;
pub struct Bounded;

pub struct Sender(crossbeam_channel::Sender<usize>);
pub struct Receiver(crossbeam_channel::Receiver<usize>);

const COMMON: Traits = Traits {
    name: "crossbeam-unbounded",
    about: "crossbeam-channel without a bound",
    waits: Waits::LooksThenSleeps,
    one_by_one: true,
    batches: false,
    works_with_epoll: false,
};

fn ends(
    (sender, receiver): (crossbeam_channel::Sender<usize>, crossbeam_channel::Receiver<usize>),
) -> (Sender, Receiver) {
    (Sender(sender), Receiver(receiver))
}

impl Transport for Unbounded {
    const TRAITS: Traits = COMMON;
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        Ok(ends(crossbeam_channel::unbounded()))
    }
}

impl Transport for Bounded {
    const TRAITS: Traits =
        Traits { name: "crossbeam-bounded", about: "crossbeam-channel with room for 1,024 messages", ..COMMON };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        Ok(ends(crossbeam_channel::bounded(1024)))
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
