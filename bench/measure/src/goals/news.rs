//! Every message to every receiver: `ysuite::broadcast`, tokio's, and a crossbeam channel for each receiver.
//!
//! ```text
//!                                  +----> receive    a thread
//!   first CPU    send, send, send -+----> receive    a thread      one: on the second CPU; more: on both
//!                                  +----> receive    a thread
//! ```
//!
//! The time is that from the first message sent to the last received by the last receiver, for each message sent.

use std::time::Instant;

use crossbeam_channel as crossbeam;
use tokio::runtime;
use tokio::sync::broadcast as tokio_broadcast;
use ysuite::broadcast;

use super::targets::{Ratio, least_of};
use super::{Run, beside_the_hand_over};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Plan;
use crate::stage::{Gate, Part, Timed, ensemble};

const SESSION: &str = "targets: every message to every receiver";

pub(super) static RATIOS: [Ratio; 3] = [
    least_of(
        "broadcast to 1: times faster than the better of tokio's and a crossbeam channel each",
        SESSION,
        &["tokio-broadcast to 1", "crossbeam-bounded to 1"],
        "broadcast to 1",
        3.0,
    ),
    least_of(
        "broadcast to 2: times faster than the better of tokio's and a crossbeam channel each",
        SESSION,
        &["tokio-broadcast to 2", "crossbeam-bounded to 2"],
        "broadcast to 2",
        3.0,
    ),
    least_of(
        "broadcast to 4: times faster than the better of tokio's and a crossbeam channel each",
        SESSION,
        &["tokio-broadcast to 4", "crossbeam-bounded to 4"],
        "broadcast to 4",
        3.0,
    ),
];

/// All competitors of the session.
pub fn contenders() -> [(&'static str, Run); 9] {
    [
        ("broadcast to 1", run::<Ours, 1>),
        ("tokio-broadcast to 1", run::<Tokio, 1>),
        ("crossbeam-bounded to 1", run::<Crossbeam, 1>),
        ("broadcast to 2", run::<Ours, 2>),
        ("tokio-broadcast to 2", run::<Tokio, 2>),
        ("crossbeam-bounded to 2", run::<Crossbeam, 2>),
        ("broadcast to 4", run::<Ours, 4>),
        ("tokio-broadcast to 4", run::<Tokio, 4>),
        ("crossbeam-bounded to 4", run::<Crossbeam, 4>),
    ]
}

pub(super) fn plan(frame: Frame) -> Plan {
    beside_the_hand_over(SESSION, "Messages sent by one thread, received by 1, 2 and 4", &contenders(), frame)
}

/// Messages that may be in flight.
const PLACES: usize = 1_024;

/// A way of sending every message to every receiver. A slow receiver delays the sender.
trait News: 'static {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;
    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>);
    /// Sends all messages. Stops if the receivers are dropped.
    fn send(sender: Self::Sender, messages: usize);
    /// Receives all messages and checks each.
    fn receive(receiver: Self::Receiver, messages: usize) -> Result<(), Fault>;
}

fn check(received: Option<usize>, expected: usize) -> Result<(), Fault> {
    match received {
        Some(number) if number == expected => Ok(()),
        Some(received) => Err(Fault::OutOfOrder { expected, received }),
        None => Err(Fault::Disconnected { expected }),
    }
}

struct Ours;

impl News for Ours {
    type Sender = broadcast::Sender<usize>;
    type Receiver = broadcast::Receiver<usize>;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        let (sender, receiver) = broadcast::bounded(PLACES);
        (sender, vec![receiver; receivers])
    }

    fn send(sender: Self::Sender, messages: usize) {
        (0..messages).take_while(|&number| sender.send(number).is_ok()).for_each(drop);
    }

    fn receive(mut receiver: Self::Receiver, messages: usize) -> Result<(), Fault> {
        (0..messages).try_for_each(|expected| check(receiver.recv().ok(), expected))
    }
}

struct Crossbeam;

impl News for Crossbeam {
    type Sender = Vec<crossbeam::Sender<usize>>;
    type Receiver = crossbeam::Receiver<usize>;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        (0..receivers).map(|_| crossbeam::bounded(PLACES)).unzip()
    }

    fn send(senders: Self::Sender, messages: usize) {
        for number in 0..messages {
            if senders.iter().any(|sender| sender.send(number).is_err()) {
                return;
            }
        }
    }

    fn receive(receiver: Self::Receiver, messages: usize) -> Result<(), Fault> {
        (0..messages).try_for_each(|expected| check(receiver.recv().ok(), expected))
    }
}

/// Tokio's channel loses messages that a slow receiver has not received. So its sender waits for the receivers after
/// each half of a ring, by a separate channel.
struct Tokio;

impl News for Tokio {
    type Sender = (tokio_broadcast::Sender<usize>, Vec<crossbeam::Receiver<()>>);
    type Receiver = (tokio_broadcast::Receiver<usize>, crossbeam::Sender<()>);

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        let (sender, first) = tokio_broadcast::channel(PLACES);
        let (halves, received): (Vec<_>, Vec<_>) = (0..receivers).map(|_| crossbeam::unbounded()).unzip();
        let ends = halves.into_iter().map(|half| (sender.subscribe(), half)).collect();
        drop(first);
        ((sender, received), ends)
    }

    fn send((sender, received): Self::Sender, messages: usize) {
        for number in 0..messages {
            // Two halves may be in flight.
            let waits = number % (PLACES / 2) == 0 && number >= PLACES;
            if waits && received.iter().any(|half| half.recv().is_err()) || sender.send(number).is_err() {
                return;
            }
        }
    }

    fn receive((mut receiver, half): Self::Receiver, messages: usize) -> Result<(), Fault> {
        // As its `blocking_recv`, without the cost of entering it for each message.
        runtime::Builder::new_current_thread().build()?.block_on(async {
            for expected in 0..messages {
                check(receiver.recv().await.ok(), expected)?;
                if (expected + 1) % (PLACES / 2) == 0 {
                    // The sender may already have sent its last message.
                    let _ = half.send(());
                }
            }
            Ok(())
        })
    }
}

fn run<N: News, const RECEIVERS: usize>(place: Place, messages: u64) -> Result<Timed, Fault> {
    let (sender, receivers) = N::open(RECEIVERS);
    let cpus = place.cpus();
    let count = messages as usize;
    let sending = move |gate: &Gate| {
        gate.pass();
        let start = Instant::now();
        N::send(sender, count);
        Ok(start)
    };
    let mut parts = vec![Part::new(&cpus[..1], sending)];
    parts.extend(receivers.into_iter().map(|receiver| {
        // One receiver has a CPU of its own. More receivers share all CPUs.
        let at = if RECEIVERS == 1 { &cpus[cpus.len() - 1..] } else { &cpus[..] };
        Part::new(at, move |gate: &Gate| {
            gate.pass();
            N::receive(receiver, count).map(|()| Instant::now())
        })
    }));
    let times = ensemble(messages, parts)?.into_iter().collect::<Result<Vec<_>, Fault>>()?;
    let end = times[1..].iter().copied().max().unwrap_or(times[0]);
    Ok(Timed::between(times[0], end, messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_missing_is_noticed() {
        let (sender, mut receivers) = Crossbeam::open(1);
        [0, 2].iter().for_each(|&number| sender[0].send(number).unwrap());
        drop(sender);
        let receiver = receivers.pop().unwrap();
        assert!(matches!(Crossbeam::receive(receiver, 3), Err(Fault::OutOfOrder { expected: 1, received: 2 })));
    }
}
