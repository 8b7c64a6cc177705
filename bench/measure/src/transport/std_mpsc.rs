//! `std::sync::mpsc`: `channel()` and `sync_channel(1024)`, both with a blocking `recv`.
//!
//! ```text
//!   sender thread   send ----> blocks of slots, or a ring of 1,024 ----> recv   receiver thread
//! ```

use std::io;
use std::sync::mpsc;

use super::{Closed, Ends, Message, Traits, Transport, ends_by_cloning};

pub struct Channel;
pub struct SyncChannel;

const COMMON: Traits = Traits { senders: Ends::Many, ..Traits::COMMON };

impl Transport for Channel {
    const TRAITS: Traits = Traits { name: "std-channel", about: "std::sync::mpsc::channel, without a bound", ..COMMON };
    type Sender<M: Message> = mpsc::Sender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<(mpsc::Sender<M>, mpsc::Receiver<M>)> {
        Ok(mpsc::channel())
    }
}

impl Transport for SyncChannel {
    const TRAITS: Traits = Traits {
        name: "std-sync-channel",
        about: "std::sync::mpsc::sync_channel with room for 1,024 messages",
        bounded: true,
        ..COMMON
    };
    type Sender<M: Message> = mpsc::SyncSender<M>;
    type Receiver<M: Message> = mpsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<(mpsc::SyncSender<M>, mpsc::Receiver<M>)> {
        Ok(mpsc::sync_channel(1024))
    }
}

ends_by_cloning!(senders: Channel, SyncChannel);

impl<M: Message> super::Sender<M> for mpsc::Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        mpsc::Sender::send(self, message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Sender<M> for mpsc::SyncSender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        mpsc::SyncSender::send(self, message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for mpsc::Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        mpsc::Receiver::recv(self).map_err(|_| Closed)
    }
}
