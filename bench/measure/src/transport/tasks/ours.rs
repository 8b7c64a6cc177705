//! `ysuite` between tasks: spsc, mpsc and mpmc, each with 1,024 places and without a bound, by `send_async` and
//! `recv_async`. With its usual features: nothing is counted against tokio's cooperative budget.

use ysuite::{mpmc, mpsc, spsc};

use super::{PLACES, alone, cloned, task_ends, task_transports};
use crate::transport::{Ends, Traits};

const COMMON: Traits = super::COMMON;

task_transports! {
    Spsc: "spsc-tasks", "ysuite::spsc without a bound, between tasks", {},
        spsc::Sender<M>, spsc::Receiver<M>, alone(spsc::unbounded());
    SpscBounded: "spsc-bounded-tasks", "ysuite::spsc with room for 1,024 messages, between tasks", { bounded: true, },
        spsc::Sender<M>, spsc::Receiver<M>, alone(spsc::bounded(PLACES));
    Mpsc: "mpsc-tasks", "ysuite::mpsc without a bound, between tasks", { senders: Ends::Many, one_order: false, },
        mpsc::Sender<M>, mpsc::Receiver<M>, cloned(mpsc::unbounded());
    MpscBounded: "mpsc-bounded-tasks", "ysuite::mpsc with room for 1,024 messages of each sender, between tasks",
        { bounded: true, senders: Ends::Many, one_order: false, },
        mpsc::Sender<M>, mpsc::Receiver<M>, cloned(mpsc::bounded(PLACES));
    Mpmc: "mpmc-tasks", "ysuite::mpmc with room for 1,024 messages, between tasks",
        { bounded: true, senders: Ends::Many, receivers: Ends::Many, },
        mpmc::Sender<M>, mpmc::Receiver<M>, cloned(mpmc::bounded(PLACES));
    MpmcUnbounded: "mpmc-unbounded-tasks", "ysuite::mpmc without a bound, between tasks",
        { senders: Ends::Many, receivers: Ends::Many, },
        mpmc::Sender<M>, mpmc::Receiver<M>, cloned(mpmc::unbounded());
}
task_ends! {
    send(end, message) end.send_async(message) => spsc::Sender<M>, mpsc::Sender<M>, mpmc::Sender<M>;
    recv(end) end.recv_async() => spsc::Receiver<M>, mpsc::Receiver<M>, mpmc::Receiver<M>;
}
