//! The article's compositions, in the open: a ypipe for the messages and one of the three signalers for the waiting.
//!
//! ```text
//!   sender thread    write, flush ----> ypipe ----> read                receiver thread
//!                      flush = false: signal(0) --> poll (asleep after `arm`)
//! ```
//!
//! A flush that returns false says that the reader is asleep, or about to sleep. Only then is the signaler used.

use ysuite::queue::ypipe;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};

use super::channels::channels;
use super::check::END;
use super::{Closed, Message, Traits, Waits};

const COMMON: Traits = Traits { waits: Waits::Sleeps, batches: true, ..Traits::COMMON };

channels! {
    BySemaphore: "ypipe-ysemaphore", "The article's ypipe, its reader woken by a YSemaphore",
        { ..COMMON }, Sender<M>, Receiver<M, YSemaphore>, woken(YSemaphore::new(), YSemaphore::signaler);
    ByPollset: "ypipe-ypollset", "The article's ypipe, its reader woken by a YPollset: with polling",
        { ..COMMON }, Sender<M>, Receiver<M, YPollset>, woken(YPollset::new(), YPollset::signaler);
    BySocketpair: "ypipe-ysocketpair", "The article's ypipe, its reader woken by a YSocketpair",
        { works_with_epoll: true, ..COMMON },
        Sender<M>, Receiver<M, YSocketpair>, woken(YSocketpair::new()?, YSocketpair::signaler);
}

pub struct Sender<M: Message> {
    pipe: ypipe::Writer<M>,
    /// Called only to wake: compared with the system call after it, the indirect call is free.
    signaler: Box<dyn Signal + Send>,
}

pub struct Receiver<M, W: Wait> {
    pipe: ypipe::Reader<M>,
    waiter: W,
}

fn woken<M: Message, W: Wait, S: Signal + Send + 'static>(
    waiter: W,
    signaler: impl FnOnce(&W) -> S,
) -> (Sender<M>, Receiver<M, W>) {
    let (writer, reader) = ypipe::unbounded();
    let signaler = Box::new(signaler(&waiter));
    (Sender { pipe: writer, signaler }, Receiver { pipe: reader, waiter })
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
                for _id in self.waiter.wait() {}
            }
        }
    }
}
