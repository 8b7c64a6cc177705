//! A stream sent one by one, with a stamp after every send and after every receipt: the time of each message on either
//! side.
//!
//! ```text
//!   first CPU      stamp 0 stamp 1 stamp 2 stamp ... ------> stamp 0 stamp 1 stamp 2 stamp ...      second CPU
//! ```
//!
//! A reading of the clock takes longer than many a message. Hence the same run without stamps just before: the result
//! keeps how much longer the stamped one took. The stamps of both sides show the messages that were there when the
//! receiver polled for them. The messages between two that were not form a batch, whatever the cause.

use std::time::Instant;

use super::stamped::{Now, in_step, keep, now, receive, room, steps};
use super::{END, Quick, Scenario, handles, throughput};
use crate::clock;
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::{Timed, duet};
use crate::transport::{Message, Sender, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "density",
    about: "A stream in which every send and every receipt is timed",
    in_quick: Quick::No,
    contender,
    ..throughput::SCENARIO
};

/// A receipt that took longer than this number of nanoseconds had to wait for the next batch of messages: the threshold
/// of the article on nanoseconds.
pub const BATCH_GAP: f64 = 1_000.0;

fn contender(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    frame.transport(&entry.traits, frame.stream_limit(), move |messages| (entry.density)(place, messages))
}

/// Every distribution holds exactly `messages` times: the first one of the receiver includes its wait for the sender.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64) -> Result<Outcome, Fault> {
    timed(place, messages, throughput::ends::<T, M>, handles::open::<T, M>, !T::TRAITS.invents)
}

fn timed<M: Message>(
    place: Place,
    messages: u64,
    plain: fn(usize) -> Result<throughput::Stream, Fault>,
    open: handles::Open<M>,
    carried: bool,
) -> Result<Outcome, Fault> {
    let plain = throughput::timed(place, messages, plain(messages as usize)?)?;
    let stream = stream(place, messages as usize, now(), open)?;
    let mut outcome = outcome(&stream, plain, BATCH_GAP);
    if carried && in_step(place).is_ok() {
        outcome.metrics.insert(Metric::MeanReady, stream.mean_ready());
    }
    Ok(outcome)
}

fn outcome(stream: &Stream, plain: Timed, batch_gap: f64) -> Outcome {
    let clock = clock::get();
    let mut outcome = Outcome::from(stream.timed);
    keep(&mut outcome, Series::SendDensity, &steps(clock, &stream.sent));
    let receipts = steps(clock, &stream.received);
    keep(&mut outcome, Series::ReceiveDensity, &receipts);
    let batches = receipts.iter().filter(|time| **time > batch_gap).count();
    let longer = stream.timed.elapsed.as_secs_f64() / plain.elapsed.as_secs_f64().max(1e-9);
    let [sent, received] = [Series::SendDensity, Series::ReceiveDensity].map(|series| &outcome.distributions[&series]);
    outcome.metrics.extend([
        (Metric::SendMedian, sent.median()),
        (Metric::SendMean, sent.mean()),
        (Metric::ReceiveMean, received.mean()),
        (Metric::Batches, batches as f64),
        // Without a gap the whole stream was one batch.
        (Metric::MeanBatch, receipts.len() as f64 / batches.max(1) as f64),
        (Metric::Distortion, longer - 1.0),
    ]);
    outcome
}

/// A stream with its stamps.
pub(super) struct Stream {
    /// Before the first send, then after each.
    pub(super) sent: Vec<u64>,
    /// Before the first receipt, then after each.
    pub(super) received: Vec<u64>,
    pub(super) timed: Timed,
}

impl Stream {
    /// Messages per message that was sent only after the receiver had polled for it.
    fn mean_ready(&self) -> f64 {
        let awaited = self.sent[1..].iter().zip(&self.received).filter(|(sent, asked)| sent > asked).count();
        (self.received.len() - 1) as f64 / awaited.max(1) as f64
    }

    /// The most messages that were sent and not yet received when one was received.
    pub(super) fn most_under_way(&self) -> usize {
        let (mut sent, mut most) = (0, 0);
        for (had, received) in self.received[1..].iter().enumerate() {
            // The last stamp is that of the last send.
            while sent + 1 < self.sent.len() && self.sent[sent + 1] <= *received {
                sent += 1;
            }
            most = most.max(sent.saturating_sub(had));
        }
        most
    }
}

pub(super) fn stream<M: Message>(
    place: Place,
    messages: usize,
    now: impl Now,
    open: handles::Open<M>,
) -> Result<Stream, Fault> {
    let (sender, receiver) = open(messages)?;
    let (sent, received) = (room(messages + 1)?, room(messages)?);
    let ((sent, start), received) = duet(
        place,
        messages as u64,
        move |gate| {
            gate.pass();
            pour(sender, now, sent)
        },
        move |gate| {
            gate.pass();
            let begin = now();
            let mut end = Instant::now();
            receive(receiver, now, received, &mut || end = Instant::now()).map(|stamps| (begin, stamps, end))
        },
    )?;
    let (begin, mut received, end) = received?;
    received.insert(0, begin);
    Ok(Stream { sent, received, timed: Timed::between(start, end, messages as u64) })
}

/// One stamp more than there are messages: each is the end of one send and the beginning of the next.
#[inline(never)]
fn pour<M: Message>(sender: impl Sender<M>, now: impl Now, stamps: Vec<u64>) -> (Vec<u64>, Instant) {
    let (mut sender, mut stamps) = (sender, stamps);
    let start = Instant::now();
    for (at, stamp) in stamps.iter_mut().enumerate() {
        // The receiver that has disconnected reports the reason.
        if at > 0 && sender.send(M::numbered(at - 1)).is_err() {
            break;
        }
        *stamp = now();
    }
    let _ = sender.send(M::numbered(END));
    (stamps, start)
}

#[cfg(test)]
mod tests;
