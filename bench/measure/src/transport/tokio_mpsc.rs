//! `tokio::sync::mpsc` between plain threads, without a runtime: its blocking interface. Its use in a runtime is among
//! the targets.
//!
//! ```text
//!   sender threads   send, or blocking_send ----> blocks of 32 messages, one order ----> blocking_recv   receiver thread
//! ```

use tokio::sync::mpsc;

use super::channels::channels;
use super::{Closed, Ends, Message, Traits, Waits, ends_by_cloning};

const COMMON: Traits = Traits { waits: Waits::Sleeps, senders: Ends::Many, ..Traits::COMMON };

const PLACES: usize = 1024;

channels! {
    Unbounded: "tokio-mpsc", "tokio::sync::mpsc::unbounded_channel, received by blocking_recv",
        { ..COMMON }, mpsc::UnboundedSender<M>, mpsc::UnboundedReceiver<M>, mpsc::unbounded_channel();
    Bounded: "tokio-mpsc-bounded",
        "tokio::sync::mpsc::channel with room for 1,024 messages, by blocking_send and blocking_recv",
        { bounded: true, variant: true, ..COMMON }, mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::channel(PLACES);
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
