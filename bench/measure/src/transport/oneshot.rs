//! `ysuite::oneshot`, a channel for each message: made by the sender, which first sends its receiver through an spsc.
//!
//! ```text
//!   sender thread   channel; its receiver  -----> spsc with room for 1,024 receivers ----> recv   receiver thread
//!                   send the message -----------> the channel made for it ---------------> recv
//! ```
//!
//! The figure includes the spsc. A oneshot made, used and dropped by one thread is among the targets.

use std::io;

use ysuite::{oneshot, spsc};

use super::{Closed, Message, Traits, Transport};

/// A channel for each message.
pub struct Oneshot;

const PLACES: usize = 1_024;

pub struct Sending<M>(spsc::Sender<oneshot::Receiver<M>>);
pub struct Receiving<M>(spsc::Receiver<oneshot::Receiver<M>>);

impl Transport for Oneshot {
    const TRAITS: Traits = Traits {
        name: "oneshot",
        about: "ysuite::oneshot, a channel for each message, its receiver sent ahead by spsc",
        bounded: true,
        variant: true,
        few_sizes: true,
        most_bytes: |_| 256,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sending<M>;
    type Receiver<M: Message> = Receiving<M>;

    fn open<M: Message>() -> io::Result<(Sending<M>, Receiving<M>)> {
        let (sender, receiver) = spsc::bounded(PLACES);
        Ok((Sending(sender), Receiving(receiver)))
    }
}

impl<M: Message> super::Sender<M> for Sending<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(receiver).map_err(|_| Closed)?;
        sender.send(message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for Receiving<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv().and_then(oneshot::Receiver::recv).map_err(|_| Closed)
    }
}
