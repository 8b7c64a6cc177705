//! The validation of every received message: by its number, and the end by its own.

use super::{Closed, Message, Receiver};
use crate::error::Fault;

/// The message after the last one. No counter reaches it.
pub const END: usize = usize::MAX;

/// The fault for a message that was received where `expected` was due.
#[cold]
pub(crate) fn fault(expected: usize, received: Result<usize, Closed>) -> Fault {
    match received {
        Ok(END) => Fault::Lost { expected },
        Ok(received) => Fault::OutOfOrder { expected, received },
        Err(Closed) => Fault::Disconnected { expected },
    }
}

/// The next message must be `expected`.
#[inline(always)]
pub(crate) fn expect<M: Message>(receiver: &mut impl Receiver<M>, expected: usize) -> Result<(), Fault> {
    check(receiver.recv(), expected)
}

/// The received message must be `expected`.
#[inline(always)]
pub(crate) fn check<M: Message>(received: Result<M, Closed>, expected: usize) -> Result<(), Fault> {
    match received {
        Ok(message) if message.number() == expected => Ok(()),
        other => Err(fault(expected, other.map(|message| message.number()))),
    }
}

/// The stream must end here.
pub(crate) fn expect_end<M: Message>(receiver: &mut impl Receiver<M>) -> Result<(), Fault> {
    check_end(receiver.recv())
}

/// The received message must be the end.
pub(crate) fn check_end<M: Message>(received: Result<M, Closed>) -> Result<(), Fault> {
    match received.map(|message| message.number()) {
        Ok(END) | Err(Closed) => Ok(()),
        Ok(received) => Err(Fault::TooMany { received }),
    }
}
