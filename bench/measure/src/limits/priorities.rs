//! Messages with priorities through a POSIX queue, on one thread: whether the highest comes first, and its cost.
//!
//! ```text
//!   send 0 1 2 ... 7, each with a higher priority | receive 7 ... 2 1 0 | again
//! ```

use std::time::Instant;

use super::{Needs, Probe};
use crate::error::Fault;
use crate::place::Place;
use crate::record::Unit;
use crate::stage::{Timed, solo};
use crate::transport::kernel::Mechanism;
use crate::transport::kernel::posix_mq::Queue;

/// The number of messages that every queue has room for.
const AT_ONCE: usize = 8;

/// All of one priority: first in, first out.
pub static ONE: Probe = Probe {
    name: "one priority",
    about: "Eight messages into a POSIX queue and out of it, all of one priority",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: |place, messages| there_and_back(place, messages, |_| 0, |at| at),
};

/// Each is received before all that are in the queue.
pub static RISING: Probe = Probe {
    name: "a priority for each",
    about: "Eight messages into a POSIX queue and out of it, each of a higher priority than the one before",
    run: |place, messages| there_and_back(place, messages, |at| at as u32, |at| AT_ONCE - 1 - at),
    ..ONE
};

/// `order` is the message that must be received at each turn.
fn there_and_back(
    place: Place,
    messages: u64,
    priority: fn(usize) -> u32,
    order: fn(usize) -> usize,
) -> Result<Timed, Fault> {
    let queue = Queue::open(size_of::<usize>())?;
    let times = messages.div_ceil(AT_ONCE as u64).max(1);
    solo(place.first, move || {
        let start = Instant::now();
        for _ in 0..times {
            for message in 0..AT_ONCE {
                queue.put_at(&message, priority(message)).map_err(|_| Fault::Lost { expected: message })?;
            }
            for expected in (0..AT_ONCE).map(order) {
                match queue.take::<usize>() {
                    Ok(message) if message == expected => {}
                    Ok(received) => return Err(Fault::OutOfOrder { expected, received }),
                    Err(_) => return Err(Fault::Lost { expected }),
                }
            }
        }
        Ok(Timed { elapsed: start.elapsed(), units: times * AT_ONCE as u64 })
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Transport;
    use crate::transport::kernel::posix_mq::PosixMq;

    #[test]
    fn the_highest_priority_comes_first_and_equals_in_their_order() {
        if (PosixMq::TRAITS.available)().is_err() {
            return;
        }
        let place = Place::choose(None).unwrap();
        for probe in [&ONE, &RISING] {
            assert_eq!((probe.run)(place, 20).unwrap().units, 24, "{}", probe.name);
        }
        let wrong = there_and_back(place, 8, |at| at as u32, |at| at);
        assert!(matches!(wrong, Err(Fault::OutOfOrder { expected: 0, received: 7 })));
    }
}
