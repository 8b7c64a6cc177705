//! One message bounced between two threads: the worst case, in which no message can share the cost of another.
//!
//! ```text
//!   first CPU      i ----------- there ----------> i      second CPU
//!                  i <---------- back ------------ i      (the next i leaves only when this one has come back)
//! ```
//!
//! The figure is the time one way: half of the time of a bounce.

use std::time::Instant;

use super::{END, expect, expect_end};
use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, duet};
use crate::transport::{Receiver, Sender, Transport};

/// Bounces `bounces` messages; the units of the answer are messages, two for each bounce.
pub fn run<T: Transport>(place: Place, bounces: u64) -> Result<Timed, Fault> {
    let (there_in, there_out) = T::open()?;
    let (back_in, back_out) = T::open()?;
    let (ping, pong) = duet(
        place,
        bounces * 2,
        move |gate| {
            gate.pass();
            serve(there_in, back_out, bounces as usize)
        },
        move |gate| {
            gate.pass();
            answer(there_out, back_in)
        },
    )?;
    let (start, end) = ping?;
    pong?;
    Ok(Timed::between(start, end, bounces * 2))
}

fn serve(mut there: impl Sender, mut back: impl Receiver, bounces: usize) -> Result<(Instant, Instant), Fault> {
    let start = Instant::now();
    for message in 0..bounces {
        // A peer that is gone says so on the way back.
        let _ = there.send(message);
        if let Err(fault) = expect(&mut back, message) {
            let _ = there.send(END);
            return Err(fault);
        }
    }
    let end = Instant::now();
    let _ = there.send(END);
    expect_end(&mut back)?;
    Ok((start, end))
}

/// Sends everything back until the end, checking it on its way.
fn answer(mut there: impl Receiver, mut back: impl Sender) -> Result<(), Fault> {
    let mut expected = 0;
    loop {
        let received = there.recv();
        if received != Ok(expected) {
            let _ = back.send(END);
            // The other thread knows how many there should be, and judges an early end itself.
            return if received == Ok(END) { Ok(()) } else { Err(super::fault(expected, received)) };
        }
        if back.send(expected).is_err() {
            return Ok(());
        }
        expected += 1;
    }
}
