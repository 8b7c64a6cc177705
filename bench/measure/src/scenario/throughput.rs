//! Messages sent to the other thread as fast as it receives them, one by one or in batches.
//!
//! ```text
//!   first CPU      0 1 2 3 4 ... ------------------> 0 1 2 3 4 ...      second CPU
//! ```
//!
//! The clock runs from the first send to the last receipt. One by one, the sender publishes each message at once and
//! the receiver takes single messages. In batches, the sender publishes that number together, and the receiver takes
//! all that are ready.

use std::time::Instant;

use super::handles::{self, AnyReceiver, AnySender};
use super::{BATCH, END, Quick, Scenario, expect, expect_end, fault};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::{FromTheGate, Timed, boxed_duet};
use crate::transport::{Closed, Message, Receiver, Sender, Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "throughput",
    about: "Messages sent one by one, as fast as the other thread takes them",
    parameters: &[],
    in_quick: Quick::Whole,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one,
    limit: |frame, _| frame.stream_limit(),
    beside: &[&limits::HAND_OVER, &limits::ONE_THREAD],
    contender,
};

pub static IN_BATCHES: Scenario = Scenario {
    name: "batches",
    about: "Messages sent 64 at a time, by the transports that have batches",
    able: |traits| traits.batches,
    contender: |entry, _, frame| batches(entry, BATCH, frame),
    ..SCENARIO
};

pub fn contender(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    frame.transport(&entry.traits, frame.stream_limit(), move |messages| (entry.throughput)(place, messages))
}

pub fn batches(entry: &'static Entry, batch: usize, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| (entry.batches)(place, messages, batch);
    let mut contender = frame.transport(&entry.traits, frame.stream_limit(), run);
    contender.contestant.batch = Some(batch);
    contender
}

/// The most messages that a receiver of batches takes at once: they stay in its nearest cache.
const TAKEN_AT_ONCE: usize = 512;

pub fn one_by_one<T: Transport, M: Message>(place: Place, messages: u64) -> Result<Timed, Fault> {
    timed(place, messages, ends::<T, M>(messages as usize)?)
}

/// The same with another receiver: `drain` checks the messages and the end, and returns the time of the last message.
pub fn drained_by<T: Transport, M: Message>(
    place: Place,
    messages: u64,
    drain: impl FnOnce(T::Receiver<M>, usize) -> Result<Instant, Fault> + Send + 'static,
) -> Result<Timed, Fault> {
    let count = messages as usize;
    let (sender, receiver) = T::open_for::<M>(count)?;
    timed(place, messages, (Box::new(move || pour(sender, count)), Box::new(move || drain(receiver, count))))
}

pub fn in_batches<T: Transport>(place: Place, messages: u64, batch: usize) -> Result<Timed, Fault> {
    timed(place, messages, ends_of_batches::<T, usize>(messages as usize, batch)?)
}

/// Both sides of a stream with their loops. They return the time of the first send, and that of the last receipt.
pub type Stream = (FromTheGate<Instant>, FromTheGate<Result<Instant, Fault>>);

/// Both sides of a stream of `messages` messages, one by one.
pub(super) fn ends<T: Transport, M: Message>(messages: usize) -> Result<Stream, Fault> {
    Ok(stream(messages, handles::open::<T, M>(messages)?))
}

fn stream<M: Message>(messages: usize, (sender, receiver): (AnySender<M>, AnyReceiver<M>)) -> Stream {
    (Box::new(move || sender.0.pour(messages)), Box::new(move || receiver.0.drain(messages)))
}

/// The same, sent `batch` at a time.
pub(super) fn ends_of_batches<T: Transport, M: Message>(messages: usize, batch: usize) -> Result<Stream, Fault> {
    let (sender, receiver) = T::open_for::<M>(messages)?;
    let pour = move || pour_batches(sender, messages, batch);
    Ok((Box::new(pour), Box::new(move || drain_batches(receiver, messages))))
}

/// A stream from its first send to its last receipt.
pub fn timed(place: Place, messages: u64, (pour, drain): Stream) -> Result<Timed, Fault> {
    let (start, end) = boxed_duet(place, messages, pour, drain)?;
    Ok(Timed::between(start, end?, messages))
}

// The four loops below own their handle and stay functions of their own, so that each is compiled alone.

#[inline(never)]
pub(super) fn pour<M: Message>(sender: impl Sender<M>, messages: usize) -> Instant {
    // A variable of its own: an argument stays where the caller has put it.
    let mut sender = sender;
    let start = Instant::now();
    for message in 0..messages {
        if sender.send(M::numbered(message)).is_err() {
            return start;
        }
    }
    let _ = sender.send(M::numbered(END));
    start
}

#[inline(never)]
pub(super) fn drain<M: Message>(receiver: impl Receiver<M>, messages: usize) -> Result<Instant, Fault> {
    let mut receiver = receiver;
    for expected in 0..messages {
        expect(&mut receiver, expected)?;
    }
    let end = Instant::now();
    expect_end(&mut receiver)?;
    Ok(end)
}

#[inline(never)]
fn pour_batches<M: Message>(sender: impl Sender<M>, messages: usize, batch: usize) -> Instant {
    let mut sender = sender;
    let start = Instant::now();
    let mut first = 0;
    while first < messages {
        let count = batch.min(messages - first);
        if sender.send_batch(first, count).is_err() {
            return start;
        }
        first += count;
    }
    let _ = sender.send(M::numbered(END));
    start
}

#[inline(never)]
fn drain_batches<M: Message>(receiver: impl Receiver<M>, messages: usize) -> Result<Instant, Fault> {
    let mut receiver = receiver;
    let mut taken = Vec::with_capacity(TAKEN_AT_ONCE);
    let mut expected = 0;
    loop {
        taken.clear();
        if let Err(closed) = receiver.recv_batch(&mut taken, TAKEN_AT_ONCE) {
            return Err(fault(expected, Err(closed)));
        }
        // The end may come in the same batch as the last messages.
        let due = &taken[..taken.len().min(messages - expected)];
        if !counts_up_from(expected, due) {
            return Err(first_fault(expected, due));
        }
        expected += due.len();
        if expected == messages {
            let end = Instant::now();
            match taken.get(due.len()).map(Message::number) {
                None => expect_end(&mut receiver)?,
                Some(END) => {}
                Some(received) => return Err(Fault::TooMany { received }),
            }
            return Ok(end);
        }
    }
}

/// Without an early return, so that the check runs at the speed of the loads.
#[inline]
fn counts_up_from<M: Message>(first: usize, messages: &[M]) -> bool {
    let wrong = messages.iter().enumerate().fold(0, |wrong, (at, message)| wrong | (message.number() ^ (first + at)));
    wrong == 0
}

#[cold]
fn first_fault<M: Message>(first: usize, messages: &[M]) -> Fault {
    let at = messages.iter().enumerate().position(|(at, message)| message.number() != first + at).unwrap_or(0);
    fault(first + at, messages.get(at).map(Message::number).ok_or(Closed))
}
