//! What a queue of many messages takes, and what it gives back.

use ysuite::spsc;

use crate::error::Fault;
use crate::memory::resident;

pub(super) const MESSAGES: u64 = 10_000_000;

pub(super) struct Taken {
    pub(super) bytes_per_message: f64,
    /// Resident after draining, beyond what was resident before, the channel itself still there.
    pub(super) mebibytes_left: f64,
}

/// Queues so many messages of 8 bytes, takes them out again, and looks at resident memory before, between and after.
pub(super) fn queued_and_drained(messages: u64) -> Result<Taken, Fault> {
    // The code and the allocator's own pages must be there before the first look.
    fill_and_drain(1_000, || Ok(()))?;
    let before = resident()?;
    let mut full = before;
    let after = fill_and_drain(messages, || {
        full = resident()?;
        Ok(())
    })?;
    Ok(Taken {
        bytes_per_message: (full - before) / messages as f64,
        mebibytes_left: (after - before) / f64::from(1 << 20),
    })
}

/// Resident memory when all messages are out and the channel is still there.
fn fill_and_drain(messages: u64, when_full: impl FnOnce() -> Result<(), Fault>) -> Result<f64, Fault> {
    let (mut sender, mut receiver) = spsc::unbounded::<u64>();
    for message in 0..messages {
        sender.send(message).map_err(|_| Fault::Disconnected { expected: message as usize })?;
    }
    when_full()?;
    for expected in 0..messages {
        let received = receiver.try_recv().map_err(|_| Fault::Lost { expected: expected as usize })?;
        if received != expected {
            return Err(Fault::OutOfOrder { expected: expected as usize, received: received as usize });
        }
    }
    Ok(resident()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_takes_at_least_its_messages() {
        // Other tests of this process may give memory back meanwhile: one undisturbed try is enough.
        let tries: Vec<f64> = (0..20).map(|_| queued_and_drained(1_000_000).unwrap().bytes_per_message).collect();
        assert!(tries.iter().any(|bytes| (8.0..17.0).contains(bytes)), "{tries:?}");
    }
}
