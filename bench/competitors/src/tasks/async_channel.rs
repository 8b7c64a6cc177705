//! `async-channel` between tasks, its intended use: `send` and `recv`.

use ::async_channel::{Receiver, Sender, bounded, unbounded};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

const COMMON: Traits =
    Traits { senders: Ends::Many, receivers: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

task_transports! {
    Unbounded: "async-channel-unbounded-tasks", "async-channel without a bound, between tasks", {},
        End<Sender<M>>, End<Receiver<M>>, cloned(unbounded());
    Bounded: "async-channel-bounded-tasks", "async-channel with room for 1,024 messages, between tasks",
        { bounded: true, }, End<Sender<M>>, End<Receiver<M>>, cloned(bounded(PLACES));
}
task_ends! {
    send(end, message) end.0.send(message) => End<Sender<M>>;
    recv(end) end.0.recv() => End<Receiver<M>>;
}
