//! `tachyonix`, which has functions for tasks only, always a bound, and one receiver.
//!
//! A ring whose slots have numbers, and an event for each side. The use here is the documented one: it has one channel,
//! and one pair of functions for single messages.

use ::tachyonix::{Receiver, Sender, channel};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

const COMMON: Traits = Traits { bounded: true, senders: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

task_transports! {
    Bounded: "tachyonix-tasks", "tachyonix with room for 1,024 messages, between tasks", {},
        End<Sender<M>>, End<Receiver<M>>, cloned(channel(PLACES));
}
task_ends! {
    send(end, message) end.0.send(message) => End<Sender<M>>;
    recv(end) end.0.recv() => End<Receiver<M>>;
}
