//! The facades of `drop-in/`, beside the crates whose interface they have: the same calls, over ysuite's `mpmc`. With
//! feature `facades`.
//!
//! They wait as an `mpmc` does. Each has a variant without a bound and one with 1,024 places, as its original.

use ybench_measure::ends_by_cloning;
use ybench_measure::scenario::cells::drivers::Drivers;
use ybench_measure::scenario::{Entry, shared};
use ybench_measure::transport::{Ends, Traits};

use crate::drivers::of_many;
#[cfg(test)]
use crate::order::{self, of_several};

const COMMON: Traits = Traits { senders: Ends::Many, receivers: Ends::Many, ..crate::COMMON };

/// The names of those between threads.
pub const NAMES: [&str; 6] = [
    "facade-crossbeam-unbounded",
    "facade-crossbeam-bounded",
    "facade-async-channel-unbounded",
    "facade-async-channel-bounded",
    "facade-flume-unbounded",
    "facade-flume-bounded",
];

pub(crate) fn entries() -> Vec<Entry> {
    const {
        [
            shared::<crossbeam::Unbounded>(),
            shared::<crossbeam::Bounded>(),
            shared::<async_channel::Unbounded>(),
            shared::<async_channel::Bounded>(),
            shared::<flume::Unbounded>(),
            shared::<flume::Bounded>(),
        ]
    }
    .into()
}

#[cfg(test)]
pub(crate) fn orders() -> [order::Tried; 6] {
    [
        of_several::<crossbeam::Unbounded>(),
        of_several::<crossbeam::Bounded>(),
        of_several::<async_channel::Unbounded>(),
        of_several::<async_channel::Bounded>(),
        of_several::<flume::Unbounded>(),
        of_several::<flume::Bounded>(),
    ]
}

pub(crate) fn drivers() -> impl Iterator<Item = Drivers> {
    const {
        [
            of_many::<crossbeam::Unbounded>(),
            of_many::<crossbeam::Bounded>(),
            of_many::<async_channel::Unbounded>(),
            of_many::<async_channel::Bounded>(),
            of_many::<flume::Unbounded>(),
            of_many::<flume::Bounded>(),
        ]
    }
    .into_iter()
    .flatten()
}

pub mod crossbeam {
    use ysuite_crossbeam::{Receiver, Sender, bounded, unbounded};

    use super::*;
    use crate::end::{blocking, channels};

    channels! {
        Unbounded: "facade-crossbeam-unbounded", "crossbeam-channel's interface over ysuite, without a bound", {},
            Sender<M>, Receiver<M>, unbounded();
        Bounded: "facade-crossbeam-bounded", "crossbeam-channel's interface over ysuite, with room for 1,024 messages",
            { bounded: true, }, Sender<M>, Receiver<M>, bounded(1_024);
    }
    ends_by_cloning!(both: Unbounded, Bounded);
    blocking!(send: Sender<M>; recv: Receiver<M>);
}

pub mod flume {
    use ysuite_flume::{Receiver, Sender, bounded, unbounded};

    use super::*;
    use crate::end::{blocking, channels};

    channels! {
        Unbounded: "facade-flume-unbounded", "flume's interface over ysuite, without a bound", {},
            Sender<M>, Receiver<M>, unbounded();
        Bounded: "facade-flume-bounded", "flume's interface over ysuite, with room for 1,024 messages",
            { bounded: true, }, Sender<M>, Receiver<M>, bounded(1_024);
    }
    ends_by_cloning!(both: Unbounded, Bounded);
    blocking!(send: Sender<M>; recv: Receiver<M>);
}

pub mod async_channel {
    use ybench_measure::transport::{self, Closed, Message};
    use ysuite_async_channel::{Receiver, Sender, bounded, unbounded};

    use super::*;
    use crate::end::{End, channels};

    channels! {
        Unbounded: "facade-async-channel-unbounded", "async-channel's interface over ysuite, without a bound", {},
            Sender<M>, Receiver<M>, unbounded();
        Bounded: "facade-async-channel-bounded",
            "async-channel's interface over ysuite, with room for 1,024 messages", { bounded: true, },
            Sender<M>, Receiver<M>, bounded(1_024);
    }
    ends_by_cloning!(both: Unbounded, Bounded);

    impl<M: Message> transport::Sender<M> for End<Sender<M>> {
        #[inline(always)]
        fn send(&mut self, message: M) -> Result<(), Closed> {
            self.0.send_blocking(message).map_err(|_| Closed)
        }
    }

    impl<M: Message> transport::Receiver<M> for End<Receiver<M>> {
        #[inline(always)]
        fn recv(&mut self) -> Result<M, Closed> {
            self.0.recv_blocking().map_err(|_| Closed)
        }
    }
}
