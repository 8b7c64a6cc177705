//! What a queue of many messages takes, and what it gives back.

use ysuite::{mpmc, spsc};

use crate::error::Fault;
use crate::memory::resident;

pub(super) const MESSAGES: u64 = 10_000_000;

/// Queues so many messages of 8 bytes, calls what is given, and takes them out again: resident memory when all are out and
/// the channel is still there.
type FilledAndDrained = fn(u64, &mut dyn FnMut() -> Result<(), Fault>) -> Result<f64, Fault>;

/// Bytes for each message, and MiB resident after draining beyond what was resident before, the channel itself still there.
pub(super) fn queued_and_drained(fill_and_drain: FilledAndDrained, messages: u64) -> Result<Vec<f64>, Fault> {
    // The code and the allocator's own pages must be there before the first look.
    fill_and_drain(1_000, &mut || Ok(()))?;
    let before = resident()?;
    let mut full = before;
    let after = fill_and_drain(messages, &mut || {
        full = resident()?;
        Ok(())
    })?;
    Ok(vec![(full - before) / messages as f64, (after - before) / f64::from(1 << 20)])
}

pub(super) fn of_a_pipe(messages: u64, when_full: &mut dyn FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
    let (mut sender, mut receiver) = spsc::unbounded::<u64>();
    filled_and_drained(messages, |message| sender.send(message).is_ok(), when_full, || receiver.try_recv().ok())
}

pub(super) fn of_an_exchange(messages: u64, when_full: &mut dyn FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
    let (sender, receiver) = mpmc::unbounded::<u64>();
    filled_and_drained(messages, |message| sender.send(message).is_ok(), when_full, || receiver.try_recv().ok())
}

fn filled_and_drained(
    messages: u64,
    mut send: impl FnMut(u64) -> bool,
    when_full: &mut dyn FnMut() -> Result<(), Fault>,
    mut receive: impl FnMut() -> Option<u64>,
) -> Result<f64, Fault> {
    for message in 0..messages {
        if !send(message) {
            return Err(Fault::Disconnected { expected: message as usize });
        }
    }
    when_full()?;
    for expected in 0..messages {
        let received = receive().ok_or(Fault::Lost { expected: expected as usize })?;
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
        for (way, most) in [(of_a_pipe as FilledAndDrained, 17.0), (of_an_exchange, 10.0)] {
            let mut tries = Vec::new();
            let has_taken_them = (0..20).any(|_| {
                tries.push(queued_and_drained(way, 1_000_000).unwrap()[0]);
                tries.last().is_some_and(|bytes| (8.0..most).contains(bytes))
            });
            assert!(has_taken_them, "{tries:?}");
        }
    }
}
