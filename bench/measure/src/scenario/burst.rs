//! Many messages at once while the receiver is held back, then all of them received: whether a backlog slows a queue
//! down.
//!
//! ```text
//!   first CPU    0 1 2 ... N  |  (sleeps)          the clock of the first half: Fill
//!   second CPU   (sleeps)     |  0 1 2 ... N       the clock of the second half: Drain
//! ```
//!
//! The figure is the time for one message in and out. A short burst is repeated on the same channel until the run has
//! the wanted length. The first burst of a run warms up, and its times do not count. So a backlog that fits a run once
//! is measured in the same state as one that fits it a thousand times. Another process measures the memory of a burst.
//!
//! Only for transports without a bound: the sender of any other waits for the receiver, which is held back.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{END, Quick, Scenario, expect, expect_end};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::memory;
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::duet_from_the_gate;
use crate::transport::{Message, Receiver, Sender, Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "burst",
    about: "Messages sent while the receiver is held back, then taken out, by transports without a bound: both together",
    parameters: &[backlog(1e3), backlog(1e4), IN_QUICK, backlog(1e6), backlog(1e7)],
    in_quick: Quick::At(IN_QUICK),
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    // A transport that invents its messages has nothing to hold back.
    able: |traits| traits.one_by_one && !traits.bounded && !traits.invents,
    // The two halves never overlap, so the instructions of both sides add up as they do in one thread, which moves its
    // 512 messages through the nearest cache. The additional cost of a backlog is memory and the transfer between the
    // CPUs.
    limit: |_, _| &limits::ONE_THREAD,
    beside: &[],
    contender,
};

const IN_QUICK: Parameter = backlog(1e5);

const fn backlog(messages: f64) -> Parameter {
    Parameter { quantity: Quantity::Backlog, value: messages }
}

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let backlog = parameter.unwrap_or(IN_QUICK).value as u64;
    let name = entry.traits.name;
    let held = OnceCell::new();
    let run = move |messages| {
        let mut outcome = (entry.burst)(place, backlog, messages)?;
        let ask = || if backlog < ENOUGH_FOR_MEMORY { None } else { memory::held_in_a_fresh_process(name, backlog) };
        if let Some(bytes) = *held.get_or_init(ask) {
            outcome.metrics.insert(Metric::BytesHeld, bytes);
        }
        Ok(outcome)
    };
    let mut contender = frame.transport(&entry.traits, &limits::ONE_THREAD, run);
    // A request for fewer messages than a burst has still runs one burst: a smaller one would not be this burst.
    contender.length = contender.length.at_least(Duration::ZERO, backlog);
    contender
}

/// With fewer messages, their pages cannot be told from those of everything else.
pub(super) const ENOUGH_FOR_MEMORY: u64 = 100_000;

/// The division of a run's messages into bursts.
#[derive(Clone, Copy)]
struct Bursts {
    messages: usize,
    /// The bursts that count; one more comes before them.
    counted: usize,
}

impl Bursts {
    /// Only during calibration are there fewer messages than the backlog.
    fn of(backlog: u64, messages: u64) -> Self {
        let burst = backlog.min(messages).max(1);
        Self { messages: burst as usize, counted: (messages / burst) as usize }
    }

    /// Whether it counts, and its numbers.
    fn all(self) -> impl Iterator<Item = (bool, Range<usize>)> {
        (0..=self.counted).map(move |burst| (burst > 0, burst * self.messages..(burst + 1) * self.messages))
    }

    fn nanoseconds_per_message(self, time: Duration) -> f64 {
        time.as_nanos() as f64 / (self.messages * self.counted) as f64
    }
}

/// Sends bursts of `backlog` messages: the largest number that does not exceed `messages`, and one at least.
pub fn run<T: Transport>(place: Place, backlog: u64, messages: u64) -> Result<Outcome, Fault> {
    of::<T, usize>(place, backlog, messages)
}

/// The same, of messages of any kind.
pub fn of<T: Transport, M: Message>(place: Place, backlog: u64, messages: u64) -> Result<Outcome, Fault> {
    filled_and_drained(place, backlog, messages, sides::<T, M>()?)
}

/// One side's loop over the numbers of a burst. Without numbers, the end of the stream is sent, or received.
type Half<A> = Box<dyn FnMut(Option<Range<usize>>) -> A + Send>;

/// Both sides with their loops. Only this much is compiled for each transport and message: one call through a pointer is
/// made for each half of a burst. The first tells whether the receiver is still there.
type Sides = (Half<bool>, Half<Result<(), Fault>>);

fn sides<T: Transport, M: Message>() -> io::Result<Sides> {
    let (mut sender, mut receiver) = T::open::<M>()?;
    let fill = move |numbers| match numbers {
        Some(numbers) => put_in(&mut sender, numbers),
        None => sender.send(M::numbered(END)).is_ok(),
    };
    let drain = move |numbers| match numbers {
        Some(numbers) => take_out(&mut receiver, numbers),
        None => expect_end(&mut receiver),
    };
    Ok((Box::new(fill), Box::new(drain)))
}

