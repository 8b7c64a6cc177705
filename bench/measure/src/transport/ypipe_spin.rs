//! The bare ypipe with a reader that never sleeps: the limit of the queue alone.
//!
//! ```text
//!   sender thread    write, flush ----> ypipe ----> read, read, read ...   receiver thread
//! ```

use std::io;

use ysuite::queue::ypipe;

use super::check::END;
use super::{Closed, Message, Traits, Transport, Waits};

pub struct YpipeSpin;

pub struct Sender<M: Message>(ypipe::Writer<M>);

impl Transport for YpipeSpin {
    const TRAITS: Traits = Traits {
        name: "ypipe-spin",
        about: "A bare ypipe, its reader spinning and never asleep",
        waits: Waits::Spins,
        batches: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = ypipe::Reader<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, ypipe::Reader<M>)> {
        let (writer, reader) = ypipe::unbounded();
        Ok((Sender(writer), reader))
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.write(message).map_err(|_| Closed)?;
        let _ = self.0.flush();
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        for number in first..first + count {
            self.0.write(M::numbered(number)).map_err(|_| Closed)?;
        }
        let _ = self.0.flush();
        Ok(())
    }
}

/// A bare queue does not report that its writer is dropped, so the last message says so.
impl<M: Message> Drop for Sender<M> {
    fn drop(&mut self) {
        let _ = self.0.write(M::numbered(END));
        let _ = self.0.flush();
    }
}

impl<M: Message> super::Receiver<M> for ypipe::Reader<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Some(message) = self.read() {
                return Ok(message);
            }
            std::hint::spin_loop();
        }
    }
}
