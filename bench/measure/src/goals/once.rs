//! One message per channel: made, sent and received, by `ysuite::oneshot` and by the crates `oneshot` and tokio.
//!
//! ```text
//!   one thread     make, send, receive; make, send, receive; ...
//!   two threads    make, receiver away by an spsc, send ----> receive, in a thread of its own
//! ```
//!
//! Both times include the transfer of the receivers: it makes the ratio smaller than that of the channels alone.

use std::time::Instant;

use ysuite::spsc;

use super::targets::{Ratio, most};
use super::{Run, beside_the_hand_over};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Plan;
use crate::stage::{Timed, duet, solo};

const SESSION: &str = "targets: a channel for each message";
const OURS: &str = "oneshot, one thread";
const CRATE: &str = "oneshot-crate, one thread";
const OURS_AWAY: &str = "oneshot, two threads";
const CRATE_AWAY: &str = "oneshot-crate, two threads";

pub(super) static RATIOS: [Ratio; 2] = [
    most("oneshot made, sent and received by one thread: times the crate oneshot", SESSION, &[OURS], CRATE, 1.1),
    most("oneshot received by another thread: times the crate oneshot", SESSION, &[OURS_AWAY], CRATE_AWAY, 1.1),
];

/// All competitors of the session.
pub fn contenders() -> [(&'static str, Run); 6] {
    [
        (OURS, here::<Ours>),
        (CRATE, here::<Crate>),
        ("tokio-oneshot, one thread", here::<Tokio>),
        (OURS_AWAY, away::<Ours>),
        (CRATE_AWAY, away::<Crate>),
        ("tokio-oneshot, two threads", away::<Tokio>),
    ]
}

pub(super) fn plan(frame: Frame) -> Plan {
    beside_the_hand_over(SESSION, "Channels of one message each: made, sent and received", &contenders(), frame)
}

/// A channel for one message.
trait Once: 'static {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;
    fn channel() -> (Self::Sender, Self::Receiver);
    /// False: the receiver is dropped.
    fn send(sender: Self::Sender, number: usize) -> bool;
    /// Waits for the message.
    fn receive(receiver: Self::Receiver) -> Option<usize>;
}

/// Implements [`Once`] for a crate whose receiver waits by `$receive`.
macro_rules! once {
    ($name:ident, $channel:expr, $sender:ty, $receiver:ty, $receive:ident) => {
        struct $name;

        impl Once for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            #[inline(always)]
            fn channel() -> ($sender, $receiver) {
                $channel
            }

            #[inline(always)]
            fn send(sender: $sender, number: usize) -> bool {
                sender.send(number).is_ok()
            }

            #[inline(always)]
            fn receive(receiver: $receiver) -> Option<usize> {
                receiver.$receive().ok()
            }
        }
    };
}

once!(Ours, ysuite::oneshot::channel(), ysuite::oneshot::Sender<usize>, ysuite::oneshot::Receiver<usize>, recv);
once!(Crate, oneshot::channel(), oneshot::Sender<usize>, oneshot::Receiver<usize>, recv);
once!(
    Tokio,
    tokio::sync::oneshot::channel(),
    tokio::sync::oneshot::Sender<usize>,
    tokio::sync::oneshot::Receiver<usize>,
    blocking_recv
);

fn check(received: Option<usize>, expected: usize) -> Result<(), Fault> {
    match received {
        Some(number) if number == expected => Ok(()),
        Some(received) => Err(Fault::OutOfOrder { expected, received }),
        None => Err(Fault::Disconnected { expected }),
    }
}

fn here<O: Once>(place: Place, messages: u64) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let start = Instant::now();
        for number in 0..messages as usize {
            let (sender, receiver) = O::channel();
            if !O::send(sender, number) {
                return Err(Fault::Disconnected { expected: number });
            }
            check(O::receive(receiver), number)?;
        }
        Ok(Timed { elapsed: start.elapsed(), units: messages })
    })?
}

/// Receivers that can be in flight.
const PLACES: usize = 1_024;

fn away<O: Once>(place: Place, messages: u64) -> Result<Timed, Fault> {
    let (mut receivers, mut away) = spsc::bounded::<O::Receiver>(PLACES);
    let (start, end) = duet(
        place,
        messages,
        move |gate| {
            gate.pass();
            let start = Instant::now();
            for number in 0..messages as usize {
                let (sender, receiver) = O::channel();
                // The other thread ends early only if it has found a fault.
                if receivers.send(receiver).is_err() || !O::send(sender, number) {
                    break;
                }
            }
            start
        },
        move |gate| {
            gate.pass();
            for number in 0..messages as usize {
                let Ok(receiver) = away.recv() else { return Err(Fault::Disconnected { expected: number }) };
                check(O::receive(receiver), number)?;
            }
            Ok(Instant::now())
        },
    )?;
    Ok(Timed::between(start, end?, messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_message_is_noticed() {
        assert!(check(Some(3), 3).is_ok());
        assert!(matches!(check(Some(4), 3), Err(Fault::OutOfOrder { expected: 3, received: 4 })));
        assert!(matches!(check(None, 3), Err(Fault::Disconnected { expected: 3 })));
    }
}
