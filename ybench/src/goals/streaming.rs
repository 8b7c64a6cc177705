//! System calls made by both ends of a channel while messages stream through it one by one.

use ysuite::spsc;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::duet;

pub(super) const MESSAGES: u64 = 10_000_000;

/// Both threads together, the few calls at the beginning and at the end included.
pub(super) fn calls_per_million(place: Place, messages: u64) -> Result<f64, Fault> {
    let messages = messages as usize;
    let (mut sender, mut receiver) = spsc::unbounded::<usize>();
    let (sent, received) = duet(
        place,
        messages as u64,
        move |gate| {
            gate.pass();
            let before = ysuite::os::calls();
            for message in 0..messages {
                sender.send(message).map_err(|_| Fault::Disconnected { expected: message })?;
            }
            Ok::<_, Fault>(ysuite::os::calls() - before)
        },
        move |gate| {
            gate.pass();
            let before = ysuite::os::calls();
            for expected in 0..messages {
                let received = receiver.recv().map_err(|_| Fault::Disconnected { expected })?;
                if received != expected {
                    return Err(Fault::OutOfOrder { expected, received });
                }
            }
            Ok(ysuite::os::calls() - before)
        },
    )?;
    Ok((sent? + received?) as f64 * 1e6 / messages as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_checked_and_calls_are_counted() {
        let place = Place::choose(None).unwrap();
        assert!(calls_per_million(place, 100_000).unwrap() >= 0.0);
    }
}
