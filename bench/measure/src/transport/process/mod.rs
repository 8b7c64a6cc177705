//! Transports between processes: what each of them provides, and what they share.
//!
//! | file | contents |
//! |---|---|
//! | `kernel` | pipe(2), unix sockets, both kinds of message queues |
//! | `files` | names in file systems, for mechanisms that need them, and their removal |
//! | `shm` | `ysuite-shm`: its pipe of messages and its pipe of bytes |
//!
//! ```text
//!   process that measures    open ----> Channel { sender, receiver }
//!   sending process          <-- sender                  messages            receiver -->    receiving process
//! ```
//!
//! The process that measures makes a channel, passes each side to a process, and keeps none of it but what has to be
//! removed afterwards. See `scenario::process` for these processes.

pub mod files;
pub mod kernel;
pub mod shm;

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;

use bytemuck::Pod;

use super::message::Block;
use super::{Message, Receiver, Sender, Traits};

/// For struct update: what all transports between processes share. No thread of this process sends or receives by them.
pub const COMMON: Traits =
    Traits { one_by_one: false, between_processes: true, apart: true, bounded: true, ..Traits::COMMON };

/// A message without an address in it, which another process can read.
pub trait Plain: Message {
    /// The same bytes as plain words.
    type Words: ysuite_shm::Message + Pod;

    fn into_words(self) -> Self::Words;

    fn from_words(words: Self::Words) -> Self;
}

impl Plain for usize {
    type Words = u64;

    #[inline(always)]
    fn into_words(self) -> u64 {
        self as u64
    }

    #[inline(always)]
    fn from_words(words: u64) -> Self {
        words as Self
    }
}

impl<const WORDS: usize> Plain for Block<WORDS> {
    type Words = [usize; WORDS];

    #[inline(always)]
    fn into_words(self) -> [usize; WORDS] {
        bytemuck::cast(self)
    }

    #[inline(always)]
    fn from_words(words: [usize; WORDS]) -> Self {
        bytemuck::cast(words)
    }
}

/// What a process needs to have its side of a channel.
#[derive(Debug, Default)]
pub struct Side {
    pub descriptors: Vec<OwnedFd>,
    /// A name, a number or a capacity, in one word.
    pub word: String,
}

impl Side {
    /// The only descriptor.
    ///
    /// # Errors
    ///
    /// If there is another number of them.
    pub fn descriptor(self) -> io::Result<OwnedFd> {
        let count = self.descriptors.len();
        let only: Result<[OwnedFd; 1], _> = self.descriptors.try_into();
        only.map(|[only]| only).map_err(|_| io::Error::other(format!("{count} descriptors instead of one")))
    }

    /// The word as a number.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn number(&self) -> io::Result<usize> {
        self.word.parse().map_err(|_| io::Error::other(format!("'{}' is no number", self.word)))
    }
}

impl From<OwnedFd> for Side {
    fn from(descriptor: OwnedFd) -> Self {
        Self { descriptors: vec![descriptor], word: String::new() }
    }
}

/// A channel before its two processes have it.
pub struct Channel {
    pub sender: Side,
    pub receiver: Side,
    /// Dropped when both processes have ended: removes what would outlive them.
    pub kept: Box<dyn Any>,
}

impl Channel {
    /// Of descriptors, of which nothing is left when they are closed.
    pub fn of(sender: impl Into<Side>, receiver: impl Into<Side>) -> Self {
        Self { sender: sender.into(), receiver: receiver.into(), kept: Box::new(()) }
    }
}

/// A way of passing messages from one process to another, in order.
pub trait ProcessTransport: 'static {
    const TRAITS: Traits;
    type Sender<M: Plain>: Sender<M>;
    type Receiver<M: Plain>: Receiver<M>;

    /// A new channel, made by the process that measures.
    fn open<M: Plain>() -> io::Result<Channel>;

    /// The handle of the sending process.
    fn sender<M: Plain>(side: Side) -> io::Result<Self::Sender<M>>;

    /// The handle of the receiving process. It is made before the sender sends.
    fn receiver<M: Plain>(side: Side) -> io::Result<Self::Receiver<M>>;
}

/// Room for messages of that many bytes: 256 KiB of them, but 4,096 messages at most and 16 at least.
pub const fn room(bytes: usize) -> usize {
    let messages = (256 << 10) / bytes;
    if messages > 4_096 {
        4_096
    } else if messages < 16 {
        16
    } else {
        messages
    }
}
