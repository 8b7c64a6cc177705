//! Streams from several threads to several threads, through one transport.
//!
//! ```text
//!   senders    0.0 0.1 0.2 ... \                 / 0.0 1.0 0.3 ...   receivers: each message reaches one of them
//!              1.0 1.1 1.2 ...  >---------------<  0.1 0.2 1.1 ...
//! ```
//!
//! A message carries the number of its sender and its own number in that sender's sequence. Each receiver must see the
//! messages of each sender in ascending order. A single receiver must see all of them. At the end, the number of each
//! sender's messages, and the sum of their numbers, must have been received by all together. So a lost, doubled or
//! overtaken message is always detected.
//!
//! The clock runs from the first send of all to the last receipt of all. One thread on each side is pinned to its CPU.
//! More threads run where the scheduler puts them, on one CPU per thread, if this process may use as many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::carried::{self, Kinds, kinds};
use super::{END, Quick, Scenario};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits::Probe;
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::{Part, Span, Timed, ensemble};
#[cfg(feature = "sizes")]
use crate::transport::message::Block;
use crate::transport::message::Handed;
use crate::transport::{Closed, Many, Message, Receiver, Sender, Shape};

pub static TWO_BY_TWO: Scenario = square::<2>("many-2x2", "Two threads send and two receive, through one transport");
pub static THREE_BY_THREE: Scenario =
    square::<3>("many-3x3", "Three threads send and three receive, through one transport");
pub static EIGHT_BY_EIGHT: Scenario =
    square::<8>("many-8x8", "Eight threads send and eight receive, through one transport");

/// Of any shape, which the plan sets.
pub static ANY: Scenario = square::<1>("many", "Streams between several threads, through one transport");

/// The same number of threads on both sides.
const fn square<const SIDE: usize>(name: &'static str, about: &'static str) -> Scenario {
    Scenario {
        name,
        about,
        parameters: carried::PARAMETERS,
        in_quick: Quick::No,
        one_cpu: false,
        shape: |_| Shape::square(SIDE),
        needs_two_cpus: false,
        able: |traits| traits.one_by_one,
        limit: carried::limit,
        beside: &[],
        contender: |entry, parameter, frame| contender(entry, Shape::square(SIDE), parameter, frame),
    }
}

/// One competitor between the threads of `shape`, in runs of many slices of the scheduler.
pub fn contender(entry: &'static Entry, shape: Shape, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let limit = carried::limit(&frame, parameter);
    let mut contender = between(entry, shape, parameter, limit, frame);
    if shape.threads() > frame.place.shared_by(shape.threads()).len() {
        // In less than some slices of the scheduler the threads would run one after the other.
        contender.length = contender.length.at_least(super::crowd::LEAST_TIME, 0);
    }
    contender
}

/// One competitor between the threads of `shape`.
pub(super) fn between(
    entry: &'static Entry,
    shape: Shape,
    parameter: Option<Parameter>,
    limit: &Probe,
    frame: Frame,
) -> Contender {
    let place = frame.place;
    let parameter = parameter.unwrap_or(carried::SMALLEST);
    let run = move |messages| match entry.many {
        Some(many) => many(place, shape, parameter, messages),
        None => unreachable!("{} was chosen for {shape}", entry.traits.name),
    };
    let mut contender = frame.transport(&entry.traits, limit, run);
    contender.contestant.cpus = beyond_the_place(place, shape);
    contender
}

/// The CPUs that the threads of a stream share, where these are more than the place's.
pub(super) fn beyond_the_place(place: Place, shape: Shape) -> Vec<usize> {
    let shared = place.shared_by(shape.threads());
    if shared.len() > place.cpus().len() { shared } else { Vec::new() }
}

/// One sender with its loop. Gets its number, the number of its messages, and the end of the streams. Returns its
/// start.
pub type Pour = Box<dyn FnOnce(usize, usize, &Closing) -> Instant + Send>;

