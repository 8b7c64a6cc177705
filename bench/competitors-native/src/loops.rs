//! Streams, batches and ping-pong of C++'s queues. Each loop is compiled with its queue in C++: there is no call
//! between a message and its queue, as there is none in Rust. This module starts them, takes the time around them, and
//! evaluates the result.

use std::io;
use std::time::Instant;

use ybench_measure::error::Fault;
use ybench_measure::place::Place;
use ybench_measure::scenario::cells::drivers::{BYTES, Brought};
use ybench_measure::scenario::many::{self, Closing};
use ybench_measure::scenario::throughput::Stream;
use ybench_measure::stage::{Timed, duet_from_the_gate};
use ybench_measure::transport::Shape;

use crate::ends::{Foreign, Held, open};
use crate::table::Seen;

/// One of [`BYTES`], by its place there.
pub(crate) const fn brought<F: Foreign, const SIZE: usize>() -> Brought {
    Brought {
        stream: stream::<F, SIZE>,
        batches: batches::<F, SIZE>,
        ping_pong: ping_pong::<F, SIZE>,
        ends: Some(ends::<F, SIZE>),
    }
}

/// Both handles of a new channel.
fn pair<F: Foreign>(size: usize) -> Result<(Held, Held), Fault> {
    let (mut senders, mut receivers) = open::<F>(size, Shape::ONE_TO_ONE)?;
    let pair = senders.pop().zip(receivers.pop());
    pair.ok_or_else(|| Fault::System(io::Error::other("a channel without handles")))
}

pub(crate) fn stream<F: Foreign, const SIZE: usize>(messages: usize) -> Result<Stream, Fault> {
    let (sender, receiver) = pair::<F>(SIZE)?;
    Ok((Box::new(move || pour(sender, messages)), Box::new(move || drain(receiver, messages))))
}

fn pour(mut sender: Held, messages: usize) -> Instant {
    let (end, table) = sender.parts();
    let start = Instant::now();
    // SAFETY: a sender of this table, which this thread has alone.
    let sent = unsafe { (table.pour)(end, 0, messages) && (table.finish)(end) };
    // A sender without a receiver reports nothing: the receiver has reported the reason.
    let _ = sent;
    start
}

fn drain(mut receiver: Held, messages: usize) -> Result<Instant, Fault> {
    let (end, table) = receiver.parts();
    // SAFETY: a receiver of this table, which this thread has alone.
    unsafe { (table.drain)(end, messages) }.judged()?;
    let last = Instant::now();
    // SAFETY: as above.
    unsafe { (table.expect_end)(end) }.judged()?;
    Ok(last)
}

pub(crate) fn batches<F: Foreign, const SIZE: usize>(messages: usize, batch: usize) -> Result<Stream, Fault> {
    let (sender, receiver) = pair::<F>(SIZE)?;
    let pour = move || pour_batches(sender, messages, batch);
    Ok((Box::new(pour), Box::new(move || drain_batches(receiver, messages))))
}

fn pour_batches(mut sender: Held, messages: usize, batch: usize) -> Instant {
    let (end, table) = sender.parts();
    let start = Instant::now();
    if let Some(pour_batches) = table.pour_batches {
        // SAFETY: a sender of this table, which this thread has alone.
        let _ = unsafe { pour_batches(end, messages, batch) && (table.finish)(end) };
    }
    start
}

fn drain_batches(mut receiver: Held, messages: usize) -> Result<Instant, Fault> {
    let (end, table) = receiver.parts();
    let Some(drain_batches) = table.drain_batches else {
        return Err(Fault::System(io::Error::other("it has no batches")));
    };
    let mut ended = false;
    // SAFETY: a receiver of this table, which this thread has alone; it writes one truth value.
    unsafe { drain_batches(end, messages, &raw mut ended) }.judged()?;
    let last = Instant::now();
    if !ended {
        // SAFETY: as above.
        unsafe { (table.expect_end)(end) }.judged()?;
    }
    Ok(last)
}

/// Bounces a number of messages. The units of the result are messages, two for each bounce.
pub(crate) fn ping_pong<F: Foreign, const SIZE: usize>(place: Place, bounces: u64) -> Result<Timed, Fault> {
    let (mut there_in, mut there_out) = pair::<F>(SIZE)?;
    let (mut back_in, mut back_out) = pair::<F>(SIZE)?;
    let serve = move || {
        let ((there, table), (back, _)) = (there_in.parts(), back_out.parts());
        let start = Instant::now();
        // SAFETY: handles of this table, which this thread has alone.
        let verdict = unsafe { (table.serve)(there, back, bounces as usize) };
        let end = Instant::now();
        verdict.judged()?;
        // SAFETY: as above.
        unsafe { (table.finish)(there) };
        // SAFETY: as above.
        unsafe { (table.expect_end)(back) }.judged()?;
        Ok::<_, Fault>((start, end))
    };
    let answer = move || {
        let ((there, table), (back, _)) = (there_out.parts(), back_in.parts());
        // SAFETY: handles of this table, which this thread has alone.
        unsafe { (table.answer)(there, back) }.judged()
    };
    let (ping, pong) = duet_from_the_gate(place, bounces * 2, serve, answer)?;
    let (start, end) = ping?;
    pong?;
    Ok(Timed::between(start, end, bounces * 2))
}

pub(crate) fn ends<F: Foreign, const SIZE: usize>(shape: Shape) -> Result<many::Ends, Fault> {
    let (senders, receivers) = open::<F>(SIZE, shape)?;
    let pours = senders.into_iter().map(|sender| -> many::Pour {
        Box::new(move |number, messages, closing| pour_row(sender, number, messages, closing))
    });
    let drains = receivers.into_iter().map(|receiver| -> many::Drain {
        Box::new(move |mut seen| {
            drain_rows(receiver, &mut seen)?;
            Ok(seen)
        })
    });
    Ok(many::Ends::brought(pours.collect(), drains.collect()))
}

fn pour_row(mut sender: Held, number: usize, messages: usize, closing: &Closing) -> Instant {
    let (end, table) = sender.parts();
    let start = Instant::now();
    // SAFETY: a sender of this table, which this thread has alone.
    if unsafe { (table.pour)(end, number << many::ROW, messages) } {
        for _ in 0..closing.ends_to_send() {
            // SAFETY: as above.
            let _ = unsafe { (table.finish)(end) };
        }
    }
    start
}

fn drain_rows(mut receiver: Held, seen: &mut many::Seen) -> Result<(), Fault> {
    let (end, table) = receiver.parts();
    let mut rows = Seen::of(seen.rows());
    // SAFETY: a receiver of this table, which this thread has alone; the rows are borrowed for as long.
    unsafe { (table.drain_rows)(end, &raw mut rows) }.judged()
}

/// Whether it is the size of one of [`BYTES`].
pub(crate) fn size(bytes: f64) -> Option<usize> {
    BYTES.iter().position(|size| f64::from(*size) == bytes)
}
