//! Channels: a queue, and the ways in which its ends sleep.
//!
//! One word for each waiting end says how that end sleeps now (in the kernel, as a task, attached to a signaler). So the
//! channel types carry no type for the way of waiting: the same channel serves a plain thread today and an event loop
//! tomorrow. Nothing here makes a system call itself; [`crate::os`] does.

pub mod broadcast;
mod closed;
mod coop;
mod error;
mod identity;
mod inbox;
mod iter;
mod lane_table;
pub mod mpmc;
pub mod mpsc;
pub mod oneshot;
mod permit;
mod receive;
mod send;
pub mod spsc;
mod task_batch;
pub mod timer;
pub mod watch;

pub use self::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
pub(crate) use self::inbox::{Inbox, InboxSender};
#[doc(hidden)]
pub use self::iter::Receive;
pub use self::iter::{IntoIter, Iter, TryIter};
pub(crate) use self::lane_table::{LaneTable, ThreadLane};
#[doc(hidden)]
pub use self::permit::Reserve;
pub use self::permit::{Permit, Permits};
pub use crate::wait::Spin;
