//! No transport: a sent message is discarded, and the receiver counts for itself. A scenario that runs it measures the
//! instrument's own cost per message.
//!
//! ```text
//!   sender thread   send ---> |          | ---> recv: 0, 1, 2 ... end   receiver thread
//! ```
//!
//! Sender and receiver share nothing, so the receiver must be given the number of messages to invent. Takes part only
//! when it is named, and not where the only times are one way: a message may be received before it was sent.

use std::io;

use super::check::END;
use super::{Closed, Message, Traits, Transport, Waits};

pub struct Empty;

pub struct Sender;

pub struct Receiver {
    next: usize,
    messages: usize,
}

impl Transport for Empty {
    const TRAITS: Traits = Traits {
        name: "empty",
        about: "No transport: the receiver invents the messages, and the time is that of the instrument",
        waits: Waits::Spins,
        hidden: true,
        invents: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender;
    type Receiver<M: Message> = Receiver;

    /// Always an error: the number of messages is not given.
    fn open<M: Message>() -> io::Result<(Sender, Receiver)> {
        Err(io::Error::other("the empty transport must know beforehand how many messages there are"))
    }

    fn open_for<M: Message>(messages: usize) -> io::Result<(Sender, Receiver)> {
        Ok((Sender, Receiver { next: 0, messages }))
    }
}

impl<M: Message> super::Sender<M> for Sender {
    #[inline(always)]
    fn send(&mut self, _: M) -> Result<(), Closed> {
        Ok(())
    }
}

impl<M: Message> super::Receiver<M> for Receiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        if self.next == self.messages {
            return Ok(M::numbered(END));
        }
        self.next += 1;
        Ok(M::numbered(self.next - 1))
    }
}