/// One receiver with its loop.
pub type Drain = Box<dyn FnOnce(Seen) -> Result<Seen, Fault> + Send>;

/// All the handles with their loops. Only this much is compiled for each transport and message.
pub struct Ends {
    pours: Vec<Pour>,
    drains: Vec<Drain>,
}

impl Ends {
    /// Loops that shorten a vector: its iterator is more code, and would be compiled for each of them as well.
    pub fn of<M: Message>(senders: Vec<impl Sender<M>>, receivers: Vec<impl Receiver<M>>) -> Self {
        let (mut senders, mut receivers) = (senders, receivers);
        let mut ends = Self { pours: Vec::new(), drains: Vec::new() };
        while let Some(sender) = senders.pop() {
            ends.pours.push(Box::new(move |number, messages, closing| pour(sender, number, messages, closing)));
        }
        while let Some(receiver) = receivers.pop() {
            ends.drains.push(Box::new(move |seen| drain(receiver, seen)));
        }
        // They were taken from the end.
        ends.pours.reverse();
        ends.drains.reverse();
        ends
    }

    /// Loops that were compiled elsewhere.
    pub fn brought(pours: Vec<Pour>, drains: Vec<Drain>) -> Self {
        Self { pours, drains }
    }
}

/// Opens the handles of a number of threads.
type Open = fn(Shape) -> Result<Ends, Fault>;

pub(super) fn ends<T: Many, M: Message>(shape: Shape) -> Result<Ends, Fault> {
    let (senders, receivers) = T::open_many::<M>(shape)?;
    Ok(Ends::of(senders, receivers))
}

/// Streams `messages`, rounded up to the same number for each sender.
pub fn run<T: Many>(place: Place, shape: Shape, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    streams(&const { kinds!(ends::<T>) }, place, shape, parameter, messages)
}

/// The same for transports that have few sizes.
pub fn run_few<T: Many>(place: Place, shape: Shape, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    streams(&const { kinds!(few ends::<T>) }, place, shape, parameter, messages)
}

/// The same with the smallest messages, which are all that this driver has.
pub fn run_smallest<T: Many>(place: Place, shape: Shape, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    if parameter != carried::SMALLEST {
        return Err(Fault::System(std::io::Error::other("only the smallest messages have a driver")));
    }
    play(place, shape, ends::<T, usize>(shape)?, messages)
}

fn streams(
    kinds: &Kinds<Open>,
    place: Place,
    shape: Shape,
    parameter: Parameter,
    messages: u64,
) -> Result<Timed, Fault> {
    kinds.drive(parameter, &mut |open| {
        carried::in_streams(parameter, messages, &mut |messages| play(place, shape, open(shape)?, messages))
    })
}

/// Streams from all these senders to all these receivers.
pub fn play(place: Place, shape: Shape, ends: Ends, messages: u64) -> Result<Timed, Fault> {
    let each = messages.div_ceil(shape.senders as u64) as usize;
    let pinned = shape == Shape::ONE_TO_ONE;
    let (first, second) = (&[place.first][..], &[place.second][..]);
    let all = &place.shared_by(shape.threads())[..];
    let closing = Arc::new(Closing { sending: AtomicUsize::new(shape.senders), receivers: shape.receivers });
    let mut parts = Vec::with_capacity(shape.threads());
    for (number, pour) in ends.pours.into_iter().enumerate() {
        let closing = closing.clone();
        parts.push(Part::new(if pinned { first } else { all }, move |gate| {
            gate.pass();
            let start = pour(number, each, &closing);
            Ok((Span { start, end: start, units: 0 }, None))
        }));
    }
    for drain in ends.drains {
        let seen = Seen::new(shape);
        parts.push(Part::new(if pinned { second } else { all }, move |gate| {
            gate.pass();
            let start = Instant::now();
            let seen = drain(seen)?;
            Ok((Span { start, end: seen.over(), units: seen.received() }, Some(seen)))
        }));
    }
    let (spans, seen): (Vec<Span>, Vec<Option<Seen>>) =
        ensemble(messages, parts)?.into_iter().collect::<Result<Vec<_>, Fault>>()?.into_iter().unzip();
    complete(seen.into_iter().flatten(), shape, each)?;
    // The receivers were there first, and waited: their start is irrelevant.
    let start = spans[..shape.senders].iter().map(|span| span.start).min();
    let receivers = spans[shape.senders..].iter().map(|span| Span { start: start.unwrap_or(span.start), ..*span });
    Ok(Span::over(&receivers.collect::<Vec<_>>()))
}

