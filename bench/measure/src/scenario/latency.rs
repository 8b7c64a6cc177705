//! One message at a time, the next only after the reply, and each of them timed.
//!
//! ```text
//!   first CPU      stamp i ----------- there ----------> stamp i          second CPU
//!                          <---------- back -----------        stamp i    (the reply is back)
//! ```
//!
//! One way is from the first stamp to the second, on two CPUs, whose clocks must be in step; the round trip is from the
//! first to the third, on one. The median one way ranks, or half of the median round trip where the clocks disagree.

use std::io;

use super::ping_pong::{self, there_and_back};
use super::stamped::{Now, between, in_step, keep, keep_ranked, now, rank_by, room};
use super::{END, Quick, Scenario, check, expect, expect_end};
use crate::clock;
use crate::error::Fault;
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome, Series};
use crate::place::Place;
use crate::record::Parameter;
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::{FromTheGate, boxed_duet};
use crate::stats::{self, Spread};
use crate::transport::empty::Empty;
use crate::transport::{Message, Receiver, Sender, Shape, Transport};

pub static SCENARIO: Scenario = Scenario {
    name: "latency",
    about: "One message at a time, the next only after the reply: the time one way, median of single messages",
    parameters: &[],
    in_quick: Quick::Whole,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    contender,
    ..ping_pong::SCENARIO
};

fn contender(entry: &'static Entry, _: Option<Parameter>, frame: Frame) -> Contender {
    let place = frame.place;
    let limit = ping_pong::own_limit(entry.traits.waits, place);
    frame.transport(&entry.traits, limit, move |messages| (entry.latency)(place, messages))
}

/// Every distribution holds exactly `messages` times.
pub fn run<T: Transport, M: Message>(place: Place, messages: u64) -> Result<Outcome, Fault> {
    timed(place, messages, |rooms| sides::<T, M, _>(now(), rooms), !T::TRAITS.invents)
}

fn timed(place: Place, messages: u64, open: Open, carried: bool) -> Result<Outcome, Fault> {
    let one_way = carried && in_step(place).is_ok();
    Ok(outcome(&exchange(place, messages as usize, &open)?, one_way))
}

/// Nanoseconds of every round trip that the instrument itself takes, measured where nothing is carried. It is compared
/// with the cost of one reading of the clock, and measured like that: the median over the means of short batches. A
/// tick of the clock is too long for the median of single times.
pub fn overhead(place: Place) -> Result<f64, Fault> {
    const MESSAGES: usize = 64_000;
    const BATCH: usize = 64;
    let stamps = exchange(place, MESSAGES, &|rooms| sides::<Empty, usize, _>(now(), rooms))?;
    let round_trips = between(clock::get(), &stamps.sent, &stamps.answered);
    let means: Vec<f64> = round_trips.chunks_exact(BATCH).filter_map(stats::mean).collect();
    Ok(Spread::of(&means).map_or(0.0, |spread| spread.median))
}

/// Three readings of the clock for each message.
struct Stamps {
    /// Before the send.
    sent: Vec<u64>,
    /// After the receipt, on the other side.
    received: Vec<u64>,
    /// After the receipt of the reply.
    answered: Vec<u64>,
}

fn outcome(stamps: &Stamps, one_way: bool) -> Outcome {
    let clock = clock::get();
    let mut outcome = Outcome::default();
    let round_trips = between(clock, &stamps.sent, &stamps.answered);
    keep(&mut outcome, Series::RoundTrip, &round_trips);
    if one_way {
        // The graph shows the ranking series.
        outcome.traces.clear();
        let times = between(clock, &stamps.sent, &stamps.received);
        keep_ranked(&mut outcome, Series::Latency, &times);
    } else {
        let halves = round_trips.iter().map(|time| time / 2.0).collect();
        rank_by(&mut outcome, &halves);
        outcome.metrics.insert(Metric::Halved, 1.0);
    }
    outcome
}

/// Both sides with their loops and the room for their stamps. Only this much is compiled for each transport and message.
type Sides = (FromTheGate<Result<RoundTrips, Fault>>, FromTheGate<Result<Vec<u64>, Fault>>);

