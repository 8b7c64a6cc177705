//! `ysuite-shm`: its pipe of messages, which spins a little before it sleeps, or sleeps at once, or never; and its pipe
//! of bytes.
//!
//! ```text
//!   sending process   send ----> ring in memory of the sender, read-only for others ----> recv   receiving process
//!                       \-- only if asleep: write to an eventfd -->/
//! ```

use std::io;

use super::{COMMON, Channel, Plain, ProcessTransport, Side, room};
use crate::transport::{self, Closed, Traits, Waits};

/// A number of polls before a side sleeps. `None`: the default of `ysuite-shm`.
type Spin = Option<u32>;

/// How a pipe of messages waits, as a parameter of a type.
pub trait Waiting: Send + 'static {
    const TRAITS: Traits;
    const SPIN: Spin;
}

pub struct Adaptive;
pub struct Sleeping;
pub struct Spinning;

impl Waiting for Adaptive {
    const TRAITS: Traits = Traits {
        name: "shm-pipe",
        about: "ysuite_shm::pipe between processes, spinning a little before it sleeps",
        works_with_epoll: true,
        ..COMMON
    };
    const SPIN: Spin = None;
}

impl Waiting for Sleeping {
    const TRAITS: Traits = Traits {
        name: "shm-pipe-none",
        about: "ysuite_shm::pipe between processes, set_spin(0): asleep as soon as nothing is ready",
        waits: Waits::Sleeps,
        works_with_epoll: true,
        ..COMMON
    };
    const SPIN: Spin = Some(0);
}

impl Waiting for Spinning {
    const TRAITS: Traits = Traits {
        name: "shm-pipe-forever",
        about: "ysuite_shm::pipe between processes, set_spin(u32::MAX): never asleep",
        waits: Waits::Spins,
        ..COMMON
    };
    const SPIN: Spin = Some(u32::MAX);
}

pub struct Pipe<W>(std::marker::PhantomData<W>);

impl<W: Waiting> ProcessTransport for Pipe<W> {
    const TRAITS: Traits = W::TRAITS;
    type Sender<M: Plain> = Sending<M>;
    type Receiver<M: Plain> = Receiving<M>;

    fn open<M: Plain>() -> io::Result<Channel> {
        let capacity = room(size_of::<M>());
        let (sender, receiver) = ysuite_shm::pipe::<M::Words>(capacity).map_err(io::Error::other)?;
        let sender = sender.into_fd().map_err(|_| used())?;
        let receiver = receiver.into_fd().map_err(|_| used())?;
        Ok(Channel::of(Side { word: capacity.to_string(), ..sender.into() }, receiver))
    }

    fn sender<M: Plain>(side: Side) -> io::Result<Sending<M>> {
        let capacity = side.number()?;
        let mut sender = ysuite_shm::Sender::from_fd(side.descriptor()?, capacity).map_err(io::Error::other)?;
        W::SPIN.into_iter().for_each(|polls| sender.set_spin(polls));
        Ok(Sending(sender))
    }

    fn receiver<M: Plain>(side: Side) -> io::Result<Receiving<M>> {
        let mut receiver = ysuite_shm::Receiver::from_fd(side.descriptor()?).map_err(io::Error::other)?;
        W::SPIN.into_iter().for_each(|polls| receiver.set_spin(polls));
        Ok(Receiving(receiver))
    }
}

fn used() -> io::Error {
    io::Error::other("a new channel was used already")
}

pub struct Sending<M: Plain>(ysuite_shm::Sender<M::Words>);
pub struct Receiving<M: Plain>(ysuite_shm::Receiver<M::Words>);

impl<M: Plain> transport::Sender<M> for Sending<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message.into_words()).map_err(|_| Closed)
    }
}

impl<M: Plain> transport::Receiver<M> for Receiving<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv().map(M::from_words).map_err(|_| Closed)
    }
}

/// Messages as bytes of any length. The receiver has one buffer for all of them.
pub struct Bytes;

impl ProcessTransport for Bytes {
    const TRAITS: Traits = Traits {
        name: "shm-pipe-bytes",
        about: "ysuite_shm::pipe_bytes between processes, spinning a little before it sleeps",
        works_with_epoll: true,
        ..COMMON
    };
    type Sender<M: Plain> = SendingBytes;
    type Receiver<M: Plain> = ReceivingBytes;

    fn open<M: Plain>() -> io::Result<Channel> {
        /// In front of each message.
        const LENGTH: usize = 8;
        let capacity = room(size_of::<M>()) * (size_of::<M>() + LENGTH);
        let (sender, receiver) = ysuite_shm::pipe_bytes(capacity).map_err(io::Error::other)?;
        let sender = sender.into_fd().map_err(|_| used())?;
        let receiver = receiver.into_fd().map_err(|_| used())?;
        Ok(Channel::of(Side { word: capacity.to_string(), ..sender.into() }, receiver))
    }

    fn sender<M: Plain>(side: Side) -> io::Result<SendingBytes> {
        let capacity = side.number()?;
        let sender = ysuite_shm::BytesSender::from_fd(side.descriptor()?, capacity).map_err(io::Error::other)?;
        Ok(SendingBytes(sender))
    }

    fn receiver<M: Plain>(side: Side) -> io::Result<ReceivingBytes> {
        let receiver = ysuite_shm::BytesReceiver::from_fd(side.descriptor()?).map_err(io::Error::other)?;
        Ok(ReceivingBytes { receiver, buffer: Vec::with_capacity(size_of::<M>()) })
    }
}

pub struct SendingBytes(ysuite_shm::BytesSender);

pub struct ReceivingBytes {
    receiver: ysuite_shm::BytesReceiver,
    buffer: Vec<u8>,
}

impl<M: Plain> transport::Sender<M> for SendingBytes {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(bytemuck::bytes_of(&message.into_words())).map_err(|_| Closed)
    }
}

impl<M: Plain> transport::Receiver<M> for ReceivingBytes {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.buffer.clear();
        self.receiver.recv_into(&mut self.buffer).map_err(|_| Closed)?;
        // A message of another length is none of ours: the check of the stream then reports the one that is missing.
        bytemuck::try_pod_read_unaligned(&self.buffer).map(M::from_words).map_err(|_| Closed)
    }
}