/// The number of bits of a message's number within its sender's sequence.
pub const ROW: u32 = 40;

/// The end of the streams. A single receiver waits for the end of each sender. Several receivers share one order of all
/// messages: there the last sender sends an end for each of them after everything else.
pub struct Closing {
    sending: AtomicUsize,
    receivers: usize,
}

impl Closing {
    /// Called once by each sender, after its last message.
    pub fn ends_to_send(&self) -> usize {
        // ORDERING: AcqRel: the messages that the other senders had sent before they got here come before the ends of
        // the last one.
        let last = self.sending.fetch_sub(1, Ordering::AcqRel) == 1;
        match (self.receivers, last) {
            (1, _) => 1,
            (several, true) => several,
            (_, false) => 0,
        }
    }
}

#[inline(never)]
fn pour<M: Message>(sender: impl Sender<M>, number: usize, messages: usize, closing: &Closing) -> Instant {
    let mut sender = sender;
    let row = number << ROW;
    let start = Instant::now();
    for message in row..row + messages {
        if sender.send(M::numbered(message)).is_err() {
            return start;
        }
    }
    for _ in 0..closing.ends_to_send() {
        let _ = sender.send(M::numbered(END));
    }
    start
}

/// The messages that one receiver has seen from one sender.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Row {
    /// The least number that may come.
    pub next: usize,
    pub count: usize,
    pub sum: usize,
}

/// The parts of [`Seen`] that a loop compiled elsewhere uses.
pub struct Rows<'a> {
    /// One for each sender.
    pub rows: &'a mut [Row],
    /// No number may be left out.
    pub alone: bool,
    /// Ends of streams that are still to come.
    pub ends: usize,
}

/// The messages that one receiver has seen from all senders.
pub struct Seen {
    rows: Vec<Row>,
    /// No number may be left out.
    alone: bool,
    ends: usize,
    /// The time at which the last of them arrived.
    over: Option<Instant>,
}

impl Seen {
    pub fn new(shape: Shape) -> Self {
        let alone = shape.receivers == 1;
        let ends = if alone { shape.senders } else { 1 };
        Self { rows: vec![Row::default(); shape.senders], alone, ends, over: None }
    }

    /// The time at which the last message arrived; now, if it was not noted.
    pub(super) fn over(&self) -> Instant {
        self.over.unwrap_or_else(Instant::now)
    }

    pub fn rows(&mut self) -> Rows<'_> {
        Rows { rows: &mut self.rows, alone: self.alone, ends: self.ends }
    }

    pub(super) fn received(&self) -> u64 {
        self.rows.iter().map(|row| row.count as u64).sum()
    }

    /// Whether every stream that it waits for has ended.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.ends == 0
    }

    /// The received value must be a sender's next message, or an end.
    #[inline(always)]
    pub(super) fn take<M: Message>(&mut self, received: Result<M, Closed>) -> Result<(), Fault> {
        match received.map(|message| message.number()) {
            Ok(END) => self.ends -= 1,
            Ok(number) => self.check(number)?,
            Err(Closed) => return Err(Fault::Disconnected { expected: self.rows.first().map_or(0, |row| row.next) }),
        }
        Ok(())
    }

    #[inline(always)]
    fn check(&mut self, number: usize) -> Result<(), Fault> {
        let (sender, message) = (number >> ROW, number & ((1 << ROW) - 1));
        let Some(row) = self.rows.get_mut(sender) else { return Err(Fault::TooMany { received: number }) };
        if message < row.next || (self.alone && message > row.next) {
            return Err(Fault::OutOfOrder { expected: sender << ROW | row.next, received: number });
        }
        *row = Row { next: message + 1, count: row.count + 1, sum: row.sum.wrapping_add(message) };
        Ok(())
    }
}

