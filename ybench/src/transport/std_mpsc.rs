//! `std::sync::mpsc`: `channel()` and `sync_channel(1024)`, both with a blocking `recv`.
//!
//! ```text
//!   sender thread   send ----> blocks of slots, or a ring of 1,024 ----> recv   receiver thread
//! ```

use std::io;
use std::sync::mpsc;

use super::{Closed, Traits, Transport, Waits};

pub struct Channel;
pub struct SyncChannel;

pub struct Sender<S>(S);
pub struct Receiver(mpsc::Receiver<usize>);

const COMMON: Traits = Traits {
    name: "std-channel",
    about: "std::sync::mpsc::channel, without a bound",
    waits: Waits::LooksThenSleeps,
    one_by_one: true,
    batches: false,
    works_with_epoll: false,
};

impl Transport for Channel {
    const TRAITS: Traits = COMMON;
    type Sender = Sender<mpsc::Sender<usize>>;
    type Receiver = Receiver;

    fn open() -> io::Result<(Self::Sender, Receiver)> {
        let (sender, receiver) = mpsc::channel();
        Ok((Sender(sender), Receiver(receiver)))
    }
}

impl Transport for SyncChannel {
    const TRAITS: Traits = Traits {
        name: "std-sync-channel",
        about: "std::sync::mpsc::sync_channel with room for 1,024 messages",
        ..COMMON
    };
    type Sender = Sender<mpsc::SyncSender<usize>>;
    type Receiver = Receiver;

    fn open() -> io::Result<(Self::Sender, Receiver)> {
        let (sender, receiver) = mpsc::sync_channel(1024);
        Ok((Sender(sender), Receiver(receiver)))
    }
}

impl super::Sender for Sender<mpsc::Sender<usize>> {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }
}

impl super::Sender for Sender<mpsc::SyncSender<usize>> {
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
