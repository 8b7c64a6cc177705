//! `tokio::sync::mpsc` between tasks, as its documentation shows it. It counts against the cooperative budget: a task
//! yields after 128 messages.

use std::future::ready;

use tokio::sync::mpsc;

use super::{PLACES, cloned, task_ends, task_transports};
use crate::transport::{Ends, Traits};

const COMMON: Traits = Traits { senders: Ends::Many, ..super::COMMON };

task_transports! {
    Unbounded: "tokio-mpsc-tasks", "tokio::sync::mpsc::unbounded_channel, between tasks", {},
        mpsc::UnboundedSender<M>, mpsc::UnboundedReceiver<M>, cloned(mpsc::unbounded_channel());
    Bounded: "tokio-mpsc-bounded-tasks", "tokio::sync::mpsc::channel with room for 1,024 messages, between tasks",
        { bounded: true, }, mpsc::Sender<M>, mpsc::Receiver<M>, cloned(mpsc::channel(PLACES));
}
task_ends! {
    // A send without a bound has nothing to wait for.
    send(end, message) ready(mpsc::UnboundedSender::send(end, message)) => mpsc::UnboundedSender<M>;
    send(end, message) mpsc::Sender::send(end, message) => mpsc::Sender<M>;
    recv(end) mpsc::UnboundedReceiver::recv(end) => mpsc::UnboundedReceiver<M>;
    recv(end) mpsc::Receiver::recv(end) => mpsc::Receiver<M>;
}
