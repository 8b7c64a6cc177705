//! A stream's use of the system: the calls and the context switches of both threads, per message.
//!
//! Counting a call takes longer than many a call does, so calls are counted in a stream of their own: neither the time
//! nor the switches are those of a counted stream.

use std::time::Instant;

use super::super::throughput::{Stream, timed};
use super::calls::counted;
use crate::error::Fault;
use crate::outcome::{Metric, Outcome};
use crate::place::Place;
use crate::stage::{FromTheGate, boxed_duet};
use crate::usage::Usage;

/// Opens a stream of a number of messages.
type Open = fn(usize) -> Result<Stream, Fault>;

/// One side of a stream, and the counts of its thread: `None` where the system does not report them.
type Told<A> = FromTheGate<(A, Option<u64>)>;

pub(super) fn of_a_stream(place: Place, messages: u64, open: Open) -> Result<Outcome, Fault> {
    let plain = timed(place, messages, open(messages as usize)?)?;
    let mut outcome = Outcome { nanoseconds: plain.nanoseconds_per_unit(), ..Outcome::default() };
    let (pour, drain) = open(messages as usize)?;
    let switches = both(place, messages, switched(pour), switched(drain))?;
    let (pour, drain) = open(messages as usize)?;
    let calls = both(place, messages, Box::new(|| counted(pour)), Box::new(|| counted(drain)))?;
    for (metric, told) in [(Metric::Switches, switches), (Metric::Calls, calls)] {
        outcome.metrics.extend(told.map(|told| (metric, told as f64 / messages.max(1) as f64)));
    }
    Ok(outcome)
}

fn both(
    place: Place,
    messages: u64,
    pour: Told<Instant>,
    drain: Told<Result<Instant, Fault>>,
) -> Result<Option<u64>, Fault> {
    let ((_, sender), (end, receiver)) = boxed_duet(place, messages, pour, drain)?;
    end?;
    Ok(sender.zip(receiver).map(|(sender, receiver)| sender + receiver))
}

fn switched<A: 'static>(work: FromTheGate<A>) -> Told<A> {
    Box::new(|| {
        let usage = Usage::of_this_thread();
        let value = work();
        (value, usage.until_now().switches)
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::throughput::ends;
    use super::*;
    use crate::transport::{spsc, unix_stream};

    #[test]
    fn a_socket_makes_a_call_for_each_message_on_either_side_and_spsc_hardly_any() {
        let place = Place::choose(None).unwrap();
        let socket = of_a_stream(place, 5_000, ends::<unix_stream::Waitall, usize>).unwrap();
        let pipe = of_a_stream(place, 5_000, ends::<spsc::Adaptive, usize>).unwrap();
        assert!(socket.nanoseconds > 0.0 && socket.metrics.contains_key(&Metric::Switches));
        if let Some(&calls) = socket.metrics.get(&Metric::Calls) {
            assert!((2.0..2.1).contains(&calls), "{calls}");
            assert!(pipe.metrics[&Metric::Calls] < 1.0, "{}", pipe.metrics[&Metric::Calls]);
        }
    }
}
