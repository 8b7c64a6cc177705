//! `ysuite::spsc` whose sender wastes 100 ns before each message: a copy made worse on purpose, which a comparison of
//! two results must notice.
//!
//! ```text
//!   sender thread   read the clock for 100 ns, then send ----> the channel as it is ----> recv   receiver thread
//! ```
//!
//! Takes part only when it is named.

use std::io;

use ysuite::spsc;

use super::{Closed, Message, Traits, Transport};
use crate::clock;

pub struct Slowed;

pub struct Sender<M: Message> {
    inner: spsc::Sender<M>,
    clock: &'static clock::Clock,
    /// The time that it waits, in ticks.
    wait: u64,
}

const NANOSECONDS: f64 = 100.0;

impl Transport for Slowed {
    const TRAITS: Traits = Traits {
        name: "spsc-slowed",
        about: "ysuite::spsc with 100 ns wasted before each message",
        hidden: true,
        few_sizes: true,
        most_bytes: |_| 256,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = spsc::Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, spsc::Receiver<M>)> {
        let (inner, receiver) = spsc::unbounded();
        let clock = clock::get();
        Ok((Sender { inner, clock, wait: clock.ticks(NANOSECONDS) }, receiver))
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let from = self.clock.read();
        while self.clock.read().wrapping_sub(from) < self.wait {}
        self.inner.send(message).map_err(|_| Closed)
    }
}
