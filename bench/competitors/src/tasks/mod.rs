//! Third-party channels between tasks, for the cases of tasks. One file for each crate. Its head has the
//! documentation's recommendation; the file of its name outside this folder describes how it waits between threads.
//!
//! All of them use the futures of a single message, `tx.send(m).await` and `rx.recv().await`, with 1,024 places or
//! without a bound, as far as the crate has both. Only a send that by design needs no wait, one without a bound, is a
//! plain call.

pub mod async_channel;
pub mod crossfire;
#[cfg(feature = "facades")]
pub mod facades;
pub mod flume;
pub mod kanal;
pub mod rapidfire;
pub mod tachyonix;
pub mod thingbuf;

use ybench_measure::scenario::cells::drivers::{Drivers, between_tasks, own_between_tasks};
use ybench_measure::scenario::{Entry, of_tasks};
use ybench_measure::transport::copies;

use crate::end::End;

/// Both handles, where only one can send.
fn alone<S, R>((sender, receiver): (S, R)) -> impl FnOnce(usize) -> (Vec<End<S>>, End<R>) {
    |_| (vec![End(sender)], End(receiver))
}

/// The handles of a number of senders, which are clones of the first.
fn cloned<S: Clone, R>((sender, receiver): (S, R)) -> impl FnOnce(usize) -> (Vec<End<S>>, End<R>) {
    |senders| (copies(End(sender), senders), End(receiver))
}

/// Lists of all competitors: of their entries in the registry, and of their drivers.
macro_rules! everybody {
    ($($transport:ty,)+) => {
        pub(crate) fn entries() -> Vec<Entry> {
            vec![$(of_tasks::<$transport>()),+]
        }

        fn of_competitors() -> Vec<Drivers> {
            vec![$(between_tasks::<$transport>()),+]
        }
    };
}

everybody! {
    kanal::Unbounded,
    kanal::Bounded,
    crossfire::SpscUnbounded,
    crossfire::SpscBounded,
    crossfire::MpscUnbounded,
    crossfire::MpscBounded,
    crossfire::MpmcUnbounded,
    crossfire::MpmcBounded,
    rapidfire::MpscUnbounded,
    rapidfire::MpscBounded,
    rapidfire::MpmcUnbounded,
    rapidfire::MpmcBounded,
    flume::Unbounded,
    flume::Bounded,
    async_channel::Unbounded,
    async_channel::Bounded,
    tachyonix::Bounded,
    thingbuf::Bounded,
}

/// Those of the competitors here, and of those in `ybench-measure`.
pub(crate) fn drivers() -> Vec<Drivers> {
    let mut all = of_competitors();
    all.extend(own_between_tasks());
    #[cfg(feature = "facades")]
    all.extend(facades::drivers());
    all
}
