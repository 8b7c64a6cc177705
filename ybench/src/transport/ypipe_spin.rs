//! The bare ypipe with a reader that never sleeps: what the queue alone can do.
//!
//! ```text
//!   sender thread    write, flush ----> ypipe ----> read, read, read ...   receiver thread
//! ```

use std::io;

use ysuite::queue::ypipe;

use super::{Closed, Traits, Transport, Waits};
use crate::scenario::END;

pub struct YpipeSpin;

pub struct Sender(ypipe::Writer<usize>);
pub struct Receiver(ypipe::Reader<usize>);

impl Transport for YpipeSpin {
    const TRAITS: Traits = Traits {
        name: "ypipe-spin",
        about: "A bare ypipe, its reader spinning and never asleep",
        waits: Waits::Spins,
        one_by_one: true,
        batches: true,
        works_with_epoll: false,
    };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        let (writer, reader) = ypipe::unbounded();
        Ok((Sender(writer), Receiver(reader)))
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.0.write(message).map_err(|_| Closed)?;
        let _ = self.0.flush();
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        for message in first..first + count {
            self.0.write(message).map_err(|_| Closed)?;
        }
        let _ = self.0.flush();
        Ok(())
    }
}

/// A bare queue tells nobody that its writer has gone, so the last word is a message.
impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.0.write(END);
        let _ = self.0.flush();
    }
}

impl super::Receiver for Receiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        loop {
            if let Some(message) = self.0.read() {
                return Ok(message);
            }
            std::hint::spin_loop();
        }
    }
}
