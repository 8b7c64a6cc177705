//! `crossfire` between tasks: the asynchronous interface of its `spsc`, `mpsc` and `mpmc`.
//!
//! As between threads: the module that fits the numbers of handles, and `detect_backoff_cfg` before the first channel.
//! Without a bound its `unbounded_async` returns a sender whose `send` is a plain function, and that is called.

use std::future::ready;

use ::crossfire::{AsyncRx, AsyncTx, MAsyncRx, MAsyncTx, MTx, Tx, mpmc, mpsc, spsc};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::{alone, cloned};
use crate::crossfire::detected;
use crate::end::End;

const COMMON: Traits = ybench_measure::transport::tasks::COMMON;

task_transports! {
    SpscUnbounded: "crossfire-spsc-tasks", "crossfire's spsc without a bound, between tasks", {},
        End<Tx<spsc::List<M>>>, End<AsyncRx<spsc::List<M>>>, alone(detected(spsc::unbounded_async));
    SpscBounded: "crossfire-spsc-1k-tasks", "crossfire's spsc with room for 1,024 messages, between tasks",
        { bounded: true, },
        End<AsyncTx<spsc::Array<M>>>, End<AsyncRx<spsc::Array<M>>>, alone(detected(|| spsc::bounded_async(PLACES)));
    MpscUnbounded: "crossfire-mpsc-tasks", "crossfire's mpsc without a bound, between tasks", { senders: Ends::Many, },
        End<MTx<mpsc::List<M>>>, End<AsyncRx<mpsc::List<M>>>, cloned(detected(mpsc::unbounded_async));
    MpscBounded: "crossfire-mpsc-1k-tasks", "crossfire's mpsc with room for 1,024 messages, between tasks",
        { senders: Ends::Many, bounded: true, },
        End<MAsyncTx<mpsc::Array<M>>>, End<AsyncRx<mpsc::Array<M>>>, cloned(detected(|| mpsc::bounded_async(PLACES)));
    MpmcUnbounded: "crossfire-mpmc-tasks", "crossfire's mpmc without a bound, between tasks",
        { senders: Ends::Many, receivers: Ends::Many, },
        End<MTx<mpmc::List<M>>>, End<MAsyncRx<mpmc::List<M>>>, cloned(detected(mpmc::unbounded_async));
    MpmcBounded: "crossfire-mpmc-1k-tasks", "crossfire's mpmc with room for 1,024 messages, between tasks",
        { senders: Ends::Many, receivers: Ends::Many, bounded: true, },
        End<MAsyncTx<mpmc::Array<M>>>, End<MAsyncRx<mpmc::Array<M>>>, cloned(detected(|| mpmc::bounded_async(PLACES)));
}
task_ends! {
    send(end, message) ready(end.0.send(message)) =>
        End<Tx<spsc::List<M>>>, End<MTx<mpsc::List<M>>>, End<MTx<mpmc::List<M>>>;
    send(end, message) end.0.send(message) =>
        End<AsyncTx<spsc::Array<M>>>, End<MAsyncTx<mpsc::Array<M>>>, End<MAsyncTx<mpmc::Array<M>>>;
    // That of an mpsc's list is of the same type as an spsc's.
    recv(end) end.0.recv() => End<AsyncRx<spsc::List<M>>>, End<AsyncRx<spsc::Array<M>>>, End<AsyncRx<mpsc::Array<M>>>,
        End<MAsyncRx<mpmc::List<M>>>, End<MAsyncRx<mpmc::Array<M>>>;
}
