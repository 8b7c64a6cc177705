//! The article's compositions, in the open: a ypipe for the messages and, beside it, one of the three signalers.
//!
//! ```text
//!   sender thread    write, flush ----> ypipe ----> read                receiver thread
//!                      flush = false: signal(0) --> poll (asleep after `arm`)
//! ```
//!
//! A flush that answers false says that the reader is asleep, or going there; only then is the signaler touched.

use std::io;

use ysuite::queue::ypipe;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};

use super::{Closed, Traits, Transport, Waits};
use crate::scenario::END;

const COMMON: Traits =
    Traits { name: "", about: "", waits: Waits::Sleeps, one_by_one: true, batches: true, works_with_epoll: false };

pub struct BySemaphore;
pub struct ByPollset;
pub struct BySocketpair;

pub struct Sender {
    pipe: ypipe::Writer<usize>,
    /// Called only to wake: beside the system call behind it, the indirect call is free.
    signaler: Box<dyn Signal + Send>,
}

pub struct Receiver<W: Wait> {
    pipe: ypipe::Reader<usize>,
    waiter: W,
}

fn ends<W: Wait>(waiter: W, signaler: impl Signal + Send + 'static) -> (Sender, Receiver<W>) {
    let (writer, reader) = ypipe::unbounded();
    (Sender { pipe: writer, signaler: Box::new(signaler) }, Receiver { pipe: reader, waiter })
}

impl Transport for BySemaphore {
    const TRAITS: Traits =
        Traits { name: "ypipe-ysemaphore", about: "The article's ypipe, its reader woken by a YSemaphore", ..COMMON };
    type Sender = Sender;
    type Receiver = Receiver<YSemaphore>;

    fn open() -> io::Result<(Self::Sender, Self::Receiver)> {
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
    type Sender = Sender;
    type Receiver = Receiver<YPollset>;

    fn open() -> io::Result<(Self::Sender, Self::Receiver)> {
        let waiter = YPollset::new();
        let signaler = waiter.signaler();
        Ok(ends(waiter, signaler))
    }
}

impl Transport for BySocketpair {
    const TRAITS: Traits =
        Traits { name: "ypipe-ysocketpair", about: "The article's ypipe, its reader woken by a YSocketpair", ..COMMON };
    type Sender = Sender;
    type Receiver = Receiver<YSocketpair>;

    fn open() -> io::Result<(Self::Sender, Self::Receiver)> {
        let waiter = YSocketpair::new()?;
        let signaler = waiter.signaler();
        Ok(ends(waiter, signaler))
    }
}

impl Sender {
    #[inline(always)]
    fn publish(&mut self) {
        if !self.pipe.flush() {
            self.signaler.signal(0);
        }
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.pipe.write(message).map_err(|_| Closed)?;
        self.publish();
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        for message in first..first + count {
            self.pipe.write(message).map_err(|_| Closed)?;
        }
        self.publish();
        Ok(())
    }
}

/// A bare queue tells nobody that its writer has gone, so the last word is a message.
impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.pipe.write(END);
        self.publish();
    }
}

impl<W: Wait + Send> super::Receiver for Receiver<W> {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
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
