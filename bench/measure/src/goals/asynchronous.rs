//! Streams received by a task: `recv_async` in a current-thread runtime of tokio, and tokio's own channel there.
//!
//! ```text
//!   first CPU    a plain thread: send, or blocking_send ----> block_on(the whole loop: recv().await)    second CPU
//! ```

use tokio::runtime;

use super::targets::{Ratio, least_of};
use super::{Run, beside_the_hand_over};
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Plan;
use crate::scenario::cells::tasks::drain;
use crate::scenario::throughput;
use crate::stage::Timed;
use crate::transport::tasks::TaskReceiver;
use crate::transport::{Transport, mpsc, spsc as pipe, tokio_mpsc};

const SESSION: &str = "targets: received by a task of tokio";
const SPSC: &str = "spsc, recv_async";
const MPSC: &str = "mpsc, recv_async";
const UNBOUNDED: &str = "tokio-mpsc, recv";
const BOUNDED: &str = "tokio-mpsc-bounded, recv";

pub(super) static RATIOS: [Ratio; 2] = [
    least_of(
        "a task of tokio: recv_async of spsc is times faster than the better of tokio's mpsc, bounded or not",
        SESSION,
        &[UNBOUNDED, BOUNDED],
        SPSC,
        3.0,
    ),
    least_of(
        "a task of tokio: recv_async of mpsc is times faster than the better of tokio's mpsc",
        SESSION,
        &[UNBOUNDED, BOUNDED],
        MPSC,
        3.0,
    ),
];

/// All competitors of the session.
pub fn contenders() -> [(&'static str, Run); 4] {
    [
        (SPSC, received::<pipe::Adaptive>),
        (MPSC, received::<mpsc::Adaptive>),
        (UNBOUNDED, received::<tokio_mpsc::Unbounded>),
        (BOUNDED, received::<tokio_mpsc::Bounded>),
    ]
}

pub(super) fn plan(frame: Frame) -> Plan {
    beside_the_hand_over(SESSION, "Messages sent one by one by a thread, received by a task", &contenders(), frame)
}

fn received<T: Transport>(place: Place, messages: u64) -> Result<Timed, Fault>
where
    T::Receiver<usize>: TaskReceiver<usize>,
{
    let runtime = runtime::Builder::new_current_thread().build()?;
    throughput::drained_by::<T, usize>(place, messages, move |receiver, messages| {
        runtime.block_on(drain(receiver, messages))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_missing_is_noticed() {
        let missing = |numbers: &[usize], messages| {
            let (mut sender, receiver) = ysuite::spsc::unbounded();
            numbers.iter().for_each(|&number| sender.send(number).unwrap());
            drop(sender);
            runtime::Builder::new_current_thread().build().unwrap().block_on(drain(receiver, messages)).unwrap_err()
        };
        assert!(matches!(missing(&[0, 2], 3), Fault::OutOfOrder { expected: 1, received: 2 }));
        assert!(matches!(missing(&[0, 1], 3), Fault::Disconnected { expected: 2 }));
        assert!(matches!(missing(&[0, 1, 2], 2), Fault::TooMany { received: 2 }));
    }
}
