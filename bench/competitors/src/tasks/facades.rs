//! The facades of `drop-in/` between tasks, by the futures of their originals: `send` and `recv` of async-channel,
//! `send_async` and `recv_async` of flume. With feature `facades`.

use ybench_measure::scenario::cells::drivers::{Drivers, between_tasks};
use ybench_measure::scenario::{Entry, of_tasks};
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

const COMMON: Traits =
    Traits { senders: Ends::Many, receivers: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

pub(crate) fn entries() -> [Entry; 4] {
    [
        of_tasks::<async_channel::Unbounded>(),
        of_tasks::<async_channel::Bounded>(),
        of_tasks::<flume::Unbounded>(),
        of_tasks::<flume::Bounded>(),
    ]
}

pub(super) fn drivers() -> [Drivers; 4] {
    [
        between_tasks::<async_channel::Unbounded>(),
        between_tasks::<async_channel::Bounded>(),
        between_tasks::<flume::Unbounded>(),
        between_tasks::<flume::Bounded>(),
    ]
}

mod async_channel {
    use ysuite_async_channel::{Receiver, Sender, bounded, unbounded};

    use super::*;

    task_transports! {
        Unbounded: "facade-async-channel-unbounded-tasks",
            "async-channel's interface over ysuite, without a bound, between tasks", {},
            End<Sender<M>>, End<Receiver<M>>, cloned(unbounded());
        Bounded: "facade-async-channel-bounded-tasks",
            "async-channel's interface over ysuite, with room for 1,024 messages, between tasks", { bounded: true, },
            End<Sender<M>>, End<Receiver<M>>, cloned(bounded(PLACES));
    }
    task_ends! {
        send(end, message) end.0.send(message) => End<Sender<M>>;
        recv(end) end.0.recv() => End<Receiver<M>>;
    }
}

mod flume {
    use ysuite_flume::{Receiver, Sender, bounded, unbounded};

    use super::*;

    task_transports! {
        Unbounded: "facade-flume-unbounded-tasks", "flume's interface over ysuite, without a bound, between tasks", {},
            End<Sender<M>>, End<Receiver<M>>, cloned(unbounded());
        Bounded: "facade-flume-bounded-tasks",
            "flume's interface over ysuite, with room for 1,024 messages, between tasks", { bounded: true, },
            End<Sender<M>>, End<Receiver<M>>, cloned(bounded(PLACES));
    }
    task_ends! {
        send(end, message) end.0.send_async(message) => End<Sender<M>>;
        recv(end) end.0.recv_async() => End<Receiver<M>>;
    }
}