fn filled_and_drained(place: Place, backlog: u64, messages: u64, (put_in, take_out): Sides) -> Result<Outcome, Fault> {
    let bursts = Bursts::of(backlog, messages);
    let (full, is_full) = mpsc::channel();
    let (drained, is_drained) = mpsc::channel();
    let (filled, drain) = duet_from_the_gate(
        place,
        messages.max(backlog) * 2,
        move || fill(put_in, bursts, &full, &is_drained),
        move || drain(take_out, bursts, &is_full, &drained),
    )?;
    Ok(outcome(bursts, filled, drain?))
}

fn outcome(bursts: Bursts, filled: Duration, drained: Duration) -> Outcome {
    let drain = bursts.nanoseconds_per_message(drained);
    let fill = bursts.nanoseconds_per_message(filled);
    let metrics = BTreeMap::from([(Metric::Fill, fill), (Metric::Drain, drain)]);
    Outcome { nanoseconds: fill + drain, metrics, ..Outcome::default() }
}

/// Bytes that each of `backlog` messages holds while all of them are in the queue. Correct in a new process only.
pub fn held<T: Transport>(backlog: u64) -> Result<f64, Fault> {
    held_of(backlog, sides::<T, usize>)
}

fn held_of(backlog: u64, open: fn() -> io::Result<Sides>) -> Result<f64, Fault> {
    let before = memory::resident()?;
    let (mut put_in, take_out) = open()?;
    put_in(Some(0..backlog as usize));
    let held = memory::resident()? - before;
    drop(take_out);
    Ok(held / backlog.max(1) as f64)
}

/// The memory of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// Bytes per message while all of them are in the queue.
    pub held: f64,
    /// Bytes per message after all have been received, while the queue still exists.
    pub left: f64,
}

/// Of a burst of `backlog` messages. Correct in a new process only.
pub fn taken<T: Transport, M: Message>(backlog: u64) -> Result<Taken, Fault> {
    taken_of(backlog, sides::<T, M>)
}

fn taken_of(backlog: u64, open: fn() -> io::Result<Sides>) -> Result<Taken, Fault> {
    let before = memory::anonymous()?;
    let (mut put_in, mut take_out) = open()?;
    put_in(Some(0..backlog as usize));
    let held = memory::anonymous()? - before;
    take_out(Some(0..backlog as usize))?;
    let left = memory::anonymous()? - before;
    let each = |bytes: f64| bytes / backlog.max(1) as f64;
    Ok(Taken { held: each(held), left: each(left) })
}

/// A receiver that is dropped, or does not reply any more, has found a fault and returns it.
fn fill(mut put_in: Half<bool>, bursts: Bursts, full: &mpsc::Sender<()>, drained: &mpsc::Receiver<()>) -> Duration {
    let mut time = Duration::ZERO;
    for (counts, numbers) in bursts.all() {
        let start = Instant::now();
        if !put_in(Some(numbers)) {
            return time;
        }
        if counts {
            time += start.elapsed();
        }
        // Each burst is a whole stream: a receiver that misses a message finds the end instead of waiting for ever.
        if !put_in(None) || full.send(()).is_err() || drained.recv().is_err() {
            return time;
        }
    }
    time
}

#[inline(never)]
fn put_in<M: Message>(sender: &mut impl Sender<M>, mut numbers: Range<usize>) -> bool {
    numbers.all(|number| sender.send(M::numbered(number)).is_ok())
}

fn drain(
    mut take_out: Half<Result<(), Fault>>,
    bursts: Bursts,
    full: &mpsc::Receiver<()>,
    drained: &mpsc::Sender<()>,
) -> Result<Duration, Fault> {
    let mut time = Duration::ZERO;
    for (counts, numbers) in bursts.all() {
        // A dropped sender has also ended the stream in the channel itself, after all its messages.
        let _ = full.recv();
        let start = Instant::now();
        take_out(Some(numbers))?;
        if counts {
            time += start.elapsed();
        }
        take_out(None)?;
        let _ = drained.send(());
    }
    Ok(time)
}

#[inline(never)]
fn take_out<M: Message>(receiver: &mut impl Receiver<M>, mut numbers: Range<usize>) -> Result<(), Fault> {
    numbers.try_for_each(|expected| expect(receiver, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_backlog_is_repeated_and_a_large_one_comes_once() {
        let numbers = |backlog, messages| Bursts::of(backlog, messages).all().collect::<Vec<_>>();
        assert_eq!(numbers(10, 35), [(false, 0..10), (true, 10..20), (true, 20..30), (true, 30..40)]);
        assert_eq!(numbers(10, 10), [(false, 0..10), (true, 10..20)]);
        // Calibration may ask for less than a burst.
        assert_eq!(numbers(10, 4), [(false, 0..4), (true, 4..8)]);
    }
}
