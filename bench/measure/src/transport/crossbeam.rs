//! `crossbeam-channel`: `unbounded()` and `bounded(1024)`, both with a blocking `recv`.
//!
//! ```text
//!   sender thread   send ----> blocks of slots, or a ring of 1,024 ----> recv   receiver thread
//! ```

use std::io;

use crossbeam_channel as crossbeam;

use super::{Closed, Ends, Message, Traits, Transport, ends_by_cloning};

pub struct Unbounded;
pub struct Bounded;

const COMMON: Traits = Traits { senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };

impl Transport for Unbounded {
    const TRAITS: Traits = Traits { name: "crossbeam-unbounded", about: "crossbeam-channel without a bound", ..COMMON };
    type Sender<M: Message> = crossbeam::Sender<M>;
    type Receiver<M: Message> = crossbeam::Receiver<M>;

    fn open<M: Message>() -> io::Result<(crossbeam::Sender<M>, crossbeam::Receiver<M>)> {
        Ok(crossbeam::unbounded())
    }
}

impl Transport for Bounded {
    const TRAITS: Traits = Traits {
        name: "crossbeam-bounded",
        about: "crossbeam-channel with room for 1,024 messages",
        bounded: true,
        ..COMMON
    };
    type Sender<M: Message> = crossbeam::Sender<M>;
    type Receiver<M: Message> = crossbeam::Receiver<M>;

    fn open<M: Message>() -> io::Result<(crossbeam::Sender<M>, crossbeam::Receiver<M>)> {
        Ok(crossbeam::bounded(1024))
    }
}

ends_by_cloning!(both: Unbounded, Bounded);

impl<M: Message> super::Sender<M> for crossbeam::Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        crossbeam::Sender::send(self, message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for crossbeam::Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        crossbeam::Receiver::recv(self).map_err(|_| Closed)
    }
}
