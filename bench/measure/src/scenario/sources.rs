//! One thread that serves an increasing number of channels: the cost of each silent one, and of each busy one.
//!
//! ```text
//!   source 0   . . 2 . . --\
//!   source 1   0 . . . 4 ---+----> 0 1 2 3 4   one thread, which replies to each before the next one comes
//!   source 2   . 1 . 3 . --/
//! ```
//!
//! One thread has all the sources, and a message has gone through each before the clock starts. In `sources` it sends
//! one message at a time, each through a source chosen at random, the same ones in every run, and waits for the reply.
//! The reply comes back through a `ysuite::spsc`, for every transport, and counts as a message: the figure is half of
//! the time there and back. Between two messages the receiver waits. In `busy-sources` it sends through all of them in
//! turn, as fast as it can.
//!
//! Where a transport has a single queue, a source is one more sender to it: a program without a way to serve many
//! channels would use that.

use std::time::Instant;

use super::idle_senders::each_said;
use super::many::{self, ROW, Seen};
use super::{END, Quick, Scenario, check, expect, ping_pong};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::{Timed, boxed_duet};
use crate::transport::{Closed, Ends, Many, Receiver, Sender, Shape, Transport, Waits, spsc};

pub static ONE_AT_A_TIME: Scenario = Scenario {
    name: "sources",
    about: "One thread serves 1 to 4,096 channels, one message at a time through one of them: half of there and back",
    parameters: &[sources(1), sources(4), sources(16), sources(64), sources(256), sources(1_024), sources(4_096)],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |parameter| Shape::new(count(parameter), 1),
    needs_two_cpus: false,
    able: |traits| traits.senders == Ends::Many && traits.waits.sleeps() && traits.waits != Waits::Suspends,
    limit: |frame, _| frame.floor(),
    beside: &[&limits::FUTEX, &limits::EPOLL],
    contender: |entry, parameter, frame| contender(entry, count(parameter), frame),
};

pub static ALL_BUSY: Scenario = Scenario {
    name: "busy-sources",
    about: "One thread serves 1 to 4,096 channels, all of them busy: messages sent through each in turn",
    limit: |frame, _| frame.stream_limit(),
    beside: &[],
    contender: |entry, parameter, frame| busy_contender(entry, count(parameter), frame),
    ..ONE_AT_A_TIME
};

const fn sources(count: u32) -> Parameter {
    Parameter { quantity: Quantity::Sources, value: count as f64 }
}

fn count(parameter: Option<Parameter>) -> usize {
    parameter.map_or(1, |sources| sources.value as usize)
}

fn contender(entry: &'static Entry, sources: usize, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| match entry.sources {
        Some(driver) => driver(place, sources, messages),
        None => unreachable!("{} was chosen for several senders", entry.traits.name),
    };
    frame.transport(&entry.traits, ping_pong::own_limit(entry.traits.waits, place), run)
}

fn busy_contender(entry: &'static Entry, sources: usize, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| match entry.busy_sources {
        Some(driver) => driver(place, sources, messages),
        None => unreachable!("{} was chosen for several senders", entry.traits.name),
    };
    let mut contender = frame.transport(&entry.traits, frame.stream_limit(), run);
    contender.length = contender.length.at_least(std::time::Duration::ZERO, sources as u64);
    contender
}

/// The sources that the messages of a run go through: the same on both sides, and in every run.
struct Turns {
    dice: fastrand::Rng,
    sources: usize,
}

impl Turns {
    fn over(sources: usize) -> Self {
        Self { dice: fastrand::Rng::with_seed(4_096), sources }
    }

    /// The source of this message, and its content.
    #[inline(always)]
    fn next(&mut self, message: usize) -> (usize, usize) {
        let source = self.dice.usize(..self.sources);
        (source, source << ROW | message)
    }
}

/// A number of sources and their receiver, each side behind a pointer with its loops: only this much is compiled for each
/// transport. A message has gone through each source already.
type Opened = (Box<dyn Sources>, Box<dyn Serves>);

fn open<T: Many>(sources: usize) -> Result<Opened, Fault> {
    let (senders, mut receivers) = T::open_many::<usize>(Shape::new(sources, 1))?;
    let (senders, receiver): Opened = (Box::new(senders), Box::new(receivers.remove(0)));
    used_once((senders, receiver))
}

