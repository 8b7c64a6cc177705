//! `flume`: `unbounded()` and `bounded(1024)`, both with a blocking `recv`.
//!
//! A queue behind a lock. A receiver that finds nothing puts itself on a list and parks; whoever sends takes it from there.
//! The documentation recommends the two functions as they are, and its features by default are those compared.

use std::io;

use ::flume::{Receiver, Sender};
use ybench_core::ends_by_cloning;
use ybench_core::transport::{self, Closed, Ends, Message, Traits, Transport, Waits};

use crate::end::End;

pub struct Unbounded;
pub struct Bounded;

const COMMON: Traits = Traits { waits: Waits::Sleeps, senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };

impl Transport for Unbounded {
    const TRAITS: Traits = Traits { name: "flume-unbounded", about: "flume without a bound", ..COMMON };
    type Sender<M: Message> = End<Sender<M>>;
    type Receiver<M: Message> = End<Receiver<M>>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let (sender, receiver) = ::flume::unbounded();
        Ok((End(sender), End(receiver)))
    }
}

impl Transport for Bounded {
    const TRAITS: Traits =
        Traits { name: "flume-bounded", about: "flume with room for 1,024 messages", bounded: true, ..COMMON };
    type Sender<M: Message> = End<Sender<M>>;
    type Receiver<M: Message> = End<Receiver<M>>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let (sender, receiver) = ::flume::bounded(1024);
        Ok((End(sender), End(receiver)))
    }
}

ends_by_cloning!(both: Unbounded, Bounded);

impl<M: Message> transport::Sender<M> for End<Sender<M>> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }
}

impl<M: Message> transport::Receiver<M> for End<Receiver<M>> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv().map_err(|_| Closed)
    }
}
