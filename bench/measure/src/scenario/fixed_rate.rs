//! Messages at a fixed rate, whatever the transport does: an open loop, as in real use.
//!
//! ```text
//!   due            0       1       2       3       4
//!   first CPU      send    send    send ......... send send       one send takes long: 3 and 4 are late ...
//!   second CPU       stamp   stamp           stamp  stamp stamp   ... and their time runs since they were due
//! ```
//!
//! A latency counts from the time at which the message was due, not from its send: a delayed sender makes all messages
//! late that were due meanwhile, and all of them are counted. (Otherwise a transport that stalls would get fewer
//! messages while it stalls: coordinated omission.) Nothing is skipped and nothing is waited for. A sender of batches
//! sends each when its last message is due: the others have waited for that one.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::handles::AnyReceiver;
use super::stamped::{in_step, keep_ranked, now, receive, room};
use super::timetable::{self, Timetable};
use super::{END, Quick, Scenario, handles};
use crate::clock::{self, Clock};
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::duet;
use crate::transport::{Message, Sender, Shape, Transport};
use crate::usage::{Spent, Usage};

pub const fn rate(value: f64) -> Parameter {
    Parameter { quantity: Quantity::Rate, value }
}

const DEFAULT: Parameter = rate(1e4);

pub static SCENARIO: Scenario = Scenario {
    name: "fixed-rate",
    about: "Messages sent at a fixed rate: the time since each was due, median",
    parameters: &[rate(1e3), DEFAULT, rate(1e5), rate(1e6)],
    in_quick: Quick::At(DEFAULT),
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: timetable::able,
    // Up to 10,000 in a second the receiver has long been asleep when a message comes. The same baseline ranks at the
    // higher rates, so that the ratios of one transport can be compared: there, less than 1 means that it did not
    // sleep.
    limit: |frame, _| timetable::limit(frame),
    beside: &[],
    contender,
};

fn contender(entry: &'static Entry, parameter: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let rate = parameter.unwrap_or(DEFAULT).value;
    let frame = Frame { transports: timetable(rate).length(frame.transports), ..frame };
    let limit = timetable::own_limit(entry.traits.waits, place);
    frame.transport(&entry.traits, limit, move |messages| (entry.fixed_rate)(place, messages, rate))
}

/// The same by a sender that publishes `batch` messages together.
pub fn in_batches_of(batch: usize, entry: &'static Entry, rate: f64, frame: Frame) -> Contender {
    let place = frame.place;
    let frame = Frame { transports: timetable(rate).length(frame.transports), ..frame };
    let limit = timetable::own_limit(entry.traits.waits, place);
    let run = move |messages| (entry.batches_on_time)(place, messages, rate, batch);
    let mut contender = frame.transport(&entry.traits, limit, run);
    contender.contestant.batch = Some(batch);
    contender
}

pub(super) fn timetable(rate: f64) -> Timetable {
    // The number that fits into a second if that is small.
    Timetable { interval: 1.0 / rate, least: (rate as u64).clamp(1, 20), longest: 1.0 }
}

/// The distribution holds exactly `messages` times. A fault where clocks are not in step.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64, rate: f64) -> Result<Outcome, Fault> {
    in_step(place)?;
    timed::<T, M>(place, messages, rate)
}

fn timed<T: Transport, M: Message>(place: Place, messages: u64, rate: f64) -> Result<Outcome, Fault> {
    timed_by(place, messages, Pace::of(rate, place), handles::open::<T, M>, send_on_time)
}

/// As [`run`], with messages that are due at these times, counted in intervals of the rate.
pub(super) fn due_at<M: Message>(
    place: Place,
    rate: f64,
    due: Arc<[f64]>,
    open: handles::Open<M>,
) -> Result<Outcome, Fault> {
    in_step(place)?;
    let messages = due.len() as u64;
    timed_by(place, messages, Pace { table: Some(due), ..Pace::of(rate, place) }, open, send_on_time)
}

/// As [`run`], `batch` messages at a time.
pub fn in_batches<T: Transport>(place: Place, messages: u64, rate: f64, batch: usize) -> Result<Outcome, Fault> {
    in_step(place)?;
    timed_in_batches(place, messages, rate, batch, in_batches_by::<T>)
}

fn timed_in_batches(
    place: Place,
    messages: u64,
    rate: f64,
    batch: usize,
    open: fn(usize) -> io::Result<(BatchSender, AnyReceiver<usize>)>,
) -> Result<Outcome, Fault> {
    let send = move |sender, pace, messages| send_batches_on_time(sender, pace, messages, batch);
    timed_by(place, messages, Pace::of(rate, place), open, send)
}

/// A handle that also sends batches.
type BatchSender = Box<dyn Sender<usize>>;

fn in_batches_by<T: Transport>(messages: usize) -> io::Result<(BatchSender, AnyReceiver<usize>)> {
    let (sender, receiver) = T::open_for::<usize>(messages)?;
    Ok((Box::new(sender), AnyReceiver(Box::new(receiver))))
}

