//! The cost of a receiver that gets no message, and of a hub without events.
//!
//! A receiver waits twice, the second time 200 ms longer. Going to sleep and waking up cost the same in both, so the
//! difference is the cost of idling. A hub waits once, for the given time.

use std::io;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use ysuite::hub::{Hub, Interest, Refused};
use ysuite::spsc;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::duet;
use crate::usage::cpu_time;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_millis(220);

/// The additional system calls of the longer wait, and its additional CPU time in percent of the difference of both
/// waits.
pub(super) fn measured(place: Place) -> Result<Vec<f64>, Fault> {
    let (short_calls, short_cpu) = wait(place, SHORT)?;
    let (long_calls, long_cpu) = wait(place, LONG)?;
    let longer = (LONG - SHORT).as_secs_f64();
    let share = long_cpu.saturating_sub(short_cpu).as_secs_f64() / longer;
    Ok(vec![(long_calls as f64 - short_calls as f64).max(0.0), share * 100.0])
}

/// The system calls and the CPU time of a receiver that waits this long for its only message.
fn wait(place: Place, idle: Duration) -> Result<(u64, Duration), Fault> {
    let (mut sender, mut receiver) = spsc::unbounded::<usize>();
    let (sent, received) = duet(
        place,
        1,
        move |gate| {
            gate.pass();
            thread::sleep(idle);
            sender.send(1).map_err(|_| Fault::Disconnected { expected: 1 })
        },
        move |gate| {
            gate.pass();
            let (calls, cpu) = (ysuite::os::calls(), cpu_time());
            let message = receiver.recv().map_err(|_| Fault::Disconnected { expected: 1 })?;
            let spent = (ysuite::os::calls() - calls, cpu_time().saturating_sub(cpu));
            if message == 1 { Ok(spent) } else { Err(Fault::OutOfOrder { expected: 1, received: message }) }
        },
    )?;
    sent?;
    received
}

/// System calls, except the one that sleeps, of a hub that waits with an idle source of each kind.
pub(super) fn of_a_hub() -> Result<f64, Fault> {
    let mut hub = Hub::new()?;
    let (near, far) = UnixStream::pair()?;
    far.set_nonblocking(true)?;
    let (sender, receiver) = spsc::unbounded::<usize>();
    let others = (near, sender, hub.handle());
    hub.watch(far, Interest::READABLE, |_, _, _| {}).map_err(error)?;
    hub.receive(receiver, |_, _| {}).map_err(error)?;
    hub.after(Duration::from_secs(3_600), |_| {});
    // The work to be done once, such as taking signals down.
    while hub.run_once(SHORT)? > 0 {}
    let before = ysuite::os::calls();
    let served = hub.run_once(LONG - SHORT)?;
    let calls = ysuite::os::calls() - before;
    drop(others);
    if served > 0 { Err(Fault::TooMany { received: served }) } else { Ok(calls.abs_diff(1) as f64) }
}

fn error<S>(refused: Refused<S>) -> io::Error {
    refused.error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_that_sleeps_makes_no_other_call() {
        assert_eq!(of_a_hub().unwrap(), 0.0);
    }

    #[test]
    fn a_wait_needs_system_calls_and_idleness_needs_none() {
        let place = Place::choose(None).unwrap();
        let (calls, _) = wait(place, Duration::from_millis(20)).unwrap();
        assert!(calls > 0);
    }
}