fn used_once((mut senders, mut receiver): Opened) -> Result<Opened, Fault> {
    let count = senders.count();
    each_said(&mut |source| senders.send_by(source, source), &mut || receiver.receive(), count)?;
    Ok((senders, receiver))
}

/// The side of the sources.
trait Sources: Send {
    fn count(&self) -> usize;

    fn send_by(&mut self, source: usize, message: usize) -> Result<(), Closed>;

    /// Sends messages one at a time, each after the reply to the one before it. Returns the start and the end.
    fn ask(self: Box<Self>, back: BackOut, bounces: usize) -> Result<(Instant, Instant), Fault>;

    /// Sends this number of messages through each of them in turn. Returns the start.
    fn pour(self: Box<Self>, each: usize) -> Instant;
}

impl<S: Sender<usize>> Sources for Vec<S> {
    fn count(&self) -> usize {
        self.len()
    }

    fn send_by(&mut self, source: usize, message: usize) -> Result<(), Closed> {
        self[source].send(message)
    }

    fn ask(self: Box<Self>, back: BackOut, bounces: usize) -> Result<(Instant, Instant), Fault> {
        ask(*self, back, bounces)
    }

    fn pour(self: Box<Self>, each: usize) -> Instant {
        pour(*self, each)
    }
}

/// The side that serves them.
trait Serves: Send {
    fn receive(&mut self) -> Result<usize, Closed>;

    /// Replies to each message, until the end.
    fn answer(self: Box<Self>, back: BackIn, sources: usize) -> Result<(), Fault>;

    /// Receives streams.
    fn drain(self: Box<Self>, seen: Seen) -> Result<Seen, Fault>;
}

impl<R: Receiver<usize>> Serves for R {
    fn receive(&mut self) -> Result<usize, Closed> {
        self.recv()
    }

    fn answer(self: Box<Self>, back: BackIn, sources: usize) -> Result<(), Fault> {
        answer(*self, back, sources)
    }

    fn drain(self: Box<Self>, seen: Seen) -> Result<Seen, Fault> {
        many::drain(*self, seen)
    }
}

/// The way back.
type Back = spsc::Adaptive;
type BackIn = <Back as Transport>::Sender<usize>;
type BackOut = <Back as Transport>::Receiver<usize>;

/// Sends messages one at a time, each through a source chosen at random. Half of the units of the result are the
/// replies.
pub fn one_at_a_time<T: Many>(place: Place, sources: usize, messages: u64) -> Result<Timed, Fault> {
    let bounces = messages.div_ceil(2);
    bounced(place, sources, bounces, open::<T>(sources)?)
}

fn bounced(place: Place, sources: usize, bounces: u64, (there, served): Opened) -> Result<Timed, Fault> {
    let (back_in, back_out) = Back::open::<usize>()?;
    let (asked, answered) = boxed_duet(
        place,
        bounces * 2,
        Box::new(move || there.ask(back_out, bounces as usize)),
        Box::new(move || served.answer(back_in, sources)),
    )?;
    // The other thread's fault comes first: this one only sees that there is no reply.
    answered?;
    let (start, end) = asked?;
    Ok(Timed::between(start, end, bounces * 2))
}

#[inline(never)]
fn ask(
    there: Vec<impl Sender<usize>>,
    back: impl Receiver<usize>,
    bounces: usize,
) -> Result<(Instant, Instant), Fault> {
    // Variables of its own: an argument stays where the caller has put it.
    let (mut there, mut back) = (there, back);
    let mut turns = Turns::over(there.len());
    let start = Instant::now();
    for message in 0..bounces {
        let (source, carried) = turns.next(message);
        // A peer that is dropped is reported on the way back.
        let _ = there[source].send(carried);
        if let Err(fault) = expect(&mut back, message) {
            let _ = there[0].send(END);
            return Err(fault);
        }
    }
    let end = Instant::now();
    let _ = there[0].send(END);
    Ok((start, end))
}

