//! `ysuite::broadcast` with room for 1,024 messages and one receiver: its cost where a channel to one would do. Its
//! purpose, several receivers that each get every message, is among the targets.
//!
//! ```text
//!   sender threads   send ----> one ring of 1,024 messages; each receiver takes copies ----> recv   receiver thread
//! ```
//!
//! Its receivers take copies, so it carries what transports of bytes carry: a block, or the address of a parcel. A slot
//! keeps its bytes after the one receiver has them, and those are not read again.

use ysuite::broadcast;

use super::channels::channels;
use super::{Closed, Ends, Message, Traits, ends_by_cloning};

const PLACES: usize = 1_024;

channels! {
    /// A slow receiver delays the sender.
    Bounded: "broadcast", "ysuite::broadcast with room for 1,024 messages, to one receiver",
        {
            batches: true,
            works_with_epoll: true,
            bounded: true,
            senders: Ends::Many,
            variant: true,
            ..Traits::COMMON
        },
        broadcast::Sender<M::Wire>, broadcast::Receiver<M::Wire>, broadcast::bounded(PLACES);
}
ends_by_cloning!(senders: Bounded);

impl<M: Message> super::Sender<M> for broadcast::Sender<M::Wire> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        broadcast::Sender::send(self, message.into_wire()).map_err(|_| Closed)
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        let messages = (first..first + count).map(|number| M::numbered(number).into_wire());
        broadcast::Sender::send_batch(self, messages).map(|_| ()).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for broadcast::Receiver<M::Wire> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let wire = broadcast::Receiver::recv(self).map_err(|_| Closed)?;
        // SAFETY: `send` made it from such a message, and the only receiver takes each message once.
        Ok(unsafe { M::from_wire(wire) })
    }
}
