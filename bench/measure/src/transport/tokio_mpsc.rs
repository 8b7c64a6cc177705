//! `tokio::sync::mpsc` between plain threads, without a runtime: its blocking interface. Its use in a runtime is among
//! the targets.
//!
//! ```text
//!   sender threads   send, or blocking_send ----> blocks of 32 messages, one order ----> blocking_recv   receiver thread
//! ```

use std::io;

use tokio::sync::mpsc;

use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

pub struct Unbounded;
/// With room for 1,024 messages.
pub struct Bounded;

const COMMON: Traits = Traits { waits: Waits::Sleeps, senders: Ends::Many, ..Traits::COMMON };

const PLACES: usize = 1024;

impl Transport for Unbounded {
    const TRAITS: Traits = Traits {
        name: "tokio-mpsc",
        about: "tokio::sync::mpsc::unbounded_channel, received by blocking_recv",
        ..COMMON
    };
    type Sender<M: Message> = mpsc::UnboundedSender<M>;
    type Receiver<M: Message> = mpsc::UnboundedReceiver<M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        Ok(mpsc::unbounded_channel())
    }
}

impl Transport for Bounded {
    const TRAITS: Traits = Traits {
        name: "tokio-mpsc-bounded",
        about: "tokio::sync::mpsc::channel with room for 1,024 messages, by blocking_send and blocking_recv",
        bounded: true,
        variant: true,
        ..COMMON
    };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        Ok(mpsc::channel(PLACES))
    }
}

ends_by_cloning!(senders: Unbounded, Bounded);

impl<M: Message> super::Sender<M> for mpsc::UnboundedSender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        mpsc::UnboundedSender::send(self, message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Sender<M> for mpsc::Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.blocking_send(message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for mpsc::UnboundedReceiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.blocking_recv().ok_or(Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        if self.blocking_recv_many(into, max) == 0 { Err(Closed) } else { Ok(()) }
    }
}

impl<M: Message> super::Receiver<M> for mpsc::Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.blocking_recv().ok_or(Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        if self.blocking_recv_many(into, max) == 0 { Err(Closed) } else { Ok(()) }
    }
}
