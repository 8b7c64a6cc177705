//! What a receiver costs while nobody writes.
//!
//! Two waits, one longer than the other by 200 ms: going to sleep and waking up cost the same in both, so what the
//! longer one has more is the price of being idle.

use std::thread;
use std::time::Duration;

use ysuite::spsc;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::duet;
use crate::usage::cpu_time;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_millis(220);

pub(super) struct Idle {
    /// System calls that the longer wait has more.
    pub(super) calls: f64,
    /// CPU time that the longer wait has more, as a share of the time it is longer.
    pub(super) cpu_share: f64,
}

pub(super) fn measured(place: Place) -> Result<Idle, Fault> {
    let (short_calls, short_cpu) = wait(place, SHORT)?;
    let (long_calls, long_cpu) = wait(place, LONG)?;
    let longer = (LONG - SHORT).as_secs_f64();
    Ok(Idle {
        calls: (long_calls as f64 - short_calls as f64).max(0.0),
        cpu_share: (long_cpu.saturating_sub(short_cpu)).as_secs_f64() / longer,
    })
}

/// The system calls and the CPU time of a receiver that waits so long for its only message.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_needs_system_calls_and_idleness_needs_none() {
        let place = Place::choose(None).unwrap();
        let (calls, _) = wait(place, Duration::from_millis(20)).unwrap();
        assert!(calls > 0);
    }
}