fn timed_by<M: Message, S: Send + 'static>(
    place: Place,
    messages: u64,
    pace: Pace,
    open: fn(usize) -> io::Result<(S, AnyReceiver<M>)>,
    send: impl FnOnce(S, Pace, usize) -> (u64, Spent) + Send + 'static,
) -> Result<Outcome, Fault> {
    let (sender, receiver) = open(messages as usize)?;
    let stamps = room(messages as usize)?;
    let (now, kept) = (now(), pace.clone());
    let (sent, received) = duet(
        place,
        timetable(1e9 / pace.interval).work(messages),
        move |gate| {
            pace.prepare();
            gate.pass();
            send(sender, pace, messages as usize)
        },
        move |gate| {
            gate.pass();
            let usage = Usage::of_this_thread();
            let mut spent = Spent::default();
            let stamps = receive(receiver, now, stamps, &mut || spent = usage.until_now())?;
            Ok::<_, Fault>((stamps, spent))
        },
    )?;
    Ok(outcome(messages, &kept, sent, received?))
}

fn outcome(messages: u64, pace: &Pace, (start, sent): (u64, Spent), (stamps, received): (Vec<u64>, Spent)) -> Outcome {
    let mut outcome = Outcome::default();
    let latency = |(number, stamp): (usize, &u64)| pace.clock.nanoseconds(pace.due(start, number), *stamp);
    let latencies: Vec<f64> = stamps.iter().enumerate().map(latency).collect();
    keep_ranked(&mut outcome, Series::Latency, &latencies);
    outcome.metrics.insert(Metric::RateWanted, 1e9 / pace.interval);
    outcome.metrics.extend(rate_of(pace.clock, &stamps).map(|rate| (Metric::RateReached, rate)));
    spent(&mut outcome, sent, [Metric::SenderCpu, Metric::SenderSwitches], messages);
    spent(&mut outcome, received, [Metric::ReceiverCpu, Metric::ReceiverSwitches], messages);
    outcome
}

fn spent(outcome: &mut Outcome, spent: Spent, [cpu, switches]: [Metric; 2], messages: u64) {
    let per_message = |value: f64| value / messages.max(1) as f64;
    outcome.metrics.insert(cpu, per_message(spent.cpu.as_nanos() as f64));
    outcome.metrics.extend(spent.switches.map(|count| (switches, per_message(count as f64))));
}

/// Messages per second between the first and the last receipt: the common latency does not count.
pub(super) fn rate_of(clock: &Clock, stamps: &[u64]) -> Option<f64> {
    let took = clock.nanoseconds(*stamps.first()?, *stamps.last()?);
    (took > 0.0).then(|| (stamps.len() - 1) as f64 * 1e9 / took)
}

/// The sender's way to wait until a message is due.
#[derive(Clone)]
struct Pace {
    clock: &'static Clock,
    /// Nanoseconds from one message to the next.
    interval: f64,
    /// The time at which each message is due, in intervals. Nothing if they are due one interval after the other.
    table: Option<Arc<[f64]>>,
    /// Both threads share a CPU: the sender must yield.
    one_cpu: bool,
}

/// The least time from the gate to the first message, in nanoseconds: enough for the receiver to begin its wait.
const LEAD: f64 = 200_000.0;

/// A sleeping sender is awake again this number of nanoseconds before a message is due: the cost of oversleeping must
/// not count as the transport's.
const SHORTLY: f64 = 50_000.0;

impl Pace {
    fn of(rate: f64, place: Place) -> Self {
        Self { clock: clock::get(), interval: 1e9 / rate, table: None, one_cpu: place.one_cpu() }
    }

    /// Makes the sleeps of the calling thread end as soon as the system can. If it cannot, they end a little later.
    fn prepare(&self) {
        if self.one_cpu {
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        }
    }

    /// The time at which the first message is due: the wait for it is as long as for every other.
    fn start(&self) -> u64 {
        self.clock.read() + self.clock.ticks(LEAD.max(self.interval))
    }

    /// The time at which message `number` is due, in ticks.
    #[inline]
    fn due(&self, start: u64, number: usize) -> u64 {
        let intervals = self.table.as_ref().map_or(number as f64, |table| table[number]);
        start + self.clock.ticks(self.interval * intervals)
    }

    #[inline]
    fn wait_until(&self, due: u64) {
        loop {
            let left = self.clock.nanoseconds(self.clock.read(), due);
            if left <= 0.0 {
                return;
            }
            if self.one_cpu {
                Self::give_way(left);
            }
        }
    }

    #[cold]
    fn give_way(left: f64) {
        if left > SHORTLY {
            thread::sleep(Duration::from_nanos((left - SHORTLY) as u64));
        } else {
            thread::yield_now();
        }
    }
}

/// The time at which the first message was due, and the resources that the thread used.
#[inline(never)]
fn send_on_time<M: Message>(sender: impl Sender<M>, pace: Pace, messages: usize) -> (u64, Spent) {
    let mut sender = sender;
    let usage = Usage::of_this_thread();
    let start = pace.start();
    for number in 0..messages {
        pace.wait_until(pace.due(start, number));
        // The receiver that has disconnected reports the reason.
        if sender.send(M::numbered(number)).is_err() {
            break;
        }
    }
    let spent = usage.until_now();
    let _ = sender.send(M::numbered(END));
    (start, spent)
}

/// The same, each message kept until `batch` of them are due.
#[inline(never)]
fn send_batches_on_time(mut sender: BatchSender, pace: Pace, messages: usize, batch: usize) -> (u64, Spent) {
    let usage = Usage::of_this_thread();
    let start = pace.start();
    for first in (0..messages).step_by(batch) {
        let count = batch.min(messages - first);
        pace.wait_until(pace.due(start, first + count - 1));
        // The receiver that has disconnected reports the reason.
        if sender.send_batch(first, count).is_err() {
            break;
        }
    }
    let spent = usage.until_now();
    let _ = sender.send(END);
    (start, spent)
}

#[cfg(test)]
mod tests;
