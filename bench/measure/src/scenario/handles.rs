//! The handles of a transport as the drivers have them: behind pointers, with the loops that are compiled for each.
//!
//! ```text
//!   a stream                one call through a pointer for all of it: `pour`, `drain`
//!   a message now and then  one call for each message: `send`, `recv`, between two readings of the clock or two sleeps
//! ```
//!
//! So only this is compiled for each transport and message, and everything that starts threads, waits, stamps, and
//! evaluates is compiled once.

use std::io;
use std::time::Instant;

use super::throughput;
use crate::error::Fault;
use crate::transport::{Closed, Message, Receiver, Sender, Transport};

/// Any sending handle.
pub trait Sends<M: Message>: Send {
    fn send(&mut self, message: M) -> Result<(), Closed>;

    /// Sends this number of messages, and the end. Returns the time of the first send.
    fn pour(self: Box<Self>, messages: usize) -> Instant;
}

/// Any receiving handle.
pub trait Receives<M: Message>: Send {
    fn recv(&mut self) -> Result<M, Closed>;

    /// Receives this number of messages, and the end. Returns the time of the last receipt.
    fn drain(self: Box<Self>, messages: usize) -> Result<Instant, Fault>;
}

impl<M: Message, S: Sender<M>> Sends<M> for S {
    fn send(&mut self, message: M) -> Result<(), Closed> {
        Sender::send(self, message)
    }

    fn pour(self: Box<Self>, messages: usize) -> Instant {
        throughput::pour(*self, messages)
    }
}

impl<M: Message, R: Receiver<M>> Receives<M> for R {
    fn recv(&mut self) -> Result<M, Closed> {
        Receiver::recv(self)
    }

    fn drain(self: Box<Self>, messages: usize) -> Result<Instant, Fault> {
        throughput::drain(*self, messages)
    }
}

/// A handle for loops that send a message now and then.
pub struct AnySender<M>(pub Box<dyn Sends<M>>);

/// A handle for loops that receive a message now and then.
pub struct AnyReceiver<M>(pub Box<dyn Receives<M>>);

impl<M: Message> Sender<M> for AnySender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message)
    }
}

impl<M: Message> Receiver<M> for AnyReceiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv()
    }
}

/// Opens both handles for a number of messages.
pub type Open<M> = fn(usize) -> io::Result<(AnySender<M>, AnyReceiver<M>)>;

/// As [`Transport::open_for`].
pub fn open<T: Transport, M: Message>(messages: usize) -> io::Result<(AnySender<M>, AnyReceiver<M>)> {
    let (sender, receiver) = T::open_for::<M>(messages)?;
    Ok((AnySender(Box::new(sender)), AnyReceiver(Box::new(receiver))))
}
