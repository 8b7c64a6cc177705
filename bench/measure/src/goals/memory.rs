//! The memory that a queue of many messages takes, and that it returns.

use ysuite::{mpmc, spsc};

use crate::error::Fault;
use crate::memory::resident;

pub(super) const MESSAGES: u64 = 10_000_000;

/// Queues `messages` messages of 8 bytes, calls `when_full`, and receives them again. Returns the resident memory once
/// all are received and the channel still exists.
type FilledAndDrained = fn(u64, &mut dyn FnMut() -> Result<(), Fault>) -> Result<f64, Fault>;

/// Bytes per message, and additional MiB that are resident after draining while the channel still exists.
pub(super) fn queued_and_drained(fill_and_drain: FilledAndDrained, messages: u64) -> Result<Vec<f64>, Fault> {
    // The code and the allocator's own pages must be resident before the first reading.
    fill_and_drain(1_000, &mut || Ok(()))?;
    let before = resident()?;
    let mut full = before;
    let after = fill_and_drain(messages, &mut || {
        full = resident()?;
        Ok(())
    })?;
    Ok(vec![(full - before) / messages as f64, (after - before) / f64::from(1 << 20)])
}

pub(super) fn of_spsc(messages: u64, when_full: &mut dyn FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
    let (mut sender, mut receiver) = spsc::unbounded::<usize>();
    filled_and_drained(
        messages as usize,
        |message| sender.send(message).is_ok(),
        when_full,
        || receiver.try_recv().ok(),
    )
}

pub(super) fn of_mpmc(messages: u64, when_full: &mut dyn FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
    let (sender, receiver) = mpmc::unbounded::<usize>();
    filled_and_drained(
        messages as usize,
        |message| sender.send(message).is_ok(),
        when_full,
        || receiver.try_recv().ok(),
    )
}

fn filled_and_drained(
    messages: usize,
    mut send: impl FnMut(usize) -> bool,
    when_full: &mut dyn FnMut() -> Result<(), Fault>,
    mut receive: impl FnMut() -> Option<usize>,
) -> Result<f64, Fault> {
    for message in 0..messages {
        if !send(message) {
            return Err(Fault::Disconnected { expected: message });
        }
    }
    when_full()?;
    for expected in 0..messages {
        let received = receive().ok_or(Fault::Lost { expected })?;
        if received != expected {
            return Err(Fault::OutOfOrder { expected, received });
        }
    }
    Ok(resident()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_takes_at_least_its_messages() {
        // Other tests of this process may free memory meanwhile: one undisturbed attempt is enough.
        for (way, most) in [(of_spsc as FilledAndDrained, 17.0), (of_mpmc, 10.0)] {
            let mut tries = Vec::new();
            let has_taken_them = (0..20).any(|_| {
                tries.push(queued_and_drained(way, 1_000_000).unwrap()[0]);
                tries.last().is_some_and(|bytes| (8.0..most).contains(bytes))
            });
            assert!(has_taken_them, "{tries:?}");
        }
    }
}
