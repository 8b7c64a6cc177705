//! Channels: a queue, and the ways in which its handles sleep.
//!
//! One word for each waiting handle says how that handle sleeps now: in the kernel, as a task, or attached to a
//! signaler. So the channel types carry no type for the way of waiting. The same channel serves a plain thread today
//! and an event loop tomorrow. Nothing here makes a system call itself; [`crate::os`] does.

#[cfg(feature = "broadcast")]
pub mod broadcast;
mod closed;
mod coop;
mod error;
pub mod future;
mod identity;
#[cfg(feature = "in-place")]
#[doc(hidden)]
pub mod in_place;
#[cfg(feature = "mailbox")]
mod inbox;
pub mod iter;
mod lane_table;
#[cfg(feature = "mpmc")]
pub mod mpmc;
#[cfg(feature = "mpsc")]
pub mod mpsc;
#[cfg(feature = "oneshot")]
pub mod oneshot;
mod permit;
mod pipe;
mod receive;
mod rendezvous;
#[cfg(any(feature = "broadcast", feature = "mpmc"))]
mod reserve;
#[cfg(feature = "select")]
pub mod select;
mod send;
#[cfg(feature = "futures")]
mod sink;
#[cfg(feature = "spsc")]
pub mod spsc;
#[cfg(feature = "in-place")]
mod stop;
mod task_batch;
#[cfg(feature = "timer")]
pub mod timer;
#[cfg(feature = "watch")]
pub mod watch;

#[cfg(feature = "tokio")]
pub(crate) use self::coop::within_budget;
pub use self::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
#[cfg(feature = "mailbox")]
pub(crate) use self::inbox::{Inbox, InboxSender};
pub(crate) use self::iter::{Iter, Receive, TryIter};
pub(crate) use self::lane_table::{GivenUp, LaneTable, ThreadLane, end_lanes};
pub use self::permit::{Permit, Permits, Reserve};
#[cfg(all(feature = "select", any(feature = "pool", feature = "mailbox")))]
pub(crate) use self::select::OperationSource;
#[cfg(feature = "futures")]
#[doc(hidden)]
pub use self::sink::{Fed, Feed};
pub(crate) use crate::wait::Spin;