/// Opens them.
type Open = fn(Stamps) -> io::Result<Sides>;

fn sides<T: Transport, M: Message, N: Now>(now: N, rooms: Stamps) -> io::Result<Sides> {
    let Stamps { sent, received, answered } = rooms;
    let ((there_in, back_out), (there_out, back_in)) = there_and_back::<T, M>(sent.len())?;
    let asking = move || ask(there_in, back_out, now, sent, answered);
    Ok((Box::new(asking), Box::new(move || answer(there_out, back_in, now, received))))
}

fn exchange(place: Place, messages: usize, open: &dyn Fn(Stamps) -> io::Result<Sides>) -> Result<Stamps, Fault> {
    let (ask, answer) = open(Stamps { sent: room(messages)?, received: room(messages)?, answered: room(messages)? })?;
    let (asked, received) = boxed_duet(place, 2 * messages as u64, ask, answer)?;
    match (asked, received) {
        (Ok((sent, answered)), Ok(received)) => Ok(Stamps { sent, received, answered }),
        // A thread that only saw the other stop reports less than the other.
        (Err(Fault::Lost { .. } | Fault::Disconnected { .. }), Err(fault)) | (Err(fault), _) | (_, Err(fault)) => {
            Err(fault)
        }
    }
}

/// Readings of the clock before each send, and after its reply.
pub(super) type RoundTrips = (Vec<u64>, Vec<u64>);

/// Both sides of a number of bounces whose round trips are timed: the asking one, and the replying one.
pub(super) type Bounces = (FromTheGate<Result<RoundTrips, Fault>>, FromTheGate<Result<(), Fault>>);

/// Opens them, for drivers that run several at once.
pub(super) fn ends<T: Transport, M: Message>(bounces: usize) -> Result<Bounces, Fault> {
    let (now, sent, answered) = (now(), room(bounces)?, room(bounces)?);
    let ((there_in, back_out), (there_out, back_in)) = there_and_back::<T, M>(bounces)?;
    let asking = move || ask(there_in, back_out, now, sent, answered);
    Ok((Box::new(asking), Box::new(move || ping_pong::answer(there_out, back_in))))
}

#[inline(never)]
fn ask<M: Message>(
    there: impl Sender<M>,
    back: impl Receiver<M>,
    now: impl Now,
    sent: Vec<u64>,
    answered: Vec<u64>,
) -> Result<RoundTrips, Fault> {
    // Variables of its own: an argument stays where the caller has put it.
    let (mut there, mut back, mut sent, mut answered) = (there, back, sent, answered);
    for (message, (sent, answered)) in sent.iter_mut().zip(&mut answered).enumerate() {
        *sent = now();
        // A peer that is dropped is reported on the way back.
        let _ = there.send(M::numbered(message));
        if let Err(fault) = expect(&mut back, message) {
            let _ = there.send(M::numbered(END));
            return Err(fault);
        }
        *answered = now();
    }
    let _ = there.send(M::numbered(END));
    expect_end(&mut back)?;
    Ok((sent, answered))
}

#[inline(never)]
fn answer<M: Message>(
    there: impl Receiver<M>,
    back: impl Sender<M>,
    now: impl Now,
    stamps: Vec<u64>,
) -> Result<Vec<u64>, Fault> {
    let (mut there, mut back, mut stamps) = (there, back, stamps);
    for (expected, stamp) in stamps.iter_mut().enumerate() {
        let received = there.recv();
        *stamp = now();
        match received {
            // The message itself goes back: nothing is made or freed on the way.
            Ok(message) if message.number() == expected => {
                if back.send(message).is_err() {
                    // The other thread has stopped, and reports the reason.
                    return Ok(stamps);
                }
            }
            other => {
                let _ = back.send(M::numbered(END));
                check(other, expected)?;
            }
        }
    }
    expect_end(&mut there)?;
    // Some transports do not report a dropped peer, and this one is waited for.
    let _ = back.send(M::numbered(END));
    Ok(stamps)
}

#[cfg(test)]
mod tests;
