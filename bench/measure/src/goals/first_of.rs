//! The first of several receivers that has a message: `ysuite`'s `Select` and `select()`, and crossbeam's `Select` and
//! `select!`, over 2 and over 64.
//!
//! ```text
//!   one thread      send into one of them, take from the first that has something; send into another, take ...
//!   two threads     send into one and another ----> take from the first that has something, in a thread of its own
//! ```
//!
//! The channel is chosen at random: taking turns would suit a `ReadySet` that continues its search after the last one
//! found. In one thread there always is exactly one with a message, and no thread sleeps. A `ReadySet` is made once,
//! except the one that is made anew. `select()` and `select!` are made anew for each message by design.

use std::time::Instant;

use crossbeam_channel as crossbeam;
use ysuite::signal::ReadySet;
use ysuite::{select, spsc};

use super::targets::{Ratio, least_of};
use super::{Run, beside_the_hand_over};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Plan;
use crate::stage::{Timed, duet_from_the_gate, solo};

const SESSION: &str = "targets: the first of several";

pub(super) static RATIOS: [Ratio; 6] = [
    least(
        "Select over 2 receivers: times faster than crossbeam's Select",
        &["crossbeam-select over 2"],
        "Select over 2",
    ),
    least(
        "Select over 64 receivers: times faster than crossbeam's Select",
        &["crossbeam-select over 64"],
        "Select over 64",
    ),
    least(
        "Select over 2 receivers, streams of another thread: times faster than crossbeam's Select",
        &["crossbeam-select over 2, streams"],
        "Select over 2, streams",
    ),
    least(
        "Select over 64 receivers, streams of another thread: times faster than crossbeam's Select",
        &["crossbeam-select over 64, streams"],
        "Select over 64, streams",
    ),
    least(
        "select() over 2 receivers: times faster than crossbeam's select!",
        &["crossbeam select!"],
        "select() over 2",
    ),
    least(
        "select() over a list of 64 receivers: times faster than crossbeam's Select, made anew",
        &["crossbeam-select anew over 64"],
        "select() over 64",
    ),
];

