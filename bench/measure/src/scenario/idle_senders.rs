//! A stream from one sender among an increasing number of silent ones: the cost of a thousand occasional senders for
//! the active one.
//!
//! ```text
//!   the active one   0 1 2 ... --\
//!   idle sender      (silent)  ---+----> 0 1 2 ...   one receiver
//!   idle sender      (silent)  --/
//! ```
//!
//! Each idle sender has sent one message, which was received before the clock starts. Then it is not used until the
//! stream is over. The stream, and the check of every message, are those of `many`.

use super::many;
use super::{Quick, Scenario};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::record::{Parameter, Quantity};
use crate::rounds::Contender;
use crate::scenario::Entry;
use crate::stage::Timed;
use crate::transport::{Closed, Ends, Many, Receiver, Sender, Shape};

pub static SCENARIO: Scenario = Scenario {
    name: "idle-senders",
    about: "A stream from one thread while 0 to 1,023 others that can send as well are silent",
    parameters: &[
        idle(0),
        idle(1),
        idle(3),
        idle(7),
        idle(15),
        idle(31),
        idle(63),
        idle(127),
        idle(255),
        idle(511),
        idle(1_023),
    ],
    in_quick: Quick::No,
    one_cpu: false,
    shape: |parameter| Shape::new(1 + count(parameter), 1),
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && traits.senders == Ends::Many && traits.waits.sleeps(),
    limit: |frame, _| frame.stream_limit(),
    beside: &[],
    contender: |entry, parameter, frame| contender(entry, count(parameter), frame),
};

const fn idle(count: u32) -> Parameter {
    Parameter { quantity: Quantity::IdleSenders, value: count as f64 }
}

fn count(parameter: Option<Parameter>) -> usize {
    parameter.map_or(0, |idle| idle.value as usize)
}

/// With `idle` idle senders.
pub fn contender(entry: &'static Entry, idle: usize, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| match entry.idle_senders {
        Some(driver) => driver(place, idle, messages),
        None => unreachable!("{} was chosen for several senders", entry.traits.name),
    };
    frame.transport(&entry.traits, frame.stream_limit(), run)
}

pub fn run<T: Many>(place: Place, idle: usize, messages: u64) -> Result<Timed, Fault> {
    let (_idle, ends) = ends::<T>(idle)?;
    many::play(place, Shape::ONE_TO_ONE, ends, messages)
}

/// The idle senders, held unused until the stream is over, and the handles of the stream.
fn ends<T: Many>(idle: usize) -> Result<(Box<dyn Send>, many::Ends), Fault> {
    let (mut senders, mut receivers) = T::open_many::<usize>(Shape::new(1 + idle, 1))?;
    say_one_each(&mut senders[1..], &mut receivers[0])?;
    let idle = senders.split_off(1);
    Ok((Box::new(idle), many::Ends::of(senders, receivers)))
}

/// One message from each, alone: the additional cost of a handle's first message is over then.
pub(super) fn say_one_each(
    senders: &mut [impl Sender<usize>],
    receiver: &mut impl Receiver<usize>,
) -> Result<(), Fault> {
    let count = senders.len();
    each_said(&mut |number| senders[number].send(number), &mut || receiver.recv(), count)
}

/// Through pointers: compiled once for all transports.
pub(super) fn each_said(
    send: &mut dyn FnMut(usize) -> Result<(), Closed>,
    receive: &mut dyn FnMut() -> Result<usize, Closed>,
    count: usize,
) -> Result<(), Fault> {
    for number in 0..count {
        send(number).map_err(|_| Fault::Disconnected { expected: number })?;
        super::check(receive(), number)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::{self, Faulty};

    #[test]
    fn the_active_one_and_the_idle_ones_are_1_to_1_024() {
        let senders: Vec<usize> = SCENARIO.parameters.iter().map(|&one| (SCENARIO.shape)(Some(one)).senders).collect();
        assert_eq!((senders[0], senders[10]), (1, 1_024));
        assert!(senders.windows(2).all(|pair| pair[1] == 2 * pair[0]));
    }

    #[test]
    fn a_first_message_that_is_not_the_one_sent_is_caught() {
        let open = <Faulty<{ tests::REORDERS }> as crate::transport::Transport>::open;
        let (sender, mut receiver) = open().unwrap();
        let mut senders = [sender];
        say_one_each(&mut senders, &mut receiver).unwrap();
        senders[0].send(8).unwrap();
        let fault = say_one_each(&mut senders, &mut receiver).unwrap_err();
        assert!(matches!(fault, Fault::OutOfOrder { expected: 0, received: 8 }), "{fault:?}");
    }
}
