//! Channels: a queue, and the ways in which its handles sleep.
//!
//! One word for each waiting handle says how that handle sleeps now: in the kernel, as a task, or attached to a
//! signaler. So the channel types carry no type for the way of waiting. The same channel serves a plain thread today
//! and an event loop tomorrow. Nothing here makes a system call itself; [`crate::os`] does.
//!
//! # Rendezvous
//!
//! A channel with a bound of 0 holds nothing: a message goes from hand to hand. `send` returns when a receiver has the
//! message, and `recv` returns the message of a sender that waits. The `bounded` of `spsc`, `mpsc` and `mpmc` support
//! it, with all ways of waiting. `len` is 0, and `capacity` is `Some(0)`. Such a channel is both empty and full, and a
//! peek finds nothing.
//!
//! * `try_send` succeeds only where a receiver *waits*: in `recv`, in a future of `recv_async`, or in a
//!   [`select`](crate::select()). `try_recv` likewise needs a sender that waits. So two threads that only try never
//!   exchange a message.
//! * A handle that is attached to a set or polled (`poll_recv`, `poll_ready`) does not wait. It is *notified* of a
//!   handle that waits: its id goes up, or its task is woken, and then it tries. Two such handles never exchange a
//!   message either. A handle that was polled may then wait in another way, such as `recv_timeout`. Its task is then
//!   not woken until it polls again.
//! * A future of `send_async` that is dropped before it is ready has not sent its message, which is dropped with it.
//!   The exception is a message that a receiver has just taken. A future of `recv_async` that is dropped has taken
//!   nothing. A message that it was just being handed goes to the next receiver, before all others. So a receiver of an
//!   `mpmc` may get the disconnection and still find a message later. That happens where another receiver's future is
//!   dropped after it was handed a message.
//! * A future that is *forgotten* (`mem::forget`) while it waits stays in line. A forgotten future of `recv_async`
//!   swallows a message, and its sender's call returns as if the message had been received.
//! * There are no hidden messages: `write` hands over at once, as `send` does, and `send_batch` hands its messages over
//!   one by one.
//! * Waiting handles are served in turn, under a lock that is held for some instructions. A thread that is preempted
//!   there delays the other threads of its channel, also in `try_send` and `try_recv`.

#[cfg(feature = "broadcast")]
pub mod broadcast;
mod closed;
mod coop;
mod error;
mod identity;
#[cfg(feature = "in-place")]
#[doc(hidden)]
pub mod in_place;
#[cfg(feature = "mailbox")]
mod inbox;
mod iter;
mod lane_table;
#[cfg(feature = "mpmc")]
pub mod mpmc;
#[cfg(feature = "mpsc")]
pub mod mpsc;
mod observed;
#[cfg(feature = "oneshot")]
pub mod oneshot;
mod permit;
mod pipe;
mod receive;
mod rendezvous;
#[cfg(feature = "select")]
mod select;
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

#[cfg(all(feature = "tokio", unix))]
pub(crate) use self::coop::within_budget;
pub use self::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
#[cfg(feature = "mailbox")]
pub(crate) use self::inbox::{Inbox, InboxSender};
#[doc(hidden)]
pub use self::iter::Receive;
pub use self::iter::{IntoIter, Iter, TryIter};
pub(crate) use self::lane_table::{GivenUp, LaneTable, ThreadLane, end_lanes};
#[doc(hidden)]
pub use self::permit::Reserve;
pub use self::permit::{Permit, Permits};
#[cfg(all(feature = "select", any(feature = "pool", feature = "mailbox")))]
pub(crate) use self::select::OperationSource;
#[cfg(feature = "select")]
pub use self::select::{SelectRecv, SelectSend, Selecting, list, select};
#[cfg(feature = "futures")]
#[doc(hidden)]
pub use self::sink::{Fed, Feed};
pub use crate::wait::Spin;