const fn least(name: &'static str, above: &'static [&'static str], below: &'static str) -> Ratio {
    least_of(name, SESSION, above, below, 3.0)
}

/// All competitors of the session.
pub fn contenders() -> [(&'static str, Run); 12] {
    [
        ("Select over 2", here::<Kept, 2>),
        ("Select over 64", here::<Kept, 64>),
        ("select() over 2", here::<Either, 2>),
        ("select() over 64", here::<List, 64>),
        ("crossbeam-select over 2", here::<CrossbeamKept, 2>),
        ("crossbeam-select over 64", here::<CrossbeamKept, 64>),
        ("crossbeam select!", here::<CrossbeamEither, 2>),
        ("crossbeam-select anew over 64", here::<CrossbeamAnew, 64>),
        ("Select over 2, streams", streams::<Kept, 2>),
        ("Select over 64, streams", streams::<Kept, 64>),
        ("crossbeam-select over 2, streams", streams::<CrossbeamKept, 2>),
        ("crossbeam-select over 64, streams", streams::<CrossbeamKept, 64>),
    ]
}

pub(super) fn plan(frame: Frame) -> Plan {
    beside_the_hand_over(
        SESSION,
        "Messages taken from the first of several receivers that has one",
        &contenders(),
        frame,
    )
}

/// The channels that the messages go through, the same in every run. Each channel's messages are counted.
struct Turns<F: FirstOf> {
    dice: fastrand::Rng,
    senders: Vec<(F::Sender, usize)>,
}

impl<F: FirstOf> Turns<F> {
    fn new(senders: Vec<F::Sender>) -> Self {
        Self { dice: fastrand::Rng::with_seed(64), senders: senders.into_iter().map(|sender| (sender, 0)).collect() }
    }

    #[inline(always)]
    fn send(&mut self) -> Result<(), Fault> {
        let channel = self.dice.usize(..self.senders.len());
        let (sender, number) = &mut self.senders[channel];
        if !F::send(sender, *number) {
            return Err(Fault::Disconnected { expected: *number });
        }
        *number += 1;
        Ok(())
    }
}

/// The messages that each channel has delivered.
struct Tally {
    due: Vec<usize>,
}

impl Tally {
    fn new(channels: usize) -> Self {
        Self { due: vec![0; channels] }
    }

    #[inline(always)]
    fn note(&mut self, channel: usize, received: usize) -> Result<(), Fault> {
        let expected = self.due[channel];
        if received != expected {
            return Err(Fault::OutOfOrder { expected, received });
        }
        self.due[channel] += 1;
        Ok(())
    }
}

/// Receives `messages` messages, each by `one`: the channel and, unless it is disconnected, the message. `before` is
/// called before each.
#[inline(always)]
fn take_each(
    channels: usize,
    messages: usize,
    mut before: impl FnMut() -> Result<(), Fault>,
    mut one: impl FnMut() -> (usize, Option<usize>),
) -> Result<(), Fault> {
    let mut tally = Tally::new(channels);
    for expected in 0..messages {
        before()?;
        let (channel, received) = one();
        tally.note(channel, received.ok_or(Fault::Disconnected { expected })?)?;
    }
    Ok(())
}

/// A way to receive from the first of several receivers.
trait FirstOf: 'static {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;
    fn channel() -> (Self::Sender, Self::Receiver);
    /// False: the receiver is dropped.
    fn send(sender: &mut Self::Sender, number: usize) -> bool;
    /// Receives `messages` messages. `before` is called before each.
    fn take(
        receivers: &mut [Self::Receiver],
        messages: usize,
        before: impl FnMut() -> Result<(), Fault>,
    ) -> Result<(), Fault>;
}

/// Makes one: its name, the module of its channels, and the body of [`FirstOf::take`].
macro_rules! first_of {
    ($way:ident, $kind:ident, |$receivers:ident, $messages:ident, $before:ident| $take:block) => {
        struct $way;

        impl FirstOf for $way {
            type Sender = $kind::Sender<usize>;
            type Receiver = $kind::Receiver<usize>;

            fn channel() -> (Self::Sender, Self::Receiver) {
                $kind::unbounded()
            }

            #[inline(always)]
            fn send(sender: &mut Self::Sender, number: usize) -> bool {
                sender.send(number).is_ok()
            }

            fn take(
                $receivers: &mut [Self::Receiver],
                $messages: usize,
                $before: impl FnMut() -> Result<(), Fault>,
            ) -> Result<(), Fault> $take
        }
    };
}

first_of!(Kept, spsc, |receivers, messages, before| {
    let mut select = ReadySet::with_capacity(receivers.len());
    for (channel, receiver) in receivers.iter_mut().enumerate() {
        assert_eq!(select.add(receiver).ok(), Some(channel), "numbers are given in order");
    }
    take_each(receivers.len(), messages, before, || {
        loop {
            let channel = select.wait();
            match receivers[channel].try_recv() {
                Ok(received) => break (channel, Some(received)),
                Err(ysuite::TryRecvError::Empty) => {}
                Err(ysuite::TryRecvError::Disconnected) => break (channel, None),
            }
        }
    })
});

first_of!(Either, spsc, |receivers, messages, before| {
    let [one, other] = receivers else { unreachable!("it chooses between two") };
    take_each(2, messages, before, || {
        select().recv(&mut *one, |received| (0, received.ok())).recv(&mut *other, |received| (1, received.ok())).wait()
    })
});

first_of!(List, spsc, |receivers, messages, before| {
    take_each(receivers.len(), messages, before, || {
        select().recv_any(receivers, |channel, received| (channel, received.ok())).wait()
    })
});

/// Receives from the chosen one.
#[inline(always)]
fn chosen(
    operation: crossbeam::SelectedOperation<'_>,
    receivers: &[crossbeam::Receiver<usize>],
) -> (usize, Option<usize>) {
    let channel = operation.index();
    (channel, operation.recv(&receivers[channel]).ok())
}

first_of!(CrossbeamKept, crossbeam, |receivers, messages, before| {
    let mut select = crossbeam::Select::new();
    for receiver in receivers.iter() {
        select.recv(receiver);
    }
    take_each(receivers.len(), messages, before, || chosen(select.select(), receivers))
});

first_of!(CrossbeamAnew, crossbeam, |receivers, messages, before| {
    take_each(receivers.len(), messages, before, || {
        let mut select = crossbeam::Select::new();
        for receiver in receivers.iter() {
            select.recv(receiver);
        }
        chosen(select.select(), receivers)
    })
});

first_of!(CrossbeamEither, crossbeam, |receivers, messages, before| {
    let [one, other] = receivers else { unreachable!("it chooses between two") };
    take_each(2, messages, before, || {
        crossbeam::select! {
            recv(one) -> received => (0, received.ok()),
            recv(other) -> received => (1, received.ok()),
        }
    })
});

fn open<F: FirstOf>(channels: usize) -> (Vec<F::Sender>, Vec<F::Receiver>) {
    (0..channels).map(|_| F::channel()).unzip()
}

fn here<F: FirstOf, const CHANNELS: usize>(place: Place, messages: u64) -> Result<Timed, Fault> {
    let (senders, mut receivers) = open::<F>(CHANNELS);
    solo(place.first, move || {
        let mut turns = Turns::<F>::new(senders);
        let start = Instant::now();
        F::take(&mut receivers, messages as usize, || turns.send())?;
        Ok(Timed { elapsed: start.elapsed(), units: messages })
    })?
}

fn streams<F: FirstOf, const CHANNELS: usize>(place: Place, messages: u64) -> Result<Timed, Fault> {
    let (senders, mut receivers) = open::<F>(CHANNELS);
    let sending = move || {
        let mut turns = Turns::<F>::new(senders);
        let start = Instant::now();
        // A receiver that is dropped has found a fault.
        let _ = (0..messages).try_for_each(|_| turns.send());
        // A dropped handle would be chosen before the others have been emptied.
        (start, turns.senders)
    };
    let taking = move || F::take(&mut receivers, messages as usize, || Ok(())).map(|()| Instant::now());
    let ((start, _senders), end) = duet_from_the_gate(place, messages, sending, taking)?;
    Ok(Timed::between(start, end?, messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_missing_is_noticed() {
        let (mut senders, mut receivers) = open::<Kept>(2);
        [0, 1, 3].iter().for_each(|&number| assert!(Kept::send(&mut senders[1], number)));
        let fault = Kept::take(&mut receivers, 3, || Ok(()));
        assert!(matches!(fault, Err(Fault::OutOfOrder { expected: 2, received: 3 })));
    }
}
