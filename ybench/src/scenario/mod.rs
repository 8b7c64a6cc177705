//! What is done with a transport while the clock runs. One file per driver, each generic over the transport.
//!
//! Every message is checked. The stream ends with [`END`], so that a message lost at the very end, or one too many,
//! is noticed as well.

pub mod ping_pong;
pub mod throughput;

use crate::error::Fault;
use crate::transport::{Closed, Message, Receiver};

/// What `ybench` measures when asked for nothing in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    PingPong,
    Throughput,
    Batches,
    OneCpu,
}

impl Scenario {
    pub const ALL: [Self; 4] = [Self::PingPong, Self::Throughput, Self::Batches, Self::OneCpu];

    pub fn name(self) -> &'static str {
        match self {
            Self::PingPong => "ping-pong",
            Self::Throughput => "throughput",
            Self::Batches => "batches",
            Self::OneCpu => "one-cpu",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::PingPong => "One message bounced between two threads: the time one way",
            Self::Throughput => "Messages sent one by one, as fast as the other thread takes them",
            Self::Batches => "Messages sent 64 at a time, by the transports that can",
            Self::OneCpu => "One message bounced between two threads that share a CPU: the time one way",
        }
    }
}

/// The length of a batch in [`Scenario::Batches`].
pub const BATCH: usize = 64;

/// What comes after the last message. No counter reaches it.
pub const END: usize = usize::MAX;

/// The fault behind something that came where `expected` was due.
#[cold]
fn fault(expected: usize, received: Result<usize, Closed>) -> Fault {
    match received {
        Ok(END) => Fault::Lost { expected },
        Ok(received) => Fault::OutOfOrder { expected, received },
        Err(Closed) => Fault::Disconnected { expected },
    }
}

/// The next message must be `expected`.
#[inline(always)]
fn expect<M: Message>(receiver: &mut impl Receiver<M>, expected: usize) -> Result<(), Fault> {
    match receiver.recv() {
        Ok(message) if message.number() == expected => Ok(()),
        other => Err(fault(expected, other.map(|message| message.number()))),
    }
}

/// The stream must end here.
fn expect_end<M: Message>(receiver: &mut impl Receiver<M>) -> Result<(), Fault> {
    match receiver.recv().map(|message| message.number()) {
        Ok(END) | Err(Closed) => Ok(()),
        Ok(received) => Err(Fault::TooMany { received }),
    }
}

#[cfg(test)]
mod tests;
