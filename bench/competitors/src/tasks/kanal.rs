//! `kanal` between tasks: `unbounded_async()` and `bounded_async(n)`, its documented functions for both sides in tasks.
//!
//! A waiting task leaves the address of its future with the channel, and the other side writes the message there.

use ::kanal::{AsyncReceiver, AsyncSender, bounded_async, unbounded_async};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

const COMMON: Traits =
    Traits { senders: Ends::Many, receivers: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

task_transports! {
    Unbounded: "kanal-unbounded-tasks", "kanal without a bound, between tasks", {},
        End<AsyncSender<M>>, End<AsyncReceiver<M>>, cloned(unbounded_async());
    Bounded: "kanal-bounded-tasks", "kanal with room for 1,024 messages, between tasks", { bounded: true, },
        End<AsyncSender<M>>, End<AsyncReceiver<M>>, cloned(bounded_async(PLACES));
}
task_ends! {
    send(end, message) end.0.send(message) => End<AsyncSender<M>>;
    recv(end) end.0.recv() => End<AsyncReceiver<M>>;
}