#[inline(never)]
pub(super) fn drain<M: Message>(receiver: impl Receiver<M>, seen: Seen) -> Result<Seen, Fault> {
    let mut receiver = receiver;
    let mut seen = seen;
    while !seen.is_over() {
        seen.take(receiver.recv())?;
    }
    // Before the receiver is dropped: closing thousands of channels is no part of the stream.
    seen.over = Some(Instant::now());
    Ok(seen)
}

/// All receivers together must have received every sender's messages.
pub(super) fn complete(seen: impl Iterator<Item = Seen>, shape: Shape, each: usize) -> Result<(), Fault> {
    let mut total = vec![Row::default(); shape.senders];
    for seen in seen {
        for (total, row) in total.iter_mut().zip(&seen.rows) {
            total.count += row.count;
            total.sum = total.sum.wrapping_add(row.sum);
        }
    }
    let sum = (0..each).fold(0, usize::wrapping_add);
    for (sender, row) in total.iter().enumerate() {
        let first = sender << ROW;
        if row.count > each {
            return Err(Fault::TooMany { received: first + each });
        }
        if row.count < each || row.sum != sum {
            return Err(Fault::Lost { expected: first + row.count });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(shape: Shape, numbers: &[usize]) -> Result<Seen, Fault> {
        let mut seen = Seen::new(shape);
        numbers.iter().try_for_each(|&number| seen.check(number))?;
        Ok(seen)
    }

    #[test]
    fn a_lone_receiver_must_see_everything_and_several_only_rising_numbers() {
        let of = |sender: usize, message| sender << ROW | message;
        assert!(matches!(seen(Shape::new(2, 1), &[of(0, 0), of(1, 0), of(0, 1)]), Ok(seen) if seen.received() == 3));
        let gap = seen(Shape::new(2, 1), &[of(1, 0), of(1, 2)]);
        assert!(
            matches!(gap, Err(Fault::OutOfOrder { expected, received }) if (expected, received) == (of(1, 1), of(1, 2)))
        );
        assert!(seen(Shape::square(2), &[of(1, 0), of(1, 2)]).is_ok());
        for late in [of(1, 0), of(1, 1)] {
            assert!(matches!(seen(Shape::square(2), &[of(1, 1), late]), Err(Fault::OutOfOrder { .. })));
        }
        assert!(matches!(seen(Shape::square(2), &[of(2, 0)]), Err(Fault::TooMany { .. })));
    }

    #[test]
    fn all_receivers_together_must_have_everything_once() {
        let shape = Shape::square(2);
        let other = 1 << ROW;
        let together = |one: &[usize], two: &[usize]| {
            complete([seen(shape, one).unwrap(), seen(shape, two).unwrap()].into_iter(), shape, 3)
        };
        assert!(together(&[0, 2, other], &[1, other + 1, other + 2]).is_ok());
        assert!(matches!(together(&[0, 2], &[1, other + 1, other + 2]), Err(Fault::Lost { .. })));
        assert!(matches!(together(&[0, 1, 2, other], &[0, other + 1, other + 2]), Err(Fault::TooMany { .. })));
        // The right number of messages, but one of them twice and another never.
        assert!(matches!(together(&[0, 2, other], &[2, other + 1, other + 2]), Err(Fault::Lost { .. })));
    }
}
