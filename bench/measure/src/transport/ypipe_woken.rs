//! The article's compositions, in the open: a ypipe for the messages and one of the three signalers for the waiting.
//!
//! ```text
//!   sender thread    write, flush ----> ypipe ----> read                receiver thread
//!                      flush = false: signal(0) --> poll (asleep after `arm`)
//! ```
//!
//! A flush that returns false says that the reader is asleep, or about to sleep. Only then is the signaler used.

use std::io;

use ysuite::queue::ypipe;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};

use super::check::END;
use super::{Closed, Message, Traits, Transport, Waits};

const COMMON: Traits = Traits { waits: Waits::Sleeps, batches: true, ..Traits::COMMON };

pub struct BySemaphore;
pub struct ByPollset;
pub struct BySocketpair;

pub struct Sender<M: Message> {
    pipe: ypipe::Writer<M>,
    /// Called only to wake: compared with the system call after it, the indirect call is free.
    signaler: Box<dyn Signal + Send>,
}

pub struct Receiver<M, W: Wait> {
    pipe: ypipe::Reader<M>,
    waiter: W,
}

fn ends<M: Message, W: Wait>(waiter: W, signaler: impl Signal + Send + 'static) -> (Sender<M>, Receiver<M, W>) {
    let (writer, reader) = ypipe::unbounded();
    (Sender { pipe: writer, signaler: Box::new(signaler) }, Receiver { pipe: reader, waiter })
}

impl Transport for BySemaphore {
    const TRAITS: Traits =
        Traits { name: "ypipe-ysemaphore", about: "The article's ypipe, its reader woken by a YSemaphore", ..COMMON };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, YSemaphore>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let waiter = YSemaphore::new();
        let signaler = waiter.signaler();
        Ok(ends(waiter, signaler))
    }
}

impl Transport for ByPollset {
    const TRAITS: Traits = Traits {
        name: "ypipe-ypollset",
        about: "The article's ypipe, its reader woken by a YPollset: with polling",
        ..COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, YPollset>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let waiter = YPollset::new();
        let signaler = waiter.signaler();
        Ok(ends(waiter, signaler))
    }
}

impl Transport for BySocketpair {
    const TRAITS: Traits = Traits {
        name: "ypipe-ysocketpair",
        about: "The article's ypipe, its reader woken by a YSocketpair",
        works_with_epoll: true,
        ..COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, YSocketpair>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let waiter = YSocketpair::new()?;
        let signaler = waiter.signaler();
        Ok(ends(waiter, signaler))
    }
}

impl<M: Message> Sender<M> {
    #[inline(always)]
    fn publish(&mut self) {
        if !self.pipe.flush() {
            self.signaler.signal(0);
        }
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.pipe.write(message).map_err(|_| Closed)?;
        self.publish();
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        for number in first..first + count {
            self.pipe.write(M::numbered(number)).map_err(|_| Closed)?;
        }
        self.publish();
        Ok(())
    }
}

/// A bare queue does not report that its writer is dropped, so the last message says so.
impl<M: Message> Drop for Sender<M> {
    fn drop(&mut self) {
        let _ = self.pipe.write(M::numbered(END));
        self.publish();
    }
}

impl<M: Message, W: Wait + Send + 'static> super::Receiver<M> for Receiver<M, W> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Some(message) = self.pipe.read() {
                return Ok(message);
            }
            if self.pipe.arm() {
                for _id in self.waiter.poll() {}
            }
        }
    }
}
