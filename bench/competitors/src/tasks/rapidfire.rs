//! `rapidfire`, which has functions for tasks only: its channels for one receiver (`mpsc`) and for many.
//!
//! Blocks of 63 slots whose states are numbered, in a chain that is reused and never freed. A waiting task adds itself
//! to a list behind a lock. Its documentation offers one channel for each number of receivers, and batches
//! (`recv_many`), which are another measurement than messages one by one.

use ::rapidfire::mpsc;
use ::rapidfire::{Receiver, Sender, bounded, unbounded};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

const COMMON: Traits =
    Traits { senders: Ends::Many, receivers: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

task_transports! {
    MpscUnbounded: "rapidfire-mpsc-tasks", "rapidfire's mpsc without a bound, between tasks", { receivers: Ends::One, },
        End<Sender<M>>, End<mpsc::Receiver<M>>, cloned(mpsc::unbounded());
    MpscBounded: "rapidfire-mpsc-1k-tasks", "rapidfire's mpsc with room for 1,024 messages, between tasks",
        { receivers: Ends::One, bounded: true, },
        End<Sender<M>>, End<mpsc::Receiver<M>>, cloned(mpsc::bounded(PLACES));
    MpmcUnbounded: "rapidfire-mpmc-tasks", "rapidfire's mpmc without a bound, between tasks", {},
        End<Sender<M>>, End<Receiver<M>>, cloned(unbounded());
    MpmcBounded: "rapidfire-mpmc-1k-tasks", "rapidfire's mpmc with room for 1,024 messages, between tasks",
        { bounded: true, }, End<Sender<M>>, End<Receiver<M>>, cloned(bounded(PLACES));
}
task_ends! {
    send(end, message) end.0.send(message) => End<Sender<M>>;
    recv(end) end.0.recv() => End<Receiver<M>>, End<mpsc::Receiver<M>>;
}