/// Sends the number of each message back, until the end.
#[inline(never)]
fn answer(there: impl Receiver<usize>, back: impl Sender<usize>, sources: usize) -> Result<(), Fault> {
    let (mut there, mut back) = (there, back);
    let mut turns = Turns::over(sources);
    let mut message = 0;
    loop {
        let received = there.recv();
        // The other thread has the right number, and detects an early end itself.
        if received == Ok(END) {
            return Ok(());
        }
        let (_, carried) = turns.next(message);
        if let Err(fault) = check(received, carried) {
            let _ = back.send(END);
            return Err(fault);
        }
        if back.send(message) == Err(Closed) {
            return Ok(());
        }
        message += 1;
    }
}

/// Streams `messages` through all the sources in turn, rounded up to the same number for each.
pub fn all_busy<T: Many>(place: Place, sources: usize, messages: u64) -> Result<Timed, Fault> {
    streamed(place, sources, messages, open::<T>(sources)?)
}

fn streamed(place: Place, sources: usize, messages: u64, (there, served): Opened) -> Result<Timed, Fault> {
    let shape = Shape::new(sources, 1);
    let each = messages.div_ceil(sources as u64) as usize;
    let (start, seen) = boxed_duet(
        place,
        messages,
        Box::new(move || there.pour(each)),
        Box::new(move || served.drain(Seen::new(shape))),
    )?;
    let seen = seen?;
    let end = seen.over();
    let received = seen.received();
    many::complete(std::iter::once(seen), shape, each)?;
    Ok(Timed::between(start, end, received))
}

#[inline(never)]
fn pour(mut senders: Vec<impl Sender<usize>>, each: usize) -> Instant {
    let start = Instant::now();
    for message in 0..each {
        for (source, sender) in senders.iter_mut().enumerate() {
            if sender.send(source << ROW | message).is_err() {
                return start;
            }
        }
    }
    for sender in &mut senders {
        let _ = sender.send(END);
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::{self, Faulty};

    #[test]
    fn a_source_is_served_in_order_whatever_is_there_in_others() {
        // The handles of a channel for each sender are dropped one by one, and with the last one the receiver's.
        let (mut senders, mut receivers) =
            crate::transport::attached::InPollset::open_many::<usize>(Shape::new(3, 1)).unwrap();
        for (sender, message) in [(2, 20), (0, 1), (2, 21)] {
            senders[sender].send(message).unwrap();
        }
        senders.truncate(2);
        let receiver = &mut receivers[0];
        let mut all: Vec<usize> = (0..3).map(|_| receiver.recv().unwrap()).collect();
        assert!(all.iter().position(|one| *one == 20) < all.iter().position(|one| *one == 21));
        all.sort_unstable();
        assert_eq!(all, [1, 20, 21]);
        drop(senders);
        assert_eq!(receiver.recv(), Err(Closed));
    }

    #[test]
    fn turns_are_the_same_on_both_sides_and_reach_every_source() {
        let of = |sources| {
            let mut turns = Turns::over(sources);
            (0..1_000).map(|message| turns.next(message)).collect::<Vec<_>>()
        };
        assert_eq!(of(16), of(16));
        assert!((0..16).all(|source| of(16).iter().any(|(chosen, _)| *chosen == source)));
        assert!(of(16).iter().enumerate().all(|(at, (source, carried))| *carried == source << ROW | at));
    }

    #[test]
    fn a_fault_is_reported_by_the_side_that_sees_it() {
        fn faulty<const HOW: usize>() -> Fault {
            let (sender, receiver) = <Faulty<HOW> as Transport>::open::<usize>().unwrap();
            let (back_in, back_out) = Back::open::<usize>().unwrap();
            // The fault is about the number 50, which the 51st message of one source carries.
            let asking = std::thread::spawn(move || ask(vec![sender], back_out, tests::MESSAGES));
            let answered = answer(receiver, back_in, 1);
            let asked = asking.join().unwrap();
            answered.and(asked.map(drop)).unwrap_err()
        }
        let fault = faulty::<{ tests::REPEATS }>();
        assert!(matches!(fault, Fault::OutOfOrder { expected: 51, received: 50 }), "{fault:?}");
        let fault = faulty::<{ tests::GOES_AWAY }>();
        assert!(matches!(fault, Fault::Disconnected { expected: 50 }), "{fault:?}");
    }
}
