//! `flume` between tasks: the handles are those of threads, and tasks call `send_async` and `recv_async`.

use ::flume::{Receiver, Sender, bounded, unbounded};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

const COMMON: Traits =
    Traits { senders: Ends::Many, receivers: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

task_transports! {
    Unbounded: "flume-unbounded-tasks", "flume without a bound, between tasks", {},
        End<Sender<M>>, End<Receiver<M>>, cloned(unbounded());
    Bounded: "flume-bounded-tasks", "flume with room for 1,024 messages, between tasks", { bounded: true, },
        End<Sender<M>>, End<Receiver<M>>, cloned(bounded(PLACES));
}
task_ends! {
    send(end, message) end.0.send_async(message) => End<Sender<M>>;
    recv(end) end.0.recv_async() => End<Receiver<M>>;
}
